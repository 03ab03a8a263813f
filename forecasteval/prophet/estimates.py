"""Every metric of every row of a board, with errors clustered by series of events, intervals and
what makes the values vary.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from .arrays import Floats, Ints, weighted_means
from .forecasts import BASELINES
from .irt import IrtFit
from .models import EffectsFit, Fitted, Models
from .promises import CROWD, MARKET, Outcomes, OutcomeScores, Promise
from .score_table import ForecastScores
from .scores import calibration_errors

LEAST_CLUSTERS: Final = 2  # with fewer there is no measure of the error


class Variation(NamedTuple):
    """What makes the values of rows vary.

    by_cluster, by_event: what each adds to the value of each row, scaled so that the squares sum up
    to the squared error; the same table where every event is a cluster. promise: what outcomes add.
    """

    by_cluster: Floats
    by_event: Floats
    promise: Promise

    def pair_variances(self, rows: Ints) -> Floats:
        """Compute the variance of the difference of every two rows, at least the promised one."""
        together = difference_variances(self.by_cluster[:, rows])
        promised = self.promise.pair_variances(rows)
        if self.by_event is not self.by_cluster:
            alone = difference_variances(self.by_event[:, rows])
            promised *= design_effect(together, alone, len(self.by_event))
        return np.maximum(together, promised)


def difference_variances(scaled: Floats) -> Floats:
    """Compute the squared length of the difference of every two columns."""
    products = scaled.T @ scaled
    squares = np.diag(products)
    return np.asarray(np.maximum(squares[:, None] + squares - 2 * products, 0))


def design_effect(together: Floats, alone: Floats, events: int) -> Floats:
    """Compute how much larger variances are for clusters than for their events alone: 1 to the
    number of events, and 1 where nothing varies.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = together / alone
    return np.clip(np.nan_to_num(ratio, nan=1, posinf=1), 1, events)


class Estimate(NamedTuple):
    """A metric by row. It has its values, the events and clusters behind each, errors with their
    degrees of freedom, both ends of 95 % intervals.

    `promised`: the least variance of the value. `variation` is None where errors are not estimated
    (and then nan), or where it is not needed.
    """

    values: Floats
    counts: Ints
    clusters: Ints
    error: Floats
    freedom: Floats
    promised: Floats
    low: Floats
    high: Floats
    variation: Variation | None = None

    def intervals(self) -> list[list[float] | None]:
        """List the interval of every row, None if it is not known."""
        ends = zip(self.low.tolist(), self.high.tolist(), strict=True)
        return [None if math.isnan(low + high) else [low, high] for low, high in ends]

    def without_error(self, values: Floats) -> Estimate:
        """Put other values, of which no error is known, in the place of these."""
        none = np.full(len(values), math.nan)
        unknown = dict.fromkeys(("error", "freedom", "promised", "low", "high"), none)
        return self._replace(values=values, variation=None, **unknown)


Measures = dict[tuple[str, str], Estimate]  # by metric and what is subtracted: "", or "market"


class Contestants(NamedTuple):
    """The rows of a board (forecasters and baselines), and the cluster of each of its events."""

    scored: ForecastScores
    cluster: Ints

    @property
    def rows(self) -> int:
        return len(self.scored.forecasts.names)

    def sum_events(self, values: Floats) -> Floats:
        """Make a table of the forecasts' values, events × rows."""
        forecasts = self.scored.forecasts
        shape = len(self.cluster), self.rows
        cell = forecasts.event * self.rows + forecasts.forecaster
        return np.bincount(cell, values, math.prod(shape)).reshape(shape).astype(float)

    def sum_clusters(self, table: Floats) -> Floats:
        """Sum up a table of events × rows by cluster."""
        count = int(self.cluster.max()) + 1
        if count == len(table):
            return table
        sums = np.zeros((count, self.rows))
        np.add.at(sums, self.cluster, table)
        return sums

    def estimate(
        self,
        found: Floats,
        influence: Floats,
        values: Floats,
        weight: Floats,
        promise: Promise,
        other: int = CROWD,
    ) -> Estimate:
        """Estimate what was found of the rows, with the errors and intervals that follow from the
        influence of the events. The forecasts behind it are those whose `values` are not nan.

        influence: events × rows, what one more copy of the event adds to the value. The error is at
        least the promised one, at the mean of the row's belief and that of the row `other`.
        """
        has = ~np.isnan(values)
        shares = self.sum_events(np.where(has, weight, 0))
        total = shares.sum(axis=0)
        shares /= np.where(total > 0, total, 1)
        cluster_shares, by_cluster = self.sum_clusters(shares), self.sum_clusters(influence)
        observed, freedom = clustered_errors(by_cluster, cluster_shares)
        alone, _ = clustered_errors(influence, shares)
        effect = design_effect(observed**2, alone**2, len(influence))
        promised = effect * promise.variances(other)
        error = np.sqrt(np.maximum(observed**2, promised))
        low, high = t_intervals(found, error, freedom)
        counts = np.bincount(self.scored.forecasts.forecaster[has], minlength=self.rows)
        clusters = np.count_nonzero(cluster_shares, axis=0)
        by_cluster = scale_columns(by_cluster, observed)
        is_same = len(by_cluster) == len(influence)
        by_event = by_cluster if is_same else scale_columns(influence, alone)
        variation = Variation(by_cluster, by_event, promise)
        return Estimate(found, counts, clusters, error, freedom, promised, low, high, variation)

    def estimate_means(
        self, values: Floats, weight: Floats, promise: Promise, other: int = CROWD
    ) -> Estimate:
        """Σ w x / Σ w of every row, without values that are nan. An event has the influence Σ w (x
        - mean) / Σ w.
        """
        row, weight = self.scored.forecasts.forecaster, np.where(np.isnan(values), 0, weight)
        means = weighted_means(values, weight, row, self.rows)
        moved = self.sum_events(np.nan_to_num(weight * (values - means[row])))
        total = np.bincount(row, weight, self.rows)
        influence = moved / np.where(total > 0, total, 1)
        return self.estimate(means, influence, values, weight, promise, other)

    def estimate_model(
        self,
        fitted: Fitted[Any],
        found: Floats,
        influence: Floats,
        weight: Floats,
        promise: Promise,
    ) -> Estimate:
        """Estimate what was found of the forecasters of a fit, with its influence by events."""
        by_event = np.zeros((len(self.cluster), self.rows))
        by_event[np.ix_(fitted.events, fitted.forecasters)] = influence
        full = self.spread(fitted, found)
        return self.estimate(full, by_event, self.scored.values["brier"], weight, promise)

    def spread(self, fitted: Fitted[Any], found: Floats) -> Floats:
        """Put the numbers of the forecasters of a fit on all rows, nan on the others."""
        full = np.full(self.rows, math.nan)
        full[fitted.forecasters] = found
        return full


def scale_columns(table: Floats, lengths: Floats) -> Floats:
    """Make the columns of a table as long as `lengths`."""
    given = np.sqrt((table**2).sum(axis=0))
    return np.asarray(table * (lengths / np.where(given > 0, given, 1)))


def measure(scored: ForecastScores, bins: Floats, event_bins: Floats, models: Models) -> Measures:
    """Estimate every metric of every row, and of the means the differences to the market.

    bins, event_bins: calibration sums, by option and by event.
    """
    board, measures = Contestants(scored, scored.events.clusters()), Measures()
    outcomes, brier_by_outcome = Outcomes(scored), None
    for metric in (metric for metric in scored.metrics if metric.is_mean):
        by_outcome = outcomes.score(metric)
        if metric.name == "brier":
            brier_by_outcome = by_outcome
        for base, estimate in _estimate_mean(board, metric.name, by_outcome).items():
            measures[metric.name, base] = estimate
        if metric.is_return:
            expected = by_outcome.expected_means()
            for base in ("", "market"):
                paid = measures[metric.name, ""].values
                bounded = _bound_return(measures[metric.name, base], paid, expected)
                measures[metric.name, base] = bounded
    assert brier_by_outcome
    measures |= _estimate_models(board, brier_by_outcome, measures["brier", ""], models)
    for name, sums in ("ece", bins), ("ece_events", event_bins):
        measures[name, ""] = measures["brier", ""].without_error(calibration_errors(sums))
    for metric in scored.metrics:
        estimate = measures[metric.name, ""]
        low, high = (np.clip(ends, *metric.bounds) for ends in (estimate.low, estimate.high))
        ends = np.minimum(low, estimate.values), np.maximum(high, estimate.values)
        measures[metric.name, ""] = estimate._replace(low=ends[0], high=ends[1])
    return measures


def _estimate_mean(board: Contestants, name: str, by_outcome: OutcomeScores) -> dict[str, Estimate]:
    """Estimate a mean and its difference to the market's."""
    scored = board.scored
    promise = by_outcome.promise()
    mean = board.estimate_means(scored.values[name], scored.weight, promise)
    less = scored.less(name, "market")
    promise = by_outcome.promise_difference(MARKET)
    difference = board.estimate_means(less, scored.weight, promise, MARKET)
    # Of the difference no ranks are made, and a variation takes much memory.
    return {"": mean, "market": difference._replace(variation=None)}


def _estimate_models(
    board: Contestants, by_outcome: OutcomeScores, brier: Estimate, models: Models
) -> Measures:
    """Estimate the scores that are compared by a model of all forecasts."""
    scored, measures = board.scored, Measures()
    measures["adjusted_brier", ""] = _adjust(board, brier, models.effects, by_outcome)
    none = np.full(board.rows, math.nan)
    for name in ("irt_ability", "weighted_brier", "bradley_terry"):
        measures[name, ""] = brier.without_error(none)
    if models.irt:
        irt, discrimination = models.irt.fit, np.full(len(board.cluster), math.nan)
        events_alike = np.ones_like(scored.weight)
        # Discriminations are taken as given.
        discrimination[models.irt.events] = irt.discrimination
        by_ability = by_outcome._replace(weight=np.nan_to_num(discrimination))
        promise = _promise_ability(board, models.irt, by_ability)
        measures["irt_ability", ""] = board.estimate_model(
            models.irt, irt.ability, irt.influence, events_alike, promise
        )
        weight = discrimination[scored.forecasts.event]
        values = np.where(np.isnan(weight), math.nan, scored.values["brier"])
        by_event = scored.events.weight * np.nan_to_num(discrimination)
        promise = by_outcome._replace(weight=by_event).promise()
        weight = scored.weight * np.nan_to_num(weight)
        measures["weighted_brier", ""] = board.estimate_means(values, weight, promise)
    if models.strengths:
        strength = board.spread(models.strengths, models.strengths.fit.strength)
        measures["bradley_terry", ""] = brier.without_error(strength)
    return measures


def _adjust(
    board: Contestants, brier: Estimate, effects: Fitted[EffectsFit], by_outcome: OutcomeScores
) -> Estimate:
    """Estimate the adjusted Brier scores.

    Market and crowd have their Brier score where they have all events; else none.
    """
    fit, promise = effects.fit, by_outcome.promise_adjusted()
    is_last = np.arange(board.rows) >= board.rows - len(BASELINES)
    own = is_last & (brier.counts == len(board.cluster))
    weight = board.scored.weight
    adjusted = board.estimate_model(effects, fit.score, fit.influence, weight, promise)
    return adjusted._replace(
        values=np.where(own, brier.values, adjusted.values),
        error=np.where(own, brier.error, adjusted.error),
        low=np.where(own, brier.low, adjusted.low),
        high=np.where(own, brier.high, adjusted.high),
    )


def _promise_ability(board: Contestants, irt: Fitted[IrtFit], by_outcome: OutcomeScores) -> Promise:
    """Find what each outcome adds to the abilities.

    One step of Newton's method: Σ a (y - π) / (1 + Σ a² π(1 - π)) over the events of a forecaster,
    y - π being how far its 1 - Brier is above the others'. `by_outcome` weighs events by a.
    """
    fit = irt.fit
    a = fit.discrimination[:, None]
    pi = 1 / (1 + np.exp(-a * (fit.ability - fit.difficulty[:, None])))
    is_present = board.sum_events(np.ones(len(board.scored.weight))) > 0
    answered = is_present[np.ix_(irt.events, irt.forecasters)]
    information = 1 + (answered * a**2 * pi * (1 - pi)).sum(axis=0)
    unit = np.zeros(board.rows)
    unit[irt.forecasters] = (answered * a).sum(axis=0) / information
    promise = by_outcome.promise_ahead()
    return promise._replace(gain=unit * promise.gain)


# --- Returns ---


def _bound_return(estimate: Estimate, paid: Floats, expected: Floats) -> Estimate:
    """Find the intervals of a return, or of its difference to the market's (`score_interval`).

    paid: the return; expected: what the prices promise of it.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = estimate.error**2 / np.maximum(paid, expected)
        slope = np.fmax(estimate.promised / expected, observed)
    low, high = score_interval(estimate.values, paid, slope, estimate.freedom)
    return estimate._replace(low=low, high=high)


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
