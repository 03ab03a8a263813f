r"""A tiny model server to try `ask` with: it speaks the OpenAI API, and its one
model answers all.

    python tools/echo_server.py
    OPENAI_BASE_URL=http://127.0.0.1:8000/v1 python eval.py ask 250915 --model echo

Its reply is whatever a careless forecaster would say: `\boxed{Yes}`, an example that
the prompt shows as JSON with equal probabilities, or the first option. It listens on
127.0.0.1 only.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

PORT: Final = 8000
_EXAMPLE: Final = re.compile(r"^\{.*\}$", re.MULTILINE)
_OPTION: Final = re.compile(r"^Option 0:", re.MULTILINE)


def answer(prompt: str) -> str:
    """Answer a prompt without a thought."""
    if _OPTION.search(prompt):
        return "Option 0"
    examples = _EXAMPLE.findall(prompt)
    if examples:
        options = list(json.loads(re.sub("…", "0", examples[-1])))
        return json.dumps(
            dict.fromkeys(options, round(1 / len(options), 4)), ensure_ascii=False
        )
    return r"I have no idea, but you asked. \boxed{Yes}"


def complete(request: dict[str, Any]) -> dict[str, Any]:
    """Make the completion of a request."""
    prompt = str(request["messages"][-1]["content"])
    reply = answer(prompt)
    tokens = {
        "prompt_tokens": len(prompt) // 4 + 1,
        "completion_tokens": len(reply) // 4 + 1,
    }
    return {
        "id": "echo",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": request["model"],
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": reply},
                "finish_reason": "stop",
            }
        ],
        "usage": {**tokens, "total_tokens": sum(tokens.values())},
    }


class Handler(BaseHTTPRequestHandler):
    """Answers every POST with a completion."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        size = int(self.headers.get("content-length") or 0)
        body = json.dumps(complete(json.loads(self.rfile.read(size)))).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing: `ask` says how it goes."""


class Server(ThreadingHTTPServer):
    """A server in threads, for as many calls at a time as `ask --workers` makes."""

    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing: a run that is ended hangs up."""


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(
        description="A server whose model answers without a thought."
    )
    parser.add_argument(
        "--port", type=int, default=PORT, help=f"default: {PORT}; 0: any"
    )
    port = parser.parse_args().port
    server = Server(("127.0.0.1", port), Handler)
    print(f"OPENAI_BASE_URL=http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


if __name__ == "__main__":
    main()
