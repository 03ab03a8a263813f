"""A client for language models that speak the OpenAI API: many prompts, one deadline, one cache of
replies.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
import threading
import time
import weakref
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple, TypedDict, TypeVar

from .errors import InputError, printable
from .records import JsonObject

MAX_FAILURES: Final = 10  # in a row, in the order of the prompts
TIMEOUT: Final = 30.0  # seconds without a byte that end a request
MAX_SILENT: Final = 3  # requests in a row that may end so, if the server says nothing else either
# Earlier versions kept a checksum in the third column.
_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS replies "
    "(key TEXT PRIMARY KEY, reply TEXT NOT NULL, sha256 TEXT NOT NULL)"
)
MIN_INVALID: Final = 3  # replies from which on more than half of all are too many
_MAX_REASON: Final = 200  # characters of what a server says about a failure
_MIN_SECRET: Final = (
    8  # characters; a shorter key, like "none" where a server wants none, is a word like any other
)
_FORMS: Final = ("json_schema", "json_object", "text")  # of a reply, the strictest first
_BAD_REQUEST: Final = frozenset({400, 413, 422})
_STATUS: Final = {
    401: "key refused",
    402: "no credit",
    403: "forbidden",
    404: "no such model",
    429: "rate limit",
}
# No further call can mend these.
_HOPELESS: Final = frozenset(
    {"key refused", "no credit", "no such model", "no http address", "no byte"}
)
# A server may refuse one prompt for what it says, and answer the next.
_OF_ONE_PROMPT: Final = frozenset({"bad request", "forbidden"})
# The model answered, although not what it was to answer. Every other failure is the server's, and
# may pass.
_OF_THE_MODEL: Final = frozenset({"empty", "cut off", "refusal"})
Data = JsonObject
Value = TypeVar("Value")


class Task(NamedTuple, Generic[Value]):
    """A task for a model: the prompt, and how its reply is read."""

    instructions: str
    properties: Data  # of a reply, each with its JSON schema
    version: str  # of the data and of `parse`
    # From data and reply; None if the reply is not valid.
    parse: Callable[[Data, str], Value | None]

    @property
    def schema(self) -> dict[str, object]:
        """Return the JSON schema of a reply."""
        required = list(self.properties)
        return {
            "type": "object",
            "properties": self.properties,
            "required": required,
            "additionalProperties": False,
        }


class Usage(TypedDict):
    """The results of prompts, and their costs. `degraded`: the server failed, or most replies are
    `invalid`: another run may give other results.
    """

    prompts: int
    answered: int
    invalid: int
    failures: dict[str, int]
    reasons: dict[str, str]
    degraded: bool
    calls: int  # prompts that were sent
    requests: int  # with all that were sent again
    tokens: dict[str, int]


def build_prompt(data: Data) -> str:
    """Build a user message that holds data as JSON between two tags, which nothing in the data can
    close.
    """
    text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    return f"<data>\n{text}\n</data>".encode("utf-8", "replace").decode()


class ModelClient:
    """Sends prompts to a language model, none before `read`; `begin` starts another run.

    All calls of a run share one `deadline`, in seconds from the first. After ten failures in a row,
    when the server refuses the key, the credit or the model, and when it sends no byte, a run sends
    nothing more. Failures count in the order of the prompts: a result depends on the prompts and
    their replies, not on the order in which replies arrive.
    """

    def __init__(
        self,
        api_key: str,
        base_url: str,
        model: str,
        workers: int,
        cache: Path | None,
        deadline: float,
    ) -> None:
        self.server, self.cache = Server(api_key, base_url, model), ReplyCache(cache)
        self.workers, self.deadline = max(1, workers), deadline
        self.begin()

    def begin(self) -> None:
        """Start a run: no failures yet, and a deadline that counts from its first call."""
        self._end: float | None = None
        self._failures, self._stopped, self._answered = 0, False, False

    def read(self, task: Task[Value], data: Sequence[Data]) -> tuple[list[Value | None], Usage]:
        """Read the model's result for each entry of `data`, None without a valid reply. Equal
        prompts are sent once.
        """
        prompts = [build_prompt(entry) for entry in data]
        entries = dict(zip(prompts, data, strict=True))
        calls = {
            prompt: Call(value=value)
            for prompt, entry in entries.items()
            if (cached := self.cache.get(self._key(task, prompt))) is not None
            and (value := task.parse(entry, cached)) is not None
        }
        new = [prompt for prompt in entries if prompt not in calls]
        # Until a run has an answer, its first prompt goes alone: a server that refuses the key is
        # called once, and the form of reply that it knows is the one in which all others begin.
        alone, before = 0 if self._answered else 1, self.server.requests
        sent = self._send(task, entries, new[:alone])
        for call in sent.values():
            if not call.failure or call.failure in _OF_THE_MODEL:
                self._answered, self.server.dialect = True, call.dialect
        sent |= self._send(task, entries, new[alone:])
        calls |= dict.fromkeys(new, Call(failure="not sent")) | sent
        done = [calls[prompt] for prompt in prompts]
        usage = _count_usage(done, sent.values(), self.server.requests - before)
        return [call.value for call in done], usage

    def _key(self, task: Task[Value], prompt: str) -> str:
        server = self.server
        parts = (
            server.address,
            server.model,
            task.version,
            task.instructions,
            json.dumps(task.schema),
            prompt,
        )
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def _send(
        self, task: Task[Value], entries: Mapping[str, Data], prompts: Sequence[str]
    ) -> dict[str, Call]:
        """Make the calls in the order of the prompts, up to the one that stops the run."""
        from tqdm import tqdm

        futures = {prompt: Future[Call]() for prompt in prompts}
        waiting = deque(
            futures.items() if prompts and not self._stopped and self._seconds_left() else ()
        )

        def work() -> None:
            with suppress(IndexError):  # Nothing is waiting any more.
                while True:
                    prompt, future = waiting.popleft()
                    try:
                        call = self.server.call(task.instructions, task.schema, prompt)
                        if not call.failure:
                            value = task.parse(entries[prompt], call.reply)
                            call = call._replace(value=value)
                        if call.value is not None:
                            self.cache.put(self._key(task, prompt), call.reply)
                        future.set_result(call)
                    # A fault of this program: it is raised where the result is awaited.
                    except Exception as error:
                        future.set_exception(error)

        # Threads, since a notebook's event loop may be running; daemons, since a call that hangs
        # must end with us.
        for _ in range(min(self.workers, len(waiting))):
            threading.Thread(target=work, daemon=True).start()
        calls: dict[str, Call] = {}
        try:
            for prompt, future in tqdm(
                futures.items(), desc=self.server.model, leave=False, disable=None
            ):
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
        if not failure or failure in _OF_THE_MODEL:
            self._failures = 0
        elif failure not in _OF_ONE_PROMPT and failure != "deadline":
            self._failures += 1
        self._stopped = failure in _HOPELESS or self._failures >= MAX_FAILURES


def _count_usage(calls: Sequence[Call], sent: Iterable[Call], requests: int) -> Usage:
    failures = Counter(call.failure for call in calls if call.failure)
    answered = sum(call.value is not None for call in calls)
    invalid = len(calls) - answered - failures.total()
    spent = [call.tokens for call in sent]
    # The first reason of each kind: a dictionary keeps the last value of a key.
    reasons = {call.failure: call.reason for call in reversed(calls) if call.reason}
    return {
        "prompts": len(calls),
        "answered": answered,
        "invalid": invalid,
        "failures": dict(failures),
        "reasons": dict(sorted(reasons.items())),
        "degraded": any(failure not in _OF_THE_MODEL for failure in failures)
        or (invalid >= MIN_INVALID and 2 * invalid > len(calls)),
        "calls": len(spent),
        "requests": requests,
        "tokens": {
            "prompt": sum(prompt for prompt, _ in spent),
            "completion": sum(reply for _, reply in spent),
        },
    }


class Call(NamedTuple):
    """How a call ended: a reply and the valid `value` that it has, if any, or the kind of its
    failure and what the server says about it.
    """

    reply: str = ""
    value: Any = None
    failure: str = ""
    reason: str = ""
    tokens: tuple[int, int] = (0, 0)  # of prompt and reply
    # The form of reply, and whether the limit has its newer name.
    dialect: tuple[str, bool] = (_FORMS[0], False)


class Server:
    """A model on a server; threads may call it at the same time. `address` may be printed: the key
    is not in it.
    """

    def __init__(self, api_key: str, base_url: str, model: str) -> None:
        """Raises InputError, before any request, for a key or an address that cannot be used."""
        import openai

        if not re.fullmatch("[!-~]+", api_key):
            raise InputError(
                "api_key (OPENAI_API_KEY)",
                "expected ASCII characters without blanks and line breaks",
            )
        self._openai, self.model = openai, model
        self._secret = api_key if len(api_key) >= _MIN_SECRET else None
        where = "base_url (OPENAI_BASE_URL)"
        # Every result names the address, and a secret may stand in none of them.
        if set(base_url) & set("@?#") or self._redact(base_url) != base_url:
            raise InputError(
                where, "expected an address without user, password, query, fragment and key"
            )
        self.address, self.dialect, self.requests = base_url, Call().dialect, 0
        self._lock = threading.Lock()
        self._thread = threading.local()  # has when its call began
        self._heard = 0.0  # when the last byte came
        self._is_http = base_url.lower().startswith(("http://", "https://"))
        try:
            http = openai.DefaultHttpxClient(
                follow_redirects=False,
                event_hooks={"request": [self._count], "response": [self._hear]},
            )
            self._client = openai.OpenAI(
                api_key=api_key, base_url=base_url, max_retries=5, timeout=TIMEOUT, http_client=http
            )
        # Its type belongs to the HTTP library beneath the SDK, and its text may hold a password.
        except Exception:
            raise InputError(
                where, "this address, or a proxy that the environment names, cannot be used"
            ) from None
        # Not at exit: a call that still hangs then would fail loudly.
        weakref.finalize(self, self._client.close).atexit = False

    def _count(self, request: Any) -> None:
        """Count a request; the SDK makes none, nor tries again, where the server is silent."""
        if self._is_silent():
            raise self._openai.APITimeoutError(request)
        with self._lock:
            self.requests += 1

    def _hear(self, response: object) -> None:
        self._heard = time.monotonic()

    def _is_silent(self) -> bool:
        """Return whether nobody has heard a byte while this call tried `MAX_SILENT` times."""
        since: float = max(self._heard, self._thread.began)
        return time.monotonic() - since >= MAX_SILENT * TIMEOUT

    def _redact(self, text: str) -> str:
        return text.replace(self._secret, "…") if self._secret else text

    def call(self, instructions: str, schema: Mapping[str, object], prompt: str) -> Call:
        """Send a prompt, with the SDK's retries; what a 400 refuses is sent in another dialect,
        while there is one.
        """
        messages = [
            {"role": "system", "content": instructions},
            {"role": "user", "content": prompt},
        ]
        form, new_limit = self.dialect
        self._thread.began = time.monotonic()
        while True:
            # Models that want the new name think before they reply, within that limit, and refuse a
            # temperature.
            limit = {"max_tokens": 1000, "temperature": 0}
            if new_limit:
                limit = {"max_completion_tokens": 2000}
            request: dict[str, Any] = {"model": self.model, "messages": messages, **limit}
            if form != "text":
                request["response_format"] = {"type": form}
            if form == "json_schema":
                reply = {"name": "reply", "strict": True, "schema": schema}
                request["response_format"]["json_schema"] = reply
            call = self._send(request)
            is_refused = call.failure == "bad request"
            if is_refused and "max_completion_tokens" in call.reason and not new_limit:
                new_limit = True
            elif is_refused and form != _FORMS[-1]:
                form = _FORMS[_FORMS.index(form) + 1]
            else:
                return call._replace(dialect=(form, new_limit))

    def _send(self, request: dict[str, Any]) -> Call:
        openai = self._openai
        if not self._is_http:
            return Call(failure="no http address")
        try:
            response = self._client.chat.completions.create(**request)
            choice, usage = response.choices[0], response.usage
            tokens = (
                (int(usage.prompt_tokens or 0), int(usage.completion_tokens or 0))
                if usage
                else (0, 0)
            )
            reply = self._redact(choice.message.content or "").encode("utf-8", "replace").decode()
            refused, cut_off = bool(choice.message.refusal), choice.finish_reason == "length"
        except openai.APIConnectionError as error:
            is_late = isinstance(error, openai.APITimeoutError)
            failure = "no byte" if self._is_silent() else "timeout" if is_late else "connection"
            return Call(failure=failure)
        except openai.APIStatusError as error:
            code = error.status_code
            failure = "bad request" if code in _BAD_REQUEST else _STATUS.get(code, f"status {code}")
            return Call(failure=failure, reason=self._read_reason(error))
        # A 200 whose body is no JSON raises JSONDecodeError; one of another shape gives text, None
        # or a list.
        except (
            openai.OpenAIError,
            ValueError,
            AttributeError,
            TypeError,
            LookupError,
            RecursionError,
            OverflowError,
        ):
            return Call(failure="bad body")
        if refused or cut_off or not reply.strip():
            return Call(
                failure="refusal" if refused else "cut off" if cut_off else "empty", tokens=tokens
            )
        return Call(reply, tokens=tokens)

    def _read_reason(self, error: Any) -> str:
        """Read the server's message about a failure: one line, without the key."""
        text = error.body.get("message") if isinstance(error.body, Mapping) else error.body
        text = self._redact(text if isinstance(text, str) else error.response.text)
        return printable(" ".join(text[: 2 * _MAX_REASON].split()), _MAX_REASON)


class ReplyCache:
    """Replies by key in one SQLite file, for any number of processes and threads; without a `path`
    nothing is kept.

    A damaged file is set aside as `NAME.corrupt`, and a new one begun; any other that cannot be
    used is left alone. `warnings` says so.
    """

    def __init__(self, path: Path | None) -> None:
        self.path, self.warnings = path, list[str]()
        self._lock = threading.Lock()  # of threads that fail at once one warns

    def get(self, key: str) -> str | None:
        with self._lock:
            row = self._execute("SELECT reply FROM replies WHERE key = ?", key)
        return str(row[0]) if row else None

    def put(self, key: str, reply: str) -> None:
        with self._lock:
            self._execute("INSERT OR REPLACE INTO replies VALUES (?, ?, '')", key, reply)

    def _execute(self, sql: str, *values: str) -> Any:
        """Return the first row, None if there is none or the file cannot be used."""
        if not self.path:
            return None
        try:
            try:
                return _query(self.path, sql, values)
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):  # locked, read-only, a folder …
                    raise
                corrupt = f"{self.path}.corrupt"
                for end in ("-journal", ""):  # an old journal would be played into a new file
                    with suppress(FileNotFoundError):
                        os.replace(f"{self.path}{end}", f"{corrupt}{end}")
                self.warnings.append(
                    f"{self.path}: damaged, set aside as {Path(corrupt).name}: {error}; "
                    "the replies in it are asked for again"
                )
                return _query(self.path, sql, values)
        except (sqlite3.Error, OSError) as error:
            self.warnings.append(f"{self.path}: replies are not cached: {error}")
            self.path = None
            return None


def _query(path: Path, sql: str, values: Sequence[str]) -> Any:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, timeout=1.5, isolation_level=None)) as connection:
        # A crash of the machine costs no more than the cache.
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute(_TABLE)
        return connection.execute(sql, values).fetchone()
