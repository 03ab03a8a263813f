"""Every metric of every row of a board, with errors clustered by series of events, intervals and
influence.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from .arrays import Floats, Ints, weighted_means
from .forecasts import Forecasts
from .models import EffectsFit, Fitted, Models
from .score_table import BASELINES, ForecastScores, normalise
from .scores import PRICE_RANGE, calibration_errors

LEAST_CLUSTERS: Final = 2  # with fewer there is no measure of the error


class Estimate(NamedTuple):
    """A metric by row. It has its values, the events and clusters behind each, errors with their
    degrees of freedom, both ends of 95 % intervals.

    `influence`: by cluster and row, what one more copy of the cluster adds to the value; without a
    row where errors are not estimated (and then nan), or where it is not needed.
    """

    values: Floats
    counts: Ints
    clusters: Ints
    error: Floats
    freedom: Floats
    low: Floats
    high: Floats
    influence: Floats

    def intervals(self) -> list[list[float] | None]:
        """List the interval of every row, None if it is not known."""
        ends = zip(self.low.tolist(), self.high.tolist(), strict=True)
        return [None if math.isnan(low + high) else [low, high] for low, high in ends]

    def without_error(self, values: Floats) -> Estimate:
        """Put other values, of which no error is known, in the place of these."""
        none = np.full(len(values), math.nan)
        unknown = dict.fromkeys(("error", "freedom", "low", "high"), none)
        return self._replace(values=values, influence=np.empty((0, len(values))), **unknown)


Measures = dict[tuple[str, str], Estimate]  # by metric and what is subtracted: "", or "market"


class Contestants(NamedTuple):
    """The rows of a board (forecasters and baselines), and the cluster of each of its events."""

    scored: ForecastScores
    cluster: Ints

    @property
    def rows(self) -> int:
        return len(self.scored.forecasts.names)

    def sum_cells(self, values: Floats) -> Floats:
        """Sum the forecasts' values by cluster and row."""
        forecasts = self.scored.forecasts
        shape = int(self.cluster.max()) + 1, self.rows
        cell = self.cluster[forecasts.event] * self.rows + forecasts.forecaster
        return np.bincount(cell, values, math.prod(shape)).reshape(shape).astype(float)

    def estimate(
        self, found: Floats, influence: Floats, values: Floats, weight: Floats
    ) -> Estimate:
        """Estimate what was found of the rows, with the errors and intervals that follow from the
        influence of the clusters. The forecasts behind it are those whose `values` are not nan.
        """
        has = ~np.isnan(values)
        shares = self.sum_cells(np.where(has, weight, 0))
        total = shares.sum(axis=0)
        shares /= np.where(total > 0, total, 1)
        counts = np.bincount(self.scored.forecasts.forecaster[has], minlength=self.rows)
        error, freedom = clustered_errors(influence, shares)
        low, high = t_intervals(found, error, freedom)
        clusters = np.count_nonzero(shares, axis=0)
        return Estimate(found, counts, clusters, error, freedom, low, high, influence)

    def estimate_means(self, values: Floats, weight: Floats) -> Estimate:
        """Σ w x / Σ w of every row, without values that are nan. A cluster has the influence Σ w (x
        - mean) / Σ w.
        """
        row, weight = self.scored.forecasts.forecaster, np.where(np.isnan(values), 0, weight)
        means = weighted_means(values, weight, row, self.rows)
        moved = self.sum_cells(np.nan_to_num(weight * (values - means[row])))
        total = np.bincount(row, weight, self.rows)
        return self.estimate(means, moved / np.where(total > 0, total, 1), values, weight)

    def estimate_model(
        self, fitted: Fitted[Any], found: Floats, influence: Floats, weight: Floats
    ) -> Estimate:
        """Estimate what was found of the forecasters of a fit, with its influence by events."""
        by_cluster = np.zeros((int(self.cluster.max()) + 1, self.rows))
        places = np.ix_(self.cluster[fitted.events], fitted.forecasters)
        np.add.at(by_cluster, places, influence)
        full = self.spread(fitted, found)
        return self.estimate(full, by_cluster, self.scored.values["brier"], weight)

    def spread(self, fitted: Fitted[Any], found: Floats) -> Floats:
        """Put the numbers of the forecasters of a fit on all rows, nan on the others."""
        full = np.full(self.rows, math.nan)
        full[fitted.forecasters] = found
        return full


def measure(scored: ForecastScores, bins: Floats, models: Models) -> Measures:
    """Estimate every metric of every row, and of the means the differences to the market.

    `bins`: calibration sums.
    """
    board, measures = Contestants(scored, scored.events.clusters()), Measures()
    for metric in (metric for metric in scored.metrics if metric.formula):
        for base in ("", "market"):
            estimate = board.estimate_means(scored.less(metric.name, base), scored.weight)
            if base:  # its influence is not needed, and takes much memory
                estimate = estimate._replace(influence=estimate.influence[:0].copy())
            measures[metric.name, base] = estimate
    brier, none = measures["brier", ""], np.full(board.rows, math.nan)
    measures["ece", ""] = brier.without_error(calibration_errors(bins))
    measures["adjusted_brier", ""] = _adjust(board, brier, models.effects)
    for name in ("irt_ability", "weighted_brier", "bradley_terry"):
        measures[name, ""] = brier.without_error(none)
    if models.irt:
        irt, discrimination = models.irt.fit, np.full(len(board.cluster), math.nan)
        parts = irt.ability, irt.influence, np.ones_like(scored.weight)  # events count alike
        measures["irt_ability", ""] = board.estimate_model(models.irt, *parts)
        discrimination[models.irt.events] = irt.discrimination
        weight = discrimination[scored.forecasts.event]  # which is taken as given
        values = np.where(np.isnan(weight), math.nan, scored.values["brier"])
        weighted = board.estimate_means(values, scored.weight * np.nan_to_num(weight))
        measures["weighted_brier", ""] = weighted
    if models.strengths:
        strength = board.spread(models.strengths, models.strengths.fit.strength)
        measures["bradley_terry", ""] = brier.without_error(strength)
    measures |= _bound_returns(board, measures)
    for metric in scored.metrics:
        estimate = measures[metric.name, ""]
        low, high = (np.clip(ends, *metric.bounds) for ends in (estimate.low, estimate.high))
        ends = np.minimum(low, estimate.values), np.maximum(high, estimate.values)
        measures[metric.name, ""] = estimate._replace(low=ends[0], high=ends[1])
    return measures


def _adjust(board: Contestants, brier: Estimate, effects: Fitted[EffectsFit]) -> Estimate:
    """Estimate the adjusted Brier scores.

    Market and crowd have their Brier score where they have all events; else none.
    """
    fit = effects.fit
    is_last = np.arange(board.rows) >= board.rows - len(BASELINES)
    own = is_last & (brier.counts == len(board.cluster))
    adjusted = board.estimate_model(effects, fit.score, fit.influence, board.scored.weight)
    return adjusted._replace(
        values=np.where(own, brier.values, adjusted.values),
        error=np.where(own, brier.error, adjusted.error),
        low=np.where(own, brier.low, adjusted.low),
        high=np.where(own, brier.high, adjusted.high),
    )


# --- Returns ---


def _bound_returns(board: Contestants, measures: Measures) -> Measures:
    """Find the intervals of the returns and of their differences to the market's
    (`score_interval`).
    """
    bounded, independent = Measures(), board._replace(cluster=np.arange(len(board.cluster)))
    for (name, base), (expected, variance) in expect_payoffs(board.scored).items():
        estimate, paid = measures[name, base], measures[name, ""].values
        values, weight = independent.scored.less(name, base), independent.scored.weight
        alone = independent.estimate_means(values, weight).error
        with np.errstate(divide="ignore", invalid="ignore"):
            together = np.fmax((estimate.error / alone) ** 2, 1)  # events of a series hang together
            seen = estimate.error**2 / np.maximum(paid, expected)
            slope = np.fmax(together * variance / expected, seen)
        low, high = score_interval(estimate.values, paid, slope, estimate.freedom)
        bounded[name, base] = estimate._replace(low=low, high=high)
    return bounded


def score_interval(
    values: Floats, paid: Floats, slope: Floats, freedom: Floats
) -> tuple[Floats, Floats]:
    """Find both ends of the 95 % interval of a mean payoff whose variance is `slope` × itself.

    Most of a return comes from a few wins, which a sample may lack: its own deviation is too small
    then, and t intervals hold the truth in 80 %. As Wilson's interval of a share this one holds the
    means μ from which `paid` is at most t errors away, (paid - μ)² ≤ t² · slope · μ:
    paid + h ± √(h² + 2h · paid) with h = t² · slope / 2. Where `values` are differences of `paid`
    to something they move by as much. Source: Wilson, JASA 22 (1927) 209–212.

    >>> low, high = score_interval(*np.array([[0.0], [0.0], [0.1], [1e9]]))
    >>> (low.tolist(), high.round(3).tolist())
    ([0.0], [0.384])
    """
    from scipy.special import stdtrit

    half = stdtrit(freedom, 0.975) ** 2 * slope / 2
    reach = np.sqrt(half * half + 2 * half * paid)
    return values + half - reach, values + half + reach


def expect_payoffs(scored: ForecastScores) -> dict[tuple[str, str], tuple[Floats, Floats]]:
    """Sum up what every row's dollars would pay if the prices were the probabilities.

    By return and what is subtracted: the mean of the return; the variance of that mean, less the
    market's bets. Asking prices are divided by their sum, which may be above 1; events count by
    their weights.
    """
    events, rows = scored.events, len(scored.forecasts.names)
    bets, theirs = place_bets(scored), place_bets(scored.split()[1])
    prices = bets.q / np.repeat(np.add.reduceat(bets.q, bets.starts), bets.sizes)
    who, weight, slots = bets.forecaster, events.weight[bets.event], events.slots(bets.event)
    total = np.bincount(who, weight, rows)

    def expect(pay: Floats) -> Floats:
        return np.add.reduceat(prices * pay, bets.starts)

    payoffs = {}
    for metric in scored.metrics:
        if not metric.payoffs:
            continue
        market = np.full(len(events.outcome), math.nan)
        paid = metric.payoffs(theirs.p, theirs.q, theirs.bid, theirs.offsets)
        market[events.slots(theirs.event)] = paid
        pay = metric.payoffs(bets.p, bets.q, bets.bid, bets.offsets)
        with np.errstate(invalid="ignore"):
            mean = np.bincount(who, weight * expect(pay), rows) / total
            for base in ("", "market"):
                if base:
                    pay -= market[slots]
                spread = expect((pay - np.repeat(expect(pay), bets.sizes)) ** 2)
                variance = np.bincount(who, weight**2 * spread, rows) / total**2
                payoffs[metric.name, base] = mean, variance
    return payoffs


def place_bets(scored: ForecastScores) -> Forecasts:
    """Find the forecasts of exclusive events that have a price, with whole probabilities and
    clipped prices.
    """
    data = scored.forecasts
    bets = data.keep(data.priced & scored.events.exclusive[data.event])
    return bets._replace(p=normalise(bets.p, bets.offsets), q=np.clip(bets.q, *PRICE_RANGE))


# --- Errors ---


def clustered_errors(influence: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """Estimate the error of every row, and its degrees of freedom; nan below two clusters.

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
    """Compute both ends of the 95 % interval estimate ± t · error."""
    from scipy.special import stdtrit

    half = stdtrit(freedom, 0.975) * error
    return estimate - half, estimate + half
