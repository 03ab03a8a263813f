"""What a page shows of a result besides its report: calibration, returns over time, and every event to open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from forecasteval.common.charts import Axis, Chart, Line, Panel, number_axis
from forecasteval.common.errors import printable
from forecasteval.common.pages import CHARTED, Page, Section
from forecasteval.common.report import Column, make_table, show_number

from .event_rows import EventData, show_events
from .report import list_remarks, summarise, title_of

_SMALL: Final = 12  # reliability diagrams
_LINES: Final = 8  # forecasters whose returns are drawn in colour
_POINTS: Final = 60  # of a line


def make_page(results: Mapping[str, Any], shown: EventData | None = None) -> Page:
    """The page of a result of `ProphetArenaEvaluator`; `shown` are its events, if there are not too many forecasts."""
    order = [row["name"] for row in results["ranking"] if row["name"] in results["forecasters"]]
    summary = summarise(results, full=True)
    ranking, *tables = summary.sections
    sections = [ranking, Section("Calibration", [_reliability_chart(results, order)]), *_returns(results, order)]
    events = [Section("Events", show_events(shown, order))] if shown else []
    return summary._replace(sections=[*sections, *events, *tables, *list_remarks(results, full=True)])


# --- Calibration ---


def _reliability_chart(results: Mapping[str, Any], order: Sequence[str]) -> Chart:
    bins = {name: results["reliability"][name] for name in order[:_SMALL]}
    axis = Axis("", [(0.0, "0"), (0.5, "0.5"), (1.0, "1")])
    panels = [
        Panel(printable(name, 24), [_reliability_line(name, bins[name])], axis, axis, "diagonal", False, 140)
        for name in bins
    ]
    columns = [
        Column("Forecaster", lambda row: printable(row[0], 60)),
        Column("Probability", lambda row: f"{row[1]['low']:.1f}–{row[1]['high']:.1f}", "number"),
        Column("n", lambda row: str(row[1]["n"]), "number"),
        Column("Mean probability", lambda row: show_number(row[1]["mean_probability"], 3), "number"),
        Column("Came true", lambda row: show_number(row[1]["frequency"], 3), "number"),
    ]
    description = (
        "How often options came true (upwards) that were given a probability (to the right). On the dashed line both "
        "are equal; below it the probabilities were too high. The larger a dot, the more probabilities are in it."
    )
    if len(bins) < len(order):
        description += f" The first {len(bins)} of {len(order)} forecasters."
    table = make_table(columns, [(name, row) for name in bins for row in bins[name]])
    return Chart("reliability", "Reliability", description, table, panels)


def _reliability_line(name: str, bins: Sequence[Mapping[str, Any]]) -> Line:
    known = [row for row in bins if row["mean_probability"] is not None]
    most = max([1, *(row["n"] for row in known)])
    points = [(row["mean_probability"], row["frequency"]) for row in known]
    return Line(name, points, [row["n"] / most for row in known])


# --- Returns ---


def _returns(results: Mapping[str, Any], order: Sequence[str]) -> list[Section]:
    curves = results["return_curve"]
    shown = [name for name in order if name in curves]
    metrics = [key for key in (curves[shown[0]] if shown else {}) if key.startswith("return_")]
    if not metrics:
        return []
    panels = [_return_panel(curves, shown[:CHARTED], metric) for metric in metrics]
    columns = [
        Column("Forecaster", lambda name: printable(name, 60)),
        Column("Priced events", lambda name: str(curves[name]["n_events"][-1]), "number"),
        *(Column(title_of(metric), partial(_last, curves, metric), "number") for metric in metrics),
    ]
    description = (
        "The mean payoff of one dollar a priced event so far, by closing time, for each risk aversion γ; above the "
        f"dashed line bets earned money. The first {_LINES} of the ranking are in colour; the table has all of them."
    )
    chart = Chart("returns", "Returns over closing time", description, make_table(columns, shown), panels)
    return [Section("Returns", [chart])]


def _last(curves: Mapping[str, Any], metric: str, name: str) -> str:
    return show_number(curves[name][metric][-1])


def _return_panel(curves: Mapping[str, Any], names: Sequence[str], metric: str) -> Panel:
    lines = []
    for place, name in enumerate(names):
        times, values = curves[name]["closed"], curves[name][metric]
        known = [(datetime.fromisoformat(at).timestamp(), y) for at, y in zip(times, values, strict=True) if at]
        step = -(-len(known) // _POINTS) or 1
        lines.append(Line(name, [*known[:-1:step], *known[-1:]], faint=place >= _LINES))
    ends = [x for line in lines for x, _ in line.points] or [0.0]
    low, high = min(ends), max(ends)
    ticks = [low + (high - low) * part / 3 for part in range(4)]
    x = Axis("", [(at, f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}") for at in ticks], low, high)
    y = number_axis("mean payoff", [1.0, *(y for line in lines for _, y in line.points)])
    return Panel(f"γ = {metric.removeprefix('return_')}", lines, x, y, 1.0, height=180)
