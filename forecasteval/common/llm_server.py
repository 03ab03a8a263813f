"""One call to a server that speaks the OpenAI API: what is sent, and how it can fail."""

from __future__ import annotations

import re
import weakref
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from .errors import InputError, printable

_MAX_REASON: Final = 200  # characters of what a server says about a failure
_MIN_SECRET: Final = 8  # characters; a shorter key, like "none" where a server wants none, is a word like any other
_FORMS: Final = ("json_schema", "json_object", "text")  # of a reply, the strictest first
_BAD_REQUEST: Final = frozenset({400, 413, 422})
_STATUS: Final = {401: "key refused", 402: "no credit", 403: "forbidden", 404: "no such model", 429: "rate limit"}
# No further call can mend these.
HOPELESS: Final = frozenset({"key refused", "no credit", "no such model", "no http address"})
# A server may refuse one prompt for what it says, and answer the next.
OF_ONE_PROMPT: Final = frozenset({"bad request", "forbidden"})
# The model answered, although not what it was to answer. Every other failure is the server's, and may pass.
OF_THE_MODEL: Final = frozenset({"empty", "cut off", "refusal"})


class Call(NamedTuple):
    """How a call ended: a reply, or the kind of its failure and what the server says about it."""

    reply: str = ""
    failure: str = ""
    reason: str = ""
    tokens: tuple[int, int] = (0, 0)  # of prompt and reply
    dialect: tuple[str, bool] = (_FORMS[0], False)  # the form of reply, and whether the limit has its newer name


class Server:
    """A model on a server; threads may call it at the same time. `address` may be printed: the key is not in it."""

    def __init__(self, api_key: str, base_url: str, model: str) -> None:
        """Raises InputError, before any request, for a key or an address that cannot be used."""
        import openai

        if not re.fullmatch("[!-~]+", api_key):
            raise InputError("api_key (OPENAI_API_KEY)", "expected ASCII characters without blanks and line breaks")
        self._openai, self._secret, self.model = openai, api_key if len(api_key) >= _MIN_SECRET else None, model
        where = "base_url (OPENAI_BASE_URL)"
        # Every result names the address, and a secret may stand in none of them.
        if set(base_url) & set("@?#") or self._redact(base_url) != base_url:
            raise InputError(where, "expected an address without user, password, query, fragment and key")
        self.address, self.dialect = base_url, Call().dialect
        self._is_http = base_url.lower().startswith(("http://", "https://"))
        try:
            http = openai.DefaultHttpxClient(follow_redirects=False)
            self._client = openai.OpenAI(
                api_key=api_key, base_url=base_url, max_retries=5, timeout=30.0, http_client=http
            )
        except Exception:  # Its type belongs to the HTTP library beneath the SDK, and its text may hold a password.
            raise InputError(where, "this address, or a proxy that the environment names, cannot be used") from None
        # Not at exit: a call that still hangs then would fail loudly.
        weakref.finalize(self, self._client.close).atexit = False

    def _redact(self, text: str) -> str:
        return text.replace(self._secret, "…") if self._secret else text

    def call(self, instructions: str, schema: Mapping[str, Any], prompt: str) -> Call:
        """Send a prompt, with the SDK's retries; what a 400 refuses is sent in another dialect, while there is one."""
        messages = [{"role": "system", "content": instructions}, {"role": "user", "content": prompt}]
        form, new_limit = self.dialect
        while True:
            # Models that want the new name think before they reply, within that limit, and refuse a temperature.
            limit = {"max_completion_tokens": 2000} if new_limit else {"max_tokens": 200, "temperature": 0}
            request: dict[str, Any] = {"model": self.model, "messages": messages, **limit}
            if form != "text":
                request["response_format"] = {"type": form}
            if form == "json_schema":
                request["response_format"]["json_schema"] = {"name": "reply", "strict": True, "schema": schema}
            call = self._send(request)
            if call.failure == "bad request" and "max_completion_tokens" in call.reason and not new_limit:
                new_limit = True
            elif call.failure == "bad request" and form != _FORMS[-1]:
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
            tokens = (int(usage.prompt_tokens or 0), int(usage.completion_tokens or 0)) if usage else (0, 0)
            reply = self._redact(choice.message.content or "").encode("utf-8", "replace").decode()
            refused, cut_off = bool(choice.message.refusal), choice.finish_reason == "length"
        except openai.APITimeoutError:
            return Call(failure="timeout")
        except openai.APIConnectionError:
            return Call(failure="connection")
        except openai.APIStatusError as error:
            code = error.status_code
            failure = "bad request" if code in _BAD_REQUEST else _STATUS.get(code, f"status {code}")
            return Call(failure=failure, reason=self._read_reason(error))
        # A 200 whose body is no JSON raises JSONDecodeError; one of another shape gives text, None or a list.
        except (openai.OpenAIError, ValueError, AttributeError, TypeError, LookupError, RecursionError, OverflowError):
            return Call(failure="bad body")
        if refused or cut_off or not reply.strip():
            return Call(failure="refusal" if refused else "cut off" if cut_off else "empty", tokens=tokens)
        return Call(reply, tokens=tokens)

    def _read_reason(self, error: Any) -> str:
        """What the server says about a failure: one line, without the key."""
        text = error.body.get("message") if isinstance(error.body, Mapping) else error.body
        text = self._redact(text if isinstance(text, str) else error.response.text)
        return printable(" ".join(text[: 2 * _MAX_REASON].split()), _MAX_REASON)
