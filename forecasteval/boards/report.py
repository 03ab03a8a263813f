"""Boards and comparisons as reports for the screen and notebooks, and a board as CSV and
Markdown.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Final

from forecasteval.common.errors import printable
from forecasteval.display.formats import csv_cell, format_report
from forecasteval.display.tables import Heading, Report, format_signature, make_table
from forecasteval.ranking.board import list_tables

from .changes import Change, changes_report
from .metadata import about_keys, name_systems
from .tables import (
    MOVES,
    Row,
    compared_pairs,
    compared_systems,
    count_shared,
    describe_waiting,
    list_failed,
    list_verdicts,
    lower_is_better,
    make_record,
    season_remarks,
    view_table,
)

_NONE: Final = "without a dataset"
PAIRS: Final = 10  # whose questions a comparison shows


# --- Screen and notebooks ---


def board_report(board: Row) -> Report:
    """The tables of `rank`, what changed last, and the files that could not be scored."""
    report: Report = []
    for table in list_tables(board):
        view = view_table(table)
        report += [Heading(f"Leaderboard  {view.title}"), "", view.table, "", *view.remarks]
        report += [format_signature(table["signature"], table.get("dataset")), ""]
    report += board.get("remarks", [])
    if board.get("changes"):
        changed = changes_report(board["changes"], name_systems(board))
        report += [Heading("What changed last"), *changed, ""]
    report += [f"failed: {files}: {reason}" for files, reason in list_failed(board)]
    return [*report, *describe_waiting(board)]


def comparison_report(comparison: Row) -> Report:
    """The verdicts, the systems, the pairs, and for pairs on one dataset the questions that move
    them.
    """
    datasets, name = comparison.get("datasets"), comparison.get("dataset")
    title = f"Comparison on {comparison.get('n')} questions, {printable(name or _NONE)}"
    if datasets:
        title = f"Comparison over all weeks  {comparison['benchmark']}, datasets {len(datasets)}"
        title += f", questions {sum(dataset['n'] for dataset in datasets)}"
    report: Report = [*list_verdicts(comparison), "", f"{title}{lower_is_better(comparison)}"]
    if comparison.get("pending"):
        report += [f"Pending, without a truth yet: {comparison['pending']} more"]
    report += ["", compared_systems(comparison), "", compared_pairs(comparison), ""]
    shared = "of shared datasets " if datasets else ""
    report += [f"By level: questions {shared}that A wins/ties/loses."]
    report += season_remarks(comparison) if datasets else []
    pairs = [pair for pair in comparison["pairs"] if "questions" in pair]
    for pair in pairs[:PAIRS]:
        moves = printable(f"What moves {pair['a']} − {pair['b']} most:")
        report += ["", moves, make_table(MOVES, pair["questions"])]
    if len(pairs) > PAIRS:
        report += ["", f"What moves the other {len(pairs) - PAIRS} pairs: --json"]
    return [*report, "", format_signature(comparison["signature"], name)]


# --- CSV ---


def format_csv(board: Row) -> str:
    """The tables as one CSV; a text that a spreadsheet would run as a formula gets an apostrophe in
    front.
    """
    import csv

    columns, records = flatten_board(board)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows(map(csv_cell, row) for row in (columns, *(each.values() for each in records)))
    return text.getvalue()


_COLUMNS: Final = (
    *("benchmark", "dataset", "prediction", "rank", "name"),
    *("metric", "score", "low", "high"),
)
_OF_SEASONS: Final = (
    *("rank_low", "rank_high", "behind"),
    *("own_score", "datasets", "provisional"),
)


def flatten_board(board: Row) -> tuple[list[str], list[dict[str, object]]]:
    """The rows of all tables as records of scalars, and their keys; None is what a row does not
    have.
    """
    tables = list_tables(board)
    rows = [row for table in tables for row in table["rows"]]
    levels = dict.fromkeys(
        level for table in tables for level in table.get("level_counts", ()) if level
    )
    records = [make_record(table, row, "") for table in tables for row in table["rows"]]
    columns = [*_COLUMNS, *(f"level_{level}" for level in levels)]
    columns += ["n", "missing", "unparsed", "padded", "p_leader"]
    columns += [key for key in ("pending", "void") if any(record[key] for record in records)]
    if any(row.get("runs") for row in rows):
        columns += ["runs", "run_deviation"]
    if board.get("pooled"):
        columns += _OF_SEASONS
    columns += ["signature", *(f"about_{key}" for key in about_keys(rows))]
    return columns, [{key: record.get(key) for key in columns} for record in records]


def flatten_pairs(comparison: Row) -> list[dict[str, object]]:
    """The pairs of a comparison as records of scalars."""
    return [_flatten_pair(pair) for pair in comparison["pairs"]]


_OF_PAIRS: Final = ("a", "b", "p_holm", "p_first", "p_t", "detectable")


def _flatten_pair(pair: Row) -> dict[str, object]:
    record = {key: pair.get(key) for key in _OF_PAIRS}
    for prefix, part in (("", pair), ("both_read_", pair.get("both_read") or {})):
        low, high = part.get("interval") or (None, None)
        record |= {f"{prefix}low": low, f"{prefix}high": high}
        record |= {f"{prefix}{key}": part.get(key) for key in ("difference", "p", "n")}
    record["n"] = count_shared(pair)
    for level, tally in pair["levels"].items():
        prefix = f"level_{level}_" if level else ""
        record |= {f"{prefix}{key}": count for key, count in tally.items()}
    for level, difference in pair.get("level_differences", {}).items():
        record |= {f"level_{level}_difference": difference["difference"]} if level else {}
    return record


# --- Markdown ---


def format_markdown(board: Row, changes: Sequence[Change] = ()) -> str:
    """The report as Markdown, with what changed last; names of files are text there, whatever they
    hold.
    """
    report = board_report({**board, "changes": changes})
    return f"# Leaderboard\n\n{format_report(report, 'markdown').rstrip()}\n"
