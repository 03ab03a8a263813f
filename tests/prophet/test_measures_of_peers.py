"""Baseline and peer score, the uniform row, calibration by event, the filter of spreads: each by
its formula, in a few lines of numpy.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

from cli import assert_refused, run, write
from forecasteval.common.errors import InputError
from prophet_data import SAMPLE, evaluate, sample_results

Row = dict[str, Any]


def kept_forecasts() -> tuple[dict[str, Row], list[Row]]:
    """The problems of the sample by id, and the forecasts that count on its board."""
    problems = {row["problem_id"]: row for row in SAMPLE[0]}
    last: dict[tuple[str, str], Row] = {}
    for row in sorted(SAMPLE[1], key=lambda row: row["timestamp"]):
        if row["timestamp"] <= problems[row["problem_id"]]["end_date"]:
            last[row["problem_id"], row["username"]] = row
    return problems, list(last.values())


def winners(problem: Row) -> np.ndarray:
    answers = problem["correct_answer"]
    named = answers if isinstance(answers, list) else [answers]
    return np.array([float(name in named) for name in problem["options"]])


def is_exclusive(problem: Row) -> bool:
    return problem.get("exclusive", True) and winners(problem).sum() == 1


def given_to_winner(row: Row, problem: Row) -> float:
    p = np.array(row["prediction"], float)
    total = p.sum()
    p = p / total if abs(total - 1) > 1e-3 else p
    return float(max(p @ winners(problem), 0.001))


def test_baseline_score_is_that_of_metaculus() -> None:
    """100 (1 + ln p / ln n), as Metaculus computes it: 100 ln(n p) / ln n."""
    problems, rows = kept_forecasts()
    scores: dict[str, list[float]] = {}
    for row in rows:
        problem = problems[row["problem_id"]]
        if is_exclusive(problem):
            n, p = len(problem["options"]), given_to_winner(row, problem)
            scores.setdefault(row["username"], []).append(100 * math.log(n * p) / math.log(n))
    found = sample_results()["forecasters"]
    for name, values in scores.items():
        assert found[name]["n_exclusive"] == len(values)
        assert found[name]["baseline_score"] == pytest.approx(np.mean(values), abs=1e-9)
    assert sample_results()["baselines"]["uniform"]["baseline_score"] == pytest.approx(0, abs=1e-9)


def test_peer_score_is_the_log_score_above_the_mean_of_the_others() -> None:
    """Against the geometric mean of the others' probabilities; over all forecasters of an event it
    adds up to 0.
    """
    problems, rows = kept_forecasts()
    by_event: dict[str, dict[str, float]] = {}
    for row in rows:
        problem = problems[row["problem_id"]]
        if is_exclusive(problem):
            given = given_to_winner(row, problem)
            by_event.setdefault(row["problem_id"], {})[row["username"]] = given
    scores: dict[str, list[float]] = {}
    for event in by_event.values():
        for name, p in event.items():
            others = [other for who, other in event.items() if who != name]
            mean = math.prod(others) ** (1 / len(others))
            scores.setdefault(name, []).append(100 * math.log(p / mean))
    found = sample_results()["forecasters"]
    for name, values in scores.items():
        assert found[name]["peer_score"] == pytest.approx(np.mean(values), abs=1e-9)
    full = [name for name, row in found.items() if row["coverage"] == 1]
    alone = [row for row in SAMPLE[1] if row["username"] in full]
    board = evaluate(alone, SAMPLE[0])["forecasters"]
    assert sum(row["peer_score"] for row in board.values()) == pytest.approx(0, abs=1e-9)


def test_nobody_alone_has_peers() -> None:
    problems = [{"problem_id": n, "options": ["a", "b"], "correct_option_idx": 0} for n in range(5)]
    rows = [{"problem_id": n, "username": "ada", "prediction": [0.8, 0.2]} for n in range(5)]
    rows += [{"problem_id": 0, "username": "bob", "prediction": [0.4, 0.6]}]
    board = evaluate(rows, problems)
    ada = board["forecasters"]["ada"]
    assert ada["peer_score"] == pytest.approx(100 * math.log(2))  # of the event with bob alone
    assert evaluate(rows[:5], problems)["forecasters"]["ada"]["peer_score"] is None
    crowd = board["baselines"]["crowd"]["peer_score"]
    both = 100 * (math.log(0.6) - (math.log(0.8) + math.log(0.4)) / 2)
    assert crowd == pytest.approx(both / 5)  # it is ada elsewhere


def test_bold_favourites_have_no_sure_peer_score() -> None:
    problems = [{"problem_id": n, "options": ["a", "b"], "correct_option_idx": 0} for n in range(9)]
    rows = [
        {"problem_id": n, "username": name, "prediction": [p, 1 - p]}
        for name, p in (("bold", 0.98), ("shy", 0.92))
        for n in range(9)
    ]
    found = evaluate(rows, problems)["forecasters"]["bold"]
    assert found["peer_score_rank_interval"] == found["baseline_score_rank_interval"] == [1, 2]


def test_uniform_is_a_row_of_every_board() -> None:
    """1/n for options that exclude each other, else ½; skill is against it on one's own events."""
    problems: list[Row] = [
        {"problem_id": 0, "options": list("abcd"), "correct_option_idx": 1},
        {"problem_id": 1, "options": ["a", "b"], "correct_option_idx": 0},
        {"problem_id": 2, "options": ["a", "b", "c"], "correct_option_idx": [0, 1]},
    ]
    rows = [
        {"problem_id": 0, "username": "uniform", "prediction": [0.1, 0.7, 0.1, 0.1]},
        {"problem_id": 1, "username": "uniform", "prediction": [0.6, 0.4]},
        {"problem_id": 1, "username": "bob", "prediction": [0.5, 0.5]},
        {"problem_id": 2, "username": "bob", "prediction": [0.5, 0.5, 0.5]},
    ]
    board = evaluate(rows, problems)
    scores = [(0.75**2 + 3 * 0.25**2) / 4, 0.25, 0.25]
    assert board["baselines"]["uniform"]["brier"] == pytest.approx(np.mean(scores))
    own = board["forecasters"]["uniform"]  # a name as any
    brier = (np.mean([0.01, 0.09, 0.01, 0.01]) + 0.16) / 2
    assert own["brier"] == pytest.approx(brier)
    assert own["brier_skill_uniform"] == pytest.approx(1 - brier / np.mean(scores[:2]))
    assert board["forecasters"]["bob"]["brier_skill_uniform"] == pytest.approx(0)
    frame = board.to_frame()
    kinds = frame[frame["forecaster"] == "uniform"]["kind"]
    assert sorted(kinds) == ["baseline", "ranked"]
    masked = [{**row, "username": "(uniform)"} for row in rows]
    assert "(uniform)" not in evaluate([*rows, *masked], problems)["forecasters"]


def test_calibration_by_event_counts_every_event_once() -> None:
    problems, rows = kept_forecasts()
    found = sample_results()["forecasters"]
    for name in list(found)[:3]:
        p, o, w = [], [], []
        for row in (row for row in rows if row["username"] == name):
            size = len(row["prediction"])
            p += row["prediction"]
            o += winners(problems[row["problem_id"]]).tolist()
            w += [1 / size] * size
        values, outcomes, weight = np.array(p), np.array(o), np.array(w)
        bins = np.minimum((values * 10 + 1e-11).astype(int), 9)
        gaps = [abs(np.sum((weight * (values - outcomes))[bins == b])) for b in range(10)]
        assert found[name]["ece_events"] == pytest.approx(sum(gaps) / weight.sum(), abs=1e-12)
        even = [abs(np.sum((values - outcomes)[bins == b])) for b in range(10)]
        assert found[name]["ece"] == pytest.approx(sum(even) / len(values), abs=1e-12)


@pytest.mark.extra("pm_rank", "pydantic")
def test_calibration_by_event_is_that_of_pm_rank() -> None:
    """Theirs cuts the sum of the weights of a bin to a whole number."""
    from pm_rank.nightly.algo import compute_calibration_ece

    problems, rows = kept_forecasts()
    table = pandas.DataFrame(
        {
            "forecaster": [row["username"] for row in rows],
            "event_ticker": [row["problem_id"] for row in rows],
            "round": 0,
            "prediction": [np.array(row["prediction"]) for row in rows],
            "outcome": [winners(problems[row["problem_id"]]) for row in rows],
            "weight": 1.0,
        }
    )
    theirs = compute_calibration_ece(table).set_index("forecaster")["ece_score"]
    for name, row in sample_results()["forecasters"].items():
        assert row["ece_events"] == pytest.approx(theirs[name], abs=0.01)


# --- Spreads ---


def priced(spreads: list[float | None]) -> tuple[list[Row], list[Row]]:
    """Events whose second option has these spreads; None: no bids."""
    problems = []
    for n, spread in enumerate(spreads):
        row: Row = {"problem_id": n, "options": ["a", "b"], "correct_option_idx": 0}
        row["odds"] = [0.5, 0.52]
        if spread is not None:
            row["bids"] = [0.5, 0.52 - spread]
        problems.append(row)
    rows = [
        {"problem_id": n, "username": name, "prediction": [0.7, 0.3]}
        for n in range(len(spreads))
        for name in ("ada", "bob")
    ]
    return problems, rows


def test_wide_markets_are_left_out_and_counted() -> None:
    """As pm_rank's nightly does with ask + no-ask > 1.03 of any option: no-ask is 1 - bid."""
    problems, rows = priced([0.0, 0.03, 0.04, None, 0.01])
    board = evaluate(rows, problems, max_spread=0.03)
    assert board["n_events"] == 3
    assert {entry["reason"]: entry["names"] for entry in board["excluded"]} == {
        "with a spread above 0.03": ["2"],
        "without an ask and a bid of each option, which --max-spread needs": ["3"],
    }
    assert board["signature"]["max_spread"] == 0.03
    assert evaluate(rows, problems)["n_events"] == 5
    with pytest.raises(InputError, match="with a spread above 0"):
        evaluate(rows[4:6], problems, max_spread=0)


@pytest.mark.parametrize("spread", [-0.1, 2, float("nan"), "wide", True])
def test_a_spread_is_a_difference_of_prices(spread: Any) -> None:
    with pytest.raises(InputError, match=r"max_spread: must be a number in \[0, 1\]"):
        evaluate([], [], max_spread=spread)


def test_spreads_on_the_command_line(tmp_path: Path) -> None:
    problems, rows = priced([0.0, 0.03, 0.04, None, 0.01])
    root = write(tmp_path, {"dataset/p.json": problems, "prediction/p-x.json": rows})
    out = run(root, "-f", "p-x", "--max-spread", "0.03", "--min-events", "1").out
    assert out.splitlines()[1].startswith("3 events")
    assert "excluded: events, with a spread above 0.03: 1 (2)" in out
    assert_refused(run(root, "-f", "p-x", "--max-spread", "3"), "must be a number in [0, 1]")
