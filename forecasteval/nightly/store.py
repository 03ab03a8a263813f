"""Stored results: the lock of their folder, writing with a checksum, reading only what
is still whole.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from forecasteval.common.errors import (
    EvaluationError,
    InputError,
    LockedError,
    extra_package,
    show_count,
)
from forecasteval.common.files import (
    hash_file,
    read_file,
    require_regular,
    write_atomic,
)
from forecasteval.common.records import (
    JsonObject,
    dump_around,
    dump_json,
    dump_pieces,
    hash_text,
)
from forecasteval.ranking.names import BOARD

if TYPE_CHECKING:  # a result is stored without what ranks it
    from forecasteval.ranking.files import FileRow, ForecasterTable
    from forecasteval.ranking.systems import System

_HEAD: Final = 1000  # bytes in which the head of a page ends


# --- Stored results ---


def save_results(
    results: JsonObject, folder: Path, saved: set[str] | None = None
) -> None:
    """Write `folder/NAME.json`, atomically, once no other run writes there; the name is
    added to `saved`.

    Raises InputError for the name of the leaderboard, and for one that is in
    `saved` already.
    """
    name = results["name"]
    if name == BOARD or (saved is not None and name in saved):
        raise InputError(
            name, "would overwrite another result", f"{folder.name}/{name}.json"
        )
    with lock_folder(folder, wait=True):
        write_atomic(folder / f"{name}.json", result_pieces(results))
    if saved is not None:
        saved.add(name)


def write_changed(path: Path, text: str) -> None:
    """Write a text unless the file holds just that already."""
    if not (path.is_file() and path.read_bytes() == text.encode()):
        write_atomic(path, text)


def result_pieces(results: JsonObject) -> Iterator[str]:
    """Write out a result, piece by piece, with a checksum of itself. So a damaged one
    is never taken for a score; the checksum is that of the text without an indent, in
    which each item is the same.
    """
    digest = hashlib.sha256()
    placeholder = os.urandom(16).hex()
    plain = dump_around(results)
    shown = dump_around({**results, "result_sha256": placeholder}, 1)
    digest.update(plain[0].encode())
    yield shown[0]
    for number, item in enumerate(results.get("items") or ()):
        if number > 0:
            digest.update(plain[1].encode())
            yield shown[1]
        text = dump_json(item)
        digest.update(text.encode())
        yield text
    digest.update(plain[2].encode())
    yield shown[2].replace(placeholder, digest.hexdigest()) + "\n"


def read_stored(path: Path, known: str = "") -> tuple[dict[str, Any], str]:
    """Read a stored result, and the sha256 of its bytes; {} if it does not exist
    or is damaged.

    Its bytes have the sha256 that is `known`, or its `result_sha256` must be
    that of the rest.
    """
    with contextlib.suppress(
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
        InputError,
    ):
        require_regular(path)
        raw = path.read_bytes()
        record = json.loads(raw)
        checksum = hashlib.sha256(raw).hexdigest()
        stated = record.pop("result_sha256")
        if checksum == known or stated == hash_text(dump_pieces(record)):
            return record, checksum
    return {}, ""


@dataclass(frozen=True)
class StoredResult:
    """A stored result that is ranked: its file, what a board says of it, and what
    ranking needs of it, if that was read already.
    """

    path: Path
    checksum: str
    row: FileRow
    known: System | ForecasterTable | None = None

    def move_to(self, folder: Path) -> StoredResult:
        """Put its file in a folder; EvaluationError if it cannot be written there."""
        path = folder / self.path.name
        try:
            self.path.replace(path)
        except OSError as error:
            raise EvaluationError(
                f"{path}: cannot be written: {error.strerror or error}"
            ) from None
        return replace(self, path=path)

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def stems(self) -> set[str]:
        """Return the stems of its prediction files."""
        return {Path(name).stem for name in self.row.predictions}

    def read(self) -> System | ForecasterTable:
        """Read what ranking needs; EvaluationError if another process has
        changed the file.
        """
        from forecasteval.ranking.systems import mark

        result = self.known or read_result_of(self.path, self.checksum)
        if result is None:
            problem = "changed while the leaderboard was made; run again"
            raise EvaluationError(f"{self.path}: {problem}")
        return mark(result, file_sha256=self.checksum)


def read_result_of(
    path: Path, checksum: str, is_known: bool = True
) -> System | ForecasterTable | None:
    """Read what ranking needs of the stored result with this sha256. None if it is
    another one, of another version, or damaged, unless `is_known` to have been whole
    with this sha256.
    """
    from forecasteval.ranking.reading import read_result

    known = ""
    if is_known:
        known = checksum
    stored, stored_checksum = read_stored(path, known)
    if not stored or stored_checksum != checksum:
        return None
    with contextlib.suppress(InputError):
        return read_result(stored)
    return None


def remove_gone(
    folder: Path,
    names: Container[str],
    predictions: Container[str],
    rows: Mapping[str, FileRow],
) -> None:
    """Remove the results and pages that nightly runs wrote for predictions that are
    gone. They are those with the sha256 that their `rows` of the last board have; every
    other file stays.

    The results with these `names` are of tonight; of one that is not, some
    `predictions` may be there all the same, if their dataset is gone.
    """
    for name, row in rows.items():
        if name in names or any(file in predictions for file in row.predictions):
            continue
        path = folder / f"{name}.json"
        # What cannot be removed tonight stays
        with contextlib.suppress(OSError, InputError):
            if hash_file(path) == row.file_sha256:
                if is_current(path.with_suffix(".html"), row.file_sha256):
                    path.with_suffix(".html").unlink()
                path.unlink()


def is_current(path: Path, key: str) -> bool:
    """Tell whether a page is there, and shows what has this key, or a key
    that begins so.
    """
    try:
        with path.open("rb") as file:
            return f'<meta name="key" content="{key}'.encode() in file.read(_HEAD)
    except (OSError, ValueError):  # a name that no file can have
        return False


# --- Files of lines that cannot be made again ---


def read_journal(path: Path, read_line: Callable[[bytes], bool]) -> tuple[bytes, bytes]:
    """Read a file that grows line by line; return its whole lines, and
    the damaged ones.

    read_line: takes over a line, and returns False for a damaged one.
    Raises InputError if the file cannot be read.
    """
    whole: list[bytes] = []
    damaged: list[bytes] = []
    if not os.path.lexists(path):
        return b"", b""
    for line in read_file(path).split(b"\n"):
        if line.strip():
            lines = whole if read_line(line) else damaged
            lines.append(line + b"\n")
    return b"".join(whole), b"".join(damaged)


def set_lines_aside(path: Path, whole: bytes, damaged: bytes) -> list[str]:
    """Move the damaged lines of a file to `NAME.damaged`, with a note;
    nothing without any.
    """
    if not damaged:
        return []
    aside = path.with_name(f"{path.name}.damaged")
    before = b""
    if os.path.lexists(aside):
        before = read_file(aside)
    write_atomic(aside, before + damaged)
    write_atomic(path, whole)
    count = show_count(damaged.count(b"\n"), "damaged line")
    return [f"{path}: {count} set aside in {aside.name}"]


def set_aside(path: Path) -> str:
    """Rename a file that cannot be read to `NAME.damaged`, or a free name like that."""
    number = 1
    name = f"{path.name}.damaged"
    while os.path.lexists(path.with_name(name)):
        number += 1
        name = f"{path.name}.damaged-{number}"
    try:
        path.rename(path.with_name(name))
    except OSError as error:
        raise EvaluationError(
            f"{path}: cannot be moved: {error.strerror or error}"
        ) from None
    return name


# --- The lock ---

# What `write_atomic` and the processes of a nightly run write into before it is whole,
# and the folders of parts of results that version 2.0 kept.
_TEMPORARY: Final = re.compile(r"\.[0-9]+-[0-9a-z_]{8}\.tmp|\.ranking|\.replaced")


@contextlib.contextmanager
def lock_folder(folder: Path, wait: bool = False) -> Iterator[None]:
    """Hold `folder/.lock`, which the system releases when its holder dies, and sweep
    what a killed holder left.

    If another run holds the lock: wait for its end, or LockedError. EvaluationError if
    the folder cannot be written.
    """
    with extra_package("filelock", str(folder)):  # here: most commands lock nothing
        from filelock import FileLock, Timeout

    try:
        # Where the file system has no locks, filelock would take a file that is
        # left for a run.
        lock = FileLock(folder / ".lock", fallback_to_soft=False)
    except TypeError:  # an older version, which has no locks of its own
        lock = FileLock(folder / ".lock")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(blocking=wait)
    except Timeout:
        raise LockedError(f"{folder}: another run uses this folder") from None
    # The latter of filelock before 3.20
    except (OSError, NotImplementedError) as error:
        where, reason = folder / ".lock", str(error)
        if isinstance(error, OSError):
            where, reason = error.filename or where, error.strerror or reason
        problem = (
            f"cannot be locked or written: {reason}; --output DIR names another folder"
        )
        raise EvaluationError(f"{where}: {problem}") from None
    try:
        _sweep(folder)
        yield
    finally:
        lock.release()


def _sweep(folder: Path) -> None:
    """Remove what a killed run left; only the run that has the lock
    writes such names.
    """
    for stray in folder.glob(".*"):
        if _TEMPORARY.fullmatch(stray.name):
            with contextlib.suppress(OSError):
                if stray.is_dir() and not stray.is_symlink():
                    shutil.rmtree(stray, ignore_errors=True)
                else:
                    stray.unlink()
