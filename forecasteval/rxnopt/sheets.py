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

from .chemicals import repair
from .columns import fold_name

UNNAMED: Final = "(unnamed)"  # the index that pandas' to_csv writes in front
UNSAVED: Final = "formula whose value was not saved: "  # and the name of the cell, D7
MOST_CELLS: Final = 5_000_000
MOST_BYTES: Final = 1 << 29  # of a workbook, unpacked
_DITTO: Final = re.compile("[-–—]?\\s?(?:[\"″“”〃]|'')\\s?[-–—]?|do[.]|ditto|as above|同上", re.I)
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


class Grid(NamedTuple):
    """All rows of a file or of a sheet of it with their places, the header among them."""

    where: str  # the file, and which of its sheets
    rows: list[tuple[str, list[str]]]
    notes: list[str]


def read_sheet(path: Path, name: str | None = None, columns: Sequence[str] = ()) -> Sheet:
    """The rows of a CSV or TSV, or of the first sheet (or that of this name) of a workbook, which
    has `columns`.

    The delimiter is the most frequent of comma, semicolon and tab in the header. Raises InputError
    (line, column).
    """
    raw = read_file(path)
    if path.suffix.lower() in (".xlsx", ".xlsm"):
        return _make_sheet(_read_workbook(raw, str(path), name), columns)
    return _make_sheet(_read_text(raw, str(path)), columns)


def _make_sheet(grid: Grid, columns: Sequence[str]) -> Sheet:
    where = grid.where
    rows = [(place, list(map(_clean, cells))) for place, cells in grid.rows]
    filled = [at for at, (_, cells) in enumerate(rows) if any(cells)]
    if len(filled) < 2:
        raise InputError(where, "expected a header and rows", "none")
    start = _find_header(rows, filled, columns)
    above = [rows[at][0] for at in filled if at < start]
    (place, names), *below = rows[start : filled[-1] + 1]
    header = list(map(fold_name, names))
    if not header[0] and any(cells and cells[0] for _, cells in below):
        header[0] = UNNAMED
    named = list(filter(None, header))
    for name in named:
        if named.count(name) > 1:
            raise InputError(f"{where}: {place}", f"the column {printable(name, 60)} occurs twice")
    if missing := [name for name in columns if name not in named]:
        raise InputError(where, f"no column {printable(missing[0], 60)}", show_names(named))
    read = [_read_row(f"{where}: {place}", place, cells, header) for place, cells in below]
    notes = [f"above the header, not read: {grouped_names(above)}"] if above else []
    return Sheet(named, read, [*grid.notes, *notes, *_repeat_above(where, read)])


def _find_header(
    rows: Sequence[tuple[str, list[str]]], filled: Sequence[int], columns: Sequence[str]
) -> int:
    """The row of the header: a title may stand above it. It is the first row with all columns that
    the user named, or else with a cell beyond the first.
    """
    for at in filled:
        cells = rows[at][1]
        if set(columns) <= set(map(fold_name, cells)) if columns else any(cells[1:]):
            return at
    return filled[0]


def _read_row(where: str, place: str, cells: list[str], header: Sequence[str]) -> Row:
    if not any(cells) or (len(cells) == 1 and " " in cells[0]):  # a footnote below the table
        cells = [*cells, *[""] * len(header)][: len(header)]
    if len(cells) != len(header):
        raise InputError(where, f"expected {len(header)} cells", str(len(cells)))
    for number, (name, cell) in enumerate(zip(header, cells, strict=True), 1):
        if cell and not name:
            got = f"a cell without one: {printable(cell, 40)}"
            raise InputError(f"{where}, column {number}", "expected a name above it", got)
    return Row(place, {name: cell for name, cell in zip(header, cells, strict=True) if name})


def _repeat_above(where: str, rows: Sequence[Row]) -> list[str]:
    """Makes each ditto mark the cell above it; a note with their number and their columns."""
    above, repeated = dict[str, str](), list[str]()
    for row in rows:
        for name in [name for name, cell in row.cells.items() if _DITTO.fullmatch(cell)]:
            if not above.get(name):
                place = f"{where}: {row.place}, column {printable(name, 60)}"
                raise InputError(place, "expected a cell above the ditto mark", "none")
            row.cells[name] = above[name]
            repeated.append(name)
        above = row.cells if any(row.cells.values()) else above
    columns = show_names(dict.fromkeys(repeated))
    text = f"ditto marks that repeat the cell above: {len(repeated)} ({columns})"
    return [text] if repeated else []


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
    rows = [(f"line {line}", cells) for line, cells in csv_rows(text, where)]
    if csv_delimiter(text) != ",":
        cells = [cell.strip() for _, row in rows[1:] for cell in row]
        numbers = [cell for cell in cells if re.fullmatch(r"-?[0-9]+[.,][0-9]+\s?%?", cell)]
        if numbers and not any("." in number for number in numbers):
            rows = [(place, list(map(_point, cells))) for place, cells in rows]
            notes.append("decimal commas are read as points")
    return Grid(where, rows, notes)


def _point(cell: str) -> str:
    """A cell of numbers, signs and perhaps a word of results with points for its commas; not
    "1,4-dioxane".
    """
    numeric = re.fullmatch(r"(?:[0-9\s.,:/%()<>≤≥~±+−–-]|ee|er|dr|rr|de)+[a-z]?", cell.strip())
    return re.sub(r"(?<=[0-9]),(?=[0-9])", ".", cell) if numeric else cell


# --- Workbooks ---


def _read_workbook(raw: bytes, where: str, name: str | None) -> Grid:
    book = _open_workbook(raw, where, values=False)
    titles = [sheet.title for sheet in book.worksheets]
    if not titles or name not in (None, *titles):
        raise InputError(where, f"no sheet {printable(name, 60)}", show_names(titles))
    title, notes = name or titles[0], list[str]()
    if not name and len(titles) > 1:
        where = f"{where}: sheet {printable(title, 60)} (--sheet: {show_names(titles)})"
        notes.append(f"the first of {len(titles)} sheets is read: {printable(title, 60)}")
    sheet = book[title]
    if sheet.max_row * sheet.max_column > MOST_CELLS:
        size = f"{sheet.max_row} × {sheet.max_column}"
        raise InputError(where, f"expected at most {MOST_CELLS:,} cells", size)
    formulas = [cell for row in sheet.iter_rows() for cell in row if cell.data_type == "f"]
    if formulas:
        sheet = _open_workbook(raw, where, values=True)[title]
    grid = [list(map(_workbook_cell, row)) for row in sheet.iter_rows()]
    for cell in formulas:
        if sheet[cell.coordinate].value is None:
            grid[cell.row - 1][cell.column - 1] = UNSAVED + cell.coordinate
    for area in sheet.merged_cells.ranges:  # a merged cell stands for every row beside it
        for cells in grid[area.min_row - 1 : area.max_row]:
            cells[area.min_col - 1] = grid[area.min_row - 1][area.min_col - 1]
    return Grid(where, [(f"row {number}", cells) for number, cells in enumerate(grid, 1)], notes)


def _open_workbook(raw: bytes, where: str, values: bool) -> Any:
    """The workbook with its formulas, or with their stored values."""
    with extra_package("openpyxl", where, "save the sheet as CSV"):
        import openpyxl
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            too_large = sum(part.file_size for part in archive.infolist()) > MOST_BYTES
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what a workbook has besides cells
            book = None if too_large else openpyxl.load_workbook(io.BytesIO(raw), data_only=values)
    except Exception as error:  # openpyxl raises anything for one: KeyError, ParseError, …
        raise InputError(where, "not a workbook (.xlsx)", printable(error, 80)) from None
    if too_large:
        raise InputError(where, f"expected at most {MOST_BYTES >> 20} MB, unpacked")
    return book


def _workbook_cell(cell: Any) -> str:
    """A cell as it is shown: 0.95 in a percent format is 95%, and 3:1, which Excel takes for a
    time, is 3:01.
    """
    value = cell.value
    if isinstance(value, datetime.time):
        value = datetime.timedelta(hours=value.hour, minutes=value.minute)
    if isinstance(value, datetime.timedelta):
        minutes = value.total_seconds() // 60
        return f"{minutes // 60:.0f}:{minutes % 60:02.0f}"
    if number_text(value):
        return f"{value * 100:.12g}%" if "%" in str(cell.number_format) else f"{value:.15g}"
    return "" if value is None else str(value)
