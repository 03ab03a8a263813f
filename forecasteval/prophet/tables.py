"""Files of questions and of forecasts, in any format, as records of problems and forecasts.

The columns of a table have roles (`columns`). A row says something of one option, of Yes, or of all
options; rows of one event, forecaster, run and time are a forecast. What came true is said by the
questions of a dataset, or by the rows of a table that has both.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, printable
from forecasteval.common.records import (
    BadRecord,
    Loaded,
    group_by,
)
from forecasteval.source.tables import read_table

from .cells import (
    parse_id,
    parse_number,
)
from .columns import (
    Given,
    list_rows,
)
from .fields import DataNotes, Refusal
from .lines import Line, read_lines
from .losses import AMBIGUOUS, REPLACED
from .outcomes import make_problems
from .requirements import guess_column, refuse, require_roles, require_sense
from .sheets import (
    Sheet,
    add_companion,
    is_canonical,
    join_questions,
    make_sheet,
    name_system,
)

_PROBLEM_KEYS: Final = {"problem_id", "options"}
_FORECAST_KEYS: Final = {"problem_id", "username"}


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


def list_events(path: Path, given: Given) -> frozenset[str]:
    """List the events in a table; none if it cannot be read, as reading it again will say."""
    with contextlib.suppress(InputError):
        return frozenset(make_sheet(path, read_table(path, strict=False), given).events)
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
        raise refuse(
            sheet, "expected a column for the event", ("event", guess_column(sheet, "event"))
        )
    lines = read_lines(sheet)
    problems = make_problems(lines, notes or DataNotes())
    return replace(_load_problems_of(str(path), problems, lines), sha256=loaded.sha256)


def load_forecasts(path: Path, problems: Loaded, given: Given) -> Loaded:
    """Load the forecasts of a file about the problems of a dataset."""
    return _load_named_forecasts(path, problems, given, any_form=False)[1]


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
