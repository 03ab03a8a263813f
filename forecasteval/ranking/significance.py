"""Ranks of systems, power."""

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

_FEWEST: Final = 6  # clusters that must differ for p < ALPHA
_USUAL: Final = 7.5  # that differ on average where so many do four times out of five


def assign_ranks(
    places: Sequence[int], scores: Sequence[float], better: Any, p: Any
) -> dict[int, tuple[int, tuple[int, int]]]:
    """Map the places of systems, best first, to their ranks, and the ranks that no test
    contradicts.

    `scores` are theirs; `better` and `p` as in `rank_ranges`.
    """
    ranges = rank_ranges(better, p, ALPHA)
    return dict(zip(places, zip(shared_ranks(scores), ranges, strict=True), strict=True))


def detectable_difference(error: tuple[float, float], power: float = 0.8) -> float:
    """Return the smallest true difference that a two-sided t test at the level 0.05 finds with
    probability `power`.

    (t at 0.975 + t at power) · standard error, with `error` = (standard error, degrees of freedom);
    the usual approximation of the noncentral t (Cohen, Statistical Power Analysis, 1988).
    """
    return (t_quantile(0.975, error[1]) + t_quantile(power, error[1])) * error[0]


def least_found(spread: Strata, added: tuple[float, float] = (0.0, 1.0)) -> float:
    """Return the least difference of two systems that is found four times out of five, from what
    their clusters differ by; infinite where none is.

    p is 2 / 2^n at least if n clusters differ, so that six must, all in one direction. Where six
    do four times out of five, 7.5 do on average; what these add is the least, if they differ by as
    much as those that do. `added`: see `stratified_interval`.
    """
    error = add_variance(stratified_error(spread), *added)
    total = math.fsum(weight for weight, _ in spread)
    parts = [abs(weight / total / len(each) * value) for weight, each in spread for value in each]
    if error is None or len(parts) < _FEWEST:
        return math.inf
    return max(detectable_difference(error), _USUAL * mean(list(filter(None, parts))))
