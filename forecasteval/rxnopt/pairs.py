"""References against their controls: the same options with and without results to learn from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from forecasteval.common.statistics import mean, stratified_error, stratified_interval, t_tail

from .kinds import BASE_TYPES

_SIDES: Final = {"_reference": "_ref", "_reference_control": "_ref_control"}  # end of the type -> end of the id


def compare_pairs(items: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """References against their controls, for all questions and for both kinds apart.

    Questions pair up by id; the order of options differs within a pair, so scores are compared, never indices.
    """
    sides: dict[str, dict[str, tuple[str, float]]] = {end: {} for end in _SIDES}
    for item in items:
        for end, suffix in _SIDES.items():
            if item["question_type"].endswith(end):
                base = item["question_type"].removesuffix(end)
                sides[end][item["id"].removesuffix(suffix)] = (base, item["score"])
    compared = {}
    for kind in ("overall", *BASE_TYPES):
        with_, without = ({n: s for n, (b, s) in side.items() if kind in ("overall", b)} for side in sides.values())
        both = sorted(with_.keys() & without.keys())
        unpaired = len(with_.keys() ^ without.keys())
        compared[kind] = _compare([with_[name] for name in both], [without[name] for name in both], unpaired)
    return compared


def _compare(with_: Sequence[float], without: Sequence[float], unpaired: int) -> dict[str, Any]:
    """Paired difference of scores, reference − control, with Student's t interval and two-sided p-value."""
    differences = [one - other for one, other in zip(with_, without, strict=True)]
    difference, error = mean(differences), stratified_error([(1.0, differences)])
    return {
        "pairs": len(differences),
        "unpaired": unpaired,
        "reference_mean": mean(with_),
        "control_mean": mean(without),
        "mean_difference": difference,
        "interval": stratified_interval([(1.0, differences)], bounds=(-1.0, 1.0)),
        "p_value": t_tail(abs(difference) / error[0], len(differences) - 1) if error else None,
        "wins": sum(value > 1e-9 for value in differences),
        "ties": sum(abs(value) <= 1e-9 for value in differences),
        "losses": sum(value < -1e-9 for value in differences),
    }


def warn_one_sided(items: Iterable[Mapping[str, Any]]) -> list[str]:
    """A warning where references were answered and controls were not, or the other way round."""
    answered = dict.fromkeys(_SIDES, 0)
    asked = dict.fromkeys(_SIDES, 0)
    for item in items:
        for end in _SIDES:
            if item["question_type"].endswith(end):
                asked[end] += 1
                answered[end] += item["outcome"] == "scored"
    if all(asked.values()) and not all(answered.values()) and any(answered.values()):
        return ["only one side of the pairs of references and controls was answered: their difference means nothing"]
    return []
