"""Questions with their answers: records that have both, or a dataset and predictions for it, joined
by id.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from forecasteval.common.errors import InputError, RecordNotes, printable
from forecasteval.common.files import stamp_of
from forecasteval.common.records import (
    BadRecord,
    Record,
    RecordFile,
    as_text,
    is_null,
    repeated_keys,
)

from .questions import FIELDS
from .truths import QuestionFile, is_blank, question_id, show_keys

_QUESTION_KEYS: Final = frozenset({"id", *FIELDS, "end_time", "additional values", "Description"})
_ANSWER_KEYS: Final = ("answer", "prediction")
_KEPT: Final = 500  # rows that are kept for a page: to read them again costs a fifth of drawing it
# What other programs call a reply, which `convert --answer` takes.
_REPLY_KEYS: Final = ("response", "output", "model_answer", "reply", "completion", "generation")
# Keys that questions have, of which none can be their truth under another name.
_KNOWN_KEYS: Final = _QUESTION_KEYS | {
    *("title", "category", "topic", "tags", "type", "language"),
    *("source", "url", "start_time", "void"),
}
_VOID: Final = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
# What is noted of ids.
AMBIGUOUS: Final = "ambiguous prediction, counted as missing"
UNKNOWN: Final = "prediction without a question, not used"
Prediction = Mapping[str, object]


def differs(field: str) -> str:
    """Name what is noted of ids whose prediction repeats a field of the question differently."""
    return f"{field} of the file differs from the dataset, the dataset counts"


class Rows:
    """Questions with their answers, made whenever they are iterated; `where` names the questions in
    errors.

    Without a `dataset`, `records` have both. With one they are predictions for it, joined by id;
    where an id repeats, by id and prompt. Rows that stay ambiguous have no answer. A dataset is
    read twice, first for its ids, and not kept. `messages()` then names these, predictions without
    a question, and fields in which a prediction differs from its question.

    Raises InputError for a file without a dataset whose first record is no question, for questions
    of which none has a truth but all have another key, if no prediction has an answer, and if none
    has an id of the questions; without questions there is nothing to join, and scoring refuses
    that.
    """

    def __init__(
        self, records: Iterable[object], where: str, dataset: Iterable[object] | None = None
    ) -> None:
        self._records, self._name, self._dataset = records, where, dataset
        self.truths = dataset.truths if isinstance(dataset, QuestionFile) else None
        self.where = str(dataset.path) if isinstance(dataset, RecordFile) else where
        if self.truths:  # a value may be of either file
            self.where += f" with {self.truths.path.name}"
        sources = {
            "dataset_sha256": dataset,
            "truths_sha256": self.truths,
            "prediction_sha256": records,
        }
        self._files = {key: file for key, file in sources.items() if isinstance(file, RecordFile)}
        self.notes = RecordNotes()
        self._kept, self._stamps = list[object](), list[object]()

    def __iter__(self) -> Iterator[Any]:
        self._kept, self._stamps = list[object](), self._stamp_files()
        for row in self._read():
            if len(self._kept) <= _KEPT:
                self._kept.append(row)
            yield row

    def _read(self) -> Iterator[object]:
        self.notes = RecordNotes()
        if self._dataset is not None:
            yield from self._join(self._dataset)
            return
        keys = Keys("ground_truth")
        for number, record in enumerate(self._records):
            if number == 0 and self._files and not _may_be_question(record):
                expected = "expected questions with 'level' and 'ground_truth', or a dataset for it"
                hint = "(a file in dataset/ whose name begins like this one's, or --dataset)"
                raise InputError(self.where, f"{expected} {hint}", "neither")
            keys.add(record)
            yield record
        keys.require_truth(self.where, _ANSWER_KEYS)

    def _join(self, questions: Iterable[object]) -> Iterator[object]:
        """The questions, each with the "answer" of its prediction."""
        predictions, keys = self._read_predictions()
        ids, truth_keys = Counter[str](), Keys("ground_truth")
        for question in questions:
            ids[question_id(question)] += 1
            truth_keys.add(question)
        path = questions.path if isinstance(questions, RecordFile) else self._name
        truth_keys.require_truth(str(path))
        if ids and predictions.keys().isdisjoint(ids):
            problem = _no_id(list(ids), list(predictions), keys)
            raise InputError(self._name, "expected predictions for this dataset", problem)
        used = set[int]()  # `id()` of predictions that a question has used
        for question in questions:
            if isinstance(question, Mapping):
                name, prompt = question_id(question), question.get("prompt")
                found = _find_candidates(predictions.get(name, []), prompt, ids[name] > 1)
                used.update(map(id, found or ()))
                yield self._answer(question, name, found)
            else:
                yield question
        left = set(self.notes.get(AMBIGUOUS, ()))
        unused = [
            name
            for name, records in predictions.items()
            for record in records
            if id(record) not in used and name not in left
        ]
        if unused:
            self.notes[UNKNOWN] = unused

    def _read_predictions(self) -> tuple[dict[str, list[Prediction]], list[str]]:
        """The predictions by id, and the keys of records without one."""
        predictions: dict[str, list[Prediction]] = {}
        answers, keys = Keys(*_ANSWER_KEYS), dict[str, object]()
        for number, record in enumerate(self._records, 1):
            problem = _find_problem(record)
            if problem or not isinstance(record, Mapping):
                keys.update(record if isinstance(record, Mapping) else ())
                self.notes[f"{problem}, not used"].append(f"record {number}")
                continue
            name = question_id(record)
            if name != str(record["id"]):
                self.notes["id with blanks around it, matched without them"].append(name)
            predictions.setdefault(name, []).append(record)
            answers.add(record, name)
        self.notes.update(answers.require_answer(self._name))
        return predictions, list(keys)

    def _answer(
        self, question: Prediction, name: str, found: Sequence[Prediction] | None
    ) -> Prediction:
        """The question with the answer of its predictions, if it is one; None: of unknown ones."""
        if found is None or (len(found) > 1 and len(set(map(_answer_text, found))) > 1):
            self.notes[AMBIGUOUS].append(name)
            found = ()
        prediction = found[0] if found else {}
        for field in FIELDS:
            given, expected = prediction.get(field), question.get(field)
            # "4" is level 4, and a copy of the question may be older than its truth
            if given != expected and not is_blank(given) and str(given) != str(expected):
                self.notes[differs(field)].append(name)
        row = {**question, "answer": raw_answer(prediction), "prediction": None}
        twice = [key for key in repeated_keys(prediction) if key in _ANSWER_KEYS]
        repeated = [*repeated_keys(question), *twice]
        return Record(row, repeated) if repeated else row

    def read_again(self) -> Iterable[Any] | None:
        """These rows, for a page; None if their records can be read only once. Few rows of files
        that have not changed since are not read from them again.
        """
        if isinstance(self._records, Iterator):
            return None
        is_kept = 0 < len(self._kept) <= _KEPT and self._stamps == self._stamp_files()
        return self._kept if is_kept else self

    def _stamp_files(self) -> list[object]:
        return [stamp_of(file.path) for file in self._files.values()]

    @property
    def damaged(self) -> int:
        """Lines of the prediction file that are no JSON."""
        file = self._files.get("prediction_sha256")
        return file.damaged if file else 0

    def messages(self) -> list[str]:
        """Warnings about the files and their records; complete once all rows have been read."""
        warnings = [warning for file in self._files.values() for warning in file.warnings]
        unused = self._dataset.messages() if isinstance(self._dataset, QuestionFile) else []
        return [*warnings, *unused, *self.notes.lines()]

    def checksums(self) -> dict[str, str]:
        """sha256 of the files; complete once all rows have been read."""
        return {key: file.sha256 for key, file in self._files.items()}


def read_rows(path: Path, dataset: Path | None) -> Rows:
    """The questions of a dataset with the answers of a prediction file, or those of a file that has
    both.
    """
    return Rows(RecordFile(path), str(path), QuestionFile(dataset) if dataset else None)


def _may_be_question(record: object) -> bool:
    return not isinstance(record, Mapping) or "level" in record or "ground_truth" in record


def _find_problem(record: object) -> str:
    """Why a record is no prediction of a question; "" if it is one."""
    if not isinstance(record, Mapping):
        bad = isinstance(record, BadRecord)
        return "damaged line" if bad else "prediction that is not an object"
    if "id" in repeated_keys(record):
        return "prediction with two ids"
    return "prediction without id" if record.get("id") is None else ""


def _find_candidates(
    records: Sequence[Prediction], prompt: object, shared: bool
) -> Sequence[Prediction] | None:
    """Those of the predictions with a question's id that may be for it; None if it is not known
    which, since other questions have the id, too (`shared`).
    """
    if len(records) < 2 and not shared:
        return records
    same = [record for record in records if record.get("prompt") == prompt]
    return None if records and shared and not same else same or records


def _no_id(ids: Sequence[str], predicted: Sequence[str], keys: Sequence[str]) -> str:
    """Why no prediction has an id of the dataset, with the nearest id or key."""
    import difflib

    if not predicted:
        named = [key for key in keys if key.lower().replace("_", "").endswith("id")]
        shown = ", ".join(printable(key, 40) for key in (named or keys)[:5]) or "nothing"
        remedy = f"; `convert --id {shown}` makes predictions of them" if len(named) == 1 else ""
        return f"no 'id', but {shown}{remedy}"
    folded = {name.casefold(): name for name in ids}
    near = difflib.get_close_matches(predicted[0].casefold(), list(folded), n=1)
    known = f", nearest {folded[near[0]]}" if near else f"; the dataset has {ids[0]}"
    return f"other ids: {printable(predicted[0], 40)}{printable(known, 60)}"


class Keys:
    """The keys of records that have none of the `wanted` ones: if that is all of them, one may be
    it under another name.
    """

    def __init__(self, *wanted: str) -> None:
        self._wanted, self._total = wanted, 0
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

    def find_others(self, known: Collection[str] = _KNOWN_KEYS) -> list[str] | None:
        """The keys beside `known` ones, the commonest first; None if a record has a wanted one."""
        if len(self._lacking) < max(1, self._total):
            return None
        return [str(key) for key, _ in self._keys.most_common() if key not in known]

    def require_truth(self, where: str, allowed: Iterable[str] = ()) -> None:
        """InputError, which names the keys that may be the truth, if there are any."""
        if others := self.find_others(_KNOWN_KEYS.union(allowed)):
            expected = "expected 'ground_truth' in the questions (null where it is not known yet)"
            raise InputError(where, expected, show_keys(others))

    def require_answer(self, where: str) -> dict[str, list[str]]:
        """A note on the records that lack an answer; InputError, which names their keys, if all do:
        nothing must be scored as missing then.
        """
        others = self.find_others(_QUESTION_KEYS)
        if others is not None:
            shown = show_keys(others) or "neither"
            if replies := [key for key in others if key in _REPLY_KEYS or len(others) == 1]:
                words = ["convert", where, "--answer", replies[0], "-o", "NAME.json"]
                shown += f"; make a prediction of it: {shlex.join(words)}"
            raise InputError(where, "expected 'answer' or 'prediction' in the records", shown)
        note = "record with neither 'answer' nor 'prediction', missing"
        return {note: self._lacking} if self._lacking else {}


def is_void(question: object, where: str = "dataset") -> bool:
    """Whether a question says that it is void, and is left out of everything."""
    if not isinstance(question, (dict, Mapping)) or "void" not in question:  # dict: fast
        return False
    if is_blank(question["void"]):
        return False
    if (known := _VOID.get(str(question["void"]).strip().lower())) is None:
        place = f"{where}: question {printable(question.get('id'), 60)}"
        raise InputError(
            place, "'void' must be true or false", printable(repr(question["void"]), 40)
        )
    return known


def raw_answer(record: Mapping[str, object]) -> object:
    """The answer of a record: its "answer", or its "prediction" if that is null (None, or a data
    frame's nan).
    """
    answer = record.get("answer")
    return record.get("prediction") if is_null(answer) else answer


def _answer_text(record: Mapping[str, object]) -> str:
    return as_text(raw_answer(record))
