"""Results as lines and tables: the board and what it rests on; with `full`, every table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from forecasteval.common.errors import InputError, grouped_names, printable
from forecasteval.common.report import (
    Column,
    Report,
    Table,
    format_signature,
    format_text,
    make_table,
    show_interval,
    show_number,
)

from .metrics import find_metric

_FULL_ONLY: Final = frozenset({"adjusted_brier", "spherical", "weighted_brier"})
SHOWN: Final = 30  # forecasters on the screen
Record = Mapping[str, Any]
Row = tuple[str, Record]


def title_of(metric: str) -> str:
    return find_metric(metric).title


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
    rows = board_rows(results, by, full)
    board, messages = make_board(results, by, full)
    report: Report = [
        f"Prophet Arena  {printable(results.get('name', ''))}".rstrip(),
        _describe(results),
        f"Ranked by {title_of(by)}{why}",
        "",
        board,
        *messages,
    ]
    if full:
        report += [block for part in _tables(results, rows, metrics) for block in ("", *part)]
    if items:
        report += ["", make_table(_item_columns(results), results.get("items", ()))]
    return [*report, *_notes(results, full)]


def _describe(results: Mapping[str, Any]) -> str:
    """The size of the data in one line."""
    events, clusters = results["n_events"], results["n_clusters"]
    classes = ", ".join(f"{count} {name}" for name, count in results["event_classes"].items() if count)
    series = f" in {clusters} clusters (series)" if clusters < events else ""
    against = f", dataset {printable(results['dataset'])}" if results.get("dataset") else ""
    count = len(results["forecasters"]) + len(results["provisional"])
    return f"{events} events ({classes}){series}, {count} forecasters, {results['n_forecasts']} forecasts{against}"


# --- The board ---


def make_board(results: Mapping[str, Any], by: str, full: bool = False) -> tuple[Table, list[str]]:
    """The forecasters by one metric, best first (with `full` all of them), and what must be known to read that."""
    ranked, provisional = results["forecasters"], results["provisional"]
    messages = []
    if not full and max(len(ranked), len(provisional)) > SHOWN:
        messages += [f"… the first {SHOWN} of {len(ranked)} ranked and {len(provisional)} provisional: --full"]
    if provisional:
        least = results["min_events"]
        messages += ["", f"Provisional, fewer than {least} events, without rank: {len(provisional)} (--min-events)"]
    if by == "adjusted_brier":
        odd = [name for name, row in (ranked | provisional).items() if not 0 <= row[by] <= 1]
        if odd:
            shown = grouped_names(sorted(odd))
            messages += ["", f"Adjusted Brier outside [0, 1], from few or unusual events: {shown}"]
    if by.startswith("return_"):
        odd = [name for name, row in ranked.items() if row[by] is not None and row[f"{by}_rank"] is None]
        if odd:
            messages += ["", f"Not ranked by return, a price in less than 80% of the events: {grouped_names(odd)}"]
    matrix = results["rank_correlation"]["overall"]
    rows = board_rows(results, by, full)
    columns = _board_columns(rows, by, list(matrix["spearman"]))
    return make_table(columns, rows), [*messages, "", *_agreement_line(matrix["kendall"])]


def board_rows(results: Mapping[str, Any], by: str, full: bool) -> list[Row]:
    """The forecasters that are shown, then the provisional, then market and crowd."""
    ranked, sign = results["forecasters"], -find_metric(by).sign
    order = sorted(ranked, key=lambda name: (ranked[name][f"{by}_rank"] is None, ranked[name][f"{by}_rank"] or 0, name))
    few = results["provisional"]
    last = sorted(few, key=lambda name: (few[name][by] is None, sign * (few[name][by] or 0), name))
    base = [(f"({name})", row) for name, row in results["baselines"].items() if row["n_events"]]
    cut = None if full else SHOWN
    return [*((name, ranked[name]) for name in order[:cut]), *((name, few[name]) for name in last[:cut]), *base]


def _number(title: str, cell: Callable[[Any], str], spare: int = 0) -> Column:
    return Column(title, cell, "number", spare=spare)


def _metric_column(metric: str) -> Column:
    return _number(title_of(metric), lambda row: show_number(row[1][metric]))


NAME: Final = Column("Forecaster", lambda row: printable(row[0], 40))


def _board_columns(rows: Sequence[Row], by: str, metrics: Sequence[str]) -> list[Column]:
    """The chosen metric with all that tells how sure it is, then others, without those that no row has."""
    others = [metric for metric in metrics if metric != by and metric not in _FULL_ONLY]
    others = [metric for metric in others if any(row[metric] is not None for _, row in rows)]
    prices = [
        _number("Priced", lambda row: str(row[1]["n_priced"])),
        _number("Spread", lambda row: show_number(row[1]["spread"], 3)),
    ]
    spare = [
        _number("Beats next", lambda row: show_number(row[1].get(f"{by}_beats_next"), 2)),
        *map(_metric_column, others),
        *(prices if any(row["n_priced"] for _, row in rows) else ()),
    ]  # the intervals stay as long as there is room
    return [
        _number("Rank", lambda row: _rank(row[1], by)),
        NAME,
        _number("Events", lambda row: str(row[1]["n_events"]), spare=1),
        _number("Coverage", lambda row: f"{row[1]['coverage']:.0%}", spare=3),
        _metric_column(by),
        _number("95% interval", lambda row: show_interval(row[1].get(f"{by}_interval"))),
        _number("Rank 95%", lambda row: show_ranks(row[1].get(f"{by}_rank_interval"))),
        _number("P(best)", lambda row: show_number(row[1].get(f"{by}_best"), 2), spare=2),
        *(replace(column, spare=4 + place) for place, column in enumerate(spare)),
    ]


def _rank(record: Record, by: str) -> str:
    return str(record.get(f"{by}_rank") or "")


def show_ranks(interval: Sequence[int] | None) -> str:
    """A rank interval: 1–3."""
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
    known = [metric for metric in metrics if any(row.get(f"{metric}_interval") for _, row in rows)]
    tables: list[Report] = [
        ["Every metric, ranks in brackets", _by_metric(rows, metrics, _ranked)],
        [
            "95% intervals (t, clustered by series; returns: tilted market)",
            _by_metric(rows, known, lambda row, metric: show_interval(row.get(f"{metric}_interval"))),
        ],
    ]
    for base, record in results["baselines"].items():
        if record["n_events"]:
            differences = [(name, row["against"][base]) for name, row in rows if base in row["against"]]
            table = _by_metric(differences, list(differences[0][1]), lambda row, metric: _difference(row[metric]))
            tables.append([f"Difference to the {base} on the same events, with its 95% interval", table])
    title = "1 - Brier, skill against the crowd; reliability - resolution + uncertainty + within = mean square"
    tables.append([title, make_table(DECOMPOSITION, rows)])
    if results["by_category"]:
        tables.append(["Brier by category (events)", group_table(results["by_category"], [name for name, _ in rows])])
    for kind, what in (("spearman", "Spearman"), ("kendall", "Kendall")):
        matrix = results["rank_correlation"]["overall"][kind]
        columns = [Column("", title_of), *(_agreement_column(matrix, metric) for metric in metrics)]
        tables.append([f"Rank agreement ({what}), 1 where two metrics rank alike", make_table(columns, metrics)])
    return tables


def _by_metric(rows: Sequence[Row], metrics: Sequence[str], cell: Callable[[Record, str], str]) -> Table:
    def column(metric: str) -> Column:
        return _number(title_of(metric), lambda row: cell(row[1], metric))

    return make_table([NAME, *map(column, metrics)], rows)


def _agreement_column(matrix: Mapping[str, Mapping[str, float | None]], metric: str) -> Column:
    return _number(title_of(metric), lambda other: show_number(matrix[other][metric], 3))


def _part(title: str, key: str) -> Column:
    return _number(title, lambda row: show_number(row[1]["decomposition"][key]))


DECOMPOSITION: Final = (
    NAME,
    _number("1 - Brier", lambda row: show_number(row[1]["one_minus_brier"])),
    _number("Skill", lambda row: show_number(row[1]["brier_skill"])),
    _part("Reliability", "reliability"),
    _part("Resolution", "resolution"),
    _part("Uncertainty", "uncertainty"),
    _part("Within bins", "within_bins"),
    _part("Mean square", "mean_square"),
)


def group_table(groups: Mapping[str, Any], names: Sequence[str]) -> Table:
    """The Brier score of forecasters in groups of events."""

    def column(name: str, group: Mapping[str, Any]) -> Column:
        title = f"{printable(name, 30)} ({group['n_events']})"
        return _number(title, lambda forecaster: _brier(group["forecasters"].get(forecaster)))

    rows = [name for name in names if any(name in group["forecasters"] for group in groups.values())]
    forecaster = Column("Forecaster", lambda name: printable(name, 40))
    return make_table([forecaster, *(column(name, group) for name, group in groups.items())], rows)


def _ranked(row: Record, metric: str) -> str:
    rank = row.get(f"{metric}_rank")
    return show_number(row[metric]) + (f" ({rank})" if rank else "")


def _difference(cells: Record) -> str:
    return "–" if cells["difference"] is None else f"{cells['difference']:+.4f} {show_interval(cells['interval'])}"


def _brier(row: Record | None) -> str:
    return f"{show_number(row['brier'])} ({row['n_events']})" if row else "–"


# --- Items and notes ---


def _item_columns(results: Mapping[str, Any]) -> list[Column]:
    first: Record = next(iter(results.get("items", ())), {})
    metrics = [metric for metric in results["rank_correlation"]["overall"]["spearman"] if metric in first]
    return [
        Column("Event", lambda item: printable(item["id"], 40)),
        Column("Forecaster", lambda item: printable(item["forecaster"], 40)),
        Column("Time", lambda item: item["time"] or "–", spare=1),
        *(_number(title_of(name), partial(_item_number, name)) for name in metrics),
    ]


def _item_number(metric: str, item: Record) -> str:
    return show_number(item[metric])


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
