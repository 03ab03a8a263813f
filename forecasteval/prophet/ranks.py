"""Every forecaster's record: its numbers with intervals, ranks, and how surely it beats the
others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np

from .arrays import Bools, Floats, Ints, plain_number
from .estimates import LEAST_CLUSTERS, Estimate, Measures
from .metrics import RANK_TIE, Metric, shared_ranks
from .score_table import BASELINES, Scored
from .scores import decompose_brier

UNEQUAL: Final = 0.05  # share of all events that two forecasters may differ in
PRICED: Final = (
    0.8  # share of a forecaster's exclusive events that need a price for a rank by returns
)
LEAST_EVENTS: Final = 5  # of a forecaster for a rank, and
LEAST_SHARE: Final = 0.2  # of all events
NO_SPREAD: Final = (
    0.05  # share of the mean error that stands for the spread of skills where none shows
)
Record = dict[str, Any]  # the keys depend on the metrics


def make_records(measures: Measures, scored: Scored, bins: Floats) -> list[Record]:
    """The forecasters' records, then those of the market and the crowd."""
    brier = measures["brier", ""]
    crowd = brier.values - measures["brier", "crowd"].values  # on each forecaster's events
    metrics, decomposed, spreads = scored.metrics, decompose_brier(bins), market_spreads(scored)
    priced = [measures[metric.name, ""].counts for metric in metrics if metric.scope == "priced"]
    records = []
    for at in range(len(spreads)):
        record: Record = {
            "n_events": int(brier.counts[at]),
            "n_clusters": int(brier.clusters[at]),
            "n_exclusive": int(measures["log", ""].counts[at]),
            "n_priced": int(priced[0][at]) if priced else 0,
            "coverage": int(brier.counts[at]) / len(scored.events.ids),
            "spread": plain_number(spreads[at]),
        }
        for metric in metrics:
            estimate = measures[metric.name, ""]
            record[metric.name] = plain_number(estimate.values[at])
            if len(estimate.influence):
                record[f"{metric.name}_interval"] = estimate.bounds(at)
                record[f"{metric.name}_se"] = plain_number(estimate.error[at])
        record["one_minus_brier"] = plain_number(1 - brier.values[at])
        record["brier_skill"] = (
            plain_number(1 - brier.values[at] / crowd[at]) if crowd[at] > 0 else None
        )
        record["decomposition"] = {
            name: plain_number(values[at]) for name, values in decomposed.items()
        }
        record["against"] = {
            base: {
                metric.name: {
                    "n": int(estimate.counts[at]),
                    "difference": plain_number(estimate.values[at]),
                    "interval": estimate.bounds(at),
                }
                for metric in metrics
                if metric.formula
                for estimate in [measures[metric.name, base]]
            }
            for place, base in enumerate(BASELINES, len(spreads) - len(BASELINES))
            if at != place
        }
        records.append(record)
    return records


def market_spreads(scored: Scored) -> Floats:
    """By forecaster the mean of asking price - bid over the options of its priced events; nan
    without bids.
    """
    forecasts = scored.forecasts
    gap, size = 2 * (forecasts.q - forecasts.mid), len(forecasts.names)
    has = gap > 0  # nan without a price, 0 without a bid
    row = np.repeat(forecasts.forecaster, forecasts.sizes)[has]
    with np.errstate(invalid="ignore"):
        return np.bincount(row, gap[has], size) / np.bincount(row, minlength=size)


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

    A forecaster of whose exclusive events less than 80 % have a price has none by returns.
    """
    for metric in scored.metrics:
        estimate = measures[metric.name, ""]
        able = [at for at in ranked if not math.isnan(estimate.values[at])]
        if metric.scope == "priced":
            able = [
                at
                for at in able
                if records[at]["n_priced"] >= PRICED * records[at]["n_exclusive"] - 1e-9
            ]
        ranks = shared_ranks(metric.sign * estimate.values[able]).tolist() if able else []
        places: dict[int, Record] = {
            at: {"rank": rank} for rank, at in sorted(zip(ranks, able, strict=True))
        }
        keys = ["rank"]
        if len(draws.counts) and len(estimate.influence):
            keys += ["rank_interval", "best", "beats_next"]
            _add_certainty(places, metric, estimate, scored, draws)
        for at in ranked:
            records[at].update(
                {f"{metric.name}_{key}": places.get(at, {}).get(key) for key in keys}
            )


def _add_certainty(
    places: Mapping[int, Record], metric: Metric, estimate: Estimate, scored: Scored, draws: Draws
) -> None:
    """Rank interval and P(best) of those with two clusters and an error; beats next of two who
    share two events.
    """
    sure = [
        at
        for at in places
        if estimate.clusters[at] >= LEAST_CLUSTERS and not math.isnan(estimate.error[at])
    ]
    if len(sure) < 2:
        return
    values, influence = (
        metric.sign * estimate.values[sure],
        metric.sign * estimate.influence[:, sure],
    )
    samples = draws.shifted(values, influence)
    best = probability_best(values, influence, estimate.clusters[sure], len(samples), draws.seed)
    for at, low, high, share in zip(sure, *rank_intervals(samples), best, strict=True):
        places[at].update(rank_interval=[int(low), int(high)], best=float(share))
    by = metric.name if metric.formula else "log" if metric.name == "bradley_terry" else "brier"
    met = answered(scored, by)
    for (place, at), (below, following) in pairwise(enumerate(sure)):
        if (met[at] & met[following]).sum() >= LEAST_CLUSTERS:
            gap = samples[:, place] - samples[:, below]
            wins = (gap > RANK_TIE) + 0.5 * (np.abs(gap) <= RANK_TIE)
            places[at]["beats_next"] = float(wins.mean())


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
        return np.asarray(estimate + (self.counts - 1) @ influence)


def rank_intervals(samples: Floats) -> tuple[Ints, Ints]:
    """Both ends of the 95 % interval of every column's rank in the resamples; larger is better,
    ties share a rank.
    """
    from scipy.stats import rankdata

    ranks = rankdata(-np.round(samples, 9), method="min", axis=1)
    low, high = np.quantile(ranks, [0.025, 0.975], axis=0, method="inverted_cdf")
    return low.astype(np.int64), high.astype(np.int64)


def probability_best(
    values: Floats, influence: Floats, clusters: Ints, draws: int, seed: int
) -> Floats:
    """The probability of each to be truly the best, given that true skills lie closer together than
    scores.

    Resampled scores would call the luckiest the best too surely: the true values are taken as drawn
    around their mean with the variance τ² that is left when the errors' share is subtracted from
    the spread of the values, and drawn from their posterior: normal with mean τ²(τ² + V)⁻¹ x, in
    deviations x from the mean, V their `shrunk_covariance`.

    values: F, larger is better; influence: clusters × F; clusters: how many each forecaster has,
    two at least. Returns F probabilities, whose sum is 1. Source: empirical Bayes, Efron and
    Morris, JASA 70 (1975) 311–319.
    """
    from scipy.linalg import cho_factor, cho_solve, helmert

    basis = helmert(len(values))  # deviations from the mean have one dimension less
    seen, error = (
        basis @ values,
        shrunk_covariance(influence * np.sqrt(clusters / (clusters - 1)), basis),
    )
    size, noise = len(seen), float(np.trace(error))
    spread = (float(seen @ seen) - noise) / size
    if spread <= 0:
        spread = noise / size * NO_SPREAD
    if spread <= 0:  # all are equal, without any error
        return np.full(len(values), 1 / len(values))
    factor = cho_factor(error + spread * np.eye(size))
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
