"""Files as sheets: rows whose columns have roles."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any, Final

from forecasteval.common.errors import InputError, printable
from forecasteval.common.files import NAME_ENDS
from forecasteval.common.records import BadRecord, Loaded, as_text
from forecasteval.source.tables import read_table

from .cells import parse_id
from .columns import (
    Given,
    Table,
    find_roles,
    fold,
    list_candidates,
    list_rows,
    list_unread,
)

_SET_KEYS: Final = {"source", "id", "resolution_date"}
_WHOLE_NUMBER: Final = re.compile(r"\A([0-9]+)\.0+\Z")
_TEXT_NAMES: Final = frozenset(
    {"question", "question_title", "question_text", "market", "title"}
)
_SAMPLE: Final = 100
_LONG: Final = "more cells than columns"


class Sheet:
    """A table with its roles.

    faults: by number of a row why it cannot be read.
    events: of each row the id of its event.
    forecast_columns: forecaster, run, time and round of each row.
    """

    def __init__(
        self, loaded: Loaded, table: Table, given: Given, faults: Mapping[int, str]
    ) -> None:
        self.loaded = loaded
        self.table = table
        self.given = given
        self.roles = find_roles(table, given)
        self.faults = faults
        self._blank = [""] * len(table.rows)
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
        if not names:
            return ""
        return f" (not read: {printable(names, 200)})"

    def list_notes(self) -> list[str]:
        notes = list_unread(self.table, self.roles)
        if not self.has_results:
            notes.insert(0, "no column is called 'resolution' or 'winner'")
        return notes

    def release(self) -> None:
        """Let go of the rows, whose cells are in columns: millions take most
        of the memory.
        """
        self.loaded = replace(self.loaded, records=())
        self.table.rows = ()

    def find_line(self, row: int) -> int:
        """Find where a row stands: its line, or its number."""
        if not self.loaded.lines:
            return row + 1
        return self.loaded.lines[row]

    def name_forecasters(self, name: str) -> None:
        """Give rows without a forecaster the name of their file, and rows of
        `NAME@2` the run.
        """
        file_name, _, file_run = name.partition("@")
        forecasters, runs, *rest = self.forecast_columns
        if "forecaster" not in self.roles:
            forecasters = [file_name] * len(forecasters)
        self.forecast_columns = [forecasters, [run or file_run for run in runs], *rest]

    def choose_event(self, ids: Mapping[str, str]) -> None:
        """Choose the column of the event, the one with most of the known ids; titles
        are known, too, if no column has an id.
        """
        if "event" in self.given:
            return
        columns = [
            self.roles.get("event", ""),
            *list_candidates(self.table.columns, "event"),
        ]
        names = {
            column: list(map(name_event, self.table.values(column)))
            for column in filter(None, columns)
        }
        counts = {column: len(ids.keys() & set(names[column])) for column in names}
        best = max(counts, key=counts.__getitem__, default="")
        if best and counts[best]:
            self.roles["event"] = best
            self.events = [ids.get(name, name) for name in names[best]]

    def prefer_id(self) -> None:
        """Take a bare `id` of questions, one per row, before their text."""
        title = self.roles.get("event", "")
        if fold(title) not in _TEXT_NAMES:
            return
        for column in self.table.columns:
            names = list(map(name_event, self.table.values(column)))
            if fold(column) == "id" and len(set(names)) == len(names):
                self.roles |= {"title": title, "event": column}
                self.events = names
                return


def name_event(value: object) -> str:
    """Write the id of an event as text: 7, "7" and the 7.0 of a column
    with gaps are one.
    """
    if isinstance(value, (list, dict)):
        return as_text(value)
    text = parse_id(value)
    whole = _WHOLE_NUMBER.match(text)
    if not whole:
        return text
    return whole[1]


def is_canonical(loaded: Loaded, keys: set[str], given: Given) -> bool:
    """Return whether the records of a file have these keys, so that no column has a
    role to be found; or whether there is none. A time under another name, and a column
    that is named by `--column`, are looked for.
    """
    first = [row for row in islice(loaded, _SAMPLE) if isinstance(row, Mapping)]
    if not first:
        return True
    names = {key for row in first for key in row}
    times = list_candidates(names, "time")
    has_other_time = bool(times) and "timestamp" not in times and "options" not in keys
    return names >= keys and not has_other_time and names.isdisjoint(given.values())


def make_sheet(path: Path, loaded: Loaded, given: Given) -> Sheet:
    """Find what the columns of a file are; InputError if two of them have one name."""
    twice = [
        name for name, count in Counter(loaded.names).items() if name and count > 1
    ]
    if twice:
        got = f"{printable(twice[0], 60)} twice"
        raise InputError(str(path), "expected columns of different names", got)
    fields = read_fields(loaded)
    wide_columns = given.get("probability", "").split(",")
    if len(wide_columns) > 1 and set(wide_columns) <= set(loaded.names):
        loaded = _melt(loaded, wide_columns)
        given = {**given, "probability": "probability", "forecaster": "forecaster"}
    rows: list[Mapping[str, Any]] = []
    faults: dict[int, str] = {}
    for number, record in enumerate(list_rows(loaded)):
        row, fault = _read_row(record, loaded.names)
        if fault:
            faults[number] = fault
        rows.append(row)
    if fields:
        rows = [{**fields, **row} for row in rows]
    if rows and rows[0].keys() >= _SET_KEYS:
        rows = [{**row, **_read_set_row(row)} for row in rows]
    names = filter(None, dict.fromkeys(chain.from_iterable(rows)))
    loaded = replace(loaded, names=[*names])
    return Sheet(loaded, Table(str(path), loaded.names, rows), given, faults)


def _melt(loaded: Loaded, columns: Sequence[str]) -> Loaded:
    """Make a row per forecaster of each row, with what it says in the
    forecaster's column.
    """
    records: list[object] = []
    lines = []
    for number, row in enumerate(loaded):
        for name in columns:
            record = row
            if isinstance(row, dict):
                record = {**row, "forecaster": name, "probability": row.get(name)}
            records.append(record)
            lines.append(loaded.lines[number] if loaded.lines else number + 1)
    return replace(loaded, records=records, lines=lines)


def _read_row(record: object, names: Sequence[str]) -> tuple[Mapping[str, Any], str]:
    """Read a record as a row, and why it says nothing; "" if it does."""
    if isinstance(record, dict):
        return record, ""
    if not isinstance(record, BadRecord):
        return {}, "no object"
    if record.cells:
        return dict(zip(names, record.cells, strict=False)), _LONG
    return {}, record.problem


def join_questions(sheet: Sheet, questions: Sheet) -> Sheet:
    """Add to each row what the questions say of its event (and of its round, if
    they have any).
    """
    roles = [
        role
        for role in ("event", "round")
        if role in sheet.roles and role in questions.roles
    ]
    known = dict(_list_keyed_rows(questions, roles))
    rows = [
        {**row, **known.get(key, {})} for key, row in _list_keyed_rows(sheet, roles)
    ]
    names = [*dict.fromkeys([*sheet.table.names, *questions.table.names])]
    loaded = replace(sheet.loaded, names=names)
    return Sheet(loaded, Table(sheet.where, names, rows), sheet.given, sheet.faults)


def _list_keyed_rows(
    sheet: Sheet, roles: Sequence[str]
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """List the rows, each behind what it says in some roles."""
    keys = zip(*(map(name_event, sheet.values(role)) for role in roles), strict=True)
    return zip(keys, sheet.table.rows, strict=True)


def add_companion(sheet: Sheet) -> Sheet:
    """Add the questions beside Metaculus' forecasts, which have what came true."""
    path = Path(sheet.where)
    is_export = "probabilities" in sheet.roles and "probability" in sheet.roles
    if sheet.has_results or not is_export:
        return sheet
    file = path.with_name(path.name.replace("forecast_data", "question_data"))
    if file == path or not file.exists():
        expected = (
            "expected the questions of the same download beside it, question_data.csv"
        )
        raise InputError(str(path), expected, "none")
    return join_questions(
        sheet, make_sheet(file, read_table(file, strict=False), sheet.given)
    )


def name_system(path: Path, dataset: Path) -> str:
    """Name the system of a file whose name begins with that of its dataset."""
    rest = path.stem.removeprefix(dataset.stem)
    return rest.lstrip(NAME_ENDS) or path.stem


def read_fields(loaded: Loaded) -> dict[str, Any]:
    """Read what stands once in a file, for all of its rows."""
    fields = dict(loaded.fields)
    if loaded.is_map and list_rows(loaded) != loaded.records:
        fields = {row["id"]: row["prediction"] for row in loaded}
    return {
        key: value
        for key, value in fields.items()
        if not isinstance(value, (list, dict))
    }


def _read_set_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Name the event of a row of ForecastBench by source, id and date (of a pair of
    questions by directions, too), and its series without the date.
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
