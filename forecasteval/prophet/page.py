"""The parts of a result that only its page shows: calibration, returns over time, every event, the
hardest first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any, Final

import numpy as np

from forecasteval.common.errors import printable
from forecasteval.display import pages
from forecasteval.display.charts import Axis, Chart, Line, Panel, number_axis
from forecasteval.display.pages import Page, Section, show_text
from forecasteval.display.tables import (
    Column,
    Link,
    Links,
    Table,
    make_table,
    number_table,
    show_number,
)

from .arrays import Floats
from .details import ProphetResult
from .fields import format_time
from .report import list_remarks, make_overview, title_of
from .score_table import BASELINES, Scored

_SMALL: Final = 12  # reliability diagrams
_LINES: Final = 8  # forecasters whose returns are drawn in colour
_POINTS: Final = 60  # of a line
KEPT: Final = 20_000  # forecasts of a result whose page shows its events
_CELLS: Final = 50_000  # of all tables of events
_COSTLIEST: Final = 5  # events that are named for each forecaster
_SURPRISE: Final = 0.1  # below this probability
_OPTIONS: Final = 8  # columns of such a table: the options that came true, then the likeliest ones


def make_page(results: ProphetResult, shown: Scored | None = None) -> Page:
    """The page of a result of `ProphetArenaEvaluator`; `shown`: its scores, if there are not too
    many forecasts.
    """
    order = [row["name"] for row in results["ranking"] if row["name"] in results["forecasters"]]
    overview = make_overview(results, full=True, on_page=True)
    ranking, *tables = overview.sections
    sections = [
        ranking,
        Section("Calibration", [_reliability_chart(results, order)]),
        *_over_time(results, order),
    ]
    sections += _events(shown, order) if shown else []
    return overview._replace(sections=[*sections, *tables, *list_remarks(results, full=True)])


# --- Calibration ---


def _reliability_chart(results: ProphetResult, order: Sequence[str]) -> Chart:
    axis = Axis("", [(0.0, "0"), (0.5, "0.5"), (1.0, "1")])
    panels, rows = [], []
    for name in order[:_SMALL]:
        bins = results["reliability"][name]
        known = [row for row in bins if row["n"]]
        most = max(row["n"] for row in known)
        points = [(row["mean_probability"] or 0.0, row["frequency"]) for row in known]
        line = Line(printable(name, 60), points, [row["n"] / most for row in known])
        panels.append(Panel(printable(name, 24), [line], axis, axis, ((0, 0), (1, 1)), False, 140))
        rows += [{**row, "name": name} for row in bins]
    description = (
        "How often options came true (upwards) that were given a probability (to the right). On "
        "the dashed line both are equal; below it the probabilities were too high. The larger a "
        "dot, the more probabilities are in it."
    )
    if len(panels) < len(order):
        description += f" The first {len(panels)} of {len(order)} forecasters."
    return Chart("reliability", "Reliability", description, make_table(_BINS, rows), panels)


_BINS: Final = (
    Column("Forecaster", lambda row: printable(row["name"], 60)),
    Column("Probability", lambda row: f"{row['low']:.1f}–{row['high']:.1f}", "number"),
    Column("n", itemgetter("n"), "number"),
    Column("Mean probability", itemgetter("mean_probability"), "number"),
    Column("Came true", itemgetter("frequency"), "number"),
)


# --- Scores over time ---


def _over_time(results: ProphetResult, order: Sequence[str]) -> list[Section]:
    curves = results["score_curve"]
    scored = {metric for curve in curves.values() for metric in curve}
    known = results["rank_correlation"]["overall"]["spearman"]
    metrics = [metric for metric in known if metric in scored]
    panels = [_time_panel(curves, order[: pages.CHARTED], metric) for metric in metrics]
    last = {name: {key: values[-1] for key, values in curves[name].items()} for name in order}
    rows = [
        (printable(name, 60), row["n_events"], *(row.get(metric) for metric in metrics))
        for name, row in last.items()
    ]
    description = (
        "The running mean of each score, in the order in which events close; above the dashed "
        f"line of a return bets earned money. The first {_LINES} of the ranking are in colour; the "
        "table has the last values of all of them."
    )
    table = number_table(["Forecaster", "Events", *map(title_of, metrics)], rows)
    chart = Chart("scores", "Scores over closing time", description, table, panels)
    drawn = any(line.points for panel in panels for line in panel.lines)  # else no closing times
    return [Section("Scores over time", [chart])] if drawn else []


def _time_panel(curves: Mapping[str, Any], names: Sequence[str], metric: str) -> Panel:
    lines = []
    for place, name in enumerate(names):
        curve = curves[name]
        known = [
            (datetime.fromisoformat(at).timestamp(), y)
            for at, y in zip(curve["closed"], curve.get(metric, curve["closed"]), strict=True)
            if at and isinstance(y, float)
        ]
        step = -(-len(known) // _POINTS) or 1
        points = [*known[:-1:step], *known[-1:]]
        lines.append(Line(printable(name, 60), points, faint=place >= _LINES))
    ends = [x for line in lines for x, _ in line.points] or [0.0]
    low, high = min(ends), max(ends)
    ticks = [low + (high - low) * part / 3 for part in range(4)]
    x = Axis("", [(at, f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}") for at in ticks], low, high)
    even = ((low, 1.0), (high, 1.0)) if metric.startswith("return_") else None
    values = (y for line in [*lines, Line("", even or ())] for _, y in line.points)
    return Panel(title_of(metric), lines, x, number_axis("running mean", values), even, height=180)


# --- Events ---


def _events(shown: Scored, names: Sequence[str]) -> list[Section]:
    """The parts of the Brier score, the costliest events of these forecasters, and a row per
    event.
    """
    events, parts = shown.events, shown.split()
    scored, _, crowd = parts
    briers, event = scored.values["brier"], scored.forecasts.event
    counts, sums = np.bincount(event), np.bincount(event, briers)
    means = sums / counts
    order = np.argsort(-means, kind="stable")
    spent = np.cumsum(((counts + 3) * (np.minimum(events.sizes, _OPTIONS) + 3))[order])
    order = order[: max(1, int(np.searchsorted(spent, _CELLS)))]
    expected, outcomes = (
        np.split(column, events.offsets[1:-1]) for column in (crowd.forecasts.p, events.outcome)
    )
    kinds, closed = (
        list(map(_name_kind, expected, outcomes)),
        [format_time(at) or "" for at in events.closed.tolist()],
    )
    titles = [title or name for title, name in zip(events.title, events.ids, strict=True)]

    def winners(at: int) -> str:
        return (
            ", ".join(printable(name, 60) for name in events.names(at)[outcomes[at] > 0]) or "none"
        )

    columns = [
        Column("Category", lambda at: printable(events.category[at], 60), "choice"),
        Column("Brier", lambda at: float(means[at]), "number", "low"),
        *(_baseline_column(shown, name) for name in BASELINES),
        Column("Event", lambda at: show_text(titles[at], 200), "long"),
        Column("Closed", lambda at: closed[at][:10]),
        Column("Outcome", kinds.__getitem__, "choice"),
        Column("Came true", lambda at: show_text(winners(at), 120)),
        Column("Event", lambda at: show_text(titles[at]), "inside"),
        Column("Closed", closed.__getitem__, "inside"),
        Column("Came true", lambda at: show_text(winners(at)), "inside"),
        Column("Forecasts", lambda at: _forecast_table(parts, at, outcomes[at]), "inside"),
        Column("Id", lambda at: show_text(events.ids[at]), "inside"),
    ]
    causes = pages.list_causes(
        zip(kinds, (sums / len(briers)).tolist(), strict=True),
        "What the mean Brier score of all forecasts is made of. A surprise: the crowd gave it "
        "less than 10%.",
        "events.",
        "Events",
    )
    note = pages.count_rows(
        len(order), len(titles), "the highest mean Brier score of all forecasts", "events"
    )
    records = pages.make_records(
        "events", "Events", columns, order.tolist(), events.ids[order], note
    )
    keys = {at: row.key for at, row in zip(order.tolist(), records.rows, strict=True)}
    return [
        *causes,
        Section("Events", [_list_costliest(scored, names[: pages.CHARTED], titles, keys), records]),
    ]


def _baseline_column(everything: Scored, name: str) -> Column:
    briers = everything.by_event("brier", everything.forecasts.names.index(name, -len(BASELINES)))
    return Column(name.capitalize(), lambda at: float(briers[at]), "number", "low")


def _name_kind(crowd: Floats, outcome: Floats) -> str:
    """How the outcome of an event compares with what the crowd expected."""
    won = crowd[outcome > 0]
    if not len(won):
        return "nothing came true"
    if won.min() < _SURPRISE:
        return "a surprise came true"
    return "the favourite came true" if won.min() >= crowd.max() else "an outsider came true"


def _list_costliest(
    scored: Scored, names: Sequence[str], titles: Sequence[str], keys: Mapping[int, str]
) -> Table:
    """The events on which each forecaster has the highest Brier scores."""
    data, briers = scored.forecasts, scored.values["brier"]

    def costliest(name: str) -> Links:
        forecasts = np.flatnonzero(data.forecaster == data.names.index(name))
        worst = forecasts[np.argsort(-briers[forecasts], kind="stable")[:_COSTLIEST]]
        links = []
        for at, brier in zip(data.event[worst].tolist(), briers[worst].tolist(), strict=True):
            links.append(
                Link(f"{show_text(titles[at], 60)} ({show_number(brier, 2)})", "", keys.get(at, ""))
            )
        return Links(links)

    title = f"The {_COSTLIEST} events with its highest Brier scores"
    return make_table(
        [Column("Forecaster", lambda name: printable(name, 60)), Column(title, costliest)], names
    )


def _forecast_table(parts: Sequence[Scored], at: int, outcome: Floats) -> Table:
    """Market, crowd and, the best first, the forecasters: scores, the likeliest options and those
    that came true.
    """
    rows = []
    forecasters, *baselines = (part.of_event(at) for part in parts)
    paid = [
        name
        for name, values in forecasters.values.items()
        if name.startswith("return_") and not np.isnan(values).all()
    ]
    metrics = ["brier", *paid[:1]]
    for part, label in ((baselines[0], "({})"), (baselines[1], "({})"), (forecasters, "{}")):
        data = part.forecasts
        probabilities = data.p.reshape(-1, len(outcome))
        for place in np.argsort(part.values["brier"], kind="stable").tolist():
            name = label.format(printable(data.names[data.forecaster[place]], 60))
            rows.append(
                (
                    name,
                    [float(part.values[metric][place]) for metric in metrics],
                    probabilities[place],
                )
            )
    likely = np.mean([p for _, _, p in rows], axis=0)
    chosen = sorted(np.lexsort((-likely, -outcome))[:_OPTIONS].tolist())
    options = forecasters.events.names(at)
    titles = [printable(options[place], 60) + " ✓" * bool(outcome[place]) for place in chosen]
    cells = [(name, *scores, *(f"{p[place]:.3g}" for place in chosen)) for name, scores, p in rows]
    return number_table(["Forecaster", *map(title_of, metrics), *titles], cells)
