"""Results as lines and tables: the board and what it rests on; with `full`, every table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from forecasteval.common.errors import InputError, grouped_names, printable
from forecasteval.common.report import Report, Table, format_signature, format_text, show_interval, show_number

_FULL_ONLY: Final = frozenset({"adjusted_brier", "spherical", "weighted_brier"})
FEW: Final = 5  # events, below which chance makes the rank
SHOWN: Final = 30  # forecasters on the screen
_TITLES: Final = {
    "brier": "Brier", "adjusted_brier": "Adjusted Brier", "log": "Log", "spherical": "Spherical", "ece": "ECE",
    "irt_ability": "IRT ability", "weighted_brier": "Weighted Brier", "bradley_terry": "Bradley-Terry",
}  # fmt: skip
_GROUPS: Final = {"by_category": "Brier by category", "by_time_to_close": "Brier by time to close"}
Row = tuple[str, Mapping[str, Any]]


def format_report(results: Mapping[str, Any], sort: str | None = None, full: bool = False, items: bool = False) -> str:
    """The results as a screen shows them.

    `sort` is the metric that orders the forecasters, best first; those without a value come last; None: that of
    "ranked_by". Raises InputError for any other name.
    """
    return format_text(report_blocks(results, sort, full, items))


def report_blocks(
    results: Mapping[str, Any], sort: str | None = None, full: bool = False, items: bool = False
) -> Report:
    """The report's lines and tables."""
    metrics = list(results["rank_correlation"]["overall"]["spearman"])
    if sort is not None and sort not in metrics:
        raise InputError("--sort", f"expected one of {', '.join(metrics)}", printable(sort, 60))
    by, why = sort or results["ranked_by"]["metric"], "" if sort else f": {results['ranked_by']['why']}"
    rows, count = _rows(results, by, full), len(results["forecasters"]) + len(results["unranked"])
    board, told = make_board(results, by, full)
    against = f", dataset {printable(results['dataset'])}" if results.get("dataset") else ""
    classes = ", ".join(f"{count} {name}" for name, count in results["event_classes"].items() if count)
    report: Report = [
        f"Prophet Arena  {printable(results.get('name', ''))}".rstrip(),
        f"{results['n_events']} events ({classes}), {count} forecasters, {results['n_forecasts']} forecasts{against}",
        f"Ranked by {title_of(by)}{why}",
        "",
        board,
        *told,
    ]
    if full:
        report += [block for part in _tables(results, rows, metrics) for block in ("", *part)]
    if items:
        report += ["", *_items(results.get("items", ()))]
    return [*report, *_notes(results, full)]


def make_board(results: Mapping[str, Any], by: str, full: bool = False) -> tuple[Table, list[str]]:
    """The forecasters by one metric, best first (with `full` all of them), and what must be known to read that."""
    ranked, unranked = results["forecasters"], results["unranked"]
    matrix = results["rank_correlation"]["overall"]
    told = []
    if not full and len(ranked) > SHOWN:
        told += [f"… {len(ranked) - SHOWN} more: --full"]
    few = sum(row["n_events"] < FEW for row in ranked.values())
    if few and results["n_events"] >= FEW:
        told += ["", f"{few} of the ranked have fewer than {FEW} events; --min-events {FEW} lists them apart"]
    if unranked:
        least = results["signature"]["min_events"]
        told += ["", f"Not ranked, fewer than {least} events: {grouped_names(sorted(unranked))}"]
    board = _board(_rows(results, by, full), by, list(matrix["spearman"]))
    return board, [*told, "", *_agreement_line(matrix["kendall"])]


def _rows(results: Mapping[str, Any], by: str, full: bool) -> list[Row]:
    """The forecasters that are shown, then market and crowd."""
    ranked = results["forecasters"]
    order = sorted(ranked, key=lambda name: (ranked[name][f"{by}_rank"] is None, ranked[name][f"{by}_rank"] or 0, name))
    base = [(f"({name})", row) for name, row in results["baselines"].items() if row["n_events"]]
    return [*((name, ranked[name]) for name in (order if full else order[:SHOWN])), *base]


def _board(rows: Sequence[Row], by: str, metrics: Sequence[str]) -> Table:
    """The chosen metric with all that tells how sure it is, then others, without those that no row has."""
    others = [metric for metric in metrics if metric != by and metric not in _FULL_ONLY]
    others = [metric for metric in others if any(row[metric] is not None for _, row in rows)]
    body = [
        [
            str(row.get(f"{by}_rank") or ""), printable(name, 40), str(row["n_events"]), f"{row['coverage']:.0%}",
            show_number(row[by]), show_interval(row.get(f"{by}_interval")), _ranks(row.get(f"{by}_rank_interval")),
            show_number(row.get(f"{by}_best"), 2), show_number(row.get(f"{by}_beats_next"), 2),
            *(show_number(row[metric]) for metric in others),
        ]
        for name, row in rows
    ]  # fmt: skip
    header = ["Rank", "Forecaster", "Events", "Coverage", title_of(by), "95% interval", "Rank 95%", "P(best)"]
    header += ["Beats next", *map(title_of, others)]
    return Table(header, body, "><" + ">" * (len(header) - 2))


def _ranks(interval: Sequence[int] | None) -> str:
    return f"{interval[0]}–{interval[1]}" if interval else "–"


def _agreement_line(matrix: Mapping[str, Mapping[str, float | None]]) -> list[str]:
    pairs = [
        (value, one, other)
        for at, (one, row) in enumerate(matrix.items())
        for other, value in list(row.items())[at + 1 :]
        if value is not None
    ]
    if not pairs:
        return []
    values = sorted(value for value, _, _ in pairs)
    least, one, other = min(pairs)
    return [
        f"Rank agreement of the metrics (Kendall): median {values[len(values) // 2]:.2f}, least {least:.2f} "
        f"({title_of(one)} and {title_of(other)})"
    ]


# --- With --full ---


def _tables(results: Mapping[str, Any], rows: Sequence[Row], metrics: Sequence[str]) -> list[Report]:
    tables: list[Report] = [
        ["Every metric, ranks in brackets", _table(rows, metrics, _ranked)],
        [
            "95% intervals (bootstrap over events; returns: bootstrap-t; adjusted Brier, ability: clustered errors)",
            _table(rows, [m for m in metrics if any(row.get(f"{m}_interval") for _, row in rows)],
                   lambda row, m: show_interval(row.get(f"{m}_interval"))),
        ],
    ]  # fmt: skip
    means = list(next(iter(rows))[1]["against"].get("crowd", {})) if rows else []
    for base in results["baselines"]:
        if results["baselines"][base]["n_events"]:
            told = [(name, row["against"][base]) for name, row in rows if base in row["against"]]
            cells = _table(told, means, lambda row, m: _difference(row[m]))
            tables.append([f"Difference to the {base} on the same events, with its 95% interval", cells])
    tables.append(_decomposition(rows))
    tables += [_groups(results[key], rows, title) for key, title in _GROUPS.items() if results[key]]
    for kind, what in (("spearman", "Spearman"), ("kendall", "Kendall")):
        matrix = results["rank_correlation"]["overall"][kind]
        body = [[title_of(one), *(show_number(matrix[one][other], 3) for other in metrics)] for one in metrics]
        shown = Table(["", *map(title_of, metrics)], body, "<" + ">" * len(metrics))
        tables.append([f"Rank agreement ({what}), 1 where two metrics rank alike", shown])
    return tables


def _decomposition(rows: Sequence[Row]) -> Report:
    body = [
        [printable(name, 40), show_number(row["one_minus_brier"]), show_number(row["brier_skill"]),
         *(show_number(value) for value in row["decomposition"].values())]
        for name, row in rows
    ]  # fmt: skip
    parts = ["Reliability", "Resolution", "Uncertainty", "Within bins", "Mean square"]
    table = Table(["Forecaster", "1 - Brier", "Skill", *parts], body, "<" + ">" * 7)
    title = "1 - Brier, skill against the crowd; reliability - resolution + uncertainty + within = mean square"
    return [title, table]


def _groups(groups: Mapping[str, Any], rows: Sequence[Row], title: str) -> Report:
    names = [name for name, _ in rows if any(name in group["forecasters"] for group in groups.values())]
    body = [
        [printable(name, 40), *(_brier(group["forecasters"].get(name)) for group in groups.values())] for name in names
    ]
    header = ["Forecaster", *(f"{printable(name, 30)} ({group['n_events']})" for name, group in groups.items())]
    return [f"{title} (events)", Table(header, body, "<" + ">" * len(groups))]


def _ranked(row: Mapping[str, Any], metric: str) -> str:
    rank = row.get(f"{metric}_rank")
    return show_number(row[metric]) + (f" ({rank})" if rank else "")


def _table(rows: Sequence[Row], metrics: Sequence[str], cell: Any) -> Table:
    body = [[printable(name, 40), *(cell(row, metric) for metric in metrics)] for name, row in rows]
    return Table(["Forecaster", *map(title_of, metrics)], body, "<" + ">" * len(metrics))


def _difference(found: Mapping[str, Any]) -> str:
    return "–" if found["difference"] is None else f"{found['difference']:+.4f} {show_interval(found['interval'])}"


def _brier(row: Mapping[str, Any] | None) -> str:
    return f"{show_number(row['brier'])} ({row['n_events']})" if row else "–"


def _items(items: Sequence[Mapping[str, Any]]) -> Report:
    metrics = [name for name in (items[0] if items else ()) if name in _TITLES or name.startswith("return_")]
    body = [
        [printable(item["id"], 40), printable(item["forecaster"], 40), item["time"] or "–",
         *(show_number(item[metric]) for metric in metrics)]
        for item in items
    ]  # fmt: skip
    return [Table(["Event", "Forecaster", "Time", *map(title_of, metrics)], body, "<<<" + ">" * len(metrics))]


def _notes(results: Mapping[str, Any], full: bool) -> list[str]:
    lines = [""]
    for entry in results["excluded"]:
        names = grouped_names(entry["names"], entry["count"])
        lines.append(f"excluded: {entry['what']}s, {printable(entry['reason'])}: {names}")
    for name, fit in results["fits"].items():
        if fit and full:
            state = "converged" if fit["converged"] else "NOT converged"
            lines.append(
                f"fit of {name}: {state} after {fit['iterations']} iterations, gradient {fit['gradient_norm']:.1e}, "
                f"log-likelihood {fit['log_likelihood']:.4f}"
            )
    lines += [f"warning: {text}" for text in results["warnings"]]
    return [*lines, *([""] if len(lines) > 1 else []), format_signature(results["signature"])]


def title_of(metric: str) -> str:
    return _TITLES.get(metric) or "Return " + metric.removeprefix("return_")
