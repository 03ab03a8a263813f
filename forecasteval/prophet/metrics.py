"""The metrics of a board, each declared once; ranks by them, and how well these agree."""

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
    average_return,
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


def no_scores(p: Floats, q: Floats, bid: Floats, at: Ints) -> Floats:
    """Score nothing by option, as a metric without a formula does."""
    return np.full_like(p, np.nan)


class Metric(NamedTuple):
    """A number by which forecasters are ranked.

    `formula` scores forecasts from p, asking and bid prices, outcomes and offsets; the metric is
    the mean of these scores. None: a model's estimate, or one number for all probabilities
    together. `scope` says which forecasts the formula takes: "all", those of "exclusive" events, or
    those that are "priced", too. `bounds` are the least and the largest value. `by_option` scores
    each option as if it won, from p, both prices and offsets. `is_relative`: the mean score of the
    other forecasters of the event is subtracted.
    """

    name: str
    title: str
    higher_is_better: bool
    bounds: tuple[float, float]
    scope: str = "all"
    formula: Callable[..., Floats] | None = None
    by_option: Callable[..., Floats] = no_scores
    is_relative: bool = False

    @property
    def is_return(self) -> bool:
        """Return whether it is what a dollar pays, at prices."""
        return self.scope == "priced"

    @property
    def sign(self) -> float:
        """1 or −1: the factor that makes larger values better."""
        return 1.0 if self.higher_is_better else -1.0


def _mean_metric(
    name: str, title: str, bounds: tuple[float, float], by_option: Callable[..., Floats]
) -> Metric:
    """Declare the mean of a score of exclusive events that takes no prices."""

    def score_options(p: Floats, q: Floats, bid: Floats, at: Ints) -> Floats:
        return by_option(p, at)

    def formula(p: Floats, q: Floats, bid: Floats, o: Floats, at: Ints) -> Floats:
        return winner_values(name, by_option(p, at), o, at[:-1])

    return Metric(name, title, True, bounds, "exclusive", formula, score_options)


def _brier_metric() -> Metric:
    """Declare the Brier score, which is of events with any number of winners."""

    def score_options(p: Floats, q: Floats, bid: Floats, at: Ints) -> Floats:
        return brier_by_option(p, at)

    def formula(p: Floats, q: Floats, bid: Floats, o: Floats, at: Ints) -> Floats:
        return brier_score(p, o, at)

    return Metric("brier", "Brier", False, (0, 1), "all", formula, score_options)


def _return_metric(gamma: float, contracts: str) -> Metric:
    text, no = f"{gamma:.12g}", contracts == "both"

    def payoffs(p: Floats, q: Floats, bid: Floats, at: Ints) -> Floats:
        return contract_payoffs(p, q, gamma, at, bid if no else None)

    def formula(p: Floats, q: Floats, bid: Floats, o: Floats, at: Ints) -> Floats:
        return average_return(p, q, o, gamma, at, bid if no else None)

    name, title = f"return_{text}", f"Return {text}"
    return Metric(name, title, True, (0, math.inf), "priced", formula, payoffs)


def make_metrics(gammas: Sequence[float], contracts: str = "yes") -> tuple[Metric, ...]:
    """Make all metrics of a board, in the order of its columns; `contracts`: "yes", or "both" with
    No.
    """
    least = math.log(LOG_FLOOR)
    # The least baseline score is that of two options; more options lose less.
    least_baseline = 100 * (1 + math.log(METACULUS_FLOOR, 2))
    most_ahead = -100 * math.log(METACULUS_FLOOR)
    peer = _mean_metric("peer_score", "Peer score", (-most_ahead, most_ahead), peer_by_option)
    return (
        _brier_metric(),
        Metric("adjusted_brier", "Adjusted Brier", False, (0, 1)),
        _mean_metric("log", "Log", (least, 0), log_by_option),
        _mean_metric("spherical", "Spherical", (0, 1), spherical_by_option),
        _mean_metric("baseline_score", "Baseline score", (least_baseline, 100), baseline_by_option),
        peer._replace(is_relative=True),
        *(_return_metric(gamma, contracts) for gamma in gammas),
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
    """Rank values, 1 for the largest; equal ones share the better rank (`shared_ranks`)."""
    order = np.argsort(-values, kind="stable")
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = shared_ranks(values[order].tolist())
    return ranks


def rank_agreement(columns: Sequence[ArrayLike]) -> tuple[Floats, Floats]:
    """Spearman's rho and Kendall's tau-b of every pair of columns, each a k × k matrix.

    columns: k arrays over the same forecasters, nan where one does not apply; a pair uses those who
    have both. nan for a pair with fewer than two such forecasters or with a column of equal values.
    Ties: mean ranks (rho), tau-b (tau).
    """
    ranks = [np.array(column, dtype=float) for column in columns]
    for column in ranks:
        known = ~np.isnan(column)
        column[known] = rank_values(-column[known])
    rho, tau = np.full((2, len(ranks), len(ranks)), np.nan)
    for first, second in combinations_with_replacement(range(len(ranks)), 2):
        both = ~np.isnan(ranks[first] + ranks[second])
        # The signs of all differences; their sums are twice the mean ranks.
        a, b = (np.sign(ranks[at][both, None] - ranks[at][both]) for at in (first, second))
        if not (a.any() and b.any()):
            continue
        kendall = (a * b).sum() / math.sqrt((a * a).sum() * (b * b).sum())
        values = np.corrcoef(a.sum(axis=1), b.sum(axis=1))[0, 1], kendall
        for matrix, value in zip((rho, tau), values if first < second else (1, 1), strict=True):
            matrix[first, second] = matrix[second, first] = value
    return rho, tau


Matrix = dict[str, dict[str, float | None]]  # by metric and metric


def agreement_tables(columns: Mapping[str, ArrayLike]) -> dict[str, Matrix]:
    """Make both matrices of `rank_agreement` by metric; 1 means that two metrics rank alike."""
    matrices = rank_agreement(
        [find_metric(name).sign * np.asarray(values, float) for name, values in columns.items()]
    )
    return {
        kind: {
            name: dict(zip(columns, plain_values(row), strict=True))
            for name, row in zip(columns, matrix, strict=True)
        }
        for kind, matrix in zip(("spearman", "kendall"), matrices, strict=True)
    }
