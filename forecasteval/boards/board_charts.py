"""Charts of a leaderboard: what systems cost and score, and their scores over datasets and over
nights.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import grouped_names, printable
from forecasteval.common.records import group_by, natural_key, number_text
from forecasteval.display.charts import Axis, Chart, Line, Panel, number_axis
from forecasteval.display.tables import Column, make_table, show_interval, show_number
from forecasteval.ranking.changes import History
from forecasteval.ranking.names import system_of_row
from forecasteval.ranking.systems import read_scale

from .tables import is_tied

Row = Mapping[str, Any]
Names = Mapping[str, str]
_DECADES: Final = (
    30  # from this ratio of the highest to the lowest cost on, the axis is logarithmic
)
_LINES: Final = 8  # systems whose history is drawn in colour
_NIGHTS: Final = 40  # the last ones, that a chart shows
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
    """A chart of cost against score for each table with two systems or more whose costs are
    known.
    """
    charts = []
    for number, table in enumerate(tables, 1):
        sign = read_scale(table).sign
        priced = [
            row
            for row in table["rows"]
            if row.get("overall_score") is not None and _cost(row) is not None
        ]
        priced.sort(key=lambda row: (_cost(row), -sign * row["overall_score"]))
        if len(priced) > 1:
            charts.append(_draw_cost(table, priced, sign, names, f"cost{number}"))
    return charts


def _cost(row: Row) -> float | None:
    text = number_text(row.get("about", {}).get("cost"))
    return float(text) if text and math.isfinite(float(text)) else None


def _draw_cost(table: Row, priced: Sequence[Row], sign: int, names: Names, name: str) -> Chart:
    """Systems by cost, the cheapest first; the frontier are those that score better than all that
    cost less.
    """
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
        Line(
            row["shown"],
            [(place(cost), row["overall_score"])],
            joined=False,
            faint=not row["ahead"],
        )
        for cost, row in zip(costs, rows, strict=True)
    ]
    frontier = [
        f"{row['shown']} ({number_text(row['about']['cost'])}: {show_number(row['overall_score'])})"
        for row in rows
        if row["ahead"]
    ]
    better = "more" if sign > 0 else "less"
    description = (
        f"On the frontier, where nothing that costs less scores {better}: {', '.join(frontier)}."
    )
    cheapest = next((row["shown"] for row in rows if is_tied(row)), "")
    if cheapest:
        description += (
            f" The cheapest system that is not significantly worse than the leader: {cheapest}."
        )
    scored = (
        row for row in table["rows"] if row["overall_score"] is not None and _cost(row) is None
    )
    if unpriced := [names[system_of_row(table, row)] for row in scored]:
        description += (
            f" Without a known cost, and therefore not compared: {grouped_names(unpriced)}."
        )
    x = _powers(costs[0], costs[-1]) if by_power else number_axis("", [0.0, costs[-1]])
    y = number_axis("score", [row["overall_score"] for row in rows])
    panel = Panel(
        "", [Line("frontier", steps), *dots], x._replace(title="cost per question"), y, height=300
    )
    return Chart(
        name,
        f"{table['benchmark']}: cost and score",
        description,
        make_table(_COSTS, rows),
        [panel],
    )


def _powers(lowest: float, highest: float) -> Axis:
    """A logarithmic axis."""
    low, high = math.floor(math.log10(lowest)), math.ceil(math.log10(highest))
    return Axis("", [(power, f"{10.0**power:g}") for power in range(low, high + 1)], low, high)


# --- History ---


class _Point(NamedTuple):
    """A dataset or a night on the axis of a history; a line is broken between points of different
    policies.
    """

    title: str
    scores: Mapping[str, float]
    policy: object


_DATASETS: Final = "several datasets; they have different questions: compare systems within a dataset, not datasets"


def draw_histories(tables: Sequence[Row], pooled: Sequence[Row], names: Names) -> list[Chart]:
    """A chart per benchmark with several datasets that a system answered; the leaders of today in
    colour.
    """
    of_systems = (table for table in tables if table["kind"] == "systems" and table["dataset"])
    by_benchmark = group_by(of_systems, itemgetter("benchmark"))
    charts = []
    for number, (benchmark, weeks) in enumerate(by_benchmark.items(), 1):
        weeks.sort(key=lambda week: natural_key(str(week["dataset"])))
        rankings = [*(season for season in pooled if season["benchmark"] == benchmark), weeks[-1]]
        ranked = [system_of_row(ranking, row) for ranking in rankings for row in ranking["rows"]]
        points = list(map(_read_dataset, weeks))
        charts += _draw_history(
            f"history{number}", f"{benchmark}: %s datasets", _DATASETS, points, ranked, names
        )
    return charts


def _read_dataset(table: Row) -> _Point:
    scored = [row for row in table["rows"] if row["overall_score"] is not None]
    policy = {key: value for key, value in table["signature"].items() if key not in _NOT_POLICY}
    scores = {system_of_row(table, row): row["overall_score"] for row in scored}
    return _Point(str(table["dataset"]).rpartition(".")[0] or str(table["dataset"]), scores, policy)


def draw_nights(history: History, table: Row, name: str, names: Names) -> list[Chart]:
    """A chart of the scores on one dataset, if several nights changed them."""
    dataset = table["dataset"] or table.get("name", "")
    scores, nights = dict[str, float](), dict[int, _Point]()
    for line in history.lines:
        if (line["benchmark"], line["dataset"]) == (table["benchmark"], dataset):
            scores.pop(line["system"], None)
            if line["score"] is not None and not line.get("gone"):
                scores[line["system"]] = line["score"]
            policy = [line["evaluator"], line.get("rules"), line["settings"]]
            nights[line["night"]] = _Point(str(line.get("date", "")), dict(scores), policy)
    points = [next(same) for _, same in groupby(nights.values(), attrgetter("scores"))]
    ranked = [system_of_row(table, row) for row in table["rows"]]
    title = f"{table['benchmark']}, {printable(dataset, 60)}: %s nights"
    return _draw_history(
        name, title, "the nights that changed one", points[-_NIGHTS:], ranked, names
    )


def _draw_history(
    name: str,
    title: str,
    points_are: str,
    points: Sequence[_Point],
    ranked: Sequence[str],
    names: Names,
) -> list[Chart]:
    """The systems that have two points or more, in the order of today's ranking."""
    counts = Counter(system for point in points for system in point.scores)
    points = [point for point in points if any(counts[system] > 1 for system in point.scores)]
    if len(points) < 2:
        return []
    ranks = {system: place for place, system in enumerate(dict.fromkeys(ranked))}
    systems = [system for system, count in counts.items() if count > 1]
    systems.sort(key=lambda system: (ranks.get(system, len(ranks)), system))
    breaks = [at for at in range(1, len(points)) if points[at].policy != points[at - 1].policy]
    titles = [printable(point.title, 40) for point in points]
    shared = len(os.path.commonprefix([text.rpartition("_")[0] for text in titles]))  # noqa: RUF071  no paths
    ticks = [(at, text[shared:].lstrip("_") or text) for at, text in enumerate(titles)]
    description = f"Scores of {len(systems)} systems over {points_are}. The first {_LINES} of today are in colour. "
    changed = "Lines are broken where the version or the rules of scoring change."
    description += changed if breaks else "All were scored by the same version and rules."
    shown = {system: names.get(system, printable(system, 60)) for system in systems}
    columns = [Column("System", lambda system: shown[system])]
    columns += [
        _score_column(text, point.scores) for text, point in zip(titles, points, strict=True)
    ]
    lines = [
        Line(shown[system], _trace(points, breaks, system), faint=place >= _LINES)
        for place, system in enumerate(systems)
    ]
    x = Axis("", ticks[:: -(-len(ticks) // 8)], 0, len(points) - 1)
    y = number_axis(
        "score",
        [point.scores[system] for point in points for system in point.scores if system in shown],
    )
    panel = Panel("", lines, x, y, height=300)
    return [Chart(name, title % len(points), description, make_table(columns, systems), [panel])]


def _trace(
    points: Sequence[_Point], breaks: Sequence[int], system: str
) -> list[tuple[float, float | None]]:
    """The points of a line, None where there is no score and where the line breaks."""
    trace: list[tuple[float, float | None]] = [
        (at, point.scores.get(system)) for at, point in enumerate(points)
    ]
    return sorted([*trace, *((at - 0.5, None) for at in breaks)], key=itemgetter(0))


def _score_column(title: str, scores: Mapping[str, float]) -> Column:
    return Column(title, lambda system: show_number(scores.get(system)), "number", "high")
