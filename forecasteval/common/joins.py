"""Questions of a dataset and predictions for them, brought together by id; checksums of what was asked."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from .errors import InputError, grouped_warning, printable
from .records import BadRecord, Record, as_text, is_null, repeated_keys
from .spilled import Spilled

_QUESTION_KEYS: Final = frozenset(
    {"id", "prompt", "level", "ground_truth", "Std", "end_time", "additional values", "Description"}
)
_AMBIGUOUS: Final = "ambiguous prediction, counted as missing"


def join(
    questions: Sequence[Any], predictions: Iterable[Any], fields: Iterable[str], where: str
) -> tuple[Sequence[Any], list[str]]:
    """The dataset's questions, each with the "answer" of its prediction, and what was noticed on the way.

    Where the questions are on the disk, so is what is made of them. Joined by id; where ids repeat, by id and prompt.
    Rows that stay ambiguous have no answer and are named, as are predictions without a question and `fields` in which a
    prediction's row differs from its question. Raises InputError if no prediction has an id of the questions.
    """
    notes: dict[str, list[str]] = {}
    on_disk = isinstance(questions, Spilled)
    kept: list[Any] | Spilled[Any] = Spilled() if on_disk else []
    joined: list[Any] | Spilled[Any] = Spilled() if on_disk else []
    shared = _shared_ids(questions)
    places, unlabelled, answers = _places_by_id(predictions, kept, notes)
    if places.keys().isdisjoint(map(_question_id, questions)):
        ids = list(map(_question_id, questions))
        raise InputError(where, "expected predictions for this dataset", _no_id(ids, list(places), unlabelled))
    notes.update(answers.warnings(where, len(kept)))
    used = bytearray(len(kept))
    for question in questions:
        if not isinstance(question, Mapping):
            joined.append(question)
            continue
        name = _question_id(question)
        rows = [(place, kept[place]) for place in places.get(name, ())]
        if len(rows) > 1 or name in shared:
            same = [(place, row) for place, row in rows if row.get("prompt") == question.get("prompt")]
            rows = same if same or name in shared else rows
        for place, _ in rows:
            used[place] = True
        if len({as_text(raw_answer(row)) for _, row in rows}) > 1 or (not rows and name in places):
            notes.setdefault(_AMBIGUOUS, []).append(name)
            rows = []
        row = rows[0][1] if rows else {}
        for field in fields:
            theirs, ours = row.get(field), question.get(field)
            if field in row and theirs != ours and str(theirs) != str(ours):  # "4" is level 4
                notes.setdefault(f"{field} of the file differs from the dataset, the dataset counts", []).append(name)
        both = {**question, "answer": raw_answer(row), "prediction": None}
        repeated = repeated_keys(question) + repeated_keys(row)
        joined.append(Record(both, repeated) if repeated else both)
    ambiguous = set(notes.get(_AMBIGUOUS, ()))
    unused = [n for n, theirs in places.items() for place in theirs if not used[place] and n not in ambiguous]
    if unused:
        notes["prediction without a question, not used"] = unused
    return joined, [grouped_warning(text, names) for text, names in notes.items()]


def _question_id(question: Any) -> str:
    return str(question.get("id")).strip() if isinstance(question, Mapping) else ""


def _shared_ids(questions: Iterable[Any]) -> set[str]:
    """The ids that several questions have."""
    seen: set[str] = set()
    shared: set[str] = set()
    for name in map(_question_id, questions):
        (shared if name in seen else seen).add(name)
    return shared


def _places_by_id(
    predictions: Iterable[Any], kept: list[Any] | Spilled[Any], notes: dict[str, list[str]]
) -> tuple[dict[str, tuple[int, ...]], Counter[str], AnswerKeys]:
    """Where the rows of an id stand in `kept`, the keys of rows without one, and what is known of their answers."""
    places: dict[str, tuple[int, ...]] = {}
    keys: Counter[str] = Counter()
    answers = AnswerKeys()
    for number, record in enumerate(predictions, 1):
        if isinstance(record, Mapping) and record.get("id") is not None:
            given = str(record["id"])
            name = given.strip()
            if name != given:
                notes.setdefault("id with blanks around it, matched without them", []).append(name)
            places[name] = (*places.get(name, ()), len(kept))
            kept.append(record)
            answers.add(record, name)
        else:
            keys.update(record.keys() if isinstance(record, Mapping) else ())
            problem = "prediction without id" if isinstance(record, Mapping) else "prediction that is no object"
            problem = "damaged line" if isinstance(record, BadRecord) else problem
            notes.setdefault(f"{problem}, not used", []).append(f"record {number}")
    return places, keys, answers


def _no_id(ids: Sequence[str], theirs: Sequence[str], keys: Counter[str]) -> str:
    """Why no prediction has an id of the dataset, with the nearest thing that is there."""
    import difflib

    named = [key for key in keys if key.lower().replace("_", "").endswith("id")]
    if not theirs:
        shown = ", ".join(printable(key, 40) for key in (named or list(keys))[:5]) or "nothing"
        remedy = f"; `convert --id {printable(named[0], 40)}` makes predictions of them" if len(named) == 1 else ""
        return f"no 'id', but {shown}{remedy}"
    folded = {name.casefold(): name for name in ids}
    near = difflib.get_close_matches(theirs[0].casefold(), list(folded), n=1)
    nearest = (
        f", nearest {printable(folded[near[0]], 40)}" if near else f", which has {printable((*ids, 'none')[0], 40)}"
    )
    return f"none with an id of it: {printable(theirs[0], 40)}{nearest}"


class AnswerKeys:
    """Records that carry neither "answer" nor "prediction": where all do, nothing must be scored as missing."""

    def __init__(self) -> None:
        self._lacking: list[str] = []
        self._keys: Counter[str] = Counter()

    def add(self, record: Mapping[str, Any], name: str) -> None:
        """Look at one record."""
        if "answer" not in record and "prediction" not in record:
            self._lacking.append(name)
            self._keys.update(record.keys())

    def warnings(self, where: str, count: int) -> dict[str, list[str]]:
        """The names of those that lack both; InputError, with the keys that are there, if all `count` records do."""
        if count and len(self._lacking) == count:
            others = [key for key, _ in self._keys.most_common() if key not in _QUESTION_KEYS]
            there = [printable(repr(str(key)), 40) for key in others]
            raise InputError(
                where, "expected 'answer' or 'prediction' in the records", ", ".join(there[:8]) or "neither"
            )
        return {"record with neither 'answer' nor 'prediction', missing": self._lacking} if self._lacking else {}


def raw_answer(record: Mapping[str, Any]) -> Any:
    """What a record answers: its "answer", or its "prediction" where it has none (None, or a data frame's nan)."""
    for key in ("answer", "prediction"):
        answer = record.get(key)
        if not is_null(answer):
            return answer
    return None


class RecordDigest:
    """sha256 over records in their order, taken in batches: hashing one by one costs more than scoring."""

    def __init__(self) -> None:
        self._sha = hashlib.sha256()
        self._waiting: list[str] = []

    def add(self, *fields: str) -> None:
        self._waiting += fields
        if len(self._waiting) > 20_000:
            self._flush()

    def _flush(self) -> None:
        self._sha.update("\0".join([*self._waiting, ""]).encode("utf-8", "surrogatepass"))
        self._waiting = []

    def hex(self) -> str:
        self._flush()
        return self._sha.hexdigest()


def hash_question(text: str) -> str:
    """A short checksum of what was asked, by which the items of two results are paired."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def hash_questions(hashes: Iterable[str]) -> str:
    """sha256 of all `hash_question`s, in any order: equal for results that can be compared."""
    return hashlib.sha256(" ".join(sorted(hashes)).encode()).hexdigest()
