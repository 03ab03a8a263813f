r"""The command line in this process, and the files and records that tests give it.

`run` calls `main(argv)`; `run_process` starts `python eval.py` for what only a process has: its
streams and their encodings, hash seeds, what it imports, how deep Python may still go.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple
from unittest import mock

import eval as program
from forecasteval.common.errors import run_command

ROOT: Final = Path(__file__).resolve().parent.parent
CASES: Final = ROOT / "tests" / "cases"
GOLDEN: Final = ROOT / "tests" / "golden"
PROMPT: Final = "Who will win?\nA. Harbour Town\nB. Draw\nC. Lakeside"
BOM: Final = b"\xef\xbb\xbf"
EVIL: Final = "\x1b[2J\x1b]0;title\x07\x9b31m\u202e\r\x08"
RAW_CONTROL: Final = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
Record = dict[str, Any]
Files = Mapping[str, object]


# --- Runs ---


class Done(NamedTuple):
    """How a run ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one line of --json, which must be strict JSON."""
        assert self.code == 0, self.err
        return strict(self.out)


def run_wing(command: Callable[[list[str], str], int], *args: object) -> Done:
    """A wing's own command, as `eval.py` calls it."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = run_command("eval.py", lambda: command([*map(str, args)], "eval.py"))
        except SystemExit as error:  # argparse: help, version, or options that are none
            code = int(error.code or 0)
    done = Done(code, out.getvalue(), err.getvalue())
    assert not RAW_CONTROL.search(done.out + done.err)
    return done


def strict(text: str) -> Any:
    """The value of one line of JSON; NaN and Infinity raise."""
    assert text.endswith("\n")
    assert text.count("\n") == 1

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} in JSON")

    return json.loads(text, parse_constant=refuse)


def with_root(root: Path, args: tuple[str, ...]) -> list[str]:
    """The words of a command line that works on the folders below `root`."""
    return [*args] if "--root" in args else [*args, "--root", str(root)]


class _Stream(io.TextIOWrapper):
    """A stream of a process, in memory."""

    def __init__(self) -> None:
        self.bytes = io.BytesIO()
        super().__init__(self.bytes, encoding="utf-8", newline="\n")

    def text(self) -> str:
        self.flush()
        return self.bytes.getvalue().decode("utf-8")


def run(root: Path, *args: str, cwd: Path | None = None, **env: str) -> Done:
    """One run of the command line in this process, on the folders below `root`; not for threads."""
    out, err = _Stream(), _Stream()
    with (
        mock.patch.dict(os.environ, env),
        contextlib.chdir(cwd or Path.cwd()),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            code = program.main(with_root(root, args))
        except SystemExit as error:  # argparse: help, version, or options that are none
            code = int(error.code or 0)
    return Done(code, out.text(), err.text())


def run_process(root: Path, *args: str, cwd: Path | None = None, **env: str) -> Done:
    """One run of `python eval.py` on the folders below `root`; warnings of Python are errors there
    too.
    """
    command = [sys.executable, "-W", "error", str(ROOT / "eval.py"), *with_root(root, args)]
    variables = {**os.environ, "PYTHONIOENCODING": "utf-8", **env}
    done = subprocess.run(
        command, capture_output=True, cwd=cwd, env=variables, timeout=300, check=False
    )
    return Done(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


_OURS: Final = re.compile(r"eval\.py(?: [a-z]+)*: ")


def assert_refused(done: Done, *words: str, code: int = 2) -> None:
    """The exit code, one clear line that holds all `words`, no traceback, and nothing raw on the
    screen.
    """
    assert "Traceback" not in done.err
    assert done.code == code, done.err
    lines = [line for line in done.err.splitlines() if _OURS.match(line)]
    assert len(lines) == 1, done.err
    assert [word for word in words if word not in lines[0]] == [], lines[0]
    # However deep the folder of the test lies.
    assert len(re.sub(r"/\S*/", "", lines[0])) < 500
    assert not RAW_CONTROL.search(done.err)
    assert code != 2 or done.out == ""


def import_extra(name: str) -> Any:
    """A module, or None without what it needs: who uses it is marked `extra`."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


# --- Files and records ---


def write(root: Path, files: Files) -> Path:
    """Write files below `root`: bytes and text as they are, a list for `.jsonl` line by line, else
    JSON.
    """
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, list) and path.suffix == ".jsonl":
            content = "".join(
                (line if isinstance(line, str) else json.dumps(line)) + "\n" for line in content
            )
        elif not isinstance(content, (str, bytes)):
            content = json.dumps(content)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def box(text: str) -> str:
    return rf"\boxed{{{text}}}"


def q(name: object = "q7", **changes: object) -> Record:
    """A single choice whose answer is right; a change to `...` drops the field."""
    record = {
        "id": name,
        "level": 1,
        "prompt": PROMPT,
        "ground_truth": "A",
        "Std": None,
        "answer": r"\boxed{A}",
    }
    return {key: value for key, value in {**record, **changes}.items() if value is not ...}


def question(name: object = "q7", **changes: object) -> Record:
    """The same as a row of a dataset."""
    return q(name, answer=..., **changes)


def number(name: object = "q7", **changes: object) -> Record:
    """A number that is answered right."""
    return q(
        name,
        **{"level": 4, "prompt": "How many?", "ground_truth": "100", "answer": "100", **changes},
    )


def asked(
    level: int, truth: object, answer: object = None, std: float | None = None, prompt: str = ""
) -> Record:
    """A question of any level, without options unless the prompt has some."""
    return {
        "id": "q",
        "level": level,
        "prompt": prompt,
        "ground_truth": truth,
        "Std": std,
        "answer": answer,
    }


def raw(**fields: str) -> str:
    """A file with one good record and then the question q7 with these fields written as raw
    JSON.
    """
    record = ", ".join(
        f'"{key}": {value}' for key, value in {**dict.fromkeys(q(), ""), **fields}.items() if value
    )
    rest = ", ".join(
        f'"{key}": {json.dumps(value)}' for key, value in number().items() if key not in fields
    )
    return f"[{json.dumps(q('q1'))}, {{{rest}, {record}}}]"


def item(results: Record, name: object) -> Record:
    """The only item with this id."""
    found = [entry for entry in results["items"] if entry["id"] == name]
    assert len(found) == 1
    return found[0]  # type: ignore[no-any-return]


def warning(results: Record, *words: str) -> str:
    """The only warning that holds all words."""
    found = [text for text in results["warnings"] if all(word in text for word in words)]
    assert len(found) == 1, results["warnings"]
    return str(found[0])


def shares(results: Record) -> str:
    """All that must not depend on the order of questions, as text (nan equals itself there)."""
    keys = (
        "overall_score",
        "overall_interval",
        "level_scores",
        "level_intervals",
        "level_counts",
        "missing_count",
    )
    return repr(
        [results[key] for key in (*keys, "unparsed_count", "unboxed_count", "answered_only")]
    )
