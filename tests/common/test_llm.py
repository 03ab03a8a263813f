"""The client: forms of replies, retries, failures told apart, the deadline, secrets, and the same results every time.

Real HTTP on 127.0.0.1: `llmock` from PyPI, and `llm_server` for broken bodies, disconnects and odd replies.
"""

from __future__ import annotations

import asyncio
import logging
import random
import socket
import subprocess
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pytest

from cli import ROOT, Record
from eval import FutureXEvaluator
from forecasteval.common.llm_cache import ReplyCache
from forecasteval.common.records import dump_json
from forecasteval.common.report import format_text
from forecasteval.futurex.llm_units import PROBE
from llm_runs import CANARY, GOOD, UNSURE, after_probe, evaluate, question, questions, score, without_model
from llm_server import AT_ONCE, NO_RETRY, Asked, LlmServer, Reply, Script, answer, completion, error, honest

# --- Forms and calls ---


@pytest.mark.parametrize(
    ("known", "forms"),
    [
        (("json_schema", "json_object", "text"), ["json_schema", "json_schema"]),
        (("json_object", "text"), ["json_schema", "json_object", "json_object"]),
        (("text",), ["json_schema", "json_object", "text", "text"]),
        ((), ["json_schema", "json_object", "text"]),
    ],
)
def test_ladder(server: LlmServer, known: tuple[str, ...], forms: list[str]) -> None:
    server.script = lambda asked: honest(asked) if asked.form in known else error(400, "response_format", {})
    results = evaluate(server)
    assert [asked.form for asked in server.requests] == forms
    assert results["items"][0]["decided_by"] == ("model" if known else "grammar")
    assert results["llm"]["failures"] == ({} if known else {"bad request": 1})


def test_server_that_ignores_the_schema_gets_the_next_rung(server: LlmServer) -> None:
    server.script = lambda asked: completion("I'd say 101") if asked.form == "json_schema" else honest(asked)
    assert evaluate(server)["items"][0]["decided_by"] == "model"
    assert [asked.form for asked in server.requests] == ["json_schema", "json_object", "json_object"]


def test_one_probe_and_one_call_per_prompt(server: LlmServer) -> None:
    results = evaluate(server, [*questions(5), *questions(5)])
    assert [len(server.requests), results["llm"]["calls"], results["llm"]["asked"]] == [6, 6, 10]


def test_one_probe_per_evaluator(server: LlmServer) -> None:
    evaluator = FutureXEvaluator("key", server.url)
    scores = [evaluator.evaluate_prediction(UNSURE.replace("101", str(n)), question()) for n in (100, 101, 102)]
    assert scores == [1.0, 0.96, 0.84]
    assert [asked.span for asked in server.requests].count(PROBE) == 1


# --- Replies ---

REPLIES: Final[dict[str, tuple[Reply, str]]] = {  # "answered", "refused" or the kind of failure
    "valid": (completion(GOOD), "answered"),
    "fenced": (completion(f"```json\n{GOOD}\n```"), "answered"),
    "prose": (completion(f"Sure, {{x}}! Here it is: {GOOD} Anything else?"), "answered"),
    "literal with sign": (answer("+101"), "answered"),
    "no usage": (completion(GOOD, usage=None), "answered"),
    "usage of another type": (completion(GOOD, usage={"prompt_tokens": "x", "completion_tokens": [1]}), "any"),
    "two objects": (completion(GOOD + GOOD), "refused"),
    "unknown literal": (answer("102"), "refused"),
    "part of a literal": (answer("10"), "refused"),
    "number as a number": (answer(101), "refused"),
    "absurd scale": (answer("101", 12345), "refused"),
    "zero scale": (answer("101", 0), "refused"),
    "boolean scale": (answer("101", True), "refused"),
    "text scale": (answer("101", "1"), "refused"),
    "NaN scale": (completion('{"number": "101", "scale": NaN, "unit": null}'), "refused"),
    "NaN": (answer("NaN"), "refused"),
    "huge scale": (completion('{"number": "101", "scale": 1e400, "unit": null}'), "refused"),
    "endless scale": (completion('{"number": "101", "scale": 1' + "0" * 5000 + "}"), "refused"),
    "wrong types": (completion('{"number": ["101"], "scale": {}, "unit": 7}'), "refused"),
    "list": (completion("[1, 2]"), "refused"),
    "nothing of use": (completion("101"), "refused"),
    "deep": (completion('{"number":' * 4_000), "refused"),
    "surrogate": (completion('{"number": "101", "scale": 1, "unit": "\ud800"}'), "any"),
    "empty": (completion(""), "empty"),
    "blank": (completion(" \n"), "empty"),
    "null content": (completion(None), "empty"),
    "parts": (completion([{"type": "text", "text": GOOD}]), "bad body"),
    "cut off": (completion(GOOD, "length"), "cut off"),
    "refusal": (completion(None, refusal="I cannot help"), "refusal"),
    "200 without JSON": (Reply(b"<html>busy</html>"), "bad body"),
    "200 as text": (Reply(b"<html>busy</html>", kind="text/html"), "bad body"),
    "200 without body": (Reply(), "bad body"),
    "200 null": (Reply(b"null"), "bad body"),
    "200 list": (Reply(b"[]"), "bad body"),
    "200 object": (Reply(b"{}"), "bad body"),
    "200 no choice": (completion(GOOD, choices=[]), "bad body"),
    "200 odd choice": (completion(GOOD, choices=[{"message": "hello"}]), "bad body"),
    "200 deep": (Reply(b"[" * 100_000), "bad body"),
    "200 no UTF-8": (Reply(b'{"choices": "\xff"}'), "bad body"),
    "200 half JSON": (Reply(completion(GOOD).body[:80]), "bad body"),
    "400": (error(400), "bad request"),
    "401": (error(401), "key refused"),
    "403": (error(403), "forbidden"),
    "404": (error(404, "The model `m` does not exist"), "no such model"),
    "429": (error(429), "rate limit"),
    "429 with Retry-After": (error(429, headers={"retry-after": "1", **NO_RETRY}), "rate limit"),
    "500": (error(500), "server error"),
    "503 without JSON": (Reply(b"oops", 503, NO_RETRY, "text/plain"), "server error"),
    "302 to nowhere": (Reply(status=302), "redirect"),
}


@pytest.mark.parametrize("first", [False, True], ids=["question", "probe too"])
@pytest.mark.parametrize("name", REPLIES)
def test_reply(server: LlmServer, tmp_path: Path, name: str, first: bool) -> None:
    reply, expected = REPLIES[name]
    server.script = (lambda asked: reply) if first else after_probe(reply)
    cache = tmp_path / "cache.sqlite3"
    results = evaluate(server, cache=cache, deadline=5)
    item, asked = results["items"][0], results["llm"]
    became = ["answered"] * asked["answered"] + ["refused"] * asked["refused"] + [*asked["failures"]]
    assert expected in (*became, "any")
    assert "deadline" not in became  # a thread that died
    if became != ["answered"]:
        assert item == without_model([question()])[0]
        assert item["decided_by"] == "grammar"
    else:
        assert (item["read"], item["score"]) == ("101", 0.96)
    kept = ReplyCache(cache)
    rows = kept._connection.execute("SELECT count(*) FROM replies").fetchone()[0]
    kept.close()
    assert rows == asked["answered"]
    dump_json(results)
    format_text(results.report(items=True))


def test_refused_key_is_one_line_and_ends_the_calls(server: LlmServer) -> None:
    server.script = lambda asked: error(401, f"Incorrect API key provided: {asked.headers['authorization']}", {})
    results = evaluate(server, questions(30))
    assert len(server.requests) == 1
    assert results["llm"]["failures"] == {"key refused": 1, "not asked": 29}
    assert results["llm"]["degraded"]
    assert sum("key" in line for line in results["warnings"] if "refused the key" in line) == 1
    assert all("\n" not in line for line in results["warnings"])


def test_key_refused_in_the_middle(server: LlmServer) -> None:
    server.script = after_probe(lambda asked: error(401) if asked.span.startswith("1003") else honest(asked))
    results = evaluate(server, questions(30), workers=1)
    assert results["llm"]["failures"] == {"key refused": 1, "not asked": 26}
    assert len(server.requests) <= 6  # probe, four questions, and one that was on its way


def test_unknown_model_is_named(server: LlmServer) -> None:
    server.script = lambda asked: error(404)
    results = evaluate(server, questions(3))
    assert len(server.requests) == 1
    assert any("does not know the model (404)" in line for line in results["warnings"])


@pytest.mark.parametrize("fault", [error(500, headers=AT_ONCE), error(429, headers=AT_ONCE)])
def test_retry_heals(server: LlmServer, fault: Reply) -> None:
    server.script = lambda asked: fault if asked.number in (1, 3, 4) else honest(asked)
    results = evaluate(server)
    assert results["items"][0]["decided_by"] == "model"
    assert (len(server.requests), results["llm"]["calls"]) == (5, 2)


def test_retries_leave_the_random_state_alone(server: LlmServer) -> None:
    """Else one that goes on in its thread behind a deadline fails a hypothesis test of another file (conftest.py)."""
    server.script = lambda asked: Reply(drop=True) if asked.number == 1 else honest(asked)
    before = random.getstate()
    assert evaluate(server)["items"][0]["decided_by"] == "model"
    assert len(server.requests) == 3
    assert random.getstate() == before


# --- Failures of the connection, and the deadline: all at the same time ---


def evaluate_hastily(script: Script | None, deadline: float) -> Record:
    """One question, with one retry of the SDK in place of five: its patience, 14 s, is not what is tested."""
    with LlmServer() as server, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        url = server.url if script else f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        server.script = script or honest
        evaluator = FutureXEvaluator("key", url, deadline=deadline)
        client = evaluator._readers["llm"].client
        if deadline > 1:
            client._host._client = client._host._client.with_options(max_retries=1)
        return evaluator.evaluate_all([question()])


# A reply comes after a minute, and the SDK alone would try again and again: only the deadline ends these in time.
FAILURES: Final[dict[str, tuple[Script | None, float, str]]] = {
    "disconnect": (after_probe(lambda asked: Reply(drop=True)), 60, "connection"),
    "half body": (after_probe(lambda asked: honest(asked)._replace(cut=True)), 60, "connection"),
    "connection refused": (None, 60, "connection"),
    "short deadline, connection refused": (None, 0.5, "deadline"),
    "short deadline, probe hangs": (lambda asked: Reply(wait=60), 0.5, "deadline"),
    "short deadline, probe drips": (lambda asked: honest(asked)._replace(drip=0.2), 0.5, "deadline"),
    "short deadline, question hangs": (after_probe(Reply(wait=60)), 0.5, "deadline"),
    "short deadline, probe disconnects": (lambda asked: Reply(drop=True), 0.5, "deadline"),
}


@pytest.fixture(scope="module")
def failed() -> dict[str, Record]:
    with ThreadPoolExecutor(len(FAILURES)) as pool:
        jobs = {name: pool.submit(evaluate_hastily, script, end) for name, (script, end, _) in FAILURES.items()}
        return {name: job.result() for name, job in jobs.items()}


@pytest.mark.parametrize("name", FAILURES)
def test_connection_failures(failed: dict[str, Record], name: str) -> None:
    assert failed[name]["llm"]["failures"] == {FAILURES[name][2]: 1}
    assert failed[name]["items"] == without_model([question()])


# --- Ten failures in a row ---


def _number(asked: Asked) -> int:
    return int(asked.span.split()[0]) - 1000


def test_ten_failures_in_a_row_end_the_asking(server: LlmServer) -> None:
    server.script = after_probe(lambda asked: error(500) if 8 <= _number(asked) < 18 else honest(asked))
    outcomes = []
    for workers in (1, 2, 16):
        results = evaluate(server, questions(40), workers=workers)
        outcomes.append((results["items"], results["llm"]["failures"], results["warnings"], results["overall_score"]))
        assert results["llm"]["failures"] == {"server error": 10, "not asked": 22}
        assert [item["decided_by"] for item in results["items"]] == ["model"] * 8 + ["grammar"] * 32
        assert results["llm"]["degraded"]
        assert any("degraded" in line for line in results["warnings"])
    assert outcomes[0] == outcomes[1] == outcomes[2]


def test_nine_failures_in_a_row_do_not(server: LlmServer) -> None:
    server.script = after_probe(lambda asked: honest(asked) if _number(asked) % 10 == 9 else error(500))
    results = evaluate(server, questions(40), workers=16)
    assert results["llm"]["failures"] == {"server error": 36}
    assert results["llm"]["answered"] == 4


def test_server_that_is_down_marks_the_result(server: LlmServer) -> None:
    server.script = after_probe(error(500))
    assert evaluate(server, questions(10))["llm"]["degraded"]


# --- The same input, the same result ---


def test_workers_change_nothing(server: LlmServer, tmp_path: Path) -> None:
    server.script = lambda asked: honest(asked)._replace(wait=0.01 * (asked.number % 3))
    data = [*questions(24), question(r"\boxed{5}", "x"), question(None, "y")]
    plain = {dump_json(evaluate(server, data, workers=workers)) for workers in (1, 2, 16)}
    assert len(plain) == 1
    cache = tmp_path / "cache.sqlite3"
    first = evaluate(server, data, cache=cache)
    assert dump_json(first) in plain
    server.requests.clear()
    cached = [evaluate(server, data, workers=workers, cache=cache) for workers in (1, 2, 16)]
    assert server.requests == []
    assert len({dump_json(results) for results in cached}) == 1
    assert cached[0]["llm"]["calls"] == 0
    assert cached[0]["items"] == first["items"]
    assert cached[0]["signature"] == first["signature"]


# --- Secrets ---


def test_key_travels_in_one_header_only(server: LlmServer) -> None:
    evaluate(server, key=CANARY)
    for asked in server.requests:
        assert asked.headers.pop("authorization") == f"Bearer {CANARY}"
        assert CANARY not in f"{asked.path} {asked.headers} {asked.raw!r}"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(server: LlmServer, status: int) -> None:
    with LlmServer() as other:
        server.script = after_probe(Reply(status=status, headers={"location": f"{other.url}/chat/completions"}))
        results = evaluate(server, key=CANARY)
        assert other.requests == []
        assert (results["llm"]["failures"], results["llm"]["degraded"]) == ({"redirect": 1}, True)


def files_below(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def spill(asked: Asked) -> Reply:
    """A server that shouts the key in an error."""
    return error(401, f"Incorrect API key provided: {asked.headers['authorization']}")


LEAKS: Final[dict[str, Script]] = {
    "success": honest,
    "401": spill,
    "401 later": after_probe(spill),
    "500": after_probe(lambda asked: error(500, asked.headers["authorization"])),
    "400": lambda asked: error(400, asked.headers["authorization"]),
    "bad body": after_probe(lambda asked: Reply(f"<{asked.headers['authorization']}".encode())),
    "deep": after_probe(lambda asked: Reply(b"[" * 100_000)),
}


@pytest.mark.parametrize("name", LEAKS)
def test_key_is_nowhere(
    server: LlmServer, tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture, name: str
) -> None:
    server.script = LEAKS[name]
    caplog.set_level(logging.DEBUG)
    done = score(tmp_path, server, "--save", "--items", key=CANARY)
    assert done.code == 0, done.err
    evaluator = FutureXEvaluator(CANARY, server.url, deadline=5)
    results = evaluator.evaluate_all([question()])
    trace = ""
    try:
        evaluator.evaluate_all([{"level": 9}])
    except Exception:
        trace = traceback.format_exc()
    assert trace
    assert any(CANARY in asked.headers["authorization"] for asked in server.requests)
    seen = [done.out, done.err, *capfd.readouterr(), caplog.text, dump_json(results), trace, repr(evaluator)]
    client = evaluator._readers["llm"].client
    seen += [repr(vars(evaluator)), repr(vars(client)), repr(client._host._client), repr(vars(client._host))]
    assert CANARY not in "".join(seen)
    assert CANARY.encode() not in files_below(tmp_path)
    assert b"llm_server" in files_below(tmp_path / "evaluation")


def test_odd_keys_and_addresses_are_not_shown(server: LlmServer, capfd: pytest.CaptureFixture[str]) -> None:
    """Keys that are no header, and an address that is none: whatever the SDK makes of them, the grammar decides."""
    bad = "http://user:hunter2@[bad/v1"
    keys = [CANARY + "\n", CANARY + "é", " ", CANARY + "\r\nx: y"]
    evaluators = [FutureXEvaluator(key, server.url, deadline=0.3) for key in keys]
    evaluators.append(FutureXEvaluator(CANARY, bad, deadline=0.3))
    with ThreadPoolExecutor(len(evaluators)) as pool:
        for results in pool.map(lambda evaluator: evaluator.evaluate_all([question()]), evaluators):
            assert results["items"] == without_model([question()])
            assert CANARY not in dump_json(results)
            assert "hunter2" not in dump_json(results)
    assert CANARY not in "".join(capfd.readouterr())


@pytest.mark.parametrize("base", ["http://user:hunter2@{}", "user:hunter2@{}", "http://user:hunter2@{}?key=hunter2"])
def test_password_in_the_address_is_not_shown(server: LlmServer, base: str) -> None:
    evaluator = FutureXEvaluator(CANARY, base.format(server.url.removeprefix("http://")), deadline=1)
    shown = repr(vars(evaluator._readers["llm"].client)) + dump_json(evaluator.evaluate_all([question(r"\boxed{7}")]))
    assert "hunter2" not in shown


def test_impossible_address(tmp_path: Path) -> None:
    done = score(tmp_path, "http://user:hunter2@host:abc/v1", key=CANARY)
    assert "Traceback" not in done.err
    assert "hunter2" not in done.out + done.err
    assert CANARY not in done.out + done.err


# --- Python ---


def test_openai_is_imported_only_for_a_model() -> None:
    code = """
import sys
from eval import FutureXEvaluator
question = {"level": 4, "prompt": "How many?", "ground_truth": "7", "Std": 1.0}
for given in ((), (None, "http://127.0.0.1:9/v1"), ("key", "http://127.0.0.1:9/v1")):
    FutureXEvaluator(*given).evaluate_prediction("7", question)
    print("openai" in sys.modules, "sqlite3" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "False", "False", "True", "True"]


def test_constructor_of_the_seed_calls_nobody(server: LlmServer) -> None:
    evaluator = FutureXEvaluator(api_key="your_api_key", base_url="your_api_base_url")
    assert evaluator.evaluate_prediction(r"\boxed{100}", question()) == 1.0  # the grammar is sure
    FutureXEvaluator(api_key="your_api_key", base_url=server.url)
    assert server.requests == []


def test_inside_a_running_loop(server: LlmServer, tmp_path: Path) -> None:
    async def cell() -> Record:
        return evaluate(server, cache=tmp_path / "c.sqlite3")

    assert asyncio.run(cell())["items"][0]["decided_by"] == "model"


def test_evaluator_made_in_another_thread(server: LlmServer, tmp_path: Path) -> None:
    evaluator = FutureXEvaluator("key", server.url, cache=tmp_path / "c.sqlite3")

    async def cell() -> Record:
        return await asyncio.to_thread(evaluator.evaluate_all, [question()])

    results = asyncio.run(cell())
    assert results["items"][0]["decided_by"] == "model"
    assert results["warnings"] == []


def test_tokens_are_summed(server: LlmServer) -> None:
    results = evaluate(server, questions(4))
    assert results["llm"]["tokens"] == {"prompt": 500, "completion": 50}
    shown = format_text(results.report())
    assert "5 calls, 500 + 50 tokens" in shown
    assert "asked about 4 numbers, answered 4" in shown


def test_signature(server: LlmServer) -> None:
    signature = evaluate(server, model="m-1", llm_policy="always")["signature"]
    picked = [signature[key] for key in ("llm_model", "llm_server", "llm_policy", "llm_prompt")]
    assert picked == ["m-1", server.url, "always", 1]
    plain = FutureXEvaluator().evaluate_all([question()])["signature"]
    assert {plain[key] for key in plain if key.startswith("llm")} == {None}


# --- llmock, somebody else's idea of the OpenAI API ---

PROBE_REPLY: Final = '{"number": "12.5", "scale": 1000000000, "unit": "yuan"}'


@pytest.mark.parametrize("status", [429, 500, 503])
def test_llmock_fault_and_recovery(llmock: Any, status: int) -> None:
    llmock.reply(PROBE_REPLY).reply(GOOD).fail(status, retry_after=0.05)
    results = FutureXEvaluator("key", llmock.base_url()).evaluate_all([question()])
    assert (results["items"][0]["decided_by"], results["items"][0]["read"]) == ("model", "101")
    assert len(llmock.requests) == 3
    llmock.assert_resilient(strict=True)


def test_llmock_outage(llmock: Any) -> None:
    llmock.fail(401, times=None)
    results = FutureXEvaluator("key", llmock.base_url()).evaluate_all(questions(3))
    assert results["llm"]["failures"] == {"key refused": 1, "not asked": 2}
    assert len(llmock.requests) == 1
    llmock.assert_resilient(strict=True)


def test_llmock_slow_answer(llmock: Any) -> None:
    llmock.reply(PROBE_REPLY).reply(GOOD, times=None)
    evaluator = FutureXEvaluator("key", llmock.base_url(), deadline=0.5)
    llmock.delay(0.01).delay(1.0, times=None)
    results = evaluator.evaluate_all([question()])
    assert results["llm"]["failures"] == {"deadline": 1}
    assert results["items"] == without_model([question()])


def test_llmock_made_up_reply_is_refused(llmock: Any) -> None:
    """Its own replies fit the schema, and name numbers that the span does not hold."""
    results = FutureXEvaluator("key", llmock.base_url()).evaluate_all([question()])
    assert results["llm"]["refused"] == 1
    assert results["items"] == without_model([question()])
