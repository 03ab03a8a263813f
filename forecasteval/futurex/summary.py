"""The scores of all questions as one result: level means, their weighted mean, intervals, counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from forecasteval.common.statistics import mean, stratified_interval, stratified_mean

from .rules import LEVELS, WEIGHTS


def summarise(items: Iterable[Mapping[str, Any]], renormalised: bool = True) -> dict[str, Any]:
    """Level means and overall_score = Σ w·mean over the levels that have questions.

    w is renormalised over them, or else a level without questions counts as 0. The mean of such a level is nan; an
    item whose score is None is in no mean, and in `level_missing` all the same. `level_padded`: lists longer than
    what was asked for.
    """
    scores: dict[int, list[float]] = {level: [] for level in LEVELS}
    answered: dict[int, list[float]] = {level: [] for level in LEVELS}
    missing, unparsed, padded = dict.fromkeys(LEVELS, 0), dict.fromkeys(LEVELS, 0), dict.fromkeys(LEVELS, 0)
    for item in items:
        level, score = item["level"], item["score"]
        if score is not None:
            scores[level].append(score)
        if item["outcome"] == "missing":
            missing[level] += 1
        else:
            answered[level].append(score)
            unparsed[level] += item["outcome"] == "unparsed"
            padded[level] += item["padded"]
    strata = [(WEIGHTS[level], scores[level]) for level in LEVELS]
    share = 1.0 if renormalised else sum(weight for weight, values in strata if values) / sum(WEIGHTS.values())
    interval = stratified_interval(strata)
    return {
        "overall_score": stratified_mean(strata) * share,
        "overall_interval": tuple(bound * share for bound in interval) if interval else None,
        "level_scores": {level: mean(scores[level]) for level in LEVELS},
        "level_counts": {level: len(scores[level]) for level in LEVELS},
        "level_intervals": {level: stratified_interval([(1.0, scores[level])]) for level in LEVELS},
        "level_missing": missing,
        "level_unparsed": unparsed,
        "level_padded": padded,
        "missing_count": sum(missing.values()),
        "unparsed_count": sum(unparsed.values()),
        "padded_count": sum(padded.values()),
        "answered_only": stratified_mean([(WEIGHTS[level], answered[level]) for level in LEVELS]) * share,
    }
