"""The Bradley–Terry fit against a general optimiser, choix and EM."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import pytest
from scipy import optimize

from each import each
from forecasteval.common.errors import InputError
from forecasteval.prophet.bradley_terry import fit_bradley_terry
from prophet_data import bradley_terry


def pool_objective(t: np.ndarray, table: np.ndarray, prior: float) -> float:
    theta, present = np.exp(t), ~np.isnan(table)
    won = np.nan_to_num(table) @ theta
    return float(np.sum(np.log(won) - np.log(present @ theta)) + prior * np.sum(t - np.log(theta.sum())))


@each("prior", [0.5, 1, 3])
@each("share", [0.3, 1.0])
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
    shares = strength / strength.sum()
    assert fit.log_likelihood == pytest.approx(-best.fun - prior * np.log(shares).sum(), rel=1e-6)
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
    assert fit.log_likelihood >= np.log(table @ weights).sum() - 1e-7


def test_bradley_terry_without_maximum() -> None:
    """Who always does better than the others runs away: named, and finite with a prior."""
    table = [[0.9, 0.1, math.nan], [0.8, 0.3, math.nan], [math.nan, 0.5, 0.4]]
    loose, tight = bradley_terry(table), bradley_terry(table, prior=1)
    assert loose.diverging.tolist() == [False, True, True]
    assert np.isfinite(loose.strength).all()
    assert tight.converged
    assert not tight.diverging.any()


def draw_pool(forecasters: int, events: int, share: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    skill = np.linspace(0.2, 1.5, forecasters)
    hard = rng.normal(0, 1, (events, 1))
    table = 1 / (1 + np.exp(-(hard + skill + rng.normal(0, 1, (events, forecasters)))))
    table[rng.random(table.shape) > share] = math.nan
    return table[(~np.isnan(table)).any(axis=1)]


@pytest.mark.parametrize("share", [0.4, 1.0])
def test_optimum_does_not_depend_on_the_start(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The prior of 1.0 had two optima, one strength 7.8 or 0.29, both "converged"."""
    table = draw_pool(30, 300, share, 4)
    found = [bradley_terry(table, 1).strength]
    minimise = optimize.minimize
    for seed in range(4):
        start = np.random.default_rng(seed).normal(0, 3, 30)
        monkeypatch.setattr(optimize, "minimize", lambda f, x, start=start, **rest: minimise(f, start, **rest))
        fit = bradley_terry(table, 1)
        assert fit.converged
        found.append(fit.strength)
    assert all(one == pytest.approx(found[0], rel=1e-3) for one in found)


def test_influence_is_that_of_one_more_copy() -> None:
    table = draw_pool(5, 200, 0.9, 1)
    fit = bradley_terry(table, 1)
    for event in (0, 50, 199):
        more = bradley_terry(np.vstack([table, table[[event]]]), 1)
        moved = np.log(more.strength) - np.log(fit.strength)
        own = fit.influence[event]
        assert moved - moved.mean() == pytest.approx(own - own.mean(), abs=2e-3, rel=0.2)


BAD_CALLS: Final = {
    "bt gap": (
        lambda: fit_bradley_terry([0, 2], [0, 0], [1, 0]),
        "fit_bradley_terry: forecasters and problems must be numbered from 0 without gaps",
    ),
    "bt prior": (lambda: fit_bradley_terry([0], [0], [1], -1), "prior: must be a number >= 0, got -1"),
}


@each(("call", "message"), BAD_CALLS.values())
def test_bad_call(call: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value) == message
