"""One call to a server that speaks the OpenAI API: what is asked, in which dialect, and how it can fail."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from .errors import EvaluationError, printable
from .llm_transport import make_http_client, read_address

MAX_REASON: Final = 200  # characters of what a server says about a failure
_CALL_SECONDS: Final = 30.0
_TOKENS: Final = 200  # of a reply
_FORMS: Final = ("json_schema", "json_object", "text")
_STATUS: Final = {
    400: "bad request", 401: "key refused", 402: "no credit", 403: "forbidden", 404: "no such model", 408: "timeout",
    413: "too large", 422: "bad request", 429: "rate limit",
}  # fmt: skip
# No further call can mend these.
HOPELESS: Final = frozenset({"key refused", "no credit", "no such model", "no address"})
# What the model did of what it was asked; any other failure is the server's, and another run may end otherwise.
ANSWERS: Final = frozenset({"empty", "cut off", "refusal"})


class Call(NamedTuple):
    """How a call ended: a reply, or the kind of its failure and what the server says about it."""

    reply: str = ""
    failure: str = ""
    reason: str = ""


class Dialect(NamedTuple):
    """What a server understands: the form of reply, and the names of the settings."""

    form: str = _FORMS[0]
    limit: str = "max_tokens"
    temperature: bool = True

    def next_form(self) -> Dialect | None:
        """The same with the next form, a less strict one; None after the last."""
        place = _FORMS.index(self.form) + 1
        return self._replace(form=_FORMS[place]) if place < len(_FORMS) else None

    def without(self, reason: str) -> Dialect | None:
        """What to try after a 400 that gives this reason; None if there is nothing left."""
        if "max_tokens" in reason and self.limit == "max_tokens":
            return self._replace(limit="max_completion_tokens")
        if "temperature" in reason and self.temperature:
            return self._replace(temperature=False)
        return self.next_form()


class Server:
    """A model on a server; threads may call it at the same time. `address.shown` and the counts may be printed.

    The API key stays inside the SDK's client and `address.secrets`: it is in no error and no reply.
    """

    def __init__(self, api_key: str, base_url: str, model: str) -> None:
        try:
            import openai
        except ImportError:
            raise EvaluationError("a language model needs the package openai: pip install openai") from None
        self.model, self._openai = model, openai
        self._address = read_address(base_url, api_key)
        self.shown, self.unencrypted = self._address.shown, self._address.unencrypted
        shown = self.shown if self._address.target else "http://invalid."
        client = make_http_client(openai, self._address)
        self._client = openai.OpenAI(
            api_key=api_key, base_url=shown, max_retries=5, timeout=_CALL_SECONDS, http_client=client
        )
        self.calls, self.tokens = 0, {"prompt": 0, "completion": 0}
        self.dialect, self.settled = Dialect(), False  # settled by a probe that was answered
        self._lock = threading.Lock()

    def __del__(self) -> None:  # nobody closes an evaluator
        if "_client" in vars(self):
            self._client.close()

    def leaks(self, text: str) -> bool:
        """Whether a piece of the key, or of a password in the address, stands in a text."""
        return self._address.leaks(text)

    def ask(self, instructions: str, schema: Mapping[str, Any], prompt: str, end: float) -> Call:
        """One prompt before `end`, with the SDK's retries; a dialect that is refused gives way to the next.

        A weaker dialect is kept only if it was understood: a prompt that is refused for what it says changes nothing.
        """
        dialect = self.dialect
        call = self.ask_in(dialect, instructions, schema, prompt, end)
        while call.failure == "bad request" and (weaker := dialect.without(call.reason)):
            dialect = weaker
            call = self.ask_in(dialect, instructions, schema, prompt, end)
            if not call.failure or call.failure in ANSWERS:
                self.dialect = dialect
        return call

    def ask_in(self, dialect: Dialect, instructions: str, schema: Mapping[str, Any], prompt: str, end: float) -> Call:
        """One prompt in this dialect."""
        if not self._address.target:
            return Call(failure="no address")
        left = end - time.monotonic()
        if left <= 0:
            return Call(failure="deadline")
        request: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": "system", "content": instructions}, {"role": "user", "content": prompt}],
            dialect.limit: _TOKENS,
            "timeout": min(_CALL_SECONDS, left),
        }
        if dialect.temperature:
            request["temperature"] = 0
        if dialect.form != "text":
            request["response_format"] = {"type": dialect.form}
        if dialect.form == "json_schema":
            request["response_format"]["json_schema"] = {"name": "reply", "strict": True, "schema": schema}
        return self._send(request)

    def _send(self, request: dict[str, Any]) -> Call:
        openai = self._openai
        try:
            response = self._client.chat.completions.create(**request)
            choice, usage = response.choices[0], response.usage
            reply, reason, refusal = choice.message.content, choice.finish_reason, choice.message.refusal
            spent = (int(usage.prompt_tokens or 0), int(usage.completion_tokens or 0)) if usage else (0, 0)
            reply = (reply or "").encode("utf-8", "replace").decode()
        except openai.APITimeoutError:
            return Call(failure="timeout")
        except openai.APIConnectionError:
            return Call(failure="connection")
        except openai.APIStatusError as error:
            return Call(failure=_status(error.status_code), reason=self._reason(error))
        # A 200 whose body is no JSON raises JSONDecodeError; one of another shape gives text, None or a list.
        except (openai.OpenAIError, ValueError, AttributeError, TypeError, LookupError, RecursionError, OverflowError):
            return Call(failure="bad body")
        finally:
            with self._lock:
                self.calls += 1
        with self._lock:
            self.tokens["prompt"] += spent[0]
            self.tokens["completion"] += spent[1]
        if self.leaks(reply):
            return Call(failure="shows the key")
        if refusal or reason == "length" or not reply.strip():
            return Call(failure="refusal" if refusal else "cut off" if reason == "length" else "empty")
        return Call(reply)

    def _reason(self, error: Any) -> str:
        """What the server itself says, made safe; nothing if a piece of a secret stands in it."""
        body = error.body
        text = body.get("message") if isinstance(body, Mapping) else body
        text = text if isinstance(text, str) else error.response.text
        return "" if self.leaks(text) else printable(" ".join(text[: 2 * MAX_REASON].split()), MAX_REASON)


def _status(code: int) -> str:
    if 300 <= code < 400:
        return "redirect"
    return _STATUS.get(code, "server error" if code >= 500 else f"status {code}")
