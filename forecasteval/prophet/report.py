"""A result as lines and tables: the ranking, with `full` every table, and
what was left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import starmap
from operator import itemgetter
from typing import Any, Final

from forecasteval.common.errors import InputError, grouped_names, printable, show_count
from forecasteval.common.statistics import TIE
from forecasteval.display.charts import Chart
from forecasteval.display.html import Html, join, show_score, show_signed, soft, tag
from forecasteval.display.results import list_warnings, make_report
from forecasteval.display.tables import (
    Column,
    IntervalCell,
    Report,
    Table,
    make_table,
    show_interval,
    show_number,
)

from .details import ProphetResult
from .fields import Exclusion, show_exclusion
from .horizons import HorizonRow, find_leader
from .losses import REPLACED
from .metrics import find_gamma, find_metric
from .ranks import ForecasterRecord
from .scores import LOG_FLOOR

_FULL_ONLY: Final = frozenset(
    {
        "adjusted_brier",
        "spherical",
        "baseline_score",
        "peer_score",
        "ece_events",
        "weighted_brier",
    }
)
SHOWN: Final = 30  # forecasters on the screen


@dataclass(frozen=True)
class BoardRow:
    """A forecaster, or a baseline (market, crowd, uniform), on a board that is ranked
    `by` a metric. `row[key]` is a value of its record.
    """

    name: str
    record: ForecasterRecord
    by: str
    is_baseline: bool = False

    @property
    def shown(self) -> str:
        if self.is_baseline:
            return f"({self.name})"
        return printable(self.name, 40)

    def __getitem__(self, key: str) -> Any:
        return self.record.get(key)

    @property
    def could_be_first(self) -> bool:
        """Return whether the interval of the rank reaches 1."""
        best, *_ = self.of_ranking("rank_interval") or (None,)
        return bool(best == 1)

    def of_ranking(self, what: str) -> Any:
        """Return what belongs to the metric of the ranking: "rank", "interval", …"""
        return self[f"{self.by}_{what}"]


def title_of(metric: str) -> str:
    return find_metric(metric).title


def list_metrics(results: ProphetResult) -> list[str]:
    return list(results["rank_correlation"]["overall"]["spearman"])


def list_returns(results: ProphetResult) -> list[str]:
    return [name for name in list_metrics(results) if find_metric(name).is_return]


def known_metrics(results: ProphetResult, rows: Sequence[BoardRow]) -> list[str]:
    """List the metrics that some row has."""
    return [
        name for name in list_metrics(results) if any(r[name] is not None for r in rows)
    ]


def report_blocks(
    results: ProphetResult,
    sort: str | None = None,
    full: bool = False,
    items: bool = False,
) -> Report:
    """Make the report's lines and tables.

    `sort` is the metric that orders the forecasters, best first; those without a value
    come last; None: that of "ranked_by". Raises InputError for any other name.
    """
    known = list_metrics(results)
    if sort not in (None, *known):
        raise InputError(
            "--sort", f"expected one of {', '.join(known)}", printable(sort or "", 60)
        )
    by = sort or results["ranked_by"]["metric"]
    order = f"Ranked by {title_of(by)}"
    if not sort:
        order += f": {results['ranked_by']['why']}"
    rows = board_rows(results, by, None if full else SHOWN)
    blocks: Report = [
        ranking_chart(results, rows, by).table,
        *_board_messages(results, by, full),
    ]
    if horizons := results.get("horizons"):
        blocks += [
            "",
            "By horizon, the time before closing",
            horizon_table(results, horizons),
        ]
    if full:
        for title, table in _list_tables(results, rows):
            blocks += ["", title, table]
    if items:
        blocks += ["", make_table(_item_columns(results), results.get("items", ()))]
    if remarks := list_remarks(results, full):
        blocks += ["", *remarks]
    return make_report(results, [describe_size(results), order], blocks)


def describe_size(results: ProphetResult) -> str:
    """Describe the size of the data in one line."""
    events = results["n_events"]
    clusters = results["n_clusters"]
    counts = results["event_classes"].items()
    classes = ", ".join(f"{count} {name}" for name, count in counts if count)
    size = f"{show_count(events, 'event')} ({classes})"
    if clusters < events:
        size += f" in {show_count(clusters, 'cluster')} (series)"
    parts = [size]
    if clusters == 1 < events:
        parts.append("too few for intervals")
    if results["n_pending"]:
        parts.append(f"{results['n_pending']} pending")
    forecasters = len(results["forecasters"]) + len(results["provisional"])
    parts.append(show_count(forecasters, "forecaster"))
    parts.append(show_count(results["n_forecasts"], "forecast"))
    return ", ".join(parts)


def list_remarks(results: ProphetResult, full: bool) -> list[str]:
    """List what was excluded, the convergence of the models, and warnings."""
    lines = []
    for entry in results["excluded"]:
        if entry["reason"] == REPLACED:
            lines.append(_describe_replaced(entry))
        else:
            lines.append(f"excluded: {entry['what']}s, {show_exclusion(entry)}")
    if full:
        lines += [
            _describe_fit(name, fit) for name, fit in results["fits"].items() if fit
        ]
    return lines + list_warnings(results)


def _describe_fit(name: str, fit: Mapping[str, Any]) -> str:
    shown = f"fit of {name}"
    if "prior" in fit:
        shown += f", prior {fit['prior']:g}"
    state = "converged" if fit["converged"] else "NOT converged"
    return (
        f"{shown}: {state} after {fit['iterations']} iterations, gradient "
        f"{fit['gradient_norm']:.1e}, log-likelihood {fit['log_likelihood']:.4f}"
    )


def _describe_replaced(entry: Exclusion) -> str:
    """Say whose forecasts were replaced: `2 forecasts replaced by a later one
    (ada on 1, …)`.
    """
    _, _, names = grouped_names(entry["names"], entry["count"]).partition(" ")
    return (
        f"{show_count(entry['count'], entry['what'])} replaced by a later one {names}"
    )


def list_rows(results: ProphetResult) -> list[dict[str, object]]:
    """List the numbers of every forecaster, best first, and baseline; an
    interval is two.
    """
    ranked = results["forecasters"]
    provisional = results["provisional"]
    rows = []
    for name in (row["name"] for row in results["ranking"]):
        if name in ranked:
            rows.append(_flatten_record(name, "ranked", ranked[name]))
        else:
            rows.append(_flatten_record(name, "provisional", provisional[name]))
    for name, record in results["baselines"].items():
        rows.append(_flatten_record(name, "baseline", record))
    return rows


def _flatten_record(
    name: str, kind: str, record: ForecasterRecord
) -> dict[str, object]:
    row: dict[str, object] = {"forecaster": name, "kind": kind}
    for key, value in record.items():
        if key.endswith("_interval"):
            row[f"{key}_low"], row[f"{key}_high"] = value or (None, None)
        elif not isinstance(value, dict):
            row[key] = value
    return row


# --- The board ---


_number: Final = partial(Column, kind="number")
_NAME: Final = Column("Forecaster", lambda row: row.shown)


def board_rows(results: ProphetResult, by: str, limit: int | None) -> list[BoardRow]:
    """List at most `limit` forecasters, best first, market and crowd in their place
    among them; None lists all.

    Forecasters without a rank come last, if all are listed or nobody has a rank.
    """
    rows = [BoardRow(name, row, by) for name, row in results["forecasters"].items()]
    rows.sort(key=lambda row: (row.of_ranking("rank") or math.inf, row.name))
    shown = rows[:limit]
    for name, record in results["baselines"].items():
        if not record["n_events"]:
            continue
        baseline = BoardRow(name, record, by, True)
        if record["n_events"] < results["n_events"]:
            better = _count_market_beaters(shown)
        else:
            better = _count_better(shown, baseline)
        shown.insert(better, baseline)
    if limit and rows:
        return shown
    provisional = [BoardRow(name, row, by) for name, row in _list_provisional(results)]
    return shown + provisional[:limit]


def _count_better(rows: Sequence[BoardRow], baseline: BoardRow) -> int:
    """Count the rows that are at least as good as a baseline."""
    sign = find_metric(baseline.by).sign
    limit = baseline[baseline.by]
    if limit is None:
        return len(rows)
    values = [row[row.by] for row in rows if row[row.by] is not None]
    return sum(sign * value >= sign * limit - TIE for value in values)


def _count_market_beaters(rows: Sequence[BoardRow]) -> int:
    """Count the rows that are at least as good as the market where there is one: events
    without a price may be harder, or easier.
    """
    count = 0
    for row in rows:
        lead, _ = compare_to_market(row)
        if lead and not row.is_baseline:
            count += find_metric(mean_of(row.by)).sign * lead["difference"] >= -TIE
    return count


def _list_provisional(results: ProphetResult) -> list[tuple[str, ForecasterRecord]]:
    """List names and records without a rank, those with most events first."""
    return sorted(
        results["provisional"].items(), key=lambda row: (-row[1]["n_events"], row[0])
    )


def describe_unranked(results: ProphetResult) -> str:
    """Name those with too few events for a rank, and say how many more there are."""
    names = [f"{name} ({row['n_events']})" for name, row in _list_provisional(results)]
    if not names:
        return ""
    return (
        f"Without a rank, fewer than {results['min_events']} events: "
        f"{grouped_names(names)}."
    )


def ranking_chart(results: ProphetResult, rows: Sequence[BoardRow], by: str) -> Chart:
    """Make the chart of the chosen metric with its uncertainty, then the other metrics
    that some row has.
    """
    title = f"Ranking by {title_of(by)}"
    note = (
        "Filled: could be first (the rank interval reaches 1). Diamonds: (market), its "
        "prices; "
        "(crowd), the mean of all forecasters; (uniform), the same for all options. "
        "Lines: 95% "
        "intervals."
    )
    return Chart(
        "ranking", title, note, make_table([*_ranking_columns(results, rows, by)], rows)
    )


def _ranking_columns(
    results: ProphetResult, rows: Sequence[BoardRow], by: str
) -> Iterator[Column]:
    """List the columns of text and of pages, in the order of both."""
    has_market = results["baselines"]["market"]["n_events"] > 0
    on_page = {"ece"}
    if has_market:
        on_page.update(list_returns(results)[-1:])
    yield _number("Rank", lambda row: str(row.of_ranking("rank") or ""), page="no")
    yield Column("Rank", _draw_rank, "html", page="rk")
    yield _NAME
    yield _number("Events", itemgetter("n_events"), spare=1, page="n k")
    yield _number("Coverage", lambda row: f"{row['coverage']:.0%}", spare=3, page="no")
    yield _metric_column(by, 0, "n sc")
    yield Column(title_of(by), mark_of, "mark")
    yield _number("95% interval", itemgetter(f"{by}_interval"), page="no")
    yield _number("Rank 95%", lambda row: format_ranks(row) or "–", page="no")
    if has_market:
        title = f"{title_of(mean_of(by))} − market’s"
        yield Column(title, _draw_difference, "html", page="n vs")
    known = [
        metric
        for metric in known_metrics(results, rows)
        if metric not in {by, *_FULL_ONLY}
    ]
    for spare, metric in enumerate(known, 5):
        yield _metric_column(metric, spare, "n k" if metric in on_page else "no")
    if any(row["n_priced"] for row in rows):
        yield _number("Priced", itemgetter("n_priced"), spare=100, page="no")


def _metric_column(metric: str, spare: int, page: str) -> Column:
    best = "high" if find_metric(metric).higher_is_better else "low"
    return _number(
        title_of(metric), itemgetter(metric), best=best, spare=spare, page=page
    )


def _draw_rank(row: BoardRow) -> Html:
    rank = row.of_ranking("rank")
    if not rank:
        return Html()
    return join(tag("b", str(rank)), " ", soft(format_ranks(row)))


def _draw_difference(row: BoardRow) -> Html:
    lead, direction = compare_to_market(row)
    if not lead:
        return join("–")
    low, high = lead["interval"] or (None, None)
    shown = [show_signed(lead["difference"])]
    if low is not None:
        shown.append(soft(f" ±{show_score((high - low) / 2)}"))
    title = (
        f"{show_signed(low, 4)} to {show_signed(high, 4)} on "
        f"{show_count(lead['n'], 'event')}"
    )
    style = (None, "la", "lb")[direction]
    return tag("span", *shown, title=title, class_=style)


def format_ranks(row: BoardRow) -> str:
    """Show the interval of the rank; "" if it is not known."""
    return "–".join(map(str, row.of_ranking("rank_interval") or ()))


def mark_of(row: BoardRow) -> IntervalCell:
    """Make the mark of a row; none for a provisional one. Few events may give any
    score, and leave no room for the others on their axis.
    """
    if not (row.is_baseline or row.of_ranking("rank")):
        return IntervalCell(None)
    kind = ""
    if row.is_baseline:
        kind = "ref"
    elif row.could_be_first:
        kind = "a"
    return IntervalCell(row[row.by], row.of_ranking("interval"), None, kind)


def mean_of(by: str) -> str:
    """Choose the metric whose difference to the market is shown: a mean over
    the same events.

    >>> mean_of("log"), mean_of("adjusted_brier")
    ('log', 'brier')
    """
    return by if find_metric(by).is_mean else "brier"


def compare_to_market(row: BoardRow) -> tuple[ForecasterRecord | None, int]:
    """Find a row's lead over the market, and its direction: 1 if it is surely for the
    better, -1 for the worse, 0 if its interval contains 0.
    """
    metric = mean_of(row.by)
    lead = row["against"].get("market", {}).get(metric)
    if not lead or lead["difference"] is None:
        return None, 0
    low, high = lead["interval"] or (0, 0)
    return lead, int(find_metric(metric).sign) * ((low > 0) - (high < 0))


def describe_market_beaters(rows: Iterable[BoardRow], by: str) -> str:
    """Count those who surely beat the market, by which metric; "" without a market."""
    directions = [direction for lead, direction in map(compare_to_market, rows) if lead]
    if not directions:
        return ""
    better = directions.count(1)
    who = f"{better} of {len(directions)} beat"
    if better == 0:
        who = "Nobody beats"
    elif better == 1:
        who += "s"
    return f"{who} the market significantly ({title_of(mean_of(by))})."


def _board_messages(results: ProphetResult, by: str, full: bool) -> list[str]:
    """Write notes that explain the board."""
    ranked = results["forecasters"]
    messages = []
    if not full and len(ranked) > SHOWN:
        messages += [f"… the first {SHOWN} of {len(ranked)}: --full"]
    if unranked := describe_unranked(results):
        see = f"{unranked} See --min-events and --full."
        if full:
            see = f"{unranked} See --min-events."
        messages += ["", see]
    ranked_rows = [BoardRow(name, record, by) for name, record in ranked.items()]
    if beats := describe_market_beaters(ranked_rows, by):
        messages += ["", beats]
    return messages


# --- Horizons ---


def horizon_table(results: ProphetResult, horizons: Sequence[HorizonRow]) -> Table:
    """Make a row per horizon: its size, the crowd's score, and who leads."""
    ranked = results["forecasters"]

    def lead(row: HorizonRow) -> str:
        return printable(find_leader(row, ranked), 40) or "–"

    def score_leader(row: HorizonRow) -> object:
        record = row["forecasters"].get(find_leader(row, ranked), {})
        return record.get("adjusted_brier")

    columns = [
        Column("Horizon", itemgetter("horizon")),
        _number("Events", itemgetter("n_events")),
        _number("Forecasters", lambda row: len(row["forecasters"])),
        _number("Forecasts", itemgetter("n_forecasts")),
        _number("Brier (crowd)", lambda row: row["baselines"]["crowd"]["brier"]),
        Column("Leads", lead),
        _number("Adjusted Brier", score_leader),
    ]
    return make_table(columns, horizons)


def horizons_by_forecaster(
    rows: Sequence[BoardRow], horizons: Sequence[HorizonRow]
) -> Table:
    """Make the table of adjusted Brier scores by horizon, with numbers of events."""
    parts = [(horizon["horizon"], horizon["forecasters"]) for horizon in horizons]
    return _tabulate_parts(rows, parts, "adjusted_brier")


# --- With --full ---


def _list_tables(
    results: ProphetResult, rows: Sequence[BoardRow]
) -> Iterator[tuple[str, Table]]:
    metrics = known_metrics(results, rows)
    yield "Every metric, ranks in brackets", metric_table(rows, metrics)
    intervals = _by_metric(rows, metrics, lambda row, metric: row[f"{metric}_interval"])
    yield (
        "95% intervals (t, clustered by series; returns: Wilson's, clustered)",
        intervals,
    )
    if results["baselines"]["market"]["n_events"]:
        both = [row for row in rows if "market" in row["against"]]
        means = [metric for metric in metrics if find_metric(metric).is_mean]
        title = "Difference to the market on the same events, with its 95% interval"
        yield title, _by_metric(both, means, _format_difference)
    title = (
        "1 - Brier, skill against (crowd) and (uniform); parts that add up to the "
        "mean square"
    )
    yield title, make_table(_DECOMPOSITION, rows)
    if horizons := results.get("horizons"):
        forecasters = [row for row in rows if not row.is_baseline]
        title = "Adjusted Brier by horizon (events)"
        yield title, horizons_by_forecaster(forecasters, horizons)
    if results["by_category"]:
        ranked = [row for row in rows if row["brier_rank"]]
        yield "Brier by category (events)", category_table(results, ranked)
    if len(results["forecasters"]) > 2:
        title = "Rank agreement (Spearman), 1 where two metrics rank alike"
        matrix = results["rank_correlation"]["overall"]["spearman"]
        columns = [
            _number(title_of(metric), matrix[metric].get, digits=3)
            for metric in metrics
        ]
        yield title, make_table([Column("", title_of), *columns], metrics)


def metric_table(rows: Sequence[BoardRow], metrics: Iterable[str]) -> Table:
    """Make the table of all metrics, with ranks in brackets."""
    return _by_metric(
        rows, metrics, lambda row, name: _count(row[name], row[f"{name}_rank"])
    )


def _count(value: float | None, extra: int | None) -> str:
    """Show a number, and in brackets its rank or of how many events it is."""
    shown = show_number(value)
    if extra:
        shown += f" ({extra})"
    return shown


def category_table(results: ProphetResult, rows: Sequence[BoardRow]) -> Table:
    """Make the table of the Brier scores in the events of a category, with
    their numbers.
    """
    parts = [
        (f"{printable(name, 30)} ({category['n_events']})", category["forecasters"])
        for name, category in results["by_category"].items()
    ]
    return _tabulate_parts(rows, parts, "brier")


def _tabulate_parts(
    rows: Iterable[BoardRow],
    parts: Iterable[tuple[str, Mapping[str, Any]]],
    metric: str,
) -> Table:
    """Make the table of a metric by part of the events; each has a title and
    its forecasters.
    """

    def column(title: str, forecasters: Mapping[str, Any]) -> Column:
        def show(row: BoardRow) -> str:
            if row.name not in forecasters:
                return "–"
            record = forecasters[row.name]
            return _count(record[metric], record["n_events"])

        return _number(title, show)

    return make_table([_NAME, *starmap(column, parts)], rows)


def _by_metric(
    rows: Iterable[BoardRow],
    metrics: Iterable[str],
    cell: Callable[[BoardRow, str], object],
) -> Table:
    def column(metric: str) -> Column:
        return _number(title_of(metric), lambda row: cell(row, metric))

    return make_table([_NAME, *map(column, metrics)], rows)


def _format_difference(row: BoardRow, metric: str) -> str:
    lead = row["against"]["market"][metric]
    if lead["difference"] is None:
        return "–"
    return f"{lead['difference']:+.4f} {show_interval(lead['interval'])}"


def _part(key: str) -> Column:
    return _number(
        key.replace("_", " ").capitalize(), lambda row: row["decomposition"][key]
    )


_DECOMPOSITION: Final = (
    _NAME,
    _number("1 - Brier", itemgetter("one_minus_brier")),
    _number("Skill", itemgetter("brier_skill")),
    _number("Skill to uniform", itemgetter("brier_skill_uniform")),
    *map(
        _part,
        ("reliability", "resolution", "uncertainty", "within_bins", "mean_square"),
    ),
)


# --- Items ---


def explain(item: ForecasterRecord) -> str:
    """Give the reason of a forecast's score in one sentence.

    >>> explain({"brier": 0.25, "log": math.log(0.5), "return_0": 0.8})
    '0.5 on what came true: Brier 0.2500; a dollar bet (γ = 0) became 0.8000'
    """
    text = f"Brier {show_number(item['brier'])}"
    # None unless the event is exclusive; at least the logarithm of 0.01.
    log = item.get("log")
    if log is not None:
        given = f"{math.exp(log):.3g}"
        if log <= math.log(LOG_FLOOR):
            given += " or less"
        text = f"{given} on what came true: {text}"
    for name, paid in item.items():
        gamma = find_gamma(name)
        if gamma is not None and paid is not None:
            return f"{text}; a dollar bet (γ = {gamma:.12g}) became {show_number(paid)}"
    return text


def _item_columns(results: ProphetResult) -> list[Column]:
    first: ForecasterRecord = next(iter(results.get("items", ())), {})
    scored = [name for name in list_metrics(results) if name in first]
    return [
        Column("Event", lambda item: printable(item["id"], 40)),
        Column("Forecaster", lambda item: printable(item["forecaster"], 40)),
        Column("Time", itemgetter("time"), spare=1),
        *(_number(title_of(name), itemgetter(name)) for name in scored),
        Column("Why", explain),
    ]
