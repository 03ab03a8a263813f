"""A run's own luck: what runs of a system differ by as wholes, a good day or a bad one.

The errors of single questions contain how a system's answers to one vary, not what moves all
answers of a run at once. Runs measure that from two on each side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from forecasteval.common.statistics import mean

from .scale import Level
from .systems import System, join_clusters, sum_by_cluster


class RunSpread(NamedTuple):
    """How the runs of a system spread: sums of squares over its runs, of which there are `runs`.

    whole: of the runs' scores about their mean. within: what they would be if single questions (or
    clusters) varied independently of each other.
    """

    runs: int
    whole: float
    within: float

    @property
    def freedom(self) -> int:
        return self.runs - 1


def measure_runs(system: System, levels: Sequence[Level]) -> RunSpread:
    """Measure how the runs of a system spread over `levels`; one run has no spread."""
    if not system.runs:
        return RunSpread(1, 0.0, 0.0)
    clusters = join_clusters([system.questions[level] for level in levels])
    runs = [weigh_scores(run, levels) for run in system.runs]
    centres = list(map(mean, zip(*runs, strict=True)))
    whole = within = 0.0
    for run in runs:
        deviations = [score - centre for score, centre in zip(run, centres, strict=True)]
        whole += math.fsum(deviations) ** 2
        within += math.fsum(total**2 for total in sum_by_cluster(deviations, clusters))
    return RunSpread(len(runs), whole, within)


def weigh_scores(run: System, levels: Sequence[Level]) -> list[float]:
    """List what each question adds to the score of a run."""
    total = math.fsum(run.weights[level] for level in levels)
    return [
        run.weights[level] / total / len(scores) * score
        for level, (_, scores) in zip(levels, run.strata(levels), strict=True)
        for score in scores
    ]


def add_run_luck(*spreads: RunSpread) -> tuple[float, float]:
    """Estimate what the luck of runs adds to the variance of a score, or of a difference; also its
    degrees of freedom.

    With the design effect d = Σ whole / Σ within, a system of R runs adds (d − 1)·within / (R − 1)
    / R if d > 1. Of a dispersion only the share (d − 1) / d is that of runs, as of weeks in
    `weeks.fit_scores`. Nothing is added where a system has one run: nothing measures it.
    """
    within = math.fsum(spread.within for spread in spreads)
    whole = math.fsum(spread.whole for spread in spreads)
    if within <= 0 or whole <= within or any(spread.runs < 2 for spread in spreads):
        return 0.0, 1.0
    effect = whole / within
    of_means = math.fsum(spread.within / spread.freedom / spread.runs for spread in spreads)
    freedom = sum(spread.freedom for spread in spreads)
    return (effect - 1) * of_means, freedom * (1 - 1 / effect) ** 2
