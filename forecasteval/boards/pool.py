"""Processes that do tasks: one that dies costs only its task, and none outlives the run."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from forecasteval.common.files import temporary_name, write_atomic

_work: Callable[[Any], Any]  # of a process: one for all its tasks
_folder: Path


def run_tasks(
    work: Callable[[Any], Any], tasks: Sequence[Any], processes: int, folder: Path
) -> Generator[Any, None, None]:
    """`map(work, tasks)` by way of files in `folder`, with None for a task whose process was killed.

    Once a process has died, the remaining tasks run one by one, so that it is known which of them kills its process.
    """
    from concurrent.futures.process import BrokenProcessPool

    left, alone = list(tasks), False
    while left:
        try:
            with contextlib.closing(_map(work, left, 1 if alone else processes, folder)) as outcomes:
                for outcome in outcomes:
                    yield outcome
                    left.pop(0)
        except (BrokenProcessPool, MemoryError):
            if alone:
                yield None
                left.pop(0)
            alone = True


def _map(work: Callable[[Any], Any], tasks: Sequence[Any], processes: int, folder: Path) -> Generator[Any, None, None]:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    context = get_context("spawn" if sys.platform == "win32" else "forkserver")
    alive, parent = context.Pipe(duplex=False)  # the processes end when `parent` is closed, or has gone with its holder
    executor = ProcessPoolExecutor(processes, context, _begin, (work, folder, alive))
    try:
        with _without_interrupts():
            futures = [executor.submit(_do, task) for task in tasks]
        for future in futures:
            path = folder / future.result()
            yield pickle.loads(path.read_bytes())
            path.unlink()
    finally:
        parent.close()
        executor.shutdown(cancel_futures=True)
        alive.close()


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """A Ctrl-C waits until all processes have started; these inherit that they never see it: it is for the parent."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(work: Callable[[Any], Any], folder: Path, alive: Connection) -> None:
    global _work, _folder
    _work, _folder = work, folder
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(alive,), daemon=True).start()
    with contextlib.suppress(OSError):  # where memory runs out, Linux ends this process and not its parent
        Path("/proc/self/oom_score_adj").write_text("1000")


def _end_with_parent(alive: Connection) -> None:
    with contextlib.suppress(EOFError, OSError):
        alive.recv_bytes()
    os._exit(1)


def _do(task: Any) -> str:
    """Do a task, and leave its outcome in a file, whose name is returned.

    A process that is killed while it sends a long message leaves half of it in the pipe, and the parent would wait for
    the rest for ever. A name is sent whole or not at all.
    """
    path = temporary_name(_folder)
    write_atomic(path, pickle.dumps(_work(task)))
    return path.name
