"""The page of a leaderboard: who leads, a ranking that is its own chart, what changed, and why.

A ranking is over all weeks of a benchmark or, where it has no other weeks, of one dataset. Its rows
open to the weeks and the runs of a system.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import Final

from forecasteval.common.errors import printable, show_count
from forecasteval.display.charts import Axis, Chart, interval_axis
from forecasteval.display.html import (
    Html,
    Page,
    TableLine,
    draw_fold,
    draw_section,
    draw_table,
    join,
    show_score,
    soft,
    span,
    tag,
)
from forecasteval.display.rows import draw_bar, draw_inside, draw_more
from forecasteval.display.run_page import draw_marks, mark_lines
from forecasteval.display.tables import (
    Cell,
    Column,
    Heat,
    IntervalCell,
    Link,
    Table,
    format_signature,
    make_table,
    show_interval,
    show_number,
)
from forecasteval.ranking.board import Board, RankedRow, RankedTable, Ranking
from forecasteval.ranking.names import BOARD
from forecasteval.ranking.scale import Scale

from .board_charts import (
    cost_chart,
    draw_costs,
    draw_history,
    draw_parts,
    draw_weeks,
    history_chart,
)
from .changes import History, history_dataset, summarise_changes, tabulate_changes
from .columns import Entry, list_columns
from .metadata import name_systems
from .question_rows import draw_questions
from .standings import (
    Names,
    ReadItems,
    ShownRanking,
    files_of,
    find_weeks,
    heat_of,
    say_last_night,
    say_leader,
    show_cell,
)
from .tables import (
    ENTER,
    GUESS,
    describe_waiting,
    list_failed,
    list_removed,
    list_withdrawn,
    say_unranked,
    season_remarks,
    show_size,
    view_alone,
    view_open,
)

_SEARCHED: Final = 8  # systems from which on they can be searched
_ABOUT: Final = {  # what is said below the rows of the title of a column
    "Cost": "per question",
    "Late": "answers that came after a truth, or after closing",
}


def make_page(
    board: Board,
    linked: Collection[str] = (),
    history: History | None = None,
    read_items: ReadItems = lambda _: (),
    enter: str = "",
) -> Page:
    """Make the page of a board.

    `linked` are the names of the runs that have a page beside it. Without `history` nothing is said
    of changes; without `read_items` (the items of a stored result by its name) questions have no
    texts. `enter` is the address of what the operator says on entering.
    """
    names = name_systems(board)
    standings = [
        ShownRanking(f"ranking{place}", table, weeks, names, linked, read_items)
        for place, (table, weeks) in enumerate(_find_rankings(board), 1)
    ]
    benchmarks = {standing.table.benchmark for standing in standings}
    title = f"{benchmarks.pop()} leaderboard" if len(benchmarks) == 1 else "Leaderboard"
    has_parts = any(row.by for standing in standings[:1] for row in standing.table.rows)
    parts = [
        ("Open", "open", board.open),
        ("What changed", "changed", history),
        (f"By {printable(board.by, 40)}", "by1", has_parts),
        ("Questions", "of-questions1", standings and standings[0].newest),
        ("Weeks", "weeks1", any(standing.weeks for standing in standings)),
    ]
    links = [Link(text, "", anchor) for text, anchor, is_there in parts if is_there]
    links += [Link("CSV", f"{BOARD}.csv")] if history else []
    lead = Html()
    for first in standings[:1]:
        about = f"{first.title}: " if len(board.rankings) > 1 else ""
        lead = join(about, say_leader(first.table, names))
        of = first.table.benchmark, history_dataset(board, first.table)
        if history and (last := say_last_night(history, names, of)):
            lead = join(lead, Html("<br/>"), soft(last))
    settings = board.leaderboard
    return Page(
        title,
        _show_facts(board, standings, history),
        lambda: _draw_ranking(standings[0]) if standings else tag("p", "Nothing is ranked yet."),
        lambda: chain(_draw_open(board, enter), _draw_body(board, names, standings, history)),
        lambda: _list_charts(standings),
        lead,
        links,
        f"signature: leaderboard {settings['version']} min_questions:{settings['min_questions']}",
    )


def _find_rankings(board: Board) -> list[tuple[Ranking, Sequence[RankedTable]]]:
    """Find the rankings over all weeks with their weeks, then the datasets that none of these has.

    Datasets of one system are no rankings, unless there is nothing else.
    """
    found: list[tuple[Ranking, Sequence[RankedTable]]] = [
        (season, find_weeks(board.tables, season)) for season in board.pooled
    ]
    seen = [id(week) for _, weeks in found for week in weeks]
    others = [table for table in board.tables if id(table) not in seen]
    found += [(table, []) for table in others if not table.is_alone]
    return found or [(table, []) for table in others[:1]]


# --- The top ---


def _show_facts(board: Board, standings: Sequence[ShownRanking], history: History | None) -> Html:
    """Show what the first ranking has, how many are below it, as of when, and what waits for
    truths.
    """
    counts = [(len(board.failed), "failed file")]
    for first in standings[:1]:
        rows = first.table.rows
        degraded = sum(row.degraded for row in rows)
        counts = [
            (len(rows), "system"),
            (len(first.weeks), "week"),
            (sum(first.table.level_counts.values()), "question"),
            (len(board.rankings) - 1 - len(first.weeks), "more ranking"),
            (degraded, "degraded result"),
            *counts,
        ]
    facts = [show_count(count, what) for count, what in counts if count]
    facts += [f"as of {printable(history.date, 20)}"] if history and history.lines else []
    waiting = [f"{table.label}: {show_size(table)}" for table in board.tables if table.pending]
    parts = [" · ".join(facts)]
    for text in (*waiting, *describe_waiting(board)):
        parts += ["   ", span("pend", text)]
    return join(*parts)


# --- The ranking ---


def _draw_ranking(standing: ShownRanking) -> Html:
    """Draw the rows, the ranked ones first; of the others the first says why they have no rank.
    Each opens the row below it. The lines of the leader and of a baseline cross all rows.
    """
    table = standing.table
    columns = list_columns(table)
    ranked = [row for row in table.rows if row.rank is not None]
    leader = ranked[0].score if ranked else None
    # Provisional systems may leave the axis.
    seen = [IntervalCell(row.score, row.interval) for row in ranked or table.rows]
    axis = interval_axis(seen, standing.baseline)
    better = ("", "") if table.scale.sign > 0 else ("← better", "")
    styles = list(map(_choose_style, table.rows))
    drawn = _tabulate(standing)
    heads, rows = mark_lines(drawn, axis, styles, leader, better)
    of = "Weeks and runs" if standing.weeks else "Runs"
    parts: list[list[TableLine]] = []
    for entry, row in zip(standing.entries, rows, strict=True):
        numbers = [
            ("In numbers", _say_numbers(entry, columns)),
            ("Score, 95% interval, questions", _format_parts(entry.row)),
        ]
        weeks = [(of, _list_weeks(standing, entry.row.system_name))]
        parts.append([row, TableLine([draw_inside(entry.key, numbers, weeks)], "in")])
    if unranked := [part for part in parts if part[0].kind == "prov"][:1]:
        unranked[0].insert(0, TableLine([say_unranked(table) or "Without a rank"]))
    if table.guess is not None:
        place = sum(table.scale.sign * (row.score - table.guess) >= 0 for row in table.rows)
        parts.insert(place, [_draw_guess(drawn.columns, axis, table.guess)])
    lines = [*chain.from_iterable(parts)]
    count = len(table.rows)
    first = f"{standing.prefix}."
    search = draw_bar(standing.name, "systems", first=first) if count >= _SEARCHED else ""
    said = [_say_marks(standing), "Dotted: the leader."]
    said += [f"{head.title}: {_ABOUT[head.title]}." for head in heads if head.title in _ABOUT]
    if any(table.level_counts):
        weights = ", ".join(f"{weight:g}" for weight in table.weights.values())
        said.append(
            f"L1, L2 …: the mean score of a level, from orange (0) to blue (1); weights {weights}."
        )
    legend = tag("p", " ".join(said), class_="cap")
    return join(
        search, draw_table(heads, lines, "rank", name=standing.name), draw_more(count), legend
    )


def _say_marks(standing: ShownRanking) -> str:
    """Say what the marks of a ranking mean."""
    baseline = " Upright line: the baseline." if standing.baseline is not None else ""
    return f"Filled: could be first. Lines: 95% intervals.{baseline}"


def _choose_style(row: RankedRow) -> str | None:
    """Choose the class of a row."""
    if row.about.baseline:
        return "ref"
    if row.rank is None:
        return "prov"
    return "tie" if row.could_lead else None


def _draw_guess(columns: Sequence[Column], axis: Axis, guess: float) -> TableLine:
    """Draw the row of a blind guess, which has a score and nothing else."""
    cells: dict[str, Cell] = {
        "shown": GUESS,
        "name": GUESS,
        "score": show_score(guess),
        "interval": IntervalCell(guess, None, guess, "ref"),
    }
    row = [cells.get(column.key, "") for column in columns]
    _, (line,) = mark_lines(Table(columns, [row]), axis, ["ref"])
    return line


def _tabulate(standing: ShownRanking) -> Table:
    """Make the table that the page and `plot` draw: the columns that have a head on pages."""
    scale = standing.table.scale
    # What is drawn in another way than it stands in text.
    drawn: dict[str, Callable[[Entry], Cell]] = {
        "rank": lambda entry: _show_rank(entry.row),
        "name": _show_name,
        "score": lambda entry: show_score(entry.row.score),
        "interval": partial(_mark, standing.baseline),
    }
    columns = [Column("System", attrgetter("shown"), page="no", key="shown")]
    for column in list_columns(standing.table):
        cell = drawn.get(column.key, column.cell)
        if column.page == "c":
            cell = partial(_show_level, column, scale)
        kind = "mark" if column.key == "interval" else column.kind
        shown = replace(column, title=column.head, cell=cell, kind=kind)
        columns += [shown] if column.head else []
    return make_table(columns, standing.entries)


def _show_level(column: Column, scale: Scale, entry: Entry) -> Heat:
    return heat_of(column.cell(entry), scale)


def _mark(baseline: float | None, entry: Entry) -> IntervalCell:
    row = entry.row
    kind = "a" if row.could_lead else ""
    if row.about.baseline:
        kind = "ref"
    return IntervalCell(row.score, row.interval, baseline, kind)


def _show_rank(row: RankedRow) -> Html:
    low, high = row.rank_interval or (None, None)
    rank = tag("b", str(row.rank or "–"))
    if not (row.rank and low):
        return rank
    interval = f"{low}–{high}" if low != high else ""
    return join(rank, " ", soft(interval))


def _show_name(entry: Entry) -> Html:
    """Show the name and the organisation of a system, which open the row below."""
    organisation = printable(entry.row.about.organisation, 24)
    of = [" ", soft(organisation)] if organisation else []
    return tag("details", tag("summary", entry.shown, *of), id=entry.key)


# --- A row that is open ---


def _say_numbers(entry: Entry, columns: Sequence[Column]) -> str:
    """Say in one line what text has of a row behind rank and name."""
    said = [(column.title, str(column.show(entry))) for column in columns[2:] if column.title]
    return " · ".join(f"{title} {text}" for title, text in said if text not in ("", "–", "0"))


def _format_parts(row: RankedRow) -> str:
    """Format the scores by the values of a column in one line, with interval and questions."""
    texts = []
    for value, part in row.by.items():
        interval = show_interval(part["interval"])
        score = show_number(part["score"])
        texts.append(f"{printable(value, 24)} {score} {interval} ({part['n']})")
    return " · ".join(texts)


def _list_weeks(standing: ShownRanking, system: str) -> Html:
    """List a cell for each week, which leads to the page of the first run; further runs stand
    behind.
    """
    parts = []
    for week, row in standing.weeks_of.get(system, ()):
        first, *more = map(standing.page_of, files_of(week, row))
        # A single run without a page says no more than the row that is open.
        if standing.weeks or first or more:
            label = [soft(week.label)] if standing.weeks else []
            others = [
                join(" ", tag("a", str(place), href=page) if page else str(place))
                for place, page in enumerate(more, 2)
            ]
            cell = show_cell(row.score, standing.table.scale, first)
            parts.append(tag("span", *label, cell, *others))
    return tag("div", *parts, class_="wks") if parts else Html()


# --- Below the ranking ---


def _draw_body(
    board: Board, names: Names, standings: Sequence[ShownRanking], history: History | None
) -> Iterator[Html]:
    """Draw the other rankings, what changed, charts, questions, and what is folded."""
    for standing in standings[1:]:
        said = tag("p", say_leader(standing.table, standing.names), class_="cap")
        name = standing.name.replace("ranking", "r")
        yield draw_section(standing.title, said, _draw_ranking(standing), name=name)
    shown = [table for standing in standings for table in (standing.table, *standing.weeks)]
    alone = [table for table in board.tables if table.is_alone and table not in shown]
    if alone:
        yield draw_section(
            "One system each", draw_marks(view_alone(alone), kind="rank"), name="alone"
        )
    if history:
        yield _draw_changes(history, names)
    for place, standing in enumerate(standings, 1):
        yield draw_parts(standing, board.by, f"by{place}")
    for standing in standings:
        yield draw_history(standing)
        yield draw_costs(standing)
    for place, standing in enumerate(standings, 1):
        table = standing.newest
        # What a single system answered is on the page of its run.
        if table and (place == 1 or len(table.rows) > 1):
            yield draw_questions(standing, table, f"questions{place}")
    for place, standing in enumerate((each for each in standings if each.weeks), 1):
        yield draw_weeks(standing, f"weeks{place}")
    yield from _draw_remarks(board)
    yield _draw_method(standings)


def _draw_changes(history: History, names: Names) -> Html:
    """Draw the changes as a section of the page."""
    if history.night < 2:
        text = "Nothing has changed since the first night."
        return draw_section("What changed", tag("p", text, class_="cap"), name="changed")
    table, more = tabulate_changes(history.changes, names)
    said = [tag("li", text) for text in summarise_changes(history.changes)]
    parts = [tag("ul", *said, class_="plain")] if said else []
    parts += [draw_marks(table)] if table.rows else []
    parts += [tag("p", text, class_="cap") for text in more]
    return draw_section(f"What changed on {printable(history.date, 20)}", *parts, name="changed")


def _draw_open(board: Board, enter: str) -> Iterator[Html]:
    """Draw which datasets can still be answered, and say how."""
    if board.open:
        how = [" ", tag("a", "How to enter", href=enter)] if enter else []
        yield draw_section("Open", draw_marks(view_open(board)), tag("p", ENTER, *how), name="open")


def _draw_remarks(board: Board) -> Iterator[Html]:
    """Say what is not ranked, and why."""
    failed = [f"{files}: {reason}" for files, reason in list_failed(board)]
    for title, texts in (
        ("Not scored", failed),
        ("Runs apart", board.remarks),
        ("Without a result", board.without_result),
        ("Withdrawn by the owner of the board", list_withdrawn(board)),
        ("Removed after the questions closed", list_removed(board)),
    ):
        if texts:
            shown = [tag("li", printable(text, 420)) for text in texts]
            listed = tag("ul", *shown, class_="plain")
            draw = draw_section if texts is failed else draw_fold
            yield draw(title, listed, note=str(len(texts)))


def _draw_method(standings: Sequence[ShownRanking]) -> Html:
    """Say how to read the marks, and by which rules and versions each ranking was made."""
    lines = [
        "Dots are scores, lines their 95% intervals. Beside a rank: the 95 % confidence range of "
        "the true rank (Holm's adjustment over all pairs of systems; of forecasters over those of "
        "each). Filled and shaded: could be first."
    ]
    for standing in standings:
        table = standing.table
        signature = format_signature(table.signature, table.dataset)
        lines += [f"{standing.title}: {signature}", *season_remarks(table)]
    return draw_fold("How the ranking is made", *(tag("p", line) for line in lines), name="method")


# --- For plot ---


def _list_charts(standings: Sequence[ShownRanking]) -> dict[str, Chart]:
    """List the rankings as charts of intervals, then their histories."""
    charts = [
        Chart(standing.name, standing.title, _say_marks(standing), _tabulate(standing))
        for standing in standings
    ]
    charts += filter(None, map(history_chart, standings))
    charts += filter(None, map(cost_chart, standings))
    return {chart.name: chart for chart in charts}
