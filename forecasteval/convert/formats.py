"""Which format a file has, by what is in it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from forecasteval.common.errors import InputError
from forecasteval.common.files import BYTE_ORDER_MARK, readable, require_regular
from forecasteval.common.records import RecordFile, first_keys

from .inspect_logs import is_log, read_json_log, read_zip_log
from .miroflow import is_miroflow, read_miroflow
from .rows import Columns, read_csv, read_parquet, read_rows, table_of
from .runs import Source

ZIP: Final = b"PK\x03\x04"
PARQUET: Final = b"PAR1"


def read_source(path: Path, columns: Columns) -> Source:
    """The runs of a file of any of the formats; InputError if it is of none."""
    require_regular(path)
    with readable(path), path.open("rb") as file:
        begin = file.read(64)
    if not begin:
        raise InputError(str(path), "expected records", "an empty file")
    if begin.startswith(PARQUET):
        return read_rows(path, read_parquet(path, columns), columns, "Parquet")
    is_json = begin.removeprefix(BYTE_ORDER_MARK).lstrip()[:1] in (b"{", b"[")
    if begin.startswith(ZIP) or (is_json and is_log(first_keys(path, 1, is_json))):
        if columns != Columns():
            raise InputError("--id, --answer", "expected a table or rows of JSON", f"{path}, a log of inspect_ai")
        return read_zip_log(path) if begin.startswith(ZIP) else read_json_log(path)
    if not is_json:
        return read_rows(path, read_csv(path), columns, "CSV")
    records = RecordFile(path, is_json)
    table = table_of(list(records))
    if columns == Columns() and is_miroflow(table[0]):
        source = read_miroflow(table[1])
    else:
        source = read_rows(path, table, columns, "rows of JSON")
    return source._replace(notes=[*records.warnings, *source.notes])
