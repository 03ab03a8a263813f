"""The cache of replies: whose they are, what is never kept, and files that cannot be used."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cli import Record
from forecasteval.common.llm_cache import ReplyCache
from llm_runs import UNSURE, after_probe, evaluate, question, without_model
from llm_server import LlmServer, error, honest

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
