"""Paired tests against scipy, brute force and hand computation."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Final

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from forecasteval.ranking import pairs
from forecasteval.ranking.pairs import EXACT_FLIPS, FLIPS
from forecasteval.ranking.significance import detectable_difference, min_detectable
from oracles import brute_force

Strata = list[tuple[float, list[float]]]
# Differences without rounding noise: sums of a few of them are exact, so that brute force counts
# the same ties.
EXACT: Final = st.integers(-8, 8).map(lambda value: value / 16)
unit = st.floats(0, 1, width=16)


def sign_flip_test(rows: list[list[float]], **options: int) -> list[float]:
    """Of each row of differences by itself: a system, and one without points."""
    both = [np.array([row, np.zeros(len(row))]) for row in rows]
    return [float(pairs.sign_flip_test(each, **options)[0, 1]) for each in both]


def skewness_test(strata: Strata) -> float | None:
    both = [(weight, np.array([row, np.zeros(len(row))])) for weight, row in strata]
    p = float(pairs.skewness_test(both)[0, 1])
    return None if math.isnan(p) else p


def paired_test(strata: list[Strata], rows: list[list[float]]) -> list[float]:
    return [
        float(
            pairs.paired_test(
                [(weight, np.array([values, np.zeros(len(values))])) for weight, values in one],
                np.array([row, np.zeros(len(row))]),
            )[0, 1]
        )
        for one, row in zip(strata, rows, strict=True)
    ]


strata_lists = st.lists(
    st.tuples(st.sampled_from([0.1, 0.2, 0.3, 0.4]), st.lists(unit, min_size=2)),
    min_size=1,
    max_size=5,
)


# --- Sign flips ---


@given(st.lists(EXACT, max_size=9))
def test_sign_flips_are_exact_where_they_are_few(parts: list[float]) -> None:
    assert sign_flip_test([parts]) == [brute_force(parts)]


@pytest.mark.parametrize("seed", range(4))
def test_sign_flips_exact_against_scipy(seed: int) -> None:
    parts = np.random.default_rng(seed).normal(0.2, 0.5, EXACT_FLIPS - 1)
    oracle = stats.permutation_test(
        (parts, np.zeros_like(parts)), lambda x, y, axis: np.sum(x - y, axis=axis),
        permutation_type="samples",
        n_resamples=np.inf, vectorized=True,
    )  # fmt: skip
    assert sign_flip_test([parts.tolist()])[0] == pytest.approx(oracle.pvalue, abs=1e-12)


@pytest.mark.parametrize(("seed", "shift"), [(0, 0.0), (1, 0.1), (2, 0.2), (3, 0.3)])
def test_random_sign_flips_against_scipy(seed: int, shift: float) -> None:
    parts = np.random.default_rng(seed).normal(shift, 0.5, 40)
    oracle = stats.permutation_test(
        (parts, np.zeros_like(parts)), lambda x, y, axis: np.sum(x - y, axis=axis),
        permutation_type="samples",
        n_resamples=20_000, vectorized=True, batch=2000, random_state=seed,
    )  # fmt: skip
    p = sign_flip_test([parts.tolist()])[0]
    error = math.sqrt(p * (1 - p) * (1 / FLIPS + 1 / 20_000))
    assert abs(p - oracle.pvalue) < 5 * error + 1e-3


def test_p_is_never_zero_and_a_pattern_of_one_sign_is_the_rarest() -> None:
    assert sign_flip_test([[1.0] * 60]) == [1 / (1 + FLIPS)]
    assert sign_flip_test([[1.0] * EXACT_FLIPS]) == [2 / 2**EXACT_FLIPS]
    assert (
        1 / (1 + FLIPS) <= sign_flip_test([[1.0] * (EXACT_FLIPS + 1)])[0] < 5 / FLIPS
    )  # all signs: 2 / 2^14


@pytest.mark.parametrize("parts", [[], [0.0], [0.0] * 100])
def test_no_difference_has_p_one(parts: list[float]) -> None:
    assert sign_flip_test([parts]) == [1.0]


def test_a_sum_of_zero_has_p_one() -> None:
    assert sign_flip_test([[0.1, 0.2, -0.3], [0.3, -0.1, -0.2]]) == [1.0, 1.0]
    assert sign_flip_test([[0.1, -0.1] * 30]) == [1.0]


def test_rounding_hides_no_tie() -> None:
    # 0.1 + 0.2 + 0.3 depends on the order in the 17th digit; all patterns but the two of one sign
    # are smaller
    assert sign_flip_test([[0.1, 0.2, 0.3]]) == [0.25]
    assert sign_flip_test([[0.1, 0.7, -0.8, 0.3, 0.3]]) == [brute_force([1.0, 7.0, -8.0, 3.0, 3.0])]


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=40))
@settings(max_examples=40)
def test_the_other_direction_has_the_same_p(parts: list[float]) -> None:
    assert sign_flip_test([[-part for part in parts]]) == sign_flip_test([parts])


@given(st.lists(st.lists(st.floats(-1, 1), min_size=20, max_size=20), min_size=2, max_size=5))
@settings(max_examples=30)
def test_other_pairs_change_no_p(rows: list[list[float]]) -> None:
    assert sign_flip_test(rows) == [sign_flip_test([row])[0] for row in rows]


def test_blocks_change_no_p(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(5).normal(0.1, 1, (3, 70)).tolist()
    whole = sign_flip_test(rows)
    monkeypatch.setattr("forecasteval.ranking.pairs._BLOCK", 70 * 33)
    assert sign_flip_test(rows) == whole


def test_pairs_tested_together_have_the_p_of_each_by_itself() -> None:
    """Of systems, of which two are equal and two differ by a few questions."""
    rng = np.random.default_rng(8)
    parts = rng.choice([0.0, 0.25, 1.0], (6, 40)) / 40
    parts[1] = parts[0]
    parts[3, 5:] = parts[2, 5:]
    strata = [(1.0, 40 * parts)]
    together = pairs.paired_test(strata, parts)
    for a, b in np.argwhere(np.ones((6, 6))):
        alone = pairs.paired_test([(1.0, 40 * parts[[a, b]])], parts[[a, b]])
        assert together[a, b] == pytest.approx(alone[0, 1], rel=1e-9)
    assert together[0, 1] == 1.0


def test_beyond_the_flips_the_correction_decides() -> None:
    """10,000 flips cannot say less than 1 / 10,001, of which Holm over 630 pairs makes 0.06."""
    clear = np.random.default_rng(10).choice([1.0, 0.0], 200, p=[0.65, 0.35]).tolist()
    assert sign_flip_test([clear]) == [1 / (1 + FLIPS)]
    assert paired_test([[(1.0, clear)]], [clear])[0] < 1e-20
    assert paired_test([[(1.0, [1.0] * 16 + [0.99])]], [[1.0] * 16 + [0.99]])[0] == 2 / 2**17


def test_seed_and_flips_count() -> None:
    row = np.random.default_rng(6).normal(0.2, 1, 50).tolist()
    assert sign_flip_test([row], seed=1) != sign_flip_test([row], seed=2)
    assert sign_flip_test([row], flips=99)[0] * 100 == pytest.approx(
        round(sign_flip_test([row], flips=99)[0] * 100)
    )


def test_the_test_keeps_its_level() -> None:
    """Equal systems, 11/10/9/23 questions: about 5 % of p-values are below 0.05."""
    rng = np.random.default_rng(7)
    weights = np.repeat([0.1 / 11, 0.2 / 10, 0.3 / 9, 0.4 / 23], [11, 10, 9, 23])
    p_values = sign_flip_test((rng.normal(0, 1, (400, 53)) * weights).tolist(), flips=1000)
    assert (
        8 <= sum(p < 0.05 for p in p_values) <= 36
    )  # binomial(400, 0.05): each side less than 1 in 2,000
    assert 0.45 < float(np.mean(p_values)) < 0.55


# --- Skewness ---


@given(
    st.lists(st.floats(-1, 1), min_size=4, max_size=30).filter(lambda values: np.std(values) > 1e-3)
)
def test_skewness_of_one_stratum(values: list[float]) -> None:
    """Hall's transformation of scipy's t and skewness, where they do not pull too far apart."""
    oracle = stats.ttest_1samp(values, 0.0)
    n, t = len(values), float(oracle.statistic)
    g = stats.skew(values) * math.sqrt((n - 1) / n) ** 3 / math.sqrt(n)
    assume(g * t > -2)
    transformed = t + g * t**2 / 3 + g**2 * t**3 / 27 + g / 6
    assert skewness_test([(0.3, values)]) == pytest.approx(
        2 * stats.t.sf(abs(transformed), n - 1), rel=1e-6, abs=1e-12
    )


def test_skewness_of_strata_by_hand() -> None:
    """Two strata as their linear combination: third central moments 0 and 2, over n² with w³."""
    strata = [(0.1, [0.0, 1.0]), (0.3, [0.0, 0.0, 3.0])]
    variance_ = 1 / 64 + 9 / 16
    t = (0.25 * 0.5 + 0.75 * 1.0) / math.sqrt(variance_)
    g = 0.75**3 * 2 / 9 / variance_**1.5
    transformed = t + g * t**2 / 3 + g**2 * t**3 / 27 + g / 6
    df = variance_**2 / ((1 / 64) ** 2 + (9 / 16) ** 2 / 2)
    assert skewness_test(strata) == pytest.approx(2 * stats.t.sf(transformed, df))


@given(strata_lists)
def test_skewness_of_the_other_direction(strata: Strata) -> None:
    turned = [(weight, [-value for value in values]) for weight, values in strata]
    assert (skewness_test(turned) or 0.0) == pytest.approx(
        skewness_test(strata) or 0.0, rel=1e-9, abs=1e-12
    )


def test_more_wins_are_no_weaker_case_but_for_a_little() -> None:
    """Ten questions, wins and ties; without the bound nine wins would have p = 0.007, and seven of
    eight 0.15.
    """
    wins = [[1.0] * count + [0.0] * (10 - count) for count in range(3, 11)]
    p_values = paired_test([[(1.0, values)] for values in wins], wins)
    assert all(later < p + 0.005 for p, later in pairwise(p_values))
    assert paired_test([[(1.0, [1.0] * 7 + [0.0])]], [[1.0] * 7 + [0.0]])[0] == 2 / 2**7


@pytest.mark.parametrize("values", [[0.5], [0.25] * 20])
def test_where_nothing_measures_skewness_the_flips_decide(values: list[float]) -> None:
    assert skewness_test([(1.0, values)]) is None
    assert paired_test([[(1.0, values)]], [values]) == sign_flip_test([values])


def test_paired_test_keeps_its_level_where_flips_do_not() -> None:
    """Small gains on 95 % of the questions, and losses that outweigh them on 5 %."""
    rng = np.random.default_rng(9)
    sizes, weights = (11, 10, 9, 23), (0.1, 0.2, 0.3, 0.4)
    many = [
        [np.where(rng.random(n) < 0.95, 0.05, -0.95).tolist() for n in sizes] for _ in range(400)
    ]
    strata = [list(zip(weights, one, strict=True)) for one in many]
    parts = [[w / len(values) * value for w, values in one for value in values] for one in strata]
    alone = sum(p < 0.05 for p in sign_flip_test(parts)) / 400
    both = sum(p < 0.05 for p in paired_test(strata, parts)) / 400
    assert alone > 0.15
    assert both < 0.1


@pytest.mark.parametrize("df", [5.0, 12.0, 30.0, 200.0])
@pytest.mark.parametrize("power", [0.8, 0.9])
def test_detectable_difference_has_that_power(df: float, power: float) -> None:
    difference = detectable_difference((0.07, df), power)
    critical = stats.t.ppf(0.975, df)
    reached = stats.nct.sf(critical, df, difference / 0.07) + stats.nct.cdf(
        -critical, df, difference / 0.07
    )
    assert reached == pytest.approx(power, abs=0.03 if df < 10 else 0.015)


@pytest.mark.parametrize(("questions", "difference"), [(8, 0.93), (12, 0.63), (20, 0.375)])
def test_what_few_questions_show_is_found_by_the_test(questions: int, difference: float) -> None:
    """Systems that differ by 1 or not at all: of a t test alone, 0.57 would be found on 8."""
    rng = np.random.default_rng(12)
    rows = (rng.random((300, questions)) < difference).astype(float)
    least = [min_detectable([(1.0, row.tolist())]) for row in rows]
    known = [value for value in least if value < math.inf]
    assert float(np.mean(known)) == pytest.approx(difference, abs=0.03)
    both = np.stack([rows, np.zeros_like(rows)], axis=1)
    p = [pairs.paired_test([(1.0, each)], each / questions)[0, 1] for each in both]
    assert 0.75 < float(np.mean(np.array(p) < 0.05)) < 1


def test_five_questions_show_nothing() -> None:
    assert min_detectable([(1.0, [0.1, 0.2, 0.1, 0.1, 0.15])]) == math.inf
    assert min_detectable([(1.0, [0.1, 0.2, 0.1, 0.1, 0.15, 0.1])]) < 0.2
    assert min_detectable([(1.0, [0.5] * 9)]) == math.inf  # nothing measures an error


def test_detectable_difference_by_simulation() -> None:
    rng = np.random.default_rng(11)
    difference = detectable_difference((1 / math.sqrt(40), 39.0))
    found = stats.ttest_1samp(rng.normal(difference, 1, (4000, 40)), 0, axis=1).pvalue < 0.05
    assert float(np.mean(found)) == pytest.approx(0.8, abs=0.03)
