"""Weighs the package in nodes of its syntax trees, which do not depend on how wide lines are.

    python tools/weigh.py

Docstrings and annotations weigh nothing. Exit code 1 if the package weighs more than `max-nodes` of
`[tool.forecasteval]` in pyproject.toml.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
SKIPPED: Final = {"annotation", "returns", "type_comment"}


def count_nodes(node: ast.AST) -> int:
    """Count the nodes of a tree without docstrings and annotations."""
    count = 1
    for field, value in ast.iter_fields(node):
        if field in SKIPPED:
            continue
        children = value if isinstance(value, list) else [value]
        if field == "body" and children and _is_docstring(children[0]):
            children = children[1:]
        count += sum(count_nodes(child) for child in children if isinstance(child, ast.AST))
    return count


def _is_docstring(node: object) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def main() -> int:
    """Print the weight of every room, and compare the sum with its limit."""
    weights: Counter[str] = Counter()
    for path in [ROOT / "eval.py", *sorted((ROOT / "forecasteval").rglob("*.py"))]:
        parts = path.relative_to(ROOT).parts
        room = parts[1] if len(parts) > 2 else parts[-1]
        weights[room] += count_nodes(ast.parse(path.read_text(encoding="utf-8")))
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    limit = settings["tool"]["forecasteval"]["max-nodes"]
    for room, weight in weights.items():
        print(f"{weight:8,} {room}")
    total = weights.total()
    print(f"{total:8,} in all (at most {limit:,})")
    return total > limit


if __name__ == "__main__":
    sys.exit(main())
