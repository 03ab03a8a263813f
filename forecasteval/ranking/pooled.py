"""All datasets of one rule set as one table, so that systems which answered different
weeks can be ranked.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from forecasteval.common.files import join_checksums
from forecasteval.common.records import dump_json, group_by, natural_key
from forecasteval.common.statistics import clip_interval, mean, stratified_mean

from .board import PooledRow, PooledTable, SeasonRow, SeasonTable, Week
from .scale import Interval, Level, Scale
from .significance import assign_ranks, detectable_difference
from .systems import (
    QuestionColumns,
    System,
    count_series,
    count_unread,
    join_clusters,
    levels_that_count,
)

if TYPE_CHECKING:
    from .weeks import Array, Estimates, Fit

_DIGITS: Final = 12  # further digits depend on the processor
# That a system must have answered to be ranked, by default
_MAX_MIN_DATASETS: Final = 6
DatasetKey = tuple[str, str, str]  # `System.group`
SystemsByDataset = dict[DatasetKey, System]
Answered = dict[str, SystemsByDataset]  # by the system's name


class TestedDifference(NamedTuple):
    """How much better one system is than another."""

    difference: float
    interval: Interval | None
    p: float  # not adjusted
    # The smallest difference that is found four times out of five
    detectable: float | None


class PooledFit(NamedTuple):
    """Systems that are connected by datasets of one rule set, and their scores
    over all of these.
    """

    answered: Answered
    datasets: SystemsByDataset  # each with a system that answered it
    counts: dict[Level, int]  # questions by level
    weights: dict[Level, float]  # of the levels with enough questions
    fit: Fit  # of scores that are scaled to [0, 1], times `share`
    differences: Estimates  # every system's score less every other's
    p: Array  # of these differences, not adjusted

    @property
    def first(self) -> System:
        return next(iter(self.datasets.values()))

    @property
    def scale(self) -> Scale:
        return self.first.scale

    @property
    def share(self) -> float:
        """Return the share of the weights that count, see `System.share_of`."""
        return self.first.share_of(self.counts)

    def describe(self) -> SeasonTable:
        """Describe what a table or a comparison over all datasets has."""
        datasets = [self._describe_dataset(key) for key in self.datasets]
        checksum = join_checksums([dataset.questions_sha256 for dataset in datasets])
        signature = {**self.first.policy, "questions_sha256": checksum}
        cells = list_cells(self.datasets.values(), self.weights)
        return SeasonTable(
            benchmark=self.first.group[0],
            **self.scale.describe(),
            datasets=datasets,
            level_counts=self.counts,
            n_series=count_series(cells),
            weights=self.weights,
            design_effect=_round_measured(self.fit.design_effect),
            guess=self._guess(),
            signature=signature,
        )

    def _describe_dataset(self, key: DatasetKey) -> Week:
        system = self.datasets[key]
        _, name, checksum = key
        questions = sum(system.counts[level] for level in self.weights)
        systems = sum(key in results for results in self.answered.values())
        return Week(
            dataset=name,
            n=questions,
            systems=systems,
            pending=system.count_pending(self.weights),
            void=system.void,
            questions_sha256=checksum,
        )

    def _guess(self) -> float | None:
        """Compute what a blind guess expects on all questions; None unless each
        dataset says it.
        """
        strata = []
        for system in self.datasets.values():
            if system.guess is None:
                return None
            strata.append((sum(system.counts.values()), [system.guess]))
        return stratified_mean(strata)

    def rows(self) -> list[SeasonRow]:
        """List the score of every system, and what it is made of, in the order
        of their names.
        """
        from .weeks import estimate_scores, half_widths

        scale = self.scale
        scores = self.share * scale.worst + scale.sign * scale.width * self.fit.scores
        halves = scale.width * half_widths(estimate_scores(self.fit))
        halves[~self.fit.varies] = math.nan
        estimates = zip(self.answered, scores.tolist(), halves.tolist(), strict=True)
        return [self._make_row(name, score, half) for name, score, half in estimates]

    def _make_row(self, name: str, score: float, half: float) -> SeasonRow:
        results = self.answered[name].values()
        strata = [self._join_scores(results, level) for level in self.weights]
        share = self.share
        bounds = (share * self.scale.low, share * self.scale.high)
        level_scores = {
            level: mean(scores)
            for level, (_, scores) in zip(self.weights, strata, strict=True)
        }
        questions = sum(len(scores) for _, scores in strata)
        runs = sum(max(1, len(result.runs)) for result in results)
        rows = [result.row for result in results]
        warnings = sum(row.warnings for row in rows)
        is_degraded = any(row.degraded for row in rows)
        blank = [result.group[1] for result in results if result.is_blank]
        kept = [result.group[1] for result in results if result.row.kept]
        return SeasonRow(
            name=name,
            overall_score=score,
            overall_interval=_round_interval(score, half, bounds),
            own_score=stratified_mean(strata),
            level_scores=level_scores,
            n=questions,
            datasets=len(results),
            n_runs=runs,
            **count_unread(results, self.weights),
            warnings=warnings,
            degraded=is_degraded,
            blank=blank,
            kept=kept,
        )

    def _join_scores(
        self, results: Iterable[System], level: Level
    ) -> tuple[float, list[float]]:
        """Join the scores of a system in a level of all its datasets, behind the
        level's weight.
        """
        cells = list_cells(results, [level])
        share = self.share
        scores = [share * score for cell in cells for score in cell.scores]
        return self.weights[level], scores

    def measure_difference(self, better: int, other: int) -> TestedDifference:
        """Measure how much better a system is than another, by their positions
        in `answered`.
        """
        from .weeks import Estimates, half_widths

        width = self.scale.width
        limit = self.share * width
        estimate = Estimates(*(column[better, other] for column in self.differences))
        difference = width * float(estimate.value.round(_DIGITS)) + 0.0
        half = width * float(half_widths(estimate))
        detectable = None
        if half > 0:
            error = width * math.sqrt(estimate.variance)
            smallest = detectable_difference((error, float(estimate.freedom)))
            if smallest <= limit:
                detectable = round(smallest, _DIGITS)
        interval = _round_interval(difference, half, (-limit, limit))
        return TestedDifference(
            difference, interval, float(self.p[better, other]), detectable
        )


def list_cells(
    datasets: Iterable[System], levels: Collection[Level]
) -> list[QuestionColumns]:
    """List the questions of each dataset and level."""
    return [system.questions[level] for system in datasets for level in levels]


def _round_measured(value: float) -> float | None:
    """Round a value; None for nan, which nothing measures."""
    if math.isnan(value):
        return None
    return round(value, _DIGITS)


def _round_interval(centre: float, half: float, bounds: Interval) -> Interval | None:
    """Make an interval of a rounded half width; None if nothing measures it."""
    rounded = _round_measured(half)
    if rounded is None:
        return None
    return clip_interval(centre, rounded, bounds)


def pool_systems(
    systems: Iterable[System],
    min_questions: int,
    min_datasets: int | None = None,
    baselines: Collection[str] = (),
) -> tuple[list[PooledTable], list[str]]:
    """Pool a table for each rule set under which two datasets or more were answered by
    two systems or more.

    A score is what a system would have on all questions of all these datasets in one
    file (`weeks.fit_scores`): all questions count as the score counts them, by level,
    and not every week the same, so that a week of few questions weighs little. A
    question that two datasets hold counts twice, once a dataset. Files that bring their
    own questions, which may be those of another file with a word changed, are no weeks,
    and are left out.

    Systems that share no dataset with the rest, directly or through others, are
    `apart`: in a table of their own, if they share two datasets with each other.

    Args:
        min_questions: levels with fewer questions in all are left out.
        min_datasets: systems that answered fewer are `provisional`: listed last,
            without rank. By default half of the datasets, and at most 6.
        baselines: systems without rank.

    Returns:
        The tables, and a line for each that there is none of because its scores have no
        bounds, of which the model knows nothing.
    """
    tables: list[PooledTable] = []
    remarks: list[str] = []
    for system, components in connect_systems(systems):
        pooled = [answered for answered in components if _is_worth_a_table(answered)]
        if pooled and math.isinf(system.scale.width):
            remarks.append(
                f"{system.group[0]}: no table over all datasets, which needs scores "
                "with bounds"
            )
            continue
        for answered in pooled:
            fit = fit_pooled(answered, min_questions)
            if fit:
                others = [other for other in components if other is not answered]
                apart = sorted(chain.from_iterable(others))
                tables.append(
                    _make_table(fit, apart, min_questions, min_datasets, baselines)
                )
    return tables, remarks


def _is_worth_a_table(answered: Answered) -> bool:
    """Return whether several systems answered several datasets, so that one table says
    more than those of the datasets.
    """
    return len(answered) > 1 and len(_list_datasets(answered)) > 1


# --- Systems that can be compared ---


def connect_systems(
    systems: Iterable[System],
) -> Iterator[tuple[System, list[Answered]]]:
    """Give a system of each benchmark and rule set, and the groups that shared datasets
    connect, the largest first.
    """

    def rules_of(system: System) -> tuple[str, str]:
        return system.group[0], dump_json(system.policy)

    of_datasets = (system for system in systems if system.group[1])
    for _, alike in sorted(group_by(of_datasets, rules_of).items(), key=itemgetter(0)):
        components: list[Answered] = []
        for name, results in _group_by_name(alike).items():
            merged = {name: results}
            separate = []
            for component in components:
                if all(
                    results.keys().isdisjoint(other) for other in component.values()
                ):
                    separate.append(component)
                else:
                    merged |= component
            components = [*separate, merged]
        ordered = [dict(sorted(component.items())) for component in components]
        yield (
            alike[0],
            sorted(ordered, key=lambda component: (-len(component), min(component))),
        )


def _list_datasets(answered: Answered) -> SystemsByDataset:
    """List the datasets that were answered, in order, each with a system that did."""
    systems: SystemsByDataset = {}
    for results in answered.values():
        systems |= results
    ordered = sorted(systems, key=lambda key: (natural_key(key[1]), key))
    return {key: systems[key] for key in ordered}


def _group_by_name(systems: Sequence[System]) -> Answered:
    """Group systems by the name that they have on every dataset. Two that share it on
    one keep their files' names.
    """
    taken = Counter((system.system, system.group) for system in systems)
    answered: Answered = defaultdict(dict)
    for system in systems:
        name = system.system
        if taken[name, system.group] > 1:
            name = system.name
        answered[name][system.group] = system
    return answered


def fit_pooled(answered: Answered, min_questions: int) -> PooledFit | None:
    """Fit the scores of connected systems; None if no level has
    `min_questions` questions.
    """
    import numpy as np

    from .weeks import compare_pairs, estimate_differences, fit_scores

    datasets = _list_datasets(answered)
    first = next(iter(datasets.values()))
    counts = {
        level: sum(system.counts[level] for system in datasets.values())
        for level in first.weights
    }
    levels = levels_that_count(counts, min_questions)
    if not levels:
        return None

    weights = {level: first.weights[level] for level in levels}
    cells = list_cells(datasets.values(), levels)
    sizes = [len(cell.ids) for cell in cells]
    # The dataset and the level of each question, in the order of `cells`.
    dataset_of_cell, level_of_cell = np.indices((len(datasets), len(levels))).reshape(
        2, -1
    )
    dataset_numbers = dataset_of_cell.repeat(sizes)
    scores = np.full((len(answered), len(dataset_numbers)), math.nan)
    is_blank = np.zeros(scores.shape, bool)
    for row, results in enumerate(answered.values()):
        for number, key in enumerate(datasets):
            if key not in results:
                continue
            at = row, dataset_numbers == number
            answers = list_cells([results[key]], levels)
            scores[at] = [score for cell in answers for score in cell.scores]
            is_blank[at] = not any(any(cell.answered) for cell in answers)

    clusters = None
    names = join_clusters(cells)
    if names:
        clusters = np.unique(names, return_inverse=True)[1]
    fit = fit_scores(
        first.scale.to_unit(scores),
        level_of_cell.repeat(sizes),
        dataset_numbers,
        np.array([*weights.values()], float),
        clusters,
        is_blank,
    )
    share = first.share_of(counts)
    # Equal scores may differ in their last digits.
    rounded = (share * fit.scores).round(_DIGITS) + 0.0
    fit = fit._replace(scores=rounded, errors=share**2 * fit.errors)
    differences = estimate_differences(fit)
    p = compare_pairs(fit, differences)
    return PooledFit(answered, datasets, counts, weights, fit, differences, p)


# --- The table ---


def _make_table(
    fit: PooledFit,
    apart: list[str],
    min_questions: int,
    min_datasets: int | None,
    baselines: Collection[str],
) -> PooledTable:
    """Make the table: systems and baselines, the best first, then provisional ones."""
    import numpy as np

    half = math.ceil(len(fit.datasets) / 2)
    min_datasets = min_datasets or min(half, _MAX_MIN_DATASETS)
    rows = fit.rows()
    sign = fit.scale.sign
    is_provisional = [row.datasets < min_datasets for row in rows]

    def sort_key(index: int) -> tuple[object, ...]:
        row = rows[index]
        return (
            is_provisional[index],
            -sign * row.overall_score,
            row.name,
        )

    order = sorted(range(len(rows)), key=sort_key)
    ranked = [
        index
        for index in order
        if not is_provisional[index] and rows[index].name not in baselines
    ]
    pairs = np.ix_(ranked, ranked)
    scores = [rows[index].overall_score for index in ranked]
    ranks = assign_ranks(ranked, scores, fit.differences.value[pairs], fit.p[pairs])
    listed = []
    for index in order:
        rank, interval = ranks.get(index, (None, None))
        row = PooledRow(
            **vars(rows[index]),
            provisional=is_provisional[index],
            rank=rank,
            rank_interval=interval,
        )
        listed.append(row)
    table = fit.describe()
    settings = {"min_questions": min_questions or None, "min_datasets": min_datasets}
    table.signature.update(settings)
    return PooledTable(**vars(table), kind="pooled", apart=apart, rows=listed)
