"""The shape of a result, and its parts beside the standings: categories, problems, calibration,
returns, items.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from typing import Any, Final, NotRequired, TypedDict

import numpy as np

from forecasteval.common.records import hash_question

from .arrays import Columns, Floats, make_rows, plain_values, weighted_means
from .events import Events
from .fields import Exclusion
from .horizons import HorizonRow
from .metrics import Matrix
from .models import Models
from .ranks import ForecasterRecord
from .score_table import ForecastScores, sum_bins
from .scores import calibration_errors
from .times import format_time

CURVE_POINTS: Final = 100  # of a curve that the results keep


class Category(TypedDict):
    """The events of a category, and of forecasters how many of them, with mean scores and
    calibration error.
    """

    n_events: int
    forecasters: dict[str, dict[str, Any]]


def score_categories(scored: ForecastScores, ranked: Collection[int]) -> dict[str, Category]:
    """Score the ranked forecasters by category; nothing if no event has a category."""
    events, data = scored.events, scored.forecasts
    if not any(events.category):
        return {}
    names, label = np.unique(
        np.where(events.category == "", "(none)", events.category), False, True
    )
    keys, cell = np.unique(label[data.event] * len(data.names) + data.forecaster, False, True)
    table = {
        name: weighted_means(values, scored.weight, cell, len(keys))
        for name, values in scored.values.items()
    }
    table["ece"] = calibration_errors(sum_bins(scored, cell, len(keys)))
    rows = make_rows({"n_events": np.bincount(cell), **table})
    sizes, categories = np.bincount(label).tolist(), dict[str, Category]()
    for number, who, row in zip(*np.divmod(keys, len(data.names)), rows, strict=True):
        if who in ranked:
            empty = Category(n_events=sizes[number], forecasters={})
            categories.setdefault(names[number], empty)["forecasters"][data.names[who]] = row
    return categories


class ProblemRow(TypedDict):
    """The difficulty and discrimination of a problem (both from IRT), its size."""

    difficulty: float | None
    discrimination: float | None
    n_forecasts: int
    n_options: int
    exclusive: bool


def problem_table(scored: ForecastScores, models: Models) -> dict[str, ProblemRow]:
    """Make a row by id."""
    events = scored.events
    fitted = np.full((2, len(events.ids)), np.nan)
    if models.irt:
        fitted[:, models.irt.events] = models.irt.fit.difficulty, models.irt.fit.discrimination
    columns = {
        "difficulty": fitted[0],
        "discrimination": fitted[1],
        "n_forecasts": np.bincount(scored.forecasts.event),
        "n_options": events.sizes,
        "exclusive": events.exclusive,
    }
    return dict(zip(events.ids, make_rows(columns), strict=True))


class Bin(TypedDict):
    """Probabilities from `low` to `high`: how many, their mean, and how often the options came
    true.
    """

    low: float
    high: float
    n: int
    mean_probability: float | None
    frequency: float | None


def reliability_table(sums: Floats) -> list[Bin]:
    """List the bins of one forecaster; `sums` as in `bin_sums`, shape (6, bins)."""
    (n, w, wp, wo), bins = sums[:4], np.arange(sums.shape[1])
    with np.errstate(invalid="ignore"):
        columns = {
            "low": bins / len(bins),
            "high": (bins + 1) / len(bins),
            "n": n.astype(np.int64),
            "mean_probability": wp / w,
            "frequency": wo / w,
        }
    return make_rows(columns)


def score_curves(scored: ForecastScores) -> dict[str, dict[str, list[object]]]:
    """Compute by forecaster the running mean of every score, in the order in which events close. At
    most 100 points; events with unknown times come last, then by id; None before the first event
    that has the score.
    """
    # The uniform forecast knows nothing, at any time; its name may be that of a forecaster, too.
    events, data = scored.events, scored.forecasts
    scored = scored.part(0, len(data.event) - len(events.ids), data.names)
    data = scored.forecasts
    closed, weights = events.closed[data.event], scored.weight
    times = [format_time(seconds) for seconds in events.closed.tolist()]
    order = np.lexsort((data.event, closed, data.forecaster))
    curves = {}
    changes = np.flatnonzero(np.diff(data.forecaster[order])) + 1
    for group in np.split(order, changes):
        at = np.unique(np.linspace(0, len(group) - 1, CURVE_POINTS).round().astype(np.int64))
        curve: dict[str, list[Any]] = {
            "n_events": (at + 1).tolist(),
            "closed": [times[event] for event in data.event[group[at]].tolist()],
        }
        for name, values in scored.values.items():
            own = values[group]
            weight = np.where(np.isnan(own), 0, weights[group])
            total = np.cumsum(weight)[at]
            if total[-1] > 0:
                sums = np.cumsum(np.nan_to_num(own) * weight)[at]
                curve[name] = plain_values(sums / np.where(total > 0, total, np.nan))
        curves[data.names[data.forecaster[group[0]]]] = curve
    return curves


def make_items(scored: ForecastScores, checksums: Sequence[str]) -> list[dict[str, object]]:
    """Make an `Item` per forecast that counts: the event, the forecaster, every score; `score` is 1
    - Brier.
    """
    events, data, event = scored.events, scored.forecasts, scored.forecasts.event
    clusters = events.cluster_names()
    columns: Columns = {
        "id": events.ids[event],
        "forecaster": [data.names[who] for who in data.forecaster],
        "question": [checksums[at] for at in event],
        "category": [events.category[at] or None for at in event],
        "time": list(map(format_time, data.time.tolist())),
        "outcome": ["scored"] * len(event),
        "weight": scored.weight,
        "cluster": [clusters[at] for at in event],
        "score": 1 - scored.values["brier"],
    }
    return make_rows(columns | scored.values)


class ProphetResult(TypedDict):
    """A result without the keys that all benchmarks have in front; docs/python.md says what each
    key means.
    """

    n_events: int
    n_clusters: int
    n_forecasts: int
    n_pending: int
    n_pending_forecasts: int
    min_events: int
    event_classes: dict[str, int]
    doubtful_events: dict[str, int]
    ranked_by: dict[str, str]
    ranking: list[dict[str, Any]]
    forecasters: dict[str, ForecasterRecord]
    provisional: dict[str, ForecasterRecord]
    baselines: dict[str, ForecasterRecord]
    problems: dict[str, ProblemRow]
    rank_correlation: dict[str, dict[str, Matrix]]  # under "overall", by coefficient
    by_category: dict[str, Category]
    reliability: dict[str, list[Bin]]
    score_curve: dict[str, dict[str, list[Any]]]
    excluded: list[Exclusion]
    fits: dict[str, dict[str, object] | None]
    warnings: list[str]
    signature: dict[str, object]
    horizons: NotRequired[list[HorizonRow]]
    items: NotRequired[list[dict[str, object]]]


# --- Checksums ---


def question_checksums(events: Events) -> list[str]:
    """Make a checksum of each event's id, outcome, class and weight, by which scores are paired."""
    outcomes = [
        "".join("1" if won else "0" for won in part)
        for part in np.split(events.outcome, events.offsets[1:-1])
    ]
    columns = events.ids, outcomes, events.exclusive.tolist(), events.weight.tolist()
    rows = zip(*columns, strict=True)
    return [hash_question(json.dumps([*row, w] if w != 1 else row)) for *row, w in rows]


def hash_data(scored: ForecastScores) -> str:
    """Hash all that the results depend on."""
    events, data = scored.events, scored.forecasts
    names = (column.tolist() for column in (events.ids, events.category, events.series))
    sha = hashlib.sha256(json.dumps([*names, data.names]).encode())
    facts = events.exclusive, events.closed, events.weight, events.sizes, events.outcome
    runs = scored.runs
    forecasts = runs.event, runs.forecaster, runs.time, runs.sizes, runs.p, runs.q, runs.bid
    of_runs = [runs.run] if len(runs.event) > len(scored.forecasts.event) else []
    for column in (*facts, *forecasts, *of_runs):
        sha.update(np.ascontiguousarray(column).data)
    return sha.hexdigest()
