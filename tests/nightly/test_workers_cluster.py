"""A real Dask scheduler and its workers on loopback: the same bytes, whoever dies, and nothing of
what it says.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from boards_folders import BOARD_FILES, column, contents, evaluate, import_worker
from cli import ROOT, assert_refused, q, run, run_process, write
from eval import FutureXEvaluator
from forecasteval.common.errors import EvaluationError, InputError
from forecasteval.nightly import tasks, workers

WORKER: Final = """
import os, signal, time
from eval import FutureXEvaluator

def score(files):
    path = files.path
    here = path.parent
    once = path.stem.startswith("once") and not (here / ".killed").exists()
    if path.stem.startswith("always") or once:
        (here / ".killed").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if path.stem.startswith("fault"):
        raise KeyError(path.stem)
    if path.stem.startswith("end"):
        os.kill(int((here / ".scheduler").read_text()), signal.SIGKILL)
        time.sleep(60)
    if path.stem.startswith("slow"):
        (here / ".begun").touch()
        time.sleep(60)
    return FutureXEvaluator().evaluate_file(path)
"""
PROGRAM: Final = """
import signal, sys
from pathlib import Path
from boards_folders import evaluate
from forecasteval.common.errors import run_command

def run():
    from cluster_worker import score
    evaluate(Path(sys.argv[1]), score, cluster=sys.argv[2])
    return 0

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored, if it is below nohup
    sys.exit(run_command("program.py", run))
"""


class Cluster(NamedTuple):
    address: str
    scheduler: int  # its process


def await_that(happened: Callable[[], bool]) -> None:
    """Wait for what a busy machine may do late."""
    for _ in range(2400):
        if happened():
            return
        time.sleep(0.05)
    pytest.fail("nothing happened in two minutes")


@contextlib.contextmanager
def started(
    folder: Path, workers: int, package: Path = ROOT, schedulers: Path | None = None
) -> Iterator[Cluster]:
    """A scheduler on a free port and its workers, each with a nanny that starts it again; all are
    gone at the end.

    `schedulers` is where the scheduler has the package, if that is not the workers'.
    """
    write(folder, {"module/cluster_worker.py": WORKER, "module/program.py": PROGRAM})
    told, log = folder / "scheduler.json", folder / "log"
    running: list[subprocess.Popen[bytes]] = []

    def start(package: Path, *words: str) -> subprocess.Popen[bytes]:
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(package), str(folder / "module")])}
        command = [
            sys.executable,
            "-m",
            "dask",
            *words,
            "--no-dashboard",
            "--scheduler-file",
            str(told),
        ]
        with log.open("ab") as file:
            process = subprocess.Popen(
                command, env=env, stdout=file, stderr=file, cwd=folder, start_new_session=True
            )
        running.append(process)
        return process

    try:
        scheduler = start(schedulers or package, "scheduler", "--host", "127.0.0.1", "--port", "0")
        await_that(lambda: told.exists() and told.read_text().endswith("\n}"))  # all of it
        for _ in range(workers):
            start(package, "worker", "--nthreads", "1", "--host", "127.0.0.1")
        await_that(lambda: log.read_text().count("Registered to:") >= workers)
        yield Cluster(json.loads(told.read_text())["address"], scheduler.pid)
    finally:
        for process in running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


needs_dask = pytest.mark.extra("distributed")


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with started(tmp_path_factory.mktemp("cluster"), 2) as cluster:
        yield cluster


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    return import_worker(tmp_path, monkeypatch, "cluster_worker", WORKER)


def many(root: Path, *names: str) -> Path:
    for number, name in enumerate([*(f"m{number}" for number in range(6)), *names]):
        rng = random.Random(number)
        records = [q(f"q{n}", answer=rng.choice(["A", "B", ""])) for n in range(12)]
        write(root, {f"prediction/{name}.json": records})
    return write(root, {"prediction/bad.json": "{"})


@needs_dask
def test_same_bytes_and_words_as_here(tmp_path: Path, two: Cluster) -> None:
    told = []
    for name in ("here", "there"):
        for folder in ("dataset", "prediction"):
            shutil.copytree(ROOT / folder, tmp_path / name / folder)
        on = ["--cluster", two.address] if name == "there" else ["--jobs", "2"]
        done = run_process(tmp_path, "nightly", *on, "--root", ".", cwd=tmp_path / name)
        assert (done.code, done.err) == (0, "")
        told.append((done.out, contents(tmp_path / name)))
    assert told[0] == told[1]


@needs_dask
def test_killed_worker_loses_nothing(tmp_path: Path, two: Cluster, worker: Any) -> None:
    for name in ("here", "there"):
        many(tmp_path / name, "once")
    evaluate(tmp_path / "there", worker, cluster=two.address)
    assert (tmp_path / "there/prediction/.killed").exists()
    (tmp_path / "here/prediction/.killed").touch()
    evaluate(tmp_path / "here", worker)
    assert len(contents(tmp_path / "here")) == 7 + len(BOARD_FILES)
    assert contents(tmp_path / "here") == contents(tmp_path / "there")


@needs_dask
def test_file_that_kills_its_workers_is_named(tmp_path: Path, two: Cluster, worker: Any) -> None:
    write(
        tmp_path,
        {f"prediction/{name}.json": [q()] for name in ("a1", "always", "fault", "y1", "y2")},
    )
    board = evaluate(tmp_path, worker, cluster=two.address)
    assert {entry["file"]: entry["reason"] for entry in board["failed"]} == {
        "always.json": "the process that scored it was killed (out of memory?)",
        "fault.json": "internal fault, please report it: KeyError: 'fault'",
    }
    assert column(board, "name") == ["a1", "y1", "y2"]


@needs_dask
def test_other_files_are_not_scored(
    tmp_path: Path, two: Cluster, worker: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of the same name that is not shared."""
    write(tmp_path, {"prediction/a.json": [q()]})
    monkeypatch.setattr(tasks, "_checksums", lambda task: {"prediction_sha256": "other"})
    board = evaluate(tmp_path, worker, cluster=two.address)
    assert [entry["file"] for entry in board["failed"]] == ["a.json"]
    assert "is the folder shared?" in board["failed"][0]["reason"]


def test_result_that_was_written_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a worker whose folder is a copy."""

    def run_tasks(work: Any, tasks: Any, address: str) -> Iterator[Any]:
        for task in tasks:
            outcome = work(task)
            if task[0].path.stem == "a":
                outcome.scored.path.unlink()
            yield outcome

    monkeypatch.setattr(tasks, "run_on_cluster", run_tasks)
    write(tmp_path, {"prediction/a.json": [q()], "prediction/b.json": [q()]})
    board = evaluate(tmp_path, FutureXEvaluator().evaluate_files, cluster="tcp://a:1")
    told = [(entry["file"], entry["reason"]) for entry in board["failed"]]
    assert told == [("a.json", "the Dask worker wrote its result elsewhere: is the folder shared?")]
    assert column(board, "name") == ["b"]


@needs_dask
def test_ctrl_c_is_one_line(tmp_path: Path, two: Cluster) -> None:
    root = many(tmp_path / "root", "slow")
    write(tmp_path, {"cluster_worker.py": WORKER, "program.py": PROGRAM})
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests"), str(tmp_path)]),
    }
    command = [sys.executable, str(tmp_path / "program.py"), str(root), two.address]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    )
    try:
        files = (root / "prediction/.begun", root / "evaluation/m5.json")
        await_that(lambda: all(path.exists() for path in files))
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60) == ("", "program.py: interrupted\n")
        assert process.returncode == 130
    finally:
        process.kill()
        process.communicate()


@needs_dask
def test_scheduler_that_goes_keeps_what_was_scored(tmp_path: Path, worker: Any) -> None:
    root = many(tmp_path / "root", "zend")
    (root / "prediction/zend.json").rename(root / "prediction/zz.json")
    with started(tmp_path / "cluster", 1) as cluster:
        (root / "prediction/.scheduler").write_text(str(cluster.scheduler))
        write(root, {"prediction/end.json": [q()]})
        with pytest.raises(
            EvaluationError, match=r"^tcp://127\.0\.0\.1:\d+: the Dask scheduler has gone$"
        ):
            evaluate(root, worker, cluster=cluster.address)
    assert not (root / "evaluation/leaderboard.json").exists()


@needs_dask
def test_worker_with_other_code_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(
        ROOT / "forecasteval", other / "forecasteval", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(ROOT / "eval.py", other)
    with (other / "forecasteval/futurex/rules.py").open("a") as file:
        file.write("# another rule\n")
    write(tmp_path, {"prediction/a.json": [q()]})
    with started(tmp_path / "cluster", 1, other) as cluster:
        done = run(tmp_path, "nightly", "--cluster", cluster.address)
    assert_refused(
        done,
        "eval.py: Dask worker tcp://127.0.0.1:",
        "expected the code_sha256 of the machine that asks",
    )
    assert not (tmp_path / "evaluation/a.json").exists()


@needs_dask
def test_a_scheduler_without_the_package_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"prediction/a.json": [q()]})
    with started(tmp_path / "cluster", 1, schedulers=tmp_path / "nowhere") as cluster:
        done = run(tmp_path, "nightly", "--cluster", cluster.address)
    assert_refused(
        done,
        "a worker cannot read the task: it needs this package, the same commit",
    )


@needs_dask
def test_a_cluster_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"prediction/a.json": [q()]})
    monkeypatch.setattr(workers, "CONNECT_SECONDS", 0.5)
    monkeypatch.setattr(workers, "WORKER_SECONDS", 0.2)
    assert_refused(
        run(tmp_path, "nightly", "--cluster", "tcp://127.0.0.1:1"),
        "127.0.0.1:1: no Dask scheduler answers",
    )
    with started(tmp_path / "cluster", 0) as alone:
        outcomes = workers.run_on_cluster(abs, [1], alone.address)
        with pytest.raises(
            EvaluationError, match="the Dask scheduler has no workers, or none with this package"
        ):
            next(outcomes)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "x",
        "localhost:8786",
        "http://a:1",
        "tcp://a",
        "tcp://a:99999",
        "tcp://a:1/x",
        "TCP://a:1",
        "tcp://a:1#x",
        "tcp://a:1?",
        "tcp://u:p@a:1",
        "tcp://@a:1",
    ],
)
def test_no_address(tmp_path: Path, address: str) -> None:
    write(tmp_path, {"prediction/a.json": [q()]})
    assert_refused(
        run(tmp_path, "nightly", "--cluster", address),
        "--cluster: expected tcp://HOST:PORT",
        repr(address),
    )


@needs_dask
@pytest.mark.parametrize("address", ["tcp://a:1", "tcp://10.0.0.1:8786", "tcp://[::1]:8786"])
def test_an_address(address: str) -> None:
    workers.require_cluster(address)


@needs_dask
def test_that_workers_have_gone_is_seen_soon() -> None:
    """Not after twice the time that a worker has to come back."""
    asked = []

    class Client:
        def wait_for_workers(self, count: int, timeout: float) -> None:
            asked.append(timeout)
            raise TimeoutError

    class Future:
        def result(self, timeout: float) -> None:
            asked.append(timeout)
            raise TimeoutError

    client: Any = Client()
    future: Any = Future()
    with pytest.raises(TimeoutError):
        workers._wait(client, future)
    assert asked == [1, 30]


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"needs the package distributed: pip install distributed"):
        workers.require_cluster("tcp://a:1")
