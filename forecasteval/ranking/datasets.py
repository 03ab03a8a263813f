"""Many results as tables: one per dataset, best first, each system with the ranks that no test
contradicts.

Several runs of one system on one dataset are one system there, whose scores are its means by
question.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter, itemgetter
from typing import Final

from forecasteval.common.errors import printable
from forecasteval.common.records import JsonObject, as_text, group_by, natural_key, question_key
from forecasteval.common.statistics import (
    mean,
    stratified_interval,
    stratified_mean,
    variance,
)
from forecasteval.common.version import __version__

from .board import Board, QuestionScores, RankedTable, RunRow, ScoredRow, SystemRow, SystemTable
from .files import ForecasterTable
from .names import split_name, without_run
from .pooled import pool_systems
from .repeats import measure_runs
from .scale import Level
from .significance import assign_ranks
from .systems import (
    System,
    count_series,
    count_unread,
    levels_that_count,
    require_same_policy,
)

_MOST: Final = 3000  # questions of a dataset
_DIGITS: Final = 12  # further digits depend on the processor
_READ: Final = ("scored", "pending")  # outcomes of answers of which something may be read
_TAIL: Final = 180  # characters of all runs' answers to a question that a page shows


def rank_results(
    results: Iterable[System | ForecasterTable],
    min_questions: int = 0,
    min_datasets: int | None = None,
    baselines: Collection[str] = (),
) -> Board:
    """Rank what was read of results, the newest dataset of a benchmark first. Names are in their
    natural order; see `forecasteval.boards.rank`. The systems that are `baselines` have no rank.
    """
    read = list(results)
    systems, remarks = combine_all(result for result in read if isinstance(result, System))
    groups = sorted(group_by(systems, attrgetter("group")).items(), key=itemgetter(0))
    tables: list[RankedTable] = [
        *(_rank_group(group, min_questions, baselines) for _, group in groups),
        *sorted(
            (result for result in read if isinstance(result, ForecasterTable)),
            key=attrgetter("name"),
        ),
    ]
    pooled, unbounded = pool_systems(systems, min_questions, min_datasets, baselines)
    return Board(
        schema=2,
        pooled=pooled,
        tables=order_tables(tables),
        remarks=remarks + unbounded,
        leaderboard=ranking_settings(min_questions, min_datasets),
        failed=[],
        without_result=[],
    )


def order_tables(tables: Iterable[RankedTable]) -> list[RankedTable]:
    """Order tables by benchmark, those of forecasters last, and the newest dataset first."""
    newest = sorted(tables, key=lambda table: natural_key(table.dataset or ""), reverse=True)
    return sorted(newest, key=lambda table: (isinstance(table, ForecasterTable), table.benchmark))


def ranking_settings(min_questions: int, min_datasets: int | None) -> dict[str, object]:
    """Return the settings of a board."""
    return {
        "version": __version__,
        "min_questions": min_questions,
        "min_datasets": min_datasets,
    }


def _rank_group(
    systems: Sequence[System], min_questions: int, baselines: Collection[str]
) -> SystemTable:
    """Compute the table of systems that answered the same questions; InputError if they were not
    scored alike.
    """
    for system in systems:
        require_same_policy(systems[0], system)
    counts = systems[0].counts
    levels = levels_that_count(counts, min_questions)
    scored = [(describe_system(system, levels), system) for system in systems]
    sign = systems[0].scale.sign
    # Equal scores may differ in the 17th digit; without a level that counts there is no order but
    # the names'.
    scored.sort(
        key=lambda pair: (
            -sign * round(pair[0].overall_score, _DIGITS) if levels else 0,
            pair[1].name,
        )
    )
    first = scored[0][1]
    benchmark, dataset, checksum = first.group
    return SystemTable(
        kind="systems",
        benchmark=benchmark,
        dataset=dataset or None,
        **first.scale.describe(),
        level_counts=counts,
        n_series=count_series([*first.questions.values()]),
        pending=first.pending,
        void=first.void,
        weights={level: first.weights[level] for level in levels},
        signature={
            **first.policy,
            "min_questions": min_questions or None,
            "questions_sha256": checksum,
        },
        questions=measure_questions([system for _, system in scored], levels),
        guess=first.guess,
        rows=_rank_rows(scored, levels, baselines),
    )


def _rank_rows(
    scored: Sequence[tuple[ScoredRow, System]], levels: Sequence[Level], baselines: Collection[str]
) -> list[SystemRow]:
    """Compute the rows of systems, best first; ties share a rank, and baselines have none."""
    import numpy as np

    from .pairs import compare_systems

    ranked = [
        place
        for place, (_, system) in enumerate(scored)
        if levels and system.system not in baselines
    ]
    scores = [scored[place][0].overall_score for place in ranked]
    better = np.subtract.outer(scores, scores) * scored[0][1].scale.sign
    p = compare_systems([scored[place][1] for place in ranked], levels)
    ranks = assign_ranks(ranked, scores, better, p)
    rows = []
    for place, (row, system) in enumerate(scored):
        rank, interval = ranks.get(place, (None, None))
        rows.append(
            SystemRow(
                **vars(row),
                rank=rank,
                level_scores={
                    level: mean(questions.scores) if level in levels else math.nan
                    for level, questions in system.questions.items()
                },
                n=sum(system.counts[level] for level in levels),
                rank_interval=interval,
            )
        )
    return rows


# --- Questions ---


def measure_questions(systems: Sequence[System], levels: Sequence[Level]) -> list[QuestionScores]:
    """Say how systems did on each question, in the order of `System.questions`.

    Datasets of more than 3,000 questions have none, for the size of the board.
    """
    if sum(systems[0].counts[level] for level in levels) > _MOST:
        return []
    rows: list[QuestionScores] = []
    for level in levels:
        columns = [system.questions[level] for system in systems]
        scores = zip(*(questions.scores for questions in columns), strict=True)
        answers = zip(*(questions.answered for questions in columns), strict=True)
        rows += [
            QuestionScores(
                id=name,
                level=level or None,
                mean=mean(of_systems),
                systems=len(systems),
                answered=sum(answered),
            )
            for name, of_systems, answered in zip(columns[0].ids, scores, answers, strict=True)
        ]
    return rows


# --- Several runs of a system ---


def combine_all(systems: Iterable[System]) -> tuple[list[System], list[str]]:
    """Combine the runs of each system on a dataset. There is a line for each system whose runs
    cannot be.

    Runs that were asked other questions, or the same with other truths, stay apart.
    """
    named = group_by(
        systems, lambda system: (*system.group[:2], without_run(system.name, system.group[1]))
    )
    combined: list[System] = []
    remarks: list[str] = []
    for (_, _, name), same in named.items():
        parts = group_by(same, attrgetter("group")).values()
        if len(parts) > 1:
            groups = sorted(sorted(printable(run.name) for run in runs) for runs in parts)
            listed = "; ".join(map(", ".join, groups))
            remarks.append(
                f"{printable(name)}: its runs have different questions and are not averaged: "
                f"{listed}"
            )
        combined += map(combine_runs, parts)
    return combined, sorted(remarks)


def combine_runs(runs: Sequence[System], name: str = "") -> System:
    """Combine several runs of a system on the same questions. Every question scores the mean of its
    runs' scores.

    Its score is then the mean of the runs' scores, x̄ = Σ w·mean over questions of (Σ over the R
    runs of xᵢᵣ) / R, and the interval that `stratified_interval` makes of the questions' means
    counts both, which questions were asked and how a system's answers to one vary: s² of the means
    estimates Var(E[x|question]) + E[Var(x|question)] / R (Miller, Adding error bars to evals,
    2024). It is the cluster-robust error of all n·R scores, clustered by question (Liang & Zeger
    1986; `clustered_error` of each level), as every run has a score for every question: 0 where it
    lacks an answer. What moves a whole run at once, such as a bad night, is not in it:
    `run_deviation` shows that, and `repeats.add_run_luck` adds it to differences. Outcomes are
    counted over all runs. Raises InputError for runs of other policies. One run is returned as it
    is.
    """
    if len(runs) == 1:
        return runs[0]
    first, *rest = runs = sorted(runs, key=lambda run: run.name)
    for run in rest:
        require_same_policy(first, run)
    row = replace(
        first.row,
        name=name or without_run(first.name, first.group[1]),
        prediction=", ".join(str(run.row.prediction) for run in runs),
        warnings=sum(run.row.warnings for run in runs),
        degraded=any(run.row.degraded for run in runs),
        kept=any(run.row.kept for run in runs),
        gain=_mean_gain(runs),
        gain_interval=None,  # of the mean of runs, which share their questions
        file_sha256="",  # each run has its own
        signature={
            key: value
            for key, value in first.row.signature.items()
            if all(run.row.signature.get(key) == value for run in rest)
        },
    )
    questions = {}
    for level in first.questions:
        columns = [run.questions[level] for run in runs]
        outcomes: Counter[str] = Counter()
        for each in columns:
            outcomes.update(each.outcomes)
        questions[level] = replace(
            columns[0],
            scores=list(map(mean, zip(*(each.scores for each in columns), strict=True))),
            answered=list(map(any, zip(*(each.answered for each in columns), strict=True))),
            outcomes=outcomes,
        )
    return replace(first, row=row, questions=questions, runs=tuple(runs))


def _mean_gain(runs: Sequence[System]) -> float | None:
    gains = [run.row.gain for run in runs if run.row.gain is not None]
    return mean(gains) if len(gains) == len(runs) else None


def describe_system(system: System, levels: Sequence[Level]) -> ScoredRow:
    """Describe the values of a system's row, over `levels`.

    Of several runs their scores, the standard deviation of these with R − 1, and whether they
    differ as wholes: it is more than twice what runs would show that differ in nothing but how they
    answer single questions.
    """
    strata = system.strata(levels)
    bounds = (system.share * system.scale.low, system.share * system.scale.high)
    row = ScoredRow(
        **vars(system.row),
        overall_score=stratified_mean(strata),
        overall_interval=stratified_interval(system.cluster(strata, levels), bounds),
        **count_unread([system], levels),
    )
    if not system.runs:
        return row
    runs = [
        RunRow(
            **vars(run.row),
            run=split_name(run.name, run.group[1]).run,
            score=stratified_mean(run.strata(levels)),
            **count_unread([run], levels),
        )
        for run in system.runs
    ]
    spread = measure_runs(system, levels)
    deviation = math.sqrt(variance([run.score for run in runs]))
    differ = deviation > 2 * math.sqrt(spread.within / spread.freedom) + 1e-12
    return replace(row, runs=runs, run_deviation=deviation, runs_differ=differ)


def mean_result(runs: Sequence[JsonObject]) -> Mapping[str, object]:
    """Return the result of one run; of several what a page shows: each question's mean score, and
    what every run said.
    """
    if len(runs) == 1:
        return runs[0]
    same = zip(*(sorted(run["items"], key=question_key) for run in runs), strict=True)
    return {**runs[0], "items": list(map(_mean_item, same))}


def _mean_item(same: Sequence[JsonObject]) -> dict[str, object]:
    outcomes = [item["outcome"] for item in same]
    is_pending = "pending" in outcomes  # in every run, or in none
    return {
        **same[0],
        "score": None if is_pending else mean([item["score"] for item in same]),
        "read": " | ".join(
            as_text(item["read"]) if item["outcome"] in _READ else f"({item['outcome']})"
            for item in same
        ),
        "answer": " | ".join(str(item["answer"])[-_TAIL // len(same) :] for item in same),
        "outcome": "scored" if "scored" in outcomes else outcomes[0],
    }
