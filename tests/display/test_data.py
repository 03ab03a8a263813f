"""Results as data for other programs: items as CSV, flat metrics, files, names at the top."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

import forecasteval
from cli import ROOT, q, run, write
from forecasteval.common.errors import InputError


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch) -> forecasteval.display.results.Results:
    monkeypatch.chdir(ROOT)
    return forecasteval.evaluate("250915-careful")


def read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_items_as_csv_are_a_row_per_question() -> None:
    shown = run(ROOT, "-f", "250915-careful", "--items", "--format", "csv")
    rows = read_csv(shown.out)
    whole = json.loads(run(ROOT, "-f", "250915-careful", "--json").out)
    assert [row["id"] for row in rows] == [item["id"] for item in whole["items"]]
    assert [float(row["score"]) for row in rows] == [item["score"] for item in whole["items"]]
    assert "System" not in rows[0]


def test_items_of_several_files_name_their_system() -> None:
    names = ("250915-careful", "250915-random")
    options = ("--items", "--format", "csv", "--columns", "System,id,score")
    rows = read_csv(run(ROOT, "-f", names[0], "-f", names[1], *options).out)
    assert list(rows[0]) == ["System", "id", "score"]
    assert [sum(row["System"] == name for row in rows) for name in names] == [52, 52]


@pytest.mark.parametrize("name", ["prophet-sample", "multiple_choice_single_varying-random"])
def test_items_of_other_benchmarks_are_rows_too(name: str) -> None:
    rows = read_csv(run(ROOT, "-f", name, "--items", "--format", "csv").out)
    assert len(rows) >= 40
    assert {"id", "score", "explanation"} <= set(rows[0])


def test_a_column_that_no_item_has_is_refused() -> None:
    shown = run(ROOT, "-f", "250915-careful", "--items", "--format", "csv", "--columns", "colour")
    assert shown.code == 2
    assert "--columns: expected columns of the items: " in shown.err


def test_metrics_are_flat_finite_numbers(results: forecasteval.display.results.Results) -> None:
    metrics = results.metrics()
    assert metrics["overall_score"] == results["overall_score"]
    assert metrics["level_scores/4"] == results["level_scores"][4]
    assert not any(name.startswith(("items", "signature")) for name in metrics)
    assert {type(value) for value in metrics.values()} == {float}


def test_a_saved_result_is_what_json_prints(
    results: forecasteval.display.results.Results, tmp_path: Path
) -> None:
    results.save(tmp_path / "result.json")
    saved = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    printed = json.loads(run(ROOT, "-f", "250915-careful", "--json").out)
    assert saved == printed
    page = results.to_html(tmp_path / "result.html")
    assert (tmp_path / "result.html").read_text(encoding="utf-8") == page
    assert page.startswith("<!DOCTYPE html>")


def test_rank_and_compare_stand_at_the_top(
    results: forecasteval.display.results.Results,
) -> None:
    other = forecasteval.evaluate("prediction/250915-random.json", "250915")
    assert forecasteval.rank([results, other])["tables"][0]["rows"][0]["name"] == "250915-careful"
    assert forecasteval.compare([results, other])["pairs"][0]["a"] == "250915-careful"


def test_evaluate_refuses_options_that_do_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    with pytest.raises(InputError, match="colour: expected one of "):
        forecasteval.evaluate("250915-careful", colour="red")
    with pytest.raises(InputError, match="--min-events: needs a file of Prophet Arena"):
        forecasteval.evaluate("250915-careful", min_events=3)


def test_importing_the_package_imports_no_evaluator() -> None:
    code = "import forecasteval, sys; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "False\n"


@pytest.mark.parametrize(
    ("words", "warning"),
    [
        ("-f d-a --json --columns n", "--columns does nothing with --json"),
        ("compare d-a d-b --json --columns p", "--columns does nothing with --json"),
        ("nightly --json --columns n", "--columns does nothing with --json"),
        ("-f d-a --items --by level --format csv", "--by does nothing with --items --format csv"),
    ],
)
def test_an_option_that_does_nothing_is_warned_of(tmp_path: Path, words: str, warning: str) -> None:
    answers = [{"id": "q7", "answer": "A"}]
    files = {f"prediction/d-{name}.json": answers for name in "ab"}
    write(tmp_path, {"dataset/d.json": [q(answer=...)], **files})
    done = run(tmp_path, *words.split())
    assert done.code == 0
    assert warning in done.err
    assert done.err.count("\n") == 1
