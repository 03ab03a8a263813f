"""The files of a night, each a task: what one of them does, even killing its process, costs only
itself.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Final, NamedTuple, TypedDict

from forecasteval.common.errors import EvaluationError, InputError, OtherQuestionsError, printable
from forecasteval.common.files import (
    SUFFIXES,
    find_dataset,
    hash_file,
    join_checksums,
    readable,
    require_folder,
    temporary_name,
    write_atomic,
)
from forecasteval.common.records import group_by
from forecasteval.ranking.names import SYSTEMS_FILE
from forecasteval.ranking.systems import Forecasters, System, model_failures, read_result
from forecasteval.scoring import score_together, set_of

from .pages import write_stored
from .store import BOARD, Score, result_pieces
from .workers import run_in_processes, run_on_cluster

POOL_BYTES: Final = 8_000_000  # of unscored files from which processes pay
_LONGEST_NAME: Final = 255  # bytes that file systems allow


class Options(NamedTuple):
    """How a night is run; `cluster` is the address of a Dask cluster, `processes` are 0 for the
    current one only.
    """

    force: bool = False  # score everything again
    pages: bool = False  # also those of runs
    min_questions: int = 0
    min_datasets: int | None = None
    processes: int = 0
    cluster: str | None = None


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
        return {
            "prediction_sha256": join_checksums([hash_file(path) for path in self.files]),
            **dataset,
        }


class Failure(TypedDict):
    """A file that could not be scored, and why; `fault` if that is this tool's fault."""

    file: str
    reason: str
    fault: bool


def failure(file: str, reason: str, fault: bool = False) -> Failure:
    return {"file": file, "reason": reason, "fault": fault}


class Scored(NamedTuple):
    """A result: the file that holds it, what ranking needs of it, how the language model failed, by
    kind.
    """

    # in a folder that is removed once all files have been scored: it is moved where it belongs
    path: Path
    system: System | Forecasters
    llm_failures: Mapping[str, int]


class Outcome(NamedTuple):
    """The outcome of a task; some of several files may fail while the others have a result.

    `notes` name files that answer other questions than those of their dataset, which is no failure
    of the night.
    """

    scored: Scored | None
    failures: Sequence[Failure] = ()
    notes: Sequence[str] = ()


def explain(error: EvaluationError, path: Path, root: Path) -> str:
    """An error's message about a file, without the names of the file and the root."""
    begin = re.escape(f"{printable(root)}{os.sep}")
    return re.sub(rf"(?<!\S){begin}", "", str(error).removeprefix(f"{printable(path)}: "))


# --- Files ---


def find_tasks(
    root: Path, together: Callable[[Path], bool] = lambda dataset: False
) -> tuple[list[Task], list[Failure], list[str]]:
    """The tasks of `root/prediction`, the files that cannot be used, and the names of what is no
    prediction file.

    A task holds one file, or all files of a dataset that are scored `together`. Hidden files are
    left out, and `SYSTEMS_FILE`. Raises InputError if there is no prediction file.
    """
    files, failures, ignored = _list_files(root / "prediction")
    tasks: dict[Path, Task] = {}  # by the dataset, or by the file itself
    one_set = cache(together)
    for path in files:
        try:
            dataset = find_dataset(path, root / "dataset")
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


# --- Scoring ---


def score_files(
    score: Score, tasks: Sequence[Task], root: Path, output: Path, options: Options
) -> Generator[Outcome, None, None]:
    """Score files in their order, with a progress bar on a terminal: in processes where that pays,
    or on a cluster.
    """
    from tqdm import tqdm

    folder = temporary_name(output)  # made for the first result
    work = partial(_score_task, score, root, folder, output if options.pages else None)
    outcomes: Generator[Outcome | None, None, None]
    if options.cluster and tasks:
        checked = [(task, _checksums(task)) for task in tasks]
        outcomes = run_on_cluster(partial(_score_same, work), checked, options.cluster)
    elif options.processes and sum(map(_size, tasks)) > POOL_BYTES:
        outcomes = run_in_processes(work, tasks, min(options.processes, len(tasks)), folder)
    else:
        outcomes = (work(task) for task in tasks)
    try:
        with contextlib.closing(outcomes):  # at once, so that no process goes on behind an error
            bar = tqdm(
                outcomes, total=len(tasks), desc="scoring", unit="file", leave=False, disable=None
            )
            for task, outcome in zip(tasks, bar, strict=True):
                if outcome is None:
                    yield _failed(task, "the process that scored it was killed (out of memory?)")
                elif outcome.scored and not outcome.scored.path.exists():
                    yield _failed(
                        task, "the Dask worker wrote its result elsewhere: is the folder shared?"
                    )
                else:
                    yield outcome
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _failed(task: Task, reason: str, fault: bool = False) -> Outcome:
    return Outcome(None, [failure(task.prediction, reason, fault)])


def _size(task: Task) -> int:
    """Bytes of the predictions, and of their dataset."""
    size = 0
    for path in filter(None, (*task.files, task.dataset)):
        with contextlib.suppress(OSError):  # scoring will say so
            size += path.stat().st_size
    return size


def _score_task(score: Score, root: Path, folder: Path, pages: Path | None, task: Task) -> Outcome:
    try:
        results, errors = score_together(score, task.files, task.dataset)
        failures, notes = list[Failure](), list[str]()
        for path, error in errors:
            reason = explain(error, path, root)
            if isinstance(error, OtherQuestionsError):
                notes.append(f"{path.name}: not scored: {reason}")
            else:
                failures.append(failure(path.name, reason))
        if results is None:
            return Outcome(None, failures, notes)
        if damaged := results.get("damaged_lines"):
            failures.append(
                failure(task.prediction, f"scored without its damaged lines: {damaged}")
            )
        system, path = read_result(results), folder / f"{results['name']}.json"
        write_atomic(path, result_pieces(results))
        if pages:
            with contextlib.suppress(
                EvaluationError
            ):  # a page that cannot be made costs no score: a note names it
                write_stored(results, pages, hash_file(path))
        return Outcome(Scored(path, system, model_failures(results) or {}), failures, notes)
    except InputError as error:
        return _failed(task, explain(error, task.path, root))
    except EvaluationError:  # a full disk ends the run
        raise
    except MemoryError:
        return _failed(task, "not enough memory")
    except (
        Exception
    ) as error:  # a fault of this tool in one file must not cost a night's other files
        reason = (
            f"internal fault, please report it: {type(error).__name__}: {printable(error, 200)}"
        )
        return _failed(task, reason, fault=True)


def _score_same(
    work: Callable[[Task], Outcome], task_and_checksums: tuple[Task, dict[str, str]]
) -> Outcome:
    """Score a file on another machine, if it is the file that the client has: the folder may be
    another one.
    """
    task, checksums = task_and_checksums
    if _checksums(task) == checksums:
        return work(task)
    return _failed(
        task,
        "on the Dask worker it is another file, or it was changed meanwhile: is the folder shared?",
    )


def _checksums(task: Task) -> dict[str, str]:
    """The present checksums of its files; none if a file cannot be read: scoring reports it."""
    with contextlib.suppress(InputError):
        return task.checksums()
    return {}
