"""What a night changed: systems that came and went, scores that moved, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from forecasteval.common.errors import grouped_names, printable
from forecasteval.common.report import Column, Report, make_table, show_number

from .names import show_distinct

if TYPE_CHECKING:
    from .history import History, Line

MOVES: Final = 20  # that a report shows
_CAUSES: Final = {  # by what differs between two lines of a system
    "questions": ("corrected questions or truths", ("questions_sha256",)),
    "dataset": ("dataset rewritten, the same questions", ("dataset_sha256",)),
    "runs": ("other runs", ("runs",)),
    "prediction": ("another prediction", ("prediction_sha256", "prediction")),
    "version": ("another version", ("evaluator", "code_sha256")),
    "rules": ("another rule set", ("rules",)),
    "settings": ("other settings", ("settings", "metric")),
    "model": ("the language model's server", ("degraded",)),
}
_UNKNOWN: Final = "no known cause"


def read_changes(history: History) -> list[dict[str, Any]]:
    """What the latest night of a history changed, a row per system of a dataset; nothing of the first night.

    `kind` is new, gone, back (it was there before), or changed; `causes` names what else differs from the line before.
    """
    return list(_changes(history)) if history.night > 1 else []


def _changes(history: History) -> Iterator[dict[str, Any]]:
    for before, line in history.latest.values():
        if line.get("gone"):
            kind = "gone"
        elif before is None:
            kind = "new"
        else:
            kind = "back" if before.get("gone") else "changed"
        yield {
            "benchmark": line["benchmark"],
            "dataset": line["dataset"],
            "system": line["system"],
            "kind": kind,
            "before": before["score"] if before else None,
            "after": None if kind == "gone" else line["score"],
            "causes": _causes(before, line) if before and kind != "gone" else [],
        }


def _causes(before: Line, line: Line) -> list[str]:
    found = [name for name, (_, keys) in _CAUSES.items() if any(before.get(key) != line.get(key) for key in keys)]
    explained = {"questions": "dataset", "runs": "prediction"}
    return [name for name in found if not any(name == explained.get(other) for other in found)]


def _moved(change: Mapping[str, Any]) -> float:
    """How far a score moved; 0 if it did not, or if there is none."""
    before, after = change["before"], change["after"]
    return 0.0 if before is None or after is None else round(after - before, 12)


def _why(change: Mapping[str, Any]) -> str:
    return ", ".join(_CAUSES[name][0] for name in change["causes"]) or _UNKNOWN


_MOVED: Final = (
    Column("Dataset", lambda change: printable(change["dataset"], 60)),
    Column("Before", lambda change: show_number(change["before"]), "number"),
    Column("Now", lambda change: show_number(change["after"]), "number"),
    Column("Change", lambda change: f"{_moved(change):+.4f}", "number"),
    Column("Why", _why),
)


def changes_report(changes: Sequence[Mapping[str, Any]]) -> Report:
    """How many systems came, went and changed, and why; the scores that moved furthest."""
    report: Report = []
    for kind in ("new", "gone", "back"):
        systems = [
            f"{change['system']} on {change['dataset']}" if change["dataset"] else change["system"]
            for change in changes
            if change["kind"] == kind
        ]
        report += [f"{kind}: {grouped_names(systems)}"] if systems else []
    moved: dict[str, list[bool]] = {}
    for change in changes:
        if change["kind"] in ("changed", "back"):
            moved.setdefault(_why(change), []).append(bool(_moved(change)))
    report += [f"{why}: systems {len(each)}, scores moved {sum(each)}" for why, each in moved.items()]
    moves = sorted(filter(_moved, changes), key=lambda change: -abs(_moved(change)))
    if moves:
        names = show_distinct([change["system"] for change in moves[:MOVES]], 60)
        rows = [{**change, "shown": name} for change, name in zip(moves, names, strict=False)]
        report += ["", make_table([Column("System", itemgetter("shown")), *_MOVED], rows)]
    if len(moves) > MOVES:
        report += [f"and {len(moves) - MOVES} smaller ones: --json"]
    return report
