"""Every forecaster's record: its numbers with intervals, its ranks, and how sure these are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from forecasteval.common.statistics import TIE, rank_ranges

from .arrays import Columns, Floats, make_rows, weighted_means
from .estimates import Measures
from .metrics import Metric, rank_values
from .score_table import BASELINES, ForecastScores
from .scores import decompose_brier

ForecasterRecord = dict[str, Any]  # the keys depend on the metrics


def make_records(
    measures: Measures, scored: ForecastScores, bins: Floats
) -> list[ForecasterRecord]:
    """Make the forecasters' records, then those of the baselines."""
    brier, means = measures["brier", ""], [metric for metric in scored.metrics if metric.is_mean]
    data, rows = scored.forecasts, len(scored.forecasts.names)

    def average_baseline(name: str) -> Floats:
        """Average the Brier scores of a baseline on each forecaster's events."""
        ahead = weighted_means(scored.less("brier", name), scored.weight, data.forecaster, rows)
        return np.asarray(brier.values - ahead)

    crowd, uniform = average_baseline("crowd"), average_baseline("uniform")
    priced = [measures[metric.name, ""].counts for metric in means if metric.is_return]
    columns: Columns = {
        "n_events": brier.counts,
        "n_clusters": brier.clusters,
        "n_exclusive": measures["log", ""].counts,
        "n_priced": priced[0] if priced else 0 * brier.counts,
        "coverage": brier.counts / len(scored.events.ids),
    }
    if len(scored.runs.event) > len(data.event):
        columns |= count_runs(scored)
    for metric in scored.metrics:
        estimate = measures[metric.name, ""]
        columns[metric.name] = estimate.values
        if estimate.variation:
            columns[f"{metric.name}_interval"] = estimate.intervals()
            columns[f"{metric.name}_se"] = estimate.error
    columns |= sharpe_ratios(scored, measures)
    columns["one_minus_brier"] = 1 - brier.values
    columns["brier_skill"] = 1 - brier.values / np.where(crowd > 0, crowd, math.nan)
    columns["brier_skill_uniform"] = 1 - brier.values / np.where(uniform > 0, uniform, math.nan)
    columns["decomposition"] = make_rows({**decompose_brier(bins)})
    differences: Columns = {}
    for metric in means:
        estimate = measures[metric.name, "market"]
        cells: Columns = {"n": estimate.counts, "difference": estimate.values}
        differences[metric.name] = make_rows(cells | {"interval": estimate.intervals()})
    records = make_rows(columns | {"against": make_rows({"market": make_rows(differences)})})
    del records[-len(BASELINES)]["against"]["market"]  # the market's own record
    return records


def count_runs(scored: ForecastScores) -> Columns:
    """Count by row the runs, and how many forecasts these lack of the events that another has."""
    row, rows = scored.forecasts.forecaster, len(scored.forecasts.names)
    most = scored.runs.run.max() + 1
    numbers = np.unique(scored.runs.forecaster * most + scored.runs.run)
    n_runs = np.bincount(numbers // most, minlength=rows)
    given = np.bincount(row, scored.n_runs, rows).astype(np.int64)
    return {"n_runs": n_runs, "missing_runs": n_runs * np.bincount(row, minlength=rows) - given}


def sharpe_ratios(scored: ForecastScores, measures: Measures) -> Columns:
    """Compute, by return and row, (mean - 1)/√variance of the payoffs; nan where all are equal.

    The variance is that of the payoffs, Σ w (x - mean)²/Σ w; an event is a period, nothing is made
    a yearly figure. Source: Sharpe, J. Portfolio Management 21 (1994) 49–58, the dollar being the
    riskless asset.
    """
    row, ratios = scored.forecasts.forecaster, Columns()
    for metric in scored.metrics:
        if metric.is_return:
            means = measures[metric.name, ""].values
            squares = (scored.values[metric.name] - means[row]) ** 2
            spread = weighted_means(squares, scored.weight, row, len(means))
            known = np.where(spread > 1e-18, spread, np.nan)  # of equal payoffs rounding is left
            ratios[f"{metric.name}_sharpe"] = (means - 1) / np.sqrt(known)
    return ratios


# --- Ranks ---


def add_ranks(
    records: Sequence[ForecasterRecord],
    ranked: Sequence[int],
    measures: Measures,
    metrics: Sequence[Metric],
) -> None:
    """Give the records at the places `ranked` their ranks by every metric, with intervals."""
    for metric in metrics:
        estimate = measures[metric.name, ""]
        values = metric.sign * estimate.values
        able = [at for at in ranked if not math.isnan(values[at])]
        ranks = dict(zip(able, rank_values(values[able]).tolist(), strict=True))
        for at in ranked:
            records[at][f"{metric.name}_rank"] = ranks.get(at)
        if not estimate.variation:
            continue
        sure = [at for at in able if not math.isnan(estimate.error[at])]
        intervals: dict[int, list[int]] = {}
        if len(sure) > 1:
            variance = estimate.variation.pair_variances(np.array(sure))
            ends = rank_intervals(values[sure], variance, estimate.freedom[sure])
            intervals = dict(zip(sure, map(list, ends), strict=True))
        for at in ranked:
            records[at][f"{metric.name}_rank_interval"] = intervals.get(at)


def rank_intervals(values: Floats, variance: Floats, freedom: Floats) -> list[tuple[int, int]]:
    """Find the best and the worst rank of each forecaster that no test contradicts (`rank_ranges`).

    Who is better of two is judged by the t-test of their difference.

    values: F, larger is better; variance: F × F, of the differences; freedom: F.
    """
    from scipy.special import stdtr

    gap = values[:, None] - values
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(gap) / np.sqrt(variance)
    t = np.where(np.triu(t) > 1.9, t, 0)  # no smaller one is significant, and each takes time
    p = 2 * stdtr(np.minimum(freedom[:, None], freedom), -t)
    p[np.abs(gap) <= TIE] = 1
    return rank_ranges(gap, p)


def say_why(records: Sequence[ForecasterRecord], events: int) -> tuple[str, str]:
    """Say which score ranks these records by default, and why.

    It is the adjusted Brier score, which is the Brier score where all have all events.
    """
    if not records:
        return "brier", "no forecaster has enough events for a rank"
    counts = [record["n_events"] for record in records]
    if min(counts) == events:
        return "brier", "all have all events, so that adjusted Brier is the same"
    least, most = min(counts), max(counts)
    share = f"{least} to {most}" if least < most else f"{most} each"
    return "adjusted_brier", f"forecasters answered different events ({share} of {events})"
