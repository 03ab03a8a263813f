"""Find files: those that a name on the command line stands for, and those of a folder,
grouped by what is scored together.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
from collections.abc import Callable, Container, Iterable, Sequence, Set
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Final, NamedTuple, TypedDict

from forecasteval.benchmark import Files
from forecasteval.common.errors import EvaluationError, InputError, printable
from forecasteval.common.files import (
    DATASET_SUFFIXES,
    SUFFIXES,
    TRUTHS_END,
    find_dataset,
    find_file,
    is_path,
    locate,
    readable,
    require_folder,
    spool_stdin,
)
from forecasteval.common.patterns import lazy
from forecasteval.common.records import group_by
from forecasteval.ranking.names import BOARD, SYSTEMS_FILE, read_systems, without_run

ENTRY_FILE: Final = "README.md"  # in prediction/: how to enter
# Of a file: whether it has its own questions, is ranked as one set
Test = Callable[[Path], bool]


# --- Names to files ---


def part_of(path: Path) -> Path:
    """Return where the replies of a prediction file are while not every
    question has one.
    """
    return path.with_name(f".{path.name}.part")


def find_prediction(name: str, folder: Path) -> Path:
    """Find the prediction file that a name means, in a folder unless it is a path.

    `table.csv` may lie in the current folder; `-` is what comes from stdin.
    """
    if name == "-":
        return spool_stdin()
    is_table = name.endswith(".csv")
    if is_table and not os.path.exists(folder / name) and os.path.isfile(name):
        return Path(name)
    if not is_path(name):
        require_folder(folder)
    try:
        path = find_file(name, folder)
    except InputError:
        _require_no_part(name, folder)
        raise
    if path.name == SYSTEMS_FILE and path.resolve().parent == folder.resolve():
        got = "metadata about systems; name another file"
        raise InputError(str(path), "expected predictions", got)
    return path


def _require_no_part(name: str, folder: Path) -> None:
    """Raise InputError, with what goes on, if the questions of a file are
    still being asked.
    """
    base = locate(name, folder)
    if not base.name:  # a folder such as "/" or "."
        return
    part = part_of(base.with_name(f"{base.name.removesuffix('.jsonl')}.jsonl"))
    if not os.path.isfile(part):  # of a name that is too long, too
        return
    with readable(part), part.open(encoding="utf-8", errors="replace") as file:
        head = file.readline()
    with contextlib.suppress(ValueError, LookupError, TypeError):
        command = shlex.join(json.loads(head)["command"])
        problem = "not every question has a reply"
        what_to_do = f"{command} goes on, {command} --finish takes the file as it is"
        raise InputError(str(part), f"{problem}: {what_to_do}")


class NamedFile(NamedTuple):
    """A prediction file with a dataset, and the names by which users may call it.

    `system_names` are those of its system, of which `SYSTEMS_FILE` has more;
    `file_names` its own, with and without its run, and its dataset with a name of its
    system. `clash`: two names of its system have a file for one dataset, so that it
    cannot be told which is meant; "" for none.
    """

    path: Path
    dataset: Path
    system: str
    system_names: frozenset[str]
    file_names: frozenset[str]
    clash: str


def name_files(root: Path, has_questions: Test) -> list[NamedFile]:
    """Name the files of `root/prediction` that have a dataset."""
    tasks, _, _ = find_tasks(root, has_questions)
    files_with_dataset = [
        (task.path, task.dataset) for task in tasks if task.dataset is not None
    ]
    systems = read_systems(root / "prediction")
    clashes = systems.find_clashes(
        [(path.stem, dataset.name) for path, dataset in files_with_dataset]
    )
    files = []
    for path, dataset in files_with_dataset:
        system = systems.system_of(path.stem, dataset.name)
        system_names = frozenset(systems.names_of(system))
        file_names = {f"{dataset.stem}-{name}" for name in system_names}
        file_names |= {path.stem, without_run(path.stem, dataset.name)}
        file = NamedFile(
            path,
            dataset,
            system,
            system_names,
            frozenset(file_names),
            clashes.get(system, ""),
        )
        files.append(file)
    return files


def connect_files(
    files: Sequence[NamedFile], systems: Container[str]
) -> list[NamedFile]:
    """List the files of these systems, and of all that datasets connect with them."""
    datasets = {file.dataset for file in files if file.system in systems}
    while True:
        known = {file.system for file in files if file.dataset in datasets}
        connected = [file for file in files if file.system in known]
        if {file.dataset for file in connected} == datasets:
            return connected
        datasets = {file.dataset for file in connected}


def require_no_clash(files: Iterable[NamedFile]) -> None:
    """Raise InputError if two names of the system of one of these files have a file
    for one dataset.
    """
    for file in files:
        if file.clash:
            raise InputError(SYSTEMS_FILE, file.clash)


def is_file_name(name: str, folder: Path) -> bool:
    """Return whether a name is a path, or that of a file in a folder, with or
    without its runs.
    """
    if is_path(name) or find_runs(name, folder) != [name]:
        return True
    # Path.exists raises for a name of 300 characters
    paths = [folder / f"{name}{end}" for end in ("", *SUFFIXES)]
    return any(map(os.path.exists, paths))


def find_named(
    names: Sequence[str], root: Path, has_questions: Test, datasets: Iterable[Path] = ()
) -> list[list[str]]:
    """List the files that each name on the command line stands for. A name of a file is
    itself; one of a system means all its files, beside names with a dataset (or
    `datasets`) those of that dataset alone; any other is itself, whatever is wrong.
    """
    folder = root / "prediction"
    are_file_names = all(is_file_name(name, folder) for name in names)
    if are_file_names or not list_predictions(root):
        return [[name] for name in names]
    files = name_files(root, has_questions)
    systems = {name for file in files for name in file.system_names}
    typed = {path.name for path in datasets}
    for name in names:
        if name not in systems:
            dataset = find_dataset(Path(name), root / "dataset")
            typed |= {dataset.name} if dataset else set()
    named_files = []
    for name in names:
        matches = [
            file for file in files if name in file.system_names | file.file_names
        ]
        if is_file_name(name, folder) or not matches:
            named_files.append([name])
            continue
        require_no_clash(matches)
        chosen = [file for file in matches if not typed or file.dataset.name in typed]
        if not chosen:
            listed = ", ".join(file.path.name for file in matches)
            raise InputError(
                name, f"expected a file for {' or '.join(sorted(typed))}", listed
            )
        named_files.append([str(file.path) for file in chosen])
    return named_files


def find_runs(name: str, folder: Path) -> list[str]:
    """Find the names of the files that `name`, or a path, stands for: `NAME` and all of
    `NAME@RUN`, in order.

    With an extension, or as `NAME@RUN`, it is that file alone; without such files it is
    itself, whatever is wrong.
    """
    base = locate(name, folder)
    if base.suffix in SUFFIXES or without_run(base.name) != base.name:
        return [name]
    names: list[str] = []
    with contextlib.suppress(OSError, ValueError):  # reading the file will say so
        names = os.listdir(base.parent)
    stems = set()
    for file_name in names:
        stem = Path(file_name).stem
        is_run = file_name.endswith(SUFFIXES) and without_run(stem) == base.name
        if is_run and file_name[0] != ".":
            stems.add(stem)
    if not stems or stems == {base.name}:
        return [name]
    return [os.path.join(base.parent, stem) for stem in sorted(stems)]


# --- A folder to what is scored together ---


def group_files(
    pairs: Sequence[tuple[Path, tuple[Path, ...]]],
    ranks_together: Test,
    list_events: Callable[[Path], Set[str]] = lambda path: frozenset(),
) -> list[Files]:
    """Group prediction files, each with its datasets, by what is scored together. These
    are the files of a dataset that are ranked together, files without one that share an
    event, or each file by itself.
    """
    groups: dict[object, Files] = {}
    ranks_together = cache(ranks_together)
    first_files: dict[str, object] = {}  # the key of the group of an event
    for number, (path, datasets) in enumerate(pairs):
        is_set = len(datasets) == 1 and ranks_together(datasets[0])
        key: object = datasets[0] if is_set else number
        events: Set[str] = frozenset()
        if not datasets and len(pairs) > 1:
            events = list_events(path)
        known_events = sorted(events & first_files.keys())
        if known_events:
            key = first_files[known_events[0]]
        first_files |= dict.fromkeys(events, key)
        files = groups.get(key, Files((), datasets))
        if path not in files.predictions:  # a file that is named twice counts once
            groups[key] = files._replace(predictions=(*files.predictions, path))
    return [*groups.values()]


_LONGEST_NAME: Final = 255  # bytes that file systems allow


class Failure(TypedDict):
    """A file that could not be scored, and why; `fault` if that is
    this tool's fault.
    """

    file: str
    reason: str
    fault: bool


def failure(file: str, reason: str, fault: bool = False) -> Failure:
    return {"file": file, "reason": reason, "fault": fault}


def explain(error: EvaluationError, path: Path, root: Path) -> str:
    """Return an error's message about a file, without the names of the
    file and the root.
    """
    begin = re.escape(f"{printable(root)}{os.sep}")
    message = str(error).removeprefix(f"{printable(path)}: ")
    return re.sub(rf"(?<!\S){begin}", "", message)


def find_tasks(
    root: Path, has_questions: Test, ranks_together: Test = lambda dataset: False
) -> tuple[list[Files], list[Failure], list[str]]:
    """Find what is to be scored in `root/prediction`. The files that cannot be used
    come second, the names of what is no prediction file third.

    Hidden files are left out, and `SYSTEMS_FILE`. Raises InputError if there is neither
    a prediction file nor a dataset.
    """
    folder = root / "prediction"
    has_datasets = bool(list_datasets(root))
    if not has_datasets:
        require_folder(folder)
    paths = list_predictions(root)
    if not (paths or has_datasets):
        raise InputError(str(folder), "expected prediction files", "none")
    failures: list[Failure] = []
    pairs: list[tuple[Path, tuple[Path, ...]]] = []
    by_stem = group_by(paths, attrgetter("stem"))
    for path in paths:
        same_stem = by_stem[path.stem]
        if len(same_stem) > 1:
            names = ", ".join(other.name for other in same_stem)
            failures.append(
                failure(path.name, f"expected one file with this stem, got {names}")
            )
            continue
        try:
            dataset = find_dataset(path, root / "dataset", has_questions)
        except EvaluationError as error:
            failures.append(failure(path.name, explain(error, path, root)))
        else:
            pairs.append((path, (dataset,) if dataset else ()))
    usable: list[Files] = []
    tasks_by_name = group_by(group_files(pairs, ranks_together), attrgetter("name"))
    for name, tasks in tasks_by_name.items():
        result = f"{name}.json"
        sets = [task for task in tasks if len(task.predictions) > 1]
        if name == BOARD:
            whose = " of the dataset" if sets else ""
            problem = (
                f"expected another name{whose}: evaluation/{result} is the leaderboard"
            )
        elif len(os.fsencode(result)) > _LONGEST_NAME:
            at_most = f"{_LONGEST_NAME} bytes at most"
            problem = f"expected a shorter name: {at_most} for that of its result"
        elif sets:
            problem = (
                f"expected another name: evaluation/{result} is that of its dataset"
            )
            usable += sets
            tasks = [task for task in tasks if task not in sets]
        else:
            usable += tasks
            continue
        failures += [failure(task.prediction, problem) for task in tasks]
    return usable, failures, list_unread(root)


def list_datasets(root: Path) -> list[Path]:
    """List the datasets of a folder, by name."""
    folder = root / "dataset"
    if not folder.is_dir():
        return []
    with readable(folder):
        paths = sorted(folder.iterdir())
    datasets = []
    for path in paths:
        is_named_so = path.suffix in DATASET_SUFFIXES and not path.stem.endswith(
            TRUTHS_END
        )
        if is_named_so and path.name[0] != "." and path.is_file():
            datasets.append(path)
    return datasets


def list_predictions(root: Path) -> list[Path]:
    """List the prediction files of a folder, by name, also those whose names
    cannot be used.
    """
    folder = root / "prediction"
    names = _list_names(folder)
    return [folder / name for name in names if _is_prediction(name, names)]


# What browsers write for a second download of `NAME.json`: `NAME (1).json`.
_COPY: Final = lazy(r" \(\d+\)(?=\.[a-z]+$)")


def _is_prediction(name: str, names: Container[str]) -> bool:
    """Return whether a file is one of predictions, and not a browser's copy
    of another one.
    """
    if not name.endswith(SUFFIXES):
        return False
    original = _COPY.sub("", name)
    return original == name or original not in names


def list_unread(root: Path) -> list[str]:
    """List the names in a folder of predictions that are not read as such.

    Of a folder in it those of its files that could be predictions.
    """
    folder = root / "prediction"
    names = _list_names(folder)
    unread: list[str] = []
    for name in names:
        if _is_prediction(name, names):
            continue
        files: list[str] = []
        with contextlib.suppress(OSError):  # a file, or a folder that cannot be read
            files = sorted(os.listdir(folder / name))
        inside = [f"{name}/{file}" for file in files if file.endswith(SUFFIXES)]
        unread += inside or [name]
    return unread


def _list_names(folder: Path) -> list[str]:
    """List what is not hidden in a folder of predictions, without what
    operators write there.
    """
    if not folder.is_dir():
        return []
    with readable(folder):
        return sorted(
            name
            for name in os.listdir(folder)
            if name[0] != "." and name not in (SYSTEMS_FILE, ENTRY_FILE)
        )
