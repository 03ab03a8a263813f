"""Boards and comparisons as reports for the screen and notebooks, and a board as
CSV and Markdown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from forecasteval.common.errors import InputError, printable, show_count
from forecasteval.common.forms import to_record
from forecasteval.common.records import group_by
from forecasteval.display.formats import csv_cell, format_report, write_csv
from forecasteval.display.results import Results
from forecasteval.display.tables import Heading, Remark, Report, format_signature
from forecasteval.ranking.board import Board, BothRead, Pair

from .by_column import report_parts
from .changes import Change, changes_report
from .columns import flatten_board, name_keys
from .metadata import name_systems
from .standings import find_weeks
from .tables import (
    ENTER,
    AnyComparison,
    compared_datasets,
    compared_pairs,
    compared_systems,
    describe_waiting,
    list_failed,
    list_removed,
    list_verdicts,
    list_withdrawn,
    lower_is_better,
    moved_questions,
    report_table,
    season_remarks,
    tabulate_alone,
    tabulate_open,
)

if TYPE_CHECKING:
    from forecasteval.display.html import Page

PAIRS: Final = 10  # whose questions a comparison shows


# --- Screen and notebooks ---


def board_report(board: Board, changes: Sequence[Change] = ()) -> Report:
    """Report the tables of a board, what changed last, and the files that could
    not be scored.

    Tables of one system each are one table, below those of several.
    """
    alone = [table for table in board.tables if table.is_alone]
    report: Report = []
    weeks = [week for table in board.pooled for week in find_weeks(board.tables, table)]
    for table in (table for table in board.rankings if not table.is_alone):
        report += report_table(table)
        # The table over all datasets has more questions of each value.
        if not any(week is table for week in weeks):
            report += report_parts(table, board.by)
    for benchmark, tables in group_by(alone, lambda table: table.benchmark).items():
        title = f"Leaderboard  {benchmark}, one system{lower_is_better(tables[0])}"
        signatures = dict.fromkeys(
            format_signature(table.signature) for table in tables
        )
        report += [Heading(title), "", tabulate_alone(tables), "", *signatures, ""]
    report += board.remarks
    if changes:
        report += [
            Heading("What changed last"),
            *changes_report(changes, name_systems(board)),
            "",
        ]
    if board.open:
        report += [Heading("Open"), tabulate_open(board), "", ENTER, ""]
    report += [f"failed: {files}: {reason}" for files, reason in list_failed(board)]
    report += [
        f"withdrawn by the owner of the board: {text}" for text in list_withdrawn(board)
    ]
    report += [
        f"removed after the questions closed: {text}" for text in list_removed(board)
    ]
    return report + describe_waiting(board)


def comparison_report(comparison: AnyComparison) -> Report:
    """Report the verdicts, the systems, the pairs, and on one dataset the questions
    that move them.
    """
    report: Report = [*list_verdicts(comparison), ""]
    dataset = comparison.dataset
    shared = ""
    title = f"Comparison on {show_count(comparison.resolved, 'question')}, "
    title += printable(dataset or "without a dataset")
    if comparison.datasets:
        shared = "of shared datasets "
        title = f"Comparison over all weeks  {comparison.benchmark}, datasets "
        title += f"{len(comparison.datasets)}, questions {comparison.resolved}"
    report.append(f"{title}{lower_is_better(comparison)}")
    if comparison.pending and not comparison.datasets:
        report.append(f"Pending, without a truth yet: {comparison.pending} more")
    if degraded := [row.name for row in comparison.systems if row.degraded]:
        report.append(
            printable(f"degraded: the language model failed for {', '.join(degraded)}")
        )
    pairs = compared_pairs(comparison)
    report += ["", compared_systems(comparison), "", pairs, ""]
    wins = f"Questions {shared}that A wins/ties/loses."
    report.append(Remark.on(pairs.header[-len(comparison.pairs[0].levels)], wins))
    if comparison.datasets:
        report += [*season_remarks(comparison), "", compared_datasets(comparison)]
    else:
        report += _report_movers(comparison)
    return [*report, "", format_signature(comparison.signature, dataset)]


def _report_movers(comparison: AnyComparison) -> Report:
    """Report the questions that move the differences of the first pairs most."""
    report: Report = []
    for pair in comparison.pairs[:PAIRS]:
        if pair.questions:
            moves = printable(f"What moves {pair.a} − {pair.b} most:")
            report += ["", moves, moved_questions(comparison, pair)]
    if len(comparison.pairs) > PAIRS:
        report += [
            "",
            f"What moves the other {len(comparison.pairs) - PAIRS} pairs: --json",
        ]
    return report


class BoardResults(Results):
    """A board as a dict that shows itself as a report and as a page; `board` is
    the same, typed.

    `more` are further keys of the dict, `changes` what the last night changed.
    """

    def __init__(
        self,
        board: Board,
        more: Mapping[str, object] | None = None,
        changes: Sequence[Change] = (),
    ) -> None:
        self.board = board
        super().__init__(
            {**to_record(board), **(more or {})},
            lambda _: board_report(board, changes),
            lambda _: self._make_page(),
            rows=lambda _: flatten_board(board)[1],
        )

    def _make_page(self) -> Page:
        from .board_page import make_page  # here: most commands draw nothing

        return make_page(self.board)


# --- CSV ---


def format_csv(board: Board, columns: str = "") -> str:
    """Format the tables as one CSV. A text that a spreadsheet would run as a formula
    gets an apostrophe in front.

    `columns`: only these, "rank,name", by their names in it or in tables.
        InputError for others.
    """
    keys, records = flatten_board(board)
    if columns:
        keys = _choose_keys(board, keys, columns.split(","))
    rows: list[Sequence[object]] = [keys]
    rows += [[record[key] for key in keys] for record in records]
    return write_csv(map(csv_cell, row) for row in rows)


def _choose_keys(board: Board, keys: Sequence[str], names: Sequence[str]) -> list[str]:
    keys_by_name = name_keys(board) | {key: [key] for key in keys}
    for name in names:
        if name not in keys_by_name:
            expected = (
                f"expected columns of the tables: {', '.join(sorted(keys_by_name))}"
            )
            raise InputError("--columns", expected, repr(name))
    return [*dict.fromkeys(key for name in names for key in keys_by_name[name])]


def flatten_pair(pair: Pair) -> dict[str, object]:
    """Make a pair of a comparison as a record of scalars."""
    record: dict[str, object] = {
        "a": pair.a,
        "b": pair.b,
        "p": pair.p,
        "p_holm": pair.p_holm,
        "detectable": pair.detectable,
        "n": pair.n_shared,
        **_flatten_difference("", pair),
        **_flatten_difference("both_read_", pair.both_read),
        "both_read_n": pair.both_read and pair.both_read.n,
    }
    for level, tally in pair.levels.items():
        prefix = f"level_{level}_"
        if not level:
            prefix = ""
        record |= {f"{prefix}{key}": count for key, count in asdict(tally).items()}
    for level, difference in (pair.level_differences or {}).items():
        if level:
            record[f"level_{level}_difference"] = difference.difference
    return record


def _flatten_difference(prefix: str, pair: Pair | BothRead | None) -> dict[str, object]:
    difference = low = high = None
    if pair:
        difference = pair.difference
        low, high = pair.interval or (None, None)
    return {
        f"{prefix}difference": difference,
        f"{prefix}low": low,
        f"{prefix}high": high,
    }


# --- Markdown ---


def format_markdown(board: Board, changes: Sequence[Change] = ()) -> str:
    """Format the report as Markdown, with what changed last; names of files are text
    there, whatever they hold.
    """
    report = board_report(board, changes)
    return f"# Leaderboard\n\n{format_report(report, 'markdown').rstrip()}\n"
