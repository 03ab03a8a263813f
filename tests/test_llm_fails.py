"""A language model that fails, in whatever way, at every door: one line, exit code 3, no gate."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import pytest

from cli import Done, run, write
from eval import FutureXEvaluator
from forecasteval.boards import api
from forecasteval.common import server as client
from forecasteval.display.tables import format_text
from llm_server import AT_ONCE, LlmServer, Reply, Request, Script, error, honest, questions, quote

SILENCE: Final = 0.2  # seconds of a request without a byte, for a test
FAULTS: Final[dict[str, tuple[Script | None, str]]] = {
    "401": (lambda request: error(401), "key refused 1, not sent 7"),
    "404": (lambda request: error(404), "no such model 1, not sent 7"),
    "429": (lambda request: error(429), "rate limit 8"),
    "500": (lambda request: error(500, headers=AT_ONCE), "status 500 8"),
    "garbage": (lambda request: Reply(b"<html>busy</html>"), "bad body 8"),
    "an invented quote": (lambda request: quote("81 then"), "reply refused 8"),
    "no server": (None, "connection 8"),
    "hang": (lambda request: Reply(wait=60), "no byte 1, not sent 7"),
}
PATIENCE: Final = {"hang": "impatient", "no server": "hasty"}
DOORS: Final = {
    "-f": ("-f", "w1-a"),
    "--json": ("-f", "w1-a", "--json"),
    "compare": ("compare", "w1-a", "w1-b"),
    "compare over weeks": ("compare", "a", "b"),
    "nightly": ("nightly",),
}


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "TIMEOUT", SILENCE)


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls that try once: retries of a closed port wait for 15 seconds."""
    make_server = client.Server.__init__

    def make(self: client.Server, *words: str) -> None:
        make_server(self, *words)
        self._client = self._client.with_options(max_retries=0)

    monkeypatch.setattr(client.Server, "__init__", make)


@contextmanager
def failing(script: Script | None) -> Iterator[str]:
    """The address of a server that fails, or where nobody listens."""
    if script is None:
        with closing(socket.socket()) as taken:
            taken.bind(("127.0.0.1", 0))
            yield f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        return
    with LlmServer(script) as server:
        yield server.url


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two systems that answered the same eight questions, which no rule can read."""
    rows = questions(8)
    plain = [{key: row[key] for key in row if key != "answer"} for row in rows]
    answers = [{"id": row["id"], "prediction": row["answer"]} for row in rows]
    for row, answer, number in zip(plain, answers, range(8), strict=True):
        row["id"] = answer["id"] = f"q{number}"
    return write(
        tmp_path,
        {
            "dataset/w1.json": plain,
            "prediction/w1-a.json": answers,
            "prediction/w1-b.json": answers[:-1],
        },
    )


def ask(root: Path, url: str, *words: str) -> Done:
    return run(root, *words, "--llm", "m", OPENAI_API_KEY="key-of-tests", OPENAI_BASE_URL=url)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("fault", FAULTS)
def test_every_door_says_so_and_ends_with_3(
    root: Path, fault: str, door: str, request: pytest.FixtureRequest
) -> None:
    script, kinds = FAULTS[fault]
    if fault in PATIENCE:
        request.getfixturevalue(PATIENCE[fault])
    with failing(script) as url:
        done = ask(root, url, *DOORS[door])
    assert done.code == 3, done.err
    assert "degraded" in done.err
    for kind in kinds.split(", "):
        assert kind.rpartition(" ")[0] in done.err
    if door == "-f":
        assert done.err == f"eval.py: w1-a: degraded: the language model failed: {kinds}\n"
    assert "degraded" in done.out  # in the report, the table, or JSON


@pytest.mark.usefixtures("impatient")
def test_a_server_that_sends_nothing_is_given_up_after_three_requests(root: Path) -> None:
    with LlmServer(lambda request: Reply(wait=60)) as server:
        assert ask(root, server.url, "-f", "w1-a", "--workers", "8").code == 3
    assert 1 <= len(server.requests) <= client.MAX_SILENT


@pytest.mark.usefixtures("hasty")
def test_a_server_that_answers_others_is_not_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One prompt has no reply while others have one, however late on a busy machine."""
    monkeypatch.setattr(client, "TIMEOUT", 10 * SILENCE)

    def script(request: Request) -> Reply:
        is_stuck = request.answer.startswith("1003")
        return Reply(wait=60) if is_stuck else honest(request)._replace(wait=SILENCE / 3)

    write(tmp_path, {"prediction/p.json": questions(20)})
    with LlmServer(script) as server:
        done = ask(tmp_path, server.url, "-f", "p", "--workers", "2")
    assert done.err == "eval.py: p: degraded: the language model failed: timeout 1\n"


@pytest.mark.parametrize(
    ("words", "passed"),
    [
        (("-f", "w1-a", "--fail-under", "0"), 0),
        (("-f", "w1-a", "--fail-under", "1"), 0),
        (("compare", "w1-b", "w1-a", "--fail-if-worse"), 0),
        (("compare", "b", "a", "--fail-if-worse"), 0),
    ],
)
def test_a_degraded_result_passes_no_gate(root: Path, words: tuple[str, ...], passed: int) -> None:
    with LlmServer(lambda request: error(401)) as server:
        done = ask(root, server.url, *words)
        assert done.code == 3
        gate = next(word for word in words if word.startswith("--fail"))
        assert f"{gate} is not passed" in done.err
        server.script = honest
        assert ask(root, server.url, *words).code == passed


def test_another_file_below_the_threshold_fails_the_gate(root: Path) -> None:
    """What one file shows is not hidden by the failure of another."""
    write(root, {"prediction/w1-c.json": [{"id": "q0", "prediction": r"\boxed{5}"}]})
    with LlmServer(lambda request: error(401)) as server:
        done = ask(root, server.url, "-f", "w1-a", "-f", "w1-c", "--fail-under", "0.5")
    assert done.code == 6
    assert "below --fail-under 0.5: w1-c" in done.err
    assert "w1-a: degraded" in done.err


def test_results_in_a_notebook_say_so(root: Path) -> None:
    with LlmServer(lambda request: error(500)) as server:
        evaluator = FutureXEvaluator("key", server.url)
        results = [
            evaluator.evaluate_file(root / f"prediction/w1-{name}.json", root / "dataset/w1.json")
            for name in "ab"
        ]
    for shown in (*results, api.rank(results), api.compare(results)):
        assert "degraded" in format_text(shown.report())


@pytest.mark.parametrize("door", DOORS)
def test_the_deadline_is_an_option_of_every_command(root: Path, door: str) -> None:
    with LlmServer(lambda request: honest(request)._replace(wait=0.15)) as server:
        done = ask(root, server.url, *DOORS[door], "--workers", "1", "--llm-deadline", "0.1")
    assert done.code == 3
    assert "deadline" in done.err


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf"])
def test_a_deadline_is_a_number_of_seconds(root: Path, seconds: str) -> None:
    done = ask(root, "http://127.0.0.1:9/v1", "-f", "w1-a", "--llm-deadline", seconds)
    assert done.code == 2
    assert "--llm-deadline: expected seconds > 0, got" in done.err
    done = run(root, "-f", "w1-a", "--llm-deadline", "9")
    assert (done.code, "--llm-deadline: needs --llm MODEL" in done.err) == (2, True)


def test_a_damaged_cache_is_set_aside_and_begun_anew(root: Path) -> None:
    cache = root / "evaluation" / "llm-cache.sqlite3"
    damaged = b"none " * 99
    write(root, {"evaluation/llm-cache.sqlite3": damaged})
    counts: list[int] = []
    lines: Callable[[Done], list[str]] = lambda done: [  # noqa: E731
        line for line in done.out.splitlines() if "damaged" in line
    ]
    with LlmServer(honest) as server:
        for expected in (1, 0):
            done = ask(root, server.url, "-f", "w1-a")
            assert done.code == 0
            assert len(lines(done)) == expected
            counts.append(len(server.requests))
    assert counts == [8, 8]  # the second run pays for nothing
    assert cache.with_name("llm-cache.sqlite3.corrupt").read_bytes() == damaged
