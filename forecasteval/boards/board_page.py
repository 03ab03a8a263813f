"""The page of a leaderboard: who is ahead and how surely, the history over datasets, what could not be scored."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from forecasteval.common.charts import Span, draw_lines, forest_chart, label_margin
from forecasteval.common.errors import printable
from forecasteval.common.pages import (
    CHARTED,
    MOST,
    Block,
    Cell,
    Chart,
    Column,
    Link,
    Linked,
    Page,
    Panel,
    Records,
    Section,
)
from forecasteval.common.report import Table, format_signature, show_interval, show_number

from .about import shown_names
from .names import split_name, system_of_row
from .report import EXPLAINED, View, view_table
from .store import BOARD, hash_text
from .systems import ALPHA, file_rows

_CHARTS: Final = 30  # datasets that have a chart: the last ones
_LINES: Final = 12  # systems whose history is drawn
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
    undrawn = len(tables) - _CHARTS
    sections = [
        Section(*_section(table, f"table{number}", number > undrawn, linked)) for number, table in enumerate(tables, 1)
    ]
    histories = list(_histories(tables))
    if histories:
        sections.insert(0, Section("History", histories))
    pooled = [
        Section(*_section(table, f"pooled{number}", True, ()))
        for number, table in enumerate(board.get("pooled", ()), 1)
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


def _section(table: Mapping[str, Any], name: str, drawn: bool, linked: Collection[str]) -> tuple[str, list[Block]]:
    view = view_table(table)
    several = len(table["rows"]) > 1
    blocks: list[Block] = [_forest(table, name, view.cells.header[2])] if drawn and several else []
    rows: list[list[Cell]] = [
        [cells[0], cells[1] if "runs" in row else _linked(cells[1], row["name"], linked), *cells[2:]]
        for row, cells in zip(table["rows"], view.cells.rows[:MOST], strict=False)
    ]
    blocks.append(_searchable(view, rows) if view.told else Linked(view.cells.header, rows, view.cells.align))
    if len(view.cells.rows) > MOST:
        blocks.append(f"The first {MOST} of {len(view.cells.rows)}; all of them are in {BOARD}.csv.")
    if any(row.get("significant") is False for row in table["rows"]):
        blocks.append(EXPLAINED)
    blocks += view.remarks
    blocks += _runs(table, linked)
    if table.get("name") in linked:
        blocks.append(Linked(["Page of the run"], [[_linked(table["name"], table["name"], linked)]], "<"))
    return view.title, [*blocks, format_signature(table["signature"])]


def _searchable(view: View, rows: Sequence[Sequence[Cell]]) -> Records:
    """The table with filters by what `systems.json` tells; ranks stay those of all."""
    own = len(view.cells.header) - view.told
    columns = [
        Column(title, "number" if side == ">" else "text" if place < own else "choice")
        for place, (title, side) in enumerate(zip(view.cells.header, view.cells.align, strict=True))
    ]
    return Records(view.title, columns, rows, "Filters hide rows; ranks and tests stay those of all.")


def _runs(table: Mapping[str, Any], linked: Collection[str]) -> list[Block]:
    """The runs of the systems that have several, with links to their pages."""
    rows: list[list[Cell]] = [
        [_linked(printable(run["name"], 60), run["name"], linked), show_number(run["score"]), str(run["missing"]),
         str(run["unparsed"])]
        for row in table["rows"]
        for run in row.get("runs", ())
    ]  # fmt: skip
    return [Linked(["Run", "Overall", "Missing", "Unparsed"], rows[:MOST], "<>>>")] if rows else []


def _linked(cell: str, name: str, linked: Collection[str]) -> Cell:
    return Link(cell, f"{name}.html") if name in linked else cell


# --- Who is ahead ---


def _forest(table: Mapping[str, Any], name: str, metric: str) -> Chart:
    """The first systems with their intervals; those that cannot be told from the leader are marked."""
    rows = [row for row in table["rows"] if _value(row) is not None][:CHARTED]
    tied = [_is_tied(row) for row in rows]
    spans = [
        Span(name, _value(row), _interval(row), 0 if same else 1)
        for name, row, same in zip(shown_names(rows), rows, tied, strict=True)
    ]
    told = "Dots are scores, lines their 95% intervals. "
    if any(same is None for same in tied):
        told += (
            "Intervals of forecasters of the same events hang together: they may overlap where a difference is sure."
        )
        spans = [span._replace(group=0) for span in spans]
    else:
        by_ranks = not any("p_leader" in row for row in rows)
        of_test = f"that the paired test cannot tell from it (p ≥ {ALPHA}, Holm)"
        those = "whose 95% rank interval holds 1" if by_ranks else of_test
        told += (
            f"Round dots: the leader, and those {those}: {sum(map(bool, tied)) - 1} of {len(table['rows']) - 1}. "
            "Diamonds: those behind it."
        )
    if len(rows) < len(table["rows"]):
        told += f" The first {len(rows)} of {len(table['rows'])}."
    cells = [
        [printable(span.name, 60), show_number(span.value), show_interval(span.interval),
         show_number(row.get("p_leader")), {None: "–", True: "yes", False: "no"}[same]]
        for span, row, same in zip(spans, rows, tied, strict=True)
    ]  # fmt: skip
    header = ["System", metric, "95% interval", "p against the leader (Holm)", "Like the leader"]
    return forest_chart(name, "Who is ahead", told, spans, metric, Table(header, cells, "<>>><"))


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
    lines = [(key, *_points(often[key], breaks, len(tables))) for key in order[:_LINES]]
    names = [str(table["dataset"]).rpartition(".")[0] or str(table["dataset"]) for table in tables]
    same = len(os.path.commonprefix([name.rpartition("_")[0] for name in names]))  # noqa: RUF071  no paths
    ticks = [name[same:].lstrip("_") or name for name in names]
    rows = [[printable(key, 60), *(show_number(often[key].get(at)) for at in range(len(tables)))] for key in order]
    told = f"Scores of systems in several datasets: {len(lines)}"
    told += f" of {len(order)}, those in most. " if len(order) > len(lines) else ". "
    told += (
        "Lines are broken where the version or the rules of scoring change." if breaks
        else "All were scored by the same version and rules."
    )  # fmt: skip
    told += " Datasets have different questions: compare systems within a dataset, not datasets."
    return Chart(
        name, f"{benchmark}: {len(tables)} datasets", told, [Panel("", _drawing(lines, ticks, breaks))],
        Table(["System", *(printable(text, 40) for text in names)], rows, "<" + ">" * len(names)),
        width=5.4, height=2.6, margin=0.8, right=label_margin([line[0] for line in lines]),
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


def _points(found: Mapping[int, float], breaks: Sequence[int], count: int) -> tuple[list[float], list[float]]:
    """A point per dataset, nan where there is none or where the line breaks."""
    xs: list[float] = []
    ys: list[float] = []
    for place in range(count):
        if place in breaks:
            xs, ys = [*xs, place - 0.5], [*ys, float("nan")]
        xs, ys = [*xs, place], [*ys, found.get(place, float("nan"))]
    return xs, ys


def _drawing(
    lines: Sequence[tuple[str, list[float], list[float]]], names: Sequence[str], breaks: Sequence[int]
) -> Callable[[Any], object]:
    def draw(ax: Any) -> None:
        draw_lines(ax, lines, ("", "score"), marker="o")
        for place in breaks:
            ax.axvline(place - 0.5, color="#757575", linewidth=1, linestyle=(0, (4, 3)))
        step = -(-len(names) // 8)
        ax.set_xticks(range(0, len(names), step), [_middle(name) for name in names[::step]], parse_math=False)

    return draw


def _middle(name: str) -> str:
    """A name for a tick: what begins alike most often ends differently."""
    shown = printable(name, 60)
    return shown if len(shown) <= 12 else f"{shown[:4]}…{shown[-7:]}"
