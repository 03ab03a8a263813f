"""A run's own luck: what runs of a system differ by as wholes, a good day or a bad one.

The errors of single questions contain how a system's answers to one vary, not what
moves all answers of a run at once. Runs measure that from two on each side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from forecasteval.common.statistics import mean, sum_by_cluster

from .scale import Level
from .systems import System, join_clusters


class RunVariation(NamedTuple):
    """How the runs of a system vary: sums of squares over its `runs`.

    whole: of the runs' scores about their mean. within: what they would be if
        single questions (or
    clusters) varied independently of each other.
    """

    runs: int
    whole: float
    within: float

    @property
    def freedom(self) -> int:
        return self.runs - 1


def measure_runs(system: System, levels: Sequence[Level]) -> RunVariation:
    """Measure how the runs of a system vary over `levels`; one run does not."""
    if not system.runs:
        return RunVariation(1, 0.0, 0.0)
    clusters = join_clusters([system.questions[level] for level in levels])
    runs = [weigh_scores(run, levels) for run in system.runs]
    centres = list(map(mean, zip(*runs, strict=True)))
    whole = 0.0
    within = 0.0
    for run in runs:
        deviations = [
            score - centre for score, centre in zip(run, centres, strict=True)
        ]
        whole += math.fsum(deviations) ** 2
        within += math.fsum(total**2 for total in sum_by_cluster(deviations, clusters))
    return RunVariation(len(runs), whole, within)


def weigh_scores(run: System, levels: Sequence[Level]) -> list[float]:
    """List what each question adds to the score of a run."""
    strata = run.strata(levels)
    total = math.fsum(weight for weight, _ in strata)
    contributions: list[float] = []
    for weight, scores in strata:
        if scores:
            share = weight / total / len(scores)
            contributions += [share * score for score in scores]
    return contributions


def add_run_luck(*systems: RunVariation) -> tuple[float, float]:
    """Estimate what the luck of runs adds to the variance of a score, or
    of a difference.

    With the design effect

        d = Σ whole / Σ within

    a system of R runs adds (d − 1)·within / (R − 1) / R if d > 1. Of a dispersion only
    the share (d − 1) / d is that of runs, as of weeks in `weeks.fit_scores`.

    Returns:
        The variance and its degrees of freedom; (0, 1) where a system has one run:
        nothing measures its luck.
    """
    if any(system.runs < 2 for system in systems):
        return 0.0, 1.0
    within = math.fsum(system.within for system in systems)
    whole = math.fsum(system.whole for system in systems)
    if within <= 0 or whole <= within:
        return 0.0, 1.0
    effect = whole / within
    of_means = math.fsum(
        system.within / system.freedom / system.runs for system in systems
    )
    freedom = sum(system.freedom for system in systems)
    return (effect - 1) * of_means, freedom * (1 - 1 / effect) ** 2
