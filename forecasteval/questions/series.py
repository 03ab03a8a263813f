"""Questions that hang together: what a dataset says of it, and what it may
have left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from forecasteval.common.errors import grouped_names
from forecasteval.common.patterns import lazy
from forecasteval.common.records import group_by, number_text

SERIES: Final = "series"
NO_SERIES: Final = "'series' is no text or number, not used"
_SHOWN: Final = 3  # groups that a line lists
_MAX_WORDS: Final = 80  # of a text in which names are looked for, each at its own cost
# In lower case, beside a name: "Winner of X" is not enough of a text
_MIN_WORDS: Final = 3
# "January 5", "2026-01-05", "Fri", "1,200.5", "3rd"
_NUMBER: Final = lazy(
    r"""
    \b (?: jan(?:uary)? | feb(?:ruary)? | mar(?:ch)? | apr(?:il)? | may | june? | july?
        | aug(?:ust)? | sept?(?:ember)? | oct(?:ober)? | nov(?:ember)? | dec(?:ember)?
        | (?: mon | tues | wednes | thurs | fri | satur | sun ) day ) \b \.?
    | [0-9]+ (?: [.,:/-] [0-9]+ )* (?: st | nd | rd | th )?
    """,
    re.I | re.X,
)


def read_series(question: Mapping[str, object]) -> str:
    """Read the series of a question, a text or a number; "" if it has none."""
    value = question.get(SERIES)
    if value is None:  # most
        return ""
    if isinstance(value, str):
        return value.strip()
    return number_text(value)


def is_no_series(question: Mapping[str, object]) -> bool:
    """Return whether a question has a series that is neither text nor a number."""
    value = question.get(SERIES)
    return value is not None and isinstance(value, (bool, list, Mapping))


def describe_likely_series(texts: Iterable[tuple[str, str]]) -> list[str]:
    """Name groups of questions that may hang together, in one line; none where
    there are none.

    texts: the id and the text of each question that has no series.
    """
    groups = find_likely_series(texts)
    if not groups:
        return []
    shown = "; ".join(map(grouped_names, groups[:_SHOWN]))
    more = ""
    if len(groups) > _SHOWN:
        more = f"; … ({len(groups)} groups)"
    return [
        f"{sum(map(len, groups))} questions may hang together, their texts differ in "
        "numbers, "
        f"dates or one name only: give those of a group one '{SERIES}': {shown}{more}"
    ]


def find_likely_series(texts: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Find groups of questions whose texts differ in numbers, dates and one name only,
    the largest first.
    """
    parents: dict[int, int] = {}
    owners: dict[str, int] = {}
    names: list[str] = []

    def find_root(number: int) -> int:
        while parents[number] != number:
            parents[number] = parents[parents[number]]
            number = parents[number]
        return number

    for number, (name, text) in enumerate(texts):
        names.append(name)
        parents[number] = number
        for masked in _mask(text):
            owner = owners.setdefault(masked, number)
            parents[find_root(number)] = find_root(owner)
    groups = group_by(range(len(names)), find_root).values()
    likely = [[names[number] for number in group] for group in groups if len(group) > 1]
    return sorted(likely, key=len, reverse=True)


def _mask(text: str) -> Iterator[str]:
    """Give a text without numbers and dates, and that without each of its names.

    A name is a run of words that begin with capitals.
    """
    words = _NUMBER.sub("#", text).split()
    if not words:
        return
    yield " ".join(words)
    is_capital = [word.lstrip("\"'([“‘")[:1].isupper() for word in words]
    low_words = sum(word.lstrip("\"'([“‘")[:1].islower() for word in words)
    if low_words < _MIN_WORDS or len(words) > _MAX_WORDS:
        return
    begin = 0
    while begin < len(words):
        end = begin
        while end < len(words) and is_capital[end]:
            end += 1
        if end > begin:
            yield " ".join([*words[:begin], "…", *words[end:]])
        begin = end + 1
