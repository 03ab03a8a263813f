"""How hard questions are: means, how many answered, item–rest correlations; on the page with every
system's reading.
"""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import pytest

from boards_folders import score, system
from cli import q, question, run, write
from forecasteval.boards import rank
from forecasteval.boards.board_page import make_page
from forecasteval.display.html import render
from html_page import check_page

# Of twelve systems the first is best; the last question is hit by the six worst alone.
ANSWERS = {
    name: "1" * (11 - place) + "0" * place + "01"[place > 5]
    for place, name in enumerate("abcdefghijkl")
}


def questions(board: Any) -> list[dict[str, Any]]:
    return sorted(board["tables"][0]["questions"], key=lambda row: str(row["id"]))


def board() -> Any:
    return rank([system(name, *(text == "1" for text in right)) for name, right in ANSWERS.items()])


def test_item_rest_is_the_correlation_with_the_score_of_the_other_questions() -> None:
    rows = questions(board())
    means = [*range(11, 0, -1), 6]
    assert [row["mean"] for row in rows] == pytest.approx([n / 12 for n in means])
    for place, row in enumerate(rows):
        right = [[int(text) for text in answers] for answers in ANSWERS.values()]
        rest = [statistics.mean(one[:place] + one[place + 1 :]) for one in right]
        assert row["item_rest"] == pytest.approx(
            statistics.correlation([one[place] for one in right], rest)
        )
    assert [row["worth_a_look"] for row in rows] == [*[False] * 11, True]


def test_a_question_that_only_the_worst_hits_may_be_chance() -> None:
    """Student's t alone has p < 0.01 here; of six systems it is one of them by chance."""
    rights = dict.fromkeys("abcde", "11110") | {"f": "00001"}
    rows = questions(
        rank([system(name, *(one == "1" for one in right)) for name, right in rights.items()])
    )
    assert rows[-1]["item_rest"] == -1
    assert not any(row["worth_a_look"] for row in rows)


def test_levels_count_with_their_weights_in_the_rest() -> None:
    """With one question a level, the rest is the other level alone."""
    names, ones, fours = "abcde", "AABBA", "ABBBA"
    results = [
        score(
            [q("one", level=1, answer=one), q("four", level=4, answer=four), q("five", level=4)],
            name,
        )
        for name, one, four in zip(names, ones, fours, strict=True)
    ]
    one = next(row for row in questions(rank(results)) if row["id"] == "one")
    hits = [[int(answer == "A") for answer in answers] for answers in (ones, fours)]
    assert one["item_rest"] == pytest.approx(statistics.correlation(*hits))


def test_few_systems_and_equal_scores_have_no_correlation() -> None:
    few = rank([system(name, *(text == "1" for text in ANSWERS[name])) for name in "abcd"])
    assert {(row["item_rest"], row["worth_a_look"]) for row in questions(few)} == {(None, False)}
    equal = rank([system(name, True, False) for name in "abcde"])
    assert {row["item_rest"] for row in questions(equal)} == {None}


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


def test_the_page_shows_the_hardest_first_and_what_every_run_read(tmp_path: Path) -> None:
    write(tmp_path, {"dataset/d.json": [question("easy"), question("hard")]})
    for name, answer in {"x": "A", "y": "B", "y@2": "A", "z": "<b>"}.items():
        write(tmp_path, {f"prediction/d-{name}.json": {"easy": "A", "hard": answer}})
    assert run(tmp_path, "nightly").code == 0
    text = (tmp_path / "evaluation/leaderboard.html").read_text("utf-8")
    parsed = check_page(text)
    assert ["1.00", "A", "x, y@2"] in parsed.rows
    assert ["0.00", "B", "y"] in parsed.rows
    keys = [each["id"] for each in parsed.find("details") if each.get("class") == "q"]
    assert keys == ["q1-hard", "q1-easy"]
    found = [text for title, text in parsed.facts if title == "Answered readably"]
    assert found == ["2 of 3 systems", "3 of 3 systems"]


def test_an_open_question_has_its_prompt_and_leads_to_the_pages_of_the_runs(tmp_path: Path) -> None:
    event = "The event to be predicted: Who wins?\nA. <i>north</i>\nB. south\nBox it."
    prompt = f"You can predict events. {event}"
    write(tmp_path, {"dataset/d.json": [question("easy"), question("hard", prompt=prompt)]})
    for name, answer in {"x": "A", "y": "B", "y@2": "A"}.items():
        write(tmp_path, {f"prediction/d-{name}.json": {"easy": "A", "hard": answer}})
    page = tmp_path / "evaluation/leaderboard.html"
    assert run(tmp_path, "nightly").code == 0
    parsed = check_page(page.read_text("utf-8"))
    assert "Who wins?\nA. <i>north</i>\nB. south\nBox it." in parsed.texts
    assert not any("#q-" in link["href"] for link in parsed.find("a"))
    assert run(tmp_path, "nightly", "--html").code == 0
    shown = page.read_bytes()
    links = {link["href"] for link in check_page(shown.decode()).find("a") if "#q-" in link["href"]}
    assert links == {"./d-x.html#q-easy", "./d-x.html#q-hard", "./d-y.html#q-hard"}
    assert 'id="q-hard"' in (tmp_path / "evaluation/d-y.html").read_text("utf-8")
    page.unlink()
    assert run(tmp_path, "nightly", "--html").code == 0
    assert page.read_bytes() == shown


def test_a_result_that_changed_since_is_not_read(tmp_path: Path) -> None:
    made = board()
    read: dict[str, list[Any]] = {name: [] for name in ANSWERS}
    check_page(render(make_page(made, read_items=lambda name: read[name])))
