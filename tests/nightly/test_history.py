"""`evaluation/history.jsonl`: a line for each system whose state changed, appended as a whole,
never touched again.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from boards_folders import contents, counts, evaluate, folder_of, snapshot, stored
from cli import EVIL, RAW_CONTROL, ROOT, Record, assert_refused, q, question, run, write
from forecasteval.common.errors import EvaluationError
from forecasteval.common.forms import to_record
from forecasteval.common.records import dump_json
from forecasteval.nightly import clock, history
from forecasteval.nightly import run as nightly_run
from forecasteval.nightly.history import open_history

DAY: Final = 86_400


def lines(root: Path) -> list[Record]:
    text = (root / "evaluation/history.jsonl").read_text(encoding="utf-8")
    assert text.endswith("\n")
    return [json.loads(line, parse_constant=pytest.fail) for line in text.splitlines()]


def told(root: Path) -> list[tuple[int, str, str, float | None]]:
    return [
        (line["night"], line["system"], line["dataset"], line.get("score")) for line in lines(root)
    ]


def correct(root: Path, *truths: str) -> None:
    """The truths of the dataset d."""
    write(
        root,
        {
            "dataset/d.json": [
                question(f"q{n}", ground_truth=truth) for n, truth in enumerate(truths)
            ]
        },
    )


def test_a_line_holds_what_the_board_says(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAB")
    run(tmp_path, "nightly", SOURCE_DATE_EPOCH=str(20_000 * DAY + DAY - 1))
    (line,), row = lines(tmp_path), stored(tmp_path)["tables"][0]["rows"][0]
    assert line.items() >= {
        "night": 1, "date": "2024-10-04", "benchmark": "FutureX", "dataset": "d.json",
        "system": "a",
        "prediction": "d-a.json", "metric": "overall", "score": 0.75, "rank": 1,
        "resolved": 4, "questions": 4,
        "evaluator": row["signature"]["evaluator"], "rules": "readme",
        "settings": {"missing": "zero", "weights": {"1": 0.1, "2": 0.2, "3": 0.3, "4": 0.4}},
        **{key: row["signature"][key] for key in
           ("questions_sha256", "prediction_sha256", "code_sha256")},
    }.items()  # fmt: skip
    assert line["reasons"] == [{"code": "new"}]


def test_only_what_changed_is_appended(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="AABB")
    run(tmp_path, "nightly")
    first = (tmp_path / "evaluation/history.jsonl").read_bytes()
    folder_of(tmp_path, b="AAAB", c="AAAA")
    (tmp_path / "prediction/d-a.json").unlink()
    run(tmp_path, "nightly")
    assert (tmp_path / "evaluation/history.jsonl").read_bytes().startswith(first)
    assert told(tmp_path) == [
        (1, "a", "d.json", 1.0), (1, "b", "d.json", 0.5),
        (2, "a", "d.json", None), (2, "b", "d.json", 0.75), (2, "c", "d.json", 1.0),
    ]  # fmt: skip
    assert [line["reasons"] for line in lines(tmp_path)] == [
        [{"code": code}] for code in ("new", "new", "removed", "answers", "new")
    ]


def test_nothing_new_appends_nothing(tmp_path: Path) -> None:
    """Not on another day either, and not for what has gone."""
    folder_of(tmp_path, a="AAAA", b="AABB")
    run(tmp_path, "nightly")
    (tmp_path / "prediction/d-a.json").unlink()
    run(tmp_path, "nightly")
    before = snapshot(tmp_path)
    assert run(tmp_path, "nightly", SOURCE_DATE_EPOCH="0").code == 0
    assert snapshot(tmp_path) == before
    assert run(tmp_path, "nightly", "--force", SOURCE_DATE_EPOCH="0").code == 0
    assert contents(tmp_path) == {
        name: stamp[0] for name, stamp in before.items() if name[0] != "."
    }


def test_a_score_without_a_level_is_none(tmp_path: Path) -> None:
    """It is nan in memory, which would be another one every night."""
    folder_of(tmp_path, a="AAAA", b="AABB")
    run(tmp_path, "nightly")
    done = run(tmp_path, "nightly", "--min-questions", "5")
    assert done.out.count("other rules or version") == 2
    before = snapshot(tmp_path)
    run(tmp_path, "nightly", "--min-questions", "5")
    assert snapshot(tmp_path) == before


def test_it_is_back(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="AABB")
    raw = (tmp_path / "prediction/d-a.json").read_bytes()
    run(tmp_path, "nightly")
    (tmp_path / "prediction/d-a.json").unlink()
    run(tmp_path, "nightly")
    write(tmp_path, {"prediction/d-a.json": raw})
    done = run(tmp_path, "nightly")
    assert re.search(r"a +d.json +– → 1 +– → 1.0000 +new", done.out)
    assert [
        (line["night"], line.get("gone")) for line in lines(tmp_path) if line["system"] == "a"
    ] == [
        (1, None),
        (2, True),
        (3, None),
    ]


def test_every_benchmark_has_its_lines(tmp_path: Path) -> None:
    for name in ("dataset", "prediction"):
        (tmp_path / name).mkdir()
        for path in (ROOT / name).glob("*.json"):
            (tmp_path / name / path.name).write_bytes(path.read_bytes())
    run(tmp_path, "nightly")
    board = stored(tmp_path)
    assert len(lines(tmp_path)) == sum(len(table["rows"]) for table in board["tables"])
    (best,) = [line for line in lines(tmp_path) if line["system"] == "harbor-9b"]
    assert (best["dataset"], best["metric"], best["resolved"]) == (
        "prophet-sample.json",
        "adjusted_brier",
        200,
    )
    assert (
        best["score"]
        == next(table for table in board["tables"] if "n_events" in table)["rows"][0]["score"]
    )
    before = snapshot(tmp_path)
    run(tmp_path, "nightly")
    assert snapshot(tmp_path) == before


def test_a_board_without_its_history_gets_it(tmp_path: Path) -> None:
    """A run killed between the two, or the history of a version that kept none."""
    folder_of(tmp_path, a="AAAA", b="AABB")
    run(tmp_path, "nightly")
    before = contents(tmp_path)
    (tmp_path / "evaluation/history.jsonl").unlink()
    assert counts(run(tmp_path, "nightly")) == (0, 2, 0)
    assert contents(tmp_path) == before


def test_a_full_disk_costs_no_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder_of(tmp_path, a="AAAA")
    evaluate(tmp_path)
    before = (tmp_path / "evaluation/history.jsonl").read_bytes()
    folder_of(tmp_path, b="AABB")

    def refuse(path: Path, content: str | bytes) -> None:
        raise EvaluationError(f"{path}: cannot be written: No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(history, "write_atomic", refuse)
        with pytest.raises(EvaluationError, match=r"history\.jsonl: cannot be written"):
            evaluate(tmp_path)
    assert (tmp_path / "evaluation/history.jsonl").read_bytes() == before
    evaluate(tmp_path)
    assert told(tmp_path) == [(1, "a", "d.json", 1.0), (2, "b", "d.json", 0.5)]


# --- Damage ---

DAMAGED: Final = {
    "torn": b'{"night": 1, "sys', "no UTF-8": b"\xff\xfe\x00", "a list": b"[1]", "null": b"null",
    "deep": b"[" * 99_999,
    "no keys": b"{}", "a huge number": b"9" * 5000,
}  # fmt: skip


def _with(**changes: Any) -> Callable[[Record], bytes]:
    return lambda line: json.dumps({**line, **changes}).encode()


FORGED: Final = {
    "night text": _with(night="1"), "night true": _with(night=True), "score text": _with(score="1"),
    "score nan": _with(score=float("nan")), "score huge": _with(score=10**400),
    "system a list": _with(system=["a"]),
    "dataset null": _with(dataset=None), "settings a text": _with(settings="a"),
    "prediction null": _with(prediction=None), "evaluator a number": _with(evaluator=1),
    "night huge": _with(night=int("9" * 4300)), "night 0": _with(night=0),
    "resolved text": _with(resolved="4"), "rank text": _with(rank="1"),
    "corrections a list": _with(corrections=["q1"]),
}  # fmt: skip


PLACES: Final = ("first", "last", "last without its line feed")
PLACED: Final = [(name, "last") for name in {**DAMAGED, **FORGED}] + [
    ("torn", place) for place in PLACES if place != "last"
]


@pytest.mark.parametrize(("name", "place"), PLACED)
def test_a_damaged_line_is_set_aside_once(tmp_path: Path, name: str, place: str) -> None:
    folder_of(tmp_path, a="AAAA", b="AABB")
    run(tmp_path, "nightly")
    path = tmp_path / "evaluation/history.jsonl"
    aside = tmp_path / "evaluation/history.jsonl.damaged"
    raw = path.read_bytes()
    bad = DAMAGED[name] if name in DAMAGED else FORGED[name](lines(tmp_path)[0])
    end = b"" if place.endswith("line feed") else b"\n"
    path.write_bytes(bad + b"\n" + raw if place == "first" else raw + bad + end)
    done = run(tmp_path, "nightly")
    assert (done.code, done.err.count("\n"), path.read_bytes()) == (0, 1, raw)
    assert "history.jsonl: 1 damaged line set aside in history.jsonl.damaged" in done.err
    assert aside.read_bytes() == bad + b"\n"
    assert run(tmp_path, "nightly").err == ""
    folder_of(tmp_path, c="BBBB")
    done = run(tmp_path, "nightly")
    assert (done.code, done.err, counts(done)) == (0, "", (1, 2, 0))
    (added,) = path.read_bytes()[len(raw) :].strip().splitlines()
    assert (json.loads(added)["system"], json.loads(added)["night"]) == ("c", 2)


def test_a_last_line_without_its_line_feed_stays_a_line(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="AABB")
    run(tmp_path, "nightly")
    path = tmp_path / "evaluation/history.jsonl"
    raw = path.read_bytes()
    path.write_bytes(raw.removesuffix(b"\n"))
    assert run(tmp_path, "nightly").err == ""
    folder_of(tmp_path, c="BBBB")
    assert run(tmp_path, "nightly").err == ""
    assert path.read_bytes().startswith(raw)
    assert [line["system"] for line in lines(tmp_path)][-1] == "c"


def test_what_is_set_aside_stays(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA")
    run(tmp_path, "nightly")
    path = tmp_path / "evaluation/history.jsonl"
    raw = path.read_bytes()
    for bad in (b"{}\n[1]", b"null"):
        path.write_bytes(raw + bad)
        assert f"{bad.count(b'1') + 1} damaged line" in run(tmp_path, "nightly").err
    assert (tmp_path / "evaluation/history.jsonl.damaged").read_bytes() == b"{}\n[1]\nnull\n"
    assert path.read_bytes() == raw


@pytest.mark.parametrize("kind", ["folder", "pipe", "loop"])
def test_a_history_that_cannot_be_read_costs_only_itself(tmp_path: Path, kind: str) -> None:
    folder_of(tmp_path, a="AAAA")
    path = write(tmp_path, {"evaluation/x": ""}) / "evaluation/history.jsonl"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(path.name)
    done = run(tmp_path, "nightly")
    assert (done.code, counts(done), done.err.count("\n")) == (0, (1, 0, 0), 1)
    assert "history.jsonl" in done.err
    assert "the history is not written" in done.err


def test_hostile_names(tmp_path: Path) -> None:
    folder_of(tmp_path, **{"a": "AAAA"})
    write(
        tmp_path,
        {
            f"prediction/d-{EVIL[:5]}.json": {"q0": "A"},
            f"prediction/d-{os.fsdecode(b'x' + bytes([255]))}.json": {"q0": "A"},
        },
    )
    run(tmp_path, "nightly")
    before = snapshot(tmp_path)
    assert not RAW_CONTROL.search(before["history.jsonl"][0].decode().replace("\n", ""))
    assert {line["system"] for line in lines(tmp_path)} == {"a", EVIL[:5], "x\udcff"}
    run(tmp_path, "nightly")
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("value", ["x", "1e99", "9" * 30, "-9" + "9" * 20])
def test_a_date_that_is_none(tmp_path: Path, value: str) -> None:
    folder_of(tmp_path, a="AAAA")
    done = run(tmp_path, "nightly", SOURCE_DATE_EPOCH=value)
    assert_refused(done, "SOURCE_DATE_EPOCH", "expected seconds since 1970")
    assert not (tmp_path / "evaluation").exists()


def test_what_is_read_can_be_written_again(tmp_path: Path) -> None:
    """A line that is nested deeper is damaged; how deep that is depends on Python's version."""
    folder_of(tmp_path, a="AAAA")
    run(tmp_path, "nightly")
    (line,) = lines(tmp_path)
    path = tmp_path / "evaluation/history.jsonl"
    for depth in range(50, 2000, 50):
        flat = json.dumps({**line, "settings": {"a": "NESTED"}}).encode()
        path.write_bytes(flat.replace(b'"NESTED"', b"[" * depth + b"]" * depth))
        for found in open_history(path.parent, {})[0].lines:
            dump_json(to_record(found))


def test_an_empty_date_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "")
    before = time.time()
    assert clock.today() in {
        time.strftime("%Y-%m-%d", time.gmtime(at)) for at in (before, time.time())
    }


def test_without_a_date_it_is_today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    monkeypatch.setattr(clock.time, "time", lambda: 20_000 * DAY + DAY - 1.0)
    try:
        monkeypatch.setenv("TZ", "Pacific/Kiritimati")  # where it is the next day already
        time.tzset()
        assert clock.today() == "2024-10-04"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_the_lock_is_held_while_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder_of(tmp_path, a="AAAA")
    codes = []
    append = nightly_run.append_night

    def watch(*given: Any) -> Any:
        codes.append(run(tmp_path, "nightly").code)
        return append(*given)

    monkeypatch.setattr(nightly_run, "append_night", watch)
    evaluate(tmp_path)
    assert codes == [5]


def test_latest_lines_stand_beside_those_before(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="AABB")
    run(tmp_path, "nightly")
    correct(tmp_path, "A", "A", "B", "A")
    run(tmp_path, "nightly")
    found, _ = open_history(tmp_path / "evaluation", {})
    scores = {change["system"]: change["score"] for change in found.changes}
    assert (found.night, scores) == (2, {"a": (1.0, 0.75), "b": (0.5, 0.75)})


def test_runs_of_one_system_are_one_line(tmp_path: Path) -> None:
    folder_of(tmp_path, **{"a@1": "AAAA", "b": "AABB"})
    run(tmp_path, "nightly")
    folder_of(tmp_path, **{"a@2": "AAAB"})
    run(tmp_path, "nightly")
    alone, _, both = lines(tmp_path)
    assert [(line["system"], line["score"]) for line in (alone, both)] == [
        ("a", 1.0), ("a", 0.875),
    ]  # fmt: skip
    assert both["prediction"] == "d-a@1.json, d-a@2.json"
    assert both["prediction_sha256"] != alone["prediction_sha256"]
    before = both["prediction_sha256"]
    folder_of(tmp_path, **{"a@2": "AABA"})  # the same score, by another file
    run(tmp_path, "nightly")
    assert (lines(tmp_path)[-1]["score"], lines(tmp_path)[-1]["prediction_sha256"] != before) == (
        0.875,
        True,
    )
    taken = snapshot(tmp_path)
    run(tmp_path, "nightly")
    assert snapshot(tmp_path) == taken


def test_runs_that_were_asked_other_questions_have_lines_of_their_own(tmp_path: Path) -> None:
    """Whichever of them comes first in the board."""
    write(tmp_path, {"prediction/x@1.json": [q("a")], "prediction/x@2.json": [q("b", answer="B")]})
    run(tmp_path, "nightly")
    assert told(tmp_path) == [(1, "x (x@1)", "", 1.0), (1, "x (x@2)", "", 0.0)]
    for name in ("c", "d", "e"):
        write(tmp_path, {"prediction/x@1.json": [q(name)]})
        run(tmp_path, "nightly")
    assert [line[1] for line in told(tmp_path)[2:]] == ["x (x@1)"] * 3


# --- Other versions ---


def test_a_history_of_an_earlier_version_goes_on(tmp_path: Path) -> None:
    """Version 1.5 wrote no ranks, and other keys; version 2.0 wrote an object of corrections."""
    folder_of(tmp_path, a="AAAA", b="AABB")
    run(tmp_path, "nightly")
    path = tmp_path / "evaluation/history.jsonl"
    for line in lines(tmp_path):
        del line["rank"], line["reasons"], line["resolved"], line["questions"]
        old = {
            **line,
            "evaluator": "FutureX 1.5.0",
            "n": 4,
            "asked": None,
            "corrected": {"count": 1},
        }
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps({**old, 'night': 7})}\n")
    before = path.read_bytes()
    done = run(tmp_path, "nightly")
    assert (done.code, done.err) == (0, "")
    assert path.read_bytes().startswith(before)
    assert {line["night"] for line in lines(tmp_path)[4:]} == {8}
    at = done.out.splitlines().index("What changed last")
    version = lines(tmp_path)[0]["evaluator"]
    assert done.out.splitlines()[at + 1 : at + 4] == [
        f"FutureX 1.5.0 → {version}", "other rules or version: results 2, nothing moved", "",
    ]  # fmt: skip


def test_one_more_dataset_is_no_other_rule(tmp_path: Path) -> None:
    """By default half of the datasets must be answered: more, where there are more."""
    for week, answers in (("250901", "AB"), ("250908", "AB"), ("250915", "AA")):
        files = {
            f"prediction/{week}-{name}.json": {"q": letter}
            for name, letter in zip("ab", answers, strict=True)
        }
        write(tmp_path, {f"dataset/{week}.json": [question("q", prompt=week)], **files})
        run(tmp_path, "nightly")
    reasons = [line["reasons"] for line in lines(tmp_path) if line["dataset"] == "all datasets"]
    weeks = [f"{week}.json" for week in ("250908", "250908", "250915")]
    assert reasons == [[{"code": "new", "datasets": [week]}] for week in weeks]


def test_reasons_in_words_of_an_earlier_version_are_shown(tmp_path: Path) -> None:
    """They were stored as sentences; a later version may store codes that are not known."""
    folder_of(tmp_path, a="AAAA", b="AABB")
    run(tmp_path, "nightly")
    path = tmp_path / "evaluation/history.jsonl"
    old, later = lines(tmp_path)
    old |= {"night": 2, "score": 0.25, "reason": "2 truths corrected"}
    del old["reasons"]
    later |= {"night": 2, "score": 0.25, "reasons": [{"code": "moon", "phase": 3}]}
    with path.open("a", encoding="utf-8") as file:
        file.write("".join(f"{json.dumps(line)}\n" for line in (old, later)))
    history, notes = open_history(tmp_path / "evaluation", {})
    assert notes == []
    assert [change["reason"] for change in history.changes] == ["2 truths corrected", "moon"]


def test_what_fails_for_one_reason_is_said_once(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="AABB")
    path = tmp_path / "dataset/d.json"
    path.unlink()
    path.symlink_to(path.name)
    done = run(tmp_path, "nightly")
    assert (done.code, done.err.count("2 (d-a.json, d-b.json): ")) == (2, 1)
    assert done.out.count("failed: 2 (d-a.json, d-b.json): ") == 1
    assert [entry["file"] for entry in stored(tmp_path)["failed"]] == ["d-a.json", "d-b.json"]
