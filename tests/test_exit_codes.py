"""Every exit code of the table in docs/scoring.md, of every command whose help names it, as a shell
sees it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO, Final

import pytest
from filelock import FileLock

from cli import ROOT, question, write
from forecasteval import cli as program
from forecasteval.common.exit_codes import ExitCode
from llm_server import LlmServer, error, questions
from pages import read_table

# Runs eval.py, and does something when a file is opened: what may happen at any line.
AT_OPEN: Final = """
import os, runpy, signal, sys
script, name, action = sys.argv[1:4]
sys.argv = [script, *sys.argv[4:]]
sys.path[0] = os.path.dirname(script)

def act(event, arguments):
    if event == "open" and str(arguments[0]).endswith(name):
        if action == "interrupt":
            # Ignored, if it is below nohup or in the background of a shell.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.raise_signal(signal.SIGINT)
        else:
            raise ZeroDivisionError

sys.addaudithook(act)
runpy.run_path(script, run_name="__main__")
"""
DATASET: Final = [question("q1"), question("q2"), question("q3")]
SHEET: Final = "base,y\nK2CO3,10\nKOH,20\nNaOH,90\n"
FILES: Final = {
    "dataset/d.json": DATASET,
    "prediction/d-a.json": dict.fromkeys(("q1", "q2", "q3"), "A"),
    "prediction/d-b.json": dict.fromkeys(("q1", "q2", "q3"), "B"),
    "answers.csv": "id,reply\nq1,A\nq2,B\n",
    "sheet.csv": SHEET,
}
# How each command is called when all goes well, and a file that it reads.
COMMANDS: Final = {
    "": ("-f d-a --root .", "d-a.json"),
    "ask": ("ask d --root . --model m --dry-run", "d.json"),
    "nightly": ("nightly --root . --jobs 1", "d-a.json"),
    "compare": ("compare d-a d-b --root .", "d-a.json"),
    "check": ("check d --root .", "d.json"),
    "init": ("init new", "systems.json"),
    "convert": ("convert answers.csv -o out.json --answer reply", "answers.csv"),
    "rxnopt import": ("rxnopt import sheet.csv -o t --yield y --conditions base", "sheet.csv"),
    "rxnopt build": ("rxnopt build tables -o built", "suzuki_anisole.json"),
    "rxnopt render": ("rxnopt render asked.json", "asked.json"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, FILES)
    (tmp_path / "tables").mkdir()
    shutil.copy(ROOT / "dataset" / "rxnopt-tables" / "suzuki_anisole.json", tmp_path / "tables")
    shutil.copy(ROOT / "dataset" / "multiple_choice_single_varying.json", tmp_path / "asked.json")
    return tmp_path


def end(
    folder: Path,
    words: str,
    *before: str,
    output: int | BinaryIO = subprocess.PIPE,
    said: str = "",
    **env: str,
) -> int:
    """Run `eval.py` in a folder; its exit code, after stderr has `said` something."""
    call = [sys.executable, *before] if before else [sys.executable, str(ROOT / "eval.py")]
    done = subprocess.run(
        [*call, *words.split()],
        cwd=folder,
        env={**os.environ, **env},
        stdout=output,
        stderr=subprocess.PIPE,
        timeout=300,
        check=False,
    )
    assert said in done.stderr.decode()
    return int(done.returncode)


def end_at_open(folder: Path, command: str, action: str, said: str) -> int:
    words, name = COMMANDS[command]
    script = str(ROOT / "eval.py")
    return end(folder, words, "-c", AT_OPEN, script, name, action, said=said)


def succeed(folder: Path, command: str) -> int:
    return end(folder, COMMANDS[command][0])


def fail_at_a_bug(folder: Path, command: str) -> int:
    return end_at_open(folder, command, "fail", "ZeroDivisionError")


def fill_the_disk(folder: Path, command: str) -> int:
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    with open("/dev/full", "wb") as full:
        said = "the output cannot be written"
        return end(folder, COMMANDS[command][0], output=full, said=said)


def interrupt(folder: Path, command: str) -> int:
    return end_at_open(folder, command, "interrupt", "interrupted")


def misspell(folder: Path, command: str) -> int:
    return end(folder, f"{COMMANDS[command][0]} --nonsense", said="--nonsense")


def lose_the_file(folder: Path, command: str) -> int:
    words, name = COMMANDS[command]
    # Without a prediction a folder with datasets has a page, and 0.
    more = ("d-b.json", "d.json") if command == "nightly" else ("d-b.json",)
    for path in {path for each in (name, *more) for path in folder.rglob(each)}:
        path.unlink()
    said = {"nightly": "got none", "rxnopt build": "there is no table"}
    return end(folder, words, said=said.get(command, "o such file"))


def fail_a_file(folder: Path, command: str) -> int:
    write(folder, {"prediction/d-c.json": "{"})
    return end(folder, COMMANDS[command][0] + (" -f d-c" if not command else ""), said="d-c.json")


def fail_the_model(folder: Path, command: str) -> int:
    rows = [{**row, "id": f"q{number}"} for number, row in enumerate(questions(3))]
    write(
        folder,
        {
            "dataset/d.json": [{**row, "answer": None} for row in rows],
            **{
                f"prediction/d-{name}.json": {row["id"]: row["answer"] for row in rows[:count]}
                for name, count in (("a", 3), ("b", 2))
            },
        },
    )
    words = COMMANDS[command][0].replace(" --jobs 1", "")
    with LlmServer(lambda request: error(401)) as server:
        access = {"OPENAI_API_KEY": "key-of-tests", "OPENAI_BASE_URL": server.url}
        return end(folder, f"{words} --llm m", said="degraded", **access)


def fail_to_answer(folder: Path, command: str) -> int:
    words = COMMANDS[command][0].replace(" --dry-run", "")
    with LlmServer(lambda request: error(401)) as server:
        return end(folder, words, said="key refused", OPENAI_BASE_URL=server.url)


def hold_the_replies(folder: Path, command: str) -> int:
    words = COMMANDS[command][0].replace(" --dry-run", "")
    with FileLock(folder / "prediction/.d-m.jsonl.lock"):
        return end(folder, words, said="another", OPENAI_BASE_URL="http://127.0.0.1:1/v1")


def find_a_mistake(folder: Path, command: str) -> int:
    write(folder, {"dataset/d.json": [question("q1", ground_truth="Z")]})
    return end(folder, COMMANDS[command][0])


def hold_the_lock(folder: Path, command: str) -> int:
    (folder / "evaluation").mkdir()
    with FileLock(folder / "evaluation" / ".lock"):
        return end(folder, COMMANDS[command][0], said="another")


def miss_the_gate(folder: Path, command: str) -> int:
    many = [f"q{number}" for number in range(30)]
    write(
        folder,
        {
            "dataset/d.json": [question(name) for name in many],
            "prediction/d-a.json": dict.fromkeys(many, "A"),
            "prediction/d-b.json": dict.fromkeys(many, "B"),
        },
    )
    words = {
        "": "-f d-b --root . --fail-under 0.2",
        "compare": f"{COMMANDS['compare'][0]} --fail-if-worse",
    }
    return end(folder, words[command], said="--fail-")


Way = Callable[[Path, str], int]
EVERYWHERE: Final[Mapping[int, tuple[Way, ...]]] = {
    0: (succeed,),
    1: (fail_at_a_bug, fill_the_disk),
    2: (misspell, lose_the_file),
    130: (interrupt,),
}
ONLY: Final[Mapping[str, Mapping[int, tuple[Way, ...]]]] = {
    "": {3: (fail_a_file, fail_the_model), 6: (miss_the_gate,)},
    "ask": {3: (fail_to_answer,), 5: (hold_the_replies,)},
    "nightly": {3: (fail_a_file, fail_the_model), 5: (hold_the_lock,)},
    "compare": {3: (fail_the_model,), 6: (miss_the_gate,)},
    "check": {4: (find_a_mistake,)},
    "init": {2: (misspell,)},  # it reads no file
}


def ways(command: str) -> dict[int, tuple[Way, ...]]:
    return {**EVERYWHERE, **ONLY.get(command, {})}


@pytest.mark.parametrize(
    ("command", "code", "way"),
    [
        pytest.param(command, code, way, id=f"{command or '-f'}-{code}-{way.__name__}")
        for command in COMMANDS
        for code, found in ways(command).items()
        for way in found
    ],
)
def test_a_command_ends_with_each_of_its_codes(
    folder: Path, command: str, code: int, way: Way
) -> None:
    assert way(folder, command) == code


@pytest.mark.parametrize("command", COMMANDS)
def test_help_names_these_codes(folder: Path, command: str) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "eval.py"), *command.split(), "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    _, _, exits = " ".join(done.stdout.split()).partition("exit codes: ")
    assert [int(code) for code in re.findall("(?:^|, )([0-9]+) ", exits)] == sorted(ways(command))


def test_these_are_all_commands(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "eval.py"), "rxnopt", "nonsense"],
        capture_output=True,
        text=True,
        check=False,
    )
    choices = re.findall(r"\w+", done.stderr.partition("choose from")[2].partition("\n")[0])
    known = {*program.COMMANDS} - {"rxnopt"} | {f"rxnopt {name}" for name in choices}
    assert known == COMMANDS.keys() - {""}


def test_the_table_has_all_codes_and_no_other() -> None:
    listed = {int(code) for code, _ in read_table("docs/scoring.md", "Exit code")}
    assert listed == {code for command in COMMANDS for code in ways(command)} == {*ExitCode}
