"""Every score of every forecast, in chunks; the market and the crowd beside the forecasters, as rows of one table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from .arrays import ROUNDING, Bools, Floats, Ints, segment_sums, select
from .events import Events
from .forecasts import Forecasts
from .scores import average_return, bin_sums, brier_score, log_score, spherical_score, winner_values

SUM_TOLERANCE: Final = 1e-3
PLAUSIBLE_SUM: Final = (0.8, 1.25)  # of the probabilities of an exclusive event


class Scores(NamedTuple):
    """Per forecast: metrics (nan where one does not apply), the winner's normalised probability, what was odd."""

    values: dict[str, Floats]
    p_winner: Floats
    normalised: Bools
    doubtful: Bools
    empty: Bools
    bins: Floats  # `bin_sums` per cell


def return_name(gamma: float) -> str:
    """The name of a return: return_0.5."""
    return f"return_{gamma:.12g}"


def mean_metrics(gammas: Sequence[float]) -> tuple[str, ...]:
    """The metrics that are means of scores of forecasts."""
    return ("brier", "log", "spherical", *map(return_name, gammas))


def score_forecasts(
    events: Events, data: Forecasts, gammas: Sequence[float], cell: Ints, cells: int, bins: int
) -> Scores:
    """Every score of every forecast, in chunks; calibration sums by `cell`, a number below `cells` per forecast."""
    count = len(data.event)
    values = {name: np.full(count, math.nan) for name in mean_metrics(gammas)}
    p_winner = np.full(count, math.nan)
    normalised, doubtful, empty = (np.zeros(count, dtype=bool) for _ in range(3))
    sums = np.zeros((4, cells, bins))
    for at, flat, ends in data.chunks():
        event, p, sizes = data.event[at], data.p[flat], np.diff(ends)
        o = events.outcome[events.slots(event, ends)]
        values["brier"][at] = brier_score(p, o, ends)
        sums += bin_sums(p, o, np.repeat(data.weight[at], sizes), np.repeat(cell[at], sizes), cells, bins)
        # From here on exclusive events only, their probabilities summing to 1.
        total, exclusive = segment_sums(p, ends[:-1]), events.exclusive[event]
        off = np.abs(total - 1) > SUM_TOLERANCE + ROUNDING
        low, high = PLAUSIBLE_SUM[0] - ROUNDING, PLAUSIBLE_SUM[1] + ROUNDING
        empty[at] = exclusive & (total == 0)
        normalised[at] = exclusive & (total > 0) & off
        doubtful[at] = exclusive & ((total < low) | (total > high))
        chosen = exclusive & (total > 0)
        p, o, q, ends = select(chosen, sizes, p / np.repeat(np.where(off & chosen, total, 1), sizes), o, data.q[flat])
        where = at.start + np.flatnonzero(chosen)
        values["log"][where], values["spherical"][where] = log_score(p, o, ends), spherical_score(p, o, ends)
        p_winner[where] = winner_values("score_forecasts", p, o, ends[:-1])
        priced = data.priced[where]
        p, o, q, ends = select(priced, np.diff(ends), p, o, q)
        for gamma in gammas:
            values[return_name(gamma)][where[priced]] = average_return(p, q, o, gamma, ends)
    return Scores(values, p_winner, normalised, doubtful, empty, sums)


def baselines(events: Events, data: Forecasts) -> tuple[Forecasts, Forecasts]:
    """The market and the crowd as forecasters, one forecast per event, both paid at the event's mean asking price.

    market: the mean middle price, normalised for exclusive events (separate markets need not sum to 1) and cut to 1
    for the others; events with prices only. crowd: the mean of the event's forecasts. Forecasts count by their
    weights in these means, and an event by the mean weight of its forecasts.
    """
    sizes, count = events.sizes, len(events.ids)
    everywhere = np.ones(len(data.event), dtype=bool)
    q, mid, crowd = (
        _slot_means(events, data, column, chosen)
        for column, chosen in ((data.q, data.priced), (data.mid, data.priced), (data.p, everywhere))
    )
    priced = np.bincount(data.event[data.priced], data.weight[data.priced], count) > 0
    scale = np.where(events.exclusive, np.add.reduceat(mid, events.offsets[:-1]), 1)
    market = np.minimum(mid / np.repeat(np.where(scale > 0, scale, 1), sizes), 1)
    market_p, market_q, ends = select(priced, sizes, market, q)
    heft = np.bincount(data.event, data.weight, count) / np.maximum(np.bincount(data.event, minlength=count), 1)
    nobody, unknown = np.zeros(count, dtype=np.int64), np.full(count, math.nan)
    every = Forecasts(
        names=["crowd"], event=np.arange(count), forecaster=nobody, time=unknown, weight=heft, priced=priced,
        offsets=events.offsets, p=np.minimum(crowd, 1), q=q, mid=q,
    )  # fmt: skip
    return every._replace(
        names=["market"], event=np.flatnonzero(priced), forecaster=nobody[priced], time=unknown[priced],
        weight=heft[priced], priced=priced[priced], offsets=ends, p=market_p, q=market_q, mid=market_q,
    ), every  # fmt: skip


def _slot_means(events: Events, data: Forecasts, values: Floats, chosen: Bools) -> Floats:
    """The weighted mean of the chosen forecasts for every option of every event; 0 where there are none."""
    slots = len(events.outcome)
    total = np.zeros(slots)
    for at, flat, ends in data.chunks():
        slot, weight = events.slots(data.event[at], ends), np.repeat(data.weight[at], np.diff(ends))
        column, slot, weight, _ = select(chosen[at], np.diff(ends), values[flat], slot, weight)
        total += np.bincount(slot, column * weight, slots)
    mass = np.bincount(data.event[chosen], data.weight[chosen], len(events.ids))
    return np.asarray(total / np.repeat(np.where(mass > 0, mass, 1), events.sizes))


class Rows(NamedTuple):
    """Forecasts and calibration sums by row: a row per forecaster, then the market, then the crowd."""

    forecasters: int
    event: Ints
    row: Ints
    weight: Floats
    values: dict[str, Floats]
    bins: Floats


def stack_rows(
    events: Events, data: Forecasts, scores: Scores, forecaster_of_cell: Ints, gammas: Sequence[float], bins: int
) -> Rows:
    """The scored forecasts and those of the baselines below each other; `forecaster_of_cell` adds up the bins."""
    count = len(data.names)
    market, crowd = baselines(events, data)
    parts = (data, market, crowd)
    extra = [
        score_forecasts(events, one, gammas, np.zeros(len(one.event), dtype=np.int64), 1, bins)
        for one in (market, crowd)
    ]
    own = np.zeros((4, count, bins))
    for total, part in zip(own, scores.bins, strict=True):
        np.add.at(total, forecaster_of_cell, part)
    return Rows(
        count,
        np.concatenate([part.event for part in parts]),
        np.concatenate([data.forecaster, market.forecaster + count, crowd.forecaster + count + 1]),
        np.concatenate([part.weight for part in parts]),
        {name: np.concatenate([part.values[name] for part in (scores, *extra)]) for name in scores.values},
        np.concatenate([own, *(part.bins for part in extra)], axis=1),
    )
