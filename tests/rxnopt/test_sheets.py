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
from forecasteval.rxnopt.build.sheets import Sheet, read_sheet
from rxnopt_tables import write

openpyxl = import_extra("openpyxl")


def cells(sheet: Sheet) -> list[dict[str, str]]:
    return [row.cells for row in sheet.rows]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a,a\n1,2\n",
            ": line 1: expected a name of its own for each column: rename one, got a, a",
        ),
        (
            "a,b\n1,2,3\n",
            ": line 2: expected 2 cells as in the first row (no titles, no notes), "
            "got 3: 1 | 2 | 3",
        ),
        ("a,b\n", ": expected a header and rows, got none"),
        ("", ": expected a header and rows, got none"),
        ('a,b\n"1"x,2\n', ": line 2: not CSV: ',' expected after '\"'"),
        (
            "a,y\n\n1\n",
            ": line 3: expected 2 cells as in the first row (no titles, no notes), got 1: 1",
        ),
        ('a,y\n\n"1"x,2\n', ": line 3: not CSV: ',' expected after '\"'"),
        ("a\0b\n1,2", ": not UTF-8: byte 0x00 at position 1, got UTF-16 or UTF-32 text"),
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
    assert (sheet.header, sheet.notes) == (["a", "y"], [])
    assert [(row["a"], row["y"]) for row in cells(sheet)] == [("1", "2")]


@pytest.mark.parametrize(
    "text",
    [
        "75.0,0.5,1.0,1.5,2.4\n75.0,0.5,1.2,1.5,4.6\n80.0,0.5,1.2,1.5,14.6\n",
        "CC1CCCC1P,K2CO3,45\nCC2CCCC2P,K2CO3,54\nCC2CCCC2P,Cs2CO3,64\n",
        "BPin,XPhos,THF,61.6\nBPin,SPhos,THF,51.6\nBF3K,XPhos,MeCN,41.6\n",
        "-1e-3,5 %\n2.5,6\n",
    ],
)
def test_a_first_row_that_is_an_experiment_is_no_header(tmp_path: Path, text: str) -> None:
    """The first of them was lost, and conditions were called 75.0."""
    with pytest.raises(InputError, match=r"line 1: the first row is an experiment: write names"):
        read_sheet(write(tmp_path / "t.csv", text))


@pytest.mark.parametrize(
    "text",
    [
        "base,2,yield\nK,x,50\nNa,y,60\n",
        "base,solvent,yield\nbase,solvent,yield\nNa,y,60\n",  # import names the second header
        "NCS,NBS,yield\n1,2,50\n2,1,60\n",
        "base,2,ligand,yield\nK,1,x,50\nNa,2,y,60\n",
    ],
)
def test_names_that_are_words_are_a_header(tmp_path: Path, text: str) -> None:
    assert read_sheet(write(tmp_path / "t.csv", text)).header == text.split("\n")[0].split(",")


def test_columns_without_a_name_keep_their_cells(tmp_path: Path) -> None:
    sheet = read_sheet(write(tmp_path / "t.csv", ",a,\n0,x,\n1,y,\n"))
    assert sheet.header == ["(column 1)", "a"]
    assert [row["(column 1)"] for row in cells(sheet)] == ["0", "1"]


def test_cells_stay_as_they_are_printed(tmp_path: Path) -> None:
    sheet = read_sheet(write(tmp_path / "t.csv", "solvent;y\n1,4-dioxane;87,5[c]\n"))
    assert cells(sheet) == [{"solvent": "1,4-dioxane", "y": "87,5[c]"}]


def test_the_first_row_is_the_header(tmp_path: Path) -> None:
    assert read_sheet(write(tmp_path / "t.csv", "Table 1,\na,y\n1,2\n")).header[0] == "Table 1"


def test_text_that_is_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("T °C,y\n80 °C,1\n".encode("cp1252"))
    assert cells(read_sheet(path)) == [{"T °C": "80 °C", "y": "1"}]
    assert read_sheet(path).notes == ["t.csv: not UTF-8, read as cp1252"]
    path.write_bytes("配体,收率\n三苯基膦,50\n".encode("gbk"))  # what Excel writes in China
    assert cells(read_sheet(path)) == [{"配体": "三苯基膦", "收率": "50"}]
    assert read_sheet(path).notes == ["t.csv: not UTF-8, read as GBK"]
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
            ["Na", 80.0, "x", None],
        ],
    )
    book.active["B2"].number_format = "0.0%"
    book.create_sheet("notes").append(["a", "b"])
    book["notes"].append([1, 2])
    book.save(path)
    sheet = read_sheet(path)
    assert cells(sheet) == [
        {"base": "K", "y": "95%", "dr": "3:01", "er": "95:05"},
        {"base": "Na", "y": "80", "dr": "x", "er": ""},
    ]  # fmt: skip
    assert sheet.notes == ["the sheet Sheet is read (--sheet: Sheet, notes)"]
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
    assert read_sheet(path).notes == ["the sheet Sheet is read (--sheet: Sheet, screen 1, key)"]
    assert cells(read_sheet(path, "screen 1")) == [{"base": "K", "y": "5"}]


@pytest.mark.extra("openpyxl")
def test_formulas_without_a_stored_value_are_named(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    save(path, [["base", "y"], ["K", "=80+1"], ["Na", 5]])
    with pytest.raises(InputError, match="cell B2: expected the value of a formula"):
        read_sheet(path)


@pytest.mark.extra("openpyxl")
def test_merged_cells_are_refused(tmp_path: Path) -> None:
    """Excel keeps the value of the first cell alone: the rows below would lose their base."""
    book = save(tmp_path / "t.xlsx", [["base", "y"], ["K", 1], [None, 2]])
    book.active.merge_cells("A2:A3")
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(
        InputError, match=r"unmerge the cells and fill them, got merged cells: 1 \(A2:A3\)"
    ):
        read_sheet(tmp_path / "t.xlsx")


def test_a_workbook_needs_openpyxl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.xlsx").touch()
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(InputError, match="needs openpyxl: pip install openpyxl, or save"):
        read_sheet(tmp_path / "t.xlsx")


@pytest.mark.extra("openpyxl")
def test_broken_and_enormous_workbooks(tmp_path: Path) -> None:
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
        assert all(set(sheet.header) <= row.keys() for row in cells(sheet))
