"""Scores of single forecasts: Brier, log, spherical, return; calibration. Flat arrays,
which each function checks.

Forecast i has the positions offsets[i]:offsets[i + 1] of the arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from forecasteval.common.errors import InputError, printable
from forecasteval.common.records import number_text

from .arrays import ROUNDING, Floats, Ints, flat_columns

LOG_FLOOR: Final = 0.01
METACULUS_FLOOR: Final = 0.001  # the least probability that Metaculus takes
NO_FLOOR: Final = 0.001  # the least price of a No, whose option has a bid of 1
EDGE_TIE: Final = 1e-12  # relative difference of p/q that is a tie at gamma = 0
BINS: Final = 10


def winner_values(where: str, values: Floats, outcome: Floats, starts: Ints) -> Floats:
    """Take the value at the winner of each forecast's event; InputError
    unless one won.
    """
    is_flag = np.isin(outcome, (0, 1))
    winners = np.add.reduceat(outcome, starts)
    if not is_flag.all() or (winners != 1).any():
        raise InputError(where, "every event must have exactly one winner")
    return np.add.reduceat(values * outcome, starts)


def brier_score(
    p: ArrayLike, outcome: ArrayLike, offsets: ArrayLike | None = None
) -> Floats:
    """Compute the Brier score of each forecast, in [0, 1]; 0 is perfect:

        (1/n) Σ (p - o)²

    p need not sum to 1, and an event may have several winners or none. Source: seed.

    Args:
        p: a flat array of probabilities; forecast i has the positions
            offsets[i]:offsets[i + 1].
        outcome: 0 or 1, for each probability.
        offsets: m + 1 positions; None: one forecast.

    Returns:
        m scores. InputError: values outside [0, 1], lengths that do not fit.

    >>> brier_score([0.5, 0.5, 1, 0, 0], [1, 0, 1, 0, 0], offsets=[0, 2, 5]).tolist()
    [0.25, 0.0]
    """
    (p, o), starts, sizes = flat_columns(
        "brier_score", {"p": p, "outcome": outcome}, offsets
    )
    return np.add.reduceat((p - o) ** 2, starts) / sizes


def log_score(
    p: ArrayLike, outcome: ArrayLike, offsets: ArrayLike | None = None
) -> Floats:
    """Compute the log score of each forecast, in [ln 0.01, 0]; 0 is perfect:

        ln max(p_c, 0.01), c being the winner

    Shapes as in `brier_score`; exactly one winner per event. p is used as it is. The
    floor makes the score improper for true probabilities below about 0.027: reporting
    less (or more) than the truth costs nothing there. Source: seed.

    >>> log_score([1, 0], [1, 0]).tolist()
    [0.0]
    """
    return _score_winners("log_score", log_by_option, p, outcome, offsets)


def spherical_score(
    p: ArrayLike, outcome: ArrayLike, offsets: ArrayLike | None = None
) -> Floats:
    """Compute the spherical score of each forecast, in [0, 1]; p of zeros scores 0:

        p_c / ‖p‖₂, c being the winner

    Shapes and errors as in `log_score`; no scale of p matters. Source: Gneiting and
    Raftery, JASA 102 (2007) 359–378.

    >>> spherical_score([0.75, 0.0, 1.0], [1, 0, 0]).tolist()
    [0.6]
    """
    return _score_winners("spherical_score", spherical_by_option, p, outcome, offsets)


def _score_winners(
    where: str,
    by_option: Callable[[Floats, Ints], Floats],
    p: ArrayLike,
    outcome: ArrayLike,
    offsets: ArrayLike | None,
) -> Floats:
    """Score checked forecasts by what each has for its winner."""
    (p, o), starts, _ = flat_columns(where, {"p": p, "outcome": outcome}, offsets)
    return winner_values(where, by_option(p, np.append(starts, len(p))), o, starts)


def brier_by_option(p: Floats, offsets: Ints) -> Floats:
    """Compute the Brier score of each forecast for every option, as if only that
    one came true:

        (Σp² - 2p_k + 1)/n

    >>> brier_by_option(np.array([0.75, 0.25]), np.array([0, 2])).tolist()
    [0.0625, 0.5625]
    """
    sizes = np.diff(offsets)
    squares = np.repeat(np.add.reduceat(p * p, offsets[:-1]), sizes)
    return np.asarray((squares - 2 * p + 1) / np.repeat(sizes, sizes))


def log_by_option(p: Floats, offsets: Ints) -> Floats:
    """Compute the log score for every option, as if it won."""
    return np.log(np.maximum(p, LOG_FLOOR))


def spherical_by_option(p: Floats, offsets: Ints) -> Floats:
    """Compute the spherical score of each forecast for every option, as if it won."""
    norm = np.sqrt(np.add.reduceat(p * p, offsets[:-1]))
    return np.asarray(p / np.repeat(np.where(norm > 0, norm, 1), np.diff(offsets)))


def baseline_by_option(p: Floats, offsets: Ints) -> Floats:
    """Compute Metaculus' baseline score of each forecast for every
    option, as if it won:

        100 (1 + ln p / ln n) for n options

    It is 0 for a uniform forecast, and 100 for a sure one that is right.

    >>> baseline_by_option(np.array([0.5, 0.5]), np.array([0, 2])).tolist()
    [0.0, 0.0]
    """
    sizes = np.diff(offsets)
    log = np.log(np.maximum(p, METACULUS_FLOOR))
    return np.asarray(100 * (1 + log / np.repeat(np.log(sizes), sizes)))


def peer_by_option(p: Floats, offsets: Ints) -> Floats:
    """Compute 100 ln p for every option, of which Metaculus' peer score is the
    difference to the mean of the others.
    """
    return np.asarray(100 * np.log(np.maximum(p, METACULUS_FLOOR)))


def check_gamma(gamma: object) -> float:
    if not number_text(gamma) or not 0 <= float(gamma) <= 1:  # type: ignore[arg-type]
        raise InputError(
            "gamma", "must be a number in [0, 1]", printable(repr(gamma), 60)
        )
    return float(gamma)  # type: ignore[arg-type]


def crra_stake(
    p: ArrayLike, q: ArrayLike, gamma: float, offsets: ArrayLike | None = None
) -> Floats:
    """Spread one dollar as a bettor does who believes p, at prices q.

    The stakes a* maximise

        Σ p_k U_γ(a_k/q_k), Σ a = 1, a ≥ 0, with U_γ(w) = w^(1-γ)/(1-γ), ln w at γ = 1

    so that a*_k ∝ q_k (p_k/q_k)^(1/γ), computed in logarithms. γ = 1 gives a = p/Σp; γ
    = 0 stakes all on the largest p/q, ties (relative 1e-12) sharing in proportion to q,
    which is the limit γ → 0. Source: seed (its closed form is derived here).

    p, q: flat arrays (`brier_score`) in [0, 1], prices above 0. Returns the flat
        stakes. Raises
    InputError: γ outside [0, 1], a forecast with Σp = 0, a price of 0.

    >>> crra_stake([0.75, 0.25], [0.5, 0.5], gamma=1).tolist()
    [0.75, 0.25]
    >>> crra_stake([0.75, 0.25], [0.5, 0.125], gamma=0).tolist()
    [0.0, 1.0]
    """
    gamma = check_gamma(gamma)
    (p, q), starts, sizes = flat_columns("crra_stake", {"p": p, "q": q}, offsets)
    total = np.add.reduceat(p, starts)
    if (total <= 0).any():
        raise InputError("crra_stake", "every forecast must have a positive sum", "0")
    if not q.all():
        raise InputError("crra_stake", "every price must be above 0", "0")
    if gamma == 1:
        return np.asarray(p / np.repeat(total, sizes))
    # ln 0, and anything over a tiny gamma, is -inf: no stake.
    with np.errstate(divide="ignore", over="ignore"):
        edge = np.log(p) - np.log(q)
        behind = edge - np.repeat(np.maximum.reduceat(edge, starts), sizes)
        # Else rounding would break the ties of a tiny gamma.
        behind[behind > -EDGE_TIE] = 0.0
        stake = q * (np.exp(behind / gamma) if gamma else behind == 0)
    total_stake = np.add.reduceat(stake, starts)
    return np.asarray(stake / np.repeat(total_stake, sizes))


def contract_payoffs(
    p: ArrayLike,
    q: ArrayLike,
    gamma: float,
    offsets: ArrayLike | None = None,
    bid: ArrayLike | None = None,
) -> Floats:
    """Compute what one dollar staked by `crra_stake` pays gross if option k
    wins, for every k.

    Without `bid` it buys Yes contracts: a*_k / q_k. With bid prices (nan: the ask
    stands for it) it buys of every option the contract with the larger edge, Yes at q
    with the edge p/q or No at 1 - bid (0.001 at least) with (1 - p)/(1 - bid), Yes if
    they are equal; `crra_stake` spreads the dollar over these, as if they excluded each
    other, and a No pays if any other option wins. At γ = 0 no stakes on these contracts
    have a larger expected payoff. Flat arrays as in `brier_score`; Σp = 1 for bids.
    Source: the binary reduction of pm_rank 0.3.1.

    >>> contract_payoffs([0.25, 0.75], [0.5, 0.75], 0, bid=[0.5, 0.625]).tolist()
    [0.0, 2.0]
    """
    (p, q), starts, sizes = flat_columns("contract_payoffs", {"p": p, "q": q}, offsets)
    if bid is None:
        return crra_stake(p, q, gamma, offsets) / q
    bids = np.asarray(bid, dtype=float).reshape(-1)
    no = np.maximum(1 - np.where(np.isnan(bids), q, bids), NO_FLOOR)
    is_no = (1 - p) / no > p / q * (1 + EDGE_TIE)
    price = np.where(is_no, no, q)
    belief = np.where(is_no, 1 - p, p)
    contracts = crra_stake(belief, price, gamma, offsets) / price
    # If option k wins, every No pays but that of k.
    no_contracts = np.where(is_no, contracts, 0.0)
    all_no = np.repeat(np.add.reduceat(no_contracts, starts), sizes)
    return np.asarray(contracts - 2 * no_contracts + all_no)


def average_return(
    p: ArrayLike,
    q: ArrayLike,
    outcome: ArrayLike,
    gamma: float,
    offsets: ArrayLike | None = None,
    bid: ArrayLike | None = None,
) -> Floats:
    """Compute what one dollar pays gross in each forecast's event (`contract_payoffs`).
    Its mean is the average return.

    1 is the stake back, 0 its loss. Shapes as in `brier_score`; exactly one winner per
    event. The seed's text calls a*_c itself the payoff, which leaves out the price that
    its own utility (over a/q) divides by: one dollar on an option at 0.25 buys four
    contracts of one dollar.

    >>> average_return([0.75, 0.25], [0.5, 0.5], [1, 0], gamma=1).tolist()
    [1.5]
    """
    (o,), starts, _ = flat_columns("average_return", {"outcome": outcome}, offsets)
    paid = contract_payoffs(p, q, gamma, offsets, bid)
    return winner_values("average_return", paid, o, starts)


def expected_calibration_error(
    p: ArrayLike, outcome: ArrayLike, bins: int = BINS
) -> float:
    """Compute the calibration error over uniform bins of [0, 1] (1 in the last); 0
    is calibrated:

        Σ_b (n_b/N) |mean p - mean o|

    p, outcome: arrays of N probabilities and 0/1, every option of every event. nan
        if N = 0. Raises
    InputError: values outside [0, 1], bins < 1. Source: Naeini et al., AAAI 2015.

    >>> expected_calibration_error([0.75, 0.75, 0.75, 0.75], [1, 1, 1, 0])
    0.0
    """
    if not isinstance(bins, int) or bins < 1:
        raise InputError("bins", "must be an integer >= 1", printable(repr(bins), 60))
    each_alone = range(np.size(p) + 1)
    where = "expected_calibration_error"
    (p, o), _, _ = flat_columns(where, {"p": p, "outcome": outcome}, each_alone)
    one_group = np.zeros(len(p), dtype=np.int64)
    sums = bin_sums(p, o, np.ones(len(p)), one_group, 1, bins)
    return float(calibration_errors(sums)[0])


def bin_sums(
    p: Floats, o: Floats, w: Floats, group: Ints, groups: int, bins: int
) -> Floats:
    """Sum per group and bin: count, Σw, Σwp, Σwo, Σwp², Σwpo; shape (6,
    groups, bins).
    """
    number = (p * bins + ROUNDING * bins).astype(np.int64)
    cell = group * bins + np.minimum(number, bins - 1)
    wp = w * p
    columns = (None, w, wp, w * o, wp * p, wp * o)
    sums = [np.bincount(cell, column, groups * bins) for column in columns]
    return np.array(sums, dtype=float).reshape(len(columns), groups, bins)


def calibration_errors(sums: Floats) -> Floats:
    """Compute the expected calibration error of every group of `bin_sums`."""
    _, w, wp, wo, _, _ = sums
    gaps = np.abs(wp - wo).sum(axis=1)
    with np.errstate(invalid="ignore"):
        return np.asarray(gaps / w.sum(axis=1))


def decompose_brier(sums: Floats) -> dict[str, Floats]:
    """Decompose the mean square of every group of `bin_sums` over its N option
    probabilities:

        Σ (p - o)²/N = reliability - resolution + uncertainty + within_bins

    With mean p and mean o of bin b reliability is Σ (n_b/N)(p_b - o_b)², resolution
    Σ (n_b/N)(o_b - o)², uncertainty o(1 - o); within_bins is the variance of p minus
    twice the covariance of p and o inside the bins, which is 0 if each holds one value
    of p only. Every option counts once, as in the calibration error; in the Brier score
    every event does. Source: Murphy, J. Appl. Meteorol. 12 (1973) 595–600; within bins:
    Stephenson et al., Wea. Forecasting 23 (2008).
    """
    _, w, wp, wo, wpp, wpo = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        total = w.sum(axis=1)
        rate = wo.sum(axis=1) / total
        share = w / total[:, None]
        p = np.nan_to_num(wp / w)
        o = np.nan_to_num(wo / w)
        within = wpp - wp * p - 2 * (wpo - wp * o)
        square = wpp - 2 * wpo + wo
        return {
            "reliability": (share * (p - o) ** 2).sum(axis=1),
            "resolution": (share * (o - rate[:, None]) ** 2).sum(axis=1),
            "uncertainty": rate * (1 - rate),
            "within_bins": within.sum(axis=1) / total,
            "mean_square": square.sum(axis=1) / total,
        }
