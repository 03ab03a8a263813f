"""Every score of every forecast; probabilities that do not add up to 1; market and crowd as
forecasters beside the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from .arrays import ROUNDING, Bools, Floats, Ints, ends_of_runs, weighted_means
from .events import Events
from .forecasts import BASELINES as BASELINES
from .forecasts import Forecasts, average_runs, join_forecasts
from .metrics import Metric
from .scores import BINS, bin_sums, winner_values

SUM_TOLERANCE: Final = 1e-3
PLAUSIBLE_SUM: Final = (0.8, 1.25)  # of the probabilities of an exclusive event


class ForecastScores(NamedTuple):
    """Forecasts with every score of each: by metric, nan where one does not apply.

    forecasts: one per event and forecaster; of several runs their mean. runs: all of them, in the
    same order; n_runs: of each forecast. values: the means of the scores of the runs. p_winner,
    correct, brier: of the mean forecasts: the winner's normalised probability in an exclusive
    event; 1 if it is the largest of all, 0 if not or not alone; the Brier score.
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
        first_run, last_run = np.append(0, np.cumsum(self.n_runs))[[low, high]].tolist()
        return self._replace(
            forecasts=_slice(self.forecasts, low, high)._replace(names=names),
            runs=_slice(self.runs, first_run, last_run)._replace(names=names),
            n_runs=self.n_runs[rows],
            values={name: column[rows] for name, column in self.values.items()},
            p_winner=self.p_winner[rows],
            correct=self.correct[rows],
            brier=self.brier[rows],
        )

    def split(self) -> list[ForecastScores]:
        """Split the forecasts: those of the forecasters, and of each baseline, by event."""
        forecaster, names = self.forecasts.forecaster, self.forecasts.names
        last = len(names) - len(BASELINES)
        numbers = range(last - 1, len(names) + 1)
        ends = np.searchsorted(np.maximum(forecaster, last - 1), numbers).tolist()
        return [self.part(low, high, names[:last]) for low, high in pairwise(ends)]

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


def score_forecasts(events: Events, runs: Forecasts, metrics: Sequence[Metric]) -> ForecastScores:
    """Compute every score of every forecast; of several runs their mean."""
    values = _score(events, runs, metrics)
    forecasts = average_runs(runs)
    _, n_runs = ends_of_runs(runs.event, runs.forecaster)
    brier = values["brier"]
    if len(forecasts.event) < len(runs.event):
        group = np.repeat(np.arange(len(n_runs)), n_runs)
        equal = np.ones(len(group))
        for name, column in values.items():
            values[name] = weighted_means(column, equal, group, len(n_runs))
        of_means = [metric for metric in metrics if metric.name == "brier"]
        brier = _score(events, forecasts, of_means)["brier"]
    for metric in metrics:
        if metric.is_relative:
            values[metric.name] = subtract_others(values[metric.name], forecasts)
    p_winner, correct = _judge_winners(events, forecasts)
    return ForecastScores(
        metrics, events, forecasts, runs, n_runs, values, p_winner, correct, brier
    )


def _score(events: Events, forecasts: Forecasts, metrics: Sequence[Metric]) -> dict[str, Floats]:
    """Compute the scores of each forecast by metric."""
    count, exclusive = len(forecasts.event), events.exclusive[forecasts.event]
    values = {metric.name: np.full(count, math.nan) for metric in metrics if metric.is_mean}
    for scope, chosen in (
        ("all", np.ones(count, dtype=bool)),
        ("exclusive", exclusive),
        ("priced", exclusive & forecasts.priced),
    ):
        in_scope = [metric for metric in metrics if metric.is_mean and metric.scope == scope]
        if not in_scope:
            continue
        own = forecasts.keep(chosen)
        ends, won = own.offsets, events.outcome[events.slots(own.event)]
        p = own.p if scope == "all" else normalise(own.p, ends)
        for metric in in_scope:
            values[metric.name][chosen] = metric.score(p, own.q, own.bid, won, ends)
    return values


def _judge_winners(events: Events, forecasts: Forecasts) -> tuple[Floats, Floats]:
    """Find what the winner of each exclusive event was given, and whether it was the most."""
    p_winner, correct = np.full((2, len(forecasts.event)), math.nan)
    exclusive = events.exclusive[forecasts.event]
    own = forecasts.keep(exclusive)
    ends, won = own.offsets, events.outcome[events.slots(own.event)]
    p = normalise(own.p, ends)
    winner = winner_values("score_forecasts", p, won, ends[:-1])
    rivals = np.maximum.reduceat(np.where(won == 1, -1.0, p), ends[:-1])
    p_winner[exclusive], correct[exclusive] = winner, winner > rivals + ROUNDING
    return p_winner, correct


def subtract_others(values: Floats, forecasts: Forecasts) -> Floats:
    """Subtract the mean of the other forecasters of the event, among whom are no baselines; nan
    without any.
    """
    event = forecasts.event
    is_forecaster = forecasts.forecaster < len(forecasts.names) - len(BASELINES)
    known = is_forecaster & ~np.isnan(values)
    own = np.where(known, values, 0)
    others = np.bincount(event, known)[event] - known
    total = np.bincount(event, own)[event] - own
    return values - total / np.where(others > 0, others, np.nan)


def normalise(p: Floats, ends: Ints) -> Floats:
    """Divide probabilities by their sum, unless that is nearly 1.

    Probabilities that are all 0 become uniform: left out, they would win.
    """
    sizes, total = np.diff(ends), np.add.reduceat(p, ends[:-1])
    off = np.abs(total - 1) > SUM_TOLERANCE + ROUNDING
    divisor = np.where(total == 0, sizes, np.where(off, total, 1))
    return np.asarray(np.where(np.repeat(total == 0, sizes), 1, p) / np.repeat(divisor, sizes))


def odd_sums(events: Events, forecasts: Forecasts) -> tuple[Bools, Bools, Bools]:
    """Find exclusive events' forecasts whose probabilities do not sum to 1, to nothing near 1, and
    to 0.
    """
    total = np.add.reduceat(forecasts.p, forecasts.starts)
    exclusive, (low, high) = events.exclusive[forecasts.event], PLAUSIBLE_SUM
    off = (np.abs(total - 1) > SUM_TOLERANCE + ROUNDING) & (total > 0)
    doubtful = (total < low - ROUNDING) | (total > high + ROUNDING)
    return exclusive & off, exclusive & doubtful, exclusive & (total == 0)


def sum_bins(scored: ForecastScores, group: Ints, groups: int, *, by_event: bool = False) -> Floats:
    """Compute `bin_sums` of all option probabilities, by the groups of the forecasts.

    by_event: all options of an event count as much as the only one of another.
    """
    events, runs = scored.events, scored.runs
    of_run = np.repeat(scored.weight / scored.n_runs, scored.n_runs)
    of_option = of_run / runs.sizes if by_event else of_run
    weight = np.repeat(of_option, runs.sizes)
    cell = np.repeat(np.repeat(group, scored.n_runs), runs.sizes)
    outcome = events.outcome[events.slots(runs.event)]
    return bin_sums(runs.p, outcome, weight, cell, groups, BINS)


def with_baselines(events: Events, data: Forecasts) -> Forecasts:
    """Add the baselines, one forecast per event each, paid at its prices.

    market: the middle price, normalised for exclusive events, since separate markets need not sum
    to 1; events with prices only. crowd: the mean of the event's forecasts. uniform: 1/n for each
    of n options that exclude each other, else ½.
    """
    size, last = len(events.ids), len(data.names)
    means = average_runs(data)  # nobody has a larger share of the crowd by more runs
    slot, count = events.slots(means.event), np.repeat(np.bincount(means.event), events.sizes)
    crowd = Forecasts(
        [*data.names, *BASELINES],
        event=np.arange(size),
        forecaster=np.full(size, last + BASELINES.index("crowd")),
        run=np.zeros(size, np.int64),
        time=np.full(size, math.nan),
        sizes=events.sizes,
        p=np.minimum(np.bincount(slot, means.p) / count, 1),
        q=events.q,
        bid=events.bid,
    )

    def make_baseline(name: str, p: Floats) -> Forecasts:
        return crowd._replace(forecaster=np.full(size, last + BASELINES.index(name)), p=p)

    mid = (events.q + np.where(np.isnan(events.bid), events.q, events.bid)) / 2
    scale = np.where(events.exclusive, np.add.reduceat(mid, events.offsets[:-1]), 1)
    market = make_baseline("market", mid / np.repeat(scale, events.sizes))
    share = np.where(events.exclusive, 1 / events.sizes, 0.5)
    uniform = make_baseline("uniform", np.repeat(share, events.sizes))
    return join_forecasts(crowd.names, (data, market.keep(crowd.priced), crowd, uniform))
