"""Answers to questions that have no truth yet: what can be read of them.

How an answer is read may depend on the truth: which of several numbers counts, whether
a comma parts two names. Without a truth an answer is read by itself, as a reader would.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from .states import AnswerScore


class Scorer(Protocol):
    """A truth that reads and scores an answer."""

    def score(self, answer: Any, /) -> AnswerScore:
        """Return the score of an answer."""


class PendingTruth:
    """Stands where a question has no truth: its scores must not be used.

    An answer is read as each of `scorers` would, in turn. `kind`: what the
    question asks for.
    """

    __slots__ = ("_scorers", "kind")

    def __init__(self, kind: str, scorers: Sequence[Scorer]) -> None:
        self.kind, self._scorers = kind, scorers

    def score(self, answer: object) -> AnswerScore:
        """Return what an answer says, or why it cannot be read."""
        read = [scorer.score(answer) for scorer in self._scorers]
        return next((scored for scored in read if scored.outcome == "scored"), read[0])
