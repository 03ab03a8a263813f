"""The page of a leaderboard: who leads, a ranking that is its own chart, what
changed, and why.

A ranking is over all weeks of a benchmark or, where it has no other weeks, of one
dataset. Its rows open to the weeks and the runs of a system.
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
    Head,
    Html,
    Page,
    TableLine,
    draw_fold,
    draw_link,
    draw_list,
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
    describe_last_night,
    describe_leader,
    draw_score,
    files_of,
    find_weeks,
    place_score,
)
from .tables import (
    ENTER,
    GUESS,
    describe_unranked,
    describe_waiting,
    format_size,
    list_failed,
    list_removed,
    list_withdrawn,
    season_remarks,
    tabulate_alone,
    tabulate_open,
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

    `linked` are the names of the runs that have a page beside it. Without `history`
    nothing is said of changes; without `read_items` (the items of a stored result by
    its name) questions have no texts. `enter` is the address of what the operator
    says on entering.
    """
    names = name_systems(board)
    standings = [
        ShownRanking(f"ranking{number}", table, weeks, names, linked, read_items)
        for number, (table, weeks) in enumerate(_find_rankings(board), 1)
    ]
    settings = board.leaderboard
    return Page(
        _choose_title(standings),
        _draw_facts(board, standings, history),
        partial(_draw_first, standings),
        partial(_draw_body, board, names, standings, history, enter),
        partial(_list_charts, standings),
        _describe_lead(board, standings, history),
        _list_links(board, standings, history),
        f"signature: leaderboard {settings['version']} "
        f"min_questions:{settings['min_questions']}",
    )


def _choose_title(standings: Sequence[ShownRanking]) -> str:
    benchmarks = {standing.table.benchmark for standing in standings}
    if len(benchmarks) == 1:
        return f"{benchmarks.pop()} leaderboard"
    return "Leaderboard"


def _describe_lead(
    board: Board, standings: Sequence[ShownRanking], history: History | None
) -> Html:
    """Describe who leads the first ranking, and what the last night changed in it."""
    if not standings:
        return Html()
    first = standings[0]
    lead = describe_leader(first.table, first.names)
    if len(board.rankings) > 1:
        lead = join(f"{first.title}: ", lead)
    if history is None:
        return lead
    ranking = first.table.benchmark, history_dataset(board, first.table)
    last_night = describe_last_night(history, first.names, ranking)
    if last_night:
        lead = join(lead, Html("<br/>"), soft(last_night))
    return lead


def _list_links(
    board: Board, standings: Sequence[ShownRanking], history: History | None
) -> list[Link]:
    """List the links to the parts of the page that are there, and to the
    CSV beside it.
    """
    first = standings[:1]
    parts = [
        ("Open", "open", board.open),
        ("What changed", "changed", history),
        (
            f"By {printable(board.by, 40)}",
            "by1",
            any(standing.has_parts for standing in first),
        ),
        ("Questions", "of-questions1", any(standing.newest for standing in first)),
        ("Weeks", "weeks1", any(standing.weeks for standing in standings)),
    ]
    links = [Link(text, "", anchor) for text, anchor, is_there in parts if is_there]
    if history:
        links.append(Link("CSV", f"{BOARD}.csv"))
    return links


def _find_rankings(board: Board) -> list[tuple[Ranking, Sequence[RankedTable]]]:
    """Find the rankings over all weeks with their weeks, then the datasets that
    none of these has.

    Datasets of one system are no rankings, unless there is nothing else.
    """
    rankings: list[tuple[Ranking, Sequence[RankedTable]]] = [
        (season, find_weeks(board.tables, season)) for season in board.pooled
    ]
    pooled = [id(week) for _, weeks in rankings for week in weeks]
    others = [table for table in board.tables if id(table) not in pooled]
    rankings += [(table, []) for table in others if not table.is_alone]
    return rankings or [(table, []) for table in others[:1]]


# --- The top ---


def _draw_facts(
    board: Board, standings: Sequence[ShownRanking], history: History | None
) -> Html:
    """Show what the first ranking has, how many are below it, as of when, and what
    waits for truths.
    """
    counts: list[tuple[int, str]] = []
    for first in standings[:1]:
        rows = first.table.rows
        counts = [
            (len(rows), "system"),
            (len(first.weeks), "week"),
            (sum(first.table.level_counts.values()), "question"),
            (len(board.rankings) - 1 - len(first.weeks), "more ranking"),
            (sum(row.degraded for row in rows), "degraded result"),
        ]
    counts.append((len(board.failed), "failed file"))
    facts = [show_count(count, what) for count, what in counts if count]
    if history and history.lines:
        facts.append(f"as of {printable(history.date, 20)}")
    parts = [" · ".join(facts)]
    pending = [
        f"{table.label}: {format_size(table)}"
        for table in board.tables
        if table.pending
    ]
    for text in (*pending, *describe_waiting(board)):
        parts += ["   ", span("pend", text)]
    return join(*parts)


# --- The ranking ---


def _draw_first(standings: Sequence[ShownRanking]) -> Html:
    if not standings:
        return tag("p", "Nothing is ranked yet.")
    return _draw_ranking(standings[0])


def _draw_ranking(standing: ShownRanking) -> Html:
    """Draw the rows, each of which opens the row below it.

    The lines of the leader and of a baseline cross all rows.
    """
    table = standing.table
    ranked = [row for row in table.rows if row.rank is not None]
    leader = next((row.score for row in ranked), None)
    # Provisional systems may leave the axis.
    marks = [IntervalCell(row.score, row.interval) for row in ranked or table.rows]
    axis = interval_axis(marks, standing.baseline)
    ends = ("", "")
    if table.scale.sign < 0:
        ends = ("← better", "")
    styles = list(map(_choose_style, table.rows))
    drawn = _tabulate(standing)
    heads, rows = mark_lines(drawn, axis, styles, leader, ends)
    groups = _open_rows(standing, rows)
    if table.guess is not None:
        index = sum(
            table.scale.sign * (row.score - table.guess) >= 0 for row in table.rows
        )
        groups.insert(index, [_draw_guess(drawn.columns, axis, table.guess)])
    ranking = draw_table(
        heads, [*chain.from_iterable(groups)], "rank", name=standing.name
    )
    legend = tag("p", " ".join(_explain_columns(standing, heads)), class_="cap")
    return join(_draw_search(standing), ranking, draw_more(len(table.rows)), legend)


def _open_rows(
    standing: ShownRanking, rows: Sequence[TableLine]
) -> list[list[TableLine]]:
    """Add to each row the one that it opens; before those without rank, why
    they have none.
    """
    columns = list_columns(standing.table)
    title = "Runs"
    if standing.weeks:
        title = "Weeks and runs"
    groups = []
    for entry, row in zip(standing.entries, rows, strict=True):
        numbers = [
            ("In numbers", _format_numbers(entry, columns)),
            ("Score, 95% interval, questions", _format_parts(entry.row)),
        ]
        runs = [(title, _list_weeks(standing, entry.row.system_name))]
        groups.append([row, TableLine([draw_inside(entry.key, numbers, runs)], "in")])
    unranked = next((group for group in groups if group[0].kind == "prov"), None)
    if unranked is not None:
        unranked.insert(
            0, TableLine([describe_unranked(standing.table) or "Without a rank"])
        )
    return groups


def _draw_search(standing: ShownRanking) -> Html:
    if len(standing.table.rows) < _SEARCHED:
        return Html()
    return draw_bar(standing.name, "systems", first=f"{standing.prefix}.")


def _explain_columns(standing: ShownRanking, heads: Sequence[Head]) -> list[str]:
    """Describe what the marks and the columns of a ranking mean."""
    table = standing.table
    texts = [_describe_marks(standing), "Dotted: the leader."]
    texts += [
        f"{head.title}: {_ABOUT[head.title]}." for head in heads if head.title in _ABOUT
    ]
    if any(table.level_counts):
        weights = ", ".join(f"{weight:g}" for weight in table.weights.values())
        levels = "L1, L2 …: the mean score of a level, from orange (0) to blue (1)"
        texts.append(f"{levels}; weights {weights}.")
    return texts


def _describe_marks(standing: ShownRanking) -> str:
    """Describe what the marks of a ranking mean."""
    text = "Filled: could be first. Lines: 95% intervals."
    if standing.baseline is None:
        return text
    return f"{text} Upright line: the baseline."


def _choose_style(row: RankedRow) -> str | None:
    """Choose the class of a row."""
    if row.about.baseline:
        return "ref"
    if row.rank is None:
        return "prov"
    if row.could_lead:
        return "tie"
    return None


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
    """Make the table that the page and `plot` draw: the columns that have a
    head on pages.
    """
    scale = standing.table.scale
    # What is drawn in another way than it stands in text.
    drawn: dict[str, Callable[[Entry], Cell]] = {
        "rank": lambda entry: _draw_rank(entry.row),
        "name": _draw_name,
        "score": lambda entry: show_score(entry.row.score),
        "interval": partial(_mark, standing.baseline),
    }
    columns = [Column("System", attrgetter("shown"), page="no", key="shown")]
    for column in list_columns(standing.table):
        if not column.head:
            continue
        shown = replace(
            column, title=column.head, cell=drawn.get(column.key, column.cell)
        )
        if column.page == "c":
            shown = replace(shown, cell=partial(_place_level, column, scale))
        if column.key == "interval":
            shown = replace(shown, kind="mark")
        columns.append(shown)
    return make_table(columns, standing.entries)


def _place_level(column: Column, scale: Scale, entry: Entry) -> Heat:
    return place_score(column.cell(entry), scale)


def _mark(baseline: float | None, entry: Entry) -> IntervalCell:
    row = entry.row
    kind = ""
    if row.about.baseline:
        kind = "ref"
    elif row.could_lead:
        kind = "a"
    return IntervalCell(row.score, row.interval, baseline, kind)


def _draw_rank(row: RankedRow) -> Html:
    """Show the rank, and beside it the range of ranks if it is wider."""
    if not row.rank:
        return tag("b", "–")
    rank = tag("b", str(row.rank))
    if not row.rank_interval:
        return rank
    low, high = row.rank_interval
    interval = ""
    if low != high:
        interval = f"{low}–{high}"
    return join(rank, " ", soft(interval))


def _draw_name(entry: Entry) -> Html:
    """Show the name and the organisation of a system, which open the row below."""
    name = [entry.shown]
    organisation = printable(entry.row.about.organisation, 24)
    if organisation:
        name += [" ", soft(organisation)]
    return tag("details", tag("summary", *name), id=entry.key)


# --- A row that is open ---


def _format_numbers(entry: Entry, columns: Sequence[Column]) -> str:
    """Format in one line what text has of a row behind rank and name."""
    texts = [
        (column.title, str(column.show(entry)))
        for column in columns[2:]
        if column.title
    ]
    return " · ".join(
        f"{title} {text}" for title, text in texts if text not in ("", "–", "0")
    )


def _format_parts(row: RankedRow) -> str:
    """Format the scores by the values of a column in one line, with interval
    and questions.
    """
    texts = []
    for value, part in row.by.items():
        interval = show_interval(part["interval"])
        score = show_number(part["score"])
        texts.append(f"{printable(value, 24)} {score} {interval} ({part['n']})")
    return " · ".join(texts)


def _list_weeks(standing: ShownRanking, system: str) -> Html:
    """List a cell for each week, which leads to the page of the first run; further
    runs stand behind.
    """
    weeks = []
    for week, row in standing.weeks_of.get(system, ()):
        first, *more = map(standing.page_of, files_of(week, row))
        # A single run without a page says no more than the row that is open.
        if not (standing.weeks or first or more):
            continue
        parts: list[str] = [draw_score(row.score, standing.table.scale, first)]
        if standing.weeks:
            parts.insert(0, soft(week.label))
        for number, page in enumerate(more, 2):
            parts += [" ", draw_link(str(number), page)]
        weeks.append(tag("span", *parts))
    if not weeks:
        return Html()
    return tag("div", *weeks, class_="wks")


# --- Below the ranking ---


def _draw_body(
    board: Board,
    names: Names,
    standings: Sequence[ShownRanking],
    history: History | None,
    enter: str,
) -> Iterator[Html]:
    """Draw the other rankings, what changed, charts, questions, and what is folded."""
    yield from _draw_open(board, enter)
    for standing in standings[1:]:
        leader = tag("p", describe_leader(standing.table, names), class_="cap")
        name = standing.name.replace("ranking", "r")
        yield draw_section(standing.title, leader, _draw_ranking(standing), name=name)
    shown = [
        table for standing in standings for table in (standing.table, *standing.weeks)
    ]
    alone = [table for table in board.tables if table.is_alone and table not in shown]
    if alone:
        yield draw_section(
            "One system each",
            draw_marks(tabulate_alone(alone), kind="rank"),
            name="alone",
        )
    if history:
        yield _draw_changes(history, names)
    for number, standing in enumerate(standings, 1):
        yield draw_parts(standing, board.by, f"by{number}")
    for standing in standings:
        yield draw_history(standing)
        yield draw_costs(standing)
    for number, standing in enumerate(standings, 1):
        table = standing.newest
        # What a single system answered is on the page of its run.
        if table and (number == 1 or len(table.rows) > 1):
            yield draw_questions(standing, table, f"questions{number}")
    with_weeks = [standing for standing in standings if standing.weeks]
    for number, standing in enumerate(with_weeks, 1):
        yield draw_weeks(standing, f"weeks{number}")
    yield from _draw_remarks(board)
    yield _draw_method(standings)


def _draw_changes(history: History, names: Names) -> Html:
    """Draw the changes as a section of the page."""
    if history.night < 2:
        text = "Nothing has changed since the first night."
        return draw_section(
            "What changed", tag("p", text, class_="cap"), name="changed"
        )
    table, lines = tabulate_changes(history.changes, names)
    parts = [draw_list(summarise_changes(history.changes))]
    if table.rows:
        parts.append(draw_marks(table))
    parts += [tag("p", line, class_="cap") for line in lines]
    return draw_section(
        f"What changed on {printable(history.date, 20)}", *parts, name="changed"
    )


def _draw_open(board: Board, enter: str) -> Iterator[Html]:
    """Draw which datasets can still be answered, and say how."""
    if not board.open:
        return
    how = [ENTER]
    if enter:
        how += [" ", draw_link("How to enter", enter)]
    yield draw_section(
        "Open", draw_marks(tabulate_open(board)), tag("p", *how), name="open"
    )


def _draw_remarks(board: Board) -> Iterator[Html]:
    """Describe what is not ranked, and why."""
    failed = [f"{files}: {reason}" for files, reason in list_failed(board)]
    if failed:
        yield draw_section("Not scored", _draw_remark(failed), note=str(len(failed)))
    remarks = {
        "Runs apart": board.remarks,
        "Without a result": board.without_result,
        "Withdrawn by the owner of the board": list_withdrawn(board),
        "Removed after the questions closed": list_removed(board),
    }
    for title, texts in remarks.items():
        if texts:
            yield draw_fold(title, _draw_remark(texts), note=str(len(texts)))


def _draw_remark(texts: Sequence[str]) -> Html:
    return draw_list([printable(text, 420) for text in texts])


def _draw_method(standings: Sequence[ShownRanking]) -> Html:
    """Describe how to read the marks, and by which rules and versions each
    ranking was made.
    """
    lines = [
        "Dots are scores, lines their 95% intervals. Beside a rank: the 95 % "
        "confidence range of "
        "the true rank (Holm's adjustment over all pairs of systems; of forecasters "
        "over those of "
        "each). Filled and shaded: could be first."
    ]
    for standing in standings:
        table = standing.table
        signature = format_signature(table.signature, table.dataset)
        lines += [f"{standing.title}: {signature}", *season_remarks(table)]
    return draw_fold(
        "How the ranking is made", *(tag("p", line) for line in lines), name="method"
    )


# --- For plot ---


def _list_charts(standings: Sequence[ShownRanking]) -> dict[str, Chart]:
    """List the rankings as charts of intervals, then their histories."""
    charts = [
        Chart(
            standing.name,
            standing.title,
            _describe_marks(standing),
            _tabulate(standing),
        )
        for standing in standings
    ]
    charts += filter(None, map(history_chart, standings))
    charts += filter(None, map(cost_chart, standings))
    return {chart.name: chart for chart in charts}
