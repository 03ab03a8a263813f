"""Every score of every forecast, in chunks; the market and the crowd as forecasters beside the
others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from .arrays import ROUNDING, Bools, Floats, Ints
from .events import Events
from .forecasts import BASELINES as BASELINES
from .forecasts import Forecasts
from .metrics import Metric
from .scores import BINS, PRICE_RANGE, SUMS, bin_sums, winner_values

SUM_TOLERANCE: Final = 1e-3
PLAUSIBLE_SUM: Final = (0.8, 1.25)  # of the probabilities of an exclusive event


class Scored(NamedTuple):
    """Forecasts with every score of each: by metric, nan where one does not apply.

    p_winner: the winner's normalised probability in an exclusive event; correct: 1 if it is the
    largest of all, 0 if not or not alone.
    """

    metrics: Sequence[Metric]
    events: Events
    forecasts: Forecasts
    values: dict[str, Floats]
    p_winner: Floats
    correct: Floats

    @property
    def weight(self) -> Floats:
        """That of each forecast's event."""
        return self.events.weight[self.forecasts.event]

    def part(self, low: int, high: int, names: list[str]) -> Scored:
        """The forecasts from `low` to `high`, sharing the memory of all."""
        data, rows = self.forecasts, slice(low, high)
        first, last = data.offsets[[low, high]].tolist()
        columns: list[Any] = [column[rows] for column in data[1:5]]
        columns += [column[first:last] for column in data[5:]]
        values = {name: column[rows] for name, column in self.values.items()}
        others: list[Any] = [column[rows] for column in self[4:]]
        return Scored(self.metrics, self.events, Forecasts(names, *columns), values, *others)

    def split(self) -> list[Scored]:
        """The forecasts of the forecasters, of the market and of the crowd, each by event."""
        forecaster, names = self.forecasts.forecaster, self.forecasts.names
        last = len(names) - len(BASELINES)
        ends = np.searchsorted(np.maximum(forecaster, last - 1), range(last - 1, last + 3)).tolist()
        return [self.part(low, high, names[:last]) for low, high in pairwise(ends)]

    def of_event(self, event: int) -> Scored:
        """The forecasts of an event, where they are sorted by event."""
        low, high = np.searchsorted(self.forecasts.event, [event, event + 1]).tolist()
        return self.part(low, high, self.forecasts.names)

    def less(self, metric: str, base: str) -> Floats:
        """The values of a metric, less those of the market or the crowd on the same events if
        `base` names one.
        """
        if not base:
            return self.values[metric]
        part = self.split()[1 + BASELINES.index(base)]
        column: Floats = np.full(len(self.events.ids), math.nan)
        column[part.forecasts.event] = part.values[metric]
        return self.values[metric] - column[self.forecasts.event]


def score_forecasts(events: Events, forecasts: Forecasts, metrics: Sequence[Metric]) -> Scored:
    """Every score of every forecast."""
    count = len(forecasts.event)
    values = {metric.name: np.full(count, math.nan) for metric in metrics if metric.formula}
    scored = Scored(metrics, events, forecasts, values, *np.full((2, count), math.nan))
    for at, options, ends in forecasts.chunks():
        _score_chunk(scored, at, options, ends)
    return scored


def _score_chunk(scored: Scored, at: slice, options: slice, ends: Ints) -> None:
    events, forecasts = scored.events, scored.forecasts
    event, sizes = forecasts.event[at], forecasts.sizes[at]
    p, q, bid = (column[options] for column in forecasts[5:])
    outcome, exclusive = events.outcome[events.slots(event)], events.exclusive[event]
    whole = normalise(p, ends)
    everything = np.ones_like(exclusive)
    scopes = {
        "all": (everything, p),
        "exclusive": (exclusive, whole),
        "priced": (exclusive & ~np.isnan(q[ends[:-1]]), whole),
    }
    views = {}
    for scope, (chosen, probabilities) in scopes.items():
        inside = np.repeat(chosen, sizes)
        columns = [column[inside] for column in (probabilities, q, bid, outcome)]
        views[scope] = chosen, [*columns, np.append(0, np.cumsum(sizes[chosen]))]
    for metric in scored.metrics:
        if metric.formula:
            where, arguments = views[metric.scope]
            scored.values[metric.name][at][where] = metric.formula(*arguments)
    where, (p, _, _, outcome, ends) = views["exclusive"]
    scored.p_winner[at][where] = winner = winner_values("score_forecasts", p, outcome, ends[:-1])
    rivals = np.maximum.reduceat(np.where(outcome == 1, -1.0, p), ends[:-1])
    scored.correct[at][where] = winner > rivals + ROUNDING


def normalise(p: Floats, ends: Ints) -> Floats:
    """Probabilities with the sum 1, unless they are nearly so.

    Probabilities that are all 0 become uniform: left out, they would win.
    """
    sizes, total = np.diff(ends), np.add.reduceat(p, ends[:-1])
    off = np.abs(total - 1) > SUM_TOLERANCE + ROUNDING
    divisor = np.where(total == 0, sizes, np.where(off, total, 1))
    return np.asarray(np.where(np.repeat(total == 0, sizes), 1, p) / np.repeat(divisor, sizes))


def odd_sums(events: Events, forecasts: Forecasts) -> tuple[Bools, Bools, Bools]:
    """Of which exclusive events' forecasts the probabilities do not sum to 1, to nothing near 1,
    and to 0.
    """
    total = np.add.reduceat(forecasts.p, forecasts.starts)
    exclusive, (low, high) = events.exclusive[forecasts.event], PLAUSIBLE_SUM
    off = (np.abs(total - 1) > SUM_TOLERANCE + ROUNDING) & (total > 0)
    doubtful = (total < low - ROUNDING) | (total > high + ROUNDING)
    return exclusive & off, exclusive & doubtful, exclusive & (total == 0)


def sum_bins(scored: Scored, group: Ints, groups: int) -> Floats:
    """`bin_sums` of all option probabilities, by the groups of the forecasts."""
    events, forecasts = scored.events, scored.forecasts
    bins = np.zeros((SUMS, groups, BINS))
    for at, options, _ in forecasts.chunks():
        sizes = forecasts.sizes[at]
        weight, cell = np.repeat(scored.weight[at], sizes), np.repeat(group[at], sizes)
        outcome = events.outcome[events.slots(forecasts.event[at])]
        bins += bin_sums(forecasts.p[options], outcome, weight, cell, groups, BINS)
    return bins


def with_baselines(events: Events, data: Forecasts) -> Forecasts:
    """The forecasts, then the market and the crowd, one forecast per event, both paid at its mean
    prices.

    market: the mean middle price, normalised for exclusive events (separate markets need not sum to
    1) and cut to 1 for the others; events with prices only. crowd: the mean of the event's
    forecasts.
    """
    size, last = len(events.ids), len(data.names)
    total, count = np.zeros((2, 4, len(events.outcome)))
    for at, options, _ in data.chunks():
        slot = events.slots(data.event[at])
        p, q, bid = (column[options] for column in data[5:])
        mid = np.clip((q + np.where(np.isnan(bid), q, bid)) / 2, *PRICE_RANGE)
        for row, column in enumerate((p, q, bid, mid)):
            total[row] += np.bincount(slot, np.nan_to_num(column), total.shape[1])
            count[row] += np.bincount(slot, ~np.isnan(column), total.shape[1])
    with np.errstate(invalid="ignore"):
        crowd, q, bid, mid = total / count  # nan without a price
    scale = np.where(events.exclusive, np.add.reduceat(mid, events.offsets[:-1]), 1)
    names, number = [*data.names, *BASELINES], np.full(size, last)
    sizes, unknown = events.sizes, np.full(size, math.nan)
    everywhere = Forecasts(
        names, np.arange(size), number + 1, unknown, sizes, np.minimum(crowd, 1), q, bid
    )
    market = everywhere._replace(forecaster=number, p=np.minimum(mid / np.repeat(scale, sizes), 1))
    parts = data, market.select(np.flatnonzero(everywhere.priced)), everywhere
    columns: Iterator[Any] = map(np.concatenate, zip(*(part[1:] for part in parts), strict=True))
    return Forecasts(names, *columns)
