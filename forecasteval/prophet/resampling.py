"""Bootstrap over events: the same resamples for all forecasters and metrics, so that differences are paired."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import numpy as np

from .arrays import Bools, Floats, Ints, sums_by_index
from .ranks import RANK_TIE

_CELLS: Final = 1 << 24  # numbers of a matrix at a time
LEAST_ERROR: Final = 0.3  # of a resample, as a share of the error of the estimate
_SPREAD: Final = 1e-12  # relative: a standard error below it is 0 but for rounding


class Column(NamedTuple):
    """A metric's value and weight per forecast, nan where it does not apply; `studentised`: its errors are wanted.

    With `base` it is the difference to a value per event; of ten million it is not kept.
    """

    values: Floats
    weights: Floats
    studentised: bool = False
    base: Floats | None = None

    def at(self, event: Ints, where: Bools | slice = slice(None)) -> Floats:
        """The values of the forecasts at `where`, whose events are `event`."""
        return self.values[where] if self.base is None else self.values[where] - self.base[event]


class Resampled(NamedTuple):
    """A column's mean by resample and row, nan without an event, and its standard error if that is wanted."""

    means: Floats
    errors: Floats | None


class Draws:
    """How often each event is in each resample: as many draws as there are events, with replacement.

    They depend on the seed and the number of events only, and come in blocks, the same ones each time.
    """

    def __init__(self, events: int, resamples: int, seed: int) -> None:
        self.events, self.resamples, self.seed = events, resamples, seed
        self._height = max(1, (_CELLS // 8) // events)
        self._kept = list(self._draw()) if resamples * events <= _CELLS else None

    def __iter__(self) -> Iterator[tuple[slice, Floats]]:
        return self._draw() if self._kept is None else iter(self._kept)

    def _draw(self) -> Iterator[tuple[slice, Floats]]:
        rng = np.random.default_rng(self.seed)
        for top in range(0, self.resamples, self._height):
            size = min(self._height, self.resamples - top)
            drawn = rng.integers(0, self.events, (size, self.events)) + np.arange(size)[:, None] * self.events
            counts = np.bincount(drawn.reshape(-1), minlength=size * self.events).reshape(size, self.events)
            yield slice(top, top + size), counts.astype(float)

    def shifted(self, estimate: Floats, influence: Floats) -> Floats:
        """A model's estimates in each resample, one step from the mode: estimate + Σ_e (count_e - 1) influence_e."""
        result = np.empty((self.resamples, len(estimate)))
        for block, counts in self:
            result[block] = estimate + (counts - 1) @ influence
        return result


def resample(columns: Mapping[str, Column], event: Ints, row: Ints, rows: int, draws: Draws) -> dict[str, Resampled]:
    """Weighted means of every row over resampled events; event, row: integers from 0, one value per pair at most."""
    result = {
        name: Resampled(
            np.empty((draws.resamples, rows)), np.empty((draws.resamples, rows)) if column.studentised else None
        )
        for name, column in columns.items()
    }
    width = max(1, _CELLS // (draws.events * 3 * len(columns)))  # rows at a time: the matrices are dense
    for left in range(0, rows, width):
        block = slice(left, min(rows, left + width))
        inside = (row >= left) & (row < left + width)
        _resample_rows(columns, event[inside], row[inside] - left, inside, block, draws, result)
    return result


def _resample_rows(
    columns: Mapping[str, Column], event: Ints, row: Ints, inside: Bools, block: slice, draws: Draws,
    result: Mapping[str, Resampled],
) -> None:  # fmt: skip
    width = block.stop - block.start
    cell, cells = event * width + row, draws.events * width
    sums: list[Floats] = []
    known: list[tuple[Floats, Bools, bool, int]] = []

    def add(values: Floats) -> int:
        sums.append(sums_by_index(cell, values, cells).reshape(draws.events, width))
        return len(sums) - 1

    def denominator(column: Column, has: Bools, squared: bool) -> int:
        """One serves all columns of the same events and weights."""
        for weights, where, square, at in known:
            if weights is column.weights and square == squared and np.array_equal(where, has):
                return at
        w = np.where(has, column.weights[inside], 0)
        known.append((column.weights, has, squared, add(w * w if squared else w)))
        return known[-1][3]

    places: dict[str, tuple[int, ...]] = {}
    for name, column in columns.items():
        x, w = column.at(event, inside), column.weights[inside]
        has = ~np.isnan(x)
        x = np.where(has, x, 0)
        places[name] = add(w * x), denominator(column, has, False)
        if column.studentised:
            places[name] += add(w * w * x * x), add(w * w * x), denominator(column, has, True)
    stacked = np.hstack(sums)
    for part, counts in draws:
        found = (counts @ stacked).reshape(len(counts), len(sums), width)
        with np.errstate(invalid="ignore", divide="ignore"):
            for name, (above, below, *squares) in places.items():
                mean = found[:, above] / found[:, below]
                result[name].means[part, block] = mean
                errors = result[name].errors
                if errors is not None:
                    two, one, none = (found[:, at] for at in squares)
                    spread = two - 2 * mean * one + mean * mean * none
                    spread = np.where(spread > _SPREAD * two, spread, 0)
                    errors[part, block] = np.sqrt(spread) / found[:, below]


def percentile_intervals(samples: Floats) -> tuple[Floats, Floats]:
    """Both ends of the 95 % percentile interval of every column, over its samples that are not nan."""
    ordered = np.sort(samples, axis=0)  # nan comes last; np.nanquantile takes the columns one by one
    last = np.maximum((~np.isnan(samples)).sum(axis=0) - 1, 0)
    column = np.arange(samples.shape[1])
    ends = []
    for share in (0.025, 0.975):
        low = np.floor(last * share).astype(np.int64)
        below, above = ordered[low, column], ordered[np.minimum(low + 1, last), column]
        ends.append(below + (above - below) * (last * share - low))
    return ends[0], ends[1]


def beats_share(better: Floats, worse: Floats) -> float | None:
    """The share of resamples in which one is above the other, ties half; None if none has both."""
    gap = (better - worse)[~np.isnan(better - worse)]
    return float(((gap > RANK_TIE) + 0.5 * (np.abs(gap) <= RANK_TIE)).mean()) if len(gap) else None


def resampled_ranks(samples: Floats) -> tuple[Floats, Floats, Floats]:
    """Per column: both ends of the 95 % interval of its rank, and the probability of being best (ties share it).

    samples: larger is better; a column that a resample does not reach is last there, and never best.
    """
    from scipy.stats import rankdata

    known = ~np.isnan(samples)
    ranks = rankdata(-np.round(np.where(known, samples, -np.inf), 9), method="min", axis=1)
    best = ((ranks == 1) & known).astype(float)
    share = best / np.maximum(best.sum(axis=1, keepdims=True), 1)
    low, high = np.quantile(ranks, [0.025, 0.975], axis=0, method="inverted_cdf")
    return low, high, share.mean(axis=0)


def studentised_intervals(estimate: Floats, error: Floats, sampled: Resampled) -> tuple[Floats, Floats]:
    """Both ends of the 95 % bootstrap-t interval: returns are so skewed that percentiles cover too rarely.

    t = (resampled mean - mean)/its error; a resample without the rare wins has nearly no error of its own, which is
    taken as at least 0.3 of the estimate's. Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993).
    """
    assert sampled.errors is not None
    with np.errstate(invalid="ignore", divide="ignore"):
        t = (sampled.means - estimate) / np.maximum(sampled.errors, LEAST_ERROR * error)
    low, high = percentile_intervals(np.where(error > 0, t, np.where(np.isnan(sampled.means), np.nan, 0)))
    return estimate - high * error, estimate - low * error
