"""Pictures below boards and comparisons: costs, every system against every other, by dataset."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli import number, q, run, write
from eval import FutureXEvaluator
from forecasteval.boards import compare
from forecasteval.display.html import render


def write_weeks(folder: Path, costs: dict[str, float]) -> None:
    """Two datasets of eight questions; `good` is right on all, `fair` on six, `poor` on two."""
    right = {"good": 8, "fair": 6, "poor": 2}
    files: dict[str, object] = {
        "prediction/systems.json": {name: {"cost": cost} for name, cost in costs.items()}
    }
    for week in ("w1", "w2"):
        questions = [q(f"{week}q{place}") for place in range(8)]
        files[f"dataset/{week}.json"] = questions
        for name, count in right.items():
            answers = {str(row["id"]): "AB"[place >= count] for place, row in enumerate(questions)}
            files[f"prediction/{week}-{name}.json"] = answers
    write(folder, files)


def test_a_board_with_costs_draws_the_front(tmp_path: Path) -> None:
    write_weeks(tmp_path, {"good": 0.3, "fair": 0.1, "poor": 0.2})
    assert run(tmp_path, "nightly").code == 0
    page = (tmp_path / "evaluation/leaderboard.html").read_text(encoding="utf-8")
    section = page.partition('id="costs1"')[2].partition("</section>")[0]
    assert "Score against cost" in section
    rows = section.partition("<tbody>")[2].split("<tr")[1:]
    # Poor costs more than fair and is worse: it is not on the front.
    on_front = ["yes" in row for row in rows]
    assert on_front == [True, False, True]


def test_a_board_without_costs_has_no_such_picture(tmp_path: Path) -> None:
    write_weeks(tmp_path, {"good": 0.3})
    assert run(tmp_path, "nightly").code == 0
    page = (tmp_path / "evaluation/leaderboard.html").read_text(encoding="utf-8")
    assert "Score against cost" not in page


def test_a_comparison_over_datasets_has_a_difference_for_each(tmp_path: Path) -> None:
    write_weeks(tmp_path, {})
    compared = run(tmp_path, "compare", "good", "poor", "fair", "--json").json
    rows = compared["by_dataset"]
    assert [(row["b"], row["dataset"]) for row in rows] == [
        ("poor", "w1.json"), ("poor", "w2.json"), ("fair", "w1.json"), ("fair", "w2.json"),
    ]  # fmt: skip
    for row in rows:
        right = {"poor": 2, "fair": 6}[row["b"]]
        assert row["scores"] == [1.0, right / 8]
        assert row["difference"] == pytest.approx(1 - right / 8)
        low, high = row["interval"]
        assert low < row["difference"] < high
    said = run(tmp_path, "compare", "good", "poor").out
    assert "w1       good  poor  8" in said


def test_three_systems_are_drawn_against_each_other() -> None:
    results = []
    for name, answer in (("right", "A"), ("wrong", "B"), ("also wrong", "C")):
        questions = [q(f"q{place}", answer=answer) for place in range(9)]
        results.append({"name": name, **FutureXEvaluator().evaluate_all(questions)})
    page = render(compare(results).page())
    matrix = page.partition('id="matrix"')[2].partition("</section>")[0]
    assert matrix.count(">+1.00<") == 2
    assert matrix.count(">−1.00<") == 2
    # The two wrong ones are equal: without a colour.
    assert matrix.count('class="z"') == 2


def test_errors_of_numbers_are_drawn_with_their_side() -> None:
    questions = [
        number(f"n{place}", Std=10, answer=str(100 + error))
        for place, error in enumerate((1, 2, 5, -1))
    ]
    page = render(FutureXEvaluator().evaluate_all(questions).page())
    section = page.partition('id="errors"')[2].partition("</section>")[0]
    assert "3 of 4 are too high" in section
    assert "+0.15 σ" in section
    assert section.count("<circle") == 4
