"""A prediction file that is there but has no result tonight keeps its row, whatever the cause."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

from boards_folders import folder_of, stored
from cli import ROOT, Done, question, read_json, run, write
from forecasteval.nightly.store import result_pieces

WEEKS: Final = {
    "250915": {"a": "AAAAAAAA", "b": "AAAAAAAB", "c": "AAAABBBB"},
    "250922": {"a": "AAAAAAAB", "b": "AAAAAABB", "c": "AAAABBBB"},
}


def season(root: Path) -> Path:
    for week, answers in WEEKS.items():
        write(root, {f"dataset/{week}.json": [question(f"{week}{n}") for n in range(8)]})
        for name, letters in answers.items():
            texts = {f"{week}{n}": letter for n, letter in enumerate(letters)}
            write(root, {f"prediction/{week}-{name}.json": texts})
    assert run(root, "nightly").code == 0
    return root


def board_of(root: Path) -> Any:
    """All tables but the marks of what was kept."""
    board = stored(root)
    for table in [*board["pooled"], *board["tables"]]:
        for values in [
            table,
            *table["rows"],
            *(r for w in table["rows"] for r in w.get("runs", ())),
        ]:
            values.pop("kept", None)
    return board["pooled"], board["tables"]


def kept(root: Path) -> list[str]:
    return [
        row["name"] for table in stored(root)["tables"] for row in table["rows"] if row.get("kept")
    ]


def broken_link(path: Path) -> None:
    path.unlink() if path.is_file() else shutil.rmtree(path)
    path.symlink_to(path.name)  # which cannot be read, not even by root


def break_file(root: Path, kind: str) -> None:
    path, dataset = root / "prediction/250922-a.json", root / "dataset/250922.json"
    match kind:
        case "cut":
            path.write_bytes(path.read_bytes()[:40])
        case "empty":
            path.write_bytes(b"")
        case "unreadable":
            broken_link(path)
        case "a folder":
            path.unlink()
            path.mkdir()
        case "other keys":
            write(root, {"prediction/250922-a.json": [1, 2]})
        case "another file of its stem":
            shutil.copy(path, path.with_suffix(".jsonl"))
        case "dataset cut":
            dataset.write_bytes(dataset.read_bytes()[:30])
        case "dataset unreadable":
            broken_link(dataset)
        case "dataset gone":
            dataset.unlink()
        case "truths unreadable":
            write(root, {"dataset/250922.truths.csv": 'id,ground_truth\n"q1'})
        case "datasets gone":
            shutil.rmtree(dataset.parent)


ALONE: Final = ("cut", "empty", "unreadable", "a folder", "other keys", "another file of its stem")
ALL: Final = ("dataset cut", "dataset unreadable", "dataset gone", "truths unreadable")


@pytest.mark.parametrize("kind", [*ALONE, *ALL, "datasets gone"])
def test_it_keeps_its_row_and_moves_no_other(tmp_path: Path, kind: str) -> None:
    season(tmp_path)
    board, history = board_of(tmp_path), (tmp_path / "evaluation/history.jsonl").read_bytes()
    whole = shutil.copytree(tmp_path, tmp_path / "whole", ignore=shutil.ignore_patterns("whole"))
    break_file(tmp_path, kind)
    done = run(tmp_path, "nightly")
    assert done.code == 3
    names = {"250922-a"} if kind in ALONE else {f"250922-{name}" for name in "abc"}
    names |= {f"250915-{name}" for name in "abc" if kind == "datasets gone"}
    assert {*kept(tmp_path)} == names
    assert f"no result, ranked as before: {len(names)} (" in done.err
    assert "not scored, kept as before" in done.out
    assert board_of(tmp_path) == board
    assert (tmp_path / "evaluation/history.jsonl").read_bytes() == history
    assert run(tmp_path, "nightly").code == 3  # until a night can score it
    assert board_of(tmp_path) == board
    for name in ("dataset", "prediction"):
        shutil.rmtree(tmp_path / name, ignore_errors=True)
        shutil.copytree(whole / name, tmp_path / name)
    assert run(tmp_path, "nightly").code == 0
    assert (board_of(tmp_path), kept(tmp_path)) == (board, [])
    assert (tmp_path / "evaluation/history.jsonl").read_bytes() == history


def test_it_goes_with_its_file(tmp_path: Path) -> None:
    season(tmp_path)
    break_file(tmp_path, "cut")
    run(tmp_path, "nightly")
    (tmp_path / "prediction/250922-a.json").unlink()
    assert run(tmp_path, "nightly").code == 0
    assert kept(tmp_path) == []
    assert [row["name"] for row in stored(tmp_path)["tables"][0]["rows"]] == [
        "250922-b",
        "250922-c",
    ]


def test_nobody_keeps_a_good_score_by_breaking_a_file(tmp_path: Path) -> None:
    """Once truths changed a broken file has its old score, without rank, and not over all weeks."""
    season(tmp_path)
    rows = [question(f"250922{n}", ground_truth="B") for n in range(8)]
    write(tmp_path, {"dataset/250922.json": rows})
    break_file(tmp_path, "cut")

    def seen(done: Done) -> None:
        assert done.code == 3
        assert "kept without rank beside other questions: 1 (250922-a)" in done.err
        fresh, old, _ = stored(tmp_path)["tables"]
        assert [(row["name"], row["rank"]) for row in fresh["rows"]] == [
            ("250922-c", 1), ("250922-b", 2),
        ]  # fmt: skip
        (row,) = old["rows"]
        assert (row["name"], row["rank"], row["overall_score"], row["n"], row["kept"]) == (
            "250922-a", None, 0.875, 8, True,
        )  # fmt: skip
        (pooled,) = stored(tmp_path)["pooled"]
        weeks = {row["name"]: row["datasets"] for row in pooled["rows"]}
        assert weeks == {"a": 1, "b": 2, "c": 2}
        assert "not scored, kept as before, without rank" in done.out

    seen(run(tmp_path, "nightly"))
    seen(run(tmp_path, "nightly"))
    write(tmp_path, {"prediction/250922-a.json": {f"250922{n}": "A" for n in range(8)}})
    assert run(tmp_path, "nightly").code == 0
    (row,) = [row for row in stored(tmp_path)["tables"][0]["rows"] if row["name"] == "250922-a"]
    assert (row["rank"], row["overall_score"], kept(tmp_path)) == (3, 0.0, [])


@pytest.mark.parametrize("alone", [True, False])
def test_nor_if_nobody_else_has_a_result(tmp_path: Path, alone: bool) -> None:
    """On a dataset of its own, or of which all files are broken."""
    season(tmp_path)
    if alone:
        for name in "bc":
            (tmp_path / f"prediction/250922-{name}.json").unlink()
        assert run(tmp_path, "nightly").code == 0
    board = board_of(tmp_path)
    names = "a" if alone else "abc"
    for name in names:
        write(tmp_path, {f"prediction/250922-{name}.json": "["})
    assert run(tmp_path, "nightly").code == 3
    assert board_of(tmp_path) == board
    rows = [question(f"250922{n}", ground_truth="B") for n in range(8)]
    write(tmp_path, {"dataset/250922.json": rows})
    assert run(tmp_path, "nightly").code == 3
    (old, _) = stored(tmp_path)["tables"]
    assert {(row["name"], row["rank"]) for row in old["rows"]} == {
        (f"250922-{name}", None) for name in names
    }
    assert not stored(tmp_path)["pooled"]


def test_truths_that_return_return_its_rank(tmp_path: Path) -> None:
    season(tmp_path)
    board, dataset = board_of(tmp_path), (tmp_path / "dataset/250922.json").read_bytes()
    break_file(tmp_path, "cut")
    rows = [question(f"250922{n}", ground_truth="B") for n in range(8)]
    write(tmp_path, {"dataset/250922.json": rows})
    run(tmp_path, "nightly")
    write(tmp_path, {"dataset/250922.json": dataset})
    assert run(tmp_path, "nightly").code == 3
    assert (board_of(tmp_path), kept(tmp_path)) == (board, ["250922-a"])


def test_runs_keep_theirs(tmp_path: Path) -> None:
    folder_of(tmp_path, **{"a@1": "AAAA", "a@2": "AABB", "b": "AAAB"})
    run(tmp_path, "nightly")
    board = board_of(tmp_path)
    write(tmp_path, {"prediction/d-a@2.json": ""})
    assert run(tmp_path, "nightly").code == 3
    assert (board_of(tmp_path), kept(tmp_path)) == (board, ["d-a"])
    # Its other run has a result: that is its row.
    write(tmp_path, {"dataset/d.json": [question(f"q{n}", ground_truth="B") for n in range(4)]})
    assert run(tmp_path, "nightly").code == 3
    (table,) = stored(tmp_path)["tables"]
    assert [(row["name"], row["overall_score"]) for row in table["rows"]] == [
        ("d-b", 0.25), ("d-a@1", 0.0),
    ]  # fmt: skip


def test_an_unreadable_result_is_scored_again(tmp_path: Path) -> None:
    season(tmp_path)
    board = board_of(tmp_path)
    broken_link(tmp_path / "evaluation/250922-a.json")
    done = run(tmp_path, "nightly")
    assert (done.code, done.err, board_of(tmp_path)) == (0, "", board)
    assert done.out.splitlines()[-1] == "1 file scored, 5 unchanged, 0 failed"
    # Neither the file nor its result: what the board said of it stands.
    break_file(tmp_path, "cut")
    broken_link(tmp_path / "evaluation/250922-a.json")
    assert run(tmp_path, "nightly").code == 3
    assert kept(tmp_path) == ["250922-a"]
    assert [row["rank"] for row in stored(tmp_path)["tables"][1]["rows"]] == [None]


# --- Sets of forecasters ---


def forecasters(root: Path) -> dict[str, Any]:
    """Prophet Arena's sample in three files of a set."""
    write(root, {"dataset/p.json": (ROOT / "dataset/prophet-sample.json").read_bytes()})
    forecasts = read_json(ROOT / "prediction/prophet-sample.json")
    files: dict[str, Any] = {"a": [], "b": [], "c": []}
    for row in forecasts:
        files["a" if row["username"] < "h" else "b" if row["username"] < "m" else "c"].append(row)
    for name, rows in files.items():
        write(root, {f"prediction/p-{name}.json": rows})
    assert run(root, "nightly").code == 0
    return files


@pytest.mark.parametrize("kind", ["cut", "unreadable", "two cut", "one stem", "dataset gone"])
def test_a_set_stays_whole(tmp_path: Path, kind: str) -> None:
    """The other files of a set do not stand beside it by themselves."""
    forecasters(tmp_path)
    board, history = board_of(tmp_path), (tmp_path / "evaluation/history.jsonl").read_bytes()
    if kind == "dataset gone":
        (tmp_path / "dataset/p.json").unlink()
    elif kind == "unreadable":
        broken_link(tmp_path / "prediction/p-a.json")
    elif kind == "one stem":
        row = {"problem_id": "x", "username": "eve", "prediction": [0.5, 0.5]}
        write(tmp_path, {"prediction/p-a.jsonl": [row]})
    else:
        for name in "ab"[: 1 + (kind == "two cut")]:
            write(tmp_path, {f"prediction/p-{name}.json": "["})
    for _ in range(2):
        done = run(tmp_path, "nightly")
        assert (done.code, "no result, ranked as before: 1 (p)" in done.err) == (3, True)
        assert "not scored, kept as before" in done.out
        assert board_of(tmp_path) == board
        assert (tmp_path / "evaluation/history.jsonl").read_bytes() == history


def test_a_set_of_other_events_leaves_a_file_behind(tmp_path: Path) -> None:
    files = forecasters(tmp_path)
    before = {row["name"]: row for row in stored(tmp_path)["tables"][0]["rows"]}
    events = read_json(tmp_path / "dataset/p.json")
    write(tmp_path, {"dataset/p.json": events[:-10], "prediction/p-a.json": "["})
    of_file = {row["username"] for row in files["a"]}
    for _ in range(2):
        assert run(tmp_path, "nightly").code == 3
        fresh, old = stored(tmp_path)["tables"]
        assert {row["name"] for row in old["rows"]} == of_file
        assert {row["name"] for row in fresh["rows"]} == before.keys() - of_file
        assert {row["rank"] for row in old["rows"]} == {None}
        for row in old["rows"]:
            assert row["score"] == before[row["name"]]["score"]


@pytest.mark.skipif(os.getuid() == 0, reason="root reads whatever it likes")
def test_permissions(tmp_path: Path) -> None:
    season(tmp_path)
    board = board_of(tmp_path)
    (tmp_path / "prediction/250922-a.json").chmod(0)
    assert run(tmp_path, "nightly").code == 3
    assert board_of(tmp_path) == board


def test_a_board_of_3_0_0_is_read(tmp_path: Path) -> None:
    """Its rows of a dataset had no ranges of ranks, and others keys that are gone."""
    season(tmp_path)
    board = stored(tmp_path) | {"schema": 1}
    for row in [row for table in board["tables"] for row in table["rows"]]:
        row["p_leader"] = row.pop("rank_interval")
    path = tmp_path / "evaluation/leaderboard.json"
    path.write_text("".join(result_pieces(board)), "utf-8")
    break_file(tmp_path, "cut")
    (tmp_path / "prediction/250915-b.json").unlink()
    assert run(tmp_path, "nightly").code == 3
    assert (stored(tmp_path)["schema"], kept(tmp_path)) == (2, ["250922-a"])
    assert not (tmp_path / "evaluation/250915-b.json").exists()  # as its prediction is gone
