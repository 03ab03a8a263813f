"""A benchmark of one's own: questions in a dataset, answers by id, and a function that scores one.

`docs/own.md` has a whole one. `PlainEvaluator` reads the files, counts what is missing, and draws
report, lines per question and page.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Final, NamedTuple, TypedDict

from forecasteval.benchmark import ITEMS, Benchmark, Evaluator, Files, Option
from forecasteval.common.errors import (
    InputError,
    OtherQuestionsError,
    RecordNotes,
    grouped_names,
    printable,
    show_count,
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
)
from forecasteval.common.statistics import mean, stratified_interval
from forecasteval.display.html import Html, Page, join, show_heat, show_score, span, tag
from forecasteval.display.pages import MOST, count_rows, make_keys, show_text
from forecasteval.display.results import Results, list_warnings, make_report
from forecasteval.display.rows import Choice, OpenRow, draw_bar, draw_chips, draw_inside, draw_rows
from forecasteval.display.tables import (
    Column,
    Report,
    format_signature,
    make_table,
    show_interval,
    show_number,
)

__all__ = [  # what a benchmark needs
    "ITEMS",
    "Benchmark",
    "InputError",
    "JsonObject",
    "Option",
    "PlainEvaluator",
    "Score",
    "Unread",
    "first_keys",
]

ANSWER_KEYS: Final = ("answer", "prediction")
_KEPT: Final = 500  # characters of an answer in a result
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
    score: float
    outcome: str
    read: str
    answer: str
    why: str


@dataclass
class Answers:
    """The questions of a dataset, each with its answer, and what is known of the files."""

    rows: list[tuple[JsonObject, object]]
    notes: RecordNotes
    sums: dict[str, str]
    warnings: list[str] = field(default_factory=list)
    damaged: int = 0  # lines of the predictions that are not JSON

    def messages(self) -> list[str]:
        return [*self.warnings, *self.notes.lines()]

    def checksums(self) -> dict[str, str]:
        return self.sums


class PlainEvaluator(Evaluator[Answers, list[PlainItem]]):
    """Scores answers question by question; a subclass has `benchmark`, `version`, `score_answer`.

    Add `bounds` unless they are 0 and 1, and `higher_is_better = False` where it is not.

    The score of a file is the mean over all questions of its dataset. An answer that is missing or
    cannot be read has the `worst` score, by default the worse one of the `bounds`.
    """

    version: str
    worst: float | None = None

    @abstractmethod
    def score_answer(self, question: JsonObject, answer: object) -> Score | Unread:
        """Score an answer, which is not None; InputError for a question that cannot be scored."""

    def _find_worst(self) -> float:
        if self.worst is not None:
            return self.worst
        return self.bounds[0] if self.higher_is_better else self.bounds[1]

    def settings(self) -> dict[str, object]:
        return {"evaluator": f"{self.benchmark} {self.version}"}

    def read(self, files: Files) -> Answers:
        """Read the questions of a dataset, and join the answers of a prediction file by id."""
        return read_answers(files)

    def score(self, data: Answers) -> list[PlainItem]:
        return [self._score_row(question, answer) for question, answer in data.rows]

    def _score_row(self, question: JsonObject, answer: object) -> PlainItem:
        worst = self._find_worst()
        scored: Score | Unread = Score(worst, why="no answer")
        outcome = "missing"
        if not is_null(answer) and answer != "":
            scored = self.score_answer(question, answer)
            outcome = "scored" if isinstance(scored, Score) else "unparsed"
        if isinstance(scored, Unread):
            scored = Score(worst, why=f"not read: {scored.why}")
        if not math.isfinite(scored.score):
            where = f"{self.benchmark}, question {printable(question.get('id'), 60)}"
            raise InputError(where, "expected a finite score", str(scored.score))
        return {
            "id": question.get("id"),
            "question": hash_question(dump_json(question)),
            "score": scored.score,
            "outcome": outcome,
            "read": scored.read,
            "answer": as_text(answer)[:_KEPT],
            "why": scored.why,
        }

    def summarise(self, scores: list[PlainItem], data: Answers) -> dict[str, object]:
        values = [item["score"] for item in scores]
        outcomes = Counter(item["outcome"] for item in scores)
        return {
            "overall_score": mean(values),
            "overall_interval": stratified_interval([(1.0, values)], self.bounds),
            "missing_count": outcomes["missing"],
            "unparsed_count": outcomes["unparsed"],
            **({"damaged_lines": data.damaged} if data.damaged else {}),
            "warnings": [],
            "signature": {"questions_sha256": hash_questions(item["question"] for item in scores)},
            "items": scores,
        }

    def report(self, results: Results, items: bool = False) -> Report:
        """Make the report: the score and what is not scored; with `items` a line per question."""
        score = show_number(results["overall_score"])
        interval = show_interval(results["overall_interval"])
        lower = "" if self.higher_is_better else "; lower is better"
        lines = [
            f"Score {score}, 95% interval {interval}" + lower,
            f"Missing {results['missing_count']}, unparsed {results['unparsed_count']}: they have "
            f"the worst score, {self._find_worst():g}.",
            *list_warnings(results),
        ]
        rows: Report = ["", make_table(_COLUMNS, results["items"])] if items else []
        size = show_count(len(results["items"]), "question")
        return make_report(results, [size], [*lines, *rows])

    def explain(self, item: PlainItem) -> str:
        return item["why"]

    def page(self, results: Results, data: Answers) -> Page:
        return make_page(results, self.higher_is_better, self.bounds)


_COLUMNS: Final = (
    Column("Id", lambda item: printable(item["id"], 26)),
    Column("Score", itemgetter("score"), "number"),
    Column("Outcome", itemgetter("outcome"), spare=1),
    Column("Read", lambda item: printable(item["read"], _WIDTH), spare=2),
    Column("Answer", lambda item: printable(item["answer"], _WIDTH), spare=4),
    Column("Why", lambda item: printable(item["why"]), spare=3),
)


# --- Files ---


def read_answers(files: Files) -> Answers:
    """Read the questions of a dataset, and the answer of a prediction file to each, by id.

    A question whose answers differ has none, and no answer is for a question without an id; both
    are noted. Raises InputError without a dataset, and if no answer has an id of its questions.
    """
    if files.dataset is None or len(files.datasets) > 1:
        expected = "expected one dataset: a file in dataset/ whose name begins like this one's"
        raise InputError(str(files.path), f"{expected}, or --dataset", str(len(files.datasets)))
    questions, predictions = load_records(files.dataset), load_records(files.path)
    notes = RecordNotes()
    answers: dict[str, object] = {}
    for number, record in enumerate(predictions, 1):
        name = _read_id(record)
        if not name:
            notes["prediction without id, not used"].append(f"record {number}")
            continue
        answer = next((record[key] for key in ANSWER_KEYS if not is_null(record.get(key))), None)
        if name in answers and answers[name] != answer:
            notes["ambiguous prediction, counted as missing"].append(name)
            answer = None
        answers[name] = answer
    rows: list[tuple[JsonObject, object]] = []
    counts: Counter[str] = Counter()
    for number, question in enumerate(questions, 1):
        if not isinstance(question, Mapping):
            place = f"{files.dataset}: {questions.place(number)}"
            raise InputError(place, "expected an object", type(question).__name__)
        name = _read_id(question)
        if not name:
            notes["record without id"].append(f"record {number}")
        counts[name] += 1
        rows.append((question, answers.get(name) if name else None))
    if not rows:
        raise InputError(str(files.dataset), "expected questions", "none")
    if answers and counts.keys().isdisjoint(answers):
        names = grouped_names(list(answers))
        raise OtherQuestionsError(str(files.path), "expected predictions for this dataset", names)
    if unknown := [name for name in answers if name not in counts]:
        notes["prediction without a question, not used"] = unknown
    if twice := [name for name, count in counts.items() if name and count > 1]:
        notes["id of several questions, which have the same answer"] = twice
    sums = {"dataset_sha256": questions.sha256, "prediction_sha256": predictions.sha256}
    warnings = [*questions.warnings, *predictions.warnings]
    return Answers(rows, notes, sums, warnings, predictions.damaged)


def _read_id(record: object) -> str:
    """Read the id of a record as text; "" if it has none."""
    name = record.get("id") if isinstance(record, Mapping) else None
    return "" if is_null(name) else str(name).strip()


# --- The page ---


def make_page(results: Results, higher_is_better: bool, bounds: tuple[float, float]) -> Page:
    """Make the page of a result: the score, and every question, the worst first."""
    items: Sequence[PlainItem] = results["items"]
    shown = sorted(items, key=itemgetter("score"), reverse=not higher_is_better)[:MOST]
    worst, best = bounds if higher_is_better else bounds[::-1]
    dataset = results.get("dataset")

    def draw_body() -> Iterator[Html]:
        outcomes = Counter(item["outcome"] for item in items).items()
        chips = [Choice(outcome, f"{outcome} {count}") for outcome, count in outcomes]
        orders = [("score" if higher_is_better else "-score", "worst first")]
        filters = draw_chips("questions", "outcome", chips)
        yield draw_bar("questions", "questions", filters, orders=orders)
        if len(shown) < len(items):
            yield tag("p", count_rows(len(shown), len(items), "the worst"), class_="cap")
        keys = make_keys(item["id"] for item in shown)
        rows = [
            _draw_item(item, key, (item["score"] - worst) / (best - worst))
            for item, key in zip(shown, keys, strict=True)
        ]
        yield draw_rows("questions", ("Score", "", "Question", "Reason", ""), rows, "cost")

    return Page(
        title=printable(results.get("name") or results["benchmark"], 120),
        facts=" · ".join(
            [results["benchmark"], printable(dataset, 120), show_count(len(items), "question")]
        ),
        summary=lambda: _draw_summary(results),
        body=draw_body,
        charts=dict,
        signature=format_signature(results["signature"], dataset),
    )


def _draw_summary(results: Results) -> Html:
    """Draw the score with its interval, and the remarks."""
    ends = " – ".join(map(show_score, results["overall_interval"] or ())) or "unknown"
    about = span("s", "95% interval", tag("br"), ends)
    score = tag("b", show_score(results["overall_score"]), class_="big")
    notes = [f"Missing {results['missing_count']}, unparsed {results['unparsed_count']}."]
    notes += list_warnings(results)
    listed = tag("ul", *(tag("li", note) for note in notes), class_="notes")
    return join(tag("p", score, about, class_="hero"), listed)


def _draw_item(item: PlainItem, key: str, share: float) -> OpenRow:
    """Draw a question; `share` is that of the best score."""
    cells = [
        show_heat(item["score"], share, kind="chip"),
        span("lv"),
        span("qt", show_text(item["id"], 120)),
        span("why", show_text(item["why"] or item["outcome"], 200)),
        span("co"),
    ]
    facts = [("Outcome", item["outcome"]), ("Read", show_text(item["read"]))]
    inside = draw_inside(key, facts, [("Answer", show_text(item["answer"]))], item["id"])
    data = {"outcome": item["outcome"], "score": f"{item['score']:.6f}"}
    return OpenRow(key, cells, data, inside)
