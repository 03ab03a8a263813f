"""Forecasts as arrays: read record by record, each with its event and forecaster, and which of them
count.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress, islice
from operator import itemgetter
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from forecasteval.common.errors import look_of, printable
from forecasteval.common.records import BadRecord, Loaded, as_text, group_by, repeated_keys

from .arrays import Bools, Floats, Ints, Names, all_of_each, ends_of_runs, positions
from .events import NO_OUTCOME, Events
from .fields import (
    BAD_PROBABILITY,
    NAMES_KEPT,
    DataNotes,
    Label,
    Refusal,
    parse_id,
    parse_number,
    parse_numbers,
    parse_prices,
    parse_time,
)

PIECE: Final = 1 << 14  # records that are lists of Python floats at a time
LEAST_EVENTS: Final = 5  # of a forecaster for a rank, and
LEAST_SHARE: Final = 0.2  # of all events
UNKNOWN: Final = "unknown problem id"
_SHARED: Final = "of a forecaster in several files or spellings"
BASELINES: Final = ("market", "crowd")  # the last two of the names of all forecasts
_FIELDS: Final = frozenset(
    {"problem_id", "username", "timestamp", "prediction", "probs", "odds", "bids"}
)


def least_events(min_events: int | None, events: int) -> int:
    """Count how many of all events a forecaster needs for a rank."""
    return min_events or max(LEAST_EVENTS, math.ceil(LEAST_SHARE * events - 1e-9))


class Forecasts(NamedTuple):
    """Forecasts by event, then forecaster; the options of one follow those of another in p, q and
    bid. Its time is nan if others of its source have one, and -inf if none has.

    q and bid, the asking and the bid price, are nan where there is none. As they are read they are
    what the forecaster gives; `settle_prices` makes them those of the event.
    """

    names: list[str]
    event: Ints
    forecaster: Ints
    time: Floats
    sizes: Ints
    p: Floats
    q: Floats
    bid: Floats

    @property
    def offsets(self) -> Ints:
        """Return offsets: the options of forecast i stand at offsets[i]:offsets[i + 1] of p."""
        return np.append(0, np.cumsum(self.sizes))

    @property
    def starts(self) -> Ints:
        return self.offsets[:-1]

    @property
    def priced(self) -> Bools:
        return ~np.isnan(self.q[self.starts])

    def select(self, chosen: Ints) -> Forecasts:
        """Select the forecasts at these positions."""
        return self.take(chosen, positions(self.starts[chosen], self.sizes[chosen]))

    def keep(self, where: Bools) -> Forecasts:
        """Select the forecasts where it is so, without copies if it is so everywhere."""
        return self if where.all() else self.select(np.flatnonzero(where))

    def take(self, rows: Ints | slice, options: Ints | slice) -> Forecasts:
        """Take some forecasts, and of p, q and bid the places of their options."""
        return Forecasts(
            self.names,
            event=self.event[rows],
            forecaster=self.forecaster[rows],
            time=self.time[rows],
            sizes=self.sizes[rows],
            p=self.p[options],
            q=self.q[options],
            bid=self.bid[options],
        )

    def labels(self, where: Bools, ids: Names, most: int | None = NAMES_KEPT) -> list[Label]:
        """Name the first forecasts where it is so, for notes; `ids` are those of the events."""
        at = np.flatnonzero(where)[:most]
        pairs = zip(self.forecaster[at].tolist(), ids[self.event[at]], strict=True)
        return [Label(self.names[who], event) for who, event in pairs]

    def note(self, notes: DataNotes, what: str, text: str, where: Bools, ids: Names) -> None:
        """Note that some forecasts are left out (`what` is "forecast") or odd ("")."""
        notes.exclude(what, text, self.labels(where, ids), int(where.sum()))


def join_forecasts(names: list[str], parts: Sequence[Forecasts]) -> Forecasts:
    """Put the columns of the parts behind each other; their numbers are of the same names."""
    _, *columns = zip(*parts, strict=True)
    return Forecasts(names, *map(np.concatenate, columns))


# --- Records ---


Name = tuple[str, str]  # of a forecaster: the path of its source, and how it is written there
_ForecastRow = tuple[Label, int, int, float, Sequence[object], object, object]


def read_forecasts(
    sources: Sequence[Loaded],
    events: Events,
    places: Mapping[str, int | str],
    notes: DataNotes,
    owners: dict[str, str],
) -> Forecasts | None:
    """Read all forecasts of usable events, in their order; None if there is none.

    `places` are the events by id: a number, or why it has none. `owners`: by forecaster the source
    that had the name on an earlier night; afterwards that of tonight.
    """
    options = [part.tolist() for part in np.split(events.option, events.offsets[1:-1])]
    numbers: dict[Name, int] = {}
    pieces = list[Forecasts]()
    for source in sources:
        prefix = f"{source.path} " if len(sources) > 1 else ""
        rows = _parse_records(source, prefix, numbers, places, options, notes)
        first = len(pieces)
        while piece := list(islice(rows, PIECE)):
            pieces.append(_make_columns(piece, events.sizes, str(source.path), notes))
        if all(np.isnan(part.time).all() for part in pieces[first:]):
            pieces[first:] = [
                part._replace(time=np.full_like(part.time, -math.inf)) for part in pieces[first:]
            ]
    kept = _choose_names(numbers, owners, notes)
    if not pieces:
        return None
    data = join_forecasts([name for _, name in kept], pieces)
    pieces.clear()  # as large as the columns
    place = {name: at for at, name in enumerate(kept)}
    order = np.array([place.get(name, -1) for name in numbers])
    data = data._replace(forecaster=order[data.forecaster])
    lost = data.forecaster < 0
    notes.counts["forecast", _SHARED] += int(lost.sum())
    return _drop_percents(data.keep(~lost), events.ids, notes)


def _parse_records(
    source: Loaded,
    prefix: str,
    numbers: dict[Name, int],
    places: Mapping[str, int | str],
    options: Sequence[Sequence[str]],
    notes: DataNotes,
) -> Iterator[_ForecastRow]:
    """Read the label, event, forecaster, time, probabilities, odds and bids of each forecast.

    A forecaster gets a number in `numbers`.
    """
    path = str(source.path)
    for position, record in enumerate(source, 1):
        reason = record.problem if isinstance(record, BadRecord) else "no object"
        if isinstance(record, Mapping):
            problem, name = parse_id(record.get("problem_id")), parse_id(record.get("username"))
            reason = "" if problem and (path, name) in numbers else _judge_names(problem, name)
        if reason:
            notes.exclude("forecast", reason, [Label("", f"{prefix}{source.place(position)}")])
            continue
        label, event = Label(name, problem), places.get(problem, UNKNOWN)
        forecaster = numbers.setdefault((path, name), len(numbers))
        if event == NO_OUTCOME:
            notes.pending["forecast"] += 1
            continue
        if isinstance(event, str):
            notes.exclude("forecast", event, [label])
            continue
        notes.faults[path, "forecast"][""] += 1
        p = _parse_probabilities(record, options[event])
        if isinstance(p, str):
            given = printable(as_text(record.get("prediction")), 60)
            cell = record.cell if isinstance(record, Refusal) else given
            notes.fail(path, "forecast", p, label, cell)
            continue
        if record.get("weight") is not None:
            notes.warn("weight of a forecast, ignored: events have weights", [label])
        time, odd = parse_time(record.get("timestamp"))
        if odd:
            notes.warn(f"timestamp {odd}", [label])
        yield label, event, forecaster, time, p, record.get("odds"), record.get("bids")


def _judge_names(problem: str, name: str) -> str:
    """Return why these are no names, "" if they are."""
    look = look_of(name).casefold()
    if look.strip("()") in BASELINES:  # tables show them as (market) and (crowd)
        return "named like a baseline: no forecaster may be called market or crowd"
    return (
        ""
        if problem and look
        else "no id of an event ('problem_id') or no name of a forecaster ('username')"
    )


def _choose_names(names: Iterable[Name], owners: dict[str, str], notes: DataNotes) -> list[Name]:
    """Choose the names that count, in their order; afterwards `owners` are their files.

    Of a name in several sources or spellings it is that of the owner, else none.
    """
    kept = list[Name]()
    for same in group_by(names, lambda name: look_of(name[1]).casefold()).values():
        own = [pair for pair in same if owners.get(pair[1]) == Path(pair[0]).name][:1]
        kept += own if len(same) > 1 else same
        if len(same) > 1:
            which = f"only that of {owners[own[0][1]]} counts, as before" if own else "none counts"
            others = {*same} - {*own}
            labels = [Label("", f"{name!r} in {Path(file).name}") for file, name in others]
            notes.warn(f"forecaster in several files or spellings, {which}", labels)
            notes.names["forecast", _SHARED] += labels
    owners |= {name: Path(file).name for file, name in kept}
    return sorted(kept, key=itemgetter(1))


def _parse_probabilities(
    record: Mapping[str, object], options: Sequence[str]
) -> Sequence[object] | str:
    """Find a value for every option, or say why there is none; `_make_columns` reads numbers."""
    if isinstance(record, Refusal):
        return record.reason
    if _FIELDS.intersection(repeated_keys(record)):
        return "a field is given twice"
    said, other = record.get("prediction"), record.get("probs")
    p = other if said is None else said
    if isinstance(p, Mapping):
        p = [p[name] for name in options] if p.keys() == set(options) else None
    elif isinstance(p, np.ndarray):
        p = p.tolist()
    if not isinstance(p, (list, tuple)) or len(p) != len(options):
        return "expected a probability for every option"
    if said is not None and other is not None and as_text(other) != as_text(said):
        return "'prediction' and 'probs' disagree"
    return p


def _make_columns(
    rows: Sequence[_ForecastRow], sizes_of_events: Ints, source: str, notes: DataNotes
) -> Forecasts:
    """Make columns of records; what is no number of the right kind is counted. Numbers above 1 are
    kept: they show which others are percents.
    """
    label, event, forecaster, time, p_lists, odds, bids = zip(*rows, strict=True)
    sizes = sizes_of_events[list(event)]
    p = parse_numbers(p_lists, int(sizes.sum()))
    good, starts = p >= 0, np.cumsum(sizes) - sizes
    for name, cells in compress(
        zip(label, p_lists, strict=True), ~all_of_each(good & (p <= 1), starts)
    ):
        bad = [cell for cell in cells if not 0 <= parse_number(cell) <= 1]
        notes.fail(source, "forecast", BAD_PROBABILITY, name, str(bad[0]))
    q, bid, odd = parse_prices(odds, bids, sizes)
    for text, where in odd.items():
        notes.warn(text, compress(label, where))
    numbers = np.array(event), np.array(forecaster), np.array(time)
    return Forecasts([], *numbers, sizes, p, q, bid).keep(all_of_each(good, starts))


def _drop_percents(data: Forecasts, ids: Names, notes: DataNotes) -> Forecasts:
    """Drop forecasts with a number above 1, which are counted already, and those of 0 and 1 of a
    forecaster who has others above 1, but none between 0 and 1: they are percents, too.
    """
    starts = data.starts
    above = ~all_of_each(data.p <= 1, starts)
    between = ~all_of_each((data.p == 0) | (data.p >= 1), starts)
    percents = np.setdiff1d(data.forecaster[above], data.forecaster[between])
    sure = np.isin(data.forecaster, percents) & ~above
    data.note(notes, "forecast", "0 and 1 of a forecaster of percents", sure, ids)
    return data.keep(~above & ~sure)


# --- Which of them count ---


def choose_forecasts(
    data: Forecasts | None,
    events: Events,
    late: str,
    notes: DataNotes,
) -> Forecasts | None:
    """Choose those that count, one per event and forecaster; None if there is none."""
    if data is None or not len(data.event):
        return None
    time = np.nan_to_num(data.time, nan=-math.inf)
    data = data.select(np.lexsort((time, data.forecaster, data.event)))
    data = data.keep(_judge_times(data, events, late, notes))
    data = _choose_last(data, events.ids, notes)
    if not len(data.event):
        return None
    used, forecaster = np.unique(data.forecaster, return_inverse=True)
    return data._replace(names=[data.names[at] for at in used.tolist()], forecaster=forecaster)


def _judge_times(data: Forecasts, events: Events, late: str, notes: DataNotes) -> Bools:
    """Judge which forecasts count; late ones are counted."""
    closed = events.closed[data.event]
    after, untimed = data.time > closed, np.isnan(data.time) & ~np.isnan(closed)
    dropped = {
        "after the event closed": after,
        "without a time where others of its file have one, so late": untimed,
    }
    if np.isfinite(data.time).any():
        text = "forecasts without a time, as all of their file, taken as in time"
        where = (data.time == -math.inf) & ~np.isnan(closed)
        data.note(notes, "", text, where, events.ids)
    for reason, where in dropped.items():
        what, text = ("forecast", reason) if late == "drop" else ("", f"forecast {reason}, kept")
        data.note(notes, what, text, where, events.ids)
    return ~(after | untimed) | (late == "keep")


def _choose_last(data: Forecasts, ids: Names, notes: DataNotes) -> Forecasts:
    """Choose for each event and forecaster the last forecast; the others are counted.

    None of them counts where another one of its time differs from it. One of unknown time, which
    stands first, may be of any.
    """
    ends, counts = ends_of_runs(data.event, data.forecaster)
    last, first = np.repeat(ends - 1, counts), np.repeat(ends - counts, counts)
    same = (data.time == data.time[last]) | np.isnan(data.time[first])
    earlier = np.arange(len(last)) < last
    again = np.flatnonzero(earlier & same)
    doubtful = np.isin(last, last[again[~_are_alike(data, again, last[again])]])
    kinds = {
        "several forecasts without a time that tells them apart": doubtful,
        "a later one of its forecaster counts": earlier & ~same & ~doubtful,
        "one of the same time counts": earlier & same & ~doubtful,
    }
    for reason, where in kinds.items():
        data.note(notes, "forecast", reason, where, ids)
    return data.keep(~earlier & ~doubtful)


def _are_alike(data: Forecasts, one: Ints, other: Ints) -> Bools:
    """Compare forecasts of one event, pair by pair."""
    sizes = data.sizes[one]
    a, b = (positions(data.starts[rows], sizes) for rows in (one, other))
    same = np.logical_and.reduce(
        [
            (column[a] == column[b]) | np.isnan(column[a]) & np.isnan(column[b])
            for column in (data.p, data.q, data.bid)
        ]
    )
    return all_of_each(same, np.cumsum(sizes) - sizes)
