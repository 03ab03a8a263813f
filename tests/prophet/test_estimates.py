"""Errors by cluster, resamples, ranks and P(best), each against the slow way or a case that is
known.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.linalg import helmert

from forecasteval.prophet.estimates import estimate_means
from forecasteval.prophet.ranks import Draws, probability_best, rank_intervals, shrunk_covariance
from prophet_data import SAMPLE, evaluate


def test_shifted_is_the_mean_of_a_mean() -> None:
    """The one-step resample of a mean is the resampled mean itself."""
    x = np.random.default_rng(3).normal(size=(30, 2))
    draws = Draws(30, 20, 1)
    shifted = draws.shifted(x.mean(axis=0), (x - x.mean(axis=0)) / 30)
    assert shifted == pytest.approx(draws.counts @ x / 30, abs=1e-6)


def test_interval_of_a_weighted_mean_by_cluster() -> None:
    """The t interval over clusters, by hand; with clusters of one event and equal weights that of
    scipy.
    """
    rng = np.random.default_rng(5)
    x, weight, cluster = rng.random(12), rng.uniform(1, 3, 12), np.repeat(np.arange(4), 3)
    row, mean = np.zeros(12, dtype=np.int64), np.average(x, weights=weight)
    estimate = estimate_means(x, weight, row, cluster, 1)
    assert (estimate.values, estimate.counts, estimate.clusters) == (
        [pytest.approx(mean)],
        [12],
        [4],
    )
    sums = [(weight * (x - mean))[cluster == c].sum() / weight.sum() for c in range(4)]
    assert estimate.error == pytest.approx(math.sqrt(sum(s * s for s in sums) * 4 / 3))
    alone = estimate_means(x, np.ones(12), row, np.arange(12), 1)
    assert alone.bounds(0) == pytest.approx(stats.t.interval(0.95, 11, x.mean(), stats.sem(x)))


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


def test_ranks_of_resamples() -> None:
    """Ties share the better rank."""
    low, high = rank_intervals(np.array([[1.0, 1.0, 0.0], [3.0, 2.0, 1.0], [0.0, 1.0, -1.0]] * 25))
    assert [low.tolist(), high.tolist()] == [[1, 1, 3], [2, 2, 3]]


def test_probability_best_shrinks() -> None:
    """Equal skills: near equal shares where resamples name the luckiest; a real lead is still seen;
    twins share.
    """
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.1, (40, 5))
    clusters = np.full(5, 40)
    influence = (noise - noise.mean(axis=0)) / 40
    shares = probability_best(noise.mean(axis=0), influence, clusters, 4000, 1)
    plain = (
        np.bincount(
            Draws(40, 4000, 1).shifted(noise.mean(axis=0), influence).argmax(axis=1), minlength=5
        )
        / 4000
    )
    assert shares.sum() == pytest.approx(1)
    assert shares.max() < plain.max()
    ahead = noise + np.array([1, 0, 0, 0, 0])
    assert probability_best(ahead.mean(axis=0), influence, clusters, 4000, 1)[0] > 0.99
    twins = np.stack([noise[:, 0]] * 2, axis=1)
    same = probability_best(
        twins.mean(axis=0), (twins - twins.mean(axis=0)) / 40, clusters[:2], 1000, 1
    )
    assert same == pytest.approx([0.5, 0.5])


def test_covariance_of_few_clusters_is_drawn_towards_independence() -> None:
    """Many clusters: the sum itself, twins included. Fewer than forecasters: no direction is
    without error.
    """
    rng = np.random.default_rng(1)
    for clusters, size in ((5000, 3), (10, 30)):
        parts = rng.normal(0, 1, (clusters, size))
        parts[:, 1] += 3 * parts[:, 0]
        basis = helmert(size)
        plain = basis @ parts.T @ parts @ basis.T
        found = shrunk_covariance(parts, basis)
        assert np.trace(found) == pytest.approx(np.trace(plain))
        if clusters > size:
            assert found == pytest.approx(plain, rel=0.02, abs=0.002 * np.trace(plain))
        else:
            assert np.linalg.eigvalsh(plain)[0] == pytest.approx(0, abs=1e-9)
            assert np.linalg.eigvalsh(found)[0] > 0.1 * np.trace(plain) / size
