"""What import-linter cannot hold, as `eval` is no package: the package does not import the command
line.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli import ROOT


def imported(code: str) -> Iterator[str]:
    """The modules that a text of code imports, also within functions; relative ones stay in the
    package.
    """
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield str(node.module)


@pytest.mark.parametrize(
    "code",
    ["import eval", "import os, eval", "def f():\n    from eval import main", "import eval as e"],
)
def test_an_import_is_seen(code: str) -> None:
    assert "eval" in imported(code)


def test_nothing_in_the_package_imports_eval() -> None:
    modules = sorted((ROOT / "forecasteval").rglob("*.py"))
    assert len(modules) > 60
    assert not [path for path in modules if "eval" in imported(path.read_text(encoding="utf-8"))]


def test_a_folder_with_another_eval_py(tmp_path: Path) -> None:
    """`python -m` puts the current folder first on the path, so that by its name that file would
    run.
    """
    (tmp_path / "eval.py").write_text("raise SystemExit('another program')")
    command = [sys.executable, "-m", "forecasteval", "-f", "250915-random", "--root", str(ROOT)]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("FutureX  250915-random")
