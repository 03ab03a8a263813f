"""Intervals of returns: Wilson's with the market's variance, and how often they cover."""

from __future__ import annotations

import numpy as np
import pytest

import prophet_games as games
from forecasteval.prophet.estimates import score_interval
from forecasteval.prophet.evaluator import ProphetArenaEvaluator
from forecasteval.prophet.scores import crra_stake


def test_covers_rare_wins() -> None:
    """A win of 10 in one event of ten at fair prices: 30 events; the bootstrap covers .8 of
    these.
    """
    rng, hits = np.random.default_rng(2), 0
    for _ in range(200):
        paid = 10.0 * (rng.random(30) < 0.1)
        slope = max(9.0 / 30, paid.var(ddof=1) / 30 / max(paid.mean(), 1.0))
        low, high = score_interval(*np.array([[paid.mean()], [paid.mean()], [slope], [29]]))
        hits += low[0] <= 1 <= high[0]
    assert hits >= 186


def test_ends_are_as_far_as_their_own_errors() -> None:
    """At both ends the payoff seen is t errors of that end away; differences move by as much."""
    paid, slope = np.array([0.8]), np.array([0.05])
    low, high = score_interval(paid, paid, slope, np.array([1e9]))
    for end in (low, high):
        assert abs(paid - end) == pytest.approx(1.959964 * np.sqrt(slope * end), rel=1e-5)
    moved = score_interval(paid - 1, paid, slope, np.array([1e9]))
    assert np.ravel(moved) == pytest.approx(np.ravel([low - 1, high - 1]))


def test_intervals_of_a_board() -> None:
    """A return's interval is made of the player's bets, its difference to the market's of both
    bets, by weight.
    """
    problems, forecasts = games.draw(4, events=20)
    problems = [{**row, "weight": 1 + row["problem_id"] % 3} for row in problems]
    board = ProphetArenaEvaluator(gammas=[0.5]).evaluate_all(forecasts, problems)
    record = board["forecasters"][games.PLAYER]
    weights = {row["problem_id"]: row["weight"] for row in problems}
    total = sum(weights.values())
    expected, variance = 0.0, {"": 0.0, "market": 0.0}
    for row in (row for row in forecasts if row["username"] == games.PLAYER):
        q, weight = np.array(row["odds"]), weights[row["problem_id"]] / total
        own, market = (
            crra_stake(p / p.sum(), q, 0.5) / q for p in (np.array(row["prediction"]), q)
        )
        prices = q / q.sum()
        expected += weight * prices @ own
        for base, pay in ("", own), ("market", own - market):
            variance[base] += weight**2 * (prices @ pay**2 - (prices @ pay) ** 2)
    difference = record["against"]["market"]["return_0.5"]
    mean, error = record["return_0.5"], record["return_0.5_se"]
    slope = max(variance[""] / expected, error**2 / max(mean, expected))
    low, high = record["return_0.5_interval"]
    assert low + high - 2 * mean == pytest.approx((high - mean) * (mean - low) / mean)
    assert (high - mean) ** 2 / high / slope == pytest.approx((mean - low) ** 2 / low / slope)
    assert (high - mean) ** 2 / high / slope > 1.96**2
    low, high = difference["interval"]
    assert (high - difference["difference"]) ** 2 >= 1.96**2 * variance["market"] / expected
