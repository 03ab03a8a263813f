"""Every score of every forecast, in chunks; the market and the crowd beside the forecasters, as rows of one table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from .arrays import ROUNDING, Bools, Floats, Ints, segment_sums, select
from .events import Events
from .forecasts import Forecasts
from .metrics import Metric
from .scores import BINS, SUMS, bin_sums, winner_values

SUM_TOLERANCE: Final = 1e-3
PLAUSIBLE_SUM: Final = (0.8, 1.25)  # of the probabilities of an exclusive event


class Scores(NamedTuple):
    """Per forecast: scores by metric (nan where one does not apply), and what the exclusive events give.

    p_winner: the winner's normalised probability; correct: 1 if it is the largest of all, 0 if not or not alone.
    normalised, doubtful, empty: sums of probabilities that are odd. bins: `bin_sums` per cell. slots: per option of the
    events the sums of q and mid of priced forecasts, and of p of all.
    """

    values: dict[str, Floats]
    p_winner: Floats
    correct: Floats
    normalised: Bools
    doubtful: Bools
    empty: Bools
    bins: Floats
    slots: Floats


def score_forecasts(events: Events, data: Forecasts, metrics: Sequence[Metric], cell: Ints, cells: int) -> Scores:
    """Every score of every forecast; calibration sums by `cell`, a number below `cells` per forecast."""
    means = [metric for metric in metrics if metric.formula]
    count = len(data.event)
    values = {metric.name: np.full(count, math.nan) for metric in means}
    p_winner, correct = np.full((2, count), math.nan)
    normalised, doubtful, empty = np.zeros((3, count), dtype=bool)
    bins, slots = np.zeros((SUMS, cells, BINS)), np.zeros((3, len(events.outcome)))
    scores = Scores(values, p_winner, correct, normalised, doubtful, empty, bins, slots)
    for at, options, ends in data.chunks():
        _score_chunk(events, data, means, at, options, ends, scores)
        weight = np.repeat(data.weight[at], data.sizes[at])
        outcome = events.outcome[events.slots(data.event[at])]
        scores.bins[:] += bin_sums(data.p[options], outcome, weight, np.repeat(cell[at], data.sizes[at]), cells, BINS)
    return scores


def _score_chunk(
    events: Events, data: Forecasts, means: Sequence[Metric], at: slice, options: slice, ends: Ints, scores: Scores
) -> None:
    sizes, exclusive = data.sizes[at], events.exclusive[data.event[at]]
    slot = events.slots(data.event[at])
    p, q, outcome = data.p[options], data.q[options], events.outcome[slot]
    for total, column in zip(scores.slots, (q, data.mid[options], p), strict=True):
        total += np.bincount(slot, np.nan_to_num(column), len(total))
    whole = _normalise(p, ends, exclusive, at, scores)
    priced = exclusive & data.priced[at]
    views = {
        "all": (np.ones_like(exclusive), (p, q, outcome, ends)),
        "exclusive": (exclusive, select(exclusive, sizes, whole, q, outcome)),
        "priced": (priced, select(priced, sizes, whole, q, outcome)),
    }
    for metric in means:
        where, arguments = views[metric.scope]
        assert metric.formula
        scores.values[metric.name][at][where] = metric.formula(*arguments)
    where, (p, _, outcome, ends) = views["exclusive"]
    if where.any():
        winner = winner_values("score_forecasts", p, outcome, ends[:-1])
        rivals = np.maximum.reduceat(np.where(outcome == 1, -1.0, p), ends[:-1])
        scores.p_winner[at][where], scores.correct[at][where] = winner, winner > rivals + ROUNDING


def _normalise(p: Floats, ends: Ints, exclusive: Bools, at: slice, scores: Scores) -> Floats:
    """The probabilities of exclusive events with the sum 1; sums that are odd are noted in `scores`.

    Probabilities that are all 0 become uniform: left out, they would win.
    """
    sizes, total = np.diff(ends), segment_sums(p, ends[:-1])
    off = exclusive & (np.abs(total - 1) > SUM_TOLERANCE + ROUNDING)
    empty = exclusive & (total == 0)
    low, high = PLAUSIBLE_SUM[0] - ROUNDING, PLAUSIBLE_SUM[1] + ROUNDING
    scores.empty[at], scores.normalised[at] = empty, off & ~empty
    scores.doubtful[at] = exclusive & ((total < low) | (total > high))
    divisor = np.where(empty, sizes, np.where(off, total, 1))
    return np.asarray(np.where(np.repeat(empty, sizes), 1, p) / np.repeat(divisor, sizes))


# --- Market and crowd ---


def baselines(events: Events, data: Forecasts, slots: Floats) -> tuple[Forecasts, Forecasts]:
    """The market and the crowd as forecasters, one forecast per event, both paid at the event's mean asking price.

    market: the mean middle price, normalised for exclusive events (separate markets need not sum to 1) and cut to 1
    for the others; events with prices only. crowd: the mean of the event's forecasts. `slots` as in `Scores`.
    """
    sizes, size = events.sizes, len(events.ids)
    count = np.bincount(data.event, minlength=size)
    paid = np.bincount(data.event[data.priced], minlength=size)
    priced = paid > 0
    q, mid, crowd = slots / np.repeat([np.maximum(paid, 1), np.maximum(paid, 1), count], sizes, axis=1)
    scale = np.where(events.exclusive & priced, np.add.reduceat(mid, events.offsets[:-1]), 1)
    market = np.minimum(mid / np.repeat(scale, sizes), 1)
    weight = np.zeros(size)
    weight[data.event] = data.weight
    crowd = np.minimum(crowd, 1)
    q, mid = (np.where(np.repeat(priced, sizes), price, math.nan) for price in (q, mid))
    nobody, unknown = np.zeros(size, dtype=np.int64), np.full(size, math.nan)
    everywhere = Forecasts(["crowd"], np.arange(size), nobody, unknown, weight, sizes, crowd, q, mid)
    return everywhere._replace(names=["market"], p=market).select(np.flatnonzero(priced)), everywhere


class Rows(NamedTuple):
    """Forecasts and calibration sums by row: a row per forecaster, then the market, then the crowd.

    `base`: the values of these two by event, nan where there is none; `parts`: the forecasts of all.
    """

    forecasters: int
    event: Ints
    row: Ints
    weight: Floats
    values: dict[str, Floats]
    bins: Floats
    base: dict[str, dict[str, Floats]]
    parts: tuple[Forecasts, ...]

    def less(self, metric: str, base: str) -> Floats:
        """The values of a metric less those of the market or the crowd on the same events."""
        return self.values[metric] - self.base[base][metric][self.event]


def stack_rows(
    events: Events, data: Forecasts, scores: Scores, forecaster_of_cell: Ints, metrics: Sequence[Metric]
) -> Rows:
    """The scored forecasts and those of the baselines below each other; `forecaster_of_cell` adds up the bins."""
    count = len(data.names)
    two = baselines(events, data, scores.slots)
    extra = [score_forecasts(events, part, metrics, np.zeros(len(part.event), dtype=np.int64), 1) for part in two]
    bins = np.zeros((len(scores.bins), count, BINS))
    for total, part in zip(bins, scores.bins, strict=True):
        np.add.at(total, forecaster_of_cell, part)
    base: dict[str, dict[str, Floats]] = {}
    for baseline, scored in zip(two, extra, strict=True):
        columns = {name: np.full(len(events.ids), math.nan) for name in scored.values}
        for name, column in columns.items():
            column[baseline.event] = scored.values[name]
        base[baseline.names[0]] = columns
    parts = (data, *two)
    return Rows(
        count,
        np.concatenate([part.event for part in parts]),
        np.concatenate([data.forecaster, *(part.forecaster + count + at for at, part in enumerate(two))]),
        np.concatenate([part.weight for part in parts]),
        {name: np.concatenate([part.values[name] for part in (scores, *extra)]) for name in scores.values},
        np.concatenate([bins, *(part.bins for part in extra)], axis=1),
        base,
        parts,
    )
