"""All pairs of systems on the same questions, tested together: random signs, t corrected for
skewness.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, Final

import numpy as np

from forecasteval.common.errors import InputError

from .scale import Level
from .systems import Strata, System
from .weeks import TAILS

Array = np.ndarray[Any, np.dtype[Any]]
ArrayStrata = Sequence[tuple[float, Array]]  # a weight, and systems × values

FLIPS: Final = 10_000
EXACT_FLIPS: Final = 13  # non-zero differences up to which all 2^13 = 8,192 signs are tried instead
_NOISE: Final = 1e-12  # what is rounding
_MOST_SKEWNESS: Final = 2.0
_BLOCK: Final = 1 << 22  # numbers held at a time


def compare_systems(systems: Sequence[System], levels: Sequence[Level]) -> Array:
    """Test every pair of systems over `levels`.

    Returns S × S two-sided p-values (`paired_test`), not adjusted; 1 on the diagonal, and all of
    them where no level counts.
    """
    if not (systems and levels):
        return np.ones((len(systems), len(systems)))
    strata = [system.strata(levels) for system in systems]
    clustered = [system.cluster(each, levels) for system, each in zip(systems, strata, strict=True)]
    names = [name for level in levels for name in systems[0].questions[level].clusters]
    p = paired_test(_stack(clustered), _sum_clusters(_stack(strata), names))
    return np.minimum(p, p.T)


def _stack(strata: Sequence[Strata]) -> ArrayStrata:
    """Put the values of all systems in one array for each stratum."""
    return [
        (same[0][0], np.array([values for _, values in same])) for same in zip(*strata, strict=True)
    ]


def _sum_clusters(strata: ArrayStrata, names: Sequence[str]) -> Array:
    """Sum what questions add to each score, by what changes its sign as one: a question, or a
    cluster of them over all levels.
    """
    total = math.fsum(weight for weight, _ in strata)
    parts = np.hstack([weight / total / rows.shape[1] * rows for weight, rows in strata])
    if not names:
        return parts
    units = np.unique(names, return_inverse=True)[1]
    return np.array([np.bincount(units, row) for row in parts])


# --- Tests ---


def paired_test(strata: ArrayStrata, parts: Array) -> Array:
    """Compute the two-sided p-value of each pair: the larger of `sign_flip_test` and
    `skewness_test`.

    Random signs are right where differences are mostly ties or have heavy tails, and reject too
    often where their distribution is skewed: many small gains and a few large losses. There the
    correction is right, which is wrong about ties. `research/nightly.py --only tests` measures
    both.

    Below 1 / 10,001 random signs say nothing more, and Holm's adjustment over 500 pairs needs more.
    There the correction decides alone, down to 2 / 2^n, the least that the signs of the n questions
    that differ can give.
    """
    flips = sign_flip_test(parts)
    corrected = skewness_test(strata)
    least = 2.0 ** (1 - np.minimum(_count_differing(parts), 1000))
    is_least = (flips <= 1 / (1 + FLIPS)) & ~np.isnan(corrected)
    return np.where(is_least, np.maximum(corrected, least), np.fmax(flips, corrected))


def sign_flip_test(parts: Array, flips: int = FLIPS, seed: int = 0) -> Array:
    """Compute two-sided p-values of paired differences by random signs (Fisher, The Design of
    Experiments, 1935, §21).

    `parts` holds a row per system: what every question adds to its score, so that strata and
    weights are in it already. Without a difference between two systems every sign is as likely as
    the other; p is the share of sign patterns with |Σ ±(a − b)| >= |Σ (a − b)|. All patterns are
    tried where at most 13 differences are not 0, else `flips` random ones, and
    p = (1 + hits) / (1 + flips) (Phipson & Smyth 2010). The n-th question gets the same sign in
    every pair, so that one product of systems and signs serves all of them.
    """
    if not np.isfinite(parts).all():
        raise InputError("sign_flip_test", "expected finite differences")
    scores = parts.sum(axis=1)
    sizes = np.abs(parts).sum(axis=1)
    # A sum that is equal but for rounding counts.
    least = np.abs(np.subtract.outer(scores, scores)) - _NOISE * np.add.outer(sizes, sizes)
    counts = _count_differing(parts)
    is_random = counts > EXACT_FLIPS
    hits = np.zeros(counts.shape)
    for signs in _draw_signs(parts.shape, flips if is_random.any() else 0, seed):
        sums = parts @ signs
        for place, own in enumerate(sums):
            is_hit = np.abs(own - sums) >= least[place][:, None]
            hits[place] += np.count_nonzero(is_hit, axis=1)
    p = (1 + hits) / (1 + flips)
    for a, b in np.argwhere(~is_random):
        differences = np.sort(np.abs(parts[a] - parts[b]))[::-1][: counts[a, b]]
        p[a, b] = np.mean(np.abs(_list_signs(len(differences)) @ differences) >= least[a, b])
    return p


@lru_cache
def _list_signs(count: int) -> Array:
    """List all patterns of signs."""
    return np.array(list(product((1.0, -1.0), repeat=count)))


def _draw_signs(shape: tuple[int, ...], flips: int, seed: int) -> Iterator[Array]:
    """Draw random signs of the questions of S × Q parts, a column per flip, some at a time."""
    count = shape[1]
    rng = np.random.default_rng(seed)
    step = max(1, _BLOCK // max(*shape, 1))
    for start in range(0, flips, step):
        # Whole words: what is drawn must not depend on how many flips are drawn at a time.
        words = rng.integers(0, 1 << 64, (min(step, flips - start), (count + 63) // 64), np.uint64)
        signs = np.unpackbits(words.astype("<u8").view(np.uint8), axis=1)[:, :count]
        yield 2.0 * signs.T - 1


def skewness_test(strata: ArrayStrata) -> Array:
    """Compute two-sided p-values of stratified mean differences of 0 by Student's t, corrected for
    skewness; nan as `stratified_error`.

    T = t + g·t²/3 + g²·t³/27 + g/6 (Hall, On the removal of skewness by transformation, 1992), with
    the skewness of the estimate g = Σ wᵢ³mᵢ/nᵢ² / V^(3/2), mᵢ the third central moment of a stratum
    and V as in `stratified_error`. Against t, g counts up to 2/|t|, so that |T| > 0.48·|t|: beyond,
    eight wins of nine would be a weaker case than seven.
    """
    total = math.fsum(weight for weight, _ in strata)
    value, variance, squares, third = np.zeros((4, *[len(strata[0][1])] * 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        for weight, rows in strata:
            n = rows.shape[1]
            share = weight / total
            means, square, cube = np.swapaxes([_moments(row - rows) for row in rows], 0, 1)
            part = share**2 * square / (n - 1) / n
            value += share * means
            variance += part
            squares += part**2 / (n - 1)
            third += share**3 * cube / n**3
        variance[variance < 1e-30] = np.nan  # rounding noise of equal values counts as 0
        t = value / np.sqrt(variance)
        g = third / variance**1.5
        g = np.where(g * t < -_MOST_SKEWNESS, -_MOST_SKEWNESS / t, g)
        return TAILS(t + g * t**2 / 3 + g**2 * t**3 / 27 + g / 6, variance**2 / squares)


def _moments(rows: Array) -> tuple[Array, Array, Array]:
    """Compute the means of rows, and the sums of their second and third powers around these."""
    means = rows.mean(axis=1)
    centred = rows - means[:, None]
    return means, (centred**2).sum(axis=1), (centred**3).sum(axis=1)


def _count_differing(parts: Array) -> Array:
    """Count the questions that add something to the difference of each pair."""
    noise = _NOISE * np.abs(parts).max(initial=0.0)
    return np.array([np.count_nonzero(np.abs(row - parts) > noise, axis=1) for row in parts])
