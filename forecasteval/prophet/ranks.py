"""Ranks, shared where values are equal but for rounding, and how well the rankings of several metrics agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Floats, Ints, plain_number
from .metrics import find_metric

RANK_TIE: Final = 1e-9  # of values that share a rank: what the fitted models leave open


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
    from scipy.stats import kendalltau, rankdata

    size = len(columns)
    ranks = []
    for column in columns:
        values = np.asarray(column, dtype=float)
        ranks.append(np.full(len(values), np.nan))
        ranks[-1][~np.isnan(values)] = shared_ranks(-values[~np.isnan(values)])
    rho, tau = np.full((2, size, size), np.nan)
    for one in range(size):
        for other in range(one, size):
            both = ~np.isnan(ranks[one]) & ~np.isnan(ranks[other])
            a, b = ranks[one][both], ranks[other][both]
            if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
                continue
            exact = "asymptotic" if len(a) > 2 else "exact"  # it divides by n - 2
            rho[one, other] = rho[other, one] = np.corrcoef(rankdata(a), rankdata(b))[0, 1] if one < other else 1
            tau[one, other] = tau[other, one] = kendalltau(a, b, method=exact).statistic if one < other else 1
    return rho, tau


def agreement_tables(columns: Mapping[str, Floats]) -> dict[str, Any]:
    """Both matrices of `rank_agreement` as dicts; 1 means that two metrics rank alike, whichever way each runs."""
    matrices = rank_agreement([find_metric(name).sign * values for name, values in columns.items()])
    return {
        kind: {
            one: {other: plain_number(matrix[at, to]) for to, other in enumerate(columns)}
            for at, one in enumerate(columns)
        }
        for kind, matrix in zip(("spearman", "kendall"), matrices, strict=True)
    }
