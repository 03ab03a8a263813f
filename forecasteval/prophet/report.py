"""Results as lines and tables: leaderboard, intervals, rank agreement, exclusions, fits, signature."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from forecasteval.common.errors import InputError, printable
from forecasteval.common.report import Report, Table, format_signature, format_text, show_interval, show_number

_TITLES: Final = {
    "brier": "Brier", "log": "Log", "spherical": "Spherical", "ece": "ECE", "irt_ability": "IRT ability",
    "weighted_brier": "Weighted Brier", "bradley_terry": "Bradley-Terry",
}  # fmt: skip


def format_report(results: Mapping[str, Any], sort: str = "brier") -> str:
    """The results as a screen shows them: leaderboard, intervals, rank agreement, exclusions, fits, signature.

    `sort` is the metric that orders the forecasters, best first; those without a value come last. Raises InputError
    for any other name.
    """
    return format_text(report_blocks(results, sort))


def report_blocks(results: Mapping[str, Any], sort: str = "brier") -> Report:
    """The report's lines and tables."""
    metrics = list(results["rank_correlation"]["overall"]["spearman"])
    if sort not in metrics:
        raise InputError("--sort", f"expected one of {', '.join(metrics)}", printable(sort, 60))
    ranked, unranked = results["forecasters"], results["unranked"]
    rank = f"{sort}_rank"
    order = sorted(ranked, key=lambda name: (ranked[name][rank] is None, ranked[name][rank] or 0, name))
    rows = [(name, ranked[name]) for name in order]
    rows += [(f"({name})", row) for name, row in results["baselines"].items() if row["n_events"]]
    against = f", dataset {printable(results['dataset'])}" if results.get("dataset") else ""
    classes = ", ".join(f"{count} {name}" for name, count in results["event_classes"].items() if count)
    report: Report = [
        f"Prophet Arena  {printable(results.get('name', ''))}".rstrip(),
        f"{results['n_events']} events ({classes}), {len(ranked) + len(unranked)} forecasters, "
        f"{results['n_forecasts']} forecasts{against}",
        "",
        f"Leaderboard by {_title(sort)}, ranks in brackets",
        "",
        _values_table(rows, [sort, *(metric for metric in metrics if metric != sort)], ranks=True),
    ]
    if unranked:
        least = results["signature"]["min_events"]
        report += ["", f"Not ranked, fewer than {least} events: {len(unranked)}", ""]
        report.append(_values_table(sorted(unranked.items()), metrics, ranks=False))
    report += ["", f"95 % intervals (bootstrap over events; ability: ± 1.96 standard errors), by {_title(sort)}", ""]
    report.append(_intervals_table(rows, metrics, f"{sort}_beats_next"))
    for kind, what in (("spearman", "Spearman"), ("kendall", "Kendall")):
        matrix = results["rank_correlation"]["overall"][kind]
        cells = [[_title(one), *(show_number(matrix[one][other], 3) for other in metrics)] for one in metrics]
        report += ["", f"Rank agreement ({what}), 1 where two metrics rank alike", ""]
        report.append(Table(["", *map(_title, metrics)], cells, "<" + ">" * len(metrics)))
    return [*report, "", *_notes(results)]


def _values_table(rows: Iterable[tuple[str, Mapping[str, Any]]], metrics: Sequence[str], ranks: bool) -> Table:
    body = []
    for name, row in rows:
        cells = [printable(name, 40), *(str(row[key]) for key in ("n_events", "n_exclusive", "n_priced"))]
        for metric in metrics:
            rank = row.get(f"{metric}_rank") if ranks else None
            cells.append(show_number(row[metric]) + (f" ({rank})" if rank else ""))
        body.append(cells)
    header = ["Forecaster", "Events", "Exclusive", "Priced", *map(_title, metrics)]
    return Table(header, body, "<>>>" + ">" * len(metrics))


def _intervals_table(rows: Sequence[tuple[str, Mapping[str, Any]]], metrics: Sequence[str], beats: str) -> Table:
    shown = [metric for metric in metrics if any(f"{metric}_interval" in row for _, row in rows)]
    body = [
        [printable(name, 40), show_number(row.get(beats), 3), *(show_interval(row.get(f"{m}_interval")) for m in shown)]
        for name, row in rows
    ]
    return Table(["Forecaster", "Beats next", *map(_title, shown)], body, "<>" + ">" * len(shown))


def _notes(results: Mapping[str, Any]) -> list[str]:
    lines = []
    for entry in results["excluded"]:
        names = ", ".join(entry["names"][:5]) + (", …" if entry["count"] > 5 else "")
        lines.append(f"excluded: {entry['count']} {entry['what']}s, {entry['reason']} ({names})")
    for name, fit in results["fits"].items():
        if fit:
            state = "converged" if fit["converged"] else "NOT converged"
            lines.append(
                f"fit of {name}: {state} after {fit['iterations']} iterations, gradient {fit['gradient_norm']:.1e}, "
                f"log-likelihood {fit['log_likelihood']:.4f}"
            )
    return [*lines, *(f"warning: {text}" for text in results["warnings"]), "", format_signature(results["signature"])]


def _title(metric: str) -> str:
    return _TITLES.get(metric) or "Return " + metric.removeprefix("return_")
