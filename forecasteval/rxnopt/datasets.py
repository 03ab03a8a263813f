"""Datasets and predictions: kinds of questions, ids, names of files; what must hold
in all of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, TypedDict

from forecasteval.benchmark import Files
from forecasteval.common.errors import InputError, RecordNotes, printable
from forecasteval.common.files import join_checksums
from forecasteval.common.records import (
    BadRecord,
    JsonObject,
    Loaded,
    as_text,
    is_null,
    load_records,
    repeated_keys,
)
from forecasteval.common.statistics import mean
from forecasteval.questions.columns import add_columns

NAME: Final = "RxnOptBench"
BASE_TYPES: Final = ("single_varying", "all_varying")
# What the type of a question ends with, and its id.
SIDES: Final = {"_reference": "_ref", "_reference_control": "_ref_control"}
QUESTION_TYPES: Final = tuple(
    f"{base}{end}" for end in ("", *SIDES) for base in BASE_TYPES
)
METRICS: Final = ("avg_relative_score", "exact_match_accuracy", "avg_yield_ratio")
TEMPLATES: Final = tuple(
    f"{base}{end}" for end in ("", "_reference") for base in BASE_TYPES
)
ALL_CONDITIONS: Final = "(all that vary)"  # what an all_varying question asks about
_NUMBERS: Final = ("yields", "effective_scores", "option_relative_scores")
_FIELDS: Final = {"id", "question_type", "answer"}  # which an item has in its own form
_BESIDE: Final = {"scores", "option_source_entries"}  # arrays of options, too


class ChoiceItem(TypedDict):
    """The scores of a question."""

    id: str
    question_type: str
    question: str  # its checksum
    cluster: str  # its table
    score: float
    exact: float
    yield_ratio: float
    outcome: str  # "scored", "illegal" or "missing"
    read: int | None
    answer: str
    note: str


def dataset_name(kind: str) -> str:
    """Name the file of a question type."""
    return f"multiple_choice_{kind}.json"


def template_of(question_type: str) -> str:
    """Name the prompt template of a question type; a control uses that of the
    plain question.
    """
    return question_type.removesuffix("_reference_control")


# --- Ids: TABLE_q1, TABLE_q1_ref, TABLE_q1_ref_control ---


def table_of(name: str) -> str:
    """Name the table of a question, by its id.

    >>> table_of("t_q1_q12_ref_control"), table_of("no question of ours")
    ('t_q1', 'no question of ours')
    """
    return re.sub(r"_q[0-9]+(?:_ref(?:_control)?)?$", "", name)


# --- What must hold ---


class AnswerKey(NamedTuple):
    """The parts of a question for scoring."""

    kind: str
    condition: str  # that it asks about
    # of the METRICS, what each option gets: relative score, exact match, yield ratio
    values: tuple[list[float], ...]
    uniform: tuple[float, ...]  # what a blind guess expects of each
    digest: str
    columns: Any  # of the dataset, that an item keeps

    @property
    def size(self) -> int:
        return len(self.values[0])


def read_keys(datasets: Iterable[Loaded], notes: RecordNotes) -> dict[str, AnswerKey]:
    """Read the answer keys of datasets, by id in its order; notes the questions that
    contradict themselves, which are left out.

    Raises InputError for a record that is no question, an id that is used more than
    once, and if no question is left.
    """
    keys: dict[str, AnswerKey] = {}
    ids: Counter[str] = Counter()
    problems: list[InputError] = []
    for dataset in datasets:
        for number, record in enumerate(dataset, 1):
            place = f"{dataset.path}: record {number}"
            where = require_question(record, place)
            name = str(record["id"])
            ids[name] += 1
            if ids[name] > 1:
                raise InputError(where, "the id is used more than once")
            try:
                keys[name] = read_question(record, place)
            except InputError as problem:
                problems.append(problem)
                notes[f"question left out: {problem.expected}"].append(name)
    if problems and not keys:
        raise problems[0]
    if not keys:
        names = sorted(Path(dataset.path).name for dataset in datasets)
        raise InputError(", ".join(names), "expected questions", "none")
    return dict(sorted(keys.items()))


def read_question(record: Any, place: str) -> AnswerKey:
    """Read the answer key of a record; InputError if arrays, answer or scores
    contradict each other.
    """
    place = require_question(record, place)
    kind, answer = record["question_type"], record.get("answer")
    yields, effective, relative = _read_numbers(record, place)
    best = max(effective)
    _require_consistent(yields, effective, relative, place)
    right = [index for index, value in enumerate(effective) if value == best]
    almost = best * (1 - 1e-9)
    near = [index for index, value in enumerate(effective) if value >= almost]
    is_list = isinstance(answer, list) and all(type(index) is int for index in answer)
    if not is_list or sorted(answer) not in (right, near):
        expected = f"'answer' must be {right}, the options with the best score"
        raise InputError(place, expected, as_text(answer)[:60])
    # Where no option has a score, each is as good as the others.
    ratios = [1.0] * len(yields)
    if best > 0:
        highest = max(yields)
        ratios = [value / highest for value in yields]
    else:
        relative = ratios
    exact = [float(index in answer) for index in range(len(yields))]
    condition = as_text(record.get("target_key")) or ALL_CONDITIONS
    digest = f"{kind} {relative} {ratios} {answer}"
    values = relative, exact, ratios
    columns: dict[str, Any] = add_columns({}, record, _FIELDS)
    return AnswerKey(kind, condition, values, tuple(map(mean, values)), digest, columns)


def _require_consistent(
    yields: Sequence[float],
    effective: Sequence[float],
    relative: Sequence[float],
    place: str,
) -> None:
    """Raise InputError unless effective scores are at most yields, and relative ones
    theirs / the best.
    """
    best = max(effective)
    if best == 0 and len(set(relative)) > 1:
        raise InputError(
            place, "option_relative_scores must be equal where no option has a score"
        )
    for index, value in enumerate(effective):
        # An effective score is a yield times factors up to 1.
        if value > yields[index] * (1 + 1e-6) + 1e-6:
            expected = f"meta.effective_scores[{index}] disagrees with its yield"
            raise InputError(
                place, f"{expected} ({yields[index]:g} at most)", f"{value}"
            )
        if best == 0:
            continue
        # Both lists are written with six decimals, and relative scores may be made
        # before rounding.
        tolerance = max(1.000001e-6, 5e-7 * (1 + 2 / best))
        if abs(value / best - relative[index]) > tolerance:
            expected = f"option_relative_scores[{index}] must be effective / best"
            got = str(relative[index])
            raise InputError(place, f"{expected} = {value / best:.6f}", got)


def read_questions(path: Path) -> list[Any]:
    """Read the questions of a dataset; InputError for a record that is none."""
    records = [*load_records(path)]
    for number, record in enumerate(records, 1):
        require_question(record, f"{path}: record {number}")
    return records


def require_question(record: object, place: str) -> str:
    """Name the place of a record with its id; InputError unless id, type and
    options are valid.
    """
    if isinstance(record, BadRecord):
        raise InputError(place, f"expected an object: {record.problem}")
    if not isinstance(record, Mapping):
        raise InputError(place, f"expected an object: got {type(record).__name__}")
    place = f"{place} (id {printable(record.get('id'), 60)})"
    name, kind, options = (
        record.get(key) for key in ("id", "question_type", "options")
    )
    if type(name) not in (str, int):
        raise InputError(place, "'id' must be text", printable(repr(name), 60))
    if kind not in QUESTION_TYPES:
        expected = f"'question_type' must be one of {', '.join(QUESTION_TYPES)}"
        raise InputError(place, expected, printable(repr(kind), 60))
    if not isinstance(options, list) or not options:
        raise InputError(place, "'options' must be a list of options")
    return place


def _read_numbers(record: JsonObject, place: str) -> list[list[float]]:
    """Read the `_NUMBERS` of a question, one for each option; InputError if there are
    others, and if a key is given twice.
    """
    size = len(record["options"])
    meta = record.get("meta")
    if not isinstance(meta, Mapping):
        raise InputError(place, "'meta' must be an object")
    if twice := repeated_keys(record) + repeated_keys(meta):
        raise InputError(place, f"'{twice[0]}' is given twice with different values")
    beside = [field for field in sorted(_BESIDE) if not is_null(meta.get(field))]
    for field in (*_NUMBERS, *beside):
        values = meta.get(field)
        expected = f"meta.{field} must hold one value for each of {size} options"
        if not isinstance(values, list):
            raise InputError(place, expected, type(values).__name__)
        if len(values) != size:
            raise InputError(place, expected, f"{len(values)} values")
    for field in _NUMBERS:
        for value in meta[field]:
            if type(value) not in (int, float) or not 0 <= value <= 1e9:
                expected = f"meta.{field} must hold numbers from 0"
                raise InputError(place, expected, printable(repr(value), 40))
    return [meta[field] for field in _NUMBERS]


# --- Predictions ---


@dataclass
class Choices:
    """The picks of a prediction, and the questions they answer."""

    datasets: Sequence[Loaded]
    keys: Mapping[str, AnswerKey]
    answers: Mapping[str, object]
    sums: Mapping[str, str]
    notes: Sequence[str] = ()

    @property
    def unknown(self) -> list[str]:
        """List the ids of no question."""
        return sorted(self.answers.keys() - self.keys.keys())

    def messages(self) -> list[str]:
        return [*self.notes]

    def checksums(self) -> Mapping[str, str]:
        return self.sums


class Prediction(NamedTuple):
    """The answers of files by id, the checksum of the files, and what is
    odd about them.
    """

    answers: dict[str, object]
    sha256: str
    notes: list[str]


def read_predictions(files: Files, ids: Iterable[str]) -> Prediction:
    """Read the answers of files to the questions with these ids, together."""
    # Here: files only
    from forecasteval.questions.answers import answers_by_id, load_answers
    from forecasteval.source.questions import Questions

    known = Questions([{"id": name} for name in ids], files.dataset)
    answers: dict[str, object] = {}
    checksums: list[str] = []
    notes: list[str] = []
    for path in files.predictions:
        loaded = load_answers(path, known, files.any_form)
        problems = RecordNotes()
        answers |= read_answers(answers_by_id(loaded, problems))
        checksums.append(loaded.sha256)
        notes += [*loaded.warnings, *problems.lines()]
    return Prediction(answers, join_checksums(checksums), notes)


def read_answers(predictions: Mapping[Any, object]) -> dict[str, object]:
    """Return the answers by id as text, without null, which is none; InputError unless
    they are an object with different ids.
    """
    if not isinstance(predictions, Mapping):
        expected = "expected one object {id: option index}"
        raise InputError("prediction", expected, type(predictions).__name__)
    if len(set(map(str, predictions))) < len(predictions):
        raise InputError("prediction", "expected ids that differ as text")
    return {
        str(name): value for name, value in predictions.items() if value is not None
    }
