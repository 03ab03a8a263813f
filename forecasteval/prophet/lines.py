"""Rows as lines: what each says of options, by the shape that it has."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from forecasteval.common.records import as_text, repeated_keys

from .cells import (
    FLAGS,
    NO_OUTCOME,
    STATES,
    complement,
    holds_literal,
    parse_flag,
    parse_id,
    parse_literal,
    parse_number,
)
from .columns import ROLES
from .fields import NUMERIC, SHARE
from .sheets import Sheet

_NO_OPTION_TYPES: Final = frozenset({"numeric", "number", "date", "discrete", "continuous"})
_MARKET_NAMES: Final = ("market", "option", "outcome", "name", "label")
_ROUNDING: Final = 0.0101  # of a sum of two rounded to hundredths
_SUM: Final = "probabilities of Yes and No do not add up to 1"
NO_RESULT: Final = "the result of a question must be Yes or No"
_TWICE: Final = "a field is given twice"
PERCENT: Final = f"{NO_RESULT}, or 1 and 0: write 1 and 0"
NOT_WINNER: Final = "a winner is not among the options"

# What a row says of an option's result: whether it won, or other words; "" for nothing.
Word = bool | str
Part = tuple[str, object, Word, object, object]  # option, probability, result, price, bid


class Line(NamedTuple):
    """What a row of a sheet says of options.

    values: probabilities by place, of options that the row does not name.
    is_flag: results are of options, and no names of winners.
    fault: why it gives no forecast, and in `cell` what it says there.
    """

    sheet: Sheet
    row: int
    parts: Sequence[Part] = ()
    values: Sequence[object] | None = None
    is_flag: bool = True
    fault: str = ""
    cell: str = ""

    def value(self, role: str) -> Any:
        return self.sheet.values(role)[self.row]

    @property
    def forecast(self) -> Hashable:
        """Return what lines must share to be one forecast of an event."""
        return self.sheet.forecasts[self.row]


def read_lines(sheet: Sheet) -> list[Line]:
    """Read the rows of a sheet."""
    reader = _Reader(sheet)
    return [reader.read(row) for row in range(len(sheet.table.rows))]


class _Reader:
    """Reads the rows of a sheet by the shape that each has."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        roles = sheet.roles
        values = sheet.values
        self.option, self.options, self.markets = map(values, ("option", "options", "markets"))
        self.p, self.no = values("probability"), values("no")
        self.lists = values("probabilities")
        self.result = values("won") if "won" in roles else values("result")
        self.index, self.state, self.type = map(values, ("index", "state", "type"))
        self.price, self.bid = values("price"), values("bid")
        self.has_forecasts = bool(roles.keys() & {"probability", "probabilities"})
        self.has_both = roles.keys() >= {"probability", "probabilities"}
        self.used = set(roles.values())

    def read(self, row: int) -> Line:
        line = Line(self.sheet, row)
        fault = self._find_fault(row)
        if fault:
            return line._replace(fault=fault)
        state = self.state[row]
        is_resolved = parse_flag(state)
        if state != "" and is_resolved is None:
            fault = f"{self.sheet.roles['state']!r} must be true or false"
            return line._replace(fault=fault, cell=str(state))

        result = "" if is_resolved is False else self.result[row]
        if self.option[row] != "":
            return self._read_option(line, result)
        if self.lists[row] != "" or self.options[row] != "" or self.markets[row] != "":
            return self._read_list(line, result)
        return self._read_question(line, result, bool(is_resolved))

    def _find_fault(self, row: int) -> str:
        """Find why a row as a whole says nothing; "" if it may."""
        if row in self.sheet.faults:
            return self.sheet.faults[row]
        is_blank = self.has_both and self.p[row] == "" and self.lists[row] == ""
        if is_blank or str(self.type[row]).casefold() in _NO_OPTION_TYPES:
            return NUMERIC
        if self.used.isdisjoint(repeated_keys(self.sheet.table.rows[row])):
            return ""
        return _TWICE

    def _read_option(self, line: Line, result: Any) -> Line:
        row = line.row
        option, p, word = as_text(self.option[row]), _read_p(self.p[row]), fold_word(result)
        part = option, p, word, self.price[row], self.bid[row]
        return line._replace(parts=(part,), is_flag=False)

    def _read_question(self, line: Line, result: Any, is_resolved: bool) -> Line:
        """Read a row with the probability of Yes, and No as its complement.

        No costs 1 less the bid for Yes (without one, its price), and is bid for 1 less the price.
        """
        row = line.row
        p, no = self.p[row], self.no[row]
        word, fault = _read_result(str(result))
        if result == "" and is_resolved:
            fault = NO_RESULT
        cell = str(result) if fault else ""
        if no != "" and abs(parse_number(p) + parse_number(no) - 1) > _ROUNDING:
            fault, cell = _SUM, f"{p} and {no}"

        price, bid = self.price[row], self.bid[row]
        has_bid = bid != ""
        no_price = complement(bid if has_bid else price)
        no_bid = complement(price) if has_bid else ""
        yes = _read_p(p)
        no_word = "" if word == "" else not word
        parts = (("Yes", yes, word, price, bid), ("No", complement(yes), no_word, no_price, no_bid))
        return line._replace(parts=parts, fault=fault, cell=cell)

    def _read_list(self, line: Line, result: Any) -> Line:
        """Read a row with the probabilities of all options, or with a question and its options."""
        row = line.row
        given = _read_probabilities(self.lists[row])
        outcome = parse_literal(result)
        markets = parse_literal(self.markets[row])
        lacks_markets = self.markets[row] != "" and not (isinstance(markets, dict) and markets)
        lacks_outcome = holds_literal(result) and outcome is None
        if lacks_markets or lacks_outcome:
            name = self.sheet.roles["markets" if lacks_markets else "result"]
            fault = f"{name!r} must be an object with a value per option, none twice"
            return line._replace(fault=fault)

        names = _list_options(markets, parse_literal(self.options[row]), outcome, given)
        if not names:
            return line._replace(values=given if isinstance(given, list) else ())
        words, fault = _read_words(names, result, outcome, self.index[row])
        p = _by_name(names, given)
        if isinstance(given, list) and p:
            # An option that did not exist yet has no probability.
            names = [name for name, value in p.items() if value is not None]
        elif p.keys() != set(names):
            p = {}
        prices = self._read_prices(row, names, markets)
        parts = [(name, _read_p(p.get(name)), words[name], *prices[name]) for name in names]
        return line._replace(parts=parts, fault=fault)

    def _read_prices(
        self, row: int, names: Sequence[str], markets: object
    ) -> dict[str, tuple[object, object]]:
        """Read asking price and bid of each option; those of a market are cents."""
        if isinstance(markets, dict):
            return {name: _read_market(markets[name]) for name in names}
        cells = self.price[row], self.bid[row]
        asks, bids = (_by_name(names, parse_literal(cell)) for cell in cells)
        return {name: (asks.get(name, ""), bids.get(name, "")) for name in names}


def _read_market(side: object) -> tuple[object, object]:
    """Read ask and bid of Yes of an option; a No that is offered at 40 is a Yes that is bid 60."""
    prices = side if isinstance(side, dict) else {}
    ask, bid, no_ask = (parse_number(prices.get(key)) for key in ("yes_ask", "yes_bid", "no_ask"))
    return ask / 100, (100 - no_ask if math.isnan(bid) else bid) / 100


def _list_options(*sources: object) -> list[str]:
    """List the options that the first of some sources names: objects by option, or, as the second
    one, a list.
    """
    markets, listed, *objects = sources
    if isinstance(listed, list) and not isinstance(markets, dict):
        return list(map(parse_id, listed))
    by_option = next((value for value in (markets, *objects) if isinstance(value, dict)), {})
    return [*by_option]


def _by_name(names: Sequence[str], value: object) -> Mapping[str, object]:
    """Return a list of values, or an object of them, by the names of the options."""
    if isinstance(value, list) and len(value) == len(names):
        return dict(zip(names, value, strict=True))
    return value if isinstance(value, dict) else {}


def _read_p(value: object) -> object:
    """Read a probability, so that 0.8 and 0.80 are one; what is no number comes as it is."""
    number = parse_number(value)
    return value if math.isnan(number) else number


def fold_word(value: object) -> Word:
    word = as_text(value).casefold()
    return FLAGS.get(word, word)


@lru_cache(maxsize=1 << 10)
def _read_result(text: str) -> tuple[Word, str]:
    """Read whether a question came true, "" if nobody knows yet; or why there is no saying."""
    word = text.casefold()
    if word in FLAGS:
        return FLAGS[word], ""
    if word == "" or STATES.get(word) == NO_OUTCOME:
        return "", ""
    if word in STATES:
        return "", STATES[word]
    if parse_number(word) == 100:
        return "", PERCENT
    return "", SHARE if 0 < parse_number(word) < 1 else NO_RESULT


def _read_words(
    names: Sequence[str], result: object, outcome: object, index: object
) -> tuple[dict[str, Word], str]:
    """Read what a row says of each option's result, or why there is no saying."""
    if isinstance(outcome, dict):
        said = {str(name): fold_word(value) for name, value in outcome.items()}
        words = {name: said.pop(name, "") for name in names}
        names_another = any(word not in ("", False) for word in said.values())
        return words, NOT_WINNER if names_another else ""
    if index != "":
        parsed = parse_literal(index)
        places = list(map(parse_number, parsed if isinstance(parsed, list) else [index]))
        return {name: at in places for at, name in enumerate(names)}, ""
    folded = [name.casefold() for name in names]
    winners = outcome if isinstance(outcome, list) else [result]
    won = [parse_id(winner).strip().casefold() for winner in winners]
    if won != [""] and set(won) <= set(folded):
        return {name: fold in won for name, fold in zip(names, folded, strict=True)}, ""
    if isinstance(outcome, list):
        return dict.fromkeys(names, ""), NOT_WINNER
    return dict.fromkeys(names, fold_word(result)), ""


def _read_probabilities(value: object) -> list[Any] | dict[str, Any] | None:
    """Read probabilities by place or by option; None of anything else, and of an option twice."""
    said = parse_literal(value)
    if isinstance(said, dict) and isinstance(said.get("probabilities"), list | dict):
        said = said["probabilities"]
    if isinstance(said, dict):
        return {str(name): p for name, p in said.items()}
    if not isinstance(said, list) or not all(isinstance(row, Mapping) for row in said):
        return said if isinstance(said, list) else None
    by_name: dict[str, Any] = {}
    for row in said:
        named = row if isinstance(row, dict) else {}
        name = next((str(named[key]) for key in _MARKET_NAMES if key in named), "")
        if name in by_name:
            return None
        by_name[name] = next((named[key] for key in ROLES["probability"] if key in named), None)
    return by_name
