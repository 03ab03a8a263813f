r"""Score and rank probability forecasts of events: `ProphetArenaEvaluator().evaluate_all(forecasts, problems)`.

Prophet Arena ranks forecasters by proper scoring rules, by what their bets would have earned at the market's prices,
and by two models over all forecasters, item response theory and a generalised Bradley–Terry model.

    brier              mean of (p - o)^2 over the options              lower is better; ranks by default
    log, spherical     ln max(p_c, 0.01), p_c / |p|                    higher
    return_0 …         gross payoff of one dollar under CRRA utility   higher
    ece                expected calibration error, 10 bins             lower
    irt_ability        ability in a two-parameter IRT model            higher
    weighted_brier     Brier weighted by the events' discrimination    lower
    bradley_terry      strength, mean 1                                higher

Files: problems `{problem_id, title, options, correct_answer | correct_option_idx, category?, exclusive?, end_date}` in
`dataset/`, forecasts `{problem_id, username, timestamp, prediction | probs, odds?, bids?, weight?}` in `prediction/`
(the form of Good Judgment Open; `bids` is ours and gives the market a mid price), JSON or JSONL; or the Prophet Arena
CSV, a row per forecast with the event in it.

An event is *exclusive* if exactly one of two or more options won and its problem does not say `"exclusive": false`;
only those enter log, spherical, return and Bradley–Terry. Probabilities that do not sum to 1 (by more than 0.001) are
normalised for these four and counted. Nothing is left out unseen: see "excluded" in the results.

Sources: Prophet Arena, "how we score and rank LLMs" (2025); Bo et al., Judgment and Decision Making 12 (2017) 90–103;
Huang, Weng and Lin, JMLR 7 (2006) 85–115; Varadhan and Roland, Scand. J. Stat. 35 (2008) 335–353.
"""

from __future__ import annotations

import ast
import contextlib
import csv
import gc
import hashlib
import io
import json
import math
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from functools import lru_cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from common import (
    DUPLICATE_KEYS,
    BadRecord,
    InputError,
    RecordFile,
    Report,
    Results,
    Table,
    as_text,
    decode_utf8,
    format_signature,
    format_text,
    grouped_warning,
    has_repeated_keys,
    number_text,
    parse_json,
    printable,
    read_file,
    show_interval,
    show_number,
)

VERSION: Final = "1.0.0"
GAMMAS: Final = (0.0, 0.5, 1.0)  # the seed's figure
LOG_FLOOR: Final = 0.01
PRICE_RANGE: Final = (0.005, 0.995)
SUM_TOLERANCE: Final = 1e-3
ROUNDING: Final = 1e-12  # of sums and products of decimals: 0.25 * 3 + 0.249, 0.29 * 100
PLAUSIBLE_SUM: Final = (0.8, 1.25)  # of the probabilities of an exclusive event
EDGE_TIE: Final = 1e-12  # relative difference of p/q that is a tie at gamma = 0
RANK_TIE: Final = 1e-9  # of values that share a rank: what the fitted models leave open
BINS: Final = 10
CURVE_POINTS: Final = 200  # of a return curve that the results keep
UNUSABLE: Final = "\0unusable"  # in a record read from a CSV: why it cannot be used
UNREADABLE: Final = "\0unreadable"  # in a problem read from a CSV row: why the row says nothing of its event
ODD: Final = "\0odd"  # in a problem read from a CSV: what its rows disagree about
MAX_LITERAL: Final = 1_000_000  # characters of a Python literal: parsing takes a hundred times its size
NAMES_KEPT: Final = 100  # of excluded forecasts; of events all
CHUNK: Final = 1 << 20  # probabilities scored at a time, so that temporary arrays stay small
LOWER_IS_BETTER: Final = frozenset({"brier", "ece", "weighted_brier"})

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

# --- Scores: flat arrays, forecast i in positions offsets[i]:offsets[i + 1] ---


def _flat(where: str, values: Mapping[str, ArrayLike], offsets: ArrayLike | None) -> tuple[list[Floats], Ints, Ints]:
    """The values as float arrays of one length, the forecasts' starts and sizes; InputError if they do not fit."""
    try:
        arrays = [np.asarray(value, dtype=float).reshape(-1) for value in values.values()]
    except (TypeError, ValueError):
        raise InputError(where, f"{' and '.join(values)} must be arrays of numbers") from None
    size = len(arrays[0])
    ends = np.asarray([0, size] if offsets is None else offsets, dtype=np.int64)
    sizes = np.diff(ends)
    if ends.ndim != 1 or len(ends) < 1 or ends[0] != 0 or ends[-1] != size or (sizes < 1).any():
        raise InputError(where, f"offsets must rise from 0 to {size}", printable(ends.tolist(), 60))
    for name, array in zip(values, arrays, strict=True):
        if len(array) != size:
            raise InputError(where, f"'{name}' must have {size} values like the first array", str(len(array)))
        bad = ~((array >= 0) & (array <= 1))
        if bad.any():
            raise InputError(where, f"'{name}' must lie in [0, 1]", str(array[bad][0]))
    return arrays, ends[:-1], sizes


def _winning(where: str, values: Floats, outcome: Floats, starts: Ints) -> Floats:
    """The value at the winner of each forecast's event; InputError unless every event has exactly one winner."""
    if len(starts) and (((outcome != 0) & (outcome != 1)).any() or (np.add.reduceat(outcome, starts) != 1).any()):
        raise InputError(where, "every event must have exactly one winner")
    return _sums(values * outcome, starts)


def _sums(values: Floats, starts: Ints) -> Floats:
    return np.asarray(np.add.reduceat(values, starts)) if len(starts) else np.zeros(0)


def _count_up(index: Ints, values: Floats, size: int) -> Floats:
    """The sums of `values` by index, `size` of them."""
    return np.asarray(np.bincount(index, values, size), dtype=float)


def brier_score(p: ArrayLike, outcome: ArrayLike, offsets: ArrayLike | None = None) -> Floats:
    """(1/n) Σ (p - o)² of each forecast, in [0, 1]; 0 is perfect.

    p, outcome: flat arrays of equal length, probabilities and 0/1; forecast i has the positions
    offsets[i]:offsets[i + 1] (m + 1 offsets; None: one forecast). Returns m scores. p need not sum to 1, and an event
    may have several winners or none. Raises InputError: values outside [0, 1], lengths that do not fit. Source: seed.

    >>> brier_score([0.5, 0.5, 1, 0, 0], [1, 0, 1, 0, 0], offsets=[0, 2, 5]).tolist()
    [0.25, 0.0]
    """
    (p, o), starts, sizes = _flat("brier_score", {"p": p, "outcome": outcome}, offsets)
    return _sums((p - o) ** 2, starts) / sizes


def log_score(p: ArrayLike, outcome: ArrayLike, offsets: ArrayLike | None = None) -> Floats:
    """ln max(p_c, 0.01) of each forecast, c the winner, in [ln 0.01, 0]; 0 is perfect.

    Shapes as in `brier_score`; exactly one winner per event. p is used as it is. The floor makes the score improper
    for true probabilities below about 0.027: reporting less (or more) than the truth costs nothing there. Source: seed.

    >>> log_score([1, 0], [1, 0]).tolist()
    [0.0]
    """
    (p, o), starts, _ = _flat("log_score", {"p": p, "outcome": outcome}, offsets)
    return np.log(np.maximum(_winning("log_score", p, o, starts), LOG_FLOOR))


def spherical_score(p: ArrayLike, outcome: ArrayLike, offsets: ArrayLike | None = None) -> Floats:
    """p_c / ‖p‖₂ of each forecast, c the winner, in [0, 1]; 1 is perfect, and p of zeros scores 0.

    Shapes and errors as in `log_score`; no scale of p matters. Source: Gneiting and Raftery, JASA 102 (2007) 359–378.

    >>> spherical_score([0.75, 0.0, 1.0], [1, 0, 0]).tolist()
    [0.6]
    """
    (p, o), starts, _ = _flat("spherical_score", {"p": p, "outcome": outcome}, offsets)
    norm = np.sqrt(_sums(p * p, starts))
    norm[norm == 0] = 1.0
    return _winning("spherical_score", p, o, starts) / norm


def _check_gamma(gamma: object) -> float:
    if not number_text(gamma) or not 0 <= float(gamma) <= 1:  # type: ignore[arg-type]
        raise InputError("gamma", "must be a number in [0, 1]", printable(repr(gamma), 60))
    return float(gamma)  # type: ignore[arg-type]


def crra_stake(p: ArrayLike, q: ArrayLike, gamma: float, offsets: ArrayLike | None = None) -> Floats:
    """How a bettor who believes p spreads one dollar at prices q: a* maximises Σ p_k U_γ(a_k/q_k), Σ a = 1, a ≥ 0.

    U_γ(w) = w^(1-γ)/(1-γ), ln w at γ = 1. a*_k ∝ q_k (p_k/q_k)^(1/γ), computed in logarithms: γ = 1 gives a = p/Σp;
    γ = 0 stakes all on the largest p/q, ties (relative 1e-12) sharing in proportion to q, which is the limit γ → 0.

    p, q: flat arrays (`brier_score`) in [0, 1]; prices are clipped to [0.005, 0.995] here. Returns the flat stakes.
    Raises InputError: γ outside [0, 1], a forecast with Σp = 0. Source: seed (its closed form is derived here).

    >>> crra_stake([0.75, 0.25], [0.5, 0.5], gamma=1).tolist()
    [0.75, 0.25]
    >>> crra_stake([0.75, 0.25], [0.5, 0.125], gamma=0).tolist()
    [0.0, 1.0]
    """
    gamma = _check_gamma(gamma)
    (p, q), starts, sizes = _flat("crra_stake", {"p": p, "q": q}, offsets)
    if not len(starts):
        return p
    total = np.add.reduceat(p, starts)
    if (total <= 0).any():
        raise InputError("crra_stake", "every forecast must have a positive sum", "0")
    if gamma == 1:
        return np.asarray(p / np.repeat(total, sizes))
    q = np.clip(q, *PRICE_RANGE)
    with np.errstate(divide="ignore", over="ignore"):  # ln 0, and anything over a tiny gamma, is -inf: no stake
        edge = np.log(p) - np.log(q)
        behind = edge - np.repeat(np.maximum.reduceat(edge, starts), sizes)
        behind[behind > -EDGE_TIE] = 0.0  # else rounding would break the ties of a tiny gamma
        stake = q * (np.exp(behind / gamma) if gamma else behind == 0)
    return np.asarray(stake / np.repeat(np.add.reduceat(stake, starts), sizes))


def average_return(
    p: ArrayLike, q: ArrayLike, outcome: ArrayLike, gamma: float, offsets: ArrayLike | None = None
) -> Floats:
    """a*_c / q_c of each forecast: what one dollar staked by `crra_stake` pays gross; its mean is the average return.

    1 is the stake back, 0 its loss. Shapes as in `brier_score`; exactly one winner per event; q is clipped as in
    `crra_stake`. The seed's text calls a*_c itself the payoff, which leaves out the price that its own utility (over
    a/q) divides by: one dollar on an option at 0.25 buys four contracts of one dollar.

    >>> average_return([0.75, 0.25], [0.5, 0.5], [1, 0], gamma=1).tolist()
    [1.5]
    """
    (flat_p, flat_q, o), starts, _ = _flat("average_return", {"p": p, "q": q, "outcome": outcome}, offsets)
    paid = crra_stake(flat_p, flat_q, gamma, offsets) / np.clip(flat_q, *PRICE_RANGE)
    return _winning("average_return", paid, o, starts)


def expected_calibration_error(
    p: ArrayLike, outcome: ArrayLike, bins: int = BINS, weights: ArrayLike | None = None
) -> float:
    """Σ_b (n_b/N) |mean p - mean o| over `bins` uniform bins of [0, 1] (1 in the last); in [0, 1], 0 is calibrated.

    p, outcome: arrays of N probabilities and 0/1, every option of every event; weights: N positive ones (1).
    nan if N = 0. Raises InputError: values outside [0, 1], bins < 1. Source: Naeini et al., AAAI 2015.

    >>> expected_calibration_error([0.75, 0.75, 0.75, 0.75], [1, 1, 1, 0])
    0.0
    """
    if not isinstance(bins, int) or bins < 1:
        raise InputError("bins", "must be an integer >= 1", printable(repr(bins), 60))
    (p, o), _, _ = _flat("expected_calibration_error", {"p": p, "outcome": outcome}, range(np.size(p) + 1))
    w = np.ones(len(p)) if weights is None else np.asarray(weights, dtype=float).reshape(-1)
    if len(w) != len(p) or not ((w > 0) & (w < math.inf)).all():
        raise InputError("expected_calibration_error", f"'weights' must be {len(p)} positive numbers")
    sums = _bin_sums(p, o, w, np.zeros(len(p), dtype=np.int64), 1, bins)
    return float(_calibration(sums)[0])


def _bin_sums(p: Floats, o: Floats, w: Floats, group: Ints, groups: int, bins: int) -> Floats:
    """Per group and bin: count, Σw, Σwp, Σwo; shape (4, groups, bins)."""
    cell = group * bins + np.minimum((p * bins + ROUNDING * bins).astype(np.int64), bins - 1)
    columns = (None, w, w * p, w * o)
    return np.array([np.bincount(cell, column, groups * bins).reshape(groups, bins) for column in columns], dtype=float)


def _calibration(sums: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        error: Floats = np.abs(sums[2] - sums[3]).sum(axis=1) / sums[1].sum(axis=1)
    return error


# --- Item response theory ---

ALPHA_VARIANCE: Final = 0.25  # prior of ln a: N(0, 1/2²)
B_VARIANCE: Final = 4.0  # prior of b: N(mu, 2²)


class IrtFit(NamedTuple):
    """The posterior mode; `log_likelihood` is without, `log_posterior` with the priors."""

    ability: Floats
    ability_se: Floats
    difficulty: Floats
    discrimination: Floats
    log_likelihood: float
    log_posterior: float
    gradient_norm: float
    iterations: int
    converged: bool


class _Irt:
    """Posterior of the two-parameter model at one point: value, gradient, and the Newton step by elimination.

    Parameters: θ (forecasters), α = ln a and b (problems), μ. Observation: π = σ(η), η = a(θ - b), ln-likelihood
    y ln π + (1 - y) ln(1 - π). With r = y - π and w = π(1 - π), minus the Hessian has per observation
    θθ a²w, θα aηw - ar, θb -a²w, αα η²w - rη, αb ar - aηw, bb a²w; Fisher's information drops the terms with r.
    """

    def __init__(self, forecaster: Ints, problem: Ints, y: Floats) -> None:
        self.i, self.j, self.y = forecaster, problem, y
        self.forecasters, self.problems = int(forecaster.max()) + 1, int(problem.max()) + 1
        self.cell = forecaster * self.problems + problem

    def at(self, x: Floats) -> tuple[Floats, Floats, Floats, float]:
        f, n = self.forecasters, self.problems
        return x[:f], x[f : f + n], x[f + n : f + 2 * n], float(x[-1])

    def likelihood(self, x: Floats) -> float:
        theta, alpha, b, _ = self.at(x)
        eta = np.exp(alpha)[self.j] * (theta[self.i] - b[self.j])
        return float((self.y * eta - np.maximum(eta, 0) - np.log1p(np.exp(-np.abs(eta)))).sum())

    def prior(self, x: Floats) -> float:
        theta, alpha, b, mu = self.at(x)
        return -float(theta @ theta / 2 + alpha @ alpha / (2 * ALPHA_VARIANCE) + (b - mu) @ (b - mu) / (2 * B_VARIANCE))

    def value(self, x: Floats) -> float:
        return self.likelihood(x) + self.prior(x)

    def _terms(self, x: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        theta, alpha, b, _ = self.at(x)
        a = np.exp(alpha)[self.j]
        eta = a * (theta[self.i] - b[self.j])
        pi = 1 / (1 + np.exp(-np.clip(eta, -700, 700)))
        return a, eta, self.y - pi, pi * (1 - pi)

    def gradient(self, x: Floats) -> Floats:
        theta, alpha, b, mu = self.at(x)
        a, eta, r, _ = self._terms(x)
        return np.concatenate([
            self._by_forecaster(a * r) - theta,
            self._by_problem(r * eta) - alpha / ALPHA_VARIANCE,
            -self._by_problem(a * r) - (b - mu) / B_VARIANCE,
            [(b - mu).sum() / B_VARIANCE],
        ])

    def _by_forecaster(self, values: Floats) -> Floats:
        return _count_up(self.i, values, self.forecasters)

    def _by_problem(self, values: Floats) -> Floats:
        return _count_up(self.j, values, self.problems)

    def _cross(self, values: Floats) -> Floats:
        """Forecasters × problems."""
        full = _count_up(self.cell, values, self.forecasters * self.problems)
        return full.reshape(self.forecasters, self.problems)

    def solve(self, x: Floats, gradient: Floats, exact: bool) -> tuple[Floats, Floats]:
        """The step (minus Hessian)⁻¹ · gradient and the variances of θ; LinAlgError unless it is positive definite.

        Each problem's 2×2 block (α, b) is eliminated, or the forecasters where they are the more.
        """
        a, eta, r, w = self._terms(x)
        if not exact:
            r = np.zeros_like(r)
        f, n = self.forecasters, self.problems
        information = a * a * w
        theta = self._by_forecaster(information) + 1
        aa = self._by_problem(eta * eta * w - r * eta) + 1 / ALPHA_VARIANCE
        bb = self._by_problem(information) + 1 / B_VARIANCE
        ab = self._by_problem(a * r - a * eta * w)
        theta_a, theta_b = self._cross(a * eta * w - a * r), self._cross(-information)
        determinant = aa * bb - ab * ab
        if (aa <= 0).any() or (determinant <= 0).any():
            raise np.linalg.LinAlgError
        if f > n:
            return self._solve_problems(gradient, theta, aa, ab, bb, theta_a, theta_b)
        # global parameters: θ, then μ, which meets b only
        to_a = np.vstack([theta_a, np.zeros(n)])
        to_b = np.vstack([theta_b, np.full(n, -1 / B_VARIANCE)])
        from_a, from_b = (to_a * bb - to_b * ab) / determinant, (to_b * aa - to_a * ab) / determinant
        schur = np.diag(np.append(theta, n / B_VARIANCE)) - from_a @ to_a.T - from_b @ to_b.T
        g_a, g_b = gradient[f : f + n], gradient[f + n : -1]
        right = np.append(gradient[:f], gradient[-1]) - from_a @ g_a - from_b @ g_b
        inverse = _inverse(schur)
        step = inverse @ right
        rest_a, rest_b = g_a - step @ to_a, g_b - step @ to_b
        step_a, step_b = (bb * rest_a - ab * rest_b) / determinant, (aa * rest_b - ab * rest_a) / determinant
        return np.concatenate([step[:f], step_a, step_b, step[f:]]), np.diag(inverse)[:f]

    def _solve_problems(
        self, gradient: Floats, theta: Floats, aa: Floats, ab: Floats, bb: Floats, theta_a: Floats, theta_b: Floats
    ) -> tuple[Floats, Floats]:
        f, n = self.forecasters, self.problems
        cross = np.hstack([theta_a, theta_b, np.zeros((f, 1))])
        block = np.zeros((2 * n + 1, 2 * n + 1))
        at, to = np.arange(n), np.arange(n, 2 * n)
        block[at, at], block[to, to], block[-1, -1] = aa, bb, n / B_VARIANCE
        block[at, to] = block[to, at] = ab
        block[to, -1] = block[-1, to] = -1 / B_VARIANCE
        scaled = cross / theta[:, None]
        inverse = _inverse(block - cross.T @ scaled)
        step = inverse @ (gradient[f:] - scaled.T @ gradient[:f])
        variances = 1 / theta + np.einsum("ij,jk,ik->i", scaled, inverse, scaled, optimize=True)
        return np.concatenate([gradient[:f] / theta - scaled @ step, step]), variances


def _inverse(matrix: Floats) -> Floats:
    """Inverse of a symmetric matrix; LinAlgError unless it is positive definite."""
    half = np.linalg.inv(np.linalg.cholesky((matrix + matrix.T) / 2))
    return np.asarray(half.T @ half)


def fit_irt(forecaster: ArrayLike, problem: ArrayLike, y: ArrayLike, max_iterations: int = 200) -> IrtFit:
    """Two-parameter item response model of continuous responses: y ≈ σ(a_j (θ_i - b_j)); its posterior mode.

    Maximises Σ y ln π + (1 - y) ln(1 - π) with priors θ ~ N(0, 1), ln a ~ N(0, ½²), b ~ N(μ, 2²), μ free (so Σθ = 0),
    by Newton's method, damped by halving; where minus the Hessian is not positive definite, by Fisher's information.
    Converged: gradient max-norm ≤ 1e-8 · max(1, N/1000). Binary y gives the classical 2PL.

    forecaster, problem: N integers from 0, every number used; y: N responses in [0, 1]. The standard errors of θ come
    from the inverse Schur complement. Each y counts as one trial, which makes them conservative for continuous y.
    Raises InputError: no observation, lengths that differ, y outside [0, 1]. Source: Bo et al. (2017), simplified.
    """
    i, j, (values,) = _observations("fit_irt", forecaster, problem, {"y": y})
    model = _Irt(i, j, values)
    means = np.clip(model._by_problem(values) / np.bincount(j), 0.02, 0.98)
    b = -np.log(means / (1 - means))
    x = np.concatenate([np.zeros(model.forecasters + model.problems), b, [b.mean()]])
    tolerance = 1e-8 * max(1.0, len(values) / 1000)
    value, gradient = model.value(x), model.gradient(x)
    iterations = 0
    while np.abs(gradient).max() > tolerance and iterations < max_iterations:
        iterations += 1
        try:
            step, _ = model.solve(x, gradient, exact=True)
        except np.linalg.LinAlgError:
            step, _ = model.solve(x, gradient, exact=False)
        slope, length = float(gradient @ step), 1.0
        # A rise below rounding cannot be seen: then the gradient decides. `not >=`, since too long a step gives nan.
        with np.errstate(over="ignore", invalid="ignore"):
            least = value - 1e-12 * abs(value)
            while not model.value(x + length * step) >= least + 1e-4 * length * slope and length > 1e-10:
                length /= 2
        x = x + length * step
        value, gradient = model.value(x), model.gradient(x)
    try:
        _, variances = model.solve(x, gradient, exact=True)
    except np.linalg.LinAlgError:
        _, variances = model.solve(x, gradient, exact=False)
    theta, alpha, b, _ = model.at(x)
    norm = float(np.abs(gradient).max())
    return IrtFit(
        theta, np.sqrt(variances), b, np.exp(alpha), model.likelihood(x), value, norm, iterations, norm <= tolerance
    )


def _observations(
    where: str, forecaster: ArrayLike, problem: ArrayLike, values: Mapping[str, ArrayLike]
) -> tuple[Ints, Ints, list[Floats]]:
    i, j = np.asarray(forecaster), np.asarray(problem)
    if i.size and j.size and (i.dtype.kind not in "iu" or j.dtype.kind not in "iu"):
        raise InputError(where, "forecasters and problems must be numbered by integers", f"{i.dtype} and {j.dtype}")
    i, j = i.astype(np.int64), j.astype(np.int64)
    arrays, _, _ = _flat(where, values, range(np.size(next(iter(values.values()))) + 1))
    if not len(i) == len(j) == len(arrays[0]) or i.ndim != 1 or j.ndim != 1:
        raise InputError(where, "expected arrays of one length", f"{i.size}, {j.size} and {len(arrays[0])}")
    if not len(i):
        raise InputError(where, "expected observations", "none")
    if i.min() < 0 or j.min() < 0 or (np.bincount(i) == 0).any() or (np.bincount(j) == 0).any():
        raise InputError(where, "forecasters and problems must be numbered from 0 without gaps")
    return i, j, arrays


# --- Bradley–Terry ---

STRENGTH_FLOOR: Final = 1e-300
VANISHING: Final = 1e-6  # of the mean strength: on its way to 0
DRIFTING: Final = 1e-6  # change of ln θ in one more update, against the median's, of a fit that has not converged


class BradleyTerryFit(NamedTuple):
    """Strengths of mean 1. `used`: events that counted; `diverging`: strengths that vanish or do not settle."""

    strength: Floats
    log_likelihood: float
    gradient_norm: float
    iterations: int
    converged: bool
    diverging: Bools
    used: Bools


def fit_bradley_terry(
    forecaster: ArrayLike, event: ArrayLike, p_winner: ArrayLike, prior: float = 0.0, max_iterations: int = 10_000
) -> BradleyTerryFit:
    """Generalised Bradley–Terry: in every event the winning team, Σ_j θ_j p_jc, against all who are present, Σ_j θ_j.

    Maximises Σ_i ln(Σ_j θ_j p_jc / Σ_j θ_j) + prior · Σ_j ln(θ_j/(1 + θ_j)²), a virtual opponent of strength 1 that
    each forecaster beats and loses to `prior` times. The update θ_s ← [Σ_i θ_s p_sc/Σ_j θ_j p_jc + prior] /
    [Σ_i 1/Σ_j θ_j + 2 prior/(1 + θ_s)] never lowers it; two updates are extrapolated (SQUAREM) where that rises more.
    From all ones, until three successive relative rises are below 1e-12 or `max_iterations` cycles are over.

    forecaster, event: N integers from 0 without gaps; p_winner: the probability each gave the event's winner, in
    [0, 1]. An event whose winner nobody gave any is left out (`used`). `log_likelihood` is without the prior, and
    `gradient_norm` the largest derivative by a ln θ, with it. Without prior and with gaps in participation the
    maximum need not be unique or finite: see `converged` and `diverging`. Without prior and with full participation
    the strengths are the weights of the best linear pool of the forecasters.
    Raises InputError: no observation, lengths that differ, values outside [0, 1], a negative prior.
    Source: Huang, Weng and Lin (2006); acceleration: Varadhan and Roland (2008).
    """
    i, j, (p,) = _observations("fit_bradley_terry", forecaster, event, {"p_winner": p_winner})
    if not number_text(prior) or prior < 0:
        raise InputError("prior", "must be a number >= 0", printable(repr(prior), 60))
    used = np.bincount(j, p) > 0
    pool = _Pool(i, j, p, used, prior)
    count = int(i.max()) + 1
    t, calm, cycles = np.zeros(count), 0, 0  # t = ln θ
    value, t1 = pool.update(t)
    while calm < 3 and cycles < max_iterations and used.any():
        cycles += 1
        value1, t2 = pool.update(t1)
        r, v = t1 - t, (t2 - t1) - (t1 - t)
        length = float(np.sqrt((v * v).sum()))
        factor = max(1.0, float(np.sqrt((r * r).sum())) / length) if length > 0 else 1.0
        start, (new, after) = t2, (-math.inf, t2)
        if factor > 1:
            leap = pool.scale(t + 2 * factor * r + factor * factor * v)
            new, after = pool.update(leap)
            start = leap
        if not new >= value1:  # monotone: the plain update cannot fall
            start = t2
            new, after = pool.update(t2)
        calm = calm + 1 if new - value < 1e-12 * max(abs(value), 1e-300) else 0
        t, t1, value = start, after, new
    theta = np.exp(t)
    gradient = pool.gradient(t)
    converged = calm == 3 or not used.any()
    drift = np.abs(t1 - t - np.median(t1 - t))  # only ratios of strengths count
    diverging = (prior == 0) & ((not converged) & (drift > DRIFTING) | (theta < VANISHING * theta.mean()))
    likelihood = value - pool.penalty(t)
    norm = float(np.abs(gradient).max())
    return BradleyTerryFit(theta / theta.mean(), likelihood, norm, cycles, converged, diverging, used)


class _Pool:
    """The update of `fit_bradley_terry` in t = ln θ; a matrix where most forecasters meet in most events."""

    def __init__(self, i: Ints, j: Ints, p: Floats, used: Bools, prior: float) -> None:
        keep = used[j]
        self.prior, self.count = prior, int(i.max()) + 1
        events = np.cumsum(used) - 1
        self.i, self.j, self.p = i[keep], events[j[keep]], p[keep]
        self.events = int(used.sum())
        cells = self.count * self.events
        self.dense = cells <= 4 * len(self.p)
        if self.dense:
            at = self.j * self.count + self.i
            self.given = np.bincount(at, self.p, cells).reshape(self.events, self.count)
            self.present = np.bincount(at, minlength=cells).reshape(self.events, self.count).astype(float)

    def teams(self, theta: Floats) -> tuple[Floats, Floats]:
        """Per event: Σ θ p of those present, Σ θ."""
        if self.dense:
            return self.given @ theta, self.present @ theta
        strength = theta[self.i]
        return _count_up(self.j, strength * self.p, self.events), _count_up(self.j, strength, self.events)

    def shares(self, theta: Floats, winning: Floats, total: Floats) -> tuple[Floats, Floats]:
        """Per forecaster: Σ_i θ p / winning team, Σ_i 1 / total."""
        if self.dense:
            return theta * ((1 / winning) @ self.given), (1 / total) @ self.present
        won = _count_up(self.i, self.p / winning[self.j], self.count)
        return theta * won, _count_up(self.i, (1 / total)[self.j], self.count)

    def penalty(self, t: Floats) -> float:
        return self.prior * float((t - 2 * np.logaddexp(0, t)).sum()) if self.prior else 0.0

    def update(self, t: Floats) -> tuple[float, Floats]:
        """The objective at t, and the next t."""
        theta = np.exp(t)
        winning, total = self.teams(theta)
        if not (np.isfinite(theta).all() and (winning > 0).all()):
            return -math.inf, t
        won, faced = self.shares(theta, winning, total)
        value = float(np.log(winning / total).sum()) + self.penalty(t)
        # Present only in events that do not count, and no prior: nothing is known, the strength stays.
        idle = faced + self.prior == 0
        step = (won + self.prior + idle * theta) / (faced + 2 * self.prior / (1 + theta) + idle)
        return value, self.scale(np.log(np.maximum(step, STRENGTH_FLOOR)))

    def scale(self, t: Floats) -> Floats:
        """Without prior only ratios count: the largest strength is 1."""
        return t if self.prior else np.maximum(t - t.max(), math.log(STRENGTH_FLOOR))

    def gradient(self, t: Floats) -> Floats:
        theta = np.exp(t)
        won, faced = self.shares(theta, *self.teams(theta))
        return np.asarray(won - theta * faced + self.prior * (1 - 2 * theta / (1 + theta)))


def connected_parts(forecaster: Ints, event: Ints, count: int) -> Ints:
    """For each of `count` forecasters the smallest number of one connected to it by shared events (numbers from 0)."""
    label = np.arange(count)
    while True:
        lowest = np.full(int(event.max(initial=-1)) + 1, count)
        np.minimum.at(lowest, event, label[forecaster])
        new = label.copy()
        np.minimum.at(new, forecaster, lowest[event])
        new = new[new]  # a label is the number of a forecaster of the same part, whose label may be smaller yet
        if (new == label).all():
            return np.asarray(new)
        label = new


# --- Ranks ---


def shared_ranks(values: Floats) -> Ints:
    """Rank 1 for the largest value; values within 1e-9 (relative above 1) of the next share the better rank."""
    order = np.argsort(-values, kind="stable")
    drop = -np.diff(values[order]) > RANK_TIE * np.maximum(1, np.abs(values[order][1:]))
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = np.maximum.accumulate(np.concatenate([[1], np.where(drop, np.arange(2, len(values) + 1), 1)]))
    return ranks


def rank_agreement(columns: Sequence[ArrayLike]) -> tuple[Floats, Floats]:
    """Spearman's rho and Kendall's tau-b of every pair of columns, each a k × k matrix.

    columns: k arrays over the same forecasters, nan where one does not apply; a pair uses those who have both. nan for
    a pair with fewer than two such forecasters or with a column of equal values. Ties: mean ranks (rho), tau-b (tau).
    """
    size = len(columns)
    ranks = np.full((size, len(np.asarray(columns[0]))), np.nan)
    for row, column in zip(ranks, columns, strict=True):
        values = np.asarray(column, dtype=float)
        has = ~np.isnan(values)
        if has.any():
            row[has] = shared_ranks(-values[has])
    rho = np.full((size, size), np.nan)
    for one in range(size):
        for other in range(one, size):
            both = ~np.isnan(ranks[one]) & ~np.isnan(ranks[other])
            a, b = _mean_ranks(ranks[one, both]), _mean_ranks(ranks[other, both])
            spread = math.sqrt(float(a @ a) * float(b @ b))
            if spread > 0:
                rho[one, other] = rho[other, one] = min(1.0, max(-1.0, float(a @ b) / spread))
    agree, apart = np.zeros((size, size)), np.zeros((size, size))
    for at in range(0, ranks.shape[1], 256):  # pairs in blocks: a thousand forecasters make half a million
        with np.errstate(invalid="ignore"):
            sign = np.sign(ranks[:, at : at + 256, None] - ranks[:, None, :]).reshape(size, -1)
        valid = (~np.isnan(sign)).astype(float)
        sign = np.nan_to_num(sign)
        agree += sign @ sign.T
        apart += np.abs(sign) @ valid.T
    with np.errstate(invalid="ignore", divide="ignore"):
        tau = agree / np.sqrt(apart * apart.T)
    return rho, np.where(apart * apart.T > 0, np.clip(tau, -1, 1), np.nan)


def _mean_ranks(values: Floats) -> Floats:
    """Ranks with ties at their mean, minus the mean of all."""
    if not len(values):
        return values
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2
    return np.asarray(ranks[inverse.reshape(-1)] - (len(values) + 1) / 2)


# --- Records: problems and forecasts as arrays ---


class Events(NamedTuple):
    """Events in the order of their ids; the options of event e stand at offsets[e]:offsets[e + 1] of `outcome`."""

    ids: list[str]
    offsets: Ints
    outcome: Floats
    exclusive: Bools
    closed: Floats
    category: list[str]

    @property
    def sizes(self) -> Ints:
        return np.diff(self.offsets)


class Forecasts(NamedTuple):
    """Forecasts sorted by event, then forecaster; forecast i stands at offsets[i]:offsets[i + 1] of p, q and mid.

    q and mid (asking and middle price) are nan unless `priced`.
    """

    names: list[str]
    event: Ints
    forecaster: Ints
    time: Floats
    weight: Floats
    priced: Bools
    offsets: Ints
    p: Floats
    q: Floats
    mid: Floats

    def labels(self, where: Bools, ids: Sequence[str]) -> list[str]:
        pairs = zip(self.forecaster[where].tolist(), self.event[where].tolist(), strict=True)
        return [f"{self.names[who]} on {ids[event]}" for who, event in pairs]


class Notes:
    """What was left out and what is odd, by reason, with the names concerned."""

    def __init__(self) -> None:
        self.excluded: dict[tuple[str, str], list[str]] = {}
        self.odd: dict[str, list[str]] = {}
        self.lines: list[str] = []

    def exclude(self, kind: str, reason: str, *names: str) -> None:
        if names:
            self.excluded.setdefault((kind, reason), []).extend(names)

    def warn(self, text: str, *names: str) -> None:
        if names:
            self.odd.setdefault(text, []).extend(names)

    def summary(self) -> list[dict[str, Any]]:
        """Names in order, so that the order of the input shows nowhere; of forecasts the first hundred."""
        return [
            {
                "what": kind,
                "reason": reason,
                "count": len(names),
                "names": [printable(name, 200) for name in sorted(names)[: None if kind == "event" else NAMES_KEPT]],
            }
            for (kind, reason), names in sorted(self.excluded.items())
        ]

    def warnings(self) -> list[str]:
        return [*(grouped_warning(text, sorted(names)) for text, names in sorted(self.odd.items())), *self.lines]


_TIME: Final = re.compile(
    r"""
    (\d{4}-\d\d-\d\d)
    (?: [T\ ] (\d\d:\d\d) (:\d\d)? (?:\.(\d{1,9}))? )?
    \ ? (?: (Z|z|UTC) | ([+-]\d\d) :? (\d\d)? )?
    """,
    re.VERBOSE | re.ASCII,
)


@lru_cache(maxsize=1 << 16)
def parse_time(text: str) -> tuple[float, bool]:
    """Seconds since 1970 of an ISO 8601 time (nan if it is none), and whether it names its time zone (else UTC)."""
    match = _TIME.fullmatch(text.strip())
    if not match:
        return math.nan, True
    day, minute, second, fraction, zulu, hours, minutes = match.groups()
    zone = f"{hours}:{minutes or '00'}" if hours else "+00:00"
    written = f"{day}T{minute or '00:00'}{second or ':00'}.{(fraction or '')[:6]:0<6}{zone}"
    try:  # put together for Python 3.10, which reads neither Z nor two digits of a second
        moment = datetime.fromisoformat(written).astimezone(timezone.utc)  # OverflowError near the years 1 and 9999
        return moment.timestamp(), bool(zulu or hours)
    except (ValueError, OverflowError):
        return math.nan, True


def _read_time(value: object, kind: str, name: str, notes: Notes) -> float:
    """nan if there is none; what does not parse is counted, and so is a time without zone, read as UTC."""
    if value is None or value == "":
        return math.nan
    seconds, zoned = parse_time(value) if isinstance(value, str) else (math.nan, True)
    if math.isnan(seconds):
        notes.warn(f"{kind} that is no ISO 8601 time, taken as unknown", name)
    elif not zoned:
        notes.warn(f"{kind} without time zone, read as UTC", name)
    return seconds


def _as_id(value: object) -> str:
    """An id or a name as text: 7 and "7" are one; "" if it is neither text nor a number."""
    return value if isinstance(value, str) else number_text(value)


def _as_number(value: object) -> float:
    """A number or the plain text of one; nan for anything else, blanks and booleans among it."""
    if isinstance(value, str):
        if "_" in value:  # float("0_5") is 5.0
            return math.nan
        try:
            return float(value)
        except ValueError:
            return math.nan
    text = number_text(value)
    return float(text) if text and len(text) < 400 else math.nan


_PROBLEM_FIELDS: Final = frozenset({"problem_id", "options", "correct_answer", "correct_option_idx", "exclusive"})
_ODD_RULES: Final = {"closing time": "the latest counts", "category": "the first by name counts"}


class _Problem(NamedTuple):
    size: int
    winners: frozenset[int]
    exclusive: bool
    closed: float
    category: str


def _read_problem(record: Mapping[str, Any], name: str, notes: Notes) -> _Problem | str:
    """The problem, or the reason why it cannot be used."""
    if UNUSABLE in record:
        return str(record[UNUSABLE])
    for what in sorted(record.get(ODD, ())):
        notes.warn(f"{what} that differs between the rows of an event, {_ODD_RULES[what]}", name)
    options = record.get("options")
    names = [_as_id(option) for option in options] if isinstance(options, (list, tuple)) else []
    if not names or "" in names:
        return "'options' must be a list of names"
    if len(set(names)) < len(names):
        return "an option is listed twice"
    if set(record.get(DUPLICATE_KEYS, ())) & _PROBLEM_FIELDS:
        return "a field is given twice"
    found = _read_winners(record, names)
    if isinstance(found, str):
        return found
    exclusive = record.get("exclusive")
    if exclusive is not None and not isinstance(exclusive, bool):
        return "'exclusive' must be true or false"
    if exclusive and len(found) != 1:
        notes.warn("declared exclusive without exactly one winner, taken as separate markets", name)
    metadata = record.get("metadata")
    closed = record.get("end_date")
    if closed is None and isinstance(metadata, Mapping):
        closed = metadata.get("end_date")
    category = record.get("category")
    return _Problem(
        len(names),
        found,
        exclusive is not False and len(names) > 1 and len(found) == 1,
        _read_time(closed, "closing time", name, notes),
        _as_id(category).strip(),
    )


def _read_winners(record: Mapping[str, Any], options: Sequence[str]) -> frozenset[int] | str:
    """The winners' positions (one, a list, or an empty list for none), or the reason why there are none."""
    answer, index = record.get("correct_answer"), record.get("correct_option_idx")
    if answer is None and index is None:
        return "no correct answer"
    readings = []
    if answer is not None:
        texts = [_as_id(text) for text in (answer if isinstance(answer, (list, tuple)) else [answer])]
        if not set(texts) <= set(options):
            return "a winner is not among the options"
        readings.append(frozenset(options.index(text) for text in texts))
    if index is not None:
        numbers = index if isinstance(index, (list, tuple)) else [index]
        if not all(isinstance(n, int) and not isinstance(n, bool) and 0 <= n < len(options) for n in numbers):
            return "a winner is not among the options"
        readings.append(frozenset(numbers))
    return readings[0] if len(set(readings)) == 1 else "'correct_answer' and 'correct_option_idx' disagree"


def read_problems(problems: Iterable[Any], notes: Notes) -> tuple[Events, dict[str, int]]:
    """The usable events, and the number of every id that the problems name, -1 for those that cannot be used."""
    records: dict[str, list[Mapping[str, Any]]] = {}
    for number, record in enumerate(problems, 1):
        name = _as_id(record.get("problem_id")) if isinstance(record, Mapping) else ""
        if name:
            records.setdefault(name, []).append(record)
        else:
            reason = record.problem if isinstance(record, BadRecord) else "no object with 'problem_id'"
            notes.exclude("event", reason, f"problem {number}")
    usable: list[tuple[str, _Problem]] = []
    for name, same in sorted(records.items()):
        found = _read_problem(same[0], name, notes) if len(same) == 1 else "problem id used more than once"
        if isinstance(found, str):
            notes.exclude("event", found, *[name] * len(same))
        else:
            usable.append((name, found))
    offsets = np.cumsum([0, *(problem.size for _, problem in usable)], dtype=np.int64)
    outcome = np.zeros(int(offsets[-1]))
    for start, (_, problem) in zip(offsets, usable, strict=False):
        outcome[[int(start) + winner for winner in problem.winners]] = 1
    events = Events(
        [name for name, _ in usable],
        offsets,
        outcome,
        np.array([problem.exclusive for _, problem in usable], dtype=bool),
        np.array([problem.closed for _, problem in usable], dtype=float),
        [problem.category for _, problem in usable],
    )
    return events, {**dict.fromkeys(records, -1), **{name: number for number, name in enumerate(events.ids)}}


class _Rows:
    """Forecasts as they are read, a list per field."""

    def __init__(self) -> None:
        self.event: list[int] = []
        self.name: list[str] = []
        self.time: list[float] = []
        self.weight: list[float] = []
        self.p: list[Sequence[Any]] = []
        self.q: list[Any] = []
        self.bids: list[Any] = []

    def label(self, ids: Sequence[str], at: int) -> str:
        return f"{self.name[at]} on {ids[self.event[at]]}"


_FORECAST_FIELDS: Final = frozenset(
    {"problem_id", "username", "timestamp", "prediction", "probs", "odds", "bids", "weight"}
)


def _read_rows(forecasts: Iterable[Any], numbers: Mapping[str, int], sizes: Sequence[int], notes: Notes) -> _Rows:
    """The forecasts whose fields have the right form; the values of p, q and bids are still unchecked."""
    rows = _Rows()
    for position, record in enumerate(forecasts, 1):
        if not isinstance(record, Mapping):
            reason = record.problem if isinstance(record, BadRecord) else "no object"
            notes.exclude("forecast", reason, f"forecast {position}")
            continue
        problem, name = record.get("problem_id"), record.get("username")
        problem = problem if type(problem) is str else _as_id(problem)
        name = name if type(name) is str else _as_id(name)
        p = record.get("prediction")
        twice = p is not None and record.get("probs") is not None
        p = record.get("probs") if p is None else p
        if type(p) is not list:
            p = p.tolist() if isinstance(p, np.ndarray) else p
        weight = record.get("weight")
        number = numbers.get(problem)
        label = f"{name or f'forecast {position}'} on {problem}"
        if not name or not problem:
            notes.exclude("forecast", "no 'problem_id' or no 'username'", f"forecast {position}")
        elif UNUSABLE in record:
            notes.exclude("forecast", record[UNUSABLE], label)
        elif number is None:
            notes.exclude("forecast", "unknown problem id", label)
        elif number < 0:
            notes.exclude("forecast", "of an event that is excluded", label)
        elif DUPLICATE_KEYS in record and _FORECAST_FIELDS & set(record[DUPLICATE_KEYS]):
            notes.exclude("forecast", "a field is given twice", label)
        elif not isinstance(p, (list, tuple)) or len(p) != sizes[number]:
            notes.exclude("forecast", "expected a probability for every option", label)
        elif twice and as_text(record["probs"]) != as_text(p):
            notes.exclude("forecast", "'prediction' and 'probs' disagree", label)
        elif weight is not None and not 1e-100 < _as_number(weight) < 1e100:  # sums of others overflow
            notes.exclude("forecast", "'weight' must be a positive number", label)
        else:
            rows.event.append(number)
            rows.name.append(name)
            rows.time.append(_read_time(record.get("timestamp"), "timestamp", label, notes))
            rows.weight.append(1.0 if weight is None else _as_number(weight))
            rows.p.append(p)
            rows.q.append(record.get("odds"))
            rows.bids.append(record.get("bids"))
    return rows


def _numbers(lists: Sequence[Sequence[Any]], size: int) -> Floats:
    """All values of the lists in a row; nan for what is no number."""
    if set(map(type, chain.from_iterable(lists))) <= {float, int}:
        with contextlib.suppress(OverflowError):  # an integer of a thousand digits
            return np.fromiter(chain.from_iterable(lists), float, size)
    return np.fromiter(map(_as_number, chain.from_iterable(lists)), float, size)


def _prices(lists: list[Any], sizes: Ints, lowest: float) -> tuple[Floats, Bools]:
    """Prices in a row, and which lists give one in [lowest, 1] for every option; the others are nan."""
    blank = {size: [math.nan] * size for size in set(sizes.tolist())}
    rows = [
        row if isinstance(row, (list, tuple)) and len(row) == size else blank[size]
        for row, size in zip(lists, sizes.tolist(), strict=True)
    ]
    values = _numbers(rows, int(sizes.sum()))
    starts = np.cumsum(sizes) - sizes
    good = np.logical_and.reduceat((values >= lowest) & (values <= 1), starts)
    values[~np.repeat(good, sizes)] = math.nan
    return values, good


def read_forecasts(
    forecasts: Iterable[Any], events: Events, numbers: Mapping[str, int], repeats: str, late: str, notes: Notes
) -> Forecasts | None:
    """The forecasts that count, as arrays; None if there is none. See `ProphetArenaEvaluator` for `repeats`, `late`."""
    rows = _read_rows(forecasts, numbers, events.sizes.tolist(), notes)
    if not rows.event:
        return None
    event, time, weight = np.array(rows.event), np.array(rows.time), np.array(rows.weight)
    sizes = events.sizes[event]
    starts = np.cumsum(sizes) - sizes
    p = _numbers(rows.p, int(sizes.sum()))
    rows.p.clear()  # millions of Python floats
    keep = np.logical_and.reduceat((p >= 0) & (p <= 1), starts)
    for at in np.flatnonzero(~keep).tolist():
        notes.exclude("forecast", "probabilities must be numbers in [0, 1]", rows.label(events.ids, at))
    q, priced = _prices(rows.q, sizes, np.nextafter(0, 1))
    for at in np.flatnonzero(~priced).tolist():
        if rows.q[at] is not None:
            notes.warn("odds are not a number in (0, 1] for every option: no return", rows.label(events.ids, at))
    rows.q.clear()
    mid = q
    if any(bids is not None for bids in rows.bids):
        bids, bidden = _prices(rows.bids, sizes, 0.0)
        with np.errstate(invalid="ignore"):
            bidden &= np.logical_and.reduceat((bids <= q) | ~np.repeat(priced, sizes), starts)
        for at in np.flatnonzero(~bidden).tolist():
            if rows.bids[at] is not None:
                notes.warn(
                    "bids are not a number in [0, odds] for every option: the mid price is the odds",
                    rows.label(events.ids, at),
                )  # fmt: skip
        mid = np.clip(np.where(np.repeat(bidden & priced, sizes), (q + bids) / 2, q), *PRICE_RANGE)
    np.clip(q, *PRICE_RANGE, out=q)
    if late == "drop":
        for at in np.flatnonzero(keep & (time > events.closed[event])).tolist():
            keep[at] = False
            notes.exclude("forecast", "after the event closed", rows.label(events.ids, at))
    names = sorted({rows.name[at] for at in np.flatnonzero(keep).tolist()})
    if not names:
        return None
    index = {name: number for number, name in enumerate(names)}
    who = np.fromiter((index.get(name, -1) for name in rows.name), np.int64, len(rows.name))
    order = np.lexsort((who, event))
    order = order[keep[order]]
    same = (event[order][1:] == event[order][:-1]) & (who[order][1:] == who[order][:-1])
    first = np.flatnonzero(np.append(True, ~same))
    chosen = order[first]
    for number, group in ((at, order[first[at] :][:size]) for at, size in _several(first, len(order))):
        latest = group
        if repeats == "last":  # an unknown time comes before any other
            known = np.nan_to_num(time[group], nan=-math.inf)
            latest = group[known == known.max()]
        chosen[number] = latest[0] if len(latest) == 1 else _average(latest, weight, starts, sizes, (p, q, mid), priced)
        label = rows.label(events.ids, int(group[0]))
        notes.exclude("forecast", "a later one of its forecaster counts", *[label] * (len(group) - len(latest)))
        notes.exclude("forecast", "averaged with another of its forecaster", *[label] * (len(latest) - 1))
    order = chosen
    offsets = np.append(0, np.cumsum(sizes[order]))
    if (order[1:] != order[:-1] + 1).any() or len(order) < len(event):
        positions = np.repeat(starts[order] - offsets[:-1], sizes[order]) + np.arange(offsets[-1])
        mid = p[:0] if mid is q else mid[positions]
        p, q = p[positions], q[positions]
        mid = mid if len(mid) else q
    return Forecasts(
        names, event[order], who[order], time[order], weight[order], priced[order], offsets, p, q, mid
    )  # fmt: skip


def _several(first: Ints, size: int) -> list[tuple[int, int]]:
    """Which groups have more than one member, and how many; `first` is where each of them begins."""
    sizes = np.diff(np.append(first, size))
    return [(int(at), int(sizes[at])) for at in np.flatnonzero(sizes > 1)]


def _average(
    group: Ints, weight: Floats, starts: Ints, sizes: Ints, columns: tuple[Floats, Floats, Floats], priced: Bools
) -> int:
    """Put the mean of some forecasts for an event (p, and the prices that there are) in the place of one of them.

    They are added in an order of their own, since sums of floats depend on it.
    """
    rows = {int(at): np.s_[int(starts[at]) : int(starts[at] + sizes[at])] for at in group}
    order = sorted(
        rows, key=lambda at: [weight[at], *(x for column in columns for x in np.nan_to_num(column[rows[at]]).tolist())]
    )
    paid = [at for at in order if priced[at]]
    means = [
        np.mean([column[rows[at]] for at in used], axis=0) if used else math.nan
        for column, used in zip(columns, (order, paid, paid), strict=True)
    ]
    weight[order[0]] = np.mean(weight[order])
    priced[order[0]] = bool(paid)
    for column, mean in zip(columns, means, strict=True):
        column[rows[order[0]]] = mean
    return order[0]


# --- From forecasts to scores ---


class Scores(NamedTuple):
    """Per forecast: metrics (nan where one does not apply), the winner's normalised probability, what was odd."""

    values: dict[str, Floats]
    p_winner: Floats
    normalised: Bools
    doubtful: Bools
    empty: Bools
    bins: Floats  # `_bin_sums` per cell


def return_name(gamma: float) -> str:
    return f"return_{gamma:.12g}"


def score_forecasts(
    events: Events, data: Forecasts, gammas: Sequence[float], cell: Ints, cells: int, bins: int
) -> Scores:
    """Every score of every forecast, in chunks; calibration sums by `cell`, a number below `cells` per forecast."""
    count = len(data.event)
    names = ["brier", "log", "spherical", *map(return_name, gammas), "p_winner"]
    values = {name: np.full(count, math.nan) for name in names}
    flags = {name: np.zeros(count, dtype=bool) for name in ("normalised", "doubtful", "empty")}
    sums = np.zeros((4, cells, bins))
    cuts = np.unique(np.searchsorted(data.offsets, [*range(0, int(data.offsets[-1]), CHUNK), data.offsets[-1]]))
    for low, high in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        at, flat = np.s_[low:high], np.s_[data.offsets[low] : data.offsets[high]]
        event, ends = data.event[at], data.offsets[low : high + 1] - data.offsets[low]
        p, sizes = data.p[flat], np.diff(ends)
        o = events.outcome[np.repeat(events.offsets[event] - ends[:-1], sizes) + np.arange(len(p))]
        values["brier"][at] = brier_score(p, o, ends)
        sums += _bin_sums(p, o, np.repeat(data.weight[at], sizes), np.repeat(cell[at], sizes), cells, bins)
        # From here on exclusive events only, their probabilities summing to 1.
        total = np.add.reduceat(p, ends[:-1])
        exclusive = events.exclusive[event]
        off = np.abs(total - 1) > SUM_TOLERANCE + ROUNDING
        flags["empty"][at] = exclusive & (total == 0)
        flags["normalised"][at] = exclusive & (total > 0) & off
        flags["doubtful"][at] = exclusive & (
            (total < PLAUSIBLE_SUM[0] - ROUNDING) | (total > PLAUSIBLE_SUM[1] + ROUNDING)
        )
        chosen = exclusive & (total > 0)
        p, o, ends = _select(chosen, sizes, p / np.repeat(np.where(off & chosen, total, 1), sizes), o)
        where = low + np.flatnonzero(chosen)
        values["log"][where], values["spherical"][where] = log_score(p, o, ends), spherical_score(p, o, ends)
        values["p_winner"][where] = _winning("score_forecasts", p, o, ends[:-1])
        priced = data.priced[where]
        (q,) = _select(chosen, sizes, data.q[flat])[:-1]
        p, o, q, ends = _select(priced, np.diff(ends), p, o, q)
        for gamma in gammas:
            values[return_name(gamma)][where[priced]] = average_return(p, q, o, gamma, ends)
    p_winner = values.pop("p_winner")
    return Scores(values, p_winner, **flags, bins=sums)


def _select(chosen: Bools, sizes: Ints, *columns: Floats) -> tuple[Any, ...]:
    """The flat columns at the chosen forecasts, and their offsets."""
    positions = np.repeat(chosen, sizes)
    return (*(column[positions] for column in columns), np.append(0, np.cumsum(sizes[chosen])))


def baselines(events: Events, data: Forecasts) -> tuple[Forecasts, Forecasts]:
    """The market and the crowd as forecasters, one forecast per event, both paid at the event's mean asking price.

    market: the mean middle price, normalised for exclusive events (separate markets need not sum to 1) and cut to 1
    for the others; events with prices only. crowd: the mean of the event's forecasts. Forecasts count by their
    weights in these means, and an event by the mean weight of its forecasts.
    """
    slots = len(events.outcome)
    sizes = events.sizes

    def slot_means(values: Floats, chosen: Bools) -> tuple[Floats, Bools]:
        total, mass = np.zeros(slots), np.bincount(data.event[chosen], data.weight[chosen], len(sizes))
        cuts = np.unique(np.searchsorted(data.offsets, [*range(0, int(data.offsets[-1]), CHUNK), data.offsets[-1]]))
        for low, high in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
            ends, own = data.offsets[low : high + 1] - data.offsets[low], data.event[low:high]
            slot = np.repeat(events.offsets[own] - ends[:-1], np.diff(ends)) + np.arange(ends[-1])
            weight = np.repeat(data.weight[low:high], np.diff(ends))
            column, slot, weight, _ = _select(
                chosen[low:high], np.diff(ends), values[data.offsets[low] : data.offsets[high]], slot, weight
            )
            total += np.bincount(slot, column * weight, slots)
        return total / np.repeat(np.where(mass > 0, mass, 1), sizes), mass > 0

    q, priced = slot_means(data.q, data.priced)
    mid, _ = slot_means(data.mid, data.priced)
    crowd, _ = slot_means(data.p, np.ones(len(data.event), dtype=bool))
    scale = np.where(events.exclusive, np.add.reduceat(mid, events.offsets[:-1]), 1)
    market = np.minimum(mid / np.repeat(np.where(scale > 0, scale, 1), sizes), 1)
    n = len(sizes)
    nowhere, counts = np.full(n, math.nan), np.bincount(data.event, minlength=n)
    heft = np.bincount(data.event, data.weight, n) / np.maximum(counts, 1)
    every = Forecasts(
        ["crowd"], np.arange(n), np.zeros(n, dtype=np.int64), nowhere, heft, priced, events.offsets,
        np.minimum(crowd, 1), q, q,
    )  # fmt: skip
    market_p, market_q, ends = _select(priced, sizes, market, q)
    some = int(priced.sum())
    return every._replace(
        names=["market"], event=np.flatnonzero(priced), forecaster=np.zeros(some, dtype=np.int64), time=nowhere[:some],
        weight=heft[priced], priced=priced[priced], offsets=ends, p=market_p, q=market_q, mid=market_q,
    ), every  # fmt: skip


def weighted_means(values: Floats, weight: Floats, row: Ints, rows: int) -> tuple[Floats, Ints]:
    """Σ w x / Σ w and the count of every row, over the values that are not nan; nan where there are none."""
    has = ~np.isnan(values)
    counts = np.bincount(row[has], minlength=rows)
    with np.errstate(invalid="ignore"):
        means = np.bincount(row[has], (weight * values)[has], rows) / np.bincount(row[has], weight[has], rows)
    return means, counts


# --- Bootstrap ---


def bootstrap_means(
    columns: Sequence[tuple[Floats, Floats]], event: Ints, row: Ints, rows: int, resamples: int, seed: int
) -> Floats:
    """Weighted means of every row over resampled events; shape (columns, resamples, rows), nan without an event.

    columns: (values, weights) per forecast, nan where a value does not apply; event, row: integers from 0. A resample
    draws as many events as there are, with replacement, the same for all rows and columns, so that differences are
    paired; the draws depend on the seed and the number of events only.
    """
    events = int(event.max()) + 1
    result = np.empty((len(columns), resamples, rows))
    width = max(1, (1 << 24) // (events * len(columns)))  # rows at a time: the matrices below are dense
    height = max(1, (1 << 21) // events)
    for left in range(0, rows, width):
        right = min(rows, left + width)
        inside = (row >= left) & (row < right)
        cell = event[inside] * (right - left) + row[inside] - left
        matrices: list[Floats] = []
        places: list[tuple[int, int]] = []  # numerator and denominator of each column
        known: dict[bytes, int] = {}  # one denominator serves all metrics of the same events and weights
        for values, weights in columns:
            has = ~np.isnan(values[inside])
            w = np.where(has, weights[inside], 0)
            key = hashlib.sha256(w.tobytes()).digest()
            parts = [np.where(has, values[inside], 0) * w] + ([] if key in known else [w])
            matrices += [_count_up(cell, part, events * (right - left)).reshape(events, -1) for part in parts]
            known.setdefault(key, len(matrices) - 1)
            places.append((len(matrices) - len(parts), known[key]))
        stacked = np.hstack(matrices)
        rng = np.random.default_rng(seed)
        for top in range(0, resamples, height):
            size = min(height, resamples - top)
            draws = rng.integers(0, events, (size, events)) + np.arange(size)[:, None] * events
            counts = np.bincount(draws.reshape(-1), minlength=size * events).reshape(size, events)
            sums = (counts.astype(float) @ stacked).reshape(size, len(matrices), -1)
            with np.errstate(invalid="ignore", divide="ignore"):
                for number, (above, below) in enumerate(places):
                    result[number, top : top + size, left:right] = sums[:, above] / sums[:, below]
    return result


def percentile_intervals(samples: Floats, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Both ends of the percentile interval of every column, over its samples that are not nan."""
    ordered = np.sort(samples, axis=0)  # nan comes last
    last = np.maximum((~np.isnan(samples)).sum(axis=0) - 1, 0)
    ends = []
    for share in ((1 - confidence) / 2, (1 + confidence) / 2):
        at = last * share
        low = np.floor(at).astype(np.int64)
        column = np.arange(samples.shape[1])
        below, above = ordered[low, column], ordered[np.minimum(low + 1, last), column]
        ends.append(below + (above - below) * (at - low))
    return ends[0], ends[1]


def beats_share(better: Floats, worse: Floats) -> float | None:
    """The share of resamples in which one mean is above the other, ties half; None if none has both."""
    gap = (better - worse)[~np.isnan(better - worse)]
    return float(((gap > RANK_TIE) + 0.5 * (np.abs(gap) <= RANK_TIE)).mean()) if len(gap) else None


# --- The evaluator ---


@contextlib.contextmanager
def _no_collector() -> Iterator[None]:
    """Nothing here makes cycles, and walking millions of records again and again costs more than scoring them."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


class ProphetArenaEvaluator:
    """Scores and ranks probability forecasts; one evaluator serves any number of files.

    gammas: risk aversions of the returns, each in [0, 1]. bootstrap: resamples of the events for the intervals (0:
    none), drawn from `seed`. min_events: forecasters with fewer are "unranked", listed apart. repeats: of several
    forecasts of a forecaster for an event the "last" counts (those of one time are averaged), or their "mean". late:
    forecasts after closing are kept and counted, or dropped. bins: of the calibration. response: the IRT model
    explains 1 - Brier ("brier"), or whether the forecast was "correct": 1 if the most probable option won (ties
    share); the share of options on the right side of 1/2 for an event that is not exclusive. prior: of Bradley–Terry.
    """

    def __init__(
        self,
        gammas: Iterable[float] = GAMMAS,
        bootstrap: int = 1000,
        seed: int = 0,
        min_events: int = 1,
        repeats: str = "last",
        late: str = "keep",
        bins: int = BINS,
        response: str = "brier",
        prior: float = 1.0,
    ) -> None:
        if not isinstance(gammas, Iterable):
            raise InputError("gammas", "must be a list of numbers", printable(repr(gammas), 60))
        self.gammas = tuple(dict.fromkeys(_check_gamma(gamma) for gamma in gammas))
        for name, value, lowest in (
            ("bootstrap", bootstrap, 0), ("seed", seed, 0), ("min_events", min_events, 1), ("bins", bins, 1)
        ):  # fmt: skip
            if not isinstance(value, int) or isinstance(value, bool) or value < lowest:
                raise InputError(name, f"must be an integer >= {lowest}", printable(repr(value), 60))
        for name, choice, choices in (
            ("repeats", repeats, ("last", "mean")), ("late", late, ("keep", "drop")),
            ("response", response, ("brier", "correct")),
        ):  # fmt: skip
            if choice not in choices:
                raise InputError(name, f"must be {' or '.join(choices)}", printable(repr(choice), 60))
        if not number_text(prior) or prior <= 0:
            raise InputError("prior", "must be a positive number", printable(repr(prior), 60))
        self.bootstrap, self.seed, self.min_events, self.bins = bootstrap, seed, min_events, bins
        self.repeats, self.late, self.response, self.prior = repeats, late, response, float(prior)
        self.means = ("brier", "log", "spherical", *map(return_name, self.gammas))
        self.metrics = (*self.means, "ece", "irt_ability", "weighted_brier", "bradley_terry")

    def evaluate_all(
        self, forecasts: Iterable[Any], problems: Iterable[Any], where: str = "forecasts"
    ) -> Results:
        """Score the forecasts of the problems; the module's docstring tells their fields.

        Plain Python values, None where a metric does not apply, the same for any order of the input. Keys:
        forecasters: by name n_events, n_exclusive, n_priced (the denominators), every metric, `<metric>_rank`, for
            means `<metric>_interval` (95 %) and `<metric>_beats_next`, the probability of beating who is next by it,
            irt_ability_se and irt_ability_interval; unranked: those with fewer than min_events, without ranks
        ranking: rank, name, score (Brier), interval and n of each, best first
        baselines: the same as forecasters for "market" and "crowd", without models (`baselines`)
        problems: by id difficulty, discrimination, n_forecasts, n_options, exclusive
        rank_correlation: overall and by_category, "spearman" and "kendall" of any two metrics; by_category
        reliability: bins per forecaster; return_curve: running means by closing time
        n_events, n_forecasts, event_classes, doubtful_events (id: forecasts), excluded (what, reason, count, names),
        fits, warnings, signature

        The weights of forecasts count in every mean, not in the two models. The intervals of the weighted Brier take
        the discriminations as given. `where` names the data in errors. Raises InputError if no forecast can be
        scored; anything less is counted in "excluded".
        """
        with _no_collector():
            notes = Notes()
            events, numbers = read_problems(problems, notes)
            data = read_forecasts(forecasts, events, numbers, self.repeats, self.late, notes)
            if data is None:
                reasons = "; ".join(f"{entry['reason']}: {entry['count']}" for entry in notes.summary())
                raise InputError(where, "expected forecasts that fit the problems", reasons or "none")
            present = np.unique(data.event)
            absent = np.delete(np.arange(len(events.ids)), present)
            notes.exclude("event", "no forecast that counts", *(events.ids[at] for at in absent))
            events = _subset(events, present)
            data = data._replace(event=np.searchsorted(present, data.event))
            return Results(_Evaluation(self, events, data, notes).results(), report_blocks)

    def settings(self) -> dict[str, Any]:
        """The part of a signature that does not depend on the data."""
        return {
            "evaluator": f"Prophet Arena {VERSION}",
            "gammas": list(self.gammas), "bootstrap": self.bootstrap, "seed": self.seed,
            "min_events": self.min_events, "repeats": self.repeats, "late": self.late, "bins": self.bins,
            "response": self.response, "prior": self.prior,
        }  # fmt: skip


def _subset(events: Events, chosen: Ints) -> Events:
    mask = np.zeros(len(events.ids), dtype=bool)
    mask[chosen] = True
    outcome, offsets = _select(mask, events.sizes, events.outcome)
    return Events(
        [events.ids[at] for at in chosen], offsets, outcome, events.exclusive[chosen], events.closed[chosen],
        [events.category[at] for at in chosen],
    )  # fmt: skip


class _Evaluation:
    """One run: the scores of `data`, the two models, and the results made from them."""

    def __init__(self, policy: ProphetArenaEvaluator, events: Events, data: Forecasts, notes: Notes) -> None:
        self.policy, self.events, self.data, self.notes = policy, events, data, notes
        self.count = len(data.names)
        self.fits: dict[str, Any] = {"irt": None, "bradley_terry": None}
        self.labels = [category or "(none)" for category in events.category] if any(events.category) else []
        self.categories = sorted(set(self.labels))
        number = {name: at for at, name in enumerate(self.categories)}
        of_event = np.array([number[label] for label in self.labels] or [0] * len(events.ids))
        keys, self.cell = np.unique(of_event[data.event] * self.count + data.forecaster, return_inverse=True)
        self.cell_category, self.cell_forecaster = keys // self.count, keys % self.count
        score = score_forecasts(events, data, policy.gammas, self.cell, len(keys), policy.bins)
        self.scores = score
        self._note_sums()
        market, crowd = baselines(events, data)
        extra = [
            score_forecasts(events, one, policy.gammas, np.zeros(len(one.event), dtype=np.int64), 1, policy.bins)
            for one in (market, crowd)
        ]
        parts = (data, market, crowd)
        # Rows: the forecasters, the market, the crowd.
        self.event = np.concatenate([part.event for part in parts])
        self.row = np.concatenate([data.forecaster, market.forecaster + self.count, crowd.forecaster + self.count + 1])
        self.weight = np.concatenate([part.weight for part in parts])
        self.values = {
            name: np.concatenate([part.values[name] for part in (score, *extra)]) for name in policy.means
        }
        own = np.zeros((4, self.count, policy.bins))
        for total, part in zip(own, score.bins, strict=True):
            np.add.at(total, self.cell_forecaster, part)
        self.bins = np.concatenate([own, *(part.bins for part in extra)], axis=1)

    def _note_sums(self) -> None:
        ids, notes, scores = self.events.ids, self.notes, self.scores
        closed = self.events.closed[self.data.event]
        notes.warn("forecast after its event closed, kept", *self.data.labels(self.data.time > closed, ids))
        four = "log, spherical, return and Bradley–Terry"
        notes.exclude("forecast", f"from {four}: its probabilities sum to 0", *self.data.labels(scores.empty, ids))
        normalised = self.data.labels(scores.normalised, ids)
        notes.warn(f"probabilities that do not sum to 1, normalised for {four}", *normalised)
        doubtful = zip(*np.unique(self.data.event[scores.doubtful], return_counts=True), strict=True)
        self.doubtful = {ids[at]: int(count) for at, count in doubtful}
        notes.warn(
            "doubtful event, probabilities of its exclusive options sum to less than 0.8 or more than 1.25",
            *(f"{name} in {count}" for name, count in self.doubtful.items()),
        )

    # The two models

    def _parts(self, names: Sequence[str], forecaster: Ints, event: Ints, model: str) -> list[list[str]]:
        """The parts of the comparison graph of `names`, largest first; a warning if there are several."""
        label = connected_parts(forecaster, event, len(names))
        parts = [[names[at] for at in np.flatnonzero(label == part).tolist()] for part in np.unique(label)]
        parts.sort(key=lambda part: (-len(part), part))
        if len(parts) > 1:
            shown = [", ".join(printable(name, 40) for name in part[:5]) for part in parts[:5]]
            more = [" and others" * (len(part) > 5) for part in parts[:5]]
            self.notes.lines.append(
                f"{model}: the comparison graph is disconnected, {len(parts)} groups of forecasters share no event "
                f"({' | '.join(map(str.__add__, shown, more))}{' | …' if len(parts) > 5 else ''}); "
                "only the prior compares one group with another"
            )
        return parts if len(parts) > 1 else []

    def _responses(self) -> Floats:
        brier = self.scores.values["brier"]
        return np.clip(1 - brier, 0, 1) if self.policy.response == "brier" else self._correct()

    def _correct(self) -> Floats:
        data, events = self.data, self.events
        starts, sizes = data.offsets[:-1], np.diff(data.offsets)
        o = events.outcome[np.repeat(events.offsets[data.event] - starts, sizes) + np.arange(len(data.p))]
        top = (data.p == np.repeat(np.maximum.reduceat(data.p, starts), sizes)).astype(float)
        first = np.add.reduceat(top * o, starts) / np.add.reduceat(top, starts)
        right = 0.5 + 0.5 * np.sign(data.p - 0.5) * np.sign(o - 0.5)
        return np.where(events.exclusive[data.event], first, np.add.reduceat(right, starts) / sizes)

    def fit_models(self) -> None:
        """Sets `irt`, `strength` and `fits`."""
        data, events, policy = self.data, self.events, self.policy
        self.irt: IrtFit | None = None
        self.strength = np.full(self.count, math.nan)
        if self.count < 2:
            self.notes.lines.append("one forecaster only: no IRT, no Bradley–Terry, no rank agreement")
            return
        parts = self._parts(data.names, data.forecaster, data.event, "IRT")
        irt = self.irt = fit_irt(data.forecaster, data.event, self._responses())
        self.fits["irt"] = {
            "iterations": irt.iterations, "gradient_norm": irt.gradient_norm, "log_likelihood": irt.log_likelihood,
            "log_posterior": irt.log_posterior, "converged": irt.converged, "parts": parts,
        }  # fmt: skip
        has = ~np.isnan(self.scores.p_winner)
        who, i = np.unique(data.forecaster[has], return_inverse=True)
        which, j = np.unique(data.event[has], return_inverse=True)
        if len(who) < 2:
            self.notes.lines.append("fewer than two forecasters of exclusive events: no Bradley–Terry")
            return
        fit = fit_bradley_terry(i, j, self.scores.p_winner[has], policy.prior)
        used = fit.used[j]
        parts = self._parts([data.names[at] for at in who], i[used], j[used], "Bradley–Terry")
        self.strength[who] = fit.strength
        self.notes.exclude(
            "event", "from Bradley–Terry: nobody gave its winner any probability",
            *(events.ids[at] for at in which[~fit.used]),
        )  # fmt: skip
        self.fits["bradley_terry"] = {
            "iterations": fit.iterations, "gradient_norm": fit.gradient_norm, "log_likelihood": fit.log_likelihood,
            "converged": fit.converged, "events": int(fit.used.sum()), "prior": policy.prior, "parts": parts,
        }  # fmt: skip
        for name, found in self.fits.items():
            if not found["converged"]:
                self.notes.lines.append(f"the fit of {name} has not converged: {found['iterations']} iterations")

    # The results

    def results(self) -> dict[str, Any]:
        self.fit_models()
        policy, names, rows = self.policy, self.data.names, self.count + 2
        table, counts = {}, {}
        for metric in policy.means:
            table[metric], counts[metric] = weighted_means(self.values[metric], self.weight, self.row, rows)
        table["ece"] = _calibration(self.bins)
        blank = np.full(rows, math.nan)
        table.update(irt_ability=blank, weighted_brier=blank, bradley_terry=np.append(self.strength, [math.nan] * 2))
        columns = {metric: (self.values[metric], self.weight) for metric in policy.means}
        if self.irt:
            table["irt_ability"] = np.append(self.irt.ability, [math.nan] * 2)
            columns["weighted_brier"] = (self.values["brier"], self.weight * self.irt.discrimination[self.event])
            table["weighted_brier"], _ = weighted_means(*columns["weighted_brier"], self.row, rows)
        counts["weighted_brier"] = counts["brier"]
        samples: dict[str, Floats] = {}
        if policy.bootstrap:
            drawn = bootstrap_means(list(columns.values()), self.event, self.row, rows, policy.bootstrap, policy.seed)
            samples = dict(zip(columns, drawn, strict=True))
        records = self._records(table, counts, samples)
        ranked = [at for at in range(self.count) if counts["brier"][at] >= policy.min_events]
        self._rank(records, ranked, table, samples)
        entries = dict(zip(names, records, strict=False))
        by_category = self._by_category(set(ranked))
        return {
            "benchmark": "Prophet Arena",
            "n_events": len(self.events.ids),
            "n_forecasts": len(self.data.event),
            "event_classes": self._classes(),
            "doubtful_events": self.doubtful,
            "ranking": _ranking([(names[at], records[at]) for at in ranked]),
            "forecasters": {names[at]: entries[names[at]] for at in ranked},
            "unranked": {name: entries[name] for at, name in enumerate(names) if at not in set(ranked)},
            "baselines": {"market": records[-2], "crowd": records[-1]},
            "problems": self._problems(),
            "rank_correlation": {
                "overall": _agreement({metric: table[metric][ranked] for metric in policy.metrics}),
                "by_category": {name: entry.pop("rank_correlation") for name, entry in by_category.items()},
            },
            "by_category": by_category,
            "reliability": {name: self._reliability(at) for at, name in enumerate(names)},
            "return_curve": self._curves(),
            "excluded": self.notes.summary(),
            "fits": self.fits,
            "warnings": self.notes.warnings(),
            "signature": self._signature(),
        }

    def _records(
        self, table: Mapping[str, Floats], counts: Mapping[str, Ints], samples: Mapping[str, Floats]
    ) -> list[dict[str, Any]]:
        """A dict per row. An interval needs two events; that of the ability is normal, the others are percentiles."""
        priced = counts[self.policy.means[3]] if self.policy.gammas else np.zeros(len(counts["brier"]), dtype=np.int64)
        records: list[dict[str, Any]] = [
            {"n_events": int(n), "n_exclusive": int(exclusive), "n_priced": int(paid)}
            for n, exclusive, paid in zip(counts["brier"], counts["log"], priced, strict=True)
        ]
        for metric in self.policy.metrics:
            for record, value in zip(records, table[metric].tolist(), strict=True):
                record[metric] = None if math.isnan(value) else value
            if metric in samples:
                ends = zip(*(end.tolist() for end in percentile_intervals(samples[metric])), strict=True)
                for record, bounds, n in zip(records, ends, counts[metric], strict=True):
                    record[f"{metric}_interval"] = list(bounds) if n > 1 and not math.isnan(bounds[0]) else None
        for at, record in enumerate(records):
            error = float(self.irt.ability_se[at]) if self.irt and at < self.count else None
            half = None if error is None else 1.959963984540054 * error
            record["irt_ability_se"] = error
            record["irt_ability_interval"] = (
                None if half is None else [record["irt_ability"] - half, record["irt_ability"] + half]
            )
        return records

    def _rank(
        self, records: list[dict[str, Any]], ranked: list[int], table: Mapping[str, Floats],
        samples: Mapping[str, Floats],
    ) -> None:  # fmt: skip
        for metric in self.policy.metrics:
            sign = -1.0 if metric in LOWER_IS_BETTER else 1.0
            has = [at for at in ranked if not math.isnan(table[metric][at])]
            ranks = shared_ranks(sign * table[metric][has]).tolist() if has else []
            for at in ranked:
                records[at][f"{metric}_rank"] = None
            for at, rank in zip(has, ranks, strict=True):
                records[at][f"{metric}_rank"] = rank
            if metric in samples:
                row = [at for _, at in sorted(zip(ranks, has, strict=True))]
                for at in ranked:
                    records[at][f"{metric}_beats_next"] = None
                for at, following in pairwise(row):
                    share = beats_share(sign * samples[metric][:, at], sign * samples[metric][:, following])
                    records[at][f"{metric}_beats_next"] = share

    def _classes(self) -> dict[str, int]:
        winners = np.add.reduceat(self.events.outcome, self.events.offsets[:-1])
        single, exclusive = self.events.sizes == 1, self.events.exclusive
        several, none = ~single & (winners > 1), ~single & (winners == 0)
        return {
            "exclusive": int(exclusive.sum()), "several winners": int(several.sum()), "no winner": int(none.sum()),
            "one option": int(single.sum()),
            "declared not exclusive": int((~single & ~exclusive & (winners == 1)).sum()),
        }  # fmt: skip

    def _problems(self) -> dict[str, Any]:
        counts = np.bincount(self.data.event).tolist()
        sizes, exclusive = self.events.sizes.tolist(), self.events.exclusive.tolist()
        irt = self.irt
        hard = irt.difficulty.tolist() if irt else [None] * len(counts)
        sharp = irt.discrimination.tolist() if irt else [None] * len(counts)
        return {
            name: {
                "difficulty": hard[at], "discrimination": sharp[at], "n_forecasts": counts[at],
                "n_options": sizes[at], "exclusive": exclusive[at],
            }
            for at, name in enumerate(self.events.ids)
        }  # fmt: skip

    def _by_category(self, ranked: set[int]) -> dict[str, Any]:
        if not self.categories:
            return {}
        values, weight, cells = self.scores.values, self.data.weight, len(self.cell_category)
        table = {metric: weighted_means(values[metric], weight, self.cell, cells)[0] for metric in self.policy.means}
        table["ece"] = _calibration(self.scores.bins)
        sizes = np.bincount(self.cell, minlength=cells)
        found: dict[str, Any] = {}
        for number, category in enumerate(self.categories):
            own = [at for at in np.flatnonzero(self.cell_category == number) if int(self.cell_forecaster[at]) in ranked]
            found[category] = {
                "n_events": self.labels.count(category),
                "forecasters": {
                    self.data.names[self.cell_forecaster[at]]: {
                        "n_events": int(sizes[at]),
                        **{metric: _plain(column[at]) for metric, column in table.items()},
                    }
                    for at in own
                },
                "rank_correlation": _agreement({metric: column[own] for metric, column in table.items()}),
            }
        return found

    def _reliability(self, at: int) -> list[dict[str, Any]]:
        bins = self.policy.bins
        n, w, wp, wo = self.bins[:, at].tolist()
        return [
            {
                "low": b / bins,
                "high": (b + 1) / bins,
                "n": int(n[b]),
                "mean_probability": wp[b] / w[b] if w[b] else None,
                "frequency": wo[b] / w[b] if w[b] else None,
            }
            for b in range(bins)
        ]

    def _curves(self) -> dict[str, Any]:
        """Running means over the priced events in closing order (unknown last, then by id), at most 200 points."""
        data, returns = self.data, [return_name(gamma) for gamma in self.policy.gammas]
        if not returns:
            return {}
        paid = np.flatnonzero(~np.isnan(self.scores.values[returns[0]]))
        order = paid[np.lexsort((data.event[paid], self.events.closed[data.event[paid]], data.forecaster[paid]))]
        curves = {}
        for group in np.split(order, np.flatnonzero(np.diff(data.forecaster[order])) + 1):
            if not len(group):
                continue
            at = np.unique(np.linspace(0, len(group) - 1, CURVE_POINTS).round().astype(np.int64))
            weight = np.cumsum(data.weight[group])
            curves[data.names[data.forecaster[group[0]]]] = {
                "n_events": (at + 1).tolist(),
                "closed": [_iso(seconds) for seconds in self.events.closed[data.event[group[at]]].tolist()],
                **{
                    name: (np.cumsum(data.weight[group] * self.scores.values[name][group]) / weight)[at].tolist()
                    for name in returns
                },
            }
        return curves

    def _signature(self) -> dict[str, Any]:
        data, events = self.data, self.events
        sha = hashlib.sha256(json.dumps([events.ids, events.category, data.names]).encode())
        columns = (events.offsets, events.outcome, events.exclusive, events.closed, data.event, data.forecaster)
        for column in (*columns, data.weight, data.p, data.q, data.mid):
            sha.update(np.nan_to_num(column, nan=-1.0).tobytes())
        return {**self.policy.settings(), "data_sha256": sha.hexdigest()}


def _ranking(ranked: Sequence[tuple[str, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """What a leaderboard of many files shows: the forecasters by Brier score."""
    rows = [
        {
            "rank": record["brier_rank"], "name": name, "score": record["brier"],
            "interval": record.get("brier_interval"), "n": record["n_events"],
        }
        for name, record in ranked
    ]  # fmt: skip
    return sorted(rows, key=lambda row: (row["rank"], row["name"]))


def _plain(value: Any) -> float | None:
    return None if math.isnan(value) else float(value)


def _iso(seconds: float) -> str | None:
    return None if math.isnan(seconds) else datetime.fromtimestamp(seconds, timezone.utc).isoformat()


def _agreement(columns: Mapping[str, Floats]) -> dict[str, Any]:
    """Both matrices of `rank_agreement` as dicts; 1 means that two metrics rank alike, whichever way each runs."""
    matrices = rank_agreement([-values if name in LOWER_IS_BETTER else values for name, values in columns.items()])
    return {
        kind: {
            one: {other: _plain(matrix[at, to]) for to, other in enumerate(columns)} for at, one in enumerate(columns)
        }
        for kind, matrix in zip(("spearman", "kendall"), matrices, strict=True)
    }


# --- Files ---

_COLUMNS: Final = ("event_ticker", "predictor_name", "market_info", "market_outcome", "prediction")
_SENT: Final = ("timestamp", "submission_created_at", "snapshot_time")  # the first that a row has


def evaluate_file(evaluator: ProphetArenaEvaluator, path: Path, dataset: Path | None) -> Results:
    """The results of one file: a CSV by itself, JSON or JSONL against the dataset's problems.

    Raises InputError: a file that cannot be read, forecasts without a dataset, nothing that can be scored.
    """
    with _no_collector():
        if path.suffix == ".csv":
            if dataset:
                raise InputError(str(path), "a CSV holds its own events", f"the dataset {dataset.name}")
            problems, forecasts, checksum = read_csv(path)
            results = evaluator.evaluate_all(forecasts, problems, str(path))
        else:
            if dataset is None:
                raise InputError(
                    str(path), "expected a dataset of problems for it (a file in dataset/ whose name begins like this "
                    "one's, or --dataset)", "none",
                )  # fmt: skip
            asked, said = RecordFile(dataset), RecordFile(path)
            results = evaluator.evaluate_all(said, asked, str(path))
            results["signature"]["dataset_sha256"] = asked.sha256
            checksum = said.sha256
    results["signature"]["prediction_sha256"] = checksum
    files = {"name": path.stem, "prediction": path.name, "dataset": dataset.name if dataset else None}
    return Results({**files, **results}, report_blocks)


def read_csv(path: Path) -> tuple[list[Any], list[Any], str]:
    """Problems, forecasts and sha256 of a Prophet Arena CSV, one row per forecast.

    Options and their order are those of `market_info`; rows of one event must agree about them and the outcome. Prices
    are cents: odds = yes_ask/100, bids = yes_bid/100. Raises InputError: no UTF-8, no such columns.
    """
    raw = read_file(path)
    rows = _csv_rows(decode_utf8(raw, str(path)), str(path))
    cells: dict[str | None, Any] = {}  # the market of an event stands in every row of it
    problems: dict[str, dict[str, Any]] = {}
    forecasts: list[Any] = []
    for number, row in enumerate(rows, 1):
        for name in ("market_info", "market_outcome"):
            if row[name] not in cells:
                cells[row[name]] = _literal(row[name])
        info = cells[row["market_info"]]
        ticker = row["event_ticker"] or f"row {number}"
        problem = _csv_problem(ticker, info, cells[row["market_outcome"]], row)
        known = problems.setdefault(ticker, problem)
        if known[UNREADABLE] and not problem[UNREADABLE]:
            known = problems[ticker] = problem
        _csv_merge(known, problem)
        forecasts.append(_csv_forecast(ticker, info, known["options"], row, problem[UNREADABLE]))
    for problem in problems.values():
        if problem[UNREADABLE]:  # in every row
            problem[UNUSABLE] = problem[UNREADABLE]
    return list(problems.values()), forecasts, hashlib.sha256(raw).hexdigest()


def _csv_rows(text: str, where: str) -> list[dict[str, str | None]]:
    """The rows, in an order of their own: sums of floats must not depend on that of the file."""
    limit = csv.field_size_limit(1 << 30)
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), restkey="\0more")
        columns = list(reader.fieldnames or ())
        missing = [name for name in _COLUMNS if name not in columns]
        if missing:
            raise InputError(where, f"expected the columns {', '.join(_COLUMNS)}", f"none named {missing[0]}")
        twice = [name for name in columns if columns.count(name) > 1]
        if twice:
            raise InputError(where, "expected columns of different names", f"{printable(twice[0], 60)} twice")
        return sorted(reader, key=lambda row: [str(row.get(name)) for name in [*_COLUMNS, *sorted(columns)]])
    except csv.Error as error:
        raise InputError(where, f"not CSV: line {reader.line_num}: {error}") from None
    finally:
        csv.field_size_limit(limit)


def _csv_merge(known: dict[str, Any], problem: Mapping[str, Any]) -> None:
    """Hold the rows of one event against each other; an unreadable one has no say."""
    if problem[UNREADABLE]:
        return
    if any(known.get(key) != problem.get(key) for key in ("choices", "correct_answer", UNUSABLE)):
        known[UNUSABLE] = known.get(UNUSABLE) or "its rows differ in options or outcome"
    for key in ("category", "end_date"):
        if known[key] != problem[key]:
            known.setdefault(ODD, set()).add("closing time" if key == "end_date" else key)
    known["end_date"] = max(known["end_date"], problem["end_date"], key=lambda text: (parse_time(text)[0], text))


def _literal(text: str | None) -> Any:
    """A cell's JSON or Python literal; None if it is neither, or if an object in it has a key twice."""
    with contextlib.suppress(InputError):
        value = parse_json(text or "", "")
        return None if has_repeated_keys(value) else value
    if not text or len(text) > MAX_LITERAL:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "invalid escape sequence", about a stranger's text
            tree = ast.parse(text.strip(), mode="eval")
        for node in ast.walk(tree):
            if isinstance(node, ast.Dict):
                keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
                if len(set(keys)) < len(keys):
                    return None
        return ast.literal_eval(tree)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _csv_problem(ticker: str, info: Any, outcome: Any, row: Mapping[str, str | None]) -> dict[str, Any]:
    options = [str(option) for option in info] if isinstance(info, dict) else []
    problem: dict[str, Any] = {
        "problem_id": ticker,
        "options": options,
        "choices": set(options),
        "correct_answer": None,
        "category": row.get("category") or "",
        "end_date": row.get("close_time") or "",
        UNREADABLE: "more cells than columns" if "\0more" in row else "",
    }
    if not options or not isinstance(outcome, dict):
        problem[UNREADABLE] = "'market_info' and 'market_outcome' must be objects with a value per market, none twice"
    if problem[UNREADABLE]:
        return problem
    won = {str(name): _as_number(int(value) if isinstance(value, bool) else value) for name, value in outcome.items()}
    if not set(won.values()) <= {0.0, 1.0}:
        return {**problem, UNUSABLE: "an outcome is neither 0 nor 1"}
    winners = sorted(option for option, value in won.items() if value)
    problem["correct_answer"] = winners
    if set(winners) <= set(options) and not set(options) <= won.keys():
        return {**problem, UNUSABLE: "an option without an outcome"}
    return problem


def _csv_forecast(
    ticker: str, info: Any, options: Sequence[str], row: Mapping[str, str | None], unreadable: str
) -> dict[str, Any]:
    if unreadable:
        return {"problem_id": ticker, "username": row["predictor_name"], UNUSABLE: unreadable}
    said = _literal(row["prediction"])
    pairs = said.get("probabilities") if isinstance(said, dict) else None
    given = [pair for pair in pairs if isinstance(pair, dict)] if isinstance(pairs, list) else []
    p = {str(pair.get("market")): pair.get("probability") for pair in given}
    complete = len(p) == len(given) and p.keys() == set(options)
    markets = info if isinstance(info, dict) else {}
    asks, bids = (
        [
            _as_number(market.get(side)) / 100 if isinstance(market, dict) else math.nan
            for market in (markets.get(option) for option in options)
        ]
        for side in ("yes_ask", "yes_bid")
    )
    return {
        "problem_id": ticker,
        "username": row["predictor_name"],
        "timestamp": next((row[name] for name in _SENT if row.get(name)), None),
        "prediction": [p[option] for option in options] if complete else None,
        "odds": asks,
        "bids": bids,
    }


# --- Report ---

_TITLES: Final = {
    "brier": "Brier", "log": "Log", "spherical": "Spherical", "ece": "ECE", "irt_ability": "IRT ability",
    "weighted_brier": "Weighted Brier", "bradley_terry": "Bradley-Terry",
}  # fmt: skip


def format_report(results: Mapping[str, Any], sort: str = "brier") -> str:
    """The results as a screen shows them: leaderboard, intervals, rank agreement, exclusions, fits, signature.

    `sort` is the metric that orders the forecasters, best first; those without a value come last. Raises InputError
    for any other name.
    """
    return format_text(report_blocks(results, sort))


def report_blocks(results: Mapping[str, Any], sort: str = "brier") -> Report:
    """The report's lines and tables."""
    metrics = list(results["rank_correlation"]["overall"]["spearman"])
    if sort not in metrics:
        raise InputError("--sort", f"expected one of {', '.join(metrics)}", printable(sort, 60))
    ranked, unranked = results["forecasters"], results["unranked"]
    rank = f"{sort}_rank"
    order = sorted(ranked, key=lambda name: (ranked[name][rank] is None, ranked[name][rank] or 0, name))
    rows = [(name, ranked[name]) for name in order]
    rows += [(f"({name})", row) for name, row in results["baselines"].items() if row["n_events"]]
    against = f", dataset {printable(results['dataset'])}" if results.get("dataset") else ""
    classes = ", ".join(f"{count} {name}" for name, count in results["event_classes"].items() if count)
    report: Report = [
        f"Prophet Arena  {printable(results.get('name', ''))}".rstrip(),
        f"{results['n_events']} events ({classes}), {len(ranked) + len(unranked)} forecasters, "
        f"{results['n_forecasts']} forecasts{against}",
        "",
        f"Leaderboard by {_title(sort)}, ranks in brackets",
        "",
        _values_table(rows, [sort, *(metric for metric in metrics if metric != sort)], ranks=True),
    ]
    if unranked:
        least = results["signature"]["min_events"]
        report += ["", f"Not ranked, fewer than {least} events: {len(unranked)}", ""]
        report.append(_values_table(sorted(unranked.items()), metrics, ranks=False))
    report += ["", f"95 % intervals (bootstrap over events; ability: ± 1.96 standard errors), by {_title(sort)}", ""]
    report.append(_intervals_table(rows, metrics, f"{sort}_beats_next"))
    for kind, what in (("spearman", "Spearman"), ("kendall", "Kendall")):
        matrix = results["rank_correlation"]["overall"][kind]
        cells = [[_title(one), *(show_number(matrix[one][other], 3) for other in metrics)] for one in metrics]
        report += ["", f"Rank agreement ({what}), 1 where two metrics rank alike", ""]
        report.append(Table(["", *map(_title, metrics)], cells, "<" + ">" * len(metrics)))
    return [*report, "", *_notes(results)]


def _values_table(rows: Iterable[tuple[str, Mapping[str, Any]]], metrics: Sequence[str], ranks: bool) -> Table:
    body = []
    for name, row in rows:
        cells = [printable(name, 40), *(str(row[key]) for key in ("n_events", "n_exclusive", "n_priced"))]
        for metric in metrics:
            rank = row.get(f"{metric}_rank") if ranks else None
            cells.append(show_number(row[metric]) + (f" ({rank})" if rank else ""))
        body.append(cells)
    header = ["Forecaster", "Events", "Exclusive", "Priced", *map(_title, metrics)]
    return Table(header, body, "<>>>" + ">" * len(metrics))


def _intervals_table(rows: Sequence[tuple[str, Mapping[str, Any]]], metrics: Sequence[str], beats: str) -> Table:
    shown = [metric for metric in metrics if any(f"{metric}_interval" in row for _, row in rows)]
    body = [
        [printable(name, 40), show_number(row.get(beats), 3), *(show_interval(row.get(f"{m}_interval")) for m in shown)]
        for name, row in rows
    ]
    return Table(["Forecaster", "Beats next", *map(_title, shown)], body, "<>" + ">" * len(shown))


def _notes(results: Mapping[str, Any]) -> list[str]:
    lines = []
    for entry in results["excluded"]:
        names = ", ".join(entry["names"][:5]) + (", …" if entry["count"] > 5 else "")
        lines.append(f"excluded: {entry['count']} {entry['what']}s, {entry['reason']} ({names})")
    for name, fit in results["fits"].items():
        if fit:
            state = "converged" if fit["converged"] else "NOT converged"
            lines.append(
                f"fit of {name}: {state} after {fit['iterations']} iterations, gradient {fit['gradient_norm']:.1e}, "
                f"log-likelihood {fit['log_likelihood']:.4f}"
            )
    return [*lines, *(f"warning: {text}" for text in results["warnings"]), "", format_signature(results["signature"])]


def _title(metric: str) -> str:
    return _TITLES.get(metric) or "Return " + metric.removeprefix("return_")
