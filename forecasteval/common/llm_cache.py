"""Replies of language models, kept in one SQLite file."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from pathlib import Path
from typing import Any


class ReplyCache:
    """Texts by key in one SQLite file (write-ahead log, safe for several processes); a mapping in memory without one.

    A file that is no database is set aside as `NAME.corrupt`, and a cache that cannot be used is left: `warnings`
    says so. Nothing that goes wrong here stops the caller.
    """

    def __init__(self, path: Path | None) -> None:
        self.path, self.warnings = path, list[str]()
        self._memory: dict[str, str] = {}
        self._connection: Any = None
        if path is None:
            return
        try:
            self._open(path)
        except sqlite3.OperationalError as error:  # locked, read-only, no such folder
            self.warnings.append(f"{path}: replies are not cached: {error}")
        except sqlite3.DatabaseError:
            try:
                path.replace(f"{path}.corrupt")
                self._open(path)
                self.warnings.append(f"{path}: no database, set aside as {path.name}.corrupt")
            except (OSError, sqlite3.Error) as error:
                self.warnings.append(f"{path}: replies are not cached: {error}")

    def _open(self, path: Path) -> None:
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
        # One evaluator may be made in one thread and used in another, never in two at a time.
        connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA busy_timeout=30000")
            for attempt in range(20):  # the switch to WAL does not wait for another process that does the same
                try:
                    connection.execute("PRAGMA journal_mode=WAL")
                    break
                except sqlite3.OperationalError:
                    if attempt == 19:
                        raise
                    time.sleep(0.05)
            connection.execute("CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL)")
            connection.execute("SELECT reply FROM replies LIMIT 1").fetchall()
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    def get(self, key: str) -> str | None:
        if self._connection and key not in self._memory:
            try:
                found = self._connection.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
            except sqlite3.Error as error:
                self._give_up(error)
            else:
                return str(found[0]) if found else None
        return self._memory.get(key)

    def put(self, key: str, reply: str) -> None:
        self._memory[key] = reply
        if self._connection:
            try:
                self._connection.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", (key, reply))
            except sqlite3.Error as error:
                self._give_up(error)

    def _give_up(self, error: sqlite3.Error) -> None:
        self.warnings.append(f"{self.path}: replies are not cached any more: {error}")
        self.close()

    def close(self) -> None:
        if self._connection:
            self._connection.close()
        self._connection = None
