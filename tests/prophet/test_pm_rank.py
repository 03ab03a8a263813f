"""The same numbers as pm_rank 0.3.1 on the sample and on a board full of ties, and where they are
not meant to be the same.

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


BOARDS = ("sample", "ties")
Board = tuple[list[Row], list[Row]]


@cache
def records(board: str) -> Board:
    return sample() if board == "sample" else ties()


def sample() -> Board:
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


def ties() -> Board:
    """Draw forecasts in eighths by twins, and prices in eighths: scores, p/q and ranks tie."""
    rng, problems, forecasts = np.random.default_rng(3), [], []
    for event in range(60):
        options = list("abcd")[: int(rng.integers(2, 5))]
        problem: Row = {"problem_id": f"e{event}", "title": "Who?", "options": options}
        problem |= {"correct_answer": str(rng.choice(options)), "end_date": LAST}
        problems.append(problem)
        ask = 1 / 16 + eighths(rng, len(options)) * (1 - len(options) / 16)
        quote = {"odds": ask.tolist(), "bids": (ask / 2).tolist()}
        for twin in range(4):
            p = eighths(rng, len(options)).tolist()
            for name in (f"f{twin}", f"g{twin}"):
                row = {"problem_id": f"e{event}", "username": name, "timestamp": LAST}
                forecasts.append({**row, "prediction": p, **quote})
    return problems, forecasts


def eighths(rng: np.random.Generator, count: int) -> Any:
    return rng.multinomial(8, np.ones(count) / count) / 8


@cache
def ours(contracts: str = "yes", board: str = "sample") -> dict[str, Row]:
    problems, forecasts = records(board)
    quotes = {row["problem_id"]: (row["odds"], row["bids"]) for row in forecasts}
    priced = []
    for row in problems:  # they clip prices, which here count as they are given
        odds, bids = (np.clip(price, 0.005, 0.995).tolist() for price in quotes[row["problem_id"]])
        priced.append({**row, "odds": odds, "bids": bids})
    rows = [{**row, "odds": None, "bids": None} for row in forecasts]
    return dict(evaluate(rows, priced, contracts=contracts)["forecasters"])


@cache
def theirs(board: str = "sample") -> list[Any]:
    from pm_rank.data.base import ForecastEvent, ForecastProblem

    logging.disable(logging.INFO)
    problems, forecasts = records(board)
    quotes = {row["problem_id"]: (row["odds"], row["bids"]) for row in forecasts}
    made = []
    for problem in problems:
        ask, bid = quotes[problem["problem_id"]]  # of whoever came last
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


def returns(gamma: float, function: str, board: str = "sample") -> dict[str, float]:
    """Their average returns by one of the three functions that a model may run."""
    from pm_rank.model.average_return import AverageReturn

    model = AverageReturn(risk_aversion=gamma)
    model.process_problem_fn = getattr(model, function)
    return dict(model.fit(theirs(board))[0])


def column(key: str, contracts: str = "yes", board: str = "sample") -> dict[str, float]:
    return {name: row[key] for name, row in ours(contracts, board).items()}


@pytest.mark.parametrize("board", BOARDS)
def test_brier_is_one_minus_theirs(board: str) -> None:
    """Theirs is 1 - Brier, so that larger is better; of equal scores each has a rank of its own."""
    from pm_rank.model.scoring_rule import BrierScoringRule

    scores, ranks = BrierScoringRule().fit(theirs(board))
    own = column("brier", board=board)
    assert {name: 1 - value for name, value in scores.items()} == pytest.approx(own)
    shared = {
        name: min(ranks[other] for other in own if own[other] == pytest.approx(own[name]))
        for name in own
    }
    assert shared == column("brier_rank", board=board)
    assert (shared == ranks) == (board == "sample")


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("metric", ["log", "spherical"])
def test_other_scores(metric: str, board: str) -> None:
    from pm_rank.model import scoring_rule

    rule = {"log": "LogScoringRule", "spherical": "SphericalScoringRule"}[metric]
    scores = {
        name: np.ravel(value)[0]
        for name, value in getattr(scoring_rule, rule)().fit(theirs(board))[0].items()
    }
    assert scores == pytest.approx(column(metric, board=board))


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("gamma", [0.5, 1])
def test_returns_of_yes_contracts(gamma: float, board: str) -> None:
    """By a function of theirs that no option runs."""
    found = returns(gamma, "_process_problem", board)
    assert found == pytest.approx(column(f"return_{gamma}", board=board))


def test_returns_of_yes_contracts_at_risk_neutrality() -> None:
    """Of several options with the largest p/q their first takes all; here they share, as γ → 0."""
    found = returns(0, "_process_problem")
    apart = [name for name, value in column("return_0").items() if abs(found[name] - value) > 1e-9]
    assert found == pytest.approx(column("return_0"), abs=0.05)
    assert set(apart) <= {"desk-analyst", "coin-and-dice", "first-impression", "weekend-club"}


@pytest.mark.parametrize("board", BOARDS)
def test_returns_of_both_contracts(board: str) -> None:
    """Their default, `use_binary_reduction`."""
    found = returns(0.5, "_process_problem_with_binary_reduction", board)
    assert found == pytest.approx(column("return_0.5", "both", board))


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
