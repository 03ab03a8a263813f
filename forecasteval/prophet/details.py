"""The shape of a result, and its parts beside the standings: categories, problems,
calibration, returns, items.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NotRequired, TypedDict

import numpy as np

from forecasteval.common.records import hash_question, hash_questions

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
    """The events of a category, and of forecasters how many of them, with mean scores
    and calibration error.
    """

    n_events: int
    forecasters: dict[str, dict[str, Any]]


def score_categories(
    scored: ForecastScores, ranked: Collection[int]
) -> dict[str, Category]:
    """Score the ranked forecasters by category; nothing if no event has a category."""
    events, data = scored.events, scored.forecasts
    if not any(events.category):
        return {}
    names, label = np.unique(
        np.where(events.category == "", "(none)", events.category), False, True
    )
    keys, cell = np.unique(
        label[data.event] * len(data.names) + data.forecaster, False, True
    )
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
            categories.setdefault(names[number], empty)["forecasters"][
                data.names[who]
            ] = row
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
    difficulty, discrimination = np.full((2, len(events.ids)), np.nan)
    if models.irt:
        difficulty[models.irt.events] = models.irt.fit.difficulty
        discrimination[models.irt.events] = models.irt.fit.discrimination
    columns = {
        "difficulty": difficulty,
        "discrimination": discrimination,
        "n_forecasts": np.bincount(scored.forecasts.event),
        "n_options": events.sizes,
        "exclusive": events.exclusive,
    }
    return dict(zip(events.ids, make_rows(columns), strict=True))


class Bin(TypedDict):
    """Probabilities from `low` to `high`: how many, their mean, and how often the
    options came true.
    """

    low: float
    high: float
    n: int
    mean_probability: float | None
    frequency: float | None


def reliability_table(sums: Floats) -> list[Bin]:
    """List the bins of one forecaster; `sums` as in `bin_sums`, shape (6, bins)."""
    n, weight, weighted_p, weighted_outcome = sums[:4]
    edges = np.arange(len(n) + 1) / len(n)
    with np.errstate(invalid="ignore"):
        columns = {
            "mean_probability": weighted_p / weight,
            "frequency": weighted_outcome / weight,
        }
    columns |= {"low": edges[:-1], "high": edges[1:]}
    return make_rows({**columns, "n": n.astype(np.int64)})


def score_curves(scored: ForecastScores) -> dict[str, dict[str, list[object]]]:
    """Compute by forecaster the running mean of every score, in the order in which
    events close. At most 100 points; events with unknown times come last, then by id;
    None before the first event that has the score.
    """
    # The uniform forecast knows nothing, at any time; its name may be that of a
    # forecaster, too.
    events, data = scored.events, scored.forecasts
    scored = scored.part(0, len(data.event) - len(events.ids), data.names)
    data = scored.forecasts
    closed, weights = events.closed[data.event], scored.weight
    times = [format_time(seconds) for seconds in events.closed.tolist()]
    order = np.lexsort((data.event, closed, data.forecaster))
    curves = {}
    changes = np.flatnonzero(np.diff(data.forecaster[order])) + 1
    for group in np.split(order, changes):
        points = np.linspace(0, len(group) - 1, CURVE_POINTS).round()
        at = np.unique(points.astype(np.int64))
        curve: dict[str, list[Any]] = {"n_events": (at + 1).tolist()}
        curve["closed"] = [times[event] for event in data.event[group[at]].tolist()]
        for name, values in scored.values.items():
            scores = values[group]
            weight = np.where(np.isnan(scores), 0, weights[group])
            total = np.cumsum(weight)[at]
            if total[-1] > 0:
                sums = np.cumsum(np.nan_to_num(scores) * weight)[at]
                curve[name] = plain_values(sums / np.where(total > 0, total, np.nan))
        curves[data.names[data.forecaster[group[0]]]] = curve
    return curves


def make_items(
    scored: ForecastScores, checksums: Sequence[str]
) -> list[dict[str, object]]:
    """Make an `Item` per forecast that counts: the event, the forecaster, every
    score; `score` is 1
    - Brier.
    """
    events, data = scored.events, scored.forecasts
    by_event: dict[str, Any] = {
        "id": events.ids,
        "question": checksums,
        "category": [category or None for category in events.category],
        "cluster": events.cluster_names(),
    }
    event_numbers = data.event.tolist()
    columns: Columns = {
        name: [values[event] for event in event_numbers]
        for name, values in by_event.items()
    }
    columns["forecaster"] = [data.names[who] for who in data.forecaster.tolist()]
    columns["time"] = list(map(format_time, data.time.tolist()))
    columns["outcome"] = ["scored"] * len(event_numbers)
    columns["weight"] = scored.weight
    columns["score"] = 1 - scored.values["brier"]
    rows: list[dict[str, object]] = make_rows(columns | scored.values)
    for row, event in zip(rows, event_numbers, strict=True):
        row.update(events.columns[event])
    return rows


class Counts(TypedDict):
    """How many events and forecasts of which kind."""

    n_events: int
    n_clusters: int
    n_forecasts: int
    n_pending: int
    n_pending_forecasts: int
    min_events: int
    event_classes: dict[str, int]
    doubtful_events: dict[str, int]


class Standings(TypedDict):
    """Forecasters with their ranks."""

    ranked_by: dict[str, str]
    ranking: list[dict[str, Any]]
    forecasters: dict[str, ForecasterRecord]
    provisional: dict[str, ForecasterRecord]
    baselines: dict[str, ForecasterRecord]


class Tables(TypedDict):
    """What the forecasts say beside the standings."""

    problems: dict[str, ProblemRow]
    by_category: dict[str, Category]
    reliability: dict[str, list[Bin]]
    score_curve: dict[str, dict[str, list[Any]]]


class Board(Counts, Standings, Tables):
    """What every result has."""

    rank_correlation: dict[str, dict[str, Matrix]]  # under "overall", by coefficient
    excluded: list[Exclusion]
    fits: dict[str, dict[str, object] | None]
    warnings: list[str]
    signature: dict[str, object]


class ProphetResult(Board):
    """A result without the keys that all benchmarks have in front."""

    horizons: NotRequired[list[HorizonRow]]
    items: NotRequired[list[dict[str, object]]]


def count_events(
    scored: ForecastScores,
    pending: Mapping[str, int],
    min_events: int,
    doubtful: dict[str, int],
) -> Counts:
    """Count events and forecasts, those that are `pending` and the
    `doubtful` ones too.
    """
    events = scored.events
    return Counts(
        n_events=len(events.ids),
        n_clusters=len(set(events.cluster_names())),
        n_forecasts=len(scored.runs.event),
        n_pending=pending["event"],
        n_pending_forecasts=pending["forecast"],
        min_events=min_events,
        event_classes=events.classes(),
        doubtful_events=doubtful,
    )


def make_tables(
    everything: ForecastScores, models: Models, bins: Floats, ranked: Collection[int]
) -> Tables:
    """Make the tables of all forecasters, of categories of the `ranked` ones; `bins`:
    as in `sum_bins`, by forecaster.
    """
    scored, *_ = everything.split()
    names = scored.forecasts.names
    reliability = {
        name: reliability_table(bins[:, at]) for at, name in enumerate(names)
    }
    return Tables(
        problems=problem_table(scored, models),
        by_category=score_categories(scored, set(ranked)),
        reliability=reliability,
        score_curve=score_curves(everything),
    )


# --- Checksums ---


def question_checksums(events: Events) -> list[str]:
    """Make a checksum of each event's id, outcome, class and weight, by which
    scores are paired.
    """
    parts = np.split(events.outcome.astype(np.int64), events.offsets[1:-1])
    outcomes = ["".join(map(str, part)) for part in parts]
    rows = zip(events.ids, outcomes, events.exclusive.tolist(), strict=True)
    checksums = []
    for row, weight in zip(rows, events.weight.tolist(), strict=True):
        weights = [weight] if weight != 1 else []
        checksums.append(hash_question(json.dumps([*row, *weights])))
    return checksums


def hash_board(scored: ForecastScores, checksums: Sequence[str]) -> dict[str, object]:
    """Hash the data of a board, and its questions by their checksums."""
    return {
        "data_sha256": _hash_data(scored),
        "questions_sha256": hash_questions(checksums),
    }


def _hash_data(scored: ForecastScores) -> str:
    """Hash all that the results depend on."""
    events, data = scored.events, scored.forecasts
    names = (column.tolist() for column in (events.ids, events.category, events.series))
    sha = hashlib.sha256(json.dumps([*names, data.names]).encode())
    runs = scored.runs
    columns = [
        events.exclusive,
        events.closed,
        events.weight,
        events.sizes,
        events.outcome,
    ]
    columns += [
        runs.event,
        runs.forecaster,
        runs.time,
        runs.sizes,
        runs.p,
        runs.q,
        runs.bid,
    ]
    if len(runs.event) > len(data.event):
        columns.append(runs.run)
    for column in columns:
        sha.update(np.ascontiguousarray(column).data)
    return sha.hexdigest()
