"""Processes that do tasks: joblib's, which notice that one was killed, kept from talking and from leaving traces."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

from forecasteval.common.errors import EvaluationError

from .limits import Limits, go_first, limit_memory

_work: Callable[[Any], Any]  # of a process of the pool: one for all its tasks, so that a language model's run goes on
_folder: Path


def run_tasks(
    work: Callable[[Any], Any], tasks: Sequence[Any], processes: int, folder: Path, limits: Limits
) -> Generator[Any, None, None]:
    """`map(work, tasks)` in processes, by way of files in `folder`; BrokenProcessPool if one of them dies."""
    from joblib.externals.loky import get_reusable_executor

    given = (os.getpid(), work, folder, limits)
    executor = get_reusable_executor(processes, timeout=300, initializer=_begin_worker, initargs=given)
    with _without_interrupts():
        futures = [executor.submit(_hand_over, task) for task in tasks]
    for future in futures:
        path = folder / future.result()
        yield pickle.loads(path.read_bytes())
        path.unlink()


def _hand_over(task: Any) -> str:
    """Do a task in a process, and leave the outcome in a file of `folder`, whose name is returned.

    A process that is killed while it sends a long message leaves half of it in the pipe, and for the rest the pool
    would wait for ever. A name is sent whole or not at all. It also keeps what is done early out of the memory.
    """
    path = _folder / f"{os.getpid()}-{time.monotonic_ns()}"
    outcome = _work(task)
    try:
        sent = pickle.dumps(outcome)
    except MemoryError:
        os._exit(1)  # the parent sees that, and tells which task it was
    try:
        path.write_bytes(sent)
    except OSError as error:
        raise EvaluationError(f"{path}: cannot be written: {error.strerror or error}") from None
    return path.name


@contextlib.contextmanager
def pool() -> Iterator[None]:
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
    """Start the processes that free the locks of a pool whose parent was killed, in a session of their own.

    Silently: they would tell the user about it. Before anything else: as they start, they unblock Ctrl-C. And so that
    who kills the whole group does not reach them: they end by themselves, when nobody else is left.
    """
    if sys.platform == "win32":
        return
    from multiprocessing import resource_tracker, util

    from joblib.externals.loky.backend import resource_tracker as loky_tracker

    before, spawn = os.environ.get("PYTHONWARNINGS"), util.spawnv_passfds
    os.environ["PYTHONWARNINGS"] = "ignore"
    util.spawnv_passfds = _spawn_apart  # type: ignore[assignment]
    try:
        resource_tracker.ensure_running()
        loky_tracker.ensure_running()
    finally:
        util.spawnv_passfds = spawn
        if before is None:
            del os.environ["PYTHONWARNINGS"]
        else:
            os.environ["PYTHONWARNINGS"] = before


def _spawn_apart(path: str | bytes, args: Sequence[Any], descriptors: Sequence[int]) -> int:
    executable = os.fsdecode(path)
    process = subprocess.Popen(args, executable=executable, pass_fds=descriptors, start_new_session=True)
    process.returncode = 0  # nobody waits for it
    return process.pid


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


def _begin_worker(parent: int, work: Callable[[Any], Any], folder: Path, limits: Limits) -> None:
    """Leave Ctrl-C to the parent, and end with it: a parent that was killed cannot end its workers."""
    global _work, _folder
    _work, _folder = work, folder
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:  # on Windows it stays the same: an idle worker ends after five minutes there
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    go_first()
    limit_memory(limits)
