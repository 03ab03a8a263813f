"""Boards and comparisons: their tables, rows and pairs, as JSON has them and as
it is read back.

A score is `overall_score` of systems, lower or higher is better by the table's scale;
intervals are those of 95 %, None where nothing measures the error. What a field is
called is its key in JSON.

Tables, and their rows, are stored in three forms: systems on a dataset, systems over
all datasets, and forecasters. Each answers whatever is asked of the others, if need be
by a constant, so that nothing that draws them has to know its form.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, ClassVar, Literal

from forecasteval.common.forms import Score, from_record

from .files import (
    FileRow,
    ForecasterRow,
    ForecasterTable,
    OneDataset,
    Parts,
    Ranked,
    Signature,
    label_dataset,
)
from .names import UNKNOWN, About
from .scale import Interval, Level, Scaled

# --- Systems on the same questions ---


@dataclass(frozen=True, kw_only=True)
class RunRow(FileRow):
    """One of several runs of a system."""

    run: str
    score: Score
    missing: int
    unparsed: int
    padded: int
    late: int = 0
    removed: int = 0


class _Overall:
    """Gives `overall_score` and `overall_interval` the names that rows of
    forecasters have.
    """

    overall_score: Score
    overall_interval: Interval | None

    @property
    def score(self) -> float:
        return self.overall_score

    @property
    def interval(self) -> Interval | None:
        return self.overall_interval


@dataclass(frozen=True, kw_only=True)
class ScoredRow(_Overall, FileRow):
    """A system with its score; of several runs their mean, and how they differ."""

    overall_score: Score
    overall_interval: Interval | None
    missing: int
    unparsed: int
    padded: int
    late: int = 0  # answers to resolved questions that came too late
    removed: int = 0  # answers that were taken back after their question had closed
    runs: list[RunRow] = field(default_factory=list)  # none if it has a single one
    run_deviation: float | None = None
    # As wholes, not only in how they answer single questions
    runs_differ: bool | None = None

    @property
    def files(self) -> Sequence[FileRow]:
        return self.runs or [self]


@dataclass(frozen=True, kw_only=True)
class SystemRow(Ranked, ScoredRow):
    """A system in the table of a dataset."""

    rank: int | None
    level_scores: dict[Level, Score]
    n: int
    rank_interval: tuple[int, int] | None
    withdrawn: int = 0  # runs that are no entries
    about: About = UNKNOWN
    by: Parts = field(default_factory=dict)

    metric: ClassVar[str] = "overall"
    provisional: ClassVar[None] = None  # its rank needs no number of datasets or events
    is_barred: ClassVar[bool] = False
    blank: ClassVar[Sequence[str]] = ()
    kept_datasets: ClassVar[Sequence[str]] = ()

    @property
    def is_blank(self) -> bool:
        """Return whether no answer of it could be read."""
        return 0 < self.n * len(self.files) <= self.missing + self.unparsed


@dataclass(frozen=True, kw_only=True)
class QuestionScores:
    """How systems did on a question."""

    id: object
    level: Level | None
    mean: float
    systems: int
    answered: int  # systems of which an answer was read


@dataclass(frozen=True, kw_only=True)
class SystemTable(OneDataset, Scaled):
    """The systems that answered the same questions, the best first."""

    kind: Literal["systems"]
    benchmark: str
    dataset: str | None
    level_counts: dict[Level, int]
    n_series: int = 0  # clusters of these questions; 0 if every question stands alone
    pending: int = 0  # questions without a truth yet, not among these
    void: int = 0  # questions that are left out of everything
    weights: dict[Level, float]  # of the levels that count
    signature: Signature
    questions: list[QuestionScores]
    # The score that a blind guess expects, where it is known
    guess: float | None = None
    rows: list[SystemRow]

    unit: ClassVar[str] = "question"
    prediction: ClassVar[None] = None
    owners: ClassVar[Set[tuple[str, str]]] = frozenset()
    warnings: ClassVar[int] = 0
    kept: ClassVar[bool] = False
    is_adjusted_as_one: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return self.dataset or ""

    @property
    def label(self) -> str:
        return label_dataset(self.name)

    @property
    def resolved(self) -> int:
        """Return how many questions have a truth."""
        return sum(self.level_counts.values())

    @property
    def used(self) -> int:
        """Return how many questions count: small levels may not."""
        return sum(self.level_counts[level] for level in self.weights)

    @property
    def files(self) -> list[FileRow]:
        return [file for row in self.rows for file in row.files]

    @property
    def is_alone(self) -> bool:
        """Return whether a single system answered these questions:
        nothing is ranked.
        """
        return len(self.rows) == 1


# --- Systems on all datasets ---


@dataclass(frozen=True, kw_only=True)
class SeasonRow(_Overall):
    """A system over all datasets of a rule set."""

    name: str
    overall_score: Score
    overall_interval: Interval | None
    own_score: Score  # of the questions that it answered
    level_scores: dict[Level, Score]
    n: int
    datasets: int
    n_runs: int
    missing: int
    unparsed: int
    padded: int
    late: int = 0
    removed: int = 0
    warnings: int
    degraded: bool
    # Datasets without any readable answer of it
    blank: list[str] = field(default_factory=list)
    # Datasets of which its row is that of before
    kept: list[str] = field(default_factory=list)

    runs: ClassVar[Sequence[RunRow]] = ()


@dataclass(frozen=True, kw_only=True)
class PooledRow(Ranked, SeasonRow):
    """A system in the table over all datasets; provisional ones have no
    rank and no tests.
    """

    provisional: bool
    rank: int | None
    rank_interval: tuple[int, int] | None
    withdrawn: int = 0  # datasets and runs that are no entries
    about: About = UNKNOWN
    by: Parts = field(default_factory=dict)

    metric: ClassVar[str] = "pooled"
    is_barred: ClassVar[bool] = False
    runs_differ: ClassVar[None] = None
    prediction: ClassVar[None] = None
    files: ClassVar[Sequence[FileRow]] = ()

    @property
    def system_name(self) -> str:
        return self.name

    @property
    def is_blank(self) -> bool:
        """Return whether a dataset has no readable answer of it."""
        return bool(self.blank)

    @property
    def kept_datasets(self) -> Sequence[str]:
        return self.kept


@dataclass(frozen=True, kw_only=True)
class Week:
    """A dataset of a table over all datasets."""

    dataset: str
    n: int
    pending: int = 0  # questions without a truth yet, not among the n
    void: int = 0  # questions that are left out of everything
    systems: int
    questions_sha256: str


@dataclass(frozen=True, kw_only=True)
class SeasonTable(Scaled):
    """What tables and comparisons over all datasets have in common."""

    benchmark: str
    datasets: list[Week]
    level_counts: dict[Level, int]
    # Clusters of the questions that count; 0 if every question stands alone
    n_series: int = 0
    weights: dict[Level, float]  # of the levels that count
    design_effect: float | None  # of good and bad weeks of a system; None: not measured
    # The score that a blind guess expects, where it is known
    guess: float | None = None
    signature: Signature

    dataset: ClassVar[None] = None

    @property
    def resolved(self) -> int:
        """Return how many questions have a truth and count."""
        return sum(week.n for week in self.datasets)

    @property
    def used(self) -> int:
        return sum(self.level_counts[level] for level in self.weights)

    @property
    def pending(self) -> int:
        return sum(week.pending for week in self.datasets)

    @property
    def void(self) -> int:
        return sum(week.void for week in self.datasets)


@dataclass(frozen=True, kw_only=True)
class PooledTable(SeasonTable):
    """Systems on all datasets of a rule set: the ranked ones, the best first, then
    provisional ones.
    """

    kind: Literal["pooled"]
    apart: list[str]  # systems that share no dataset with these
    rows: list[PooledRow]

    unit: ClassVar[str] = "question"
    prediction: ClassVar[None] = None
    warnings: ClassVar[int] = 0
    kept: ClassVar[bool] = False
    is_alone: ClassVar[bool] = False
    is_adjusted_as_one: ClassVar[bool] = True
    questions: ClassVar[Sequence[QuestionScores]] = ()
    files: ClassVar[Sequence[FileRow]] = ()

    @property
    def name(self) -> str:
        return f"all {len(self.datasets)} datasets"

    @property
    def label(self) -> str:
        return f"{len(self.datasets)} weeks"


# --- Boards ---


@dataclass(frozen=True, kw_only=True)
class OpenDataset:
    """A dataset of which questions can be answered, and the first and last time at
    which one closes.
    """

    dataset: str
    questions: int
    closes: list[str]


@dataclass(frozen=True, kw_only=True)
class WithdrawnEntry:
    """A dataset or run of a system that the owner of the board has withdrawn."""

    system: str
    name: str
    is_after_truth: bool  # its first truth was known by then


@dataclass(frozen=True, kw_only=True)
class RemovedEntry:
    """Answers that were taken back with their file after their questions had closed."""

    benchmark: str
    system: str
    dataset: str
    answers: int


RankedTable = SystemTable | ForecasterTable
Ranking = PooledTable | RankedTable
RankedRow = SystemRow | PooledRow | ForecasterRow


@dataclass(frozen=True, kw_only=True)
class Board:
    """All tables of a ranking; a nightly run adds the files that failed and a checksum
    of its inputs.
    """

    # To be raised with every change of the form.
    schema: Literal[2]
    pooled: list[PooledTable]
    tables: list[RankedTable]
    remarks: list[str]
    leaderboard: dict[str, object]  # the settings
    failed: list[dict[str, object]]
    without_result: list[str]
    # Files without truths, by dataset
    waiting: dict[str, list[str]] = field(default_factory=dict)
    open: list[OpenDataset] = field(default_factory=list)
    # Datasets of these whose questions are all void
    void: list[str] = field(default_factory=list)
    withdrawn: list[WithdrawnEntry] = field(default_factory=list)
    # With `--late-files keep`
    removed: list[RemovedEntry] = field(default_factory=list)
    record: str = ""  # the name of the entry book, if there is one
    by: str = ""  # the column by whose values the rows have scores, if there is one
    inputs_sha256: str = ""

    @property
    def rankings(self) -> list[Ranking]:
        """List all tables, those over all datasets first."""
        return [*self.pooled, *self.tables]

    @property
    def files(self) -> list[FileRow]:
        """List what stands for a file each: systems or their runs, and tables
        of forecasters.
        """
        return [file for table in self.tables for file in table.files]


def read_board(record: Any) -> Board:
    """Read a stored board; InputError for one of another form."""
    if record.get("schema") == 1:  # of 3.0.0: rows of a dataset had no ranges of ranks
        for row in chain.from_iterable(table["rows"] for table in record["tables"]):
            row.setdefault("rank_interval")
        record = {**record, "schema": 2}
    return from_record(Board, record)


# --- Comparisons ---


@dataclass(frozen=True, kw_only=True)
class Tally:
    """The questions on which the first of two systems is better, equal and worse."""

    wins: int
    ties: int
    losses: int


@dataclass(frozen=True, kw_only=True)
class BothRead:
    """A pair over the `n` questions of which both answers were read; it is
    not the score.
    """

    n: int
    scores: list[float]  # of A and B
    difference: float
    interval: Interval | None
    levels: dict[Level, Tally]

    p_holm: ClassVar[None] = None


@dataclass(frozen=True, kw_only=True)
class LevelDifference:
    """The mean difference of A and B in a level."""

    scores: list[float]  # of A and B
    difference: float
    interval: Interval | None

    p_holm: ClassVar[None] = None


@dataclass(frozen=True, kw_only=True)
class Mover:
    """A question, the scores of A and B, and what it adds to the difference."""

    id: object
    level: Level | None
    a: float
    b: float
    adds: float


@dataclass(frozen=True, kw_only=True)
class Pair:
    """The score of A less that of B; `p_holm` is adjusted over all pairs.

    On the same questions it has the differences by level, and the questions
    that move it most.
    """

    a: str
    b: str
    difference: float
    interval: Interval | None
    p: float
    p_holm: float
    # The least difference that is found four times out of five
    detectable: float | None
    levels: dict[Level, Tally]
    # Questions, or series in sum, that contribute differently to both scores
    n_differing: int
    both_read: BothRead | None  # of the first system's pairs, if it says something else
    level_differences: dict[Level, LevelDifference] | None = None
    questions: list[Mover] | None = None

    @property
    def n_shared(self) -> int:
        """Count the questions that both systems had."""
        return sum(
            tally.wins + tally.ties + tally.losses for tally in self.levels.values()
        )


@dataclass(frozen=True, kw_only=True)
class Comparison(OneDataset, Scaled):
    """Systems compared on the same questions."""

    dataset: str | None
    n: int
    n_series: int = 0  # clusters of these; 0 if every question stands alone
    pending: int = 0  # questions without a truth yet, not among the n
    level_counts: dict[Level, int]
    systems: list[ScoredRow]
    pairs: list[Pair]
    signature: Signature

    by_dataset: ClassVar[Sequence[DatasetDifference]] = ()

    @property
    def benchmark(self) -> str:
        return self.systems[0].benchmark

    @property
    def resolved(self) -> int:
        return self.n

    def list_levels(self, pair: Pair) -> dict[Level, LevelDifference]:
        """List the differences of a pair by level."""
        return pair.level_differences or {}


@dataclass(frozen=True, kw_only=True)
class DatasetDifference:
    """The score of A less that of B on a dataset that both answered."""

    a: str
    b: str
    dataset: str
    n: int
    scores: list[float]  # of A and B
    difference: float
    interval: Interval | None


@dataclass(frozen=True, kw_only=True)
class SeasonComparison(SeasonTable):
    """Systems compared over all datasets."""

    systems: list[SeasonRow]
    pairs: list[Pair]
    by_dataset: list[DatasetDifference]  # of the first system and each other one

    apart: ClassVar[Sequence[str]] = ()

    def list_levels(self, pair: Pair) -> dict[Level, LevelDifference]:
        """List the differences of a pair's estimated scores by level, which
        have no intervals.
        """
        scores = {row.name: row.level_scores for row in self.systems}
        a = scores[pair.a]
        b = scores[pair.b]
        return {
            level: LevelDifference(
                scores=[a[level], b[level]],
                difference=a[level] - b[level],
                interval=None,
            )
            for level in pair.levels
            if level in a and level in b
        }
