"""Forecasts as columns of numbers: read piece by piece, so that ten million fit, and which of them count.

A forecaster's records decide nothing but its probabilities: weights belong to events, prices to events and times.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from forecasteval.common.errors import InputError, printable
from forecasteval.common.records import BadRecord, as_text, repeated_keys

from .arrays import ROUNDING, Bools, Floats, Ints, positions
from .events import Events
from .fields import read_id, read_number, read_time, usable_weight
from .notes import NAMES_KEPT, Notes, Refusal
from .prices import AGREEMENT, BAD_BIDS, BAD_ODDS, quorum, read_numbers, read_prices, settle_prices, upper_medians

PIECE: Final = 1 << 14  # records that are lists of Python floats at a time
CHUNK: Final = 1 << 20  # probabilities handled at a time, so that temporary arrays stay small
_NAMELESS: Final = "no id of an event or no name of a forecaster"
EXCLUDED_EVENT: Final = "of an event that is excluded"
LATE: Final = ("after the event closed", "forecast after its event closed, kept")
UNTIMED: Final = (
    "without a time where others have one, so late", "forecast without a time where others have one, so late, kept",
)  # fmt: skip
OTHER_PRICE: Final = "odds that differ by more than 0.05 from the price of their event, not used"
UNCONFIRMED: Final = "odds that no other forecaster confirms, not used: no price, no return"
IGNORED_WEIGHT: Final = "weight that is not its event's, ignored"
_FIELDS: Final = frozenset({"problem_id", "username", "timestamp", "prediction", "probs", "odds", "bids", "weight"})


class KnownEvents(NamedTuple):
    """The events that forecasts may name: their numbers (-1: excluded), and by number id and count of options."""

    numbers: dict[str, int]
    ids: list[str]
    sizes: list[int]


class Forecasts(NamedTuple):
    """Forecasts sorted by event, then forecaster; the options of one follow those of another in p, q and mid.

    q and mid, the asking and middle price, are clipped, and nan unless `priced`. The weight is the event's.
    """

    names: list[str]
    event: Ints
    forecaster: Ints
    time: Floats
    weight: Floats
    priced: Bools
    sizes: Ints
    p: Floats
    q: Floats
    mid: Floats

    def labels(self, where: Bools, ids: Sequence[str]) -> list[str]:
        """Names of the first forecasts at `where`, for notes; `ids` are those of the events."""
        at = np.flatnonzero(where)[:NAMES_KEPT]
        pairs = zip(self.forecaster[at].tolist(), self.event[at].tolist(), strict=True)
        return [f"{self.names[who]} on {ids[event]}" for who, event in pairs]

    def chunks(self) -> Iterator[tuple[slice, slice, Ints]]:
        """About `CHUNK` probabilities at a time: the forecasts, their options, and the offsets among these."""
        ends = np.append(0, np.cumsum(self.sizes))
        cuts = np.unique(np.searchsorted(ends, [*range(0, int(ends[-1]), CHUNK), int(ends[-1])]))
        for low, high in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
            yield slice(low, high), slice(ends[low], ends[high]), ends[low : high + 1] - ends[low]


class ForecastReader:
    """Reads forecasts of `known` events, any number of sources, into columns; `finish` chooses those that count.

    `trusted`: prices are the arena's, not the forecasters' (`settle_prices`).
    """

    def __init__(self, known: KnownEvents, notes: Notes, trusted: bool = False) -> None:
        self.known, self.notes, self.trusted = known, notes, trusted
        self._numbers: dict[str, int] = {}  # of the forecasters
        self._names: list[str] = []
        self._sources: list[str] = []  # of each forecaster
        self._event, self._who, self._keep = array("q"), array("q"), array("b")
        self._time, self._weight = array("d"), array("d")
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
            self._event.append(event)
            self._who.append(who)
            self._time.append(read_time(record.get("timestamp"), "timestamp", label, notes))
            self._weight.append(_given_weight(record.get("weight")))
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
            expected = "expected forecasters of its own"
            raise InputError(source, expected, f"{printable(name, 60)}, who is in {self._sources[number]}, too")
        return number

    def _label(self, at: int) -> str:
        return f"{self._names[self._who[at]]} on {self.known.ids[self._event[at]]}"

    def _flush(self) -> None:
        """Turn the lists of the last records into numbers; count what is none of the right kind."""
        if not self._lists:
            return
        lists, first = self._lists, len(self._event) - len(self._lists)
        self._lists = []

        def labels(where: Bools) -> list[str]:
            return [self._label(first + at) for at in np.flatnonzero(where).tolist()]

        sizes = np.array([self.known.sizes[event] for event in self._event[first:]])
        starts = np.cumsum(sizes) - sizes
        p = read_numbers([p for p, _, _ in lists], int(sizes.sum()))
        keep = np.logical_and.reduceat((p >= 0) & (p <= 1), starts)
        self.notes.exclude("forecast", "probabilities must be numbers in [0, 1]", labels(~keep))
        q, mid, bad_odds, bad_bids = read_prices([odds for _, odds, _ in lists], [bids for *_, bids in lists], sizes)
        self.notes.warn(BAD_ODDS, labels(bad_odds))
        self.notes.warn(BAD_BIDS, labels(bad_bids))
        for column, values in ((self._p, p), (self._q, q), (self._mid, mid), (self._keep, keep)):
            column.frombytes(values.tobytes())

    def finish(self, events: Events, position: Ints, late: str, repeats: str) -> Forecasts | None:
        """The forecasts that count, one per event and forecaster; None if there is none. Call it once.

        `position` gives the place in `events` of each number of `known`, -1 for an event that is excluded after all.
        """
        number, who = np.frombuffer(self._event, dtype=np.int64), np.frombuffer(self._who, dtype=np.int64)
        time, weight = np.frombuffer(self._time), np.frombuffer(self._weight)
        keep = np.array(self._keep, dtype=bool)
        event = position[number] if len(number) else number
        self._drop(keep, event < 0, EXCLUDED_EVENT)
        if keep.any():
            self._judge_times(keep, who, time, events.closed[event], late)
        if not keep.any():
            return None
        used = sorted(self._names[at] for at in np.unique(who[keep]).tolist())
        renumbered = np.full(len(self._names), -1)
        renumbered[[self._numbers[name] for name in used]] = np.arange(len(used))
        who = renumbered[who]
        sizes = np.asarray(self.known.sizes, dtype=np.int64)[number]
        starts = np.cumsum(sizes) - sizes
        filled = np.nan_to_num(time, nan=-math.inf)
        order = np.flatnonzero(keep)
        order = order[np.lexsort((filled[order], who[order], event[order]))]
        columns = [np.frombuffer(column) for column in (self._p, self._q, self._mid)]
        chosen = self._choose(order, event, who, filled, weight, columns, starts, sizes, repeats)
        event, who, time, sizes = event[chosen], who[chosen], time[chosen], sizes[chosen]
        at, offsets = positions(starts[chosen], sizes)
        p, q, mid = (column[at] for column in columns)
        shared = share_weights(events, event, who, weight[chosen])
        data = Forecasts(used, event, who, time, shared, np.zeros(len(event), dtype=bool), sizes, p, q, mid)
        ignored = ~np.isnan(weight[chosen]) & (weight[chosen] != shared)
        self.notes.warn(IGNORED_WEIGHT, data.labels(ignored, events.ids), int(ignored.sum()))
        return self._settle(events, data, offsets[:-1])

    def _settle(self, events: Events, data: Forecasts, starts: Ints) -> Forecasts:
        """The forecasts at the prices at which they are paid; count prices that were not used."""
        slot = events.slots(data.event, np.append(starts, len(data.p)))
        known, quotes = (events.q[slot], events.mid[slot]), (data.q, data.mid)
        paid, mid = settle_prices(known, quotes, data.event, data.forecaster, data.time, data.sizes, self.trusted)
        priced, quoted = ~np.isnan(paid[starts]), ~np.isnan(data.q[starts])
        with np.errstate(invalid="ignore"):
            apart = np.maximum.reduceat(np.abs(paid - data.q), starts) > AGREEMENT + ROUNDING
        for text, where in ((OTHER_PRICE, apart & priced & quoted), (UNCONFIRMED, quoted & ~priced)):
            self.notes.warn(text, data.labels(where, events.ids), int(where.sum()))
        return data._replace(priced=priced, q=paid, mid=mid)

    def _drop(self, keep: Bools, where: Bools, reason: str) -> None:
        gone = keep & where
        self.notes.exclude("forecast", reason, [self._label(at) for at in np.flatnonzero(gone).tolist()])
        keep &= ~gone

    def _judge_times(self, keep: Bools, who: Ints, time: Floats, closed: Floats, late: str) -> None:
        """Drop or count forecasts after closing, and those without a time where half of the forecasters give one.

        Half: else one forecaster who gives times would make all others late.
        """
        timed = len(np.unique(who[keep & ~np.isnan(time)]))
        usual = timed > 0 and 2 * timed >= len(np.unique(who[keep]))
        unknown = np.isnan(time) & ~np.isnan(closed) & usual
        for where, dropped, kept in ((time > closed, *LATE), (unknown, *UNTIMED)):
            if late == "drop":
                self._drop(keep, where, dropped)
            else:
                self.notes.warn(kept, [self._label(at) for at in np.flatnonzero(keep & where).tolist()])

    def _choose(
        self,
        order: Ints,
        event: Ints,
        who: Ints,
        time: Floats,
        weight: Floats,
        columns: Sequence[Floats],
        starts: Ints,
        sizes: Ints,
        repeats: str,
    ) -> Ints:
        """The forecast that stands for each event and forecaster: the last; of one time the one of larger numbers.

        `order` holds the forecasts that count by event, forecaster and time; `columns` (p first) have their options.
        With `repeats` "mean" the p of the forecast that is chosen become the means of all.
        """
        ends = np.flatnonzero(np.append(np.diff(event[order]) | np.diff(who[order]), 1)) + 1
        counts = np.diff(ends, prepend=0)
        chosen = order[ends - 1]
        for at in np.flatnonzero(counts > 1).tolist():
            group = order[ends[at] - counts[at] : ends[at]]
            label = [self._label(group[0])]
            same = group[time[group] == time[group[-1]]]
            if len(same) > 1:
                options = positions(starts[same], sizes[same])[0].reshape(len(same), -1)
                keys = np.column_stack([weight[same], *(column[options] for column in columns)])
                chosen[at] = max(zip(np.nan_to_num(keys).tolist(), same.tolist(), strict=True))[1]
            if repeats == "mean":
                options = positions(starts[group], sizes[group])[0].reshape(len(group), -1)
                last = options[group == chosen[at]][0]
                columns[0][last] = [math.fsum(p) / len(group) for p in columns[0][options].T.tolist()]
                self.notes.warn("several forecasts of an event by one forecaster, their mean counts", label)
                continue
            self.notes.exclude("forecast", "a later one of its forecaster counts", label * (len(group) - len(same)))
            self.notes.exclude("forecast", "one of the same time counts", label * (len(same) - 1))
        return chosen


def share_weights(events: Events, event: Ints, who: Ints, given: Floats) -> Floats:
    """The weight of each forecast's event: the problem's; else what most of its forecasters, a `quorum`, give; else 1.

    event, who, given: by forecast, nan where it gives no weight. If all had to give the same, a forecaster could undo
    the weight of an event by leaving it out.
    """
    size = len(events.ids)
    filled = np.nan_to_num(given, nan=-1.0)
    typical = upper_medians(event, filled, size)
    agreeing = np.bincount(event[filled == typical[event]], minlength=size)
    agreed = (typical > 0) & (agreeing >= quorum(who)) & (2 * agreeing > np.bincount(event, minlength=size))
    return np.where(np.isnan(events.weight), np.where(agreed, typical, 1.0), events.weight)[event]


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
    return ""


def _given_weight(value: Any) -> float:
    """The weight that a record gives; nan for none, -1 for one that cannot be used."""
    if value is None:
        return math.nan
    weight = read_number(value)
    return weight if usable_weight(weight) else -1.0
