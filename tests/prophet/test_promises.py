"""No error is smaller than the forecasts promise: against all outcomes, and on boards that lack the
rare miss.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from forecasteval.common.records import Loaded
from forecasteval.prophet.estimates import CROWD
from forecasteval.prophet.evaluator import Choice, ForecastData
from forecasteval.prophet.metrics import Metric, make_metrics
from forecasteval.prophet.promises import Outcomes, OutcomeScores
from forecasteval.prophet.score_table import ForecastScores, score_forecasts, with_baselines
from prophet_data import evaluate

Row = dict[str, Any]


def yes_no(
    name: str, ps: list[float], wins: list[bool], **more: Any
) -> tuple[list[Row], list[Row]]:
    """Questions whose first option won or not, and one forecaster's probabilities of it."""
    problems = [
        {"problem_id": n, "options": ["Yes", "No"], "correct_option_idx": int(not won)}
        for n, won in enumerate(wins)
    ]
    forecasts = [
        {"problem_id": n, "username": name, "prediction": [p, 1 - p]} for n, p in enumerate(ps)
    ]
    return problems, forecasts


METRICS = ("brier", "adjusted_brier", "log", "spherical", "irt_ability")


def ranges(problems: list[Row], forecasts: list[Row]) -> dict[str, set[Any]]:
    """By forecaster the rank ranges by all metrics."""
    found = evaluate(forecasts, problems)["forecasters"]
    return {
        name: {tuple(record[f"{metric}_rank_interval"]) for metric in METRICS}
        for name, record in found.items()
    }


@pytest.mark.parametrize(
    ("bold", "shy", "misses", "count"),
    [
        (0.8, 0.6, 0, 2),
        (0.8, 0.6, 0, 5),
        (0.98, 0.92, 0, 10),
        (0.95, 0.75, 0, 12),
        (0.98, 0.92, 1, 30),
    ],
)
def test_a_sample_without_the_miss_proves_nothing(
    bold: float, shy: float, misses: int, count: int
) -> None:
    """Who is bolder on favourites is not surely better; nor who is on long shots."""
    more = np.linspace(0, 0.008, count)
    wins = [n >= misses for n in range(count)]
    for is_long_shot in (False, True):
        forecasts = []
        for name, p in (("bold", bold + more), ("shy", shy - more)):
            probabilities = 1 - p if is_long_shot else p
            outcomes = [won != is_long_shot for won in wins]
            problems, rows = yes_no(name, probabilities.tolist(), outcomes)
            forecasts += rows
        assert ranges(problems, forecasts) == {"bold": {(1, 2)}, "shy": {(1, 2)}}


def test_large_differences_both_ways_are_sure() -> None:
    wins = [n % 3 > 0 for n in range(60)]
    problems, good = yes_no("good", [0.85 if won else 0.2 for won in wins], wins)
    _, bad = yes_no("bad", [0.45 if won else 0.55 for won in wins], wins)
    assert ranges(problems, good + bad) == {"good": {(1, 1)}, "bad": {(2, 2)}}


def test_bold_and_shy_are_seldom_told_apart() -> None:
    """100 boards of ten events at a rate of .95, equal expected Brier: 57 boards by plain t."""
    rng, told = np.random.default_rng(0), 0
    for _ in range(100):
        wins = (rng.random(10) < 0.95).tolist()
        problems, bold = yes_no("bold", (0.98 + rng.uniform(-0.01, 0.01, 10)).tolist(), wins)
        _, shy = yes_no("shy", (0.92 + rng.uniform(-0.01, 0.01, 10)).tolist(), wins)
        told += ranges(problems, bold + shy)["bold"] != {(1, 2)}
    assert told <= 6


# --- Against all outcomes ---

PROBLEMS = [
    {"problem_id": 0, "options": ["a", "b", "c"], "correct_option_idx": 0, "odds": [0.5, 0.3, 0.3]},
    {
        "problem_id": 1,
        "options": ["a", "b"],
        "correct_option_idx": 1,
        "weight": 2,
        "odds": [0.9, 0.2],
    },
    {"problem_id": 2, "options": ["a", "b"], "correct_option_idx": [0, 1], "weight": 3},
]
FORECASTS = {
    "ada": [[0.7, 0.2, 0.1], [0.9, 0.1], [0.9, 0.3]],
    "bob": [[0.4, 0.4, 0.2], [0.6, 0.4], [0.5, 0.1]],
}


def board(forecasts: dict[str, list[Any]]) -> tuple[ForecastScores, dict[str, Metric]]:
    metrics = make_metrics([0.5])
    records = [
        {"problem_id": event, "username": name, "prediction": p}
        for name, predictions in forecasts.items()
        for event, p in enumerate(predictions)
        if p
    ]
    data = ForecastData("", Loaded("", PROBLEMS), [Loaded("", records)])
    events, read = data.collect(Choice("drop"))
    scored = score_forecasts(events, with_baselines(events, read), metrics)
    return scored, {metric.name: metric for metric in metrics}


def by_outcome(name: str, forecasts: dict[str, list[Any]] = FORECASTS) -> OutcomeScores:
    scored, metrics = board(forecasts)
    return Outcomes(scored).score(metrics[name])


def all_worlds(belief: list[Any]) -> list[tuple[float, list[np.ndarray]]]:
    """Every result of the three events, with its probability."""
    worlds = []
    for first, second, c, d in product(range(3), range(2), (0, 1), (0, 1)):
        p, q = belief[2]
        chance = belief[0][first] * belief[1][second] * (p if c else 1 - p) * (q if d else 1 - q)
        worlds.append((chance, [np.eye(3)[first], np.eye(2)[second], np.array([c, d])]))
    return worlds


def variance(worlds: list[tuple[float, float]]) -> float:
    mean = sum(chance * value for chance, value in worlds)
    return sum(chance * (value - mean) ** 2 for chance, value in worlds)


def mean_brier(predictions: list[Any], results: list[np.ndarray], weights: list[float]) -> float:
    scores = [np.mean((np.array(p) - o) ** 2) for p, o in zip(predictions, results, strict=True)]
    return float(np.average(scores, weights=weights))


def test_promised_variance_of_a_difference_is_that_over_all_outcomes() -> None:
    ada, bob = FORECASTS.values()
    middle = [(np.array(a) + np.array(b)) / 2 for a, b in zip(ada, bob, strict=True)]
    weights = [1, 2, 3]
    expected = variance(
        [
            (chance, mean_brier(ada, results, weights) - mean_brier(bob, results, weights))
            for chance, results in all_worlds(middle)
        ]
    )
    for promise in (by_outcome("brier").promise(), by_outcome("brier").promise_adjusted()):
        pairs = promise.pair_variances(np.arange(2))
        assert pairs == pytest.approx(np.array([[0, expected], [expected, 0]]), abs=1e-15)


def test_promised_variance_of_a_mean_is_that_at_the_mean_with_the_crowd() -> None:
    ada, bob = FORECASTS.values()
    crowd = [(np.array(a) + np.array(b)) / 2 for a, b in zip(ada, bob, strict=True)]
    for at, own in enumerate((ada, bob)):
        belief = [(np.array(p) + c) / 2 for p, c in zip(own, crowd, strict=True)]
        worlds = [
            (chance, mean_brier(own, results, [1, 2, 3])) for chance, results in all_worlds(belief)
        ]
        for promise in (by_outcome("brier").promise(), by_outcome("brier").promise_adjusted()):
            assert promise.variances(CROWD)[at] == pytest.approx(variance(worlds))


@pytest.mark.parametrize("metric", ["log", "spherical"])
def test_promised_variance_of_other_scores(metric: str) -> None:
    """Of exclusive events only; a little above the variance, since the mean is taken for 0."""

    def score(p: np.ndarray, option: int) -> float:
        return float(np.log(p[option]) if metric == "log" else p[option] / np.linalg.norm(p))

    squares = variance_sum = 0.0
    for event, weight in ((0, 1 / 3), (1, 2 / 3)):
        a, b = (np.array(predictions[event]) for predictions in FORECASTS.values())
        gaps = [
            (float(chance), weight * (score(a, option) - score(b, option)))
            for option, chance in enumerate((a + b) / 2)
        ]
        squares += sum(chance * gap**2 for chance, gap in gaps)
        variance_sum += variance(gaps)
    found = by_outcome(metric).promise().pair_variances(np.arange(2))[0, 1]
    assert found == pytest.approx(squares)
    assert variance_sum <= found <= 1.1 * variance_sum


def test_who_lacks_an_event_is_judged_by_the_crowd() -> None:
    """bob without event 1: ada's score there varies at the mean of her belief and the crowd's,
    which is hers alone.
    """
    less = {**FORECASTS, "bob": [FORECASTS["bob"][0], None, FORECASTS["bob"][2]]}
    promise = by_outcome("brier", less).promise()
    whole = promise.pair_variances(np.arange(2))[0, 1]
    alone = promise.gain[3:5, 0]
    assert promise.gain[3:5, 1].tolist() == [0, 0]
    assert promise.belief[3:5, 0] == pytest.approx(promise.belief[3:5, 1])
    assert whole > (promise.belief[3:5, 0] * alone**2).sum()


def test_series_keep_a_rank_uncertain() -> None:
    """The same events ten times over, as ten of one series each, are no more evidence."""
    wins, told = [True] * 30 + [False] * 2, []
    for copies in (1, 10):
        forecasts, problems = [], []
        for copy in range(copies):
            for n, won in enumerate(wins):
                name = f"{n}-{copy}"
                problems.append(
                    {
                        "problem_id": name,
                        "options": ["Yes", "No"],
                        "correct_option_idx": int(not won),
                        "series": f"s{n}",
                    }
                )
                for who, p in (("bold", 0.93 + n / 1000), ("shy", 0.8 - n / 1000)):
                    row = {"problem_id": name, "username": who, "prediction": [p, 1 - p]}
                    forecasts.append(row)
        record = evaluate(forecasts, problems)["forecasters"]["bold"]
        told.append((record["brier_rank_interval"], record["brier_se"]))
    assert told[0][0] == told[1][0] == [1, 2]
    assert told[0][1] == pytest.approx(told[1][1], rel=0.02)  # 32 clusters, or 320 events
