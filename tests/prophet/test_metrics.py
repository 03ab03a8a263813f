"""Shared ranks and rank agreement against scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from forecasteval.prophet.metrics import rank_agreement, rank_values


def columns(size: int) -> st.SearchStrategy[list[list[int]]]:
    return st.lists(
        st.lists(st.integers(0, 5), min_size=size, max_size=size), min_size=2, max_size=4
    )


@given(st.integers(2, 12).flatmap(columns))
def test_rank_agreement_against_scipy(table: list[list[int]]) -> None:
    rho, tau = rank_agreement(table)
    for a, one in enumerate(table):
        for b, other in enumerate(table):
            if len(set(one)) > 1 and len(set(other)) > 1:
                assert rho[a, b] == pytest.approx(stats.spearmanr(one, other).statistic, abs=1e-12)
                assert tau[a, b] == pytest.approx(stats.kendalltau(one, other).statistic, abs=1e-12)
            else:
                assert np.isnan([rho[a, b], tau[a, b]]).all()


def test_rank_agreement_of_pairs_with_gaps() -> None:
    a, b = [1, 2, math.nan, 4, 5, 3], [2, 1, 7, 5, math.nan, 3]
    rho, tau = rank_agreement([a, b])
    both = [0, 1, 3, 5]
    assert rho[0, 1] == pytest.approx(stats.spearmanr(np.take(a, both), np.take(b, both)).statistic)
    assert tau[0, 1] == pytest.approx(
        stats.kendalltau(np.take(a, both), np.take(b, both)).statistic
    )
    many = np.random.default_rng(0).normal(size=(2, 700))  # more than one block of pairs
    assert rank_agreement(many)[1][0, 1] == pytest.approx(
        stats.kendalltau(*many).statistic, abs=1e-12
    )


def test_ranks_share() -> None:
    assert rank_values(np.array([0.3, 0.5, 0.5 + 1e-12, 0.1, 0.3])).tolist() == [3, 1, 1, 5, 3]
