"""Sheets: CSV, TSV and Excel files as a header and rows of text."""

from __future__ import annotations

import csv
import datetime
import io
import re
import warnings
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, printable
from forecasteval.common.files import decode_utf8, read_file
from forecasteval.common.records import number_text

UNNAMED: Final = "(unnamed)"  # the index that pandas' to_csv writes in front
MOST_CELLS: Final = 5_000_000
MOST_BYTES: Final = 1 << 29  # of a workbook, unpacked
Grid = list[tuple[int, list[str]]]  # rows that are not blank, with their line or row numbers


class Sheet(NamedTuple):
    """The columns with a name, a row of text for each experiment, and what was noticed."""

    header: list[str]
    rows: list[dict[str, str]]
    notes: list[str]


def read_sheet(path: Path, name: str | None = None) -> Sheet:
    """The rows of a CSV or TSV, or of the first sheet (or that of this name) of a workbook.

    The delimiter is the most frequent of comma, semicolon and tab in the header. Raises InputError (line, column).
    """
    where, raw, notes = str(path), read_file(path), list[str]()
    if path.suffix.lower() in (".xlsx", ".xlsm"):
        grid = _read_workbook(raw, where, name, notes)
        place, decimal_comma = "row", False
    else:
        grid, delimiter = _read_csv(_decode(raw, where, notes), where)
        place, decimal_comma = "line", delimiter != "," and _has_decimal_commas(grid)
    if len(grid) < 2:
        raise InputError(where, "expected a header and rows", "none")
    header = _read_header(grid, f"{where}: {place} {grid[0][0]}")
    rows = []
    for line, cells in grid[1:]:
        if len(cells) != len(header):
            raise InputError(f"{where}: {place} {line}", f"expected {len(header)} cells", str(len(cells)))
        if any(cell.strip() and not name for name, cell in zip(header, cells, strict=True)):
            raise InputError(f"{where}: {place} {line}", "expected a name above every cell", "none")
        if decimal_comma:
            cells = [re.sub(r"(?<=[0-9]),(?=[0-9])", ".", c) if _is_numeric(c) else c for c in cells]
        rows.append({name: cell for name, cell in zip(header, cells, strict=True) if name})
    if decimal_comma:
        notes.append("decimal commas are read as points")
    return Sheet([name for name in header if name], rows, notes)


def _read_header(grid: Grid, where: str) -> list[str]:
    """The names of the columns; "" where there is none, but for an unnamed first one with cells in it."""
    header = [cell.strip() for cell in grid[0][1]]
    if not header[0] and any(cells and cells[0].strip() for _, cells in grid[1:]):
        header[0] = UNNAMED
    for name, count in Counter(header).items():
        if name and count > 1:
            raise InputError(where, f"the column {printable(name, 60)} is there twice")
    return header


# --- Text ---


def _decode(raw: bytes, where: str, notes: list[str]) -> str:
    """UTF-8; what Excel calls Unicode text (UTF-16); else cp1252, as older programs write it."""
    try:
        if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return raw.decode("utf-16")
        return decode_utf8(raw, where)
    except (InputError, UnicodeDecodeError) as error:
        if b"\0" in raw:
            raise InputError(where, "expected text or a workbook (.xlsx)", "another kind of file") from None
        try:
            text = raw.decode("cp1252")
        except UnicodeDecodeError:
            raise error from None
        notes.append("the file is no UTF-8 and is read as cp1252")
        return text


def _read_csv(text: str, where: str) -> tuple[Grid, str]:
    delimiter = max(",;\t", key=text.lstrip("\n\r").split("\n", 1)[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        return [(reader.line_num, cells) for cells in reader if any(map(str.strip, cells))], delimiter
    except csv.Error as error:
        raise InputError(f"{where}: line {reader.line_num}", f"not CSV: {error}") from None


def _is_numeric(cell: str) -> bool:
    """Whether a cell with a comma in it is numbers, signs and perhaps a word of results; "1,4-dioxane" is not."""
    return re.fullmatch(r"(?:[0-9\s.,:/%()<>≤≥~±+−–-]|ee|er|dr|rr|de)+[a-z]?", cell.strip()) is not None


def _has_decimal_commas(grid: Grid) -> bool:
    cells = [cell.strip() for _, row in grid[1:] for cell in row]
    comma = any(re.fullmatch(r"-?[0-9]+,[0-9]+\s?%?", cell) for cell in cells)
    return comma and not any(re.fullmatch(r"-?[0-9]+\.[0-9]+\s?%?", cell) for cell in cells)


# --- Workbooks ---


def _read_workbook(raw: bytes, where: str, name: str | None, notes: list[str]) -> Grid:
    import openpyxl  # here: only `import` of a workbook needs it

    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            if sum(part.file_size for part in archive.infolist()) > MOST_BYTES:
                raise InputError(where, f"expected at most {MOST_BYTES >> 20} MB, unpacked")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what a workbook has besides cells
            book = openpyxl.load_workbook(io.BytesIO(raw), data_only=True)
    except InputError:
        raise
    except Exception as error:  # whatever a broken workbook makes openpyxl raise: KeyError, ParseError, …
        raise InputError(where, "not a workbook (.xlsx)", printable(error, 80)) from None
    titles = [sheet.title for sheet in book.worksheets]
    if not titles or (name is not None and name not in titles):
        raise InputError(where, f"no sheet {printable(name, 60)}", ", ".join(map(printable, titles)))
    sheet = book.worksheets[titles.index(name) if name else 0]
    if len(titles) > 1 and name is None:
        notes.append(f"the first of {len(titles)} sheets is read: {printable(titles[0], 60)}")
    if sheet.max_row * sheet.max_column > MOST_CELLS:
        raise InputError(where, f"expected at most {MOST_CELLS:,} cells", f"{sheet.max_row} × {sheet.max_column}")
    grid = [[_workbook_cell(cell) for cell in row] for row in sheet.iter_rows()]
    for area in sheet.merged_cells.ranges:  # a merged cell stands for every row beside it
        value = grid[area.min_row - 1][area.min_col - 1]
        for row in range(area.min_row - 1, area.max_row):
            grid[row][area.min_col - 1] = value
    return [(number, row) for number, row in enumerate(grid, 1) if any(map(str.strip, row))]


def _workbook_cell(cell: Any) -> str:
    """A cell as it is shown: 0.95 in a percent format is 95%, and 3:1, which Excel takes for a time, is 3:01."""
    value = cell.value
    if isinstance(value, (datetime.time, datetime.timedelta)):
        minutes = (
            value.total_seconds() // 60 if isinstance(value, datetime.timedelta) else value.hour * 60 + value.minute
        )
        return f"{minutes // 60:.0f}:{minutes % 60:02.0f}"
    if number_text(value):
        return f"{value * 100:.12g}%" if "%" in str(cell.number_format) else f"{value:.15g}"
    return "" if value is None else str(value)
