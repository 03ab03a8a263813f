"""A language model on a server that speaks the OpenAI API: a call, and how it ended."""

from __future__ import annotations

import json
import os
import re
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from .errors import InputError, printable
from .records import JsonObject
from .replies import join_parts

DEFAULT_SERVER: Final = "https://api.openai.com/v1"
TIMEOUT: Final = 30.0  # seconds without a byte that end a request
# Requests in a row that may end so, if the server says nothing else either
MAX_SILENT: Final = 3
_MAX_REASON: Final = 200  # characters of a server's message that are shown
_MAX_MESSAGE: Final = 2000  # and in which it may name a parameter
_MAX_PAUSE: Final = 60.0  # seconds that a server may ask to wait
# A shorter key, like "none" where a server wants none, is a word like any other.
_MIN_SECRET: Final = 8
_MIN_PARAMETER: Final = 6  # characters of a name that is no word of other messages
_SYSTEM: Final = "system message"  # which templates of some open models refuse
_SYSTEM_REFUSED: Final = re.compile(
    r"\bsystem\b.{0,20}\brole|roles must "
    r"alternate",
    re.IGNORECASE,
)
_TOO_LARGE: Final = re.compile(r"too (?:large|high)|at most|exceed", re.IGNORECASE)
_NEWER_LIMIT: Final = "max_completion_tokens"
_BAD_REQUEST: Final = frozenset({400, 422})
_STATUS: Final = {
    401: "key refused",
    402: "no credit",
    403: "forbidden",
    404: "no such model",
    413: "too long",
    429: "rate limit",
}
# Failures of a prompt that no other call can mend, and how servers call them.
_LASTING: Final = {
    "too long": re.compile(
        r"context[ _](?:length|window|size)|\btoo (?:long|many (?:input "
        r")?tokens)|above_max_length",
        re.IGNORECASE,
    ),
    "content filter": re.compile(
        r"content[ _](?:filter|policy|management)|ResponsibleAIPolicy", re.IGNORECASE
    ),
}
LASTING: Final = frozenset(_LASTING)


class Call(NamedTuple):
    """The end of a call: a reply, or the kind of its failure and the server's
    `message` about it.

    A reply that was cut off has both. `value` is what a task reads from the reply;
    `param` is the parameter that the server names in an error; `body` is the whole
    completion; `left_out` are the parameters that the server refused.
    """

    reply: str = ""
    value: Any = None
    failure: str = ""
    message: str = ""
    param: str = ""
    tokens: tuple[int, int] = (0, 0)  # of prompt and reply
    body: JsonObject = {}  # noqa: RUF012 - never changed
    left_out: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """Return the server's message, on one line."""
        words = self.message[: 2 * _MAX_REASON].split()
        return printable(" ".join(words), _MAX_REASON)


def read_completion(body: Any) -> Call:
    """Read a chat completion of any server; "bad body" for anything else.

    The reply is what the server calls the content: thoughts that it separates are not
    in it. A model that refuses says so in a field of its own, which is the reply then.
    """
    try:
        choice = body["choices"][0]
        message = choice["message"]
        usage = body.get("usage") or {}
        tokens = (
            int(usage.get("prompt_tokens") or 0),
            int(usage.get("completion_tokens") or 0),
        )
        refusal = message.get("refusal")
        content = join_parts(message.get("content")) or refusal or ""
        finish = choice.get("finish_reason")
    except (ValueError, AttributeError, TypeError, LookupError, OverflowError):
        return Call(failure="bad body", message=_read_error(body))
    reply = str(content).encode("utf-8", "replace").decode()
    failure = ""
    if refusal:
        failure = "refusal"
    elif finish == "length":
        failure = "cut off"
    elif not reply.strip():
        failure = "empty"
        if finish == "content_filter":
            failure = "content filter"
    return Call(reply, failure=failure, tokens=tokens, body=body)


def _read_error(body: Any) -> str:
    """Read the message of a body that is an error, or of anything in its form;
    "" without one.
    """
    error = body.get("error") if isinstance(body, Mapping) else None
    text = error.get("message") if isinstance(error, Mapping) else error
    if isinstance(text, str):
        return text[:_MAX_MESSAGE]
    return ""


def find_refused(request: JsonObject, call: Call) -> str:
    """Find the parameter of a request that a server refuses; "" if there is none.

    If an error names none, the form of the reply is what servers understand least.
    """
    names = [name for name in request if name not in ("model", "messages")]
    # "Use 'max_completion_tokens' instead" names both; so does "'max_tokens' or
    # 'max_completion_tokens' is too large", which asks for no other name.
    if "max_tokens" in request and not _TOO_LARGE.search(call.message):
        names.insert(0, _NEWER_LIMIT)
    has_system = any(
        message.get("role") == "system" for message in request.get("messages") or ()
    )
    if has_system and _SYSTEM_REFUSED.search(call.message):
        return _SYSTEM
    # The parameter of "response_format.json_schema" is its first part.
    param = call.param.partition(".")[0]
    named = [name for name in names if _is_named(name, call.message)]
    if param in names and _NEWER_LIMIT not in named:
        return param
    if named:
        return named[0]
    is_form = "response_format" in request and call.failure == "bad request"
    if is_form:
        return "response_format"
    return ""


def _is_named(name: str, message: str) -> bool:
    """Return whether a message names a parameter.

    The words "user", "stop" and "seed" stand in many messages: they are names
    between quotes only.
    """
    word = re.escape(name)
    if len(name) < _MIN_PARAMETER and "_" not in name:
        return bool(re.search(rf"['\"`]{word}['\"`]", message))
    return bool(re.search(rf"\b{word}\b", message))


def leave_out(request: JsonObject, name: str) -> dict[str, Any]:
    """Make the request without a parameter. A JSON schema becomes any JSON object
    first, a limit gets its newer name, and the system message stands in front
    of the user's.
    """
    if name == _SYSTEM:
        text = "\n\n".join(message["content"] for message in request["messages"])
        return {**request, "messages": [{"role": "user", "content": text}]}
    rest = {key: value for key, value in request.items() if key != name}
    if name == "response_format" and "json_schema" in request.get(name, ()):
        rest[name] = {"type": "json_object"}
    if name == _NEWER_LIMIT and "max_tokens" in request:
        rest[name] = rest.pop("max_tokens")
        # Models that want the newer name think before they reply, and refuse a
        # temperature.
        rest.pop("temperature", None)
    return rest


class Server:
    """A model on a server; threads may call it at the same time.

    `address` may be printed: the key is not in it. `refused` are the parameters that
    the server was found not to take.
    """

    def __init__(
        self,
        api_key: str,
        base_url: str,
        model: str,
        timeout: float | None = None,
        retries: int = 5,
    ) -> None:
        """Raise InputError, before any request, for a key or an address that
        cannot be used.

        timeout: seconds without a byte that end a request. retries: of
            the SDK, by call.
        """
        import openai

        if not re.fullmatch("[!-~]+", api_key):
            raise InputError(
                "api_key (OPENAI_API_KEY)",
                "expected ASCII characters without blanks and line breaks",
            )
        self._openai = openai
        self._secret = api_key if len(api_key) >= _MIN_SECRET else None
        where = "base_url (OPENAI_BASE_URL)"
        # Every result names the address, and a secret may stand in none of them.
        if set(base_url) & set("@?#") or self._redact(base_url) != base_url:
            raise InputError(
                where,
                "expected an address without user, password, query, fragment and key",
            )
        self.address = base_url
        self.model = model
        self.requests = 0
        self.refused: tuple[str, ...] = ()
        self.timeout = timeout or TIMEOUT
        self._pause = 0.0  # the moment before which nothing is sent
        self._lock = threading.Lock()
        # When its call and its request began, how many were late
        self._thread = threading.local()
        self._heard = 0.0  # when the last byte came
        self._is_http = base_url.lower().startswith(("http://", "https://"))
        try:
            http = openai.DefaultHttpxClient(
                follow_redirects=False,
                event_hooks={"request": [self._count], "response": [self._hear]},
            )
            self._client = openai.OpenAI(
                api_key=api_key,
                base_url=base_url,
                max_retries=retries,
                timeout=openai.Timeout(
                    self.timeout, connect=min(self.timeout, TIMEOUT)
                ),
                http_client=http,
            )
        # Its type belongs to the HTTP library beneath the SDK, and its text may
        # hold a password.
        except Exception:
            raise InputError(
                where,
                "this address, or a proxy that the environment names, cannot be used",
            ) from None
        # Not at exit: a call that still hangs then would fail loudly.
        weakref.finalize(self, self._client.close).atexit = False

    def call(
        self, messages: Sequence[JsonObject], options: Mapping[str, object]
    ) -> Call:
        """Send messages, with the SDK's retries; what a 400 refuses of the `options` is
        left out, and from then on in all calls.
        """
        refused = self.refused
        request: dict[str, Any] = {"model": self.model, "messages": messages, **options}
        for name in refused:
            request = leave_out(request, name)
        self._thread.began = self._thread.sent = time.monotonic()
        self._thread.late = 0
        call = self._send(request)
        while call.failure in ("bad request", *LASTING):
            name = find_refused(request, call)
            if not name:
                break
            refused = (*refused, name)
            request = leave_out(request, name)
            call = self._send(request)
        # One prompt that is refused whatever is left out says nothing about the others.
        has_answered = not call.failure or bool(call.body)
        if has_answered and len(refused) > len(self.refused):
            self.refused = refused
        renamed = {"max_tokens"} if _NEWER_LIMIT in request else set()
        return call._replace(
            left_out=tuple(sorted(options.keys() - request.keys() - renamed))
        )

    def _send(self, request: dict[str, Any]) -> Call:
        openai = self._openai
        if not self._is_http:
            return Call(failure="no http address")
        try:
            # The SDK's own models would take a third of the time, and refuse what
            # servers add.
            text = self._client.post("/chat/completions", cast_to=str, body=request)
            call = read_completion(json.loads(self._redact(text)))
            return call._replace(
                reply=self._redact(call.reply), message=self._redact(call.message)
            )
        except openai.APIConnectionError as error:
            failure = "connection"
            if isinstance(error, openai.APITimeoutError):
                failure = "timeout"
            return Call(failure="no byte" if self._is_silent() else failure)
        except openai.APIStatusError as error:
            message = self._read_message(error)
            param = ""
            if isinstance(error.param, str):
                param = error.param
            return Call(
                failure=_name_failure(error, message), message=message, param=param
            )
        # A 200 whose body is no JSON, or JSON nested too deeply.
        except (openai.OpenAIError, ValueError, RecursionError):
            return Call(failure="bad body")

    def _read_message(self, error: Any) -> str:
        """Read the server's message about a failure."""
        body = error.body
        text = body.get("message") if isinstance(body, Mapping) else body
        if not isinstance(text, str):
            text = error.response.text
        return self._redact(text)[:_MAX_MESSAGE]

    def _redact(self, text: str) -> str:
        if self._secret:
            return text.replace(self._secret, "…")
        return text

    def _count(self, request: Any) -> None:
        """Count a request; the SDK makes none, nor tries again, where the
        server is silent.
        """
        thread = self._thread
        # A server that sends headers and then nothing is heard each time, and
        # late each time.
        thread.late += time.monotonic() - thread.sent >= self.timeout
        if self._is_silent() or thread.late >= MAX_SILENT:
            raise self._openai.APITimeoutError(request)
        time.sleep(max(0.0, self._pause - time.monotonic()))
        thread.sent = time.monotonic()
        with self._lock:
            self.requests += 1

    def _hear(self, response: Any) -> None:
        """Note a sign of life; one that says how long to wait holds all calls."""
        self._heard = time.monotonic()
        with suppress(ValueError):
            wait = float(response.headers.get("retry-after", ""))
            if 0 < wait <= _MAX_PAUSE:
                self._pause = max(self._pause, self._heard + wait)

    def _is_silent(self) -> bool:
        """Return whether nobody has heard a byte while this call tried
        `MAX_SILENT` times.
        """
        since: float = max(self._heard, self._thread.began)
        return time.monotonic() - since >= MAX_SILENT * self.timeout


def _name_failure(error: Any, message: str) -> str:
    """Name the kind of failure that an error of the SDK is."""
    if error.code == "insufficient_quota":
        return "no credit"
    if error.status_code not in _BAD_REQUEST:
        return _STATUS.get(error.status_code, f"status {error.status_code}")
    return find_lasting(f"{error.code} {message}") or "bad request"


def find_lasting(text: str) -> str:
    """Find the kind of failure that no other call can mend in what a server
    says; "" without.
    """
    kinds = (kind for kind, pattern in _LASTING.items() if pattern.search(text))
    return next(kinds, "")


def find_server(
    option: str, address: str | None = None, needs_key: bool = True
) -> tuple[str, str]:
    """Find the key in OPENAI_API_KEY, and the address in OPENAI_BASE_URL where none is
    given; InputError without a key, which only a server with an address of its
    own may not need.
    """
    address = address or os.environ.get("OPENAI_BASE_URL")
    key = os.environ.get("OPENAI_API_KEY")
    if not key and needs_key and not address:
        expected = "expected a key in the environment variable OPENAI_API_KEY"
        raise InputError(option, expected, "none")
    return key or "none", address or DEFAULT_SERVER
