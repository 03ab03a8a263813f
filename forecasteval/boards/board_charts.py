"""What stands below a ranking: what changed, scores by week or by night, what they cost, and every
system in every week.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import compress, groupby
from operator import attrgetter, itemgetter
from typing import Final, NamedTuple

from forecasteval.common.errors import grouped_names, printable
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
    show_link,
    show_score,
    show_signed,
    soft,
    tag,
)
from forecasteval.display.marks import draw_dots, draw_panel
from forecasteval.display.tables import Link, Table
from forecasteval.ranking.changes import CUT, Change, History, moved, read_changes
from forecasteval.ranking.names import system_of_row

from .changes import show_id
from .standings import (
    SHOWN,
    Reason,
    Row,
    Standing,
    group_changes,
    page_keys,
    pareto,
    runs_of,
    show_week,
    sign_of,
    unit_scale,
)
from .tables import is_tied, mark_of

Names = Mapping[str, str]
_DECADES: Final = (
    30  # from this ratio of the highest to the lowest cost on, the axis is logarithmic
)
_COLOURED: Final = 3  # leaders whose history is drawn in colour
_NIGHTS: Final = 40  # the last ones, that a chart shows
_CORRECTED: Final = 6  # questions that a card names
_MOVED: Final = 6  # ranks that a sentence names
_CARDS: Final = 8  # reasons that have one
_LISTED: Final = 40  # systems of a card
_TITLES: Final = {
    "new": "New results in",
    "gone": "Gone from",
    "waiting": "No truth any more in",
    "back": "Back in",
}
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


# --- What changed ---


def draw_changes(history: History, standings: Sequence[Standing], names: Names) -> Html:
    """A card for each reason, below the ranks that moved."""
    changes = read_changes(history)
    if history.night < 2:
        text = "This is the first night: there is nothing to compare it with."
        return draw_section("What changed", tag("p", text, class_="cap"), name="changed")
    note = " ".join(filter(None, (_say_ranks(one, len(standings) > 1) for one in standings)))
    reasons = group_changes(changes)
    cards = [_draw_card(reason, standings, names) for reason in reasons[:_CARDS]]
    if len(reasons) > _CARDS:
        others = [tag("li", _say_reason(reason)) for reason in reasons[_CARDS:]]
        cards.append(tag("article", tag("h3", "Others"), tag("ul", *others)))
    title = f"What changed on {printable(history.date, 20)}"
    return draw_section(title, tag("div", *cards, class_="cards"), note=note, name="changed")


def _say_ranks(standing: Standing, several: bool) -> str:
    """The ranks that the last night moved."""
    before = {system: move.rank for system, move in standing.moves.items()}
    ranked = [(system, row["rank"]) for system, row in standing.systems if row["rank"] is not None]
    moved = [
        f"{standing.names[system]} {before[system]} → {rank}"
        for system, rank in ranked
        if before.get(system) not in (None, rank)
    ]
    if not before:
        return ""
    more = f" and {len(moved) - _MOVED} more" if len(moved) > _MOVED else ""
    said = f"Ranks that moved: {', '.join(moved[:_MOVED])}{more}." if moved else "Every rank stays."
    return f"{standing.title}: {said[:1].lower()}{said[1:]}" if several else said


def _draw_card(reason: Reason, standings: Sequence[Standing], names: Names) -> Html:
    """A reason: which questions it is about, the moves as dots, and behind a click the systems."""
    parts = [tag("h3", _say_reason(reason))]
    for change in reason.changes:
        if "corrected" in change:
            parts.append(_list_corrections(change, standings))
    moves = reason.moves
    if moves:
        ends = f"{show_signed(moves[0])} to {show_signed(moves[-1])}"
        counted = f"{len(moves)} of {len(reason.changes)} scores moved, {ends}"
        most = max(map(abs, moves))
        dots = [(_name(change, names), moved(change)) for change in reason.changes if moved(change)]
        parts += [tag("p", counted, class_="s"), draw_dots(Axis("", (), -most, most), dots)]
    elif reason.kind == "changed":
        parts.append(tag("p", f"{len(reason.changes)} results, no score moved", class_="s"))
    systems = sorted(reason.changes, key=lambda change: -abs(moved(change)))
    lines = [_list_system(change, names) for change in systems[:_LISTED]]
    if len(systems) > _LISTED:
        lines.append(tag("li", soft(f"and {len(systems) - _LISTED} more")))
    count = len({change["system"] for change in systems})
    if count == 1 and len(systems) == 1:
        return tag("article", *parts, tag("ul", *lines))
    summary = tag("summary", soft(f"▸ {count} system{'s' * (count > 1)}"))
    return tag("article", *parts, tag("details", summary, tag("ul", *lines)))


def _say_reason(reason: Reason) -> str:
    """The title of a card."""
    datasets = [show_week({"dataset": name}) for name in reason.datasets]
    where = grouped_names(datasets) if len(datasets) > 1 else datasets[0]
    if reason.kind in _TITLES:
        return _TITLES[reason.kind] + (f" {where}" if where else "")
    text = f"{reason.why[:1].upper()}{reason.why[1:]}"
    return f"{text} in {where}" if where else text


def _list_corrections(change: Change, standings: Sequence[Standing]) -> Html:
    """The questions that changed, with their truths before and after."""
    corrected, lines = change["corrected"], []
    for question in corrected["questions"][:_CORRECTED]:
        parts = [_link_question(standings, change, printable(question["id"], CUT)), join(" ")]
        before, after = (printable(question[key], CUT) for key in ("before", "after"))
        if question["what"] != "truth":
            parts.append(soft(f"{question['what']} "))
        elif before:
            parts += [soft(before), join(" → ")]
        lines.append(tag("li", *parts, after or "–"))
    more = corrected["count"] - len(lines)
    return tag("ul", *lines, *([tag("li", soft(f"and {more} more"))] if more > 0 else []))


def _link_question(standings: Sequence[Standing], change: Change, name: str) -> Html:
    """The id of a question, which leads to its row where the page has it, else to a run's page."""
    for standing in standings:
        for week in standing.weeks or [standing.table]:
            ids = [show_id(question["id"]) for question in week.get("questions", ())]
            if week["benchmark"] != change["benchmark"] or ids.count(name) != 1:
                continue
            if (week["dataset"] or week.get("name", "")) != change["dataset"]:
                continue
            key = page_keys(week)[ids.index(name)]
            if key and week is standing.newest and len(ids) <= SHOWN:
                own = standing.name.replace("ranking", "q")
                return show_link(Link(name, "", f"{own}{key.removeprefix('q')}"))
            runs = (run["name"] for row in week["rows"] for run in runs_of(row))
            if key and (run := next((run for run in runs if run in standing.linked), None)):
                return show_link(Link(name, f"{run}.html", key))
    return soft(name)


def _name(change: Change, names: Names) -> str:
    return names.get(change["system"], printable(change["system"], 60))


def _list_system(change: Change, names: Names) -> Html:
    """A system of a card: its name, the name that it had before, its score, and the move."""
    score = change["before"] if change["after"] is None else change["after"]
    old = f" (before: {printable(change['renamed'], 60)})" if "renamed" in change else ""
    old += " (new system)" * ("is_first" in change)
    by = f" {show_signed(moved(change))}" if moved(change) else ""
    return tag("li", f"{_name(change, names)}{old} {show_score(score)}", soft(by))


# --- Scores by week or by night ---


class _Point(NamedTuple):
    """A dataset or a night; a line is broken between points of different policies."""

    title: str
    scores: Mapping[str, float]
    policy: object


def draw_history(standing: Standing, history: History | None) -> Html:
    chart = history_chart(standing, history)
    if chart is None:
        return Html()
    drawn = draw_panel(chart.panels[0], f"{chart.title}: {standing.title}")
    return draw_section(chart.title, drawn, note=chart.description, name=chart.name)


def history_chart(standing: Standing, history: History | None) -> Chart | None:
    """The scores of all systems by week, or of one dataset by the nights that changed them."""
    if standing.weeks:
        points, title = list(map(_read_week, standing.weeks)), "Score by week"
    else:
        points, title = _read_nights(standing, history) if history else [], "Score by night"
    if len(points) < 2:
        return None
    counts = Counter(system for point in points for system in point.scores)
    systems = [(system, row) for system, row in standing.systems if counts[system] > 1]
    breaks = [at for at in range(1, len(points)) if points[at].policy != points[at - 1].policy]
    leaders = [system for system, row in systems if row["rank"] is not None and is_tied(row)]
    others = [system for system, _ in systems if system not in leaders[:_COLOURED]]
    lines = [
        Curve(standing.names[system], _trace(points, breaks, system), faint=system in others)
        for system in [*leaders[:_COLOURED], *others]
    ]
    labels = _label_weeks(standing.weeks) or [point.title for point in points]
    x = Axis("", [*enumerate(labels)][:: -(-len(labels) // 7)], 0, len(points) - 1)
    y = number_axis("", [score for line in lines for _, score in line.points])
    note = "Leaders in colour."
    note += " A line breaks where the rules or the version of scoring change." * bool(breaks)
    partial = [show_week(week) for week in standing.weeks if week.get("pending")]
    note += f" Not complete: {', '.join(partial)}." if partial else ""
    name = standing.name.replace("ranking", "history")
    return Chart(name, title, note, Table((), ()), [Panel("", lines, x, y, height=300)])


def _read_week(table: Row) -> _Point:
    policy = {key: value for key, value in table["signature"].items() if key not in _NOT_POLICY}
    scores = {
        system_of_row(table, row): row["overall_score"]
        for row in table["rows"]
        if row["overall_score"] is not None
    }
    return _Point(show_week(table), scores, policy)


def _read_nights(standing: Standing, history: History) -> list[_Point]:
    """The nights that changed a score of a dataset."""
    table, scores, nights = standing.table, dict[str, float](), dict[int, _Point]()
    key = table["benchmark"], table["dataset"] or table.get("name", "")
    for line in history.lines:
        if (line.benchmark, line.dataset) == key:
            scores.pop(line.system, None)
            if line.score is not None and not line.gone:
                scores[line.system] = line.score
            policy = [line.evaluator, line.rules, line.settings]
            nights[line.night] = _Point(line.date, dict(scores), policy)
    return [next(same) for _, same in groupby(nights.values(), attrgetter("scores"))][-_NIGHTS:]


def _trace(
    points: Sequence[_Point], breaks: Sequence[int], system: str
) -> list[tuple[float, float | None]]:
    """The points of a line, None where it breaks; weeks that a system missed do not break it."""
    trace: list[tuple[float, float | None]] = [
        (at, point.scores[system]) for at, point in enumerate(points) if system in point.scores
    ]
    return sorted([*trace, *((at - 0.5, None) for at in breaks)], key=itemgetter(0))


# --- Cost ---


def cost_of(row: Row) -> float | None:
    text = number_text(row.get("about", {}).get("cost"))
    return float(text) if text and math.isfinite(float(text)) else None


class _Priced(NamedTuple):
    """A system with what it costs."""

    cost: float
    score: float
    name: str
    is_tied: bool  # with the leader


def draw_cost(standing: Standing) -> Html:
    chart, priced = cost_chart(standing), _list_priced(standing)
    if chart is None:
        return Html()
    panel = chart.panels[0]._replace(lines=[])
    drawn = draw_panel(panel, f"{chart.title}: {standing.title}")
    *dots, frontier = chart.panels[0].lines
    parts = [_draw_steps(panel, frontier)]
    for each, dot in zip(priced, dots, strict=True):
        parts.append(_draw_priced(panel, dot.points[0][0], each, dot.points[0] in frontier.points))
    drawn = Html(f"{drawn.removesuffix('</svg>')}{join(*parts)}</svg>")
    return draw_section(chart.title, drawn, note=chart.description, name=chart.name)


def _list_priced(standing: Standing) -> list[_Priced]:
    """The ranked systems of which the cost is known, the cheapest first."""
    sign = sign_of(standing.table)
    priced = [
        _Priced(cost, score, standing.names[system], bool(is_tied(row)))
        for system, row in standing.systems
        if row["rank"] is not None
        and (cost := cost_of(row)) is not None
        and (score := mark_of(row)[0]) is not None
    ]
    return sorted(priced, key=lambda each: (each.cost, -sign * each.score))


def cost_chart(standing: Standing) -> Chart | None:
    """Cost against score: a dot for each system, and the line of the best score that money buys."""
    priced, sign = _list_priced(standing), sign_of(standing.table)
    if len(priced) < 2:
        return None
    low, high = priced[0].cost, priced[-1].cost
    by_power = low > 0 and high / low > _DECADES
    place = math.log10 if by_power else float
    x = _powers(low, high) if by_power else number_axis("", [0.0, high])
    ahead = pareto([(each.cost, sign * each.score) for each in priced])
    steps: list[tuple[float, float | None]] = []
    for each in compress(priced, ahead):
        steps += [(place(each.cost), steps[-1][1])] if steps else []
        steps.append((place(each.cost), each.score))
    steps.append((x.high, steps[-1][1]))
    dots = [Curve(each.name, [(place(each.cost), each.score)], joined=False) for each in priced]
    lines = [*dots, Curve("best score that money buys", steps)]
    y = number_axis("", [each.score for each in priced])
    cheapest = next((each.name for each in priced if each.is_tied), "")
    note = "Cost per question; the line is the best score that money buys."
    note += f" The cheapest that cannot be told from the leader: {cheapest}." if cheapest else ""
    unknown = [standing.names[system] for system, row in standing.systems if cost_of(row) is None]
    note += f" Without a known cost: {grouped_names(unknown)}." if unknown else ""
    name = standing.name.replace("ranking", "cost")
    panel = Panel("", lines, x, y, named=False, height=300)
    return Chart(name, "Score against cost", note, Table((), ()), [panel])


def _draw_steps(panel: Panel, frontier: Curve) -> Html:
    path = tag("path", d=panel.path(frontier), class_="step")
    box = {"viewBox": f"0 0 1000 {panel.height}", "preserveAspectRatio": "none"}
    size = {"width": "100%", "height": panel.height, "overflow": "visible"}
    return tag("svg", path, **box, **size, aria_hidden="true")


def _draw_priced(panel: Panel, place: float, priced: _Priced, ahead: bool) -> Html:
    """A dot: filled for the leaders, named where nothing cheaper is as good."""
    across, up = panel.x.at(place), panel.height * (1 - panel.y.at(priced.score))
    x, y = f"{across * 100:.1f}%", f"{up:.1f}"
    title = tag("title", f"{priced.name}: {show_score(priced.score)}")
    parts = [tag("circle", title, cx=x, cy=y, r=5)]
    if ahead or priced.is_tied:
        left = (across > 0.2 and ahead) or across > 0.8
        side = {"dx": -7, "dy": -7, "class_": "e"} if left else {"dx": 9, "dy": 4}
        parts.append(tag("text", printable(priced.name, 16), x=x, y=y, **side))
    return tag("g", *parts, class_="pt" + " f" * ahead + " t" * priced.is_tied)


def _powers(lowest: float, highest: float) -> Axis:
    """A logarithmic axis."""
    low, high = math.floor(math.log10(lowest)), math.ceil(math.log10(highest))
    return Axis("", [(power, f"{10.0**power:g}") for power in range(low, high + 1)], low, high)


# --- Every system in every week ---


def draw_weeks(standing: Standing, name: str) -> Html:
    """A matrix of scores; a cell leads to the page of the run."""
    unit = unit_scale(standing.table)
    heads = [Head("System"), *(Head(label, "c") for label in _label_weeks(standing.weeks))]
    counts = [soft(_count_questions(week)) for week in standing.weeks]
    lines = [Line([soft("questions"), *counts])]
    rows = [{system_of_row(week, row): row for row in week["rows"]} for week in standing.weeks]
    for system, _ in standing.systems:
        cells = []
        for week in rows:
            row = week.get(system)
            page = standing.page_of(runs_of(row)[0]) if row else None
            cells.append(show_cell(row["overall_score"] if row else None, unit, page))
        lines.append(Line([join(standing.names[system]), *cells]))
    note = f"{len(standing.weeks)} weeks; a cell leads to the page of the run"
    table = tag(
        "div",
        draw_table(heads, lines, "mx"),
        class_="scroll",
        tabindex=0,
        role="region",
        aria_label="Every system in every week",
    )
    return draw_fold("Every system in every week", table, note=note, name=name)


def _count_questions(week: Row) -> str:
    done = sum(week["level_counts"].values())
    return f"{done}/{done + week['pending']}" if week.get("pending") else str(done)
