"""All datasets of one rule set as one table, so that systems which answered different weeks can be ranked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from forecasteval.common.files import join_checksums
from forecasteval.common.records import dump_json
from forecasteval.common.statistics import stratified_mean

from .names import split_name
from .systems import ALPHA, SEED, UNPARSED, System

if TYPE_CHECKING:
    from .two_way import Array, Fit

_DIGITS: Final = 12  # that are told of a number
Group = tuple[str, str, str]
Answered = dict[str, dict[Group, System]]  # by the system's name, and by what it was asked


def pool_systems(systems: Iterable[System], min_questions: int) -> list[dict[str, Any]]:
    """A table for each rule set under which two datasets or more were answered by two systems or more.

    A score is what a system would have on all questions of all these datasets in one file (`two_way.fit_scores`): all
    questions count as the score counts them, by level, and not every week the same, so that a week of few questions
    weighs little. A question that two datasets hold counts twice, once a dataset; files that bring their own questions,
    which may be those of another file with a word changed, are no weeks, and are left out. Levels with fewer than
    `min_questions` questions in all are left out. Systems that share no dataset with the rest, directly or through
    others, are `apart`: in a table of their own, if they share two datasets with each other.
    """
    alike: dict[tuple[str, str], list[System]] = {}
    for system in systems:
        if system.group[1]:
            alike.setdefault((system.group[0], dump_json(system.policy)), []).append(system)
    tables: list[dict[str, Any]] = []
    for _, found in sorted(alike.items(), key=lambda item: item[0]):
        answered = _by_name(found)
        parts = _connected(answered) if _says_more(answered) else []
        for part in filter(_says_more, parts):
            apart = sorted(name for other in parts if other is not part for name in other)
            tables += _pool(part, apart, min_questions)
    return tables


def _says_more(answered: Answered) -> bool:
    """Whether one table says more than those of the datasets: several systems, several datasets."""
    return len(answered) > 1 and len({group for own in answered.values() for group in own}) > 1


def _by_name(systems: Iterable[System]) -> Answered:
    """Systems by the name that they have on every dataset; two that share it on one keep their files' names."""
    named = [(split_name(system.name, system.group[1]).system, system) for system in systems]
    taken = Counter((name, system.group) for name, system in named)
    answered: Answered = {}
    for name, system in named:
        own = system.name if taken[name, system.group] > 1 else name
        answered.setdefault(own, {})[system.group] = system
    return dict(sorted(answered.items()))


def _connected(answered: Answered) -> list[Answered]:
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


def _pool(answered: Answered, apart: list[str], min_questions: int) -> list[dict[str, Any]]:
    """The table of connected systems; none if no level has enough questions."""
    import numpy as np

    from .two_way import DRAWS, fit_scores

    asked = {group: system for own in answered.values() for group, system in sorted(own.items())}
    asked = dict(sorted(asked.items()))
    first = next(iter(asked.values()))
    counts = {level: sum(len(one.scores[level]) for one in asked.values()) for level in first.weights}
    levels = [level for level, count in counts.items() if count and (count >= min_questions or not level)]
    if not levels:
        return []
    widths = [[len(one.scores[level]) for level in levels] for one in asked.values()]
    strata = np.concatenate([np.repeat(np.arange(len(levels)), width) for width in widths])
    scores = np.stack([_row(own, asked, levels) for own in answered.values()])
    weights = {level: first.weights[level] for level in levels}
    share = 1.0
    if first.policy.get("fixed_weights"):
        share = sum(first.weights[level] for level, count in counts.items() if count) / sum(first.weights.values())
    hanging = [name for one in asked.values() for level in levels for name in one.clusters.get(level, ())]
    clusters = np.unique(hanging, return_inverse=True)[1] if hanging else None
    fit = fit_scores(share * scores, strata, np.array([*weights.values()], float), clusters)
    datasets = [
        {"dataset": group[1] or None, "n": sum(width), "systems": sum(group in own for own in answered.values()),
         "questions_sha256": group[2]}
        for group, width in zip(asked, widths, strict=True)
    ]  # fmt: skip
    checksum = join_checksums([group[2] for group in asked])
    own = {"min_questions": min_questions or None, "draws": DRAWS, "seed": SEED, "questions_sha256": checksum}
    return [{
        "benchmark": first.group[0], "datasets": datasets, "level_counts": counts, "weights": weights,
        "signature": {**first.policy, **own}, "apart": apart, "rows": _rows(fit, answered, levels, share),
    }]  # fmt: skip


def _row(own: Mapping[Group, System], asked: Mapping[Group, System], levels: Sequence[str]) -> Array:
    """A system's scores on all questions, nan where it was not asked."""
    import numpy as np

    parts: list[list[float]] = []
    for group, one in asked.items():
        found = own.get(group)
        parts += [found.scores[level] if found else [math.nan] * len(one.scores[level]) for level in levels]
    return np.concatenate(parts)


class _Judged(NamedTuple):
    """What is known of every system, in the order of `answered`."""

    interval: list[tuple[float, float] | None]
    p_best: list[float | None]
    ranks: list[tuple[int, int]]
    behind: list[tuple[float, tuple[float, float] | None, float]]  # of the best: difference, interval, p (Holm)


def _judge(fit: Fit, best: int, share: float) -> _Judged:
    from .two_way import chances_of_best, compare_pairs, difference_spread, half_widths, rank_bounds, score_spread

    differences = difference_spread(fit)
    p = compare_pairs(fit, differences)
    around = _intervals(fit.scores, half_widths(score_spread(fit)).round(_DIGITS), (0.0, share))
    gaps = _intervals(differences.value[best], half_widths(differences)[best].round(_DIGITS), (-share, share))
    behind = zip(differences.value[best].tolist(), gaps, p[best].round(_DIGITS).tolist(), strict=True)
    chances = [None if math.isnan(chance) else chance for chance in chances_of_best(fit, SEED).tolist()]
    return _Judged(around, chances, rank_bounds(differences, p, ALPHA), [*behind])


def _intervals(centres: Array, halves: Array, bounds: tuple[float, float]) -> list[tuple[float, float] | None]:
    """Clipped to `bounds`, unless adjusting the score has left them."""
    low, high = bounds
    return [
        None if math.isnan(half)
        else (max(low, centre - half), min(high, centre + half)) if low <= centre <= high
        else (centre - half, centre + half)
        for centre, half in zip(centres.tolist(), halves.tolist(), strict=True)
    ]  # fmt: skip


def _rows(fit: Fit, answered: Answered, levels: Sequence[str], share: float) -> list[dict[str, Any]]:
    names = [*answered]
    # The last digits depend on the processor; equal scores may differ in them.
    fit = fit._replace(scores=fit.scores.round(_DIGITS) + 0.0)
    scores = fit.scores.tolist()
    order = sorted(range(len(names)), key=lambda place: (-scores[place], names[place]))
    judged = _judge(fit, order[0], share)
    rows: list[dict[str, Any]] = []
    for rank, place in enumerate(order, 1):
        own = [*answered[names[place]].values()]
        difference, gap, p = judged.behind[place]
        strata = [
            (own[0].weights[level], [share * score for one in own for score in one.scores[level]]) for level in levels
        ]
        rows.append({
            "rank": rows[-1]["rank"] if rows and scores[place] == scores[order[rank - 2]] else rank,
            "name": names[place],
            "overall_score": scores[place],
            "overall_interval": judged.interval[place],
            "rank_interval": judged.ranks[place],
            "p_best": judged.p_best[place],
            "behind": None if rank == 1 else difference,
            "behind_interval": None if rank == 1 else gap,
            "p_leader": None if rank == 1 else p,
            "tied_with_best": p >= ALPHA,
            "own_score": stratified_mean(strata),
            "n": sum(len(values) for _, values in strata),
            "datasets": len(own),
            "n_runs": sum(max(1, len(one.runs)) for one in own),
            "missing": sum(one.count(levels, "missing") for one in own),
            "unparsed": sum(one.count(levels, *UNPARSED) for one in own),
            "warnings": sum(one.row["warnings"] for one in own),
            "degraded": any(one.row["degraded"] for one in own),
        })  # fmt: skip
    return rows
