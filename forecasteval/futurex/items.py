"""Records to items, one a question: what was asked, answered, read and scored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, RecordNotes
from forecasteval.common.joins import AnswerKeys, RecordDigest, hash_question, hash_questions, raw_answer
from forecasteval.common.records import as_text, repeated_keys

from .answers import Answer, read_answer
from .questions import SHOWN, Question, read_record, score_answer
from .rules import Rules
from .truths import Truth
from .units import NumberTruth

BLOCK: Final = 512  # records that are worked on together


class Answered(NamedTuple):
    """A question with an answer, for a language model: where its item stands, its truth, the answer, the prompt."""

    place: int
    truth: Truth
    answer: Answer
    prompt: str


class Scoring:
    """The items of all records, and what else is known of them; `answered` only if a model is to `review` them."""

    def __init__(self, rules: Rules, where: str, review: bool = False) -> None:
        self.items: list[dict[str, Any]] = []
        self.answered: list[Answered] = []
        self.notes = RecordNotes()
        self.unboxed_count = self.no_sigma_count = 0
        self.model: tuple[Any, Any, list[str]] = (None, None, [])  # what it did with numbers and names, and warnings
        self._rules, self._where, self._review = rules, where, review
        self._seen: set[str] = set()
        self._keys, self._digest, self._hashes = AnswerKeys(), RecordDigest(), list[str]()

    def add_all(self, data: Iterable[Mapping[str, Any]]) -> None:
        """Score all records; InputError if one of them is no question, if there is none, or if none has an answer."""
        records = iter(data)
        while block := list(islice(records, BLOCK)):
            self._add(block, len(self.items) + 1)
        if not self.items:
            raise InputError(self._where, "expected questions", "none")
        self.notes.update(self._keys.warnings(self._where, len(self.items)))

    def _add(self, records: Sequence[Mapping[str, Any]], first: int) -> None:
        questions = [read_record(record, self._where, n, self._rules) for n, record in enumerate(records, first)]
        ids = [record.get("id") for record in records]
        names = [f"record {n}" if name is None else str(name) for n, name in enumerate(ids, first)]
        raws = [
            raw if type(raw := record.get("answer")) is str and type(record) is dict else self._raw(record, name)
            for record, name in zip(records, names, strict=True)
        ]
        answers = [read_answer(raw) for raw in raws]
        scores = list(map(score_answer, questions, answers))
        texts = [raw if type(raw) is str else as_text(raw) for raw in raws]
        hashes = [hash_question(f"{name} {question.digest}") for name, question in zip(names, questions, strict=True)]
        for asked, text in zip(hashes, texts, strict=True):
            self._digest.add(asked, text)
        self._hashes += hashes
        skip = self._rules.missing == "skip"
        self.items.extend(
            [
                {
                    "id": name,
                    "level": question.level,
                    "kind": question.kind,
                    "question": asked,
                    "prompt": question.asked,
                    "score": None if skip and outcome == "missing" else score,
                    "outcome": outcome,
                    "truth": question.shown,
                    "answer": text if len(text) <= SHOWN else _excerpt(text, answer),
                    "read": read[:SHOWN],
                    "note": note,
                    "sigmas": sigmas,
                    "padded": padded,
                    "decided_by": "grammar",
                }
                for name, question, asked, text, answer, (score, outcome, read, note, sigmas, padded) in zip(
                    ids, questions, hashes, texts, answers, scores, strict=True
                )
            ]
        )
        self._note(names, ids, questions)
        truths = [question.truth for question in questions]
        self.no_sigma_count += sum([isinstance(truth, NumberTruth) and truth.sigma is None for truth in truths])
        unboxed = [scored for scored, answer in zip(scores, answers, strict=True) if answer and not answer.boxed]
        self.unboxed_count += sum([scored.outcome == "scored" for scored in unboxed])
        if self._review:
            self.answered += [
                Answered(place, truth, answer, str(record.get("prompt") or ""))
                for place, (record, truth, answer) in enumerate(zip(records, truths, answers, strict=True), first - 1)
                if truth and answer
            ]

    def _raw(self, record: Mapping[str, Any], name: str) -> Any:
        """The raw answer of a record that is no plain text; unreadable if it is given twice."""
        self._keys.add(record, name)
        raw = raw_answer(record)
        if isinstance(raw, Mapping):
            self.notes["answer is an object"].append(name)
            raw = raw_answer(raw) or raw
        if not {"answer", "prediction"}.isdisjoint(repeated_keys(record)):
            self.notes["answer is given twice, unparsed"].append(name)
            raw = {}
        return raw

    def _note(self, names: Sequence[str], ids: Sequence[object], questions: Sequence[Question]) -> None:
        """What is odd about ids and truths."""
        fresh = set(names)
        if None in ids or len(fresh) < len(names) or not self._seen.isdisjoint(fresh):
            for name, given in zip(names, ids, strict=True):
                if given is None:
                    self.notes["record without id"].append(name)
                elif name in self._seen:
                    self.notes["id used more than once, every row counts"].append(name)
                self._seen.add(name)
        self._seen |= fresh
        for name, question in zip(names, questions, strict=True):
            if question.warning:
                self.notes[question.warning].append(name)

    def warnings(self) -> list[str]:
        """What was noticed about records, and the warnings about the language model."""
        return self.notes.lines() + self.model[2]

    def checksums(self) -> dict[str, str]:
        """sha256 of what was asked and answered, and of what was asked alone."""
        return {"data_sha256": self._digest.hex(), "questions_sha256": hash_questions(self._hashes)}


def _excerpt(text: str, answer: Answer | None) -> str:
    """The part of a long answer that an item keeps: around what counts, which most often stands at its end."""
    span = answer.find_in(text) if answer else None
    begin = max(0, min((span or (0, 0))[0] - SHOWN // 2, len(text) - SHOWN))
    return text[begin : begin + SHOWN]
