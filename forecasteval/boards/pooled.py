"""All datasets of one rule set as one table, so that systems which answered different weeks can be ranked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from forecasteval.common.files import join_checksums
from forecasteval.common.records import dump_json
from forecasteval.common.statistics import mean, stratified_mean

from .names import split_name
from .significance import holm
from .systems import ALPHA, SEED, UNPARSED, Scale, System

if TYPE_CHECKING:
    from .inference import Spread
    from .two_way import Array, Fit

_DIGITS: Final = 12  # the others depend on the processor
_MOST: Final = 6  # datasets that a system needs at most to be ranked
Group = tuple[str, str, str]
Answered = dict[str, dict[Group, System]]  # by the system's name, and by dataset
Interval = tuple[float, float] | None


class Season(NamedTuple):
    """Systems that are connected by datasets of one rule set, and their scores over all of these."""

    answered: Answered
    datasets: dict[Group, System]  # each with a system that answered it
    counts: dict[str, int]  # questions by level
    weights: dict[str, float]  # of the levels with enough questions
    share: float  # of the weights that count, see System
    scale: Scale
    fit: Fit  # of scores that are scaled to [0, 1], times `share`
    halves: Array  # of the scores' 95 % intervals; nan: nothing measures the error
    gaps: Spread  # every system's score less every other's
    p: Array  # of these differences, not adjusted

    @property
    def names(self) -> list[str]:
        return [*self.answered]

    def score(self, place: int) -> float:
        """The score of a system as its benchmark has it."""
        scale, value = self.scale, float(self.fit.scores[place])
        return self.share * (scale.low if scale.higher_is_better else scale.high) + scale.sign * scale.width * value


def pool_systems(
    systems: Iterable[System], min_questions: int, min_datasets: int | None = None
) -> tuple[list[dict[str, Any]], list[str]]:
    """A table for each rule set under which two datasets or more were answered by two systems or more.

    And a line for each that has none because its scores have no bounds, of which the model knows nothing.

    A score is what a system would have on all questions of all these datasets in one file (`two_way.fit_scores`): all
    questions count as the score counts them, by level, and not every week the same, so that a week of few questions
    weighs little. Systems that answered fewer than `min_datasets` datasets are `provisional`: listed last, without
    rank; by default that is half of the datasets, and at most 6. A question that two datasets hold counts twice, once a
    dataset; files that bring their own questions, which may be those of another file with a word changed, are no weeks,
    and are left out. Levels with fewer than `min_questions` questions in all are left out. Systems that share no
    dataset with the rest, directly or through others, are `apart`: in a table of their own, if they share two datasets
    with each other.
    """
    alike: dict[tuple[str, str], list[System]] = {}
    for system in systems:
        if system.group[1]:
            alike.setdefault((system.group[0], dump_json(system.policy)), []).append(system)
    tables: list[dict[str, Any]] = []
    remarks: list[str] = []
    for _, found in sorted(alike.items(), key=lambda item: item[0]):
        answered = by_name(found)
        if not _says_more(answered):
            continue
        if math.isinf(found[0].scale.width):
            remarks.append(f"{found[0].group[0]}: no table over all datasets, which needs scores with bounds")
            continue
        parts = connected(answered)
        for part in filter(_says_more, parts):
            apart = sorted(name for other in parts if other is not part for name in other)
            season = fit_season(part, min_questions)
            tables += [_make_table(season, apart, min_questions, min_datasets)] if season else []
    return tables, remarks


def _says_more(answered: Answered) -> bool:
    """Whether one table says more than those of the datasets: several systems, several datasets."""
    return len(answered) > 1 and len({group for own in answered.values() for group in own}) > 1


def by_name(systems: Iterable[System]) -> Answered:
    """Systems by the name that they have on every dataset; two that share it on one keep their files' names."""
    named = [(split_name(system.name, system.group[1]).system, system) for system in systems]
    taken = Counter((name, system.group) for name, system in named)
    answered: Answered = {}
    for name, system in named:
        own = system.name if taken[name, system.group] > 1 else name
        answered.setdefault(own, {})[system.group] = system
    return dict(sorted(answered.items()))


def connected(answered: Answered) -> list[Answered]:
    """The systems that can be compared through shared datasets, the most first."""
    from scipy.sparse import coo_array, csgraph

    groups = {group: place for place, group in enumerate(sorted({key for own in answered.values() for key in own}))}
    edges = [(row, groups[group]) for row, own in enumerate(answered.values()) for group in own]
    table = coo_array(([1] * len(edges), tuple(zip(*edges, strict=True))), (len(answered), len(groups))).tocsr()
    _, labels = csgraph.connected_components(table @ table.T, directed=False)
    parts: dict[int, Answered] = {}
    for label, (name, own) in zip(labels, answered.items(), strict=True):
        parts.setdefault(int(label), {})[name] = own
    return sorted(parts.values(), key=lambda part: (-len(part), min(part)))


def fit_season(answered: Answered, min_questions: int) -> Season | None:
    """The scores of connected systems; None if no level has `min_questions` questions."""
    import numpy as np

    from .inference import compare_pairs, difference_spread, half_widths, score_spread
    from .two_way import fit_scores

    datasets = {group: one for own in answered.values() for group, one in own.items()}
    datasets = dict(sorted(datasets.items(), key=itemgetter(0)))
    first = next(iter(datasets.values()))
    scale = first.scale
    counts = {level: sum(len(one.scores[level]) for one in datasets.values()) for level in first.weights}
    levels = [level for level, count in counts.items() if count and (count >= min_questions or not level)]
    if not levels:
        return None
    sizes = [[len(one.scores[level]) for level in levels] for one in datasets.values()]
    weeks = np.repeat(np.arange(len(sizes)), [sum(row) for row in sizes])
    strata = np.concatenate([np.repeat(np.arange(len(levels)), row) for row in sizes])
    scores = np.full((len(answered), len(strata)), np.nan)
    for row, own in zip(scores, answered.values(), strict=True):
        for week, group in enumerate(datasets):
            if group in own:
                row[weeks == week] = [scale.to_unit(score) for level in levels for score in own[group].scores[level]]
    named = [name for one in datasets.values() for level in levels for name in one.clusters.get(level, ())]
    clusters = np.unique(named, return_inverse=True)[1] if named else None
    weights = {level: first.weights[level] for level in levels}
    share = 1.0
    if first.policy.get("fixed_weights"):
        share = sum(first.weights[level] for level, count in counts.items() if count) / sum(first.weights.values())
    fit = fit_scores(scores, strata, weeks, np.array([*weights.values()], float), clusters).scale(share)
    fit = fit._replace(scores=fit.scores.round(_DIGITS) + 0.0)  # equal scores may differ in their last digits
    halves = np.where(fit.varies, half_widths(score_spread(fit)), np.nan)
    gaps = difference_spread(fit)
    return Season(answered, datasets, counts, weights, share, scale, fit, halves, gaps, compare_pairs(fit, gaps))


def describe(season: Season) -> dict[str, Any]:
    """What a table or a comparison over all datasets is made of."""
    datasets = [
        {
            "dataset": group[1] or None,
            "n": sum(len(one.scores[level]) for level in season.weights),
            "systems": sum(group in own for own in season.answered.values()),
            "questions_sha256": group[2],
        }
        for group, one in season.datasets.items()
    ]
    first = next(iter(season.datasets.values()))
    checksum = join_checksums([group[2] for group in season.datasets])
    deviation = season.fit.shock_deviation
    return {
        "benchmark": first.group[0],
        **season.scale.describe(),
        "datasets": datasets,
        "level_counts": season.counts,
        "weights": season.weights,
        "week_deviation": None if math.isnan(deviation) else round(deviation, _DIGITS),
        "signature": {**first.policy, "questions_sha256": checksum},
    }


def describe_system(season: Season, place: int) -> dict[str, Any]:
    """The score of a system, and what it is made of."""
    name, score, scale = season.names[place], season.score(place), season.scale
    bounds = season.share * scale.low, season.share * scale.high
    results = [*season.answered[name].values()]
    strata = [
        (weight, [season.share * score for one in results for score in one.scores[level]])
        for level, weight in season.weights.items()
    ]
    levels = [*season.weights]
    return {
        "name": name,
        "overall_score": score,
        "overall_interval": _interval(score, scale.width * float(season.halves[place]), bounds),
        "own_score": stratified_mean(strata),
        "level_scores": {level: mean(values) for level, (_, values) in zip(season.weights, strata, strict=True)},
        "n": sum(len(values) for _, values in strata),
        "datasets": len(results),
        "n_runs": sum(max(1, len(one.runs)) for one in results),
        "missing": sum(one.count(levels, "missing") for one in results),
        "unparsed": sum(one.count(levels, *UNPARSED) for one in results),
        "warnings": sum(one.row["warnings"] for one in results),
        "degraded": any(one.row["degraded"] for one in results),
    }


def _interval(centre: float, half: float, bounds: tuple[float, float]) -> Interval:
    if math.isnan(half):
        return None
    return max(bounds[0], centre - round(half, _DIGITS)), min(bounds[1], centre + round(half, _DIGITS))


class Gap(NamedTuple):
    """How much better a system is than another: the difference, its 95 % interval, p (not adjusted)."""

    difference: float
    interval: Interval
    p: float

    def as_difference(self, sign: int) -> tuple[float, Interval]:
        """The difference of the scores, which is below 0 (sign -1) if a lower score is better, and its interval."""
        if sign > 0 or self.interval is None:
            return sign * self.difference, self.interval
        return -self.difference, (-self.interval[1], -self.interval[0])


def measure_gaps(season: Season, first: int, others: Iterable[int]) -> list[Gap]:
    """The gaps between one system and others, by their places."""
    from .inference import half_widths

    width = season.scale.width
    values, halves = width * season.gaps.value[first].round(_DIGITS) + 0.0, width * half_widths(season.gaps)[first]
    rows = zip(values.tolist(), halves.tolist(), season.p[first].tolist(), strict=True)
    bounds = (-season.share * width, season.share * width)
    gaps = [Gap(value, _interval(value, half, bounds), p) for value, half, p in rows]
    return [gaps[other] for other in others]


# --- The table ---


def _make_table(season: Season, apart: list[str], min_questions: int, min_datasets: int | None) -> dict[str, Any]:
    from .inference import DRAWS

    least = min_datasets or min(math.ceil(len(season.datasets) / 2), _MOST)
    rows = [describe_system(season, place) for place in range(len(season.answered))]
    order = sorted(
        range(len(rows)), key=lambda place: (-season.scale.sign * rows[place]["overall_score"], rows[place]["name"])
    )
    ranked = [place for place in order if rows[place]["datasets"] >= least]
    provisional = [place for place in order if rows[place]["datasets"] < least]
    table = describe(season)
    settings = {"min_questions": min_questions or None, "min_datasets": least, "draws": DRAWS, "seed": SEED}
    table["signature"] = {**table["signature"], **settings}
    listed = [{**_UNRANKED, **rows[place]} for place in provisional]
    return {**table, "apart": apart, "rows": _rank(season, ranked, rows) + listed}


_UNRANKED: Final[Mapping[str, Any]] = {
    "rank": None,
    "provisional": True,
    "rank_interval": None,
    "p_best": None,
    "behind": None,
    "behind_interval": None,
    "p_leader": None,
    "tied_with_best": False,
}


def _rank(season: Season, ranked: list[int], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of the systems at the places `ranked`, best first, each tested against the leader.

    `p_leader` has Holm's adjustment over the comparisons with the leader, `rank_interval` over all pairs.
    """
    import numpy as np

    from .inference import adjust_pairs, chances_of_best, rank_bounds

    if not ranked:
        return []
    places = np.array(ranked)
    bounds = rank_bounds(season.gaps.select(places), adjust_pairs(season.p[np.ix_(places, places)]), ALPHA)
    by_name = np.sort(places)
    chances = dict(zip(by_name.tolist(), chances_of_best(season.fit, SEED, by_name).tolist(), strict=True))
    gaps = measure_gaps(season, ranked[0], ranked[1:])
    leads = chain([None], zip(gaps, holm([gap.p for gap in gaps]), strict=True))
    listed: list[dict[str, Any]] = []
    for number, (place, interval, lead) in enumerate(zip(ranked, bounds, leads, strict=True), 1):
        row = {**_UNRANKED, **rows[place], "rank": number, "provisional": False, "rank_interval": interval}
        row["tied_with_best"] = True
        row["p_best"] = None if math.isnan(chances[place]) else chances[place]
        if lead:
            gap, adjusted = lead
            row.update(behind=gap.difference, behind_interval=gap.interval, p_leader=round(adjusted, _DIGITS))
            row["tied_with_best"] = adjusted >= ALPHA
        if listed and row["overall_score"] == listed[-1]["overall_score"]:
            row["rank"] = listed[-1]["rank"]
        listed.append(row)
    return listed
