"""The parts of a result that ranking and comparison need: its row, and the scores of its questions
by level.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, product
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NamedTuple, TypedDict

from forecasteval.common import forms
from forecasteval.common.errors import InputError, printable
from forecasteval.common.forms import FormError
from forecasteval.common.records import JsonObject, dump_json
from forecasteval.common.statistics import cluster_values

from .names import UNKNOWN, About, split_name

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]

ALPHA: Final = 0.05  # from this p-value on, a difference is not significant
SEED: Final = 0  # of random signs
UNPARSED: Final = ("unparsed", "illegal")  # outcomes of answers that could not be read

Strata = list[tuple[float, list[float]]]  # a weight and values, level by level
Interval = tuple[float, float]
Level = int | str  # a number, or "" where a benchmark has no levels
Signature = dict[str, object]  # as JSON has it: levels are texts there


# --- Scales ---


class Scale(NamedTuple):
    """The bounds of a benchmark's scores, infinite where there are none, and which end is
    better.
    """

    low: float = 0.0
    high: float = 1.0
    higher_is_better: bool = True

    @property
    def sign(self) -> int:
        return 1 if self.higher_is_better else -1

    @property
    def width(self) -> float:
        return self.high - self.low

    def to_unit(self, scores: Array) -> Array:
        """Scores of a bounded scale as ones in [0, 1], higher is better."""
        return (scores - self.low if self.higher_is_better else self.high - scores) / self.width

    def describe(self) -> dict[str, Any]:
        """The keys of a result or a table about its scale: none for the usual one, [0, 1], higher
        is better.
        """
        if self == Scale():
            return {}
        bounds = [None if math.isinf(bound) else bound for bound in (self.low, self.high)]
        return {"score_bounds": bounds, "higher_is_better": self.higher_is_better}


def read_scale(values: JsonObject) -> Scale:
    """The scale that a result was described with (`Scale.describe`)."""
    low, high = values.get("score_bounds") or (0.0, 1.0)
    better = values.get("higher_is_better") is not False
    return Scale(-math.inf if low is None else low, math.inf if high is None else high, better)


@dataclass(frozen=True, kw_only=True)
class Scaled:
    """What has a scale, as JSON has it: `Scale.describe`; None for both of the usual one."""

    score_bounds: tuple[float | None, float | None] | None = None
    higher_is_better: bool | None = None

    @property
    def scale(self) -> Scale:
        bounds = {"score_bounds": self.score_bounds, "higher_is_better": self.higher_is_better}
        return read_scale(bounds)


def label_dataset(name: str) -> str:
    """Shorten the name of a dataset's file for tables and pages.

    >>> label_dataset("250901.json")
    '250901'
    """
    shown = printable(name or "one file", 60)
    return shown.removesuffix(".json").removesuffix(".jsonl").removesuffix(".csv")


# --- Rows of files ---


@dataclass(frozen=True, kw_only=True)
class FileRow:
    """What a board says of a file, or of several runs together, whatever the benchmark."""

    name: str
    benchmark: str
    dataset: str | None
    prediction: str | None
    warnings: int
    degraded: bool  # a language model failed
    signature: Signature
    system: str = ""  # the name on every dataset, where the file has an alias of it
    damaged_lines: int = 0
    file_sha256: str = ""  # of the stored result

    @property
    def system_name(self) -> str:
        """The name that the system has on every dataset."""
        return self.system or split_name(self.name, self.dataset).system

    @property
    def files(self) -> Sequence[FileRow]:
        """The files that it stands for: its runs, if it has several."""
        return [self]


@dataclass(frozen=True, kw_only=True)
class ForecasterRow:
    """A forecaster of the table in a file; lower scores are better."""

    rank: int | None
    name: str
    metric: str
    score: float
    interval: Interval | None
    rank_interval: tuple[int, int] | None
    n: int
    provisional: bool = False
    about: About = UNKNOWN
    p_leader: ClassVar[None] = None  # ranks are tested, not differences to the leader

    @property
    def system_name(self) -> str:
        """A forecaster has one name."""
        return self.name

    @property
    def is_tied(self) -> bool | None:
        """Whether no test tells it from the best; None if nothing tests it."""
        return self.rank_interval[0] <= 1 if self.rank_interval else None


@dataclass(frozen=True, kw_only=True)
class ForecasterTable(FileRow):
    """A result that ranks the forecasters in it is a table of the board as it stands."""

    kind: Literal["forecasters"]
    rows: list[ForecasterRow]
    n_events: int
    pending: int = 0  # events without an outcome yet, not among these

    # What tables of systems have, too.
    void: ClassVar[int] = 0
    weights: ClassVar[Mapping[Level, float]] = {}
    level_counts: ClassVar[Mapping[Level, int]] = {}
    questions: ClassVar[Sequence[Any]] = ()
    scale: ClassVar[Scale] = Scale(0.0, 1.0, False)

    @property
    def label(self) -> str:
        return label_dataset(self.dataset or self.name)

    @property
    def resolved(self) -> int:
        """How many events have an outcome."""
        return self.n_events


# --- Systems ---


@dataclass(frozen=True)
class Questions:
    """The questions of a level as columns, in an order that all systems share."""

    ids: list[Any]
    scores: list[float]
    answered: list[bool]  # whether an answer was read
    clusters: list[str]  # of questions that hang together; none where each stands alone
    # Also of pending questions, which are in nothing else; and "padded".
    outcomes: dict[str, int] = field(default_factory=dict, metadata=forms.ALWAYS)

    @property
    def columns(self) -> tuple[list[Any], ...]:
        return self.ids, self.scores, self.answered, self.clusters


def make_questions(columns: Iterable[Iterable[Any]]) -> Questions:
    """Questions of the `columns` of others, without their outcomes."""
    ids, scores, answered, clusters = map(list, columns)
    return Questions(ids, scores, answered, clusters)


@dataclass(frozen=True, kw_only=True)
class System(Scaled):
    """One file's result without its texts: what a board says of the file, and its questions by
    level.
    """

    row: FileRow
    questions: dict[Level, Questions]
    void: int = 0  # questions that are left out of everything
    runs: tuple[System, ...] = ()  # whose means the scores are, if it has several

    @property
    def name(self) -> str:
        return self.row.name

    @property
    def system(self) -> str:
        """The name that the system has on every dataset."""
        return self.row.system_name

    @cached_property
    def group(self) -> tuple[str, str, str]:
        """Benchmark, dataset, checksum of the questions."""
        return (
            self.row.benchmark,
            str(self.row.dataset or ""),
            str(self.row.signature["questions_sha256"]),
        )

    @cached_property
    def policy(self) -> Signature:
        """The signature without checksums."""
        return {
            key: value for key, value in self.row.signature.items() if not key.endswith("sha256")
        }

    @cached_property
    def weights(self) -> dict[Level, float]:
        return read_weights(self.policy)

    @cached_property
    def counts(self) -> dict[Level, int]:
        """The number of questions by level."""
        return {level: len(questions.ids) for level, questions in self.questions.items()}

    @cached_property
    def share(self) -> float:
        return self.share_of(self.counts)

    def share_of(self, counts: Mapping[Level, int]) -> float:
        """Of the weights that count: below 1 where a level without questions, by these counts,
        keeps its weight. A level whose questions are all pending gives it away.
        """
        if not self.policy.get("fixed_weights"):
            return 1.0
        used = sum(self.weights[level] for level, count in counts.items() if count)
        waiting = sum(
            self.weights[level]
            for level, questions in self.questions.items()
            if questions.outcomes.get("pending") and not counts.get(level)
        )
        return used / (sum(self.weights.values()) - waiting or 1.0)

    @property
    def is_blank(self) -> bool:
        """Whether no answer to a resolved question could be read."""
        return not any(any(questions.answered) for questions in self.questions.values())

    @property
    def pending(self) -> int:
        """The number of questions without a truth yet."""
        return self.count_pending(self.questions)

    def count_pending(self, levels: Iterable[Level]) -> int:
        """The number of these levels' questions without a truth yet."""
        run = self.runs[0] if self.runs else self
        return sum(run.questions[level].outcomes.get("pending", 0) for level in levels)

    def strata(self, levels: Iterable[Level]) -> Strata:
        """Weight and scores of each level; their `stratified_mean` is the overall score."""
        return [
            (self.weights[level], [self.share * score for score in self.questions[level].scores])
            for level in levels
        ]

    def cluster(self, strata: Strata, levels: Sequence[Level]) -> Strata:
        """Values by question as values by cluster (`cluster_values`): the mean is the same, errors
        are made of them.
        """
        clusters = [self.questions[level].clusters for level in levels]
        return [
            (weight, cluster_values(values, names) if names else values)
            for names, (weight, values) in zip(clusters, strata, strict=True)
        ]


def read_weights(signature: Signature) -> dict[Level, float]:
    """The weights of a signature by level; {"": 1} of a benchmark without levels."""
    weights = signature.get("weights", {"": 1.0})
    found: dict[Level, float] = forms.read_as(dict[Level, float], weights, "weights")
    return found


def rename(
    result: System | ForecasterTable, aliases: Mapping[str, str]
) -> System | ForecasterTable:
    """The result, under the name of its system if its file has an alias of it."""
    if not isinstance(result, System) or result.system not in aliases:
        return result
    return replace(result, row=replace(result.row, system=aliases[result.system]))


def mark_file(result: System | ForecasterTable, checksum: str) -> System | ForecasterTable:
    """The result with the sha256 of the file that holds it."""
    if isinstance(result, System):
        return replace(result, row=replace(result.row, file_sha256=checksum))
    return replace(result, file_sha256=checksum)


def read_result(results: Mapping[str, object], name: str | None = None) -> System | ForecasterTable:
    """The parts of a result that ranking needs; InputError for a score out of bounds, FormError
    for what no benchmark makes, and as `read_system`.
    """
    if "ranking" not in results:
        return _require_bounds(read_system(results, name))
    row = _file_row(results, name or str(results.get("name", "forecasts")))
    table = {
        **vars(row),
        "kind": "forecasters",
        "rows": results["ranking"],
        "n_events": results.get("n_events"),
        "pending": results.get("n_pending", 0),
    }
    return forms.from_record(ForecasterTable, table)


def read_system(results: JsonObject, name: str | None = None) -> System:
    """The scores of one result; raises InputError if it has none, or if missing answers are left
    out of it.
    """
    signature, name = results["signature"], name or str(results.get("name", "system"))
    if "items" not in results:
        raise InputError(
            name, "expected a result with a score per question", str(results.get("benchmark"))
        )
    if signature.get("missing", "zero") != "zero":
        raise InputError(
            name,
            "missing answers must score 0: systems are judged on the same questions",
            "missing skip",
        )
    row, scale = _file_row(results, name), read_scale(results)
    forms.read_as(str, signature.get("questions_sha256"), f"{name}: questions_sha256")
    has_levels = "weights" in signature
    by_level: dict[Level, list[_Answer]] = {level: [] for level in read_weights(row.signature)}
    try:
        for item in results["items"]:
            level = _parse_level(item["level"]) if has_levels else ""
            by_level[level].append(_read_answer(item))
    except (LookupError, TypeError, AttributeError):
        raise FormError(f"{name}: expected items with the keys of this version") from None
    questions = {level: _columns(answers) for level, answers in by_level.items()}
    void = forms.read_as(int, results.get("void", 0), f"{name}: void")
    return System(row=row, questions=questions, void=void, **scale.describe())


class _Answer(NamedTuple):
    """What is kept of an item; there may be a million of them."""

    key: tuple[str, float]
    id: Any
    outcome: str
    cluster: str | None
    padded: bool


def _read_answer(item: JsonObject) -> _Answer:
    padded = bool(item.get("padded"))
    return _Answer(question_key(item), item["id"], item["outcome"], item.get("cluster"), padded)


def _columns(answers: list[_Answer]) -> Questions:
    outcomes = Counter(answer.outcome for answer in answers)
    outcomes.update(["padded"] * sum(answer.padded for answer in answers))
    answers = [answer for answer in answers if answer.outcome != "pending"]
    answers.sort(key=attrgetter("key"))
    return Questions(
        ids=[answer.id for answer in answers],
        scores=[answer.key[1] for answer in answers],
        answered=[answer.outcome == "scored" for answer in answers],
        clusters=[answer.cluster for answer in answers if answer.cluster is not None],
        outcomes=outcomes,
    )


def question_key(item: JsonObject) -> tuple[str, float]:
    """The sort key of items; equal questions are sorted by scores, so that the order of a file does
    not matter. A pending question has none.
    """
    return item["question"], 0.0 if item["score"] is None else item["score"]


_COPIED: Final = ("benchmark", "dataset", "prediction", "system", "damaged_lines")


def _file_row(results: JsonObject, name: str) -> FileRow:
    # As it is stored: the keys of `weights` are numbers in a result that was scored just now, and
    # texts in a file.
    signature = json.loads(dump_json(results["signature"]))
    record = {
        **dict.fromkeys(("benchmark", "dataset", "prediction")),
        **{key: results[key] for key in _COPIED if key in results},
        "name": name,
        "warnings": len(results["warnings"]),
        "degraded": model_failures(results) is not None,
        "signature": {key: signature[key] for key in results["signature"]},
    }
    return forms.from_record(FileRow, record)


def _parse_level(level: int | str) -> Level:
    return int(level) if str(level).isdecimal() else level


def model_failures(results: Mapping[str, object]) -> dict[str, int] | None:
    """How often the language model failed, by kind, in a result that is degraded by it; None for
    any other result.
    """
    models = (results.get(key) for key in ("llm", "llm_names"))
    degraded = [each for each in models if isinstance(each, Mapping) and each.get("degraded")]
    failures = Counter[str]()
    for model in degraded:
        failures.update(model.get("failures"))
    return dict(sorted(failures.items())) if degraded else None


def _require_bounds(system: System) -> System:
    """The system; InputError if a score is outside of its scale: no benchmark made it."""
    low, high, _ = system.scale
    for score in chain.from_iterable(questions.scores for questions in system.questions.values()):
        if not low - 1e-9 <= score <= high + 1e-9:
            raise InputError(system.name, f"expected scores in [{low:g}, {high:g}]", f"{score}")
    return system


def levels_that_count(counts: Mapping[Level, int], min_questions: int) -> list[Level]:
    """The levels with questions, and with `min_questions` where a benchmark has levels."""
    return [
        level for level, count in counts.items() if count and (count >= min_questions or not level)
    ]


class Unread(TypedDict):
    """How many answers are missing, how many could not be read, and how many lists are padded."""

    missing: int
    unparsed: int
    padded: int


def count_unread(systems: Iterable[System], levels: Iterable[Level]) -> Unread:
    """The answers of systems that are missing or could not be read."""
    outcomes = Counter[str]()
    for system, level in product(systems, levels):
        outcomes.update(system.questions[level].outcomes)
    unparsed = sum(outcomes[outcome] for outcome in UNPARSED)
    return Unread(missing=outcomes["missing"], unparsed=unparsed, padded=outcomes["padded"])


def file_row(system: System | ForecasterTable) -> FileRow:
    """What a board says of the file."""
    return system.row if isinstance(system, System) else system


def distinct_names(results: Iterable[Mapping[str, object]]) -> list[str]:
    """The results' names, or `system 1` …; a name that was there before carries its place: `a
    (2)`.
    """
    names: list[str] = []
    for number, result in enumerate(results, 1):
        name = str(result.get("name", f"system {number}"))
        names.append(f"{name} ({number})" if name in names else name)
    return names


def require_same_policy(a: System, b: System) -> None:
    """Raise InputError, naming the policies, if two systems were not scored alike."""
    first, second = ({**system.policy, **system.scale.describe()} for system in (a, b))
    differing = [key for key in {**first, **second} if first.get(key) != second.get(key)]
    if differing:
        policies = "; ".join(f"{key} {first.get(key)} and {second.get(key)}" for key in differing)
        raise InputError(
            f"{a.name}, {b.name}", "expected results of the same version and policies", policies
        )
