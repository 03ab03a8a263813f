"""Questions with their answers: records that have both, or a dataset and predictions
for it, joined by id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.benchmark import Late
from forecasteval.common.errors import InputError, RecordNotes, printable
from forecasteval.common.records import (
    Record,
    as_text,
    is_null,
    load_records,
    repeated_keys,
)
from forecasteval.source.questions import ANSWER_KEYS, Questions

from .answers import (
    AMBIGUOUS,
    DAMAGED,
    NO_ID,
    NO_OBJECT,
    TWO_IDS,
    find_problem,
    load_answers,
)
from .truths import is_blank, load_questions, question_id, show_keys

# Records that are kept for a page: it shows no more questions than that
_KEPT: Final = 500
# Keys that questions of any benchmark have.
_COMMON_KEYS: Final = frozenset(
    {
        *("title", "category", "topic", "tags", "type", "language"),
        *("source", "url", "start_time", "closes", "void"),
    }
)
_VOID: Final = {
    "true": True,
    "1": True,
    "yes": True,
    "false": False,
    "0": False,
    "no": False,
}
# Answers of which none differs from its truth, and that may be no model's
_MIN_COPIES: Final = 10
# What is noted of ids.
LACKING: Final = "record with neither 'answer' nor 'prediction', missing"
UNUSED: Final = "prediction without a question, not used"
TRUTHS: Final = (
    "answer is the ground_truth word for word, as all are, and may be no model's"
)
NO_QUESTION: Final = (UNUSED, DAMAGED, NO_OBJECT, TWO_IDS, NO_ID)
Prediction = Mapping[str, object]


class QuestionFields(NamedTuple):
    """The fields of a benchmark's questions, beside their id.

    scored: those by which an answer is scored; a prediction that repeats
        one should agree.
    marks: those of which every question has one at least.
    others: those that only describe a question.
    """

    scored: tuple[str, ...]
    marks: tuple[str, ...]
    others: tuple[str, ...] = ()

    @property
    def keys(self) -> frozenset[str]:
        """Return the keys that a question has, none of which can be an answer."""
        return frozenset(("id", *self.scored, *self.others))


def differs(field: str) -> str:
    """Name what is noted of ids whose prediction repeats a field of the
    question differently.
    """
    return f"{field} of the file differs from the dataset, the dataset counts"


@dataclass
class AnsweredQuestions:
    """Questions with their answers, and what is known of their files; `where` names the
    questions in errors.
    """

    where: str
    records: Iterable[Any]
    fields: QuestionFields
    warnings: list[str] = field(default_factory=list)  # about the files
    notes: RecordNotes = field(default_factory=RecordNotes)  # about their records
    sums: dict[str, str] = field(default_factory=dict)
    damaged: int = 0  # lines of the prediction file that are no JSON
    truths: str = ""  # name of the file with truths
    files: tuple[Path, Path | None] | None = None  # prediction and dataset
    late: Late | None = None  # answers that came too late
    any_form: bool = False  # of the prediction file

    def messages(self) -> list[str]:
        return [*self.warnings, *self.notes.lines()]

    def checksums(self) -> dict[str, str]:
        return self.sums

    def take_records(self) -> Iterator[Any]:
        """Give the records to be scored; those of a large file are not kept, a page
        loads them again.
        """
        if not (
            self.files and isinstance(self.records, list) and len(self.records) > _KEPT
        ):
            return iter(self.records)
        records, self.records = self.records[::-1], []
        return (records.pop() for _ in range(len(records)))

    def read_again(self) -> Iterable[Any] | None:
        """Give the records once more, for a page; None if they can be
        read only once.
        """
        if self.files and not self.records:
            return load_answered(*self.files, self.fields, self.any_form).records
        if isinstance(self.records, Iterator):
            return None
        return self.records


def load_answered(
    path: Path, dataset: Path | None, fields: QuestionFields, any_form: bool = False
) -> AnsweredQuestions:
    """Load the questions of a dataset with the answers of a prediction file, or a file
    that has both.

    Raises InputError for a file without a dataset whose first record is no question, if
    no prediction has an answer, and if none has an id of the questions.
    """
    if dataset is None:
        predictions = load_records(path, any_form=any_form)
        records = predictions.records
        first = next(iter(records), None)
        if isinstance(first, Mapping) and first.keys().isdisjoint(fields.marks):
            marks = " and ".join(map(repr, fields.marks))
            expected = f"expected questions with {marks}, or a dataset for it"
            hint = (
                "(a file in dataset/ whose name begins like this one's, or --dataset)"
            )
            raise InputError(str(path), f"{expected} {hint}", show_keys(first))
        sums, warnings, notes, truths = {}, [*predictions.warnings], RecordNotes(), None
    else:
        questions, truth_keys = (
            load_questions(dataset),
            OtherKeys("ground_truth", fields=fields),
        )
        for question in questions.records:  # joined, all have an "answer"
            truth_keys.add(question)
        truth_keys.require_truth(str(dataset))
        known = Questions(questions.records, dataset)
        predictions = load_answers(path, known, any_form)
        records, notes = join_answers(
            questions.records, predictions.records, str(path), fields
        )
        sums, truths = questions.checksums, questions.truths
        warnings = [*questions.warnings, *predictions.warnings]
    where = str(dataset or path)
    return AnsweredQuestions(
        # A value may be of either file
        f"{where} with {truths.name}" if truths else where,
        records,
        fields,
        warnings,
        notes,
        sums | {"prediction_sha256": predictions.sha256},
        predictions.damaged,
        truths.name if truths else "",
        (path, dataset),
        any_form=any_form,
    )


def join_answers(
    questions: Sequence[object],
    records: Iterable[object],
    where: str,
    fields: QuestionFields,
) -> tuple[list[Any], RecordNotes]:
    """Join questions with the answers of predictions, and note what does not fit.

    They are joined by id; where an id repeats, by id and prompt. A question whose
    predictions stay ambiguous has no answer. Notes name these, predictions without a
    question, and fields in which a prediction differs from its question. `where` names
    the predictions in errors.
    """
    notes = RecordNotes()
    predictions, keys = _sort_predictions(records, where, fields, notes)
    ids = Counter(map(question_id, questions))
    if ids and predictions.keys().isdisjoint(ids):
        problem = _no_id(list(ids), list(predictions), keys)
        raise InputError(where, "expected predictions for this dataset", problem)
    # `id()` of predictions that a question has used
    used, rows = set[int](), list[Any]()
    for question in questions:
        if isinstance(question, Mapping):
            name, prompt = question_id(question), question.get("prompt")
            matches = _find_candidates(predictions.get(name, []), prompt, ids[name] > 1)
            used.update(map(id, matches or ()))
            rows.append(_answer(question, name, matches, fields, notes))
        else:
            rows.append(question)
    if copies := _find_copies(rows):
        notes[TRUTHS] = copies
    left = set(notes.get(AMBIGUOUS, ()))
    unused = [
        name
        for name, records_with_id in predictions.items()
        for record in records_with_id
        if id(record) not in used and name not in left
    ]
    if unused:
        notes[UNUSED] = unused
    return rows, notes


def _sort_predictions(
    records: Iterable[object], where: str, fields: QuestionFields, notes: RecordNotes
) -> tuple[dict[str, list[Prediction]], list[str]]:
    """Sort predictions by id; the keys of records without one come second."""
    predictions: dict[str, list[Prediction]] = {}
    answers, keys = OtherKeys(*ANSWER_KEYS, fields=fields), dict[str, object]()
    for number, record in enumerate(records, 1):
        problem = find_problem(record)
        if problem or not isinstance(record, Mapping):
            keys.update(record if isinstance(record, Mapping) else ())
            notes[problem].append(f"record {number}")
            continue
        name = question_id(record)
        if name != str(record["id"]):
            notes["id with blanks around it, matched without them"].append(name)
        predictions.setdefault(name, []).append(record)
        answers.add(record, name)
    notes.update(answers.require_answer(where))
    return predictions, list(keys)


def _answer(
    question: Prediction,
    name: str,
    matches: Sequence[Prediction] | None,
    fields: QuestionFields,
    notes: RecordNotes,
) -> Prediction:
    """Give a question the answer of its predictions, if it is one; None:
    of unknown ones.
    """
    if matches is None or _is_ambiguous(matches):
        notes[AMBIGUOUS].append(name)
        matches = ()
    prediction = matches[0] if matches else {}
    for key in fields.scored:
        given, expected = prediction.get(key), question.get(key)
        # "4" is level 4, and a copy of the question may be older than its truth
        if given != expected and not is_blank(given) and str(given) != str(expected):
            notes[differs(key)].append(name)
    row = {**question, "answer": raw_answer(prediction), "prediction": None}
    twice = [key for key in repeated_keys(prediction) if key in ANSWER_KEYS]
    repeated = [*repeated_keys(question), *twice]
    if repeated:
        return Record(row, repeated)
    return row


def _find_copies(rows: Iterable[object]) -> list[str]:
    """Find the questions whose answer is their truth, word for word; none if an answer
    differs, or if they are few: hardly anybody forecasts many questions right, in the
    very words of the truths.

    They are noted, and scored all the same: no truth decides what an answer is.
    """
    copies = list[str]()
    for row in rows:
        if not isinstance(row, Mapping) or is_blank(row.get("ground_truth")):
            continue
        answer = as_text(row.get("answer")).strip()
        if not answer:
            continue
        if answer != as_text(row["ground_truth"]).strip():
            return []
        copies.append(question_id(row))
    if len(copies) >= _MIN_COPIES:
        return copies
    return []


def _is_ambiguous(matches: Sequence[Prediction]) -> bool:
    """Return whether predictions have answers that differ."""
    if len(matches) < 2:
        return False
    return len({as_text(raw_answer(match)) for match in matches}) > 1


def _find_candidates(
    records: Sequence[Prediction], prompt: object, shared: bool
) -> Sequence[Prediction] | None:
    """Find those of the predictions with a question's id that may be for it. None if it
    is not known which, since other questions have the id, too (`shared`).
    """
    if len(records) < 2 and not shared:
        return records
    records_with_id = [record for record in records if record.get("prompt") == prompt]
    if records and shared and not records_with_id:
        return None
    return records_with_id or records


def _no_id(ids: Sequence[str], predicted: Sequence[str], keys: Sequence[str]) -> str:
    """Return why no prediction has an id of the dataset, with the nearest id or key."""
    import difflib

    if not predicted:
        shown = ", ".join(printable(key, 40) for key in keys[:5]) or "nothing"
        return f"no 'id', but {shown}"
    folded = {name.casefold(): name for name in ids}
    near = difflib.get_close_matches(predicted[0].casefold(), list(folded), n=1)
    known = f", nearest {folded[near[0]]}" if near else f"; the dataset has {ids[0]}"
    return f"other ids: {printable(predicted[0], 40)}{printable(known, 60)}"


class OtherKeys:
    """The keys of records that have none of the `wanted` ones. If that is all of them,
    one may be it under another name; none of the `fields` is.
    """

    def __init__(self, *wanted: str, fields: QuestionFields) -> None:
        self._wanted, self._total = wanted, 0
        self._question_keys = fields.keys
        self._lacking, self._keys = list[str](), Counter[str]()

    def add(self, record: object, name: str = "") -> None:
        """Note a record."""
        if type(record) is dict or isinstance(record, Mapping):  # the first is fast
            self._total += 1
            for key in self._wanted:
                if key in record:
                    return
            self._lacking.append(name)
            self._keys.update(record.keys())

    def find_others(self, known: Collection[str] = _COMMON_KEYS) -> list[str] | None:
        """Find the keys beside those of questions and `known` ones, the commonest
        first; None if a record has a wanted one.
        """
        if len(self._lacking) < max(1, self._total):
            return None
        ignored = self._question_keys.union(known)
        return [str(key) for key, _ in self._keys.most_common() if key not in ignored]

    def require_truth(self, where: str, allowed: Iterable[str] = ()) -> None:
        """InputError, which names the keys that may be the truth, if there are any."""
        if others := self.find_others(_COMMON_KEYS.union(allowed)):
            expected = (
                "expected 'ground_truth' in the questions (null where it is not "
                "known yet)"
            )
            raise InputError(where, expected, show_keys(others))

    def require_answer(self, where: str) -> dict[str, list[str]]:
        """Return a note on the records that lack an answer. InputError, which names
        their keys, if all do: nothing must be scored as missing then.
        """
        others = self.find_others(known=())
        if others is not None:
            shown = show_keys(others) or "neither"
            raise InputError(
                where, "expected 'answer' or 'prediction' in the records", shown
            )
        if self._lacking:
            return {LACKING: self._lacking}
        return {}


def require_questions(
    records: Iterable[object], where: str, hint: str, fields: QuestionFields
) -> None:
    """Raise InputError if the first record is an answer without its question."""
    first = next(iter(records), None)
    if not isinstance(first, Mapping) or first.keys().isdisjoint(ANSWER_KEYS):
        return
    if first.keys().isdisjoint((*fields.marks, "prompt", "question")):
        raise InputError(where, "expected questions", f"answers without them; {hint}")


def is_void(question: object, where: str = "dataset") -> bool:
    """Return whether a question says that it is void, and is left out of everything."""
    # Dict: fast
    if not isinstance(question, (dict, Mapping)) or "void" not in question:
        return False
    if is_blank(question["void"]):
        return False
    if (known := _VOID.get(str(question["void"]).strip().lower())) is None:
        where_in_dataset = f"{where}: question {printable(question.get('id'), 60)}"
        raise InputError(
            where_in_dataset,
            "'void' must be true or false",
            printable(repr(question["void"]), 40),
        )
    return known


def raw_answer(record: Mapping[str, object]) -> object:
    """Return the answer of a record. It is its "answer", or its "prediction" if that is
    null (None, or a data frame's nan).
    """
    answer = record.get("answer")
    if is_null(answer):
        return record.get("prediction")
    return answer
