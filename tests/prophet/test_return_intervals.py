"""Intervals of returns against exact binomial ones, and how often they cover."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import games
from forecasteval.prophet.evaluator import ProphetArenaEvaluator
from forecasteval.prophet.return_intervals import tilted_interval
from forecasteval.prophet.scores import crra_stake


def same_bets(events: int, price: float) -> tuple[list[float], list[float], list[int]]:
    """One dollar on the option at `price` in every event."""
    return [0.0, 1 / price] * events, [1 - price, price] * events, list(range(0, 2 * events + 1, 2))


@pytest.mark.parametrize(
    ("wins", "exact"), [(0, True), (40, True), (4, False), (8, False), (30, False)]
)
def test_equal_bets_are_a_binomial(wins: int, exact: bool) -> None:
    """Where all or none are won the interval is that of Clopper and Pearson, else between it and
    the mid-p one.
    """
    pay, prices, offsets = same_bets(40, 0.2)
    low, high = (end * 0.2 for end in tilted_interval(pay, prices, offsets, wins / 40 / 0.2))
    widest = stats.binomtest(wins, 40).proportion_ci(0.95, "exact")
    if exact:
        assert (low, high) == pytest.approx((widest.low, widest.high), abs=1e-6)
    assert widest.low - 1e-6 <= low <= wins / 40 <= high <= widest.high + 1e-6
    if not exact:
        for tail, end in (
            (stats.binom.sf(wins - 1, 40, low), low),
            (stats.binom.cdf(wins, 40, high), high),
        ):
            assert 0.025 < tail < 0.06, end


def test_what_no_outcome_changes_is_a_point() -> None:
    assert tilted_interval([1, 1], [0.4, 0.6], [0, 2], 1.0) == (1.0, 1.0)


def test_takes_numbers_of_numpy() -> None:
    bets = same_bets(10, 0.2)
    assert tilted_interval(*bets, np.float64(1.5)) == tilted_interval(*bets, 1.5)


def test_covers_rare_wins() -> None:
    """A win of 10 in one event of ten at fair prices: 30 events; the bootstrap covers .8 of
    these.
    """
    rng, hits = np.random.default_rng(2), 0
    pay, prices, offsets = same_bets(30, 0.1)
    for _ in range(200):
        low, high = tilted_interval(pay, prices, offsets, 10 * float((rng.random(30) < 0.1).mean()))
        hits += low <= 1 <= high
    assert hits >= 185


def test_intervals_of_a_board() -> None:
    """A return's interval is that of the player's bets, its difference to the market's that of both
    bets, by weight.
    """
    problems, forecasts = games.draw(4, events=20)
    problems = [{**row, "weight": 1 + row["problem_id"] % 3} for row in problems]
    board = ProphetArenaEvaluator(gammas=[0.5]).evaluate_all(forecasts, problems)
    bets, apart, prices, weights, offsets = [], [], [], [], [0]
    for row in (row for row in forecasts if row["username"] == games.PLAYER):
        q = np.array(row["odds"])
        own, market = (
            crra_stake(p / p.sum(), q, 0.5) / q for p in (np.array(row["prediction"]), q)
        )
        bets.append(own * row["weight"])
        apart.append((own - market) * row["weight"])
        prices.append(q / q.sum())
        weights.append(row["weight"])
        offsets.append(offsets[-1] + len(q))
    record = board["forecasters"][games.PLAYER]
    difference = record["against"]["market"]["return_0.5"]
    seen = (
        (record["return_0.5"], record["return_0.5_interval"]),
        (difference["difference"], difference["interval"]),
    )
    for pay, (mean, interval) in zip((bets, apart), seen, strict=True):
        scaled = np.concatenate(pay) / np.mean(weights)
        assert interval == pytest.approx(
            tilted_interval(scaled, np.concatenate(prices), offsets, mean)
        )
