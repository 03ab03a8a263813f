"""Records as questions: kinds, truths, policies, what a record lacks; an answer of each kind as a
score.
"""

from __future__ import annotations

from typing import Any, Final

import pytest

from cli import PROMPT, asked, box, question
from forecasteval.common.errors import InputError
from forecasteval.common.markup import MAX_SPAN
from forecasteval.common.records import Record as Repeated
from forecasteval.futurex.questions import (
    interpret_choice_truth,
    interpret_open_truth,
    interpret_question,
    parse_record,
    score_answer,
)
from forecasteval.futurex.reading.answers import Answer, parse_answer
from forecasteval.futurex.reading.numbers import NumberTruth
from forecasteval.futurex.reading.wording import NO_WORDING
from forecasteval.futurex.rules import Rules
from kinds import KINDS

KIND_OF: Final = {
    "yes or no": "single choice", "one option": "single choice", "a name": "single choice",
    "some options": "multiple choice", "34 options": "multiple choice",
    "labels only": "multiple choice",
    "some names": "multiple choice", "ranking": "ranking", "Chinese ranking": "ranking",
    "number": "number",
    "exact number": "number", "zero Std": "number", "percent": "number", "scaled number": "number",
    "Std but names": "ranking",
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_kind(name: str) -> None:
    read = parse_record(KINDS[name], "d.json", 1, Rules())
    assert read.kind == KIND_OF[name]
    assert read.truth is not None
    assert read.warning == (
        "Std is given but the truth is not a number" if name == "Std but names" else ""
    )


@pytest.mark.parametrize("name", KINDS)
def test_truth_scores_1_and_an_answer_past_the_limit_is_unparsed(name: str) -> None:
    read = parse_record(KINDS[name], "d.json", 1, Rules())
    assert score_answer(read, parse_answer(box(KINDS[name]["ground_truth"]))).score == 1
    assert score_answer(read, parse_answer("A" * (MAX_SPAN + 1)))[:2] == (0, "unparsed")
    assert score_answer(read, None)[:2] == (0, "missing")
    assert score_answer(read, parse_answer({"answer": "A"})).note == "no text"


def test_truth_outside_the_options_is_a_warning() -> None:
    assert (
        interpret_question(1, PROMPT, "D", None, Rules()).warning
        == "truth is not among the options"
    )
    assert interpret_question(1, PROMPT, "C", None, Rules()).warning == ""
    sides = r"Who? \boxed{Otters} or \boxed{Foxes}"
    assert interpret_question(1, sides, "Otters", None, Rules()).warning == ""


def test_digest_tells_questions_apart() -> None:
    plain = interpret_question(4, "How many?", "5", 1.0, Rules())
    others = [
        interpret_question(3, "How many?", "5", 1.0, Rules()),
        interpret_question(4, "How much?", "5", 1.0, Rules()),
        interpret_question(4, "How many?", "6", 1.0, Rules()),
        interpret_question(4, "How many?", "5", 2.0, Rules()),
    ]  # fmt: skip
    assert len({plain.digest, *(other.digest for other in others)}) == 5


def read_box(text: str) -> Answer:
    answer = parse_answer(box(text))
    assert answer is not None
    return answer


@pytest.mark.parametrize(
    ("truth", "std", "relative", "sigma"),
    [
        ("100", 3.0, 0.05, 3.0),
        ("100", None, 0.05, 5.0),
        ("0", None, 0.05, 0.01),
        ("100", None, None, None),
    ],
)
def test_sigma(truth: str, std: float | None, relative: float | None, sigma: float | None) -> None:
    read = interpret_open_truth(NO_WORDING, read_box(truth), std, Rules(relative_sigma=relative))
    assert isinstance(read, NumberTruth)
    assert read.sigma == sigma


@pytest.mark.parametrize(
    ("truth", "std", "number"),
    [
        ("2-1", None, False),
        ("2-1", 1.0, True),
        ("about 5", None, True),
        ("[4946.0]", None, True),
        ("7, 8", None, False),
    ],
)
def test_result_of_a_match_is_no_number(truth: str, std: float | None, number: bool) -> None:
    assert (
        isinstance(interpret_open_truth(NO_WORDING, read_box(truth), std, Rules()), NumberTruth)
        is number
    )


@pytest.mark.parametrize("truth", [",", " , ", "[]", "[' ']"])
def test_truth_that_holds_nothing(truth: str) -> None:
    answer = parse_answer(truth)
    assert answer is not None
    assert interpret_choice_truth(2, NO_WORDING, answer, Rules()) is None


REFUSED: Final[dict[str, tuple[Any, str]]] = {
    "no object": (7, "d.json: record 3: expected an object: got int"),
    "level": (question(level=5), "d.json: record 3 (id q7): 'level' must be 1–4, got 5"),
    "Std": (
        question(Std=-1),
        "d.json: record 3 (id q7): 'Std' must be a number >= 0 or null, got -1",
    ),
    "truth": (
        question(ground_truth="[]"),
        "d.json: record 3 (id q7): 'ground_truth' must state an answer, got '[]'",
    ),
    "kind of truth": (
        question(ground_truth={"a": 1}),
        "d.json: record 3 (id q7): 'ground_truth' must be text, a number or a list, got {'a': 1}",
    ),
    "given twice": (
        Repeated(question(), ["level"]),
        "d.json: record 3 (id q7): 'level' is given twice with different values",
    ),
}


@pytest.mark.parametrize(("record", "told"), REFUSED.values(), ids=REFUSED)
def test_what_a_record_lacks(record: Any, told: str) -> None:
    with pytest.raises(InputError) as error:
        parse_record(record, "d.json", 3, Rules())
    assert str(error.value) == told


@pytest.mark.parametrize("level", ["4", 4.0, 4])
@pytest.mark.parametrize("std", ["2", 2, 2.0])
def test_numbers_as_text_are_read(level: object, std: object) -> None:
    read = parse_record(
        {**asked(4, 100), "level": level, "Std": std, "prompt": None}, "d.json", 1, Rules()
    )
    assert read == parse_record(asked(4, "100", None, 2.0), "d.json", 1, Rules())


def test_other_keys_given_twice_do_not_matter() -> None:
    assert (
        parse_record(Repeated(question(), ["end_time"]), "d.json", 1, Rules()).kind
        == "single choice"
    )
