"""Problems as arrays: options, winners, whether an event is exclusive; the mistakes in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple

import numpy as np

from forecasteval.common.errors import InputError, grouped_names, printable
from forecasteval.common.records import (
    BadRecord,
    JsonObject,
    Loaded,
    as_text,
    group_by,
    repeated_keys,
)

from .arrays import Bools, Floats, Ints, Names, positions
from .cells import PENDING_WORDS, VOID_WORDS, parse_id, parse_number
from .fields import (
    STATES,
    VOID,
    DataNotes,
    Refusal,
    first_fault,
    parse_prices,
)
from .losses import EXCLUDED
from .times import NO_TIME, NO_ZONE, parse_time


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
        """List where in `outcome` the options of some events stand, one event after the other."""
        return positions(self.offsets[event], self.sizes[event])

    def select(self, events: Ints) -> Events:
        """Select the events of these numbers, in this order."""
        slots = self.slots(events)
        return Events(
            ids=self.ids[events],
            category=self.category[events],
            series=self.series[events],
            title=self.title[events],
            exclusive=self.exclusive[events],
            closed=self.closed[events],
            weight=self.weight[events],
            sizes=self.sizes[events],
            option=self.option[slots],
            outcome=self.outcome[slots],
            q=self.q[slots],
            bid=self.bid[slots],
        )

    def cluster_names(self) -> list[str]:
        """Name each event's cluster: its series, or the event itself."""
        pairs = zip(self.ids, self.series, strict=True)
        return [f"series {series}" if series else f"event {name}" for name, series in pairs]

    def clusters(self) -> Ints:
        """Number each event's cluster, from 0 without gaps."""
        numbers: dict[str, int] = {}
        names = self.cluster_names()
        return np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)

    def classes(self) -> dict[str, int]:
        """Count how many events are exclusive, and why the others are not."""
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
FROM_ONE: Final = "'correct_option_idx' is the number of options: it counts from 0"
_NO_ID: Final = "no object with 'problem_id'"
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
    """A problem, the n-th record by its `number`.

    `won` says of each option whether it came true. `fault` is why the problem cannot be used ("" if
    it can), `cell` what it says there, `odd` what is strange. `is_declared`: not exclusive.
    """

    number: int
    id: str
    category: str
    series: str
    title: str
    is_declared: bool
    closed: float
    weight: float
    options: list[str]
    won: list[bool]
    odds: object
    bids: object
    fault: str
    cell: str
    odd: list[str]

    @property
    def exclusive(self) -> bool:
        return not self.is_declared and len(self.won) > 1 and sum(self.won) == 1


def read_problems(records: Iterable[object]) -> Iterator[Problem]:
    """Read every record as a problem."""
    for number, record in enumerate(records, 1):
        if not isinstance(record, Mapping):
            record = Refusal(_NO_ID, record.problem if isinstance(record, BadRecord) else "")
        yield _parse_problem(number, record)


def _parse_problem(number: int, record: JsonObject) -> Problem:
    options = record.get("options")
    names = [parse_id(option) for option in options] if isinstance(options, (list, tuple)) else []
    winners, unclear = _parse_winners(record, names)
    exclusive, name = record.get("exclusive"), parse_id(record.get("problem_id"))
    weight = 1.0 if record.get("weight") is None else parse_number(record["weight"])
    metadata, closed = record.get("metadata"), record.get("end_date")
    if closed is None and isinstance(metadata, Mapping):
        closed = metadata.get("end_date")
    time, odd_time = parse_time(closed, is_end=True)
    cell = record.cell if isinstance(record, Refusal) else ""
    if unclear == VOID:
        cell = printable(as_text(record.get("correct_answer")), 60)
    elif odd_time == NO_TIME:
        cell = printable(as_text(closed), 60)
    faults = {
        record.reason if isinstance(record, Refusal) else "": isinstance(record, Refusal),
        _NO_ID: not name,
        "'options' must be a list of names": not names or "" in names,
        "an option is listed twice": len(set(names)) < len(names),
        "a field is given twice": bool(_FIELDS.intersection(repeated_keys(record))),
        unclear: bool(unclear),
        "'exclusive' must be true or false": not isinstance(exclusive, (bool, type(None))),
        "'weight' must be a positive number": not 1e-100 < weight < 1e100,  # their sums are finite
    }
    odd = {
        f"closing time {odd_time}": odd_time == NO_ZONE,
        f"closing time {NO_TIME}, treated as unknown": odd_time == NO_TIME,
        "declared exclusive without exactly one winner, taken as separate markets": (
            exclusive is True and len(winners) != 1
        ),
    }
    fault = first_fault(faults)
    odd_of_pending = [
        f"outcome called {key!r}, not read: call it 'correct_answer'"
        for key in ("winner", "resolution")
        if fault == NO_OUTCOME and record.get(key)
    ]
    return Problem(
        number=number,
        id=name,
        category=parse_id(record.get("category")).strip(),
        series=parse_id(record.get("series")).strip(),
        title=str(record.get("title") or ""),
        is_declared=exclusive is False,
        closed=time,
        weight=weight,
        options=names,
        won=[at in winners for at in range(len(names))],
        odds=record.get("odds"),
        bids=record.get("bids"),
        fault=fault,
        cell=cell,
        odd=odd_of_pending if fault else [text for text, found in odd.items() if found],
    )


def _parse_winners(record: Mapping[str, object], options: Sequence[str]) -> tuple[set[int], str]:
    """Find the winners' positions (one, several, or none), or why there is no saying which.

    A name in other capitals is that of an option if only one has it.
    """
    answer, index = record.get("correct_answer"), record.get("correct_option_idx")
    folded = [name.strip().casefold() for name in options]
    readings = []
    if answer is not None and not (isinstance(answer, str) and not answer.strip()):
        readings.append(
            {_find_option(parse_id(text), options, folded) for text in _as_list(answer)}
        )
    if index is not None:
        known = range(len(options))
        places = [parse_number(place) for place in _as_list(index)]
        if len(options) in places:
            return set(), FROM_ONE
        readings.append({int(place) if place in known else -1 for place in places})
    state = _find_state(answer) if readings == [{-1}] else ""
    if not readings or state == NO_OUTCOME:
        return set(), NO_OUTCOME
    if state:
        return set(), state
    if any(-1 in reading for reading in readings):
        return set(), "a winner is not among the options"
    if readings[0] != readings[-1]:
        return set(), "'correct_answer' and 'correct_option_idx' disagree"
    return readings[0], ""


def _find_state(answer: object) -> str:
    """Find what an answer that names no option says of the question's state; "" if nothing."""
    word = parse_id(answer).strip().casefold()
    if word in PENDING_WORDS:
        return NO_OUTCOME
    return VOID if word in VOID_WORDS else ""


def _find_option(text: str, options: Sequence[str], folded: Sequence[str]) -> int:
    """Find the place of the option that a text names; -1 if it names none, or several."""
    names, name = (options, text) if text in options else (folded, text.strip().casefold())
    return names.index(name) if names.count(name) == 1 else -1


def _as_list(value: object) -> Sequence[object]:
    return value if isinstance(value, (list, tuple)) else [value]


def choose_problems(
    problems: Loaded, notes: DataNotes
) -> tuple[list[Problem], dict[str, int | str]]:
    """Choose the usable problems. By id of every problem there is its place among them, or why a
    forecast of it does not count.
    """
    by_id = group_by(read_problems(problems), attrgetter("id"))
    for problem in by_id.pop("", ()):
        notes.exclude("event", problem.cell or problem.fault, [problems.place(problem.number)])
    source = str(problems.path)
    usable: list[Problem] = []
    places: dict[str, int | str] = {}
    for name, (problem, *repeated) in sorted(by_id.items()):
        for text in problem.odd:
            notes.warn(text, [name])
            if NO_TIME in text:
                notes.show_example(text, name, problem.cell)
        fault = "problem id used more than once" if repeated else problem.fault
        if not fault:
            places[name] = len(usable)
            usable.append(problem)
        elif fault == NO_OUTCOME:
            places[name] = fault
            notes.pending["event"] += 1
        else:
            places[name] = EXCLUDED
            notes.exclude("event", fault, [name] * len(repeated))
            notes.fail_event(source, fault, name, problem.cell)
        notes.faults[source][""] += fault not in STATES | {NO_OUTCOME}
    counted = [problem.id for (problem, *_) in by_id.values() if problem.fault == FROM_ONE]
    if counted and not any(problem.won[0] for problem in usable):
        # Of a file that counts from 1 all other winners would be the option behind the true one.
        got = f"as many as the options of {grouped_names(sorted(counted))}"
        raise InputError(
            f"{source}: correct_option_idx", "expected to count from 0: subtract 1", got
        )
    return usable, places


def make_events(problems: Sequence[Problem], notes: DataNotes) -> Events:
    """Make the columns of all events."""

    def column(values: Iterable[object], kind: Any = object) -> Any:
        return np.array([*values], kind)

    ids, series = column(p.id for p in problems), column(p.series for p in problems)
    sizes = column((len(p.options) for p in problems), np.int64)
    q, bid, bad = parse_prices([p.odds for p in problems], [p.bids for p in problems], sizes)
    for text, where in bad.items():
        notes.warn(f"problem: {text}", ids[where])
    if series.any():
        notes.warn("events without a series, each a cluster of its own", ids[series == ""])
    return Events(
        ids=ids,
        category=column(p.category for p in problems),
        series=series,
        title=column(p.title for p in problems),
        exclusive=column((p.exclusive for p in problems), bool),
        closed=column((p.closed for p in problems), float),
        weight=column((p.weight for p in problems), float),
        sizes=sizes,
        option=column(name for p in problems for name in p.options),
        outcome=column((won for p in problems for won in p.won), float),
        q=q,
        bid=bid,
    )
