"""The nightly run: every file of `prediction/` is scored if it is new, stored in `evaluation/` and
ranked.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from forecasteval.benchmark import Files
from forecasteval.boards.changes import Change
from forecasteval.boards.metadata import add_about
from forecasteval.boards.report import BoardResults, format_csv, format_markdown
from forecasteval.common import forms
from forecasteval.common.errors import EvaluationError, InputError, grouped_names, printable
from forecasteval.common.files import hash_file, write_atomic
from forecasteval.common.forms import FormError
from forecasteval.common.records import dump_json, hash_text
from forecasteval.common.version import PACKAGE, hash_code
from forecasteval.lookup import Failure, explain, failure, find_tasks
from forecasteval.nightly.history import append_night, find_corrections, read_history, today
from forecasteval.nightly.pages import write_board
from forecasteval.nightly.store import (
    is_current,
    lock_folder,
    read_result_of,
    read_stored,
    remove_gone,
    result_pieces,
    store_result,
    write_changed,
)
from forecasteval.nightly.tasks import NightOptions, ScoredFile, score_files
from forecasteval.ranking.board import Board, read_board
from forecasteval.ranking.datasets import rank_results, ranking_settings
from forecasteval.ranking.files import FileRow, ForecasterTable
from forecasteval.ranking.names import BOARD, SYSTEMS_FILE, Systems, read_systems
from forecasteval.ranking.systems import System, file_row, mark_file, rename
from forecasteval.scoring import Scorer

from .pages import run_key

DEFAULTS: Final = NightOptions()
_BY_FILE: Final[Callable[[Any], Any]] = itemgetter("file", "reason")


def evaluate_folder(root: Path, scorer: Scorer, options: NightOptions = DEFAULTS) -> BoardResults:
    """Score every file of `root/prediction`, store the results and the leaderboard in the folder
    `scorer.output`.

    A stored result is reused if its signature still holds: `scorer.settings(benchmark)`, the sha256
    of its prediction and dataset, and its own, and with `pages` if its page stands beside it.
    `scorer.score` must be picklable if there are `processes` or a `cluster`. The files of a dataset
    for which `scorer.ranks_together` holds are one set of predictions, and have one result, of the
    dataset's name. Returns the board: `rank` of all results, with `failed` (file, reason, fault),
    `evaluated` and `reused` (counts), `ignored` (names), `llm_failures` (by kind, the files of
    degraded results and how often) and `notes`. Raises LockedError if another run is at work, and
    EvaluationError if nothing can be read or written.
    """
    date = today()
    # First: a folder that was mistyped is not made.
    tasks, failures, ignored = find_tasks(root, scorer.has_questions, scorer.ranks_together)

    with lock_folder(scorer.output):
        night = _Night(root, scorer, options, [*failures])
        last = None
        with contextlib.suppress(FormError):  # of another version
            last = read_board(read_stored(scorer.output / f"{BOARD}.json")[0])
            night.rows = {file.name: file for file in last.files}
        night.score(night.plan(tasks))
        present = os.listdir(root / "prediction")
        night.keep_unread(present)
        remove_gone(scorer.output, {task.name for task in tasks}, present, night.rows)
        about = read_systems(root / "prediction")
        board = night.rank(None if options.force else last, about)
        changes = night.write_texts(board, about, present, date)
    counts = {
        "evaluated": len(night.fresh),
        "reused": len(night.checksums) - len(night.fresh) - len(night.kept),
        "ignored": ignored,
        "llm_failures": night.llm_failures,
        "notes": night.notes,
        "changes": changes,
    }
    return BoardResults(board, counts, changes)


# --- The run ---


@dataclass
class _Night:
    """Hold the state of a run while it has the lock of the folder of results."""

    root: Path
    scorer: Scorer
    options: NightOptions
    failures: list[Failure]
    notes: list[str] = field(default_factory=list)
    # Of the files in the last leaderboard, by name.
    rows: dict[str, FileRow] = field(default_factory=dict)
    # Of the stored results that are ranked, by name.
    checksums: dict[str, str] = field(default_factory=dict)
    fresh: list[str] = field(default_factory=list)  # those that were scored tonight
    read: dict[str, System | ForecasterTable] = field(default_factory=dict)  # of stored results
    unread: set[str] = field(default_factory=set)  # files that cannot be read, or whose dataset
    kept: list[str] = field(default_factory=list)  # stored results of these
    corrections: dict[tuple[object, object], str] = field(default_factory=dict)
    llm_failures: dict[str, dict[str, int]] = field(default_factory=dict)
    waiting: dict[str, list[str]] = field(default_factory=dict)  # files, by dataset
    void: set[str] = field(default_factory=set)  # datasets of these without a question to score

    def __post_init__(self) -> None:
        self.folder = self.scorer.output

    def plan(self, tasks: Sequence[Files]) -> list[Files]:
        """List the tasks whose stored result does not hold. Note the checksums of those that do,
        and the files that cannot be read.
        """
        # As stored.
        settings = cache(lambda benchmark: json.loads(dump_json(self.scorer.settings(benchmark))))
        hash_dataset = cache(hash_file)
        todo = []
        for task in tasks:
            path = self.folder / f"{task.name}.json"
            try:
                checksums = task.checksums(hash_dataset)
                checksum = hash_file(path) if path.exists() else ""
                row = (
                    self._find_row(path, checksum) if checksum and not self.options.force else None
                )
                holds = row is not None and _holds(row, task, checksums, settings)
            except EvaluationError as error:
                self.failures.append(failure(task.prediction, explain(error, task.path, self.root)))
                continue
            if holds and (
                not self.options.pages or is_current(path.with_suffix(".html"), run_key(checksum))
            ):
                self.checksums[task.name] = checksum
            else:
                todo.append(task)
        self.unread = {name for each in self.failures for name in each["file"].split(", ")}
        return todo

    def _find_row(self, path: Path, checksum: str) -> FileRow | None:
        """Find the row of a stored result with this sha256; None if it is damaged."""
        row = self.rows.get(path.stem)
        # As it was ranked: it need not be read through.
        if row is not None and row.file_sha256 == checksum:
            return row
        system = read_result_of(path, checksum, is_known=False)
        if system is None:
            return None
        self.read[path.stem] = system
        return file_row(system)

    def score(self, tasks: Sequence[Files]) -> None:
        """Score the tasks and store their results."""
        with contextlib.closing(
            score_files(self.scorer.score, tasks, self.root, self.folder, self.options)
        ) as outcomes:
            for task, (scored, failures, notes, waiting, void) in zip(tasks, outcomes, strict=True):
                self.failures += failures
                self.notes += notes
                if waiting:
                    dataset = task.dataset.name if task.dataset else task.prediction
                    self.waiting.setdefault(dataset, []).extend(waiting)
                    self.void |= {dataset} if void else set()
                if not scored:
                    continue
                for kind, count in scored.llm_failures.items():
                    self.llm_failures.setdefault(kind, {})[task.prediction] = count
                path = self.folder / scored.path.name
                name = scored.path.stem
                self._note_corrections(path, scored)
                self.checksums[name] = store_result(scored.path, path)
                self.fresh.append(name)
                self.read[name] = scored.system

    def _note_corrections(self, path: Path, scored: ScoredFile) -> None:
        """Compare the truths of a result with those of the stored one. Once for all files that were
        asked the same questions.
        """
        row = self.rows.get(path.stem)
        before = row.signature.get("questions_sha256") if row else None
        now = file_row(scored.system).signature.get("questions_sha256")
        if before != now and (before, now) not in self.corrections:
            self.corrections |= find_corrections(path, scored.path)

    def keep_unread(self, present: Collection[str]) -> None:
        """Leave the rows of files that cannot be read tonight, or whose dataset or truths cannot,
        as they were. Not beside results of other questions, or of another version.
        """
        for each in self.failures:
            if each["reason"].startswith(f"dataset{os.sep}"):  # it names the file at fault
                self.unread.update(each["file"].split(", "))
        fresh = [_group(file_row(system)) for system in map(self._read, self.fresh)]
        for name, row in self.rows.items():
            files = {*(row.prediction or "").split(", ")}
            dataset = row.dataset
            has_gone = dataset and not (self.root / "dataset" / dataset).exists()
            unread = files & {*present} if has_gone and not self.options.force else self.unread
            if name in self.checksums or files.isdisjoint(unread):
                continue
            if any(each[0] == dataset and each != _group(row) for each in fresh):
                continue
            if system := read_result_of(self.folder / f"{name}.json", row.file_sha256):
                self.kept.append(name)
                self.read[name] = system
                self.checksums[name] = row.file_sha256
        if self.kept:
            self.notes.append(f"not read, ranked as before: {grouped_names(sorted(self.kept))}")

    def rank(self, board: Board | None, about: Systems) -> Board:
        """Write leaderboard.json unless `board` is just that already, and give the board."""
        failed = sorted(self.failures, key=_BY_FILE)
        least = self.options.min_questions, self.options.min_datasets
        inputs = hash_text(
            dump_json(
                [
                    hash_code(PACKAGE / "ranking"),  # an edited model makes another board
                    ranking_settings(*least),
                    self.checksums,
                    failed,
                    forms.to_record([*about]),
                    self.waiting,
                    sorted(self.void),
                ]
            )
        )
        if board and board.inputs_sha256 == inputs:
            return board
        systems = [
            mark_file(self._read(name), checksum)
            for name, checksum in sorted(self.checksums.items())
        ]
        about = about.without_clashes([(row.name, row.dataset) for row in map(file_row, systems)])
        systems = [rename(system, about.aliases) for system in systems]
        ranked = replace(
            rank_results(systems, *least),
            inputs_sha256=inputs,
            waiting=dict(sorted(self.waiting.items())),
            void=sorted(self.void),
        )
        ranked, taken = add_about(ranked, about)
        if mistakes := about.mistakes + taken:
            more = [f"and {len(mistakes) - 5} more"] if len(mistakes) > 5 else []
            failed.append(failure(SYSTEMS_FILE, printable("; ".join(mistakes[:5] + more))))
        ranked = replace(ranked, failed=[{**each} for each in sorted(failed, key=_BY_FILE)])
        write_atomic(self.folder / f"{BOARD}.json", result_pieces(forms.to_record(ranked)))
        return ranked

    def _read(self, name: str) -> System | ForecasterTable:
        """Read the stored result of this name, unless it was read or made tonight."""
        if name not in self.read:
            path = self.folder / f"{name}.json"
            system = read_result_of(path, self.checksums[name])
            if not system:
                raise EvaluationError(f"{path}: changed while the leaderboard was made; run again")
            self.read[name] = system
        return self.read[name]

    def write_texts(
        self, board: Board, about: Systems, present: Collection[str], date: str
    ) -> list[Change]:
        """Append to the history, write leaderboard.csv, .md and .html unless they hold just that
        already. List what changed since the last run.

        A history that cannot be read costs only itself.
        """
        systems = {row.system_name for table in board.rankings for row in table.rows}
        aliases = {name: new for name, new in about.aliases.items() if name not in systems}
        history = before = None
        try:
            before = read_history(self.folder, aliases)
        except InputError as error:
            self.notes.append(f"{error}; the history is not written")
        else:
            history = append_night(self.folder, before, board, present, self.corrections, date)
            self.notes += history.warnings
        changes = history.changes if history else []
        write_changed(self.folder / f"{BOARD}.csv", format_csv(board))
        write_changed(self.folder / f"{BOARD}.md", format_markdown(board, changes))
        write_board(board, self.folder, history, self.options.force)
        return changes if history is not before else []


def _group(row: FileRow) -> tuple[object, ...]:
    """Tell the dataset of a file, its questions, and the version and rules that scored it."""
    return row.dataset, {
        key: value
        for key, value in row.signature.items()
        if key == "questions_sha256" or not key.endswith("sha256")
    }


def _holds(
    row: FileRow,
    task: Files,
    checksums: Mapping[str, str],
    settings: Callable[[str], Mapping[str, object]],
) -> bool:
    """Tell whether a stored result is still the one of its files and settings. Not where a model or
    a line failed.

    Raises InputError if it had a dataset and there is none any more.
    """
    if row.prediction != task.prediction or row.degraded or row.damaged_lines:
        return False
    if row.dataset and not task.dataset:
        raise InputError(
            str(task.path),
            f"expected its dataset, {row.dataset}, as before (or --force)",
            "none",
        )
    expected = {
        **dict.fromkeys(("dataset_sha256", "truths_sha256")),
        **settings(row.benchmark),
        **checksums,
    }
    same = row.dataset == (task.dataset.name if task.dataset else None)
    return same and all(row.signature.get(key) == value for key, value in expected.items())
