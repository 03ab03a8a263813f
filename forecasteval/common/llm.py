"""A client for servers that speak the OpenAI API: threads, a deadline, failures told apart."""

from __future__ import annotations

import hashlib
import json
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from .errors import EvaluationError
from .llm_cache import ReplyCache

MAX_FAILURES: Final = 10  # in a row, in the order of the prompts
_REPLY_FORMS: Final = ("json_schema", "json_object", "text")
_STATUS: Final = {401: "key refused", 403: "key refused", 404: "no such model", 408: "timeout", 429: "rate limit"}
_PASSING_FAILURES: Final = ("rate limit", "server error", "timeout", "bad body", "empty", "cut off", "refusal")
_HOPELESS: Final = ("key refused", "no such model", "no address")  # no further call can mend these
# What the server was like, not what was asked: another run may end otherwise.
SERVER_FAILURES: Final = frozenset({
    "connection", "timeout", "server error", "rate limit", "bad body", "deadline", "not asked", *_HOPELESS,
})  # fmt: skip

Outcome = tuple[str, str]  # (reply, "") or ("", kind of failure)


class ModelClient:
    """Asks an OpenAI-compatible server; holds client, cache and counts. Nothing is called before `read`.

    `schema` is the JSON schema of a reply and `version` the prompt's; both belong to the key of a cached reply. The
    API key stays inside the SDK's client: it is in no attribute of ours, no error and no cache.
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
        try:
            import openai
        except ImportError:
            raise EvaluationError("a language model needs the package openai: pip install openai") from None
        self._openai = openai
        try:
            self._client = openai.OpenAI(api_key=api_key, base_url=base_url, max_retries=5, timeout=30)
        except Exception:  # whatever an impossible address makes the SDK raise; its text may hold a password
            raise EvaluationError("the language model's address (OPENAI_BASE_URL) is no URL") from None
        scheme, mark, rest = base_url.rpartition("://")
        self.server = f"{scheme}{mark}{rest.rpartition('@')[2].partition('?')[0]}"  # without user and password
        self.model, self.instructions, self.schema, self.version = model, instructions, schema, version
        self.workers, self.deadline = max(1, workers), deadline
        self.cache = ReplyCache(cache)
        self.calls, self.tokens = 0, {"prompt": 0, "completion": 0}
        self._form = ""  # found by the probe
        self._lock = threading.Lock()

    def read(self, prompts: Sequence[str], probe: str, is_good: Callable[[str], bool]) -> list[Outcome]:
        """The outcome of every prompt, in order; a prompt is sent once, however often it occurs.

        The first call sends `probe` to find the strictest form of reply that the server knows; `is_good` tells
        whether a reply to it will do. After `MAX_FAILURES` in a row, or a refused key or model, the rest is not
        asked; which prompts these are does not depend on the number of workers. Failures are never cached.
        """
        keys = {prompt: self._key(prompt) for prompt in dict.fromkeys(prompts)}
        outcomes: dict[str, Outcome] = {}
        for prompt, key in keys.items():
            cached = self.cache.get(key)
            if cached is not None:
                outcomes[prompt] = (cached, "")
        waiting = [prompt for prompt in keys if prompt not in outcomes]
        if waiting:
            end = time.monotonic() + self.deadline
            fatal = "" if self._form else self._in_time(lambda: self._probe(probe, is_good, end), end)
            self._form = "" if fatal else self._form  # the next run may find the server up
            asked = {} if fatal else self._ask_all(waiting, keys, end)
            asked.setdefault(waiting[0], ("", fatal))
            outcomes.update({prompt: asked.get(prompt, ("", "not asked")) for prompt in waiting})
        return [outcomes[prompt] for prompt in prompts]

    def _key(self, prompt: str) -> str:
        parts = (self.server, self.model, self.version, self.instructions, json.dumps(self.schema), prompt)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def _probe(self, probe: str, is_good: Callable[[str], bool], end: float) -> str:
        """Settle the form of replies; "" or the failure that ends it all."""
        failure = ""
        if not self.server.startswith(("http://", "https://")):
            return "no address"
        for self._form in _REPLY_FORMS:
            reply, failure = self._ask(probe, end)
            if failure in _PASSING_FAILURES or (not failure and is_good(reply)):
                return ""
            if failure and failure != "bad request":
                break
        return failure  # "" where even plain text did not do: every reply is checked anyway

    @staticmethod
    def _in_time(work: Callable[[], str], end: float) -> str:
        """What `work` returns, or "deadline" if that comes first: the SDK's retries may wait longer than we do."""
        done: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=lambda: done.put(work()), daemon=True).start()
        try:
            return done.get(timeout=max(0.0, end - time.monotonic()))
        except queue.Empty:
            return "deadline"

    def _ask_all(self, prompts: Sequence[str], keys: Mapping[str, str], end: float) -> dict[str, Outcome]:
        """Ask in threads, since a notebook's event loop may be running; daemons, so that no hung call outlives us.

        Replies are kept as they come: an interrupted run does not pay for them again.
        """
        from tqdm import tqdm

        jobs: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        done: queue.SimpleQueue[tuple[str, Outcome]] = queue.SimpleQueue()

        def work() -> None:
            while (prompt := jobs.get()) is not None:
                done.put((prompt, self._ask(prompt, end)))

        workers = min(self.workers, len(prompts))
        for prompt in prompts[:workers]:
            jobs.put(prompt)
            threading.Thread(target=work, daemon=True).start()
        outcomes: dict[str, Outcome] = {}
        position = row = 0
        with tqdm(total=len(prompts), desc=self.model, disable=None) as bar:
            while position < len(prompts):
                try:
                    prompt, outcome = done.get(timeout=max(0.0, end - time.monotonic()))
                except queue.Empty:
                    outcomes.update({prompt: ("", "deadline") for prompt in prompts if prompt not in outcomes})
                    break
                outcomes[prompt] = outcome
                if not outcome[1]:
                    self.cache.put(keys[prompt], outcome[0])
                bar.update()
                if len(outcomes) + workers <= len(prompts):
                    jobs.put(prompts[len(outcomes) + workers - 1])
                while position < len(prompts) and prompts[position] in outcomes:
                    failure = outcomes[prompts[position]][1]
                    row = row + 1 if failure else 0
                    position += 1
                    if row == MAX_FAILURES or failure in _HOPELESS:
                        outcomes = {prompt: outcomes[prompt] for prompt in prompts[:position]}
                        position = len(prompts)
        for _ in range(workers):
            jobs.put(None)
        return outcomes

    def _ask(self, prompt: str, end: float) -> Outcome:
        """One call, with the SDK's retries."""
        left = end - time.monotonic()
        if left <= 0:
            return "", "deadline"
        form: dict[str, Any] = {"type": self._form}
        if self._form == "json_schema":
            form["json_schema"] = {"name": "reply", "strict": True, "schema": self.schema}
        request: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": "system", "content": self.instructions}, {"role": "user", "content": prompt}],
            "temperature": 0,
            "max_tokens": 200,
            "timeout": min(30.0, left),
        }
        if self._form != "text":
            request["response_format"] = form
        openai = self._openai
        try:
            response = self._client.chat.completions.create(**request)
            choice, usage = response.choices[0], response.usage
            reply, reason, refusal = choice.message.content, choice.finish_reason, choice.message.refusal
            spent = (int(usage.prompt_tokens or 0), int(usage.completion_tokens or 0)) if usage else (0, 0)
            reply = reply if reply is None else reply.encode("utf-8", "replace").decode()
        except openai.APITimeoutError:
            return "", "timeout"
        except openai.APIConnectionError:
            return "", "connection"
        except openai.APIStatusError as error:
            return "", _STATUS.get(error.status_code, "server error" if error.status_code >= 500 else "bad request")
        # A 200 whose body is no JSON raises JSONDecodeError; one of another shape gives text, None or a list.
        except (openai.OpenAIError, ValueError, AttributeError, TypeError, LookupError, RecursionError, OverflowError):
            return "", "bad body"
        finally:
            with self._lock:
                self.calls += 1
        with self._lock:
            self.tokens["prompt"] += spent[0]
            self.tokens["completion"] += spent[1]
        if refusal:
            return "", "refusal"
        if reason == "length":
            return "", "cut off"
        return (reply, "") if reply and reply.strip() else ("", "empty")
