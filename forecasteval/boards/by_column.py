"""The rows of a board by the values of a column of the datasets: by topic, by source.

Scores are made of stored results. A row over several datasets has those of all
questions that the system was asked there, and they are not adjusted for how
hard these were.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, Final

from forecasteval.common.errors import InputError, grouped_names, printable
from forecasteval.common.records import JsonObject, question_key
from forecasteval.common.statistics import mean
from forecasteval.display.breakdown import (
    break_down,
    list_columns,
    list_values,
    value_key,
)
from forecasteval.display.tables import Column, Report, make_table
from forecasteval.ranking.board import Board, RankedRow, RankedTable, Ranking
from forecasteval.ranking.files import Parts

from .columns import count_questions, list_entries, list_part_columns, name_metric
from .standings import find_weeks

# A stored result by its name; {} if there is none
ReadResult = Callable[[str], JsonObject]
_MAX_VALUES: Final = 50  # of a column, those with the most questions
_VALUE: Final = "value"  # the key of what an item has in the column
_KEYS: Final = ("question", "score", "outcome", "level", "cluster")


# --- Scores ---


def add_parts(
    board: Board, column: str, read_result: ReadResult
) -> tuple[Board, list[str]]:
    """Give the rows of a board their scores by the values of a column, from
    stored results.

    Also returns a message if no result has the column.
    """
    reader = _Reader(column, read_result)
    items = {
        id(table): {row.system_name: reader.read_row(row) for row in table.rows}
        for table in board.tables
    }

    def add(weeks: Sequence[RankedTable], table: Any) -> Any:
        rows = []
        for row in table.rows:
            by_week = (items[id(week)].get(row.system_name, ()) for week in weeks)
            of_row = [item for week in by_week for item in week]
            parts = (
                _score_parts(table, of_row) if of_row else reader.read_parts(table, row)
            )
            rows.append(replace(row, by=parts))
        return replace(table, rows=_keep_frequent(rows))

    tables = [add([table], table) for table in board.tables]
    pooled = [add(find_weeks(board.tables, table), table) for table in board.pooled]
    messages = []
    if not any(row.by for table in tables for row in table.rows):
        known = ", ".join(sorted(reader.known)) or "none"
        name = printable(column, 60)
        messages.append(
            f"no result has the column {name}; columns of the datasets: {known}"
        )
    return replace(board, pooled=pooled, tables=tables, by=column), messages


class _Reader:
    """A reader of one column of stored results; `known` are the columns of
    those without it.
    """

    def __init__(self, column: str, read_result: ReadResult) -> None:
        self.column = column
        self.read_result = read_result
        self.known: set[str] = set()

    def read_row(self, row: RankedRow) -> Sequence[JsonObject]:
        """Read the items of a system, with the mean score of its runs; none if a run
        lacks the column, as those that version 3.2.0 stored do.
        """
        runs = [self._read_items(file.name) for file in row.files]
        if not all(runs):
            return ()
        questions = zip(*(sorted(run, key=question_key) for run in runs), strict=True)
        return [_mean_item(question) for question in questions]

    def _read_items(self, name: str) -> list[JsonObject]:
        items = self.read_result(name).get("items", ())
        try:
            values = list_values(items, self.column)
        except InputError:
            self.known.update(list_columns(items))
            return []
        return [
            {**{key: item.get(key) for key in _KEYS}, _VALUE: value}
            for item, value in zip(items, values, strict=True)
        ]

    def read_parts(self, table: Any, row: Any) -> Parts:
        """Read the scores of a forecaster, which its result has by category."""
        if table.kind != "forecasters":
            return {}
        stored = self.read_result(table.name)
        self.known.update(
            key.removeprefix("by_") for key in stored if key.startswith("by_")
        )
        parts = {}
        for value, part in stored.get(f"by_{self.column}", {}).items():
            scores = part["forecasters"].get(row.name, {})
            # No category is adjusted for the events that a forecaster chose.
            metric = row.metric.removeprefix("adjusted_")
            if metric in scores:
                score, count = scores[metric], scores["n_events"]
                parts[value] = {"score": score, "interval": None, "n": count}
        return parts


def _mean_item(runs: Sequence[JsonObject]) -> JsonObject:
    scores = [run["score"] for run in runs]
    if None in scores:
        return runs[0]
    return {**runs[0], "score": mean(scores)}


def _score_parts(table: Ranking, items: Sequence[JsonObject]) -> Parts:
    """Score the questions of each value; levels that are left out of the
    ranking do not count.
    """
    weights = {
        str(level): weight for level, weight in table.weights.items() if level != ""
    }
    if weights:
        items = [item for item in items if str(item["level"]) in weights]
    low, high, _ = table.scale
    results = {
        "items": items,
        "signature": {"weights": weights},
        "score_bounds": (low, high),
    }
    parts: Any = break_down(results, _VALUE) if items else {}
    return parts  # type: ignore[no-any-return]


def _keep_frequent(rows: Sequence[Any]) -> list[Any]:
    """Keep the values with the most questions; a column of authors may
    have thousands.
    """
    counts = count_questions(rows)
    if len(counts) <= _MAX_VALUES:
        return list(rows)
    kept = {value for value, _ in counts.most_common(_MAX_VALUES)}
    return [
        replace(
            row, by={value: part for value, part in row.by.items() if value in kept}
        )
        for row in rows
    ]


# --- Reports ---


def report_parts(table: Ranking, column: str) -> Report:
    """Report a table by the values of a column; without a column, nothing."""
    if not column:
        return []
    name = printable(column, 40)
    columns = [part for part in list_part_columns(table, column) if part.title]
    if not columns:
        return [f"None of these results was stored with a column {name}.", ""]
    parts = make_table(
        [Column("System", attrgetter("shown")), *columns], list_entries(table)
    )
    return [
        title_parts(table, column),
        "",
        parts,
        "",
        *describe_parts(table, column),
        "",
    ]


def title_parts(table: Ranking, column: str) -> str:
    """Title the scores by a column, with their metric where the table may
    have another one.
    """
    title = f"By {printable(column, 40)}"
    if table.kind != "forecasters" and table.scale.sign > 0:
        return title
    direction = "higher is better"
    if table.scale.sign < 0:
        direction = "lower is better"
    metric = name_metric(table).removeprefix("Adjusted ")
    return f"{title}: {metric} ({direction})"


def describe_parts(table: Ranking, column: str) -> list[str]:
    """Count how many questions have each value, and which systems have no scores
    by the column.
    """
    counts = count_questions(table.rows)
    values = sorted(counts, key=value_key)
    sizes = ", ".join(f"{printable(value, 24)} {counts[value]}" for value in values)
    lines = [f"{table.unit.capitalize()}s: {sizes}."]
    if table.datasets or table.unit == "event":
        lines.append(
            f"Scores are means of the {table.unit}s that each has, not adjusted."
        )
    asked = {row.name: sum(part["n"] for part in row.by.values()) for row in table.rows}
    fewer = [name for name, count in asked.items() if 0 < count < max(asked.values())]
    if fewer:
        lines.append(f"With fewer of these {table.unit}s: {grouped_names(fewer)}.")
    without = [row.name for row in table.rows if not row.by]
    if without:
        name = printable(column, 40)
        lines.append(f"Stored without a column {name}: {grouped_names(without)}")
    return lines
