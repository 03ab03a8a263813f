"""Files as rows that are objects: JSON, JSON Lines, CSV, Parquet, and logs of inspect_ai."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, extra_package, printable
from forecasteval.common.files import read_file, readable, require_regular
from forecasteval.common.records import first_keys, load_records, parse_json, repeated_keys
from forecasteval.common.text import BYTE_ORDER_MARK, MAX_BYTES, csv_rows, decode_text, decode_utf8

MAX_ROWS: Final = 1_000_000  # 44 KB of Parquet can hold nine million, which take 2.6 GB
MAX_EPOCHS: Final = 1000
_BOOKS: Final = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
CSV: Final = "CSV"  # a form of tables, whose cells are all text
LOG_KEYS: Final = frozenset({"version", "eval", "status"})
_UNUSED: Final = {"messages", "events", "events_data", "store", "timelines"}  # nine tenths of a log


class SourceTable(NamedTuple):
    """The rows of a file, the names of their columns, and notes for the user.

    `keys` are those of the first objects in the file, if it is JSON.
    """

    form: str
    names: Sequence[str]
    rows: Sequence[Any]
    notes: Sequence[str] = ()
    keys: Set[str] = frozenset()


def read_table(path: Path, columns_named: bool = False) -> SourceTable:
    """Read the rows of a file. InputError if it is no table, too long, or a log though columns are
    named.
    """
    begin = _read_beginning(path)
    is_json = begin.removeprefix(BYTE_ORDER_MARK).lstrip()[:1] in (b"{", b"[")
    keys = first_keys(path, is_json=True) if is_json else frozenset()
    if begin.startswith(_BOOKS) and path.suffix.lower() in (".xlsx", ".xlsm", ".xls", ".ods"):
        raise InputError(str(path), "expected a table in text: save the sheet as CSV", "a workbook")
    if begin.startswith(b"PK\x03\x04") or keys >= LOG_KEYS:
        if columns_named:
            raise InputError(
                "--id, --answer", "expected a table or rows of JSON", f"{path}, a log of inspect_ai"
            )
        return _read_log(path, is_json)
    if begin.startswith(b"PAR1"):
        table = _read_parquet(path)
    elif is_json:
        file = load_records(path, is_json=True, any_form=True)
        rows = [*file.records]
        names = list(dict.fromkeys(key for row in rows if isinstance(row, dict) for key in row))
        table = SourceTable("rows of JSON", names, rows, [*file.warnings], keys)
    else:
        table = _read_csv(path)
    return table


def _read_beginning(path: Path) -> bytes:
    require_regular(path)
    with readable(path), path.open("rb") as file:
        begin, size = file.read(64), path.stat().st_size
    if not begin:
        raise InputError(str(path), "expected records", "an empty file")
    if size > MAX_BYTES:
        raise InputError(str(path), f"expected {MAX_BYTES:,} bytes at most; split it", f"{size:,}")
    return begin


def _read_csv(path: Path) -> SourceTable:
    text, notes = decode_text(read_file(path), str(path))
    lines = csv_rows(text, str(path))
    _, names = next(lines, (0, list[str]()))
    rows = []
    for line, cells in lines:
        if len(cells) > len(names):  # an answer with commas and without quotes
            expected = f"expected {len(names)} cells (a cell with commas stands in quotes)"
            raise InputError(f"{path}: line {line}", expected, str(len(cells)))
        if cells:
            rows.append(dict(zip(names, cells, strict=False)))
    return SourceTable(CSV, names, rows, notes)


def clear_ids(table: SourceTable, column: str) -> None:
    """Make 7.0 of a CSV's ids 7, as it is in JSON. A column of numbers with a gap holds floats."""
    for row in table.rows if table.form == CSV else ():
        if column in row:
            row[column] = re.sub(r"\A([0-9]+)\.0+\Z", r"\1", row[column])


def _read_parquet(path: Path) -> SourceTable:
    with extra_package("pyarrow", str(path), "write it as CSV"):
        from pyarrow import ArrowException, parquet
    try:
        with parquet.ParquetFile(path) as file:
            if (count := file.metadata.num_rows) > MAX_ROWS:
                raise InputError(
                    str(path), f"expected {MAX_ROWS:,} rows at most; split it", f"{count:,}"
                )
            rows = json.loads(json.dumps(file.read().to_pylist(), default=_as_text))
            return SourceTable("Parquet", file.schema_arrow.names, rows)
    except (ArrowException, OSError, ValueError, OverflowError) as error:
        raise InputError(
            str(path), f"not Parquet that can be read: {printable(error, 120)}"
        ) from None


def _as_text(value: object) -> str:
    """Write what JSON does not have as text: bytes (UTF-8, or ValueError), dates, decimals."""
    return value.decode() if isinstance(value, bytes) else str(value)


# --- Logs of inspect_ai ---


def _read_log(path: Path, is_json: bool) -> SourceTable:
    """Read the samples of a log, `.eval` (read by inspect_ai itself) or one JSON object."""
    log = (
        parse_json(decode_utf8(read_file(path), str(path)), str(path))
        if is_json
        else _read_eval(path)
    )
    samples = at_path(log, "samples")
    if not isinstance(samples, list) or not samples:
        raise InputError(str(path), "expected a log with samples", "none")
    notes = [" of ".join(printable(at_path(log, "eval", key), 60) for key in ("task", "model"))]
    if log["status"] != "success":
        notes.append(f"the evaluation did not finish: status {printable(log['status'], 40)}")
    return SourceTable("inspect_ai log", (), samples, notes, LOG_KEYS)


def _read_eval(path: Path) -> Any:
    with extra_package("inspect-ai", str(path), "write it as JSON (inspect log convert --to json)"):
        from inspect_ai import log
    try:
        # What stands in a file is a stranger's, and what inspect_ai raises for it is of any type.
        whole = log.read_eval_log(path, format="eval", exclude_fields=_UNUSED)
        return whole.model_dump(
            mode="json", exclude={"samples": {"__all__": _UNUSED}}, warnings=False
        )
    except Exception as error:
        raise InputError(str(path), f"inspect_ai cannot read it: {printable(error, 120)}") from None


def epoch_of(sample: object) -> int:
    """Read the number of a sample's epoch, which is its run; 1 where it has none."""
    epoch = at_path(sample, "epoch")
    return epoch if type(epoch) is int and 0 < epoch < MAX_EPOCHS else 1


def at_path(value: object, *keys: str) -> object:
    """Find the value at a path of keys, or places of lists; None if nothing or two stand there."""
    for key in keys:
        if isinstance(value, list):
            value = {str(place): item for place, item in enumerate(value)}
        if not isinstance(value, Mapping) or key in repeated_keys(value):
            return None
        value = value.get(key)
    return value
