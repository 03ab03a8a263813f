"""Item response theory: ability, difficulty and discrimination as the posterior mode of a
two-parameter model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Floats, Ints, observations

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
    """The posterior of the two-parameter model: forecaster i answered problem j with y.

    Parameters x: θ (forecasters), α = ln a and b (problems), μ. Observation: π = σ(η), η = a(θ -
    b), ln-likelihood y ln π + (1 - y) ln(1 - π). With r = y - π and w = π(1 - π), minus the Hessian
    has per observation θθ a²w, θα aηw - ar, θb -a²w, αα η²w - rη, αb ar - aηw, bb a²w; Fisher's
    information drops the terms with r.
    """

    i: Ints
    j: Ints
    y: Floats
    forecasters: int
    problems: int

    def split(self, x: Floats) -> tuple[Floats, Floats, Floats, float]:
        f, n = self.forecasters, self.problems
        return x[:f], x[f : f + n], x[f + n : f + 2 * n], float(x[-1])

    def terms(self, x: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """a, η, r and w of every observation."""
        theta, alpha, b, _ = self.split(x)
        a = np.exp(alpha)[self.j]
        eta = a * (theta[self.i] - b[self.j])
        pi = 1 / (1 + np.exp(-np.clip(eta, -700, 700)))
        return a, eta, self.y - pi, pi * (1 - pi)

    def values(self, x: Floats) -> tuple[float, float]:
        """The log-likelihood and the log-prior."""
        theta, alpha, b, mu = self.split(x)
        eta = np.exp(alpha)[self.j] * (theta[self.i] - b[self.j])
        prior = theta @ theta + alpha @ alpha / ALPHA_VARIANCE + (b - mu) @ (b - mu) / B_VARIANCE
        fit = (self.y * eta - np.maximum(eta, 0) - np.log1p(np.exp(-np.abs(eta)))).sum()
        return float(fit), -float(prior) / 2

    def gradient(self, x: Floats) -> Floats:
        theta, alpha, b, mu = self.split(x)
        a, eta, r, _ = self.terms(x)
        top = np.bincount(self.i, a * r, self.forecasters) - theta
        by_alpha = np.bincount(self.j, r * eta, self.problems) - alpha / ALPHA_VARIANCE
        by_b = -np.bincount(self.j, a * r, self.problems) - (b - mu) / B_VARIANCE
        return np.concatenate([top, by_alpha, by_b, [(b - mu).sum() / B_VARIANCE]])

    def table(self, values: Floats) -> Floats:
        """Forecasters × problems."""
        cells = np.bincount(
            self.i * self.problems + self.j, values, self.forecasters * self.problems
        )
        return np.asarray(cells, dtype=float).reshape(self.forecasters, self.problems)

    def curvature(self, x: Floats) -> Curvature:
        """Minus the Hessian; Fisher's information where that is not positive definite."""
        a, eta, r, w = self.terms(x)
        try:
            return Curvature(self, a, eta, r, w)
        except np.linalg.LinAlgError:
            return Curvature(self, a, eta, np.zeros_like(r), w)


class Curvature:
    """A matrix to be inverted by elimination: of the problems' 2×2 blocks (α, b), or of the
    forecasters if more.

    What remains are the top parameters, θ and μ. Raises LinAlgError unless it is positive definite.
    """

    def __init__(self, model: Posterior, a: Floats, eta: Floats, r: Floats, w: Floats) -> None:
        f, n = model.forecasters, model.problems
        diagonal = np.append(np.bincount(model.i, a * a * w, f) + 1, n / B_VARIANCE)
        self.aa = np.bincount(model.j, eta * eta * w - r * eta, n) + 1 / ALPHA_VARIANCE
        self.bb = np.bincount(model.j, a * a * w, n) + 1 / B_VARIANCE
        self.ab = np.bincount(model.j, a * r - a * eta * w, n)
        self.determinant = self.aa * self.bb - self.ab * self.ab
        if (self.aa <= 0).any() or (self.determinant <= 0).any():
            raise np.linalg.LinAlgError
        by_mu = np.append(np.zeros(n), np.full(n, -1 / B_VARIANCE))  # μ meets b only
        self.cross = np.vstack(
            [np.hstack([model.table(a * eta * w - a * r), model.table(-a * a * w)]), by_mu]
        )
        self.solve_top = self._eliminate(diagonal, f <= n)

    def _eliminate(self, diagonal: Floats, few_forecasters: bool) -> Callable[[Floats], Floats]:
        from scipy.linalg import cho_factor, cho_solve

        if few_forecasters:
            factor = cho_factor(np.diag(diagonal) - self._solve_blocks(self.cross) @ self.cross.T)
            return lambda right: np.asarray(cho_solve(factor, right))
        scaled = self.cross / diagonal[:, None]
        off = np.diag(self.ab)
        block = np.block([[np.diag(self.aa), off], [off, np.diag(self.bb)]])
        factor = cho_factor(block - self.cross.T @ scaled)
        return lambda right: np.asarray(
            (right.T / diagonal).T + scaled @ cho_solve(factor, scaled.T @ right)
        )

    def _solve_blocks(self, right: Floats) -> Floats:
        """The inverse of the 2×2 blocks times the rows of `right`, each α of all problems and b of
        all.
        """
        a, b = np.split(right, 2, axis=-1)
        rows = self.bb * a - self.ab * b, self.aa * b - self.ab * a
        return np.concatenate([row / self.determinant for row in rows], axis=-1)

    def solve(self, gradient: Floats) -> Floats:
        """The Newton step."""
        f = len(self.cross) - 1
        inner = gradient[f:-1]
        top = self.solve_top(
            np.append(gradient[:f], gradient[-1]) - self.cross @ self._solve_blocks(inner)
        )
        return np.concatenate([top[:f], self._solve_blocks(inner - top @ self.cross), top[f:]])


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
    i, j, values = observations("fit_irt", forecaster, problem, "y", y)
    model = Posterior(i, j, values, int(i.max()) + 1, int(j.max()) + 1)
    means = np.clip(np.bincount(j, values, model.problems) / np.bincount(j), 0.02, 0.98)
    b = -np.log(means / (1 - means))
    x = np.concatenate([np.zeros(model.forecasters + model.problems), b, [b.mean()]])
    tolerance = 1e-8 * max(1.0, len(values) / 1000)
    value, gradient = sum(model.values(x)), model.gradient(x)
    iterations = 0
    while np.abs(gradient).max() > tolerance and iterations < max_iterations:
        iterations += 1
        step = model.curvature(x).solve(gradient)
        slope, length = float(gradient @ step), 1.0
        # A rise below rounding cannot be seen: then the gradient decides. `not >=`, since too long
        # a step gives nan.
        with np.errstate(over="ignore", invalid="ignore"):
            least = value - 1e-12 * abs(value)
            while (
                not sum(model.values(x + length * step)) >= least + 1e-4 * length * slope
                and length > 1e-10
            ):
                length /= 2
        x = x + length * step
        value, gradient = sum(model.values(x)), model.gradient(x)
    theta, alpha, b, mu = model.split(x)
    _, _, r, _ = model.terms(x)
    # At the mode a problem's derivatives by its α and b are 0: those by θ and μ remain. Σθ = 0
    # whatever the problems are, so that what moves θ moves θ - mean θ by as much.
    scores = np.vstack([model.table(np.exp(alpha)[j] * r), (b - mu) / B_VARIANCE])
    influence = np.asarray(model.curvature(x).solve_top(scores)[:-1].T)
    factor = model.problems / (model.problems - 1) if model.problems > 1 else np.nan
    errors = np.sqrt((influence**2).sum(axis=0) * factor)
    norm = float(np.abs(gradient).max())
    likelihood = model.values(x)[0]
    return IrtFit(
        theta,
        errors,
        b,
        np.exp(alpha),
        likelihood,
        value,
        norm,
        iterations,
        norm <= tolerance,
        influence,
    )
