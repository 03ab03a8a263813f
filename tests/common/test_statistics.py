"""Student's t, stratified means and clusters against scipy, numpy and hand computation."""

from __future__ import annotations

import math
import random
from typing import Final

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from forecasteval.common.statistics import (
    cluster_values,
    clustered_error,
    clustered_interval,
    holm,
    mean,
    rank_ranges,
    shared_ranks,
    stratified_error,
    stratified_interval,
    stratified_mean,
    t_quantile,
    t_tail,
    variance,
)
from oracles import naive_holm

DFS: Final = (0.5, 0.7, 1.0, 1.5, 2.0, 3.3, 5.0, 10.0, 29.0, 100.0, 1e3, 1e4, 12345.6, 1e5, 1e6)
Strata = list[tuple[float, list[float]]]


# --- Student's t ---


def test_t_quantile() -> None:
    ps = (0.501, 0.6, 0.75, 0.9, 0.95, 0.975, 0.995, 0.9999, 1 - 1e-9)
    quantiles = [[t_quantile(p, df) for p in ps] for df in DFS]
    np.testing.assert_allclose(quantiles, stats.t.ppf(ps, np.array(DFS)[:, None]), rtol=1e-7)
    np.testing.assert_allclose([t_quantile(0.5, df) for df in DFS], 0, atol=1e-9)


def test_t_tail() -> None:
    ts = (0.0, 1e-12, 1e-6, 0.01, 0.5, 1.0, 1.7, 1.96, 2.5, 6.0, 50.0, 1e6)
    tails = [[t_tail(t, df) for t in ts] for df in DFS]
    np.testing.assert_allclose(
        tails, 2 * stats.t.sf(ts, np.array(DFS)[:, None]), rtol=1e-7, atol=1e-300
    )


@given(st.floats(0.5, 1e6), st.floats(0, 30))
def test_t_tail_anywhere(df: float, t: float) -> None:
    assert t_tail(t, df) == pytest.approx(2 * stats.t.sf(t, df), rel=1e-7)


# --- Stratified mean and interval ---


def interval_by_numpy(strata: Strata) -> tuple[float, float]:
    """Welch and Satterthwaite from the textbook, with numpy and scipy."""
    used = [
        (weight, np.asarray(values, dtype=float)) for weight, values in strata if weight and values
    ]
    weights = np.array([weight for weight, _ in used]) / sum(weight for weight, _ in used)
    sizes = np.array([len(values) for _, values in used])
    parts = weights**2 * np.array([values.var(ddof=1) for _, values in used]) / sizes
    df = parts.sum() ** 2 / (parts**2 / (sizes - 1)).sum()
    low, high = stats.t.interval(
        0.95, df, weights @ [values.mean() for _, values in used], np.sqrt(parts.sum())
    )
    return max(0.0, float(low)), min(1.0, float(high))


unit = st.floats(0, 1, width=16)


strata_lists = st.lists(
    st.tuples(st.sampled_from([0.1, 0.2, 0.3, 0.4]), st.lists(unit, min_size=2)),
    min_size=1,
    max_size=5,
)


@given(strata_lists)
def test_interval_against_numpy(strata: Strata) -> None:
    assume(any(np.var(values) > 1e-12 for _, values in strata))
    assert stratified_interval(strata) == pytest.approx(
        interval_by_numpy(strata), rel=1e-7, abs=1e-9
    )


def test_interval_of_a_known_sample() -> None:
    # mean 0.5, s² = 1/3, n = 4, t(0.975, 3) = 3.18245 (printed tables): 0.5 ± 3.18245 * sqrt(1/12),
    # clipped
    assert stratified_interval([(0.4, [0.0, 0.0, 1.0, 1.0])]) == (0.0, 1.0)
    wide = stratified_interval([(0.4, [0.0, 0.0, 1.0, 1.0])], bounds=(-9, 9))
    assert wide == pytest.approx((0.5 - 0.91869, 0.5 + 0.91869), abs=1e-5)


@pytest.mark.parametrize(
    "strata",
    [
        pytest.param([], id="no strata"),
        pytest.param([(0.1, []), (0.2, [])], id="no values"),
        pytest.param([(1.0, [0.5])], id="one value"),
        pytest.param([(0.1, [0.0, 1.0]), (0.4, [1.0])], id="one value in one stratum"),
        pytest.param([(1.0, [1.0, 1.0, 1.0])], id="no variance"),
        pytest.param([(0.1, [0.0] * 9), (0.4, [1.0] * 9)], id="no variance in any"),
        pytest.param([(0.1, [0.1] * 9), (0.3, [0.7] * 7)], id="no variance but rounding"),
        pytest.param([(0.0, [0.0, 1.0])], id="no weight"),
    ],
)
def test_no_interval(strata: Strata) -> None:
    assert stratified_interval(strata) is None


@pytest.mark.parametrize("ignored", [(0.3, []), (0.0, [0.5]), (0.0, [0.0, 1.0])])
def test_stratum_without_values_or_weight_counts_nothing(
    ignored: tuple[float, list[float]],
) -> None:
    strata = [(0.1, [0.2, 0.5, 0.9]), (0.4, [0.0, 1.0, 1.0])]
    assert stratified_interval([*strata, ignored]) == stratified_interval(strata)
    assert stratified_mean([*strata, ignored]) == stratified_mean(strata)


def test_a_stratum_without_variance_still_weighs() -> None:
    strata = [(0.1, [1.0, 1.0]), (0.4, [0.4, 0.6, 0.5])]
    assert stratified_interval(strata) == pytest.approx(interval_by_numpy(strata), rel=1e-9)


@given(strata_lists, st.randoms(use_true_random=False))
def test_order_changes_no_bit(strata: Strata, rng: random.Random) -> None:
    shuffled = [
        (weight, rng.sample(values, len(values)))
        for weight, values in rng.sample(strata, len(strata))
    ]
    assert stratified_interval(shuffled) == stratified_interval(strata)
    assert stratified_mean(shuffled) == stratified_mean(strata)


@pytest.mark.parametrize(
    ("strata", "expected"),
    [
        ([(0.1, [1.0]), (0.2, []), (0.4, [0.0, 0.5])], (0.1 * 1 + 0.4 * 0.25) / 0.5),
        ([(0.3, [0.25, 0.75])], 0.5),
        ([(0.1, [1.0]), (0.2, [0.0]), (0.3, [1.0]), (0.4, [0.5])], 0.6),
    ],
)
def test_stratified_mean(strata: Strata, expected: float) -> None:
    assert stratified_mean(strata) == pytest.approx(expected, rel=1e-15)


def test_means_of_nothing_are_nan() -> None:
    assert math.isnan(mean([]))
    assert math.isnan(stratified_mean([(0.1, []), (0.2, [])]))


@given(st.lists(unit, min_size=2))
def test_mean_and_variance_against_numpy(values: list[float]) -> None:
    assert mean(values) == pytest.approx(np.mean(values), rel=1e-12)
    assert variance(values) == pytest.approx(np.var(values, ddof=1), rel=1e-9, abs=1e-15)


def test_stratified_error_by_hand() -> None:
    # Values 0, 1: s² = 1/2; values 0, 0, 3: s² = 3. Weights 1/4 and 3/4: V = 1/16·1/4 + 9/16·1.
    error = stratified_error([(0.1, [0.0, 1.0]), (0.3, [0.0, 0.0, 3.0])])
    assert error is not None
    assert error[0] == pytest.approx(math.sqrt(1 / 64 + 9 / 16))
    assert error[1] == pytest.approx(
        (1 / 64 + 9 / 16) ** 2 / ((1 / 64) ** 2 / 1 + (9 / 16) ** 2 / 2)
    )


@given(
    st.lists(st.floats(-1, 1), min_size=3, max_size=30).filter(lambda values: np.std(values) > 1e-6)
)
def test_one_stratum_is_the_paired_t_test(values: list[float]) -> None:
    error = stratified_error([(0.4, values)])
    assert error is not None
    oracle = stats.ttest_1samp(values, 0.0)
    assert error == pytest.approx((stats.sem(values), len(values) - 1))
    assert stratified_interval([(0.4, values)], (-9, 9)) == pytest.approx(
        tuple(oracle.confidence_interval()), rel=1e-6
    )


@pytest.mark.parametrize(("shape", "df"), [("equal", None), ("welch", None)])
def test_two_strata_are_welch(shape: str, df: None) -> None:
    """Two strata of equal weight, one with its sign turned: Welch's test of two means, halved."""
    rng = np.random.default_rng(3)
    x, y = rng.normal(0, 1, 9), rng.normal(0.5, 2 if shape == "welch" else 1, 14)
    error = stratified_error([(0.5, x.tolist()), (0.5, (-y).tolist())])
    oracle = stats.ttest_ind(x, y, equal_var=False)
    assert error is not None
    assert error[1] == pytest.approx(oracle.df)
    assert stratified_mean([(0.5, x.tolist()), (0.5, (-y).tolist())]) / error[0] == pytest.approx(
        oracle.statistic
    )


@pytest.mark.parametrize(
    "strata", [[], [(1.0, [0.5])], [(1.0, [1.0, 0.0]), (1.0, [0.3])], [(1.0, [0.3, 0.3])]]
)
def test_nothing_measures_the_error(strata: list[tuple[float, list[float]]]) -> None:
    assert stratified_error(strata) is None


# --- Clusters ---


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 4)), min_size=1, max_size=30))
def test_clustered_errors_against_the_sandwich(rows: list[tuple[float, int]]) -> None:
    """The cluster-robust variance of a regression on a constant, with matrices."""
    values, clusters = np.array([v for v, _ in rows]), np.array([c for _, c in rows])
    error = clustered_error([v for v, _ in rows], [c for _, c in rows])
    groups = sorted(set(clusters))
    if len(groups) < 2:
        assert error is None
        return
    x, residuals = np.ones((len(values), 1)), values - values.mean()
    bread = np.linalg.inv(x.T @ x)
    scores = [x[clusters == g].T @ residuals[clusters == g] for g in groups]
    meat = sum(np.outer(s, s) for s in scores) * len(groups) / (len(groups) - 1)
    expected = (bread @ meat @ bread)[0, 0]
    if error is None:
        assert expected < 1e-25
    else:
        assert error == (pytest.approx(math.sqrt(expected), rel=1e-6), len(groups) - 1)


def test_a_value_per_cluster_has_the_mean_of_all() -> None:
    assert cluster_values([1.0, 0.0, 0.5, 0.5], "abba") == [0.75, 0.25]
    assert cluster_values([], []) == []


def test_clusters_of_one_are_the_plain_error() -> None:
    values = [0.1, 0.5, 0.4, 0.9]
    assert clustered_error(values, range(4)) == (pytest.approx(stats.sem(values)), 3.0)
    low, high = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    assert clustered_interval(values, range(4), (-9.0, 9.0)) == (
        pytest.approx(low),
        pytest.approx(high),
    )
    assert clustered_interval(values, range(4)) == (0.0, 1.0)
    assert clustered_interval(values, "aaaa") is None


# --- Ranks ---


@pytest.mark.parametrize(
    ("p_values", "adjusted"),
    [
        ([], []),
        ([0.03], [0.03]),
        ([0.01, 0.02, 0.03, 0.04], [0.04, 0.06, 0.06, 0.06]),
        ([0.04, 0.01, 0.03, 0.005], [0.06, 0.03, 0.06, 0.02]),
        ([0.9, 0.8], [1.0, 1.0]),
        ([0.02, 0.02], [0.04, 0.04]),
    ],
)
def test_holm_by_hand(p_values: list[float], adjusted: list[float]) -> None:
    assert holm(p_values) == pytest.approx(adjusted, abs=1e-15)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_against_its_definition(p_values: list[float]) -> None:
    assert holm(p_values).tolist() == naive_holm(p_values)
    assert all(adjusted >= p for adjusted, p in zip(holm(p_values), p_values, strict=True))


def test_rank_ranges_by_hand() -> None:
    """Holm's adjustment of .01, .02 and .2 over three pairs: .03, .04 and .2."""
    better = np.array([[0, 0.1, 0.3], [-0.1, 0, 0.2], [-0.3, -0.2, 0]])
    p = np.array([[1, 0.2, 0.01], [0.2, 1, 0.02], [0.01, 0.02, 1]])
    assert rank_ranges(better, p) == [(1, 2), (1, 2), (3, 3)]
    assert rank_ranges(better, 1.5 * p) == [(1, 2), (1, 3), (2, 3)]
    assert rank_ranges(better, np.full((3, 3), np.nan)) == [(1, 3)] * 3
    assert rank_ranges(np.zeros((1, 1)), np.ones((1, 1))) == [(1, 1)]
    assert rank_ranges(np.zeros((0, 0)), np.zeros((0, 0))) == []


@pytest.mark.parametrize(
    ("values", "ranks"),
    [
        ([], []),
        ([1.0, 1 - 9e-10, 0.5], [1, 1, 3]),
        ([1.0, 1 - 2e-9, 0.5], [1, 2, 3]),
        # Lower is better; relative above 1.
        ([-1e6, -1e6 + 1e-4, 0.0], [1, 1, 3]),
        ([0.25, 0.5, 0.5], [1, 2, 2]),
        # Each is equal to the one before it.
        ([0.5, 0.5 - 8e-10, 0.5 - 16e-10], [1, 1, 1]),
    ],
)
def test_equal_values_share_a_rank(values: list[float], ranks: list[int]) -> None:
    assert shared_ranks(values) == ranks
