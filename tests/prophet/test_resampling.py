"""The bootstrap by hand: means, errors, one-step models, intervals, ranks; and how often its intervals cover."""

from __future__ import annotations

import math

import numpy as np
import pytest

from forecasteval.prophet import resampling
from forecasteval.prophet.resampling import (
    Column,
    Draws,
    Resampled,
    percentile_intervals,
    resample,
    resampled_ranks,
    studentised_intervals,
)


@pytest.mark.parametrize("cells", [1 << 24, 500])
def test_bootstrap_by_hand(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same draws for all rows; weights; rows with gaps; blocks of any size."""
    monkeypatch.setattr(resampling, "_CELLS", cells)
    rng = np.random.default_rng(8)
    event, row = np.repeat(np.arange(50), 3), np.tile(np.arange(3), 50)
    keep = (row == 0) | (rng.random(150) < 0.4)
    event, row = event[keep], row[keep]
    x, w = rng.normal(size=len(event)), rng.uniform(0.5, 2, len(event))
    y = np.where(rng.random(len(event)) < 0.5, x, math.nan)
    found = resample({"x": Column(x, w), "y": Column(y, w, studentised=True)}, event, row, 3, Draws(50, 40, 9))
    draws = np.random.default_rng(9).integers(0, 50, (40, 50))
    assert found["x"].errors is None
    for name, values in (("x", x), ("y", y)):
        for b in range(40):
            for r in range(3):
                parts = [at for e in draws[b] for at in np.flatnonzero((event == e) & (row == r) & ~np.isnan(values))]
                naive = np.average(values[parts], weights=w[parts]) if parts else math.nan
                assert found[name].means[b, r] == pytest.approx(naive, rel=1e-9, nan_ok=True)
                if name == "y":
                    error = math.sqrt(sum((w[parts] * (values[parts] - naive)) ** 2)) / sum(w[parts])
                    assert found[name].errors[b, r] == pytest.approx(error, rel=1e-6, abs=1e-9, nan_ok=True)


def test_percentiles_are_those_of_numpy() -> None:
    samples = np.random.default_rng(0).normal(size=(200, 3))
    samples[:7, 1] = math.nan
    samples[:, 2] = math.nan
    low, high = percentile_intervals(samples)
    assert [low[:2], high[:2]] == [pytest.approx(x) for x in np.nanpercentile(samples[:, :2], [2.5, 97.5], axis=0)]
    assert np.isnan([low[2], high[2]]).all()


def test_shifted_is_the_mean_of_a_mean() -> None:
    """The one-step resample of a mean is the resampled mean itself."""
    x = np.random.default_rng(3).normal(size=(30, 2))
    draws = Draws(30, 20, 1)
    (_, counts), *_ = draws
    shifted = draws.shifted(x.mean(axis=0), (x - x.mean(axis=0)) / 30)
    assert shifted == pytest.approx(counts @ x / 30, abs=1e-12)


def test_interval_covers() -> None:
    """Nominal 95 % over 200 data sets of 80 events."""
    rng = np.random.default_rng(1)
    event, row, hits = np.arange(80), np.zeros(80, dtype=int), 0
    for seed in range(200):
        x = rng.beta(2, 5, 80)
        found = resample({"x": Column(x, np.ones(80))}, event, row, 1, Draws(80, 300, seed))["x"]
        (low,), (high,) = percentile_intervals(found.means)
        hits += low <= 2 / 7 <= high
    assert 180 <= hits <= 199


def test_studentised_interval_covers_skewed_returns_where_percentiles_do_not() -> None:
    """A win of 8 in one event of ten, else nothing: 30 events."""
    rng = np.random.default_rng(2)
    event, row, hits = np.arange(30), np.zeros(30, dtype=int), np.zeros(2)
    for seed in range(200):
        x = 8.0 * (rng.random(30) < 0.1) + rng.random(30) / 10
        found = resample({"x": Column(x, np.ones(30), studentised=True)}, event, row, 1, Draws(30, 300, seed))["x"]
        error = np.array([x.std() / math.sqrt(30)])
        studentised = studentised_intervals(np.array([x.mean()]), error, found)
        for at, ends in enumerate((percentile_intervals(found.means), studentised)):
            hits[at] += ends[0][0] <= 0.85 <= ends[1][0]
    assert hits[1] / 200 > 0.9 > hits[0] / 200


def test_studentised_interval_without_spread_is_a_point() -> None:
    found = Resampled(np.full((50, 1), 2.0), np.zeros((50, 1)))
    assert studentised_intervals(np.array([2.0]), np.zeros(1), found) == (2.0, 2.0)


def test_ranks_of_resamples() -> None:
    """Ties share the best rank and the chance to be best; who is not in a resample is last in it, never best."""
    samples = np.array([[1.0, 1.0, 0.0], [3.0, 2.0, 1.0], [3.0, 2.0, np.nan], [0.0, 1.0, np.nan]] * 25)
    low, high, best = resampled_ranks(samples)
    assert best.tolist() == [0.625, 0.375, 0]
    assert [low.tolist(), high.tolist()] == [[1, 1, 3], [2, 2, 3]]
    assert resampled_ranks(np.full((4, 2), np.nan))[2].tolist() == [0, 0]
