"""Rule sets: what each field changes, worked by hand; what goes with what; results of different
ones stay apart.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final

import pytest

from cli import Record, asked, assert_refused, box, q, question, run, write
from eval import FutureXEvaluator
from forecasteval.boards import compare, rank
from forecasteval.common.errors import InputError
from forecasteval.futurex.rules import RULE_SETS, Rules
from kinds import RATES

NAMES: Final = ("readme", "official-2026", "paper")
# level, truth, Std, answer, prompt; scores by readme and by official-2026; paper scores an answer
# as readme does
WORKED: Final[dict[str, tuple[int, object, float | None, str, str, float, float]]] = {
    # by_truths: exact where one option is true, F1 where several are, whatever the level
    "level 1, one true, right": (1, "B", None, "B", RATES, 1, 1),
    "level 1, one true, two picked": (1, "B", None, "A, B", RATES, 0, 0),
    "level 1, two true, one picked": (1, "A, B", None, "A", RATES, 0, 2 / 3),
    "level 1, two true, both picked": (1, "A, B", None, "B, A", RATES, 1, 1),
    "level 2, one true, two picked": (2, "B", None, "A, B", RATES, 2 / 3, 0),
    "level 2, one true, right": (2, "B", None, "B", RATES, 1, 1),
    "level 2, two true, one picked": (2, "A, B", None, "A", RATES, 2 / 3, 2 / 3),
    "level 2, yes": (2, "Yes", None, "Yes, No", "", 2 / 3, 0),
    "level 2, labels without options": (2, "C", None, "A, C", "", 2 / 3, 0),
    "level 1, two true names": (1, "['Red', 'Blue']", None, "Red", "", 0, 2 / 3),
    "level 2, one true name": (2, "['Red']", None, "Red, Blue", "", 2 / 3, 0),
    # relative_sigma and std_counts: σ = 5 % of |truth|, 0.01 for 0, whatever Std says
    "Std is wider": (4, "100", 10.0, "102", "", 0.96, 0.84),  # 1 - (2/10)², 1 - (2/5)²
    "Std is narrower": (4, "100", 2.5, "102", "", 0.36, 0.84),  # 1 - (2/2.5)²
    "Std is 0": (4, "100", 0.0, "102", "", 0, 0.84),
    "no Std": (4, "100", None, "102", "", 0, 0.84),
    "no Std, equal": (4, "100", None, "100.0", "", 1, 1),
    "negative truth": (3, "-100", None, "-102", "", 0, 0.84),
    "in the truth's unit": (
        4,
        "2 million",
        None,
        "2.04 million",
        "",
        0,
        0.84,
    ),  # σ 0.1, off by 0.04
    "truth 0": (4, "0", None, "0.004", "", 0, 0.84),  # σ 0.01
    "truth 0, Std": (4, "0", 0.02, "0.004", "", 0.96, 0.84),
    # label_sets: option labels as the truth of level 3 or 4 score 1 in any order
    "labels in another order": (3, "A, C", None, "C, A", RATES, 0.8, 1),
    "labels, level 4": (4, "['B', 'A', 'C']", None, "A, B, C", RATES, 0.8, 1),
    "labels, one missing": (3, "A, C", None, "C", RATES, 0.4, 0.4),
    "labels, one too many": (3, "A, C", None, "C, A, B", RATES, 0.8, 0.8),
    "labels without options": (3, "A, C", None, "C, A", "", 0.8, 1),
    "names in another order": (3, "Red, Blue", None, "Blue, Red", RATES, 0.8, 0.8),
    # lone_name: one true name scores 1 or 0
    "one true name among others": (3, "Red Kite", None, "Blue, Red Kite", "", 0.8, 0),
    "one true name, exactly": (4, "Red Kite", None, "red kite", "", 1, 1),
    "one true name, another": (4, "Red Kite", None, "Blue", "", 0, 0),
    "two true names": (3, "Red, Blue", None, "Blue", "", 0.4, 0.4),
}


@pytest.mark.parametrize("name", WORKED)
def test_worked_by_hand(name: str) -> None:
    level, truth, std, answer, prompt, readme, official = WORKED[name]
    row = asked(level, truth, box(answer), std, prompt)
    scores = [
        FutureXEvaluator(rules=rules).evaluate_all([row])["items"][0]["score"] for rules in NAMES
    ]
    assert scores == pytest.approx([readme, official, readme])


def test_every_field_is_worked_by_hand() -> None:
    """A rule set that lost a field, or a field that no rule set has, would go unseen."""
    assert [name for name in RULE_SETS if name != "official-2026-09"] == [*NAMES]
    assert RULE_SETS["readme"] == Rules()
    plain = Rules()._asdict()
    changed = [
        field
        for rules in RULE_SETS.values()
        for field, value in rules._asdict().items()
        if value != plain[field]
    ]
    assert {*changed} == {
        "missing", "renormalised", "relative_sigma", "std_counts", "by_truths", "lone_name",
        "label_sets", "any_order", "packed",
    } == {*Rules._fields} - {"padding", "loose"}  # fmt: skip


ROWS: Final = [
    asked(1, "Yes", box("Yes")), asked(1, "Yes", None),
    asked(4, "100", box("105"), 10.0), asked(4, "100", None, 10.0), asked(4, "100", box("?"), 10.0),
]  # fmt: skip


def test_missing_answers_and_levels_without_questions() -> None:
    """Level 1: right, missing; level 4: 5 off (σ 10, or 5 by official-2026), missing, unparsed; no
    levels 2 and 3.
    """
    readme, official, paper = (FutureXEvaluator(rules=name).evaluate_all(ROWS) for name in NAMES)
    assert readme["overall_score"] == pytest.approx((0.1 * 0.5 + 0.4 * 0.25) / 0.5)
    assert official["overall_score"] == pytest.approx(0.1 * 0.5 + 0.4 * 0)
    assert paper["overall_score"] == pytest.approx((0.1 * 1 + 0.4 * 0.375) / 0.5)
    assert [results["level_counts"] for results in (readme, official, paper)] == [
        {1: 2, 2: 0, 3: 0, 4: 3}, {1: 2, 2: 0, 3: 0, 4: 3}, {1: 1, 2: 0, 3: 0, 4: 2},
    ]  # fmt: skip
    for results in (readme, official, paper):
        assert (results["missing_count"], results["unparsed_count"]) == (2, 1)
        assert math.isnan(results["level_scores"][2])
    assert official["answered_only"] == pytest.approx(0.1 * 1)


def test_all_right_but_some_levels_without_questions() -> None:
    rows = [asked(1, "Yes", box("Yes")), asked(3, "Red, Blue", box("Red, Blue"))]
    assert [FutureXEvaluator(rules=name).evaluate_all(rows)["overall_score"] for name in NAMES] == [
        1, pytest.approx(0.4), 1,
    ]  # fmt: skip


def test_interval_is_of_the_score_that_is_shown() -> None:
    rows = [asked(1, "Yes", box(answer)) for answer in ("Yes", "No", "Yes", "Yes")]
    readme, official, _ = (FutureXEvaluator(rules=name).evaluate_all(rows) for name in NAMES)
    assert official["overall_score"] == pytest.approx(0.1 * readme["overall_score"])
    assert official["overall_interval"] == pytest.approx(
        [0.1 * bound for bound in readme["overall_interval"]]
    )
    assert official["level_intervals"] == readme["level_intervals"]


# --- What goes with what ---


@pytest.mark.parametrize("name", NAMES)
def test_signature(name: str) -> None:
    signature = FutureXEvaluator(rules=name).evaluate_all(ROWS)["signature"]
    assert (signature["rules"], signature["missing"], signature["relative_sigma"]) == {
        "readme": ("readme", "zero", None),
        "official-2026": ("official-2026", "zero", 0.05),
        "paper": ("paper", "skip", None),
    }[name]


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (
            {"rules": "official"},
            "rules: must be one of readme, official-2026, official-2026-09, paper, got 'official'",
        ),
        ({"rules": "paper", "missing": "zero"}, "missing: settled by the rule set paper"),
        ({"rules": "paper", "missing": "skip"}, "missing: settled"),
        ({"rules": "paper", "relative_sigma": 0.1}, "relative_sigma: settled"),
        (
            {"rules": "official-2026", "missing": "skip"},
            "missing: settled by the rule set official-2026",
        ),
        ({"rules": "official-2026", "relative_sigma": 0.1}, "relative_sigma: settled"),
    ],
)
def test_contradictory_arguments_are_refused(options: dict[str, Any], word: str) -> None:
    with pytest.raises(InputError) as error:
        FutureXEvaluator(**options)
    assert word in str(error.value)


def test_policies_go_with_readme() -> None:
    evaluator = FutureXEvaluator(rules="readme", missing="skip", relative_sigma=0.05)
    assert evaluator.settings()["rules"] == "readme"
    assert evaluator.rules == Rules(missing="skip", relative_sigma=0.05)


@pytest.mark.parametrize(
    "options",
    [
        ["--rules", "paper", "--missing", "zero"],
        ["--rules", "official-2026", "--relative-sigma", "0.05"],
    ],
)
def test_contradictory_options_are_refused(tmp_path: Path, options: list[str]) -> None:
    write(tmp_path, {"prediction/250915-random.json": [q()]})
    assert_refused(run(tmp_path, *options), "settled by the rule set")


def test_unknown_rule_set_is_a_usage_error(tmp_path: Path) -> None:
    done = run(tmp_path, "--rules", "official")
    assert_refused(done, "readme", "official-2026", "paper")


@pytest.mark.parametrize("name", NAMES)
def test_command_line(tmp_path: Path, name: str) -> None:
    write(tmp_path, {"prediction/p.json": ROWS})
    results = run(tmp_path, "-f", "p", "--rules", name, "--json").json
    assert results["overall_score"] == pytest.approx(
        FutureXEvaluator(rules=name).evaluate_all(ROWS)["overall_score"]
    )
    assert results["signature"]["rules"] == name
    report = run(tmp_path, "-f", "p", "--rules", name).out
    assert f" rules:{name}" in report.splitlines()[-1]
    assert ("are left out" in report) == (name == "paper")


# --- Different ones stay apart ---


def scored(name: str, rules: str, right: int = 2) -> Record:
    rows = [asked(4, str(n), box(str(n) if n < right else "7"), 1.0) for n in range(4)]
    return {**FutureXEvaluator(rules=rules).evaluate_all(rows), "name": name, "dataset": "d.json"}


def test_different_rule_sets_are_neither_compared_nor_ranked() -> None:
    one, other = scored("one", "readme"), scored("other", "official-2026", 1)
    for judge in (compare, rank):
        with pytest.raises(InputError, match="rules readme and official-2026"):
            judge([one, other])
    assert len(rank([scored("one", "official-2026"), other])["tables"][0]["rows"]) == 2


def test_a_rule_set_that_leaves_missing_answers_out_cannot_be_ranked() -> None:
    with pytest.raises(InputError, match="missing answers must score 0"):
        rank([scored("one", "paper")])


def test_the_board_shows_the_scores_of_its_rule_set() -> None:
    """Only level 4 has questions: official-2026 keeps the others' weights, and so must its
    leaderboard.
    """
    for rules in ("readme", "official-2026"):
        results = scored("one", rules)
        (row,) = rank([results])["tables"][0]["rows"]
        assert row["overall_score"] == pytest.approx(results["overall_score"]), rules
        assert row["overall_interval"] == pytest.approx(results["overall_interval"]), rules


def test_another_rule_set_scores_a_folder_anew(tmp_path: Path) -> None:
    questions = [question("a", level=4, ground_truth="100", prompt="How many?")]
    write(tmp_path, {"dataset/d.json": questions, "prediction/d-x.json": {"a": "102"}})
    for rules, score in (("readme", 0.0), ("official-2026", 0.4 * 0.84), ("readme", 0.0)):
        board = run(tmp_path, "nightly", "--rules", rules, "--json").json
        assert (board["evaluated"], board["reused"]) == (1, 0)
        (row,) = board["tables"][0]["rows"]
        assert row["signature"]["rules"] == rules
        assert row["overall_score"] == pytest.approx(score)
    assert run(tmp_path, "nightly", "--json").json["reused"] == 1


def test_compare_on_the_command_line_takes_a_rule_set(tmp_path: Path) -> None:
    rows = [asked(4, "100", "102") | {"id": str(n)} for n in range(3)]
    write(
        tmp_path,
        {"prediction/a.json": rows, "prediction/b.json": [row | {"answer": "100"} for row in rows]},
    )
    difference = {
        rules: (
            run(tmp_path, "compare", "a", "b", "--rules", rules, "--json").json["pairs"][0][
                "difference"
            ]
        )
        for rules in ("readme", "official-2026")
    }
    # of the overall scores, which keep the weights of levels 1 to 3 by official-2026
    assert difference == {"readme": -1.0, "official-2026": pytest.approx(0.4 * -0.16)}
