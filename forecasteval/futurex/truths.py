"""Truths beside a dataset: dataset/NAME.truths.csv (or .json, .jsonl) fills or replaces the truths
of dataset/NAME.json, so that nobody edits a file of questions to resolve it.

A record has "id" and "ground_truth", and may have "Std" and "void". A value that is absent, null
or blank says nothing: the dataset's stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from forecasteval.common.errors import InputError, grouped_names, printable
from forecasteval.common.files import find_truths
from forecasteval.common.records import BadRecord, Record, RecordFile, is_null, repeated_keys

_FIELDS: Final = ("ground_truth", "Std", "void")
_EXPECTED: Final = "expected 'id' and 'ground_truth'"


class TruthFile(RecordFile):
    """The records of a file of truths, which may be `{id: truth}`."""

    value_key = "ground_truth"


class QuestionFile(RecordFile):
    """The questions of a dataset, with the values of the file of `truths` beside it if there is
    one; `unused` are the ids there that no question has, once all questions are read.

    Raises InputError for truths without an id or a value, for an id that is given twice with
    different values, if no question has any of the ids, and for a file of no bytes, of which
    something was lost; no records are no truths yet.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        beside = find_truths(path)
        self.truths = TruthFile(beside) if beside else None
        self.unused = list[str]()

    def __iter__(self) -> Iterator[Any]:
        if self.truths is None:
            yield from super().__iter__()
            return
        where, values = str(self.truths.path), _read_truths(self.truths)
        prompts: dict[str, object] = {}  # of the questions by id
        for question in super().__iter__():
            if isinstance(question, Mapping):
                name, prompt = question_id(question), question.get("prompt")
                if name in values and prompts.setdefault(name, prompt) != prompt:
                    expected = "expected ids of one question each: the dataset has two prompts with"
                    raise InputError(where, f"{expected} {printable(name, 60)}")
                question = _resolve(question, values.get(name, {}))
            yield question
        self.unused = [name for name in values if name not in prompts]
        if values and not prompts:
            expected = "expected truths for the questions of this dataset"
            raise InputError(where, expected, f"other ids: {printable(self.unused[0], 40)}")

    def messages(self) -> list[str]:
        """Warnings about the truths; complete once all questions have been read."""
        if not self.truths or not self.unused:
            return []
        note = f"{self.truths.path.name}: truth without a question, not used"
        return [f"{note}: {grouped_names(self.unused)}"]


def _read_truths(file: RecordFile) -> dict[str, dict[str, object]]:
    """The values that a file of truths states, by id."""
    values: dict[str, dict[str, object]] = {}
    keys: dict[str, object] = {}
    for number, record in enumerate(file, 1):
        place = f"{file.path}: {file.place(number)}"
        if not isinstance(record, Mapping):
            got = record.problem if isinstance(record, BadRecord) else type(record).__name__
            raise InputError(place, _EXPECTED, got)
        keys.update(record)
        name = "" if is_blank(record.get("id")) else question_id(record)
        if not name:
            raise InputError(place, "expected an 'id'", show_keys(record))
        given = {field: record[field] for field in _FIELDS if not is_blank(record.get(field))}
        if repeated_keys(record) or values.setdefault(name, given) != given:
            raise InputError(place, "expected each id once", f"{printable(name, 60)} twice")
    if keys.keys().isdisjoint(_FIELDS) and (keys or not file.path.stat().st_size):
        raise InputError(str(file.path), _EXPECTED, show_keys(keys))
    return values


def _resolve(question: Mapping[str, object], values: Mapping[str, object]) -> Mapping[str, object]:
    """The question with the values of its truth."""
    row = {"ground_truth": None, **question, **values}
    repeated = [key for key in repeated_keys(question) if key not in values]
    return Record(row, repeated) if repeated else row


def question_id(question: object) -> str:
    """The id as text without blanks around it; "" of what is no record."""
    return str(question.get("id")).strip() if isinstance(question, Mapping) else ""


def show_keys(keys: Iterable[str]) -> str:
    """The first keys of a record in a message."""
    return ", ".join([printable(repr(str(key)), 40) for key in keys][:8])


def is_blank(value: object) -> bool:
    """Whether a value says nothing: null, or text without a visible character."""
    return is_null(value) or (isinstance(value, str) and not value.strip())
