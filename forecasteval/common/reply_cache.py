"""Replies of a language model that are kept: a SQLite file."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

# Earlier versions kept a checksum in the third column.
_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS replies "
    "(key TEXT PRIMARY KEY, reply TEXT NOT NULL, sha256 TEXT NOT NULL)"
)


class ReplyCache:
    """Replies by key in one SQLite file, for any number of processes and threads;
    without a `path` nothing is kept.

    A damaged file is set aside as `NAME.corrupt`, and a new one begun; any other that
    cannot be used is left alone. `warnings` says so.
    """

    def __init__(self, path: Path | None) -> None:
        self.path, self.warnings = path, list[str]()
        self._lock = threading.Lock()  # of threads that fail at once one warns

    def get(self, key: str) -> str | None:
        with self._lock:
            row = self._execute("SELECT reply FROM replies WHERE key = ?", key)
        if row:
            return str(row[0])
        return None

    def put(self, key: str, reply: str) -> None:
        with self._lock:
            self._execute(
                "INSERT OR REPLACE INTO replies VALUES (?, ?, '')", key, reply
            )

    def _execute(self, sql: str, *values: str) -> Any:
        """Return the first row, None if there is none or the file cannot be used."""
        if not self.path:
            return None
        try:
            try:
                return _query(self.path, sql, values)
            except sqlite3.DatabaseError as error:
                # Locked, read-only, a folder …
                if isinstance(error, sqlite3.OperationalError):
                    raise
                corrupt = f"{self.path}.corrupt"
                # An old journal would be played into a new file
                for end in ("-journal", ""):
                    with suppress(FileNotFoundError):
                        os.replace(f"{self.path}{end}", f"{corrupt}{end}")
                self.warnings.append(
                    f"{self.path}: damaged, set aside as {Path(corrupt).name}: "
                    f"{error}; "
                    "the replies in it are asked for again"
                )
                return _query(self.path, sql, values)
        except (sqlite3.Error, OSError) as error:
            self.warnings.append(f"{self.path}: replies are not cached: {error}")
            self.path = None
            return None


def _query(path: Path, sql: str, values: Sequence[str]) -> Any:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(
        sqlite3.connect(path, timeout=1.5, isolation_level=None)
    ) as connection:
        # A crash of the machine costs no more than the cache.
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute(_TABLE)
        return connection.execute(sql, values).fetchone()
