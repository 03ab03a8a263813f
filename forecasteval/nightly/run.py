"""The nightly run: every file of `prediction/` is scored if it is new, stored in `evaluation/` and
ranked.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from forecasteval.benchmark import Files
from forecasteval.boards.board_page import make_page
from forecasteval.boards.metadata import add_about
from forecasteval.boards.report import board_report, format_csv, format_markdown
from forecasteval.common import forms
from forecasteval.common.errors import EvaluationError, InputError, printable
from forecasteval.common.files import hash_file, write_atomic
from forecasteval.common.forms import FormError
from forecasteval.common.records import JsonObject, dump_json, hash_text
from forecasteval.common.version import PACKAGE, hash_code
from forecasteval.display.results import Results
from forecasteval.lookup import Failure, explain, failure, find_tasks
from forecasteval.nightly.corrections import forget_replaced, keep_replaced
from forecasteval.nightly.history import append_night, read_history, today
from forecasteval.nightly.pages import write_board
from forecasteval.nightly.store import (
    is_current,
    lock_folder,
    read_stored,
    read_summary,
    remove_gone,
    result_pieces,
    store_result,
    write_changed,
)
from forecasteval.nightly.tasks import Options, score_files
from forecasteval.ranking.board import file_rows, read_board
from forecasteval.ranking.changes import Change, read_changes, read_moves
from forecasteval.ranking.datasets import rank_results, ranking_settings
from forecasteval.ranking.names import BOARD, SYSTEMS_FILE, read_systems
from forecasteval.ranking.systems import (
    ForecasterTable,
    System,
    file_row,
    rename,
)
from forecasteval.scoring import Scorer

from .pages import name_missing, run_key

DEFAULTS: Final = Options()
Board = dict[str, Any]
_BY_FILE: Final = itemgetter("file", "reason")


def evaluate_folder(root: Path, scorer: Scorer, options: Options = DEFAULTS) -> Results:
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

    with lock_folder(scorer.output) as note:
        board, _ = read_stored(scorer.output / f"{BOARD}.json")
        night = _Night(root, scorer, options, [*failures], [note] if note else [])
        try:
            board = read_board(board)
            night.rows = {row["name"]: row for row in file_rows(board)}
        except FormError:  # of another version
            board = {}
        night.score(night.plan(tasks))
        present = os.listdir(root / "prediction")
        remove_gone(scorer.output, {task.name for task in tasks}, present)
        board = night.rank({} if options.force else board)
        changes, moves = night.write_texts(board, date)
    values = {
        **board,
        "evaluated": len(night.fresh),
        "reused": len(night.checksums) - len(night.fresh),
        "ignored": ignored,
        "llm_failures": night.llm_failures,
        "notes": night.notes,
        "changes": changes,
        "moves": moves,
    }
    return Results(values, board_report, make_page)


# --- The run ---


@dataclass
class _Night:
    """A run while it holds the lock of the folder of results."""

    root: Path
    scorer: Scorer
    options: Options
    failures: list[Failure]
    notes: list[str]
    # Of the files in the last leaderboard, by name.
    rows: dict[str, JsonObject] = field(default_factory=dict)
    # Of the stored results that are ranked, by name.
    checksums: dict[str, str] = field(default_factory=dict)
    fresh: dict[str, System | ForecasterTable] = field(default_factory=dict)
    llm_failures: dict[str, dict[str, int]] = field(default_factory=dict)
    waiting: dict[str, list[str]] = field(default_factory=dict)  # files, by dataset
    void: set[str] = field(default_factory=set)  # datasets of these without a question to score

    def __post_init__(self) -> None:
        self.folder = self.scorer.output

    def plan(self, tasks: Sequence[Files]) -> list[Files]:
        """The tasks whose stored result does not hold; notes the checksums of those that do."""
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
        return todo

    def _find_row(self, path: Path, checksum: str) -> Mapping[str, object] | None:
        """The row of a stored result with this sha256; None if it is damaged."""
        row = self.rows.get(path.stem)
        # As it was ranked: it need not be read through.
        if row is not None and row["file_sha256"] == checksum:
            return row
        system = read_summary(path, checksum)
        return forms.to_record(file_row(system)) if system else None

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
                path, name = self.folder / scored.path.name, scored.path.stem
                keep_replaced(path, self.rows.get(name), scored.system)
                self.checksums[name] = store_result(scored.path, path, scored.system)
                self.fresh[name] = scored.system
        if self.options.pages:
            self.notes += name_missing(self.folder, self.checksums)

    def rank(self, board: Board) -> Board:
        """Write leaderboard.json unless `board` is just that already; the board."""
        about = read_systems(self.root / "prediction")
        failed = sorted(self.failures, key=_BY_FILE)
        least = self.options.min_questions, self.options.min_datasets
        code = hash_code(PACKAGE / "ranking")  # an edited model makes another board
        inputs = hash_text(
            dump_json(
                [
                    code,
                    ranking_settings(*least),
                    self.checksums,
                    failed,
                    forms.to_record([*about]),
                    self.waiting,
                    sorted(self.void),
                ]
            )
        )
        if board.get("inputs_sha256") == inputs:
            return board
        systems = [self._read(name) for name in sorted(self.checksums)]
        about = about.without_clashes([(row.name, row.dataset) for row in map(file_row, systems)])
        systems = [rename(system, about.aliases) for system in systems]
        ranked = replace(
            rank_results(systems, *least),
            inputs_sha256=inputs,
            waiting=dict(sorted(self.waiting.items())),
            void=sorted(self.void),
        )
        new: Board = forms.to_record(ranked)
        if mistakes := [*about.mistakes, *add_about(new, about)]:
            failed.append(failure(SYSTEMS_FILE, _show_mistakes(mistakes)))
        new["failed"] = sorted(failed, key=_BY_FILE)
        for row in file_rows(new):
            row["file_sha256"] = self.checksums[row["name"]]
        path = self.folder / f"{BOARD}.json"
        write_atomic(path, result_pieces(new))
        return read_board(read_stored(path)[0])

    def _read(self, name: str) -> System | ForecasterTable:
        path = self.folder / f"{name}.json"
        system = self.fresh.get(name) or read_summary(path, self.checksums[name])
        if not system:
            raise EvaluationError(f"{path}: changed while the leaderboard was made; run again")
        return system

    def write_texts(self, board: Board, date: str) -> tuple[list[Change], list[Change]]:
        """Append to the history, write leaderboard.csv, .md and .html unless they hold just that
        already.

        Returns what changed since the last run, on datasets and over all of them. A history that
        cannot be read costs only itself.
        """
        latest: tuple[list[Change], list[Change]] = [], []
        is_new, history = False, None
        try:
            before = read_history(self.folder)
        except InputError as error:
            self.notes.append(f"{error}; the history is not written")
        else:
            history = append_night(self.folder, before, board, date)
            forget_replaced(self.folder)
            latest, is_new = (read_changes(history), read_moves(history)), history is not before
            self.notes += history.warnings
        write_changed(self.folder / f"{BOARD}.csv", format_csv(board))
        write_changed(self.folder / f"{BOARD}.md", format_markdown(board, *latest))
        write_board(board, self.folder, history)
        return latest if is_new else ([], [])


def _show_mistakes(mistakes: Sequence[str]) -> str:
    """The first five mistakes as one line."""
    more = [f"and {len(mistakes) - 5} more"] if len(mistakes) > 5 else []
    return printable("; ".join([*mistakes[:5], *more]))


def _holds(
    row: JsonObject,
    task: Files,
    checksums: Mapping[str, str],
    settings: Callable[[str], Mapping[str, object]],
) -> bool:
    """Whether a stored result is still the one of its files and settings; not where a model or a
    line failed.

    Raises InputError if it had a dataset and there is none any more.
    """
    if row["prediction"] != task.prediction or row["degraded"] or "damaged_lines" in row:
        return False
    if row["dataset"] and not task.dataset:
        raise InputError(
            str(task.path),
            f"expected its dataset, {row['dataset']}, as before (or --force)",
            "none",
        )
    beside = dict.fromkeys(("dataset_sha256", "truths_sha256"))
    expected = {**beside, **settings(row["benchmark"]), **checksums}
    same = row["dataset"] == (task.dataset.name if task.dataset else None)
    return same and all(row["signature"].get(key) == value for key, value in expected.items())
