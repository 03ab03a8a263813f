"""Forecasts that cannot be used, odd ones, and several of one forecaster."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import pytest

from forecasteval.common.errors import InputError, printable
from forecasteval.common.records import Loaded, Record
from forecasteval.prophet.evaluator import ForecastData, ProphetArenaEvaluator
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
    "no name": (
        {"username": ""},
        "no id of an event ('problem_id') or no name of a forecaster ('username')",
    ),
}


@pytest.mark.parametrize(("change", "reason"), BAD_FORECASTS.values(), ids=BAD_FORECASTS)
def test_bad_forecast(change: Row, reason: str) -> None:
    """Left out and counted; the others keep their scores."""
    results = evaluate([*GOOD, {**GOOD[0], "username": "eve", **change}], [GOOD_PROBLEM])
    (entry,) = results["excluded"]
    assert (entry["what"], entry["reason"], entry["count"]) == ("forecast", reason, 1)
    assert set(results["forecasters"]) == {"ada", "bob"}


def test_probabilities_by_name() -> None:
    """In any order; not where one is missing or of no option."""
    given = [{"B": 0.25, "A": 0.75}, {"A": 0.75}, {"A": 0.75, "C": 0.25}]
    rows = [{**GOOD[0], "username": f"f{n}", "prediction": p} for n, p in enumerate(given)]
    results = evaluate([*GOOD, *rows], [GOOD_PROBLEM])
    assert results["forecasters"]["f0"]["brier"] == 0.0625
    (entry,) = results["excluded"]
    assert entry["reason"] == "expected a probability for every option"
    assert entry["names"] == ["f1 on 1", "f2 on 1"]


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


WARNINGS: Final = {
    "no zone": (
        {"timestamp": "2025-06-30T00:00:00"},
        "timestamp without time zone, read as UTC: 1 (ada on 1)",
    ),
    "weight": ({"weight": 3}, "weight of a forecast, ignored: events have weights: 1 (ada on 1)"),
    "odds zero": (
        {"odds": [0, 1]},
        "odds are not a number in (0, 1] for every option, not used: 1 (ada on 1)",
    ),
    "odds above": (
        {"odds": [1.2, 0.5]},
        "odds are not a number in (0, 1] for every option, not used: 1 (ada on 1)",
    ),
}


@pytest.mark.parametrize(("change", "warning"), WARNINGS.values(), ids=WARNINGS)
def test_warning(change: Row, warning: str) -> None:
    results = evaluate([{**GOOD[0], **change}, GOOD[1]], [{**GOOD_PROBLEM, "end_date": None}])
    assert results["warnings"] == [warning]
    assert results["n_forecasts"] == 2


UNREADABLE: Final = {
    "no time": ("soon", "write it as 2025-01-31T18:00:00Z"),
    "a number": (5, "write it as 2025-01-31T18:00:00Z"),
    "no day": ("2025-02-30T00:00:00Z", "write it as 2025-01-31T18:00:00Z"),
    "two readings": ("02/01/2025 10:00", "it has two readings, write 2025-02-01 or 2025-01-02"),
}


@pytest.mark.parametrize(("time", "advice"), UNREADABLE.values(), ids=UNREADABLE)
def test_a_forecast_whose_time_cannot_be_read_is_left_out(time: object, advice: str) -> None:
    """With what to write; an earlier one of the same event counts in its place."""
    problems = [{**GOOD_PROBLEM, "problem_id": number} for number in range(4)]
    known = [
        {**row, "problem_id": number, "timestamp": "2025-06-01T00:00:00Z"}
        for number in range(4)
        for row in GOOD
    ]
    changed = {**known[0], "prediction": [1, 0], "timestamp": time}
    for rows, events in ((known[1:], 3), (known, 4)):
        results = evaluate([*rows, changed], problems)
        (entry,) = results["excluded"]
        cell = f"timestamp that is no time, got '{time}' (ada on 0): {advice}"
        assert (entry["count"], entry["example"]) == (1, cell)
        ada = results["forecasters"]["ada"]
        assert (ada["n_events"], ada["brier"]) == (events, 0.25)
        assert results["warnings"] == []


def test_whose_times_can_mostly_not_be_read_is_left_out() -> None:
    """As which of them can be may depend on what came true; and so is the file if most are so."""
    problems = [{**GOOD_PROBLEM, "problem_id": number} for number in range(4)]
    rows = [
        {
            "problem_id": number,
            "username": name,
            "prediction": [0.5, 0.5],
            "timestamp": "soon" if number < unread else "2025-06-01T00:00:00Z",
        }
        for name, unread in (("ada", 3), ("bob", 2), ("cyd", 0))
        for number in range(4)
    ]
    results = evaluate(rows, problems)
    assert {name: row["n_events"] for name, row in results["forecasters"].items()} == {
        "bob": 2,
        "cyd": 4,
    }
    assert results["warnings"] == ["forecasters of whom no forecast is scored: 1 (ada)"]
    reasons = [(entry["reason"], entry["count"]) for entry in results["excluded"]]
    assert reasons == [
        ("of a forecaster most of whose times cannot be read", 1),
        ("timestamp that is no time", 5),
    ]
    most = [{**row, "timestamp": "soon"} if row["username"] == "bob" else row for row in rows]
    with pytest.raises(InputError, match="7 of 12 forecasts cannot be scored: timestamp that is"):
        evaluate(most, problems)


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


def test_differing_forecasts_of_one_time_are_left_out_whatever_their_order() -> None:
    problems = [{"problem_id": 1, "options": ["A", "B"], "correct_answer": "A"}]
    rows = [
        {"problem_id": 1, "username": "ada", "prediction": [p, 1 - p], "odds": q}
        for p, q in [(0.1, [0.3, 0.7]), (0.2, None), (0.7, [0.1, 0.2]), (0.1, [0.31, 0.7])]
    ]
    rows.append({**rows[0], "timestamp": "2025-01-02T00:00:00Z"})
    rows.append({**rows[2], "timestamp": "2025-01-02T00:00:00Z"})
    rows.append({**rows[0], "username": "bob"})
    found = [evaluate(order, problems) for order in (rows, rows[::-1], [*rows[2:], *rows[:2]])]
    assert found[0]["forecasters"].keys() == {"bob"}
    assert [(entry["reason"], entry["count"]) for entry in found[0]["excluded"]] == [
        ("several forecasts without a time that tells them apart", 6),
    ]
    assert found[0] == found[1] == found[2]


def test_an_unknown_time_is_neither_before_nor_after_a_known_one() -> None:
    problem: Row = {"problem_id": 1, "options": ["A", "B"], "correct_answer": "A"}
    row: Row = {"problem_id": 1, "username": "ada", "prediction": [0.1, 0.9], "timestamp": None}
    known = {**row, "timestamp": "2025-01-01T00:00:00Z"}
    bob = {**known, "username": "bob"}
    other = {**known, "prediction": [0.8, 0.2]}
    left_out = ("several forecasts without a time that tells them apart", 2)
    found = evaluate([row, other, bob], [problem])
    assert found["forecasters"].keys() == {"bob"}
    assert left_out in [(entry["reason"], entry["count"]) for entry in found["excluded"]]
    assert evaluate([row, known, bob], [problem])["forecasters"].keys() == {"ada", "bob"}
    closed = evaluate([row, other, bob], [{**problem, "end_date": "2025-02-01"}])
    assert closed["forecasters"]["ada"]["brier"] == pytest.approx(0.04)


# --- Who is who ---


SPELLINGS: Final = {
    "blank at the end": "f1 ",
    "blank inside": "f 1",
    "no-break blank": "f\u00a01",
    "zero width": "f\u200b1",
    "byte order mark": "\ufefff1",
    "full width": "ｆ１",
    "capital": "F1",
    "soft hyphen": "f\u00ad1",
    "filler": "f1\u3164",
}


@pytest.mark.parametrize("other", SPELLINGS.values(), ids=SPELLINGS)
def test_two_spellings_are_one_name(other: str) -> None:
    """Nobody knows whose forecasts these are: they are left out, and all others stay."""
    rows = [{**GOOD[0], "username": name} for name in ("f1", other, "bob")]
    results = evaluate(rows, [GOOD_PROBLEM])
    assert list(results["forecasters"]) == ["bob"]
    (entry,) = results["excluded"]
    assert (entry["what"], entry["count"]) == ("forecast", 2)
    assert entry["reason"] == "of a forecaster in several files or spellings"
    named = sorted(f"{printable(repr(name))} in forecasts" for name in ("f1", other))
    text = f"forecaster in several files or spellings, none counts: 2 ({', '.join(named)})"
    assert text in results["warnings"]


def test_names_that_show_something_else_are_two() -> None:
    names = ["f1", "f-1", "f.1", "f2", "ƒ1", "墨子", "墨 翟"]
    results = evaluate([{**GOOD[0], "username": name} for name in names], [GOOD_PROBLEM])
    assert set(results["forecasters"]) == set(names)


@pytest.mark.parametrize("name", [" ", "\u200b", "\u3164\u2060"])
def test_a_name_that_shows_nothing_is_none(name: str) -> None:
    results = evaluate([*GOOD, {**GOOD[0], "username": name}], [GOOD_PROBLEM])
    (entry,) = results["excluded"]
    assert (
        entry["reason"]
        == "no id of an event ('problem_id') or no name of a forecaster ('username')"
    )
    assert set(results["forecasters"]) == {"ada", "bob"}


@pytest.mark.parametrize("name", ["(crowd)", "(market)", "crowd", "Market", "( crowd\u200b)"])
def test_a_forecaster_with_the_name_of_a_baseline_is_left_out(name: str) -> None:
    """Its row stood among the baselines', and its calibration was theirs."""
    results = evaluate([*GOOD, {**GOOD[0], "username": name}], [GOOD_PROBLEM])
    (entry,) = results["excluded"]
    assert (entry["reason"], entry["names"]) == (
        "named like a baseline: no forecaster may be called market or crowd", ["forecast 3"],
    )  # fmt: skip
    assert set(results["forecasters"]) == {"ada", "bob"}


# --- Times ---


def timed(name: str, events: int, with_time: int) -> list[Row]:
    return [
        {"problem_id": n, "username": name, "prediction": [0.6, 0.4]}
        | ({"timestamp": "2025-06-30T00:00:00Z"} if n < with_time else {})
        for n in range(events)
    ]


def times(rows: list[Row], **options: Any) -> tuple[int, list[str]]:
    """How many forecasts count, and what is said about times."""
    problems = [{**GOOD_PROBLEM, "problem_id": n} for n in range(10)]
    results = evaluate(rows, problems, **options)
    return results["n_forecasts"], [
        text for text in results["warnings"] if "without a time" in text
    ]


def test_without_a_time_is_late_where_others_of_the_file_have_one() -> None:
    """Whatever other files have, whose forecasts without any time are taken as in time, and said to
    be.
    """
    some = timed("ada", 10, 10) + timed("eve", 10, 4)
    assert times(some)[0] == 14
    problems = [{**GOOD_PROBLEM, "problem_id": n} for n in range(10)]
    evaluator = ProphetArenaEvaluator()
    files = [Loaded(name, rows) for name, rows in (("a", some), ("b", timed("bob", 10, 0)))]
    results = evaluator.evaluate(ForecastData("a", Loaded("problems", problems), files))
    assert results["n_forecasts"] == 24
    told, untimed, *_ = results["warnings"]
    assert told == "forecasters who lose more than half of their forecasts: 1 (eve, 6 of 10)"
    assert untimed.startswith(
        "forecasts without a time, as all of their file, taken as in time: 10 (bob on 0, bob on 1"
    )


def test_without_any_time_nothing_is_late_or_said() -> None:
    assert times(timed("ada", 10, 0)) == (10, [])
    assert times(timed("ada", 10, 10)) == (10, [])


# --- Prices ---


def returns(rows: list[Row], **problem: Any) -> dict[str, float]:
    results = evaluate(rows, [{**GOOD_PROBLEM, **problem}], gammas=[1])
    return {name: row["return_1"] for name, row in results["forecasters"].items()}


def priced(name: str, hour: str, price: float | None) -> Row:
    row = {"problem_id": 1, "username": name, "prediction": [1, 0]}
    at = {"timestamp": f"2025-06-30T{hour}:00Z"} if hour else {}
    return {**row, **at} | ({"odds": [price, 0.9]} if price else {})


def test_price_of_the_problem_is_that_of_all() -> None:
    rows = [priced("ada", "09:10", 0.1), priced("bob", "09:10", None), priced("cid", "09:20", 0.9)]
    assert returns(rows, odds=[0.25, 0.8]) == {"ada": 4, "bob": 4, "cid": 4}


def test_price_is_the_median_of_the_odds_of_an_event() -> None:
    """With odds or without: leaving them out changes nothing for oneself but one's own vote."""
    rows = [
        *(priced("ada", "09:10", 0.2), priced("bob", "09:59", 0.4), priced("cid", "09:30", None)),
        *(priced("dee", "10:00", 0.5), priced("eve", "23:00", None), priced("fay", "10:59", 0.8)),
    ]
    assert returns(rows) == pytest.approx(
        dict.fromkeys(["ada", "bob", "cid", "dee", "eve", "fay"], 1 / 0.45)
    )
    assert returns([priced(name, "", 0.5) for name in ("ada", "bob")]) == {"ada": 2, "bob": 2}


def test_bids_are_at_most_the_ask() -> None:
    """A median of fewer bids might be above the ask."""
    rows = [
        {**priced("ada", "09:10", 0.8), "bids": [0.7, 0.1]},
        priced("bob", "11:10", 0.5),
        priced("cid", "13:00", None),
    ]
    found = evaluate(rows, [GOOD_PROBLEM])["baselines"]["market"]
    mids = np.array([0.65, 0.5])
    assert found["brier"] == pytest.approx((1 - mids[0] / mids.sum()) ** 2)
