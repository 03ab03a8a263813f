"""Forecasts as columns of numbers: read piece by piece, so that ten million fit; of several for one event the last."""

from __future__ import annotations

import contextlib
import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np

from forecasteval.common.errors import InputError, printable
from forecasteval.common.records import BadRecord, as_text, repeated_keys

from .arrays import ROUNDING, Bools, Floats, Ints
from .events import Events
from .fields import read_id, read_number, read_time
from .notes import NAMES_KEPT, Notes, Refusal
from .scores import PRICE_RANGE

PIECE: Final = 1 << 14  # records that are lists of Python floats at a time
CHUNK: Final = 1 << 20  # probabilities handled at a time, so that temporary arrays stay small
_NAMELESS: Final = "no id of an event or no name of a forecaster"
EXCLUDED_EVENT: Final = "of an event that is excluded"
_FIELDS: Final = frozenset({"problem_id", "username", "timestamp", "prediction", "probs", "odds", "bids", "weight"})


class KnownEvents(NamedTuple):
    """The events that forecasts may name: their numbers (-1: excluded), and by number id and count of options."""

    numbers: dict[str, int]
    ids: list[str]
    sizes: list[int]


class Forecasts(NamedTuple):
    """Forecasts sorted by event, then forecaster; forecast i stands at starts[i] and on in p, q and mid.

    q and mid (asking and middle price, clipped) are nan unless `priced`.
    """

    names: list[str]
    event: Ints
    forecaster: Ints
    time: Floats
    weight: Floats
    priced: Bools
    starts: Ints
    sizes: Ints
    p: Floats
    q: Floats
    mid: Floats

    def labels(self, where: Bools, ids: Sequence[str]) -> list[str]:
        """Names of the first forecasts at `where`, for notes; `ids` are those of the events."""
        at = np.flatnonzero(where)[:NAMES_KEPT]
        pairs = zip(self.forecaster[at].tolist(), self.event[at].tolist(), strict=True)
        return [f"{self.names[who]} on {ids[event]}" for who, event in pairs]

    def chunks(self) -> Iterator[tuple[slice, Ints, Floats, Floats, Floats]]:
        """About `CHUNK` probabilities at a time: the forecasts, their offsets among these, p, q and mid."""
        ends = np.append(0, np.cumsum(self.sizes))
        cuts = np.unique(np.searchsorted(ends, [*range(0, int(ends[-1]), CHUNK), int(ends[-1])]))
        for low, high in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
            own = ends[low : high + 1] - ends[low]
            at = np.repeat(self.starts[low:high] - own[:-1], self.sizes[low:high]) + np.arange(own[-1])
            q = self.q[at]
            yield slice(low, high), own, self.p[at], q, q if self.mid is self.q else self.mid[at]


class ForecastReader:
    """Reads forecasts of `known` events, any number of sources, into columns; `finish` chooses those that count.

    max_ask_sum: the most that the asking prices of an option and of its opposite, 1 + odds - bids, may sum to (the
    site's filter for liquid markets); None asks for no prices.
    """

    def __init__(self, known: KnownEvents, notes: Notes, max_ask_sum: float | None = None) -> None:
        self.known, self.notes, self.max_ask_sum = known, notes, max_ask_sum
        self._numbers: dict[str, int] = {}  # of the forecasters
        self._names: list[str] = []
        self._sources: list[str] = []  # of each forecaster
        self._event, self._who = array("q"), array("q")
        self._time, self._weight = array("d"), array("d")
        self._keep, self._priced = array("b"), array("b")
        self._p, self._q, self._mid = array("d"), array("d"), array("d")
        self._lists: list[tuple[Sequence[Any], Any, Any]] = []  # p, odds and bids of the records since the last piece

    def read(self, records: Iterable[Any], place: Callable[[int], str], source: str = "") -> None:
        """Read one source, named if there are several; `place(n)` says where its n-th record stands.

        Raises InputError for a forecaster whom another source names: nothing says whose forecasts count.
        """
        numbers, sizes, notes = self.known.numbers, self.known.sizes, self.notes
        prefix = f"{source} " if source else ""
        for position, record in enumerate(records, 1):
            refused = isinstance(record, Refusal)
            if not refused and not isinstance(record, Mapping):
                reason = record.problem if isinstance(record, BadRecord) else "no object"
                notes.exclude("forecast", reason, [prefix + place(position)])
                continue
            problem = record.problem_id if refused else read_id(record.get("problem_id"))
            name = record.username if refused else read_id(record.get("username"))
            if not name or not problem:
                notes.exclude("forecast", _NAMELESS, [prefix + place(position)])
                continue
            who = self._number(name, source)
            label = f"{name} on {problem}"
            event = numbers.get(problem)
            p = None if refused else _probabilities(record)
            reason = record.reason if refused else _fault(record, p, event, sizes)
            if reason or event is None or p is None:
                notes.exclude("forecast", reason, [label])
                continue
            weight = record.get("weight")
            self._event.append(event)
            self._who.append(who)
            self._time.append(read_time(record.get("timestamp"), "timestamp", label, notes))
            self._weight.append(1.0 if weight is None else read_number(weight))
            self._lists.append((p, record.get("odds"), record.get("bids")))
            if len(self._lists) == PIECE:
                self._flush()
        self._flush()

    def _number(self, name: str, source: str) -> int:
        number = self._numbers.setdefault(name, len(self._names))
        if number == len(self._names):
            self._names.append(name)
            self._sources.append(source)
        elif self._sources[number] != source:
            raise InputError(
                source,
                "expected forecasters of its own",
                f"{printable(name, 60)}, who is in {self._sources[number]}, too",
            )
        return number

    def _label(self, at: int) -> str:
        return f"{self._names[self._who[at]]} on {self.known.ids[self._event[at]]}"

    def _note(self, where: Bools, first: int, add: Callable[[str, list[str]], None], text: str) -> None:
        add(text, [self._label(first + at) for at in np.flatnonzero(where).tolist()])

    def _flush(self) -> None:
        """The lists of the last records as numbers; what is none of the right kind is counted."""
        if not self._lists:
            return
        lists, first = self._lists, len(self._event) - len(self._lists)
        self._lists = []
        notes = self.notes
        sizes = np.array([self.known.sizes[event] for event in self._event[first:]])
        starts = np.cumsum(sizes) - sizes
        p = _numbers([p for p, _, _ in lists], int(sizes.sum()))
        keep = np.logical_and.reduceat((p >= 0) & (p <= 1), starts)
        exclude = partial(notes.exclude, "forecast")
        self._note(~keep, first, exclude, "probabilities must be numbers in [0, 1]")
        q, priced = _prices([odds for _, odds, _ in lists], sizes, starts, np.nextafter(0, 1))
        given = np.array([odds is not None for _, odds, _ in lists])
        self._note(given & ~priced, first, notes.warn, "odds are not a number in (0, 1] for every option: no return")
        bids, bidden = _prices([bids for _, _, bids in lists], sizes, starts, 0.0)
        with np.errstate(invalid="ignore"):
            bidden &= np.logical_and.reduceat((bids <= q) | ~np.repeat(priced, sizes), starts)
        given = np.array([bids is not None for _, _, bids in lists])
        text = "bids are not a number in [0, odds] for every option: the mid price is the odds"
        self._note(given & ~bidden, first, notes.warn, text)
        both = np.repeat(bidden & priced, sizes)
        if self.max_ask_sum is not None:
            spread = np.maximum.reduceat(np.where(both, q - bids, math.inf), starts)
            thin = keep & ~(1 + spread <= self.max_ask_sum + ROUNDING)
            reason = f"no prices, or an option's two asks sum to more than {self.max_ask_sum:g}"
            self._note(thin, first, exclude, reason)
            keep &= ~thin
        if both.any() and not len(self._mid):
            self._mid.extend(self._q)  # no bids so far
        if both.any() or len(self._mid):
            mid = np.where(both, (q + bids) / 2, q)  # of prices that are not yet clipped
            self._mid.frombytes(np.clip(mid, *PRICE_RANGE).tobytes())
        self._q.frombytes(np.clip(q, *PRICE_RANGE).tobytes())
        self._p.frombytes(p.tobytes())
        self._keep.frombytes(keep.tobytes())
        self._priced.frombytes(priced.tobytes())

    def finish(self, events: Events, position: Ints, late: str) -> Forecasts | None:
        """The forecasts that count, one per event and forecaster; None if there is none.

        `position` gives the place in `events` of each number of `known`, -1 for one that is excluded after all.
        """
        number, who = np.frombuffer(self._event, dtype=np.int64), np.frombuffer(self._who, dtype=np.int64)
        time, weight = np.frombuffer(self._time), np.frombuffer(self._weight)
        sizes = np.asarray(self.known.sizes, dtype=np.int64)[number]
        starts = np.cumsum(sizes) - sizes
        keep = np.array(self._keep, dtype=bool)  # a copy, unlike the others: it is changed
        event = position[number] if len(number) else number
        gone = keep & (event < 0)
        self._exclude(gone, EXCLUDED_EVENT)
        keep &= ~gone
        if late == "drop" and keep.any():
            behind = keep & (time > events.closed[event])
            self._exclude(behind, "after the event closed")
            keep &= ~behind
        if not keep.any():
            return None
        used = sorted(self._names[at] for at in np.unique(who[keep]).tolist())
        renumbered = np.full(len(self._names), -1)
        renumbered[[self._numbers[name] for name in used]] = np.arange(len(used))
        who = renumbered[who]
        p, q = np.frombuffer(self._p), np.frombuffer(self._q)
        mid = np.frombuffer(self._mid) if len(self._mid) else q
        order = np.flatnonzero(keep)
        order = order[np.lexsort((np.nan_to_num(time[order], nan=-math.inf), who[order], event[order]))]

        def content(at: int) -> list[float]:
            own = slice(starts[at], starts[at] + sizes[at])
            return [weight[at], *(x for column in (p, q, mid) for x in np.nan_to_num(column[own]).tolist())]

        chosen = self._last(order, event, who, time, content)
        priced = np.array(self._priced, dtype=bool)
        self._event, self._who, self._time, self._weight = array("q"), array("q"), array("d"), array("d")
        return Forecasts(
            used, event[chosen], who[chosen], time[chosen], weight[chosen], priced[chosen], starts[chosen],
            sizes[chosen], p, q, mid,
        )  # fmt: skip

    def _exclude(self, where: Bools, reason: str) -> None:
        self.notes.exclude("forecast", reason, [self._label(at) for at in np.flatnonzero(where).tolist()])

    def _last(self, order: Ints, event: Ints, who: Ints, time: Floats, content: Callable[[int], list[float]]) -> Ints:
        """The last of each event and forecaster; of those of one time the one of larger numbers."""
        new = np.append((event[order][1:] != event[order][:-1]) | (who[order][1:] != who[order][:-1]), True)
        ends = np.flatnonzero(new)
        chosen = order[ends]
        counts = np.diff(np.append(-1, ends))
        for at in np.flatnonzero(counts > 1).tolist():
            group = order[ends[at] - counts[at] + 1 : ends[at] + 1].tolist()
            latest = time[group[-1]]
            same = [one for one in group if time[one] == latest or (math.isnan(latest) and math.isnan(time[one]))]
            chosen[at] = max(same, key=content)
            label = [self._label(group[0])]
            self.notes.exclude("forecast", "a later one of its forecaster counts", label * (len(group) - len(same)))
            self.notes.exclude("forecast", "one of the same time counts", label * (len(same) - 1))
        return chosen


def _probabilities(record: Mapping[str, Any]) -> Any:
    p = record.get("prediction")
    p = record.get("probs") if p is None else p
    return p.tolist() if isinstance(p, np.ndarray) else p


def _fault(record: Mapping[str, Any], p: Any, event: int | None, sizes: Sequence[int]) -> str:
    """Why a record gives no forecast of the event (None: unknown, -1: excluded); "" if it does."""
    if event is None:
        return "unknown problem id"
    if event < 0:
        return EXCLUDED_EVENT
    if _FIELDS.intersection(repeated_keys(record)):
        return "a field is given twice"
    if not isinstance(p, (list, tuple)) or len(p) != sizes[event]:
        return "expected a probability for every option"
    other = record.get("probs")
    if other is not None and record.get("prediction") is not None and as_text(other) != as_text(p):
        return "'prediction' and 'probs' disagree"
    weight = record.get("weight")
    if weight is not None and not 1e-100 < read_number(weight) < 1e100:  # sums of others overflow
        return "'weight' must be a positive number"
    return ""


def _numbers(lists: Sequence[Sequence[Any]], size: int) -> Floats:
    """All values of the lists in a row; nan for what is no number."""
    if set(map(type, chain.from_iterable(lists))) <= {float, int}:
        with contextlib.suppress(OverflowError):  # an integer of a thousand digits
            return np.fromiter(chain.from_iterable(lists), float, size)
    return np.fromiter(map(read_number, chain.from_iterable(lists)), float, size)


def _prices(lists: list[Any], sizes: Ints, starts: Ints, lowest: float) -> tuple[Floats, Bools]:
    """Prices in a row, and which lists give one in [lowest, 1] for every option; the others are nan."""
    whole = [isinstance(row, (list, tuple)) and len(row) == n for row, n in zip(lists, sizes.tolist(), strict=True)]
    good = np.array(whole)
    values = np.full(int(sizes.sum()), math.nan)
    inside = np.repeat(good, sizes)
    used = [row for row, has in zip(lists, whole, strict=True) if has]
    values[inside] = _numbers(used, int(inside.sum()))
    good &= np.logical_and.reduceat((values >= lowest) & (values <= 1), starts)
    values[~np.repeat(good, sizes)] = math.nan
    return values, good
