"""Questions with their answers: records that have both, or a dataset and predictions for it, joined
by id.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from .truths import QuestionFile, Truths, is_blank

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
_AMBIGUOUS: Final = "ambiguous prediction, counted as missing"


class Rows:
    """Questions with their answers, made while they are iterated; `where` names the questions in
    errors.

    Without a `dataset`, `records` have both. With one they are predictions for it; see `Join`.
    Raises InputError for a file without a dataset whose first record is no question.
    """

    def __init__(
        self, records: Iterable[object], where: str, dataset: Iterable[object] | None = None
    ) -> None:
        self._given = records, where, dataset
        self.where = str(dataset.path) if isinstance(dataset, RecordFile) else where
        if self.truths:  # a value may be of either file
            self.where += f" with {self.truths.file.path.name}"
        self._rows = records if dataset is None else Join(dataset, records, where)
        self._kept: list[object] = []  # the first rows
        self._stamps = self._stamp_files()

    def __iter__(self) -> Iterator[Any]:
        keys, self._kept = TruthKeys(_ANSWER_KEYS), []
        for number, record in enumerate(self._rows):
            if number == 0 and isinstance(self._rows, RecordFile) and _is_prediction(record):
                expected = "expected questions with 'level' and 'ground_truth', or a dataset for it"
                hint = "(a file in dataset/ whose name begins like this one's, or --dataset)"
                raise InputError(self.where, f"{expected} {hint}", "neither")
            keys.add(record)
            if number <= _KEPT:
                self._kept.append(record)
            yield record
        keys.require(self.where)

    def read_again(self) -> Iterable[Any] | None:
        """The same rows once more, for a page; None if their records can be read only once. Few
        rows of files that have not changed are not read from them again.
        """
        if isinstance(self._given[0], Iterator):
            return None
        is_kept = 0 < len(self._kept) <= _KEPT and self._stamps == self._stamp_files()
        return self._kept if is_kept else Rows(*self._given)

    def _stamp_files(self) -> list[object]:
        return [stamp_of(file.path) for _, file in self._files()]

    @property
    def damaged(self) -> int:
        """Lines of the prediction file that are no JSON."""
        return sum(file.damaged for key, file in self._files() if key == "prediction_sha256")

    def messages(self) -> list[str]:
        """Warnings about the files and their records; complete once all rows have been read."""
        warnings = [warning for _, file in self._files() for warning in file.warnings]
        if self.truths:
            warnings += self.truths.messages()
        return warnings + (self._rows.messages() if isinstance(self._rows, Join) else [])

    @property
    def truths(self) -> Truths | None:
        """The truths beside the dataset."""
        dataset = self._given[2]
        return dataset.truths if isinstance(dataset, QuestionFile) else None

    def checksums(self) -> dict[str, str]:
        """sha256 of the files; complete once all rows have been read."""
        return {key: file.sha256 for key, file in self._files()}

    def _files(self) -> Iterator[tuple[str, RecordFile]]:
        for key, source in (
            ("dataset_sha256", self._given[2]),
            ("prediction_sha256", self._given[0]),
        ):
            if isinstance(source, RecordFile):
                yield key, source
            if isinstance(source, QuestionFile) and source.truths:
                yield "truths_sha256", source.truths.file


def read_rows(path: Path, dataset: Path | None) -> Rows:
    """The questions of a dataset with the answers of a prediction file, or those of a file that has
    both.
    """
    return Rows(RecordFile(path), str(path), QuestionFile(dataset) if dataset else None)


def _is_prediction(record: object) -> bool:
    return isinstance(record, Mapping) and not {"level", "ground_truth"} & record.keys()


class Join:
    """The questions of a dataset, each with the "answer" of its prediction, made while they are
    iterated (once).

    `questions` are iterated twice, first for their ids, and not kept. Predictions are joined by id;
    where an id repeats, by id and prompt. Rows that stay ambiguous have no answer. `messages()`
    names these afterwards, predictions without a question, and fields in which a prediction differs
    from its question. Raises InputError if no prediction has an id of the questions; without
    questions there is nothing to join, and scoring refuses that.
    """

    def __init__(
        self, questions: Iterable[object], predictions: Iterable[object], where: str
    ) -> None:
        self._questions = questions
        self._notes = RecordNotes()
        self._predictions: dict[
            str, list[Mapping[str, object]]
        ] = {}  # by id, as long as a question may need them
        self._used: set[int] = (
            set()
        )  # `id()` of predictions that a question has used and that are kept
        answers, keys = AnswerKeys(), Counter[str]()  # keys of records without an id
        for number, record in enumerate(predictions, 1):
            two_ids = "id" in repeated_keys(record)
            if isinstance(record, Mapping) and record.get("id") is not None and not two_ids:
                name = str(record["id"]).strip()
                if name != str(record["id"]):
                    self._notes["id with blanks around it, matched without them"].append(name)
                self._predictions.setdefault(name, []).append(record)
                answers.add(record, name)
            else:
                keys.update(record.keys() if isinstance(record, Mapping) else ())
                problem = (
                    "prediction without id"
                    if isinstance(record, Mapping)
                    else "prediction that is not an object"
                )
                problem = "damaged line" if isinstance(record, BadRecord) else problem
                problem = "prediction with two ids" if two_ids else problem
                self._notes[f"{problem}, not used"].append(f"record {number}")
        ids, truth_keys = Counter[str](), TruthKeys()
        for question in questions:
            ids[_question_id(question)] += 1
            truth_keys.add(question)
        truth_keys.require(str(questions.path) if isinstance(questions, RecordFile) else where)
        self._shared = {name for name, times in ids.items() if times > 1}
        if ids and self._predictions.keys().isdisjoint(ids):
            problem = _no_id(list(ids), list(self._predictions), keys)
            raise InputError(where, "expected predictions for this dataset", problem)
        self._notes.update(answers.warnings(where, sum(map(len, self._predictions.values()))))

    def __iter__(self) -> Iterator[object]:
        for question in self._questions:
            yield self._answered(question) if isinstance(question, Mapping) else question

    def _answered(self, question: Mapping[str, object]) -> Mapping[str, object]:
        name = _question_id(question)
        prediction = self._find(name, question.get("prompt"))
        for field in FIELDS:
            given, expected = prediction.get(field), question.get(field)
            # "4" is level 4, and a copy of the question may be older than its truth
            if given != expected and not is_blank(given) and str(given) != str(expected):
                self._notes[
                    f"{field} of the file differs from the dataset, the dataset counts"
                ].append(name)
        row = {**question, "answer": raw_answer(prediction), "prediction": None}
        repeated = [
            *repeated_keys(question),
            *(key for key in repeated_keys(prediction) if key in _ANSWER_KEYS),
        ]
        return Record(row, repeated) if repeated else row

    def _find(self, name: str, prompt: object) -> Mapping[str, object]:
        """The prediction of a question; {} if there is none, or if it is not known which."""
        shared = name in self._shared
        records = self._predictions.get(name, [])
        if len(records) == 1 and not shared:
            return self._predictions.pop(name)[0]
        same = [record for record in records if record.get("prompt") == prompt]
        candidates = same if same or shared else records
        self._used.update(map(id, candidates))
        if len({as_text(raw_answer(record)) for record in candidates}) > 1 or (
            records and not candidates
        ):
            self._notes[_AMBIGUOUS].append(name)
            return {}
        return candidates[0] if candidates else {}

    def messages(self) -> list[str]:
        """Warnings about records; complete once all rows have been read."""
        ambiguous = set(self._notes.get(_AMBIGUOUS, ()))
        unused = [
            name
            for name, records in self._predictions.items()
            for record in records
            if id(record) not in self._used and name not in ambiguous
        ]
        if unused:
            self._notes["prediction without a question, not used"] = unused
        return self._notes.lines()


def _question_id(question: object) -> str:
    return str(question.get("id")).strip() if isinstance(question, Mapping) else ""


def _no_id(ids: Sequence[str], predicted: Sequence[str], keys: Counter[str]) -> str:
    """Why no prediction has an id of the dataset, with the nearest id or key."""
    import difflib

    named = [key for key in keys if key.lower().replace("_", "").endswith("id")]
    if not predicted:
        shown = ", ".join(printable(key, 40) for key in (named or list(keys))[:5]) or "nothing"
        remedy = (
            f"; `convert --id {printable(named[0], 40)}` makes predictions of them"
            if len(named) == 1
            else ""
        )
        return f"no 'id', but {shown}{remedy}"
    folded = {name.casefold(): name for name in ids}
    near = difflib.get_close_matches(predicted[0].casefold(), list(folded), n=1)
    known = (
        f", nearest {printable(folded[near[0]], 40)}"
        if near
        else f"; the dataset has {printable(ids[0], 40)}"
    )
    return f"other ids: {printable(predicted[0], 40)}{known}"


class TruthKeys:
    """The keys of questions of which none has a truth: one of them may be the truth under another
    name.
    """

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        self._known, self._keys, self._found = _KNOWN_KEYS.union(allowed), Counter[str](), False

    def add(self, question: object) -> None:
        """Note the keys of a question."""
        if not self._found and isinstance(question, Mapping):
            self._found = "ground_truth" in question
            self._keys.update(question.keys())

    def find_strange(self) -> list[str]:
        """The keys, as text, that questions do not have; none if there is a truth."""
        if self._found:
            return []
        return [printable(repr(key), 40) for key in self._keys if key not in self._known][:8]

    def require(self, where: str) -> None:
        """InputError, which names the keys that may be the truth, if there are any."""
        if strange := self.find_strange():
            expected = "expected 'ground_truth' in the questions (null where it is not known yet)"
            raise InputError(where, expected, ", ".join(strange))


def is_void(question: object, where: str = "dataset") -> bool:
    """Whether a question says that it is void, and is left out of everything."""
    if not isinstance(question, Mapping) or "void" not in question:
        return False
    void = question["void"]
    if is_null(void) or void == "":
        return False
    if (known := _VOID.get(str(void).strip().lower())) is None:
        place = f"{where}: question {printable(question.get('id'), 60)}"
        raise InputError(place, "'void' must be true or false", printable(repr(void), 40))
    return known


class AnswerKeys:
    """Records that carry neither "answer" nor "prediction": where all do, nothing must be scored as
    missing.
    """

    def __init__(self) -> None:
        self._lacking: list[str] = []
        self._keys: Counter[str] = Counter()

    def add(self, record: Mapping[str, object], name: str) -> None:
        """Note a record that has neither key."""
        if "answer" not in record and "prediction" not in record:
            self._lacking.append(name)
            self._keys.update(record.keys())

    def warnings(self, where: str, count: int) -> dict[str, list[str]]:
        """The names of the records that lack both; InputError, which names their keys, if all
        `count` records do.
        """
        if count and len(self._lacking) == count:
            keys = [key for key, _ in self._keys.most_common() if key not in _QUESTION_KEYS]
            shown = ", ".join(printable(repr(str(key)), 40) for key in keys[:8]) or "neither"
            if replies := [str(key) for key in keys if key in _REPLY_KEYS or len(keys) == 1]:
                words = ["convert", where, "--answer", replies[0], "-o", "NAME.json"]
                shown += f"; make a prediction of it: {shlex.join(words)}"
            raise InputError(where, "expected 'answer' or 'prediction' in the records", shown)
        return (
            {"record with neither 'answer' nor 'prediction', missing": self._lacking}
            if self._lacking
            else {}
        )


def raw_answer(record: Mapping[str, object]) -> object:
    """The answer of a record: its "answer", or its "prediction" if that is null (None, or a data
    frame's nan).
    """
    for key in _ANSWER_KEYS:
        answer = record.get(key)
        if not is_null(answer):
            return answer
    return None
