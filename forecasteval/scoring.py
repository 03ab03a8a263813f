"""Score files: whose benchmark they are of, with which options, and again
if they change.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from forecasteval.benchmark import Benchmark, Evaluator, Files
from forecasteval.common.errors import (
    ClashError,
    EvaluationError,
    InputError,
    printable,
)
from forecasteval.common.files import (
    describe_choice,
    find_own_dataset,
    find_truths,
    require_regular,
    stamp_of,
)
from forecasteval.common.replies import count_usage
from forecasteval.common.version import PACKAGE, hash_code
from forecasteval.display.results import Results
from forecasteval.display.submissions import submission_results
from forecasteval.lookup import find_prediction, group_files

Score = Callable[[Files], Results]
_NO_CHECK: Final = "expected a file of a benchmark that has a check"
_SHARED: Final = (
    *(PACKAGE / name for name in ("common", "questions", "source")),
    *(PACKAGE / name for name in ("benchmark.py", "custom.py", "scoring.py")),
)


class Scorer:
    """Scores files of any benchmark by the options that were given (not None); can go
    to another process.

    `output` is the folder of results. The options whose names are in the option
    `from_file` are for those benchmarks that have them; any other that a file's
    benchmark lacks is refused.
    """

    def __init__(
        self,
        benchmarks: Iterable[Benchmark],
        options: Mapping[str, object],
        output: Path,
    ) -> None:
        self.given: dict[str, Any] = {
            name: value for name, value in options.items() if value is not None
        }
        self.benchmarks: dict[str, Benchmark] = {}
        for benchmark in benchmarks:
            if benchmark.with_options is not None:
                benchmark = benchmark.with_options(self.given)
            self.benchmarks[benchmark.name] = benchmark
        self.output = output
        self._evaluators: dict[str, Evaluator[Any, Any]] = {}

    def __reduce__(self) -> tuple[object, ...]:
        # Without evaluators: another process makes them again.
        return Scorer, (tuple(self.benchmarks.values()), self.given, self.output)

    def recognise(self, path: Path, dataset: Path | None) -> Benchmark:
        """Return the first benchmark that claims a prediction file; InputError unless
        the files are regular.
        """
        for file in filter(None, (path, dataset)):
            require_regular(file)  # before it is opened: a pipe would wait for ever
        candidates = self.benchmarks.values()
        return next(
            benchmark
            for benchmark in candidates
            if benchmark.claims_file(path, dataset)
        )

    def score(self, files: Files) -> Results:
        """Score prediction files together."""
        name = self.recognise(files.path, files.dataset).name
        results = self._evaluator(name).evaluate_files(files)
        for truths in filter(None, map(find_truths, files.datasets)):
            if "truths_sha256" not in results["signature"]:
                expected = (
                    "expected no truths beside this dataset, whose benchmark does not "
                    "use them"
                )
                raise InputError(str(truths), expected, name)
        if len(files.predictions) == 1:
            usage = count_usage(files.path)
            if usage:
                results["usage"] = usage
        results["signature"] |= {
            "code_sha256": self.hash_code(name),
            **files.late_signature,
        }
        return results

    def hash_code(self, name: str) -> str:
        """sha256 of the code that a result of this benchmark depends on: its package,
        and what all benchmarks share.
        """
        module = sys.modules[self.benchmarks[name].evaluator.__module__]
        file = Path(str(module.__file__))
        is_package = file.name == "__init__.py"
        package = file.parent if is_package else file
        return hash_code(package, *_SHARED)

    def ranks_together(self, dataset: Path) -> bool:
        """Return whether the prediction files of a dataset are scored together."""
        rules = [benchmark.ranks_together for benchmark in self.benchmarks.values()]
        return any(
            ranks_together(dataset) for ranks_together in rules if ranks_together
        )

    def list_events(self, prediction: Path) -> frozenset[str]:
        """List the events in a prediction file that is ranked with others
        that share one.
        """
        rules = [benchmark.list_events for benchmark in self.benchmarks.values()]
        return frozenset().union(
            *(list_events(prediction) for list_events in rules if list_events)
        )

    def has_questions(self, prediction: Path) -> bool:
        """Return whether a prediction file contains its questions."""
        rules = [benchmark.has_questions for benchmark in self.benchmarks.values()]
        return any(
            has_questions(prediction) for has_questions in rules if has_questions
        )

    def check(self, path: Path) -> Results:
        """Find the mistakes in a dataset; InputError if its benchmark has no check."""
        benchmark = self.recognise(path, path)
        if benchmark.check is None:
            raise InputError(str(path), _NO_CHECK, benchmark.name)
        return benchmark.check(path)

    def check_answers(self, files: Files) -> Results:
        """Say what becomes of each answer of a prediction file, whatever is true."""
        benchmark = self.recognise(files.path, files.dataset)
        if benchmark.check_answers is None:
            raise InputError(str(files.path), _NO_CHECK, benchmark.name)
        datasets = ", ".join(path.name for path in files.datasets)
        answers = benchmark.check_answers(files)
        return submission_results(benchmark.name, files.prediction, datasets, answers)

    def settings(self, name: str) -> dict[str, object]:
        """Return the part of a benchmark's signatures that does not depend on the
        files; {} of one that is no longer installed.
        """
        if name not in self.benchmarks:
            return {}
        return {**self._evaluator(name).settings(), "code_sha256": self.hash_code(name)}

    def require_usable_options(self) -> None:
        """Raise InputError if an evaluator cannot be made of the options that
        were given for it.
        """
        for name in self.benchmarks:
            if self._choose(name, "score", "read", "run", "ranked"):
                self._evaluator(name)

    def report_options(self, name: str) -> dict[str, object]:
        """Make the options for a report of a benchmark; InputError for an option that
        only other benchmarks have.
        """
        users: dict[str, set[str]] = {}  # names of benchmarks, by option
        flags = {}
        for benchmark in self.benchmarks.values():
            for option in benchmark.options:
                users.setdefault(option.name, set()).add(benchmark.name)
                flags[option.name] = option.flag
        required = self.given.keys() - self.given.get("from_file", set())
        for given in sorted(flags.keys() & required):
            if name not in users[given]:
                expected = f"needs a file of {' or '.join(sorted(users[given]))}"
                raise InputError(flags[given], expected, name)
        return self._choose(name, "report", "items")

    def _choose(self, name: str, *scopes: str) -> dict[str, object]:
        """Choose the options of a benchmark and these scopes that were given."""
        names = [
            option.name
            for option in self.benchmarks[name].options
            if option.scope in scopes
        ]
        return {given: self.given[given] for given in names if given in self.given}

    def _evaluator(self, name: str) -> Evaluator[Any, Any]:
        if name not in self._evaluators:
            options = self._choose(name, "score", "read", "run", "ranked", "items")
            self._evaluators[name] = self.benchmarks[name].evaluator(
                self.output, **options
            )
        return self._evaluators[name]


def score_names(
    scorer: Scorer,
    root: Path,
    names: Sequence[str],
    datasets: Sequence[Path],
    fail: Callable[[EvaluationError], None],
    is_root_named: bool = True,
) -> Iterator[Results]:
    """Score named files, those of a dataset that are ranked together as one. `fail`
    gets the errors of files that cannot be scored.
    """
    pairs: list[tuple[Path, tuple[Path, ...]]] = []
    for name in names:
        try:
            path = find_prediction(name, root / "prediction")
            paths = tuple(datasets)
            if not paths:
                dataset = find_own_dataset(
                    path, root, is_root_named, scorer.has_questions
                )
                paths = tuple(filter(None, [dataset]))
                report_choice(path, dataset, root)
        except EvaluationError as error:
            fail(error)
        else:
            pairs.append((path, paths))
    for files in group_files(pairs, scorer.ranks_together, scorer.list_events):
        results, errors = score_together(scorer.score, files._replace(any_form=True))
        distinct_errors = {str(problem): problem for _, problem in errors}
        for problem in distinct_errors.values():
            fail(problem)
        if results is not None:
            yield results


def report_choice(path: Path, dataset: Path | None, root: Path) -> None:
    """Print which of two datasets that differ was used for a prediction file, if
    there are two.
    """
    if dataset is None:
        return
    if line := describe_choice(path, dataset, root):
        print(printable(line), file=sys.stderr)


def group_runs(
    results: Sequence[Results], runs: Sequence[Sequence[str]]
) -> list[list[Results]]:
    """Group the results of files by the systems whose `runs` they are.

    Where files were scored together there are fewer results, of which each holds its
    systems itself.
    """
    are_scored_alone = len(results) == sum(map(len, runs))
    if not are_scored_alone:
        return [[result] for result in results]
    left = iter(results)
    return [[next(left) for _ in names] for names in runs]


def score_together(
    score: Score, files: Files
) -> tuple[Results | None, list[tuple[Path, EvaluationError]]]:
    """Score all files that can be scored; the error of every other
    file comes second.
    """
    paths = files.predictions
    failed: list[tuple[Path, EvaluationError]] = []
    try:
        return score_unchanged(score, files), []
    except ClashError as error:  # of files, or of their dataset
        own_errors = [(path, error.errors.get(str(path))) for path in paths]
        failed = [(path, own_error) for path, own_error in own_errors if own_error]
        if not failed:
            failed = [(path, error) for path in paths]
    except EvaluationError as error:
        if len(paths) > 1:
            for path in paths:
                single_file = files._replace(predictions=(path,))
                failed += score_together(score, single_file)[1]
        if not failed:
            return None, [(files.path, error)]
    failed_paths = {path for path, _ in failed}
    rest = tuple(path for path in paths if path not in failed_paths)
    if not rest:
        return None, failed
    results, errors = score_together(score, files._replace(predictions=rest))
    return results, failed + errors


def score_unchanged(score: Score, files: Files) -> Results:
    """Score files, twice if one of them changes while it is read.

    Raises InputError if a file changes again, and the errors of `score` for files that
    do not change.
    """
    truths = filter(None, map(find_truths, files.datasets))
    watched = [*files.predictions, *files.datasets, *truths]
    error: EvaluationError | None = None
    for _ in range(2):
        before = list(map(stamp_of, watched))
        error = None
        try:
            results = score(files)
        except EvaluationError as caught:
            error = caught
        except MemoryError:
            error = InputError(str(files.path), "not enough memory")
        is_unchanged = list(map(stamp_of, watched)) == before
        if is_unchanged and error is not None:
            raise error
        if is_unchanged:
            return results
    raise error or InputError(
        str(files.path),
        "expected files that stay as they are",
        "a change while it was read, twice",
    )
