"""The nightly run over a folder: what is reused, what a bad file costs, what a kill leaves."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

import pytest

from boards_folders import (
    BOARD_FILES,
    column,
    contents,
    counts,
    evaluate,
    failures,
    folder_of,
    rows,
    snapshot,
    stored,
)
from cli import (
    EVIL,
    RAW_CONTROL,
    ROOT,
    Done,
    Record,
    assert_refused,
    number,
    q,
    question,
    run,
    write,
)
from eval import FutureXEvaluator
from forecasteval.benchmark import Files
from forecasteval.common.errors import EvaluationError, InputError
from forecasteval.common.files import hash_file, write_atomic
from forecasteval.common.records import dump_json
from forecasteval.display.results import Results
from forecasteval.nightly import run as nightly_run
from forecasteval.nightly import tasks
from forecasteval.nightly.commands import SAMPLES
from llm_server import LlmServer, error, honest

# --- What is scored, and what is reused ---


def test_first_and_second_run(tmp_path: Path) -> None:
    folder_of(tmp_path, best="AAAA", worst="BBBB", half="AABB")
    write(tmp_path, {"prediction/own.jsonl": [q("x")]})
    done = run(tmp_path, "nightly")
    assert (done.code, done.err, counts(done)) == (0, "", (4, 0, 0))
    assert sorted(contents(tmp_path)) == sorted(
        ["d-best.json", "d-half.json", "d-worst.json", "own.json", *BOARD_FILES, "seen.jsonl"]
    )
    board = stored(tmp_path)
    tables = {
        table["dataset"]: [(row["rank"], row["name"]) for row in table["rows"]]
        for table in board["tables"]
    }
    assert tables == {"d.json": [(1, "d-best"), (2, "d-half"), (3, "d-worst")], None: [(1, "own")]}
    for name in ("d-best", "d-half", "own"):
        assert stored(tmp_path, name) == run(tmp_path, "-f", name, "--json").json
    before = snapshot(tmp_path)
    again = run(tmp_path, "nightly")
    assert (again.code, counts(again)) == (0, (0, 4, 0))
    assert snapshot(tmp_path) == before
    assert again.out.splitlines()[:-1] == done.out.splitlines()[:-1]


def test_second_run_calls_nothing(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    first = evaluate(tmp_path)

    def refuse(path: Path, dataset: Path | None) -> Record:
        raise AssertionError(path)

    second = evaluate(tmp_path, refuse)
    assert (second["evaluated"], second["reused"], second["failed"]) == (0, 2, [])
    assert dump_json(second["tables"]) == dump_json(first["tables"])


def test_json_board_is_what_is_stored(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    printed = run(tmp_path, "nightly", "--json").json
    assert {key: printed[key] for key in stored(tmp_path)} == stored(tmp_path)
    assert (printed["evaluated"], printed["reused"]) == (2, 0)


def test_force_redoes_all_and_writes_the_same(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    run(tmp_path, "nightly")
    before = contents(tmp_path)
    write(tmp_path, {"evaluation/d-a.json": contents(tmp_path)["d-a.json"].replace(b"1.0", b"0.5")})
    assert counts(run(tmp_path, "nightly", "--force")) == (2, 0, 0)
    assert contents(tmp_path) == before


def test_what_save_wrote_is_reused(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    run(tmp_path, "-f", "d-a", "--save")
    assert counts(run(tmp_path, "nightly")) == (1, 1, 0)
    before = snapshot(tmp_path)
    run(tmp_path, "-f", "d-a", "--save")
    assert counts(run(tmp_path, "nightly")) == (0, 2, 0)
    assert {name for name, stamp in snapshot(tmp_path).items() if stamp != before[name]} == {
        "d-a.json"
    }


def test_changed_prediction_is_scored_again_alone(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    run(tmp_path, "nightly")
    status = (tmp_path / "prediction/d-a.json").stat()
    folder_of(tmp_path, a="AAAB")  # of the same size
    os.utime(tmp_path / "prediction/d-a.json", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert counts(run(tmp_path, "nightly")) == (1, 1, 0)
    assert column(stored(tmp_path), "overall_score") == [0.75, 0.5]


def test_touched_prediction_is_not_scored_again(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA")
    run(tmp_path, "nightly")
    before = snapshot(tmp_path)
    os.utime(tmp_path / "prediction/d-a.json", (1, 1))
    assert counts(run(tmp_path, "nightly")) == (0, 1, 0)
    assert snapshot(tmp_path) == before


def test_changed_dataset(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    write(tmp_path, {"prediction/own.json": [q()]})
    run(tmp_path, "nightly")
    write(
        tmp_path,
        {"dataset/d.json": [question(f"q{place}", ground_truth="B") for place in range(4)]},
    )
    assert counts(run(tmp_path, "nightly")) == (2, 1, 0)
    assert [row["overall_score"] for row in stored(tmp_path)["tables"][0]["rows"]] == [0.5, 0.0]


@pytest.mark.parametrize(
    "change", ["dataset appears", "longer name", "dataset goes", "prediction renamed"]
)
def test_other_files_under_the_same_name(tmp_path: Path, change: str) -> None:
    write(tmp_path, {"prediction/d-a.json": [q()]})
    if change != "dataset appears":
        write(tmp_path, {"dataset/d.json": [question()]})
    run(tmp_path, "nightly")
    if change == "dataset goes":
        (tmp_path / "dataset/d.json").unlink()
    elif change == "prediction renamed":
        write(tmp_path, {"prediction/d-a.jsonl": [q()]})
        (tmp_path / "prediction/d-a.json").unlink()
    else:
        write(
            tmp_path,
            {
                f"dataset/{'d-a' if change == 'longer name' else 'd'}.json": [
                    question(ground_truth="B")
                ]
            },
        )
    done = run(tmp_path, "nightly")
    if change == "dataset goes":  # its own questions may carry older truths
        assert failures(done) == [
            "d-a.json: expected its dataset, d.json, as before (or --force), got none",
            "no result, ranked as before: 1 (d-a)",
        ]
        done = run(tmp_path, "nightly", "--force")
    assert counts(done) == (1, 0, 0)
    expected = run(tmp_path, "-f", "d-a", "--json").json
    assert stored(tmp_path, "d-a") == expected
    assert stored(tmp_path)["tables"][0]["dataset"] == expected["dataset"]


def test_deleted_prediction_leaves_the_board(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    run(tmp_path, "nightly")
    (tmp_path / "prediction/d-a.json").unlink()
    assert counts(run(tmp_path, "nightly")) == (0, 1, 0)
    assert column(stored(tmp_path), "name") == ["d-b"]


def test_another_policy(tmp_path: Path) -> None:
    write(tmp_path, {"prediction/a.json": [number(answer="102")]})
    run(tmp_path, "nightly")
    for sigma, overall in (("0.04", 0.75), ("0.1", 0.96)):
        assert counts(run(tmp_path, "nightly", "--relative-sigma", sigma)) == (1, 0, 0)
        assert column(stored(tmp_path), "overall_score") == pytest.approx([overall])
        assert counts(run(tmp_path, "nightly", "--relative-sigma", sigma)) == (0, 1, 0)
    assert counts(run(tmp_path, "nightly")) == (1, 0, 0)
    assert column(stored(tmp_path), "overall_score") == [0.0]


def test_another_version(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA")
    evaluator = FutureXEvaluator()
    evaluate(tmp_path)
    newer = {**evaluator.settings(), "evaluator": "FutureX 99"}
    board = evaluate(tmp_path, settings=newer)
    assert (board["evaluated"], board["reused"]) == (1, 0)


def test_min_questions_ranks_anew_without_scoring(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    run(tmp_path, "nightly")
    done = run(tmp_path, "nightly", "--min-questions", "5")
    assert counts(done) == (0, 2, 0)
    assert column(stored(tmp_path), "rank") == [None, None]
    assert counts(run(tmp_path, "nightly")) == (0, 2, 0)
    assert column(stored(tmp_path), "rank") == [1, 2]


# --- Damaged files ---


def _set(*path: Any, to: Any = ...) -> Any:
    def change(value: Any) -> Any:
        inner = value
        for key in path[:-1]:
            inner = inner[key]
        if to is ...:
            del inner[path[-1]]
        else:
            inner[path[-1]] = to
        return value

    return change


DAMAGES: Final = {
    "empty": lambda raw: b"",
    "torn": lambda raw: raw[: len(raw) // 2],
    "last byte": lambda raw: raw[:-3],
    "NUL bytes": lambda raw: b"\0" * len(raw),
    "no UTF-8": lambda raw: raw.replace(b"A", b"\xff"),
    "a list": lambda raw: b"[]",
    "null": lambda raw: b"null",
    "deep": lambda raw: b"[" * 100_000,
}


RESULT_DAMAGES: Final = {
    **DAMAGES,
    "no items": _set("items"),
    "items null": _set("items", to=None),
    "item a number": _set("items", 0, to=3),
    "score text": _set("items", 0, "score", to="1"),
    "score null": _set("items", 0, "score", to=None),
    "another score": _set("items", 0, "score", to=0.25),
    "level 9": _set("items", 0, "level", to=9),
    "no warnings": _set("warnings"),
    "no checksum": _set("signature", "questions_sha256"),
    "no signature": _set("signature"),
    "signature text": _set("signature", to="x"),
}


BOARD_DAMAGES: Final = {
    **DAMAGES,
    "tables a number": _set("tables", to=3),
    "no tables": _set("tables"),
    "table a number": _set("tables", 0, to=3),
    "row null": _set("tables", 0, "rows", 0, to=None),
    "no failed": _set("failed"),
    "no signature": _set("leaderboard"),
    "signature text": _set("leaderboard", to="x"),
    "another score": _set("tables", 0, "rows", 0, "overall_score", to=0.99),
}


def damage(path: Path, change: Any) -> None:
    raw = path.read_bytes()
    if change in DAMAGES.values():
        path.write_bytes(change(raw))
    else:
        path.write_text(json.dumps(change(json.loads(raw))), encoding="utf-8")


@pytest.mark.parametrize("board", [True, False])
@pytest.mark.parametrize("change", RESULT_DAMAGES.values(), ids=RESULT_DAMAGES)
def test_damaged_result_is_made_anew(tmp_path: Path, change: Any, board: bool) -> None:
    if not board and change is RESULT_DAMAGES["another score"]:
        pytest.skip("nothing left tells")
    folder_of(tmp_path, a="AAAA", b="ABAB")
    evaluate(tmp_path)
    before = contents(tmp_path)
    damage(tmp_path / "evaluation/d-a.json", change)
    if not board:
        (tmp_path / "evaluation/leaderboard.json").unlink()
    again = evaluate(tmp_path)
    assert (again["evaluated"], again["reused"], again["failed"]) == (1, 1, [])
    assert contents(tmp_path) == before


@pytest.mark.parametrize("change", BOARD_DAMAGES.values(), ids=BOARD_DAMAGES)
def test_damaged_board_is_made_anew_without_scoring(tmp_path: Path, change: Any) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    evaluate(tmp_path)
    before = contents(tmp_path)
    damage(tmp_path / "evaluation/leaderboard.json", change)
    again = evaluate(tmp_path)
    assert (again["evaluated"], again["reused"], again["failed"]) == (0, 2, [])
    assert contents(tmp_path) == before


@pytest.mark.parametrize("name", ["d-a.json", *BOARD_FILES])
def test_deleted_file_is_made_anew(tmp_path: Path, name: str) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    evaluate(tmp_path)
    before = contents(tmp_path)
    (tmp_path / "evaluation" / name).unlink()
    assert evaluate(tmp_path)["evaluated"] == (name == "d-a.json")
    assert contents(tmp_path) == before


def test_degraded_result_is_not_reused(tmp_path: Path) -> None:
    write(tmp_path, {"prediction/a.json": [number(answer=r"\boxed{101 then 90 now}", Std=5)]})

    def night(model: str | None = "m") -> tuple[int, int, bool, float]:
        evaluator = (
            FutureXEvaluator("key", server.url, model=model) if model else FutureXEvaluator()
        )
        board = evaluate(tmp_path, evaluator.evaluate_files, evaluator.settings())
        row = rows(board)[0]
        return board["evaluated"], board["reused"], row["degraded"], row["overall_score"]

    with LlmServer(lambda asked: error(401)) as server:
        assert night() == (1, 0, True, 0.0)  # the grammar takes 90, 2 sigma off
        assert "degraded" in (tmp_path / "evaluation/leaderboard.md").read_text("utf-8")
        server.script = honest  # the next night it is up
        assert night() == (1, 0, False, pytest.approx(0.96))
        asked = len(server.requests)
        assert night() == (0, 1, False, pytest.approx(0.96))
        assert len(server.requests) == asked
        assert night("other") == (1, 0, False, pytest.approx(0.96))
        assert night(None) == (1, 0, False, 0.0)


# --- A bad file costs only itself ---


def break_folder(root: Path) -> dict[str, str]:
    """Put every kind of bad file into prediction/: name and a piece of the reason."""
    predictions = root / "prediction"
    write(root, {
        "prediction/torn.json": '[{"id": "q1"', "prediction/empty.json": b"",
        "prediction/latin.json": b'["\xe9"]',
        "prediction/noid.json": [{"id": "q0", "prediction": "A"}],
        "prediction/d-other.json": {"x": "A"},
        "prediction/level.json": [q(level=9)], "prediction/leaderboard.json": [q()],
        "prediction/twice.json": [q()], "prediction/twice.jsonl": [q()],
        f"prediction/evil{EVIL[:5]}.json": "{",
    })  # fmt: skip
    (predictions / "folder.json").mkdir()
    (predictions / "broken.json").symlink_to("nowhere")
    (predictions / "loop.json").symlink_to("loop.json")
    os.mkfifo(predictions / "fifo.json")
    return {
        "torn.json": "not JSON", "empty.json": "an empty file", "latin.json": "not UTF-8",
        "noid.json": "--dataset",
        "d-other.json": "other ids", "level.json": "'level' must be 1–4",
        "leaderboard.json": "another name",
        "2 (twice.json, twice.jsonl)": "twice.json, twice.jsonl",
        "evil\\x1b[2J\\x1b.json": "not JSON", "folder.json": "a folder; name a file in it",
        "fifo.json": "a pipe or device",
        "broken.json": "No such file", "loop.json": "symbolic links",
    }  # fmt: skip


def test_bad_files_cost_only_themselves(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    write(
        tmp_path,
        {
            "prediction/.hidden.json": "{",
            "prediction/.d-c.json": {"q0": "A"},
            "prediction/notes.txt": "{",
        },
    )
    expected = break_folder(tmp_path)
    (tmp_path / "prediction/linked.json").symlink_to("d-a.json")
    write(tmp_path, {"dataset/linked.json": [question(f"q{n}") for n in range(4)]})
    done = run(tmp_path, "nightly")
    lines = failures(done)
    assert {line.split(":")[0] for line in lines} == set(expected)
    for name, reason in expected.items():
        line = [line for line in lines if line.startswith(f"{name}: ")]
        assert len(line) == 1
        assert reason in line[0]
        assert str(tmp_path) not in line[0]
        assert len(line[0]) < 300
    assert counts(done) == (3, 0, len(expected) + 1)
    board = stored(tmp_path)
    assert [[row["name"] for row in table["rows"]] for table in board["tables"]] == [
        ["linked"],
        ["d-a", "d-b"],
    ]
    assert len(board["failed"]) == len(expected) + 1
    assert sorted(contents(tmp_path)) == sorted(
        ["d-a.json", "d-b.json", "linked.json", *BOARD_FILES, "seen.jsonl"]
    )
    assert not RAW_CONTROL.search((tmp_path / "evaluation/leaderboard.md").read_text("utf-8"))
    before = snapshot(tmp_path)
    again = run(tmp_path, "nightly")
    assert (failures(again), counts(again)) == (lines, (0, 3, len(expected) + 1))
    assert snapshot(tmp_path) == before


def test_bad_dataset_costs_only_its_predictions(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA")
    write(
        tmp_path,
        {
            "prediction/e-x.json": {"q0": "A"},
            "dataset/e.json": "{",
            "prediction/g-x.json": {"q0": "A"},
        },
    )
    write(tmp_path, {"dataset/g.json": [question()], "dataset/g.jsonl": [question()]})
    lines = failures(run(tmp_path, "nightly"))
    assert [line.split(":")[0] for line in lines] == ["e-x.json", "g-x.json"]
    assert "dataset/e.json: not JSON" in lines[0]
    assert "g.json and g.jsonl" in lines[1]


def test_unreadable_file(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    path = tmp_path / "prediction/d-a.json"
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("root reads everything")
    assert failures(run(tmp_path, "nightly")) == ["d-a.json: cannot be read: Permission denied"]


def test_a_file_that_turns_bad_keeps_its_old_result(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    run(tmp_path, "nightly")
    old = contents(tmp_path)["d-a.json"]
    write(tmp_path, {"prediction/d-a.json": "{"})
    assert failures(run(tmp_path, "nightly"))[0].startswith("d-a.json: not JSON")
    assert column(stored(tmp_path), "name") == ["d-a", "d-b"]
    assert contents(tmp_path)["d-a.json"] == old
    folder_of(tmp_path, a="AAAA")
    assert counts(run(tmp_path, "nightly")) == (0, 2, 0)
    assert column(stored(tmp_path), "name") == ["d-a", "d-b"]


def test_a_message_loses_the_root_and_nothing_else() -> None:
    """`n/` ends `evaluation/`, too."""
    problem = InputError(
        "n/evaluation/a.json", "expected the questions of n/dataset/a.json", "a folder"
    )
    message = "evaluation/a.json: expected the questions of dataset/a.json, got a folder"
    assert tasks.explain(problem, Path("n/prediction/a.json"), Path("n")) == message


def test_all_files_bad(tmp_path: Path) -> None:
    write(tmp_path, {"prediction/a.json": "{", "prediction/b.json": ""})
    done = run(tmp_path, "nightly")
    assert len(failures(done, 2)) == 2
    assert counts(done) == (0, 0, 2)


@pytest.mark.parametrize("folder", ["empty", "hidden only", "none", "a file"])
def test_no_predictions(tmp_path: Path, folder: str) -> None:
    if folder == "hidden only":
        write(tmp_path, {"prediction/.a.json": [q()]})
    elif folder == "empty":
        (tmp_path / "prediction").mkdir()
    elif folder == "a file":
        write(tmp_path, {"prediction": ""})
    words = (
        ["prediction: ", "--root"]
        if folder in ("none", "a file")
        else ["expected prediction files", "none"]
    )
    assert_refused(run(tmp_path, "nightly"), *words)
    assert not (tmp_path / "evaluation/leaderboard.json").exists()


def test_results_go_elsewhere(tmp_path: Path) -> None:
    """Every command that writes, and reads again what it wrote."""
    folder_of(tmp_path, a="AAAA", b="ABBB")
    other = tmp_path / "other"
    option = ["--output", str(other)]
    assert counts(run(tmp_path, "nightly", "--html", *option)) == (2, 0, 0)
    assert counts(run(tmp_path, "nightly", FORECASTEVAL_OUTPUT=str(other))) == (0, 2, 0)
    assert run(tmp_path, "compare", "d-a", "d-b", "--html", *option).code == 0
    (other / "d-a.json").unlink()
    assert run(tmp_path, "-f", "d-a", "--save", "--html", FORECASTEVAL_OUTPUT=str(other)).code == 0
    assert {"d-a.json", "d-a.html", "compare.html", "leaderboard.json"} <= {
        path.name for path in other.iterdir()
    }
    assert not (tmp_path / "evaluation").exists()


def test_root_that_does_not_exist_is_not_made(tmp_path: Path) -> None:
    assert_refused(run(tmp_path, "nightly", "--root", str(tmp_path / "typo")), "typo")
    assert list(tmp_path.iterdir()) == []


def test_internal_fault_in_one_file(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")

    def faulty(files: Files) -> Results:
        if files.path.stem == "d-a":
            raise ZeroDivisionError("float division by zero")
        return FutureXEvaluator().evaluate_files(files)

    board = evaluate(tmp_path, faulty)
    assert board["failed"] == [{
        "file": "d-a.json", "fault": True,
        "reason": "internal fault, please report it: ZeroDivisionError: float division by zero",
    }]  # fmt: skip
    assert column(board, "name") == ["d-b"]


def test_strange_names_are_scored_and_reused(tmp_path: Path) -> None:
    names = ["run.v2", "模型 一", "x" * 250, "a.json", "=1+1", "-f", "a\nb", os.fsdecode(b"\xff")]
    write(tmp_path, {f"prediction/{name}.json": [q()] for name in names})
    done = run(tmp_path, "nightly")
    assert (done.code, counts(done)) == (0, (len(names), 0, 0))
    assert not RAW_CONTROL.search(done.out)
    before = snapshot(tmp_path)
    assert counts(run(tmp_path, "nightly")) == (0, len(names), 0)
    assert snapshot(tmp_path) == before


def test_an_internal_fault_is_told_and_is_exit_code_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    evaluate_files = FutureXEvaluator.evaluate_files

    def stumble(evaluator: FutureXEvaluator, files: Files) -> Results:
        if files.path.stem == "d-a":
            raise KeyError("oops")
        return evaluate_files(evaluator, files)

    monkeypatch.setattr(FutureXEvaluator, "evaluate_files", stumble)
    done = run(tmp_path, "nightly")
    assert (done.code, counts(done)) == (1, (1, 0, 1))
    assert done.err == "eval.py: d-a.json: internal fault, please report it: KeyError: 'oops'\n"
    assert column(stored(tmp_path), "name") == ["d-b"]


@pytest.mark.parametrize("model", [True, False])
def test_one_process_asks_a_language_model(
    tmp_path: Path, server: LlmServer, monkeypatch: pytest.MonkeyPatch, model: bool
) -> None:
    """It has threads of its own, and one count of failures in a row."""
    folder_of(tmp_path, a="AAAA")
    seen: list[int] = []
    score_files = nightly_run.score_files

    def watch(score: Any, tasks: Any, root: Path, output: Path, options: Any) -> Any:
        seen.append(options.processes)
        return score_files(score, tasks, root, output, options)

    monkeypatch.setattr(nightly_run, "score_files", watch)
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    options = ["--llm", "m"] if model else []
    assert run(tmp_path, "nightly", *options, OPENAI_BASE_URL=server.url).code == 0
    assert seen == [1 if model else 7]


def test_a_name_that_is_too_long_for_its_result_costs_only_itself(tmp_path: Path) -> None:
    """255 bytes with .csv are 256 with .json."""
    folder_of(tmp_path, a="AAAA")
    names = ["x" * 251, "é" * 125 + "x"]
    write(tmp_path, {f"prediction/{name}.csv": "a,b\n" for name in names})
    done = run(tmp_path, "nightly")
    lines = failures(done)
    assert [line.split(": ")[1] for line in lines] == ["expected a shorter name"]
    assert counts(done) == (1, 0, 2)


@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize("command", [["nightly"], ["-f", "e-x"], ["compare", "e-x", "d-a"]])
def test_a_dataset_that_would_be_read_for_ever(
    tmp_path: Path, kind: str, command: list[str]
) -> None:
    folder_of(tmp_path, a="AAAA")
    write(tmp_path, {"prediction/e-x.json": {"q0": "A"}})
    if kind == "pipe":
        os.mkfifo(tmp_path / "dataset/e.json")
    else:
        (tmp_path / "dataset/e.json").symlink_to("/dev/zero")
    done = run(tmp_path, *command)
    assert (done.code, "dataset/e.json: expected a regular file" in done.err) == (
        3 if command[0] == "nightly" else 2,
        True,
    )


def test_names_that_look_alike_are_told_apart(tmp_path: Path) -> None:
    names = ["caf\u00e9", "cafe\u0301", "run", "run\u00ad", "r\u2060un", "ｒｕｎ"]
    write(tmp_path, {f"prediction/{name}.json": [q()] for name in names})
    out = run(tmp_path, "nightly").out
    for shown in (
        "caf\\xe9",
        "cafe\\u0301",
        " run ",
        "run\\xad",
        "r\\u2060un",
        "\\uff52\\uff55\\uff4e",
    ):
        assert shown in out


# --- Usage ---


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--llm", "x"], ["--llm", "OPENAI_API_KEY"]),
        (["--relative-sigma", "0"], ["relative_sigma", "positive", "got 0.0"]),
        (["--gamma", "2"], ["gamma: ", "got 2.0"]),
        (
            ["--rules", "official-2026", "--relative-sigma", "0.05"],
            ["relative_sigma", "official-2026"],
        ),
    ],
)
def test_unusable_policies_touch_nothing(
    tmp_path: Path, options: list[str], words: list[str]
) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    assert run(tmp_path, "nightly").code == 0
    write(tmp_path, {"prediction/d-c.json": {"q0": "A"}})
    before = snapshot(tmp_path)
    done = run(tmp_path, "nightly", *options)
    assert_refused(done, *words)
    assert done.err.count("\n") == 1
    done = run(tmp_path, "compare", "d-a", "d-b", *options)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert snapshot(tmp_path) == before


def test_a_mistyped_root_is_not_made(tmp_path: Path, server: LlmServer) -> None:
    done = run(
        tmp_path,
        "nightly",
        "--root",
        str(tmp_path / "nowhere"),
        "--llm",
        "m",
        OPENAI_BASE_URL=server.url,
    )
    assert_refused(done, "nowhere/prediction", "--root", "no such folder")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["nightly", "--dataset", "d"], ["--dataset"]),
        (["nightly", "--items"], ["--items"]),
        (["nightly", "--save"], ["--save"]),
        (["nightly", "--missing", "skip"], ["--missing"]),
        (["nightly", "-f", "a"], ["-f"]),
        (["nightly", "a"], ["a"]),
        (["nightly", "--min-questions", "-1"], ["--min-questions", "got -1"]),
        (["nightly", "--min-questions", "many"], ["--min-questions", "many"]),
        (["--force"], ["--force"]),
        (["--force", "-f", "a"], ["--force"]),
        (["--min-questions", "25"], ["--min-questions"]),
        (["compare", "a", "b", "--min-questions", "0"], ["--min-questions"]),
        (["compare", "a", "b", "-f", "a"], ["-f"]),
        (["compare", "a", "b", "--save"], ["--save"]),
        (["check", "d", "--save"], ["--save"]),
        (["check", ""], ["file"]),
        (["--compare", "a", "b"], ["compare"]),
        (["--check", "d"], ["check"]),
    ],
)
def test_usage_errors(tmp_path: Path, options: list[str], words: list[str]) -> None:
    write(tmp_path, {"prediction/a.json": [q()], "prediction/250915-random.json": [q()]})
    write(tmp_path, {"dataset/d.json": [question()]})
    assert_refused(run(tmp_path, *options), *words)
    assert not (tmp_path / "evaluation").exists()


# --- Kills and full disks ---


def test_kill_at_any_moment_leaves_whole_files(tmp_path: Path) -> None:
    """A run that rewrites everything is killed at random; what is there is whole, and the next run
    mends the rest.
    """
    dataset = [question(f"q{n}") for n in range(40)]
    write(tmp_path, {"dataset/d.json": dataset})
    for name in range(30):
        rng = random.Random(name)
        write(
            tmp_path,
            {f"prediction/d-{name:02}.json": {f"q{n}": rng.choice("AB") for n in range(40)}},
        )
    run(tmp_path, "nightly")
    expected = contents(tmp_path)
    command = [sys.executable, str(ROOT / "eval.py"), "nightly", "--force", "--root", str(tmp_path)]
    rng = random.Random(4)
    killed = 0
    for attempt in range(6):
        if attempt % 2:  # also from nothing
            for name in expected:
                (tmp_path / "evaluation" / name).unlink(missing_ok=True)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        folder = tmp_path / "evaluation"
        start = time.time_ns()
        while process.poll() is None and not any(
            path.stat().st_mtime_ns >= start for path in folder.glob("d-*.json") if path.exists()
        ):
            time.sleep(0.002)
        time.sleep(rng.random() * 0.06)
        process.kill()
        killed += process.wait() == -signal.SIGKILL
        for path in folder.glob("*.json"):
            assert path.read_bytes() == expected[path.name]
        assert not [
            path
            for path in folder.iterdir()
            if path.suffix in (".csv", ".md") and not path.stat().st_size
        ]
    assert killed >= 3
    done = run(tmp_path, "nightly")
    assert (done.code, done.err) == (0, "")
    assert sum(counts(done)) == 30
    assert contents(tmp_path) == expected


def test_full_disk_leaves_the_old_results(tmp_path: Path) -> None:
    """A limit on the size of files stands for a full disk: writing fails half-way."""
    folder_of(tmp_path, a="AAAA")
    write(tmp_path, {"prediction/big.json": [q(str(n)) for n in range(60)]})
    run(tmp_path, "nightly")
    before = contents(tmp_path)
    command = [sys.executable, str(ROOT / "eval.py"), "nightly", "--force", "--root", str(tmp_path)]

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8000, 8000))

    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", preexec_fn=limit, timeout=60, check=False
    )
    words = ["/big.json", "cannot be written", "too large"]
    assert_refused(Done(done.returncode, done.stdout, done.stderr), *words)
    assert contents(tmp_path) == before


def test_write_fails_as_on_a_read_only_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same for root, who may write anywhere: every writing fails, as EROFS does."""
    folder_of(tmp_path, a="AAAA")
    evaluate(tmp_path)
    before = snapshot(tmp_path)

    def open_nothing(*args: object, **options: object) -> None:
        raise OSError(30, "Read-only file system")

    def refuse(path: Path, text: str) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(Path, "open", open_nothing)
            write_atomic(path, text)

    monkeypatch.setattr(tasks, "write_atomic", refuse)
    with pytest.raises(
        EvaluationError, match=r"/d-a\.json: cannot be written: Read-only file system$"
    ):
        evaluate(tmp_path, force=True)
    assert snapshot(tmp_path) == before


def test_nothing_goes_to_stderr_when_all_is_well(tmp_path: Path) -> None:
    """cron mails what comes there."""
    folder_of(tmp_path, a="AAAA", b="BBBB")
    for _ in range(2):
        assert run(tmp_path, "nightly").err == ""


def test_invented_samples_among_ones_own_files_are_named(tmp_path: Path) -> None:
    """Real numbers must not stand beside invented ones unnoticed; alone, samples need no word."""
    starter = ROOT / "forecasteval/nightly/templates/sample.json"
    samples = [starter, *(ROOT / "dataset").glob("*.json")]
    assert {*map(hash_file, samples)} == {*SAMPLES}
    shutil.copytree(ROOT / "dataset", tmp_path / "dataset")
    sample = ROOT / "prediction" / "250915-random.json"
    write(tmp_path, {"prediction/250915-random.json": sample.read_bytes()})
    assert "invented" not in run(tmp_path, "nightly").out
    write(tmp_path, {"prediction/w-a.json": {"q7": "A"}, "dataset/w.json": [question()]})
    done = run(tmp_path, "nightly")
    assert "\ninvented samples: 1 (250915.json); delete their files, or keep yours" in done.out
    shutil.rmtree(tmp_path / "dataset")
    (tmp_path / "prediction/250915-random.json").unlink()
    write(tmp_path, {"dataset/w.json": [question()]})
    assert "invented" not in run(tmp_path, "nightly").out


def test_files_that_are_passed_over_are_named(tmp_path: Path) -> None:
    answers = [{"id": "q7", "answer": "A"}]
    names = [
        "w-a.json.gz",
        "w-b.JSON",
        "w-c.txt",
        "w-d (1).json",
        "w-d (2).jsonl",
        "team/w-e.json",
        "notes/ideas.md",
    ]
    write(tmp_path, {"dataset/w.json": [question()], "prediction/w-d.json": answers})
    write(tmp_path, {f"prediction/{name}": answers for name in names})
    done = run(tmp_path, "nightly")
    said = "; not read: 6 (notes, team/w-e.json, w-a.json.gz, w-b.JSON, w-c.txt, …)\n"
    assert (done.code, said in done.out) == (0, True), done.out
    assert [row["name"] for row in stored(tmp_path)["tables"][0]["rows"]] == ["w-d", "w-d (2)"]
    checked = run(tmp_path, "check")
    assert checked.code == 4
    assert "not read: 5 (team/w-e.json, w-a.json.gz, w-b.JSON" in checked.out


def test_names_that_look_alike_are_named_once(tmp_path: Path) -> None:
    answers = [{"id": "q7", "answer": "A"}]
    systems = ["s5", "\uff535", "caf\u00e9", "cafe\u0301", "GPT", "gpt", "other"]
    write(tmp_path, {"dataset/w.json": [question()]})
    write(tmp_path, {f"prediction/w-{name}.json": answers for name in systems})
    for command in ("nightly", "check"):
        out = run(tmp_path, command).out
        assert out.count("systems with one name in several spellings: ") == 3
        assert "several spellings: GPT, gpt\n" in out
        assert r"several spellings: cafe\u0301, caf\xe9" in out
