"""Both models over all forecasters: what they are given, who can be compared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from each import each
from forecasteval.prophet.bradley_terry import fit_bradley_terry
from forecasteval.prophet.irt import fit_irt
from forecasteval.prophet.models import connected_parts, fit_effects
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


# --- Difficulty-adjusted Brier scores ---


def draw(forecasters: int, events: int, share: float, seed: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    i, j = np.nonzero(rng.random((forecasters, events)) < share)
    i, j = (np.unique(numbers, return_inverse=True)[1] for numbers in (i, j))
    level = rng.beta(2, 5, int(j.max()) + 1)
    y = np.clip(level[j] + 0.02 * i + rng.normal(0, 0.05, len(i)), 0, 1)
    return i, j, y


def by_dummies(i: np.ndarray, j: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The mean over all events of what the model says of each forecaster."""
    forecasters, events = int(i.max()) + 1, int(j.max()) + 1
    design = np.zeros((len(y), forecasters + events))
    design[np.arange(len(y)), i] = design[np.arange(len(y)), forecasters + j] = 1
    effects = np.linalg.lstsq(design, y, rcond=None)[0]
    return effects[:forecasters] + effects[forecasters:].mean()


@each(("f", "n", "share"), [(6, 40, 0.5), (40, 6, 0.5), (5, 20, 1.0)])
def test_scores_are_those_of_least_squares(f: int, n: int, share: float) -> None:
    i, j, y = draw(f, n, share, seed=f)
    assert fit_effects(i, j, y).score == pytest.approx(by_dummies(i, j, y), abs=1e-10)


def test_full_participation_changes_nothing() -> None:
    i, j, y = draw(4, 30, 1.0, seed=1)
    fit, table = fit_effects(i, j, y), y.reshape(4, 30)
    assert fit.score == pytest.approx(table.mean(axis=1), abs=1e-12)
    assert fit.score_se == pytest.approx(table.std(axis=1, ddof=1) / np.sqrt(30), rel=1e-9)


def test_influence_is_that_of_one_more_copy() -> None:
    i, j, y = draw(6, 300, 0.8, seed=2)
    assert j.max() == 299
    fit = fit_effects(i, j, y)
    for event in (0, 17, 299):
        own = j == event
        more = fit_effects(np.append(i, i[own]), np.append(j, np.full(own.sum(), 300)), np.append(y, y[own]))
        assert more.score - fit.score == pytest.approx(fit.influence[event], abs=2e-5)


def test_parts_have_levels_of_their_own() -> None:
    """Two groups without a common event: each is adjusted by itself."""
    i, j, y = draw(4, 20, 0.7, seed=3)
    both = fit_effects(np.append(i, i + 4), np.append(j, j + 20), np.append(y, y / 2))
    alone = fit_effects(i, j, y)
    assert both.score == pytest.approx(np.append(alone.score, alone.score / 2), abs=1e-12)
    assert both.score_se == pytest.approx(np.append(alone.score_se, alone.score_se / 2), abs=1e-12)
    assert len(set(both.part[:4]) | set(both.part[4:])) == 2


@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 9)), min_size=1, max_size=30))
def test_connected_parts_against_scipy(pairs: list[tuple[int, int]]) -> None:
    i, j = np.unique([a for a, _ in pairs], return_inverse=True)[1], np.array([b for _, b in pairs])
    size = int(i.max()) + 1
    graph = sparse.coo_matrix((np.ones(len(i)), (i, size + j)), (size + 10, size + 10))
    theirs = sparse.csgraph.connected_components(graph, directed=False)[1][:size]
    j = np.unique(j, return_inverse=True)[1]
    ours, ours_of_events = connected_parts(i, j, size)
    assert (ours[i] == ours_of_events[j]).all()
    assert (np.equal.outer(ours, ours) == np.equal.outer(theirs, theirs)).all()
