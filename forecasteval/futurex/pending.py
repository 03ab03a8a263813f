"""Answers to questions that have no truth yet: what can be read of them.

How an answer is read may depend on the truth: which of several numbers counts, whether a comma
parts two names. Without a truth an answer is read by itself, as a reader would.
"""

from __future__ import annotations

from typing import Any, Final

from .answers import Answer, TruthOf
from .choices import ChoiceTruth, NameTruth, Picks
from .options import Options, count_options, label_set
from .rankings import RankingTruth, parse_items, show_names
from .rules import Scored, unparsed
from .sentences import interpret_number

_NO_PICKS: Final = Picks(frozenset())


class PendingTruth(TruthOf[Any]):
    """Stands where a question has no truth: its scores are always 0, and must not be used.

    `numeric`: whether the question has a Std, and asks for a number.
    """

    __slots__ = ("_choices", "_numeric", "_prompt")

    def __init__(self, level: int, prompt: str, numeric: bool) -> None:
        self._prompt, self._numeric = prompt, numeric
        self._choices = _choices_of(prompt) if level <= 2 else []

    def score(self, answer: Answer) -> Scored:
        """What an answer says, or why it cannot be read."""
        if not self._choices:
            return self._interpret_open(answer)
        read = [truth.score(answer) for truth in self._choices]
        return next((scored for scored in read if scored.outcome == "scored"), read[-1])

    def _interpret_open(self, answer: Answer) -> Scored:
        """A number or names."""
        in_sentence = answer.boxed and self._numeric
        if interpret_number(answer.cleaned, in_sentence, prompt=self._prompt)[0]:
            return Scored(0.0, "scored", answer.cleaned, "")
        read = "no number" if self._numeric else RankingTruth(()).read(answer)
        if isinstance(read, str):
            return unparsed(read)
        return Scored(0.0, "scored", show_names(parse_items(answer, self._prompt)), "")


def _choices_of(prompt: str) -> list[ChoiceTruth | NameTruth]:
    """What the truth of level 1 or 2 may be, by the prompt: options, or else Yes, No or names."""
    count = count_options(prompt)
    if count:
        return [ChoiceTruth(Options(label_set(count), prompt), _NO_PICKS, exact=True)]
    yes_or_no = ChoiceTruth(Options(frozenset()), _NO_PICKS, exact=True)
    return [yes_or_no, NameTruth((), exact=True, prompt=prompt)]
