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

from forecasteval.common.statistics import (
    clustered_error,
    stratified_error,
    stratified_interval,
    stratified_mean,
    t_tail,
)
from forecasteval.ranking.significance import holm
from forecasteval.ranking.weeks import (
    Fit,
    adjust_pairs,
    chances_of_best,
    compare_pairs,
    difference_spread,
    fit_scores,
    half_widths,
    rank_bounds,
    score_spread,
)
from simulate_boards import SETTINGS, draw_season, judge_seasons

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
    cells, cell = np.unique(week * 4 + levels, return_inverse=True)
    ends = np.cumsum([len(scores), week.max() + 1, 4])
    rows = [
        np.eye(size)[places]
        for size, places in ((week.max() + 1, week), (4, levels), (len(cells), cell))
    ]
    effects = np.hstack(rows)
    precision = np.concatenate([np.full(ends[-1], 1 / 9), np.bincount(cell) / 1.5**2])
    weight = np.where(np.isnan(scores), 0, counts)
    y = np.nan_to_num(scores)

    def loss(point: Array) -> tuple[float, Array]:
        eta = point[: len(scores), None] + effects @ point[len(scores) :]
        value = (weight * (np.logaddexp(0, eta) - y * eta)).sum() + (precision * point**2).sum() / 2
        slope = weight * (special.expit(eta) - y)
        return value, np.concatenate(
            [slope.sum(axis=1), slope.sum(axis=0) @ effects]
        ) + precision * point

    start = np.zeros(len(scores) + effects.shape[1])
    best = optimize.minimize(
        loss, start, jac=True, method="BFGS", options={"gtol": 1e-10, "maxiter": 9000}
    ).x
    return special.expit(best[: len(scores), None] + effects @ best[len(scores) :])  # type: ignore[no-any-return]


@pytest.mark.parametrize("seed", range(4))
def test_scores_are_those_of_a_general_optimiser(seed: int) -> None:
    scores, levels, week = draw(seed)
    v = question_weights(levels)
    p = optimise(scores, levels, week, len(v) * v)
    assert fit(scores, levels, week).scores == pytest.approx(
        np.where(np.isnan(scores), p, scores) @ v, abs=1e-6
    )


def test_influence_is_how_a_score_moves_with_a_questions_weight() -> None:
    scores, _, week = draw(1, systems=3, weeks=3, size=5)
    levels = np.zeros(len(week), int)
    v = question_weights(levels)
    exact = fit_scores(scores, levels, week, np.ones(1))
    moves = np.zeros_like(scores)
    for question in range(len(v)):
        ends = []
        for step in (1e-4, -1e-4):
            p = optimise(
                scores,
                levels,
                week,
                len(v) * v * np.where(np.arange(len(v)) == question, 1 + step, 1),
            )
            ends.append(np.where(np.isnan(scores), p, scores) @ v)
        moves[:, question] = (ends[0] - ends[1]) / 2e-4
    p = optimise(scores, levels, week, len(v) * v)
    influence = np.where(np.isnan(scores), p, scores) * v + moves
    n = exact.counts[0][:, None]
    centred = (influence - influence.mean(axis=1, keepdims=True)) * np.sqrt(n / (n - 1))
    assert exact.parts[0] == pytest.approx(centred, abs=2e-5)


def test_shocks_are_carried_to_all_scores() -> None:
    """`shocks` is Σ ω_t²·m·mᵀ, m being how all scores move if system t answers one week's questions
    a little better.
    """
    scores, levels, week = draw(3, systems=4, weeks=4, size=400)
    shocks = np.random.default_rng(4).normal(0, 0.05, (4, 4))
    logits = np.linspace(-1, 1, 4)[:, None] + (np.linspace(-1, 0.5, 4) + shocks)[:, week]
    missed = np.isnan(scores)
    base = fit(np.where(missed, np.nan, special.expit(logits)), levels, week)
    parts = np.zeros((4, 4, 4))
    for system in range(4):
        for one in range(4):
            raised = logits + 1e-3 * ((np.arange(4)[:, None] == system) & (week == one))
            moved = (
                fit(np.where(missed, np.nan, special.expit(raised)), levels, week).scores
                - base.scores
            ) / 1e-3
            parts[system] += np.outer(moved, moved)
    variances = np.linalg.lstsq(parts.reshape(4, 16).T, base.shocks.ravel(), rcond=None)[0]
    assert (variances > 0).all()
    assert base.shocks == pytest.approx(
        np.tensordot(variances, parts, 1), rel=0.05, abs=0.02 * base.shocks.max()
    )


def test_questions_of_a_cluster_count_as_one() -> None:
    scores, _, week = draw(3, gaps=False)
    levels = np.zeros(len(week), int)
    found = fit_scores(scores, levels, week * 0, np.ones(1), week)
    spread, gaps = score_spread(found), difference_spread(found)
    for place, row in enumerate(scores):
        error, freedom = clustered_error(row.tolist(), week.tolist()) or (math.nan, math.nan)
        assert math.sqrt(spread.variance[place]) == pytest.approx(error)
        assert spread.freedom[place] == pytest.approx(freedom)
        error, _ = clustered_error((scores[0] - row).tolist(), week.tolist()) or (0.0, 0.0)
        assert math.sqrt(gaps.variance[0, place]) == pytest.approx(error)
    alone = fit_scores(scores, levels, week, np.ones(1), np.arange(len(week)))
    plain = fit_scores(scores, levels, week, np.ones(1))
    assert [part.tolist() for part in alone.parts] == [part.tolist() for part in plain.parts]
    assert np.array_equal(alone.shocks, plain.shocks)


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
    assert math.isnan(found.shock_deviation)
    spread, differences = score_spread(found), difference_spread(found)
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
    adjusted = adjust_pairs(p)
    assert [adjusted[s, t] for s, t in pairs] == pytest.approx(holm(expected))
    assert np.array_equal(adjusted, adjusted.T)


@pytest.mark.parametrize("seed", range(3))
def test_blank_systems_move_nobody(seed: int) -> None:
    """Not by a bit: neither scores nor errors nor what is drawn."""
    scores, levels, week = draw(seed)
    blank = np.where(np.random.default_rng(seed).random((5, 5))[:, week] < 0.5, np.nan, 0.0)
    one, other = fit(scores, levels, week), fit(np.vstack([scores, blank]), levels, week)
    count = len(scores)
    assert np.array_equal(one.scores, other.scores[:count])
    assert not other.scores[count:].any()
    before, after = (
        difference_spread(one),
        [part[:count, :count] for part in difference_spread(other)],
    )
    for a, b in zip(before, after, strict=True):
        assert np.array_equal(a, b)
    chances = chances_of_best(other, 0, np.arange(count + 5))
    assert np.array_equal(chances[:count], chances_of_best(one, 0, np.arange(count)))
    assert not chances[count:].any()
    assert np.isnan(half_widths(score_spread(other))[count:]).all()


def test_a_season_without_any_point() -> None:
    found = fit_scores(np.zeros((2, 8)), np.zeros(8, int), np.arange(8) // 4, np.ones(1))
    differences = difference_spread(found)
    assert not found.scores.any()
    assert compare_pairs(found, differences).tolist() == [[1, 1], [1, 1]]
    assert chances_of_best(found, 0, np.arange(2)).tolist() == [0.5, 0.5]


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
    assert score_spread(other).variance == pytest.approx(score_spread(one).variance[rows])


def test_equal_systems_share_everything() -> None:
    scores, levels, week = draw(5, gaps=False)
    found = fit(np.vstack([scores[:1], scores[:1], scores[1:] / 50]), levels, week * 0)
    differences = difference_spread(found)
    p = adjust_pairs(compare_pairs(found, differences))
    assert (differences.variance[0, 1], p[0, 1]) == (0, 1)
    assert math.isnan(half_widths(differences)[0, 1])
    chances = chances_of_best(found, 0, np.arange(len(scores) + 1))
    assert chances[0] == chances[1] > 0.4
    assert rank_bounds(differences.value, p, 0.05)[:2] == [(1, 2), (1, 2)]


def test_where_nothing_varies_signs_decide() -> None:
    """1 against 0 on five questions: no variance, and p is 2 / 2⁵, whatever the weeks of others
    say.
    """
    scores = np.array([[1.0] * 5, [0.0] * 5])
    found = fit_scores(scores, np.zeros(5, int), np.zeros(5, int), np.array([1.0]))
    assert compare_pairs(found, difference_spread(found))[0, 1] == 2 / 2**5
    assert found.varies.tolist() == [False, False]
    rng = np.random.default_rng(0)
    noisy = np.vstack([scores, rng.integers(0, 2, (6, 5))])
    found = fit_scores(noisy, np.zeros(5, int), np.array([0, 0, 1, 1, 1]), np.array([1.0]))
    assert compare_pairs(found, difference_spread(found))[0, 1] == 2 / 2**5
    assert found.varies.any()
    assert not found.varies[:2].any()


def test_chances_of_best_are_those_of_two_normals() -> None:
    rng = np.random.default_rng(3)
    parts = [rng.normal(0, 0.003, (2, 80))]
    found = Fit(
        np.array([0.5, 0.48]),
        parts,
        np.array([[80, 80]]),
        True,
        np.ones(2, bool),
        np.eye(2) * 1e-4,
        9.0,
        0.1,
    )
    error = math.sqrt(difference_spread(found).variance[0, 1])
    chances = chances_of_best(found, 7, np.arange(2))
    assert chances[0] == pytest.approx(stats.norm.cdf(0.02 / error), abs=0.015)
    assert np.array_equal(chances_of_best(found, 7, np.arange(2)), chances)


def test_rank_bounds_by_hand() -> None:
    value = np.array([[0, 0.1, 0.3], [-0.1, 0, 0.2], [-0.3, -0.2, 0]])
    p = np.array([[1, 0.2, 0.01], [0.2, 1, 0.04], [0.01, 0.04, 1]])
    assert rank_bounds(value, p, 0.05) == [(1, 2), (1, 2), (3, 3)]


def test_freedom_is_that_of_the_fewer_questions() -> None:
    """One level, no shocks: n − 1 of a score, and of a difference that of the system that answered
    less.
    """
    scores, _, week = draw(4, gaps=False)
    scores[1, week > 0], scores[2, week > 1] = np.nan, np.nan  # 60, 12 and 24 questions
    found = fit_scores(scores, np.zeros(scores.shape[1], int), week, np.array([1.0]))
    found = found._replace(shocks=found.shocks * 0)
    assert score_spread(found).freedom[:3] == pytest.approx([59, 11, 23])
    freedom = difference_spread(found).freedom
    assert [freedom[0, 1], freedom[1, 2], freedom[2, 0], freedom[0, 3]] == pytest.approx(
        [11, 11, 23, 59]
    )


# --- Seasons ---


@pytest.mark.parametrize("shock", [0.0, 0.3, 0.6])
def test_the_size_of_shocks_is_measured(shock: float) -> None:
    rng = np.random.default_rng(2)
    found = [draw_season(rng, weeks=20, shock=shock) for _ in range(3)]
    sizes = [fit(one.scores, one.levels, one.weeks).shock_deviation for one in found]
    assert np.mean(sizes) == pytest.approx(
        0.75 * shock, abs=0.1
    )  # of averages over questions of unlike difficulty


def test_what_the_model_is_for() -> None:
    """20 seasons of the cases in docs/nightly.md, with bounds that a worse model breaks."""
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
    differences = difference_spread(found := fit(season.scores, season.levels, season.weeks))
    adjust_pairs(compare_pairs(found, differences))
    assert time.process_time() - begun < 20
