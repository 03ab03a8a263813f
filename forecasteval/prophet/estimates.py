"""Every metric of every row of a board, with errors clustered by series of events, intervals and
influence.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from .arrays import Floats, Ints, split_runs, weighted_means
from .forecasts import Forecasts
from .models import BradleyTerryFit, Fitted, Models
from .return_intervals import tilted_interval
from .score_table import BASELINES, Scored
from .scores import calibration_errors, crra_stake

LEAST_CLUSTERS: Final = 2  # with fewer there is no measure of the error


class Estimate(NamedTuple):
    """A metric by row: its values, the events and clusters behind each, errors, both ends of 95 %
    intervals.

    `influence`: by cluster and row, what one more copy of the cluster adds to the value; without a
    row where errors are not estimated (and then nan), or where it is not needed.
    """

    values: Floats
    counts: Ints
    clusters: Ints
    error: Floats
    low: Floats
    high: Floats
    influence: Floats

    def bounds(self, at: int) -> list[float] | None:
        """The interval of a row, if it has two clusters at least."""
        low, high = float(self.low[at]), float(self.high[at])
        return (
            None
            if self.clusters[at] < LEAST_CLUSTERS or math.isnan(low) or math.isnan(high)
            else [low, high]
        )


def make_estimate(
    values: Floats, counts: Ints, clusters: Ints, influence: Floats | None = None
) -> Estimate:
    """With the errors and intervals that follow from the influence of the clusters; without it they
    are nan.
    """
    if influence is None:
        unknown = np.full(len(values), math.nan)
        return Estimate(
            values, counts, clusters, unknown, unknown, unknown, np.empty((0, len(values)))
        )
    error = clustered_errors(influence, clusters)
    low, high = t_intervals(values, error, clusters)
    return Estimate(values, counts, clusters, error, low, high, influence)


Measures = dict[
    tuple[str, str], Estimate
]  # by metric and what is subtracted: "", or a baseline on the row's events


def estimate_means(values: Floats, weight: Floats, row: Ints, cluster: Ints, rows: int) -> Estimate:
    """Σ w x / Σ w of every row, without values that are nan; a cluster has the influence Σ w (x -
    mean) / Σ w.
    """
    means, counts = weighted_means(values, weight, row, rows)
    has = ~np.isnan(values)
    w, row = weight[has], row[has]
    cell, shape = cluster[has] * rows + row, (int(cluster.max()) + 1, rows)
    shift = np.asarray(
        np.bincount(cell, w * (values[has] - means[row]), math.prod(shape)), dtype=float
    ).reshape(shape)
    clusters = np.count_nonzero(np.bincount(cell, minlength=shift.size).reshape(shape), axis=0)
    total = np.bincount(row, w, rows)
    return make_estimate(means, counts, clusters, shift / np.where(total > 0, total, 1))


def measure(scored: Scored, bins: Floats, models: Models, intervals: bool) -> Measures:
    """Every metric of every row (`bins`: calibration sums), and of the means the differences to
    market and crowd.

    Without `intervals` there are no errors either.
    """
    measures: Measures = {}
    forecasts, cluster = scored.forecasts, scored.events.clusters()
    board = forecasts.forecaster, cluster[forecasts.event], len(forecasts.names)
    for metric in (metric for metric in scored.metrics if metric.formula):
        for base in ("", *BASELINES):
            estimate = estimate_means(scored.less(metric.name, base), forecasts.weight, *board)
            measures[metric.name, base] = (
                estimate._replace(influence=estimate.influence[:0].copy()) if base else estimate
            )
    brier = measures["brier", ""]
    measures["ece", ""] = make_estimate(calibration_errors(bins), brier.counts, brier.clusters)
    effects = models.effects.fit
    measures["adjusted_brier", ""] = _estimate_model(
        brier, models.effects, effects.score, effects.influence, cluster
    )
    if models.irt:
        irt = models.irt.fit
        measures["irt_ability", ""] = _estimate_model(
            brier, models.irt, irt.ability, irt.influence, cluster
        )
        discrimination = np.full(len(cluster), math.nan)
        discrimination[models.irt.events] = irt.discrimination
        weight = discrimination[forecasts.event]  # which is taken as given
        values = np.where(np.isnan(weight), math.nan, scored.values["brier"])
        measures["weighted_brier", ""] = estimate_means(
            values, forecasts.weight * np.nan_to_num(weight), *board
        )
    if models.strengths:
        measures["bradley_terry", ""] = _estimate_strengths(
            measures["log", ""], models.strengths, cluster
        )
    unknown = make_estimate(np.full(len(forecasts.names), math.nan), brier.counts, brier.clusters)
    measures |= {
        (metric.name, ""): unknown for metric in scored.metrics if (metric.name, "") not in measures
    }
    if not intervals:
        return {key: make_estimate(*estimate[:3]) for key, estimate in measures.items()}
    _tilt_intervals(measures, scored)
    for metric in scored.metrics:
        estimate = measures[metric.name, ""]
        np.clip(estimate.low, *metric.bounds, out=estimate.low)
        np.clip(estimate.high, *metric.bounds, out=estimate.high)
    return measures


def _tilt_intervals(measures: Measures, scored: Scored) -> None:
    """Replace the intervals of returns, and of their differences, by those of tilted markets
    (`tilted_interval`).

    Asking prices are divided by their sum, which may be above 1; events count by their weights.
    Events of one series hang together: where they do, an interval is as much wider as the clustered
    error is larger.
    """
    events, (_, *baselines) = scored.events, scored.split()
    gammas = {metric.name: metric.gamma for metric in scored.metrics if metric.gamma is not None}
    paid = {
        (name, ""): np.zeros(len(events.outcome)) for name in gammas
    }  # option by option, and for the baselines
    for base, part in zip(BASELINES, baselines, strict=True):
        for bets in _list_bets(part):
            for name, gamma in gammas.items():
                paid[name, base] = np.full(len(events.outcome), math.nan)
                paid[name, base][events.slots(bets.event)] = _pay(bets, gamma)
    wider = {key: _design_effect(measures[key], scored, *key) for key in paid}
    for bets in _list_bets(scored):
        at, slot = int(bets.forecaster[0]), events.slots(bets.event)
        prices = bets.q / np.repeat(np.add.reduceat(bets.q, bets.starts), bets.sizes)
        weight = np.repeat(bets.weight / bets.weight.mean(), bets.sizes)
        pays = {name: _pay(bets, gamma) for name, gamma in gammas.items()}
        for (name, base), subtracted in paid.items():
            estimate = measures[name, base]
            mean = float(estimate.values[at])
            ends = tilted_interval(
                (pays[name] - subtracted[slot]) * weight, prices, bets.offsets, mean
            )
            estimate.low[at], estimate.high[at] = (
                mean + (end - mean) * wider[name, base][at] for end in ends
            )


def _list_bets(scored: Scored) -> Iterator[Forecasts]:
    """The forecasts of exclusive events that have a price, of one forecaster after the other."""
    data = scored.forecasts
    bets = np.flatnonzero(data.priced & scored.events.exclusive[data.event])
    order = bets[np.argsort(data.forecaster[bets], kind="stable")]
    return map(data.select, split_runs(order, data.forecaster))


def _pay(bets: Forecasts, gamma: float) -> Floats:
    """The payoff of each option for risk aversion `gamma` (`crra_stake`); no probabilities count as
    uniform.
    """
    empty = np.add.reduceat(bets.p, bets.starts) == 0
    p = np.where(np.repeat(empty, bets.sizes), 1.0, bets.p)
    return crra_stake(p, bets.q, gamma, bets.offsets) / bets.q


def _design_effect(estimate: Estimate, scored: Scored, metric: str, base: str) -> Floats:
    """By row how many times as large the clustered error is as that of independent events, at least
    1.
    """
    forecasts, values = scored.forecasts, scored.less(metric, base)
    board = forecasts.forecaster, forecasts.event, len(forecasts.names)
    independent = estimate_means(values, forecasts.weight, *board).error
    with np.errstate(invalid="ignore", divide="ignore"):
        wider = np.where(estimate.clusters < estimate.counts, estimate.error / independent, 1.0)
    return np.asarray(np.fmax(np.nan_to_num(wider, nan=1.0, posinf=1.0), 1.0))


def _estimate_model(
    like: Estimate, fitted: Fitted[Any], values: Floats, influence: Floats, cluster: Ints
) -> Estimate:
    """Values of the forecasters of a fit, with their influence by its events; `like` has the same
    events behind it.
    """
    full, by_event = np.full(len(like.values), math.nan), np.zeros((len(cluster), len(like.values)))
    full[fitted.forecasters] = values
    by_event[np.ix_(fitted.events, fitted.forecasters)] = influence
    return make_estimate(full, like.counts, like.clusters, clustered(by_event, cluster))


def _estimate_strengths(log: Estimate, fitted: Fitted[BradleyTerryFit], cluster: Ints) -> Estimate:
    """Strengths of mean 1, with intervals of ln θ; none for a strength that is 0."""
    fit = fitted.fit
    moves = (
        fit.influence - (fit.influence @ fit.strength / len(fit.strength))[:, None]
    ) * fit.strength
    estimate = _estimate_model(log, fitted, fit.strength, moves, cluster)  # the mean stays 1
    unsure = np.isnan(estimate.values)
    unsure[fitted.forecasters[fit.vanished]] = True
    error = np.where(unsure, math.nan, estimate.error)
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = t_intervals(np.log(estimate.values), error / estimate.values, estimate.clusters)
    low, high = np.exp(low), np.minimum(np.exp(np.minimum(high, 700)), len(fit.strength))
    return estimate._replace(
        error=error, low=low, high=high, influence=np.nan_to_num(estimate.influence)
    )


# --- Errors ---


def clustered(influence: Floats, cluster: Ints) -> Floats:
    """The influence by cluster, of that by event."""
    total = np.zeros((int(cluster.max()) + 1, influence.shape[1]))
    np.add.at(total, cluster, influence)
    return total


def clustered_errors(influence: Floats, clusters: Ints) -> Floats:
    """√(Σ_c influence² · n/(n - 1)) of every row over its n clusters; nan below two."""
    factor = clusters / np.where(clusters >= LEAST_CLUSTERS, clusters - 1, np.nan)
    return np.asarray(np.sqrt((influence**2).sum(axis=0) * factor))


def t_intervals(estimate: Floats, error: Floats, clusters: Ints) -> tuple[Floats, Floats]:
    """Both ends of the 95 % interval estimate ± t · error, with n - 1 degrees of freedom for n
    clusters.
    """
    from scipy.special import stdtrit

    half = stdtrit(np.maximum(clusters - 1.0, 1.0), 0.975) * error
    return estimate - half, estimate + half
