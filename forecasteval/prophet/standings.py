"""Every forecaster's record: means and model values, intervals, ranks, and how surely it beats the others."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from .arrays import Bools, Floats, Ints, mean_errors, plain_number, weighted_means
from .models import Models, spread
from .ranks import shared_ranks, sign
from .resampling import (
    Column,
    Draws,
    Resampled,
    beats_share,
    percentile_intervals,
    resample,
    resampled_ranks,
    studentised_intervals,
)
from .score_table import Rows
from .scores import calibration_errors, decompose_brier

NORMAL_95: Final = 1.959963984540054  # the 97.5 % quantile of the normal distribution
LEAST_EVENTS: Final = 2  # below, nothing tells how sure a number is
UNEQUAL: Final = 0.05  # share of all events that two forecasters may differ in
BASELINES: Final = ("market", "crowd")


class Measures(NamedTuple):
    """By metric the values of the rows, on how many events they rest, their errors (models), ends of their intervals.

    The same of differences on the row's own events, by "metric market" and "metric crowd". samples: the resampled
    values, turned so that larger is better.
    """

    table: dict[str, Floats]
    counts: dict[str, Ints]
    errors: dict[str, Floats]
    intervals: dict[str, tuple[Floats, Floats]]
    samples: dict[str, Floats]


def measure(rows: Rows, models: Models, bootstrap: int, seed: int, events: int) -> Measures:
    """Every metric of every row, and of `bootstrap` resamples of the events where it can be."""
    size = rows.forecasters + len(BASELINES)
    columns = {name: Column(values, rows.weight, name.startswith("return_")) for name, values in rows.values.items()}
    if models.irt:
        columns["weighted_brier"] = Column(rows.values["brier"], rows.weight * models.irt.discrimination[rows.event])
    for base in BASELINES:
        for name, values in rows.values.items():
            apart = Column(values, rows.weight, name.startswith("return_"), rows.base[base][name])
            columns[f"{name} {base}"] = apart
    table: dict[str, Floats] = {"weighted_brier": np.full(size, math.nan), "ece": calibration_errors(rows.bins)}
    counts: dict[str, Ints] = {}
    errors: dict[str, Floats] = {}
    for name, column in columns.items():
        table[name], counts[name] = weighted_means(column.at(rows.event), column.weights, rows.row, size)
    counts["weighted_brier"] = counts["brier"]
    intervals: dict[str, tuple[Floats, Floats]] = {}
    samples: dict[str, Floats] = {}
    draws = Draws(events, bootstrap, seed) if bootstrap else None
    if draws:
        for name, sampled in resample(columns, rows.event, rows.row, size, draws).items():
            intervals[name] = _interval(columns[name], rows, table[name], sampled)
            if " " not in name:
                samples[name] = sign(name) * sampled.means
    _add_models(Measures(table, counts, errors, intervals, samples), rows, models, size, draws)
    return Measures(table, counts, errors, intervals, samples)


def _interval(column: Column, rows: Rows, means: Floats, sampled: Resampled) -> tuple[Floats, Floats]:
    if sampled.errors is None:
        return percentile_intervals(sampled.means)
    errors = mean_errors(column.at(rows.event), column.weights, rows.row, means)
    return studentised_intervals(means, errors, sampled)


def _add_models(measures: Measures, rows: Rows, models: Models, size: int, draws: Draws | None) -> None:
    """The adjusted Brier, the ability and the strength of the forecasters; the baselines have none."""
    table, counts, errors, intervals, samples = measures
    everybody = np.arange(rows.forecasters)
    fits = [("adjusted_brier", models.effects.score, models.effects.score_se, models.effects.influence)]
    if models.irt:
        fits.append(("irt_ability", models.irt.ability, models.irt.ability_se, models.irt.influence))
    for name, value, error, influence in fits:
        table[name], errors[name] = (spread(column, everybody, size) for column in (value, error))
        counts[name] = counts["brier"]
        if draws:
            intervals[name] = table[name] - NORMAL_95 * errors[name], table[name] + NORMAL_95 * errors[name]
            samples[name] = sign(name) * spread(draws.shifted(value, influence), everybody, size)
    table.setdefault("irt_ability", np.full(size, math.nan))
    fit = models.strengths
    table["bradley_terry"] = spread(fit.strength, models.rated, size) if fit else np.full(size, math.nan)
    counts["bradley_terry"] = counts["log"]
    if fit and draws and len(models.decided):
        influence = np.zeros((draws.events, len(models.rated)))
        influence[models.decided] = fit.influence
        theta = np.log(np.maximum(fit.strength, 1e-300))
        shifted = draws.shifted(theta, influence)
        strength = np.exp(shifted - shifted.max(axis=1, keepdims=True))
        samples["bradley_terry"] = spread(strength / strength.mean(axis=1, keepdims=True), models.rated, size)
        intervals["bradley_terry"] = percentile_intervals(samples["bradley_terry"])


# --- Records ---


def make_records(
    measures: Measures, metrics: Sequence[str], means: Sequence[str], rows: Rows, events: int
) -> list[dict[str, Any]]:
    """A dict per row, the forecasters first."""
    table, counts = measures.table, measures.counts
    crowd = table["brier"] - table["brier crowd"]  # on each row's own events
    decomposed = {name: values.tolist() for name, values in decompose_brier(rows.bins).items()}
    priced = counts[means[3]] if len(means) > 3 else np.zeros(len(crowd), dtype=np.int64)
    records = []
    for at in range(len(crowd)):
        n, brier = int(counts["brier"][at]), table["brier"][at]
        record: dict[str, Any] = {
            "n_events": n, "n_exclusive": int(counts["log"][at]), "n_priced": int(priced[at]), "coverage": n / events,
        }  # fmt: skip
        for metric in metrics:
            record[metric] = plain_number(table[metric][at])
            if metric in measures.intervals:
                record[f"{metric}_interval"] = _bounds(measures, metric, at)
            if metric in measures.errors:
                record[f"{metric}_se"] = plain_number(measures.errors[metric][at])
        record["one_minus_brier"] = plain_number(1 - brier)
        record["brier_skill"] = plain_number(1 - brier / crowd[at]) if crowd[at] > 0 else None
        record["decomposition"] = {name: plain_number(values[at]) for name, values in decomposed.items()}
        record["against"] = {
            base: {
                metric: {
                    "n": int(counts[f"{metric} {base}"][at]),
                    "difference": plain_number(table[f"{metric} {base}"][at]),
                    "interval": _bounds(measures, f"{metric} {base}", at),
                }
                for metric in means
            }
            for number, base in enumerate(BASELINES)
            if at != rows.forecasters + number
        }
        records.append(record)
    return records


def _bounds(measures: Measures, name: str, at: int) -> list[float] | None:
    """The interval of a row that has two events at least."""
    if name not in measures.intervals or measures.counts[name][at] < LEAST_EVENTS:
        return None
    low, high = (float(end[at]) for end in measures.intervals[name])
    return None if math.isnan(low) or math.isnan(high) else [low, high]


def add_ranks(
    records: Sequence[dict[str, Any]], ranked: Sequence[int], measures: Measures, metrics: Iterable[str], rows: Rows
) -> None:
    """Give the ranked records a rank by every metric, its interval, the probabilities to be best and to beat the next.

    The last three need two events, common ones where two forecasters meet.
    """
    answered = {name: _answered(rows, name) for name in rows.values}
    for metric in metrics:
        values = measures.table[metric]
        has = [at for at in ranked if not math.isnan(values[at])]
        ranks = shared_ranks(sign(metric) * values[has]).tolist() if has else []
        for at in ranked:
            records[at][f"{metric}_rank"] = None
        for at, rank in zip(has, ranks, strict=True):
            records[at][f"{metric}_rank"] = rank
        if metric not in measures.samples:
            continue
        samples = measures.samples[metric]
        for at in ranked:
            records[at].update(dict.fromkeys(f"{metric}_{what}" for what in ("rank_interval", "best", "beats_next")))
        if len(has) < 2:
            continue
        for at, low, high, best in zip(has, *resampled_ranks(samples[:, has]), strict=True):
            if measures.counts[metric][at] >= LEAST_EVENTS:
                records[at].update({f"{metric}_rank_interval": [int(low), int(high)], f"{metric}_best": float(best)})
        met = answered[{"bradley_terry": "log"}.get(metric, metric if metric in answered else "brier")]
        for at, following in pairwise(at for _, at in sorted(zip(ranks, has, strict=True))):
            if (met[at] & met[following]).sum() >= LEAST_EVENTS:
                records[at][f"{metric}_beats_next"] = beats_share(samples[:, at], samples[:, following])


def _answered(rows: Rows, metric: str) -> Bools:
    """Which row has which event."""
    has = ~np.isnan(rows.values[metric])
    met = np.zeros((rows.forecasters, int(rows.event.max()) + 1), dtype=bool)
    own = has & (rows.row < rows.forecasters)
    met[rows.row[own], rows.event[own]] = True
    return met


def choose_ranking(rows: Rows, ranked: Sequence[int]) -> tuple[str, str]:
    """The metric that ranks by default, and why: the adjusted Brier where the ranked answered different events.

    Different: of two forecasters one answered events that the other did not, together more than 5 % of all events.
    """
    met = _answered(rows, "brier")[list(ranked)].astype(float)
    own = met.sum(axis=1)
    apart = (own[:, None] + own - 2 * met @ met.T).max(initial=0)
    events = met.shape[1]
    if apart > UNEQUAL * events:
        least, most = int(own.min()), int(own.max())
        answered = f"{least} to {most}" if least < most else f"{most} each"
        return "adjusted_brier", f"forecasters answered different events ({answered} of {events})"
    return "brier", "all answered nearly the same events"
