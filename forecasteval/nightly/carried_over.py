"""Rows that are carried over: a prediction file that is there but has no result tonight
has the row of the last board, whatever the cause.

While all others of its dataset have the same questions, it is ranked among them as if
it had been scored; without others, while it or its dataset is as it was. Else its row
stands in a table of its own, without rank and outside the table over all datasets:
nobody keeps a good score by breaking a file.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from forecasteval.benchmark import Files
from forecasteval.common.errors import EvaluationError
from forecasteval.nightly.store import StoredResult, read_result_of
from forecasteval.ranking.board import Board, RankedTable
from forecasteval.ranking.files import FileRow, ForecasterTable
from forecasteval.ranking.systems import mark


class CarriedOver(NamedTuple):
    """The results of a run with those of earlier runs, and the tables that
    stand without rank.
    """

    results: list[StoredResult]
    names: list[str]  # of those that are ranked as before
    tables: list[RankedTable]


def carry_over(
    last: Board,
    tonight: Sequence[StoredResult],
    present: Collection[str],
    waiting: Iterable[str],
    root: Path,
    folder: Path,
) -> CarriedOver:
    """Carry over the rows of files of `root` that are `present`, have no result
    `tonight`, and are not `waiting` for truths.
    """
    done = {
        *waiting,
        *chain.from_iterable(result.row.predictions for result in tonight),
    }
    missing = {*present} - done
    results = [*tonight]
    names: list[str] = []
    unranked: list[FileRow] = []
    for row in last.files:
        if missing.isdisjoint(row.predictions):
            continue
        others = [result.row for result in tonight if result.row.dataset == row.dataset]
        path = folder / f"{row.name}.json"
        stored = None
        if _has_same_questions(row, others, root):
            stored = read_result_of(path, row.file_sha256)
        if stored is None:
            unranked.append(row)
            continue
        names.append(row.name)
        results.append(
            StoredResult(path, row.file_sha256, row, mark(stored, kept=True))
        )
    tables = [
        _choose_rows(table, unranked, _list_systems(tonight, table.dataset))
        for table in last.tables
    ]
    return CarriedOver(
        results, sorted(names), [table for table in tables if table.rows]
    )


def is_partial_set(row: FileRow, last: Board, predictions: Path) -> bool:
    """Return whether a result lacks files of its set that are in the folder.

    If the questions are those of the last board, the set stays as a whole, and this
    result is not stored.
    """
    if not isinstance(row, ForecasterTable):
        return False
    files = {*row.predictions}
    for before in last.files:
        missing = {*before.predictions} - files
        is_part = missing and files < {*before.predictions}
        has_missing_files = any(os.path.lexists(predictions / name) for name in missing)
        if (
            is_part
            and has_missing_files
            and _find_questions(before) == _find_questions(row)
        ):
            return True
    return False


def _has_same_questions(row: FileRow, others: Sequence[FileRow], root: Path) -> bool:
    """Return whether a row may be ranked beside the others of tonight
    on its dataset.
    """
    if not row.dataset:
        return True
    if not others:
        return _is_as_scored(root, row)
    questions = _find_questions(row)
    return all(_find_questions(other) == questions for other in others)


def _is_as_scored(root: Path, row: FileRow) -> bool:
    """Return whether the files of a result or their dataset are those that were scored.

    If neither are, and there is no other result, nobody knows whether truths changed.
    """
    predictions = tuple(root / "prediction" / name for name in row.predictions)
    dataset = root / "dataset" / str(row.dataset)
    keys_of_files = {
        Files(predictions): ["prediction_sha256"],
        Files((), (dataset,)): ["dataset_sha256", "truths_sha256"],
    }
    for files, keys in keys_of_files.items():
        with contextlib.suppress(EvaluationError):
            sums = files.checksums()
            if all(row.signature.get(key) == sums.get(key) for key in keys):
                return True
    return False


def _find_questions(row: FileRow) -> tuple[object, ...]:
    """Find what a file was asked, and by which version and rules it was scored.

    The questions of a result without a checksum of them are its dataset and truths.
    """
    signature = row.signature
    files = [signature.get(key) for key in ("dataset_sha256", "truths_sha256")]
    return row.benchmark, signature.get("questions_sha256", files), row.policy


def _list_systems(tonight: Iterable[StoredResult], dataset: str | None) -> set[str]:
    """List the systems that have a result of tonight on a dataset."""
    files = [
        result.row for result in tonight if dataset and result.row.dataset == dataset
    ]
    sets = [
        row.name
        for file in files
        if isinstance(file, ForecasterTable)
        for row in file.rows
    ]
    return {*sets, *(file.system_name for file in files)}


def _choose_rows(table: Any, files: Sequence[FileRow], taken: Collection[str]) -> Any:
    """Leave in a table the rows of some files, without rank, if their systems
    have no others.
    """
    # A set of forecasters is marked as a whole, and not its rows.
    is_set = isinstance(table, ForecasterTable)
    rows = []
    for row in table.rows:
        row_files = [table] if is_set else row.files
        is_chosen = any(row_file is file for row_file in row_files for file in files)
        if is_chosen and row.system_name not in taken:
            rows.append(replace(row, rank=None, rank_interval=None))
    if is_set:
        return replace(table, rows=rows, kept=True)
    return replace(table, rows=[replace(row, kept=True) for row in rows])
