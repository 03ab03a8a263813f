"""Levels, weights and rule sets: the numbers of the benchmark in one place."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, Final, NamedTuple

from forecasteval.common.records import JsonObject
from forecasteval.common.statistics import mean, stratified_interval, stratified_mean
from forecasteval.display.clusters import cluster_scores
from forecasteval.questions.states import REASONS

LEVELS: Final = (1, 2, 3, 4)
WEIGHTS: Final = {1: 0.1, 2: 0.2, 3: 0.3, 4: 0.4}  # seed README, 评分权重
PADDING_POLICIES: Final = ("keep", "cut")
MISSING_POLICIES: Final = ("zero", "skip")
LLM_POLICIES: Final = ("unsure", "always")  # what a language model reads
PARTIAL_RANKING: Final = 0.8  # seed README, 评分机制
# Relative difference of numbers that count as equal where there is no sigma
EQUAL: Final = 1e-9
ZERO_SIGMA: Final = 0.01  # sigma of a truth 0 where sigma is a share of the truth


class Rules(NamedTuple):
    """A rule set: in what published scores of the benchmark differ."""

    missing: str = "zero"  # missing answers score 0, or are left out ("skip")
    # Levels without questions give their weight to the others
    renormalised: bool = True
    # Sigma as a share of |truth| where Std is missing
    relative_sigma: float | None = None
    std_counts: bool = True  # else that share is sigma whatever Std says
    by_truths: bool = (
        # Levels 1 and 2 both: exact where one option is true, F1 where several are
        False
    )
    lone_name: bool = False  # one true name scores 1 or 0, never a part
    # Option labels as the truth of level 3 or 4 score 1 in any order
    label_sets: bool = False
    # So does any list whose question says that its order does not matter
    any_order: bool = False
    packed: bool = False  # a true name that holds `;` or `|` is several
    # Names beyond those that are asked for count, or do not ("cut")
    padding: str = "keep"
    loose: bool = False  # numbers are also read of prose that states nothing


# The benchmark's scorer of 2026, where it needs no model
_OFFICIAL_2026: Final = Rules(
    renormalised=False,
    relative_sigma=0.05,
    std_counts=False,
    by_truths=True,
    lone_name=True,
    label_sets=True,
)
RULE_SETS: Final = {
    "readme": Rules(),  # the seed README
    "official-2026": _OFFICIAL_2026,
    # and since August of that year
    "official-2026-09": _OFFICIAL_2026._replace(any_order=True, packed=True),
    "paper": Rules(missing="skip"),  # arXiv 2508.11987
}


_FLAGS: Final = ("padded", "unboxed", "loose", "late")  # of an item
_COUNTED: Final = ("missing", "unparsed", "pending", *_FLAGS)  # by level


def total_weight(with_scores: Set[int], pending: Set[int], renormalised: bool) -> float:
    """Return the weight by which Σ w·mean is divided; `pending`: the levels that have
    pending questions.

    It is that of the levels with scores where weights are renormalised. Otherwise a
    level without questions keeps its weight, and only a level that is wholly pending
    gives it away: it will have scores.

    >>> round(total_weight({1, 2}, {2, 3}, renormalised=False), 9)
    0.7
    """
    counted = with_scores
    if not renormalised:
        counted = set(LEVELS) - (pending - with_scores)
    return math.fsum(WEIGHTS[level] for level in counted) or 1.0


def summarise(items: Iterable[JsonObject], renormalised: bool = True) -> dict[str, Any]:
    """Level means and overall_score = Σ w·mean over the levels that have questions.

    w is renormalised over them, or else a level without questions counts as 0
    (`total_weight`). The mean of such a level is nan. An item whose score is None is in
    no mean: a missing one is in `level_missing` all the same, a pending one only in
    `level_pending`. `level_padded`: lists longer than what was asked for.
    `level_unboxed`: answers that were read without a box, and `level_loose` of prose
    that states nothing. `level_late`: answers to resolved questions that came too late.
    Intervals are of clusters, of levels each, if questions hang together.
    """
    scored: dict[int, list[JsonObject]] = {level: [] for level in LEVELS}
    answered: dict[int, list[float]] = {level: [] for level in LEVELS}
    counts, reasons = Counter[tuple[str, int]](), Counter[str]()
    for item in items:
        level, score, outcome = item["level"], item["score"], item["outcome"]
        if score is not None:
            scored[level].append(item)
            if outcome != "missing":
                answered[level].append(score)
        counts[outcome, level] += 1
        for flag in _FLAGS:
            if item.get(flag) and outcome != "pending":
                counts[flag, level] += 1
        reasons[item["reason"]] += 1
    by_level = {
        key: {level: counts[key, level] for level in LEVELS} for key in _COUNTED
    }
    totals = {f"{key}_count": sum(by_level[key].values()) for key in _COUNTED}
    total_pending = totals.pop("pending_count")
    scores = {level: [item["score"] for item in scored[level]] for level in LEVELS}
    clustered = {level: cluster_scores(scored[level]) for level in LEVELS}
    with_scores = {level for level in LEVELS if scores[level]}
    pending = {level for level in LEVELS if by_level["pending"][level]}
    counted = math.fsum(WEIGHTS[level] for level in with_scores)
    share = counted / total_weight(with_scores, pending, renormalised)
    interval = stratified_interval(_weigh(clustered))
    if interval:
        interval = (interval[0] * share, interval[1] * share)
    intervals = {
        level: stratified_interval([(1.0, clustered[level])]) for level in LEVELS
    }
    return {
        "overall_score": stratified_mean(_weigh(scores)) * share,
        "overall_interval": interval,
        "level_scores": {level: mean(scores[level]) for level in LEVELS},
        "level_counts": {level: len(scores[level]) for level in LEVELS},
        "level_intervals": intervals,
        **{f"level_{key}": counts for key, counts in by_level.items()},
        "unparsed_reasons": {
            reason: reasons[reason] for reason in REASONS if reasons[reason]
        },
        "pending": total_pending,
        **totals,
        "answered_only": stratified_mean(_weigh(answered)) * share,
    }


def _weigh(
    values: Mapping[int, Sequence[float]],
) -> list[tuple[float, Sequence[float]]]:
    """Give the values of each level its weight."""
    return [(WEIGHTS[level], values[level]) for level in LEVELS]


def score_f1(matched: int, picks: int, truths: int) -> float:
    """F1 = 2·matched / (picks + truths), in [0, 1] (seed README, 评分机制).

    >>> score_f1(1, 3, 1)
    0.5
    """
    return 2 * matched / (picks + truths) if matched else 0.0
