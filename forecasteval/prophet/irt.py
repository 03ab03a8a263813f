"""Item response theory: ability, difficulty and discrimination as the posterior mode of
a two-parameter model.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Floats, answer_table

ALPHA_VARIANCE: Final = 0.25  # prior of ln a: N(0, 1/2²)
B_VARIANCE: Final = 4.0  # prior of b: N(mu, 2²)


class IrtFit(NamedTuple):
    """The posterior mode.

    ability_se: standard errors of θ - mean θ.
    log_likelihood, log_posterior: without and with the priors.
    influence: problems × forecasters, what one more copy of the problem adds
        to θ - mean θ.
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
    """The posterior of the two-parameter model; y: problems × forecasters,
    present: 1 or 0.

    Parameters x: θ (forecasters), α = ln a and b (problems), μ. Answer: π = σ(η), η =
    a(θ - b), ln-likelihood y ln π + (1 - y) ln(1 - π). With r = y - π and w = π(1 - π),
    minus the Hessian has per answer θθ a²w, θα aηw - ar, θb -a²w, αα η²w - rη, αb ar -
    aηw, bb a²w; Fisher's information drops the terms with r.
    """

    y: Floats
    present: Floats

    def split(self, x: Floats) -> tuple[Floats, Floats, Floats, float]:
        problems, forecasters = self.y.shape
        theta, alpha, b = np.split(x[:-1], [forecasters, forecasters + problems])
        return theta, alpha, b, float(x[-1])

    def terms(self, x: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Compute a of every problem; η, r and w of every answer, r and w 0 where
        there is none.
        """
        theta, alpha, b, _ = self.split(x)
        a = np.exp(alpha)[:, None]
        eta = a * (theta - b[:, None])
        pi = 1 / (1 + np.exp(-np.clip(eta, -700, 700)))
        r = (self.y - pi) * self.present
        w = pi * (1 - pi) * self.present
        return a, eta, r, w

    def values(self, x: Floats) -> tuple[float, float]:
        """Compute the log-likelihood and the log-prior."""
        theta, alpha, b, mu = self.split(x)
        _, eta, _, _ = self.terms(x)
        by_b = (b - mu) @ (b - mu) / B_VARIANCE
        prior = theta @ theta + alpha @ alpha / ALPHA_VARIANCE + by_b
        # ln(1 + exp η), which overflows for no η.
        excess = np.log1p(np.exp(-np.abs(eta)))
        fit = self.y * eta - np.maximum(eta, 0) - excess
        return float((fit * self.present).sum()), -float(prior) / 2

    def gradient(self, x: Floats) -> Floats:
        theta, alpha, b, mu = self.split(x)
        a, eta, r, _ = self.terms(x)
        by_theta = (a * r).sum(axis=0) - theta
        by_alpha = (r * eta).sum(axis=1) - alpha / ALPHA_VARIANCE
        by_b = -(a * r).sum(axis=1) - (b - mu) / B_VARIANCE
        by_mu = (b - mu).sum() / B_VARIANCE
        return np.concatenate([by_theta, by_alpha, by_b, [by_mu]])

    def curvature(self, x: Floats) -> Curvature:
        """Compute minus the Hessian; Fisher's information where that is not
        positive definite.
        """
        a, eta, r, w = self.terms(x)
        try:
            return Curvature(a, eta, r, w)
        except np.linalg.LinAlgError:
            return Curvature(a, eta, np.zeros_like(r), w)


class Curvature:
    """A matrix to be inverted by elimination of the problems' 2×2 blocks (α, b). What
    remains are the top parameters, θ and μ.

    Raises LinAlgError unless it is positive definite.
    """

    def __init__(self, a: Floats, eta: Floats, r: Floats, w: Floats) -> None:
        from scipy.linalg import cho_factor

        self.aa = (eta * eta * w - r * eta).sum(axis=1) + 1 / ALPHA_VARIANCE
        self.bb = (a * a * w).sum(axis=1) + 1 / B_VARIANCE
        self.ab = (a * r - a * eta * w).sum(axis=1)
        self.determinant = self.aa * self.bb - self.ab * self.ab
        if (self.aa <= 0).any() or (self.determinant <= 0).any():
            raise np.linalg.LinAlgError
        count = len(a)
        theta_alpha = (a * eta * w - a * r).T
        theta_b = (-a * a * w).T
        # μ meets b only.
        by_mu = np.append(np.zeros(count), np.full(count, -1 / B_VARIANCE))
        self.cross = np.vstack([np.hstack([theta_alpha, theta_b]), by_mu])
        diagonal = np.append((a * a * w).sum(axis=0) + 1, count / B_VARIANCE)
        eliminated = self._solve_blocks(self.cross) @ self.cross.T
        self.top = cho_factor(np.diag(diagonal) - eliminated)

    def solve_top(self, right: Floats) -> Floats:
        """Solve for θ and μ alone."""
        from scipy.linalg import cho_solve

        return np.asarray(cho_solve(self.top, right))

    def _solve_blocks(self, right: Floats) -> Floats:
        """Solve the 2×2 blocks for the rows of `right`, each α of all
        problems and b of all.
        """
        a, b = np.split(right, 2, axis=-1)
        of_alpha = (self.bb * a - self.ab * b) / self.determinant
        of_b = (self.aa * b - self.ab * a) / self.determinant
        return np.concatenate([of_alpha, of_b], axis=-1)

    def solve(self, gradient: Floats) -> Floats:
        """Solve for the Newton step."""
        size = len(self.cross) - 1
        inner = gradient[size:-1]
        outer = np.append(gradient[:size], gradient[-1])
        top = self.solve_top(outer - self.cross @ self._solve_blocks(inner))
        blocks = self._solve_blocks(inner - top @ self.cross)
        return np.concatenate([top[:-1], blocks, top[-1:]])


def fit_irt(
    forecaster: ArrayLike, problem: ArrayLike, y: ArrayLike, max_iterations: int = 200
) -> IrtFit:
    """Fit the two-parameter item response model of continuous responses, y ≈
    σ(a_j (θ_i - b_j)).

    The fit is its posterior mode, the maximum of

        Σ y ln π + (1 - y) ln(1 - π)

    with priors θ ~ N(0, 1), ln a ~ N(0, ½²), b ~ N(μ, 2²), μ free (so Σθ = 0), by
    Newton's method, damped by halving; where minus the Hessian is not positive
    definite, by Fisher's information. Converged: gradient max-norm ≤ 1e-8 · max(1,
    N/1000). Binary y gives the classical 2PL.

    The standard errors are those of θ_i - mean θ, from the sandwich H⁻¹ (Σ_j s_j
    s_j') H⁻¹ · n/(n -
    1) with the scores s_j of the problems, whose α and b are eliminated; nan for
        one problem. The
    inverse Hessian alone would take each y for one trial, and holds the error of the
    mean of all, which never shrinks below 1/√forecasters.

    forecaster, problem: N integers from 0, every number used; y: N responses in
        [0, 1]. Raises
    InputError: no observation, lengths that differ, y outside [0, 1]. Source: Bo
        et al. (2017),
    simplified; sandwich: White (1982).
    """
    model = Posterior(*answer_table("fit_irt", forecaster, problem, "y", y))
    problems, forecasters = model.y.shape
    means = np.clip(model.y.sum(axis=1) / model.present.sum(axis=1), 0.02, 0.98)
    b = -np.log(means / (1 - means))
    x = np.concatenate([np.zeros(forecasters + problems), b, [b.mean()]])
    tolerance = 1e-8 * max(1.0, model.present.sum() / 1000)
    iterations = 0
    gradient = model.gradient(x)
    while np.abs(gradient).max() > tolerance and iterations < max_iterations:
        iterations += 1
        x = _step(model, x, gradient)
        gradient = model.gradient(x)
    gradient_norm = float(np.abs(gradient).max())
    log_likelihood, log_prior = model.values(x)
    theta, alpha, b, mu = model.split(x)
    a, _, r, _ = model.terms(x)
    # At the mode a problem's derivatives by its α and b are 0: those by θ and μ remain.
    # Σθ = 0 whatever the problems are, so that what moves θ moves θ - mean
    # θ by as much.
    scores = np.vstack([(a * r).T, (b - mu) / B_VARIANCE])
    influence = model.curvature(x).solve_top(scores)[:-1].T
    factor = problems / (problems - 1) if problems > 1 else np.nan
    variance = (influence**2).sum(axis=0) * factor
    return IrtFit(
        ability=theta,
        ability_se=np.sqrt(variance),
        difficulty=b,
        discrimination=np.exp(alpha),
        log_likelihood=log_likelihood,
        log_posterior=log_likelihood + log_prior,
        gradient_norm=gradient_norm,
        iterations=iterations,
        converged=bool(gradient_norm <= tolerance),
        influence=influence,
    )


def _step(model: Posterior, x: Floats, gradient: Floats) -> Floats:
    """Take Newton's step, halved until the value rises."""
    step = model.curvature(x).solve(gradient)
    length = 1.0
    rise = 1e-4 * float(gradient @ step)
    value = sum(model.values(x))
    # A rise below rounding cannot be seen: then the gradient decides.
    smallest = value - 1e-12 * abs(value)
    with np.errstate(over="ignore", invalid="ignore"):
        # `not >=`, since too long a step gives nan.
        while not sum(model.values(x + length * step)) >= smallest + length * rise:
            length /= 2
            if length < 1e-10:
                break
    return x + length * step
