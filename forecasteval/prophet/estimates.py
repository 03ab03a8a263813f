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
from .tilted import Bets, place_bets
from .uncertainty import (
    LEAST_CLUSTERS,
    clustered,
    clustered_errors,
    count_clusters,
    mean_influence,
    t_intervals,
)

BASELINES: Final = ("market", "crowd")
_INFINITE: Final = (-math.inf, math.inf)


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

    def mean(self, values: Floats, weight: Floats, bounds: tuple[float, float] = _INFINITE) -> Estimate:
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

    def tilt(self, estimate: Estimate, values: Floats, bets: Bets, bounds: tuple[float, float] = _INFINITE) -> Estimate:
        """The estimate with the interval of tilted markets (`tilted_interval`), of returns or differences of them.

        Events of one series hang together: where they do, it is as much wider as the clustered error is larger.
        """
        assert estimate.error is not None
        means, n = estimate.values, estimate.counts
        independent = mean_errors(values, self.rows.weight, self.rows.row, means)
        with np.errstate(invalid="ignore", divide="ignore"):
            wider = np.where(estimate.clusters < n, estimate.error / (independent * np.sqrt(n / (n - 1))), 1.0)
        wider = np.fmax(np.nan_to_num(wider, nan=1.0, posinf=1.0), 1.0)
        low, high = (np.clip(means + (end - means) * wider, *bounds) for end in bets.intervals(means))
        return estimate._replace(interval=(low, high))

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
        if not metric.formula:
            continue
        values = rows.values[metric.name]
        table[metric.name] = estimator.mean(values, rows.weight, metric.bounds)
        differences = {base: values - rows.base[base][metric.name][rows.event] for base in BASELINES}
        for base, difference in differences.items():
            against[metric.name, base] = estimator.mean(difference, rows.weight)._replace(influence=None)
        if metric.gamma is not None and intervals:
            bets = place_bets(metric.gamma, events, rows)
            table[metric.name] = estimator.tilt(table[metric.name], values, bets, metric.bounds)
            for row, (base, difference) in enumerate(differences.items(), rows.forecasters):
                bets_apart = bets.against(row, len(events.outcome))
                against[metric.name, base] = estimator.tilt(against[metric.name, base], difference, bets_apart)
    table["ece"] = table["brier"].without_error(calibration_errors(rows.bins))
    table.update(_measure_models(estimator, models, table["brier"], table["log"]))
    return Measures(table, against)


def _measure_models(estimator: _Estimator, models: Models, brier: Estimate, log: Estimate) -> dict[str, Estimate]:
    """The adjusted Brier, ability, weighted Brier and strength of the forecasters; the baselines have none.

    The weighted Brier takes the events' discriminations as given.
    """
    effects, irt, rows = models.effects, models.irt, estimator.rows
    everybody, everything = np.arange(rows.forecasters), np.arange(len(estimator.cluster))
    nothing = brier.without_error(np.full(estimator.size, math.nan))
    found = dict.fromkeys(("irt_ability", "weighted_brier", "bradley_terry"), nothing)
    found["adjusted_brier"] = estimator.model(brier, effects.score, effects.influence, everybody, everything)
    if irt:
        found["irt_ability"] = estimator.model(brier, irt.ability, irt.influence, models.able, models.answered)
        discrimination = np.full(len(estimator.cluster), math.nan)
        discrimination[models.answered] = irt.discrimination
        weight = discrimination[rows.event]
        values = np.where(np.isnan(weight), math.nan, rows.values["brier"])
        found["weighted_brier"] = estimator.mean(values, rows.weight * np.nan_to_num(weight), (0.0, 1.0))
    if models.strengths:
        found["bradley_terry"] = _measure_strengths(estimator, models, log)
    return found


def _measure_strengths(estimator: _Estimator, models: Models, log: Estimate) -> Estimate:
    """Strengths of mean 1, with intervals of ln θ; none for a strength that is 0."""
    fit = models.strengths
    assert fit
    moves = fit.influence
    moves = (moves - (moves @ fit.strength / len(fit.strength))[:, None]) * fit.strength  # the mean stays 1
    found = estimator.model(log, fit.strength, moves, models.rated, models.decided)
    if found.error is None or found.influence is None:
        return found
    error = found.error * estimator.spread(np.where(fit.vanished, math.nan, 1.0), models.rated)
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = t_intervals(np.log(found.values), error / found.values, found.clusters)
    interval = np.exp(low), np.minimum(np.exp(np.minimum(high, 700)), len(fit.strength))
    return found._replace(error=error, interval=interval, influence=np.nan_to_num(found.influence))
