"""Charts of a leaderboard: what systems cost and score, and their scores over the datasets of a benchmark."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from forecasteval.common.charts import Axis, Chart, Line, Panel, number_axis
from forecasteval.common.errors import printable
from forecasteval.common.records import number_text
from forecasteval.common.report import Column, make_table, show_interval, show_number

from .names import system_of_row
from .systems import read_scale
from .tables import is_tied

Row = Mapping[str, Any]
Names = Mapping[str, str]
_DECADES: Final = 30  # from this ratio of the highest to the lowest cost on, the axis is logarithmic
_LINES: Final = 8  # systems whose history is drawn in colour
_NOT_POLICY: Final = ("questions_sha256", "data_sha256", "dataset_sha256", "prediction_sha256")


# --- Cost ---

_COSTS: Final = (
    Column("System", itemgetter("shown")),
    Column("Cost per question", lambda row: number_text(row["about"]["cost"]), "number"),
    Column("Overall", lambda row: show_number(row["overall_score"]), "number"),
    Column("95% interval", lambda row: show_interval(row["overall_interval"]), "number"),
    Column("On the frontier", lambda row: "yes" if row["ahead"] else ""),
)


def draw_costs(tables: Sequence[Row], names: Names) -> list[Chart]:
    """A chart of cost against score for each table with two systems or more whose costs are known."""
    charts = []
    for number, table in enumerate(tables, 1):
        sign = read_scale(table).sign
        priced = [row for row in table["rows"] if row.get("overall_score") is not None and _cost(row) is not None]
        priced.sort(key=lambda row: (_cost(row), -sign * row["overall_score"]))
        if len(priced) > 1:
            charts.append(_draw_cost(table, priced, sign, names, f"cost{number}"))
    return charts


def _cost(row: Row) -> float | None:
    text = number_text(row.get("about", {}).get("cost"))
    return float(text) if text and math.isfinite(float(text)) else None


def _draw_cost(table: Row, priced: Sequence[Row], sign: int, names: Names, name: str) -> Chart:
    """Systems by cost, the cheapest first; the frontier are those that score better than all that cost less."""
    costs = [_cost(row) or 0.0 for row in priced]
    by_power = costs[0] > 0 and costs[-1] / costs[0] > _DECADES
    place = math.log10 if by_power else float
    rows, steps, best = list[Row](), list[tuple[float, float]](), -math.inf
    for cost, row in zip(costs, priced, strict=True):
        score = row["overall_score"]
        ahead = sign * score > best and not row.get("provisional")
        if ahead:
            steps += [(place(cost), steps[-1][1])] if steps else []
            steps += [(place(cost), score)]
            best = sign * score
        rows.append({**row, "shown": names[system_of_row(table, row)], "ahead": ahead})
    steps += [(place(costs[-1]), sign * best)]
    dots = [
        Line(row["shown"], [(place(cost), row["overall_score"])], joined=False, faint=not row["ahead"])
        for cost, row in zip(costs, rows, strict=True)
    ]
    frontier = [
        f"{row['shown']} ({number_text(row['about']['cost'])}: {show_number(row['overall_score'])})"
        for row in rows
        if row["ahead"]
    ]
    better = "more" if sign > 0 else "less"
    description = f"On the frontier, where nothing that costs less scores {better}: {', '.join(frontier)}."
    cheapest = next((row["shown"] for row in rows if is_tied(row)), "")
    if cheapest:
        description += f" The cheapest system that is not significantly worse than the leader: {cheapest}."
    x = _powers(costs[0], costs[-1]) if by_power else number_axis("", [0.0, costs[-1]])
    y = number_axis("score", [row["overall_score"] for row in rows])
    panel = Panel("", [Line("frontier", steps), *dots], x._replace(title="cost per question"), y, height=300)
    return Chart(name, f"{table['benchmark']}: cost and score", description, make_table(_COSTS, rows), [panel])


def _powers(lowest: float, highest: float) -> Axis:
    """A logarithmic axis."""
    low, high = math.floor(math.log10(lowest)), math.ceil(math.log10(highest))
    return Axis("", [(power, f"{10.0**power:g}") for power in range(low, high + 1)], low, high)


# --- History ---


def draw_histories(tables: Sequence[Row], pooled: Sequence[Row], names: Names) -> list[Chart]:
    """A chart per benchmark with several datasets that a system answered; the leaders of today in colour."""
    by_benchmark: dict[str, list[Row]] = {}
    for table in tables:
        if "n_events" not in table and table["dataset"]:
            by_benchmark.setdefault(table["benchmark"], []).append(table)
    charts = []
    for number, (benchmark, weeks) in enumerate(by_benchmark.items(), 1):
        ranked = [row["name"] for season in pooled if season["benchmark"] == benchmark for row in season["rows"]]
        chart = _draw_history(sorted(weeks, key=lambda table: str(table["dataset"])), ranked, names)
        if chart:
            charts.append(chart._replace(name=f"history{number}"))
    return charts


def _draw_history(weeks: Sequence[Row], ranked: Sequence[str], names: Names) -> Chart | None:
    """The systems in the order of today's ranking; a line breaks where version or policies change."""
    found = [(week, _scores(week)) for week in weeks]
    counts = Counter(system for _, scores in found for system in scores)
    shown = [(week, scores) for week, scores in found if any(counts[system] > 1 for system in scores)]
    if not shown:
        return None
    means = {
        system: sum(values) / len(values)
        for system in counts
        if len(values := [scores[system] for _, scores in shown if system in scores]) > 1
    }
    places = {system: place for place, system in enumerate(ranked)}
    order = sorted(means, key=lambda system: (places.get(system, len(places)), -means[system], system))
    policies = [{k: v for k, v in week["signature"].items() if k not in _NOT_POLICY} for week, _ in shown]
    breaks = [at for at in range(1, len(shown)) if policies[at] != policies[at - 1]]
    gaps: list[tuple[float, float | None]] = [(at - 0.5, None) for at in breaks]
    lines = [
        Line(
            names[system],
            sorted([*gaps, *((at, scores.get(system)) for at, (_, scores) in enumerate(shown))], key=itemgetter(0)),
            faint=place >= _LINES,
        )
        for place, system in enumerate(order)
    ]
    datasets = [str(week["dataset"]).rpartition(".")[0] or str(week["dataset"]) for week, _ in shown]
    same = len(os.path.commonprefix([dataset.rpartition("_")[0] for dataset in datasets]))  # noqa: RUF071  no paths
    ticks = [(at, dataset[same:].lstrip("_") or dataset) for at, dataset in enumerate(datasets)]
    description = (
        f"Scores of {len(order)} systems in several datasets; the first {_LINES} of today are in colour. "
        + ("Lines are broken where the version or the rules of scoring change." if breaks else "")
        + ("" if breaks else "All were scored by the same version and rules.")
        + " Datasets have different questions: compare systems within a dataset, not datasets."
    )
    columns = [Column("System", lambda system: printable(names[system], 60))]
    columns += [_dataset_column(title, scores) for title, (_, scores) in zip(datasets, shown, strict=True)]
    x = Axis("", ticks[:: -(-len(ticks) // 8)], 0, len(shown) - 1)
    y = number_axis("score", [scores[system] for _, scores in shown for system in scores if system in means])
    title = f"{weeks[0]['benchmark']}: {len(shown)} datasets"
    return Chart("", title, description, make_table(columns, order), [Panel("", lines, x, y, height=300)])


def _scores(table: Row) -> dict[str, float]:
    return {
        system_of_row(table, row): row["overall_score"] for row in table["rows"] if row["overall_score"] is not None
    }


def _dataset_column(title: str, scores: Mapping[str, float]) -> Column:
    return Column(printable(title, 40), lambda system: show_number(scores.get(system)), "number", "high")
