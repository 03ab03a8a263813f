"""Two systems or more compared: on the same questions with all that decides a difference, or over
all weeks.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations, compress
from operator import and_
from typing import Final

from forecasteval.common.errors import InputError, printable
from forecasteval.common.records import JsonObject
from forecasteval.common.statistics import (
    holm,
    mean,
    stratified_interval,
    stratified_mean,
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
from .pooled import Gap, Season, connect_systems, fit_season
from .reading import distinct_names, list_results, read_system
from .repeats import add_run_luck, measure_runs, weigh_scores
from .scale import Interval, Level
from .significance import least_found
from .systems import (
    QuestionColumns,
    Strata,
    System,
    count_series,
    join_clusters,
    levels_that_count,
    require_same_policy,
    sum_by_cluster,
)

_NOISE: Final = 1e-12  # relative size of rounding errors in sums
SYSTEMS: Final = 50  # that are compared at a time
_NO_QUESTIONS: Final = QuestionColumns([], [], [], []).columns
MOVERS: Final = 10  # questions that are shown to move a difference most


def group_results(results: object) -> list[list[Mapping[str, object]]]:
    """List the results of each system's runs; InputError for what is not two systems or more."""
    systems = results if isinstance(results, Iterable) else [results]
    groups = [list_results([entry] if isinstance(entry, Mapping) else entry) for entry in systems]
    if not all(groups):
        raise InputError("compare", "expected the results of a system's runs", "none")
    _require_items(chain.from_iterable(groups))
    if len(groups) < 2:
        raise InputError("compare", "expected two systems or more", str(len(groups)))
    if len(groups) > SYSTEMS:
        raise InputError("compare", f"expected at most {SYSTEMS} systems", str(len(groups)))
    return groups


def _require_items(results: Iterable[Mapping[str, object]]) -> None:
    """Raise InputError for a result that ranks forecasters itself."""
    for result in results:
        if "ranking" in result:
            raise InputError(
                "compare",
                "expected systems with a score per question; `-f` ranks forecasters in one table",
                str(result.get("name")),
            )


def compare(groups: Sequence[Sequence[JsonObject]]) -> Comparison:
    """Measure the differences of systems, pair by pair; see `forecasteval.boards.compare`."""
    systems = _read_systems(groups)
    first = systems[0]
    levels = levels_that_count(first.counts, 0)
    counts = {level: first.counts[level] for level in levels}
    return Comparison(
        **first.scale.describe(),
        dataset=groups[0][0].get("dataset"),
        n=sum(counts.values()),
        n_series=count_series([first.questions[level] for level in levels]),
        pending=first.pending,
        level_counts=counts,
        systems=[describe_system(system, levels) for system in systems],
        pairs=_compare_pairs(systems, levels),
        signature={
            **first.policy,
            "leaderboard": __version__,
            "questions_sha256": first.group[2],
        },
    )


# --- What is compared ---


def _read_systems(groups: Sequence[Sequence[Mapping[str, object]]]) -> list[System]:
    """Read a system of the results of its runs; InputError unless all were asked the same and
    scored alike.
    """
    names = distinct_names(map(_name_runs, groups))
    systems: list[System] = []
    first_name = ""
    for name, results in zip(names, groups, strict=True):
        runs = [read_system(result, name if len(results) == 1 else None) for result in results]
        first_name = first_name or runs[0].name
        for result, run in zip(results, runs, strict=True):
            _require_same_questions(groups[0][0], result, (first_name, run.name))
        systems.append(combine_runs(runs, name))
        require_same_policy(systems[0], systems[-1])
    return systems


def _name_runs(runs: Sequence[JsonObject]) -> JsonObject:
    if len(runs) < 2 or "name" not in runs[0]:
        return runs[0]
    return {"name": without_run(str(runs[0]["name"]), runs[0].get("dataset"))}


def _require_same_questions(a: JsonObject, b: JsonObject, names: tuple[str, str]) -> None:
    """Raise InputError if two results were not scored on the same questions, truths and sigmas."""
    where = ", ".join(names)
    if a["benchmark"] != b["benchmark"]:
        raise InputError(
            where, "expected the same benchmark", f"{a['benchmark']} and {b['benchmark']}"
        )
    if a["signature"]["questions_sha256"] == b["signature"]["questions_sha256"]:
        return
    for field in ("id", "level", "truth"):
        of_a, of_b = (
            Counter((str(item["id"]), str(item.get(field))) for item in result["items"])
            for result in (a, b)
        )
        only = [_list_some(counts) for counts in (of_a - of_b, of_b - of_a)]
        if any(only) and field != "id":
            raise InputError(where, f"expected the same {field}s", f"other ones for {only[0]}")
        listed = [f"only in {name}: {some}" for name, some in zip(names, only, strict=True) if some]
        if listed:
            raise InputError(where, "expected the same questions", "; ".join(listed))
    raise InputError(
        where, "expected the same questions", "the same ids and truths with another prompt or Std"
    )


def _list_some(counts: Counter[tuple[str, str]]) -> str:
    """List the ids of the first three questions, and how many there are."""
    names = sorted(name for name, _ in counts.elements())
    more = f", … ({len(names)})" if len(names) > 3 else ""
    return ", ".join(printable(name, 40) for name in names[:3]) + more


# --- Pairs ---


def _make_pairs(
    gaps: Sequence[Gap],
    answers: Sequence[tuple[System, System]],
    names: Sequence[str],
    levels: Sequence[Level],
) -> list[Pair]:
    """Make the pairs of systems, those of the first one first; `answers` to the same questions."""
    adjusted = holm([gap.p for gap in gaps]).tolist()
    return [
        Pair(
            a=a,
            b=b,
            **gap._asdict(),
            p_holm=p_holm,
            levels=_tally(*both, levels),
            n_differing=_count_differing(*both, levels),
            both_read=_compare_read(*both, levels) if a == names[0] else None,
        )
        for (a, b), gap, both, p_holm in zip(
            combinations(names, 2), gaps, answers, adjusted, strict=True
        )
    ]


def _compare_pairs(systems: Sequence[System], levels: Sequence[Level]) -> list[Pair]:
    import numpy as np

    from .pairs import compare_systems

    p = compare_systems(systems, levels)
    both = list(combinations(systems, 2))
    tests = p[np.triu_indices(len(p), 1)].tolist()
    gaps = []
    for (a, b), test in zip(both, tests, strict=True):
        difference, interval, spread = _subtract(a, b, levels, a.share)
        least = least_found(spread, _find_luck(a, b, levels, a.share))
        is_possible = least <= a.share * a.scale.width
        gaps.append(Gap(difference, interval, test, least if is_possible else None))
    pairs = _make_pairs(gaps, both, [system.name for system in systems], levels)
    return [
        replace(
            pair,
            level_differences={level: _compare_level(a, b, level) for level in levels},
            questions=_find_movers(a, b, levels),
        )
        for pair, (a, b) in zip(pairs, both, strict=True)
    ]


def _subtract(
    a: System, b: System, levels: Sequence[Level], share: float
) -> tuple[float, Interval | None, Strata]:
    """Compute the weighted score of A minus that of B, its interval, and what clusters differ by.

    `share` is that of the weights which count (`System.share`).
    """
    strata = [
        (a.weights[level], [share * (x - y) for x, y in _pair_scores(a, b, level)])
        for level in levels
    ]
    spread = a.cluster(strata, levels)
    most = share * a.scale.width
    luck = _find_luck(a, b, levels, share)
    return stratified_mean(strata), stratified_interval(spread, (-most, most), luck), spread


def _find_luck(a: System, b: System, levels: Sequence[Level], share: float) -> tuple[float, float]:
    """Find what the luck of runs adds to the variance of a difference (`add_run_luck`)."""
    variance, freedom = add_run_luck(measure_runs(a, levels), measure_runs(b, levels))
    return (share / a.share) ** 2 * variance, freedom


def _pair_scores(a: System, b: System, level: Level) -> list[tuple[float, float]]:
    return list(zip(a.questions[level].scores, b.questions[level].scores, strict=True))


def _compare_level(a: System, b: System, level: Level) -> LevelDifference:
    difference, interval, _ = _subtract(a, b, [level], 1.0)
    scores = [mean(system.questions[level].scores) for system in (a, b)]
    return LevelDifference(scores=scores, difference=difference, interval=interval)


def _compare_read(a: System, b: System, levels: Sequence[Level]) -> BothRead | None:
    """Measure the difference over the questions of which both answers were read. None if there are
    none, or if both answers to all of them were.
    """
    both = {
        level: list(map(and_, a.questions[level].answered, b.questions[level].answered))
        for level in levels
    }
    count = sum(map(sum, both.values()))
    if count in (0, sum(map(len, both.values()))):
        return None
    a, b = _keep(a, both), _keep(b, both)
    difference, interval, _ = _subtract(a, b, levels, a.share)
    return BothRead(
        n=count,
        scores=[stratified_mean(system.strata(levels)) for system in (a, b)],
        difference=difference,
        interval=interval,
        levels=_tally(a, b, levels),
    )


def _keep(system: System, kept: Mapping[Level, Sequence[bool]]) -> System:
    """Return the system on the questions that are kept."""
    questions = {
        level: QuestionColumns(*(list(compress(c, each)) for c in system.questions[level].columns))
        for level, each in kept.items()
    }
    runs = tuple(_keep(run, kept) for run in system.runs)
    return replace(system, questions=questions, runs=runs)


def _tally(a: System, b: System, levels: Sequence[Level]) -> dict[Level, Tally]:
    """Wins, ties and losses of A by level."""
    tallies = {}
    for level in levels:
        signs = Counter((x > y) - (x < y) for x, y in _pair_scores(a, b, level))
        better = a.scale.sign
        tallies[level] = Tally(wins=signs[better], ties=signs[0], losses=signs[-better])
    return tallies


def _count_differing(a: System, b: System, levels: Sequence[Level]) -> int:
    """Count the questions, or the series in sum, that contribute differently to both scores."""
    of_a = weigh_scores(a, levels)
    of_b = weigh_scores(b, levels)
    differences = [x - y for x, y in zip(of_a, of_b, strict=True)]
    clusters = join_clusters([a.questions[level] for level in levels])
    noise = _NOISE * max(map(abs, differences), default=0.0)
    return sum(abs(total) > noise for total in sum_by_cluster(differences, clusters))


def _find_movers(a: System, b: System, levels: Sequence[Level]) -> list[Mover]:
    """Find the questions that add most to a difference, the largest first."""
    total = math.fsum(a.weights[level] for level in levels)
    shares = {level: a.weights[level] / total / a.counts[level] for level in levels}
    movers = [
        Mover(id=name, level=level or None, a=x, b=y, adds=shares[level] * (a.share * (x - y)))
        for level in levels
        for name, (x, y) in zip(a.questions[level].ids, _pair_scores(a, b, level), strict=True)
        if x != y
    ]
    return sorted(movers, key=lambda mover: (-abs(mover.adds), str(mover.id)))[:MOVERS]


# --- Over all weeks ---


def compare_over_weeks(
    results: Sequence[Mapping[str, object]], names: Sequence[str]
) -> SeasonComparison:
    """Compare systems by the table over all datasets of `results`.

    The fit is that of the table (`pooled.fit_season`), of all systems that datasets connect with
    these; a difference is a contrast of it. For each pair A, B: the difference of their scores
    (A − B), its 95 % interval, p by Student's t, Holm's adjustment over the pairs, and on the
    questions that both answered the wins, ties and losses of A by level; for each pair of the first
    system also the difference over the questions of which both answers were read, whose error is
    that of questions alone. Raises InputError unless exactly one benchmark and rule set connects
    the systems.
    """
    season = _find_season(results, names)
    rows = {row.name: row for row in season.rows()}
    places = {name: place for place, name in enumerate(season.answered)}
    gaps: list[Gap] = []
    answers: list[tuple[System, System]] = []
    for a, b in combinations(names, 2):
        # A − B is how much better A is, and where lower scores are better how much better B is.
        better, other = (a, b) if season.scale.sign > 0 else (b, a)
        gaps.append(season.gap(places[better], places[other]))
        answers.append((_join_weeks(season, a, b), _join_weeks(season, b, a)))
    return SeasonComparison(
        **vars(season.describe()),
        systems=[rows[name] for name in names],
        pairs=_make_pairs(gaps, answers, names, [*season.weights]),
        by_dataset=[
            difference
            for other in names[1:]
            for difference in _compare_datasets(season, names[0], other)
        ],
    )


def _compare_datasets(season: Season, name: str, other: str) -> Iterator[DatasetDifference]:
    """Measure the difference of two systems on each dataset that both answered.

    An interval is that of the questions alone, and no test is made: the model over all datasets
    decides between two systems.
    """
    shared = season.answered[name].keys() & season.answered[other].keys()
    for group in sorted(shared):
        a = season.answered[name][group]
        b = season.answered[other][group]
        levels = [level for level in season.weights if a.counts[level]]
        if not levels:
            continue
        difference, interval, _ = _subtract(a, b, levels, a.share)
        yield DatasetDifference(
            a=name,
            b=other,
            dataset=group[1],
            n=sum(a.counts[level] for level in levels),
            scores=[stratified_mean(system.strata(levels)) for system in (a, b)],
            difference=difference,
            interval=interval,
        )


def _find_season(results: Sequence[Mapping[str, object]], names: Sequence[str]) -> Season:
    listed = list_results(results)
    _require_items(listed)
    systems = map(read_system, listed, distinct_names(listed))
    connected = [
        (system, part)
        for system, parts in connect_systems(combine_all(systems)[0])
        for part in parts
        if part.keys() >= {*names}
    ]
    if len(connected) != 1:
        where = ", ".join(printable(name, 40) for name in names)
        raise InputError(
            where,
            "expected systems that are connected by shared datasets of one benchmark and rule set",
            f"{len(connected)} such benchmarks" if connected else "none",
        )
    ((system, part),) = connected
    if math.isinf(system.scale.width):
        raise InputError(
            "compare",
            "expected scores with bounds; others are compared within one dataset",
            system.group[0],
        )
    season = fit_season(part, 0)
    if season is None:
        raise InputError("compare", "expected questions", "none")
    return season


def _join_weeks(season: Season, name: str, other: str) -> System:
    """Join a system on the questions of all datasets that another one answered, too."""
    groups = sorted(season.answered[name].keys() & season.answered[other].keys())
    questions = {}
    for level in season.weights:
        weeks = [season.answered[name][group].questions[level] for group in groups]
        # The two may share no dataset.
        columns = zip(_NO_QUESTIONS, *(week.columns for week in weeks), strict=True)
        joined = QuestionColumns(*(list(chain(*column)) for column in columns))
        questions[level] = replace(joined, clusters=join_clusters(weeks))
    return replace(season.first, questions=questions, runs=())
