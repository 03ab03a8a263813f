"""`closes`: until when a question can be answered, as people write it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli import question, run, write

TIMES = [
    ("2099-12-01", "2099-12-01T23:59Z"),
    (" 20991201 ", "2099-12-01T23:59Z"),
    (20991201, "2099-12-01T23:59Z"),
    ("2099-12-01 12:00", "2099-12-01T12:00Z"),
    ("2099-12-01 12:00 UTC", "2099-12-01T12:00Z"),
    ("2099-12-01T12:00:00.000Z", "2099-12-01T12:00Z"),
    ("2099-12-01T12:00+08:00", "2099-12-01T04:00Z"),
    ("2099-12-01T12:00 -0330", "2099-12-01T15:30Z"),
    ("", ""),
    (None, ""),
]
WRONG = ["soon", "12/01/2099", "2099-12", "2099-12-1", "2099-12-01T24:00", 4099680000, True, []]


@pytest.mark.parametrize(("written", "closes"), TIMES)
def test_times(tmp_path: Path, written: object, closes: str) -> None:
    root = write(tmp_path, {"dataset/w.json": [question(ground_truth=None, closes=written)]})
    (found,) = run(root, "nightly", "--json").json["open"]
    assert found["closes"] == ([closes] if closes else [])
    assert run(root, "check", "w").code == 0


@pytest.mark.parametrize("written", WRONG)
def test_what_is_no_time_closes_nothing(tmp_path: Path, written: object) -> None:
    root = write(tmp_path, {"dataset/w.json": [question(ground_truth=None, closes=written)]})
    (found,) = run(root, "nightly", "--json").json["open"]
    assert found["closes"] == []
    done = run(root, "check", "w")
    assert (done.code, "'closes' that is no time of ISO 8601: 1" in done.out) == (4, True)


def test_questions_of_one_id_close_with_the_last(tmp_path: Path) -> None:
    rows = [question("q", ground_truth=None, closes=f"2099-12-0{day}") for day in (3, 5, 4)]
    root = write(tmp_path, {"dataset/w.json": rows})
    (found,) = run(root, "nightly", "--json").json["open"]
    assert (found["questions"], found["closes"]) == (1, ["2099-12-05T23:59Z"])
