"""Ranks of systems, and the power of their tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from forecasteval.common.statistics import (
    add_variance,
    mean,
    rank_ranges,
    shared_ranks,
    stratified_error,
    t_quantile,
)

from .systems import ALPHA, Strata

# p is 2 / 2^n at least if n clusters differ, so that six must, all in one direction,
# for p < ALPHA.
_MIN_DIFFERING: Final = 6
# On average, where at least six differ four times out of five
_MEAN_DIFFERING: Final = 7.5
Ranks = dict[int, tuple[int, tuple[int, int]]]  # by index: the rank, and its range


def assign_ranks(
    indices: Sequence[int], scores: Sequence[float], better: Any, p: Any
) -> Ranks:
    """Assign ranks to systems, and the ranges of ranks that no test contradicts.

    Args:
        indices: of the systems, best first.
        scores: of the same systems.
        better: as in `rank_ranges`, and so is `p`.
    """
    ranges = rank_ranges(better, p, ALPHA)
    ranks = zip(shared_ranks(scores), ranges, strict=True)
    return dict(zip(indices, ranks, strict=True))


def detectable_difference(error: tuple[float, float], power: float = 0.8) -> float:
    """Compute the smallest true difference that a two-sided t test at the level 0.05
    finds with probability `power`:

        (t at 0.975 + t at power) · standard error

    It is the usual approximation of the noncentral t (Cohen, Statistical Power
    Analysis, 1988). error: the standard error, and its degrees of freedom.
    """
    standard_error, freedom = error
    return (t_quantile(0.975, freedom) + t_quantile(power, freedom)) * standard_error


def min_detectable(clustered: Strata, added: tuple[float, float] = (0.0, 1.0)) -> float:
    """Compute the smallest difference of two systems that is found four
    times out of five.

    It is at least what 7.5 clusters add to the difference, if they add as much as those
    that differ: a p below 0.05 needs six (`_MIN_DIFFERING`).

    Args:
        clustered: what clusters differ by, level by level.
        added: a variance with its degrees of freedom, as in `stratified_interval`.

    Returns:
        The difference; infinite where none is found.
    """
    error = add_variance(stratified_error(clustered), *added)
    clusters = sum(len(values) for _, values in clustered)
    if error is None or clusters < _MIN_DIFFERING:
        return math.inf
    total = math.fsum(weight for weight, _ in clustered)
    contributions = [
        weight / total / len(values) * value
        for weight, values in clustered
        for value in values
    ]
    differing = [abs(contribution) for contribution in contributions if contribution]
    return max(detectable_difference(error), _MEAN_DIFFERING * mean(differing))
