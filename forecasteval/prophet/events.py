"""Problems as arrays: options, winners, whether an event is exclusive; the mistakes in them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
        names = self.cluster_names()
        numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
        return np.array([numbers[name] for name in names], dtype=np.int64)

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


PENDING: Final = -2  # the number of an event without an outcome
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
    """A usable problem; `winners` are positions in its options."""

    category: str
    series: str
    title: str
    exclusive: bool
    closed: float
    weight: float
    options: list[str]
    winners: list[int]
    odds: Any
    bids: Any


def parse_problem(record: Mapping[str, object], name: str, notes: Notes) -> Problem | str:
    """The problem, or the reason why it cannot be used."""
    if isinstance(record, Refusal):
        return record.reason
    options = record.get("options")
    names = [parse_id(option) for option in options] if isinstance(options, (list, tuple)) else []
    winners = _parse_winners(record, names)
    exclusive = record.get("exclusive")
    weight = 1.0 if record.get("weight") is None else parse_number(record["weight"])
    faults = {
        "'options' must be a list of names": not names or "" in names,
        "an option is listed twice": len(set(names)) < len(names),
        "a field is given twice": bool(_FIELDS.intersection(repeated_keys(record))),
        str(winners): isinstance(winners, str),
        "'exclusive' must be true or false": not isinstance(exclusive, (bool, type(None))),
        "'weight' must be a positive number": not 1e-100 < weight < 1e100,  # their sums are finite
    }
    if isinstance(winners, str) or any(faults.values()):
        return next(fault for fault, found in faults.items() if found)
    if exclusive and len(winners) != 1:
        text = "declared exclusive without exactly one winner, taken as separate markets"
        notes.warn(text, [name])
    metadata, closed = record.get("metadata"), record.get("end_date")
    if closed is None and isinstance(metadata, Mapping):
        closed = metadata.get("end_date")
    series = record.get("series")
    return Problem(
        parse_id(record.get("category")).strip(),
        parse_id(record.get("cluster") if series is None else series).strip(),
        str(record.get("title") or ""),
        exclusive is not False and len(names) > 1 and len(winners) == 1,
        parse_time(closed, "closing time", name, notes),
        weight,
        names,
        winners,
        record.get("odds"),
        record.get("bids"),
    )


def _parse_winners(record: Mapping[str, object], options: Sequence[str]) -> list[int] | str:
    """The winners' positions (one, a list, or an empty list for none), or the reason why there are
    none.
    """
    answer, index = record.get("correct_answer"), record.get("correct_option_idx")
    answer = None if isinstance(answer, str) and not answer.strip() else answer
    if answer is None and index is None:
        return NO_OUTCOME
    places = {name: place for place, name in enumerate(options)}
    readings = []
    if answer is not None:
        texts = map(parse_id, answer if isinstance(answer, (list, tuple)) else [answer])
        readings.append({places.get(text, -1) for text in texts})
    if index is not None:
        numbers = index if isinstance(index, (list, tuple)) else [index]
        readings.append({n if type(n) is int and n < len(options) else -1 for n in numbers})
    if any(min(reading, default=0) < 0 for reading in readings):
        return "a winner is not among the options"
    if readings[0] != readings[-1]:
        return "'correct_answer' and 'correct_option_idx' disagree"
    return sorted(readings[0])


def collect_events(
    problems: Iterable[Any], notes: Notes, place: Callable[[int], str]
) -> tuple[Events, dict[str, int]]:
    """The usable events, and the number of every id that the problems name.

    -1 for those that cannot be used, `PENDING` for those without an outcome. `place(n)` says where
    the n-th problem stands.
    """
    records: dict[str, list[Mapping[str, object]]] = {}
    for number, record in enumerate(problems, 1):
        name = parse_id(record.get("problem_id")) if isinstance(record, Mapping) else ""
        if name:
            records.setdefault(name, []).append(record)
        else:
            bad = isinstance(record, BadRecord)
            reason = record.problem if bad else "no object with 'problem_id'"
            notes.exclude("event", reason, [place(number)])
    usable, numbers = dict[str, Problem](), dict.fromkeys(records, -1)
    for name, (record, *repeated) in sorted(records.items()):
        problem = parse_problem(record, name, notes)
        if repeated:
            problem = "problem id used more than once"
        if isinstance(problem, Problem):
            numbers[name] = len(usable)
            usable[name] = problem
        elif problem == NO_OUTCOME:
            numbers[name] = PENDING
            notes.pending["event"] += 1
        else:
            notes.exclude("event", problem, [name] * (1 + len(repeated)))
    return _make_events(usable, notes), numbers


def _make_events(problems: Mapping[str, Problem], notes: Notes) -> Events:
    rows, ids = list(problems.values()), np.array(list(problems), dtype=object)
    sizes = np.array([len(row.options) for row in rows], dtype=np.int64)
    q, bid, bad = parse_prices([row.odds for row in rows], [row.bids for row in rows], sizes)
    for text, where in bad.items():
        notes.warn(f"problem: {text}", ids[where])
    kinds = (object, object, object, bool, float, float)
    fields = [[row[place] for row in rows] for place in range(len(kinds))]
    columns: list[Any] = [np.array(*pair) for pair in zip(fields, kinds, strict=True)]
    options = np.array([name for row in rows for name in row.options], dtype=object)
    won = [at in row.winners for row in rows for at in range(len(row.options))]
    columns += [sizes, options, np.array(won, dtype=float), q, bid]
    return Events(ids, *columns)


# --- Mistakes ---


def check_file(path: Path) -> Results:
    """The mistakes in the problems of a file, or in the events of a CSV; how many are pending.

    Ids, option lists and winners that cannot be used; events without a winner, with several though
    not declared `"exclusive": false`, or with one option; closing times that are none; of a CSV
    also prices that are none, and bids above asks.
    """
    notes, findings = Notes(), list[Finding]()
    seen: dict[str, int] = {}  # the first record of an id; of a CSV its line
    file: CsvFile | RecordFile
    if path.suffix == ".csv":
        file = open_csv(path)
        prices = list(_check_rows(file, seen, findings))
        for event in file.problems(notes):
            findings += _check_problem(event, seen[event["problem_id"]])
        texts = [(text, name, "") for text, names in notes.odd().items() for name in names]
        findings += [Finding(kind, name, seen[name], text) for kind, name, text in texts + prices]
        count = file.rows
    else:
        file, count = RecordFile(path), 0
        for count, record in enumerate(file, 1):
            findings += _check_record(record, count, seen)
    pending = sum(finding.kind == NO_OUTCOME for finding in findings)
    findings = [finding for finding in findings if finding.kind != NO_OUTCOME]
    told = [f"{len(seen) - pending} resolved, {pending} pending"] if pending else []
    return check_results(path, file.sha256, count, findings, told)


def _check_rows(
    file: CsvFile, seen: dict[str, int], findings: list[Finding]
) -> Iterator[tuple[str, str, str]]:
    """Kind, event and detail of wrong prices; note where events begin, and rows without one."""
    prices = Counter[tuple[str, str]]()
    for record in file:
        name = str(record["problem_id"])
        seen.setdefault(name, file.line)
        if not name:
            findings.append(Finding("no event_ticker", "", file.line, ""))
        if not isinstance(record, Refusal):
            kinds = _check_prices(record["odds"] or (), record["bids"] or ())
            prices.update((kind, name) for kind in kinds)
    for (kind, name), rows in prices.items():
        yield kind, name, f"in {rows} rows"


def _check_record(record: object, count: int, seen: dict[str, int]) -> Iterator[Finding]:
    if not isinstance(record, Mapping):
        problem = record.problem if isinstance(record, BadRecord) else type(record).__name__
        yield Finding("no object", "", count, problem)
        return
    name = parse_id(record.get("problem_id"))
    if not name:
        yield Finding("no 'problem_id'", "", count, "")
    elif seen.setdefault(name, count) != count:
        yield Finding("id used more than once", name, count, f"first in record {seen[name]}")
    yield from _check_problem(record, count)


def _check_problem(record: Mapping[str, object], count: int) -> Iterator[Finding]:
    """What is wrong with one problem."""
    notes, name = Notes(), parse_id(record.get("problem_id"))
    problem = parse_problem(record, "", notes)
    shown = printable(record.get("title") or "", 60)
    if isinstance(problem, str):
        yield Finding(problem, name, count, shown)
        return
    yield from (Finding(text, name, count, shown) for text in notes.odd())
    winners, size = len(problem.winners), len(problem.options)
    if size == 1:
        yield Finding("one option", name, count, shown)
    elif not winners:
        yield Finding("no winner", name, count, shown)
    elif winners > 1 and record.get("exclusive") is not False:
        kind = 'several winners, not declared "exclusive": false'
        yield Finding(kind, name, count, f"{winners} of {size} options")
    if math.isnan(problem.closed) and not notes.odd():
        yield Finding("no closing time", name, count, shown)


def _check_prices(odds: Sequence[float], bids: Sequence[float]) -> Iterator[str]:
    """What is wrong with the prices of a row, if it has any."""
    if not all(0 < ask <= 1 for ask in odds):
        yield "an asking price that is not above 0 and at most 100 cents"
    if not all(0 <= bid <= 1 for bid in bids):
        yield "a bid that is not between 0 and 100 cents"
    elif any(bid > ask for bid, ask in zip(bids, odds, strict=False)):
        yield "a bid above the asking price"
