"""Tables as text, aligned by what a terminal shows."""

from __future__ import annotations

import math
from operator import itemgetter
from typing import Any

import pytest

from forecasteval.display.tables import (
    Column,
    Heat,
    IntervalCell,
    Marked,
    Remark,
    Table,
    choose_columns,
    display_width,
    format_text,
    make_table,
)


def plain_table(
    header: list[str], rows: list[list[Any]], align: str, least: tuple[str, ...] = ()
) -> Table:
    """A table of finished cells."""
    spare = {title: len(least) - place for place, title in enumerate(least)}
    kinds = {"<": "text", ">": "number"}
    columns = [
        Column(title, itemgetter(place), kinds[side], spare=spare.get(title, 0))
        for place, (title, side) in enumerate(zip(header, align, strict=True))
    ]
    return make_table(columns, rows)


def test_table_is_aligned_with_chinese() -> None:
    rows = [["甲乙丙", "1", "x"], ["ab", "22.5", "长名"], ["ｗ", "", "e\u0301"]]
    assert format_text([plain_table(["名称", "n", "备"], rows, "<>>")]).splitlines() == [
        "名称       n    备",
        "甲乙丙     1     x",
        "ab      22.5  长名",
        "ｗ               e\u0301",
    ]


def test_table_without_rows_and_without_spaces_at_the_end() -> None:
    assert format_text([plain_table(["a", "bb"], [], "<>")]) == "a  bb"
    assert (
        format_text([plain_table(["a", "b"], [["xxx", "yyy"], ["x", "y"]], "<<")])
        == "a    b\nxxx  yyy\nx    y"
    )


@pytest.mark.parametrize(
    ("width", "shown"),
    [(math.inf, "a b c d"), (80, "a b c d"), (29, "a b c"), (20, "a c"), (1, "a c")],
)
def test_columns_without_room_go_the_least_important_first_and_are_named(
    width: float, shown: str
) -> None:
    table = plain_table(
        ["a", "b", "c", "d"], [["x" * 8, "长" * 4, "z" * 8, "w" * 8]], "<<><", ("d", "b")
    )
    lines = format_text([table], width).split("\n")
    assert lines[0].split() == shown.split()
    dropped = [title for title in "db" if title not in shown]
    hidden = [f"Columns hidden on this terminal: {', '.join(dropped)}"] if dropped else []
    assert " ".join(lines[2:]) == "".join(hidden)
    assert width == 1 or max(map(display_width, lines[:2])) <= min(width, 99)


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (math.inf, ["id  gap  n  why", f"a   –    1  {'长' * 30}"]),
        (
            60,
            [
                "id  n  why",
                f"a   1  {'长' * 13}…{'长' * 13}",
                "Columns hidden on this terminal: gap",
            ],
        ),
        (
            36,
            ["id  why", f"a   {'长' * 8}…{'长' * 7}", "Columns hidden on this terminal:", "gap, n"],
        ),
    ],
)
def test_columns_without_a_value_go_first_and_a_last_text_is_cut(
    width: float, shown: list[str]
) -> None:
    table = plain_table(["id", "gap", "n", "why"], [["a", "–", "1", "长" * 30]], "<<><", ("n",))
    assert format_text([table], width).split("\n") == shown


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (80, ["name" + " " * 38 + "n  m", "a" * 20 + "z" * 20 + "  1  2"]),
        (40, ["name" + " " * 32 + "n  m", "a" * 17 + "…" + "z" * 16 + "  1  2"]),
        (
            29,
            [
                "name" + " " * 24 + "m",
                "a" * 13 + "…" + "z" * 12 + "  2",
                "Columns hidden on this",
                "terminal: n",
            ],
        ),
    ],
)
def test_a_long_name_is_cut_in_its_middle_before_columns_go(width: float, shown: list[str]) -> None:
    table = plain_table(["name", "n", "m"], [["a" * 20 + "z" * 20, "1", "2"]], "<>>", ("n",))
    assert format_text([table], width).split("\n") == shown


def test_what_explains_a_column_goes_with_it() -> None:
    table = plain_table(["name", "n", "m"], [["x" * 20, "1", "2"]], "<>>", ("n",))
    report = [table, Remark.on("n", "n: how many"), Remark.on("m", "m: how much"), "end"]
    assert format_text(report, 80).split("\n")[2:] == ["n: how many", "m: how much", "end"]
    narrow = ["Columns hidden on this", "terminal: n", "m: how much", "end"]
    assert format_text(report, 24).split("\n")[2:] == narrow
    chosen = choose_columns(report, ["name", "n"])
    assert format_text(chosen, 80).split("\n")[2:] == ["n: how many", "end"]


def test_marks_are_left_out_of_text_and_other_cells_are_their_text() -> None:
    columns = [
        Column("page", lambda row: Marked("", row["name"], "")),
        Column("drawn", lambda row: IntervalCell(row["n"]), "mark"),
        Column("n", lambda row: Heat(row["n"]), "number"),
    ]
    table = make_table(columns, [{"name": "<a>", "n": 2.0}, {"name": "b", "n": None}])
    assert format_text([table]) == "page       n\n<a>   2.0000\nb          –"
