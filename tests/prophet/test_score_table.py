"""Scores of many forecasts at once, and of the market and the crowd."""

from __future__ import annotations

import pytest

from prophet_data import GOOD_PROBLEM, evaluate


def test_weights_count_in_the_crowd() -> None:
    problems = [
        {
            **GOOD_PROBLEM,
            "problem_id": n,
            "options": ["a", "b"],
            "correct_answer": "a",
            "weight": weight,
        }
        for n, weight in ((1, 9), (2, 1))
    ]
    rows = [
        {"problem_id": 1, "username": "ada", "prediction": [0.9, 0.1]},
        {"problem_id": 2, "username": "ada", "prediction": [0.1, 0.9]},
    ]
    results = evaluate(rows, problems)
    assert results["forecasters"]["ada"]["brier"] == pytest.approx(0.9 * 0.01 + 0.1 * 0.81)
    assert results["baselines"]["crowd"]["brier"] == pytest.approx(
        results["forecasters"]["ada"]["brier"]
    )


@pytest.mark.parametrize("gamma", [0, 0.5, 1])
def test_market_earns_the_same_at_every_gamma_with_prices_out_of_range(gamma: float) -> None:
    problem = {"problem_id": 1, "options": ["a", "b"], "correct_answer": "a"}
    rows = [{"problem_id": 1, "username": "ada", "prediction": [0.5, 0.5], "odds": [0.001, 0.999]}]
    results = evaluate(rows, [problem], gammas=(gamma,))
    assert results["baselines"]["market"][f"return_{gamma}"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("p", "off"), [([0.5, 0.499], 0), ([0.334, 0.333, 0.334], 0), ([0.5, 0.498], 1)]
)
def test_sums_within_a_thousandth_are_used_as_they_are(p: list[float], off: int) -> None:
    problem = {"problem_id": 1, "options": list("abc"[: len(p)]), "correct_answer": "a"}
    results = evaluate([{"problem_id": 1, "username": "ada", "prediction": p}], [problem])
    assert sum("do not sum to 1" in warning for warning in results["warnings"]) == off
