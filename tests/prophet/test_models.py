"""Both models over all forecasters: what they are given, who can be compared."""

from __future__ import annotations

import numpy as np
import pytest

from each import each
from forecasteval.prophet.bradley_terry import fit_bradley_terry
from forecasteval.prophet.irt import fit_irt
from prophet_data import GOOD, GOOD_PROBLEM, evaluate


@each("seed", range(40))
def test_both_fits_converge_on_anything(seed: int) -> None:
    """Few or many, sparse or full, contradictory, all 0 and 1: with priors there is always an end."""
    rng = np.random.default_rng(seed)
    i, j = np.nonzero(rng.random(rng.integers(1, 30, 2)) < (0.1, 0.5, 1)[seed % 3])
    i, j = (np.unique(numbers, return_inverse=True)[1] for numbers in (i, j))
    if not len(i):
        pytest.skip("an empty draw")
    for y in ((i % 2).astype(float), ((i + j) % 2).astype(float), rng.beta(0.1, 0.1, len(i))):
        fit = fit_irt(i, j, y)
        assert fit.converged
        assert np.isfinite(fit.ability).all()
        assert np.isfinite(fit.ability_se).all() == (j.max() > 0)  # one problem tells no error
        pool = fit_bradley_terry(i, j, y, prior=1)
        assert pool.converged
        assert np.isfinite(pool.strength).all()
        assert pool.strength.mean() == pytest.approx(1)


def test_disconnected_forecasters_are_named() -> None:
    problems = [{"problem_id": n, "options": ["A", "B"], "correct_answer": "A"} for n in range(4)]
    pairs = [(0, "ada"), (0, "bob"), (1, "bob"), (2, "cid"), (3, "dee"), (3, "cid"), (1, "eve")]
    rows = [{"problem_id": n, "username": name, "prediction": [0.6 + n / 10, 0.4 - n / 10]} for n, name in pairs]
    results = evaluate(rows, problems)
    assert results["fits"]["irt"]["parts"] == [["ada", "bob", "eve"], ["cid", "dee"]]
    assert results["warnings"] == [
        f"{model}: the comparison graph is disconnected, 2 groups of forecasters share no event (ada, bob, eve | "
        f"cid, dee); {consequence}"
        for model, consequence in (
            ("adjusted Brier, IRT", "nothing but a prior compares one group with another"),
            ("Bradley–Terry", "only the prior compares one group with another"),
        )
    ]


def test_parts_are_those_of_the_events_that_the_fit_uses() -> None:
    """Who meets in an event that Bradley–Terry leaves out is not compared there; who is not in it is no group."""
    pair = {"options": ["a", "b"], "correct_answer": "a"}
    problems = [{"problem_id": n, **pair} for n in (0, 1, 2)]
    rows = [
        {"problem_id": n, "username": who, "prediction": p}
        for n, who, p in (
            (0, "ada", [0.6, 0.4]), (0, "bob", [0.5, 0.5]), (1, "cid", [0.6, 0.4]), (1, "dee", [0.5, 0.5]),
            (2, "ada", [0, 1]), (2, "cid", [0, 1]),
        )
    ]  # fmt: skip
    fits = evaluate(rows, problems)["fits"]
    assert fits["bradley_terry"]["parts"] == [["ada", "bob"], ["cid", "dee"]]
    assert fits["irt"]["parts"] == []
    several = {"problem_id": 9, "options": ["a", "b"], "correct_answer": ["a", "b"]}
    only = [{"problem_id": 9, "username": who, "prediction": [0.5, 0.5]} for who in ("zoe", "ada")]
    fits = evaluate([*only, *rows[:2]], [several, problems[0]])["fits"]
    assert fits["bradley_terry"]["parts"] == []


def test_fit_that_has_not_converged_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of IRT too where there is no Bradley–Terry: nothing here is exclusive."""
    monkeypatch.setattr(
        "forecasteval.prophet.models.fit_irt", lambda *data: fit_irt(*data)._replace(converged=False, iterations=7)
    )
    results = evaluate(GOOD, [{**GOOD_PROBLEM, "correct_answer": ["A", "B"]}])
    assert results["warnings"] == [
        "fewer than two forecasters of exclusive events: no Bradley–Terry",
        "the fit of irt has not converged: 7 iterations",
    ]
