"""Every metric of every row of a board, with errors clustered by series of events,
intervals and what makes the values vary.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from .arrays import Floats, Ints, weighted_means
from .forecasts import BASELINES
from .irt import IrtFit
from .metrics import Metric
from .models import EffectsFit, Fitted, Models
from .promises import CROWD, MARKET, Outcomes, OutcomeScores, Promise
from .score_table import ForecastScores
from .scores import calibration_errors

MIN_CLUSTERS: Final = 2  # with fewer there is no measure of the error


class Variation(NamedTuple):
    """What makes the values of rows vary.

    by_cluster, by_event: what each adds to the value of each row, scaled so that the
        squares sum up
    to the squared error; the same table where every event is a cluster. promise:
    what outcomes add.
    """

    by_cluster: Floats
    by_event: Floats
    promise: Promise

    def pair_variances(self, rows: Ints) -> Floats:
        """Compute the variance of the difference of every two rows, at least
        the promised one.
        """
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
    """Compute how much larger variances are for clusters than for their events alone: 1
    to the number of events, and 1 where nothing varies.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = together / alone
    return np.clip(np.nan_to_num(ratio, nan=1, posinf=1), 1, events)


class Estimate(NamedTuple):
    """A metric by row.

    counts, clusters: how many events and clusters are behind each value.
    freedom: degrees of freedom of the error.
    promised: the smallest variance of the value.
    low, high: the ends of 95 % intervals.
    variation: None where errors are not estimated (and then nan), or where it
        is not needed.
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

    def clip(self, bounds: tuple[float, float]) -> Estimate:
        """Clip intervals to the bounds of the metric; the value itself stays
        within its own.
        """
        low = np.minimum(np.clip(self.low, *bounds), self.values)
        high = np.maximum(np.clip(self.high, *bounds), self.values)
        return self._replace(low=low, high=high)


# By metric and what is subtracted: "", or "market"
Measures = dict[tuple[str, str], Estimate]


class Contestants(NamedTuple):
    """The rows of a board (forecasters and baselines), and the cluster of each
    of its events.
    """

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
        estimated: Floats,
        influence: Floats,
        values: Floats,
        weight: Floats,
        promise: Promise,
        other: int = CROWD,
    ) -> Estimate:
        """Estimate the errors and intervals that follow from the influence
        of the events.

        Args:
            estimated: the value of each row.
            influence: events × rows, what one more copy of the event adds to the value.
            values: of forecasts, nan for those that are not behind the value.
            weight: of forecasts.
            promise: a floor of the error, at the mean of the row's belief and that of
                the row `other`.
        """
        has = ~np.isnan(values)
        shares = self.sum_events(np.where(has, weight, 0))
        total = shares.sum(axis=0)
        shares /= np.where(total > 0, total, 1)
        cluster_shares = self.sum_clusters(shares)
        by_cluster = self.sum_clusters(influence)
        observed, freedom = clustered_errors(by_cluster, cluster_shares)
        alone, _ = clustered_errors(influence, shares)
        effect = design_effect(observed**2, alone**2, len(influence))
        promised = effect * promise.variances(other)
        error = np.sqrt(np.maximum(observed**2, promised))
        low, high = t_intervals(estimated, error, freedom)

        scaled_by_cluster = by_event = scale_columns(by_cluster, observed)
        if len(by_cluster) < len(influence):
            by_event = scale_columns(influence, alone)
        variation = Variation(scaled_by_cluster, by_event, promise)
        counts = np.bincount(self.scored.forecasts.forecaster[has], minlength=self.rows)
        clusters = np.count_nonzero(cluster_shares, axis=0)
        return Estimate(
            estimated, counts, clusters, error, freedom, promised, low, high, variation
        )

    def estimate_means(
        self, values: Floats, weight: Floats, promise: Promise, other: int = CROWD
    ) -> Estimate:
        """Estimate the mean of every row, without values that are nan:

            mean = Σ w x / Σ w

        An event has the influence Σ w (x - mean) / Σ w.
        """
        row = self.scored.forecasts.forecaster
        weight = np.where(np.isnan(values), 0, weight)
        means = weighted_means(values, weight, row, self.rows)
        moved = self.sum_events(np.nan_to_num(weight * (values - means[row])))
        total = np.bincount(row, weight, self.rows)
        influence = moved / np.where(total > 0, total, 1)
        return self.estimate(means, influence, values, weight, promise, other)

    def estimate_model(
        self,
        fitted: Fitted[Any],
        estimated: Floats,
        influence: Floats,
        weight: Floats,
        promise: Promise,
    ) -> Estimate:
        """Estimate what was found of the forecasters of a fit, with its
        influence by events.
        """
        by_event = np.zeros((len(self.cluster), self.rows))
        by_event[np.ix_(fitted.events, fitted.forecasters)] = influence
        full = self.expand(fitted, estimated)
        return self.estimate(
            full, by_event, self.scored.values["brier"], weight, promise
        )

    def expand(self, fitted: Fitted[Any], estimated: Floats) -> Floats:
        """Put the numbers of the forecasters of a fit on all rows, nan
        on the others.
        """
        full = np.full(self.rows, math.nan)
        full[fitted.forecasters] = estimated
        return full


def scale_columns(table: Floats, lengths: Floats) -> Floats:
    """Make the columns of a table as long as `lengths`."""
    given = np.sqrt((table**2).sum(axis=0))
    return np.asarray(table * (lengths / np.where(given > 0, given, 1)))


def measure(
    scored: ForecastScores, bins: Floats, event_bins: Floats, models: Models
) -> Measures:
    """Estimate every metric of every row, and of the means the differences
    to the market.

    bins, event_bins: calibration sums, by option and by event.
    """
    board = Contestants(scored, scored.events.clusters())
    outcomes = Outcomes(scored)
    measures = Measures()
    for metric in scored.metrics:
        if not metric.is_mean:
            continue
        by_outcome = outcomes.score(metric)
        measures |= _estimate_mean(board, metric, by_outcome)
        if metric.name == "brier":
            measures |= _estimate_models(
                board, by_outcome, measures["brier", ""], models
            )
    for name, sums in ("ece", bins), ("ece_events", event_bins):
        measures[name, ""] = measures["brier", ""].without_error(
            calibration_errors(sums)
        )
    for metric in scored.metrics:
        measures[metric.name, ""] = measures[metric.name, ""].clip(metric.bounds)
    return measures


def _estimate_mean(
    board: Contestants, metric: Metric, by_outcome: OutcomeScores
) -> Measures:
    """Estimate a mean and its difference to the market's."""
    scored = board.scored
    name = metric.name
    promise = by_outcome.promise()
    mean = board.estimate_means(scored.values[name], scored.weight, promise)
    promise = by_outcome.promise_difference(MARKET)
    less = scored.less(name, "market")
    difference = board.estimate_means(less, scored.weight, promise, MARKET)
    if metric.is_return:
        expected = by_outcome.expected_means()
        paid = mean.values
        mean = _bound_return(mean, paid, expected)
        difference = _bound_return(difference, paid, expected)
    # Of the difference no ranks are made, and a variation takes much memory.
    return {(name, ""): mean, (name, "market"): difference._replace(variation=None)}


def _estimate_models(
    board: Contestants, by_outcome: OutcomeScores, brier: Estimate, models: Models
) -> Measures:
    """Estimate the scores that are compared by a model of all forecasts."""
    unknown = brier.without_error(np.full(board.rows, math.nan))
    measures: Measures = dict.fromkeys(
        [("irt_ability", ""), ("weighted_brier", ""), ("bradley_terry", "")], unknown
    )
    measures["adjusted_brier", ""] = _adjust(board, brier, models.effects, by_outcome)
    if models.irt:
        measures["irt_ability", ""] = _estimate_ability(board, models.irt, by_outcome)
        measures["weighted_brier", ""] = _weigh_brier(board, models.irt, by_outcome)
    if models.strengths:
        strength = board.expand(models.strengths, models.strengths.fit.strength)
        measures["bradley_terry", ""] = brier.without_error(strength)
    return measures


def _adjust(
    board: Contestants,
    brier: Estimate,
    effects: Fitted[EffectsFit],
    by_outcome: OutcomeScores,
) -> Estimate:
    """Estimate the adjusted Brier scores.

    Market and crowd have their Brier score where they have all events; else none.
    """
    fit = effects.fit
    promise = by_outcome.promise_adjusted()
    adjusted = board.estimate_model(
        effects, fit.score, fit.influence, board.scored.weight, promise
    )
    is_baseline = np.arange(board.rows) >= board.rows - len(BASELINES)
    is_unadjusted = is_baseline & (brier.counts == len(board.cluster))
    chosen = {
        column: np.where(
            is_unadjusted, getattr(brier, column), getattr(adjusted, column)
        )
        for column in ("values", "error", "low", "high")
    }
    return adjusted._replace(**chosen)


def _spread_discrimination(board: Contestants, irt: Fitted[IrtFit]) -> Floats:
    """Put the discriminations of a fit on all events, nan on the others."""
    discrimination = np.full(len(board.cluster), math.nan)
    discrimination[irt.events] = irt.fit.discrimination
    return discrimination


def _weigh_brier(
    board: Contestants, irt: Fitted[IrtFit], by_outcome: OutcomeScores
) -> Estimate:
    """Estimate the Brier scores weighted by discrimination, which is taken as given."""
    scored = board.scored
    by_event = _spread_discrimination(board, irt)
    discrimination = by_event[scored.forecasts.event]
    values = np.where(np.isnan(discrimination), math.nan, scored.values["brier"])
    weight_of_events = scored.events.weight * np.nan_to_num(by_event)
    promise = by_outcome._replace(weight=weight_of_events).promise()
    return board.estimate_means(
        values, scored.weight * np.nan_to_num(discrimination), promise
    )


def _estimate_ability(
    board: Contestants, irt: Fitted[IrtFit], by_outcome: OutcomeScores
) -> Estimate:
    """Estimate the abilities; discriminations a are taken as given.

    What an outcome adds to an ability is one step of Newton's method,

        Σ a (y - π) / (1 + Σ a² π(1 - π)) over the events of a forecaster

    y - π being how far its 1 - Brier is above the others'.
    """
    fit = irt.fit
    a = fit.discrimination[:, None]
    pi = 1 / (1 + np.exp(-a * (fit.ability - fit.difficulty[:, None])))
    alike = np.ones_like(board.scored.weight)
    is_present = board.sum_events(alike) > 0
    answered = is_present[np.ix_(irt.events, irt.forecasters)]
    information = 1 + (answered * a**2 * pi * (1 - pi)).sum(axis=0)
    unit = np.zeros(board.rows)
    unit[irt.forecasters] = (answered * a).sum(axis=0) / information
    by_event = np.nan_to_num(_spread_discrimination(board, irt))
    ahead = by_outcome._replace(weight=by_event).promise_ahead()
    promise = ahead._replace(gain=unit * ahead.gain)
    return board.estimate_model(irt, fit.ability, fit.influence, alike, promise)


# --- Returns ---


def _bound_return(estimate: Estimate, paid: Floats, expected: Floats) -> Estimate:
    """Find the intervals of a return, or of its difference to the market's
    (`score_interval`).

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
    """Compute both ends of the 95 % interval of a mean payoff whose variance is
    `slope` × itself.

    Most of a return comes from a few wins, which a sample may lack: its own deviation
    is too small then, and t intervals hold the truth in 80 %. As Wilson's interval of a
    share this one holds the means μ from which `paid` is at most t errors away, (paid -
    μ)² ≤ t² · slope · μ:

        paid + h ± √(h² + 2h · paid) with h = t² · slope / 2

    Where `values` are differences of `paid` to something they move by as much. Source:
    Wilson, JASA 22 (1927) 209–212.

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
    """Estimate the error of every row, and its degrees of freedom; nan
    below two clusters.

    With e_g the influence of cluster g and s_g its share of the row's
    events the error is

        √Σ_g e_g²/(1 - s_g)

    since a mean follows its largest clusters, whose residuals are too small for it. The
    freedom (Σλ)²/Σλ² has the eigenvalues λ of that sum of squares for independent
    events, which are not needed: it is

        1/(Σs² + (Σ s²/(1 - s))² - Σ s⁴/(1 - s)²)

    Where n clusters are equal these are n/(n - 1) Σ e² and n - 1. To a model's estimate
    clusters without events of the row contribute, too: their e² are enlarged as much as
    those of the others together.

    influence, shares: clusters × rows. Source: CR2 and its degrees of freedom, Bell
        and McCaffrey,
    Survey Methodology 28 (2002) 169–181; Imbens and Kolesár, Rev. Econ. Stat. 98
    (2016) 701–712.
    """
    has_events = shares > 0
    is_unmeasured = has_events.sum(axis=0) < MIN_CLUSTERS
    rest = np.where(is_unmeasured | (shares >= 1), np.nan, 1 - shares)
    squares = influence**2
    with_events = np.where(has_events, squares, 0)
    enlarged = squares.sum(axis=0) / np.maximum(with_events.sum(axis=0), 1e-300)
    variance = (with_events / rest).sum(axis=0) * enlarged
    leverage = shares**2 / rest
    squared_leverage = (leverage**2).sum(axis=0)
    inverse = (shares**2).sum(axis=0) + leverage.sum(axis=0) ** 2 - squared_leverage
    return np.sqrt(variance), np.maximum(1 / inverse, 1.0)


def t_intervals(
    estimate: Floats, error: Floats, freedom: Floats
) -> tuple[Floats, Floats]:
    """Compute both ends of the 95 % interval estimate ± t · error."""
    from scipy.special import stdtrit

    half = stdtrit(freedom, 0.975) * error
    return estimate - half, estimate + half
