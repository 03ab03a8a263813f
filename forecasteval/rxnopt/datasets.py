"""Datasets: what scoring needs of their questions, and what must hold in every one of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from forecasteval.common.errors import InputError, printable
from forecasteval.common.records import BadRecord, RecordFile, as_text, repeated_keys
from forecasteval.common.statistics import mean

from .kinds import QUESTION_TYPES


class Question(NamedTuple):
    """What scoring needs of a question: per option relative score and yield ratio, the indices of the best."""

    kind: str
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
        given = [datasets] if isinstance(datasets, (str, Path)) else list(datasets)
        found: dict[str, Question] = {}
        digests: list[str] = []
        self.names: list[str] = []
        for source in given:
            if isinstance(source, (str, Path)):
                file = RecordFile(Path(source))
                _add_questions(file, str(source), found)
                self.names.append(Path(source).name)
                digests.append(file.sha256)
            elif isinstance(source, list):
                _add_questions(source, "dataset", found)
        _add_questions((source for source in given if not isinstance(source, (str, Path, list))), "dataset", found)
        if not found:
            raise InputError(", ".join(self.names) or "dataset", "expected questions", "none")
        self.names.sort()
        joined = "\n".join(sorted(digests)).encode()
        self.sha256 = digests[0] if len(digests) == 1 else hashlib.sha256(joined).hexdigest() if digests else None
        self.by_id = dict(sorted(found.items()))


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
    yields = _aligned(meta, "yields", size, place)
    effective = _aligned(meta, "effective_scores", size, place)
    relative = _aligned(meta, "option_relative_scores", size, place)
    best = max(effective)
    _check_scores(yields, effective, relative, place)
    exact = [index for index, value in enumerate(effective) if value == best]
    near = [index for index, value in enumerate(effective) if value >= best * (1 - 1e-9)]
    if not isinstance(answer, list) or not _is_one_of(answer, exact, near):
        raise InputError(place, f"'answer' must be {exact}, the options with the best score", as_text(answer)[:60])
    most = max(yields)
    ratios = [value / most for value in yields] if best > 0 else [1.0] * size
    relative = relative if best > 0 else [1.0] * size
    uniform = mean(relative), len(set(answer)) / size, mean(ratios)
    return Question(kind, relative, ratios, answer, uniform, f"{kind} {relative} {ratios} {answer}")


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


def _aligned(meta: Mapping[str, Any], field: str, size: int, place: str) -> list[float]:
    values = meta.get(field)
    if not isinstance(values, list) or len(values) != size:
        got = f"{len(values)} values" if isinstance(values, list) else type(values).__name__
        raise InputError(place, f"meta.{field} must hold a number for each of {size} options", got)
    for value in values:
        if type(value) not in (int, float) or not 0 <= value <= 1e9:
            raise InputError(place, f"meta.{field} must hold numbers from 0", printable(repr(value), 40))
    return values


def _check_scores(yields: Sequence[float], effective: Sequence[float], relative: Sequence[float], place: str) -> None:
    """Effective scores are yields times factors up to 1; relative scores are effective / best to six decimals."""
    best = max(effective)
    for index, (amount, value) in enumerate(zip(yields, effective, strict=True)):
        if value > amount * (1 + 1e-6) + 1e-6:
            expected = f"meta.effective_scores[{index}] disagrees with its yield ({amount:g} at most)"
            raise InputError(place, expected, f"{value}")
    for index, (value, stored) in enumerate(zip(effective, relative, strict=True)):
        if best > 0 and abs(value / best - stored) > 1.000001e-6:
            expected = f"option_relative_scores[{index}] must be effective / best = {value / best:.6f}"
            raise InputError(place, expected, str(stored))


def _is_one_of(answer: Sequence[object], *allowed: list[int]) -> bool:
    """Whether `answer` lists just the integers of an allowed list, in any order."""
    indices = [index for index in answer if type(index) is int]
    return len(indices) == len(answer) and sorted(indices) in allowed
