"""Single fields of a record, read strictly; and notes: what was left out and what is odd, nothing
unseen.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import lru_cache
from itertools import chain
from typing import Any, Final, NamedTuple, NotRequired, TypedDict

import numpy as np

from forecasteval.common.errors import InputError, grouped_names, printable
from forecasteval.common.records import number_text

from .arrays import Bools, Floats, Ints, all_of_each

NAMES_KEPT: Final = 100  # of forecasts; of events all
SHARE: Final = "resolved to a share, neither Yes nor No"
NO_FLAG: Final = "an outcome is neither 0 nor 1"
BAD_PROBABILITY: Final = "probabilities must be numbers in [0, 1]"
_NO_TIME: Final = "that is not an ISO 8601 time, treated as unknown"
_DAY: Final = 86_400 - 1e-6  # seconds
_SHORT_HOUR: Final = re.compile(r"(?<=\d[ T])(?=\d:)")  # 9:30, as spreadsheets write it


class Refusal(dict[str, Any]):
    """Stands where a row of a file gives no problem or no forecast: its ids, the reason, and the
    cell that is the reason.
    """

    def __init__(self, reason: str, cell: str = "", **ids: str) -> None:
        super().__init__(ids)
        self.reason, self.cell = reason, cell


class Exclusion(TypedDict):
    """How many events or forecasts were left out for a reason, and which; `example`: the reason
    with a cell, and what to write there.
    """

    what: str
    reason: str
    count: int
    names: list[str]
    example: NotRequired[str]


def first_fault(faults: Mapping[str, bool]) -> str:
    """Return the first reason that holds; "" if none does."""
    return next((fault for fault, holds in faults.items() if holds), "")


class Label(NamedTuple):
    """Names a forecast: who, on what; or by its place in a file alone."""

    forecaster: str
    event: str

    def __str__(self) -> str:
        return f"{self.forecaster} on {self.event}" if self.forecaster else self.event


Named = str | Label  # an event, or a forecast


class DataNotes:
    """Counts by reason what is left out and what is odd, with names of records. `lines` are
    warnings that stand for themselves.

    `pending`: how many events have no outcome yet, and forecasts of them. `examples`: of a reason
    the first by name of what was left out, and the cell that is the reason. `faults`: by file and
    kind how many events or forecasts cannot be used, by reason, and under "" how many there are.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.pending = Counter[str]()
        self.counts = Counter[tuple[str, str]]()
        self.names: defaultdict[tuple[str, str], list[Named]] = defaultdict(list)
        self.examples: dict[str, tuple[str, str]] = {}
        self.faults: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)

    def fail(self, source: str, what: str, reason: str, name: Named, cell: str) -> None:
        """Count an event or a forecast of a file as unusable, with the cell that is the reason."""
        self.exclude(what, reason, [name])
        self.faults[source, what][reason] += 1
        if cell:
            example = str(name), cell
            self.examples[reason] = min(example, self.examples.get(reason, example))

    def find_useless(self) -> dict[str, InputError]:
        """Find the files of which more than half is left out for one reason: which it is may depend
        on outcomes.
        """
        errors = {}
        for (source, what), counts in self.faults.items():
            total = counts.pop("")
            for reason, count in counts.items():
                if 2 * count > total:
                    why = f"{count} of {total} {what}s cannot be scored: {self.explain(reason)}"
                    errors[source] = InputError(source, why)
        return errors

    def explain(self, reason: str) -> str:
        """Say a reason with an example, and what to do."""
        name, cell = self.examples.get(reason, ("", ""))
        return f"{reason}, got {cell!r} ({name}){_advise(reason, cell)}" if cell else reason

    def exclude(
        self, what: str, reason: str, names: Iterable[Named], count: int | None = None
    ) -> None:
        """Count an "event" or a "forecast" as left out; `count`: how many, if not all are named."""
        more = [*names]
        self.names[what, reason] += more
        self.counts[what, reason] += len(more) if count is None else count

    def warn(self, text: str, names: Iterable[Named], count: int | None = None) -> None:
        """Count something odd."""
        self.exclude("", text, names, count)

    def excluded(self) -> list[Exclusion]:
        """List names in order, so that the order of the input shows nowhere; of forecasts the first
        hundred.
        """
        entries = []
        for what, reason, count, names in self._list():
            if what:
                shown = names[:NAMES_KEPT] if what == "forecast" else names
                entry = Exclusion(what=what, reason=reason, count=count, names=shown)
                if reason in self.examples:
                    entry["example"] = self.explain(reason)
                entries.append(entry)
        return entries

    def warnings(self) -> list[str]:
        """Write a line per kind."""
        odd = [
            f"{text}: {grouped_names(names, count)}"
            for what, text, count, names in self._list()
            if not what
        ]
        return odd + self.lines

    def _list(self) -> Iterator[tuple[str, str, int, list[str]]]:
        """List what was counted with the names in order, which are safe to print."""
        for (what, reason), count in sorted(self.counts.items()):
            if count:
                names = sorted(map(str, self.names[what, reason]))
                yield what, reason, count, [printable(name, 200) for name in names]


def show_exclusion(entry: Exclusion) -> str:
    """Show the reason, or its example, and whom it is about."""
    names = grouped_names(entry["names"], entry["count"])
    return f"{printable(entry.get('example', entry['reason']))}: {names}"


def _advise(reason: str, cell: str) -> str:
    """Say what to write in place of a cell."""
    number = parse_number(cell.removesuffix("%").replace(",", "."))
    if reason != BAD_PROBABILITY:
        advice = ": write 1 where the option came true and 0 elsewhere"
        return advice if number > 1 and reason == NO_FLAG else ""
    if cell.endswith("%"):
        number /= 100
    elif number > 1:
        return f": {cell} is above 1: percent? divide by 100"
    return f": write {number:g} for {cell}" if 0 <= number <= 1 else ""


# --- Fields ---


@lru_cache(maxsize=1 << 16)
def parse_moment(text: str, is_end: bool = False) -> tuple[float, str]:
    """Parse an ISO 8601 time as seconds since 1970, nan if it is none; say what is odd about it.

    A date alone is the beginning of its day (UTC), or the end if it `is_end`.
    """
    bare = _SHORT_HOUR.sub("0", text.strip().removesuffix(" UTC"))
    try:
        moment = datetime.fromisoformat(bare)
        zoned = moment.tzinfo is not None or text.rstrip().endswith(" UTC")
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        seconds = moment.astimezone(UTC).timestamp()
    except (ValueError, OverflowError):  # OverflowError near the years 1 and 9999
        return math.nan, _NO_TIME
    with contextlib.suppress(ValueError):
        date.fromisoformat(bare)
        return seconds + _DAY * is_end, ""
    return seconds, "" if zoned else "without time zone, read as UTC"


def parse_time(value: object, is_end: bool = False) -> tuple[float, str]:
    """Parse a time of a record, which may have none, as `parse_moment`."""
    if value is None or value == "":
        return math.nan, ""
    return parse_moment(value, is_end) if isinstance(value, str) else (math.nan, _NO_TIME)


def format_time(seconds: float) -> str | None:
    """Write a time in ISO 8601, UTC; None for nan and infinity."""
    return None if not math.isfinite(seconds) else datetime.fromtimestamp(seconds, UTC).isoformat()


def parse_id(value: object) -> str:
    """Read an id or a name as text: 7 and "7" are one. It is "" if it is neither text nor
    a number.
    """
    return value if isinstance(value, str) else number_text(value)


def parse_number(value: object) -> float:
    """Read a number or the plain text of one; nan for anything else, blanks and booleans too."""
    if isinstance(value, str):
        if "_" in value:  # float("0_5") is 5.0
            return math.nan
        try:
            return float(value)
        except ValueError:
            return math.nan
    text = number_text(value)
    return float(text) if text and len(text) < 400 else math.nan


def complement(p: object) -> object:
    """Return the probability or the price of No; what is none, such as cents, as it is."""
    number = parse_number(p)
    return 1 - number if 0 <= number <= 1 else p


# --- Many numbers at a time ---


def parse_prices(
    odds: Sequence[object], bids: Sequence[object], sizes: Ints
) -> tuple[Floats, Floats, dict[str, Bools]]:
    """Asking and bid prices option after option, nan where there are none; by warning what is not
    used.

    odds, bids: by forecast a list with a price per option, or None. Odds lie in (0, 1], bids in [0,
    odds].
    """
    q, bid = _parse_lists(odds, sizes), _parse_lists(bids, sizes)
    starts = np.cumsum(sizes) - sizes
    in_cents = all_of_each(q > 1, starts)
    q[np.repeat(~all_of_each((q > 0) & (q <= 1), starts), sizes)] = math.nan
    bid[np.repeat(~all_of_each((bid >= 0) & (bid <= q), starts), sizes)] = math.nan
    no_odds, no_bids = (
        np.isnan(values[starts]) & np.array([row is not None for row in rows], dtype=bool)
        for values, rows in ((q, odds), (bid, bids))
    )
    bad = {
        "odds are all above 1, not used: write cents / 100, or 1 / decimal odds": in_cents,
        "odds are not a number in (0, 1] for every option, not used": no_odds & ~in_cents,
        "bids are not a number in [0, odds] for every option, not used": no_bids & ~in_cents,
    }
    return q, bid, bad


def _parse_lists(lists: Sequence[object], sizes: Ints) -> Floats:
    """Prices in a row; nan for what is no list with one for every option."""
    used = [
        row if isinstance(row, (list, tuple)) and len(row) == n else (math.nan,) * n
        for row, n in zip(lists, sizes.tolist(), strict=True)
    ]
    return parse_numbers(used, int(sizes.sum()))


def parse_numbers(lists: Sequence[Sequence[object]], size: int) -> Floats:
    """Read all values of the lists in a row; nan for what is no number."""
    if set(map(type, chain.from_iterable(lists))) <= {float, int}:
        with contextlib.suppress(OverflowError):  # an integer of a thousand digits
            return np.fromiter(chain.from_iterable(lists), float, size)
    return np.fromiter(map(parse_number, chain.from_iterable(lists)), float, size)
