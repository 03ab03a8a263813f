"""Paired differences of two systems and their tests: random signs, t corrected for skewness, Holm's
adjustment.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Final, NamedTuple

from forecasteval.common.errors import InputError
from forecasteval.common.records import group_by
from forecasteval.common.statistics import (
    mean,
    stratified_error,
    stratified_mean,
    t_quantile,
    t_tail,
)

from .scale import Level
from .systems import Strata, System

FLIPS: Final = 10_000
EXACT_FLIPS: Final = 13  # non-zero differences up to which all 2^13 = 8,192 signs are tried instead
_EQUAL: Final = 1e-12  # scores that differ by less are equal
_BLOCK: Final = 1 << 22  # numbers held at a time


class Difference(NamedTuple):
    """The weighted score of a system A minus that of B, on the same questions."""

    value: float
    p: float  # two-sided, of `paired_test`; not adjusted
    spread: Strata  # what clusters differ by, by level: errors are made of it
    parts: list[float]  # what every question adds to the value


def measure_differences(
    pairs: Iterable[tuple[System, System]], levels: Sequence[Level]
) -> list[Difference]:
    """Measure the differences of pairs of systems over `levels`, tested together
    (`paired_test`).
    """
    measured = [_measure(a, b, levels) for a, b in pairs]
    tests = paired_test([difference.spread for difference, _ in measured], [f for _, f in measured])
    return [difference._replace(p=p) for (difference, _), p in zip(measured, tests, strict=True)]


def _measure(a: System, b: System, levels: Sequence[Level]) -> tuple[Difference, list[float]]:
    """Measure a difference without its p, and what changes its sign as one. That is a question, or
    a cluster of them over all levels.
    """
    strata: Strata = []
    for level in levels:
        scores = zip(a.questions[level].scores, b.questions[level].scores, strict=True)
        strata.append((a.weights[level], [a.share * (x - y) for x, y in scores]))
    total = math.fsum(weight for weight, values in strata if values)
    parts = [weight / total / len(values) * value for weight, values in strata for value in values]
    clusters = [name for level in levels for name in a.questions[level].clusters]
    by_cluster = group_by(zip(clusters, parts, strict=False), itemgetter(0)).values()
    flipped = [math.fsum(part for _, part in same) for same in by_cluster] or parts
    spread = a.cluster(strata, levels)
    return Difference(stratified_mean(strata), math.nan, spread, parts), flipped


def sign_flip_test(
    parts: Sequence[Sequence[float]], flips: int = FLIPS, seed: int = 0
) -> list[float]:
    """Two-sided p-values of paired differences by random signs (Fisher, The Design of Experiments,
    1935, §21).

    `parts` holds a row per pair: what every question adds to the pair's difference (Σ = the
    difference), so that strata and weights are in it already. Without a difference between two
    systems every sign is as likely as the other; p is the share of sign patterns with |Σ ±part| >=
    |Σ part|. All patterns are tried where at most 13 parts are not 0, else `flips` random ones, and
    p = (1 + hits) / (1 + flips) (Phipson & Smyth 2010). The n-th question gets the same sign in
    every pair, so p depends on nothing but the pair and the order of the questions.
    """
    import numpy as np

    if not len(parts):
        return []
    matrix = np.asarray(parts, dtype=float).reshape(len(parts), -1)
    if not np.isfinite(matrix).all():
        raise InputError("sign_flip_test", "expected finite differences")
    observed = np.array([abs(math.fsum(row)) for row in matrix])
    # A sum that is equal but for rounding counts.
    least = observed - 1e-12 * np.abs(matrix).sum(axis=1)
    values = np.ones(len(matrix))
    few = np.count_nonzero(matrix, axis=1) <= EXACT_FLIPS
    for index in np.flatnonzero(few):
        row = matrix[index][matrix[index] != 0]
        patterns = np.arange(1 << len(row))[:, None] >> np.arange(len(row)) & 1
        values[index] = np.mean(np.abs((2 * patterns - 1) @ row) >= least[index])
    rest = np.flatnonzero(~few)
    if len(rest):
        rng = np.random.default_rng(seed)
        hits = np.zeros(len(rest))
        count = matrix.shape[1]
        step = max(1, _BLOCK // max(count, len(rest)))
        for start in range(0, flips, step):
            # Whole words: what is drawn must not depend on how many rows are drawn at a time.
            words = rng.integers(
                0, 1 << 64, (min(step, flips - start), (count + 63) // 64), np.uint64
            )
            signs = np.unpackbits(words.astype("<u8").view(np.uint8), axis=1)[:, :count]
            sums = (2.0 * signs - 1) @ matrix[rest].T
            hits += np.count_nonzero(np.abs(sums) >= least[rest], axis=0)
        values[rest] = (1 + hits) / (1 + flips)
    p_values: list[float] = values.tolist()
    return p_values


_MOST_SKEWNESS: Final = 2.0


def skewness_test(strata: Sequence[tuple[float, Sequence[float]]]) -> float | None:
    """Two-sided p-value of a stratified mean of 0 by Student's t, corrected for skewness; None as
    `stratified_error`.

    T = t + g·t²/3 + g²·t³/27 + g/6 (Hall, On the removal of skewness by transformation, 1992), with
    the skewness of the estimate g = Σ wᵢ³mᵢ/nᵢ² / V^(3/2), mᵢ the third central moment of a stratum
    and V as in `stratified_error`. Against t, g counts up to 2/|t|, so that |T| > 0.48·|t|: beyond,
    eight wins of nine would be a weaker case than seven.
    """
    error = stratified_error(strata)
    if error is None:
        return None
    t = stratified_mean(strata) / error[0]
    used = [(weight, values) for weight, values in strata if values]
    total = math.fsum(weight for weight, _ in used)
    cubes = [(w / total) ** 3 * _third_moment(values) / len(values) ** 2 for w, values in used]
    g = math.fsum(cubes) / error[0] ** 3
    if g * t < -_MOST_SKEWNESS:
        g = -_MOST_SKEWNESS / t
    return t_tail(t + g * t**2 / 3 + g**2 * t**3 / 27 + g / 6, error[1])


def _third_moment(values: Sequence[float]) -> float:
    centre = mean(values)
    return mean([(value - centre) ** 3 for value in values])


def paired_test(
    differences: Sequence[Sequence[tuple[float, Sequence[float]]]],
    parts: Sequence[Sequence[float]],
    seed: int = 0,
) -> list[float]:
    """Two-sided p-values of paired differences: the larger of `sign_flip_test` and `skewness_test`.

    `differences` holds the strata of a row of `parts`. Random signs are right where differences are
    mostly ties or have heavy tails, and reject too often where their distribution is skewed: many
    small gains and a few large losses. There the correction is right, which is wrong about ties.
    `research/nightly.py --only tests` measures both.
    """
    flips = sign_flip_test(parts, seed=seed)
    return [
        max(p, skewness_test(strata) or 0.0) for p, strata in zip(flips, differences, strict=True)
    ]


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


def shared_ranks(scores: Sequence[float]) -> list[int]:
    """Return the ranks of scores in their order; equal ones share theirs.

    >>> shared_ranks([0.5, 0.25, 0.25, 0.0])
    [1, 2, 2, 4]
    """
    ranks: list[int] = []
    for place, score in enumerate(scores):
        same = place and abs(score - scores[place - 1]) < _EQUAL
        ranks.append(ranks[-1] if same else place + 1)
    return ranks


def detectable_difference(error: tuple[float, float], power: float = 0.8) -> float:
    """Return the smallest true difference that a two-sided t test at the level 0.05 finds with
    probability `power`.

    (t at 0.975 + t at power) · standard error, with `error` = (standard error, degrees of freedom);
    the usual approximation of the noncentral t (Cohen, Statistical Power Analysis, 1988).
    """
    return (t_quantile(0.975, error[1]) + t_quantile(power, error[1])) * error[0]
