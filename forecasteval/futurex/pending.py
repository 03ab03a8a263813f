"""Answers to questions that have no truth yet: what can be read of them.

How an answer is read may depend on the truth: which of several numbers counts, whether a comma
parts two names. Without a truth an answer is read by itself, as a reader would.
"""

from __future__ import annotations

from typing import Any

from .answers import Answer, TruthOf
from .choices import ChoiceTruth, NameTruth, Options, Picks, find_options
from .grammar import Quantity
from .numbers import NumberTruth
from .rankings import RankingTruth
from .rules import AnswerScore


class PendingTruth(TruthOf[Any]):
    """Stands where a question has no truth: its scores must not be used.

    `numeric`: whether the question has a Std, and asks for a number.
    """

    __slots__ = ("_truths", "kind")

    def __init__(self, level: int, prompt: str, numeric: bool) -> None:
        self.kind = "number" if numeric else "number or ranking"
        self._truths: list[TruthOf[Any]] = []
        if level > 2:
            number = NumberTruth(Quantity(0.0, None, ""), None, None, prompt)
            self._truths = [number if numeric else RankingTruth((), prompt)]
        else:
            options = Options(find_options(prompt))
            self._truths = [ChoiceTruth(options, Picks(), exact=True)]
            if not options.texts:
                self._truths.append(NameTruth((), exact=True, prompt=prompt))

    def score(self, answer: Answer) -> AnswerScore:
        """Return what an answer says, or why it cannot be read."""
        read = [truth.score(answer) for truth in self._truths]
        return next((scored for scored in read if scored.outcome == "scored"), read[0])
