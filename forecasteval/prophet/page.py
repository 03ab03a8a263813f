"""The page of a result: the ranking on one axis with the market's line through it, calibration,
the last return over time, categories, events, every metric.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Final

import numpy as np

from forecasteval.common.errors import printable, show_count
from forecasteval.common.records import JsonObject
from forecasteval.display import pages
from forecasteval.display.charts import (
    Axis,
    Chart,
    ChartLine,
    Panel,
    fenced_axis,
    interval_axis,
)
from forecasteval.display.html import (
    Head,
    Html,
    Page,
    draw_fold,
    draw_scroll,
    draw_section,
    draw_table,
    join,
    show_heat,
    show_score,
    soft,
    span,
    tag,
)
from forecasteval.display.html import TableLine as TableRow
from forecasteval.display.marks import (
    draw_dots,
    draw_panel,
    small_panels,
)
from forecasteval.display.pages import show_text
from forecasteval.display.rows import Choice, OpenRow, draw_bar, draw_chips, draw_inside, draw_rows
from forecasteval.display.run_page import draw_marks
from forecasteval.display.tables import Link, Table, format_signature

from .arrays import Bools, Floats
from .details import ProphetResult
from .metrics import find_metric
from .report import (
    BoardRow,
    board_rows,
    category_table,
    describe_size,
    horizon_table,
    known_metrics,
    list_metrics,
    list_remarks,
    mark_of,
    metric_table,
    ranking_chart,
    say_who_beats_the_market,
    say_who_has_no_rank,
    title_of,
)
from .score_table import ForecastScores
from .times import format_time

KEPT: Final = 20_000  # forecasts of a result whose page shows its events
_ROWS: Final = 300  # of the ranking
_SMALL: Final = 12  # reliability diagrams
_NAMED: Final = 3  # lines with a colour
_EVENTS: Final = 2000  # of their list
_OPTIONS: Final = 8  # of an event: those that came true, then the likeliest ones
_SCORES: Final = 40  # of an event
_SHARE: Final = Axis("", [(0.0, "0"), (0.5, "0.5"), (1.0, "1")])


def make_page(results: ProphetResult, shown: ForecastScores | None = None) -> Page:
    """Make the page of a result of `ProphetArenaEvaluator`; `shown`: its scores, if there are not
    too many forecasts.
    """
    about: JsonObject = {**results}
    rows = board_rows(results, results["ranked_by"]["metric"], _ROWS)
    parts = {
        "calibration": ("Calibration", _choose_ranked(rows)),
        "over-time": ("Over time", _find_return(results, rows)),
        "horizons": ("Before closing", results.get("horizons")),
        "categories": ("Categories", results["by_category"]),
        "events": ("Events", shown),
        "every-metric": ("Every metric", True),
    }
    return Page(
        title=printable(about.get("name") or about["benchmark"], 120),
        facts=f"{about['benchmark']} · {describe_size(results)}",
        summary=partial(_draw_ranking, results, rows),
        body=partial(_draw_body, results, rows, shown),
        charts=partial(_make_charts, results, rows),
        lead=_say_verdict(results, rows),
        parts=[Link(text, "", name) for name, (text, is_there) in parts.items() if is_there],
        signature=format_signature(results["signature"], about.get("dataset")),
    )


def _draw_body(
    results: ProphetResult, rows: Sequence[BoardRow], shown: ForecastScores | None
) -> Iterator[Html]:
    ranked = _choose_ranked(rows)
    if ranked:
        small = [
            (
                join(panel.title, " ", soft(show_score(row["ece"]))),
                draw_panel(panel, panel.title, small=True),
            )
            for row, panel in zip(ranked, _list_diagrams(results, ranked), strict=False)
        ]
        note = f"{_CALIBRATION} The number is the calibration error (ECE)."
        yield draw_section("Calibration", small_panels(small), note=note, name="calibration")
    if panel := _find_return(results, rows):
        title = f"{panel.title} over time"
        drawn = draw_panel(panel, panel.title)
        yield draw_section(title, drawn, note=_OVER_TIME, name="over-time")
    if horizons := results.get("horizons"):
        panel = _horizon_panel(results, rows)
        curve = draw_panel(panel, panel.title) if panel else Html()
        table = _draw_cells("By horizon", horizon_table(results, horizons))
        title = "Score by time before closing"
        yield draw_section(title, curve, table, note=_HORIZONS, name="horizons")
    if results["by_category"]:
        title = "Brier score by category"
        cells = _draw_cells(title, category_table(results, ranked[: pages.CHARTED]))
        yield draw_section(title, cells, note="In brackets: events.", name="categories")
    if shown:
        yield _draw_events(shown)
    table = _draw_cells("Every metric", metric_table(rows, known_metrics(results, rows)))
    yield draw_fold("Every metric", table, note="ranks in brackets", name="every-metric")
    remarks = [tag("li", line) for line in list_remarks(results, full=True)]
    count = sum(entry["count"] for entry in results["excluded"])
    listed = tag("ul", *remarks, "", class_="cap")
    note = f"{show_count(count, 'record')} left out"
    yield draw_fold("Left out, and how it is made", listed, note=note)


def _draw_cells(title: str, table: Table) -> Html:
    return draw_scroll(title, draw_marks(table, _SHARE, "mx"))


def _make_charts(results: ProphetResult, rows: Sequence[BoardRow]) -> dict[str, Chart]:
    """Make what `plot` draws."""
    ranked = _choose_ranked(rows)
    panels = [_time_panel(results, ranked, name) for name in list_metrics(results)]
    by_horizon = [panel for panel in (_horizon_panel(results, rows),) if panel]
    charts = [
        ranking_chart(results, rows, results["ranked_by"]["metric"]),
        Chart("reliability", "Calibration", _CALIBRATION, panels=_list_diagrams(results, ranked)),
        Chart("scores", "Scores over time", _OVER_TIME, panels=[*filter(None, panels)]),
        Chart("horizons", "Score by time before closing", _HORIZONS, panels=by_horizon),
    ]
    return {chart.name: chart for chart in charts if chart.panels or chart.table.rows}


# --- The ranking ---


def _choose_ranked(rows: Sequence[BoardRow]) -> list[BoardRow]:
    return [row for row in rows if row.own("rank")]


def _say_verdict(results: ProphetResult, rows: Sequence[BoardRow]) -> str:
    """Say who leads, who else could, who beats the market."""
    ranked, by = _choose_ranked(rows), results["ranked_by"]["metric"]
    first = [row for row in ranked if row.own("rank") == 1]
    if not first:
        return f"Nobody has the {show_count(results['min_events'], 'event')} that a rank needs."
    leads = f" and {len(first) - 1} more lead" if len(first) > 1 else " leads"
    could = sum(row.could_be_first for row in ranked if row not in first)
    more = f"; {could} more could be first." if could else "."
    beats = say_who_beats_the_market(ranked, by)
    text = f"{leads} with {show_score(first[0][by])}{more} {beats}".rstrip()
    return join(tag("b", first[0].shown), text)


def _choose_style(row: BoardRow) -> str | None:
    """Choose the class of a row."""
    if row.is_baseline:
        return "ref"
    return "tie" if row.could_be_first else None


def _draw_ranking(results: ProphetResult, rows: Sequence[BoardRow]) -> Html:
    """Draw the table of the ranking, its caption, and who has no rank."""
    by, market = results["ranked_by"]["metric"], results["baselines"]["market"]
    line = market[by] if market["n_events"] else None
    styles = [_choose_style(row) for row in rows]
    caption = f"Ranked by {title_of(by)}: {results['ranked_by']['why']}."
    if any(row.own("interval") for row in rows):
        caption += " Lines: 95% intervals."
    if "tie" in styles:
        caption += " Shaded: could be first (the rank interval reaches 1)."
    caption += " (crowd): the mean of all forecasters. (uniform): the same for all options."
    if line is not None:
        caption += " Dotted: the market. ± is half of a 95% interval, coloured if it excludes 0."
    table = draw_marks(
        ranking_chart(results, rows, by).table,
        interval_axis(map(mark_of, rows)),
        "rank",
        styles,
        line,
        ("", "better →") if find_metric(by).higher_is_better else ("← better", ""),
    )
    texts = filter(None, (caption, say_who_has_no_rank(results)))
    return join(table, *(tag("p", text, class_="cap") for text in texts))


# --- Calibration, scores over time ---


_CALIBRATION: Final = (
    "How often what was given a probability came true. On the diagonal both agree; below it the "
    "forecasts were too high. Larger dots: more forecasts."
)
_OVER_TIME: Final = (
    "The running mean in the order in which events close, from the tenth part on; above the dotted "
    f"line of a return bets earned money. The first {_NAMED} of the ranking are named; an arrow "
    "marks where a line leaves the axis."
)


def _list_diagrams(results: ProphetResult, ranked: Sequence[BoardRow]) -> list[Panel]:
    panels = []
    x, y = (_SHARE._replace(title=title) for title in ("Probability given", "Came true"))
    for row in ranked[:_SMALL]:
        known = [each for each in results["reliability"][row.name] if each["n"]]
        most = max(each["n"] for each in known)
        points = [(each["mean_probability"] or 0.0, each["frequency"] or 0.0) for each in known]
        line = ChartLine(row.shown, points, [each["n"] / most for each in known])
        panels.append(Panel(row.shown, [line], x, y, ((0, 0), (1, 1)), False, 140))
    return panels


def _find_return(results: ProphetResult, rows: Sequence[BoardRow]) -> Panel | None:
    """Make the panel of the last return over time, if there is any."""
    returns = [name for name in list_metrics(results) if find_metric(name).is_return]
    return _time_panel(results, _choose_ranked(rows), returns[-1]) if returns else None


def _time_panel(results: ProphetResult, ranked: Sequence[BoardRow], metric: str) -> Panel | None:
    """Make the panel of a metric by closing time; None where no event has such a time."""
    lines = []
    for place, row in enumerate(ranked[: pages.CHARTED]):
        curve = results["score_curve"][row.name]
        known = [
            (datetime.fromisoformat(at).timestamp(), y)
            for at, y in zip(curve["closed"], curve.get(metric, ()), strict=False)
            if at and y is not None
        ]
        points = known[len(known) // 10 :]  # the first means are those of single events
        lines.append(ChartLine(printable(row.name, 40), points, faint=place >= _NAMED))
    if not any(len(line.points) > 1 for line in lines):
        return None
    xs, ys = zip(*(point for line in lines for point in line.points), strict=True)
    named = [y for line in lines if not line.faint for _, y in line.points]
    low, high, even = min(xs), max(xs), None
    if find_metric(metric).is_return:
        even, named = ((low, 1.0), (high, 1.0)), [*named, 1.0]
    ticks = np.linspace(low, high, 4).tolist()
    dates = [(at, f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}") for at in ticks]
    return Panel(title_of(metric), lines, Axis("", dates, low, high), fenced_axis(ys, named), even)


# --- Horizons ---


_HORIZONS: Final = (
    "The last forecasts that were made so long before their events closed, by adjusted Brier: what "
    f"forecasters knew at the same time. The first {_NAMED} of the ranking are named."
)


def _horizon_panel(results: ProphetResult, rows: Sequence[BoardRow]) -> Panel | None:
    """Make the panel of scores by horizon, the longest first; None for less than two horizons."""
    horizons = sorted(results.get("horizons", ()), key=lambda row: -row["hours"])
    if len(horizons) < 2:
        return None
    lines = []
    for place, row in enumerate(_choose_ranked(rows)[: pages.CHARTED]):
        points = [
            (float(at), horizon["forecasters"][row.name]["adjusted_brier"])
            for at, horizon in enumerate(horizons)
            if row.name in horizon["forecasters"]
        ]
        lines.append(ChartLine(printable(row.name, 40), points, faint=place >= _NAMED))
    ys = [y for line in lines for _, y in line.points]
    if not ys:
        return None
    named = [y for line in lines if not line.faint for _, y in line.points]
    ticks = [(float(at), horizon["horizon"]) for at, horizon in enumerate(horizons)]
    x = Axis("Before closing", ticks, 0, len(horizons) - 1)
    return Panel(title_of("adjusted_brier"), lines, x, fenced_axis(ys, named))


# --- Events ---


def _draw_events(shown: ForecastScores) -> Html:
    """Draw the events as rows that open, the hardest first."""
    rows = list(_list_events(shown))
    counted = pages.count_rows(len(rows), len(shown.events.ids), "the hardest", "events")
    note = f"{counted} Dots: what each forecaster gave to what came true"
    note += "; diamond: the market." if shown.forecasts.priced.any() else "."
    categories = sorted({str(row.data["category"]) for row in rows} - {""})
    chips = draw_chips("all", "category", [Choice(name, name) for name in categories], "seg")
    orders = [("-brier", "hardest first"), ("brier", "easiest first"), ("closed", "by time")]
    titles = ("Brier", "Event", "Came true", "Given to it, 0 to 1")
    bar = draw_bar("all", "events", chips, orders=orders)
    listed = draw_rows("all", titles, rows, "event")
    return draw_section("Events", bar, listed, note=note, name="events")


def _list_events(shown: ForecastScores) -> Iterator[OpenRow]:
    """List the events with the highest mean Brier scores."""
    events, (scored, market, *_) = shown.events, shown.split()
    prices = np.full(len(events.outcome), np.nan)
    prices[events.slots(market.forecasts.event)] = market.forecasts.p
    counts = np.bincount(scored.forecasts.event)
    means = np.bincount(scored.forecasts.event, scored.values["brier"]) / counts
    order = np.argsort(-means, kind="stable")[:_EVENTS]
    for at, key in zip(order.tolist(), pages.make_keys(events.ids[order]), strict=True):
        own, slots = scored.of_event(at), events.slots(np.array([at]))
        options = [printable(name, 60) for name in events.option[slots]]
        won, price = events.outcome[slots] > 0, prices[slots]
        p = own.forecasts.p.reshape(-1, len(options))
        names = [printable(own.forecasts.names[who], 40) for who in own.forecasts.forecaster]
        came = ", ".join(name for name, true in zip(options, won, strict=True) if true) or "none"
        dots = Html("<span></span>")
        if won.any():
            given = zip(names, p[:, won].mean(axis=1).tolist(), strict=True)
            dots = draw_dots(_SHARE, given, float(price[won].mean()))
        category, brier = printable(events.category[at], 60), float(means[at])
        closed = format_time(float(events.closed[at])) or ""
        title = show_text(events.title[at] or events.ids[at], 200)
        cells = [
            show_heat(brier, 1 - 2 * brier, "chip"),
            span("qt", title, " ", soft(category)),
            span("why", show_text(came, 120)),
            dots,
        ]
        scores = sorted(zip(own.values["brier"].tolist(), names, strict=True))[:_SCORES]
        listed = " · ".join(f"{name} {show_score(value)}" for value, name in scores)
        texts = [
            ("Options", _draw_options(options, won, p, price)),
            ("Brier scores, the best first", listed),
        ]
        data = {"category": category, "brier": f"{brier:.6f}", "closed": closed}
        facts = [("Closed", closed[:16].replace("T", " "))]
        yield OpenRow(key, cells, data, draw_inside(key, facts, texts, events.ids[at]))


def _draw_options(options: Sequence[str], won: Bools, p: Floats, price: Floats) -> Html:
    """Draw the likeliest options and those that came true."""
    columns = price, p.mean(axis=0), p.min(axis=0), p.max(axis=0)
    heads = [Head("Option"), *(Head(text, "n") for text in ("Market", "Mean", "Lowest", "Highest"))]
    lines = []
    for at in sorted(np.lexsort((-columns[1], ~won))[:_OPTIONS].tolist()):
        name = tag("b", f"{options[at]} ✓") if won[at] else options[at]
        lines.append(TableRow([name, *(show_score(float(column[at]), 2) for column in columns)]))
    return draw_table(heads, lines)
