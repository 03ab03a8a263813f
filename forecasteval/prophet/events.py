"""Problems as arrays: options, winners, whether an event is exclusive; the mistakes in them."""

from __future__ import annotations

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
from .fields import Notes, Refusal, read_id, read_prices, read_time, read_weight


class Events(NamedTuple):
    """Events in the order of their ids; option by option `option`, `outcome`, q and mid: name, 1 or
    0, prices.

    The options of event e stand at offsets[e]:offsets[e + 1]. q and mid are the asking and middle
    prices, and `weight` the weight, nan where the problem gives none. Events of one `series` are
    one cluster; "" is a separate cluster.
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
    mid: Floats

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


def read_problem(record: Mapping[str, Any], name: str, notes: Notes) -> Problem | str:
    """The problem, or the reason why it cannot be used."""
    if isinstance(record, Refusal):
        return record.reason
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
        notes.warn(
            "declared exclusive without exactly one winner, taken as separate markets", [name]
        )
    metadata = record.get("metadata")
    closed = record.get("end_date")
    if closed is None and isinstance(metadata, Mapping):
        closed = metadata.get("end_date")
    weight = read_weight(record.get("weight"))
    if weight < 0:
        return "'weight' must be a positive number"
    series = record.get("series")
    return Problem(
        read_id(record.get("category")).strip(),
        read_id(record.get("cluster") if series is None else series).strip(),
        str(record.get("title") or ""),
        exclusive is not False and len(names) > 1 and len(winners) == 1,
        read_time(closed, "closing time", name, notes),
        weight,
        names,
        winners,
        record.get("odds"),
        record.get("bids"),
    )


def _read_winners(record: Mapping[str, Any], options: Sequence[str]) -> list[int] | str:
    """The winners' positions (one, a list, or an empty list for none), or the reason why there are
    none.
    """
    answer, index = record.get("correct_answer"), record.get("correct_option_idx")
    if answer is None and index is None:
        return "no correct answer"
    readings = []
    if answer is not None:
        texts = map(read_id, answer if isinstance(answer, (list, tuple)) else [answer])
        readings.append({options.index(text) if text in options else -1 for text in texts})
    if index is not None:
        numbers = index if isinstance(index, (list, tuple)) else [index]
        whole = (isinstance(n, int) and not isinstance(n, bool) for n in numbers)
        readings.append(
            {
                n if known and n < len(options) else -1
                for n, known in zip(numbers, whole, strict=True)
            }
        )
    if any(min(reading, default=0) < 0 for reading in readings):
        return "a winner is not among the options"
    return (
        sorted(readings[0])
        if readings[0] == readings[-1]
        else "'correct_answer' and 'correct_option_idx' disagree"
    )


def read_problems(
    problems: Iterable[Any], notes: Notes, place: Callable[[int], str]
) -> tuple[Events, dict[str, int]]:
    """The usable events, and the number of every id that the problems name, -1 for those that
    cannot be used.

    `place(n)` says where the n-th problem stands.
    """
    records: dict[str, list[Mapping[str, Any]]] = {}
    for number, record in enumerate(problems, 1):
        name = read_id(record.get("problem_id")) if isinstance(record, Mapping) else ""
        if name:
            records.setdefault(name, []).append(record)
        else:
            reason = (
                record.problem if isinstance(record, BadRecord) else "no object with 'problem_id'"
            )
            notes.exclude("event", reason, [place(number)])
    usable: dict[str, Problem] = {}
    for name, (record, *repeated) in sorted(records.items()):
        problem = (
            "problem id used more than once" if repeated else read_problem(record, name, notes)
        )
        if isinstance(problem, str):
            notes.exclude("event", problem, [name] * (1 + len(repeated)))
        else:
            usable[name] = problem
    numbers = {name: number for number, name in enumerate(usable)}
    return _as_arrays(usable, notes), dict.fromkeys(records, -1) | numbers


def _as_arrays(problems: Mapping[str, Problem], notes: Notes) -> Events:
    rows, ids = list(problems.values()), np.array(list(problems), dtype=object)
    sizes = np.array([len(row.options) for row in rows], dtype=np.int64)
    q, mid, bad = read_prices([row.odds for row in rows], [row.bids for row in rows], sizes)
    for text, where in bad.items():
        notes.warn(f"problem: {text}", ids[where])
    return Events(
        ids,
        np.array([row.category for row in rows], dtype=object),
        np.array([row.series for row in rows], dtype=object),
        np.array([row.title for row in rows], dtype=object),
        np.array([row.exclusive for row in rows], dtype=bool),
        np.array([row.closed for row in rows], dtype=float),
        np.array([row.weight for row in rows], dtype=float),
        sizes,
        np.array([name for row in rows for name in row.options], dtype=object),
        np.array(
            [at in row.winners for row in rows for at in range(len(row.options))], dtype=float
        ),
        q,
        mid,
    )


# --- Mistakes ---


def check_file(path: Path) -> Results:
    """The mistakes in the problems of a file, or in the events of a CSV.

    Ids, option lists and winners that cannot be used; events without a winner, with several though
    not declared `"exclusive": false`, or with one option; closing times that are none; of a CSV
    also prices that are none, and bids above asks.
    """
    file = CsvFile(path) if path.suffix == ".csv" else RecordFile(path)
    notes, findings, prices = Notes(), list[Finding](), Counter[tuple[str, str]]()
    seen: dict[str, int] = {}  # the first record of an id; of a CSV its line
    count = 0
    if isinstance(file, CsvFile):
        for record in file:
            name = record["problem_id"]
            seen.setdefault(name, file.line)
            if not name:
                findings.append(Finding("no event_ticker", "", file.line, ""))
            if not isinstance(record, Refusal):
                prices.update(
                    (kind, name) for kind in _check_prices(record["odds"], record["bids"])
                )
        problems: Iterable[tuple[int, Any]] = (
            (seen[event["problem_id"]], event) for event in file.problems(notes)
        )
    else:
        problems = enumerate(file, 1)
    for count, record in problems:
        if not isinstance(record, Mapping):
            problem = record.problem if isinstance(record, BadRecord) else type(record).__name__
            findings.append(Finding("no object", "", count, problem))
            continue
        name = read_id(record.get("problem_id"))
        if not name:
            findings.append(Finding("no 'problem_id'", "", count, ""))
        elif seen.setdefault(name, count) != count:
            findings.append(
                Finding("id used more than once", name, count, f"first in record {seen[name]}")
            )
        findings += [Finding(kind, name, count, detail) for kind, detail in _check_problem(record)]
    findings += [
        Finding(text, name, seen[name], "") for text, names in notes.odd().items() for name in names
    ]
    findings += [
        Finding(kind, name, seen[name], f"in {rows} rows") for (kind, name), rows in prices.items()
    ]
    return check_results(
        path, file.sha256, file.rows if isinstance(file, CsvFile) else count, findings
    )


def _check_problem(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Kind and detail of what is wrong with one problem."""
    notes = Notes()
    problem = read_problem(record, "", notes)
    shown = printable(record.get("title") or "", 60)
    if isinstance(problem, str):
        yield problem, shown
        return
    yield from ((text, shown) for text in notes.odd())
    if len(problem.options) == 1:
        yield "one option", shown
    elif not problem.winners:
        yield "no winner", shown
    elif len(problem.winners) > 1 and record.get("exclusive") is not False:
        yield (
            'several winners, not declared "exclusive": false',
            f"{len(problem.winners)} of {len(problem.options)} options",
        )
    if problem.closed != problem.closed and not notes.odd():
        yield "no closing time", shown


def _check_prices(odds: list[float], bids: list[float]) -> Iterator[str]:
    if not all(0 < ask <= 1 for ask in odds):
        yield "an asking price that is not above 0 and at most 100 cents"
    if not all(0 <= bid <= 1 for bid in bids):
        yield "a bid that is not between 0 and 100 cents"
    elif any(bid > ask for bid, ask in zip(bids, odds, strict=True)):
        yield "a bid above the asking price"
