"""A CSV with a row per option of every forecast, as the records of the JSON form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Final, NamedTuple

from forecasteval.common.errors import InputError, printable
from forecasteval.common.files import csv_header
from forecasteval.common.records import group_by

from .columns import ROLES, describe_missing, find_roles, is_tidy, list_unread
from .csv_files import ArenaFile, CsvFile, settle_facts
from .fields import Notes, Refusal, parse_number

_OUTCOMES: Final = {"1": 1, "1.0": 1, "true": 1, "yes": 1, "0": 0, "0.0": 0, "false": 0, "no": 0}
_FORECAST: Final = itemgetter("event", "forecaster", "time")


def open_csv(path: Path) -> CsvFile:
    """The file as Prophet Arena's, or as one with a row per option."""
    columns = csv_header(path)
    theirs = {"market_info", "market_outcome"}.intersection(columns)
    return ArenaFile(path) if theirs and not is_tidy(columns) else TidyFile(path)


class Line(NamedTuple):
    """Where a row begins, and its cells by what they mean; "" where there is no such column."""

    number: int
    cells: dict[str, str]
    is_long: bool


class TidyFile(CsvFile):
    """A CSV with a row per option, whose columns mean `ROLES`.

    The rows of one event, forecaster and time are a forecast. The options of an event are those of
    all its rows, and so are its outcomes: if there are none, it is pending.
    """

    def require_columns(self, columns: list[str]) -> None:
        if not is_tidy(columns):
            expected = f"expected a row per option, and columns for {describe_missing(columns)}"
            got = printable(", ".join(columns), 200) or "none"
            raise InputError(str(self.path), expected, got)
        self.roles, self.unread = find_roles(columns), list_unread(columns)

    @cached_property
    def _lines_by_event(self) -> dict[str, list[Line]]:
        lines = []
        for row in self.read_rows():
            cells = {role: (row[column] or "").strip() for role, column in self.roles.items()}
            lines.append(Line(self.line, dict.fromkeys(ROLES, "") | cells, None in row))
        return group_by(lines, lambda line: line.cells["event"])

    def problems(self, notes: Notes) -> Iterator[dict[str, object] | Refusal]:
        by_event = self._lines_by_event
        notes.lines += [printable(line, 200) for line in self.unread]
        for event, lines in by_event.items():
            if not event:
                continue
            known = {key: {line.cells[key] for line in lines} for key in ("category", "closed")}
            results = _outcomes(lines)
            found = set().union(*results.values())
            fault = ""
            if -1 in found:
                fault = "an outcome is neither 0 nor 1"
            elif found and any(len(values) != 1 for values in results.values()):
                fault = "an option without an outcome, or with both"
            if fault:
                yield Refusal(fault, problem_id=event)
                continue
            winners = [option for option, values in results.items() if 1 in values]
            facts = settle_facts(event, known, notes)
            series = min(line.cells["series"] for line in lines)
            yield {
                **facts,
                "series": series or facts["series"],
                "options": list(results),
                "correct_answer": winners if found else None,
            }

    def __iter__(self) -> Iterator[dict[str, object] | Refusal]:
        for event, lines in self._lines_by_event.items():
            options = list(_outcomes(lines))
            for (_, name, time), rows in group_by(lines, _forecast_of).items():
                self.line = rows[0].number
                given = {row.cells["option"]: row.cells for row in rows}
                ids = {"problem_id": event, "username": name}
                if any(row.is_long for row in rows):
                    yield Refusal("more cells than columns", **ids)
                elif len(given) < len(rows):
                    yield Refusal("an option is given twice", **ids)
                else:
                    cells = [given[option] for option in options if option in given]
                    yield {
                        **ids,
                        "timestamp": time,
                        "prediction": [row["probability"] for row in cells],
                        "odds": _prices(cells, "price"),
                        "bids": _prices(cells, "bid"),
                    }


def _forecast_of(line: Line) -> tuple[str, str, str]:
    event, forecaster, time = _FORECAST(line.cells)
    return event, forecaster, time


def _outcomes(lines: Sequence[Line]) -> dict[str, set[int]]:
    """By option what its rows say of its outcome, -1 for anything else; in the options' order."""
    found: dict[str, set[int]] = {
        option: set() for option in sorted({line.cells["option"] for line in lines})
    }
    for line in lines:
        if line.cells["result"]:
            found[line.cells["option"]].add(_OUTCOMES.get(line.cells["result"].casefold(), -1))
    return found


def _prices(rows: Sequence[dict[str, str]], key: str) -> list[float] | None:
    """None if no row has one."""
    return [parse_number(row[key]) for row in rows] if any(row[key] for row in rows) else None
