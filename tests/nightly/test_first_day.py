"""A board before the first answer or truth: what is open, until when, and how to enter."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from boards_folders import contents, night, stored
from cli import assert_refused, question, read_json, run, write

WEEK: Final = [
    question("q0", ground_truth=None, closes="1970-01-05"),
    question("q1", ground_truth=None, closes="1970-01-03T08:00:00+08:00"),
    question("q2", ground_truth="A", closes="1970-01-02"),
    question("q3", ground_truth=None, closes="1970-01-01"),
]
ENTER: Final = "To enter, add prediction/DATASET-SYSTEM.json with your answers."


def report(root: Path, day: int) -> str:
    done = night(root, day, "keep")
    assert (done.code, done.err) == (0, "")
    return done.out


def page(root: Path) -> str:
    return (root / "evaluation/leaderboard.html").read_text("utf-8")


def test_no_predictions(tmp_path: Path) -> None:
    """Git keeps no empty folder: there may be no prediction/ at all."""
    root = write(tmp_path, {"dataset/w.json": WEEK})
    out = report(root, 1)
    row = "w.json           2  1970-01-03 00:00 UTC to 1970-01-05 23:59 UTC"
    assert out.splitlines() == [
        "Open",
        "Dataset  Questions  Until",
        row,
        "",
        ENTER,
        "",
        "0 files scored, 0 unchanged, 0 failed",
    ]
    assert stored(root)["open"] == [
        {
            "dataset": "w.json",
            "questions": 2,
            "closes": ["1970-01-03T00:00Z", "1970-01-05T23:59Z"],
        }
    ]
    for text in ("Nothing is ranked yet.", "w.json", "1970-01-03 00:00 UTC to", ENTER):
        assert text in page(root)
    assert "How to enter" not in page(root)
    assert ENTER in (root / "evaluation/leaderboard.md").read_text("utf-8")
    before = contents(root)
    assert report(root, 1) == out
    assert contents(root) == before


def test_the_operator_says_how(tmp_path: Path) -> None:
    root = write(tmp_path, {"dataset/w.json": WEEK, "prediction/README.md": "Send a file."})
    assert "README" not in report(root, 1)
    assert '<a href="../prediction/README.md">How to enter</a>' in page(root)


def test_a_question_closes(tmp_path: Path) -> None:
    root = write(tmp_path, {"dataset/w.json": WEEK, "prediction/w-a.json": {"q0": "A"}})
    assert "w.json           2  " in report(root, 1)
    assert "w.json           1  1970-01-05 23:59 UTC\n" in report(root, 4)
    assert "Open" not in report(root, 6)
    assert "open" not in stored(root)
    assert ENTER not in page(root)


def test_all_pending(tmp_path: Path) -> None:
    rows = [question("q0", ground_truth=None)]
    root = write(tmp_path, {"dataset/w.json": rows, "prediction/w-a.json": {"q0": "A"}})
    out = report(root, 1)
    assert "w.json           1  a truth is known" in out
    assert "w.json: no truth yet, 1 file waits" in out
    assert "no truth yet, 1 file waits" in page(root)


def test_other_benchmarks_and_closed_datasets(tmp_path: Path) -> None:
    problem = {"problem_id": "p", "options": ["x", "y"], "correct_option_idx": 0}
    root = write(tmp_path, {"dataset/g.json": [problem], "dataset/w.json": [question()]})
    assert report(root, 1) == "0 files scored, 0 unchanged, 0 failed\n"
    assert read_json(root / "evaluation/leaderboard.json")["tables"] == []
    assert "Nothing is ranked yet." in page(root)


def test_no_dataset_either(tmp_path: Path) -> None:
    assert_refused(run(tmp_path, "nightly"), "prediction: expected a folder (--root DIR")
    assert [*tmp_path.iterdir()] == []
    (tmp_path / "dataset").mkdir()
    (tmp_path / "prediction").mkdir()
    assert_refused(run(tmp_path, "nightly"), "expected prediction files, got none")
