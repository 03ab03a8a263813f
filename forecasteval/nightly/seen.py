"""What was first seen when: the answers of prediction files and the truths of their questions.

`evaluation/seen.jsonl` has a line with the times of nights and, by dataset and id, the night of the
first truth; then a line for each prediction file, with the hash and the night of each answer.
Nights are counted from 0. What the first one finds may have been there before: it is never late.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from forecasteval.benchmark import Deadline, Files, Late
from forecasteval.common.errors import InputError
from forecasteval.common.files import hash_file, read_file, readable, write_atomic
from forecasteval.common.records import dump_json, group_by
from forecasteval.lookup import list_datasets, list_predictions
from forecasteval.nightly.history import now
from forecasteval.ranking.board import OpenDataset
from forecasteval.scoring import Scorer

_LARGEST: Final = 10_000_000  # bytes of a file that is recorded
_Answers = Mapping[str, Sequence[Any]]  # hash and night, by id
_Nights = Mapping[str, int]  # by id


class Sight(NamedTuple):
    """What a night sees: the tasks with their late answers, the datasets with open questions, and a
    note on each file that is too large to be recorded.
    """

    tasks: list[Files]
    open: list[OpenDataset]
    notes: list[str]


def look(root: Path, scorer: Scorer, tasks: Sequence[Files], policy: str) -> Sight:
    """Record what is seen for the first time, dataset by dataset."""
    names = {path.stem for path in list_predictions(root)}
    seen = _Seen(scorer.output / "seen.jsonl", names, policy)
    late: dict[Files, Late] = {}
    open_: list[OpenDataset] = []
    of_dataset = group_by(tasks, attrgetter("dataset"))
    for dataset in list_datasets(root):
        with contextlib.suppress(InputError):  # scoring says so
            wing = scorer.recognise(dataset, dataset)
            if wing.hash_answers and wing.list_deadlines:
                files = of_dataset.get(dataset, [])
                answers = [seen.see_answers(task.path, wing.hash_answers) for task in files]
                deadlines = wing.list_deadlines(dataset) if seen.is_small(dataset) else {}
                truths = seen.see_truths(dataset.name, deadlines)
                for task, each in zip(files, answers, strict=True):
                    late[task] = Late(policy, seen.find_late(each, truths, deadlines))
                open_ += _find_open(dataset.name, deadlines)
    seen.write()
    if policy == "keep":
        return Sight([*tasks], open_, [])
    large = "not recorded, and never late, as it is above 10 MB"
    notes = [f"{large}: {name}" for name in seen.large]
    return Sight([task._replace(late=late.get(task)) for task in tasks], open_, notes)


def _find_open(dataset: str, deadlines: Mapping[str, Deadline]) -> list[OpenDataset]:
    """Describe what can still be answered of a dataset, if anything can."""
    time = now()
    left = [each for each in deadlines.values() if not (each.has_truth or each.is_past(time))]
    times = sorted({each.closes for each in left if each.closes})
    closes = [each.isoformat(timespec="minutes") for each in (*times[:1], *times[1:][-1:])]
    return [OpenDataset(dataset=dataset, questions=len(left), closes=closes)] * bool(left)


class _File(NamedTuple):
    """A prediction file with the hash and the night of its answers, by id; also of those that were
    taken back.
    """

    sha256: str = ""
    answers: _Answers = MappingProxyType({})

    def find_new(self, hashes: Mapping[str, str]) -> list[str]:
        """Find the answers that are not among its own."""
        return [name for name in hashes if self.answers.get(name, [""])[0] != hashes[name]]


class _Seen:
    """What all nights saw first, and what this one adds; `names` are those of the files that are
    there.
    """

    def __init__(self, path: Path, names: set[str], policy: str) -> None:
        self.large: list[str] = []  # files that are not recorded
        self._path = path
        self._nights: list[str] = []
        self._truths: dict[str, dict[str, int]] = {}
        self._files: dict[str, _File] = {}  # by stem: .jsonl in place of .json is the same file
        try:
            if path.exists():
                head, *lines = map(json.loads, read_file(path).splitlines())
                self._nights, self._truths = head["nights"], head["truths"]
                self._files = {name: _File(*file) for name, *file in lines}
        except (ValueError, LookupError, TypeError):
            if policy != "keep":
                expected = "expected the nights of answers; restore it from an earlier night, or "
                expected += "delete it: then nothing that is there now is late"
                raise InputError(str(path), expected, "a damaged file") from None
        self._gone = [self._files.pop(name) for name in {*self._files} - names]
        self._is_new = bool(self._gone)
        self._tonight = len(self._nights)
        self._nights.append(now().isoformat())
        self._times = list(map(datetime.fromisoformat, self._nights))

    def write(self) -> None:
        """Write the record, if there is something new in it."""
        if self._is_new:
            head = {"nights": self._nights, "truths": self._truths}
            lines = ([name, *file] for name, file in sorted(self._files.items()))
            write_atomic(self._path, (f"{dump_json(line)}\n" for line in (head, *lines)))

    def is_small(self, path: Path) -> bool:
        """Tell whether a file is small enough to be recorded."""
        with readable(path):
            size = path.stat().st_size
        self.large += [path.name] * (size > _LARGEST)
        return size <= _LARGEST

    def see_answers(self, path: Path, hash_answers: Callable[[Path], dict[str, str]]) -> _Answers:
        """Record the answers of a file; of one that cannot be read, give those of before."""
        before = self._files.get(path.stem, _File())
        with contextlib.suppress(InputError):
            if not self.is_small(path):
                return {}
            checksum = hash_file(path)
            if checksum == before.sha256:
                return before.answers
            hashes = hash_answers(path)
            if not before.sha256:  # perhaps it had another name
                before = next((gone for gone in self._gone if not gone.find_new(hashes)), before)
            new = {name: (hashes[name], self._tonight) for name in before.find_new(hashes)}
            before = self._files[path.stem] = _File(checksum, {**before.answers, **new})
            self._is_new = True
        return before.answers

    def see_truths(self, dataset: str, deadlines: Mapping[str, Deadline]) -> _Nights:
        """Record which questions of a dataset have a truth; the night of the first, by id."""
        before = self._truths.get(dataset)
        known = [name for name, deadline in deadlines.items() if deadline.has_truth]
        truths = self._truths[dataset] = {**dict.fromkeys(known, self._tonight), **(before or {})}
        self._is_new |= truths != before
        return truths

    def find_late(
        self, answers: _Answers, truths: _Nights, deadlines: Mapping[str, Deadline]
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
