"""What the last night changed: the lines of the history, a change with one reason for each, and the
table that reports and the page show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypedDict

from forecasteval.common.errors import printable
from forecasteval.display.html import Head, Html, draw_section, draw_table, join, soft, tag
from forecasteval.display.html import TableLine as HtmlLine
from forecasteval.display.tables import Column, Report, Table, make_table, show_number
from forecasteval.ranking.board import Board, PooledTable, Ranking
from forecasteval.ranking.files import ForecasterTable

OVERALL: Final = "all datasets"  # in place of a dataset: of the lines of a table over all of them
_SHOWN: Final = 30  # changes in the table
_CUT: Final = 60  # characters of a name

# The reasons of a change, of which each has the first that holds.
GONE, UNRANKED, NEW = "gone", "no longer ranked", "new"
RULES, ANSWERS = "other rules or version", "new answers"
CORRECTED, MORE, QUESTIONS = "corrected truths", "more truths", "other questions or truths"
MODEL, OTHERS = "model calls degraded", "other systems moved"
REASONS: Final = (
    *(GONE, UNRANKED, NEW, RULES, ANSWERS, CORRECTED, MORE, QUESTIONS, MODEL, OTHERS),
)


# --- The history ---

Key = tuple[str, str, str]  # benchmark, dataset, system


@dataclass(frozen=True, kw_only=True)
class HistoryLine:
    """Say what a system had on a dataset, or over all of them, from a night on.

    None stands for what is not known: earlier versions wrote other keys.
    """

    night: int = 0
    date: str = ""
    benchmark: str
    dataset: str
    system: str
    reason: str | None = None
    corrections: str | None = None  # of truths of the dataset, in words
    gone: bool = False
    score: float | None = None
    rank: int | None = None
    resolved: int | None = None  # questions that have a truth
    questions: int | None = None
    # What the score depends on:
    prediction: str = ""
    prediction_sha256: str | None = None
    questions_sha256: str | None = None
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


@dataclass(frozen=True)
class History:
    """Hold the bytes of the file, its lines that are whole, and warnings about the others."""

    raw: bytes = b""
    lines: Sequence[HistoryLine] = ()
    warnings: Sequence[str] = ()

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
    resolved: tuple[int | None, int | None]  # questions that have a truth
    questions: int | None
    version: tuple[str | None, str | None]
    reason: str | None
    corrections: str | None  # of truths of the dataset, in words


def _make_change(before: HistoryLine | None, line: HistoryLine) -> Change:
    old = before or HistoryLine(benchmark="", dataset="", system="")
    return {
        "benchmark": line.benchmark,
        "dataset": line.dataset,
        "system": line.system,
        "score": (old.score, line.score),
        "rank": (old.rank, line.rank),
        "resolved": (old.resolved, line.resolved),
        "questions": line.questions,
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
    """Say which versions changed, which truths were corrected, and which reasons moved nothing."""
    said: dict[str, None] = {}
    for change in changes:
        before, now = change["version"]
        if before and now and before != now:
            said[f"{printable(before, _CUT)} → {now}"] = None
        if change["corrections"]:
            said[printable(f"{change['dataset']}: {change['corrections']}")] = None
    still = Counter(say_reason(change) for change in changes if not is_move(change))
    return [*said, *(f"{reason}: results {n}, nothing moved" for reason, n in still.items())]


def say_reason(change: Change) -> str:
    """Say why a system changed, and how many questions had a truth if truths came or went.

    >>> say_reason({"reason": "more truths", "resolved": (20, 35), "questions": 52})
    'more truths (20 → 35 of 52)'
    """
    reason = change["reason"]
    before, now = change["resolved"]
    if reason in (MORE, CORRECTED, QUESTIONS) and before != now:
        return f"{reason} ({show_number(before, 0)} → {now} of {change['questions']})"
    return printable(reason or "not recorded", _CUT)


def _distance(values: tuple[float | None, float | None]) -> float:
    """Measure how far a score or a rank moved; 0 if there was none, or is none now."""
    before, now = values
    return 0.0 if before is None or now is None else abs(round(now - before, 12))


def is_move(change: Change) -> bool:
    """Tell whether a score or a rank moved, or a score came or went."""
    came_or_went = (change["score"][0] is None) != (change["score"][1] is None)
    return came_or_went or bool(_distance(change["score"]) or _distance(change["rank"]))


def _order(change: Change) -> tuple[object, ...]:
    """Order changes: ranks over all datasets, who came and went, scores over all datasets, single
    datasets. The largest moves come first.
    """
    rank = _distance(change["rank"])
    is_part = not change["dataset"].startswith(OVERALL)
    if None in change["score"]:
        return 1, is_part, change["dataset"], -(change["score"][1] or 0.0)
    place = 3 if is_part else 0 if rank else 2
    return place, not rank, -rank, -_distance(change["score"])


def _show_step(values: tuple[float | None, float | None], digits: int) -> str:
    """Show a value before and now, or once if it stays: `3 → 2`, `– → 0.8150`."""
    return " → ".join(dict.fromkeys(show_number(value, digits) for value in values))


_COLUMNS: Final = (
    Column("Dataset", lambda change: printable(change["dataset"], _CUT)),
    Column("Rank", lambda change: _show_step(change["rank"], 0)),
    Column("Score", lambda change: _show_step(change["score"], 4)),
    Column("Why", say_reason),
)


def tabulate_changes(changes: Sequence[Change], names: Mapping[str, str]) -> tuple[Table, str]:
    """Show the changes that move something, under the `names` of their systems; and say how many
    more there are.
    """
    moves = sorted(filter(is_move, changes), key=_order)
    name = Column("System", lambda each: names.get(each["system"], printable(each["system"], _CUT)))
    more = f"and {len(moves) - _SHOWN} more: --json" if len(moves) > _SHOWN else ""
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
        text = "This is the first night: there is nothing to compare it with."
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
