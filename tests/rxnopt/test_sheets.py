"""Sheets: text and workbooks as rows, or one line that says where they are broken."""

from __future__ import annotations

import datetime
import io
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli import import_extra
from forecasteval.common.errors import InputError
from forecasteval.rxnopt import sheets
from forecasteval.rxnopt.sheets import UNSAVED, Sheet, read_sheet
from rxnopt_tables import write

openpyxl = import_extra("openpyxl")


def cells(sheet: Sheet) -> list[dict[str, str]]:
    return [row.cells for row in sheet.rows]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,a\n1,2\n", ": line 1: the column a occurs twice"),
        ("a,b\n1,2,3\n", ": line 2: expected 2 cells, got 3"),
        ("a,b\n", ": expected a header and rows, got none"),
        ("", ": expected a header and rows, got none"),
        ('a,b\n"1"x,2\n', ": line 2: not CSV: ',' expected after '\"'"),
        (
            "a,y,,\n1,2,x,\n",
            ": line 2, column 3: expected a name above it, got a cell without one: x",
        ),
        ('a,y\n"""",2\n', ": line 2, column a: expected a cell above the ditto mark, got none"),
        ("a,y\n\n1\n", ": line 3: expected 2 cells, got 1"),
        ('a,y\n\n"1"x,2\n', ": line 3: not CSV: ',' expected after '\"'"),
        ("a\0b\n1,2", ": not UTF-8: byte 0x00 at position 1, got another kind of file"),
    ],
)
def test_bad_sheets(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path / "t.csv", text)
    with pytest.raises(InputError) as caught:
        read_sheet(path)
    assert str(caught.value) == f"{path}{message}"


@pytest.mark.parametrize(
    "text",
    ["a,y,,\n1,2,,\n", "\n\n,a,y\n,1,2\n", "a,y\n1,2\n\n , \n,,,\n", "a;y\n1;2\n", "a\ty\n1\t2\n"],
)
def test_blank_rows_and_columns_and_delimiters(tmp_path: Path, text: str) -> None:
    sheet = read_sheet(write(tmp_path / "t.csv", text))
    assert (sheet.header, cells(sheet), sheet.notes) == (["a", "y"], [{"a": "1", "y": "2"}], [])


def test_an_index_without_a_name_keeps_its_cells(tmp_path: Path) -> None:
    sheet = read_sheet(write(tmp_path / "t.csv", ",a\n0,x\n1,y\n"))
    assert sheet.header == ["(unnamed)", "a"]
    assert [row["(unnamed)"] for row in cells(sheet)] == ["0", "1"]


def test_decimal_commas_only_where_all_numbers_have_them(tmp_path: Path) -> None:
    text = "solvent;yield\n1,4-dioxane;87,5\nTHF;88,5 (82,25)\nDMF;90\n"
    sheet = read_sheet(write(tmp_path / "t.csv", text))
    assert [row["yield"] for row in cells(sheet)] == ["87.5", "88.5 (82.25)", "90"]
    assert cells(sheet)[0]["solvent"] == "1,4-dioxane"
    assert sheet.notes == ["decimal commas are read as points"]
    points = read_sheet(write(tmp_path / "u.csv", text.replace("90", "90.5")))
    assert [row["yield"] for row in cells(points)] == ["87,5", "88,5 (82,25)", "90.5"]
    assert cells(read_sheet(write(tmp_path / "v.csv", 'a,y\n"1,5",2\n'))) == [
        {"a": "1,5", "y": "2"}
    ]


def test_a_title_above_the_header(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "Table 1\n\na,y\n1,2\n")
    sheet = read_sheet(path, columns=["y"])
    assert (cells(sheet), sheet.notes) == (
        [{"a": "1", "y": "2"}],
        ["above the header, not read: 1 (line 1)"],
    )
    assert read_sheet(path).header == ["a", "y"]
    with pytest.raises(InputError, match="no column z, got Table 1"):
        read_sheet(path, columns=["z"])


@pytest.mark.parametrize("mark", ['""""', "“", '"-""-"', "″", "〃", "do.", "同上"])
def test_ditto_marks_repeat_the_value_above(tmp_path: Path, mark: str) -> None:
    text = f"a,b,y\nK,x,1\n{mark},z,2\n\n{mark},{mark},3\n"
    sheet = read_sheet(write(tmp_path / "t.csv", text))
    assert [row["a"] for row in cells(sheet) if row["y"]] == ["K", "K", "K"]
    assert cells(sheet)[-1]["b"] == "z"
    assert sheet.notes == ["ditto marks that repeat the cell above: 3 (a, b)"]


def test_text_that_is_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("T °C,y\n80 °C,1\n".encode("cp1252"))
    assert cells(read_sheet(path)) == [{"T °C": "80 °C", "y": "1"}]
    assert read_sheet(path).notes == ["the file is not UTF-8 and is read as cp1252"]
    path.write_bytes("配体,收率\n三苯基膦,50\n".encode("gbk"))  # what Excel writes in China
    assert cells(read_sheet(path)) == [{"配体": "三苯基膦", "收率": "50"}]
    assert read_sheet(path).notes == ["the file is not UTF-8 and is read as GBK"]
    path.write_bytes(b"a,y\n\x81,1\n")
    with pytest.raises(InputError, match="not UTF-8: byte 0x81 at position 4"):
        read_sheet(path)


def save(path: Path, rows: list[list[object]], book: Any = None) -> Any:
    book = book or openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return book


@pytest.mark.extra("openpyxl")
def test_a_workbook_is_read_as_it_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    ratio = datetime.timedelta(hours=95, minutes=5)
    book = save(
        path,
        [
            ["base", "y", "dr", "er"],
            ["K", 0.95, datetime.time(3, 1), ratio],
            [None, 80.0, "x", None],
        ],
    )
    book.active["B2"].number_format = "0.0%"
    book.active.merge_cells("A2:A3")
    book.create_sheet("notes").append(["a", "b"])
    book["notes"].append([1, 2])
    book.save(path)
    sheet = read_sheet(path)
    assert cells(sheet) == [
        {"base": "K", "y": "95%", "dr": "3:01", "er": "95:05"},
        {"base": "K", "y": "80", "dr": "x", "er": ""},
    ]  # fmt: skip
    assert sheet.notes == ["the first of 2 sheets is read: Sheet"]
    assert cells(read_sheet(path, "notes")) == [{"a": "1", "b": "2"}]
    with pytest.raises(InputError, match="no sheet other, got Sheet, notes"):
        read_sheet(path, "other")


@pytest.mark.extra("openpyxl")
def test_the_other_sheets_are_named(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    book = save(path, [["Read me"], ["first"]])
    for title, rows in (
        ("screen 1", [["base", "y"], ["K", 5]]),
        ("key", [["only one column"], ["x"]]),
    ):
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)
    with pytest.raises(InputError) as caught:
        read_sheet(path, columns=["y"])
    assert (
        str(caught.value)
        == f"{path}: sheet Sheet (--sheet: Sheet, screen 1, key): no column y, got Read me"
    )
    assert cells(read_sheet(path, "screen 1", ["y"])) == [{"base": "K", "y": "5"}]


@pytest.mark.extra("openpyxl")
def test_formulas_without_a_stored_value_are_named(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    save(path, [["base", "y"], ["K", "=80+1"], ["Na", 5]])
    assert cells(read_sheet(path)) == [{"base": "K", "y": f"{UNSAVED}B2"}, {"base": "Na", "y": "5"}]


def test_a_workbook_needs_openpyxl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.xlsx").touch()
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(InputError, match="needs openpyxl: pip install openpyxl, or save"):
        read_sheet(tmp_path / "t.xlsx")


@pytest.mark.extra("openpyxl")
def test_broken_and_enormous_workbooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.xlsx"
    for raw in (
        b"",
        b"PK\x03\x04",
        b"a,b\n1,2\n",
        zip_of({"xl/workbook.xml": "<"}),
        zip_of({"[Content_Types].xml": "<a/>"}),
    ):
        path.write_bytes(raw)
        with pytest.raises(InputError, match=r"not a workbook \(.xlsx\)"):
            read_sheet(path)
    book = save(path, [["a", "b"], [1, 2]])
    book.active["XFD1048576"] = 1  # 17 billion cells, of which one holds something
    book.save(path)
    with pytest.raises(InputError, match="expected at most 5,000,000 cells"):
        read_sheet(path)
    monkeypatch.setattr(sheets, "MOST_BYTES", 1 << 10)
    with pytest.raises(InputError, match="MB, unpacked"):
        read_sheet(path)


def zip_of(files: dict[str, str]) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return raw.getvalue()


@settings(max_examples=100)
@given(
    st.binary(max_size=60) | st.text(max_size=60).map(str.encode),
    st.sampled_from([".csv", ".xlsx"]),
)
def test_no_bytes_break_the_reader(
    tmp_path_factory: pytest.TempPathFactory, raw: bytes, suffix: str
) -> None:
    path = tmp_path_factory.getbasetemp() / f"any{suffix}"
    path.write_bytes(raw)
    try:
        sheet = read_sheet(path)
    except InputError as error:
        assert str(error).startswith(str(path))  # noqa: PT017 - being refused is one of two good ends
    else:
        assert all(list(row) == sheet.header for row in cells(sheet))
