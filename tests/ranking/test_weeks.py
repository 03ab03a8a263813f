"""The logistic two-way model against a general optimiser, strata and simulations, and what must not
move it.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest
from scipy import optimize, special, stats

from drawn_seasons import SETTINGS, draw_season, judge_seasons
from forecasteval.common.statistics import (
    clustered_error,
    rank_ranges,
    stratified_error,
    stratified_interval,
    stratified_mean,
    t_tail,
)
from forecasteval.ranking.weeks import (
    Fit,
    compare_pairs,
    estimate_differences,
    estimate_scores,
    fit_scores,
    half_widths,
)

Array = np.ndarray[Any, np.dtype[Any]]
WEIGHTS = np.array([0.1, 0.2, 0.3, 0.4])


def draw(
    seed: int, systems: int = 6, weeks: int = 5, size: int = 12, gaps: bool = True
) -> tuple[Array, Array, Array]:
    """Scores with gaps of whole weeks (the first system answers all), levels, and the week of each
    question.
    """
    rng = np.random.default_rng(seed)
    week = np.repeat(np.arange(weeks), size)
    levels = rng.integers(0, 4, len(week))
    scores = np.clip(
        rng.normal(0.5, 0.2, (systems, 1)) + rng.normal(0, 0.3, (systems, len(week))), 0, 1
    )
    if gaps:
        left = rng.random((systems, weeks)) < 0.5
        left[np.arange(1, systems), rng.integers(0, weeks, systems - 1)] = False
        left[0] = False
        scores[left[:, week]] = np.nan
    return scores, levels, week


def question_weights(levels: Array) -> Array:
    sizes = np.bincount(levels, minlength=4)
    weights = WEIGHTS[levels] / sizes[levels]
    return weights / weights.sum()


def fit(scores: Array, levels: Array, week: Array, clusters: Array | None = None) -> Fit:
    return fit_scores(scores, levels, week, WEIGHTS, clusters)


def optimise(scores: Array, levels: Array, week: Array, counts: Array) -> Array:
    """p of every system on every question by a general optimiser, which counts each question
    `counts` times.
    """
    cells = np.unique(week * 4 + levels, return_inverse=True)[1]
    members = np.eye(cells.max() + 1)[cells]
    weight = np.where(np.isnan(scores), 0, question_weights(levels) * len(levels))
    y = np.nan_to_num(scores)
    mean = special.logit(((weight * y).sum() + 0.5) / (weight.sum() + 1))
    weight = weight * counts

    def loss(point: Array) -> tuple[float, Array]:
        eta = mean + point[: len(scores), None] + members @ point[len(scores) :]
        value = (weight * (np.logaddexp(0, eta) - y * eta)).sum() + (point**2).sum() / 18
        slope = weight * (special.expit(eta) - y)
        return value, np.concatenate([slope.sum(axis=1), slope.sum(axis=0) @ members]) + point / 9

    start = np.zeros(len(scores) + members.shape[1])
    best = optimize.minimize(
        loss, start, jac=True, method="BFGS", options={"gtol": 1e-10, "maxiter": 9000}
    ).x
    return special.expit(mean + best[: len(scores), None] + members @ best[len(scores) :])  # type: ignore[no-any-return]


@pytest.mark.parametrize("seed", range(4))
def test_scores_are_those_of_a_general_optimiser(seed: int) -> None:
    scores, levels, week = draw(seed)
    p = optimise(scores, levels, week, np.ones(len(levels)))
    assert fit(scores, levels, week).scores == pytest.approx(
        np.where(np.isnan(scores), p, scores) @ question_weights(levels), abs=1e-6
    )


def test_influence_is_how_a_score_moves_with_a_questions_weight() -> None:
    scores, _, week = draw(1, systems=3, weeks=3, size=5)
    levels = np.zeros(len(week), int)
    v = question_weights(levels)
    moves = np.zeros_like(scores)
    for question in range(len(v)):
        ends = []
        for step in (1e-4, -1e-4):
            counts = np.where(np.arange(len(v)) == question, 1 + step, 1)
            p = optimise(scores, levels, week, counts)
            ends.append(np.where(np.isnan(scores), p, scores) @ v)
        moves[:, question] = (ends[0] - ends[1]) / 2e-4
    p = optimise(scores, levels, week, np.ones(len(v)))
    influence = np.where(np.isnan(scores), p, scores) * v + moves
    n = (~np.isnan(scores)).sum(axis=1)[:, None]
    centred = (influence - influence.mean(axis=1, keepdims=True)) * np.sqrt(n / (n - 1))
    found = fit_scores(scores, levels, week, np.ones(1))
    assert found.errors[0] == pytest.approx(centred @ centred.T, abs=1e-6)


def disperse(scores: Array, week: Array, v: Array, p: Array) -> float:
    """The design effect of one level by loops over its definition."""
    part = ~np.isnan(scores)
    residual, moved = np.nan_to_num(scores - p) * v, part * p * (1 - p) * v
    own, variance = np.zeros_like(residual), np.zeros_like(residual)
    for q in range(len(v)):
        shared = residual[:, q].sum() / moved[:, q].sum()
        for s in range(len(scores)):
            own[s, q] = residual[s, q] - moved[s, q] * shared
            variance[s, q] = moved[s, q] * v[q] * (1 - moved[s, q] / moved[:, q].sum())
    seen = scale = 0.0
    for s in range(len(scores)):
        for one in set(week[part[s]]):
            if len(set(week[part[s]])) > 1:
                at = week == one
                seen += own[s, at].sum() ** 2
                scale += variance[s, at].sum() * (1 - moved[s, at].sum() / moved[s].sum())
    return float(seen / scale / ((own**2).sum() / variance.sum()))


@pytest.mark.parametrize("seed", range(3))
def test_the_design_effect_is_that_of_its_definition(seed: int) -> None:
    scores, _, week = draw(seed)
    levels = np.zeros(len(week), int)
    p = optimise(scores, levels, week, np.ones(len(week)))
    found = fit_scores(scores, levels, week, np.ones(1))
    expected = disperse(scores, week, question_weights(levels), p)
    assert found.design_effect == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("shock", [0.0, 0.3, 0.6])
def test_the_design_effect_is_that_of_weeks_drawn_with_shocks(shock: float) -> None:
    """Kish's 1 + (n − 1)·ρ with n = 50 and ρ, the share of the variance that is between weeks."""
    rng = np.random.default_rng(2)
    week = np.repeat(np.arange(40), 50)
    logits = shock * rng.normal(0, 1, (30, 40))[:, week]
    scores = (rng.random(logits.shape) < special.expit(logits)).astype(float)
    found = fit_scores(scores, week * 0, week, np.ones(1))
    chances = special.expit(shock * stats.norm.ppf(np.linspace(0.0005, 0.9995, 1000)))
    assert found.design_effect == pytest.approx(1 + 49 * chances.var() / 0.25, rel=0.12)
    added = np.diag(found.errors[-1]) / np.diag(found.errors[0])
    assert added.mean() == pytest.approx(max(0, found.design_effect - 1), rel=0.05, abs=0.02)


def test_one_week_says_nothing_of_weeks() -> None:
    scores, levels, week = draw(0, gaps=False)
    found = fit(scores, levels, week * 0)
    assert math.isnan(found.design_effect)
    assert not found.errors[-1].any()


def test_questions_of_a_cluster_count_as_one() -> None:
    scores, _, week = draw(3, gaps=False)
    levels = np.zeros(len(week), int)
    found = fit_scores(scores, levels, week * 0, np.ones(1), week)
    spread, gaps = estimate_scores(found), estimate_differences(found)
    for place, row in enumerate(scores):
        error, freedom = clustered_error(row.tolist(), week.tolist()) or (math.nan, math.nan)
        assert math.sqrt(spread.variance[place]) == pytest.approx(error)
        assert spread.freedom[place] == pytest.approx(freedom)
        error, _ = clustered_error((scores[0] - row).tolist(), week.tolist()) or (0.0, 0.0)
        assert math.sqrt(gaps.variance[0, place]) == pytest.approx(error)
    alone = fit_scores(scores, levels, week, np.ones(1), np.arange(len(week)))
    plain = fit_scores(scores, levels, week, np.ones(1))
    assert np.array_equal(alone.errors, plain.errors)


def strata(scores: Array, levels: Array) -> list[tuple[float, list[float]]]:
    return [(weight, scores[levels == level].tolist()) for level, weight in enumerate(WEIGHTS)]


@pytest.mark.parametrize("seed", range(3))
def test_without_gaps_all_is_as_in_one_file(seed: int) -> None:
    """In one week: scores, intervals, differences and their errors are those of the strata of all
    questions.
    """
    scores, levels, week = draw(seed, gaps=False)
    assert fit(scores, levels, week).scores == pytest.approx(
        [stratified_mean(strata(row, levels)) for row in scores]
    )
    found = fit(scores, levels, week * 0)
    spread, differences = estimate_scores(found), estimate_differences(found)
    for s, row in enumerate(scores):
        own = strata(row, levels)
        assert found.scores[s] == pytest.approx(stratified_mean(own), abs=1e-12)
        assert (math.sqrt(spread.variance[s]), spread.freedom[s]) == pytest.approx(
            stratified_error(own)
        )
        low, high = stratified_interval(own, (-9, 9)) or (0, 0)
        assert half_widths(spread)[s] == pytest.approx((high - low) / 2)
    pairs = [(s, t) for s in range(len(scores)) for t in range(s)]
    expected = []
    for s, t in pairs:
        error, freedom = stratified_error(strata(scores[s] - scores[t], levels)) or (0, 0)
        assert (math.sqrt(differences.variance[s, t]), differences.freedom[s, t]) == pytest.approx(
            (error, freedom)
        )
        expected.append(t_tail((found.scores[s] - found.scores[t]) / error, freedom))
    p = compare_pairs(found, differences)
    assert [p[s, t] for s, t in pairs] == pytest.approx(expected)
    assert np.array_equal(p, p.T)


@pytest.mark.parametrize("seed", range(3))
def test_systems_without_a_point_move_nobody(seed: int) -> None:
    """Neither scores nor errors nor what is drawn."""
    scores, levels, week = draw(seed)
    none = np.where(np.random.default_rng(seed).random((5, 5))[:, week] < 0.5, np.nan, 0.0)
    one, other = fit(scores, levels, week), fit(np.vstack([scores, none]), levels, week)
    count = len(scores)
    assert other.scores == pytest.approx([*one.scores, *np.zeros(5)], abs=1e-12)
    assert other.errors[:, :count, :count] == pytest.approx(one.errors, abs=1e-12)
    assert not other.errors[:, count:].any()
    assert np.isnan(half_widths(estimate_scores(other))[count:]).all()


def blank_some(scores: Array, week: Array) -> tuple[Array, Array]:
    """Scores of 0 in half of the answered weeks of the last two systems, and where that is."""
    blank = np.zeros(scores.shape, bool)
    for row in (-1, -2):
        weeks = np.unique(week[~np.isnan(scores[row])])
        blank[row] = np.isin(week, weeks[::2]) & ~np.isnan(scores[row])
    return np.where(blank, 0.0, scores), blank


@pytest.mark.parametrize("seed", range(3))
def test_blank_weeks_move_nobody(seed: int) -> None:
    """They are as weeks that were missed, but for the score of the system itself: 0 and not p."""
    whole, levels, week = draw(seed, gaps=seed > 0)
    scores, blank = blank_some(whole, week)
    missed = fit(np.where(blank, np.nan, scores), levels, week)
    found = fit_scores(scores, levels, week, WEIGHTS, blank=blank)
    assert found.scores[:-2] == pytest.approx(missed.scores[:-2], abs=1e-12)
    assert np.diagonal(found.errors, axis1=1, axis2=2)[:, :-2] == pytest.approx(
        np.diagonal(missed.errors, axis1=1, axis2=2)[:, :-2], abs=1e-12
    )
    p = optimise(np.where(blank, np.nan, scores), levels, week, np.ones(len(week)))
    lost = (p * blank * question_weights(levels)).sum(axis=1)
    assert found.scores == pytest.approx(missed.scores - lost, abs=1e-6)


def test_a_season_without_any_point() -> None:
    found = fit_scores(np.zeros((2, 8)), np.zeros(8, int), np.arange(8) // 4, np.ones(1))
    differences = estimate_differences(found)
    assert not found.scores.any()
    assert compare_pairs(found, differences).tolist() == [[1, 1], [1, 1]]


def test_a_harder_week_is_nobodys_loss() -> None:
    """The weaker system skips the week in which everybody is worse, and stays the weaker one."""
    rng = np.random.default_rng(0)
    week = np.repeat(np.arange(4), 50)
    skills, difficulty = np.array([0.5, 0.0, -0.5]), np.array([1.5, 0, 0, 0])
    p = special.expit(skills[:, None] - difficulty[week])
    scores = (rng.random(p.shape) < p).astype(float)
    scores[1, week == 0] = np.nan
    found = fit(scores, np.zeros(200, int), week).scores
    assert found[0] > found[1] > found[2]
    assert abs(found[1] - p.mean(axis=1)[1]) < 0.04 < abs(np.nanmean(scores[1]) - p.mean(axis=1)[1])


def test_order_of_systems_and_questions_changes_nothing() -> None:
    scores, levels, week = draw(9)
    rng = np.random.default_rng(1)
    rows, columns = rng.permutation(len(scores)), rng.permutation(len(levels))
    one, other = (
        fit(scores, levels, week),
        fit(scores[rows][:, columns], levels[columns], 4 - week[columns]),
    )
    assert other.scores == pytest.approx(one.scores[rows], abs=1e-12)
    assert estimate_scores(other).variance == pytest.approx(estimate_scores(one).variance[rows])


def test_equal_systems_share_everything() -> None:
    scores, levels, week = draw(5, gaps=False)
    found = fit(np.vstack([scores[:1], scores[:1], scores[1:] / 50]), levels, week * 0)
    differences = estimate_differences(found)
    p = compare_pairs(found, differences)
    assert (differences.variance[0, 1], p[0, 1]) == (0, 1)
    assert math.isnan(half_widths(differences)[0, 1])
    assert rank_ranges(differences.value, p)[:2] == [(1, 2), (1, 2)]


def test_where_nothing_varies_signs_decide() -> None:
    """1 against 0 on five questions: no variance, and p is 2 / 2⁵, whatever the weeks of others
    say.
    """
    scores = np.array([[1.0] * 5, [0.0] * 5])
    found = fit_scores(scores, np.zeros(5, int), np.zeros(5, int), np.array([1.0]))
    assert compare_pairs(found, estimate_differences(found))[0, 1] == 2 / 2**5
    assert found.varies.tolist() == [False, False]
    rng = np.random.default_rng(0)
    noisy = np.vstack([scores, rng.integers(0, 2, (6, 5))])
    found = fit_scores(noisy, np.zeros(5, int), np.array([0, 0, 1, 1, 1]), np.array([1.0]))
    assert compare_pairs(found, estimate_differences(found))[0, 1] == 2 / 2**5
    assert found.varies.any()
    assert not found.varies[:2].any()


def test_freedom_is_that_of_the_fewer_questions() -> None:
    """One level, no shocks: n − 1 of a score, and of a difference that of the system that answered
    less.
    """
    scores, _, week = draw(4, gaps=False)
    scores[1, week > 0], scores[2, week > 1] = np.nan, np.nan  # 60, 12 and 24 questions
    scores[4, 2:] = np.nan  # 2 questions
    found = fit_scores(scores, np.zeros(scores.shape[1], int), week, np.array([1.0]))
    found.errors[-1] = 0
    assert estimate_scores(found).freedom[:5] == pytest.approx([59, 11, 23, 59, 1])
    freedom = estimate_differences(found).freedom
    assert [freedom[0, 1], freedom[1, 2], freedom[2, 0], freedom[0, 3]] == pytest.approx(
        [11, 11, 23, 59]
    )


# --- Seasons ---


def test_what_the_model_is_for() -> None:
    """20 seasons of the cases in research/README.md, with bounds that a worse model breaks."""
    for setting in ("hard weeks missed", "the same + 10 blank systems", "shocks of 0.3"):
        found = judge_seasons(20, **SETTINGS[setting])
        assert found["intervals of differences hold"] >= 0.92, setting
        assert found["intervals of scores hold"] >= 0.92, setting
        assert found["a significant pair is wrong"] == 0, setting
        assert found["pairs in the right order"] > found["the same by the plain score"] + 0.01, (
            setting
        )
        assert found["all ranks within Ranks"] >= 0.95, setting


def test_large_boards_take_seconds() -> None:
    """Of processor time, which other work on the machine does not change much."""
    season = draw_season(np.random.default_rng(1), systems=300, weeks=26)
    begun = time.process_time()
    differences = estimate_differences(found := fit(season.scores, season.levels, season.weeks))
    rank_ranges(differences.value, compare_pairs(found, differences))
    assert time.process_time() - begun < 20
