"""Means and intervals; Student's t by hand, since to import scipy takes longer than
to score a file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

# Values that differ by no more are equal, and share a rank; fitted models
# leave this open.
TIE: Final = 1e-9

# --- Student's t ---


_TINY: Final = 1e-300


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Continued fraction of the incomplete beta function (DLMF 8.17.22), by the
    modified Lentz method.
    """
    c = 1.0
    d = 1.0 / max(1.0 - (a + b) * x / (a + 1.0), _TINY)
    total = d
    for m in range(1, 500):
        n = a + 2 * m
        even = m * (b - m) * x / ((n - 1) * n)
        odd = -(a + m) * (a + b + m) * x / (n * (n + 1))
        for numerator in (even, odd):
            d = 1.0 / ((1.0 + numerator * d) or _TINY)
            c = (1.0 + numerator / c) or _TINY
            total *= c * d
        if abs(c * d - 1.0) < 1e-16:
            break
    return total


def _log_gamma_step(a: float) -> float:
    """Compute lgamma(a + 1/2) - lgamma(a): the difference of two large numbers loses
    digits, its series does not.
    """
    if a > 100:
        return 0.5 * math.log(a) - 1 / (8 * a) + 1 / (192 * a**3)
    return math.lgamma(a + 0.5) - math.lgamma(a)


def t_tail(t: float, df: float) -> float:
    """Compute P(|T| > t) of Student's t with `df` > 0 degrees of freedom. It is
    I_x(df/2, 1/2), x = df/(df + t²) (DLMF 8.17).
    """
    a = df / 2
    ratio = t * t / df
    if not _TINY <= ratio < math.inf:
        return math.exp(-ratio)  # 1 of 0, 0 of infinity, nan of nan
    x = 1 / (1 + ratio)
    y = ratio / (1 + ratio)
    gamma = _log_gamma_step(a) - math.lgamma(0.5)
    front = math.exp(gamma - a * math.log1p(ratio) + 0.5 * math.log(y))
    if x < (a + 1) / (a + 2.5):
        return front * _beta_fraction(a, 0.5, x) / a
    return 1.0 - front * _beta_fraction(0.5, a, y) / 0.5


@lru_cache(maxsize=1024)  # the results of one dataset have the same degrees of freedom
def t_quantile(p: float, df: float) -> float:
    """Compute the `p` quantile of Student's t, 0.5 <= p < 1. By Newton's method for ln
    `t_tail` over ln t, which is concave.

    >>> round(t_quantile(0.975, 10), 6)
    2.228139
    """
    tail = 2 * (1 - p)
    if tail >= 1:
        return 0.0
    factor = math.exp(_log_gamma_step(df / 2) - 0.5 * math.log(df * math.pi))
    t = 1.0
    for _ in range(200):
        beyond = t_tail(t, df)
        log_density = -(df + 1) / 2 * math.log1p(t * t / df)
        slope = 2 * t * factor * math.exp(log_density) / beyond
        # No further: a tail may underflow.
        step = max(-30.0, min(1.0, math.log(beyond / tail) / slope))
        t *= math.exp(step)
        if abs(step) < 1e-13:
            break
    return t


# --- Means and intervals ---

_MIN_VARIANCE: Final = 1e-30  # below it, equal values differ by rounding errors only


def mean(values: Sequence[float]) -> float:
    """Compute the arithmetic mean, exactly rounded so that the order of values does not
    matter; nan without values.
    """
    if not values:
        return math.nan
    return math.fsum(values) / len(values)


def variance(values: Sequence[float]) -> float:
    """Compute the sample variance with n−1; 0 for fewer than two values."""
    if len(values) < 2:
        return 0.0
    centre = mean(values)
    return math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1)


def stratified_mean(strata: Sequence[tuple[float, Sequence[float]]]) -> float:
    """Compute the mean of strata `(weight, values)`:

        Σ w·mean / Σ w

    over those that have values; nan if none has.
    """
    used = [(weight, mean(values)) for weight, values in strata if values]
    if len(used) == 1:
        return used[0][1]
    if not used:
        return math.nan
    total = math.fsum(weight for weight, _ in used)
    return (
        math.fsum(weight * mean_of_stratum for weight, mean_of_stratum in used) / total
    )


def stratified_error(
    strata: Sequence[tuple[float, Sequence[float]]],
) -> tuple[float, float] | None:
    """Compute the standard error of `stratified_mean`, √V, and its degrees of freedom.

    With weights wᵢ that add up to 1 and variances sᵢ² over nᵢ−1 the variance is

        V = Σ wᵢ²sᵢ²/nᵢ

    (Cochran, Sampling Techniques, 1977, 5.4), with Satterthwaite's (1946)
    degrees of freedom

        V² / Σ (wᵢ²sᵢ²/nᵢ)²/(nᵢ−1)

    None if a stratum with weight has fewer than two values, or if every variance is 0:
    then nothing measures the error.
    """
    used = [(weight, values) for weight, values in strata if values and weight > 0]
    if not used or any(len(values) < 2 for _, values in used):
        return None
    total = math.fsum(weight for weight, _ in used)
    terms = []
    for weight, values in used:
        share = weight / total
        terms.append(share**2 * variance(values) / len(values))
    total_variance = math.fsum(terms)
    if total_variance < _MIN_VARIANCE:
        return None
    denominators = [
        term**2 / (len(values) - 1)
        for term, (_, values) in zip(terms, used, strict=True)
    ]
    return math.sqrt(total_variance), total_variance**2 / math.fsum(denominators)


def add_variance(
    error: tuple[float, float] | None, variance: float, freedom: float
) -> tuple[float, float] | None:
    """Add an independent variance to a standard error with its degrees of freedom
    (Satterthwaite 1946). None stays None: nothing measures the error.
    """
    if error is None or variance <= 0:
        return error
    standard_error, error_freedom = error
    square = standard_error**2
    total = square + variance
    total_freedom = total**2 / (square**2 / error_freedom + variance**2 / freedom)
    return math.sqrt(total), total_freedom


def stratified_interval(
    strata: Sequence[tuple[float, Sequence[float]]],
    bounds: tuple[float, float] = (0.0, 1.0),
    added: tuple[float, float] = (0.0, 1.0),
) -> tuple[float, float] | None:
    """Compute the 95 % confidence interval of the stratified mean by Student's t.

    Args:
        strata: as in `stratified_error`.
        bounds: to which it is clipped.
        added: a variance with its degrees of freedom (`add_variance`).
    """
    error = add_variance(stratified_error(strata), *added)
    if error is None:
        return None
    standard_error, freedom = error
    half = t_quantile(0.975, freedom) * standard_error
    return clip_interval(stratified_mean(strata), half, bounds)


def clip_interval(
    centre: float, half: float, bounds: tuple[float, float]
) -> tuple[float, float]:
    """Return the interval of a half width around a centre, within bounds."""
    return max(bounds[0], centre - half), min(bounds[1], centre + half)


def cluster_values(values: Sequence[float], clusters: Sequence[object]) -> list[float]:
    """Compute a value per cluster, in the order of their first values. Their mean is
    that of all, their error is clustered:

        uᵢ = x̄ + G/n · Σ (x − x̄) over the values of cluster i, of n
        values in G clusters

    s²(u)/G is then `clustered_error`². With clusters of one value each they are the
    values themselves but for rounding.
    """
    if not values:
        return []
    centre = mean(values)
    sums = sum_by_cluster([value - centre for value in values], clusters)
    scale = len(sums) / len(values)
    return [centre + scale * total for total in sums]


def sum_by_cluster(values: Sequence[float], clusters: Sequence[object]) -> list[float]:
    """Sum the values of each cluster; without clusters each value is its own sum."""
    if not clusters:
        return list(values)
    parts: dict[object, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        parts.setdefault(cluster, []).append(value)
    return list(map(math.fsum, parts.values()))


def clustered_error(
    values: Sequence[float], clusters: Sequence[object]
) -> tuple[float, float] | None:
    """Compute the standard error of a mean whose n values come in G clusters, √V, and
    its degrees of freedom, G − 1.

    Values of a cluster may be anything to each other:

        V = G/(G−1) · Σ (Σ residuals of a cluster)² / n²

    (Liang & Zeger 1986; Miller, Adding error bars to evals, 2024). With clusters of one
    value each this is s²/n. None for fewer than two clusters, or if the variance is 0:
    then nothing measures the error.
    """
    return stratified_error([(1.0, cluster_values(values, clusters))])


def clustered_interval(
    values: Sequence[float],
    clusters: Sequence[object],
    bounds: tuple[float, float] = (0.0, 1.0),
) -> tuple[float, float] | None:
    """Compute the 95 % confidence interval of a mean by Student's t, clipped to
    `bounds`; see `clustered_error`.
    """
    return stratified_interval([(1.0, cluster_values(values, clusters))], bounds)


# --- Ranks ---


def holm(p_values: Any) -> Any:
    """Adjust p-values by Holm's step-down method (1979), in the order given.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    import numpy as np  # here: most of what reads this module needs none

    p = np.asarray(p_values, float)
    order = np.argsort(p, kind="stable")
    steps = np.minimum(p[order] * np.arange(len(p), 0, -1), 1.0)
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(steps)
    return adjusted


def rank_ranges(better: Any, p: Any, alpha: float = 0.05) -> list[tuple[int, int]]:
    """Find the best and the worst rank of each of S that no test of a pair contradicts.

    `better` is S × S, how much better the first of two is; `p` are the two-sided
    p-values of these differences, not adjusted, nan where nothing measures an error.
    The ranks are 1 + those significantly better, and S − those significantly worse. By
    Holm's adjustment over all pairs all true ranks lie in theirs at once in 95 % of
    cases (Mogstad, Romano, Shaikh & Wilhelm, Inference for ranks, Rev. Econ.
    Stud. 91, 2024).
    """
    import numpy as np

    upper = np.triu_indices(len(p), 1)
    is_sure = np.zeros(np.shape(p), bool)
    is_sure[upper] = holm(np.nan_to_num(p[upper], nan=1.0)) < alpha
    is_sure |= is_sure.T
    above = (is_sure & (better < 0)).sum(axis=1)
    below = (is_sure & (better > 0)).sum(axis=1)
    best = 1 + above
    worst = len(p) - below
    return list(zip(best.tolist(), worst.tolist(), strict=True))


def shared_ranks(values: Sequence[float]) -> list[int]:
    """Rank values that are sorted, best first; equal ones share the better rank.

    This is the tie rule of all rankings: a value is equal to the one before it if they
    differ by at most `TIE`, relative above 1.

    >>> shared_ranks([0.5, 0.1 + 0.2, 0.3, 0.0])
    [1, 2, 2, 4]
    """
    ranks: list[int] = []
    for position, value in enumerate(values):
        if position > 0:
            difference = abs(value - values[position - 1])
            if difference <= TIE * max(1.0, abs(value)):
                ranks.append(ranks[-1])
                continue
        ranks.append(position + 1)
    return ranks
