"""What the last night changed: the lines of the history, a change with its reasons for each, and
the table that reports and the page show.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypedDict

from pydantic import StrictFloat, StrictInt

from forecasteval.common.errors import printable
from forecasteval.display.html import Head, Html, draw_section, draw_table, join, soft, tag
from forecasteval.display.html import TableLine as HtmlLine
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
    return (is_known and before != now) or len(_list_steps(change["score"], 4)) > 1


def order_change(change: Change) -> tuple[object, ...]:
    """Order changes: of ranks, who came and went, of scores. Those over all datasets stand before
    single ones, the largest first.
    """
    (before, now), (old, new) = change["rank"], change["score"]
    is_part = not change["dataset"].startswith(OVERALL)
    if old is None or new is None:
        return 1, is_part, change["dataset"], -(new or 0.0)
    moved = math.inf if None in (before, now) else abs((now or 0) - (before or 0))
    place = 2 if before == now else 0
    return place, is_part, -moved, -abs(new - old)


def _list_steps(values: tuple[float | None, float | None], digits: int) -> list[str]:
    """Show a value before and now, or once if it stays."""
    return [*dict.fromkeys(show_number(value, digits) for value in values)]


def show_step(values: tuple[float | None, float | None], digits: int) -> str:
    """Show how a value moved: `3 → 2`, `– → 0.8150`, `4`."""
    return " → ".join(_list_steps(values, digits))


_COLUMNS: Final = (
    Column("Dataset", lambda change: printable(change["dataset"], _CUT)),
    Column("Rank", lambda change: show_step(change["rank"], 0)),
    Column("Score", lambda change: show_step(change["score"], 4)),
    Column("Why", say_reason),
)


def tabulate_changes(changes: Sequence[Change], names: Mapping[str, str]) -> tuple[Table, str]:
    """Show the changes that move something, under the `names` of their systems; and say how many
    more there are.
    """
    moves = sorted(filter(is_move, changes), key=order_change)
    name = Column("System", lambda each: names.get(each["system"], printable(each["system"], _CUT)))
    more = f"and {len(moves) - _SHOWN} more" if len(moves) > _SHOWN else ""
    return make_table([name, *_COLUMNS], moves[:_SHOWN]), more


def changes_report(changes: Sequence[Change], names: Mapping[str, str]) -> Report:
    """Report the changes on the screen and in Markdown."""
    report: Report = [*say_changes(changes)]
    table, more = tabulate_changes(changes, names)
    if table.rows:
        report += ["", table]
    return [*report, more] if more else report


def draw_changes(history: History, names: Mapping[str, str]) -> Html:
    """Draw the changes as a section of the page."""
    if history.night < 2:
        text = "Nothing has changed since the first night."
        return draw_section("What changed", tag("p", text, class_="cap"), name="changed")
    table, more = tabulate_changes(history.changes, names)
    said = [tag("li", text) for text in say_changes(history.changes)]
    parts = [tag("ul", *said, class_="plain")] if said else []
    if table.rows:
        heads = [Head("System"), Head("Rank", "n"), Head("Score", "n"), Head("Why", "w")]
        lines = [
            HtmlLine([join(system, " ", soft(dataset)), *cells])
            for system, dataset, *cells in (map(str, row) for row in table.rows)
        ]
        parts.append(draw_table(heads, lines))
    parts += [tag("p", more, class_="cap")] if more else []
    return draw_section(f"What changed on {printable(history.date, 20)}", *parts, name="changed")
