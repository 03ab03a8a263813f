"""Scoring: `{id: option index}` against the questions of one dataset or several.

A pick earns its option's effective score / the best of the question; missing and illegal answers earn 0 and stay in
every mean.
"""

from __future__ import annotations

import hashlib
import json
import math
import numbers
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from forecasteval.common.errors import InputError, OtherQuestionsError, RecordNotes, printable
from forecasteval.common.files import decode_utf8, read_file
from forecasteval.common.records import as_text, parse_json
from forecasteval.common.report import Report
from forecasteval.common.results import RecordDigest, Results, hash_question, hash_questions
from forecasteval.common.statistics import clustered_error, clustered_interval, mean
from forecasteval.common.version import __version__
from forecasteval.common.wing import Evaluator, Files

from .datasets import Question, Questions
from .kinds import METRICS, NAME, QUESTION_TYPES, rotation, split_id, table_of
from .pairs import compare_pairs, warn_one_sided
from .report import explain, report_blocks

if TYPE_CHECKING:
    from forecasteval.common.pages import Page

MAX_ANSWER: Final = 200  # characters that an item shows of an answer
Given = tuple[int, dict[int, Any]]  # how many orders of its options a question came in, the answer in each
Answers = dict[str, Given]
_FIELDS: Final = ("score", "exact", "yield_ratio")  # of an item, whose means METRICS are, in their order
_NOTHING: Final[Given] = (1, {})
_COERCED: Final = "index written as text or with a fraction, read"
_ILLEGAL: Final = "no index of an option, scores 0"
_SOME_ORDERS: Final = "answered in some orders only, 0 in the others"


class Choices:
    """The picks of one prediction file, or of a mapping, and the questions they answer; `sha256` is the file's."""

    def __init__(self, questions: Questions, predictions: Mapping[Any, Any], path: Path | None = None) -> None:
        self.questions, self.path = questions, path
        self.answers, self.unknown = _by_question(predictions, questions.by_id)
        if path and predictions and len(self.unknown) == len(predictions):
            expected = "expected predictions for this dataset (or --dataset, or a name that begins with its dataset's)"
            raise OtherQuestionsError(str(path), expected, "none with an id of it")
        self.sha256 = ""

    def messages(self) -> list[str]:
        return []

    def checksums(self) -> dict[str, str]:
        if not self.path:
            return {}
        return {"dataset_sha256": str(self.questions.sha256), "prediction_sha256": self.sha256}


class RxnOptEvaluator(Evaluator):
    """Scores `{id: option index}` against datasets: paths of files, or their records.

    An index is an integer from 0; "2" and 2.0 are read and counted as coerced, everything else is illegal. Missing
    and illegal answers score 0 and stay in every mean. Raises InputError for a dataset that contradicts itself.
    """

    benchmark = NAME
    explain = staticmethod(explain)

    def __init__(self, datasets: str | Path | Iterable[Any] | None = None) -> None:
        self._questions = None if datasets is None else Questions(datasets)

    def settings(self) -> dict[str, Any]:
        """The part of a signature that does not depend on the data."""
        return {"evaluator": f"{NAME} {__version__}", "missing": "zero"}

    def evaluate_all(self, predictions: Mapping[Any, Any]) -> Results:
        """The results of `{id: option index}` against the evaluator's own datasets; the docs list every key.

        avg_relative_score is the mean of effective / best effective of the picked options, exact_match_accuracy that
        of picks among the best, avg_yield_ratio that of yield / best yield, each in [0, 1] with Student's t interval,
        clustered by table. Ids NAME@1/3 to NAME@3/3 answer a question in three orders of its options.
        """
        if self._questions is None:
            raise InputError("RxnOptEvaluator", "expected datasets", "none")
        return self.evaluate(Choices(self._questions, predictions))

    def read(self, files: Files) -> Choices:
        """The picks of a file for the questions of its datasets, or else of the evaluator's own.

        Raises InputError for a file that is no `{id: option index}`, and where no id is one of the datasets.
        """
        path = files.predictions[0]
        predictions, sha256 = read_prediction(path)
        questions = Questions(files.datasets) if files.datasets else self._questions
        if questions is None:
            raise InputError(str(path), f"expected a dataset of {NAME}", "none")
        data = Choices(questions, predictions, path)
        data.sha256 = sha256
        return data

    def score(self, data: Choices) -> list[dict[str, Any]]:
        """An item per question."""
        questions = data.questions.by_id
        return [_score_item(name, question, data.answers.get(name, _NOTHING)) for name, question in questions.items()]

    def summarise(self, scores: list[dict[str, Any]], data: Choices) -> dict[str, Any]:
        """Means over all questions and over parts of them."""
        questions = data.questions.by_id
        by_type = {kind: [item for item in scores if item["question_type"] == kind] for kind in QUESTION_TYPES}
        return {
            **({"dataset": ", ".join(data.questions.names) or None} if data.path else {}),
            **_summary(scores, questions),
            "unknown_ids": len(data.unknown),
            "by_question_type": {kind: _summary(items, questions) for kind, items in by_type.items() if items},
            "by_target_key": _break_down(scores, questions, lambda question: question.key),
            "by_option_count": _break_down(scores, questions, lambda question: _size_class(len(question.relative))),
            "pairs": compare_pairs(scores),
            "warnings": _warnings(scores, data.unknown) + warn_one_sided(scores),
            "signature": {
                "data_sha256": _digest(scores, questions, data.answers),
                "questions_sha256": hash_questions(item["question"] for item in scores),
            },
            "items": scores,
        }

    def report(self, results: Mapping[str, Any], **options: Any) -> Report:
        return report_blocks(results, **options)

    def page(self, results: Mapping[str, Any], data: Choices) -> Page:
        from .page import make_page  # here: few runs make one

        return make_page(results, data.questions.sources)


def _by_question(predictions: Mapping[Any, Any], questions: Mapping[str, Question]) -> tuple[Answers, list[str]]:
    """(the answers to each question, ids that belong to no question)."""
    if not isinstance(predictions, Mapping):
        raise InputError("prediction", "expected one object {id: option index}", type(predictions).__name__)
    if len({str(name) for name in predictions}) < len(predictions):
        raise InputError("prediction", "expected ids that differ as text")
    answers: Answers = {}
    unknown = []
    for name, value in predictions.items():
        name = str(name)
        base, number, orders = (name, 1, 1) if name in questions else split_id(name)
        if base not in questions:
            unknown.append(name)
            continue
        known, by_order = answers.setdefault(base, (orders, {}))
        if known != orders:
            place = f"prediction: {printable(name, 60)}"
            raise InputError(place, "expected one number of orders for a question", f"{known} and {orders}")
        by_order[number] = value
    return answers, sorted(unknown)


# --- One question ---


def read_index(raw: object, size: int) -> tuple[int | None, str]:
    """(index or None, note) of a predicted value for a question of `size` options.

    >>> read_index(1, 3), read_index("2", 3)[0], read_index(2.0, 3)[0], read_index(True, 3)[0], read_index(3, 3)[0]
    ((1, ''), 2, 2, None, None)
    """
    if type(raw) is int:
        return (raw, "") if 0 <= raw < size else (None, _ILLEGAL)
    index, note = -1, _COERCED
    if isinstance(raw, str) and re.fullmatch(r"\s?[0-9]{1,9}\s?", raw, re.ASCII):
        index = int(raw)
    elif isinstance(raw, numbers.Integral) and not isinstance(raw, bool):
        index, note = int(raw), ""
    elif isinstance(raw, numbers.Real) and not isinstance(raw, bool) and float(raw).is_integer():
        index = int(float(raw))
    return (index, note) if 0 <= index < size else (None, _ILLEGAL)


def _score_item(name: str, question: Question, given: Given) -> dict[str, Any]:
    """The scores of a question: of an answer, or the mean over all orders of its options, 0 where one has none."""
    size, (orders, answers) = len(question.relative), given
    read = {number: read_index(raw, size) for number, raw in sorted(answers.items())}
    picked = [
        None if index is None else (index + rotation(number, orders, size)) % size
        for number, (index, _) in read.items()
    ]
    hits = [index for index in picked if index is not None]
    notes = list(dict.fromkeys(note for _, note in read.values() if note))
    if 0 < len(hits) < orders:
        notes.append(_SOME_ORDERS)
    return {
        "id": name,
        "question_type": question.kind,
        "question": hash_question(f"{name} {question.digest}"),
        "cluster": table_of(name),
        "score": math.fsum(question.relative[index] for index in hits) / orders,
        "exact": sum(index in question.answer for index in hits) / orders,
        "yield_ratio": math.fsum(question.ratios[index] for index in hits) / orders,
        "outcome": "scored" if hits else "illegal" if answers else "missing",
        "read": picked if orders > 1 else picked[0] if picked else None,
        "answer": _answer_text(given, "; ")[:MAX_ANSWER],
        "note": "; ".join(notes),
    }


def _answer_text(given: Given, between: str) -> str:
    return between.join(raw if type(raw) is str else as_text(raw) for _, raw in sorted(given[1].items()))


# --- All of them ---


def _digest(items: Iterable[Mapping[str, Any]], questions: Mapping[str, Question], answers: Answers) -> str:
    """sha256 of questions, answers and outcomes; an answer counts whole, not as an item shows it."""
    digest = RecordDigest()
    for item in items:
        name = item["id"]
        text = item["outcome"] + _answer_text(answers.get(name, _NOTHING), "\0")
        digest.add(name, questions[name].digest, text)
    return digest.hex()


def _warnings(items: Iterable[Mapping[str, Any]], unknown: Sequence[str]) -> list[str]:
    notes = RecordNotes()
    for item in items:
        for note in filter(None, item["note"].split("; ")):
            notes[note].append(item["id"])
    if unknown:
        notes["prediction without a question, not used"] += unknown
    return sorted(notes.lines())


def _summary(items: Sequence[Mapping[str, Any]], questions: Mapping[str, Question]) -> dict[str, Any]:
    """Means with errors that are clustered by table: the questions of a table share its rows."""
    answered = [item for item in items if item["outcome"] == "scored"]
    columns = {metric: [item[field] for item in items] for metric, field in zip(METRICS, _FIELDS, strict=True)}
    tables = [table_of(item["id"]) for item in items]
    uniform = zip(*(questions[item["id"]].uniform for item in items), strict=True)
    return {
        "n": len(items),
        "tables": len(set(tables)),
        **{metric: mean(values) for metric, values in columns.items()},
        "intervals": {metric: clustered_interval(values, tables) for metric, values in columns.items()},
        "standard_errors": {metric: _standard_error(values, tables) for metric, values in columns.items()},
        "uniform_guess": {metric: mean(values) for metric, values in zip(METRICS, uniform, strict=True)},
        "answered_only": {
            "n": len(answered),
            **{m: mean([item[field] for item in answered]) for m, field in zip(METRICS, _FIELDS, strict=True)},
        },
        "missing": sum(item["outcome"] == "missing" for item in items),
        "illegal": sum(item["outcome"] == "illegal" for item in items),
        "coerced": sum(_COERCED in item["note"] for item in items),
    }


def _standard_error(values: Sequence[float], tables: Sequence[str]) -> float | None:
    """None for fewer than two tables; 0 for equal values, where `clustered_error` says that nothing measures it."""
    error = clustered_error(values, tables)
    return error[0] if error else 0.0 if len(set(tables)) > 1 else None


def _break_down(
    items: Iterable[Mapping[str, Any]], questions: Mapping[str, Question], part_of: Callable[[Question], str]
) -> dict[str, dict[str, Any]]:
    """n, avg_relative_score and what a uniform guess gets, for each part of the questions."""
    parts: dict[str, list[Mapping[str, Any]]] = {}
    for item in items:
        parts.setdefault(part_of(questions[item["id"]]), []).append(item)
    return {
        part: {
            "n": len(members),
            "avg_relative_score": mean([item["score"] for item in members]),
            "uniform_guess": mean([questions[item["id"]].uniform[0] for item in members]),
        }
        for part, members in sorted(parts.items())
    }


def _size_class(size: int) -> str:
    """2, 3, 4, 5–9, 10–20 or more options, as text that sorts."""
    return f" {size}" if size < 5 else " 5–9" if size < 10 else "10–20" if size <= 20 else "over 20"


# --- Prediction files ---


def read_prediction(path: Path) -> tuple[dict[str, Any], str]:
    """(`{id: value}`, sha256) of a prediction file; InputError unless it is one JSON object without repeated keys."""
    where = str(path)
    raw = read_file(path)
    text = decode_utf8(raw, where)
    value = parse_json(text, where)
    if not isinstance(value, dict):
        raise InputError(where, "expected one object {id: option index}", type(value).__name__)
    # parse_json forgives equal values under one key, and 1 equals true
    pairs: tuple[tuple[str, Any], ...] = json.loads(text, object_pairs_hook=tuple, parse_int=str)
    twice = [name for name, count in Counter(name for name, _ in pairs).items() if count > 1]
    if twice:
        raise InputError(where, f"the id {printable(twice[0], 60)} is given twice")
    return value, hashlib.sha256(raw).hexdigest()
