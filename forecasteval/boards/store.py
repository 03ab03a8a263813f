"""Stored results: the lock of their folder, writing with a checksum, reading only what is still whole."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import re
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from forecasteval.common.errors import EvaluationError, InputError, LockedError
from forecasteval.common.files import hash_file, require_regular, write_atomic
from forecasteval.common.records import dump_pieces
from forecasteval.common.results import Results

BOARD: Final = "leaderboard"  # the stem that no result may have

Score = Callable[..., Results]  # of a prediction file and its dataset or None; others of the same set come third


# --- Stored results ---


def save_results(results: Mapping[str, Any], folder: Path, saved: set[str] | None = None) -> None:
    """Write `folder/NAME.json`, atomically, once no other run writes there; the name is added to `saved`.

    Raises InputError for the name of the leaderboard, and for one that is in `saved` already.
    """
    name = results["name"]
    if name == BOARD or (saved is not None and name in saved):
        raise InputError(name, "would overwrite another result", f"{folder.name}/{name}.json")
    with lock_folder(folder, wait=True):
        write_atomic(folder / f"{name}.json", result_pieces(results))
    if saved is not None:
        saved.add(name)


def store_result(written: Path, path: Path) -> str:
    """Put a file that holds a result in its place; the sha256 of its bytes. EvaluationError if it cannot be written."""
    try:
        written.replace(path)
    except OSError as error:
        raise EvaluationError(f"{path}: cannot be written: {error.strerror or error}") from None
    return hash_file(path)


def result_text(results: Mapping[str, Any]) -> str:
    """The result with a checksum of itself, so that a damaged one is never taken for a score."""
    return "".join(result_pieces(results))


def result_pieces(results: Mapping[str, Any], indent: int | None = 1) -> Iterator[str]:
    """`result_text`, piece by piece."""
    yield from dump_pieces({**results, "result_sha256": _hash_result(results)}, indent)
    yield "\n"


def hash_stored(results: Mapping[str, Any]) -> str:
    """sha256 of `result_text`."""
    digest = hashlib.sha256()
    for piece in result_pieces(results):
        digest.update(piece.encode())
    return digest.hexdigest()


def _hash_result(results: Mapping[str, Any]) -> str:
    digest = hashlib.sha256()
    for piece in dump_pieces(results):
        digest.update(piece.encode())
    return digest.hexdigest()


def read_stored(path: Path) -> tuple[dict[str, Any], str]:
    """What `result_text` wrote, and the sha256 of its bytes; {} if it is not there, damaged, or no longer whole.

    Its `result_sha256` must be that of the rest.
    """
    try:
        require_regular(path)
        raw = path.read_bytes()
        record = json.loads(raw)
        claimed = record.pop("result_sha256")
        if claimed == _hash_result(record):
            return record, hashlib.sha256(raw).hexdigest()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, InputError):
        pass
    return {}, ""


def hash_text(text: str) -> str:
    """sha256 of a text in UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


# --- The lock ---

_READ_ONLY: Final = (errno.EACCES, errno.EPERM, errno.EROFS)
_NO_LOCKS: Final = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP)

# What `write_atomic` and the processes of a nightly run write into before it is whole.
_TEMPORARY: Final = re.compile(r"\.[0-9]+-[0-9a-z_]{8}\.tmp")


@contextlib.contextmanager
def lock_folder(folder: Path, wait: bool = False) -> Iterator[str]:
    """Hold `folder/.lock`, which the system releases when its holder dies, and sweep what a killed holder left.

    Without `fcntl` it is `.soft-lock`, whose being there is the lock: it would take the empty `.lock`, which stays
    when its holder has gone, for one that is held. What it yields is "", or a note that this file system has no such
    locks. If another run holds it: wait for its end, or LockedError. EvaluationError if the folder cannot be written.
    """
    path, note = folder / ".lock", ""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")  # without flock (a system, a disk) filelock warns and finds another way
        from filelock import FileLock, SoftFileLock, Timeout

        if issubclass(FileLock, SoftFileLock):
            path = folder / ".soft-lock"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(path)
            lock.acquire(blocking=wait)
        except Timeout:
            raise LockedError(f"{folder}: another run is at work here") from None
        except (OSError, NotImplementedError) as error:  # a disk that has no locks
            reason = getattr(error, "strerror", None) or error
            missing = getattr(error, "errno", None) in _NO_LOCKS
            problem = "this file system has no locks" if missing else "cannot be written"
            hint = "; --output DIR names another folder" * (getattr(error, "errno", None) in _READ_ONLY)
            raise EvaluationError(f"{path}: {problem}: {reason}{hint}") from None
    if any("soft" in str(warning.message).lower() for warning in told):
        note = f"{path}: this file system has no locks: a run that is killed here leaves its lock; remove it by hand"
    try:
        _sweep(folder)
        yield note
    finally:
        lock.release()


def _sweep(folder: Path) -> None:
    """Remove what a killed run left; nobody writes such names without the lock."""
    for stray in folder.glob(".*.tmp"):
        if not _TEMPORARY.fullmatch(stray.name):
            continue
        if stray.is_dir() and not stray.is_symlink():
            shutil.rmtree(stray, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                stray.unlink()
