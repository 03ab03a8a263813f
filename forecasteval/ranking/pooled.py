"""All datasets of one rule set as one table, so that systems which answered different weeks can be
ranked.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from forecasteval.common.files import join_checksums
from forecasteval.common.records import dump_json, group_by, natural_key
from forecasteval.common.statistics import clip_interval, mean, stratified_mean

from .board import PooledRow, PooledTable, SeasonRow, SeasonTable, Week
from .scale import Interval, Level, Scale
from .significance import assign_ranks, detectable_difference
from .systems import Strata, System, count_series, count_unread, join_clusters, levels_that_count

if TYPE_CHECKING:
    from .weeks import Array, Fit, Spread

_DIGITS: Final = 12  # further digits depend on the processor
_MOST: Final = 6  # datasets that a system needs at most to be ranked
Group = tuple[str, str, str]
SystemsByGroup = dict[str, dict[Group, System]]  # by the system's name, and by dataset


class Gap(NamedTuple):
    """How much better one system is than another."""

    difference: float
    interval: Interval | None
    p: float  # not adjusted
    detectable: float | None  # the least difference that is found four times out of five


class Season(NamedTuple):
    """Systems that are connected by datasets of one rule set, and their scores over all of
    these.
    """

    answered: SystemsByGroup
    datasets: dict[Group, System]  # each with a system that answered it
    counts: dict[Level, int]  # questions by level
    weights: dict[Level, float]  # of the levels with enough questions
    fit: Fit  # of scores that are scaled to [0, 1], times `share`
    gaps: Spread  # every system's score less every other's
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
        weeks = [
            Week(
                dataset=group[1],
                n=sum(system.counts[level] for level in self.weights),
                systems=sum(group in results for results in self.answered.values()),
                pending=system.count_pending(self.weights),
                void=system.void,
                questions_sha256=group[2],
            )
            for group, system in self.datasets.items()
        ]
        effect = self.fit.design_effect
        checksum = join_checksums([week.questions_sha256 for week in weeks])
        return SeasonTable(
            benchmark=self.first.group[0],
            **self.scale.describe(),
            datasets=weeks,
            level_counts=self.counts,
            n_series=self._count_series(),
            weights=self.weights,
            design_effect=None if math.isnan(effect) else round(effect, _DIGITS),
            guess=self._guess(),
            signature={**self.first.policy, "questions_sha256": checksum},
        )

    def _count_series(self) -> int:
        """Count the clusters of the questions that count; a series may span datasets."""
        return count_series(
            [system.questions[level] for system in self.datasets.values() for level in self.weights]
        )

    def _guess(self) -> float | None:
        """Compute what a blind guess expects on all questions, if each dataset says so of its."""
        known = [
            (sum(system.counts.values()), [system.guess])
            for system in self.datasets.values()
            if system.guess is not None
        ]
        return stratified_mean(known) if len(known) == len(self.datasets) else None

    def rows(self) -> list[SeasonRow]:
        """Return the score of every system, and what it is made of, in the order of their names."""
        from .weeks import half_widths, score_spread

        scale = self.scale
        share = self.share
        worst = scale.low if scale.higher_is_better else scale.high
        scores = share * worst + scale.sign * scale.width * self.fit.scores
        halves = scale.width * half_widths(score_spread(self.fit))
        halves[~self.fit.varies] = math.nan
        rows = []
        for (name, answered), score, half in zip(
            self.answered.items(), scores.tolist(), halves.tolist(), strict=True
        ):
            results = answered.values()
            strata: Strata = [
                (weight, [share * own for each in results for own in each.questions[level].scores])
                for level, weight in self.weights.items()
            ]
            row = SeasonRow(
                name=name,
                overall_score=score,
                overall_interval=_interval(score, half, (share * scale.low, share * scale.high)),
                own_score=stratified_mean(strata),
                level_scores={
                    level: mean(own) for level, (_, own) in zip(self.weights, strata, strict=True)
                },
                n=sum(len(own) for _, own in strata),
                datasets=len(results),
                n_runs=sum(max(1, len(result.runs)) for result in results),
                **count_unread(results, self.weights),
                warnings=sum(result.row.warnings for result in results),
                degraded=any(result.row.degraded for result in results),
                blank=[result.group[1] for result in results if result.is_blank],
                kept=[result.group[1] for result in results if result.row.kept],
            )
            rows.append(row)
        return rows

    def gap(self, better: int, other: int) -> Gap:
        """Return how much better a system is than another, by their places."""
        from .weeks import Spread, half_widths

        width = self.scale.width
        most = self.share * width
        value, variance, freedom = (part[better, other] for part in self.gaps)
        difference = width * float(value.round(_DIGITS)) + 0.0
        half = width * float(half_widths(Spread(value, variance, freedom)))
        error = width * math.sqrt(variance), freedom
        least = detectable_difference(error) if half > 0 else math.inf
        return Gap(
            difference,
            _interval(difference, half, (-most, most)),
            float(self.p[better, other]),
            round(least, _DIGITS) if least <= most else None,
        )


def _interval(centre: float, half: float, bounds: Interval) -> Interval | None:
    return None if math.isnan(half) else clip_interval(centre, round(half, _DIGITS), bounds)


def pool_systems(
    systems: Iterable[System],
    min_questions: int,
    min_datasets: int | None = None,
    baselines: Collection[str] = (),
) -> tuple[list[PooledTable], list[str]]:
    """Pool a table for each rule set under which two datasets or more were answered by two systems
    or more.

    And a line for each that has none because its scores have no bounds, of which the model knows
    nothing.

    A score is what a system would have on all questions of all these datasets in one file
    (`weeks.fit_scores`): all questions count as the score counts them, by level, and not every
    week the same, so that a week of few questions weighs little. Systems that answered fewer than
    `min_datasets` datasets are `provisional`: listed last, without rank; by default that is half of
    the datasets, and at most 6. A question that two datasets hold counts twice, once a dataset;
    files that bring their own questions, which may be those of another file with a word changed,
    are no weeks, and are left out. Levels with fewer than `min_questions` questions in all are left
    out. Systems that share no dataset with the rest, directly or through others, are `apart`: in a
    table of their own, if they share two datasets with each other.
    """
    tables: list[PooledTable] = []
    remarks: list[str] = []
    for system, parts in connect_systems(systems):
        # One table says more than those of the datasets where it has several systems and several
        # datasets.
        pooled = [part for part in parts if len(part) > 1 and len(_datasets(part)) > 1]
        if pooled and math.isinf(system.scale.width):
            remarks.append(
                f"{system.group[0]}: no table over all datasets, which needs scores with bounds"
            )
            continue
        for part in pooled:
            apart = sorted(name for other in parts if other is not part for name in other)
            season = fit_season(part, min_questions)
            if season:
                tables.append(_make_table(season, apart, min_questions, min_datasets, baselines))
    return tables, remarks


# --- Systems that can be compared ---


def connect_systems(systems: Iterable[System]) -> Iterator[tuple[System, list[SystemsByGroup]]]:
    """Give a system of each benchmark and rule set, and the groups that shared datasets connect,
    the largest first.
    """
    of_datasets = (system for system in systems if system.group[1])
    alike = group_by(of_datasets, lambda system: (system.group[0], dump_json(system.policy)))
    for _, same in sorted(alike.items(), key=itemgetter(0)):
        parts: list[tuple[set[Group], SystemsByGroup]] = []
        for name, results in _by_name(same).items():
            datasets = {*results}
            members = {name: results}
            for part in [part for part in parts if not part[0].isdisjoint(results)]:
                datasets |= part[0]
                members |= part[1]
                parts.remove(part)
            parts.append((datasets, members))
        connected = (dict(sorted(members.items())) for _, members in parts)
        yield same[0], sorted(connected, key=lambda part: (-len(part), min(part)))


def _datasets(answered: SystemsByGroup) -> dict[Group, System]:
    """Return the datasets that were answered, in order, each with a system that did."""
    return dict(
        sorted(
            (pair for results in answered.values() for pair in results.items()),
            key=lambda pair: (natural_key(pair[0][1]), pair[0]),
        )
    )


def _by_name(systems: Sequence[System]) -> SystemsByGroup:
    """Group systems by the name that they have on every dataset. Two that share it on one keep
    their files' names.
    """
    taken = Counter((system.system, system.group) for system in systems)
    answered: SystemsByGroup = defaultdict(dict)
    for system in systems:
        is_shared = taken[system.system, system.group] > 1
        answered[system.name if is_shared else system.system][system.group] = system
    return answered


def fit_season(answered: SystemsByGroup, min_questions: int) -> Season | None:
    """Fit the scores of connected systems; None if no level has `min_questions` questions."""
    import numpy as np

    from .weeks import compare_pairs, difference_spread, fit_scores

    datasets = _datasets(answered)
    first = next(iter(datasets.values()))
    counts = {
        level: sum(each.counts[level] for each in datasets.values()) for level in first.weights
    }
    levels = levels_that_count(counts, min_questions)
    if not levels:
        return None
    weights = {level: first.weights[level] for level in levels}
    cells = [each.questions[level] for each in datasets.values() for level in levels]
    places = np.indices((len(datasets), len(levels))).reshape(2, -1)
    weeks, strata = places.repeat([len(cell.ids) for cell in cells], axis=1)
    names = join_clusters(cells)
    own_scores = np.full((len(answered), len(weeks)), math.nan)
    blank = np.zeros(own_scores.shape, bool)
    for system, results in enumerate(answered.values()):
        for week, group in enumerate(datasets):
            if group in results:
                at = system, weeks == week
                taken = [results[group].questions[level] for level in levels]
                own_scores[at] = [score for each in taken for score in each.scores]
                blank[at] = not any(any(each.answered) for each in taken)
    fit = fit_scores(
        first.scale.to_unit(own_scores),
        strata,
        weeks,
        np.array([*weights.values()], float),
        clusters=np.unique(names, return_inverse=True)[1] if names else None,
        blank=blank,
    )
    share = first.share_of(counts)
    # Equal scores may differ in their last digits.
    scores = (share * fit.scores).round(_DIGITS) + 0.0
    fit = fit._replace(scores=scores, errors=share**2 * fit.errors)
    gaps = difference_spread(fit)
    return Season(answered, datasets, counts, weights, fit, gaps, compare_pairs(fit, gaps))


# --- The table ---


def _make_table(
    season: Season,
    apart: list[str],
    min_questions: int,
    min_datasets: int | None,
    baselines: Collection[str],
) -> PooledTable:
    """Make the table: systems and baselines, the best first, then provisional ones."""
    import numpy as np

    least = min_datasets or min(math.ceil(len(season.datasets) / 2), _MOST)
    rows = season.rows()
    sign = season.scale.sign
    is_few = [row.datasets < least for row in rows]
    order = sorted(
        range(len(rows)),
        key=lambda place: (is_few[place], -sign * rows[place].overall_score, rows[place].name),
    )
    ranked = [place for place in order if not is_few[place] and rows[place].name not in baselines]
    pairs = np.ix_(ranked, ranked)
    scores = [rows[place].overall_score for place in ranked]
    ranks = assign_ranks(ranked, scores, season.gaps.value[pairs], season.p[pairs])
    listed = []
    for place in order:
        rank, interval = ranks.get(place, (None, None))
        row = PooledRow(
            **vars(rows[place]), provisional=is_few[place], rank=rank, rank_interval=interval
        )
        listed.append(row)
    table = season.describe()
    settings = {"min_questions": min_questions or None, "min_datasets": least}
    table.signature.update(settings)
    return PooledTable(**vars(table), kind="pooled", apart=apart, rows=listed)
