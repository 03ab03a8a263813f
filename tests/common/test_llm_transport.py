"""Addresses without their secrets, proxies, redirects, bounded replies."""

from __future__ import annotations

import gzip
import logging
import zlib
from pathlib import Path

import pytest

from cli import run, write
from forecasteval.common.llm_transport import MAX_BODY, NO_ADDRESS, _read_bounded, read_address
from forecasteval.common.records import dump_json
from llm_runs import CANARY, GOOD, after_probe, evaluate, questions, score
from llm_server import LlmServer, Reply, completion, honest

PASSWORD = "hunter2correct"


# --- The address ---


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com/v1"),
        (f"https://u:{PASSWORD}@proxy/https://api.openai.com/v1", "https://proxy/https://api.openai.com/v1"),
        (f"https://proxy/https://u:{PASSWORD}@api/v1", "https://proxy/…"),
        (f"https://u:a/{PASSWORD}@host/v1", NO_ADDRESS),
        (f"https://u:12/{PASSWORD}@host/v1", "https://u/…"),
        (f"https://u:1?{PASSWORD}@host/v1", "https://u/…"),
        (f"https://u:1#{PASSWORD}@host/v1", "https://u/…"),
        (f"https://host:8000/v1?key={PASSWORD}", "https://host:8000/v1"),
        (f"https://host/v1#{PASSWORD}", "https://host/v1"),
        (f"https://host/{CANARY}/v1", "https://host/…/v1"),
        (f"u:{PASSWORD}@host/v1", NO_ADDRESS),
        (f"ftp://u:{PASSWORD}@host/v1", NO_ADDRESS),
        (f"http://u:{PASSWORD}@[bad/v1", NO_ADDRESS),
        (f"http://u:{PASSWORD}@host:abc/v1", NO_ADDRESS),
        ("", NO_ADDRESS),
    ],
)
def test_what_is_shown_of_an_address(given: str, shown: str) -> None:
    address = read_address(given, CANARY)
    assert address.shown == shown
    assert PASSWORD not in repr(address)
    assert CANARY not in repr(address)


@pytest.mark.parametrize("place", ["http://u:{0}@{1}/v1", "http://{1}/v1?key={0}", "http://{1}/http://u:{0}@api/v1"])
def test_a_password_goes_to_the_server_and_nowhere_else(
    server: LlmServer, tmp_path: Path, caplog: pytest.LogCaptureFixture, place: str
) -> None:
    caplog.set_level(logging.DEBUG)
    url = place.format(PASSWORD, server.url.removeprefix("http://").removesuffix("/v1"))
    done = score(tmp_path, url, "--save", "--json", key=CANARY)
    assert done.json["llm"]["answered"] == 5
    sent = [asked.path + asked.headers["authorization"] for asked in server.requests]
    assert all(PASSWORD in text or "Basic" in text for text in sent)
    told = done.out + done.err + caplog.text
    files = b"".join(path.read_bytes() for path in (tmp_path / "evaluation").iterdir())
    assert PASSWORD not in told
    assert PASSWORD.encode() not in files
    assert CANARY.encode() not in files
    server.script = lambda asked: Reply(f"no {asked.path} {asked.headers['authorization']} {PASSWORD}".encode(), 418)
    done = score(tmp_path, url, "--no-cache", "--json", key=CANARY)
    assert PASSWORD not in done.out + done.err + caplog.text


@pytest.mark.parametrize(
    ("url", "unencrypted"),
    [
        ("http://127.0.0.1:1/v1", False), ("http://localhost/v1", False), ("http://[::1]/v1", False),
        ("http://10.0.0.7/v1", True), ("http://host/v1", True), ("https://host/v1", False),
    ],
)  # fmt: skip
def test_plain_http_is_noticed(url: str, unencrypted: bool) -> None:
    assert read_address(url, CANARY).unencrypted == unencrypted


def test_plain_http_warns_once(tmp_path: Path) -> None:
    """Nobody is asked: there is nothing unclear."""
    write(tmp_path, {f"prediction/p{n}.json": questions(1) for n in range(2)})
    url = {"OPENAI_BASE_URL": "http://llm.invalid:1/v1", "OPENAI_API_KEY": CANARY}
    write(tmp_path, {f"prediction/p{n}.json": [{**questions(1)[0], "answer": "7"}] for n in range(2)})
    out = run(tmp_path, "-f", "p0", "-f", "p1", "--llm", "m", **url).out
    assert out.count("is plain http") == 1


# --- The way there ---


def test_loopback_is_asked_without_a_proxy(server: LlmServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with LlmServer() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url.removesuffix("/v1"))
        assert evaluate(server)["llm"]["answered"] == 1
        assert proxy.requests == []


def test_others_are_asked_through_it(server: LlmServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", server.url.removesuffix("/v1"))
    monkeypatch.delenv("no_proxy", raising=False)
    server.script = honest
    from eval import FutureXEvaluator

    results = FutureXEvaluator(CANARY, "http://llm.invalid/v1").evaluate_all(questions(1))
    assert results["llm"]["answered"] == 1
    assert {asked.path for asked in server.requests} == {"http://llm.invalid/v1/chat/completions"}


# --- Bounds ---


def _gzipped(reply: Reply, encoding: str = "gzip") -> Reply:
    pack = gzip.compress if encoding == "gzip" else zlib.compress
    return reply._replace(body=pack(reply.body), headers={"content-encoding": encoding})


BIG = completion(GOOD[:-1] + " " * MAX_BODY + "}")


@pytest.mark.parametrize(
    ("reply", "failures"),
    [
        (completion(GOOD), {}),
        (_gzipped(completion(GOOD)), {}),
        (_gzipped(completion(GOOD), "deflate"), {}),
        (BIG, {"bad body": 1}),
        (_gzipped(BIG), {"bad body": 1}),
        (completion(GOOD)._replace(headers={"content-encoding": "br"}), {"bad body": 1}),
        (completion(GOOD)._replace(headers={"content-encoding": "gzip"}), {"bad body": 1}),
    ],
    ids=["plain", "gzip", "deflate", "big", "big in gzip", "unknown encoding", "no gzip"],
)
def test_bounded(server: LlmServer, reply: Reply, failures: dict[str, int]) -> None:
    server.script = after_probe(reply)
    results = evaluate(server)
    assert results["llm"]["failures"] == failures
    assert results["llm"]["degraded"] == bool(failures)
    assert {asked.headers["accept-encoding"] for asked in server.requests} == {"identity"}


def test_a_bomb_is_not_unpacked() -> None:
    bomb = gzip.compress(b" " * 50_000_000)
    taken = []

    def chunks() -> object:
        for start in range(0, len(bomb), 1000):
            taken.append(start)
            yield bomb[start : start + 1000]

    assert len(_read_bounded("gzip", chunks())) == MAX_BODY  # type: ignore[arg-type]
    assert len(taken) < 3


def test_reasons_are_bounded_and_safe(server: LlmServer) -> None:
    server.script = after_probe(Reply(b"\x1b[2J" + b"x" * 1_000_000, 418))
    results = evaluate(server)
    told = [line for line in results["warnings"] if "server says" in line]
    assert len(told) == 1
    assert len(told[0]) < 300
    assert "\x1b" not in dump_json(results)
