"""A night in which nothing has changed does nothing, and says what it would have said."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from cli import Done, question, read_json, run, strict, write
from forecasteval.nightly import commands, stamp

DATASET: Final = [question(f"q{number}") for number in range(4)]
ANSWERS: Final = {f"q{number}": "AAB"[number % 3] for number in range(4)}
OLD: Final = 1_500_000_000


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {
        "dataset/d.json": DATASET,
        "prediction/d-a.json": ANSWERS,
        "prediction/d-b.json": dict.fromkeys(ANSWERS, "A"),
        "prediction/systems.json": {"a": {"name": "Alpha"}},
    }
    return write(tmp_path, files)


class Nights:
    """Nights in a folder, of which it counts those that do something."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.count = 0
        work = commands.run_night

        def counted(*args: Any) -> Any:
            self.count += 1
            return work(*args)

        monkeypatch.setattr(commands, "run_night", counted)

    def run(self, *options: str, **env: str) -> Done:
        return run(self.root, "nightly", *options, **env)

    def is_quiet(self, *options: str, **env: str) -> bool:
        before = self.count
        self.run(*options, **env)
        return self.count == before


@pytest.fixture
def nights(root: Path, monkeypatch: pytest.MonkeyPatch) -> Nights:
    return Nights(root, monkeypatch)


def touch_back(path: Path, change: Callable[[Path], object]) -> None:
    """Change a file, and set its time back."""
    status = path.stat()
    change(path)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.parametrize(
    "options",
    [(), ("--json",), ("--format", "markdown"), ("--format", "csv"), ("--columns", "System"),
     ("--html",)],
)  # fmt: skip
def test_quiet_night_says_what_a_whole_one_says(nights: Nights, options: tuple[str, ...]) -> None:
    nights.run(*options)
    quiet = nights.run(*options)
    assert nights.count == 1
    (nights.root / "evaluation" / stamp.STAMP).unlink()
    whole = nights.run(*options)
    assert nights.count == 2
    assert quiet == whole


def test_first_night_is_no_quiet_one(nights: Nights) -> None:
    first = nights.run()
    assert first.out.endswith("2 files scored, 0 unchanged, 0 failed\n")
    assert nights.run().out.endswith("0 files scored, 2 unchanged, 0 failed\n")
    assert nights.count == 1


@pytest.mark.parametrize("option", ["--force", "--begin-record"])
def test_some_options_ignore_the_stamp(nights: Nights, option: str) -> None:
    nights.run()
    assert not nights.is_quiet(option)


def test_other_options_and_widths_are_other_nights(nights: Nights) -> None:
    nights.run()
    assert not nights.is_quiet("--min-questions", "2")
    assert nights.is_quiet("--min-questions", "2")
    assert not nights.is_quiet()
    assert not nights.is_quiet(COLUMNS="60")
    assert not nights.is_quiet("--html")


CHANGES: Final[dict[str, Callable[[Path], object]]] = {
    "a prediction": lambda root: write(root, {"prediction/d-a.json": {**ANSWERS, "q0": "B"}}),
    "a truth": lambda root: write(
        root, {"dataset/d.json": [question("q0", ground_truth="B"), *DATASET[1:]]}
    ),
    "a new file": lambda root: write(root, {"prediction/d-c.json": ANSWERS}),
    "a new dataset": lambda root: write(root, {"dataset/e.json": DATASET}),
    "truths beside a dataset": lambda root: write(
        root, {"dataset/d.truths.csv": "id,ground_truth\n"}
    ),
    "a file less": lambda root: (root / "prediction/d-b.json").unlink(),
    "a file with another name": lambda root: (root / "prediction/d-b.json").rename(
        root / "prediction/d-c.json"
    ),
    "what is no prediction": lambda root: write(root, {"prediction/d-c.txt": "A"}),
    "a file in a folder": lambda root: write(root, {"prediction/team/d-c.json": ANSWERS}),
    "systems": lambda root: write(root, {"prediction/systems.json": {}}),
    "settings": lambda root: write(root, {"forecasteval.toml": "min-questions = 2\n"}),
    "a result": lambda root: (root / "evaluation/d-a.json").write_text("{}"),
    "a result less": lambda root: (root / "evaluation/d-a.json").unlink(),
    "a page less": lambda root: (root / "evaluation/leaderboard.html").unlink(),
    "the book": lambda root: (root / "evaluation/seen.jsonl").unlink(),
    "the history": lambda root: (root / "evaluation/history.jsonl").unlink(),
    "a damaged stamp": lambda root: (root / "evaluation" / stamp.STAMP).write_text("{"),
    "another stamp": lambda root: (root / "evaluation" / stamp.STAMP).write_text('{"key": "x"}'),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_change_ends_the_quiet(nights: Nights, change: Callable[[Path], object]) -> None:
    nights.run()
    assert nights.is_quiet()
    change(nights.root)
    assert not nights.is_quiet()


def test_change_with_size_and_time_set_back_is_noticed(nights: Nights) -> None:
    path = nights.root / "prediction/d-b.json"
    os.utime(path, (OLD, OLD))
    nights.run()
    assert nights.is_quiet()
    text = path.read_text()
    touch_back(path, lambda path: path.write_text(text.replace('"A"', '"B"', 1)))
    assert not nights.is_quiet()
    rows = read_json(nights.root / "evaluation/leaderboard.json")["tables"][0]["rows"]
    assert {row["name"]: row["overall_score"] for row in rows}["d-b"] == 0.75


def test_change_behind_a_link_to_nothing_is_noticed(nights: Nights) -> None:
    """Editors leave such links, which sort first, while a file is open."""
    (nights.root / "prediction/.#d-a.json").symlink_to("somebody@host.123")
    nights.run()
    nights.run()
    assert nights.is_quiet()
    write(nights.root, {"prediction/d-b.json": dict.fromkeys(ANSWERS, "B")})
    assert not nights.is_quiet()


def test_change_within_a_tick_is_noticed(nights: Nights, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a file system with whole seconds a second change leaves no trace but the bytes."""
    real = stamp._add_state

    def coarse(name: str, status: os.stat_result, states: stamp.States) -> None:
        real(name, status, states)
        size, *times, number = states[name]
        second = 1_000_000_000
        states[name] = (size, *(each // second * second for each in times), number)

    monkeypatch.setattr(stamp, "_add_state", coarse)
    nights.run()
    assert nights.is_quiet()
    path = nights.root / "prediction/d-b.json"
    text = path.read_text()
    with path.open("r+") as file:
        file.write(text.replace('"A"', '"B"', 1))
    states = read_json(nights.root / "evaluation" / stamp.STAMP)
    assert str(path) in states["hashes"]
    assert not nights.is_quiet()


def test_old_files_are_not_hashed(nights: Nights, monkeypatch: pytest.MonkeyPatch) -> None:
    nights.run()
    hashed: list[Path] = []
    real = stamp.hash_file
    monkeypatch.setattr(stamp, "hash_file", lambda path: hashed.append(path) or real(path))
    monkeypatch.setattr(stamp, "_TICK", -1_000_000_000_000)  # as if an hour had gone by
    assert nights.is_quiet()  # the first time, by which they are known
    assert hashed
    hashed.clear()
    assert nights.is_quiet()
    assert not hashed


def test_closing_question_ends_the_quiet(nights: Nights) -> None:
    rows = [question("q0", ground_truth=..., closes="2026-03-01T12:00Z"), *DATASET[1:]]
    write(nights.root, {"dataset/d.json": rows})
    noon = 1_772_366_400
    nights.run(SOURCE_DATE_EPOCH=str(noon - 600))
    assert nights.is_quiet(SOURCE_DATE_EPOCH=str(noon - 60))
    assert "2026-03-01 12:00 UTC" in nights.run(SOURCE_DATE_EPOCH=str(noon - 60)).out
    assert not nights.is_quiet(SOURCE_DATE_EPOCH=str(noon + 60))
    assert "2026-03-01 12:00 UTC" not in nights.run(SOURCE_DATE_EPOCH=str(noon + 60)).out


def test_failure_is_tried_again_every_night(nights: Nights) -> None:
    write(nights.root, {"prediction/d-c.json": "{"})
    for _ in range(3):
        assert not nights.is_quiet()
    assert not (nights.root / "evaluation" / stamp.STAMP).exists()


def test_waiting_files_are_quiet(nights: Nights) -> None:
    write(nights.root, {"dataset/e.json": [question("q0", ground_truth=...)]})
    write(nights.root, {"prediction/e-a.json": {"q0": "A"}})
    assert "no truth yet" in nights.run().out
    assert "no truth yet" in nights.run().out
    assert nights.count == 1


def test_edited_code_ends_the_quiet(nights: Nights, monkeypatch: pytest.MonkeyPatch) -> None:
    nights.run()
    copy = nights.root / "package"
    write(nights.root, {"package/a.py": "1"})
    monkeypatch.setattr(stamp, "PACKAGE", copy)
    assert not nights.is_quiet()


def test_stamp_holds_json_that_is_whole(nights: Nights) -> None:
    nights.run("--json")
    done = nights.run("--json")
    assert strict(done.out)["reused"] == 2
    record = json.loads((nights.root / "evaluation" / stamp.STAMP).read_text())
    assert record["out"] == done.out
