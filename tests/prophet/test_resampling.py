"""The bootstrap by hand, and how often its intervals cover."""

from __future__ import annotations

import math

import numpy as np
import pytest

from forecasteval.prophet.resampling import bootstrap_means, percentile_intervals


def test_bootstrap_by_hand() -> None:
    """The same draws for all rows; weights; rows with gaps; percentiles as numpy's."""
    rng = np.random.default_rng(8)
    event, row = np.repeat(np.arange(50), 3), np.tile(np.arange(3), 50)
    keep = (row == 0) | (rng.random(150) < 0.4)
    event, row = event[keep], row[keep]
    x, w = rng.normal(size=len(event)), rng.uniform(0.5, 2, len(event))
    y = np.where(rng.random(len(event)) < 0.5, x, math.nan)
    means = bootstrap_means([(x, w), (y, w)], event, row, 3, 40, seed=9)
    draws = np.random.default_rng(9).integers(0, 50, (40, 50))
    for number, values in enumerate((x, y)):
        for b in range(40):
            for r in range(3):
                parts = [at for e in draws[b] for at in np.flatnonzero((event == e) & (row == r) & ~np.isnan(values))]
                naive = np.average(values[parts], weights=w[parts]) if parts else math.nan
                assert means[number, b, r] == pytest.approx(naive, rel=1e-9, nan_ok=True)
    means[0, :7, 1] = math.nan
    low, high = percentile_intervals(means[0])
    assert np.array([low, high]) == pytest.approx(np.nanpercentile(means[0], [2.5, 97.5], axis=0), rel=1e-12)


def test_interval_covers() -> None:
    """Nominal 95 % over 200 data sets of 80 events."""
    rng = np.random.default_rng(1)
    event, row, hits = np.arange(80), np.zeros(80, dtype=int), 0
    for seed in range(200):
        x = rng.beta(2, 5, 80)
        (low,), (high,) = percentile_intervals(bootstrap_means([(x, np.ones(80))], event, row, 1, 300, seed)[0])
        hits += low <= 2 / 7 <= high
    assert 180 <= hits <= 199
