"""Code that can be read: words stand in tables, no pattern is long, rules are named in place."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path
from typing import Final

import pytest

from cli import ROOT
from forecasteval.common.patterns import lazy

LITERAL: Final = 300  # characters of a pattern as written
COMPILED: Final = 900  # with what an f-string inserts
PATTERN: Final = re.compile(r"\(\?[:=!<P#aimsx(-]|\\[sSdDwWbBAZ]|\[\^|\]\{|\)\{[0-9]|\|.*\|")
MODULES: Final = [
    *(ROOT / "forecasteval" / "futurex").rglob("*.py"),
    *(ROOT / "forecasteval" / "common" / f"{name}.py" for name in ("markup", "patterns")),
]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_patterns_are_short(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {
        id(node.value) for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }  # fmt: skip
    literals = [
        node.value for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    ]  # fmt: skip
    assert not [text for text in literals if len(text) > LITERAL and PATTERN.search(text)]
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    values = vars(importlib.import_module(name)).values()
    nested = [part for value in values if isinstance(value, tuple) for part in value]
    deeper = [part for value in nested if isinstance(value, tuple) for part in value]
    patterns = [
        value.pattern for value in (*values, *nested, *deeper)
        if isinstance(value, (re.Pattern, type(lazy("")) if isinstance(lazy, type) else re.Pattern))
    ]  # fmt: skip
    assert not [text for text in patterns if len(text) > COMPILED]


def test_each_rule_is_named_where_it_is_decided() -> None:
    """By its number in docs/scoring.md, *How an answer is read*."""
    page = (ROOT / "docs" / "scoring.md").read_text(encoding="utf-8")
    part = page.partition("## How an answer is read")[2].partition("\n## ")[0]
    rules = set(re.findall(r"(?m)^([0-9]+)\. ", part))
    code = " ".join(" ".join(path.read_text(encoding="utf-8").split()) for path in MODULES)
    named = re.findall(r"\brules? ([0-9]+)(?:(?:, ([0-9]+))? and ([0-9]+))?", code)
    assert rules
    assert {number for numbers in named for number in numbers if number} == rules
