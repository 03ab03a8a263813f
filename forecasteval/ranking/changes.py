"""What differs between two nights: systems that came, went, moved or have another name, why, and
which questions of a dataset changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, NotRequired, TypedDict

from forecasteval.common import forms

from .systems import Interval

CUT: Final = 60  # characters of an id or a truth
OVERALL: Final = "all datasets"  # in place of a dataset: of the lines of a table over all of them
Key = tuple[str, str, str]  # benchmark, dataset, system


@dataclass(frozen=True, kw_only=True)
class Correction:
    """A question that changed: its "truth", something else of the "question", or it is "new" or
    "gone".
    """

    id: str
    what: str
    before: str  # the truth, "" if there is none or it is unknown
    after: str


@dataclass(frozen=True, kw_only=True)
class Corrections:
    """The first questions of a dataset that changed, and how many did."""

    count: int
    questions: list[Correction]


NOTHING: Final = Corrections(count=0, questions=[])


@dataclass(frozen=True, kw_only=True)
class Line:
    """What a system had since a night; `gone`: nothing any more, and if it `waits`, then because no
    question has a truth.
    """

    night: int = field(default=0, metadata=forms.ALWAYS)
    date: str = field(default="", metadata=forms.ALWAYS)
    benchmark: str
    dataset: str
    system: str
    prediction: str
    metric: str | None
    score: float | None
    interval: Interval | None
    n: int
    evaluator: str
    rules: str | None = field(default=None, metadata=forms.ALWAYS)
    settings: dict[str, Any]
    gone: bool = False
    waits: bool = False
    renamed: str = ""  # its name before; of one that is gone, its new name

    @property
    def key(self) -> Key:
        return self.benchmark, self.dataset, self.system


@dataclass(frozen=True, kw_only=True)
class WeekLine(Line):
    """A system on a dataset."""

    resolved: int  # of the questions
    questions: int
    degraded: bool
    runs: int = 0  # 0 of a system that has a single one
    questions_sha256: str = ""
    dataset_sha256: str = ""
    truths_sha256: str = ""
    prediction_sha256: str = ""
    code_sha256: str = ""
    asked: list[str] | None = None  # what changed of the questions; None: nothing, or unknown
    corrected: Corrections = NOTHING  # of the first line of a dataset


@dataclass(frozen=True, kw_only=True)
class SeasonLine(Line):
    """A system over all datasets."""

    rank: int | None
    datasets: int


class History(NamedTuple):
    """The bytes of the file, and what is read of them.

    `lines` are all that are whole; `last` holds the last of each system, `latest` those of the
    highest night, each with the one before it: of a renamed system that of its name before.
    """

    raw: bytes
    night: int
    last: Mapping[Key, Line]
    latest: Mapping[Key, tuple[Line | None, Line]]
    lines: list[Line]
    warnings: list[str]

    @property
    def date(self) -> str:
        """The date of the latest night."""
        return max((line.date for _, line in self.latest.values()), default="")


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
    corrected: NotRequired[dict[str, Any]]  # of the first system of a dataset: `Corrections`
    resolved: NotRequired[list[int]]  # with a truth before and now, and all questions
    renamed: NotRequired[str]  # the name before
    is_first: NotRequired[bool]  # the system was on no dataset of the benchmark before
    ranks: NotRequired[list[int | None]]  # over all datasets, before and now


def read_changes(history: History) -> list[Change]:
    """The changes of the latest night of a history; none for the first night."""
    return _read_changes(history, WeekLine)


def read_moves(history: History) -> list[Change]:
    """The systems whose score or rank over all datasets the latest night changed."""
    changes = [change for change in _read_changes(history, SeasonLine) if "ranks" in change]
    return [c for c in changes if moved(c) or c["ranks"][0] != c["ranks"][1]]


def _read_changes(history: History, kind: type[Line]) -> list[Change]:
    if history.night < 2:
        return []
    earlier = (line for line in history.lines if line.night < history.night)
    known = {(line.benchmark, line.system) for line in earlier}
    changes = []
    for before, line in history.latest.values():
        if isinstance(line, kind) and not (line.renamed and line.gone):
            change = _read_change(before, line)
            if change["kind"] == "new" and (line.benchmark, line.system) not in known:
                change["is_first"] = True
            changes.append(change)
    return changes


def _read_change(before: Line | None, line: Line) -> Change:
    stays = before is not None and not before.gone
    kind = "new" if before is None else "changed" if stays else "back"
    change: Change = {
        "benchmark": line.benchmark,
        "dataset": line.dataset,
        "system": line.system,
        "kind": ("waiting" if line.waits else "gone") if line.gone else kind,
        "before": before.score if before else None,
        "after": None if line.gone else line.score,
        "causes": [] if line.gone or before is None else _find_causes(before, line),
    }
    if line.renamed:
        change["renamed"] = line.renamed
    if isinstance(line, WeekLine) and line.corrected != NOTHING:
        change["corrected"] = forms.to_record(line.corrected)
    if line.gone:
        return change
    if isinstance(line, WeekLine) and isinstance(before, WeekLine):
        if before.resolved != line.resolved:
            change["resolved"] = [before.resolved, line.resolved, line.questions]
    elif isinstance(line, SeasonLine) and isinstance(before, SeasonLine):
        change["ranks"] = [before.rank, line.rank]
    return change


def _find_causes(before: Line, line: Line) -> list[str]:
    old, new = vars(before), vars(line)
    differing = {key for key in old if old[key] != new.get(key)}
    causes = [name for name, keys in _KEYS.items() if not differing.isdisjoint(keys)]
    if "questions_sha256" in differing:
        asked = [UNKNOWN] if new["asked"] is None else new["asked"]
        causes = [*asked, *(name for name in causes if name != "dataset")]
    if "runs" in causes or ("renamed" in causes and "prediction_sha256" not in differing):
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
