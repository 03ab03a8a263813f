"""Forecasts as columns of numbers: read piece by piece, so that ten million fit, and which of them
count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from forecasteval.common.errors import InputError, printable
from forecasteval.common.records import BadRecord, as_text, repeated_keys

from .arrays import Bools, Floats, Ints, Names, select_rows
from .events import Events
from .fields import (
    NAMES_KEPT,
    Notes,
    Refusal,
    read_id,
    read_numbers,
    read_prices,
    read_time,
    read_weight,
)

PIECE: Final = 1 << 14  # records that are lists of Python floats at a time
CHUNK: Final = 1 << 20  # probabilities handled at a time, so that temporary arrays stay small
UNTIMED: Final = "without a time where others have one, so late"
_FIELDS: Final = frozenset(
    {"problem_id", "username", "timestamp", "prediction", "probs", "odds", "bids", "weight"}
)


class Forecasts(NamedTuple):
    """Forecasts by event, then forecaster; the options of one follow those of another in p, q and
    mid.

    q and mid, the asking and middle price, are clipped, and nan where there is none. As they are
    read they and the weight are what the forecaster gives; `settle` makes them those of the event.
    """

    names: list[str]
    event: Ints
    forecaster: Ints
    time: Floats
    weight: Floats
    sizes: Ints
    p: Floats
    q: Floats
    mid: Floats

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


class ForecastReader:
    """Reads forecasts of events, any number of sources, piece by piece; `finish` chooses those that
    count.

    `numbers` are the events by id, -1 for those that are excluded. `clashes` has an error by source
    for a forecaster of it whom another source names, too: nothing says whose forecasts count.
    """

    def __init__(self, events: Events, numbers: Mapping[str, int], notes: Notes) -> None:
        self.events, self.numbers, self.notes = events, numbers, notes
        self.clashes: dict[str, InputError] = {}
        self._sizes = events.sizes.tolist()
        self._who: dict[str, tuple[int, str]] = {}  # the number and the source of each forecaster
        self._records: list[
            tuple[Any, ...]
        ] = []  # event, forecaster, time, weight, p, odds, bids since the last piece
        self._pieces: list[list[Any]] = []  # the columns of `Forecasts`

    def read(self, records: Iterable[Any], place: Callable[[int], str], source: str = "") -> None:
        """Read one source, named if there are several; `place(n)` says where its n-th record
        stands.
        """
        prefix = f"{source} " if source else ""
        for position, record in enumerate(records, 1):
            if not isinstance(record, Mapping):
                reason = record.problem if isinstance(record, BadRecord) else "no object"
                self.notes.exclude("forecast", reason, [prefix + place(position)])
                continue
            problem, name = read_id(record.get("problem_id")), read_id(record.get("username"))
            if not name or not problem:
                reason = "no id of an event or no name of a forecaster"
                self.notes.exclude("forecast", reason, [prefix + place(position)])
                continue
            label, event, who = (
                f"{name} on {problem}",
                self.numbers.get(problem),
                self._number(name, source),
            )
            p = _probabilities(record)
            reason = self._fault(record, p, event)
            if reason:
                self.notes.exclude("forecast", reason, [label])
                continue
            time = read_time(record.get("timestamp"), "timestamp", label, self.notes)
            weight = read_weight(record.get("weight"))
            self._records.append(
                (event, who, time, weight, p, record.get("odds"), record.get("bids"))
            )
            if len(self._records) == PIECE:
                self._flush()
        self._flush()

    def _number(self, name: str, source: str) -> int:
        number, first = self._who.setdefault(name, (len(self._who), source))
        if first != source:
            for where, other in ((source, first), (first, source)):
                got = f"{printable(name, 60)}, who is also in {other}"
                error = InputError(where, "expected forecasters that are in no other file", got)
                self.clashes.setdefault(where, error)
        return number

    def _fault(self, record: Mapping[str, Any], p: Any, event: int | None) -> str:
        """Why a record gives no forecast of the event (None: unknown, -1: excluded); "" if it
        does.
        """
        if isinstance(record, Refusal):
            return record.reason
        if event is None:
            return "unknown problem id"
        if event < 0:
            return "of an event that is excluded"
        if _FIELDS.intersection(repeated_keys(record)):
            return "a field is given twice"
        if not isinstance(p, (list, tuple)) or len(p) != self._sizes[event]:
            return "expected a probability for every option"
        other = record.get("probs")
        if (
            other is not None
            and record.get("prediction") is not None
            and as_text(other) != as_text(p)
        ):
            return "'prediction' and 'probs' disagree"
        return ""

    def _flush(self) -> None:
        """Turn the last records into columns; count what is no number of the right kind."""
        if not self._records:
            return
        event, forecaster, time, weight, p_lists, odds, bids = zip(*self._records, strict=True)
        self._records = []
        names = list(self._who)

        def labels(where: Bools) -> list[str]:
            return [
                f"{names[forecaster[at]]} on {self.events.ids[event[at]]}"
                for at in np.flatnonzero(where)
            ]

        sizes = self.events.sizes[list(event)]
        p = read_numbers(p_lists, int(sizes.sum()))
        good = np.logical_and.reduceat((p >= 0) & (p <= 1), np.cumsum(sizes) - sizes)
        self.notes.exclude("forecast", "probabilities must be numbers in [0, 1]", labels(~good))
        q, mid, bad = read_prices(odds, bids, sizes)
        for text, where in bad.items():
            self.notes.warn(text, labels(where))
        columns = *map(np.array, (event, forecaster, time, weight)), sizes, p, q, mid
        self._pieces.append(select_rows(columns, 3, np.flatnonzero(good)))

    def finish(self, late: str, repeats: str) -> Forecasts | None:
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
        order = self._judge_times(data, order, late)
        if not len(order):
            return None
        data = data.select(self._choose(data, order, repeats))
        used, forecaster = np.unique(data.forecaster, return_inverse=True)
        return data._replace(names=[names[at] for at in used.tolist()], forecaster=forecaster)

    def _judge_times(self, data: Forecasts, order: Ints, late: str) -> Ints:
        """Drop or count forecasts after closing, and those without a time where half of the
        forecasters give one.

        Half: else one forecaster who gives times would make all others late.
        """
        time, closed = data.time[order], self.events.closed[data.event[order]]
        who = data.forecaster[order]
        timed = len(np.unique(who[~np.isnan(time)]))
        usual = timed > 0 and 2 * timed >= len(np.unique(who))
        after, untimed = time > closed, np.isnan(time) & ~np.isnan(closed) & usual
        for where, dropped, kept in (
            (after, "after the event closed", "after its event closed"),
            (untimed, UNTIMED, UNTIMED),
        ):
            labels, count = data.labels(order[where], self.events.ids), int(where.sum())
            if late == "drop":
                self.notes.exclude("forecast", dropped, labels, count)
            else:
                self.notes.warn(f"forecast {kept}, kept", labels, count)
        return order[~(after | untimed)] if late == "drop" else order

    def _choose(self, data: Forecasts, order: Ints, repeats: str) -> Ints:
        """The forecast that stands for each event and forecaster: the last; of one time the one of
        larger numbers.

        `order` holds the forecasts that count by event, forecaster and time. With `repeats` "mean"
        the p of the forecast that is chosen become the means of all.
        """
        ends = (
            np.flatnonzero(
                np.append(np.diff(data.event[order]) | np.diff(data.forecaster[order]), 1)
            )
            + 1
        )
        counts, chosen, starts = np.diff(ends, prepend=0), order[ends - 1], data.starts
        for at in np.flatnonzero(counts > 1).tolist():
            group = order[ends[at] - counts[at] : ends[at]]
            slots = starts[group, None] + np.arange(data.sizes[group[0]])
            same = np.flatnonzero(
                (data.time[group] == data.time[group[-1]]) | np.isnan(data.time[group[-1]])
            )
            if len(same) > 1:
                columns = [
                    data.weight[group, None],
                    *(column[slots] for column in (data.p, data.q, data.mid)),
                ]
                keys = np.nan_to_num(np.hstack(columns)).tolist()
                chosen[at] = group[max(same.tolist(), key=keys.__getitem__)]
            label = data.labels(group[:1], self.events.ids)
            if repeats == "mean":
                mean = [math.fsum(p) / len(group) for p in data.p[slots].T.tolist()]
                data.p[slots[group == chosen[at]][0]] = mean
                self.notes.warn(
                    "several forecasts of an event by one forecaster, their mean counts", label
                )
                continue
            self.notes.exclude(
                "forecast", "a later one of its forecaster counts", label * (len(group) - len(same))
            )
            self.notes.exclude("forecast", "one of the same time counts", label * (len(same) - 1))
        return chosen


def _probabilities(record: Mapping[str, Any]) -> Any:
    p = record.get("prediction")
    p = record.get("probs") if p is None else p
    return p.tolist() if isinstance(p, np.ndarray) else p
