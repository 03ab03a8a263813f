"""What is read of a result: scores by level in an order that all share, and who cannot be
judged.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from boards_folders import score, system
from cli import ROOT, Record, number, q
from eval import FutureXEvaluator
from forecasteval.boards import compare, rank
from forecasteval.common.errors import InputError
from forecasteval.ranking.files import ForecasterTable, model_failures
from forecasteval.ranking.reading import distinct_names, read_result, read_system
from forecasteval.ranking.systems import System, count_unread, require_same_policy

RECORDS = [
    q("b"),
    q("a", answer="B"),
    q("c", answer=""),
    number("d", Std=4, answer="102"),
    q("e", answer="Well"),
]


def test_levels_hold_scores_ids_and_outcomes() -> None:
    read = read_system(score(RECORDS, "x"))
    assert read.weights == {1: 0.1, 2: 0.2, 3: 0.3, 4: 0.4}
    scores = {level: sorted(columns.scores) for level, columns in read.questions.items()}
    assert scores == {1: [0, 0, 0, 1], 2: [], 3: [], 4: [0.75]}
    assert sorted(read.questions[1].ids) == ["a", "b", "c", "e"]
    assert read.questions[4].ids == ["d"]
    assert count_unread([read], [1, 4])["missing"] == 1
    assert count_unread([read], [1]) == {"missing": 1, "unparsed": 1, "padded": 0, "late": 0}
    assert read.strata([4]) == [(0.4, [0.75])]
    assert read.group[:2] == ("FutureX", "")


def test_order_of_a_file_changes_nothing() -> None:
    twice = [*RECORDS, q("b", answer="B")]  # the same question, answered otherwise
    for seed in range(4):
        shuffled = random.Random(seed).sample(twice, len(twice))
        one, other = (read_system(score(records, "x")) for records in (shuffled, twice))
        assert one.questions == other.questions


def test_a_result_without_weights_has_one_level() -> None:
    items = [{"question": str(n), "id": n, "score": n / 2, "outcome": "ok"} for n in (2, 0, 1)]
    result: Record = {
        "benchmark": "x",
        "items": items,
        "warnings": ["w"],
        "signature": {"questions_sha256": "0"},
    }
    read = read_system(result)
    assert (read.weights, read.questions[""].scores, read.name) == (
        {"": 1.0},
        [0, 0.5, 1],
        "system",
    )
    assert (read.row.warnings, read.row.degraded, read.policy) == (1, False, {})


def test_who_cannot_be_judged() -> None:
    whole = score(RECORDS, "x")
    items = whole.pop("items")
    with pytest.raises(
        InputError, match=r"^x: expected a result with a score per question, got FutureX$"
    ):
        read_system(whole)
    skipped = {**whole, "items": items, "signature": {**whole["signature"], "missing": "skip"}}
    with pytest.raises(InputError, match=r"^y: missing answers must score 0: .* got missing skip$"):
        read_system(skipped, "y")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "x: expected what an evaluator returns, got no 'signature'"),
        ({"benchmark": 3}, "x.benchmark: expected a valid string, got 3"),
        ({"items": [{}]}, "x: expected items with the keys of this version"),
        ({"void": "some"}, "x: void: expected a valid integer"),
    ],
)
def test_what_is_no_result_is_named(values: Record, message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        read_result({**system("a", True), **values} if values else {}, "x")


def test_a_ranking_is_a_table_by_itself() -> None:
    row = {"rank": 1, "name": "a", "metric": "brier", "score": 0.2, "interval": None, "n": 3}
    row |= {"rank_interval": [1, 2]}
    result: Record = {
        "name": "arena", "benchmark": "x", "n_events": 2, "warnings": [], "signature": {},
        "prediction": "arena.csv",
        "ranking": [row], "llm": {"degraded": True},
    }  # fmt: skip
    read = read_result(result)
    assert isinstance(read, ForecasterTable)
    assert (read.kind, read.name, read.n_events, read.degraded) == ("forecasters", "arena", 2, True)
    (forecaster,) = read.rows
    assert (forecaster.score, forecaster.rank_interval) == (0.2, (1, 2))
    assert isinstance(read_result(score(RECORDS, "x")), System)


@pytest.mark.parametrize(
    ("llm", "degraded"), [(None, False), ({}, False), ({"degraded": 3}, True), ("m", False)]
)
def test_degraded(llm: Any, degraded: bool) -> None:
    assert (model_failures({"llm": llm}) is not None) is degraded


def test_names_are_told_apart() -> None:
    assert distinct_names([{"name": "a"}, {}, {"name": "a"}, {"name": 7}]) == [
        "a",
        "system 2",
        "a (3)",
        "7",
    ]


def test_other_policies_are_named() -> None:
    a, b = (read_system(system(name, True)) for name in "ab")
    require_same_policy(a, b)
    newer = {**b.row.signature, "evaluator": "FutureX 99", "llm_model": "m"}
    other = replace(b, row=replace(b.row, signature=newer))
    told = (
        rf"^a, b: .*, got evaluator {a.policy['evaluator']} and FutureX 99; llm_model None and m$"
    )
    with pytest.raises(InputError, match=told):
        require_same_policy(a, other)


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
