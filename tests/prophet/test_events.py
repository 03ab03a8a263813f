"""Problems that cannot be used, and odd ones."""

from __future__ import annotations

from typing import Final

import pytest

from forecasteval.common.errors import InputError
from prophet_data import GOOD, GOOD_PROBLEM, Row, evaluate

BAD_PROBLEMS: Final = {
    "no options": ({"options": []}, "'options' must be a list of names"),
    "options no list": ({"options": "AB"}, "'options' must be a list of names"),
    "option twice": ({"options": ["A", "A"]}, "an option is listed twice"),
    "option as number": ({"options": ["7", 7]}, "an option is listed twice"),
    "winner unlisted": ({"correct_answer": "C"}, "a winner is not among the options"),
    "one winner unlisted": ({"correct_answer": ["A", "C"]}, "a winner is not among the options"),
    "index out of range": (
        {"correct_answer": None, "correct_option_idx": 2},
        "'correct_option_idx' is the number of options: it counts from 0",
    ),
    "negative index": (
        {"correct_answer": None, "correct_option_idx": -1},
        "a winner is not among the options",
    ),
    "disagree": ({"correct_option_idx": 1}, "'correct_answer' and 'correct_option_idx' disagree"),
    "exclusive": ({"exclusive": "no"}, "'exclusive' must be true or false"),
    "used twice": ({"problem_id": 1}, "problem id used more than once"),
    "nobody": ({}, "no forecast that counts"),
}


@pytest.mark.parametrize(("change", "reason"), BAD_PROBLEMS.values(), ids=BAD_PROBLEMS)
def test_bad_problem(change: Row, reason: str) -> None:
    other = {**GOOD_PROBLEM, "problem_id": 2}
    rows = [{**row, "problem_id": 2} for row in GOOD]
    bad = {**GOOD_PROBLEM, "problem_id": 3, **change}
    results = evaluate(
        rows, [other, bad] if reason != "problem id used more than once" else [other, bad, bad]
    )
    (entry,) = results["excluded"]
    count = 2 if reason == "problem id used more than once" else 1
    assert (entry["what"], entry["reason"], entry["count"]) == ("event", reason, count)
    assert entry["names"] == [str(bad["problem_id"])] * count
    assert results["n_events"] == 1


def test_an_index_that_counts_from_1_is_refused_and_the_advice_works() -> None:
    """All but the last options would win in the place of the one before them, in silence."""
    problems = [
        {"problem_id": n, "options": ["A", "B", "C"], "correct_option_idx": n % 3 + 1}
        for n in range(6)
    ]
    rows = [{**GOOD[0], "problem_id": n, "prediction": [0.2, 0.3, 0.5]} for n in range(6)]
    with pytest.raises(InputError, match="count from 0: subtract 1, got as many"):
        evaluate(rows, problems)
    for problem in problems:
        problem["correct_option_idx"] -= 1
    assert evaluate(rows, problems)["n_events"] == 6


@pytest.mark.parametrize("date", ["9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+12:00"])
def test_times_beyond_the_calendar_are_unknown(date: str) -> None:
    results = evaluate(
        [{**row, "odds": [0.5, 0.5]} for row in GOOD], [{**GOOD_PROBLEM, "end_date": date}]
    )
    assert any("closing time that is no time" in warning for warning in results["warnings"])
