"""What results tell beside the standings: the problems, calibration bins, and returns over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from .arrays import Floats
from .events import Events
from .fields import format_time
from .forecasts import Forecasts
from .irt import IrtFit
from .score_table import Scores

CURVE_POINTS: Final = 200  # of a return curve that the results keep


def problem_table(events: Events, data: Forecasts, irt: IrtFit | None) -> dict[str, Any]:
    """By id: how hard a problem is, how well it tells forecasters apart, its size."""
    unknown = [None] * len(events.ids)
    columns = zip(
        events.ids,
        irt.difficulty.tolist() if irt else unknown,
        irt.discrimination.tolist() if irt else unknown,
        np.bincount(data.event).tolist(),
        events.sizes.tolist(),
        events.exclusive.tolist(),
        strict=True,
    )
    return {
        name: {
            "difficulty": difficulty, "discrimination": discrimination, "n_forecasts": count, "n_options": size,
            "exclusive": exclusive,
        }
        for name, difficulty, discrimination, count, size, exclusive in columns
    }  # fmt: skip


def reliability_table(sums: Floats) -> list[dict[str, Any]]:
    """A dict per bin of one forecaster; `sums` as in `bin_sums`, shape (4, bins)."""
    bins = sums.shape[1]
    return [
        {
            "low": b / bins,
            "high": (b + 1) / bins,
            "n": int(n),
            "mean_probability": wp / w if w else None,
            "frequency": wo / w if w else None,
        }
        for b, (n, w, wp, wo) in enumerate(sums.T.tolist())
    ]


def return_curves(events: Events, data: Forecasts, scores: Scores, returns: Sequence[str]) -> dict[str, Any]:
    """Running means over the priced events in closing order (unknown last, then by id), at most 200 points."""
    if not returns:
        return {}
    paid = np.flatnonzero(~np.isnan(scores.values[returns[0]]))
    order = paid[np.lexsort((data.event[paid], events.closed[data.event[paid]], data.forecaster[paid]))]
    curves = {}
    for group in np.split(order, np.flatnonzero(np.diff(data.forecaster[order])) + 1):
        if not len(group):
            continue
        at = np.unique(np.linspace(0, len(group) - 1, CURVE_POINTS).round().astype(np.int64))
        weight = np.cumsum(data.weight[group])
        curves[data.names[data.forecaster[group[0]]]] = {
            "n_events": (at + 1).tolist(),
            "closed": [format_time(seconds) for seconds in events.closed[data.event[group[at]]].tolist()],
            **{
                name: (np.cumsum(data.weight[group] * scores.values[name][group]) / weight)[at].tolist()
                for name in returns
            },
        }
    return curves
