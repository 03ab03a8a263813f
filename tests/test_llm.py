r"""The language model: what is asked, what is sent, what is trusted, and that no failure costs more than the help.

Real HTTP on 127.0.0.1: `llmock` from PyPI, and `llm_server` for broken bodies, disconnects and odd replies.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from common import ReplyCache, dump_json
from eval import FACTORS, PROBE, FutureXEvaluator, NumberTruth, Quantity, build_prompt, format_report, read_reply
from llm_server import AT_ONCE, NO_RETRY, Asked, LlmServer, Reply, Script, answer, completion, error, honest
from test_cli import Done, run, write

ROOT: Final = Path(__file__).resolve().parent.parent
INJECTIONS: Final = json.loads((ROOT / "tests" / "cases" / "injections.json").read_text(encoding="utf-8"))
CANARY: Final = "sk-canary-7f3a9c51e2"
UNSURE: Final = r"\boxed{101 then, after 90 now}"  # the grammar takes the last number, `honest` the first
TRUTH: Final = "73519.25"  # in no injection
# The table of scales, written down a second time on purpose.
SCALES: Final = (0.01, 1, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12)
Record = dict[str, Any]


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer() as started:
        yield started


def question(given: object = UNSURE, name: object = "a", truth: str = "100", std: float | None = 5.0) -> Record:
    return {
        "id": name, "level": 4, "prompt": "How many units will it be?", "ground_truth": truth, "Std": std,
        "answer": given,
    }  # fmt: skip


def questions(count: int) -> list[Record]:
    """Question n has the answer n + 1000 in the model's reading and 90 in the grammar's."""
    return [question(rf"\boxed{{{n + 1000} then, after 90 now}}", str(n), str(n + 1000)) for n in range(count)]


def evaluate(server: LlmServer, data: list[Record] | None = None, key: str = "key", **options: Any) -> Record:
    results = FutureXEvaluator(key, server.url, **options).evaluate_all(data or [question()])
    asked = results["llm"]
    assert asked["asked"] == asked["answered"] + asked["refused"] + sum(asked["failures"].values())
    assert asked["answered"] == sum(item["decided_by"] == "model" for item in results["items"])
    return results


def after_probe(reply: Reply | Script) -> Script:
    """A script that reads the probe well, and then does this."""
    return lambda asked: honest(asked) if asked.span == PROBE else reply(asked) if callable(reply) else reply


def without_model(data: list[Record]) -> list[Record]:
    return list(FutureXEvaluator().evaluate_all(data)["items"])


def spans(server: LlmServer) -> list[str]:
    return [asked.span for asked in server.requests if asked.span != PROBE]


# --- What is asked ---


POLICY: Final = [  # answer, asked by "unsure", asked by "always"
    (r"\boxed{101}", False, True),
    (r"\boxed{1.5亿元}", False, True),
    (r"\boxed{It will be 101 people}", False, True),
    (r"\boxed{100-120}", False, True),
    ("101", False, True),
    (101, False, True),
    (UNSURE, True, True),
    (r"\boxed{from 90 in May, 95 in June}", True, True),
    (r"\boxed{101 zorkmids}", True, True),
    (r"\boxed{101 gazillion yuan}", True, True),
    ("I think it was 90 and will be 101.", False, False),
    ("", False, False),
    (None, False, False),
    (r"\boxed{}", False, False),
    (r"\boxed{no idea}", False, True),
]


@pytest.mark.parametrize(("given", "unsure", "always"), POLICY)
def test_what_is_asked(server: LlmServer, given: object, unsure: bool, always: bool) -> None:
    for policy, expected in (("unsure", unsure), ("always", always)):
        server.requests.clear()
        results = evaluate(server, [question(given)], llm_policy=policy)
        assert (results["llm"]["asked"], len(spans(server))) == (int(expected), int(expected)), policy
        assert bool(server.requests) == expected, "a probe without a question"


def test_only_numbers_are_asked(server: LlmServer) -> None:
    data: list[Record] = [
        {"id": 1, "level": 1, "prompt": "Who?\nA. 90\nB. 101", "ground_truth": "A", "answer": UNSURE},
        {"id": 2, "level": 3, "prompt": "Which are the top 2?", "ground_truth": "['Red', 'Blue']", "answer": UNSURE},
    ]
    assert evaluate(server, data, llm_policy="always")["llm"]["asked"] == 0
    assert server.requests == []


def test_unknown_policy_is_refused() -> None:
    with pytest.raises(Exception, match="llm_policy: must be unsure or always, got 'never'"):
        FutureXEvaluator(llm_policy="never")


def test_who_decided_and_what_changed(server: LlmServer) -> None:
    results = evaluate(server, [question(r"\boxed{100}", 1), question(UNSURE, 2), question(r"\boxed{7 a, 7 b}", 3)])
    assert [item["decided_by"] for item in results["items"]] == ["grammar", "model", "model"]
    assert [item["score"] for item in results["items"]] == [1.0, 0.96, 0.0]  # 1 - (1/5)^2
    assert results["items"][1]["read"] == "101"
    counts = {key: results["llm"][key] for key in ("asked", "answered", "refused", "changed", "failures", "degraded")}
    assert counts == {"asked": 2, "answered": 2, "refused": 0, "changed": 1, "failures": {}, "degraded": False}


# --- The request ---


def test_request(server: LlmServer) -> None:
    given = r"\boxed{It was <b>90 万</b>, \"now\" 101 zorks " + "long " * 200 + "}"
    record = {**question(given, truth="8472.5亿元"), "prompt": "Turnover in hundreds of millions of yuan?"}
    evaluate(server, [record], key=CANARY, model="m-1")
    probe, asked = server.requests
    assert probe.span == PROBE
    assert asked.body["model"] == "m-1"
    assert asked.body["temperature"] == 0
    assert asked.body["response_format"]["type"] == "json_schema"
    assert asked.body["response_format"]["json_schema"]["schema"]["required"] == ["number", "scale", "unit"]
    assert asked.data["asked"] == "in hundreds of millions of yuan"
    assert asked.data["truth_unit"] == {"scale": 1e8, "unit": "元"}
    assert len(asked.span) == 500
    assert asked.span.startswith("It was <b>90 万</b>")
    assert asked.prompt.startswith("<data>\n{")
    assert asked.prompt.endswith("}\n</data>")
    assert "<b>" not in asked.prompt  # JSON-encoded: no tag can come from inside
    for digits in (b"8472", b"847", b"Std"):
        assert digits not in asked.raw


def test_key_travels_in_one_header_only(server: LlmServer) -> None:
    evaluate(server, key=CANARY)
    for asked in server.requests:
        assert asked.headers.pop("authorization") == f"Bearer {CANARY}"
        assert CANARY not in f"{asked.path} {asked.headers} {asked.raw!r}"


def test_key_does_not_follow_a_redirect(server: LlmServer) -> None:
    with LlmServer() as other:
        server.script = lambda asked: Reply(status=307, headers={"location": f"{other.url}/chat/completions"})
        evaluate(server, key=CANARY)
        assert other.requests, "the SDK follows redirects"
        assert CANARY not in str(other.requests)


def test_prompt_never_holds_the_truth() -> None:
    prompts = {
        build_prompt(NumberTruth(Quantity(value, 1e8, "元"), None, 5.0), "How many?", "7 or 8")
        for value in (1.0, 73519.25, -4.0)
    }
    assert len(prompts) == 1


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

GOOD: Final = '{"number": "101", "scale": 1, "unit": null}'
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
    "deep": (completion('{"number":' * 20_000), "refused"),
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
    "403": (error(403), "key refused"),
    "404": (error(404, "The model `m` does not exist"), "no such model"),
    "429": (error(429), "rate limit"),
    "429 with Retry-After": (error(429, headers={"retry-after": "1", **NO_RETRY}), "rate limit"),
    "500": (error(500), "server error"),
    "503 without JSON": (Reply(b"oops", 503, NO_RETRY, "text/plain"), "server error"),
    "302 to nowhere": (Reply(status=302), "bad request"),
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
    assert rows == asked["answered"] + asked["refused"]
    dump_json(results)
    format_report({"name": "x", "dataset": None, **results}, items=True)


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


# --- Failures that take the SDK's whole patience: all at the same time ---


def _closed_port() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/v1"


def _timed(script: Script | None, data: list[Record], deadline: float) -> tuple[Record, float]:
    begin = time.monotonic()
    if script is None:
        results = FutureXEvaluator("key", _closed_port(), deadline=deadline).evaluate_all(data)
    else:
        with LlmServer(script) as server:
            results = evaluate(server, data, deadline=deadline)
    return results, time.monotonic() - begin


SLOW: Final[dict[str, tuple[Script | None, float]]] = {
    "disconnect": (after_probe(lambda asked: Reply(drop=True)), 60),
    "half body": (after_probe(lambda asked: honest(asked)._replace(cut=True)), 60),
    "connection refused": (None, 60),
    "short deadline, connection refused": (None, 1),
    "short deadline, probe hangs": (lambda asked: Reply(wait=1.5), 1),
    "short deadline, probe drips": (lambda asked: honest(asked)._replace(drip=0.02), 1),
    "short deadline, question hangs": (after_probe(Reply(wait=1.5)), 1),
    "short deadline, probe disconnects": (lambda asked: Reply(drop=True), 1),
}


@pytest.fixture(scope="module")
def slow() -> dict[str, tuple[Record, float]]:
    with ThreadPoolExecutor(len(SLOW)) as pool:
        jobs = {name: pool.submit(_timed, script, [question()], end) for name, (script, end) in SLOW.items()}
        return {name: job.result() for name, job in jobs.items()}


@pytest.mark.parametrize("name", SLOW)
def test_connection_failures(slow: dict[str, tuple[Record, float]], name: str) -> None:
    results, seconds = slow[name]
    asked = results["llm"]
    assert sum(asked["failures"].values()) == 1
    assert asked["failures"].keys() <= {"connection", "timeout", "deadline"}
    assert results["items"] == without_model([question()])
    if "deadline" in name:
        assert seconds < 4  # one deadline per run, whatever the SDK's retries would take
    else:
        assert asked["failures"] == {"connection": 1}


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
    data = [*questions(40), question(r"\boxed{5}", "x"), question(None, "y")]
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


# --- The cache ---


def test_errors_are_not_cached(server: LlmServer, tmp_path: Path) -> None:
    cache = tmp_path / "cache.sqlite3"
    server.script = after_probe(error(500))
    assert evaluate(server, cache=cache)["items"][0]["decided_by"] == "grammar"
    server.script = honest
    assert evaluate(server, cache=cache)["items"][0]["decided_by"] == "model"


@pytest.mark.parametrize("change", [{"model": "other"}, {"data": [question(UNSURE, "a", "100亿元")]}])
def test_cache_is_of_one_model_and_prompt(server: LlmServer, tmp_path: Path, change: Record) -> None:
    evaluate(server, cache=tmp_path / "c.sqlite3")
    server.requests.clear()
    evaluate(server, cache=tmp_path / "c.sqlite3", **change)
    assert len(server.requests) == 2


def test_cache_is_of_one_server(server: LlmServer, tmp_path: Path) -> None:
    evaluate(server, cache=tmp_path / "c.sqlite3")
    with LlmServer() as other:
        evaluate(other, cache=tmp_path / "c.sqlite3")
        assert len(other.requests) == 2


@pytest.mark.parametrize("content", [b"no database " * 100, b"SQLite format 3\0" + b"\xff" * 4000])
def test_corrupt_cache_is_set_aside(server: LlmServer, tmp_path: Path, content: bytes) -> None:
    cache = tmp_path / "c.sqlite3"
    cache.write_bytes(content)
    results = evaluate(server, cache=cache)
    assert results["items"][0]["decided_by"] == "model"
    assert (tmp_path / "c.sqlite3.corrupt").read_bytes() == content
    assert [line for line in results["warnings"] if "set aside as c.sqlite3.corrupt" in line]
    assert evaluate(server, cache=cache)["llm"]["calls"] == 0


@pytest.mark.parametrize("place", ["file/c.sqlite3", "folder", "/proc/c.sqlite3"])
def test_cache_that_cannot_be_used(server: LlmServer, tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("a file")
    (tmp_path / "folder").mkdir()
    results = evaluate(server, cache=tmp_path / place)
    assert results["items"][0]["decided_by"] == "model"
    assert [line for line in results["warnings"] if "not cached" in line]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_read_only_cache(server: LlmServer, tmp_path: Path) -> None:
    evaluate(server, cache=tmp_path / "c.sqlite3")
    (tmp_path / "c.sqlite3").chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        results = evaluate(server, [question(UNSURE.replace("101", "102"))], cache=tmp_path / "c.sqlite3")
    finally:
        tmp_path.chmod(0o755)
    assert results["items"][0]["decided_by"] == "model"
    assert [line for line in results["warnings"] if "not cached" in line]


def test_poisoned_cache_is_validated(server: LlmServer, tmp_path: Path) -> None:
    cache = tmp_path / "c.sqlite3"
    evaluate(server, cache=cache)
    kept = ReplyCache(cache)
    kept._connection.execute("UPDATE replies SET reply = ?", ('{"number": "100", "scale": 1, "unit": null}',))
    kept.close()
    results = evaluate(server, cache=cache)
    assert results["llm"]["refused"] == 1
    assert results["items"] == without_model([question()])


# --- Injections, and a model that obeys them ---


def written_numbers(span: str) -> set[float]:
    """Every number that stands in a text with no digit beside it, read as generously as anyone may."""
    numbers: set[float] = set()
    for begin in range(len(span)):
        if begin and span[begin - 1] in "0123456789":
            continue
        for end in range(begin + 1, min(len(span), begin + 60) + 1):
            literal = span[begin:end]
            if re.fullmatch(r"[0-9.][0-9.,']*(?:e[-+]?[0-9]+)?", literal, re.I) and not re.match("[0-9]", span[end:]):
                for plain in (literal.replace(",", ""), literal.replace(".", "").replace(",", ".")):
                    try:
                        value = float(plain.replace("'", ""))
                    except ValueError:
                        continue
                    numbers |= {value, -value}
    return numbers


def obeying(number: object, scale: object) -> Callable[[str], str]:
    return lambda span: json.dumps({"number": number, "scale": scale, "unit": None, "score": 1, "truth": TRUTH})


def tuned(span: str) -> str:
    """The first number of the span, with the one scale that would make it the truth."""
    first = re.search(r"[0-9]+", span)
    return obeying(first[0] if first else "1", float(TRUTH) / float(first[0] if first else 1))(span)


MALICE: Final[dict[str, Callable[[str], str]]] = {
    "the truth": obeying(TRUTH, 1),
    "the truth as a number": obeying(float(TRUTH), 1),
    "the truth, scaled": obeying("7351925", 0.01),
    "tuned scale": tuned,
    "last literal, largest scale": lambda span: obeying(re.findall(r"[0-9]+", span)[-1], 1e12)(span),
    "scale out of the table": lambda span: obeying(re.findall(r"[0-9]+", span)[-1], 1e13)(span),
    "the span itself": lambda span: span,
    "its own reply": lambda span: next(case["reply"] for case in INJECTIONS if case["span"][-6:] == span[-6:]),
}


def test_injection_table() -> None:
    assert len(INJECTIONS) == 20
    assert len({case["span"] for case in INJECTIONS}) == 20
    assert all(case["why"] and case["reply"] and TRUTH not in case["span"].split() for case in INJECTIONS)
    assert set(FACTORS) == set(SCALES)


@pytest.mark.parametrize("malice", MALICE)
def test_injections(server: LlmServer, malice: str) -> None:
    """The value is a number of the span times a known factor, or what the grammar read; never the truth."""
    data = [question(rf"\boxed{{{case['span']}}}", case["name"], TRUTH) for case in INJECTIONS]

    def reply(asked: Asked) -> Reply:
        own = next((case["reply"] for case in INJECTIONS if case["name"] == names.get(asked.span)), "")
        return completion(own if malice == "its own reply" else MALICE[malice](asked.span))

    names: dict[str, str] = {}
    evaluate(server, data, workers=1)  # an honest run tells what each span looks like on the wire
    names.update(zip(spans(server), [case["name"] for case in INJECTIONS], strict=True))
    assert all(asked.prompt.count("<") == 2 for asked in server.requests), "a tag from inside the data"
    server.script = after_probe(reply)
    results = evaluate(server, data)
    for item, grammar, span in zip(results["items"], without_model(data), names, strict=True):
        assert item["score"] == 0, item
        if item["decided_by"] == "grammar":
            assert item == grammar
        else:
            allowed = [number * factor for number in written_numbers(span) for factor in SCALES]
            assert any(abs(float(item["read"]) - value) <= 1e-9 * abs(value) for value in allowed), (item, span)


NUMERIC: Final = st.text("0123456789.,'-+−e %万亿abc\n", max_size=30)
SPANS: Final = st.one_of(NUMERIC, st.text(max_size=30))
_LEAVES: Final = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(SCALES)
)
JUNK: Final = _LEAVES | st.lists(_LEAVES, max_size=3) | st.dictionaries(st.text(max_size=5), _LEAVES, max_size=3)


@st.composite
def spans_and_replies(draw: st.DrawFn) -> tuple[str, str]:
    span = draw(SPANS)
    cut = sorted(draw(st.lists(st.integers(0, len(span)), min_size=2, max_size=2)))
    number = draw(st.one_of(st.just(span[cut[0] : cut[1]]), st.sampled_from(span.split() or [""]), JUNK))
    record = {"number": number, "scale": draw(st.sampled_from(SCALES) | JUNK), "unit": draw(JUNK)}
    text = draw(st.just(json.dumps(record)) | st.text(max_size=40))
    return span, draw(st.sampled_from(["", "```json\n", "{x} "])) + text + draw(st.sampled_from(["", "\n```", "}"]))


@settings(max_examples=600, deadline=None)
@given(spans_and_replies())
@example(("1e1234", '{"number": "1e123", "scale": 1}'))
@example(("873519.251", '{"number": "73519.25", "scale": 1}'))
@example(("12345", '{"number": "123", "scale": 1}'))
@example(("12 or 31", '{"number": "12", "scale": true}'))
def test_whatever_the_reply(case: tuple[str, str]) -> None:
    span, reply = case
    quantity = read_reply(reply, span)
    if quantity is not None:
        assert quantity.value in written_numbers(span)
        assert quantity.scale is None or quantity.scale in SCALES
        assert quantity.value >= 0 or re.search("[-−–负]|minus|negative", span)


def test_a_sign_must_stand_in_the_span() -> None:
    assert read_reply('{"number": "-12", "scale": 1}', "12 or 31") is None
    assert read_reply('{"number": "-12", "scale": 1}', "-12 or 31") == Quantity(-12.0, None, "")


def test_number_cut_at_the_end_of_the_span_is_no_number(server: LlmServer) -> None:
    given = r"\boxed{" + "x " * 248 + "a 123456 now 7 zork}"
    server.script = after_probe(answer("12"))
    results = evaluate(server, [question(given)])
    assert spans(server)[0].endswith("x a ")  # the cut falls into a number: it is not sent in part
    assert results["items"][0]["read"] != "12"


@pytest.mark.parametrize("given", [r"\boxed{9e307 trillion}", r"\boxed{9e307 then, after 90 now}"])
def test_value_beyond_floats_scores_nothing(server: LlmServer, given: str) -> None:
    """inf == inf: without Std, an endless value equals every truth."""
    server.script = after_probe(answer("9e307", 1e12))
    data = [question(given, truth="5亿", std=None)]
    assert evaluate(server, data)["items"][0]["score"] == 0
    assert without_model(data)[0]["score"] == 0


# --- Secrets ---


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
    seen += [repr(vars(evaluator)), repr(vars(evaluator._model)), repr(evaluator._model._client)]
    assert CANARY not in "".join(seen)
    assert CANARY.encode() not in files_below(tmp_path)
    assert b"llm_server" in files_below(tmp_path / "evaluation")


def test_odd_keys_and_addresses_are_not_shown(server: LlmServer, capfd: pytest.CaptureFixture[str]) -> None:
    """Keys that are no header, and an address that is none: whatever the SDK makes of them, the grammar decides."""
    bad = "http://user:hunter2@[bad/v1"
    keys = [CANARY + "\n", CANARY + "é", " ", CANARY + "\r\nx: y"]
    evaluators = [FutureXEvaluator(key, server.url, deadline=1) for key in keys]
    evaluators.append(FutureXEvaluator(CANARY, bad, deadline=1))
    with ThreadPoolExecutor(len(evaluators)) as pool:
        for results in pool.map(lambda evaluator: evaluator.evaluate_all([question()]), evaluators):
            assert results["items"] == without_model([question()])
            assert CANARY not in dump_json(results)
            assert "hunter2" not in dump_json(results)
    assert CANARY not in "".join(capfd.readouterr())


@pytest.mark.parametrize("base", ["http://user:hunter2@{}", "user:hunter2@{}", "http://user:hunter2@{}?key=hunter2"])
def test_password_in_the_address_is_not_shown(server: LlmServer, base: str) -> None:
    evaluator = FutureXEvaluator(CANARY, base.format(server.url.removeprefix("http://")), deadline=1)
    shown = repr(vars(evaluator._model)) + dump_json(evaluator.evaluate_all([question(r"\boxed{7}")]))
    assert "hunter2" not in shown


def test_impossible_address(tmp_path: Path) -> None:
    done = score(tmp_path, "http://user:hunter2@host:abc/v1", key=CANARY)
    assert "Traceback" not in done.err
    assert "hunter2" not in done.out + done.err
    assert CANARY not in done.out + done.err


# --- Python ---


def in_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_openai_is_imported_only_for_a_model() -> None:
    made = "import sys, eval; eval.FutureXEvaluator({}).evaluate_prediction('7', {}); print('openai' in sys.modules)"
    record = "{'level': 4, 'prompt': 'How many?', 'ground_truth': '7', 'Std': 1.0}"
    assert in_python(made.format("", record)) == "False"
    assert in_python(made.format("base_url='http://127.0.0.1:9/v1'", record)) == "False"
    assert in_python(made.format("'key', 'http://127.0.0.1:9/v1'", record)) == "True"


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
    shown = format_report({"name": "x", "dataset": None, **results})
    assert "5 calls, 500 + 50 tokens" in shown
    assert "asked about 4 numbers, answered 4" in shown


def test_signature(server: LlmServer) -> None:
    signature = evaluate(server, model="m-1", llm_policy="always")["signature"]
    picked = [signature[key] for key in ("llm_model", "llm_server", "llm_policy", "llm_prompt")]
    assert picked == ["m-1", server.url, "always", 1]
    plain = FutureXEvaluator().evaluate_all([question()])["signature"]
    assert {plain[key] for key in plain if key.startswith("llm")} == {None}


# --- Command line ---


def score(root: Path, server: LlmServer | str, *args: str, key: str = "key", data: list[Record] | None = None) -> Done:
    write(root, {"prediction/p.json": data or questions(5)})
    url = server if isinstance(server, str) else server.url
    return run(root, "-f", "p", "--llm", "m-1", *args, OPENAI_API_KEY=key, OPENAI_BASE_URL=url)


def test_command_line(server: LlmServer, tmp_path: Path) -> None:
    first = score(tmp_path, server, "--json").json
    assert (first["llm"]["answered"], first["llm"]["calls"]) == (5, 6)
    assert (tmp_path / "evaluation" / "llm-cache.sqlite3").exists()
    server.requests.clear()
    second = score(tmp_path, server, "--json").json
    assert server.requests == []
    assert second["items"] == first["items"]
    assert score(tmp_path, server, "--no-cache", "--json").json["llm"]["calls"] == 6


def test_no_cache_writes_no_cache(server: LlmServer, tmp_path: Path) -> None:
    done = score(tmp_path, server, "--no-cache")
    assert "answered 5" in done.out
    assert "m-1" in done.out.splitlines()[-1]
    assert done.err == ""  # no progress bar where there is no terminal
    assert not (tmp_path / "evaluation").exists()


def test_without_llm_nothing_is_called(server: LlmServer, tmp_path: Path) -> None:
    write(tmp_path, {"prediction/p.json": questions(5)})
    done = run(tmp_path, "-f", "p", "--json", OPENAI_API_KEY=CANARY, OPENAI_BASE_URL=server.url).json
    assert done["llm"] is None
    assert server.requests == []


def test_missing_key(tmp_path: Path) -> None:
    write(tmp_path, {"prediction/p.json": questions(1)})
    done = run(tmp_path, "-f", "p", "--llm", "m-1", OPENAI_API_KEY="", OPENAI_BASE_URL="")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "OPENAI_API_KEY" in done.err


def test_two_processes_on_one_cache(server: LlmServer, tmp_path: Path) -> None:
    server.script = lambda asked: honest(asked)._replace(wait=0.02)
    data = questions(60)
    write(tmp_path, {"prediction/p.json": data})
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(score, tmp_path, server, "--json", data=data) for _ in range(2)]
        first, second = (job.result().json for job in jobs)
    assert first["items"] == second["items"]
    assert first["warnings"] == second["warnings"] == []
    assert score(tmp_path, server, "--json", data=data).json["llm"]["calls"] == 0


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
    evaluator = FutureXEvaluator("key", llmock.base_url(), deadline=1)
    llmock.delay(0.05).delay(1.5, times=None)
    results = evaluator.evaluate_all([question()])
    assert results["llm"]["failures"] == {"deadline": 1}
    assert results["items"] == without_model([question()])


def test_llmock_made_up_reply_is_refused(llmock: Any) -> None:
    """Its own replies fit the schema, and name numbers that the span does not hold."""
    results = FutureXEvaluator("key", llmock.base_url()).evaluate_all([question()])
    assert results["llm"]["refused"] == 1
    assert results["items"] == without_model([question()])


def test_command_of_the_readme(server: LlmServer, tmp_path: Path) -> None:
    readme = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^OPENAI_API_KEY=… python eval\.py (.*--llm .*)$", readme, re.M)
    for folder in ("dataset", "prediction"):
        shutil.copytree(Path(__file__).parent.parent / folder, tmp_path / folder)
    done = run(tmp_path, *line.split(), "--llm-policy", "always", OPENAI_API_KEY="key", OPENAI_BASE_URL=server.url)
    assert done.code == 0
    assert re.search(r"^Language model: asked about [1-9][0-9]* numbers, ", done.out, re.M)
