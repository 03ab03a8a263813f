"""What a text denies: what takes a value back that stands in front of it,
and any denial.
"""

from __future__ import annotations

from typing import Final

from forecasteval.common.patterns import BLANKS, end_of, lazy

from .language import table_of

CROSSES: Final = "✕✖✗✘❌❎⛔🚫"
_ASKED: Final = lazy(rf"[\s*\"”()（]*[?？{CROSSES}]")
_COPULAS: Final = table_of("copulas", "foretold", "can")
_SUBJECTS: Final = table_of(
    "fillers", "articles", "options", "choices", "nouns", "above"
)
_DEGREES: Final = table_of("degrees")
_REJECTIONS: Final = table_of("denials", "rejections")
_TAKEN_BACK: Final = table_of("taken back")
_DENIED: Final = table_of("denials", "denied ends", "taken back")
_BETWEEN: Final = lazy(r"[ \t\n,，;；:：$*–—-]{0,6}[(（\[【]?[ \t]?")
_ENDS: Final = lazy(r"\s*[)）\]】,.;:!]*\s*\Z|[,.;:!)）]")
_NOT_SHORT: Final = lazy(r"(?i)n['’ ]t\b")
_WORD_START: Final = lazy(r"(?<![A-Za-z'’])(?=[A-Za-z])|(?=[^\x00-\x7f])")


def takes_back(behind: str) -> bool:
    """Return whether what stands behind a value takes it back: `?`, `is
    unlikely`, `(wrong)`.
    """
    if not behind or _ASKED.match(behind):
        return bool(behind)
    begin = end_of(_BETWEEN, behind)
    at = _SUBJECTS.skip(behind, begin)
    copula = _COPULAS.find(behind, at)
    said = _DEGREES.skip(behind, end_of(BLANKS, behind, at + len(copula)))
    denied = _DENIED.find(behind, said)
    if not denied or (not at and denied.isascii()):
        return False
    direct = begin == at and (copula or _TAKEN_BACK.find(behind, said))
    return bool(direct or _ENDS.match(behind, said + len(denied)))


def denies(text: str) -> bool:
    """Return whether a text denies anything.

    >>> denies("It will not be 5"), denies("another 5")
    (True, False)
    """
    for start in _WORD_START.finditer(text):
        if _REJECTIONS.find(text, start.start()):
            return True
    return bool(_NOT_SHORT.search(text))
