"""Templates: data is data, whatever it looks like."""

from __future__ import annotations

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecasteval.rxnopt.output import make_statistics
from forecasteval.rxnopt.wording import code_cell, fence, fill
from rxnopt_tables import build, simple

EVIL = "{{ 7 * 7 }}{% raw %}{# x #}<b>&amp;"


def test_values_are_inserted_literally() -> None:
    made = build(simple("t", [1, 2]))._replace(unused={EVIL: 3})
    assert f"  - {EVIL}: 3\n" in make_statistics(made)


def test_a_value_that_is_missing_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError):
        fill("statistics.en.md.j2")


@given(st.lists(st.sampled_from(["`", "``", "|", "\n", "a", "# b", "\x1b"]), max_size=12).map("".join))
def test_nothing_ends_a_fence_or_a_cell(text: str) -> None:
    first, *inside, last = fence(text).split("\n")
    assert "\n".join(inside) == text
    assert first == f"{last}text"
    assert last not in text
    cell = code_cell(text)
    assert cell.count("`") == 2
    assert "\n" not in cell
    assert "|" not in cell.replace("\\|", "")
