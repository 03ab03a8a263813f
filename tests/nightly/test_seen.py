"""`nightly --late-files`: which answers were first seen when it was too late for them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any, Final

import pytest

from boards_folders import contents, stored
from cli import Done, assert_refused, question, read_json, run, write
from forecasteval.questions import deadlines

DAY: Final = 86400
DAY_1: Final = "1970-01-02T00:00:00+00:00"
WEEK: Final = "dataset/w.json"
TRUTHS: Final = "dataset/w.truths.csv"
ALL: Final = {"q0": "A", "q1": "A", "q2": "A", "q3": "A"}


def ask(root: Path, **closes: str) -> Path:
    """Questions q0 to q3 without truths, of which some close."""
    names = [f"q{n}" for n in range(4)]
    rows = [question(name, ground_truth=None) for name in names]
    for row in rows:
        row |= {"closes": closes[row["id"]]} if row["id"] in closes else {}
    return write(root, {WEEK: rows})


def answer(root: Path, system: str, **answers: str) -> None:
    write(root, {f"prediction/w-{system}.json": answers})


def resolve(root: Path, **truths: str) -> None:
    rows = "".join(f"{name},{truth}\n" for name, truth in truths.items())
    write(root, {TRUTHS: f"id,ground_truth\n{rows}"})


def night(root: Path, day: int, policy: str = "drop", *words: str) -> Done:
    """A night that many days after 1970-01-01."""
    clock = {"SOURCE_DATE_EPOCH": str(day * DAY)}
    return run(root, "nightly", "--late-files", policy, *words, **clock)


def late(root: Path, name: str) -> list[str]:
    return [each["id"] for each in stored(root, f"w-{name}")["items"] if each["late"]]


def table(root: Path) -> dict[str, tuple[float, int, int]]:
    """Score, missing and late answers by system."""
    (board,) = stored(root)["tables"]
    return {
        row["name"]: (round(row["overall_score"], 4), row["missing"], row.get("late", 0))
        for row in board["rows"]
    }


def test_five_nights(tmp_path: Path) -> None:
    """An open dataset; first truths; a late file, and late answers beside open ones; a corrected
    truth; a file with another name.
    """
    root = ask(tmp_path)
    answer(root, "good", **ALL)
    answer(root, "other", q0="B", q1="B", q2="B", q3="B")
    assert night(root, 1).code == 0
    resolve(root, q0="A", q1="A")
    assert night(root, 2).code == 0
    assert table(root) == {"w-good": (1, 0, 0), "w-other": (0, 0, 0)}
    answer(root, "copy", **ALL)
    answer(root, "other", q0="A", q1="B", q2="A", q3="B")
    done = night(root, 3)
    assert (done.code, done.err) == (0, "")
    assert table(root) == {"w-good": (1, 0, 0), "w-other": (0, 1, 1), "w-copy": (0, 2, 2)}
    assert (late(root, "copy"), late(root, "other")) == (["q0", "q1"], ["q0"])
    resolve(root, q0="B", q1="A", q2="A")
    assert night(root, 4).code == 0
    corrected = {"w-good": (0.6667, 0, 0), "w-other": (0.3333, 1, 1), "w-copy": (0.3333, 2, 2)}
    assert table(root) == corrected
    (root / "prediction/w-good.json").rename(root / "prediction/w-good@1.json")
    assert night(root, 5).code == 0
    assert table(root)["w-good@1"] == (0.6667, 0, 0)
    before = contents(root)
    assert night(root, 6).code == 0  # nothing is new: no byte changes
    assert contents(root) == before


def test_what_is_shown(tmp_path: Path) -> None:
    root = ask(tmp_path)
    answer(root, "good", **ALL)
    night(root, 1)
    resolve(root, q0="A", q1="B")
    night(root, 2)
    answer(root, "copy", q0="A", q1="B", q3="B")
    kept = night(root, 3, "keep")
    assert (kept.err, "Late" in kept.out, "late" in kept.out) == ("", False, False)
    assert table(root)["w-copy"] == (1, 0, 0)
    marked = night(root, 4, "mark", "--html")
    assert "Late" in marked.out
    assert table(root)["w-copy"] == (1, 0, 2)
    assert "late_files:mark" in marked.out
    rows = csv.DictReader(io.StringIO((root / "evaluation/leaderboard.csv").read_text()))
    assert {row["name"]: row["late"] for row in rows} == {"w-copy": "2", "w-good": "0"}
    assert "Late" in (root / "evaluation/leaderboard.html").read_text()
    assert "late: A is right" in (root / "evaluation/w-copy.html").read_text()
    dropped = night(root, 5, "drop", "--html")
    assert "Late" in dropped.out
    assert table(root)["w-copy"] == (0, 2, 2)
    item = stored(root, "w-copy")["items"][0]
    assert (item["outcome"], item["answer"], item["late"]) == ("missing", "A", True)
    assert "late: no answer" in (root / "evaluation/w-copy.html").read_text()
    assert stored(root, "w-copy")["late_count"] == 2


def two_nights(root: Path) -> Path:
    """A night with the answers of a, and one with the truth of q0, A."""
    ask(root)
    answer(root, "a", **ALL)
    night(root, 1)
    resolve(root, q0="A")
    night(root, 2)
    return root


CHANGES: Final[dict[str, tuple[Any, list[str]]]] = {
    "the same in another form": ([{"id": name, "prediction": ALL[name]} for name in ALL], []),
    "one changed": ({**ALL, "q1": "B"}, ["q1"]),
    "one taken back": ({"q0": "A"}, []),
    "all changed": (dict.fromkeys(ALL, "B"), ["q0", "q1"]),
}


@pytest.mark.parametrize(("answers", "expected"), CHANGES.values(), ids=CHANGES)
def test_a_change_behind_a_truth(tmp_path: Path, answers: Any, expected: list[str]) -> None:
    root = ask(tmp_path)
    answer(root, "a", **ALL)
    night(root, 1)
    resolve(root, q0="A", q1="A")
    night(root, 2)
    write(root, {"prediction/w-a.json": answers})
    night(root, 3, "mark")
    assert late(root, "a") == expected


def test_answers_that_change_places_are_new(tmp_path: Path) -> None:
    """Which of two answers to one id counts is said by their prompts."""
    prompt = question()["prompt"]
    root = write(tmp_path, {WEEK: [question("q0", ground_truth=None)]})

    def answer_twice(first: str, second: str) -> None:
        rows = [
            {"id": "q0", "prompt": prompt, "answer": first},
            {"id": "q0", "prompt": "another", "answer": second},
        ]
        write(root, {"prediction/w-a.json": rows})

    answer_twice("B", "A")
    night(root, 1)
    resolve(root, q0="A")
    night(root, 2)
    answer_twice("A", "B")
    night(root, 3)
    assert table(root) == {"w-a": (0, 1, 1)}


def test_back_to_an_answer_of_before(tmp_path: Path) -> None:
    """Who gave every answer once while the question was open cannot choose later."""
    root = ask(tmp_path)
    for day, letter in enumerate("AB", 1):
        answer(root, "a", q0=letter)
        night(root, day)
    resolve(root, q0="A")
    night(root, 3)
    answer(root, "a", q0="A")
    night(root, 4)
    assert table(root) == {"w-a": (0, 1, 1)}


def test_answer_and_truth_of_one_night_are_unknown(tmp_path: Path) -> None:
    root = ask(tmp_path)
    answer(root, "a", **ALL)
    night(root, 1)
    resolve(root, q0="A")
    answer(root, "b", **ALL)
    night(root, 2)
    assert table(root) == {"w-a": (1, 0, 0), "w-b": (1, 0, 0)}


def test_what_an_older_folder_holds_is_unknown(tmp_path: Path) -> None:
    root = ask(tmp_path, q1="1970-01-02")
    answer(root, "a", **ALL)
    resolve(root, q0="A", q1="A")
    night(root, 9, "keep")
    (root / "evaluation/seen.jsonl").unlink()
    assert night(root, 10).code == 0
    answer(root, "b", **ALL)
    night(root, 11)
    assert table(root) == {"w-a": (1, 0, 0), "w-b": (0, 2, 2)}


def test_closed_questions(tmp_path: Path) -> None:
    """Also before a truth; a later time, by which an operator extends, makes them open again."""
    root = ask(tmp_path, q0="1970-01-04T00:00:00Z", q1="1970-01-04T02:00:00+01:00")
    answer(root, "a", **ALL)
    night(root, 1)
    answer(root, "b", **ALL)
    night(root, 3)  # at 0:00 of the fourth
    answer(root, "c", **ALL)
    night(root, 4)
    resolve(root, q0="A", q1="A")
    night(root, 5)
    assert table(root) == {"w-a": (1, 0, 0), "w-b": (1, 0, 0), "w-c": (0, 2, 2)}
    ask(root, q0="1970-01-09", q1="1970-01-04")
    night(root, 6)
    assert table(root)["w-c"] == (0.5, 1, 1)


def test_a_closing_that_is_no_time_is_named(tmp_path: Path) -> None:
    root = ask(tmp_path, q0="12.10.2026", q1="soon", q2="2026-10-12")
    answer(root, "a", **ALL)
    assert night(root, 1, "keep").err == ""
    said = "w.json: 'closes' that is no time of ISO 8601 closes nothing: 2 (q0, q1)\n"
    assert night(root, 2).err.endswith(said)


def test_a_damaged_night_of_a_file_costs_no_answer(tmp_path: Path) -> None:
    root = ask(tmp_path)
    answer(root, "a", **ALL)
    night(root, 1)
    write(root, {"prediction/w-a.json": '{"q0": "A'})
    resolve(root, q0="A")
    assert night(root, 2).code == 2
    answer(root, "a", **ALL)
    night(root, 3)
    assert table(root) == {"w-a": (1, 0, 0)}


@pytest.mark.parametrize("name", ["w-b.json", "w-a@2.json", "w-a.jsonl"])
def test_a_file_with_another_name_keeps_its_nights(tmp_path: Path, name: str) -> None:
    root = two_nights(tmp_path)
    (root / "prediction/w-a.json").unlink()
    rows = "\n".join(json.dumps({"id": key, "answer": value}) for key, value in ALL.items())
    write(root, {f"prediction/{name}": rows if name.endswith("l") else ALL})
    night(root, 3)
    assert [*table(root).values()] == [(1, 0, 0)]


@pytest.mark.parametrize("is_away", [True, False])
def test_a_copy_is_late_and_its_model_is_not(tmp_path: Path, is_away: bool) -> None:
    """Also one that is made while its model is away for a night."""
    root = two_nights(tmp_path)
    if is_away:
        (root / "prediction/w-a.json").unlink()
        night(root, 3)
        answer(root, "a", **ALL)
    answer(root, "b", **ALL)
    night(root, 4)
    assert table(root) == {"w-a": (1, 0, 0), "w-b": (0, 1, 1)}
    answer(root, "a", **{**ALL, "q0": "A  "})
    night(root, 5)
    assert table(root)["w-a"] == (0, 1, 1)


def test_answers_that_are_as_before_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = two_nights(tmp_path)
    read: list[str] = []
    inner = deadlines.hash_answers
    monkeypatch.setattr(
        deadlines, "hash_answers", lambda path: read.append(path.name) or inner(path)
    )
    night(root, 3)
    answer(root, "b", **ALL)
    night(root, 4)
    night(root, 5)
    assert read == ["w-b.json"]
    assert table(root) == {"w-a": (1, 0, 0), "w-b": (0, 1, 1)}


def test_a_file_above_10_mb_is_named(tmp_path: Path) -> None:
    root = ask(tmp_path)
    answer(root, "a", **ALL)
    resolve(root, q0="A")
    night(root, 1)
    answer(root, "b", **{**ALL, "q3": "A" + " " * 10_000_000})
    assert night(root, 2, "keep").err == ""
    done = night(root, 3)
    assert "not recorded, and never late, as it is above 10 MB: w-b.json" in done.err
    assert (done.code, table(root)["w-b"]) == (0, (1, 0, 0))


def test_a_damaged_record(tmp_path: Path) -> None:
    """It is begun anew where nothing rests on it; else a night without it would be unfair."""
    root = ask(tmp_path)
    answer(root, "a", **ALL)
    resolve(root, q0="A")
    night(root, 1)
    record = root / "evaluation/seen.jsonl"
    times = [
        json.dumps({"files": {}, "nights": [time], "truths": {}}) for time in ("x", "2026-01-01")
    ]
    whole = record.read_text()
    shapes = [
        json.dumps({"files": {"w-a": ["", answers]}, "nights": [DAY_1], "truths": {}})
        for answers in (
            ["q0"],
            "q0",
            {"q0": "x"},
            {"q0": [1, 0]},
            {"q0": ["x", "0"]},
            {"q0": ["x", 1]},
        )
    ]
    texts = ["[]\n", "", whole[:90], '{"nights": []}\n', "[" * 10**5, *times, *shapes]
    for damage in (b"\x00\xff" + whole.encode(), *map(str.encode, texts)):
        record.write_bytes(damage)
        assert_refused(night(root, 2), "seen.jsonl", "restore it from an earlier night")
        assert night(root, 2, "keep").code == 0
        assert night(root, 3).code == 0
    record.unlink()
    record.symlink_to("elsewhere")
    assert_refused(night(root, 2), "seen.jsonl", "restore it from an earlier night")
    assert night(root, 2, "keep").code == 0
    assert table(root) == {"w-a": (1, 0, 0)}


def test_it_is_a_setting_of_the_folder(tmp_path: Path) -> None:
    root = ask(tmp_path)
    write(root, {"forecasteval.toml": 'late-files = "drop"\n'})
    answer(root, "a", **ALL)
    run(root, "nightly")
    resolve(root, q0="A")
    run(root, "nightly")
    answer(root, "b", **ALL)
    done = run(root, "nightly")
    assert (done.code, table(root)["w-b"]) == (0, (0, 1, 1))
    assert run(root, "-f", "w-b", "--json").json["missing_count"] == 0  # only nights know
    assert read_json(root / "evaluation/w-b.json")["signature"]["late_files"] == "drop"
