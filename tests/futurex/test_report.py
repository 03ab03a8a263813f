"""A result as lines and tables: which lines are there, and when."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cli import EVIL, RAW_CONTROL, Record, number, q, question, write
from eval import FutureXEvaluator
from forecasteval.display.html import render
from forecasteval.display.pages import Records
from forecasteval.display.tables import Marked, Report, Table, format_text
from forecasteval.futurex.report import report_blocks
from html_page import check_page


def result(*records: Record, **more: Any) -> dict[str, Any]:
    return {**FutureXEvaluator().evaluate_all(records), **more}


def lines(report: Report) -> list[str]:
    return [block for block in report if isinstance(block, str)]


def test_the_head_names_what_was_scored() -> None:
    assert lines(report_blocks(result(q())))[:2] == ["FutureX", "1 questions, without a dataset"]
    named = result(q(), number(), name="run", dataset="d.json")
    assert lines(report_blocks(named))[:2] == ["FutureX  run", "2 questions, dataset d.json"]


def test_the_table_has_a_row_per_level_and_overall() -> None:
    (table,) = (
        block for block in report_blocks(result(q(), number(answer=""))) if isinstance(block, Table)
    )
    assert [row[0] for row in table.rows] == ["Level 1", "Level 2", "Level 3", "Level 4", "Overall"]
    assert [row[1] for row in table.rows] == ["0.1", "0.2", "0.3", "0.4", ""]
    assert [row[2] for row in table.rows] == ["1.0000", "–", "–", "0.0000", "0.2000"]
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
    "prompts": 5, "answered": 3, "invalid": 1, "failures": {"timeout": 1}, "changed": 2, "extracted": 2, "calls": 6, "degraded": False,
    "tokens": {"prompt": 50, "completion": 7}, "pairs": 5, "same": 2, "refused": 1, "left_out": 4,
}  # fmt: skip


def test_what_a_language_model_did() -> None:
    told = lines(report_blocks(result(q(), llm=ASKED, llm_names=ASKED)))
    assert (
        "Language model: prompts sent 5, answered 3, refused by validation 1, failed 1; "
        "answers found 2; scores changed 2; calls 6, "
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


# --- The page ---


def evaluate(*rows: dict[str, Any], **policies: Any) -> Any:
    return FutureXEvaluator(**policies).evaluate_all(rows)


def records(results: Any) -> Records:
    [found] = results.page().blocks(Records)
    return found  # type: ignore[no-any-return]


def details(results: Any) -> dict[str, Any]:
    """What is inside the first row."""
    return dict(records(results).rows[0].details)


def answer(raw: object, **changes: object) -> Any:
    return details(evaluate(q("q1", answer=raw, **changes))).get("Answer", "")


@pytest.mark.parametrize(
    ("raw", "marked"),
    [
        (r"Not \boxed{B}. Rather \boxed{A}", "A"),
        (r"\boxed{A} as I said, A, A and A", "A"),
        (r"\boxed{\text{A}}", r"\text{A}"),
        ("long " * 300 + r"\boxed{A}" + " and so on" * 100, "A"),
        ("\\boxed{A}\n\\textbf{Apart} from this", "A"),
        (r"\boxed{A}. Note: \text{Average} and {A} of 3", "A"),
        (r"\boxed{A}" + " w" * 600 + r" {AB} " + " w" * 600, "A"),
        (r"So \boxed{A} and \boxed{C}.", r"A} and \boxed{C"),
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


def test_a_row_opens_to_the_whole_question_and_answer() -> None:
    long = "word " * 3000 + r"\boxed{B}"
    prompt = "Who wins?\nA. x\nB. " + "y" * 900 + "\nIMPORTANT: box it."
    inside = details(evaluate(q("q1", prompt=prompt, answer=long)))
    assert inside["Question"] == prompt
    assert "".join(inside["Answer"]) == long
    assert inside["Answer"].marked == "B"
    assert (inside["Truth"], inside["Read"], inside["Score"]) == (
        "A",
        "B",
        "0.0000: B picked, A is right",
    )


def test_rows_of_files_are_read_when_the_page_is_made(tmp_path: Path) -> None:
    write(tmp_path, {"d.json": [question("q1")], "p.json": {"q1": "because " * 200 + r"\boxed{A}"}})
    results = FutureXEvaluator().evaluate_file(tmp_path / "p.json", [tmp_path / "d.json"])
    assert "".join(details(results)["Answer"]).count("because") == 200
    write(tmp_path, {"p.json": {"q1": "changed since"}})
    assert "".join(details(results)["Answer"]) == results["items"][0]["answer"]


@pytest.mark.parametrize(
    ("row", "cause", "why"),
    [
        (q("a"), "right", "A is right"),
        (q("a", answer="B"), "wrong option", "B picked, A is right"),
        (q("a", answer=None), "missing", "no answer"),
        (q("a", answer="no idea"), "unparsed: prose", "not read: no box, and not only options"),
        (q("a", level=2, ground_truth="A, B"), "partly right", "A picked, A, B is right: F1 0.6667"),
        (number("a", answer=r"\boxed{31.5}", ground_truth="30", Std=3), "partly right",
         "31.5 against 30, σ 3: 1 − 0.25"),
        (number("a", answer=r"\boxed{40}", ground_truth="30", Std=3), "number beyond σ",
         "40 against 30, σ 3: 3.33 σ away, and beyond 1 σ nothing scores"),
        (number("a", answer=r"\boxed{31}", ground_truth="30"), "number not equal",
         "31 against 30: not equal, and there is no σ"),
        (number("a", answer=r"\boxed{30}", ground_truth="30"), "right", "30 against 30: equal"),
        (number("a", answer=r"\boxed{x, y, q}", ground_truth="x, y, z"), "partly right", "2 of 3 names: 0.8 · 2/3"),
        (number("a", answer=r"\boxed{u, v, w}", ground_truth="x, y, z"), "wrong names",
         "0 of 3 names: u | v | w against x, y, z"),
    ],
)  # fmt: skip
def test_every_score_has_its_reason(row: dict[str, Any], cause: str, why: str) -> None:
    [record] = records(evaluate(row)).rows
    assert (record.cells[3], record.cells[5]) == (cause, why)
    assert record.failed == (record.cells[1] in ("0.000", "–"))


def test_what_costs_most_comes_first_and_costs_add_up() -> None:
    rows = [
        q("q1"),
        q("q2", answer=None),
        q("q3", level=2, answer="B"),
        number("n1", answer=r"\boxed{102}", Std=4),
    ]
    results = evaluate(*rows)
    costs = [float(str(record.cells[2])) for record in records(results).rows]
    assert costs == sorted(costs, reverse=True)
    assert sum(costs) == pytest.approx(1 - results["overall_score"], abs=1e-3)
    table = results.page().charts()["costs"].table
    assert sum(float(row[2]) for row in table.rows) == pytest.approx(sum(costs), abs=1e-3)


def test_rows_with_the_same_id_say_so_and_have_their_own_addresses() -> None:
    found = records(evaluate(q("q1"), q("q1", answer="B")))
    assert len({record.key for record in found.rows}) == 2
    assert dict(found.rows[0].details)["Note"] == "2 rows have this id"


def test_rows_without_an_id_or_with_a_list_as_id() -> None:
    found = records(evaluate(q(None), q(None), q([]), q([])))
    assert [dict(row.details).get("Note") for row in found.rows] == [
        None,
        None,
        *["2 rows have this id"] * 2,
    ]


def test_numbers_are_counted_by_their_distance() -> None:
    given = [100, 100.4, 101, 102, 105, 110, 1e9, 98, 0]
    results = evaluate(
        *(number(f"n{n}", answer=rf"\boxed{{{x:.10g}}}", Std=2) for n, x in enumerate(given))
    )
    chart = results.page().charts()["sigmas"]
    assert [row[-1] for row in chart.table.rows] == ["1", "0", "1", "3", "1", "1", "2"]
    assert "9 numbers" in chart.description
    assert "2 are too low, 6 too high" in chart.description


def test_a_number_beyond_all_floats_is_in_the_outermost_bar() -> None:
    results = evaluate(number("n", answer=r"\boxed{1e308}", Std=1e-9))
    assert results.page().charts()["sigmas"].table.rows[-1][-1] == "1"
    check_page(render(results.page()))


def test_the_page_has_the_numbers_of_the_report() -> None:
    rows = [
        q("q1"),
        q("q2", answer=None),
        q("q3", answer="no idea"),
        number("n1", answer=r"\boxed{101}", Std=2),
    ]
    results = evaluate(*rows)
    page = results.page()
    figures = {name: (value, remark) for name, value, remark in page.figures}
    assert figures["Overall score"][0] == f"{results['overall_score']:.4f}"
    assert (figures["Missing"][0], figures["Unparsed"][0]) == ("1", "1")
    table = page.charts()["scores"].table
    assert table in results.report()
    parsed = check_page(render(page))
    assert sorted(row[3] for row in parsed.records) == [
        "missing",
        "partly right",
        "right",
        "unparsed: prose",
    ]


def test_skipped_answers_and_a_run_without_numbers() -> None:
    results = evaluate(q("q1"), q("q2", answer=None), missing="skip")
    assert list(results.page().charts()) == ["scores"]
    assert "–" in {record.cells[1] for record in records(results).rows}
    check_page(render(results.page()))


def test_what_unparsed_answers_look_like() -> None:
    answers = ["N/A", "unknown", "Error: timed out", '{"error": "busy"}', "A or B, who knows",
               r"\boxed{A} or \boxed{B}", r"\boxed{?}"]  # fmt: skip
    results = result(*(q(str(n), answer=answer) for n, answer in enumerate(answers)))
    assert [item["reason"] for item in results["items"]] == [
        "refusal", "refusal", "error of a program", "error of a program", "prose", "contradiction",
        "unreadable",
    ]  # fmt: skip
    line = (
        "Unparsed 7: 2 say that they refuse, 2 errors of a program, 1 prose without an answer, "
        "1 contradict themselves, 1 hold nothing that was asked for."
    )
    assert line in lines(report_blocks(results))
