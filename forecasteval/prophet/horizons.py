"""Forecasts at a common time before their events close: who forecasts
later knows more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import numpy as np

from .arrays import Columns, make_rows, weighted_means
from .events import Events
from .forecasts import BASELINES, Forecasts
from .metrics import Metric
from .models import fit_effects
from .score_table import score_forecasts, with_baselines
from .times import HOUR, to_seconds


class HorizonRow(TypedDict):
    """The forecasts at a horizon, and the scores of every forecaster and
    baseline there.
    """

    horizon: str
    hours: float
    n_events: int
    n_forecasts: int
    forecasters: dict[str, dict[str, Any]]
    baselines: dict[str, dict[str, Any]]


def summarise_horizon(
    horizon: str, events: Events, forecasts: Forecasts, metrics: Sequence[Metric]
) -> HorizonRow:
    """Score the forecasts of a horizon by the metrics that take no prices."""
    means = [metric for metric in metrics if metric.is_mean and not metric.is_return]
    scored = score_forecasts(events, with_baselines(events, forecasts), means)
    data = scored.forecasts
    rows = len(data.names)
    columns: Columns = {"n_events": np.bincount(data.forecaster, minlength=rows)}
    for name, values in scored.values.items():
        columns[name] = weighted_means(values, scored.weight, data.forecaster, rows)

    contestants, *_ = scored.split()
    given = contestants.forecasts
    brier = contestants.values["brier"]
    fit = fit_effects(given.forecaster, given.event, brier, events.weight)
    # The baselines have no adjusted score where others lack events, as on the board.
    columns["adjusted_brier"] = [*fit.score.tolist(), *([None] * len(BASELINES))]

    records = make_rows(columns)
    count = rows - len(BASELINES)
    forecasters = dict(zip(data.names, records[:count], strict=False))
    baselines = zip(BASELINES, records[count:], strict=True)
    return HorizonRow(
        horizon=horizon,
        hours=to_seconds(horizon) / HOUR,
        n_events=len(events.ids),
        n_forecasts=len(given.event),
        forecasters=forecasters,
        baselines={name: row for name, row in baselines if row["n_events"]},
    )


def find_leader(row: Mapping[str, Any], ranked: Mapping[str, object]) -> str:
    """Find the forecaster of the best adjusted Brier score among those who are ranked;
    "" without any.
    """
    scores = {
        name: record["adjusted_brier"]
        for name, record in row["forecasters"].items()
        if name in ranked
    }
    return min(scores, key=lambda name: (scores[name], name), default="")
