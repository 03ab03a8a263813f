"""Corrected questions: which truths of a dataset a night changed.

Results hold the truths, so a stored one that has to go is kept until the history has named what is
corrected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from typing import Final

from forecasteval.common.errors import grouped_names, printable
from forecasteval.common.records import as_text
from forecasteval.display.tables import Cell, Column, Report, make_table, show_number
from forecasteval.ranking.changes import CUT, Change, Corrections, moved, why
from forecasteval.ranking.names import show_distinct


def show_id(name: object) -> str:
    """The id of a question, as corrections have it."""
    return printable(as_text(name), CUT)


_CORRECTED: Final = (
    Column("Question", itemgetter("shown")),
    Column("Dataset", lambda row: printable(row["dataset"], CUT)),
    Column("Changed", lambda row: printable(row["what"], CUT)),
    Column("Truth before", lambda row: printable(row["before"], CUT) or "–"),
    Column("Truth now", lambda row: printable(row["after"], CUT) or "–"),
)


def corrections_report(
    corrected: Corrections, dataset: str, show: Callable[[str], Cell] = str
) -> Report:
    """The corrected questions of a dataset as a table; `show` makes the cell of an id."""
    rows = [
        {**question, "dataset": dataset, "shown": show(printable(question["id"], CUT))}
        for question in corrected["questions"]
    ]
    more = corrected["count"] - len(rows)
    return [
        make_table(_CORRECTED, rows),
        *([f"and {more} more of {printable(dataset, CUT)}"] if more > 0 else []),
    ]


MOVES: Final = 20  # that a report shows


_MOVED: Final = (
    Column("Dataset", lambda change: printable(change["dataset"], 60)),
    Column("Before", lambda change: show_number(change["before"]), "number"),
    Column("Now", lambda change: show_number(change["after"]), "number"),
    Column("Change", lambda change: f"{moved(change):+.4f}", "number"),
    Column("Why", why),
)


def changes_report(
    changes: Sequence[Change], show: Callable[[Change, str], Cell] = lambda change, name: name
) -> Report:
    """Who came and went; how many results changed, and why; the scores that moved furthest;
    corrected questions.

    `show` makes the cell of the id of a corrected question.
    """
    report: Report = []
    for kind in ("new", "gone", "back"):
        systems = [
            f"{change['system']} on {change['dataset']}" if change["dataset"] else change["system"]
            for change in changes
            if change["kind"] == kind
        ]
        report += [f"{kind}: {grouped_names(systems)}"] if systems else []
    reasons: dict[str, list[bool]] = {}
    for change in changes:
        if change["kind"] in ("changed", "back"):
            reasons.setdefault(why(change), []).append(bool(moved(change)))
    report += [
        f"{reason}: results {len(each)}, scores moved {sum(each)}"
        for reason, each in reasons.items()
    ]
    moves = sorted(filter(moved, changes), key=lambda change: -abs(moved(change)))
    if moves:
        names = show_distinct([change["system"] for change in moves[:MOVES]], 60)
        rows = [{**change, "shown": name} for change, name in zip(moves, names, strict=False)]
        report += ["", make_table([Column("System", itemgetter("shown")), *_MOVED], rows)]
    if len(moves) > MOVES:
        report += [f"and {len(moves) - MOVES} smaller ones: --json"]
    for change in changes:
        if "corrected" in change:
            report += [
                "",
                *corrections_report(change["corrected"], change["dataset"], partial(show, change)),
            ]
    return report
