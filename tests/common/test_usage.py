"""What a command tells of itself: how it is called, examples, exit codes."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli import ROOT, q, write
from forecasteval.common.exit_codes import ExitCode
from forecasteval.common.usage import command_line, describe, program_name


@pytest.mark.parametrize(
    ("path", "name", "line"),
    [
        ("eval.py", "eval.py", "python eval.py"),
        ("/src/forecasteval/eval.py", "eval.py", "python eval.py"),
        ("/usr/lib/python3/site-packages/pytest/__main__.py", "eval.py", "python eval.py"),
        ("-c", "eval.py", "python eval.py"),
        ("", "eval.py", "python eval.py"),
        ("/venv/bin/forecasteval", "forecasteval", "forecasteval"),
        ("/venv/Scripts/forecasteval.exe", "forecasteval", "forecasteval"),
        ("/src/forecasteval/__main__.py", "python -m forecasteval", "python -m forecasteval"),
    ],
)
def test_how_the_program_is_called(path: str, name: str, line: str) -> None:
    assert (program_name(path), command_line(program_name(path))) == (name, line)


def test_describe() -> None:
    texts = describe("eval.py", "Does it.", "  {0} do\n  {0} do --it", "done", ExitCode.FOUND)
    assert texts["description"] == "Does it."
    assert texts["epilog"].splitlines() == [
        "examples:",
        "  python eval.py do",
        "  python eval.py do --it",
        "",
        (
            "exit codes: 0 done, 1 internal fault, 2 usage or unreadable input, 4 a check found"
            " something, 130 interrupted"
        ),
    ]


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_help_is_wrapped(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    texts = describe(
        "forecasteval",
        "",
        f"  {{0}} do   {'what it does ' * 20}",
        "done",
        ExitCode.FOUND,
        ExitCode.LOCKED,
    )
    shown = argparse.ArgumentParser(**texts).format_help()
    widths = [len(line) for line in shown.splitlines() if not line.startswith("  ")]
    assert max(widths) <= min(columns, 110)
    assert " ".join(shown.split()).count("what it does") == 20


@pytest.mark.parametrize("words", [["-f", "p"], ["-f", "nobody"], ["--help"]])
def test_as_a_module(tmp_path: Path, words: list[str]) -> None:
    """`python -m forecasteval`, from another folder, is the same command under its own name."""
    write(tmp_path, {"prediction/p.json": [q()]})
    command = [sys.executable, "-W", "error", "-m", "forecasteval", *words, "--root", str(tmp_path)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, env=env, timeout=60, check=False
    )
    if words == ["-f", "p"]:
        assert (done.returncode, done.stderr, done.stdout[:10]) == (0, "", "FutureX  p")
    elif words == ["--help"]:
        assert (done.returncode, done.stderr) == (0, "")
        assert "\n  python -m forecasteval nightly" in done.stdout
    else:
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("python -m forecasteval: ")
