"""Files: finding them by name, regular files only, CSV, files that change, atomic replacement."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from .errors import EvaluationError, InputError, grouped_names, printable

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
SUFFIXES: Final = (".json", ".jsonl", ".csv")
MAX_CELL: Final = 1 << 30  # of a CSV: a trace of reasoning is longer than csv's 128 KiB
TRUTHS_END: Final = ".truths"  # of the stem of a file with the truths of a dataset
NAME_ENDS: Final = "-_.@"  # what ends a dataset's name at the start of a prediction's
_PACKED: Final = {  # by extension: the kind of file, and what to do with it
    **dict.fromkeys((".gz", ".bz2", ".xz", ".zst", ".zip"), "a compressed file; unpack it first"),
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "a spreadsheet; save it as CSV"),
    ".parquet": "a Parquet file; make a prediction of it first (convert)",
    ".eval": "a log of inspect_ai; make a prediction of it first (convert)",
}
_MAGIC: Final = {  # the first bytes of such files, which may have other names
    b"\x1f\x8b": _PACKED[".gz"],
    b"BZh": _PACKED[".bz2"],
    b"\xfd7zXZ": _PACKED[".xz"],
    b"\x28\xb5\x2f\xfd": _PACKED[".zst"],
    b"PK\x03\x04": "a compressed file or spreadsheet; unpack it, or save it as CSV",
    b"PAR1": _PACKED[".parquet"],
}


def decode_utf8(raw: bytes, where: str, position: int = 0) -> str:
    """UTF-8 text, a byte order mark at its start dropped; anything else is an InputError with the
    byte position.

    `position` is where `raw` begins in the file.
    """
    text = raw
    if position == 0:
        for magic, kind in _MAGIC.items():
            if raw.startswith(magic):
                raise InputError(where, "expected text", kind)
        if raw[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in raw[:4]:
            at = 0 if raw[:1] >= b"\xfe" else raw.index(b"\0")
            expected = f"not UTF-8: byte 0x{raw[at]:02x} at position {at}"
            raise InputError(where, expected, "UTF-16 or UTF-32 text")
        text = raw.removeprefix(BYTE_ORDER_MARK)
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        at = position + len(raw) - len(text) + error.start
        wanted = f"not UTF-8: byte 0x{text[error.start]:02x} at position {at}"
        hint = "text in GBK: convert it with iconv -f GB18030 -t UTF-8" if _is_gbk(raw) else ""
        raise InputError(where, wanted, hint) from None


def decode_text(raw: bytes, where: str) -> tuple[str, list[str]]:
    """Decode a sheet that was saved as text: (text, notes). It is UTF-8, UTF-16 ("Unicode text" to
    Excel), or GBK or cp1252, as Excel writes in China and in the west, which a note names.
    """
    with contextlib.suppress(UnicodeDecodeError):
        if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return raw.decode("utf-16"), []
    try:
        return decode_utf8(raw, where), []
    except InputError as error:
        name = "GBK" if _is_gbk(raw) else "cp1252"
        if re.search(rb"[\x00-\x08\x0e-\x1f]", raw):
            raise InputError(where, error.expected, "another kind of file") from None
        try:
            return raw.decode(name), [f"the file is not UTF-8 and is read as {name}"]
        except UnicodeDecodeError:
            raise error from None


def _is_gbk(raw: bytes) -> bool:
    """Return whether nearly all that is not ASCII are characters of GB 2312."""
    try:
        wide = [char for char in raw.decode("gb18030") if char > "\x7f"]
    except UnicodeDecodeError:
        return False
    return sum(len(char.encode("gb2312", "ignore")) == 2 for char in wide) > 0.9 * len(wide)


@contextlib.contextmanager
def readable(path: Path) -> Iterator[None]:
    """Raise errors of the operating system on reading a file or folder as InputError."""
    try:
        yield
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror or error}") from None


def require_regular(path: Path) -> None:
    """Raise InputError for anything but a regular file: reading a pipe could wait for ever."""
    with readable(path):
        mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise InputError(str(path), "expected a file", "a folder; name a file in it")
    if not stat.S_ISREG(mode):
        raise InputError(
            str(path),
            "expected a regular file",
            "a pipe or device; write what it gives to a file first",
        )


def require_folder(path: Path) -> None:
    """Raise InputError if a folder that belongs to `--root` does not exist."""
    if not path.is_dir():
        got = "no such folder" if not path.exists() else "a file"
        raise InputError(
            str(path),
            "expected a folder (--root DIR names the one with prediction/ and dataset/)",
            got,
        )


def require_plain(path: Path) -> None:
    """Raise InputError for anything but a regular file, and for names of packed files."""
    require_regular(path)
    if path.suffix in _PACKED:
        raise InputError(str(path), f"expected {', '.join(SUFFIXES)}", _PACKED[path.suffix])


def read_file(path: Path) -> bytes:
    """Read a file's bytes; InputError if it cannot be read."""
    require_regular(path)
    with readable(path):
        return path.read_bytes()


def stamp_of(path: Path) -> tuple[int, ...] | None:
    """Return a value that changes when the file does; None if there is no file."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_ctime_ns, status.st_mtime_ns, status.st_size, status.st_dev, status.st_ino


def hash_file(path: Path) -> str:
    """sha256 of a file's bytes; InputError if it cannot be read."""
    require_regular(path)
    with readable(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def join_checksums(checksums: Sequence[str]) -> str:
    """Return the checksum of a single file, or one of the checksums of several."""
    return (
        checksums[0]
        if len(checksums) == 1
        else hashlib.sha256(" ".join(checksums).encode()).hexdigest()
    )


def _only(paths: Sequence[Path], where: Path, expected: str) -> Path | None:
    """Return the only path, None without one; InputError if there are several."""
    if len(paths) > 1:
        raise InputError(str(where), expected, " and ".join(path.name for path in paths))
    return paths[0] if paths else None


def find_file(name: str, folder: Path) -> Path:
    """Find the JSON, JSONL or CSV file that `name` means, with or without extension.

    A name with a separator is a path, any other is looked up in `folder`. Raises InputError: no
    such file (the nearest names that exist), or two files with one stem.
    """
    base = Path(name) if os.sep in name or "/" in name else folder / name
    matches = [
        path
        for path in (base, *(base.parent / (base.name + end) for end in SUFFIXES))
        if os.path.isfile(path)
    ]
    if base in matches:
        return base
    if only := _only(matches, base, "expected one file"):
        return only
    if os.path.exists(base):
        require_plain(base)  # raises an error that says what it is
    names = os.listdir(base.parent) if os.path.isdir(base.parent) else []
    candidates = sorted(name for name in names if name.endswith(SUFFIXES) and name[0] != ".")
    import difflib  # here: it costs more than all the rest of the start-up

    for name in sorted(names):
        if name.startswith(base.name) and Path(name).suffix in _PACKED:
            require_plain(base.parent / name)
    near = difflib.get_close_matches(base.name, candidates, n=3, cutoff=0.4)
    hint = f"; known: {grouped_names(candidates)}" if candidates else ""
    hint = f"; there is {', '.join(near)}" if near else hint
    raise InputError(printable(base, 200), f"no such file{hint}")


def csv_rows(text: str, where: str, strict: bool = True) -> Iterator[tuple[int, list[str]]]:
    """Read every row of a CSV from its header on: (line, cells). The line is the one on which the
    row begins.

    A blank row has no cells: `if cells: dict(zip_longest(names, cells))` makes records of the
    others, in which a cell that lacks is None, and a cell without a name has the key None. With
    `strict`, misplaced quotes are an error too. Raises InputError, with the line, for text that is
    no CSV.
    """
    import csv  # here: most commands read none

    rest = text.lstrip("\r\n")
    blank = text.count("\n", 0, len(text) - len(rest))
    lines = io.StringIO(rest, newline="")
    delimiter = max(",;\t", key=lines.readline().count)  # the most frequent in the header
    lines.seek(0)
    reader = csv.reader(lines, delimiter=delimiter, strict=strict)
    csv.field_size_limit(MAX_CELL)
    begin = blank + 1
    try:
        for cells in reader:
            yield begin, cells
            begin = blank + reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{where}: line {blank + reader.line_num}", f"not CSV: {error}") from None


def belongs_to(stem: str, dataset: str) -> bool:
    """Return whether a prediction's stem begins with a dataset's, as a whole name."""
    return stem == dataset or (stem.startswith(dataset) and stem[len(dataset)] in NAME_ENDS)


def find_dataset(
    prediction: Path, folder: Path, has_questions: Callable[[Path], bool] = lambda path: False
) -> Path | None:
    """Find the dataset of a prediction: the longest-named file in `folder` that fits. Its stem is
    the prediction's, or a prefix of it up to `-`, `_`, `.` or `@`.

    None if there is none, and for a file that `has_questions`; InputError if two fit equally well,
    or if the folder exists and cannot be read.
    """
    if has_questions(prediction):
        return None
    stem = prediction.stem
    if not folder.exists():
        return None
    with readable(folder):
        names = sorted(os.listdir(folder))
    fitting = [
        path
        for path in (folder / name for name in names if stem.startswith(name.partition(".")[0]))
        if path.suffix in (".json", ".jsonl")
        and not path.stem.endswith(TRUTHS_END)
        and belongs_to(stem, path.stem)
    ]
    longest = max((len(path.stem) for path in fitting), default=0)
    best = [path for path in fitting if len(path.stem) == longest]
    return _only(best, folder, "expected one dataset")


def find_truths(dataset: Path) -> Path | None:
    """Find the file with truths beside a dataset; InputError if there are several."""
    names = [dataset.with_name(f"{dataset.stem}{TRUTHS_END}{end}") for end in SUFFIXES]
    matches = [path for path in names if path.exists()]
    return _only(matches, dataset.parent, f"expected one file of truths for {dataset.name}")


def temporary_name(folder: Path) -> Path:
    """Return a name for a file until it is complete. The next run deletes files that a killed run
    has left.
    """
    return folder / f".{os.getpid()}-{os.urandom(4).hex()}.tmp"


def write_atomic(path: Path, content: str | bytes | Iterable[str]) -> None:
    """Write text, its pieces, or bytes as a whole. A kill leaves the old file or the new one, never
    a torn one.

    Raises EvaluationError if the folder is read-only or the disk is full; the old file is then
    intact.
    """
    temporary = temporary_name(path.parent)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        pieces = [content] if isinstance(content, (str, bytes)) else content
        with temporary.open("wb") as file:
            file.writelines(
                piece if isinstance(piece, bytes) else piece.encode() for piece in pieces
            )
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise EvaluationError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        with contextlib.suppress(OSError):  # it is gone if all went well
            temporary.unlink()
