"""RxnOptBench: cells, replies and scoring. Building is tested in `test_rxnopt_build.py`."""

from __future__ import annotations

import doctest
import hashlib
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import rxnopt
from common import InputError, dump_json, find_dataset
from rxnopt import (
    METRICS,
    QUESTION_TYPES,
    RxnOptEvaluator,
    Settings,
    dataset_name,
    evaluate_file,
    format_report,
    is_dataset,
    parse_replies,
    parse_reply,
    read_fraction,
    read_index,
    read_scores,
    read_yield,
)
from test_futurex import assert_linear

ROOT: Final = Path(__file__).resolve().parent.parent
CASES: Final = ROOT / "tests" / "cases"
NOTATION: Final = json.loads((CASES / "rxnopt_notation.json").read_text(encoding="utf-8"))
MORE: Final = json.loads((CASES / "rxnopt_more.json").read_text(encoding="utf-8"))
Record = dict[str, Any]


def shown(case: Record) -> str:
    return repr(case.get("raw", case.get("reply")))[:40]


# --- Cells ---


def test_the_tables_of_cases_are_not_empty() -> None:
    assert len(NOTATION) == 167
    assert {case["field"] for case in NOTATION} == {"yield", "ee", "er", "dr", "rr"}
    assert min(map(len, MORE.values())) > 10


@pytest.mark.parametrize("case", [c for c in NOTATION if c["field"] == "yield"], ids=shown)
def test_yield_notation(case: Record) -> None:
    cell = read_yield(case["raw"])
    if isinstance(case["expect"], dict):
        found: Record = {"yield_ratio": cell.value, **dict(cell.selectivity)}
        if cell.isolated is not None:
            found["isolated_yield"] = cell.isolated
        assert found == case["expect"]
    else:
        assert (cell.value, cell.isolated, cell.selectivity) == (case["expect"], None, ())


@pytest.mark.parametrize("case", [c for c in NOTATION if c["field"] != "yield"], ids=shown)
def test_selectivity_notation(case: Record) -> None:
    fraction, _ = read_fraction(case["raw"], case["field"])
    expected = case["expect_major_fraction"]
    assert fraction == (None if expected is None else pytest.approx(expected, abs=1e-6))


@pytest.mark.parametrize(
    ("raw", "field"),
    [("78, 75", "yield"), ("104", "yield"), ("-0.8", "yield"), ("90205160000", "yield"), ("complex", "yield"),
     ("80% conversion", "yield"), ("2a (39%), 3a (30%)", "yield"), ("120", "ee"), ("0:0", "er"), (95, "er")],
)  # fmt: skip
def test_what_is_doubtful_is_said(raw: object, field: str) -> None:
    assert read_yield(raw).note if field == "yield" else read_fraction(raw, field)[1]


@pytest.mark.parametrize(
    "raw", ["-", "—", "", "N/A", None, "n.d.", "trace", "27 c", "quant.", "3aa (85%)", "80(77)", 0]
)
def test_what_is_plain_is_not_warned_about(raw: object) -> None:
    assert read_yield(raw).note == ""


@pytest.mark.parametrize("case", MORE["yield"], ids=shown)
def test_more_yields(case: Record) -> None:
    cell = read_yield(case["raw"], case.get("fraction", False))
    selectivity = tuple(map(tuple, case.get("selectivity", ())))
    assert tuple(cell) == (case["value"], case.get("isolated"), selectivity, case.get("note", ""))


@pytest.mark.parametrize("case", MORE["fraction"], ids=shown)
def test_more_fractions(case: Record) -> None:
    fraction, note = read_fraction(case["raw"], case["field"])
    assert fraction == (None if case["value"] is None else pytest.approx(case["value"], rel=1e-12))
    assert note == case.get("note", "")


PIECES: Final = st.sampled_from([
    "5", "95", ".", ",", ":", "/", "%", "(", ")", "[", "]", "<", ">", "≥", "~", "-", "–", "−", "±", " ", "a", "3aa",
    "ee", "dr", "er", "trace", "nd", "n.d.", "quant.", "conv", "rac", "²", "％", "∶", "2a'", "\\u2013", "\x00", "&lt;",
])  # fmt: skip


@settings(deadline=None, max_examples=500)
@given(st.one_of(st.lists(PIECES, max_size=12).map("".join), st.text(), st.integers(), st.floats()), st.booleans())
def test_reading_never_raises_and_stays_in_bounds(raw: object, fraction: bool) -> None:
    cell = read_yield(raw, fraction)
    for value in (cell.value, cell.isolated):
        assert value is None or 0 <= value <= 100
    for field in ("ee", "er", "dr", "rr"):
        part, _ = read_fraction(raw, field)
        assert part is None or 0.2 <= part <= 1  # five components at least share a fifth


@pytest.mark.parametrize(
    "piece", [" ", "a,", "5-", "(", "3a (", "r", "95:", "[a", "<sup>", "5 or ", "option 5 ", "\\u"]
)
def test_reading_is_linear(piece: str) -> None:
    def make(length: int, run: int) -> Callable[[], object]:
        text = f"{run}{piece * (length // len(piece))}"
        return lambda: [read_yield(text), read_fraction(text, "ee"), parse_reply(text), parse_reply(f"answer: {text}")]

    assert_linear(make, 50_000)
    assert_linear(make, 95)  # the longest cells that are looked at: below the floor


# --- Effective scores: the goldens of the specification ---


def effective(**cells: object) -> float:
    return read_scores(cells, Settings(), False)[1]


def test_effective_score_goldens() -> None:
    assert effective(yield_ratio="87 %", ee=87, dr="3:1", rr="6:1") == 52.293214
    assert effective(yield_ratio="77 %", ee=96) == 75.46
    assert effective(isolated_yield=None, yield_ratio="80(77)", ee="96") == 75.46
    assert effective(yield_ratio="88% (3.7:1)") == round(88 * 3.7 / 4.7, 6)
    assert effective(yield_ratio="88% (3.7:1)", dr="1:1") == 44.0  # the cell of its own comes first
    assert effective(yield_ratio=50, ee="", er="95:5") == 47.5
    assert effective(yield_ratio=50, ee="0", er="95:5") == 25.0  # ee 0 is not missing
    assert effective(yield_ratio=50, ee="nd", er="nd", dr="-", rr="—") == 50.0


def test_yield_priority_and_missing_rows() -> None:
    first = Settings(yield_field_priority=("yield_ratio", "isolated_yield"))
    assert read_scores({"isolated_yield": "40", "yield_ratio": "46"}, Settings(), False)[1] == 40.0
    assert read_scores({"isolated_yield": "40", "yield_ratio": "46"}, first, False)[1] == 46.0
    assert read_scores({"yield_ratio": "80(77)"}, first, False)[1] == 80.0
    assert read_scores({"isolated_yield": "0", "yield_ratio": "46"}, Settings(), False)[1] == 0.0
    assert read_scores({"isolated_yield": "complex", "yield_ratio": "46"}, Settings(), False)[1] == 46.0
    scores, _, notes = read_scores({"isolated_yield": "complex", "ee": "120"}, Settings(), False)
    assert scores is None
    assert [field for field, _ in notes] == ["isolated_yield", "ee"]


# --- Replies ---


@pytest.mark.parametrize("case", MORE["replies"], ids=shown)
def test_replies(case: Record) -> None:
    assert parse_reply(case["reply"]) == (case.get("index"), case.get("note", ""))


@settings(deadline=None)
@given(st.one_of(st.text(), st.integers(), st.floats(), st.none(), st.lists(st.text())))
def test_any_reply_gives_an_index_or_a_note(reply: object) -> None:
    index, note = parse_reply(reply)
    assert (index is None) == bool(note)
    assert index is None or index >= 0


def test_replies_by_id() -> None:
    batch = {"custom_id": "b", "response": {"body": {"choices": [{"message": {"content": "Answer: 1"}}]}}}
    rows = [
        {"id": "a", "reply": "0"}, batch, {"id": "c", "text": "Option 1 or Option 2"}, {"id": "d", "reply": None},
        {"id": "e", "reply": "1"}, {"id": "e", "reply": "2"}, {"reply": "1"}, {"id": "a", "reply": "Answer: 0"}, 7,
    ]  # fmt: skip
    assert parse_replies(rows) == (
        {"a": 0, "b": 1},
        [
            "two different indices, left out: 2 (c, e)",
            "no index, left out: 1 (d)",
            "reply without id, not used: 2 (record 7, record 9)",
        ],
    )


# --- Scoring ---


@pytest.mark.parametrize("case", MORE["indices"], ids=shown)
def test_indices(case: Record) -> None:
    index, note = read_index(case["raw"], case["size"])
    assert index == case["index"]
    assert bool(note) == (case["index"] is None or case.get("coerced", False))


def test_numpy_indices() -> None:
    assert read_index(np.int64(2), 3) == (2, "")
    assert read_index(np.float64(2), 3)[0] == 2
    assert read_index(np.bool_(True), 3)[0] is None


def question(name: str, effective: list[float], kind: str = "single_varying", **meta: Any) -> Record:
    best = max(effective)
    return {
        "id": name, "question_type": kind, "input": {}, "options": [{} for _ in effective],
        "answer": [i for i, value in enumerate(effective) if value == best],
        "meta": {
            "yields": effective, "effective_scores": effective,
            "option_relative_scores": [round(value / best, 6) if best else 0.0 for value in effective], **meta,
        },
    }  # fmt: skip


DATA: Final = [question("a", [97.0, 57.0]), question("b", [47.0, 28.0, 59.0, 40.0, 45.0], "all_varying")]


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
    assert counts == {"n": 8, "missing": 1, "illegal": 3, "coerced": 2, "unknown_ids": 2}
    assert found["avg_relative_score"] == (1 + 1 + 0.5 + 0.5) / 8
    assert found["exact_match_accuracy"] == 2 / 8
    assert found["answered_only"] == {
        "n": 4, "avg_relative_score": 0.75, "exact_match_accuracy": 0.5, "avg_yield_ratio": 0.75,
    }  # fmt: skip
    assert found["uniform_guess"]["avg_relative_score"] == pytest.approx(2.5 / 3)
    assert found["uniform_guess"]["exact_match_accuracy"] == pytest.approx(2 / 3)
    outcomes = {item["id"]: (item["outcome"], item["read"], item["answer"]) for item in found["items"]}
    assert outcomes["b"] == ("scored", 2, "2")
    assert outcomes["d"] == ("illegal", None, "true")
    assert outcomes["e"] == ("illegal", None, "")
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
    assert RxnOptEvaluator(data[:1]).evaluate_all({})["standard_errors"]["avg_relative_score"] is None


def test_pairs_against_scipy() -> None:
    data, prediction = [], {}
    for n in range(12):
        kind = "single_varying" if n < 8 else "all_varying"
        for end, suffix in (("_reference", "_ref"), ("_reference_control", "_ref_control")):
            data.append(question(f"t_q{n}{suffix}", [100.0, 30.0 + n, 50.0], kind + end))
            prediction[f"t_q{n}{suffix}"] = (n * (7 if end == "_reference" else 5)) % 3
    data.append(question("lonely_q1_ref", [1.0, 2.0], "single_varying_reference"))
    found = RxnOptEvaluator(data).evaluate_all(prediction)
    scores = {item["id"]: item["score"] for item in found["items"]}
    one, other = ([scores[f"t_q{n}_ref{end}"] for n in range(12)] for end in ("", "_control"))
    pairs = found["pairs"]["overall"]
    assert (pairs["pairs"], pairs["unpaired"]) == (12, 1)
    assert pairs["mean_difference"] == pytest.approx(np.mean(one) - np.mean(other))
    assert pairs["p_value"] == pytest.approx(stats.ttest_rel(one, other).pvalue)
    assert pairs["wins"] == sum(a > b for a, b in zip(one, other, strict=True)) > 0
    assert pairs["wins"] + pairs["ties"] + pairs["losses"] == 12
    assert [found["pairs"][kind]["pairs"] for kind in ("single_varying", "all_varying")] == [8, 4]
    equal = RxnOptEvaluator(data).evaluate_all(dict.fromkeys(prediction, 0))["pairs"]["overall"]
    assert (equal["ties"], equal["p_value"], equal["interval"]) == (12, None, None)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_scoring_properties(data: st.DataObject) -> None:
    amounts = st.lists(st.integers(0, 100).map(float), min_size=2, max_size=6)
    made = [question(f"q{n}", values) for n, values in enumerate(data.draw(st.lists(amounts, min_size=1, max_size=8)))]
    prediction = {q["id"]: data.draw(st.integers(-1, 6)) for q in made if data.draw(st.booleans())}
    found = RxnOptEvaluator(made).evaluate_all(prediction)
    mixed = RxnOptEvaluator(data.draw(st.permutations(made))).evaluate_all(dict(reversed(prediction.items())))
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
    assert RxnOptEvaluator(made).evaluate_all(better)["avg_relative_score"] >= found["avg_relative_score"]


# --- Bad datasets and predictions, word for word ---

BAD_DATA: Final[list[tuple[Record, str]]] = [
    ({"id": None}, "'id' must be text, got None"),
    ({"question_type": "fill"}, f"'question_type' must be one of {', '.join(QUESTION_TYPES)}, got 'fill'"),
    ({"options": []}, "'options' must be a list of options"),
    ({"meta": []}, "'meta' must be an object"),
    ({"answer": [1]}, "'answer' must be [0], the options with the best score, got [1]"),
    ({"answer": [0, 1]}, "'answer' must be [0], the options with the best score, got [0, 1]"),
    ({"answer": 0}, "'answer' must be [0], the options with the best score, got 0"),
    ({"yields": [97.0]}, "meta.yields must hold a number for each of 2 options, got 1 values"),
    ({"yields": None}, "meta.yields must hold a number for each of 2 options, got NoneType"),
    ({"yields": [97.0, True]}, "meta.yields must hold numbers from 0, got True"),
    ({"yields": [97.0, math.nan]}, "meta.yields must hold numbers from 0, got nan"),
    ({"yields": [10.0, 57.0]}, "meta.effective_scores[0] disagrees with its yield (10 at most), got 97.0"),
    ({"option_relative_scores": [1.0, 0.58763]},
     "option_relative_scores[1] must be effective / best = 0.587629, got 0.58763"),
    ({"scores": [{"yield": 97.0, "enantio_major_fraction": None}, {"yield": 57.0, "enantio_major_fraction": 0.5}]},
     "meta.effective_scores[1] disagrees with its yield (28.5 at most), got 57.0"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), BAD_DATA)
def test_bad_datasets(change: Record, message: str) -> None:
    record = question("a", [97.0, 57.0])
    for key, value in change.items():
        (record if key in record else record["meta"])[key] = value
    with pytest.raises(InputError) as caught:
        RxnOptEvaluator([record])
    shown = "None" if "id" in change else "a"
    assert str(caught.value) == f"dataset: record 1 (id {shown}): {message}"


def test_other_bad_datasets(tmp_path: Path) -> None:
    for data, message in [
        ([], "dataset: expected questions, got none"),
        ([DATA[0], DATA[0]], "dataset: record 2 (id a): the id is used more than once"),
        ([7], "dataset: record 1: expected an object: got int"),
    ]:
        with pytest.raises(InputError) as caught:
            RxnOptEvaluator(data)
        assert str(caught.value) == message
    path = tmp_path / "d.jsonl"
    path.write_text(json.dumps(DATA[0]) + "\n{", encoding="utf-8")
    with pytest.raises(InputError, match=r"record 2: expected an object: not JSON: column 2"):
        RxnOptEvaluator([path])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, 2]", "expected one object {id: option index}, got list"),
        ('"a"', "expected one object {id: option index}, got str"),
        ("", "expected JSON, got an empty file"),
        ("{", "not JSON: line 1 column 2: Expecting property name enclosed in double quotes"),
        ('{"a": 1, "a": 0}', "the id a is given twice"),
        ('{"a": 1, "a": 1}', "the id a is given twice"),
        ('{"a": 1, "a": true}', "the id a is given twice"),
        ('{"x": 1}', "expected predictions for this dataset, got none with an id of it"),
    ],
)
def test_bad_predictions(tmp_path: Path, text: str, message: str) -> None:
    dataset, path = tmp_path / "d.json", tmp_path / "d-x.json"
    dataset.write_text(json.dumps(DATA), encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        evaluate_file(path, [dataset])
    assert str(caught.value) == f"{path}: {message}"


def test_a_prediction_that_is_no_mapping() -> None:
    with pytest.raises(InputError) as caught:
        RxnOptEvaluator(DATA).evaluate_all([0, 1])  # type: ignore[arg-type]
    assert str(caught.value) == "prediction: expected one object {id: option index}, got list"


# --- Files ---


def test_a_file_against_one_dataset_or_several(tmp_path: Path) -> None:
    one, two, path = tmp_path / "one.json", tmp_path / "two.jsonl", tmp_path / "run.json"
    one.write_text(json.dumps(DATA[:1]), encoding="utf-8")
    two.write_text(json.dumps(DATA[1]) + "\n", encoding="utf-8")
    path.write_text('{"a": 0, "b": 2, "huge": ' + "9" * 5000 + "}", encoding="utf-8")
    found = evaluate_file(path, [one, two])
    assert dump_json(found) == dump_json(evaluate_file(path, [two, one]))
    assert [found[key] for key in ("name", "prediction", "dataset", "benchmark")] == [
        "run", "run.json", "one.json, two.jsonl", "RxnOptBench",
    ]  # fmt: skip
    assert (found["avg_relative_score"], found["unknown_ids"], found["n"]) == (1.0, 1, 2)
    signature = found["signature"]
    assert signature["evaluator"] == f"RxnOptBench {rxnopt.__version__}"
    assert signature["prediction_sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    alone = evaluate_file(path, [one])
    assert alone["signature"]["dataset_sha256"] == hashlib.sha256(one.read_bytes()).hexdigest()
    again = evaluate_file(path, [one], RxnOptEvaluator([one]))
    assert dump_json(alone) == dump_json(again)


def test_datasets_are_told_apart() -> None:
    for name in sorted(path.name for path in (ROOT / "dataset").glob("*.json")):
        records = json.loads((ROOT / "dataset" / name).read_text(encoding="utf-8"))
        assert is_dataset(records[0]) == name.startswith("multiple_choice_")
    assert not is_dataset({"id": "1", "prompt": "?", "level": 1, "ground_truth": "A"})
    assert not is_dataset([1])


@pytest.mark.parametrize("kind", QUESTION_TYPES)
def test_the_samples_pair_up_and_score(kind: str) -> None:
    prediction = ROOT / "prediction" / f"multiple_choice_{kind}-random.json"
    dataset = find_dataset(prediction, ROOT / "dataset")
    assert dataset is not None
    assert dataset.name == dataset_name(kind)
    found = evaluate_file(prediction, [dataset])
    assert (found["missing"], found["illegal"], found["unknown_ids"]) == (0, 0, 0)
    assert list(found["by_question_type"]) == [kind]
    assert 0 < found["avg_relative_score"] < 1
    text = format_report(found, items=True)
    assert f"{found['avg_relative_score']:.4f}" in text
    assert found["items"][0]["id"] in text


def test_a_report_of_a_hostile_file_is_safe() -> None:
    evil = "\x1b[2J\x07\u202e|\n"
    found = RxnOptEvaluator([question(evil, [1.0, 2.0])]).evaluate_all({evil: evil, evil * 2: 1})
    text = format_report({"name": evil, "dataset": evil, **found}, items=True)
    assert not set(text) & set("\x1b\x07\u202e")


def test_doctests() -> None:
    result = doctest.testmod(rxnopt)
    assert result.attempted >= 7
    assert result.failed == 0


# --- Found by review ---


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([{"yield": 80, "ee": None}, {"yield": 40, "ee": None}], "meta.effective_scores[0] disagrees with its yield"),
        ([{"yield": 10}, {"yield": 40}], "meta.scores[0].yield disagrees with meta.yields[0] = 80, got 10"),
        ([{"yield": 80, "ee": "0"}, {"yield": 40}], "meta.effective_scores[0] disagrees with its yield (40 at most)"),
    ],
)
def test_scores_in_the_form_of_the_seed_are_checked(scores: list[Record], message: str) -> None:
    record = question("t_q1", [20, 40], yields=[80, 40], scores=scores)
    with pytest.raises(InputError) as caught:
        RxnOptEvaluator([record])
    assert message in str(caught.value)


@pytest.mark.parametrize("answer", [[True], [1.0], ["1"], [0, 1], []])
def test_answers_are_integers(answer: list[Any]) -> None:
    with pytest.raises(InputError, match="'answer' must be"):
        RxnOptEvaluator([{**question("t_q1", [20, 40]), "answer": answer}])


def test_ids_that_are_one_as_text_are_refused() -> None:
    with pytest.raises(InputError, match="expected ids that differ as text"):
        RxnOptEvaluator([question("1", [20, 40])]).evaluate_all({1: 0, "1": 1})


@pytest.mark.parametrize("cell", ["72% (2)", "85 (3)", "50(2)", "50.2(3)"])
def test_small_numbers_in_brackets_are_no_isolated_yields(cell: str) -> None:
    assert (read_yield(cell).value, bool(read_yield(cell).note)) == (None, True)


@pytest.mark.parametrize(("cell", "field"), [("dr 3:1", "ee"), ("50% de", "ee"), ("98% ee", "dr"), ("er 95:5", "dr")])
def test_a_selectivity_of_another_kind_is_missing(cell: str, field: str) -> None:
    assert read_fraction(cell, field) == (None, f"another selectivity than {field}")


REPLIES: Final = json.loads((Path(__file__).parent / "cases" / "rxnopt_replies.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", REPLIES, ids=[f"{n}-{str(case['reply'])[:30]!r}" for n, case in enumerate(REPLIES)])
def test_replies_are_read_or_reported(case: Record) -> None:
    assert len(REPLIES) > 80
    index, note = parse_reply(case["reply"])
    assert index == case["expected"]
    assert bool(note) == (index is None)
