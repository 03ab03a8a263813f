"""Questions and predictions joined by id."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cli import assert_refused, run, write
from eval import FutureXEvaluator
from forecasteval.common.errors import InputError
from forecasteval.common.records import Record, repeated_keys
from forecasteval.futurex.questions import FIELDS
from forecasteval.questions.join import (
    AnsweredQuestions,
    OtherKeys,
    join_answers,
    load_answered,
    raw_answer,
)


def ask(name: object, prompt: str = "Who?") -> dict[str, Any]:
    return {"id": name, "prompt": prompt, "level": 1}


def answers(questions: list[Any], predictions: list[Any]) -> tuple[list[Any], list[str]]:
    rows, notes = join_answers(questions, predictions, "p.json", FIELDS)
    return [row["answer"] for row in rows], notes.lines()


def test_by_id_in_the_order_of_the_questions() -> None:
    predictions = [{"id": "2", "prediction": "B"}, {"id": 1, "prediction": "A"}]
    assert answers([ask(1), ask("2"), ask("3")], predictions) == (["A", "B", None], [])


def test_shared_ids_are_told_apart_by_their_prompts() -> None:
    questions = [ask("x", "Who?"), ask("x", "Where?")]
    predictions = [
        {"id": "x", "prompt": "Where?", "answer": "there"},
        {"id": "x", "prompt": "Who?", "answer": "he"},
    ]
    assert answers(questions, predictions) == (["he", "there"], [])
    assert answers(questions, [{"id": "x", "answer": "he"}]) == (
        [None, None],
        ["ambiguous prediction, counted as missing: 2 (x, x)"],
    )


def test_two_answers_to_one_question() -> None:
    same = [{"id": "x", "answer": "A"}, {"id": "x", "answer": "A"}]
    assert answers([ask("x")], same) == (["A"], [])
    other = [{"id": "x", "answer": "A"}, {"id": "x", "answer": "B"}, {"id": "y", "answer": "B"}]
    assert answers([ask("x"), ask("y")], other) == (
        [None, "B"],
        ["ambiguous prediction, counted as missing: 1 (x)"],
    )


def test_what_is_not_used_is_named() -> None:
    predictions = [{"id": "x", "answer": "A", "level": "1"}, {"id": "z"}, {"answer": "A"}, 7]
    assert answers([ask("x")], predictions)[1] == [
        "prediction without id, not used: 1 (record 3)",
        "prediction that is not an object, not used: 1 (record 4)",
        "record with neither 'answer' nor 'prediction', missing: 1 (z)",
        "prediction without a question, not used: 1 (z)",
    ]


def test_the_fields_of_the_dataset_count() -> None:
    note = "level of the file differs from the dataset, the dataset counts: 1 (x)"
    assert answers([ask("x")], [{"id": "x", "answer": "A", "level": 2}]) == (["A"], [note])


def test_keys_given_twice_stay_known() -> None:
    (row,), _ = join_answers(
        [ask("x")], [Record({"id": "x", "answer": "A"}, ["answer"])], "p", FIELDS
    )
    assert repeated_keys(row) == ("answer",)
    twice = Record({"id": "x", "answer": "A"}, ["prompt", "level"])
    (row,), _ = join_answers([ask("x")], [twice], "p", FIELDS)
    assert repeated_keys(row) == ()  # the dataset's count


def test_a_prediction_with_two_ids_costs_only_itself() -> None:
    two = Record({"id": "y", "answer": "A"}, ["id"])
    assert answers(
        [ask("x"), ask("y")], [{"id": "x", "answer": "A"}, {"id": "y", "answer": "B"}, two]
    ) == (
        ["A", "B"],
        ["prediction with two ids, not used: 1 (record 3)"],
    )


def test_answers_that_are_the_truths() -> None:
    """A column `answer` may be the dataset's; few answers, or one that differs, are not."""
    questions = [{**ask(number), "ground_truth": "['A']"} for number in range(10)]
    copies = [{"id": number, "answer": "['A'] "} for number in range(10)]
    note = "answer is the ground_truth word for word, as all are, and may be no model's: 10"
    assert answers(questions, copies)[1] == [f"{note} (0, 1, 2, 3, 4, …)"]
    for others in copies[:9], [*copies[:9], {"id": 9, "answer": "A"}]:
        assert answers(questions, others)[1] == []
    replies = [{**copy, "answer": None, "prediction": "['A']"} for copy in copies]
    assert len(answers(questions, replies)[1]) == 1
    pending = [{**question, "ground_truth": None} for question in questions]
    assert answers(pending, [{**copy, "response": "B"} for copy in copies])[1] == []
    # A reply beside them decides nothing: whoever is right in all must not be refused for it.
    assert len(answers(questions, [{**copy, "response": "B"} for copy in copies])[1]) == 1


def test_predictions_for_another_dataset() -> None:
    with pytest.raises(InputError, match="expected predictions for this dataset, got other ids"):
        join_answers([ask("x")], [{"id": "y", "answer": "A"}], "p.json", FIELDS)


@pytest.mark.parametrize(
    ("record", "answer"),
    [
        ({"answer": "A", "prediction": "B"}, "A"),
        ({"answer": None, "prediction": "B"}, "B"),
        ({"answer": float("nan"), "prediction": 7}, 7),
        ({"answer": ""}, ""),
        ({}, None),
    ],
)
def test_raw_answer(record: dict[str, Any], answer: object) -> None:
    assert raw_answer(record) == answer


def test_file_without_dataset_must_hold_questions(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text('[{"id": "q1", "prediction": "A"}]', encoding="utf-8")
    with pytest.raises(InputError, match="or a dataset for it"):
        load_answered(path, None, FIELDS)
    path.write_text('[{"level": 1}, {"id": "q1"}]', encoding="utf-8")
    data = load_answered(path, None, FIELDS)
    assert [*data.take_records()] == [*(data.read_again() or ())] == [{"level": 1}, {"id": "q1"}]
    assert AnsweredQuestions("data", iter([]), FIELDS).read_again() is None


def test_the_records_of_a_large_file_are_not_kept(tmp_path: Path) -> None:
    rows = [{"level": 1, "id": str(number)} for number in range(501)]
    path = write(tmp_path, {"p.json": rows}) / "p.json"
    data = load_answered(path, None, FIELDS)
    assert ([*data.take_records()], [*data.records]) == (rows, [])
    assert data.read_again() == rows


# --- Rows without answers ---


def test_rows_that_lack_both_keys_are_named_and_all_of_them_are_an_error() -> None:
    keys = OtherKeys("answer", "prediction", fields=FIELDS)
    lacking = {"c": {"response": "A", "id": "c"}, "d": {"output": "A", "id": "d"}}
    for name, record in ({"a": {"answer": None}, "b": {"prediction": ""}} | lacking).items():
        keys.add(record, name)
    assert keys.require_answer("p.json") == {
        "record with neither 'answer' nor 'prediction', missing": ["c", "d"]
    }
    keys = OtherKeys("answer", "prediction", fields=FIELDS)
    for name, record in lacking.items():
        keys.add(record, name)
    with pytest.raises(InputError) as error:
        keys.require_answer("p.json")
    told = "p.json: expected 'answer' or 'prediction' in the records, got 'response', 'output'"
    assert str(error.value) == told


def test_keys_of_questions_are_no_candidates() -> None:
    keys = OtherKeys("answer", "prediction", fields=FIELDS)
    keys.add(
        {
            "id": 1,
            "prompt": "?",
            "level": 1,
            "ground_truth": "A",
            "Std": 1,
            "end_time": "",
            "Description": "",
        },
        "a",
    )
    with pytest.raises(InputError, match=r"got neither$"):
        keys.require_answer("p.json")


def test_the_commonest_keys_are_named_first() -> None:
    keys = OtherKeys("answer", "prediction", fields=FIELDS)
    for number in range(3):
        keys.add({"rare": 1, "often": 1} if not number else {"often": 1}, str(number))
    with pytest.raises(InputError, match=r"got 'often', 'rare'$"):
        keys.require_answer("p.json")


def test_no_record_lacks_nothing() -> None:
    assert OtherKeys("answer", "prediction", fields=FIELDS).require_answer("p.json") == {}


def test_a_prediction_of_none_is_an_error_before_it_is_joined() -> None:
    with pytest.raises(
        InputError,
        match=r"p\.json: expected 'answer' or 'prediction' in the records, got 'response'",
    ):
        join_answers([ask("x"), ask("y")], [{"id": "x", "response": "A"}], "p.json", FIELDS)


def test_a_dataset_without_questions(tmp_path: Path) -> None:
    write(tmp_path, {"p.json": {"x": "A"}, "d.json": []})
    with pytest.raises(InputError, match=r"d\.json: expected questions, got none"):
        FutureXEvaluator().evaluate_file(tmp_path / "p.json", tmp_path / "d.json")


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([{"ID": "x", "answer": "A"}], "no 'id', but ID, answer"),
        ([{"answer": "A", "text": "t"}], "no 'id', but answer, text"),
        ([7], "no 'id', but nothing"),
        ([{"id": "X", "answer": "A"}], "other ids: X, nearest x"),
        ([{"id": "q", "answer": "A"}], "other ids: q; the dataset has x"),
    ],
)
def test_ids_that_fit_nothing(rows: list[Any], told: str) -> None:
    with pytest.raises(InputError) as error:
        join_answers([ask("x")], rows, "p.json", FIELDS)
    assert str(error.value) == f"p.json: expected predictions for this dataset, got {told}"


def test_a_file_without_questions_is_refused_with_its_keys(tmp_path: Path) -> None:
    row = {"question": "Rain?", "model": "ada", "weather": "wet"}
    path = write(tmp_path, {"prediction/rows.json": [row]}) / "prediction/rows.json"
    words = "got 'question', 'model', 'weather'"
    assert_refused(run(tmp_path, "-f", str(path)), "expected questions with", words)


@pytest.mark.parametrize("data", [{"q1": "A"}, "w-a", None])
def test_what_is_no_list_of_records_is_refused_in_one_line(data: Any) -> None:
    """Answers by id are a form of files."""
    told = rf"data: expected a list of records, or a DataFrame, got (?:{type(data).__name__}|int)"
    for given in ([data], [data, []], [[], data or 1]):
        with pytest.raises(InputError, match=told):
            FutureXEvaluator().evaluate_all(*given)
