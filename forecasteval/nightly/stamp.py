"""The stamp of a night: while it holds, the next night has nothing to do but to say so.

It names all that a night depends on: the files that it read and their folders, what it
wrote, the code, the options, the environment, and the next time at which a question
closes. This module reads no result and no board, so that a quiet night is short.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import EvaluationError, InputError
from forecasteval.common.files import hash_file, write_atomic
from forecasteval.common.records import dump_json, hash_text
from forecasteval.common.settings import SETTINGS_FILE
from forecasteval.common.version import PACKAGE
from forecasteval.scoring import Scorer

from .clock import now

STAMP: Final = ".stamp"
# A file that changes twice within a tick of its file system's clock may look as before.
_TICK: Final = 2_000_000_000  # nanoseconds
_LEFT_OUT: Final = (".lock", STAMP)
_VARIABLES: Final = ("COLUMNS", "OPENAI_BASE_URL")
_ONCE: Final = ("force", "begin_record")  # options of one night
States = dict[str, tuple[int, ...]]


class Inputs(NamedTuple):
    """The files and folders that a night reads, as they are at a time."""

    time: int  # in nanoseconds since 1970
    states: States

    def list_recent(self) -> Iterator[Path]:
        """List the files that may change once more without a trace."""
        for name, (_, modified, changed, *_) in self.states.items():
            if max(modified, changed) > self.time - _TICK and os.path.isfile(name):
                yield Path(name)


class NightFiles(NamedTuple):
    """What a night read and wrote.

    hashes: the checksums of the inputs that were changed shortly before.
    until: the next time at which a question closes, in seconds since 1970;
        infinite if none does.
    """

    inputs: Inputs
    hashes: dict[str, str]
    outputs: States
    until: float


class Quiet(NamedTuple):
    """What a night prints that finds nothing to do."""

    out: str
    code: int


# --- Files ---


def list_inputs(root: Path) -> Inputs:
    """List what a night reads below a folder."""
    began = time.time_ns()
    states: States = {}
    for path in (root / "dataset", root / "prediction"):
        _walk(str(path), states)
    settings = root / SETTINGS_FILE
    if settings.is_file():
        _add_state(str(settings), settings.stat(), states)
    return Inputs(began, states)


def _walk(folder: str, states: States) -> None:
    with contextlib.suppress(OSError):  # the night says so
        _add_state(folder, os.stat(folder), states)
        with os.scandir(folder) as entries:
            sorted_entries = sorted(entries, key=lambda entry: entry.name)
        for entry in sorted_entries:
            if entry.is_dir(follow_symlinks=False):
                _walk(entry.path, states)
            else:
                # A link to nothing, as editors make to lock a file, must not
                # end the walk.
                is_dangling = entry.is_symlink() and not os.path.exists(entry.path)
                status = entry.stat(follow_symlinks=not is_dangling)
                _add_state(entry.path, status, states)


def _add_state(name: str, status: os.stat_result, states: States) -> None:
    times = status.st_mtime_ns, status.st_ctime_ns
    states[name] = (status.st_size, *times, status.st_ino)


def list_outputs(folder: Path) -> States:
    """List what stands in a folder of results, without the lock and the stamp."""
    states: States = {}
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            with contextlib.suppress(OSError):  # a link to itself
                if entry.name not in _LEFT_OUT and entry.is_file():
                    status = entry.stat()
                    states[entry.name] = status.st_size, status.st_mtime_ns
    return states


def observe_night(
    inputs: Inputs, folder: Path, hash_once: Callable[[Path], str], until: float
) -> NightFiles:
    """Observe the end of a night, whose lock is still held."""
    hashes = {str(path): hash_once(path) for path in inputs.list_recent()}
    return NightFiles(inputs, hashes, list_outputs(folder), until)


# --- The stamp ---


def write_stamp(
    args: argparse.Namespace, scorer: Scorer, files: NightFiles, quiet: Quiet
) -> None:
    """Write the stamp of a night; a folder that takes none costs only the
    next night's time.
    """
    key = _make_key(args, scorer, files.inputs, files.outputs)
    record = {
        "key": key,
        "hashes": files.hashes,
        "until": files.until,
        **quiet._asdict(),
    }
    with contextlib.suppress(EvaluationError):
        write_atomic(scorer.output / STAMP, json.dumps(record))


def remove_stamp(folder: Path) -> None:
    """Remove the stamp of a folder."""
    with contextlib.suppress(OSError):
        (folder / STAMP).unlink()


def repeat_night(args: argparse.Namespace, scorer: Scorer) -> int | None:
    """Print what the last night's stamp says, and return the exit code; None if it
    does not hold.
    """
    if any(getattr(args, name) for name in _ONCE):
        return None
    record = _read_stamp(scorer.output / STAMP)
    if record is None or now().timestamp() > record["until"]:
        return None
    inputs = list_inputs(args.root)
    with contextlib.suppress(OSError, InputError):
        outputs = list_outputs(scorer.output)
        key = _make_key(args, scorer, inputs, outputs)
        hashes = record["hashes"]
        if record["key"] != key:
            return None
        if any(hash_file(Path(name)) != checksum for name, checksum in hashes.items()):
            return None
        quiet = Quiet(record["out"], record["code"])
        if hashes:
            # They need not be read again once they are old.
            recent = {str(path): hashes[str(path)] for path in inputs.list_recent()}
            if recent.keys() != hashes.keys():
                files = NightFiles(inputs, recent, outputs, record["until"])
                write_stamp(args, scorer, files, quiet)
        sys.stdout.write(quiet.out)
        return quiet.code
    return None


def _read_stamp(path: Path) -> dict[str, Any] | None:
    """Read a stamp; None if there is none, or if it is damaged."""
    with contextlib.suppress(OSError, ValueError):
        record = json.loads(path.read_bytes())
        kinds = {"key": str, "hashes": dict, "until": float, "out": str, "code": int}
        if all(isinstance(record.get(name), kind) for name, kind in kinds.items()):
            return dict(record)
    return None


def _make_key(
    args: argparse.Namespace, scorer: Scorer, inputs: Inputs, outputs: States
) -> str:
    """Make a checksum of all that a night depends on."""
    given = {}
    named_files = {}
    for name, value in vars(args).items():
        if name in _ONCE:
            continue
        given[name] = sorted(map(str, _as_list(value)))
        for text in given[name]:
            if os.path.isfile(text):
                named_files[text] = _stat(text)
    terminal = sys.stdout.isatty() and shutil.get_terminal_size().columns
    program = [[sys.version, *sorted(scorer.benchmarks)], _stat_code(scorer)]
    options = [
        named_files,
        given,
        [os.environ.get(name) for name in _VARIABLES],
        terminal,
    ]
    return hash_text(dump_json([*program, *options, inputs.states, outputs]))


def _as_list(value: object) -> Iterable[object]:
    if isinstance(value, (list, tuple, set, frozenset)):
        return value
    return [value]


def _stat_code(scorer: Scorer) -> Mapping[str, tuple[int, ...]]:
    """List the files of this package, and those of benchmarks of other packages."""
    states: States = {}
    paths = {str(PACKAGE)}
    for benchmark in scorer.benchmarks.values():
        module = sys.modules[benchmark.evaluator.__module__]
        file = Path(str(module.__file__))
        if PACKAGE not in file.parents:
            is_package = file.name == "__init__.py"
            paths.add(str(file.parent if is_package else file))
    for path in sorted(paths):
        if not os.path.isdir(path):
            states[path] = _stat(path)
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            for name in sorted(names):
                states[f"{folder}/{name}"] = _stat(f"{folder}/{name}")
    return states


def _stat(name: str) -> tuple[int, ...]:
    status = os.stat(name)
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
