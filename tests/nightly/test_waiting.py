"""A week whose truths come one by one: what nights say of it, and what they keep."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from boards_folders import contents, counts, failures, stored
from cli import ROOT, question, run, write

NAMES: Final = [f"q{n}" for n in range(8)]
ANSWERS: Final = {"a": "AAAAAAAA", "b": "AAAABBBB"}


def week(root: Path, truths: str, name: str = "250922", **files: str) -> Path:
    """A dataset with a truth per character, `.` for one that is not known; and two predictions."""
    rows = [
        question(key, ground_truth=None if truth == "." else truth)
        for key, truth in zip(NAMES, truths, strict=True)
    ]
    predictions = {
        f"prediction/{name}-{system}.json": dict(zip(NAMES, letters, strict=True))
        for system, letters in (files or ANSWERS).items()
    }
    return write(root, {f"dataset/{name}.json": rows, **predictions})


def test_no_truth_yet_is_no_failure(tmp_path: Path) -> None:
    done = run(week(tmp_path, "........"), "nightly")
    assert (done.code, done.err) == (0, "")  # cron mails what comes there
    assert "250922.json: no truth yet, 2 files wait" in done.out.splitlines()
    assert counts(done) == (0, 0, 0)
    board = stored(tmp_path)
    assert board["waiting"] == {"250922.json": ["250922-a.json", "250922-b.json"]}
    for page in ("leaderboard.md", "leaderboard.html"):
        text = (tmp_path / "evaluation" / page).read_text("utf-8")
        assert "no truth yet, 2 files wait" in text
    before = contents(tmp_path)
    assert run(tmp_path, "nightly").out == done.out
    assert contents(tmp_path) == before


def test_beside_other_weeks(tmp_path: Path) -> None:
    week(week(tmp_path, "AAAAAAAA", "250915"), "........", a="AAAAAAAA")
    done = run(tmp_path, "nightly")
    assert (done.code, done.err, counts(done)) == (0, "", (2, 0, 0))
    assert "250922.json: no truth yet, 1 file waits" in done.out.splitlines()


def test_truths_that_arrive_are_scored(tmp_path: Path) -> None:
    run(week(tmp_path, "........"), "nightly")
    truths = tmp_path / "dataset/250922.truths.csv"
    truths.write_text("id,ground_truth\nq0,A\nq4,A\n", "utf-8")
    done = run(tmp_path, "nightly")
    assert (done.code, counts(done)) == (0, (2, 0, 0))
    assert "no truth yet" not in done.out
    assert counts(run(tmp_path, "nightly")) == (0, 2, 0)
    truths.write_text("id,ground_truth\nq0,A\nq4,B\n", "utf-8")
    assert counts(run(tmp_path, "nightly")) == (2, 0, 0)
    truths.unlink()
    assert "2 files wait" in run(tmp_path, "nightly").out


def test_truths_beside_a_dataset_of_another_benchmark(tmp_path: Path) -> None:
    for name in ("dataset", "prediction"):
        path = f"{name}/prophet-sample.json"
        write(tmp_path, {path: (ROOT / path).read_bytes()})
    write(tmp_path, {"dataset/prophet-sample.truths.csv": "id,ground_truth\nx,1\n"})
    (line,) = failures(run(tmp_path, "nightly"), 2)
    assert "expected no truths beside this dataset" in line


def names(root: Path) -> set[str]:
    folder = root / "evaluation"
    return {path.name for path in folder.iterdir() if path.name.startswith("2509")}


def test_what_a_night_wrote_for_a_prediction_that_is_gone_goes_too(tmp_path: Path) -> None:
    week(tmp_path, "AAAAAAAA")
    run(tmp_path, "nightly", "--html")
    assert names(tmp_path) == {f"250922-{s}.{end}" for s in "ab" for end in ("json", "html")}
    (tmp_path / "prediction/250922-a.json").unlink()
    run(tmp_path, "nightly", "--html")
    assert names(tmp_path) == {"250922-b.json", "250922-b.html"}
    assert not (tmp_path / "evaluation/.ranking/250922-a.json").exists()


def test_every_other_file_stays(tmp_path: Path) -> None:
    week(tmp_path, "AAAAAAAA")
    run(tmp_path, "nightly")
    run(tmp_path, "-f", "250922-a", "--missing", "skip", "--save", "--html")  # in its place
    saved = (tmp_path / "evaluation/250922-a.json").read_bytes()
    write(tmp_path, {"evaluation/mine.json": "{}", "evaluation/250922-c.json": "{}"})
    (tmp_path / "prediction/250922-a.json").unlink()
    run(tmp_path, "nightly")
    assert names(tmp_path) == {
        "250922-a.json", "250922-a.html", "250922-b.json", "250922-c.json",
    }  # fmt: skip
    assert (tmp_path / "evaluation/250922-a.json").read_bytes() == saved


def test_a_prediction_whose_dataset_is_gone_is_not_gone(tmp_path: Path) -> None:
    """Nor are the files of a set, whose result has the name of their dataset."""
    week(tmp_path, "AAAAAAAA")
    for path in (ROOT / "prediction").glob("prophet-sample*"):
        write(tmp_path, {f"prediction/{path.name}": path.read_bytes()})
    sample = (ROOT / "dataset/prophet-sample.json").read_bytes()
    write(tmp_path, {"dataset/prophet-sample.json": sample})
    run(tmp_path, "nightly")
    before = set(contents(tmp_path))
    for path in (tmp_path / "dataset").iterdir():
        path.unlink()
    run(tmp_path, "nightly")
    assert set(contents(tmp_path)) == before


@pytest.mark.parametrize("content", ["", "{", json.dumps({"result_sha256": "0"})])
def test_a_damaged_summary_removes_no_result(tmp_path: Path, content: Any) -> None:
    week(tmp_path, "AAAAAAAA")
    run(tmp_path, "nightly")
    write(tmp_path, {"evaluation/.ranking/250922-a.json": content})
    (tmp_path / "prediction/250922-a.json").unlink()
    run(tmp_path, "nightly")
    assert names(tmp_path) == {"250922-a.json", "250922-b.json"}
