"""Forecasts as arrays: fields, probabilities and prices are checked, of several for one event one is chosen."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np

from forecasteval.common.records import BadRecord, as_text, repeated_keys

from .arrays import Bools, Floats, Ints
from .events import Events
from .fields import read_id, read_number, read_time
from .notes import Notes, Refusal
from .scores import PRICE_RANGE

CHUNK: Final = 1 << 20  # probabilities handled at a time, so that temporary arrays stay small


class Forecasts(NamedTuple):
    """Forecasts sorted by event, then forecaster; forecast i stands at offsets[i]:offsets[i + 1] of p, q and mid.

    q and mid (asking and middle price) are nan unless `priced`.
    """

    names: list[str]
    event: Ints
    forecaster: Ints
    time: Floats
    weight: Floats
    priced: Bools
    offsets: Ints
    p: Floats
    q: Floats
    mid: Floats

    def labels(self, where: Bools, ids: Sequence[str]) -> list[str]:
        """Names of the forecasts at `where`, for notes; `ids` are those of the events."""
        pairs = zip(self.forecaster[where].tolist(), self.event[where].tolist(), strict=True)
        return [f"{self.names[who]} on {ids[event]}" for who, event in pairs]

    def chunks(self) -> Iterator[tuple[slice, slice, Ints]]:
        """About `CHUNK` probabilities at a time: the forecasts, their probabilities, their offsets among these."""
        size = int(self.offsets[-1])
        cuts = np.unique(np.searchsorted(self.offsets, [*range(0, size, CHUNK), size]))
        for low, high in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
            ends = self.offsets[low : high + 1]
            yield slice(low, high), slice(int(ends[0]), int(ends[-1])), ends - ends[0]


# --- Records ---

_FIELDS: Final = frozenset({"problem_id", "username", "timestamp", "prediction", "probs", "odds", "bids", "weight"})


class _Rows:
    """Forecasts as they are read, a list per field."""

    def __init__(self) -> None:
        self.event: list[int] = []
        self.name: list[str] = []
        self.time: list[float] = []
        self.weight: list[float] = []
        self.p: list[Sequence[Any]] = []
        self.q: list[Any] = []
        self.bids: list[Any] = []

    def label(self, ids: Sequence[str], at: int) -> str:
        return f"{self.name[at]} on {ids[self.event[at]]}"


def _read_rows(forecasts: Iterable[Any], numbers: Mapping[str, int], sizes: Sequence[int], notes: Notes) -> _Rows:
    """The forecasts whose fields have the right form; the values of p, q and bids are still unchecked."""
    rows = _Rows()
    for position, record in enumerate(forecasts, 1):
        refused = isinstance(record, Refusal)
        if not refused and not isinstance(record, Mapping):
            reason = record.problem if isinstance(record, BadRecord) else "no object"
            notes.exclude("forecast", reason, f"forecast {position}")
            continue
        problem = record.problem_id if refused else read_id(record.get("problem_id"))
        name = record.username if refused else read_id(record.get("username"))
        if not name or not problem:
            notes.exclude("forecast", "no 'problem_id' or no 'username'", f"forecast {position}")
            continue
        label = f"{name} on {problem}"
        number = numbers.get(problem)
        p = None if refused else _probabilities(record)
        reason = record.reason if refused else _fault(record, p, number, sizes)
        if reason or number is None or p is None:
            notes.exclude("forecast", reason, label)
            continue
        weight = record.get("weight")
        rows.event.append(number)
        rows.name.append(name)
        rows.time.append(read_time(record.get("timestamp"), "timestamp", label, notes))
        rows.weight.append(1.0 if weight is None else read_number(weight))
        rows.p.append(p)
        rows.q.append(record.get("odds"))
        rows.bids.append(record.get("bids"))
    return rows


def _probabilities(record: Mapping[str, Any]) -> Any:
    p = record.get("prediction")
    p = record.get("probs") if p is None else p
    return p.tolist() if isinstance(p, np.ndarray) else p


def _fault(record: Mapping[str, Any], p: Any, number: int | None, sizes: Sequence[int]) -> str:
    """Why a record gives no forecast of the event `number` (None: unknown, -1: excluded); "" if it does."""
    if number is None:
        return "unknown problem id"
    if number < 0:
        return "of an event that is excluded"
    if _FIELDS.intersection(repeated_keys(record)):
        return "a field is given twice"
    if not isinstance(p, (list, tuple)) or len(p) != sizes[number]:
        return "expected a probability for every option"
    other = record.get("probs")
    if record.get("prediction") is not None and other is not None and as_text(other) != as_text(p):
        return "'prediction' and 'probs' disagree"
    weight = record.get("weight")
    if weight is not None and not 1e-100 < read_number(weight) < 1e100:  # sums of others overflow
        return "'weight' must be a positive number"
    return ""


# --- Values ---


def _numbers(lists: Sequence[Sequence[Any]], size: int) -> Floats:
    """All values of the lists in a row; nan for what is no number."""
    if set(map(type, chain.from_iterable(lists))) <= {float, int}:
        with contextlib.suppress(OverflowError):  # an integer of a thousand digits
            return np.fromiter(chain.from_iterable(lists), float, size)
    return np.fromiter(map(read_number, chain.from_iterable(lists)), float, size)


def _prices(lists: list[Any], sizes: Ints, lowest: float) -> tuple[Floats, Bools]:
    """Prices in a row, and which lists give one in [lowest, 1] for every option; the others are nan."""
    blank = {size: [math.nan] * size for size in set(sizes.tolist())}
    rows = [
        row if isinstance(row, (list, tuple)) and len(row) == size else blank[size]
        for row, size in zip(lists, sizes.tolist(), strict=True)
    ]
    values = _numbers(rows, int(sizes.sum()))
    starts = np.cumsum(sizes) - sizes
    good = np.logical_and.reduceat((values >= lowest) & (values <= 1), starts)
    values[~np.repeat(good, sizes)] = math.nan
    return values, good


def _read_prices(rows: _Rows, sizes: Ints, ids: Sequence[str], notes: Notes) -> tuple[Floats, Floats, Bools]:
    """Asking and middle prices, clipped (one array where there are no bids), and who has them."""
    q, priced = _prices(rows.q, sizes, np.nextafter(0, 1))
    for at in np.flatnonzero(~priced).tolist():
        if rows.q[at] is not None:
            notes.warn("odds are not a number in (0, 1] for every option: no return", rows.label(ids, at))
    rows.q.clear()
    if all(bids is None for bids in rows.bids):
        np.clip(q, *PRICE_RANGE, out=q)
        return q, q, priced
    bids, bidden = _prices(rows.bids, sizes, 0.0)
    starts = np.cumsum(sizes) - sizes
    with np.errstate(invalid="ignore"):
        bidden &= np.logical_and.reduceat((bids <= q) | ~np.repeat(priced, sizes), starts)
    for at in np.flatnonzero(~bidden).tolist():
        if rows.bids[at] is not None:
            text = "bids are not a number in [0, odds] for every option: the mid price is the odds"
            notes.warn(text, rows.label(ids, at))
    mid = np.where(np.repeat(bidden & priced, sizes), (q + bids) / 2, q)  # of prices that are not yet clipped
    return np.clip(q, *PRICE_RANGE, out=q), np.clip(mid, *PRICE_RANGE, out=mid), priced


# --- One forecast per event and forecaster ---


class _Values(NamedTuple):
    """What `_Rows` hold, as arrays: row i has the positions starts[i]:starts[i] + sizes[i] of p, q and mid."""

    event: Ints
    time: Floats
    weight: Floats
    sizes: Ints
    starts: Ints
    priced: Bools
    p: Floats
    q: Floats
    mid: Floats


def read_forecasts(
    forecasts: Iterable[Any], events: Events, numbers: Mapping[str, int], repeats: str, late: str, notes: Notes
) -> Forecasts | None:
    """The forecasts that count, as arrays; None if there is none. See `ProphetArenaEvaluator` for `repeats`, `late`."""
    rows = _read_rows(forecasts, numbers, events.sizes.tolist(), notes)
    if not rows.event:
        return None
    event, time, weight = np.array(rows.event), np.array(rows.time), np.array(rows.weight)
    sizes = events.sizes[event]
    starts = np.cumsum(sizes) - sizes
    p = _numbers(rows.p, int(sizes.sum()))
    rows.p.clear()  # millions of Python floats
    keep = np.logical_and.reduceat((p >= 0) & (p <= 1), starts)
    for at in np.flatnonzero(~keep).tolist():
        notes.exclude("forecast", "probabilities must be numbers in [0, 1]", rows.label(events.ids, at))
    q, mid, priced = _read_prices(rows, sizes, events.ids, notes)
    if late == "drop":
        for at in np.flatnonzero(keep & (time > events.closed[event])).tolist():
            keep[at] = False
            notes.exclude("forecast", "after the event closed", rows.label(events.ids, at))
    names = sorted({rows.name[at] for at in np.flatnonzero(keep).tolist()})
    if not names:
        return None
    index = {name: number for number, name in enumerate(names)}
    who = np.fromiter((index.get(name, -1) for name in rows.name), np.int64, len(rows.name))
    order = np.lexsort((who, event))
    values = _Values(event, time, weight, sizes, starts, priced, p, q, mid)
    chosen = _choose(values, who, order[keep[order]], repeats, lambda at: rows.label(events.ids, at), notes)
    return _gather(values, names, who, chosen)


def _choose(values: _Values, who: Ints, order: Ints, repeats: str, label: Callable[[int], str], notes: Notes) -> Ints:
    """One row for each event and forecaster; `order` holds the usable rows, sorted by these."""
    event = values.event[order]
    same = (event[1:] == event[:-1]) & (who[order][1:] == who[order][:-1])
    first = np.flatnonzero(np.append(True, ~same))
    chosen = order[first]
    counts = np.diff(np.append(first, len(order)))
    for at in np.flatnonzero(counts > 1).tolist():
        group = latest = order[first[at] : first[at] + counts[at]]
        if repeats == "last":  # an unknown time comes before any other
            known = np.nan_to_num(values.time[group], nan=-math.inf)
            latest = group[known == known.max()]
        chosen[at] = latest[0] if len(latest) == 1 else _average(latest, values)
        name = label(int(group[0]))
        notes.exclude("forecast", "a later one of its forecaster counts", *[name] * (len(group) - len(latest)))
        notes.exclude("forecast", "averaged with another of its forecaster", *[name] * (len(latest) - 1))
    return chosen


def _average(group: Ints, values: _Values) -> int:
    """Put the mean of some forecasts for an event (p, and the prices that there are) in the place of one of them.

    They are added in an order of their own, since sums of floats depend on it.
    """
    weight, priced, columns = values.weight, values.priced, (values.p, values.q, values.mid)
    rows = {int(at): np.s_[int(values.starts[at]) : int(values.starts[at] + values.sizes[at])] for at in group}
    order = sorted(
        rows, key=lambda at: [weight[at], *(x for column in columns for x in np.nan_to_num(column[rows[at]]).tolist())]
    )
    paid = [at for at in order if priced[at]]
    means = [
        np.mean([column[rows[at]] for at in used], axis=0) if used else math.nan
        for column, used in zip(columns, (order, paid, paid), strict=True)
    ]
    weight[order[0]] = np.mean(weight[order])
    priced[order[0]] = bool(paid)
    for column, mean in zip(columns, means, strict=True):
        column[rows[order[0]]] = mean
    return order[0]


def _gather(values: _Values, names: list[str], who: Ints, chosen: Ints) -> Forecasts:
    """The chosen rows, in this order."""
    event, p, q, mid = values.event, values.p, values.q, values.mid
    offsets = np.append(0, np.cumsum(values.sizes[chosen]))
    if len(chosen) < len(event) or (chosen[1:] != chosen[:-1] + 1).any():
        positions = np.repeat(values.starts[chosen] - offsets[:-1], values.sizes[chosen]) + np.arange(offsets[-1])
        bids = mid is not q  # else one array serves for both
        p, q = p[positions], q[positions]
        mid = mid[positions] if bids else q
    return Forecasts(
        names, event[chosen], who[chosen], values.time[chosen], values.weight[chosen], values.priced[chosen],
        offsets, p, q, mid,
    )  # fmt: skip
