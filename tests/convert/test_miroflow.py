"""MiroFlow's results: attempts are runs, and never the answer that was chosen with the truth in hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cli import write
from conversions import convert, converted
from each import each
from make_convert_samples import NO_BOX, miroflow_row


def attempt(answer: str, **more: Any) -> dict[str, Any]:
    return {"status": "completed", "model_boxed_answer": answer, **more}


def row(*attempts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"task_id": "q", "task_question": "Q?", "model_boxed_answer": "chosen", "attempts": [*attempts], **more}


def test_the_answer_of_a_row_that_has_attempts_is_not_taken(tmp_path: Path) -> None:
    """pass@k shows the right one of them, whichever it was."""
    root = write(tmp_path, {"r.jsonl": [row(attempt("wrong", attempt_id=1), attempt("right", attempt_id=2))]})
    assert converted(root, root / "r.jsonl") == {"x@1.json": {"q": "wrong"}, "x@2.json": {"q": "right"}}


@each(
    ("numbers", "answers"),
    [
        ((2, 1), {"x@1.json": {"q": "b"}, "x@2.json": {"q": "a"}}),
        ((0, 1), {"x@1.json": {"q": "a"}, "x@2.json": {"q": "b"}}),
        ((1, 1), {"x@1.json": {"q": "a"}, "x@2.json": {"q": "b"}}),
        ((None, "2"), {"x@1.json": {"q": "a"}, "x@2.json": {"q": "b"}}),
        ((True, 10**12), {"x@1.json": {"q": "a"}, "x@2.json": {"q": "b"}}),
    ],
)
def test_attempts_keep_numbers_that_are_some(numbers: tuple[Any, Any], answers: object, tmp_path: Path) -> None:
    first, second = numbers
    rows = [row(attempt("a", attempt_id=first), attempt("b", attempt_id=second))]
    assert converted(tmp_path, write(tmp_path, {"r.jsonl": rows}) / "r.jsonl") == answers


def test_retries_are_no_runs(tmp_path: Path) -> None:
    """The official results number attempts and, within each, retries from 0: the last retry counts."""
    attempts = [
        attempt("late", attempt_number=1, retry_id=1), attempt("early", attempt_number=1, retry_id=0),
        attempt("second", attempt_number=2, retry_id=0),
    ]  # fmt: skip
    source = write(tmp_path, {"r.jsonl": [row(*attempts)]}) / "r.jsonl"
    assert converted(tmp_path, source) == {"x@1.json": {"q": "late"}, "x@2.json": {"q": "second"}}
    for one in attempts:
        one["attempt_id"] = one.pop("attempt_number")
    source = write(tmp_path, {"r.jsonl": [row(*attempts[:2])]}) / "r.jsonl"
    assert converted(tmp_path / "b", source) == {"x.json": {"q": "late"}}


@each("attempts", [{}, {"attempts": []}, {"attempts": None}, {"attempts": ["x"]}])
def test_a_row_without_attempts_is_one_run(attempts: dict[str, Any], tmp_path: Path) -> None:
    rows = [{"task_id": "q", "model_boxed_answer": "A", "status": "success", **attempts}]
    assert converted(tmp_path, write(tmp_path, {"r.jsonl": rows}) / "r.jsonl") == {"x.json": {"q": "A"}}


def test_attempts_that_stopped_are_told(tmp_path: Path) -> None:
    """Later attempts are then of those questions only that were wrong before."""
    root = write(tmp_path, {"r.jsonl": [miroflow_row("a", "1"), miroflow_row("b", "1", "2"), miroflow_row("c", "1")]})
    done = convert(root / "r.jsonl", "-o", root / "x.json")
    assert "  rows have different numbers of attempts: if they stop at the first right one" in done.out
    assert "x@2.json: 1 answer\n  left out, not in this run: 2 (a, c)\n" in done.out


def test_why_an_answer_is_none(tmp_path: Path) -> None:
    attempts = [
        ("a", attempt("A")), ("b", attempt(NO_BOX)), ("c", attempt("", status="failed")), ("d", attempt("")),
        ("e", attempt("kept", status="failed")), (None, attempt("A")),
    ]  # fmt: skip
    rows = [row(one, task_id=name) for name, one in attempts]
    root = write(tmp_path, {"r.jsonl": [*rows, "[]", "{"]})
    done = convert(root / "r.jsonl", "-o", root / "x.json")
    assert [line for line in done.out.splitlines() if line.startswith("  ")] == [
        "  left out, no box in the reply: 1 (b)",
        "  left out, failed: 1 (c)",
        "  left out, without an answer: 1 (d)",
        "  left out, without an id: 1 (record 6)",
        "  left out, no object: 2 (record 7, record 8 (not JSON: column 1: Expecting…)",
    ]
    assert (root / "x.json").read_text() == '{\n "a": "A",\n "e": "kept"\n}\n'


def test_a_key_that_is_named_is_taken_from_the_rows_themselves(tmp_path: Path) -> None:
    root = write(tmp_path, {"r.jsonl": [row(attempt("A"), model_response="I say A")]})
    assert converted(root, root / "r.jsonl", "--answer", "model_response") == {"x.json": {"q": "I say A"}}
