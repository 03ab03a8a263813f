"""A result as lines and tables: which lines are there, and when."""

from __future__ import annotations

from typing import Any

import pytest

from cli import EVIL, RAW_CONTROL, Record, number, q
from eval import FutureXEvaluator
from forecasteval.display.tables import Report, Table, format_text
from forecasteval.futurex.questions import parse_record
from forecasteval.futurex.report import explain, name_cause, report_blocks
from forecasteval.futurex.rules import Rules


def result(*records: Record, **more: Any) -> dict[str, Any]:
    return {**FutureXEvaluator().evaluate_all(records), **more}


def lines(report: Report) -> list[str]:
    return [block for block in report if isinstance(block, str)]


def test_the_head_names_what_was_scored() -> None:
    assert lines(report_blocks(result(q())))[:2] == ["FutureX", "1 question, without a dataset"]
    named = result(q(), number(), name="run", dataset="d.json")
    assert lines(report_blocks(named))[:2] == ["FutureX  run", "2 questions, dataset d.json"]


def test_the_table_has_a_row_per_level_and_overall() -> None:
    (table,) = (
        block for block in report_blocks(result(q(), number(answer=""))) if isinstance(block, Table)
    )
    assert [row[0] for row in table.rows] == ["Level 1", "Level 2", "Level 3", "Level 4", "Overall"]
    assert [row[1] for row in table.rows] == ["0.1", "0.2", "0.3", "0.4", ""]
    assert [str(row[2]) for row in table.rows] == ["1.0000", "–", "–", "0.0000", "0.2000"]
    assert [row[-3:] for row in table.rows[3:]] == [["1", "1", "0"], ["2", "1", "0"]]


@pytest.mark.parametrize(("missing", "told"), [("zero", "score 0"), ("skip", "are left out")])
def test_the_policy_is_told(missing: str, told: str) -> None:
    results = FutureXEvaluator(missing=missing).evaluate_all([q(), q("b", answer="")])
    assert f"Missing answers {told}. Over answered questions only: 1.0000." in lines(
        report_blocks(results)
    )


def test_lines_that_stand_only_where_there_is_something_to_say() -> None:
    plain, told = (
        lines(report_blocks(result(q()))),
        lines(report_blocks(result(q(answer="A"), warnings=["odd"]))),
    )
    assert "Read without a box: 1." in told
    assert "warning: odd" in told
    assert not [
        line for line in plain if line.startswith(("Read without", "warning", "Language model"))
    ]


ASKED = {
    "prompts": 5, "answered": 3, "invalid": 1, "failures": {"timeout": 1}, "changed": 2,
    "extracted": 2, "calls": 6, "requests": 9,
    "degraded": False,
    "tokens": {"prompt": 50, "completion": 7}, "pairs": 5, "same": 2, "refused": 1,
}  # fmt: skip


def test_what_a_language_model_did() -> None:
    told = lines(report_blocks(result(q(), llm=ASKED, llm_names=ASKED)))
    assert (
        "Language model: prompts 5, answered 3, refused by validation 1, failed 1; "
        "answers found 2; scores changed 2; calls 6, requests 9, "
        "tokens 50 + 7." in told
    )
    assert (
        "Language model, names: pairs sent 5, the same 2, names refused for their decoy 1, "
        "replies refused by validation 1; scores changed 2; calls 6, requests 9." in told
    )


def test_items_are_cut_and_safe() -> None:
    results = result(q("x" * 99, answer=r"\boxed{B}" + "y" * 99), q(EVIL, answer=EVIL))
    first, second = report_blocks(results, items=True)[-3].rows
    assert first[:5] == ["x" * 25 + "…", "1", "single choice", "0.0000", "scored"]
    assert [len(cell) for cell in first[5:8]] == [1, 1, 36]
    assert second[4] == "unparsed"
    assert not RAW_CONTROL.search(format_text(report_blocks(results, items=True)))
    assert len(report_blocks(results, items=True)) == len(report_blocks(results)) + 2


# --- Items ---


def evaluate(*rows: dict[str, Any], **policies: Any) -> Any:
    return FutureXEvaluator(**policies).evaluate_all(rows)


def test_the_item_of_a_long_answer_keeps_what_counts() -> None:
    [item] = evaluate(q("q1", answer="long " * 300 + r"\boxed{A}" + " and so on" * 100))["items"]
    assert len(item["answer"]) == 500
    assert r"\boxed{A}" in item["answer"]


@pytest.mark.parametrize(
    ("prompt", "shown"),
    [
        ('You can predict. The event to be predicted: "Who wins?\n A. x\nB. y', "Who wins?"),
        ("  Who\nwins?", "Who"),
        ("x" * 300, "x" * 199 + "…"),
        ("", ""),
    ],
)
def test_prompts_are_told_by_their_first_line(prompt: str, shown: str) -> None:
    [item] = evaluate(number("q1", prompt=prompt))["items"]
    assert item["prompt"] == shown


@pytest.mark.parametrize(
    ("given", "std", "sigmas"),
    [
        ("103", 2, 1.5),
        ("97", 2, -1.5),
        ("100", None, None),
        ("100", 0, None),
        ("no number", 2, None),
        (None, 2, None),
    ],
)
def test_sigmas_of_an_item(given: str | None, std: float | None, sigmas: float | None) -> None:
    [item] = evaluate(number("n", answer=given and rf"\boxed{{{given}}}", Std=std))["items"]
    assert item["sigmas"] == sigmas
    if sigmas is not None:
        assert item["score"] == max(0.0, 1 - sigmas * sigmas)


@pytest.mark.parametrize(
    ("row", "cause", "why"),
    [
        (q("a"), "right", "A is right"),
        (q("a", answer="B"), "wrong option", "B picked, A is right"),
        (q("a", answer=None), "missing", "no answer"),
        (q("a", answer="it depends"), "unparsed: prose", "not read: no box, and not only options"),
        (q("a", level=2, ground_truth="A, B"), "partly right",
         "A picked, A, B is right: F1 0.6667"),
        (number("a", answer=r"\boxed{31.5}", ground_truth="30", Std=3), "partly right",
         "31.5 against 30, σ 3: 1 − 0.25"),
        (number("a", answer=r"\boxed{40}", ground_truth="30", Std=3), "number beyond σ",
         "40 against 30, σ 3: 3.33 σ away, and beyond 1 σ nothing scores"),
        (number("a", answer=r"\boxed{31}", ground_truth="30"), "number not equal",
         "31 against 30: not equal, and there is no σ"),
        (number("a", answer=r"\boxed{30}", ground_truth="30"), "right", "30 against 30: equal"),
        (number("a", answer=r"\boxed{x, y, q}", ground_truth="x, y, z"), "partly right",
         "2 of 3 names: 0.8 · 2/3"),
        (number("a", answer=r"\boxed{u, v, w}", ground_truth="x, y, z"), "wrong names",
         "0 of 3 names: u | v | w against x, y, z"),
    ],
)  # fmt: skip
def test_every_score_has_its_reason(row: dict[str, Any], cause: str, why: str) -> None:
    [item] = evaluate(row)["items"]
    assert name_cause(item) == cause
    truth = parse_record(row, "", 1, Rules()).truth
    assert explain(item, truth) == why


def test_what_unparsed_answers_look_like() -> None:
    answers = ["N/A", "unknown", "Error: timed out", '{"error": "busy"}', "A or B, who knows",
               r"\boxed{A} or \boxed{B}", r"\boxed{?}"]  # fmt: skip
    results = result(*(q(str(n), answer=answer) for n, answer in enumerate(answers)))
    assert [item["reason"] for item in results["items"]] == [
        "refusal", "refusal", "error of a program", "error of a program", "prose", "contradiction",
        "unreadable",
    ]  # fmt: skip
    line = (
        "Unparsed: 7 (2 refusals, 2 program errors, 1 prose answer, 1 contradiction, "
        "1 unreadable answer)"
    )
    assert line in lines(report_blocks(results))
