"""A circuit breaker: one deadline, and ten failures in a row, for all calls of a run."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Final, Literal

MAX_FAILURES: Final = 10  # in a row, in the order of the prompts
PAUSE: Final = 60.0  # seconds until an open breaker lets a call through; twice as many after each that fails


class Breaker:
    """Closed, it lets calls through; open, none; half-open, after a pause, one by which it closes or opens again.

    No call begins `deadline` seconds after the first. Whoever uses it asks `admits` and `left` before a call, and says
    how it ended, in an order that does not depend on threads.
    """

    def __init__(self, deadline: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.deadline, self._clock = deadline, clock
        self.begin()

    def begin(self) -> None:
        """A new run: nothing has failed yet, and the deadline counts from its first call."""
        self._end, self._row, self._pause, self._reopens = math.inf, 0, PAUSE, 0.0
        self.state: Literal["closed", "open", "half-open"] = "closed"

    def left(self) -> float:
        """Seconds until the deadline, 0 after it; the first to ask starts the run."""
        if self._end == math.inf:
            self._end = self._clock() + self.deadline
        return max(0.0, self._end - self._clock())

    def admits(self) -> bool:
        """Whether a call may be made; an open breaker whose pause is over becomes half-open."""
        if self.state == "open" and self._clock() >= self._reopens:
            self.state = "half-open"
        return self.state != "open"

    def succeed(self) -> None:
        """A call was answered."""
        self._row, self._pause, self.state = 0, PAUSE, "closed"

    def fail(self, pause: bool = True) -> None:
        """A call failed; the next after a row of such that are no reason for a `pause` may be tried at once."""
        self._row += 1
        if self.state == "half-open" or self._row >= MAX_FAILURES:
            self.trip(pause)

    def trip(self, pause: bool = True) -> None:
        """Open at once."""
        self.state, self._reopens = "open", self._clock() + (self._pause if pause else 0.0)
        self._row = 0
        self._pause *= 2

    def give_up(self) -> None:
        """Open for the rest of the run."""
        self.state, self._reopens = "open", math.inf
