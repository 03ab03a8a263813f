"""MiroFlow's `benchmark_results.jsonl`: a row per task, in it its attempts, each of which is a run.

A row's own answer is one of its attempts', and which one can depend on the truth (pass@k), so it counts only where no
attempts are listed. Without early stopping all rows have the same number of attempts; with it, later attempts are of
those questions only that were wrong before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from forecasteval.common.records import BadRecord

from .runs import Run, Source, is_empty

_NO_BOX: Final = r"No \boxed{} content found in the final answer."  # MiroFlow's own words where a model gave no box
_FAILED: Final = ("failed", "run_failed")


def is_miroflow(keys: Sequence[str]) -> bool:
    """Whether records with these keys are MiroFlow's."""
    return "task_id" in keys and ("model_boxed_answer" in keys or "attempts" in keys)


def read_miroflow(records: Sequence[Any]) -> Source:
    """The runs of the rows, by the numbers of their attempts."""
    runs: dict[int, Run] = {1: Run()}
    attempts_of = []
    for number, row in enumerate(records, 1):
        if not isinstance(row, Mapping):
            problem = f" ({row.problem})" if isinstance(row, BadRecord) else ""
            runs[1].leave_out("no object", f"record {number}{problem}")
            continue
        attempts = _attempts(row)
        attempts_of.append((row.get("task_id"), attempts.keys()))
        for run, attempt in attempts.items():
            _add(runs.setdefault(run, Run()), row, attempt, f"record {number}")
    for name, attempted in attempts_of:
        for run in runs.keys() - attempted:
            runs[run].leave_out("not attempted", name)
    uneven = len({len(attempted) for _, attempted in attempts_of}) > 1
    notes = ["rows have different numbers of attempts: if they stop at the first right one, a later run is none"]
    return Source("MiroFlow results", dict(sorted(runs.items())), notes if uneven else [])


def _attempts(row: Mapping[str, Any]) -> dict[int, Mapping[str, Any]]:
    """The attempts of a row by their numbers, from 1; the row itself where it lists none."""
    listed = row.get("attempts")
    attempts = [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    numbers: list[Any] = [one.get("attempt_id") for one in attempts]
    if len(set(map(repr, numbers))) < len(numbers) or not all(type(n) is int and 0 < n < 10**6 for n in numbers):
        numbers = list(range(1, len(attempts) + 1))
    return dict(zip(numbers, attempts, strict=True)) or {1: row}


def _add(run: Run, row: Mapping[str, Any], attempt: Mapping[str, Any], place: str) -> None:
    name, answer = row.get("task_id"), attempt.get("model_boxed_answer")
    if answer == _NO_BOX:
        run.leave_out("no box in the reply", name)
    elif is_empty(answer) and attempt.get("status") in _FAILED:
        run.leave_out("failed", name)
    else:
        run.add(name, answer, row.get("task_question"), place)
