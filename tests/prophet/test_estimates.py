"""Errors by cluster, resamples, ranks and P(best), each against the slow way or a case that is
known.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.linalg import helmert

from forecasteval.prophet.estimates import clustered_errors, t_intervals
from forecasteval.prophet.ranks import Draws, probability_best, rank_intervals, shrunk_covariance
from prophet_data import SAMPLE, evaluate


def test_shifted_is_the_mean_of_a_mean() -> None:
    """The one-step resample of a mean is the resampled mean itself."""
    x = np.random.default_rng(3).normal(size=(30, 2))
    draws = Draws(30, 20, 1)
    shifted = draws.shifted(x.mean(axis=0), (x - x.mean(axis=0)) / 30)
    assert shifted == pytest.approx(draws.counts @ x / 30, abs=1e-6)


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
    error = stats.sem(noise)
    influence = (noise - noise.mean(axis=0)) / 40
    shares = probability_best(noise.mean(axis=0), influence, error, 4000, 1)
    samples = Draws(40, 4000, 1).shifted(noise.mean(axis=0), influence)
    plain = np.bincount(samples.argmax(axis=1), minlength=5) / 4000
    assert shares.sum() == pytest.approx(1)
    assert shares.max() < plain.max()
    ahead = noise + np.array([1, 0, 0, 0, 0])
    assert probability_best(ahead.mean(axis=0), influence, error, 4000, 1)[0] > 0.99
    twins = np.stack([noise[:, 0]] * 2, axis=1)
    same = probability_best(
        twins.mean(axis=0), (twins - twins.mean(axis=0)) / 40, stats.sem(twins), 1000, 1
    )
    assert same == pytest.approx([0.5, 0.5])


def test_who_is_surely_not_first_is_not_likely_best() -> None:
    """Two who differ by little on every event: shrunk draws alone gave the second .3."""
    problems = [
        {"problem_id": n, "options": ["a", "b"], "correct_answer": "a", "series": f"s{n % 4}"}
        for n in range(12)
    ]
    p = np.random.default_rng(0).uniform(0.3, 0.9, 12)
    rows = [
        {"problem_id": n, "username": name, "prediction": [x - less, 1 - x + less]}
        for name, less in (("ada", 0), ("bob", 0.01), ("cid", 0.02))
        for n, x in enumerate(p.tolist())
    ]
    found = evaluate(rows, problems)["forecasters"]
    for metric in ("brier", "log", "spherical", "irt_ability"):
        for row in found.values():
            first = row[f"{metric}_rank_interval"][0]
            assert row[f"{metric}_best"] == 0 if first > 1 else row[f"{metric}_best"] > 0
        assert sum(row[f"{metric}_best"] for row in found.values()) == pytest.approx(1)
    assert [row["brier_rank_interval"] for row in found.values()] == [[1, 1], [2, 2], [3, 3]]


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


def test_baselines_with_every_event_have_the_interval_of_their_brier_score() -> None:
    """Their adjusted score is their Brier score then; with weights, which models do not count, it
    is not.
    """
    problems, forecasts = SAMPLE
    found = evaluate(forecasts, problems)["baselines"]
    for row in found.values():
        assert row["adjusted_brier"] == pytest.approx(row["brier"], abs=1e-12)
        assert row["adjusted_brier_interval"] == row["brier_interval"]
    weighted = [{**problem, "weight": 1 + n % 3} for n, problem in enumerate(problems)]
    for row in evaluate(forecasts, weighted)["baselines"].values():
        assert row["adjusted_brier_interval"] is None
    some = [{**row, "odds": None} if row["problem_id"] < "pa-0050" else row for row in forecasts]
    market = evaluate(some, problems)["baselines"]["market"]
    assert market["n_events"] < len(problems)
    assert market["adjusted_brier_interval"] is None
