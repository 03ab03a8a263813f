"""A gate for CI: whether a result is good enough, and whether a candidate is worse than its
baseline.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from forecasteval.common.errors import EvaluationError, InputError
from forecasteval.display.tables import show_number, show_p

from .significance import FLIPS, holm
from .systems import ALPHA, read_scale

_SCORES: Final = ("overall_score", "avg_relative_score")  # what a report calls its overall score


class GateError(EvaluationError):
    """A gate that is not passed."""

    exit_code = 6


def _reader(flag: str, expected: str, is_usable: Callable[[float], bool]) -> Callable[[str], float]:
    """A function that reads the number of an option; it raises InputError for an invalid one."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not is_usable(value):
            raise InputError(flag, expected, text or "''")
        return value

    return read


# --- A score that is too low ---


def add_threshold(parser: argparse.ArgumentParser) -> None:
    """`--fail-under`, of the command that scores; whether a score can be that low is up to the
    benchmark.
    """
    read = _reader("--fail-under", "expected a number", math.isfinite)
    parser.add_argument(
        "--fail-under", metavar="SCORE", type=read, help="exit with 6 if a score is below SCORE"
    )


def find_breach(results: Mapping[str, Any], threshold: float | None) -> list[str]:
    """The name and the score of a result whose overall score is below the threshold, or that has
    none.

    Of Prophet Arena the score is 1 - Brier, as in comparisons; InputError if there are several
    forecasters.
    """
    if threshold is None:
        return []
    scale = read_scale(results)
    if not scale.higher_is_better:
        expected = "expected a benchmark of which higher scores are better"
        raise InputError("--fail-under", expected, str(results["benchmark"]))
    if not scale.low <= threshold <= scale.high:
        raise InputError(
            "--fail-under",
            f"expected a number in [{scale.low:g}, {scale.high:g}]",
            f"{threshold:g}",
        )
    score = _overall(results)
    if score is None or math.isnan(score):
        return [f"{results['name']} (no score)"]
    # 0.7 that comes out as 0.6999999999999998 is not below 0.7.
    if round(score, 12) >= round(threshold, 12):
        return []
    shown = show_number(score)
    return [f"{results['name']} ({shown if float(shown) < threshold else f'{score:.12g}'})"]


def _overall(results: Mapping[str, Any]) -> float | None:
    """None or nan for an empty mean."""
    if "ranking" not in results:
        for key in _SCORES:
            if key in results:
                return results[key]  # type: ignore[no-any-return]
        raise InputError(
            "--fail-under", "expected results with an overall score", str(results["benchmark"])
        )
    records = [*results["forecasters"].values(), *results["provisional"].values()]
    if len(records) != 1:
        raise InputError(
            "--fail-under",
            "expected files of one forecaster",
            f"{len(records)} in {results['name']}",
        )
    return records[0]["one_minus_brier"]  # type: ignore[no-any-return]


def require_none(breaches: Sequence[str], threshold: float | None) -> None:
    """GateError if there are breaches of the threshold."""
    if breaches:
        raise GateError(f"below --fail-under {threshold}: {', '.join(breaches)}")


# --- A system that is worse ---


def add_comparison(parser: argparse.ArgumentParser) -> None:
    """`--fail-if-worse` and its level, of `compare`."""
    add = parser.add_argument
    worse = "exit with 6 if a system is significantly worse than the first one, the baseline"
    add("--fail-if-worse", action="store_true", help=worse)
    read = _reader("--alpha", "expected a number in (0, 1]", lambda value: 0 < value <= 1)
    add("--alpha", metavar="P", type=read, help=f"significance level of --fail-if-worse ({ALPHA})")


def require_baseline(args: argparse.Namespace, results: Sequence[Mapping[str, Any]]) -> None:
    """InputError for options that cannot be used, and where nothing says which system is the
    baseline.
    """
    if args.alpha is not None and not args.fail_if_worse:
        raise InputError("--alpha", "can only be given with --fail-if-worse")
    if args.alpha is not None and args.alpha < 1 / FLIPS:
        least = f"expected {1 / FLIPS:g} or more, since no p-value is smaller"
        raise InputError("--alpha", least, f"{args.alpha:g}")
    if args.fail_if_worse and any("ranking" in result for result in results):
        raise InputError(
            "--fail-if-worse",
            "expected files of one system each",
            "forecasters, none of which is the baseline",
        )


def require_not_worse(args: argparse.Namespace, comparison: Mapping[str, Any]) -> list[str]:
    """GateError if that is asked for and a system is significantly worse than the first one of a
    comparison.

    That is: its score is worse, and the two-sided p-value of the paired difference is below
    `alpha`; with several candidates after Holm's adjustment for their number (`p_holm` of the
    comparison is for all pairs). Returns a line for each candidate that could not fail whatever it
    answered: the least p-value of n differing questions is 2 / 2^n.
    """
    if not args.fail_if_worse:
        return []
    alpha = ALPHA if args.alpha is None else args.alpha
    baseline, sign = comparison["systems"][0]["name"], read_scale(comparison).sign
    pairs = [pair for pair in comparison["pairs"] if pair["a"] == baseline]
    worse = [
        f"{pair['b']} ({-pair['difference']:+.4f}, p {show_p(p)})"
        for pair, p in zip(pairs, holm([pair["p"] for pair in pairs]), strict=True)
        if sign * pair["difference"] > 0 and p < alpha
    ]
    if worse:
        raise GateError(
            f"worse than {baseline} at the level {alpha:g} (--fail-if-worse): {', '.join(worse)}"
        )
    counts = {
        pair["b"]: sum(tally["wins"] + tally["losses"] for tally in pair["levels"].values())
        for pair in pairs
    }
    return [
        f"--fail-if-worse shows nothing of {name}: it differs on {count} questions only"
        for name, count in counts.items()
        if count and 2 / 2**count >= alpha
    ]
