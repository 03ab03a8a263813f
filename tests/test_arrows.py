"""What import-linter cannot hold, as `eval` is no package: the package does not import the command line."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli import ROOT


def imported(code: str) -> Iterator[str]:
    """The modules that a text of code imports, also within functions; relative ones stay in the package."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield str(node.module)


@pytest.mark.parametrize(
    "code", ["import eval", "import os, eval", "def f():\n    from eval import main", "import eval as e"]
)
def test_an_import_is_seen(code: str) -> None:
    assert "eval" in imported(code)


def test_nothing_in_the_package_imports_eval() -> None:
    """But what `python -m forecasteval` runs, which nobody imports."""
    modules = sorted((ROOT / "forecasteval").rglob("*.py"))
    assert len(modules) > 60
    importing = [path.relative_to(ROOT) for path in modules if "eval" in imported(path.read_text(encoding="utf-8"))]
    assert importing == [Path("forecasteval/__main__.py")]
