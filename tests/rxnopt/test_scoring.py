"""Scoring: indices, means, intervals, and files."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from forecasteval import __version__
from forecasteval.common.errors import InputError
from forecasteval.common.files import find_dataset
from forecasteval.common.records import dump_json
from forecasteval.display.tables import format_text
from forecasteval.rxnopt.datasets import METRICS, QUESTION_TYPES, dataset_name
from forecasteval.rxnopt.report import make_charts
from forecasteval.rxnopt.scoring import RxnOptEvaluator, read_index
from rxnopt_tables import CASES, DATA, ROOT, Record, question, write

MORE: Final = json.loads((CASES / "rxnopt_more.json").read_text(encoding="utf-8"))


def shown(case: Record) -> str:
    return repr(case["raw"])[:40]


@pytest.mark.parametrize("case", MORE["indices"])
def test_indices(case: Record) -> None:
    index, note = read_index(case["raw"], case["size"])
    assert index == case["index"]
    assert bool(note) == (case["index"] is None or case.get("coerced", False))


def test_numpy_indices() -> None:
    assert read_index(np.int64(2), 3) == (2, "")
    assert read_index(np.float64(2), 3)[0] == 2
    assert read_index(np.bool_(True), 3)[0] is None


def test_goldens_of_relative_scores() -> None:
    found = RxnOptEvaluator(DATA).evaluate_all({"a": 1, "b": 0})
    assert [item["score"] for item in found["items"]] == [0.587629, 0.79661]
    assert DATA[1]["meta"]["option_relative_scores"] == [0.79661, 0.474576, 1.0, 0.677966, 0.762712]


def test_everything_a_prediction_can_do_is_counted() -> None:
    data = [question(name, [10.0, 20.0, 20.0]) for name in "abcdefgh"]
    found = RxnOptEvaluator(data).evaluate_all(
        {"a": 1, "b": "2", "c": 0.0, "d": True, "e": None, "f": 3, "x": 1, "y": 1, "h": 0}
    )
    counts = {key: found[key] for key in ("n", "missing", "illegal", "coerced", "unknown_ids")}
    assert counts == {"n": 8, "missing": 2, "illegal": 2, "coerced": 2, "unknown_ids": 2}
    assert found["avg_relative_score"] == (1 + 1 + 0.5 + 0.5) / 8
    assert found["exact_match_accuracy"] == 2 / 8
    assert found["answered_only"] == {
        "n": 4, "avg_relative_score": 0.75, "exact_match_accuracy": 0.5, "avg_yield_ratio": 0.75,
    }  # fmt: skip
    assert found["uniform_guess"]["avg_relative_score"] == pytest.approx(2.5 / 3)
    assert found["uniform_guess"]["exact_match_accuracy"] == pytest.approx(2 / 3)
    outcomes = {
        item["id"]: (item["outcome"], item["read"], item["answer"]) for item in found["items"]
    }
    assert outcomes["b"] == ("scored", 2, "2")
    assert outcomes["d"] == ("illegal", None, "true")
    assert outcomes["e"] == ("missing", None, "")
    assert outcomes["g"] == ("missing", None, "")
    assert "prediction without a question, not used: 2 (x, y)" in found["warnings"]
    json.dumps(json.loads(dump_json(found)), allow_nan=False)


def test_yield_ratio_is_not_the_relative_score() -> None:
    data = [question("a", [40.0, 30.0])]
    data[0]["meta"]["yields"] = [50.0, 90.0]
    found = RxnOptEvaluator(data).evaluate_all({"a": 0})
    assert [found[metric] for metric in METRICS] == [1.0, 1.0, 50 / 90]


def test_options_that_are_all_zero() -> None:
    found = RxnOptEvaluator([question("a", [0.0, 0.0])]).evaluate_all({"a": 1})
    assert [found[metric] for metric in METRICS] == [1.0, 1.0, 1.0]
    missing = RxnOptEvaluator([question("a", [0.0, 0.0])]).evaluate_all({})
    assert [missing[metric] for metric in METRICS] == [0.0, 0.0, 0.0]


def test_intervals_and_errors_against_scipy() -> None:
    data = [question(str(n), [100.0, float(n)]) for n in range(30)]
    found = RxnOptEvaluator(data).evaluate_all({str(n): n % 3 % 2 for n in range(30)})
    scores = np.array([item["score"] for item in found["items"]])
    low, high = stats.t.interval(0.95, 29, scores.mean(), stats.sem(scores))
    assert found["intervals"]["avg_relative_score"] == pytest.approx((low, high))
    assert found["standard_errors"]["avg_relative_score"] == pytest.approx(stats.sem(scores))
    assert (
        RxnOptEvaluator(data[:1]).evaluate_all({})["standard_errors"]["avg_relative_score"] is None
    )


@settings(max_examples=60)
@given(st.data())
def test_scoring_properties(data: st.DataObject) -> None:
    amounts = st.lists(st.integers(0, 100).map(float), min_size=2, max_size=6)
    made = [
        question(f"q{n}", values)
        for n, values in enumerate(data.draw(st.lists(amounts, min_size=1, max_size=8)))
    ]
    prediction = {q["id"]: data.draw(st.integers(-1, 6)) for q in made if data.draw(st.booleans())}
    found = RxnOptEvaluator(made).evaluate_all(prediction)
    mixed = RxnOptEvaluator(data.draw(st.permutations(made))).evaluate_all(
        dict(reversed(prediction.items()))
    )
    assert dump_json(found) == dump_json(mixed)
    assert all(0 <= found[metric] <= 1 for metric in METRICS)
    perfect = RxnOptEvaluator(made).evaluate_all({q["id"]: q["answer"][0] for q in made})
    assert (perfect["avg_relative_score"], perfect["exact_match_accuracy"]) == (1.0, 1.0)
    # Every index in turn is what a uniform guess gets on average.
    for q in made:
        alone = RxnOptEvaluator([q])
        runs = [alone.evaluate_all({q["id"]: i}) for i in range(len(q["options"]))]
        for metric in METRICS:
            mean = math.fsum(run[metric] for run in runs) / len(runs)
            assert runs[0]["uniform_guess"][metric] == pytest.approx(mean)
    better = {**prediction, made[0]["id"]: made[0]["answer"][0]}
    assert (
        RxnOptEvaluator(made).evaluate_all(better)["avg_relative_score"]
        >= found["avg_relative_score"]
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[1, 2]",
            "expected 'id' and 'answer' or 'prediction' in the records, got no id of the questions",
        ),
        ('"a"', "expected a list of records or an object, got str"),
        (
            "{}",
            "expected 'id' and 'answer' or 'prediction' in the records, got no id of the questions",
        ),
        ("", "expected JSON, got an empty file"),
        ("{", "not JSON: line 1 column 2: Expecting property name enclosed in double quotes"),
        (
            '{"x": 1}',
            "expected predictions for this dataset (or --dataset, or a name that begins with its "
            "dataset's), got other "
            "ids",
        ),
    ],
)
def test_bad_predictions(tmp_path: Path, text: str, message: str) -> None:
    dataset, path = tmp_path / "d.json", tmp_path / "d-x.json"
    dataset.write_text(json.dumps(DATA), encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        RxnOptEvaluator().evaluate_file(path, [dataset])
    assert str(caught.value) == f"{path}: {message}"


def test_the_same_answer_twice_is_one(tmp_path: Path) -> None:
    dataset = write(tmp_path / "d.json", json.dumps(DATA))
    path = write(tmp_path / "d-x.json", '{"a": 1, "a": 1, "b": 0}')
    assert RxnOptEvaluator().evaluate_file(path, [dataset])["missing"] == 0


def test_a_prediction_that_is_no_mapping() -> None:
    with pytest.raises(InputError) as caught:
        RxnOptEvaluator(DATA).evaluate_all([0, 1])  # type: ignore[arg-type]
    assert str(caught.value) == "prediction: expected one object {id: option index}, got list"


def test_ids_that_are_one_as_text_are_refused() -> None:
    with pytest.raises(InputError, match="expected ids that differ as text"):
        RxnOptEvaluator([question("1", [20, 40])]).evaluate_all({1: 0, "1": 1})


def test_a_file_against_one_dataset_or_several(tmp_path: Path) -> None:
    one, two, path = tmp_path / "one.json", tmp_path / "two.jsonl", tmp_path / "run.json"
    one.write_text(json.dumps(DATA[:1]), encoding="utf-8")
    two.write_text(json.dumps(DATA[1]) + "\n", encoding="utf-8")
    path.write_text('{"a": 0, "b": 2, "huge": ' + "9" * 5000 + "}", encoding="utf-8")
    found = RxnOptEvaluator().evaluate_file(path, [one, two])
    assert dump_json(found) == dump_json(RxnOptEvaluator().evaluate_file(path, [two, one]))
    assert [found[key] for key in ("name", "prediction", "dataset", "benchmark")] == [
        "run", "run.json", "one.json, two.jsonl", "RxnOptBench",
    ]  # fmt: skip
    assert (found["avg_relative_score"], found["unknown_ids"], found["n"]) == (1.0, 1, 2)
    signature = found["signature"]
    assert signature["evaluator"] == f"RxnOptBench {__version__}"
    assert signature["prediction_sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    alone = RxnOptEvaluator().evaluate_file(path, [one])
    assert alone["signature"]["dataset_sha256"] == hashlib.sha256(one.read_bytes()).hexdigest()


@pytest.mark.parametrize("kind", QUESTION_TYPES)
def test_the_samples_pair_up_and_score(kind: str) -> None:
    prediction = ROOT / "prediction" / f"multiple_choice_{kind}-random.json"
    dataset = find_dataset(prediction, ROOT / "dataset")
    assert dataset is not None
    assert dataset.name == dataset_name(kind)
    found = RxnOptEvaluator().evaluate_file(prediction, [dataset])
    assert (found["missing"], found["illegal"], found["unknown_ids"]) == (0, 0, 0)
    assert list(found["by_question_type"]) == [kind]
    assert 0 < found["avg_relative_score"] < 1
    text = format_text(found.report(items=True))
    assert f"{found['avg_relative_score']:.4f}" in text
    assert found["items"][0]["id"] in text


def test_an_evaluator_without_datasets_says_so(tmp_path: Path) -> None:
    path = write(tmp_path / "p.json", '{"a": 0}')
    with pytest.raises(InputError) as caught:
        RxnOptEvaluator().evaluate_file(path)
    assert str(caught.value) == f"{path}: expected a dataset of RxnOptBench, got none"
    with pytest.raises(InputError, match="expected datasets, got none"):
        RxnOptEvaluator().evaluate_all({"a": 0})
    assert RxnOptEvaluator().settings() == {
        "evaluator": f"RxnOptBench {__version__}",
        "missing": "zero",
    }


# --- Tables, orders, parts ---


def test_errors_are_clustered_by_table_against_scipy() -> None:
    """Equal clusters: the error of the mean of the tables' means, as scipy has it."""
    data = [question(f"t{t}_q{n}{end}", [100.0, 80.0, 30.0, 10.0], kind)
            for t in range(4) for n in range(3)
            for end, kind in (("", "all_varying"), ("_ref", "all_varying_reference"))]  # fmt: skip
    prediction = {q["id"]: (int(q["id"][1]) + int(q["id"][4])) % 4 for q in data}
    found = RxnOptEvaluator(data).evaluate_all(prediction)
    means = [
        np.mean([i["score"] for i in found["items"] if i["id"].startswith(f"t{t}_")])
        for t in range(4)
    ]
    low, high = stats.t.interval(0.95, 3, np.mean(means), stats.sem(means))
    assert found["tables"] == 4
    assert found["standard_errors"]["avg_relative_score"] == pytest.approx(stats.sem(means))
    assert found["intervals"]["avg_relative_score"] == (
        pytest.approx(max(0, low)),
        pytest.approx(min(1, high)),
    )
    one = RxnOptEvaluator(data[:6]).evaluate_all(prediction)
    assert (one["tables"], one["intervals"]["avg_relative_score"],
     one["standard_errors"]["avg_relative_score"]) == (
        1, None, None,
    )  # fmt: skip


def test_ids_of_several_orders_are_unknown() -> None:
    evaluator = RxnOptEvaluator([question("t_q1", [100.0, 50.0])])
    assert evaluator.evaluate_all({"t_q1@1/2": 0, "t_q1@2/2": 0})["unknown_ids"] == 2


def test_the_most_frequent_parts_are_the_largest_ones() -> None:
    """Of many parts with one question each, the first ten by name were shown, and `z` with ten was
    not.
    """
    data = [{**question(f"t{n}_q1", [10.0, 20.0]), "target_key": f"key{n:02}"} for n in range(12)]
    data += [{**question(f"u{n}_q1", [10.0, 20.0]), "target_key": "z"} for n in range(10)]
    results = RxnOptEvaluator(data).evaluate_all({})
    chart = make_charts(results)["keys"]
    assert chart.description.endswith(" The 10 most frequent of 13.")
    assert [row[0] for row in chart.table.rows] == [*(f"key{n:02}" for n in range(9)), "z"]
    last = "0.7500  10\n"
    rest = "3 more values with 3 questions: --by target_key has all.\n"
    assert f"{last}{rest}" in format_text(results.report())
    few = RxnOptEvaluator(data[:10]).evaluate_all({})
    assert "more value" not in format_text(few.report())
    assert len(results.by("target_key")) == 13


def test_parts_by_condition_and_by_number_of_options() -> None:
    data = [
        {**question("t_q1", [10.0, 20.0]), "target_key": "base"},
        {**question("t_q2", [10.0] * 3 + [20.0] * 3), "target_key": "ligand"},
        question("t_q3", [20.0, 10.0], "all_varying"),
        question("t_q4", [float(n) for n in range(1, 31)], "all_varying"),
    ]
    found = RxnOptEvaluator(data).evaluate_all({"t_q1": 0, "t_q2": 5, "t_q3": 0})
    parts = {
        key: (part["n"], part["avg_relative_score"]) for key, part in found["by_target_key"].items()
    }
    assert parts == {"(all that vary)": (2, 0.5), "base": (1, 0.5), "ligand": (1, 1.0)}
    assert found["by_target_key"]["ligand"]["uniform_guess"] == 0.75
    text = format_text(found.report())
    assert "Condition asked about  Relative  Uniform  n\n(all that vary)          0.5000" in text


# --- Pairs of references and controls ---


def test_pairs_against_scipy() -> None:
    data, prediction = [], {}
    for n in range(12):
        kind = "single_varying" if n < 8 else "all_varying"
        for end, suffix in (("_reference", "_ref"), ("_reference_control", "_ref_control")):
            data.append(question(f"t{n}_q1{suffix}", [100.0, 30.0 + n, 50.0], kind + end))
            prediction[f"t{n}_q1{suffix}"] = (n * (7 if end == "_reference" else 5)) % 3
    data.append(question("lonely_q1_ref", [1.0, 2.0], "single_varying_reference"))
    found = RxnOptEvaluator(data).evaluate_all(prediction)
    scores = {item["id"]: item["score"] for item in found["items"]}
    one, other = ([scores[f"t{n}_q1_ref{end}"] for n in range(12)] for end in ("", "_control"))
    pairs = found["pairs"]["overall"]
    assert (pairs["pairs"], pairs["unpaired"]) == (12, 1)
    assert pairs["mean_difference"] == pytest.approx(np.mean(one) - np.mean(other))
    assert pairs["p_value"] == pytest.approx(stats.ttest_rel(one, other).pvalue)
    assert pairs["wins"] == sum(a > b for a, b in zip(one, other, strict=True)) > 0
    assert pairs["wins"] + pairs["ties"] + pairs["losses"] == 12
    assert [found["pairs"][kind]["pairs"] for kind in ("single_varying", "all_varying")] == [8, 4]
    equal = RxnOptEvaluator(data).evaluate_all(dict.fromkeys(prediction, 0))["pairs"]["overall"]
    assert (equal["ties"], equal["p_value"], equal["interval"]) == (12, None, None)


@pytest.mark.parametrize(
    ("answered", "warned"),
    [(["", "_control"], False), ([""], True), (["_control"], True), ([], False)],
)
def test_answers_to_one_side_only_are_warned_about(answered: list[str], warned: bool) -> None:
    data = [
        question(f"t_q1_ref{end}", [1.0, 2.0], f"all_varying_reference{end}")
        for end in ("", "_control")
    ]
    found = RxnOptEvaluator(data).evaluate_all({f"t_q1_ref{end}": 0 for end in answered})
    text = "only one side of the pairs of references and controls was answered: their difference "
    text += "means nothing"
    assert found["warnings"] == ([text] if warned else [])


def test_pairs_of_a_table_are_no_independent_pairs() -> None:
    """Two tables of six equal pairs know as much as two pairs: scipy's t test over the tables'
    means.
    """
    data, prediction = [], {}
    for n in range(12):
        for end, suffix in (("_reference", "_ref"), ("_reference_control", "_ref_control")):
            name = f"t{n % 2}_q{n}{suffix}"
            data.append(question(name, [100.0, 50.0, 20.0], "single_varying" + end))
            prediction[name] = 0 if end == "_reference" else 1 + n % 2
    pair = RxnOptEvaluator(data).evaluate_all(prediction)["pairs"]["overall"]
    test = stats.ttest_1samp([0.5, 0.8], 0)
    assert pair["mean_difference"] == pytest.approx(0.65)
    assert pair["p_value"] == pytest.approx(test.pvalue)
    low, high = test.confidence_interval()
    assert pair["interval"] == (pytest.approx(max(-1, low)), pytest.approx(min(1, high)))
