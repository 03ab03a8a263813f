"""The scores of all questions as one result: figures worked by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

from forecasteval.futurex.rules import summarise


def scored(
    level: int, score: float | None, outcome: str = "scored", padded: bool = False
) -> dict[str, Any]:
    reason = "prose" if outcome == "unparsed" else ""
    return {
        "level": level, "score": score, "outcome": outcome, "reason": reason, "padded": padded,
        "unboxed": padded, "late": padded,
    }  # fmt: skip


ITEMS = [
    scored(1, 1.0), scored(1, 0.0, "unparsed"), scored(1, 0.0, "missing"), scored(1, 1.0),
    scored(4, 0.5, padded=True), scored(4, 0.0, "missing"),
]  # fmt: skip


def test_means_counts_and_the_overall_score() -> None:
    made = summarise(ITEMS)
    assert made["level_scores"] | {2: 0, 3: 0} == {1: 0.5, 2: 0, 3: 0, 4: 0.25}
    assert math.isnan(made["level_scores"][2])
    assert made["level_counts"] == {1: 4, 2: 0, 3: 0, 4: 2}
    assert made["level_missing"] == {1: 1, 2: 0, 3: 0, 4: 1}
    assert made["level_unparsed"] == {1: 1, 2: 0, 3: 0, 4: 0}
    assert (
        made["level_padded"]
        == made["level_unboxed"]
        == made["level_late"]
        == {1: 0, 2: 0, 3: 0, 4: 1}
    )
    assert made["unparsed_reasons"] == {"prose": 1}
    assert (made["missing_count"], made["unparsed_count"], made["padded_count"]) == (2, 1, 1)
    assert made["overall_score"] == pytest.approx((0.1 * 0.5 + 0.4 * 0.25) / 0.5)
    assert made["answered_only"] == pytest.approx((0.1 * 2 / 3 + 0.4 * 0.5) / 0.5)


def test_levels_without_questions_count_as_nothing_where_weights_are_fixed() -> None:
    fixed = summarise(ITEMS, renormalised=False)
    assert fixed["overall_score"] == pytest.approx(0.1 * 0.5 + 0.4 * 0.25)
    assert fixed["answered_only"] == pytest.approx(0.1 * 2 / 3 + 0.4 * 0.5)
    close = [scored(4, score) for score in (0.4, 0.5, 0.6)]
    fixed, shared = summarise(close, renormalised=False), summarise(close)
    assert 0 < shared["overall_interval"][0] < 0.5
    assert fixed["overall_interval"] == pytest.approx(
        [bound * 0.4 for bound in shared["overall_interval"]]
    )
    assert fixed["level_intervals"] == shared["level_intervals"]


def test_an_answer_that_is_left_out_is_counted_as_missing_and_in_no_mean() -> None:
    made = summarise([scored(2, 1.0), scored(2, None, "missing")])
    assert (made["level_scores"][2], made["level_counts"][2], made["level_missing"][2]) == (
        1.0,
        1,
        1,
    )
    assert made["overall_score"] == made["answered_only"] == 1.0


def test_nothing_at_all() -> None:
    made = summarise([])
    assert math.isnan(made["overall_score"])
    assert math.isnan(made["answered_only"])
    assert (made["overall_interval"], made["missing_count"]) == (None, 0)
