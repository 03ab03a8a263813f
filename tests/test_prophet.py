"""What `prophet.py` promises: worked cases, properties, oracles from other libraries, bad input, files and reports.

    python -m pytest tests/test_prophet.py
    python tests/test_prophet.py              rewrite the golden report (read the difference before committing it)
"""

from __future__ import annotations

import csv
import doctest
import json
import math
import os
import random
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, sparse, stats

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "tests"))

import make_prophet_sample  # noqa: E402
import prophet  # noqa: E402
from common import InputError  # noqa: E402
from prophet import ProphetArenaEvaluator  # noqa: E402

CASES: Final = json.loads((ROOT / "tests" / "cases" / "prophet.json").read_text(encoding="utf-8"))
GOLDEN: Final = ROOT / "tests" / "golden" / "prophet-sample.txt"
SCORES: Final = {"brier": prophet.brier_score, "log": prophet.log_score, "spherical": prophet.spherical_score}
PREDICTION, DATASET = make_prophet_sample.PREDICTION, make_prophet_sample.DATASET
Record = dict[str, Any]


# --- Worked cases ---


def test_table_is_whole() -> None:
    assert len(CASES) >= 71
    assert len({case["name"] for case in CASES}) == len(CASES)
    assert {case["metric"] for case in CASES} == {*SCORES, "stake", "return", "ece", *RUNNERS}


def outcome(given: Record) -> list[float]:
    if "outcome" in given:
        return list(given["outcome"])
    return [float(k == given["winner"]) for k in range(len(given["p"]))]


def run_bradley_terry(given: Record, expected: Any) -> None:
    p = [list(pair) for pair in zip(given["alice"], given["bob"], strict=True)]
    alice, bob = bradley_terry(p).strength
    assert alice > bob + 0.1 if expected == "alice > bob" else alice == pytest.approx(bob, abs=1e-12)


def run_bradley_terry_values(given: Record, expected: Any) -> None:
    assert bradley_terry(given["p"], given["prior"]).strength == pytest.approx(expected, abs=1e-6)


def run_rank_correlation(given: Record, expected: Any) -> None:
    for matrix, kind in zip(prophet.rank_agreement([given["a"], given["b"]]), ("spearman", "kendall"), strict=True):
        assert matrix[0, 1] == pytest.approx(math.nan if expected[kind] is None else expected[kind], nan_ok=True)


def run_evaluate(given: Record, expected: Any) -> None:
    results = evaluate(given["forecasts"], given["problems"], **given["options"])
    for path, value in expected.items():
        if path == "excluded":
            got: Any = [[entry["what"], entry["reason"], entry["count"]] for entry in results["excluded"]]
            assert sorted(got) == sorted(value)
            continue
        got = results
        for key in re.split(r"\.(?!5)", path):  # "return_0.5" is one key
            got = got.get(key) if isinstance(got, Mapping) else None
        assert got == (pytest.approx(value) if isinstance(value, float) else value), path


RUNNERS: Final = {
    "bradley_terry": run_bradley_terry,
    "bradley_terry_values": run_bradley_terry_values,
    "rank_correlation": run_rank_correlation,
    "evaluate": run_evaluate,
}


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_case(case: Record) -> None:
    metric, given, expected = case["metric"], case["input"], case["expected"]
    if metric in RUNNERS:
        RUNNERS[metric](given, expected)
        return
    if metric in SCORES:
        got: Any = SCORES[metric](given["p"], outcome(given))
    elif metric == "stake":
        got = prophet.crra_stake(given["p"], given["q"], given["gamma"])
    elif metric == "return":
        got = prophet.average_return(given["p"], given["q"], outcome(given), given["gamma"])
    else:
        p = given["p"] * len(given["winners"])
        got = prophet.expected_calibration_error(p, np.eye(len(given["p"]))[given["winners"]])
    assert got == pytest.approx(expected, abs=1e-12), case["why"]


def test_doctests() -> None:
    done = doctest.testmod(prophet)
    assert done.attempted >= 7
    assert done.failed == 0


# --- Scores: properties ---

SIMPLEX: Final = st.lists(st.floats(0, 1), min_size=2, max_size=8).filter(lambda p: sum(p) > 0.01)


def normal(values: list[float]) -> np.ndarray:
    return np.array(values) / np.sum(values)


def expected_score(name: str, truth: np.ndarray, p: np.ndarray) -> float:
    """Σ truth_k · score of p when k wins, higher is better."""
    score = [SCORES[name](p, np.eye(len(p))[k])[0] * (-1 if name == "brier" else 1) for k in range(len(p))]
    return float(truth @ score)


@given(st.integers(2, 6).flatmap(lambda n: st.tuples(*[st.lists(st.floats(0.0, 1), min_size=n, max_size=n)] * 2)))
def test_proper(pair: tuple[list[float], list[float]]) -> None:
    """Nobody gains by saying anything but the truth; for log where every true probability is 0.03 or more."""
    if min(map(sum, pair)) < 0.01:
        return
    truth, p = map(normal, pair)
    for name in ("brier", "spherical"):
        assert expected_score(name, truth, p) <= expected_score(name, truth, truth) + 1e-12
    safe = 0.03 + truth * (1 - 0.03 * len(truth))
    assert expected_score("log", safe, p) <= expected_score("log", safe, safe) + 1e-12


def test_log_is_improper_below_its_floor() -> None:
    """The counter-example that the docstring tells of."""
    truth, gamed = np.array([0.02, 0.98]), np.array([0.0, 1.0])
    assert expected_score("log", truth, gamed) > expected_score("log", truth, truth)


def utility(a: np.ndarray, p: np.ndarray, q: np.ndarray, gamma: float) -> float:
    wealth = a / np.clip(q, 0.005, 0.995)
    if gamma == 1:
        return float(np.sum(p[p > 0] * np.log(np.maximum(wealth[p > 0], 1e-300))))
    return float(np.sum(p * wealth ** (1 - gamma)) / (1 - gamma))


@pytest.mark.parametrize("gamma", [0, 0.05, 0.3, 0.5, 0.9, 1])
def test_no_feasible_stake_has_more_expected_utility(gamma: float) -> None:
    rng = np.random.default_rng(7)
    for n in (2, 3, 6):
        p, q = rng.dirichlet(np.ones(n)), rng.uniform(0.05, 0.6, n)
        best = utility(prophet.crra_stake(p, q, gamma), p, q, gamma)
        for stake in rng.dirichlet(np.full(n, 0.5), 300):
            assert utility(stake, p, q, gamma) <= best + 1e-9
        # over logarithms of the stakes, where the simplex has no border to stop at
        found = optimize.minimize(
            lambda z, p=p, q=q: -utility(np.exp(z - np.logaddexp.reduce(z)), p, q, gamma), np.zeros(n), method="BFGS"
        )
        assert -found.fun <= best + 1e-9
        assert gamma == 0 or -found.fun >= best - 1e-5



@given(SIMPLEX, st.randoms(use_true_random=False), st.floats(0, 1))
def test_stakes_are_feasible_and_continuous(p: list[float], rng: random.Random, gamma: float) -> None:
    q = [rng.uniform(0.01, 0.9) for _ in p]
    stake = prophet.crra_stake(p, q, gamma)
    assert (stake >= 0).all()
    assert stake.sum() == pytest.approx(1)
    edge = np.sort(normal(p) / q)[::-1]
    if edge[1] < edge[0] * 0.999:  # away from the ties that decide between two limits
        assert prophet.crra_stake(p, q, 1e-5) == pytest.approx(prophet.crra_stake(p, q, 0), abs=1e-9)
    assert prophet.crra_stake(p, q, 1 - 1e-9) == pytest.approx(prophet.crra_stake(p, q, 1), abs=1e-5)
    for tiny in (5e-324, 1e-300, 1e-17):
        assert prophet.crra_stake(p, q, tiny) == pytest.approx(prophet.crra_stake(p, q, 0), abs=1e-12)


@given(st.lists(st.floats(0.005, 0.995), min_size=2, max_size=8), st.floats(0, 1), st.integers(0, 7))
def test_the_market_earns_its_margin(q: list[float], gamma: float, winner: int) -> None:
    won = np.eye(len(q))[winner % len(q)]
    got = prophet.average_return(normal(q), q, won, gamma)[0]
    assert got == pytest.approx(1 / sum(q), rel=1e-9)


@given(st.lists(SIMPLEX, min_size=1, max_size=5))
def test_flat_layout_equals_one_by_one(rows: list[list[float]]) -> None:
    offsets = np.cumsum([0, *map(len, rows)])
    won = [float(k == 0) for row in rows for k in range(len(row))]
    p, q = np.concatenate(rows), np.full(len(won), 0.3)
    for at, row in enumerate(rows):
        first = [1.0] + [0.0] * (len(row) - 1)
        for score in SCORES.values():
            assert score(p, won, offsets)[at] == pytest.approx(score(row, first)[0], rel=1e-12)
        one = prophet.average_return(row, q[: len(row)], first, 0.5)[0]
        assert prophet.average_return(p, q, won, 0.5, offsets)[at] == pytest.approx(one, rel=1e-12)


def test_against_scikit_learn() -> None:
    from sklearn.metrics import brier_score_loss, log_loss

    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.full(5, 2.0), 400) * 0.9 + 0.02  # above the floor
    winners = rng.integers(0, 5, 400)
    won, offsets = np.eye(5)[winners].reshape(-1), np.arange(0, 2001, 5)
    assert -prophet.log_score(p, won, offsets).mean() == pytest.approx(log_loss(winners, p, labels=range(5)), rel=1e-12)
    columns = [brier_score_loss(winners == k, p[:, k]) for k in range(5)]
    assert prophet.brier_score(p, won, offsets).mean() == pytest.approx(np.mean(columns), rel=1e-12)


def test_calibration_by_hand() -> None:
    rng = np.random.default_rng(4)
    p, o, w = rng.random(5000).round(2), (rng.random(5000) < 0.4).astype(float), rng.uniform(0.5, 2, 5000)
    edges = np.linspace(0, 1, 11)[1:-1]
    which = np.digitize(p.round(6), edges.round(6))
    parts = [abs(np.average(p[which == b], weights=w[which == b]) - np.average(o[which == b], weights=w[which == b]))
             * w[which == b].sum() for b in range(10)]  # fmt: skip
    assert prophet.expected_calibration_error(p, o, 10, w) == pytest.approx(sum(parts) / w.sum(), rel=1e-9)
    assert math.isnan(prophet.expected_calibration_error([], []))


# --- Item response theory ---


def irt_data(forecasters: int, problems: int, seed: int, share: float = 1.0, binary: bool = False) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    theta, a, b = rng.normal(size=forecasters), np.exp(rng.normal(0, 0.4, problems)), rng.normal(0, 1, problems)
    i, j = (grid.reshape(-1) for grid in np.meshgrid(np.arange(forecasters), np.arange(problems), indexing="ij"))
    keep = rng.random(len(i)) < share
    keep[(i == j % forecasters) | (j == i % problems)] = True  # everyone and every problem is there
    i, j = i[keep], j[keep]
    pi = 1 / (1 + np.exp(-a[j] * (theta[i] - b[j])))
    y = (rng.random(len(i)) < pi).astype(float) if binary else rng.beta(6 * pi + 0.1, 6 * (1 - pi) + 0.1)
    return i, j, y, theta, a, b


def log_posterior(x: np.ndarray, i: np.ndarray, j: np.ndarray, y: np.ndarray, f: int, n: int) -> float:
    """Written from the spec, apart from the module: with μ at its best."""
    theta, alpha, b = x[:f], x[f : f + n], x[f + n :]
    eta = np.exp(alpha[j]) * (theta[i] - b[j])
    fit = np.sum(y * -np.logaddexp(0, -eta) + (1 - y) * -np.logaddexp(0, eta))
    return float(fit - np.sum(theta**2) / 2 - np.sum(alpha**2) / (2 * 0.25) - np.sum((b - b.mean()) ** 2) / (2 * 4))


@pytest.mark.parametrize(("f", "n"), [(5, 9), (9, 5), (6, 6)])
def test_irt_is_the_posterior_mode(f: int, n: int) -> None:
    """Against a general optimiser, and standard errors against the inverse of a dense numerical Hessian."""
    i, j, y, *_ = irt_data(f, n, seed=f, share=0.7)
    fit = prophet.fit_irt(i, j, y)
    x = np.concatenate([fit.ability, np.log(fit.discrimination), fit.difficulty])
    assert fit.converged
    assert abs(fit.ability.sum()) < 1e-7
    best = optimize.minimize(lambda x: -log_posterior(x, i, j, y, f, n), np.zeros(len(x)), method="BFGS")
    assert log_posterior(x, i, j, y, f, n) >= -best.fun - 1e-9
    assert best.x[:f] == pytest.approx(fit.ability, abs=1e-3)
    assert fit.log_posterior == pytest.approx(log_posterior(x, i, j, y, f, n), rel=1e-12)
    assert fit.log_likelihood > fit.log_posterior
    h, size = 1e-4, len(x)
    hessian = np.zeros((size, size))
    for r in range(size):
        for c in range(size):
            for u in (-h, h):
                for v in (-h, h):
                    moved = x.copy()
                    moved[r] += u
                    moved[c] += v
                    hessian[r, c] -= np.sign(u * v) * log_posterior(moved, i, j, y, f, n) / (4 * h * h)
    errors = np.sqrt(np.diag(np.linalg.inv(hessian))[:f])
    assert fit.ability_se == pytest.approx(errors, rel=1e-4)


def test_irt_gradient_and_step_against_finite_differences() -> None:
    i, j, y, *_ = irt_data(7, 4, seed=2, share=0.8)
    model = prophet._Irt(i, j, y)
    rng = np.random.default_rng(0)
    x = rng.normal(0, 0.3, 7 + 2 * 4 + 1)
    unit = np.eye(len(x)) * 1e-6
    gradient = np.array([(model.value(x + h) - model.value(x - h)) / 2e-6 for h in unit])
    assert model.gradient(x) == pytest.approx(gradient, abs=1e-6)
    hessian = np.array([(model.gradient(x + h) - model.gradient(x - h)) / 2e-6 for h in unit])
    step, _ = model.solve(x, model.gradient(x), exact=True)
    assert hessian @ step == pytest.approx(-model.gradient(x), abs=1e-5)


@pytest.mark.parametrize(("f", "n"), [(20, 800), (800, 20)])
def test_irt_finds_the_truth(f: int, n: int) -> None:
    i, j, y, theta, a, b = irt_data(f, n, seed=5, share=0.8)
    fit = prophet.fit_irt(i, j, y)
    assert fit.converged
    assert fit.iterations < 30
    assert np.corrcoef(theta, fit.ability)[0, 1] > (0.98 if f < n else 0.9)
    assert np.corrcoef(b, fit.difficulty)[0, 1] > (0.9 if f < n else 0.98)
    assert np.corrcoef(a, fit.discrimination)[0, 1] > (0.5 if f < n else 0.9)


def test_irt_against_girth() -> None:
    """Binary answers: the classical 2PL, there by marginal likelihood."""
    import girth

    people, items = 600, 40
    i, j, y, *_ = irt_data(people, items, seed=1, binary=True)
    fit = prophet.fit_irt(i, j, y)
    table = y.reshape(people, items).T.astype(int)
    theirs = girth.twopl_mml(table)
    ability = girth.ability_eap(table, theirs["Difficulty"], theirs["Discrimination"])
    assert np.corrcoef(ability, fit.ability)[0, 1] >= 0.99
    assert np.corrcoef(theirs["Difficulty"], fit.difficulty)[0, 1] >= 0.99
    # the model's parameter is ln a
    assert np.corrcoef(np.log(theirs["Discrimination"]), np.log(fit.discrimination))[0, 1] >= 0.99


@pytest.mark.parametrize("y", [0.0, 1.0])
def test_irt_of_hopeless_data(y: float) -> None:
    """All right or all wrong: the priors keep everything finite."""
    i, j, values, *_ = irt_data(6, 30, seed=1)
    fit = prophet.fit_irt(i, j, np.full(len(values), y))
    assert fit.converged
    assert np.isfinite([*fit.ability, *fit.ability_se, *fit.difficulty, *fit.discrimination]).all()
    assert fit.ability == pytest.approx(np.zeros(6), abs=1e-6)


@pytest.mark.parametrize("seed", range(40))
def test_both_fits_converge_on_anything(seed: int) -> None:
    """Few or many, sparse or full, contradictory, all 0 and 1: with priors there is always an end."""
    rng = np.random.default_rng(seed)
    i, j = np.nonzero(rng.random(rng.integers(1, 30, 2)) < (0.1, 0.5, 1)[seed % 3])
    i, j = (np.unique(numbers, return_inverse=True)[1] for numbers in (i, j))
    if not len(i):
        pytest.skip("an empty draw")
    for y in ((i % 2).astype(float), ((i + j) % 2).astype(float), rng.beta(0.1, 0.1, len(i))):
        fit = prophet.fit_irt(i, j, y)
        assert fit.converged
        assert np.isfinite([*fit.ability, *fit.ability_se]).all()
        pool = prophet.fit_bradley_terry(i, j, y, prior=1)
        assert pool.converged
        assert np.isfinite(pool.strength).all()
        assert pool.strength.mean() == pytest.approx(1)


# --- Bradley–Terry ---


def bradley_terry(p: Any, prior: float = 0.0) -> prophet.BradleyTerryFit:
    """p[event][forecaster], nan where one is absent."""
    table = np.asarray(p, dtype=float)
    j, i = np.nonzero(~np.isnan(table))
    return prophet.fit_bradley_terry(i, j, table[j, i], prior)


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
    ours = prophet.connected_parts(i, j, size)
    assert (np.equal.outer(ours, ours) == np.equal.outer(theirs, theirs)).all()


# --- Ranks and bootstrap ---


def columns(size: int) -> st.SearchStrategy[list[list[int]]]:
    return st.lists(st.lists(st.integers(0, 5), min_size=size, max_size=size), min_size=2, max_size=4)


@given(st.integers(2, 12).flatmap(columns))
def test_rank_agreement_against_scipy(table: list[list[int]]) -> None:
    rho, tau = prophet.rank_agreement(table)
    for a, one in enumerate(table):
        for b, other in enumerate(table):
            if len(set(one)) > 1 and len(set(other)) > 1:
                assert rho[a, b] == pytest.approx(stats.spearmanr(one, other).statistic, abs=1e-12)
                assert tau[a, b] == pytest.approx(stats.kendalltau(one, other).statistic, abs=1e-12)
            else:
                assert np.isnan([rho[a, b], tau[a, b]]).all()


def test_rank_agreement_of_pairs_with_gaps() -> None:
    a, b = [1, 2, math.nan, 4, 5, 3], [2, 1, 7, 5, math.nan, 3]
    rho, tau = prophet.rank_agreement([a, b])
    both = [0, 1, 3, 5]
    assert rho[0, 1] == pytest.approx(stats.spearmanr(np.take(a, both), np.take(b, both)).statistic)
    assert tau[0, 1] == pytest.approx(stats.kendalltau(np.take(a, both), np.take(b, both)).statistic)
    many = np.random.default_rng(0).normal(size=(2, 700))  # more than one block of pairs
    assert prophet.rank_agreement(many)[1][0, 1] == pytest.approx(stats.kendalltau(*many).statistic, abs=1e-12)


def test_bootstrap_by_hand() -> None:
    """The same draws for all rows; weights; rows with gaps; percentiles as numpy's."""
    rng = np.random.default_rng(8)
    event, row = np.repeat(np.arange(50), 3), np.tile(np.arange(3), 50)
    keep = (row == 0) | (rng.random(150) < 0.4)
    event, row = event[keep], row[keep]
    x, w = rng.normal(size=len(event)), rng.uniform(0.5, 2, len(event))
    y = np.where(rng.random(len(event)) < 0.5, x, math.nan)
    means = prophet.bootstrap_means([(x, w), (y, w)], event, row, 3, 40, seed=9)
    draws = np.random.default_rng(9).integers(0, 50, (40, 50))
    for number, values in enumerate((x, y)):
        for b in range(40):
            for r in range(3):
                parts = [at for e in draws[b] for at in np.flatnonzero((event == e) & (row == r) & ~np.isnan(values))]
                naive = np.average(values[parts], weights=w[parts]) if parts else math.nan
                assert means[number, b, r] == pytest.approx(naive, rel=1e-9, nan_ok=True)
    means[0, :7, 1] = math.nan
    low, high = prophet.percentile_intervals(means[0])
    assert np.array([low, high]) == pytest.approx(np.nanpercentile(means[0], [2.5, 97.5], axis=0), rel=1e-12)


def test_interval_covers() -> None:
    """Nominal 95 % over 200 data sets of 80 events."""
    rng = np.random.default_rng(1)
    event, row, hits = np.arange(80), np.zeros(80, dtype=int), 0
    for seed in range(200):
        x = rng.beta(2, 5, 80)
        (low,), (high,) = prophet.percentile_intervals(
            prophet.bootstrap_means([(x, np.ones(80))], event, row, 1, 300, seed)[0]
        )
        hits += low <= 2 / 7 <= high
    assert 180 <= hits <= 199


def test_ranks_share() -> None:
    assert prophet.shared_ranks(np.array([0.3, 0.5, 0.5 + 1e-12, 0.1, 0.3])).tolist() == [3, 1, 1, 5, 3]


# --- The evaluator ---

SAMPLE: Final = make_prophet_sample.sample()


def evaluate(forecasts: list[Any], problems: list[Any], **options: Any) -> Record:
    return ProphetArenaEvaluator(**{"bootstrap": 50, **options}).evaluate_all(forecasts, problems)


@pytest.fixture(scope="module")
def sample_results() -> Record:
    problems, forecasts = SAMPLE
    return evaluate(forecasts, problems, bootstrap=1000)


def test_sample_files_are_those_of_the_generator() -> None:
    problems, forecasts = SAMPLE
    assert DATASET.read_text(encoding="utf-8") == make_prophet_sample.render(problems)
    assert PREDICTION.read_text(encoding="utf-8") == make_prophet_sample.render(forecasts)
    sizes = [len(problem["options"]) for problem in problems]
    assert (len(problems), min(sizes), max(sizes)) == (200, 2, 30)
    assert sum(len(problem["correct_answer"]) > 1 for problem in problems if not problem.get("exclusive", True)) >= 3


def test_known_skill_is_found(sample_results: Record) -> None:
    rows = sample_results["forecasters"]
    for metric, sign in (("brier", 1), ("log", -1), ("spherical", -1), ("irt_ability", -1), ("weighted_brier", 1)):
        values = [sign * rows[name][metric] for name in make_prophet_sample.SKILLS]
        assert stats.spearmanr(range(12), values).statistic > 0.9, metric
    for name, row in rows.items():
        for metric in ("brier", "log", "spherical", "return_0", "return_0.5", "return_1", "weighted_brier"):
            low, high = row[f"{metric}_interval"]
            assert low <= row[metric] <= high, (name, metric)
    assert sample_results["fits"]["irt"]["converged"]
    assert sample_results["fits"]["bradley_terry"]["converged"]


def test_results_are_plain(sample_results: Record) -> None:
    """Strict JSON that reads back as the same value: no NaN, no numpy type, no tuple, no number for a key."""
    assert json.loads(json.dumps(sample_results, allow_nan=False)) == sample_results


def test_results_are_means_of_scores(sample_results: Record) -> None:
    """Brier, return and discrimination-weighted Brier of one forecaster, the slow way."""
    problems, forecasts = SAMPLE
    known = {problem["problem_id"]: problem for problem in problems}
    rows = [row for row in forecasts if row["username"] == "meridian-small"]
    brier, returns, weights = [], [], []
    for row in rows:
        problem = known[row["problem_id"]]
        answers = problem["correct_answer"]
        answers = answers if isinstance(answers, list) else [answers]
        won = [float(option in answers) for option in problem["options"]]
        brier.append(sum((p - o) ** 2 for p, o in zip(row["prediction"], won, strict=True)) / len(won))
        weights.append(sample_results["problems"][row["problem_id"]]["discrimination"])
        if problem.get("exclusive", True):
            at = won.index(1)
            returns.append(row["prediction"][at] / sum(row["prediction"]) / min(0.995, max(0.005, row["odds"][at])))
    got = sample_results["forecasters"]["meridian-small"]
    assert got["brier"] == pytest.approx(np.mean(brier), rel=1e-12)
    assert got["weighted_brier"] == pytest.approx(np.average(brier, weights=weights), rel=1e-12)
    assert got["return_1"] == pytest.approx(np.mean(returns), rel=1e-3)  # sums within 0.001 of 1 stay as they are
    assert got["n_events"] == len(brier)
    assert got["n_priced"] == len(returns)
    assert sample_results["return_curve"]["meridian-small"]["return_1"][-1] == pytest.approx(got["return_1"], rel=1e-12)
    by_category = [
        (entry["forecasters"]["meridian-small"]["n_events"], entry["forecasters"]["meridian-small"]["brier"])
        for entry in sample_results["by_category"].values()
    ]
    assert sum(n * mean for n, mean in by_category) / len(brier) == pytest.approx(got["brier"], rel=1e-12)
    ece = sum(
        b["n"] * abs(b["mean_probability"] - b["frequency"])
        for b in sample_results["reliability"]["meridian-small"]
        if b["n"]
    ) / sum(b["n"] for b in sample_results["reliability"]["meridian-small"])
    assert got["ece"] == pytest.approx(ece, rel=1e-9)


def test_input_order_changes_nothing() -> None:
    problems, forecasts = (list(rows) for rows in SAMPLE)
    extra = {"problem_id": "nowhere", "username": "ada", "prediction": [1]}
    first = evaluate([*forecasts, extra, {**forecasts[0], "prediction": [math.nan] * 9}], problems)
    rng = random.Random(1)
    rng.shuffle(problems)
    shuffled = [*forecasts, extra, {**forecasts[0], "prediction": [math.nan] * 9}]
    rng.shuffle(shuffled)
    assert evaluate(shuffled, problems) == first


def test_same_time_repeats_do_not_depend_on_order() -> None:
    problems = [{"problem_id": 1, "options": ["A", "B"], "correct_answer": "A"}]
    rows = [
        {"problem_id": 1, "username": "ada", "prediction": [p, 1 - p], "weight": w, "odds": q}
        for p, w, q in [(0.1, 1, [0.3, 0.7]), (0.2, 2, None), (0.7, 0.3, [0.1, 0.2]), (0.1, 1, [0.31, 0.7])]
    ]
    rows.append({**rows[0], "timestamp": "2025-01-02T00:00:00Z"})
    rows.append({**rows[2], "timestamp": "2025-01-02T00:00:00Z"})
    found = [evaluate(order, problems) for order in (rows, rows[::-1], [*rows[2:], *rows[:2]])]
    assert found[0]["forecasters"]["ada"]["brier"] == pytest.approx(0.36)  # the mean of 0.1 and 0.7
    assert [(entry["reason"], entry["count"]) for entry in found[0]["excluded"]] == [
        ("a later one of its forecaster counts", 4),
        ("averaged with another of its forecaster", 1),
    ]
    assert found[0] == found[1] == found[2]


def test_option_order_changes_no_score() -> None:
    problems, forecasts = SAMPLE
    rng = random.Random(2)
    orders = {p["problem_id"]: rng.sample(range(len(p["options"])), len(p["options"])) for p in problems}
    turned = [{**p, "options": [p["options"][k] for k in orders[p["problem_id"]]]} for p in problems]
    rows = [
        {**row, **{key: [row[key][k] for k in orders[row["problem_id"]]] for key in ("prediction", "odds", "bids")}}
        for row in forecasts
    ]
    one, other = evaluate(forecasts, problems), evaluate(rows, turned)
    for name, row in one["forecasters"].items():
        for metric, value in row.items():
            if isinstance(value, float):
                assert other["forecasters"][name][metric] == pytest.approx(value, abs=1e-6), (name, metric)


def test_duplicated_events_change_no_mean() -> None:
    problems, forecasts = SAMPLE
    twice = [{**row, "problem_id": f"{row['problem_id']}-again"} for row in problems]
    rows = [{**row, "problem_id": f"{row['problem_id']}-again"} for row in forecasts]
    one, other = evaluate(forecasts, problems), evaluate(forecasts + rows, problems + twice)
    for name, row in one["forecasters"].items():
        for metric in ("brier", "log", "spherical", "return_0", "return_0.5", "return_1", "ece"):
            assert other["forecasters"][name][metric] == pytest.approx(row[metric], rel=1e-12)


def test_shared_resamples() -> None:
    """A twin has the same interval and beats its original in half of the resamples; more noise changes nobody else."""
    problems, forecasts = SAMPLE
    twin = [{**row, "username": "twin"} for row in forecasts if row["username"] == "harbor-9b"]
    alone, both = evaluate(forecasts, problems), evaluate(forecasts + twin, problems)
    rows = both["forecasters"]
    assert rows["twin"]["brier_interval"] == pytest.approx(rows["harbor-9b"]["brier_interval"], rel=1e-12)
    assert rows["twin"]["brier_rank"] == rows["harbor-9b"]["brier_rank"] == 1
    assert rows["twin"]["bradley_terry_rank"] == rows["harbor-9b"]["bradley_terry_rank"]
    assert rows["harbor-9b"]["brier_beats_next"] == 0.5
    assert alone["forecasters"]["coin-and-dice"]["brier_interval"] == pytest.approx(
        rows["coin-and-dice"]["brier_interval"], rel=1e-12
    )


def test_disconnected_forecasters_are_named() -> None:
    problems = [{"problem_id": n, "options": ["A", "B"], "correct_answer": "A"} for n in range(4)]
    pairs = [(0, "ada"), (0, "bob"), (1, "bob"), (2, "cid"), (3, "dee"), (3, "cid"), (1, "eve")]
    rows = [{"problem_id": n, "username": name, "prediction": [0.6 + n / 10, 0.4 - n / 10]} for n, name in pairs]
    results = evaluate(rows, problems)
    assert results["fits"]["irt"]["parts"] == [["ada", "bob", "eve"], ["cid", "dee"]]
    assert results["warnings"] == [
        f"{model}: the comparison graph is disconnected, 2 groups of forecasters share no event (ada, bob, eve | "
        "cid, dee); only the prior compares one group with another"
        for model in ("IRT", "Bradley–Terry")
    ]


def test_correct_response() -> None:
    """Whether the favourite won; ties share; options one by one where several may win."""
    problems = [
        {"problem_id": 1, "options": ["A", "B", "C"], "correct_answer": "A"},
        {"problem_id": 2, "options": ["A", "B"], "correct_answer": ["A", "B"]},
    ]
    rows = [
        {"problem_id": 1, "username": "ada", "prediction": [0.4, 0.4, 0.2]},
        {"problem_id": 2, "username": "ada", "prediction": [0.9, 0.5]},
        {"problem_id": 1, "username": "bob", "prediction": [0.1, 0.8, 0.1]},
        {"problem_id": 2, "username": "bob", "prediction": [0.9, 0.9]},
    ]
    seen = []
    fit = prophet.fit_irt
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prophet, "fit_irt", lambda i, j, y: seen.append(y.tolist()) or fit(i, j, y))
        evaluate(rows, problems, response="correct")
    assert seen == [[0.5, 0.0, 0.75, 1.0]]


def test_thousands_of_chunks(monkeypatch: pytest.MonkeyPatch, sample_results: Record) -> None:
    """Chunks and blocks of any size give the same scores."""
    monkeypatch.setattr(prophet, "CHUNK", 500)
    problems, forecasts = SAMPLE
    small = evaluate(forecasts, problems, bootstrap=1000)
    for name, row in sample_results["forecasters"].items():
        for metric, value in row.items():
            if isinstance(value, float):
                assert small["forecasters"][name][metric] == pytest.approx(value, abs=1e-12), metric
    for name, row in sample_results["baselines"].items():
        assert small["baselines"][name]["brier"] == pytest.approx(row["brier"], rel=1e-12)


JUNK: Final = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3), max_leaves=6,
)  # fmt: skip
FIELD: Final = {
    "problem_id": st.sampled_from(["1", 1, 2, "x"]) | JUNK,
    "username": st.sampled_from(["ada", "bob"]) | JUNK,
    "timestamp": st.sampled_from(["2025-01-01T00:00:00Z", "2025-01-02", "soon"]) | JUNK,
    "prediction": st.lists(st.floats(0, 1), min_size=2, max_size=2) | JUNK,
    "odds": st.lists(st.floats(0, 1), min_size=2, max_size=2) | JUNK,
    "bids": st.lists(st.floats(0, 1), min_size=2, max_size=2) | JUNK,
    "weight": st.floats(0, 2) | JUNK,
}


@settings(max_examples=150, deadline=None)
@given(st.lists(st.fixed_dictionaries({}, optional=FIELD) | JUNK, max_size=6), st.lists(
    st.fixed_dictionaries({}, optional={
        "problem_id": st.sampled_from([1, 2]) | JUNK, "options": st.just(["A", "B"]) | JUNK,
        "correct_answer": st.sampled_from(["A", ["A", "B"], []]) | JUNK, "exclusive": JUNK, "end_date": JUNK,
        "category": JUNK, "metadata": JUNK,
    }) | JUNK, max_size=4))  # fmt: skip
def test_any_input_gives_a_result_or_one_line(forecasts: list[Any], problems: list[Any]) -> None:
    good = [{"problem_id": "y", "options": ["A", "B"], "correct_option_idx": 0}]
    rows = [{"problem_id": "y", "username": name, "prediction": [0.5, 0.5]} for name in ("ada", "zoe")]
    results = evaluate([*forecasts, *rows], [*problems, *good], bootstrap=5)
    assert json.loads(json.dumps(results, allow_nan=False)) == results
    counted = sum(entry["count"] for entry in results["excluded"] if not entry["reason"].startswith("from "))
    unused = sum(entry["count"] for entry in results["excluded"] if entry["what"] == "event")
    unused -= sum(e["count"] for e in results["excluded"] if e["what"] == "event" and e["reason"].startswith("from "))
    assert results["n_forecasts"] + counted - unused == len(forecasts) + 2  # nothing goes missing
    if not results["forecasters"].keys() - {"ada", "zoe"} and results["n_forecasts"] == 2:
        with pytest.raises(InputError, match="expected forecasts that fit the problems"):
            evaluate(forecasts, problems, bootstrap=0)


# --- Bad input ---

GOOD_PROBLEM: Final = {"problem_id": 1, "options": ["A", "B"], "correct_answer": "A", "end_date": "2025-07-01T00:00Z"}
GOOD: Final = [{"problem_id": 1, "username": name, "prediction": [0.5, 0.5]} for name in ("ada", "bob")]

BAD_FORECASTS: Final = {
    "negative": ({"prediction": [-0.1, 0.5]}, "probabilities must be numbers in [0, 1]"),
    "above one": ({"prediction": [1.1, 0.5]}, "probabilities must be numbers in [0, 1]"),
    "nan": ({"prediction": [math.nan, 0.5]}, "probabilities must be numbers in [0, 1]"),
    "blank": ({"prediction": ["", 0.5]}, "probabilities must be numbers in [0, 1]"),
    "null": ({"prediction": [None, 0.5]}, "probabilities must be numbers in [0, 1]"),
    "boolean": ({"prediction": [True, False]}, "probabilities must be numbers in [0, 1]"),
    "underscore": ({"prediction": ["0_1", 0.5]}, "probabilities must be numbers in [0, 1]"),
    "huge": ({"prediction": [10**400, 0.5]}, "probabilities must be numbers in [0, 1]"),
    "too short": ({"prediction": [1]}, "expected a probability for every option"),
    "no list": ({"prediction": "A"}, "expected a probability for every option"),
    "missing": ({"prediction": None}, "expected a probability for every option"),
    "unknown id": ({"problem_id": 9}, "unknown problem id"),
    "no name": ({"username": ""}, "no 'problem_id' or no 'username'"),
    "weight huge": ({"weight": 1e308}, "'weight' must be a positive number"),
    "weight": ({"weight": 0}, "'weight' must be a positive number"),
    "weight nan": ({"weight": math.nan}, "'weight' must be a positive number"),
    "twice": ({"\0duplicate keys": ["prediction"]}, "a field is given twice"),
}


@pytest.mark.parametrize(("change", "reason"), BAD_FORECASTS.values(), ids=BAD_FORECASTS)
def test_bad_forecast(change: Record, reason: str) -> None:
    """Left out and counted; the others keep their scores."""
    results = evaluate([*GOOD, {**GOOD[0], "username": "eve", **change}], [GOOD_PROBLEM])
    (entry,) = results["excluded"]
    assert (entry["what"], entry["reason"], entry["count"]) == ("forecast", reason, 1)
    assert set(results["forecasters"]) == {"ada", "bob"}


BAD_PROBLEMS: Final = {
    "no options": ({"options": []}, "'options' must be a list of names"),
    "options no list": ({"options": "AB"}, "'options' must be a list of names"),
    "option twice": ({"options": ["A", "A"]}, "an option is listed twice"),
    "option as number": ({"options": ["7", 7]}, "an option is listed twice"),
    "winner unlisted": ({"correct_answer": "C"}, "a winner is not among the options"),
    "one winner unlisted": ({"correct_answer": ["A", "C"]}, "a winner is not among the options"),
    "index out of range": ({"correct_answer": None, "correct_option_idx": 2}, "a winner is not among the options"),
    "negative index": ({"correct_answer": None, "correct_option_idx": -1}, "a winner is not among the options"),
    "unresolved": ({"correct_answer": None}, "no correct answer"),
    "disagree": ({"correct_option_idx": 1}, "'correct_answer' and 'correct_option_idx' disagree"),
    "exclusive": ({"exclusive": "no"}, "'exclusive' must be true or false"),
    "used twice": ({"problem_id": 1}, "problem id used more than once"),
    "nobody": ({}, "no forecast that counts"),
}


@pytest.mark.parametrize(("change", "reason"), BAD_PROBLEMS.values(), ids=BAD_PROBLEMS)
def test_bad_problem(change: Record, reason: str) -> None:
    other = {**GOOD_PROBLEM, "problem_id": 2}
    rows = [{**row, "problem_id": 2} for row in GOOD]
    bad = {**GOOD_PROBLEM, "problem_id": 3, **change}
    results = evaluate(rows, [other, bad] if reason != "problem id used more than once" else [other, bad, bad])
    (entry,) = results["excluded"]
    count = 2 if reason == "problem id used more than once" else 1
    assert (entry["what"], entry["reason"], entry["count"]) == ("event", reason, count)
    assert entry["names"] == [str(bad["problem_id"])] * count
    assert results["n_events"] == 1


BAD_OPTIONS: Final = {
    "gamma above": ({"gammas": [1.5]}, "gamma: must be a number in [0, 1], got 1.5"),
    "gamma nan": ({"gammas": [math.nan]}, "gamma: must be a number in [0, 1], got nan"),
    "gamma text": ({"gammas": ["0"]}, "gamma: must be a number in [0, 1], got '0'"),
    "bootstrap": ({"bootstrap": -1}, "bootstrap: must be an integer >= 0, got -1"),
    "seed": ({"seed": 0.5}, "seed: must be an integer >= 0, got 0.5"),
    "min_events": ({"min_events": 0}, "min_events: must be an integer >= 1, got 0"),
    "bins": ({"bins": True}, "bins: must be an integer >= 1, got True"),
    "repeats": ({"repeats": "first"}, "repeats: must be last or mean, got 'first'"),
    "late": ({"late": "never"}, "late: must be keep or drop, got 'never'"),
    "response": ({"response": "log"}, "response: must be brier or correct, got 'log'"),
    "prior": ({"prior": 0}, "prior: must be a positive number, got 0"),
}


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS.values(), ids=BAD_OPTIONS)
def test_bad_option(options: Record, message: str) -> None:
    with pytest.raises(InputError) as caught:
        ProphetArenaEvaluator(**options)
    assert str(caught.value) == message


BAD_CALLS: Final = {
    "above one": (lambda: prophet.brier_score([1.5], [1]), "brier_score: 'p' must lie in [0, 1], got 1.5"),
    "nan": (lambda: prophet.log_score([math.nan], [1]), "log_score: 'p' must lie in [0, 1], got nan"),
    "length": (
        lambda: prophet.brier_score([1], [1, 0]),
        "brier_score: 'outcome' must have 1 values like the first array, got 2",
    ),
    "offsets": (
        lambda: prophet.brier_score([1, 0], [1, 0], [0, 0, 2]),
        "brier_score: offsets must rise from 0 to 2, got [0, 0, 2]",
    ),
    "two winners": (
        lambda: prophet.spherical_score([1, 0], [1, 1]),
        "spherical_score: every event must have exactly one winner",
    ),
    "no stake": (
        lambda: prophet.crra_stake([0, 0], [0.5, 0.5], 0.5),
        "crra_stake: every forecast must have a positive sum, got 0",
    ),
    "gamma": (lambda: prophet.crra_stake([1], [1], -0.1), "gamma: must be a number in [0, 1], got -0.1"),
    "bins": (lambda: prophet.expected_calibration_error([1], [1], 0), "bins: must be an integer >= 1, got 0"),
    "irt empty": (lambda: prophet.fit_irt([], [], []), "fit_irt: expected observations, got none"),
    "irt lengths": (
        lambda: prophet.fit_irt([0], [0], [1, 0]),
        "fit_irt: expected arrays of one length, got 1, 1 and 2",
    ),
    "irt y": (lambda: prophet.fit_irt([0], [0], [2]), "fit_irt: 'y' must lie in [0, 1], got 2.0"),
    "bt gap": (
        lambda: prophet.fit_bradley_terry([0, 2], [0, 0], [1, 0]),
        "fit_bradley_terry: forecasters and problems must be numbered from 0 without gaps",
    ),
    "bt prior": (lambda: prophet.fit_bradley_terry([0], [0], [1], -1), "prior: must be a number >= 0, got -1"),
    "nothing": (lambda: evaluate([], [GOOD_PROBLEM]), "forecasts: expected forecasts that fit the problems, got none"),
    "nothing fits": (
        lambda: evaluate([{**GOOD[0], "problem_id": 8}, 5], [GOOD_PROBLEM]),
        "forecasts: expected forecasts that fit the problems, got no object: 1; unknown problem id: 1",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("call", "message"), BAD_CALLS.values(), ids=BAD_CALLS)
def test_bad_call(call: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value) == message


NO_TIME: Final = "timestamp that is no ISO 8601 time, taken as unknown: 1 (ada on 1)"
WARNINGS: Final = {
    "no time": ({"timestamp": "soon"}, NO_TIME),
    "no number": ({"timestamp": 5}, NO_TIME),
    "no day": ({"timestamp": "2025-02-30T00:00:00Z"}, NO_TIME),
    "no zone": ({"timestamp": "2025-06-30T00:00:00"}, "timestamp without time zone, read as UTC: 1 (ada on 1)"),
    "odds zero": ({"odds": [0, 1]}, "odds are not a number in (0, 1] for every option: no return: 1 (ada on 1)"),
    "odds above": ({"odds": [1.2, 0.5]}, "odds are not a number in (0, 1] for every option: no return: 1 (ada on 1)"),
}


@pytest.mark.parametrize(("change", "warning"), WARNINGS.values(), ids=WARNINGS)
def test_warning(change: Record, warning: str) -> None:
    results = evaluate([{**GOOD[0], **change}, GOOD[1]], [GOOD_PROBLEM])
    assert results["warnings"] == [warning]
    assert results["n_forecasts"] == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2025-02-07T03:40:25Z", (1738899625.0, True)),
        ("2025-02-07 03:40:25.5+00:00", (1738899625.5, True)),
        ("2025-02-07T04:40:25+01:00", (1738899625.0, True)),
        ("2025-02-07T04:40:25+0100", (1738899625.0, True)),
        ("2025-02-07T03:40:25.123456789Z", (1738899625.123456, True)),
        ("2025-02-07", (1738886400.0, False)),
        ("2025-02-07T03:40", (1738899600.0, False)),
    ],
)
def test_time(text: str, expected: tuple[float, bool]) -> None:
    assert prophet.parse_time(text) == expected


@pytest.mark.parametrize("text", ["", "yesterday", "2025-13-01", "07/02/2025", "2025-02-07T25:00Z", "٢٠٢٥-٠٢-٠٧"])
def test_no_time(text: str) -> None:
    assert math.isnan(prophet.parse_time(text)[0])


# --- Files and reports ---


def test_file_and_python_agree(sample_results: Record) -> None:
    results = prophet.evaluate_file(ProphetArenaEvaluator(), PREDICTION, DATASET)
    named = [results[key] for key in ("name", "prediction", "dataset")]
    assert named == ["prophet-sample", "prophet-sample.json", "prophet-sample.json"]
    assert results["forecasters"] == sample_results["forecasters"]
    assert {"dataset_sha256", "prediction_sha256", "data_sha256"} <= results["signature"].keys()


def test_jsonl_equals_json(tmp_path: Path, sample_results: Record) -> None:
    path = tmp_path / "prophet-sample.jsonl"
    lines = [json.dumps(row, ensure_ascii=False) for row in SAMPLE[1]]
    path.write_text("\n".join([*lines, "{not JSON"]), encoding="utf-8")
    results = prophet.evaluate_file(ProphetArenaEvaluator(), path, DATASET)
    assert results["forecasters"] == sample_results["forecasters"]
    assert results["excluded"][-1]["reason"].startswith("not JSON: column 2")


def write_csv(path: Path, rows: list[Record]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def csv_row(event: str, name: str, p: Record, outcome: Record, info: Record | None = None, **change: Any) -> Record:
    market = {option: {"yes_ask": "60", "yes_bid": 50.0} for option in outcome} if info is None else info
    said = {"probabilities": [{"market": option, "probability": value} for option, value in p.items()]}
    return {
        "event_ticker": event, "predictor_name": name, "submission_id": "s", "category": "Sports",
        "close_time": "2025-07-04 12:35:32.691495+00:00", "market_info": repr(market),
        "market_outcome": json.dumps(outcome), "prediction": json.dumps(said), **change,
    }  # fmt: skip


def test_csv(tmp_path: Path) -> None:
    """Python literals and JSON, cents as text, options in the order of market_info; every mismatch is counted."""
    good = {"A": 1, "B": 0}
    rows = [
        csv_row("E1", "ada", {"B": 0.25, "A": 0.75}, good),
        csv_row("E1", "bob", {"A": 0.5, "B": 0.5}, good),
        csv_row("E1", "cid", {"A": 0.5}, good),
        csv_row("E1", "dee", {"A": 0.5, "B": 0.5, "C": 0}, good),
        csv_row("E1", "eve", {}, good, prediction="not a literal ((("),
        csv_row("E2", "ada", {"A": 0.5, "B": 0.5}, {"A": 0, "C": 1}, {"A": {"yes_ask": 60}, "B": {"yes_ask": 40}}),
        csv_row("E3", "ada", {"A": 1, "B": 1}, {"A": 1, "B": 1}, {"A": {"yes_ask": None}, "B": {"yes_ask": 40}}),
        csv_row("E4", "ada", {"A": 0.5, "B": 0.5}, {"A": 1}, {"A": {"yes_ask": 60}, "B": {"yes_ask": 40}}),
        csv_row("E5", "ada", {"A": 0.5, "B": 0.5}, {"A": 2, "B": 0}),
        csv_row("E6", "ada", {"A": 0.5, "B": 0.5}, good),
        csv_row("E6", "bob", {"A": 0.5, "B": 0.5}, {"A": 0, "B": 1}),
        csv_row("E9", "ada", {"A": 0.5, "B": 0.5}, good, market_outcome=r"{'\d': 1}"),
        csv_row("E7", "ada", {"A": 0.5, "B": 0.5}, good, market_info="[1]"),
        csv_row("E8", "ada", {"A": 0.5, "B": 0.5}, good, market_info='{"A": {"yes_ask": 1}, "A": {"yes_ask": 2}}'),
    ]
    results = prophet.evaluate_file(ProphetArenaEvaluator(bootstrap=0), write_csv(tmp_path / "x.csv", rows), None)
    ada = results["forecasters"]["ada"]
    assert (ada["n_events"], ada["n_exclusive"], ada["n_priced"]) == (2, 1, 1)
    assert ada["brier"] == pytest.approx(0.0625 / 2)
    assert ada["return_1"] == pytest.approx(0.75 / 0.6)
    assert results["baselines"]["market"]["brier"] == pytest.approx(0.25)  # 0.55 and 0.55 give 0.5 each
    assert {entry["reason"]: entry["names"] for entry in results["excluded"] if entry["what"] == "event"} == {
        "a winner is not among the options": ["E2", "E9"],
        "an option without an outcome": ["E4"],
        "an outcome is neither 0 nor 1": ["E5"],
        "its rows differ in options or outcome": ["E6"],
        "'market_info' and 'market_outcome' must be objects with a value per market, none twice": ["E7", "E8"],
    }
    assert {entry["reason"]: entry["names"] for entry in results["excluded"] if entry["what"] == "forecast"}[
        "expected a probability for every option"
    ] == ["cid on E1", "dee on E1", "eve on E1"]
    assert results["by_category"]["Sports"]["n_events"] == 2
    assert results["dataset"] is None
    turned = prophet.evaluate_file(ProphetArenaEvaluator(bootstrap=0), write_csv(tmp_path / "x.csv", rows[::-1]), None)
    del turned["signature"]["prediction_sha256"], results["signature"]["prediction_sha256"]
    assert turned == results


BAD_FILES: Final = {
    "columns": ("x.csv", b"a,b\n1,2\n", "x.csv: expected the columns event_ticker, predictor_name, market_info, "
                "market_outcome, prediction, got none named event_ticker"),
    "empty csv": ("x.csv", b"", "x.csv: expected the columns event_ticker, predictor_name, market_info, "
                  "market_outcome, prediction, got none named event_ticker"),
    "utf-16": ("x.csv", b"\xff\xfea\0", "x.csv: not UTF-8: byte 0xff at position 0, got UTF-16 or UTF-32 text"),
    "not json": ("x.json", b"[1,", "x.json: not JSON: line 1 column 4: Expecting value"),
    "object": ("x.json", b"{}", "x.json: expected forecasts that fit the problems, got none"),
    "no file": ("y.json", None, "y.json: cannot be read: No such file or directory"),
    "no csv": ("y.csv", None, "y.csv: cannot be read: No such file or directory"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "content", "message"), BAD_FILES.values(), ids=BAD_FILES)
def test_bad_file(tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        prophet.evaluate_file(ProphetArenaEvaluator(), tmp_path / name, None if name.endswith("csv") else DATASET)
    assert str(caught.value).removeprefix(f"{tmp_path}{os.sep}") == message


def test_no_dataset() -> None:
    with pytest.raises(InputError, match="expected a dataset of problems for it"):
        prophet.evaluate_file(ProphetArenaEvaluator(), PREDICTION, None)


def masked(report: str) -> str:
    """Rounding decides the last gradient, and how many steps a fit needs to get there."""
    return re.sub(r"after \d+ iterations, gradient [\d.e+-]+", "after N iterations, gradient G", report)


def sample_report() -> str:
    results = prophet.evaluate_file(ProphetArenaEvaluator(), PREDICTION, DATASET)
    return masked(prophet.format_report(results)) + "\n"


def test_golden_report() -> None:
    assert sample_report() == GOLDEN.read_text(encoding="utf-8")


def test_report_sorts(sample_results: Record) -> None:
    rows = sample_results["forecasters"]
    metrics = list(sample_results["rank_correlation"]["overall"]["spearman"])
    assert len(metrics) == 10
    for metric in metrics:
        lines = prophet.format_report(sample_results, metric).splitlines()
        at = next(n for n, line in enumerate(lines) if line.startswith("Forecaster"))
        names = [line.split("  ")[0] for line in lines[at + 1 : at + 13]]
        assert names == sorted(rows, key=lambda name: (rows[name][f"{metric}_rank"], name))
    with pytest.raises(InputError) as caught:
        prophet.format_report(sample_results, "elo")
    assert str(caught.value) == f"--sort: expected one of {', '.join(metrics)}, got elo"


def test_report_of_little_and_hostile_data() -> None:
    """No price, no category, one forecaster; names that would move the cursor stay on their line."""
    rows = [{**GOOD[0], "username": "\x1b[2Jada\n\u202e"}]
    report = prophet.format_report(evaluate(rows, [GOOD_PROBLEM], min_events=2))
    assert "\\x1b[2Jada\\n\\u202e" in report
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e]", report)
    assert "nan" not in report.lower()


def test_hash_seed_changes_nothing() -> None:
    code = (
        "import sys, json; sys.path[:0] = [sys.argv[1], sys.argv[1] + '/tests']\n"
        "import make_prophet_sample as m, prophet\n"
        "r = prophet.evaluate_file(prophet.ProphetArenaEvaluator(bootstrap=50), m.PREDICTION, m.DATASET)\n"
        "print(json.dumps(r))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-W", "error", "-c", code, str(ROOT)], capture_output=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1")
    }  # fmt: skip
    assert len(outputs) == 1


# --- Found by review ---


def test_literal_with_a_key_twice_is_no_literal(tmp_path: Path) -> None:
    """The original files are Python literals, where the last of two keys would win without a word."""
    market = "{'A': {'yes_ask': 60}, 'B': {'yes_ask': 50}}"
    twice = csv_row("E1", "ada", {"A": 0.5, "B": 0.5}, {"A": 1, "B": 0}, market_outcome="{'A': 1, 'A': 0, 'B': 1}")
    good = csv_row("E1", "bob", {"A": 0.5, "B": 0.5}, {"A": 1, "B": 0}, market_info=market)
    said = "{'probabilities': [{'market': 'A', 'probability': 0.9, 'probability': 0.1}, {'market': 'B'}]}"
    unsaid = csv_row("E1", "cid", {"A": 0.5, "B": 0.5}, {"A": 1, "B": 0}, market_info=market, prediction=said)
    results = prophet.evaluate_file(
        ProphetArenaEvaluator(bootstrap=0), write_csv(tmp_path / "x.csv", [twice, good, unsaid]), None
    )
    assert list(results["forecasters"]) == ["bob"]  # and a row that cannot be read costs no other
    assert [(entry["what"], entry["names"]) for entry in results["excluded"]] == [
        ("forecast", ["ada on E1"]), ("forecast", ["cid on E1"]),
    ]  # fmt: skip


def test_weights_count_in_the_crowd() -> None:
    problems = [{**GOOD_PROBLEM, "problem_id": n, "options": ["a", "b"], "correct_answer": "a"} for n in (1, 2)]
    rows = [
        {"problem_id": 1, "username": "ada", "prediction": [0.9, 0.1], "weight": 9},
        {"problem_id": 2, "username": "ada", "prediction": [0.1, 0.9], "weight": 1},
    ]
    results = evaluate(rows, problems)
    assert results["forecasters"]["ada"]["brier"] == pytest.approx(0.9 * 0.01 + 0.1 * 0.81)
    assert results["baselines"]["crowd"]["brier"] == pytest.approx(results["forecasters"]["ada"]["brier"])
    rows[1] = {"problem_id": 1, "username": "bob", "prediction": [0.1, 0.9], "weight": 1}
    assert evaluate(rows, problems)["baselines"]["crowd"]["brier"] == pytest.approx(0.18**2)


@pytest.mark.parametrize("date", ["9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+12:00"])
def test_times_beyond_the_calendar_are_unknown(date: str) -> None:
    results = evaluate([{**row, "odds": [0.5, 0.5]} for row in GOOD], [{**GOOD_PROBLEM, "end_date": date}])
    assert any("closing time that is no ISO 8601 time" in warning for warning in results["warnings"])


def test_parts_are_those_of_the_events_that_the_fit_uses() -> None:
    """Who meets in an event that Bradley–Terry leaves out is not compared there; who is not in it is no group."""
    pair = {"options": ["a", "b"], "correct_answer": "a"}
    problems = [{"problem_id": n, **pair} for n in (0, 1, 2)]
    rows = [
        {"problem_id": n, "username": who, "prediction": p}
        for n, who, p in (
            (0, "ada", [0.6, 0.4]), (0, "bob", [0.5, 0.5]), (1, "cid", [0.6, 0.4]), (1, "dee", [0.5, 0.5]),
            (2, "ada", [0, 1]), (2, "cid", [0, 1]),
        )
    ]  # fmt: skip
    fits = evaluate(rows, problems)["fits"]
    assert fits["bradley_terry"]["parts"] == [["ada", "bob"], ["cid", "dee"]]
    assert fits["irt"]["parts"] == []
    several = {"problem_id": 9, "options": ["a", "b"], "correct_answer": ["a", "b"]}
    only = [{"problem_id": 9, "username": who, "prediction": [0.5, 0.5]} for who in ("zoe", "ada")]
    fits = evaluate([*only, *rows[:2]], [several, problems[0]])["fits"]
    assert fits["bradley_terry"]["parts"] == []


@pytest.mark.parametrize("gamma", [0, 0.5, 1])
def test_market_earns_the_same_at_every_gamma_with_prices_out_of_range(gamma: float) -> None:
    problem = {"problem_id": 1, "options": ["a", "b"], "correct_answer": "a"}
    rows = [{"problem_id": 1, "username": "ada", "prediction": [0.5, 0.5], "odds": [0.001, 0.999]}]
    results = evaluate(rows, [problem], gammas=(gamma,))
    assert results["baselines"]["market"][f"return_{gamma}"] == pytest.approx(1.0)


@pytest.mark.parametrize("bids", [[0.5, None], [0.5], "x", [0.9, 0.9], [0.5, math.nan]])
def test_bids_that_make_no_market_are_counted(bids: Any) -> None:
    problem = {"problem_id": 1, "options": ["a", "b"], "correct_answer": "a"}
    rows = [{"problem_id": 1, "username": "ada", "prediction": [0.5, 0.5], "odds": [0.6, 0.5], "bids": bids}]
    results = evaluate(rows, [problem])
    assert any(warning.startswith("bids are not a number in [0, odds]") for warning in results["warnings"])
    assert results["baselines"]["market"]["brier"] == pytest.approx((5 / 11) ** 2)


def test_rows_of_an_event_that_differ_in_closing_time(tmp_path: Path) -> None:
    rows = [
        csv_row("E1", who, {"A": 0.5, "B": 0.5}, {"A": 1, "B": 0}, close_time=closed)
        for who, closed in (("ada", "2025-07-01T00:00:00-10:00"), ("bob", "2025-07-01T05:00:00Z"))
    ]
    results = prophet.evaluate_file(ProphetArenaEvaluator(bootstrap=0), write_csv(tmp_path / "x.csv", rows), None)
    assert any(warning.startswith("closing time that differs between the rows") for warning in results["warnings"])
    assert results["return_curve"]["ada"]["closed"] == ["2025-07-01T10:00:00+00:00"]


@pytest.mark.parametrize(("p", "off"), [([0.5, 0.499], 0), ([0.334, 0.333, 0.334], 0), ([0.5, 0.498], 1)])
def test_sums_within_a_thousandth_are_used_as_they_are(p: list[float], off: int) -> None:
    problem = {"problem_id": 1, "options": list("abc"[: len(p)]), "correct_answer": "a"}
    results = evaluate([{"problem_id": 1, "username": "ada", "prediction": p}], [problem])
    assert sum("do not sum to 1" in warning for warning in results["warnings"]) == off


def test_hundredths_stand_in_their_own_bins() -> None:
    p = np.arange(100) / 100  # 0.29 * 100 is 28.999999999999996
    assert prophet.expected_calibration_error(p, np.zeros(100), bins=100) == pytest.approx(p.mean())
    sums = prophet._bin_sums(p, p, np.ones(100), np.zeros(100, dtype=np.int64), 1, 100)
    assert sums[0].tolist() == [[1.0] * 100]


if __name__ == "__main__":
    GOLDEN.write_text(sample_report(), encoding="utf-8", newline="\n")
