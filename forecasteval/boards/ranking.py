"""Many results as tables: one per dataset, best first, each system tested against the one above it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from forecasteval.common.results import Results
from forecasteval.common.statistics import mean, stratified_interval, stratified_mean
from forecasteval.common.version import __version__

from .inference import DRAWS
from .pooled import pool_systems
from .question_effects import measure_questions
from .repeats import combine_all, run_columns
from .report import board_report
from .significance import FLIPS, holm, paired_test
from .systems import (
    ALPHA,
    SEED,
    UNPARSED,
    Ranking,
    System,
    distinct_names,
    read_difference,
    read_result,
    require_same_policy,
)

if TYPE_CHECKING:
    from forecasteval.common.pages import Page


def rank(results: Sequence[Mapping[str, Any]], min_questions: int = 0, min_datasets: int | None = None) -> Results:
    """Rank systems: one table per dataset, best first, ties sharing a rank.

    Results named `DATASET-SYSTEM@RUN` are runs of one system, whose mean is one row (`combine_runs`). Where two systems
    or more answered several datasets, `pooled` holds a table over all of them, in which those are ranked that answered
    `min_datasets` (`pool_systems`).
    Levels with fewer than `min_questions` questions are left out (shown as –) and the weights renormalised, as on
    the public leaderboard. Every system after the first carries the paired difference of the one above minus itself
    and its p-value (`paired_test`, not adjusted for the number of systems); from 0.05 on it is not significant.
    `p_leader` is that of the difference to the first, with Holm's adjustment over all systems of the table.
    Raises InputError if a result leaves missing answers out, and if results on the same questions were not scored by
    the same version and policies.
    """
    names = distinct_names(results)
    return rank_results(map(read_result, results, names), min_questions, min_datasets)


def rank_results(
    results: Iterable[System | Ranking], min_questions: int = 0, min_datasets: int | None = None
) -> Results:
    """`rank` of what was read already."""
    own: list[dict[str, Any]] = []
    systems: list[System] = []
    for result in results:
        if isinstance(result, Ranking):
            own.append(result.table)
        else:
            systems.append(result)
    systems, remarks = combine_all(systems)
    groups: dict[tuple[str, str, str], list[System]] = {}
    for system in systems:
        group = groups.setdefault(system.group, [])
        group.append(system)
        require_same_policy(group[0], system)
    tables = [_rank_group(groups[group], min_questions) for group in sorted(groups)]
    tables += sorted(own, key=lambda table: (table["benchmark"], str(table["dataset"]), table["name"]))
    pooled, unbounded = pool_systems(systems, min_questions, min_datasets)
    settings = ranking_settings(min_questions, min_datasets)
    values = {"pooled": pooled, "tables": tables, "remarks": remarks + unbounded, "leaderboard": settings}
    return Results(values, board_report, make_page)


def make_page(board: Mapping[str, Any]) -> Page:
    """What a page shows of a board."""
    from . import board_page  # here: few runs make one

    return board_page.make_page(board)


def ranking_settings(min_questions: int, min_datasets: int | None) -> dict[str, Any]:
    """What a board depends on besides its results."""
    least = {"min_questions": min_questions, "min_datasets": min_datasets}
    return {"version": __version__, **least, "flips": FLIPS, "draws": DRAWS, "seed": SEED}


class _Scored(NamedTuple):
    """A system, and its score over the levels that count."""

    system: System
    score: float


def _rank_group(systems: Sequence[System], min_questions: int) -> dict[str, Any]:
    """The table of systems that answered the same questions."""
    first = systems[0]
    counts = {level: len(values) for level, values in first.scores.items()}
    levels = [level for level, count in counts.items() if count and (count >= min_questions or not level)]
    scored = [_Scored(system, stratified_mean(system.strata(levels))) for system in systems]
    # Equal scores may differ in the 17th digit; without a level that counts there is no order but the names'.
    sign = first.scale.sign
    scored.sort(key=lambda one: (-sign * round(one.score, 12) if levels else 0, one.system.name))
    rows = [_row(one, counts, levels) for one in scored]
    if levels:
        _test_rows(rows, [one.system for one in scored], levels)
    benchmark, dataset, checksum = first.group
    return {
        "benchmark": benchmark,
        "dataset": dataset or None,
        **first.scale.describe(),
        "level_counts": counts,
        "weights": {level: first.weights[level] for level in levels},
        "signature": {**first.policy, "min_questions": min_questions or None, "questions_sha256": checksum},
        "questions": measure_questions([one.system for one in scored], levels),
        "rows": rows,
    }


def _row(scored: _Scored, counts: Mapping[str, int], levels: Sequence[str]) -> dict[str, Any]:
    """The row of a system that is tested against no other yet."""
    system, score = scored
    return {
        "rank": None,
        "overall_score": score,
        "overall_interval": stratified_interval(system.spread(levels), system.bounds),
        "level_scores": {level: mean(system.scores[level]) if level in levels else math.nan for level in counts},
        "n": sum(counts[level] for level in levels),
        "missing": system.count(levels, "missing"),
        "unparsed": system.count(levels, *UNPARSED),
        "difference_above": None,
        "p_above": None,
        "significant": None,
        "p_leader": None,
        **system.row,
        **run_columns(system, levels),
    }


def _test_rows(rows: Sequence[dict[str, Any]], systems: Sequence[System], levels: Sequence[str]) -> None:
    """Give the rows of systems, best first, their ranks and the tests against the system above and the leader."""
    above = [read_difference(upper, lower, levels) for upper, lower in pairwise(systems)]
    behind = [read_difference(systems[0], other, levels) for other in systems[1:]]
    tests = paired_test([gap.spread for gap in above + behind], [gap.flips for gap in above + behind], SEED)
    to_leader = holm(tests[len(above) :])
    rows[0]["rank"] = 1
    for place, (gap, p, p_leader) in enumerate(zip(above, tests[: len(above)], to_leader, strict=True), 1):
        rank = rows[place - 1]["rank"] if abs(gap.value) < 1e-12 else place + 1
        rows[place].update(rank=rank, difference_above=gap.value, p_above=p, significant=p < ALPHA, p_leader=p_leader)
