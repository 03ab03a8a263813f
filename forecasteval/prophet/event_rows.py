"""The events of a page: every forecast of an event with the market, the crowd and the outcome, the hardest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from forecasteval.common.errors import printable
from forecasteval.common.pages import CHARTED, Block, chart_causes, make_keys, make_records, show_text
from forecasteval.common.report import Column, Link, Links, Table, make_table, show_number

from .arrays import Floats
from .events import Events
from .fields import format_time, read_id
from .forecasts import Forecasts
from .report import title_of
from .score_table import Scores, baselines

KEPT: Final = 20_000  # forecasts of a result whose page shows its events
_CELLS: Final = 50_000  # of all tables of events
_COSTLIEST: Final = 5  # events that are named for each forecaster
_SURPRISE: Final = 0.1  # below this probability
_OPTIONS: Final = 8  # columns of such a table: the options that came true, then the likeliest ones
Texts = dict[str, tuple[str, Sequence[str]]]  # the title and the options of problems, by id


class EventData(NamedTuple):
    """What the rows of events are made of; `base` are the scores of market and crowd by event."""

    events: Events
    data: Forecasts
    scores: Scores
    base: Mapping[str, Mapping[str, Floats]]
    texts: Texts

    def title(self, at: int) -> str:
        """The title of an event, or else its id."""
        name = self.events.ids[at]
        return self.texts.get(name, ("",))[0] or name


def keep_texts(problems: Iterable[Any], texts: Texts) -> Iterator[Any]:
    """The problems as they come; the titles and options of the first ones are kept in `texts`, by id."""
    for problem in problems:
        if len(texts) < KEPT and isinstance(problem, Mapping) and isinstance(problem.get("options"), (list, tuple)):
            texts[read_id(problem.get("problem_id"))] = str(problem.get("title") or ""), problem["options"]
        yield problem


class _Forecast(NamedTuple):
    name: str
    p: Floats
    scores: Sequence[float]


class _Event(NamedTuple):
    """The event at a place, with its mean Brier score and its forecasts: market, crowd, then the forecasters."""

    at: int
    brier: float
    options: Sequence[str]
    outcome: Floats
    metrics: Sequence[str]
    forecasts: Sequence[_Forecast]

    @property
    def winners(self) -> str:
        return ", ".join(name for name, won in zip(self.options, self.outcome, strict=True) if won) or "none"

    @property
    def cause(self) -> str:
        """How the outcome compares with what the crowd expected."""
        crowd = next(forecast.p for forecast in self.forecasts if forecast.name == "(crowd)")
        won = crowd[self.outcome > 0]
        if not len(won):
            return "nothing came true"
        if won.min() < _SURPRISE:
            return "a surprise came true"
        return "the favourite came true" if won.min() >= crowd.max() else "an outsider came true"


def show_events(shown: EventData, names: Sequence[str]) -> list[Block]:
    """What the Brier score is made of, the costliest events of these forecasters, and a row per event to open."""
    events, data = shown.events, shown.data
    counts = np.bincount(data.event, minlength=len(events.ids))
    means = np.bincount(data.event, shown.scores.values["brier"], len(events.ids)) / np.maximum(counts, 1)
    order = np.argsort(-means, kind="stable")
    spent = np.cumsum(((counts + 3) * (np.minimum(events.sizes, _OPTIONS) + 3))[order])
    order = order[: max(1, int(np.searchsorted(spent, _CELLS)))].tolist()
    base = dict(zip(("market", "crowd"), baselines(events, data, shown.scores.slots), strict=True))
    rows = [_read_event(shown, at, float(means[at]), base) for at in order]
    columns = [
        Column("Category", lambda row: printable(events.category[row.at] or "", 60), "choice"),
        Column("Brier", lambda row: show_number(row.brier), "number", "low"),
        Column("Market", lambda row: show_number(float(shown.base["market"]["brier"][row.at])), "number", "low"),
        Column("Crowd", lambda row: show_number(float(shown.base["crowd"]["brier"][row.at])), "number", "low"),
        Column("Event", lambda row: show_text(shown.title(row.at), 200), "long"),
        Column("Closed", lambda row: (format_time(float(events.closed[row.at])) or "")[:10]),
        Column("Outcome", lambda row: row.cause, "choice"),
        Column("Came true", lambda row: show_text(row.winners, 120)),
        Column("Event", lambda row: show_text(shown.title(row.at)), "inside"),
        Column("Closed", lambda row: format_time(float(events.closed[row.at])) or "", "inside"),
        Column("Outcome", lambda row: show_text(row.winners), "inside"),
        Column("Forecasts", _forecast_table, "inside"),
        Column("Id", lambda row: show_text(events.ids[row.at]), "inside"),
    ]
    count, ids = len(events.ids), [events.ids[at] for at in order]
    note = f"All {count} events" if len(rows) == count else f"{len(rows)} of {count} events"
    note += ", the highest mean Brier score of all forecasts first."
    causes = chart_causes(
        ((row.cause, row.brier * int(counts[row.at]) / len(data.event)) for row in rows),
        "What the mean Brier score of all forecasts is made of, by what the crowd expected of the event.",
    )
    costliest = _list_costliest(shown, names[:CHARTED], dict(zip(order, make_keys(ids), strict=True)))
    return [causes, costliest, make_records("events", "Events", columns, rows, ids, note)]


def _list_costliest(shown: EventData, names: Sequence[str], keys: Mapping[int, str]) -> Table:
    """The events on which each forecaster has the highest Brier scores."""
    data, briers = shown.data, shown.scores.values["brier"]

    def costliest(name: str) -> Links:
        forecasts = np.flatnonzero(data.forecaster == data.names.index(name))
        worst = forecasts[np.argsort(-briers[forecasts], kind="stable")[:_COSTLIEST]]
        links = []
        for at, brier in zip(data.event[worst].tolist(), briers[worst].tolist(), strict=True):
            links.append(Link(f"{show_text(shown.title(at), 60)} ({show_number(brier, 2)})", "", keys.get(at, "")))
        return Links(links)

    title = f"The {_COSTLIEST} events with its highest Brier scores"
    return make_table([Column("Forecaster", lambda name: printable(name, 60)), Column(title, costliest)], names)


def _read_event(shown: EventData, at: int, brier: float, base: Mapping[str, Forecasts]) -> _Event:
    """An event with what the market, the crowd and, the best first, the forecasters gave."""
    events, values = shown.events, shown.scores.values
    outcome = events.outcome[events.offsets[at] : events.offsets[at + 1]]
    _, texts = shown.texts.get(events.ids[at], ("", ()))
    options = [printable(text, 60) for text in texts] or [f"option {place}" for place in range(len(outcome))]
    places, probabilities = _probabilities(shown.data, at)
    paid = [name for name in values if name.startswith("return_") and not np.isnan(values[name][places]).all()]
    metrics = ["brier", *paid[:1]]
    forecasts = [
        _Forecast(f"({who})", p, [shown.base[who][metric][at] for metric in metrics])
        for who, data in base.items()
        for p in _probabilities(data, at)[1]
    ]
    for place in np.argsort(values["brier"][places], kind="stable").tolist():
        name = printable(shown.data.names[shown.data.forecaster[places][place]], 60)
        forecasts.append(_Forecast(name, probabilities[place], [values[metric][places][place] for metric in metrics]))
    return _Event(at, brier, options, outcome, metrics, forecasts)


def _probabilities(data: Forecasts, at: int) -> tuple[slice, Floats]:
    """The places of an event's forecasts, which are sorted by event, and their probabilities, a row each."""
    low, high = np.searchsorted(data.event, [at, at + 1]).tolist()
    start, end = int(data.sizes[:low].sum()), int(data.sizes[:high].sum())
    return slice(low, high), data.p[start:end].reshape(high - low, -1) if high > low else data.p[:0]


def _forecast_table(event: _Event) -> Table:
    """The scores of every forecast, and the probabilities of the likeliest options and of those that came true."""
    likely = np.mean([forecast.p for forecast in event.forecasts], axis=0)
    options = sorted(np.lexsort((-likely, -event.outcome))[:_OPTIONS].tolist())
    columns = [Column("Forecaster", lambda forecast: forecast.name)]
    columns += [Column(title_of(name), partial(_score, n), "number") for n, name in enumerate(event.metrics)]
    columns += [
        Column(event.options[place] + " ✓" * bool(event.outcome[place]), partial(_probability, place), "number")
        for place in options
    ]
    return make_table(columns, event.forecasts)


def _score(place: int, forecast: _Forecast) -> str:
    return show_number(float(forecast.scores[place]))


def _probability(place: int, forecast: _Forecast) -> str:
    return f"{forecast.p[place]:.3g}"
