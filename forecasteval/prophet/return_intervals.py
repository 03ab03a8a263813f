"""Intervals of average returns: what mean payoffs worlds could give in which prices are tilted
towards the bets.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Floats, Ints

# of the tilt, in deviations of the payoff: beyond, the sum is the least or the largest possible
LIMIT: Final = 60.0
NORMAL: Final = NormalDist()


def tilted_interval(
    pay: ArrayLike, prices: ArrayLike, offsets: ArrayLike, mean: float, level: float = 0.95
) -> tuple[float, float]:
    """The interval of a mean payoff: both ends are the expected payoffs of worlds in which the one
    seen is rare.

    In the world λ, option k of event i wins with probability π_k ∝ q_k · exp(λ x_k), x the payoff
    of the event's bets and q its price: the family through the market (λ = 0) that changes as
    little as it can for a given mean payoff (exponential tilting). The ends are the expected
    payoffs of the λ with P_λ(sum ≥ seen) = (1 ± level)/2. Unlike the bootstrap it knows of wins
    that prices promise and the sample does not hold. The tail is the saddlepoint approximation of
    Lugannani and Rice, Adv. Appl. Prob. 12 (1980) 475–490: with the cumulant function K, the
    saddlepoint s = λ_seen − λ, w = ±√(2(s·sum − K(λ_seen) + K(λ))) and u = s √K''(λ_seen), it is 1
    − Φ(w) + φ(w)(1/u − 1/w).

    pay, prices: flat arrays of payoffs, or of differences of two, and of prices > 0 of the options,
    event i at offsets[i]:offsets[i + 1]; mean: the mean payoff seen. Returns both ends, (mean,
    mean) if no outcome changes what is paid.
    """
    x, starts = np.asarray(pay, dtype=float), np.asarray(offsets)[:-1]
    worlds = _Worlds(x, np.asarray(prices, dtype=float), starts)
    count, rare = len(starts), (1 - level) / 2
    total, least, most = mean * count, *(float(edge.sum()) for edge, _ in worlds.edges)
    width = math.sqrt(worlds.cumulants(0.0)[2])
    if width <= 1e-12 * max(most, 1.0):
        return mean, mean
    bound, rounding = LIMIT / width, 1e-9 * max(total, 1.0)
    low = high = mean
    if total <= least + rounding:
        high = worlds.pay_at_edge(rare, bound, False) / count
    elif total >= most - rounding:
        low = worlds.pay_at_edge(rare, bound, True) / count
    else:
        low, high = (end / count for end in worlds.pay_around(total, rare, bound))
    return min(low, mean), max(high, mean)


class _Worlds:
    """Worlds of tilted prices q, in which the options pay x. `edges` are the least and the most
    that each event pays, and how far its options are from that.
    """

    def __init__(self, x: Floats, q: Floats, starts: Ints) -> None:
        self.q, self.starts, sizes = q, starts, np.diff(starts, append=len(x))
        extremes = (extreme.reduceat(x, starts) for extreme in (np.minimum, np.maximum))
        self.edges = [(edge, x - np.repeat(edge, sizes)) for edge in extremes]

    def cumulants(self, tilt: float) -> tuple[float, float, float]:
        """K, K' and K'' > 0 of the sum of payoffs in the world of a tilt."""
        # Of differences to the payoff that the tilt favours no exponential is larger than 1.
        edge, rest = self.edges[int(tilt > 0)]
        mass = self.q * np.exp(tilt * rest)
        norm = np.add.reduceat(mass, self.starts)
        mass *= rest
        first = np.add.reduceat(mass, self.starts) / norm
        mass *= rest
        spread = np.add.reduceat(mass, self.starts) / norm - first * first
        log = np.log(norm).sum() + tilt * edge.sum()
        return float(log), float((edge + first).sum()), max(float(spread.sum()), 1e-300)

    def pay_at_edge(self, chance: float, bound: float, most: bool) -> float:
        """The expected payoff with the tilt by which every event pays its most (or its least) with
        this chance.
        """
        edge, rest = self.edges[most]
        at_edge = np.abs(rest) <= 1e-12 * np.maximum(np.abs(edge).max(), 1.0)
        log_mass = float(np.log(np.add.reduceat(self.q * at_edge, self.starts)).sum())
        paid, sign = float(edge.sum()), 1.0 if most else -1.0

        def excess(tilt: float) -> tuple[float, float]:
            log, first, _ = self.cumulants(tilt)
            return sign * (log_mass + tilt * paid - log - math.log(chance)), sign * (paid - first)

        return self.cumulants(_solve(excess, 0.0, -bound, bound))[1]

    def pay_around(self, total: float, chance: float, bound: float) -> list[float]:
        """The expected payoffs with the two tilts by which P(sum >= total) is `chance`, and 1 −
        `chance`.
        """

        def to_seen(tilt: float) -> tuple[float, float]:
            _, first, second = self.cumulants(tilt)
            return first - total, second

        seen = _solve(to_seen, 0.0, -bound, bound)
        seen_log, _, variance = self.cumulants(seen)

        def excess(deviate: float, tilt: float) -> tuple[float, float]:
            """By how much the normal deviate of the tail is above `deviate`, and nearly the slope
            of that.
            """
            log, first, second = self.cumulants(tilt)
            saddle = seen - tilt
            w = math.copysign(math.sqrt(max(2 * (saddle * total - (seen_log - log)), 0.0)), saddle)
            u = saddle * math.sqrt(variance)
            if abs(w) < 1e-4 or abs(u) < 1e-4:
                return (first - total) / math.sqrt(second) - deviate, math.sqrt(variance)
            tail = NORMAL.cdf(-w) + NORMAL.pdf(w) * (1 / u - 1 / w)
            return NORMAL.inv_cdf(min(max(tail, 1e-300), 1 - 1e-16)) - deviate, (total - first) / w

        ends = []
        for deviate in map(NORMAL.inv_cdf, (chance, 1 - chance)):
            guess = seen + deviate / math.sqrt(variance)
            tilt = _solve(partial(excess, deviate), guess, seen - bound / 3, seen + bound / 3)
            ends.append(self.cumulants(tilt)[1])
        return ends


def _solve(
    rises: Callable[[float], tuple[float, float]], guess: float, low: float, high: float
) -> float:
    """Where a rising function is 0, or the end of the range that is nearer to it; `rises` also
    gives its slope.

    Newton's method; a step that leaves what is known to hold the zero is replaced by halving that.
    """
    close = 1e-11 * (high - low)
    x = min(max(guess, low), high)
    for _ in range(200):
        value, slope = rises(x)
        low, high = (low, x) if value > 0 else (x, high)
        after = x - value / slope if slope > 0 else math.nan
        if not low <= after <= high:
            after = (low + high) / 2
        if abs(after - x) <= close:
            break
        x = after
    return x
