"""Runs of one forecaster: each is scored, and the forecaster has the mean of each event."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli import run, write
from forecasteval.prophet.evaluator import ProphetArenaEvaluator
from prophet_data import evaluate

Row = dict[str, Any]
WINS = [True, True, False, True, True, False, True, True]
PROBLEMS = [
    {
        "problem_id": n,
        "options": ["Yes", "No"],
        "correct_option_idx": int(not won),
        "odds": [0.6, 0.5],
    }
    for n, won in enumerate(WINS)
]
RUNS = {
    "0": [0.9, 0.8, 0.3, 0.7, 0.95, 0.2, 0.6, 0.85],
    "1": [0.5, 0.9, 0.1, 0.8, 0.75, 0.4, 0.8, 0.65],
    "2": [0.7, 0.6, 0.5, 0.9, 0.85, 0.3, 0.7, 0.55],
}
OTHER = [0.7, 0.7, 0.4, 0.6, 0.6, 0.5, 0.5, 0.7]


def forecasts(name: str, ps: list[float], **more: Any) -> list[Row]:
    return [
        {"problem_id": n, "username": name, "prediction": [p, 1 - p], **more}
        for n, p in enumerate(ps)
    ]


def with_runs() -> list[Row]:
    rows = forecasts("bob", OTHER)
    for name, ps in RUNS.items():
        rows += forecasts("ada", ps, run=name)
    return rows


def given() -> np.ndarray:
    """What ada's runs gave to the winners: runs × events."""
    table = np.array(list(RUNS.values()))
    return np.where(WINS, table, 1 - table)


def test_scores_are_means_of_the_scores_of_the_runs() -> None:
    ada = evaluate(with_runs(), PROBLEMS)["forecasters"]["ada"]
    p = given()
    assert ada["brier"] == pytest.approx(np.mean((1 - p) ** 2), abs=1e-12)
    assert ada["log"] == pytest.approx(np.mean(np.log(p)), abs=1e-12)
    assert ada["spherical"] == pytest.approx(np.mean(p / np.hypot(p, 1 - p)), abs=1e-12)
    price = np.where(WINS, 0.6, 0.5)
    assert ada["return_1"] == pytest.approx(np.mean(p / price), abs=1e-12)
    assert ada["baseline_score"] == pytest.approx(np.mean(100 * (1 + np.log2(p))), abs=1e-9)
    other = np.where(WINS, OTHER, 1 - np.array(OTHER))
    ahead = 100 * (np.log(p).mean(axis=0) - np.log(other))
    assert ada["peer_score"] == pytest.approx(ahead.mean(), abs=1e-9)
    assert (ada["n_events"], ada["n_runs"], ada["missing_runs"]) == (8, 3, 0)


def test_models_take_the_mean_forecast() -> None:
    means = np.mean(list(RUNS.values()), axis=0).tolist()
    averaged = evaluate([*forecasts("bob", OTHER), *forecasts("ada", means)], PROBLEMS)
    board = evaluate(with_runs(), PROBLEMS)
    for name in ("ada", "bob"):
        for metric in ("irt_ability", "bradley_terry"):
            expected = averaged["forecasters"][name][metric]
            assert board["forecasters"][name][metric] == pytest.approx(expected, abs=1e-7)
    assert board["baselines"]["crowd"]["brier"] == averaged["baselines"]["crowd"]["brier"]
    # The mean of forecasts has a better score than the mean of their scores.
    assert averaged["forecasters"]["ada"]["brier"] < board["forecasters"]["ada"]["brier"]


def test_intervals_are_by_event() -> None:
    """Three equal runs are no more evidence than one."""
    once = forecasts("bob", OTHER) + forecasts("ada", RUNS["0"])
    thrice = forecasts("bob", OTHER)
    for name in "abc":
        thrice += forecasts("ada", RUNS["0"], run=name)
    one, three = (evaluate(rows, PROBLEMS)["forecasters"] for rows in (once, thrice))
    for name in ("ada", "bob"):
        for key, value in one[name].items():
            if isinstance(value, (float, list)):
                assert three[name][key] == pytest.approx(value, abs=1e-9), key
    assert "n_runs" not in one["ada"]


def test_calibration_is_that_of_the_runs() -> None:
    ada = evaluate(with_runs(), PROBLEMS)["forecasters"]["ada"]
    p = np.array(list(RUNS.values())).ravel()
    p, o = np.append(p, 1 - p), np.tile(np.append(np.tile(WINS, 3), ~np.tile(WINS, 3)), 1)
    bins = np.minimum((p * 10 + 1e-11).astype(int), 9)
    gaps = [abs((p - o)[bins == b].sum()) for b in range(10)]
    assert ada["ece"] == pytest.approx(sum(gaps) / len(p), abs=1e-12)


def test_a_run_without_an_event_is_counted() -> None:
    """The event has the mean of the runs that forecast it."""
    rows = [row for row in with_runs() if (row.get("run"), row["problem_id"]) != ("1", 0)]
    board = evaluate(rows, PROBLEMS)
    ada, losses = board["forecasters"]["ada"], (1 - given()) ** 2
    events = losses.mean(axis=0)
    events[0] = losses[[0, 2], 0].mean()
    assert ada["brier"] == pytest.approx(events.mean(), abs=1e-12)
    assert (ada["n_runs"], ada["missing_runs"]) == (3, 1)
    text = "forecasters with events that not every run of theirs forecasts: 1 (ada, 1)"
    assert text in board["warnings"]


def test_no_order_of_runs_or_rows_matters() -> None:
    rows = with_runs()
    board = evaluate(rows, PROBLEMS)
    assert evaluate(rows[::-1], PROBLEMS) == board


def test_the_last_forecast_of_each_run_counts() -> None:
    problems = [{**row, "end_date": "2025-07-10T00:00:00Z"} for row in PROBLEMS]
    first, last = (f"2025-07-0{day}T00:00:00Z" for day in (1, 2))
    rows = [{**row, "timestamp": last} for row in with_runs()]
    earlier = [{**row, "timestamp": first, "prediction": [0.5, 0.5]} for row in with_runs()]
    board = evaluate(rows + earlier, problems)["forecasters"]
    timeless = evaluate(with_runs(), PROBLEMS)["forecasters"]
    assert board["ada"]["brier"] == timeless["ada"]["brier"]


def test_prices_are_nobodys_by_many_runs() -> None:
    """The median of odds has one price of each forecaster."""
    problems = [{**row, "odds": None} for row in PROBLEMS]
    rows = [{**row, "odds": [0.5, 0.5]} for row in forecasts("bob", OTHER)]
    rows += [{**row, "odds": [0.7, 0.3]} for row in forecasts("cid", OTHER)]
    for name in map(str, range(9)):
        rows += [{**row, "odds": [0.1, 0.9]} for row in forecasts("ada", OTHER, run=name)]
    found = evaluate(rows, problems)["baselines"]["market"]
    assert found["brier"] == pytest.approx(0.25)


def test_bold_runs_on_favourites_are_not_surely_better() -> None:
    problems = [
        {"problem_id": n, "options": ["a", "b"], "correct_option_idx": 0} for n in range(10)
    ]
    rows = forecasts("shy", [0.92] * 10)
    for name, p in (("0", 0.97), ("1", 0.99)):
        rows += forecasts("bold", [p] * 10, run=name)
    bold = evaluate(rows, problems)["forecasters"]["bold"]
    for metric in ("brier", "adjusted_brier", "log", "peer_score", "irt_ability"):
        assert bold[f"{metric}_rank_interval"] == [1, 2]


# --- Files ---


def test_a_column_of_runs(tmp_path: Path) -> None:
    lines = ["question,model,sample,probability,resolution"]
    for name, ps in RUNS.items():
        for n, p in enumerate(ps):
            lines.append(f"q{n},ada,{name},{p},{'Yes' if WINS[n] else 'No'}")
    path = tmp_path / "runs.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    ada = ProphetArenaEvaluator(min_events=1).evaluate_file(path)["forecasters"]["ada"]
    assert ada["brier"] == pytest.approx(np.mean((1 - given()) ** 2))
    assert ada["n_runs"] == 3


@pytest.mark.parametrize("first", ["p-ada@0", "p-ada"])
def test_files_of_runs_are_one_forecaster(tmp_path: Path, first: str) -> None:
    """`ask --runs 3` writes `p-ada`, `p-ada@2` and `p-ada@3`."""
    stems = [first, "p-ada@1", "p-ada@2"]
    files = {
        f"prediction/{stem}.json": forecasts("ada", ps)
        for stem, ps in zip(stems, RUNS.values(), strict=True)
    }
    root = write(tmp_path, {"dataset/p.json": PROBLEMS, **files})
    names = [option for stem in stems for option in ("-f", stem)]
    board = run(root, *names, "--min-events", "1", "--json").json
    ada = board["forecasters"]["ada"]
    assert ada["brier"] == pytest.approx(np.mean((1 - given()) ** 2))
    assert math.isclose(ada["n_runs"], 3)
