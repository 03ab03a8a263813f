"""Two systems or more compared: on the same questions with all that decides a
difference, or over all datasets.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations, compress
from operator import and_
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, printable
from forecasteval.common.records import JsonObject
from forecasteval.common.statistics import (
    holm,
    mean,
    stratified_interval,
    stratified_mean,
    sum_by_cluster,
)
from forecasteval.common.version import __version__

from .board import (
    BothRead,
    Comparison,
    DatasetDifference,
    LevelDifference,
    Mover,
    Pair,
    SeasonComparison,
    Tally,
)
from .datasets import combine_all, combine_runs, describe_system
from .names import without_run
from .pooled import (
    Answered,
    DatasetKey,
    PooledFit,
    TestedDifference,
    connect_systems,
    fit_pooled,
)
from .reading import distinct_names, list_results, read_system
from .repeats import add_run_luck, measure_runs, weigh_scores
from .scale import Interval, Level
from .significance import min_detectable
from .systems import (
    QuestionColumns,
    Strata,
    System,
    count_series,
    join_clusters,
    levels_that_count,
    require_same_policy,
)

SYSTEMS: Final = 50  # that are compared at a time
MOVERS: Final = 10  # questions that are shown to move a difference most
_LISTED: Final = 3  # questions that a message names
_NOISE: Final = 1e-12  # relative size of rounding errors in sums
_NO_QUESTIONS: Final = QuestionColumns([], [], [], []).columns


def group_results(results: object) -> list[list[Mapping[str, object]]]:
    """List the results of each system's runs; InputError for what is not two
    systems or more.
    """
    if isinstance(results, Mapping):
        expected = "expected a list of results, as in compare([a, b])"
        raise InputError("results", expected, type(results).__name__)
    if not isinstance(results, Iterable):
        results = [results]
    groups = []
    for entry in results:
        runs = [entry] if isinstance(entry, Mapping) else entry
        groups.append(list_results(runs))
    if not all(groups):
        raise InputError("compare", "expected the results of a system's runs", "none")
    _require_items(chain.from_iterable(groups))
    if len(groups) < 2:
        raise InputError("compare", "expected two systems or more", str(len(groups)))
    if len(groups) > SYSTEMS:
        raise InputError(
            "compare", f"expected at most {SYSTEMS} systems", str(len(groups))
        )
    return groups


def _require_items(results: Iterable[Mapping[str, object]]) -> None:
    """Raise InputError for a result that ranks forecasters itself."""
    for result in results:
        if "ranking" in result:
            raise InputError(
                "compare",
                "expected systems with a score per question; `-f` ranks forecasters in "
                "one table",
                str(result.get("name")),
            )


def compare(groups: Sequence[Sequence[JsonObject]]) -> Comparison:
    """Measure the differences of systems, pair by pair; see
    `forecasteval.boards.compare`.
    """
    systems = _read_systems(groups)
    first = systems[0]
    levels = levels_that_count(first.counts, 0)
    counts = {level: first.counts[level] for level in levels}
    questions = [first.questions[level] for level in levels]
    signature = {
        **first.policy,
        "leaderboard": __version__,
        "questions_sha256": first.group[2],
    }
    described = [describe_system(system, levels) for system in systems]
    return Comparison(
        **first.scale.describe(),
        dataset=groups[0][0].get("dataset"),
        n=sum(counts.values()),
        n_series=count_series(questions),
        pending=first.pending,
        level_counts=counts,
        systems=described,
        pairs=_compare_pairs(systems, levels),
        signature=signature,
    )


# --- What is compared ---


def _read_systems(groups: Sequence[Sequence[Mapping[str, object]]]) -> list[System]:
    """Read a system of the results of its runs; InputError unless all were asked the
    same and scored alike.
    """
    names = distinct_names(map(_name_runs, groups))
    systems: list[System] = []
    first_name = ""
    for name, results in zip(names, groups, strict=True):
        own_name = name if len(results) == 1 else None
        runs = [read_system(result, own_name) for result in results]
        first_name = first_name or runs[0].name
        for result, run in zip(results, runs, strict=True):
            _require_same_questions(groups[0][0], result, (first_name, run.name))
        systems.append(combine_runs(runs, name))
        require_same_policy(systems[0], systems[-1])
    return systems


def _name_runs(runs: Sequence[JsonObject]) -> JsonObject:
    """Return what names a system: its only run, or the name that its runs share."""
    first = runs[0]
    if len(runs) < 2 or "name" not in first:
        return first
    return {"name": without_run(str(first["name"]), first.get("dataset"))}


def _require_same_questions(
    a: JsonObject, b: JsonObject, names: tuple[str, str]
) -> None:
    """Raise InputError if two results were not scored on the same questions,
    truths and sigmas.
    """
    where = ", ".join(names)
    if a["benchmark"] != b["benchmark"]:
        raise InputError(
            where,
            "expected the same benchmark",
            f"{a['benchmark']} and {b['benchmark']}",
        )
    if a["signature"]["questions_sha256"] == b["signature"]["questions_sha256"]:
        return
    for field in ("id", "level", "truth"):
        of_a = _count_values(a, field)
        of_b = _count_values(b, field)
        only_in = dict(zip(names, (of_a - of_b, of_b - of_a), strict=True))
        if field != "id" and any(only_in.values()):
            raise InputError(
                where,
                f"expected the same {field}s",
                f"other ones for {_list_ids(of_a - of_b)}",
            )
        listed = [
            f"only in {name}: {_list_ids(only)}"
            for name, only in only_in.items()
            if only
        ]
        if listed:
            raise InputError(where, "expected the same questions", "; ".join(listed))
    raise InputError(
        where,
        "expected the same questions",
        "the same ids and truths with another prompt or Std",
    )


def _count_values(result: JsonObject, field: str) -> Counter[tuple[str, str]]:
    """Count the values of a field, each with the id of its question."""
    return Counter((str(item["id"]), str(item.get(field))) for item in result["items"])


def _list_ids(counts: Counter[tuple[str, str]]) -> str:
    """List the ids of the first three questions, and how many there are."""
    ids = sorted(name for name, _ in counts.elements())
    listed = ", ".join(printable(name, 40) for name in ids[:_LISTED])
    if len(ids) > _LISTED:
        listed += f", … ({len(ids)})"
    return listed


# --- Pairs ---


class _Difference(NamedTuple):
    """The weighted score of A minus that of B, its interval, and what
    measures its error.

    clustered: what clusters differ by. luck: what the luck of runs adds
        to the variance.
    """

    value: float
    interval: Interval | None
    clustered: Strata
    luck: tuple[float, float]


def _make_pairs(
    differences: Sequence[TestedDifference],
    matchups: Sequence[tuple[System, System]],
    names: Sequence[str],
    levels: Sequence[Level],
) -> list[Pair]:
    """Make the pairs of systems, those of the first one first.

    matchups: both systems of each pair, on the same questions.
    """
    adjusted = holm([difference.p for difference in differences]).tolist()
    tested = zip(combinations(names, 2), differences, matchups, adjusted, strict=True)
    pairs = []
    for (name, other), difference, (a, b), p_holm in tested:
        both_read = None
        if name == names[0]:
            both_read = _compare_read(a, b, levels)
        pair = Pair(
            a=name,
            b=other,
            **difference._asdict(),
            p_holm=p_holm,
            levels=_tally(a, b, levels),
            n_differing=_count_differing(a, b, levels),
            both_read=both_read,
        )
        pairs.append(pair)
    return pairs


def _compare_pairs(systems: Sequence[System], levels: Sequence[Level]) -> list[Pair]:
    import numpy as np

    from .pairs import compare_systems

    p = compare_systems(systems, levels)
    p_of_pairs = p[np.triu_indices(len(p), 1)].tolist()
    matchups = list(combinations(systems, 2))
    differences = []
    for (a, b), p_of_pair in zip(matchups, p_of_pairs, strict=True):
        value, interval, clustered, luck = _subtract(a, b, levels, a.share)
        smallest = min_detectable(clustered, luck)
        is_possible = smallest <= a.share * a.scale.width
        detectable = smallest if is_possible else None
        differences.append(TestedDifference(value, interval, p_of_pair, detectable))
    pairs = _make_pairs(
        differences, matchups, [system.name for system in systems], levels
    )
    return [
        replace(
            pair,
            level_differences={level: _compare_level(a, b, level) for level in levels},
            questions=_find_movers(a, b, levels),
        )
        for pair, (a, b) in zip(pairs, matchups, strict=True)
    ]


def _subtract(
    a: System, b: System, levels: Sequence[Level], share: float
) -> _Difference:
    """Subtract the weighted score of B from that of A.

    share: of the weights that count (`System.share`).
    """
    strata = [
        (a.weights[level], [share * (x - y) for x, y in _pair_scores(a, b, level)])
        for level in levels
    ]
    clustered = a.cluster(strata, levels)
    variance, freedom = add_run_luck(measure_runs(a, levels), measure_runs(b, levels))
    luck = (share / a.share) ** 2 * variance, freedom
    limit = share * a.scale.width
    interval = stratified_interval(clustered, (-limit, limit), luck)
    return _Difference(stratified_mean(strata), interval, clustered, luck)


def _pair_scores(a: System, b: System, level: Level) -> list[tuple[float, float]]:
    return list(zip(a.questions[level].scores, b.questions[level].scores, strict=True))


def _compare_level(a: System, b: System, level: Level) -> LevelDifference:
    difference = _subtract(a, b, [level], 1.0)
    scores = [mean(system.questions[level].scores) for system in (a, b)]
    return LevelDifference(
        scores=scores, difference=difference.value, interval=difference.interval
    )


def _compare_read(a: System, b: System, levels: Sequence[Level]) -> BothRead | None:
    """Measure the difference over the questions of which both answers were read. None
    if there are none, or if both answers to all of them were.
    """
    masks = {
        level: list(map(and_, a.questions[level].answered, b.questions[level].answered))
        for level in levels
    }
    count = sum(map(sum, masks.values()))
    all_questions = sum(map(len, masks.values()))
    if count in (0, all_questions):
        return None
    a = _select(a, masks)
    b = _select(b, masks)
    return BothRead(
        n=count, **_compare_scores(a, b, levels), levels=_tally(a, b, levels)
    )


def _compare_scores(a: System, b: System, levels: Sequence[Level]) -> dict[str, Any]:
    """Return both scores, their difference and its interval by the keys of rows."""
    difference = _subtract(a, b, levels, a.share)
    scores = [stratified_mean(system.strata(levels)) for system in (a, b)]
    return {
        "scores": scores,
        "difference": difference.value,
        "interval": difference.interval,
    }


def _select(system: System, masks: Mapping[Level, Sequence[bool]]) -> System:
    """Return the system on the questions of which the mask is true."""
    questions = {}
    for level, mask in masks.items():
        columns = [
            list(compress(column, mask)) for column in system.questions[level].columns
        ]
        questions[level] = QuestionColumns(*columns)
    runs = tuple(_select(run, masks) for run in system.runs)
    return replace(system, questions=questions, runs=runs)


def _tally(a: System, b: System, levels: Sequence[Level]) -> dict[Level, Tally]:
    """Count wins, ties and losses of A by level."""
    better = a.scale.sign
    tallies = {}
    for level in levels:
        signs = Counter((x > y) - (x < y) for x, y in _pair_scores(a, b, level))
        tallies[level] = Tally(wins=signs[better], ties=signs[0], losses=signs[-better])
    return tallies


def _count_differing(a: System, b: System, levels: Sequence[Level]) -> int:
    """Count the questions, or the series in sum, that contribute differently
    to both scores.
    """
    of_a = weigh_scores(a, levels)
    of_b = weigh_scores(b, levels)
    differences = [x - y for x, y in zip(of_a, of_b, strict=True)]
    clusters = join_clusters([a.questions[level] for level in levels])
    noise = _NOISE * max(map(abs, differences), default=0.0)
    return sum(abs(total) > noise for total in sum_by_cluster(differences, clusters))


def _find_movers(a: System, b: System, levels: Sequence[Level]) -> list[Mover]:
    """Find the questions that add most to a difference, the largest first."""
    total = math.fsum(a.weights[level] for level in levels)
    movers = []
    for level in levels:
        share = a.weights[level] / total / a.counts[level]
        scores = _pair_scores(a, b, level)
        for name, (x, y) in zip(a.questions[level].ids, scores, strict=True):
            if x != y:
                adds = share * (a.share * (x - y))
                movers.append(Mover(id=name, level=level or None, a=x, b=y, adds=adds))
    movers.sort(key=lambda mover: (-abs(mover.adds), str(mover.id)))
    return movers[:MOVERS]


# --- Over all datasets ---


def compare_over_weeks(
    results: Sequence[Mapping[str, object]], names: Sequence[str]
) -> SeasonComparison:
    """Compare systems by the table over all datasets of `results`.

    The fit is that of the table (`pooled.fit_pooled`), of all systems that datasets
    connect with these; a difference is a contrast of it. For each pair A, B: the
    difference of their scores (A − B), its 95 % interval, p by Student's t, Holm's
    adjustment over the pairs, and on the questions that both answered the wins, ties
    and losses of A by level; for each pair of the first system also the difference over
    the questions of which both answers were read, whose error is that of questions
    alone. Raises InputError unless exactly one benchmark and rule set
    connects the systems.
    """
    fit = _fit_connected(results, names)
    rows = {row.name: row for row in fit.rows()}
    indices = {name: index for index, name in enumerate(fit.answered)}
    is_higher_better = fit.scale.higher_is_better
    differences: list[TestedDifference] = []
    matchups: list[tuple[System, System]] = []
    for a, b in combinations(names, 2):
        # A − B is how much better A is, and where lower scores are better how much
        # better B is.
        better, other = (a, b) if is_higher_better else (b, a)
        differences.append(fit.measure_difference(indices[better], indices[other]))
        matchups.append((_join_datasets(fit, a, b), _join_datasets(fit, b, a)))
    by_dataset = chain.from_iterable(
        _compare_datasets(fit, names[0], other) for other in names[1:]
    )
    return SeasonComparison(
        **vars(fit.describe()),
        systems=[rows[name] for name in names],
        pairs=_make_pairs(differences, matchups, names, [*fit.weights]),
        by_dataset=list(by_dataset),
    )


def _compare_datasets(
    fit: PooledFit, name: str, other: str
) -> Iterator[DatasetDifference]:
    """Measure the difference of two systems on each dataset that both answered.

    An interval is that of the questions alone, and no test is made: the model over all
    datasets decides between two systems.
    """
    for key in _list_shared(fit, name, other):
        a = fit.answered[name][key]
        b = fit.answered[other][key]
        levels = [level for level in fit.weights if a.counts[level]]
        if not levels:
            continue
        questions = sum(a.counts[level] for level in levels)
        yield DatasetDifference(
            a=name,
            b=other,
            dataset=key[1],
            n=questions,
            **_compare_scores(a, b, levels),
        )


def _fit_connected(
    results: Sequence[Mapping[str, object]], names: Sequence[str]
) -> PooledFit:
    """Fit the systems that datasets connect with the named ones."""
    listed = list_results(results)
    _require_items(listed)
    systems = map(read_system, listed, distinct_names(listed))
    connected: list[tuple[System, Answered]] = []
    for system, parts in connect_systems(combine_all(systems)[0]):
        connected += [(system, part) for part in parts if part.keys() >= {*names}]
    if len(connected) != 1:
        count = f"{len(connected)} such benchmarks" if connected else "none"
        raise InputError(
            ", ".join(printable(name, 40) for name in names),
            "expected systems that are connected by shared datasets of one benchmark "
            "and rule set",
            count,
        )
    ((system, part),) = connected
    if math.isinf(system.scale.width):
        raise InputError(
            "compare",
            "expected scores with bounds; others are compared within one dataset",
            system.group[0],
        )
    fit = fit_pooled(part, 0)
    if fit is None:
        raise InputError("compare", "expected questions", "none")
    return fit


def _join_datasets(fit: PooledFit, name: str, other: str) -> System:
    """Join a system on the questions of all datasets that another one answered, too."""
    shared = _list_shared(fit, name, other)
    questions = {}
    for level in fit.weights:
        cells = [fit.answered[name][key].questions[level] for key in shared]
        # The two may share no dataset.
        columns = zip(_NO_QUESTIONS, *(cell.columns for cell in cells), strict=True)
        joined = QuestionColumns(*(list(chain(*column)) for column in columns))
        questions[level] = replace(joined, clusters=join_clusters(cells))
    return replace(fit.first, questions=questions, runs=())


def _list_shared(fit: PooledFit, name: str, other: str) -> list[DatasetKey]:
    """List the datasets that both systems answered."""
    return sorted(fit.answered[name].keys() & fit.answered[other].keys())
