"""Mistakes in a dataset, and what becomes of picks before any result is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from forecasteval.benchmark import Files
from forecasteval.common.errors import InputError
from forecasteval.common.records import RecordFile
from forecasteval.display.results import Finding, Results, check_results
from forecasteval.display.submissions import Checked

from .datasets import read_answers, read_prediction, read_question, require_question
from .scoring import read_index


def find_mistakes(path: Path) -> Results:
    """Find the records that are no questions, contradict themselves, or share an id."""
    file, first, findings, number = RecordFile(path), dict[str, int](), list[Finding](), 0
    for number, record in enumerate(file, 1):
        name = str(record.get("id")) if isinstance(record, Mapping) else ""
        try:
            read_question(record, "")
        except InputError as error:
            findings.append(Finding(error.expected, name, number, error.got))
        if first.setdefault(name, number) != number:
            seen = f"first in record {first[name]}"
            findings.append(Finding("id used more than once", name, number, seen))
    return check_results(path, file.sha256, number, findings)


def check_answers(files: Files) -> Iterator[Checked]:
    """Say what becomes of each pick; of a question only id, type and options are looked at."""
    questions: dict[str, tuple[str, int]] = {}  # type, and number of options
    for path in files.datasets:
        for number, record in enumerate(RecordFile(path), 1):
            require_question(record, f"{path}: record {number}")
            questions[str(record["id"])] = record["question_type"], len(record["options"])
    answers = read_answers(read_prediction(files.path)[0])
    for name, (kind, size) in questions.items():
        if name not in answers:
            yield Checked(kind, name, "missing")
            continue
        index, note = read_index(answers[name], size)
        state = "not read" if index is None else "doubtful" if note else "read"
        yield Checked(kind, name, state, note)
    for name in sorted(answers.keys() - questions.keys()):
        yield Checked("", name, "unknown")
