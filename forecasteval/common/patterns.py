"""Patterns that are compiled when they are first used, and tables of words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

_METHODS: Final = ("search", "match", "fullmatch", "finditer", "findall", "split", "sub", "pattern")


class _Lazy:
    """A pattern whose first use compiles it, and puts its methods in their places."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._parts = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(*self._parts)
        self.__dict__.update((method, getattr(compiled, method)) for method in _METHODS)
        return self.__dict__[name]


if TYPE_CHECKING:
    lazy = re.compile
else:
    lazy = _Lazy


def end_of(pattern: re.Pattern[str], text: str, position: int = 0) -> int:
    """Return where a match ends that begins at a position; the position without one."""
    found = pattern.match(text, position)
    return found.end() if found else position


def split_words(text: str) -> tuple[str, ...]:
    """Split words that commas part, as tables of words are written.

    >>> split_words("win, wins, 胜")
    ('win', 'wins', '胜')
    """
    return tuple(text.split(", "))


class WordTable:
    """Words that may stand at a place of a text, in any case; of several the longest counts.

    A word that ends with a Latin letter must end there: `win` does not stand in `winter`.
    """

    def __init__(self, *words: str) -> None:
        self._longest = max(map(len, words)) + 1
        self._words: dict[str, list[tuple[str, bool]]] = {}  # by their first character
        for word in sorted({word.lower() for word in words}, key=len, reverse=True):
            must_end = word[-1].isascii() and word[-1].isalpha()
            for first in {word[0], word[0].upper()}:
                self._words.setdefault(first, []).append((word, must_end))

    def find(self, text: str, position: int = 0) -> str:
        """Find the word at a position, in lower case; "" if there is none.

        >>> table = WordTable("win", "wins", "胜")
        >>> table.find("Wins!"), table.find("winter"), table.find("A胜", 1)
        ('wins', '', '胜')
        """
        candidates = self._words.get(text[position : position + 1])
        if not candidates:  # most
            return ""
        head = text[position : position + self._longest].lower()
        for word, must_end in candidates:
            if head.startswith(word) and not (must_end and _IN_WORD.match(head, len(word))):
                return word
        return ""

    def skip(self, text: str, position: int = 0) -> int:
        """Return the position behind the words and blanks at a position."""
        while word := self.find(text, position):
            position = end_of(_BLANKS, text, position + len(word))
        return position


_BLANKS: Final = lazy(r"\s*")
_IN_WORD: Final = lazy("[a-z_]")
