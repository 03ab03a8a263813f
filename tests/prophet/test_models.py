"""The models over all forecasters: adjusted scores, Bradley–Terry against a general optimiser,
choix and EM; parts.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, sparse

from forecasteval.common.errors import InputError
from forecasteval.prophet.estimates import clustered_errors
from forecasteval.prophet.irt import fit_irt
from forecasteval.prophet.models import connected_parts, fit_bradley_terry, fit_effects
from prophet_data import GOOD, GOOD_PROBLEM, bradley_terry, evaluate


@pytest.mark.parametrize("seed", range(40))
def test_both_fits_converge_on_anything(seed: int) -> None:
    """Few or many, sparse or full, contradictory, all 0 and 1: with priors there is always an
    end.
    """
    rng = np.random.default_rng(seed)
    i, j = np.nonzero(rng.random(rng.integers(1, 30, 2)) < (0.1, 0.5, 1)[seed % 3])
    i, j = (np.unique(numbers, return_inverse=True)[1] for numbers in (i, j))
    if not len(i):
        pytest.skip("an empty draw")
    for y in ((i % 2).astype(float), ((i + j) % 2).astype(float), rng.beta(0.1, 0.1, len(i))):
        fit = fit_irt(i, j, y)
        assert fit.converged
        assert np.isfinite(fit.ability).all()
        assert np.isfinite(fit.ability_se).all() == (j.max() > 0)  # one problem tells no error
        pool = fit_bradley_terry(i, j, y, prior=1)
        assert pool.converged
        assert np.isfinite(pool.strength).all()
        assert pool.strength.mean() == pytest.approx(1)


def test_disconnected_forecasters_are_named() -> None:
    problems = [{"problem_id": n, "options": ["A", "B"], "correct_answer": "A"} for n in range(4)]
    pairs = [(0, "ada"), (0, "bob"), (1, "bob"), (2, "cid"), (3, "dee"), (3, "cid"), (1, "eve")]
    rows = [
        {"problem_id": n, "username": name, "prediction": [0.6 + n / 10, 0.4 - n / 10]}
        for n, name in pairs
    ]
    results = evaluate(rows, problems)
    assert results["fits"]["irt"]["parts"] == [["ada", "bob", "eve"], ["cid", "dee"]]
    assert results["warnings"] == [
        "adjusted Brier, IRT: the comparison graph is disconnected, 2 groups of forecasters share "
        "no event (3 (ada, bob, eve) | 2 (cid, dee)); nothing but a prior compares one group with "
        "another"
    ]


def test_fit_that_has_not_converged_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of IRT too where there is no Bradley–Terry: nothing here is exclusive."""
    monkeypatch.setattr(
        "forecasteval.prophet.models.fit_irt",
        lambda *data: fit_irt(*data)._replace(converged=False, iterations=7),
    )
    results = evaluate(GOOD, [{**GOOD_PROBLEM, "correct_answer": ["A", "B"]}])
    assert results["warnings"] == [
        "the fit of IRT has not converged: 7 iterations",
        "fewer than two forecasters of exclusive events: no Bradley–Terry",
    ]


# --- Difficulty-adjusted Brier scores ---


def draw(forecasters: int, events: int, share: float, seed: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    i, j = np.nonzero(rng.random((forecasters, events)) < share)
    i, j = (np.unique(numbers, return_inverse=True)[1] for numbers in (i, j))
    level = rng.beta(2, 5, int(j.max()) + 1)
    y = np.clip(level[j] + 0.02 * i + rng.normal(0, 0.05, len(i)), 0, 1)
    return i, j, y


def by_dummies(i: np.ndarray, j: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The mean over all events of what the model says of each forecaster."""
    forecasters, events = int(i.max()) + 1, int(j.max()) + 1
    design = np.zeros((len(y), forecasters + events))
    design[np.arange(len(y)), i] = design[np.arange(len(y)), forecasters + j] = 1
    effects = np.linalg.lstsq(design, y, rcond=None)[0]
    return effects[:forecasters] + effects[forecasters:].mean()


@pytest.mark.parametrize(("f", "n", "share"), [(6, 40, 0.5), (40, 6, 0.5), (5, 20, 1.0)])
def test_scores_are_those_of_least_squares(f: int, n: int, share: float) -> None:
    i, j, y = draw(f, n, share, seed=f)
    assert fit_effects(i, j, y).score == pytest.approx(by_dummies(i, j, y), abs=1e-10)


def test_full_participation_changes_nothing() -> None:
    i, j, y = draw(4, 30, 1.0, seed=1)
    fit, table = fit_effects(i, j, y), y.reshape(4, 30)
    assert fit.score == pytest.approx(table.mean(axis=1), abs=1e-12)
    error, _ = clustered_errors(fit.influence, np.full((30, 4), 1 / 30))
    assert error == pytest.approx(table.std(axis=1, ddof=1) / np.sqrt(30), rel=1e-9)


def test_influence_is_that_of_one_more_copy() -> None:
    i, j, y = draw(6, 300, 0.8, seed=2)
    assert j.max() == 299
    fit = fit_effects(i, j, y)
    for event in (0, 17, 299):
        own = j == event
        more = fit_effects(
            np.append(i, i[own]), np.append(j, np.full(own.sum(), 300)), np.append(y, y[own])
        )
        assert more.score - fit.score == pytest.approx(fit.influence[event], abs=2e-5)


def test_parts_have_levels_of_their_own() -> None:
    """Two groups without a common event: each is adjusted by itself."""
    i, j, y = draw(4, 20, 0.7, seed=3)
    both = fit_effects(np.append(i, i + 4), np.append(j, j + 20), np.append(y, y / 2))
    alone = fit_effects(i, j, y)
    assert both.score == pytest.approx(np.append(alone.score, alone.score / 2), abs=1e-12)
    zeros = np.zeros_like(alone.influence)
    blocks = np.block([[alone.influence, zeros], [zeros, alone.influence / 2]])
    assert both.influence == pytest.approx(blocks, abs=1e-12)
    assert len(set(both.part[:4]) | set(both.part[4:])) == 2


@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 9)), min_size=1, max_size=30))
def test_connected_parts_against_scipy(pairs: list[tuple[int, int]]) -> None:
    i, j = np.unique([a for a, _ in pairs], return_inverse=True)[1], np.array([b for _, b in pairs])
    size = int(i.max()) + 1
    graph = sparse.coo_matrix((np.ones(len(i)), (i, size + j)), (size + 10, size + 10))
    theirs = sparse.csgraph.connected_components(graph, directed=False)[1][:size]
    j = np.unique(j, return_inverse=True)[1]
    present = np.zeros((j.max() + 1, size))
    present[j, i] = 1
    ours, ours_of_events = connected_parts(present)
    assert (ours[i] == ours_of_events[j]).all()
    assert (np.equal.outer(ours, ours) == np.equal.outer(theirs, theirs)).all()


# --- Bradley–Terry ---


def pool_objective(t: np.ndarray, table: np.ndarray, prior: float) -> float:
    theta, present = np.exp(t), ~np.isnan(table)
    won = np.nan_to_num(table) @ theta
    return float(
        np.sum(np.log(won) - np.log(present @ theta)) + prior * np.sum(t - np.log(theta.sum()))
    )


@pytest.mark.parametrize("prior", [0.5, 1, 3])
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_bradley_terry_is_a_maximum(prior: float, share: float) -> None:
    """Against a general optimiser of the objective as the spec writes it; lists (0.3) and matrix
    (1.0).
    """
    rng = np.random.default_rng(11)
    table = rng.uniform(0.02, 0.98, (30, 6)) * np.linspace(0.3, 1, 6)
    table[rng.random(table.shape) > share] = math.nan
    table = table[(~np.isnan(table)).any(axis=1)]
    best = optimize.minimize(
        lambda t: -pool_objective(t, table, prior),
        np.zeros(6),
        method="BFGS",
        options={"gtol": 1e-7},
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


@pytest.mark.parametrize(
    "table",
    [
        [[0.9, 0.1, math.nan], [0.8, 0.3, math.nan], [math.nan, 0.5, 0.4]],  # no maximum
        [[0.9, 0.1, 0.1], [0.8, 0.3, 0.1]],  # the best pool does without two of three
    ],
)
def test_without_prior_a_strength_near_0_has_not_converged(table: list[list[float]]) -> None:
    """By ln θ everything is flat there: "converged" was said where a strength would have grown."""
    loose, tight = bradley_terry(table), bradley_terry(table, prior=1)
    assert not loose.converged
    assert np.isfinite(loose.strength).all()
    assert tight.converged
    assert tight.strength.min() > 0.1


def test_prior_is_part_of_every_board() -> None:
    fits = [evaluate(GOOD, [GOOD_PROBLEM], **prior)["fits"] for prior in ({}, {"prior": 0})]
    assert [fit["bradley_terry"]["prior"] for fit in fits] == [1.0, 0.0]


def draw_pool(forecasters: int, events: int, share: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    skill = np.linspace(0.2, 1.5, forecasters)
    hard = rng.normal(0, 1, (events, 1))
    table = 1 / (1 + np.exp(-(hard + skill + rng.normal(0, 1, (events, forecasters)))))
    table[rng.random(table.shape) > share] = math.nan
    return table[(~np.isnan(table)).any(axis=1)]


@pytest.mark.parametrize("share", [0.4, 1.0])
def test_optimum_does_not_depend_on_the_start(
    share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The prior of 1.0 had two optima, one strength 7.8 or 0.29, both "converged"."""
    table = draw_pool(30, 300, share, 4)
    found = [bradley_terry(table, 1).strength]
    minimise = optimize.minimize
    for seed in range(4):
        start = np.random.default_rng(seed).normal(0, 3, 30)
        monkeypatch.setattr(
            optimize, "minimize", lambda f, x, start=start, **rest: minimise(f, start, **rest)
        )
        fit = bradley_terry(table, 1)
        assert fit.converged
        found.append(fit.strength)
    assert all(one == pytest.approx(found[0], rel=1e-3) for one in found)


BAD_CALLS: Final = {
    "bt gap": (
        lambda: fit_bradley_terry([0, 2], [0, 0], [1, 0]),
        "fit_bradley_terry: forecasters and problems must be integers from 0 without gaps",
    ),
    "bt below 0": (
        lambda: fit_bradley_terry([0, -1], [0, 0], [1, 0]),
        "fit_bradley_terry: forecasters and problems must be integers from 0 without gaps",
    ),
    "bt no integers": (
        lambda: fit_bradley_terry([0, 1], [0.0, 0.5], [1, 0]),
        "fit_bradley_terry: forecasters and problems must be integers from 0 without gaps",
    ),
    "bt prior": (
        lambda: fit_bradley_terry([0], [0], [1], -1),
        "prior: must be a number >= 0, got -1",
    ),
}


@pytest.mark.parametrize(("call", "message"), BAD_CALLS.values(), ids=BAD_CALLS)
def test_bad_call(call: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value) == message
