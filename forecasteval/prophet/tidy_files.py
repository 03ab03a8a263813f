"""A CSV with a row per option of every forecast, as the records of the JSON form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, printable
from forecasteval.common.files import csv_header
from forecasteval.common.records import group_by

from .columns import ROLES, describe_missing, find_roles, is_tidy, list_unread
from .csv_files import ArenaFile, CsvFile, Market, Row, make_market
from .fields import Refusal, parse_number

_OUTCOMES: Final = {"1": 1, "1.0": 1, "true": 1, "yes": 1, "0": 0, "0.0": 0, "false": 0, "no": 0}

_FORECAST: Final = itemgetter("forecaster", "time")
_FACTS: Final = itemgetter("category", "closed", "series")


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
    def _rows(self) -> list[Row]:
        lines, rows = list[Line](), list[Row]()
        for number, cells in self.read_cells():
            known = {role: (cells[column] or "").strip() for role, column in self.roles.items()}
            lines.append(Line(number, dict.fromkeys(ROLES, "") | known, None in cells))
        for event, own in group_by(lines, lambda line: line.cells["event"]).items():
            market, facts = _make_market(own), {_FACTS(line.cells) for line in own}
            for said in group_by(own, lambda line: _FORECAST(line.cells)).values():
                rows.append(Row(said[0].number, event, market, facts, said))
        return rows

    def rows(self) -> list[Row]:
        return self._rows

    def parse_forecast(self, row: Row) -> dict[str, Any]:
        ids = {"problem_id": row.event, "username": row.content[0].cells["forecaster"]}
        given = {line.cells["option"]: line.cells for line in row.content}
        if any(line.is_long for line in row.content):
            return Refusal("more cells than columns", **ids)
        if len(given) < len(row.content):
            return Refusal("an option is given twice", **ids)
        cells = [given[option] for option in row.market.options if option in given]
        return {
            **ids,
            "timestamp": cells[0]["time"],
            "prediction": [option["probability"] for option in cells],
            "odds": _prices(cells, "price"),
            "bids": _prices(cells, "bid"),
        }


def _make_market(lines: Sequence[Line]) -> Market:
    """An event, of what all its rows say of the outcomes of its options."""
    results: dict[str, set[float]] = {line.cells["option"]: set() for line in lines}
    for line in lines:
        if said := line.cells["result"]:
            results[line.cells["option"]].add(_OUTCOMES.get(said.casefold(), math.nan))
    return make_market(results, results, "an option without an outcome, or with both")


def _prices(rows: Sequence[dict[str, str]], key: str) -> list[float] | None:
    """None if no row has one."""
    return [parse_number(row[key]) for row in rows] if any(row[key] for row in rows) else None
