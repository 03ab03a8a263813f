"""Charts below a ranking: scores by week or by night, and every system in every week."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from operator import attrgetter, itemgetter
from typing import Final, NamedTuple

from forecasteval.display.charts import Axis, Chart, Panel, number_axis
from forecasteval.display.charts import ChartLine as Curve
from forecasteval.display.html import (
    Head,
    Html,
    TableLine,
    draw_fold,
    draw_scroll,
    draw_section,
    draw_table,
    join,
    soft,
)
from forecasteval.display.marks import draw_panel
from forecasteval.display.tables import Table
from forecasteval.ranking.board import SystemTable

from .standings import ShownRanking, files_of, show_cell

_COLOURED: Final = 3  # leaders whose history is drawn in colour
_NIGHTS: Final = 40  # the last ones, that a chart shows
_NOT_POLICY: Final = ("questions_sha256", "data_sha256", "dataset_sha256", "prediction_sha256")
_DAY: Final = re.compile(r"\d\d(\d\d)(\d\d)")


def _label_weeks(weeks: Sequence[SystemTable]) -> list[str]:
    """Days of weeks that are named by them, `09-01` of 250901, or else the names."""
    names = [week.label for week in weeks]
    if all(map(_DAY.fullmatch, names)):
        return [f"{name[2:4]}-{name[4:6]}" for name in names]
    return names


# --- Charts ---


def draw_history(standing: ShownRanking) -> Html:
    """Draw the scores by week or by night, where there are several."""
    chart = history_chart(standing)
    if chart is None:
        return Html()
    panel = draw_panel(chart.panels[0], f"{chart.title}: {standing.title}")
    return draw_section(chart.title, panel, note=chart.description, name=chart.name)


class _Point(NamedTuple):
    """A dataset or a night; a line is broken between points of different policies."""

    title: str
    scores: Mapping[str, float | None]
    policy: object
    pending: int = 0  # questions without a truth


def history_chart(standing: ShownRanking) -> Chart | None:
    """Return the scores of all systems by week, or of one dataset by the nights that
    changed them.
    """
    if standing.weeks:
        points, title = list(map(_read_week, standing.weeks)), "Score by week"
    else:
        points, title = _read_nights(standing), "Score by night"
    if len(points) < 2:
        return None
    partial = {at: point.title for at, point in enumerate(points) if point.pending}
    policies = [point.policy for point in points]
    breaks = [(at + 0.5, None) for at, (a, b) in enumerate(pairwise(policies)) if a != b]
    rows = standing.table.rows
    traces = {row.system_name: _trace(points, row.system_name) for row in rows}
    shown = [row for row in rows if len(traces[row.system_name]) > 1]
    leaders = [row.system_name for row in shown if row.rank is not None and row.is_tied]
    leaders = leaders[:_COLOURED]
    others = [row.system_name for row in shown if row.system_name not in leaders]
    lines = [
        Curve(
            standing.names[system],
            # a week that a system missed does not break its line
            sorted([*traces[system], *breaks], key=itemgetter(0)),
            faint=system not in leaders,
            dashed=frozenset(partial),
        )
        for system in [*leaders, *others]
    ]
    labels = _label_weeks(standing.weeks) or [point.title for point in points]
    x = Axis("", [*enumerate(labels)][:: -(-len(labels) // 7)], 0, len(points) - 1)
    y = number_axis("", [score for line in lines for _, score in line.points])
    note = "Leaders in colour."
    note += " A line breaks where the rules or the version of scoring change." * bool(breaks)
    note += f" Dashed: not complete, {', '.join(partial.values())}." if partial else ""
    name = standing.name.replace("ranking", "history")
    return Chart(name, title, note, Table((), ()), [Panel("", lines, x, y, height=300)])


def _read_week(table: SystemTable) -> _Point:
    policy = {key: value for key, value in table.signature.items() if key not in _NOT_POLICY}
    scores = {row.system_name: row.score for row in table.rows}
    return _Point(table.label, scores, policy, table.pending)


def _read_nights(standing: ShownRanking) -> list[_Point]:
    """Read the nights that changed a score of a dataset."""
    history, scores, nights = standing.reads.history, dict[str, float | None](), dict[int, _Point]()
    key = standing.table.benchmark, standing.dataset
    for line in history.lines if history else ():
        if (line.benchmark, line.dataset) == key:
            scores = {**scores, line.system: None if line.gone else line.score}
            policy = [line.evaluator, line.rules, line.settings]
            nights[line.night] = _Point(line.date, scores, policy)
    return [next(same) for _, same in groupby(nights.values(), attrgetter("scores"))][-_NIGHTS:]


def _trace(points: Sequence[_Point], system: str) -> list[tuple[float, float | None]]:
    scores = [point.scores.get(system) for point in points]
    return [(at, score) for at, score in enumerate(scores) if score is not None]


# --- Every system in every week ---


def draw_weeks(standing: ShownRanking, name: str) -> Html:
    """Draw a matrix of scores; a cell leads to the page of the run."""
    heads = [Head("System"), *(Head(label, "c") for label in _label_weeks(standing.weeks))]
    lines = [
        TableLine([soft("questions"), *(soft(_count_questions(week)) for week in standing.weeks)])
    ]
    for entry in standing.entries:
        cells = {
            id(week): show_cell(row.score, standing.unit, standing.page_of(files_of(week, row)[0]))
            for week, row in standing.weeks_of.get(entry.row.system_name, ())
        }
        shown = [cells.get(id(week), show_cell(None, standing.unit)) for week in standing.weeks]
        lines.append(TableLine([join(entry.shown), *shown]))
    title = "Every system in every week"
    note = f"{len(standing.weeks)} weeks; a cell leads to the page of the run"
    drawn = draw_scroll(title, draw_table(heads, lines, "mx"))
    return draw_fold(title, drawn, note=note, name=name)


def _count_questions(week: SystemTable) -> str:
    done = week.resolved
    return f"{done}/{done + week.pending}" if week.pending else str(done)
