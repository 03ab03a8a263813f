"""Logs of inspect_ai: epochs, failures, what stands where; zips that are damaged, hostile or packed in a new way."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from cli import EVIL, assert_refused, read_json, write
from conversions import convert, converted
from forecasteval.convert import inspect_logs
from make_convert_samples import log_of, log_sample, zip_log

KEY, ID = inspect_logs.PREDICTION, inspect_logs.QUESTION_ID


def pack(path: Path, members: dict[str, Any], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, value in members.items():
            archive.writestr(name, value if isinstance(value, (bytes, str)) else json.dumps(value))
    return path


def header(**more: Any) -> dict[str, Any]:
    return {"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, **more}


def both(folder: Path, log: dict[str, Any]) -> list[Path]:
    """A log in both formats."""
    zip_log(folder / "log.eval", log)
    return [folder / "log.eval", write(folder, {"log.json": log}) / "log.json"]


@pytest.mark.parametrize("name", ["log.csv", "log.eval", "log.txt"])
def test_a_json_log_of_any_name(name: str, tmp_path: Path) -> None:
    source = both(tmp_path, log_of([log_sample("q", 1, "A")], 1))[1].rename(tmp_path / name)
    assert "inspect_ai log" in convert(source, "-o", tmp_path / "x.json").out
    assert read_json(tmp_path / "x.json") == {"q": "A"}


# --- Samples ---


@pytest.mark.parametrize(
    ("more", "answer"),
    [
        ({}, "text"),
        ({"output": {"completion": "attachment://x"}, "attachments": {"x": "a long text"}}, "a long text"),
        ({"scores": {"s": {"value": 1, "answer": "B"}}}, "text"),
        ({"scores": {"s": {"value": 0, "metadata": {KEY: 2}}}}, 2),
        ({"scores": {"s": {"value": 0, "metadata": None}, "t": None, "u": {"metadata": {KEY: 0}}}}, 0),
        ({"error": {"message": "late"}, "scores": {"s": {"value": 1}}}, "text"),
        ({"error": None, "limit": {"type": "token", "limit": 10}}, "text"),
        ({"input": [{"role": "user", "content": "q"}]}, "text"),
    ],
)
def test_what_the_answer_is(more: dict[str, Any], answer: object, tmp_path: Path) -> None:
    for source in both(tmp_path, log_of([log_sample("q", 1, "text", **more)], 1)):
        assert converted(tmp_path, source, "--force") == {"x.json": {"q": answer}}


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"error": {"message": "down"}}, "failed"),
        ({"error": {"message": "down"}, "scores": {}}, "failed"),
        ({"invalidation": {"author": "me"}}, "invalidated"),
        ({"scores": {"s": {"metadata": {KEY: None}}}}, "no index in the reply"),
        ({"output": {"choices": [], "completion": ""}}, "without an answer"),
        ({"output": None}, "without an answer"),
        ({"output": {"completion": "attachment://x"}}, "without an answer"),
        ({"output": {"completion": "attachment://x"}, "attachments": []}, "without an answer"),
    ],
)
def test_what_is_no_answer(more: dict[str, Any], told: str, tmp_path: Path) -> None:
    samples = [log_sample("a", 1, "text"), log_sample("q", 1, "text", **more)]
    for source in both(tmp_path, log_of(samples, 1)):
        done = convert(source, "-o", tmp_path / "x.json", "--force")
        assert f"x.json: 1 answer\n  left out, {told}: 1 (q)\n" in done.out


def test_ids_that_repeat_in_the_dataset_keep_their_prompts(tmp_path: Path) -> None:
    samples = [
        log_sample("q", 1, "A", input="one", metadata={ID: "q"}),
        log_sample("q#2", 1, "A", input="two", metadata={ID: "q"}),
        log_sample("r", 1, "B", input=["no text"]),
    ]
    for source in both(tmp_path, log_of(samples, 1)):
        assert converted(tmp_path, source, "--force") == {"x.json": [
            {"id": "q", "answer": "A", "prompt": "one"}, {"id": "q", "answer": "A", "prompt": "two"},
            {"id": "r", "answer": "B"},
        ]}  # fmt: skip


def test_one_answer_of_an_id_that_repeats_keeps_its_prompt(tmp_path: Path) -> None:
    """The other question of that id failed; without the prompt the answer could be to either."""
    samples = [log_sample("q", 1, "A", metadata={ID: "q"}), log_sample("q#2", 1, "", metadata={ID: "q"})]
    for source in both(tmp_path, log_of(samples, 1)):
        row = {"id": "q", "answer": "A", "prompt": "What of q?"}
        assert converted(tmp_path, source, "--force") == {"x.json": [row]}


def test_a_log_that_did_not_finish(tmp_path: Path) -> None:
    """Of two epochs of three samples, two samples were made."""
    log = log_of([log_sample("a", 1, "A"), log_sample("b", 1, "B")], 2, "cancelled")
    log["eval"]["dataset"]["sample_ids"].append("c")
    for source in both(tmp_path, log):
        done = convert(source, "-o", tmp_path / "x.json", "--force")
        assert "  the evaluation did not finish: status cancelled\n  epochs in the log: 1 of 2\n" in done.out
        assert "x.json: 2 answers\n  left out, not in the log: 1 (c)\n" in done.out


def test_a_log_that_was_killed_has_no_header_yet(tmp_path: Path) -> None:
    start = {"version": 2, "eval": {"task": "t", "model": "m"}}
    members = {"_journal/start.json": start, "samples/q_epoch_1.json": log_sample("q", 1, "A")}
    done = convert(pack(tmp_path / "log.eval", members), "-o", tmp_path / "x.json")
    assert "  t of m\n  the evaluation did not finish: status started\n" in done.out
    assert read_json(tmp_path / "x.json") == {"q": "A"}


@pytest.mark.parametrize("epoch", [None, "2", 0, -1, 10**9, True, 1.5])
def test_an_epoch_that_is_none_is_the_first(epoch: object, tmp_path: Path) -> None:
    sample = {**log_sample("q", 1, "A"), "epoch": epoch}
    assert converted(tmp_path, write(tmp_path, {"l.json": log_of([sample], 1)}) / "l.json") == {"x.json": {"q": "A"}}


# --- Logs ---


def test_samples_of_any_name_and_in_pieces(tmp_path: Path) -> None:
    """Ids with slashes make folders; a large sample is a folder, too. A name that is there twice counts as its last."""
    members = {
        "header.json": header(), "samples/a/b_epoch_1.json": log_sample("a/b", 1, "A"),
        "samples/q_epoch_1/sample.json": log_sample("q", 1, "B"), "samples/q_epoch_1/messages/0.json": [],
        "summaries.json": [], "_journal/summaries/1.json": [],
    }  # fmt: skip
    path = pack(tmp_path / "log.eval", members)
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("samples/a/b_epoch_1.json", json.dumps(log_sample("a/b", 1, "again")))
    assert converted(tmp_path, path) == {"x.json": {"a/b": "again", "q": "B"}}


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"xl/workbook.xml": "<x/>"}, "expected a log of inspect_ai, got a zip without header.json"),
        ({"header.json": header()}, "expected a log of inspect_ai, got a zip without samples"),
        ({"header.json": "[", "samples/q_epoch_1.json": "{}"}, "header.json: not JSON"),
        ({"header.json": [], "samples/q_epoch_1.json": "{}"}, "header.json: expected an object, got list"),
        ({"header.json": header(), "samples/q_epoch_1.json": "1"}, "left out, damaged: 1 (q (expected an object))"),
        ({"header.json": header(), f"samples/{EVIL}_epoch_1.json": "x"}, "left out, damaged: 1 ("),
        ({"header.json": header(), "samples/q_epoch_1.json": b"\xff\xff"}, "damaged: 1 (q (not UTF-8"),
        ({"header.json": header(), "samples/q_epoch_1.json": "[" * 10**5}, "damaged: 1 (q (expected records"),
    ],
)
def test_a_zip_that_is_no_log(members: dict[str, Any], words: str, tmp_path: Path) -> None:
    assert_refused(convert(pack(tmp_path / "a.eval", members), "-o", tmp_path / "x.json"), words)


@pytest.mark.parametrize("log", [{"samples": None}, {"samples": []}, {"samples": {}}, {}])
def test_a_log_without_samples(log: dict[str, Any], tmp_path: Path) -> None:
    root = write(tmp_path, {"log.json": header(**log)})
    assert_refused(convert(root / "log.json", "-o", root / "x.json"), "expected a log with samples, got none")


@pytest.mark.parametrize("value", [[], 1, "x", None, {"a": 1}])
def test_odd_values_anywhere_are_no_traceback(value: object, tmp_path: Path) -> None:
    """Each field of a log and of its sample in turn."""
    good = log_of([log_sample("a", 1, "A"), log_sample("q", 1, "A", scores={"s": {"metadata": {}}})], 1)
    for key in (*good["samples"][1], *good["eval"], "eval", "sample"):
        log = json.loads(json.dumps(good))
        target = log if key == "eval" else log["eval"] if key in log["eval"] else log["samples"][1]
        if key == "sample":
            log["samples"][1] = value
        else:
            target[key] = value
        done = convert(write(tmp_path, {"log.json": log}) / "log.json", "-o", tmp_path / "x.json", "--force")
        assert (done.code, done.err) == (0, ""), key


# --- Zips ---


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, 93])
def test_a_damaged_zip(method: int, tmp_path: Path) -> None:
    """Cut anywhere, or with any byte changed: converted, or one line."""
    if method == 93:
        pytest.importorskip("zipfile_zstd" if sys.version_info < (3, 14) else "compression.zstd")
    members = {"header.json": header(), "samples/q_epoch_1.json": log_sample("q", 1, "".join(map(str, range(90))))}
    whole = pack(tmp_path / "log.eval", members, method).read_bytes()
    for at in range(0, len(whole), 7):
        flipped = whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :]
        for number, raw in enumerate((whole[:at], flipped)):
            (tmp_path / "a.eval").write_bytes(raw)
            done = convert(tmp_path / "a.eval", "-o", tmp_path / "x.json", "--force")
            assert done.code == 2 or number, at
            assert done.err.count("\n") == (done.code == 2)


def test_a_damaged_sample_is_left_out_and_told(tmp_path: Path) -> None:
    """Once, and in its own run: as questions of this run it counts as missing."""
    asked = {"task": "t", "model": "m", "dataset": {"sample_ids": ["a", "b/c"]}}
    good = {f"samples/{name}_epoch_{n}.json": log_sample(name, n, "A") for name in ("a", "b/c") for n in (1, 2)}
    members = {"header.json": header(eval=asked), **good, "samples/b/c_epoch_2.json": b"\xff"}
    done = convert(pack(tmp_path / "a.eval", members), "-o", tmp_path / "x.json")
    assert read_json(tmp_path / "x@1.json") == {"a": "A", "b/c": "A"}
    assert read_json(tmp_path / "x@2.json") == {"a": "A"}
    assert done.out.endswith("x@2.json: 1 answer\n  left out, damaged: 1 (b/c (not UTF-8: byte 0xff at position 0))\n")


def test_a_way_of_packing_that_no_log_has(tmp_path: Path) -> None:
    members = {"header.json": header(), "samples/q_epoch_1.json": log_sample("q", 1, "A")}
    done = convert(pack(tmp_path / "a.eval", members, zipfile.ZIP_LZMA), "-o", tmp_path / "x.json")
    assert_refused(done, "header.json: packed in a way that no log is")


@pytest.mark.parametrize(
    ("limit", "value", "words"),
    [
        ("MAX_SAMPLES", 3, "expected fewer than 3 samples, got 4 files"),
        ("MAX_MEMBER", 500, "samples/c_epoch_1.json: expected 500 bytes at most"),
        ("FREE_BYTES", 0, "expected a log, got a zip of"),
    ],
)
def test_a_zip_out_of_proportion(
    limit: str, value: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspect_logs, limit, value)
    monkeypatch.setattr(inspect_logs, "MAX_RATIO", 10)
    samples = {f"samples/{name}_epoch_1.json": log_sample(name, 1, "A") for name in "ab"}
    long = log_sample("c", 1, "A" * 10**5) if limit == "FREE_BYTES" else log_sample("c", 1, "A" * 200)
    path = pack(tmp_path / "a.eval", {"header.json": header(), **samples, "samples/c_epoch_1.json": long})
    assert_refused(convert(path, "-o", tmp_path / "x.json"), words)


def test_zstandard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What inspect_ai writes today; where nothing can read it, the line says what to do."""
    pytest.importorskip("zipfile_zstd" if sys.version_info < (3, 14) else "compression.zstd")
    members = {"header.json": header(), "samples/q_epoch_1.json": log_sample("q", 1, "A")}
    path = pack(tmp_path / "log.eval", members, zipfile.ZIP_ZSTANDARD)  # type: ignore[attr-defined]
    assert converted(tmp_path, path) == {"x.json": {"q": "A"}}
    if sys.version_info < (3, 14):
        monkeypatch.setitem(sys.modules, "zipfile_zstd", None)
        done = convert(path, "-o", tmp_path / "y.json")
        assert_refused(done, "packed with Zstandard", "install zipfile-zstd", "inspect log convert --to json")
