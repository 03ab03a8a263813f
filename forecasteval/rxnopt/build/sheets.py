"""Sheets: CSV, TSV and Excel files as a header and rows of text.

The first row that is not blank is the header, every other row has a cell below
each of its names.
"""

from __future__ import annotations

import datetime
import io
import re
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import (
    InputError,
    extra_package,
    grouped_names,
    printable,
)
from forecasteval.common.files import read_file
from forecasteval.common.records import number_text
from forecasteval.common.text import csv_rows, decode_text

from .chemicals import is_smiles, repair

MAX_CELLS: Final = 5_000_000
# What pandas and Excel write for nothing
_NO_VALUE: Final = frozenset({"nan", "<na>", "#n/a"})


_NUMBER: Final = re.compile(r"[<>≤≥~≈]?\s?-?[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?\s?%?")


class SheetRow(NamedTuple):
    """A row: its place in the file ("line 7", "row 7") and its cells by column."""

    place: str
    cells: dict[str, str]


class DateText(str):
    """The text of a cell that Excel holds as a date or a time; `1:2` may
    have been typed.
    """


class Sheet(NamedTuple):
    """The names of the columns, the rows below them, and notes for the user."""

    header: list[str]
    rows: list[SheetRow]
    notes: list[str]


Grid = list[tuple[str, list[str]]]  # the place of each row, and its cells


def read_sheet(path: Path, name: str | None = None) -> Sheet:
    """Read a CSV or TSV, or the first sheet (or that of this name) of a workbook.

    Raises InputError with line and column for what is no table of named columns.
    """
    raw = read_file(path)
    where = str(path)
    if path.suffix.lower() in (".xlsx", ".xlsm"):
        grid, notes = _read_workbook(raw, where, name)
    else:
        grid, notes = _read_text(raw, where)
    grid = [(place, cells) for place, cells in grid if any(cells)]
    if len(grid) < 2:
        raise InputError(where, "expected a header and rows", "none")
    (place, names), *below = grid
    header = [
        fold_name(name) or f"(column {number})" for number, name in enumerate(names, 1)
    ]
    if twice := [column for column in header if header.count(column) > 1]:
        expected = "expected a name of its own for each column: rename one"
        raise InputError(f"{where}: {place}", expected, show_names(twice))
    _require_names(f"{where}: {place}", names, [cells for _, cells in below])
    rows = []
    for place, cells in below:
        if len(cells) != len(header):
            expected = (
                f"expected {len(header)} cells as in the first row (no titles, "
                "no notes)"
            )
            raise InputError(
                f"{where}: {place}", expected, f"{len(cells)}: {' | '.join(cells)}"
            )
        rows.append(SheetRow(place, dict(zip(header, cells, strict=True))))
    filled = []
    for column, name in zip(header, names, strict=True):
        if name or any(row.cells[column] for row in rows):
            filled.append(column)
    return Sheet(filled, rows, notes)


def _require_names(
    where: str, names: Sequence[str], rows: Sequence[Sequence[str]]
) -> None:
    """Refuse a first row that is an experiment: half of its cells are like
    those below them.

    They are numbers above numbers, SMILES above SMILES, or words that occur below; one
    is a number or a SMILES, since words alone are a header that is repeated.
    """
    n_named = 0
    values, words = [], []
    for index, name in enumerate(names):
        cells = [row[index] for row in rows if index < len(row) and row[index]]
        n_named += bool(name and cells)
        if name and _is_value(name, cells):
            values.append(name)
        elif name and name in cells:
            words.append(name)
    if values and 2 * len(values + words) >= n_named:
        expected = "the first row is an experiment: write names above it"
        raise InputError(where, expected, show_names(names))


def _is_value(name: str, cells: Sequence[str]) -> bool:
    """Return whether a name is a number above numbers, or a SMILES above SMILES."""
    if _NUMBER.fullmatch(name):
        alike = [cell for cell in cells if _NUMBER.fullmatch(cell)]
    else:
        alike = [cell for cell in cells if is_smiles(cell) and is_smiles(name)]
    return bool(alike) and 2 * len(alike) >= len(cells)


def fold_name(name: str) -> str:
    r"""Put the name of a column on one line: `Yield\n(%)` becomes `Yield (%)`."""
    return " ".join(name.split())


def show_names(names: Iterable[str]) -> str:
    """List names for a message: `base, yield (%)`."""
    return ", ".join(printable(name, 60) for name in names)


def _clean(cell: str) -> str:
    """Remove what cannot be seen, and what programs write for nothing."""
    text = repair(cell).replace("\xa0", " ").strip()
    if text.lower() in _NO_VALUE:
        return ""
    return text


def _read_text(raw: bytes, where: str) -> tuple[Grid, list[str]]:
    text, notes = decode_text(raw, where)
    rows = csv_rows(text, where)
    grid = [(f"line {line}", list(map(_clean, cells))) for line, cells in rows]
    return grid, notes


# --- Workbooks ---


def _read_workbook(raw: bytes, where: str, name: str | None) -> tuple[Grid, list[str]]:
    """Read a sheet of a workbook; InputError for merged cells, and for formulas
    without values.
    """
    book = _open_workbook(raw, where, values=False)
    titles = [sheet.title for sheet in book.worksheets]
    if not titles or name not in (None, *titles):
        raise InputError(where, f"no sheet {printable(name, 60)}", show_names(titles))
    title = name or titles[0]
    sheet = book[title]
    if sheet.max_row * sheet.max_column > MAX_CELLS:
        size = f"{sheet.max_row} × {sheet.max_column}"
        raise InputError(where, f"expected at most {MAX_CELLS:,} cells", size)
    if merged := sorted(map(str, sheet.merged_cells.ranges)):
        expected = "expected a value in every cell: unmerge the cells and fill them"
        raise InputError(where, expected, f"merged cells: {grouped_names(merged)}")
    values = _open_workbook(raw, where, values=True)[title]
    pairs = zip(values.iter_rows(), sheet.iter_rows(), strict=True)
    grid = []
    for number, rows in enumerate(pairs, sheet.min_row):
        cells = [_show_cell(where, *pair) for pair in zip(*rows, strict=True)]
        grid.append((f"row {number}", cells))
    if name or len(titles) == 1:
        return grid, []
    note = f"the sheet {printable(title, 60)} is read (--sheet: {show_names(titles)})"
    return grid, [note]


def _open_workbook(raw: bytes, where: str, values: bool) -> Any:
    """Open a workbook with its formulas, or with their stored values."""
    with extra_package("openpyxl", where, "save the sheet as CSV"):
        import openpyxl
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what a workbook has besides cells
            return openpyxl.load_workbook(io.BytesIO(raw), data_only=values)
    # Openpyxl raises anything for one: KeyError, ParseError, …
    except Exception as error:
        raise InputError(
            where, "not a workbook (.xlsx)", printable(error, 80)
        ) from None


def _show_cell(where: str, cell: Any, written: Any) -> str:
    """Show a cell as Excel does. 0.95 in a percent format is 95%, and 3:1, which Excel
    takes for a time, is 3:01.
    """
    value = cell.value
    if value is None and written.data_type == "f":
        expected = (
            "expected the value of a formula: calculate and save the workbook again"
        )
        raise InputError(f"{where}: cell {written.coordinate}", expected, "none")
    if isinstance(value, datetime.time):
        value = datetime.timedelta(hours=value.hour, minutes=value.minute)
    if isinstance(value, datetime.timedelta):
        minutes = value.total_seconds() // 60
        return DateText(f"{minutes // 60:.0f}:{minutes % 60:02.0f}")
    if isinstance(value, datetime.date):
        return DateText(value)
    if value is None:
        return ""
    if not number_text(value):
        return _clean(str(value))
    if "%" in str(cell.number_format):
        return f"{value * 100:.12g}%"
    return f"{value:.15g}"
