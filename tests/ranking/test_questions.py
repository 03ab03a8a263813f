"""How hard questions are: means, how many answered; on the page the hardest first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from boards_folders import make_page, score, system
from cli import q, question, run, write
from forecasteval.boards import rank
from forecasteval.display.html import render
from html_page import check_page

ANSWERS = {
    name: "1" * (11 - place) + "0" * place + "01"[place > 5]
    for place, name in enumerate("abcdefghijkl")
}


def questions(board: Any) -> list[dict[str, Any]]:
    return sorted(board["tables"][0]["questions"], key=lambda row: str(row["id"]))


def board() -> Any:
    return rank([system(name, *(text == "1" for text in right)) for name, right in ANSWERS.items()])


def test_the_mean_of_a_question_is_that_of_all_systems() -> None:
    assert [row["mean"] for row in questions(board())] == pytest.approx(
        [n / 12 for n in [*range(11, 0, -1), 6]]
    )


def test_answers_that_were_not_read_are_not_counted() -> None:
    results = [
        score([q("x", answer=answer), q("y")], name)
        for name, answer in zip("abc", ("A", None, "?"), strict=True)
    ]
    assert [(row["answered"], row["systems"]) for row in questions(rank(results))] == [
        (1, 3),
        (3, 3),
    ]


def test_the_order_of_results_changes_nothing() -> None:
    results = [system(name, *(text == "1" for text in right)) for name, right in ANSWERS.items()]
    assert rank(results[::-1])["tables"] == rank(results)["tables"]


def test_the_page_shows_the_hardest_first_and_leads_to_the_page_of_a_run(tmp_path: Path) -> None:
    prompt = "The event to be predicted: Who wins? <i>north</i>\nA. x\nB. y"
    write(tmp_path, {"dataset/d.json": [question("easy"), question("hard", prompt=prompt)]})
    for name, answer in {"x": "A", "y": "B", "y@2": "A"}.items():
        write(tmp_path, {f"prediction/d-{name}.json": {"easy": "A", "hard": answer}})
    page = tmp_path / "evaluation/leaderboard.html"
    assert run(tmp_path, "nightly").code == 0
    parsed = check_page(page.read_text("utf-8"))
    shown = [row for row in parsed.rows if row[0] in ("0.75", "1.00")]
    assert shown == [["0.75", "Who wins? <i>north</i> L1", "A"], ["1.00", "Who will win? L1", "A"]]
    assert not any("#q-" in link["href"] for link in parsed.find("a"))
    assert run(tmp_path, "nightly", "--html").code == 0
    links = {link["href"] for link in check_page(page.read_text("utf-8")).find("a")}
    assert {"./d-x.html#q-easy", "./d-x.html#q-hard"} <= links
    assert 'id="q-hard"' in (tmp_path / "evaluation/d-x.html").read_text("utf-8")


def test_a_result_that_changed_since_is_not_read(tmp_path: Path) -> None:
    made = board()
    read: dict[str, list[Any]] = {name: [] for name in ANSWERS}
    check_page(render(make_page(made, read_items=lambda name: read[name])))
