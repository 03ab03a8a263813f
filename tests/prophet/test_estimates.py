"""Errors by cluster, resamples, ranks and P(best), each against the slow way or a case that is
known.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from forecasteval.prophet.estimates import (
    clustered_errors,
    difference_variances,
    scale_columns,
    t_intervals,
)
from forecasteval.prophet.models import fit_effects
from forecasteval.prophet.ranks import rank_intervals
from prophet_data import SAMPLE, evaluate


def mean_interval(x: np.ndarray, cluster: np.ndarray, weight: np.ndarray) -> tuple[float, ...]:
    """The error, the degrees of freedom and the ends of the interval of a mean."""
    size = int(cluster.max()) + 1
    shares = np.bincount(cluster, weight, size)[:, None] / weight.sum()
    residual = weight * (x - np.average(x, weights=weight)) / weight.sum()
    error, freedom = clustered_errors(np.bincount(cluster, residual, size)[:, None], shares)
    ends = t_intervals(np.array([np.average(x, weights=weight)]), error, freedom)
    return float(error[0]), float(freedom[0]), float(ends[0][0]), float(ends[1][0])


def test_errors_of_equal_clusters() -> None:
    """Those of a t interval of the clusters' means; of clusters of one event those of scipy."""
    x = np.random.default_rng(5).random(12)
    error, freedom, *ends = mean_interval(x, np.repeat(np.arange(4), 3), np.ones(12))
    means = x.reshape(4, 3).mean(axis=1)
    assert (error, freedom) == pytest.approx((stats.sem(means), 3))
    alone = mean_interval(x, np.arange(12), np.ones(12))[2:]
    assert alone == pytest.approx(stats.t.interval(0.95, 11, x.mean(), stats.sem(x)))
    assert ends == pytest.approx(stats.t.interval(0.95, 3, x.mean(), stats.sem(means)))


@pytest.mark.parametrize("weighted", [False, True])
def test_errors_of_unequal_clusters_by_their_matrices(weighted: bool) -> None:
    """CR2 and Bell and McCaffrey's degrees of freedom, by the eigenvalues that the closed form
    leaves out.
    """
    rng = np.random.default_rng(2)
    sizes = np.array([46, 3, 3, 2, 2, 1])
    cluster = np.repeat(np.arange(6), sizes)
    x, weight = rng.random(57), rng.uniform(1, 3, 57) if weighted else np.ones(57)
    n = np.bincount(cluster, weight)
    total = n.sum()
    e = np.bincount(cluster, weight * (x - np.average(x, weights=weight))) / total
    a = 1 / (1 - n / total)
    k = (np.diag(n) - np.outer(n, n) / total) / total**2
    roots = np.linalg.eigvalsh(np.sqrt(np.outer(a, a)) * k)
    error, freedom, *_ = mean_interval(x, cluster, weight)
    assert error == pytest.approx(math.sqrt((e**2 * a).sum()))
    assert freedom == pytest.approx(roots.sum() ** 2 / (roots**2).sum())
    assert freedom < 2  # nearly all of the weight is in one cluster


@pytest.mark.parametrize("sizes", [[5], [46, 1]])
def test_too_few_clusters_have_no_error(sizes: list[int]) -> None:
    x = np.random.default_rng(1).random(sum(sizes))
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    error, freedom, *_ = mean_interval(x, cluster, np.ones(len(x)))
    assert math.isnan(error) == (len(sizes) < 2)
    assert len(sizes) < 2 or freedom == pytest.approx(1)


def test_series_widen_intervals_and_returns() -> None:
    """The same events twice are no more evidence, once they are said to be of one series."""
    problems, forecasts = SAMPLE
    twin = [{**row, "problem_id": f"{row['problem_id']}+"} for row in forecasts]
    twice = [{**row, "problem_id": f"{row['problem_id']}+"} for row in problems]
    one = evaluate(forecasts, problems, late="keep")
    named = [{**row, "series": row["problem_id"].rstrip("+")} for row in problems + twice]
    both = evaluate(forecasts + twin, named, late="keep")
    assert (one["n_clusters"], both["n_clusters"], both["n_events"]) == (200, 200, 400)
    for name, row in one["forecasters"].items():
        for metric in ("brier", "log", "adjusted_brier"):
            assert both["forecasters"][name][f"{metric}_interval"] == pytest.approx(
                row[f"{metric}_interval"], abs=1e-9
            )
        for metric in ("return_0", "return_1"):
            low, high = both["forecasters"][name][f"{metric}_interval"]
            assert high - low == pytest.approx(np.diff(row[f"{metric}_interval"])[0], rel=0.2)


def test_baselines_with_every_event_have_the_interval_of_their_brier_score() -> None:
    """Their adjusted score is their Brier score then, also with weights."""
    problems, forecasts = SAMPLE
    weighted = [{**problem, "weight": 1 + n % 3} for n, problem in enumerate(problems)]
    for given in (problems, weighted):
        for row in evaluate(forecasts, given)["baselines"].values():
            assert row["adjusted_brier"] == pytest.approx(row["brier"], abs=1e-12)
            assert row["adjusted_brier_interval"] == row["brier_interval"]
    some = [{**row, "odds": None} if row["problem_id"] < "pa-0050" else row for row in forecasts]
    market = evaluate(some, problems)["baselines"]["market"]
    assert market["n_events"] < len(problems)
    assert market["adjusted_brier_interval"] is None


def rank_board(events: int, seed: int, spread: float = 0.12) -> tuple[Any, Any]:
    """Both ends of the rank intervals of eight forecasters of close skill, and their true ranks."""
    rng = np.random.default_rng(seed)
    x, skill = rng.normal(0, 1.2, events), rng.normal(0.5, spread, 8).clip(0.1)
    won = rng.random(events) < 1 / (1 + np.exp(-x))
    seen = x[:, None] + rng.normal(0, 1, (events, 8)) * skill
    values = -((1 / (1 + np.exp(-seen)) - won[:, None]) ** 2)
    influence = (values - values.mean(axis=0)) / events
    error, freedom = clustered_errors(influence, np.full((events, 8), 1 / events))
    variance = difference_variances(scale_columns(influence, error))
    ends = rank_intervals(values.mean(axis=0), variance, freedom)
    return np.transpose(ends), skill.argsort().argsort() + 1


def test_rank_intervals_hold_the_true_ranks() -> None:
    """All of a board at once."""
    inside, first = [], []
    for seed in range(150):
        (low, high), true = rank_board(80, seed)
        inside.append(((low <= true) & (true <= high)).all())
        first.append(low[true == 1][0] == 1)
    assert np.mean(inside) >= 0.95
    assert np.mean(first) >= 0.95


def test_rank_intervals_of_the_surely_apart_and_of_twins() -> None:
    """Twins share a rank; a difference that never varies is sure."""
    noise = np.random.default_rng(0).normal(0, 0.1, 40)
    values = np.stack([noise + 1, noise, noise, noise - 1], axis=1)
    influence = (values - values.mean(axis=0)) / 40
    error, freedom = clustered_errors(influence, np.full((40, 4), 1 / 40))
    variance = difference_variances(scale_columns(influence, error))
    ends = rank_intervals(values.mean(axis=0), variance, freedom)
    assert ends == [(1, 1), (2, 3), (2, 3), (4, 4)]


def test_leaving_out_uncertain_events_gains_no_first_place() -> None:
    """Of eight equal forecasters one omits the 5 % of events nearest ½: first in an eighth of
    boards, as before. By the Brier score alone it was first in .3.
    """
    rng, firsts, plain = np.random.default_rng(0), 0, 0
    for _ in range(400):
        p = np.clip(rng.random((100, 1)) + rng.normal(0, 0.1, (100, 8)), 0.01, 0.99)
        won = rng.random(100) < p.mean(axis=1)
        scores = (p - won[:, None]) ** 2
        present = np.ones((100, 8), dtype=bool)
        present[np.argsort(np.abs(p[:, 0] - 0.5))[:5], 0] = False
        j, i = np.nonzero(present)
        firsts += fit_effects(i, j, scores[j, i]).score.argmin() == 0
        plain += ((scores * present).sum(axis=0) / present.sum(axis=0)).argmin() == 0
    assert firsts <= 0.15 * 400 < plain
