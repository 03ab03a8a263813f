"""How far the numbers of a board vary if its forecasts are right: a floor of their variances.

Scores of favourites and of long shots are skewed, and a sample often lacks the rare part. Five
events at a rate of .95 all come true on 77 % of boards: who said .98 is ahead of who said .90 by
nearly the same on each, so that their difference seems sure. One miss would turn the order, and
both forecasts promise that misses come.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import Floats, Ints, positions
from .forecasts import BASELINES, Forecasts
from .metrics import Metric
from .score_table import ForecastScores, normalise

MARKET, CROWD, UNIFORM = (number - len(BASELINES) for number in range(len(BASELINES)))  # rows


class Promise(NamedTuple):
    """The belief of every row in every outcome, and what the outcome adds to the row's value.

    belief, gain: outcomes × rows. trials: the first outcome of each trial, whose outcomes exclude
    each other.
    """

    belief: Floats
    gain: Floats
    trials: Ints

    def variances(self, other: int) -> Floats:
        """Compute the variance of every row's value, at the mean of its belief and the `other`
        row's.
        """
        belief = (self.belief + self.belief[:, [other]]) / 2
        expected = belief * self.gain
        means = np.add.reduceat(expected, self.trials)
        variance = (expected * self.gain).sum(axis=0) - (means**2).sum(axis=0)
        return np.asarray(np.maximum(variance, 0))

    def pair_variances(self, rows: Ints) -> Floats:
        """Compute the variance of the difference of every two rows, at the mean of their beliefs.

        It is ½ Σ (b_i + b_j)(x_i - x_j)² over all outcomes, b the belief and x the gain, as if the
        expected difference of a trial were 0. So it is for Brier scores at that mean, and for
        returns at the prices; for log and spherical scores it is small, and the sum a bit larger.
        """
        belief, gain = self.belief[:, rows], self.gain[:, rows]
        products = (belief * gain).T @ gain
        squares = belief.T @ gain**2
        one_sided = np.diag(products)[:, None] - 2 * products + squares
        variance = (one_sided + one_sided.T) / 2
        return np.asarray(np.maximum(variance, 0))


class OutcomeScores(NamedTuple):
    """What a metric scores if an outcome comes true: outcomes × rows, nan where it scores nothing.

    belief: as in `Promise`; without a forecast it is the crowd's. event: of every outcome; weight:
    of every event.
    """

    trials: Ints
    event: Ints
    weight: Floats
    belief: Floats
    scores: Floats

    def promise(self) -> Promise:
        """Find what each outcome adds to the mean score of every row."""
        return self._promise_mean(self.scores)

    def promise_difference(self, base: int) -> Promise:
        """Find what each outcome adds to the mean difference to the row `base`."""
        return self._promise_mean(self.scores - self.scores[:, [base]])

    def promise_ahead(self) -> Promise:
        """Find what each outcome adds to how far a row is ahead of the others on its events."""
        ahead = self._share(self.scores) * (self.scores - self._average_rows(self.scores))
        return Promise(self.belief, np.nan_to_num(ahead), self.trials)

    def promise_adjusted(self) -> Promise:
        """Find what each outcome adds to a score that is compared with the others event by event:
        how far the row is ahead of them, and their mean on all events.
        """
        ahead = self.promise_ahead()
        others = self._average_rows(self.scores)
        level = self._share(others) * (others - self._expect(others))
        return ahead._replace(gain=ahead.gain + np.nan_to_num(level))

    def expected_means(self) -> Floats:
        """Compute the mean score that every row's belief promises."""
        promised = self.belief * self._share(self.scores) * self.scores
        return np.asarray(np.nansum(promised, axis=0))

    def _promise_mean(self, scores: Floats) -> Promise:
        """A constant of each trial is subtracted, which changes the variance of no mean; it makes
        that of a difference small where one of two rows has no forecast.
        """
        level = self._expect(self._average_rows(scores))
        gain = np.nan_to_num(self._share(scores) * (scores - level))
        return Promise(self.belief, gain, self.trials)

    def _average_rows(self, scores: Floats) -> Floats:
        """Average the scores of the forecasters by outcome; a column, nan without any."""
        forecasters = scores[:, : -len(BASELINES)]
        count = np.count_nonzero(~np.isnan(forecasters), axis=1)
        total = np.nansum(forecasters, axis=1)
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)[:, None]

    def _expect(self, scores: Floats) -> Floats:
        """Compute what the crowd expects of a column of scores, at every outcome of a trial."""
        sizes = np.diff(np.append(self.trials, len(scores)))
        expected = np.add.reduceat(self.belief[:, [CROWD]] * scores, self.trials)
        return np.repeat(expected, sizes, axis=0)

    def _share(self, scores: Floats) -> Floats:
        """Compute the share of each outcome's event in the mean of a column; 0 without a score."""
        weight = self.weight[self.event][:, None] * ~np.isnan(scores)
        first = np.flatnonzero(np.diff(self.event, prepend=-1))
        total = weight[first].sum(axis=0)
        return np.asarray(weight / np.where(total > 0, total, 1))


class Outcomes(NamedTuple):
    """Every outcome that an event of a board can have, event by event.

    An exclusive event is a trial with an outcome for each option. Of another event each option is
    a trial of its own, with the outcomes yes and no.

    first, sizes: of every event, where its outcomes are.
    """

    scored: ForecastScores
    first: Ints
    sizes: Ints
    trials: Ints

    def score(self, metric: Metric, weight: Floats) -> OutcomeScores:
        """Find what a metric scores by outcome, and what is believed.

        Of returns the prices are believed: what a few large wins pay depends on how rare they are,
        and of that a price knows more than whoever bets against it.
        """
        events, forecasts = self.scored.events, self.scored.forecasts
        is_exclusive = events.exclusive[forecasts.event]
        event = np.repeat(np.arange(len(self.sizes)), self.sizes)
        tables = np.full((2, len(event), len(forecasts.names)), np.nan)
        belief, scores = tables

        chosen = is_exclusive & forecasts.priced if metric.is_return else is_exclusive
        own = forecasts.keep(chosen)
        p = normalise(own.p, own.offsets)
        given = own.p if metric.scope == "all" else p
        self._fill(scores, own, metric.by_option(given, own.q, own.bid, own.offsets))
        self._fill(belief, own, normalise_prices(own) if metric.is_return else p)

        if metric.scope == "all":
            others = forecasts.keep(~is_exclusive)
            yes_no = np.stack([others.p, 1 - others.p], axis=1).ravel()
            trials = np.arange(0, len(yes_no) + 1, 2)
            # The score of an event is the mean of those of its options.
            count = np.repeat(others.sizes, 2 * others.sizes)
            found = metric.by_option(yes_no, others.q, others.bid, trials) / count
            self._fill(scores, others, found)
            self._fill(belief, others, yes_no)

        if metric.is_relative:
            scores = subtract_other_columns(scores)
        crowd = np.nan_to_num(belief[:, [CROWD]])
        belief = np.where(np.isnan(belief), crowd, belief)
        return OutcomeScores(self.trials, event, weight, belief, scores)

    def _fill(self, table: Floats, forecasts: Forecasts, values: Floats) -> None:
        """Put the values of forecasts, outcome by outcome, into a table of outcomes × rows."""
        sizes = self.sizes[forecasts.event]
        places = positions(self.first[forecasts.event], sizes)
        table[places, np.repeat(forecasts.forecaster, sizes)] = values


def list_outcomes(scored: ForecastScores) -> Outcomes:
    """List the outcomes that the events could have."""
    events = scored.events
    sizes = np.where(events.exclusive, events.sizes, 2 * events.sizes)
    size_of_trial = np.where(events.exclusive, events.sizes, 2)
    trials = np.repeat(size_of_trial, np.where(events.exclusive, 1, events.sizes))
    return Outcomes(scored, np.cumsum(sizes) - sizes, sizes, np.cumsum(trials) - trials)


def subtract_other_columns(scores: Floats) -> Floats:
    """Subtract from the scores of each row the mean of the other forecasters', as
    `score_table.subtract_others` does.
    """
    known = ~np.isnan(scores)
    known[:, -len(BASELINES) :] = False
    own = np.where(known, scores, 0)
    others = known.sum(axis=1)[:, None] - known
    total = own.sum(axis=1)[:, None] - own
    return np.asarray(scores - total / np.where(others > 0, others, np.nan))


def normalise_prices(forecasts: Forecasts) -> Floats:
    """Divide asking prices by their sum, which may be above 1."""
    total = np.add.reduceat(forecasts.q, forecasts.starts)
    return np.asarray(forecasts.q / np.repeat(total, forecasts.sizes))
