"""What one file may cost, in real processes: memory, time, and a process that does not listen."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

import pytest

from boards_folders import column, counts, evaluate, failures, folder_of, import_worker
from cli import assert_refused, q, run, write
from forecasteval.boards import processes
from forecasteval.boards.limits import NO_LIMITS, Limits

WORKER: Final = """
import os, signal, time
from eval import FutureXEvaluator

def score(path, dataset):
    if path.stem.startswith("hungry"):
        return bytearray(3 << 30)
    if path.stem.startswith("slow"):
        time.sleep(60)
    if path.stem.startswith("deaf"):
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
        sum(range(10**13))  # in C, where no signal is heard
    if path.stem.startswith("dead"):
        os.kill(os.getpid(), signal.SIGKILL)
    return FutureXEvaluator().evaluate_file(path)
"""


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    return import_worker(tmp_path, monkeypatch, "limits_worker", WORKER)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
@pytest.mark.parametrize(
    ("name", "limits", "reason"),
    [
        ("hungry", Limits(memory=1 << 30), "needs more memory than the 1024 MB of --memory-limit"),
        ("slow", Limits(seconds=0.5), "takes longer than the 0.5 s of --time-limit"),
        ("deaf", Limits(seconds=0.5, grace=0.5), "takes longer than the 0.5 s of --time-limit"),
    ],
)
def test_a_limit_costs_one_file(tmp_path: Path, worker: Any, name: str, limits: Limits, reason: str) -> None:
    write(tmp_path, {f"prediction/{stem}.json": [q()] for stem in ("a", name, "z")})
    board = evaluate(tmp_path, worker, processes=1, limits=limits)
    assert [(entry["file"], entry["reason"], entry["fault"]) for entry in board["failed"]] == [
        (f"{name}.json", reason, False)
    ]
    assert column(board, "name") == ["a", "z"]


@pytest.mark.parametrize("names", [["dead"], ["a", "dead"]])
def test_one_file_that_is_killed_alone(
    tmp_path: Path, worker: Any, names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large file has a process of its own even where it is the only new one."""
    write(tmp_path, {f"prediction/{stem}.json": [q()] for stem in names})
    monkeypatch.setattr(processes, "POOL_BYTES", 1)
    board = evaluate(tmp_path, worker, processes=1)
    assert [entry["file"] for entry in board["failed"]] == ["dead.json"]
    assert "was killed (out of memory?)" in board["failed"][0]["reason"]
    assert board["evaluated"] == len(names) - 1


def test_the_dataset_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small file of answers to a large dataset goes to a process, too."""
    folder_of(tmp_path, a="AAAA")
    size = sum((tmp_path / name).stat().st_size for name in ("prediction/d-a.json", "dataset/d.json"))
    seen = []
    monkeypatch.setattr(processes, "_in_processes", lambda work, tasks, *_: seen.append(1) or map(work, tasks))
    monkeypatch.setattr(processes.contextlib, "closing", processes.contextlib.nullcontext)
    for bound in (size, size - 1):
        monkeypatch.setattr(processes, "POOL_BYTES", bound)
        list(processes.score_files(_score, [_task(tmp_path)], tmp_path, 2, NO_LIMITS))
    assert seen == [1]


def _task(root: Path) -> processes.Task:
    return processes.Task(root / "prediction/d-a.json", root / "dataset/d.json", {})


def _score(path: Path, dataset: Path | None) -> Any:
    from eval import FutureXEvaluator

    return FutureXEvaluator().evaluate_file(path, [dataset] if dataset else [])


def test_on_the_command_line(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    done = run(tmp_path, "nightly", "--memory-limit", "2000", "--time-limit", "60")
    assert (done.code, done.err, counts(done)) == (0, "", (2, 0, 0))
    done = run(tmp_path, "nightly", "--force", "--time-limit", "0.0001")
    assert [line.split(": ")[1] for line in failures(done, 2)] == 2 * ["takes longer than the 0.0001 s of --time-limit"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--memory-limit", "0"], ["--memory-limit", "got 0"]),
        (["--memory-limit", "much"], ["--memory-limit", "much"]),
        (["--time-limit", "0"], ["--time-limit", "got 0"]),
        (["--time-limit", "nan"], ["--time-limit", "got nan"]),
        (["--time-limit", "-1"], ["--time-limit", "got -1"]),
        (["--verify", "--force"], ["--verify", "--force"]),
        (["--workers", "0", "--llm", "m"], ["--workers", "got 0"]),
        (["--workers", "2"], ["--workers", "needs --llm"]),
        (["--llm-policy", "always"], ["--llm-policy", "needs --llm"]),
        (["--no-cache"], ["--no-cache", "needs --llm"]),
    ],
)
def test_usage(tmp_path: Path, options: list[str], words: list[str]) -> None:
    folder_of(tmp_path, a="AAAA")
    assert_refused(run(tmp_path, "nightly", *options, OPENAI_API_KEY="key"), *words)
    assert not (tmp_path / "evaluation").exists()
