"""A new board: what `init` writes is scored, checked and shown, and no file is replaced."""

from __future__ import annotations

from pathlib import Path

from cli import run
from forecasteval.nightly.starter import make_board


def test_an_empty_folder_becomes_a_board(tmp_path: Path) -> None:
    made = run(tmp_path, "init", str(tmp_path))
    assert made.code == 0
    assert "wrote .github/workflows/leaderboard.yml" in made.out
    night = run(tmp_path, "nightly", "--html")
    assert night.code == 0
    assert "the record of entries begins tonight" in night.err
    assert "Careful sample" in night.out
    assert "8 of 9 resolved" in night.out
    assert (tmp_path / "evaluation/leaderboard.html").is_file()
    assert run(tmp_path, "check").err == ""


def test_a_second_init_changes_nothing(tmp_path: Path) -> None:
    make_board(tmp_path, with_samples=True)
    own = tmp_path / "prediction/systems.json"
    own.write_text("{}")
    written, found = make_board(tmp_path, with_samples=True)
    assert written == []
    assert "prediction/systems.json" in found
    assert own.read_text() == "{}"


def test_without_samples_a_night_waits_for_files(tmp_path: Path) -> None:
    assert run(tmp_path, "init", "--no-samples", str(tmp_path)).code == 0
    assert not list((tmp_path / "dataset").iterdir())
    night = run(tmp_path, "nightly")
    assert night.code in (0, 2)
    assert "Traceback" not in night.err


def test_a_folder_without_a_board_names_init(tmp_path: Path) -> None:
    done = run(tmp_path, "-f", "250915-x")
    assert done.code == 2
    assert "the command init makes one" in done.err
