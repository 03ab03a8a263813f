"""Problems as arrays: options, winners, and whether an event is exclusive."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from forecasteval.common.records import BadRecord, repeated_keys

from .arrays import Bools, Floats, Ints, select
from .fields import read_id, read_number, read_time, usable_weight
from .notes import Notes, Refusal
from .prices import BAD_BIDS, BAD_ODDS, read_prices


class Events(NamedTuple):
    """Events in the order of their ids; the options of event e stand at offsets[e]:offsets[e + 1] of `outcome`.

    q and mid are the asking and middle prices, option after option, and `weight` the weight, nan where the problem
    gives none. Events of one `series` are one cluster; "" is a cluster of its own.
    """

    ids: list[str]
    offsets: Ints
    outcome: Floats
    exclusive: Bools
    closed: Floats
    category: list[str]
    series: list[str]
    weight: Floats
    q: Floats
    mid: Floats

    @property
    def sizes(self) -> Ints:
        return np.diff(self.offsets)

    def slots(self, event: Ints, ends: Ints) -> Ints:
        """Where in `outcome` the options of some forecasts stand: of the events `event`, with the offsets `ends`."""
        return np.repeat(self.offsets[event] - ends[:-1], np.diff(ends)) + np.arange(ends[-1])

    def subset(self, chosen: Ints) -> Events:
        """The events at these positions, in rising order."""
        mask = np.zeros(len(self.ids), dtype=bool)
        mask[chosen] = True
        outcome, q, mid, offsets = select(mask, self.sizes, self.outcome, self.q, self.mid)
        ids, category, series = ([texts[at] for at in chosen] for texts in (self.ids, self.category, self.series))
        closed, weight = self.closed[chosen], self.weight[chosen]
        return Events(ids, offsets, outcome, self.exclusive[chosen], closed, category, series, weight, q, mid)

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
        return {
            "exclusive": int(self.exclusive.sum()),
            "several winners": int((~single & (winners > 1)).sum()),
            "no winner": int((~single & (winners == 0)).sum()),
            "one option": int(single.sum()),
            "declared not exclusive": int((~single & ~self.exclusive & (winners == 1)).sum()),
        }


_FIELDS: Final = frozenset(
    {"problem_id", "options", "correct_answer", "correct_option_idx", "exclusive", "weight", "odds", "bids", "series"}
)


class Problem(NamedTuple):
    size: int
    winners: frozenset[int]
    exclusive: bool
    closed: float
    category: str
    series: str
    weight: float
    odds: Any
    bids: Any


def read_problem(record: Mapping[str, Any], name: str, notes: Notes) -> Problem | str:
    """The problem, or the reason why it cannot be used."""
    options = record.get("options")
    names = [read_id(option) for option in options] if isinstance(options, (list, tuple)) else []
    if not names or "" in names:
        return "'options' must be a list of names"
    if len(set(names)) < len(names):
        return "an option is listed twice"
    if _FIELDS.intersection(repeated_keys(record)):
        return "a field is given twice"
    winners = _read_winners(record, names)
    if isinstance(winners, str):
        return winners
    exclusive = record.get("exclusive")
    if exclusive is not None and not isinstance(exclusive, bool):
        return "'exclusive' must be true or false"
    if exclusive and len(winners) != 1:
        notes.warn("declared exclusive without exactly one winner, taken as separate markets", [name])
    metadata = record.get("metadata")
    closed = record.get("end_date")
    if closed is None and isinstance(metadata, Mapping):
        closed = metadata.get("end_date")
    weight = read_number(record["weight"]) if record.get("weight") is not None else math.nan
    if record.get("weight") is not None and not usable_weight(weight):
        return "'weight' must be a positive number"
    series = record.get("series")
    return Problem(
        len(names),
        winners,
        exclusive is not False and len(names) > 1 and len(winners) == 1,
        read_time(closed, "closing time", name, notes),
        read_id(record.get("category")).strip(),
        read_id(record.get("cluster") if series is None else series).strip(),
        weight,
        record.get("odds"),
        record.get("bids"),
    )


def _read_winners(record: Mapping[str, Any], options: Sequence[str]) -> frozenset[int] | str:
    """The winners' positions (one, a list, or an empty list for none), or the reason why there are none."""
    answer, index = record.get("correct_answer"), record.get("correct_option_idx")
    if answer is None and index is None:
        return "no correct answer"
    readings = []
    if answer is not None:
        texts = [read_id(text) for text in (answer if isinstance(answer, (list, tuple)) else [answer])]
        if not set(texts) <= set(options):
            return "a winner is not among the options"
        readings.append(frozenset(options.index(text) for text in texts))
    if index is not None:
        numbers = index if isinstance(index, (list, tuple)) else [index]
        if not all(isinstance(n, int) and not isinstance(n, bool) and 0 <= n < len(options) for n in numbers):
            return "a winner is not among the options"
        readings.append(frozenset(numbers))
    return readings[0] if len(set(readings)) == 1 else "'correct_answer' and 'correct_option_idx' disagree"


def read_problems(
    problems: Iterable[Any], notes: Notes, place: Callable[[int], str] = "problem {}".format
) -> tuple[Events, dict[str, int]]:
    """The usable events, and the number of every id that the problems name, -1 for those that cannot be used."""
    records: dict[str, list[Mapping[str, Any] | Refusal]] = {}
    for number, record in enumerate(problems, 1):
        name = _name(record)
        if name:
            records.setdefault(name, []).append(record)
        else:
            reason = record.problem if isinstance(record, BadRecord) else "no object with 'problem_id'"
            notes.exclude("event", reason, [place(number)])
    usable: list[tuple[str, Problem]] = []
    for name, (record, *repeated) in sorted(records.items()):
        if repeated:
            problem: Problem | str = "problem id used more than once"
        else:
            problem = record.reason if isinstance(record, Refusal) else read_problem(record, name, notes)
        if isinstance(problem, str):
            notes.exclude("event", problem, [name] * (1 + len(repeated)))
        else:
            usable.append((name, problem))
    events = _as_arrays(usable, notes)
    return events, {**dict.fromkeys(records, -1), **{name: number for number, name in enumerate(events.ids)}}


def _name(record: object) -> str:
    if isinstance(record, Refusal):
        return record.problem_id
    return read_id(record.get("problem_id")) if isinstance(record, Mapping) else ""


def _as_arrays(usable: Sequence[tuple[str, Problem]], notes: Notes) -> Events:
    ids, problems = [name for name, _ in usable], [problem for _, problem in usable]
    offsets = np.cumsum([0, *(problem.size for problem in problems)], dtype=np.int64)
    outcome = np.zeros(int(offsets[-1]))
    for start, problem in zip(offsets, problems, strict=False):
        outcome[[int(start) + winner for winner in problem.winners]] = 1
    q, mid = np.zeros(0), np.zeros(0)
    if problems:
        odds, bids = [problem.odds for problem in problems], [problem.bids for problem in problems]
        q, mid, *bad = read_prices(odds, bids, np.diff(offsets))
        for text, where in zip((BAD_ODDS, BAD_BIDS), bad, strict=True):
            notes.warn(f"problem: {text}", [ids[at] for at in np.flatnonzero(where)])
    return Events(
        ids, offsets, outcome,
        np.array([problem.exclusive for problem in problems], dtype=bool),
        np.array([problem.closed for problem in problems], dtype=float),
        [problem.category for problem in problems],
        [problem.series for problem in problems],
        np.array([problem.weight for problem in problems], dtype=float),
        q, mid,
    )  # fmt: skip
