"""A client for language models: many prompts in threads, with one deadline and one cache for all of a run."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple, TypedDict, TypeVar

from .llm_server import HOPELESS, OF_ONE_PROMPT, OF_THE_MODEL, Call, Server

MAX_FAILURES: Final = 10  # in a row, in the order of the prompts
# Earlier versions kept a checksum in the third column.
_TABLE: Final = "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL, sha256 TEXT NOT NULL)"
Data = Mapping[str, Any]
Value = TypeVar("Value")


class Task(NamedTuple, Generic[Value]):
    """What a model is to do with data, and how its reply is read."""

    instructions: str
    properties: Data  # of a reply, each with its JSON schema
    version: str  # of the data and of `parse`
    parse: Callable[[Data, str], Value | None]  # from data and reply, None if the reply is not valid

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of a reply."""
        required = list(self.properties)
        return {"type": "object", "properties": self.properties, "required": required, "additionalProperties": False}


class Usage(TypedDict):
    """What became of prompts, and what they cost; `degraded`: the server failed, another run may end otherwise."""

    prompts: int
    answered: int
    invalid: int
    failures: dict[str, int]
    reasons: dict[str, str]
    degraded: bool
    calls: int
    tokens: dict[str, int]


def build_prompt(data: Data) -> str:
    """A user message that holds data as JSON between two tags, which nothing in the data can close."""
    text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    return f"<data>\n{text}\n</data>".encode("utf-8", "replace").decode()


class ModelClient:
    """Sends prompts to a language model, none before `read`; `begin` starts another run.

    All calls of a run share one `deadline`, in seconds from the first. After ten failures in a row, and when the server
    refuses the key, the credit or the model, a run sends nothing more. Failures count in the order of the prompts: a
    result depends on the prompts and their replies, not on the order in which replies arrive.
    """

    def __init__(
        self, api_key: str, base_url: str, model: str, workers: int, cache: Path | None, deadline: float
    ) -> None:
        self.server, self.cache = Server(api_key, base_url, model), ReplyCache(cache)
        self.workers, self.deadline = max(1, workers), deadline
        self.begin()

    def begin(self) -> None:
        """Start a run: no failures yet, and a deadline that counts from its first call."""
        self._end: float | None = None
        self._failures, self._stopped, self._answered = 0, False, False

    def read(self, task: Task[Value], data: Sequence[Data]) -> tuple[list[Value | None], Usage]:
        """What the model makes of each entry of `data`, None without a valid reply. Equal prompts are sent once."""
        prompts = [build_prompt(entry) for entry in data]
        entries = dict(zip(prompts, data, strict=True))
        calls: dict[str, Call] = {}
        for prompt, entry in entries.items():
            cached = self.cache.get(self._key(task, prompt))
            if cached is not None and task.parse(entry, cached) is not None:
                calls[prompt] = Call(cached)
        new = [prompt for prompt in entries if prompt not in calls]
        # Until a run has an answer, its first prompt goes alone: a server that refuses the key is called once, and the
        # form of reply that it knows is the one in which all others begin.
        alone = 0 if self._answered else 1
        sent = self._send(task, new[:alone])
        for call in sent.values():
            if not call.failure or call.failure in OF_THE_MODEL:
                self._answered, self.server.dialect = True, call.dialect
        sent |= self._send(task, new[alone:])
        calls |= dict.fromkeys(new, Call(failure="not sent")) | sent
        values = [
            None if calls[prompt].failure else task.parse(entry, calls[prompt].reply)
            for prompt, entry in zip(prompts, data, strict=True)
        ]
        return values, _count_usage([calls[prompt] for prompt in prompts], values, sent.values())

    def _key(self, task: Task[Any], prompt: str) -> str:
        server = self.server
        parts = (server.address, server.model, task.version, task.instructions, json.dumps(task.schema), prompt)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def _send(self, task: Task[Any], prompts: Sequence[str]) -> dict[str, Call]:
        """The calls in the order of the prompts, up to the one that stops the run."""
        from tqdm import tqdm

        futures = {prompt: Future[Call]() for prompt in prompts}
        waiting = deque(prompts if prompts and not self._stopped and self._seconds_left() else ())

        def work() -> None:
            while True:
                try:
                    prompt = waiting.popleft()
                except IndexError:  # Nothing is waiting any more.
                    return
                try:
                    call = self.server.call(task.instructions, task.schema, prompt)
                    if not call.failure:
                        self.cache.put(self._key(task, prompt), call.reply)
                    futures[prompt].set_result(call)
                except Exception as error:  # A fault of this program: it is raised where the result is awaited.
                    futures[prompt].set_exception(error)

        # Threads, since a notebook's event loop may be running; daemons, since a call that hangs must end with us.
        for _ in range(min(self.workers, len(waiting))):
            threading.Thread(target=work, daemon=True).start()
        calls: dict[str, Call] = {}
        try:
            for prompt, future in tqdm(futures.items(), desc=self.server.model, leave=False, disable=None):
                if self._stopped:
                    break
                try:
                    calls[prompt] = future.result(self._seconds_left())
                except TimeoutError:
                    calls[prompt] = Call(failure="deadline")
                self._note(calls[prompt].failure)
        finally:
            waiting.clear()
        return calls

    def _seconds_left(self) -> float:
        if self._end is None:
            self._end = time.monotonic() + self.deadline
        return max(0.0, self._end - time.monotonic())

    def _note(self, failure: str) -> None:
        """Count failures in a row, and stop the run where further calls would be in vain."""
        if not failure or failure in OF_THE_MODEL:
            self._failures = 0
        elif failure not in OF_ONE_PROMPT and failure != "deadline":
            self._failures += 1
        self._stopped = failure in HOPELESS or self._failures >= MAX_FAILURES


def _count_usage(calls: Sequence[Call], values: Sequence[object], sent: Iterable[Call]) -> Usage:
    failures = Counter(call.failure for call in calls if call.failure)
    answered = sum(value is not None for value in values)
    spent = [call.tokens for call in sent]
    # The first reason of each kind: a dictionary keeps the last value of a key.
    reasons = {call.failure: call.reason for call in reversed(calls) if call.reason}
    return {
        "prompts": len(calls),
        "answered": answered,
        "invalid": len(calls) - answered - failures.total(),
        "failures": dict(failures),
        "reasons": dict(sorted(reasons.items())),
        "degraded": any(failure not in OF_THE_MODEL for failure in failures),
        "calls": len(spent),
        "tokens": {"prompt": sum(prompt for prompt, _ in spent), "completion": sum(reply for _, reply in spent)},
    }


class ReplyCache:
    """Replies by key in one SQLite file, for any number of processes and threads; without a `path` nothing is kept.

    A damaged file is set aside as `NAME.corrupt`; one that cannot be used is left alone, and `warnings` says so.
    """

    def __init__(self, path: Path | None) -> None:
        self.path, self.warnings = path, list[str]()
        self._lock = threading.Lock()  # Else a thread that met the damage late would set the new file aside.

    def get(self, key: str) -> str | None:
        with self._lock:
            row = self._execute("SELECT reply FROM replies WHERE key = ?", key)
        return str(row[0]) if row else None

    def put(self, key: str, reply: str) -> None:
        with self._lock:
            self._execute("INSERT OR REPLACE INTO replies VALUES (?, ?, '')", key, reply)

    def _execute(self, sql: str, *values: str) -> Any:
        """The first row, None if there is none or the file cannot be used."""
        if not self.path:
            return None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=1.5, isolation_level=None)) as connection:
                connection.execute("PRAGMA synchronous = OFF")  # A crash of the machine costs no more than the cache.
                connection.execute(_TABLE)
                return connection.execute(sql, values).fetchone()
        except (sqlite3.Error, OSError) as error:
            self._recover(self.path, error)
            return None

    def _recover(self, path: Path, error: Exception) -> None:
        # What is locked or read-only, and a full disk, are operational errors.
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
            with suppress(OSError):
                path.replace(f"{path}.corrupt")  # SQLite itself deletes a journal that is left beside no file.
                self.warnings.append(f"{path}: damaged ({error}), set aside as {path.name}.corrupt")
                return
        self.warnings.append(f"{path}: replies are not cached: {error}")
        self.path = None
