"""Work that must grow no faster than its text, told by the process's own time at two sizes."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable
from typing import Final

import pytest

GROWTH: Final = 8
LIMIT: Final = 24.0  # quadratic work costs GROWTH² = 64 times as much
HARMLESS: Final = 0.02  # seconds; below it times are noise
PLAIN: Final = (
    5.0  # seconds; above it they are none, and more runs of quadratic work would take minutes
)


def assert_linear(make: Callable[[int, int], Callable[[], object]], size: int) -> None:
    """Eight times the text may cost at most 24 times the CPU time: between 8, linear, and 64,
    quadratic.

    `make(size, run)` prepares one run, a new text each time so that no cache helps. The best of a
    few runs counts, so that neither load nor a slow machine decides.
    """
    small = large = math.inf
    for run in range(5):
        small = min(small, _seconds(make(size, run)))
        large = min(large, _seconds(make(GROWTH * size, run)))
        if large < max(HARMLESS, LIMIT * small):
            return
        if large > PLAIN:
            break
    pytest.fail(f"{small:.4f} s for {size}, {large:.4f} s for {GROWTH * size}")


def _seconds(work: Callable[[], object]) -> float:
    gc.disable()
    try:
        began = time.process_time()
        work()
        return time.process_time() - began
    finally:
        gc.enable()
