"""The page of a run: its numbers, what each question costs, and what a question shows when it is
opened.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from cli import number, q, question, write
from eval import FutureXEvaluator
from forecasteval.display.html import render
from html_page import Parsed, check_page


def evaluate(*rows: dict[str, Any], **policies: Any) -> Any:
    return FutureXEvaluator(**policies).evaluate_all(rows)


def parse(results: Any) -> Parsed:
    return check_page(render(results.page()))


def rows(parsed: Parsed) -> list[dict[str, str]]:
    """The attributes of the rows that open."""
    return [attributes for attributes in parsed.find("details") if "data-cause" in attributes]


def inside(results: Any) -> dict[str, str]:
    """What is inside the first row."""
    facts = parse(results).facts
    titles = [title for title, _ in facts]
    return dict(facts[: titles.index("Question") + 1])


def marked(raw: object) -> list[str]:
    return re.findall("(?s)(.)<mark>(.*?)</mark>(.)", render(evaluate(q("q1", answer=raw)).page()))


@pytest.mark.parametrize(
    ("raw", "part"),
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
def test_what_counts_is_marked_in_its_box(raw: str, part: str) -> None:
    assert marked(raw) == [("{", part, "}")]


@pytest.mark.parametrize("raw", ["A", "", None, ["A"], "it depends on the weather"])
def test_nothing_is_marked_where_the_whole_answer_counts_or_nothing(raw: object) -> None:
    assert marked(raw) == []


def test_a_row_opens_to_the_whole_question_and_answer() -> None:
    long = "word " * 3000 + r"\boxed{B}"
    prompt = "Who wins?\nA. x\nB. " + "y" * 900 + "\nIMPORTANT: box it."
    shown = inside(evaluate(q("q1", prompt=prompt, answer=long)))
    assert shown == {
        "Truth": "A",
        "Read from the answer": "B",
        "Score": "0.0000: B picked, A is right",
        "Answer, the part that counts marked": long,
        "Question": prompt,
    }


@pytest.mark.parametrize("count", [1, 501])
def test_rows_of_files_are_on_the_page(tmp_path: Path, count: int) -> None:
    """Those of large files are read again, unless the file has changed."""
    names = [f"q{number}" for number in range(1, count + 1)]
    answers = dict.fromkeys(names, r"\boxed{A}") | {"q1": "because " * 200 + r"\boxed{A}"}
    write(tmp_path, {"d.json": list(map(question, names)), "p.json": answers})
    results = FutureXEvaluator().evaluate_file(tmp_path / "p.json", [tmp_path / "d.json"])
    assert "".join(results.page().texts()["q1"]["Answer"]).count("because") == 200
    write(tmp_path, {"p.json": {"q1": "changed since"}})
    if count == 1:
        assert "".join(results.page().texts()["q1"]["Answer"]).count("because") == 200
        return
    assert "".join(results.page().texts()["q1"]["Answer"]) == results["items"][0]["answer"]


def test_the_keyboard_reaches_a_text_that_scrolls_and_no_other() -> None:
    long = evaluate(q("a", prompt="Who wins?", answer="because " * 900))
    short = evaluate(q("a", prompt="Who wins?", answer="because"))
    boxes = [
        [box.get("tabindex") for box in parse(results).find("dd") if box.get("class") == "box"]
        for results in (long, short)
    ]
    assert boxes == [["0", None], [None, None]]


def test_what_costs_most_comes_first_and_costs_add_up() -> None:
    results = evaluate(
        q("q1"),
        q("q2", answer=None),
        q("q3", level=2, answer="B"),
        number("n1", answer=r"\boxed{102}", Std=4),
    )
    shown = rows(parse(results))
    costs = [float(row["data-cost"]) for row in shown]
    assert costs == sorted(costs, reverse=True)
    assert sum(costs) == pytest.approx(1 - results["overall_score"], abs=1e-5)
    table = results.page().charts()["costs"].table
    assert sum(row[1].value for row in table.rows) == pytest.approx(sum(costs), abs=1e-5)


def test_every_cause_is_a_chip_with_its_count() -> None:
    parsed = parse(evaluate(q("a"), q("b", answer="B"), q("c", answer=None), q("d", answer="B")))
    chips = [chip["data-v"] for chip in parsed.find("button") if chip.get("data-k") == "cause"]
    assert chips == ["wrong option", "missing", "right"]
    assert "wrong option 2 " in parsed.texts
    assert [row["data-cause"] for row in rows(parsed)] == [
        "wrong option",
        "missing",
        "wrong option",
        "right",
    ]


def test_rows_with_the_same_id_have_their_own_addresses() -> None:
    results = evaluate(q("q1"), q("q1", answer="B"))
    assert len({row["id"] for row in rows(parse(results))}) == 2
    assert any("id used more than once" in warning for warning in results["warnings"])
    assert results.page().texts() == {}  # a comparison could not tell which is meant


def test_rows_without_an_id_or_with_a_list_as_id() -> None:
    shown = rows(parse(evaluate(q(None), q(None), q([]), q([]))))
    assert len({row["id"] for row in shown}) == 4


def test_answers_that_were_read_otherwise_can_be_found() -> None:
    results = evaluate(q("a", answer="A"), q("b"), q("c", answer="it depends on the weather"))
    results["items"][1]["decided_by"] = "model"
    shown = {row["id"]: row["data-read"] for row in rows(parse(results))}
    assert shown == {"q-a": "without a box", "q-b": "by the model", "q-c": ""}


def test_the_page_has_the_numbers_of_the_report() -> None:
    results = evaluate(
        q("q1"),
        q("q2", answer=None),
        q("q3", answer="it depends on the weather"),
        number("n1", answer=r"\boxed{101}", Std=2),
    )
    parsed = parse(results)
    assert f"{results['overall_score']:.3f}" in parsed.texts
    table = [row for row in parsed.rows if row[0].startswith(("Overall", "Level "))]
    assert [(row[0], row[5:]) for row in table] == [
        ("Overall", ["4", "1", "1"]),
        ("Level 1 weight 0.1", ["3", "1", "1"]),
        ("Level 2 weight 0.2", ["0", "0", "0"]),
        ("Level 3 weight 0.3", ["0", "0", "0"]),
        ("Level 4 weight 0.4", ["1", "0", "0"]),
    ]
    assert results.page().charts()["scores"].table in results.report()
    assert sorted(row["data-cause"] for row in rows(parsed)) == [
        "missing",
        "partly right",
        "right",
        "unparsed: prose",
    ]


def test_skipped_answers_and_pending_questions_have_no_score() -> None:
    results = evaluate(q("q1"), q("q2", answer=None), q("q3", ground_truth=None), missing="skip")
    assert list(results.page().charts()) == ["scores"]
    parsed = parse(results)
    assert [record[0] for record in parsed.records] == ["1.00", "–", "–"]
    assert ["Overall", "1", "1", "1", "0"] in [[row[0], *row[5:]] for row in parsed.rows]
