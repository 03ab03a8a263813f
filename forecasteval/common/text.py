"""Bytes to text, and text to the cells of a CSV: any encoding, packing and separator.

Who is asked for one file reads what people have. A nightly run and a file of truths
take UTF-8 and UTF-16 only: a truth in the wrong letters scores all answers wrong.
"""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from .errors import InputError, extra_package, printable
from .patterns import lazy

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
MAX_BYTES: Final = 1 << 30  # of a file; its records take several times as much memory
MAX_CELL: Final = 1 << 30  # of a CSV: a trace of reasoning is longer than csv's 128 KiB
PACKS: Final = (".gz", ".zst")  # extensions of the files that `unpack` unpacks
UNREADABLE: Final = {  # by extension: the kind of file, and what to do with it
    **dict.fromkeys(
        (*PACKS, ".bz2", ".xz", ".zip"), "a compressed file; unpack it first"
    ),
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "a spreadsheet; save it as CSV"),
    ".parquet": "a Parquet file; make a prediction of it first (convert)",
    ".eval": "a log of inspect_ai; make a prediction of it first (convert)",
}
_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_MAGIC: Final = {  # the first bytes of such files, which may have other names
    _GZIP: UNREADABLE[".gz"],
    b"BZh": UNREADABLE[".bz2"],
    b"\xfd7zXZ": UNREADABLE[".xz"],
    _ZSTD: UNREADABLE[".zst"],
    b"PK\x03\x04": "a compressed file or spreadsheet; unpack it, or save it as CSV",
    b"PAR1": UNREADABLE[".parquet"],
}
_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_CONTROLS: Final = lazy(rb"[\x00-\x08\x0e-\x1f]")
# A character of UTF-8 that takes two bytes or more.
_WIDE: Final = lazy(rb"[\xc2-\xf4][\x80-\xbf]")
# Packed bytes at a time: zstd makes up to 100,000 times as many of them
_PIECE: Final = 1024


class EncodingError(InputError):
    """Text that is not UTF-8."""


# --- Packed files ---


def is_packed(begin: bytes) -> bool:
    """Return whether a file begins as one that `unpack` unpacks."""
    return begin.startswith((_GZIP, _ZSTD))


def inner_name(path: Path) -> Path:
    """Drop the extension of a packed file: `x.jsonl` of `x.jsonl.gz`."""
    if path.suffix in PACKS:
        return path.with_suffix("")
    return path


def unpack(raw: bytes, where: str) -> bytes:
    """Unpack a file of gzip or zstd; any other is returned as it is.

    Raises InputError for one that is cut or damaged, and for more than `MAX_BYTES`.
    """
    if raw.startswith(_GZIP):
        return _unpack_gzip(raw, where)
    if raw.startswith(_ZSTD):
        return _unpack_zstd(raw, where)
    return raw


def _unpack_gzip(raw: bytes, where: str) -> bytes:
    import gzip
    import zlib

    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
            text = file.read(MAX_BYTES + 1)
    except (EOFError, OSError, zlib.error) as error:
        raise InputError(
            where, f"cannot be unpacked: {printable(error, 120)}"
        ) from None
    _require_size(len(text), where)
    return text


def _unpack_zstd(raw: bytes, where: str) -> bytes:
    with extra_package("zstandard", where, "unpack it first"):
        import zstandard

    pieces: list[bytes] = []
    size = 0
    # A file may consist of several frames, each of which ends by itself.
    frame: Any = zstandard.ZstdDecompressor().decompressobj()
    try:
        for start in range(0, len(raw), _PIECE):
            rest = raw[start : start + _PIECE]
            while rest:
                if frame.eof:
                    frame = zstandard.ZstdDecompressor().decompressobj()
                piece = frame.decompress(rest)
                rest = frame.unused_data
                size += len(piece)
                _require_size(size, where)
                pieces.append(piece)
    except zstandard.ZstdError as error:
        raise InputError(
            where, f"cannot be unpacked: {printable(error, 120)}"
        ) from None
    if not frame.eof:
        raise InputError(where, "cannot be unpacked: the file is cut")
    return b"".join(pieces)


def _require_size(size: int, where: str) -> None:
    if size > MAX_BYTES:
        raise InputError(
            where, f"expected {MAX_BYTES:,} bytes at most when unpacked; split it"
        )


# --- Text ---


def is_utf16(begin: bytes) -> bool:
    """Return whether a file begins with the mark of UTF-16, and not with
    that of UTF-32.
    """
    return begin.startswith(_UTF16_MARKS) and begin[2:4] != b"\0\0"


def decode_utf8(raw: bytes, where: str, position: int = 0) -> str:
    """Decode UTF-8 text, a byte order mark at its start dropped; anything else is an
    InputError with the byte position.

    `position` is where `raw` begins in the file.
    """
    text = raw
    if position == 0:
        for magic, kind in _MAGIC.items():
            if raw.startswith(magic):
                raise InputError(where, "expected text", kind)
        if raw.startswith(_UTF16_MARKS) or b"\0" in raw[:4]:
            at = 0 if raw[:1] >= b"\xfe" else raw.index(b"\0")
            expected = f"not UTF-8: byte 0x{raw[at]:02x} at position {at}"
            raise EncodingError(where, expected, "UTF-16 or UTF-32 text")
        text = raw.removeprefix(BYTE_ORDER_MARK)
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        at = position + len(raw) - len(text) + error.start
        expected = f"not UTF-8: byte 0x{text[error.start]:02x} at position {at}"
        raise EncodingError(where, expected) from None


def decode_text(
    raw: bytes, where: str, any_encoding: bool = True
) -> tuple[str, list[str]]:
    """Decode a file of text: (text, notes).

    It is UTF-8, UTF-16 (Excel's "Unicode text", and what `>` writes in PowerShell), or,
    with `any_encoding`, GBK or cp1252, in which Excel saves in China and in the west; a
    note names these two. Any other is an EncodingError, with the command that makes
    UTF-8 of it if there is one.
    """
    if is_utf16(raw):
        try:
            return raw.decode("utf-16"), []
        except UnicodeDecodeError as error:
            expected = f"not UTF-16, as it begins: position {error.start}"
            raise EncodingError(where, expected) from None
    try:
        return decode_utf8(raw, where), []
    except EncodingError as error:
        if _CONTROLS.search(raw):
            raise EncodingError(
                where, error.expected, error.got or "another kind of file"
            ) from None
        encoding, name = _guess_encoding(raw)
        if not encoding and _WIDE.search(raw):
            raise
        if not encoding:
            got = "text in an unknown encoding; save it as UTF-8"
            raise EncodingError(where, error.expected, got) from None
        if any_encoding:
            file = printable(Path(where).name)
            return raw.decode(encoding), [f"{file}: not UTF-8, read as {name}"]
        file = shlex.quote(where)
        got = (
            f"text in {name}; make UTF-8 of it: iconv -f {encoding} -t UTF-8 {file} "
            "> utf8.txt"
        )
        raise EncodingError(where, error.expected, got) from None


def _guess_encoding(raw: bytes) -> tuple[str, str]:
    """Guess the (codec, usual name) of text that is not UTF-8; ("", "") if
    it is damaged.
    """
    if _is_gbk(raw):
        return "GB18030", "GBK"
    # Text of UTF-8 with a damaged byte would have other letters everywhere in cp1252.
    is_damaged = _WIDE.search(raw) is not None
    if is_damaged:
        return "", ""
    try:
        raw.decode("cp1252")
    except UnicodeDecodeError:
        return "", ""
    return "CP1252", "cp1252"


def _is_gbk(raw: bytes) -> bool:
    """Return whether nearly all that is not ASCII are characters of GB 2312."""
    try:
        wide = [char for char in raw.decode("gb18030") if char > "\x7f"]
    except UnicodeDecodeError:
        return False
    return sum(len(char.encode("gb2312", "ignore")) == 2 for char in wide) > 0.9 * len(
        wide
    )


# --- Cells ---

_SEPARATORS: Final = ",;\t|"  # the most frequent one in the first line counts
# The line before the header that tells Excel the separator.
_NAMED_SEPARATOR: Final = lazy(r'"?sep=([^"\r\n])"?(?:\r\n|\r|\n)', re.IGNORECASE)


def csv_rows(
    text: str, where: str, strict: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """Read every row of a CSV from its header on: (line, cells). The line is the one on
    which the row begins.

    A blank row has no cells: `if cells: dict(zip_longest(names, cells))` makes records
    of the others, in which a cell that lacks is None, and a cell without a name has the
    key None. With `strict`, misplaced quotes are an error too. Raises InputError, with
    the line, for text that is no CSV.
    """
    import csv  # here: most commands read none

    rest = text.lstrip("\r\n")
    named = _NAMED_SEPARATOR.match(rest)
    if named:
        rest = rest[named.end() :]
    lines_above = text.count("\n", 0, len(text) - len(rest))
    lines = io.StringIO(rest, newline="")
    head = lines.readline()
    lines.seek(0)
    separator = named[1] if named else max(_SEPARATORS, key=head.count)
    reader = csv.reader(lines, delimiter=separator, strict=strict)
    csv.field_size_limit(MAX_CELL)
    begin = lines_above + 1
    try:
        for cells in reader:
            yield begin, cells
            begin = lines_above + reader.line_num + 1
    except csv.Error as error:
        place = f"{where}: line {lines_above + reader.line_num}"
        raise InputError(place, f"not CSV: {error}") from None
