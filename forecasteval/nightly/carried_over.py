"""Rows that stay: a prediction file that is there but has no result tonight keeps the row that it
has on the last board, whatever the cause.

While all others of its dataset have the same questions, it is ranked among them as if it had been
scored; without others, while it or its dataset is as it was. Else its row stands in a table of its
own, without rank and outside the table over all datasets: nobody keeps a good score by breaking a
file.
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


class KeptRows(NamedTuple):
    """The results of a night with those that are kept, and the tables that stand without rank."""

    results: list[StoredResult]
    kept: list[str]  # the names of those that are ranked as before
    tables: list[RankedTable]


def keep_rows(
    last: Board,
    tonight: Sequence[StoredResult],
    present: Collection[str],
    waiting: Iterable[str],
    root: Path,
    folder: Path,
) -> KeptRows:
    """Keep the rows of files of `root` that are `present`, have no result `tonight`, and are not
    `waiting` for truths.
    """
    done = {*waiting, *chain.from_iterable(result.row.predictions for result in tonight)}
    missing = {*present} - done
    results = [*tonight]
    kept: list[str] = []
    unranked: list[FileRow] = []
    for row in last.files:
        if missing.isdisjoint(row.predictions):
            continue
        others = [each for each in tonight if row.dataset and each.row.dataset == row.dataset]
        path = folder / f"{row.name}.json"
        is_same = all(_find_questions(each.row) == _find_questions(row) for each in others)
        if not others and row.dataset:
            is_same = _is_as_scored(root, row)
        stored = read_result_of(path, row.file_sha256) if is_same else None
        if stored is None:
            unranked.append(row)
            continue
        kept.append(row.name)
        results.append(StoredResult(path, row.file_sha256, row, mark(stored, kept=True)))
    tables = [
        _choose_rows(table, unranked, _list_systems(tonight, table.dataset))
        for table in last.tables
    ]
    return KeptRows(results, sorted(kept), [table for table in tables if table.rows])


def is_part(row: FileRow, last: Board, predictions: Path) -> bool:
    """Tell whether a result lacks files of its set that are in the folder, while the questions are
    those of the last board. Then the set stays as a whole, and this result is not stored.
    """
    if not isinstance(row, ForecasterTable):
        return False
    files = {*row.predictions}
    return any(
        files < {*before.predictions}
        and any(os.path.lexists(predictions / name) for name in {*before.predictions} - files)
        and _find_questions(before) == _find_questions(row)
        for before in last.files
    )


def _is_as_scored(root: Path, row: FileRow) -> bool:
    """Tell whether the files of a result or their dataset are those that were scored. Of two that
    are not, and beside no other result, nobody knows whether truths changed.
    """
    files = tuple(root / "prediction" / name for name in row.predictions)
    for part, keys in (
        (Files(files, ()), ("prediction_sha256",)),
        (Files((), (root / "dataset" / str(row.dataset),)), ("dataset_sha256", "truths_sha256")),
    ):
        with contextlib.suppress(EvaluationError):
            sums = part.checksums()
            if all(row.signature.get(key) == sums.get(key) for key in keys):
                return True
    return False


def _find_questions(row: FileRow) -> tuple[object, ...]:
    """Tell what a file was asked, and by which version and rules it was scored. The questions of a
    result without a checksum of them are its dataset and truths.
    """
    signature = row.signature
    files = [signature.get(key) for key in ("dataset_sha256", "truths_sha256")]
    return row.benchmark, signature.get("questions_sha256", files), row.policy


def _list_systems(tonight: Iterable[StoredResult], dataset: str | None) -> set[str]:
    """List the systems that have a result of tonight on a dataset."""
    files = [each.row for each in tonight if dataset and each.row.dataset == dataset]
    sets = [row.name for file in files if isinstance(file, ForecasterTable) for row in file.rows]
    return {*sets, *(file.system_name for file in files)}


def _choose_rows(table: Any, files: Sequence[FileRow], taken: Collection[str]) -> Any:
    """Leave in a table the rows of some files, without rank, if their systems have no others."""
    is_set = isinstance(table, ForecasterTable)  # which is marked as a whole, and not its rows
    rows = []
    for row in table.rows:
        of_row = [table] if is_set else row.files
        if row.system_name in taken or not any(own is file for own in of_row for file in files):
            continue
        unranked = replace(row, rank=None, rank_interval=None)
        rows.append(unranked if is_set else replace(unranked, kept=True))
    chosen = replace(table, rows=rows)
    return replace(chosen, kept=True) if is_set else chosen
