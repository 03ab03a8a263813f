"""The exit codes of all commands."""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class ExitCode(IntEnum):
    """How a command ended; `meaning` stands in its help, and docs/scoring.md
    explains each.
    """

    meaning: str

    DONE = 0, "done"
    FAULT = 1, "internal fault"
    REFUSED = 2, "usage or unreadable input"
    PARTLY_FAILED = 3, "scored but some files failed, or a language model did"
    FOUND = 4, "a check found something"
    LOCKED = 5, "another run holds the lock"
    GATE_NOT_PASSED = 6, "a gate is not passed"
    INTERRUPTED = 130, "interrupted"

    def __new__(cls, value: int, meaning: str) -> ExitCode:
        """Make the member that equals `value`."""
        member = int.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member


# Those that every command may end with.
COMMON: Final = (ExitCode.FAULT, ExitCode.REFUSED, ExitCode.INTERRUPTED)
