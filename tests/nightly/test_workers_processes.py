"""Processes: the same bytes as in one, a killed one costs its file, and none stays behind."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from boards_folders import BOARD_FILES, column, contents, evaluate, folder_of, import_worker
from cli import ROOT, assert_refused, q, run, write
from forecasteval.common.errors import EvaluationError
from forecasteval.nightly import tasks
from forecasteval.nightly.store import StoredResult

WORKER: Final = """
import os, signal, time
from multiprocessing.connection import Connection
from eval import FutureXEvaluator

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def send(connection, message, *place):
    # it need not go through a pipe whole
    return die() if len(message) > 4096 else sent(connection, message, *place)

sent = Connection.send_bytes

def score(files):
    path = files.path
    once = path.parent / ".killed"
    if path.stem.startswith("always") or (path.stem.startswith("once") and not once.exists()):
        once.touch()
        die()
    if path.stem.startswith("fault"):
        raise KeyError(path.stem)
    if path.stem.startswith("slow"):
        (path.parent / f".pid-{os.getpid()}").touch()
        time.sleep(60)
    if path.stem.startswith("large"):
        Connection.send_bytes = send
    return FutureXEvaluator().evaluate_file(path)
"""


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A score function that a process can import, and that does to its process what a file's name
    says.
    """
    monkeypatch.setattr(tasks, "POOL_BYTES", 0)
    return import_worker(tmp_path, monkeypatch, "worker_for_test", WORKER)


PROGRAM: Final = """
import signal
import sys
from pathlib import Path
from forecasteval.nightly import run as folder, tasks
from forecasteval.common.errors import EvaluationError
from forecasteval.common.errors import run_command

def run():
    from worker_for_test import score
    evaluate(Path(sys.argv[1]), score, processes=int(sys.argv[2]))
    assert sys.argv[2] != "0" or "concurrent.futures.process" not in sys.modules
    return 0

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored, if it is below nohup
    from boards_folders import evaluate
    tasks.POOL_BYTES = 0
    sys.exit(run_command("program.py", run))
"""


def start(folder: Path, root: Path, count: int, **variables: str) -> subprocess.Popen[str]:
    """A program that evaluates `root` in `count` processes, as the leader of a process group."""
    write(folder, {"program.py": PROGRAM, "worker_for_test.py": WORKER})
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests"), str(folder)]),
        **variables,
    }
    command = [sys.executable, str(folder / "program.py"), str(root), str(count)]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, stdout=pipe, stderr=pipe, text=True, env=env, start_new_session=True
    )


def many(root: Path) -> Path:
    for number in range(12):
        rng = random.Random(number)
        records = [q(f"q{n}", answer=rng.choice(["A", "B", ""])) for n in range(12)]
        write(root, {f"prediction/m{number:02}.json": records})
    return write(root, {"prediction/bad.json": "{", "prediction/m20.json": [q(level=7)]})


def test_one_process_or_two_on_any_hash_seed(tmp_path: Path) -> None:
    outcomes = []
    for root, count, seed in (("a", 0, "1"), ("b", 2, "2")):
        process = start(tmp_path, many(tmp_path / root), count, PYTHONHASHSEED=seed)
        assert process.communicate(timeout=60) == ("", "")
        assert process.returncode == 0
        outcomes.append(contents(tmp_path / root))
    assert len(outcomes[0]) == 12 + len(BOARD_FILES)
    assert outcomes[0] == outcomes[1]


def test_small_folders_start_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "run_in_processes", lambda *_: pytest.fail("a process"))
    assert evaluate(many(tmp_path), processes=8)["evaluated"] == 12


@pytest.mark.parametrize("victim", ["always", "once"])
@pytest.mark.parametrize("count", [1, 2])
def test_killed_process_costs_at_most_its_file(
    tmp_path: Path, worker: Any, victim: str, count: int
) -> None:
    names = ["a1", "a2", "a3", "a4", victim, "y1", "y2", "fault"]
    write(tmp_path, {f"prediction/{name}.json": [q()] for name in names})
    board = evaluate(tmp_path, worker, processes=count)
    reasons = {entry["file"]: entry["reason"] for entry in board["failed"]}
    fault = {"fault.json": "internal fault, please report it: KeyError: 'fault'"}
    if victim == "always":
        assert reasons == {
            "always.json": "the process that scored it was killed (out of memory?)",
            **fault,
        }
    else:  # it was innocent, or is well again
        assert reasons == fault
    assert column(board, "name") == [
        "a1",
        "a2",
        "a3",
        "a4",
        *(["once"] if victim == "once" else []),
        "y1",
        "y2",
    ]
    assert not list((tmp_path / "evaluation").glob("*.tmp"))


def test_no_process_sends_a_long_message(tmp_path: Path, worker: Any) -> None:
    """Killed while it sends one, it would leave half of it, and the run would wait for the rest for
    ever.
    """
    write(
        tmp_path,
        {f"prediction/large{n}.json": [q(f"q{place}") for place in range(200)] for n in range(4)},
    )
    board = evaluate(tmp_path, worker, processes=2)
    assert (board["evaluated"], board["failed"]) == (4, [])


def test_error_of_the_run_ends_the_processes(
    tmp_path: Path, worker: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise EvaluationError("disk full")

    monkeypatch.setattr(StoredResult, "move_to", refuse)
    write(tmp_path, {"prediction/a.json": [q()], "prediction/slow.json": [q()]})
    with pytest.raises(EvaluationError, match="disk full"):
        evaluate(tmp_path, worker, processes=2)
    assert all(has_ended(pid) for pid in worker_pids(tmp_path))
    assert not list((tmp_path / "evaluation").glob("*.tmp"))


def worker_pids(root: Path) -> list[int]:
    return [int(path.name.removeprefix(".pid-")) for path in (root / "prediction").glob(".pid-*")]


def has_ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return (
            Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        )  # where nobody buries it
    except ProcessLookupError:
        return True
    except FileNotFoundError:  # it went between the lines, or there is no /proc
        return Path("/proc/self").exists()


@pytest.mark.parametrize("blow", ["parent killed", "interrupted"])
def test_no_process_stays_behind(tmp_path: Path, blow: str) -> None:
    """The parent killed, or Ctrl-C, which a terminal sends to all processes of the group."""
    root = write(tmp_path / "root", {f"prediction/slow{n}.json": [q()] for n in range(4)})
    process = start(tmp_path, root, 2)
    try:
        wait_until(lambda: len(worker_pids(root)) == 2)
        if blow == "interrupted":
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.kill()
        out, err = process.communicate(
            timeout=60
        )  # the pipe ends with the last process that holds it
        wait_until(lambda: all(map(has_ended, worker_pids(root))))
        assert out == ""
        if blow == "interrupted":
            assert (process.returncode, err) == (130, "program.py: interrupted\n")
            assert not list((root / "evaluation").glob("*.tmp"))
        else:  # then Python itself may tell of semaphores that it removed
            assert (process.returncode, "Traceback" in err) == (-signal.SIGKILL, False)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()  # closes the pipes and waits


def wait_until(condition: Callable[[], bool]) -> None:
    """For as long as a loaded machine may need; a process that stays for its whole minute of sleep
    is too late.
    """
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    pytest.fail("waited in vain")


def test_the_dataset_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small file of answers to a large dataset goes to a process, too."""
    folder_of(tmp_path, a="AAAA")
    size = sum(
        (tmp_path / name).stat().st_size for name in ("prediction/d-a.json", "dataset/d.json")
    )
    apart = []
    in_processes = tasks.run_in_processes
    monkeypatch.setattr(
        tasks, "run_in_processes", lambda *given: apart.append(bound) or in_processes(*given)
    )
    for bound in (size, size - 1):
        monkeypatch.setattr(tasks, "POOL_BYTES", bound)
        assert run(tmp_path, "nightly", "--force").code == 0
    assert apart == [size - 1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--workers", "0", "--llm", "m"], ["--workers", "got 0"]),
        (["--workers", "2"], ["--workers", "needs --llm"]),
        (["--llm-policy", "always"], ["--llm-policy", "needs --llm"]),
        (["--no-cache"], ["--no-cache", "needs --llm"]),
        (["--jobs", "0"], ["--jobs: expected a number >= 1, got 0"]),
        (["--jobs", "2", "--cluster", "tcp://a:1"], ["--cluster: not allowed with", "--jobs"]),
        (["--llm", "m", "--cluster", "tcp://a:1"], ["--llm: scores in one process", "--cluster"]),
        (["--llm", "m", "--jobs", "2"], ["--llm: scores in one process", "--jobs 2"]),
    ],
)
def test_options_that_are_refused(tmp_path: Path, options: list[str], words: list[str]) -> None:
    folder_of(tmp_path, a="AAAA")
    assert_refused(run(tmp_path, "nightly", *options, OPENAI_API_KEY="key"), *words)
    assert not list(tmp_path.glob("evaluation/*.json"))
