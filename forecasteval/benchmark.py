"""What a benchmark is: `Benchmark` to the command line, an `Evaluator` that makes
results of files, and its options.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import sys
from abc import ABC, abstractmethod
from argparse import (
    SUPPRESS,
    Action,
    ArgumentError,
    ArgumentTypeError,
    BooleanOptionalAction,
)
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Generic,
    NamedTuple,
    Protocol,
    TypeVar,
    runtime_checkable,
)

from forecasteval.common.errors import InputError, printable
from forecasteval.common.files import (
    find_file,
    find_own_dataset,
    find_truths,
    hash_file,
    join_checksums,
)
from forecasteval.common.records import dump_json, hash_text
from forecasteval.common.text import inner_name
from forecasteval.display.results import Results

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from forecasteval.display.html import Page
    from forecasteval.display.submissions import Checked
    from forecasteval.display.tables import Report


# --- Options ---


class Option(NamedTuple):
    """An option of the command line that belongs to a benchmark; None where
    it is not given.

    kind: bool for a switch, a tuple of choices, or what converts the text. scope:
        "score" if scores
    depend on it; "read" if files are read by it, which `check` does too; "run" and
    "ranked" like "score", the first only where systems are not ranked and the second
    only where they are; "report" if it only chooses what a report shows; "items" if it
    does both; "file" if it names a file to write. keyword: its name in Python, if it
    has another there.
    """

    flag: str
    help: str
    kind: Any = str
    scope: str = "score"
    metavar: str | None = None
    repeatable: bool = False
    keyword: str = ""

    @property
    def name(self) -> str:
        return self.keyword or self.flag.removeprefix("--").replace("-", "_")

    def add_to(self, add: Callable[..., Action]) -> Action:
        """Declare the option with the `add_argument` of argparse; a switch
        has its `--no-…`.
        """
        words: dict[str, object] = {"type": self.kind, "metavar": self.metavar}
        if self.kind is bool:
            words = {"action": BooleanOptionalAction}
        elif isinstance(self.kind, tuple):
            words = {"choices": self.kind}
        elif self.repeatable:
            words["action"] = "append"
        return add(self.flag, dest=self.name, help=self.help, default=None, **words)

    def find_problem(self, value: object) -> str:
        """Say what a value of a settings file must be, and what it is; ""
        for a valid one.
        """
        got = f", got {printable(repr(value), 40)}"
        if self.kind is bool:
            if isinstance(value, bool):
                return ""
            return f"expected true or false{got}"
        if isinstance(self.kind, tuple):
            if value in self.kind:
                return ""
            return f"expected one of {', '.join(self.kind)}{got}"
        kinds = {str: "text", int: "a whole number", float: "a number"}
        try:
            if isinstance(value, bool) or (
                self.kind is str and not isinstance(value, str)
            ):
                raise ValueError
            self.kind(str(value))
        except ArgumentTypeError as error:
            return str(error)
        except ValueError:
            return f"expected {kinds[self.kind]}{got}"
        return ""


@dataclass(frozen=True)
class _WholeNumber:
    """The kind of an option that is a whole number; processes get it with
    their benchmarks.
    """

    minimum: int

    def __call__(self, text: str) -> int:
        with contextlib.suppress(ValueError):
            if (number := int(text)) >= self.minimum:
                return number
        got = printable(text, 40) or "''"
        raise ArgumentTypeError(f"expected a number >= {self.minimum}, got {got}")


def whole_number(minimum: int) -> Callable[[str], int]:
    """Make the kind of an option that is a whole number, at minimum this one."""
    return _WholeNumber(minimum)


# Of any benchmark.
ITEMS: Final = Option(
    "--items", "show a line per question, or per forecast", bool, "report"
)
UNREAD: Final = Option(  # of those whose answers are texts
    "--unread",
    "write the answers that were not read, as JSONL rows to be filled in",
    Path,
    "file",
    "FILE",
)
_SHARED: Final = (ITEMS.flag, UNREAD.flag)


def add_options(
    parser: ArgumentParser, benchmarks: Iterable[Benchmark], ranked: bool
) -> dict[str, list[Action]]:
    """Add the options of the benchmarks, a group each; return them by the name of
    the benchmark.

    `ranked`: for commands that rank systems, which are scored alike. InputError for
        an option that
    another benchmark has.
    """
    scopes = (
        ("score", "read", "ranked")
        if ranked
        else ("score", "read", "run", "report", "file")
    )
    actions: dict[str, list[Action]] = {}
    for benchmark in benchmarks:
        in_scope = [option for option in benchmark.options if option.scope in scopes]
        options = [option for option in in_scope if option.flag not in _SHARED]
        if not options:
            continue
        group = parser.add_argument_group(benchmark.name)
        added = actions[benchmark.name] = []
        for option in options:
            try:
                added.append(option.add_to(group.add_argument))
            except ArgumentError:
                expected = f"expected another option than {option.flag}, which is taken"
                raise InputError(f"benchmark {benchmark.name}", expected) from None
    return actions


def hide_options(
    actions: Mapping[str, Iterable[Action]], shown: Collection[str]
) -> None:
    """Leave the options of benchmarks out of a help, but for those `shown`."""
    for name, options in actions.items():
        if name not in shown:
            for option in options:
                option.help = SUPPRESS


# --- Files in, results out ---


class Late(NamedTuple):
    """What an evaluator has to know of the time at which answers came.

    policy: "keep", "mark", or "drop": late answers score as missing.
    ids: of questions whose answers came too late.
    forecasts: those that came too late, each by file stem, forecaster,
        event and own time.
    unranked: forecasters who changed or removed closed forecasts, and how many; with
        "mark" and "drop" they have no rank.
    withdrawn: forecasters whose forecasts of an event, or of all ("") are no entries.
    first_seen: of each forecast, named like those of `forecasts`, when a run first saw
        it, in seconds since 1970; only where scores depend on it.
    """

    policy: str
    ids: tuple[str, ...] = ()
    forecasts: frozenset[tuple[str, str, str, str]] = frozenset()
    unranked: tuple[tuple[str, int], ...] = ()
    withdrawn: frozenset[tuple[str, str]] = frozenset()
    first_seen: frozenset[tuple[tuple[str, str, str, str], float]] = frozenset()

    @property
    def signature(self) -> dict[str, str]:
        """Return what a signature says of late answers."""
        policy = {} if self.policy == "keep" else {"late_files": self.policy}
        of_forecasts: list[object]
        of_forecasts = [sorted(self.forecasts), self.unranked, sorted(self.withdrawn)]
        if self.first_seen:
            of_forecasts.append(sorted(self.first_seen))
        if any(of_forecasts):
            return {
                **policy,
                "late_sha256": hash_text(dump_json([self.ids, *of_forecasts])),
            }
        if self.ids:
            return {**policy, "late_sha256": hash_text(dump_json(self.ids))}
        return policy


class Files(NamedTuple):
    """Prediction files that are scored together, and their datasets.

    `owners`: forecasters with the name of the file that had them on an earlier
        night. `any_form`:
    a person asks for these files, which are read in whatever form they are; a nightly
    run takes the documented one in UTF-8.
    """

    predictions: tuple[Path, ...]
    datasets: tuple[Path, ...] = ()
    late: Late | None = None
    owners: frozenset[tuple[str, str]] = frozenset()
    any_form: bool = False

    @property
    def path(self) -> Path:
        return self.predictions[0]

    @property
    def dataset(self) -> Path | None:
        if self.datasets:
            return self.datasets[0]
        return None

    @property
    def name(self) -> str:
        """Name their result by its stem: of several files that of their dataset."""
        named = (
            self.datasets
            if len(self.predictions) > 1 and self.datasets
            else self.predictions
        )
        return inner_name(named[0]).stem

    @property
    def prediction(self) -> str:
        """Join the names of the prediction files."""
        return ", ".join(path.name for path in self.predictions)

    @property
    def late_signature(self) -> dict[str, str]:
        """Return what a signature says of late answers."""
        if self.late is None:
            return {}
        return self.late.signature

    def checksums(self, hash_path: Callable[[Path], str] = hash_file) -> dict[str, str]:
        """Hash the files, as a signature has them; InputError if one cannot be read."""
        sums = {
            "prediction_sha256": join_checksums([*map(hash_path, self.predictions)])
        }
        if self.dataset:
            sums["dataset_sha256"] = hash_path(self.dataset)
            if truths := find_truths(self.dataset):
                sums["truths_sha256"] = hash_path(truths)
        return {**sums, **self.late_signature}


@runtime_checkable
class FileData(Protocol):
    """What an evaluator reads of files."""

    def messages(self) -> Sequence[str]:
        """Warnings about the files."""

    def checksums(self) -> Mapping[str, object]:
        """Return the checksums of the files, for the signature."""


Data = TypeVar("Data", bound=FileData)
Scores = TypeVar("Scores")


class Evaluator(ABC, Generic[Data, Scores]):
    """Scores files of one benchmark; what scores depend on besides the files is
    in `settings`.

    A result is made by `read`, `score` and `summarise`, one after the other; `bounds`
    and `higher_is_better` are of the "score" of its items.
    """

    benchmark: str
    bounds: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = True
    report: Callable[..., Report]  # a result, and options, as lines and tables
    # The reason of an item's score in one sentence
    explain: Callable[[Any], str] | None = None
    # Of results without items
    rows: Callable[[Any], Sequence[Mapping[str, object]]] | None = None

    @abstractmethod
    def settings(self) -> dict[str, object]:
        """Return the part of a signature that does not depend on the files: "evaluator"
        with its version, policies.
        """

    @abstractmethod
    def read(self, files: Files) -> Data:
        """Read the data of files; InputError if they cannot be read."""

    @abstractmethod
    def score(self, data: Data) -> Scores:
        """Compute the scores of the data."""

    @abstractmethod
    def summarise(self, scores: Scores, data: Data) -> dict[str, Any]:
        """Compute the values of a result: "warnings", "signature" (checksums of the
        data), "items" where there are any, …
        """

    def page(self, results: Results, data: Data) -> Page:
        """Return the page of a result; InputError if its benchmark has no pages."""
        raise InputError(
            self.benchmark, "expected a benchmark whose results have pages"
        )

    def evaluate(
        self, data: Data | str, names: Mapping[str, object] | None = None
    ) -> Results:
        """Return the result of what `read` gave, with `names` in front; or that of the
        prediction with a NAME, as on the command line.
        """
        if isinstance(data, str):
            path = find_file(data, Path("prediction"))
            return self.evaluate_file(
                path, find_own_dataset(path, Path(), is_root_named=False) or ()
            )
        if not isinstance(data, FileData):
            expected = "expected the NAME of a prediction; evaluate_all takes records"
            raise InputError("evaluate", expected, type(data).__name__)
        with without_collector():
            values = self.summarise(self.score(data), data)
        values["warnings"] = [*data.messages(), *values["warnings"]]
        values["signature"] = {
            **self.settings(),
            **values["signature"],
            **data.checksums(),
        }
        usual = (0.0, 1.0), True  # the scale of results without these keys
        if (self.bounds, self.higher_is_better) != usual:
            values |= {
                "score_bounds": self.bounds,
                "higher_is_better": self.higher_is_better,
            }
        values = {**(names or {}), "benchmark": self.benchmark, **values}
        return Results(
            values,
            self.report,
            lambda results: self.page(results, data),
            self.explain,
            self.rows,
        )

    def evaluate_file(
        self, path: str | Path, datasets: str | Path | Sequence[str | Path] = ()
    ) -> Results:
        """Score a prediction file against its datasets; InputError if it
        cannot be scored.
        """
        dataset_paths = [datasets] if isinstance(datasets, (str, Path)) else datasets
        files = Files((Path(path),), tuple(map(Path, dataset_paths)), any_form=True)
        return self.evaluate_files(files)

    def evaluate_files(self, files: Files) -> Results:
        """Score prediction files together; InputError if they cannot be scored."""
        names = {
            "name": files.name,
            "prediction": files.prediction,
            "dataset": ", ".join(sorted(file.name for file in files.datasets)) or None,
        }
        with without_collector():
            data = self.read(files)
        return self.evaluate(data, names)


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Let nobody look for cycles: records make none, and to walk millions takes a
    third of the time.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


class Deadline(NamedTuple):
    """When a question closes, in UTC, if it ever does, and whether it has a truth."""

    closes: datetime | None
    has_truth: bool
    is_damaged: bool = False  # what should be a time is none

    def is_past(self, now: datetime) -> bool:
        """Tell whether the question is closed."""
        return self.closes is not None and now > self.closes


class Prompt(NamedTuple):
    """What a model is asked about a question; of its record nothing else leaves
    the benchmark.

    names: the fields that join a reply with its question, the id first. closes:
        when replies end.
    today: a line in front of the text that changes daily, so that no checksum of a
        prompt has it.
    read: makes further fields of a row of a reply, or says what is wrong with it.
    """

    text: str
    names: Mapping[str, str]
    closes: datetime | None = None
    today: str = ""
    read: Callable[[str], tuple[Mapping[str, object], str]] | None = None

    @property
    def id(self) -> str:
        """Return the id of the question."""
        return next(iter(self.names.values()))

    @property
    def message(self) -> str:
        """Return what is sent. Half a surrogate, which no UTF-8 has, is a
        question mark.
        """
        return f"{self.today}{self.text}".encode("utf-8", "replace").decode()

    @property
    def sha256(self) -> str:
        """Return a checksum of the text, so that nobody goes on with another one."""
        text = self.text.encode("utf-8", "replace")
        return hashlib.sha256(text).hexdigest()[:16]


class Benchmark(NamedTuple):
    """A benchmark to the command line, light enough to be imported by every command.

    claims_file(prediction, dataset): whether files belong to this benchmark.
    evaluator(output, **options) makes an evaluator with the options that were given;
    `output` is the folder of results. check(path) finds mistakes in a dataset.
    ranks_together(dataset): whether all predictions for a dataset are one result.
    has_questions(prediction): whether the file contains its questions, so that it needs
    no dataset. check_answers(files) says what becomes of each answer of a prediction
    file, whatever is true. list_deadlines(dataset) and hash_answers(prediction), both
    by id, are those of a benchmark whose answers can be late. list_prompts(dataset,
    system, market): what a model is asked, in the name of a system; with the prices of
    a market where that is wanted. Without it the questions have a prompt each.
    hash_forecasts(prediction, dataset) replaces hash_answers where files name their
    forecasters: by forecaster, then by event and the forecast's own time.
    list_events(prediction): the questions in a file that needs no dataset; files that
    share one are ranked together. with_options(options) makes the benchmark whose files
    are read with options that were given, by their names in Python.
    """

    name: str
    claims_file: Callable[[Path, Path | None], bool]
    evaluator: Callable[..., Evaluator[Any, Any]]
    options: tuple[Option, ...] = ()
    check: Callable[[Path], Results] | None = None
    ranks_together: Callable[[Path], bool] | None = None
    has_questions: Callable[[Path], bool] | None = None
    check_answers: Callable[[Files], Iterator[Checked]] | None = None
    list_deadlines: Callable[[Path], dict[str, Deadline]] | None = None
    hash_answers: Callable[[Path], dict[str, str]] | None = None
    list_prompts: Callable[[Path, str, bool], Iterator[Prompt]] | None = None
    hash_forecasts: (
        Callable[[Path, Path], dict[str, dict[tuple[str, str], str]]] | None
    ) = None
    list_events: Callable[[Path], frozenset[str]] | None = None
    with_options: Callable[[Mapping[str, Any]], Benchmark] | None = None

    @property
    def has_contest(self) -> bool:
        """Return whether answers to this benchmark can be late."""
        has_hashes = self.hash_answers is not None or self.hash_forecasts is not None
        return has_hashes and self.list_deadlines is not None

    def hash_entries(
        self, path: Path, dataset: Path
    ) -> dict[str, dict[tuple[str, str], str]]:
        """Hash what a file answers: by forecaster ("" if it names none),
        question and own time.
        """
        if self.hash_forecasts is not None:
            return self.hash_forecasts(path, dataset)
        hashes = self.hash_answers(path) if self.hash_answers is not None else {}
        return {"": {(name, ""): answer_hash for name, answer_hash in hashes.items()}}


# --- Benchmarks of other packages ---

GROUP: Final = "forecasteval.benchmarks"  # of entry points


@cache
def list_benchmarks(ours: tuple[Benchmark, ...]) -> tuple[Benchmark, ...]:
    """List the benchmarks that installed packages declare as entry points, in the order
    of their names, and `ours` behind them.

    One that cannot be loaded, that is no `Benchmark`, or has a taken name costs a
    line on stderr.
    """
    if not any(map(_declares_some, sys.path)):
        return ours
    # Here: it costs a fifth of a command's start
    from importlib.metadata import entry_points

    loaded: list[Benchmark] = []
    for point in sorted(
        entry_points(group=GROUP), key=lambda point: (point.name, point.value)
    ):
        try:
            benchmark = point.load()
            if not isinstance(benchmark, Benchmark):
                raise TypeError("expected a forecasteval.benchmark.Benchmark")
            if benchmark.name in {known.name for known in (*loaded, *ours)}:
                raise ValueError(
                    f"expected another name than {benchmark.name}, which is taken"
                )
        except Exception as error:  # whatever the code of another package does
            problem = printable(f"{type(error).__name__}: {error}", 200)
            where = f"entry point {point.name} of {GROUP}"
            print(f"{where}: {point.value} is left out, {problem}", file=sys.stderr)
        else:
            loaded.append(benchmark)
    return (*loaded, *ours)


def _declares_some(folder: str) -> bool:
    """Return whether a package in a folder of `sys.path` declares a benchmark."""
    with contextlib.suppress(OSError):  # no folder, or none that can be read
        names = [name for name in os.listdir(folder or ".") if name.endswith("-info")]
        # Paths as texts: there may be hundreds, and each command looks at all of them.
        return any(
            _names_group(f"{folder or '.'}/{name}/entry_points.txt") for name in names
        )
    return False


def _names_group(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return GROUP.encode() in file.read()
    except OSError:  # most have no entry points
        return False
