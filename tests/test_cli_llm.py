"""`--llm` on the command line: key, server, cache, processes."""

from __future__ import annotations

import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cli import ROOT, run, run_process, write
from llm_runs import CANARY, questions, score
from llm_server import LlmServer, honest


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
    write(tmp_path, {"prediction/p.json": questions(60)})
    words = ("-f", "p", "--llm", "m-1", "--json")
    keys = {"OPENAI_API_KEY": "key", "OPENAI_BASE_URL": server.url}
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(run_process, tmp_path, *words, **keys) for _ in range(2)]
        first, second = (job.result().json for job in jobs)
    assert first["items"] == second["items"]
    assert first["warnings"] == second["warnings"] == []
    assert run(tmp_path, *words, **keys).json["llm"]["calls"] == 0


def test_commands_of_the_documents(server: LlmServer, tmp_path: Path) -> None:
    """Every command with a model in README.md and docs/, about all numbers of the shipped samples."""
    texts = [path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *ROOT.glob("docs/*.md")]]
    found = re.findall(r"^OPENAI_API_KEY=… python eval\.py (.*--llm .*)$", "\n".join(texts), re.M)
    assert found
    for folder in ("dataset", "prediction"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    for words in found:
        always = (*words.split(), "--llm-policy", "always")
        done = run(tmp_path, *always, OPENAI_API_KEY="key", OPENAI_BASE_URL=server.url)
        assert done.code == 0
        assert re.search(r"^Language model: asked about [1-9][0-9]* numbers, ", done.out, re.M)
