"""What can become of an answer: the states that a report counts, and the
reasons for them.
"""

from __future__ import annotations

from typing import Final, NamedTuple

# The kinds of reasons why nothing is read of an answer, and the noun by which a report
# counts them.
REASONS: Final = {
    "refusal": "refusal",
    "error of a program": "program error",
    "prose": "prose answer",
    "contradiction": "contradiction",
    "placeholder": "placeholder",
    "unreadable": "unreadable answer",
}


class Unparsed(NamedTuple):
    """Why nothing is read of an answer, and of which kind this is, one of `REASONS`.

    `is_silent`: it states nothing, so that the statement before it counts.
    """

    note: str
    reason: str = "unreadable"
    is_silent: bool = False


class AnswerScore(NamedTuple):
    """The result of one answer. `outcome`: scored, missing, unparsed or pending;
    missing and unparsed ones score 0. A pending one has no score (nan): its question
    has no truth yet.

    `sigmas`: of a number with a sigma, how far it lies from the truth, in sigmas.
        `matched`: of the
    `names` of a ranking, how many; `padded`: it is longer than what was asked for.
    `reason`: of an unparsed answer, one of `REASONS`. `loose`: it was read of prose
    that states nothing.
    """

    score: float
    outcome: str
    read: str
    note: str
    sigmas: float | None = None
    matched: int | None = None
    names: int = 0
    padded: bool = False
    reason: str = ""
    loose: bool = False


MISSING: Final = AnswerScore(0.0, "missing", "", "")


def unparsed(why: Unparsed) -> AnswerScore:
    """Return the score of an answer from which nothing legal can be read."""
    return AnswerScore(0.0, "unparsed", "", why.note, reason=why.reason)
