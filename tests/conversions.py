"""Runs of `convert` in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cli import Done, read_json, run_wing
from forecasteval.convert import commands


def convert(*args: object) -> Done:
    """One command as `eval.py` calls it."""
    return run_wing(commands.run, *args)


def converted(folder: Path, *sources: object) -> dict[str, Any]:
    """What `convert -o folder/new/x.json` writes, by the names of the files."""
    done = convert(*sources, "-o", folder / "new" / "x.json")
    assert done.code == 0, done.err
    return {path.name: read_json(path) for path in sorted((folder / "new").iterdir())}
