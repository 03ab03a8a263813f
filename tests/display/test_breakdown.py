"""`--by`: the score of each value of a column, as table, CSV, JSON, on the page, in a notebook."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from cli import ROOT, Record, q, run, write
from eval import FutureXEvaluator
from forecasteval.boards import compare
from forecasteval.common.errors import InputError

TOPICS = ("sport", "sport", "sport", "markets", "markets", "markets", "markets")
RIGHT = (True, True, False, True, False, False, False)


def make_questions(**columns: object) -> list[Record]:
    """Seven questions of levels 1 and 2, of which three are right: two of sport, one of markets."""
    return [
        q(f"q{place}", level=1 + place % 2, answer="A" if is_right else "B", topic=topic, **columns)
        for place, (topic, is_right) in enumerate(zip(TOPICS, RIGHT, strict=True))
    ]


def test_a_column_of_one_value_has_the_overall_score() -> None:
    results = FutureXEvaluator().evaluate_all(make_questions(everything="all"))
    (part,) = results.by("everything").values()
    assert part["score"] == results["overall_score"]
    assert part["interval"] == results["overall_interval"]
    assert part["n"] == 7


def test_each_value_has_the_score_of_its_questions_alone() -> None:
    questions = make_questions()
    parts = FutureXEvaluator().evaluate_all(questions).by("topic")
    for topic in ("sport", "markets"):
        alone = [question for question in questions if question["topic"] == topic]
        assert parts[topic]["score"] == FutureXEvaluator().evaluate_all(alone)["overall_score"]
    assert list(parts) == ["markets", "sport"]


def test_an_unknown_column_is_refused_with_the_known_ones() -> None:
    results = FutureXEvaluator().evaluate_all(make_questions())
    with pytest.raises(InputError, match="--by: expected a column of the dataset: topic, got city"):
        results.by("city")


def test_items_keep_other_columns_but_not_the_truth() -> None:
    columns = {"note": "x" * 200, "tags": ["a"], "blank": None, "score": 7}
    (item, *_) = FutureXEvaluator().evaluate_all(make_questions(**columns))["items"]
    kept = {key: value for key, value in item.items() if key.startswith("question.")}
    assert kept == {"question.topic": "sport", "question.note": "x" * 80, "question.score": 7}
    assert item["score"] == 1.0


def test_a_time_becomes_its_month() -> None:
    parts = FutureXEvaluator().evaluate_all(make_questions(closes="2026-01-31T12:00Z")).by("closes")
    assert list(parts) == ["2026-01"]


def test_the_difference_of_each_value_is_that_of_its_questions() -> None:
    questions = make_questions()
    wrong = [{**question, "answer": "B"} for question in questions]
    first, second = map(FutureXEvaluator().evaluate_all, (questions, wrong))
    compared = compare([{"name": "a", **first}, {"name": "b", **second}], by="topic")
    for part in compared["by"]["topic"]:
        scores = [results.by("topic")[part["value"]]["score"] for results in (first, second)]
        assert [part["a_score"], part["b_score"]] == scores
        assert part["difference"] == pytest.approx(scores[0] - scores[1], abs=1e-12)
    assert "topic" in str(compared)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    questions = make_questions()
    answers = {str(question["id"]): question.pop("answer") for question in questions}
    other = dict.fromkeys(answers, "A")
    write(
        tmp_path,
        {
            "dataset/d.json": questions,
            "prediction/d-a.json": answers,
            "prediction/d-b.json": other,
        },
    )
    return tmp_path


def test_the_table_stands_below_the_report(folder: Path) -> None:
    done = run(folder, "-f", "d-a", "--by", "topic")
    assert done.code == 0
    assert [line.split()[0] for line in done.out.splitlines()[-3:]] == ["topic", "markets", "sport"]
    assert list(run(folder, "-f", "d-a", "--by", "topic", "--json").json["by"]["topic"]) == [
        "markets",
        "sport",
    ]


def test_as_csv_it_is_the_only_table(folder: Path) -> None:
    rows = csv.DictReader(
        io.StringIO(run(folder, "-f", "d-a", "--by", "topic", "--format", "csv").out)
    )
    assert [(row["topic"], row["n"]) for row in rows] == [("markets", "4"), ("sport", "3")]
    both = run(folder, "-f", "d-a", "-f", "d-b", "--by", "topic", "--format", "csv").out
    assert both.splitlines()[0] == "System,markets,sport"
    compared = run(folder, "compare", "d-a", "d-b", "--by", "topic", "--format", "csv").out
    assert compared.splitlines()[0].startswith("topic,A,B,n,Score A,Score B,A − B,")


def test_the_page_filters_by_its_values(folder: Path) -> None:
    assert run(folder, "-f", "d-a", "--by", "topic", "--html").code == 0
    page = (folder / "evaluation/d-a.html").read_text(encoding="utf-8")
    assert 'data-k="by" data-v="sport"' in page
    assert page.count('data-by="sport"') == 3


def test_the_page_of_a_comparison_has_the_table_of_the_text(folder: Path) -> None:
    words = ("compare", "d-a", "d-b", "--by", "topic")
    rows = list(csv.reader(io.StringIO(run(folder, *words, "--html", "--format", "csv").out)))
    page = (folder / "evaluation/compare.html").read_text(encoding="utf-8")
    section = page.split("By topic</h2>")[1].split("</section>")[0]
    for row in rows[1:]:
        assert row[0] in section
        assert all(cell in section for cell in row[4:7])
    assert run(folder, *words[:3], "--html").code == 0
    assert "By topic" not in (folder / "evaluation/compare.html").read_text(encoding="utf-8")


def test_forecasters_have_the_categories_of_the_result(folder: Path) -> None:
    done = run(ROOT, "-f", "prophet-sample", "--by", "category", "--json")
    assert done.json["by"]["category"] == done.json["by_category"]


@pytest.mark.parametrize("full", [(), ("--full",)], ids=str)
def test_forecasters_have_a_csv_of_their_categories(full: tuple[str, ...]) -> None:
    words = ("-f", "prophet-sample", "--by", "category")
    parts = run(ROOT, *words, "--json").json["by"]["category"]
    rows = csv.DictReader(io.StringIO(run(ROOT, *words, *full, "--format", "csv").out))
    found = {(row["category"], row["Forecaster"]): row["Brier"] for row in rows}
    assert found == {
        (category, name): f"{row['brier']:.4f}"
        for category, part in parts.items()
        for name, row in part["forecasters"].items()
    }


def test_several_files_of_forecasters_are_no_csv_of_categories(tmp_path: Path) -> None:
    for folder in ("dataset", "prediction"):
        records = json.loads((ROOT / folder / "prophet-sample.json").read_text("utf-8"))
        write(tmp_path, {f"{folder}/{name}.json": records for name in ("early", "late")})
    words = ("-f", "early", "-f", "late", "--by", "category")
    done = run(tmp_path, *words, "--format", "csv")
    assert (done.code, done.out) == (2, "")
    assert "expected one file of forecasters, as it prints one table" in done.err
    done = run(tmp_path, *words)
    assert done.code == 0
    assert done.out.count("category       Forecaster") == 2


def test_values_are_in_the_order_of_numbers_then_texts() -> None:
    values = ["nan", "b", "10", "inf", "9", "", "1e400", "-3"]
    questions = [q(f"q{place}", code=value) for place, value in enumerate(values)]
    order = ["-3", "9", "10", "1e400", "b", "inf", "nan", "(none)"]
    for given in (questions, questions[::-1]):
        assert list(FutureXEvaluator().evaluate_all(given).by("code")) == order


@pytest.mark.parametrize("bounds", [[0.0, None], [None, 1.0], [None, None]], ids=str)
def test_scores_without_bounds_have_intervals(bounds: list[float | None]) -> None:
    results = FutureXEvaluator().evaluate_all(make_questions(everything="all"))
    results["score_bounds"] = bounds
    low, high = results.by("everything")["all"]["interval"]
    assert (low < 0.0) == (bounds[0] is None)
    assert (high > 1.0) == (bounds[1] is None)


def test_forecasters_are_scored_by_any_column(tmp_path: Path) -> None:
    """A column that repeats the category has the scores of the categories, forecaster by
    forecaster.
    """
    dataset = json.loads((ROOT / "dataset/prophet-sample.json").read_text("utf-8"))
    for problem in dataset:
        problem["kind"] = problem["category"]
    prediction = json.loads((ROOT / "prediction/prophet-sample.json").read_text("utf-8"))
    name = "prophet-sample.json"
    write(tmp_path, {f"dataset/{name}": dataset, f"prediction/{name}": prediction})
    words = ("-f", "prophet-sample", "--by", "kind", "--items")
    result = json.loads(run(tmp_path, *words, "--json").out)
    parts = result["by"]["kind"]
    for category, expected in result["by_category"].items():
        assert parts[category]["n_events"] == expected["n_events"]
        for forecaster, row in expected["forecasters"].items():
            found = parts[category]["forecasters"][forecaster]
            assert found["n_events"] == row["n_events"]
            assert found["brier"] == pytest.approx(row["brier"], abs=1e-12)
            assert found["log"] == pytest.approx(row["log"], abs=1e-12)
    assert "question.kind" in result["items"][0]
    without = run(tmp_path, "-f", "prophet-sample", "--by", "kind")
    assert without.code == 2
    assert "--by: needs the items of a result: add --items" in without.err


def test_items_of_tables_keep_their_columns() -> None:
    name = "multiple_choice_single_varying-random"
    result = json.loads(run(ROOT, "-f", name, "--by", "target_key", "--json").out)
    parts = result["by"]["target_key"]
    assert sum(part["n"] for part in parts.values()) == result["n"]
    for condition, expected in result["by_target_key"].items():
        assert parts[condition]["score"] == pytest.approx(expected["avg_relative_score"])
