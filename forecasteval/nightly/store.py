"""Stored results: the lock of their folder, writing with a checksum, reading only what is still
whole.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any, Final

from forecasteval.common import forms
from forecasteval.common.errors import EvaluationError, InputError, LockedError
from forecasteval.common.files import hash_file, require_regular, write_atomic
from forecasteval.common.forms import FormError
from forecasteval.common.records import JsonObject, dump_around, dump_json, dump_pieces, hash_text
from forecasteval.ranking import systems
from forecasteval.ranking.names import BOARD
from forecasteval.ranking.systems import (
    ForecasterTable,
    Summary,
    System,
    file_row,
    read_result,
)

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


_HEAD: Final = 1000  # characters in which the head of a page ends


# --- Stored results ---


def save_results(results: JsonObject, folder: Path, saved: set[str] | None = None) -> None:
    """Write `folder/NAME.json`, atomically, once no other run writes there; the name is added to
    `saved`.

    Raises InputError for the name of the leaderboard, and for one that is in `saved` already.
    """
    name = results["name"]
    if name == BOARD or (saved is not None and name in saved):
        raise InputError(name, "would overwrite another result", f"{folder.name}/{name}.json")
    with lock_folder(folder, wait=True):
        write_atomic(folder / f"{name}.json", result_pieces(results))
    if saved is not None:
        saved.add(name)


def store_result(written: Path, path: Path, system: System | ForecasterTable) -> str:
    """Put a file that holds a result in its place, and beside it what ranking needs of it; the
    sha256 of its bytes.

    Raises EvaluationError if it cannot be written.
    """
    try:
        written.replace(path)
    except OSError as error:
        raise EvaluationError(f"{path}: cannot be written: {error.strerror or error}") from None
    checksum = hash_file(path)
    _write_summary(path, system, checksum)
    return checksum


def write_changed(path: Path, text: str) -> None:
    """Write a text unless the file holds just that already."""
    if not (path.is_file() and path.read_bytes() == text.encode()):
        write_atomic(path, text)


def result_pieces(results: JsonObject, indent: int | None = 1) -> Iterator[str]:
    """The text of a result with a checksum of itself, so that a damaged one is never taken for a
    score, piece by piece; the checksum is that of the text without an indent, in which each item is
    the same.
    """
    digest, mark, items = hashlib.sha256(), os.urandom(16).hex(), results.get("items") or ()
    plain, shown = dump_around(results), dump_around({**results, "result_sha256": mark}, indent)
    digest.update(plain[0].encode())
    yield shown[0]
    for number, item in enumerate(items):
        text = dump_json(item)
        digest.update((plain[1] * (number > 0) + text).encode())
        yield shown[1] * (number > 0) + text
    digest.update(plain[2].encode())
    yield shown[2].replace(mark, digest.hexdigest()) + "\n"


def read_stored(path: Path) -> tuple[dict[str, Any], str]:
    """A stored result, and the sha256 of its bytes; {} if it does not exist or is damaged.

    Its `result_sha256` must be that of the rest.
    """
    with contextlib.suppress(
        OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, InputError
    ):
        require_regular(path)
        raw = path.read_bytes()
        record = json.loads(raw)
        if record.pop("result_sha256") == hash_text(dump_pieces(record)):
            return record, hashlib.sha256(raw).hexdigest()
    return {}, ""


# --- What ranking needs of a stored result ---


def summary_path(path: Path) -> Path:
    """The file with what ranking needs of a stored result."""
    return path.parent / ".ranking" / path.name


def _write_summary(path: Path, system: System | ForecasterTable, checksum: str) -> None:
    """Keep what ranking needs of a stored result, of this sha256, so that it need not be read whole
    again.
    """
    summary = forms.to_record(Summary(file_sha256=checksum, system=system))
    with contextlib.suppress(EvaluationError):  # then it is read whole
        write_atomic(summary_path(path), result_pieces(summary, None))


def kept_summary(path: Path) -> Summary | None:
    """The summary that is kept beside a stored result; None if it does not exist or is damaged."""
    # What another version wrote, or was saved with options that a leaderboard does not take, is
    # none.
    with contextlib.suppress(FormError, InputError):
        return systems.read_summary(read_stored(summary_path(path))[0])
    return None


def read_summary(path: Path, checksum: str) -> System | ForecasterTable | None:
    """The summary for ranking of the stored result with this sha256; None if it does not exist or
    is damaged.
    """
    summary = kept_summary(path)
    if summary and summary.file_sha256 == checksum:
        return summary.system
    stored, stored_checksum = read_stored(path)
    with contextlib.suppress(FormError, InputError):
        if stored and stored_checksum == checksum:
            system = read_result(stored)
            _write_summary(path, system, checksum)
            return system
    return None


def remove_gone(folder: Path, names: Container[str], predictions: Container[str]) -> None:
    """Remove what nightly runs wrote for predictions that are gone: a result whose kept summary
    has its sha256, its page, and the summary. Every other file stays.

    The results with these `names` are of tonight; of one that is not, some `predictions` may be
    there all the same, if their dataset is gone.
    """
    for kept in sorted(summary_path(folder / "any").parent.glob("*.json")):
        path = folder / kept.name
        summary = None if path.stem in names else kept_summary(path)
        if not summary or any(
            name in predictions for name in str(file_row(summary.system).prediction).split(", ")
        ):
            continue
        with contextlib.suppress(OSError, InputError):  # what cannot be removed tonight stays
            if hash_file(path) == summary.file_sha256:
                if is_current(path.with_suffix(".html"), summary.file_sha256):
                    path.with_suffix(".html").unlink()
                path.unlink()
            kept.unlink()


def is_current(path: Path, key: str) -> bool:
    """Whether a page is there, and shows what has this key, or a key that begins so."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return f'<meta name="key" content="{key}' in file.read(_HEAD)
    except (OSError, ValueError):  # a name that no file can have
        return False


# --- The lock ---

_READ_ONLY: Final = (errno.EACCES, errno.EPERM, errno.EROFS)
_NO_LOCKS: Final = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)
_POLL: Final = 0.05  # seconds between two looks at a lock that is a file

# What `write_atomic` and the processes of a nightly run write into before it is whole.
_TEMPORARY: Final = re.compile(r"\.[0-9]+-[0-9a-z_]{8}\.tmp")


@contextlib.contextmanager
def lock_folder(folder: Path, wait: bool = False) -> Iterator[str]:
    """Hold `folder/.lock`, which the system releases when its holder dies, and sweep what a killed
    holder left.

    Without `fcntl` it is `.soft-lock`, whose existence is the lock: the empty `.lock`, which stays
    when its holder has gone, would look like one that is held. Yields "", or a note that this file
    system has no such locks. If another run holds the lock: wait for its end, or LockedError.
    EvaluationError if the folder cannot be written.
    """
    path, note = folder / ".lock", ""
    if fcntl is None:
        path = folder / ".soft-lock"
        note = f"{path}: this file system has no locks: if a run is killed, remove its lock by hand"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = _open_locked(path, wait)
    except BlockingIOError:
        raise LockedError(f"{folder}: another run uses this folder") from None
    except OSError as error:
        problem = (
            "this file system has no locks" if error.errno in _NO_LOCKS else "cannot be written"
        )
        hint = "; --output DIR names another folder" if error.errno in _READ_ONLY else ""
        reason, where = error.strerror or error, error.filename or path
        raise EvaluationError(f"{where}: {problem}: {reason}{hint}") from None
    try:
        _sweep(folder)
        yield note
    finally:
        os.close(held)  # which releases it
        if fcntl is None:
            path.unlink()


def _open_locked(path: Path, wait: bool) -> int:
    """A descriptor of the file that holds the lock; BlockingIOError if another run does."""
    if fcntl is None:
        while True:
            with contextlib.suppress(FileExistsError):
                return os.open(path, os.O_CREAT | os.O_EXCL)
            if not wait:
                raise BlockingIOError
            time.sleep(_POLL)
    held = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(held, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(held)
        raise
    return held


def _sweep(folder: Path) -> None:
    """Remove the files that a killed run left; such names are only written by the run that has the
    lock.
    """
    for stray in folder.glob(".*.tmp"):
        if _TEMPORARY.fullmatch(stray.name):
            with contextlib.suppress(OSError):
                shutil.rmtree(
                    stray, True
                ) if stray.is_dir() and not stray.is_symlink() else stray.unlink()
