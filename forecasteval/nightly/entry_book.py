"""The entry book `evaluation/seen.jsonl`: who entered which answer, and since when.

Scores of nightly runs are scores of entries, not of what lies in the folder tonight.
The book is a list of lines that only grows. A line belongs to a nightly run
and to a dataset:

    night      the number of the nightly run, from 0
    time       when that was
    benchmark  the benchmark of the dataset
    begins     the first run that recorded this benchmark; nothing that it found is late
    dataset    the stem of the dataset
    truths     the ids of questions of which this run was the first to see a truth
    withdrawn  names of datasets and runs that the board's owner withdrew, by system
    file       the stem of a prediction file; the following keys are about it
    sha256     its checksum; "" once the file is gone
    cut        the checksum of a shorter version, which counts once a
    second run finds it
    since      the run from which its answers count, if not this one
    was        the stem under which an entry stood before its file was
    renamed, by author
    entries    {author: [[question, time, hash of the answer], ...]}; the hash is
    "" if it is gone

The author of an entry is "" where the name of the file says whose it is. The
forecasters in a file of forecasts are authors; only forecasts have a time of their own.
A run here is a nightly run, not one of several runs of a system.

Up to version 3.2.0 the file was a single line:

    nights  the times of nightly runs, which are numbered from 0
    truths  {dataset: {question: run that first saw its truth}}
    files   {stem of a prediction file: [sha256, {question: [hash of the answer, run]}]}
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError
from forecasteval.common.files import write_atomic
from forecasteval.common.forms import from_record
from forecasteval.common.records import dump_json
from forecasteval.nightly.store import read_journal, set_aside, set_lines_aside

BOOK: Final = "seen.jsonl"
_MAX_RUNS: Final = 1e9
# What reading a damaged line can raise.
_DAMAGE_ERRORS: Final = (
    *(AttributeError, InputError, LookupError),
    *(RecursionError, TypeError, ValueError),
)

# The id of a question or event, and the own time of a forecast, which is ""
# for an answer.
AnswerKey = tuple[str, str]
AnswerHashes = dict[AnswerKey, str]


class State(NamedTuple):
    """What an entry said to a question from a nightly run on: the hash of an
    answer, or "".
    """

    answer_hash: str
    night: int


# By answer, its states in the order in which they were seen.
Entry = dict[AnswerKey, list[State]]


def current_hashes(entry: Entry) -> AnswerHashes:
    """Return the hashes of the answers that an entry has now."""
    last_hashes = {key: states[-1].answer_hash for key, states in entry.items()}
    return {key: answer_hash for key, answer_hash in last_hashes.items() if answer_hash}


@dataclass
class FileRecord:
    """A prediction file as the book knows it; `sha256` is "" once the file is gone."""

    dataset: str = ""  # unknown of a file that only version 3.2.0 or earlier saw
    sha256: str = ""
    cut: str = ""
    entries: dict[str, Entry] = field(default_factory=dict)  # by author


@dataclass(frozen=True, kw_only=True)
class BookLine:
    """A line of the book."""

    night: int
    time: str
    benchmark: str
    begins: int
    dataset: str
    truths: list[str] = field(default_factory=list)
    withdrawn: dict[str, list[str]] = field(default_factory=dict)
    file: str = ""
    sha256: str | None = None
    cut: str = ""
    since: int | None = None
    was: dict[str, str] = field(default_factory=dict)
    entries: dict[str, list[tuple[str, str, str]]] = field(default_factory=dict)


class EntryBook:
    """All lines of the book, and those that the present nightly run adds."""

    def __init__(self) -> None:
        self.times: dict[int, datetime] = {}
        self.begins: dict[str, int] = {}  # by benchmark
        # By dataset; unknown up to version 3.2.0
        self.first_nights: dict[str, int] = {}
        self.truths: dict[str, dict[str, int]] = {}  # by dataset and question
        self.withdrawn: dict[tuple[str, str], int] = {}  # by system and name
        self.files: dict[str, FileRecord] = {}  # by stem
        self.has_old_lines = False
        self.raw = b""
        self.new_lines: list[str] = []
        self._tonight: tuple[int, str] | None = None

    # --- Reading ---

    def read_line(self, text: bytes) -> bool:
        """Take over a line; return whether it is whole. A damaged one
        changes nothing.
        """
        with contextlib.suppress(*_DAMAGE_ERRORS):
            line = json.loads(text)
            if "nights" in line:
                self._take_old(line)
            else:
                self._take(from_record(BookLine, line))
            return True
        return False

    def _take_old(self, line: Mapping[str, Any]) -> None:
        """Take over the record of version 3.2.0 or earlier."""
        times = [_parse_time(text) for text in line["nights"]]
        truths = {
            dataset: {
                name: _require_night(night, len(times))
                for name, night in of_dataset.items()
            }
            for dataset, of_dataset in line["truths"].items()
        }
        files = {}
        for stem, (checksum, answers) in line["files"].items():
            entries = {"": _read_old(answers, len(times))}
            files[stem] = FileRecord(sha256=from_record(str, checksum), entries=entries)
        self.times = dict(enumerate(times))
        self.truths = truths
        self.files = files
        self.has_old_lines = True

    def _take(self, line: BookLine) -> None:
        """Take over a line, whether it was read or is new; a damaged one
        raises before that.
        """
        time = _parse_time(line.time)
        since = line.night if line.since is None else line.since
        for night in (line.night, line.begins, since):
            _require_night(night)

        self.times[line.night] = time
        self.begins[line.benchmark] = line.begins
        if line.dataset not in self.truths:
            self.first_nights[line.dataset] = line.night
        truths = self.truths.setdefault(line.dataset, {})
        for question in line.truths:
            truths.setdefault(question, line.night)
        for system, names in line.withdrawn.items():
            for name in names:
                self.withdrawn.setdefault((system, name), line.night)
        if not line.file:
            return

        record = self.files.setdefault(line.file, FileRecord())
        record.dataset = line.dataset
        record.cut = line.cut
        if line.sha256 is not None:
            record.sha256 = line.sha256
        for author, answers in line.entries.items():
            entry = record.entries.setdefault(author, {})
            for name, own_time, answer_hash in answers:
                entry.setdefault((name, own_time), []).append(State(answer_hash, since))
        for author, stem in line.was.items():
            if stem in self.files:
                former = self.files[stem].entries.pop(author, {})
                record.entries[author] = _continue_entry(
                    former, record.entries.get(author, {})
                )

    # --- Adding ---

    def open_run(self, time: datetime) -> int:
        """Begin the present nightly run; return its number."""
        night = max(self.times, default=-1) + 1
        self.times[night] = time
        self._tonight = night, time.isoformat()
        return night

    def add(self, benchmark: str, dataset: str, **values: Any) -> None:
        """Add a line of the present run."""
        assert self._tonight is not None
        night, time = self._tonight
        line = {
            "night": night,
            "time": time,
            "benchmark": benchmark,
            "begins": self.begins[benchmark],
            "dataset": dataset,
            **values,
        }
        self.new_lines.append(dump_json(line))
        self._take(from_record(BookLine, line))

    def write(self, path: Path) -> None:
        """Append the lines of the present run, as a whole or not at all."""
        if self.new_lines:
            lines = "".join(f"{line}\n" for line in self.new_lines)
            write_atomic(path, self.raw + lines.encode())


def _require_night(value: object, end: float = _MAX_RUNS) -> int:
    """Return the number of a nightly run; TypeError for what is none, or at
    `end` or later.
    """
    if type(value) is not int or not 0 <= value < end:
        raise TypeError(value)
    return value


def _parse_time(value: object) -> datetime:
    """Parse a time; ValueError if it has no zone, since it is compared with
    times that have.
    """
    time = datetime.fromisoformat(from_record(str, value))
    if time.tzinfo is None:
        raise ValueError(value)
    return time


def _read_old(answers: Mapping[str, Any], nights: int) -> Entry:
    """Read the answers of a file in the form of version 3.2.0 or earlier."""
    entry: Entry = {}
    for name, (answer_hash, night) in answers.items():
        state = State(from_record(str, answer_hash), _require_night(night, nights))
        entry[name, ""] = [state]
    return entry


def _continue_entry(former: Entry, present: Entry) -> Entry:
    """Join the states of an entry before and after its file was renamed."""
    first_night = min((states[0].night for states in present.values()), default=0)
    joined: Entry = {}
    for key in {**former, **present}:
        # That the old file went when the new one came is no withdrawal.
        states = [
            state
            for state in former.get(key, [])
            if state.answer_hash or state.night < first_night
        ]
        for state in present.get(key, []):
            if not states or states[-1].answer_hash != state.answer_hash:
                states.append(state)
        joined[key] = states
    return {key: states for key, states in joined.items() if states}


# --- The file ---


def open_book(
    path: Path, is_expected: bool, policy: str, must_begin: bool
) -> tuple[EntryBook, list[str]]:
    """Read the book, with notes on what is set aside.

    is_expected: whether the last board says that it had a book.
    policy: under "mark" and "drop" a book that is missing or cannot be read is an
        InputError: with an empty one, every late answer would pass as one that the
        first run found.
    must_begin: begin a new book all the same; InputError if there is one
        that can be read.
    """
    book = EntryBook()
    # A broken link counts as damage, not as a first run: its target may be unmounted
    # tonight only.
    is_missing = not os.path.lexists(path)
    if is_missing and not is_expected:
        return book, []

    damaged = b""
    problem = (
        "expected the entries of earlier runs, which the last board had, got no "
        "such file"
    )
    if not is_missing:
        problem = "expected the entries of earlier runs, got a damaged file"
        with contextlib.suppress(InputError):
            book.raw, damaged = read_journal(path, book.read_line)
    if book.raw:
        if must_begin:
            raise InputError(
                "--begin-record", f"{path} can be read: leave the option out"
            )
        return book, set_lines_aside(path, book.raw, damaged)

    if policy != "keep" and not must_begin:
        advice = "restore it from a backup, or run once with --begin-record"
        raise InputError(
            str(path), f"{problem}; {advice}: then nothing that is there is late"
        )
    if is_missing:
        return book, []
    return book, [f"{path}: a damaged file, set aside as {set_aside(path)}"]


# --- What counts ---


@dataclass(frozen=True)
class Verdict:
    """What a book says of an entry: which answers are late, and which are missing
    although they were there when their questions closed.

    changed: the questions whose answer was there in time and is another one now.
    """

    late: list[AnswerKey]
    removed: list[AnswerKey]
    changed: list[AnswerKey]


def judge_entry(entry: Entry, is_in_time: Callable[[str, int], bool]) -> Verdict:
    """Judge the answers of an entry by the states that they had in time.

    The last state in time counts. Whoever gives A and then B while a question is open
    has B, and a later A is late; whoever takes an answer away while it is open has
    none. is_in_time: whether a question was open for what a nightly run was
    the first to see.
    """
    verdict = Verdict([], [], [])
    for key, states in entry.items():
        current = states[-1].answer_hash
        entered = find_entered(states, key[0], is_in_time)
        if current == entered:
            continue
        if current:
            verdict.late.append(key)
        if entered:
            (verdict.changed if current else verdict.removed).append(key)
    return verdict


def find_entered(
    states: Sequence[State], question: str, is_in_time: Callable[[str, int], bool]
) -> str:
    """Find the hash of the answer that was there when its question
    closed; "" for none.
    """
    for state in reversed(states):
        if is_in_time(question, state.night):
            return state.answer_hash
    return ""


def find_new_states(entry: Entry, hashes: AnswerHashes) -> AnswerHashes:
    """Find the answers of a file that differ from its entry; "" for those
    that are gone.
    """
    known = current_hashes(entry)
    keys: Iterable[AnswerKey] = {**hashes, **known}
    new = {key: hashes.get(key, "") for key in keys}
    return {key: digest for key, digest in new.items() if digest != known.get(key, "")}


def judge_change(
    former: AnswerHashes, new: AnswerHashes, is_in_time: Callable[[str, int], bool]
) -> Verdict:
    """Judge a change of an entry: run 0 saw what was there before it, and run
    1 what is now.
    """
    entry: Entry = {key: [State(answer_hash, 0)] for key, answer_hash in former.items()}
    for key, answer_hash in find_new_states(entry, new).items():
        entry.setdefault(key, []).append(State(answer_hash, 1))
    return judge_entry(entry, is_in_time)


def is_cut_short(entry: Entry, hashes: AnswerHashes) -> bool:
    """Return whether only the last answers are gone, as in a file that is still
    being uploaded.
    """
    known = [*current_hashes(entry).items()]
    left = [*hashes.items()]
    return 0 < len(left) < len(known) and known[: len(left)] == left
