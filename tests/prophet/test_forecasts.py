"""Forecasts that cannot be used, odd ones, and several of one forecaster."""

from __future__ import annotations

import math
from typing import Any, Final

import pytest

from forecasteval.common.records import Record
from prophet_data import GOOD, GOOD_PROBLEM, Row, evaluate

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
    "no name": ({"username": ""}, "no id of an event or no name of a forecaster"),
}


@pytest.mark.parametrize(("change", "reason"), BAD_FORECASTS.values())
def test_bad_forecast(change: Row, reason: str) -> None:
    """Left out and counted; the others keep their scores."""
    results = evaluate([*GOOD, {**GOOD[0], "username": "eve", **change}], [GOOD_PROBLEM])
    (entry,) = results["excluded"]
    assert (entry["what"], entry["reason"], entry["count"]) == ("forecast", reason, 1)
    assert set(results["forecasters"]) == {"ada", "bob"}


def test_field_that_is_given_twice() -> None:
    """Only where it is one that counts."""
    row = {**GOOD[0], "username": "eve"}
    results = evaluate([*GOOD, Record(row, ["prediction"])], [GOOD_PROBLEM])
    assert [entry["reason"] for entry in results["excluded"]] == ["a field is given twice"]
    assert evaluate([*GOOD, Record(row, ["comment"])], [GOOD_PROBLEM])["excluded"] == []


@pytest.mark.parametrize("key", ["\0unusable", "\0duplicate keys", "\0odd"])
def test_no_key_of_a_record_has_power(key: str) -> None:
    rows = [{**row, key: ["prediction"]} for row in GOOD]
    assert evaluate(rows, [{**GOOD_PROBLEM, key: ["options"]}])["n_forecasts"] == 2


NO_TIME: Final = "timestamp that is not an ISO 8601 time, treated as unknown: 1 (ada on 1)"
WARNINGS: Final = {
    "no time": ({"timestamp": "soon"}, NO_TIME),
    "no number": ({"timestamp": 5}, NO_TIME),
    "no day": ({"timestamp": "2025-02-30T00:00:00Z"}, NO_TIME),
    "no zone": (
        {"timestamp": "2025-06-30T00:00:00"},
        "timestamp without time zone, read as UTC: 1 (ada on 1)",
    ),
    "weight": ({"weight": 3}, "weight that is not its event's, ignored: 1 (ada on 1)"),
    "weight huge": ({"weight": 1e308}, "weight that is not its event's, ignored: 1 (ada on 1)"),
    "weight nan": ({"weight": math.nan}, "weight that is not its event's, ignored: 1 (ada on 1)"),
    "odds alone": (
        {"odds": [0.5, 0.6]},
        "odds that no other forecaster confirms, not used: no price, no return: 1 (ada on 1)",
    ),
    "odds zero": (
        {"odds": [0, 1]},
        "odds are not a number in (0, 1] for every option, not used: 1 (ada on 1)",
    ),
    "odds above": (
        {"odds": [1.2, 0.5]},
        "odds are not a number in (0, 1] for every option, not used: 1 (ada on 1)",
    ),
}


@pytest.mark.parametrize(("change", "warning"), WARNINGS.values())
def test_warning(change: Row, warning: str) -> None:
    results = evaluate([{**GOOD[0], **change}, GOOD[1]], [{**GOOD_PROBLEM, "end_date": None}])
    assert results["warnings"] == [warning]
    assert results["n_forecasts"] == 2


@pytest.mark.parametrize("bids", [[0.5, None], [0.5], "x", [0.9, 0.9], [0.5, math.nan]])
def test_bids_that_make_no_market_are_counted(bids: Any) -> None:
    problem = {"problem_id": 1, "options": ["a", "b"], "correct_answer": "a"}
    rows = [
        {
            "problem_id": 1,
            "username": "ada",
            "prediction": [0.5, 0.5],
            "odds": [0.6, 0.5],
            "bids": bids,
        }
    ]
    results = evaluate(rows, [problem])
    assert any(
        warning.startswith("bids are not a number in [0, odds]") for warning in results["warnings"]
    )
    assert results["baselines"]["market"]["brier"] == pytest.approx((5 / 11) ** 2)


def test_same_time_repeats_do_not_depend_on_order() -> None:
    problems = [{"problem_id": 1, "options": ["A", "B"], "correct_answer": "A"}]
    rows = [
        {"problem_id": 1, "username": "ada", "prediction": [p, 1 - p], "weight": w, "odds": q}
        for p, w, q in [
            (0.1, 1, [0.3, 0.7]),
            (0.2, 2, None),
            (0.7, 0.3, [0.1, 0.2]),
            (0.1, 1, [0.31, 0.7]),
        ]
    ]
    rows.append({**rows[0], "timestamp": "2025-01-02T00:00:00Z"})
    rows.append({**rows[2], "timestamp": "2025-01-02T00:00:00Z"})
    found = [evaluate(order, problems) for order in (rows, rows[::-1], [*rows[2:], *rows[:2]])]
    assert found[0]["forecasters"]["ada"]["brier"] == pytest.approx(
        0.81
    )  # 0.1, of the larger weight
    assert [(entry["reason"], entry["count"]) for entry in found[0]["excluded"]] == [
        ("a later one of its forecaster counts", 4),
        ("one of the same time counts", 1),
    ]
    assert found[0] == found[1] == found[2]
