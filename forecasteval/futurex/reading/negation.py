"""What takes back the thing beside which it stands: `not B`, `B?`, `B (could be C)`, `B is wrong`.

A forecast that its own text denies, or weighs against another one, is none. The same words say so
of options, names and numbers, in boxes and in statements (rules 1, 2 and 5).
"""

from __future__ import annotations

from typing import Final

from forecasteval.common.patterns import BLANKS, end_of, lazy

from .language import table_of

CROSSES: Final = "✕✖✗✘❌❎⛔🚫"
_DENIALS: Final = table_of("denials")
_REJECTIONS: Final = table_of("denials", "rejections")
_MARKS: Final = lazy(rf"\s*[!≠¬{CROSSES}]")
_ASKED: Final = lazy(rf"[?？{CROSSES}]")
_BETWEEN_VALUES: Final = lazy(r"[ \t\n,，;；:：$*–—-]{0,6}[(（\[【]?[ \t]?")
_COPULAS: Final = table_of("copulas")
_TAKEN_BACK: Final = table_of("taken back")
_DENIED_ENDS: Final = table_of("denied ends")
_STOP: Final = lazy(r"[.!]?\s*")
_CLAUSE: Final = lazy(r"[^,.;:!?，。；：！？\n]*")
_CLOSED: Final = lazy(r"\s*[)）\]】.!]*\s*\Z")
_FILLERS: Final = table_of("fillers", "and")
_GUESSES: Final = table_of("guesses")
_NOT: Final = lazy(r"(?i)n['’ ]t\b")
_WORD_START: Final = lazy(r"(?<![A-Za-z'’])(?=[A-Za-z])|(?=[^\x00-\x7f])")


def begins_denied(text: str) -> bool:
    """Return whether a text begins with what denies the rest: `not B`, `❌ B`."""
    return bool(_MARKS.match(text) or _DENIALS.find(text))


def _find_words(text: str) -> list[int]:
    """Find where words begin."""
    return [start.start() for start in _WORD_START.finditer(text)]


def denies(text: str) -> bool:
    """Return whether a text denies anything.

    >>> denies("It will not be 5"), denies("another 5")
    (True, False)
    """
    starts = _find_words(text)
    return any(_REJECTIONS.find(text, start) for start in starts) or bool(_NOT.search(text))


def takes_back(text: str) -> bool:
    """Return whether the first clause of a text ends by saying that something is wrong or unlikely.

    >>> takes_back("This is the least likely. So be it"), takes_back("It is unlikely to change")
    (True, False)
    """
    clause = text[: end_of(_CLAUSE, text)].rstrip()
    starts = _find_words(clause)
    return any(start + len(_TAKEN_BACK.find(clause, start)) == len(clause) for start in starts)


def is_asked(text: str, end: int) -> bool:
    """Return whether a question mark or a cross stands behind what ends at a position."""
    return bool(_ASKED.match(text, end_of(_BETWEEN_VALUES, text, end)))


def find_doubt(text: str, end: int = 0) -> str | None:
    """Find what a text says against what ends at a position: "" if that is taken back, the text of
    another guess if one is offered; None for any other text.

    >>> [find_doubt(text, 1) for text in ("B?", "B is unlikely", "B (could be C)", "B (a draw)")]
    ['', '', 'C)', None]
    """
    if is_asked(text, end):
        return ""
    begin = end_of(_BETWEEN_VALUES, text, end)
    copula = _COPULAS.find(text, begin)
    said = end_of(BLANKS, text, begin + len(copula))
    if _TAKEN_BACK.find(text, said) or (copula and _DENIALS.find(text, said)):
        return ""
    ends = _DENIED_ENDS.find(text, said)
    if ends and _CLOSED.match(text, said + len(ends)):
        return ""
    said = _FILLERS.skip(text, end_of(_STOP, text, begin))
    guess = _GUESSES.find(text, said)
    return text[_GUESSES.skip(text, said) :].lstrip(": ") if guess else None
