"""Files of rows with named columns: CSV, JSON, JSONL, Parquet, and logs
of inspect_ai.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from forecasteval.common.errors import InputError, extra_package, printable
from forecasteval.common.files import hash_file, read_file, readable, require_regular
from forecasteval.common.records import CSV, Loaded, load_records
from forecasteval.common.text import BYTE_ORDER_MARK, MAX_BYTES, is_packed, unpack

from .paths import VALUE_KEY, value_at

# Forms of a table, beside CSV and JSON.
PARQUET: Final = "Parquet"
INSPECT_LOG: Final = "inspect_ai log"

MAX_ROWS: Final = 1_000_000  # 44 KB of Parquet can hold nine million, which take 2.6 GB
_LOG_KEYS: Final = frozenset({"version", "eval", "status"})
# Nine tenths of a log
_UNUSED: Final = {"messages", "events", "events_data", "store", "timelines"}
_ZIP: Final = b"PK\x03\x04"
_PARQUET: Final = b"PAR1"
_BOOKS: Final = (_ZIP, b"\xd0\xcf\x11\xe0")
_BOOK_SUFFIXES: Final = (".xlsx", ".xlsm", ".xls", ".ods")
_BLANKS: Final = b"\xff\xfe\0 \t\r\n"  # what may stand before JSON, also in UTF-16


def read_table(path: Path, any_form: bool = True, strict: bool = True) -> Loaded:
    """Read a file of rows: a mapping by column each, or a BadRecord that
    keeps its place.

    What the file contains decides how it is read, not its name. `loaded.form` says what
    it is, `loaded.names` are its columns in the order in which they come,
    `loaded.place(number)` is where the row with this number (from 1) stands,
    `loaded.warnings` are notes for the user.

    A cell that lacks is None in a CSV, and no key in JSON. A row of a CSV with too many
    cells is a BadRecord with its `cells`. A column that is named twice makes rows whose
    `repeated_keys` have it where the two differ.

    any_form: the file may be packed, in any encoding, Parquet or a log; a
        nightly run does not.
    strict: a CSV with misplaced quotes is an error.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "table.txt")
    ...     _ = path.write_text("id;answer\\nrain;12\\n")
    ...     table = read_table(path)
    >>> table.form, table.names, table.records, table.place(1)
    ('CSV', ['id', 'answer'], [{'id': 'rain', 'answer': '12'}], 'line 2')

    Raises InputError for no table, and one that is too long.
    """
    begin = _read_beginning(path, any_form)
    is_book = begin.startswith(_BOOKS) and path.suffix.lower() in _BOOK_SUFFIXES
    if is_book:
        raise InputError(
            str(path), "expected a table in text", "a spreadsheet; save it as CSV"
        )
    if any_form and begin.startswith(_PARQUET):
        return _read_parquet(path)
    if any_form and begin.startswith(_ZIP) and _is_eval(path):
        return _read_samples(path, _read_eval(path))

    text = begin.removeprefix(BYTE_ORDER_MARK).lstrip(_BLANKS)
    is_json = text.startswith((b"{", b"["))
    return as_table(load_records(path, is_json, any_form=any_form, strict=strict))


def as_table(loaded: Loaded) -> Loaded:
    """Return loaded records with their columns; of a log of inspect_ai the samples."""
    if loaded.form == CSV:
        return loaded
    if loaded.is_map:
        value = {row["id"]: row[VALUE_KEY] for row in loaded}
        if value.keys() >= _LOG_KEYS:
            return _read_samples(Path(loaded.path), value)
    names: dict[str, None] = {}
    for row in loaded:
        if isinstance(row, dict):
            names |= dict.fromkeys(row)
    return replace(loaded, names=[*names])


def _read_beginning(path: Path, any_form: bool) -> bytes:
    require_regular(path)
    with readable(path), path.open("rb") as file:
        size = path.stat().st_size
        if size > MAX_BYTES:
            expected = f"expected {MAX_BYTES:,} bytes at most; split it"
            raise InputError(str(path), expected, f"{size:,}")
        begin = file.read(64)
        if any_form and is_packed(begin):
            begin = unpack(begin + file.read(), str(path))[:64]
    if not begin:
        raise InputError(str(path), "expected records", "an empty file")
    return begin


def _read_parquet(path: Path) -> Loaded:
    with extra_package("pyarrow", str(path), "write it as CSV"):
        from pyarrow import ArrowException, parquet
    try:
        with parquet.ParquetFile(path) as file:
            count = file.metadata.num_rows
            if count > MAX_ROWS:
                expected = f"expected {MAX_ROWS:,} rows at most; split it"
                raise InputError(str(path), expected, f"{count:,}")
            rows = json.loads(json.dumps(file.read().to_pylist(), default=_as_text))
            names = list(file.schema_arrow.names)
    except (ArrowException, OSError, ValueError, OverflowError) as error:
        problem = f"not Parquet that can be read: {printable(error, 120)}"
        raise InputError(str(path), problem) from None
    return Loaded(path, rows, hash_file(path), names=names, form=PARQUET, unit="row")


def _as_text(value: object) -> str:
    """Write what JSON does not have as text: bytes (UTF-8, or ValueError),
    dates, decimals.
    """
    if isinstance(value, bytes):
        return value.decode()
    return str(value)


# --- Logs of inspect_ai ---


def _is_eval(path: Path) -> bool:
    """Return whether a zip is a log, which has a header, or the start of
    one that goes on.
    """
    # Here: it takes a hundredth of a command's start, and is for logs only
    import zipfile

    try:
        with zipfile.ZipFile(path) as file:
            names = file.namelist()
    except (OSError, ValueError, zipfile.BadZipFile):
        return path.suffix == ".eval"
    return not {"header.json", "_journal/start.json"}.isdisjoint(names)


def _read_eval(path: Path) -> Any:
    """Read a log of `.eval`, as inspect_ai itself does."""
    with extra_package(
        "inspect-ai", str(path), "write it as JSON (inspect log convert --to json)"
    ):
        from inspect_ai import log
    try:
        # What stands in a file is a stranger's, and what inspect_ai raises for it is
        # of any type.
        whole = log.read_eval_log(path, format="eval", exclude_fields=_UNUSED)
        excluded = {"samples": {"__all__": _UNUSED}}
        return whole.model_dump(mode="json", exclude=excluded, warnings=False)
    except Exception as error:
        raise InputError(
            str(path), f"inspect_ai cannot read it: {printable(error, 120)}"
        ) from None


def _read_samples(path: Path, log: Any) -> Loaded:
    """Read the samples of a log as rows."""
    samples = value_at(log, ["samples"])
    if not isinstance(samples, list) or not samples:
        raise InputError(str(path), "expected a log with samples", "none")
    task = value_at(log, ["eval", "task"])
    model = value_at(log, ["eval", "model"])
    notes = [f"{printable(task, 60)} of {printable(model, 60)}"]
    if log["status"] != "success":
        notes.append(
            f"the evaluation did not finish: status {printable(log['status'], 40)}"
        )
    sha256 = hashlib.sha256(read_file(path)).hexdigest()
    return Loaded(
        path, samples, sha256, warnings=notes, form=INSPECT_LOG, unit="sample"
    )
