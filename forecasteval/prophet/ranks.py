"""Every forecaster's record: its numbers with intervals, ranks, and how surely it beats the
others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np

from .arrays import Bools, Floats, Ints, weighted_means
from .estimates import LEAST_CLUSTERS, Estimate, Measures
from .metrics import RANK_TIE, Metric, shared_ranks
from .score_table import BASELINES, Scored
from .scores import decompose_brier

UNEQUAL: Final = 0.05  # share of all events that two forecasters may differ in
NO_SPREAD: Final = 0.05  # of the mean error: stands for the spread of skills where none shows
Record = dict[str, Any]  # the keys depend on the metrics
Columns = dict[str, Floats | Ints | list[Any]]


def make_records(measures: Measures, scored: Scored, bins: Floats) -> list[Record]:
    """The forecasters' records, then those of the market and the crowd."""
    brier, means = measures["brier", ""], [metric for metric in scored.metrics if metric.formula]
    crowd = brier.values - measures["brier", "crowd"].values  # on each forecaster's events
    priced = [measures[metric.name, ""].counts for metric in means if metric.payoffs]
    columns: Columns = {
        "n_events": brier.counts,
        "n_clusters": brier.clusters,
        "n_exclusive": measures["log", ""].counts,
        "n_priced": priced[0] if priced else 0 * brier.counts,
        "coverage": brier.counts / len(scored.events.ids),
    }
    for metric in scored.metrics:
        estimate = measures[metric.name, ""]
        columns[metric.name] = estimate.values
        if len(estimate.influence):
            columns[f"{metric.name}_interval"] = estimate.intervals()
            columns[f"{metric.name}_se"] = estimate.error
    columns |= {f"{name}_sharpe": ratios for name, ratios in sharpe_ratios(scored).items()}
    columns["one_minus_brier"] = 1 - brier.values
    columns["brier_skill"] = 1 - brier.values / np.where(crowd > 0, crowd, math.nan)
    columns["decomposition"] = _list_rows({**decompose_brier(bins)})
    against: Columns = {
        base: _list_rows({m.name: _list_differences(measures[m.name, base]) for m in means})
        for base in BASELINES
    }
    records = _list_rows(columns | {"against": _list_rows(against)})
    for base, record in zip(BASELINES, records[-len(BASELINES) :], strict=True):
        del record["against"][base]
    return records


def _list_rows(columns: Columns) -> list[Record]:
    """The rows of a table as results hold them: None for nan."""
    lists = [
        column if isinstance(column, list) else [None if x != x else x for x in column.tolist()]
        for column in columns.values()
    ]
    return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]


def _list_differences(estimate: Estimate) -> list[Record]:
    columns: Columns = {"n": estimate.counts, "difference": estimate.values}
    return _list_rows(columns | {"interval": estimate.intervals()})


def sharpe_ratios(scored: Scored) -> dict[str, Floats]:
    """By return and row (mean - 1)/√variance of the payoffs of a dollar; nan where all are equal.

    The variance is that of the payoffs, Σ w (x - mean)²/Σ w; an event is a period, nothing is made
    a yearly figure. Source: Sharpe, J. Portfolio Management 21 (1994) 49–58, the dollar being the
    riskless asset.
    """
    row, rows = scored.forecasts.forecaster, len(scored.forecasts.names)
    ratios = {}
    for metric in scored.metrics:
        if metric.payoffs:
            paid = scored.values[metric.name]
            means, _ = weighted_means(paid, scored.weight, row, rows)
            spread, _ = weighted_means((paid - means[row]) ** 2, scored.weight, row, rows)
            known = np.where(spread > 1e-18, spread, np.nan)  # of equal payoffs rounding is left
            ratios[metric.name] = (means - 1) / np.sqrt(known)
    return ratios


# --- Ranks ---


def add_ranks(
    records: Sequence[Record],
    ranked: Sequence[int],
    measures: Measures,
    scored: Scored,
    draws: Draws,
) -> None:
    """Give the records at the places `ranked` their ranks by every metric, and how sure these are
    in the resamples.
    """
    for metric in scored.metrics:
        estimate = measures[metric.name, ""]
        able = [at for at in ranked if not math.isnan(estimate.values[at])]
        ranks = shared_ranks(metric.sign * estimate.values[able]).tolist()
        order = [at for _, at in sorted(zip(ranks, able, strict=True))]
        columns: dict[str, dict[int, object]] = {"rank": dict(zip(able, ranks, strict=True))}
        if len(draws.counts) and len(estimate.influence):
            columns |= _find_certainty(order, metric, estimate, scored, draws)
        for at in ranked:
            cells = {f"{metric.name}_{key}": column.get(at) for key, column in columns.items()}
            records[at].update(cells)


def _find_certainty(
    order: Sequence[int], metric: Metric, estimate: Estimate, scored: Scored, draws: Draws
) -> dict[str, dict[int, object]]:
    """Rank interval and P(best) of those with an error; beats next of two who share two events.

    `order` are places of records, the best first.
    """
    sure = [at for at in order if not math.isnan(estimate.error[at])]
    if len(sure) < 2:
        return {"rank_interval": {}, "best": {}, "beats_next": {}}
    influence = metric.sign * estimate.influence[:, sure]
    values, error = metric.sign * estimate.values[sure], estimate.error[sure]
    samples = draws.shifted(values, influence)
    ends = rank_intervals(samples)
    best = probability_best(values, influence, error, len(samples), draws.seed)
    best = np.where(ends[0] > 1, 0, best)  # what the interval excludes is not also likely
    best /= max(best.sum(), 1e-300)
    by = metric.name if metric.formula else "log" if metric.name == "bradley_terry" else "brier"
    met, beats = answered(scored, by), dict[int, object]()
    for (place, at), (below, following) in pairwise(enumerate(sure)):
        if (met[at] & met[following]).sum() >= LEAST_CLUSTERS:
            gap = samples[:, place] - samples[:, below]
            wins = (gap > RANK_TIE) + 0.5 * (np.abs(gap) <= RANK_TIE)
            beats[at] = float(wins.mean())
    intervals = np.transpose(ends).tolist()
    return {
        "rank_interval": dict(zip(sure, intervals, strict=True)),
        "best": dict(zip(sure, best.tolist(), strict=True)),
        "beats_next": beats,
    }


def answered(scored: Scored, metric: str) -> Bools:
    """Which forecaster has which event."""
    has = ~np.isnan(scored.values[metric])
    met = np.zeros((len(scored.forecasts.names), len(scored.events.ids)), dtype=bool)
    met[scored.forecasts.forecaster[has], scored.forecasts.event[has]] = True
    return met


def choose_ranking(scored: Scored, ranked: Sequence[int]) -> tuple[str, str]:
    """The metric that ranks by default, and why: the adjusted Brier where the ranked answered
    different events.

    Different: of two forecasters one answered events that the other did not, together more than 5 %
    of all events.
    """
    if not ranked:
        return "brier", "no forecaster has enough events for a rank"
    met = answered(scored, "brier")[list(ranked)].astype(float)
    counts = met.sum(axis=1)
    apart = (counts[:, None] + counts - 2 * met @ met.T).max(initial=0)
    events = met.shape[1]
    if apart > UNEQUAL * events:
        least, most = int(counts.min()), int(counts.max())
        share = f"{least} to {most}" if least < most else f"{most} each"
        return "adjusted_brier", f"forecasters answered different events ({share} of {events})"
    return "brier", "all answered nearly the same events"


# --- How surely ---


class Draws:
    """How often each cluster is in each resample: as many draws as there are clusters, with
    replacement.
    """

    def __init__(self, clusters: int, resamples: int, seed: int) -> None:
        self.seed, rng = seed, np.random.default_rng(seed)
        self.counts = np.empty((resamples, clusters), dtype=np.float32)
        for row in self.counts:
            row[:] = np.bincount(rng.integers(0, clusters, clusters), minlength=clusters)

    def shifted(self, estimate: Floats, influence: Floats) -> Floats:
        """The estimates in each resample, one step from the estimate: + Σ_c (count_c - 1)
        influence_c.
        """
        return estimate + (self.counts - 1) @ influence


def rank_intervals(samples: Floats) -> tuple[Ints, Ints]:
    """Both ends of the 95 % interval of every column's rank in the resamples; larger is better,
    ties share a rank.
    """
    from scipy.stats import rankdata

    ranks = rankdata(-np.round(samples, 9), method="min", axis=1)
    low, high = np.quantile(ranks, [0.025, 0.975], axis=0, method="inverted_cdf")
    return low.astype(np.int64), high.astype(np.int64)


def probability_best(
    values: Floats, influence: Floats, error: Floats, draws: int, seed: int
) -> Floats:
    """The probability of each to be truly the best, given that true skills lie closer together than
    scores.

    Resampled scores would call the luckiest the best too surely: the true values are taken as drawn
    around their mean with the variance τ² that is left when the errors' share is subtracted from
    the spread of the values, and drawn from their posterior: normal with mean τ²(τ² + V)⁻¹ x, in
    deviations x from the mean, V their `shrunk_covariance`.

    values: F, larger is better; influence: clusters × F, which tells how errors hang together;
    error: F, how large they are. Returns F probabilities, whose sum is 1. Source: empirical Bayes,
    Efron and Morris, JASA 70 (1975) 311–319.
    """
    from scipy.linalg import cho_factor, cho_solve, helmert

    basis = helmert(len(values))  # deviations from the mean have one dimension less
    length = np.sqrt((influence**2).sum(axis=0))
    scale = error / np.where(length > 0, length, 1)
    seen, covariance = basis @ values, shrunk_covariance(influence * scale, basis)
    size, noise = len(seen), float(np.trace(covariance))
    spread = (float(seen @ seen) - noise) / size
    if spread <= 0:
        spread = noise / size * NO_SPREAD
    if spread <= 0:  # all are equal, without any error
        return np.full(len(values), 1 / len(values))
    factor = cho_factor(covariance + spread * np.eye(size))
    mean = spread * cho_solve(factor, seen)
    posterior = spread * np.eye(size) - spread**2 * cho_solve(factor, np.eye(size))
    eigenvalues, vectors = np.linalg.eigh((posterior + posterior.T) / 2)
    normal = np.random.default_rng(seed).standard_normal((draws, size))
    skills = (mean + (normal * np.sqrt(np.maximum(eigenvalues, 0))) @ vectors.T) @ basis
    best = np.abs(skills - skills.max(axis=1, keepdims=True)) <= RANK_TIE
    return np.asarray((best / best.sum(axis=1, keepdims=True)).mean(axis=0))


def shrunk_covariance(parts: Floats, basis: Floats) -> Floats:
    """Σ_c x_c x_c' of the parts x = basis · part, drawn towards independent errors as far as chance
    explains the rest.

    Of few clusters and many forecasters the sum alone is not to be trusted: some directions would
    have no error at all. parts: clusters × F; basis: orthonormal contrasts, (F - 1) × F. Source:
    Ledoit and Wolf, J. Multivariate Anal. 88 (2004) 365–411, here towards a diagonal (as Schäfer
    and Strimmer 2005) of the same trace.
    """
    count, size = parts.shape
    x = parts @ basis.T
    total, squares = x.T @ x, x * x
    variances = (
        ((parts - parts.mean(axis=1, keepdims=True)) ** 2).sum(axis=0) * size / max(size - 1, 1)
    )
    apart = (basis * variances) @ basis.T - total
    chance, distance = (squares.T @ squares - total**2 / count).sum(), (apart**2).sum()
    return np.asarray(total + apart * (min(1.0, chance / distance) if distance > 0 else 0.0))
