"""The events by category: who scored how in each, and how well the metrics agree there."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from .arrays import Ints, plain_number, weighted_means
from .events import Events
from .forecasts import Forecasts
from .ranks import agreement_tables
from .score_table import Scores
from .scores import calibration_errors


class Cells(NamedTuple):
    """The pairs of category and forecaster that occur; `cell` numbers them for each forecast.

    `labels` holds the category of every event; it is empty, and all is one category, if no event has one.
    """

    labels: list[str]
    names: list[str]
    cell: Ints
    category: Ints
    forecaster: Ints


def make_cells(events: Events, data: Forecasts) -> Cells:
    """The cells of some forecasts."""
    count = len(data.names)
    labels = [category or "(none)" for category in events.category] if any(events.category) else []
    names = sorted(set(labels))
    number = {name: at for at, name in enumerate(names)}
    of_event = np.array([number[label] for label in labels] or [0] * len(events.ids))
    keys, cell = np.unique(of_event[data.event] * count + data.forecaster, return_inverse=True)
    return Cells(labels, names, cell, keys // count, keys % count)


def category_results(
    cells: Cells, data: Forecasts, scores: Scores, ranked: Collection[int]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """By category: events, mean scores of the ranked forecasters; and the rank correlations."""
    size = len(cells.category)
    table = {
        metric: weighted_means(column, data.weight, cells.cell, size)[0] for metric, column in scores.values.items()
    }
    table["ece"] = calibration_errors(scores.bins)
    counts = np.bincount(cells.cell, minlength=size)
    found: dict[str, Any] = {}
    agreement: dict[str, Any] = {}
    for number, category in enumerate(cells.names):
        own = [at for at in np.flatnonzero(cells.category == number) if int(cells.forecaster[at]) in ranked]
        found[category] = {
            "n_events": cells.labels.count(category),
            "forecasters": {
                data.names[cells.forecaster[at]]: {
                    "n_events": int(counts[at]),
                    **{metric: plain_number(column[at]) for metric, column in table.items()},
                }
                for at in own
            },
        }
        agreement[category] = agreement_tables({metric: column[own] for metric, column in table.items()})
    return found, agreement
