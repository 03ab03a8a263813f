"""Tables of any kind as rows that are objects: JSON, JSON Lines, CSV, Parquet."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, extra_package, printable
from forecasteval.common.files import BYTE_ORDER_MARK, csv_rows, decode_utf8, read_file, readable, require_regular
from forecasteval.common.records import WRAPPERS, RecordFile, first_keys

MAX_BYTES: Final = 1 << 30  # of a file; its records take several times as much memory
MAX_ROWS: Final = 1_000_000  # 44 KB of Parquet can hold nine million, which take 2.6 GB
PARQUET: Final = b"PAR1"


class Table(NamedTuple):
    """The rows of a file, and the names of all their columns; `is_map` if it was one object `{id: answer}`."""

    form: str
    names: list[str]
    rows: Sequence[Any]
    notes: list[str]
    is_map: bool = False


def read_beginning(path: Path) -> bytes:
    """The first bytes of a file; InputError if it has none, or more than can be read."""
    require_regular(path)
    with readable(path), path.open("rb") as file:
        begin, size = file.read(64), path.stat().st_size
    if not begin:
        raise InputError(str(path), "expected records", "an empty file")
    if size > MAX_BYTES:
        raise InputError(str(path), f"expected {MAX_BYTES:,} bytes at most; split it", f"{size:,}")
    return begin


def is_json(begin: bytes) -> bool:
    """Whether a file that begins so holds JSON or JSON Lines."""
    return begin.removeprefix(BYTE_ORDER_MARK).lstrip()[:1] in (b"{", b"[")


def read_table(path: Path) -> Table:
    """The rows of a file; InputError if it is no table, or has more than `MAX_ROWS`."""
    begin = read_beginning(path)
    read = _read_parquet if begin.startswith(PARQUET) else _read_json if is_json(begin) else _read_csv
    table = read(path)
    _require_rows(path, len(table.rows))
    return table


def _require_rows(path: Path, count: int) -> None:
    if count > MAX_ROWS:
        raise InputError(str(path), f"expected {MAX_ROWS:,} rows at most; split it", f"{count:,}")


def _read_json(path: Path) -> Table:
    file = RecordFile(path, is_json=True)
    rows = list(file)
    names = list(dict.fromkeys(key for row in rows if isinstance(row, dict) for key in row))
    is_map = names == ["id", "prediction"] and first_keys(path, is_json=True).isdisjoint({"prediction", *WRAPPERS})
    return Table("rows of JSON", names, rows, file.warnings, is_map)


def _read_csv(path: Path) -> Table:
    """A table whose cells are parted by commas, semicolons or tabs; its first row names the columns."""
    lines = csv_rows(decode_utf8(read_file(path), str(path)), str(path))
    _, names = next(lines, (0, list[str]()))
    return Table("CSV", names, [_name_cells(path, line, names, cells) for line, cells in lines if cells], [])


def _name_cells(path: Path, line: int, names: Sequence[str], cells: Sequence[str]) -> dict[str, str]:
    """One row by its columns; InputError for a cell too many: an answer with commas that nobody put in quotes."""
    if len(cells) > len(names):
        expected = f"expected {len(names)} cells (a cell with commas stands in quotes)"
        raise InputError(f"{path}: line {line}", expected, str(len(cells)))
    return dict(zip(names, cells, strict=False))


def _read_parquet(path: Path) -> Table:
    with extra_package("pyarrow", str(path), "write it as CSV"):
        from pyarrow import ArrowException, parquet
    try:
        with parquet.ParquetFile(path) as file:
            _require_rows(path, file.metadata.num_rows)
            rows = json.loads(json.dumps(file.read().to_pylist(), default=_as_text))
            return Table("Parquet", file.schema_arrow.names, rows, [])
    except (ArrowException, OSError, ValueError, OverflowError) as error:
        raise InputError(str(path), f"not Parquet that can be read: {printable(error, 120)}") from None


def _as_text(value: Any) -> str:
    """What JSON does not have, as text: bytes (UTF-8, or ValueError), dates, decimals."""
    return value.decode() if isinstance(value, bytes) else str(value)
