"""The page of a leaderboard: as of when, what changed, who is ahead and how surely, the newest
weeks and the older.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, Final

from forecasteval.boards.changes import changes_report, name_changes
from forecasteval.boards.question_rows import (
    SHOWN,
    ReadItems,
    by_difficulty,
    page_keys,
    read_answers,
    show_hardest,
    show_questions,
)
from forecasteval.common.errors import grouped_names, printable
from forecasteval.common.records import hash_text, natural_key
from forecasteval.display import pages
from forecasteval.display.pages import MOST, Block, Page, Section
from forecasteval.display.tables import (
    Cell,
    Column,
    Link,
    Links,
    format_signature,
    make_table,
    show_number,
)
from forecasteval.ranking.board import file_rows
from forecasteval.ranking.changes import Change, History, read_changes, read_moves
from forecasteval.ranking.names import BOARD, system_of_row
from forecasteval.ranking.systems import ALPHA

from .board_charts import Names, draw_costs, draw_histories, draw_nights
from .changes import show_id
from .metadata import name_systems
from .tables import (
    EVERYWHERE,
    INSIDE,
    PAGE,
    describe_waiting,
    failed_table,
    is_tied,
    mark_of,
    show_metric,
    view_table,
)

Row = Mapping[str, Any]
_RANKS: Final = (
    " In brackets: the ranks that no test contradicts, adjusted over all pairs of systems; p (Holm) is adjusted over "
    "pairs with the leader only, and may be small where the ranks reach 1."
)
_LEADERS: Final = 6  # tables whose leaders stand at the top


def page_key(board: Row, linked: Collection[str], history: History | None) -> str:
    """The data of a board's page."""
    nights = history.raw if history else b""
    return hash_text(
        repr((board["leaderboard"], board.get("inputs_sha256"), sorted(linked), nights))
    )


def make_page(
    board: Row,
    linked: Collection[str] = (),
    history: History | None = None,
    read_items: ReadItems | None = None,
    read_prompts: Callable[[Row], Mapping[str, str]] = lambda table: {},
) -> Page:
    """The page of a board.

    `linked` are the names of the runs that have a page beside it. Without `history` nothing is said
    of changes, and without `read_items` (the items of a stored result by its name) questions have
    numbers only. `read_prompts` gives the whole prompts of a table's questions by id; the items
    have their first lines.
    """
    tables, pooled = board["tables"], board.get("pooled", [])
    names, older = (
        name_systems(board),
        [week for season in pooled for week in _weeks(tables, season)[1:]],
    )
    recent = [(place, table) for place, table in enumerate(tables, 1) if table not in older]
    seasons = {season["benchmark"] for season in pooled}
    leaders = [*pooled, *(table for _, table in recent if table["benchmark"] not in seasons)]
    sections = (
        [
            Section(
                "What changed",
                _changes(history, names, partial(_link_question, tables, recent, linked)),
            )
        ]
        if history
        else []
    )
    for place, table in enumerate(pooled, 1):
        sections.append(_standings(table, f"pooled{place}", names, linked, _weeks(tables, table)))
    sections += [Section("Cost", [chart]) for chart in draw_costs(leaders, names)]
    for place, table in recent:
        sections.append(_standings(table, f"table{place}", names, linked, ()))
        if table.get("questions"):
            read = read_answers(table, names, linked, read_items) if read_items else []
            questions = show_questions(table, f"questions{place}", read, read_prompts(table))
            sections.append(Section(f"Questions of {_show_dataset(table)}", [questions]))
    histories = [
        chart
        for place, table in recent
        if history
        for chart in draw_nights(history, table, f"nights{place}", names)
    ]
    histories += draw_histories(tables, pooled, names)
    sections += [Section("History", histories)] if histories else []
    sections += [Section("Runs apart", board["remarks"])] if board.get("remarks") else []
    if board.get("waiting"):
        sections.append(Section("Waiting for truths", describe_waiting(board)))
    sections += [Section("Not scored", [failed_table(board)])] if board.get("failed") else []
    if older:
        sections.append(
            Section(
                "Older weeks", [f"{len(older)} older weeks, the newest first; a heading opens."]
            )
        )
    sections += [_older(table, names) for table in older]
    settings = board["leaderboard"]
    signature = (
        f"signature: leaderboard {settings['version']} min_questions:{settings['min_questions']}"
    )
    lead = "Systems on the same questions, best first. A row opens to its weeks and runs."
    figures = _figures(board, leaders, history, names)
    return Page("Leaderboard", lead, figures, sections, signature, page_key(board, linked, history))


def _weeks(tables: Sequence[Row], season: Row) -> list[Row]:
    """The tables of the datasets that a table over all datasets has, the newest first."""
    checksums = {dataset.get("questions_sha256") for dataset in season["datasets"]}
    weeks = [
        table
        for table in tables
        if table["benchmark"] == season["benchmark"]
        and table["signature"].get("questions_sha256") in checksums
    ]
    return sorted(weeks, key=lambda table: natural_key(str(table["dataset"])), reverse=True)


# --- The top ---


def _figures(
    board: Row, leading: Sequence[Row], history: History | None, names: Names
) -> list[tuple[str, str, str]]:
    """The leader, the date, and the number of files."""
    tables, failed = board["tables"], board.get("failed", [])
    figures = [
        (f"Leads {table['benchmark']}, {_show_dataset(table)}", *_leader(table, names))
        for table in leading
        if sum(bool(row["rank"]) for row in table["rows"]) > 1
    ][:_LEADERS]
    if history and history.latest:
        date = max(str(line.get("date", "")) for _, line in history.latest.values())
        figures.append(
            (
                "As of",
                printable(date, 20),
                f"night {history.night}, the last that changed something",
            )
        )
    systems = {system_of_row(table, row) for table in tables for row in table["rows"]}
    datasets = {(table["benchmark"], table["dataset"]) for table in tables}
    files, left_out = (
        sum(1 for _ in file_rows(board)),
        f"{len(failed)} more could not be scored" if failed else "",
    )
    figures += [("Systems", str(len(systems)), ""), ("Datasets", str(len(datasets)), "")]
    return [*figures, ("Files", str(files), left_out)]


def _leader(table: Row, names: Names) -> tuple[str, str]:
    """The first system of a table, and the systems that do not differ significantly from it."""
    first, *others = [row for row in table["rows"] if not row.get("provisional")]
    tied = [names[system_of_row(table, row)] for row in others if is_tied(row)]
    remark = show_number(mark_of(first)[0])
    if tied:
        remark += f"; not significantly different: {grouped_names(tied)}"
    elif others and all(is_tied(row) is not None for row in others):
        remark += "; every difference to it is significant"
    return names[system_of_row(table, first)], remark


def _changes(history: History, names: Names, show: Callable[[Change, str], Cell]) -> list[Block]:
    """The changes of the latest night; `show` makes the cell of the id of a corrected question."""
    if history.night < 2:
        return ["This is the first night: there is nothing to compare it with."]
    changes, moves = (
        name_changes([{**change, "dataset": _show_dataset(change)} for change in read], names)
        for read in (read_changes(history), read_moves(history))
    )
    return [block for block in changes_report(changes, show, moves) if block]


def _link_question(
    tables: Sequence[Row],
    recent: Collection[tuple[int, Row]],
    linked: Collection[str],
    change: Change,
    name: str,
) -> Cell:
    """A corrected question as a link to its row, where the page has its dataset, else to the page
    of a run, if any.
    """
    for place, table in enumerate(tables, 1):
        if (table["benchmark"], _show_dataset(table)) != (change["benchmark"], change["dataset"]):
            continue
        ids = [question["id"] for question in by_difficulty(table)]
        named = [at for at, each in enumerate(ids) if show_id(each) == name]
        if len(named) == 1 and named[0] < SHOWN and (place, table) in recent:
            return Link(name, "", pages.make_keys(ids[:SHOWN], f"q{place}")[named[0]])
        runs = (run["name"] for row in table["rows"] for run in row.get("runs", (row,)))
        run = next((run for run in runs if run in linked), None)
        if len(named) == 1 and run and (key := page_keys(ids)[named[0]]):
            return Link(name, f"{run}.html", key)
    return name


def _show_dataset(table: Row) -> str:
    """The dataset of a table without its suffix, or how many it has."""
    if "datasets" in table:
        return f"{len(table['datasets'])} datasets"
    dataset = printable(table["dataset"] or table.get("name") or "one file", 60)
    return dataset.removesuffix(".json").removesuffix(".jsonl").removesuffix(".csv")


# --- Tables whose rows open ---


def _standings(
    table: Row, name: str, names: Names, linked: Collection[str], weeks: Sequence[Row]
) -> Section:
    """A table, each of its rows open to what else is known of it; `weeks` are the tables that it is
    made of.
    """
    systems = [system_of_row(table, row) for row in table["rows"]]
    view = view_table(table, [names[system] for system in systems])
    parts: dict[str, list[Row]] = {}
    for week in weeks:
        for part in week["rows"]:
            parts.setdefault(system_of_row(week, part), []).append(
                {**part, "week": week, "linked": linked}
            )
    rows = [
        {**row, "linked": linked, "parts": parts.get(system)}
        for row, system in zip(view.rows[:MOST], systems, strict=False)
    ]
    inside = [
        column for place, column in view.columns if place == INSIDE or column.kind == "filter"
    ]
    columns = [
        *(
            column
            for place, column in view.columns
            if place in (EVERYWHERE, PAGE) and _has_values(column, rows)
        ),
        Column(
            "Weeks", lambda row: make_table(_WEEKS, row["parts"]) if row["parts"] else "", "inside"
        ),
        Column("Pages", lambda row: "" if row["parts"] else _link_runs(row), "inside"),
        Column("More", partial(pages.show_facts, inside), "inside"),
    ]
    lower = f" {show_metric(table)}: lower is better." if table["kind"] == "forecasters" else ""
    ranks = _RANKS if table["kind"] == "pooled" else ""
    note = f"{_describe_marks(table['rows'])}{lower}{ranks} A row opens. Filters hide rows; ranks and tests cover all."
    if len(table["rows"]) > MOST:
        note += f" The first {MOST} of {len(table['rows'])}; all of them are in {BOARD}.csv."
    blocks: list[Block] = [
        pages.make_records(name, view.title, columns, rows, systems[:MOST], note, prefix=name)
    ]
    if table.get("name") in linked:
        link = Column(
            "Page of the run",
            lambda row: Link(names.get(row["name"], row["name"]), f"{row['name']}.html"),
        )
        blocks.append(make_table([link], [table]))
    return Section(view.title, [*blocks, *view.remarks, format_signature(table["signature"])])


def _has_values(column: Column, rows: Sequence[Row]) -> bool:
    return any(str(column.cell(row)) not in ("", "–") for row in rows)


def _link_runs(row: Row) -> Links | str:
    """The pages of a row's runs, and the score of each if there are several."""
    if "runs" not in row:
        return Links([Link("page", f"{row['name']}.html")]) if row["name"] in row["linked"] else ""
    links = []
    for run in row["runs"]:
        text = f"{printable(run['run'] or '1', 20)}: {show_number(run['score'], 3)}"
        links.append(Link(text, f"{run['name']}.html" if run["name"] in row["linked"] else ""))
    return Links(links)


_WEEKS: Final = (
    Column("Dataset", lambda row: _show_dataset(row["week"])),
    Column("Rank", lambda row: str(row["rank"] or "–"), "number"),
    Column("Score", lambda row: show_number(row["overall_score"]), "number"),
    Column("Missing", lambda row: str(row["missing"]), "number"),
    Column("Unparsed", lambda row: str(row["unparsed"]), "number"),
    Column("Runs", _link_runs),
)


def _describe_marks(rows: Sequence[Row]) -> str:
    """An explanation of the dots and lines of a table."""
    tied = [is_tied(row) for row in rows if not row.get("provisional")]
    meaning = "Dots are scores, lines their 95% intervals."
    if not tied:
        return meaning
    if None in tied:
        return (
            f"{meaning} Intervals of forecasters of the same events hang together: they may overlap where a difference "
            "is sure."
        )
    by_test = any("p_leader" in row for row in rows)
    test = (
        f"difference to it is not significant (p ≥ {ALPHA}, Holm)"
        if by_test
        else "rank interval includes 1"
    )
    count = f"{sum(map(bool, tied)) - 1} of {len(tied) - 1}"
    return f"{meaning} Full dots: the leader, and the systems whose {test}: {count}. Rings: the systems behind it."


def _older(table: Row, names: Names) -> Section:
    """A folded table without marks and links, with the hardest questions."""
    view = view_table(table, [names[system_of_row(table, row)] for row in table["rows"]])
    columns = [
        column
        for place, column in view.columns
        if place != PAGE and column.title.startswith(_OLDER_COLUMNS)
    ]
    blocks: list[Block] = [make_table(columns, view.rows[:MOST])]
    return Section(
        view.title,
        [*blocks, *show_hardest(table), format_signature(table["signature"])],
        folded=True,
    )


_OLDER_COLUMNS: Final = ("Rank", "System", "Overall", "95% interval", "Level ")
