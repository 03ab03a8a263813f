"""Pairs of references and controls."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from each import each
from forecasteval.rxnopt import RxnOptEvaluator
from rxnopt_tables import question


def test_pairs_against_scipy() -> None:
    data, prediction = [], {}
    for n in range(12):
        kind = "single_varying" if n < 8 else "all_varying"
        for end, suffix in (("_reference", "_ref"), ("_reference_control", "_ref_control")):
            data.append(question(f"t{n}_q1{suffix}", [100.0, 30.0 + n, 50.0], kind + end))
            prediction[f"t{n}_q1{suffix}"] = (n * (7 if end == "_reference" else 5)) % 3
    data.append(question("lonely_q1_ref", [1.0, 2.0], "single_varying_reference"))
    found = RxnOptEvaluator(data).evaluate_all(prediction)
    scores = {item["id"]: item["score"] for item in found["items"]}
    one, other = ([scores[f"t{n}_q1_ref{end}"] for n in range(12)] for end in ("", "_control"))
    pairs = found["pairs"]["overall"]
    assert (pairs["pairs"], pairs["unpaired"]) == (12, 1)
    assert pairs["mean_difference"] == pytest.approx(np.mean(one) - np.mean(other))
    assert pairs["p_value"] == pytest.approx(stats.ttest_rel(one, other).pvalue)
    assert pairs["wins"] == sum(a > b for a, b in zip(one, other, strict=True)) > 0
    assert pairs["wins"] + pairs["ties"] + pairs["losses"] == 12
    assert [found["pairs"][kind]["pairs"] for kind in ("single_varying", "all_varying")] == [8, 4]
    equal = RxnOptEvaluator(data).evaluate_all(dict.fromkeys(prediction, 0))["pairs"]["overall"]
    assert (equal["ties"], equal["p_value"], equal["interval"]) == (12, None, None)


@each(("answered", "warned"), [(["", "_control"], False), ([""], True), (["_control"], True), ([], False)])
def test_answers_to_one_side_only_are_warned_about(answered: list[str], warned: bool) -> None:
    data = [question(f"t_q1_ref{end}", [1.0, 2.0], f"all_varying_reference{end}") for end in ("", "_control")]
    found = RxnOptEvaluator(data).evaluate_all({f"t_q1_ref{end}": 0 for end in answered})
    text = "only one side of the pairs of references and controls was answered: their difference means nothing"
    assert found["warnings"] == ([text] if warned else [])


def test_pairs_of_a_table_are_no_independent_pairs() -> None:
    """Two tables of six equal pairs know as much as two pairs: scipy's t test over the tables' means."""
    data, prediction = [], {}
    for n in range(12):
        for end, suffix in (("_reference", "_ref"), ("_reference_control", "_ref_control")):
            name = f"t{n % 2}_q{n}{suffix}"
            data.append(question(name, [100.0, 50.0, 20.0], "single_varying" + end))
            prediction[name] = 0 if end == "_reference" else 1 + n % 2
    pair = RxnOptEvaluator(data).evaluate_all(prediction)["pairs"]["overall"]
    test = stats.ttest_1samp([0.5, 0.8], 0)
    assert pair["mean_difference"] == pytest.approx(0.65)
    assert pair["p_value"] == pytest.approx(test.pvalue)
    low, high = test.confidence_interval()
    assert pair["interval"] == (pytest.approx(max(-1, low)), pytest.approx(min(1, high)))
