"""`nightly --verify`: what was forged, damaged or is out of date is found, and nothing is
written.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from boards_folders import folder_of, snapshot, stored
from cli import Done, assert_refused, run, write
from forecasteval.common.records import dump_json
from forecasteval.nightly.store import result_text
from llm_server import LlmServer, questions


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    assert run(tmp_path, "nightly").code == 0
    return tmp_path


def verify(root: Path, *options: str) -> Done:
    before = snapshot(root)
    done = run(root, "nightly", "--verify", *options)
    assert snapshot(root) == before
    return done


def forge(root: Path, name: str, change: Any) -> None:
    """A result that says something else, with the checksum that belongs to it."""
    record = stored(root, name)
    change(record)
    (root / "evaluation" / f"{name}.json").write_text(result_text(record), encoding="utf-8")


def test_all_is_well(root: Path) -> None:
    done = verify(root)
    assert (done.code, done.err) == (0, "")
    assert done.out == "2 results come out as they are stored, 0 files differ, 0 failed\n"
    assert verify(root, "--json").json == {
        "same": 2,
        "differences": {},
        "unstored": [],
        "failed": [],
    }


def test_a_forged_score_is_found_though_its_checksum_is_right(root: Path) -> None:
    forge(root, "d-b", lambda record: record.update(overall_score=1.0))
    assert run(root, "nightly").code == 0  # nothing is noticed, as the docs say
    done = verify(root)
    assert done.code == 4
    assert "d-b.json: overall_score: 1.0 is stored, 0.5 comes out" in done.out.splitlines()


@pytest.mark.parametrize("part", ["items", "truth"])
def test_a_forged_answer_is_found(root: Path, part: str) -> None:
    forge(root, "d-b", lambda record: record["items"][1].update(score=1.0, truth="B"))
    done = verify(root)
    assert done.code == 4
    assert "d-b.json: items[q1].score: 1.0 is stored, 0.0 comes out" in done.out.splitlines()


def test_a_forged_leaderboard_is_found(root: Path) -> None:
    forge(
        root, "leaderboard", lambda board: board["tables"][0]["rows"][1].update(overall_score=1.0)
    )
    lines = verify(root).out.splitlines()
    assert (
        "leaderboard.json: tables[0].rows[d-b].overall_score: 1.0 is stored, 0.5 comes out" in lines
    )
    assert "leaderboard.md: it is not what leaderboard.json says" in lines


def test_a_forged_summary_is_found_before_it_is_used(root: Path) -> None:
    def improve(summary: Any) -> None:
        summary["system"]["questions"]["1"]["scores"] = [1.0] * 4

    forge(root, ".ranking/d-b", improve)
    done = verify(root)
    assert done.code == 4
    assert (
        ".ranking/d-b.json: questions.1.scores[0]: 1.0 is stored, 0.0 comes out"
        in done.out.splitlines()
    )


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_what_is_no_file_costs_only_itself(root: Path, make: Any) -> None:
    path = root / "evaluation/d-b.json"
    path.unlink()
    make(path)
    done = verify(root)
    assert done.code == 4
    assert done.out.splitlines()[0].startswith("d-b.json: it is damaged")


def test_the_board_is_compared_though_files_failed_as_before_or_are_new(root: Path) -> None:
    write(root, {"prediction/bad.json": "{", "prediction/d-other.json": {"x": "A"}})
    assert run(root, "nightly").code == 3
    assert verify(root).code == 3
    write(root, {"prediction/d-new.json": {"q0": "A"}})
    done = verify(root)
    assert (done.code, done.out.splitlines()[0]) == (3, "not stored yet: 1 (d-new.json)")
    forge(
        root, "leaderboard", lambda board: board["tables"][0]["rows"][1].update(overall_score=1.0)
    )
    assert verify(root).code == 4


@pytest.mark.parametrize("name", ["leaderboard.md", "leaderboard.csv"])
def test_a_forged_text_is_found(root: Path, name: str) -> None:
    path = root / "evaluation" / name
    path.write_text(path.read_text("utf-8").replace("0.5", "0.9"), encoding="utf-8")
    done = verify(root)
    assert (done.code, done.out.splitlines()[0]) == (
        4,
        f"{name}: it is not what leaderboard.json says",
    )


def test_damage_and_old_results_are_told(root: Path) -> None:
    (root / "evaluation/d-a.json").write_text("{", encoding="utf-8")
    folder_of(root, b="AAAB")
    write(root, {"prediction/d-new.json": {"q0": "A"}, "prediction/bad.json": "{"})
    shutil.copy(root / "evaluation/d-b.json", root / "evaluation/bad.json")
    done = verify(root)
    assert done.code == 4
    lines = done.out.splitlines()
    assert lines[0].startswith("d-a.json: it is damaged")
    assert any(line.startswith("d-b.json: signature.prediction_sha256: ") for line in lines)
    assert "not stored yet: 1 (d-new.json)" in lines
    assert done.err.startswith("eval.py: bad.json: not JSON")


def test_other_policies_are_told(root: Path) -> None:
    done = verify(root, "--relative-sigma", "0.1")
    assert done.code == 4
    assert (
        "d-a.json: signature.relative_sigma: null is stored, 0.1 comes out" in done.out.splitlines()
    )


def test_nothing_is_stored(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA")
    assert_refused(run(tmp_path, "nightly", "--verify"), "evaluation", "expected stored results")
    assert not (tmp_path / "evaluation").exists()


def test_with_a_language_model(server: LlmServer, tmp_path: Path) -> None:
    """From its cache: calls and tokens differ, the scores do not."""
    write(tmp_path, {"prediction/p.json": questions(5)})
    keys = {"OPENAI_API_KEY": "key", "OPENAI_BASE_URL": server.url}
    assert run(tmp_path, "nightly", "--llm", "m", **keys).code == 0
    server.requests.clear()
    assert run(tmp_path, "nightly", "--llm", "m", "--verify", **keys).code == 0
    assert server.requests == []
    assert run(tmp_path, "nightly", "--verify").code == 4


def test_hostile_names_are_made_safe(root: Path) -> None:
    forge(root, "d-b", lambda record: record["items"][1].update(id="\x1b[2J", score=1.0))
    assert "\x1b" not in verify(root).out
    assert json.loads(dump_json(verify(root, "--json")._asdict()))["code"] == 4
