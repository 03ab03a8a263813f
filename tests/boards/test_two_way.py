"""Two-way fixed effects against dense least squares, against strata, by hand, and by what must not change them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from forecasteval.boards.two_way import (
    Fit,
    chances_of_best,
    compare_pairs,
    difference_spread,
    fit_scores,
    half_widths,
    rank_bounds,
    score_spread,
)
from forecasteval.common.statistics import (
    clustered_error,
    holm,
    stratified_error,
    stratified_interval,
    stratified_mean,
    t_tail,
)

Array = np.ndarray[Any, np.dtype[Any]]
WEIGHTS = np.array([0.1, 0.2, 0.3, 0.4])


def draw(seed: int, systems: int = 6, weeks: int = 5, size: int = 12, gaps: bool = True) -> tuple[Array, Array, Array]:
    """Scores with gaps of whole weeks (the first system answers all), levels, and the week of each question."""
    rng = np.random.default_rng(seed)
    week = np.repeat(np.arange(weeks), size)
    levels = rng.integers(0, 4, len(week))
    scores = np.clip(rng.normal(0.5, 0.2, (systems, 1)) + rng.normal(0, 0.3, (systems, len(week))), 0, 1)
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


def dummies(scores: Array, levels: Array) -> Array:
    """Pooled scores by least squares with a column for every system and for every question."""
    v = question_weights(levels)
    rows = [(s, q) for s in range(len(scores)) for q in range(scores.shape[1]) if not math.isnan(scores[s, q])]
    design = np.zeros((len(rows), sum(scores.shape)))
    for place, (s, q) in enumerate(rows):
        design[place, s] = design[place, len(scores) + q] = math.sqrt(v[q])
    target = [math.sqrt(v[q]) * scores[s, q] for s, q in rows]
    found = np.linalg.lstsq(design, np.array(target), rcond=None)[0]
    return found[: len(scores)] + v @ found[len(scores) :]  # type: ignore[no-any-return]


def test_questions_of_a_cluster_count_as_one() -> None:
    scores, _, week = draw(3, gaps=False)
    levels = np.zeros(len(week), int)
    fit = fit_scores(scores, levels, np.ones(1), week)
    spread = score_spread(fit)
    gaps = difference_spread(fit)
    for place, row in enumerate(scores):
        error, freedom = clustered_error(row.tolist(), week.tolist()) or (math.nan, math.nan)
        assert math.sqrt(spread.variance[place]) == pytest.approx(error)
        assert spread.freedom[place] == pytest.approx(freedom)
        error, _ = clustered_error((scores[0] - row).tolist(), week.tolist()) or (0.0, 0.0)
        assert math.sqrt(gaps.variance[0, place]) == pytest.approx(error)
    alone = fit_scores(scores, levels, np.ones(1), np.arange(len(week)))
    plain = fit_scores(scores, levels, np.ones(1))
    assert [part.tolist() for part in alone.parts] == [part.tolist() for part in plain.parts]


@pytest.mark.parametrize("seed", range(6))
def test_scores_are_those_of_dense_least_squares(seed: int) -> None:
    scores, levels, _ = draw(seed)
    assert fit_scores(scores, levels, WEIGHTS).scores == pytest.approx(dummies(scores, levels), abs=1e-10)


def strata(scores: Array, levels: Array) -> list[tuple[float, list[float]]]:
    return [(weight, scores[levels == level].tolist()) for level, weight in enumerate(WEIGHTS)]


@pytest.mark.parametrize("seed", range(3))
def test_without_gaps_all_is_as_in_one_file(seed: int) -> None:
    """Scores, intervals, differences and their errors are those of the strata of all questions."""
    scores, levels, _ = draw(seed, gaps=False)
    fit = fit_scores(scores, levels, WEIGHTS)
    spread, differences = score_spread(fit), difference_spread(fit)
    for s, row in enumerate(scores):
        own = strata(row, levels)
        assert fit.scores[s] == pytest.approx(stratified_mean(own), abs=1e-12)
        assert (math.sqrt(spread.variance[s]), spread.freedom[s]) == pytest.approx(stratified_error(own))
        low, high = stratified_interval(own, (-9, 9)) or (0, 0)
        assert half_widths(spread)[s] == pytest.approx((high - low) / 2)
    pairs = [(s, t) for s in range(len(scores)) for t in range(s)]
    expected = []
    for s, t in pairs:
        error, freedom = stratified_error(strata(scores[s] - scores[t], levels)) or (0, 0)
        assert (math.sqrt(differences.variance[s, t]), differences.freedom[s, t]) == pytest.approx((error, freedom))
        expected.append(t_tail((fit.scores[s] - fit.scores[t]) / error, freedom))
    p = compare_pairs(fit, differences)
    assert [p[s, t] for s, t in pairs] == pytest.approx(holm(expected))
    assert np.array_equal(p, p.T)


def test_by_hand() -> None:
    """B leads A by 0.5 in the first week, C leads B by 0.25 in the second, which is 0.5 harder for B."""
    nan = math.nan
    scores = np.array([[0.0, 0.5, nan, nan], [0.5, 1.0, 0.0, 0.5], [nan, nan, 0.25, 0.75]])
    fit = fit_scores(scores, np.zeros(4, int), np.array([1.0]))
    assert fit.scores == pytest.approx([0.0, 0.5, 0.75])
    spread = score_spread(fit)
    # No residual is left, so that only the questions' difficulty counts: 0.25, 0.75, -0.25 and 0.25 about their mean.
    assert spread.variance == pytest.approx([(0.0**2 + 0.5**2 + 0.5**2 + 0.0**2) / 4**2 * 4 / 3] * 3)
    assert spread.freedom == pytest.approx([1, 3, 1])
    assert not difference_spread(fit).variance.any()


@pytest.mark.parametrize("seed", range(4))
def test_a_harder_week_changes_no_difference(seed: int) -> None:
    scores, levels, week = draw(seed)
    one, other = (fit_scores(scores + shift[week], levels, WEIGHTS) for shift in (np.zeros(5), np.linspace(-2, 1, 5)))
    before, after = difference_spread(one), difference_spread(other)
    assert after.value == pytest.approx(before.value, abs=1e-10)
    assert after.variance == pytest.approx(before.variance, rel=1e-6)
    assert compare_pairs(other, after) == pytest.approx(compare_pairs(one, before), rel=1e-6)


def test_order_of_systems_and_questions_changes_nothing() -> None:
    scores, levels, _ = draw(9)
    rng = np.random.default_rng(1)
    rows, columns = rng.permutation(len(scores)), rng.permutation(len(levels))
    one, other = fit_scores(scores, levels, WEIGHTS), fit_scores(scores[rows][:, columns], levels[columns], WEIGHTS)
    assert other.scores == pytest.approx(one.scores[rows], abs=1e-12)
    assert score_spread(other).variance == pytest.approx(score_spread(one).variance[rows])


def test_a_question_that_one_system_answered_moves_no_difference() -> None:
    scores, levels, _ = draw(2)
    more = np.full((len(scores), 1), np.nan)
    more[3] = 1.0
    one = fit_scores(scores, levels, WEIGHTS)
    # weights of its level aside: they are divided among one more
    other = fit_scores(np.hstack([scores, more]), np.append(levels, 4), np.append(WEIGHTS, 1e-9))
    assert difference_spread(other).value == pytest.approx(difference_spread(one).value, abs=1e-6)


def test_equal_systems_share_everything() -> None:
    scores, levels, _ = draw(5, gaps=False)
    fit = fit_scores(np.vstack([scores[:1], scores[:1], scores[1:] - 2]), levels, WEIGHTS)
    differences = difference_spread(fit)
    p = compare_pairs(fit, differences)
    assert (differences.variance[0, 1], p[0, 1]) == (0, 1)
    assert math.isnan(half_widths(differences)[0, 1])
    assert chances_of_best(fit, 0)[:2] == pytest.approx([0.5, 0.5])
    assert rank_bounds(differences, p, 0.05)[:2] == [(1, 2), (1, 2)]


def test_where_nothing_varies_signs_decide() -> None:
    """1 against 0 on five questions: no variance, and p is 2 / 2⁵."""
    fit = fit_scores(np.array([[1.0] * 5, [0.0] * 5]), np.zeros(5, int), np.array([1.0]))
    assert compare_pairs(fit, difference_spread(fit))[0, 1] == 2 / 2**5
    assert np.isnan(half_widths(score_spread(fit))).all()


def test_chances_of_best_are_those_of_two_normals() -> None:
    rng = np.random.default_rng(3)
    fit = Fit(np.array([0.5, 0.48]), [rng.normal(0, 0.003, (2, 80))], np.array([[80, 80]]))
    error = math.sqrt(difference_spread(fit).variance[0, 1])
    assert chances_of_best(fit, 7)[0] == pytest.approx(stats.norm.cdf(0.02 / error), abs=0.015)
    assert np.array_equal(chances_of_best(fit, 7), chances_of_best(fit, 7))


def test_rank_bounds_by_hand() -> None:
    value = np.array([[0, 0.1, 0.3], [-0.1, 0, 0.2], [-0.3, -0.2, 0]])
    p = np.array([[1, 0.2, 0.01], [0.2, 1, 0.04], [0.01, 0.04, 1]])
    spread = difference_spread(Fit(np.array([0.3, 0.2, 0.0]), [np.eye(3)], np.array([[3, 3, 3]])))
    assert spread.value == pytest.approx(value)
    assert rank_bounds(spread, p, 0.05) == [(1, 2), (1, 2), (3, 3)]


def test_freedom_is_that_of_the_fewer_questions() -> None:
    """One level: n − 1 of a score, and of a difference that of the system that answered less."""
    scores, _, week = draw(4, gaps=False)
    scores[1, week > 0], scores[2, week > 1] = np.nan, np.nan  # 60, 12 and 24 questions
    fit = fit_scores(scores, np.zeros(scores.shape[1], int), np.array([1.0]))
    assert score_spread(fit).freedom[:3] == pytest.approx([59, 11, 23])
    freedom = difference_spread(fit).freedom
    assert [freedom[0, 1], freedom[1, 2], freedom[2, 0], freedom[0, 3]] == pytest.approx([11, 11, 23, 59])


def test_errors_are_the_sandwich_of_the_dummies() -> None:
    """With one level and questions as clusters: built from the dense design, as textbooks have it."""
    scores, _, week = draw(4, gaps=False)
    scores[np.arange(6)[:, None] % 5 == week] = np.nan  # everybody skips one week
    count, asked = len(scores), scores.shape[1]
    fit = fit_scores(scores, np.zeros(asked, int), np.array([1.0]))
    rows, columns = np.nonzero(~np.isnan(scores))
    design = np.zeros((len(rows), count + asked))
    design[np.arange(len(rows)), rows] = design[np.arange(len(rows)), count + columns] = 1
    hat = np.linalg.pinv(design)
    found = hat @ scores[rows, columns]
    residuals = scores[rows, columns] - design @ found
    parts = np.stack([hat[:, columns == q] @ residuals[columns == q] for q in range(asked)], axis=1)
    difficulty = found[count:] / asked
    n = fit.counts[0][0]

    own, drawn = np.sqrt(n / (n - 1)) * parts, np.sqrt(asked / (asked - 1)) * (difficulty - difficulty.mean())
    total = drawn + own[:count] + own[count:].mean(axis=0)  # of the score: its effect, and the mean difficulty
    assert score_spread(fit).variance == pytest.approx((total**2).sum(axis=1), rel=1e-8)
    between = own[:count, None] - own[:count]
    assert difference_spread(fit).variance == pytest.approx((between**2).sum(axis=2), rel=1e-8)
