"""Every forecaster's record: its numbers with intervals, ranks, and how surely it beats the others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from .arrays import Bools, Floats, plain_number
from .estimates import BASELINES, Estimate, Measures
from .events import Events
from .metrics import Metric
from .ranks import shared_ranks
from .score_table import Rows
from .scores import decompose_brier
from .uncertainty import LEAST_CLUSTERS, Draws, beats_share, probability_best, rank_intervals

UNEQUAL: Final = 0.05  # share of all events that two forecasters may differ in
PRICED: Final = 0.8  # share of a forecaster's exclusive events that need a price for a rank by returns
LEAST_EVENTS: Final = 5  # of a forecaster for a rank, and
LEAST_SHARE: Final = 0.2  # of all events


def least_events(given: int | None, events: int) -> int:
    """How many events a forecaster needs for a rank: those given, else 5, or 20 % of the events if these are more."""
    return given if given is not None else max(LEAST_EVENTS, math.ceil(LEAST_SHARE * events - 1e-9))


def make_records(measures: Measures, metrics: Sequence[Metric], rows: Rows, events: Events) -> list[dict[str, Any]]:
    """A dict per row, the forecasters first."""
    table, against = measures
    brier, size = table["brier"], rows.forecasters + len(BASELINES)
    crowd = brier.values - against["brier", "crowd"].values  # on each row's events
    decomposed = {name: values.tolist() for name, values in decompose_brier(rows.bins).items()}
    spreads = market_spreads(rows, size)
    priced = next((table[metric.name].counts for metric in metrics if metric.scope == "priced"), np.zeros(size))
    records = []
    for at in range(size):
        n = int(brier.counts[at])
        record: dict[str, Any] = {
            "n_events": n,
            "n_clusters": int(brier.clusters[at]),
            "n_exclusive": int(table["log"].counts[at]),
            "n_priced": int(priced[at]),
            "coverage": n / len(events.ids),
            "spread": plain_number(spreads[at]),
        }
        for metric in metrics:
            record |= _number(metric.name, table[metric.name], at)
        record["one_minus_brier"] = plain_number(1 - brier.values[at])
        record["brier_skill"] = plain_number(1 - brier.values[at] / crowd[at]) if crowd[at] > 0 else None
        record["decomposition"] = {name: plain_number(values[at]) for name, values in decomposed.items()}
        record["against"] = {
            base: {metric.name: _difference(against[metric.name, base], at) for metric in metrics if metric.formula}
            for number, base in enumerate(BASELINES)
            if at != rows.forecasters + number
        }
        records.append(record)
    return records


def _number(name: str, estimate: Estimate, at: int) -> dict[str, Any]:
    cells: dict[str, Any] = {name: plain_number(estimate.values[at])}
    if estimate.error is not None:
        cells[f"{name}_interval"] = estimate.bounds(at)
        cells[f"{name}_se"] = plain_number(estimate.error[at])
    return cells


def _difference(estimate: Estimate, at: int) -> dict[str, Any]:
    value = plain_number(estimate.values[at])
    return {"n": int(estimate.counts[at]), "difference": value, "interval": estimate.bounds(at)}


def market_spreads(rows: Rows, size: int) -> Floats:
    """By row the mean of asking price - bid over the options of its priced events; nan without bids."""
    total, count = np.zeros(size), np.zeros(size)
    for part, first in zip(rows.parts, (0, rows.forecasters, rows.forecasters + 1), strict=True):
        row = np.repeat(first + part.forecaster, part.sizes)
        gap = 2 * (part.q - part.mid)
        has = gap > 0  # nan without a price, 0 without a bid
        total += np.bincount(row[has], gap[has], size)
        count += np.bincount(row[has], minlength=size)
    return np.where(count > 0, total / np.maximum(count, 1), math.nan)


# --- Ranks ---


class Board(NamedTuple):
    """What ranks need: the records, the rows that are ranked, and the resamples of the clusters (None: none)."""

    records: Sequence[dict[str, Any]]
    ranked: Sequence[int]
    draws: Draws | None
    seed: int


def add_ranks(board: Board, measures: Measures, metrics: Sequence[Metric], rows: Rows) -> None:
    """Give the ranked records a rank by every metric, its interval, the probabilities to be best and to beat the next.

    A forecaster of whose exclusive events less than 80 % have a price has none by returns.
    """
    for metric in metrics:
        estimate = measures.metrics[metric.name]
        able = [at for at in board.ranked if _may_be_ranked(metric, board.records[at], estimate.values[at])]
        keys = ["rank"]
        if board.draws and estimate.influence is not None:
            keys += ["rank_interval", "best", "beats_next"]
        for at in board.ranked:
            board.records[at].update(dict.fromkeys(f"{metric.name}_{key}" for key in keys))
        better = metric.sign * estimate.values
        ranks = shared_ranks(better[able]).tolist() if able else []
        for at, rank in zip(able, ranks, strict=True):
            board.records[at][f"{metric.name}_rank"] = rank
        if board.draws and estimate.influence is not None:
            order = [at for _, at in sorted(zip(ranks, able, strict=True))]
            _add_certainty(board, metric, estimate, order, rows)


def _may_be_ranked(metric: Metric, record: dict[str, Any], value: float) -> bool:
    return not math.isnan(value) and (
        metric.scope != "priced" or record["n_priced"] >= PRICED * record["n_exclusive"] - 1e-9
    )


def _add_certainty(board: Board, metric: Metric, estimate: Estimate, order: Sequence[int], rows: Rows) -> None:
    """Rank interval and P(best) of those with two clusters and an error; beats next of two who share two events."""
    assert estimate.error is not None
    sure = [at for at in order if estimate.clusters[at] >= LEAST_CLUSTERS and not math.isnan(estimate.error[at])]
    if len(sure) < 2:
        return
    assert board.draws
    assert estimate.influence is not None
    values = metric.sign * estimate.values[sure]
    influence = metric.sign * estimate.influence[:, sure]
    samples = board.draws.shifted(values, influence)
    best = probability_best(values, influence, estimate.clusters[sure], len(samples), board.seed)
    for at, low, high, share in zip(sure, *rank_intervals(samples), best, strict=True):
        cells = {"rank_interval": [int(low), int(high)], "best": float(share)}
        board.records[at].update({f"{metric.name}_{key}": value for key, value in cells.items()})
    met = answered(rows, metric.name if metric.formula else "log" if metric.name == "bradley_terry" else "brier")
    for (here, at), (there, following) in pairwise(enumerate(sure)):
        if (met[at] & met[following]).sum() >= LEAST_CLUSTERS:
            share = beats_share(samples[:, here], samples[:, there])
            board.records[at][f"{metric.name}_beats_next"] = share


def answered(rows: Rows, metric: str) -> Bools:
    """Which forecaster has which event."""
    has = ~np.isnan(rows.values[metric]) & (rows.row < rows.forecasters)
    met = np.zeros((rows.forecasters, int(rows.event.max()) + 1), dtype=bool)
    met[rows.row[has], rows.event[has]] = True
    return met


def choose_ranking(rows: Rows, ranked: Sequence[int]) -> tuple[str, str]:
    """The metric that ranks by default, and why: the adjusted Brier where the ranked answered different events.

    Different: of two forecasters one answered events that the other did not, together more than 5 % of all events.
    """
    met = answered(rows, "brier")[list(ranked)].astype(float)
    counts = met.sum(axis=1)
    apart = (counts[:, None] + counts - 2 * met @ met.T).max(initial=0)
    events = met.shape[1]
    if apart > UNEQUAL * events:
        least, most = int(counts.min()), int(counts.max())
        share = f"{least} to {most}" if least < most else f"{most} each"
        return "adjusted_brier", f"forecasters answered different events ({share} of {events})"
    return "brier", "all answered nearly the same events"
