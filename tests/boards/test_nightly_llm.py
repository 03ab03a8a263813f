"""A night with a language model: one breaker and deadline for all files, what it says, and the night after."""

from __future__ import annotations

from multiprocessing import forkserver
from pathlib import Path
from typing import Any

import pytest

from boards_folders import counts, stored
from cli import Done, run, write
from eval import FutureXEvaluator
from forecasteval.boards import processes
from llm_runs import CANARY, evaluate, question, questions
from llm_server import Asked, LlmServer, Reply, error, honest


def night(root: Path, server: LlmServer, *options: str) -> Done:
    server.requests.clear()
    return run(root, "nightly", "--llm", "m", *options, OPENAI_API_KEY=CANARY, OPENAI_BASE_URL=server.url)


def folder(root: Path, files: int, each: int = 3) -> Path:
    """Files whose questions nobody else asks."""
    for number in range(files):
        rows = [question(rf"\boxed{{{1000 * number + n} then, after 90 now}}", f"q{n}") for n in range(each)]
        write(root, {f"prediction/p{number}.json": rows})
    return root


@pytest.mark.parametrize(
    ("reply", "requests", "lines"),
    [
        (
            error(401, "bad key"),
            1,
            ["key refused: questions 1, files 1 (p0.json)", "not asked: questions 14, files 5 (p0.json, p1"],
        ),
        (
            error(402, "no credit"),
            1,
            ["no credit: questions 1, files 1 (p0.json)", "not asked: questions 14, files 5 (p0.json, p1"],
        ),
        (
            error(404, "no model"),
            1,
            ["no such model: questions 1, files 1 (p0.json)", "not asked: questions 14, files 5 (p0.json"],
        ),
        (
            error(503),
            10,
            ["server error: questions 1, files 1 (p0.json)", "not asked: questions 14, files 5 (p0.json, p1"],
        ),
    ],
    ids=["key", "credit", "model", "busy"],
)
def test_a_server_that_is_down_is_not_asked_by_every_file(
    server: LlmServer, tmp_path: Path, reply: Reply, requests: int, lines: list[str]
) -> None:
    folder(tmp_path, 5)
    server.script = lambda asked: reply
    done = night(tmp_path, server)
    assert len(server.requests) == requests
    assert (done.code, counts(done)) == (3, (5, 0, 0))
    told = done.err.splitlines()
    assert len(told) == 3
    assert all(any(line in one for one in told) for line in lines)
    assert told[2].startswith("eval.py: degraded results, which the next run makes again: 5 (p0.json, p1.json")
    server.script = honest
    done = night(tmp_path, server)
    assert (done.code, done.err, counts(done)) == (0, "", (5, 0, 0))
    assert night(tmp_path, server).code == 0
    assert server.requests == []


def test_in_a_process_of_its_own_too(server: LlmServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large files go to one process, which keeps the breaker from file to file."""
    monkeypatch.setattr(processes, "POOL_BYTES", 0)
    forkserver._forkserver._stop()  # type: ignore[attr-defined]  # one of an earlier test has other variables
    folder(tmp_path, 4)
    server.script = lambda asked: error(401)
    assert night(tmp_path, server).code == 3
    assert len(server.requests) == 1
    server.script = honest
    assert night(tmp_path, server).code == 0
    assert len(server.requests) == 1 + 12


def test_nobody_listens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK's five retries, once a night; here without its pauses."""
    monkeypatch.setattr("openai._base_client.BaseClient._calculate_retry_timeout", lambda *_, **__: 0.0)
    folder(tmp_path, 4)
    with LlmServer() as server:
        pass  # its port is free again
    done = night(tmp_path, server)
    assert done.code == 3
    assert "eval.py: the language model failed: connection: questions 1, files 1 (p0.json)" in done.err.splitlines()
    assert [stored(tmp_path, f"p{n}")["llm"]["calls"] for n in range(4)] == [1, 0, 0, 0]


def test_credit_that_runs_out_in_the_night(server: LlmServer, tmp_path: Path) -> None:
    folder(tmp_path, 3, 8)
    server.script = lambda asked: honest(asked) if asked.number <= 12 else error(402)
    done = night(tmp_path, server, "--workers", "1")
    assert done.code == 3
    assert [stored(tmp_path, f"p{n}")["llm"]["answered"] for n in range(3)] == [8, 3, 0]
    assert [stored(tmp_path, f"p{n}")["llm"]["degraded"] for n in range(3)] == [False, True, True]
    server.script = honest
    done = night(tmp_path, server)
    assert (done.code, counts(done)) == (0, (2, 1, 0))
    assert len(server.requests) == 1 + 5 + 8


def test_prompts_that_are_refused_cost_only_their_file(server: LlmServer, tmp_path: Path) -> None:
    """A filter that says 400 to everything in one file: the next one is asked, after a probe."""

    def script(asked: Asked) -> Reply:
        first = asked.span.split()[0]
        return error(400, "content filter") if first.isdigit() and int(first) < 12 else honest(asked)

    server.script = script
    folder(tmp_path, 2, 12)
    assert night(tmp_path, server).code == 3
    assert stored(tmp_path, "p0")["llm"]["failures"] == {"bad request": 10, "not asked": 2}
    assert stored(tmp_path, "p1")["llm"]["answered"] == 12


def test_ten_in_a_row_are_counted_over_files(server: LlmServer, tmp_path: Path) -> None:
    folder(tmp_path, 5, 4)
    server.script = lambda asked: error(500) if asked.span[0].isdigit() else honest(asked)
    assert night(tmp_path, server).code == 3
    failures: list[Any] = [stored(tmp_path, f"p{n}")["llm"]["failures"] for n in range(5)]
    assert failures == [
        {"server error": 4}, {"server error": 4}, {"server error": 2, "not asked": 2}, {"not asked": 4},
        {"not asked": 4},
    ]  # fmt: skip


@pytest.mark.parametrize("one_run", [False, True])
def test_the_deadline_of_a_run(server: LlmServer, one_run: bool) -> None:
    """In Python every call of evaluate_all is a run; on the command line all files together are one."""
    evaluator = FutureXEvaluator("key", server.url, deadline=0.3)
    evaluator.one_run = one_run
    server.script = lambda asked: honest(asked)._replace(wait=0.0 if asked.span == "101 then, after 90 now" else 0.5)
    assert evaluator.evaluate_all([question()])["llm"]["failures"] == {"deadline": 1}
    server.script = honest
    second = evaluator.evaluate_all([question(name="b")])["llm"]
    assert second["failures"] == ({"deadline": 1} if one_run else {})


def test_a_model_that_refuses_is_no_server_that_fails(server: LlmServer) -> None:
    """Texts that make the model refuse ten times in a row must not stop the asking for all others."""
    server.script = lambda asked: Reply(b'{"choices": [{"finish_reason": "stop", "message": {"content": ""}}]}')
    results = evaluate(server, questions(30))
    assert results["llm"]["failures"] == {"empty": 30}
    assert not results["llm"]["degraded"]
