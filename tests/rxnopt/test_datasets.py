"""Datasets: what must hold in them, word for word."""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forecasteval.common.errors import InputError
from forecasteval.rxnopt.datasets import QUESTION_TYPES, read_question
from forecasteval.rxnopt.scoring import RxnOptEvaluator
from rxnopt_tables import DATA, RAW_CONTROL, VALUES, Record, build, by_id, question, simple, write

BAD_DATA: Final[list[tuple[Record, str]]] = [
    ({"id": None}, "'id' must be text, got None"),
    ({"question_type": "fill"},
     f"'question_type' must be one of {', '.join(QUESTION_TYPES)}, got 'fill'"),
    ({"options": []}, "'options' must be a list of options"),
    ({"meta": []}, "'meta' must be an object"),
    ({"answer": [1]}, "'answer' must be [0], the options with the best score, got [1]"),
    ({"answer": [0, 1]}, "'answer' must be [0], the options with the best score, got [0, 1]"),
    ({"answer": 0}, "'answer' must be [0], the options with the best score, got 0"),
    ({"yields": [97.0]}, "meta.yields must hold one value for each of 2 options, got 1 values"),
    ({"yields": None}, "meta.yields must hold one value for each of 2 options, got NoneType"),
    ({"yields": [97.0, True]}, "meta.yields must hold numbers from 0, got True"),
    ({"yields": [97.0, math.nan]}, "meta.yields must hold numbers from 0, got nan"),
    ({"yields": [10.0, 57.0]},
     "meta.effective_scores[0] disagrees with its yield (10 at most), got 97.0"),
    ({"option_relative_scores": [1.0, 0.58763]},
     "option_relative_scores[1] must be effective / best = 0.587629, got 0.58763"),
    ({"effective_scores": [97.0, 57.1], "option_relative_scores": [1.0, 0.58866]},
     "meta.effective_scores[1] disagrees with its yield (57 at most), got 57.1"),
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
    "field",
    ["yields", "effective_scores", "option_relative_scores", "scores", "option_source_entries"],
)
def test_every_array_of_meta_is_as_long_as_the_options(field: str) -> None:
    record = copy.deepcopy(by_id(build(simple("t", [1, 2])))["t_q1"])
    record["meta"][field] = record["meta"][field][:1]
    with pytest.raises(
        InputError, match=f"meta.{field} must hold one value for each of 2 options, got 1 values"
    ):
        RxnOptEvaluator([record])


@pytest.mark.parametrize("answer", [[True], [1.0], ["1"], [0, 1], []])
def test_answers_are_integers(answer: list[Any]) -> None:
    with pytest.raises(InputError, match="'answer' must be"):
        RxnOptEvaluator([{**question("t_q1", [20, 40]), "answer": answer}])


@settings(max_examples=200)
@given(
    st.sampled_from(["id", "question_type", "options", "answer", "meta"]), VALUES, VALUES, VALUES
)
def test_no_record_breaks_the_evaluator(
    field: str, value: object, scores: object, answer: object
) -> None:
    record = copy.deepcopy(by_id(build(simple("t", [1, 2])))["t_q1"])
    record["meta"]["scores"] = scores
    record[field] = value
    try:
        found = RxnOptEvaluator([record]).evaluate_all({"t_q1": answer})
    except InputError as error:
        assert not RAW_CONTROL.search(str(error))  # noqa: PT017 - being refused is one of two good ends
    else:
        assert 0 <= found["avg_relative_score"] <= 1


@pytest.mark.parametrize("place", ["question", "meta"])
def test_keys_given_twice_are_refused(tmp_path: Path, place: str) -> None:
    text = json.dumps(DATA[:1])
    old, new = {
        "question": ('"id":', '"answer": [7], "id":'),
        "meta": ('"yields":', '"yields": [1], "yields":'),
    }[place]
    path = write(tmp_path / "d.json", text.replace(old, new))
    with pytest.raises(InputError, match=r"'(answer|yields)' is given twice with different values"):
        RxnOptEvaluator([path])


def test_relative_scores_of_a_release_are_rounded() -> None:
    """Both lists have six decimals: 0.260867 / 0.3505 is 0.744271, and 0.74427 was refused."""
    made = question("a", [0.3505, 0.260867])
    made["meta"]["yields"] = [0.7, 0.52]
    made["meta"]["option_relative_scores"] = [1.0, 0.74427]
    made["meta"]["scores"] = None
    assert read_question(made, "").values[0] == [1.0, 0.74427]
    made["meta"]["option_relative_scores"] = [1.0, 0.74425]
    with pytest.raises(InputError, match="must be effective / best"):
        read_question(made, "")
    nothing = question("a", [0.0, 0.0])
    assert read_question(nothing, "").values[0] == [1.0, 1.0]
    nothing["meta"]["option_relative_scores"] = [1.0, 0.5]
    with pytest.raises(InputError, match="must be equal where no option has a score"):
        read_question(nothing, "")
