"""Rows as lines: what each says of options, by the shape that it has."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from forecasteval.common.records import as_text, repeated_keys

from .cells import (
    FLAGS,
    FROM_ONE,
    NO_OUTCOME,
    STATES,
    as_list,
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

_NO_OPTION_TYPES: Final = frozenset(
    {"numeric", "number", "date", "discrete", "continuous"}
)
_MARKET_NAMES: Final = ("market", "option", "outcome", "name", "label")
_ROUNDING: Final = 0.0101  # of a sum of two rounded to hundredths
_SUM: Final = "probabilities of Yes and No do not add up to 1"
NO_RESULT: Final = "the result of a question must be Yes or No"
_NO_OBJECT: Final = "{!r} must be an object with a value per option, none twice"
_TWICE: Final = "a field is given twice"
PERCENT: Final = f"{NO_RESULT}, or 1 and 0: write 1 and 0"
NOT_WINNER: Final = "a winner is not among the options"

# What a row says of an option's result: whether it won, or other words; "" for nothing.
Word = bool | str
# Option, probability, result, price, bid
Part = tuple[str, object, Word, object, object]


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


class Cells(NamedTuple):
    """The cells of a row by their roles, "" where it has none; `result` is that
    of `won`, too.
    """

    option: Any
    options: Any
    markets: Any
    probability: Any
    probabilities: Any
    no: Any
    result: Any
    index: Any
    state: Any
    type: Any
    price: Any
    bid: Any


def read_lines(sheet: Sheet) -> list[Line]:
    """Read the rows of a sheet."""
    columns = Cells(*map(sheet.values, Cells._fields))
    if "won" in sheet.roles:
        columns = columns._replace(result=sheet.values("won"))
    used = set(sheet.roles.values())
    lines = []
    for row, cells in enumerate(map(Cells._make, zip(*columns, strict=True))):
        line = Line(sheet, row)
        if row in sheet.faults:
            lines.append(line._replace(fault=sheet.faults[row]))
        elif used.isdisjoint(repeated_keys(sheet.table.rows[row])):
            lines.append(_read_line(line, cells))
        else:
            lines.append(line._replace(fault=_TWICE))
    return lines


def _read_line(line: Line, cells: Cells) -> Line:
    """Read a row by its shape."""
    roles = line.sheet.roles
    has_no_p = cells.probability == "" and cells.probabilities == ""
    has_both_columns = "probability" in roles and "probabilities" in roles
    is_numeric = cells.type != "" and str(cells.type).casefold() in _NO_OPTION_TYPES
    if is_numeric or (has_no_p and has_both_columns):
        return line._replace(fault=NUMERIC)
    if cells.state != "":
        is_resolved = parse_flag(cells.state)
        if is_resolved is None:
            fault = f"{roles['state']!r} must be true or false"
            return line._replace(fault=fault, cell=str(cells.state))
        if not is_resolved:
            cells = cells._replace(result="")
    if cells.option != "":
        return _read_option(line, cells)
    if cells.probabilities != "" or cells.options != "" or cells.markets != "":
        return _read_list(line, cells)
    return _read_question(line, cells)


def _read_option(line: Line, cells: Cells) -> Line:
    option, p, word = (
        as_text(cells.option),
        _read_p(cells.probability),
        fold_word(cells.result),
    )
    part = option, p, word, cells.price, cells.bid
    return Line(line.sheet, line.row, (part,), is_flag=False)


def _read_question(line: Line, cells: Cells) -> Line:
    """Read a row with the probability of Yes, and No as its complement.

    No costs 1 less the bid for Yes (without one, its price), and is bid for 1
    less the price.
    """
    p, no, price, bid = cells.probability, cells.no, cells.price, cells.bid
    word, fault = _read_result(str(cells.result))
    if cells.result == "" and parse_flag(cells.state):
        fault = NO_RESULT
    cell = ""
    if fault:
        cell = str(cells.result)
    if no != "" and abs(parse_number(p) + parse_number(no) - 1) > _ROUNDING:
        fault, cell = _SUM, f"{p} and {no}"

    yes = _read_p(p)
    no_word: Word = ""
    if word != "":
        no_word = not word
    no_price, no_bid = complement(price), bid
    if bid != "":
        no_price, no_bid = complement(bid), no_price
    of_yes = "Yes", yes, word, price, bid
    of_no = "No", complement(yes), no_word, no_price, no_bid
    return Line(line.sheet, line.row, (of_yes, of_no), fault=fault, cell=cell)


def _read_list(line: Line, cells: Cells) -> Line:
    """Read a row with the probabilities of all options, or with a question
    and its options.
    """
    given = _read_probabilities(cells.probabilities)
    outcome, markets = parse_literal(cells.result), parse_literal(cells.markets)
    if cells.markets != "" and not (isinstance(markets, dict) and markets):
        return line._replace(fault=_NO_OBJECT.format(line.sheet.roles["markets"]))
    if outcome is None and holds_literal(cells.result):
        return line._replace(fault=_NO_OBJECT.format(line.sheet.roles["result"]))
    names = _list_options(markets, parse_literal(cells.options), outcome, given)
    if not names and isinstance(given, list):
        return line._replace(values=given)
    if not names:
        return line._replace(values=())

    words, fault = _read_words(names, cells, outcome)
    p = _by_name(names, given)
    if isinstance(given, list) and p:
        # An option that did not exist yet has no probability.
        names = [name for name, value in p.items() if value is not None]
    elif p.keys() != set(names):
        p = {}
    prices = _read_prices(names, cells, markets)
    parts = [(name, _read_p(p.get(name)), words[name], *prices[name]) for name in names]
    return line._replace(parts=parts, fault=fault)


def _read_prices(
    names: Sequence[str], cells: Cells, markets: object
) -> dict[str, tuple[object, object]]:
    """Read asking price and bid of each option; those of a market are cents."""
    if isinstance(markets, dict):
        return {name: _read_market(markets[name]) for name in names}
    asks, bids = (
        _by_name(names, parse_literal(cell)) for cell in (cells.price, cells.bid)
    )
    return {name: (asks.get(name, ""), bids.get(name, "")) for name in names}


def _read_market(side: object) -> tuple[object, object]:
    """Read ask and bid of Yes of an option; a No that is offered at 40 is a Yes
    that is bid 60.
    """
    if not isinstance(side, dict):
        return math.nan, math.nan
    ask, bid, no_ask = (
        parse_number(side.get(key)) for key in ("yes_ask", "yes_bid", "no_ask")
    )
    if math.isnan(bid):
        bid = 100 - no_ask
    return ask / 100, bid / 100


def _list_options(*sources: object) -> list[str]:
    """List the options that the first of some sources names: objects by option, or, as
    the second one, a list.
    """
    markets, listed, *objects = sources
    if isinstance(listed, list) and not isinstance(markets, dict):
        return list(map(parse_id, listed))
    by_option = next(
        (value for value in (markets, *objects) if isinstance(value, dict)), {}
    )
    return [*by_option]


def _by_name(names: Sequence[str], value: object) -> Mapping[str, object]:
    """Return a list of values, or an object of them, by the names of the options."""
    if isinstance(value, list) and len(value) == len(names):
        return dict(zip(names, value, strict=True))
    if not isinstance(value, dict):
        return {}
    return value


def _read_p(value: object) -> object:
    """Read a probability, so that 0.8 and 0.80 are one; what is no number
    comes as it is.
    """
    number = parse_number(value)
    if math.isnan(number):
        return value
    return number


def fold_word(value: object) -> Word:
    word = as_text(value).casefold()
    return FLAGS.get(word, word)


@lru_cache(maxsize=1 << 10)
def _read_result(text: str) -> tuple[Word, str]:
    """Read whether a question came true, "" if nobody knows yet; or why
    there is no saying.
    """
    word = text.casefold()
    if word in FLAGS:
        return FLAGS[word], ""
    if word == "" or STATES.get(word) == NO_OUTCOME:
        return "", ""
    if word in STATES:
        return "", STATES[word]
    if parse_number(word) == 100:
        return "", PERCENT
    if 0 < parse_number(word) < 1:
        return "", SHARE
    return "", NO_RESULT


def _read_words(
    names: Sequence[str], cells: Cells, outcome: object
) -> tuple[dict[str, Word], str]:
    """Read what a row says of each option's result, or why there is no saying.

    outcome: its result, if that is a list or an object.
    """
    if isinstance(outcome, dict):
        said = {str(name): fold_word(value) for name, value in outcome.items()}
        words = {name: said.pop(name, "") for name in names}
        if any(word not in ("", False) for word in said.values()):
            return words, NOT_WINNER
        return words, ""
    if cells.index != "":
        places = list(
            map(parse_number, as_list(parse_literal(cells.index) or cells.index))
        )
        words = {name: at in places for at, name in enumerate(names)}
        return words, FROM_ONE if len(names) in places else ""
    folded = [name.casefold() for name in names]
    winners = [cells.result]
    if isinstance(outcome, list):
        winners = outcome
    won = [parse_id(winner).strip().casefold() for winner in winners]
    if won != [""] and set(won) <= set(folded):
        return {name: fold in won for name, fold in zip(names, folded, strict=True)}, ""
    if isinstance(outcome, list):
        return dict.fromkeys(names, ""), NOT_WINNER
    return dict.fromkeys(names, fold_word(cells.result)), ""


def _read_probabilities(value: object) -> list[Any] | dict[str, Any] | None:
    """Read probabilities by place or by option; None of anything else, and of
    an option twice.
    """
    said = parse_literal(value)
    if isinstance(said, dict) and isinstance(said.get("probabilities"), list | dict):
        said = said["probabilities"]
    if isinstance(said, dict):
        return {str(name): p for name, p in said.items()}
    if not isinstance(said, list):
        return None
    if not all(isinstance(row, dict) for row in said):
        return said
    by_name: dict[str, Any] = {}
    for row in said:
        name = next((str(row[key]) for key in _MARKET_NAMES if key in row), "")
        if name in by_name:
            return None
        by_name[name] = next(
            (row[key] for key in ROLES["probability"] if key in row), None
        )
    return by_name
