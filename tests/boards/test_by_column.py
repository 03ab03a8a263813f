"""`nightly --by`: the rows of a board by the values of a column, in every form."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from boards_folders import format_csv, format_markdown, typed
from cli import ROOT, Record, q, run, write
from forecasteval.boards import board_page, rank
from forecasteval.boards.by_column import add_parts
from forecasteval.common.errors import InputError
from forecasteval.display.breakdown import break_down
from forecasteval.display.html import render

TOPICS = ("sport", "sport", "markets", "markets", "markets", "")
WEEKS = ("250901", "250908")


def make_folder(root: Path, *systems: str) -> None:
    """Two weeks of questions with a topic; the n-th system is right in all but n of each week."""
    files: dict[str, object] = {}
    for week in WEEKS:
        questions = [
            q(f"{week}-{place}", level=1 + place % 2, topic=topic, answer=...)
            for place, topic in enumerate(TOPICS)
        ]
        files[f"dataset/{week}.json"] = questions
        for wrong, system in enumerate(systems):
            files[f"prediction/{week}-{system}.json"] = [
                {"id": question["id"], "answer": "B" if place < wrong else "A"}
                for place, question in enumerate(questions)
            ]
    write(root, files)


def night(root: Path, *options: str) -> Record:
    done = run(root, "nightly", "--json", *options)
    assert done.code == 0, done.err
    return dict(json.loads(done.out))


def stored(root: Path, name: str) -> Record:
    return dict(json.loads((root / "evaluation" / f"{name}.json").read_text("utf-8")))


def test_a_row_has_the_scores_of_its_result(tmp_path: Path) -> None:
    make_folder(tmp_path, "a", "b", "c")
    board = night(tmp_path, "--by", "topic")
    for table in board["tables"]:
        for row in table["rows"]:
            parts = break_down(stored(tmp_path, row["name"]), "topic")
            assert {**row["by"]} == json.loads(json.dumps(parts))


def test_over_all_datasets_questions_of_all_weeks_count(tmp_path: Path) -> None:
    make_folder(tmp_path, "a", "b", "c")
    (pooled,) = night(tmp_path, "--by", "topic")["pooled"]
    parts = {row["name"]: row["by"] for row in pooled["rows"]}
    assert {value: part["n"] for value, part in parts["a"].items()} == {
        "markets": 6,
        "sport": 4,
        "(none)": 2,
    }
    assert parts["a"]["sport"]["score"] == 1.0
    # The first two questions of each week are those of sport.
    assert parts["b"]["sport"]["score"] < parts["b"]["markets"]["score"] == 1.0
    assert parts["c"]["sport"]["score"] == 0.0


def test_systems_with_fewer_questions_are_named(tmp_path: Path) -> None:
    make_folder(tmp_path, "a", "b", "c")
    (tmp_path / "prediction" / f"{WEEKS[0]}-c.json").unlink()
    text = run(tmp_path, "nightly", "--by", "topic").out
    assert "With fewer of these questions: 1 (c)." in text


def test_runs_count_by_their_mean(tmp_path: Path) -> None:
    make_folder(tmp_path, "a", "b@1", "b@2", "b@3")
    for table in night(tmp_path, "--by", "topic")["tables"]:
        parts = {row["name"]: row["by"] for row in table["rows"]}
        single = {
            run: break_down(stored(tmp_path, f"{table['dataset'][:6]}-b@{run}"), "topic")
            for run in "123"
        }
        means = sum(parts["sport"]["score"] for parts in single.values()) / 3
        of_runs = parts[f"{table['dataset'][:6]}-b"]["sport"]
        assert of_runs["score"] == pytest.approx(means)
        assert of_runs["n"] == 2


def test_levels_that_do_not_count_are_in_no_value(tmp_path: Path) -> None:
    questions = [
        q(f"q{place}", level=1 + (place == 0), topic="sport", answer=...) for place in range(6)
    ]
    answers = [{"id": question["id"], "answer": "A"} for question in questions]
    files = {f"prediction/250901-{name}.json": answers for name in "ab"}
    write(tmp_path, {"dataset/250901.json": questions, **files})
    for least, count in (("1", 6), ("2", 5)):
        (table,) = night(tmp_path, "--by", "topic", "--min-questions", least)["tables"]
        assert [row["by"]["sport"]["n"] for row in table["rows"]] == [count, count]


def test_every_form_has_the_scores(tmp_path: Path) -> None:
    make_folder(tmp_path, "a", "b")
    board = night(tmp_path, "--by", "topic")
    page = (tmp_path / "evaluation" / "leaderboard.html").read_text("utf-8")
    assert "<h2>By topic</h2>" in page
    assert 'href="#by1"' in page
    assert "sport 1.0000 – (4)" in page or "sport 1.0000 [1.0000, 1.0000] (4)" in page
    text = run(tmp_path, "nightly", "--by", "topic").out
    assert "By topic\n\nSystem  markets   sport  (none)\na        1.0000  1.0000" in text
    assert "Questions: markets 6, sport 4, (none) 2." in text
    assert "not adjusted" in text
    markdown = format_markdown(board)
    assert "| System | markets | sport | (none) |" in markdown
    (row, *_) = csv.DictReader(io.StringIO(format_csv(board)))
    assert row["topic=sport"] == "1.0"
    assert row["topic=sport n"] == "4"
    latex = run(tmp_path, "nightly", "--by", "topic", "--format", "latex").out
    assert "System & markets & sport & (none)" in latex


def test_a_column_that_no_result_has_is_said_every_night(tmp_path: Path) -> None:
    make_folder(tmp_path, "a", "b")
    message = "no result has the column city; columns of the datasets: topic"
    for _ in range(2):
        done = run(tmp_path, "nightly", "--by", "city")
        assert message in done.err
        assert "None of these results was stored with a column city." in done.out
        assert "By city" not in done.out
    assert "By topic" not in run(tmp_path, "nightly").out


def test_results_without_the_column_are_named(tmp_path: Path) -> None:
    make_folder(tmp_path, "a", "b")
    board = typed(night(tmp_path))

    def read_result(name: str) -> Record:
        result = stored(tmp_path, name)
        if name.endswith("-b"):  # as version 3.2.0 stored it
            result["items"] = [
                {key: value for key, value in item.items() if not key.startswith("question.")}
                for item in result["items"]
            ]
        return result

    board, messages = add_parts(board, "topic", read_result)
    assert messages == []
    assert [bool(row.by) for row in board.pooled[0].rows] == [True, False]
    assert "Stored without a column topic: 1 (b)" in render(board_page.make_page(board))


def test_forecasters_have_the_scores_of_their_categories(tmp_path: Path) -> None:
    sample = ROOT / "prediction" / "prophet-sample.json"
    write(tmp_path, {"prediction/prophet-sample.json": json.loads(sample.read_text("utf-8"))})
    dataset = ROOT / "dataset" / "prophet-sample.json"
    write(tmp_path, {"dataset/prophet-sample.json": json.loads(dataset.read_text("utf-8"))})
    (table,) = night(tmp_path, "--by", "category")["tables"]
    categories = stored(tmp_path, "prophet-sample")["by_category"]
    for row in table["rows"]:
        assert {value: part["score"] for value, part in row["by"].items()} == {
            value: part["forecasters"][row["name"]]["brier"]
            for value, part in categories.items()
            if row["name"] in part["forecasters"]
        }
    title = "By category: Brier (lower is better)"
    assert f"\n{title}\n" in run(tmp_path, "nightly", "--by", "category", "--html").out
    page = (tmp_path / "evaluation/leaderboard.html").read_text(encoding="utf-8")
    assert f"<h2>{title}</h2>" in page


def test_the_values_with_the_most_questions_are_kept(tmp_path: Path) -> None:
    questions = [
        q(f"q{place}", topic=f"t{place}" if place < 60 else "many", answer=...)
        for place in range(80)
    ]
    answers = [{"id": question["id"], "answer": "A"} for question in questions]
    files = {f"prediction/250901-{name}.json": answers for name in "ab"}
    write(tmp_path, {"dataset/250901.json": questions, **files})
    (table,) = night(tmp_path, "--by", "topic")["tables"]
    for row in table["rows"]:
        assert len(row["by"]) == 50
        assert row["by"]["many"]["n"] == 20


def test_rank_has_the_scores_of_a_night(tmp_path: Path) -> None:
    make_folder(tmp_path, "a", "b@1", "b@2")
    board = night(tmp_path, "--by", "topic")
    names = [path.stem for path in (tmp_path / "prediction").glob("*.json")]
    results = [stored(tmp_path, name) for name in names]
    ranked = rank(results, by="topic")
    for part in ("pooled", "tables"):
        tables = json.loads(json.dumps(ranked[part]))
        assert [row["by"] for table in tables for row in table["rows"]] == [
            row["by"] for table in board[part] for row in table["rows"]
        ]
    with pytest.raises(InputError, match="rank: no result has the column city"):
        rank(results, by="city")
