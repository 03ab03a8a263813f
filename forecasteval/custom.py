"""A benchmark of one's own: questions in a dataset, answers by id, and a function
that scores one.

`docs/own.md` has a whole one. `QuestionEvaluator` reads the files, counts what is
missing, and draws report, lines per question and page.
"""

from __future__ import annotations

import contextlib
import math
import traceback
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, NamedTuple, TypedDict

from forecasteval.benchmark import (
    ITEMS,
    UNREAD,
    Benchmark,
    Evaluator,
    Files,
    Option,
    Prompt,
)
from forecasteval.common.errors import (
    EvaluationError,
    InputError,
    OtherQuestionsError,
    PendingError,
    RecordNotes,
    VoidError,
    grouped_names,
    printable,
)
from forecasteval.common.records import (
    JsonObject,
    as_text,
    dump_json,
    first_keys,
    hash_question,
    hash_questions,
    is_null,
    load_records,
    number_text,
)
from forecasteval.common.statistics import mean, stratified_interval
from forecasteval.display.clusters import cluster_scores, describe_questions
from forecasteval.display.html import Page, join
from forecasteval.display.pages import show_text
from forecasteval.display.results import (
    Finding,
    Results,
    check_results,
    list_warnings,
    make_report,
)
from forecasteval.display.run_page import Details, RunPage
from forecasteval.display.submissions import Checked, note_file
from forecasteval.display.tables import (
    Column,
    Report,
    make_table,
    show_interval,
    show_number,
)
from forecasteval.questions.answers import AMBIGUOUS, answers_by_id, load_answers
from forecasteval.questions.columns import add_columns
from forecasteval.questions.deadlines import (
    has_unclear_time,
    hash_answers,
    list_deadlines,
)
from forecasteval.questions.join import is_void
from forecasteval.questions.series import NO_SERIES, is_no_series
from forecasteval.questions.truths import LoadedQuestions, is_blank, load_questions
from forecasteval.source.questions import Questions

__all__ = [  # what a benchmark needs
    "ITEMS",
    "UNREAD",
    "Benchmark",
    "InputError",
    "JsonObject",
    "Option",
    "Prompt",
    "QuestionEvaluator",
    "Score",
    "Unread",
    "check_answers",
    "check_dataset",
    "first_keys",
    "hash_answers",
    "list_deadlines",
]

_MAX_ANSWER: Final = 500  # characters of an answer in a result
_ROUNDING: Final = 1e-9  # by which a score may pass its bounds
_WIDTH: Final = 36  # of a cell of the report


class Score(NamedTuple):
    """The score of an answer, what was read of it, and the reason in a sentence."""

    score: float
    read: str = ""
    why: str = ""


class Unread(NamedTuple):
    """An answer that cannot be read, and why."""

    why: str


class PlainItem(TypedDict):
    """A question as a result has it."""

    id: object
    question: str
    score: float | None  # None while the question is pending
    outcome: str
    read: str
    answer: str
    why: str


@dataclass
class Answers:
    """The questions of a dataset, each with its answer, and what is
    known of the files.
    """

    rows: list[tuple[JsonObject, object]]
    warnings: list[str]
    sums: dict[str, str]
    damaged: int  # lines of the predictions that are not JSON
    where: str = "questions"
    void: int = 0  # questions that are left out of everything

    def messages(self) -> list[str]:
        return self.warnings

    def checksums(self) -> dict[str, str]:
        return self.sums


class QuestionEvaluator(Evaluator[Answers, list[PlainItem]]):
    """Scores answers question by question; a subclass has `benchmark`, `version`,
    `score_answer`.

    Add `bounds` unless they are 0 and 1, and `higher_is_better = False`
    where it is not.

    The score of a file is the mean over all questions of its dataset. An answer that is
    missing or cannot be read has the `worst` score, by default the worse one
    of the `bounds`.

    `truth` names the column of the dataset that says what came true. With it, questions
    without a truth are pending, and truths may stand beside the dataset
    (docs/formats.md).
    """

    version: str
    worst: float | None = None
    truth: str = ""
    # Columns of the dataset that say what is true: no item of a result repeats them.
    truth_columns: Sequence[str] = ("ground_truth", "truth", "value")

    @abstractmethod
    def score_answer(self, question: JsonObject, answer: object) -> Score | Unread:
        """Score an answer, which is not None; InputError for a question that
        cannot be scored.
        """

    def _find_worst(self) -> float:
        if self.worst is not None:
            return self.worst
        low, high = self.bounds
        if self.higher_is_better:
            return low
        return high

    def settings(self) -> dict[str, object]:
        return {"evaluator": f"{self.benchmark} {self.version}"}

    def read(self, files: Files) -> Answers:
        """Read the questions of a dataset, and join the answers of a
        prediction file by id.
        """
        return read_answers(files, self.truth)

    def score(self, data: Answers) -> list[PlainItem]:
        """Score each answer; PendingError if no question has a truth yet."""
        items = [self._score_row(question, answer) for question, answer in data.rows]
        if all(item["outcome"] == "pending" for item in items):
            raise PendingError(data.where, len(items))
        return items

    def _score_row(self, question: JsonObject, answer: object) -> PlainItem:
        item: PlainItem = {
            "id": question.get("id"),
            "question": hash_question(dump_json(self._without_truth(question))),
            "score": self._find_worst(),
            "outcome": "missing",
            "read": "",
            "answer": as_text(answer)[:_MAX_ANSWER],
            "why": "no answer",
        }
        is_pending = self.truth != "" and is_blank(question.get(self.truth))
        if is_pending:
            item |= {"score": None, "outcome": "pending", "why": "no truth yet"}
        elif not is_null(answer) and answer != "":
            scored = self._score_answer(question, answer)
            if isinstance(scored, Unread):
                item |= {"outcome": "unparsed", "why": f"not read: {scored.why}"}
            else:
                item |= {
                    "score": float(scored.score),
                    "read": scored.read,
                    "why": scored.why,
                }
                item["outcome"] = "scored"
        return add_columns(item, question, ("id", *self.truth_columns))

    def _without_truth(self, question: JsonObject) -> JsonObject:
        """Return what makes a question the same one, before and after its
        truth is known.
        """
        if not self.truth:
            return question
        changing = (self.truth, "void", "closes")
        return {key: value for key, value in question.items() if key not in changing}

    def _score_answer(self, question: JsonObject, answer: object) -> Score | Unread:
        """Score an answer; InputError, with the place, for whatever
        goes wrong in it.
        """
        where = f"{self.benchmark}, question {printable(question.get('id'), 60)}"
        try:
            scored = self.score_answer(question, answer)
        except EvaluationError:
            raise
        except Exception as error:  # whatever the code of another package does
            place = traceback.extract_tb(error.__traceback__)[-1]
            problem = f"score_answer failed in {place.filename}, line {place.lineno}"
            raise InputError(
                where, problem, f"{type(error).__name__}: {error}"
            ) from error
        if isinstance(scored, Unread):
            return scored
        low, high = self.bounds
        is_score = isinstance(scored, Score) and number_text(scored.score)
        if is_score and low - _ROUNDING <= scored.score <= high + _ROUNDING:
            return scored
        expected = f"score_answer: expected Unread, or a Score from {low:g} to {high:g}"
        raise InputError(where, expected, printable(scored, 200))

    def summarise(self, scores: list[PlainItem], data: Answers) -> dict[str, object]:
        resolved = [item for item in scores if item["score"] is not None]
        values = [item["score"] for item in scores if item["score"] is not None]
        outcomes = Counter(item["outcome"] for item in scores)
        clusters = cluster_scores(resolved)
        questions_sha256 = hash_questions(item["question"] for item in scores)
        counts = {
            "damaged_lines": data.damaged,
            "pending": outcomes["pending"],
            "void": data.void,
        }
        summary: dict[str, object] = {
            "overall_score": mean(values),
            "overall_interval": stratified_interval([(1.0, clusters)], self.bounds),
            "missing_count": outcomes["missing"],
            "unparsed_count": outcomes["unparsed"],
        }
        # Most results have none of them.
        summary |= {name: count for name, count in counts.items() if count}
        summary["warnings"] = []
        summary["signature"] = {"questions_sha256": questions_sha256}
        summary["items"] = scores
        if self.worst is not None:
            # A file that is gone has no result: its score is made of those of others.
            summary["missing_score"] = self.worst
        return summary

    def report(self, results: Results, items: bool = False) -> Report:
        """Make the report: the score and what is not scored; with `items` a
        line per question.
        """
        score = show_number(results["overall_score"])
        interval = show_interval(results["overall_interval"])
        summary = f"Score {score}, 95% interval {interval}"
        if not self.higher_is_better:
            summary += "; lower is better"
        blocks: Report = [
            summary,
            self._describe_missing(results),
            *list_warnings(results),
        ]
        if items:
            blocks += ["", make_table(_COLUMNS, results["items"])]
        return make_report(results, [_describe_size(results)], blocks)

    def _describe_missing(self, results: Results) -> str:
        """Say how many answers have the worst score."""
        counts = (
            f"Missing {results['missing_count']}, unparsed {results['unparsed_count']}"
        )
        return f"{counts}: they have the worst score, {self._find_worst():g}."

    def explain(self, item: PlainItem) -> str:
        return item["why"]

    def page(self, results: Results, data: Answers) -> Page:
        """Make the page of a result; its colours and costs are shares of
        the best score.
        """
        items: Sequence[PlainItem] = results["items"]
        n_scored = sum(item["score"] is not None for item in items)
        worst = self._find_worst()
        best = max(self.bounds)
        if not self.higher_is_better:
            best = min(self.bounds)
        span = best - worst

        def share(score: float) -> float:
            if not math.isfinite(span):
                return 0.0
            return (score - worst) / span

        def cost(item: PlainItem) -> float:
            if item["score"] is None:
                return 0.0
            return (1 - share(item["score"])) / n_scored

        outcomes = [item["outcome"] for item in items]
        page = RunPage(
            results,
            _describe_size(results),
            results["overall_score"],
            results["overall_interval"],
            notes=[self._describe_missing(results)],
            scores=make_table(_OUTCOMES, Counter(outcomes).items()),
            causes=outcomes,
            costs=[*map(cost, items)],
            details=lambda places: [_show_item(items[place]) for place in places],
            share=share,
        )
        return page.page()


def _describe_size(results: Results) -> str:
    """Describe how many questions there are, and how many of them have no score."""
    items = results["items"]
    size = describe_questions(items)
    if pending := results.get("pending"):
        size += f", {len(items) - pending} resolved, {pending} pending"
    if void := results.get("void"):
        size += f", {void} void besides"
    return size


def _name_item(item: PlainItem) -> str:
    """Name the question of an item."""
    if item["id"] is None:
        return "(no id)"
    return printable(item["id"], 120)


def _show_item(item: PlainItem) -> Details:
    return Details(
        join(_name_item(item)),
        item["why"],
        facts=[("Read", show_text(item["read"]))],
        texts=[("Answer", show_text(item["answer"]))],
    )


_OUTCOMES: Final = (
    Column("", itemgetter(0)),
    Column("Questions", itemgetter(1), "number"),
)
_COLUMNS: Final = (
    Column("Id", lambda item: printable(_name_item(item), 26)),
    Column("Score", itemgetter("score"), "number"),
    Column("Outcome", itemgetter("outcome"), spare=1),
    Column("Read", lambda item: printable(item["read"], _WIDTH), spare=2),
    Column("Answer", lambda item: printable(item["answer"], _WIDTH), spare=4),
    Column("Why", lambda item: printable(item["why"]), spare=3),
)


# --- Files ---


def read_answers(files: Files, truth: str = "") -> Answers:
    """Read the questions of a dataset, and the answer of a prediction file
    to each, by id.

    A question whose answers differ has none, and no answer is for a question without an
    id; both are noted. Void questions are left out. `truth` is the column that a file
    of truths fills. Raises InputError without a dataset, and if no answer has an id of
    its questions.
    """
    if len(files.datasets) != 1:
        expected = (
            "expected one dataset: a file in dataset/ whose name begins like this one's"
        )
        raise InputError(
            str(files.path), f"{expected}, or --dataset", str(len(files.datasets))
        )
    dataset = _load_dataset(files.datasets[0], truth)
    known = Questions(dataset.records, files.dataset)
    predictions = load_answers(files.path, known, files.any_form, any_value=True)
    notes = RecordNotes()
    answers = answers_by_id(predictions, notes)
    dropped = frozenset[str]()
    if files.late is not None and files.late.policy == "drop":
        dropped = frozenset(files.late.ids)
    rows: list[tuple[JsonObject, object]] = []
    counts: Counter[str] = Counter()
    void = 0
    for number, question in enumerate(dataset.records, 1):
        if not isinstance(question, Mapping):
            place = f"{files.dataset}: record {number}"
            raise InputError(place, "expected an object", type(question).__name__)
        name = _read_id(question)
        if not name:
            notes["record without id"].append(f"record {number}")
        counts[name] += 1
        if is_no_series(question):
            notes[NO_SERIES].append(name or f"record {number}")
        if is_void(question, str(files.dataset)):
            void += 1
        elif name in dropped:
            rows.append((question, None))
        else:
            rows.append((question, answers.get(name)))
    if not counts:
        raise InputError(str(files.dataset), "expected questions", "none")
    if not rows:
        raise VoidError(str(files.dataset), void)
    if answers and counts.keys().isdisjoint(answers):
        names = grouped_names(list(answers))
        raise OtherQuestionsError(
            str(files.path), "expected predictions for this dataset", names
        )
    if unknown := [name for name in answers if name not in counts]:
        notes["prediction without a question, not used"] = unknown
    if twice := [name for name, count in counts.items() if name and count > 1]:
        notes["id of several questions, which have the same answer"] = twice
    sums = {**dataset.checksums, "prediction_sha256": predictions.sha256}
    warnings = [*dataset.warnings, *predictions.warnings, *notes.lines()]
    return Answers(rows, warnings, sums, predictions.damaged, str(files.dataset), void)


def _load_dataset(path: Path, truth: str) -> LoadedQuestions:
    """Load the questions of a dataset; the column `truth`, if it has one, from
    truths beside it.
    """
    if not truth:
        loaded = load_records(path)
        sums = {"dataset_sha256": loaded.sha256}
        return LoadedQuestions([*loaded], sums, [*loaded.warnings], None)
    dataset = load_questions(path)
    if dataset.truths is None:
        return dataset
    records = [_take_truth(record, truth) for record in dataset.records]
    return dataset._replace(records=records)


def _take_truth(question: Any, truth: str) -> Any:
    """Move what a file of truths says to the column of the truth. Text of a number is a
    number, as a CSV has no others.
    """
    if not isinstance(question, Mapping):
        return question
    row = dict(question)
    value = row.pop("ground_truth", None)
    if is_blank(value):
        return row
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            value = float(value)
    return {**row, truth: value}


# --- Mistakes ---


def check_dataset(path: Path) -> Results:
    """Find the records of a dataset that are no questions, share an id, or have
    unclear times.
    """
    dataset = load_questions(path)
    findings: list[Finding] = []
    ids: Counter[str] = Counter()
    for number, question in enumerate(dataset.records, 1):
        name = _read_id(question)
        ids[name] += 1
        if not isinstance(question, Mapping):
            findings.append(
                Finding("expected an object", "", number, type(question).__name__)
            )
        elif not name:
            findings.append(Finding("record without id", "", number, ""))
        elif ids[name] > 1:
            findings.append(Finding("id used more than once", name, number, ""))
        elif has_unclear_time(question):
            got = printable(repr(question["closes"]), 40)
            findings.append(
                Finding("'closes' must be a time of ISO 8601", name, number, got)
            )
    sha256 = dataset.checksums["dataset_sha256"]
    return check_results(path, sha256, len(dataset.records), findings, dataset.warnings)


def check_answers(files: Files) -> Iterator[Checked]:
    """Say of each question of a dataset whether a file answers it once; no
    answer is read.
    """
    records: Iterable[Any] = ()
    if files.datasets:
        records = load_records(files.datasets[0])
    known = Questions(records, files.dataset)
    predictions = load_answers(files.path, known, files.any_form, any_value=True)
    yield from note_file(predictions.warnings)
    notes = RecordNotes()
    answers = answers_by_id(predictions, notes)
    for name in known.ids:
        state = "read"
        if name in notes.get(AMBIGUOUS, ()):
            state = "given twice"
        elif is_null(answers.get(name)):
            state = "missing"
        yield Checked("", name, state)
    yield from (
        Checked("", name, "unknown") for name in answers if name not in known.ids
    )


def _read_id(record: object) -> str:
    """Read the id of a record as text; "" if it has none."""
    name = record.get("id") if isinstance(record, Mapping) else None
    return "" if is_null(name) else str(name).strip()
