"""Replies of language models, kept in one SQLite file."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import time
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

LOCK_SECONDS: Final = 1.5  # for which another process that holds the file is waited for, once
_TABLE: Final = "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL, sha256 TEXT NOT NULL)"


class ReplyCache:
    """Texts by key in one SQLite file (write-ahead log, safe for several processes); a mapping in memory without one.

    A file that is no database, or has a damaged page, is set aside as `NAME.corrupt`; one that cannot be written is
    read; one that cannot be used is left. `warnings` says so. Nothing that goes wrong here stops the caller. A row
    carries a checksum, and one that is wrong is not there.
    """

    def __init__(self, path: Path | None) -> None:
        self.path, self.warnings = path, list[str]()
        self._connection: Any = None
        self._memory: dict[str, str] = {}
        self._writable = True
        if path is None:
            return
        try:
            self._open(path)
        except sqlite3.Error as error:
            self._recover(error)

    def _open(self, path: Path) -> None:
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._connection = self._connect(str(path))
            self._prepare()
        except sqlite3.OperationalError as error:
            self.close()
            if "locked" in str(error) or not path.is_file():
                raise
            # A read-only folder: without the right to make the log beside it, only an unchanging file can be read.
            self._connection = self._connect(f"file:{quote(str(path))}?immutable=1")
            self._connection.execute("SELECT reply FROM replies LIMIT 1").fetchall()
            self._stop_writing(error)

    @staticmethod
    def _connect(name: str) -> Any:
        # One evaluator may be made in one thread and used in another, never in two at a time.
        uri = name.startswith("file:")
        return sqlite3.connect(name, timeout=LOCK_SECONDS, isolation_level=None, check_same_thread=False, uri=uri)

    def _prepare(self) -> None:
        end = time.monotonic() + LOCK_SECONDS
        while True:  # the switch to WAL does not wait for another process that does the same
            try:
                self._connection.execute("PRAGMA journal_mode=WAL")
                break
            except sqlite3.OperationalError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)
        columns = [row[1] for row in self._connection.execute("PRAGMA table_info(replies)")]
        if columns and "sha256" not in columns:  # of version 1.0: nobody looked at those replies
            self._connection.execute("DROP TABLE replies")
        self._connection.execute(_TABLE)

    def get(self, key: str) -> str | None:
        if key in self._memory or not self._connection:
            return self._memory.get(key)
        question = "SELECT reply, sha256 FROM replies WHERE key = ?"
        try:
            found = self._connection.execute(question, (key,)).fetchone()
        except sqlite3.Error as error:
            self._recover(error)
            return None
        return str(found[0]) if found and found[1] == _checksum(key, found[0]) else None

    def put(self, key: str, reply: str) -> None:
        self._memory[key] = reply
        if not self._connection or not self._writable:
            return
        row = (key, reply, _checksum(key, reply))
        try:
            self._connection.execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?)", row)
        except sqlite3.OperationalError as error:  # locked, read-only, a full disk
            self._stop_writing(error)
        except sqlite3.DatabaseError as error:
            self._set_aside(error)

    def _stop_writing(self, error: sqlite3.Error) -> None:
        self._writable = False
        self.warnings.append(f"{self.path}: new replies are not cached: {error}")

    def _leave(self, error: sqlite3.Error) -> None:
        self.warnings.append(f"{self.path}: replies are not cached: {error}")
        self.close()

    def _recover(self, error: sqlite3.Error) -> None:
        """Begin a new file in place of a damaged one, or go on without."""
        if isinstance(error, sqlite3.OperationalError):  # locked, no such folder
            self._leave(error)
        else:
            self._set_aside(error)

    def _set_aside(self, error: sqlite3.Error) -> None:
        self.close()
        path = Path(str(self.path))
        try:
            path.replace(f"{path}.corrupt")
            for end in ("-wal", "-shm"):
                Path(f"{path}{end}").unlink(missing_ok=True)
            self._open(path)
            self.warnings.append(f"{path}: damaged ({error}), set aside as {path.name}.corrupt")
        except (OSError, sqlite3.Error) as other:
            self._leave(sqlite3.Error(other))

    def close(self) -> None:
        if self._connection:
            self._connection.close()
        self._connection = None

    def __del__(self) -> None:  # nobody closes an evaluator, and a connection is a cycle
        self.close()


def _checksum(key: str, reply: object) -> str:
    return hashlib.sha256(f"{key}\0{reply}".encode("utf-8", "replace")).hexdigest()
