"""Systems that answered different weeks on one scale: a logistic regression on
systems and cells.

A cell is the questions of one week and level. By textbook steps: the fit is a ridge
regression by Newton's method, its errors are those of a sandwich estimator by question
or cluster, and good and bad weeks of single systems enter as a design effect.
docs/methods.md has the formulas.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from forecasteval.common.statistics import t_quantile, t_tail

Array = np.ndarray[Any, np.dtype[Any]]

_NOISE: Final = 1e-12  # relative size of rounding errors in sums
_MIN_VARIANCE: Final = 1e-30  # below it, equal values differ by rounding errors only
_TINY: Final = 1e-300
# The inverse variance of a system's or a cell's effect, in log-odds
_RIDGE: Final = 3.0**-2
_MAX_STEPS: Final = 50
_MAX_LAST_STEP: Final = 1e-9  # log-odds


class Fit(NamedTuple):
    """Scores of S systems, and the independent parts of their errors: the questions of
    each level, and weeks.
    """

    scores: Array  # S
    # Parts × S × S: covariances of scores; nan where one question says nothing
    errors: Array
    freedom: Array  # parts × S: degrees of freedom
    counts: Array  # S: questions or clusters that a system answered
    # S: whether scores vary within a level, so that they measure an error
    varies: Array
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
    """Fit the score that every system would have on all questions, from those
    that it answered.

    A question of level l weighs v = w_l / n_l / Σw, with n_l counted over all
    questions. The score of a system is

        Σ v·(y where the system took part, p elsewhere)

    in [0, 1], which is the plain Σ w_l·mean_l / Σw where it always took part. p is the
    chance by `_maximise`, the same on all questions of a cell.

    Errors follow from each question's influence on a score (Liang & Zeger 1986), level
    by level (`_sample`), so that they are those of `stratified_error` where a system
    took part every week. Weeks add the part of `_disperse`.

    Args:
        scores: S × Q in [0, 1], nan where a system did not take part.
        levels: the number of each question's level.
        weeks: the number of each question's week.
        weights: the weight of each level.
        clusters: a number from 0 for each question; questions of a
            cluster count as one.
        blank: S × Q, true in the weeks of which a system has no readable answer. They
            score 0, and are left out of the fit, since they do not show how hard a week
            is. So is a system without any point; its score is 0.
    """
    if clusters is None:
        clusters = np.arange(len(levels))
    took_part = ~np.isnan(scores)
    y = np.nan_to_num(scores)
    is_read = took_part & np.logical_not(blank)
    has_points = (is_read * y).any(axis=1, keepdims=True)
    is_counted = np.where(has_points, is_read, took_part)
    is_missed = has_points & ~took_part
    is_used = has_points & is_read

    sizes = np.bincount(levels, minlength=len(weights))
    total_weight = weights[sizes > 0].sum()
    v = (weights / total_weight / np.maximum(sizes, 1))[levels]
    cells = _number(weeks * len(weights) + levels)
    count = len(v) * _sum_by(is_used * v, cells)
    scored = len(v) * _sum_by(is_used * y * v, cells)
    p_of_cells, information = _maximise(count, scored)

    p = p_of_cells[:, cells]
    slopes = p * (1 - p)
    expected = np.where(is_missed, p, y)
    residuals = is_used * (y - p) * v

    # A score moves with the effects of its system and of cells, and these with
    # all residuals.
    slope_of_cells = _sum_by(is_missed * slopes * v, cells)
    slope_of_systems = np.diag(slope_of_cells.sum(axis=1))
    gradient = np.hstack([slope_of_systems, slope_of_cells])
    carried = len(v) * np.linalg.solve(information, gradient.T).T
    by_system, by_cell = np.hsplit(carried, [len(scores)])
    through_system = by_system @ residuals
    through_cell = by_cell[:, cells] * residuals.sum(axis=0)
    influence = expected * v + through_system + through_cell

    errors = []
    counts = []
    varies = []
    for level in np.flatnonzero(sizes):
        at = levels == level
        units = _number(clusters[at])
        has_unit = _sum_by(is_counted[:, at], units) > 0
        answered = has_unit.sum(axis=1)
        is_drawn = (is_used | is_missed)[:, at]
        counted_scores = np.ma.array(y[:, at], mask=~is_counted[:, at])
        counts.append(answered)
        errors.append(_sample(influence[:, at], is_drawn, answered, units))
        varies.append(counted_scores.ptp(axis=1).filled(0) > _NOISE)

    effect, added, freedom_of_weeks = _disperse(
        residuals, is_used * slopes * v, v, cells, weeks, clusters
    )
    # A good week moves what a system answered, and by its effect what is expected of
    # it elsewhere.
    reach = 1 + np.diag(by_system)
    errors.append(np.diag(reach**2 * added))
    freedom_of_levels = np.maximum(counts, 2) - 1
    return Fit(
        scores=expected @ v,
        errors=np.array(errors),
        freedom=np.vstack([freedom_of_levels, np.full(len(scores), freedom_of_weeks)]),
        counts=np.sum(counts, axis=0),
        varies=np.any(varies, axis=0),
        design_effect=effect,
    )


# Student's t of arrays: two-sided tails of (t, degrees of freedom), quantiles of
# (p, degrees).
_TAILS: Final[Callable[..., Array]] = np.vectorize(t_tail, otypes=[float])
_QUANTILES: Final[Callable[..., Array]] = np.vectorize(t_quantile, otypes=[float])


def _number(names: Array) -> Array:
    """Number names from 0, in their order."""
    numbers: Array = np.unique(names, return_inverse=True)[1]
    return numbers


def _sum_by(values: Array, groups: Array) -> Array:
    """Sum the columns of each group, row by row; `groups` has the number of each
    column's group.
    """
    sums = np.zeros((groups.max() + 1, len(values)))
    np.add.at(sums, groups, values.T)
    return sums.T


def _maximise(count: Array, scored: Array) -> tuple[Array, Array]:
    """Maximise the likelihood of S systems in C cells by Newton's method.

    The chances p = expit(m + θ_s + b_c) maximise

        Σ scored·log p + (count − scored)·log(1 − p) − (Σθ² + Σb²) / (2·3²)

    the quasi-likelihood of fractional scores (McCullagh & Nelder 1989, 9) with a ridge,
    which is concave; m is the log-odds of the mean score.

    Args:
        count: S × C, sums of the weights of questions, which are 1 in the mean.
        scored: S × C, the same sums of weights times scores.

    Returns:
        The chances, S × C, and the information about θ and b, (S + C) × (S + C).
    """
    systems = len(count)
    mean = (scored.sum() + 0.5) / (count.sum() + 1)
    centre = np.log(mean / (1 - mean))
    point = np.zeros(sum(count.shape))

    def measure(point: Array) -> tuple[float, Array]:
        """Compute the loss and the chances at a point."""
        logits = centre + point[:systems, None] + point[systems:]
        deviance = (count * np.logaddexp(0, logits) - scored * logits).sum()
        penalty = _RIDGE * (point**2).sum() / 2
        # scipy.special takes longer to import than a season to fit.
        return deviance + penalty, np.exp(-np.logaddexp(0, -logits))

    def inform(p: Array) -> Array:
        """Compute the information at the point where the chances are p."""
        cross = count * p * (1 - p)
        of_systems = np.diag(cross.sum(axis=1))
        of_cells = np.diag(cross.sum(axis=0))
        information = np.block([[of_systems, cross], [cross.T, of_cells]])
        return information + _RIDGE * np.eye(len(point))

    loss, p = measure(point)
    for _ in range(_MAX_STEPS):
        residuals = scored - count * p
        sums = np.concatenate([residuals.sum(axis=1), residuals.sum(axis=0)])
        step = np.linalg.solve(inform(p), sums - _RIDGE * point)
        max_loss = loss * (1 + 1e-9)
        while measure(point + step)[0] > max_loss and np.abs(step).max() > _NOISE:
            step /= 2
        point += step
        loss, p = measure(point)
        if np.abs(step).max() < _MAX_LAST_STEP:
            break
    return p, inform(p)


# --- Errors ---


def _sample(influence: Array, is_drawn: Array, answered: Array, units: Array) -> Array:
    """Compute the covariance of the scores that the questions of a level add.

    Influences are centred over the questions that count, summed by unit and multiplied
    by √(n/(n − 1)), n being the units that a system `answered`. The zeros of blank
    weeks, which are not drawn, are no sample of anything.

    Returns:
        S × S; nan if the questions are one unit.
    """
    systems = len(answered)
    if not units.any():
        return np.full((systems, systems), np.nan)
    drawn = np.maximum(is_drawn.sum(axis=1), 1)
    centre = (influence * is_drawn).sum(axis=1) / drawn
    sums = _sum_by((influence - centre[:, None]) * is_drawn, units)
    n = np.maximum(answered, 2)
    sums *= np.sqrt(n / (n - 1))[:, None]
    covariance: Array = sums @ sums.T
    return covariance


def _disperse(
    residuals: Array,
    moved: Array,
    v: Array,
    cells: Array,
    weeks: Array,
    clusters: Array,
) -> tuple[float, Array, float]:
    """Estimate the design effect of weeks.

    A dispersion is

        φ = Σ residual² / Σ v²·p(1 − p)

    (McCullagh & Nelder 1989, 9.2.3), here of residuals without what all systems share
    on a question: once of single questions (or clusters), once of their sums by week,
    of systems with two weeks or more. Their ratio is the design effect d (Kish 1965);
    weeks add d − 1 times the squares of a system's own residuals. What is expected of a
    square is less by the leverage of the question and of the system's effect, as in CR2
    (Bell & McCaffrey 2002).

    Args:
        residuals: S × Q, v·(y − p) where a system took part.
        moved: S × Q, v·p(1 − p) where a system took part.

    Returns:
        d, nan if nothing measures it; S variances that weeks add to each system's sum
        of residuals; the degrees of freedom of these.
    """
    share = moved / np.maximum(moved.sum(axis=0), _TINY)
    unshared = residuals - share * residuals.sum(axis=0)
    variances = moved * v * (1 - share)
    total_variance = variances.sum()
    moved_by_week = _sum_by(moved, weeks)
    moved_by_system = moved_by_week.sum(axis=1, keepdims=True)
    leverage = moved_by_week / np.maximum(moved_by_system, _TINY)
    is_one_of_several = (leverage > 0) & (leverage < 1 - 1e-9)
    variance_by_week = (1 - leverage) * _sum_by(variances, weeks)
    scale = variance_by_week[is_one_of_several].sum()
    units = _number(clusters * (cells.max() + 1) + cells)
    squares = (_sum_by(unshared, units) ** 2).sum(axis=1)
    nothing_added = np.zeros(len(residuals))
    if scale <= 1e-9 * total_variance or squares.sum() <= _TINY:
        return np.nan, nothing_added, 1.0

    squares_by_week = _sum_by(unshared, weeks) ** 2
    dispersion_of_weeks = squares_by_week[is_one_of_several].sum() / scale
    effect = float(dispersion_of_weeks * total_variance / squares.sum())
    if effect <= 1:
        return effect, nothing_added, 1.0

    inflation = (moved @ v) / np.maximum(variances.sum(axis=1), _TINY)
    added = (effect - 1) * squares * inflation
    # A mean is taken of each system's weeks, and of all systems on a question.
    system_weeks = is_one_of_several.sum()
    systems = is_one_of_several.any(axis=1).sum()
    compared = moved.any(axis=1).sum()
    freedom = max(1.0, (system_weeks - systems) * (1 - 1 / compared))
    # Of the dispersion only the share (d − 1) / d is that of weeks.
    return effect, added, float(freedom * (1 - 1 / effect) ** 2)


# --- Inference ---


class Estimates(NamedTuple):
    """Estimates, their variances (0: questions all say the same; nan: nothing measures
    them) and degrees of freedom.
    """

    value: Array
    variance: Array
    freedom: Array


def estimate_scores(fit: Fit) -> Estimates:
    """Estimate the S scores."""
    variances = np.diagonal(fit.errors, axis1=1, axis2=2)
    return _add_parts(fit.scores, variances, fit.freedom)


def estimate_differences(fit: Fit) -> Estimates:
    """Estimate every system's score less every other's, S × S.

    A part of the variance has the fewer degrees of freedom of the two.
    """
    variances = np.diagonal(fit.errors, axis1=1, axis2=2)
    sums = variances[:, :, None] + variances[:, None, :]
    parts = sums - 2 * fit.errors
    parts[parts < _NOISE * sums] = 0.0
    fewer = np.minimum(fit.freedom[:, :, None], fit.freedom[:, None, :])
    return _add_parts(fit.scores[:, None] - fit.scores, parts, fewer)


def _add_parts(value: Array, parts: Array, freedom: Array) -> Estimates:
    """Add up the parts of a variance, with Satterthwaite's (1946) degrees of freedom:

    (Σ part)² / Σ (part² / freedom)
    """
    total = parts.sum(axis=0)
    total = np.where(total < _MIN_VARIANCE, 0.0, total)
    squares = np.maximum((parts**2 / freedom).sum(axis=0), _TINY)
    return Estimates(value, total, np.maximum(total**2 / squares, 1.0))


def half_widths(estimates: Estimates) -> Array:
    """Compute half of the 95 % intervals by Student's t; nan where nothing
    measures the error.
    """
    is_measured = estimates.variance > 0
    freedom = np.where(is_measured, estimates.freedom, 1.0)
    half = _QUANTILES(0.975, freedom) * np.sqrt(estimates.variance)
    return np.where(is_measured, half, np.nan)


def find_tails(t: Array, freedom: Array) -> Array:
    """Compute two-sided p-values of Student's t of every pair, the same in
    both directions.
    """
    p = _TAILS(np.triu(t), freedom)
    return np.minimum(p, p.T)


def compare_pairs(fit: Fit, differences: Estimates) -> Array:
    """Test every difference by Student's t.

    No p is below 2 / 2^n, which is the least that the signs of the n questions of the
    system with fewer can give.

    Returns:
        S × S two-sided p-values, not adjusted; 1 where nothing measures the error.
    """
    value, variance, freedom = differences
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(np.abs(value) < _NOISE, 0.0, value / np.sqrt(variance))
        p = np.nan_to_num(find_tails(t, freedom), nan=1.0)
    # The exponent is bounded, since 2^-1100 is 0 in floats, and no p-value is 0.
    shared = np.minimum(np.minimum.outer(fit.counts, fit.counts), 1000)
    floored: Array = np.maximum(p, 2.0 ** (1 - shared))
    return floored
