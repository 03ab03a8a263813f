"""Results beside the standings: groups of forecasts, problems, calibration, returns over time, items, checksums."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from forecasteval.common.results import hash_question

from .arrays import Floats, Ints, plain_number, weighted_means
from .events import Events
from .fields import format_time
from .forecasts import Forecasts
from .models import Models
from .ranks import agreement_tables
from .score_table import Scores
from .scores import calibration_errors

CURVE_POINTS: Final = 200  # of a return curve that the results keep


class Groups(NamedTuple):
    """Forecasts by the label that each has; `cell` numbers the pairs of label and forecaster that occur."""

    names: Sequence[str]
    cell: Ints
    label: Ints
    forecaster: Ints


def group_forecasts(names: Sequence[str], label: Ints, data: Forecasts) -> Groups:
    """`label` is a place in `names` for every forecast."""
    count = len(data.names)
    keys, cell = np.unique(label * count + data.forecaster, return_inverse=True)
    return Groups(names, cell, keys // count, keys % count)


def by_category(events: Events, data: Forecasts) -> Groups:
    """One group without a name if no event has a category."""
    labels = [category or "(none)" for category in events.category] if any(events.category) else [""]
    names = sorted(set(labels))
    at = np.array([names.index(label) for label in labels])
    return group_forecasts(names, at[data.event if len(labels) > 1 else np.zeros_like(data.event)], data)


def group_results(groups: Groups, data: Forecasts, scores: Scores, ranked: set[int]) -> dict[str, Any]:
    """By label: its events, and of the ranked forecasters the mean scores and calibration errors."""
    size = len(groups.label)
    table = {name: weighted_means(column, data.weight, groups.cell, size)[0] for name, column in scores.values.items()}
    table["ece"] = calibration_errors(scores.bins)
    counts = np.bincount(groups.cell, minlength=size)
    label = groups.label[groups.cell]
    by_label: dict[str, Any] = {}
    for number, name in enumerate(groups.names):
        cells = [at for at in np.flatnonzero(groups.label == number) if int(groups.forecaster[at]) in ranked]
        if name and cells:
            by_label[name] = {
                "n_events": len(np.unique(data.event[label == number])),
                "forecasters": {
                    data.names[groups.forecaster[at]]: {
                        "n_events": int(counts[at]),
                        **{metric: plain_number(column[at]) for metric, column in table.items()},
                    }
                    for at in cells
                },
            }
    return by_label


def group_agreement(by_label: dict[str, Any], metrics: Sequence[str]) -> dict[str, Any]:
    """How well the metrics agree in each group of `group_results`."""
    return {
        name: agreement_tables(
            {
                metric: np.array([row[metric] for row in group["forecasters"].values()], dtype=float)
                for metric in metrics
            }
        )
        for name, group in by_label.items()
    }


def problem_table(events: Events, data: Forecasts, models: Models) -> dict[str, Any]:
    """By id: how hard a problem is, how well it tells forecasters apart, its size."""
    difficulty, discrimination = np.full((2, len(events.ids)), np.nan)
    if models.irt:
        difficulty[models.answered] = models.irt.difficulty
        discrimination[models.answered] = models.irt.discrimination
    columns = zip(
        events.ids,
        map(plain_number, difficulty.tolist()),
        map(plain_number, discrimination.tolist()),
        np.bincount(data.event).tolist(),
        events.sizes.tolist(),
        events.exclusive.tolist(),
        strict=True,
    )
    keys = ("difficulty", "discrimination", "n_forecasts", "n_options", "exclusive")
    return {name: dict(zip(keys, values, strict=True)) for name, *values in columns}


def reliability_table(sums: Floats) -> list[dict[str, Any]]:
    """A dict per bin of one forecaster; `sums` as in `bin_sums`, shape (6, bins)."""
    bins = sums.shape[1]
    return [
        {
            "low": b / bins,
            "high": (b + 1) / bins,
            "n": int(n),
            "mean_probability": wp / w if w else None,
            "frequency": wo / w if w else None,
        }
        for b, (n, w, wp, wo) in enumerate(sums[:4].T.tolist())
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


def make_items(events: Events, data: Forecasts, scores: Scores, checksums: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A dict per forecast that counts: the event, the forecaster, every score; `score` is 1 - Brier."""
    columns = {name: values.tolist() for name, values in scores.values.items()}
    clusters = events.cluster_names()
    for at, (event, who, time) in enumerate(
        zip(data.event.tolist(), data.forecaster.tolist(), data.time.tolist(), strict=True)
    ):
        yield {
            "id": events.ids[event],
            "forecaster": data.names[who],
            "question": checksums[event],
            "category": events.category[event] or None,
            "time": format_time(time),
            "outcome": "scored",
            "weight": float(data.weight[at]),
            "cluster": clusters[event],
            "score": 1 - columns["brier"][at],
            **{name: plain_number(values[at]) for name, values in columns.items()},
        }


# --- Checksums ---


def question_checksums(events: Events, data: Forecasts) -> list[str]:
    """By event: a checksum of its id, outcome, class and weight, by which the scores of two files are paired."""
    ends = events.offsets.tolist()
    weight = np.ones(len(events.ids))
    weight[data.event] = data.weight
    outcome = "".join("1" if won else "0" for won in events.outcome.tolist())
    columns = zip(events.ids, ends, ends[1:], events.exclusive.tolist(), weight.tolist(), strict=False)
    return [
        hash_question(json.dumps([name, outcome[low:high], exclusive, *([w] if w != 1 else [])]))
        for name, low, high, exclusive, w in columns
    ]


def hash_data(events: Events, data: Forecasts) -> str:
    """sha256 of all that the results depend on."""
    sha = hashlib.sha256(json.dumps([events.ids, events.category, events.series, data.names]).encode())
    for column in (events.offsets, events.outcome, events.exclusive, events.closed, data.event, data.forecaster):
        sha.update(np.nan_to_num(column, nan=-1.0).tobytes())
    sha.update(data.weight.tobytes())
    sha.update(np.nan_to_num(data.time, nan=-1.0).tobytes())
    for _, options, _ in data.chunks():
        for column in (data.p[options], data.q[options], data.mid[options]):
            sha.update(np.nan_to_num(column, nan=-1.0).tobytes())
    return sha.hexdigest()
