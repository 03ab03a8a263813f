"""Say what boards have of a file: a row, or the table of forecasters that
it ranks itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from forecasteval.common.errors import printable
from forecasteval.common.forms import Score, from_record

from .names import UNKNOWN, About, split_name
from .scale import Interval, Level, Scale

Signature = dict[str, object]  # as JSON has it: levels are texts there
# Score, interval and n by the values of a column of the dataset
Parts = dict[str, dict[str, Any]]


def read_level(value: Any) -> Level:
    """Read a level, which may be a number as text."""
    if str(value).isdecimal():
        return int(value)
    level: Level = value
    return level


def read_weights(signature: Signature) -> dict[Level, float]:
    """Read the weights of a signature by level; {"": 1} of a benchmark
    without levels.
    """
    weights = signature.get("weights", {"": 1.0})
    if isinstance(weights, dict):
        weights = {read_level(level): weight for level, weight in weights.items()}
    return from_record(dict[Level, float], weights, "weights")


def label_dataset(name: str) -> str:
    """Shorten the name of a dataset's file for tables and pages.

    >>> label_dataset("250901.json")
    '250901'
    """
    shown = printable(name or "one file", 60)
    return shown.removesuffix(".json").removesuffix(".jsonl").removesuffix(".csv")


@dataclass(frozen=True, kw_only=True)
class FileRow:
    """What a board says of a file, or of several runs together, whatever
    the benchmark.
    """

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
    # Of a missing answer, if it is not the worse bound
    missing_score: float | None = None
    # Of its replies, where it says so
    usage: dict[str, int] = field(default_factory=dict)
    # What results of the same table add to the score: questions with them against
    # their controls
    gain: float | None = None
    gain_interval: Interval | None = None
    kept: bool = False  # from the last board, as its file has no result

    @property
    def system_name(self) -> str:
        """Return the name that the system has on every dataset."""
        return self.system or split_name(self.name, self.dataset).system

    @property
    def policy(self) -> Signature:
        """Return the signature without checksums."""
        return {
            key: value
            for key, value in self.signature.items()
            if not key.endswith("sha256")
        }

    @property
    def predictions(self) -> list[str]:
        """List the names of its prediction files: several of a set that is
        scored together.
        """
        return (self.prediction or "").split(", ")

    @property
    def files(self) -> Sequence[FileRow]:
        """List the files that it stands for: its runs, if it has several."""
        return [self]


class Ranked:
    """Says of a row with the ranks that no test contradicts whether it
    could be first.
    """

    rank_interval: tuple[int, int] | None

    @property
    def could_lead(self) -> bool | None:
        """Return whether no test contradicts the first rank; None if
        nothing tests it.
        """
        return self.rank_interval[0] <= 1 if self.rank_interval else None


@dataclass(frozen=True, kw_only=True)
class ForecasterRow(Ranked):
    """A forecaster of the table in a file; lower scores are better."""

    rank: int | None
    name: str
    metric: str
    score: Score
    interval: Interval | None
    rank_interval: tuple[int, int] | None
    n: int
    file: str = ""  # that names the forecaster
    provisional: bool = False
    removed: int = 0  # closed forecasts that were changed or removed
    about: About = UNKNOWN
    by: Parts = field(default_factory=dict)

    # What rows of systems have, too; the file is that of the table.
    prediction: ClassVar[None] = None
    degraded: ClassVar[bool] = False
    runs: ClassVar[Sequence[FileRow]] = ()
    files: ClassVar[Sequence[FileRow]] = ()

    @property
    def system_name(self) -> str:
        """Return the name of the forecaster, which has no other."""
        return self.name

    @property
    def is_barred(self) -> bool:
        """Return whether it has no rank because it changed or removed
        closed forecasts.
        """
        return self.removed > 0


class OneDataset:
    """A table or comparison of a single dataset, which has none of
    what several have.
    """

    datasets: ClassVar[Sequence[Any]] = ()
    apart: ClassVar[Sequence[str]] = ()
    design_effect: ClassVar[float | None] = None


@dataclass(frozen=True, kw_only=True)
class ForecasterTable(OneDataset, FileRow):
    """A result that ranks the forecasters in it is a table of the
    board as it stands.
    """

    kind: Literal["forecasters"]
    rows: list[ForecasterRow]
    n_events: int
    n_series: int = 0  # clusters of these events; 0 if every event stands alone
    pending: int = 0  # events without an outcome yet, not among these

    # What tables of systems have, too.
    void: ClassVar[int] = 0
    guess: ClassVar[None] = None
    weights: ClassVar[Mapping[Level, float]] = {}
    level_counts: ClassVar[Mapping[Level, int]] = {}
    questions: ClassVar[Sequence[Any]] = ()
    unit: ClassVar[str] = "event"
    scale: ClassVar[Scale] = Scale(0.0, 1.0, False)
    # A title need not say it: the metrics are known
    higher_is_better: ClassVar[None] = None
    is_alone: ClassVar[bool] = False
    is_adjusted_as_one: ClassVar[bool] = False  # each forecaster is judged by itself

    @property
    def owners(self) -> set[tuple[str, str]]:
        """Return the forecasters with the files that name them."""
        return {(row.name, row.file) for row in self.rows}

    @property
    def label(self) -> str:
        return label_dataset(self.dataset or self.name)

    @property
    def resolved(self) -> int:
        """Return how many events have an outcome."""
        return self.n_events

    @property
    def used(self) -> int:
        return self.n_events


def model_failures(results: Mapping[str, object]) -> dict[str, int] | None:
    """Return how often the language model failed, by kind, in a result that is degraded
    by it; replies that are refused are a kind. None for any other result.
    """
    models = (results.get(key) for key in ("llm", "llm_names"))
    degraded = [
        each for each in models if isinstance(each, Mapping) and each.get("degraded")
    ]
    failures: Counter[str] = Counter()
    for model in degraded:
        failures.update(model.get("failures"))
        failures["reply refused"] += model.get("invalid", 0)
    return dict(sorted((+failures).items())) if degraded else None
