"""Two systems or more on the same questions: paired differences, their tests, and the questions that decide them."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from forecasteval.common.errors import InputError, printable
from forecasteval.common.results import Results, hash_questions
from forecasteval.common.statistics import mean, stratified_error, stratified_interval, t_tail
from forecasteval.common.version import __version__

from .names import without_run
from .repeats import combine_runs, describe_system, mean_result
from .report import comparison_report
from .significance import FLIPS, Difference, detectable_difference, holm, measure_differences, tally
from .systems import SEED, System, distinct_names, read_system, require_same_policy

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
        forecasters, left_out = _split_forecasters([run for runs in groups for run in runs])
        groups = [[one] for one in forecasters]
    if len(groups) < 2:
        raise InputError("compare", "expected two systems or more", str(len(groups)))
    if len(groups) > SYSTEMS:
        raise InputError("compare", f"expected at most {SYSTEMS} systems", str(len(groups)))
    systems = _read_systems(groups)
    first = systems[0]
    counts = {level: count for level, count in first.counts.items() if count}
    levels = [*counts]
    settings = {"leaderboard": __version__, "flips": FLIPS, "seed": SEED, "questions_sha256": first.group[2]}
    values = {
        "dataset": groups[0][0].get("dataset"),
        **first.scale.describe(),
        "n": len(groups[0][0]["items"]),
        "left_out": left_out,
        "level_counts": counts,
        "systems": [describe_system(system, levels) for system in systems],
        "pairs": _compare_pairs(systems, levels),
        "signature": {**first.policy, **settings},
    }
    return Results(values, comparison_report, partial(_make_page, [mean_result(runs) for runs in groups]))


def _make_page(results: Sequence[Mapping[str, Any]], comparison: Mapping[str, Any]) -> Page:
    from . import compare_page  # here: few comparisons make one

    return compare_page.make_page(results, comparison)


# --- What is compared ---


def _split_forecasters(results: Sequence[Mapping[str, Any]]) -> tuple[list[Mapping[str, Any]], int]:
    """A result for each forecaster in those that hold several, on the questions that all of these answered.

    And how many questions that leaves out. Where questions have weights, scores are multiplied by them, so that their
    mean is the weighted one. Raises InputError if fewer than two are left.
    """
    parts: list[dict[str, Any]] = []
    whole: list[Mapping[str, Any]] = []
    for result in results:
        by_forecaster: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
        for item in result.get("items", ()):
            if "forecaster" in item:
                by_forecaster[item["forecaster"]].append(item)
        parts += [{**result, "name": name, "items": items} for name, items in sorted(by_forecaster.items())]
        whole += [] if by_forecaster else [result]
    answered = [{item["question"] for item in part["items"]} for part in parts]
    shared = set.intersection(*answered) if answered else set()
    if parts and len(shared) < 2:
        raise InputError("compare", "expected two events that all forecasters answered", str(len(shared)))
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


def _read_systems(groups: Sequence[Sequence[Mapping[str, Any]]]) -> list[System]:
    """A system of the results of its runs; InputError unless all were asked the same and scored alike."""
    names = distinct_names([_name_runs(runs) for runs in groups])
    systems: list[System] = []
    first = groups[0][0]
    first_name = ""
    for name, results in zip(names, groups, strict=True):
        runs = [read_system(result, name if len(results) == 1 else None) for result in results]
        first_name = first_name or runs[0].name
        for result, run in zip(results, runs, strict=True):
            if result is not first:
                _require_same_questions(first, result, f"{first_name}, {run.name}", (first_name, run.name))
        systems.append(combine_runs(runs, name))
        require_same_policy(systems[0], systems[-1])
    return systems


def _name_runs(runs: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    if len(runs) < 2 or "name" not in runs[0]:
        return runs[0]
    return {"name": without_run(str(runs[0]["name"]), runs[0].get("dataset"))}


def _require_same_questions(a: Mapping[str, Any], b: Mapping[str, Any], where: str, names: tuple[str, str]) -> None:
    """Raise InputError if two results were not scored on the same questions, truths and sigmas."""
    if a["benchmark"] != b["benchmark"]:
        raise InputError(where, "expected the same benchmark", f"{a['benchmark']} and {b['benchmark']}")
    if a["signature"]["questions_sha256"] == b["signature"]["questions_sha256"]:
        return
    ids = [Counter(str(item["id"]) for item in result["items"]) for result in (a, b)]
    only = [_list_some((ids[0] - ids[1]).elements()), _list_some((ids[1] - ids[0]).elements())]
    if any(only):
        listed = [f"only in {name}: {some}" for name, some in zip(names, only, strict=True) if some]
        raise InputError(where, "expected the same questions", "; ".join(listed))
    a_items, b_items = (
        sorted(result["items"], key=lambda item: [str(item.get(key)) for key in ("id", "level", "truth")])
        for result in (a, b)
    )
    for field in ("level", "truth"):
        pairs = zip(a_items, b_items, strict=True)
        differing = _list_some(x["id"] for x, y in pairs if x.get(field) != y.get(field))
        if differing:
            raise InputError(where, f"expected the same {field}s", f"other ones for {differing}")
    raise InputError(where, "expected the same questions", "the same ids and truths with another prompt or Std")


def _list_some(names: Iterable[object]) -> str:
    """The first three names, and how many there are."""
    listed = sorted(map(str, names))
    more = f", … ({len(listed)})" if len(listed) > 3 else ""
    return ", ".join(printable(name, 40) for name in listed[:3]) + more


# --- Pairs ---


def _compare_pairs(systems: Sequence[System], levels: Sequence[str]) -> list[dict[str, Any]]:
    pairs = list(combinations(systems, 2))
    differences = measure_differences(pairs, levels)
    adjusted = holm([difference.p for difference in differences])
    return [
        {**_describe_pair(a, b, levels, difference), "p_holm": p}
        for (a, b), difference, p in zip(pairs, differences, adjusted, strict=True)
    ]


def _describe_pair(a: System, b: System, levels: Sequence[str], difference: Difference) -> dict[str, Any]:
    most = a.share * a.scale.width  # of the difference of two scores
    error = stratified_error(difference.spread)
    least = detectable_difference(error) if error else None
    wins = [tally(values, a.scale.sign) for _, values in difference.strata]
    by_level = [
        {"difference": mean(values), "interval": stratified_interval([(1.0, values)], (-most, most))}
        for _, values in difference.spread
    ]
    return {
        "a": a.name,
        "b": b.name,
        "difference": difference.value,
        "interval": stratified_interval(difference.spread, (-most, most)),
        "p": difference.p,
        "p_t": t_tail(difference.value / error[0], error[1]) if error else None,
        "detectable": None if least is None or least > a.scale.width else least,  # no two scores differ by more
        "levels": dict(zip(levels, wins, strict=True)),
        "level_differences": dict(zip(levels, by_level, strict=True)),
        "questions": _movers(a, b, levels, difference.parts),
    }


def _movers(a: System, b: System, levels: Sequence[str], parts: Sequence[float]) -> list[dict[str, Any]]:
    """The questions that add most to a difference, the largest first."""
    questions = (
        (name, level, x, y)
        for level in levels
        for name, x, y in zip(a.questions[level].ids, a.questions[level].scores, b.questions[level].scores, strict=True)
    )
    rows = [
        {"id": name, "level": level or None, "a": x, "b": y, "adds": part}
        for (name, level, x, y), part in zip(questions, parts, strict=True)
        if part
    ]
    rows.sort(key=lambda row: (-abs(row["adds"]), str(row["id"])))
    return rows[:MOVERS]
