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
from .models import BradleyTerryFit, EffectsFit, Fitted, Models
from .return_intervals import tilted_interval
from .score_table import BASELINES, Scored, normalise
from .scores import PRICE_RANGE, calibration_errors

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

    def intervals(self) -> list[list[float] | None]:
        """The interval of every row, if it is known."""
        ends = zip(self.low.tolist(), self.high.tolist(), strict=True)
        return [None if math.isnan(low + high) else [low, high] for low, high in ends]


Measures = dict[tuple[str, str], Estimate]  # by metric and what is subtracted: "", or a baseline


def without_error(values: Floats, counts: Ints, clusters: Ints) -> Estimate:
    none = np.full(len(values), math.nan)
    return Estimate(values, counts, clusters, none, none, none, np.empty((0, len(values))))


class Board(NamedTuple):
    """The rows of a board (forecasters and baselines), and the cluster of each of its events."""

    scored: Scored
    cluster: Ints

    @property
    def rows(self) -> int:
        return len(self.scored.forecasts.names)

    def sum_cells(self, values: Floats) -> Floats:
        """The sums of the forecasts' values by cluster and row."""
        forecasts = self.scored.forecasts
        shape = int(self.cluster.max()) + 1, self.rows
        cell = self.cluster[forecasts.event] * self.rows + forecasts.forecaster
        return np.bincount(cell, values, math.prod(shape)).reshape(shape).astype(float)

    def estimate(
        self, found: Floats, influence: Floats, values: Floats, weight: Floats
    ) -> Estimate:
        """What was found of the rows, with the errors and intervals that follow from the influence
        of the clusters. The forecasts behind it are those whose `values` are not nan.
        """
        has = ~np.isnan(values)
        shares = self.sum_cells(np.where(has, weight, 0))
        total = shares.sum(axis=0)
        shares /= np.where(total > 0, total, 1)
        counts = np.bincount(self.scored.forecasts.forecaster[has], minlength=self.rows)
        error, freedom = clustered_errors(influence, shares)
        low, high = t_intervals(found, error, freedom)
        clusters = np.count_nonzero(shares, axis=0)
        return Estimate(found, counts, clusters, error, low, high, influence)

    def estimate_means(self, values: Floats, weight: Floats) -> Estimate:
        """Σ w x / Σ w of every row, without values that are nan; a cluster has the influence Σ w (x
        - mean) / Σ w.
        """
        row, weight = self.scored.forecasts.forecaster, np.where(np.isnan(values), 0, weight)
        means = weighted_means(values, weight, row, self.rows)[0]
        moved = self.sum_cells(np.nan_to_num(weight * (values - means[row])))
        total = np.bincount(row, weight, self.rows)
        return self.estimate(means, moved / np.where(total > 0, total, 1), values, weight)

    def estimate_model(
        self, fitted: Fitted[Any], found: Floats, influence: Floats, metric: str = "brier"
    ) -> Estimate:
        """What was found of the forecasters of a fit, with their influence by its events; events
        have equal weights in models. Behind it are the forecasts that have the metric.
        """
        full = np.full(self.rows, math.nan)
        full[fitted.forecasters] = found
        by_cluster = np.zeros((int(self.cluster.max()) + 1, self.rows))
        places = np.ix_(self.cluster[fitted.events], fitted.forecasters)
        np.add.at(by_cluster, places, influence)
        values = self.scored.values[metric]
        return self.estimate(full, by_cluster, values, np.ones(len(values)))


def measure(scored: Scored, bins: Floats, models: Models, intervals: bool) -> Measures:
    """Every metric of every row (`bins`: calibration sums), and of the means the differences to
    market and crowd.

    Without `intervals` there are no errors either.
    """
    board, measures = Board(scored, scored.events.clusters()), Measures()
    means = [metric for metric in scored.metrics if metric.formula]
    for metric in means:
        for base in ("", *BASELINES):
            estimate = board.estimate_means(scored.less(metric.name, base), scored.weight)
            if base:  # its influence is not needed, and takes much memory
                estimate = estimate._replace(influence=estimate.influence[:0].copy())
            measures[metric.name, base] = estimate
    brier = measures["brier", ""]
    unknown = without_error(np.full(board.rows, math.nan), brier.counts, brier.clusters)
    measures |= {(metric.name, ""): unknown for metric in scored.metrics if not metric.formula}
    measures["ece", ""] = unknown._replace(values=calibration_errors(bins))
    measures["adjusted_brier", ""] = _adjust(board, brier, models.effects)
    if models.irt:
        irt, discrimination = models.irt.fit, np.full(len(board.cluster), math.nan)
        measures["irt_ability", ""] = board.estimate_model(models.irt, irt.ability, irt.influence)
        discrimination[models.irt.events] = irt.discrimination
        weight = discrimination[scored.forecasts.event]  # which is taken as given
        values = np.where(np.isnan(weight), math.nan, scored.values["brier"])
        weighted = board.estimate_means(values, scored.weight * np.nan_to_num(weight))
        measures["weighted_brier", ""] = weighted
    if models.strengths:
        measures["bradley_terry", ""] = _estimate_strengths(board, models.strengths)
    if not intervals:
        return {key: without_error(*estimate[:3]) for key, estimate in measures.items()}
    measures |= _tilt_intervals(board, measures)
    for metric in scored.metrics:
        low, high = (np.clip(ends, *metric.bounds) for ends in measures[metric.name, ""][4:6])
        measures[metric.name, ""] = measures[metric.name, ""]._replace(low=low, high=high)
    return measures


def _adjust(board: Board, brier: Estimate, effects: Fitted[EffectsFit]) -> Estimate:
    """Adjusted Brier. Market and crowd have the score of forecasters who do not move the others':
    where they have all events, of equal weight, that is their Brier score.
    """
    scored, fit = board.scored, effects.fit
    adjusted = board.estimate_model(effects, fit.score, fit.influence)
    easier = scored.values["brier"] - fit.difficulty[scored.forecasts.event]
    plain, _ = weighted_means(easier, np.ones(len(easier)), scored.forecasts.forecaster, board.rows)
    last = np.arange(board.rows) >= board.rows - len(BASELINES)
    everywhere = last & (brier.counts == len(board.cluster)) & np.isclose(plain, brier.values)
    ends = (np.where(everywhere, *pair) for pair in zip(brier[3:6], adjusted[3:6], strict=True))
    error, low, high = ends
    values = np.where(last, plain, adjusted.values)
    return adjusted._replace(values=values, error=error, low=low, high=high)


def _estimate_strengths(board: Board, fitted: Fitted[BradleyTerryFit]) -> Estimate:
    """Strengths of mean 1, with intervals of ln θ."""
    fit, size = fitted.fit, len(fitted.fit.strength)
    moves = fit.influence - (fit.influence @ fit.strength / size)[:, None]  # the mean stays 1
    logs = np.log(np.maximum(fit.strength, 1e-300))
    estimate = board.estimate_model(fitted, logs, moves, "log")
    theta, low, high = (np.exp(np.minimum(each, 700)) for each in (estimate[0], *estimate[4:6]))
    return estimate._replace(
        values=theta,
        error=estimate.error * theta,
        low=low,
        high=np.minimum(high, size),
        influence=np.nan_to_num(estimate.influence * theta),
    )


# --- Returns ---


def _tilt_intervals(board: Board, measures: Measures) -> Measures:
    """The returns and their differences with intervals of tilted markets (`tilted_interval`).

    Asking prices are divided by their sum, which may be above 1; events count by their weights.
    Events of one series hang together: where they do, an interval is as much wider as the clustered
    error is larger.
    """
    scored, events = board.scored, board.scored.events
    names = [metric.name for metric in scored.metrics if metric.payoffs]
    paid = {(name, ""): np.zeros(len(events.outcome)) for name in names}
    for base, part in zip(BASELINES, scored.split()[1:], strict=True):
        paid |= {(name, base): np.full(len(events.outcome), math.nan) for name in names}
        for bets, pays in _list_bets(part):
            for name in names:
                paid[name, base][events.slots(bets.event)] = pays[name]
    wider = {key: _design_effect(board, measures[key], *key) for key in paid}
    ends = {key: np.full((2, board.rows), math.nan) for key in paid}
    for bets, pays in _list_bets(scored):
        at, slot = int(bets.forecaster[0]), events.slots(bets.event)
        prices = bets.q / np.repeat(np.add.reduceat(bets.q, bets.starts), bets.sizes)
        weight = events.weight[bets.event]
        weight = np.repeat(weight / weight.mean(), bets.sizes)
        for key, subtracted in paid.items():
            mean, pay = float(measures[key].values[at]), pays[key[0]] - subtracted[slot]
            both = tilted_interval(pay * weight, prices, bets.offsets, mean)
            ends[key][:, at] = mean + (np.array(both) - mean) * wider[key][at]
    return {key: measures[key]._replace(low=low, high=high) for key, (low, high) in ends.items()}


def _list_bets(scored: Scored) -> Iterator[tuple[Forecasts, dict[str, Floats]]]:
    """The forecasts of exclusive events that have a price, of one forecaster after the other, with
    whole probabilities and clipped prices; by return what each option pays.
    """
    data = scored.forecasts
    bets = np.flatnonzero(data.priced & scored.events.exclusive[data.event])
    order = bets[np.argsort(data.forecaster[bets], kind="stable")]
    for own in split_runs(order, data.forecaster):
        bet = data.select(own)
        bet = bet._replace(p=normalise(bet.p, bet.offsets), q=np.clip(bet.q, *PRICE_RANGE))
        prices = bet.q, bet.bid, bet.offsets
        yield bet, {m.name: m.payoffs(bet.p, *prices) for m in scored.metrics if m.payoffs}


def _design_effect(board: Board, estimate: Estimate, metric: str, base: str) -> Floats:
    """By row how many times as large the clustered error is as that of independent events, at least
    1.
    """
    alone, values = Board(board.scored, np.arange(len(board.cluster))), board.scored
    independent = alone.estimate_means(values.less(metric, base), values.weight).error
    with np.errstate(invalid="ignore", divide="ignore"):
        wider = np.where(estimate.clusters < estimate.counts, estimate.error / independent, 1.0)
    return np.asarray(np.fmax(np.nan_to_num(wider, nan=1.0, posinf=1.0), 1.0))


# --- Errors ---


def clustered_errors(influence: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """The error of every row, and its degrees of freedom; nan below two clusters.

    √Σ_g e_g²/(1 - s_g) over the clusters g, e_g the influence of one and s_g its share of the row's
    events: a mean follows its largest clusters, whose residuals are too small for it. The freedom
    (Σλ)²/Σλ² has the eigenvalues λ of that sum of squares for independent events, which are not
    needed: it is 1/(Σs² + (Σ s²/(1 - s))² - Σ s⁴/(1 - s)²). Where n clusters are equal these are
    n/(n - 1) Σ e² and n - 1. To a model's estimate clusters without events of the row contribute,
    too: their e² are enlarged as much as those of the others together.

    influence, shares: clusters × rows. Source: CR2 and its degrees of freedom, Bell and McCaffrey,
    Survey Methodology 28 (2002) 169–181; Imbens and Kolesár, Rev. Econ. Stat. 98 (2016) 701–712.
    """
    few = (shares > 0).sum(axis=0) < LEAST_CLUSTERS
    rest = np.where(few | (shares >= 1), np.nan, 1 - shares)
    squares, leverage = influence**2, shares**2 / rest
    own = np.where(shares > 0, squares, 0)
    known = np.maximum(own.sum(axis=0), 1e-300)
    variance = (own / rest).sum(axis=0) * (squares.sum(axis=0) / known)
    inverse = (shares**2).sum(axis=0) + leverage.sum(axis=0) ** 2 - (leverage**2).sum(axis=0)
    return np.sqrt(variance), np.maximum(1 / inverse, 1.0)


def t_intervals(estimate: Floats, error: Floats, freedom: Floats) -> tuple[Floats, Floats]:
    """Both ends of the 95 % interval estimate ± t · error."""
    from scipy.special import stdtrit

    half = stdtrit(freedom, 0.975) * error
    return estimate - half, estimate + half
