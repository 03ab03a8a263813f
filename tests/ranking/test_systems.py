"""What rankings and comparisons read of a result, and which results they refuse."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import pytest

from boards_folders import column, score, system
from cli import ROOT, Record, number, q
from eval import FutureXEvaluator
from forecasteval import evaluate
from forecasteval.boards import compare, rank
from forecasteval.common.errors import InputError

RECORDS = [
    q("b"),
    q("a", answer="B"),
    q("c", answer=""),
    number("d", Std=4, answer="102"),
    q("e", answer="Well"),
]


def test_order_of_a_file_changes_nothing() -> None:
    twice = [*RECORDS, q("b", answer="B")]  # the same question, answered otherwise
    other = score([*twice[:-1], q("b")], "y")
    found = compare([score(twice, "x"), other])["pairs"]
    for seed in range(4):
        shuffled = random.Random(seed).sample(twice, len(twice))
        assert compare([score(shuffled, "x"), other])["pairs"] == found


@pytest.mark.parametrize("make", [rank, compare])
def test_who_cannot_be_judged(make: Any) -> None:
    whole = score(RECORDS, "x")
    without_items = {key: value for key, value in whole.items() if key != "items"}
    with pytest.raises(
        InputError, match=r"^x: expected a result with a score per question, got FutureX$"
    ):
        make([without_items, whole])
    skipped = {**whole, "name": "y", "signature": {**whole["signature"], "missing": "skip"}}
    with pytest.raises(InputError, match=r"^y: missing answers must score 0: .* got missing skip$"):
        make([whole, skipped])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"benchmark": 3}, "x.benchmark: expected a text, got 3"),
        ({"items": [{}]}, "x: expected items with the keys of this version"),
        ({"void": "some"}, "x: void: expected a whole number"),
    ],
)
def test_what_is_no_result_is_named(values: Record, message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        rank([{**system("x", True), **values}])


@pytest.mark.parametrize(
    ("llm", "degraded"), [(None, False), ({}, False), ({"degraded": 3}, True), ("m", False)]
)
def test_degraded(llm: Any, degraded: bool) -> None:
    assert column(rank([{**system("x", True), "llm": llm}]), "degraded") == [degraded]


def test_names_are_told_apart() -> None:
    names = [{"name": "a"}, {"name": "b"}, {"name": "a"}, {"name": 7}]
    results = [system("", True) | name for name in names]
    del results[1]["name"]
    assert column(rank(results), "name") == ["7", "a", "a (3)", "system 2"]


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: rank([1]), "results: expected a list of results, got int"),
        (lambda: rank(None), "results: expected a list of results, got NoneType"),
        (lambda: compare(1), "results: expected a list of results, got int"),
        (lambda: compare([1, [2]]), "results: expected a list of results, got int"),
        (
            lambda: rank([{"name": "x"}]),
            "x: expected what an evaluator returns, got no 'signature'",
        ),
        (lambda: compare([{}, {}]), "system 1: expected what an evaluator returns, got no 'sig"),
        (
            lambda: FutureXEvaluator().evaluate([1]),
            "evaluate: expected the NAME of a prediction; evaluate_all takes records, got list",
        ),
        (
            lambda: evaluate([{"id": 1}]),
            "evaluate: expected the path of a prediction file; evaluate_all of a benchmark's class "
            "takes records, got list",
        ),
        (lambda: FutureXEvaluator().evaluate("no-such"), "prediction/no-such: no such file"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(call: Callable[[], object], problem: str) -> None:
    with pytest.raises(InputError, match=re.escape(problem)):
        call()


def test_results_of_an_iterator_are_ranked() -> None:
    (table,) = rank(iter([system("a", True), system("b", False)]))["tables"]
    assert [row["name"] for row in table["rows"]] == ["a", "b"]


def test_evaluate_takes_the_name_of_a_prediction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    results = FutureXEvaluator().evaluate("250915-careful")
    assert (results["name"], results["dataset"]) == ("250915-careful", "250915.json")
    assert round(results["overall_score"], 4) == 0.7181
