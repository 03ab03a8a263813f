"""`FutureXEvaluator`: results, policies, intervals, the seed's example, golden reports, the same
bytes every time.
"""

from __future__ import annotations

import math
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pandas as pd
import pytest

import make_samples
from cli import CASES, GOLDEN, ROOT, Record, asked, box, read_json, run, run_process, shares, write
from eval import FutureXEvaluator
from forecasteval.common.errors import InputError
from golden import REPORTS, report

WEIGHTS: Final = {1: 0.1, 2: 0.2, 3: 0.3, 4: 0.4}
ITEM_KEYS: Final = [
    *(
        "id",
        "level",
        "kind",
        "question",
        "prompt",
        "truth",
        "std",
        "answer",
        "score",
        "outcome",
        "read",
        "note",
        "reason",
        "sigmas",
        "matched",
        "names",
    ),
    *("padded", "unboxed", "loose", "decided_by", "late"),
]


# --- The seed's example ---

README_EXAMPLE: Final = """\
from eval import FutureXEvaluator
import json

# 初始化评估器（带LLM支持）
evaluator = FutureXEvaluator(
    api_key="your_api_key",
    base_url="your_api_base_url"
)

# 或者不使用LLM（仅基础评估）
evaluator = FutureXEvaluator()

# 加载数据
with open('prediction/250915-careful.json', 'r', encoding='utf-8') as f:
    data = json.load(f)

# 执行评估
results = evaluator.evaluate_all(data)

# 查看结果
print(f"总分: {results['overall_score']:.4f}")
for level in [1, 2, 3, 4]:
    score = results['level_scores'][level]
    count = results['level_counts'][level]
    print(f"Level {level}: {score:.4f} (共 {count} 题)")
"""


def careful() -> tuple[list[Record], list[Record]]:
    """The rows of the careful sample and what they score, worked out by hand."""
    rows, expected = (
        read_json(ROOT / "prediction" / "250915-careful.json"),
        read_json(GOLDEN / "careful_scores.json"),
    )
    assert len(rows) == len(expected) >= 50
    assert [row["id"] for row in rows] == [row["id"] for row in expected]
    return rows, expected


def level_mean(rows: list[Record], level: int) -> float:
    scores = [float(row["score"]) for row in rows if row["level"] == level]
    return sum(scores) / len(scores)


def test_seed_readme_example_runs_unchanged() -> None:
    """Only the name of the file is another one than in the seed README."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", README_EXAMPLE],
        capture_output=True,
        encoding="utf-8",
        cwd=ROOT,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    _, expected = careful()
    overall, *levels = done.stdout.splitlines()
    by_hand = sum(weight * level_mean(expected, level) for level, weight in WEIGHTS.items())
    assert float(overall.removeprefix("总分: ")) == pytest.approx(by_hand, abs=2e-4)
    counts = Counter(row["level"] for row in expected)
    assert len(levels) == 4
    for line, level in zip(levels, WEIGHTS, strict=True):
        head, tail = line.split(" (")
        assert (head.split()[:2], tail) == (["Level", f"{level}:"], f"共 {counts[level]} 题)")
        assert float(head.split()[2]) == pytest.approx(level_mean(expected, level), abs=2e-4)


def test_careful_sample_scores_as_worked_out_by_hand() -> None:
    rows, expected = careful()
    items = FutureXEvaluator().evaluate_all(rows)["items"]
    for item, wanted in zip(items, expected, strict=True):
        assert (item["id"], item["level"], item["outcome"]) == (
            wanted["id"],
            wanted["level"],
            wanted["outcome"],
        )
        assert item["score"] == pytest.approx(wanted["score"], abs=1e-4), item


def test_result_keys() -> None:
    results = FutureXEvaluator().evaluate_all(careful()[0])
    promised = {
        "overall_score", "level_scores", "level_counts", "overall_interval", "level_intervals",
        "missing_count",
        "unparsed_count", "unboxed_count", "answered_only", "signature", "warnings", "items",
    }  # fmt: skip
    assert promised <= results.keys()
    for key in ("level_scores", "level_counts", "level_intervals"):
        assert list(results[key]) == [1, 2, 3, 4], key
    assert (
        results["overall_interval"][0] <= results["overall_score"] <= results["overall_interval"][1]
    )
    # Without a box and read, by hand: No; A, B, C, F, J, K; B, C; 6th：…; −13.8.
    assert results["unboxed_count"] == 5
    assert results["missing_count"] == sum(row["outcome"] == "missing" for row in careful()[1]) == 3
    assert results["unparsed_count"] == sum(row["outcome"] == "unparsed" for row in careful()[1])


def test_unboxed_answers_are_counted() -> None:
    rows = [asked(3, "Red", "Red"), asked(3, "Red", box("Red")), asked(4, "5", "It is 5", 1.0)]
    results = FutureXEvaluator().evaluate_all(rows)
    assert (results["unboxed_count"], results["unparsed_count"]) == (1, 1)


def test_frames_in_and_out() -> None:
    """Null, NaN and NaT are null, in a frame and in records that were made of one."""
    rows = [
        {"id": "a", "level": 4, "prompt": "", "ground_truth": "30", "Std": 3.0, "answer": "31.5"},
        {"id": "b", "level": 1, "prompt": "", "ground_truth": "Yes", "Std": None, "answer": None},
    ]
    frame = pd.DataFrame(rows).assign(end_time=pd.NaT)
    for data in (frame, frame.convert_dtypes(), frame.convert_dtypes().to_dict("records")):
        results = FutureXEvaluator().evaluate_all(data)
        assert list(results.to_frame()["outcome"]) == ["scored", "missing"]
        assert list(results.to_frame()["score"]) == [0.75, 0]
        reasons = ["31.5 against 30: 1 − 0.25", "no answer"]
        assert list(results.to_frame()["explanation"]) == reasons
        assert "explanation" not in results["items"][0]


def test_answers_and_questions_are_joined_by_id() -> None:
    """As lists and as frames."""
    questions = [{**asked(4, "30", "", 3.0), "id": "a"}, {**asked(1, "Yes", ""), "id": "b"}]
    for question in questions:
        del question["answer"]
    answers = [{"id": "b", "answer": "Yes"}, {"id": "c", "answer": "No"}]
    for data in ((answers, questions), (pd.DataFrame(answers), pd.DataFrame(questions))):
        results = FutureXEvaluator().evaluate_all(*data)
        assert list(results.to_frame()["score"]) == [0, 1]
        assert results["missing_count"] == 1
        (warning,) = results["warnings"]
        assert warning == "prediction without a question, not used: 1 (c)"
    with pytest.raises(InputError, match="expected predictions for this dataset"):
        FutureXEvaluator().evaluate_all(answers[1:], questions)


def test_paths_are_text_too() -> None:
    by_text = FutureXEvaluator().evaluate_file(
        f"{ROOT}/prediction/250915-random.json", f"{ROOT}/dataset/250915.json"
    )
    path, dataset = ROOT / "prediction" / "250915-random.json", ROOT / "dataset" / "250915.json"
    assert by_text == FutureXEvaluator().evaluate_file(path, [dataset])


def test_items_are_flat_rows_for_pandas() -> None:
    rows, _ = careful()
    results = FutureXEvaluator().evaluate_all(rows)
    frame = pd.DataFrame(results["items"])
    of_dataset = ["question.end_time", "question.additional values", "question.Description"]
    assert sorted(frame.columns) == sorted([*ITEM_KEYS, *of_dataset])
    assert list(frame["id"]) == [row["id"] for row in rows]
    assert frame.groupby("level")["score"].mean().to_dict() == pytest.approx(
        results["level_scores"]
    )
    for item in results["items"]:
        assert all(value is None or isinstance(value, (str, int, float)) for value in item.values())
    long = FutureXEvaluator().evaluate_all([asked(3, "Red", "x" * 501)])["items"][0]
    assert long["answer"] == "x" * 500


def test_prediction_is_read_when_there_is_no_answer() -> None:
    """answer 4; an answer, even an empty one, is an answer."""
    row = asked(1, "Yes")
    del row["answer"]
    score = {"answer": 0, "prediction": 0}
    for name, extra in {
        "prediction": {"prediction": box("Yes")},
        "answer": {"answer": box("No"), "prediction": box("Yes")},
    }.items():
        score[name] = FutureXEvaluator().evaluate_all([{**row, **extra}])["overall_score"]
    assert score == {"answer": 0, "prediction": 1}


def test_weights_are_renormalised_over_levels_with_questions() -> None:
    """Levels 1 and 4: (0.1 * 1 + 0.4 * 0.75) / 0.5 = 0.8; with all four levels the plain weighted
    sum.
    """
    rows = [asked(1, "Yes", box("Yes")), asked(4, "100", box("105"), 10.0)]
    results = FutureXEvaluator().evaluate_all(rows)
    assert results["overall_score"] == pytest.approx(0.8)
    assert results["level_scores"][1] == 1
    assert math.isnan(results["level_scores"][2])
    assert math.isnan(results["level_scores"][3])
    assert results["level_counts"] == {1: 1, 2: 0, 3: 0, 4: 1}
    rows += [asked(2, "['Red']", box("Red, Blue")), asked(3, "Red, Blue", box("Pink"))]
    # 0.1 * 1 + 0.2 * 2/3 + 0.3 * 0 + 0.4 * 0.75
    assert FutureXEvaluator().evaluate_all(rows)["overall_score"] == pytest.approx(
        0.1 + 0.4 / 3 + 0.3
    )


def test_missing_skip_leaves_missing_answers_out() -> None:
    """Level 1: 1 and a missing one; level 4: 0.75, an unparsed one and a missing one."""
    rows = [
        asked(1, "Yes", box("Yes")), asked(1, "Yes", None),
        asked(4, "100", box("105"), 10.0), asked(4, "100", box("Red"), 10.0),
        asked(4, "100", box(""), 10.0),
    ]  # fmt: skip
    zero = FutureXEvaluator(missing="zero").evaluate_all(rows)
    assert zero["level_scores"][1] == 0.5
    assert zero["level_scores"][4] == 0.25
    assert zero["overall_score"] == pytest.approx((0.1 * 0.5 + 0.4 * 0.25) / 0.5)
    skip = FutureXEvaluator(missing="skip").evaluate_all(rows)
    assert skip["level_scores"][1] == 1
    assert skip["level_scores"][4] == 0.375  # the unparsed one stays
    assert skip["overall_score"] == pytest.approx((0.1 * 1 + 0.4 * 0.375) / 0.5)
    assert zero["answered_only"] == skip["answered_only"] == skip["overall_score"]
    for results in (zero, skip):
        assert (results["missing_count"], results["unparsed_count"]) == (2, 1)
    assert (zero["signature"]["missing"], skip["signature"]["missing"]) == ("zero", "skip")


def test_answered_only_is_nan_when_nothing_was_answered() -> None:
    results = FutureXEvaluator().evaluate_all([asked(1, "Yes", None)])
    assert results["overall_score"] == 0
    assert math.isnan(results["answered_only"])


@pytest.mark.parametrize(
    ("truth", "std", "answer", "sigma", "score"),
    [
        ("100", None, "102.5", 0.05, 0.75),  # sigma 5
        ("-100", None, "-102.5", 0.05, 0.75),  # of |truth|
        ("100", None, "105", 0.1, 0.75),  # sigma 10
        ("0", None, "0.005", 0.05, 0.75),  # sigma 0.01
        ("100", 10.0, "105", 0.001, 0.75),  # Std is there
        ("100", 0, "100.1", 0.05, 0),  # Std 0 is not missing
        ("2 million", None, "2.05 million", 0.05, 0.75),  # in the truth's unit: sigma 0.1
        ("100", None, "102.5", None, 0),
    ],
)
def test_relative_sigma(
    truth: str, std: float | None, answer: str, sigma: float | None, score: float
) -> None:
    got = FutureXEvaluator(relative_sigma=sigma).evaluate_prediction(
        box(answer), asked(4, truth, None, std)
    )
    assert got == pytest.approx(score)


@pytest.mark.parametrize(
    "wrong", [{"missing": "drop"}, {"relative_sigma": 0.0}, {"relative_sigma": math.nan}]
)
def test_unknown_policies_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        FutureXEvaluator(**wrong)


# --- Golden files, reproducibility ---


@pytest.mark.parametrize("name", REPORTS)
def test_golden_report(name: str) -> None:
    """If the difference is meant: `python tools/golden.py`."""
    golden = (GOLDEN / name).read_text(encoding="utf-8")
    assert len(golden.splitlines()) > 10
    assert report(name) == golden


def test_random_is_the_default() -> None:
    assert run(ROOT) == run(ROOT, "-f", "250915-random")


def test_random_sample_comes_from_its_generator() -> None:
    dataset = read_json(make_samples.DATASET)
    assert len(dataset) >= 50
    written = (ROOT / "prediction" / "250915-random.json").read_text(encoding="utf-8")
    assert make_samples.render(make_samples.random_predictions(dataset)) == written


def test_hash_seeds_give_the_same_bytes(tmp_path: Path) -> None:
    """Sets of picks must never decide a score or what is shown; the cases hold every kind of
    pick.
    """
    cases = [
        case
        for table in ("choices", "rankings", "names", "boxes", "refusals")
        for case in read_json(CASES / f"{table}.json")
    ]
    write(
        tmp_path, {"cases.json": [{**case, "id": str(number)} for number, case in enumerate(cases)]}
    )
    names = ("-f", "250915-random", "-f", "250915-careful", "-f", str(tmp_path / "cases.json"))
    runs = {run_process(ROOT, *names, "--json", PYTHONHASHSEED=str(seed)) for seed in range(3)}
    assert len(runs) == 1
    done = runs.pop()
    assert (done.code, done.err, len(done.out.splitlines())) == (0, "", 3)
    assert done == run(ROOT, *names, "--json")


@pytest.mark.parametrize("sample", ["250915-random", "250915-careful"])
def test_shuffled_questions_score_exactly_the_same(sample: str) -> None:
    rows = read_json(ROOT / "prediction" / f"{sample}.json")
    wanted = shares(FutureXEvaluator().evaluate_all(rows))
    generator = random.Random(1)
    for _ in range(20):
        generator.shuffle(rows)
        assert shares(FutureXEvaluator().evaluate_all(rows)) == wanted
