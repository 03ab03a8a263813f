"""What a board says does not depend on how its folder came about."""

from __future__ import annotations

import hashlib
import itertools
import json
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boards_folders import contents
from cli import ROOT, q, question, run, write

ANSWERS = {
    "w1-a": "AAAB",
    "w1-a@1": "AABB",
    "w1-a@2": "ABBB",
    "w1-b@1": "AABB",
    "w2-a": "AAAA",
    "w2-b": "ABAA",
    "w2-c@1": "BBBB",
}
NAMES = [*ANSWERS, "own", "prophet-sample"]
QUESTIONS = {
    week: [question(f"{week}{n}", level=1 + 3 * (n % 2)) for n in range(4)] for week in ("w1", "w2")
}


def add(root: Path, names: list[str]) -> None:
    for name in names:
        if name in ANSWERS:
            week = name.partition("-")[0]
            answers = {f"{week}{n}": letter for n, letter in enumerate(ANSWERS[name])}
            write(root, {f"prediction/{name}.json": answers})
        elif name == "own":  # a file that brings its own questions
            write(root, {"prediction/own.json": [q("x"), q("y", answer="B")]})
        else:
            for path in (ROOT / "prediction").glob(f"{name}*"):
                shutil.copy(path, root / "prediction")


def make_root(folder: str, name: str) -> Path:
    root = Path(folder) / name
    write(root, {f"dataset/{week}.json": records for week, records in QUESTIONS.items()})
    for path in ROOT.glob("dataset/*-sample*"):
        shutil.copy(path, root / "dataset")
    (root / "prediction").mkdir()
    return root


def checksums(root: Path) -> dict[str, str]:
    """The sha256 of each file, but for those that tell of the nights themselves.

    The checksum of a board's inputs holds the record of entries, which differs between nights.
    """
    held = contents(root)
    board = json.loads(held["leaderboard.json"])
    for name in ("inputs_sha256", "result_sha256"):
        board.pop(name)
    held["leaderboard.json"] = json.dumps(board, sort_keys=True).encode()
    files = {name: hashlib.sha256(raw).hexdigest() for name, raw in held.items()}
    of_nights = {"history.jsonl", "leaderboard.md", "leaderboard.html", "seen.jsonl"}
    return {name: digest for name, digest in files.items() if name not in of_nights}


@pytest.fixture(scope="module")
def at_once(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The results of one night over all files."""
    root = make_root(str(tmp_path_factory.mktemp("once")), "root")
    add(root, NAMES)
    assert run(root, "nightly").code == 0
    assert json.loads(contents(root)["leaderboard.json"])["pooled"]
    return checksums(root)


@settings(max_examples=5, deadline=None)
@given(order=st.permutations(NAMES), cuts=st.sets(st.integers(1, len(NAMES) - 1), max_size=3))
def test_nights_end_in_the_bytes_of_one_night(
    at_once: dict[str, str], order: list[str], cuts: set[int]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = make_root(folder, "root")
        for start, end in itertools.pairwise([0, *sorted(cuts), len(order)]):
            add(root, order[start:end])
            assert run(root, "nightly").code == 0
        assert checksums(root) == at_once
