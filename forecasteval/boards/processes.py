"""Scoring many files, in processes where that pays: what one file does, even killing its process, costs only itself."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from forecasteval.common.errors import EvaluationError, OtherQuestionsError, printable
from forecasteval.common.files import hash_file, join_checksums, score_together, temporary_name, write_atomic

from .store import Score, result_pieces
from .systems import Forecasters, System, model_failures, read_result

_KILLED: Final = "the process that scored it was killed (out of memory?)"
_TOO_LARGE: Final = "needs more memory than there is"
POOL_BYTES: Final = 8_000_000  # of unscored files from which processes pay, and of a file that is scored in its own


class Task(NamedTuple):
    """A prediction file to score, or to find scored already; `others` are scored together with it."""

    path: Path
    dataset: Path | None
    checksums: dict[str, str]  # of predictions and dataset, as a signature has them
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


class Failure(NamedTuple):
    """A file that could not be scored, and why; `fault` if that is this tool's fault."""

    file: str
    reason: str
    fault: bool = False


class Scored(NamedTuple):
    """A result: its name, the file that holds it, what ranking needs of it, how the language model failed, by kind."""

    name: str
    path: Path  # in a folder that is removed once all files have been scored: it is moved where it belongs
    system: System | Forecasters
    llm_failures: Mapping[str, int]


class LeftOut(NamedTuple):
    """A file that answers other questions than those of its dataset: no failure of the night."""

    file: str
    reason: str


Outcome = list[Failure | LeftOut | Scored]  # of a task: one, or of several files those that fail beside the result


def explain(error: EvaluationError, path: Path, root: Path) -> str:
    """What is wrong with a file, without the names that everybody knows."""
    return str(error).removeprefix(f"{printable(path)}: ").replace(f"{root}{os.sep}", "")


def score_files(
    score: Score, tasks: Sequence[Task], root: Path, output: Path, processes: int, cluster: str | None = None
) -> Generator[Outcome, None, None]:
    """Score files in their order, with a progress bar on a terminal.

    In `processes` where that pays (0: in this one, whatever it costs), or on the Dask `cluster` of this address.
    """
    from tqdm import tqdm

    folder = temporary_name(output)  # made for the first result
    work = partial(_score_one, score, root, folder)
    outcomes: Generator[Outcome, None, None]
    if cluster and tasks:
        outcomes = _on_cluster(work, tasks, cluster)
    elif processes and sum(map(_size, tasks)) > POOL_BYTES:
        outcomes = _in_processes(work, tasks, processes, folder)
    else:
        outcomes = (work(task) for task in tasks)
    try:
        with contextlib.closing(outcomes):  # at once, so that no process goes on behind an error
            yield from tqdm(outcomes, total=len(tasks), desc="scoring", unit="file", leave=False, disable=None)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _size(task: Task) -> int:
    """Bytes of the predictions, and of their dataset."""
    size = 0
    for path in filter(None, (*task.files, task.dataset)):
        with contextlib.suppress(OSError):  # scoring will say so
            size += path.stat().st_size
    return size


def _score_one(score: Score, root: Path, folder: Path, task: Task) -> Outcome:
    writing = False
    try:
        results, errors = score_together(score, task.files, task.dataset)
        outcome: Outcome = [
            (LeftOut if isinstance(error, OtherQuestionsError) else Failure)(path.name, explain(error, path, root))
            for path, error in errors
        ]
        if results is not None:
            if damaged := results.get("damaged_lines"):
                reason = f"scored without its damaged lines, which are no JSON: {damaged}"
                outcome.append(Failure(task.prediction, reason))
            system, path = read_result(results), folder / f"{results['name']}.json"
            writing = True
            write_atomic(path, result_pieces(results))
            outcome.append(Scored(str(results["name"]), path, system, model_failures(results) or {}))
        return outcome
    except EvaluationError as error:
        if writing:  # a full disk ends the run
            raise
        return [Failure(task.prediction, explain(error, task.path, root))]
    except MemoryError:
        return [Failure(task.prediction, _TOO_LARGE)]
    except Exception as error:  # a fault of this tool in one file must not cost a night's other files
        reason = f"internal fault, please report it: {type(error).__name__}: {printable(error, 200)}"
        return [Failure(task.prediction, reason, True)]


def _in_processes(
    work: Callable[[Task], Outcome], tasks: Sequence[Task], processes: int, folder: Path
) -> Generator[Outcome, None, None]:
    from .pool import run_tasks

    with contextlib.closing(run_tasks(work, tasks, min(processes, len(tasks)), folder)) as outcomes:
        for task, outcome in zip(tasks, outcomes, strict=True):
            yield [Failure(task.prediction, _KILLED)] if outcome is None else outcome


def _on_cluster(work: Callable[[Task], Outcome], tasks: Sequence[Task], address: str) -> Generator[Outcome, None, None]:
    from .cluster import run_tasks

    asked = [task._replace(checksums=_checksums(task)) for task in tasks]
    with contextlib.closing(run_tasks(partial(_score_there, work), asked, address)) as outcomes:
        for task, outcome in zip(tasks, outcomes, strict=True):
            yield [Failure(task.prediction, _KILLED)] if outcome is None else [_arrived(task, one) for one in outcome]


def _arrived(task: Task, one: Failure | LeftOut | Scored) -> Failure | LeftOut | Scored:
    """The same, or a Failure if the result was written where only its worker sees it."""
    if isinstance(one, Scored) and not one.path.exists():
        return Failure(task.prediction, "the Dask worker wrote its result elsewhere: is the folder shared?")
    return one


def _score_there(work: Callable[[Task], Outcome], task: Task) -> Outcome:
    """Score a file on another machine, if it is the file that its client has: the folder may be another there."""
    if _checksums(task) == task.checksums:
        return work(task)
    reason = "on the Dask worker it is another file, or it was changed meanwhile: is the folder shared?"
    return [Failure(task.prediction, reason)]


def _checksums(task: Task) -> dict[str, str]:
    """Those of its files as they are now; none of what cannot be read: scoring says why."""
    found: dict[str, str] = {}
    with contextlib.suppress(EvaluationError):
        found["prediction_sha256"] = join_checksums([hash_file(path) for path in task.files])
        if task.dataset:
            found["dataset_sha256"] = hash_file(task.dataset)
    return found
