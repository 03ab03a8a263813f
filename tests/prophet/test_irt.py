"""The IRT fit against a general optimiser, finite differences, the truth and girth."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import pytest
from scipy import optimize

from forecasteval.common.errors import InputError
from forecasteval.prophet.arrays import answer_table
from forecasteval.prophet.irt import Posterior, fit_irt


def irt_data(
    forecasters: int, problems: int, seed: int, share: float = 1.0, binary: bool = False
) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    theta, a, b = (
        rng.normal(size=forecasters),
        np.exp(rng.normal(0, 0.4, problems)),
        rng.normal(0, 1, problems),
    )
    i, j = (
        grid.reshape(-1)
        for grid in np.meshgrid(np.arange(forecasters), np.arange(problems), indexing="ij")
    )
    keep = rng.random(len(i)) < share
    keep[(i == j % forecasters) | (j == i % problems)] = True  # everyone and every problem is there
    i, j = i[keep], j[keep]
    pi = 1 / (1 + np.exp(-a[j] * (theta[i] - b[j])))
    y = (
        (rng.random(len(i)) < pi).astype(float)
        if binary
        else rng.beta(6 * pi + 0.1, 6 * (1 - pi) + 0.1)
    )
    return i, j, y, theta, a, b


def log_posterior(
    x: np.ndarray, i: np.ndarray, j: np.ndarray, y: np.ndarray, f: int, n: int
) -> float:
    """Written from the spec, apart from the module: with μ at its best."""
    theta, alpha, b = x[:f], x[f : f + n], x[f + n :]
    eta = np.exp(alpha[j]) * (theta[i] - b[j])
    fit = np.sum(y * -np.logaddexp(0, -eta) + (1 - y) * -np.logaddexp(0, eta))
    return float(
        fit
        - np.sum(theta**2) / 2
        - np.sum(alpha**2) / (2 * 0.25)
        - np.sum((b - b.mean()) ** 2) / (2 * 4)
    )


def problem_terms(
    x: np.ndarray, i: np.ndarray, j: np.ndarray, y: np.ndarray, f: int, n: int
) -> np.ndarray:
    """The log-posterior's terms of each problem; those of the abilities' prior belong to none."""
    theta, alpha, b, mu = x[:f], x[f : f + n], x[f + n : -1], x[-1]
    eta = np.exp(alpha[j]) * (theta[i] - b[j])
    fit = np.bincount(j, y * -np.logaddexp(0, -eta) + (1 - y) * -np.logaddexp(0, eta), n)
    return np.asarray(fit - alpha**2 / (2 * 0.25) - (b - mu) ** 2 / (2 * 4))


def sandwich_errors(x: np.ndarray, *data: Any) -> np.ndarray:
    """Of θ - mean θ, with μ as a parameter, dense and by finite differences."""
    f, n, h, unit = data[-2], data[-1], 1e-4, np.eye(len(x))

    def total(x: np.ndarray) -> float:
        return float(problem_terms(x, *data).sum() - np.sum(x[:f] ** 2) / 2)

    hessian = -np.array(
        [
            [
                sum(np.sign(u * v) * total(x + u * r + v * c) for u in (-h, h) for v in (-h, h))
                / (4 * h * h)
                for c in unit
            ]
            for r in unit
        ]
    )
    scores = np.array(
        [
            (problem_terms(x + h * r, *data) - problem_terms(x - h * r, *data)) / (2 * h)
            for r in unit
        ]
    )
    moved = np.linalg.solve(hessian, scores)[:f]
    return np.asarray(np.sqrt(((moved - moved.mean(axis=0)) ** 2).sum(axis=1) * n / (n - 1)))


@pytest.mark.parametrize(("f", "n"), [(5, 9), (9, 5), (6, 6)])
def test_irt_is_the_posterior_mode(f: int, n: int) -> None:
    """Against a general optimiser, and standard errors against a dense sandwich by finite
    differences.
    """
    i, j, y, *_ = irt_data(f, n, seed=f, share=0.7)
    fit = fit_irt(i, j, y)
    x = np.concatenate([fit.ability, np.log(fit.discrimination), fit.difficulty])
    assert fit.converged
    assert abs(fit.ability.sum()) < 1e-7
    best = optimize.minimize(
        lambda x: -log_posterior(x, i, j, y, f, n), np.zeros(len(x)), method="BFGS"
    )
    assert log_posterior(x, i, j, y, f, n) >= -best.fun - 1e-9
    assert best.x[:f] == pytest.approx(fit.ability, abs=1e-3)
    assert fit.log_posterior == pytest.approx(log_posterior(x, i, j, y, f, n), rel=1e-12)
    eta = fit.discrimination[j] * (fit.ability[i] - fit.difficulty[j])
    assert fit.log_likelihood == pytest.approx(
        float(np.sum(y * eta - np.logaddexp(0, eta))), rel=1e-12
    )
    full = np.append(x, fit.difficulty.mean())
    assert fit.ability_se == pytest.approx(sandwich_errors(full, i, j, y, f, n), rel=1e-4)


def test_irt_gradient_and_step_against_finite_differences() -> None:
    i, j, y, *_ = irt_data(7, 4, seed=2, share=0.8)
    model = Posterior(*answer_table("", i, j, "y", y))
    rng = np.random.default_rng(0)
    x = rng.normal(0, 0.3, 7 + 2 * 4 + 1)
    unit = np.eye(len(x)) * 1e-6
    gradient = np.array(
        [(sum(model.values(x + h)) - sum(model.values(x - h))) / 2e-6 for h in unit]
    )
    assert model.gradient(x) == pytest.approx(gradient, abs=1e-6)
    hessian = np.array([(model.gradient(x + h) - model.gradient(x - h)) / 2e-6 for h in unit])
    step = model.curvature(x).solve(model.gradient(x))
    assert hessian @ step == pytest.approx(-model.gradient(x), abs=1e-5)


def test_errors_shrink_with_the_problems() -> None:
    """The error of the mean of all does not, and was in them: never below 1/√forecasters."""
    errors = [fit_irt(*irt_data(10, n, seed=3)[:3]).ability_se.mean() for n in (50, 200, 800)]
    assert errors[0] > 1.5 * errors[1] > 2.5 * errors[2]
    assert errors[2] < 0.05 < 1 / math.sqrt(10)


@pytest.mark.parametrize(("f", "n"), [(20, 800), (800, 20)])
def test_irt_finds_the_truth(f: int, n: int) -> None:
    i, j, y, theta, a, b = irt_data(f, n, seed=5, share=0.8)
    fit = fit_irt(i, j, y)
    assert fit.converged
    assert fit.iterations < 30
    assert np.corrcoef(theta, fit.ability)[0, 1] > (0.98 if f < n else 0.9)
    assert np.corrcoef(b, fit.difficulty)[0, 1] > (0.9 if f < n else 0.98)
    assert np.corrcoef(a, fit.discrimination)[0, 1] > (0.5 if f < n else 0.9)


def test_irt_against_girth() -> None:
    """Binary answers: the classical 2PL, there by marginal likelihood."""
    import girth

    people, items = 600, 40
    i, j, y, *_ = irt_data(people, items, seed=1, binary=True)
    fit = fit_irt(i, j, y)
    table = y.reshape(people, items).T.astype(int)
    theirs = girth.twopl_mml(table)
    ability = girth.ability_eap(table, theirs["Difficulty"], theirs["Discrimination"])
    assert np.corrcoef(ability, fit.ability)[0, 1] >= 0.99
    assert np.corrcoef(theirs["Difficulty"], fit.difficulty)[0, 1] >= 0.99
    # the model's parameter is ln a
    assert np.corrcoef(np.log(theirs["Discrimination"]), np.log(fit.discrimination))[0, 1] >= 0.99


@pytest.mark.parametrize("y", [0.0, 1.0])
def test_irt_of_hopeless_data(y: float) -> None:
    """All right or all wrong: the priors keep everything finite."""
    i, j, values, *_ = irt_data(6, 30, seed=1)
    fit = fit_irt(i, j, np.full(len(values), y))
    assert fit.converged
    assert np.isfinite([*fit.ability, *fit.ability_se, *fit.difficulty, *fit.discrimination]).all()
    assert fit.ability == pytest.approx(np.zeros(6), abs=1e-6)


BAD_CALLS: Final = {
    "irt twice": (
        lambda: fit_irt([0, 0], [0, 0], [1, 0]),
        "fit_irt: expected one value of each forecaster and problem, got several",
    ),
    "irt empty": (lambda: fit_irt([], [], []), "fit_irt: expected observations, got none"),
    "irt lengths": (
        lambda: fit_irt([0], [0], [1, 0]),
        "fit_irt: expected arrays of one length, got 1, 1 and 2",
    ),
    "irt y": (lambda: fit_irt([0], [0], [2]), "fit_irt: 'y' must lie in [0, 1], got 2.0"),
}


@pytest.mark.parametrize(("call", "message"), BAD_CALLS.values(), ids=BAD_CALLS)
def test_bad_call(call: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value) == message
