"""Rankings and comparisons with their views: what notebooks and commands call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from forecasteval.common.errors import InputError
from forecasteval.common.forms import to_record
from forecasteval.display.breakdown import (
    PartDifference,
    compare_parts,
    differences_table,
)
from forecasteval.display.results import Results
from forecasteval.display.tables import Report, Table
from forecasteval.ranking import comparison, datasets, reading
from forecasteval.ranking.names import NO_SYSTEMS, UNKNOWN, Systems, split_name
from forecasteval.ranking.systems import rename

from . import report
from .by_column import add_parts
from .metadata import add_about, show_names
from .tables import AnyComparison, report_table

if TYPE_CHECKING:
    from forecasteval.display.html import Page


NO_PARTS: Final[Mapping[str, Sequence[PartDifference]]] = {}


def rank(
    results: Sequence[Mapping[str, object]],
    min_questions: int = 0,
    min_datasets: int | None = None,
    by: str | None = None,
) -> Results:
    """Rank systems: one table per dataset, best first, ties sharing a rank.

    Results named `DATASET-SYSTEM@RUN` are runs of one system, whose mean is one row
    (`combine_runs`). Where two systems or more answered several datasets, `pooled`
    holds a table over all of them, in which those are ranked that answered
    `min_datasets` (`pool_systems`). Levels with fewer than `min_questions` questions
    are left out (shown as –) and the weights renormalised, as on the public
    leaderboard. `rank_interval` are the ranks that no paired test of two systems
    contradicts (`paired_test`), at 0.05 with Holm's adjustment over all pairs of the
    table. `by`: a column of the datasets; each row then has its scores by the values of
    it. Raises InputError if a result leaves missing answers out, if results on the same
    questions were not scored by the same version and policies, and if no result
    has the column.
    """
    listed = reading.list_results(results)
    names = reading.distinct_names(listed)
    read = map(reading.read_result, listed, names)
    board = datasets.rank_results(read, min_questions, min_datasets)
    if by is not None:
        by_name = dict(zip(names, listed, strict=True))
        board, messages = add_parts(board, by, lambda name: by_name.get(name, {}))
        if messages:
            raise InputError("rank", messages[0])
    return report.BoardResults(board)


def rank_files(
    results: Sequence[Results], systems: Systems, with_single: bool = False
) -> Report:
    """Report a table for each dataset of which there are results of several files,
    `with_single` also of one; `systems` have the names.
    """
    read = map(reading.read_system, results, reading.distinct_names(results))
    named = [rename(system, systems.aliases) for system in read]
    board, _ = add_about(datasets.rank_results(named), systems)
    return [
        block
        for table in board.tables
        if with_single or not table.is_alone or table.rows[0].runs
        for block in ("", *report_table(table))
    ]


def compare(
    results: Sequence[Mapping[str, object] | Sequence[Mapping[str, object]]],
    systems: Systems = NO_SYSTEMS,
    by: str | None = None,
) -> Results:
    """Compare systems pairwise on the same questions.

    For each pair A, B: the difference of the weighted scores (A − B) with a t interval
    on the per-question differences (`stratified_error`), the p-value of `paired_test`,
    Holm's adjustment over all pairs, the smallest difference that so many questions
    show with 80 % power, wins, ties and losses of A by level, and the questions that
    move the difference most. Raises InputError for fewer than two results, and for
    different questions or truths, naming how they differ.

    A sequence of results in the place of one are runs of one system, which scores their
    mean (`combine_runs`). `systems` have the display names
    (`ranking.names.read_systems`). `by`: a column of the dataset; the key "by" then has
    each pair's difference for each of its values.
    """
    groups = comparison.group_results(results)
    compared = comparison.compare(groups)
    means = list(map(datasets.mean_result, groups))
    named = [
        {**mean, "name": row.name}
        for mean, row in zip(means, compared.systems, strict=True)
    ]
    if by is None:
        return _view_comparison(compared, systems, means)
    parts = [
        part for a, b in combinations(named, 2) for part in compare_parts(a, b, by)
    ]
    return _view_comparison(compared, systems, means, {by: parts})


def compare_over_weeks(
    results: Sequence[Mapping[str, object]],
    names: Sequence[str],
    systems: Systems = NO_SYSTEMS,
) -> Results:
    """Compare systems by the table over all datasets of `results`
    (`ranking.comparison`).
    """
    return _view_comparison(comparison.compare_over_weeks(results, names), systems)


def _view_comparison(
    compared: AnyComparison,
    systems: Systems,
    runs: Sequence[Mapping[str, object]] = (),
    by: Mapping[str, Sequence[PartDifference]] = NO_PARTS,
) -> Results:
    """Show a comparison under the display names of its systems, or the names
    of their files.

    The dataset is left out of these if they differ without it. JSON has the names
    of their files.
    """
    names = _choose_names(compared, systems)
    values: Any = compared
    shown = replace(
        values,
        systems=[replace(row, name=names[row.name]) for row in values.systems],
        pairs=_rename_pairs(values.pairs, names),
    )
    if compared.by_dataset:
        shown = replace(shown, by_dataset=_rename_pairs(compared.by_dataset, names))
    record = to_record(compared)
    if by:
        record["by"] = dict(by)
    tables = {
        column: differences_table(column, parts, names) for column, parts in by.items()
    }
    below: Report = []
    for table in tables.values():
        below += ["", table]
    return Results(
        record,
        lambda _: [*report.comparison_report(shown), *below],
        lambda _: _make_page(shown, runs, tables),
        rows=lambda _: list(map(report.flatten_pair, compared.pairs)),
    )


def _rename_pairs(pairs: Sequence[Any], names: Mapping[str, str]) -> list[Any]:
    return [replace(pair, a=names[pair.a], b=names[pair.b]) for pair in pairs]


def _choose_names(compared: AnyComparison, systems: Systems) -> dict[str, str]:
    """Choose the names that are shown, by the names of files."""
    dataset = compared.dataset
    files = [row.name for row in compared.systems]
    given = [
        systems.entries.get(systems.system_of(name, dataset), UNKNOWN).name
        for name in files
    ]
    others = [split_name(name, dataset).system for name in files]
    if len({*others}) < len(others):
        others = files
    return dict(zip(files, show_names([*zip(given, others, strict=True)]), strict=True))


def _make_page(
    comparison: AnyComparison,
    runs: Sequence[Mapping[str, object]],
    tables: Mapping[str, Table],
) -> Page:
    from .compare_page import make_page  # here: most comparisons are not drawn

    return make_page(comparison, runs, tables)
