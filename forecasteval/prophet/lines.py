"""Rows as lines: what each says of options, by the shape that it has."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from forecasteval.common.records import (
    as_text,
    repeated_keys,
)

from .cells import (
    FLAGS,
    PENDING_WORDS,
    VOID_WORDS,
    complement,
    holds_literal,
    parse_flag,
    parse_id,
    parse_literal,
    parse_number,
)
from .columns import (
    ROLES,
)
from .fields import NUMERIC, SHARE, VOID
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

    def has_no_options(self, row: int) -> bool:
        """Return whether a row is of a question of numbers or dates."""
        is_blank = self.has_both and self.p[row] == "" and self.lists[row] == ""
        kind = self.type[row]
        return is_blank or (kind != "" and str(kind).casefold() in _NO_OPTION_TYPES)

    def read(self, row: int) -> Line:
        line = Line(self.sheet, row)
        if row in self.sheet.faults:
            return line._replace(fault=self.sheet.faults[row])
        if self.has_no_options(row):
            return line._replace(fault=NUMERIC)
        if not self.used.isdisjoint(repeated_keys(self.sheet.table.rows[row])):
            return line._replace(fault=_TWICE)
        state = parse_flag(self.state[row]) if self.state[row] != "" else None
        if state is None and self.state[row] != "":
            fault = f"{self.sheet.roles['state']!r} must be true or false"
            return line._replace(fault=fault, cell=str(self.state[row]))
        result = self.result[row] if state is not False else ""
        if self.option[row] != "":
            return self._read_option(line, result)
        if self.lists[row] != "" or self.options[row] != "" or self.markets[row] != "":
            return self._read_list(line, result)
        return self._read_question(line, result)

    def _read_option(self, line: Line, result: Any) -> Line:
        row = line.row
        part = (
            as_text(self.option[row]),
            _read_p(self.p[row]),
            fold_word(result),
            self.price[row],
            self.bid[row],
        )
        return line._replace(parts=(part,), is_flag=False)

    def _read_question(self, line: Line, result: Any) -> Line:
        """Read a row with the probability of Yes, and No as its complement.

        No costs 1 less the bid for Yes (without one, its price), and is bid for 1 less the price.
        """
        row = line.row
        p, no, price, bid = self.p[row], self.no[row], self.price[row], self.bid[row]
        came_true, fault = _read_result(str(result))
        if result == "" and parse_flag(self.state[row]):
            fault = NO_RESULT
        if fault:
            line = line._replace(fault=fault, cell=str(result))
        if no != "" and abs(parse_number(p) + parse_number(no) - 1) > _ROUNDING:
            line = line._replace(fault=_SUM, cell=f"{p} and {no}")
        yes_word: Word = "" if came_true is None else came_true
        no_word: Word = "" if came_true is None else not came_true
        yes = _read_p(p)
        no_bid = complement(price) if bid != "" else ""
        of_yes = bid if bid != "" else price
        no_price = complement(of_yes) if of_yes != "" else ""
        parts = (
            ("Yes", yes, yes_word, price, bid),
            ("No", complement(yes), no_word, no_price, no_bid),
        )
        return Line(self.sheet, row, parts, fault=line.fault, cell=line.cell)

    def _read_list(self, line: Line, result: Any) -> Line:
        """Read a row with the probabilities of all options, or with a question and its options."""
        row = line.row
        given = _read_probabilities(self.lists[row])
        outcome = parse_literal(result)
        markets = parse_literal(self.markets[row])
        listed = parse_literal(self.options[row])
        is_unread = {
            "markets": self.markets[row] != "" and not (isinstance(markets, dict) and markets),
            "result": holds_literal(result) and outcome is None,
        }
        for role, is_fault in is_unread.items():
            if is_fault:
                name = self.sheet.roles[role]
                fault = f"{name!r} must be an object with a value per option, none twice"
                return line._replace(fault=fault)
        if isinstance(markets, dict):
            names = [*markets]
        elif isinstance(listed, list):
            names = list(map(parse_id, listed))
        else:
            names = [*next((value for value in (outcome, given) if isinstance(value, dict)), ())]
        if not names:
            return line._replace(values=given if isinstance(given, list) else ())

        words, fault = _read_words(names, result, outcome, self.index[row])
        if isinstance(given, list) and len(given) == len(names):
            # An option that did not exist yet has no probability.
            pairs = zip(names, given, strict=True)
            p = {name: value for name, value in pairs if value is not None}
            names = [*p]
        else:
            by_name = given if isinstance(given, dict) else {}
            p = by_name if by_name.keys() == set(names) else {}
        prices = self._read_prices(row, names, markets)
        parts = [(name, _read_p(p.get(name)), words[name], *prices[name]) for name in names]
        return line._replace(parts=parts, fault=fault)

    def _read_prices(
        self, row: int, names: Sequence[str], markets: object
    ) -> dict[str, tuple[object, object]]:
        """Read asking price and bid of each option; those of a market are cents."""
        if isinstance(markets, dict):
            return {name: _read_market(markets[name]) for name in names}
        asks, bids = (_by_name(names, column[row]) for column in (self.price, self.bid))
        return {name: (asks.get(name, ""), bids.get(name, "")) for name in names}


def _read_market(side: object) -> tuple[object, object]:
    """Read ask and bid of Yes of an option; a No that is offered at 40 is a Yes that is bid 60."""
    prices = side if isinstance(side, dict) else {}
    ask, bid, no_ask = (parse_number(prices.get(key)) for key in ("yes_ask", "yes_bid", "no_ask"))
    return ask / 100, (100 - no_ask if math.isnan(bid) else bid) / 100


def _by_name(names: Sequence[str], value: object) -> Mapping[str, object]:
    """Return a list of values, or an object of them, by the names of the options."""
    parsed = parse_literal(value)
    if isinstance(parsed, list) and len(parsed) == len(names):
        return dict(zip(names, parsed, strict=True))
    return parsed if isinstance(parsed, dict) else {}


def _read_p(value: object) -> object:
    """Read a probability, so that 0.8 and 0.80 are one; what is no number comes as it is."""
    number = parse_number(value)
    return value if math.isnan(number) else number


def fold_word(value: object) -> Word:
    word = as_text(value).casefold()
    return FLAGS.get(word, word)


@lru_cache(maxsize=1 << 10)
def _read_result(text: str) -> tuple[bool | None, str]:
    """Read whether a question came true, None if nobody knows yet; or why there is no saying."""
    word = text.casefold()
    if word == "" or word in PENDING_WORDS:
        return None, ""
    if word in VOID_WORDS:
        return None, VOID
    if word in FLAGS:
        return FLAGS[word], ""
    if parse_number(word) == 100:
        return None, PERCENT
    return None, SHARE if 0 < parse_number(word) < 1 else NO_RESULT


def _read_words(
    names: Sequence[str], result: object, outcome: object, index: object
) -> tuple[dict[str, Word], str]:
    """Read what a row says of each option's result, or why there is no saying."""
    if isinstance(outcome, dict):
        said = {str(name): fold_word(value) for name, value in outcome.items()}
        words = {name: said.pop(name, "") for name in names}
        return words, NOT_WINNER if any(word not in ("", False) for word in said.values()) else ""
    if index != "":
        places = outcome_places(index)
        return {name: at in places for at, name in enumerate(names)}, ""
    folded = [name.casefold() for name in names]
    winners = outcome if isinstance(outcome, list) else [result]
    won = [parse_id(winner).strip().casefold() for winner in winners]
    if all(winner in folded for winner in won) and won != [""]:
        return {name: fold in won for name, fold in zip(names, folded, strict=True)}, ""
    if isinstance(outcome, list):
        return dict.fromkeys(names, ""), NOT_WINNER
    return dict.fromkeys(names, fold_word(result)), ""


def outcome_places(index: object) -> list[float]:
    parsed = parse_literal(index)
    return [parse_number(place) for place in (parsed if isinstance(parsed, list) else [index])]


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
