"""The page of a result: the ranking on one axis with the market's line through it,
calibration, the last return over time, categories, events, every metric.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Final, NamedTuple

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
from forecasteval.display.rows import (
    Choice,
    OpenRow,
    draw_bar,
    draw_chips,
    draw_inside,
    draw_rows,
)
from forecasteval.display.run_page import draw_marks
from forecasteval.display.tables import Link, Table, format_signature

from .arrays import Bools, Floats
from .details import ProphetResult
from .metrics import find_metric
from .report import (
    BoardRow,
    board_rows,
    category_table,
    describe_market_beaters,
    describe_size,
    describe_unranked,
    horizon_table,
    known_metrics,
    list_metrics,
    list_remarks,
    list_returns,
    mark_of,
    metric_table,
    ranking_chart,
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


class _Section(NamedTuple):
    """A section of the page: the anchor, the text of the link to it, and
    what draws it.
    """

    name: str
    link: str
    draw: Callable[[], Html]


def make_page(results: ProphetResult, shown: ForecastScores | None = None) -> Page:
    """Make the page of a result of `ProphetArenaEvaluator`; `shown`: its scores, if
    there are not too many forecasts.
    """
    about: JsonObject = {**results}
    rows = board_rows(results, results["ranked_by"]["metric"], _ROWS)
    sections = [*_list_sections(results, rows, shown)]
    return Page(
        title=printable(about.get("name") or about["benchmark"], 120),
        facts=f"{about['benchmark']} · {describe_size(results)}",
        summary=partial(_draw_ranking, results, rows),
        body=partial(_draw_body, results, sections),
        charts=partial(_make_charts, results, rows),
        lead=_describe_verdict(results, rows),
        parts=[Link(section.link, "", section.name) for section in sections],
        signature=format_signature(results["signature"], about.get("dataset")),
    )


def _list_sections(
    results: ProphetResult, rows: Sequence[BoardRow], shown: ForecastScores | None
) -> Iterator[_Section]:
    """List the sections for which the result has numbers."""
    ranked = _choose_ranked(rows)
    if ranked:
        draw = partial(_draw_calibration, results, ranked)
        yield _Section("calibration", "Calibration", draw)
    if panel := _find_return(results, rows):
        draw = partial(_draw_over_time, panel)
        yield _Section("over-time", "Over time", draw)
    if results.get("horizons"):
        draw = partial(_draw_horizons, results, rows)
        yield _Section("horizons", "Before closing", draw)
    if results["by_category"]:
        draw = partial(_draw_categories, results, ranked)
        yield _Section("categories", "Categories", draw)
    if shown:
        yield _Section("events", "Events", partial(_draw_events, shown))
    yield _Section(
        "every-metric", "Every metric", partial(_draw_metrics, results, rows)
    )


def _draw_body(results: ProphetResult, sections: Sequence[_Section]) -> Iterator[Html]:
    for section in sections:
        yield section.draw()
    remarks = [tag("li", line) for line in list_remarks(results, full=True)]
    count = sum(entry["count"] for entry in results["excluded"])
    listed = tag("ul", *remarks, "", class_="cap")
    note = f"{show_count(count, 'record')} left out"
    yield draw_fold("Left out, and how it is made", listed, note=note)


def _draw_calibration(results: ProphetResult, ranked: Sequence[BoardRow]) -> Html:
    small = []
    for row, panel in zip(ranked, _list_diagrams(results, ranked), strict=False):
        title = join(panel.title, " ", soft(show_score(row["ece"])))
        small.append((title, draw_panel(panel, panel.title, small=True)))
    note = f"{_CALIBRATION} The number is the calibration error (ECE)."
    return draw_section(
        "Calibration", small_panels(small), note=note, name="calibration"
    )


def _draw_over_time(panel: Panel) -> Html:
    drawn = draw_panel(panel, panel.title)
    return draw_section(
        f"{panel.title} over time", drawn, note=_OVER_TIME, name="over-time"
    )


def _draw_horizons(results: ProphetResult, rows: Sequence[BoardRow]) -> Html:
    panel = _horizon_panel(results, rows)
    curve = Html()
    if panel:
        curve = draw_panel(panel, panel.title)
    table = _draw_cells("By horizon", horizon_table(results, results["horizons"]))
    title = "Score by time before closing"
    return draw_section(title, curve, table, note=_HORIZONS, name="horizons")


def _draw_categories(results: ProphetResult, ranked: Sequence[BoardRow]) -> Html:
    title = "Brier score by category"
    cells = _draw_cells(title, category_table(results, ranked[: pages.CHARTED]))
    return draw_section(title, cells, note="In brackets: events.", name="categories")


def _draw_metrics(results: ProphetResult, rows: Sequence[BoardRow]) -> Html:
    title = "Every metric"
    table = _draw_cells(title, metric_table(rows, known_metrics(results, rows)))
    return draw_fold(title, table, note="ranks in brackets", name="every-metric")


def _draw_cells(title: str, table: Table) -> Html:
    return draw_scroll(title, draw_marks(table, _SHARE, "mx"))


def _make_charts(results: ProphetResult, rows: Sequence[BoardRow]) -> dict[str, Chart]:
    """Make what `plot` draws."""
    ranked = _choose_ranked(rows)
    diagrams = _list_diagrams(results, ranked)
    over_time = [_time_panel(results, ranked, name) for name in list_metrics(results)]
    by_horizon = [_horizon_panel(results, rows)]
    charts = [ranking_chart(results, rows, results["ranked_by"]["metric"])]
    for name, title, note, panels in (
        ("reliability", "Calibration", _CALIBRATION, diagrams),
        ("scores", "Scores over time", _OVER_TIME, over_time),
        ("horizons", "Score by time before closing", _HORIZONS, by_horizon),
    ):
        charts.append(Chart(name, title, note, panels=[*filter(None, panels)]))
    return {chart.name: chart for chart in charts if chart.panels or chart.table.rows}


# --- The ranking ---


def _choose_ranked(rows: Sequence[BoardRow]) -> list[BoardRow]:
    return [row for row in rows if row.of_ranking("rank")]


def _describe_verdict(results: ProphetResult, rows: Sequence[BoardRow]) -> str:
    """Say who leads, who else could, who beats the market."""
    by = results["ranked_by"]["metric"]
    ranked = _choose_ranked(rows)
    first = [row for row in ranked if row.of_ranking("rank") == 1]
    if not first:
        return (
            f"Nobody has the {show_count(results['min_events'], 'event')} that a "
            "rank needs."
        )
    leads = "leads"
    if len(first) > 1:
        leads = f"and {len(first) - 1} more lead"
    text = f" {leads} with {show_score(first[0][by])}"
    could = sum(row.could_be_first for row in ranked if row not in first)
    if could:
        text += f"; {could} more could be first"
    text = f"{text}. {describe_market_beaters(ranked, by)}".rstrip()
    return join(tag("b", first[0].shown), text)


def _choose_style(row: BoardRow) -> str | None:
    """Choose the class of a row."""
    if row.is_baseline:
        return "ref"
    if row.could_be_first:
        return "tie"
    return None


def _draw_ranking(results: ProphetResult, rows: Sequence[BoardRow]) -> Html:
    """Draw the table of the ranking, its caption, and who has no rank."""
    by = results["ranked_by"]["metric"]
    market = results["baselines"]["market"]
    styles = [_choose_style(row) for row in rows]
    caption = f"Ranked by {title_of(by)}: {results['ranked_by']['why']}."
    if any(row.of_ranking("interval") for row in rows):
        caption += " Lines: 95% intervals."
    if "tie" in styles:
        caption += " Shaded: could be first (the rank interval reaches 1)."
    caption += (
        " (crowd): the mean of all forecasters. (uniform): the same for all options."
    )
    line = None
    if market["n_events"]:
        line = market[by]
    if line is not None:
        caption += (
            " Dotted: the market. ± is half of a 95% interval, coloured if it "
            "excludes 0."
        )
    directions = ("← better", "")
    if find_metric(by).higher_is_better:
        directions = ("", "better →")
    chart = ranking_chart(results, rows, by)
    axis = interval_axis(map(mark_of, rows))
    table = draw_marks(chart.table, axis, "rank", styles, line, directions)
    texts = filter(None, (caption, describe_unranked(results)))
    return join(table, *(tag("p", text, class_="cap") for text in texts))


# --- Calibration, scores over time ---


_CALIBRATION: Final = (
    "How often what was given a probability came true. On the diagonal both agree; "
    "below it the "
    "forecasts were too high. Larger dots: more forecasts."
)
_OVER_TIME: Final = (
    "The running mean in the order in which events close, from the tenth part on; "
    "above the dotted "
    f"line of a return bets earned money. The first {_NAMED} of the ranking are named; "
    "an arrow "
    "marks where a line leaves the axis."
)


def _list_diagrams(results: ProphetResult, ranked: Sequence[BoardRow]) -> list[Panel]:
    x = _SHARE._replace(title="Probability given")
    y = _SHARE._replace(title="Came true")
    diagonal = ((0, 0), (1, 1))
    panels = []
    for row in ranked[:_SMALL]:
        points = []
        counts = []
        for cell in results["reliability"][row.name]:
            if cell["n"]:
                counts.append(cell["n"])
                points.append(
                    (cell["mean_probability"] or 0.0, cell["frequency"] or 0.0)
                )
        largest = max(counts)
        line = ChartLine(row.shown, points, [count / largest for count in counts])
        panels.append(Panel(row.shown, [line], x, y, diagonal, False, 140))
    return panels


def _draw_lines(
    rows: Sequence[BoardRow],
    list_points: Callable[[BoardRow], list[tuple[float, float]]],
) -> list[ChartLine]:
    """Draw a line for each of the first rows; those behind the named ones are faint."""
    return [
        ChartLine(printable(row.name, 40), list_points(row), faint=position >= _NAMED)
        for position, row in enumerate(rows[: pages.CHARTED])
    ]


def _list_heights(lines: Sequence[ChartLine]) -> list[float]:
    return [y for line in lines for _, y in line.points]


def _list_named_heights(lines: Sequence[ChartLine]) -> list[float]:
    return _list_heights([line for line in lines if not line.faint])


def _find_return(results: ProphetResult, rows: Sequence[BoardRow]) -> Panel | None:
    """Make the panel of the last return over time, if there is any."""
    returns = list_returns(results)
    if not returns:
        return None
    return _time_panel(results, _choose_ranked(rows), returns[-1])


def _time_panel(
    results: ProphetResult, ranked: Sequence[BoardRow], metric: str
) -> Panel | None:
    """Make the panel of a metric by closing time; None where no event
    has such a time.
    """

    def list_points(row: BoardRow) -> list[tuple[float, float]]:
        curve = results["score_curve"][row.name]
        points = [
            (datetime.fromisoformat(closed).timestamp(), y)
            for closed, y in zip(curve["closed"], curve.get(metric, ()), strict=False)
            if closed and y is not None
        ]
        # The first means are those of single events.
        return points[len(points) // 10 :]

    lines = _draw_lines(ranked, list_points)
    if not any(len(line.points) > 1 for line in lines):
        return None
    xs = [x for line in lines for x, _ in line.points]
    low = min(xs)
    high = max(xs)
    named = _list_named_heights(lines)
    even = None
    if find_metric(metric).is_return:
        even = ((low, 1.0), (high, 1.0))
        named.append(1.0)
    ticks = np.linspace(low, high, 4).tolist()
    dates = [(tick, f"{datetime.fromtimestamp(tick, UTC):%Y-%m-%d}") for tick in ticks]
    x_axis = Axis("", dates, low, high)
    y_axis = fenced_axis(_list_heights(lines), named)
    return Panel(title_of(metric), lines, x_axis, y_axis, even)


# --- Horizons ---


_HORIZONS: Final = (
    "The last forecasts that were made so long before their events closed, by adjusted "
    "Brier: what "
    f"forecasters knew at the same time. The first {_NAMED} of the ranking are named."
)


def _horizon_panel(results: ProphetResult, rows: Sequence[BoardRow]) -> Panel | None:
    """Make the panel of scores by horizon, the longest first; None for less
    than two horizons.
    """
    horizons = sorted(results.get("horizons", ()), key=lambda row: -row["hours"])
    if len(horizons) < 2:
        return None

    def list_points(row: BoardRow) -> list[tuple[float, float]]:
        return [
            (float(x), horizon["forecasters"][row.name]["adjusted_brier"])
            for x, horizon in enumerate(horizons)
            if row.name in horizon["forecasters"]
        ]

    lines = _draw_lines(_choose_ranked(rows), list_points)
    heights = _list_heights(lines)
    if not heights:
        return None
    ticks = [(float(x), horizon["horizon"]) for x, horizon in enumerate(horizons)]
    x_axis = Axis("Before closing", ticks, 0, len(horizons) - 1)
    y_axis = fenced_axis(heights, _list_named_heights(lines))
    return Panel(title_of("adjusted_brier"), lines, x_axis, y_axis)


# --- Events ---


def _draw_events(shown: ForecastScores) -> Html:
    """Draw the events as rows that open, the hardest first."""
    rows = list(_list_events(shown))
    counted = pages.count_rows(
        len(rows), len(shown.events.ids), "the hardest", "events"
    )
    note = f"{counted} Dots: what each forecaster gave to what came true"
    if shown.forecasts.priced.any():
        note += "; diamond: the market"
    categories = sorted({str(row.data["category"]) for row in rows} - {""})
    chips = draw_chips(
        "all", "category", [Choice(name, name) for name in categories], "seg"
    )
    orders = [
        ("-brier", "hardest first"),
        ("brier", "easiest first"),
        ("closed", "by time"),
    ]
    titles = ("Brier", "Event", "Came true", "Given to it, 0 to 1")
    bar = draw_bar("all", "events", chips, orders=orders)
    listed = draw_rows("all", titles, rows, "event")
    return draw_section("Events", bar, listed, note=f"{note}.", name="events")


def _list_events(shown: ForecastScores) -> Iterator[OpenRow]:
    """List the events with the highest mean Brier scores."""
    events = shown.events
    scored, market, *_ = shown.split()
    prices = np.full(len(events.outcome), np.nan)
    prices[events.slots(market.forecasts.event)] = market.forecasts.p
    counts = np.bincount(scored.forecasts.event)
    means = np.bincount(scored.forecasts.event, scored.values["brier"]) / counts
    order = np.argsort(-means, kind="stable")[:_EVENTS]
    for event, key in zip(
        order.tolist(), pages.make_keys(events.ids[order]), strict=True
    ):
        yield _make_event(
            scored.of_event(event), event, key, float(means[event]), prices
        )


def _make_event(
    scored: ForecastScores, event: int, key: str, brier: float, prices: Floats
) -> OpenRow:
    """Make the row of an event. scored: its forecasts; prices: of all options
    of the market.
    """
    events = scored.events
    slots = events.slots(np.array([event]))
    options = [printable(name, 60) for name in events.option[slots]]
    won = events.outcome[slots] > 0
    price = prices[slots]
    p = scored.forecasts.p.reshape(-1, len(options))
    names = [
        printable(scored.forecasts.names[who], 40)
        for who in scored.forecasts.forecaster
    ]
    winners = ", ".join(
        name for name, is_true in zip(options, won, strict=True) if is_true
    )
    dots = Html("<span></span>")
    if won.any():
        given = zip(names, p[:, won].mean(axis=1).tolist(), strict=True)
        dots = draw_dots(_SHARE, given, float(price[won].mean()))
    category = printable(events.category[event], 60)
    closed = format_time(float(events.closed[event])) or ""
    title = show_text(events.title[event] or events.ids[event], 200)
    cells = [
        show_heat(brier, 1 - 2 * brier, "chip"),
        span("qt", title, " ", soft(category)),
        span("why", show_text(winners or "none", 120)),
        dots,
    ]
    scores = sorted(zip(scored.values["brier"].tolist(), names, strict=True))[:_SCORES]
    listed = " · ".join(f"{name} {show_score(value)}" for value, name in scores)
    texts = [
        ("Options", _draw_options(options, won, p, price)),
        ("Brier scores, the best first", listed),
    ]
    data = {"category": category, "brier": f"{brier:.6f}", "closed": closed}
    facts = [("Closed", closed[:16].replace("T", " "))]
    return OpenRow(key, cells, data, draw_inside(key, facts, texts, events.ids[event]))


def _draw_options(options: Sequence[str], won: Bools, p: Floats, price: Floats) -> Html:
    """Draw the likeliest options and those that came true."""
    means = p.mean(axis=0)
    numbers = {
        "Market": price,
        "Mean": means,
        "Lowest": p.min(axis=0),
        "Highest": p.max(axis=0),
    }
    heads = [Head("Option"), *(Head(title, "n") for title in numbers)]
    winners_first = np.lexsort((-means, ~won))
    lines = []
    for option in sorted(winners_first[:_OPTIONS].tolist()):
        name: Html | str = options[option]
        if won[option]:
            name = tag("b", f"{name} ✓")
        cells = [show_score(float(column[option]), 2) for column in numbers.values()]
        lines.append(TableRow([name, *cells]))
    return draw_table(heads, lines)
