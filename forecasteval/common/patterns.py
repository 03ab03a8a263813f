"""Patterns that are compiled when they are first used, and tables of words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

_METHODS: Final = (
    "search",
    "match",
    "fullmatch",
    "finditer",
    "findall",
    "split",
    "sub",
    "pattern",
)


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

BLANKS: Final = lazy(r"\s*")


def end_of(pattern: re.Pattern[str], text: str, position: int = 0) -> int:
    """Return where a match ends that begins at a position; the position without one."""
    match = pattern.match(text, position)
    if match:
        return match.end()
    return position


def split_words(text: str) -> tuple[str, ...]:
    """Split words that commas part, as tables of words are written.

    >>> split_words("win, wins, 胜")
    ('win', 'wins', '胜')
    """
    return tuple(text.split(", "))


class WordTable:
    """Words that may stand at a place of a text, in any case; of several the
    longest counts.

    A word that ends with a Latin letter must end there: `win` does not
    stand in `winter`.
    """

    _words: frozenset[str]
    _longest: int
    # Of words, by their first character, the longest first
    _lengths: dict[str, list[int]]

    def __init__(self, *words: str) -> None:
        self._given = words

    def __getattr__(self, name: str) -> Any:
        """Build the table when it is first used: most commands use few of them."""
        if name not in ("_words", "_longest", "_lengths"):
            raise AttributeError(name)
        self._words = frozenset(map(str.lower, self._given))
        self._longest = max(map(len, self._words)) + 1
        lengths: dict[str, set[int]] = {}
        for word in self._words:
            for first in (word[0], word[0].upper()):
                lengths.setdefault(first, set()).add(len(word))
        self._lengths = {
            first: sorted(each, reverse=True) for first, each in lengths.items()
        }
        return self.__dict__[name]

    def find(self, text: str, position: int = 0) -> str:
        """Find the word at a position, in lower case; "" if there is none.

        >>> table = WordTable("win", "wins", "胜")
        >>> table.find("Wins!"), table.find("winter"), table.find("A胜", 1)
        ('wins', '', '胜')
        """
        lengths = self._lengths.get(text[position : position + 1])
        if not lengths:  # most
            return ""
        head = text[position : position + self._longest].lower()
        for length in lengths:
            word = head[:length]
            if word in self._words and not _WITHIN.match(head, length - 1):
                return word
        return ""

    def skip(self, text: str, position: int = 0) -> int:
        """Return the position behind the words and blanks at a position."""
        while word := self.find(text, position):
            position = end_of(BLANKS, text, position + len(word))
        return position


_WITHIN: Final = lazy("[a-z][a-z_]")  # a word
