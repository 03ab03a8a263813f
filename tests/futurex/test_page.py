"""The page of a FutureX run: what counts of an answer, numbers in sigmas, the numbers of the report."""

from __future__ import annotations

from typing import Any

import pytest

from cli import number, q
from eval import FutureXEvaluator
from forecasteval.boards.page import render
from forecasteval.common.pages import Marked, Records
from html_page import check_page


def evaluate(*rows: dict[str, Any], **policies: Any) -> Any:
    return FutureXEvaluator(**policies).evaluate_all(rows)


def records(results: Any) -> Records:
    blocks = [block for section in results.page().sections for block in section.blocks]
    return next(block for block in blocks if isinstance(block, Records))


def answer(raw: object, **changes: object) -> Any:
    return records(evaluate(q("q1", answer=raw, **changes))).rows[0][7]


@pytest.mark.parametrize(
    ("raw", "marked"),
    [
        (r"Not \boxed{B}. Rather \boxed{A}", "A"),
        (r"\boxed{A} as I said, A, A and A", "A"),
        (r"\boxed{\text{A}}", r"\text{A}"),
        ("long " * 300 + r"\boxed{A}" + " and so on" * 100, "A"),
    ],
)
def test_what_counts_is_marked_in_its_box(raw: str, marked: str) -> None:
    cell = answer(raw)
    assert isinstance(cell, Marked)
    assert (cell.before[-1], cell.marked, cell.after[0]) == ("{", marked, "}")


@pytest.mark.parametrize("raw", ["A", "", None, ["A"], "no idea"])
def test_nothing_is_marked_without_a_box(raw: object) -> None:
    assert isinstance(answer(raw), str)


def test_the_item_of_a_long_answer_keeps_what_counts() -> None:
    [item] = evaluate(q("q1", answer="long " * 300 + r"\boxed{A}" + " and so on" * 100))["items"]
    assert len(item["answer"]) == 500
    assert r"\boxed{A}" in item["answer"]


@pytest.mark.parametrize(
    ("prompt", "shown"),
    [
        ('You can predict. The event to be predicted: "Who wins?\n A. x\nB. y', "Who wins?"),
        ("  Who\nwins?", "Who"),
        ("x" * 300, "x" * 200),
        ("", ""),
    ],
)
def test_prompts_are_told_by_their_first_line(prompt: str, shown: str) -> None:
    [item] = evaluate(number("q1", prompt=prompt))["items"]
    assert item["prompt"] == shown


@pytest.mark.parametrize(
    ("given", "std", "sigmas"),
    [("103", 2, 1.5), ("97", 2, -1.5), ("100", None, None), ("100", 0, None), ("no number", 2, None), (None, 2, None)],
)
def test_sigmas_of_an_item(given: str | None, std: float | None, sigmas: float | None) -> None:
    [item] = evaluate(number("n", answer=given and rf"\boxed{{{given}}}", Std=std))["items"]
    assert item["sigmas"] == sigmas
    if sigmas is not None:
        assert item["score"] == max(0.0, 1 - sigmas * sigmas)


def test_numbers_are_counted_by_their_distance() -> None:
    given = [100, 100.4, 101, 102, 105, 110, 1e9, 98, 0]
    results = evaluate(*(number(f"n{n}", answer=rf"\boxed{{{x:.10g}}}", Std=2) for n, x in enumerate(given)))
    chart = results.page().charts()["sigmas"]
    assert [row[-1] for row in chart.table.rows] == ["3", "2", "1", "3"]
    assert "1 are too low" not in chart.description
    assert "9 numbers" in chart.description
    assert "2 are too low, 6 too high" in chart.description


def test_the_page_has_the_numbers_of_the_report() -> None:
    rows = [q("q1"), q("q2", answer=None), q("q3", answer="no idea"), number("n1", answer=r"\boxed{101}", Std=2)]
    results = evaluate(*rows)
    page = results.page()
    figures = {name: (value, remark) for name, value, remark in page.figures}
    assert figures["Overall score"][0] == f"{results['overall_score']:.4f}"
    assert (figures["Missing"][0], figures["Unparsed"][0]) == ("1", "1")
    table = page.charts()["scores"].table
    assert [row[3:] for row in table.rows] == [["2", "0", "1"], ["0"] * 3, ["0"] * 3, ["0", "1", "0"], ["2", "1", "1"]]
    parsed = check_page(render(page))
    assert [row[2] for row in parsed.rows if len(row) == 10][1:] == ["scored", "missing", "unparsed", "scored"]


def test_skipped_answers_and_a_run_without_numbers() -> None:
    results = evaluate(q("q1"), q("q2", answer=None), missing="skip")
    assert list(results.page().charts()) == ["scores"]
    assert "–" in {row[3] for row in records(results).rows}
    check_page(render(results.page()))
