"""The page of a comparison: differences by level, the questions on which two systems differ, where
it is written.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from boards_folders import score
from cli import ROOT, assert_refused, number, q, run, write
from forecasteval.boards import compare
from forecasteval.common.statistics import stratified_interval
from forecasteval.display.blocks import render
from forecasteval.display.pages import Beside, Records
from forecasteval.prophet.evaluator import ProphetArenaEvaluator
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


def test_page_shows_both_answers_where_scores_differ() -> None:
    page = compare(pair()).page()
    [records] = page.blocks(Records)
    assert records.note.startswith("They differ on 3 of 5 questions, ")
    rows = {dict(row.details)["Id"]: row for row in records.rows}
    assert list(rows) == ["n2", "q1", "q2"]  # a question of level 4 adds more than one of level 1
    assert rows["q1"].cells[:5] == [
        "1",
        "+0.0667",
        "1.0000",
        "0.0000",
        "A",
    ]  # 0.1 / (0.1 + 0.4) / 3
    assert rows["n2"].cells[6:8] == ["95", "(missing)"]
    moved = {row["id"]: f"{row['adds']:+.4f}" for row in compare(pair())["pairs"][0]["questions"]}
    assert {name: row.cells[1] for name, row in rows.items()} == moved
    assert dict(rows["n2"].details)["Answer"] == Beside(("A: a", "B: b"), ("\\boxed{95}", ""))
    assert list(page.charts()) == ["differences", "levels"]
    check_page(render(page))


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
    assert {"A: a", "B: b"} <= set(parsed.texts)


def test_probabilities_have_no_answers_to_show() -> None:
    """Items of Prophet Arena hold neither a truth nor a reading, and no level counts."""
    prediction, dataset = (
        ROOT / folder / "prophet-sample.json" for folder in ("prediction", "dataset")
    )
    results = ProphetArenaEvaluator(items=True, bootstrap=0).evaluate_file(prediction, [dataset])
    page = compare([results]).page()
    records = [
        block for section in page.sections for block in section.blocks if isinstance(block, Records)
    ]
    titles = ["Adds", "A’s score", "B’s score", "Higher"]
    assert records
    assert all([column.title for column in block.columns] == titles for block in records)
    check_page(render(page))


def test_long_names_of_a_dataset_stay_apart() -> None:
    rows = [q("q1"), q("q2")]
    page = compare(
        [score(rows, f"multiple_choice_all_varying-{name}") for name in ("first", "second")]
    ).page()
    assert (
        page.charts()["differences"].table.rows[0][0] == "…all_varying-first − …ll_varying-second"
    )


def test_several_systems_have_a_section_per_pair() -> None:
    results = [*pair(), score([q("q1"), q("q2"), q("q3"), number("n1"), number("n2", Std=10)], "c")]
    page = compare(results).page()
    assert [section.title for section in page.sections[1:]] == [
        "a − b",
        "a − c",
        "b − c",
        "By level",
    ]
    check_page(render(page))


@pytest.mark.parametrize(
    ("option", "written"),
    [(["--html"], "evaluation/compare.html"), (["--html=out.html"], "out.html")],
)
def test_where_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: list[str], written: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"prediction/a.json": [q("q1")], "prediction/b.json": [q("q1", answer="B")]})
    plain = run(tmp_path, "compare", "a", "b")
    done = run(tmp_path, "compare", "a", "b", *option)
    assert (done.code, done.out, done.err) == (0, plain.out, "")
    check_page((tmp_path / written).read_text(encoding="utf-8"))


def test_a_system_behind_the_option_is_not_overwritten(tmp_path: Path) -> None:
    write(tmp_path, {f"prediction/{name}.json": [q("q1")] for name in "abc"})
    before = (tmp_path / "prediction/a.json").read_bytes()
    assert_refused(
        run(tmp_path, "compare", "--html", "prediction/a.json", "b", "c"),
        "expected a path that ends in .html",
    )
    assert (tmp_path / "prediction/a.json").read_bytes() == before


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
    [records] = page.blocks(Records)
    rows = {dict(row.details)["Id"]: row for row in records.rows}
    assert rows["q1"].cells[2] == "0.6667"
    assert rows["q1"].cells[6:8] == ["A | B | A", "A"]
    assert rows["n1"].cells[2] == "0.5833"
    assert rows["n1"].cells[6:8] == ["95 | (missing) | 100", "100"]
    answers = (r"\boxed{95} |  | \boxed{100}", "100")
    assert dict(rows["n1"].details)["Answer"] == Beside(("A: a", "B: b"), answers)
    assert page.title == "Comparison of a and b"
    check_page(render(page))
