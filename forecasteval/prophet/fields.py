"""Single fields of a record, read strictly; and notes: what was left out and what is
odd, nothing unseen.
"""

from __future__ import annotations

import contextlib
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple, NotRequired, TypedDict

import numpy as np

from forecasteval.common.errors import InputError, grouped_names, printable

from .arrays import Bools, Floats, Ints, all_of_each
from .cells import VOID, parse_number
from .losses import EXCLUDED, Losses, Lost, find_misread
from .times import NO_TIME, advise_time

NAMES_KEPT: Final = 100  # of forecasts; of events all
SHARE: Final = "resolved to a share, neither Yes nor No"
NO_FLAG: Final = "an outcome is neither 0 nor 1"
NUMERIC: Final = "question of numbers or dates, not scored"
# States of a question: a file may have many of them, and is no worse for it.
STATE_FAULTS: Final = frozenset({VOID, NUMERIC})
BAD_PROBABILITY: Final = "probabilities must be numbers in [0, 1]"


class Refusal(dict[str, Any]):
    """Stands where a row of a file gives no problem or no forecast: its ids, the
    reason, and the cell that is the reason.
    """

    def __init__(self, reason: str, cell: str = "", **ids: str) -> None:
        super().__init__(ids)
        self.reason, self.cell = reason, cell


class Exclusion(TypedDict):
    """How many events or forecasts were left out for a reason, and which; `example`:
    the reason with a cell, and what to write there.
    """

    what: str
    reason: str
    count: int
    names: list[str]
    example: NotRequired[str]


class Label(NamedTuple):
    """Names a forecast: who, on what; or by its place in a file alone."""

    forecaster: str
    event: str

    def __str__(self) -> str:
        if not self.forecaster:
            return self.event
        return f"{self.forecaster} on {self.event}"


Named = str | Label  # an event, or a forecast


class DataNotes:
    """Counts by reason what is left out and what is odd, with names of records. `lines`
    are warnings that stand for themselves.

    `pending`: how many events have no outcome yet, and forecasts of them.
        `examples`: of a reason
    the first by name of what was left out, and the cell that is the reason. `faults`:
    by file how many events cannot be used, by reason, and under "" how many there are.
    `losses`: the forecasts that are not scored. `untimed`: the files of which no
    forecast has a time. `min_p`, `max_p`: the least and the largest of all
    probabilities.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.pending = Counter[str]()
        self.counts = Counter[tuple[str, str]]()
        self.names: defaultdict[tuple[str, str], list[Named]] = defaultdict(list)
        self.examples: dict[str, tuple[str, str]] = {}
        self.faults: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.losses = Losses()
        self.untimed: list[str] = []
        self.min_p, self.max_p = 0.0, 1.0

    def fail_event(self, source: str, reason: str, name: str, cell: str) -> None:
        """Count an event of a file as unusable, with the cell that is the reason."""
        self.exclude("event", reason, [name])
        self.faults[source][reason] += 1
        self.show_example(reason, name, cell)

    def lose(self, source: str, reason: str, label: Label, cell: str = "") -> None:
        """Count a forecast of a file as not scored, with the cell that
        is the reason.
        """
        self.exclude("forecast", reason, [label])
        self.losses.add(source, label.forecaster, reason, label.event)
        self.show_example(reason, str(label), cell)

    def show_example(self, reason: str, name: str, cell: str) -> None:
        """Note the cell that is a reason; that of the first name is shown."""
        if cell:
            example = name, cell
            self.examples[reason] = min(example, self.examples.get(reason, example))

    def find_useless(self, counts: Sequence[Lost]) -> dict[str, InputError]:
        """Find the files that are misread: most of whose events, or of whose
        forecasters' forecasts are lost for one reason. Which forecasts it costs may
        depend on outcomes.
        """
        errors = {}
        for source, faults in self.faults.items():
            total = faults.pop("")
            for reason, count in faults.items():
                if 2 * count > total and reason not in STATE_FAULTS:
                    errors[source] = self._refuse(
                        source, f"{count} of {total} events", reason
                    )
        for source, reason, count, total in find_misread(counts):
            errors[source] = self._refuse(
                source, f"{count} of {total} forecasts", reason
            )
        return errors

    def _refuse(self, source: str, what: str, reason: str) -> InputError:
        return InputError(source, f"{what} cannot be scored: {self.explain(reason)}")

    def warn_of_losses(self, counts: Iterable[Lost]) -> None:
        """Name the forecasters who lose all of their forecasts, or more than half."""
        vanished, halved = list[str](), list[str]()
        for lost in counts:
            name = lost.name.username
            of_usable_events = lost.lost - lost.reasons.get(EXCLUDED, 0)
            if lost.lost and lost.lost == lost.total:
                vanished.append(name)
            elif lost.loses_most(of_usable_events):
                halved.append(f"{name}, {of_usable_events} of {lost.total}")
        self.warn("forecasters of whom no forecast is scored", vanished)
        self.warn("forecasters who lose more than half of their forecasts", halved)

    def explain(self, reason: str) -> str:
        """Say a reason with an example, and what to do."""
        name, cell = self.examples.get(reason, ("", ""))
        if not cell:
            return reason
        advice = _advise(reason, cell, self.min_p < 0 and self.max_p > 1)
        return f"{reason}, got {cell!r} ({name}){advice}"

    def exclude(
        self, what: str, reason: str, names: Iterable[Named], count: int | None = None
    ) -> None:
        """Count an "event" or a "forecast" as left out; `count`: how many, if not
        all are named.
        """
        listed = [*names]
        if count is None:
            count = len(listed)
        self.names[what, reason] += listed
        self.counts[what, reason] += count

    def warn(self, text: str, names: Iterable[Named], count: int | None = None) -> None:
        """Count something odd."""
        self.exclude("", text, names, count)

    def excluded(self) -> list[Exclusion]:
        """List names in order, so that the order of the input shows nowhere; of
        forecasts the first hundred.
        """
        entries = []
        for what, reason, count, names in self._list():
            if not what:
                continue
            if what == "forecast":
                names = names[:NAMES_KEPT]
            entry = Exclusion(what=what, reason=reason, count=count, names=names)
            if reason in self.examples:
                entry["example"] = self.explain(reason)
            entries.append(entry)
        return entries

    def warnings(self) -> list[str]:
        """Write a line per kind."""
        warnings = [
            f"{printable(self.explain(text))}: {grouped_names(names, count)}"
            for what, text, count, names in self._list()
            if not what
        ]
        return warnings + self.lines

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


def _advise(reason: str, cell: str, is_beyond_both: bool) -> str:
    """Say what to write in place of a cell.

    is_beyond_both: there are probabilities below 0 and above 1.
    """
    if NO_TIME in reason:
        return advise_time(cell)
    number = parse_number(cell.removesuffix("%").replace(",", "."))
    if reason == NO_FLAG and number > 1:
        return ": write 1 where the option came true and 0 elsewhere"
    if reason != BAD_PROBABILITY:
        return ""
    if cell.endswith("%"):
        number /= 100
    elif is_beyond_both and not 0 <= number <= 1:
        return ": some are below 0, some above 1; of log odds x write 1 / (1 + exp(-x))"
    elif number > 1:
        return f": {cell} is above 1: percent? divide by 100"
    if not 0 <= number <= 1:
        return ""
    return f": write {number:g} for {cell}"


# --- Many numbers at a time ---


def parse_prices(
    odds: Sequence[object], bids: Sequence[object], sizes: Ints
) -> tuple[Floats, Floats, dict[str, Bools]]:
    """Asking and bid prices option after option, nan where there are none; by warning
    what is not used.

    odds, bids: by forecast a list with a price per option, or None. Odds lie in (0,
        1], bids in [0,
    odds].
    """
    q, bid = _parse_lists(odds, sizes), _parse_lists(bids, sizes)
    starts = np.cumsum(sizes) - sizes
    in_cents = all_of_each(q > 1, starts)
    q_is_good = all_of_each((q > 0) & (q <= 1), starts)
    q[np.repeat(~q_is_good, sizes)] = math.nan
    bid_is_good = all_of_each((bid >= 0) & (bid <= q), starts)
    bid[np.repeat(~bid_is_good, sizes)] = math.nan
    has_bad_odds = ~q_is_good & _are_given(odds) & ~in_cents
    has_bad_bids = ~bid_is_good & _are_given(bids) & ~in_cents
    warnings = {
        "odds are all above 1, not used: write cents / 100, or 1 / decimal "
        "odds": in_cents,
        "odds are not a number in (0, 1] for every option, not used": has_bad_odds,
        "bids are not a number in [0, odds] for every option, not used": has_bad_bids,
    }
    return q, bid, warnings


def _are_given(lists: Sequence[object]) -> Bools:
    return np.array([row is not None for row in lists], bool)


def _parse_lists(lists: Sequence[object], sizes: Ints) -> Floats:
    """Prices in a row; nan for what is no list with one for every option."""
    if all(row is None for row in lists):
        return np.full(int(sizes.sum()), math.nan)
    rows: list[Any] = [*lists]
    for at, size in enumerate(sizes.tolist()):
        row = rows[at]
        if not isinstance(row, (list, tuple)) or len(row) != size:
            rows[at] = (math.nan,) * size
    return parse_numbers(rows, int(sizes.sum()))


def parse_numbers(lists: Sequence[Sequence[object]], size: int) -> Floats:
    """Read all values of the lists in a row; nan for what is no number."""
    if set(map(type, chain.from_iterable(lists))) <= {float, int}:
        with contextlib.suppress(OverflowError):  # an integer of a thousand digits
            return np.fromiter(chain.from_iterable(lists), float, size)
    return np.fromiter(map(parse_number, chain.from_iterable(lists)), float, size)
