"""`evaluation/history.jsonl`: a line for each system whose state changed, appended as a whole and
never touched again; what a night changed, and why.
"""

from __future__ import annotations

import html
import json
import math
import os
import re
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from boards_folders import DAY, contents, counts, evaluate, folder_of, snapshot, stored
from cli import (
    EVIL,
    RAW_CONTROL,
    ROOT,
    Record,
    assert_refused,
    number,
    q,
    question,
    read_json,
    run,
    strict,
    write,
)
from eval import FutureXEvaluator
from forecasteval.benchmark import Files
from forecasteval.common.errors import EvaluationError
from forecasteval.common.forms import to_record
from forecasteval.common.records import dump_json
from forecasteval.nightly import clock, history
from forecasteval.nightly import run as nightly_run
from forecasteval.nightly.history import open_history


def lines(root: Path) -> list[Record]:
    text = (root / "evaluation/history.jsonl").read_text(encoding="utf-8")
    assert text.endswith("\n")
    return [json.loads(line, parse_constant=pytest.fail) for line in text.splitlines()]


def list_states(root: Path) -> list[tuple[int, str, str, float | None]]:
    return [
        (line["night"], line["system"], line["dataset"], line.get("score")) for line in lines(root)
    ]


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
    assert list_states(tmp_path) == [
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
    assert list_states(tmp_path) == [(1, "a", "d.json", 1.0), (2, "b", "d.json", 0.5)]


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
    "question changes a text": _with(question_changes="q1"),
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
    correct(tmp_path, "AABA")
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
    assert list_states(tmp_path) == [(1, "x (x@1)", "", 1.0), (1, "x (x@2)", "", 0.0)]
    for name in ("c", "d", "e"):
        write(tmp_path, {"prediction/x@1.json": [q(name)]})
        run(tmp_path, "nightly")
    assert [line[1] for line in list_states(tmp_path)[2:]] == ["x (x@1)"] * 3


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


# --- What a night changed ---


def list_changes(root: Path, *options: str) -> list[Record]:
    """The changes that a run reports, as text and Markdown do."""
    done = run(root, "nightly", "--json", *options)
    assert done.code in (0, 3)
    changes: list[Record] = strict(done.out)["changes"]
    text = (root / "evaluation/leaderboard.md").read_text("utf-8")
    assert not changes or "## What changed last" in text
    return changes


def short(changes: list[Record]) -> list[tuple[str, str, float | None, float | None]]:
    return [(c["system"], c["reason"], *c["score"]) for c in changes]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """After the first night, of which there is nothing to tell."""
    folder_of(tmp_path, a="AAAA", b="AABB")
    assert list_changes(tmp_path) == []
    return tmp_path


def test_unchanged(root: Path) -> None:
    before = snapshot(root)
    assert list_changes(root) == []
    assert "What changed" not in run(root, "nightly").out
    page = (root / "evaluation/leaderboard.html").read_text("utf-8")
    assert "Nothing has changed since the first night." in page
    assert snapshot(root) == before


def test_new_and_gone(root: Path) -> None:
    folder_of(root, c="AAAB")
    assert short(list_changes(root)) == [
        ("b", "others moved", 0.5, 0.5), ("c", "new", None, 0.75),
    ]  # fmt: skip
    raw = (root / "prediction/d-b.json").read_bytes()
    (root / "prediction/d-b.json").unlink()
    assert short(list_changes(root)) == [("b", "removed", 0.5, None)]
    write(root, {"prediction/d-b.json": raw})
    assert short(list_changes(root)) == [("b", "new", None, 0.5)]


def test_a_system_that_left_its_file_is_no_longer_ranked(tmp_path: Path) -> None:
    """Its forecaster is not in the file any more, which is there."""
    for name in ("dataset", "prediction"):
        write(tmp_path, {f"{name}/p.json": (ROOT / name / "prophet-sample.json").read_bytes()})
    run(tmp_path, "nightly")
    forecasts = json.loads((ROOT / "prediction/prophet-sample.json").read_bytes())
    left = [row for row in forecasts if row["username"] != "quillon-1"]
    write(tmp_path, {"prediction/p.json": left})
    changes = {change["system"]: change["reason"] for change in list_changes(tmp_path)}
    assert changes["quillon-1"] == "no longer in its file"
    assert {*changes.values()} == {"no longer in its file", "new answers"}
    write(tmp_path, {"prediction/p.json": forecasts})
    assert {"quillon-1": "new answers, in its file again"}.items() <= {
        change["system"]: change["reason"] for change in list_changes(tmp_path)
    }.items()


def correct(root: Path, truths: Sequence[str], **changes: Any) -> None:
    """The dataset d with these truths."""
    rows = [question(f"q{n}", ground_truth=t, **changes) for n, t in enumerate(truths)]
    write(root, {"dataset/d.json": rows})


def test_a_corrected_truth(root: Path) -> None:
    correct(root, "AAAB")
    done = run(root, "nightly")
    lines = [re.sub(" +", " ", line) for line in done.out.splitlines()]
    at = lines.index("What changed last")
    assert lines[at : at + 6] == [
        "What changed last",
        "d.json: 1 truth corrected: q3 (A → B)",
        "",
        "System Dataset Rank Score Why",
        "b d.json 2 → 1 0.5000 → 0.7500 1 truth corrected",
        "a d.json 1 1.0000 → 0.7500 1 truth corrected",
    ]
    text = (root / "evaluation/leaderboard.md").read_text("utf-8")
    assert "| b | d.json | 2 → 1 | 0.5000 → 0.7500 | 1 truth corrected |" in text
    page = html.unescape((root / "evaluation/leaderboard.html").read_text("utf-8"))
    changed = re.sub(
        "<[^>]*>", " ", page[page.index("What changed on") :].partition("</section>")[0]
    )
    assert "d.json: 1 truth corrected: q3 (A → B)" in changed
    assert "b d.json 2 → 1 0.5000 → 0.7500 1 truth corrected" in " ".join(changed.split())


@pytest.mark.parametrize("option", ["", "--force"])
def test_ten_corrected_truths_are_named(tmp_path: Path, option: str) -> None:
    write(tmp_path, {"prediction/d-a.json": {"q0": "A"}})
    correct(tmp_path, "A" * 12)
    run(tmp_path, "nightly")
    correct(tmp_path, "B" * 12)
    done = run(tmp_path, "nightly", *filter(None, [option]))
    assert "d.json: 12 truths corrected: q0 (A → B), q1 (A → B)" in done.out
    assert "q9 (A → B) and 2 more" in done.out


@pytest.mark.parametrize(("key", "shown"), [({}, "(no id)"), ({"id": "q"}, "q")])
def test_questions_that_share_an_id_or_have_none(tmp_path: Path, key: Record, shown: str) -> None:
    """Each is corrected by itself, in a file that has its questions."""

    def answer(*truths: str) -> None:
        rows = [
            {
                **key,
                "level": 1,
                "prompt": f"Which? {n}\nA. x\nB. y",
                "ground_truth": truth,
                "prediction": "A",
            }
            for n, truth in enumerate(truths)
        ]
        write(tmp_path, {"prediction/own.json": rows})

    answer("A", "A", "A")
    run(tmp_path, "nightly")
    answer("B", "A", "B")
    (change,) = list_changes(tmp_path)
    assert change["reason"] == "new answers, 2 truths corrected"
    assert change["corrections"] == f"2 truths corrected: {shown} (A → B), {shown} (A → B)"


def test_questions_that_change_otherwise(root: Path) -> None:
    """Another prompt is no corrected truth, nor is a question that goes."""
    correct(root, "AAAA", prompt="Which one?\nA. x\nB. y")
    assert [change["reason"] for change in list_changes(root)] == ["4 questions changed"] * 2
    correct(root, "AAA", prompt="Which one?\nA. x\nB. y")
    (change, _) = list_changes(root)
    assert (change["reason"], change["corrections"]) == (
        "1 question removed", "1 question removed: q3",
    )  # fmt: skip


def test_an_interrupted_night_names_no_truths(tmp_path: Path) -> None:
    """All results are stored, the history is not: which truths were others is not known then, and
    nothing else is said.
    """
    folder_of(tmp_path, a="AAAA", b="AABB")
    run(tmp_path, "nightly")
    correct(tmp_path, "ABAA")

    def interrupt(*given: Any) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nightly_run, "append_night", interrupt)
        with pytest.raises(KeyboardInterrupt):
            evaluate(tmp_path)
    assert [change["reason"] for change in list_changes(tmp_path)] == [
        "other questions or truths"
    ] * 2


def test_hostile_ids_and_truths_are_text(tmp_path: Path) -> None:
    """Results hold the first characters of a truth: what differs behind them is not named."""
    texts = [EVIL, "<script>alert(1)</script>|`x`", "=1+1", "x" * 99_999]

    def records(end: str) -> list[Record]:
        return [
            {
                **question(f"{n}{text}"[:500]),
                "level": 3,
                "prompt": "Who?",
                "ground_truth": text + end,
            }
            for n, text in enumerate(texts)
        ]

    write(tmp_path, {"dataset/d.json": records(""), "prediction/d-a.json": {f"0{EVIL}": "A"}})
    assert run(tmp_path, "nightly").code == 0
    write(tmp_path, {"dataset/d.json": records(" y")})
    done = run(tmp_path, "nightly")
    history = (tmp_path / "evaluation/history.jsonl").read_text("utf-8")
    (last,) = (json.loads(line) for line in history.splitlines()[1:])
    assert [change["code"] for change in last["question_changes"]] == [
        "corrected", "questions_changed",
    ]  # fmt: skip
    said = done.out[done.out.index("d.json: ") :].partition("\n")[0].removeprefix("d.json: ")
    assert said.startswith("3 truths corrected: ")
    assert said.endswith("; 1 question changed: 3" + "x" * 58 + "…")
    assert len(said) < 4 * 200
    page = (tmp_path / "evaluation/leaderboard.html").read_text("utf-8")
    markdown = (tmp_path / "evaluation/leaderboard.md").read_text("utf-8")
    assert not RAW_CONTROL.search(done.out + markdown + page + history)
    assert "<script>alert" not in page
    assert "<script>" not in markdown


def test_a_dataset_that_says_the_same_in_other_bytes_is_no_change(root: Path) -> None:
    records = json.loads((root / "dataset/d.json").read_bytes())
    write(root, {"dataset/d.json": json.dumps(records, indent=1)})
    assert list_changes(root) == []


def test_new_answers(root: Path) -> None:
    folder_of(root, b="AAAA")
    assert short(list_changes(root)) == [("b", "new answers", 0.5, 1.0)]
    folder_of(root, **{"b@2": "AAAA"})
    assert [change["reason"] for change in list_changes(root)] == ["new answers"]


def test_rules_and_settings(root: Path) -> None:
    for options in (["--rules", "official-2026"], [], ["--min-questions", "5"]):
        changes = list_changes(root, *options)
        assert [change["reason"] for change in changes] == ["other rules or version"] * 2


def test_a_score_that_changed_with_the_version(tmp_path: Path) -> None:
    write(tmp_path, {"prediction/x.json": [number(answer="102")]})

    def run_version(version: str, **options: float) -> Record:
        evaluator = FutureXEvaluator(**options)  # type: ignore[arg-type]
        settings = {**FutureXEvaluator().settings(), "evaluator": version}

        def score(files: Files) -> Record:
            results = evaluator.evaluate_files(files)
            results["signature"].update(settings)
            return results

        return evaluate(tmp_path, score, settings)

    run_version("FutureX 98")
    assert short(run_version("FutureX 99", relative_sigma=0.04)["changes"]) == [
        ("x", "other rules or version", 0.0, pytest.approx(0.75))
    ]


def test_all_reasons_are_named(root: Path) -> None:
    folder_of(root, b="AAAA")
    correct(root, "BBBB")
    assert short(list_changes(root)) == [
        ("a", "4 truths corrected", 1.0, 0.0),
        ("b", "new answers, 4 truths corrected", 0.5, 0.0),
    ]  # fmt: skip


def predict(root: Path, **scores: float) -> None:
    """Answers with these scores to the one question of d."""
    dataset = number("q0", ground_truth="1000", Std=100, answer=...)
    texts = {name: f"{1000 + 100 * math.sqrt(1 - score):.9f}" for name, score in scores.items()}
    write(root, {"dataset/d.json": [dataset]})
    write(root, {f"prediction/d-{name}.json": {"q0": text} for name, text in texts.items()})


def list_changed_systems(root: Path) -> tuple[list[str], list[str]]:
    """The systems in the table of what changed, and the lines below it."""
    out = run(root, "nightly").out.partition("What changed last\n")[2]
    rows = out.partition("Why\n")[2].partition("\n\n")[0].splitlines()
    below = [line for line in rows if line.startswith("and ") or " other" in line]
    return [line.split()[0] for line in rows if line not in below], below


def test_best_ranks_come_first_and_many_are_cut(tmp_path: Path) -> None:
    predict(tmp_path, gone=0.001, up=0.9, down=0.95, **{f"s{n:02}": n / 100 for n in range(1, 36)})
    run(tmp_path, "nightly")
    (tmp_path / "prediction/d-gone.json").unlink()
    predict(tmp_path, new=0.001, up=0.96, **{f"s{n:02}": n / 90 for n in range(1, 36)})
    systems, below = list_changed_systems(tmp_path)
    assert systems == ["up", "gone", "new", *(f"s{n:02}" for n in range(35, 8, -1))]
    assert below == ["and 8 more", "d: 1 other moved by 1 rank"]
    predict(tmp_path, **{f"s{n:02}": n / 80 for n in range(6, 36)})  # as many as the table holds
    systems, below = list_changed_systems(tmp_path)
    assert (len(systems), below) == (30, [])


def test_who_comes_or_goes_stands_before_those_that_it_moves(tmp_path: Path) -> None:
    """A newcomer that enters first, and a leader that leaves, over all datasets and single ones."""
    weeks = [f"w{n}" for n in range(7)]
    for week in weeks:
        write(tmp_path, {f"dataset/{week}.json": [question(f"{week}{n}") for n in range(8)]})

    def enter(system: str, right: int) -> None:
        for week in weeks:
            answers = {f"{week}{n}": "A" if n < right else "B" for n in range(8)}
            write(tmp_path, {f"prediction/{week}-{system}.json": answers})

    for right, system in enumerate("abcdef", 1):
        enter(system, right)
    run(tmp_path, "nightly")
    enter("best", 8)
    systems, below = list_changed_systems(tmp_path)
    assert systems == ["best"] * 8
    moved = [f"{week}: 6 others moved by 1 rank" for week in ["all datasets", *reversed(weeks)]]
    assert sorted(below) == sorted(moved)
    for path in (tmp_path / "prediction").glob("*-best.json"):
        path.unlink()
    systems, below = list_changed_systems(tmp_path)
    assert systems == ["best"] * 8
    assert sorted(below) == sorted(moved)


def test_the_last_changes_stay_in_the_markdown(root: Path) -> None:
    folder_of(root, c="AAAB")
    list_changes(root)
    before = snapshot(root)
    assert list_changes(root) == []  # which is what changed since the last run
    (root / "evaluation/leaderboard.md").unlink()
    run(root, "nightly")
    assert (root / "evaluation/leaderboard.md").read_bytes() == before["leaderboard.md"][0]


def test_hostile_names_are_text(root: Path) -> None:
    names = [EVIL[:5], "|x|", "<b>", "=1+1", "`x`", "[a](b)"]
    write(root, {f"prediction/d-{name}.json": {"q0": "A"} for name in names})
    done = run(root, "nightly")
    for name in names:
        write(root, {f"prediction/d-{name}.json": {f"q{n}": "A" for n in range(4)}})
    done = run(root, "nightly")
    text = (root / "evaluation/leaderboard.md").read_text("utf-8")
    assert not RAW_CONTROL.search(done.out + text)
    part = text.partition("## What changed last")[2]
    for raw in ("|x|", "<b>", "`x`", "[a]"):
        assert raw not in part
    assert r"\|x\|" in part


# --- Why a score or a rank changed: every reason by its cause, and by undoing it ---


WEEKS: Final = ("250908", "250915", "250922")
SKILLS: Final = {"a": 7, "b": 5, "c": 3}  # right answers of eight
Reasons = dict[tuple[str, str], str]


def rows_of(week: str) -> list[Record]:
    rows = [question(f"{week}-{n}", prompt="Which one?\nA. x\nB. y") for n in range(7)]
    return [*rows, {**number(f"{week}-7"), "Std": 10.0, "answer": None}]


def add_week(root: Path, week: str, names: str) -> None:
    write(root, {f"dataset/{week}.json": rows_of(week)})
    for name in names:
        right = SKILLS[name] - int(week) % 3
        answers = {f"{week}-{n}": "A" if n < right else "B" for n in range(7)}
        answers[f"{week}-7"] = str(100 + 3 * ord(name) % 7)
        write(root, {f"prediction/{week}-{name}.json": answers})


@pytest.fixture(scope="module")
def first_night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three weeks, of which c took part in the last two."""
    root = tmp_path_factory.mktemp("first")
    for week in WEEKS:
        add_week(root, week, "ab" if week == WEEKS[0] else "abc")
    assert run(root, "nightly").code == 0
    return root


def reasons_of(root: Path, *options: str) -> Reasons:
    """The reasons of a night by system and dataset, in which something changed."""
    return {
        (change["system"], change["dataset"].removesuffix(".json")): change["reason"]
        for change in list_changes(root, *options)
    }


def edit(root: Path, place: int, week: str = "250922", **values: Any) -> None:
    """Change a question of a week."""
    path = root / f"dataset/{week}.json"
    rows = read_json(path)
    rows[place].update(values)
    write(root, {f"dataset/{week}.json": rows})


def edit_all(root: Path, **values: Any) -> None:
    for place in range(8):
        edit(root, place, **values)


def remove(root: Path, *paths: str) -> None:
    for path in paths:
        for found in root.glob(path):
            found.unlink()


def add_weeks_without(root: Path) -> None:
    for week in ("250929", "251007"):
        add_week(root, week, "ab")


def add_question(root: Path) -> None:
    write(root, {"dataset/250922.json": [*rows_of("250922"), question("more", ground_truth="C")]})


def answer(root: Path, name: str) -> None:
    write(root, {f"prediction/{name}.json": {f"{name[:6]}-{n}": "B" for n in range(8)}})


def add_run(root: Path) -> None:
    answer(root, "250922-a@2")


def correct_two(root: Path) -> None:
    edit(root, 0, ground_truth="B")
    edit(root, 1, ground_truth="B")


def correct_and_void(root: Path) -> None:
    edit(root, 0, ground_truth="B")
    edit(root, 6, void=True)


# What happens, on which dataset, what is said there, and when it is undone.
OF_A_DATASET: Final[dict[str, tuple[Callable[[Path], None], str, str, str]]] = {
    "new week": (lambda root: add_week(root, "250929", "abc"), "250929", "new", "removed"),
    "truth": (
        lambda root: edit(root, 0, ground_truth="B"),
        "250922", "1 truth corrected", "1 truth corrected",
    ),
    "two truths": (correct_two, "250922", "2 truths corrected", "2 truths corrected"),
    "Std": (lambda root: edit(root, 7, Std=1.0), "250922", "1 Std changed", "1 Std changed"),
    "void": (
        lambda root: edit(root, 6, void=True),
        "250922", "1 question void", "1 question no longer void",
    ),
    "truth and void": (
        correct_and_void,
        "250922", "1 truth corrected, 1 question void",
        "1 truth corrected, 1 question no longer void",
    ),
    "new question": (
        add_question,
        "250922", "1 new question", "1 question removed",
    ),
    "prompt": (
        lambda root: edit(root, 7, prompt="How many more?"),
        "250922", "1 question changed", "1 question changed",
    ),
    "level": (
        lambda root: edit(root, 0, level=2), "250922", "1 question changed", "1 question changed",
    ),
    "truth withdrawn": (
        lambda root: edit(root, 0, ground_truth=None),
        "250922", "1 truth withdrawn, 7 of 8 known", "1 more truth, 8 of 8 known",
    ),
    "all truths withdrawn": (
        lambda root: edit_all(root, ground_truth=None),
        "250922", "all truths withdrawn", "8 questions to score again",
    ),
    "all void": (
        lambda root: edit_all(root, void=True),
        "250922", "all questions void", "8 questions to score again",
    ),
}  # fmt: skip


def undo(root: Path, first: Path) -> None:
    for name in ("dataset", "prediction"):
        shutil.rmtree(root / name)
        shutil.copytree(first / name, root / name)


def copy(first: Path, to: Path) -> Path:
    return shutil.copytree(first, to / "root")


@pytest.mark.parametrize("name", OF_A_DATASET)
def test_what_happens_to_a_dataset(first_night: Path, tmp_path: Path, name: str) -> None:
    cause, week, said, undone = OF_A_DATASET[name]
    root = copy(first_night, tmp_path)
    cause(root)
    for reason in (said, undone):
        reasons = reasons_of(root)
        assert {key: text for key, text in reasons.items() if key[1] == week} == {
            (system, week): reason for system in "abc"
        }
        assert {text for key, text in reasons.items() if key[1] not in (week, "all datasets")} <= {
            "others moved"
        }
        overall = {text for (_, of), text in reasons.items() if of == "all datasets"}
        assert overall == ({f"{week} {reason}"} if name != "prompt" else set())  # moves nothing
        assert reasons_of(root) == {}
        undo(root, first_night)


def test_a_removed_week(first_night: Path, tmp_path: Path) -> None:
    root = copy(first_night, tmp_path)
    for reason in ("removed", "new"):
        remove(root, *["*/250908*"] * (reason == "removed"))
        reasons = reasons_of(root)
        assert {reasons["a", "all datasets"], reasons["b", "all datasets"]} == {f"250908 {reason}"}
        assert reasons["a", "250908"] == reason
        assert reasons.get(("c", "all datasets"), "others moved") == "others moved"
        undo(root, first_night)


def test_a_rank_that_is_lost(first_night: Path, tmp_path: Path) -> None:
    root = copy(first_night, tmp_path)
    remove(root, "prediction/250922-c.json")
    assert reasons_of(root)["c", "all datasets"] == "250922 removed; in 1 of 3 datasets: no rank"
    undo(root, first_night)
    assert reasons_of(root)["c", "all datasets"] == "250922 new; in 2 of 3 datasets: ranked"
    add_weeks_without(root)
    reasons = reasons_of(root)
    assert reasons["c", "all datasets"] == "in 2 of 5 datasets: no rank"
    assert reasons["a", "all datasets"] == "250929, 251007 new"
    undo(root, first_night)
    reasons = reasons_of(root)
    assert reasons["c", "all datasets"] == "in 2 of 3 datasets: ranked"
    assert reasons["a", "all datasets"] == "250929, 251007 removed"


def test_a_new_system_without_a_rank(first_night: Path, tmp_path: Path) -> None:
    root = copy(first_night, tmp_path)
    answer(root, "250922-d")
    reasons = reasons_of(root)
    assert reasons["d", "all datasets"] == "250922 new; in 1 of 3 datasets: no rank"
    assert {of for system, of in reasons if system != "d"} <= {"all datasets", "250922"}
    remove(root, "prediction/250922-d.json")
    assert reasons_of(root)["d", "all datasets"] == "250922 removed"


def test_no_table_any_more(first_night: Path, tmp_path: Path) -> None:
    root = copy(first_night, tmp_path)
    remove(root, "*/250908*", "*/250915*")
    assert (
        reasons_of(root)["a", "all datasets"]
        == "250908, 250915 removed; no table over all datasets"
    )
    undo(root, first_night)
    assert reasons_of(root)["a", "all datasets"] == "250908, 250915 new; in 3 of 3 datasets: ranked"


@pytest.mark.parametrize("cause", [lambda root: answer(root, "250922-a"), add_run])
def test_new_answers_over_all_weeks(
    first_night: Path, tmp_path: Path, cause: Callable[[Path], None]
) -> None:
    root = copy(first_night, tmp_path)
    cause(root)
    for _ in range(2):
        reasons = reasons_of(root)
        assert reasons.pop(("a", "250922")) == "new answers"
        assert reasons.pop(("a", "all datasets")) == "250922 new answers"
        assert {*reasons.values()} <= {"others moved"}
        undo(root, first_night)


def test_other_rules(first_night: Path, tmp_path: Path) -> None:
    root = copy(first_night, tmp_path)
    for options in (["--rules", "official-2026"], []):
        reasons = reasons_of(root, *options)
        assert {text for (_, of), text in reasons.items() if of != "all datasets"} == {
            "other rules or version"
        }
        assert reasons["a", "all datasets"] == "3 datasets other rules or version"
        assert reasons["c", "all datasets"] == "250915, 250922 other rules or version"
    rules = "other rules or version"
    for options, said in ((["--min-datasets", "3"], "no rank"), ([], "ranked")):
        reasons = reasons_of(root, *options)
        assert reasons["c", "all datasets"] == f"{rules}, in 2 of 3 datasets: {said}"
        assert reasons["a", "all datasets"] == rules
        assert {of for _, of in reasons} == {"all datasets"}


def test_a_baseline(first_night: Path, tmp_path: Path) -> None:
    root = copy(first_night, tmp_path)
    write(root, {"prediction/systems.json": {"b": {"baseline": True}}})
    reasons = reasons_of(root)
    assert reasons["b", "250922"] == "a baseline: no rank"
    assert reasons["b", "all datasets"] == "3 datasets a baseline: no rank"
    assert {text for key, text in reasons.items() if key[0] != "b"} == {"others moved"}
    add_week(root, "250929", "abc")
    assert reasons_of(root)["b", "all datasets"] == "250929 new"
    remove(root, "prediction/systems.json", "*/250929*")
    reasons = reasons_of(root)
    assert reasons["b", "250922"] == "no baseline any more: ranked"
    assert reasons["b", "all datasets"].startswith(
        "3 datasets no baseline any more: ranked; 250929 removed"
    )


def test_a_baseline_that_is_kept_has_lost_nothing(first_night: Path, tmp_path: Path) -> None:
    """It had no rank before, and stands among the others as it did."""
    root = copy(first_night, tmp_path)
    write(root, {"prediction/systems.json": {"b": {"baseline": True}}})
    reasons_of(root)
    write(root, {"prediction/250922-b.json": "["})
    assert reasons_of(root) == {}


def test_a_file_of_a_set_is_not_that_of_each_forecaster(tmp_path: Path) -> None:
    write(tmp_path, {"dataset/p.json": (ROOT / "dataset/prophet-sample.json").read_bytes()})
    forecasts = read_json(ROOT / "prediction/prophet-sample.json")
    for name in ("early", "late"):
        rows = [row for row in forecasts if (row["username"] < "m") == (name == "early")]
        write(tmp_path, {f"prediction/p-{name}.json": rows})
    assert reasons_of(tmp_path) == {}
    write(tmp_path, {"prediction/p-late.json": [*rows[:40], *rows[80:]]})
    assert {*reasons_of(tmp_path).values()} == {"new answers in its set"}
    (tmp_path / "prediction/p-late.json").rename(tmp_path / "prediction/p-later.json")
    assert {*reasons_of(tmp_path).values()} == {"renamed in its set"}


def test_answers_that_are_taken_back_and_weeks_that_are_withdrawn(
    first_night: Path, tmp_path: Path
) -> None:
    root = copy(first_night, tmp_path)
    drop = ["--late-files", "drop"]
    reasons_of(root, *drop)
    remove(root, "prediction/250922-a.json")
    assert reasons_of(root, *drop)["a", "250922"] == "8 closed answers removed"
    answers = read_json(root / "prediction/250922-b.json")
    del answers["250922-0"]
    write(root, {"prediction/250922-b.json": answers})
    assert reasons_of(root, *drop)["b", "250922"] == "1 closed answer removed"
    write(root, {"prediction/systems.json": {"a": {"withdrawn": ["250922"]}}})
    reasons = reasons_of(root, *drop)
    assert reasons["a", "250922"] == "withdrawn by the owner of the board"
    assert reasons["a", "all datasets"] == "250922 withdrawn by the owner of the board"


def test_other_late_answers(first_night: Path, tmp_path: Path) -> None:
    """A question closes before a changed answer was first seen, and no more."""
    root = copy(first_night, tmp_path)
    drop = ["--late-files", "drop"]
    add_question(root)
    edit(root, 8, ground_truth=None)
    reasons_of(root, *drop)
    answers = read_json(root / "prediction/250922-a.json")
    write(root, {"prediction/250922-a.json": {**answers, "more": "A"}})
    assert reasons_of(root, *drop)["a", "250922"] == "new answers"
    edit(root, 8, ground_truth="A")
    assert reasons_of(root, *drop)["a", "250922"] == "1 more truth, 9 of 9 known"
    for closes in ("2020-01-01", None):
        edit(root, 8, closes=closes)
        reasons = reasons_of(root, *drop)
        assert reasons["a", "250922"] == "other late answers"
        assert reasons["a", "all datasets"] == "250922 other late answers"
        assert {text for key, text in reasons.items() if key[0] != "a"} <= {"others moved"}


def test_a_row_without_rank(first_night: Path, tmp_path: Path) -> None:
    """A broken file whose dataset has other truths; and both as they were, or only the file."""
    root = copy(first_night, tmp_path)
    whole = (root / "prediction/250922-a.json").read_bytes()
    edit(root, 0, ground_truth="B")
    write(root, {"prediction/250922-a.json": whole[:20]})
    reasons = reasons_of(root)
    assert (reasons["a", "250922"], reasons["b", "250922"]) == (
        "not scored: no rank", "1 truth corrected",
    )  # fmt: skip
    assert reasons["a", "all datasets"] == "250922 not scored: no rank"
    again = shutil.copytree(root, tmp_path / "again")
    undo(root, first_night)
    assert reasons_of(root)["a", "all datasets"] == "250922 scored again"
    write(again, {"prediction/250922-a.json": whole})
    assert reasons_of(again)["a", "all datasets"] == "250922 1 truth corrected"


def test_nothing_moves_for_a_broken_file(first_night: Path, tmp_path: Path) -> None:
    root = copy(first_night, tmp_path)
    write(root, {"prediction/250922-a.json": ""})
    assert reasons_of(root) == {}
    undo(root, first_night)
    assert reasons_of(root) == {}


def page(root: Path) -> str:
    text = (root / "evaluation/leaderboard.html").read_text("utf-8")
    return html.unescape(re.sub("<[^>]*>", "", text.partition('class="lead"')[2]))


def test_names_of_strangers_are_text_on_the_first_screen(tmp_path: Path) -> None:
    write(tmp_path, {"dataset/<b>d.json": rows_of("q"), "prediction/<b>d-a.json": {"q-0": "A"}})
    run(tmp_path, "nightly")
    write(tmp_path, {"prediction/<b>d-<i>.json": {"q-1": "A"}})
    run(tmp_path, "nightly", SOURCE_DATE_EPOCH="1800000000")
    raw = (tmp_path / "evaluation/leaderboard.html").read_text("utf-8")
    assert "Last night (2027-01-15): &lt;b&gt;d new (&lt;i&gt;)" in raw


def test_the_first_screen_says_what_changed(first_night: Path, tmp_path: Path) -> None:
    root = copy(first_night, tmp_path)
    assert "Last night" not in page(root)
    add_week(root, "250929", "abc")
    answer(root, "250915-c")
    write(root, {"prediction/250922-a.json": {}})
    run(root, "nightly", SOURCE_DATE_EPOCH="1800000000")
    line = next(line for line in page(root).splitlines() if "Last night" in line)
    said = "Last night (2027-01-15): 250929 new (3 systems) and 250915 new answers (c)"
    assert said in line


# --- Fourteen nights ---


def scores(root: Path) -> dict[tuple[str, str], tuple[int | None, float]]:
    """Rank and score by dataset and system."""
    board = stored(root)
    return {
        (table.get("dataset", "all"), row["name"]): (row["rank"], row["overall_score"])
        for table in [*board["pooled"], *board["tables"]]
        for row in table["rows"]
    }


def test_fourteen_nights(tmp_path: Path) -> None:
    """What N1 and N3 of a review of 3.0.0 name, one after the other in one folder."""
    path, dataset = "prediction/250922-a.json", "dataset/250922.json"
    for week in WEEKS:
        add_week(tmp_path, week, "ab" if week == WEEKS[0] else "abc")
    assert reasons_of(tmp_path) == {}
    before, whole = scores(tmp_path), (tmp_path / path).read_bytes()
    questions = (tmp_path / dataset).read_bytes()
    for name, content in (
        (path, whole[:50]),  # an upload that is still running
        (path, b""),
        (path, None),  # that cannot be read
        (dataset, questions[:50]),
        ("dataset/250922.truths.csv", b"id,truthx\n250922-0,A\n"),
    ):
        (tmp_path / name).unlink(missing_ok=True)
        if content is None:
            (tmp_path / name).symlink_to(name)
        else:
            (tmp_path / name).write_bytes(content)
        done = run(tmp_path, "nightly", "--json")
        assert (done.code, json.loads(done.out)["changes"], scores(tmp_path)) == (3, [], before)
        (tmp_path / name).unlink()
        write(tmp_path, {path: whole, dataset: questions})
    assert (reasons_of(tmp_path), scores(tmp_path)) == ({}, before)

    add_week(tmp_path, "250929", "abc")
    assert reasons_of(tmp_path)["b", "all datasets"] == "250929 new"
    remove(tmp_path, "*/250908*")
    assert reasons_of(tmp_path)["b", "all datasets"] == "250908 removed"
    assert before.keys() - scores(tmp_path).keys() == {("250908.json", f"250908-{n}") for n in "ab"}
    remove(tmp_path, "prediction/2509??-c.json")
    add_week(tmp_path, "250929", "c")
    assert reasons_of(tmp_path)["c", "all datasets"] == (
        "250915, 250922 removed; in 1 of 3 datasets: no rank"
    )
    edit(tmp_path, 6, void=True)
    done = run(tmp_path, "nightly")
    assert "250922.json: 1 question void: 250922-6" in done.out
    assert "250922 1 question void" in done.out
    edit(tmp_path, 0, ground_truth="B")
    edit(tmp_path, 7, Std=2.0)
    assert reasons_of(tmp_path)["a", "250922"] == "1 truth corrected, 1 Std changed"
    history = tmp_path / "evaluation/history.jsonl"
    lines = history.read_bytes()
    history.write_bytes(lines + b'{"night": 11, "sys')
    assert "1 damaged line set aside" in run(tmp_path, "nightly").err
    done = run(tmp_path, "nightly", "--json")
    assert (done.code, done.err, done.json["changes"]) == (0, "", [])
    assert history.read_bytes() == lines
