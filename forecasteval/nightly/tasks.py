"""The files of a night, each a task: what one of them does, even killing its process,
costs only itself.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from forecasteval.benchmark import Files
from forecasteval.common.errors import (
    EvaluationError,
    InputError,
    OtherQuestionsError,
    PendingError,
    VoidError,
    printable,
)
from forecasteval.common.files import (
    hash_file,
    temporary_name,
    write_atomic,
)
from forecasteval.lookup import Failure, explain, failure
from forecasteval.nightly.store import StoredResult, result_pieces
from forecasteval.ranking.files import model_failures
from forecasteval.ranking.reading import read_result
from forecasteval.ranking.systems import file_row
from forecasteval.scoring import Score, score_together

from .pages import write_stored
from .workers import run_in_processes, run_on_cluster

POOL_BYTES: Final = 8_000_000  # of unscored files from which processes pay


class NightOptions(NamedTuple):
    """How a night is run. `cluster` is the address of a Dask cluster, `processes` are 0
    for the current one only.
    """

    force: bool = False  # score everything again
    pages: bool = False  # also those of runs
    min_questions: int = 0
    min_datasets: int | None = None
    late_files: str = "keep"  # or "mark", or "drop"
    begin_record: bool = False  # in the place of a book that is missing or damaged
    processes: int = 0
    cluster: str | None = None
    by: str = ""  # a column of the datasets, by whose values the board has scores, too


class Outcome(NamedTuple):
    """The outcome of a task; some of several files may fail while the others
    have a result.

    `scored` is in a folder that is removed once all files have been scored: it is moved
    where it belongs. `notes` name files that answer other questions than those of their
    dataset, and `waiting` are those to whose questions there is no truth yet, or which
    are `void`: no failure of the night. `llm_failures`: how the language model
    failed, by kind.
    """

    scored: StoredResult | None
    failures: Sequence[Failure] = ()
    notes: Sequence[str] = ()
    waiting: Sequence[str] = ()
    void: bool = False
    llm_failures: Mapping[str, int] = {}


# --- Scoring ---


def score_files(
    score: Score,
    tasks: Sequence[Files],
    root: Path,
    output: Path,
    options: NightOptions,
) -> Generator[Outcome, None, None]:
    """Score files in their order, with a progress bar on a terminal. It is done in
    processes where that pays, or on a cluster.
    """
    if not tasks:
        return
    from tqdm import tqdm  # here: a quiet night needs none

    folder = temporary_name(output)  # made for the first result
    work = partial(_score_task, score, root, folder, output if options.pages else None)
    outcomes: Generator[Outcome | None, None, None]
    if options.cluster:
        checked = [(task, _checksums(task)) for task in tasks]
        outcomes = run_on_cluster(partial(_score_same, work), checked, options.cluster)
    elif options.processes and sum(map(_size, tasks)) > POOL_BYTES:
        outcomes = run_in_processes(
            work, tasks, min(options.processes, len(tasks)), folder
        )
    else:
        outcomes = (work(task) for task in tasks)
    try:
        # At once, so that no process goes on behind an error
        with contextlib.closing(outcomes):
            bar = tqdm(
                outcomes,
                total=len(tasks),
                desc="scoring",
                unit="file",
                leave=False,
                disable=None,
            )
            for task, outcome in zip(tasks, bar, strict=True):
                if outcome is None:
                    yield _failed(
                        task, "the process that scored it was killed (out of memory?)"
                    )
                elif outcome.scored and not outcome.scored.path.exists():
                    yield _failed(
                        task,
                        "the Dask worker wrote its result elsewhere: is the "
                        "folder shared?",
                    )
                else:
                    yield outcome
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _failed(task: Files, reason: str, fault: bool = False) -> Outcome:
    return Outcome(None, [failure(task.prediction, reason, fault)])


def _size(task: Files) -> int:
    """Bytes of the predictions, and of their dataset."""
    size = 0
    for path in (*task.predictions, *task.datasets):
        with contextlib.suppress(OSError):  # scoring will say so
            size += path.stat().st_size
    return size


def _score_task(
    score: Score, root: Path, folder: Path, pages: Path | None, task: Files
) -> Outcome:
    try:
        results, errors = score_together(score, task)
        outcome = _sort_errors(errors, root)
        if results is None:
            return outcome
        if damaged := results.get("damaged_lines"):
            reason = f"scored without its damaged lines: {damaged}"
            outcome = outcome._replace(
                failures=[*outcome.failures, failure(task.prediction, reason)]
            )
        system = read_result(results)
        path = folder / f"{results['name']}.json"
        write_atomic(path, result_pieces(results))
        checksum = hash_file(path)
        if pages:
            try:
                write_stored(results, pages, checksum)
            except EvaluationError as error:  # which costs no score
                note = f"no page could be made: {explain(error, task.path, root)}"
                outcome = outcome._replace(notes=[*outcome.notes, note])
        return outcome._replace(
            scored=StoredResult(path, checksum, file_row(system), system),
            llm_failures=model_failures(results) or {},
        )
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
            f"internal fault, please report it: {type(error).__name__}: "
            f"{printable(error, 200)}"
        )
        return _failed(task, reason, fault=True)


def _sort_errors(errors: Iterable[tuple[Path, EvaluationError]], root: Path) -> Outcome:
    """Sort the outcome of files without a result."""
    failures: list[Failure] = []
    notes: list[str] = []
    waiting: list[str] = []
    void = False
    for path, error in errors:
        reason = explain(error, path, root)
        if isinstance(error, PendingError):
            waiting.append(path.name)
            void |= isinstance(error, VoidError)
        elif isinstance(error, OtherQuestionsError):
            notes.append(f"{path.name}: not scored: {reason}")
        else:
            failures.append(failure(path.name, reason))
    return Outcome(None, failures, notes, waiting, void)


def _score_same(
    work: Callable[[Files], Outcome], task_and_checksums: tuple[Files, dict[str, str]]
) -> Outcome:
    """Score a file on another machine, if it is the file that the client has. The
    folder may be another one.
    """
    task, checksums = task_and_checksums
    if _checksums(task) == checksums:
        return work(task)
    return _failed(
        task,
        "on the Dask worker it is another file, or it was changed meanwhile: is the "
        "folder shared?",
    )


def _checksums(task: Files) -> dict[str, str]:
    """Return the present checksums of its files; none if a file cannot be read: scoring
    reports it.
    """
    with contextlib.suppress(InputError):
        return task.checksums()
    return {}
