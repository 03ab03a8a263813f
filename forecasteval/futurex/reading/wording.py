"""The words of a question, and what is read of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from .language import question_words

Fact = TypeVar("Fact")


class Wording:
    """The wording of a question: each fact is read once, and shared by all answers.

    A fact is a function of the words in front of the instructions: the unit that they
    ask for, the numbers that they name.

    >>> Wording("How many? IMPORTANT: in percent").ask(len)
    10
    """

    __slots__ = ("_facts", "prompt")

    def __init__(self, prompt: str = "") -> None:
        self.prompt = prompt
        self._facts: dict[Callable[[str], Any], Any] = {}

    def ask(self, fact: Callable[[str], Fact]) -> Fact:
        """Return a fact of the question."""
        if fact not in self._facts:
            self._facts[fact] = fact(question_words(self.prompt))
        value: Fact = self._facts[fact]
        return value


NO_WORDING: Final = Wording()
