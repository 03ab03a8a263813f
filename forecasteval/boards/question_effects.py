"""How hard each question of a dataset was, and whether strong systems hit it more often than weak ones."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, Final

from forecasteval.common.statistics import mean

from .systems import System

_LEAST: Final = 5  # systems of which an item–rest correlation is computed
_MOST: Final = 3000  # questions of a dataset
_DIGITS: Final = 12  # the others depend on the processor


def measure_questions(systems: Sequence[System], levels: Sequence[str]) -> list[dict[str, Any]]:
    """How systems did on each question, in the order of `System.scores`; nothing of more than 3,000 questions.

    `mean` is the mean score over systems, `answered` the number of systems of which an answer was read. `item_rest` is
    Pearson's correlation, over at least five systems, between the score of the question and the overall score without
    the question (the corrected item–total correlation of classical test theory); None if either does not vary. If it
    is negative, strong systems miss what weak ones hit, and the question is `worth_a_look`: its truth may be wrong.
    """
    if sum(len(systems[0].scores[level]) for level in levels) > _MOST:
        return []
    sums = [{level: math.fsum(system.scores[level]) for level in levels} for system in systems]
    rows = []
    for level in levels:
        for place, name in enumerate(systems[0].ids[level]):
            scores = [system.scores[level][place] for system in systems]
            rests = [
                _rest(system, total, level, score) for system, total, score in zip(systems, sums, scores, strict=True)
            ]
            correlation = _correlate(scores, rests)
            rows.append({
                "id": name,
                "level": level or None,
                "mean": mean(scores),
                "answered": sum(system.answered[level][place] for system in systems),
                "systems": len(systems),
                "item_rest": correlation,
                "worth_a_look": correlation is not None and correlation < 0,
            })  # fmt: skip
    return rows


def _rest(system: System, sums: Mapping[str, float], level: str, score: float) -> float:
    """The overall score of a system without one question."""
    parts = []
    for name, total in sums.items():
        count = len(system.scores[name]) - (name == level)
        if count:
            parts.append((system.weights[name], (total - score if name == level else total) / count))
    return (
        math.fsum(weight * part for weight, part in parts) / math.fsum(weight for weight, _ in parts) if parts else 0.0
    )


def _correlate(xs: Sequence[float], ys: Sequence[float]) -> float | None:
    if len(xs) < _LEAST or max(xs) - min(xs) < 1e-9 or max(ys) - min(ys) < 1e-9:
        return None
    return round(statistics.correlation(xs, ys), _DIGITS) + 0.0
