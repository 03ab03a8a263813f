"""The page of a result: the ranking on one axis with the market's line through it, calibration,
scores over time, categories, events, every metric.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Final

import numpy as np

from forecasteval.common.errors import printable
from forecasteval.common.records import JsonObject
from forecasteval.display import marks, pages
from forecasteval.display.charts import Axis, Chart, Line, Panel, number_axis
from forecasteval.display.html import (
    Head,
    Html,
    Page,
    draw_fold,
    draw_section,
    draw_table,
    heat_class,
    join,
    show_score,
    show_signed,
    soft,
    span,
    tag,
)
from forecasteval.display.html import Line as TableRow
from forecasteval.display.pages import show_text
from forecasteval.display.rows import Choice, Row, draw_bar, draw_chips, draw_inside, draw_rows
from forecasteval.display.tables import Link, Table, format_signature

from .arrays import Bools, Floats
from .details import Bin, ProphetResult
from .fields import format_time
from .metrics import find_metric
from .report import (
    BoardRow,
    Placed,
    board_rows,
    category_table,
    known_metrics,
    list_metrics,
    list_remarks,
    mark_of,
    metric_table,
    ranking_chart,
    show_ranks,
    title_of,
)
from .score_table import Scored

KEPT: Final = 20_000  # forecasts of a result whose page shows its events
_ROWS: Final = 300  # of the ranking
_FEW: Final = 10  # provisional ones below it
_SMALL: Final = 12  # reliability diagrams
_NAMED: Final = 3  # lines with a colour
_HARDEST: Final = 5  # events above the list of all
_EVENTS: Final = 2000  # of that list
_OPTIONS: Final = 8  # of an event: those that came true, then the likeliest ones
_SCORES: Final = 40  # of an event
_SHARE: Final = Axis("", [(0.0, "0"), (0.5, "0.5"), (1.0, "1")])
_TITLES: Final = {"market": "Market prices", "crowd": "Mean of all forecasters"}
_GAP: Final = Head("", "g")


def make_page(results: ProphetResult, shown: Scored | None = None) -> Page:
    """The page of a result of `ProphetArenaEvaluator`; `shown`: its scores, if there are not too
    many forecasts.
    """
    about: JsonObject = {**results}
    board = Board(results)
    counts = {
        "forecasters": len(results["forecasters"]),
        "provisional": len(results["provisional"]),
        "events": results["n_events"],
        "pending": results["n_pending"],
        "forecasts": results["n_forecasts"],
    }
    facts = [f"{count} {what}" for what, count in counts.items() if count]
    parts = {
        "Calibration": True,
        "Over time": board.panels,
        "Categories": results["by_category"],
        "Events": shown,
        "Every metric": True,
    }
    return Page(
        title=printable(about.get("name") or about["benchmark"], 120),
        facts=" · ".join([about["benchmark"], *facts]),
        summary=board.draw,
        body=partial(_draw_body, board, shown),
        charts=partial(_make_charts, board),
        lead=board.verdict(),
        parts=[Link(text, "", _anchor(text)) for text, is_there in parts.items() if is_there],
        signature=format_signature(results["signature"], about.get("dataset")),
    )


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


def _draw_body(board: Board, shown: Scored | None) -> Iterator[Html]:
    errors = [soft(show_score(row["ece"])) for row in board.ranked]
    small = [
        (join(panel.title, " ", error), marks.draw_panel(panel, panel.title, small=True))
        for panel, error in zip(board.diagrams, errors, strict=False)
    ]
    note = f"{_CALIBRATION} The number is the calibration error."
    yield draw_section("Calibration", marks.small_panels(small), note=note, name="calibration")
    yield tag("div", *_draw_time(board.panels), *_draw_categories(board), "", class_="pair")
    yield from _draw_events(shown) if shown else ()
    table = metric_table(board.rows, known_metrics(board.results, board.rows))
    note = "coloured by rank, blue is best"
    yield draw_fold("Every metric", _draw_cells(table), note=note, name="every-metric")
    titled = [tag("div", tag("p", panel.title), _draw_panel(panel)) for panel in board.panels]
    if titled:
        yield draw_fold("Every score over time", tag("div", *titled, class_="pair"))
    remarks = [tag("li", line) for line in list_remarks(board.results, full=True)]
    count = sum(entry["count"] for entry in board.results["excluded"])
    listed, note = tag("ul", *remarks, "", class_="cap"), f"{count} records left out"
    yield draw_fold("Left out, and how it is made", listed, note=note)


def _draw_panel(panel: Panel) -> Html:
    return marks.draw_panel(panel, panel.title)


def _draw_time(panels: Sequence[Panel]) -> Iterator[Html]:
    """The last return over time, or the Brier score."""
    if panels:
        panel = panels[-1] if panels[-1].reference else panels[0]
        title = f"{panel.title} over time"
        yield draw_section(title, _draw_panel(panel), note=_OVER_TIME, name="over-time")


def _draw_categories(board: Board) -> Iterator[Html]:
    if board.results["by_category"]:
        cells = _draw_cells(category_table(board.results, board.ranked[: pages.CHARTED]))
        note = "Blue: better than the mean of the category; orange: worse. In brackets: events."
        yield draw_section("Brier score by category", cells, note=note, name="categories")


def _draw_cells(table: Table) -> Html:
    """A table of the report, its numbers on their colours."""
    heads = [Head(column.title, "c" if column.kind == "number" else "") for column in table.columns]
    lines = [TableRow(list(map(_show_cell, row))) for row in table.rows]
    return tag("div", draw_table(heads, lines, "mx"), class_="scroll")


def _show_cell(cell: object) -> str:
    if not isinstance(cell, Placed):
        return str(cell)
    style = "hx" if cell.place is None else heat_class(cell.place)
    return tag("span", show_score(cell.value), class_=style, title=str(cell))


def _make_charts(board: Board) -> dict[str, Chart]:
    """What `plot` draws."""
    charts = [
        ranking_chart(board.results, board.rows, board.by),
        Chart("reliability", "Calibration", _CALIBRATION, panels=board.diagrams),
        Chart("scores", "Scores over time", _OVER_TIME, panels=board.panels),
    ]
    return {chart.name: chart for chart in charts if chart.panels or chart.table.rows}


# --- The ranking ---


class Board:
    """The rows of the ranking; `mean` is the metric whose difference to the market is shown: a mean
    over the same events, which not every metric is.
    """

    def __init__(self, results: ProphetResult) -> None:
        self.results, self.by = results, results["ranked_by"]["metric"]
        self.rows = board_rows(results, self.by, _ROWS, _FEW)
        self.ranked = [row for row in self.rows if row.own("rank")]
        self.mean = self.by if find_metric(self.by).formula else "brier"
        self.market = [row for row in self.rows if row.is_baseline and row.name == "market"]
        returns = [name for name in list_metrics(results) if name.startswith("return_")]
        self.returns = returns[-1:] if self.market else []
        self.diagrams = [
            _reliability_panel(row.shown, results["reliability"][row.name])
            for row in self.ranked[:_SMALL]
        ]

    @cached_property
    def panels(self) -> list[Panel]:
        """A panel per score over time; none where no event has a closing time."""
        curves = [(row.name, self.results["score_curve"][row.name]) for row in self.ranked]
        metrics = list_metrics(self.results)
        panels = [_time_panel(curves[: pages.CHARTED], metric) for metric in metrics]
        return [panel for panel in panels if any(len(line.points) > 1 for line in panel.lines)]

    def could_be_first(self, row: BoardRow) -> bool:
        return 1 in (row.own("rank_interval") or ())[:1]

    def difference(self, row: BoardRow) -> tuple[JsonObject | None, int]:
        """That to the market if there is any; 1 if it is surely for the better, -1 for the worse, 0
        if its interval holds 0.
        """
        found = row["against"].get("market", {}).get(self.mean)
        if not found or found["difference"] is None:
            return None, 0
        low, high = found["interval"] or (0, 0)
        return found, int(find_metric(self.mean).sign) * ((low > 0) - (high < 0))

    def verdict(self) -> str:
        """Who leads, who else could, who beats the market."""
        first = [row for row in self.ranked if row.own("rank") == 1]
        if not first:
            return f"Nobody has the {self.results['min_events']} events that a rank needs."
        leads = f" and {len(first) - 1} more lead" if len(first) > 1 else " leads"
        text = f"{leads} with {show_score(first[0][self.by])}"
        could = sum(self.could_be_first(row) for row in self.ranked if row not in first)
        text += f"; {could} more could be first." if could else "."
        sides = [side for found, side in map(self.difference, self.ranked) if found]
        if sides:
            better = sides.count(1)
            count = f"{better} of {len(sides)}" if better else "Nobody"
            text += f" {count} beat{'s' * (better < 2)} the market significantly."
        return join(tag("b", first[0].shown), text)

    def draw(self) -> Html:
        """The table with its caption."""
        axis = marks.interval_axis(map(mark_of, self.rows))
        ends = ("", "better →") if find_metric(self.by).higher_is_better else ("← better", "")
        to_market = [f"{title_of(self.mean)} − market’s"] if self.market else []
        heads = [
            Head("Rank", "rk"),
            Head("Forecaster"),
            Head(title_of(self.by), "n sc"),
            _GAP,
            marks.axis_head(axis, *ends),
            _GAP,
            *(Head(title, "n vs") for title in to_market),
            *(Head(title, "n k") for title in ("Calibration error", *map(title_of, self.returns))),
            Head("Events", "n k"),
        ]
        lines = [self._draw_line(row, axis) for row in self.rows]
        caption = "Lines: 95% intervals. Shaded: could be first (the rank interval reaches 1)."
        if self.market:
            caption += (
                " Dotted: the market. ± is half of a 95% interval, coloured if it excludes 0."
            )
        caption += f" Ranked by {title_of(self.by)}: {self.results['ranked_by']['why']}."
        return join(draw_table(heads, lines, "rank"), tag("p", caption, class_="cap"))

    def _draw_line(self, row: BoardRow, axis: Axis) -> TableRow:
        rank = row.own("rank")
        kind, style = (None, "") if rank else ("few", "")
        if row.is_baseline:
            kind, style = "ref", "ref"
        elif self.could_be_first(row):
            kind, style = "tie", "a"
        line = self.market[0][self.by] if self.market else None
        cells = [
            join(tag("b", str(rank)), " ", soft(show_ranks(row))) if rank else "",
            _TITLES[row.name] if row.is_baseline else row.shown,
            show_score(row[self.by]),
            "",
            marks.draw_interval(axis, mark_of(row), row.shown, style, line),
            "",
            *(self._show_difference(row) for _ in self.market),
            show_score(row["ece"]),
            *(show_score(row[name], 2) for name in self.returns),
            str(row["n_events"]),
        ]
        return TableRow(cells, kind)

    def _show_difference(self, row: BoardRow) -> str:
        found, side = self.difference(row)
        if not found:
            return "–"
        low, high = found["interval"] or (None, None)
        half = [] if low is None else [soft(f" ±{show_score((high - low) / 2)}")]
        title = f"{show_signed(low, 4)} to {show_signed(high, 4)} on {found['n']} events"
        style = (None, "up", "dn")[side]
        return tag("span", show_signed(found["difference"]), *half, title=title, class_=style)


# --- Calibration, scores over time ---


_CALIBRATION: Final = (
    "Across: the probability given, 0 to 1. Up: how often it came true. On the diagonal both "
    "agree; below it the forecasts were too high. Larger dots: more forecasts."
)
_OVER_TIME: Final = (
    "The running mean in the order in which events close, from the tenth part on; above the dotted "
    f"line of a return bets earned money. The first {_NAMED} of the ranking are named."
)


def _reliability_panel(name: str, bins: Sequence[Bin]) -> Panel:
    known = [each for each in bins if each["n"]]
    most = max(each["n"] for each in known)
    points = [(each["mean_probability"] or 0.0, each["frequency"]) for each in known]
    line = Line(name, points, [each["n"] / most for each in known])
    return Panel(name, [line], _SHARE, _SHARE, ((0, 0), (1, 1)), False, 140)


def _time_panel(curves: Sequence[tuple[str, JsonObject]], metric: str) -> Panel:
    lines = []
    for place, (name, curve) in enumerate(curves):
        known = [
            (datetime.fromisoformat(at).timestamp(), y)
            for at, y in zip(curve["closed"], curve.get(metric, ()), strict=False)
            if at and y is not None
        ]
        points = known[len(known) // 10 :]  # the first means are those of single events
        lines.append(Line(printable(name, 40), points, faint=place >= _NAMED))
    points = [point for line in lines for point in line.points] or [(0.0, 0.0)]
    xs, ys = zip(*points, strict=True)
    low, high, even = min(xs), max(xs), None
    if metric.startswith("return_"):
        even, ys = ((low, 1.0), (high, 1.0)), (*ys, 1.0)
    ticks = np.linspace(low, high, 4).tolist()
    dates = [(at, f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}") for at in ticks]
    return Panel(title_of(metric), lines, Axis("", dates, low, high), number_axis("", ys), even)


# --- Events ---


def _draw_events(shown: Scored) -> Iterator[Html]:
    """The hardest events, and all of them as rows that open."""
    total, rows = len(shown.events.ids), list(_list_events(shown))
    axis = marks.axis_head(_SHARE, "probability given to it")
    heads = [Head("Brier", "c"), Head("Event"), Head("Came true", "k"), _GAP, axis]
    hardest = []
    for row in rows[:_HARDEST]:
        brier, title, won, dots = row.cells
        link = tag("a", title, href=f"#{row.key}")
        hardest.append(TableRow([brier, link, won, "", dots]))
    note = "Dots: the probability that each forecaster gave to what came true; diamond: the market."
    yield draw_section("The hardest events", draw_table(heads, hardest), note=note, name="events")
    categories = sorted({str(row.data["category"]) for row in rows} - {""})
    chips = draw_chips("all", "category", [Choice(name, name) for name in categories], "seg")
    orders = [("-brier", "hardest first"), ("brier", "easiest first"), ("closed", "by time")]
    titles = ("Brier", "Event", "Came true", "Given to it, 0 to 1")
    kept = f"All {total} events" if len(rows) == total else f"{len(rows)} of {total} events"
    bar = draw_bar("all", "events", chips, orders=orders)
    content = bar, draw_rows("all", titles, rows, "event")
    yield draw_fold(kept, *content, note="hardest first; a row opens to its options and scores")


def _list_events(shown: Scored) -> Iterator[Row]:
    """The events with the highest mean Brier scores."""
    events, (scored, market, _) = shown.events, shown.split()
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
            dots = marks.draw_dots(_SHARE, given, float(price[won].mean()))
        category, brier = printable(events.category[at], 60), float(means[at])
        closed = format_time(float(events.closed[at])) or ""
        title = show_text(events.title[at] or events.ids[at], 200)
        cells = [
            _show_brier(brier),
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
        yield Row(key, cells, data, draw_inside(key, facts, texts, events.ids[at]))


def _show_brier(value: float) -> Html:
    """A Brier score on its colour, 0.5 and above being the worst."""
    style = f"chip {heat_class(1 - 2 * value)}"
    return tag("span", show_score(value, 2), class_=style, title=show_score(value, 4))


def _draw_options(options: Sequence[str], won: Bools, p: Floats, price: Floats) -> Html:
    """The likeliest options and those that came true."""
    columns = price, p.mean(axis=0), p.min(axis=0), p.max(axis=0)
    heads = [Head("Option"), *(Head(text, "n") for text in ("Market", "Mean", "Lowest", "Highest"))]
    lines = []
    for at in sorted(np.lexsort((-columns[1], ~won))[:_OPTIONS].tolist()):
        name = tag("b", f"{options[at]} ✓") if won[at] else options[at]
        lines.append(TableRow([name, *(show_score(float(column[at]), 2) for column in columns)]))
    return draw_table(heads, lines)
