"""Forecasts as columns of numbers: read piece by piece, so that ten million fit, and which of them
count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

import numpy as np

from forecasteval.common.errors import InputError, look_of, printable
from forecasteval.common.records import BadRecord, as_text, repeated_keys

from .arrays import Bools, Floats, Ints, Names, select_rows
from .events import PENDING, Events
from .fields import NAMES_KEPT, Notes, Refusal, parse_id, parse_numbers, parse_prices, parse_time

PIECE: Final = 1 << 14  # records that are lists of Python floats at a time
CHUNK: Final = 1 << 20  # probabilities handled at a time, so that temporary arrays stay small
LEAST_EVENTS: Final = 5  # of a forecaster for a rank, and
LEAST_SHARE: Final = 0.2  # of all events
_FIELDS: Final = frozenset(
    {"problem_id", "username", "timestamp", "prediction", "probs", "odds", "bids"}
)


def least_events(min_events: int | None, events: int) -> int:
    """How many of all events a forecaster needs for a rank."""
    return min_events or max(LEAST_EVENTS, math.ceil(LEAST_SHARE * events - 1e-9))


class Forecasts(NamedTuple):
    """Forecasts by event, then forecaster; the options of one follow those of another in p, q and
    bid.

    q and bid, the asking and the bid price, are nan where there is none. As they are read they are
    what the forecaster gives; `settle_prices` makes them those of the event.
    """

    names: list[str]
    event: Ints
    forecaster: Ints
    time: Floats
    sizes: Ints
    p: Floats
    q: Floats
    bid: Floats

    @property
    def offsets(self) -> Ints:
        """The options of forecast i stand at offsets[i]:offsets[i + 1] of p."""
        return np.append(0, np.cumsum(self.sizes))

    @property
    def starts(self) -> Ints:
        return self.offsets[:-1]

    @property
    def priced(self) -> Bools:
        return ~np.isnan(self.q[self.starts])

    def select(self, chosen: Ints) -> Forecasts:
        """The forecasts at these positions."""
        return Forecasts(self.names, *select_rows(self[1:], 3, chosen))

    def labels(self, at: Ints, ids: Names) -> list[str]:
        """Names of the first forecasts at the positions `at`, for notes; `ids` are those of the
        events.
        """
        first = at[:NAMES_KEPT]
        pairs = zip(self.forecaster[first].tolist(), ids[self.event[first]], strict=True)
        return [f"{self.names[who]} on {event}" for who, event in pairs]

    def warn(self, notes: Notes, text: str, where: Bools, ids: Names) -> None:
        """Note something odd about some forecasts."""
        notes.warn(text, self.labels(np.flatnonzero(where), ids), int(where.sum()))

    def chunks(self) -> Iterator[tuple[slice, slice, Ints]]:
        """About `CHUNK` probabilities at a time: the forecasts, their options, and the offsets
        among these.
        """
        ends = self.offsets
        cuts = np.unique(np.searchsorted(ends, [*range(0, int(ends[-1]), CHUNK), int(ends[-1])]))
        for low, high in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
            yield slice(low, high), slice(ends[low], ends[high]), ends[low : high + 1] - ends[low]


class Forecaster(NamedTuple):
    """A name, where it is read first, and the number of its bearer."""

    name: str
    source: str
    number: int


class ForecastReader:
    """Reads forecasts of events, any number of sources, piece by piece; `finish` chooses those that
    count.

    `numbers` are the events by id, -1 for those that are excluded, -2 for those without an outcome.
    `clashes` has an error by source for a forecaster of it whom another source names, or whose name
    it spells in two ways: nothing says whose forecasts count.
    """

    def __init__(self, events: Events, numbers: Mapping[str, int], notes: Notes) -> None:
        self.events, self.numbers, self.notes = events, numbers, notes
        self.clashes: dict[str, InputError] = {}
        self._options = [part.tolist() for part in np.split(events.option, events.offsets[1:-1])]
        self._who: dict[str, Forecaster] = {}  # by name
        self._spelt: dict[str, Forecaster] = {}  # by what names look like
        self._records: list[tuple[object, ...]] = []  # event, forecaster, time, p, odds, bids
        self._pieces: list[list[object]] = []  # the columns of `Forecasts`

    def read(self, records: Iterable[object], place: Callable[[int], str], source: str) -> None:
        """Read one source; `place(n)` says where its n-th record stands."""
        for position, record in enumerate(records, 1):
            if not isinstance(record, Mapping):
                reason = record.problem if isinstance(record, BadRecord) else "no object"
                self.notes.exclude("forecast", reason, [place(position)])
                continue
            problem, name = parse_id(record.get("problem_id")), parse_id(record.get("username"))
            who = self._number(name, source) if problem else -1
            if who < 0:
                reason = "no id of an event or no name of a forecaster"
                self.notes.exclude("forecast", reason, [place(position)])
                continue
            label, event = f"{name} on {problem}", self.numbers.get(problem)
            if event == PENDING:
                self.notes.pending["forecast"] += 1
                continue
            p = self._find_probabilities(record, event)
            if reason := self._find_fault(record, p, event):
                self.notes.exclude("forecast", reason, [label])
                continue
            if record.get("weight") is not None:
                self.notes.warn("weight of a forecast, ignored: events have weights", [label])
            time = parse_time(record.get("timestamp"), "timestamp", label, self.notes)
            self._records.append((event, who, time, p, record.get("odds"), record.get("bids")))
            if len(self._records) == PIECE:
                self._flush()
        self._flush()

    def _number(self, name: str, source: str) -> int:
        """The number of a forecaster, -1 for a name that shows nothing; note clashes of names."""
        known = self._who.get(name)
        if not known:
            look = look_of(name).casefold()
            if not look:
                return -1
            known = self._who[name] = Forecaster(name, source, len(self._who))
            first = self._spelt.setdefault(look, known)
            if first is not known:
                got = " and ".join(printable(repr(text), 60) for text in (first.name, name))
                self._clash("one spelling of each forecaster's name", got, first.source, source)
        if known.source != source:
            for where, other in ((source, known.source), (known.source, source)):
                got = f"{printable(name, 60)}, who is also in {other}"
                self._clash("forecasters that are in no other file", got, where)
        return known.number

    def _clash(self, expected: str, got: str, *sources: str) -> None:
        for source in sources:
            self.clashes.setdefault(source, InputError(source, f"expected {expected}", got))

    def _find_probabilities(self, record: Mapping[str, object], event: int | None) -> object:
        """A list by option, as far as the record gives one."""
        p = record.get("prediction")
        p = record.get("probs") if p is None else p
        if isinstance(p, Mapping) and event is not None and event >= 0:
            names = self._options[event]
            return [p[name] for name in names] if p.keys() == set(names) else None
        return p.tolist() if isinstance(p, np.ndarray) else p

    def _find_fault(self, record: Mapping[str, object], p: object, event: int | None) -> str:
        """Why a record gives no forecast of the event (None: unknown); "" if it does."""
        if isinstance(record, Refusal):
            return record.reason
        if event is None:
            return "unknown problem id"
        if event < 0:
            return "of an event that is excluded"
        if _FIELDS.intersection(repeated_keys(record)):
            return "a field is given twice"
        if not isinstance(p, (list, tuple)) or len(p) != len(self._options[event]):
            return "expected a probability for every option"
        said, other = record.get("prediction"), record.get("probs")
        if said is not None and other is not None and as_text(other) != as_text(said):
            return "'prediction' and 'probs' disagree"
        return ""

    def _flush(self) -> None:
        """Turn the last records into columns; count what is no number of the right kind."""
        if not self._records:
            return
        event, forecaster, time, p_lists, odds, bids = zip(*self._records, strict=True)
        self._records = []
        names = list(self._who)

        def labels(where: Bools) -> list[str]:
            return [
                f"{names[forecaster[at]]} on {self.events.ids[event[at]]}"
                for at in np.flatnonzero(where)
            ]

        sizes = self.events.sizes[list(event)]
        p = parse_numbers(p_lists, int(sizes.sum()))
        good = np.logical_and.reduceat((p >= 0) & (p <= 1), np.cumsum(sizes) - sizes)
        self.notes.exclude("forecast", "probabilities must be numbers in [0, 1]", labels(~good))
        q, bid, bad = parse_prices(odds, bids, sizes)
        for text, where in bad.items():
            self.notes.warn(text, labels(where))
        columns = *map(np.array, (event, forecaster, time)), sizes, p, q, bid
        self._pieces.append(select_rows(columns, 3, np.flatnonzero(good)))

    def finish(self, late: str, repeats: str, min_events: int | None) -> Forecasts | None:
        """The forecasts that count, one per event and forecaster; None if there is none."""
        if not self._pieces:
            return None
        names = sorted(self._who)
        places = {name: place for place, name in enumerate(names)}
        by_name = np.array([places[name] for name in self._who])
        event, number, *columns = map(np.concatenate, zip(*self._pieces, strict=True))
        self._pieces.clear()  # as large as the columns
        data = Forecasts(names, event, by_name[number], *columns)
        order = np.lexsort((np.nan_to_num(data.time, nan=-math.inf), data.forecaster, event))
        order = order[self._judge_times(data, order, late, min_events)]
        if not len(order):
            return None
        data = self._choose(data, order, repeats)
        used, forecaster = np.unique(data.forecaster, return_inverse=True)
        return data._replace(names=[names[at] for at in used.tolist()], forecaster=forecaster)

    def _judge_times(
        self, data: Forecasts, order: Ints, late: str, min_events: int | None
    ) -> Bools:
        """Which forecasts count; those after closing, and without a time where times are the rule,
        are dropped or counted.
        """
        time, closed = data.time[order], self.events.closed[data.event[order]]
        after, untimed = time > closed, np.isnan(time) & ~np.isnan(closed)
        if untimed.any() and not self._without_time_is_late(data, min_events):
            untimed[:] = False
        dropped = {
            "after the event closed": after,
            "without a time where others have one, so late": untimed,
        }
        for reason, where in dropped.items():
            labels, count = data.labels(order[where], self.events.ids), int(where.sum())
            if late == "drop":
                self.notes.exclude("forecast", reason, labels, count)
            else:
                self.notes.warn(f"forecast {reason}, kept", labels, count)
        return ~(after | untimed) | (late == "keep")

    def _without_time_is_late(self, data: Forecasts, min_events: int | None) -> bool:
        """Whether half of the forecasts have a time, of forecasters with enough events for a rank.

        Of these: else accounts that are made to be thrown away decide. Several forecasts of an
        event by one forecaster count as one.
        """
        pairs, pair = np.unique(data.event * len(data.names) + data.forecaster, return_inverse=True)
        timed, who = np.bincount(pair, ~np.isnan(data.time)) > 0, pairs % len(data.names)
        able = np.bincount(who) >= least_events(min_events, len(np.unique(data.event)))
        share = float(timed[able[who]].mean() if able.any() else timed.mean())
        if timed.any():
            rule = "are late" if share >= 0.5 else "are not late"
            whose = "forecasts of forecasters with enough events for a rank"
            self.notes.lines.append(
                f"forecasts without a time {rule}: {share:.0%} of the {whose} have one"
            )
        return share >= 0.5

    def _choose(self, data: Forecasts, order: Ints, repeats: str) -> Forecasts:
        """For each event and forecaster the last forecast; of one time the one of larger numbers.

        `order` holds the forecasts that count by event, forecaster and time. With `repeats` "mean"
        the p of a forecast are the means of all.
        """
        event, who = data.event[order], data.forecaster[order]
        ends = np.flatnonzero(np.append(np.diff(event) | np.diff(who), 1)) + 1
        counts, chosen, starts = np.diff(ends, prepend=0), order[ends - 1], data.starts
        means: dict[int, list[float]] = {}  # by place in `chosen`
        for at in np.flatnonzero(counts > 1).tolist():
            group = order[ends[at] - counts[at] : ends[at]]
            label = data.labels(group[:1], self.events.ids)
            slots = starts[group, None] + np.arange(data.sizes[group[0]])
            last, same = _find_last(data, group, slots)
            chosen[at] = group[last]
            if repeats == "mean":
                means[at] = [math.fsum(p) / len(group) for p in data.p[slots].T.tolist()]
                text = "several forecasts of an event by one forecaster, their mean counts"
                self.notes.warn(text, label)
                continue
            earlier = "a later one of its forecaster counts"
            self.notes.exclude("forecast", earlier, label * (len(group) - same))
            self.notes.exclude("forecast", "one of the same time counts", label * (same - 1))
        data = data.select(chosen)
        p, starts = data.p.copy(), data.starts
        for at, mean in means.items():
            p[starts[at] : starts[at] + len(mean)] = mean
        return data._replace(p=p)


def _find_last(data: Forecasts, group: Ints, slots: Ints) -> tuple[int, int]:
    """The place of the last forecast in a group in order of time, and how many are of its time."""
    time = data.time[group]
    same = np.flatnonzero((time == time[-1]) | np.isnan(time[-1])).tolist()
    numbers = np.nan_to_num(np.hstack([data.p[slots], data.q[slots], data.bid[slots]])).tolist()
    return max(same, key=numbers.__getitem__), len(same)
