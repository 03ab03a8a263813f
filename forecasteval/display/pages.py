"""What pages show of untrusted texts, and how much: how many records, how long a text,
which address.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final
from urllib.parse import quote

from forecasteval.common.errors import printable
from forecasteval.common.records import hash_text

from .html import escaped
from .tables import Cell, Marked

MAX_SHOWN: Final = 3000  # records that a page shows
# Of the long texts of all its records: 3,000 rows need 3.4 MB besides
BYTES: Final = 2_400_000
TEXT: Final = 20_000  # characters of an untrusted text in an opened row
CHARTED: Final = 40  # rows of a chart
CUT: Final = 320  # characters of an untrusted text in a cell
_BLANK_LINES: Final = re.compile(r"\n(?: *\n)+")
_LONG: Final = 200  # characters of an id in an address


# --- How much a page shows ---


def text_limit(texts: Iterable[str]) -> int:
    """Return how many characters of each text fit a page: 20,000, or fewer so that all
    of them take `BYTES`.
    """
    sizes = [
        (len(escaped(text).encode("utf-8", "replace")), len(text))
        for text in texts
        if text
    ]

    def is_too_long(limit: int) -> bool:
        return sum(size * min(1.0, limit / length) for size, length in sizes) > BYTES

    limit = TEXT
    while limit > CUT and is_too_long(limit):
        limit = max(CUT, limit * 4 // 5)
    return limit


def make_keys(ids: Iterable[object], prefix: str = "q") -> list[str]:
    """Make the address of each id: the id as it stands, escaped; of equal ones
    with a number.

    >>> make_keys(["6873e6a7b3ad", "a b", "a b"])
    ['q-6873e6a7b3ad', 'q-a%20b', 'q-a%20b:2']
    """
    keys: list[str] = []
    counts: Counter[str] = Counter()
    for name in map(str, ids):
        # A contestant's file may have ids of any length.
        if len(name) > _LONG:
            name = hash_text(name)
        key = f"{prefix}-{quote(name, safe='', errors='surrogatepass')}"
        counts[key] += 1
        if counts[key] > 1:
            key = f"{key}:{counts[key]}"
        keys.append(key)
    return keys


def choose_shown(
    groups: Sequence[object], costs: Sequence[float], max_shown: int = MAX_SHOWN
) -> list[int]:
    """Choose which records a page shows, as their places, the costliest first.

    If there are too many, each group has its share of those that are shown, rounded
    down, and at least one, so that no common cause pushes a rare one off the page.

    >>> choose_shown(["wrong", "wrong", "wrong", "right"], [0.3, 0.1, 0.2, 0.0], max_shown=3)
    [0, 2, 3]
    """  # noqa: E501
    order = sorted(range(len(costs)), key=lambda index: -costs[index])
    if len(order) <= max_shown:
        return order
    sizes = Counter(groups)
    shares = {
        group: max(1, max_shown * size // len(order)) for group, size in sizes.items()
    }
    chosen: list[int] = []
    others: list[int] = []
    for index in order:
        group = groups[index]
        shares[group] -= 1
        if shares[group] >= 0:
            chosen.append(index)
        else:
            others.append(index)
    # What rounding left over goes to the costliest of the others.
    chosen = [*chosen, *others][:max_shown]
    return sorted(chosen, key=lambda index: -costs[index])


def count_rows(shown: int, total: int, first: str, what: str = "questions") -> str:
    """Describe which of `total` questions a page shows: `first` says
    which come first.
    """
    if shown == total < 2:
        return ""
    if shown == total:
        return f"All {total} {what}, {first} first."
    return (
        f"{shown} of {total} {what}, {first} first. All of them are in the JSON that "
        "--save writes."
    )


# --- Untrusted texts ---


def show_text(text: object, limit: int = CUT) -> str:
    """Show an untrusted text for a cell: control characters as escapes, blank lines
    merged, cut to `limit` characters.
    """
    shown = str(text)
    if len(shown) <= limit and shown.isprintable():
        return shown
    return _clean_text(shown[: limit + 1], limit)


@lru_cache(maxsize=512)  # prompts: the pages of a dataset have the same
def _clean_text(shown: str, limit: int) -> str:
    if len(shown) > limit:
        shown = f"{shown[: limit - 1]}…"
    if not shown.replace("\n", "").isprintable():
        shown = "\n".join(
            [printable(line.replace("\t", " ")) for line in shown.split("\n")]
        )
    return _BLANK_LINES.sub("\n\n", shown)


def show_read(item: Mapping[str, object]) -> str:
    """Show what was read of an answer, or in brackets why nothing was."""
    if item["outcome"] != "scored":
        return f"({item['outcome']})"
    return show_text(item.get("read", item["score"]), 120)


def mark(text: str, span: tuple[int, int] | None, limit: int = CUT) -> Cell:
    """Make the text around a part of it, which is marked; the beginning of the text if
    there is none.
    """
    if span is None:
        return show_text(text, limit)
    first, behind = span
    begin = 0
    if behind >= limit:
        begin = max(0, first - limit // 2)
    end = max(begin + limit, behind)
    before = show_text(text[begin:first], first - begin + 1)
    after = show_text(text[behind:end], limit + 1)
    if begin > 0:
        before = f"…{before}"
    if end < len(text):
        after = f"{after}…"
    return Marked(before, show_text(text[first:behind], limit), after)
