"""Truths beside a dataset: dataset/NAME.truths.csv, .json or .jsonl."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Final

import pytest

from cli import assert_refused, box, item, question, run, warning, write
from forecasteval.common.files import find_dataset

DATASET: Final = [
    question("a", ground_truth=None),
    question("b", ground_truth="B"),
    question("c", level=4, prompt="How many?", ground_truth=None),
    question("d", ground_truth=None),
]
ANSWERS: Final = [{"id": name, "answer": box("A")} for name in "abd"]
ANSWERS.append({"id": "c", "answer": box("105")})


def folder(root: Path, truths: object, ending: str = ".csv", dataset: Any = DATASET) -> Path:
    files = {"dataset/w.json": dataset, "prediction/w-x.json": ANSWERS}
    return write(root, {**files, f"dataset/w.truths{ending}": truths})


RECORDS: Final = [
    {"id": "a", "ground_truth": "A"},
    {"id": "b", "ground_truth": "A"},
    {"id": "c", "ground_truth": 100, "Std": 10},
]
FORMS: Final = {
    ".csv": "id,ground_truth,Std\na,A,\nb,A,\nc,100,10\nd,,\n",
    ".json": RECORDS,
    ".jsonl": RECORDS,
}


@pytest.mark.parametrize("ending", FORMS)
def test_truths_fill_and_replace(tmp_path: Path, ending: str) -> None:
    folder(tmp_path, FORMS[ending], ending)
    made = run(tmp_path, "-f", "w-x", "--json").json
    scores = {name: item(made, name)["score"] for name in "abcd"}
    assert scores == {"a": 1.0, "b": 1.0, "c": 0.75, "d": None}
    assert (made["pending"], made["truths"], made["warnings"]) == (1, f"w.truths{ending}", [])
    path = tmp_path / f"dataset/w.truths{ending}"
    assert made["signature"]["truths_sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert f"Truths of w.truths{ending} are used." in run(tmp_path, "-f", "w-x").out


def test_a_map_of_truths(tmp_path: Path) -> None:
    folder(tmp_path, {"a": "A", "b": "A"}, ".json")
    made = run(tmp_path, "-f", "w-x", "--json").json
    assert (item(made, "a")["score"], item(made, "b")["truth"], made["pending"]) == (1.0, "A", 2)


def test_a_file_of_predictions_is_none_of_truths(tmp_path: Path) -> None:
    folder(tmp_path, [{"id": "a", "prediction": "A"}], ".json")
    assert_refused(run(tmp_path, "-f", "w-x"), "expected 'id' and 'ground_truth'", "'prediction'")


def test_a_blank_cell_says_nothing(tmp_path: Path) -> None:
    folder(tmp_path, "id,ground_truth,Std,void\nb,,,\na,A,,\nd,,,true\n")
    made = run(tmp_path, "-f", "w-x", "--json").json
    assert (made["void"], made["pending"]) == (1, 1)
    assert (item(made, "b")["truth"], item(made, "a")["truth"]) == ("B", "A")


def test_void_can_be_taken_back(tmp_path: Path) -> None:
    dataset = [question("a", void=True), question("b")]
    folder(tmp_path, "id,void\na,false\n", dataset=dataset)
    assert run(tmp_path, "-f", "w-x", "--json").json["void"] == 0


def test_void_in_place_of_a_truth(tmp_path: Path) -> None:
    """Unless it says that the question is none: then a name is so called."""
    folder(tmp_path, "id,ground_truth,void\na,Void,\nb, void ,\nd,void,no\n")
    made = run(tmp_path, "-f", "w-x", "--json").json
    assert (made["void"], item(made, "d")["truth"]) == (2, "void")


def test_a_dataset_without_the_key_is_resolved_by_the_file(tmp_path: Path) -> None:
    """Whatever its keys are: it is known where the truths are."""
    dataset = [{**question("a", ground_truth=...), "desk": "sports"}]
    folder(tmp_path, "id,ground_truth\na,A\n", dataset=dataset)
    assert run(tmp_path, "-f", "w-x", "--json").json["overall_score"] == 1.0


def test_truths_without_a_question_are_named(tmp_path: Path) -> None:
    folder(tmp_path, "id,ground_truth\na,A\nzz,A\n")
    made = run(tmp_path, "-f", "w-x", "--json").json
    assert warning(made, "zz") == "w.truths.csv: truth without a question, not used: 1 (zz)"
    assert "truth without a question" in run(tmp_path, "check", "w").out


def test_a_prediction_may_hold_the_questions_as_they_were(tmp_path: Path) -> None:
    """A copy of a question that had no truth then differs from nothing."""
    folder(tmp_path, FORMS[".csv"])
    rows = [{**row, "answer": "A"} for row in DATASET]
    write(tmp_path, {"prediction/w-y.json": rows})
    made = run(tmp_path, "-f", "w-y", "--json").json  # the truth of b was another one
    assert warning(made).startswith("ground_truth of the file differs from the dataset")
    assert warning(made).endswith(": 1 (b)")


REFUSED: Final[dict[str, tuple[object, str, str]]] = {
    "no id": ("name,ground_truth\na,A\n", ".csv", "expected an 'id', got 'name', 'ground_truth'"),
    "no truth": ("id,truth\na,A\n", ".csv", "expected 'id' and 'ground_truth', got 'id', 'truth'"),
    "other ids": ("id,ground_truth\nx,A\n", ".csv", "got other ids: x"),
    "two truths": ("id,ground_truth\na,A\na,B\n", ".csv", "expected each id once, got a twice"),
    "two Stds": ('[{"id": "a", "ground_truth": 1, "Std": 1, "Std": 2}]', ".json", "a twice"),
    "a list": (["A"], ".json", "expected 'id' and 'ground_truth', got str"),
    "empty": ("", ".csv", "w.truths.csv"),
}


@pytest.mark.parametrize(("truths", "ending", "told"), REFUSED.values(), ids=REFUSED)
def test_refused(tmp_path: Path, truths: object, ending: str, told: str) -> None:
    folder(tmp_path, truths, ending)
    assert_refused(run(tmp_path, "-f", "w-x"), told, "w.truths")


@pytest.mark.parametrize(
    ("field", "told"),
    [
        ("void", "w.json with w.truths.csv: question a: 'void' must be true or false, got 'no?'"),
        ("ground_truth", "w.json with w.truths.csv: record 1 (id a): 'ground_truth' must state"),
    ],
)
def test_a_value_of_either_file(tmp_path: Path, field: str, told: str) -> None:
    value = {"void": "no?", "ground_truth": "."}[field]
    folder(tmp_path, f"id,{field}\na,{value}\n")
    assert_refused(run(tmp_path, "-f", "w-x"), told)


@pytest.mark.parametrize(("truths", "ending"), [("id,ground_truth\n", ".csv"), ([], ".json")])
def test_a_file_that_waits_for_its_first_truth(tmp_path: Path, truths: Any, ending: str) -> None:
    """As it is made on the day of the questions: no night fails."""
    folder(tmp_path, truths, ending, [question("a", ground_truth=None)])
    done = run(tmp_path, "nightly")
    assert (done.code, done.err) == (0, "")
    assert "w.json: no truth yet, 1 file waits" in done.out


def test_two_files_of_truths(tmp_path: Path) -> None:
    folder(tmp_path, FORMS[".csv"])
    write(tmp_path, {"dataset/w.truths.json": RECORDS})
    assert_refused(run(tmp_path, "-f", "w-x"), "w.truths.json and w.truths.csv")


def test_an_id_of_two_questions(tmp_path: Path) -> None:
    dataset = [question("a", ground_truth=None), question("a", prompt="Who?", ground_truth=None)]
    folder(tmp_path, "id,ground_truth\na,A\n", dataset=dataset)
    assert_refused(run(tmp_path, "-f", "w-x"), "the dataset has two prompts with a")


def test_the_file_is_no_dataset_of_its_own(tmp_path: Path) -> None:
    folder(tmp_path, RECORDS, ".json")
    data = tmp_path / "dataset"
    for name in ("w-x.json", "w.truths-x.json", "w.truths.json"):
        assert find_dataset(tmp_path / "prediction" / name, data) == data / "w.json"
