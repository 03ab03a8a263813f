"""The nightly run: every file of `prediction/` scored, stored in `evaluation/` and ranked, only what is new anew."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import EvaluationError, InputError
from forecasteval.common.files import (
    SUFFIXES,
    find_dataset,
    hash_file,
    join_checksums,
    readable,
    require_folder,
    require_regular,
    set_of,
    write_atomic,
)
from forecasteval.common.records import dump_json
from forecasteval.common.results import Results
from forecasteval.common.wing import Scorer

from .about import SYSTEMS_FILE, Systems, add_about, read_systems, show_mistakes
from .board_page import write_board
from .changes import read_changes
from .history import History, append_night, read_history, today
from .page import is_current, name_missing, score_with_page
from .processes import Failure, LeftOut, Task, explain, score_files
from .ranking import make_page, rank_results, ranking_settings
from .report import board_report, format_csv, format_markdown
from .store import BOARD, hash_text, lock_folder, read_stored, result_pieces, result_text, store_result
from .systems import NO_RESULT, Forecasters, System, file_row, file_rows, from_record, read_result, to_record

_LONGEST_NAME: Final = 255  # bytes that file systems allow


class Options(NamedTuple):
    """How a night is run; `cluster` is the address of a Dask cluster, `processes` are 0 for the current one only."""

    force: bool = False  # score everything anew
    pages: bool = False  # also those of runs
    min_questions: int = 0
    min_datasets: int | None = None
    processes: int = 0
    cluster: str | None = None


DEFAULTS: Final = Options()


def evaluate_folder(root: Path, scorer: Scorer, options: Options = DEFAULTS) -> Results:
    """Score every file of `root/prediction`, store the results and the leaderboard in the folder `scorer.output`.

    A stored result is reused if its signature still holds: `scorer.settings(benchmark)`, the sha256 of its prediction
    and dataset, and its own, and with `pages` if its page stands beside it. `scorer.score` must be picklable if there
    are `processes` or a `cluster`. The files of a dataset for which `scorer.one_set` holds are one set of predictions,
    and have one result, of the dataset's name. Returns the board: `rank` of all results, with `failed` (file, reason,
    fault), `evaluated` and `reused` (counts), `ignored` (names), `llm_failures` (by kind, the files of degraded results
    and how often) and `notes`. Raises LockedError if another run is at work, and EvaluationError if nothing can be read
    or written.
    """
    folder, date = scorer.output, today()
    files, failures, ignored = list_predictions(root / "prediction")  # first: a mistyped root is not made
    with lock_folder(folder) as note:
        board = {} if options.force else read_stored(folder / f"{BOARD}.json")[0]
        plan = _plan(root, files, scorer, board, options)
        failures += plan.failures
        checksums = plan.checksums
        left_out: list[str] = []
        fresh: dict[str, System | Forecasters] = {}
        llm_failures: dict[str, dict[str, int]] = {}
        score = partial(score_with_page, scorer.score, folder) if options.pages else scorer.score
        how = options.processes, options.cluster
        with contextlib.closing(score_files(score, plan.todo, root, folder, *how)) as outcomes:
            for task, outcome in zip(plan.todo, outcomes, strict=True):
                for part in outcome:
                    if isinstance(part, Failure):
                        failures.append(part)
                        continue
                    if isinstance(part, LeftOut):
                        left_out.append(f"{part.file}: not scored: {part.reason}")
                        continue
                    fresh[part.name] = part.system
                    for kind, count in part.llm_failures.items():
                        llm_failures.setdefault(kind, {})[task.prediction] = count
                    checksums[part.name] = store_result(part.path, folder / f"{part.name}.json")
                    _write_summary(folder, part.name, part.system, checksums[part.name])
        about = read_systems(root / "prediction")
        failures.sort()
        notes = [*filter(None, [note]), *left_out, *(name_missing(folder, checksums) if options.pages else [])]
        least = options.min_questions, options.min_datasets
        ranked = _store_board(folder, board, checksums, fresh, failures, least, about)
        changes, warnings = _store_texts(folder, ranked, date)
    counts = {"evaluated": len(fresh), "reused": len(checksums) - len(fresh)}
    told = {"ignored": ignored, "llm_failures": llm_failures, "notes": notes + warnings, "changes": changes}
    return Results({**ranked, **counts, **told}, board_report, make_page)


# --- What is to be done ---


def list_predictions(folder: Path) -> tuple[list[Path], list[Failure], list[str]]:
    """The prediction files of a folder by name, those that cannot be used, and the names of what is no such file.

    Hidden files are left out, and `SYSTEMS_FILE`. Raises InputError if there is no prediction file.
    """
    require_folder(folder)
    with readable(folder):
        names = sorted(name for name in os.listdir(folder) if name[0] != "." and name != SYSTEMS_FILE)
    by_stem: dict[str, list[str]] = {}
    for name in names:
        if name.endswith(SUFFIXES):
            by_stem.setdefault(Path(name).stem, []).append(name)
    if not by_stem:
        raise InputError(str(folder), "expected prediction files", "none")
    files, failures = [], []
    for stem, same in by_stem.items():
        problem = f"expected one file with this stem, got {', '.join(same)}" if len(same) > 1 else ""
        if len(os.fsencode(f"{stem}.json")) > _LONGEST_NAME:
            problem = f"expected a shorter name: that of its result has more than {_LONGEST_NAME} bytes"
        if stem == BOARD:
            problem = f"expected another name: evaluation/{BOARD}.json is the leaderboard"
        if problem:
            failures += [Failure(name, problem) for name in same]
        else:
            files.append(folder / same[0])
    return files, failures, [name for name in names if not name.endswith(SUFFIXES)]


class _Plan(NamedTuple):
    """What a run does with each file; `checksums` are those of the stored results that still hold, by name."""

    todo: list[Task]
    checksums: dict[str, str]
    failures: list[Failure]


def _plan(root: Path, files: Iterable[Path], scorer: Scorer, board: Mapping[str, Any], options: Options) -> _Plan:
    plan = _Plan([], {}, [])
    known: dict[str, Any] = {}
    with contextlib.suppress(*NO_RESULT):  # a leaderboard that this tool did not make
        known = {row["name"]: row for row in file_rows(board)}
    expected = lru_cache(maxsize=None)(lambda benchmark: json.loads(dump_json(scorer.settings(benchmark))))  # as stored
    hash_dataset = lru_cache(maxsize=None)(hash_file)
    for task in list_tasks(root, files, scorer.one_set, plan.failures):
        try:
            task.checksums["prediction_sha256"] = join_checksums([hash_file(path) for path in task.files])
            if task.dataset:
                task.checksums["dataset_sha256"] = hash_dataset(task.dataset)
            stored = scorer.output / f"{task.name}.json"
            if stored.exists():
                require_regular(stored)
            checksum = "" if options.force else _reusable(stored, task, known.get(task.name), expected)
        except EvaluationError as error:
            plan.failures.append(Failure(task.prediction, explain(error, task.path, root)))
            continue
        if checksum and (not options.pages or is_current(stored.with_suffix(".html"), checksum)):
            plan.checksums[task.name] = checksum
        else:
            plan.todo.append(task)
    return plan


def list_tasks(
    root: Path, files: Iterable[Path], together: Callable[[Path], bool], failures: list[Failure]
) -> Iterator[Task]:
    """A task per file, or per dataset whose files are scored together."""
    groups: dict[Path, tuple[Path | None, list[Path]]] = {}  # by the dataset, or by the file itself
    one_set = lru_cache(maxsize=None)(together)
    for path in files:
        try:
            dataset = find_dataset(path, root / "dataset")
        except EvaluationError as error:
            failures.append(Failure(path.name, explain(error, path, root)))
            continue
        key = set_of(path, dataset, one_set) or path
        groups.setdefault(key, (dataset, []))[1].append(path)
    tasks = [Task(path, dataset, {}, tuple(others)) for dataset, (path, *others) in groups.values()]
    taken = {task.name for task in tasks if task.others}
    for task in tasks:
        if task.name == BOARD:
            problem = f"expected another name of the dataset: evaluation/{BOARD}.json is the leaderboard"
            failures.append(Failure(task.prediction, problem))
        elif task.name in taken and not task.others:
            problem = f"expected another name: evaluation/{task.name}.json is that of its dataset"
            failures.append(Failure(task.path.name, problem))
        else:
            yield task


def _reusable(path: Path, task: Task, known: Mapping[str, Any] | None, settings: Callable[[str], Any]) -> str:
    """The sha256 of a stored file whose signature still holds; "" without one, and where a model or a line failed.

    `known` is its row of the leaderboard: if the file is still the one that was ranked, it need not be read through.
    Raises InputError if a result of yesterday had a dataset and there is none any more.
    """
    checksum = hash_file(path) if path.exists() else ""
    if known is None or known["file_sha256"] != checksum:
        system = _read_system(path, checksum)
        if not system:
            return ""
        known = file_row(system)
    if known["prediction"] != task.prediction or known["degraded"] or "damaged_lines" in known:
        return ""
    if known["dataset"] and not task.dataset:
        raise InputError(str(task.path), f"expected its dataset, {known['dataset']}, as before (or --force)", "none")
    expected = {"dataset_sha256": None, **settings(known["benchmark"]), **task.checksums}
    holds = all(known["signature"].get(key) == value for key, value in expected.items())
    return checksum if holds and known["dataset"] == (task.dataset.name if task.dataset else None) else ""


# --- The leaderboard ---


def _store_board(
    folder: Path, board: dict[str, Any], checksums: Mapping[str, str], fresh: Mapping[str, System | Forecasters],
    failures: Sequence[Failure], least: tuple[int, int | None], about: Systems,
) -> dict[str, Any]:  # fmt: skip
    """Write leaderboard.json unless it holds just that already; the board."""
    failed = [failure._asdict() for failure in failures]
    inputs = hash_text(dump_json([ranking_settings(*least), dict(checksums), failed, about]))
    if board.get("inputs_sha256") != inputs:
        systems = [fresh.get(name) or _read_ranked(folder, name, checksums[name]) for name in sorted(checksums)]
        new = {**rank_results(systems, *least), "inputs_sha256": inputs}
        mistakes = [*about.mistakes, *add_about(new, about)]
        failures = [*failures, Failure(SYSTEMS_FILE, show_mistakes(mistakes))] if mistakes else failures
        new["failed"] = [failure._asdict() for failure in sorted(failures)]
        for row in file_rows(new):
            row["file_sha256"] = checksums[row["name"]]
        text = result_text(new)
        write_atomic(folder / f"{BOARD}.json", text)
        board = json.loads(text)
        del board["result_sha256"]
    return board


def _store_texts(folder: Path, board: dict[str, Any], date: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Append to the history, write leaderboard.csv and .md unless they hold just that already.

    What changed since the last run, and warnings. A history that cannot be read costs only itself.
    """
    changes, latest, warnings = [], [], []
    history: History | None = None
    try:
        before = read_history(folder)
    except InputError as error:
        warnings = [f"{error}; the history is not written"]
    else:
        history = append_night(folder, before, board, date)
        latest, warnings = read_changes(history), history.warnings
        changes = latest if history is not before else []
    for suffix, text in (("csv", format_csv(board)), ("md", format_markdown(board, latest))):
        path = folder / f"{BOARD}.{suffix}"
        if not (path.is_file() and path.read_bytes() == text.encode()):
            write_atomic(path, text)
    write_board(board, folder, history)
    return changes, warnings


# --- What ranking needs of a result ---


def summary_path(folder: Path, name: str) -> Path:
    return folder / ".ranking" / f"{name}.json"


def _write_summary(folder: Path, name: str, system: System | Forecasters, checksum: str) -> None:
    """Keep what ranking needs of a stored result, of this sha256, so that it need not be read whole again."""
    summary = {"file_sha256": checksum, "system": to_record(system)}
    with contextlib.suppress(EvaluationError):  # then it is read whole
        write_atomic(summary_path(folder, name), result_pieces(summary, None))


def _read_system(path: Path, checksum: str) -> System | Forecasters | None:
    """What ranking needs of the stored result with this sha256; None if it is not there, or damaged."""
    summary, _ = read_stored(summary_path(path.parent, path.stem))
    # What another version wrote, or was saved with options that a leaderboard does not take, is none.
    with contextlib.suppress(*NO_RESULT):
        if summary.get("file_sha256") == checksum:
            return from_record(summary["system"])
    stored, found = read_stored(path)
    if not stored or found != checksum:
        return None
    try:
        system = read_result(stored)
    except NO_RESULT:
        return None
    _write_summary(path.parent, path.stem, system, checksum)
    return system


def _read_ranked(folder: Path, name: str, checksum: str) -> System | Forecasters:
    system = _read_system(folder / f"{name}.json", checksum)
    if not system:
        raise EvaluationError(f"{folder / name}.json: changed while the leaderboard was made; run again")
    return system
