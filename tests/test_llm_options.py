"""Options of `--llm`: its server, its limit of tokens, and a run that sends nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from cli import run, write
from llm_server import LlmServer, honest, questions

ASK: Final = ("-f", "w1-a", "--llm", "m")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A system whose eight answers no rule can read."""
    rows = questions(8)
    plain = [{key: row[key] for key in row if key != "answer"} for row in rows]
    answers = [{"id": row["id"], "prediction": row["answer"]} for row in rows]
    return write(tmp_path, {"dataset/w1.json": plain, "prediction/w1-a.json": answers})


@pytest.fixture
def server(server: LlmServer) -> LlmServer:
    server.script = honest
    return server


def test_the_settings_of_a_folder_name_server_and_limit(root: Path, server: LlmServer) -> None:
    """A crontab has no environment."""
    toml = f'llm = "m"\nllm-url = "{server.url}"\nllm-max-tokens = 9000\n'
    write(root, {"forecasteval.toml": toml})
    results = run(root, "-f", "w1-a", "--json").json
    assert (results["signature"]["llm_server"], results["overall_score"]) == (server.url, 1.0)
    assert results["signature"]["llm_max_tokens"] == 9000
    assert {request.body["max_tokens"] for request in server.requests} == {9000}
    assert run(root, "nightly").code == 0
    with LlmServer(honest) as other:
        assert run(root, "-f", "w1-a", "--no-cache", "--llm-url", other.url).code == 0
        assert len(other.requests) == 8
    write(root, {"forecasteval.toml": "llm-max-tokens = 0\n"})
    assert run(root, "-f", "w1-a").code == 2


@pytest.mark.parametrize("option", ["--llm-url=u", "--llm-max-tokens=9", "--llm-dry-run"])
def test_they_need_a_model(root: Path, option: str) -> None:
    done = run(root, "-f", "w1-a", option)
    assert (done.code, "needs --llm MODEL" in done.err) == (2, True)


def test_a_dry_run_sends_and_writes_nothing(root: Path, server: LlmServer) -> None:
    """It needs no key, and prompts whose replies are kept are not counted."""
    words = (*ASK, "--llm-dry-run", "--save", "--fail-under", "0.9")
    done = run(root, *words)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("FutureX  w1-a\n8 prompts, about ")
    assert "<data>" in done.out
    assert "Overall" not in done.out
    assert [path.name for path in (root / "evaluation").iterdir()] == ["llm-cache.sqlite3"]
    one = [{"id": "0", "prediction": questions(1)[0]["answer"]}]
    write(root, {"prediction/w1-b.json": one})
    assert run(root, "-f", "w1-b", "--llm", "m", "--llm-url", server.url).code == 0
    sent = len(server.requests)
    done = run(root, *ASK, "-f", "w1-b", "--llm-url", server.url, "--llm-dry-run")
    assert ("7 prompts" in done.out, "no prompts" in done.out) == (True, True)
    assert len(server.requests) == sent
