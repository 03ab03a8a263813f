r"""Boxes, markup, literals and objects in what a model wrote; the benchmarks' own cases go through
all of it too.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecasteval.common.markup import clean, find_object, last_boxed, parse_literal


@pytest.mark.parametrize(
    ("text", "content", "boxed"),
    [
        ("no box", "no box", False),
        (r"\boxed{}", "", True),
        (r"\boxed{A} then \boxed{ }", "A", True),
        (r"\boxed{A} and \fbox{B}", "A\nB", True),
        (r"\boxed{A}, then after some thought \boxed{B}", "B", True),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}", True),
        (r"\boxed{A", "A", True),
        ("\x08oxed{A}", "A", True),  # a JSON escape that lost its backslash
        (r"\boxed{\boxed{A}}", "A", True),
    ],
)
def test_last_boxed(text: str, content: str, boxed: bool) -> None:
    assert last_boxed(text) == (content, boxed)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("**Red**", "Red"),
        ("(B)", "B"),
        ("(A), (B)", "(A), (B)"),
        (r"$12\%$", "12%"),
        ("３４０", "340"),
        ("10⁻⁶", "10^-6"),
        ("① Red", "1. Red"),
        (r"\frac{1}{2}", "1/2"),
        ("a  \n  b   c", "a\nb c"),
        ("`x`", "x"),
    ],
)
def test_clean(text: str, plain: str) -> None:
    assert clean(text) == plain


@pytest.mark.parametrize(
    ("text", "elements"),
    [
        ("['A', \"B\"]", ("A", "B")),
        ("[1, -2.5e3]", ("1", "-2500.0")),
        (r"['\u4e07\x41\n']", ("万A\n",)),
        ("['A',]", ("A",)),
        ("[]", ()),
        ("['A' 'B']", ()),
        ("[__import__('os')]", ()),
        ("A", ()),
    ],
)
def test_parse_literal(text: str, elements: tuple[str, ...]) -> None:
    assert parse_literal(text) == elements


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('```json\n{"a": {"b": 1}}\n```', {"a": {"b": 1}}),
        ('{not} {"a": 1}', {"a": 1}),
        ('{"a": 1} {"a": 2}', None),
        ("{" * 100 + '{"a": 1}', None),  # after twenty tries it is nobody's honest reply
        ("none", None),
    ],
)
def test_find_object(text: str, found: object) -> None:
    assert find_object(text) == found


@given(st.text(st.sampled_from("\\boxed{}$*`[]'\",~①⁻² A\n"), max_size=60))
def test_nothing_raises_on_any_text(text: str) -> None:
    content, boxed = last_boxed(text)
    assert boxed or content == text.strip()
    assert clean(text) == clean(text).strip()
    assert all(isinstance(element, str) for element in parse_literal(text))
    find_object(text)
