"""A prediction file to which replies are added.

    prediction/NAME.jsonl            every question has a reply, or none can be had
    prediction/.NAME.jsonl.part      until then: hidden, so that no nightly run
    takes half of it
    prediction/.NAME.jsonl.lock      while a run adds replies

A row is one reply:

    id              of the question; further fields where the benchmark joins by them
    answer          the whole text
    model           as the server calls it
    timestamp       when it was asked
    finish_reason   as the server calls it: stop, length, …
    request         the model and the parameters that were asked for
    prompt_sha256   of the prompt
    usage, thinking, left_out (parameters that the server refused), problem:
    where there are any

A question that no other call can get a reply to (a content filter, a prompt that is too
long) has a row, too, so that no later run pays for it again: its answer is null, which
is missing, and

    failed          the kind of failure, and what the server says

The first line of a part has the command that goes on with it.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from forecasteval.benchmark import Prompt
from forecasteval.common.errors import (
    EvaluationError,
    InputError,
    LockedError,
    extra_package,
    printable,
)
from forecasteval.common.files import read_file, stamp_of, write_atomic
from forecasteval.common.records import JsonObject, dump_json
from forecasteval.lookup import part_of

_SYNC: Final = 1.0  # seconds of replies that a crash of the machine may cost
_LIMITS: Final = ("max_tokens", "max_completion_tokens")
Id = tuple[tuple[str, str], ...]


def id_of(prompt: Prompt) -> Id:
    """Return what tells a prompt from the others of its file."""
    return tuple(sorted(prompt.names.items()))


class ReplyFile:
    """A prediction file to which one process adds replies, from several threads.

    path: the file as it is called when it is whole. request: the model and its
        parameters, which
    all rows must have. again: replies that were cut off, and failures, do not count.
    command: what goes on with the file.
    """

    def __init__(
        self,
        path: Path,
        request: JsonObject,
        again: bool = False,
        command: Sequence[str] = (),
    ) -> None:
        self.path = path
        self.part = part_of(path)
        self.request = request
        self.command = command
        self.damaged = 0  # lines: a crash may have cut the last one
        self.rows: dict[Id, JsonObject] = {}  # of prompts that have a reply
        self._again = again
        self._lock = threading.Lock()
        self._file = -1
        self._synced = 0.0
        self._stamps = self._read_stamps()
        self._stored = self._load()

    @property
    def has_part(self) -> bool:
        """Return whether the file is not whole yet."""
        return self.part.exists()

    @property
    def has_replies(self) -> bool:
        """Return whether the file has a reply to anything."""
        rows = [*self.rows.values(), *self._stored]
        return not all(map(has_failed, rows))

    def _read_stamps(self) -> list[object]:
        return [stamp_of(self.part), stamp_of(self.path)]

    def _load(self) -> list[dict[str, Any]]:
        """Load the rows that are there, those of the part if there is one."""
        source = self.path
        if self.has_part:
            source = self.part
        if not source.exists():
            return []
        rows = []
        for line in read_file(source).split(b"\n"):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            if not isinstance(row, dict):
                self.damaged += 1
            elif "command" not in row:
                rows.append(row)
        return rows

    def find_left(self, prompts: Iterable[Prompt]) -> list[Prompt]:
        """List the prompts that are left to ask; InputError for replies
        to other ones.
        """
        by_id = {id_of(prompt): prompt for prompt in prompts}
        keys = sorted({key for prompt in by_id.values() for key in prompt.names})
        others = Counter[str]()
        for row in self._stored:
            name = _name_row(row, keys)
            prompt = by_id.get(name)
            if prompt is None:
                continue
            other = self._find_difference(row, prompt)
            if other and has_failed(row):
                # Another prompt may succeed.
                continue
            if other:
                others[other] += 1
            self.rows[name] = row
        if others:
            expected = (
                f"expected replies of {describe_request(self.request)} to these prompts"
            )
            (kind, count), *_ = others.most_common(1)
            raise InputError(
                str(self.path),
                f"{expected} (-o FILE names another file)",
                f"{count} {kind}",
            )
        return [prompt for name, prompt in by_id.items() if not self._is_done(name)]

    def _find_difference(self, row: JsonObject, prompt: Prompt) -> str:
        """Find what a row was asked with that this run does not ask with;
        "" for nothing.
        """
        # A row of another program says neither, and is taken as it is.
        request = row.get("request", self.request)
        if row.get("prompt_sha256", prompt.sha256) != prompt.sha256:
            return "of another prompt"
        if _without_limit(request) != _without_limit(self.request):
            return f"of {describe_request(request)}"
        return ""

    def _is_done(self, name: Id) -> bool:
        """Return whether a prompt need not be asked: it has a reply, or
        can have none.
        """
        row = self.rows.get(name)
        if row is None:
            return False
        is_cut = row.get("finish_reason") == "length"
        return not (self._again and (is_cut or has_failed(row)))

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        """Hold the file, and add replies to its part; LockedError if
        another process does.
        """
        with self._hold():
            # A last line that a crash has torn would swallow the first reply
            # of this run.
            write_atomic(self.part, self._list_part_lines())
            self._file = os.open(self.part, os.O_WRONLY | os.O_APPEND)
            try:
                yield
            finally:
                with self._lock:
                    # That the disk is full was told already.
                    with contextlib.suppress(OSError):
                        os.fsync(self._file)
                    os.close(self._file)
                    self._file = -1
                # If the key is refused, or whatever is asked, nothing is begun.
                if not self.has_replies:
                    self.part.unlink()

    @contextlib.contextmanager
    def _hold(self) -> Iterator[None]:
        """Hold the lock of the file; LockedError if another process has it, or had it
        since the rows were loaded. The file of the lock goes before another
        process may have it.
        """
        with extra_package("filelock", str(self.path)):
            from filelock import FileLock, Timeout

        self.path.parent.mkdir(parents=True, exist_ok=True)
        place = self.path.with_name(f".{self.path.name}.lock")
        lock = FileLock(place)
        taken = f"{self.path}: another run adds replies to this file"
        try:
            lock.acquire(blocking=False)
        except Timeout:
            raise LockedError(taken) from None
        except (OSError, NotImplementedError) as error:
            raise EvaluationError(f"{place}: cannot be locked: {error}") from None
        try:
            # Another run has ended since: its replies are in no row of this one.
            if self._read_stamps() != self._stamps:
                raise LockedError(taken)
            yield
            self._stamps = self._read_stamps()
        finally:
            with contextlib.suppress(OSError):
                place.unlink()
            lock.release()

    def add(self, prompt: Prompt, row: JsonObject) -> None:
        """Add a reply; EvaluationError if it cannot be written, or the
        run has ended.
        """
        line = f"{dump_json(row)}\n".encode()
        with self._lock:
            # The run was interrupted while this call was under way.
            if self._file < 0:
                raise EvaluationError(f"{self.path}: closed")
            try:
                while line:
                    written = os.write(self._file, line)
                    line = line[written:]
                if time.monotonic() - self._synced > _SYNC:
                    os.fsync(self._file)
                    self._synced = time.monotonic()
            except OSError as error:
                problem = f"cannot be written: {error.strerror}"
                raise EvaluationError(f"{self.part}: {problem}") from None
            self.rows[id_of(prompt)] = row

    def finish(self, prompts: Iterable[Prompt]) -> None:
        """Give the file its name, and its rows the order of the questions."""
        with self._hold():
            self.write(self.path, prompts)
            self.part.unlink(missing_ok=True)

    def write(self, path: Path, prompts: Iterable[Prompt]) -> None:
        """Write the rows to a file, in the order of their questions."""
        write_atomic(path, [f"{dump_json(row)}\n" for row in self._sort_rows(prompts)])

    def is_whole(self, prompts: Iterable[Prompt]) -> bool:
        """Return whether every prompt has a reply, or can have none."""
        return all(id_of(prompt) in self.rows for prompt in prompts)

    def select_rows(self, prompts: Iterable[Prompt]) -> list[JsonObject]:
        """Select the rows of prompts, in their order, those that failed
        behind the replies.
        """
        ids = dict.fromkeys(map(id_of, prompts))
        rows = [self.rows[name] for name in ids if name in self.rows]
        return sorted(rows, key=has_failed)

    def select_replies(self, prompts: Iterable[Prompt]) -> list[JsonObject]:
        """Select the replies to prompts, in their order."""
        return [row for row in self.select_rows(prompts) if not has_failed(row)]

    def _sort_rows(self, prompts: Iterable[Prompt]) -> Iterator[JsonObject]:
        """Give the rows of the prompts, one each, and behind them what
        else the file has.
        """
        ids = {id_of(prompt): prompt for prompt in prompts}
        keys = sorted({key for name in ids for key, _ in name})
        yield from self.select_rows(ids.values())
        yield from (row for row in self._stored if _name_row(row, keys) not in ids)

    def _list_part_lines(self) -> Iterator[str]:
        yield f"{dump_json({'command': [*self.command]})}\n"
        yield from (f"{dump_json(row)}\n" for row in self._stored)


def has_failed(row: JsonObject) -> bool:
    """Return whether a row says that its question can have no reply."""
    return "failed" in row


def _name_row(row: JsonObject, keys: Sequence[str]) -> Id:
    """Return what a row has of the fields that join it with a prompt."""
    return tuple((key, str(row[key])) for key in keys if key in row)


def _without_limit(request: Any) -> JsonObject:
    """Return a request without the limit of its tokens, which changes no reply
    that keeps it.

    Else a file with replies that were cut off could never be mended.
    """
    if not isinstance(request, Mapping):
        return {}
    return {key: value for key, value in request.items() if key not in _LIMITS}


def describe_request(request: Any) -> str:
    """Describe a model and its parameters: `model m, temperature 0`."""
    if not isinstance(request, Mapping):
        return ""
    values = [f"{key} {value}" for key, value in request.items()]
    return printable(", ".join(values), 100)
