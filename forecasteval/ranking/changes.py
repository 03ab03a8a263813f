"""What differs between two nights: systems that came, went, moved or have another name, why, and
which questions of a dataset changed.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, NotRequired, TypedDict


class Correction(TypedDict):
    """A question that changed: its "truth", something else of the "question", or it is "new" or
    "gone".
    """

    id: str
    what: str
    before: str  # the truth, "" if there is none or it is unknown
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

OVERALL: Final = "all datasets"  # in place of a dataset: of the lines of a table over all of them


class History(NamedTuple):
    """The bytes of the file, and what is read of them.

    `lines` are all that are whole; `last` holds the last of each system, `latest` those of the
    highest night, each with the one before it: of a renamed system that of its name before.
    """

    raw: bytes
    night: int
    last: dict[Key, Line]
    latest: dict[Key, tuple[Line | None, Line]]
    lines: list[Line]
    warnings: list[str]


# What the comparison of a dataset's old and new questions finds; a line has them as `asked`.
MORE, CORRECTED, OTHERS, UNKNOWN = "truths", "corrected", "questions", "unknown"
CAUSES: Final = {
    MORE: "more truths",
    CORRECTED: "corrected truths",
    OTHERS: "other questions",
    UNKNOWN: "other questions or truths",
    "dataset": "dataset rewritten, the same resolved questions",
    "renamed": "renamed",
    "runs": "other runs",
    "prediction": "another prediction",
    "version": "another version",
    "rules": "another rule set",
    "settings": "other settings",
    "model": "the language model's server",
}
_KEYS: Final = {  # by which two lines of a system differ
    "dataset": ("dataset_sha256", "truths_sha256"),
    "renamed": ("system",),
    "runs": ("runs",),
    "prediction": ("prediction_sha256", "prediction"),
    "version": ("evaluator", "code_sha256"),
    "rules": ("rules",),
    "settings": ("settings", "metric"),
    "model": ("degraded",),
}


class Change(TypedDict):
    """A system of a dataset, or of all datasets, that the latest night changed.

    `kind` is new, gone, waiting (no question has a truth any more), back (it was there before), or
    changed; `causes` names what else differs from the line before.
    """

    benchmark: str
    dataset: str
    system: str
    kind: str
    before: float | None
    after: float | None
    causes: list[str]
    corrected: NotRequired[Corrections]  # of the first system of a dataset
    resolved: NotRequired[list[int]]  # with a truth before and now, and all questions
    renamed: NotRequired[str]  # the name before
    is_first: NotRequired[bool]  # the system was on no dataset of the benchmark before
    ranks: NotRequired[list[int | None]]  # over all datasets, before and now


def read_changes(history: History) -> list[Change]:
    """The changes of the latest night of a history; none for the first night."""
    return _read_changes(history, overall=False)


def read_moves(history: History) -> list[Change]:
    """The systems whose score or rank over all datasets the latest night changed."""
    changes = [change for change in _read_changes(history, overall=True) if "ranks" in change]
    return [c for c in changes if moved(c) or c["ranks"][0] != c["ranks"][1]]


def _read_changes(history: History, overall: bool) -> list[Change]:
    if history.night < 2:
        return []
    earlier = (line for line in history.lines if line["night"] < history.night)
    known = {(line["benchmark"], line["system"]) for line in earlier}
    changes = []
    for before, line in history.latest.values():
        if ("rank" in line) == overall and not ("renamed" in line and line.get("gone")):
            change = _read_change(before, line)
            if change["kind"] == "new" and (line["benchmark"], line["system"]) not in known:
                change["is_first"] = True
            changes.append(change)
    return changes


def _read_change(before: Line | None, line: Line) -> Change:
    gone, stays = bool(line.get("gone")), before is not None and not before.get("gone")
    change: Change = {
        "benchmark": line["benchmark"],
        "dataset": line["dataset"],
        "system": line["system"],
        "kind": "new" if before is None else "changed" if stays else "back",
        "before": before["score"] if before else None,
        "after": None if gone else line["score"],
        "causes": [] if gone or before is None else _find_causes(before, line),
    }
    if gone:
        change["kind"] = "waiting" if line.get("waits") else "gone"
    if "corrected" in line:
        change["corrected"] = line["corrected"]
    if "renamed" in line:
        change["renamed"] = line["renamed"]
    if before is None or gone:
        return change
    both = before.keys() & line.keys()
    if both >= {"resolved", "questions"} and before["resolved"] != line["resolved"]:
        change["resolved"] = [before["resolved"], line["resolved"], line["questions"]]
    if "rank" in line and "rank" in before:
        change["ranks"] = [before["rank"], line["rank"]]
    return change


def _find_causes(before: Line, line: Line) -> list[str]:
    causes = [
        name
        for name, keys in _KEYS.items()
        if any(before.get(key) != line.get(key) for key in keys)
    ]
    if before.get("questions_sha256") != line.get("questions_sha256"):
        causes = [*line.get("asked", [UNKNOWN]), *(name for name in causes if name != "dataset")]
    same_file = before.get("prediction_sha256") == line.get("prediction_sha256")
    if "runs" in causes or ("renamed" in causes and same_file):
        causes = [name for name in causes if name != "prediction"]  # it follows from these
    return causes


def moved(change: Change) -> float:
    """How far a score moved; 0 if it did not, or if there is none.

    >>> moved({"before": 0.5, "after": 0.25}), moved({"before": None, "after": 0.25})
    (-0.25, 0.0)
    """
    before, after = change["before"], change["after"]
    return 0.0 if before is None or after is None else round(after - before, 12)


def why(change: Change) -> str:
    """The causes of a change, in words.

    >>> why({"causes": ["truths"], "resolved": [20, 35, 52]})
    'more truths (20 → 35 of 52)'
    """
    texts = [CAUSES.get(name, CAUSES[UNKNOWN]) for name in change["causes"]]
    if texts and "resolved" in change:  # what is asked stands first
        before, after, questions = change["resolved"]
        texts[0] += f" ({before} → {after} of {questions})"
    return ", ".join(texts) or "no known cause"
