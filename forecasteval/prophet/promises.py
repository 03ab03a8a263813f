"""How far the numbers of a board vary if its forecasts are right: a floor of
their variances.

Scores of favourites and of long shots are skewed, and a sample often lacks the rare
part. Five events at a rate of .95 all come true on 77 % of boards: who said .98 is
ahead of who said .90 by nearly the same on each, so that their difference seems sure.
One miss would turn the order, and both forecasts promise that misses come.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from .arrays import Floats, Ints, positions
from .forecasts import BASELINES, Forecasts
from .metrics import Metric
from .score_table import ForecastScores, normalise, subtract_others

# Rows
MARKET, CROWD, UNIFORM = (number - len(BASELINES) for number in range(len(BASELINES)))


class Promise(NamedTuple):
    """The belief of every row in every outcome, and what the outcome adds to
    the row's value.

    belief, gain: outcomes × rows. trials: the first outcome of each trial, whose
        outcomes exclude
    each other.
    """

    belief: Floats
    gain: Floats
    trials: Ints

    def variances(self, other: int) -> Floats:
        """Compute the variance of every row's value, at the mean of its belief and the
        `other` row's.
        """
        belief = (self.belief + self.belief[:, [other]]) / 2
        expected = belief * self.gain
        means = np.add.reduceat(expected, self.trials)
        variance = (expected * self.gain).sum(axis=0) - (means**2).sum(axis=0)
        return np.asarray(np.maximum(variance, 0))

    def pair_variances(self, rows: Ints) -> Floats:
        """Compute the variance of the difference of every two rows, at the mean of
        their beliefs.

        It is ½ Σ (b_i + b_j)(x_i - x_j)² over all outcomes, b the belief and x the
        gain, as if the expected difference of a trial were 0. So it is for Brier scores
        at that mean, and for returns at the prices; for log and spherical scores it is
        small, and the sum a bit larger.
        """
        belief, gain = self.belief[:, rows], self.gain[:, rows]
        products = (belief * gain).T @ gain
        squares = belief.T @ gain**2
        one_sided = np.diag(products)[:, None] - 2 * products + squares
        variance = (one_sided + one_sided.T) / 2
        return np.asarray(np.maximum(variance, 0))


class OutcomeScores(NamedTuple):
    """What a metric scores if an outcome comes true: outcomes × rows, nan where it
    scores nothing.

    belief: as in `Promise`; without a forecast it is the crowd's. event: of every
        outcome; weight:
    of every event in the mean.
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
        """Find what each outcome adds to how far a row is ahead of the others
        on its events.
        """
        ahead = self._share(self.scores) * (
            self.scores - self._average_rows(self.scores)
        )
        return Promise(self.belief, np.nan_to_num(ahead), self.trials)

    def promise_adjusted(self) -> Promise:
        """Find what each outcome adds to a score that is compared with the others event
        by event: how far the row is ahead of them, and their mean on all events.
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
        """A constant of each trial is subtracted, which changes the variance of no
        mean; it makes that of a difference small where one of two rows has no forecast.
        """
        level = self._expect(self._average_rows(scores))
        gain = np.nan_to_num(self._share(scores) * (scores - level))
        return Promise(self.belief, gain, self.trials)

    def _average_rows(self, scores: Floats) -> Floats:
        """Average the scores of the forecasters by outcome; a column,
        nan without any.
        """
        forecasters = scores[:, : -len(BASELINES)]
        count = np.count_nonzero(~np.isnan(forecasters), axis=1)
        total = np.nansum(forecasters, axis=1)
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)[:, None]

    def _expect(self, scores: Floats) -> Floats:
        """Compute what the crowd expects of a column of scores, at every
        outcome of a trial.
        """
        sizes = np.diff(np.append(self.trials, len(scores)))
        expected = np.add.reduceat(self.belief[:, [CROWD]] * scores, self.trials)
        return np.repeat(expected, sizes, axis=0)

    def _share(self, scores: Floats) -> Floats:
        """Compute the share of each outcome's event in the mean of a column; 0
        without a score.
        """
        weight = self.weight[self.event][:, None] * ~np.isnan(scores)
        first = np.flatnonzero(np.diff(self.event, prepend=-1))
        total = weight[first].sum(axis=0)
        return np.asarray(weight / np.where(total > 0, total, 1))


class Outcomes:
    """Every outcome that an event of a board can have, event by event.

    An exclusive event is a trial with an outcome for each option. Of another event each
    option is a trial of its own, with the outcomes yes and no.
    """

    def __init__(self, scored: ForecastScores) -> None:
        self.scored = scored
        events = scored.events
        # Of every event, how many outcomes it has and where they begin.
        self.sizes = np.where(events.exclusive, events.sizes, 2 * events.sizes)
        self.first = np.cumsum(self.sizes) - self.sizes
        self.event = np.repeat(np.arange(len(self.sizes)), self.sizes)
        size_of_trial = np.where(events.exclusive, events.sizes, 2)
        trials = np.repeat(size_of_trial, np.where(events.exclusive, 1, events.sizes))
        self.trials = np.cumsum(trials) - trials

    def score(self, metric: Metric) -> OutcomeScores:
        """Find what a metric scores by outcome, and what is believed.

        Of returns the prices are believed: what a few large wins pay depends on how
        rare they are, and of that a price knows more than whoever bets against it.
        """
        own, cells = self._exclusive_runs
        if metric.is_return:
            is_priced = own.priced
            cells = cells[np.repeat(is_priced, own.sizes)]
            own = own.keep(is_priced)
        p = own.p
        if metric.scope != "all":
            p = normalise(p, own.offsets)
        table = self._tabulate(
            cells, metric.score_options(p, own.q, own.bid, own.offsets)
        )
        if metric.scope == "all":
            others, cells = self._other_runs
            trials = np.arange(0, 2 * len(others.p) + 1, 2)
            found = metric.score_options(
                yes_and_no(others.p), others.q, others.bid, trials
            )
            # The score of an event is the mean of those of its options.
            of_event = found / np.repeat(others.sizes, 2 * others.sizes)
            table = np.fmax(table, self._tabulate(cells, of_event))
        if metric.is_relative:
            is_forecaster = np.arange(table.shape[1]) < table.shape[1] - len(BASELINES)
            table = subtract_others(table, is_forecaster, _sum_rows)
        belief = self._probabilities
        if metric.is_return:
            belief = self._prices
        return OutcomeScores(
            self.trials, self.event, self.scored.events.weight, belief, table
        )

    @cached_property
    def _exclusive_runs(self) -> tuple[Forecasts, Ints]:
        """Return the runs of exclusive events, and the cells of their options."""
        return self._find_cells(self.scored.runs, is_exclusive=True)

    @cached_property
    def _other_runs(self) -> tuple[Forecasts, Ints]:
        """Return the runs of other events, and the cells of yes and no
        of each option.
        """
        return self._find_cells(self.scored.runs, is_exclusive=False)

    @cached_property
    def _probabilities(self) -> Floats:
        """Return what every row believes of the outcomes."""
        own, cells = self._find_cells(self.scored.forecasts, is_exclusive=True)
        belief = self._tabulate(cells, normalise(own.p, own.offsets))
        others, cells = self._find_cells(self.scored.forecasts, is_exclusive=False)
        return _fill_gaps(np.fmax(belief, self._tabulate(cells, yes_and_no(others.p))))

    @cached_property
    def _prices(self) -> Floats:
        """Return the prices that every row is paid at, divided by their sum, which
        may be above 1.
        """
        own, cells = self._find_cells(self.scored.forecasts, is_exclusive=True)
        total = np.add.reduceat(own.q, own.starts)
        return _fill_gaps(self._tabulate(cells, own.q / np.repeat(total, own.sizes)))

    def _find_cells(
        self, data: Forecasts, *, is_exclusive: bool
    ) -> tuple[Forecasts, Ints]:
        """Find the forecasts of events of one kind, and the cells of their outcomes in
        a table of outcomes × rows.
        """
        own = data.keep(self.scored.events.exclusive[data.event] == is_exclusive)
        sizes = self.sizes[own.event]
        outcomes = positions(self.first[own.event], sizes)
        return own, outcomes * len(data.names) + np.repeat(own.forecaster, sizes)

    def _tabulate(self, cells: Ints, values: Floats) -> Floats:
        """Make a table of outcomes × rows; several values of a cell, of
        runs, are averaged.
        """
        shape = len(self.event), len(self.scored.forecasts.names)
        table = np.full(shape, np.nan)
        table.ravel()[cells] = values
        if len(self.scored.runs.event) > len(self.scored.forecasts.event):
            total = np.bincount(cells, values, table.size)
            count = np.bincount(cells, minlength=table.size)
            known = count > 0
            table.ravel()[known] = total[known] / count[known]
        return table


def _fill_gaps(belief: Floats) -> Floats:
    """Let a row without a forecast believe what the crowd does."""
    crowd = np.nan_to_num(belief[:, [CROWD]])
    return np.where(np.isnan(belief), crowd, belief)


def _sum_rows(table: Floats) -> Floats:
    return np.asarray(table.sum(axis=1, keepdims=True))


def yes_and_no(p: Floats) -> Floats:
    """List the probabilities that each option comes true, and that it does not."""
    return np.stack([p, 1 - p], axis=1).ravel()
