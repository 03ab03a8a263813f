"""Rows with an id and an answer: JSON, JSON Lines (FutureX's own submissions), CSV, Parquet."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from forecasteval.common.errors import InputError, printable
from forecasteval.common.files import decode_utf8, read_file
from forecasteval.common.records import BadRecord, repeated_keys

from .runs import Run, Source

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

IDS: Final = ("id", "question_id", "task_id", "sample_id")
ANSWERS: Final = (
    "answer", "prediction", "model_answer", "model_boxed_answer", "model_response", "response", "reply", "output",
    "completion",
)  # fmt: skip
PROMPTS: Final = ("prompt", "question", "task_question", "input")
MAX_CELL: Final = 1 << 30  # a trace of reasoning is longer than csv's 128 KiB
MAX_ROWS: Final = 10_000_000  # a few bytes can stand for any number of equal rows, or values in them
FREE_BYTES: Final = 1 << 28  # that a table in Parquet may hold, whatever its size
MAX_RATIO: Final = 100  # of what it holds beyond them to its size: a text that is there once may stand in every row
_BATCH: Final = 1024  # rows
_SUBMISSION: Final = re.compile(r"org-(.+?)-agent-(.+?)-model-(.+)", re.S)  # how FutureX asks to name a file


class Columns(NamedTuple):
    """The columns of ids and answers that a user names; None: the ones whose names are known."""

    name: str | None = None
    answer: str | None = None


Table = tuple[list[str], Sequence[Any]]  # the names of its columns, its rows


def read_rows(path: Path, table: Table, columns: Columns, form: str) -> Source:
    """The one run of a table's rows, objects with an id and an answer."""
    keys, rows = table
    name = _choose(path, keys, columns.name, IDS, "ids", "--id")
    answer = _choose(path, keys, columns.answer, ANSWERS, "answers", "--answer")
    prompt = next((key for key in PROMPTS if key in keys), "")
    run = Run()
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            problem = f" ({row.problem})" if isinstance(row, BadRecord) else ""
            run.leave_out("no object", f"record {number}{problem}")
        elif {name, answer} & set(repeated_keys(row)):
            run.leave_out("with a key that is given twice", row.get(name, f"record {number}"))
        else:
            run.add(row.get(name), row.get(answer), row.get(prompt), f"record {number}")
    return Source(form, {1: run}, [f"column of answers: {printable(answer, 60)}", *_submitter(path)])


def table_of(records: Sequence[Any]) -> Table:
    """Records of JSON, with all keys that they have."""
    return list(dict.fromkeys(key for record in records if isinstance(record, Mapping) for key in record)), records


def _choose(path: Path, keys: Sequence[str], wanted: str | None, known: Sequence[str], what: str, option: str) -> str:
    """The one column that is meant; InputError if there is none, or several: one may hold the truth."""
    found = [key for key in keys if (key.casefold() in known if wanted is None else key == wanted)]
    if len(found) == 1:
        return found[0]
    expected = f"one column of {what} ({', '.join(known)}), or its name with {option}"
    if wanted is not None:
        expected = f"a column {printable(wanted, 40)}"
    there = ", ".join(printable(key, 40) for key in (found or keys)[:8]) or "none"
    raise InputError(str(path), f"expected {expected}", there)


def _submitter(path: Path) -> list[str]:
    """Who submitted a file, if it is named as FutureX asks."""
    match = _SUBMISSION.fullmatch(path.stem)
    if not match:
        return []
    organisation, agent, model = (printable(part, 60) for part in match.groups())
    return [f"by its name: organisation {organisation}, agent {agent}, model {model}"]


def read_csv(path: Path) -> Table:
    """A table whose cells are parted by commas, semicolons or tabs; its first row names the columns."""
    text = decode_utf8(read_file(path), str(path))
    before = csv.field_size_limit(MAX_CELL)
    try:
        delimiter = max(",;\t", key=text.partition("\n")[0].count)
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        names = next(reader, [])
        return names, [_as_row(path, reader.line_num, names, cells) for cells in reader if cells]
    except csv.Error as error:
        raise InputError(str(path), f"not CSV: {error}") from None
    finally:
        csv.field_size_limit(before)


def _as_row(path: Path, line: int, names: Sequence[str], cells: Sequence[str]) -> dict[str, str]:
    """One row by its columns; InputError for a cell too many: an answer with commas that nobody put in quotes."""
    if len(cells) > len(names):
        expected = f"expected {len(names)} cells (a cell with commas stands in quotes)"
        raise InputError(f"{path}: line {line}", expected, str(len(cells)))
    return dict(zip(names, cells, strict=False))


def read_parquet(path: Path, columns: Columns) -> Table:
    """A Parquet file; of its rows only the columns that may count. InputError without pyarrow."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        wanted = "reading Parquet needs pyarrow, which is not installed (pip install pyarrow); or write the file as CSV"
        raise InputError(str(path), wanted) from None
    try:
        with parquet.ParquetFile(path) as file:
            leaves = [file.schema.column(number) for number in range(len(file.schema))]
            texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
        with parquet.ParquetFile(path, read_dictionary=texts) as file:  # a text that repeats is there once
            names = file.schema_arrow.names
            known = [name for name in names if name in columns or name.casefold() in (*IDS, *ANSWERS, *PROMPTS)]
            return names, list(_read_rows(path, file, known))
    except (ArrowException, OSError, ValueError, OverflowError) as error:
        raise InputError(str(path), f"not Parquet that can be read: {printable(error, 120)}") from None


def _read_rows(path: Path, file: ParquetFile, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The rows; InputError if there are too many, or if there is more in them than a file of its size has."""
    meta = file.metadata
    chunks = [meta.row_group(group).column(n) for group in range(meta.num_row_groups) for n in range(meta.num_columns)]
    chunks = [chunk for chunk in chunks if any(f"{chunk.path_in_schema}.".startswith(f"{name}.") for name in names)]
    values = Counter[str]()
    for chunk in chunks:
        values[chunk.path_in_schema] += chunk.num_values
    count = max([meta.num_rows, *values.values()])
    if count > MAX_ROWS:
        raise InputError(str(path), f"expected {MAX_ROWS:,} rows or values at most", f"{count:,}")
    _require_size(path, sum(chunk.total_uncompressed_size for chunk in chunks))
    size = 0
    for batch in file.iter_batches(batch_size=_BATCH, columns=names):
        size += sum(map(_size, batch.columns))
        _require_size(path, size)
        yield from map(_plain, batch.to_pylist())


def _size(column: Any) -> int:
    """Bytes of a column's values, each as often as it stands there."""
    from pyarrow import DictionaryArray, MapArray, StructArray, compute

    if isinstance(column, DictionaryArray):
        return int(compute.sum(compute.binary_length(column.dictionary).take(column.indices)).as_py() or 0)
    if isinstance(column, MapArray):
        return _size(column.keys) + _size(column.items)
    if isinstance(column, StructArray):
        return sum(map(_size, column.flatten()))
    return _size(column.flatten()) if hasattr(column, "flatten") else int(column.nbytes)


def _require_size(path: Path, size: int) -> None:
    most = FREE_BYTES + MAX_RATIO * path.stat().st_size
    if size > most:
        raise InputError(str(path), f"expected answers of {most:,} bytes at most", "more")


def _plain(value: Any) -> Any:
    """The same value with text for what JSON does not have: dates, decimals, bytes (UTF-8, or ValueError)."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    return value if value is None or isinstance(value, (str, bool, int, float)) else str(value)
