"""`ask`: prompts out, a prediction file of the replies in; nothing else of a record is sent.

Real HTTP on 127.0.0.1. What only a process has (signals, a full disk, what it imports) is tried in
a process.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from cli import ROOT, Done, run, run_process, with_root, write
from llm_server import AT_ONCE, NO_RETRY, LlmServer, Reply, Request, Script, completion, error

KEY: Final = "sk-canary-7f3a9c51e2"
QUESTIONS: Final = [
    {"id": f"q{n}", "prompt": f"Will it rain on day {n}?", "level": 1, "ground_truth": "Yes",
     "Std": None, "Description": "Secret"}
    for n in range(12)
]  # fmt: skip
EVENT: Final = {
    "problem_id": "e1", "title": "Who wins?", "options": ["Ada", "Bea"], "correct_answer": "Bea",
    "end_date": "2999-01-01", "odds": [0.61, 0.4], "rules": "The first to finish.",
    "exclusive": True,
}  # fmt: skip
NAME: Final = "w1-m-x-1"


def yes(request: Request) -> Reply:
    return completion(r"I think \boxed{Yes}", model="m-2025")


def but(replies: Mapping[int, Reply]) -> Script:
    """A model that says yes, except for these days."""

    def script(request: Request) -> Reply:
        found = re.search(r"day (\d+)", request.prompt)
        return replies.get(int(found[1]) if found else -1, yes(request))

    return script


@pytest.fixture
def folder(tmp_path: Path, server: LlmServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    server.script = yes
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return write(tmp_path, {"dataset/w1.json": QUESTIONS, "dataset/pa.json": [EVENT]})


def ask(folder: Path, *words: str) -> Done:
    return run(folder, "ask", *words, "--model", "m/x:1")


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def rows(folder: Path, name: str = NAME) -> list[dict[str, Any]]:
    return read(folder / f"prediction/{name}.jsonl")


def part(folder: Path, name: str = NAME) -> Path:
    return folder / f"prediction/.{name}.jsonl.part"


def list_files(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "prediction").iterdir())


def days(server: LlmServer) -> list[int]:
    """The days that were asked about, since the last look."""
    found = [int(request.prompt.split()[-1][:-1]) for request in server.requests]
    server.requests.clear()
    return sorted(found)


# --- What is sent, and what is stored ---


def test_only_the_prompt_is_sent(folder: Path, server: LlmServer) -> None:
    done = ask(folder, "w1")
    assert (done.code, done.out.split("\n")[0]) == (0, f"FutureX  {NAME}"), done.err
    for request in server.requests:
        message = {"role": "user", "content": request.prompt}
        assert request.body == {"model": "m/x:1", "messages": [message]}
    assert {request.prompt for request in server.requests} == {q["prompt"] for q in QUESTIONS}
    assert list_files(folder) == [f"{NAME}.jsonl"]
    assert [row["id"] for row in rows(folder)] == [q["id"] for q in QUESTIONS]  # as the dataset
    row = rows(folder)[0]
    assert datetime.now(UTC) >= datetime.fromisoformat(row.pop("timestamp"))
    assert re.fullmatch("[0-9a-f]{16}", row.pop("prompt_sha256"))
    assert row == {
        "id": "q0", "answer": r"I think \boxed{Yes}", "model": "m-2025", "finish_reason": "stop",
        "request": {"model": "m/x:1"},
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }  # fmt: skip
    assert run(folder, "-f", NAME).out == done.out


def test_the_key_stands_nowhere(folder: Path, server: LlmServer) -> None:
    server.script = but({1: error(418, f"bad {KEY}"), 2: completion(f"{KEY}", model=KEY)})
    done = ask(folder, "w1")
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    written = "".join(path.read_text() for path in (folder / "prediction").iterdir())
    assert KEY not in done.out + done.err + written
    assert "bad …" in done.err
    refused = ask(folder, "w1", "--param", f"api_key={KEY}")
    assert (refused.code, KEY in refused.err) == (2, False)


def test_thoughts_are_kept_apart(folder: Path, server: LlmServer) -> None:
    message = {"content": r"\boxed{Yes}", "reasoning_content": "It rains a lot."}
    body = {"choices": [{"message": message, "finish_reason": "stop"}]}
    server.script = lambda request: Reply(json.dumps(body).encode())
    assert ask(folder, "w1").code == 0
    row = rows(folder)[0]
    assert (row["answer"], row["thinking"]) == (r"\boxed{Yes}", "It rains a lot.")


def test_questions_that_are_void_or_share_an_id(folder: Path, server: LlmServer) -> None:
    twins = [{**QUESTIONS[0], "prompt": f"Will it rain on day {n}?"} for n in (70, 71)]
    write(folder, {"dataset/w2.json": [*twins, {**QUESTIONS[1], "void": True}]})
    done = ask(folder, "w2")
    assert (done.code, days(server)) == (0, [70, 71])
    assert {row["prompt"] for row in rows(folder, "w2-m-x-1")} == {q["prompt"] for q in twins}
    assert "Missing" in done.out


@pytest.mark.parametrize("prompt", [None, " ", 7])
def test_a_question_without_a_prompt(folder: Path, server: LlmServer, prompt: object) -> None:
    write(folder, {"dataset/w2.json": [QUESTIONS[0], {**QUESTIONS[1], "prompt": prompt}]})
    done = ask(folder, "w2")
    assert (done.code, server.requests) == (2, [])
    assert "w2.json: record 2: expected a question with 'id' and 'prompt'" in done.err


def test_what_a_server_refuses_is_left_out(folder: Path, server: LlmServer) -> None:
    server.script = lambda request: (
        error(400, "Unsupported value: 'temperature'", AT_ONCE)
        if "temperature" in request.body
        else yes(request)
    )
    done = ask(folder, "w1", "--param", "temperature=0", "--workers", "1")
    assert (done.code, len(server.requests)) == (0, 13)
    assert "asked without what the server refused: temperature 12" in done.err
    done = ask(folder, "w1", "--param", "temperature=1")
    assert done.code == 2
    assert "got 12 of model m/x:1, temperature 0" in done.err


def test_the_settings_of_the_folder_count(folder: Path) -> None:
    """As they do for `-f`."""
    write(folder, {"forecasteval.toml": 'rules = "official-2026"\nlate = "keep"\n'})
    assert "rules:official-2026" in ask(folder, "w1").out
    write(folder, {"forecasteval.toml": "rules = 7\n"})
    assert ask(folder, "w1").code == 2


# --- What is left, and how it goes on ---


def test_a_second_run_asks_what_is_missing(folder: Path, server: LlmServer) -> None:
    server.script = but({3: error(500), 5: error(500)})
    done = ask(folder, "w1", "--workers", "1")
    assert done.code == 3
    assert "10 of 12 questions answered" in done.err
    assert "failed, status 500: 2 (q3, q5)" in done.err
    assert "warning: partial: 10 of 12 questions answered, the others count" in done.out
    assert "Overall          0.8333" in done.out
    assert done.err.splitlines()[-1].endswith("--finish it takes the replies as they are")
    assert list_files(folder) == [part(folder).name]
    assert run(folder, "nightly").code == 0  # which takes no half of a file
    assert "m-x-1" not in (folder / "evaluation/leaderboard.md").read_text()
    path = part(folder)
    path.write_bytes(path.read_bytes()[:-20])  # as a crash leaves it
    server.script = yes
    days(server)
    done = ask(folder, "w1")
    assert (done.code, days(server)) == (0, [3, 5, 11])
    assert "1 damaged line left out" in done.err
    assert [row["id"] for row in rows(folder)] == [q["id"] for q in QUESTIONS]
    assert list_files(folder) == [f"{NAME}.jsonl"]
    done = ask(folder, "w1")
    assert (done.code, days(server), "12 of 12" in done.err) == (0, [], True)


def test_what_asking_again_cannot_mend_leaves_nothing_open(folder: Path, server: LlmServer) -> None:
    server.script = but({
        3: error(400, "content management policy"), 4: error(400, "maximum context length is 9"),
    })  # fmt: skip
    done = ask(folder, "w1")
    assert (done.code, len(rows(folder))) == (0, 12)
    assert f"{NAME}.jsonl: 10 of 12 questions answered" in done.err
    assert 'failed, content filter: 1 (q3); the server says: "content management' in done.err
    assert "failed, too long: 1 (q4)" in done.err
    assert list_files(folder) == [f"{NAME}.jsonl"]
    assert re.search(r"Overall +0.8333 .* 12 +2 +0$", done.out, re.MULTILINE)
    failed = {row["id"]: row["failed"] for row in rows(folder)[10:]}
    assert failed["q3"].startswith("content filter: content management policy")
    assert failed["q4"].startswith("too long: maximum context length")


def test_what_asking_again_cannot_mend_is_asked_again_by_an_option_alone(
    folder: Path, server: LlmServer
) -> None:
    server.script = but({3: error(400, "content management policy"), 4: completion("", "length")})
    assert ask(folder, "w1").code == 3  # q4 is open
    server.script = yes
    days(server)
    done = ask(folder, "w1")
    assert (done.code, days(server)) == (0, [4])
    expected = "failed before, content filter: 1 (q3); they count as missing, --again asks again"
    assert expected in done.err
    assert "11 of 12 questions answered" in done.err
    assert rows(folder)[-1]["id"] == "q3"
    done = ask(folder, "w1", "--again")
    assert (done.code, days(server), "12 of 12" in done.err) == (0, [3], True)
    assert [row["id"] for row in rows(folder)] == [q["id"] for q in QUESTIONS]


@pytest.mark.parametrize("change", ["prompt", "limit"])
def test_what_failed_for_good_is_asked_if_the_question_changes(
    folder: Path, server: LlmServer, change: str
) -> None:
    server.script = but({3: error(400, "maximum context length is 9")})
    assert ask(folder, "w1").code == 0
    server.script = yes
    days(server)
    changed = [
        {**q, "prompt": f"Shorter: {q['prompt']}"} if q["id"] == "q3" else q for q in QUESTIONS
    ]
    words = ("--again", "--param", "max_tokens=9") if change == "limit" else ()
    write(folder, {"dataset/w1.json": QUESTIONS if words else changed})
    done = ask(folder, "w1", *words)
    assert (done.code, days(server), len(rows(folder))) == (0, [3], 12), done.err
    assert rows(folder)[3]["answer"] == r"I think \boxed{Yes}"


def test_a_dataset_of_which_everything_fails_for_good(folder: Path, server: LlmServer) -> None:
    server.script = lambda request: error(400, "content management policy")
    for _ in range(2):
        done = ask(folder, "w1")
        assert "failed, content filter: 12 (q0" in done.err
        assert (done.out, list_files(folder)) == ("", [])


def test_a_refusal_is_what_the_model_says(folder: Path, server: LlmServer) -> None:
    server.script = but({3: completion(None, refusal="I cannot help")})
    assert ask(folder, "w1").code == 0
    assert rows(folder)[3]["answer"] == "I cannot help"


def test_a_part_is_finished_as_it_is(folder: Path, server: LlmServer) -> None:
    server.script = but({3: error(500)})
    assert ask(folder, "w1").code == 3
    days(server)
    done = ask(folder, "w1", "--finish")
    assert (done.code, days(server), list_files(folder)) == (0, [], [f"{NAME}.jsonl"])
    assert "partial" not in done.out
    done = ask(folder, "w1", "--finish")  # nothing is open
    assert (done.code, len(rows(folder))) == (0, 11)
    server.script = but({3: error(500), 4: error(500)})
    before = (folder / f"prediction/{NAME}.jsonl").read_bytes()
    assert ask(folder, "w1").code == 3
    assert (folder / f"prediction/{NAME}.jsonl").read_bytes() == before  # until all is there
    server.script = yes
    assert (ask(folder, "w1").code, len(rows(folder))) == (0, 12)


def test_a_limit_leaves_the_rest_open(folder: Path, server: LlmServer) -> None:
    done = ask(folder, "w1", "--limit", "5")
    assert (done.code, days(server)) == (0, [0, 1, 2, 3, 4])
    assert "only the first 5 of 12" in done.err
    assert "partial: 5 of 12" in done.out
    assert list_files(folder) == [part(folder).name]
    assert ask(folder, "w1", "--limit", "7").code == 0
    assert days(server) == [5, 6]
    assert (ask(folder, "w1").code, days(server)) == (0, [7, 8, 9, 10, 11])


def test_replies_that_were_cut_off(folder: Path, server: LlmServer) -> None:
    """One with a text may hold the answer; one without is a failure."""
    server.script = but({2: completion("It may", "length"), 3: completion("", "length")})
    done = ask(folder, "w1")
    assert (done.code, "cut off by a limit of tokens: 1 (q2)" in done.err) == (3, True)
    assert "--param max_tokens=N allows more" in done.err
    server.script = but({2: error(500)})
    days(server)
    assert ask(folder, "w1", "--again", "--param", "max_tokens=9000").code == 3
    assert days(server) == [2, 3]
    server.script = yes
    assert rows(folder)[2]["answer"] == "It may"  # not lost by a failure
    assert ask(folder, "w1", "--again", "--param", "max_tokens=9000").code == 0
    assert days(server) == [2]
    assert rows(folder)[2]["answer"] == r"I think \boxed{Yes}"


def test_another_prompt_is_not_gone_on_with(folder: Path, server: LlmServer) -> None:
    assert ask(folder, "w1").code == 0
    changed = [{**q, "prompt": str(q["prompt"]).replace("rain", "snow")} for q in QUESTIONS]
    write(folder, {"dataset/w1.json": changed})
    done = ask(folder, "w1")
    assert (done.code, len(server.requests)) == (2, 12)
    assert "got 12 of another prompt" in done.err


def test_a_dataset_that_has_grown(folder: Path, server: LlmServer) -> None:
    assert ask(folder, "w1").code == 0
    days(server)
    grown = [{**QUESTIONS[0], "id": "new", "prompt": "Will it rain on day 99?"}, *QUESTIONS]
    write(folder, {"dataset/w1.json": grown})
    assert (ask(folder, "w1").code, days(server)) == (0, [99])
    assert [row["id"] for row in rows(folder)] == [q["id"] for q in grown]


def test_runs_and_a_file_that_was_cut_in_its_first_line(folder: Path, server: LlmServer) -> None:
    write(folder, {f"prediction/{NAME}@2.jsonl": '{"id": "q1"'})
    assert ask(folder, "w1", "--runs", "2").code == 0
    assert [len(rows(folder, f"{NAME}{run}")) for run in ("", "@2")] == [12, 12]
    assert len(server.requests) == 24


@pytest.mark.parametrize(
    ("files", "words", "expected"),
    [
        ({f"prediction/{NAME}.json": {}}, (), "beside it"),
        ({"dataset/w1-m.json": QUESTIONS}, (), "w1-m.json"),
        ({}, ("-o", "x.csv"), "ends in .jsonl"),
        ({}, ("--param", "temperature"), "key=value"),
        ({}, ("--param", "messages=[]"), "key=value"),
        ({}, ("--param", "api_key=another"), "key=value"),
        ({}, ("--market",), "events with prices"),
        ({}, ("--batch", "b.jsonl", "--runs", "2"), "writes one run"),
        ({"dataset/w1.json": []}, (), "expected questions"),
    ],
)
def test_what_cannot_be_asked(
    folder: Path, server: LlmServer, files: Any, words: tuple[str, ...], expected: str
) -> None:
    write(folder, files)
    done = ask(folder, "w1", *words)
    assert (done.code, server.requests, done.out) == (2, [], "")
    assert expected in done.err


def test_a_key_that_is_refused_leaves_no_file(folder: Path, server: LlmServer) -> None:
    server.script = lambda request: error(401)
    done = ask(folder, "w1", "--workers", "1")
    assert (done.code, len(server.requests) < 12, list_files(folder)) == (3, True, [])
    assert "failed, key refused: 1 (q0)" in done.err
    assert "failed, not sent: 11 (q1, " in done.err
    assert "OPENAI_API_KEY is the key" in done.err


def test_questions_without_truths_are_asked_and_pending(folder: Path) -> None:
    write(folder, {"dataset/w1.json": [{**q, "ground_truth": None} for q in QUESTIONS]})
    done = ask(folder, "w1")
    assert (done.code, done.out, len(rows(folder))) == (0, "", 12)
    assert "no truth yet: 12 questions, all pending" in done.err


# --- Processes ---


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(ROOT / "eval.py"), "ask", *words, "--model", "m/x:1"]
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(with_root(folder, tuple(command)), **pipes)


def wait_for_rows(folder: Path, count: int) -> None:
    """Wait until some replies are stored."""
    end = time.monotonic() + 60
    path = part(folder)
    while not path.exists() or len(path.read_bytes().splitlines()) <= count:
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, -signal.SIGTERM), (signal.SIGINT, 130)],
)
def test_a_run_that_ends_early_goes_on(
    folder: Path, server: LlmServer, number: signal.Signals, code: int
) -> None:
    many = [{**QUESTIONS[0], "id": f"q{n}", "prompt": f"Rain on day {n}?"} for n in range(60)]
    write(folder, {"dataset/w1.json": many})
    server.script = lambda request: yes(request)._replace(wait=0.02)
    for count in (5, 20):
        process = start(folder, "w1", "--workers", "2")
        wait_for_rows(folder, count)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out) == (code, "")
        assert "Traceback" not in err
        if number == signal.SIGINT:
            assert "waiting for the replies under way" in err
            assert err.splitlines()[-2].endswith("goes on")
        assert not (folder / f"prediction/{NAME}.jsonl").exists()
    assert ask(folder, "w1").code == 0
    assert [row["id"] for row in rows(folder)] == [q["id"] for q in many]
    assert list_files(folder) == [f"{NAME}.jsonl"]
    lost = 4 if number != signal.SIGINT else 0  # two workers, ended twice
    assert len(server.requests) <= 60 + lost


def test_two_runs_on_one_file(folder: Path, server: LlmServer) -> None:
    server.script = lambda request: yes(request)._replace(wait=0.2)
    process = start(folder, "w1", "--workers", "1")
    wait_for_rows(folder, 1)
    done = ask(folder, "w1")
    assert (done.code, "another run adds replies to this file" in done.err) == (5, True)
    process.communicate(timeout=60)
    assert (process.returncode, len(rows(folder))) == (0, 12)
    assert len(server.requests) == 12


def test_a_full_disk_loses_nothing(folder: Path, server: LlmServer) -> None:
    limit = 2000  # bytes of a file
    script = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
sys.argv[0] = "eval.py"
from forecasteval.cli import main
sys.exit(main(sys.argv[1:]))
"""
    command = [sys.executable, "-B", "-c", script, "ask", "w1", "--model", "m/x:1"]
    done = subprocess.run(
        [*command, "--workers", "1", "--root", str(folder)],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr
    assert part(folder).stat().st_size <= limit
    asked = len(server.requests)
    assert ask(folder, "w1").code == 0
    assert [row["id"] for row in rows(folder)] == [q["id"] for q in QUESTIONS]
    assert len(server.requests) - asked <= 12 - 3


def test_a_rerun_with_nothing_left_needs_no_client(folder: Path) -> None:
    assert ask(folder, "w1").code == 0
    script = """
import sys
from forecasteval.cli import main
code = main(sys.argv[1:])
sys.exit(10 if {"openai", "httpx", "filelock", "tqdm"} & sys.modules.keys() else code)
"""
    words = ["ask", "w1", "--model", "m/x:1", "--root", str(folder)]
    done = subprocess.run([sys.executable, "-c", script, *words], cwd=ROOT, capture_output=True)
    assert done.returncode == 0


# --- Servers ---


def test_a_server_that_is_busy(folder: Path, server: LlmServer) -> None:
    """It refuses each prompt twice."""
    refused = Counter[str]()

    def script(request: Request) -> Reply:
        refused[request.prompt] += 1
        if refused[request.prompt] <= 2:
            return error(429, headers={"retry-after-ms": "5"})
        return yes(request)

    server.script = script
    assert (ask(folder, "w1").code, len(server.requests)) == (0, 36)


def test_several_models_behind_one_name(folder: Path, server: LlmServer) -> None:
    server.script = lambda request: completion("Yes", model=f"srv-{request.number % 2}")
    assert "the server names several models: srv-" in ask(folder, "w1").err


def test_prompts_that_a_server_may_have_cut(folder: Path, server: LlmServer) -> None:
    """Ollama cuts them at its context, and says nothing; the usage of short ones is no evidence."""
    long = [{**QUESTIONS[n], "prompt": f"{'word ' * 2000}{n}?"} for n in (0, 1)]
    write(folder, {"dataset/w2.json": [*long, QUESTIONS[2]]})
    usages = {"0": 1000, "1": 2100, "2": 1}
    server.script = lambda request: completion(
        "Yes", usage={"prompt_tokens": usages[request.prompt.split()[-1][:-1]]}
    )
    done = ask(folder, "w2")
    assert "may have cut them: 1 (q0)" in done.err


def test_rows_of_other_programs_are_replies(folder: Path, server: LlmServer) -> None:
    odd = {"id": "q1", "answer": "Yes", "left_out": 7, "usage": [], "request": "m", "model": None}
    write(folder, {f"prediction/{NAME}.jsonl": [{"id": "q0", "answer": "No"}, odd]})
    done = ask(folder, "w1")
    assert (done.code, "got 1 of" in done.err) == (2, True)
    write(folder, {f"prediction/{NAME}.jsonl": [{"id": 0}, {**odd, "request": {"model": "m/x:1"}}]})
    done = ask(folder, "w1")
    assert (done.code, days(server)) == (0, [0, *range(2, 12)])
    assert len(rows(folder)) == 13  # with the one that is of no question


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(b"<html>busy</html>"), "bad body"),
        (completion(""), "empty"),
        (error(422), "bad request"),
        (error(429), "rate limit"),
        (Reply(drop=True, headers=NO_RETRY), "connection"),
    ],
)
def test_one_that_fails_costs_only_itself(
    folder: Path, server: LlmServer, reply: Reply, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forecasteval.asking.commands._RETRIES", 0)
    server.script = but({3: reply})
    done = ask(folder, "w1")
    assert (done.code, f"failed, {kind}: 1 (q3)" in done.err) == (3, True), done.err
    server.script = yes
    assert (ask(folder, "w1").code, len(rows(folder))) == (0, 12)


def test_a_request_without_a_byte_ends(folder: Path, server: LlmServer) -> None:
    server.script = but({3: Reply(wait=60)})
    done = ask(folder, "w1", "--timeout", "1", "--deadline", "2")
    assert done.code == 3
    assert "failed, deadline: 1 (q3)" in done.err
    assert "--deadline" not in done.err.splitlines()[-1]


def test_a_server_that_stops_behind_the_headers(folder: Path, server: LlmServer) -> None:
    """Each of its requests is heard, so that only their number can end the call."""
    server.script = but({3: yes(None)._replace(drip=60)})  # type: ignore[arg-type]
    done = ask(folder, "w1", "--timeout", "1")
    assert (done.code, "failed, timeout: 1 (q3); --timeout S" in done.err) == (3, True)
    assert days(server).count(3) == 3


def test_a_server_that_is_down_is_given_up(folder: Path, server: LlmServer) -> None:
    server.script = lambda request: error(503)
    done = ask(folder, "w1", "--workers", "1")
    assert (done.code, done.out, len(server.requests) < 12) == (3, "", True)
    assert "failed, status 503: 10 (" in done.err
    assert "failed, not sent: 2 (q10, q11)" in done.err


# --- Prophet Arena ---


def test_probabilities(folder: Path, server: LlmServer) -> None:
    server.script = lambda request: completion('So:\n{"Ada": 0.25, "Bea": 0.75}')
    assert ask(folder, "pa", "--runs", "2").code == 0
    prompt = server.requests[0].prompt
    assert prompt.startswith(f"Today is {datetime.now(UTC):%Y-%m-%d}.\n")
    assert "The first to finish." in prompt
    assert "Exactly one of them comes true" in prompt
    assert "0.61" not in prompt
    for name in ("pa-m-x-1", "pa-m-x-1@2"):  # two runs of one forecaster
        (row,) = rows(folder, name)
        assert (row["problem_id"], row["username"]) == ("e1", "m/x:1")
        assert row["prediction"] == [0.25, 0.75]
    board = run(folder, "nightly")
    assert (board.code, board.out.count("m/x:1")) == (0, 1), board.err
    assert "Ada 0.61" in ask(folder, "pa", "--market", "--dry-run").out
    assert ask(folder, "pa", "--market").code == 2  # the file has replies without prices


def test_a_prompt_is_the_same_tomorrow(
    folder: Path, server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Tomorrow(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime(2100, 1, 2, tzinfo=tz)

    server.script = lambda request: completion('{"Ada": 0.25, "Bea": 0.75}')
    assert ask(folder, "pa").code == 0
    monkeypatch.setattr("forecasteval.prophet.prompts.datetime", Tomorrow)
    assert ask(folder, "pa").code == 0
    assert len(server.requests) == 1
    assert "Today is 2100-01-02." in ask(folder, "pa", "--dry-run").out


@pytest.mark.parametrize(
    ("outcome", "declared"), [("Ada", None), (["Ada", "Bea"], None), ("Ada", False)]
)
def test_the_outcome_changes_no_prompt(folder: Path, outcome: object, declared: Any) -> None:
    """Two winners would say that the options do not exclude one another."""
    event = {**EVENT, "correct_answer": outcome, "exclusive": declared}
    write(folder, {"dataset/pa.json": [event]})
    shown = ask(folder, "pa", "--dry-run").out
    assert ("If exactly one of them" in shown) == (declared is None)
    assert ("question of its own" in shown) == (declared is False)


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ('{"Ada": 25, "Bea": 75}', "no number in [0, 1]"),
        ('{"Ada": "likely", "Bea": 0.1}', "no number in [0, 1]"),
        ('{"Ada": 0.2}', "without a probability"),
        ('{"Ada": 0.9, "Bea": 0.9}', "do not add up to 1"),
        ("Ada, surely", "no JSON object"),
    ],
)
def test_what_is_no_forecast(folder: Path, server: LlmServer, reply: str, problem: str) -> None:
    server.script = lambda request: completion(reply)
    done = ask(folder, "pa")
    (row,) = rows(folder, "pa-m-x-1")
    assert problem in row["problem"]
    assert "prediction" not in row
    assert "not read" in done.err
    ask(folder, "pa")
    assert len(server.requests) == 1  # asking again would help who does not follow the form


@pytest.mark.parametrize(
    "reply",
    [
        '{"Ada": 1, "Bea": 0}\nNo: {"Ada": 0.25, "Bea": 0.75}',
        '```json\n{"probabilities": {"Ada": 0.25, "Bea": 0.75}}\n```',
        '<think>{"Ada": 0.9}</think>{"Bea": "0.75", "Ada": ".25", "why": "it rains"}',
        '{"Ada": 0.25, "Bea": 0.75}\nBoth {train} hard.',
    ],
)
def test_forms_of_a_forecast(folder: Path, server: LlmServer, reply: str) -> None:
    server.script = lambda request: completion(reply)
    ask(folder, "pa")
    assert rows(folder, "pa-m-x-1")[0]["prediction"] == [0.25, 0.75]


# --- RxnOptBench ---


def test_a_folder_of_six_files(folder: Path, server: LlmServer) -> None:
    for path in (ROOT / "dataset").glob("multiple_choice_*.json"):
        shutil.copy(path, folder / "dataset")
    server.script = lambda request: completion("**Option 1**")
    done = ask(folder, str(folder / "dataset"))
    assert done.code == 0, done.err
    assert "Reference against control" in done.out
    assert "relative" not in "".join(request.prompt for request in server.requests)
    assert len(list_files(folder)) == 6
    one = folder / "prediction/all.jsonl"
    again = ask(folder, str(folder / "dataset"), "-o", str(one))
    assert (again.code, len(read(one))) == (0, len(server.requests) // 2)
    assert re.findall("Reference against control.*", again.out) == re.findall(
        "Reference against control.*", done.out
    )


# --- Without a server ---


def test_a_dry_run_sends_nothing(folder: Path, server: LlmServer) -> None:
    done = ask(folder, "w1", "--dry-run", "--runs", "2", "--limit", "5")
    assert (done.code, server.requests) == (0, [])
    assert done.out.startswith("10 prompts, about 60 tokens; the first, of q0:\n\nWill it rain")
    assert not (folder / "prediction").exists()


def test_a_batch(folder: Path, server: LlmServer) -> None:
    batch, output = folder / "in.jsonl", folder / "out.jsonl"
    words = ("w1", "--param", "temperature=0")
    assert ask(folder, *words, "--batch", str(batch)).code == 0
    lines = read(batch)
    assert lines[0]["body"] == {
        "model": "m/x:1", "temperature": 0,
        "messages": [{"role": "user", "content": "Will it rain on day 0?"}],
    }  # fmt: skip
    assert "Secret" not in batch.read_text()
    body = json.loads(completion("Yes", created=1_700_000_000).body)
    replies = [
        {"custom_id": line["custom_id"], "response": {"status_code": 200, "body": body}}
        for line in lines[:-2]
    ]
    failed = {"custom_id": "q10", "response": {"status_code": 500, "body": {}}}
    stray = {"custom_id": "other", "response": {"status_code": 200, "body": body}}
    write(folder, {"out.jsonl": [*replies, failed, stray]})
    done = ask(folder, *words, "--replies", str(output))
    assert (done.code, len(read(part(folder)))) == (3, 11)  # ten rows and the command
    assert "failed, failed in the batch: 1 (q10)" in done.err
    assert "failed, not in the batch: 1 (q11)" in done.err
    assert "replies to no question: 1 (other)" in done.err
    assert not server.requests
    assert ask(folder, *words).code == 0  # a server answers the rest
    assert days(server) == [10, 11]
    assert rows(folder)[0]["timestamp"] == "2023-11-14T22:13:20+00:00"
    assert ask(folder, *words, "--replies", str(folder / "dataset/w1.json")).code == 2


def test_what_a_batch_refuses_for_good(folder: Path) -> None:
    body = json.loads(completion("Yes").body)
    filtered = {"error": {"message": "filtered", "code": "content_filter"}}
    replies: list[Any] = [
        {"custom_id": f"q{n}", "response": {"status_code": 200, "body": body}} for n in range(11)
    ]
    replies.append({"custom_id": "q11", "response": {"status_code": 400, "body": filtered}})
    write(folder, {"out.jsonl": replies})
    done = ask(folder, "w1", "--replies", str(folder / "out.jsonl"))
    assert (done.code, len(rows(folder))) == (0, 12)
    assert rows(folder)[-1]["failed"] == "content filter"
    assert "failed, content filter: 1 (q11); asking again cannot mend it" in done.err


def test_a_batch_knows_ids_only(folder: Path) -> None:
    twins = [{**QUESTIONS[0], "prompt": f"Will it rain on day {n}?"} for n in (70, 71)]
    write(folder, {"dataset/w1.json": twins})
    done = ask(folder, "w1", "--batch", str(folder / "in.jsonl"))
    assert (done.code, "ids that are given once" in done.err) == (2, True)


# --- The server for trying ---


def test_the_echo_server(folder: Path) -> None:
    """Each benchmark from a dataset to a score by one command."""
    for path in (ROOT / "dataset").glob("multiple_choice_*.json"):
        shutil.copy(path, folder / "dataset")
    command = [sys.executable, str(ROOT / "tools/echo_server.py"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            name, _, url = server.stdout.readline().strip().partition("=")
            environment = {**os.environ, name: url}
            for dataset in ("w1", "pa", "multiple_choice_single_varying"):
                done = run_process(folder, "ask", dataset, "--model", "echo", **environment)
                assert (done.code, bool(done.out)) == (0, True), done.err
        finally:
            server.terminate()
    assert rows(folder, "w1-echo")[0]["answer"].endswith(r"\boxed{Yes}")
    assert rows(folder, "pa-echo")[0]["prediction"] == [0.5, 0.5]
    words = shlex.split("ask w1 --model echo")
    assert run(folder, *words).code == 0  # nothing left: no server
