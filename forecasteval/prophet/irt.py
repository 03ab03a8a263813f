"""Item response theory: ability, difficulty and discrimination as the posterior mode of a two-parameter model."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Floats, Ints, observations, sums_by_index

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


class Posterior:
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
        return np.concatenate(
            [
                self.by_forecaster(a * r) - theta,
                self.by_problem(r * eta) - alpha / ALPHA_VARIANCE,
                -self.by_problem(a * r) - (b - mu) / B_VARIANCE,
                [(b - mu).sum() / B_VARIANCE],
            ]
        )

    def by_forecaster(self, values: Floats) -> Floats:
        return sums_by_index(self.i, values, self.forecasters)

    def by_problem(self, values: Floats) -> Floats:
        return sums_by_index(self.j, values, self.problems)

    def _cross(self, values: Floats) -> Floats:
        """Forecasters × problems."""
        full = sums_by_index(self.cell, values, self.forecasters * self.problems)
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
        theta = self.by_forecaster(information) + 1
        aa = self.by_problem(eta * eta * w - r * eta) + 1 / ALPHA_VARIANCE
        bb = self.by_problem(information) + 1 / B_VARIANCE
        ab = self.by_problem(a * r - a * eta * w)
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
    i, j, (values,) = observations("fit_irt", forecaster, problem, {"y": y})
    model = Posterior(i, j, values)
    means = np.clip(model.by_problem(values) / np.bincount(j), 0.02, 0.98)
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
