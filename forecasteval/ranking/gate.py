"""A gate for CI: whether a score is high enough, and whether a system is worse
than the first.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Final

from forecasteval.common.errors import EvaluationError, InputError, show_count
from forecasteval.common.exit_codes import ExitCode
from forecasteval.common.records import JsonObject
from forecasteval.display.tables import show_number, show_p

from .scale import read_scale
from .systems import ALPHA

# The keys of the score by benchmark, of which a result has one.
_SCORES: Final = ("one_minus_brier", "overall_score", "avg_relative_score")


class GateError(EvaluationError):
    """A gate that is not passed."""

    exit_code = ExitCode.GATE_NOT_PASSED


def find_breach(results: JsonObject, threshold: float) -> list[str]:
    """Find the name and the score of a result that scores below a threshold,
    or has no score.
    """
    name = results["name"]
    scale = read_scale(results)
    if not (scale.higher_is_better and scale.low <= threshold <= scale.high):
        raise InputError(
            "--fail-under",
            f"expected a score in [{scale.low:g}, {scale.high:g}] of which higher are "
            "better",
            f"{threshold:g}",
        )
    records = [results]
    if "ranking" in results:
        records = [*results["forecasters"].values(), *results["provisional"].values()]
    if len(records) != 1:
        raise InputError(
            "--fail-under",
            "expected files of one forecaster",
            f"{len(records)} in {name}",
        )
    score = next((records[0][key] for key in _SCORES if key in records[0]), None)
    if score is None or math.isnan(score):
        return [f"{name} (no score)"]
    # 0.7 that comes out as 0.6999999999999998 is not below 0.7.
    if round(score, 12) >= round(threshold, 12):
        return []
    shown = show_number(score)
    if float(shown) >= threshold:
        shown = f"{score:.12g}"
    return [f"{name} ({shown})"]


def require_not_worse(comparison: JsonObject) -> list[str]:
    """Raise GateError if a system is significantly worse than the first one
    of a comparison.

    Returns a line for each system that could not be, whatever it answered: the smallest
    p-value is 2 / 2^n if n questions differ, or n series where questions hang together.
    """
    sign = read_scale(comparison).sign
    first = comparison["systems"][0]["name"]
    pairs = [pair for pair in comparison["pairs"] if pair["a"] == first]
    significant = [pair for pair in pairs if pair["p_holm"] < ALPHA]
    worse = [pair for pair in significant if sign * pair["difference"] > 0]
    if worse:
        listed = ", ".join(map(_describe_loss, worse))
        remark = _remark_single_runs(
            comparison, [first, *(pair["b"] for pair in worse)]
        )
        raise GateError(f"worse than {first} (--fail-if-worse): {listed}{remark}")
    return [
        _describe_power(comparison, pair)
        for pair in pairs
        if pair["n_differing"] and 2 / 2 ** pair["n_differing"] >= ALPHA
    ]


def _describe_loss(pair: JsonObject) -> str:
    return f"{pair['b']} ({-pair['difference']:+.4f}, p {show_p(pair['p_holm'])})"


def _describe_power(comparison: JsonObject, pair: JsonObject) -> str:
    where = f"on {show_count(pair['n_differing'], 'question')}"
    if comparison.get("n_series"):
        where = f"in {pair['n_differing']} series"
    return f"--fail-if-worse shows nothing of {pair['b']}: it differs {where} only"


def _remark_single_runs(comparison: JsonObject, names: Collection[str]) -> str:
    """Remark on those of the named systems of which one run is compared; the model over
    all datasets measures luck by weeks.
    """
    if "datasets" in comparison:
        return ""
    systems = [system for system in comparison["systems"] if system["name"] in names]
    single = [system["name"] for system in systems if not system.get("runs")]
    if not single:
        return ""
    return f"; a single run cannot show its own luck: {', '.join(single)}"
