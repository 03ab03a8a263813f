"""A client for language models: many prompts in threads, and one breaker, deadline and cache for all that use it."""

from __future__ import annotations

import copy
import hashlib
import json
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from .breaker import Breaker
from .llm_cache import ReplyCache
from .llm_server import ANSWERS, HOPELESS, Call, Dialect, Server

Outcome = tuple[str, str]  # (reply, "") or ("", kind of failure)
IsGood = Callable[[str, str], bool]  # whether a reply will do, from prompt and reply
_OF_A_PROMPT: Final = frozenset({"bad request", "too large", "forbidden"})  # refused for what one prompt says, maybe


def is_server_failure(kind: str) -> bool:
    """Whether a failure tells what the server was like, not what the model did: another run may end otherwise."""
    return kind not in ANSWERS


class ModelClient:
    """Asks a language model. Nothing is called before `read`.

    `schema` is the JSON schema of a reply and `version` the prompt's; both belong to the key of a cached reply.
    `sibling` asks something else of the same model, with the same breaker, deadline, cache and counts. A run begins
    with the client, and again with `begin`.
    """

    def __init__(
        self,
        api_key: str,
        base_url: str,
        model: str,
        instructions: str,
        schema: Mapping[str, Any],
        version: str,
        workers: int = 8,
        cache: Path | None = None,
        deadline: float = 900.0,
    ) -> None:
        self._host = Server(api_key, base_url, model)
        self.server, self.model = self._host.shown, model
        self.instructions, self.schema, self.version = instructions, schema, version
        self.workers = max(1, workers)
        self.cache, self.breaker = ReplyCache(cache), Breaker(deadline)
        self.reasons: dict[str, str] = {}  # of the last `read`: what the server said, by kind of failure
        self.notes = list[str]()  # to be told once
        if self._host.unencrypted:
            self.notes.append(f"{self.server} is plain http: whoever is on the way reads prompts and key")

    def sibling(self, instructions: str, schema: Mapping[str, Any], version: str) -> ModelClient:
        """A client that asks the same model something else."""
        other = copy.copy(self)
        other.instructions, other.schema, other.version, other.reasons = instructions, schema, version, {}
        return other

    @property
    def calls(self) -> int:
        return self._host.calls

    @property
    def tokens(self) -> dict[str, int]:
        return self._host.tokens

    def begin(self) -> None:
        """A new run: the deadline and the failures count anew."""
        self.breaker.begin()

    def warnings(self) -> list[str]:
        """What is to be told once: of the cache, and of the address."""
        lines = self.notes + self.cache.warnings
        self.notes.clear()
        self.cache.warnings.clear()
        return lines

    def read(self, prompts: Sequence[str], probe: str, is_good: IsGood) -> list[Outcome]:
        """The outcome of every prompt, in order; a prompt is sent once, however often it occurs.

        The first call of all sends `probe`, to find the strictest form of reply that the server knows. A reply that is
        not good is returned, but neither cached nor taken from the cache. While the run's breaker is open nothing is
        asked; which prompts that concerns does not depend on the number of workers.
        """
        self.reasons.clear()
        keys = {prompt: self._key(prompt) for prompt in dict.fromkeys(prompts)}
        outcomes: dict[str, Outcome] = {}
        for prompt, key in keys.items():
            cached = self.cache.get(key)
            if cached is not None and is_good(prompt, cached) and not self._host.leaks(cached):
                outcomes[prompt] = (cached, "")
        waiting = [prompt for prompt in keys if prompt not in outcomes]
        if waiting:
            failure = self._find_form(probe, is_good)
            asked = {} if failure else self._ask_all(waiting, keys, is_good)
            if failure:
                asked[waiting[0]] = ("", failure)
            outcomes.update({prompt: asked.get(prompt, ("", "not asked")) for prompt in waiting})
        return [outcomes[prompt] for prompt in prompts]

    def _key(self, prompt: str) -> str:
        parts = (self.server, self.model, self.version, self.instructions, json.dumps(self.schema), prompt)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    # --- The probe ---

    def _find_form(self, probe: str, is_good: IsGood) -> str:
        """Settle the form of replies, unless it is; "" or the failure that ends it all.

        A server that is busy settles nothing: it is asked again, until it answers or the breaker opens. The breaker
        that was open is tried by this call, too.
        """
        failure = "not asked"
        while self.breaker.admits() and (not self._host.settled or self.breaker.state != "closed"):
            call = self._in_time(lambda: self._probe(probe, is_good))
            failure = call.failure
            if not failure:
                self._host.settled = True
                self.breaker.succeed()
            elif failure == "deadline":
                return failure
            else:
                self._note(call)
                if failure in HOPELESS:
                    self.breaker.give_up()
                elif failure in ("connection", "redirect", *_OF_A_PROMPT):
                    self.breaker.trip()  # there is nobody, or nobody who understands: asking again at once is idle
                else:
                    self.breaker.fail()
        return "" if self.breaker.state == "closed" else failure

    def _probe(self, probe: str, is_good: IsGood) -> Call:
        """The first dialect in which the server answers well, or else plain text: every reply is checked anyway."""
        dialect: Dialect | None = self._host.dialect
        call = Call()
        while dialect:
            call = self._host.ask_in(dialect, self.instructions, self.schema, probe, self._end())
            if call.failure and call.failure != "bad request" and call.failure not in ANSWERS:
                return call
            self._host.dialect = dialect
            if not call.failure and is_good(probe, call.reply):
                return call
            dialect = dialect.without(call.reason) if call.failure == "bad request" else dialect.next_form()
        if call.failure == "bad request":
            self._host.dialect = Dialect()
            return call
        return Call()

    def _end(self) -> float:
        return time.monotonic() + self.breaker.left()

    def _in_time(self, work: Callable[[], Call]) -> Call:
        """What `work` returns, or "deadline" if that comes first: the SDK's retries may wait longer than we do."""
        done: queue.SimpleQueue[Call] = queue.SimpleQueue()
        threading.Thread(target=lambda: done.put(work()), daemon=True).start()
        try:
            return done.get(timeout=self.breaker.left())
        except queue.Empty:
            return Call(failure="deadline")

    # --- The prompts ---

    def _ask_all(self, prompts: Sequence[str], keys: Mapping[str, str], is_good: IsGood) -> dict[str, Outcome]:
        """Ask in threads, since a notebook's event loop may be running; daemons, so that no hung call outlives us.

        Replies are kept as they come: an interrupted run does not pay for them again.
        """
        from tqdm import tqdm

        jobs: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        done: queue.SimpleQueue[tuple[str, Call]] = queue.SimpleQueue()
        # Without the client: its cache is to be closed as soon as nobody uses it, whatever a hung thread holds.
        ask = partial(self._host.ask, self.instructions, self.schema, end=self._end())

        def work() -> None:
            while (prompt := jobs.get()) is not None:
                done.put((prompt, ask(prompt)))

        workers = min(self.workers, len(prompts))
        for prompt in prompts[:workers]:
            jobs.put(prompt)
            threading.Thread(target=work, daemon=True).start()
        calls: dict[str, Call] = {}
        position = 0
        with tqdm(total=len(prompts), desc=self.model, disable=None) as bar:
            while position < len(prompts) and self.breaker.state == "closed":
                try:
                    prompt, call = done.get(timeout=self.breaker.left())
                except queue.Empty:
                    calls.update({prompt: Call(failure="deadline") for prompt in prompts if prompt not in calls})
                    position = len(prompts)
                    break
                calls[prompt] = call
                if not call.failure and is_good(prompt, call.reply):
                    self.cache.put(keys[prompt], call.reply)
                bar.update()
                if len(calls) + workers <= len(prompts):
                    jobs.put(prompts[len(calls) + workers - 1])
                while position < len(prompts) and prompts[position] in calls and self.breaker.state == "closed":
                    self._record(calls[prompts[position]])
                    position += 1
        for _ in range(workers):
            jobs.put(None)
        return {prompt: (calls[prompt].reply, calls[prompt].failure) for prompt in prompts[:position]}

    def _record(self, call: Call) -> None:
        """Tell the breaker how a call ended, in the order of the prompts."""
        if not call.failure or call.failure in ANSWERS:
            self.breaker.succeed()
            return
        self._note(call)
        if call.failure in HOPELESS:
            self.breaker.give_up()
        elif call.failure != "deadline":
            self.breaker.fail(pause=call.failure not in _OF_A_PROMPT)

    def _note(self, call: Call) -> None:
        if call.reason:
            self.reasons.setdefault(call.failure, call.reason)
