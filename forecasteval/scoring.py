"""Names of files to results: which files, whose benchmark, which are scored together."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, NamedTuple, TypedDict, TypeVar

from forecasteval.benchmark import Benchmark, Evaluator
from forecasteval.common.errors import ClashError, EvaluationError, InputError, printable
from forecasteval.common.files import (
    SUFFIXES,
    find_dataset,
    find_file,
    find_truths,
    hash_file,
    join_checksums,
    readable,
    require_folder,
    require_regular,
    stamp_of,
)
from forecasteval.common.records import group_by
from forecasteval.common.version import PACKAGE, hash_code
from forecasteval.display.results import Results
from forecasteval.ranking.names import BOARD, SYSTEMS_FILE, read_systems, without_run

T = TypeVar("T")
_SHARED: Final = (PACKAGE / "common", PACKAGE / "benchmark.py", PACKAGE / "scoring.py")


class Scorer:
    """Scores files of any benchmark by the options that were given (not None); can go to another
    process.

    `output` is the folder of results. The options whose names are in the option `from_file` are for
    those benchmarks that have them; any other that a file's benchmark lacks is refused.
    """

    def __init__(
        self, wings: Iterable[Benchmark], options: Mapping[str, object], output: Path
    ) -> None:
        self.wings = {wing.name: wing for wing in wings}
        self.given: dict[str, Any] = {
            name: value for name, value in options.items() if value is not None
        }
        self.output = output
        self._evaluators: dict[str, Evaluator[Any, Any]] = {}

    def __reduce__(self) -> tuple[object, ...]:
        # Without evaluators: another process makes them again.
        return Scorer, (tuple(self.wings.values()), self.given, self.output)

    def recognise(self, path: Path, dataset: Path | None) -> Benchmark:
        """The benchmark of a prediction file: the first that recognises it; InputError unless the
        files are regular.
        """
        for file in filter(None, (path, dataset)):
            require_regular(file)  # before it is opened: a pipe would wait for ever
        return next(wing for wing in self.wings.values() if wing.is_mine(path, dataset))

    def score(
        self,
        path: Path,
        dataset: Path | None,
        others: Sequence[Path] = (),
        more: Sequence[Path | None] = (),
    ) -> Results:
        """The results of one prediction file, or with `others` of several; `more`: further
        datasets.
        """
        datasets = [file for file in (dataset, *more) if file]
        name = self.recognise(path, datasets[0] if datasets else None).name
        evaluator = self._evaluator(name)
        results = evaluator.evaluate_file(path, datasets, others)
        for truths in filter(None, map(find_truths, datasets)):
            if "truths_sha256" not in results["signature"]:
                expected = (
                    "expected no truths beside this dataset, whose benchmark does not use them"
                )
                raise InputError(str(truths), expected, name)
        results["signature"]["code_sha256"] = self.hash_code(name)
        return results

    def hash_code(self, name: str) -> str:
        """sha256 of the code that a result of this benchmark depends on: its package, and what all
        benchmarks share.
        """
        file = Path(str(sys.modules[self.wings[name].evaluator.__module__].__file__))
        own = file.parent if file.name == "__init__.py" else file
        return hash_code(own, *_SHARED)

    def one_set(self, dataset: Path) -> bool:
        """Whether the prediction files of a dataset are scored together."""
        return any(wing.one_set(dataset) for wing in self.wings.values() if wing.one_set)

    def is_whole(self, prediction: Path) -> bool:
        """Whether a prediction file contains its questions."""
        return any(wing.is_whole(prediction) for wing in self.wings.values() if wing.is_whole)

    def check(self, path: Path) -> Results:
        """The mistakes in a dataset; InputError if its benchmark has no check."""
        wing = self.recognise(path, path)
        if not wing.check:
            able = " or ".join(sorted(other.name for other in self.wings.values() if other.check))
            raise InputError(
                str(path),
                f"expected a dataset of {able}, the only ones that are checked",
                wing.name,
            )
        return wing.check(path)

    def settings(self, name: str) -> dict[str, object]:
        """The part of a benchmark's signatures that does not depend on the files."""
        return {**self._evaluator(name).settings(), "code_sha256": self.hash_code(name)}

    def require_usable_options(self) -> None:
        """InputError if an evaluator cannot be made of the options that were given for it."""
        for name in self.wings:
            if self._choose(name, "score", "run", "ranked"):
                self._evaluator(name)

    def report_options(self, name: str) -> dict[str, object]:
        """The options for a report of a benchmark; InputError for an option that only other
        benchmarks have.
        """
        flags = {
            option.name: option.flag for wing in self.wings.values() for option in wing.options
        }
        for given in sorted(flags.keys() & self.given.keys() - self.given.get("from_file", set())):
            users = [
                wing.name
                for wing in self.wings.values()
                if given in (option.name for option in wing.options)
            ]
            if name not in users:
                raise InputError(
                    flags[given], f"needs a file of {' or '.join(sorted(users))}", name
                )
        return self._choose(name, "report", "items")

    def _choose(self, name: str, *scopes: str) -> dict[str, object]:
        """The options of a benchmark and these scopes that were given."""
        names = [option.name for option in self.wings[name].options if option.scope in scopes]
        return {given: self.given[given] for given in names if given in self.given}

    def _evaluator(self, name: str) -> Evaluator[Any, Any]:
        if name not in self._evaluators:
            options = self._choose(name, "score", "run", "ranked", "items")
            self._evaluators[name] = self.wings[name].evaluator(self.output, **options)
        return self._evaluators[name]


def score_names(
    scorer: Scorer,
    root: Path,
    names: Sequence[str],
    datasets: Sequence[Path],
    fail: Callable[[EvaluationError], None],
) -> Iterator[Results]:
    """A result per name, or per dataset whose files are scored together; `fail` gets the errors of
    the others.
    """
    jobs: dict[object, tuple[list[Path], list[Path | None]]] = {}
    for number, name in enumerate(names):
        try:
            path = _find_prediction(name, root / "prediction")
            inputs: list[Path | None] = [*datasets] or [
                find_dataset(path, root / "dataset", scorer.is_whole)
            ]
        except EvaluationError as error:
            fail(error)
            continue
        one_set = set_of(path, inputs[0], scorer.one_set) if len(inputs) == 1 else None
        together, _ = jobs.setdefault(one_set or number, ([], inputs))
        if path not in together:  # a file that is named twice counts once
            together.append(path)
    for paths, (dataset, *more) in jobs.values():
        results, errors = score_together(partial(scorer.score, more=more), paths, dataset)
        for _, problem in errors:
            fail(problem)
        if results is not None:
            yield results


def _find_prediction(name: str, folder: Path) -> Path:
    if os.sep not in name and "/" not in name:
        require_folder(folder)
    path = find_file(name, folder)
    if path.name == SYSTEMS_FILE and path.resolve().parent == folder.resolve():
        raise InputError(
            str(path), "expected predictions", "metadata about systems; name another file"
        )
    return path


class NamedFile(NamedTuple):
    """A prediction file with a dataset, and the names by which users may call it.

    `system_names` are those of its system, of which `SYSTEMS_FILE` has more; `file_names` its own,
    with and without its run, and its dataset with a name of its system. `clash`: two names of its
    system have a file for one dataset, so that it cannot be told which is meant; "" for none.
    """

    path: Path
    system: str
    system_names: frozenset[str]
    file_names: frozenset[str]
    clash: str


def name_files(root: Path, scorer: Scorer) -> list[NamedFile]:
    """The files of `root/prediction` that have a dataset."""
    found = [
        (task.path, task.dataset)
        for task in find_tasks(root, scorer.is_whole)[0]
        if task.dataset is not None
    ]
    systems = read_systems(root / "prediction")
    clashes = systems.find_clashes([(path.stem, dataset.name) for path, dataset in found])
    files = []
    for path, dataset in found:
        system = systems.system_of(path.stem, dataset.name)
        names = frozenset(systems.names_of(system))
        own = {path.stem, without_run(path.stem, dataset.name)}
        whole = {f"{dataset.stem}-{name}" for name in names}
        clash = clashes.get(system, "")
        files.append(NamedFile(path, system, names, frozenset(own | whole), clash))
    return files


def require_no_clash(files: Iterable[NamedFile]) -> None:
    """InputError if two names of the system of one of these files have a file for one dataset."""
    for file in files:
        if file.clash:
            raise InputError(SYSTEMS_FILE, file.clash)


def is_file_name(name: str, folder: Path) -> bool:
    """Whether a name is a path, or that of a file in a folder, with or without its runs."""
    if "/" in name or os.sep in name or find_runs(name, folder) != [name]:
        return True
    # Path.exists raises for a name of 300 characters
    return any(os.path.exists(folder / f"{name}{end}") for end in ("", *SUFFIXES))


def find_named(name: str, root: Path, scorer: Scorer) -> list[str]:
    """The files that a name stands for: itself if it is a file's, else those of the system that
    `SYSTEMS_FILE` calls so; without such files it is itself, whatever is wrong.
    """
    folder = root / "prediction"
    if is_file_name(name, folder) or not (folder / SYSTEMS_FILE).exists():
        return [name]
    files = [
        file for file in name_files(root, scorer) if name in file.system_names | file.file_names
    ]
    require_no_clash(files)
    return list(dict.fromkeys(str(file.path) for file in files)) or [name]


def find_runs(name: str, folder: Path) -> list[str]:
    """The names of the files that `name`, or a path, stands for: `NAME` and all of `NAME@RUN`, in
    order.

    With an extension, or as `NAME@RUN`, it is that file alone; without such files it is itself,
    whatever is wrong.
    """
    base = Path(name) if os.sep in name or "/" in name else folder / name
    if base.suffix in SUFFIXES or without_run(base.name) != base.name:
        return [name]
    names: list[str] = []
    with contextlib.suppress(OSError, ValueError):  # reading the file will say so
        names = os.listdir(base.parent)
    stems = {Path(other).stem for other in names if other.endswith(SUFFIXES) and other[0] != "."}
    runs = {stem for stem in stems if stem != base.name and without_run(stem) == base.name}
    return (
        [os.path.join(base.parent, stem) for stem in sorted(runs | (stems & {base.name}))]
        if runs
        else [name]
    )


def group_runs(
    results: Sequence[Results], runs: Sequence[Sequence[str]]
) -> list[Results | list[Results]]:
    """Results of files, those of one system's runs as a list.

    Where files were scored together there are fewer results, of which each holds its systems
    itself.
    """
    if len(results) != sum(map(len, runs)):
        return [*results]
    left = iter(results)
    groups = [[next(left) for _ in names] for names in runs]
    return [group[0] if len(group) == 1 else group for group in groups]


def set_of(path: Path, dataset: Path | None, together: Callable[[Path], bool]) -> Path | None:
    """The dataset, if its predictions are scored together and `path` is among them: a CSV contains
    its events.
    """
    return dataset if dataset and path.suffix != ".csv" and together(dataset) else None


def score_together(
    score: Callable[..., T], paths: Sequence[Path], dataset: Path | None
) -> tuple[T | None, list[tuple[Path, EvaluationError]]]:
    """The result of all files that can be scored, and the error of every other file."""
    failed: list[tuple[Path, EvaluationError]]
    try:
        return score_unchanged(score, paths[0], dataset, paths[1:]), []
    except ClashError as error:
        failed = [(path, error.errors[str(path)]) for path in paths if str(path) in error.errors]
    except EvaluationError as error:
        alone = paths if len(paths) > 1 else ()
        failed = [
            failure for path in alone for failure in score_together(score, [path], dataset)[1]
        ]
        if not failed:
            return None, [(paths[0], error)]
    rest = [path for path in paths if path not in dict(failed)]
    results, errors = score_together(score, rest, dataset) if rest else (None, [])
    return results, failed + errors


def score_unchanged(
    score: Callable[..., T], path: Path, dataset: Path | None, others: Sequence[Path] = ()
) -> T:
    """`score(path, dataset)`, with `others` as a third argument, twice if a file changes while it
    is read.

    Raises InputError if a file changes again, and the errors of `score` for files that do not
    change.
    """
    truths = find_truths(dataset) if dataset else None
    files = [path, *others, *filter(None, [dataset, truths])]
    error: EvaluationError | None = None
    for _ in range(2):
        before, error = list(map(stamp_of, files)), None
        try:
            results = score(path, dataset, others) if others else score(path, dataset)
        except EvaluationError as caught:
            error = caught
        if list(map(stamp_of, files)) == before:
            if error:
                raise error
            return results
    raise error or InputError(
        str(path), "expected files that stay as they are", "a change while it was read, twice"
    )


_LONGEST_NAME: Final = 255  # bytes that file systems allow


class Task(NamedTuple):
    """A prediction file to score, or to find scored already; `others` are scored together with
    it.
    """

    path: Path
    dataset: Path | None
    others: tuple[Path, ...] = ()

    @property
    def name(self) -> str:
        """The stem of its result: of several files that of their dataset."""
        return self.dataset.stem if self.dataset and self.others else self.path.stem

    @property
    def prediction(self) -> str:
        """The names of its files."""
        return ", ".join(path.name for path in self.files)

    @property
    def files(self) -> tuple[Path, ...]:
        return self.path, *self.others

    def checksums(self, hash_dataset: Callable[[Path], str] = hash_file) -> dict[str, str]:
        """The checksums of predictions and dataset, as a signature has them; InputError if one
        cannot be read.
        """
        dataset = {"dataset_sha256": hash_dataset(self.dataset)} if self.dataset else {}
        truths = find_truths(self.dataset) if self.dataset else None
        beside = {"truths_sha256": hash_dataset(truths)} if truths else {}
        return {
            "prediction_sha256": join_checksums([hash_file(path) for path in self.files]),
            **dataset,
            **beside,
        }


class Failure(TypedDict):
    """A file that could not be scored, and why; `fault` if that is this tool's fault."""

    file: str
    reason: str
    fault: bool


def failure(file: str, reason: str, fault: bool = False) -> Failure:
    return {"file": file, "reason": reason, "fault": fault}


def explain(error: EvaluationError, path: Path, root: Path) -> str:
    """An error's message about a file, without the names of the file and the root."""
    begin = re.escape(f"{printable(root)}{os.sep}")
    return re.sub(rf"(?<!\S){begin}", "", str(error).removeprefix(f"{printable(path)}: "))


def find_tasks(
    root: Path,
    is_whole: Callable[[Path], bool],
    together: Callable[[Path], bool] = lambda dataset: False,
) -> tuple[list[Task], list[Failure], list[str]]:
    """The tasks of `root/prediction`, the files that cannot be used, and the names of what is no
    prediction file.

    A task holds one file, or all files of a dataset that are scored `together`; a file that
    `is_whole` has no dataset. Hidden files are
    left out, and `SYSTEMS_FILE`. Raises InputError if there is no prediction file.
    """
    files, failures, ignored = _list_files(root / "prediction")
    tasks: dict[Path, Task] = {}  # by the dataset, or by the file itself
    one_set = cache(together)
    for path in files:
        try:
            dataset = find_dataset(path, root / "dataset", is_whole)
        except EvaluationError as error:
            failures.append(failure(path.name, explain(error, path, root)))
            continue
        key = set_of(path, dataset, one_set) or path
        task = tasks.get(key)
        tasks[key] = task._replace(others=(*task.others, path)) if task else Task(path, dataset)
    taken = {task.name for task in tasks.values() if task.others}
    usable = []
    for task in tasks.values():
        if task.name == BOARD:
            problem = (
                f"expected another name of the dataset: evaluation/{BOARD}.json is the leaderboard"
            )
            failures.append(failure(task.prediction, problem))
        elif task.name in taken and not task.others:
            problem = f"expected another name: evaluation/{task.name}.json is that of its dataset"
            failures.append(failure(task.path.name, problem))
        else:
            usable.append(task)
    return usable, failures, ignored


def _list_files(folder: Path) -> tuple[list[Path], list[Failure], list[str]]:
    """The prediction files by name, those whose names cannot be used, and the names of other
    files.
    """
    require_folder(folder)
    with readable(folder):
        names = sorted(
            name for name in os.listdir(folder) if name[0] != "." and name != SYSTEMS_FILE
        )
    by_stem = group_by(
        (name for name in names if name.endswith(SUFFIXES)), lambda name: Path(name).stem
    )
    if not by_stem:
        raise InputError(str(folder), "expected prediction files", "none")
    files, failures = [], []
    for stem, same in by_stem.items():
        if stem == BOARD:
            problem = f"expected another name: evaluation/{BOARD}.json is the leaderboard"
        elif len(os.fsencode(f"{stem}.json")) > _LONGEST_NAME:
            problem = (
                f"expected a shorter name: that of its result has more than {_LONGEST_NAME} bytes"
            )
        elif len(same) > 1:
            problem = f"expected one file with this stem, got {', '.join(same)}"
        else:
            files.append(folder / same[0])
            continue
        failures += [failure(name, problem) for name in same]
    return files, failures, [name for name in names if not name.endswith(SUFFIXES)]
