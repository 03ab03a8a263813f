"""Paired differences of two systems, shared ranks, power."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from forecasteval.common.statistics import stratified_mean, t_quantile

from .scale import Level
from .systems import Strata, System

_EQUAL: Final = 1e-12  # scores that differ by less are equal


class Difference(NamedTuple):
    """The weighted score of a system A minus that of B, on the same questions."""

    value: float
    spread: Strata  # what clusters differ by, by level: errors are made of it
    parts: list[float]  # what every question adds to the value


def measure_difference(a: System, b: System, levels: Sequence[Level]) -> Difference:
    """Measure the difference of two systems over `levels`."""
    strata: Strata = []
    for level in levels:
        scores = zip(a.questions[level].scores, b.questions[level].scores, strict=True)
        strata.append((a.weights[level], [a.share * (x - y) for x, y in scores]))
    total = math.fsum(weight for weight, values in strata if values)
    parts = [weight / total / len(values) * value for weight, values in strata for value in values]
    return Difference(stratified_mean(strata), a.cluster(strata, levels), parts)


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
