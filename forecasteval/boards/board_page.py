"""The page of a leaderboard: who is ahead and how surely, the history over datasets, what could not be scored."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from forecasteval.common.charts import Axis, Chart, Interval, Line, Panel, insert_column, number_axis
from forecasteval.common.errors import printable
from forecasteval.common.pages import MOST, Block, Cell, Column, Link, Page, Record, Records, Section
from forecasteval.common.report import Table, format_signature, show_number

from .names import split_name, system_of_row
from .report import EXPLAINED, View, view_table
from .store import BOARD, hash_text
from .systems import ALPHA, file_rows

_LINES: Final = 8  # systems whose history is drawn in colour
_NOT_POLICY: Final = ("questions_sha256", "data_sha256", "dataset_sha256", "prediction_sha256")


def write_board(board: Mapping[str, Any], folder: Path) -> None:
    """Write `folder/leaderboard.html` unless it shows just that already; it links the pages that are there."""
    from .page import is_current, write_page

    linked = {row["name"] for row in file_rows(board) if is_current(folder / f"{row['name']}.html", row["file_sha256"])}
    path = folder / f"{BOARD}.html"
    if not is_current(path, _key(board, linked)):
        write_page(make_page(board, linked), path)


def _key(board: Mapping[str, Any], linked: Collection[str]) -> str:
    """What a page of a board depends on."""
    return hash_text(repr((board["leaderboard"], board.get("inputs_sha256"), sorted(linked))))


def make_page(board: Mapping[str, Any], linked: Collection[str] = ()) -> Page:
    """The page of a board; `linked` are the names of the runs that have a page beside it."""
    tables, failed = board["tables"], board.get("failed", [])
    sections = [Section(*_section(table, f"table{number}", linked)) for number, table in enumerate(tables, 1)]
    histories = list(_histories(tables))
    if histories:
        sections.insert(0, Section("History", histories))
    pooled = [
        Section(*_section(table, f"pooled{number}", ())) for number, table in enumerate(board.get("pooled", ()), 1)
    ]
    sections = pooled + sections
    if board.get("remarks"):
        sections.append(Section("Runs apart", [*board["remarks"]]))
    if failed:
        rows = [[printable(entry["file"], 120), printable(entry["reason"], 300)] for entry in failed]
        sections.append(Section("Not scored", [Table(["File", "Reason"], rows, "<<")]))
    settings = board["leaderboard"]
    names = {system_of_row(table, row) for table in tables for row in table["rows"]}
    figures = [
        ("Systems", str(len(names)), ""),
        ("Tables", str(len(tables)), ""),
        ("Files that could not be scored", str(len(failed)), ""),
    ]
    signature = f"signature: leaderboard {settings['version']} min_questions:{settings['min_questions']}"
    lead = "Systems on the same questions, best first; a table for each dataset."
    return Page("Leaderboard", lead, figures, sections, signature, _key(board, linked))


def _section(table: Mapping[str, Any], name: str, linked: Collection[str]) -> tuple[str, list[Block]]:
    view = view_table(table)
    cells: list[list[Any]] = [
        [row[0], row[1] if "runs" in entry else _linked(row[1], entry["name"], linked), *row[2:]]
        for entry, row in zip(table["rows"], view.cells.rows, strict=True)
    ]
    marks = [Interval(_value(row), _interval(row), None, int(_is_tied(row) is False)) for row in table["rows"]]
    drawn = insert_column(view.cells._replace(rows=cells), "95% interval", view.cells.header[2], marks)
    shown = drawn._replace(rows=drawn.rows[:MOST])
    ranked = [row for row in table["rows"] if not row.get("provisional")]
    blocks: list[Block] = [Chart(name, "Who is ahead", _describe(ranked), shown)]
    if view.told:
        blocks = [_searchable(name, shown, view)]
    if len(drawn.rows) > MOST:
        blocks.append(f"The first {MOST} of {len(drawn.rows)}; all of them are in {BOARD}.csv.")
    if any(row.get("significant") is False for row in table["rows"]):
        blocks.append(EXPLAINED)
    blocks += view.remarks
    blocks += _runs(table, linked)
    if table.get("name") in linked:
        blocks.append(Table(["Page of the run"], [[_linked(table["name"], table["name"], linked)]], "<"))  # type: ignore[list-item]
    return view.title, [*blocks, format_signature(table["signature"])]


def _searchable(name: str, table: Table, view: View) -> Records:
    """The table with filters by what `systems.json` tells; ranks stay those of all."""
    own = len(table.header) - view.told
    columns = [
        Column(title, "mark" if isinstance(cell, Interval) else "choice" if place >= own else "text", "high")
        if side == "<"
        else Column(title, "number", "low" if title == "Rank" else "high")
        for place, (title, cell, side) in enumerate(zip(table.header, table.rows[0], table.align, strict=True))
    ]
    note = "Filters hide rows; ranks and tests stay those of all."
    return Records(name, view.title, columns, [Record("", row) for row in table.rows], note)


def _runs(table: Mapping[str, Any], linked: Collection[str]) -> list[Block]:
    """The runs of the systems that have several, with links to their pages."""
    rows: list[Any] = [
        [_linked(printable(run["name"], 60), run["name"], linked), show_number(run["score"]), str(run["missing"]),
         str(run["unparsed"])]
        for row in table["rows"]
        for run in row.get("runs", ())
    ]  # fmt: skip
    return [Table(["Run", "Overall", "Missing", "Unparsed"], rows[:MOST], "<>>>")] if rows else []


def _linked(cell: str, name: str, linked: Collection[str]) -> Cell:
    return Link(cell, f"{name}.html") if name in linked else cell


# --- Who is ahead ---


def _describe(rows: Sequence[Mapping[str, Any]]) -> str:
    """What the dots and lines of a table mean."""
    tied = [_is_tied(row) for row in rows]
    if any(same is None for same in tied):
        return (
            "Dots are scores, lines their 95% intervals. Intervals of forecasters of the same events hang together: "
            "they may overlap where a difference is sure."
        )
    by_ranks = not any("p_leader" in row for row in rows)
    test = "rank interval holds 1" if by_ranks else f"difference to it is not significant (p ≥ {ALPHA}, Holm)"
    return (
        "Dots are scores, lines their 95% intervals. Full dots: the leader, and the systems whose "
        f"{test}: {sum(map(bool, tied)) - 1} of {len(rows) - 1}. Rings: the systems behind it."
    )


def _value(row: Mapping[str, Any]) -> float | None:
    value: float | None = row["overall_score"] if "overall_score" in row else row["score"]
    return value


def _interval(row: Mapping[str, Any]) -> Sequence[float] | None:
    interval: Sequence[float] | None = row["overall_interval"] if "overall_score" in row else row["interval"]
    return interval


def _is_tied(row: Mapping[str, Any]) -> bool | None:
    """Whether a row cannot be told from the leader; None if nothing says so."""
    if "tied_with_best" in row:
        return bool(row["tied_with_best"])
    if row.get("rank_interval"):
        return bool(row["rank_interval"][0] <= 1)
    if "p_leader" not in row:
        return None
    return row["rank"] == 1 or (row["p_leader"] is not None and row["p_leader"] >= ALPHA)


# --- History ---


def _histories(tables: Sequence[Mapping[str, Any]]) -> Iterator[Chart]:
    """A chart per benchmark with several datasets."""
    by_benchmark: dict[str, list[Mapping[str, Any]]] = {}
    for table in tables:
        if "n_events" not in table and table["dataset"]:
            by_benchmark.setdefault(table["benchmark"], []).append(table)
    for number, (benchmark, found) in enumerate(by_benchmark.items(), 1):
        found.sort(key=lambda table: str(table["dataset"]))
        scores = _scores_over(found)
        if scores:
            yield _history(benchmark, *_answered(found, scores), f"history{number}")


def _scores_over(tables: Sequence[Mapping[str, Any]]) -> dict[str, dict[int, float]]:
    """Of every system that stands in several tables its scores, by the place of the table."""
    scores: dict[str, dict[int, float]] = {}
    for place, table in enumerate(tables):
        for row in table["rows"]:
            value = _value(row)
            if value is not None:
                scores.setdefault(split_name(row["name"], table["dataset"]).system, {}).setdefault(place, value)
    return {name: found for name, found in scores.items() if len(found) > 1}


def _history(
    benchmark: str, tables: Sequence[Mapping[str, Any]], often: Mapping[str, Mapping[int, float]], name: str
) -> Chart:
    """Scores of the systems that stand in several tables; a line breaks where version or policies change."""
    order = sorted(often, key=lambda key: (-len(often[key]), -sum(often[key].values()) / len(often[key]), key))
    breaks = [at for at in range(1, len(tables)) if _policy(tables[at]) != _policy(tables[at - 1])]
    lines = [
        Line(key, _points(often[key], breaks, len(tables)), faint=place >= _LINES) for place, key in enumerate(order)
    ]
    names = [str(table["dataset"]).rpartition(".")[0] or str(table["dataset"]) for table in tables]
    same = len(os.path.commonprefix([name.rpartition("_")[0] for name in names]))  # noqa: RUF071  no paths
    ticks = [name[same:].lstrip("_") or name for name in names]
    step = -(-len(ticks) // 8)
    rows = [[printable(key, 60), *(show_number(often[key].get(at)) for at in range(len(tables)))] for key in order]
    description = f"Scores of {len(order)} systems in several datasets; those in most are in colour. "
    description += (
        "Lines are broken where the version or the rules of scoring change." if breaks
        else "All were scored by the same version and rules."
    )  # fmt: skip
    description += " Datasets have different questions: compare systems within a dataset, not datasets."
    x = Axis("", list(enumerate(ticks))[::step], 0, len(tables) - 1)
    y = number_axis("score", [score for found in often.values() for score in found.values()])
    return Chart(
        name, f"{benchmark}: {len(tables)} datasets", description,
        Table(["System", *(printable(text, 40) for text in names)], rows, "<" + ">" * len(names)),
        [Panel("", lines, x, y)],
    )  # fmt: skip


def _answered(
    tables: Sequence[Mapping[str, Any]], often: Mapping[str, Mapping[int, float]]
) -> tuple[list[Mapping[str, Any]], dict[str, dict[int, float]]]:
    """Without the tables in which none of these systems stands."""
    kept = sorted({place for found in often.values() for place in found})
    return [tables[place] for place in kept], {
        name: {kept.index(place): score for place, score in found.items()} for name, found in often.items()
    }


def _policy(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table["signature"].items() if key not in _NOT_POLICY}


def _points(found: Mapping[int, float], breaks: Sequence[int], count: int) -> list[tuple[float, float | None]]:
    """A point per dataset, None where there is none or where the line breaks."""
    points: list[tuple[float, float | None]] = []
    for place in range(count):
        if place in breaks:
            points.append((place - 0.5, None))
        points.append((place, found.get(place)))
    return points
