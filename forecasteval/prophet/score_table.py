"""Every score of every forecast, in chunks; the market and the crowd beside the forecasters, as rows of one table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from .arrays import ROUNDING, Bools, Floats, Ints, segment_sums, select
from .events import Events
from .forecasts import Forecasts
from .scores import BINS, SUMS, average_return, bin_sums, brier_score, log_score, spherical_score, winner_values

SUM_TOLERANCE: Final = 1e-3
PLAUSIBLE_SUM: Final = (0.8, 1.25)  # of the probabilities of an exclusive event


class Scores(NamedTuple):
    """Per forecast: metrics (nan where one does not apply), the winner's normalised probability, what was odd.

    bins: `bin_sums` per cell. slots: per option of the events the weighted sums of q and mid of priced forecasts, and
    of p of all.
    """

    values: dict[str, Floats]
    p_winner: Floats
    normalised: Bools
    doubtful: Bools
    empty: Bools
    bins: Floats
    slots: Floats


def return_name(gamma: float) -> str:
    """The name of a return: return_0.5."""
    return f"return_{gamma:.12g}"


def mean_metrics(gammas: Sequence[float]) -> tuple[str, ...]:
    """The metrics that are means of scores of forecasts."""
    return ("brier", "log", "spherical", *map(return_name, gammas))


def score_forecasts(events: Events, data: Forecasts, gammas: Sequence[float], cell: Ints, cells: int) -> Scores:
    """Every score of every forecast, in chunks; calibration sums by `cell`, a number below `cells` per forecast."""
    count = len(data.event)
    values = {name: np.full(count, math.nan) for name in mean_metrics(gammas)}
    p_winner = np.full(count, math.nan)
    normalised, doubtful, empty = (np.zeros(count, dtype=bool) for _ in range(3))
    bins, slots = np.zeros((SUMS, cells, BINS)), np.zeros((3, len(events.outcome)))
    for at, ends, p, q, mid in data.chunks():
        event, sizes, weight = data.event[at], np.diff(ends), np.repeat(data.weight[at], np.diff(ends))
        slot = events.slots(event, ends)
        o = events.outcome[slot]
        for total, column in zip(slots, (q, mid, p), strict=True):
            total += np.bincount(slot, weight * np.nan_to_num(column), len(total))
        values["brier"][at] = brier_score(p, o, ends)
        bins += bin_sums(p, o, weight, np.repeat(cell[at], sizes), cells, BINS)
        # From here on exclusive events only, their probabilities summing to 1.
        total, exclusive = segment_sums(p, ends[:-1]), events.exclusive[event]
        off = np.abs(total - 1) > SUM_TOLERANCE + ROUNDING
        low, high = PLAUSIBLE_SUM[0] - ROUNDING, PLAUSIBLE_SUM[1] + ROUNDING
        empty[at] = nothing = exclusive & (total == 0)
        normalised[at] = exclusive & (total > 0) & off
        doubtful[at] = exclusive & ((total < low) | (total > high))
        p = np.where(np.repeat(nothing, sizes), 1, p)  # who leaves all at 0 must not win by being left out: uniform
        total = np.where(nothing, sizes, np.where(off, total, 1))
        p, o, q, ends = select(exclusive, sizes, p / np.repeat(np.where(exclusive, total, 1), sizes), o, q)
        where = at.start + np.flatnonzero(exclusive)
        values["log"][where], values["spherical"][where] = log_score(p, o, ends), spherical_score(p, o, ends)
        p_winner[where] = winner_values("score_forecasts", p, o, ends[:-1])
        priced = data.priced[where]
        p, o, q, ends = select(priced, np.diff(ends), p, o, q)
        for gamma in gammas:
            values[return_name(gamma)][where[priced]] = average_return(p, q, o, gamma, ends)
    return Scores(values, p_winner, normalised, doubtful, empty, bins, slots)


def baselines(events: Events, data: Forecasts, slots: Floats) -> tuple[Forecasts, Forecasts]:
    """The market and the crowd as forecasters, one forecast per event, both paid at the event's mean asking price.

    market: the mean middle price, normalised for exclusive events (separate markets need not sum to 1) and cut to 1
    for the others; events with prices only. crowd: the mean of the event's forecasts. Forecasts count by their
    weights in these means (`slots` of `Scores`), and an event by the mean weight of its forecasts.
    """
    sizes, count = events.sizes, len(events.ids)
    all_mass = np.bincount(data.event, data.weight, count)
    paid_mass = np.bincount(data.event[data.priced], data.weight[data.priced], count)
    priced = paid_mass > 0
    per_slot = np.repeat([np.where(priced, paid_mass, 1)] * 2 + [all_mass], sizes, axis=1)
    q, mid, crowd = slots / per_slot
    scale = np.where(events.exclusive & priced, np.add.reduceat(mid, events.offsets[:-1]), 1)
    market = np.minimum(mid / np.repeat(scale, sizes), 1)
    nobody, unknown = np.zeros(count, dtype=np.int64), np.full(count, math.nan)
    every = Forecasts(
        ["crowd"], np.arange(count), nobody, unknown, all_mass / np.bincount(data.event, minlength=count), priced,
        events.offsets[:-1], sizes, np.minimum(crowd, 1), q, q,
    )  # fmt: skip
    return every._replace(
        names=["market"], event=np.flatnonzero(priced), forecaster=nobody[priced], time=unknown[priced],
        weight=every.weight[priced], priced=priced[priced], starts=every.starts[priced], sizes=sizes[priced], p=market,
    ), every  # fmt: skip


class Rows(NamedTuple):
    """Forecasts and calibration sums by row: a row per forecaster, then the market, then the crowd.

    `base`: the values of these two by event, nan where there is none.
    """

    forecasters: int
    event: Ints
    row: Ints
    weight: Floats
    values: dict[str, Floats]
    bins: Floats
    base: dict[str, dict[str, Floats]]


def stack_rows(
    events: Events, data: Forecasts, scores: Scores, forecaster_of_cell: Ints, gammas: Sequence[float]
) -> Rows:
    """The scored forecasts and those of the baselines below each other; `forecaster_of_cell` adds up the bins."""
    count = len(data.names)
    two = baselines(events, data, scores.slots)
    extra = [score_forecasts(events, one, gammas, np.zeros(len(one.event), dtype=np.int64), 1) for one in two]
    own = np.zeros((len(scores.bins), count, BINS))
    for total, part in zip(own, scores.bins, strict=True):
        np.add.at(total, forecaster_of_cell, part)
    base: dict[str, dict[str, Floats]] = {}
    for one, scored in zip(two, extra, strict=True):
        columns = {name: np.full(len(events.ids), math.nan) for name in scored.values}
        for name, column in columns.items():
            column[one.event] = scored.values[name]
        base[one.names[0]] = columns
    return Rows(
        count,
        np.concatenate([part.event for part in (data, *two)]),
        np.concatenate([data.forecaster, *(one.forecaster + count + at for at, one in enumerate(two))]),
        np.concatenate([part.weight for part in (data, *two)]),
        {name: np.concatenate([part.values[name] for part in (scores, *extra)]) for name in scores.values},
        np.concatenate([own, *(part.bins for part in extra)], axis=1),
        base,
    )
