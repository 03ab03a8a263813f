"""Charts below a ranking, scores by week or by night and what they cost, and every system in every
week.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby, pairwise
from operator import attrgetter, itemgetter
from typing import Final, NamedTuple

from forecasteval.common.errors import grouped_names
from forecasteval.common.records import number_text
from forecasteval.display.charts import Axis, Chart, Panel, number_axis
from forecasteval.display.charts import Line as Curve
from forecasteval.display.html import (
    Head,
    Html,
    Line,
    draw_fold,
    draw_section,
    draw_table,
    heat_class,
    join,
    show_score,
    soft,
    tag,
)
from forecasteval.display.marks import draw_panel
from forecasteval.display.tables import Table
from forecasteval.ranking.names import system_of_row

from .standings import Standing, count_resolved, runs_of, show_week, sign_of, unit_scale
from .tables import Row, is_tied, mark_of

_DECADES: Final = 30  # from this ratio of the highest to the lowest cost on, the axis is by powers
_COLOURED: Final = 3  # leaders whose history is drawn in colour
_NIGHTS: Final = 40  # the last ones, that a chart shows
_DOT: Final = (0.475,)  # the area of a dot of a system
_NOT_POLICY: Final = ("questions_sha256", "data_sha256", "dataset_sha256", "prediction_sha256")
_DAY: Final = re.compile(r"\d\d(\d\d)(\d\d)")


def show_cell(
    score: float | None, unit: Callable[[float], float] | None, href: str | None = None
) -> Html:
    """A score of two decimals on its colour, which may lead to a page."""
    if score is None or math.isnan(score) or unit is None:
        return tag("span", "·" if score is None else show_score(score, 2), class_="hx")
    text = show_score(score, 2).removeprefix("0")
    kind = heat_class(unit(score))
    return tag("a" if href else "span", text, class_=kind, href=href, title=show_score(score, 4))


def _label_weeks(weeks: Sequence[Row]) -> list[str]:
    """Days of weeks that are named by them, `09-01` of 250901, or else the names."""
    names = list(map(show_week, weeks))
    if all(map(_DAY.fullmatch, names)):
        return [f"{name[2:4]}-{name[4:6]}" for name in names]
    return names


# --- Charts ---


def list_charts(standing: Standing) -> list[Chart]:
    """Scores by week or by night, and against cost, as far as they are known."""
    return list(filter(None, (_history_chart(standing), _cost_chart(standing))))


def draw_charts(standing: Standing) -> Html:
    """The charts beside each other."""
    drawn = [
        draw_section(
            chart.title,
            draw_panel(chart.panels[0], f"{chart.title}: {standing.title}"),
            note=chart.description,
            name=chart.name,
        )
        for chart in list_charts(standing)
    ]
    return tag("div", *drawn, class_="pair wide" if len(drawn) > 1 else None) if drawn else Html()


class _Point(NamedTuple):
    """A dataset or a night; a line is broken between points of different policies."""

    title: str
    scores: Mapping[str, float | None]
    policy: object


def _history_chart(standing: Standing) -> Chart | None:
    """The scores of all systems by week, or of one dataset by the nights that changed them."""
    if standing.weeks:
        points, title = list(map(_read_week, standing.weeks)), "Score by week"
    else:
        points, title = _read_nights(standing), "Score by night"
    if len(points) < 2:
        return None
    policies = [point.policy for point in points]
    breaks = [(at + 0.5, None) for at, (a, b) in enumerate(pairwise(policies)) if a != b]
    traces = {system: _trace(points, system) for system, _ in standing.systems}
    systems = [(system, row) for system, row in standing.systems if len(traces[system]) > 1]
    leaders = [system for system, row in systems if row["rank"] is not None and is_tied(row)]
    leaders = leaders[:_COLOURED]
    lines = [
        Curve(
            standing.names[system],
            # a week that a system missed does not break its line
            sorted([*traces[system], *breaks], key=itemgetter(0)),
            faint=system not in leaders,
        )
        for system in [*leaders, *(name for name, _ in systems if name not in leaders)]
    ]
    labels = _label_weeks(standing.weeks) or [point.title for point in points]
    x = Axis("", [*enumerate(labels)][:: -(-len(labels) // 7)], 0, len(points) - 1)
    y = number_axis("", [score for line in lines for _, score in line.points])
    note = "Leaders in colour."
    note += " A line breaks where the rules or the version of scoring change." * bool(breaks)
    return _make_chart(standing, "history", title, note, Panel("", lines, x, y, height=300))


def _make_chart(standing: Standing, name: str, title: str, note: str, panel: Panel) -> Chart:
    return Chart(standing.name.replace("ranking", name), title, note, Table((), ()), [panel])


def _read_week(table: Row) -> _Point:
    policy = {key: value for key, value in table["signature"].items() if key not in _NOT_POLICY}
    scores = {system_of_row(table, row): row["overall_score"] for row in table["rows"]}
    return _Point(show_week(table), scores, policy)


def _read_nights(standing: Standing) -> list[_Point]:
    """The nights that changed a score of a dataset."""
    history, scores, nights = standing.reads.history, dict[str, float | None](), dict[int, _Point]()
    key = standing.table["benchmark"], standing.dataset
    for line in history.lines if history else ():
        if (line.benchmark, line.dataset) == key:
            scores = {**scores, line.system: None if line.gone else line.score}
            policy = [line.evaluator, line.rules, line.settings]
            nights[line.night] = _Point(line.date, scores, policy)
    return [next(same) for _, same in groupby(nights.values(), attrgetter("scores"))][-_NIGHTS:]


def _trace(points: Sequence[_Point], system: str) -> list[tuple[float, float | None]]:
    scores = [point.scores.get(system) for point in points]
    return [(at, score) for at, score in enumerate(scores) if score is not None]


# --- Cost ---


def cost_of(row: Row) -> float | None:
    text = number_text(row.get("about", {}).get("cost"))
    return float(text) if text and math.isfinite(float(text)) else None


def _cost_chart(standing: Standing) -> Chart | None:
    """Cost against score: a dot for each ranked system, and the line of the best score that money
    buys.

    Dots are filled for the leader and its equals, and named where nothing cheaper is as good.
    """
    sign, priced = sign_of(standing.table), []
    for system, row in standing.systems:
        cost, score = cost_of(row), mark_of(row)[0]
        if row["rank"] is not None and cost is not None and score is not None:
            priced.append((cost, -sign * score, standing.names[system], is_tied(row)))
    if len(priced) < 2:
        return None
    priced.sort()  # the cheapest first
    low, high = priced[0][0], priced[-1][0]
    by_power = low > 0 and high / low > _DECADES
    x = _powers(low, high) if by_power else number_axis("", [0.0, high])
    steps, dots, best = list[tuple[float, float | None]](), [], math.inf
    for cost, loss, name, tied in priced:
        place, ahead = (math.log10(cost) if by_power else cost, -sign * loss), loss < best
        if ahead:
            steps += [(place[0], steps[-1][1]), place] if steps else [place]
            best = loss
        kind = "pt" + " f" * ahead + " t" * bool(tied)
        dots.append(Curve(name, [place], _DOT, False, not (ahead or tied), kind))
    steps.append((x.high, -sign * best))
    frontier = Curve("best score that money buys", steps, faint=True, kind="step")
    y = number_axis("", [-sign * loss for _, loss, _, _ in priced])
    cheapest = next((name for _, _, name, tied in priced if tied), "")
    note = "Cost per question; the line is the best score that money buys."
    note += f" The cheapest that cannot be told from the leader: {cheapest}." if cheapest else ""
    unknown = [standing.names[system] for system, row in standing.systems if cost_of(row) is None]
    note += f" Without a known cost: {grouped_names(unknown)}." if unknown else ""
    panel = Panel("", [*dots, frontier], x, y, height=300)
    return _make_chart(standing, "cost", "Score against cost", note, panel)


def _powers(lowest: float, highest: float) -> Axis:
    """A logarithmic axis."""
    low, high = math.floor(math.log10(lowest)), math.ceil(math.log10(highest))
    return Axis("", [(power, f"{10.0**power:g}") for power in range(low, high + 1)], low, high)


# --- Every system in every week ---


def draw_weeks(standing: Standing, name: str) -> Html:
    """A matrix of scores; a cell leads to the page of the run."""
    unit = unit_scale(standing.table)
    heads = [Head("System"), *(Head(label, "c") for label in _label_weeks(standing.weeks))]
    lines = [Line([soft("questions"), *(soft(_count_questions(week)) for week in standing.weeks)])]
    for system, _ in standing.systems:
        cells = {
            id(week): show_cell(row["overall_score"], unit, standing.page_of(runs_of(week, row)[0]))
            for week, row in standing.rows_of(system)
        }
        shown = [cells.get(id(week), show_cell(None, unit)) for week in standing.weeks]
        lines.append(Line([join(standing.names[system]), *shown]))
    title = "Every system in every week"
    box = {"class_": "scroll", "tabindex": 0, "role": "region", "aria_label": title}
    note = f"{len(standing.weeks)} weeks; a cell leads to the page of the run"
    return draw_fold(title, tag("div", draw_table(heads, lines, "mx"), **box), note=note, name=name)


def _count_questions(week: Row) -> str:
    done = count_resolved(week)
    return f"{done}/{done + week['pending']}" if week.get("pending") else str(done)
