"""What a page shows of a result: the ranking, calibration, returns over time, how metrics agree, what was left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from forecasteval.common.charts import (
    Span,
    draw_lines,
    draw_matrix,
    draw_reliability,
    draw_spans,
    label_margin,
)
from forecasteval.common.errors import printable
from forecasteval.common.pages import (
    MOST,
    Block,
    Chart,
    Page,
    Panel,
    Section,
    cut_table,
    signature_key,
)
from forecasteval.common.report import Table, format_signature, show_interval, show_number

from .report import make_board, title_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CHARTED: Final = 40  # forecasters of the forest plot
_SMALL: Final = 12  # reliability diagrams
_LINES: Final = 6  # forecasters whose returns are drawn
_POINTS: Final = 60  # of a line
Row = Mapping[str, Any]


def make_page(results: Mapping[str, Any]) -> Page:
    """The page of a result of `ProphetArenaEvaluator`."""
    by = results.get("ranked_by", {}).get("metric", "brier")
    ranked = results["forecasters"]
    order = [row["name"] for row in results["ranking"] if row["name"] in ranked]
    excluded = sum(entry["count"] for entry in results["excluded"])
    figures = [
        ("Events", str(results["n_events"]), ""),
        ("Forecasters", str(len(ranked)), f"{len(results['unranked'])} not ranked" if results["unranked"] else ""),
        ("Forecasts", str(results["n_forecasts"]), ""),
        ("Left out", str(excluded), ""),
    ]
    board, told = make_board(results, by, full=True)
    sections = [
        Section("Ranking", [_ranking_chart(results, order, by), *cut_table(board), *filter(None, told)]),
        Section("Calibration", [_reliability_chart(results, order), *_decomposition(results, order)]),
        *_returns(results, order),
        *_agreement(results),
        *_groups(results, order),
        Section("Fits and what was left out", _remarks(results)),
    ]
    why = f": {results['ranked_by']['why']}" if "ranked_by" in results else ""
    against = f", {printable(results['dataset'], 120)}" if results.get("dataset") else ""
    lead = f"Prophet Arena, {results['n_events']} events{against}, ranked by {title_of(by)}{why}"
    signature = results["signature"]
    name = printable(results.get("name", "Prophet Arena"), 120)
    return Page(name, lead, figures, sections, format_signature(signature), signature_key(signature))


# --- Ranking ---


def _ranking_chart(results: Mapping[str, Any], order: Sequence[str], by: str) -> Chart:
    """The ranking metric with its interval, the rank intervals where they are known; market and crowd below."""
    ranked = results["forecasters"]
    base = {f"({name})": row for name, row in results["baselines"].items() if row.get(by) is not None}
    rows: dict[str, Row] = {**{name: ranked[name] for name in order[:_CHARTED]}, **base}
    spans = [Span(name, row.get(by), row.get(f"{by}_interval"), int(name in base)) for name, row in rows.items()]
    ranks = [Span(name, row.get(f"{by}_rank"), row.get(f"{by}_rank_interval")) for name, row in rows.items()]
    sure = any(span.interval for span in ranks)
    told = f"{title_of(by)} with 95% intervals."
    if base:
        told += " Diamonds: market prices and the mean forecast, which are not ranked."
    if sure:
        told += " Right: the rank and its 95% interval."
    if len(order) > _CHARTED:
        told += f" The first {_CHARTED} of {len(order)} forecasters."
    cells = [
        [printable(name, 60), str(row.get(f"{by}_rank") or "–"), show_number(row.get(by)),
         show_interval(row.get(f"{by}_interval")), _ranks(row.get(f"{by}_rank_interval")),
         show_number(row.get(f"{by}_best"), 2)]
        for name, row in rows.items()
    ]  # fmt: skip
    panels = [Panel("", lambda ax: draw_spans(ax, spans, title_of(by)))]
    if sure:
        panels.append(Panel("", lambda ax: draw_spans(ax, [span._replace(name="") for span in ranks], "rank")))
    return Chart(
        "ranking", f"Ranking by {title_of(by)}", told, panels,
        Table(["Forecaster", "Rank", title_of(by), "95% interval", "Rank 95%", "P(best)"], cells, "<>>>>>"),
        width=3.2 if sure else 4.4, height=0.4 + 0.26 * len(rows),
        margin=label_margin(list(rows)), columns=2,
    )  # fmt: skip


def _ranks(interval: Sequence[int] | None) -> str:
    return f"{interval[0]}–{interval[1]}" if interval else "–"


# --- Calibration ---


def _reliability_chart(results: Mapping[str, Any], order: Sequence[str]) -> Chart:
    tables = results["reliability"]
    shown = [name for name in order if name in tables][:_SMALL]
    panels = [Panel(name, _drawing(tables[name])) for name in shown]
    cells = [
        [printable(name, 60), f"{row['low']:.1f}–{row['high']:.1f}", str(row["n"]),
         show_number(row["mean_probability"], 3), show_number(row["frequency"], 3)]
        for name in shown for row in tables[name]
    ]  # fmt: skip
    told = (
        "How often options came true (upwards) that were given a probability (to the right). On the dashed line both "
        "are equal; below it the forecaster was too sure. The larger a dot, the more probabilities are in it."
    )
    if len(shown) < len(order):
        told += f" The first {len(shown)} of {len(order)} forecasters."
    return Chart(
        "reliability", "Reliability", told, panels,
        Table(["Forecaster", "Probability", "n", "Mean probability", "Came true"], cells, "<>>>>"),
        width=1.75, height=1.75, margin=0.5, right=0.1, columns=4,
    )  # fmt: skip


def _drawing(bins: Sequence[Row]) -> Callable[[Axes], object]:
    points = [
        (row["mean_probability"], row["frequency"], row["n"]) for row in bins if row["mean_probability"] is not None
    ]
    return lambda ax: draw_reliability(ax, points)


def _decomposition(results: Mapping[str, Any], order: Sequence[str]) -> list[Block]:
    """Reliability, resolution and uncertainty of every forecaster, where the result has them."""
    rows = [(name, parts) for name in order if (parts := results["forecasters"][name].get("decomposition"))]
    if not rows:
        return []
    keys = list(rows[0][1])
    body = [[printable(name, 60), *(show_number(parts[key]) for key in keys)] for name, parts in rows]
    table = Table(["Forecaster", *(key.replace("_", " ").capitalize() for key in keys)], body, "<" + ">" * len(keys))
    return ["Mean square = reliability − resolution + uncertainty + within bins.", *cut_table(table)]


# --- Returns ---


def _returns(results: Mapping[str, Any], order: Sequence[str]) -> list[Section]:
    curves = results["return_curve"]
    shown = [name for name in order if name in curves][:_LINES]
    metrics = [key for key in (curves[shown[0]] if shown else {}) if key.startswith("return_")]
    if not metrics:
        return []
    panels = [Panel(f"γ = {metric.removeprefix('return_')}", _curves(curves, shown, metric)) for metric in metrics]
    cells = [
        [printable(name, 60), str(curves[name]["n_events"][-1]), *(show_number(curves[name][m][-1]) for m in metrics)]
        for name in order if name in curves
    ]  # fmt: skip
    told = (
        "The mean payoff of one dollar a priced event so far, by closing time, for each risk aversion γ; above the "
        "dashed line bets earned money."
    )
    if len(shown) < len(cells):
        told += f" The first {len(shown)} of {len(cells)} forecasters; the table has all of them."
    chart = Chart(
        "returns", "Returns over closing time", told, panels,
        Table(["Forecaster", "Priced events", *map(title_of, metrics)], cells, "<" + ">" * (len(metrics) + 1)),
        width=4.8, height=1.9, margin=0.75, right=label_margin(shown) + 0.2,
    )  # fmt: skip
    return [Section("Returns", [chart])]


def _curves(curves: Mapping[str, Any], names: Sequence[str], metric: str) -> Callable[[Axes], object]:
    lines = []
    for name in names:
        times, values = curves[name]["closed"], curves[name][metric]
        known = [(datetime.fromisoformat(time), value) for time, value in zip(times, values, strict=True) if time]
        step = -(-len(known) // _POINTS) or 1
        points = [*known[:-1:step], *known[-1:]]
        lines.append((name, [time for time, _ in points], [value for _, value in points]))

    ends = sorted(time for _, times, _ in lines for time in times)

    def draw(ax: Axes) -> None:
        ax.axhline(1, color="#757575", linewidth=1, linestyle=(0, (4, 3)))
        draw_lines(ax, lines, ("", "mean payoff"))
        if ends:
            ticks: Any = [ends[0] + (ends[-1] - ends[0]) * part / 3 for part in range(4)]
            ax.set_xticks(ticks, [f"{tick:%Y-%m-%d}" for tick in ticks])

    return draw


# --- Agreement, groups, remarks ---


def _agreement(results: Mapping[str, Any]) -> list[Section]:
    matrix = results["rank_correlation"]["overall"]["spearman"]
    names = [metric for metric in matrix if any(matrix[metric][other] is not None for other in matrix)]
    if len(names) < 2:
        return []
    titles = [title_of(metric) for metric in names]
    values = [[matrix[one][other] for other in names] for one in names]
    cells = [[title, *(show_number(value, 3) for value in row)] for title, row in zip(titles, values, strict=True)]
    told = "Spearman's rank correlation of the forecasters by two metrics: 1 where both rank alike, −1 the other way."
    chart = Chart(
        "agreement", "Agreement of the metrics", told, [Panel("", lambda ax: draw_matrix(ax, titles, values))],
        Table(["", *titles], cells, "<" + ">" * len(titles)),
        width=0.46 * len(names), height=0.3 * len(names), margin=1.4, bottom=1.1,
    )  # fmt: skip
    return [Section("Agreement", [chart])]


def _groups(results: Mapping[str, Any], order: Sequence[str]) -> list[Section]:
    """Brier by category, and by time to closing where the result has it."""
    sections = []
    for key, title in (("by_category", "By category"), ("by_time_to_close", "By time to closing")):
        groups = results.get(key)
        if not groups:
            continue
        body = [
            [printable(name, 60), *(_brier(group["forecasters"].get(name)) for group in groups.values())]
            for name in order
        ]
        header = ["Forecaster", *(f"{printable(name, 30)} ({group['n_events']})" for name, group in groups.items())]
        told = "Brier score and events, by forecaster; events in brackets."
        sections.append(Section(title, [told, *cut_table(Table(header, body, "<" + ">" * len(groups)))]))
    return sections


def _brier(row: Row | None) -> str:
    return f"{show_number(row['brier'])} ({row['n_events']})" if row else "–"


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
        blocks.append(Table(["Model", "Converged", "Iterations", "Gradient", "Log-likelihood"], fits, "<<>>>"))
    if left_out:
        blocks.append(Table(["Left out", "Reason", "Count", "Which"], left_out, "<<><"))
    return [*blocks, *(f"warning: {printable(text)}" for text in results["warnings"])] or ["Nothing was left out."]
