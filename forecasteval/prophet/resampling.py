"""Bootstrap over events: means of resamples, their percentile intervals, and how often one mean beats another."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from .arrays import Floats, Ints, sums_by_index
from .ranks import RANK_TIE


def bootstrap_means(
    columns: Sequence[tuple[Floats, Floats]], event: Ints, row: Ints, rows: int, resamples: int, seed: int
) -> Floats:
    """Weighted means of every row over resampled events; shape (columns, resamples, rows), nan without an event.

    columns: (values, weights) per forecast, nan where a value does not apply; event, row: integers from 0. A resample
    draws as many events as there are, with replacement, the same for all rows and columns, so that differences are
    paired; the draws depend on the seed and the number of events only.
    """
    events = int(event.max()) + 1
    result = np.empty((len(columns), resamples, rows))
    width = max(1, (1 << 24) // (events * len(columns)))  # rows at a time: the matrices below are dense
    height = max(1, (1 << 21) // events)
    for left in range(0, rows, width):
        right = min(rows, left + width)
        inside = (row >= left) & (row < right)
        cell = event[inside] * (right - left) + row[inside] - left
        matrices: list[Floats] = []
        places: list[tuple[int, int]] = []  # numerator and denominator of each column
        known: dict[bytes, int] = {}  # one denominator serves all metrics of the same events and weights
        for values, weights in columns:
            has = ~np.isnan(values[inside])
            w = np.where(has, weights[inside], 0)
            key = hashlib.sha256(w.tobytes()).digest()
            parts = [np.where(has, values[inside], 0) * w] + ([] if key in known else [w])
            matrices += [sums_by_index(cell, part, events * (right - left)).reshape(events, -1) for part in parts]
            known.setdefault(key, len(matrices) - 1)
            places.append((len(matrices) - len(parts), known[key]))
        stacked = np.hstack(matrices)
        rng = np.random.default_rng(seed)
        for top in range(0, resamples, height):
            size = min(height, resamples - top)
            draws = rng.integers(0, events, (size, events)) + np.arange(size)[:, None] * events
            counts = np.bincount(draws.reshape(-1), minlength=size * events).reshape(size, events)
            sums = (counts.astype(float) @ stacked).reshape(size, len(matrices), -1)
            with np.errstate(invalid="ignore", divide="ignore"):
                for number, (above, below) in enumerate(places):
                    result[number, top : top + size, left:right] = sums[:, above] / sums[:, below]
    return result


def percentile_intervals(samples: Floats, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Both ends of the percentile interval of every column, over its samples that are not nan."""
    ordered = np.sort(samples, axis=0)  # nan comes last
    last = np.maximum((~np.isnan(samples)).sum(axis=0) - 1, 0)
    ends = []
    for share in ((1 - confidence) / 2, (1 + confidence) / 2):
        at = last * share
        low = np.floor(at).astype(np.int64)
        column = np.arange(samples.shape[1])
        below, above = ordered[low, column], ordered[np.minimum(low + 1, last), column]
        ends.append(below + (above - below) * (at - low))
    return ends[0], ends[1]


def beats_share(better: Floats, worse: Floats) -> float | None:
    """The share of resamples in which one mean is above the other, ties half; None if none has both."""
    gap = (better - worse)[~np.isnan(better - worse)]
    return float(((gap > RANK_TIE) + 0.5 * (np.abs(gap) <= RANK_TIE)).mean()) if len(gap) else None
