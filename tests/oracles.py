"""Statistics by their definitions, slowly."""

from __future__ import annotations

import itertools
import math


def brute_force(parts: list[float]) -> float:
    """The share of all sign patterns whose sum is at least as far from 0 as the observed one."""
    observed = abs(math.fsum(parts))
    patterns = list(itertools.product((-1.0, 1.0), repeat=len(parts)))
    return sum(
        abs(math.fsum(map(float.__mul__, parts, signs))) >= observed for signs in patterns
    ) / len(patterns)


def naive_holm(p_values: list[float]) -> list[float]:
    """Largest of (m - j + 1)·p(j) over all j with p(j) <= p, at most 1: the definition,
    quadratic.
    """
    ordered, count = sorted(p_values), len(p_values)
    return [
        min(1.0, max((count - j) * ordered[j] for j in range(count) if ordered[j] <= p))
        for p in p_values
    ]
