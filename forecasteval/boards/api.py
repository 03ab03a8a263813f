"""Rankings and comparisons with their views: what notebooks and commands call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from forecasteval.common import forms
from forecasteval.display.results import Results
from forecasteval.ranking import comparison, datasets
from forecasteval.ranking.systems import distinct_names, read_result

from . import board_page, compare_page, report


def rank(
    results: Sequence[Mapping[str, object]], min_questions: int = 0, min_datasets: int | None = None
) -> Results:
    """Rank systems: one table per dataset, best first, ties sharing a rank.

    Results named `DATASET-SYSTEM@RUN` are runs of one system, whose mean is one row
    (`combine_runs`). Where two systems or more answered several datasets, `pooled` holds a table
    over all of them, in which those are ranked that answered `min_datasets` (`pool_systems`).
    Levels with fewer than `min_questions` questions are left out (shown as –) and the weights
    renormalised, as on the public leaderboard. `p_leader` is the p-value of a system's
    paired difference to the first (`paired_test`), with Holm's adjustment over all systems of the
    table; from 0.05 on it is not significant. Raises InputError if a result
    leaves missing answers out, and if results on the same questions were not scored by the same
    version and policies.
    """
    read = map(read_result, results, distinct_names(results))
    return view_board(forms.to_record(datasets.rank_results(read, min_questions, min_datasets)))


def view_board(board: Mapping[str, object]) -> Results:
    """A board that shows itself as a report and as a page."""
    return Results(board, report.board_report, board_page.make_page, rows=_board_rows)


def _board_rows(board: Mapping[str, object]) -> list[dict[str, object]]:
    return report.flatten_board(board)[1]


def compare(results: Sequence[Mapping[str, object] | Sequence[Mapping[str, object]]]) -> Results:
    """Compare systems pairwise on the same questions.

    For each pair A, B: the difference of the weighted scores (A − B) with a t interval on the
    per-question differences (`stratified_error`), the p-value of `paired_test`, Holm's adjustment
    over all pairs, the smallest difference that so many questions show with 80 % power, wins, ties
    and losses of A by level, and the questions that move the difference most. Raises InputError for
    fewer than two results, and for different questions or truths, naming how they differ.

    A sequence of results in the place of one are runs of one system, which scores their mean
    (`combine_runs`).
    """
    groups = comparison.group_results(results)
    values = forms.to_record(comparison.compare(groups))
    runs = [datasets.mean_result(group) for group in groups]
    page = partial(compare_page.make_page, runs)
    return Results(values, report.comparison_report, page, rows=report.flatten_pairs)


def compare_over_weeks(results: Sequence[Mapping[str, object]], names: Sequence[str]) -> Results:
    """Compare systems over all datasets of `results` (`ranking.comparison.compare_over_weeks`)."""
    values = forms.to_record(comparison.compare_over_weeks(results, names))
    return Results(values, report.comparison_report, rows=report.flatten_pairs)
