"""Scores, stakes and calibration: properties, another library, wrong arguments."""

from __future__ import annotations

import math
import random
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from forecasteval.common.errors import InputError
from forecasteval.prophet.scores import (
    average_return,
    bin_sums,
    brier_score,
    calibration_errors,
    contract_payoffs,
    crra_stake,
    expected_calibration_error,
    log_score,
    spherical_score,
)

SCORES: Final = {"brier": brier_score, "log": log_score, "spherical": spherical_score}


SIMPLEX: Final = st.lists(st.floats(0, 1), min_size=2, max_size=8).filter(lambda p: sum(p) > 0.01)


def normal(values: list[float]) -> np.ndarray:
    return np.array(values) / np.sum(values)


def expected_score(name: str, truth: np.ndarray, p: np.ndarray) -> float:
    """Σ truth_k · score of p when k wins, higher is better."""
    score = [
        SCORES[name](p, np.eye(len(p))[k])[0] * (-1 if name == "brier" else 1)
        for k in range(len(p))
    ]
    return float(truth @ score)


@given(
    st.integers(2, 6).flatmap(
        lambda n: st.tuples(*[st.lists(st.floats(0.0, 1), min_size=n, max_size=n)] * 2)
    )
)
def test_proper(pair: tuple[list[float], list[float]]) -> None:
    """Nobody gains by saying anything but the truth; for log where every true probability is 0.03
    or more.
    """
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
    wealth = a / q
    if gamma == 1:
        return float(np.sum(p[p > 0] * np.log(np.maximum(wealth[p > 0], 1e-300))))
    return float(np.sum(p * wealth ** (1 - gamma)) / (1 - gamma))


@pytest.mark.parametrize("gamma", [0, 0.05, 0.3, 0.5, 0.9, 1])
def test_no_feasible_stake_has_more_expected_utility(gamma: float) -> None:
    rng = np.random.default_rng(7)
    for n in (2, 3, 6):
        p, q = rng.dirichlet(np.ones(n)), rng.uniform(0.05, 0.6, n)
        best = utility(crra_stake(p, q, gamma), p, q, gamma)
        for stake in rng.dirichlet(np.full(n, 0.5), 300):
            assert utility(stake, p, q, gamma) <= best + 1e-9
        # over logarithms of the stakes, where the simplex has no border to stop at
        found = optimize.minimize(
            lambda z, p=p, q=q: -utility(np.exp(z - np.logaddexp.reduce(z)), p, q, gamma),
            np.zeros(n),
            method="BFGS",
        )
        assert -found.fun <= best + 1e-9
        assert gamma == 0 or -found.fun >= best - 1e-5


@given(SIMPLEX, st.randoms(use_true_random=False), st.floats(0, 1))
def test_stakes_are_feasible_and_continuous(
    p: list[float], rng: random.Random, gamma: float
) -> None:
    q = [rng.uniform(0.01, 0.9) for _ in p]
    stake = crra_stake(p, q, gamma)
    assert (stake >= 0).all()
    assert stake.sum() == pytest.approx(1)
    edge = np.sort(normal(p) / q)[::-1]
    if edge[1] < edge[0] * 0.999:  # away from the ties that decide between two limits
        assert crra_stake(p, q, 1e-5) == pytest.approx(crra_stake(p, q, 0), abs=1e-9)
    assert crra_stake(p, q, 1 - 1e-9) == pytest.approx(crra_stake(p, q, 1), abs=1e-5)
    for tiny in (5e-324, 1e-300, 1e-17):
        assert crra_stake(p, q, tiny) == pytest.approx(crra_stake(p, q, 0), abs=1e-12)


@given(
    st.lists(st.floats(0.005, 0.995), min_size=2, max_size=8), st.floats(0, 1), st.integers(0, 7)
)
def test_the_market_earns_its_margin(q: list[float], gamma: float, winner: int) -> None:
    won = np.eye(len(q))[winner % len(q)]
    got = average_return(normal(q), q, won, gamma)[0]
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
        one = average_return(row, q[: len(row)], first, 0.5)[0]
        assert average_return(p, q, won, 0.5, offsets)[at] == pytest.approx(one, rel=1e-12)


def test_against_scikit_learn() -> None:
    from sklearn.metrics import brier_score_loss, log_loss

    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.full(5, 2.0), 400) * 0.9 + 0.02  # above the floor
    winners = rng.integers(0, 5, 400)
    won, offsets = np.eye(5)[winners].reshape(-1), np.arange(0, 2001, 5)
    assert -log_score(p, won, offsets).mean() == pytest.approx(
        log_loss(winners, p, labels=range(5)), rel=1e-12
    )
    columns = [brier_score_loss(winners == k, p[:, k]) for k in range(5)]
    assert brier_score(p, won, offsets).mean() == pytest.approx(np.mean(columns), rel=1e-12)


def test_calibration_by_hand() -> None:
    rng = np.random.default_rng(4)
    p, o, w = (
        rng.random(5000).round(2),
        (rng.random(5000) < 0.4).astype(float),
        rng.uniform(0.5, 2, 5000),
    )
    edges = np.linspace(0, 1, 11)[1:-1]
    which = np.digitize(p.round(6), edges.round(6))

    def by_hand(w: np.ndarray) -> float:
        parts = [
            abs(np.average(p[bin_], weights=w[bin_]) - np.average(o[bin_], weights=w[bin_]))
            * w[bin_].sum()
            for bin_ in (which == b for b in range(10))
        ]
        return float(sum(parts) / w.sum())

    assert expected_calibration_error(p, o) == pytest.approx(by_hand(np.ones(5000)), rel=1e-9)
    sums = bin_sums(p, o, w, np.zeros(5000, dtype=np.int64), 1, 10)
    assert calibration_errors(sums)[0] == pytest.approx(by_hand(w), rel=1e-9)
    assert math.isnan(expected_calibration_error([], []))


def test_hundredths_stand_in_their_own_bins() -> None:
    p = np.arange(100) / 100  # 0.29 * 100 is 28.999999999999996
    assert expected_calibration_error(p, np.zeros(100), bins=100) == pytest.approx(p.mean())
    sums = bin_sums(p, p, np.ones(100), np.zeros(100, dtype=np.int64), 1, 100)
    assert sums[0].tolist() == [[1.0] * 100]


BAD_CALLS: Final = {
    "above one": (lambda: brier_score([1.5], [1]), "brier_score: 'p' must lie in [0, 1], got 1.5"),
    "nan": (lambda: log_score([math.nan], [1]), "log_score: 'p' must lie in [0, 1], got nan"),
    "length": (
        lambda: brier_score([1], [1, 0]),
        "brier_score: 'outcome' must have 1 values like the first array, got 2",
    ),
    "offsets": (
        lambda: brier_score([1, 0], [1, 0], [0, 0, 2]),
        "brier_score: offsets must rise from 0 to 2, got [0, 0, 2]",
    ),
    "two winners": (
        lambda: spherical_score([1, 0], [1, 1]),
        "spherical_score: every event must have exactly one winner",
    ),
    "no stake": (
        lambda: crra_stake([0, 0], [0.5, 0.5], 0.5),
        "crra_stake: every forecast must have a positive sum, got 0",
    ),
    "gamma": (lambda: crra_stake([1], [1], -0.1), "gamma: must be a number in [0, 1], got -0.1"),
    "bins": (
        lambda: expected_calibration_error([1], [1], 0),
        "bins: must be an integer >= 1, got 0",
    ),
}


@pytest.mark.parametrize(("call", "message"), BAD_CALLS.values(), ids=BAD_CALLS)
def test_bad_call(call: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value) == message


# --- No contracts ---


def hand(p: list[float], ask: list[float], bid: list[float], gamma: float) -> list[float]:
    return contract_payoffs(p, ask, gamma, bid=bid).tolist()


def test_contracts_by_hand() -> None:
    """Edges of Yes 0.8/0.8, 0.1/0.2, 0.1/0.2, of No 0.2/0.25, 0.9/0.8, 0.9/0.9: Yes, No, No."""
    p, ask, bid = [0.8, 0.1, 0.1], [0.8, 0.2, 0.2], [0.75, 0.2, 0.1]
    assert hand(p, ask, bid, 0) == pytest.approx([1 / 0.8, 0, 1 / 0.8])  # all on No of the second
    stake = np.array([0.8, 0.9, 0.9]) / 2.6  # what is believed of each contract
    yes, second, third = stake / [0.8, 0.8, 0.9]
    paid = [yes + second + third, third, second]  # a No pays if any other option wins
    assert hand(p, ask, bid, 1) == pytest.approx(paid)
    half = np.array([0.8**2 / 0.8, 0.9**2 / 0.8, 0.9**2 / 0.9])  # c (π/c)², γ = ½
    yes, second, third = half / half.sum() / [0.8, 0.8, 0.9]
    assert hand(p, ask, bid, 0.5) == pytest.approx([yes + second + third, third, second])


def test_contracts_of_equal_edges_are_yes() -> None:
    """At the market's price without a spread nothing is better than anything."""
    q = [0.3, 0.7]
    assert hand(q, q, q, 1) == pytest.approx(contract_payoffs(q, q, 1).tolist())
    assert hand(q, q, [math.nan] * 2, 0.5) == hand(q, q, q, 0.5)  # without bids: 1 - ask


def test_no_costs_what_the_bid_leaves_even_at_an_edge() -> None:
    """An ask of 1 moves no bid of .98; a No whose option has a bid of 1 is not free."""
    assert hand([0.5, 0.5], [1.0, 0.5], [0.98, 0.4], 0) == pytest.approx([0, 1 / 0.02])
    assert hand([0.5, 0.5], [1.0, 0.5], [1.0, 0.4], 0) == pytest.approx([0, 1 / 0.001])


@pytest.mark.parametrize("seed", range(5))
def test_no_bets_on_yes_and_no_have_a_larger_expected_payoff(seed: int) -> None:
    """γ = 0 by brute force: every corner of stakes on all 2n contracts, and random stakes."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    p, bid = rng.dirichlet(np.ones(n)), rng.uniform(0.05, 0.5, n)
    ask = bid + rng.uniform(0, 0.1, n)
    pays = np.hstack([np.eye(n) / ask, (1 - np.eye(n)) / (1 - bid)])  # of a dollar, by winner
    expected = p @ pays
    best = float(p @ hand(p.tolist(), ask.tolist(), bid.tolist(), 0))
    assert best == pytest.approx(expected.max())
    assert (rng.dirichlet(np.full(2 * n, 0.3), 200) @ expected <= best + 1e-12).all()


@pytest.mark.parametrize("gamma", [0.2, 0.5, 1])
def test_stakes_on_chosen_contracts_have_the_largest_utility(gamma: float) -> None:
    """By brute force over the stakes: Σ π U(a/c), π and c of the better contract of each option."""
    rng = np.random.default_rng(3)
    p, bid = rng.dirichlet(np.ones(3)), rng.uniform(0.1, 0.5, 3)
    ask = bid + 0.05
    no = (1 - p) / (1 - bid) > p / ask
    belief, price = np.where(no, 1 - p, p), np.where(no, 1 - bid, ask)
    wins = np.where(no, 1 - np.eye(3), np.eye(3))  # by winner and contract
    stake = crra_stake(belief, price, gamma)
    paid = hand(p.tolist(), ask.tolist(), bid.tolist(), gamma)
    assert paid == pytest.approx(wins @ (stake / price))
    assert no.any()
    best = utility(stake, belief, price, gamma)
    for other in rng.dirichlet(np.ones(3), 2000):
        assert utility(other, belief, price, gamma) <= best + 1e-9
