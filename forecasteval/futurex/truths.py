"""Truths beside a dataset: dataset/NAME.truths.csv (or .json, .jsonl) fills or replaces the truths
of dataset/NAME.json, so that nobody edits a file of questions to resolve it.

A record has "id" and "ground_truth", and may have "Std" and "void". A value that is absent, null
or blank says nothing: the dataset's stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from forecasteval.common.errors import InputError, RecordNotes, printable
from forecasteval.common.files import find_truths
from forecasteval.common.records import BadRecord, Record, RecordFile, is_null, repeated_keys

_FIELDS: Final = ("ground_truth", "Std", "void")


class QuestionFile(RecordFile):
    """The questions of a dataset, with the truths of the file beside it if there is one."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        beside = find_truths(path)
        self.truths = Truths(beside) if beside else None

    def __iter__(self) -> Iterator[Any]:
        if self.truths is None:
            yield from super().__iter__()
            return
        self.truths.begin()
        for record in super().__iter__():
            yield self.truths.resolve(record)
        self.truths.end()


class TruthFile(RecordFile):
    """The records of a file of truths, which may be `{id: truth}`."""

    value_key = "ground_truth"


class Truths:
    """The records of a file of truths, by id; it is read anew by `begin`.

    Raises InputError for records without an id or a truth, for an id that is given twice with
    different values, if no question has any of the ids, and for a file of no bytes, of which
    something was lost; no records are no truths yet.
    """

    def __init__(self, path: Path) -> None:
        self.file = TruthFile(path)
        self.unused = list[str]()  # ids that no question has, once all questions are resolved
        self._values: dict[str, dict[str, object]] = {}
        self._prompts: dict[str, object] = {}  # of the questions by id

    def begin(self) -> None:
        """Read the file."""
        self._values, self._prompts = {}, {}
        keys = Counter[str]()
        for number, record in enumerate(self.file, 1):
            place = f"{self.file.path}: {self.file.place(number)}"
            if not isinstance(record, Mapping):
                got = record.problem if isinstance(record, BadRecord) else type(record).__name__
                raise InputError(place, "expected 'id' and 'ground_truth'", got)
            keys.update(record.keys())
            self._add(record, place)
        if keys.keys().isdisjoint(_FIELDS) and (keys or not self.file.path.stat().st_size):
            shown = ", ".join(printable(repr(key), 40) for key in list(keys)[:8])
            raise InputError(str(self.file.path), "expected 'id' and 'ground_truth'", shown)

    def _add(self, record: Mapping[str, object], place: str) -> None:
        name = "" if is_null(record.get("id")) else str(record["id"]).strip()
        if not name:
            keys = ", ".join(printable(repr(key), 40) for key in list(record)[:8])
            raise InputError(place, "expected an 'id'", keys)
        values = {field: record[field] for field in _FIELDS if not is_blank(record.get(field))}
        if repeated_keys(record) or self._values.setdefault(name, values) != values:
            raise InputError(place, "expected each id once", f"{printable(name, 60)} twice")

    def resolve(self, question: object) -> object:
        """The question with the values of this file."""
        if not isinstance(question, Mapping):
            return question
        name, prompt = str(question.get("id")).strip(), question.get("prompt")
        if name in self._values and self._prompts.setdefault(name, prompt) != prompt:
            expected = "expected ids of one question each: the dataset has two prompts with"
            raise InputError(str(self.file.path), f"{expected} {printable(name, 60)}")
        row = {"ground_truth": None, **question, **self._values.get(name, {})}
        repeated = [key for key in repeated_keys(question) if key not in self._values.get(name, ())]
        return Record(row, repeated) if repeated else row

    def end(self) -> None:
        """Find the ids that no question has; InputError if that is all of them."""
        self.unused = [name for name in self._values if name not in self._prompts]
        if self._values and not self._prompts:
            raise InputError(
                str(self.file.path),
                "expected truths for the questions of this dataset",
                f"other ids: {printable(self.unused[0], 40)}",
            )

    def messages(self) -> list[str]:
        """Warnings about the file; complete once all questions have been read."""
        notes = RecordNotes()
        if self.unused:
            notes[f"{self.file.path.name}: truth without a question, not used"] = self.unused
        return notes.lines()


def is_blank(value: object) -> bool:
    """Whether a value says nothing: null, or text without a visible character."""
    return is_null(value) or (isinstance(value, str) and not value.strip())
