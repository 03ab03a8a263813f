"""Inference from the errors of a fit: intervals, p-values, ranks and chances of being the best."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from scipy import special

from .significance import holm
from .systems import DRAWS
from .two_way import NOISE, TINY, Array, Fit

_BLOCK: Final = 1_000  # draws held at a time


class Spread(NamedTuple):
    """Estimates, their variances (0: questions all say the same; nan: nothing measures them), degrees of freedom."""

    value: Array
    variance: Array
    freedom: Array

    def select(self, places: Array) -> Spread:
        """Of a spread of pairs those of these systems."""
        return Spread(*(values[np.ix_(places, places)] for values in self))


def score_spread(fit: Fit) -> Spread:
    """The scores' errors, with Satterthwaite's degrees of freedom from the questions that each system answered."""
    parts = np.array([(part**2).sum(axis=1) for part in fit.parts])
    return _spread(fit, fit.scores, parts, fit.counts, np.diag(fit.shocks))


def difference_spread(fit: Fit) -> Spread:
    """S × S: those of every system's score less every other's; a level counts the fewer questions of the two."""
    parts = np.array([_of_differences(part @ part.T) for part in fit.parts])
    return _spread(fit, fit.scores[:, None] - fit.scores, parts, _fewer(fit), _of_differences(fit.shocks))


def _fewer(fit: Fit) -> Array:
    """L × S × S: the questions of the system of a pair that answered fewer."""
    fewer: Array = np.minimum(fit.counts[:, :, None], fit.counts[:, None, :])
    return fewer


def _of_differences(covariance: Array) -> Array:
    """The variances of all differences, without what is rounding."""
    variances = np.diag(covariance)
    total = variances[:, None] + variances
    rest = total - 2 * covariance
    return np.where(rest > NOISE * total, rest, 0.0)


def _is_measured(fit: Fit) -> bool:
    """Whether every level has two questions (or clusters): one alone says nothing of its error."""
    return all(part.shape[1] > 1 for part in fit.parts)


def _spread(fit: Fit, value: Array, parts: Array, counts: Array, shocks: Array) -> Spread:
    total = parts.sum(axis=0) + shocks
    shares = (parts**2 / (np.maximum(counts, 2) - 1)).sum(axis=0) + shocks**2 / fit.shock_freedom
    total = np.where(total > 1e-30, total, 0.0) if _is_measured(fit) else np.full_like(total, np.nan)
    return Spread(value, total, np.where(total > 0, total**2 / np.maximum(shares, TINY), 1.0))


def half_widths(spread: Spread) -> Array:
    """Half of the 95 % intervals by Student's t; nan where nothing measures the error."""
    half = special.stdtrit(spread.freedom, 0.975) * np.sqrt(spread.variance)
    return np.where(spread.variance > 0, half, np.nan)


def compare_pairs(fit: Fit, differences: Spread) -> Array:
    """S × S two-sided p-values by Student's t, not adjusted; 1 where nothing measures the error.

    None is below 2 / 2^n, the least that the signs of the n questions of the system with fewer can give.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(differences.value) / np.sqrt(differences.variance)
    p = 2 * special.stdtr(differences.freedom, -t)
    least = np.maximum(p, 2.0 ** (1 - np.minimum(_fewer(fit).sum(axis=0), 1000)))
    none = np.isnan(differences.variance) | (np.abs(differences.value) < NOISE)
    return np.where(none, 1.0, np.minimum(1.0, least))


def adjust_pairs(p: Array) -> Array:
    """S × S p-values with Holm's adjustment over all pairs; 1 on the diagonal."""
    upper = np.triu_indices(len(p), 1)
    adjusted = np.ones_like(p)
    adjusted[upper] = holm(p[upper].tolist())
    return np.minimum(adjusted, adjusted.T)


def rank_bounds(differences: Spread, p: Array, alpha: float) -> list[tuple[int, int]]:
    """The best and the worst rank of every system that no test contradicts.

    1 + the systems significantly better, and S − those significantly worse. With Holm's p-values over all pairs, all
    ranks lie in theirs in 95 % of cases (Mogstad, Romano, Shaikh & Wilhelm, Inference for ranks, 2024).
    """
    better = ((differences.value < 0) & (p < alpha)).sum(axis=1)
    worse = ((differences.value > 0) & (p < alpha)).sum(axis=1)
    return [(1 + int(up), len(p) - int(down)) for up, down in zip(better, worse, strict=True)]


def chances_of_best(fit: Fit, seed: int, places: Array, draws: int = DRAWS) -> Array:
    """Share of draws from the normal distribution of the errors of some systems in which each is the highest.

    Systems without a point are never it, unless nobody has one; ties share. Normal and not Student's: with few
    questions it is surer than the intervals. nan where nothing measures the errors.
    """
    if not _is_measured(fit):
        return np.full(len(places), np.nan)
    wins = np.zeros(len(places))
    live = fit.scores[places] > 0 if (fit.scores[places] > 0).any() else np.full(len(places), True)
    drawn_from = places[live]
    covariance = sum(part[drawn_from] @ part[drawn_from].T for part in fit.parts)
    values, vectors = np.linalg.eigh(covariance + fit.shocks[np.ix_(drawn_from, drawn_from)])
    values = np.where(values > NOISE * values.max(), values, 0.0)  # the root of rounding would part equal systems
    root = (vectors * np.sqrt(values)) @ vectors.T  # the symmetric one: no sign is up to the library
    rng = np.random.default_rng(seed)
    for start in range(0, draws, _BLOCK):
        drawn = fit.scores[drawn_from] + rng.standard_normal((min(_BLOCK, draws - start), len(root))) @ root
        best = drawn >= drawn.max(axis=1, keepdims=True) - 1e-9
        wins[live] += (best / best.sum(axis=1, keepdims=True)).sum(axis=0)
    return wins / draws
