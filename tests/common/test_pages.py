"""Texts of strangers in cells, parts of them marked, tables that are cut."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli import RAW_CONTROL
from forecasteval.common.pages import BYTES, CELLS, CUT, MOST, Marked, choose_rows, cut_table, fitting, mark, show_text
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
    cell = mark(text, (at, at + len(part)) if part else None)
    if part:
        assert isinstance(cell, Marked)
        assert cell.marked == show_text(part)
    whole = cell if isinstance(cell, str) else cell.before + cell.marked + cell.after
    assert not RAW_CONTROL.search(whole.replace("\n", ""))
    assert len(whole) <= 12 * (CUT + 52)  # escapes are longer than what they stand for


def test_what_stands_around_is_cut_not_the_part() -> None:
    cell = mark("a" * 500 + "Yes" + "b" * 500, (500, 503))
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
    wide = Table(["a"] * 100, [["x"] * 100] * 300, "<" * 100)
    assert [len(block.rows) for block in cut_table(wide) if isinstance(block, Table)] == [CELLS // 100]


def test_rows_are_as_many_as_a_page_has_room_for() -> None:
    rows = [["\u202e" * 400, "&" * 400, "长" * 400]] * MOST
    shown = fitting(rows)
    assert len(fitting([["x"]] * (MOST + 1))) == MOST
    assert 0 < len(shown) < MOST
    assert sum(len(html.escape(cell).encode()) for row in shown for cell in row) <= BYTES
    assert len(fitting(rows, 10)) <= 10 * len(shown) / MOST + 1


def test_the_most_instructive_rows_are_chosen_in_their_order() -> None:
    items = [{"n": n} for n in range(MOST + 100)]
    rows = choose_rows(iter_only(items), lambda item: -item["n"], lambda item: [str(item["n"])])
    assert [row[0] for row in rows] == [str(n) for n in range(100, MOST + 100)]
    large = choose_rows(items, lambda item: item["n"] % 7, lambda item: ["长" * 700, str(item["n"])])
    assert 0 < len(large) < MOST
    assert {int(row[1]) % 7 for row in large} == {0, 1, 2, 3}
    assert [int(row[1]) for row in large] == sorted(int(row[1]) for row in large)


def iter_only(items: list[dict[str, int]]) -> Any:
    """Items that can be read through only, as those on the disk."""

    class Through:
        def __iter__(self) -> Iterator[dict[str, int]]:
            return iter(items)

    return Through()
