"""The scores of systems over the datasets of a benchmark, as lines; the leaders of today in colour."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

from forecasteval.common.charts import Axis, Chart, Line, Panel, number_axis
from forecasteval.common.errors import printable
from forecasteval.common.pages import Block
from forecasteval.common.report import plain_table, show_number

from .names import system_of_row
from .standings import Names, mark_value

Row = Mapping[str, Any]
_LINES: Final = 8  # systems whose history is drawn in colour
_NOT_POLICY: Final = ("questions_sha256", "data_sha256", "dataset_sha256", "prediction_sha256")


def draw_histories(tables: Sequence[Row], pooled: Sequence[Row], names: Names) -> list[Block]:
    """A chart per benchmark with several datasets that a system answered."""
    by_benchmark: dict[str, list[Row]] = {}
    for table in tables:
        if "n_events" not in table and table["dataset"]:
            by_benchmark.setdefault(table["benchmark"], []).append(table)
    charts: list[Block] = []
    for number, (benchmark, weeks) in enumerate(by_benchmark.items(), 1):
        weeks.sort(key=lambda table: str(table["dataset"]))
        ranked = [row["name"] for season in pooled if season["benchmark"] == benchmark for row in season["rows"]]
        scores = _scores_over(weeks)
        if scores:
            charts.append(_draw(benchmark, *_answered(weeks, scores), ranked, names, f"history{number}"))
    return charts


def _scores_over(tables: Sequence[Row]) -> dict[str, dict[int, float]]:
    """Of every system that stands in several tables its scores, by the place of the table."""
    scores: dict[str, dict[int, float]] = {}
    for place, table in enumerate(tables):
        for row in table["rows"]:
            value = mark_value(row)
            if value is not None:
                scores.setdefault(system_of_row(table, row), {}).setdefault(place, value)
    return {name: by_place for name, by_place in scores.items() if len(by_place) > 1}


def _answered(
    tables: Sequence[Row], often: Mapping[str, Mapping[int, float]]
) -> tuple[list[Row], dict[str, dict[int, float]]]:
    """Without the tables in which none of these systems stands."""
    kept = sorted({place for by_place in often.values() for place in by_place})
    return [tables[place] for place in kept], {
        name: {kept.index(place): score for place, score in by_place.items()} for name, by_place in often.items()
    }


def _draw(
    benchmark: str, tables: Sequence[Row], often: Mapping[str, Mapping[int, float]], ranked: Sequence[str],
    names: Names, name: str,
) -> Chart:  # fmt: skip
    """The systems in the order of today's ranking; a line breaks where version or policies change."""
    places = {system: place for place, system in enumerate(ranked)}
    order = sorted(
        often, key=lambda key: (places.get(key, len(places)), -sum(often[key].values()) / len(often[key]), key)
    )
    breaks = [at for at in range(1, len(tables)) if _policy(tables[at]) != _policy(tables[at - 1])]
    lines = [
        Line(names.get(key, key), _points(often[key], breaks, len(tables)), faint=place >= _LINES)
        for place, key in enumerate(order)
    ]
    datasets = [str(table["dataset"]).rpartition(".")[0] or str(table["dataset"]) for table in tables]
    same = len(os.path.commonprefix([dataset.rpartition("_")[0] for dataset in datasets]))  # noqa: RUF071  no paths
    ticks = [dataset[same:].lstrip("_") or dataset for dataset in datasets]
    step = -(-len(ticks) // 8)
    rows = [
        [printable(names.get(key, key), 60), *(show_number(often[key].get(at)) for at in range(len(tables)))]
        for key in order
    ]
    description = f"Scores of {len(order)} systems in several datasets; the first {_LINES} of today are in colour. "
    description += (
        "Lines are broken where the version or the rules of scoring change." if breaks
        else "All were scored by the same version and rules."
    )  # fmt: skip
    description += " Datasets have different questions: compare systems within a dataset, not datasets."
    x = Axis("", list(enumerate(ticks))[::step], 0, len(tables) - 1)
    y = number_axis("score", [score for by_place in often.values() for score in by_place.values()])
    return Chart(
        name, f"{benchmark}: {len(tables)} datasets", description,
        plain_table(["System", *(printable(text, 40) for text in datasets)], rows, "<" + ">" * len(datasets)),
        [Panel("", lines, x, y, height=300)],
    )  # fmt: skip


def _policy(table: Row) -> dict[str, Any]:
    return {key: value for key, value in table["signature"].items() if key not in _NOT_POLICY}


def _points(by_place: Mapping[int, float], breaks: Sequence[int], count: int) -> list[tuple[float, float | None]]:
    """A point per dataset, None where there is none or where the line breaks."""
    points: list[tuple[float, float | None]] = []
    for place in range(count):
        if place in breaks:
            points.append((place - 0.5, None))
        points.append((place, by_place.get(place)))
    return points
