"""The page of a comparison: differences by level, the questions on which two systems differ, where
it is written.
"""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import pytest

from boards_folders import list_verdicts, score
from cli import number, q, run, write
from forecasteval.boards import compare
from forecasteval.common.statistics import stratified_interval
from forecasteval.display.html import render
from forecasteval.display.tables import IntervalCell
from html_page import check_page


def pair() -> list[dict[str, object]]:
    a = [
        q("q1"),
        q("q2", answer="B"),
        q("q3"),
        number("n1"),
        number("n2", answer=r"\boxed{95}", Std=10),
    ]
    b = [q("q1", answer="B"), q("q2"), q("q3"), number("n1"), number("n2", answer=None, Std=10)]
    return [score(a, "a"), score(b, "b")]


def test_levels_have_differences_with_intervals() -> None:
    found = compare(pair())["pairs"][0]["level_differences"]
    one, four = (found[level] for level in (1, 4))
    assert one["difference"] == 0
    assert one["interval"] == stratified_interval([(1.0, [1.0, -1.0, 0.0])], (-1.0, 1.0))
    assert four["difference"] == 0.375
    assert four["interval"] == stratified_interval([(1.0, [0.0, 0.75])], (-1.0, 1.0))


def rows_of(page: str) -> dict[str, list[str]]:
    """What the questions that differ show, by id: what they add, level, question, A and B."""
    keys = [row["id"] for row in check_page(page).find("details") if row.get("class") == "q"]
    summaries = re.findall(r'<details class="q".*?<summary>(.*?)</summary>', page, re.DOTALL)
    texts = [[text for text in re.split("<[^>]*>", row) if text.strip()] for row in summaries]
    return {key.removeprefix("q-"): text for key, text in zip(keys, texts, strict=True)}


def test_page_shows_both_answers_where_scores_differ() -> None:
    found = compare(pair())
    text = render(found.page())
    assert "3 questions with different scores; 2 are equal." in text
    rows = rows_of(text)
    assert list(rows) == ["n2", "q1", "q2"]  # a question of level 4 adds more than one of level 1
    truth = ["Truth: A"]
    prompt = rows["q1"][2]
    assert rows["q1"] == ["+0.067", "L1", prompt, *truth, "1.00", "A", "0.00", "B"]  # 0.1 / 0.5 / 3
    assert rows["n2"][-4:] == ["0.75", "95", "0.00", "(missing)"]
    moved = {row["id"]: f"{row['adds']:+.3f}" for row in found["pairs"][0]["questions"]}
    assert {name: row[0].replace("−", "-") for name, row in rows.items()} == moved
    parsed = check_page(text)
    assert ["A a: answer", "\\boxed{95}"] in parsed.facts
    assert ["B b: answer", "–"] in parsed.facts
    assert list(found.page().charts()) == ["differences"]


def test_first_screen_says_what_is_better_and_where() -> None:
    """One sentence; all questions, those that both answered readably, and each level."""
    found = compare(pair())
    page = found.page()
    assert page.lead == list_verdicts(found)[0]
    assert page.facts.endswith("missing or unreadable: B 1")
    rows = [row for row in check_page(render(page)).rows if len(row) == 9]
    assert [row[0] for row in rows] == [
        "Questions", "All questions", "Both answered readably", "Level 1 weight 0.1",
        "Level 4 weight 0.4",
    ]  # fmt: skip
    assert [row[1] for row in rows[1:]] == ["5", "4", "3", "2"]
    assert [row[2:5] for row in rows[1:]] == [
        ["0.83", "0.53", "+0.300"],
        ["0.93", "0.93", "0.000"],
        ["0.67", "0.67", "0.000"],
        ["0.88", "0.50", "+0.375"],
    ]
    assert [row[8].partition("wins")[0] for row in rows[1:]] == ["221", "121", "111", "110"]


def test_files_are_compared_with_their_whole_prompts_and_answers(tmp_path: Path) -> None:
    """A result keeps the first line of a prompt and an excerpt of an answer: the rest is read from
    the files.
    """
    long = "because " * 100
    write(
        tmp_path,
        {
            "prediction/a.json": [
                q("q1", prompt="One\nTwo A. x B. y", answer=rf"{long}\boxed{{A}}"),
                q("q2"),
            ]
        },
    )
    write(
        tmp_path,
        {"prediction/b.json": [q("q1", prompt="One\nTwo A. x B. y", answer=r"\boxed{B}"), q("q2")]},
    )
    assert run(tmp_path, "compare", "a", "b", "--html").code == 0
    parsed = check_page((tmp_path / "evaluation/compare.html").read_text(encoding="utf-8"))
    assert any("Two A. x B. y" in text for text in parsed.texts)
    assert any(long.strip() in text for text in parsed.texts)
    assert {"A a: answer", "B b: answer"} <= {title for title, _ in parsed.facts}


def test_long_names_are_shown_without_their_dataset() -> None:
    rows = [q("q1"), q("q2")]
    names = [f"multiple_choice_all_varying-{name}" for name in ("first", "second")]
    results = [
        {**score(rows, name), "dataset": "multiple_choice_all_varying.json"} for name in names
    ]
    assert compare(results).page().title == "first against second"
    runs = [{**result, "name": f"{names[0]}@{n}"} for n, result in enumerate(results)]
    assert compare(runs).page().title == f"{names[0]}@0 against {names[0]}@1"


def test_several_systems_have_a_section_per_pair() -> None:
    results = [*pair(), score([q("q1"), q("q2"), q("q3"), number("n1"), number("n2", Std=10)], "c")]
    page = compare(results).page()
    assert page.lead.startswith("a cannot be told apart from b and c ")
    parsed = check_page(render(page))
    assert [each["id"] for each in parsed.find("details") if each.get("class") == "fold"] == [
        "p1",
        "p2",
        "p3",
    ]
    titles = [row[0].partition(" p ")[0] for row in parsed.rows[:4]]
    assert titles == ["Pairs", "a − b", "a − c", "b − c"]


def test_more_than_four_systems_have_the_table_of_pairs_only() -> None:
    a, b = pair()
    results = [a, b, *({**a, "name": name} for name in "cde")]
    few, many = (render(compare(results[:count]).page()) for count in (4, 5))
    assert few.count('class="fold"') == 6
    assert 'class="fold"' not in many
    assert "up to 4 systems shows their questions" in many
    assert {f"{x} − {y}" for x, y in combinations("abcde", 2)} <= {
        row[0].partition(" p ")[0] for row in check_page(many).rows
    }


@pytest.mark.parametrize("words", [["a", "b", "--html"], ["--html", "a", "b"]])
def test_where_it_is_written(tmp_path: Path, words: list[str]) -> None:
    write(tmp_path, {"prediction/a.json": [q("q1")], "prediction/b.json": [q("q1", answer="B")]})
    plain = run(tmp_path, "compare", "a", "b")
    done = run(tmp_path, "compare", *words)
    assert (done.code, done.out, done.err) == (0, plain.out, "")
    check_page((tmp_path / "evaluation/compare.html").read_text(encoding="utf-8"))


def test_it_leads_to_the_pages_of_its_runs(tmp_path: Path) -> None:
    """To those that there are."""
    for name in ("a", "b c"):
        write(tmp_path, {f"prediction/{name}.json": [q("q1")]})

    def links() -> list[str]:
        assert run(tmp_path, "compare", "a", "b c", "--html").code == 0
        page = check_page((tmp_path / "evaluation/compare.html").read_text(encoding="utf-8"))
        return [link["href"] for link in page.find("a") if ".html" in link["href"]]

    assert links() == []
    run(tmp_path, "-f", "b c", "--html")
    assert links() == ["./b%20c.html"]
    run(tmp_path, "nightly", "--html")
    names = ("leaderboard", "a", "b%20c")
    assert links() == [f"./{name}.html" for name in names]


def test_equal_systems_and_a_single_question() -> None:
    for rows in ([q("q1")], [q("q1"), q("q2")]):
        check_page(render(compare([score(rows, "a"), score(rows, "b")]).page()))


def test_runs_show_the_mean_score_and_what_each_run_said() -> None:
    said = [("A", r"\boxed{95}"), ("B", None), ("A", r"\boxed{100}")]
    a = [
        score([q("q1", answer=choice), number("n1", answer=text, Std=10)], f"a@{place}")
        for place, (choice, text) in enumerate(said)
    ]
    page = compare([a, score([q("q1"), number("n1", Std=10)], "b")]).page()
    text = render(page)
    rows = rows_of(text)
    assert rows["q1"][-4:] == ["0.67", "A | B | A", "1.00", "A"]
    assert rows["n1"][-4:] == ["0.58", "95 | (missing) | 100", "1.00", "100"]
    facts = check_page(text).facts
    assert ["A a: answer", r"\boxed{95} |  | \boxed{100}"] in facts
    assert ["B b: answer", "100"] in facts
    assert page.title == "a against b"


def test_over_all_weeks_levels_have_scores_and_wins_add_up(tmp_path: Path) -> None:
    """A missed week is in n, and in no win: the page says how many questions both took part in."""
    from season import make_season

    make_season(tmp_path, weeks=4, questions=12, systems=4, runs=1)
    for gone in (tmp_path / "prediction").glob("250901-deep.agent*"):
        gone.unlink()
    path = tmp_path / "evaluation/compare.html"
    done = run(tmp_path, "compare", "harbor-9b", "deep.agent", "--html")
    assert done.code == 0, done.err
    pair = run(tmp_path, "compare", "harbor-9b", "deep.agent", "--json").json["pairs"][0]
    shared = sum(sum(tally.values()) for tally in pair["levels"].values())
    assert shared < 48
    text = path.read_text(encoding="utf-8")
    assert f"both took part in {shared}, whose wins are counted" in text
    rows = {row[0].partition(" weight")[0]: row for row in check_page(text).rows}
    names = [name for name in rows if name.startswith("Level")]
    assert names == [f"Level {level}" for level in (1, 2, 3, 4)]


def test_a_pair_that_is_not_decided_is_hollow() -> None:
    """Five questions of one difference: the interval excludes 0, and p is 1/16."""
    a, b = (
        score([q(f"q{n:02}", answer="A" if n < right else "B") for n in range(40)], name)
        for name, right in (("a", 40), ("b", 35))
    )
    comparison = compare([a, b])
    (pair,) = comparison["pairs"]
    assert pair["interval"][0] > 0
    assert pair["p_holm"] > 0.05
    (row,) = comparison.page().charts()["differences"].table.rows
    assert [cell.kind for cell in row if isinstance(cell, IntervalCell)] == [""]
