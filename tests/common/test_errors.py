"""Errors of one printable line, and what of a stranger's text may reach a terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli import ROOT, q, write
from forecasteval.common.errors import UNSAFE, EvaluationError, InputError, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain 甲 é 😀", "plain 甲 é 😀"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\nb\tc\r\x00", "a\\nb\\tc\\r\\x00"),
        ("\x7f\x9b\x85", "\\x7f\\x9b\\x85"),
        ("\u202e\u2066\u2028\u200b\ufeff", "\\u202e\\u2066\\u2028\\u200b\\ufeff"),
        ("\ud800", "\\ud800"),
        (None, "None"),
        (["\x1b"], "['\\x1b']"),
    ],
)
def test_printable(text: object, shown: str) -> None:
    assert printable(text) == shown


@given(st.text(st.characters(), max_size=30), st.integers(2, 20))
def test_printable_is_one_safe_line_for_any_text(text: str, limit: int) -> None:
    shown = printable(text)
    shown.encode("utf-8")
    assert len((shown + "x").splitlines()) == 1
    assert not UNSAFE.search(shown)
    if len(text) > limit:
        assert printable(text, limit) == printable(text[: limit - 1]) + "…"
    else:
        assert printable(text, limit) == shown


def test_input_error_is_one_safe_line() -> None:
    error = InputError("p\n.json", "expected \x1b", "'\u202e'")
    assert str(error) == "p\\n.json: expected \\x1b, got '\\u202e'"
    assert (error.where, error.expected, error.got) == ("p\n.json", "expected \x1b", "'\u202e'")
    assert isinstance(error, EvaluationError)


# --- Streams that are closed ---


@pytest.mark.skipif(os.name != "posix", reason="a shell's way to close streams")
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams(tmp_path: Path, closed: str) -> None:
    """No traceback, and what would be printed gets into no file that is opened later."""
    write(tmp_path, {"prediction/a.json": [q()], "prediction/bad.json": "{"})
    command = f'exec "$0" "$1" nightly --root "$2" {closed}'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable, str(ROOT / "eval.py"), str(tmp_path)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    assert (done.stdout == "") == (">&-" in closed.replace("2>&-", ""))
    for path in filter(Path.is_file, (tmp_path / "evaluation").rglob("*")):
        assert b"files scored" not in path.read_bytes()
        assert b"eval.py:" not in path.read_bytes()


def test_an_error_of_a_file_is_not_blamed_on_the_output(tmp_path: Path) -> None:
    """Nor is it a traceback: a name of 5,000 characters, say."""
    code = f"""
from forecasteval.common.errors import run_command
run = lambda: open({str(tmp_path)!r} + "/" + "x" * 5000)
raise SystemExit(run_command("eval.py", run))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"eval.py: {tmp_path}/xxx")
    assert done.stderr.endswith(": cannot be used: File name too long\n")
    assert len(done.stderr) < 300
