"""What is made again after an edit of the code: what depends on the edited file, no more."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from cli import ROOT

MORE: Final = "dataset/multiple_choice_all_varying.json"
FILES: Final = (
    "250915-random.json",
    "multiple_choice_all_varying-random.json",
)  # of two benchmarks
RESULTS: Final = {"250915-random.json", "multiple_choice_all_varying-random.json"}
PAGES: Final = {"250915-random.html", "multiple_choice_all_varying-random.html", "leaderboard.html"}
BOARD: Final = {"leaderboard.json"}


@pytest.fixture(scope="module")
def first_night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the program with predictions of two benchmarks, after its first night."""
    root = tmp_path_factory.mktemp("checkout")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "forecasteval", root / "forecasteval", ignore=ignored)
    for file in ("eval.py", "pyproject.toml", "dataset/250915.json", MORE):
        (root / file).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / file, root / file)
    (root / "prediction").mkdir()
    for file in FILES:
        shutil.copy(ROOT / "prediction" / file, root / "prediction")
    assert run_copy(root) == "2 files scored, 0 unchanged, 0 failed"
    return root


def run_copy(root: Path) -> str:
    command = [sys.executable, "-B", str(root / "eval.py"), "nightly", "--html"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


def stamps(root: Path) -> dict[str, int]:
    return {
        path.name: path.stat().st_mtime_ns
        for path in (root / "evaluation").iterdir()
        if path.suffix in (".json", ".html", ".jsonl")
    }


@pytest.mark.parametrize(
    ("name", "again", "history"),
    [
        ("eval.py", set(), False),
        ("forecasteval/nightly/run.py", set(), False),
        ("forecasteval/rxnopt/build/templates/report.md.j2", set(), False),
        ("forecasteval/ranking/significance.py", BOARD | {"leaderboard.html"}, False),
        ("forecasteval/display/templates/page.css", PAGES, False),
        ("forecasteval/boards/tables.py", PAGES, False),
        (
            "forecasteval/futurex/reading/numbers.py",
            BOARD | {"250915-random.json", "250915-random.html", "leaderboard.html"},
            True,
        ),
        ("forecasteval/common/errors.py", BOARD | RESULTS | PAGES, True),
    ],
)
def test_an_edit_makes_again_what_depends_on_it(
    first_night: Path, tmp_path: Path, name: str, again: set[str], history: bool
) -> None:
    root = shutil.copytree(first_night, tmp_path / "checkout")
    before, lines = stamps(root), (root / "evaluation/history.jsonl").read_bytes()
    contents = {file: (root / "evaluation" / file).read_bytes() for file in RESULTS}
    with (root / name).open("a", encoding="utf-8") as file:
        file.write("\n")
    run_copy(root)
    after = stamps(root)
    written = {file for file in after if after[file] != before[file]} - {"history.jsonl"}
    same = {file for file in RESULTS if (root / "evaluation" / file).read_bytes() == contents[file]}
    # A page is made by scoring its file again: its result comes out byte for byte.
    assert written - same == again - same
    assert again - RESULTS <= written
    assert ((root / "evaluation/history.jsonl").read_bytes() != lines) == history
