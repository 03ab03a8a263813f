"""Many calls to a language model: in threads, with one deadline; and a reader of data
that keeps replies.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, Generic, NamedTuple, TypedDict, TypeVar

from .records import JsonObject
from .reply_cache import ReplyCache
from .server import LASTING, Call, Server

MAX_FAILURES: Final = 10  # in a row, in the order of the prompts
MIN_INVALID: Final = 3  # replies from which on more than half of all are too many
MAX_TOKENS: Final = 2000  # of a reply, with the thoughts of models that think
# No further call can mend these.
_HOPELESS: Final = frozenset(
    {"key refused", "no credit", "no such model", "no http address", "no byte"}
)
# A server may refuse one prompt for what it says, and answer the next.
_OF_ONE_PROMPT: Final = frozenset({"bad request", "forbidden", *LASTING})
_PLANNED: Final = "not asked"  # of a dry run
# Every other failure is the server's, and may pass.
_OF_THE_MODEL: Final = frozenset({"empty", "cut off", "refusal", _PLANNED})
Data = JsonObject
Value = TypeVar("Value")
Key = TypeVar("Key")


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
    """The results of prompts, and their costs. `degraded`: the server failed, or most
    replies are `invalid`: another run may give other results.
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
    """Build a user message that holds data as JSON between two tags, which nothing in
    the data can close.
    """
    text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    return f"<data>\n{text}\n</data>".encode("utf-8", "replace").decode()


class Calls:
    """Makes calls to a language model in threads; `begin` starts another run.

    All calls of a run share one `deadline`, in seconds from the first. After ten
    failures in a row, when the server refuses the key, the credit or the model, and
    when it sends no byte, a run sends nothing more. Failures count in the order of the
    calls: a result depends on the prompts and their replies, not on the order in which
    replies arrive.
    """

    def __init__(self, server: Server, workers: int, deadline: float) -> None:
        self.server = server
        self.workers = max(1, workers)
        self.deadline = deadline
        self.begin()

    def begin(self) -> None:
        """Start a run: no failures yet, and a deadline that counts from
        its first call.
        """
        self._end: float | None = None
        self._failures = 0
        self._stopped = False
        self._threads: list[threading.Thread] = []

    def make(self, jobs: Mapping[Key, Callable[[], Call]]) -> dict[Key, Call]:
        """Make the calls in their order, up to the one that stops the run."""
        from tqdm import tqdm

        futures = {key: Future[Call]() for key in jobs}
        waiting = deque(jobs)
        # The deadline counts from the first call, not from a run that has none.
        if jobs and (self._stopped or self._seconds_left() == 0):
            waiting.clear()
        count = min(self.workers, len(waiting))
        work = partial(_work, jobs, waiting, futures)
        # Threads, since a notebook's event loop may be running; daemons, since a call
        # that hangs must end with us.
        self._threads = [
            threading.Thread(target=work, daemon=True) for _ in range(count)
        ]
        for thread in self._threads:
            thread.start()
        calls: dict[Key, Call] = {}
        progress = tqdm(
            futures.items(), desc=self.server.model, leave=False, disable=None
        )
        try:
            for key, future in progress:
                if self._stopped:
                    break
                try:
                    calls[key] = future.result(self._seconds_left())
                except TimeoutError:
                    calls[key] = Call(failure="deadline")
                self._note(calls[key].failure)
        finally:
            waiting.clear()
        return calls

    def finish(self) -> None:
        """Wait for the calls that are under way when `make` was interrupted."""
        for thread in self._threads:
            thread.join(self._seconds_left())

    def _seconds_left(self) -> float | None:
        """Return the seconds up to the deadline; None: there is none."""
        if self._end is None:
            self._end = time.monotonic() + self.deadline
        left = max(0.0, self._end - time.monotonic())
        if left < threading.TIMEOUT_MAX:
            return left
        return None

    def _note(self, failure: str) -> None:
        """Count failures in a row, and stop the run where further calls
        would be in vain.
        """
        if _is_of_model(failure):
            self._failures = 0
        elif failure not in _OF_ONE_PROMPT and failure != "deadline":
            self._failures += 1
        self._stopped = failure in _HOPELESS or self._failures >= MAX_FAILURES


def _work(
    jobs: Mapping[Key, Callable[[], Call]],
    waiting: deque[Key],
    futures: Mapping[Key, Future[Call]],
) -> None:
    """Make calls while any is waiting; a fault of this program is raised where
    it is awaited.
    """
    with suppress(IndexError):
        while True:
            key = waiting.popleft()
            try:
                futures[key].set_result(jobs[key]())
            except Exception as error:
                futures[key].set_exception(error)


class ModelClient(Calls):
    """Reads data by a language model, and keeps its valid replies; sends nothing
    before `read`.

    max_tokens: of a reply. dry_run: nothing is sent, and `planned` has the prompts.
    """

    def __init__(
        self,
        api_key: str,
        base_url: str,
        model: str,
        workers: int,
        cache: str | Path | None,
        deadline: float,
        max_tokens: int = MAX_TOKENS,
        dry_run: bool = False,
    ) -> None:
        super().__init__(Server(api_key, base_url, model), workers, deadline)
        self.cache = ReplyCache(Path(cache) if cache else None)
        self.max_tokens = max_tokens
        self.dry_run = dry_run
        self.planned: list[str] = []

    def begin(self) -> None:
        """Start a run, of which no prompt was answered yet."""
        super().begin()
        self._has_answer = False

    def read(
        self, task: Task[Value], data: Sequence[Data]
    ) -> tuple[list[Value | None], Usage]:
        """Read the model's result for each entry of `data`, None without a valid reply.
        Equal prompts are sent once.
        """
        prompts = [build_prompt(entry) for entry in data]
        entries = dict(zip(prompts, data, strict=True))
        calls: dict[str, Call] = {}
        jobs: dict[str, Callable[[], Call]] = {}
        for prompt, entry in entries.items():
            cached = self.cache.get(self._key(task, prompt))
            value = None if cached is None else task.parse(entry, cached)
            if value is None:
                jobs[prompt] = partial(self._call, task, entry, prompt)
            else:
                calls[prompt] = Call(value=value)
        if self.dry_run:
            self.planned += [f"{task.instructions}\n\n{prompt}" for prompt in jobs]
            calls |= dict.fromkeys(jobs, Call(failure=_PLANNED))
            jobs = {}
        # Until a run has an answer, its first prompt goes alone: a server that refuses
        # the key is called once, and what it refuses of a request is known
        # to all others.
        requests = self.server.requests
        sent: dict[str, Call] = {}
        if not self._has_answer:
            sent = self.make(dict(islice(jobs.items(), 1)))
            self._has_answer = any(_is_of_model(call.failure) for call in sent.values())
        other_jobs = {prompt: job for prompt, job in jobs.items() if prompt not in sent}
        sent |= self.make(other_jobs)
        calls |= dict.fromkeys(jobs, Call(failure="not sent")) | sent
        done = [calls[prompt] for prompt in prompts]
        usage = _count_usage(done, sent.values(), self.server.requests - requests)
        return [call.value for call in done], usage

    def _call(self, task: Task[Value], entry: Data, prompt: str) -> Call:
        """Ask for the result of an entry, and keep a valid reply."""
        reply = {"name": "reply", "strict": True, "schema": task.schema}
        form = {"type": "json_schema", "json_schema": reply}
        messages = [
            {"role": "system", "content": task.instructions},
            {"role": "user", "content": prompt},
        ]
        options = {
            "max_tokens": self.max_tokens,
            "temperature": 0,
            "response_format": form,
        }
        call = self.server.call(messages, options)
        if not call.failure:
            call = call._replace(value=task.parse(entry, call.reply))
        if call.value is not None:
            self.cache.put(self._key(task, prompt), call.reply)
        return call

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


def _is_of_model(failure: str) -> bool:
    """Return whether a model answered, although perhaps not what it was to answer."""
    return not failure or failure in _OF_THE_MODEL


def _count_usage(calls: Sequence[Call], sent: Iterable[Call], requests: int) -> Usage:
    failures = Counter(call.failure for call in calls if call.failure)
    answered = sum(call.value is not None for call in calls)
    invalid = len(calls) - answered - failures.total()
    is_of_model = all(map(_is_of_model, failures))
    has_many_invalid = invalid >= MIN_INVALID and 2 * invalid > len(calls)
    # The first reason of each kind: a dictionary keeps the last value of a key.
    reasons = {call.failure: call.reason for call in reversed(calls) if call.reason}
    spent = [call.tokens for call in sent]
    tokens = {
        "prompt": sum(prompt for prompt, _ in spent),
        "completion": sum(reply for _, reply in spent),
    }
    return {
        "prompts": len(calls),
        "answered": answered,
        "invalid": invalid,
        "failures": dict(failures),
        "reasons": dict(sorted(reasons.items())),
        "degraded": not is_of_model or has_many_invalid,
        "calls": len(spent),
        "requests": requests,
        "tokens": tokens,
    }
