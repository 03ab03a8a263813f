"""Truths beside a dataset: dataset/NAME.truths.csv (or .json, .jsonl) fills or replaces
the truths of dataset/NAME.json, so that nobody edits a file of questions to resolve it.

A record has "id" and "ground_truth", and may have "Std" and "void". A value that is
absent, null or blank says nothing: the dataset's stands. The word void in place of a
truth says that the question is void, unless "void" says that it is not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, grouped_names, printable
from forecasteval.common.files import find_truths
from forecasteval.common.records import (
    BadRecord,
    Loaded,
    Record,
    is_null,
    load_records,
    repeated_keys,
)

_FIELDS: Final = ("ground_truth", "Std", "void")
_NO_BYTES: Final = hashlib.sha256().hexdigest()
_EXPECTED: Final = "expected 'id' and 'ground_truth'"


class LoadedQuestions(NamedTuple):
    """The questions of a dataset, resolved by the file of `truths` beside it,
    if there is one.
    """

    records: list[Any]
    checksums: dict[str, str]
    warnings: list[str]
    truths: Path | None


def load_questions(path: Path) -> LoadedQuestions:
    """Load the questions of a dataset with the values of its file of truths.

    Raises InputError for truths without an id or a value, for an id that is given twice
    with different values, if no question has any of the ids, and for a file of no
    bytes, of which something was lost; no records are no truths yet.
    """
    loaded, beside = load_records(path), find_truths(path)
    records, warnings = [*loaded.records], [*loaded.warnings]
    checksums = {"dataset_sha256": loaded.sha256}
    if beside is None:
        return LoadedQuestions(records, checksums, warnings, None)
    truths = load_records(beside, value_key="ground_truth")
    values = _read_truths(truths)
    prompts: dict[str, object] = {}  # of the questions by id
    for at, question in enumerate(records):
        if isinstance(question, Mapping):
            name, prompt = question_id(question), question.get("prompt")
            if name in values and prompts.setdefault(name, prompt) != prompt:
                expected = (
                    "expected ids of one question each: the dataset has two "
                    "prompts with"
                )
                raise InputError(str(beside), f"{expected} {printable(name, 60)}")
            records[at] = replace_values(question, values.get(name, {}))
    unused = [name for name in values if name not in prompts]
    if values and not prompts:
        expected = "expected truths for the questions of this dataset"
        raise InputError(
            str(beside), expected, f"other ids: {printable(unused[0], 40)}"
        )
    warnings += truths.warnings
    if unused:
        note = f"{beside.name}: truth without a question, not used"
        warnings.append(f"{note}: {grouped_names(unused)}")
    return LoadedQuestions(
        records, {**checksums, "truths_sha256": truths.sha256}, warnings, beside
    )


def _read_truths(file: Loaded) -> dict[str, dict[str, object]]:
    """Read the values that a file of truths states, by id."""
    values: dict[str, dict[str, object]] = {}
    keys: dict[str, object] = {}
    for number, record in enumerate(file, 1):
        where = f"{file.path}: {file.place(number)}"
        if not isinstance(record, Mapping):
            got = (
                record.problem
                if isinstance(record, BadRecord)
                else type(record).__name__
            )
            raise InputError(where, _EXPECTED, got)
        keys.update(record)
        name = "" if is_blank(record.get("id")) else question_id(record)
        if not name:
            raise InputError(where, "expected an 'id'", show_keys(record))
        given = {
            field: record[field] for field in _FIELDS if not is_blank(record.get(field))
        }
        if (
            str(given.get("ground_truth")).strip().lower() == "void"
            and "void" not in given
        ):
            given = {"void": True}
        if repeated_keys(record) or values.setdefault(name, given) != given:
            raise InputError(
                where, "expected each id once", f"{printable(name, 60)} twice"
            )
    if keys.keys().isdisjoint(_FIELDS) and (keys or file.sha256 == _NO_BYTES):
        raise InputError(str(file.path), _EXPECTED, show_keys(keys))
    return values


def replace_values(
    question: Mapping[str, object], values: Mapping[str, object]
) -> Mapping[str, object]:
    """Return the question with the values of its truth."""
    row = {"ground_truth": None, **question, **values}
    repeated = [key for key in repeated_keys(question) if key not in values]
    if repeated:
        return Record(row, repeated)
    return row


def question_id(question: object) -> str:
    """Return the id as text without blanks around it; "" of what is no record."""
    if not isinstance(question, (dict, Mapping)):  # dict: fast
        return ""
    return str(question.get("id")).strip()


def show_keys(keys: Iterable[str]) -> str:
    """Show the first keys of a record in a message."""
    return ", ".join([printable(repr(str(key)), 40) for key in keys][:8])


def is_blank(value: object) -> bool:
    """Return whether a value says nothing: null, or text without a
    visible character.
    """
    return is_null(value) or (isinstance(value, str) and not value.strip())
