"""Scoring: `{id: option index}` against the questions of one dataset or several.

A pick earns its option's effective score / the best of the question; missing and
illegal answers earn 0 and stay in every mean.
"""

from __future__ import annotations

import hashlib
import itertools
import numbers
import operator
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from forecasteval.benchmark import Evaluator, Files
from forecasteval.common.errors import InputError, OtherQuestionsError, RecordNotes
from forecasteval.common.files import join_checksums
from forecasteval.common.records import (
    Loaded,
    as_text,
    encode_fields,
    group_by,
    hash_question,
    hash_questions,
    load_records,
)
from forecasteval.common.statistics import (
    TIE,
    clustered_error,
    clustered_interval,
    mean,
    t_tail,
)
from forecasteval.common.version import __version__
from forecasteval.display.results import Results

from .datasets import (
    BASE_TYPES,
    METRICS,
    NAME,
    SIDES,
    AnswerKey,
    ChoiceItem,
    Choices,
    read_answers,
    read_keys,
    read_predictions,
    table_of,
)
from .report import explain, report_blocks

if TYPE_CHECKING:
    from forecasteval.display.html import Page

MAX_ANSWER: Final = 200  # characters that an item shows of an answer
MAX_UNREAD: Final = 4000  # characters at the end of one that somebody has to read
NO_OPTION: Final = "no index of an option, scores 0"
FROM_TEXT: Final = "index read from text"
_ONE_SIDED: Final = (
    "only one side of the pairs of references and controls was answered: "
    "their difference means nothing"
)


Items = Sequence[ChoiceItem]


class RxnOptEvaluator(Evaluator[Choices, list[ChoiceItem]]):
    """Scores `{id: option index}` against datasets: paths of files, or their records.

    An index is an integer from 0; "2" and 2.0 are read and counted as coerced,
    everything else is illegal. Missing and illegal answers score 0 and stay in every
    mean. Raises InputError for a dataset that contradicts itself.
    """

    benchmark = NAME
    report = staticmethod(report_blocks)
    explain = staticmethod(explain)

    def __init__(self, datasets: str | Path | Iterable[object] | None = None) -> None:
        sources = (
            [datasets] if isinstance(datasets, (str, Path)) else [*(datasets or ())]
        )
        paths = [Path(source) for source in sources if isinstance(source, (str, Path))]
        self._datasets = [*map(load_records, paths)] or [Loaded("dataset", sources)]
        self._notes = RecordNotes()
        self._keys: dict[str, AnswerKey] = {}
        if datasets is not None:
            self._keys = read_keys(self._datasets, self._notes)

    @property
    def ids(self) -> list[str]:
        """Return the ids of the questions that do not contradict themselves."""
        return [*self._keys]

    def settings(self) -> dict[str, object]:
        """Return the part of a signature that does not depend on the data."""
        return {"evaluator": f"{NAME} {__version__}", "missing": "zero"}

    def evaluate_all(self, predictions: Mapping[Any, object]) -> Results:
        """Score `{id: option index}` against the datasets of the evaluator; the docs
        list every key.

        avg_relative_score is the mean of effective / best effective of the picked
        options, exact_match_accuracy that of picks among the best, avg_yield_ratio that
        of yield / best yield, each in [0, 1] with Student's t interval,
        clustered by table.
        """
        if not self._keys:
            raise InputError("RxnOptEvaluator", "expected datasets", "none")
        answers = read_answers(predictions)
        notes = self._notes.lines()
        return self.evaluate(Choices(self._datasets, self._keys, answers, {}, notes))

    def read(self, files: Files) -> Choices:
        """Read the picks of a file for the questions of its datasets.

        Raises InputError for a file without answers, and where no id is one
        of the datasets.
        """
        if not files.datasets:
            raise InputError(str(files.path), f"expected a dataset of {NAME}", "none")
        datasets = [*map(load_records, files.datasets)]
        left_out = RecordNotes()
        keys = read_keys(datasets, left_out)
        answers, sha256, notes = read_predictions(files, keys)
        if keys.keys().isdisjoint(answers):
            expected = "expected predictions for this dataset"
            hint = "or --dataset, or a name that begins with its dataset's"
            raise OtherQuestionsError(
                str(files.path), f"{expected} ({hint})", "other ids"
            )
        dataset_sha256 = join_checksums(sorted(dataset.sha256 for dataset in datasets))
        sums = {"dataset_sha256": dataset_sha256, "prediction_sha256": sha256}
        return Choices(datasets, keys, answers, sums, [*left_out.lines(), *notes])

    def score(self, data: Choices) -> list[ChoiceItem]:
        """Make an item of each question."""
        return [_score_item(name, key, data.answers) for name, key in data.keys.items()]

    def summarise(self, scores: list[ChoiceItem], data: Choices) -> dict[str, object]:
        """Compute means over all questions and over parts of them."""
        keys = data.keys
        by_type = group_by(scores, itemgetter("question_type"))
        signature = {
            "data_sha256": _digest(scores, data),
            "questions_sha256": hash_questions(item["question"] for item in scores),
        }
        return {
            **_summary(scores, keys),
            "unknown_ids": len(data.unknown),
            "by_question_type": {
                kind: _summary(by_type[kind], keys) for kind in sorted(by_type)
            },
            "by_target_key": _by_condition(scores, keys),
            "pairs": _compare_pairs(scores),
            "warnings": _warnings(scores, data.unknown),
            "signature": signature,
            "items": scores,
        }

    def page(self, results: Results, data: Choices) -> Page:
        from .page import make_page  # here: few commands ask for it

        return make_page(results, lambda: itertools.chain(*data.datasets))


def read_index(raw: Any, size: int) -> tuple[int | None, str]:
    """Read (index or None, note) of an answer to a question of `size` options: an
    index, or a text that states one.

    >>> read_index(1, 3), [read_index(raw, 3)[0] for raw in ("2", 2.0, "Option 2", True, 3)]
    ((1, ''), [2, 2, 2, None, None])
    """  # noqa: E501
    is_number = isinstance(raw, numbers.Real) and not isinstance(raw, bool)
    is_digits = isinstance(raw, str) and re.fullmatch(
        r"\s?[0-9]{1,9}\s?", raw, re.ASCII
    )
    if not (is_number or is_digits):
        return _read_text(raw, size)
    if not float(raw).is_integer() or not 0 <= int(raw) < size:
        return None, NO_OPTION
    if isinstance(raw, numbers.Integral):
        return int(raw), ""
    return int(raw), "index written as text or with a fraction, read"


def _read_text(raw: object, size: int) -> tuple[int | None, str]:
    """Read (index or None, note) of a reply: `Option 2`, [2], {"answer": 2}."""
    if not isinstance(raw, (str, list, Mapping)):
        return None, NO_OPTION
    from .replies import CONFLICT, parse_reply  # here: most predictions are indices

    index, reason = parse_reply(raw)
    if reason == CONFLICT:
        return None, f"{CONFLICT}, scores 0"
    if index is None or index >= size:
        return None, NO_OPTION
    return index, FROM_TEXT


def _score_item(name: str, key: AnswerKey, answers: Mapping[str, object]) -> ChoiceItem:
    """Score the answer to a question; 0 without the index of an option."""
    text = as_text(answers.get(name))
    item: ChoiceItem = {
        "id": name,
        "question_type": key.kind,
        "question": hash_question(f"{name} {key.digest}"),
        "cluster": table_of(name),
        "score": 0.0,
        "exact": 0.0,
        "yield_ratio": 0.0,
        "outcome": "missing",
        "read": None,
        "answer": text[:MAX_ANSWER],
        "note": "",
        **key.columns,
    }
    if name not in answers:
        return item
    index, item["note"] = read_index(answers[name], key.size)
    if index is None:
        item["outcome"] = "illegal"
        item["answer"] = text[-MAX_UNREAD:]
        return item
    item["outcome"] = "scored"
    item["read"] = index
    item["score"], item["exact"], item["yield_ratio"] = (
        float(row[index]) for row in key.values
    )
    return item


def _digest(items: Items, data: Choices) -> str:
    """sha256 of questions, answers and outcomes; an answer counts whole, not as an
    item shows it.
    """
    digest = hashlib.sha256()
    for item in items:
        name = item["id"]
        answer = item["outcome"] + as_text(data.answers.get(name))
        digest.update(encode_fields(name, data.keys[name].digest, answer))
    return digest.hexdigest()


def _warnings(items: Items, unknown: Sequence[str]) -> list[str]:
    notes = RecordNotes()
    for item in items:
        note = item["note"]
        is_counted = note in ("", FROM_TEXT)
        if not is_counted:
            notes[note].append(item["id"])
    if unknown:
        notes["prediction without a question, not used"] += unknown
    lines = sorted(notes.lines())
    sides = [side.values() for side in _find_sides(items) if side]
    answered = [any(item["outcome"] == "scored" for item in side) for side in sides]
    if sorted(answered) == [False, True]:
        lines.append(_ONE_SIDED)
    return lines


def _summary(items: Items, keys: Mapping[str, AnswerKey]) -> dict[str, Any]:
    """Compute means with errors that are clustered by table: the questions of a table
    share its rows.
    """
    answered = [item for item in items if item["outcome"] == "scored"]
    outcomes = Counter(item["outcome"] for item in items)
    tables = [item["cluster"] for item in items]
    n_tables = len(set(tables))
    guesses = zip(*(keys[item["id"]].uniform for item in items), strict=True)
    columns = _columns(items)
    intervals = {name: clustered_interval(columns[name], tables) for name in columns}
    standard_errors: dict[str, float | None] = {}
    for name, column in columns.items():
        error = clustered_error(column, tables)
        # Without an error, values are equal, or there is one table.
        standard_errors[name] = 0.0 if n_tables > 1 else None
        if error:
            standard_errors[name] = error[0]
    return {
        "n": len(items),
        "tables": n_tables,
        **_means(columns),
        "intervals": intervals,
        "standard_errors": standard_errors,
        "uniform_guess": dict(zip(METRICS, map(mean, guesses), strict=True)),
        "answered_only": {"n": len(answered), **_means(_columns(answered))},
        "missing": outcomes["missing"],
        "illegal": outcomes["illegal"],
        "coerced": sum(bool(item["note"]) for item in answered),
    }


def _columns(items: Items) -> dict[str, list[float]]:
    """Collect the values whose means are the METRICS."""
    keys = ("score", "exact", "yield_ratio")
    columns = [list(map(itemgetter(key), items)) for key in keys]
    return dict(zip(METRICS, columns, strict=True))


def _means(columns: Mapping[str, Sequence[float]]) -> dict[str, float | None]:
    return {name: mean(column) for name, column in columns.items()}


def _by_condition(
    items: Items, keys: Mapping[str, AnswerKey]
) -> dict[str, dict[str, object]]:
    """Count the questions by the condition they ask about, with their mean and a
    blind guess's.
    """
    parts = group_by(items, lambda item: keys[item["id"]].condition)
    return {
        part: {
            "n": len(group),
            "avg_relative_score": mean([item["score"] for item in group]),
            "uniform_guess": mean([keys[item["id"]].uniform[0] for item in group]),
        }
        for part, group in sorted(parts.items())
    }


# --- References against their controls: options with and without results ---


def _find_sides(items: Iterable[ChoiceItem]) -> list[dict[str, ChoiceItem]]:
    """Find the questions with references, and their controls, by what their ids
    have in common.
    """
    sides: list[dict[str, ChoiceItem]] = [{}, {}]
    for item in items:
        for side, (end, suffix) in zip(sides, SIDES.items(), strict=True):
            if item["question_type"].endswith(end):
                side[item["id"].removesuffix(suffix)] = item
    return sides


def _compare_pairs(items: Items) -> dict[str, Any]:
    """Compare references with their controls, for all questions and both kinds apart;
    pairs share an id.

    The difference is reference − control, with t interval and p-value, both
    clustered by table.
    """
    compared = {"overall": _compare_sides(items)}
    for kind in BASE_TYPES:
        of_kind = [item for item in items if item["question_type"].startswith(kind)]
        compared[kind] = _compare_sides(of_kind)
    return compared


def _compare_sides(items: Items) -> dict[str, Any]:
    """Compare the references among items with their controls."""
    references, controls = _find_sides(items)
    pairs = sorted(references.keys() & controls.keys())
    with_references = [references[name]["score"] for name in pairs]
    without = [controls[name]["score"] for name in pairs]
    differences = list(map(operator.sub, with_references, without))
    wins = sum(value > TIE for value in differences)
    losses = sum(value < -TIE for value in differences)
    tables = list(map(table_of, pairs))
    difference = mean(differences)
    p_value = None
    if error := clustered_error(differences, tables):
        p_value = t_tail(abs(difference) / error[0], error[1])
    return {
        "pairs": len(pairs),
        "unpaired": len(references.keys() ^ controls.keys()),
        "reference_mean": mean(with_references),
        "control_mean": mean(without),
        "mean_difference": difference,
        "interval": clustered_interval(differences, tables, bounds=(-1.0, 1.0)),
        "p_value": p_value,
        "wins": wins,
        "ties": len(pairs) - wins - losses,
        "losses": losses,
    }
