"""Problems as arrays: options, winners, whether an event is exclusive; the
mistakes in them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
from forecasteval.questions.columns import add_columns

from .arrays import Bools, Floats, Ints, Names, positions
from .cells import FROM_ONE, NO_OUTCOME, STATES, VOID, as_list, parse_id, parse_number
from .fields import STATE_FAULTS, DataNotes, Refusal, parse_prices
from .losses import EXCLUDED
from .times import NO_TIME, NO_ZONE, parse_time

# The columns that are fields of problems, and their types.
_FIELD_TYPES: Final = {
    "category": object,
    "series": object,
    "columns": object,
    "title": object,
    "exclusive": bool,
    "closed": float,
    "weight": float,
}
_COLUMNS_BY_EVENT: Final = ("ids", "sizes", *_FIELD_TYPES)
_COLUMNS_BY_OPTION: Final = ("option", "outcome", "q", "bid")


class Events(NamedTuple):
    """Events in the order of their ids; option by option `option`, `outcome`, q and
    bid: name, 1 or 0, prices.

    The options of event e stand at offsets[e]:offsets[e + 1]. q and bid are the asking
    and the bid prices, nan where the problem gives none. Events of one `series` are one
    cluster; "" is a separate cluster.
    """

    ids: Names
    category: Names
    series: Names
    columns: Names  # dicts of the other columns of the problems, as items have them
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
        """List where in `outcome` the options of some events stand, one event
        after the other.
        """
        return positions(self.offsets[event], self.sizes[event])

    def select(self, events: Ints) -> Events:
        """Select the events of these numbers, in this order."""
        slots = self.slots(events)
        by_event = {name: getattr(self, name)[events] for name in _COLUMNS_BY_EVENT}
        by_option = {name: getattr(self, name)[slots] for name in _COLUMNS_BY_OPTION}
        return Events(**by_event, **by_option)

    def cluster_names(self) -> list[str]:
        """Name each event's cluster: its series, or the event itself."""
        pairs = zip(self.ids, self.series, strict=True)
        return [
            f"series {series}" if series else f"event {name}" for name, series in pairs
        ]

    def clusters(self) -> Ints:
        """Number each event's cluster, from 0 without gaps."""
        numbers: dict[str, int] = {}
        names = self.cluster_names()
        return np.array(
            [numbers.setdefault(name, len(numbers)) for name in names], np.int64
        )

    def classes(self) -> dict[str, int]:
        """Count how many events are exclusive, and why the others are not."""
        winners = np.add.reduceat(self.outcome, self.offsets[:-1])
        is_single = self.sizes == 1
        is_declared = ~is_single & ~self.exclusive & (winners == 1)
        masks = {
            "exclusive": self.exclusive,
            "several winners": ~is_single & (winners > 1),
            "no winner": ~is_single & (winners == 0),
            "one option": is_single,
            "declared not exclusive": is_declared,
        }
        return {name: int(mask.sum()) for name, mask in masks.items()}


_NO_ID: Final = "no object with 'problem_id'"
_FIELDS: Final = frozenset(
    {
        *(
            "problem_id",
            "options",
            "correct_answer",
            "correct_option_idx",
            "exclusive",
            "weight",
        ),
        *("odds", "bids", "series"),
    }
)


# Which an item has in another form, or not at all
_OURS: Final = {*_FIELDS, "category", "title"}


class Problem:
    """A problem, the n-th record by its `number`.

    won: of each option whether it came true.
    is_declared: the record says that it is not exclusive.
    fault: why the problem cannot be used, "" if it can; cell: what it says there.
    odd: what is strange.
    """

    def __init__(self, number: int, record: JsonObject) -> None:
        self.number = number
        self.id = parse_id(record.get("problem_id"))
        self.category = parse_id(record.get("category")).strip()
        self.series = parse_id(record.get("series")).strip()
        self.title = str(record.get("title") or "")
        self.columns: dict[str, object] = add_columns({}, record, _OURS)
        self.columns.pop("cluster", None)
        self.odds, self.bids = record.get("odds"), record.get("bids")
        self.is_declared = record.get("exclusive") is False
        self.weight = 1.0
        if record.get("weight") is not None:
            self.weight = parse_number(record["weight"])
        self.options = parse_options(record.get("options"))
        winners, unclear = _parse_winners(record, self.options)
        self.won = [at in winners for at in range(len(self.options))]
        closing = _find_closing_time(record)
        self.closed, self._time_fault = parse_time(closing, is_end=True)

        self.fault = (
            self._find_fault(record) or unclear or _check_fields(record, self.weight)
        )
        self.odd = [*self._list_oddities(record)]
        self.cell = ""
        if isinstance(record, Refusal):
            self.cell = record.cell
        elif unclear == VOID:
            self.cell = printable(as_text(record.get("correct_answer")), 60)
        elif self._time_fault == NO_TIME:
            self.cell = printable(as_text(closing), 60)

    @property
    def exclusive(self) -> bool:
        return not self.is_declared and len(self.won) > 1 and sum(self.won) == 1

    def _find_fault(self, record: JsonObject) -> str:
        """Find why a record is no problem with options; "" if it is one."""
        if isinstance(record, Refusal):
            return record.reason
        if not self.id:
            return _NO_ID
        if not self.options or "" in self.options:
            return "'options' must be a list of names"
        if len(set(self.options)) < len(self.options):
            return "an option is listed twice"
        if _FIELDS.intersection(repeated_keys(record)):
            return "a field is given twice"
        return ""

    def _list_oddities(self, record: JsonObject) -> Iterator[str]:
        """List what is strange about a problem that can be used, or is pending."""
        if self.fault == NO_OUTCOME:
            for key in ("winner", "resolution"):
                if record.get(key):
                    yield f"outcome called {key!r}, not read: call it 'correct_answer'"
        if self.fault:
            return
        if self._time_fault == NO_ZONE:
            yield f"closing time {NO_ZONE}"
        if self._time_fault == NO_TIME:
            yield f"closing time {NO_TIME}, treated as unknown"
        if record.get("exclusive") is True and sum(self.won) != 1:
            yield (
                "declared exclusive without exactly one winner, "
                "taken as separate markets"
            )


def read_problems(records: Iterable[object]) -> Iterator[Problem]:
    """Read every record as a problem."""
    for number, record in enumerate(records, 1):
        if isinstance(record, BadRecord):
            record = Refusal(_NO_ID, record.problem)
        elif not isinstance(record, Mapping):
            record = Refusal(_NO_ID)
        yield Problem(number, record)


def parse_options(value: object) -> list[str]:
    """Read the names of a problem's options; none of what is no list."""
    if not isinstance(value, (list, tuple)):
        return []
    return list(map(parse_id, value))


def _find_closing_time(record: JsonObject) -> object:
    metadata = record.get("metadata")
    if record.get("end_date") is None and isinstance(metadata, Mapping):
        return metadata.get("end_date")
    return record.get("end_date")


def _check_fields(record: JsonObject, weight: float) -> str:
    """Return why fields beside the outcome cannot be used; "" if they can."""
    if not isinstance(record.get("exclusive"), (bool, type(None))):
        return "'exclusive' must be true or false"
    # Within these bounds the sums of weights are finite.
    if not 1e-100 < weight < 1e100:
        return "'weight' must be a positive number"
    return ""


def _parse_winners(record: JsonObject, options: Sequence[str]) -> tuple[set[int], str]:
    """Find the winners' positions (one, several, or none), or why there is
    no saying which.
    """
    answer, index = record.get("correct_answer"), record.get("correct_option_idx")
    readings = []
    is_blank = answer is None or (isinstance(answer, str) and not answer.strip())
    if not is_blank:
        folded = [name.strip().casefold() for name in options]
        readings.append(
            {_find_option(parse_id(text), options, folded) for text in as_list(answer)}
        )
    if index is not None:
        places = set(map(parse_number, as_list(index)))
        if len(options) in places:
            return set(), FROM_ONE
        known = {place for place in range(len(options)) if place in places}
        if len(known) < len(places):
            known.add(-1)
        readings.append(known)

    if not readings:
        return set(), NO_OUTCOME
    if any(-1 in reading for reading in readings):
        state = STATES.get(parse_id(answer).strip().casefold())
        if state and index is None:
            return set(), state
        return set(), "a winner is not among the options"
    if readings[0] != readings[-1]:
        return set(), "'correct_answer' and 'correct_option_idx' disagree"
    return readings[0], ""


def _find_option(text: str, options: Sequence[str], folded: Sequence[str]) -> int:
    """Find the place of the option that a text names; -1 if it names none, or several.

    A name in other capitals is that of an option if only one has it.
    """
    if text not in options:
        text, options = text.strip().casefold(), folded
    if options.count(text) != 1:
        return -1
    return options.index(text)


def choose_problems(
    problems: Loaded, notes: DataNotes
) -> tuple[list[Problem], dict[str, int | str]]:
    """Choose the usable problems. By id of every problem there is its place among them,
    or why a forecast of it does not count.
    """
    by_id = group_by(read_problems(problems), attrgetter("id"))
    for problem in by_id.pop("", ()):
        notes.exclude(
            "event", problem.cell or problem.fault, [problems.place(problem.number)]
        )
    source = str(problems.path)
    usable: list[Problem] = []
    places: dict[str, int | str] = {}
    for name, (problem, *repeated) in sorted(by_id.items()):
        for text in problem.odd:
            notes.warn(text, [name])
            if NO_TIME in text:
                notes.show_example(text, name, problem.cell)
        fault = problem.fault
        if repeated:
            fault = "problem id used more than once"
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
        notes.faults[source][""] += fault not in STATE_FAULTS | {NO_OUTCOME}
    from_one = [
        problem.id for problem, *_ in by_id.values() if problem.fault == FROM_ONE
    ]
    if not any(problem.won[0] for problem in usable):
        require_count_from_0(source, from_one)
    return usable, places


def require_count_from_0(source: str, from_one: Collection[str]) -> None:
    """Raise InputError for events whose index is the number of their options, in a file
    without the index 0: all other winners would be the option behind the true one.
    """
    if from_one:
        where = f"{source}: correct_option_idx"
        got = f"as many as the options of {grouped_names(sorted(from_one))}"
        raise InputError(where, "expected to count from 0: subtract 1", got)


def make_events(problems: Sequence[Problem], notes: DataNotes) -> Events:
    """Make the columns of all events."""
    ids = np.array([problem.id for problem in problems], object)
    sizes = np.array([len(problem.options) for problem in problems], np.int64)
    fields: dict[str, Any] = {
        name: np.array([getattr(problem, name) for problem in problems], kind)
        for name, kind in _FIELD_TYPES.items()
    }
    odds, bids = (
        [getattr(problem, name) for problem in problems] for name in ("odds", "bids")
    )
    q, bid, bad = parse_prices(odds, bids, sizes)
    for text, where in bad.items():
        notes.warn(f"problem: {text}", ids[where])
    series = fields["series"]
    if series.any():
        notes.warn(
            "events without a series, each a cluster of its own", ids[series == ""]
        )
    option = np.array(
        [name for problem in problems for name in problem.options], object
    )
    outcome = np.array([won for problem in problems for won in problem.won], float)
    return Events(
        ids=ids, sizes=sizes, option=option, outcome=outcome, q=q, bid=bid, **fields
    )
