"""MiroFlow's `benchmark_results.jsonl`: a row per task, in it its attempts, each of which is a run.

A row's own answer is one of its attempts', and which one can depend on the truth (pass@k), so it counts only where no
attempts are listed. Without early stopping all rows have the same number of attempts; with it, later attempts are of
those questions only that were wrong before. A retry (`retry_id`) tries an attempt again, and the last one counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from .runs import Answer, Source, collect, is_empty
from .tables import Table

_NO_BOX: Final = r"No \boxed{} content found in the final answer."  # MiroFlow's own words where a model gave no box
_FAILED: Final = ("failed", "run_failed")


def read_miroflow(table: Table) -> Source:
    """The runs of the rows, by the numbers of their attempts."""
    source = collect("MiroFlow results", table.rows, _read_task, table.notes)
    if len({len(run.ids) for run in source.runs.values()}) == 1:
        return source
    note = "rows have different numbers of attempts: if they stop at the first right one, a later run is none"
    return source._replace(notes=[*source.notes, note])


def _read_task(row: Mapping[str, Any]) -> Iterator[Answer]:
    for number, attempt in _attempts(row).items():
        answer, problem = attempt.get("model_boxed_answer"), ""
        if answer == _NO_BOX:
            problem = "no box in the reply"
        elif is_empty(answer) and attempt.get("status") in _FAILED:
            problem = "failed"
        yield Answer(row.get("task_id"), answer, row.get("task_question"), number, problem)


def _attempts(row: Mapping[str, Any]) -> dict[int, Mapping[str, Any]]:
    """The attempts of a row by their numbers, from 1; the row itself where it lists none."""
    listed = row.get("attempts")
    attempts = [attempt for attempt in listed if isinstance(attempt, Mapping)] if isinstance(listed, list) else []
    retried = all(type(attempt.get("retry_id")) is int for attempt in attempts)
    if retried:
        attempts.sort(key=lambda attempt: int(attempt["retry_id"]))
    numbers: list[Any] = [attempt.get("attempt_number", attempt.get("attempt_id")) for attempt in attempts]
    repeated = len(set(map(repr, numbers))) < len(numbers) and not retried
    if repeated or not all(type(number) is int and 0 < number < 10**6 for number in numbers):
        numbers = list(range(1, len(attempts) + 1))
    return dict(zip(numbers, attempts, strict=True)) or {1: row}
