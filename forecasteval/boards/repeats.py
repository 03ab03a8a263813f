"""Several runs of one system on one dataset, as one system whose scores are its means by question."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from forecasteval.common.errors import printable
from forecasteval.common.records import as_text
from forecasteval.common.statistics import mean, stratified_interval, stratified_mean, variance

from .names import split_name, without_run
from .systems import UNPARSED, FileRow, Questions, System, question_key, require_same_policy

_TAIL: Final = 180  # characters of all runs' answers to a question that a page shows


def combine_all(systems: Iterable[System]) -> tuple[list[System], list[str]]:
    """The systems, with the runs of a system on a dataset combined; and a line for each whose runs cannot be.

    Runs that were asked other questions, or the same with other truths, stay apart.
    """
    named: dict[tuple[str, str, str], dict[str, list[System]]] = defaultdict(lambda: defaultdict(list))
    for system in systems:
        benchmark, dataset, checksum = system.group
        named[benchmark, dataset, without_run(system.name, dataset)][checksum].append(system)
    combined: list[System] = []
    remarks: list[str] = []
    for (_, _, name), parts in named.items():
        groups = sorted(sorted(run.name for run in runs) for runs in parts.values())
        if len(groups) > 1:
            listed = "; ".join(", ".join(map(printable, group)) for group in groups)
            remarks.append(f"{printable(name)}: its runs have different questions and are not averaged: {listed}")
        combined += map(combine_runs, parts.values())
    return combined, sorted(remarks)


def combine_runs(runs: Sequence[System], name: str = "") -> System:
    """Several runs of a system on the same questions as one system: every question scores the mean of its runs' scores.

    Its score is then the mean of the runs' scores, x̄ = Σ w·mean over questions of (Σ over the R runs of xᵢᵣ) / R, and
    the interval that `stratified_interval` makes of the questions' means counts both, which questions were asked and
    how a system's answers to one vary: s² of the means estimates Var(E[x|question]) + E[Var(x|question)] / R (Miller,
    Adding error bars to evals, 2024). It is the cluster-robust error of all n·R scores, clustered by question
    (Liang & Zeger 1986; `clustered_error` of each level), as every run has a score for every question: 0 where it lacks
    an answer. What moves a whole run at once, such as a bad night, is not in it: `run_deviation` shows that. Outcomes
    are counted over all runs. Raises InputError for runs of other policies. One run is returned as it is.
    """
    if len(runs) == 1:
        return runs[0]
    first, *rest = runs = sorted(runs, key=lambda run: run.name)
    for run in rest:
        require_same_policy(first, run)
    signatures = [run.row["signature"] for run in runs]
    row: FileRow = {
        **first.row,
        "name": name or without_run(first.name, first.group[1]),
        "prediction": ", ".join(str(run.row["prediction"]) for run in runs),
        "warnings": sum(run.row["warnings"] for run in runs),
        "degraded": any(run.row["degraded"] for run in runs),
        "signature": {
            key: value
            for key, value in signatures[0].items()
            if all(signature.get(key) == value for signature in signatures)
        },
    }
    questions = {level: _mean_questions([run.questions[level] for run in runs]) for level in first.questions}
    return replace(first, row=row, questions=questions, runs=tuple(runs))


def _mean_questions(runs: Sequence[Questions]) -> Questions:
    return runs[0]._replace(
        scores=[mean(scores) for scores in zip(*(run.scores for run in runs), strict=True)],
        answered=[any(answered) for answered in zip(*(run.answered for run in runs), strict=True)],
        outcomes=sum((run.outcomes for run in runs), Counter()),
    )


def describe_system(system: System, levels: Sequence[str]) -> dict[str, Any]:
    """The values of a system's row, over `levels`.

    Of several runs their scores, the standard deviation of these with R − 1, and whether they differ as wholes: it is
    more than twice what runs would show that differ in nothing but how they answer single questions.
    """
    row = {
        "overall_score": stratified_mean(system.strata(levels)),
        "overall_interval": stratified_interval(system.spread(levels), system.bounds),
        **_count_unread(system, levels),
        **system.row,
    }
    if not system.runs:
        return row
    runs: list[dict[str, Any]] = [
        {
            **run.row,
            "run": split_name(run.name, run.group[1]).run,
            "score": stratified_mean(run.strata(levels)),
            **_count_unread(run, levels),
        }
        for run in system.runs
    ]
    deviation = math.sqrt(variance([run["score"] for run in runs]))
    differ = deviation > 2 * _deviation_within(system, levels) + 1e-12
    return {**row, "runs": runs, "run_deviation": deviation, "runs_differ": differ}


def _count_unread(system: System, levels: Sequence[str]) -> dict[str, int]:
    return {"missing": system.count(levels, "missing"), "unparsed": system.count(levels, *UNPARSED)}


def _deviation_within(system: System, levels: Sequence[str]) -> float:
    """Standard deviation of a run's score on these questions, if its answers vary independently of each other.

    √ Σ (w/Σw)²·mean(s²ᵢ)/n with the variance s²ᵢ over the runs at question i.
    """
    strata = [run.strata(levels) for run in system.runs]
    total = math.fsum(weight for weight, values in strata[0] if values)
    parts = []
    for level in zip(*strata, strict=True):
        within = [variance(values) for values in zip(*(values for _, values in level), strict=True)]
        parts += [(level[0][0] / total) ** 2 * mean(within) / len(within)] if within else []
    return math.sqrt(math.fsum(parts))


def mean_result(runs: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The result of one run; of several what a page shows: each question's mean score, and what every run said."""
    if len(runs) == 1:
        return runs[0]
    items = [_mean_item(same) for same in zip(*(sorted(run["items"], key=question_key) for run in runs), strict=True)]
    return {**runs[0], "items": items}


def _mean_item(same: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    scored = [item["outcome"] == "scored" for item in same]
    read = [as_text(item["read"]) if item["outcome"] == "scored" else f"({item['outcome']})" for item in same]
    answers = [str(item["answer"])[-_TAIL // len(same) :] for item in same]
    return {
        **same[0],
        "score": mean([item["score"] for item in same]),
        "read": " | ".join(read),
        "answer": " | ".join(answers),
        "outcome": "scored" if any(scored) else same[0]["outcome"],
    }
