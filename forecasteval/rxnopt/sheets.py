"""Sheets: CSV, TSV and Excel files as a header and rows of text."""

from __future__ import annotations

import datetime
import io
import re
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, extra_package, grouped_names, printable
from forecasteval.common.files import csv_delimiter, csv_rows, decode_text, read_file
from forecasteval.common.records import number_text

from .chemicals import repair
from .columns import fold_name

UNNAMED: Final = "(unnamed)"  # the index that pandas' to_csv writes in front
MOST_CELLS: Final = 5_000_000
MOST_BYTES: Final = 1 << 29  # of a workbook, unpacked
_PROBE: Final = 50  # rows in which another sheet must look like data
_DITTO: Final = re.compile("[\"″”〃]|''|do[.]|ditto", re.I)
_NO_VALUE: Final = frozenset({"nan", "<na>", "#n/a"})  # what pandas and Excel write for nothing


class Row(NamedTuple):
    """A row: its place in the file, the cells by column, and the columns whose formula was saved
    without a value.
    """

    place: str
    cells: dict[str, str]
    unsaved: dict[str, str]  # column -> the cell's name, D7


class Sheet(NamedTuple):
    """The columns with a name, the rows down to the last that is not blank, and what was
    noticed.
    """

    header: list[str]
    rows: list[Row]
    notes: list[str]


class Grid(NamedTuple):
    """All rows of a file or sheet with their places ("line 7", "row 7"), the header among them."""

    rows: list[tuple[str, list[str]]]
    notes: list[str]
    unsaved: Mapping[
        tuple[str, int], str
    ] = {}  # (place, column) -> the name of a cell whose formula has no value
    other_sheets: Sequence[str] = ()  # that look like data


def read_sheet(path: Path, name: str | None = None, columns: Sequence[str] = ()) -> Sheet:
    """The rows of a CSV or TSV, or of the first sheet (or that of this name) of a workbook, which
    has `columns`.

    The delimiter is the most frequent of comma, semicolon and tab in the header. Raises InputError
    (line, column).
    """
    where, raw = str(path), read_file(path)
    is_workbook = path.suffix.lower() in (".xlsx", ".xlsm")
    grid = _read_workbook(raw, where, name) if is_workbook else _read_text(raw, where)
    try:
        return _make_sheet(grid, where, columns)
    except InputError as error:
        if name is not None or not grid.other_sheets:
            raise
        titles = ", ".join(printable(title, 60) for title in grid.other_sheets)
        hint = f"sheets that look like data: {titles} (--sheet)"
        raise InputError(error.where, error.expected, f"{error.got or 'none'}; {hint}") from None


def _make_sheet(grid: Grid, where: str, columns: Sequence[str]) -> Sheet:
    rows = [(place, list(map(_clean, cells))) for place, cells in grid.rows]
    filled = [at for at, (_, cells) in enumerate(rows) if any(cells)]
    if len(filled) < 2:
        raise InputError(where, "expected a header and rows", "none")
    start = _find_header(rows, filled, columns)
    above = [rows[at][0] for at in filled if at < start]
    (place, cells), *below = rows[start : filled[-1] + 1]
    header = list(map(fold_name, cells))
    if not header[0] and any(cells and cells[0] for _, cells in below):
        header[0] = UNNAMED
    for name in filter(None, header):
        if header.count(name) > 1:
            raise InputError(f"{where}: {place}", f"the column {printable(name, 60)} occurs twice")
    if missing := [name for name in columns if name not in header]:
        known = ", ".join(map(printable, filter(None, header)))
        raise InputError(where, f"no column {printable(missing[0], 60)}", known)
    read = [_read_row(grid, where, place, cells, header) for place, cells in below]
    count, repeated = _repeat_above(where, read)
    notes = [
        *grid.notes,
        *([f"above the header, not read: {grouped_names(above)}"] if above else []),
        *([f"ditto marks that repeat the cell above: {count} ({repeated})"] if count else []),
    ]
    return Sheet(list(filter(None, header)), read, notes)


def _find_header(
    rows: Sequence[tuple[str, list[str]]], filled: Sequence[int], columns: Sequence[str]
) -> int:
    """The row of the header: a title may stand above it. It is the first row with all columns that
    the user named, or else with a cell beyond the first.
    """
    if columns:
        return next(
            (at for at in filled if set(columns) <= set(map(fold_name, rows[at][1]))), filled[0]
        )
    return next((at for at in filled if any(rows[at][1][1:])), filled[0])


def _read_row(grid: Grid, where: str, place: str, cells: list[str], header: Sequence[str]) -> Row:
    if len(cells) == 1 and " " in cells[0]:  # a footnote below the table
        cells = [*cells, *[""] * (len(header) - 1)]
    if any(cells) and len(cells) != len(header):
        raise InputError(f"{where}: {place}", f"expected {len(header)} cells", str(len(cells)))
    for number, (name, cell) in enumerate(zip(header, cells, strict=False), 1):
        if cell and not name:
            got = f"a cell without one: {printable(cell, 40)}"
            raise InputError(f"{where}: {place}, column {number}", "expected a name above it", got)
    named = [(name, at) for at, name in enumerate(header) if name]
    unsaved = {name: grid.unsaved[place, at] for name, at in named if (place, at) in grid.unsaved}
    return Row(place, {name: cells[at] if any(cells) else "" for name, at in named}, unsaved)


def _repeat_above(where: str, rows: Sequence[Row]) -> tuple[int, str]:
    """(the number of ditto marks, their columns); each becomes the cell above it."""
    count, above, columns = 0, dict[str, str](), dict[str, None]()
    for row in rows:
        for name, cell in row.cells.items():
            if not _DITTO.fullmatch(cell):
                continue
            if not above.get(name):
                place = f"{where}: {row.place}, column {printable(name, 60)}"
                raise InputError(place, "expected a cell above the ditto mark", "none")
            row.cells[name] = above[name]
            columns[name] = None
            count += 1
        above = row.cells if any(row.cells.values()) else above
    return count, ", ".join(map(printable, columns))


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
        commas, points = (
            any(re.fullmatch(rf"-?[0-9]+{m}[0-9]+\s?%?", cell) for cell in cells)
            for m in (",", "[.]")
        )
        if commas and not points:
            rows = [(place, list(map(_point, cells))) for place, cells in rows]
            notes.append("decimal commas are read as points")
    return Grid(rows, notes)


def _point(cell: str) -> str:
    """A cell of numbers, signs and perhaps a word of results with points for its commas; not
    "1,4-dioxane".
    """
    numeric = re.fullmatch(r"(?:[0-9\s.,:/%()<>≤≥~±+−–-]|ee|er|dr|rr|de)+[a-z]?", cell.strip())
    return re.sub(r"(?<=[0-9]),(?=[0-9])", ".", cell) if numeric else cell


# --- Workbooks ---


def _read_workbook(raw: bytes, where: str, name: str | None) -> Grid:
    book = _open_workbook(raw, where, values=False)
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    if not sheets or (name is not None and name not in sheets):
        raise InputError(
            where, f"no sheet {printable(name, 60)}", ", ".join(map(printable, sheets))
        )
    first, *others = sheets
    title = name or first
    sheet = sheets[title]
    if sheet.max_row * sheet.max_column > MOST_CELLS:
        raise InputError(
            where, f"expected at most {MOST_CELLS:,} cells", f"{sheet.max_row} × {sheet.max_column}"
        )
    formulas = [cell for row in sheet.iter_rows() for cell in row if cell.data_type == "f"]
    if formulas:
        sheet = _open_workbook(raw, where, values=True)[title]
    unsaved = {
        (f"row {c.row}", c.column - 1): c.coordinate
        for c in formulas
        if sheet[c.coordinate].value is None
    }
    rows = [
        (f"row {number}", list(map(_workbook_cell, row)))
        for number, row in enumerate(sheet.iter_rows(), 1)
    ]
    for area in sheet.merged_cells.ranges:  # a merged cell stands for every row beside it
        value = rows[area.min_row - 1][1][area.min_col - 1]
        for _, cells in rows[area.min_row - 1 : area.max_row]:
            cells[area.min_col - 1] = value
    is_chosen = name is not None or not others
    notes = (
        [] if is_chosen else [f"the first of {len(sheets)} sheets is read: {printable(first, 60)}"]
    )
    return Grid(
        rows, notes, unsaved, [title for title in others if _looks_like_data(sheets[title])]
    )


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
    except (
        Exception
    ) as error:  # whatever a broken workbook makes openpyxl raise: KeyError, ParseError, …
        raise InputError(where, "not a workbook (.xlsx)", printable(error, 80)) from None
    if too_large:
        raise InputError(where, f"expected at most {MOST_BYTES >> 20} MB, unpacked")
    return book


def _looks_like_data(sheet: Any) -> bool:
    rows = sheet.iter_rows(max_row=_PROBE, max_col=_PROBE, values_only=True)
    return sum(sum(value is not None for value in row) > 1 for row in rows) > 1


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
