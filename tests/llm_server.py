r"""A scripted server on 127.0.0.1 that speaks the OpenAI API, and numeric questions that the
grammar cannot settle.

A script is a function from `Request` to `Reply`; it sees every request, retries of the SDK
included. What came in is kept in `requests`.
"""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, NamedTuple

NO_RETRY: Final = {"x-should-retry": "false"}  # the SDK obeys: one request per call
AT_ONCE: Final = {"retry-after-ms": "1"}
LITERAL: Final = re.compile(r"[0-9][0-9,]*(?:\.[0-9]+)?")


class Request(NamedTuple):
    """A request as it came in; `number` counts from 1."""

    number: int
    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> dict[str, Any]:
        return dict(json.loads(self.raw))

    @property
    def prompt(self) -> str:
        return str(self.body["messages"][-1]["content"])

    @property
    def data(self) -> dict[str, Any]:
        """What stands between <data> and </data>."""
        return dict(json.loads(self.prompt.removeprefix("<data>").removesuffix("</data>")))

    @property
    def answer(self) -> str:
        return str(self.data["answer"])

    @property
    def form(self) -> str:
        return str(self.body.get("response_format", {"type": "text"})["type"])


class Reply(NamedTuple):
    """What goes out: `cut` sends half the body and hangs up, `drop` hangs up at once, `wait`
    seconds come first.
    """

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = {}  # noqa: RUF012 - never changed
    kind: str = "application/json"
    cut: bool = False
    drop: bool = False
    wait: float = 0.0
    drip: float = 0.0  # seconds between single bytes


Script = Callable[[Request], Reply]


def completion(
    content: object, reason: object = "stop", refusal: object = None, **more: Any
) -> Reply:
    """A 200 with one choice; `more` replaces keys of the body."""
    choice = {
        "index": 0,
        "finish_reason": reason,
        "message": {"role": "assistant", "content": content, "refusal": refusal},
    }
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    body = {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [choice],
        "usage": usage,
    }
    return Reply(json.dumps({**body, **more}).encode())


def quote(passages: object) -> Reply:
    """A 200 whose reply quotes these passages."""
    return completion(json.dumps({"answer": passages}))


def error(status: int, message: str = "no", headers: dict[str, str] = NO_RETRY) -> Reply:
    """An error in OpenAI's form."""
    body = {"error": {"message": message, "type": "error", "param": None, "code": None}}
    return Reply(json.dumps(body).encode(), status, headers)


def honest(request: Request) -> Reply:
    """A model that quotes the first number of an answer as it stands there, and takes no two names
    for the same.
    """
    if "answer" not in request.data:
        return completion('{"same": false}')
    number = LITERAL.search(request.answer)
    return quote(number[0] if number else None)


UNSURE: Final = r"\boxed{101 then 90 now}"  # two numbers to the grammar, `honest` takes the first


def question(
    given: object = UNSURE, name: object = "a", truth: str = "100", std: float | None = 5.0
) -> dict[str, Any]:
    return {
        "id": name, "level": 4, "prompt": "How many units will it be?", "ground_truth": truth,
        "Std": std,
        "answer": given,
    }  # fmt: skip


def questions(count: int) -> list[dict[str, Any]]:
    """Question n has the answer n + 1000 in the reading of the model; the grammar reads none."""
    return [
        question(rf"\boxed{{{n + 1000} then 90 now}}", str(n), str(n + 1000)) for n in range(count)
    ]


class LlmServer:
    """A server in threads, for a `with` statement; `url` is what an SDK needs as base URL."""

    def __init__(self, script: Script = honest) -> None:
        self.script = script
        self.requests: list[Request] = []
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.005,), daemon=True
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def take(self, path: str, headers: dict[str, str], raw: bytes) -> Request:
        with self._lock:
            request = Request(len(self.requests) + 1, path, headers, raw)
            self.requests.append(request)
        return request

    def __enter__(self) -> LlmServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up first is none of our business."""


def _handler(server: LlmServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            reply = server.script(
                server.take(self.path, {k.lower(): v for k, v in self.headers.items()}, raw)
            )
            time.sleep(reply.wait)
            if reply.drop:
                # Linger 0 sends RST: a reset, not an orderly end.
                self.connection.setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
                )
                self.close_connection = True
                self.connection.close()
                return
            self.send_response(reply.status)
            for name, value in {"content-type": reply.kind, **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(reply.body)))
            self.end_headers()
            if reply.drip:
                for byte in reply.body:
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                    time.sleep(reply.drip)
                return
            self.wfile.write(reply.body[: len(reply.body) // 2] if reply.cut else reply.body)
            self.close_connection = reply.cut

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

    return Handler
