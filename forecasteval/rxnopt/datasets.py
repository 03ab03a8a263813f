"""Datasets: what scoring needs of their questions, and what must hold in every one of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, printable
from forecasteval.common.records import BadRecord, RecordFile, as_text, repeated_keys
from forecasteval.common.statistics import mean

from .kinds import QUESTION_TYPES

ALL_CONDITIONS: Final = "(all that vary)"  # what an all_varying question asks about
_NUMBERS: Final = ("yields", "effective_scores", "option_relative_scores")
_PER_OPTION: Final = (*_NUMBERS, "scores", "option_source_entries")


class Question(NamedTuple):
    """What scoring needs of a question: per option relative score and yield ratio, the indices of the best."""

    kind: str
    key: str  # the condition that it asks about
    relative: list[float]
    ratios: list[float]
    answer: list[int]
    uniform: tuple[float, float, float]  # what a blind guess expects: relative score, exact match, yield ratio
    digest: str


class Questions:
    """The questions of datasets, by id in its order: of paths of files, or of their records.

    `names` are the files' names. `sha256` is a file's own checksum, of several files the checksum of theirs, whatever
    the order given; None if there is no file. Raises InputError for a dataset that contradicts itself, an id that is
    used more than once, and if there is no question.
    """

    def __init__(self, datasets: str | Path | Iterable[Any]) -> None:
        self.sources = given = [datasets] if isinstance(datasets, (str, Path)) else list(datasets)
        files = [RecordFile(Path(source)) for source in given if isinstance(source, (str, Path))]
        by_id: dict[str, Question] = {}
        for file in files:
            _add_questions(file, str(file.path), by_id)
        for source in given:
            if isinstance(source, list):
                _add_questions(source, "dataset", by_id)
        _add_questions((source for source in given if not isinstance(source, (str, Path, list))), "dataset", by_id)
        self.names = sorted(file.path.name for file in files)
        if not by_id:
            raise InputError(", ".join(self.names) or "dataset", "expected questions", "none")
        digests = sorted(file.sha256 for file in files)
        joined = hashlib.sha256("\n".join(digests).encode()).hexdigest() if digests else None
        self.sha256 = digests[0] if len(digests) == 1 else joined
        self.by_id = dict(sorted(by_id.items()))


def read_records(sources: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    """The records of datasets that were read before: of paths, lists, or the records themselves."""
    for source in sources:
        records = RecordFile(Path(source)) if isinstance(source, (str, Path)) else source
        yield from records if isinstance(records, (RecordFile, list)) else [records]


def _add_questions(records: Iterable[Any], where: str, questions: dict[str, Question]) -> None:
    for number, record in enumerate(records, 1):
        question = read_question(record, f"{where}: record {number}")
        name = str(record["id"])
        if name in questions:
            raise InputError(f"{where}: record {number} (id {printable(name, 60)})", "the id is used more than once")
        questions[name] = question


def read_question(record: object, place: str) -> Question:
    """The question of a dataset's record; InputError if its arrays, its answer or its scores contradict each other."""
    if not isinstance(record, Mapping):
        problem = record.problem if isinstance(record, BadRecord) else f"got {type(record).__name__}"
        raise InputError(place, f"expected an object: {problem}")
    place = f"{place} (id {printable(record.get('id'), 60)})"
    _check_fields(record, place)
    kind, meta, answer, size = record["question_type"], record["meta"], record.get("answer"), len(record["options"])
    yields, effective, relative = (_numbers(meta, field, place) for field in _NUMBERS)
    _check_scores(yields, effective, relative, place)
    best, most = max(effective), max(yields)
    exact = [index for index, value in enumerate(effective) if value == best]
    near = [index for index, value in enumerate(effective) if value >= best * (1 - 1e-9)]
    indices = [index for index in answer if type(index) is int] if isinstance(answer, list) else []
    if not isinstance(answer, list) or len(indices) < len(answer) or sorted(indices) not in (exact, near):
        raise InputError(place, f"'answer' must be {exact}, the options with the best score", as_text(answer)[:60])
    ratios = [value / most for value in yields] if best > 0 else [1.0] * size
    relative = relative if best > 0 else [1.0] * size
    uniform = mean(relative), len(set(indices)) / size, mean(ratios)
    key = as_text(record.get("target_key")) or ALL_CONDITIONS
    return Question(kind, key, relative, ratios, indices, uniform, f"{kind} {relative} {ratios} {answer}")


def _check_fields(record: Mapping[str, Any], place: str) -> None:
    """InputError unless id, type, options and meta are what they must be, and no key is given twice."""
    name, kind, options, meta = (record.get(key) for key in ("id", "question_type", "options", "meta"))
    if not isinstance(name, (str, int)) or isinstance(name, bool):
        raise InputError(place, "'id' must be text", printable(repr(name), 60))
    if kind not in QUESTION_TYPES:
        expected = f"'question_type' must be one of {', '.join(QUESTION_TYPES)}"
        raise InputError(place, expected, printable(repr(kind), 60))
    if not isinstance(options, list) or not options:
        raise InputError(place, "'options' must be a list of options")
    if not isinstance(meta, Mapping):
        raise InputError(place, "'meta' must be an object")
    if twice := repeated_keys(record) + repeated_keys(meta):
        raise InputError(place, f"'{twice[0]}' is given twice with different values")
    for field in _PER_OPTION:
        values = meta.get(field)
        if (field in meta or field in _NUMBERS) and (not isinstance(values, list) or len(values) != len(options)):
            got = f"{len(values)} values" if isinstance(values, list) else type(values).__name__
            raise InputError(place, f"meta.{field} must hold one value for each of {len(options)} options", got)


def _numbers(meta: Mapping[str, Any], field: str, place: str) -> list[float]:
    values: list[float] = meta[field]
    for value in values:
        if type(value) not in (int, float) or not 0 <= value <= 1e9:
            raise InputError(place, f"meta.{field} must hold numbers from 0", printable(repr(value), 40))
    return values


def _check_scores(yields: Sequence[float], effective: Sequence[float], relative: Sequence[float], place: str) -> None:
    """Effective scores are yields times factors up to 1; relative scores are effective / best to six decimals."""
    best = max(effective)
    for index, (amount, value, stored) in enumerate(zip(yields, effective, relative, strict=True)):
        if value > amount * (1 + 1e-6) + 1e-6:
            expected = f"meta.effective_scores[{index}] disagrees with its yield ({amount:g} at most)"
            raise InputError(place, expected, f"{value}")
        if best > 0 and abs(value / best - stored) > 1.000001e-6:
            expected = f"option_relative_scores[{index}] must be effective / best = {value / best:.6f}"
            raise InputError(place, expected, str(stored))
