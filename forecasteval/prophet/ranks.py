"""Ranks, shared where values are equal but for rounding, and how well the rankings of several metrics agree."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Floats, Ints, plain_number

RANK_TIE: Final = 1e-9  # of values that share a rank: what the fitted models leave open
LOWER_IS_BETTER: Final = frozenset({"brier", "ece", "weighted_brier"})


def shared_ranks(values: Floats) -> Ints:
    """Rank 1 for the largest value; values within 1e-9 (relative above 1) of the next share the better rank."""
    order = np.argsort(-values, kind="stable")
    drop = -np.diff(values[order]) > RANK_TIE * np.maximum(1, np.abs(values[order][1:]))
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = np.maximum.accumulate(np.concatenate([[1], np.where(drop, np.arange(2, len(values) + 1), 1)]))
    return ranks


def rank_agreement(columns: Sequence[ArrayLike]) -> tuple[Floats, Floats]:
    """Spearman's rho and Kendall's tau-b of every pair of columns, each a k × k matrix.

    columns: k arrays over the same forecasters, nan where one does not apply; a pair uses those who have both. nan for
    a pair with fewer than two such forecasters or with a column of equal values. Ties: mean ranks (rho), tau-b (tau).
    """
    size = len(columns)
    ranks = np.full((size, len(np.asarray(columns[0]))), np.nan)
    for row, column in zip(ranks, columns, strict=True):
        values = np.asarray(column, dtype=float)
        has = ~np.isnan(values)
        if has.any():
            row[has] = shared_ranks(-values[has])
    rho = np.full((size, size), np.nan)
    for one in range(size):
        for other in range(one, size):
            both = ~np.isnan(ranks[one]) & ~np.isnan(ranks[other])
            a, b = _mean_ranks(ranks[one, both]), _mean_ranks(ranks[other, both])
            spread = math.sqrt(float(a @ a) * float(b @ b))
            if spread > 0:
                rho[one, other] = rho[other, one] = min(1.0, max(-1.0, float(a @ b) / spread))
    agree, apart = np.zeros((size, size)), np.zeros((size, size))
    for at in range(0, ranks.shape[1], 256):  # pairs in blocks: a thousand forecasters make half a million
        with np.errstate(invalid="ignore"):
            sign = np.sign(ranks[:, at : at + 256, None] - ranks[:, None, :]).reshape(size, -1)
        valid = (~np.isnan(sign)).astype(float)
        sign = np.nan_to_num(sign)
        agree += sign @ sign.T
        apart += np.abs(sign) @ valid.T
    with np.errstate(invalid="ignore", divide="ignore"):
        tau = agree / np.sqrt(apart * apart.T)
    return rho, np.where(apart * apart.T > 0, np.clip(tau, -1, 1), np.nan)


def _mean_ranks(values: Floats) -> Floats:
    """Ranks with ties at their mean, minus the mean of all."""
    if not len(values):
        return values
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2
    return np.asarray(ranks[inverse.reshape(-1)] - (len(values) + 1) / 2)


def agreement_tables(columns: Mapping[str, Floats]) -> dict[str, Any]:
    """Both matrices of `rank_agreement` as dicts; 1 means that two metrics rank alike, whichever way each runs."""
    matrices = rank_agreement([-values if name in LOWER_IS_BETTER else values for name, values in columns.items()])
    return {
        kind: {
            one: {other: plain_number(matrix[at, to]) for to, other in enumerate(columns)}
            for at, one in enumerate(columns)
        }
        for kind, matrix in zip(("spearman", "kendall"), matrices, strict=True)
    }
