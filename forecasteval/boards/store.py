"""Stored results: the lock of their folder, writing with a checksum, reading only what is still whole."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from forecasteval.common.errors import EvaluationError, InputError, LockedError
from forecasteval.common.files import require_regular, write_atomic
from forecasteval.common.records import dump_json
from forecasteval.common.report import Results

BOARD: Final = "leaderboard"  # the stem that no result may have

Score = Callable[[Path, "Path | None"], Results]


# --- Scoring a file that somebody may be writing ---


def score_unchanged(score: Score, path: Path, dataset: Path | None) -> Results:
    """`score(path, dataset)`, once more if a file changed meanwhile (size, time or identity).

    Raises InputError if it changed again, and what `score` raises for files that stay as they are.
    """
    for last in (False, True):
        before = _stamps(path, dataset)
        try:
            results = score(path, dataset)
        except EvaluationError:
            if last or _stamps(path, dataset) == before:
                raise
            continue
        if _stamps(path, dataset) == before:
            return results
    raise InputError(str(path), "expected files that stay as they are", "a change while it was read, twice")


def _stamps(*paths: Path | None) -> list[tuple[int, int, int] | None]:
    stamps: list[tuple[int, int, int] | None] = []
    for path in paths:
        try:
            status = path.stat() if path else None
        except OSError:  # `score` will say so
            status = None
        stamps.append((status.st_size, status.st_mtime_ns, status.st_ino) if status else None)
    return stamps


# --- Stored results ---


def save_results(results: Mapping[str, Any], folder: Path, saved: set[str] | None = None) -> None:
    """Write `folder/NAME.json`, atomically, once no other run writes there; the name is added to `saved`.

    Raises InputError for the name of the leaderboard, and for one that is in `saved` already.
    """
    name = results["name"]
    if name == BOARD or (saved is not None and name in saved):
        raise InputError(name, "would overwrite another result", f"{folder.name}/{name}.json")
    with lock_folder(folder, wait=True):
        write_atomic(folder / f"{name}.json", result_text(results))
    if saved is not None:
        saved.add(name)


def result_text(results: Mapping[str, Any]) -> str:
    """The result with a checksum of itself, so that a damaged one is never taken for a score."""
    return dump_json({**results, "result_sha256": hash_text(dump_json(results))}, indent=1) + "\n"


def read_stored(path: Path) -> tuple[dict[str, Any], str]:
    """What `result_text` wrote, and the sha256 of its bytes; {} if it is not there, damaged, or no longer whole.

    Its `result_sha256` must be that of the rest.
    """
    try:
        require_regular(path)
        raw = path.read_bytes()
        record = json.loads(raw)
        claimed = record.pop("result_sha256")
        if claimed == hash_text(dump_json(record)):
            return record, hashlib.sha256(raw).hexdigest()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, InputError):
        pass
    return {}, ""


def hash_text(text: str) -> str:
    """sha256 of a text in UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


# --- The lock ---

# What `write_atomic` and the processes of a nightly run write into before it is whole.
_TEMPORARY: Final = re.compile(r"\.[0-9]+-[0-9a-z_]{8}\.tmp")


@contextlib.contextmanager
def lock_folder(folder: Path, wait: bool = False) -> Iterator[None]:
    """Hold `folder/.lock`, which the system releases when its holder dies, and sweep what a killed holder left.

    If another run holds it: wait for its end, or LockedError. EvaluationError if the folder cannot be written.
    """
    path = folder / ".lock"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # without flock (a system, a disk) filelock warns and finds another way
        from filelock import FileLock, Timeout

        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(path)
            lock.acquire(blocking=wait)
        except Timeout:
            raise LockedError(f"{folder}: another run is at work here") from None
        except (OSError, NotImplementedError) as error:  # a disk that has no locks
            reason = getattr(error, "strerror", None) or error
            raise EvaluationError(f"{path}: cannot be written: {reason}") from None
    try:
        _sweep(folder)
        yield
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
