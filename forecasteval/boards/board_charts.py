"""Charts below a ranking: scores by week, and every system in every week."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from operator import attrgetter
from os.path import commonprefix
from typing import Final, NamedTuple

from forecasteval.common.records import number_text
from forecasteval.display.charts import Axis, Chart, ChartLine, Panel, number_axis
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
from forecasteval.display.run_page import draw_marks
from forecasteval.display.tables import Column, Table, cut_middle, make_table
from forecasteval.ranking.board import RankedTable

from .by_column import describe_parts, title_parts
from .columns import list_part_columns
from .standings import ShownRanking, draw_score, files_of

_COLOURED: Final = 3  # leaders whose history is drawn in colour
_LABEL: Final = 14  # characters of a week at an axis
_DAY: Final = re.compile(r"\d\d(\d\d)(\d\d)")


def _label_weeks(weeks: Sequence[RankedTable]) -> list[str]:
    """Make the days of weeks that are named by them, `09-01` of 250901, or else names
    without the words with which all begin.
    """
    names = [week.label for week in weeks]
    if all(map(_DAY.fullmatch, names)):
        return [f"{name[2:4]}-{name[4:6]}" for name in names]
    begin = commonprefix(names).rfind("_") + 1  # noqa: RUF071 (of letters, as it is meant)
    return [cut_middle(name[begin:], _LABEL) for name in names]


# --- Charts ---


def draw_history(standing: ShownRanking) -> Html:
    """Draw the scores by week, where there are several."""
    chart = history_chart(standing)
    if chart is None:
        return Html()
    panel = draw_panel(chart.panels[0], f"{chart.title}: {standing.title}")
    return draw_section(chart.title, panel, note=chart.description, name=chart.name)


def history_chart(standing: ShownRanking) -> Chart | None:
    """Return the scores of all systems by week; a week that a system missed does not
    break its line.
    """
    weeks = standing.weeks
    if len(weeks) < 2:
        return None
    pending = [week.label for week in weeks if week.pending]
    points: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for at, week in enumerate(weeks):
        for row in week.rows:
            points[row.system_name].append((at, row.score))
    shown = [row for row in standing.table.rows if len(points[row.system_name]) > 1]
    leaders = [row.system_name for row in shown if row.could_lead]
    which = "who"
    if len(leaders) > _COLOURED:
        which = f"the first {_COLOURED} of those who"
    coloured = leaders[:_COLOURED]
    lines = []
    for ranked in shown:
        system = ranked.system_name
        is_faint = system not in coloured
        lines.append(ChartLine(standing.names[system], points[system], faint=is_faint))
    lines.sort(key=attrgetter("faint"))
    ticks = [*enumerate(_label_weeks(weeks))][:: -(-len(weeks) // 7)]
    y = number_axis([score for line in lines for _, score in line.points])
    panel = Panel("", lines, Axis("", ticks, 0, len(weeks) - 1), y, height=300)
    notes = []
    if leaders:
        notes.append(f"In colour: {which} could be first.")
    if pending:
        notes.append(f"Not complete: {', '.join(pending)}.")
    name = standing.name.replace("ranking", "history")
    return Chart(name, "Score by week", " ".join(notes), Table((), ()), [panel])


# --- Score against cost ---


class _Priced(NamedTuple):
    """A system with a cost; it is on the front if none that costs as
    little is better.
    """

    name: str
    cost: float
    score: float
    on_front: bool


def draw_costs(standing: ShownRanking) -> Html:
    """Draw the scores against the costs, where two systems or more have a cost."""
    chart = cost_chart(standing)
    if chart is None:
        return Html()
    panel = draw_panel(chart.panels[0], f"{chart.title}: {standing.title}")
    numbers = draw_scroll(chart.title, draw_marks(chart.table))
    fold = draw_fold("Scores and costs in numbers", numbers)
    return draw_section(
        chart.title, panel, fold, note=chart.description, name=chart.name
    )


def cost_chart(standing: ShownRanking) -> Chart | None:
    """Return the scores against the costs, with the front: the best score
    for each cost.
    """
    systems = _list_priced(standing)
    if len(systems) < 2:
        return None
    front = [(system.cost, system.score) for system in systems if system.on_front]
    lines = [
        ChartLine("best score for its cost", front, dots=[0.0] * len(front), faint=True)
    ]
    for system in systems:
        lines.append(ChartLine(system.name, [(system.cost, system.score)], dots=[0.5]))
    x = number_axis([0.0, *(system.cost for system in systems)])
    y = number_axis([system.score for system in systems])
    panel = Panel("", lines, x._replace(title="cost per question, $"), y, height=300)
    note = "Dots: systems. Line: the best score that a cost buys."
    name = standing.name.replace("ranking", "costs")
    return Chart(
        name, "Score against cost", note, make_table(_PRICED, systems), [panel]
    )


def _list_priced(standing: ShownRanking) -> list[_Priced]:
    """List the systems with a cost, the cheapest first."""
    sign = standing.table.scale.sign
    known = [
        (row.about.cost, row.score, standing.names[row.system_name])
        for row in standing.table.rows
        if row.about.cost is not None
    ]
    known.sort(key=lambda system: (system[0], -sign * system[1], system[2]))
    systems: list[_Priced] = []
    best = -math.inf
    for cost, score, name in known:
        systems.append(_Priced(name, cost, score, on_front=sign * score > best))
        best = max(best, sign * score)
    return systems


_PRICED: Final = (
    Column("System", attrgetter("name")),
    Column("Cost, $", lambda system: number_text(system.cost), "number"),
    Column("Score", attrgetter("score"), "number"),
    Column("Best for its cost", lambda system: "yes" if system.on_front else ""),
)


# --- Systems by the values of a column ---


def draw_parts(standing: ShownRanking, column: str, name: str) -> Html:
    """Draw a matrix of the scores by the values of a column; nothing if
    there are none.
    """
    table = standing.table
    parts = [part for part in list_part_columns(table, column) if part.head]
    if not parts:
        return Html()
    heads = [Head("System"), *(Head(part.head, "c") for part in parts)]
    lines = []
    for entry in standing.entries:
        scores = [draw_score(part.cell(entry), table.scale) for part in parts]
        lines.append(TableLine([join(entry.shown), *scores]))
    title = title_parts(table, column)
    note = " ".join(describe_parts(table, column))
    drawn = draw_scroll(title, draw_table(heads, lines, "mx"))
    return draw_section(title, drawn, note=note, name=name)


# --- Every system in every week ---


def draw_weeks(standing: ShownRanking, name: str) -> Html:
    """Draw a matrix of scores; a cell leads to the page of the run."""
    heads = [
        Head("System"),
        *(Head(label, "c") for label in _label_weeks(standing.weeks)),
    ]
    resolved = [soft(_count_resolved(week)) for week in standing.weeks]
    lines = [TableLine([soft("questions"), *resolved], "fix")]
    for entry in standing.entries:
        cells = {}
        for week, row in standing.weeks_of.get(entry.row.system_name, ()):
            page = standing.page_of(files_of(week, row)[0])
            cells[id(week)] = draw_score(row.score, standing.table.scale, page)
        scores = [cells.get(id(week), Html()) for week in standing.weeks]
        lines.append(TableLine([join(entry.shown), *scores]))
    title = "Every system in every week"
    note = ""
    if standing.linked:
        note = "a cell leads to the page of the run"
    drawn = draw_scroll(title, draw_table(heads, lines, "mx"))
    return draw_fold(title, drawn, note=note, name=name)


def _count_resolved(week: RankedTable) -> str:
    """Count the questions of a week that have a truth: `14/50`, or `50` if all do."""
    if not week.pending:
        return str(week.resolved)
    return f"{week.resolved}/{week.resolved + week.pending}"
