"""Two systems or more on the same questions: paired differences, their tests, and the questions that decide them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from forecasteval.common.errors import InputError, printable
from forecasteval.common.results import Results
from forecasteval.common.statistics import mean, stratified_error, stratified_interval, stratified_mean, t_tail
from forecasteval.common.version import __version__

from .names import without_run
from .repeats import combine_runs, mean_result, run_columns
from .report import comparison_report
from .significance import FLIPS, detectable_difference, holm, paired_test
from .systems import (
    SEED,
    UNPARSED,
    System,
    distinct_names,
    read_difference,
    read_system,
    require_same_policy,
    split_forecasters,
    tally,
)

if TYPE_CHECKING:
    from forecasteval.common.pages import Page

SYSTEMS: Final = 50  # that are compared at a time
MOVERS: Final = 10  # questions that are shown to move a difference most


def compare(results: Sequence[Mapping[str, Any] | Sequence[Mapping[str, Any]]]) -> Results:
    """Compare systems pairwise on the same questions.

    For each pair A, B: the difference of the weighted scores (A − B) with a t interval on the per-question
    differences (`stratified_error`), the p-value of `paired_test`, Holm's adjustment over all pairs, the smallest
    difference that so many questions show with 80 % power, wins, ties and losses of A by level, and the questions
    that move the difference most. Raises InputError for fewer than two results, and for different questions or
    truths, naming how they differ.

    A sequence of results in the place of one are runs of one system, which scores their mean (`combine_runs`). A
    result of several forecasters is as many systems: their score is 1 - Brier, on the events that all answered.
    """
    groups = [[one] if isinstance(one, Mapping) else list(one) for one in results]
    if not all(groups):
        raise InputError("compare", "expected the results of a system's runs", "none")
    left_out = 0
    if any("ranking" in run for runs in groups for run in runs):
        forecasters, left_out = split_forecasters([run for runs in groups for run in runs])
        groups = [[one] for one in forecasters]
    if len(groups) < 2:
        raise InputError("compare", "expected two systems or more", str(len(groups)))
    if len(groups) > SYSTEMS:
        raise InputError("compare", f"expected at most {SYSTEMS} systems", str(len(groups)))
    systems = _read_systems(groups)
    levels = [level for level, values in systems[0].scores.items() if values]
    return Results(
        {
            "dataset": groups[0][0].get("dataset"),
            **systems[0].scale.describe(),
            "n": len(groups[0][0]["items"]),
            "left_out": left_out,
            "level_counts": {level: len(systems[0].scores[level]) for level in levels},
            "systems": [_summary(system, levels) for system in systems],
            "pairs": _compare_pairs(systems, levels),
            "signature": {
                **systems[0].policy, "leaderboard": __version__, "flips": FLIPS, "seed": SEED,
                "questions_sha256": systems[0].group[2],
            },
        },
        comparison_report,
        partial(_make_page, [mean_result(runs) for runs in groups]),
    )  # fmt: skip


def _read_systems(groups: Sequence[Sequence[Mapping[str, Any]]]) -> list[System]:
    """A system of the results of its runs; InputError unless all were asked the same and scored alike."""
    names = distinct_names([_name_runs(runs) for runs in groups])
    systems: list[System] = []
    first, called = groups[0][0], ""
    for name, runs in zip(names, groups, strict=True):
        own = [read_system(run, name if len(runs) == 1 else None) for run in runs]
        called = called or own[0].name
        for run, system in zip(runs, own, strict=True):
            if run is not first:
                _require_same_questions(first, run, called, system.name)
        systems.append(combine_runs(own, name))
        require_same_policy(systems[0], systems[-1])
    return systems


def _name_runs(runs: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    if len(runs) < 2 or "name" not in runs[0]:
        return runs[0]
    return {"name": without_run(str(runs[0]["name"]), runs[0].get("dataset"))}


def _make_page(results: Sequence[Mapping[str, Any]], comparison: Mapping[str, Any]) -> Page:
    from . import compare_page  # here: few comparisons make one

    return compare_page.make_page(results, comparison)


def _summary(system: System, levels: Sequence[str]) -> dict[str, Any]:
    return {
        "overall_score": stratified_mean(system.strata(levels)),
        "overall_interval": stratified_interval(system.spread(levels), system.bounds),
        "missing": system.count(levels, "missing"),
        "unparsed": system.count(levels, *UNPARSED),
        **system.row,
        **run_columns(system, levels),
    }


def _compare_pairs(systems: Sequence[System], levels: Sequence[str]) -> list[dict[str, Any]]:
    pairs = list(combinations(systems, 2))
    differences = [read_difference(a, b, levels) for a, b in pairs]
    tests = paired_test([one.spread for one in differences], [one.flips for one in differences], SEED)
    rows = []
    for (a, b), difference, p, adjusted in zip(pairs, differences, tests, holm(tests), strict=True):
        error = stratified_error(difference.spread)
        rows.append({
            "a": a.name,
            "b": b.name,
            "difference": difference.value,
            "interval": stratified_interval(difference.spread, _spans(a)),
            "p": p,
            "p_holm": adjusted,
            "p_t": t_tail(difference.value / error[0], error[1]) if error else None,
            "detectable": _detectable(error, a.scale.width),
            "levels": {
                level: tally(values, a.scale.sign)
                for level, (_, values) in zip(levels, difference.strata, strict=True)
            },
            "level_differences": {
                level: _level_difference(values, _spans(a))
                for level, (_, values) in zip(levels, difference.spread, strict=True)
            },
            "questions": _movers(a, b, levels, difference.parts),
        })  # fmt: skip
    return rows


def _spans(system: System) -> tuple[float, float]:
    """The bounds of the difference of two scores."""
    most = system.share * system.scale.width
    return -most, most


def _detectable(error: tuple[float, float] | None, most: float) -> float | None:
    """None if no difference, or none that two scores can have, would show."""
    least = detectable_difference(error) if error else None
    return least if least is None or least <= most else None


def _level_difference(values: Sequence[float], bounds: tuple[float, float]) -> dict[str, Any]:
    return {"difference": mean(values), "interval": stratified_interval([(1.0, values)], bounds)}


def _movers(a: System, b: System, levels: Sequence[str], parts: Sequence[float]) -> list[dict[str, Any]]:
    """The questions that add most to a difference, the largest first."""
    questions = (
        (name, level, x, y)
        for level in levels
        for name, x, y in zip(a.ids[level], a.scores[level], b.scores[level], strict=True)
    )
    rows = [
        {"id": name, "level": level or None, "a": x, "b": y, "adds": part}
        for (name, level, x, y), part in zip(questions, parts, strict=True)
        if part
    ]
    rows.sort(key=lambda row: (-abs(row["adds"]), str(row["id"])))
    return rows[:MOVERS]


def _require_same_questions(a: Mapping[str, Any], b: Mapping[str, Any], first: str, second: str) -> None:
    """Raise InputError if two results were not scored on the same questions, truths and sigmas."""
    where = f"{first}, {second}"
    if a["benchmark"] != b["benchmark"]:
        raise InputError(where, "expected the same benchmark", f"{a['benchmark']} and {b['benchmark']}")
    if a["signature"]["questions_sha256"] == b["signature"]["questions_sha256"]:
        return
    ids = [Counter(str(item["id"]) for item in result["items"]) for result in (a, b)]
    only = [_some((ids[0] - ids[1]).elements()), _some((ids[1] - ids[0]).elements())]
    if any(only):
        told = "; ".join(f"only in {name}: {names}" for name, names in zip((first, second), only, strict=True) if names)
        raise InputError(where, "expected the same questions", told)
    pairs = list(zip(*(sorted(result["items"], key=_told_apart_by) for result in (a, b)), strict=True))
    for field in ("level", "truth"):
        differing = _some(x["id"] for x, y in pairs if x.get(field) != y.get(field))
        if differing:
            raise InputError(where, f"expected the same {field}s", f"other ones for {differing}")
    raise InputError(where, "expected the same questions", "the same ids and truths with another prompt or Std")


def _told_apart_by(item: Mapping[str, Any]) -> tuple[str, str, str]:
    return str(item["id"]), str(item.get("level")), str(item.get("truth"))


def _some(names: Iterable[object]) -> str:
    """The first three names, and how many there are."""
    listed = sorted(map(str, names))
    more = f", … ({len(listed)})" if len(listed) > 3 else ""
    return ", ".join(printable(name, 40) for name in listed[:3]) + more
