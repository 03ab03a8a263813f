"""Generalised Bradley–Terry: strengths of forecasters who pool their probabilities; who can be compared at all."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from forecasteval.common.errors import InputError, printable
from forecasteval.common.records import number_text

from .arrays import Bools, Floats, Ints, observations, sums_by_index

STRENGTH_FLOOR: Final = 1e-300
VANISHING: Final = 1e-6  # of the mean strength: on its way to 0
DRIFTING: Final = 1e-6  # change of ln θ in one more update, against the median's, of a fit that has not converged


class BradleyTerryFit(NamedTuple):
    """Strengths of mean 1. `used`: events that counted; `diverging`: strengths that vanish or do not settle."""

    strength: Floats
    log_likelihood: float
    gradient_norm: float
    iterations: int
    converged: bool
    diverging: Bools
    used: Bools


def fit_bradley_terry(
    forecaster: ArrayLike, event: ArrayLike, p_winner: ArrayLike, prior: float = 0.0, max_iterations: int = 10_000
) -> BradleyTerryFit:
    """Generalised Bradley–Terry: in every event the winning team, Σ_j θ_j p_jc, against all who are present, Σ_j θ_j.

    Maximises Σ_i ln(Σ_j θ_j p_jc / Σ_j θ_j) + prior · Σ_j ln(θ_j/(1 + θ_j)²), a virtual opponent of strength 1 that
    each forecaster beats and loses to `prior` times. The update θ_s ← [Σ_i θ_s p_sc/Σ_j θ_j p_jc + prior] /
    [Σ_i 1/Σ_j θ_j + 2 prior/(1 + θ_s)] never lowers it; two updates are extrapolated (SQUAREM) where that rises more.
    From all ones, until three successive relative rises are below 1e-12 or `max_iterations` cycles are over.

    forecaster, event: N integers from 0 without gaps; p_winner: the probability each gave the event's winner, in
    [0, 1]. An event whose winner nobody gave any is left out (`used`). `log_likelihood` is without the prior, and
    `gradient_norm` the largest derivative by a ln θ, with it. Without prior and with gaps in participation the
    maximum need not be unique or finite: see `converged` and `diverging`. Without prior and with full participation
    the strengths are the weights of the best linear pool of the forecasters.
    Raises InputError: no observation, lengths that differ, values outside [0, 1], a negative prior.
    Source: Huang, Weng and Lin (2006); acceleration: Varadhan and Roland (2008).
    """
    i, j, (p,) = observations("fit_bradley_terry", forecaster, event, {"p_winner": p_winner})
    if not number_text(prior) or prior < 0:
        raise InputError("prior", "must be a number >= 0", printable(repr(prior), 60))
    used = np.bincount(j, p) > 0
    pool = _Pool(i, j, p, used, prior)
    count = int(i.max()) + 1
    t, calm, cycles = np.zeros(count), 0, 0  # t = ln θ
    value, t1 = pool.update(t)
    while calm < 3 and cycles < max_iterations and used.any():
        cycles += 1
        value1, t2 = pool.update(t1)
        r, v = t1 - t, (t2 - t1) - (t1 - t)
        length = float(np.sqrt((v * v).sum()))
        factor = max(1.0, float(np.sqrt((r * r).sum())) / length) if length > 0 else 1.0
        start, (new, after) = t2, (-math.inf, t2)
        if factor > 1:
            leap = pool.scale(t + 2 * factor * r + factor * factor * v)
            new, after = pool.update(leap)
            start = leap
        if not new >= value1:  # monotone: the plain update cannot fall
            start = t2
            new, after = pool.update(t2)
        calm = calm + 1 if new - value < 1e-12 * max(abs(value), 1e-300) else 0
        t, t1, value = start, after, new
    theta = np.exp(t)
    gradient = pool.gradient(t)
    converged = calm == 3 or not used.any()
    drift = np.abs(t1 - t - np.median(t1 - t))  # only ratios of strengths count
    diverging = (prior == 0) & ((not converged) & (drift > DRIFTING) | (theta < VANISHING * theta.mean()))
    likelihood = value - pool.penalty(t)
    norm = float(np.abs(gradient).max())
    return BradleyTerryFit(theta / theta.mean(), likelihood, norm, cycles, converged, diverging, used)


class _Pool:
    """The update of `fit_bradley_terry` in t = ln θ; a matrix where most forecasters meet in most events."""

    def __init__(self, i: Ints, j: Ints, p: Floats, used: Bools, prior: float) -> None:
        keep = used[j]
        self.prior, self.count = prior, int(i.max()) + 1
        events = np.cumsum(used) - 1
        self.i, self.j, self.p = i[keep], events[j[keep]], p[keep]
        self.events = int(used.sum())
        cells = self.count * self.events
        self.dense = cells <= 4 * len(self.p)
        if self.dense:
            at = self.j * self.count + self.i
            self.given = np.bincount(at, self.p, cells).reshape(self.events, self.count)
            self.present = np.bincount(at, minlength=cells).reshape(self.events, self.count).astype(float)

    def teams(self, theta: Floats) -> tuple[Floats, Floats]:
        """Per event: Σ θ p of those present, Σ θ."""
        if self.dense:
            return self.given @ theta, self.present @ theta
        strength = theta[self.i]
        return sums_by_index(self.j, strength * self.p, self.events), sums_by_index(self.j, strength, self.events)

    def shares(self, theta: Floats, winning: Floats, total: Floats) -> tuple[Floats, Floats]:
        """Per forecaster: Σ_i θ p / winning team, Σ_i 1 / total."""
        if self.dense:
            return theta * ((1 / winning) @ self.given), (1 / total) @ self.present
        won = sums_by_index(self.i, self.p / winning[self.j], self.count)
        return theta * won, sums_by_index(self.i, (1 / total)[self.j], self.count)

    def penalty(self, t: Floats) -> float:
        return self.prior * float((t - 2 * np.logaddexp(0, t)).sum()) if self.prior else 0.0

    def update(self, t: Floats) -> tuple[float, Floats]:
        """The objective at t, and the next t."""
        theta = np.exp(t)
        winning, total = self.teams(theta)
        if not (np.isfinite(theta).all() and (winning > 0).all()):
            return -math.inf, t
        won, faced = self.shares(theta, winning, total)
        value = float(np.log(winning / total).sum()) + self.penalty(t)
        # Present only in events that do not count, and no prior: nothing is known, the strength stays.
        idle = faced + self.prior == 0
        step = (won + self.prior + idle * theta) / (faced + 2 * self.prior / (1 + theta) + idle)
        return value, self.scale(np.log(np.maximum(step, STRENGTH_FLOOR)))

    def scale(self, t: Floats) -> Floats:
        """Without prior only ratios count: the largest strength is 1."""
        return t if self.prior else np.maximum(t - t.max(), math.log(STRENGTH_FLOOR))

    def gradient(self, t: Floats) -> Floats:
        theta = np.exp(t)
        won, faced = self.shares(theta, *self.teams(theta))
        return np.asarray(won - theta * faced + self.prior * (1 - 2 * theta / (1 + theta)))


def connected_parts(forecaster: Ints, event: Ints, count: int) -> Ints:
    """For each of `count` forecasters the smallest number of one connected to it by shared events (numbers from 0)."""
    label = np.arange(count)
    while True:
        lowest = np.full(int(event.max(initial=-1)) + 1, count)
        np.minimum.at(lowest, event, label[forecaster])
        new = label.copy()
        np.minimum.at(new, forecaster, lowest[event])
        new = new[new]  # a label is the number of a forecaster of the same part, whose label may be smaller yet
        if (new == label).all():
            return np.asarray(new)
        label = new
