"""How sure the numbers of a board are: errors clustered by series, ranks in resamples, the probability to be best.

Every estimate comes with its influence: by cluster of events and row, what one more copy of the cluster adds to it.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from .arrays import Floats, Ints
from .metrics import RANK_TIE

LEAST_CLUSTERS: Final = 2  # below, nothing tells how sure a number is
NO_SPREAD: Final = 0.05  # share of the mean error that stands for the spread of skills where none shows


def clustered(influence: Floats, cluster: Ints) -> Floats:
    """The influence by cluster, of that by event."""
    total = np.zeros((int(cluster.max()) + 1, influence.shape[1]))
    np.add.at(total, cluster, influence)
    return total


def clustered_errors(influence: Floats, clusters: Ints) -> Floats:
    """√(Σ_c influence² · n/(n - 1)) of every row over its n clusters; nan below two."""
    factor = clusters / np.where(clusters >= LEAST_CLUSTERS, clusters - 1, np.nan)
    return np.asarray(np.sqrt((influence**2).sum(axis=0) * factor))


def t_intervals(estimate: Floats, error: Floats, clusters: Ints) -> tuple[Floats, Floats]:
    """Both ends of the 95 % interval estimate ± t · error, with n - 1 degrees of freedom for n clusters."""
    from scipy.special import stdtrit

    half = stdtrit(np.maximum(clusters - 1.0, 1.0), 0.975) * error
    return estimate - half, estimate + half


class Draws:
    """How often each cluster is in each resample: as many draws as there are clusters, with replacement."""

    def __init__(self, clusters: int, resamples: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.counts = np.empty((resamples, clusters), dtype=np.float32)
        for row in self.counts:
            row[:] = np.bincount(rng.integers(0, clusters, clusters), minlength=clusters)

    def shifted(self, estimate: Floats, influence: Floats) -> Floats:
        """The estimates in each resample, one step from the estimate: + Σ_c (count_c - 1) influence_c."""
        return np.asarray(estimate + (self.counts - 1) @ influence)


def beats_share(better: Floats, worse: Floats) -> float:
    """The share of resamples in which one is above the other, ties half."""
    gap = better - worse
    return float(((gap > RANK_TIE) + 0.5 * (np.abs(gap) <= RANK_TIE)).mean())


def rank_intervals(samples: Floats) -> tuple[Ints, Ints]:
    """Both ends of the 95 % interval of every column's rank in the resamples; larger is better, ties share a rank."""
    from scipy.stats import rankdata

    ranks = rankdata(-np.round(samples, 9), method="min", axis=1)
    low, high = np.quantile(ranks, [0.025, 0.975], axis=0, method="inverted_cdf")
    return low.astype(np.int64), high.astype(np.int64)


def probability_best(values: Floats, influence: Floats, clusters: Ints, draws: int, seed: int) -> Floats:
    """The probability of each to be truly the best, given that true skills lie closer together than scores.

    Resampled scores would call the luckiest the best too surely: the true values are taken as drawn around their mean
    with the variance τ² that is left when the errors' share is subtracted from the spread of the values, and drawn from
    their posterior: normal with mean τ²(τ² + V)⁻¹ x, in deviations x from the mean, V their `shrunk_covariance`.

    values: F, larger is better; influence: clusters × F; clusters: how many each forecaster has, two at least.
    Returns F probabilities, whose sum is 1. Source: empirical Bayes, Efron and Morris, JASA 70 (1975) 311–319.
    """
    from scipy.linalg import cho_factor, cho_solve, helmert

    basis = helmert(len(values))  # deviations from the mean have one dimension less
    seen, error = basis @ values, shrunk_covariance(influence * np.sqrt(clusters / (clusters - 1)), basis)
    size, noise = len(seen), float(np.trace(error))
    spread = (float(seen @ seen) - noise) / size
    if spread <= 0:
        spread = noise / size * NO_SPREAD
    if spread <= 0:  # all are equal, without any error
        return np.full(len(values), 1 / len(values))
    factor = cho_factor(error + spread * np.eye(size))
    mean = spread * cho_solve(factor, seen)
    posterior = spread * np.eye(size) - spread**2 * cho_solve(factor, np.eye(size))
    eigenvalues, vectors = np.linalg.eigh((posterior + posterior.T) / 2)
    normal = np.random.default_rng(seed).standard_normal((draws, size))
    skills = (mean + (normal * np.sqrt(np.maximum(eigenvalues, 0))) @ vectors.T) @ basis
    best = np.abs(skills - skills.max(axis=1, keepdims=True)) <= RANK_TIE
    return np.asarray((best / best.sum(axis=1, keepdims=True)).mean(axis=0))


def shrunk_covariance(parts: Floats, basis: Floats) -> Floats:
    """Σ_c x_c x_c' of the parts x = basis · part, drawn towards independent errors as far as chance explains the rest.

    Of few clusters and many forecasters the sum alone is not to be trusted: some directions would have no error at all.
    parts: clusters × F; basis: orthonormal contrasts, (F - 1) × F. Source: Ledoit and Wolf, J. Multivariate Anal. 88
    (2004) 365–411, here towards a diagonal (as Schäfer and Strimmer 2005) of the same trace.
    """
    count, size = parts.shape
    x = parts @ basis.T
    total, squares = x.T @ x, x * x
    variances = ((parts - parts.mean(axis=1, keepdims=True)) ** 2).sum(axis=0) * size / max(size - 1, 1)
    apart = (basis * variances) @ basis.T - total
    chance, distance = (squares.T @ squares - total**2 / count).sum(), (apart**2).sum()
    return np.asarray(total + apart * (min(1.0, chance / distance) if distance > 0 else 0.0))


def mean_influence(values: Floats, weight: Floats, row: Ints, cluster: Ints, means: Floats, clusters: int) -> Floats:
    """The influence on weighted means: Σ w (x - mean) of each cluster / Σ w of the row, without values that are nan."""
    has = ~np.isnan(values)
    w, row = weight[has], row[has]
    size = len(means)
    shift = np.bincount(cluster[has] * size + row, w * (values[has] - means[row]), clusters * size)
    total = np.bincount(row, w, size)
    return np.asarray(shift.reshape(clusters, size) / np.where(total > 0, total, 1))


def count_clusters(row: Ints, cluster: Ints, has: Floats, rows: int) -> Ints:
    """How many clusters each row has, over the observations with a value that is not nan."""
    known = ~np.isnan(has)
    met = np.zeros((rows, int(cluster.max(initial=0)) + 1), dtype=bool)
    met[row[known], cluster[known]] = True
    return np.asarray(met.sum(axis=1))
