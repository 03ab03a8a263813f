"""What differs between two nights: systems that came, went or moved, why, and corrected questions."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, NotRequired, TypedDict


class Correction(TypedDict):
    """A question that changed: its "truth", something else of the "question", or it is "new" or
    "gone".
    """

    id: str
    what: str
    before: str  # the truth, "" if it is unknown
    after: str


class Corrections(TypedDict):
    """The first questions of a dataset that changed, and how many did."""

    count: int
    questions: list[Correction]


CUT: Final = 60  # characters of an id or a truth

NOTHING: Final[Corrections] = {"count": 0, "questions": []}


def are_corrections(value: Any) -> bool:
    """Whether a value read from a file is `Corrections`; KeyError or TypeError if it is nothing
    like it.
    """
    return type(value["count"]) is int and all(
        isinstance(each[key], str)
        for each in value["questions"]
        for key in Correction.__annotations__
    )


Key = tuple[str, str, str]  # benchmark, dataset, system


Line = dict[str, Any]


class History(NamedTuple):
    """The bytes of the file, and what is read of them.

    `lines` are all that are whole; `last` holds the last of each system, `latest` those of the
    highest night, each with the one before it.
    """

    raw: bytes
    night: int
    last: dict[Key, Line]
    latest: dict[Key, tuple[Line | None, Line]]
    lines: list[Line]
    warnings: list[str]


CAUSES: Final = {  # by what differs between two lines of a system
    "questions": ("corrected questions or truths", ("questions_sha256",)),
    "dataset": ("dataset rewritten, the same questions", ("dataset_sha256",)),
    "runs": ("other runs", ("runs",)),
    "prediction": ("another prediction", ("prediction_sha256", "prediction")),
    "version": ("another version", ("evaluator", "code_sha256")),
    "rules": ("another rule set", ("rules",)),
    "settings": ("other settings", ("settings", "metric")),
    "model": ("the language model's server", ("degraded",)),
}


class Change(TypedDict):
    """A system of a dataset that the latest night changed.

    `kind` is new, gone, back (it was there before), or changed; `causes` names what else differs
    from the line before.
    """

    benchmark: str
    dataset: str
    system: str
    kind: str
    before: float | None
    after: float | None
    causes: list[str]
    corrected: NotRequired[Corrections]  # of the first system of a dataset


def read_changes(history: History) -> list[Change]:
    """The changes of the latest night of a history; none for the first night."""
    return [_read_change(*lines) for lines in history.latest.values()] if history.night > 1 else []


def _read_change(before: Line | None, line: Line) -> Change:
    gone = bool(line.get("gone"))
    kind = (
        "gone" if gone else "new" if before is None else "back" if before.get("gone") else "changed"
    )
    change: Change = {
        "benchmark": line["benchmark"],
        "dataset": line["dataset"],
        "system": line["system"],
        "kind": kind,
        "before": before["score"] if before else None,
        "after": None if gone else line["score"],
        "causes": [] if gone or before is None else _find_causes(before, line),
    }
    if "corrected" in line:
        change["corrected"] = line["corrected"]
    return change


def _find_causes(before: Line, line: Line) -> list[str]:
    causes = [
        name
        for name, (_, keys) in CAUSES.items()
        if any(before.get(key) != line.get(key) for key in keys)
    ]
    follows = {
        "questions": "dataset",
        "runs": "prediction",
    }  # corrected questions are a rewritten dataset, too
    return [name for name in causes if name not in map(follows.get, causes)]


def moved(change: Change) -> float:
    """How far a score moved; 0 if it did not, or if there is none."""
    before, after = change["before"], change["after"]
    return 0.0 if before is None or after is None else round(after - before, 12)


def why(change: Change) -> str:
    return ", ".join(CAUSES[name][0] for name in change["causes"]) or "no known cause"
