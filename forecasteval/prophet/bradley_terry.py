"""Generalised Bradley–Terry: strengths of forecasters who pool their probabilities."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from forecasteval.common.errors import InputError, printable
from forecasteval.common.records import number_text

from .arrays import Bools, Floats, observations

VANISHING: Final = 1e-6  # of the mean strength: on its way to 0
FLAT: Final = 1e-6  # the largest derivative, per event, of a fit that has converged


class BradleyTerryFit(NamedTuple):
    """Strengths of mean 1. `used`: events that counted; `diverging`: strengths that have no maximum.

    A strength may be 0 (`vanished`): the best pool does without that forecaster. It diverges where all who are present
    in an event vanish, since that event still compares them. `influence`: by event and forecaster, what one more copy
    of the event adds to ln θ, 0 where θ vanishes; nan where the objective is flat.
    """

    strength: Floats
    log_likelihood: float
    gradient_norm: float
    iterations: int
    converged: bool
    diverging: Bools
    vanished: Bools
    used: Bools
    influence: Floats


def fit_bradley_terry(
    forecaster: ArrayLike, event: ArrayLike, p_winner: ArrayLike, prior: float = 0.0, max_iterations: int = 10_000
) -> BradleyTerryFit:
    """Generalised Bradley–Terry: in every event the winning team, Σ_j θ_j p_jc, against all who are present, Σ_j θ_j.

    Maximises Σ_i ln(Σ_j θ_j p_jc / Σ_j θ_j) + prior · Σ_j ln(θ_j / Σθ) over t = ln θ by L-BFGS. The prior is a gamma
    distribution of each strength, which makes the shares of strength Dirichlet: as if for each forecaster there were
    `prior` more events with everyone present whose winner only that one saw. It is concave in t, strictly but for the
    scale of θ. With full participation the whole objective is concave in the shares (the log-likelihood of a mixture),
    so that there is one optimum, and without prior they are the weights of the best linear pool. With gaps in
    participation no prior makes that sure (-ln Σθ of an event is convex in θ): see tests/simulate_prophet.py.

    forecaster, event: N integers from 0 without gaps; p_winner: the probability each gave the event's winner, in
    [0, 1]. Events whose winner no forecaster expected are left out (`used`). `log_likelihood` is without the prior, and
    `gradient_norm` the largest derivative by a ln θ, with it. Without prior the maximum may not exist (`diverging`).
    Raises InputError: no observation, lengths that differ, values outside [0, 1], a negative prior.
    Source: Huang, Weng and Lin (2006); prior: Caron and Doucet, J. Comp. Graph. Stat. 21 (2012) 174–196.
    """
    from scipy.optimize import minimize
    from scipy.sparse import csr_matrix

    i, j, p = observations("fit_bradley_terry", forecaster, event, "p_winner", p_winner)
    if not number_text(prior) or prior < 0:
        raise InputError("prior", "must be a number >= 0", printable(repr(prior), 60))
    used = np.bincount(j, p) > 0
    keep = used[j]
    shape, count = (len(used), int(i.max()) + 1), int(used.sum())
    given = csr_matrix((p[keep], (j[keep], i[keep])), shape)[used]
    present = csr_matrix((np.ones(int(keep.sum())), (j[keep], i[keep])), shape)[used]
    if 4 * given.nnz > count * shape[1]:
        given, present = given.toarray(), present.toarray()

    def share(t: Floats) -> tuple[Floats, Floats, Floats]:
        theta = np.exp(t - t.max())
        return theta, np.maximum(given @ theta, 1e-300), np.maximum(present @ theta, 1e-300)

    def objective(t: Floats) -> tuple[float, Floats]:
        theta, winning, total = share(t)
        mass = theta / theta.sum()
        value = np.log(winning / total).sum() + prior * np.log(np.maximum(mass, 1e-300)).sum()
        gradient = theta * (given.T @ (1 / winning) - present.T @ (1 / total)) + prior * (1 - shape[1] * mass)
        return -float(value) / max(count, 1), -gradient / max(count, 1)

    options = {"maxiter": max_iterations, "maxfun": 2 * max_iterations, "ftol": 1e-15, "gtol": 1e-9, "maxcor": 20}
    optimum = minimize(objective, np.zeros(shape[1]), jac=True, method="L-BFGS-B", options=options)
    theta, winning, total = share(optimum.x)
    norm = float(np.abs(optimum.jac).max())
    strength = theta / theta.mean()
    vanished = (strength < VANISHING) & (prior == 0)
    alone = present @ np.where(vanished, 0.0, strength) == 0  # events without anyone else
    diverging = np.asarray(present.T @ alone.astype(float)) > 0
    return BradleyTerryFit(
        strength,
        float(np.log(winning / total).sum()),
        norm * count,
        int(optimum.nit),
        norm <= FLAT,
        diverging,
        vanished,
        used,
        _influence(
            _dense(given) * theta / winning[:, None],
            _dense(present) * theta / total[:, None],
            prior,
            strength,
            ~vanished,
        ),
    )


def _dense(matrix: Any) -> Floats:
    return np.asarray(matrix if isinstance(matrix, np.ndarray) else matrix.toarray())


def _influence(won: Floats, faced: Floats, prior: float, strength: Floats, free: Bools) -> Floats:
    """(minus Hessian)⁻¹ · score of every event; `won`, `faced`: the forecasters' shares of the winning team, of all.

    Only strengths that are `free` move, the others have vanished.
    """
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    full = np.zeros(won.shape)
    won, faced, strength = won[:, free], faced[:, free], strength[free]
    size = len(strength)
    mass = strength / strength.sum()
    hessian = np.diag(faced.sum(axis=0) - won.sum(axis=0)) - faced.T @ faced + won.T @ won
    hessian += prior * size * (np.diag(mass) - np.outer(mass, mass))
    hessian += np.full((size, size), max(1.0, np.trace(hessian)) / size**2)  # the scale of θ is free
    try:
        full[:, free] = cho_solve(cho_factor(hessian), (won - faced).T).T
    except LinAlgError:
        full[:, free] = np.nan
    return full
