"""The nightly run: every file of `prediction/` scored, stored in `evaluation/` and ranked, only what is new anew."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from forecasteval.common.errors import EvaluationError, InputError
from forecasteval.common.files import (
    SUFFIXES,
    find_dataset,
    hash_file,
    readable,
    require_folder,
    require_regular,
    set_of,
    write_atomic,
)
from forecasteval.common.records import dump_json
from forecasteval.common.results import Results
from forecasteval.common.wing import Scorer

from .about import SYSTEMS_FILE, add_about, read_systems, show_mistakes
from .board_page import write_board
from .changes import read_changes
from .history import append_night, read_history, today
from .page import is_current, name_missing
from .processes import Failure, Options, Task, explain, score_files
from .ranking import make_page, rank_results, ranking_settings
from .report import board_report, format_csv, format_markdown
from .store import (
    BOARD,
    hash_text,
    lock_folder,
    read_stored,
    read_summary,
    result_text,
    store_result,
    write_changed,
    write_summary,
)
from .systems import NO_RESULT, Forecasters, System, file_row, file_rows

_LONGEST_NAME: Final = 255  # bytes that file systems allow
DEFAULTS: Final = Options()
Board = dict[str, Any]


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
    date = today()
    files, failures, ignored = list_predictions(root / "prediction")  # first: a mistyped root is not made
    with lock_folder(scorer.output) as note:
        board = {} if options.force else read_stored(scorer.output / f"{BOARD}.json")[0]
        night = _Night(root, scorer, options, failures, [note] if note else [])
        night.score(night.plan(files, board))
        board = night.rank(board)
        changes = night.write_texts(board, date)
    counts = {"evaluated": len(night.fresh), "reused": len(night.checksums) - len(night.fresh), "ignored": ignored}
    messages = {"llm_failures": night.llm_failures, "notes": night.notes, "changes": changes}
    return Results({**board, **counts, **messages}, board_report, make_page)


# --- Files ---


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


def list_tasks(
    root: Path, files: Iterable[Path], together: Callable[[Path], bool], failures: list[Failure]
) -> Iterator[Task]:
    """A task per file, or per dataset whose files are scored together; `failures` grows by files without one."""
    tasks: dict[Path, Task] = {}  # by the dataset, or by the file itself
    one_set = cache(together)
    for path in files:
        try:
            dataset = find_dataset(path, root / "dataset")
        except EvaluationError as error:
            failures.append(Failure(path.name, explain(error, path, root)))
            continue
        key = set_of(path, dataset, one_set) or path
        task = tasks.get(key)
        tasks[key] = task._replace(others=(*task.others, path)) if task else Task(path, dataset)
    taken = {task.name for task in tasks.values() if task.others}
    for task in tasks.values():
        if task.name == BOARD:
            problem = f"expected another name of the dataset: evaluation/{BOARD}.json is the leaderboard"
            failures.append(Failure(task.prediction, problem))
        elif task.name in taken and not task.others:
            problem = f"expected another name: evaluation/{task.name}.json is that of its dataset"
            failures.append(Failure(task.path.name, problem))
        else:
            yield task


# --- The run ---


@dataclass
class _Night:
    """A run while it holds the lock of the folder of results."""

    root: Path
    scorer: Scorer
    options: Options
    failures: list[Failure]
    notes: list[str]
    checksums: dict[str, str] = field(default_factory=dict)  # of the stored results that are ranked, by name
    fresh: dict[str, System | Forecasters] = field(default_factory=dict)
    llm_failures: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return self.scorer.output

    def plan(self, files: Iterable[Path], board: Board) -> list[Task]:
        """The tasks whose stored result does not hold; notes the checksums of those that do."""
        rows: dict[str, Any] = {}
        with contextlib.suppress(*NO_RESULT):  # a leaderboard that this tool did not make
            rows = {row["name"]: row for row in file_rows(board)}
        settings = cache(lambda benchmark: json.loads(dump_json(self.scorer.settings(benchmark))))  # as stored
        hash_dataset = cache(hash_file)
        todo = []
        for task in list_tasks(self.root, files, self.scorer.one_set, self.failures):
            path = self.folder / f"{task.name}.json"
            try:
                checksums = task.checksums(hash_dataset)
                if path.exists():
                    require_regular(path)
                checksum = hash_file(path) if path.exists() and not self.options.force else ""
                known = _known(path, checksum, rows.get(task.name)) if checksum else None
                holds = known is not None and _holds(known, task, checksums, settings)
            except EvaluationError as error:
                self.failures.append(Failure(task.prediction, explain(error, task.path, self.root)))
                continue
            if holds and (not self.options.pages or is_current(path.with_suffix(".html"), checksum)):
                self.checksums[task.name] = checksum
            else:
                todo.append(task)
        return todo

    def score(self, tasks: Sequence[Task]) -> None:
        """Score the tasks and store their results."""
        with contextlib.closing(
            score_files(self.scorer.score, tasks, self.root, self.folder, self.options)
        ) as outcomes:
            for task, (scored, failures, left_out) in zip(tasks, outcomes, strict=True):
                self.failures += failures
                self.notes += [f"{file}: not scored: {reason}" for file, reason, _ in left_out]
                if not scored:
                    continue
                for kind, count in scored.llm_failures.items():
                    self.llm_failures.setdefault(kind, {})[task.prediction] = count
                checksum = store_result(scored.path, self.folder / f"{scored.name}.json")
                self.fresh[scored.name], self.checksums[scored.name] = scored.system, checksum
                write_summary(self.folder, scored.name, scored.system, checksum)
        if self.options.pages:
            self.notes += name_missing(self.folder, self.checksums)

    def rank(self, board: Board) -> Board:
        """Write leaderboard.json unless `board` is just that already; the board."""
        about = read_systems(self.root / "prediction")
        self.failures.sort()
        failed = [failure._asdict() for failure in self.failures]
        least = self.options.min_questions, self.options.min_datasets
        inputs = hash_text(dump_json([ranking_settings(*least), self.checksums, failed, about]))
        if board.get("inputs_sha256") == inputs:
            return board
        new = {**rank_results([self._read(name) for name in sorted(self.checksums)], *least), "inputs_sha256": inputs}
        if mistakes := [*about.mistakes, *add_about(new, about)]:
            self.failures.append(Failure(SYSTEMS_FILE, show_mistakes(mistakes)))
        new["failed"] = [failure._asdict() for failure in sorted(self.failures)]
        for row in file_rows(new):
            row["file_sha256"] = self.checksums[row["name"]]
        text = result_text(new)
        write_atomic(self.folder / f"{BOARD}.json", text)
        stored: Board = json.loads(text)
        del stored["result_sha256"]
        return stored

    def _read(self, name: str) -> System | Forecasters:
        path = self.folder / f"{name}.json"
        system = self.fresh.get(name) or read_summary(path, self.checksums[name])
        if not system:
            raise EvaluationError(f"{path}: changed while the leaderboard was made; run again")
        return system

    def write_texts(self, board: Board, date: str) -> list[dict[str, Any]]:
        """Append to the history, write leaderboard.csv, .md and .html unless they hold just that already.

        Returns what changed since the last run. A history that cannot be read costs only itself.
        """
        latest, changes, history = [], [], None
        try:
            before = read_history(self.folder)
        except InputError as error:
            self.notes.append(f"{error}; the history is not written")
        else:
            history = append_night(self.folder, before, board, date)
            latest = read_changes(history)
            changes = latest if history is not before else []
            self.notes += history.warnings
        write_changed(self.folder / f"{BOARD}.csv", format_csv(board))
        write_changed(self.folder / f"{BOARD}.md", format_markdown(board, latest))
        write_board(board, self.folder, history)
        return changes


def _known(path: Path, checksum: str, row: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """What a board says of a stored result with this sha256; None if it is not there, or damaged.

    `row` is its row of the leaderboard: if the file is still the one that was ranked, it need not be read through.
    """
    if row is not None and row["file_sha256"] == checksum:
        return row
    system = read_summary(path, checksum)
    return file_row(system) if system else None


def _holds(
    row: Mapping[str, Any], task: Task, checksums: Mapping[str, str], settings: Callable[[str], Mapping[str, Any]]
) -> bool:
    """Whether a stored result is still the one of its files and settings; not where a model or a line failed.

    Raises InputError if it had a dataset and there is none any more.
    """
    if row["prediction"] != task.prediction or row["degraded"] or "damaged_lines" in row:
        return False
    if row["dataset"] and not task.dataset:
        raise InputError(str(task.path), f"expected its dataset, {row['dataset']}, as before (or --force)", "none")
    expected = {"dataset_sha256": None, **settings(row["benchmark"]), **checksums}
    same = row["dataset"] == (task.dataset.name if task.dataset else None)
    return same and all(row["signature"].get(key) == value for key, value in expected.items())
