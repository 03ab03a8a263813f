"""Texts of strangers in cells, parts of them marked, tables that are cut."""

from __future__ import annotations

import html
import json
import re
import urllib.parse
from operator import itemgetter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli import RAW_CONTROL, ROOT
from forecasteval.display.pages import (
    BYTES,
    CUT,
    MAX_SHOWN,
    TEXT,
    make_keys,
    mark,
    show_text,
    text_limit,
)
from forecasteval.display.run_page import draw_marks
from forecasteval.display.tables import Column, IntervalCell, Marked, make_table
from make_screenshots import PICTURES, make_pages, read_numbers


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\n\n \n b\tc", "a\n\n b c"),
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
    assert len(whole) <= 18 * (CUT + 52)  # escapes are longer than what they stand for


def test_what_stands_around_is_cut_not_the_part() -> None:
    cell = mark("a" * 500 + "Yes" + "b" * 500, (500, 503))
    assert isinstance(cell, Marked)
    assert (cell.before[:2], cell.marked, cell.after[-1]) == ("…a", "Yes", "…")
    assert len("".join(cell)) <= 1.5 * CUT + 5


def test_texts_are_cut_so_that_they_fit_a_page() -> None:
    assert text_limit(["short"] * MAX_SHOWN) == TEXT
    texts = ["\u202e" * 4000, "&" * 4000, "长" * 4000] * 1000
    limit = text_limit(texts)
    assert CUT <= limit < 2 * BYTES / len(texts)
    assert sum(len(html.escape(text[: limit // 6]).encode()) for text in texts) <= BYTES


def test_addresses_are_whole() -> None:
    ids = ["6873e6a7b3ade716ed3b2a82", "6873e6a7b3ade716ed3b2a83", "<b>", None, "a b", "a&b=c#d"]
    ids += ["6.85147E+23", "第6名", "a-2", "\ud800", "x" * 99_999]
    keys = make_keys(ids)
    assert keys[:2] == ["q-6873e6a7b3ade716ed3b2a82", "q-6873e6a7b3ade716ed3b2a83"]
    assert [urllib.parse.unquote(key, errors="surrogatepass")[2:] for key in keys[:-1]] == [
        str(name) for name in ids[:-1]
    ]
    assert len({*keys}) == len(keys)
    assert max(map(len, keys)) < 100
    assert not re.search("[^!-~]|[&=#\"'<>]", "".join(keys))  # & and = part what else is chosen


def test_an_address_does_not_depend_on_others() -> None:
    assert make_keys(["a", "a", "a-2", "b"]) == ["q-a", "q-a:2", "q-a-2", "q-b"]
    for name in ("a-2", "b", "6873e6a7b3ad"):
        assert make_keys([name]) == make_keys(["6873e6a7b3ae", "a", "a", name])[3:]


def test_pictures_of_the_docs_show_the_names_and_numbers_of_today(tmp_path: Path) -> None:
    """If they do not: `python tools/make_screenshots.py`."""
    make_pages(tmp_path)
    for picture, address in PICTURES.items():
        png = (ROOT / f"docs/{picture}.png").read_bytes()
        begin = png.index(b"tEXtnumbers\0")
        size = int.from_bytes(png[begin - 4 : begin])
        numbers = json.loads(png[begin + len(b"tEXtnumbers\0") : begin + 4 + size])
        assert numbers == read_numbers(tmp_path / address.partition("#")[0]), picture
        assert len(numbers) > 5


def test_rows_are_drawn_in_the_order_of_the_table() -> None:
    """Also where one further down has a filled dot."""
    columns = [Column("Name", itemgetter(0)), Column("score", itemgetter(1), kind="mark")]
    rows = [("first", IntervalCell(0.2)), ("total", IntervalCell(0.4, None, None, "a"))]
    page = str(draw_marks(make_table(columns, rows)))
    assert page.index("first") < page.index("total")
