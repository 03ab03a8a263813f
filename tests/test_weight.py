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


def test_the_package_is_not_heavier_than_its_limit(capsys: pytest.CaptureFixture[str]) -> None:
    assert weigh.main() == 0, capsys.readouterr().out


def test_no_line_is_longer_than_100_characters() -> None:
    assert weigh.find_long_lines() == []
