"""Item response theory: ability, difficulty and discrimination as the posterior mode of a
two-parameter model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Floats, answer_table

ALPHA_VARIANCE: Final = 0.25  # prior of ln a: N(0, 1/2²)
B_VARIANCE: Final = 4.0  # prior of b: N(mu, 2²)


class IrtFit(NamedTuple):
    """The posterior mode; `log_likelihood` is without, `log_posterior` with the priors.

    `influence`: by problem and forecaster, what one more copy of the problem adds to θ - mean θ,
    whose standard errors are `ability_se`.
    """

    ability: Floats
    ability_se: Floats
    difficulty: Floats
    discrimination: Floats
    log_likelihood: float
    log_posterior: float
    gradient_norm: float
    iterations: int
    converged: bool
    influence: Floats


class Posterior(NamedTuple):
    """The posterior of the two-parameter model; y: problems × forecasters, present: 1 or 0.

    Parameters x: θ (forecasters), μ, then α = ln a and b of every problem. Answer: π = σ(η), η =
    a(θ - b), ln-likelihood y ln π + (1 - y) ln(1 - π).
    """

    y: Floats
    present: Floats

    def split(self, x: Floats) -> tuple[Floats, Floats, Floats, float]:
        """θ, α, b and μ."""
        problems, forecasters = self.y.shape
        alpha, b = x[forecasters + 1 :].reshape(problems, 2).T
        return x[:forecasters], alpha, b, float(x[forecasters])

    def log_likelihood(self, x: Floats) -> float:
        theta, alpha, b, _ = self.split(x)
        eta = np.exp(alpha)[:, None] * (theta - b[:, None])
        return float(((self.y * eta - np.logaddexp(0, eta)) * self.present).sum())

    def pull(self, x: Floats) -> Floats:
        """The gradient of the log-prior, which is x · pull / 2."""
        theta, alpha, b, mu = self.split(x)
        apart = (b - mu) / B_VARIANCE
        pairs = np.stack([alpha / ALPHA_VARIANCE, apart], axis=1)
        return np.concatenate([-theta, [apart.sum()], -pairs.ravel()])

    def value(self, x: Floats) -> float:
        return self.log_likelihood(x) + float(x @ self.pull(x)) / 2

    def terms(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Of every answer the derivatives of η by θ, α and b (the first axis); r = y - π and w =
        π(1 - π), 0 where there is none.
        """
        from scipy.special import expit

        theta, alpha, b, _ = self.split(x)
        a = np.repeat(np.exp(alpha)[:, None], len(theta), axis=1)
        eta = a * (theta - b[:, None])
        pi = expit(eta)
        return np.stack([a, eta, -a]), (self.y - pi) * self.present, pi * (1 - pi) * self.present

    def gradient(self, x: Floats) -> Floats:
        slopes, r, _ = self.terms(x)
        top, pairs = (slopes[0] * r).sum(axis=0), (slopes[1:] * r).sum(axis=2).T
        return np.concatenate([top, [0.0], pairs.ravel()]) + self.pull(x)

    def curvature(self, x: Floats) -> Curvature:
        """Minus the Hessian; Fisher's information, without r, where that is not positive
        definite.
        """
        slopes, r, w = self.terms(x)
        try:
            return Curvature(slopes, r, w)
        except np.linalg.LinAlgError:
            return Curvature(slopes, np.zeros_like(r), w)


class Curvature:
    """A matrix to be inverted by elimination of the problems' 2×2 blocks (α, b). What remains are
    the top parameters, θ and μ.

    Of every answer it has w · slope · slope' less r · ∂²η, which is the slope in the row and the
    column of α. Raises LinAlgError unless it is positive definite.
    """

    def __init__(self, slopes: Floats, r: Floats, w: Floats) -> None:
        second = w * slopes[:, None] * slopes
        second[1] -= r * slopes
        second[::2, 1] -= r * slopes[::2]
        problems = len(r)
        blocks = second[1:, 1:].sum(axis=3).transpose(2, 0, 1)
        blocks += np.diag([1 / ALPHA_VARIANCE, 1 / B_VARIANCE])
        np.linalg.cholesky(blocks)
        by_mu = np.broadcast_to([0, -1 / B_VARIANCE], (1, problems, 2))  # μ meets b only
        cross = np.concatenate([second[0, 1:].transpose(2, 1, 0), by_mu])
        self.cross, self.inverse = cross.reshape(len(cross), -1), np.linalg.inv(blocks)
        diagonal = np.append(second[0, 0].sum(axis=0) + 1, problems / B_VARIANCE)
        self.solve_top = self._eliminate(diagonal, blocks)

    def _eliminate(self, diagonal: Floats, blocks: Floats) -> Callable[[Floats], Floats]:
        """Solves for the top parameters, through the blocks where forecasters are the more."""
        from scipy.linalg import block_diag, cho_factor, cho_solve

        if len(diagonal) <= len(blocks) + 1:
            factor = cho_factor(np.diag(diagonal) - self._solve_blocks(self.cross) @ self.cross.T)
            return lambda right: cho_solve(factor, right)
        scaled = self.cross / diagonal[:, None]
        factor = cho_factor(block_diag(*blocks) - self.cross.T @ scaled)
        return lambda right: (right.T / diagonal).T + scaled @ cho_solve(factor, scaled.T @ right)

    def _solve_blocks(self, right: Floats) -> Floats:
        """The inverse of the 2×2 blocks times the rows of `right`."""
        alpha, b = np.split(right.reshape(-1, *self.inverse.shape[:2]), 2, axis=2)
        return np.reshape(alpha * self.inverse[:, 0] + b * self.inverse[:, 1], right.shape)

    def solve(self, gradient: Floats) -> Floats:
        """The Newton step."""
        top, pairs = np.split(gradient, [len(self.cross)])
        top = self.solve_top(top - self.cross @ self._solve_blocks(pairs))
        return np.concatenate([top, self._solve_blocks(pairs - top @ self.cross)])


def fit_irt(
    forecaster: ArrayLike, problem: ArrayLike, y: ArrayLike, max_iterations: int = 200
) -> IrtFit:
    """Two-parameter item response model of continuous responses: y ≈ σ(a_j (θ_i - b_j)); its
    posterior mode.

    Maximises Σ y ln π + (1 - y) ln(1 - π) with priors θ ~ N(0, 1), ln a ~ N(0, ½²), b ~ N(μ, 2²), μ
    free (so Σθ = 0), by Newton's method, damped by halving; where minus the Hessian is not positive
    definite, by Fisher's information. Converged: gradient max-norm ≤ 1e-8 · max(1, N/1000). Binary
    y gives the classical 2PL.

    The standard errors are those of θ_i - mean θ, from the sandwich H⁻¹ (Σ_j s_j s_j') H⁻¹ · n/(n -
    1) with the scores s_j of the problems, whose α and b are eliminated; nan for one problem. The
    inverse Hessian alone would take each y for one trial, and holds the error of the mean of all,
    which never shrinks below 1/√forecasters.

    forecaster, problem: N integers from 0, every number used; y: N responses in [0, 1]. Raises
    InputError: no observation, lengths that differ, y outside [0, 1]. Source: Bo et al. (2017),
    simplified; sandwich: White (1982).
    """
    model = Posterior(*answer_table("fit_irt", forecaster, problem, "y", y))
    problems, forecasters = model.y.shape
    means = np.clip(model.y.sum(axis=1) / model.present.sum(axis=1), 0.02, 0.98)
    b = -np.log(means / (1 - means))
    pairs = np.stack([np.zeros(problems), b], axis=1)
    x = np.concatenate([np.zeros(forecasters), [b.mean()], pairs.ravel()])
    tolerance = 1e-8 * max(1.0, model.present.sum() / 1000)
    gradient, iterations = model.gradient(x), 0
    while np.abs(gradient).max() > tolerance and iterations < max_iterations:
        iterations += 1
        x = _step(model, x, gradient)
        gradient = model.gradient(x)
    theta, alpha, b, mu = model.split(x)
    (a, *_), r, _ = model.terms(x)
    # At the mode a problem's derivatives by its α and b are 0: those by θ and μ remain. Σθ = 0
    # whatever the problems are, so that what moves θ moves θ - mean θ by as much.
    scores = np.vstack([(a * r).T, (b - mu) / B_VARIANCE])
    influence = model.curvature(x).solve_top(scores)[:-1].T
    factor, norm = problems / (problems - 1) if problems > 1 else np.nan, np.abs(gradient).max()
    return IrtFit(
        ability=theta,
        ability_se=np.sqrt((influence**2).sum(axis=0) * factor),
        difficulty=b,
        discrimination=np.exp(alpha),
        log_likelihood=model.log_likelihood(x),
        log_posterior=model.value(x),
        gradient_norm=float(norm),
        iterations=iterations,
        converged=bool(norm <= tolerance),
        influence=influence,
    )


def _step(model: Posterior, x: Floats, gradient: Floats) -> Floats:
    """Where Newton's step leads, halved until the value rises."""
    step, value, length = model.curvature(x).solve(gradient), model.value(x), 1.0
    rise = 1e-4 * float(gradient @ step)
    # A rise below rounding cannot be seen: then the gradient decides. `not >=`, since too long a
    # step gives nan.
    least = value - 1e-12 * abs(value)
    with np.errstate(over="ignore", invalid="ignore"):
        while not model.value(x + length * step) >= least + length * rise:
            length /= 2
            if length < 1e-10:
                break
    return x + length * step
