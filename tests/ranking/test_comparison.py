"""`compare`: against scipy and hand computation; who is refused, and in which words."""

from __future__ import annotations

import itertools
import json
import math
import pickle
import random
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from scipy import stats

from boards_folders import score
from cli import Record, assert_refused, number, q, question, run, run_process, write
from eval import FutureXEvaluator
from forecasteval.boards import compare, rank
from forecasteval.common.errors import InputError
from forecasteval.ranking.comparison import MOVERS
from forecasteval.ranking.pairs import skewness_test
from oracles import brute_force, naive_holm


def system(scores: dict[int, list[float]], name: str, order: int = 0) -> Record:
    """A system with these scores on numeric questions (level 1: right or wrong), its rows
    shuffled.
    """
    records = []
    for level, values in scores.items():
        for place, value in enumerate(values):
            key = f"{level}-{place}"
            if level < 3:
                assert value in (0.0, 1.0)
                records.append(q(key, level=level, answer=r"\boxed{A}" if value else r"\boxed{B}"))
            else:  # 1 - ((Y - 1000) / 100)² is the score
                records.append(number(key, level=level, ground_truth="1000", Std=100,
                                      answer=str(1000 + 100 * math.sqrt(1 - value))))  # fmt: skip
    random.Random(order).shuffle(records)
    return score(records, name)


SYSTEM_A: Final = {
    1: [1.0, 1.0, 0.0],
    2: [1.0, 0.0],
    3: [0.75, 0.5, 0.25],
    4: [1.0, 0.75, 0.0, 0.5],
}


SYSTEM_B: Final = {1: [1.0, 0.0, 0.0], 2: [0.0, 1.0], 3: [0.25, 0.5, 0.5], 4: [0.0, 0.75, 0.0, 0.0]}


def test_results_go_to_another_process_as_plain_dicts() -> None:
    results = [system(SYSTEM_A, "a"), system(SYSTEM_B, "b")]
    sent = pickle.loads(pickle.dumps([dict(each) for each in results]))
    for show in (rank, compare):
        assert str(show(sent)) == str(show(results))
        assert pickle.loads(pickle.dumps(dict(show(results)))) == show(results)


def test_equal_systems_have_no_list_of_what_moves_them() -> None:
    equal = compare([system(SYSTEM_A, "a"), system(SYSTEM_A, "b"), system(SYSTEM_B, "c")])
    text = str(equal)
    assert ("What moves a − b" in text, "What moves a − c" in text) == (False, True)


def test_pair_by_hand() -> None:
    pair = compare([system(SYSTEM_A, "a"), system(SYSTEM_B, "b")])["pairs"][0]
    differences = {
        level: [x - y for x, y in zip(SYSTEM_A[level], SYSTEM_B[level], strict=True)]
        for level in SYSTEM_A
    }
    weights = {1: 0.1, 2: 0.2, 3: 0.3, 4: 0.4}
    assert pair["difference"] == pytest.approx(0.1 / 3 + 0.2 * 0 + 0.3 * 0.25 / 3 + 0.4 * 1.5 / 4)
    parts = [
        weights[level] * value / len(values)
        for level, values in differences.items()
        for value in values
    ]
    flips = brute_force([round(part * 240) / 1.0 for part in parts])
    strata = [(weights[level], np.array([v, [0.0] * len(v)])) for level, v in differences.items()]
    corrected = float(skewness_test(strata)[0, 1])
    assert corrected is not None
    assert corrected > flips
    assert pair["p"] == pytest.approx(corrected)
    assert pair["p_holm"] == pair["p"]
    variance = sum(
        weights[n] ** 2 * np.var(values, ddof=1) / len(values) for n, values in differences.items()
    )
    df = variance**2 / sum(
        (weights[n] ** 2 * np.var(values, ddof=1) / len(values)) ** 2 / (len(values) - 1)
        for n, values in differences.items()
    )
    half = stats.t.ppf(0.975, df) * math.sqrt(variance)
    low, high = pair["difference"] - half, pair["difference"] + half
    assert pair["interval"] == pytest.approx((max(-1, low), min(1, high)))
    assert (stats.t.ppf(0.975, df) + stats.t.ppf(0.8, df)) * math.sqrt(variance) > 1
    assert pair["detectable"] is None  # two scores never differ by that much
    assert [tuple(pair["levels"][level].values()) for level in (1, 2, 3, 4)] == [
        (1, 2, 0),
        (1, 0, 1),
        (1, 1, 1),
        (2, 2, 0),
    ]
    assert [(row["id"], round(row["adds"], 6)) for row in pair["questions"][:5]] == [
        ("2-0", 0.1), ("2-1", -0.1), ("4-0", 0.1), ("3-0", 0.05), ("4-3", 0.05),
    ]  # fmt: skip
    assert (
        pair["questions"][2]["level"],
        pair["questions"][2]["a"],
        pair["questions"][2]["b"],
    ) == (4, 1.0, 0.0)


def test_difference_is_that_of_the_overall_scores_and_what_questions_add() -> None:
    a, b = system(SYSTEM_A, "a"), system(SYSTEM_B, "b")
    pair = compare([a, b])["pairs"][0]
    assert pair["difference"] == pytest.approx(a["overall_score"] - b["overall_score"])
    assert (
        len(pair["questions"]) < MOVERS
    )  # so all that move it are shown, and they are the whole of it
    assert math.fsum(row["adds"] for row in pair["questions"]) == pytest.approx(pair["difference"])


def test_ten_questions_that_move_most_are_shown() -> None:
    wins = {1: [1.0] * 12, 4: [1.0] * 4}
    pair = compare([system(wins, "a"), system({1: [0.0] * 12, 4: [0.0] * 4}, "b")])["pairs"][0]
    assert [row["id"] for row in pair["questions"]] == [
        "4-0", "4-1", "4-2", "4-3", "1-0", "1-1", "1-10", "1-11", "1-2", "1-3",
    ]  # fmt: skip
    assert [row["adds"] for row in pair["questions"][3:5]] == pytest.approx([0.8 / 4, 0.2 / 12])


def test_a_level_differs_by_its_own_scores_under_fixed_weights() -> None:
    """With level 1 alone the score is a tenth of its mean; the level's mean is what it is."""
    results = []
    for name, text in (("a", "AABA"), ("b", "ABBB")):
        records = [q(f"q{n}", level=1, answer=letter) for n, letter in enumerate(text)]
        evaluator = FutureXEvaluator(rules="official-2026")
        results.append({**evaluator.evaluate_all(records), "name": name})
    pair = compare(results)["pairs"][0]
    assert pair["difference"] == pytest.approx(0.05)
    assert pair["level_differences"][1]["scores"] == [0.75, 0.25]
    assert pair["level_differences"][1]["difference"] == pytest.approx(0.5)
    assert pair["level_differences"][1]["interval"][1] == 1.0
    assert pair["interval"][1] == pytest.approx(0.1)


def test_the_other_way_round() -> None:
    a, b = system(SYSTEM_A, "a"), system(SYSTEM_B, "b")
    there, back = compare([a, b])["pairs"][0], compare([b, a])["pairs"][0]
    assert there["difference"] == -back["difference"]
    assert there["interval"] == pytest.approx((-back["interval"][1], -back["interval"][0]))
    assert [there[key] for key in ("p", "p_holm", "detectable")] == [
        back[key] for key in ("p", "p_holm", "detectable")
    ]
    for level, tally in there["levels"].items():
        other = back["levels"][level]
        assert (tally["wins"], tally["ties"], tally["losses"]) == (
            other["losses"],
            other["ties"],
            other["wins"],
        )
    assert [(row["id"], row["adds"]) for row in there["questions"]] == [
        (row["id"], -row["adds"]) for row in back["questions"]
    ]


def random_scores(seed: int) -> dict[int, list[float]]:
    rng = random.Random(seed)
    return {
        level: [
            rng.choice([0.0, 1.0] if level < 3 else [0.0, 0.25, 0.5, 0.75, 1.0])
            for _ in range(count)
        ]
        for level, count in ((1, 11), (2, 10), (3, 9), (4, 23))
    }


@pytest.mark.parametrize("order", [1, 2])
def test_order_of_the_questions_changes_nothing(order: int) -> None:
    def outcome(first: int, second: int) -> Record:
        comparison = compare(
            [system(random_scores(1), "a", first), system(random_scores(2), "b", second)]
        )
        return {key: comparison[key] for key in ("n", "level_counts", "pairs")}

    assert outcome(0, 0) == outcome(order, order + 5)


def test_a_third_system_changes_no_pair_but_holm() -> None:
    systems = [system(random_scores(seed), str(seed)) for seed in range(4)]
    pairs = {(pair["a"], pair["b"]): pair for pair in compare(systems)["pairs"]}
    assert list(pairs) == list(itertools.combinations("0123", 2))
    for (a, b), pair in pairs.items():
        alone = compare([systems[int(a)], systems[int(b)]])["pairs"][0]
        assert {**pair, "p_holm": alone["p"], "both_read": alone["both_read"]} == alone
    assert [pair["p_holm"] for pair in pairs.values()] == naive_holm(
        [pair["p"] for pair in pairs.values()]
    )


def test_a_system_and_itself() -> None:
    pair = compare([system(SYSTEM_A, "a"), system(SYSTEM_A, "a", 3)])["pairs"][0]
    assert (pair["a"], pair["b"]) == ("a", "a (2)")
    assert (pair["difference"], pair["p"], pair["interval"], pair["detectable"]) == (
        0,
        1,
        None,
        None,
    )
    assert pair["questions"] == []


def test_results_from_a_file_compare_alike() -> None:
    a, b = system(SYSTEM_A, "a"), system(SYSTEM_B, "b")
    stored = [json.loads(json.dumps(results)) for results in (a, b)]
    assert compare(stored)["pairs"] == compare([a, b])["pairs"]
    assert compare(stored)["n"] == 12


def test_numbers_stay_in_their_range() -> None:
    for seed in range(8):
        pair = compare([system(random_scores(seed), "a"), system(random_scores(seed + 50), "b")])[
            "pairs"
        ][0]
        assert -1 <= pair["interval"][0] <= pair["difference"] <= pair["interval"][1] <= 1
        assert 0 < pair["p"] <= 1
        assert sum(sum(tally.values()) for tally in pair["levels"].values()) == 53


def refusal(*systems: Record) -> str:
    with pytest.raises(InputError) as error:
        compare(systems)
    return str(error.value)


ASKED: Final = [q(f"q{place}") for place in range(6)]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        pytest.param(ASKED[:-1], "expected the same questions, got only in a: q5", id="one less"),
        pytest.param([*ASKED, q("z")], "expected the same questions, got only in b: z",
            id="one more"),
        pytest.param(
            [*ASKED[:-1], q("z")], "expected the same questions, got only in a: q5; only in b: z",
            id="another"
        ),
        pytest.param(
            ASKED[:1], "expected the same questions, got only in a: q1, q2, q3, … (5)",
            id="three are shown"
        ),
        pytest.param([*ASKED, q("q5")], "expected the same questions, got only in b: q5",
            id="one twice"),
        pytest.param(
            [*ASKED[:4], q("q4", ground_truth="B"), q("q5", ground_truth="C")],
            "expected the same truths, got other ones for q4, q5", id="truths",
        ),
        pytest.param([*ASKED[:5], q("q5", level=2)],
            "expected the same levels, got other ones for q5", id="level"),
        pytest.param(
            [*ASKED[:5], q("q5", prompt="Who wins?\nA. x\nB. y\nC. z")],
            "expected the same questions, got the same ids and truths with another prompt or Std",
            id="prompt",
        ),
    ],
)  # fmt: skip
def test_other_questions_are_refused(changed: list[Record], told: str) -> None:
    assert refusal(score(ASKED, "a"), score(changed, "b")) == f"a, b: {told}"
    # the third is compared with the first, and named
    assert refusal(score(ASKED, "a"), score(ASKED, "c"), score(changed, "b")) == f"a, b: {told}"


def test_another_std_is_refused() -> None:
    told = (
        "a, b: expected the same questions, got the same ids and truths with another prompt or Std"
    )
    assert refusal(score([number(Std=2)], "a"), score([number(Std=3)], "b")) == told


def test_too_few_and_skipped() -> None:
    assert refusal() == "compare: expected two systems or more, got 0"
    assert refusal(score(ASKED, "a")) == "compare: expected two systems or more, got 1"
    skipped = score(ASKED, "b", missing="skip")
    told = (
        "b: missing answers must score 0: systems are judged on the same questions, got missing"
        " skip"
    )
    assert refusal(score(ASKED, "a"), skipped) == told


def test_another_benchmark() -> None:
    other = {**score(ASKED, "b"), "benchmark": "Other"}
    assert (
        refusal(score(ASKED, "a"), other)
        == "a, b: expected the same benchmark, got FutureX and Other"
    )


def test_hostile_ids_in_a_refusal() -> None:
    told = refusal(score(ASKED, "a\x1b[2J"), score([*ASKED, q("\x1b[2J\n" + "x" * 99)], "b"))
    assert "\x1b" not in told
    assert "\n" not in told
    assert len(told) < 200


def test_repeated_ids_are_paired_by_what_was_asked() -> None:
    """One id, level and truth for twenty questions in two orders: only the prompts tell them
    apart.
    """
    rng = random.Random(1)
    rows = [
        q("x", prompt=f"Question {n}?\nA.  Yes\nB.  No", answer=rng.choice("AB")) for n in range(20)
    ]
    shuffled = rng.sample(rows, len(rows))
    a, b = (score(data, name) for name, data in (("a", rows), ("b", shuffled)))
    pair = compare([a, b])["pairs"][0]
    assert 0 < a["overall_score"] < 1
    assert (pair["levels"][1], pair["p"]) == ({"wins": 0, "ties": 20, "losses": 0}, 1)


def test_results_of_other_policies_are_refused() -> None:
    rows = [number(f"n{n}", answer="101") for n in range(3)]
    results = [
        score(rows, name, relative_sigma=sigma) for name, sigma in (("strict", None), ("lax", 0.05))
    ]
    message = (
        r"^strict, lax: expected results of the same version and policies, got relative_sigma None"
        r" and 0\.05$"
    )
    for judge in (compare, rank):
        with pytest.raises(InputError, match=message):
            judge(results)


# --- The command line ---


def test_compare_prints_the_table(tmp_path: Path) -> None:
    dataset = [question(f"q{place}") for place in range(8)]
    write(tmp_path, {"dataset/d.json": dataset})
    write(tmp_path, {"prediction/d-a.json": {f"q{place}": "A" for place in range(8)}})
    write(tmp_path, {"prediction/d-b.json": {f"q{place}": "AB"[place > 1] for place in range(8)}})
    done = run(tmp_path, "compare", "d-a", "d-b")
    assert (done.code, done.err) == (0, "")
    rows = [line.split() for line in done.out.splitlines()]
    assert ["a", "1.0000", "–", "0", "0"] in rows
    # A wins 6 of 8, the rest are ties: sd of the differences √(1.5/7), t(7) = 2.3646; p is 2/2^6 by
    # flips, and larger with t = 4.583 and g = (0.75·0.25³ − 0.25·0.75³)/8² / (1.5/7/8)^1.5 =
    # −0.3341, so T = 2.5858
    half = 2.364624 * math.sqrt(1.5 / 7 / 8)
    assert ["a", "b", "+0.7500", f"[{0.75 - half:.4f},", "1.0000]", "0.0362", "0.0362"] in [
        row[:7] for row in rows
    ]
    assert "6/2/0" in done.out
    assert ["q2", "1", "1.0000", "0.0000", "+0.1250"] in rows
    comparison = run(tmp_path, "compare", "d-a", "d-b", "--json").json
    assert comparison["pairs"][0]["p"] == pytest.approx(2 * stats.t.sf(2.58582, 7), rel=1e-3)
    assert comparison["systems"][0]["signature"]["prediction_sha256"]
    assert not (tmp_path / "evaluation").exists()


def test_compare_on_any_hash_seed(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 2)):
        rng = random.Random(seed)
        write(
            tmp_path,
            {f"prediction/{name}.json": [q(str(n), answer=rng.choice("ABC")) for n in range(40)]},
        )
    first = run_process(tmp_path, "compare", "a", "b", PYTHONHASHSEED="1")
    assert first.code == 0
    assert first.out == run_process(tmp_path, "compare", "a", "b", PYTHONHASHSEED="2").out


def test_compare_is_refused(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "prediction/a.json": [q()],
            "prediction/b.json": [q(), q("q8")],
            "prediction/bad.json": "{",
        },
    )
    assert_refused(run(tmp_path, "compare", "a"), "compare: expected two systems or more, got 1")
    assert_refused(
        run(tmp_path, "compare", "a", "b"), "a, b: expected the same questions, got only in b: q8"
    )
    assert_refused(run(tmp_path, "compare", "a", "bad"), "bad.json", "not JSON")
    assert_refused(run(tmp_path, "compare", "a", "nowhere"), "nowhere", "no such file")
    assert_refused(run(tmp_path, "compare", "a", "a", "--missing", "skip"), "--missing")
    assert_refused(run(tmp_path, "compare"), "compare", "required")
