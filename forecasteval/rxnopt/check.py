"""Mistakes in a dataset, and what becomes of picks before any result is looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from forecasteval.benchmark import Files
from forecasteval.common.errors import InputError
from forecasteval.common.records import load_records
from forecasteval.display.results import Finding, Results, check_results
from forecasteval.display.submissions import Checked, note_file

from .datasets import read_predictions, read_question, require_question
from .scoring import FROM_TEXT, read_index


def find_mistakes(path: Path) -> Results:
    """Find the records that are no questions, contradict themselves, or share an id."""
    number = 0
    file = load_records(path)
    findings: list[Finding] = []
    ids: Counter[str] = Counter()
    for number, record in enumerate(file, 1):
        name = ""
        if isinstance(record, Mapping):
            name = str(record.get("id"))
        ids[name] += bool(name)
        try:
            read_question(record, "")
        except InputError as error:
            findings.append(Finding(error.expected, name, number, error.got))
        if ids[name] > 1:
            findings.append(Finding("id used more than once", name, number, ""))
    return check_results(path, file.sha256, number, findings)


def check_answers(files: Files) -> Iterator[Checked]:
    """Say what becomes of each pick; of a question only id, type and options
    are looked at.
    """
    datasets = {path: [*load_records(path)] for path in files.datasets}
    records = [record for questions in datasets.values() for record in questions]
    with_id = [
        record for record in records if isinstance(record, Mapping) and "id" in record
    ]
    predictions = read_predictions(files, [str(record["id"]) for record in with_id])
    answers = predictions.answers
    yield from note_file(predictions.notes)
    for path, questions in datasets.items():
        for number, record in enumerate(questions, 1):
            require_question(record, f"{path}: record {number}")
            name, kind = str(record["id"]), record["question_type"]
            if name not in answers:
                yield Checked(kind, name, "missing")
                continue
            index, note = read_index(answers.pop(name), len(record["options"]))
            state = "doubtful"
            if index is None:
                state = "not read"
            elif note in ("", FROM_TEXT):
                state = "read"
            yield Checked(kind, name, state, note)
    yield from (Checked("", name, "unknown") for name in sorted(answers))
