"""Every metric of every row of a board, with errors clustered by series of events, intervals and influence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .arrays import Floats, Ints, mean_errors, weighted_means
from .bradley_terry import BradleyTerryFit
from .metrics import Metric
from .models import Fitted, Models
from .score_table import BASELINES, Scored
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


Measures = dict[tuple[str, str], Estimate]  # by metric and what is subtracted: "", or a baseline on the row's events


class _Estimator:
    """Estimates over the same forecasts and clusters; `intervals`: with errors, intervals and influence."""

    def __init__(self, scored: Scored, intervals: bool) -> None:
        self.scored, self.intervals = scored, intervals
        self.row, self.weight = scored.forecasts.forecaster, scored.forecasts.weight
        self.size = len(scored.forecasts.names)
        self.cluster = scored.events.clusters()
        self._of_forecast = self.cluster[scored.forecasts.event]

    def mean(self, values: Floats, weight: Floats, bounds: tuple[float, float] = (-math.inf, math.inf)) -> Estimate:
        """The weighted mean of each row's values that are not nan."""
        means, counts = weighted_means(values, weight, self.row, self.size)
        clusters = count_clusters(self.row, self._of_forecast, values, self.size)
        if not self.intervals:
            return Estimate(means, counts, clusters)
        count = int(self.cluster.max()) + 1
        influence = mean_influence(values, weight, self.row, self._of_forecast, means, count)
        error = clustered_errors(influence, clusters)
        low, high = (np.clip(end, *bounds) for end in t_intervals(means, error, clusters))
        return Estimate(means, counts, clusters, error, (low, high), influence)

    def spread(self, values: Floats, chosen: Ints) -> Floats:
        """The values of the rows `chosen` among those of all, nan for the others."""
        full = np.full(self.size, math.nan)
        full[chosen] = values
        return full

    def model(self, like: Estimate, fitted: Fitted[Any], values: Floats, influence: Floats) -> Estimate:
        """Values of the forecasters of a fit, and their influence by its events."""
        plain = like.without_error(self.spread(values, fitted.forecasters))
        if not self.intervals:
            return plain
        by_event = np.zeros((len(self.cluster), self.size))
        by_event[np.ix_(fitted.events, fitted.forecasters)] = influence
        total = clustered(by_event, self.cluster)
        error = clustered_errors(total, plain.clusters)
        interval = t_intervals(plain.values, error, plain.clusters)
        return plain._replace(error=error, interval=interval, influence=total)


def measure(scored: Scored, bins: Floats, models: Models, metrics: Sequence[Metric], intervals: bool) -> Measures:
    """Every metric of every row (`bins`: calibration sums), and of the means the differences to market and crowd."""
    estimator = _Estimator(scored, intervals)
    measures: Measures = {}
    for metric in (metric for metric in metrics if metric.formula):
        measures[metric.name, ""] = estimator.mean(scored.values[metric.name], estimator.weight, metric.bounds)
        for base in BASELINES:
            difference = estimator.mean(scored.less(metric.name, base), estimator.weight)
            measures[metric.name, base] = difference._replace(influence=None)
    if intervals:
        _tilt_intervals(measures, scored, metrics)
    brier = measures["brier", ""]
    measures["ece", ""] = brier.without_error(calibration_errors(bins))
    models_of = _measure_models(estimator, models, brier, measures["log", ""])
    return measures | {(name, ""): estimate for name, estimate in models_of.items()}


def _tilt_intervals(measures: Measures, scored: Scored, metrics: Sequence[Metric]) -> None:
    """Replace the intervals of returns, and of their differences, by those of tilted markets (`tilted_interval`).

    Events of one series hang together: where they do, it is as much wider as the clustered error is larger.
    """
    events, forecasts = scored.events, scored.forecasts
    gammas = {metric.name: metric.gamma for metric in metrics if metric.gamma is not None}
    paid = {(name, base): np.full(len(events.outcome), math.nan) for name in gammas for base in BASELINES}
    paid |= {(name, ""): np.zeros(len(events.outcome)) for name in gammas}
    wider = {key: _design_effect(measures[key], scored, *key) for key in paid}
    first = len(forecasts.names) - len(BASELINES)
    for bets in list_bets(events, forecasts.select(np.flatnonzero(forecasts.forecaster >= first))):
        for name, gamma in gammas.items():
            paid[name, BASELINES[bets.row - first]][bets.slot] = bets.pay(gamma)
    for bets in list_bets(events, forecasts):
        pays = {name: bets.pay(gamma) for name, gamma in gammas.items()}
        for (name, base), subtracted in paid.items():
            values, ends = measures[name, base].values, measures[name, base].interval
            assert ends
            mean = float(values[bets.row])
            interval = bets.interval(pays[name] - subtracted[bets.slot], mean)
            low, high = (mean + (end - mean) * wider[name, base][bets.row] for end in interval)
            ends[0][bets.row], ends[1][bets.row] = low if base else max(low, 0.0), high


def _design_effect(estimate: Estimate, scored: Scored, metric: str, base: str) -> Floats:
    """By row how many times as large the clustered error is as that of independent events, at least 1."""
    forecasts, n = scored.forecasts, estimate.counts
    plain = mean_errors(scored.less(metric, base), forecasts.weight, forecasts.forecaster, estimate.values)
    assert estimate.error is not None
    with np.errstate(invalid="ignore", divide="ignore"):
        wider = np.where(estimate.clusters < n, estimate.error / (plain * np.sqrt(n / (n - 1))), 1.0)
    return np.asarray(np.fmax(np.nan_to_num(wider, nan=1.0, posinf=1.0), 1.0))


def _measure_models(estimator: _Estimator, models: Models, brier: Estimate, log: Estimate) -> dict[str, Estimate]:
    """The adjusted Brier, ability, weighted Brier and strength of the forecasters; the baselines have none.

    The weighted Brier takes the events' discriminations as given.
    """
    effects, scored = models.effects, estimator.scored
    nothing = brier.without_error(np.full(estimator.size, math.nan))
    estimates = dict.fromkeys(("irt_ability", "weighted_brier", "bradley_terry"), nothing)
    estimates["adjusted_brier"] = estimator.model(brier, effects, effects.fit.score, effects.fit.influence)
    if models.irt:
        irt = models.irt.fit
        estimates["irt_ability"] = estimator.model(brier, models.irt, irt.ability, irt.influence)
        discrimination = np.full(len(scored.events.ids), math.nan)
        discrimination[models.irt.events] = irt.discrimination
        weight = discrimination[scored.forecasts.event]
        values = np.where(np.isnan(weight), math.nan, scored.values["brier"])
        estimates["weighted_brier"] = estimator.mean(values, estimator.weight * np.nan_to_num(weight), (0.0, 1.0))
    if models.strengths:
        estimates["bradley_terry"] = _measure_strengths(estimator, models.strengths, log)
    return estimates


def _measure_strengths(estimator: _Estimator, fitted: Fitted[BradleyTerryFit], log: Estimate) -> Estimate:
    """Strengths of mean 1, with intervals of ln θ; none for a strength that is 0."""
    fit = fitted.fit
    moves = fit.influence
    moves = (moves - (moves @ fit.strength / len(fit.strength))[:, None]) * fit.strength  # the mean stays 1
    estimate = estimator.model(log, fitted, fit.strength, moves)
    if estimate.error is None or estimate.influence is None:
        return estimate
    error = estimate.error * estimator.spread(np.where(fit.vanished, math.nan, 1.0), fitted.forecasters)
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = t_intervals(np.log(estimate.values), error / estimate.values, estimate.clusters)
    interval = np.exp(low), np.minimum(np.exp(np.minimum(high, 700)), len(fit.strength))
    return estimate._replace(error=error, interval=interval, influence=np.nan_to_num(estimate.influence))
