"""Records to items, one a question: what was asked, answered, read and scored."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Final, NamedTuple, TypedDict

from forecasteval.benchmark import Late
from forecasteval.common.errors import InputError, PendingError, RecordNotes, VoidError
from forecasteval.common.records import (
    as_text,
    encode_fields,
    hash_question,
    hash_questions,
    repeated_keys,
)
from forecasteval.questions.columns import add_columns
from forecasteval.questions.join import OtherKeys, is_void, raw_answer
from forecasteval.questions.series import NO_SERIES, is_no_series, read_series
from forecasteval.questions.states import AnswerScore
from forecasteval.questions.truths import question_id
from forecasteval.source.questions import ANSWER_KEYS

from .questions import FIELDS, SHOWN, Question, Truth, parse_record, score_answer
from .reading.answers import Answer, parse_answer
from .reading.numbers import NumberTruth
from .rules import Rules

BLOCK: Final = 2048  # records that are scored together


class Answered(NamedTuple):
    """A question with an answer, for a language model. `place` is that of its item;
    `answer` is the part that counts, `raw` all of it.
    """

    place: int
    truth: Truth
    prompt: str
    answer: Answer
    raw: str


class Decision(TypedDict):
    """The part of an item that says what became of the answer."""

    score: float | None
    outcome: str
    read: str
    note: str
    reason: str  # of an unparsed one
    sigmas: float | None
    matched: int | None  # of the names of a ranking
    names: int
    padded: bool
    unboxed: bool  # read without a box
    loose: bool  # read of prose that states nothing
    decided_by: str


class AnswerItem(Decision):
    """A question with what became of its answer."""

    id: object
    level: int
    kind: str
    question: str
    prompt: str
    truth: str
    std: float | None
    answer: str
    late: bool  # first seen when the question had a truth, or was closed


def decide(
    scored: AnswerScore, by: str, missing: str = "zero", unboxed: bool = False
) -> Decision:
    """Return the result of an answer, `by` the "grammar" or a "model". A missing answer
    may be left out of means, as a pending question always is.
    """
    outcome = scored.outcome
    unscored = outcome == "pending" or (outcome == "missing" and missing == "skip")
    return {
        "score": None if unscored else scored.score,
        "outcome": outcome,
        "read": scored.read[:SHOWN],
        "note": scored.note,
        "reason": scored.reason,
        "sigmas": scored.sigmas,
        "matched": scored.matched,
        "names": scored.names,
        "padded": scored.padded,
        "unboxed": unboxed,
        "loose": scored.loose,
        "decided_by": by,
    }


class Scoring:
    """The items of all records, and what else is known of them. `answered` only if a
    model is to `review` them.

    `void`: the ids of records that are left out because they say "void".
    """

    def __init__(
        self, rules: Rules, where: str, review: bool = False, late: Late | None = None
    ) -> None:
        self.items: list[AnswerItem] = []
        self.answered: list[Answered] = []
        self.notes = RecordNotes()
        self.no_sigma_count = 0
        self.void: list[object] = []
        # What it did with numbers and names, and warnings.
        self.model: tuple[object, object, list[str]] = (None, None, [])
        self._rules, self._where, self._review = rules, where, review
        self._late = frozenset(late.ids if late else ())
        self._drops_late = late is not None and late.policy == "drop"
        self._seen: set[str] = set()
        self._answers = OtherKeys(*ANSWER_KEYS, fields=FIELDS)
        self._truths = OtherKeys("ground_truth", fields=FIELDS)
        self._digest = hashlib.sha256()

    def add_all(self, data: Iterable[Mapping[str, object]]) -> None:
        """Score all records.

        InputError if one of them is no question, if there is none, if none has an
        answer, or if all have another key in the place of their truth. PendingError if
        none has a truth yet.
        """
        self.add_pending(data)
        self._truths.require_truth(self._where, ANSWER_KEYS)
        if not self.items:
            if self.void:
                raise VoidError(self._where, len(self.void))
            raise InputError(self._where, "expected questions", "none")
        if all(item["outcome"] == "pending" for item in self.items):
            raise PendingError(self._where, len(self.items))
        self.notes.update(self._answers.require_answer(self._where))

    def add_pending(self, data: Iterable[Mapping[str, object]]) -> None:
        """Score records, of which all may be pending."""
        numbered = enumerate(data, 1)
        while block := list(islice(numbered, BLOCK)):
            records, numbers = [], []
            for number, record in block:
                if is_void(record, self._where):
                    self.void.append(record.get("id"))
                else:
                    records.append(record)
                    numbers.append(number)
            self._add(records, numbers)

    def _add(
        self, records: Sequence[Mapping[str, object]], numbers: Sequence[int]
    ) -> None:
        """Score a block of records, step by step: a tenth faster than
        record by record.
        """
        numbered = zip(numbers, records, strict=True)
        questions = [
            parse_record(record, self._where, number, self._rules)
            for number, record in numbered
        ]
        names = list(map(self._name, records, numbers))
        raws = list(map(self._find_answer, records, names))
        answers = list(map(parse_answer, raws, map(_find_prompt, records)))
        late = [self._is_late(*pair) for pair in zip(records, answers, strict=True)]
        if self._drops_late:
            answers = [
                None if is_late else a for a, is_late in zip(answers, late, strict=True)
            ]
        scores = list(map(score_answer, questions, answers))
        texts = list(map(as_text, raws))
        hashes = list(map(_hash_record, records, names, questions))
        self._digest.update(
            encode_fields(*chain.from_iterable(zip(hashes, texts, strict=True)))
        )
        rows = zip(
            records, names, questions, hashes, texts, answers, scores, late, strict=True
        )
        for record, name, question, digest, text, answer, scored, is_late in rows:
            if question.warning:
                self.notes[question.warning].append(name)
            if is_no_series(record):
                self.notes[NO_SERIES].append(name)
            truth = question.truth
            if type(truth) is NumberTruth and truth.sigma is None:
                self.no_sigma_count += 1
            if self._review and answer and truth and not question.pending:
                place = len(self.items)
                prompt = _find_prompt(record)
                self.answered.append(Answered(place, truth, prompt, answer, text))
            unboxed = (
                answer is not None and not answer.boxed and scored.outcome == "scored"
            )
            item: AnswerItem = {
                "id": record.get("id"),
                "level": question.level,
                "kind": question.kind,
                "question": digest,
                "prompt": question.title,
                "truth": question.shown,
                "std": question.std,
                "answer": text if len(text) <= SHOWN else _excerpt(text, answer),
                **decide(scored, "grammar", self._rules.missing, unboxed),
                "late": is_late,
            }
            self.items.append(add_columns(item, record))

    def _is_late(self, record: Mapping[str, object], answer: Answer | None) -> bool:
        """Return whether an answer came too late."""
        if not self._late or answer is None:
            return False
        return question_id(record) in self._late

    def _name(self, record: Mapping[str, object], number: int) -> str:
        """Name the id of a record, or its number; what is odd about ids is noted."""
        if record.get("id") is None:
            name = f"record {number}"
            self.notes["record without id"].append(name)
        elif (name := str(record["id"])) in self._seen:
            self.notes["id used more than once, every row counts"].append(name)
        self._seen.add(name)
        return name

    def _find_answer(self, record: Mapping[str, object], name: str) -> object:
        """Find the raw answer of a record; unreadable if it is given twice."""
        self._answers.add(record, name)
        self._truths.add(record)
        raw = record.get("answer")
        if type(raw) is str and type(record) is dict:
            return raw
        raw = raw_answer(record)
        if isinstance(raw, Mapping):
            self.notes["answer is an object"].append(name)
            raw = raw_answer(raw) or raw
        if not {"answer", "prediction"}.isdisjoint(repeated_keys(record)):
            self.notes["answer is given twice, unparsed"].append(name)
            raw = {}
        return raw

    def checksums(self) -> dict[str, str]:
        """sha256 of what was asked and answered, and of the resolved
        questions alone.
        """
        return {
            "data_sha256": self._digest.hexdigest(),
            "questions_sha256": hash_questions(
                item["question"] for item in self.items if item["outcome"] != "pending"
            ),
        }


def _find_prompt(record: Mapping[str, object]) -> str:
    """Find the prompt of a record."""
    return str(record.get("prompt") or "")


def _hash_record(record: Mapping[str, object], name: str, question: Question) -> str:
    """Hash what is asked: results that know of different series are not on the
    same questions.
    """
    text = f"{name} {question.digest}"
    if series := read_series(record):
        text += f"\0{series}"
    return hash_question(text)


def _excerpt(text: str, answer: Answer | None) -> str:
    """Cut out the part of a long answer that an item keeps: around what
    counts, or its end.
    """
    span = answer.find_in(text) if answer else None
    begin = len(text)
    if span:
        begin = span[0] - SHOWN // 2
    begin = max(0, min(begin, len(text) - SHOWN))
    return text[begin : begin + SHOWN]
