"""The events of a page: every forecast of an event with the market, the crowd and the outcome, the hardest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from forecasteval.common.errors import printable
from forecasteval.common.pages import CHARTED, Block, Record, Records, make_keys, show_text
from forecasteval.common.report import Cell, Column, Link, Links, Table, plain_table, show_number

from .arrays import Floats
from .events import Events
from .fields import format_time, read_id
from .forecasts import Forecasts
from .score_table import Scores, baselines

KEPT: Final = 20_000  # forecasts of a result whose page shows its events
_CELLS: Final = 50_000  # of all tables of events
_COSTLIEST: Final = 5  # events that are named for each forecaster
_OPTIONS: Final = 8  # columns of such a table: the options that came true, then the likeliest ones
_COLUMNS: Final = (
    Column("Category", str, "choice"), Column("Brier", str, "number", "low"), Column("Market", str, "number", "low"),
    Column("Crowd", str, "number", "low"), Column("Event", str, "long"), Column("Closed", str), Column("Outcome", str),
)  # fmt: skip


class Texts(dict[str, tuple[str, Sequence[str]]]):
    """The title and the options of problems, by id."""


class EventData(NamedTuple):
    """What the rows of events are made of; `base` are the scores of market and crowd by event."""

    events: Events
    data: Forecasts
    scores: Scores
    base: Mapping[str, Mapping[str, Floats]]
    texts: Texts


def keep_texts(problems: Iterable[Any], texts: Texts) -> Iterator[Any]:
    """The problems as they come; the titles and options of the first ones are kept in `texts`, by id."""
    for problem in problems:
        if len(texts) < KEPT and isinstance(problem, Mapping) and isinstance(problem.get("options"), (list, tuple)):
            texts[read_id(problem.get("problem_id"))] = str(problem.get("title") or ""), problem["options"]
        yield problem


def show_events(shown: EventData, names: Sequence[str]) -> list[Block]:
    """The events that cost each of these forecasters most, and a row per event, the highest mean Brier score first."""
    events, data = shown.events, shown.data
    briers = shown.scores.values["brier"]
    counts = np.bincount(data.event, minlength=len(events.ids))
    means = np.bincount(data.event, briers, len(events.ids)) / np.maximum(counts, 1)
    spent = np.cumsum(((counts + 3) * (np.minimum(events.sizes, _OPTIONS) + 3))[np.argsort(-means, kind="stable")])
    order = np.argsort(-means, kind="stable")[: max(1, int(np.searchsorted(spent, _CELLS)))].tolist()
    keys = make_keys(events.ids[at] for at in order)
    base = dict(zip(("market", "crowd"), baselines(events, data, shown.scores.slots), strict=True))
    rows = [_make_record(shown, at, key, float(means[at]), base) for at, key in zip(order, keys, strict=True)]
    count = len(events.ids)
    note = f"All {count} events" if len(rows) == count else f"{len(rows)} of {count} events"
    note += ", the highest mean Brier score of all forecasts first."
    costliest = _list_costliest(shown, names[:CHARTED], dict(zip(order, keys, strict=True)))
    return [costliest, Records("events", "Events", _COLUMNS, rows, note)]


def _list_costliest(shown: EventData, names: Sequence[str], keys: Mapping[int, str]) -> Table:
    """The events on which each forecaster has the highest Brier scores."""
    data, briers, rows = shown.data, shown.scores.values["brier"], list[Any]()
    for name in names:
        own = np.flatnonzero(data.forecaster == data.names.index(name))
        worst = own[np.argsort(-briers[own], kind="stable")[:_COSTLIEST]].tolist()
        links = []
        for place in worst:
            at = int(data.event[place])
            title, _ = shown.texts.get(shown.events.ids[at], ("", ()))
            text = f"{show_text(title or shown.events.ids[at], 60)} ({show_number(float(briers[place]), 2)})"
            links.append(Link(text, "", keys.get(at, "")))
        rows.append([printable(name, 60), Links(links)])
    return plain_table(["Forecaster", f"The {_COSTLIEST} events with its highest Brier scores"], rows, "<<")


def _make_record(shown: EventData, at: int, key: str, mean: float, base: Mapping[str, Forecasts]) -> Record:
    events, name = shown.events, shown.events.ids[at]
    title, texts = shown.texts.get(name, ("", ()))
    outcome = events.outcome[events.offsets[at] : events.offsets[at + 1]]
    options = [printable(text, 60) for text in texts] or [f"option {place}" for place in range(len(outcome))]
    winners = ", ".join(option for option, won in zip(options, outcome, strict=True) if won) or "none"
    market, crowd = (float(shown.base[who]["brier"][at]) for who in ("market", "crowd"))
    closed = format_time(float(events.closed[at])) or ""
    cells = [
        events.category[at] and printable(events.category[at], 60), show_number(mean), show_number(market),
        show_number(crowd), show_text(title or name, 200), closed[:10], show_text(winners, 120),
    ]  # fmt: skip
    details: list[tuple[str, Cell | Table]] = [
        ("Event", show_text(title or name)), ("Closed", closed), ("Outcome", show_text(winners)),
        ("Forecasts", _forecast_table(shown, at, options, outcome, base)), ("Id", show_text(name)),
    ]  # fmt: skip
    return Record(key, cells, [(label, text) for label, text in details if text])


def _forecast_table(
    shown: EventData, at: int, options: Sequence[str], outcome: Floats, base: Mapping[str, Forecasts]
) -> Table:
    """Market, crowd and every forecast: the probabilities of the options, the Brier score and the first return."""
    values = shown.scores.values
    places = np.flatnonzero(shown.data.event == at)
    returns = [
        metric for metric in values if metric.startswith("return_") and not np.isnan(values[metric][places]).all()
    ]
    paid = returns[0] if returns else ""
    rows: list[tuple[str, Floats, float, float]] = []
    for who, forecasts in base.items():
        for place in np.flatnonzero(forecasts.event == at).tolist():
            scores = shown.base[who]
            rows.append(
                (f"({who})", _probabilities(forecasts, place), scores["brier"][at], scores[paid][at] if paid else 0)
            )
    for place in places[np.argsort(values["brier"][places], kind="stable")].tolist():
        name = printable(shown.data.names[shown.data.forecaster[place]], 60)
        score = values["brier"][place], values[paid][place] if paid else 0
        rows.append((name, _probabilities(shown.data, place), *score))
    likely = np.mean([p for _, p, _, _ in rows], axis=0)
    columns = sorted(np.lexsort((-likely, -outcome))[:_OPTIONS].tolist())
    body = [
        [name, show_number(float(brier)), *([show_number(float(gain))] if paid else []),
         *(f"{p[place]:.3g}" for place in columns)]
        for name, p, brier, gain in rows
    ]  # fmt: skip
    titles = [options[place] + " ✓" * bool(outcome[place]) for place in columns]
    header = ["Forecaster", "Brier", *([f"Return {paid.removeprefix('return_')}"] if paid else []), *titles]
    return plain_table(header, body, "<" + ">" * (len(header) - 1))


def _probabilities(data: Forecasts, place: int) -> Floats:
    start = int(data.sizes[:place].sum())
    return data.p[start : start + int(data.sizes[place])]
