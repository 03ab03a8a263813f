"""Intervals of average returns: what mean payoffs worlds could give in which prices are tilted towards the bets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Bools, Floats, Ints, positions, segment_sums
from .events import Events
from .forecasts import Forecasts
from .scores import crra_stake

LIMIT: Final = 60.0  # of the tilt, in deviations of the payoff: beyond, the sum is the least or the largest possible


def tilted_interval(
    pay: ArrayLike, prices: ArrayLike, offsets: ArrayLike, mean: float, level: float = 0.95
) -> tuple[float, float]:
    """The interval of a mean payoff: both ends are the expected payoffs of worlds in which the one seen is rare.

    In the world λ, option k of event i wins with probability π_k ∝ q_k · exp(λ x_k), x the payoff of the event's bets
    and q its price: the family through the market (λ = 0) that changes as little as it can for a given mean payoff
    (exponential tilting). The ends are the expected payoffs of the λ with P_λ(sum ≥ seen) = (1 ± level)/2. Unlike
    the bootstrap it knows of wins that prices promise and the sample does not hold. The tail is the saddlepoint
    approximation of Lugannani and Rice, Adv. Appl. Prob. 12 (1980) 475–490: with the cumulant function K, the
    saddlepoint s = λ_seen − λ, w = ±√(2(s·sum − K(λ_seen) + K(λ))) and u = s √K''(λ_seen), it is
    1 − Φ(w) + φ(w)(1/u − 1/w).

    pay, prices: flat arrays of payoffs, or of differences of two, and of prices > 0 of the options, event i at
    offsets[i]:offsets[i + 1]; mean: the mean payoff seen. Returns both ends, (mean, mean) if no outcome changes what is
    paid.
    """
    ends: Ints = np.asarray(offsets, dtype=np.int64)
    starts, sizes, count = ends[:-1], np.diff(ends), len(ends) - 1
    x, base = np.asarray(pay, dtype=float), np.log(np.asarray(prices, dtype=float))

    def shares(tilt: float) -> tuple[Floats, Floats]:
        """The probabilities of the options in the world of a tilt, and the logarithms of their norms."""
        exponent = base + tilt * x
        top = np.maximum.reduceat(exponent, starts)
        share = np.exp(exponent - np.repeat(top, sizes))
        norm = segment_sums(share, starts)
        return share / np.repeat(norm, sizes), np.log(norm) + top

    def cumulants(tilt: float) -> tuple[float, float, float]:
        """K, K' and K'' of the sum of payoffs in the world of a tilt."""
        share, log = shares(tilt)
        first = segment_sums(share * x, starts)
        rest = x - np.repeat(first, sizes)
        return float(log.sum()), float(first.sum()), float((share * rest * rest).sum())

    width = math.sqrt(cumulants(0.0)[2])
    edges = np.minimum.reduceat(x, starts), np.maximum.reduceat(x, starts)
    if width <= 1e-12 * max(float(edges[1].sum()), 1.0):
        return mean, mean
    total, bound, rare = mean * count, LIMIT / width, (1 - level) / 2
    for edge, direction in zip(edges, (-1.0, 1.0), strict=True):
        if direction * (total - edge.sum()) >= -1e-9 * max(total, 1.0):
            # No outcome could have paid less (or more): the tail is the probability that every event pays its edge.
            at_edge = np.abs(x - np.repeat(edge, sizes)) <= 1e-12 * np.maximum(x, 1.0)

            def excess(tilt: float, direction: float = direction, at_edge: Bools = at_edge) -> float:
                chance = segment_sums(shares(direction * tilt)[0] * at_edge, starts)
                return float(np.log(np.maximum(chance, 1e-300)).sum()) - math.log(rare)

            end = cumulants(direction * _solve(excess, -bound, bound))[1] / count
            return (mean, max(end, mean)) if direction < 0 else (min(end, mean), mean)
    seen = _solve(lambda tilt: cumulants(tilt)[1] - total, -bound, bound)
    seen_log, _, seen_variance = cumulants(seen)

    def tail(tilt: float) -> float:
        """P(sum >= total) in the world of a tilt."""
        log, first, second = cumulants(tilt)
        saddle = seen - tilt
        w = math.copysign(math.sqrt(max(2 * (saddle * total - (seen_log - log)), 0.0)), saddle)
        u = saddle * math.sqrt(seen_variance)
        if abs(w) < 1e-4 or abs(u) < 1e-4:
            return _normal_tail((total - first) / math.sqrt(second + 1e-300))
        return min(1.0, max(0.0, _normal_tail(w) + _density(w) * (1 / u - 1 / w)))

    below, above = (
        cumulants(_solve(partial(lambda p, tilt: tail(tilt) - p, p), seen - bound / 3, seen + bound / 3))[1] / count
        for p in (rare, 1 - rare)
    )
    return min(below, mean), max(above, mean)


def _solve(rises: Callable[[float], float], low: float, high: float) -> float:
    """Where a rising function is 0, or the end of the range that is nearer to it."""
    from scipy.optimize import brentq

    if rises(low) >= 0:
        return low
    if rises(high) <= 0:
        return high
    return float(brentq(rises, low, high, xtol=1e-9 * (high - low), rtol=1e-12))


def _normal_tail(z: float) -> float:
    return 0.5 * math.erfc(z / math.sqrt(2))


def _density(z: float) -> float:
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)


# --- The bets of a board ---


class Bets(NamedTuple):
    """The bets of one row on exclusive events with a price; bet i has the options offsets[i]:offsets[i + 1].

    p, q: probabilities and asking prices; slot: where an option stands among those of all events.
    """

    row: int
    weight: Floats
    offsets: Ints
    p: Floats
    q: Floats
    slot: Ints

    def pay(self, gamma: float) -> Floats:
        """What each option pays a bettor of risk aversion `gamma` (`crra_stake`); no probabilities count as uniform."""
        empty = segment_sums(self.p, self.offsets[:-1]) == 0
        p = np.where(np.repeat(empty, np.diff(self.offsets)), 1.0, self.p)
        return crra_stake(p, self.q, gamma, self.offsets) / self.q

    def interval(self, pay: Floats, mean: float) -> tuple[float, float]:
        """`tilted_interval` of such payoffs. Asking prices may have a sum above 1; events count by their weights."""
        sizes = np.diff(self.offsets)
        prices = self.q / np.repeat(segment_sums(self.q, self.offsets[:-1]), sizes)
        return tilted_interval(pay * np.repeat(self.weight / self.weight.mean(), sizes), prices, self.offsets, mean)


def list_bets(events: Events, forecasts: Forecasts, first: int = 0) -> Iterator[Bets]:
    """The bets of one forecaster after the other; `first` is the row of the first."""
    bets = np.flatnonzero(forecasts.priced & events.exclusive[forecasts.event])
    bets = bets[np.argsort(forecasts.forecaster[bets], kind="stable")]
    starts, who = np.cumsum(forecasts.sizes) - forecasts.sizes, forecasts.forecaster[bets]
    for chosen in np.split(bets, np.flatnonzero(np.diff(who)) + 1) if len(bets) else ():
        sizes, row = forecasts.sizes[chosen], first + int(forecasts.forecaster[chosen[0]])
        at, offsets = positions(starts[chosen], sizes)
        slot, _ = positions(events.offsets[forecasts.event[chosen]], sizes)
        yield Bets(row, forecasts.weight[chosen], offsets, forecasts.p[at], forecasts.q[at], slot)
