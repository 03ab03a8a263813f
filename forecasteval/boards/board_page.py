"""The page of a leaderboard: who leads, a ranking that is its own chart, what changed, and why.

A ranking is over all weeks of a benchmark or, where it has no other weeks, of one dataset. Its rows
open to the weeks and the runs of a system and to the questions that cost it most.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from operator import itemgetter
from typing import Final

from forecasteval.common.errors import printable
from forecasteval.common.records import number_text
from forecasteval.display.charts import Chart
from forecasteval.display.html import (
    Head,
    Html,
    Line,
    Page,
    draw_fold,
    draw_section,
    draw_table,
    join,
    show_score,
    show_signed,
    soft,
    tag,
)
from forecasteval.display.marks import axis_head, draw_interval, interval_axis
from forecasteval.display.pages import make_keys
from forecasteval.display.rows import draw_bar, draw_inside, draw_more
from forecasteval.display.tables import Column, Interval, Link, format_signature, make_table
from forecasteval.ranking.names import BOARD
from forecasteval.ranking.systems import ALPHA

from .board_charts import draw_history, draw_weeks, history_chart, show_cell
from .changes import History, dataset_of, draw_changes
from .metadata import name_systems
from .question_rows import draw_questions
from .standings import (
    Loss,
    Name,
    ReadItems,
    Reads,
    Standing,
    count_resolved,
    find_weeks,
    runs_of,
    say_leader,
    say_resolved,
    show_week,
    unit_scale,
)
from .tables import (
    TIE,
    describe_waiting,
    is_tied,
    list_failed,
    mark_of,
    say_waiting,
    season_remarks,
    show_metric,
    view_table,
)
from .tables import Row as BoardRow

_SEARCHED: Final = 8  # systems from which on they can be searched


def make_page(
    board: BoardRow,
    linked: Collection[str] = (),
    history: History | None = None,
    read_items: ReadItems | None = None,
) -> Page:
    """The page of a board.

    `linked` are the names of the runs that have a page beside it. Without `history` nothing is said
    of changes, and without `read_items` (the items of a stored result by its name) questions have
    numbers only.
    """
    reads = Reads(name_systems(board), linked, history, read_items)
    standings = list(_find_standings(board, reads))
    benchmarks = {standing.table["benchmark"] for standing in standings}
    title = f"{benchmarks.pop()} leaderboard" if len(benchmarks) == 1 else "Leaderboard"
    parts = {
        "changed": "What changed" * bool(history),
        "of-questions1": "Questions" * any(one.newest.get("questions") for one in standings[:1]),
        "weeks1": "Weeks" * any(standing.weeks for standing in standings),
    }
    settings = board["leaderboard"]
    return Page(
        title,
        _show_facts(board, standings, history),
        lambda: _draw_ranking(standings[0]) if standings else tag("p", "Nothing is ranked yet."),
        lambda: _draw_body(board, reads, standings),
        lambda: _list_charts(standings),
        join(*(_say(one, one.title * (len(standings) > 1)) for one in standings[:1])),
        [Link(text, "", anchor) for anchor, text in parts.items() if text]
        + [Link("CSV", f"{BOARD}.csv")] * bool(history),
        f"signature: leaderboard {settings['version']} min_questions:{settings['min_questions']}",
    )


def _find_standings(board: BoardRow, reads: Reads) -> Iterator[Standing]:
    """The rankings over all weeks, then the datasets that none of these has."""
    found = [(season, find_weeks(board["tables"], season)) for season in board.get("pooled", ())]
    seen = [id(week) for _, weeks in found for week in weeks]
    found += [(table, []) for table in board["tables"] if id(table) not in seen]
    for place, (table, weeks) in enumerate(found, 1):
        yield Standing(f"ranking{place}", table, weeks, dataset_of(board, table), reads)


# --- The top ---


def _say(standing: Standing, title: str = "") -> Html:
    said = say_leader(standing.table, standing.names)
    parts = [tag("b", part) if isinstance(part, Name) else part for part in said]
    return join(f"{title}: " if title else "", *parts)


def _show_facts(board: BoardRow, standings: Sequence[Standing], history: History | None) -> Html:
    """What the first ranking has, how many are below it, as of when, and what waits for truths."""
    facts = []
    for first in standings[:1]:
        facts = [
            _count(len(first.systems), "system"),
            _count(len(first.weeks), "week"),
            _count(sum(first.table.get("level_counts", {}).values()), "question"),
            _count(len(standings) - 1, "more ranking", " below"),
        ]
    facts.append(f"as of {printable(history.date, 20)}" if history and history.lines else "")
    facts.append(_count(len(board.get("failed", ())), "file", " could not be scored"))
    parts: list[str] = [" · ".join(filter(None, facts))]
    for table in board["tables"]:
        if table.get("pending"):
            done = count_resolved(table)
            share = f"{100 * done / (done + table['pending']):.0f}%"
            bar = tag("rect", class_="pf", width=share, height=6)
            drawn = tag("svg", bar, class_="prog", aria_hidden="true")
            text = f"{show_week(table)}: {say_resolved(table)} "
            parts += ["   ", tag("span", text, drawn, class_="pend")]
    for dataset in board.get("waiting", {}):
        waits = f"{show_week({'dataset': dataset})}: {say_waiting(board, dataset)}"
        parts += ["   ", tag("span", waits, class_="pend")]
    return join(*parts)


def _count(number: int, what: str, more: str = "") -> str:
    return f"{number} {what}{'s' * (number > 1)}{more}" if number else ""


# --- The ranking ---


def _draw_ranking(standing: Standing) -> Html:
    """The rows, the ranked ones first; of the others the first says why they have no rank. Each
    opens the row below it.
    """
    table, prefix = standing.table, standing.name.replace("ranking", "s")
    keys = make_keys((system for system, _ in standing.systems), prefix)
    columns = [column for column in _list_columns(standing, keys) if any(column[1])]
    rows = zip(*(cells for _, cells in columns), strict=True)
    view, lines = view_table(table).table, list[Line]()
    for key, (system, row), cells, texts in zip(
        keys, standing.systems, rows, view.rows, strict=True
    ):
        if row["rank"] is None and not any(line.kind == "prov" for line in lines):
            lines.append(Line([_say_unranked(table)]))
        kind = "prov" if row["rank"] is None else "tie" if is_tied(row) else None
        lines.append(Line(cells, kind))
        facts = [
            (title, str(text).removeprefix(TIE).lstrip(", "))  # which the shading says
            for title, text in [*zip(view.header, texts, strict=True)][2:]  # after rank and name
            if text not in ("–", "0")
        ]
        lines.append(Line([_draw_opened(standing, key, system, facts)], "in"))
    drawn = draw_table([head for head, _ in columns], lines, "rank", name=standing.name)
    count = len(standing.systems)
    search = draw_bar(standing.name, "systems", first=f"{prefix}.") if count >= _SEARCHED else ""
    return join(search, drawn, draw_more(count))


def _say_unranked(table: BoardRow) -> str:
    least = table["signature"].get("min_datasets")
    if least:
        return f"Without a rank: fewer than {least} of {len(table['datasets'])} weeks"
    return "Without a rank: too few events" if table["kind"] == "forecasters" else "Without a rank"


_Column = tuple[Head, Sequence[str]]


def _list_columns(standing: Standing, keys: Sequence[str]) -> Iterator[_Column]:
    """Rank, name, score, chart; then levels, what is missing, weeks or events, cost, the last
    night.
    """
    table, rows = standing.table, [row for _, row in standing.systems]
    unit, is_forecaster = unit_scale(table), table["kind"] == "forecasters"
    gap = Head("", "g"), [" "] * len(rows)
    yield Head("Rank", "rk"), list(map(_show_rank, rows))
    names = [standing.names[system] for system, _ in standing.systems]
    yield Head("System"), list(map(_show_name, keys, names, rows))
    scores = [show_score(mark_of(row)[0]) for row in rows]
    yield Head(show_metric(table) if is_forecaster else "Score", "n sc"), scores
    yield gap
    yield _draw_chart(rows, names)
    yield gap
    for level in filter(None, table.get("level_counts", ())):
        about = f"Level {level}, weight {table['weights'].get(level, 0):g}"
        scores = [show_cell(row["level_scores"].get(level), unit) for row in rows]
        yield Head(f"L{level}", "c", about), scores
    about = "answers that are missing + could not be read + are padded lists"
    yield Head("No answer", "n k", about), list(map(_show_unread, rows))
    title, counted = ("Events", "n") if is_forecaster else ("Weeks", "datasets")
    yield Head(title, "n k"), [str(row.get(counted, "")) for row in rows]
    yield Head("Cost", "n k", "per question"), _show_costs(rows)
    moves = [_show_move(standing, system, row) for system, row in standing.systems]
    yield Head("Last night", "n vs"), moves


def _draw_chart(rows: Sequence[BoardRow], names: Sequence[str]) -> _Column:
    """Scores with their intervals on the axis of the ranked systems; a provisional one may leave
    it. The leader's line crosses all rows.
    """
    ranked = [row for row in rows if row["rank"] is not None]
    axis = interval_axis([Interval(*mark_of(row)) for row in ranked or rows])
    leader = mark_of(ranked[0])[0] if ranked else None
    marks = [
        draw_interval(
            axis,
            Interval(*mark_of(row)),
            name,
            "a" if row["rank"] is not None and is_tied(row) else "",
            leader,
        )
        for name, row in zip(names, rows, strict=True)
    ]
    return axis_head(axis)._replace(about="score and 95% interval"), marks


def _show_rank(row: BoardRow) -> Html:
    low, high = row.get("rank_interval") or (None, None)
    between = [" ", soft(f"{low}–{high}" if low != high else "")] if row["rank"] and low else []
    return join(tag("b", str(row["rank"] or "–")), *between)


def _show_name(key: str, name: str, row: BoardRow) -> Html:
    """The name and the organisation of a system, which open the row below."""
    organisation = printable(row.get("about", {}).get("organisation", ""), 24)
    of = [" ", soft(organisation)] if organisation else []
    return tag("details", tag("summary", name, *of), id=key)


def _show_unread(row: BoardRow) -> str:
    counts = [row.get(key, 0) for key in ("missing", "unparsed", "padded")]
    while counts and not counts[-1]:
        counts.pop()
    return " + ".join(map(str, counts))


def _show_costs(rows: Sequence[BoardRow]) -> list[str]:
    """Costs with as many decimals as the longest has, up to four."""
    costs = [row.get("about", {}).get("cost") for row in rows]
    texts = list(map(number_text, costs))
    digits = max((len(text.partition(".")[2]) for text in texts if "e" not in text), default=0)
    return ["" if cost is None else printable(f"{cost:,.{min(digits, 4)}f}", 12) for cost in costs]


def _show_move(standing: Standing, system: str, row: BoardRow) -> str:
    """How the rank and the score of a system moved in the last night."""
    if system not in standing.moves:
        return ""
    before, parts = standing.moves[system], list[Html]()
    if before.score is None:
        return tag("span", "new", class_="new")
    if up := (before.rank or 0) - row["rank"] if before.rank and row["rank"] else 0:
        arrow, style = ("▲", "up") if up > 0 else ("▼", "dn")
        parts += [tag("span", f"{arrow}{abs(up)}", class_=style), Html(" ")]
    moved = show_signed((mark_of(row)[0] or 0.0) - before.score)
    return join(*parts, moved if moved != "0.000" else "")


# --- A row that is open ---


def _draw_opened(
    standing: Standing, key: str, system: str, facts: Sequence[tuple[str, str]]
) -> Html:
    """The numbers of a system, its weeks with their runs, and the questions that cost it most."""
    of, over = ("Weeks and runs", " over all weeks") if standing.weeks else ("Runs", "")
    title = f"Costliest questions{over}: score, mean of all systems, question, truth"
    losses = standing.losses.get(system, ())
    texts = [(of, _list_weeks(standing, system)), (title, _draw_losses(standing, losses))]
    return draw_inside(key, facts, texts)


def _list_weeks(standing: Standing, system: str) -> Html:
    """A cell for each week, which leads to the page of the first run; further runs stand behind."""
    parts = []
    for week, row in standing.rows_of(system):
        first, *more = map(standing.page_of, runs_of(week, row))
        # A single run without a page says no more than the row that is open.
        if standing.weeks or first or more:
            label = [soft(show_week(week))] if standing.weeks else []
            others = [
                join(" ", tag("a", str(place), href=page) if page else str(place))
                for place, page in enumerate(more, 2)
            ]
            cell = show_cell(mark_of(row)[0], unit_scale(week), first)
            parts.append(tag("span", *label, cell, *others))
    return tag("div", *parts, class_="wks") if parts else Html()


def _draw_losses(standing: Standing, losses: Sequence[Loss]) -> Html:
    """A row for each question: score, mean of all, question and truth."""
    unit, lines = unit_scale(standing.table), []
    for loss in losses:
        text = printable(str(loss.item.get("prompt") or loss.item["id"]), 90)
        level = f" L{loss.item['level']}" if loss.item.get("level") else ""
        where = soft(f"{show_week(loss.week)}{level}")
        name = join(standing.link(loss.run, text, loss.key), " ", where)
        truth = soft(printable(str(loss.item.get("truth", "")), 40))
        lines.append(Line([show_cell(loss.score, unit), show_cell(loss.others, unit), name, truth]))
    heads = [Head("", "c"), Head("", "c"), Head(""), Head("", "k")]
    return draw_table(heads, lines, "few") if lines else Html()


# --- Below the ranking ---


def _draw_body(board: BoardRow, reads: Reads, standings: Sequence[Standing]) -> Iterator[Html]:
    """The other rankings, what changed, charts, questions, and what is folded."""
    for standing in standings[1:]:
        said, name = tag("p", _say(standing), class_="cap"), standing.name.replace("ranking", "r")
        yield draw_section(standing.title, said, _draw_ranking(standing), name=name)
    if reads.history:
        yield draw_changes(reads.history, reads.names)
    for standing in standings:
        yield draw_history(standing)
    for place, standing in enumerate(standings, 1):
        table = standing.newest
        # What a single system answered is on the page of its run.
        if table.get("questions") and (place == 1 or len(table["rows"]) > 1):
            yield draw_questions(standing, f"questions{place}")
    for place, standing in enumerate((each for each in standings if each.weeks), 1):
        yield draw_weeks(standing, f"weeks{place}")
    yield from _draw_remarks(board)
    yield _draw_method(standings)


def _draw_remarks(board: BoardRow) -> Iterator[Html]:
    """What is not ranked, and why."""
    if board.get("failed"):
        heads = [Head("File"), Head("Reason", "w")]
        failed = list_failed(board)
        lines = [Line([printable(file, 120), printable(why, 300)]) for file, why in failed]
        yield draw_section("Not scored", draw_table(heads, lines), name="failed")
    for title, texts in (
        ("Waiting for truths", describe_waiting(board)),
        ("Runs apart", board.get("remarks", ())),
        ("Without a result", board.get("without_result", ())),
    ):
        if texts:
            shown = [tag("li", printable(text, 300)) for text in texts]
            yield draw_fold(title, tag("ul", *shown, class_="plain"), note=str(len(texts)))


def _draw_method(standings: Sequence[Standing]) -> Html:
    """How to read the marks, and by which rules and versions each ranking was made."""
    lines = [
        "Dots are scores, lines their 95% intervals. Filled and shaded: the leader, and systems "
        f"whose difference to it is not significant (p ≥ {ALPHA} with Holm's adjustment over the "
        "comparisons with the leader; of forecasters whose rank interval includes 1). Beside a "
        "rank: the ranks that no test contradicts, adjusted over all pairs of systems."
    ]
    for standing in standings:
        table = standing.table
        signature = format_signature(table["signature"], table.get("dataset"))
        lines.append(f"{standing.title}: {signature}")
        if table["kind"] == "pooled":
            lines += season_remarks(table)
    return draw_fold("How the ranking is made", *(tag("p", line) for line in lines), name="method")


# --- For plot ---


def _list_charts(standings: Sequence[Standing]) -> dict[str, Chart]:
    """The rankings as charts of intervals, then their histories."""
    columns = [Column("System", itemgetter(0)), Column("Score", itemgetter(1), "mark")]
    charts = []
    for standing in standings:
        rows = [
            (standing.names[system], Interval(*mark_of(row), None, int(is_tied(row) is False)))
            for system, row in standing.systems
        ]
        charts.append(Chart(standing.name, standing.title, "", make_table(columns, rows)))
    charts += filter(None, map(history_chart, standings))
    return {chart.name: chart for chart in charts}
