"""`rank`: order, ties, levels that are left out, and what a difference to the one above is
worth.
"""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Mapping
from typing import Any, Final

import pytest

from boards_folders import board_report, column, format_csv, rows, score, system
from cli import Record, number, q
from forecasteval.boards import rank
from forecasteval.common.errors import InputError
from forecasteval.display.tables import format_text


def test_ties_share_a_rank() -> None:
    answers = {"c": "AAAB", "a": "AAAA", "d": "ABBB", "b": "BAAA"}
    board = rank(
        [system(name, *(letter == "A" for letter in text)) for name, text in answers.items()]
    )
    assert [(row["rank"], row["name"], row["overall_score"]) for row in rows(board)] == [
        (1, "a", 1.0), (2, "b", 0.75), (2, "c", 0.75), (4, "d", 0.25),
    ]  # fmt: skip
    assert column(board, "rank_interval") == [(1, 4)] * 4


def test_ties_of_sums_that_differ_in_the_last_digit() -> None:
    """0.1 + 0.2·0.5 and 0.3·(2/3) of one weight sum: equal on paper, not in every order of
    addition.
    """
    levels = [(1, "A"), (2, "A"), (2, "B"), (3, "A"), (3, "A"), (3, "B")]
    first = [q(f"{n}", level=level, answer=answer) for n, (level, answer) in enumerate(levels)]
    second = [
        q(f"{n}", level=level, answer="A" if level == 2 else "B")
        for n, (level, _) in enumerate(levels)
    ]
    second[0]["answer"] = "A"
    second[3]["answer"] = "A"
    a, b = score(first, "a"), score(second, "b")
    # 0.1 + 0.1 + 0.2 = 0.4 and 0.1 + 0.2 + 0.1 = 0.4, over 0.6
    board = rank([b, a])
    assert column(board, "rank") == [1, 1]
    assert column(board, "name") == ["a", "b"]
    assert column(board, "overall_score") == pytest.approx([2 / 3, 2 / 3])


def test_a_row_says_it_all() -> None:
    records = [
        q("q1"),
        q("q2", answer=""),
        q("q3", answer="I wonder"),
        number("q4", Std=4, answer="102"),
    ]
    row = rows(rank([score(records, "a")]))[0]
    assert row["overall_score"] == pytest.approx((0.1 / 3 + 0.4 * 0.75) / 0.5)
    assert {
        key: row[key] for key in ("rank", "n", "missing", "unparsed", "degraded", "rank_interval")
    } == {
        "rank": 1,
        "n": 4,
        "missing": 1,
        "unparsed": 1,
        "degraded": False,
        "rank_interval": (1, 1),
    }
    assert row["level_scores"][1] == pytest.approx(1 / 3)
    assert math.isnan(row["level_scores"][2])
    assert row["level_scores"][4] == 0.75


def test_interval_of_a_row_is_that_of_the_result() -> None:
    result = system("a", True, False, True, True)
    assert column(rank([result]), "overall_interval") == [result["overall_interval"]]


def with_scores(name: str, scores: list[float]) -> Record:
    """Numbers at level 4 that score just that."""
    return score(
        [
            number(
                f"q{n:02}",
                ground_truth="1000",
                Std=100,
                answer=f"{1000 + 100 * math.sqrt(1 - value):.9f}",
            )
            for n, value in enumerate(scores)
        ],
        name,
    )


def test_significant_although_the_intervals_overlap() -> None:
    """Every question is answered a little better: paired, that is beyond doubt; the intervals are
    wide and alike.
    """
    low = [n / 24 for n in range(20)]
    board = rank([with_scores("low", low), with_scores("high", [value + 0.1 for value in low])])
    above, below = rows(board)
    assert above["name"] == "high"
    assert (
        below["overall_interval"][1]
        > above["overall_score"]
        > below["overall_score"]
        > above["overall_interval"][0]
    )
    assert (above["rank_interval"], below["rank_interval"]) == ((1, 1), (2, 2))


def test_not_significant_although_the_intervals_are_apart() -> None:
    """One stratum decides the difference and its four questions all say so, but 2 / 2⁴ is the
    smallest p there is.
    """
    board = rank(
        [with_scores("high", [0.9, 0.91, 0.92, 0.93]), with_scores("low", [0.1, 0.11, 0.12, 0.13])]
    )
    above, below = rows(board)
    assert above["overall_interval"][0] > below["overall_interval"][1]
    assert below["rank_interval"] == (1, 2)  # p is 2 / 2⁴
    assert "Ranks: 95 % confidence range of the true rank" in format_text(board_report(board))


def test_one_table_per_dataset_and_per_questions() -> None:
    a, b, c = system("a", True), system("b", True, False), system("c", False)
    board = rank(
        [{**a, "dataset": "x.json"}, {**b, "dataset": "y.json"}, {**c, "dataset": "x.json"}, c, b]
    )
    tables = [
        (table["dataset"], [row["name"] for row in table["rows"]]) for table in board["tables"]
    ]
    assert tables[:2] == [("y.json", ["b"]), ("x.json", ["a", "c"])]
    assert sorted(tables[2:], key=str) == [(None, ["b (5)"]), (None, ["c (4)"])]


def test_the_newest_dataset_is_first_by_the_natural_order_of_names() -> None:
    names = ["week9.json", "week10.json", "week1.json"]
    board = rank([{**system("a", True), "dataset": name} for name in names])
    found = [table["dataset"] for table in board["tables"]]
    assert found == ["week10.json", "week9.json", "week1.json"]


def test_order_of_the_results_changes_nothing() -> None:
    results = [
        system(name, *(random.Random(name).random() < 0.5 for _ in range(20))) for name in "abcdef"
    ]
    boards = {
        json.dumps(rank(order))
        for order in itertools.islice(itertools.permutations(results), 0, 720, 60)
    }
    assert len(boards) == 1


def test_order_of_the_questions_changes_no_score_and_no_p() -> None:
    def board(seed: int) -> list[Any]:
        results = []
        for name in "ab":
            records = [
                q(f"{n}", answer=random.Random(f"{name}{n}").choice("AB")) for n in range(30)
            ]
            random.Random(seed).shuffle(records)
            results.append(score(records, name))
        return [
            (row["name"], row["overall_score"], row["rank_interval"]) for row in rows(rank(results))
        ]

    assert board(0) == board(1)


LEVELS: Final = {1: 3, 2: 4, 4: 5}  # questions by level


def three_levels(name: str, right: Mapping[int, int]) -> Record:
    records = [
        q(
            f"{level}-{place}",
            level=level,
            answer="A" if place < right[level] else "B",
            **TRUTH.get(level, {}),
        )
        for level, count in LEVELS.items()
        for place in range(count)
    ]
    return score(records, name)


TRUTH: Final[dict[int, Record]] = {4: {"prompt": "Who?", "ground_truth": "A"}}


@pytest.mark.parametrize(
    ("least", "overall", "shown"),
    [
        (0, (0.1 * 1 / 3 + 0.2 * 2 / 4 + 0.4 * 4 / 5) / 0.7, [1, 2, 4]),
        (3, (0.1 * 1 / 3 + 0.2 * 2 / 4 + 0.4 * 4 / 5) / 0.7, [1, 2, 4]),
        (4, (0.2 * 2 / 4 + 0.4 * 4 / 5) / 0.6, [2, 4]),
        (5, 4 / 5, [4]),
    ],
)
def test_min_questions_renormalises(least: int, overall: float, shown: list[int]) -> None:
    board = rank([three_levels("a", {1: 1, 2: 2, 4: 4})], least)
    row = rows(board)[0]
    assert row["overall_score"] == pytest.approx(overall)
    assert [level for level, value in row["level_scores"].items() if not math.isnan(value)] == shown
    assert list(board["tables"][0]["weights"]) == shown
    assert board["leaderboard"]["min_questions"] == least
    assert row["n"] == sum(board["tables"][0]["level_counts"][level] for level in shown)
    text = format_text(board_report(rank([*([three_levels("a", {1: 1, 2: 2, 4: 4})] * 2)], least)))
    cells = next(
        line for line in text.splitlines() if " system 1  " in line or " a  " in line
    ).split()
    assert cells.count("–") == 4 - len(shown) + (row["overall_interval"] is None)


def test_min_questions_may_turn_the_order() -> None:
    a, b = three_levels("a", {1: 3, 2: 4, 4: 3}), three_levels("b", {1: 0, 2: 0, 4: 4})
    assert column(rank([a, b]), "name") == ["a", "b"]
    board = rank([a, b], 5)
    assert column(board, "name") == ["b", "a"]
    assert rows(board)[1]["rank_interval"] == (1, 2)  # one question differs: 2 / 2¹


def test_no_level_counts() -> None:
    board = rank([system("b", True), system("a", False)], 25)
    assert column(board, "rank") == [None, None]
    assert column(board, "name") == ["a", "b"]
    assert all(math.isnan(value) for value in column(board, "overall_score"))
    assert format_csv(board).count("nan") == 0


def test_missing_counts_zero_and_skip_is_refused() -> None:
    records = [q("q1"), q("q2", answer="")]
    assert column(rank([score(records, "a")]), "overall_score") == [0.5]
    with pytest.raises(
        InputError, match=r"^a: missing answers must score 0: .*, got missing skip$"
    ):
        rank([score(records, "a", missing="skip")])


def test_rank_of_nothing() -> None:
    assert rank([])["tables"] == []
    assert format_text(board_report(rank([]))) == ""
