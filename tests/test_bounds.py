r"""Bounds of rules, on both of their sides, in what a person gets."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from boards_folders import rows, system
from cli import PROMPT, q
from eval import FutureXEvaluator
from forecasteval.boards import rank

LONG = f"{PROMPT}\nWrite the label into a box, like \\boxed{{C}}, and nothing else."


@pytest.mark.parametrize("escape", [str, repr, json.dumps, lambda text: f"\n{text}\n"])
def test_the_prompt_itself_is_no_answer(escape: Callable[[str], str]) -> None:
    (item,) = FutureXEvaluator().evaluate_all([q(prompt=LONG, answer=escape(LONG))])["items"]
    assert (item["outcome"], item["note"]) == ("unparsed", "no box, and words of the prompt")


@pytest.mark.parametrize(
    ("shares", "score"),
    [
        ("A 60%, B 20%, C 10%", 1),  # 90
        ("A 60%, B 30%, C 20%", 1),  # 110
        ("A 60%, B 20%, C 9%", 0),
        ("A 60%, B 30%, C 21%", 0),
        ("A 0.6, B 0.3, C 0.2", 1),
        ("A 0.6, B 0.2, C 0.09", 0),
        ("A 0.6, B 0.3, C 0.21", 0),
    ],
)
def test_shares_add_up_to_90_to_110_percent(shares: str, score: float) -> None:
    results = FutureXEvaluator().evaluate_all([q(answer=f"\\boxed{{{shares}}}")])
    assert results["overall_score"] == score


@pytest.mark.parametrize(("moved", "told"), [(4, False), (5, True)])
def test_runs_differ_where_their_spread_is_twice_that_of_answers(moved: int, told: bool) -> None:
    """Of k questions that all move in one direction the spread is √k that of answers."""
    runs = [[place >= moved * run for place in range(20)] for run in (0, 1)]
    results = [
        {**system(f"d-a@{run}", *right), "dataset": "d.json"} for run, right in enumerate(runs)
    ]
    (row,) = rows(rank(results))
    assert row["runs_differ"] is told
