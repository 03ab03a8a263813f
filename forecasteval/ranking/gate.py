"""A gate for CI: whether a score is high enough, and whether a system is worse than the first."""

from __future__ import annotations

import math
from collections.abc import Collection

from forecasteval.common.errors import EvaluationError, InputError, show_count
from forecasteval.common.exit_codes import ExitCode
from forecasteval.common.records import JsonObject
from forecasteval.display.tables import show_number, show_p

from .scale import read_scale
from .systems import ALPHA


class GateError(EvaluationError):
    """A gate that is not passed."""

    exit_code = ExitCode.GATE_NOT_PASSED


def find_breach(results: JsonObject, threshold: float) -> list[str]:
    """Find the name and the score of a result that scores below a threshold, or has no score."""
    scale = read_scale(results)
    records = [results]
    if not (scale.higher_is_better and scale.low <= threshold <= scale.high):
        raise InputError(
            "--fail-under",
            f"expected a score in [{scale.low:g}, {scale.high:g}] of which higher are better",
            f"{threshold:g}",
        )
    if "ranking" in results:
        records = [*results["forecasters"].values(), *results["provisional"].values()]
    if len(records) != 1:
        raise InputError(
            "--fail-under",
            "expected files of one forecaster",
            f"{len(records)} in {results['name']}",
        )
    keys = ("one_minus_brier", "overall_score", "avg_relative_score")
    score = next((records[0][key] for key in keys if key in records[0]), None)
    if score is None or math.isnan(score):
        return [f"{results['name']} (no score)"]
    # 0.7 that comes out as 0.6999999999999998 is not below 0.7.
    if round(score, 12) >= round(threshold, 12):
        return []
    shown = show_number(score)
    return [f"{results['name']} ({shown if float(shown) < threshold else f'{score:.12g}'})"]


def require_not_worse(comparison: JsonObject) -> list[str]:
    """Raise GateError if a system is significantly worse than the first one of a comparison.

    Returns a line for each system that could not be, whatever it answered: the least p-value is
    2 / 2^n if n questions differ, or n series where questions hang together.
    """
    sign = read_scale(comparison).sign
    worse: list[str] = []
    unsure: list[str] = []
    names: list[str] = []
    first = comparison["systems"][0]["name"]
    for pair in (pair for pair in comparison["pairs"] if pair["a"] == first):
        count = pair["n_differing"]
        if sign * pair["difference"] > 0 and pair["p_holm"] < ALPHA:
            names.append(pair["b"])
            worse.append(f"{pair['b']} ({-pair['difference']:+.4f}, p {show_p(pair['p_holm'])})")
        elif count and 2 / 2**count >= ALPHA:
            where = f"on {show_count(count, 'question')}"
            if comparison.get("n_series"):
                where = f"in {count} series"
            unsure.append(f"--fail-if-worse shows nothing of {pair['b']}: it differs {where} only")
    if worse:
        remark = _remark_single_runs(comparison, [first, *names])
        raise GateError(f"worse than {first} (--fail-if-worse): {', '.join(worse)}{remark}")
    return unsure


def _remark_single_runs(comparison: JsonObject, names: Collection[str]) -> str:
    """Remark on those of the named systems of which one run is compared; the model over all
    datasets measures luck by weeks.
    """
    if "datasets" in comparison:
        return ""
    systems = [system for system in comparison["systems"] if system["name"] in names]
    single = [system["name"] for system in systems if not system.get("runs")]
    return f"; a single run cannot show its own luck: {', '.join(single)}" if single else ""
