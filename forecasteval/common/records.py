"""JSON, JSONL and CSV files as records, strictly and record by record; JSON
to be written.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import itertools
import json
import math
import numbers
import os
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from sys import intern
from typing import Any, Final, TypeVar

from .errors import UNSAFE_SIGNS, InputError, grouped_names
from .files import (
    SUFFIXES,
    is_shared,
    read_file,
    readable,
    require_plain,
    require_regular,
)
from .patterns import lazy
from .text import (
    BYTE_ORDER_MARK,
    PACKS,
    csv_rows,
    decode_text,
    decode_utf8,
    inner_name,
    is_packed,
    is_utf16,
    unpack,
)

JsonObject = Mapping[str, Any]  # of a file, or a part of a result
T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class Record(dict[str, Any]):
    """An object in which a file gives some keys, `repeated`, twice with different
    values; the last value counts.
    """

    def __init__(self, values: Mapping[str, object], repeated: Iterable[str]) -> None:
        super().__init__(values)
        self.repeated = tuple(dict.fromkeys(repeated))


def repeated_keys(value: object) -> tuple[str, ...]:
    """Return the keys that an object of a file gives twice with different values."""
    if isinstance(value, Record):
        return value.repeated
    return ()


def has_repeated_keys(value: object) -> bool:
    """Return whether an object anywhere in what `parse_json` gave has a key twice with
    different values.
    """
    if isinstance(value, dict):
        return isinstance(value, Record) or any(map(has_repeated_keys, value.values()))
    return isinstance(value, list) and any(map(has_repeated_keys, value))


def make_record(pairs: list[tuple[str, object]]) -> dict[str, Any]:
    """Make an object of keys and values; a Record where a key has two values."""
    # Interned, a key that all lines have takes no memory again, and is found faster.
    record = {intern(key): value for key, value in pairs}
    if len(record) == len(pairs):
        return record
    first: dict[str, object] = {}
    repeated = [key for key, value in pairs if first.setdefault(key, value) != value]
    if repeated:
        return Record(record, repeated)
    return record


# NaN and Infinity are not JSON, but must not cost the other records of the file: they
# are read as floats.
DECODER = json.JSONDecoder(object_pairs_hook=make_record)
# Python refuses to convert integers of thousands of digits: they stay text. It is
# slower, and rarely needed.
_BIG_DECODER = json.JSONDecoder(
    object_pairs_hook=make_record,
    parse_int=lambda digits: int(digits) if len(digits) < 4000 else digits,
)


def _decode(text: str) -> object:
    try:
        return DECODER.decode(text)
    except json.JSONDecodeError:
        raise
    # "Exceeds the limit (4300 digits) for integer string conversion"
    except ValueError:
        return _BIG_DECODER.decode(text)


def parse_json(text: str, where: str) -> Any:
    """`json.loads`, strict and hardened.

    Objects with keys given twice come as `Record`; NaN and Infinity are read as floats,
    integers of 4,000 digits or more as text. Raises InputError (line, column) for
    anything that is no JSON.
    """
    if not text.strip():
        raise InputError(where, "expected JSON", "an empty file")
    try:
        return _decode(text)
    except json.JSONDecodeError as error:
        problem = f"not JSON: line {error.lineno} column {error.colno}: {error.msg}"
        raise InputError(where, problem, _guess(text)) from None
    except RecursionError:
        raise InputError(where, "expected records", "JSON nested too deeply") from None


def _guess(text: str) -> str:
    """Return the probable format of a text that is not JSON; "" if it is unknown."""
    begin = text.lstrip()[:400]
    if begin.startswith("<"):
        return "a web page (HTML)"
    head = begin.partition("\n")[0]
    looks_like_csv = begin[0] not in "[{" and "," in head and "\n" in begin
    if looks_like_csv:
        return "a table (CSV)"
    return ""


# Keys of an object that may contain the list of records.
WRAPPERS: Final = ("data", "predictions", "results")
# The beginning of a list of records.
_LIST: Final = re.compile(
    rb'\s*(?:\[|\{\s*"(?:' + "|".join(WRAPPERS).encode() + rb')"\s*:\s*\[\s*\{)'
)


# Forms of a file. The cells of a CSV are all text.
CSV: Final = "CSV"
JSON: Final = "rows of JSON"
_FIRST: Final = 1 << 16  # bytes of a file that usually hold its first objects
_MANY: Final = 1 << 26  # bytes of JSONL from which its records are not kept in memory
# Files that hold a record per line.
_BY_LINES: Final = frozenset(SUFFIXES) - {".json", ".csv"}


class BadRecord:
    """Stands in place of a record that cannot be read, so that the other records keep
    their numbers; of a row of a CSV with its cells.
    """

    def __init__(self, problem: str, cells: Sequence[str] = ()) -> None:
        self.problem = problem
        self.cells = cells


@dataclass(frozen=True)
class Loaded:
    """The records of a file, or of a caller; `lines` are where they begin, if they
    stand on lines.

    form: what the file is, in words.
    names: the columns of a table.
    damaged: how many records are a BadRecord.
    is_cut: the file ends within a record, as if it were still being written.
    is_map: the records were made of {id: value}.
    fields: what stands beside the list of records in an object.
    unit: what a record is called in messages.
    distinct_ids, total_ids: of records that are not kept in memory, how many
        ids they have.
    """

    path: Path | str
    records: Iterable[Any]
    sha256: str = ""
    lines: Sequence[int] = ()
    warnings: Sequence[str] = ()
    damaged: int = 0
    unit: str = "record"
    form: str = JSON
    names: Sequence[str] = ()
    is_cut: bool = False
    is_map: bool = False
    distinct_ids: int = 0
    total_ids: int = 0
    fields: Mapping[str, object] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.records)

    def place(self, number: int) -> str:
        """Name the place of the `number`-th record."""
        if self.lines:
            return f"line {self.lines[number - 1]}"
        return f"{self.unit} {number}"


@is_shared
def load_records(
    path: Path,
    is_json: bool | None = None,
    value_key: str = "prediction",
    any_form: bool = False,
    strict: bool = True,
) -> Loaded:
    """Load the records of a JSON, JSONL or CSV file.

    JSON holds a list of records (perhaps under "data", "predictions" or "results", or
    under its only key), or one object: a single record, or `{id: value}`, which becomes
    records of "id" and the `value_key`. JSONL holds a record per line. A CSV has the
    names of its columns in the first row. A line that is not JSON, or a row with too
    many cells, becomes a BadRecord. JSONL named `.json`, and JSON named `.jsonl`, are
    read with a warning.

    is_json: whether the file is JSON or JSONL, or else a CSV, whatever its name is.
    any_form: the file may be packed (gzip, zst), and its text in GBK or cp1252
        (`decode_text`).
    strict: a CSV with misplaced quotes is an error.

    Raises InputError if nothing can be read: no text, no JSON, empty, neither
    list nor object.
    """
    is_named = is_json is None
    may_be_packed = any_form and path.suffix in PACKS
    (require_plain if is_named and not may_be_packed else require_regular)(path)
    suffix = inner_name(path).suffix
    is_table = suffix == ".csv" if is_named else not is_json
    is_lines = suffix in _BY_LINES and not is_table
    if is_lines:
        loaded = _stream_lines(path)
        if loaded is not None:
            return loaded

    raw = read_file(path)
    # Of the bytes that are scored: a file may be replaced while it is read.
    sha256 = hashlib.sha256(raw).hexdigest()
    unpacked = unpack(raw, str(path)) if any_form else raw
    text, notes = decode_text(unpacked, str(path), any_form)
    del raw, unpacked
    if is_table:
        loaded = _parse_rows(text, path, strict)
    else:
        loaded = _parse_records(text, path, value_key, is_lines, any_form)
    return replace(loaded, sha256=sha256, warnings=[*notes, *loaded.warnings])


def _stream_lines(path: Path) -> Loaded | None:
    """Load the lines of UTF-8 without holding their text; None if the file is
    something else.
    """
    with readable(path), path.open("rb") as file:
        begin = file.read(256)
        is_list = _LIST.match(begin.removeprefix(BYTE_ORDER_MARK))
        if is_list or is_utf16(begin) or is_packed(begin):
            return None
        file.seek(0)
        # Of its whole text, which is looked at then
        with contextlib.suppress(InputError):
            return _load_lines(path, file, path.stat().st_size > _MANY)
    return None


def _parse_records(
    text: str, path: Path, value_key: str, is_lines: bool, any_form: bool
) -> Loaded:
    """Parse JSON or JSONL; `is_lines` is what the name of the file says."""
    is_list = _LIST.match(text[:256].encode())
    if is_lines and not is_list:
        try:
            return _load_lines(path, _split_lines(text))
        except InputError as error:
            with contextlib.suppress(InputError):
                return _read_despite_name(
                    _parse_whole(text, path, value_key, any_form), "one JSON object"
                )
            raise error
    try:
        loaded = _parse_whole(text, path, value_key, any_form)
    except InputError:
        if not (is_lines or _holds_lines(text)):
            raise
        loaded = _load_lines(path, _split_lines(text))
        if is_lines:
            return loaded
        return _read_despite_name(loaded, "JSON Lines")
    if is_lines:
        return _read_despite_name(loaded, "one JSON list")
    return loaded


def _read_despite_name(loaded: Loaded, form: str) -> Loaded:
    path = Path(loaded.path)
    promises_another = path.suffix in SUFFIXES
    if not promises_another:
        return loaded
    return replace(loaded, warnings=[f"{path.name}: read as {form}, despite its name"])


def _split_lines(text: str) -> Iterator[bytes]:
    """Split text into lines with their ends, as a binary file does."""
    is_of_old_macs = "\n" not in text
    if is_of_old_macs:
        text = text.replace("\r", "\n")
    return map(str.encode, io.StringIO(text))


def _parse_rows(text: str, path: Path, strict: bool) -> Loaded:
    """Parse the rows of a CSV."""
    rows = csv_rows(text, str(path), strict)
    _, names = next(rows, (0, list[str]()))
    records: list[object] = []
    lines: list[int] = []
    width = len(names)
    for line, cells in rows:
        if not cells:
            continue
        lines.append(line)
        # The answer A, B without quotes is not the answer A.
        if any(cells[len(names) :]):
            expected = (
                f"expected {len(names)} cells (a cell with commas stands in quotes)"
            )
            records.append(BadRecord(f"{expected}, got {len(cells)}", cells))
        else:
            records.append(
                make_record(list(itertools.zip_longest(names, cells[: len(names)])))
            )
        width = len(cells)
    return Loaded(
        path,
        records,
        lines=lines,
        damaged=sum(type(record) is BadRecord for record in records),
        form=CSV,
        names=names,
        is_cut=width < len(names) and not text.endswith(("\n", "\r")),
    )


def _parse_whole(text: str, path: Path, value_key: str, any_form: bool) -> Loaded:
    """Parse one JSON value: a list of records, one with such a list, or {id: value}."""
    value = parse_json(text, str(path))
    if isinstance(value, list):
        return Loaded(path, value)
    if not isinstance(value, dict):
        expected = "expected a list of records or an object"
        raise InputError(str(path), expected, type(value).__name__)
    lists = {
        key: rows
        for key, rows in value.items()
        if isinstance(rows, list)
        and rows
        and all(isinstance(row, dict) for row in rows)
    }
    for key in WRAPPERS:
        if key in lists:
            fields = {name: field for name, field in value.items() if name != key}
            return Loaded(path, lists[key], fields=fields)
    # No answer is a list of objects.
    holds_only_lists = value and len(lists) == len(value)
    if holds_only_lists and len(lists) == 1:
        return Loaded(path, next(iter(lists.values())))
    if holds_only_lists and not any_form:
        expected = f"expected a list of records, or one under {', '.join(WRAPPERS)}"
        raise InputError(str(path), expected, grouped_names([*lists]))
    has_keys = (
        "id" in value
        and {"prompt", "answer", "prediction", "ground_truth"} & value.keys()
    )
    # {"id": {"0": "q1"}, "answer": {"0": "A"}} are columns, and no record.
    is_record = has_keys and not isinstance(value["id"], (dict, list))
    if is_record:
        return Loaded(path, [value])
    twice = repeated_keys(value)
    pairs = (
        ({"id": name, value_key: answer}, name in twice)
        for name, answer in value.items()
    )
    records = [Record(row, [value_key]) if is_twice else row for row, is_twice in pairs]
    return Loaded(path, records, is_map=True)


@dataclass(frozen=True)
class _Lines:
    """The records of a large JSONL file, decoded whenever they are iterated."""

    path: Path

    def __iter__(self) -> Iterator[Any]:
        with readable(self.path), self.path.open("rb") as file:
            yield from (record for _, record in _decode_lines(file, str(self.path)))


def _load_lines(path: Path, file: Iterable[bytes], is_large: bool = False) -> Loaded:
    digest, records, lines = hashlib.sha256(), list[object](), list[int]()
    first, damaged, is_cut = "", 0, False
    line = b""
    ids = set[str]()
    total_ids = 0

    def hash_lines() -> Iterator[bytes]:
        nonlocal line
        for line in file:
            digest.update(line)
            yield line

    for number, record in _decode_lines(hash_lines(), str(path)):
        lines.append(number)
        if not is_large:
            records.append(record)
        elif type(record) is dict and "id" in record:
            ids.add(str(record["id"]))
            total_ids += 1
        if type(record) is BadRecord:
            damaged += 1
            is_cut = not line.endswith(b"\n")
            first = first or f"line {number}: {record.problem}"
    if damaged == len(lines):
        expected = "expected one JSON record per line"
        expected += ", but no line is JSON" if damaged else ""
        raise InputError(str(path), expected, first or "an empty file")
    line_numbers = lines if len(lines) < lines[-1] else range(1, len(lines) + 1)
    return Loaded(
        path,
        _Lines(path) if is_large else records,
        digest.hexdigest(),
        line_numbers,
        damaged=damaged,
        is_cut=is_cut,
        distinct_ids=len(ids),
        total_ids=total_ids,
    )


def _decode_lines(file: Iterable[bytes], where: str) -> Iterator[tuple[int, object]]:
    """Decode the records of lines, each with its line; blank ones are skipped.

    Only a line feed ends a line: a record may contain U+2028.
    """
    position = 0
    for number, raw in enumerate(file, 1):
        line = decode_utf8(raw, where, position)
        position += len(raw)
        if not line.strip():
            continue
        try:
            record = _decode(line)
        except json.JSONDecodeError as error:
            record = BadRecord(f"not JSON: column {error.colno}: {error.msg}")
        except RecursionError:
            record = BadRecord("JSON nested too deeply")
        yield number, record


def _holds_lines(text: str) -> bool:
    """Return whether the first of several lines is a JSON object by itself."""
    first, _, rest = text.strip().partition("\n")
    try:
        return bool(rest) and isinstance(_decode(first), dict)
    except (ValueError, RecursionError):
        return False


@is_shared
def first_keys(path: Path, is_json: bool = False) -> set[str]:
    """Return the keys of the first objects in a JSON or JSONL file, by which its
    benchmark is recognised.

    Of a CSV the names in its first row, unless it `is_json`. If the first piece of a
    file contains no complete object, the whole file is read.
    """
    is_table = inner_name(path).suffix == ".csv" and not is_json
    # Reading the file will raise them again
    with contextlib.suppress(OSError, InputError):
        require_regular(path)
        with path.open("rb") as file:
            raw = file.read(_FIRST)
            if is_utf16(raw) or is_packed(raw):
                raw += file.read()
                text, _ = decode_text(unpack(raw, ""), "")
            else:
                text = raw.removeprefix(BYTE_ORDER_MARK).decode("utf-8", "replace")
            if is_table:
                return set(next(csv_rows(text, ""), (0, []))[1])
            return _find_keys(text) or _find_keys(
                text + file.read().decode("utf-8", "replace")
            )
    return set()


def _find_keys(text: str) -> set[str]:
    """Find the keys of the first 20 objects in a text."""
    keys = set[str]()
    position = text.find("{")
    with contextlib.suppress(ValueError, RecursionError):
        for _ in range(20):
            value, end = DECODER.raw_decode(text, position)
            keys.update(value)
            position = text.find("{", end)
    return keys


def group_by(values: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Group the values by their keys, both in the order in which they come."""
    groups: dict[K, list[T]] = {}
    for value in values:
        groups.setdefault(key(value), []).append(value)
    return groups


def question_key(item: JsonObject) -> tuple[str, float]:
    """Return the sort key of an item of a result: its question.

    Equal questions are sorted by their scores, so that the order of a file does not
    matter; a pending question has none.
    """
    return item["question"], item["score"] or 0.0


def as_text(raw: object) -> str:
    """Return a raw answer as the text of an item: text unchanged, "" for None, JSON for
    anything else.
    """
    if isinstance(raw, str):
        return raw
    try:
        if raw is None:
            return ""
        return json.dumps(raw, ensure_ascii=False, default=str)
    except RecursionError:
        return "(nested too deeply)"
    except ValueError:  # of an integer of more than 4,300 digits
        if not isinstance(raw, int):
            return "(a number of too many digits)"
        from decimal import Decimal  # here: hardly any answer is such a number

        return str(Decimal(raw))


def is_null(value: object) -> bool:
    """Return whether a value is None, NaN, or pandas' NaT or NA."""
    # Most values are text, and the abstract class takes ten times longer
    # than the others.
    if isinstance(value, str):
        return False
    if isinstance(value, (float, numbers.Real)):
        return bool(value != value)
    return value is None or type(value).__name__ in ("NaTType", "NAType")


_TOO_LONG: Final = 10**4000  # Python does not write integers of more than 4,300 digits


def number_text(value: object) -> str:
    """Return a finite number, also of numpy, as Python writes it; "" for anything else,
    a bool included.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return ""
    if isinstance(value, numbers.Integral):
        if abs(int(value)) < _TOO_LONG:
            return str(int(value))
        return ""
    if math.isfinite(value):
        return repr(float(value))
    return ""


def strict_value(value: object) -> object:
    """Return the value with None for every NaN and infinity, which JSON
    does not have.
    """
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return None
    if isinstance(value, Mapping):
        return {key: strict_value(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [strict_value(inner) for inner in value]
    return value


# Line feeds are the indentation: inside strings json.dumps has escaped them already.
_UNSAFE: Final = lazy(rf"[\x00-\x09\x0b-\x1f{UNSAFE_SIGNS}]")  # all but a line break


def dump_json(
    value: object, indent: int | None = None, ascii_only: bool = False
) -> str:
    """Strict JSON with sorted keys; readable Chinese unless `ascii_only`, unsafe
    characters escaped (`UNSAFE`).
    """
    encoder = json.JSONEncoder(
        ensure_ascii=ascii_only, allow_nan=False, sort_keys=True, indent=indent
    )
    try:
        text = encoder.encode(value)
    # A NaN, or a mapping that is no dict: both are rare, and to look costs more.
    except (TypeError, ValueError):
        text = encoder.encode(strict_value(value))
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def dump_pieces(record: JsonObject, ascii_only: bool = False) -> Iterator[str]:
    """`dump_json(record, …)` piece by piece: the text of its "items" may need more
    memory than there is.
    """
    before, joint, after = dump_around(record, None, ascii_only)
    yield before
    for number, item in enumerate(record.get("items") or ()):
        if number:
            yield joint
        yield dump_json(item, None, ascii_only)
    yield after


def dump_around(
    record: JsonObject, indent: int | None = None, ascii_only: bool = False
) -> tuple[str, str, str]:
    """Return the text before, between and after the items. With an indent, each
    item is a line.
    """
    if not record.get("items"):
        return "", "", dump_json(record, indent, ascii_only)
    placeholder = os.urandom(16).hex()
    text = dump_json({**record, "items": [placeholder]}, indent, ascii_only)
    before, after = text.split(f'"{placeholder}"')
    return before, ", " if indent is None else ",\n" + " " * 2 * indent, after


_PARTS: Final = lazy("([^0-9]*)([0-9]*)")


def natural_key(name: str) -> list[tuple[str, int, str]]:
    """Return a key that sorts names as readers do.

    >>> sorted(["week10", "week9", "250922"], key=natural_key)
    ['250922', 'week9', 'week10']
    """
    parts = [(text, digits.lstrip("0")) for text, digits in _PARTS.findall(name)]
    return [*((text, len(digits), digits) for text, digits in parts), (name, 0, "")]


def encode_fields(*fields: str) -> bytes:
    """Texts as bytes for a checksum, the end of each marked."""
    return "\0".join([*fields, ""]).encode("utf-8", "surrogatepass")


def hash_question(text: str) -> str:
    """Hash a short checksum of a question, by which the items of two
    results are paired.
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def hash_questions(hashes: Iterable[str]) -> str:
    """sha256 of all `hash_question`s, in any order: equal for results that
    can be compared.
    """
    return hash_text([" ".join(sorted(hashes))])


def hash_text(pieces: Iterable[str]) -> str:
    """sha256 of a text, or of its pieces, in UTF-8."""
    digest = hashlib.sha256()
    for piece in [pieces] if isinstance(pieces, str) else pieces:
        digest.update(piece.encode())
    return digest.hexdigest()
