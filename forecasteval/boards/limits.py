"""What one file may cost: memory and time, held by the system in the process that scores it."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Final, NamedTuple

from forecasteval.common.errors import InputError


class Limits(NamedTuple):
    """None where there is none: `memory` in bytes beyond what an idle process takes, `seconds` for each file."""

    memory: int | None = None
    seconds: float | None = None
    grace: float = 5.0  # seconds after which a process that does not stop by itself is ended

    @property
    def any(self) -> bool:
        return self != NO_LIMITS


NO_LIMITS: Final = Limits()


def read_limits(megabytes: int | None, seconds: float | None) -> Limits:
    """The limits that options name; InputError for those that are none."""
    if megabytes is not None and megabytes < 1:
        raise InputError("--memory-limit", "expected megabytes, 1 or more", str(megabytes))
    if seconds is not None and not 0 < seconds <= 1e6:
        raise InputError("--time-limit", "expected seconds, more than 0 and at most a million", f"{seconds:g}")
    if megabytes is not None and not sys.platform.startswith("linux"):
        raise InputError("--memory-limit", "needs Linux", sys.platform)
    return Limits(None if megabytes is None else megabytes << 20, seconds)


class OutOfTimeError(BaseException):
    """Raised in the midst of scoring; no handler of errors is meant for it."""


def limit_memory(limits: Limits) -> None:
    """From here on this process gets no more than the limit; what asks for more raises MemoryError."""
    if limits.memory is None:
        return
    import resource

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    size = pages * resource.getpagesize() + limits.memory
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (size if hard == resource.RLIM_INFINITY else min(size, hard), hard))


def go_first() -> None:
    """Where memory runs out, the system ends this process and not its parent."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


@contextlib.contextmanager
def limited_time(limits: Limits) -> Iterator[None]:
    """OutOfTimeError after the limit; if that is not heard, in a call into C for instance, the process ends."""
    if limits.seconds is None:
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise OutOfTimeError

    with open(os.devnull, "w") as silence:
        faulthandler.dump_traceback_later(limits.seconds + limits.grace, exit=True, file=silence)
        before = signal.signal(signal.SIGALRM, stop) if hasattr(signal, "SIGALRM") else None
        if before is not None:
            signal.setitimer(signal.ITIMER_REAL, limits.seconds)
        try:
            yield
        finally:
            if before is not None:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, before)
            faulthandler.cancel_dump_traceback_later()
