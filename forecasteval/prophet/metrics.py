"""The metrics of a board, each declared once; ranks by them, and how
well these agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import combinations_with_replacement
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from forecasteval.common.statistics import shared_ranks

from .arrays import Floats, Ints, plain_values
from .scores import (
    LOG_FLOOR,
    METACULUS_FLOOR,
    baseline_by_option,
    brier_by_option,
    brier_score,
    contract_payoffs,
    log_by_option,
    peer_by_option,
    spherical_by_option,
    winner_values,
)

_ANY: Final = (-math.inf, math.inf)
OptionScores = Callable[[Floats, Floats, Floats, Ints], Floats]


class Metric(NamedTuple):
    """A number by which forecasters are ranked.

    bounds: the smallest and the largest value.
    scope: the forecasts that it scores: "all", those of "exclusive" events, or those
        that are "priced", too.
    by_option: scores each option as if it won, from p, asking and bid prices and
        offsets; the metric is the mean of the winners' scores. None: a model's
        estimate, or one number for all probabilities together.
    is_relative: the mean score of the other forecasters of the event is subtracted.
    """

    name: str
    title: str
    higher_is_better: bool
    bounds: tuple[float, float]
    scope: str = "all"
    by_option: OptionScores | None = None
    is_relative: bool = False

    @property
    def is_mean(self) -> bool:
        """Return whether it is the mean of scores of forecasts."""
        return self.by_option is not None

    @property
    def is_return(self) -> bool:
        """Return whether it is what a dollar pays, at prices."""
        return self.scope == "priced"

    @property
    def sign(self) -> float:
        """Return 1 or −1: the factor that makes larger values better."""
        return 1.0 if self.higher_is_better else -1.0

    def score_options(self, p: Floats, q: Floats, bid: Floats, at: Ints) -> Floats:
        """Score each option of forecasts as if it won."""
        assert self.by_option
        return self.by_option(p, q, bid, at)

    def score(self, p: Floats, q: Floats, bid: Floats, o: Floats, at: Ints) -> Floats:
        """Score forecasts from p, asking and bid prices, outcomes and offsets."""
        if self.scope == "all":
            # Events with any number of winners.
            return brier_score(p, o, at)
        return winner_values(self.name, self.score_options(p, q, bid, at), o, at[:-1])


def _without_prices(by_option: Callable[[Floats, Ints], Floats]) -> OptionScores:
    def score_options(p: Floats, q: Floats, bid: Floats, at: Ints) -> Floats:
        return by_option(p, at)

    return score_options


def _return_metric(gamma: float, contracts: str) -> Metric:
    def payoffs(p: Floats, q: Floats, bid: Floats, at: Ints) -> Floats:
        bids = bid if contracts == "both" else None
        return contract_payoffs(p, q, gamma, at, bids)

    text = f"{gamma:.12g}"
    return Metric(
        f"return_{text}", f"Return {text}", True, (0, math.inf), "priced", payoffs
    )


def make_metrics(gammas: Sequence[float], contracts: str = "yes") -> tuple[Metric, ...]:
    """Make all metrics of a board, in the order of its columns; `contracts`: "yes", or
    "both" with No.
    """
    log_bounds = (math.log(LOG_FLOOR), 0)
    # The smallest baseline score is that of two options; more options lose less.
    baseline_bounds = (100 * (1 + math.log(METACULUS_FLOOR, 2)), 100)
    max_peer = -100 * math.log(METACULUS_FLOOR)
    peer_bounds = (-max_peer, max_peer)
    brier, log, spherical, baseline, peer = map(
        _without_prices,
        (
            brier_by_option,
            log_by_option,
            spherical_by_option,
            baseline_by_option,
            peer_by_option,
        ),
    )
    returns = [_return_metric(gamma, contracts) for gamma in gammas]
    scope = "exclusive"
    return (
        Metric("brier", "Brier", False, (0, 1), "all", brier),
        Metric("adjusted_brier", "Adjusted Brier", False, (0, 1)),
        Metric("log", "Log", True, log_bounds, scope, log),
        Metric("spherical", "Spherical", True, (0, 1), scope, spherical),
        Metric(
            "baseline_score", "Baseline score", True, baseline_bounds, scope, baseline
        ),
        Metric(
            "peer_score", "Peer score", True, peer_bounds, scope, peer, is_relative=True
        ),
        *returns,
        Metric("ece", "ECE", False, (0, 1)),
        Metric("ece_events", "ECE by event", False, (0, 1)),
        Metric("irt_ability", "IRT ability", True, _ANY),
        Metric("weighted_brier", "Weighted Brier", False, (0, 1)),
        Metric("bradley_terry", "Bradley-Terry", True, (0, math.inf)),
    )


@cache
def find_metric(name: str) -> Metric:
    """Find the metric of a name, as results hold it."""
    gamma = find_gamma(name)
    gammas = [] if gamma is None else [gamma]
    return next(metric for metric in make_metrics(gammas) if metric.name == name)


def find_gamma(name: str) -> float | None:
    """Find the risk aversion of a return by its name; None for another metric."""
    text = name.removeprefix("return_")
    return None if text == name else float(text)


# --- Ranks ---


def rank_values(values: Floats) -> Ints:
    """Rank values, 1 for the largest; equal ones share the better rank
    (`shared_ranks`).
    """
    order = np.argsort(-values, kind="stable")
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = shared_ranks(values[order].tolist())
    return ranks


def rank_agreement(columns: Sequence[ArrayLike]) -> tuple[Floats, Floats]:
    """Compute Spearman's rho and Kendall's tau-b of every pair of columns.

    Ties have mean ranks in rho. A pair uses the forecasters who have both.

    Args:
        columns: k arrays over the same forecasters, nan where one does not apply.

    Returns:
        Two k × k matrices; nan for a pair with fewer than two such forecasters or with
        a column of equal values.
    """
    ranks = [np.array(column, dtype=float) for column in columns]
    for column in ranks:
        known = ~np.isnan(column)
        column[known] = rank_values(-column[known])
    rho, tau = np.full((2, len(ranks), len(ranks)), np.nan)
    for first, second in combinations_with_replacement(range(len(ranks)), 2):
        both = ~np.isnan(ranks[first] + ranks[second])
        # The signs of all differences; their sums are twice the mean ranks.
        a = _compare_all(ranks[first][both])
        b = _compare_all(ranks[second][both])
        if not (a.any() and b.any()):
            continue
        spearman = kendall = 1.0
        if first < second:
            spearman = np.corrcoef(a.sum(axis=1), b.sum(axis=1))[0, 1]
            kendall = (a * b).sum() / math.sqrt((a * a).sum() * (b * b).sum())
        rho[first, second] = rho[second, first] = spearman
        tau[first, second] = tau[second, first] = kendall
    return rho, tau


def _compare_all(values: Floats) -> Floats:
    """Compute the sign of every difference of two values."""
    return np.asarray(np.sign(values[:, None] - values))


Matrix = dict[str, dict[str, float | None]]  # by metric and metric


def agreement_tables(columns: Mapping[str, ArrayLike]) -> dict[str, Matrix]:
    """Make both matrices of `rank_agreement` by metric; 1 means that two
    metrics rank alike.
    """
    better = [
        find_metric(name).sign * np.asarray(values) for name, values in columns.items()
    ]
    spearman, kendall = (
        {
            name: dict(zip(columns, plain_values(row), strict=True))
            for name, row in zip(columns, matrix, strict=True)
        }
        for matrix in rank_agreement(better)
    )
    return {"spearman": spearman, "kendall": kendall}
