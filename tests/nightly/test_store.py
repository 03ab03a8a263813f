"""Files that change while they are read, the lock, strays and disks that fail."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from boards_folders import column, contents, counts, evaluate, folder_of, snapshot
from cli import ROOT, assert_refused, q, question, run, write
from eval import FutureXEvaluator
from forecasteval.benchmark import Files
from forecasteval.common.errors import EvaluationError, InputError, LockedError
from forecasteval.display.results import Results
from forecasteval.nightly.store import lock_folder, read_stored, save_results
from forecasteval.scoring import score_unchanged

SCORE: Final = FutureXEvaluator().evaluate_files


# --- Files that change while they are read ---


def changing(path: Path, changes: list[Any]) -> Any:
    """A score function that changes the file after reading it, once for every entry of
    `changes`.
    """
    calls: list[Path] = []

    def score(files: Files) -> Results:
        calls.append(files.path)
        todo = changes[len(calls) - 1] if len(calls) <= len(changes) else None
        if todo == "gone first":
            path.unlink()
        results = SCORE(files)
        if isinstance(todo, list):
            write(path.parent, {path.name: todo})
        elif todo == "gone":
            path.unlink()
        elif todo == "replaced":
            status = path.stat()
            path.rename(path.with_suffix(".old"))
            path.write_bytes(path.with_suffix(".old").read_bytes())
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        elif todo == "touched":
            os.utime(path, (1, 1))
        return results

    score.calls = calls  # type: ignore[attr-defined]
    return score


@pytest.mark.parametrize("change", [[q("q1"), q("q2")], "replaced", "touched"])
@pytest.mark.parametrize("which", ["prediction", "dataset"])
def test_changed_once_is_read_again(tmp_path: Path, change: Any, which: str) -> None:
    write(tmp_path, {"p.json": [q("q1")], "d.json": [question("q1")]})
    watched = tmp_path / ("p.json" if which == "prediction" else "d.json")
    files = Files((tmp_path / "p.json",), (tmp_path / "d.json",))
    score = changing(watched, [change])
    results = score_unchanged(score, files)
    assert len(score.calls) == 2
    assert len(results["items"]) == (2 if isinstance(change, list) and which == "dataset" else 1)
    assert results == SCORE(files)


def test_changed_twice_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, {"p.json": [q("q1")]}) / "p.json"
    score = changing(path, [[q("q1"), q("q2")], [q("q1")]])
    with pytest.raises(InputError) as told:
        score_unchanged(score, Files((path,)))
    assert (
        str(told.value)
        == f"{path}: expected files that stay as they are, got a change while it was read, twice"
    )
    assert len(score.calls) == 2


def test_torn_while_it_was_written_is_read_again(tmp_path: Path) -> None:
    path = write(tmp_path, {"p.json": '[{"id": '}) / "p.json"

    def score(files: Files) -> Results:
        try:
            return SCORE(files)
        except EvaluationError:
            write(tmp_path, {"p.json": [q()]})  # the writer goes on meanwhile
            raise

    assert score_unchanged(score, Files((path,)))["overall_score"] == 1.0


def test_a_bad_file_that_stays_is_read_once(tmp_path: Path) -> None:
    path = write(tmp_path, {"p.json": "{"}) / "p.json"
    score = changing(path, [])
    with pytest.raises(InputError, match="not JSON"):
        score_unchanged(score, Files((path,)))
    assert len(score.calls) == 1


@pytest.mark.parametrize("moment", ["gone first", "gone"])
def test_vanished_file_costs_only_itself(tmp_path: Path, moment: str) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    evaluate(tmp_path)
    old = contents(tmp_path)["d-a.json"]
    folder_of(tmp_path, a="AAAB")
    score = changing(tmp_path / "prediction/d-a.json", [moment])
    board = evaluate(tmp_path, score)
    assert [(entry["file"], entry["reason"]) for entry in board["failed"]] == [
        ("d-a.json", "cannot be read: No such file or directory")
    ]
    assert column(board, "name") == ["d-b"]
    assert contents(tmp_path)["d-a.json"] == old


# --- The lock ---


@contextlib.contextmanager
def holder(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock of a folder."""
    code = (
        "import sys, time; from pathlib import Path; from forecasteval.nightly.store import"
        " lock_folder\nwith lock_folder(Path(sys.argv[1])):\n    print('held', flush=True);"
        " time.sleep(60)"
    )
    command = [sys.executable, "-c", code, str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout
    try:
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_second_run_stops_at_once_and_a_killed_one_frees_the_lock(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA")
    run(tmp_path, "nightly")
    folder_of(tmp_path, b="ABAB")
    before = snapshot(tmp_path)
    with holder(tmp_path / "evaluation") as process:
        done = run(tmp_path, "nightly")
        assert_refused(done, "another run uses this folder", "evaluation", code=5)
        assert done.out == ""
        assert snapshot(tmp_path) == before
        assert run(tmp_path, "-f", "d-a").code == 0  # scoring one file needs no lock
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert counts(run(tmp_path, "nightly")) == (1, 1, 0)


def test_lock_is_released_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError), lock_folder(tmp_path):
        raise KeyError
    with lock_folder(tmp_path), pytest.raises(LockedError) as told, lock_folder(tmp_path):
        pass
    assert told.value.exit_code == 5
    with lock_folder(tmp_path):
        pass


def test_save_waits_for_the_lock(tmp_path: Path) -> None:
    with holder(tmp_path) as process:
        saving = threading.Thread(
            target=save_results, args=({"name": "a", "overall_score": 1.0}, tmp_path)
        )
        saving.start()
        saving.join(0.2)
        assert saving.is_alive()
        assert not (tmp_path / "a.json").exists()
        process.kill()
        saving.join(60)
    assert read_stored(tmp_path / "a.json")[0] == {"name": "a", "overall_score": 1.0}


@pytest.mark.parametrize("kind", ["pipe", "link"])
def test_a_strange_lock_hangs_nothing(tmp_path: Path, kind: str) -> None:
    """It locks, or there is one clear line."""
    path = tmp_path / ".lock"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("nowhere")
    told = "another run uses this folder|or written: Too many levels of symbolic links"
    with pytest.raises(EvaluationError, match=told), lock_folder(tmp_path), lock_folder(tmp_path):
        pass


@pytest.mark.parametrize("kind", ["folder", "link to itself"])
def test_a_lock_that_cannot_be(tmp_path: Path, kind: str) -> None:
    path = tmp_path / ".lock"
    if kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(".lock")
    with pytest.raises(EvaluationError) as told, lock_folder(tmp_path):
        pass
    reason = "Is a directory" if kind == "folder" else "Too many levels of symbolic links"
    problem = f"cannot be locked or written: {reason}; --output DIR names another folder"
    assert str(told.value) == f"{path}: {problem}"


def test_lock_in_a_read_only_folder(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    if os.access(tmp_path, os.W_OK):
        pytest.skip("root writes everywhere")
    try:
        with (
            pytest.raises(EvaluationError, match=r"\.lock: .* or written: Permission denied; "),
            lock_folder(tmp_path),
        ):
            pass
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize("number", [errno.EROFS, errno.ENOLCK, errno.EOPNOTSUPP])
def test_lock_on_a_disk_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """The same for root, who may write anywhere, and where there are no locks."""

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("filelock.FileLock._acquire", refuse)
    told = rf"\.lock: cannot be locked or written: {os.strerror(number)}; --output DIR"
    with pytest.raises(EvaluationError, match=told), lock_folder(tmp_path):
        pass


def test_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is left there is no run, and one line says what to do."""
    fcntl = pytest.importorskip("fcntl")

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(fcntl, "flock", refuse)
    (tmp_path / ".lock").touch()
    told = r"\.lock: cannot be locked or written: .*; --output DIR"
    with pytest.raises(EvaluationError, match=told) as caught, lock_folder(tmp_path):
        pass
    assert not isinstance(caught.value, LockedError)


@pytest.mark.parametrize("command", [["nightly"], ["-f", "d-a", "--save"]])
def test_without_filelock_a_line_says_what_to_install(tmp_path: Path, command: list[str]) -> None:
    """As in the environment of a version that needed none (N4)."""
    folder_of(tmp_path, a="AAAA")
    code = "import sys; sys.modules['filelock'] = None; from forecasteval.cli import main; "
    code += f"sys.exit(main({[*command, '--root', str(tmp_path)]}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.endswith("evaluation: needs filelock: pip install filelock\n")


# --- Saving ---


def test_a_name_is_saved_once_and_never_over_the_leaderboard(tmp_path: Path) -> None:
    saved: set[str] = set()
    save_results({"name": "a"}, tmp_path / "evaluation", saved)
    assert saved == {"a"}
    for name in ("a", "leaderboard"):
        with pytest.raises(InputError) as told:
            save_results({"name": name}, tmp_path / "evaluation", saved)
        assert (
            str(told.value) == f"{name}: would overwrite another result, got evaluation/{name}.json"
        )
    save_results({"name": "a", "n": 2}, tmp_path / "evaluation")
    assert read_stored(tmp_path / "evaluation/a.json")[0] == {"name": "a", "n": 2}


@pytest.mark.parametrize("options", [["nightly"], ["-f", "d-a", "--save"]])
def test_strays_are_swept(tmp_path: Path, options: list[str]) -> None:
    folder_of(tmp_path, a="AAAA")
    gone = [
        ".1-0123abcd.tmp",
        f".{os.getpid()}-00000000.tmp",
    ]  # nobody writes there without the lock
    kept = [".notes.tmp", "x.tmp", ".1.tmp", ".1-0123.tmp"]
    write(tmp_path, {f"evaluation/{name}": "{" for name in [*gone, *kept]})
    write(tmp_path, {"evaluation/.1-ab_d3f9z.tmp/7-1": "{"})  # of a run in processes
    assert run(tmp_path, *options).code == 0
    names = os.listdir(tmp_path / "evaluation")
    assert sorted(name for name in names if name.endswith(".tmp")) == sorted(kept)


@pytest.mark.parametrize("kind", ["a file", "read-only"])
def test_folder_that_cannot_be_written(tmp_path: Path, kind: str) -> None:
    folder_of(tmp_path, a="AAAA")
    if kind == "a file":
        write(tmp_path, {"evaluation": ""})
        assert_refused(run(tmp_path, "nightly"), "evaluation", "cannot be locked or written")
        return
    run(tmp_path, "nightly")
    before = snapshot(tmp_path)
    folder = tmp_path / "evaluation"
    folder.chmod(0o500)
    try:
        if os.access(folder, os.W_OK):
            pytest.skip("root writes everywhere")
        assert_refused(run(tmp_path, "nightly", "--force"), "evaluation", "denied")
        assert snapshot(tmp_path) == before
    finally:
        folder.chmod(0o700)


def test_what_earlier_versions_kept_is_swept(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA")
    write(
        tmp_path, {"evaluation/.ranking/.123-0a1b2c3d.tmp": "{", "evaluation/.replaced/a.json": ""}
    )
    assert run(tmp_path, "nightly").code == 0
    hidden = {path.name for path in (tmp_path / "evaluation").iterdir() if path.name[0] == "."}
    assert hidden <= {".lock", ".stamp"}
