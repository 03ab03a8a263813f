"""Texts of strangers in cells, parts of them marked, tables that are cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli import RAW_CONTROL
from forecasteval.common.pages import CUT, MOST, Marked, cut_table, mark, show_text
from forecasteval.common.report import Table


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\n\n \n b\tc", "a\n b c"),
        ("\x1b[31m\u202e", "\\x1b[31m\\u202e"),
        ("x" * 400, "x" * (CUT - 1) + "…"),
        ("\ud800", "\\ud800"),
    ],
)  # fmt: skip
def test_show_text(text: str, shown: str) -> None:
    assert show_text(text) == shown


@given(st.text(max_size=900), st.integers(0, 899), st.integers(1, 50))
def test_a_marked_part_is_the_part(text: str, at: int, size: int) -> None:
    part = text[at : at + size]
    cell = mark(text, part, at if part else -1)
    if part:
        assert isinstance(cell, Marked)
        assert cell.marked == show_text(part)
    whole = cell if isinstance(cell, str) else cell.before + cell.marked + cell.after
    assert not RAW_CONTROL.search(whole.replace("\n", ""))
    assert len(whole) <= 12 * (CUT + 52)  # escapes are longer than what they stand for


def test_what_stands_around_is_cut_not_the_part() -> None:
    cell = mark("a" * 500 + "Yes" + "b" * 500, "Yes", 500)
    assert isinstance(cell, Marked)
    assert (cell.before[:2], cell.marked, cell.after[-1]) == ("…a", "Yes", "…")
    assert len("".join(cell)) <= CUT + 2


def test_cut_table() -> None:
    table = Table(["a"], [[str(n)] for n in range(MOST + 1)], "<")
    assert cut_table(table._replace(rows=table.rows[:-1])) == [table._replace(rows=table.rows[:-1])]
    cut, told = cut_table(table)
    assert isinstance(cut, Table)
    assert len(cut.rows) == MOST
    assert told == f"The first {MOST} of {MOST + 1} rows."
