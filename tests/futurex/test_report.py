"""A result as lines and tables: which lines are there, and when."""

from __future__ import annotations

from typing import Any

from cli import EVIL, RAW_CONTROL, Record, number, q
from each import each
from eval import FutureXEvaluator
from forecasteval.common.report import Report, Table, format_text
from forecasteval.futurex.report import report_blocks


def result(*records: Record, **more: Any) -> dict[str, Any]:
    return {**FutureXEvaluator().evaluate_all(records), **more}


def lines(report: Report) -> list[str]:
    return [block for block in report if isinstance(block, str)]


def test_the_head_names_what_was_scored() -> None:
    assert lines(report_blocks(result(q())))[:2] == ["FutureX", "1 questions, without a dataset"]
    named = result(q(), number(), name="run", dataset="d.json")
    assert lines(report_blocks(named))[:2] == ["FutureX  run", "2 questions, dataset d.json"]


def test_the_table_has_a_row_per_level_and_overall() -> None:
    (table,) = (block for block in report_blocks(result(q(), number(answer=""))) if isinstance(block, Table))
    assert [row[0] for row in table.rows] == ["Level 1", "Level 2", "Level 3", "Level 4", "Overall"]
    assert [row[1] for row in table.rows] == ["0.1", "0.2", "0.3", "0.4", ""]
    assert [row[2] for row in table.rows] == ["1.0000", "–", "–", "0.0000", "0.2000"]
    assert [row[-3:] for row in table.rows[3:]] == [["1", "1", "0"], ["2", "1", "0"]]


@each(("missing", "told"), [("zero", "score 0"), ("skip", "are left out")])
def test_the_policy_is_told(missing: str, told: str) -> None:
    results = FutureXEvaluator(missing=missing).evaluate_all([q(), q("b", answer="")])
    assert f"Missing answers {told}. Over answered questions only: 1.0000." in lines(report_blocks(results))


def test_lines_that_stand_only_where_there_is_something_to_say() -> None:
    plain, told = lines(report_blocks(result(q()))), lines(report_blocks(result(q(answer="A"), warnings=["odd"])))
    assert "Read without a box: 1." in told
    assert "warning: odd" in told
    assert not [line for line in plain if line.startswith(("Read without", "warning", "Language model"))]


ASKED = {
    "prompts": 5, "answered": 3, "invalid": 1, "failures": {"timeout": 1}, "changed": 2, "calls": 6, "degraded": False,
    "tokens": {"prompt": 50, "completion": 7}, "pairs": 5, "same": 2, "refused": 1, "left_out": 4,
}  # fmt: skip


def test_what_a_language_model_did() -> None:
    told = lines(report_blocks(result(q(), llm=ASKED, llm_names=ASKED)))
    assert (
        "Language model: numbers sent 5, answered 3, refused by validation 1, failed 1; scores changed 2; calls 6, "
        "tokens 50 + 7." in told
    )
    assert (
        "Language model, names: pairs sent 5, the same 2, names refused for their decoy 1, names left out 4, "
        "replies refused by validation 1; scores changed 2; calls 6." in told
    )


def test_items_are_cut_and_safe() -> None:
    results = result(q("x" * 99, answer=r"\boxed{B}" + "y" * 99), q(EVIL, answer=EVIL))
    (first, second) = report_blocks(results, items=True)[-3].rows
    assert first[:5] == ["x" * 25 + "…", "1", "single choice", "0.0000", "scored"]
    assert [len(cell) for cell in first[5:8]] == [1, 1, 36]
    assert second[4] == "unparsed"
    assert not RAW_CONTROL.search(format_text(report_blocks(results, items=True)))
    assert len(report_blocks(results, items=True)) == len(report_blocks(results)) + 2
