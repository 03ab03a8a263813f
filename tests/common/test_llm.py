"""The client: forms of replies, failures told apart, runs, the deadline, the key, the cache.

Real HTTP on 127.0.0.1, by `llm_server`; at the end by `llmock` from PyPI, somebody else's idea of
the OpenAI API.
"""

from __future__ import annotations

import contextlib
import json
import re
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli import ROOT
from forecasteval.common.errors import InputError
from forecasteval.common.llm import MAX_FAILURES, ModelClient, Task, Usage, build_prompt
from forecasteval.common.server import Call, find_refused
from llm_server import AT_ONCE, NO_RETRY, LlmServer, Reply, Request, Script, completion, error

KEY: Final = "sk-canary-7f3a9c51e2"


def double(data: Mapping[str, Any], reply: str) -> int | None:
    """The value of a reply that is twice the number sent."""
    return int(reply) if reply == str(2 * data["n"]) else None


TASK: Final = Task("Double the number.", {"value": {"type": "integer"}}, "1", double)


def honest(request: Request) -> Reply:
    return completion(str(2 * request.data["n"]))


def but(failing: Mapping[int, Reply] | range, reply: Reply | None = None) -> Script:
    """An honest model, except for these numbers."""
    return lambda request: (
        (reply or failing[request.data["n"]]) if request.data["n"] in failing else honest(request)  # type: ignore[index]
    )


@pytest.fixture
def server(server: LlmServer) -> LlmServer:
    server.script = honest
    return server


def make(server: LlmServer | str, key: str = KEY, **options: Any) -> ModelClient:
    url = server if isinstance(server, str) else server.url
    return ModelClient(
        key, url, **{"model": "m", "workers": 4, "cache": None, "deadline": 60.0, **options}
    )


def read(client: ModelClient, *numbers: int) -> tuple[list[int | None], Usage]:
    values, usage = client.read(TASK, [{"n": number} for number in numbers])
    assert (
        usage["prompts"]
        == len(numbers)
        == usage["answered"] + usage["invalid"] + sum(usage["failures"].values())
    )
    assert usage["answered"] == sum(value is not None for value in values)
    return values, usage


def sent(server: LlmServer) -> list[int]:
    return [request.data["n"] for request in server.requests]


# --- What is sent ---


def test_values_in_order_and_equal_prompts_sent_once(server: LlmServer) -> None:
    server.script = lambda request: honest(request)._replace(wait=0.05 * (request.data["n"] == 2))
    values, usage = read(make(server), 1, 2, 1, 3, 2)
    assert values == [2, 4, 2, 6, 4]
    assert sorted(sent(server)) == [1, 2, 3]
    assert (usage["calls"], usage["tokens"]) == (3, {"prompt": 300, "completion": 30})


def test_request(server: LlmServer) -> None:
    read(make(server), 7)
    (request,) = server.requests
    assert request.headers.pop("authorization") == f"Bearer {KEY}"
    assert KEY not in f"{request.path} {request.headers} {request.raw!r}"
    assert {name: request.body[name] for name in ("model", "temperature", "max_tokens")} == {
        "model": "m", "temperature": 0, "max_tokens": 2000,
    }  # fmt: skip
    assert request.body["messages"][0] == {"role": "system", "content": "Double the number."}
    assert request.body["response_format"]["json_schema"]["schema"] == {
        "type": "object", "properties": TASK.properties, "required": ["value"],
        "additionalProperties": False,
    }  # fmt: skip


@given(
    st.dictionaries(st.text(max_size=5), st.text(st.characters(exclude_categories=()), max_size=20))
)
def test_any_data_make_one_object_between_two_tags(data: dict[str, str]) -> None:
    prompt = build_prompt(data)
    assert prompt.encode().count(b"<") == 2
    assert len(json.loads(prompt.removeprefix("<data>").removesuffix("</data>"))) == len(data)


@pytest.mark.parametrize(
    ("known", "forms"),
    [
        (("json_schema", "json_object", "text"), ["json_schema"] * 3),
        (("json_object", "text"), ["json_schema", *["json_object"] * 3]),
        (("text",), ["json_schema", "json_object", *["text"] * 3]),
    ],
)
def test_the_first_prompt_settles_the_form_of_replies(
    server: LlmServer, known: tuple[str, ...], forms: list[str]
) -> None:
    server.script = lambda request: (
        honest(request) if request.form in known else error(400, "response_format", {})
    )
    values, usage = read(make(server), 1, 2, 3)
    assert ([request.form for request in server.requests], values) == (forms, [2, 4, 6])
    assert usage["calls"] == 3


def test_max_tokens_under_its_newer_name(server: LlmServer) -> None:
    """Models that want it refuse a temperature, too."""
    reason = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use"
        " 'max_completion_tokens' instead."
    )
    server.script = lambda request: (
        error(400, reason)
        if {"max_tokens", "temperature"} & request.body.keys()
        else honest(request)
    )
    assert read(make(server), 1, 2)[0] == [2, 4]
    assert [request.body.get("max_completion_tokens") for request in server.requests] == [
        None,
        2000,
        2000,
    ]
    assert {request.form for request in server.requests} == {"json_schema"}
    server.script, server.requests = lambda request: error(400, reason), []
    assert read(make(server), 1)[1]["failures"] == {"bad request": 1}
    assert len(server.requests) == 5  # the other name, no limit, and then two more forms


TEMPERATURE: Final = "Unsupported value: 'temperature' does not support 0 with this model."


def names(param: str, message: str) -> Reply:
    """A 400 that names a parameter as OpenAI does."""
    body = {"error": {"message": message, "type": "invalid_request_error", "param": param}}
    return Reply(json.dumps(body).encode(), 400, NO_RETRY)


@pytest.mark.parametrize(
    ("refused", "reply"),
    [
        ({"temperature"}, names("temperature", TEMPERATURE)),
        ({"temperature"}, error(400, TEMPERATURE)),
        ({"temperature"}, names("temperature", "Only the default is supported.")),
        ({"temperature"}, names("temperature", "Only 1 is supported, within your max_tokens.")),
        ({"max_tokens"}, error(400, "use max_completion_tokens")),
        ({"max_tokens"}, names("max_tokens", "Use 'max_completion_tokens' instead.")),
        ({"max_tokens"}, error(422, "extra inputs are not permitted: max_tokens")),
        ({"response_format"}, names("response_format.json_schema", "not supported")),
        ({"response_format"}, error(400, "not supported")),
        ({"response_format"}, error(400, '"json_schema" is no type of response_format')),
    ],
)
def test_what_a_400_names_is_left_out_of_all_calls(
    server: LlmServer, refused: set[str], reply: Reply
) -> None:
    def script(request: Request) -> Reply:
        given = request.body.keys() - ({"response_format"} if request.form == "text" else set())
        return reply if refused & given else honest(request)

    server.script = script
    assert read(make(server), 1, 2, 3)[0] == [2, 4, 6]
    steps = 2 if refused == {"response_format"} else 1  # a schema becomes an object first
    assert len(server.requests) == 3 + steps
    kept = {"max_tokens", "temperature", "response_format"} - refused
    if refused == {"max_tokens"} and b"completion" in reply.body:
        kept = {"max_completion_tokens", "response_format"}  # a model that thinks
    assert {*server.requests[-1].body} == {"model", "messages", *kept}


@pytest.mark.parametrize(
    "message",
    ["System role not supported", "Conversation roles must alternate user/assistant/user/…"],
)
def test_a_template_without_a_system_role(server: LlmServer, message: str) -> None:
    def script(request: Request) -> Reply:
        if len(request.body["messages"]) > 1:
            return error(400, message)
        (only,) = request.body["messages"]
        number = json.loads(only["content"].partition("<data>")[2].removesuffix("</data>"))["n"]
        assert only["content"].startswith("Double the number.\n\n")
        return completion(str(2 * number))

    server.script = script
    assert read(make(server), 1, 2)[0] == [2, 4]
    assert len(server.requests) == 3
    assert server.requests[-1].form == "json_schema"


@pytest.mark.parametrize(
    ("message", "refused"),
    [
        ("Unrecognized request argument supplied: 'seed'", "seed"),
        ("`stop` is not supported", "stop"),
        ("please stop: the seed of your user is not supported", ""),
        ("top_k: extra fields not permitted", "top_k"),
        ("'frequency_penalty' is not supported with this model", "frequency_penalty"),
    ],
)
def test_short_names_are_words_of_other_messages(message: str, refused: str) -> None:
    request = dict.fromkeys(("model", "messages", "seed", "stop", "user", "top_k"))
    request["frequency_penalty"] = None
    assert find_refused(request, Call(failure="bad request", message=message)) == refused


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (error(413), "too long"),
        (error(400, "This model's maximum context length is 4096 tokens."), "too long"),
        (error(400, "prompt is too long: 210000 tokens > 200000 maximum"), "too long"),
        (error(400, "The response was filtered due to our content management policy"),
         "content filter"),
        (error(400, "request blocked by content_filter"), "content filter"),
        (completion("", "content_filter"), "content filter"),
        (completion(None, "content_filter"), "content filter"),
    ],
)  # fmt: skip
def test_what_one_prompt_is_refused_for_changes_no_other_call(
    server: LlmServer, reply: Reply, kind: str
) -> None:
    server.script = but({2: reply})
    values, usage = read(make(server), 1, 2, 3)
    assert (values, usage["failures"]) == ([2, None, 6], {kind: 1})
    assert len(server.requests) == 3


def test_a_limit_beyond_the_context_keeps_its_temperature(server: LlmServer) -> None:
    """vLLM names both limits; the newer name would go with a model that refuses a temperature."""
    reason = "'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum"
    reason += " context length is 2048 tokens and your request has 250 input tokens"
    server.script = lambda request: (
        error(400, reason) if "max_tokens" in request.body else honest(request)
    )
    assert read(make(server), 1)[0] == [2]
    assert len(server.requests) == 2
    assert {*server.requests[-1].body} == {"model", "messages", "temperature", "response_format"}


def test_a_quota_that_is_used_up_ends_the_run(server: LlmServer) -> None:
    body = {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}
    server.script = lambda request: Reply(json.dumps(body).encode(), 429, AT_ONCE)
    assert read(make(server), 1, 2)[1]["failures"] == {"no credit": 1, "not sent": 1}


def test_a_pause_that_a_server_asks_for_holds_all_calls(server: LlmServer) -> None:
    """One of the SDK's retries waits by itself; the calls beside it would be refused, too."""
    server.script = lambda request: (
        error(429, headers={"retry-after": "1"}) if request.number == 2 else honest(request)
    )
    begun = time.monotonic()
    assert read(make(server), *range(3))[1]["answered"] == 3
    assert time.monotonic() - begun >= 0.9
    assert len(server.requests) == 4


def test_an_error_in_the_body_of_a_200_is_told(server: LlmServer) -> None:
    """A router whose provider fails after it has answered."""
    body = {"error": {"message": "Provider returned error", "code": 502}}
    server.script = but({2: Reply(json.dumps(body).encode())})
    usage = read(make(server), 1, 2)[1]
    assert usage["reasons"] == {"bad body": "Provider returned error"}


# --- How calls fail ---

REPLIES: Final[dict[str, tuple[Reply, str]]] = {  # "answered", "invalid" or the kind of failure
    "valid": (completion("4"), "answered"),
    "no usage": (completion("4", usage=None), "answered"),
    "invalid": (completion("5"), "invalid"),
    "lone surrogate": (completion("4\ud800"), "invalid"),
    "empty": (completion(" \n"), "empty"),
    "null": (completion(None), "empty"),
    "cut off": (completion("4", "length"), "cut off"),
    "refusal": (completion(None, refusal="I cannot help"), "refusal"),
    "parts": (completion([{"type": "text", "text": "4"}]), "answered"),
    "odd usage": (completion("4", usage={"prompt_tokens": "x"}), "bad body"),
    "odd choice": (completion("4", choices=[{"message": "hello"}]), "bad body"),
    "HTML": (Reply(b"<html>busy</html>"), "bad body"),
    "deep": (Reply(b"[" * 100_000), "bad body"),
    "no UTF-8": (Reply(b'{"choices": "\xff"}'), "bad body"),
    "400": (error(400), "bad request"),
    "403": (error(403), "forbidden"),
    "422": (error(422), "bad request"),
    "429": (error(429), "rate limit"),
    "500": (error(500), "status 500"),
    "503 without JSON": (Reply(b"oops", 503, NO_RETRY, "text/plain"), "status 503"),
}
OF_THE_MODEL: Final = {"answered", "invalid", "empty", "cut off", "refusal"}


@pytest.mark.parametrize("name", REPLIES)
def test_reply(server: LlmServer, tmp_path: Path, name: str) -> None:
    reply, outcome = REPLIES[name]
    server.script = but({2: reply})
    cache = tmp_path / "c.sqlite3"
    values, usage = read(make(server, cache=cache, workers=1), 1, 2, 3)
    assert server.requests[-1].form == "json_schema"
    assert values == [2, 4 if outcome == "answered" else None, 6]
    assert {outcome} == (
        {"answered"} if values[1] else {"invalid"} if usage["invalid"] else {*usage["failures"]}
    )
    assert usage["degraded"] == (outcome not in OF_THE_MODEL)
    server.script, server.requests = honest, []
    assert read(make(server, cache=cache), 1, 2, 3)[0] == [2, 4, 6]
    assert sent(server) == ([] if values[1] else [2])  # Only valid replies are kept.


@pytest.mark.parametrize(
    "fault", [error(500, headers=AT_ONCE), error(429, headers=AT_ONCE), Reply(drop=True)]
)
def test_the_sdk_tries_again(server: LlmServer, fault: Reply) -> None:
    server.script = lambda request: fault if request.number in (1, 3) else honest(request)
    values, usage = read(make(server), 1, 2)
    assert (values, len(server.requests), usage["calls"]) == ([2, 4], 4, 2)


def test_redirects_are_not_followed(server: LlmServer) -> None:
    with LlmServer(honest) as other:
        location = {"location": f"{other.url}/chat/completions", **NO_RETRY}
        server.script = lambda request: Reply(
            status=(301, 302, 303, 307, 308)[request.data["n"]], headers=location
        )
        usage = read(make(server), *range(5))[1]
        assert other.requests == []
    assert usage["failures"] == dict.fromkeys(
        ("status 301", "status 302", "status 303", "status 307", "status 308"), 1
    )


def test_the_reason_is_one_safe_line(server: LlmServer) -> None:
    server.script = but({
        1: error(403, "The model\x1b[31m or\n you have no access"),
        2: error(403, "a later one"), 3: Reply(b"\x1b[2J" + b"x" * 100_000, 418, NO_RETRY),
    })  # fmt: skip
    reasons = read(make(server), 1, 2, 3)[1]["reasons"]
    assert reasons["forbidden"] == "The model\\x1b[31m or you have no access"
    assert (len(reasons["status 418"]) < 300, "\x1b" in reasons["status 418"]) == (True, False)


def test_a_fault_of_this_program_is_raised(server: LlmServer) -> None:
    """A thread that dies silently would be awaited until the deadline."""
    client = make(server)
    client.server.call = lambda *_: 1 // 0  # type: ignore[assignment, method-assign, return-value]
    with pytest.raises(ZeroDivisionError):
        read(client, 1)


# --- When a run sends nothing more ---


@pytest.mark.parametrize(
    ("status", "kind"), [(401, "key refused"), (402, "no credit"), (404, "no such model")], ids=str
)
def test_a_refused_key_ends_the_run(server: LlmServer, status: int, kind: str) -> None:
    server.script = lambda request: error(status)
    client = make(server)
    assert read(client, *range(30))[1]["failures"] == {kind: 1, "not sent": 29}
    assert read(client, 50)[1]["failures"] == {"not sent": 1}
    assert len(server.requests) == 1
    server.script = lambda request: but({103: error(status)})(request)._replace(wait=0.02)
    client.begin()
    assert read(client, *range(100, 150))[1]["failures"] == {kind: 1, "not sent": 46}
    count = len(server.requests)
    time.sleep(0.2)
    assert len(server.requests) <= count + 4  # those that were on their way


def test_ten_failures_in_a_row_end_the_run(server: LlmServer) -> None:
    """In the order of the prompts, with any number of workers, and over several calls of read."""
    fault = error(500)
    slow = fault._replace(wait=0.05)
    server.script = but({n: fault if n % 3 else slow for n in range(8, 8 + MAX_FAILURES)})
    outcomes = [read(make(server, workers=workers), *range(40)) for workers in (1, 2, 16)]
    # More workers have sent more when the run ends; what nobody awaits is in no other number.
    assert all(usage.pop("requests") >= usage["calls"] for _, usage in outcomes)
    assert outcomes[0] == outcomes[1] == outcomes[2]
    values, usage = outcomes[0]
    assert values == [2 * n for n in range(8)] + [None] * 32
    assert (usage["failures"], usage["calls"]) == ({"status 500": 10, "not sent": 22}, 18)
    client = make(server)
    first, second = read(client, *range(14))[1], read(client, *range(14, 30))[1]
    assert (first["failures"], second["failures"]) == (
        {"status 500": 6},
        {"status 500": 4, "not sent": 12},
    )


def test_what_does_not_end_a_run(server: LlmServer) -> None:
    """Nine failures in a row; prompts that the server refuses for what they say; a model that says
    nothing.
    """
    server.script = lambda request: honest(request) if request.data["n"] % 10 == 9 else error(500)
    assert read(make(server), *range(40))[1]["failures"] == {"status 500": 36}
    for reply, kind in (
        (error(400), "bad request"),
        (error(403), "forbidden"),
        (completion(""), "empty"),
    ):
        server.script = but(range(30), reply)
        values, usage = read(make(server), *range(32))
        assert (values[30:], usage["failures"]) == ([60, 62], {kind: 30})


def read_hastily(script: Script | None, deadline: float) -> list[dict[str, int]]:
    """The failures of twelve prompts, and of one more in the same run; one retry of the SDK in
    place of five.
    """
    with LlmServer() as server, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # Nobody listens there.
        server.script = script or honest
        client = make(
            server if script else f"http://127.0.0.1:{taken.getsockname()[1]}/v1", deadline=deadline
        )
        client.server._client = client.server._client.with_options(max_retries=1)
        failures = [read(client, *range(12))[1]["failures"], read(client, 12)[1]["failures"]]
        assert 12 not in sent(server) or "deadline" not in failures[1]
        return failures


HANGS: Final = Reply(wait=60)
CONNECTIONS: Final[dict[str, tuple[Script | None, float, list[dict[str, int]]]]] = {
    "disconnect": (but({2: Reply(drop=True)}), 60, [{"connection": 1}, {}]),
    "half a body": (but({2: completion("4")._replace(cut=True)}), 60, [{"connection": 1}, {}]),
    "nobody listens": (None, 60, [{"connection": 10, "not sent": 2}, {"not sent": 1}]),
    "the first call hangs": (but({0: HANGS}), 0.7, [{"deadline": 12}, {"deadline": 1}]),
    "a later call hangs": (but({2: HANGS}), 3.0, [{"deadline": 1}, {"deadline": 1}]),
    "byte by byte": (
        but({2: completion("4")._replace(drip=0.2)}),
        3.0,
        [{"deadline": 1}, {"deadline": 1}],
    ),
}


def test_connections_and_the_deadline() -> None:
    """All at the same time, for each of them waits."""
    with ThreadPoolExecutor(len(CONNECTIONS)) as pool:
        jobs = {name: pool.submit(read_hastily, *case[:2]) for name, case in CONNECTIONS.items()}
        failures = {name: job.result() for name, job in jobs.items()}
    assert failures == {name: case[2] for name, case in CONNECTIONS.items()}


def test_a_call_that_hangs_ends_with_the_program(server: LlmServer) -> None:
    server.script = lambda request: HANGS
    code = (
        "from forecasteval.common.llm import *\n"
        f"client = ModelClient('key', '{server.url}', 'm', 8, None, 0.3)\n"
        "print(client.read(Task('', {}, '', lambda data, reply: reply), [{}])[1]['failures'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=50
    )
    assert (done.stdout, done.stderr) == ("{'deadline': 1}\n", "")


# --- Key and address ---


@pytest.mark.parametrize("key", [" ", f"{KEY} x", f"{KEY}\r\nx: y", f"{KEY}é"])
def test_a_key_that_cannot_be_sent(server: LlmServer, key: str) -> None:
    with pytest.raises(InputError, match=r"^api_key \(OPENAI_API_KEY\): expected ASCII") as refused:
        make(server, key)
    assert key.strip() not in str(refused.value) or not key.strip()


@pytest.mark.parametrize(
    "url",
    [
        "http://u:hunter2@host/v1", "u:hunter2@host/v1", "http://u:hunter2@[bad/v1",
        "http://host/v1?key=hunter2",
        "http://host/v1#hunter2", "http://proxy/http://u:hunter2@api/v1", "http://host:hunter2/v1",
        "http://ho\nst/hunter2", f"http://host/{KEY}/v1",
    ],
)  # fmt: skip
def test_an_address_that_cannot_be_used_or_shown(url: str) -> None:
    with pytest.raises(InputError, match=r"^base_url \(OPENAI_BASE_URL\): ") as refused:
        make(url)
    assert not {"hunter2", KEY} & {*re.findall("[^ :@/]+", str(refused.value))}


def test_an_address_that_is_none_fails_at_the_first_call() -> None:
    """The first README makes an evaluator with "your_api_base_url"."""
    assert read(make("your_api_base_url"), 1, 2)[1]["failures"] == {
        "no http address": 1,
        "not sent": 1,
    }


def test_the_key_is_removed_from_what_a_server_says(server: LlmServer, tmp_path: Path) -> None:
    server.script = but({2: completion(f"key {KEY}"), 3: error(418, f"bad key {KEY}")})
    client = make(server, cache=tmp_path / "c.sqlite3")
    values, usage = client.read(
        TASK._replace(parse=lambda data, reply: reply), [{"n": n} for n in (1, 2, 3)]
    )
    assert (values, usage["reasons"]) == (["2", "key …", None], {"status 418": "bad key …"})
    assert KEY.encode() not in (tmp_path / "c.sqlite3").read_bytes()


def test_a_short_key_is_a_word_like_others(server: LlmServer) -> None:
    assert read(make(server, "1"), 11)[0] == [22]
    assert make("http://ollama:1/v1", "ollama").server.address == "http://ollama:1/v1"


# --- The cache ---


@pytest.fixture
def cache(server: LlmServer, tmp_path: Path) -> Path:
    """A file that knows the doubles of 0 to 59."""
    path = tmp_path / "folder" / "c.sqlite3"
    assert read(make(server, workers=16, cache=path), *range(60))[1]["calls"] == 60
    server.requests.clear()
    return path


def test_a_second_run_sends_nothing(server: LlmServer, cache: Path) -> None:
    client = make(server, cache=cache)
    values, usage = read(client, 1, 2)
    assert (values, usage["calls"], usage["failures"], server.requests) == ([2, 4], 0, {}, [])
    assert client._end is None  # The deadline counts from the first call.


@pytest.mark.parametrize(
    "change", ["model", "server", "instructions", "version", "properties", "data"]
)
def test_a_reply_is_kept_for_one_question_to_one_model(
    server: LlmServer, cache: Path, change: str
) -> None:
    client = make(
        f"{server.url}/x" if change == "server" else server,
        cache=cache,
        model="o" if change == "model" else "m",
    )
    changes = {
        "instructions": {"instructions": "?"},
        "version": {"version": "2"},
        "properties": {"properties": {}},
    }
    client.read(
        TASK._replace(**changes.get(change, {})),
        [{"n": 1, **({"x": 0} if change == "data" else {})}],
    )
    assert len(server.requests) == 1


def test_a_kept_reply_is_read_again(server: LlmServer, cache: Path) -> None:
    with contextlib.closing(sqlite3.connect(cache)) as file, file:
        file.execute("UPDATE replies SET reply = '7'")
    assert read(make(server, cache=cache), 1)[0] == [2]
    assert len(server.requests) == 1


@pytest.mark.parametrize("damage", ["no database", "a header", "all but the first page"])
def test_a_damaged_file_is_set_aside(server: LlmServer, cache: Path, damage: str) -> None:
    whole = cache.read_bytes()
    damaged = {"no database": b"none " * 99, "a header": b"SQLite format 3\0" + b"\xff" * 4000}.get(
        damage, whole[:4096] + b"\xff" * (len(whole) - 4096)
    )
    cache.write_bytes(damaged)
    client = make(server, cache=cache)
    assert read(client, *range(60))[1]["answered"] == 60
    (warning,) = client.cache.warnings
    assert warning.startswith(f"{cache}: damaged, set aside as c.sqlite3.corrupt: ")
    assert cache.with_name("c.sqlite3.corrupt").read_bytes() == damaged
    server.requests.clear()
    assert read(make(server, cache=cache), *range(60))[1]["answered"] == 60
    assert server.requests == []


@pytest.mark.parametrize("place", ["a folder", "below a file", "locked"])
def test_a_file_that_cannot_be_used(server: LlmServer, cache: Path, place: str) -> None:
    path = {"a folder": cache.parent, "below a file": cache / "c.sqlite3"}.get(place, cache)
    with contextlib.closing(sqlite3.connect(cache, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE" if place == "locked" else "BEGIN")
        client = make(server, cache=path)
        assert read(client, *range(300, 320))[1]["answered"] == 20
    (warning,) = client.cache.warnings
    assert warning.startswith(f"{path}: replies are not cached: ")
    assert not list(path.parent.glob("*.corrupt"))


def test_several_clients_at_once(server: LlmServer, tmp_path: Path) -> None:
    clients = [make(server, cache=tmp_path / "c.sqlite3") for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        outcomes = list(pool.map(lambda client: read(client, *range(30))[0], clients))
    assert outcomes == [[2 * n for n in range(30)]] * 3
    assert [client.cache.warnings for client in clients] == [[], [], []]


# --- llmock ---


@pytest.mark.extra("llmock")
def test_llmock(llmock: Any) -> None:
    task = TASK._replace(parse=lambda data, reply: reply)
    llmock.reply("one").fail(429, retry_after=0.05).reply("two")
    read_from = partial(make(llmock.base_url()).read, task)
    assert [read_from([{"n": n}])[0] for n in (1, 2)] == [["one"], ["two"]]
    llmock.fail(401, times=None)
    assert read_from([{"n": 3}, {"n": 4}])[1]["failures"] == {"key refused": 1, "not sent": 1}
    llmock.assert_resilient(strict=True)
