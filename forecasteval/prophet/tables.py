"""Files of questions and of forecasts, in any format, as records of problems and forecasts.

The columns of a table have roles (`columns`). A row says something of one option, of Yes, or of all
options; rows of one event, forecaster, run and time are a forecast. What came true is said by the
questions of a dataset, or by the rows of a table that has both.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import islice, repeat
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, printable
from forecasteval.common.files import NAME_ENDS
from forecasteval.common.records import (
    BadRecord,
    Loaded,
    as_text,
    group_by,
    repeated_keys,
)
from forecasteval.source.tables import read_table

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
    Given,
    Table,
    find_roles,
    fold,
    format_option,
    list_candidates,
    list_rows,
    list_unread,
)
from .fields import NO_FLAG, NUMERIC, SHARE, VOID, DataNotes, Refusal, first_fault
from .losses import AMBIGUOUS, REPLACED
from .times import parse_moment

_PROBLEM_KEYS: Final = {"problem_id", "options"}
_FORECAST_KEYS: Final = {"problem_id", "username"}
_SET_KEYS: Final = {"source", "id", "resolution_date"}
_TICKER: Final = re.compile(r"(KX[A-Z0-9]+)-|([A-Z][A-Z0-9]*)-\d\d[A-Z]{3}")
_WHOLE_NUMBER: Final = re.compile(r"([0-9]+)\.0+")
_NO_OPTION_TYPES: Final = frozenset({"numeric", "number", "date", "discrete", "continuous"})
_MARKET_NAMES: Final = ("market", "option", "outcome", "name", "label")
_TEXT_NAMES: Final = frozenset({"question", "question_title", "question_text", "market", "title"})
_ROUNDING: Final = 0.0101  # of a sum of two rounded to hundredths
_SAMPLE: Final = 100

_LONG: Final = "more cells than columns"
DIFFER: Final = "its rows differ in options or outcome"
_NO_OPTION: Final = "its rows differ in outcome; if each is about an option, call that 'option'"
_EITHER: Final = "its outcome may be the name of an option, or 1 or 0 of each: call that 'won'"
_SUM: Final = "probabilities of Yes and No do not add up to 1"
_NO_RESULT: Final = "the result of a question must be Yes or No"
_TWICE: Final = "a field is given twice"
_PERCENT: Final = f"{_NO_RESULT}, or 1 and 0: write 1 and 0"
_NOT_WINNER: Final = "a winner is not among the options"

_RESULT_FAULTS: Final = frozenset({NUMERIC, VOID, SHARE, _NO_RESULT})

Word = (
    bool | str
)  # what a row says of an option's result: whether it won, or other words; "" for none
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


class Sheet:
    """A table with its roles. `faults`: by number of a row why it cannot be read."""

    def __init__(
        self, loaded: Loaded, table: Table, given: Given, faults: Mapping[int, str]
    ) -> None:
        self.loaded = loaded
        self.table = table
        self.given = given
        self.roles = find_roles(table, given)
        self.faults = faults
        self._blank = [""] * len(table.rows)
        self.file_name = ""  # of its forecaster, if it has no column for that
        self.events = list(map(name_event, self.values("event")))
        roles = ("forecaster", "run", "time", "round")
        self.forecast_columns = [self.texts(role) for role in roles]

    def texts(self, role: str) -> list[str]:
        """List the cells of a role as text, "" where there are none."""
        if role not in self.roles:
            return self._blank
        return self.table.texts(self.roles[role])

    def values(self, role: str) -> list[Any]:
        """List the cells of a role, "" where there are none."""
        if role not in self.roles:
            return self._blank
        return self.table.values(self.roles[role])

    @cached_property
    def forecasts(self) -> list[Hashable]:
        """Return what rows must share to be one forecast of an event."""
        return list(zip(repeat(id(self)), *self.forecast_columns, strict=False))

    @property
    def where(self) -> str:
        return self.table.where

    @property
    def has_results(self) -> bool:
        return not self.roles.keys().isdisjoint({"won", "result", "index"})

    @property
    def unread(self) -> list[str]:
        """Return the columns that have no role."""
        return [name for name in self.table.columns if name not in self.roles.values()]

    def describe_unread(self) -> str:
        names = ", ".join(name for name in self.unread if "." not in name)
        return f" (not read: {printable(names, 200)})" if names else ""

    def list_notes(self) -> list[str]:
        notes = list_unread(self.table, self.roles)
        if not self.has_results:
            notes.insert(0, "no column is called 'resolution' or 'winner'")
        return notes

    def release(self) -> None:
        """Let go of the rows, whose cells are in columns: millions take most of the memory."""
        self.loaded = replace(self.loaded, records=())
        self.table.rows = ()

    def find_line(self, row: int) -> int:
        """Find where a row stands: its line, or its number."""
        return self.loaded.lines[row] if self.loaded.lines else row + 1

    def name_forecasters(self, name: str) -> None:
        """Give rows without a forecaster the name of their file, and rows of `NAME@2` the run."""
        file_name, _, run = name.partition("@")
        names_forecasters = "forecaster" in self.roles
        if names_forecasters and not run:
            return
        self.file_name = file_name
        forecasters, runs, *rest = self.forecast_columns
        named = forecasters if names_forecasters else [file_name] * len(forecasters)
        self.forecast_columns = [named, [text or run for text in runs], *rest]

    def choose_event(self, ids: Mapping[str, str]) -> None:
        """Choose the column of the event, the one with most of the known ids; titles are known,
        too, if no column has an id.
        """
        if "event" in self.given:
            return
        columns = [self.roles.get("event", ""), *list_candidates(self.table.columns, "event")]
        counts = {
            column: len(ids.keys() & set(map(name_event, self.table.values(column))))
            for column in columns
            if column
        }
        best = max(counts, key=counts.__getitem__, default="")
        if best and counts[best]:
            self.roles["event"] = best
            self.events = [ids.get(name, name) for name in map(name_event, self.values("event"))]

    def prefer_id(self) -> None:
        """Take a bare `id` of questions, one per row, before their text."""
        for name in self.table.columns:
            values = list(map(name_event, self.table.values(name)))
            is_id = fold(name) == "id" and len(set(values)) == len(values)
            if is_id and fold(self.roles.get("event", "")) in _TEXT_NAMES:
                self.roles["title"] = self.roles["event"]
                self.roles["event"], self.events = name, values


def name_event(value: object) -> str:
    """Write the id of an event as text: 7, "7" and the 7.0 of a column with gaps are one."""
    text = parse_id(value) if not isinstance(value, (list, dict)) else as_text(value)
    whole = _WHOLE_NUMBER.fullmatch(text)
    return whole[1] if whole else text


# --- Files to sheets ---


def is_canonical(loaded: Loaded, keys: set[str]) -> bool:
    """Return whether the records of a file have these keys, so that no column has a role to be
    found; or whether there is none. A time under another name is looked for.
    """
    first = [row for row in islice(loaded, _SAMPLE) if isinstance(row, Mapping)]
    names = {key for row in first for key in row}
    times = list_candidates(names, "time")
    has_other_time = bool(times) and "timestamp" not in times and "options" not in keys
    return not first or (names >= keys and not has_other_time)


def make_sheet(path: Path, loaded: Loaded, given: Given) -> Sheet:
    """Find what the columns of a file are; InputError if two of them have one name."""
    twice = [name for name, count in Counter(loaded.names).items() if name and count > 1]
    if twice:
        got = f"{printable(twice[0], 60)} twice"
        raise InputError(str(path), "expected columns of different names", got)
    fields = _read_fields(loaded)
    records = list_rows(loaded) if loaded.is_map else loaded
    rows: list[Mapping[str, Any]] = []
    faults: dict[int, str] = {}
    for record in records:
        if isinstance(record, BadRecord) and record.cells:
            faults[len(rows)] = _LONG
            record = dict(zip(loaded.names, record.cells, strict=False))
        elif isinstance(record, BadRecord):
            faults[len(rows)] = record.problem
            record = {}
        elif not isinstance(record, Mapping):
            faults[len(rows)] = "no object"
            record = {}
        rows.append({**fields, **record} if fields else record)
    if rows and rows[0].keys() >= _SET_KEYS:
        rows = [{**row, **_read_set_row(row)} for row in rows]
    names = dict.fromkeys(loaded.names) if rows and loaded.names and not fields else {}
    if not names or rows[0].keys() - names.keys():
        names = dict.fromkeys(key for row in rows for key in row)
    table = Table(str(path), [name for name in names if name], rows)
    return Sheet(loaded, table, given, faults)


def join_questions(sheet: Sheet, questions: Sheet) -> Sheet:
    """Add to each row what the questions say of its event (and of its round, if they have any)."""
    roles = [role for role in ("event", "round") if role in sheet.roles and role in questions.roles]
    keys = zip(*(map(name_event, questions.values(role)) for role in roles), strict=True)
    known = dict(zip(keys, questions.table.rows, strict=True))
    own_keys = zip(*(map(name_event, sheet.values(role)) for role in roles), strict=True)
    rows = [
        {**row, **known.get(key, {})} for row, key in zip(sheet.table.rows, own_keys, strict=True)
    ]
    names = dict.fromkeys([*sheet.table.names, *questions.table.names])
    return Sheet(sheet.loaded, Table(sheet.where, [*names], rows), sheet.given, sheet.faults)


def add_companion(sheet: Sheet) -> Sheet:
    """Add the questions beside Metaculus' forecasts, which have what came true."""
    path = Path(sheet.where)
    is_export = "probabilities" in sheet.roles and "probability" in sheet.roles
    if sheet.has_results or not is_export:
        return sheet
    file = path.with_name(path.name.replace("forecast_data", "question_data"))
    if file == path or not file.exists():
        expected = "expected the questions of the same download beside it, question_data.csv"
        raise InputError(str(path), expected, "none")
    return join_questions(sheet, make_sheet(file, read_table(file, strict=False), sheet.given))


def name_system(path: Path, dataset: Path) -> str:
    """Name the system of a file whose name begins with that of its dataset."""
    rest = path.stem.removeprefix(dataset.stem)
    return rest.lstrip(NAME_ENDS) or path.stem


def _read_fields(loaded: Loaded) -> dict[str, Any]:
    """Read what stands once in a file, for all of its rows."""
    fields = dict(loaded.fields)
    if loaded.is_map and list_rows(loaded) != loaded.records:
        fields = {row["id"]: row["prediction"] for row in loaded}
    return {key: value for key, value in fields.items() if not isinstance(value, (list, dict))}


def _read_set_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Name the event of a row of ForecastBench by source, id and date (of a pair of questions by
    directions, too), and its series without the date.
    """
    parts = (as_text(row.get(key)) for key in ("source", "id", "direction"))
    series = "/".join(filter(None, parts))
    date = as_text(row.get("resolution_date"))[:10]
    return {
        "event_id": f"{series} {date}".rstrip(),
        "series": series,
        "category": row.get("source"),
        "end_date": date,
    }


# --- Rows to lines ---


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
            _fold_word(result),
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
            fault = _NO_RESULT
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


def _fold_word(value: object) -> Word:
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
        return None, _PERCENT
    return None, SHARE if 0 < parse_number(word) < 1 else _NO_RESULT


def _read_words(
    names: Sequence[str], result: object, outcome: object, index: object
) -> tuple[dict[str, Word], str]:
    """Read what a row says of each option's result, or why there is no saying."""
    if isinstance(outcome, dict):
        said = {str(name): _fold_word(value) for name, value in outcome.items()}
        words = {name: said.pop(name, "") for name in names}
        return words, _NOT_WINNER if any(word not in ("", False) for word in said.values()) else ""
    if index != "":
        places = outcome_places(index)
        return {name: at in places for at, name in enumerate(names)}, ""
    folded = [name.casefold() for name in names]
    winners = outcome if isinstance(outcome, list) else [result]
    won = [parse_id(winner).strip().casefold() for winner in winners]
    if all(winner in folded for winner in won) and won != [""]:
        return {name: fold in won for name, fold in zip(names, folded, strict=True)}, ""
    if isinstance(outcome, list):
        return dict.fromkeys(names, ""), _NOT_WINNER
    return dict.fromkeys(names, _fold_word(result)), ""


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


# --- Lines to problems ---


Words = dict[str, set[Word]]  # by option what rows say of the result: flags, or other words


def list_words(lines: Sequence[Line]) -> Words:
    """List what the rows of an event say of its result, by option.

    Its options are what more than half of its forecasts have; of one with a result half is enough.
    """
    good = [line for line in lines if not line.fault]
    forecasts: dict[str, set[Hashable]] = {}
    words = Words()
    for line in good:
        for option, _, word, _, _ in line.parts:
            forecasts.setdefault(option, set()).add(line.forecast)
            words.setdefault(option, set()).update([word] if word != "" else [])
    total = len({line.forecast for line in good})
    return {
        option: words[option]
        for option in sorted(words)
        if 2 * len(forecasts[option]) + bool(words[option]) > total
    }


def hold_flags(events: Iterable[Words], is_declared: bool) -> bool | None:
    """Return whether the results of rows about options are flags of these, or the winner's name in
    every row; None if neither has more events.

    Flags differ between the options of an event, and are no other words.
    """
    said = [set[Word]().union(*words.values()) for words in events]
    flags = sum(words >= {True, False} for words in said) + is_declared
    names = sum(bool(words) and words.isdisjoint({True, False}) for words in said)
    return None if flags == names else flags > names


def read_winners(
    words: Words, are_flags: bool | None, is_declared: bool
) -> tuple[list[str] | None, str]:
    """Read who won an event, None while nobody knows; or why there is no saying.

    Flags that could be the name of an option are read if the column `is_declared` to hold flags.

    >>> read_winners({"No": {True}, "Yes": {True}}, are_flags=False, is_declared=False)
    (['Yes'], '')
    >>> read_winners({"Blue": {False}, "Red": {True}}, are_flags=True, is_declared=False)
    (['Red'], '')
    """
    said = set[Word]().union(*words.values())
    named = [option for option in words if _fold_word(option) in said]
    won = [option for option in words if True in words[option]]
    is_question = {option.casefold() for option in words} in ({"yes", "no"}, {"true", "false"})
    if not said or (said <= PENDING_WORDS and not named):
        return None, ""
    if said <= VOID_WORDS and not named:
        return None, VOID
    faults = {
        _EITHER: len(words) == 1 or (are_flags is None and not is_question and True in said),
        "its rows name different winners": len(said) > 1,
        _NOT_WINNER: not named,
        "its winner's name is that of several options": len(named) > 1,
    }
    if are_flags:
        faults = {
            NO_FLAG: not said <= {True, False},
            "an option without an outcome": not all(words.values()),
            DIFFER: any(len(of_option) > 1 for of_option in words.values()),
            "Yes and No have the same outcome": is_question and len(won) != 1,
            _EITHER: not is_declared and len(said) == 1 and bool(named),
        }
    return won if are_flags else named, first_fault(faults)


def make_problems(lines: Sequence[Line], notes: DataNotes) -> dict[str, dict[str, Any]]:
    """Make the records of the events of lines, by id."""
    for line in lines:
        # Of 100 and 0 those that came true would be left out.
        if line.fault == _PERCENT:
            place = f"{line.sheet.where}: line {line.sheet.find_line(line.row)}"
            raise InputError(place, _PERCENT, line.cell)
    by_event = group_by(lines, lambda line: line.sheet.events[line.row])
    by_event.pop("", None)
    words = {event: list_words(of_event) for event, of_event in by_event.items()}
    is_declared = any("won" in sheet.roles for sheet in {line.sheet for line in lines})
    by_option = [words[event] for event, of_event in by_event.items() if not of_event[0].is_flag]
    are_flags = hold_flags(by_option, is_declared)
    problems = {}
    for event, of_event in by_event.items():
        if of_event[0].is_flag:
            winners, fault = read_winners(words[event], are_flags=True, is_declared=True)
        else:
            winners, fault = read_winners(words[event], are_flags, is_declared)
        problems[event] = _make_problem(event, of_event, [*words[event]], winners, fault, notes)
    return problems


def _make_problem(
    event: str,
    lines: Sequence[Line],
    options: Sequence[str],
    winners: list[str] | None,
    fault: str,
    notes: DataNotes,
) -> dict[str, Any]:
    """Make the record of an event of all its lines, and of its winners or why there is no saying.

    A result that cannot be read is no reason to wait for one.
    """
    good = [line for line in lines if not line.fault]
    bad = max(lines, key=attrgetter("fault"))
    result_fault = next((line for line in lines if line.fault in _RESULT_FAULTS), None)
    if result_fault and not good:
        return Refusal(result_fault.fault, result_fault.cell, problem_id=event)
    is_question = lines[0].sheet.roles.keys().isdisjoint({"option", "options", "markets"})
    if result_fault or (fault == DIFFER and is_question):
        fault = _NO_OPTION
    if fault or not options:
        return Refusal(fault or bad.fault or DIFFER, _find_cell(good) or bad.cell, problem_id=event)

    roles = ("category", "closed", "series", "exclusive", "weight")
    said = {role: _list_said(good, role) for role in roles}
    rest = "that differs between the rows of an event, the"
    first_row = {
        "category": f"category {rest} first by name counts",
        "closed": f"closing time {rest} latest counts",
        "series": f"series {rest} last by name counts",
        "exclusive": f"'exclusive' {rest} first by name counts",
        "weight": f"weight {rest} first by name counts",
    }
    for role, text in first_row.items():
        if len(said[role] - {""}) > 1 or (role in ("category", "closed") and len(said[role]) > 1):
            notes.warn(text, [event])
    ticker = _TICKER.match(event)
    exclusive = min(said["exclusive"])
    is_exclusive = parse_flag(exclusive)
    return {
        "problem_id": event,
        "category": min(said["category"]),
        # KXMLBGAME of KXMLBGAME-25JUL02SEANYY
        "series": max(said["series"]) or (ticker and (ticker[1] or ticker[2])),
        "title": good[0].value("title"),
        "end_date": max(said["closed"], key=_closing_order),
        "options": options,
        "correct_answer": winners,
        "exclusive": (exclusive or None) if is_exclusive is None else is_exclusive,
        "weight": min(said["weight"] - {""}, default=None),
    }


def _list_said(lines: Sequence[Line], role: str) -> set[str]:
    """List what the rows of an event say in a role."""
    if all(role not in sheet.roles for sheet in {line.sheet for line in lines}):
        return {""}
    return {line.sheet.texts(role)[line.row] for line in lines}


def _find_cell(lines: Sequence[Line]) -> str:
    """Find what rows say of results besides flags."""
    words = {word for line in lines for _, _, word, _, _ in line.parts}
    return min((word for word in words if isinstance(word, str) and word), default="")


def _closing_order(text: str) -> tuple[float, str]:
    """Sort what is no time before all times: nan is neither smaller nor larger than a number."""
    seconds, _ = parse_moment(text)
    return -math.inf if math.isnan(seconds) else seconds, text


# --- Lines to forecasts ---


class Options(NamedTuple):
    """The options of events by id, and what is said of others."""

    by_event: Mapping[str, Sequence[str]]
    unknown: str


def make_forecasts(sheet: Sheet, lines: Iterable[Line], options: Options) -> Loaded:
    """Make the records of the forecasts of lines, in their order."""
    groups: dict[tuple[str, Hashable], list[Line]] = {}
    for line in lines:
        groups.setdefault((sheet.events[line.row], line.forecast), []).append(line)
    last_rounds = _find_last_rounds(sheet)
    records: list[object] = []
    numbers = []
    for (event, _), of_forecast in groups.items():
        record = _make_forecast(sheet, event, of_forecast, options)
        is_replaced = bool(last_rounds) and of_forecast[0].row not in last_rounds
        if is_replaced and isinstance(record, dict):
            ids = {key: record[key] for key in ("problem_id", "username")}
            record = Refusal(REPLACED, **ids)
        records.append(record)
        numbers.append(sheet.find_line(of_forecast[0].row))
    # Of records their places, unless several make a forecast.
    has_places = sheet.loaded.lines or len(numbers) < len(sheet.events)
    return replace(sheet.loaded, records=records, lines=numbers if has_places else ())


def _find_last_rounds(sheet: Sheet) -> set[int]:
    """Find the rows of the last round of each forecast; none if rows have times, or no rounds."""
    if "round" not in sheet.roles or "time" in sheet.roles:
        return set()
    forecasters, runs, _, rounds = sheet.forecast_columns
    keys = list(zip(sheet.events, forecasters, runs, strict=True))
    numbers = list(map(parse_number, rounds))
    last: dict[tuple[str, str, str], float] = {}
    for key, number in zip(keys, numbers, strict=True):
        last[key] = max(last.get(key, -math.inf), number)
    return {row for row, key in enumerate(keys) if numbers[row] == last[key]}


def _make_forecast(
    sheet: Sheet, event: str, lines: Sequence[Line], options: Options
) -> dict[str, Any] | BadRecord:
    """Make the record of a forecast, with its values in the order of the event's options."""
    first = lines[0]
    username, run, time = (column[first.row] for column in sheet.forecast_columns[:3])
    ids = {"problem_id": event, "username": username}
    bad = max(lines, key=attrgetter("fault")) if len(lines) > 1 else first
    if bad.fault and not event:
        return BadRecord(bad.fault)
    if bad.fault:
        return Refusal(bad.fault, bad.cell, **ids)

    given = {option: (p, price, bid) for option, p, _, price, bid in first.parts}
    for line in lines[1:] if len(given) == len(first.parts) else lines:
        for option, p, _, price, bid in line.parts:
            if given.setdefault(option, (p, price, bid)) != (p, price, bid):
                return Refusal(f"{AMBIGUOUS}{sheet.describe_unread()}", **ids)
    known = options.by_event.get(event, ())
    if known and not given.keys() <= set(known):
        folded = {option.casefold(): option for option in known}
        given = {folded.get(option.casefold(), option): value for option, value in given.items()}
        if unknown := given.keys() - set(known):
            return Refusal(f"{options.unknown}: {printable(min(unknown), 60)}", **ids)
    ordered = [given[option] for option in known or given if option in given]
    record: dict[str, Any] = {
        **ids,
        "timestamp": time or None,
        "prediction": [p for p, _, _ in ordered if p is not None],
        "odds": _list_prices([price for _, price, _ in ordered]),
        "bids": _list_prices([bid for _, _, bid in ordered]),
    }
    if first.values is not None:
        record["prediction"] = first.values
    if run:
        record["run"] = run
    return record


def _list_prices(values: list[object]) -> list[object] | None:
    """List the prices; None if there is none."""
    return values if any(value != "" for value in values) else None


# --- What a table must have ---


def require_roles(sheet: Sheet, has_dataset: bool) -> None:
    """Raise InputError unless the columns of forecasts, and of results if no dataset has them, are
    found; it says how to name them.
    """
    roles = sheet.roles
    if "won" in roles and "option" not in roles and "probabilities" not in roles:
        name = roles["won"]
        option = format_option("option", _guess(sheet, "option") or "NAME")
        expected = f"expected a column for the option that {name!r} is about ({option})"
        raise _refuse(sheet, f"{expected}, or for that of the question", ("result", name))
    missing = [] if "event" in roles else ["event"]
    if not roles.keys() & {"probability", "probabilities"}:
        missing.append("probability")
    # A table with options may have no result yet.
    has_options = not roles.keys().isdisjoint({"option", "options", "markets"})
    if not (has_dataset or sheet.has_results or (has_options and "state" not in roles)):
        missing.append("result")
    if missing:
        raise _refuse(sheet, _expect(sheet, missing), *_guess_all(sheet, missing))
    p = roles.get("probability", "")
    is_of_yes = "yes" in fold(p).split("_") and "option" in roles
    if is_of_yes and "probability" not in sheet.given:
        expected = f"expected the probability of the row's option, and {p!r} may be of Yes"
        raise _refuse(sheet, expected, ("probability", p))


def _refuse(sheet: Sheet, expected: str, *columns: tuple[str, str]) -> InputError:
    options = " ".join(format_option(role, name or "NAME") for role, name in columns)
    got = printable(", ".join(name for name in sheet.table.columns if "." not in name), 200)
    return InputError(sheet.where, f"{expected} (name it with {options})", got or "none")


def _expect(sheet: Sheet, missing: Sequence[str]) -> str:
    """Say what columns a table must have."""
    expected = f"a column for the {' and the '.join(missing)}"
    if missing == ["result"] and "state" in sheet.roles:
        name = sheet.roles["state"]
        expected = f"what came true, and {name!r} only says whether that is known"
    elif missing == ["result"]:
        beside = "a file in dataset/ whose name begins like this one's, or --dataset"
        expected = f"a dataset of problems for it ({beside}), or what came true"
    shares = [name for name in sheet.unread if _could_be("probability", sheet.table.held(name))]
    if "probability" in missing and len(shares) > 1:
        expected = f"a row per forecast, {expected}"
    return f"expected {expected}"


def _guess_all(sheet: Sheet, missing: Sequence[str]) -> list[tuple[str, str]]:
    """Guess the column of each missing role; that of the state may be the result."""
    guesses = {role: _guess(sheet, role) for role in missing}
    if "result" in guesses and "state" in sheet.roles:
        guesses["result"] = sheet.roles["state"]
    return [*guesses.items()]


def _guess(sheet: Sheet, role: str) -> str:
    """Guess which unread column has a role; "" if it may be several."""
    guesses = [name for name in sheet.unread if _could_be(role, sheet.table.held(name))]
    return guesses[0] if len(guesses) == 1 else ""


def _could_be(role: str, values: Sequence[Any]) -> bool:
    """Return whether the values of a column could have a role."""
    numbers = list(map(parse_number, values))
    is_share = bool(values) and all(0 <= number <= 1 for number in numbers)
    if role == "probability":
        return is_share and any(0 < number < 1 for number in numbers)
    if role == "result":
        return bool(values) and all(parse_flag(value) is not None for value in values)
    are_texts = all(isinstance(value, str) for value in values)
    return bool(values) and are_texts and all(map(math.isnan, numbers)) and len(set(values)) > 1


def require_sense(sheet: Sheet, lines: Sequence[Line]) -> None:
    """Raise InputError if the columns cannot be those of the forecasts: all probabilities are 0 or
    1 beside a column of others, no two forecasters share an event beside one that they would, or
    several forecasts have no forecaster beside a column that tells them apart.
    """
    p = [value for line in lines for _, value, _, _, _ in line.parts if not line.fault]
    others = [name for name in sheet.unread if _could_be("probability", sheet.table.held(name))]
    if others and "probability" not in sheet.given and p and all(value in (0, 1) for value in p):
        name = sheet.roles.get("probability", "")
        expected = f"expected probabilities, and all of {name!r} are 0 or 1"
        raise _refuse(sheet, expected, ("probability", others[0]))
    picks = [name for name in sheet.unread if _could_be("result", sheet.table.held(name))]
    p_name = sheet.roles.get("probability", "")
    if picks and fold(p_name) == "confidence" and "probability" not in sheet.given:
        expected = f"expected the probability of Yes, and {p_name!r} may be that of {picks[0]!r}"
        raise _refuse(sheet, expected, ("probability", p_name))
    _require_shared_events(sheet)
    _require_forecasters(sheet)


def _require_shared_events(sheet: Sheet) -> None:
    """Raise InputError if every event has one row, and another column has several forecasters in
    each of its values, once.
    """
    forecasters = sheet.texts("forecaster")
    is_row_number = len(set(sheet.events)) == len(sheet.events)
    if not is_row_number or len(set(forecasters)) < 2 or "event" in sheet.given:
        return
    titles = [column for role, column in sheet.roles.items() if role == "title"]
    for name in [*titles, *sheet.unread]:
        values = sheet.table.texts(name)
        pairs = set(zip(values, forecasters, strict=True))
        if len(pairs) == len(values) and 1 < len(set(values)) <= len(values) / 2:
            event = sheet.roles["event"]
            expected = (
                f"expected events that forecasters share, and every row has its own {event!r}"
            )
            raise _refuse(sheet, expected, ("event", name))


def _require_forecasters(sheet: Sheet) -> None:
    """Raise InputError if a table without forecasters has several rows of one thing, and a column
    of which each value stands in several events tells them apart.
    """
    if "forecaster" in sheet.roles:
        return
    things = list(zip(sheet.events, sheet.texts("option"), sheet.texts("run"), strict=True))
    if len(set(things)) == len(things):
        return
    for name in sheet.unread:
        values = sheet.table.texts(name)
        if not _could_be("forecaster", sheet.table.held(name)):
            continue
        events = defaultdict[str, set[str]](set)
        for event, value in zip(sheet.events, values, strict=True):
            events[value].add(event)
        tells_apart = len(set(zip(things, values, strict=True))) > len(set(things))
        if tells_apart and all(len(of_value) > 1 for of_value in events.values()):
            expected = "expected a column for the forecaster, of whom an event has several"
            raise _refuse(sheet, expected, ("forecaster", name))


# --- Files ---


class Board(NamedTuple):
    """The events and the forecasts of files, and what is odd about them.

    rows: how many a table of both has.
    first_files: of files that are runs of one system, the first.
    """

    problems: Loaded
    forecasts: list[Loaded]
    rows: int
    notes: DataNotes
    first_files: Mapping[str, str]


def load_tables(paths: Sequence[Path], given: Given, any_form: bool) -> Board:
    """Read tables of forecasts that say what came true; InputError if one of them does not."""
    sheets = []
    for path in paths:
        sheet = make_sheet(path, read_table(path, any_form, strict=False), given)
        sheets.append(add_companion(sheet))
    return _make_board(sheets, DataNotes())


def _make_board(sheets: Sequence[Sheet], notes: DataNotes) -> Board:
    of_sheets = []
    for sheet in sheets:
        require_roles(sheet, has_dataset=False)
        sheet.name_forecasters(Path(sheet.where).stem)
        of_sheet = read_lines(sheet)
        require_sense(sheet, of_sheet)
        of_sheets.append(of_sheet)
        notes.lines += [printable(text, 200) for text in sheet.list_notes()]
    lines = [line for of_sheet in of_sheets for line in of_sheet]
    problems = make_problems(lines, notes)
    options = Options(
        {event: problem.get("options", ()) for event, problem in problems.items()},
        "an option that most forecasts of the event lack",
    )
    for sheet in sheets:
        sheet.release()
    pairs = zip(sheets, of_sheets, strict=True)
    forecasts = [
        (sheet.file_name, make_forecasts(sheet, of_sheet, options)) for sheet, of_sheet in pairs
    ]
    problems_of_board = _load_problems_of(sheets[0].where, problems, lines)
    return _join_files(problems_of_board, forecasts, len(lines), notes)


def _join_files(
    problems: Loaded, files: Sequence[tuple[str, Loaded]], rows: int, notes: DataNotes
) -> Board:
    return Board(problems, [loaded for _, loaded in files], rows, notes, find_first_files(files))


def find_first_files(files: Iterable[tuple[str, Loaded]]) -> dict[str, str]:
    """Find of each file the first run of its system, as the names of the files say."""
    first: dict[str, str] = {}
    found = {}
    for name, loaded in files:
        if name:
            # NAME is a run beside NAME@2.
            system, _, _ = Path(loaded.path).stem.partition("@")
            found[str(loaded.path)] = first.setdefault(system, str(loaded.path))
    return found


def _load_problems_of(where: str, problems: Mapping[str, object], lines: Sequence[Line]) -> Loaded:
    """Return problems with the lines where their first rows stand."""
    rows: dict[str, int] = {}
    for line in lines:
        rows.setdefault(line.sheet.events[line.row], line.sheet.find_line(line.row))
    return Loaded(where, [*problems.values()], lines=[rows[event] for event in problems])


def list_events(path: Path) -> frozenset[str]:
    """List the events in a table; none if it cannot be read, as reading it again will say."""
    with contextlib.suppress(InputError):
        return frozenset(make_sheet(path, read_table(path, strict=False), {}).events)
    return frozenset()


def load_beside(paths: Sequence[Path], dataset: Path, given: Given, any_form: bool) -> Board:
    """Read files of forecasts beside the questions of their dataset.

    Of one file that says what came true the dataset may have the rest, such as prices.
    """
    notes = DataNotes()
    if any_form and len(paths) == 1 and not _holds_problems(dataset, given):
        sheet = make_sheet(paths[0], read_table(paths[0], any_form, strict=False), given)
        if sheet.has_results:
            questions = make_sheet(dataset, read_table(dataset, any_form, strict=False), given)
            return _make_board([join_questions(sheet, questions)], notes)
    problems = load_problems(dataset, given, any_form, notes)
    files = [_load_named_forecasts(path, problems, given, any_form) for path in paths]
    return _join_files(problems, files, 0, notes)


def _holds_problems(dataset: Path, given: Given) -> bool:
    """Return whether a dataset says what came true, or which options there are."""
    loaded = read_table(dataset, strict=False)
    if loaded.is_map or is_canonical(loaded, _PROBLEM_KEYS):
        return True
    sheet = make_sheet(dataset, loaded, given)
    return sheet.has_results or "options" in sheet.roles


def load_problems(
    path: Path, given: Given | None = None, any_form: bool = False, notes: DataNotes | None = None
) -> Loaded:
    """Load the problems of a dataset, whose columns may have any of the known names."""
    loaded = read_table(path, any_form, strict=False)
    if is_canonical(loaded, _PROBLEM_KEYS):
        return loaded
    if loaded.is_map and list_rows(loaded) == loaded.records:
        given = {"event": "id", "result": "prediction", **(given or {})}
    sheet = make_sheet(path, loaded, given or {})
    sheet.prefer_id()
    if "event" not in sheet.roles:
        raise _refuse(sheet, "expected a column for the event", ("event", _guess(sheet, "event")))
    lines = read_lines(sheet)
    problems = make_problems(lines, notes or DataNotes())
    return replace(_load_problems_of(str(path), problems, lines), sha256=loaded.sha256)


def load_forecasts(path: Path, problems: Loaded) -> Loaded:
    """Load the forecasts of a file about the problems of a dataset."""
    return _load_named_forecasts(path, problems, {}, any_form=False)[1]


def _load_named_forecasts(
    path: Path, problems: Loaded, given: Given, any_form: bool
) -> tuple[str, Loaded]:
    """Load the forecasts of a file, and their forecaster's name if it is that of the file.

    The column of the event is the one that has most of their ids. A row of ForecastBench without a
    date, as those of markets are, is about the only date that its question has.
    """
    loaded = read_table(path, any_form, strict=False)
    name = name_system(path, Path(problems.path))
    if is_canonical(loaded, _FORECAST_KEYS):
        return name.partition("@")[0], loaded
    options = {
        parse_id(row["problem_id"]): list(map(parse_id, row.get("options") or ()))
        for row in problems
        if isinstance(row, Mapping) and "problem_id" in row
    }
    sheet = make_sheet(path, loaded, given)
    titles = {
        parse_id(row.get("title")): parse_id(row["problem_id"])
        for row in problems
        if isinstance(row, Mapping) and "problem_id" in row and row.get("title")
    }
    sheet.choose_event({**titles, **{name: name for name in options}})
    require_roles(sheet, has_dataset=True)
    sheet.name_forecasters(name)
    by_series = group_by(options, lambda name: name.rpartition(" ")[0])
    for at, event in enumerate(sheet.events):
        dated = by_series.get(event, ())
        if event not in options and len(dated) == 1:
            sheet.events[at] = dated[0]
    lines = read_lines(sheet)
    require_sense(sheet, lines)
    unknown = "an option that the event lacks"
    return sheet.file_name, make_forecasts(sheet, lines, Options(options, unknown))
