"""A Dask cluster that does tasks: workers elsewhere that see the same folder and run the same code.

Its own client and not joblib's `dask` backend, which waits for ever for a task that has killed four workers.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from forecasteval.common.errors import EvaluationError, InputError, printable
from forecasteval.common.wing import hash_code

if TYPE_CHECKING:
    from distributed import Client

CONNECT_SECONDS: Final = 10  # for a scheduler to answer
POLL_SECONDS: Final = 1  # after which a wait asks whether there are workers still
WORKER_SECONDS: Final = 30  # for a worker to be there: one that was killed starts again in two or three

_one_at_a_time = threading.Lock()  # a worker may have threads; what silences warnings knows of one only


def require_usable(address: str) -> None:
    """InputError if the address is none, or if the package is missing."""
    try:
        parts = urlsplit(address)
        plain = address == f"tcp://{parts.netloc}" and "@" not in parts.netloc
        usable = plain and parts.hostname and parts.port
    except ValueError:  # a port that is none
        usable = False
    if not usable:
        raise InputError("--cluster", "expected tcp://HOST:PORT", printable(repr(address), 60))
    if find_spec("distributed") is None:
        raise InputError("--cluster", "needs the package distributed: pip install distributed")


def run_tasks(
    work: Callable[[Any], Any], tasks: Sequence[Any], address: str, workers: float = WORKER_SECONDS
) -> Generator[Any, None, None]:
    """`map(work, tasks)` on a cluster; None for a task that kills its workers.

    What a worker that died had to do or had done is done again by another. EvaluationError if there is no scheduler,
    if it goes away, if there are no `workers` for so many seconds, or if one of them has other code.
    """
    with _connect(address) as client:
        from distributed import KilledWorker, wait

        client.wait_for_workers(1, timeout=workers)
        here = environment()
        futures = [client.submit(_do, work, here, task, pure=False) for task in tasks]
        for place, task in enumerate(tasks):
            try:
                yield _patiently(client, futures[place].result, workers)
            except KilledWorker:  # by this task, or by one that ran beside it: alone it is told
                with client.as_current():
                    _patiently(client, partial(wait, futures[place + 1 :]), workers)
                futures[place] = client.submit(_do, work, here, task, pure=False)
                try:
                    yield _patiently(client, futures[place].result, workers)
                except KilledWorker:
                    yield None
            futures[place].release()  # its outcome need not be kept there


def _patiently(client: Client, wait: Callable[..., Any], workers: float) -> Any:
    """What `wait` returns, however long it takes, as long as there are workers."""
    while True:
        try:
            return wait(timeout=POLL_SECONDS)
        except TimeoutError:
            client.wait_for_workers(1, timeout=workers)


@contextlib.contextmanager
def _connect(address: str) -> Iterator[Client]:
    """A client that does not talk to the user; what goes wrong with the cluster in it is an EvaluationError."""
    from concurrent.futures import CancelledError

    logging.disable(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that versions differ, if it matters, `_do` finds
        from distributed import Client

        try:
            client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError):
            logging.disable(logging.NOTSET)
            raise EvaluationError(f"{address}: no Dask scheduler answers") from None
        try:
            yield client
        except TimeoutError:
            raise EvaluationError(f"{address}: the Dask scheduler has no workers, or none with this package") from None
        except (OSError, CancelledError):
            raise EvaluationError(f"{address}: the Dask scheduler has gone") from None
        except EvaluationError:
            raise
        except (RuntimeError, ImportError, AttributeError):
            needs = "it needs this package, the same commit"
            raise EvaluationError(f"{address}: the Dask scheduler or a worker cannot read the task: {needs}") from None
        finally:
            with contextlib.suppress(OSError, CancelledError):
                client.close(timeout=CONNECT_SECONDS)
            logging.disable(logging.NOTSET)


def environment() -> dict[str, str]:
    """What must be the same on all machines, so that they score alike to the last digit."""
    python = ".".join(map(str, sys.version_info[:2]))
    return {"code_sha256": hash_code(), "python": python, "numpy": version("numpy"), "scipy": version("scipy")}


def _do(work: Callable[[Any], Any], expected: dict[str, str], task: Any) -> Any:
    """Do a task on a worker that has what its client has."""
    from distributed import get_worker

    with _one_at_a_time:
        found = environment()
        for key, value in expected.items():
            if found[key] != value:
                wanted = f"expected the {key} of the machine that asks, {value[:12]}"
                raise InputError(f"Dask worker {get_worker().address}", wanted, found[key][:12])
        return work(task)
