"""The page of a leaderboard: as of when, what changed, who is ahead and how surely, the newest weeks and the older."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from forecasteval.common.errors import grouped_names, printable
from forecasteval.common.pages import MOST, Block, Page, Section
from forecasteval.common.report import Link, format_signature, plain_table, show_interval, show_number

from .changes import changes_report, read_changes
from .history import History
from .history_chart import draw_histories
from .names import system_of_row
from .question_rows import ReadItems, show_hardest, show_questions
from .report import view_table
from .standings import (
    Names,
    draw_costs,
    is_tied,
    list_standings,
    mark_value,
    name_systems,
    shown_dataset,
)
from .store import BOARD, hash_text, read_stored
from .systems import file_rows

Row = Mapping[str, Any]
_CLEAR: Final = "No other system can be confused with it: every difference to it is significant."


def write_board(board: Mapping[str, Any], folder: Path, history: History | None = None) -> None:
    """Write `folder/leaderboard.html` unless it shows just that already; it links the pages that are there."""
    from .page import is_current, write_page

    checksums = {row["name"]: row["file_sha256"] for row in file_rows(board)}
    linked = {name for name, checksum in checksums.items() if is_current(folder / f"{name}.html", checksum)}

    def read_items(name: str) -> Sequence[Row]:
        stored, checksum = read_stored(folder / f"{name}.json")
        items: Sequence[Row] = stored["items"] if checksum == checksums[name] else ()
        return items

    path = folder / f"{BOARD}.html"
    if not is_current(path, _key(board, linked, history)):
        write_page(make_page(board, linked, history, read_items), path)


def _key(board: Mapping[str, Any], linked: Collection[str], history: History | None) -> str:
    """What a page of a board depends on."""
    nights = history.raw if history else b""
    return hash_text(repr((board["leaderboard"], board.get("inputs_sha256"), sorted(linked), nights)))


def make_page(
    board: Mapping[str, Any],
    linked: Collection[str] = (),
    history: History | None = None,
    read_items: ReadItems | None = None,
) -> Page:
    """The page of a board.

    `linked` are the names of the runs that have a page beside it. Without `history` nothing is said of changes, and
    without `read_items` (the items of a stored result by its name) questions have numbers only.
    """
    tables, pooled = board["tables"], board.get("pooled", [])
    names, number = name_systems(board), {id(table): place for place, table in enumerate(tables, 1)}
    older = _older_weeks(tables, pooled)
    recent = [table for table in tables if table not in older]
    sections: list[Section] = []
    if history:
        sections.append(Section("What changed", _changes(history, names)))
    for place, table in enumerate(pooled, 1):
        sections.append(_standings(table, f"pooled{place}", names, linked, tables))
    sections += [Section("Cost", [chart]) for chart in draw_costs(pooled or recent, names)]
    for table in recent:
        sections.append(_standings(table, f"table{number[id(table)]}", names, linked, ()))
        questions = show_questions(table, f"questions{number[id(table)]}", names, read_items)
        if questions:
            sections.append(Section(f"Questions of {shown_dataset(table)}", [questions]))
    histories = draw_histories(tables, pooled, names)
    sections += [Section("History", histories)] if histories else []
    sections += _left_out(board)
    if older:
        sections.append(Section("Older weeks", [f"{len(older)} older weeks, the newest first; a heading opens."]))
    sections += [_older(table, names) for table in older]
    settings = board["leaderboard"]
    signature = f"signature: leaderboard {settings['version']} min_questions:{settings['min_questions']}"
    lead = "Systems on the same questions, best first. A row opens to its weeks and runs."
    return Page(
        "Leaderboard", lead, _figures(board, recent, history, names), sections, signature,
        _key(board, linked, history),
    )  # fmt: skip


# --- The top ---


def _figures(
    board: Mapping[str, Any], recent: Sequence[Row], history: History | None, names: Names
) -> list[tuple[str, str, str]]:
    """Who leads, as of when, of how many files."""
    tables, pooled, failed = board["tables"], board.get("pooled", []), board.get("failed", [])
    figures = [
        (f"Leads {printable(table['benchmark'], 40)}", *_leader(table, names))
        for table in (pooled or recent[:1])
        if table["rows"] and table["rows"][0]["rank"]
    ]
    if history and history.latest:
        dates = [str(line.get("date", "")) for _, line in history.latest.values()]
        figures.append(("As of", printable(max(dates), 20), f"night {history.night}, the last that changed something"))
    files = sum(1 for _ in file_rows(board))
    systems = {system_of_row(table, row) for table in tables for row in table["rows"]}
    figures.append(("Systems", str(len(systems)), ""))
    figures.append(("Datasets", str(len({(table["benchmark"], table["dataset"]) for table in tables})), ""))
    figures.append(("Files", str(files), f"{len(failed)} more could not be scored" if failed else ""))
    return figures


def _leader(table: Row, names: Names) -> tuple[str, str]:
    """The first of a table, and which systems cannot be told from it."""
    first, *others = [row for row in table["rows"] if not row.get("provisional")]
    tied = [names.get(system_of_row(table, row), row["name"]) for row in others if is_tied(row)]
    told = _CLEAR if others and not any(is_tied(row) is None for row in others) else ""
    if tied:
        told = f"not told apart from it: {grouped_names(tied)}"
    return names.get(system_of_row(table, first), first["name"]), f"{show_number(mark_value(first))}; {told}".rstrip(
        "; "
    )


def _changes(history: History, names: Names) -> list[Block]:
    """What the latest night changed."""
    if history.night < 2:
        return ["This is the first night: there is nothing to compare it with."]
    changes = [
        {**change, "system": names.get(change["system"], change["system"]), "dataset": shown_dataset(change)}
        for change in read_changes(history)
    ]
    return [block for block in changes_report(changes)[1:] if block]


def _left_out(board: Mapping[str, Any]) -> list[Section]:
    """What is in no table."""
    sections: list[Section] = []
    if board.get("remarks"):
        sections.append(Section("Runs apart", [*board["remarks"]]))
    if board.get("failed"):
        rows = [[printable(entry["file"], 120), printable(entry["reason"], 300)] for entry in board["failed"]]
        sections.append(Section("Not scored", [plain_table(["File", "Reason"], rows, "<<")]))
    return sections


# --- Tables ---


def _older_weeks(tables: Sequence[Row], pooled: Sequence[Row]) -> list[Row]:
    """The tables of datasets that a table over all datasets has, the newest first, without the newest of each."""
    older: list[Row] = []
    for season in pooled:
        checksums = {dataset.get("questions_sha256") for dataset in season["datasets"]}
        weeks = [
            table
            for table in tables
            if table["benchmark"] == season["benchmark"] and table["signature"].get("questions_sha256") in checksums
        ]
        older += sorted(weeks, key=lambda table: str(table["dataset"]), reverse=True)[1:]
    return older


def _standings(table: Row, name: str, names: Names, linked: Collection[str], weeks: Sequence[Row]) -> Section:
    """A table whose rows open."""
    view = view_table(table)
    blocks: list[Block] = [list_standings(table, name, view.title, names, linked, weeks)]
    if table.get("name") in linked:
        page: Any = Link(names.get(table["name"], table["name"]), f"{table['name']}.html")
        blocks.append(plain_table(["Page of the run"], [[page]], "<"))
    return Section(view.title, [*blocks, *view.remarks, format_signature(table["signature"])])


def _older(table: Row, names: Names) -> Section:
    """A folded table without marks and links, with the hardest questions."""
    levels = [level for level in table["level_counts"] if level]
    header = ["Rank", "System", "Overall", "95% interval", *(f"Level {level}" for level in levels)]
    rows = [
        [str(row["rank"] or "–"), names[system_of_row(table, row)], show_number(row["overall_score"]),
         show_interval(row["overall_interval"]), *(show_number(row["level_scores"][level]) for level in levels)]
        for row in table["rows"][:MOST]
    ]  # fmt: skip
    shown = plain_table(header, rows, "><" + ">" * (len(header) - 2))
    blocks: list[Block] = [shown, *show_hardest(table), format_signature(table["signature"])]
    return Section(view_table(table).title, blocks, folded=True)
