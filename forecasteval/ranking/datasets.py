"""Many results as tables: one per dataset, best first, each system with the ranks that
no test contradicts.

Several runs of one system on one dataset are one system there, whose scores are its
means by question.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter, itemgetter
from typing import Final

from forecasteval.common.errors import printable
from forecasteval.common.records import (
    JsonObject,
    as_text,
    group_by,
    natural_key,
    question_key,
)
from forecasteval.common.statistics import (
    mean,
    stratified_interval,
    stratified_mean,
    variance,
)
from forecasteval.common.version import __version__

from .board import (
    Board,
    QuestionScores,
    RankedTable,
    RunRow,
    ScoredRow,
    SystemRow,
    SystemTable,
)
from .files import FileRow, ForecasterTable
from .names import split_name, without_run
from .pooled import pool_systems
from .repeats import measure_runs
from .scale import Level
from .significance import assign_ranks
from .systems import (
    QuestionColumns,
    System,
    count_series,
    count_unread,
    levels_that_count,
    require_same_policy,
)

_MAX_QUESTIONS: Final = 3000  # of a dataset whose board lists them
_DIGITS: Final = 12  # further digits depend on the processor
# Outcomes of answers of which something may be read
_READ: Final = ("scored", "pending")
_TAIL: Final = 180  # characters of all runs' answers to a question that a page shows


def rank_results(
    results: Iterable[System | ForecasterTable],
    min_questions: int = 0,
    min_datasets: int | None = None,
    baselines: Collection[str] = (),
) -> Board:
    """Rank what was read of results, the newest dataset of a benchmark first. Names are
    in their natural order; see `forecasteval.boards.rank`. The systems that are
    `baselines` have no rank.
    """
    read = list(results)
    tables = [table for table in read if isinstance(table, ForecasterTable)]
    tables.sort(key=attrgetter("name"))
    systems, remarks = combine_all(
        result for result in read if isinstance(result, System)
    )
    groups = sorted(group_by(systems, attrgetter("group")).items(), key=itemgetter(0))
    ranked = [_rank_group(group, min_questions, baselines) for _, group in groups]
    pooled, unbounded = pool_systems(systems, min_questions, min_datasets, baselines)
    return Board(
        schema=2,
        pooled=pooled,
        tables=order_tables([*ranked, *tables]),
        remarks=remarks + unbounded,
        leaderboard=ranking_settings(min_questions, min_datasets),
        failed=[],
        without_result=[],
    )


def order_tables(tables: Iterable[RankedTable]) -> list[RankedTable]:
    """Order tables by benchmark, those of forecasters last, and the newest
    dataset first.
    """
    newest = sorted(
        tables, key=lambda table: natural_key(table.dataset or ""), reverse=True
    )
    return sorted(
        newest, key=lambda table: (isinstance(table, ForecasterTable), table.benchmark)
    )


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
    """Compute the table of systems that answered the same questions; InputError if they
    were not scored alike.
    """
    for system in systems:
        require_same_policy(systems[0], system)
    counts = systems[0].counts
    sign = systems[0].scale.sign
    levels = levels_that_count(counts, min_questions)

    def sort_key(scored: tuple[ScoredRow, System]) -> tuple[float, str]:
        row, system = scored
        # Without a level that counts there is no order but the names'.
        if not levels:
            return 0, system.name
        # Equal scores may differ in the 17th digit.
        return -sign * round(row.overall_score, _DIGITS), system.name

    described = [(describe_system(system, levels), system) for system in systems]
    scored = sorted(described, key=sort_key)
    first = scored[0][1]
    benchmark, dataset, checksum = first.group
    weights = {level: first.weights[level] for level in levels}
    signature = {
        **first.policy,
        "min_questions": min_questions or None,
        "questions_sha256": checksum,
    }
    return SystemTable(
        kind="systems",
        benchmark=benchmark,
        dataset=dataset or None,
        **first.scale.describe(),
        level_counts=counts,
        n_series=count_series([*first.questions.values()]),
        pending=first.pending,
        void=first.void,
        weights=weights,
        signature=signature,
        questions=measure_questions([system for _, system in scored], levels),
        guess=first.guess,
        rows=_rank_rows(scored, levels, baselines),
    )


def _rank_rows(
    scored: Sequence[tuple[ScoredRow, System]],
    levels: Sequence[Level],
    baselines: Collection[str],
) -> list[SystemRow]:
    """Compute the rows of systems, best first; ties share a rank, and
    baselines have none.
    """
    import numpy as np

    from .pairs import compare_systems

    ranked: list[int] = []
    if levels:
        systems = [system for _, system in scored]
        ranked = [
            index
            for index, system in enumerate(systems)
            if system.system not in baselines
        ]
    scores = [scored[index][0].overall_score for index in ranked]
    better = np.subtract.outer(scores, scores) * scored[0][1].scale.sign
    p = compare_systems([scored[index][1] for index in ranked], levels)
    ranks = assign_ranks(ranked, scores, better, p)
    rows = []
    for index, (row, system) in enumerate(scored):
        rank, interval = ranks.get(index, (None, None))
        level_scores = dict.fromkeys(system.questions, math.nan)
        for level in levels:
            level_scores[level] = mean(system.questions[level].scores)
        ranked_row = SystemRow(
            **vars(row),
            rank=rank,
            level_scores=level_scores,
            n=sum(system.counts[level] for level in levels),
            rank_interval=interval,
        )
        rows.append(ranked_row)
    return rows


# --- Questions ---


def measure_questions(
    systems: Sequence[System], levels: Sequence[Level]
) -> list[QuestionScores]:
    """Measure how systems did on each question, in the order of `System.questions`.

    Datasets of more than 3,000 questions have none, for the size of the board.
    """
    if sum(systems[0].counts[level] for level in levels) > _MAX_QUESTIONS:
        return []
    rows: list[QuestionScores] = []
    for level in levels:
        columns = [system.questions[level] for system in systems]
        scores = zip(*(questions.scores for questions in columns), strict=True)
        answers = zip(*(questions.answered for questions in columns), strict=True)
        questions = zip(columns[0].ids, scores, answers, strict=True)
        for name, scores_of_question, answered in questions:
            row = QuestionScores(
                id=name,
                level=level or None,
                mean=mean(scores_of_question),
                systems=len(systems),
                answered=sum(answered),
            )
            rows.append(row)
    return rows


# --- Several runs of a system ---


def combine_all(systems: Iterable[System]) -> tuple[list[System], list[str]]:
    """Combine the runs of each system on a dataset. There is a line for each system
    whose runs cannot be.

    Runs that were asked other questions, or the same with other truths, stay apart.
    """

    def name_of(system: System) -> tuple[str, str, str]:
        benchmark, dataset, _ = system.group
        return benchmark, dataset, without_run(system.name, dataset)

    combined: list[System] = []
    remarks: list[str] = []
    for (_, _, name), runs in group_by(systems, name_of).items():
        parts = group_by(runs, attrgetter("group")).values()
        combined += map(combine_runs, parts)
        if len(parts) > 1:
            names = sorted(
                sorted(printable(run.name) for run in part) for part in parts
            )
            listed = "; ".join(map(", ".join, names))
            remarks.append(
                f"{printable(name)}: its runs have different questions and are not "
                "averaged: "
                f"{listed}"
            )
    return combined, sorted(remarks)


def combine_runs(runs: Sequence[System], name: str = "") -> System:
    """Combine several runs of a system on the same questions. Every question scores the
    mean of its runs' scores.

    Its score is then the mean of the scores of its R runs:

        x̄ = Σ w·mean over questions of (Σ over runs of xᵢᵣ) / R

    The interval that `stratified_interval` makes of the questions' means counts both,
    which questions were asked and how a system's answers to one vary: s² of the means
    estimates Var(E[x|question]) + E[Var(x|question)] / R (Miller, Adding error bars to
    evals, 2024). It is the cluster-robust error of all n·R scores, clustered by
    question (Liang & Zeger 1986; `clustered_error` of each level), as every run has a
    score for every question: 0 where it lacks an answer. What moves a whole run at
    once, such as a bad night, is not in it: `run_deviation` shows that, and
    `repeats.add_run_luck` adds it to differences.

    Outcomes are counted over all runs. Raises InputError for runs of other policies.
    One run is returned as it is.
    """
    if len(runs) == 1:
        return runs[0]
    first, *others = runs = sorted(runs, key=lambda run: run.name)
    for run in others:
        require_same_policy(first, run)
    questions = {
        level: _average_questions([run.questions[level] for run in runs])
        for level in first.questions
    }
    row = _combine_rows(
        [run.row for run in runs], name or without_run(first.name, first.group[1])
    )
    return replace(first, row=row, questions=questions, runs=tuple(runs))


def _combine_rows(rows: Sequence[FileRow], name: str) -> FileRow:
    first, *others = rows
    prediction = ", ".join(str(row.prediction) for row in rows)
    warnings = sum(row.warnings for row in rows)
    is_degraded = any(row.degraded for row in rows)
    is_kept = any(row.kept for row in rows)
    gains = [row.gain for row in rows if row.gain is not None]
    shared_signature = {
        key: value
        for key, value in first.signature.items()
        if all(row.signature.get(key) == value for row in others)
    }
    return replace(
        first,
        name=name,
        prediction=prediction,
        warnings=warnings,
        degraded=is_degraded,
        kept=is_kept,
        gain=mean(gains) if len(gains) == len(rows) else None,
        gain_interval=None,  # of the mean of runs, which share their questions
        file_sha256="",  # each run has its own
        signature=shared_signature,
    )


def _average_questions(runs: Sequence[QuestionColumns]) -> QuestionColumns:
    """Average the scores of runs, question by question; an answer of one
    run is an answer.
    """
    scores = zip(*(run.scores for run in runs), strict=True)
    answered = zip(*(run.answered for run in runs), strict=True)
    outcomes: Counter[str] = Counter()
    for run in runs:
        outcomes.update(run.outcomes)
    return replace(
        runs[0],
        scores=list(map(mean, scores)),
        answered=list(map(any, answered)),
        outcomes=outcomes,
    )


def describe_system(system: System, levels: Sequence[Level]) -> ScoredRow:
    """Describe the values of a system's row, over `levels`.

    Of several runs their scores, the standard deviation of these with R − 1, and
    whether they differ as wholes: it is more than twice what runs would show that
    differ in nothing but how they answer single questions.
    """
    strata = system.strata(levels)
    clustered = system.cluster(strata, levels)
    bounds = (system.share * system.scale.low, system.share * system.scale.high)
    row = ScoredRow(
        **vars(system.row),
        overall_score=stratified_mean(strata),
        overall_interval=stratified_interval(clustered, bounds),
        **count_unread([system], levels),
    )
    if not system.runs:
        return row

    runs = [_describe_run(run, levels) for run in system.runs]
    variation = measure_runs(system, levels)
    expected_deviation = math.sqrt(variation.within / variation.freedom)
    deviation = math.sqrt(variance([run.score for run in runs]))
    differ = deviation > 2 * expected_deviation + 1e-12
    return replace(row, runs=runs, run_deviation=deviation, runs_differ=differ)


def _describe_run(run: System, levels: Sequence[Level]) -> RunRow:
    return RunRow(
        **vars(run.row),
        run=split_name(run.name, run.group[1]).run,
        score=stratified_mean(run.strata(levels)),
        **count_unread([run], levels),
    )


def mean_result(runs: Sequence[JsonObject]) -> Mapping[str, object]:
    """Return the result of one run; of several what a page shows: each question's mean
    score, and what every run said.
    """
    if len(runs) == 1:
        return runs[0]
    questions = zip(
        *(sorted(run["items"], key=question_key) for run in runs), strict=True
    )
    return {**runs[0], "items": list(map(_mean_item, questions))}


def _mean_item(items: Sequence[JsonObject]) -> dict[str, object]:
    """Merge the items of a question, one of each run."""
    outcomes = [item["outcome"] for item in items]
    outcome = outcomes[0]
    if "scored" in outcomes:
        outcome = "scored"
    # A question is pending in every run, or in none.
    is_pending = "pending" in outcomes
    score = None if is_pending else mean([item["score"] for item in items])
    tail = math.ceil(_TAIL / len(items))
    return {
        **items[0],
        "score": score,
        "read": " | ".join(map(_describe_read, items)),
        "answer": " | ".join(str(item["answer"])[-tail:] for item in items),
        "outcome": outcome,
    }


def _describe_read(item: JsonObject) -> str:
    """Describe what was read of a run's answer, or why nothing was."""
    if item["outcome"] in _READ:
        return as_text(item["read"])
    return f"({item['outcome']})"
