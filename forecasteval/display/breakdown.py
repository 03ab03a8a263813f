"""The score of each value of a column: by topic, by source, by the month of closing."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, Final, TypedDict

from forecasteval.common.errors import InputError, printable
from forecasteval.common.records import JsonObject, group_by, question_key
from forecasteval.common.statistics import stratified_interval, stratified_mean

from .clusters import cluster_scores
from .tables import COLUMN_PREFIX, Column, Heat, IntervalCell, Table, make_table

NO_VALUE: Final = "(none)"  # of questions that have nothing in the column
_DAY: Final = re.compile(r"(\d{4}-\d{2})-\d{2}")


class Part(TypedDict):
    """The questions with one value of a column: their number, their score, its
    95 % interval.
    """

    score: float
    interval: tuple[float, float] | None
    n: int
    missing: int


def break_down(results: JsonObject, column: str) -> dict[str, Part]:
    """Score the questions of each value of a column, as if they were all questions.

    A score is Σ w·mean over the levels, as the overall score: the weights are those of
    the signature, renormalised over the levels that the value has. Questions without a
    score are in no part. Times become months. Raises InputError for a column that no
    item has, with the known ones.
    """
    items = _require_items(results)
    weights = {
        str(level): w for level, w in results["signature"].get("weights", {}).items()
    }
    parts: defaultdict[str, list[JsonObject]] = defaultdict(list)
    for item, value in zip(items, list_values(items, column), strict=True):
        if item["score"] is not None:
            parts[value].append(item)
    bounds = _read_bounds(results)
    values = sorted(parts, key=value_key)
    return {value: _score_part(parts[value], weights, bounds) for value in values}


def break_down_forecasters(results: JsonObject, column: str) -> dict[str, JsonObject]:
    """Score the forecasters on the events of each value of a column, in the form of
    `by_category`.

    A score is the mean over the events, weighted as these are. Raises InputError
    as `break_down`.
    """
    items = _require_items(results)
    groups: defaultdict[str, defaultdict[str, list[JsonObject]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for item, value in zip(items, list_values(items, column), strict=True):
        groups[value][item["forecaster"]].append(item)
    parts: dict[str, JsonObject] = {}
    for value in sorted(groups, key=value_key):
        by_name = groups[value]
        events = {
            item["id"] for items_of_name in by_name.values() for item in items_of_name
        }
        scores = {name: _score_forecaster(by_name[name]) for name in sorted(by_name)}
        parts[value] = {"n_events": len(events), "forecasters": scores}
    return parts


def _score_forecaster(items: Sequence[JsonObject]) -> dict[str, float | None]:
    scores: dict[str, float | None] = {"n_events": len(items)}
    for metric in ("brier", "log"):
        scored = [item for item in items if item.get(metric) is not None]
        weight = math.fsum(item["weight"] for item in scored)
        total = math.fsum(item["weight"] * item[metric] for item in scored)
        scores[metric] = total / weight if scored else None
    return scores


def _require_items(results: JsonObject) -> Sequence[JsonObject]:
    items: Sequence[JsonObject] = results.get("items") or ()
    if not items:
        raise InputError(
            "--by", "needs the items of a result: add --items (Python: items=True)"
        )
    return items


def _read_bounds(results: JsonObject) -> tuple[float, float]:
    """Read the bounds of scores, which JSON has as null where there are none."""
    low, high = results.get("score_bounds", (0.0, 1.0))
    return -math.inf if low is None else low, math.inf if high is None else high


class PartDifference(TypedDict):
    """How far two systems differ on the questions with one value of a column."""

    a: str
    b: str
    value: str
    n: int
    a_score: float
    b_score: float
    difference: float
    interval: tuple[float, float] | None


def compare_parts(a: JsonObject, b: JsonObject, column: str) -> list[PartDifference]:
    """Compare two results on the questions of each value of a column,
    question by question.

    A difference is the score of `a` less that of `b`, with a t interval on the
    differences of the questions. Both results must be on the same questions. Raises
    InputError as `break_down`.
    """
    low, high = _read_bounds(a)
    differences: list[JsonObject] = []
    items_a, items_b = (
        sorted(results["items"], key=question_key) for results in (a, b)
    )
    for item_a, item_b in zip(items_a, items_b, strict=True):
        if item_a["score"] is not None:
            differences.append({**item_a, "score": item_a["score"] - item_b["score"]})
    both = {**a, "items": differences, "score_bounds": (low - high, high - low)}
    parts = break_down(both, column)
    parts_a = break_down(a, column)
    parts_b = break_down(b, column)
    rows: list[PartDifference] = []
    for value, part in parts.items():
        row = PartDifference(
            a=str(a["name"]),
            b=str(b["name"]),
            value=value,
            n=part["n"],
            a_score=parts_a[value]["score"],
            b_score=parts_b[value]["score"],
            difference=part["score"],
            interval=part["interval"],
        )
        rows.append(row)
    return rows


def list_values(items: Sequence[JsonObject], column: str) -> list[str]:
    """List the value that each item has in a column, as a breakdown names it."""
    key = _find_key(items, column)
    return [_format_value(item.get(key)) for item in items]


def list_columns(items: Sequence[JsonObject]) -> list[str]:
    """List the columns of the dataset that items have."""
    keys = {key for item in items for key in item if key.startswith(COLUMN_PREFIX)}
    return sorted(key.removeprefix(COLUMN_PREFIX) for key in keys)


def _find_key(items: Sequence[JsonObject], column: str) -> str:
    """Find the key of the items that holds a column: one of the dataset
    before one of ours.
    """
    for key in (COLUMN_PREFIX + column, column):
        if any(key in item for item in items):
            return key
    known = ", ".join(list_columns(items)) or "it has none"
    raise InputError(
        "--by", f"expected a column of the dataset: {known}", printable(column, 60)
    )


def _format_value(value: object) -> str:
    """Format what an item has in a column; a time becomes its month."""
    if value is None or value == "":
        return NO_VALUE
    text = str(value)
    day = _DAY.match(text)
    if day:
        return day[1]
    return text


def value_key(value: str) -> tuple[bool, float, str]:
    """Return the sort key of a value: numbers by their size, then texts, then
    what has no value.

    The words `nan` and `inf` are texts: nan is neither less nor more than any number.
    """
    try:
        number = float(value)
    except ValueError:
        number = math.inf
    if not math.isfinite(number):
        number = math.inf
    return value == NO_VALUE, number, value


def _score_part(
    items: Sequence[JsonObject],
    weights: Mapping[str, float],
    bounds: tuple[float, float],
) -> Part:
    by_level: Mapping[str, Sequence[JsonObject]] = {"": items}
    if weights:
        by_level = group_by(items, lambda item: str(item.get("level", "")))
    strata = []
    for level, items_of_level in by_level.items():
        strata.append((weights.get(level, 1.0), cluster_scores(items_of_level)))
    return {
        "score": stratified_mean(strata),
        "interval": stratified_interval(strata, bounds),
        "n": len(items),
        "missing": sum(item["outcome"] == "missing" for item in items),
    }


# --- As tables: text, Markdown, LaTeX, CSV, and on pages ---

_PART: Final = (
    Column("Score", itemgetter("score"), "number"),
    Column("", lambda row: IntervalCell(row["score"], row["interval"]), "mark"),
    Column("95% interval", itemgetter("interval"), "number", page="no"),
    Column("n", itemgetter("n"), "number"),
    Column("Missing", itemgetter("missing"), "number"),
)
_DIFFERENCE: Final = (
    Column("n", itemgetter("n"), "number"),
    Column("Score A", itemgetter("a_score"), "number"),
    Column("Score B", itemgetter("b_score"), "number"),
    Column("A − B", itemgetter("difference"), "number"),
    Column("", lambda row: IntervalCell(row["difference"], row["interval"]), "mark"),
    Column("95% interval", itemgetter("interval"), "number", page="no"),
)
_FORECASTER: Final = (
    Column("Forecaster", lambda row: printable(row["name"], 60)),
    Column("Brier", lambda row: row.get("brier"), "number"),
    Column("Log", lambda row: row.get("log"), "number"),
    Column("n", lambda row: row.get("n_events"), "number"),
)


def breakdown_table(column: str, parts: Mapping[str, Part]) -> Table:
    """Make the table of a breakdown, a row per value."""
    rows = [{**part, "value": value} for value, part in parts.items()]
    return make_table([_value_column(column), *_PART], rows)


def systems_table(column: str, systems: Mapping[str, Mapping[str, Part]]) -> Table:
    """Make the table of systems by the values of a column, a row per system."""
    values = {value for parts in systems.values() for value in parts}
    columns = [Column("System", lambda row: printable(row[0], 60))]
    for value in sorted(values, key=value_key):
        title = printable(value, 24)
        columns.append(Column(title, partial(_show_score, value), "number", page="c"))
    return make_table(columns, systems.items())


def _show_score(value: str, row: tuple[str, Mapping[str, Part]]) -> Heat:
    part = row[1].get(value)
    if part is None:
        return Heat(None)
    return Heat(part["score"])


def differences_table(
    column: str, rows: Sequence[PartDifference], names: Mapping[str, str]
) -> Table:
    """Make the table of a comparison by the values of a column; `names` are
    shown for systems.
    """
    first = Column("A", lambda row: printable(names[row["a"]], 60))
    second = Column("B", lambda row: printable(names[row["b"]], 60))
    return make_table([_value_column(column), first, second, *_DIFFERENCE], rows)


def forecasters_table(column: str, parts: Mapping[str, Mapping[str, Any]]) -> Table:
    """Make the table of a breakdown of forecasters, a row per value and forecaster."""
    rows: list[JsonObject] = []
    for value, part in parts.items():
        scores_by_name = part["forecasters"].items()
        rows += [
            {**scores, "value": value, "name": name} for name, scores in scores_by_name
        ]
    return make_table([_value_column(column), *_FORECASTER], rows)


def _value_column(column: str) -> Column:
    return Column(printable(column, 40), lambda row: printable(row["value"], 60))
