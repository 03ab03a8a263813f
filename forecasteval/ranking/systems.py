"""Systems as ranking and comparison need them: a row, and the scores of
questions by level.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any, Final, TypedDict

from forecasteval.common.errors import InputError
from forecasteval.common.records import as_text
from forecasteval.common.statistics import cluster_values
from forecasteval.display.results import UNPARSED

from .files import (
    FileRow,
    ForecasterTable,
    Signature,
    read_weights,
)
from .scale import Level, Scaled

ALPHA: Final = 0.05  # from this p-value on, a difference is not significant
REMOVED: Final = "removed"  # in the place of the checksum of a file that is gone
Strata = list[tuple[float, list[float]]]  # a weight and values, level by level


@dataclass(frozen=True)
class QuestionColumns:
    """The questions of a level as columns, in an order that all systems share."""

    ids: list[object]
    scores: list[float]
    answered: list[bool]  # whether an answer was read
    clusters: list[str]  # of questions that hang together; none where each stands alone
    # Also of pending questions, which are in nothing else; "padded" and "late".
    outcomes: dict[str, int] = field(default_factory=dict, kw_only=True)

    @property
    def columns(self) -> tuple[list[Any], ...]:
        """Return what another of some of these questions is made of,
        without outcomes.
        """
        return self.ids, self.scores, self.answered, self.clusters


def join_clusters(parts: Sequence[QuestionColumns]) -> list[str]:
    """Name the cluster of every question of several levels or datasets; none where each
    stands alone. A series that two of them name is one cluster.
    """
    if not any(part.clusters for part in parts):
        return []
    names: list[str] = []
    for number, part in enumerate(parts):
        single_names = (f"\0{number} {row}" for row in range(len(part.ids)))
        names += part.clusters or single_names
    return names


def count_series(parts: Sequence[QuestionColumns]) -> int:
    """Count the independent clusters of questions; 0 if every question stands alone."""
    names = join_clusters(parts)
    count = len(set(names))
    return count if count < len(names) else 0


@dataclass(frozen=True, kw_only=True)
class System(Scaled):
    """A system on one dataset, without texts: the result of a file, or the means of its
    runs, and its questions by level.
    """

    row: FileRow
    questions: dict[Level, QuestionColumns]
    void: int = 0  # questions that are left out of everything
    # The score that a blind guess expects, where it is known
    guess: float | None = None
    runs: tuple[System, ...] = ()  # whose means the scores are, if it has several

    @property
    def name(self) -> str:
        return self.row.name

    @property
    def system(self) -> str:
        """Return the name that the system has on every dataset."""
        return self.row.system_name

    @cached_property
    def group(self) -> tuple[str, str, str]:
        """Return the benchmark, the dataset and the checksum of the questions."""
        return (
            self.row.benchmark,
            str(self.row.dataset or ""),
            str(self.row.signature["questions_sha256"]),
        )

    @cached_property
    def policy(self) -> Signature:
        """Return the signature without checksums."""
        return self.row.policy

    @cached_property
    def weights(self) -> dict[Level, float]:
        return read_weights(self.policy)

    @cached_property
    def counts(self) -> dict[Level, int]:
        """Return the number of questions by level."""
        return {
            level: len(questions.ids) for level, questions in self.questions.items()
        }

    @cached_property
    def share(self) -> float:
        return self.share_of(self.counts)

    def share_of(self, counts: Mapping[Level, int]) -> float:
        """Return the share of the weights that count. It is below 1 where a level
        without questions, by these counts, keeps its weight. A level whose questions
        are all pending gives it away.
        """
        if not self.policy.get("fixed_weights"):
            return 1.0
        used = sum(self.weights[level] for level, count in counts.items() if count)
        empty = [level for level in self.questions if not counts.get(level)]
        unresolved = sum(
            self.weights[level]
            for level in empty
            if self.questions[level].outcomes.get("pending")
        )
        total = sum(self.weights.values())
        return used / (total - unresolved or 1.0)

    @property
    def outcomes(self) -> dict[Level, dict[str, int]]:
        """Return how often each outcome is among the answers of a level."""
        return {
            level: questions.outcomes for level, questions in self.questions.items()
        }

    @property
    def is_blank(self) -> bool:
        """Return whether no answer to a resolved question could be read."""
        return not any(any(questions.answered) for questions in self.questions.values())

    @property
    def pending(self) -> int:
        """Return the number of questions without a truth yet."""
        return self.count_pending(self.questions)

    def count_pending(self, levels: Iterable[Level]) -> int:
        """Count the questions of these levels without a truth yet."""
        # Outcomes of several runs are counted over all of them.
        run, *_ = self.runs or (self,)
        return sum(run.questions[level].outcomes.get("pending", 0) for level in levels)

    def strata(self, levels: Iterable[Level]) -> Strata:
        """List weight and scores of each level; their `stratified_mean` is the
        overall score.
        """
        share = self.share
        return [
            (
                self.weights[level],
                [share * score for score in self.questions[level].scores],
            )
            for level in levels
        ]

    def cluster(self, strata: Strata, levels: Sequence[Level]) -> Strata:
        """Turn values by question into values by cluster (`cluster_values`): the mean
        is the same, errors are made of them.
        """
        clustered = []
        for level, (weight, values) in zip(levels, strata, strict=True):
            names = self.questions[level].clusters
            if names:
                values = cluster_values(values, names)
            clustered.append((weight, values))
        return clustered


def rename(
    result: System | ForecasterTable, aliases: Mapping[str, str]
) -> System | ForecasterTable:
    """Return the result under the name of its system if its file has an alias of it."""
    if not isinstance(result, System) or result.system not in aliases:
        return result
    return mark(result, system=aliases[result.system])


def mark(result: System | ForecasterTable, **values: Any) -> System | ForecasterTable:
    """Return the result with other values of what a board says of its file."""
    if isinstance(result, System):
        return replace(result, row=replace(result.row, **values))
    return replace(result, **values)


def file_row(system: System | ForecasterTable) -> FileRow:
    """Return what a board says of the file."""
    return system.row if isinstance(system, System) else system


def levels_that_count(counts: Mapping[Level, int], min_questions: int) -> list[Level]:
    """Return the levels with questions, and with `min_questions` where a
    benchmark has levels.
    """
    levels = [level for level, count in counts.items() if count]
    return [level for level in levels if not level or counts[level] >= min_questions]


class UnreadCounts(TypedDict):
    """How many answers are missing, unread or late, and how many lists are padded."""

    missing: int
    unparsed: int
    padded: int
    late: int
    removed: int


def count_unread(systems: Iterable[System], levels: Iterable[Level]) -> UnreadCounts:
    """Count the answers of systems that are missing, could not be read or
    came too late.
    """
    outcomes: Counter[str] = Counter()
    for system, level in product(systems, levels):
        outcomes.update(system.questions[level].outcomes)
    unparsed = sum(outcomes[outcome] for outcome in UNPARSED)
    return UnreadCounts(
        missing=outcomes["missing"],
        unparsed=unparsed,
        padded=outcomes["padded"],
        late=outcomes["late"],
        removed=outcomes["removed"],
    )


# --- Entries ---


def count_entries(
    system: System, late: Collection[str], removed: Collection[str]
) -> System:
    """Return the system with the numbers of answers that came too late, or
    were taken back.
    """
    if not late and not removed:
        return system
    questions = {}
    for level, columns in system.questions.items():
        ids = [as_text(name) for name in columns.ids]
        n_late = sum(name in late for name in ids)
        n_removed = sum(name in removed for name in ids)
        # The result itself may count more late answers, by the file's times.
        n_late = max(columns.outcomes.get("late", 0), n_late)
        outcomes = {**columns.outcomes, "late": n_late, "removed": n_removed}
        questions[level] = replace(columns, outcomes=outcomes)
    return replace(system, questions=questions)


def make_missing(template: System, stem: str, prediction: str | None) -> System:
    """Make the system of a file that stays an entry although it is gone: no
    answer is left.

    template: a system on the same questions, with the same rules.
    """
    worst = template.row.missing_score
    if worst is None:
        worst = template.scale.worst
    signature = {
        **template.row.signature,
        "prediction_sha256": REMOVED,
        "late_sha256": None,
    }
    row = FileRow(
        name=stem,
        benchmark=template.row.benchmark,
        dataset=template.row.dataset,
        prediction=prediction or f"{stem}.json",
        warnings=0,
        degraded=False,
        signature=signature,
        file_sha256=REMOVED,
        missing_score=template.row.missing_score,
    )
    questions = {}
    for level, columns in template.questions.items():
        count = len(columns.ids)
        pending = columns.outcomes.get("pending", 0)
        questions[level] = replace(
            columns,
            scores=[worst] * count,
            answered=[False] * count,
            outcomes={"missing": count, "pending": pending},
        )
    return replace(template, row=row, questions=questions, runs=())


def require_same_policy(a: System, b: System) -> None:
    """Raise InputError, naming the policies, if two systems were not scored alike."""
    first = {**a.policy, **a.scale.describe()}
    second = {**b.policy, **b.scale.describe()}
    values = {key: (first.get(key), second.get(key)) for key in {**first, **second}}
    differing = [f"{key} {x} and {y}" for key, (x, y) in values.items() if x != y]
    if differing:
        raise InputError(
            f"{a.name}, {b.name}",
            "expected results of the same version and policies",
            "; ".join(differing),
        )
