"""What a night changed, in words and tables: who came and went, which scores moved, and which
questions of a dataset are corrected.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Final

from forecasteval.common.errors import grouped_names, printable
from forecasteval.common.records import as_text, group_by
from forecasteval.display.tables import Column, Report, make_table, show_number
from forecasteval.ranking.changes import (
    CORRECTED,
    CUT,
    MORE,
    OTHERS,
    UNKNOWN,
    Change,
    moved,
    why,
)
from forecasteval.ranking.names import show_distinct


def show_id(name: object) -> str:
    """The id of a question, as corrections have it."""
    return printable(as_text(name), CUT)


_CORRECTED: Final = (
    Column("Question", lambda row: printable(row["id"], CUT)),
    Column("Dataset", lambda row: printable(row["dataset"], CUT)),
    Column("Changed", lambda row: printable(row["what"], CUT)),
    Column("Truth before", lambda row: printable(row["before"], CUT) or "–"),
    Column("Truth now", lambda row: printable(row["after"], CUT) or "–"),
)


def name_changes(changes: Iterable[Change], names: Mapping[str, str]) -> list[Change]:
    """The changes with the display names of systems."""
    return [
        {**change, "system": names.get(change["system"], change["system"])} for change in changes
    ]


MOVES: Final = 20  # that a table shows


_SCORES: Final = (
    Column("Before", lambda change: show_number(change["before"]), "number"),
    Column("Now", lambda change: show_number(change["after"]), "number"),
    Column("Change", lambda change: f"{moved(change):+.4f}", "number"),
)
_DATASET: Final = Column("Dataset", lambda change: printable(change["dataset"], 60))
_MOVED: Final = (_DATASET, *_SCORES, Column("Why", why))
_OVERALL: Final = (
    *_SCORES,
    Column("Rank before", lambda change: str(change["ranks"][0] or "–"), "number"),
    Column("Rank now", lambda change: str(change["ranks"][1] or "–"), "number"),
)
_KINDS: Final = {
    "new": "new",
    "gone": "gone",
    "waiting": "no truth any more",
    "back": "back",
}


def changes_report(changes: Sequence[Change], overall: Sequence[Change] = ()) -> Report:
    """Who came and went; how many results changed, and why; the scores that moved furthest, those
    by more truths apart; `overall`, those over all datasets; corrected questions.
    """
    report: Report = []
    firsts = dict.fromkeys(change["system"] for change in changes if "is_first" in change)
    report += [f"new systems: {grouped_names([*firsts])}"] if firsts else []
    for kind, words in _KINDS.items():
        same_kind = [change for change in changes if change["kind"] == kind]
        report += [f"{words}: {_list_places(same_kind)}"] if same_kind else []
    named = [change for change in changes if "renamed" in change]
    for names, same in group_by(
        named, lambda change: (change["renamed"], change["system"])
    ).items():
        report += [f"renamed: {' → '.join(map(printable, names))}, results {len(same)}"]
    told = {"changed": ["renamed"], "back": []}  # causes that a line above has told already
    changed = [
        change
        for change in changes
        if change["kind"] in told and (change["causes"] != told[change["kind"]] or moved(change))
    ]
    for reason, same in group_by(changed, _reason).items():
        moves = sum(bool(moved(change)) for change in same)
        report += [f"{reason}: results {len(same)}, scores moved {moves}"]
    grown = [change for change in changes if change["causes"] == [MORE]]
    others = [change for change in changes if change["causes"] != [MORE]]
    report += _show_moves("", others, _MOVED)
    report += _show_moves("Moves by more truths", grown, _MOVED)
    report += _show_moves("Over all datasets", overall, _OVERALL)
    return report + _list_corrections(changes)


def _list_corrections(changes: Sequence[Change]) -> Report:
    """The corrected questions of all datasets as a table."""
    rows, more = list[dict[str, object]](), list[str]()
    for change in changes:
        if corrected := change.get("corrected"):
            dataset, questions = change["dataset"], corrected["questions"]
            rows += [{**question, "dataset": dataset} for question in questions]
            if corrected["count"] > len(questions):
                count = corrected["count"] - len(questions)
                more.append(f"and {count} more of {printable(dataset, CUT)}")
    return ["", make_table(_CORRECTED, rows), *more] if rows else []


def _list_places(changes: Sequence[Change]) -> str:
    """Which systems on which datasets."""
    systems = list(dict.fromkeys(change["system"] for change in changes))
    datasets = list(dict.fromkeys(change["dataset"] or "no dataset" for change in changes))
    if len(systems) * len(datasets) != len(changes):
        return grouped_names([f"{each['system']} on {each['dataset']}" for each in changes])
    on = datasets[0] if len(datasets) == 1 else f"datasets {grouped_names(datasets)}"
    return f"{grouped_names(systems)} on {printable(on, 300)}"


def _reason(change: Change) -> str:
    """Why, and where: what is asked on a dataset is its own matter."""
    is_asked = {MORE, CORRECTED, OTHERS, UNKNOWN}.intersection(change["causes"])
    return f"{printable(change['dataset'], 60)}: {why(change)}" if is_asked else why(change)


def _show_moves(title: str, changes: Sequence[Change], columns: Sequence[Column]) -> Report:
    """The largest moves of scores or ranks as a table; nothing without one."""
    moves = sorted(
        (change for change in changes if moved(change) or "ranks" in change),
        key=lambda change: -abs(moved(change)),
    )
    if not moves:
        return []
    names = show_distinct([change["system"] for change in moves[:MOVES]], 60)
    rows = [{**change, "shown": name} for change, name in zip(moves, names, strict=False)]
    table = make_table([Column("System", itemgetter("shown")), *columns], rows)
    more = [f"and {len(moves) - MOVES} smaller ones: --json"] if len(moves) > MOVES else []
    return ["", *([title] if title else []), table, *more]
