"""Scoring many files, in processes where that pays: what one file does, even killing its process, costs only itself."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from forecasteval.common.errors import EvaluationError, printable

from .store import Score, result_text, score_unchanged
from .systems import Ranking, System, read_result

POOL_BYTES: Final = 8_000_000  # of unscored files from which a second process pays


class Task(NamedTuple):
    """A prediction file to score, or to find scored already."""

    path: Path
    dataset: Path | None
    checksums: dict[str, str]  # of both, as a signature has them


class Failure(NamedTuple):
    """A file that could not be scored, and why; `fault` if that is this tool's fault."""

    file: str
    reason: str
    fault: bool = False


Outcome = Failure | tuple[str, System | Ranking]  # the text to store, and what ranking needs of it


def explain(error: EvaluationError, path: Path, root: Path) -> str:
    """What is wrong with a file, without the names that everybody knows."""
    return str(error).removeprefix(f"{printable(path)}: ").replace(f"{root}{os.sep}", "")


def score_files(score: Score, tasks: Sequence[Task], root: Path, processes: int) -> Generator[Outcome, None, None]:
    """Score files in their order, with a progress bar on a terminal."""
    from tqdm import tqdm

    work = partial(_score_one, score, root)
    apart = processes > 1 and len(tasks) > 1 and sum(_size(task.path) for task in tasks) > POOL_BYTES
    outcomes = _in_processes(work, tasks, processes, root) if apart else (work(task) for task in tasks)
    with contextlib.closing(outcomes):  # at once, so that no process goes on behind an error
        yield from tqdm(outcomes, total=len(tasks), desc="scoring", unit="file", leave=False, disable=None)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # scoring will say so
        return 0


def _score_one(score: Score, root: Path, task: Task) -> Outcome:
    try:
        results = score_unchanged(score, task.path, task.dataset)
        return result_text(results), read_result(results)
    except EvaluationError as error:
        return Failure(task.path.name, explain(error, task.path, root))
    except Exception as error:  # a fault of this tool in one file must not cost a night's other files
        reason = f"internal fault, please report it: {type(error).__name__}: {printable(error, 200)}"
        return Failure(task.path.name, reason, True)


# --- In processes ---


def _in_processes(
    work: Callable[[Task], Outcome], tasks: Sequence[Task], processes: int, root: Path
) -> Generator[Outcome, None, None]:
    """`map(work, tasks)` in processes. If one dies, the rest runs one by one, to tell which file it was."""
    from concurrent.futures.process import BrokenProcessPool

    name = f".{os.getpid()}-"
    done = 0
    with (
        _pool(),
        TemporaryDirectory(prefix=name, suffix=".tmp", dir=root / "evaluation", ignore_cleanup_errors=True) as folder,
    ):
        try:
            for outcome in _parallel(work, tasks, min(processes, len(tasks)), Path(folder)):
                yield outcome
                done += 1
        except BrokenProcessPool:
            for task in tasks[done:]:
                try:
                    yield from _parallel(work, [task], 2, Path(folder))
                except BrokenProcessPool:
                    yield Failure(task.path.name, "the process that scored it was killed (out of memory?)")


def _parallel(
    work: Callable[[Task], Outcome], tasks: Sequence[Task], processes: int, folder: Path
) -> Generator[Outcome, None, None]:
    """`map(work, tasks)` in two processes or more; BrokenProcessPool if one of them dies."""
    from joblib import Parallel, cpu_count, delayed, parallel_config

    # As many threads for numpy as here: with another number, sums of products may differ in the last digit.
    with parallel_config("loky", inner_max_num_threads=cpu_count()):
        parallel = Parallel(
            processes, return_as="generator", batch_size=1, initializer=_begin_worker, initargs=(os.getpid(),)
        )
    with _without_interrupts():
        names = parallel(delayed(_hand_over)(work, folder, task) for task in tasks)
    with contextlib.closing(names):
        for name in names:
            path = folder / name
            yield pickle.loads(path.read_bytes())
            path.unlink()


def _hand_over(work: Callable[[Task], Outcome], folder: Path, task: Task) -> str:
    """Do a task in a process, and leave the outcome in a file of `folder`, whose name is returned.

    A process that is killed while it sends a long message leaves half of it in the pipe, and for the rest the pool
    would wait for ever. A name is sent whole or not at all. It also keeps what is done early out of the memory.
    """
    path = folder / f"{os.getpid()}-{time.monotonic_ns()}"
    outcome = pickle.dumps(work(task))
    try:
        path.write_bytes(outcome)
    except OSError as error:
        raise EvaluationError(f"{path}: cannot be written: {error.strerror or error}") from None
    return path.name


@contextlib.contextmanager
def _pool() -> Iterator[None]:
    """What joblib keeps for the next call is ended here, and it does not talk to the user."""
    with warnings.catch_warnings():
        # A process that it replaces, a loop that ends early; told in a thread, where an error would hang all.
        warnings.filterwarnings("ignore", module="joblib")
        from joblib.externals.loky import get_reusable_executor

        _start_trackers()
        try:
            yield
        finally:
            get_reusable_executor(reuse=True).shutdown(wait=True, kill_workers=True)


def _start_trackers() -> None:
    """Start the processes that free the locks of a pool whose parent was killed.

    Silently: they would tell the user about it. And before anything else: as they start, they unblock Ctrl-C.
    """
    if sys.platform == "win32":
        return
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as loky_tracker

    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = "ignore"
    try:
        resource_tracker.ensure_running()
        loky_tracker.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONWARNINGS"]
        else:
            os.environ["PYTHONWARNINGS"] = before


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Processes that start here never see Ctrl-C, which is the parent's business; it waits until all have started."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin_worker(parent: int) -> None:
    """Leave Ctrl-C to the parent, and end with it: a parent that was killed cannot end its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:  # on Windows it stays the same: an idle worker ends after five minutes there
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
