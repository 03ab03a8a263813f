"""What `check` says of a folder before its night: its names and settings, and whether a
person may change a file.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from forecasteval.benchmark import Benchmark, Deadline
from forecasteval.common.errors import (
    EvaluationError,
    InputError,
    grouped_names,
    printable,
    show_count,
)
from forecasteval.common.files import belongs_to, find_dataset
from forecasteval.display.results import Results
from forecasteval.display.tables import Report
from forecasteval.lookup import explain, find_tasks, list_datasets, list_predictions
from forecasteval.nightly.entry_book import AnswerHashes, judge_change
from forecasteval.ranking.names import read_systems, split_name
from forecasteval.ranking.owners import find_foreign, find_stranger
from forecasteval.scoring import Scorer


def list_problems(name: str, problems: Sequence[str]) -> Results:
    """Make the result of checking a file of the operator: its
    mistakes, line by line.
    """
    report: Report = [
        f"Check  {name}",
        show_count(len(problems), "finding"),
        *map(printable, problems),
    ]
    return Results({"file": name, "findings": [*problems]}, lambda results: report)


def find_name_mistakes(root: Path, scorer: Scorer) -> list[str]:
    """Find the mistakes in `systems.json`, and what the names of files make of them:
    two files with one stem, two names of a system in one dataset, a file that is not
    read, or without its dataset.
    """
    folder = root / "prediction"
    systems = read_systems(folder)
    problems = [*systems.mistakes]
    tasks, failures, unread = find_tasks(root, scorer.has_questions)
    problems += [f"{failure['file']}: {failure['reason']}" for failure in failures]
    names = []
    for task in tasks:
        if task.dataset is not None:
            names.append((task.path.stem, task.dataset.name))
    problems += systems.find_clashes(names).values()
    problems += systems.find_twins({systems.system_of(*name) for name in names})
    rows = []
    for stem, dataset in names:
        row_name = split_name(stem, dataset).system
        rows.append((systems.system_of(stem, dataset), row_name))
    problems += systems.find_taken(rows).values()
    passed_over = []
    datasets = [path.stem for path in list_datasets(root)]
    for name in unread:
        if any(belongs_to(Path(name).name, dataset) for dataset in datasets):
            passed_over.append(name)
    if passed_over:
        problems.append(f"not read: {grouped_names(passed_over)}")
    for task in tasks:
        if not task.dataset and not scorer.has_questions(task.path):
            try:
                scorer.check_answers(task)
            except EvaluationError as error:
                problems.append(f"{task.prediction}: {explain(error, task.path, root)}")
    return problems


# --- A change of somebody ---

Entries = Mapping[str, AnswerHashes]  # of a file, by author


class ProposedChange(NamedTuple):
    """A change of files in `root` by a person: datasets and owners are those of `base`,
    the folder before it. Without a base all answers are new. `truths_close`: so do
    truths, not only times.
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
    is_there = os.path.lexists(path)
    if is_there and scorer.has_questions(path):
        return "has questions of its own"
    dataset = find_dataset(path, target / "dataset")
    if dataset is None:
        return ""

    benchmark = scorer.recognise(path if is_there else dataset, dataset)
    if is_there and benchmark.hash_forecasts is not None:
        # Two files with one forecaster cost both of them their results.
        systems = read_systems(target / "prediction")
        names = benchmark.hash_forecasts(path, dataset)
        strangers = [find_stranger(name, systems, change.login) for name in names]
        if problem := max(strangers, default=""):
            return problem
    if benchmark.list_deadlines is None or not benchmark.has_contest:
        return ""
    deadlines = benchmark.list_deadlines(dataset)
    new, former = _pair_entries(path, dataset, change, benchmark)
    return _describe_late_change(new, former, deadlines, change)


def _pair_entries(
    path: Path, dataset: Path, change: ProposedChange, benchmark: Benchmark
) -> tuple[Entries, Entries]:
    """Read the entries of a file after and before a change.

    A file that got another name of the same system has the entries that it had
    under the old one.
    """
    systems = read_systems((change.base or change.root) / "prediction")
    system = systems.system_of(path.stem, dataset.name)
    files_before = list_predictions(change.base) if change.base else []
    files_after = list_predictions(change.root)
    # Files that are in one of the two folders only may have been renamed.
    moved = {file.stem for file in files_before} ^ {file.stem for file in files_after}

    def is_candidate(file: Path) -> bool:
        if file.stem not in moved or not belongs_to(file.stem, dataset.stem):
            return file.stem == path.stem
        has_forecasters = benchmark.hash_forecasts is not None
        return has_forecasters or systems.system_of(file.stem, dataset.name) == system

    def read(files: Sequence[Path]) -> dict[str, Entries]:
        entries: dict[str, Entries] = {}
        for file in filter(is_candidate, files):
            with contextlib.suppress(InputError, OSError):
                entries[file.stem] = benchmark.hash_entries(file, dataset)
        return entries

    before, after = read(files_before), read(files_after)
    former = before.get(path.stem, {})
    new = after.get(path.stem, {})
    if not former:
        former = next((entries for entries in before.values() if entries == new), {})
    if not new:
        new = next((entries for entries in after.values() if entries == former), {})
    return new, former


def _describe_late_change(
    new: Entries,
    former: Entries,
    deadlines: Mapping[str, Deadline],
    change: ProposedChange,
) -> str:
    """Say which answers a change adds, changes or removes too late; ""
    if it does not.
    """

    def is_in_time(question: str, night: int) -> bool:
        deadline = deadlines.get(question)
        if night == 0 or deadline is None:
            return True
        is_known = change.truths_close and deadline.has_truth
        return not is_known and not deadline.is_past(change.now)

    late: set[str] = set()
    removed: set[str] = set()
    for author in {**former, **new}:
        verdict = judge_change(former.get(author, {}), new.get(author, {}), is_in_time)
        prefix = ""
        if author:
            prefix = f"{author}: "
        for name, _ in verdict.late:
            late.add(f"{prefix}{name}")
        for name, _ in verdict.removed:
            removed.add(f"{prefix}{name}")
    names_by_problem = {
        "has new or changed answers to questions": late,
        "removes answers to questions": removed - late,
    }
    problems = []
    for what, names in names_by_problem.items():
        if names:
            listed = grouped_names(sorted(names))
            problems.append(f"{what} that are closed or have a truth: {listed}")
    return "; ".join(problems)
