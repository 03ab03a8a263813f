"""Records as items: what is noted of them, what they are hashed by."""

from __future__ import annotations

from typing import Any, Final

import pytest

from cli import Record, asked, box, number, q, question
from forecasteval.common.errors import InputError
from forecasteval.common.records import Record as Repeated
from forecasteval.futurex import results
from forecasteval.futurex.results import Scoring
from forecasteval.futurex.rules import Rules

README: Final = Rules()


def score(data: list[Any], rules: Rules = README, review: bool = False) -> Scoring:
    scoring = Scoring(rules, "here", review)
    scoring.add_all(data)
    return scoring


def test_an_item_tells_it_all() -> None:
    (item,) = score([q("x", level="1", answer="So: \\boxed{B}")]).items
    assert item.pop("question")
    assert item.items() >= {
        "id": "x", "level": 1, "kind": "single choice", "score": 0.0, "outcome": "scored",
        "truth": "A",
        "answer": "So: \\boxed{B}", "read": "B", "note": "", "decided_by": "grammar",
        "prompt": "Who will win?",
        "reason": "", "sigmas": None, "matched": None, "names": 0,
        "padded": False, "unboxed": False, "late": False,
    }.items()  # fmt: skip


ROWS: Final[list[Record]] = [number(f"n{n}", answer=str(90 + n % 20), Std=10) for n in range(23)]


def test_who_answered() -> None:
    scoring = score([*ROWS, q("x"), question("y"), number("z", answer="no box here")], review=True)
    assert [answer.place for answer in scoring.answered] == [*range(24), 25]


def test_a_bad_record_is_named_by_its_number_in_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "BLOCK", 4)
    with pytest.raises(InputError, match=r"^here: record 7 \(id q7\): 'level' must be 1–4, got 9$"):
        score([*ROWS[:6], q(level=9)])


def test_nothing_to_score() -> None:
    with pytest.raises(InputError, match="here: expected questions, got none"):
        score([])


def test_what_is_noted() -> None:
    rows: list[Any] = [
        q("a"), q("a"), q(None), q("c", ground_truth="Z"), number("d", ground_truth="Red", Std=1.0),
        Repeated(q("e"), ["answer"]), q("f", answer={"answer": "A"}), question("g"),
    ]  # fmt: skip
    assert score(rows).notes == {
        "id used more than once, every row counts": ["a"],
        "record without id": ["record 3"],
        "truth is not among the options": ["c"],
        "Std is given but the truth is not a number": ["d"],
        "answer is given twice, unparsed": ["e"],
        "answer is an object": ["f"],
        "record with neither 'answer' nor 'prediction', missing": ["g"],
    }


def test_missing_answers_are_left_out_by_rule_only() -> None:
    rows = [q("a", answer=""), q("b", answer="I wonder")]
    assert [item["score"] for item in score(rows).items] == [0, 0]
    assert [item["score"] for item in score(rows, Rules(missing="skip")).items] == [None, 0]


@pytest.mark.parametrize(
    "change",
    [
        {"id": "other"},
        {"level": 2},
        {"prompt": "Else?"},
        {"ground_truth": "B"},
        {"Std": 1.0},
        {"answer": "B"},
    ],
)
def test_checksums_tell_apart_what_was_asked_and_answered(change: Record) -> None:
    plain, changed = score([q()]).checksums(), score([{**q(), **change}]).checksums()
    assert plain["data_sha256"] != changed["data_sha256"]
    assert (plain["questions_sha256"] == changed["questions_sha256"]) == ("answer" in change)


def test_checksums_of_the_same() -> None:
    rows = [asked(3, "Red", box("Red")) | {"id": str(n)} for n in range(3)]
    assert score(rows).checksums() == score([dict(row, end_time="now") for row in rows]).checksums()
    assert (
        score(rows).checksums()["questions_sha256"]
        == score(rows[::-1]).checksums()["questions_sha256"]
    )
    assert score(rows).checksums()["data_sha256"] != score(rows[::-1]).checksums()["data_sha256"]
