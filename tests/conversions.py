"""Runs of `convert` in this process."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

from cli import RAW_CONTROL, Done, read_json
from forecasteval.common.errors import run_command
from forecasteval.convert import commands


def convert(*args: object) -> Done:
    """One command as `eval.py` calls it."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = run_command("eval.py", lambda: commands.run([*map(str, args)], "eval.py"))
        except SystemExit as error:  # argparse: help, version, or options that are none
            code = int(error.code or 0)
    done = Done(code, out.getvalue(), err.getvalue())
    assert not RAW_CONTROL.search(done.out + done.err)
    return done


def converted(folder: Path, *sources: object) -> dict[str, Any]:
    """What `convert -o folder/new/x.json` writes, by the names of the files."""
    done = convert(*sources, "-o", folder / "new" / "x.json")
    assert done.code == 0, done.err
    return {path.name: read_json(path) for path in sorted((folder / "new").iterdir())}
