"""What a page shows of a result: the ranking, calibration, returns over time, how metrics agree, what was left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from forecasteval.common.charts import Axis, Chart, Line, Panel, insert_column, number_axis
from forecasteval.common.errors import printable
from forecasteval.common.pages import CHARTED, MOST, Block, Page, Section, cut_table
from forecasteval.common.report import Interval, Shade, Table, format_signature, make_table, plain_table, show_number

from .event_rows import EventData, show_events
from .metrics import find_metric
from .report import DECOMPOSITION, board_rows, group_table, make_board, title_of

_SMALL: Final = 12  # reliability diagrams
_LINES: Final = 8  # forecasters whose returns are drawn in colour
_POINTS: Final = 60  # of a line
_GROUPS: Final = 12  # columns of a table
Row = Mapping[str, Any]


def make_page(results: Mapping[str, Any], shown: EventData | None = None) -> Page:
    """The page of a result of `ProphetArenaEvaluator`; `shown` are its events, if there are not too many forecasts."""
    by = results.get("ranked_by", {}).get("metric", "brier")
    ranked = results["forecasters"]
    order = [row["name"] for row in results["ranking"] if row["name"] in ranked]
    excluded = sum(entry["count"] for entry in results["excluded"])
    figures = [
        ("Events", str(results["n_events"]), ""),
        ("Forecasters", str(len(ranked)), f"{len(results['provisional'])} provisional" * bool(results["provisional"])),
        ("Forecasts", str(results["n_forecasts"]), ""),
        ("Left out", str(excluded), ""),
    ]
    board, messages = make_board(results, by, full=True)
    sections = [
        Section("Ranking", [_ranking_chart(results, board, by), *filter(None, messages)]),
        Section("Calibration", [_reliability_chart(results, order), *_decomposition(results, order)]),
        *_returns(results, order),
        *_agreement(results),
        *_groups(results, order),
        *([Section("Events", show_events(shown, order))] if shown else []),
        Section("Fits and what was left out", _remarks(results)),
    ]
    why = f": {results['ranked_by']['why']}" if "ranked_by" in results else ""
    against = f", {printable(results['dataset'], 120)}" if results.get("dataset") else ""
    lead = f"Prophet Arena, {results['n_events']} events{against}, ranked by {title_of(by)}{why}"
    signature = results["signature"]
    name = printable(results.get("name", "Prophet Arena"), 120)
    return Page(name, lead, figures, sections, format_signature(signature))


# --- Ranking ---


def _ranking_chart(results: Mapping[str, Any], board: Table, by: str) -> Chart:
    """The report's ranking with its intervals drawn; market and crowd stand below as rings."""
    shown = board._replace(rows=board.rows[:MOST])
    base = [row for row in results["baselines"].values() if row["n_events"]]
    every = [row for _, row in board_rows(results, by, full=True)]
    rows = [(row, int(at >= len(every) - len(base))) for at, row in enumerate(every)][: len(shown.rows)]
    scores = [Interval(row.get(by), row.get(f"{by}_interval"), None, group) for row, group in rows]
    ranks = [Interval(row.get(f"{by}_rank"), row.get(f"{by}_rank_interval"), None, group) for row, group in rows]
    table = insert_column(shown, "95% interval", title_of(by), scores)
    description = f"{title_of(by)}{', lower is better,' * (not find_metric(by).higher_is_better)} with 95% intervals."
    if any(mark.bounds for mark in ranks):
        table = insert_column(table, "Rank 95%", "rank", ranks)
    if any(mark.group and mark.value is not None for mark in scores):
        description += " Rings: market prices and the mean forecast, which are not ranked."
    if len(shown.rows) < len(board.rows):
        description += f" The first {MOST} of {len(board.rows)} rows."
    return Chart("ranking", f"Ranking by {title_of(by)}", description, table)


# --- Calibration ---


def _reliability_chart(results: Mapping[str, Any], order: Sequence[str]) -> Chart:
    tables = results["reliability"]
    shown = [name for name in order if name in tables][:_SMALL]
    axis = Axis("", [(0.0, "0"), (0.5, "0.5"), (1.0, "1")])
    lines = [_reliability_line(name, tables[name]) for name in shown]
    panels = [
        Panel(printable(line.name, 24), [line], axis, axis, "diagonal", named=False, height=140) for line in lines
    ]
    cells = [
        [printable(name, 60), f"{row['low']:.1f}–{row['high']:.1f}", str(row["n"]),
         show_number(row["mean_probability"], 3), show_number(row["frequency"], 3)]
        for name in shown for row in tables[name]
    ]  # fmt: skip
    description = (
        "How often options came true (upwards) that were given a probability (to the right). On the dashed line both "
        "are equal; below it the probabilities were too high. The larger a dot, the more probabilities are in it."
    )
    if len(shown) < len(order):
        description += f" The first {len(shown)} of {len(order)} forecasters."
    return Chart(
        "reliability", "Reliability", description,
        plain_table(["Forecaster", "Probability", "n", "Mean probability", "Came true"], cells, "<>>>>"), panels,
    )  # fmt: skip


def _reliability_line(name: str, bins: Sequence[Row]) -> Line:
    known = [row for row in bins if row["mean_probability"] is not None]
    most = max([1, *(row["n"] for row in known)])
    points = [(row["mean_probability"], row["frequency"]) for row in known]
    return Line(name, points, [row["n"] / most for row in known])


def _decomposition(results: Mapping[str, Any], order: Sequence[str]) -> list[Block]:
    """Reliability, resolution and uncertainty of every forecaster."""
    table = make_table(DECOMPOSITION, [(name, results["forecasters"][name]) for name in order])
    return ["Mean square = reliability − resolution + uncertainty + within bins.", *cut_table(table)] if order else []


# --- Returns ---


def _returns(results: Mapping[str, Any], order: Sequence[str]) -> list[Section]:
    curves = results["return_curve"]
    shown = [name for name in order if name in curves]
    metrics = [key for key in (curves[shown[0]] if shown else {}) if key.startswith("return_")]
    if not metrics:
        return []
    panels = [_return_panel(curves, shown[:CHARTED], metric) for metric in metrics]
    cells = [
        [printable(name, 60), str(curves[name]["n_events"][-1]), *(show_number(curves[name][m][-1]) for m in metrics)]
        for name in shown[:MOST]
    ]  # fmt: skip
    description = (
        "The mean payoff of one dollar a priced event so far, by closing time, for each risk aversion γ; above the "
        f"dashed line bets earned money. The first {_LINES} of the ranking are in colour; the table has all of them."
    )
    table = plain_table(["Forecaster", "Priced events", *map(title_of, metrics)], cells, "<" + ">" * (len(metrics) + 1))
    return [Section("Returns", [Chart("returns", "Returns over closing time", description, table, panels)])]


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


# --- Agreement, groups, remarks ---


def _agreement(results: Mapping[str, Any]) -> list[Section]:
    matrix = results["rank_correlation"]["overall"]["spearman"]
    names = [metric for metric in matrix if any(matrix[metric][other] is not None for other in matrix)]
    if len(names) < 2:
        return []
    titles = [title_of(metric) for metric in names]
    rows: list[Any] = [
        [title, *(Shade(matrix[one][other]) for other in names)] for title, one in zip(titles, names, strict=True)
    ]
    description = (
        "Spearman's rank correlation of the forecasters by two metrics: 1 where both rank alike, −1 the other way."
    )
    table = plain_table(["", *titles], rows, "<" + ">" * len(titles))
    return [Section("Agreement", [Chart("agreement", "Agreement of the metrics", description, table)])]


def _groups(results: Mapping[str, Any], order: Sequence[str]) -> list[Section]:
    """Brier by category."""
    groups = results["by_category"]
    if not groups:
        return []
    largest = sorted(groups, key=lambda name: -groups[name]["n_events"])[:_GROUPS]
    table = group_table({name: group for name, group in groups.items() if name in largest}, order)
    description = "Brier score and events, by forecaster; events in brackets."
    description += f" The {_GROUPS} largest of {len(groups)}." if len(groups) > _GROUPS else ""
    return [Section("By category", [description, *cut_table(table)])]


def _remarks(results: Mapping[str, Any]) -> list[Block]:
    fits = [
        [name.replace("_", " "), "yes" if fit["converged"] else "NO", str(fit["iterations"]),
         f"{fit['gradient_norm']:.1e}", show_number(fit["log_likelihood"])]
        for name, fit in results["fits"].items() if fit
    ]  # fmt: skip
    left_out = [
        [printable(entry["what"]), printable(entry["reason"], 200), str(entry["count"]),
         ", ".join(printable(name, 60) for name in entry["names"][:5]) + (", …" if entry["count"] > 5 else "")]
        for entry in results["excluded"][:MOST]
    ]  # fmt: skip
    blocks: list[Block] = []
    if fits:
        blocks.append(plain_table(["Model", "Converged", "Iterations", "Gradient", "Log-likelihood"], fits, "<<>>>"))
    if left_out:
        blocks.append(plain_table(["Left out", "Reason", "Count", "Which"], left_out, "<<><"))
    return [*blocks, *(f"warning: {printable(text)}" for text in results["warnings"])] or ["Nothing was left out."]
