"""Weigh the package: nodes of its syntax trees, and what its patterns and templates hold.

    python tools/weigh.py

Docstrings and annotations weigh nothing; a pattern weighs a node per 5 characters beside its own,
and so does what stands between the braces of a template, whose HTML weighs a node per element and
attribute. Lines of more than 100 characters are counted, which ruff allows where they have no
blank. Exit code 1 if the package weighs more than `max-weight` of `[tool.forecasteval]` in
pyproject.toml.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parent.parent
SKIPPED: Final = {"annotation", "returns", "type_comment"}
CHARACTERS: Final = 5  # of a pattern that weigh as much as a node
MAX_LINE: Final = 100
# What only the text of a pattern holds: a group with `?`, a class, a repetition, two `|`.
_PATTERN: Final = re.compile(
    r"\(\?[:=!<P#aimsx(-] | \\[sSdDwWbBAZ] | \[\^ | \]\{ | \)\{[0-9]"
    r"| \[[^\]\n]{2,}\][+*?{] | \|.*\|",
    re.VERBOSE,
)
_TEMPLATE_CODE: Final = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_TAG: Final = re.compile(r"<[a-zA-Z][^<>]*>")


class Weight(NamedTuple):
    """What was counted: nodes, characters of patterns, and nodes of templates."""

    nodes: int = 0
    characters: int = 0
    templates: int = 0

    @property
    def total(self) -> int:
        return self.nodes + self.characters // CHARACTERS + self.templates


def add(weights: list[Weight]) -> Weight:
    """Add up weights, kind by kind."""
    return Weight(*map(sum, zip(*weights, strict=True)))


def weigh_code(node: ast.AST) -> Weight:
    """Weigh a tree without docstrings and annotations."""
    text = node.value if isinstance(node, ast.Constant) else None
    weights = [Weight(1, len(text) if isinstance(text, str) and is_pattern(text) else 0)]
    for field, value in ast.iter_fields(node):
        if field in SKIPPED:
            continue
        children = value if isinstance(value, list) else [value]
        if field == "body" and children and _is_docstring(children[0]):
            children = children[1:]
        weights += [weigh_code(child) for child in children if isinstance(child, ast.AST)]
    return add(weights)


def is_pattern(text: str) -> bool:
    """Return whether a text is a pattern."""
    return len(text) > 3 and bool(_PATTERN.search(text))


def _is_docstring(node: object) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def weigh_template(text: str) -> Weight:
    """Weigh a template: what stands between its braces, its elements and attributes."""
    code = sum(map(len, _TEMPLATE_CODE.findall(text)))
    tags = _TAG.findall(_TEMPLATE_CODE.sub("", text))
    return Weight(templates=code // CHARACTERS + sum(1 + tag.count("=") for tag in tags))


def list_files(suffix: str) -> list[Path]:
    """List the files of the package, and the script."""
    scripts = [ROOT / "eval.py"] if suffix == ".py" else []
    return [*scripts, *sorted((ROOT / "forecasteval").rglob(f"*{suffix}"))]


def weigh_rooms() -> dict[str, Weight]:
    """Weigh every room: a folder or a module of the package."""
    rooms: dict[str, list[Weight]] = {}
    for path in [*list_files(".py"), *list_files(".j2")]:
        parts = path.relative_to(ROOT).parts
        text = path.read_text(encoding="utf-8")
        weight = weigh_code(ast.parse(text)) if path.suffix == ".py" else weigh_template(text)
        rooms.setdefault(parts[1] if len(parts) > 2 else parts[-1], []).append(weight)
    return {room: add(weights) for room, weights in rooms.items()}


def find_long_lines() -> list[str]:
    """Find lines of more than `MAX_LINE` characters; what quiets a linter does not count."""
    return [
        f"{path.relative_to(ROOT)}:{number}: {len(line)} characters"
        for path in list_files(".py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line.partition("  # noqa")[0].partition("  # type: ignore")[0]) > MAX_LINE
    ]


def main() -> int:
    """Print the weight of every room, and compare the sum with its limit."""
    rooms = weigh_rooms()
    total = add([*rooms.values()])
    for room, weight in [*rooms.items(), ("in all", total)]:
        nodes, characters, templates = weight
        print(
            f"{nodes:8,} nodes {characters:7,} characters of patterns "
            f"{templates:6,} templates  {room}"
        )
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    limit = settings["tool"]["forecasteval"]["max-weight"]
    print(f"{total.total:,} (at most {limit:,})")
    long = Counter(line.partition(":")[0] for line in find_long_lines())
    for path, count in long.items():
        print(f"lines of more than {MAX_LINE} characters: {path} {count}")
    return total.total > limit


if __name__ == "__main__":
    sys.exit(main())
