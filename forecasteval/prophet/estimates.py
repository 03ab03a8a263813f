"""Every metric of every row of a board, with errors clustered by series of events, intervals and influence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from .arrays import Floats, Ints, mean_errors, weighted_means
from .events import Events
from .metrics import Metric
from .models import Models
from .score_table import Rows
from .scores import calibration_errors
from .tilted import list_bets
from .uncertainty import (
    LEAST_CLUSTERS,
    clustered,
    clustered_errors,
    count_clusters,
    mean_influence,
    t_intervals,
)

BASELINES: Final = ("market", "crowd")


class Estimate(NamedTuple):
    """A metric by row: its values, the events and clusters behind each, errors, both ends of 95 % intervals.

    `influence`: by cluster and row, what one more copy of the cluster adds to the value. None: not estimated.
    """

    values: Floats
    counts: Ints
    clusters: Ints
    error: Floats | None = None
    interval: tuple[Floats, Floats] | None = None
    influence: Floats | None = None

    def bounds(self, at: int) -> list[float] | None:
        """The interval of a row, if it has two clusters at least."""
        if self.interval is None or self.clusters[at] < LEAST_CLUSTERS:
            return None
        low, high = (float(end[at]) for end in self.interval)
        return None if math.isnan(low) or math.isnan(high) else [low, high]

    def without_error(self, values: Floats) -> Estimate:
        """Other values behind which the same events stand."""
        return Estimate(values, self.counts, self.clusters)


class Measures(NamedTuple):
    """By name the metrics; by metric and baseline the differences to it on the row's events."""

    metrics: dict[str, Estimate]
    against: dict[tuple[str, str], Estimate]


class _Estimator:
    """Estimates over the same rows and clusters; `intervals`: with errors, intervals and influence."""

    def __init__(self, events: Events, rows: Rows, intervals: bool) -> None:
        self.rows, self.intervals = rows, intervals
        self.size = rows.forecasters + len(BASELINES)
        self.cluster = events.clusters()
        self._of_forecast = self.cluster[rows.event]

    def mean(self, values: Floats, weight: Floats, bounds: tuple[float, float] = (-math.inf, math.inf)) -> Estimate:
        """The weighted mean of each row's values that are not nan."""
        row = self.rows.row
        means, counts = weighted_means(values, weight, row, self.size)
        clusters = count_clusters(row, self._of_forecast, values, self.size)
        if not self.intervals:
            return Estimate(means, counts, clusters)
        count = int(self.cluster.max()) + 1
        influence = mean_influence(values, weight, row, self._of_forecast, means, count)
        error = clustered_errors(influence, clusters)
        low, high = (np.clip(end, *bounds) for end in t_intervals(means, error, clusters))
        return Estimate(means, counts, clusters, error, (low, high), influence)

    def spread(self, values: Floats, chosen: Ints) -> Floats:
        """The values of the rows `chosen` among those of all, nan for the others."""
        full = np.full(self.size, math.nan)
        full[chosen] = values
        return full

    def model(self, like: Estimate, values: Floats, influence: Floats, chosen: Ints, events: Ints) -> Estimate:
        """A model's values of the forecasters `chosen`; its influence is by the events `events` and these."""
        plain = like.without_error(self.spread(values, chosen))
        if not self.intervals:
            return plain
        by_event = np.zeros((len(self.cluster), self.size))
        by_event[np.ix_(events, chosen)] = influence
        total = clustered(by_event, self.cluster)
        error = clustered_errors(total, plain.clusters)
        interval = t_intervals(plain.values, error, plain.clusters)
        return plain._replace(error=error, interval=interval, influence=total)


def measure(events: Events, rows: Rows, models: Models, metrics: Sequence[Metric], intervals: bool) -> Measures:
    """Every metric of every row, and of the means the differences to market and crowd."""
    estimator = _Estimator(events, rows, intervals)
    table: dict[str, Estimate] = {}
    against: dict[tuple[str, str], Estimate] = {}
    for metric in metrics:
        if metric.formula:
            table[metric.name] = estimator.mean(rows.values[metric.name], rows.weight, metric.bounds)
            for base in BASELINES:
                difference = estimator.mean(rows.less(metric.name, base), rows.weight)
                against[metric.name, base] = difference._replace(influence=None)
    if intervals:
        _tilt_intervals(Measures(table, against), events, rows, metrics)
    table["ece"] = table["brier"].without_error(calibration_errors(rows.bins))
    table.update(_measure_models(estimator, models, table["brier"], table["log"]))
    return Measures(table, against)


def _tilt_intervals(measures: Measures, events: Events, rows: Rows, metrics: Sequence[Metric]) -> None:
    """Replace the intervals of returns, and of their differences, by those of tilted markets (`tilted_interval`).

    Events of one series hang together: where they do, it is as much wider as the clustered error is larger.
    """
    gammas = {metric.name: metric.gamma for metric in metrics if metric.gamma is not None}
    paid = {(name, base): np.full(len(events.outcome), math.nan) for name in gammas for base in BASELINES}
    for base, part in zip(BASELINES, rows.parts[1:], strict=True):
        for bets in list_bets(events, part):
            for name, gamma in gammas.items():
                paid[name, base][bets.slot] = bets.pay(gamma)
    estimates = {(name, ""): measures.metrics[name] for name in gammas}
    estimates |= {key: measures.against[key] for key in paid}
    wider = {key: _design_effect(estimate, rows, *key) for key, estimate in estimates.items()}
    for part, first in zip(rows.parts, (0, rows.forecasters, rows.forecasters + 1), strict=True):
        for bets in list_bets(events, part, first):
            pays = {name: bets.pay(gamma) for name, gamma in gammas.items()}
            for (name, base), estimate in estimates.items():
                assert estimate.interval
                pay = pays[name] - paid[name, base][bets.slot] if base else pays[name]
                mean, factor = float(estimate.values[bets.row]), wider[name, base][bets.row]
                low, high = (mean + (end - mean) * factor for end in bets.interval(pay, mean))
                estimate.interval[0][bets.row], estimate.interval[1][bets.row] = low if base else max(low, 0.0), high


def _design_effect(estimate: Estimate, rows: Rows, metric: str, base: str) -> Floats:
    """By row how many times as large the clustered error is as that of independent events, at least 1."""
    values = rows.less(metric, base) if base else rows.values[metric]
    plain, n = mean_errors(values, rows.weight, rows.row, estimate.values), estimate.counts
    assert estimate.error is not None
    with np.errstate(invalid="ignore", divide="ignore"):
        wider = np.where(estimate.clusters < n, estimate.error / (plain * np.sqrt(n / (n - 1))), 1.0)
    return np.asarray(np.fmax(np.nan_to_num(wider, nan=1.0, posinf=1.0), 1.0))


def _measure_models(estimator: _Estimator, models: Models, brier: Estimate, log: Estimate) -> dict[str, Estimate]:
    """The adjusted Brier, ability, weighted Brier and strength of the forecasters; the baselines have none.

    The weighted Brier takes the events' discriminations as given.
    """
    effects, irt, rows = models.effects, models.irt, estimator.rows
    everybody, everything = np.arange(rows.forecasters), np.arange(len(estimator.cluster))
    nothing = brier.without_error(np.full(estimator.size, math.nan))
    estimates = dict.fromkeys(("irt_ability", "weighted_brier", "bradley_terry"), nothing)
    estimates["adjusted_brier"] = estimator.model(brier, effects.score, effects.influence, everybody, everything)
    if irt:
        estimates["irt_ability"] = estimator.model(brier, irt.ability, irt.influence, models.able, models.answered)
        discrimination = np.full(len(estimator.cluster), math.nan)
        discrimination[models.answered] = irt.discrimination
        weight = discrimination[rows.event]
        values = np.where(np.isnan(weight), math.nan, rows.values["brier"])
        estimates["weighted_brier"] = estimator.mean(values, rows.weight * np.nan_to_num(weight), (0.0, 1.0))
    if models.strengths:
        estimates["bradley_terry"] = _measure_strengths(estimator, models, log)
    return estimates


def _measure_strengths(estimator: _Estimator, models: Models, log: Estimate) -> Estimate:
    """Strengths of mean 1, with intervals of ln θ; none for a strength that is 0."""
    fit = models.strengths
    assert fit
    moves = fit.influence
    moves = (moves - (moves @ fit.strength / len(fit.strength))[:, None]) * fit.strength  # the mean stays 1
    estimate = estimator.model(log, fit.strength, moves, models.rated, models.decided)
    if estimate.error is None or estimate.influence is None:
        return estimate
    error = estimate.error * estimator.spread(np.where(fit.vanished, math.nan, 1.0), models.rated)
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = t_intervals(np.log(estimate.values), error / estimate.values, estimate.clusters)
    interval = np.exp(low), np.minimum(np.exp(np.minimum(high, 700)), len(fit.strength))
    return estimate._replace(error=error, interval=interval, influence=np.nan_to_num(estimate.influence))
