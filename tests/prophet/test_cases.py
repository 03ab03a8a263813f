"""Worked cases, by hand or from another library: `tests/cases/prophet.json`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pytest

from forecasteval.prophet.metrics import rank_agreement
from forecasteval.prophet.scores import (
    average_return,
    brier_score,
    crra_stake,
    expected_calibration_error,
    log_score,
    spherical_score,
)
from prophet_data import ROOT, Row, bradley_terry, evaluate

CASES: Final = json.loads((ROOT / "tests" / "cases" / "prophet.json").read_text(encoding="utf-8"))


SCORES: Final = {"brier": brier_score, "log": log_score, "spherical": spherical_score}


def outcome(given: Row) -> list[float]:
    if "outcome" in given:
        return list(given["outcome"])
    return [float(k == given["winner"]) for k in range(len(given["p"]))]


def run_bradley_terry(given: Row, expected: Any) -> None:
    p = [list(pair) for pair in zip(given["alice"], given["bob"], strict=True)]
    alice, bob = bradley_terry(p).strength
    assert (
        alice > bob + 0.1 if expected == "alice > bob" else alice == pytest.approx(bob, abs=1e-12)
    )


def run_bradley_terry_values(given: Row, expected: Any) -> None:
    assert bradley_terry(given["p"], given["prior"]).strength == pytest.approx(expected, abs=1e-6)


def run_rank_correlation(given: Row, expected: Any) -> None:
    for matrix, kind in zip(
        rank_agreement([given["a"], given["b"]]), ("spearman", "kendall"), strict=True
    ):
        assert matrix[0, 1] == pytest.approx(
            math.nan if expected[kind] is None else expected[kind], nan_ok=True
        )


def run_evaluate(given: Row, expected: Any) -> None:
    results = evaluate(given["forecasts"], given["problems"], **given["options"])
    for path, value in expected.items():
        if path == "excluded":
            got: Any = [
                [entry["what"], entry["reason"], entry["count"]] for entry in results["excluded"]
            ]
            assert sorted(got) == sorted(value)
            continue
        got = results
        for key in re.split(r"\.(?!5)", path):  # "return_0.5" is one key
            got = got.get(key) if isinstance(got, Mapping) else None
        assert got == (pytest.approx(value) if isinstance(value, float) else value), path


RUNNERS: Final = {
    "bradley_terry": run_bradley_terry,
    "bradley_terry_values": run_bradley_terry_values,
    "rank_correlation": run_rank_correlation,
    "evaluate": run_evaluate,
}


def test_table_is_whole() -> None:
    assert len(CASES) >= 70
    assert len({case["name"] for case in CASES}) == len(CASES)
    assert {case["metric"] for case in CASES} == {*SCORES, "stake", "return", "ece", *RUNNERS}


@pytest.mark.parametrize("case", CASES)
def test_case(case: Row) -> None:
    metric, given, expected = case["metric"], case["input"], case["expected"]
    if metric in RUNNERS:
        RUNNERS[metric](given, expected)
        return
    if metric in SCORES:
        got: Any = SCORES[metric](given["p"], outcome(given))
    elif metric == "stake":
        got = crra_stake(given["p"], given["q"], given["gamma"])
    elif metric == "return":
        got = average_return(given["p"], given["q"], outcome(given), given["gamma"])
    else:
        p = given["p"] * len(given["winners"])
        got = expected_calibration_error(p, np.eye(len(given["p"]))[given["winners"]])
    assert got == pytest.approx(expected, abs=1e-12), case["why"]
