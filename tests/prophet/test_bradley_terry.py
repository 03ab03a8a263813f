"""The Bradley–Terry fit against a general optimiser, choix and EM; parts of the comparison graph."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, sparse

from forecasteval.common.errors import InputError
from forecasteval.prophet.bradley_terry import connected_parts, fit_bradley_terry
from prophet_data import bradley_terry


def pool_objective(t: np.ndarray, table: np.ndarray, prior: float) -> float:
    theta, present = np.exp(t), ~np.isnan(table)
    won = np.nan_to_num(table) @ theta
    return float(np.sum(np.log(won) - np.log(present @ theta)) + prior * np.sum(t - 2 * np.log1p(theta)))


@pytest.mark.parametrize("prior", [0.5, 1, 3])
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_bradley_terry_is_a_maximum(prior: float, share: float) -> None:
    """Against a general optimiser of the objective as the spec writes it; lists (0.3) and matrix (1.0)."""
    rng = np.random.default_rng(11)
    table = rng.uniform(0.02, 0.98, (30, 6)) * np.linspace(0.3, 1, 6)
    table[rng.random(table.shape) > share] = math.nan
    table = table[(~np.isnan(table)).any(axis=1)]
    best = optimize.minimize(
        lambda t: -pool_objective(t, table, prior), np.zeros(6), method="BFGS", options={"gtol": 1e-7}
    )
    fit = bradley_terry(table, prior)
    strength = np.exp(best.x)
    assert fit.converged
    assert fit.strength == pytest.approx(strength / strength.mean(), rel=1e-4)
    assert fit.log_likelihood == pytest.approx(-best.fun - prior * np.sum(best.x - 2 * np.log1p(strength)), rel=1e-6)
    assert fit.gradient_norm < 1e-4


def test_bradley_terry_against_choix() -> None:
    """One-hot probabilities: who gave the winner 1 beat all others present (Luce's choice)."""
    import choix

    rng = np.random.default_rng(2)
    strength, data, rows = np.exp(rng.normal(0, 1, 7)), [], []
    for _ in range(300):
        present = rng.choice(7, rng.integers(2, 7), replace=False)
        winner = rng.choice(present, p=strength[present] / strength[present].sum())
        data.append((int(winner), [int(other) for other in present if other != winner]))
        row = np.full(7, math.nan)
        row[present] = 0
        row[winner] = 1
        rows.append(row)
    theirs = np.exp(choix.mm_top1(7, data, max_iter=10_000, tol=1e-12))
    fit = bradley_terry(rows)
    assert fit.converged
    assert not fit.diverging.any()
    assert fit.strength == pytest.approx(theirs / theirs.mean(), rel=1e-4)


def test_full_participation_is_the_best_linear_pool() -> None:
    """The weights of the mixture by the plain EM algorithm."""
    rng = np.random.default_rng(6)
    table = rng.beta(1, 3, (400, 4)) + np.array([0, 0.02, 0.1, 0.05])
    table = np.clip(table, 0, 1)
    weights = np.full(4, 0.25)
    for _ in range(20_000):
        weights = (table * weights / (table @ weights)[:, None]).mean(axis=0)
    fit = bradley_terry(table)
    assert fit.strength / 4 == pytest.approx(weights, abs=1e-5)
    assert fit.log_likelihood >= np.log(table @ weights).sum() - 1e-8


def test_bradley_terry_without_maximum() -> None:
    """Who always does better than the others runs away: named, and finite with a prior."""
    table = [[0.9, 0.1, math.nan], [0.8, 0.3, math.nan], [math.nan, 0.5, 0.4]]
    loose, tight = bradley_terry(table), bradley_terry(table, prior=1)
    assert loose.diverging.tolist() == [False, True, True]
    assert np.isfinite(loose.strength).all()
    assert tight.converged
    assert not tight.diverging.any()


@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 9)), min_size=1, max_size=30))
def test_connected_parts_against_scipy(pairs: list[tuple[int, int]]) -> None:
    i, j = np.unique([a for a, _ in pairs], return_inverse=True)[1], np.array([b for _, b in pairs])
    size = int(i.max()) + 1
    graph = sparse.coo_matrix((np.ones(len(i)), (i, size + j)), (size + 10, size + 10))
    theirs = sparse.csgraph.connected_components(graph, directed=False)[1][:size]
    ours = connected_parts(i, j, size)
    assert (np.equal.outer(ours, ours) == np.equal.outer(theirs, theirs)).all()


BAD_CALLS: Final = {
    "bt gap": (
        lambda: fit_bradley_terry([0, 2], [0, 0], [1, 0]),
        "fit_bradley_terry: forecasters and problems must be numbered from 0 without gaps",
    ),
    "bt prior": (lambda: fit_bradley_terry([0], [0], [1], -1), "prior: must be a number >= 0, got -1"),
}


@pytest.mark.parametrize(("call", "message"), BAD_CALLS.values(), ids=BAD_CALLS)
def test_bad_call(call: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value) == message
