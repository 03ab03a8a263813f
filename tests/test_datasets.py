"""Which file a name means, which dataset belongs to it, and how questions and predictions come
together.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import forecasteval
from cli import PROMPT, ROOT, Done, assert_refused, number, q, question, run, warning, write

# --- Names ---


@pytest.mark.parametrize(
    "name", ["p", "p.json", "./prediction/p", "prediction/p.json", "../{root}/prediction/p"]
)
def test_name_with_or_without_extension_or_a_path(tmp_path: Path, name: str) -> None:
    write(tmp_path, {"prediction/p.json": [q()]})
    assert (
        run(tmp_path, "-f", name.format(root=tmp_path.name), "--json", cwd=tmp_path).json[
            "prediction"
        ]
        == "p.json"
    )


@pytest.mark.parametrize("stem", ["run.v2", "run-2025.10", "模型"])
@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_name_that_holds_a_dot_or_chinese(tmp_path: Path, stem: str, suffix: str) -> None:
    write(tmp_path, {f"prediction/{stem}.{suffix}": [q()]})
    assert run(tmp_path, "-f", stem, "--json").json["prediction"] == f"{stem}.{suffix}"


def test_two_files_of_one_stem_are_told_apart_by_extension(tmp_path: Path) -> None:
    write(tmp_path, {"prediction/x.json": [q("one")], "prediction/x.jsonl": [q("two")]})
    assert_refused(run(tmp_path, "-f", "x"), "x.json", "x.jsonl")
    assert run(tmp_path, "-f", "x.json", "--json").json["items"][0]["id"] == "one"
    assert run(tmp_path, "-f", "x.jsonl", "--json").json["items"][0]["id"] == "two"


@pytest.mark.parametrize(
    "name", ["250915-randon", "250915_random", "random.json", "./prediction/250915-randm"]
)
def test_no_such_file_names_the_nearest(tmp_path: Path, name: str) -> None:
    write(tmp_path, {"prediction/250915-random.json": [q()], "prediction/notes.txt": ""})
    done = run(tmp_path, "-f", name, cwd=tmp_path)
    assert_refused(done, "no such file", Path(name).name, "250915-random.json")
    assert "notes.txt" not in done.err


@pytest.mark.parametrize(
    "name", ["p", "/", ".", "./", "..", "", "prediction/", "x" * 300, "no/such/folder/x"]
)
def test_hopeless_names(tmp_path: Path, name: str) -> None:
    (tmp_path / "prediction").mkdir()
    done = run(tmp_path, "-f", name, cwd=tmp_path)
    assert_refused(done, "file")


def test_folder_in_place_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "prediction" / "p.json").mkdir(parents=True)
    assert_refused(run(tmp_path, "-f", "p"), "p", "file")


# --- Datasets ---


@pytest.mark.parametrize("stem", ["250915x", "x-250915", "25091", "other"])
def test_submission_without_dataset(tmp_path: Path, stem: str) -> None:
    write(tmp_path, {"dataset/250915.json": [question()]})
    for form in ({"q7": "A"}, [{"id": "q7", "prediction": "A"}]):
        assert_refused(
            run(write(tmp_path, {f"prediction/{stem}.json": form}), "-f", stem), stem, "--dataset"
        )


@pytest.mark.parametrize("name", ["d", "d.jsonl", "./dataset/d", "dataset/d.jsonl"])
def test_dataset_option_wins(tmp_path: Path, name: str) -> None:
    write(
        tmp_path, {"dataset/p.json": [question(ground_truth="B")], "dataset/d.jsonl": [question()]}
    )
    write(tmp_path, {"prediction/p.json": {"q7": "A"}})
    results = run(tmp_path, "-f", "p", "--dataset", name, "--json", cwd=tmp_path).json
    assert (results["dataset"], results["overall_score"]) == ("d.jsonl", 1.0)
    assert_refused(
        run(tmp_path, "-f", "p", "--dataset", "dd"), "dataset", "no such file", "d.jsonl"
    )


def test_two_datasets_of_one_stem(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "dataset/p.json": [question()],
            "dataset/p.jsonl": [question()],
            "prediction/p.json": {"q7": "A"},
        },
    )
    assert_refused(run(tmp_path, "-f", "p"), "dataset", "p.json", "p.jsonl")
    assert run(tmp_path, "-f", "p", "--dataset", "p.jsonl", "--json").json["dataset"] == "p.jsonl"


@pytest.mark.parametrize(
    ("form", "suffix"),
    [("rows", "json"), ("rows", "jsonl"), ("own", "json"), ("own", "jsonl"), ("map", "json")],
)
def test_forms_of_predictions(tmp_path: Path, form: str, suffix: str) -> None:
    content: object = [{"id": "q7", "prediction": "A"}, {"id": 8, "prediction": ["B"]}]
    if form == "map":
        content = {"q7": "A", "8": ["B"]}
    elif form == "own":
        content = [q(), q(8, answer=["B"])]
    write(
        tmp_path,
        {
            "dataset/p.json": [question(), question(8), question("q9")],
            f"prediction/p.{suffix}": content,
        },
    )
    results = run(tmp_path, "-f", "p", "--json").json
    assert [(entry["id"], entry["score"], entry["outcome"]) for entry in results["items"]] == [
        ("q7", 1.0, "scored"), (8, 0.0, "scored"), ("q9", 0.0, "missing"),
    ]  # fmt: skip
    assert (results["missing_count"], results["overall_score"]) == (1, pytest.approx(1 / 3))


def test_ids_that_repeat_are_joined_by_prompt(tmp_path: Path) -> None:
    twins = [question(prompt="One?" + PROMPT), question(prompt="Two?" + PROMPT, ground_truth="B")]
    rows = [{**twins[1], "answer": "B"}, {**twins[0], "answer": "A"}]
    results = run(
        write(tmp_path, {"dataset/p.json": twins, "prediction/p.json": rows}), "-f", "p", "--json"
    ).json
    assert [entry["score"] for entry in results["items"]] == [1.0, 1.0]
    warning(results, "q7", "more than once")


def test_predictions_without_a_question_are_counted_and_named(tmp_path: Path) -> None:
    answers = {"q7": "A", **{f"u{i}": "A" for i in range(8)}}
    write(tmp_path, {"dataset/p.json": [question()], "prediction/p.json": answers})
    results = run(tmp_path, "-f", "p", "--json").json
    assert results["overall_score"] == 1.0
    assert re.search(r"\b8\b.*u0", warning(results, "without a question"))
    assert "without a question" in run(tmp_path, "-f", "p").out


def test_no_prediction_has_a_question(tmp_path: Path) -> None:
    write(tmp_path, {"dataset/p.json": [question()], "prediction/p.json": {"x": "A"}})
    assert_refused(run(tmp_path, "-f", "p"), "p.json", "dataset")


@pytest.mark.parametrize(
    ("field", "value"),
    [("ground_truth", "101"), ("Std", 50), ("level", 3), ("prompt", "How many %?")],
)
def test_dataset_counts_and_differences_are_reported(
    tmp_path: Path, field: str, value: object
) -> None:
    dataset = [number("q1", answer=..., Std=4), number("q2", answer=..., Std=4)]
    rows = [number("q1", **{"answer": "102", "Std": 4, field: value}), number("q2", Std=4)]
    write(tmp_path, {"dataset/p.json": dataset, "prediction/p.json": rows})
    results = run(tmp_path, "-f", "p", "--json").json
    assert [(entry["level"], entry["truth"], entry["score"]) for entry in results["items"]] == [
        (4, "100", 0.75), (4, "100", 1.0),
    ]  # fmt: skip
    told = warning(results, field, "differs")
    assert re.search(r"\b1\b.*q1", told)
    assert "q2" not in told
    assert told in run(tmp_path, "-f", "p").out


def test_row_without_the_fields_does_not_differ(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "dataset/p.json": [number(answer=..., Std=4)],
            "prediction/p.json": [q(level=..., Std=...)],
        },
    )
    assert not any(
        "Std" in text or "level" in text
        for text in run(tmp_path, "-f", "p", "--json").json["warnings"]
    )


def test_a_path_into_another_board_has_the_dataset_beside_it(tmp_path: Path) -> None:
    week = "250915"
    sample = json.loads((ROOT / "dataset" / f"{week}.json").read_text(encoding="utf-8"))
    answers = [{"id": row["id"], "prediction": "\\boxed{A}"} for row in sample]
    dataset = [{**row, "ground_truth": "A"} for row in sample]
    board = tmp_path / "board"
    prediction = write(board, {f"prediction/{week}-a.json": answers}) / f"prediction/{week}-a.json"

    def score(*args: str, cwd: Path = tmp_path) -> tuple[float, str]:
        done = run_process(*args, cwd=cwd)
        return done.json["overall_score"], done.err

    def run_process(*args: str, cwd: Path) -> Done:
        command = [sys.executable, str(ROOT / "eval.py"), *args, "--json"]
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
        return Done(done.returncode, done.stdout, done.stderr)

    by_checkout, err = score("-f", str(prediction))  # the board has no dataset
    assert err == ""
    write(board, {f"dataset/{week}.json": dataset})
    by_board, err = score("-f", str(prediction))
    assert by_board > by_checkout
    (line,) = err.splitlines()
    assert f"the dataset is {board / 'dataset' / week}.json" in line
    assert str(ROOT / "dataset" / f"{week}.json") in line
    assert score("-f", f"prediction/{week}-a.json", cwd=board)[0] == by_board
    assert score("-f", f"./{week}-a", cwd=board / "prediction")[0] == by_board
    by_root, err = score("-f", str(prediction), "--root", str(ROOT))
    assert by_root == by_checkout
    assert f"the dataset is {ROOT / 'dataset' / week}.json" in err
    assert score("-f", str(prediction), "--dataset", week) == (by_checkout, "")
    assert forecasteval.evaluate(prediction)["overall_score"] == by_board
    assert forecasteval.FutureXEvaluator().evaluate(str(prediction))["overall_score"] == by_board
    checked = run_process("check", str(prediction), cwd=tmp_path)
    assert json.loads(checked.out)["dataset"] == f"{week}.json"
    assert f"the dataset is {board / 'dataset' / week}.json" in checked.err
