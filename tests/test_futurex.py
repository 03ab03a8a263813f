r"""What `eval.py` promises about FutureX: worked cases, results, reports, properties, time.

    python -m pytest tests/test_futurex.py
    python tests/test_futurex.py              rewrite the golden reports (read the difference before committing it)

Every test here holds for any evaluator that follows the spec; only the golden reports pin how a report looks.
"""

from __future__ import annotations

import doctest
import json
import math
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy import stats

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "tests"))

import common  # noqa: E402
import eval as futurex  # noqa: E402
import make_samples  # noqa: E402
from common import InputError  # noqa: E402
from eval import FutureXEvaluator, read_name, same_name  # noqa: E402

GOLDEN: Final = ROOT / "tests" / "golden"
OUTCOMES: Final = {"scored", "missing", "unparsed"}
WEIGHTS: Final = {1: 0.1, 2: 0.2, 3: 0.3, 4: 0.4}
ITEM_KEYS: Final = [
    *("id", "level", "kind", "question", "score", "outcome", "truth", "answer", "read", "note", "decided_by")
]
Case = dict[str, Any]


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def run_cli(*args: str, seed: str | None = None) -> str:
    """stdout of `eval.py`, which must have exited with 0 and written no traceback."""
    env = {**os.environ, "PYTHONIOENCODING": "utf-8", **({"PYTHONHASHSEED": seed} if seed is not None else {})}
    command = [sys.executable, "-W", "error", str(ROOT / "eval.py"), *args]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", env=env, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def question(level: int, truth: object, answer: object = None, std: float | None = None, prompt: str = "") -> Case:
    return {"id": "q", "level": level, "prompt": prompt, "ground_truth": truth, "Std": std, "answer": answer}


def box(text: str) -> str:
    return rf"\boxed{{{text}}}"


# --- Worked cases: the same tables through the library and the command line ---

TABLES: Final = {name: read_json(ROOT / "tests" / "cases" / f"{name}.json") for name in ("futurex", "more", "answers")}
SMALLEST: Final = {"futurex": 132, "more": 260, "answers": 67}
ROWS: Final = [
    pytest.param(table, index, id=f"{table}-{case['name']}")
    for table, cases in TABLES.items()
    for index, case in enumerate(cases)
]


@pytest.mark.parametrize("table", TABLES)
def test_tables_are_whole(table: str) -> None:
    """A table that lost its rows would make every case below pass."""
    cases = TABLES[table]
    assert len(cases) >= SMALLEST[table]
    assert len({case["name"] for case in cases}) == len(cases)
    for case in cases:
        assert {"name", "level", "prompt", "ground_truth", "Std", "answer", "score", "why"} <= case.keys()
        assert 0 <= case["score"] <= 1
        assert case.get("outcome", "scored") in OUTCOMES
        assert case["score"] == 0 or case.get("outcome", "scored") == "scored"


def check(case: Case, item: Case) -> None:
    told = f"{case['answer']!r} against {case['ground_truth']!r}: read {item['read']!r}, {item['outcome']}"
    assert item["score"] == pytest.approx(case["score"], abs=1e-4), f"{told} ({case['why']})"
    assert item["outcome"] == case.get("outcome", item["outcome"]), f"{told} ({case['why']})"


@pytest.mark.parametrize(("table", "index"), ROWS)
def test_case_in_python(table: str, index: int) -> None:
    case = TABLES[table][index]
    evaluator = FutureXEvaluator()
    (item,) = evaluator.evaluate_all([{**case, "id": "case"}])["items"]
    check(case, item)
    assert evaluator.evaluate_prediction(case["answer"], case) == item["score"]


@pytest.fixture(scope="module")
def cli_items(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Case]]:
    """The items of both tables, each scored by one run of the command line."""
    found: dict[str, list[Case]] = {}
    for table, cases in TABLES.items():
        folder = tmp_path_factory.mktemp(table)
        path = folder / "cases.json"
        rows = [{"id": f"{table} {number}", **case} for number, case in enumerate(cases)]
        path.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
        found[table] = json.loads(run_cli("-f", str(path), "--root", str(folder), "--json"))["items"]
    return found


@pytest.mark.parametrize(("table", "index"), ROWS)
def test_case_on_the_command_line(table: str, index: int, cli_items: dict[str, list[Case]]) -> None:
    items = cli_items[table]
    assert len(items) == len(TABLES[table])
    assert items[index]["id"] == f"{table} {index}"
    check(TABLES[table][index], items[index])


# --- Results ---

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


def careful() -> tuple[list[Case], list[Case]]:
    """The rows of the careful sample and what they score, worked out by hand."""
    rows, expected = read_json(ROOT / "prediction" / "250915-careful.json"), read_json(GOLDEN / "careful_scores.json")
    assert len(rows) == len(expected) >= 50
    assert [row["id"] for row in rows] == [row["id"] for row in expected]
    return rows, expected


def level_mean(rows: list[Case], level: int) -> float:
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
        assert (item["id"], item["level"], item["outcome"]) == (wanted["id"], wanted["level"], wanted["outcome"])
        assert item["score"] == pytest.approx(wanted["score"], abs=1e-4), item


def test_result_keys() -> None:
    results = FutureXEvaluator().evaluate_all(careful()[0])
    promised = {
        "overall_score", "level_scores", "level_counts", "overall_interval", "level_intervals", "missing_count",
        "unparsed_count", "unboxed_count", "answered_only", "signature", "warnings", "items",
    }  # fmt: skip
    assert promised <= results.keys()
    for key in ("level_scores", "level_counts", "level_intervals"):
        assert list(results[key]) == [1, 2, 3, 4], key
    assert results["overall_interval"][0] <= results["overall_score"] <= results["overall_interval"][1]
    # Without a box and read, by hand: No; A, B, C, F, J, K; B, C; 6th：…; −13.8.
    assert results["unboxed_count"] == 5
    assert results["missing_count"] == sum(row["outcome"] == "missing" for row in careful()[1]) == 3
    assert results["unparsed_count"] == sum(row["outcome"] == "unparsed" for row in careful()[1])


def test_unboxed_answers_are_counted() -> None:
    rows = [question(3, "Red", "Red"), question(3, "Red", box("Red")), question(4, "5", "It is 5", 1.0)]
    results = FutureXEvaluator().evaluate_all(rows)
    assert (results["unboxed_count"], results["unparsed_count"]) == (1, 1)


def test_items_are_flat_rows_for_pandas() -> None:
    rows, _ = careful()
    results = FutureXEvaluator().evaluate_all(rows)
    frame = pd.DataFrame(results["items"])
    assert list(frame.columns) == ITEM_KEYS
    assert list(frame["id"]) == [row["id"] for row in rows]
    assert frame.groupby("level")["score"].mean().to_dict() == pytest.approx(results["level_scores"])
    for item in results["items"]:
        assert all(value is None or isinstance(value, (str, int, float)) for value in item.values())
    long = FutureXEvaluator().evaluate_all([question(3, "Red", "x" * 501)])["items"][0]
    assert long["answer"] == "x" * 500


def test_prediction_is_read_when_there_is_no_answer() -> None:
    """answer 4; an answer, even an empty one, is an answer."""
    row = question(1, "Yes")
    del row["answer"]
    score = {"answer": 0, "prediction": 0}
    for name, extra in {
        "prediction": {"prediction": box("Yes")},
        "answer": {"answer": box("No"), "prediction": box("Yes")},
    }.items():
        score[name] = FutureXEvaluator().evaluate_all([{**row, **extra}])["overall_score"]
    assert score == {"answer": 0, "prediction": 1}


def test_weights_are_renormalised_over_levels_with_questions() -> None:
    """Levels 1 and 4: (0.1 * 1 + 0.4 * 0.75) / 0.5 = 0.8; with all four levels the plain weighted sum."""
    rows = [question(1, "Yes", box("Yes")), question(4, "100", box("105"), 10.0)]
    results = FutureXEvaluator().evaluate_all(rows)
    assert results["overall_score"] == pytest.approx(0.8)
    assert results["level_scores"][1] == 1
    assert math.isnan(results["level_scores"][2])
    assert math.isnan(results["level_scores"][3])
    assert results["level_counts"] == {1: 1, 2: 0, 3: 0, 4: 1}
    rows += [question(2, "['Red']", box("Red, Blue")), question(3, "Red, Blue", box("Pink"))]
    # 0.1 * 1 + 0.2 * 2/3 + 0.3 * 0 + 0.4 * 0.75
    assert FutureXEvaluator().evaluate_all(rows)["overall_score"] == pytest.approx(0.1 + 0.4 / 3 + 0.3)


def test_level_without_questions_is_null_in_json_and_a_dash_on_screen(tmp_path: Path) -> None:
    path = tmp_path / "few.json"
    path.write_text(json.dumps([question(1, "Yes", box("Yes")), question(1, "No", box("Yes"))]), encoding="utf-8")
    told = json.loads(run_cli("-f", str(path), "--root", str(tmp_path), "--json"))
    assert told["level_scores"] == {"1": 0.5, "2": None, "3": None, "4": None}
    report = run_cli("-f", str(path), "--root", str(tmp_path)).splitlines()
    for level in (2, 3, 4):
        (line,) = [line.split() for line in report if line.startswith(f"Level {level}")]
        assert line[3:5] == ["–", "–"]


def test_missing_skip_leaves_missing_answers_out() -> None:
    """Level 1: 1 and a missing one; level 4: 0.75, an unparsed one and a missing one."""
    rows = [
        question(1, "Yes", box("Yes")), question(1, "Yes", None),
        question(4, "100", box("105"), 10.0), question(4, "100", box("Red"), 10.0), question(4, "100", box(""), 10.0),
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
    results = FutureXEvaluator().evaluate_all([question(1, "Yes", None)])
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
def test_relative_sigma(truth: str, std: float | None, answer: str, sigma: float | None, score: float) -> None:
    got = FutureXEvaluator(relative_sigma=sigma).evaluate_prediction(box(answer), question(4, truth, None, std))
    assert got == pytest.approx(score)


@pytest.mark.parametrize("wrong", [{"missing": "drop"}, {"relative_sigma": 0.0}, {"relative_sigma": math.nan}])
def test_unknown_policies_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        FutureXEvaluator(**wrong)


# --- Intervals ---


def rows_scoring(level: int, scores: list[float]) -> list[Case]:
    """Numeric or choice questions of a level that score exactly 0, 0.75 or 1."""
    answers = {1.0: "100", 0.75: "105", 0.0: "200"}
    if level <= 2:
        return [question(level, "Yes", box("Yes" if score else "No")) for score in scores]
    return [question(level, "100", box(answers[score]), 10.0) for score in scores]


def test_interval_against_scipy() -> None:
    scores = {1: [1.0, 0.0, 1.0], 3: [1.0, 0.75, 0.0, 0.0, 0.75], 4: [0.75, 0.0]}
    rows = [row for level, values in scores.items() for row in rows_scoring(level, values)]
    results = FutureXEvaluator().evaluate_all(rows)
    total = sum(WEIGHTS[level] for level in scores)
    parts = {  # level: w² s² / n
        level: (WEIGHTS[level] / total) ** 2 * pd.Series(values).var(ddof=1) / len(values)
        for level, values in scores.items()
    }
    center = sum(WEIGHTS[level] / total * pd.Series(values).mean() for level, values in scores.items())
    freedom = sum(parts.values()) ** 2 / sum(part**2 / (len(scores[level]) - 1) for level, part in parts.items())
    reach = stats.t.ppf(0.975, freedom) * math.sqrt(sum(parts.values()))
    assert 0 < freedom < 10
    assert results["overall_interval"] == pytest.approx((max(0, center - reach), min(1, center + reach)), abs=1e-6)
    spread = stats.t.interval(0.95, 4, 0.5, stats.sem(scores[3]))
    wanted = (max(0, spread[0]), min(1, spread[1]))
    assert results["level_intervals"][3] == pytest.approx(wanted, abs=1e-6)
    assert results["level_intervals"][2] is None


@pytest.mark.parametrize(
    ("scores", "some"),
    [
        ({1: [1.0]}, False),  # one question
        ({1: [1.0, 0.0], 4: [0.75]}, False),  # a weighted level with one question
        ({1: [1.0, 1.0], 4: [0.75, 0.75]}, False),  # all variances 0
        ({1: [1.0, 1.0], 4: [0.75, 0.0]}, True),  # one variance is not
        ({2: [1.0, 0.0]}, True),  # levels without questions have no weight
    ],
)
def test_interval_is_none_where_there_is_none(scores: dict[int, list[float]], some: bool) -> None:
    rows = [row for level, values in scores.items() for row in rows_scoring(level, values)]
    results = FutureXEvaluator().evaluate_all(rows)
    assert (results["overall_interval"] is not None) is some
    for level in WEIGHTS:
        assert (results["level_intervals"][level] is not None) is (len(set(scores.get(level, []))) > 1)


# --- Doctests, golden files, reproducibility ---


@pytest.mark.parametrize("module", [futurex, common], ids=["eval", "common"])
def test_doctests(module: Any) -> None:
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0


REPORTS: Final = {
    "250915-careful.txt": ("-f", "250915-careful"),
    "250915-careful-items.txt": ("-f", "250915-careful", "--items"),
    "250915-random.txt": ("-f", "250915-random"),
}


@pytest.mark.parametrize("name", REPORTS)
def test_golden_report(name: str) -> None:
    """If the difference is meant: `python tests/test_futurex.py`."""
    golden = (GOLDEN / name).read_text(encoding="utf-8")
    assert len(golden.splitlines()) > 10
    assert run_cli(*REPORTS[name]) == golden


def test_random_is_the_default() -> None:
    assert run_cli() == run_cli("-f", "250915-random")


def test_random_sample_comes_from_its_generator() -> None:
    dataset = read_json(make_samples.DATASET)
    assert len(dataset) >= 50
    written = (ROOT / "prediction" / "250915-random.json").read_text(encoding="utf-8")
    assert make_samples.render(make_samples.random_predictions(dataset)) == written


def test_ten_hash_seeds_give_the_same_bytes(tmp_path: Path) -> None:
    """Sets of picks must never decide a score or what is shown; the cases hold every kind of pick."""
    path = tmp_path / "cases.json"
    rows = [{"id": str(number), **case} for number, case in enumerate(TABLES["futurex"] + TABLES["more"])]
    path.write_text(json.dumps(rows), encoding="utf-8")
    names = ("-f", "250915-random", "-f", "250915-careful", "-f", str(path))
    outputs = {run_cli(*names, "--json", seed=str(seed)) for seed in range(10)}
    assert len(outputs) == 1
    assert len(outputs.pop().splitlines()) == 3


def shares(results: dict[str, Any]) -> str:
    """All that must not depend on the order of questions, as text (nan equals itself there)."""
    keys = ("overall_score", "overall_interval", "level_scores", "level_intervals", "level_counts", "missing_count")
    return repr([results[key] for key in (*keys, "unparsed_count", "unboxed_count", "answered_only")])


@pytest.mark.parametrize("sample", ["250915-random", "250915-careful"])
def test_shuffled_questions_score_exactly_the_same(sample: str) -> None:
    rows = read_json(ROOT / "prediction" / f"{sample}.json")
    wanted = shares(FutureXEvaluator().evaluate_all(rows))
    generator = random.Random(1)
    for _ in range(20):
        generator.shuffle(rows)
        assert shares(FutureXEvaluator().evaluate_all(rows)) == wanted


# --- Properties ---


def listing(*options: str) -> str:
    lines = "".join(f"\n{chr(65 + number)}.  {text}" for number, text in enumerate(options))
    return f'The event to be predicted: "Which of these? {lines}"\n'


RATES: Final = listing("the outcome be Lower", "the outcome be Same", "the outcome be Higher")
BANDS: Final = listing("Less than 2.00%", "At least 2.00%, but less than 2.25%", "2.25% or more")
MANY: Final = listing(*(f"the outcome be Player {number}" for number in range(1, 35)))
KINDS: Final = {
    "yes or no": question(1, "Yes"),
    "one option": question(1, "B", prompt=RATES),
    "a name": question(1, "['Islanders']"),
    "some options": question(2, "A, B", prompt=BANDS),
    "34 options": question(2, "['A', '`', 'b', '\\\\']", prompt=MANY),
    "labels only": question(2, "A, C"),
    "some names": question(2, "['Red Foxes', 'Blue Owls']"),
    "ranking": question(3, "Petra Vandermoss, Quill Motors Falcon and Sunrise (The Games, #0.5)."),
    "Chinese ranking": question(4, "第6名：甲组，第7名：乙组-林小渚，第8名：《熊猫计划2》(Panda 2)"),
    "number": question(4, "46,396.47", std=144.51),
    "exact number": question(3, "838.34"),
    "zero Std": question(3, "49", std=0.0),
    "percent": question(4, "30.98%", std=2.0),
    "scaled number": question(4, "89.86 billion yuan", std=0.5, prompt="in hundreds of millions of yuan?"),
    "Std but names": question(3, "Red, Blue", std=2.0),
}
FRAGMENTS: Final = (
    *"ABCb`[]\\^_(){}<>$%~*#@\"'“”《》【】-–—−±≈,，、;；/|&:：.。 \n\t\b\f\0",
    *("\\boxed{", "\\fbox{", "\x08oxed{", "\x0cbox{", "\text{", "\\text{", "\\times", "\\\\", "\\n", "{,}", "\\,"),
    *("0", "1", "5", "12", "1,234", "999", "1e9", "1e999", "10^", "10^400", "９", "²", "⁻³", "①", "½", "٣", "𝟙", "٫"),
    *("million", "hundred ", "billion", "k", "m", "bn", "万", "亿", "千", "负", "元", "股", "天", "%", " yuan"),
    *(" and ", " to ", "between ", "about ", "约", "至", "和", " by ", " - ", "out of ", "in 2026", "Sep 23, "),
    *("1. ", "2) ", "6th: ", "第6名：", "#3 ", "No. 4 ", "Rank 15: ", "1、", "18: ", "S&P 500", "沪深300", "36氪"),
    *("Yes", "no", "是", "否", "Option B", "选项B", "The answer is ", "Red", "Blue", "Petra", "甲组", "İ", "ﬁ"),
    *("['", "', '", "']", '["', "[1.5]", "'", "\\'", "\\x4", "\\u12", "\ud800", "\u200b", "\ufeff", "\x1b[31m"),
)
ANY_TEXT: Final = st.one_of(
    st.text(st.characters(exclude_categories=())),
    st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join),
    st.lists(st.sampled_from(FRAGMENTS), max_size=12).map(lambda parts: box("".join(parts))),
)
ANY_JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
EVALUATOR: Final = FutureXEvaluator()
thorough = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def check_results(results: dict[str, Any]) -> None:
    (item,) = results["items"]
    assert 0 <= item["score"] <= 1
    assert item["outcome"] in OUTCOMES
    assert item["outcome"] == "scored" or item["score"] == 0
    assert 0 <= results["overall_score"] <= 1
    common.dump_json(results)


@pytest.mark.parametrize("kind", KINDS)
@thorough
@given(answer=ANY_TEXT)
def test_any_text_scores_between_0_and_1(kind: str, answer: str) -> None:
    check_results(EVALUATOR.evaluate_all([{**KINDS[kind], "answer": answer}]))


@thorough
@given(kind=st.sampled_from(sorted(KINDS)), answer=ANY_JSON)
def test_any_json_value_scores_between_0_and_1(kind: str, answer: object) -> None:
    check_results(EVALUATOR.evaluate_all([{**KINDS[kind], "answer": answer}]))


@pytest.mark.parametrize("level", WEIGHTS)
@thorough
@given(prompt=ANY_TEXT, truth=ANY_TEXT, answer=ANY_TEXT, std=st.sampled_from([None, 0.0, 5.0, 1e-300, 1e300]))
def test_any_question_scores_or_is_refused(level: int, prompt: str, truth: str, answer: str, std: float | None) -> None:
    try:
        results = EVALUATOR.evaluate_all([question(level, truth, answer, std, prompt)])
    except InputError:
        return
    check_results(results)


@thorough
@given(text=ANY_TEXT)
def test_parsers_never_raise(text: str) -> None:
    futurex.last_boxed(text)
    common.parse_literal(text)
    cleaned = futurex.clean(text)
    for part in (text, cleaned):
        for quantity in filter(None, [futurex.parse_number(part), *futurex.find_numbers(part)]):
            assert math.isfinite(quantity.value)
        assert all(futurex.split_items(part))
        assert futurex.item_count(part) is None or futurex.item_count(part) > 0
        scale = futurex.question_scale(part)
        assert scale is None or 0 < scale < math.inf
        name = read_name(part)
        assert same_name(name, name)


NAMES: Final = (
    "Petra Vandermoss", "Dov Marchetti", "Onyx Tide", "Salt/Pepper Kit", "fernlab/tidewalker", "Null_Harbour",
    "Frozen 2", "731", "7天", "36氪", "熊猫计划2", "白鹭P5 DM", "鲸歌生物-W", "Sunrise (The Games)", "云蹄", "Straße 9",
    "Owl", "Model Y", "Quiet Engines", "慢车开往鹤汀",
)  # fmt: skip


@thorough
@given(kind=st.sampled_from(sorted(KINDS)))
def test_truth_itself_is_a_perfect_answer(kind: str) -> None:
    row = KINDS[kind]
    assert EVALUATOR.evaluate_prediction(box(row["ground_truth"]), row) == 1


@thorough
@given(names=st.lists(st.sampled_from(NAMES), min_size=1, max_size=8, unique=True), data=st.data())
def test_ranking_truth_is_a_perfect_answer(names: list[str], data: st.DataObject) -> None:
    """In every way of writing a list, for the truth and for the answer."""
    ways: list[Callable[[list[str]], str]] = [
        repr,
        lambda items: json.dumps(items, ensure_ascii=False),
        ", ".join,
        "、".join,
        "\n".join,
        lambda items: "\n".join(f"{rank}. {name}" for rank, name in enumerate(items, 1)),
        lambda items: "，".join(f"第{rank}名：{name}" for rank, name in enumerate(items, 6)),
        lambda items: " ".join(f"{rank}th: {name}" for rank, name in enumerate(items, 6)),
    ]
    literal_first = ways[:2] if len(names) == 1 else ways  # "731" alone would be a number
    truth = data.draw(st.sampled_from(literal_first))(names)
    answer = data.draw(st.sampled_from(ways))(names)
    assume(names != ["731"])
    assert EVALUATOR.evaluate_prediction(box(truth), question(3, truth)) == 1
    assert EVALUATOR.evaluate_prediction(box(answer), question(3, truth)) == 1


@thorough
@given(picks=st.sets(st.integers(0, 33), min_size=1, max_size=34), level=st.sampled_from([1, 2]))
def test_choice_truth_is_a_perfect_answer(picks: set[int], level: int) -> None:
    labels = [chr(65 + pick) for pick in sorted(picks)]
    row = question(level, repr(labels), prompt=MANY)
    texts = [f"Player {pick + 1}" for pick in sorted(picks)]
    for answer in (box(repr(labels)), box(", ".join(labels)), box(", ".join(texts)), labels):
        assert EVALUATOR.evaluate_prediction(answer, row) == 1, answer


DECIMALS: Final = st.integers(-(10**9), 10**9).map(lambda cents: f"{cents // 100}.{cents % 100:02d}")
UNITS: Final = ("", "%", " million", " billion yuan", "亿元", "万", " yuan", " points", "元", " million shares", "万亿")


@thorough
@given(
    value=DECIMALS,
    unit=st.sampled_from(UNITS),
    std=st.sampled_from([None, 0.0, 3.5]),
    prompt=st.sampled_from(["", "in hundreds of millions of yuan?", "多少万元？", "%多少？", "in ten thousand yuan?"]),
)
def test_number_truth_is_a_perfect_answer(value: str, unit: str, std: float | None, prompt: str) -> None:
    truth = value + unit
    assert EVALUATOR.evaluate_prediction(box(truth), question(4, truth, None, std, prompt)) == 1
    sentence = f"The value on March 5, 2026 (GMT+8) will be {truth}."
    if std is not None:
        assert EVALUATOR.evaluate_prediction(box(truth), question(4, sentence, None, std, prompt)) == 1


@thorough
@given(truth=DECIMALS, one=DECIMALS, other=DECIMALS, std=st.floats(1e-3, 1e9))
def test_smaller_error_never_scores_less(truth: str, one: str, other: str, std: float) -> None:
    near, far = sorted((one, other), key=lambda text: abs(float(text) - float(truth)))
    row = question(4, truth, None, std)
    near_score, far_score = (EVALUATOR.evaluate_prediction(box(text), row) for text in (near, far))
    assert near_score >= far_score
    error = (float(near) - float(truth)) / std
    assert near_score == pytest.approx(max(0, 1 - error * error), abs=1e-9)


@thorough
@given(
    truth=st.lists(st.sampled_from(NAMES), min_size=1, max_size=6),
    predicted=st.lists(st.sampled_from(NAMES), min_size=1, max_size=10),
)
def test_every_item_of_a_ranking_is_matched_once(truth: list[str], predicted: list[str]) -> None:
    """No two of NAMES are the same, so that the multisets' intersection counts; duplicates included."""
    assume(truth != ["731"])
    common_items = sum((Counter(truth) & Counter(predicted)).values())
    wanted = 1 if truth == predicted else 0.8 * common_items / len(truth)
    assert EVALUATOR.evaluate_prediction(box(repr(predicted)), question(3, repr(truth))) == pytest.approx(wanted)


@thorough
@given(data=st.data())
def test_order_of_questions_changes_nothing(data: st.DataObject) -> None:
    answers = st.one_of(ANY_TEXT, st.sampled_from(["Yes", "B", "A, B", "46,300", "30%", "Red, Blue", "Petra"]))
    drawn = data.draw(st.lists(st.tuples(st.sampled_from(sorted(KINDS)), answers), min_size=2, max_size=25))
    rows = [{**KINDS[kind], "answer": answer} for kind, answer in drawn]
    rows += [question(4, "100", box(str(100 + number / 7)), 10.0) for number in range(data.draw(st.integers(0, 9)))]
    mixed = data.draw(st.permutations(rows))
    assert shares(EVALUATOR.evaluate_all(rows)) == shares(EVALUATOR.evaluate_all(mixed))


# --- Time: twice the text, about twice the time ---

MB: Final = 1_000_000
SPAN: Final = 5_000  # twice that is the longest answer that is read at all


def repeated(pattern: str, before: str = "", after: str = "") -> Callable[[int], str]:
    return lambda size: before + pattern * (size // len(pattern)) + after


def boxed(pattern: str, before: str = "", after: str = "") -> Callable[[int], str]:
    return repeated(pattern, r"\boxed{" + before, after + "}")


# name, size, kind of question, text of that size; the whole table runs as answers
ANSWERS: Final[list[tuple[str, int, str, Callable[[int], str]]]] = [
    ("boxes that never close", 5 * MB, "one option", repeated(r"\boxed{")),
    ("closed boxes", MB, "some options", repeated(r"\boxed{A}")),
    ("joined boxes", MB, "some options", repeated(r"\boxed{A}, ")),
    ("joined boxes of names", MB, "ranking", repeated("\\boxed{a}、\n")),
    ("empty boxes", 2 * MB, "number", repeated(r"\boxed{}")),
    ("boxes in boxes", 2 * MB, "number", lambda size: r"\boxed{" * (size // 8) + "1" + "}" * (size // 8)),
    ("open braces", 5 * MB, "number", repeated("{", after=r"\boxed{5}")),
    ("closing braces", 5 * MB, "number", repeated("}", after=r"\boxed{5}")),
    ("spaces between boxes", 5 * MB, "one option", repeated(" ", r"\boxed{A}", r"\boxed{B}")),
    ("commas between boxes", 5 * MB, "one option", repeated(", ", r"\boxed{A}", r"\boxed{B}")),
    ("stars around a box", 5 * MB, "one option", repeated("*", "", r"\boxed{B}")),
    ("lost backslashes", 2 * MB, "one option", repeated("\x08oxed{", after="}")),
    ("backspaces", 5 * MB, "one option", repeated("\x08", after="oxed{B}")),
    ("backslashes", 5 * MB, "one option", repeated("\\", after="boxed{B}")),
    ("prose without a box", 5 * MB, "ranking", repeated("word ")),
    ("commas without a box", 5 * MB, "ranking", repeated(",")),
    ("a number of megabytes", 5 * MB, "number", repeated("9")),
    ("digits in a box", SPAN, "number", boxed("9")),
    ("groups of three", SPAN, "number", boxed("123,")),
    ("groups with spaces", SPAN, "number", boxed("123 ")),
    ("groups of two", SPAN, "number", boxed("12,", after="345")),
    ("signs", SPAN, "number", boxed("-", after="5")),
    ("spaces before a digit", SPAN, "number", boxed(" ", "$", "5x")),
    ("scale words", SPAN, "number", boxed("hundred ", "5 ", "x")),
    ("scale characters", SPAN, "number", boxed("万", "5", "x")),
    ("parts that add", SPAN, "number", boxed("1亿2万")),
    ("ranges", SPAN, "number", boxed("1-2-")),
    ("powers", SPAN, "number", boxed("10^")),
    ("errors", SPAN, "number", boxed("± 5 ")),
    ("about", SPAN, "number", boxed("about ", after="x 5")),
    ("open brackets before numbers", SPAN, "number", boxed("(1 ")),
    ("open square brackets", SPAN, "number", boxed("[1 ")),
    ("dates", SPAN, "number", boxed("Jan 1, ")),
    ("months", SPAN, "number", boxed("Jan", after="1")),
    ("a word and a digit", SPAN, "number", boxed("a", after="-1")),
    ("letters and dashes", SPAN, "number", boxed("a1-")),
    ("out of", SPAN, "number", boxed("out of ", after="5")),
    ("spaced units", SPAN, "number", boxed(" ", "5", "yuan")),
    ("labels in a ranking", SPAN, "ranking", boxed("1. ")),
    ("counted labels", SPAN, "ranking", boxed("1. a 2. b ")),
    ("Chinese labels", SPAN, "Chinese ranking", boxed("第1名")),
    ("enumerations", SPAN, "Chinese ranking", boxed("731、")),
    ("labels that might start a name", SPAN, "Chinese ranking", boxed("300. a, ")),
    ("open brackets in names", SPAN, "ranking", boxed("(a")),
    ("open quotes in names", SPAN, "ranking", boxed('"a')),
    ("open Chinese quotes", SPAN, "ranking", boxed("《")),
    ("bracket pairs", SPAN, "ranking", boxed("(a)")),
    ("and", SPAN, "ranking", boxed("a and ", "b, ")),
    ("authors", SPAN, "ranking", boxed("a by ")),
    ("dashes", SPAN, "ranking", boxed(" - ", "a")),
    ("names of one character", SPAN, "ranking", boxed("a,")),
    ("many suffixes", SPAN, "ranking", boxed("x falcon, ")),
    ("spaces in a name", SPAN, "ranking", boxed(" ", "a", "b")),
    ("CJK and spaces", SPAN, "Chinese ranking", boxed("甲 ")),
    ("dots", SPAN, "ranking", boxed(".", "a", "b")),
    ("labels", SPAN, "some options", boxed("A,")),
    ("glued labels", SPAN, "some options", boxed("A")),
    ("option words", SPAN, "some options", boxed("option ")),
    ("parts of an option", SPAN, "some options", boxed("At least 2.00%, ")),
    ("lead-ins", SPAN, "one option", boxed("the most likely ", "the final ")),
    ("spaces between labels", SPAN, "34 options", boxed(" ", "A", "B")),
    ("spaces before a comma", SPAN, "34 options", boxed(" ", "A", ",")),
    ("yes", SPAN, "yes or no", boxed("yes ")),
    ("names to choose", SPAN, "some names", boxed("red foxes, ")),
    ("dollars", SPAN, "number", boxed("$")),
    ("dollars in pairs", SPAN, "number", boxed("$a")),
    ("commands", SPAN, "number", boxed("\\text{", after="5")),
    ("tildes", SPAN, "number", boxed("5~")),
    ("a literal that breaks", SPAN, "ranking", boxed("'a', ", "[", "]")),
    ("escapes in a literal", SPAN, "ranking", boxed("\\", "['", "']")),
]  # fmt: skip
LARGE: Final = 300_000
# pattern, level, Std: texts of LARGE characters as truths, answered with a short box
TRUTHS: Final = [
    ("Red, ", 3, None), ("1. Red 2. Blue ", 3, None), ("(", 3, None), ('"a', 3, None), ("《", 3, None),
    ("a and ", 3, None), ("a by ", 3, None), (" - ", 3, None), ("731、", 3, None), ("甲 ", 3, None),
    ("300. a, ", 3, None),
    ("9", 4, 5.0), ("123 ", 4, 5.0), ("Jan 1 ", 4, 5.0), ("(1 ", 4, 5.0), ("a1-", 4, 5.0), ("12,", 4, 5.0),
    ("1亿2万", 4, 5.0), ("hundred ", 4, 5.0), ("-", 4, 5.0), (" ", 4, 5.0), ("$ ", 4, 5.0), ("1-2-", 4, 5.0),
    ("a", 4, 5.0),
    ("A,", 2, None), ("A", 1, None), ("\\boxed{", 1, None), ("the final ", 1, None), ("'a', ", 3, None),
]  # fmt: skip
PROMPTS: Final = [
    ("\nA. x\nB. y", 2), ("in ", 4), ("in hundreds of ", 4), ("rank 6 ", 3), ("第 ", 3), ("多少", 4), ("A. | ", 1),
    ("\n", 1), ("rank from 1 to ", 3), ("in units of ten ", 4), ("1 ", 3), ("单位: ", 4),
]  # fmt: skip
NAME_PATTERNS: Final = (
    *("a", "a ", "甲 ", " ", "(a", "(a)", "a by ", "a - ", "@", ".", "《", "-", "a.", "İ", "[a] ", "【"),
)


def seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def assert_linear(make: Callable[[int, int], Callable[[], object]], size: int) -> None:
    """Time at `2 * size` is under 3.5 times that at `size`; quadratic work gives 4. The best of a few runs counts.

    `make(size, run)` prepares one run, a new text each time so that no cache helps. Below the floor times are noise,
    and quadratic work that takes 20 ms for the longest text that is read does no harm.
    """
    times = {size: math.inf, 2 * size: math.inf}
    for run in range(6):
        for length in times:
            times[length] = min(times[length], seconds(make(length, run)))
        if times[2 * size] < 0.02 or times[2 * size] < 3.5 * times[size]:
            return
        if times[2 * size] > 2:  # so long is no noise, and six runs of quadratic work would take minutes
            break
    pytest.fail(f"{times[size]:.3f} s for {size}, {times[2 * size]:.3f} s for {2 * size}")


@pytest.mark.parametrize(("size", "kind", "text"), [pytest.param(*row, id=name) for name, *row in ANSWERS])
def test_answers_take_linear_time(size: int, kind: str, text: Callable[[int], str]) -> None:
    def make(length: int, run: int) -> Callable[[], object]:
        answer = text(length if size > SPAN else length - 40)
        return lambda: EVALUATOR.evaluate_prediction(answer, KINDS[kind])

    assert_linear(make, size)


@pytest.mark.parametrize(("pattern", "level", "std"), TRUTHS)
def test_truths_take_linear_time(pattern: str, level: int, std: float | None) -> None:
    def make(length: int, run: int) -> Callable[[], object]:
        row = question(level, repeated(pattern, after="5 Red")(length), None, std, f"run {run}")

        def work() -> object:
            try:
                return EVALUATOR.evaluate_prediction(box("Red"), row)
            except InputError as error:
                return error

        return work

    assert_linear(make, LARGE)


@pytest.mark.parametrize(("pattern", "level"), PROMPTS)
def test_prompts_take_linear_time(pattern: str, level: int) -> None:
    def make(length: int, run: int) -> Callable[[], object]:
        truth = {1: "A", 2: "A, B", 3: "Red, Blue and Green", 4: "5"}[level]
        row = question(level, truth, None, 1.0 if level == 4 else None, repeated(pattern, f"run {run} ")(length))
        return lambda: EVALUATOR.evaluate_prediction(box("A, Red and Blue"), row)

    assert_linear(make, LARGE)


@pytest.mark.parametrize("pattern", NAME_PATTERNS)
def test_names_take_linear_time(pattern: str) -> None:
    def make(length: int, run: int) -> Callable[[], object]:
        long = repeated(pattern, after=f"{run}z")(length)
        return lambda: [same_name(read_name(long), read_name(other)) for other in ("z", long[1:], "甲" + long)]

    assert_linear(make, LARGE)


def golden_reports() -> Iterator[tuple[Path, str]]:
    for name, args in REPORTS.items():
        yield GOLDEN / name, run_cli(*args)


if __name__ == "__main__":
    for target, report in golden_reports():
        target.write_text(report, encoding="utf-8", newline="\n")
        print(f"wrote {target.relative_to(ROOT)}")
