"""The same numbers as pm_rank 0.3.1 on the sample, and where they are not meant to be the same.

Events are the exclusive ones, forecasts the last in time with the sum 1: pm_rank counts all of
several forecasts, and leaves lateness and other sums to its users. Its item response theory needs
pyro and is left out.
"""

from __future__ import annotations

import logging
from functools import cache
from typing import Any

import numpy as np
import pytest

from prophet_data import SAMPLE, Row, bradley_terry, evaluate

pytestmark = pytest.mark.extra("pm_rank", "pydantic")
LAST = "2025-01-01T00:00:00Z"


@cache
def sample() -> tuple[list[Row], list[Row]]:
    problems = {
        row["problem_id"]: row
        for row in SAMPLE[0]
        if row.get("exclusive", True) and isinstance(row["correct_answer"], str)
    }
    last: dict[tuple[str, str], Row] = {}
    for row in sorted(SAMPLE[1], key=lambda row: row["timestamp"]):
        problem = problems.get(row["problem_id"])
        if problem and row["timestamp"] <= problem["end_date"]:
            total = sum(row["prediction"])
            whole = {**row, "prediction": [p / total for p in row["prediction"]]}
            last[row["problem_id"], row["username"]] = whole
    return list(problems.values()), list(last.values())


@cache
def ours(contracts: str = "yes") -> dict[str, Row]:
    problems, forecasts = sample()
    priced = [{**row, "odds": prices(row)[0], "bids": prices(row)[1]} for row in problems]
    rows = [{**row, "odds": None, "bids": None} for row in forecasts]
    return dict(evaluate(rows, priced, contracts=contracts)["forecasters"])


@cache
def quotes() -> dict[str, tuple[list[float], list[float]]]:
    return {row["problem_id"]: (row["odds"], row["bids"]) for row in sample()[1]}


def prices(problem: Row) -> tuple[list[float], list[float]]:
    """One asking and one bid price for all forecasts of an event: of whoever came last."""
    return quotes()[problem["problem_id"]]


@cache
def theirs() -> list[Any]:
    from pm_rank.data.base import ForecastEvent, ForecastProblem

    logging.disable(logging.INFO)
    problems, forecasts = sample()
    made = []
    for problem in problems:
        ask, bid = prices(problem)
        rows = [row for row in forecasts if row["problem_id"] == problem["problem_id"]]
        events = [
            ForecastEvent(
                forecast_id=row["username"],
                problem_id=problem["problem_id"],
                username=row["username"],
                timestamp=row["timestamp"],
                probs=row["prediction"],
                odds=ask,
                no_odds=[1 - price for price in bid],
            )
            for row in rows
        ]
        made.append(
            ForecastProblem(
                title=problem["title"],
                problem_id=problem["problem_id"],
                options=problem["options"],
                correct_option_idx=[problem["options"].index(problem["correct_answer"])],
                forecasts=events,
                end_time=problem["end_date"],
                num_forecasters=len(events),
            )
        )
    return made


def returns(gamma: float, function: str, **options: Any) -> dict[str, float]:
    """Their average returns by one of the three functions that a model may run."""
    from pm_rank.model.average_return import AverageReturn

    model = AverageReturn(risk_aversion=gamma, **options)
    model.process_problem_fn = getattr(model, function)
    return dict(model.fit(theirs())[0])


def column(key: str, contracts: str = "yes") -> dict[str, float]:
    return {name: row[key] for name, row in ours(contracts).items()}


def test_brier_is_one_minus_theirs() -> None:
    """Theirs is 1 - Brier, so that larger is better."""
    from pm_rank.model.scoring_rule import BrierScoringRule

    scores, ranks = BrierScoringRule().fit(theirs())
    assert {name: 1 - value for name, value in scores.items()} == pytest.approx(column("brier"))
    assert ranks == column("brier_rank")


@pytest.mark.parametrize("metric", ["log", "spherical"])
def test_other_scores(metric: str) -> None:
    from pm_rank.model import scoring_rule

    rule = {"log": "LogScoringRule", "spherical": "SphericalScoringRule"}[metric]
    scores = {
        name: np.ravel(value)[0]
        for name, value in getattr(scoring_rule, rule)().fit(theirs())[0].items()
    }
    assert scores == pytest.approx(column(metric))


@pytest.mark.parametrize("gamma", [0.5, 1])
def test_returns_of_yes_contracts(gamma: float) -> None:
    """By a function of theirs that no option runs."""
    assert returns(gamma, "_process_problem") == pytest.approx(column(f"return_{gamma}"))


def test_returns_of_yes_contracts_at_risk_neutrality() -> None:
    """Of several options with the largest p/q their first takes all; here they share, as γ → 0."""
    found = returns(0, "_process_problem")
    apart = [name for name, value in column("return_0").items() if abs(found[name] - value) > 1e-9]
    assert found == pytest.approx(column("return_0"), abs=0.05)
    assert set(apart) <= {"desk-analyst", "coin-and-dice", "first-impression", "weekend-club"}


def test_returns_of_both_contracts() -> None:
    """Their default, `use_binary_reduction`."""
    found = returns(0.5, "_process_problem_with_binary_reduction")
    assert found == pytest.approx(column("return_0.5", "both"))


def test_log_bets_on_both_contracts_are_no_dollar_there() -> None:
    """Their stakes at γ = 1 are the probabilities of the contracts, whose sum is not 1 any more."""
    with pytest.raises(AssertionError):
        returns(1, "_process_problem_with_binary_reduction")
    assert all(value > 0 for value in column("return_1", "both").values())


def test_no_binary_reduction_is_another_function() -> None:
    """It bets a part of the dollar on each option alone, Yes or No."""
    from pm_rank.model.average_return import AverageReturn

    model = AverageReturn(risk_aversion=0.5, use_binary_reduction=False)
    assert model.process_problem_fn == model._process_problem_market_level
    found = returns(0.5, "_process_problem_market_level")
    assert max(abs(found[name] - value) for name, value in column("return_0.5").items()) > 0.1


def test_sharpe_ratio() -> None:
    """Theirs divides by the deviation + 1e-8."""
    from pm_rank.model.average_return import AverageReturn

    model = AverageReturn(risk_aversion=0.5)
    model.process_problem_fn = model._process_problem
    scores, _ = model.fit(theirs(), sharpe_mode="marginal")
    assert scores == pytest.approx(column("return_0.5_sharpe"), rel=1e-6)


def test_bradley_terry_without_prior() -> None:
    """The same model: their 100 steps stop earlier, and by default ours has a prior."""
    from pm_rank.model.bradley_terry import GeneralizedBT

    problems = theirs()[:60]
    names = sorted({row.username for problem in problems for row in problem.forecasts})
    table = np.full((len(problems), len(names)), np.nan)
    for at, problem in enumerate(problems):
        for row in problem.forecasts:
            table[at, names.index(row.username)] = row.probs[problem.correct_option_idx[0]]

    def likelihood(skills: dict[str, float]) -> float:
        theta = np.array([skills[name] for name in names])
        present = ~np.isnan(table)
        return float(np.log((np.nan_to_num(table) @ theta) / (present @ theta)).sum())

    short, long = (
        GeneralizedBT(num_iter=steps, threshold=0).fit(problems)[0] for steps in (100, 1500)
    )
    fit = bradley_terry(table, prior=0)
    assert likelihood(short) < likelihood(long) <= fit.log_likelihood + 1e-9
    assert likelihood(long) == pytest.approx(fit.log_likelihood, abs=0.05)
    assert [long[name] for name in names] == pytest.approx(fit.strength, abs=0.2)


def test_calibration_error() -> None:
    """Bins differ where a probability lies on an edge (theirs of 0.3 is 0.30000000000000004), and
    the default of theirs demands weights that it does not make.
    """
    from pm_rank.model.calibration import CalibrationMetric

    with pytest.raises(AssertionError):
        CalibrationMetric().fit(theirs())
    scores, _ = CalibrationMetric(weight_event=False).fit(theirs())
    assert scores == pytest.approx(column("ece"), abs=0.003)
