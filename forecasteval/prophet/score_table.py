"""Every score of every forecast; probabilities that do not add up to 1; market and
crowd as forecasters beside the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from .arrays import ROUNDING, Bools, Floats, Ints, ends_of_runs, weighted_means
from .events import Events
from .forecasts import BASELINES as BASELINES
from .forecasts import Forecasts, average_runs, join_forecasts
from .metrics import Metric
from .scores import BINS, bin_sums, brier_score, winner_values

SUM_TOLERANCE: Final = 1e-3
PLAUSIBLE_SUM: Final = (0.8, 1.25)  # of the probabilities of an exclusive event


class ForecastScores(NamedTuple):
    """Forecasts with every score of each: by metric, nan where one does not apply.

    forecasts: one per event and forecaster; of several runs their mean.
    runs: all of them, in the same order.
    n_runs: of each forecast.
    values: the means of the scores of the runs.
    p_winner: the normalised probability that the mean forecast gives the winner of an
        exclusive event.
    correct: 1 if it is the largest of all, 0 if not or not alone.
    brier: the Brier score of the mean forecast.
    """

    metrics: Sequence[Metric]
    events: Events
    forecasts: Forecasts
    runs: Forecasts
    n_runs: Ints
    values: dict[str, Floats]
    p_winner: Floats
    correct: Floats
    brier: Floats

    @property
    def weight(self) -> Floats:
        """Return that of each forecast's event."""
        return self.events.weight[self.forecasts.event]

    def part(self, low: int, high: int, names: list[str]) -> ForecastScores:
        """Take the forecasts from `low` to `high`, which share the memory of all."""
        rows = slice(low, high)
        ends_of_forecasts = np.append(0, np.cumsum(self.n_runs))
        first_run, last_run = ends_of_forecasts[[low, high]].tolist()
        forecasts = _slice(self.forecasts, low, high)
        runs = _slice(self.runs, first_run, last_run)
        values = {name: column[rows] for name, column in self.values.items()}
        return ForecastScores(
            self.metrics,
            self.events,
            forecasts._replace(names=names),
            runs._replace(names=names),
            self.n_runs[rows],
            values,
            self.p_winner[rows],
            self.correct[rows],
            self.brier[rows],
        )

    def split(self) -> list[ForecastScores]:
        """Split the forecasts: those of the forecasters, and of each
        baseline, by event.
        """
        names = self.forecasts.names
        count = len(names) - len(BASELINES)
        last = count - 1  # stands for all forecasters
        numbers = np.maximum(self.forecasts.forecaster, last)
        ends = np.searchsorted(numbers, range(last, len(names) + 1)).tolist()
        return [self.part(low, high, names[:count]) for low, high in pairwise(ends)]

    def of_event(self, event: int) -> ForecastScores:
        """Take the forecasts of an event, where they are sorted by event."""
        low, high = np.searchsorted(self.forecasts.event, [event, event + 1]).tolist()
        return self.part(low, high, self.forecasts.names)

    def less(self, metric: str, base: str) -> Floats:
        """Subtract a baseline's values on the same events, if `base` names one."""
        if not base:
            return self.values[metric]
        part = self.split()[1 + BASELINES.index(base)]
        column: Floats = np.full(len(self.events.ids), math.nan)
        column[part.forecasts.event] = part.values[metric]
        return self.values[metric] - column[self.forecasts.event]


def _slice(data: Forecasts, low: int, high: int) -> Forecasts:
    first, last = data.offsets[[low, high]].tolist()
    return data.take(slice(low, high), slice(first, last))


def score_forecasts(
    events: Events, runs: Forecasts, metrics: Sequence[Metric]
) -> ForecastScores:
    """Compute every score of every forecast; of several runs their mean."""
    values = _score(events, runs, metrics)
    forecasts = average_runs(runs)
    _, n_runs = ends_of_runs(runs.event, runs.forecaster)
    brier = values["brier"]
    if len(forecasts.event) < len(runs.event):
        forecast_of_run = np.repeat(np.arange(len(n_runs)), n_runs)
        alike = np.ones(len(forecast_of_run))
        for name, column in values.items():
            values[name] = weighted_means(column, alike, forecast_of_run, len(n_runs))
        outcome = events.outcome[events.slots(forecasts.event)]
        brier = brier_score(forecasts.p, outcome, forecasts.offsets)

    def sum_events(column: Any) -> Floats:
        return np.asarray(np.bincount(forecasts.event, column), float)[forecasts.event]

    is_forecaster = forecasts.forecaster < len(forecasts.names) - len(BASELINES)
    for metric in metrics:
        if metric.is_relative:
            column = values[metric.name]
            values[metric.name] = subtract_others(column, is_forecaster, sum_events)
    p_winner, correct = _judge_winners(events, forecasts)
    return ForecastScores(
        metrics, events, forecasts, runs, n_runs, values, p_winner, correct, brier
    )


def _score(
    events: Events, forecasts: Forecasts, metrics: Sequence[Metric]
) -> dict[str, Floats]:
    """Compute the scores of each forecast by metric."""
    means = [metric for metric in metrics if metric.is_mean]
    values = {metric.name: np.full(len(forecasts.event), math.nan) for metric in means}
    is_exclusive = events.exclusive[forecasts.event]
    scopes = {
        "all": np.ones(len(is_exclusive), dtype=bool),
        "exclusive": is_exclusive,
        "priced": is_exclusive & forecasts.priced,
    }
    for scope, is_in_scope in scopes.items():
        scored_here = [metric for metric in means if metric.scope == scope]
        if not scored_here:
            continue
        chosen = forecasts.keep(is_in_scope)
        won = events.outcome[events.slots(chosen.event)]
        p = chosen.p
        if scope != "all":
            p = normalise(p, chosen.offsets)
        for metric in scored_here:
            scores = metric.score(p, chosen.q, chosen.bid, won, chosen.offsets)
            values[metric.name][is_in_scope] = scores
    return values


def _judge_winners(events: Events, forecasts: Forecasts) -> tuple[Floats, Floats]:
    """Find what the winner of each exclusive event was given, and whether
    it was the most.
    """
    p_winner, correct = np.full((2, len(forecasts.event)), math.nan)
    is_exclusive = events.exclusive[forecasts.event]
    chosen = forecasts.keep(is_exclusive)
    won = events.outcome[events.slots(chosen.event)]
    p = normalise(chosen.p, chosen.offsets)
    winner = winner_values("score_forecasts", p, won, chosen.starts)
    of_losers = np.where(won == 1, -1.0, p)
    best_loser = np.maximum.reduceat(of_losers, chosen.starts)
    p_winner[is_exclusive] = winner
    correct[is_exclusive] = winner > best_loser + ROUNDING
    return p_winner, correct


def subtract_others(
    values: Floats, is_forecaster: Bools, sum_events: Callable[[Any], Floats]
) -> Floats:
    """Subtract the mean of the other forecasters of the event, among whom are no
    baselines; nan without any.

    sum_events: sums values by event, and gives each of them the sum of its own.
    """
    is_known = is_forecaster & ~np.isnan(values)
    known = np.where(is_known, values, 0)
    count = sum_events(is_known) - is_known
    total = sum_events(known) - known
    return np.asarray(values - total / np.where(count > 0, count, np.nan))


def normalise(p: Floats, ends: Ints) -> Floats:
    """Divide probabilities by their sum, unless that is nearly 1.

    Probabilities that are all 0 become uniform: left out, they would win.
    """
    sizes = np.diff(ends)
    total = np.add.reduceat(p, ends[:-1])
    is_zero = total == 0
    is_off = np.abs(total - 1) > SUM_TOLERANCE + ROUNDING
    divisor = np.where(is_off, total, 1)
    divisor = np.where(is_zero, sizes, divisor)
    dividend = np.where(np.repeat(is_zero, sizes), 1, p)
    return np.asarray(dividend / np.repeat(divisor, sizes))


def odd_sums(events: Events, forecasts: Forecasts) -> tuple[Bools, Bools, Bools]:
    """Find exclusive events' forecasts whose probabilities do not sum to 1, to nothing
    near 1, and to 0.
    """
    total = np.add.reduceat(forecasts.p, forecasts.starts)
    is_exclusive = events.exclusive[forecasts.event]
    low, high = PLAUSIBLE_SUM
    is_off = (np.abs(total - 1) > SUM_TOLERANCE + ROUNDING) & (total > 0)
    is_doubtful = (total < low - ROUNDING) | (total > high + ROUNDING)
    is_zero = total == 0
    return is_exclusive & is_off, is_exclusive & is_doubtful, is_exclusive & is_zero


def sum_bins(
    scored: ForecastScores, group: Ints, groups: int, *, by_event: bool = False
) -> Floats:
    """Compute `bin_sums` of all option probabilities, by the groups of the forecasts.

    by_event: all options of an event count as much as the only one of another.
    """
    events, runs = scored.events, scored.runs
    weight_of_run = np.repeat(scored.weight / scored.n_runs, scored.n_runs)
    if by_event:
        weight_of_run = weight_of_run / runs.sizes
    weight = np.repeat(weight_of_run, runs.sizes)
    group_of_run = np.repeat(group, scored.n_runs)
    group_of_option = np.repeat(group_of_run, runs.sizes)
    outcome = events.outcome[events.slots(runs.event)]
    return bin_sums(runs.p, outcome, weight, group_of_option, groups, BINS)


def with_baselines(events: Events, data: Forecasts) -> Forecasts:
    """Add the baselines, one forecast per event each, paid at its prices.

    market: the middle price, normalised for exclusive events, since separate
        markets need not sum
    to 1; events with prices only. crowd: the mean of the event's forecasts. uniform:
    1/n for each of n options that exclude each other, else ½.
    """
    names = [*data.names, *BASELINES]
    size = len(events.ids)

    def make_baseline(name: str, p: Floats) -> Forecasts:
        return Forecasts(
            names,
            event=np.arange(size),
            forecaster=np.full(size, len(data.names) + BASELINES.index(name)),
            run=np.zeros(size, np.int64),
            time=np.full(size, math.nan),
            sizes=events.sizes,
            p=p,
            q=events.q,
            bid=events.bid,
        )

    bid = np.where(np.isnan(events.bid), events.q, events.bid)
    middle = (events.q + bid) / 2
    total = np.add.reduceat(middle, events.offsets[:-1])
    scale = np.where(events.exclusive, total, 1)
    market = make_baseline("market", middle / np.repeat(scale, events.sizes))

    # Nobody has a larger share of the crowd by more runs.
    means = average_runs(data)
    sums = np.bincount(events.slots(means.event), means.p)
    count = np.repeat(np.bincount(means.event), events.sizes)
    crowd = make_baseline("crowd", np.minimum(sums / count, 1))

    share = np.where(events.exclusive, 1 / events.sizes, 0.5)
    uniform = make_baseline("uniform", np.repeat(share, events.sizes))
    return join_forecasts(names, (data, market.keep(market.priced), crowd, uniform))
