"""The measure of the package: what it counts, its limit, and lines that ruff lets pass."""

from __future__ import annotations

import ast

import pytest

import weigh


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"(?i)yes", True), (r"\s+x", True), ("a|b|c", True), ("[abc]+d", True), ("(ab){2}", True),
        ("[^,]*x", True),
        ("a sentence, with (brackets) and [more]", False), ("{name}: {value}", False),
    ],
)  # fmt: skip
def test_what_is_a_pattern(text: str, expected: bool) -> None:
    assert weigh.is_pattern(text) == expected


def test_patterns_weigh_and_docstrings_do_not() -> None:
    def total(text: str) -> int:
        return weigh.weigh_code(ast.parse(text)).total

    plain = total("x = 'a sentence'")
    assert total(f"x = {'(?:a)' * 20!r}") == plain + 20
    assert total("def f():\n    return 1") == total("def f() -> int:\n    'Say.'\n    return 1")
    assert weigh.weigh_template("<p class='x'>{{ name }}{% if a %}b{% endif %}</p>").total == 2 + 6


def test_a_name_for_an_intermediate_value_weighs_nothing() -> None:
    def total(text: str) -> int:
        return weigh.weigh_code(ast.parse(text)).total

    # A name that is read weighs a node, as the value in its place would at least.
    assert total("middle = (low + high) / 2\nf(middle)") == total("f((low + high) / 2)") + 1
    assert total("x.y = 1") > total("y = 1")
    assert total("a, b = c") > total("a = c")


@pytest.mark.parametrize(
    ("text", "statements", "nodes"),
    [
        # Of a block the first line: `if`, its name and context; then `pass`.
        ("def f(a):\n    'Say.'\n    if a:\n        pass", 2, 4),
        ("TABLE = {1: 2, 3: 4}\nimport os\nclass A:\n    'Say.'", 0, 0),
        ("def f(a):\n    return [\n        a,\n        1,\n    ]", 1, 6),
    ],
)
def test_density_counts_statements(text: str, statements: int, nodes: int) -> None:
    density = weigh.measure_density(text)
    assert (density.statements, density.statement_nodes) == (statements, nodes)


def test_density_counts_comments_and_ternaries() -> None:
    density = weigh.measure_density(
        "# --- Rules ---\n# Why.\n\nx = 1  # aside\ny = 1 if x else 2 if z else 3\n"
    )
    assert (density.code_lines, density.comment_lines) == (2, 1)
    assert (density.ternaries, density.nested_ternaries) == (2, 1)


def test_a_room_without_limits_or_above_them_is_named() -> None:
    dense = weigh.measure_density("f(a if b else c)\ng(a if b else c if d else e)\n")
    limits = {"old": {"statement": 5, "heavy": 0, "ternaries": 10}}
    problems = weigh.find_broken_limits({"old": dense, "new": weigh.Density()}, limits)
    assert [problem.split()[:2] for problem in problems] == [
        ["old:", "1"], ["old:", "statement"], ["old:", "ternaries"], ["new:", "has"],
    ]  # fmt: skip


def test_the_package_is_not_heavier_than_its_limit(capsys: pytest.CaptureFixture[str]) -> None:
    assert weigh.main() == 0, capsys.readouterr().err


def test_no_line_is_longer_than_100_characters() -> None:
    assert weigh.find_long_lines() == []
