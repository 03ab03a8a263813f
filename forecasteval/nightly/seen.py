"""What was first seen when: the answers of prediction files and the truths of their questions.

`evaluation/seen.jsonl` is one line: the times of nights and, by their numbers from 0, the night of
each question's first truth and of each answer, with its hash. What the first night finds may have
been there before: it is never late. The answers of a file that is as before are not read.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import SkipValidation

from forecasteval.benchmark import Deadline, Files, Late
from forecasteval.common.errors import InputError, grouped_names
from forecasteval.common.files import read_file, write_atomic
from forecasteval.common.forms import from_record
from forecasteval.common.records import dump_json, group_by
from forecasteval.lookup import list_datasets, list_predictions
from forecasteval.nightly.history import now
from forecasteval.ranking.board import OpenDataset
from forecasteval.scoring import Scorer

_LARGEST: Final = 10_000_000  # bytes of a file that is recorded
_DAMAGES: Final = (AttributeError, InputError, RecursionError, TypeError, ValueError)
_Answers = dict[str, tuple[str, int]]  # hash and night, by id; also of those that were taken back


class Sight(NamedTuple):
    """What a night sees: the tasks with their late answers, the datasets with open questions, and
    notes on what makes no answer late: files that are too large to be recorded, damaged times.
    """

    tasks: list[Files]
    open: list[OpenDataset]
    notes: list[str]


def look(
    root: Path,
    scorer: Scorer,
    tasks: Sequence[Files],
    policy: str,
    hash_once: Callable[[Path], str],
) -> Sight:
    """Record what is seen for the first time, dataset by dataset."""
    path = scorer.output / "seen.jsonl"
    night = _Night(_read(path, policy), {file.stem for file in list_predictions(root)}, hash_once)
    late: dict[Files, Late] = {}
    open_: list[OpenDataset] = []
    notes: list[str] = []
    of_dataset = group_by(tasks, attrgetter("dataset"))
    for dataset in list_datasets(root):
        wing = scorer.recognise(dataset, dataset)
        if not (wing.hash_answers and wing.list_deadlines):
            continue
        deadlines: Mapping[str, Deadline] = night.read(wing.list_deadlines, dataset) or {}
        truths = night.see_truths(dataset.stem, deadlines)
        for task in of_dataset.get(dataset, ()):
            answers = night.see_answers(task.path, wing.hash_answers)
            if policy != "keep":
                late[task] = Late(policy, night.find_late(answers, truths, deadlines))
        if left := [each.closes for each in deadlines.values() if night.is_open(each)]:
            times = sorted({f"{closes:%Y-%m-%dT%H:%MZ}" for closes in left if closes})
            closes = times[:1] + times[1:][-1:]
            open_.append(OpenDataset(dataset=dataset.name, questions=len(left), closes=closes))
        if damaged := [name for name, each in deadlines.items() if each.is_damaged]:
            what = "'closes' that is no time of ISO 8601 closes nothing"
            notes.append(f"{dataset.name}: {what}: {grouped_names(damaged)}")
    night.write(path)
    notes += [f"not recorded, and never late, as it is above 10 MB: {name}" for name in night.large]
    tasks = [task._replace(late=late.get(task)) for task in tasks]
    return Sight(tasks, open_, notes if policy != "keep" else [])


@dataclass
class _Record:
    """What nights saw first: truths by dataset and id; by stem the sha256 and answers of a file,
    without a sha256 if it has gone.
    """

    nights: list[str]
    truths: dict[str, dict[str, int]]
    # To validate the answers takes longer than to read them: `_is_usable` looks at them.
    files: dict[str, tuple[str, SkipValidation[_Answers]]]


def _read(path: Path, policy: str) -> _Record:
    """Read the record of all nights; without it a night could be unfair, unless all is kept."""
    if path.exists():
        with contextlib.suppress(*_DAMAGES):
            record = from_record(_Record, json.loads(read_file(path)))
            if _is_usable(record):
                return record
    if policy == "keep" or not path.exists():
        return _Record([], {}, {})
    expected = "expected the nights of answers; restore it from an earlier night, or delete it: "
    raise InputError(
        str(path), f"{expected}then nothing that is there now is late", "a damaged file"
    )


def _is_usable(record: _Record) -> bool:
    """Tell whether the nights of a record have a time zone, and its answers a hash and a night.

    Raises an error of `_DAMAGES` for times and answers of another shape.
    """
    nights = range(len(record.nights))
    return all(datetime.fromisoformat(night).tzinfo for night in record.nights) and all(
        isinstance(checksum, str) and isinstance(night, int) and night in nights
        for _, answers in record.files.values()
        for checksum, night in answers.values()
    )


class _Night:
    """Adds to a record what a night sees; `names` are the stems of the files that are there."""

    def __init__(self, record: _Record, names: set[str], hash_once: Callable[[Path], str]) -> None:
        self.large: list[str] = []  # files that are not recorded
        self._record = record
        self._times = [*map(datetime.fromisoformat, record.nights), now()]
        self._hash = hash_once
        gone = {
            name: answers
            for name, (checksum, answers) in record.files.items()
            if checksum and name not in names
        }
        record.files |= {name: ("", answers) for name, answers in gone.items()}  # if it comes back
        self._gone = {_hashes(answers): answers for answers in gone.values()}
        self._is_new = bool(gone)

    def write(self, path: Path) -> None:
        """Write the record, if there is something new in it."""
        if self._is_new:
            self._record.nights.append(self._times[-1].isoformat())
            write_atomic(path, f"{dump_json(vars(self._record))}\n")

    def read(self, read: Callable[[Path], Any], path: Path) -> Any:
        """Read a file; None if it is too large, or cannot be read: scoring says so."""
        with contextlib.suppress(InputError, OSError):
            if path.stat().st_size <= _LARGEST:
                return read(path)
            self.large.append(path.name)
        return None

    def see_answers(self, path: Path, hash_answers: Callable[[Path], dict[str, str]]) -> _Answers:
        """Record the answers of a file, and give all of which a night is known."""
        # By stem: .jsonl in place of .json is the same file.
        checksum, answers = self._record.files.get(path.stem, ("", {}))
        found = self.read(self._hash, path) or checksum
        if found != checksum:
            hashes = self.read(hash_answers, path) or {}
            if not checksum:  # perhaps it had another name
                answers = self._gone.get(frozenset(hashes.items()), answers)
            night = len(self._record.nights)
            new = {name: (each, night) for name, each in hashes.items()}
            same = {
                name: old for name, old in answers.items() if hashes.get(name, old[0]) == old[0]
            }
            answers = {**new, **same}
            self._record.files[path.stem] = found, answers
            self._is_new = True
        return answers

    def see_truths(self, dataset: str, deadlines: Mapping[str, Deadline]) -> Mapping[str, int]:
        """Record which questions of a dataset have a truth; the night of the first, by id."""
        truths = self._record.truths.setdefault(dataset, {})
        for name, deadline in deadlines.items():
            if deadline.has_truth and name not in truths:
                truths[name] = len(self._record.nights)
                self._is_new = True
        return truths

    def find_late(
        self, answers: _Answers, truths: Mapping[str, int], deadlines: Mapping[str, Deadline]
    ) -> tuple[str, ...]:
        """Find the questions whose answers are late: first seen on a night after one on which the
        question had a truth, or after it was closed.
        """
        return tuple(
            sorted(
                name
                for name, (_, night) in answers.items()
                if night > truths.get(name, night)
                or (night and name in deadlines and deadlines[name].is_past(self._times[night]))
            )
        )

    def is_open(self, deadline: Deadline) -> bool:
        """Tell whether a question can still be answered."""
        return not (deadline.has_truth or deadline.is_past(self._times[-1]))


def _hashes(answers: _Answers) -> frozenset[tuple[str, str]]:
    return frozenset((name, each) for name, (each, _) in answers.items())
