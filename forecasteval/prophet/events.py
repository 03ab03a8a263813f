"""Problems as arrays: options, winners, whether an event is exclusive; the mistakes in them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from forecasteval.common.errors import printable
from forecasteval.common.records import BadRecord, RecordFile, repeated_keys
from forecasteval.display.results import Finding, Results, check_results

from .arrays import Bools, Floats, Ints, Names, positions, select_rows
from .csv_files import CsvFile
from .fields import Notes, Refusal, parse_id, parse_number, parse_prices, parse_time
from .tidy_files import open_csv


class Events(NamedTuple):
    """Events in the order of their ids; option by option `option`, `outcome`, q and bid: name, 1 or
    0, prices.

    The options of event e stand at offsets[e]:offsets[e + 1]. q and bid are the asking and the bid
    prices, nan where the problem gives none. Events of one `series` are one cluster; "" is a
    separate cluster.
    """

    ids: Names
    category: Names
    series: Names
    title: Names
    exclusive: Bools
    closed: Floats
    weight: Floats
    sizes: Ints
    option: Names
    outcome: Floats
    q: Floats
    bid: Floats

    @property
    def offsets(self) -> Ints:
        return np.append(0, np.cumsum(self.sizes))

    def slots(self, event: Ints) -> Ints:
        """Where in `outcome` the options of some events stand, one event after the other."""
        return positions(self.offsets[event], self.sizes[event])

    def names(self, event: int) -> Names:
        """The options of an event."""
        return self.option[self.offsets[event] : self.offsets[event + 1]]

    def select(self, chosen: Ints) -> Events:
        """The events at these positions."""
        return Events(*select_rows(self, 4, chosen))

    def cluster_names(self) -> list[str]:
        """The name of each event's cluster: its series, or the event itself."""
        pairs = zip(self.ids, self.series, strict=True)
        return [f"series {series}" if series else f"event {name}" for name, series in pairs]

    def clusters(self) -> Ints:
        """The number of each event's cluster, from 0 without gaps."""
        numbers: dict[str, int] = {}
        names = self.cluster_names()
        return np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)

    def classes(self) -> dict[str, int]:
        """How many events are exclusive, and why the others are not."""
        winners = np.add.reduceat(self.outcome, self.offsets[:-1])
        single = self.sizes == 1
        where = {
            "exclusive": self.exclusive,
            "several winners": ~single & (winners > 1),
            "no winner": ~single & (winners == 0),
            "one option": single,
            "declared not exclusive": ~single & ~self.exclusive & (winners == 1),
        }
        return {name: int(events.sum()) for name, events in where.items()}


NO_OUTCOME: Final = "no outcome yet"
_FIELDS: Final = frozenset(
    {
        "problem_id",
        "options",
        "correct_answer",
        "correct_option_idx",
        "exclusive",
        "weight",
        "odds",
        "bids",
        "series",
    }
)


class Problem(NamedTuple):
    """A problem; `won` says of each option whether it came true, `fault` why the problem cannot be
    used ("" if it can), `odd` what is strange about it.
    """

    category: str
    series: str
    title: str
    exclusive: bool
    closed: float
    weight: float
    options: list[str]
    won: list[bool]
    odds: object
    bids: object
    fault: str
    odd: list[str]


def parse_problem(record: Mapping[str, Any]) -> Problem:
    """The problem that a record gives."""
    options = record.get("options")
    names = [parse_id(option) for option in options] if isinstance(options, (list, tuple)) else []
    winners, unclear = _parse_winners(record, names)
    exclusive = record.get("exclusive")
    weight = 1.0 if record.get("weight") is None else parse_number(record["weight"])
    metadata, closed, series = (record.get(key) for key in ("metadata", "end_date", "series"))
    if closed is None and isinstance(metadata, Mapping):
        closed = metadata.get("end_date")
    time, odd_time = parse_time(closed)
    faults = {
        "'options' must be a list of names": not names or "" in names,
        "an option is listed twice": len(set(names)) < len(names),
        "a field is given twice": bool(_FIELDS.intersection(repeated_keys(record))),
        unclear: bool(unclear),
        "'exclusive' must be true or false": not isinstance(exclusive, (bool, type(None))),
        "'weight' must be a positive number": not 1e-100 < weight < 1e100,  # their sums are finite
    }
    odd = {
        f"closing time {odd_time}": bool(odd_time),
        "declared exclusive without exactly one winner, taken as separate markets": (
            exclusive is True and len(winners) != 1
        ),
    }
    fault = next((fault for fault, found in faults.items() if found), "")
    return Problem(
        category=parse_id(record.get("category")).strip(),
        series=parse_id(record.get("cluster") if series is None else series).strip(),
        title=str(record.get("title") or ""),
        exclusive=exclusive is not False and len(names) > 1 and len(winners) == 1,
        closed=time,
        weight=weight,
        options=names,
        won=[at in winners for at in range(len(names))],
        odds=record.get("odds"),
        bids=record.get("bids"),
        fault=record.reason if isinstance(record, Refusal) else fault,
        odd=[] if fault else [text for text, found in odd.items() if found],
    )


def _parse_winners(record: Mapping[str, object], options: Sequence[str]) -> tuple[set[int], str]:
    """The winners' positions (one, several, or none), and why there is no saying which."""
    answer, index = record.get("correct_answer"), record.get("correct_option_idx")
    places = {name: place for place, name in enumerate(options)}
    readings = []
    if answer is not None and not (isinstance(answer, str) and not answer.strip()):
        readings.append({places.get(parse_id(text), -1) for text in _as_list(answer)})
    if index is not None:
        known = range(len(options))
        readings.append({n if type(n) is int and n in known else -1 for n in _as_list(index)})
    if not readings:
        return set(), NO_OUTCOME
    if any(-1 in reading for reading in readings):
        return set(), "a winner is not among the options"
    if readings[0] != readings[-1]:
        return set(), "'correct_answer' and 'correct_option_idx' disagree"
    return readings[0], ""


def _as_list(value: object) -> Sequence[object]:
    return value if isinstance(value, (list, tuple)) else [value]


def collect_events(
    problems: Iterable[object], notes: Notes, place: Callable[[int], str]
) -> tuple[Events, dict[str, int | str]]:
    """The usable events, and by id of every problem the number of its event, or why a forecast of
    it does not count.

    `place(n)` says where the n-th problem stands.
    """
    records: dict[str, list[Mapping[str, object]]] = {}
    for number, record in enumerate(problems, 1):
        reason = record.problem if isinstance(record, BadRecord) else "no object with 'problem_id'"
        if isinstance(record, Mapping) and (name := parse_id(record.get("problem_id"))):
            records.setdefault(name, []).append(record)
        else:
            notes.exclude("event", reason, [place(number)])
    usable: dict[str, Problem] = {}
    places: dict[str, int | str] = {}
    for name, (record, *repeated) in sorted(records.items()):
        problem = parse_problem(record)
        for text in problem.odd:
            notes.warn(text, [name])
        fault = "problem id used more than once" if repeated else problem.fault
        if not fault:
            places[name] = len(usable)
            usable[name] = problem
        elif fault == NO_OUTCOME:
            places[name] = fault
            notes.pending["event"] += 1
        else:
            places[name] = "of an event that is excluded"
            notes.exclude("event", fault, [name] * (1 + len(repeated)))
    return _make_events(usable, notes), places


def _make_events(problems: Mapping[str, Problem], notes: Notes) -> Events:
    columns: list[list[Any]] = [[row[at] for row in problems.values()] for at in range(10)]
    *facts, options, won, odds, bids = columns
    kinds = (object, object, object, bool, float, float)
    ids, sizes = np.array(list(problems), dtype=object), np.array([*map(len, options)], np.int64)
    q, bid, bad = parse_prices(odds, bids, sizes)
    for text, where in bad.items():
        notes.warn(f"problem: {text}", ids[where])
    arrays: list[Any] = [np.array(*pair) for pair in zip(facts, kinds, strict=True)]
    names = np.array([*chain.from_iterable(options)], dtype=object)
    arrays += [sizes, names, np.array([*chain.from_iterable(won)], float), q, bid]
    return Events(ids, *arrays)


# --- Mistakes ---


def check_file(path: Path) -> Results:
    """The mistakes in the problems of a file, or in the events of a CSV; how many are pending.

    Ids, option lists and winners that cannot be used; events without a winner, with several though
    not declared `"exclusive": false`, or with one option; closing times that are none; of a CSV
    also prices that are none, and bids above asks.
    """
    findings: list[Finding] = []
    first: dict[str, int] = {}  # the first record of an id; of a CSV its line
    file: CsvFile | RecordFile
    if path.suffix == ".csv":
        file, notes = open_csv(path), Notes()
        prices = Counter(_check_rows(file, first, findings))
        for event in file.problems(notes):
            findings += _check_problem(event, first[event["problem_id"]])
        odd = [(text, name, "") for (_, text), names in notes.names.items() for name in names]
        odd = [*sorted(odd), *((*key, f"in {rows} rows") for key, rows in prices.items())]
        findings += [Finding(kind, name, first[name], text) for kind, name, text in odd]
        count = file.count
    else:
        file, count = RecordFile(path), 0
        for count, record in enumerate(file, 1):
            findings += _check_record(record, count, first)
    pending = sum(finding.kind == NO_OUTCOME for finding in findings)
    findings = [finding for finding in findings if finding.kind != NO_OUTCOME]
    told = [f"{len(first) - pending} resolved, {pending} pending"] if pending else []
    return check_results(path, file.sha256, count, findings, told)


def _check_rows(
    file: CsvFile, first: dict[str, int], findings: list[Finding]
) -> Iterator[tuple[str, str]]:
    """What is wrong with the prices of each row, and its event; where events begin, and rows
    without one, are noted.
    """
    for record in file:
        name = record["problem_id"]
        first.setdefault(name, file.line)
        if not name:
            findings.append(Finding("no event_ticker", "", file.line, ""))
            continue
        odds, bids = record.get("odds") or (), record.get("bids") or ()
        if not all(0 < ask <= 1 for ask in odds):
            yield "an asking price that is not above 0 and at most 100 cents", name
        if not all(0 <= bid <= 1 for bid in bids):
            yield "a bid that is not between 0 and 100 cents", name
        elif any(bid > ask for bid, ask in zip(bids, odds, strict=False)):
            yield "a bid above the asking price", name


def _check_record(record: object, count: int, first: dict[str, int]) -> Iterator[Finding]:
    if not isinstance(record, Mapping):
        problem = record.problem if isinstance(record, BadRecord) else type(record).__name__
        yield Finding("no object", "", count, problem)
        return
    name = parse_id(record.get("problem_id"))
    if not name:
        yield Finding("no 'problem_id'", "", count, "")
    elif first.setdefault(name, count) != count:
        yield Finding("id used more than once", name, count, f"first in record {first[name]}")
    yield from _check_problem(record, count)


def _check_problem(record: Mapping[str, Any], count: int) -> Iterator[Finding]:
    """What is wrong with one problem."""
    problem, name = parse_problem(record), parse_id(record.get("problem_id"))
    winners, size = sum(problem.won), len(problem.won)
    shown, several = printable(record.get("title") or "", 60), f"{winners} of {size} options"
    free = size > 1 and record.get("exclusive") is not False
    kinds = {
        "one option": (size == 1, shown),
        "no winner": (size > 1 and not winners, shown),
        'several winners, not declared "exclusive": false': (free and winners > 1, several),
        "no closing time": (math.isnan(problem.closed) and not problem.odd, shown),
    }
    if problem.fault:
        kinds = {problem.fault: (True, shown)}
    for kind, (found, detail) in {**dict.fromkeys(problem.odd, (True, shown)), **kinds}.items():
        if found:
            yield Finding(kind, name, count, detail)
