"""The evaluator: known skill is found, nothing depends on order, any input gives a result or one
line.
"""

from __future__ import annotations

import json
import math
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import make_prophet_sample
from forecasteval.common.errors import ClashError, InputError, PendingError
from forecasteval.prophet.evaluator import ProphetArenaEvaluator
from prophet_data import (
    DATASET,
    GOOD,
    GOOD_PROBLEM,
    PREDICTION,
    ROOT,
    SAMPLE,
    Row,
    evaluate,
    sample_results,
)


def test_sample_files_are_those_of_the_generator() -> None:
    problems, forecasts = SAMPLE
    assert DATASET.read_text(encoding="utf-8") == make_prophet_sample.render(problems)
    assert PREDICTION.read_text(encoding="utf-8") == make_prophet_sample.render(forecasts)
    sizes = [len(problem["options"]) for problem in problems]
    assert (len(problems), min(sizes), max(sizes)) == (200, 2, 30)
    assert (
        sum(
            len(problem["correct_answer"]) > 1
            for problem in problems
            if not problem.get("exclusive", True)
        )
        >= 3
    )


def test_known_skill_is_found() -> None:
    rows = sample_results()["forecasters"]
    for metric, sign in (
        ("brier", 1),
        ("log", -1),
        ("spherical", -1),
        ("irt_ability", -1),
        ("weighted_brier", 1),
    ):
        values = [sign * rows[name][metric] for name in make_prophet_sample.SKILLS]
        assert stats.spearmanr(range(12), values).statistic > 0.9, metric
    for name, row in rows.items():
        for metric in (
            "brier",
            "log",
            "spherical",
            "return_0",
            "return_0.5",
            "return_1",
            "weighted_brier",
        ):
            low, high = row[f"{metric}_interval"]
            assert low <= row[metric] <= high, (name, metric)
    assert sample_results()["fits"]["irt"]["converged"]
    assert sample_results()["fits"]["bradley_terry"]["converged"]


def test_results_are_plain() -> None:
    """Strict JSON that reads back as the same value: no NaN, no numpy type, no tuple, no number for
    a key.
    """
    assert json.loads(json.dumps(sample_results(), allow_nan=False)) == sample_results()


def test_results_are_means_of_scores() -> None:
    """Brier, return and discrimination-weighted Brier of one forecaster, the slow way."""
    problems, forecasts = SAMPLE
    known = {problem["problem_id"]: problem for problem in problems}
    rows = [row for row in forecasts if row["username"] == "meridian-small"]
    brier, returns, weights = [], [], []
    for row in rows:
        problem = known[row["problem_id"]]
        answers = problem["correct_answer"]
        answers = answers if isinstance(answers, list) else [answers]
        won = [float(option in answers) for option in problem["options"]]
        brier.append(
            sum((p - o) ** 2 for p, o in zip(row["prediction"], won, strict=True)) / len(won)
        )
        weights.append(sample_results()["problems"][row["problem_id"]]["discrimination"])
        if problem.get("exclusive", True):
            at = won.index(1)
            returns.append(row["prediction"][at] / sum(row["prediction"]) / row["odds"][at])
    got = sample_results()["forecasters"]["meridian-small"]
    assert got["brier"] == pytest.approx(np.mean(brier), rel=1e-12)
    assert got["weighted_brier"] == pytest.approx(np.average(brier, weights=weights), rel=1e-12)
    assert got["return_1"] == pytest.approx(
        np.mean(returns), rel=1e-3
    )  # sums within 0.001 of 1 stay as they are
    assert got["n_events"] == len(brier)
    assert got["n_priced"] == len(returns)
    assert sample_results()["score_curve"]["meridian-small"]["return_1"][-1] == pytest.approx(
        got["return_1"], rel=1e-12
    )
    by_category = [
        (
            entry["forecasters"]["meridian-small"]["n_events"],
            entry["forecasters"]["meridian-small"]["brier"],
        )
        for entry in sample_results()["by_category"].values()
    ]
    assert sum(n * mean for n, mean in by_category) / len(brier) == pytest.approx(
        got["brier"], rel=1e-12
    )
    ece = sum(
        b["n"] * abs(b["mean_probability"] - b["frequency"])
        for b in sample_results()["reliability"]["meridian-small"]
        if b["n"]
    ) / sum(b["n"] for b in sample_results()["reliability"]["meridian-small"])
    assert got["ece"] == pytest.approx(ece, rel=1e-9)


def test_input_order_changes_nothing() -> None:
    problems, forecasts = (list(rows) for rows in SAMPLE)
    extra = {"problem_id": "nowhere", "username": "ada", "prediction": [1]}
    first = evaluate([*forecasts, extra, {**forecasts[0], "prediction": [math.nan] * 9}], problems)
    rng = random.Random(1)
    rng.shuffle(problems)
    shuffled = [*forecasts, extra, {**forecasts[0], "prediction": [math.nan] * 9}]
    rng.shuffle(shuffled)
    assert evaluate(shuffled, problems) == first


def test_option_order_changes_no_score() -> None:
    problems, forecasts = SAMPLE
    rng = random.Random(2)
    orders = {
        p["problem_id"]: rng.sample(range(len(p["options"])), len(p["options"])) for p in problems
    }
    turned = [
        {**p, "options": [p["options"][k] for k in orders[p["problem_id"]]]} for p in problems
    ]
    rows = [
        {
            **row,
            **{
                key: [row[key][k] for k in orders[row["problem_id"]]]
                for key in ("prediction", "odds", "bids")
            },
        }
        for row in forecasts
    ]
    one, other = evaluate(forecasts, problems), evaluate(rows, turned)
    for name, row in one["forecasters"].items():
        for metric, value in row.items():
            if isinstance(value, float):
                assert other["forecasters"][name][metric] == pytest.approx(value, abs=1e-6), (
                    name,
                    metric,
                )


def test_duplicated_events_change_no_mean() -> None:
    problems, forecasts = SAMPLE
    twice = [{**row, "problem_id": f"{row['problem_id']}-again"} for row in problems]
    rows = [{**row, "problem_id": f"{row['problem_id']}-again"} for row in forecasts]
    one, other = evaluate(forecasts, problems), evaluate(forecasts + rows, problems + twice)
    for name, row in one["forecasters"].items():
        for metric in ("brier", "log", "spherical", "return_0", "return_0.5", "return_1", "ece"):
            assert other["forecasters"][name][metric] == pytest.approx(row[metric], rel=1e-12)


def test_shared_resamples() -> None:
    """A twin has the same interval and rank; more noise changes nobody else."""
    problems, forecasts = SAMPLE
    twin = [{**row, "username": "twin"} for row in forecasts if row["username"] == "harbor-9b"]
    alone, both = evaluate(forecasts, problems), evaluate(forecasts + twin, problems)
    rows = both["forecasters"]
    assert rows["twin"]["brier_interval"] == pytest.approx(
        rows["harbor-9b"]["brier_interval"], rel=1e-12
    )
    assert rows["twin"]["brier_rank"] == rows["harbor-9b"]["brier_rank"] == 1
    assert rows["twin"]["bradley_terry_rank"] == rows["harbor-9b"]["bradley_terry_rank"]
    assert alone["forecasters"]["coin-and-dice"]["brier_interval"] == pytest.approx(
        rows["coin-and-dice"]["brier_interval"], rel=1e-12
    )


JUNK: Final = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


FIELD: Final = {
    "problem_id": st.sampled_from(["1", 1, 2, "x"]) | JUNK,
    "username": st.sampled_from(["ada", "bob"]) | JUNK,
    "timestamp": st.sampled_from(["2025-01-01T00:00:00Z", "2025-01-02", "soon"]) | JUNK,
    "prediction": st.lists(st.floats(0, 1), min_size=2, max_size=2) | JUNK,
    "odds": st.lists(st.floats(0, 1), min_size=2, max_size=2) | JUNK,
    "bids": st.lists(st.floats(0, 1), min_size=2, max_size=2) | JUNK,
    "weight": st.floats(0, 2) | JUNK,
}


@settings(max_examples=150)
@given(st.lists(st.fixed_dictionaries({}, optional=FIELD) | JUNK, max_size=6), st.lists(
    st.fixed_dictionaries({}, optional={
        "problem_id": st.sampled_from([1, 2]) | JUNK, "options": st.just(["A", "B"]) | JUNK,
        "correct_answer": st.sampled_from(["A", ["A", "B"], []]) | JUNK, "exclusive": JUNK,
        "end_date": JUNK,
        "category": JUNK, "metadata": JUNK,
    }) | JUNK, max_size=4))  # fmt: skip
def test_any_input_gives_a_result_or_one_line(forecasts: list[Any], problems: list[Any]) -> None:
    good = [{"problem_id": "y", "options": ["A", "B"], "correct_option_idx": 0}]
    rows = [
        {"problem_id": "y", "username": name, "prediction": [0.5, 0.5]} for name in ("ada", "zoe")
    ]
    try:
        results = evaluate([*forecasts, *rows], [*problems, *good])
    except ClashError as error:  # most of them fall for one reason
        [(source, refusal)] = error.errors.items()
        assert source in ("problems", "forecasts")
        assert re.fullmatch(rf"{source}: \d+ of \d+ \w+s cannot be scored: .+", str(refusal))
        return
    assert json.loads(json.dumps(results, allow_nan=False)) == results
    counted = sum(
        entry["count"] for entry in results["excluded"] if not entry["reason"].startswith("from ")
    )
    unused = sum(entry["count"] for entry in results["excluded"] if entry["what"] == "event")
    unused -= sum(
        e["count"]
        for e in results["excluded"]
        if e["what"] == "event" and e["reason"].startswith("from ")
    )
    counted += results["n_pending_forecasts"] - unused
    assert results["n_forecasts"] + counted == len(forecasts) + 2  # nothing goes missing
    if not results["forecasters"].keys() - {"ada", "zoe"} and results["n_forecasts"] == 2:
        with pytest.raises(InputError, match=r"no forecast can be scored|no truth yet"):
            evaluate(forecasts, problems)


BAD_OPTIONS: Final = {
    "gamma above": ({"gammas": [1.5]}, "gamma: must be a number in [0, 1], got 1.5"),
    "gamma nan": ({"gammas": [math.nan]}, "gamma: must be a number in [0, 1], got nan"),
    "gamma text": ({"gammas": ["0"]}, "gamma: must be a number in [0, 1], got '0'"),
    "min_events": ({"min_events": 0}, "min_events: must be an integer >= 1, got 0"),
    "late": ({"late": "never"}, "late: must be keep or drop, got 'never'"),
    "contracts": ({"contracts": "no"}, "contracts: must be yes or both, got 'no'"),
    "response": ({"response": 1}, "response: must be brier or correct, got 1"),
    "prior": ({"prior": -1}, "prior: must be a number >= 0, got -1"),
    "no prior": ({"prior": None}, "prior: must be a number >= 0, got None"),
}


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS.values(), ids=BAD_OPTIONS)
def test_bad_option(options: Row, message: str) -> None:
    with pytest.raises(InputError) as caught:
        ProphetArenaEvaluator(**options)
    assert str(caught.value) == message


BAD_CALLS: Final = {
    "nothing": (
        lambda: evaluate([], [GOOD_PROBLEM]),
        "forecasts: no forecast can be scored: there is none",
    ),
    "nothing fits": (
        lambda: evaluate([{**GOOD[0], "problem_id": 8}, 5], [GOOD_PROBLEM]),
        (
            "forecasts: no forecast can be scored: no object: 1 (forecast 2); unknown problem id: "
            "1 (ada on 8)"
        ),
    ),
}


@pytest.mark.parametrize(("call", "message"), BAD_CALLS.values(), ids=BAD_CALLS)
def test_bad_call(call: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value) == message


def test_file_and_python_agree() -> None:
    results = ProphetArenaEvaluator().evaluate_file(PREDICTION, [DATASET])
    named = [results[key] for key in ("name", "prediction", "dataset")]
    assert named == ["prophet-sample", "prophet-sample.json", "prophet-sample.json"]
    assert results["forecasters"] == sample_results()["forecasters"]
    assert {"dataset_sha256", "prediction_sha256", "data_sha256"} <= results["signature"].keys()


def test_jsonl_equals_json(tmp_path: Path) -> None:
    path = tmp_path / "prophet-sample.jsonl"
    lines = [json.dumps(row, ensure_ascii=False) for row in SAMPLE[1]]
    path.write_text("\n".join([*lines, "{not JSON"]), encoding="utf-8")
    results = ProphetArenaEvaluator().evaluate_file(path, [DATASET])
    assert results["forecasters"] == sample_results()["forecasters"]
    assert results["excluded"][-1]["reason"].startswith("not JSON: column 2")


BAD_FILES: Final = {
    "columns": (
        "x.csv",
        b"event,model,prob,a\n1,2\n",
        "x.csv: expected a dataset of problems for it (a file in dataset/ whose name begins like "
        "this one's, or --dataset), or what came true (name it with --column result=NAME), got "
        "event, model, prob, a",
    ),
    "arena": (
        "x.csv",
        b"market_info,a\n1,2\n",
        "x.csv: expected a column for the event and the probability (name it with "
        "--column event=NAME --column probability=NAME), got market_info, a",
    ),
    "utf-16": (
        "x.csv",
        b"\xff\xfea\0\n\0b\0",
        "x.csv: expected a column for the event and the probability and the result (name it with "
        "--column event=NAME --column probability=NAME --column result=NAME), got a",
    ),
    "not json": ("x.json", b"[1,", "x.json: not JSON: line 1 column 4: Expecting value"),
    "object": ("x.json", b"{}", "x.json: no forecast can be scored: there is none"),
    "no file": ("y.json", None, "y.json: cannot be read: No such file or directory"),
    "no csv": ("y.csv", None, "y.csv: cannot be read: No such file or directory"),
}


@pytest.mark.parametrize(("name", "content", "message"), BAD_FILES.values(), ids=BAD_FILES)
def test_bad_file(tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        ProphetArenaEvaluator().evaluate_file(
            tmp_path / name, [] if name.endswith("csv") else [DATASET]
        )
    assert str(caught.value).removeprefix(f"{tmp_path}{os.sep}") == message


def test_no_dataset() -> None:
    with pytest.raises(InputError, match="expected a dataset of problems for it"):
        ProphetArenaEvaluator().evaluate_file(PREDICTION)


def test_several_datasets() -> None:
    with pytest.raises(InputError) as caught:
        ProphetArenaEvaluator().evaluate_file(PREDICTION, [DATASET, DATASET])
    assert str(caught.value) == "--dataset: several need RxnOptBench questions, got Prophet Arena"


def test_a_table_beside_a_dataset(tmp_path: Path) -> None:
    """The dataset says what came true, whatever the table says."""
    (path := tmp_path / "x.csv").write_text(
        "question_id,model,p,resolution\nA,ada,0.9,No\nA,bob,0.8,No\n", encoding="utf-8"
    )
    problem = {"problem_id": "A", "options": ["No", "Yes"], "correct_answer": "Yes"}
    (dataset := tmp_path / "d.json").write_text(json.dumps([problem]), encoding="utf-8")
    results = ProphetArenaEvaluator(min_events=1).evaluate_file(path, [dataset])
    assert results["forecasters"]["ada"]["brier"] == pytest.approx(0.01)


def test_hash_seed_changes_nothing() -> None:
    code = """
import sys, json
sys.path[:0] = [sys.argv[1], sys.argv[1] + "/tools"]
import make_prophet_sample as m
from forecasteval.prophet import ProphetArenaEvaluator
evaluator = ProphetArenaEvaluator()
print(json.dumps(evaluator.evaluate_file(m.PREDICTION, [m.DATASET])))
"""
    outputs = {
        subprocess.run(
            [sys.executable, "-W", "error", "-c", code, str(ROOT)], capture_output=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1")
    }  # fmt: skip
    assert len(outputs) == 1


def test_no_contracts_on_a_board() -> None:
    """Where bids are missing No costs 1 - ask, which is said; the other scores stay."""
    problem = {**GOOD_PROBLEM, "odds": [0.6, 0.5]}
    rows = [{**GOOD[0], "prediction": [0.2, 0.8]}, {**GOOD[1], "prediction": [0.9, 0.1]}]
    yes, both = (evaluate(rows, [problem], contracts=name, gammas=[0]) for name in ("yes", "both"))
    bids = evaluate(rows, [{**problem, "bids": [0.5, 0.4]}], contracts="both", gammas=[0])
    returns = [
        [found["forecasters"][name]["return_0"] for name in ("ada", "bob")]
        for found in (yes, both, bids)
    ]
    # ada: No of A at 0.4 (0.5), edge 2 (1.6), against Yes of B at 0.5, edge 1.6: at a tie both
    assert returns[0] == pytest.approx([0, 1 / 0.6])
    assert returns[1] == pytest.approx([0, 1 / 0.5])  # bob: No of B at 0.5, edge 1.8
    assert returns[2] == pytest.approx(
        [0, 1 / 0.6]
    )  # at 0.6 as good as Yes of A: the tie is shared
    assert both["warnings"] == [
        "no bids: No costs 1 - ask, an approximation: 2 (ada on 1, bob on 1)"
    ]
    assert bids["warnings"] == []
    assert both["forecasters"]["ada"]["log"] == yes["forecasters"]["ada"]["log"]


def test_bids_without_odds_are_not_used_and_counted() -> None:
    """Of a problem and of a forecast: a bid alone is no price."""
    text = "bids are not a number in [0, odds] for every option, not used"
    alone = evaluate(GOOD, [{**GOOD_PROBLEM, "bids": [0.5, 0.4]}])
    assert alone["warnings"][0] == f"problem: {text}: 1 (1)"
    rows = [{**row, "bids": [0.5, 0.4]} for row in GOOD]
    assert evaluate(rows, [GOOD_PROBLEM])["warnings"][0] == f"{text}: 2 (ada on 1, bob on 1)"


def test_sharpe_ratio() -> None:
    """(mean - 1) / deviation, by weight; none where all payoffs are equal."""
    problems = [{**GOOD_PROBLEM, "problem_id": n, "odds": [0.5, 0.5], "weight": n} for n in (1, 2)]
    p = {1: [0.9, 0.1], 2: [0.2, 0.8]}
    rows = [{"problem_id": n, "username": "ada", "prediction": p[n]} for n in (1, 2)]
    rows += [{**row, "username": "bob", "prediction": [0.6, 0.4]} for row in rows]
    found = evaluate(rows, problems)["forecasters"]
    paid, weights = [1.8, 0.4], [1, 2]
    mean = np.average(paid, weights=weights)
    deviation = math.sqrt(np.average((paid - mean) ** 2, weights=weights))
    assert found["ada"]["return_1_sharpe"] == pytest.approx((mean - 1) / deviation)
    assert found["bob"]["return_1_sharpe"] is None


def test_scores_over_time() -> None:
    """The running mean of every score in the order in which events close, for market and crowd,
    too; None before there is any.
    """
    days = {1: "03", 2: "01", 3: "02"}
    problems = [
        {
            **GOOD_PROBLEM,
            "problem_id": n,
            "end_date": f"2025-07-{day}T00:00:00Z",
            "exclusive": n != 2,
        }
        for n, day in days.items()
    ]
    rows = [
        {"problem_id": n, "username": "ada", "prediction": [p, 1 - p], "timestamp": "2025-06-01"}
        for n, p in ((1, 0.5), (2, 0.8), (3, 1.0))
    ]
    curves = evaluate(rows, problems)["score_curve"]
    assert curves["ada"]["brier"] == pytest.approx([0.04, 0.02, (0.04 + 0 + 0.25) / 3])
    assert curves["ada"]["log"] == pytest.approx([None, 0, math.log(0.5) / 2])
    assert [at[:10] for at in curves["ada"]["closed"]] == ["2025-07-01", "2025-07-02", "2025-07-03"]
    assert curves["crowd"]["brier"] == curves["ada"]["brier"]
    assert "return_0" not in curves["ada"]


def test_events_without_an_outcome_are_counted() -> None:
    """In no score, without a warning."""
    problems = [GOOD_PROBLEM, {"problem_id": 2, "options": ["A", "B"]}]
    rows = [*GOOD, {**GOOD[0], "problem_id": 2}]
    results = evaluate(rows, problems)
    assert (results["n_pending"], results["n_pending_forecasts"], results["n_events"]) == (1, 1, 1)
    assert (results["excluded"], results["warnings"]) == ([], [])
    assert "1 pending" in str(results.report())
    blank = [{**problem, "correct_answer": ""} for problem in problems]
    with pytest.raises(PendingError, match="forecasts: no truth yet: 2 questions, all pending"):
        evaluate(rows, blank)
