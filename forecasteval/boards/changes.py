"""What the last night changed: the lines of the history, a change with its reasons for each, and
the table that reports and the page show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypedDict

from pydantic import StrictFloat, StrictInt

from forecasteval.common.errors import printable
from forecasteval.display.tables import Column, Report, Table, make_table, show_number
from forecasteval.ranking.board import Board, PooledTable, Ranking
from forecasteval.ranking.files import ForecasterTable, label_dataset

OVERALL: Final = "all datasets"  # in place of a dataset: of the lines of a table over all of them
OTHERS: Final = "others moved"  # the reason of a change of which nothing is its own
_SHOWN: Final = 30  # changes in the table
_CUT: Final = 60  # characters of a name
_NAMED: Final = 2  # datasets of which a reason has the names
_WIDE: Final = 200  # characters of reasons


# --- The history ---

Key = tuple[str, str, str]  # benchmark, dataset, system


@dataclass(frozen=True, kw_only=True)
class HistoryLine:
    """Say what a system had on a dataset, or over all of them, from a night on.

    None stands for what is not known: earlier versions wrote other keys.
    """

    night: StrictInt = 0
    date: str = ""
    benchmark: str
    dataset: str
    system: str
    reason: str | None = None  # in words
    corrections: str | None = None  # of questions of the dataset, with their names
    gone: bool = False
    unscored: bool = False  # it has a row of before, without rank
    score: StrictInt | StrictFloat | None = None
    rank: StrictInt | None = None
    resolved: StrictInt | None = None  # questions that have a truth
    questions: StrictInt | None = None
    # What the score depends on:
    prediction: str = ""
    prediction_sha256: str | None = None
    questions_sha256: str | None = None
    late_sha256: str | None = None
    evaluator: str | None = None
    code_sha256: str | None = None
    rules: str | None = None
    metric: str | None = None
    settings: dict[str, object] | None = None
    degraded: bool = False

    @property
    def key(self) -> Key:
        """Name the system and the dataset."""
        return self.benchmark, self.dataset, self.system

    @property
    def is_overall(self) -> bool:
        return self.dataset.startswith(OVERALL)


@dataclass(frozen=True)
class History:
    """Hold the bytes of the file and its lines."""

    raw: bytes = b""
    lines: Sequence[HistoryLine] = ()

    @cached_property
    def night(self) -> int:
        """Number the last night."""
        return max((line.night for line in self.lines), default=0)

    @property
    def date(self) -> str:
        """Date the last night."""
        return self.lines[-1].date if self.lines else ""

    @cached_property
    def changes(self) -> list[Change]:
        """List what the last night changed; nothing if it was the first."""
        before = {line.key: line for line in self.lines if line.night < self.night}
        lines = [line for line in self.lines if line.night == self.night] if before else []
        return [_make_change(before.get(line.key), line) for line in lines]


class Change(TypedDict):
    """Say how a system changed on a dataset, or over all of them: before and now."""

    benchmark: str
    dataset: str
    system: str
    score: tuple[float | None, float | None]
    rank: tuple[int | None, int | None]
    version: tuple[str | None, str | None]
    reason: str | None
    corrections: str | None  # of questions of the dataset, with their names


def _make_change(before: HistoryLine | None, line: HistoryLine) -> Change:
    old = before or HistoryLine(benchmark="", dataset="", system="")
    return {
        "benchmark": line.benchmark,
        "dataset": line.dataset,
        "system": line.system,
        "score": (old.score, line.score),
        "rank": (old.rank, line.rank),
        "version": (old.evaluator, line.evaluator),
        "reason": line.reason,
        "corrections": line.corrections,
    }


def dataset_of(board: Board, table: Ranking) -> str:
    """Name a table as the history does: its dataset, or `all datasets`, numbered where a benchmark
    has several such tables.
    """
    if not isinstance(table, PooledTable):
        return table.dataset or (table.name if isinstance(table, ForecasterTable) else "")
    same = [each for each in board.pooled if each.benchmark == table.benchmark]
    place = next(place for place, each in enumerate(same, 1) if each is table)
    return OVERALL if place == 1 else f"{OVERALL} ({place})"


# --- What is said ---


def say_changes(changes: Sequence[Change]) -> list[str]:
    """Say which versions and questions changed, and which reasons moved nothing."""
    said: dict[str, None] = {}
    for change in changes:
        before, now = change["version"]
        if before and now and before != now:
            said[f"{printable(before, _CUT)} → {now}"] = None
        if change["corrections"]:
            said[printable(f"{change['dataset']}: {change['corrections']}")] = None
    still = Counter(
        say_reason(change) for change in changes if is_event(change) and not is_move(change)
    )
    return [*said, *(f"{reason}: results {n}, nothing moved" for reason, n in still.items())]


def say_reason(change: Change) -> str:
    """Say why a system changed."""
    return printable(change["reason"] or "not recorded", _WIDE)


def name_datasets(names: Iterable[str]) -> str:
    """Name datasets in a reason, of many their number.

    >>> name_datasets(["250915.json", "250922.json", "250915.json"]), name_datasets("abc")
    ('250915, 250922', '3 datasets')
    """
    labels = dict.fromkeys(map(label_dataset, names))
    return ", ".join(labels) if len(labels) <= _NAMED else f"{len(labels)} datasets"


def is_event(change: Change) -> bool:
    """Tell whether something of its own happened to a system on a dataset."""
    return not change["dataset"].startswith(OVERALL) and change["reason"] != OTHERS


def is_move(change: Change) -> bool:
    """Tell whether a score or a rank is shown to have moved."""
    before, now = change["rank"]
    is_known = before is not None or len({*change["version"]}) == 1  # version 1.5 wrote no ranks
    old, new = (show_number(score) for score in change["score"])
    return (is_known and before != now) or old != new


def order_change(change: Change) -> tuple[object, ...]:
    """Order changes: of ranks, who came and went, of scores. Those over all datasets stand before
    single ones, the largest first.
    """
    (before, now), (old, new) = change["rank"], change["score"]
    moved = abs(now - before) if now and before else 0
    is_part = not change["dataset"].startswith(OVERALL)
    return before == now, not moved, is_part, -moved, -abs((new or 0.0) - (old or 0.0))


def show_step(values: tuple[float | None, float | None], digits: int = 4) -> str:
    """Show how a value moved: `3 → 2`, `– → 0.8150`, `4`."""
    return " → ".join(dict.fromkeys(show_number(value, digits) for value in values))


_COLUMNS: Final = (
    Column("Dataset", lambda change: printable(change["dataset"], _CUT), page="soft"),
    Column("Rank", lambda change: show_step(change["rank"], 0), page="n"),
    Column("Score", lambda change: show_step(change["score"]), page="n"),
    Column("Why", say_reason, page="w"),
)


def show_system(change: Change, names: Mapping[str, str]) -> str:
    """Show a system under its name; one that has no row any more under its own."""
    return names.get(change["system"], printable(change["system"], _CUT))


def tabulate_changes(changes: Sequence[Change], names: Mapping[str, str]) -> tuple[Table, str]:
    """Show the changes that move something, under the `names` of their systems; and say how many
    more there are.
    """
    moves = sorted(filter(is_move, changes), key=order_change)
    name = Column("System", lambda change: show_system(change, names))
    more = f"and {len(moves) - _SHOWN} more" if len(moves) > _SHOWN else ""
    return make_table([name, *_COLUMNS], moves[:_SHOWN]), more


def changes_report(changes: Sequence[Change], names: Mapping[str, str]) -> Report:
    """Report the changes on the screen and in Markdown."""
    report: Report = [*say_changes(changes)]
    table, more = tabulate_changes(changes, names)
    if table.rows:
        report += ["", table]
    return [*report, more] if more else report
