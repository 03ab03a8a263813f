"""The command line with a language model: key, cache, and a night, which is one run for all its
files.
"""

from __future__ import annotations

import json
import re
import shutil
from multiprocessing import forkserver
from pathlib import Path

import pytest

from boards_folders import counts, stored
from cli import ROOT, Done, run, write
from forecasteval.nightly import tasks
from llm_server import LlmServer, error, honest, question, questions

KEY = "sk-canary-7f3a9c51e2"


def ask(root: Path, server: LlmServer, *words: str, key: str = KEY) -> Done:
    server.requests.clear()
    return run(root, *words, "--llm", "m-1", OPENAI_API_KEY=key, OPENAI_BASE_URL=server.url)


def folder(root: Path, files: int, each: int = 3) -> Path:
    """Files whose questions no other file holds."""
    for number in range(files):
        rows = [
            question(rf"\boxed{{{1000 * number + n} then 90 now}}", f"q{n}") for n in range(each)
        ]
        write(root, {f"prediction/p{number}.json": rows})
    return root


def failures(root: Path, files: int) -> list[dict[str, int]]:
    return [stored(root, f"p{number}")["llm"]["failures"] for number in range(files)]


# --- One file ---


def test_a_file(server: LlmServer, tmp_path: Path) -> None:
    write(tmp_path, {"prediction/p.json": questions(5)})
    done = ask(tmp_path, server, "-f", "p", "--no-cache")
    assert (done.code, done.err) == (0, "")  # no progress bar where there is no terminal
    assert "Language model: prompts 5, answered 5" in done.out
    assert "m-1" in done.out.splitlines()[-1]
    assert not (tmp_path / "evaluation").exists()
    first = ask(tmp_path, server, "-f", "p", "--json").json
    assert (tmp_path / "evaluation" / "llm-cache.sqlite3").exists()
    second = ask(tmp_path, server, "-f", "p", "--json").json
    assert (second["items"], server.requests) == (first["items"], [])


def test_commands_of_the_documents(server: LlmServer, tmp_path: Path) -> None:
    """Every command with a model in README.md and docs/, about all numbers of the shipped
    samples.
    """
    texts = [
        path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *ROOT.glob("docs/*.md")]
    ]
    commands = re.findall(
        r"^OPENAI_API_KEY=… python eval\.py (.*--llm .*)$", "\n".join(texts), re.M
    )
    assert commands
    for name in ("dataset", "prediction"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for words in commands:
        done = ask(tmp_path, server, *words.split(), "--llm-policy", "always")
        assert done.code == 0
        assert re.search(r"^Language model: prompts [1-9][0-9]*, ", done.out, re.M)


@pytest.mark.parametrize("key", ["", f"{KEY}\n"])
def test_a_key_that_cannot_be_sent_is_one_line(server: LlmServer, tmp_path: Path, key: str) -> None:
    write(tmp_path, {"prediction/p.json": questions(1)})
    url = server.url if key else ""
    for words in (["-f", "p"], ["nightly"]):
        done = run(tmp_path, *words, "--llm", "m-1", OPENAI_API_KEY=key, OPENAI_BASE_URL=url)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert "OPENAI_API_KEY" in done.err
        assert KEY not in done.err
    assert server.requests == []


@pytest.mark.parametrize("command", [["-f", "p"], ["nightly"], ["compare", "p", "p"]])
def test_names_need_a_model(tmp_path: Path, command: list[str]) -> None:
    """Else a reader takes a score for one in which names were matched."""
    write(tmp_path, {"prediction/p.json": questions(1)})
    done = run(tmp_path, *command, "--llm-names")
    assert (done.code, "--llm-names" in done.err) == (2, True)


def test_help_says_that_true_names_are_sent(tmp_path: Path) -> None:
    text = " ".join(run(tmp_path, "--help").out.split())
    assert "true names" in text.partition("--no-llm-names let")[2][:80]


def test_the_key_is_nowhere(
    server: LlmServer,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("DEBUG")
    write(tmp_path, {"prediction/p.json": questions(2)})
    for status in (200, 400, 401, 500):
        server.script = lambda request, status=status: (
            honest(request) if status == 200 else error(status, KEY)
        )
        done = ask(tmp_path, server, "-f", "p", "--save", "--items", "--html")
        assert KEY not in done.out + done.err + caplog.text + "".join(capfd.readouterr())
    assert not [
        path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()
    ]


# --- A night ---


@pytest.mark.parametrize(
    ("status", "requests", "kind", "first"),
    [
        (401, 1, "key refused", 1),
        (402, 1, "no credit", 1),
        (404, 1, "no such model", 1),
        (503, 10, "status 503", 3),
    ],
)
def test_a_server_that_fails_ends_the_run_for_all_files(
    server: LlmServer, tmp_path: Path, status: int, requests: int, kind: str, first: int
) -> None:
    folder(tmp_path, 5)
    server.script = lambda request: error(status)
    done = ask(tmp_path, server, "nightly", "--workers", "1")
    assert len(server.requests) == requests
    assert (done.code, counts(done), stored(tmp_path, "p0")["llm"]["failures"][kind]) == (
        3,
        (5, 0, 0),
        first,
    )
    lines = done.err.splitlines()
    assert any(f"{kind}: questions {requests}, files " in line for line in lines)
    assert any(f"not sent: questions {15 - requests}, files " in line for line in lines)
    assert lines[-1].startswith(
        "eval.py: degraded results, which the next run makes again: 5 (p0.json, p1.json"
    )
    server.script = honest
    done = ask(tmp_path, server, "nightly")
    assert (done.code, done.err, counts(done)) == (0, "", (5, 0, 0))
    assert ask(tmp_path, server, "nightly").code == 0
    assert server.requests == []


def test_a_degraded_night_is_a_reason_and_so_is_its_end(server: LlmServer, tmp_path: Path) -> None:
    folder(tmp_path, 2)
    server.script = honest
    ask(tmp_path, server, "nightly", "--no-cache")
    for script, reason in (
        (lambda request: error(401), "degraded"),
        (honest, "no longer degraded"),
    ):
        server.script = script
        done = ask(tmp_path, server, "nightly", "--no-cache", "--force", "--json")
        changes = json.loads(done.out)["changes"]
        assert [change["reason"] for change in changes] == [reason] * 2
        page = (tmp_path / "evaluation/leaderboard.html").read_text("utf-8")
        assert ("· 2 degraded results ·" in page) == (reason == "degraded")


def test_credit_that_runs_out(server: LlmServer, tmp_path: Path) -> None:
    folder(tmp_path, 3, 8)
    server.script = lambda request: honest(request) if request.number <= 11 else error(402)
    assert ask(tmp_path, server, "nightly", "--workers", "1").code == 3
    assert failures(tmp_path, 3) == [{}, {"no credit": 1, "not sent": 4}, {"not sent": 8}]
    server.script = honest
    assert counts(ask(tmp_path, server, "nightly")) == (2, 1, 0)
    assert len(server.requests) == 5 + 8


def test_large_files_are_one_run_too(
    server: LlmServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They go to one process, which keeps the count of failures from file to file."""
    monkeypatch.setattr(tasks, "POOL_BYTES", 0)
    forkserver._forkserver._stop()  # type: ignore[attr-defined]  # one of an earlier test has other variables
    folder(tmp_path, 4)
    server.script = lambda request: error(401)
    assert ask(tmp_path, server, "nightly").code == 3
    assert len(server.requests) == 1
