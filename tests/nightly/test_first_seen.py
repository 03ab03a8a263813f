"""`nightly --late-files`: which answers were first seen when it was too late for them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any, Final

import pytest

from boards_folders import contents, night, stored
from cli import assert_refused, question, read_json, run, write
from forecasteval.common.files import hash_file
from forecasteval.nightly.store import result_pieces
from forecasteval.questions import deadlines

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


def forget_record(root: Path) -> None:
    """Make the folder one of a version before the record of entries."""
    board = stored(root)
    del board["record"]
    text = "".join(result_pieces(board))
    (root / "evaluation/leaderboard.json").write_text(text, encoding="utf-8")
    (root / "evaluation/seen.jsonl").unlink()


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
    assert (kept.err, "Late" in kept.out) == ("", True)
    assert table(root)["w-copy"] == (1, 0, 2)  # counted, and scored as any other
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
    forget_record(root)
    done = night(root, 10)
    assert done.code == 0
    assert "seen.jsonl: the record of entries begins tonight for FutureX" in done.err
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
def test_a_file_with_another_name_of_its_system_keeps_its_nights(tmp_path: Path, name: str) -> None:
    root = two_nights(tmp_path)
    write(root, {"prediction/systems.json": {"a": {"aliases": ["b"]}}})
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


def test_no_size_is_exempt(tmp_path: Path) -> None:
    root = ask(tmp_path)
    answer(root, "a", **ALL)
    resolve(root, q0="A")
    night(root, 1)
    answer(root, "b", **{**ALL, "q3": "A" + " " * 10_000_000})
    assert night(root, 2, "keep").err == ""
    assert (night(root, 3).err, table(root)["w-b"]) == ("", (0, 1, 1))


def record_of_320(root: Path) -> str:
    """The record of version 3.2.0 for the answers of a, and the truth of q0 a night later."""
    path = root / "prediction/w-a.json"
    hashes = deadlines.hash_answers(path)
    files = {"w-a": [hash_file(path), {name: [digest, 0] for name, digest in hashes.items()}]}
    nights = [DAY_1, "1970-01-03T00:00:00+00:00"]
    return json.dumps({"files": files, "nights": nights, "truths": {"w": {"q0": 1}}}) + "\n"


def test_a_record_of_version_3_2_0_keeps_its_meaning(tmp_path: Path) -> None:
    """But for files above 10 MB, which it did not look at."""
    root = ask(tmp_path)
    answer(root, "a", **ALL)
    answer(root, "b", **ALL)
    answer(root, "large", **{**ALL, "q3": "A" + " " * 10_000_000})
    resolve(root, q0="A")
    write(root, {"evaluation/seen.jsonl": record_of_320(root)})
    assert "begins tonight for FutureX" in night(root, 3).err
    assert table(root) == {"w-a": (1, 0, 0), "w-large": (1, 0, 0), "w-b": (0, 1, 1)}
    (root / "prediction/w-a.json").unlink()
    assert night(root, 4).err == ""
    assert table(root) == {"w-a": (0, 1, 0), "w-large": (1, 0, 0), "w-b": (0, 1, 1)}


DAMAGES: Final[dict[str, bytes]] = {
    name: text if isinstance(text, bytes) else text.encode()
    for name, text in {
        "another value": "[]\n",
        "empty": "",
        "no object": '{"nights": []}\n',
        "nested too deep": "[" * 10**5,
        "no text": b"\x00\xff",
        "no time": '{"files": {}, "nights": ["x"], "truths": {}}',
        "no zone": '{"files": {}, "nights": ["2026-01-01"], "truths": {}}',
        **{
            f"answers {answers}": json.dumps(
                {"files": {"w-a": ["", answers]}, "nights": [DAY_1], "truths": {}}
            )
            for answers in (["q0"], "q0", {"q0": "x"}, {"q0": [1, 0]}, {"q0": ["x", "0"]})
        },
        "a night that was none": '{"files": {"w-a": ["", {"q0": ["x", 1]}]}, "nights": []}',
    }.items()
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_record(tmp_path: Path, damage: bytes) -> None:
    """It is begun anew where nothing rests on it; else a night without it would be unfair."""
    root = ask(tmp_path)
    answer(root, "a", **ALL)
    resolve(root, q0="A")
    night(root, 1)
    record = root / "evaluation/seen.jsonl"
    record.write_bytes(damage)
    before = contents(root)
    assert_refused(night(root, 2), "seen.jsonl", "a damaged file", "--begin-record")
    assert contents(root) == before
    kept = night(root, 2, "keep")
    assert (kept.code, kept.err.count("\n")) == (0, 1)
    assert "a damaged file, set aside as seen.jsonl.damaged" in kept.err
    assert (root / "evaluation/seen.jsonl.damaged").read_bytes() == damage
    assert night(root, 3).code == 0
    record.write_bytes(damage)
    assert night(root, 4, "drop", "--begin-record").code == 0
    assert (root / "evaluation/seen.jsonl.damaged-2").read_bytes() == damage
    assert_refused(night(root, 5, "drop", "--begin-record"), "can be read")


def test_a_missing_record(tmp_path: Path) -> None:
    root = two_nights(tmp_path)
    record = root / "evaluation/seen.jsonl"
    record.unlink()
    answer(root, "b", **ALL)
    assert_refused(night(root, 3), "seen.jsonl", "no such file", "--begin-record")
    record.symlink_to("elsewhere")
    assert_refused(night(root, 3), "seen.jsonl", "--begin-record")
    done = night(root, 3, "drop", "--begin-record")
    assert (done.code, "begins tonight for FutureX" in done.err) == (0, True)
    assert table(root) == {"w-a": (1, 0, 0), "w-b": (1, 0, 0)}


@pytest.mark.parametrize("policy", ["keep", "drop"])
def test_damaged_lines_are_set_aside(tmp_path: Path, policy: str) -> None:
    """The whole ones count: one byte more gains nothing."""
    root = two_nights(tmp_path)
    record = root / "evaluation/seen.jsonl"
    whole = record.read_bytes()
    record.write_bytes(whole + b"x")
    answer(root, "b", **ALL)
    done = night(root, 3, policy)
    assert (done.code, done.err.count("\n")) == (0, 1)
    assert "1 damaged line set aside in seen.jsonl.damaged" in done.err
    assert (root / "evaluation/seen.jsonl.damaged").read_bytes() == b"x\n"
    assert record.read_bytes().startswith(whole)
    night(root, 4)
    assert table(root) == {"w-a": (1, 0, 0), "w-b": (0, 1, 1)}


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


def test_a_file_that_is_being_uploaded_keeps_its_row(tmp_path: Path) -> None:
    """For a night; never as new answers. The second one with the same content takes it."""
    root = ask(tmp_path)
    resolve(root, **dict.fromkeys(ALL, "A"))
    lines = [json.dumps({"id": name, "answer": "A"}) + "\n" for name in ALL]
    path = root / "prediction/w-a.jsonl"
    answer(root, "b", **ALL)

    def upload(day: int, text: str) -> tuple[int, str, tuple[float, int, int]]:
        write(root, {"prediction/w-a.jsonl": text})
        done = night(root, day, "keep")
        assert day > 6 or "new answers" not in done.out
        return done.code, done.err, table(root)["w-a"]

    whole = "".join(lines)
    assert upload(1, whole) == (0, "", (1, 0, 0))
    code, told, row = upload(2, whole[:-9])
    assert (code, row) == (3, (1, 0, 0))
    assert "w-a.jsonl: 1 answer fewer than last night; the next run takes it" in told
    assert upload(3, "".join(lines[:2]))[1].startswith("eval.py: w-a.jsonl: 2 answers fewer")
    assert upload(4, whole) == (0, "", (1, 0, 0))
    assert upload(5, "".join(lines[:2]))[2] == (1, 0, 0)
    write(root, {"prediction/w-a.jsonl": "".join(lines[:2])})
    assert (night(root, 6, "keep").code, table(root)["w-a"]) == (0, (0.5, 2, 0))
    # More answers than before, of which the last is not whole yet.
    code, told, row = upload(7, whole[:-9])
    assert (code, row) == (3, (0.5, 2, 0))
    assert "w-a.jsonl: its last line is not whole" in told
    # Answers that are gone from the middle were taken back.
    assert upload(8, whole) == (0, "", (1, 0, 0))
    write(root, {"prediction/w-a.jsonl": lines[0] + lines[2] + lines[3]})
    assert (night(root, 9, "keep").code, table(root)["w-a"]) == (0, (0.75, 1, 0))
    path.unlink()
    # If the record knows no earlier row, the whole lines are scored.
    write(root, {"prediction/w-new.jsonl": whole[:-9]})
    assert (night(root, 10, "keep").code, table(root)["w-new"]) == (3, (0.75, 1, 0))
