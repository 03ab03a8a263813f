"""Every forecaster's record: its numbers with intervals, its ranks, and how
sure these are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from forecasteval.common.statistics import TIE, rank_ranges

from .arrays import Columns, Floats, make_rows, weighted_means
from .estimates import Measures
from .metrics import Metric, rank_values
from .score_table import BASELINES, ForecastScores
from .scores import decompose_brier

ForecasterRecord = dict[str, Any]  # the keys depend on the metrics
_MIN_VARIANCE: Final = 1e-18  # below it, equal payoffs differ by rounding errors only
_MIN_T: Final = 1.9


def make_records(
    measures: Measures, scored: ForecastScores, bins: Floats
) -> list[ForecasterRecord]:
    """Make the forecasters' records, then those of the baselines."""
    brier = measures["brier", ""]
    data = scored.forecasts
    rows = len(data.names)

    def compute_skill(baseline: str) -> Floats:
        """Compute 1 - Brier / the mean Brier score of a baseline on the
        forecaster's events.
        """
        less = scored.less("brier", baseline)
        ahead = weighted_means(less, scored.weight, data.forecaster, rows)
        of_baseline = brier.values - ahead
        return np.asarray(
            1 - brier.values / np.where(of_baseline > 0, of_baseline, math.nan)
        )

    n_priced = 0 * brier.counts
    for metric in scored.metrics:
        if metric.is_return:
            n_priced = measures[metric.name, ""].counts
    columns: Columns = {
        "n_events": brier.counts,
        "n_clusters": brier.clusters,
        "n_exclusive": measures["log", ""].counts,
        "n_priced": n_priced,
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
    columns["brier_skill"] = compute_skill("crowd")
    columns["brier_skill_uniform"] = compute_skill("uniform")
    columns["decomposition"] = make_rows({**decompose_brier(bins)})
    differences: Columns = {}
    for metric in scored.metrics:
        if metric.is_mean:
            estimate = measures[metric.name, "market"]
            cells: Columns = {"n": estimate.counts, "difference": estimate.values}
            cells["interval"] = estimate.intervals()
            differences[metric.name] = make_rows(cells)
    columns["against"] = make_rows({"market": make_rows(differences)})
    records = make_rows(columns)
    market = records[-len(BASELINES)]
    del market["against"]["market"]
    return records


def count_runs(scored: ForecastScores) -> Columns:
    """Count by row the runs, and how many forecasts these lack of the events
    that another has.
    """
    row = scored.forecasts.forecaster
    rows = len(scored.forecasts.names)
    max_runs = scored.runs.run.max() + 1
    numbers = np.unique(scored.runs.forecaster * max_runs + scored.runs.run)
    n_runs = np.bincount(numbers // max_runs, minlength=rows)
    n_events = np.bincount(row, minlength=rows)
    given = np.bincount(row, scored.n_runs, rows).astype(np.int64)
    return {"n_runs": n_runs, "missing_runs": n_runs * n_events - given}


def sharpe_ratios(scored: ForecastScores, measures: Measures) -> Columns:
    """Compute the Sharpe ratio of the payoffs, by return and row; nan where
    all are equal:

        (mean - 1)/√variance, the variance being Σ w (x - mean)²/Σ w

    An event is a period, nothing is made a yearly figure. Source: Sharpe, J. Portfolio
    Management 21 (1994) 49–58, the dollar being the riskless asset.
    """
    row = scored.forecasts.forecaster
    ratios: Columns = {}
    for metric in scored.metrics:
        if metric.is_return:
            means = measures[metric.name, ""].values
            squares = (scored.values[metric.name] - means[row]) ** 2
            variance = weighted_means(squares, scored.weight, row, len(means))
            variance[variance <= _MIN_VARIANCE] = np.nan
            ratios[f"{metric.name}_sharpe"] = (means - 1) / np.sqrt(variance)
    return ratios


# --- Ranks ---


def add_ranks(
    records: Sequence[ForecasterRecord],
    ranked: Sequence[int],
    measures: Measures,
    metrics: Sequence[Metric],
) -> None:
    """Give the records at the indices `ranked` their ranks by every metric,
    with intervals.
    """
    for metric in metrics:
        estimate = measures[metric.name, ""]
        values = metric.sign * estimate.values
        has_value = [index for index in ranked if not math.isnan(values[index])]
        ranks = dict(
            zip(has_value, rank_values(values[has_value]).tolist(), strict=True)
        )
        for index in ranked:
            records[index][f"{metric.name}_rank"] = ranks.get(index)
        if not estimate.variation:
            continue
        has_error = [
            index for index in has_value if not math.isnan(estimate.error[index])
        ]
        intervals: dict[int, list[int]] = {}
        if len(has_error) > 1:
            variance = estimate.variation.pair_variances(np.array(has_error))
            ends = rank_intervals(
                values[has_error], variance, estimate.freedom[has_error]
            )
            intervals = dict(zip(has_error, map(list, ends), strict=True))
        for index in ranked:
            records[index][f"{metric.name}_rank_interval"] = intervals.get(index)


def rank_intervals(
    values: Floats, variance: Floats, freedom: Floats
) -> list[tuple[int, int]]:
    """Find the best and the worst rank of each forecaster that no test contradicts
    (`rank_ranges`).

    Who is better of two is judged by the t-test of their difference.

    values: F, larger is better; variance: F × F, of the differences; freedom: F.
    """
    from scipy.special import stdtr

    better = values[:, None] - values
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(better) / np.sqrt(variance)
    # No smaller one is significant, and each takes time.
    t = np.where(np.triu(t) > _MIN_T, t, 0)
    fewer = np.minimum(freedom[:, None], freedom)
    p = 2 * stdtr(fewer, -t)
    p[np.abs(better) <= TIE] = 1
    return rank_ranges(better, p)


def choose_default_metric(
    records: Sequence[ForecasterRecord], events: int
) -> tuple[str, str]:
    """Choose the metric that ranks these records by default, and say why.

    It is the adjusted Brier score, which is the Brier score where all have all events.
    """
    if not records:
        return "brier", "no forecaster has enough events for a rank"
    counts = [record["n_events"] for record in records]
    if min(counts) == events:
        return "brier", "all have all events, so that adjusted Brier is the same"
    fewest = min(counts)
    most = max(counts)
    shown = f"{most} each"
    if fewest < most:
        shown = f"{fewest} to {most}"
    return (
        "adjusted_brier",
        f"forecasters answered different events ({shown} of {events})",
    )
