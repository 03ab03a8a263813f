"""Systems that answered different weeks on one scale: a logistic regression on systems and cells.

A cell is the questions of one week and level. By textbook steps: the fit is a ridge regression by
Newton's method, its errors are those of a sandwich estimator by question or cluster, and good and
bad weeks of single systems enter as a design effect. docs/methods.md has the formulas.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from forecasteval.common.statistics import t_quantile, t_tail

Array = np.ndarray[Any, np.dtype[Any]]

_NOISE: Final = 1e-12  # what is rounding
_TINY: Final = 1e-300
_RIDGE: Final = 3.0**-2  # the inverse variance of a system's or a cell's effect, in log-odds
_STEPS: Final = 50


class Fit(NamedTuple):
    """Scores of S systems, and the independent parts of their errors: the questions of each level,
    and weeks.
    """

    scores: Array  # S
    errors: Array  # parts × S × S: covariances of scores; nan where one question says nothing
    freedom: Array  # parts × S: degrees of freedom
    counts: Array  # S: questions or clusters that a system answered
    varies: Array  # S: whether scores vary within a level, so that they measure an error
    design_effect: float  # of weeks; nan if nothing measures it


# --- The fit ---


def fit_scores(
    scores: Array,
    levels: Array,
    weeks: Array,
    weights: Array,
    clusters: Array | None = None,
    blank: Array | bool = False,
) -> Fit:
    """Fit the score that every system would have on all questions, from those that it answered.

    `scores` is S × Q in [0, 1] with nan where a system did not take part, `levels` and `weeks` are
    the numbers of each question's level and week, `weights` the weight of each level. A question of
    level l weighs v = w_l / n_l / Σw, n_l counted over all questions. The score is Σ v·(y where the
    system took part, p elsewhere), in [0, 1]: the plain Σ w_l·mean_l / Σw where it always did. p is
    that of `_maximise`, the same on all questions of a cell.

    `blank`, S × Q, is true in the weeks of which a system has no readable answer: they score 0, and
    are left out of the fit, since they do not show how hard a week is. So is a system without any
    point; its score is 0.

    Errors: a question's influence on a score (Liang & Zeger 1986) by level (`_sample`), so that
    they are those of `stratified_error` where a system took part every week. `clusters` has a
    number from 0 for each question; questions of a cluster count as one. Weeks add the part of
    `_disperse`.
    """
    clusters = np.arange(len(levels)) if clusters is None else clusters
    took_part = ~np.isnan(scores)
    y = np.nan_to_num(scores)
    used = took_part & np.logical_not(blank)
    live = (used * y).any(axis=1, keepdims=True)
    counted = np.where(live, used, took_part)
    missed = live & ~took_part
    used = live & used
    sizes = np.bincount(levels, minlength=len(weights))
    v = (weights / weights[sizes > 0].sum() / np.maximum(sizes, 1))[levels]
    cells = _number(weeks * len(weights) + levels)
    p, information = _maximise(
        len(v) * _sum_by(used * v, cells), len(v) * _sum_by(used * y * v, cells)
    )
    p = p[:, cells]
    slopes = p * (1 - p)
    expected = np.where(missed, p, y)
    residuals = used * (y - p) * v

    # A score moves with the effects of its system and of cells, and these with all residuals.
    gradient = _sum_by(missed * slopes * v, cells)
    gradient = np.hstack([np.diag(gradient.sum(axis=1)), gradient])
    carried = len(v) * np.linalg.solve(information, gradient.T).T
    by_system, by_cell = np.hsplit(carried, [len(scores)])
    influence = expected * v + by_system @ residuals + by_cell[:, cells] * residuals.sum(axis=0)

    errors = []
    counts = []
    varies = []
    for at in (levels == level for level in np.flatnonzero(sizes)):
        units = _number(clusters[at])
        counts.append((_sum_by(counted[:, at], units) > 0).sum(axis=1))
        errors.append(_sample(influence[:, at], (used | missed)[:, at], counts[-1], units))
        varies.append(np.ma.array(y[:, at], mask=~counted[:, at]).ptp(axis=1).filled(0) > _NOISE)
    effect, added, freedom = _disperse(residuals, used * slopes * v, v, cells, weeks, clusters)
    # A good week moves what a system answered, and by its effect what is expected of it elsewhere.
    errors.append(np.diag((1 + np.diag(by_system)) ** 2 * added))
    return Fit(
        scores=expected @ v,
        errors=np.array(errors),
        freedom=np.vstack([np.maximum(counts, 2) - 1, np.full(len(scores), freedom)]),
        counts=np.sum(counts, axis=0),
        varies=np.any(varies, axis=0),
        design_effect=effect,
    )


# Student's t of arrays: two-sided tails of (t, degrees of freedom), quantiles of (p, degrees).
_TAILS: Final[Callable[..., Array]] = np.vectorize(t_tail, otypes=[float])
_QUANTILES: Final[Callable[..., Array]] = np.vectorize(t_quantile, otypes=[float])


def _number(names: Array) -> Array:
    """Numbers from 0 in place of names."""
    numbers: Array = np.unique(names, return_inverse=True)[1]
    return numbers


def _sum_by(values: Array, groups: Array) -> Array:
    """Rows with the sum of every group's columns; `groups` has the number of each column's
    group.
    """
    sums = np.zeros((groups.max() + 1, len(values)))
    np.add.at(sums, groups, values.T)
    return sums.T


def _maximise(count: Array, scored: Array) -> tuple[Array, Array]:
    """Maximise the likelihood by Newton's method. The chances p = expit(m + θ_s + b_c) of S systems
    in C cells come first, then the information about θ and b.

    They maximise Σ scored·log p + (count − scored)·log(1 − p) − (Σθ² + Σb²) / (2·3²), the
    quasi-likelihood of fractional scores (McCullagh & Nelder 1989, 9) with a ridge, which is
    concave; m is the log-odds of the mean score. Counts and scores are S × C sums of weights that
    are 1 in the mean.
    """
    mean = (scored.sum() + 0.5) / (count.sum() + 1)
    centre = np.log(mean / (1 - mean))
    point = np.zeros(sum(count.shape))

    def measure(point: Array) -> tuple[float, Array]:
        """The loss and the chances at a point."""
        logits = centre + point[: len(count), None] + point[len(count) :]
        loss = (count * np.logaddexp(0, logits) - scored * logits).sum()
        # scipy.special takes longer to import than a season to fit.
        return loss + _RIDGE * (point**2).sum() / 2, np.exp(-np.logaddexp(0, -logits))

    def information(p: Array) -> Array:
        cross = count * p * (1 - p)
        blocks = [[np.diag(cross.sum(axis=1)), cross], [cross.T, np.diag(cross.sum(axis=0))]]
        return np.block(blocks) + _RIDGE * np.eye(len(point))

    loss, p = measure(point)
    for _ in range(_STEPS):
        rest = scored - count * p
        slope = np.concatenate([rest.sum(axis=1), rest.sum(axis=0)]) - _RIDGE * point
        step = np.linalg.solve(information(p), slope)
        while measure(point + step)[0] > loss * (1 + 1e-9) and np.abs(step).max() > _NOISE:
            step /= 2
        point += step
        loss, p = measure(point)
        if np.abs(step).max() < 1e-9:
            break
    return p, information(p)


# --- Errors ---


def _sample(influence: Array, drawn: Array, answered: Array, units: Array) -> Array:
    """Return the covariance of the scores that the questions of a level add; nan if they are one
    unit.

    Influences are centred over the questions that count, summed by unit and multiplied by
    √(n/(n − 1)), n being the units that a system `answered`. The zeros of blank weeks, which are
    not `drawn`, are no sample of anything.
    """
    count = np.maximum(answered, 2)
    if not units.any():
        return np.full((len(count), len(count)), np.nan)
    centre = (influence * drawn).sum(axis=1) / np.maximum(drawn.sum(axis=1), 1)
    sums = _sum_by((influence - centre[:, None]) * drawn, units)
    sums *= np.sqrt(count / (count - 1))[:, None]
    covariance: Array = sums @ sums.T
    return covariance


def _disperse(
    residuals: Array, moved: Array, v: Array, cells: Array, weeks: Array, clusters: Array
) -> tuple[float, Array, float]:
    """Estimate the design effect of weeks. Also what they add to the variance of each system's sum
    of residuals, and the degrees of freedom of that.

    A dispersion is Σ residual² / Σ v²·p(1 − p) (McCullagh & Nelder 1989, 9.2.3), here of residuals
    without what all systems share on a question: once of single questions (or clusters), once of
    their sums by week, of systems with two weeks or more. Their ratio is the design effect d (Kish
    1965); weeks add d − 1 times the squares of a system's own residuals. What is expected of a
    square is less by the leverage of the question and of the system's effect, as in CR2 (Bell &
    McCaffrey 2002). `moved` is v·p(1 − p) where a system took part.
    """
    share = moved / np.maximum(moved.sum(axis=0), _TINY)
    own = residuals - share * residuals.sum(axis=0)
    variances = moved * v * (1 - share)
    by_week = _sum_by(moved, weeks)
    leverage = by_week / np.maximum(by_week.sum(axis=1, keepdims=True), _TINY)
    several = (leverage > 0) & (leverage < 1 - 1e-9)
    scale = ((1 - leverage) * _sum_by(variances, weeks))[several].sum()
    units = _number(clusters * (cells.max() + 1) + cells)
    squares = (_sum_by(own, units) ** 2).sum(axis=1)
    if scale <= 1e-9 * variances.sum() or squares.sum() <= _TINY:
        return np.nan, np.zeros(len(own)), 1.0

    of_weeks = (_sum_by(own, weeks) ** 2)[several].sum() / scale
    effect = float(of_weeks * variances.sum() / squares.sum())
    unshared = (moved @ v) / np.maximum(variances.sum(axis=1), _TINY)
    added = max(0.0, effect - 1) * squares * unshared
    # A mean is taken of each system's weeks, and of all systems on a question. Of the dispersion
    # only the share (d − 1) / d is that of weeks.
    live = moved.any(axis=1).sum()
    freedom = max(1.0, (several.sum() - several.any(axis=1).sum()) * (1 - 1 / live))
    return effect, added, float(freedom * (1 - 1 / effect) ** 2) if effect > 1 else 1.0


# --- Inference ---


class Spread(NamedTuple):
    """Estimates, their variances (0: questions all say the same; nan: nothing measures them),
    degrees of freedom.
    """

    value: Array
    variance: Array
    freedom: Array


def score_spread(fit: Fit) -> Spread:
    """Compute the scores' errors, with Satterthwaite's degrees of freedom."""
    return _spread(fit.scores, np.diagonal(fit.errors, axis1=1, axis2=2), fit.freedom)


def difference_spread(fit: Fit) -> Spread:
    """S × S: those of every system's score less every other's. A part has the fewer degrees of
    freedom of the two.
    """
    own = np.diagonal(fit.errors, axis1=1, axis2=2)
    total = own[:, :, None] + own[:, None, :]
    parts = total - 2 * fit.errors
    parts[parts < _NOISE * total] = 0.0
    fewer = np.minimum(fit.freedom[:, :, None], fit.freedom[:, None, :])
    return _spread(fit.scores[:, None] - fit.scores, parts, fewer)


def _spread(value: Array, parts: Array, freedom: Array) -> Spread:
    """Satterthwaite (1946): (Σ parts)² / Σ (parts² / freedom)."""
    total = parts.sum(axis=0)
    total = np.where(total < 1e-30, 0.0, total)
    shares = np.maximum((parts**2 / freedom).sum(axis=0), _TINY)
    return Spread(value, total, np.maximum(total**2 / shares, 1.0))


def half_widths(spread: Spread) -> Array:
    """Half of the 95 % intervals by Student's t; nan where nothing measures the error."""
    freedom = np.where(spread.variance > 0, spread.freedom, 1.0)
    half = _QUANTILES(0.975, freedom) * np.sqrt(spread.variance)
    return np.where(spread.variance > 0, half, np.nan)


def find_tails(t: Array, freedom: Array) -> Array:
    """S × S two-sided p-values of Student's t of every pair, whose other direction has the same."""
    p = _TAILS(np.triu(t), freedom)
    return np.minimum(p, p.T)


def compare_pairs(fit: Fit, differences: Spread) -> Array:
    """S × S two-sided p-values by Student's t, not adjusted; 1 where nothing measures the error.

    None is below 2 / 2^n, the least that the signs of the n questions of the system with fewer can
    give.
    """
    value, variance, freedom = differences
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(np.abs(value) < _NOISE, 0.0, value / np.sqrt(variance))
        p = np.nan_to_num(find_tails(t, freedom), nan=1.0)
    least = 2.0 ** (1 - np.minimum(np.minimum.outer(fit.counts, fit.counts), 1000))
    floored: Array = np.maximum(p, least)
    return floored
