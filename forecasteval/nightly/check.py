"""What `check` says of a folder before its night: its names and settings, and whether a person may
change a file.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from forecasteval import prophet
from forecasteval.common.errors import (
    EvaluationError,
    InputError,
    grouped_names,
    printable,
    show_count,
)
from forecasteval.common.files import find_dataset
from forecasteval.display.results import Results
from forecasteval.display.tables import Report
from forecasteval.lookup import explain, find_tasks, list_predictions
from forecasteval.ranking.names import read_systems, split_name
from forecasteval.ranking.owners import find_foreign, find_stranger
from forecasteval.scoring import Scorer


def list_problems(name: str, problems: Sequence[str]) -> Results:
    """Make the result of checking a file of the operator: its mistakes, line by line."""
    report: Report = [
        f"Check  {name}",
        show_count(len(problems), "finding"),
        *map(printable, problems),
    ]
    return Results({"file": name, "findings": [*problems]}, lambda results: report)


def find_name_mistakes(root: Path, scorer: Scorer) -> list[str]:
    """Find the mistakes in `systems.json`, and what the names of files make of them: two files with
    one stem, two names of a system in one dataset, a file whose dataset is gone.
    """
    folder = root / "prediction"
    systems = read_systems(folder)
    problems = [*systems.mistakes]
    tasks, failures, _ = find_tasks(root, scorer.has_questions)
    problems += [f"{failure['file']}: {failure['reason']}" for failure in failures]
    names = [(task.path.stem, task.dataset.name) for task in tasks if task.dataset]
    problems += systems.find_clashes(names).values()
    rows = [(systems.system_of(*name), split_name(*name).system) for name in names]
    problems += systems.find_taken(rows).values()
    for task in tasks:
        if not task.dataset and not scorer.has_questions(task.path):
            try:
                scorer.check_answers(task)
            except EvaluationError as error:
                problems.append(f"{task.prediction}: {explain(error, task.path, root)}")
    return problems


# --- A change of somebody ---


class ProposedChange(NamedTuple):
    """A change of files in `root` by a person: datasets and owners are those of `base`, the
    folder before it. Without a base all answers are new. `truths_close`: so do truths, not only
    times.
    """

    root: Path
    base: Path | None
    login: str
    now: datetime
    truths_close: bool


def find_refusal(path: Path, change: ProposedChange, scorer: Scorer) -> str:
    """Say why a person may not add, change or remove a file; "" if they may."""
    target = change.base or change.root
    if problem := find_foreign(path, change.root, target, change.login):
        return problem
    if not os.path.lexists(path):  # of one that they removed only its name counts
        return ""
    if scorer.has_questions(path):
        return "has questions of its own"
    dataset = find_dataset(path, target / "dataset")
    wing = scorer.recognise(path, dataset)
    if wing.name == prophet.NAME:
        # Two files with one forecaster cost both of them their results.
        systems = read_systems(target / "prediction")
        names = prophet.list_forecasters(path)
        return max([find_stranger(name, systems, change.login) for name in names], default="")
    if dataset and wing.hash_answers and wing.list_deadlines:
        answers = wing.hash_answers(path)
        former = _find_former(path, answers, change, wing.hash_answers)
        deadlines = wing.list_deadlines(dataset)
        late = [
            name
            for name in answers.keys() & deadlines.keys()
            if answers[name] != former.get(name)
            and (
                deadlines[name].is_past(change.now)
                or (change.truths_close and deadlines[name].has_truth)
            )
        ]
        if late:
            problem = "has new or changed answers to questions that are closed or have a truth"
            return f"{problem}: {grouped_names(sorted(late))}"
    return ""


def _find_former(
    path: Path,
    answers: Mapping[str, str],
    change: ProposedChange,
    hash_answers: Callable[[Path], dict[str, str]],
) -> Mapping[str, str]:
    """Find the answers that a file had before the change, maybe under another name."""
    for former in list_predictions(change.base) if change.base else ():
        is_same = former.stem == path.stem  # .jsonl in place of .json is the same file
        if is_same or not os.path.lexists(change.root / "prediction" / former.name):
            with contextlib.suppress(InputError):
                known = hash_answers(former)
                if is_same or known == answers:
                    return known
    return {}
