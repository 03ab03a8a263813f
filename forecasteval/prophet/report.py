"""The views of a result as lines and tables: the ranking, with `full` every table, and excluded
records.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import combinations
from operator import itemgetter
from typing import Final, NamedTuple

from forecasteval.common.errors import InputError, grouped_names, printable
from forecasteval.display import pages
from forecasteval.display.charts import Chart
from forecasteval.display.pages import Block, Page, Section
from forecasteval.display.tables import (
    Column,
    Interval,
    Report,
    Shade,
    Table,
    make_table,
    number_table,
    show_interval,
    show_number,
)

from .details import Category, ProphetResult
from .metrics import RANK_TIE, Matrix, find_metric
from .ranks import Record
from .scores import LOG_FLOOR

_FULL_ONLY: Final = frozenset({"adjusted_brier", "spherical", "weighted_brier"})
_BESIDE: Final = 5  # other metrics in a row of a page; a row that was opened has the rest
SHOWN: Final = 30  # forecasters on the screen
_SOME: Final = 3  # events of a provisional forecaster that is listed without --full


class Row(NamedTuple):
    """A forecaster, or a baseline: the market, the crowd."""

    name: str
    record: Record
    is_baseline: bool = False

    def is_above(self, by: str, sign: float, value: float | None) -> bool:
        """Whether the row stands above a baseline of a value that is better if it is larger."""
        own = self.record[by]
        return own is not None and (value is None or sign * own >= value - RANK_TIE)


def title_of(metric: str) -> str:
    return find_metric(metric).title


def report_blocks(
    results: ProphetResult, sort: str | None = None, full: bool = False, items: bool = False
) -> Report:
    """The report's lines and tables.

    `sort` is the metric that orders the forecasters, best first; those without a value come last;
    None: that of "ranked_by". Raises InputError for any other name.
    """
    if sort is not None and sort not in _metrics(results):
        raise InputError(
            "--sort", f"expected one of {', '.join(_metrics(results))}", printable(sort, 60)
        )
    by_forecast = (
        [Section("", [make_table(_item_columns(results), results.get("items", ()))])]
        if items
        else []
    )
    overview = make_overview(results, sort, full)
    return overview.with_sections(*by_forecast, *list_remarks(results, full)).report()


def make_overview(
    results: ProphetResult, sort: str | None = None, full: bool = False, on_page: bool = False
) -> Page:
    """The ranking, whose rows open `on_page`, and with `full` the other tables."""
    by, why = (
        sort or results["ranked_by"]["metric"],
        "" if sort else f": {results['ranked_by']['why']}",
    )
    few, left_out = (
        len(results["provisional"]),
        sum(entry["count"] for entry in results["excluded"]),
    )
    figures = {
        "Events": results["n_events"],
        "Forecasters": (len(results["forecasters"]), f"{few} provisional" if few else ""),
        "Forecasts": results["n_forecasts"],
        "Left out": left_out,
    }
    rows = _board_rows(results, by, full, full and not on_page)
    ranking = Section(
        "Ranking",
        [
            _show_ranking(results, rows, by, on_page),
            *_board_messages(results, by, full and not on_page),
        ],
    )
    sections = [ranking, *(_tables(results, rows) if full else ())]
    page = pages.make_overview(results, _describe(results), figures, sections)
    return page._replace(lead=f"{page.lead}\nRanked by {title_of(by)}{why}")


def _metrics(results: ProphetResult) -> list[str]:
    return list(results["rank_correlation"]["overall"]["spearman"])


def _describe(results: ProphetResult) -> str:
    """The size of the data in one line."""
    events, clusters = results["n_events"], results["n_clusters"]
    classes = ", ".join(
        f"{count} {name}" for name, count in results["event_classes"].items() if count
    )
    series = f" in {clusters} clusters (series)" if clusters < events else ""
    count = len(results["forecasters"]) + len(results["provisional"])
    pending = f", {results['n_pending']} pending" if results["n_pending"] else ""
    counted = f"{count} forecasters, {results['n_forecasts']} forecasts"
    return f"{events} events ({classes}){series}{pending}, {counted}"


def list_remarks(results: ProphetResult, full: bool) -> list[Section]:
    """Excluded records, the convergence of the models, warnings."""
    lines = []
    for entry in results["excluded"]:
        names = grouped_names(entry["names"], entry["count"])
        lines.append(f"excluded: {entry['what']}s, {printable(entry['reason'])}: {names}")
    for name, fit in results["fits"].items():
        if fit and full:
            state = "converged" if fit["converged"] else "NOT converged"
            prior = f", prior {fit['prior']:g}" if "prior" in fit else ""
            lines.append(
                f"fit of {name}{prior}: {state} after {fit['iterations']} iterations, gradient "
                f"{fit['gradient_norm']:.1e}, log-likelihood {fit['log_likelihood']:.4f}"
            )
    lines += [f"warning: {text}" for text in results["warnings"]]
    return [Section("Fits and what was left out", lines)] if lines else []


# --- The board ---


_number: Final = partial(Column, kind="number")
_NAME: Final = Column("Forecaster", lambda row: printable(row.name, 40))


def _board_rows(results: ProphetResult, by: str, full: bool, everybody: bool) -> list[Row]:
    """The forecasters that are shown, best first, market and crowd in their place among them; then
    the provisional, those with most events first.

    Not `full`: the first 30 of both. Not `everybody`: of the provisional only those of `_SOME`
    events, if there is anybody of so many: one lucky forecast looks best.
    """
    ranks = {name: row[f"{by}_rank"] for name, row in results["forecasters"].items()}
    rows = [Row(name, row) for name, row in results["forecasters"].items()]
    rows.sort(key=lambda row: (ranks[row.name] is None, ranks[row.name] or 0, row.name))
    few = [Row(name, row) for name, row in results["provisional"].items()]
    some = [row for row in few if row.record["n_events"] >= _SOME]
    few = few if everybody or not (rows or some) else some
    few.sort(key=lambda row: (-row.record["n_events"], row.name))
    shown, sign = rows[: None if full else SHOWN], find_metric(by).sign
    for name, record in results["baselines"].items():
        if record["n_events"]:
            value = None if record[by] is None else sign * record[by]
            better = sum(row.is_above(by, sign, value) for row in shown)
            shown.insert(better, Row(f"({name})", record, True))
    return shown + few[: None if full else SHOWN]


def _show_ranking(results: ProphetResult, rows: Sequence[Row], by: str, on_page: bool) -> Block:
    """The chosen metric with its uncertainty, then the other metrics that some row has."""
    columns = list(_ranking_columns(results, rows, by))
    if not on_page:
        return make_table([column for _, column in columns], rows)
    inside = [column for opened, column in columns if opened]
    more = Column("More", lambda row: pages.show_facts(inside, row), "inside")
    lower = "" if find_metric(by).higher_is_better else ", lower is better,"
    note = f"{title_of(by)}{lower} with 95% intervals. A row opens."
    if any(row.is_baseline and row.record[by] is not None for row in rows):
        note += " Rings: market prices and the mean forecast, which are not ranked."
    elif any(row.is_baseline for row in rows):
        note += f" Market prices and the mean forecast have no {title_of(by)}: they stand last."
    shown = rows[: pages.CELLS // len(columns)]
    if len(shown) < len(rows):
        note += f" The first {len(shown)} of {len(rows)} rows."
    titles = [*(column for opened, column in columns if not opened), more]
    return pages.make_records(
        "ranking",
        f"Ranking by {title_of(by)}",
        titles,
        shown,
        [row.name for row in shown],
        note,
        prefix="f",
    )


def _ranking_columns(
    results: ProphetResult, rows: Sequence[Row], by: str
) -> Iterable[tuple[bool, Column]]:
    """The columns of the ranking, and whether on a page only a row that was opened shows them."""
    others = [metric for metric in _metrics(results) if metric != by and metric not in _FULL_ONLY]
    others = [metric for metric in others if any(row.record[metric] is not None for row in rows)]
    yield False, _number("Rank", lambda row: str(row.record.get(f"{by}_rank") or ""), best="low")
    yield False, _NAME
    yield False, _number("Events", lambda row: row.record["n_events"], best="high", spare=1)
    yield True, _number("Coverage", lambda row: f"{row.record['coverage']:.0%}", spare=3)
    yield False, _metric_column(by)
    yield False, Column(title_of(by), lambda row: _mark(row, by), "mark", _best(by))
    yield True, _number("95% interval", lambda row: row.record.get(f"{by}_interval"))
    if any(row.record.get(f"{by}_rank_interval") for row in rows):
        yield False, Column("rank", lambda row: _mark(row, f"{by}_rank"), "mark", "low")
    yield (
        True,
        _number(
            "Rank 95%", lambda row: "–".join(map(str, row.record.get(f"{by}_rank_interval") or "–"))
        ),
    )
    yield (
        False,
        _number(
            "P(best)", lambda row: row.record.get(f"{by}_best"), best="high", spare=2, digits=2
        ),
    )
    yield (
        True,
        _number("Beats next", lambda row: row.record.get(f"{by}_beats_next"), spare=4, digits=2),
    )
    for place, metric in enumerate(others):
        yield place >= _BESIDE, _metric_column(metric, spare=5 + place)
    if any(row.record["n_priced"] for row in rows):
        yield True, _number("Priced", lambda row: row.record["n_priced"], spare=100)


def _metric_column(metric: str, spare: int = 0) -> Column:
    return _number(
        title_of(metric), lambda row: row.record[metric], best=_best(metric), spare=spare, bold=True
    )


def _best(metric: str) -> str:
    return "high" if find_metric(metric).higher_is_better else "low"


def _mark(row: Row, key: str) -> Interval | str:
    """Nothing for a provisional row: few events may give any score, and leave no room for the
    others on their axis.
    """
    if not row.is_baseline and f"{key.removesuffix('_rank')}_rank" not in row.record:
        return ""
    return Interval(
        row.record.get(key), row.record.get(f"{key}_interval"), None, int(row.is_baseline)
    )


def _board_messages(results: ProphetResult, by: str, full: bool) -> list[str]:
    """Notes that explain the board."""
    ranked, provisional = results["forecasters"], results["provisional"]
    few = sum(row["n_events"] < _SOME for row in provisional.values())
    few = 0 if few == len(ranked | provisional) else few  # then they are listed
    count, messages = len(provisional), list[str]()
    if not full and max(len(ranked), count - few) > SHOWN:
        messages += [f"… the first {SHOWN} of {len(ranked)} ranked and {count} provisional: --full"]
    if provisional:
        text = f"Provisional, fewer than {results['min_events']} events, without rank: {count}"
        hidden = f", {few} of them with one or two, listed by --full" if few and not full else ""
        messages += ["", f"{text}{hidden} (--min-events)"]
    if by == "adjusted_brier":
        everybody = ranked | provisional
        odd = sorted(name for name, row in everybody.items() if not 0 <= row[by] <= 1)
        if odd:
            text = "Adjusted Brier outside [0, 1], from few or unusual events"
            messages += ["", f"{text}: {grouped_names(odd)}"]
    return [*messages, "", *_agreement_line(results["rank_correlation"]["overall"]["kendall"])]


def _agreement_line(matrix: Matrix) -> list[str]:
    pairs = [
        (value, a, b) for a, b in combinations(matrix, 2) if (value := matrix[a][b]) is not None
    ]
    if not pairs:
        return []
    values = sorted(value for value, _, _ in pairs)
    least, a, b = min(pairs)
    return [
        f"Rank agreement of the metrics (Kendall): median {values[len(values) // 2]:.2f}, "
        f"least {least:.2f} ({title_of(a)} and {title_of(b)})"
    ]


# --- With --full ---


def _tables(results: ProphetResult, rows: Sequence[Row]) -> Iterable[Section]:
    metrics = _metrics(results)
    yield Section(
        "Every metric", ["Every metric, ranks in brackets", _by_metric(rows, metrics, _ranked)]
    )
    known = [
        metric for metric in metrics if any(row.record.get(f"{metric}_interval") for row in rows)
    ]
    intervals = _by_metric(rows, known, lambda row, metric: row.get(f"{metric}_interval"))
    yield Section(
        "Intervals", ["95% intervals (t, clustered by series; returns: tilted market)", intervals]
    )
    for base, record in results["baselines"].items():
        if record["n_events"]:
            both = [
                Row(row.name, row.record["against"][base])
                for row in rows
                if base in row.record["against"]
            ]
            table = _by_metric(
                both, list(both[0].record), lambda row, metric: _difference(row[metric])
            )
            title = f"Difference to the {base} on the same events, with its 95% interval"
            yield Section(f"Against the {base}", [title, table])
    title = "1 - Brier, skill against the crowd; parts of the mean square that add up to it"
    yield Section("Parts of the Brier score", [title, make_table(_DECOMPOSITION, rows)])
    if results["by_category"]:
        categories = results["by_category"]
        there = [
            row
            for row in rows
            if any(row.name in group["forecasters"] for group in categories.values())
        ]
        table = make_table(
            [_NAME, *(_category_column(*category) for category in categories.items())], there
        )
        yield Section("By category", ["Brier by category (events)", table])
    spearman, kendall = (
        _agreement(results["rank_correlation"]["overall"][kind]) for kind in ("spearman", "kendall")
    )
    description = "Blue: two metrics rank alike; orange: the other way round."
    blocks: list[Block] = [
        "Rank agreement (Spearman), 1 where two metrics rank alike",
        Chart("agreement", "Agreement of the metrics", description, spearman),
        "",
        "Rank agreement (Kendall), 1 where two metrics rank alike",
        kendall,
    ]
    yield Section("Agreement", blocks)


def _by_metric(
    rows: Iterable[Row], metrics: Iterable[str], cell: Callable[[Record, str], object]
) -> Table:
    def column(metric: str) -> Column:
        return _number(title_of(metric), lambda row: cell(row.record, metric))

    return make_table([_NAME, *map(column, metrics)], rows)


def _ranked(row: Record, metric: str) -> str:
    rank = row.get(f"{metric}_rank")
    return show_number(row[metric]) + (f" ({rank})" if rank else "")


def _difference(cells: Record) -> str:
    return (
        "–"
        if cells["difference"] is None
        else f"{cells['difference']:+.4f} {show_interval(cells['interval'])}"
    )


def _part(key: str) -> Column:
    return _number(key.replace("_", " ").capitalize(), lambda row: row.record["decomposition"][key])


_DECOMPOSITION: Final = (
    _NAME,
    _number("1 - Brier", lambda row: row.record["one_minus_brier"]),
    _number("Skill", lambda row: row.record["brier_skill"]),
    *map(_part, ("reliability", "resolution", "uncertainty", "within_bins", "mean_square")),
)


def _category_column(name: str, category: Category) -> Column:
    """The Brier score of forecasters in the events of a category."""

    def show(row: Row) -> str:
        record = category["forecasters"].get(row.name)
        return f"{show_number(record['brier'])} ({record['n_events']})" if record else "–"

    return _number(f"{printable(name, 30)} ({category['n_events']})", show)


def _agreement(matrix: Matrix) -> Table:
    cells = ((title_of(metric), *map(Shade, row.values())) for metric, row in matrix.items())
    return number_table(["", *map(title_of, matrix)], cells)


# --- Items ---


def explain(item: Record) -> str:
    """The reason of a forecast's score in one sentence.

    >>> explain({"brier": 0.25, "log": math.log(0.5), "return_0": 0.8})
    '0.5 on what came true: Brier 0.2500; a dollar bet (γ = 0) became 0.8000'
    """
    log = item.get("log")  # None unless the event is exclusive; at least the logarithm of 0.01
    given = (
        ""
        if log is None
        else f"{math.exp(log):.3g}{' or less' * (log <= math.log(LOG_FLOOR))} on what came true: "
    )
    paid = [
        (name, value)
        for name, value in item.items()
        if name.startswith("return_") and value is not None
    ]
    bet = (
        f"; a dollar bet (γ = {paid[0][0].removeprefix('return_')}) became "
        f"{show_number(paid[0][1])}"
        if paid
        else ""
    )
    return f"{given}Brier {show_number(item['brier'])}{bet}"


def _item_columns(results: ProphetResult) -> list[Column]:
    first: Record = next(iter(results.get("items", ())), {})
    return [
        Column("Event", lambda item: printable(item["id"], 40)),
        Column("Forecaster", lambda item: printable(item["forecaster"], 40)),
        Column("Time", lambda item: item["time"], spare=1),
        *(_number(title_of(name), itemgetter(name)) for name in _metrics(results) if name in first),
        Column("Why", explain),
    ]
