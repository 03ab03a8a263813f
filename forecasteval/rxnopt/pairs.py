"""References against their controls: the same options with and without results to learn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from forecasteval.common.statistics import clustered_error, clustered_interval, mean, t_tail

from .kinds import BASE_TYPES, table_of

_SIDES: Final = {"_reference": "_ref", "_reference_control": "_ref_control"}  # end of the type -> end of the id


def find_twin(name: str) -> str:
    """The id of the same question with references, or without; "" for a question that is no side of a pair.

    >>> find_twin("t_q1_ref"), find_twin("t_q1_ref_control"), find_twin("t_q1")
    ('t_q1_ref_control', 't_q1_ref', '')
    """
    reference, control = _SIDES.values()
    if name.endswith(control):
        return name.removesuffix("_control")
    return f"{name}_control" if name.endswith(reference) else ""


def compare_pairs(items: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """References against their controls, for all questions and for both kinds apart; questions pair up by id."""
    sides: dict[str, dict[str, tuple[str, float]]] = {end: {} for end in _SIDES}
    for end, item in _of_pairs(items):
        base = item["question_type"].removesuffix(end)
        sides[end][item["id"].removesuffix(_SIDES[end])] = (base, item["score"])
    compared = {}
    for kind in ("overall", *BASE_TYPES):
        with_, without = ({n: s for n, (b, s) in side.items() if kind in ("overall", b)} for side in sides.values())
        both = sorted(with_.keys() & without.keys())
        compared[kind] = {
            "pairs": len(both),
            "unpaired": len(with_.keys() ^ without.keys()),
            "reference_mean": mean([with_[name] for name in both]),
            "control_mean": mean([without[name] for name in both]),
            **_compare([with_[name] - without[name] for name in both], list(map(table_of, both))),
        }
    return compared


def _compare(differences: Sequence[float], tables: Sequence[str]) -> dict[str, Any]:
    """Paired difference of scores, reference − control, with t interval and p-value, both clustered by table."""
    difference, error = mean(differences), clustered_error(differences, tables)
    return {
        "mean_difference": difference,
        "interval": clustered_interval(differences, tables, bounds=(-1.0, 1.0)),
        "p_value": t_tail(abs(difference) / error[0], error[1]) if error else None,
        "wins": sum(value > 1e-9 for value in differences),
        "ties": sum(abs(value) <= 1e-9 for value in differences),
        "losses": sum(value < -1e-9 for value in differences),
    }


def warn_one_sided(items: Sequence[Mapping[str, Any]]) -> list[str]:
    """A warning where references were answered and controls were not, or the other way round."""
    given = {end for end, _ in _of_pairs(items)}
    answered = {end for end, item in _of_pairs(items) if item["outcome"] == "scored"}
    if len(given) == 2 and len(answered) == 1:
        return ["only one side of the pairs of references and controls was answered: their difference means nothing"]
    return []


def _of_pairs(items: Sequence[Mapping[str, Any]]) -> list[tuple[str, Mapping[str, Any]]]:
    """The items that are one side of a pair, with the end of their type."""
    return [(end, item) for item in items for end in _SIDES if item["question_type"].endswith(end)]
