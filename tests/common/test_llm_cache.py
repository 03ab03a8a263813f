"""The cache of replies: whose they are, what is never kept, and files that cannot be used."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from cli import ROOT, Record
from forecasteval.common import llm_cache
from forecasteval.common.llm_cache import ReplyCache
from llm_runs import UNSURE, after_probe, evaluate, question, questions, without_model
from llm_server import LlmServer, answer, error, honest

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
    (key,) = kept._connection.execute("SELECT key FROM replies").fetchone()
    kept.put(key, '{"number": "100", "scale": 1, "unit": null}')  # with the checksum that belongs to it
    kept.close()
    results = evaluate(server, cache=cache)
    assert results["items"] != without_model([question()])
    assert (results["llm"]["answered"], results["llm"]["calls"]) == (1, 2)


def test_a_cache_that_nobody_closes_is_closed(tmp_path: Path) -> None:
    """Python 3.13 warns of a connection that is left open, and where warnings are errors that is one."""
    cache = ReplyCache(tmp_path / "c.sqlite3")
    connection = cache._connection
    del cache
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")


# --- What goes wrong later ---


def test_only_replies_that_will_do_are_kept(server: LlmServer, tmp_path: Path) -> None:
    """A reply that is refused is asked for again; the cache never hands it out."""
    cache = tmp_path / "c.sqlite3"
    server.script = after_probe(answer("102"))
    assert evaluate(server, cache=cache)["llm"]["refused"] == 1
    server.script = honest
    assert evaluate(server, cache=cache)["llm"]["answered"] == 1


def _change(cache: Path, sql: str) -> None:
    kept = ReplyCache(cache)
    kept._connection.execute(sql)
    kept.close()


def test_a_row_that_was_changed_is_not_there(server: LlmServer, tmp_path: Path) -> None:
    """Even by a reply that would do."""
    cache = tmp_path / "c.sqlite3"
    evaluate(server, cache=cache)
    _change(cache, """UPDATE replies SET reply = '{"number": "90", "scale": 1, "unit": null}'""")
    results = evaluate(server, cache=cache)
    assert (results["items"][0]["read"], results["llm"]["calls"]) == ("101", 2)


def test_a_cache_of_version_1_0_begins_anew(server: LlmServer, tmp_path: Path) -> None:
    cache = tmp_path / "c.sqlite3"
    with contextlib.closing(sqlite3.connect(cache)) as old:
        old.execute("CREATE TABLE replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL)")
    results = evaluate(server, cache=cache)
    assert results["warnings"] == []
    assert evaluate(server, cache=cache)["llm"]["calls"] == 0


def test_a_damaged_page_is_set_aside_when_it_is_met(server: LlmServer, tmp_path: Path) -> None:
    """The first page is whole: the file opens, and fails when a row is looked for."""
    cache = tmp_path / "c.sqlite3"
    evaluate(server, questions(200), cache=cache)
    raw = bytearray(cache.read_bytes())
    raw[4096:] = b"\xff" * (len(raw) - 4096)
    cache.write_bytes(raw)
    results = evaluate(server, questions(200), cache=cache)
    assert results["llm"]["answered"] == 200
    assert len([line for line in results["warnings"] if "set aside as c.sqlite3.corrupt" in line]) == 1
    assert (tmp_path / "c.sqlite3.corrupt").read_bytes() == raw
    again = evaluate(server, questions(200), cache=cache)
    assert (again["llm"]["calls"], again["warnings"]) == (0, [])


def test_a_cache_that_another_holds_is_waited_for_once(
    server: LlmServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert llm_cache.LOCK_SECONDS <= 2
    monkeypatch.setattr(llm_cache, "LOCK_SECONDS", 0.1)
    cache = tmp_path / "c.sqlite3"
    evaluate(server, cache=cache)
    with contextlib.closing(sqlite3.connect(cache, isolation_level=None)) as holder:
        holder.execute("PRAGMA locking_mode=EXCLUSIVE")
        holder.execute("BEGIN EXCLUSIVE")
        results = evaluate(server, questions(20), cache=cache)
    assert results["llm"]["answered"] == 20
    assert len([line for line in results["warnings"] if "database is locked" in line]) == 1


def test_a_cache_locked_later_is_waited_for_once(
    server: LlmServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llm_cache, "LOCK_SECONDS", 0.1)
    kept = ReplyCache(tmp_path / "c.sqlite3")
    with contextlib.closing(sqlite3.connect(tmp_path / "c.sqlite3", isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        for number in range(5):
            kept.put(str(number), "reply")
    assert [kept.get(str(number)) for number in range(5)] == ["reply"] * 5
    assert len(kept.warnings) == 1
    kept.close()


def test_a_read_only_folder_still_reads_its_cache(tmp_path: Path) -> None:
    """As another user, for root may write everywhere; the log beside the file cannot be made."""
    folder = Path(tempfile.mkdtemp())
    cache = folder / "c.sqlite3"
    kept = ReplyCache(cache)
    kept.put("key", "reply")
    kept.close()
    cache.chmod(0o444)
    folder.chmod(0o555)
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from forecasteval.common.llm_cache import ReplyCache\n"
        "if os.geteuid() == 0: os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "kept = ReplyCache(Path(sys.argv[1])); print(kept.get('key'))\n"
        "kept.put('other', 'new'); print(kept.get('other'), len(kept.warnings), kept.get('key'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(cache)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "reply\nnew 1 reply\n"
    shutil.rmtree(folder)
