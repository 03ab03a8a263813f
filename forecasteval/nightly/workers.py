"""Where tasks are done: in processes that end with their parent, or on
a Dask cluster.
"""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from forecasteval.common.errors import EvaluationError, InputError, printable
from forecasteval.common.files import share_reads, temporary_name, write_atomic
from forecasteval.common.version import PACKAGE, hash_code

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from distributed import Client, Future

Work = Callable[[Any], object]


def _map(
    do: Callable[[Sequence[object]], Generator[object, None, None]],
    tasks: Sequence[object],
    killed: type[Exception],
) -> Generator[Any, None, None]:
    """Give the outcomes of `do(tasks)`; None for a task whose process is `killed`.

    Once a process has died, the next task runs alone, so that it is known which of them
    kills its process.
    """
    left = [*tasks]
    is_alone = False
    while left:
        try:
            with contextlib.closing(do(left[:1] if is_alone else [*left])) as outcomes:
                for outcome in outcomes:
                    yield outcome
                    del left[0]
            is_alone = False
        except (killed, MemoryError):
            if is_alone:
                yield None
                del left[0]
            is_alone = not is_alone


# --- Processes: one that dies costs only its task, and none outlives the run ---

_work: Work  # of a process: the same for all its tasks, as it counts failures
_folder: Path
_until_end: Final = contextlib.ExitStack()


def run_in_processes(
    work: Work, tasks: Sequence[object], processes: int, folder: Path
) -> Generator[Any, None, None]:
    """`map(work, tasks)` by way of files in `folder`; None for a task whose
    process was killed.
    """
    from concurrent.futures.process import BrokenProcessPool

    return _map(
        partial(_do_in_processes, work, processes, folder), tasks, BrokenProcessPool
    )


def _do_in_processes(
    work: Work, processes: int, folder: Path, tasks: Sequence[object]
) -> Generator[object, None, None]:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    context = get_context("spawn" if sys.platform == "win32" else "forkserver")
    # Processes end when `parent` is closed or dies
    alive, parent = context.Pipe(duplex=False)
    executor = ProcessPoolExecutor(processes, context, _begin, (work, folder, alive))
    try:
        for future in [executor.submit(_do, task) for task in tasks]:
            path = folder / future.result()
            yield pickle.loads(path.read_bytes())
            path.unlink()
    finally:
        parent.close()
        executor.shutdown(cancel_futures=True)
        alive.close()


def _begin(work: Work, folder: Path, alive: Connection) -> None:
    """Begin a process that ends with its parent, and leaves Ctrl-C to it."""
    global _work, _folder
    _work = work
    _folder = folder
    # A dataset is read once for all its predictions.
    _until_end.enter_context(share_reads())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(alive,), daemon=True).start()


def _end_with_parent(alive: Connection) -> None:
    with contextlib.suppress(EOFError, OSError):
        alive.recv_bytes()
    os._exit(1)


def _do(task: object) -> str:
    """Do a task, and leave its outcome in a file, whose name is returned.

    A process that is killed while it sends a long message leaves half of it in the
    pipe, and the parent would wait for the rest for ever. A name is sent whole
    or not at all.
    """
    path = temporary_name(_folder)
    write_atomic(path, pickle.dumps(_work(task)))
    return path.name


# --- A Dask cluster: workers elsewhere with the same folder and the same code ---

CONNECT_SECONDS: Final = 10  # in which a scheduler must answer
POLL_SECONDS: Final = 1  # after which a wait looks whether there are still workers
# In which a worker must be there: a killed one starts again in two
WORKER_SECONDS: Final = 30
_LAST_PORT: Final = 65_535


def require_cluster(address: str) -> None:
    """Raise InputError if the address is none, or if the package is missing."""
    match = re.fullmatch(r"tcp://(?:[\w.-]+|\[[\da-fA-F:.]+\]):(\d{1,5})", address)
    if not match or int(match[1]) > _LAST_PORT:
        raise InputError(
            "--cluster", "expected tcp://HOST:PORT", printable(repr(address), 60)
        )
    if find_spec("distributed") is None:
        raise InputError(
            "--cluster", "needs the package distributed: pip install distributed"
        )


def run_on_cluster(
    work: Work, tasks: Sequence[object], address: str
) -> Generator[Any, None, None]:
    """`map(work, tasks)` on a cluster; None for a task that kills its workers.

    What a worker that died had to do is done by another. EvaluationError if there is no
    scheduler, if it goes away, if there are no workers for `WORKER_SECONDS`, or if one
    has other code.
    """
    with _connect(address) as client:
        from distributed import KilledWorker

        client.wait_for_workers(1, timeout=WORKER_SECONDS)
        work = partial(_do_alike, work, environment())
        yield from _map(partial(_do_on_cluster, client, work), tasks, KilledWorker)


def _do_on_cluster(
    client: Client, work: Work, tasks: Sequence[object]
) -> Generator[object, None, None]:
    futures = client.map(work, tasks, pure=False)
    for future in futures:
        yield _wait(client, future)
        future.release()  # the cluster need not keep its outcome


def _wait(client: Client, future: Future) -> object:
    """Wait for the outcome of a task, however long it takes, as long as
    there are workers.
    """
    while True:
        try:
            return future.result(timeout=POLL_SECONDS)
        except TimeoutError:
            client.wait_for_workers(1, timeout=WORKER_SECONDS)


@contextlib.contextmanager
def _connect(address: str) -> Iterator[Client]:
    """Connect a client; what goes wrong with the cluster is one line."""
    from concurrent.futures import CancelledError

    client = None
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            # `_do_alike` finds versions that differ, if it matters
            warnings.simplefilter("ignore")
            from distributed import Client

            client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
            yield client
    except (OSError, CancelledError) as error:
        problem = "the Dask scheduler has gone"
        if isinstance(error, TimeoutError):
            problem = "the Dask scheduler has no workers, or none with this package"
        if client is None:
            problem = "no Dask scheduler answers"
        raise EvaluationError(f"{address}: {problem}") from None
    except (RuntimeError, ImportError, AttributeError, ValueError):
        problem = (
            "a worker cannot read the task: it needs this package, the same commit"
        )
        raise EvaluationError(f"{address}: {problem}") from None
    finally:
        if client:
            with contextlib.suppress(OSError, CancelledError):
                client.close(timeout=CONNECT_SECONDS)
        logging.disable(logging.NOTSET)


def environment() -> dict[str, str]:
    """List what must be equal on all machines, so that scores are equal to
    the last digit.
    """
    # Here: it costs a fifth of a quiet night's start
    from importlib.metadata import version

    return {
        "code_sha256": hash_code(PACKAGE),
        "python": ".".join(map(str, sys.version_info[:2])),
        "numpy": version("numpy"),
        "scipy": version("scipy"),
    }


def _do_alike(work: Work, expected: dict[str, str], task: object) -> object:
    """Do a task on a worker that has what its client has."""
    from distributed import get_worker

    for key, value in environment().items():
        if value != expected[key]:
            wanted = (
                f"expected the {key} of the machine that asks, {expected[key][:12]}"
            )
            raise InputError(f"Dask worker {get_worker().address}", wanted, value[:12])
    return work(task)
