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
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from forecasteval import __version__
from forecasteval.common.errors import InputError, grouped_warning, printable
from forecasteval.common.files import decode_utf8, read_file
from forecasteval.common.joins import RecordDigest, hash_question, hash_questions
from forecasteval.common.records import as_text, parse_json
from forecasteval.common.report import Results
from forecasteval.common.statistics import mean, stratified_interval, variance

from .datasets import Question, Questions
from .kinds import METRICS, NAME, QUESTION_TYPES
from .pairs import compare_pairs, warn_one_sided
from .report import report_blocks

MAX_ANSWER: Final = 200  # characters that an item shows of an answer
_FIELDS: Final = ("score", "exact", "yield_ratio")  # of an item, whose means METRICS are, in their order
_NOTHING: Final = object()
_COERCED: Final = "index written as text or with a fraction, read"
_ILLEGAL: Final = "no index of an option, scores 0"


class RxnOptEvaluator:
    """Scores `{id: option index}` against datasets: paths of files, or their records.

    An index is an integer from 0; "2" and 2.0 are read and counted as coerced, everything else is illegal. Missing
    and illegal answers score 0 and stay in every mean. Raises InputError for a dataset that contradicts itself.
    """

    def __init__(self, datasets: str | Path | Iterable[Any] | None = None) -> None:
        self._questions = None if datasets is None else Questions(datasets)

    def settings(self) -> dict[str, Any]:
        """The part of a signature that does not depend on the data."""
        return {"evaluator": f"{NAME} {__version__}", "missing": "zero"}

    def evaluate_all(self, predictions: Mapping[Any, Any]) -> Results:
        """The results of `{id: option index}` against the evaluator's own datasets; the docs list every key.

        avg_relative_score is the mean of effective / best effective of the picked options, exact_match_accuracy that
        of picks among the best, avg_yield_ratio that of yield / best yield, each in [0, 1] with Student's t interval.
        """
        if self._questions is None:
            raise InputError("RxnOptEvaluator", "expected datasets", "none")
        return self._evaluate(self._questions, predictions)

    def evaluate_file(self, path: Path, datasets: Sequence[Path] = ()) -> Results:
        """The results of one prediction file against `datasets`, or else against the evaluator's own.

        Besides the keys of `evaluate_all` they name the files, and the signature has their checksums. Raises
        InputError for a file that is no `{id: option index}`, and where no id is one of the datasets.
        """
        predictions, sha256 = read_prediction(path)
        questions = Questions(datasets) if datasets else self._questions
        if questions is None:
            raise InputError(str(path), f"expected a dataset of {NAME}", "none")
        results = self._evaluate(questions, predictions)
        if predictions and results["unknown_ids"] == len(predictions):
            raise InputError(str(path), "expected predictions for this dataset", "none with an id of it")
        results["signature"].update(dataset_sha256=questions.sha256, prediction_sha256=sha256)
        files = {"name": path.stem, "prediction": path.name, "dataset": ", ".join(questions.names) or None}
        return Results({**files, **results}, report_blocks)

    def _evaluate(self, questions: Questions, predictions: Mapping[Any, Any]) -> Results:
        by_id = _by_text(predictions)
        asked = questions.by_id
        items = [_score_item(name, question, by_id.get(name, _NOTHING)) for name, question in asked.items()]
        unknown = sorted(by_id.keys() - asked.keys())
        by_type = {kind: [item for item in items if item["question_type"] == kind] for kind in QUESTION_TYPES}
        values = {
            "benchmark": NAME,
            **_summary(items, asked),
            "unknown_ids": len(unknown),
            "by_question_type": {kind: _summary(found, asked) for kind, found in by_type.items() if found},
            "pairs": compare_pairs(items),
            "warnings": _warnings(items, unknown) + warn_one_sided(items),
            "signature": {
                **self.settings(),
                "data_sha256": _digest(items, asked, by_id),
                "questions_sha256": hash_questions(item["question"] for item in items),
            },
            "items": items,
        }
        return Results(values, report_blocks)


def _by_text(predictions: Mapping[Any, Any]) -> dict[str, Any]:
    if not isinstance(predictions, Mapping):
        raise InputError("prediction", "expected one object {id: option index}", type(predictions).__name__)
    by_id = {str(name): value for name, value in predictions.items()}
    if len(by_id) < len(predictions):
        raise InputError("prediction", "expected ids that differ as text")
    return by_id


# --- One question ---


def read_index(raw: object, size: int) -> tuple[int | None, str]:
    """(index or None, note) of a predicted value for a question of `size` options.

    >>> read_index(1, 3), read_index("2", 3)[0], read_index(2.0, 3)[0], read_index(True, 3)[0], read_index(3, 3)[0]
    ((1, ''), 2, 2, None, None)
    """
    if type(raw) is int:
        return (raw, "") if 0 <= raw < size else (None, _ILLEGAL)
    if raw is _NOTHING:
        return None, ""
    index, note = -1, _COERCED
    if isinstance(raw, str) and re.fullmatch(r"\s?[0-9]{1,9}\s?", raw, re.ASCII):
        index = int(raw)
    elif isinstance(raw, numbers.Integral) and not isinstance(raw, bool):
        index, note = int(raw), ""
    elif isinstance(raw, numbers.Real) and not isinstance(raw, bool) and float(raw).is_integer():
        index = int(float(raw))
    return (index, note) if 0 <= index < size else (None, _ILLEGAL)


def _score_item(name: str, question: Question, raw: object) -> dict[str, Any]:
    index, note = read_index(raw, len(question.relative))
    return {
        "id": name,
        "question_type": question.kind,
        "question": hash_question(f"{name} {question.digest}"),
        "score": 0.0 if index is None else float(question.relative[index]),
        "exact": 0.0 if index is None else float(index in question.answer),
        "yield_ratio": 0.0 if index is None else question.ratios[index],
        "outcome": "scored" if index is not None else "missing" if raw is _NOTHING else "illegal",
        "read": index,
        "answer": _answer_text(raw)[:MAX_ANSWER],
        "note": note,
    }


def _answer_text(raw: object) -> str:
    return "" if raw is _NOTHING else raw if type(raw) is str else as_text(raw)


# --- All of them ---


def _digest(items: Iterable[Mapping[str, Any]], asked: Mapping[str, Question], by_id: Mapping[str, Any]) -> str:
    """sha256 of what was asked, answered and made of it; an answer counts whole, not as an item shows it."""
    digest = RecordDigest()
    for item in items:
        name = item["id"]
        digest.add(name, asked[name].digest, item["outcome"] + _answer_text(by_id.get(name, _NOTHING)))
    return digest.hex()


def _warnings(items: Iterable[Mapping[str, Any]], unknown: Sequence[str]) -> list[str]:
    notes: dict[str, list[str]] = {}
    for item in items:
        if item["note"]:
            notes.setdefault(item["note"], []).append(item["id"])
    if unknown:
        notes["prediction without a question, not used"] = list(unknown)
    return [grouped_warning(text, names) for text, names in sorted(notes.items())]


def _summary(items: Sequence[Mapping[str, Any]], asked: Mapping[str, Question]) -> dict[str, Any]:
    answered = [item for item in items if item["outcome"] == "scored"]
    columns = {metric: [item[field] for item in items] for metric, field in zip(METRICS, _FIELDS, strict=True)}
    uniform = zip(*(asked[item["id"]].uniform for item in items), strict=True)
    return {
        "n": len(items),
        **{metric: mean(values) for metric, values in columns.items()},
        "intervals": {metric: stratified_interval([(1.0, values)]) for metric, values in columns.items()},
        "standard_errors": {metric: _standard_error(values) for metric, values in columns.items()},
        "uniform_guess": {metric: mean(values) for metric, values in zip(METRICS, uniform, strict=True)},
        "answered_only": {
            "n": len(answered),
            **{m: mean([item[field] for item in answered]) for m, field in zip(METRICS, _FIELDS, strict=True)},
        },
        "missing": sum(item["outcome"] == "missing" for item in items),
        "illegal": sum(item["outcome"] == "illegal" for item in items),
        "coerced": sum(item["note"] == _COERCED for item in items),
    }


def _standard_error(values: Sequence[float]) -> float | None:
    """None for fewer than two values; 0 for equal ones, where `stratified_error` says that nothing measures it."""
    return math.sqrt(variance(values) / len(values)) if len(values) > 1 else None


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
