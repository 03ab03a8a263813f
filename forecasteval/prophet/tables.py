"""Files of questions and of forecasts, in any format, as records of problems
and forecasts.

The columns of a table have roles (`columns`). A row says something of one option, of
Yes, or of all options; rows of one event, forecaster, run and time are a forecast. What
came true is said by the questions of a dataset, or by the rows of a table
that has both.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, printable
from forecasteval.common.records import BadRecord, Loaded, as_text, group_by
from forecasteval.source.tables import read_table

from .cells import parse_id, parse_number
from .columns import Given, format_option, list_rows
from .events import parse_options
from .fields import DataNotes, Refusal
from .lines import Line, read_lines
from .losses import AMBIGUOUS, REPLACED
from .outcomes import UNORDERED, make_problems
from .requirements import require_event, require_roles, require_sense
from .sheets import (
    Sheet,
    add_companion,
    is_canonical,
    join_questions,
    make_sheet,
    name_system,
)

_PROBLEM_KEYS: Final = {"problem_id", "options"}
_NO_ORDER: Final = (
    "expected probabilities by option, since no list has the options in an order"
)
_FORECAST_KEYS: Final = {"problem_id", "username"}


# --- Lines to forecasts ---


class Options(NamedTuple):
    """The options of events by id.

    unknown: what is said of others.
    unordered: events of which no list has the options in an order.
    """

    by_event: Mapping[str, Sequence[str]]
    unknown: str
    unordered: Collection[str] = ()


def make_forecasts(sheet: Sheet, lines: Iterable[Line], options: Options) -> Loaded:
    """Make the records of the forecasts of lines, in their order."""
    groups: dict[tuple[str, Hashable], list[Line]] = {}
    for line in lines:
        groups.setdefault((sheet.events[line.row], line.forecast), []).append(line)
    last_rounds = _find_last_rounds(sheet)
    records: list[object] = []
    numbers = []
    for (event, _), of_forecast in groups.items():
        row = of_forecast[0].row
        record = _make_forecast(sheet, event, of_forecast, options)
        is_replaced = bool(last_rounds) and row not in last_rounds
        if is_replaced and isinstance(record, dict):
            ids = {key: record[key] for key in ("problem_id", "username")}
            record = Refusal(REPLACED, **ids)
        records.append(record)
        numbers.append(sheet.find_line(row))
    if not sheet.loaded.lines and len(numbers) == len(sheet.events):
        numbers = []  # records are at their own places, unless several make a forecast
    return replace(sheet.loaded, records=records, lines=numbers)


def _find_last_rounds(sheet: Sheet) -> set[int]:
    """Find the rows of the last round of each forecast; none if rows have
    times, or no rounds.
    """
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
    """Make the record of a forecast, with its values in the order of the
    event's options.
    """
    first = lines[0]
    username, run, time, _ = (column[first.row] for column in sheet.forecast_columns)
    ids = {"problem_id": event, "username": username}
    bad = first
    if len(lines) > 1:
        bad = max(lines, key=attrgetter("fault"))
    if bad.fault and not event:
        return BadRecord(bad.fault)
    if bad.fault:
        return Refusal(bad.fault, bad.cell, **ids)

    given = {option: (p, price, bid) for option, p, _, price, bid in first.parts}
    rest = lines[1:]
    if len(given) < len(first.parts):
        rest = lines
    for line in rest:
        for option, p, _, price, bid in line.parts:
            if given.setdefault(option, (p, price, bid)) != (p, price, bid):
                return Refusal(f"{AMBIGUOUS}{sheet.describe_unread()}", **ids)
    known = options.by_event.get(event, ())
    if known and not given.keys() <= set(known):
        folded = {option.casefold(): option for option in known}
        given = {
            folded.get(option.casefold(), option): value
            for option, value in given.items()
        }
        if unknown := given.keys() - set(known):
            return Refusal(f"{options.unknown}: {printable(min(unknown), 60)}", **ids)
    ordered = [given[option] for option in known or given if option in given]
    prediction: Sequence[object] = [p for p, _, _ in ordered if p is not None]
    if first.values and event in options.unordered:
        return Refusal(_NO_ORDER, printable(as_text(first.values), 60), **ids)
    if first.values is not None:
        prediction = first.values
    record: dict[str, Any] = {
        **ids,
        "timestamp": time or None,
        "prediction": prediction,
    }
    record["odds"] = _list_prices([price for _, price, _ in ordered])
    record["bids"] = _list_prices([bid for _, _, bid in ordered])
    if run:
        record["run"] = run
    return record


def _list_prices(values: list[object]) -> list[object] | None:
    """List the prices; None if there is none."""
    if all(value == "" for value in values):
        return None
    return values


# --- Files ---


class Board(NamedTuple):
    """The events and the forecasts of files, and what is odd about them.

    rows: how many a table of both has.
    """

    problems: Loaded
    forecasts: list[Loaded]
    rows: int
    notes: DataNotes


def load_tables(paths: Sequence[Path], given: Given, any_form: bool) -> Board:
    """Read tables of forecasts that say what came true; InputError if one of
    them does not.
    """
    return _make_board(
        [add_companion(_read_sheet(path, given, any_form)) for path in paths]
    )


def _read_sheet(path: Path, given: Given, any_form: bool) -> Sheet:
    return make_sheet(path, read_table(path, any_form, strict=False), given)


def _make_board(sheets: Sequence[Sheet]) -> Board:
    notes = DataNotes()
    lines_of_sheets = []
    for sheet in sheets:
        require_roles(sheet, has_dataset=False)
        sheet.name_forecasters(Path(sheet.where).stem)
        lines_of_sheet = read_lines(sheet)
        require_sense(sheet, lines_of_sheet)
        lines_of_sheets.append(lines_of_sheet)
        notes.lines += [printable(text, 200) for text in sheet.list_notes()]
    lines = [line for lines_of_sheet in lines_of_sheets for line in lines_of_sheet]
    problems = make_problems(lines, notes)
    options = Options(
        {event: problem.get("options", ()) for event, problem in problems.items()},
        "an option that most forecasts of the event lack",
    )
    for sheet in sheets:
        sheet.release()
    forecasts = [
        make_forecasts(sheet, lines_of_sheet, options)
        for sheet, lines_of_sheet in zip(sheets, lines_of_sheets, strict=True)
    ]
    loaded = Loaded(
        sheets[0].where, [*problems.values()], lines=_find_first_lines(problems, lines)
    )
    return Board(loaded, forecasts, len(lines), notes)


def _find_first_lines(problems: Iterable[str], lines: Sequence[Line]) -> list[int]:
    """Find where the first rows of problems stand."""
    rows: dict[str, int] = {}
    for line in lines:
        rows.setdefault(line.sheet.events[line.row], line.sheet.find_line(line.row))
    return [rows[event] for event in problems]


def require_columns(given: Given, files: Iterable[Loaded]) -> None:
    """Raise InputError if `--column` names a column that no file has: another one
    would be read.
    """
    names = {name for loaded in files for name in loaded.names}
    for role, column in given.items():
        parts = [column] if column in names else column.split(",")
        unknown = [name for name in parts if name.partition(".")[0] not in names]
        if unknown:
            expected = f"expected a column of the files, and {unknown[0]!r} is none"
            got = printable(", ".join(sorted(names)), 200)
            raise InputError(format_option(role, column), expected, got)


def list_events(path: Path, given: Given) -> frozenset[str]:
    """List the events in a table; none if it cannot be read, as reading it
    again will say.
    """
    with contextlib.suppress(InputError):
        return frozenset(_read_sheet(path, given, any_form=True).events)
    return frozenset()


def load_beside(
    paths: Sequence[Path], dataset: Path, given: Given, any_form: bool
) -> Board:
    """Read files of forecasts beside the questions of their dataset.

    Of one file that says what came true the dataset may have the rest, such as prices.
    """
    if any_form and len(paths) == 1 and not _holds_problems(dataset, given):
        sheet = _read_sheet(paths[0], given, any_form)
        if sheet.has_results:
            return _make_board(
                [join_questions(sheet, _read_sheet(dataset, given, any_form))]
            )
    notes = DataNotes()
    problems = load_problems(dataset, given, any_form, notes)
    forecasts = [load_forecasts(path, problems, given, any_form) for path in paths]
    return Board(problems, forecasts, 0, notes)


def _holds_problems(dataset: Path, given: Given) -> bool:
    """Return whether a dataset says what came true, or which options there are."""
    loaded = read_table(dataset, strict=False)
    if loaded.is_map or is_canonical(loaded, _PROBLEM_KEYS, given):
        return True
    sheet = make_sheet(dataset, loaded, given)
    return sheet.has_results or "options" in sheet.roles


def load_problems(
    path: Path, given: Given, any_form: bool = False, notes: DataNotes | None = None
) -> Loaded:
    """Load the problems of a dataset, whose columns may have any of the known names."""
    loaded = read_table(path, any_form, strict=False)
    if is_canonical(loaded, _PROBLEM_KEYS, given):
        return loaded
    if loaded.is_map and list_rows(loaded) == loaded.records:
        given = {"event": "id", "result": "prediction", **given}
    sheet = make_sheet(path, loaded, given)
    sheet.prefer_id()
    require_event(sheet)
    lines = read_lines(sheet)
    problems = make_problems(lines, notes or DataNotes())
    places = _find_first_lines(problems, lines)
    records = [*problems.values()]
    return replace(sheet.loaded, path=str(path), records=records, lines=places)


def load_forecasts(
    path: Path, problems: Loaded, given: Given, any_form: bool = False
) -> Loaded:
    """Load the forecasts of a file about the problems of a dataset.

    The column of the event is the one that has most of their ids. A row of
    ForecastBench without a date, as those of markets are, is about the only date that
    its question has.
    """
    loaded = read_table(path, any_form, strict=False)
    known = [row for row in problems if isinstance(row, Mapping)]
    ids = [parse_id(row.get("problem_id")) for row in known]
    unordered = {
        name for name, row in zip(ids, known, strict=True) if row.get(UNORDERED)
    }
    if not unordered and is_canonical(loaded, _FORECAST_KEYS, given):
        return loaded
    options = {
        name: parse_options(row.get("options"))
        for name, row in zip(ids, known, strict=True)
    }
    titles = {
        parse_id(row.get("title")): name for name, row in zip(ids, known, strict=True)
    }
    titles.pop("", None)
    sheet = make_sheet(path, loaded, given)
    sheet.choose_event(titles | dict(zip(ids, ids, strict=True)))
    require_roles(sheet, has_dataset=True)
    sheet.name_forecasters(name_system(path, Path(problems.path)))
    by_series = group_by(options, lambda name: name.rpartition(" ")[0])
    for row, event in enumerate(sheet.events):
        dated = by_series.get(event, ())
        if event not in options and len(dated) == 1:
            sheet.events[row] = dated[0]
    lines = read_lines(sheet)
    require_sense(sheet, lines)
    unknown = "an option that the event lacks"
    return make_forecasts(sheet, lines, Options(options, unknown, unordered))
