"""Means, intervals and paired tests; Student's t by hand, since scipy costs more than a whole command."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from .errors import InputError

# --- Intervals ---


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Continued fraction of the incomplete beta function (DLMF 8.17.22), by the modified Lentz method."""
    tiny = 1e-300
    c, d = 1.0, 1.0 / max(1.0 - (a + b) * x / (a + 1.0), tiny)
    total = d
    for m in range(1, 500):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / ((1.0 + numerator * d) or tiny)
            c = (1.0 + numerator / c) or tiny
            total *= c * d
        if abs(c * d - 1.0) < 1e-16:
            break
    return total


def t_tail(t: float, df: float) -> float:
    """P(|T| > t) of Student's t with `df` > 0 degrees of freedom: I_x(df/2, 1/2), x = df/(df + t²) (DLMF 8.17)."""
    if t * t / df < 1e-300:
        return 1.0
    a, ratio = df / 2, t * t / df
    x, y = 1 / (1 + ratio), ratio / (1 + ratio)
    # lgamma(a + 1/2) - lgamma(a): the difference of two large numbers loses digits, its series does not
    gamma = 0.5 * math.log(a) - 1 / (8 * a) + 1 / (192 * a**3) if a > 100 else math.lgamma(a + 0.5) - math.lgamma(a)
    front = math.exp(gamma - math.lgamma(0.5) - a * math.log1p(ratio) + 0.5 * math.log(y))
    if x < (a + 1) / (a + 2.5):
        return front * _beta_fraction(a, 0.5, x) / a
    return 1.0 - front * _beta_fraction(0.5, a, y) / 0.5


def t_quantile(p: float, df: float) -> float:
    """The `p` quantile of Student's t, 0.5 <= p < 1: Newton's method for ln `t_tail` over ln t, which is concave.

    >>> round(t_quantile(0.975, 10), 6)
    2.228139
    """
    tail = 2 * (1 - p)
    if tail >= 1:
        return 0.0
    gamma = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) if df < 1e6 else 0.5 * math.log(df / 2)
    factor = math.exp(gamma - 0.5 * math.log(df * math.pi))
    t = 1.0
    for _ in range(200):
        beyond = t_tail(t, df)
        slope = 2 * t * factor * math.exp(-(df + 1) / 2 * math.log1p(t * t / df)) / beyond
        step = max(-30.0, min(1.0, math.log(beyond / tail) / slope))  # no further: a tail may underflow
        t *= math.exp(step)
        if abs(step) < 1e-13:
            break
    return t


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean, exactly rounded so that the order of values does not matter; nan if there are none."""
    return math.fsum(values) / len(values) if values else math.nan


def variance(values: Sequence[float]) -> float:
    """Sample variance with n−1; 0 for fewer than two values."""
    if len(values) < 2:
        return 0.0
    centre = mean(values)
    return math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1)


def stratified_mean(strata: Sequence[tuple[float, Sequence[float]]]) -> float:
    """Σ w·mean / Σ w over the strata `(weight, values)` that have values; nan if none has."""
    used = [(weight, mean(values)) for weight, values in strata if values]
    if len(used) == 1:
        return used[0][1]
    return math.fsum(w * m for w, m in used) / math.fsum(w for w, _ in used) if used else math.nan


def stratified_error(strata: Sequence[tuple[float, Sequence[float]]]) -> tuple[float, float] | None:
    """Standard error of the stratified mean Σ wᵢ·meanᵢ and its degrees of freedom; weights as `stratified_mean`.

    Variance V = Σ wᵢ²sᵢ²/nᵢ with sᵢ² over n−1 (Cochran, Sampling Techniques, 1977, 5.4); Satterthwaite's (1946)
    degrees of freedom V² / Σ (wᵢ²sᵢ²/nᵢ)²/(nᵢ−1). None if a stratum with weight has fewer than two values, or if
    every variance is 0: then nothing measures the error.
    """
    used = [(weight, values) for weight, values in strata if values and weight > 0]
    if not used or any(len(values) < 2 for _, values in used):
        return None
    total = math.fsum(weight for weight, _ in used)
    parts = [((w / total) ** 2 * variance(values) / len(values), len(values) - 1) for w, values in used]
    spread = math.fsum(part for part, _ in parts)
    if spread < 1e-30:  # rounding noise of equal values counts as 0
        return None
    return math.sqrt(spread), spread**2 / math.fsum(part**2 / n for part, n in parts)


def stratified_interval(
    strata: Sequence[tuple[float, Sequence[float]]],
    bounds: tuple[float, float] = (0.0, 1.0),
    confidence: float = 0.95,
) -> tuple[float, float] | None:
    """Confidence interval of the stratified mean by Student's t, clipped to `bounds`; see `stratified_error`."""
    error = stratified_error(strata)
    if error is None:
        return None
    half = t_quantile((1 + confidence) / 2, error[1]) * error[0]
    centre = stratified_mean(strata)
    return max(bounds[0], centre - half), min(bounds[1], centre + half)


def cluster_values(values: Sequence[float], clusters: Sequence[object]) -> list[float]:
    """A value per cluster, in the order of their first values: their mean is that of all, their error is clustered.

    uᵢ = x̄ + G/n · Σ (x − x̄) over the n values of G clusters: s²(u)/G is then `clustered_error`². With clusters of one
    value each they are the values themselves but for rounding.
    """
    centre, sums = mean(values) if values else 0.0, dict[object, list[float]]()
    for value, cluster in zip(values, clusters, strict=True):
        sums.setdefault(cluster, []).append(value - centre)
    return [centre + len(sums) / len(values) * math.fsum(part) for part in sums.values()]


def clustered_error(values: Sequence[float], clusters: Sequence[object]) -> tuple[float, float] | None:
    """Standard error of a mean whose values come in clusters, and its degrees of freedom, clusters − 1.

    Values of a cluster may be anything to each other: V = G/(G−1) · Σ (Σ residuals of a cluster)² / n² (Liang & Zeger
    1986; Miller, Adding error bars to evals, 2024). With clusters of one value each this is s²/n. None for fewer than
    two clusters, or if the variance is 0: then nothing measures the error.
    """
    return stratified_error([(1.0, cluster_values(values, clusters))])


def clustered_interval(
    values: Sequence[float], clusters: Sequence[object], bounds: tuple[float, float] = (0.0, 1.0)
) -> tuple[float, float] | None:
    """95 % confidence interval of a mean by Student's t, clipped to `bounds`; see `clustered_error`."""
    return stratified_interval([(1.0, cluster_values(values, clusters))], bounds)


# --- Paired tests ---

FLIPS: Final = 10_000
EXACT_FLIPS: Final = 13  # non-zero differences up to which all 2^13 = 8,192 signs are tried instead
_BLOCK: Final = 1 << 22  # numbers held at a time


def sign_flip_test(parts: Sequence[Sequence[float]], flips: int = FLIPS, seed: int = 0) -> list[float]:
    """Two-sided p-values of paired differences by random signs (Fisher, The Design of Experiments, 1935, §21).

    `parts` holds a row per pair: what every question adds to the pair's difference (Σ = the difference), so that
    strata and weights are in it already. Without a difference between two systems every sign is as likely as the
    other; p is the share of sign patterns with |Σ ±part| >= |Σ part|. All patterns are tried where at most 13 parts
    are not 0, else `flips` random ones, and p = (1 + hits) / (1 + flips) (Phipson & Smyth 2010). The n-th question
    gets the same sign in every pair, so p depends on nothing but the pair and the order of the questions.
    """
    import numpy as np

    if not len(parts):
        return []
    matrix = np.asarray(parts, dtype=float).reshape(len(parts), -1)
    if not np.isfinite(matrix).all():
        raise InputError("sign_flip_test", "expected finite differences")
    observed = np.array([abs(math.fsum(row)) for row in matrix])
    least = observed - 1e-12 * np.abs(matrix).sum(axis=1)  # a sum that is equal but for rounding counts
    values = np.ones(len(matrix))
    few = np.count_nonzero(matrix, axis=1) <= EXACT_FLIPS
    for index in np.flatnonzero(few):
        row = matrix[index][matrix[index] != 0]
        patterns = np.arange(1 << len(row))[:, None] >> np.arange(len(row)) & 1
        values[index] = np.mean(np.abs((2 * patterns - 1) @ row) >= least[index])
    rest = np.flatnonzero(~few)
    if len(rest):
        rng = np.random.default_rng(seed)
        count, hits = matrix.shape[1], np.zeros(len(rest))
        step = max(1, _BLOCK // max(count, len(rest)))
        for start in range(0, flips, step):
            # Whole words: what is drawn must not depend on how many rows are drawn at a time.
            words = rng.integers(0, 1 << 64, (min(step, flips - start), (count + 63) // 64), np.uint64)
            signs = np.unpackbits(words.astype("<u8").view(np.uint8), axis=1)[:, :count]
            sums = (2.0 * signs - 1) @ matrix[rest].T
            hits += np.count_nonzero(np.abs(sums) >= least[rest], axis=0)
        values[rest] = (1 + hits) / (1 + flips)
    return [float(value) for value in values]


_MOST_SKEWNESS: Final = 2.0


def skewness_test(strata: Sequence[tuple[float, Sequence[float]]]) -> float | None:
    """Two-sided p-value of a stratified mean of 0 by Student's t, corrected for skewness; None as `stratified_error`.

    T = t + g·t²/3 + g²·t³/27 + g/6 (Hall, On the removal of skewness by transformation, 1992), with the skewness of the
    estimate g = Σ wᵢ³mᵢ/nᵢ² / V^(3/2), mᵢ the third central moment of a stratum and V as in `stratified_error`. Against
    t, g counts up to 2/|t|, so that |T| > 0.48·|t|: beyond, eight wins of nine would be a weaker case than seven.
    """
    error = stratified_error(strata)
    if error is None:
        return None
    t = stratified_mean(strata) / error[0]
    used = [(weight, values) for weight, values in strata if values]
    total = math.fsum(weight for weight, _ in used)
    cubes = (
        (w / total) ** 3 * mean([(x - mean(values)) ** 3 for x in values]) / len(values) ** 2 for w, values in used
    )
    g = math.fsum(cubes) / error[0] ** 3
    if g * t < -_MOST_SKEWNESS:
        g = -_MOST_SKEWNESS / t
    return t_tail(t + g * t**2 / 3 + g**2 * t**3 / 27 + g / 6, error[1])


def paired_test(
    differences: Sequence[Sequence[tuple[float, Sequence[float]]]], parts: Sequence[Sequence[float]], seed: int = 0
) -> list[float]:
    """Two-sided p-values of paired differences: the larger of `sign_flip_test` and `skewness_test`.

    `differences` holds the strata of a row of `parts`. Random signs are right where differences are mostly ties or
    have heavy tails, and reject too often where their distribution is skewed: many small gains and a few large losses.
    There the correction is right, which is wrong about ties. `tests/nightly.py --only tests` measures both.
    """
    flips = sign_flip_test(parts, seed=seed)
    return [max(p, skewness_test(strata) or 0.0) for p, strata in zip(flips, differences, strict=True)]


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's (1979) step-down adjusted p-values, in the order given.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for step, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - step) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def detectable_difference(error: tuple[float, float], power: float = 0.8, confidence: float = 0.95) -> float:
    """The smallest true difference that a two-sided t test finds with probability `power`.

    (t at (1 + confidence)/2 + t at power) · standard error, with `error` = (standard error, degrees of freedom); the
    usual approximation of the noncentral t (Cohen, Statistical Power Analysis, 1988).
    """
    return (t_quantile((1 + confidence) / 2, error[1]) + t_quantile(power, error[1])) * error[0]
