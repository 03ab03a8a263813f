"""A gate for CI: whether a result is good enough, and whether a candidate is worse than its baseline."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from forecasteval.common.errors import EvaluationError, InputError
from forecasteval.common.report import show_number

from .significance import FLIPS, holm
from .systems import ALPHA, read_scale

_SCORES: Final = ("overall_score", "avg_relative_score")  # what a report calls its overall score


class GateError(EvaluationError):
    """A gate that is not passed."""

    exit_code = 6


def add_threshold(parser: argparse.ArgumentParser) -> None:
    """`--fail-under`, of the command that scores."""
    parser.add_argument("--fail-under", metavar="SCORE", type=_threshold, help="exit with 6 if a score is below SCORE")


def add_comparison(parser: argparse.ArgumentParser) -> None:
    """`--fail-if-worse` and its level, of `compare`."""
    add = parser.add_argument
    worse = "exit with 6 if a system is significantly worse than the one named first, the baseline"
    add("--fail-if-worse", action="store_true", help=worse)
    level = f"significance level of --fail-if-worse ({ALPHA})"
    add("--alpha", metavar="P", type=_alpha_level, help=level)


def _threshold(text: str) -> float:
    """A number; whether a score can be that is up to the benchmark."""
    value = _number(text)
    if not math.isfinite(value):
        raise InputError("--fail-under", "expected a number", text or "''")
    return value


def _alpha_level(text: str) -> float:
    value = _number(text)
    if not 0 < value <= 1:  # nor nan
        raise InputError("--alpha", "expected a number in (0, 1]", text or "''")
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def find_breach(results: Mapping[str, Any], threshold: float | None) -> list[str]:
    """What to tell of a result whose overall score is below the threshold, or that has none; nothing if all is well.

    Of Prophet Arena the score is 1 - Brier, as in comparisons; InputError if there are several forecasters.
    """
    if threshold is None:
        return []
    scale = read_scale(results)
    if not scale.higher_is_better:
        expected = "expected a benchmark of which higher scores are better"
        raise InputError("--fail-under", expected, str(results["benchmark"]))
    if not scale.low <= threshold <= scale.high:
        raise InputError("--fail-under", f"expected a number in [{scale.low:g}, {scale.high:g}]", f"{threshold:g}")
    score = _overall(results)
    if score is None:
        return [f"{results['name']} (no score)"]
    # 0.7 that comes out as 0.6999999999999998 is not below 0.7.
    if round(score, 12) >= round(threshold, 12):
        return []
    shown = show_number(score)
    return [f"{results['name']} ({shown if float(shown) < threshold else f'{score:.12g}'})"]


def require_none(breaches: Sequence[str], threshold: float | None) -> None:
    """GateError if there are breaches of the threshold."""
    if breaches:
        raise GateError(f"below --fail-under {threshold}: {', '.join(breaches)}")


def _overall(results: Mapping[str, Any]) -> float | None:
    """None for an empty mean."""
    if "ranking" in results:
        records = [*results["forecasters"].values(), *results["provisional"].values()]
        if len(records) != 1:
            raise InputError("--fail-under", "expected files of one forecaster", f"{len(records)} in {results['name']}")
        score = records[0]["one_minus_brier"]
    else:
        key = next((key for key in _SCORES if key in results), "")
        if not key:
            raise InputError("--fail-under", "expected results with an overall score", str(results["benchmark"]))
        score = results[key]
    return None if score is None or score != score else float(score)


def require_baseline(args: argparse.Namespace, results: Sequence[Mapping[str, Any]]) -> None:
    """InputError for options that cannot be used, and where nothing says which system is the baseline."""
    if args.alpha is not None and not args.fail_if_worse:
        raise InputError("--alpha", "can only be given with --fail-if-worse")
    if args.alpha is not None and args.alpha < 1 / FLIPS:
        least = f"expected {1 / FLIPS:g} or more, since no p-value is smaller"
        raise InputError("--alpha", least, f"{args.alpha:g}")
    if args.fail_if_worse and any("ranking" in result for result in results):
        raise InputError("--fail-if-worse", "expected files of one system each", "forecasters, of which none is first")


def find_powerless(args: argparse.Namespace, comparison: Mapping[str, Any]) -> list[str]:
    """A line per candidate that could not fail whatever it answered there: too few questions tell it from the baseline.

    The least p-value of n differing questions is 2 / 2^n.
    """
    if not args.fail_if_worse:
        return []
    counts = {
        pair["b"]: sum(level["wins"] + level["losses"] for level in pair["levels"].values())
        for pair in _against_baseline(comparison)
    }
    return [
        f"--fail-if-worse shows nothing of {name}: it differs on {count} questions only"
        for name, count in counts.items()
        if count and 2 / 2**count >= _alpha(args)
    ]


def _alpha(args: argparse.Namespace) -> float:
    return ALPHA if args.alpha is None else float(args.alpha)


def _against_baseline(comparison: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    baseline = comparison["systems"][0]["name"]
    return [pair for pair in comparison["pairs"] if pair["a"] == baseline]


def require_not_worse(args: argparse.Namespace, comparison: Mapping[str, Any]) -> None:
    """GateError if a system is significantly worse than the first one of a comparison, and that is asked.

    That is: its score is worse, and the two-sided p-value of the paired difference is below `alpha`; with several
    candidates after Holm's adjustment for their number (`p_holm` of the comparison is for all pairs).
    """
    if not args.fail_if_worse:
        return
    pairs, sign = _against_baseline(comparison), read_scale(comparison).sign
    worse = [
        f"{pair['b']} ({-pair['difference']:+.4f}, p {p:.4f})"
        for pair, p in zip(pairs, holm([pair["p"] for pair in pairs]), strict=True)
        if sign * pair["difference"] > 0 and p < _alpha(args)
    ]
    if worse:
        baseline = comparison["systems"][0]["name"]
        raise GateError(f"worse than {baseline} at the level {_alpha(args):g} (--fail-if-worse): {', '.join(worse)}")
