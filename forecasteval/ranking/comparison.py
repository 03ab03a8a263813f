"""Two systems or more compared: on the same questions with all that decides a difference, or over
all weeks.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations
from typing import Any, Final

from forecasteval.common.errors import InputError, printable
from forecasteval.common.records import hash_questions
from forecasteval.common.statistics import mean, stratified_error, stratified_interval, t_tail
from forecasteval.common.version import __version__

from .board import (
    BothRead,
    Comparison,
    LevelDifference,
    Mover,
    Pair,
    PairedDifference,
    SeasonComparison,
    Tally,
)
from .datasets import combine_all, combine_runs, describe_system
from .names import without_run
from .pooled import Season, connect_systems, fit_season
from .significance import FLIPS, Difference, detectable_difference, holm, measure_differences, tally
from .systems import (
    SEED,
    ForecasterTable,
    Level,
    System,
    distinct_names,
    read_result,
    read_system,
    require_same_policy,
)

SYSTEMS: Final = 50  # that are compared at a time
MOVERS: Final = 10  # questions that are shown to move a difference most


def group_results(
    results: Sequence[Mapping[str, object] | Sequence[Mapping[str, object]]],
) -> tuple[list[list[Mapping[str, object]]], int]:
    """The results of each system's runs, and how many questions were left out of all.

    Forecasters of one result are a system each, on the questions that all answered.
    """
    groups = [[entry] if isinstance(entry, Mapping) else list(entry) for entry in results]
    if not all(groups):
        raise InputError("compare", "expected the results of a system's runs", "none")
    left_out = 0
    if any("ranking" in run for runs in groups for run in runs):
        forecasters, left_out = _split_forecasters([run for runs in groups for run in runs])
        groups = [[forecaster] for forecaster in forecasters]
    if len(groups) < 2:
        raise InputError("compare", "expected two systems or more", str(len(groups)))
    if len(groups) > SYSTEMS:
        raise InputError("compare", f"expected at most {SYSTEMS} systems", str(len(groups)))
    return groups, left_out


def compare(groups: Sequence[Sequence[Mapping[str, Any]]], left_out: int) -> Comparison:
    """The differences of systems, pair by pair; see `forecasteval.boards.compare`."""
    systems = _read_systems(groups)
    first = systems[0]
    counts = {level: count for level, count in first.counts.items() if count}
    levels = [*counts]
    settings = {
        "leaderboard": __version__,
        "flips": FLIPS,
        "seed": SEED,
        "questions_sha256": first.group[2],
    }
    return Comparison(
        **first.scale.describe(),
        dataset=groups[0][0].get("dataset"),
        n=sum(counts.values()),
        pending=first.pending,
        left_out=left_out,
        level_counts=counts,
        systems=[describe_system(system, levels) for system in systems],
        pairs=_compare_pairs(systems, levels),
        signature={**first.policy, **settings},
    )


# --- What is compared ---


def _split_forecasters(results: Sequence[Mapping[str, Any]]) -> tuple[list[Mapping[str, Any]], int]:
    """A result for each forecaster in those that hold several, on the questions that all of these
    answered.

    And how many questions that leaves out. Where questions have weights, scores are multiplied by
    them, so that their mean is the weighted one. Raises InputError if fewer than two are left.
    """
    parts: list[dict[str, Any]] = []
    whole: list[Mapping[str, Any]] = []
    for result in results:
        by_forecaster: dict[str, list[Mapping[str, object]]] = defaultdict(list)
        for item in result.get("items", ()):
            if "forecaster" in item:
                by_forecaster[item["forecaster"]].append(item)
        parts += [
            {**result, "name": name, "items": items}
            for name, items in sorted(by_forecaster.items())
        ]
        whole += [] if by_forecaster else [result]
    answered = [{item["question"] for item in part["items"]} for part in parts]
    shared = set.intersection(*answered) if answered else set()
    if parts and len(shared) < 2:
        raise InputError(
            "compare", "expected two events that all forecasters answered", str(len(shared))
        )
    for part in parts:
        kept = [item for item in part["items"] if item["question"] in shared]
        weights = [item.get("weight", 1.0) for item in kept]
        total = math.fsum(weights) / len(kept)
        part["items"] = [
            {**item, "level": None, "score": item["score"] * (weight / total)}
            for item, weight in zip(kept, weights, strict=True)
        ]
        part["signature"] = {**part["signature"], "questions_sha256": hash_questions(shared)}
    return [*whole, *parts], len(set().union(*answered)) - len(shared)


def _read_systems(groups: Sequence[Sequence[Mapping[str, object]]]) -> list[System]:
    """A system of the results of its runs; InputError unless all were asked the same and scored
    alike.
    """
    names = distinct_names([_name_runs(runs) for runs in groups])
    systems: list[System] = []
    first = groups[0][0]
    first_name = ""
    for name, results in zip(names, groups, strict=True):
        runs = [read_system(result, name if len(results) == 1 else None) for result in results]
        first_name = first_name or runs[0].name
        for result, run in zip(results, runs, strict=True):
            if result is not first:
                _require_same_questions(first, result, (first_name, run.name))
        systems.append(combine_runs(runs, name))
        require_same_policy(systems[0], systems[-1])
    return systems


def _name_runs(runs: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    if len(runs) < 2 or "name" not in runs[0]:
        return runs[0]
    return {"name": without_run(str(runs[0]["name"]), runs[0].get("dataset"))}


def _require_same_questions(
    a: Mapping[str, Any], b: Mapping[str, Any], names: tuple[str, str]
) -> None:
    """Raise InputError if two results were not scored on the same questions, truths and sigmas."""
    where = ", ".join(names)
    if a["benchmark"] != b["benchmark"]:
        raise InputError(
            where, "expected the same benchmark", f"{a['benchmark']} and {b['benchmark']}"
        )
    if a["signature"]["questions_sha256"] == b["signature"]["questions_sha256"]:
        return
    for field in ("id", "level", "truth"):
        counts = [
            Counter((str(item["id"]), str(item.get(field))) for item in result["items"])
            for result in (a, b)
        ]
        only = [_list_some(counts[0] - counts[1]), _list_some(counts[1] - counts[0])]
        if any(only) and field == "id":
            listed = [
                f"only in {name}: {some}" for name, some in zip(names, only, strict=True) if some
            ]
            raise InputError(where, "expected the same questions", "; ".join(listed))
        if any(only):
            raise InputError(where, f"expected the same {field}s", f"other ones for {only[0]}")
    raise InputError(
        where, "expected the same questions", "the same ids and truths with another prompt or Std"
    )


def _list_some(counts: Counter[tuple[str, str]]) -> str:
    """The ids of the first three questions, and how many there are."""
    names = sorted(name for name, _ in counts.elements())
    more = f", … ({len(names)})" if len(names) > 3 else ""
    return ", ".join(printable(name, 40) for name in names[:3]) + more


# --- Pairs ---


def _compare_pairs(systems: Sequence[System], levels: Sequence[Level]) -> list[PairedDifference]:
    pairs = list(combinations(systems, 2))
    differences = measure_differences(pairs, levels)
    of_read = measure_differences(pairs, levels, both_read=True)
    described = [
        _describe_pair(a, b, levels, difference, read)
        for (a, b), difference, read in zip(pairs, differences, of_read, strict=True)
    ]
    p_values = [pair.p for pair in described]
    adjusted = zip(holm(p_values), _adjust_first(p_values, len(systems)), strict=True)
    return [
        replace(pair, p_holm=p_holm, p_first=p_first)
        for pair, (p_holm, p_first) in zip(described, adjusted, strict=True)
    ]


def _adjust_first(p_values: Sequence[float], systems: int) -> list[float | None]:
    """Holm's adjustment over the pairs of the first system, which are the first ones."""
    first = holm(p_values[: systems - 1])
    return [*first, *[None] * (len(p_values) - len(first))]


def _describe_pair(
    a: System,
    b: System,
    levels: Sequence[Level],
    difference: Difference,
    of_read: Difference,
) -> PairedDifference:
    """A pair before its p is adjusted."""
    error = stratified_error(difference.spread)
    least = detectable_difference(error) if error else None
    whole = _measure_pair(a, levels, difference)
    return PairedDifference(
        a=a.name,
        b=b.name,
        difference=whole.difference,
        interval=whole.interval,
        p=whole.p,
        p_holm=whole.p,
        p_t=t_tail(difference.value / error[0], error[1]) if error else None,
        # no two scores differ by more
        detectable=None if least is None or least > a.scale.width else least,
        levels=whole.levels,
        level_differences=whole.level_differences,
        questions=_movers(a, b, levels, difference.parts),
        both_read=_measure_pair(a, levels, of_read) if any(v for _, v in of_read.strata) else None,
    )


def _measure_pair(a: System, levels: Sequence[Level], difference: Difference) -> BothRead:
    """What a difference says in all, and of each level that has questions."""
    scale = a.scale
    most = a.share * scale.width  # of the difference of two scores
    used = [
        (level, values, spread)
        for level, (_, values), (_, spread) in zip(
            levels, difference.strata, difference.spread, strict=True
        )
        if values
    ]
    return BothRead(
        n=sum(len(values) for _, values, _ in used),
        difference=difference.value,
        interval=stratified_interval(difference.spread, (-most, most)),
        p=difference.p,
        levels={level: tally(values, scale.sign) for level, values, _ in used},
        level_differences={
            level: LevelDifference(
                difference=mean(spread),
                interval=stratified_interval([(1.0, spread)], (-most, most)),
            )
            for level, _, spread in used
        },
    )


def _movers(a: System, b: System, levels: Sequence[Level], parts: Sequence[float]) -> list[Mover]:
    """The questions that add most to a difference, the largest first."""
    questions = (
        (name, level, x, y)
        for level in levels
        for name, x, y in zip(
            a.questions[level].ids,
            a.questions[level].scores,
            b.questions[level].scores,
            strict=True,
        )
    )
    movers = [
        Mover(id=name, level=level or None, a=x, b=y, adds=part)
        for (name, level, x, y), part in zip(questions, parts, strict=True)
        if part
    ]
    movers.sort(key=lambda mover: (-abs(mover.adds), str(mover.id)))
    return movers[:MOVERS]


# --- Over all weeks ---


def compare_over_weeks(
    results: Sequence[Mapping[str, object]], names: Sequence[str]
) -> SeasonComparison:
    """Compare systems on all datasets of `results` by one fit (`weeks.fit_scores`), which holds
    only these systems.

    For each pair A, B: the difference of their scores (A − B), its 95 % interval, p by Student's t,
    Holm's adjustment over all pairs, and on the questions that both answered the wins, ties and
    losses of A by level. Raises InputError unless exactly one benchmark and rule set connects all
    of them through shared datasets.
    """
    season = _find_season(results, names)
    rows = {row.name: row for row in season.rows()}
    places = {name: place for place, name in enumerate(rows)}
    gaps = [season.gap(places[a], places[b]) for a, b in combinations(names, 2)]
    p_values = [p for _, _, p in gaps]
    adjusted = zip(holm(p_values), _adjust_first(p_values, len(names)), strict=True)
    pairs: list[Pair] = []
    for (a, b), gap, (p_holm, p_first) in zip(combinations(names, 2), gaps, adjusted, strict=True):
        difference, interval, p = gap
        if season.scale.sign < 0:  # the better system has the lower score
            difference, interval = -difference, interval and (-interval[1], -interval[0])
        pairs.append(
            Pair(
                a=a,
                b=b,
                difference=difference,
                interval=interval,
                p=p,
                p_holm=p_holm,
                p_first=p_first,
                levels=_tally(season, a, b),
            )
        )
    return SeasonComparison(
        **vars(season.describe()), systems=[rows[name] for name in names], pairs=pairs
    )


def _find_season(results: Sequence[Mapping[str, object]], names: Sequence[str]) -> Season:
    read = list(map(read_result, results, distinct_names(results)))
    systems = [result for result in read if isinstance(result, System)]
    if len(systems) < len(read):
        problem = (
            "expected systems with a score per question; "
            "forecasters are compared within one dataset"
        )
        forecasters = next(result for result in read if isinstance(result, ForecasterTable))
        raise InputError("compare", problem, forecasters.name)
    candidates = [
        (system, part)
        for system, parts in connect_systems(combine_all(systems)[0])
        for part in parts
    ]
    connected = [(system, part) for system, part in candidates if part.keys() == {*names}]
    if len(connected) != 1:
        named = ", ".join(printable(name, 40) for name in names)
        problem = (
            "expected systems that are connected by shared datasets of one benchmark and rule set"
        )
        raise InputError(
            named, problem, f"{len(connected)} such benchmarks" if connected else "none"
        )
    ((system, part),) = connected
    if math.isinf(system.scale.width):
        problem = "expected scores with bounds; others are compared within one dataset"
        raise InputError("compare", problem, system.group[0])
    season = fit_season(part, 0)
    if season is None:
        raise InputError("compare", "expected questions", "none")
    return season


def _tally(season: Season, a: str, b: str) -> dict[Level, Tally]:
    """Wins, ties and losses of A by level, on the questions that both answered."""
    of_a, of_b = season.answered[a], season.answered[b]
    shared = [(of_a[group].questions, of_b[group].questions) for group in of_a.keys() & of_b.keys()]
    tallies = {}
    for level in season.weights:
        scores = (zip(x[level].scores, y[level].scores, strict=True) for x, y in shared)
        tallies[level] = tally([x - y for x, y in chain.from_iterable(scores)], season.scale.sign)
    return tallies
