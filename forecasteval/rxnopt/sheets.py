"""Sheets: CSV, TSV and Excel files as a header and rows of text."""

from __future__ import annotations

import datetime
import io
import re
import warnings
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, extra_package, grouped_names, printable
from forecasteval.common.files import csv_delimiter, csv_rows, decode_text, read_file
from forecasteval.common.records import number_text

from .chemicals import any_case, repair
from .columns import fold_name

UNNAMED: Final = "(unnamed)"  # the index that pandas' to_csv writes in front
UNSAVED: Final = "formula whose value was not saved: "  # and the name of the cell, D7
MOST_CELLS: Final = 5_000_000
MOST_BYTES: Final = 1 << 29  # of a workbook, unpacked
_DITTO: Final = any_case("[-–—]?\\s?(?:[\"″“”〃]|'')\\s?[-–—]?|do[.]|ditto|as above|同上")
_NO_VALUE: Final = frozenset({"nan", "<na>", "#n/a"})  # what pandas and Excel write for nothing


class Row(NamedTuple):
    """A row: its place in the file ("line 7", "row 7") and its cells by column."""

    place: str
    cells: dict[str, str]


class Sheet(NamedTuple):
    """The columns with a name, the rows down to the last that is not blank, and what was
    noticed.
    """

    header: list[str]
    rows: list[Row]
    notes: list[str]

    def columns(self) -> dict[str, list[str]]:
        return {name: [row.cells[name] for row in self.rows] for name in self.header}


GridRow = tuple[str, list[str]]  # its place, its cells


class Grid(NamedTuple):
    """All rows of a file or of a sheet of it, the header among them."""

    where: str  # the file, and which of its sheets
    rows: list[GridRow]
    notes: list[str]


def read_sheet(path: Path, name: str | None = None, columns: Sequence[str] = ()) -> Sheet:
    """The rows of a CSV or TSV, or of the first sheet (or that of this name) of a workbook, which
    has `columns`.

    The delimiter is the most frequent of comma, semicolon and tab in the header. Raises InputError
    (line, column).
    """
    raw = read_file(path)
    is_workbook = path.suffix.lower() in (".xlsx", ".xlsm")
    grid = _read_workbook(raw, str(path), name) if is_workbook else _read_text(raw, str(path))
    where = grid.where
    filled = [row for row in grid.rows if any(row[1])]
    if len(filled) < 2:
        raise InputError(where, "expected a header and rows", "none")
    head = _find_header(filled, columns)
    start, end = map(grid.rows.index, (head, filled[-1]))
    below = grid.rows[start + 1 : end + 1]
    header = list(map(fold_name, head[1]))
    if not header[0] and any(cells and cells[0] for _, cells in below):
        header[0] = UNNAMED
    named = list(filter(None, header))
    for column in named:
        if named.count(column) > 1:
            expected = f"the column {printable(column, 60)} occurs twice"
            raise InputError(f"{where}: {head[0]}", expected)
    if missing := [column for column in columns if column not in named]:
        raise InputError(where, f"no column {printable(missing[0], 60)}", show_names(named))
    rows = [_read_row(where, place, cells, header) for place, cells in below]
    notes = [*grid.notes, *_repeat_above(where, rows)]
    if above := [place for place, _ in filled[: filled.index(head)]]:
        notes.insert(len(grid.notes), f"above the header, not read: {grouped_names(above)}")
    return Sheet(named, rows, notes)


def _find_header(filled: Sequence[GridRow], columns: Sequence[str]) -> GridRow:
    """The row of the header: a title may stand above it. It is the first row with all columns that
    the user named, or else with a cell beyond the first.
    """
    for row in filled:
        if set(columns) <= set(map(fold_name, row[1])) if columns else any(row[1][1:]):
            return row
    return filled[0]


def _read_row(where: str, place: str, cells: list[str], header: Sequence[str]) -> Row:
    if not any(cells) or (len(cells) == 1 and " " in cells[0]):  # a footnote below the table
        cells = [*cells, *[""] * len(header)][: len(header)]
    if len(cells) != len(header):
        raise InputError(f"{where}: {place}", f"expected {len(header)} cells", str(len(cells)))
    row = dict(zip(header, cells, strict=True))
    for number, (name, cell) in enumerate(zip(header, cells, strict=True), 1):
        if cell and not name:
            got = f"a cell without one: {printable(cell, 40)}"
            raise InputError(f"{where}: {place}, column {number}", "expected a name above it", got)
    row.pop("", None)
    return Row(place, row)


def _repeat_above(where: str, rows: Sequence[Row]) -> list[str]:
    """Makes each ditto mark the cell above it; a note with their number and their columns."""
    above: dict[str, str] = {}
    repeated: list[str] = []
    for place, cells in rows:
        for name in [name for name, cell in cells.items() if _DITTO.fullmatch(cell)]:
            if not above.get(name):
                at = f"{where}: {place}, column {printable(name, 60)}"
                raise InputError(at, "expected a cell above the ditto mark", "none")
            cells[name] = above[name]
            repeated.append(name)
        above = cells if any(cells.values()) else above
    if not repeated:
        return []
    columns = show_names(dict.fromkeys(repeated))
    return [f"ditto marks that repeat the cell above: {len(repeated)} ({columns})"]


def show_names(names: Iterable[str]) -> str:
    return ", ".join(printable(name, 60) for name in names)


def _clean(cell: str) -> str:
    """A cell without what cannot be seen, and without what programs write for nothing."""
    text = repair(cell).replace("\xa0", " ").strip()
    return "" if text.lower() in _NO_VALUE else text


# --- Text ---


def _read_text(raw: bytes, where: str) -> Grid:
    """The rows of a CSV or TSV; decimal commas are read as points where no number has a point."""
    text, notes = decode_text(raw, where)
    rows = [(f"line {line}", list(map(_clean, cells))) for line, cells in csv_rows(text, where)]
    if csv_delimiter(text) != ",":
        cells = [cell for _, row in rows[1:] for cell in row]
        numbers = [cell for cell in cells if re.fullmatch(r"-?[0-9]+[.,][0-9]+\s?%?", cell)]
        if numbers and not any("." in number for number in numbers):
            rows = [(place, list(map(_point, cells))) for place, cells in rows]
            notes.append("decimal commas are read as points")
    return Grid(where, rows, notes)


def _point(cell: str) -> str:
    """A cell of numbers, signs and perhaps a word of results with points for its commas; not
    "1,4-dioxane".
    """
    numeric = re.fullmatch(r"(?:[0-9\s.,:/%()<>≤≥~±+−–-]|ee|er|dr|rr|de)+[a-z]?", cell)
    return re.sub(r"(?<=[0-9]),(?=[0-9])", ".", cell) if numeric else cell


# --- Workbooks ---


def _read_workbook(raw: bytes, where: str, name: str | None) -> Grid:
    book = _open_workbook(raw, where, values=False)
    titles = [sheet.title for sheet in book.worksheets]
    if not titles or name not in (None, *titles):
        raise InputError(where, f"no sheet {printable(name, 60)}", show_names(titles))
    title = name or titles[0]
    notes: list[str] = []
    if not name and len(titles) > 1:
        where = f"{where}: sheet {printable(title, 60)} (--sheet: {show_names(titles)})"
        notes.append(f"the first of {len(titles)} sheets is read: {printable(title, 60)}")
    sheet = book[title]
    if sheet.max_row * sheet.max_column > MOST_CELLS:
        size = f"{sheet.max_row} × {sheet.max_column}"
        raise InputError(where, f"expected at most {MOST_CELLS:,} cells", size)
    values = _open_workbook(raw, where, values=True)[title]
    grid = [
        list(map(_workbook_cell, *pair))
        for pair in zip(values.iter_rows(), sheet.iter_rows(), strict=True)
    ]
    for area in sheet.merged_cells.ranges:  # a merged cell stands for every row beside it
        for cells in grid[area.min_row - 1 : area.max_row]:
            cells[area.min_col - 1] = grid[area.min_row - 1][area.min_col - 1]
    return Grid(where, [(f"row {number}", cells) for number, cells in enumerate(grid, 1)], notes)


def _open_workbook(raw: bytes, where: str, values: bool) -> Any:
    """The workbook with its formulas, or with their stored values."""
    with extra_package("openpyxl", where, "save the sheet as CSV"):
        import openpyxl
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what a workbook has besides cells
            if sum(part.file_size for part in archive.infolist()) <= MOST_BYTES:
                return openpyxl.load_workbook(io.BytesIO(raw), data_only=values)
    except Exception as error:  # openpyxl raises anything for one: KeyError, ParseError, …
        raise InputError(where, "not a workbook (.xlsx)", printable(error, 80)) from None
    raise InputError(where, f"expected at most {MOST_BYTES >> 20} MB, unpacked")


def _workbook_cell(cell: Any, written: Any) -> str:
    """A cell as it is shown: 0.95 in a percent format is 95%, and 3:1, which Excel takes for a
    time, is 3:01. `written` is the cell with its formula, if it has one.
    """
    value = cell.value
    if value is None:
        return UNSAVED + cell.coordinate if written.data_type == "f" else ""
    if isinstance(value, datetime.time):
        value = datetime.timedelta(hours=value.hour, minutes=value.minute)
    if isinstance(value, datetime.timedelta):
        minutes = value.total_seconds() // 60
        return f"{minutes // 60:.0f}:{minutes % 60:02.0f}"
    if number_text(value):
        return f"{value * 100:.12g}%" if "%" in str(cell.number_format) else f"{value:.15g}"
    return _clean(str(value))
