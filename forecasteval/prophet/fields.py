"""Single fields of a record, read strictly; and notes: what was left out and what is odd, nothing
unseen.
"""

from __future__ import annotations

import contextlib
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain
from typing import Any, Final, TypedDict

import numpy as np

from forecasteval.common.errors import grouped_names, printable
from forecasteval.common.records import number_text

from .arrays import Bools, Floats, Ints

NAMES_KEPT: Final = 100  # of forecasts; of events all


class Refusal(dict[str, Any]):
    """Stands where a row of a file gives no problem or no forecast: its ids, and the reason."""

    def __init__(self, reason: str, **ids: str) -> None:
        super().__init__(ids)
        self.reason = reason


class Exclusion(TypedDict):
    """How many events or forecasts were left out for a reason, and which."""

    what: str
    reason: str
    count: int
    names: list[str]


class Notes:
    """Collects exclusions, warnings that name records, and warnings that stand for themselves
    (`lines`); `pending`: how many events have no outcome yet, and forecasts of them.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.pending = Counter[str]()
        self._names: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        self._counts: Counter[tuple[str, str]] = Counter()

    def exclude(
        self, what: str, reason: str, names: Iterable[str], count: int | None = None
    ) -> None:
        """Count an "event" or a "forecast" as left out; `count`: how many, if not all are named."""
        kept = self._names[what, reason]
        before = len(kept)
        kept.extend(names)
        self._counts[what, reason] += len(kept) - before if count is None else count
        if what != "event" and len(kept) > 50 * NAMES_KEPT:  # of millions not all are held
            kept[:] = sorted(kept)[:NAMES_KEPT]

    def warn(self, text: str, names: Iterable[str], count: int | None = None) -> None:
        """Count something odd."""
        self.exclude("", text, names, count)

    def odd(self) -> dict[str, list[str]]:
        """The names by warning."""
        return {
            text: sorted(names)
            for (what, text), names in sorted(self._names.items())
            if not what and names
        }

    def excluded(self) -> list[Exclusion]:
        """Names in order, so that the order of the input shows nowhere; of forecasts the first
        hundred.
        """
        rows: list[Exclusion] = []
        for (what, reason), count in sorted(self._counts.items()):
            if what and count:
                names = sorted(self._names[what, reason])[: None if what == "event" else NAMES_KEPT]
                shown = [printable(name, 200) for name in names]
                rows.append({"what": what, "reason": reason, "count": count, "names": shown})
        return rows

    def warnings(self) -> list[str]:
        """A line per kind."""
        grouped = (
            f"{text}: {grouped_names(names, self._counts['', text])}"
            for text, names in self.odd().items()
        )
        return [*grouped, *self.lines]


# --- Fields ---


@lru_cache(maxsize=1 << 16)
def parse_moment(text: str) -> tuple[float, bool]:
    """Seconds since 1970 of an ISO 8601 time (nan if it is none), and whether it names its time
    zone (else UTC).
    """
    try:
        moment = datetime.fromisoformat(text.strip().removesuffix(" UTC"))
        zoned = moment.tzinfo is not None or text.rstrip().endswith(" UTC")
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC).timestamp(), zoned  # OverflowError near the years 1 and 9999
    except (ValueError, OverflowError):
        return math.nan, True


def parse_time(value: object, kind: str, name: str, notes: Notes) -> float:
    """nan if there is none; what does not parse is counted, and so is a time without zone, read as
    UTC.
    """
    if value is None or value == "":
        return math.nan
    seconds, zoned = parse_moment(value) if isinstance(value, str) else (math.nan, True)
    if math.isnan(seconds):
        notes.warn(f"{kind} that is not an ISO 8601 time, treated as unknown", [name])
    elif not zoned:
        notes.warn(f"{kind} without time zone, read as UTC", [name])
    return seconds


def format_time(seconds: float) -> str | None:
    """The time in ISO 8601, UTC; None for nan."""
    return None if math.isnan(seconds) else datetime.fromtimestamp(seconds, UTC).isoformat()


def parse_id(value: object) -> str:
    """An id or a name as text: 7 and "7" are one; "" if it is neither text nor a number."""
    return value if isinstance(value, str) else number_text(value)


def parse_number(value: object) -> float:
    """A number or the plain text of one; nan for anything else, blanks and booleans among it."""
    if isinstance(value, str):
        if "_" in value:  # float("0_5") is 5.0
            return math.nan
        try:
            return float(value)
        except ValueError:
            return math.nan
    text = number_text(value)
    return float(text) if text and len(text) < 400 else math.nan


# --- Many numbers at a time ---


def parse_prices(
    odds: Sequence[object], bids: Sequence[object], sizes: Ints
) -> tuple[Floats, Floats, dict[str, Bools]]:
    """Asking and bid prices option after option, nan where there are none; by warning what is not
    used.

    odds, bids: by forecast a list with a price per option, or None. Odds lie in (0, 1], bids in [0,
    odds].
    """
    starts = np.cumsum(sizes) - sizes
    q, priced = _parse_lists(odds, sizes, starts, float(np.nextafter(0, 1)))
    bid, bidden = _parse_lists(bids, sizes, starts, 0.0)
    with np.errstate(invalid="ignore"):
        bidden &= np.logical_and.reduceat(bid <= q, starts)  # not without odds
    bid[~np.repeat(bidden, sizes)] = math.nan
    given = [np.array([row is not None for row in rows], dtype=bool) for rows in (odds, bids)]
    bad = {
        "odds are not a number in (0, 1] for every option, not used": given[0] & ~priced,
        "bids are not a number in [0, odds] for every option, not used": given[1] & ~bidden,
    }
    return q, bid, bad


def parse_numbers(lists: Sequence[Sequence[object]], size: int) -> Floats:
    """All values of the lists in a row; nan for what is no number."""
    if set(map(type, chain.from_iterable(lists))) <= {float, int}:
        with contextlib.suppress(OverflowError):  # an integer of a thousand digits
            return np.fromiter(chain.from_iterable(lists), float, size)
    return np.fromiter(map(parse_number, chain.from_iterable(lists)), float, size)


def _parse_lists(
    lists: Sequence[object], sizes: Ints, starts: Ints, lowest: float
) -> tuple[Floats, Bools]:
    """Prices in a row, and which lists give one in [lowest, 1] for every option; the others are
    nan.
    """
    used = [
        row if isinstance(row, (list, tuple)) and len(row) == n else (math.nan,) * n
        for row, n in zip(lists, sizes.tolist(), strict=True)
    ]
    values = parse_numbers(used, int(sizes.sum()))
    good = np.logical_and.reduceat((values >= lowest) & (values <= 1), starts)
    values[~np.repeat(good, sizes)] = math.nan
    return values, good
