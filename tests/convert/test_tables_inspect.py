"""Logs of inspect_ai: epochs, failures, what stands where; what is no log, or needs the extra."""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli import EVIL, assert_refused, read_json, write
from conversions import convert, converted
from forecasteval.source import formats
from make_convert_samples import BOXED, SAMPLES, SECOND_BOXED, log_of, log_sample, zip_log

KEY, ID = formats.PREDICTION, formats.QUESTION_ID
FAILED = {"message": "down", "traceback": "", "traceback_ansi": ""}
Save = Callable[[dict[str, Any]], Path]


@pytest.fixture(params=[pytest.param("eval", marks=pytest.mark.extra("inspect_ai")), "json"])
def save(request: pytest.FixtureRequest, tmp_path: Path) -> Save:
    """A function that writes a log in one of the formats."""

    def write_log(log: dict[str, Any]) -> Path:
        if request.param == "json":
            return write(tmp_path, {"log.json": log}) / "log.json"
        zip_log(tmp_path / "log.eval", log)
        return tmp_path / "log.eval"

    return write_log


@pytest.mark.extra("inspect_ai")
def test_the_sample_log_in_both_formats(tmp_path: Path) -> None:
    assert converted(tmp_path, SAMPLES / "log.eval") == {
        "x@1.json": BOXED,
        "x@2.json": SECOND_BOXED,
    }


@pytest.mark.parametrize("name", ["log.csv", "log.eval", "log.txt"])
def test_a_json_log_of_any_name(name: str, tmp_path: Path) -> None:
    source = write(tmp_path, {name: json.dumps(log_of([log_sample("q", 1, "A")], 1))}) / name
    assert "inspect_ai log" in convert(source, "-o", tmp_path / "x.json").out
    assert read_json(tmp_path / "x.json") == {"q": "A"}


# --- Samples ---


@pytest.mark.parametrize(
    ("more", "answer"),
    [
        ({}, "text"),
        (
            {"output": {"completion": "attachment://x"}, "attachments": {"x": "a long text"}},
            "a long text",
        ),
        ({"scores": {"s": {"value": 1, "answer": "B"}}}, "text"),
        ({"scores": {"s": {"value": 0, "metadata": {KEY: 2}}}}, 2),
        (
            {
                "scores": {
                    "s": {"value": 0, "metadata": None},
                    "u": {"value": 0, "metadata": {KEY: 0}},
                }
            },
            0,
        ),
        ({"error": FAILED, "scores": {"s": {"value": 1}}}, "text"),
        ({"error": None, "limit": {"type": "token", "limit": 10}}, "text"),
        ({"input": [{"role": "user", "content": "q"}]}, "text"),
    ],
)
def test_what_the_answer_is(
    more: dict[str, Any], answer: object, save: Save, tmp_path: Path
) -> None:
    source = save(log_of([log_sample("q", 1, "text", **more)], 1))
    assert converted(tmp_path, source) == {"x.json": {"q": answer}}


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"error": FAILED}, "failed"),
        ({"error": FAILED, "scores": {}}, "failed"),
        (
            {"invalidation": {"author": "me", "timestamp": "2025-09-14T08:00:00+00:00"}},
            "invalidated",
        ),
        ({"scores": {"s": {"value": 0, "metadata": {KEY: None}}}}, "no index in the reply"),
        ({"output": {"choices": [], "completion": ""}}, "without an answer"),
        ({"output": {"completion": "attachment://x"}}, "without an answer"),
    ],
)
def test_what_is_no_answer(more: dict[str, Any], reason: str, save: Save, tmp_path: Path) -> None:
    samples = [log_sample("a", 1, "text"), log_sample("q", 1, "text", **more)]
    done = convert(save(log_of(samples, 1)), "-o", tmp_path / "x.json")
    assert f"x.json: 1 answer\n  left out, {reason}: 1 (q)\n" in done.out


def test_ids_that_repeat_in_the_dataset_keep_their_prompts(save: Save, tmp_path: Path) -> None:
    samples = [
        log_sample("q", 1, "A", input="one", metadata={ID: "q"}),
        log_sample("q#2", 1, "A", input="two", metadata={ID: "q"}),
        log_sample("r", 1, "B", input=[{"role": "user", "content": "no text"}]),
    ]
    rows = [
        {"id": "q", "answer": "A", "prompt": "one"}, {"id": "q", "answer": "A", "prompt": "two"},
        {"id": "r", "answer": "B"},
    ]  # fmt: skip
    source = save(log_of(samples, 1))
    assert converted(tmp_path, source) == {"x.json": rows}


def test_one_answer_of_an_id_that_repeats_keeps_its_prompt(save: Save, tmp_path: Path) -> None:
    """The other question of that id failed; without the prompt the answer could be to either."""
    samples = [
        log_sample("q", 1, "A", metadata={ID: "q"}),
        log_sample("q#2", 1, "", metadata={ID: "q"}),
    ]
    row = {"id": "q", "answer": "A", "prompt": "What of q?"}
    assert converted(tmp_path, save(log_of(samples, 1))) == {"x.json": [row]}


def test_a_log_that_did_not_finish(save: Save, tmp_path: Path) -> None:
    """Of two epochs of three samples, three samples were made."""
    log = log_of(
        [log_sample("a", 1, "A"), log_sample("b", 1, "B"), log_sample("a", 2, "A")], 3, "cancelled"
    )
    done = convert(save(log), "-o", tmp_path / "x.json")
    assert "  the evaluation did not finish: status cancelled\n" in done.out
    assert "x@1.json: 2 answers\n" in done.out
    assert done.out.endswith("x@2.json: 1 answer\n")


@pytest.mark.parametrize("epoch", [None, "2", 0, -1, 10**9, True, 1.5])
def test_an_epoch_that_is_none_is_the_first(epoch: object, tmp_path: Path) -> None:
    sample = {**log_sample("q", 1, "A"), "epoch": epoch}
    assert converted(tmp_path, write(tmp_path, {"l.json": log_of([sample], 1)}) / "l.json") == {
        "x.json": {"q": "A"}
    }


# --- Logs ---


@pytest.mark.parametrize("log", [{"samples": None}, {"samples": []}, {"samples": {}}, {}])
def test_a_log_without_samples(log: dict[str, Any], tmp_path: Path) -> None:
    root = write(
        tmp_path, {"log.json": {"version": 2, "status": "success", "eval": {"task": "t"}, **log}}
    )
    assert_refused(
        convert(root / "log.json", "-o", root / "x.json"), "expected a log with samples, got none"
    )


@pytest.mark.parametrize("value", [[], 1, "x", None, {"a": 1}])
def test_odd_values_anywhere_are_no_traceback(value: object, tmp_path: Path) -> None:
    """Each field of a log and of its sample in turn."""
    good = log_of(
        [log_sample("a", 1, "A"), log_sample("q", 1, "A", scores={"s": {"metadata": {}}})], 1
    )
    for key in (*good["samples"][1], *good["eval"], "eval", "sample"):
        log = json.loads(json.dumps(good))
        target = log if key == "eval" else log["eval"] if key in log["eval"] else log["samples"][1]
        if key == "sample":
            log["samples"][1] = value
        else:
            target[key] = value
        done = convert(
            write(tmp_path, {"log.json": log}) / "log.json", "-o", tmp_path / "x.json", "--force"
        )
        assert (done.code, done.err) == (0, ""), key


@pytest.mark.extra("inspect_ai")
@pytest.mark.parametrize("name", ["header.json", f"samples/{EVIL}_epoch_1.json"])
@pytest.mark.parametrize("content", [b"\xff", b"[", b"1", b"{}"])
def test_what_inspect_ai_does_not_read_is_one_line(
    name: str, content: bytes, tmp_path: Path
) -> None:
    zip_log(tmp_path / "a.eval", log_of([log_sample("a", 1, "A")], 1))
    with (
        zipfile.ZipFile(tmp_path / "a.eval") as log,
        zipfile.ZipFile(tmp_path / "b.eval", "w") as damaged,
    ):
        members = {member: log.read(member) for member in log.namelist()}
        for member, raw in {**members, name: content}.items():
            damaged.writestr(member, raw)
    assert_refused(
        convert(tmp_path / "b.eval", "-o", tmp_path / "x.json"), "b.eval: inspect_ai cannot read it"
    )


@pytest.mark.extra("inspect_ai")
def test_a_zip_that_is_no_log(tmp_path: Path) -> None:
    root = write(tmp_path, {"cut.eval": (SAMPLES / "log.eval").read_bytes()[:300]})
    with zipfile.ZipFile(root / "other.zip", "w") as archive:
        archive.writestr("x.xml", "<x/>")
    for name, told in {
        "cut.eval": "cut.eval: inspect_ai cannot read it",
        "other.zip": "other.zip: expected text, got a compressed file or spreadsheet",
    }.items():
        assert_refused(convert(root / name, "-o", root / "x.json"), told)


def test_a_workbook_is_refused_as_a_table(tmp_path: Path) -> None:
    book = tmp_path / "book.xlsx"
    with zipfile.ZipFile(book, "w") as archive:
        archive.writestr("xl/workbook.xml", "<x/>")
    for columns in ((), ("--answer", "reply")):
        done = convert(book, *columns, "-o", tmp_path / "x.json")
        assert_refused(done, "expected a table in text, got a spreadsheet; save it as CSV")
    saved = write(tmp_path, {"book.csv": "id,reply\nq1,A\n"}) / "book.csv"
    assert convert(saved, "--answer", "reply", "-o", tmp_path / "x.json").code == 0


def test_a_log_without_inspect_ai(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    done = convert(SAMPLES / "log.eval", "-o", tmp_path / "x.json")
    assert_refused(done, "pip install inspect-ai", "inspect log convert --to json")
