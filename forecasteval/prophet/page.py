"""The page of a result: the ranking on one axis with the market's line through it, calibration,
scores over time, categories, events, every metric.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

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
    show_link,
    show_score,
    show_signed,
    soft,
    tag,
)
from forecasteval.display.html import Line as TableRow
from forecasteval.display.pages import show_text
from forecasteval.display.rows import Choice, Row, draw_bar, draw_chips, draw_inside, draw_rows
from forecasteval.display.tables import Link, format_signature, number_table

from .arrays import Floats
from .details import ProphetResult
from .fields import format_time
from .metrics import find_metric
from .report import (
    BoardRow,
    board_rows,
    list_metrics,
    list_remarks,
    mark_of,
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
_OPTIONS: Final = 8  # of an event: those that came true, then the likeliest ones
_SCORES: Final = 40  # of an event
_CELLS: Final = 60_000  # of all events
_SHARE: Final = Axis("", [(0.0, "0"), (0.5, "0.5"), (1.0, "1")])
_TITLES: Final = {"market": "Market prices", "crowd": "Mean of all forecasters"}


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
        "Over time": board.time_panels(),
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
    panels, chart = board.time_panels(), _reliability_chart(board)
    errors = [soft(show_score(row.record["ece"])) for row in board.ranked]
    small = [
        (join(panel.title, " ", error), marks.draw_panel(panel, panel.title, small=True))
        for panel, error in zip(chart.panels, errors, strict=False)
    ]
    note = f"{chart.description} The number is the calibration error."
    yield draw_section(chart.title, marks.small_panels(small), note=note, name="calibration")
    yield tag("div", *_draw_time(panels), *_draw_categories(board), "", class_="pair")
    yield from _draw_events(shown) if shown else ()
    yield _draw_metrics(board)
    titled = [tag("div", tag("p", panel.title), _draw_panel(panel)) for panel in panels]
    if titled:
        yield draw_fold("Every score over time", tag("div", *titled, class_="pair"))
    remarks = [tag("li", line) for line in list_remarks(board.results, full=True)]
    count = sum(entry["count"] for entry in board.results["excluded"])
    listed, note = tag("ul", *remarks, "", class_="cap"), f"{count} records left out"
    yield draw_fold("Left out, and how it is made", listed, note=note)


def _draw_panel(panel: Panel) -> Html:
    return marks.draw_panel(panel, panel.title)


def _make_charts(board: Board) -> dict[str, Chart]:
    """What `plot` draws."""
    panels = board.time_panels()
    charts = [ranking_chart(board.results, board.rows, board.by), _reliability_chart(board)]
    if panels:
        rows = [
            (lines[0].name, *(line.end[1] if line.end else None for line in lines))
            for lines in zip(*(panel.lines for panel in panels), strict=True)
        ]
        table = number_table(["Forecaster", *(panel.title for panel in panels)], rows)
        charts.append(Chart("scores", "Scores over time", _OVER_TIME, table, panels))
    return {chart.name: chart for chart in charts}


# --- The ranking ---


class Board:
    """The rows of the ranking; `mean` is the metric whose difference to the market is shown: a mean
    over the same events, which not every metric is.
    """

    def __init__(self, results: ProphetResult) -> None:
        self.results, self.by = results, results["ranked_by"]["metric"]
        rows = board_rows(results, self.by, None, everybody=False)
        ranked = [row for row in rows if row.is_baseline or row.record.get(f"{self.by}_rank")]
        self.rows = ranked[:_ROWS] + rows[len(ranked) :][:_FEW]
        self.ranked = [row for row in ranked[:_ROWS] if not row.is_baseline]
        self.mean = self.by if find_metric(self.by).formula else "brier"
        self.market = [row for row in self.rows if row.is_baseline and row.name == "market"]

    def could_be_first(self, row: BoardRow) -> bool:
        return 1 in (row.record.get(f"{self.by}_rank_interval") or [])[:1]

    def difference(self, row: BoardRow) -> tuple[JsonObject | None, int]:
        """That to the market if there is any; 1 if it is surely for the better, -1 for the worse, 0
        if its interval holds 0.
        """
        found = row.record["against"].get("market", {}).get(self.mean)
        if not found or found["difference"] is None:
            return None, 0
        low, high = found["interval"] or (0, 0)
        return found, int(find_metric(self.mean).sign) * ((low > 0) - (high < 0))

    def verdict(self) -> str:
        """Who leads, who else could, who beats the market."""
        first = [row for row in self.ranked if row.record[f"{self.by}_rank"] == 1]
        if not first:
            return f"Nobody has the {self.results['min_events']} events that a rank needs."
        others = len(first) - 1
        names = [tag("b", first[0].shown), f" and {others} more lead" if others else " leads"]
        could = sum(map(self.could_be_first, self.ranked)) - sum(map(self.could_be_first, first))
        doubt = f"; {could} more could be first" if could else ""
        text = f" with {show_score(first[0].record[self.by])}{doubt}."
        sides = [side for found, side in map(self.difference, self.ranked) if found]
        if sides:
            better = sides.count(1)
            count = f"{better} of {len(sides)}" if better else "Nobody"
            text += f" {count} beat{'s' * (better < 2)} the market significantly."
        return join(*names, text)

    def draw(self) -> Html:
        """The table with its caption."""
        by, axis = self.by, marks.interval_axis(mark_of(self.by, row) for row in self.rows)
        better = ("", "better →") if find_metric(by).higher_is_better else ("← better", "")
        line = self.market[0].record[by] if self.market else None
        returns = [name for name in list_metrics(self.results) if name.startswith("return_")]

        def mark(row: BoardRow) -> Html:
            style = "ref" if row.is_baseline else "a" if self.could_be_first(row) else ""
            return marks.draw_interval(axis, mark_of(by, row), row.shown, style, line)

        columns: list[tuple[Head, Callable[[BoardRow], str]]] = [
            (Head("Rank", "rk"), self._show_rank),
            (Head("Forecaster"), _name_of),
            (Head(title_of(by), "n sc"), lambda row: show_score(row.record[by])),
            (Head("", "g"), lambda row: ""),
            (marks.axis_head(axis, *better), mark),
            (Head("", "g"), lambda row: ""),
        ]
        if self.market:
            title = f"{title_of(self.mean)} − market’s"
            columns.append((Head(title, "n vs"), self._show_difference))
        columns.append(
            (Head("Calibration error", "n k"), lambda row: show_score(row.record["ece"]))
        )
        if returns and self.market:
            title = title_of(returns[-1])
            columns.append((Head(title, "n k"), lambda row: show_score(row.record[returns[-1]], 2)))
        columns.append((Head("Events", "n k"), lambda row: str(row.record["n_events"])))
        lines = [TableRow([cell(row) for _, cell in columns], self._kind(row)) for row in self.rows]
        table = draw_table([head for head, _ in columns], lines, "rank")
        return join(table, tag("p", self._caption(), class_="cap"))

    def _kind(self, row: BoardRow) -> str | None:
        few = None if row.record.get(f"{self.by}_rank") else "few"
        return "ref" if row.is_baseline else "tie" if self.could_be_first(row) else few

    def _show_rank(self, row: BoardRow) -> str:
        rank = row.record.get(f"{self.by}_rank")
        return join(tag("b", str(rank)), " ", soft(show_ranks(row, self.by))) if rank else ""

    def _show_difference(self, row: BoardRow) -> str:
        found, side = self.difference(row)
        if not found:
            return "–"
        low, high = found["interval"] or (None, None)
        half = [] if low is None else [soft(f" ±{show_score((high - low) / 2)}")]
        title = f"{show_signed(low, 4)} to {show_signed(high, 4)} on {found['n']} events"
        style = (None, "up", "dn")[side]
        return tag("span", show_signed(found["difference"]), *half, title=title, class_=style)

    def _caption(self) -> str:
        better = "Higher" if find_metric(self.by).higher_is_better else "Lower"
        text = f"{better} is better. Lines: 95% intervals."
        if any(map(self.could_be_first, self.ranked)):
            text += " Shaded: could be first (the rank interval reaches 1)."
        if self.market:
            text += " Dotted: the market. ± is half of a 95% interval, coloured if it excludes 0."
        text += f" Ranked by {title_of(self.by)}: {self.results['ranked_by']['why']}."
        count = len(self.results["forecasters"]) + len(self.results["provisional"])
        hidden = count - sum(not row.is_baseline for row in self.rows)
        return text + (f" {hidden} provisional ones are not shown." if hidden else "")

    def time_panels(self) -> list[Panel]:
        """A panel per score; none where no event has a closing time."""
        curves = self.results["score_curve"]
        names = [row.name for row in self.ranked[: pages.CHARTED]]
        panels = [_time_panel(curves, names, metric) for metric in list_metrics(self.results)]
        return [panel for panel in panels if any(len(line.points) > 1 for line in panel.lines)]


def _name_of(row: BoardRow) -> str:
    return _TITLES[row.name] if row.is_baseline else row.shown


# --- Calibration, scores over time ---


def _reliability_chart(board: Board) -> Chart:
    panels, rows = [], []
    for row in board.ranked[:_SMALL]:
        bins = [each for each in board.results["reliability"][row.name] if each["n"]]
        most = max(each["n"] for each in bins)
        points = [(each["mean_probability"] or 0.0, each["frequency"]) for each in bins]
        line = Line(row.shown, points, [each["n"] / most for each in bins])
        panels.append(Panel(row.shown, [line], _SHARE, _SHARE, ((0, 0), (1, 1)), False, 140))
        rows += [(row.shown, *each.values()) for each in bins]
    about = (
        "Across: the probability given, 0 to 1. Up: how often it came true. On the diagonal both "
        "agree; below it the forecasts were too high. Larger dots: more forecasts."
    )
    titles = ["Forecaster", "From", "To", "n", "Mean probability", "Came true"]
    return Chart("reliability", "Calibration", about, number_table(titles, rows), panels)


_OVER_TIME: Final = (
    "The running mean in the order in which events close, from the tenth part on; above the dotted "
    f"line of a return bets earned money. The first {_NAMED} of the ranking are named."
)


def _time_panel(curves: JsonObject, names: Sequence[str], metric: str) -> Panel:
    lines = []
    for place, name in enumerate(names):
        pairs = zip(curves[name]["closed"], curves[name].get(metric, ()), strict=False)
        known = [
            (datetime.fromisoformat(at).timestamp(), y) for at, y in pairs if at and y is not None
        ]
        points = known[len(known) // 10 :]  # the first means are those of single events
        lines.append(Line(printable(name, 40), points, faint=place >= _NAMED))
    ends = sorted(x for line in lines for x, _ in line.points) or [0.0]
    ticks = np.linspace(ends[0], ends[-1], 4).tolist()
    dates = [(at, f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}") for at in ticks]
    even = ((ends[0], 1.0), (ends[-1], 1.0)) if metric.startswith("return_") else None
    values = [y for line in lines for _, y in line.points] + [1.0] * bool(even)
    x = Axis("", dates, ends[0], ends[-1])
    return Panel(title_of(metric), lines, x, number_axis("", values), even)


def _draw_time(panels: Sequence[Panel]) -> list[Html]:
    """The last return over time, or the Brier score."""
    shown = [panel for panel in panels if panel.reference][-1:] or panels[:1]
    return [
        draw_section(
            f"{panel.title} over time", _draw_panel(panel), note=_OVER_TIME, name="over-time"
        )
        for panel in shown
    ]


# --- Categories, every metric ---


def _draw_categories(board: Board) -> list[Html]:
    heads, columns, rows = [Head("")], [], board.ranked[: pages.CHARTED]
    for name, category in board.results["by_category"].items():
        heads.append(Head(join(printable(name, 20), tag("small", str(category["n_events"]))), "c"))
        found = [category["forecasters"].get(row.name) for row in rows]
        briers = np.array([each["brier"] if each else np.nan for each in found])
        apart = np.nan_to_num(briers - np.nanmean(briers)) if any(found) else briers
        places = 0.5 - 0.5 * apart / max(np.abs(apart).max(initial=0), 1e-9)
        columns.append([_show_place(*cell) for cell in zip(briers, places, strict=True)])
    if not columns:
        return []
    cells = zip(*columns, strict=True)
    lines = [TableRow([row.shown, *each]) for row, each in zip(rows, cells, strict=True)]
    note = "Blue: better than the mean of the category; orange: worse. Small: events."
    table = tag("div", draw_table(heads, lines, "mx"), class_="scroll")
    return [draw_section("Brier score by category", table, note=note, name="categories")]


def _show_place(value: float | None, place: float | None, title: str = "") -> Html:
    """A number on a colour, from 0 for the worst to 1 for the best."""
    style = "hx" if place is None or value != value else heat_class(place)
    about = f"{title}{show_score(value, 4)}"
    return tag("span", show_score(value), class_=style, title=about)


def _draw_metrics(board: Board) -> Html:
    """Every metric of every row, coloured by rank."""
    metrics = [
        name
        for name in list_metrics(board.results)
        if any(row.record[name] is not None for row in board.rows)
    ]
    last, lines = max(len(board.ranked) - 1, 1), []
    for row in board.rows:
        cells: list[str] = [_name_of(row)]
        for name in metrics:
            rank = row.record.get(f"{name}_rank")
            place, title = (1 - (rank - 1) / last, f"rank {rank}: ") if rank else (None, "")
            cells.append(_show_place(row.record[name], place, title))
        lines.append(TableRow(cells, "ref" if row.is_baseline else None))
    heads = [Head(""), *(Head(title_of(name), "c") for name in metrics)]
    table = tag("div", draw_table(heads, lines, "mx"), class_="scroll")
    note = "coloured by rank, blue is best"
    return draw_fold("Every metric", table, note=note, name="every-metric")


# --- Events ---


def _draw_events(shown: Scored) -> Iterator[Html]:
    """The hardest events, and all of them as rows that open."""
    events, rows = shown.events, list(_list_events(shown))
    axis = marks.axis_head(_SHARE, "probability given to it")
    heads = [Head("Brier", "c"), Head("Event"), Head("Came true", "k"), Head("", "g"), axis]
    hardest = []
    for title, row in rows[:_HARDEST]:
        brier, _, won, dots = row.cells
        link = show_link(Link(title, "", row.key))
        hardest.append(TableRow([brier, link, won, "", dots]))
    note = "Dots: the probability that each forecaster gave to what came true; diamond: the market."
    yield draw_section("The hardest events", draw_table(heads, hardest), note=note, name="events")
    categories = sorted({str(row.data["category"]) for _, row in rows} - {""})
    chips = draw_chips("all", "category", [Choice(name, name) for name in categories], "seg")
    orders = [("-brier", "hardest first"), ("brier", "easiest first"), ("closed", "by time")]
    titles = [tag("span", text) for text in ("Brier", "Event", "Came true", "Given to it, 0 to 1")]
    total = len(events.ids)
    kept = f"All {total} events" if len(rows) == total else f"{len(rows)} of {total} events"
    bar = draw_bar("all", "events", chips, orders=orders)
    content = bar, draw_rows("all", titles, [row for _, row in rows], "event")
    yield draw_fold(kept, *content, note="hardest first; a row opens to its options and scores")


def _list_events(shown: Scored) -> Iterator[tuple[str, Row]]:
    """Title and row of the events with the highest mean Brier scores, as many as a page holds."""
    events, (scored, market, _) = shown.events, shown.split()
    counts = np.bincount(scored.forecasts.event)
    means = np.bincount(scored.forecasts.event, scored.values["brier"]) / counts
    order = np.argsort(-means, kind="stable")
    spent = np.cumsum((counts + 4 * np.minimum(events.sizes, _OPTIONS) + 8)[order])
    order = order[: max(1, int(np.searchsorted(spent, _CELLS)))]
    for at, key in zip(order.tolist(), pages.make_keys(events.ids[order]), strict=True):
        own, options = scored.of_event(at), [printable(name, 60) for name in events.names(at)]
        won = events.outcome[events.slots(np.array([at]))] > 0
        p = own.forecasts.p.reshape(-1, len(options))
        price = np.append(market.of_event(at).forecasts.p, np.full(len(options), np.nan))
        price = price[: len(options)]
        names = [printable(own.forecasts.names[who], 40) for who in own.forecasts.forecaster]
        title = show_text(events.title[at] or events.ids[at], 200)
        came = ", ".join(name for name, true in zip(options, won, strict=True) if true) or "none"
        dots = Html("<span></span>")
        if won.any():
            given = zip(names, p[:, won].mean(axis=1).tolist(), strict=True)
            dots = marks.draw_dots(_SHARE, given, float(price[won].mean()))
        category, brier = printable(events.category[at], 60), float(means[at])
        closed = format_time(float(events.closed[at])) or ""
        cells = [
            _show_brier(brier),
            tag("span", title, " ", soft(category), class_="qt"),
            tag("span", show_text(came, 120), class_="why"),
            dots,
        ]
        data = {"category": category, "brier": f"{brier:.6f}", "closed": closed}
        scores = sorted(zip(own.values["brier"].tolist(), names, strict=True))[:_SCORES]
        listed = " · ".join(f"{name} {show_score(value)}" for value, name in scores)
        texts = [
            ("Options", _draw_options(options, won, p, price)),
            ("Brier scores, the best first", listed),
        ]
        foot = soft(f"id {show_text(events.ids[at], 200)}")
        inside = draw_inside(key, [("Closed", closed[:16].replace("T", " "))], texts, foot)
        yield title, Row(key, cells, data, inside)


def _show_brier(value: float) -> Html:
    """A Brier score on its colour, 0.5 and above being the worst."""
    style = f"chip {heat_class(1 - 2 * value)}"
    return tag("span", show_score(value, 2), class_=style, title=show_score(value, 4))


def _draw_options(options: Sequence[str], won: Any, p: Floats, price: Floats) -> Html:
    """The likeliest options and those that came true."""
    columns = price, p.mean(axis=0), p.min(axis=0), p.max(axis=0)
    heads = [Head("Option"), *(Head(text, "n") for text in ("Market", "Mean", "Lowest", "Highest"))]
    lines = []
    for at in sorted(np.lexsort((-columns[1], ~won))[:_OPTIONS].tolist()):
        name = tag("b", f"{options[at]} ✓") if won[at] else options[at]
        lines.append(TableRow([name, *(show_score(float(column[at]), 2) for column in columns)]))
    return draw_table(heads, lines)
