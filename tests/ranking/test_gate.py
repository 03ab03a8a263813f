"""A gate for CI: exit code 6 and one line for a score below a threshold, and for a candidate that
is worse.
"""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import pytest

from boards_folders import folder_of
from cli import ROOT, Done, assert_refused, q, run, write
from forecasteval.ranking.gate import find_breach
from prophet_data import GOOD, GOOD_PROBLEM


def assert_gate(done: Done, *words: str) -> None:
    """One line on stderr, and the whole report on stdout."""
    assert_refused(done, *words, code=6)
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("threshold", "code"), [("0", 0), ("0.5", 0), ("0.50000001", 6), ("0.75", 6), ("1", 6)]
)
def test_threshold(tmp_path: Path, threshold: str, code: int) -> None:
    folder_of(tmp_path, a="AABB")
    plain, done = run(tmp_path, "-f", "d-a"), run(tmp_path, "-f", "d-a", "--fail-under", threshold)
    assert (done.code, done.out) == (code, plain.out)
    assert done.err == (
        "eval.py: below --fail-under " + f"{float(threshold)}: d-a (0.5000)\n" if code else ""
    )


def test_any_file_below_fails_and_all_reports_stand(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="ABBB", c="BBBB")
    names = ["-f", "d-b", "-f", "d-a", "-f", "d-c"]
    done = run(tmp_path, *names, "--fail-under", "0.5", "--json")
    assert done.out == run(tmp_path, *names, "--json").out
    assert_gate(done, "below --fail-under 0.5: d-b (0.2500), d-c (0.0000)\n"[:-1])
    both = run(
        tmp_path, "-f", "nobody", *names, "--fail-under", "0.5"
    )  # which is not hidden behind a file that failed
    assert (both.code, both.err.count("\n"), "nobody" in both.err) == (6, 2, True)
    assert run(tmp_path, "-f", "nobody", "-f", "d-a", "--fail-under", "0.5").code == 3


def test_a_score_counts_as_it_is_printed_and_stored(tmp_path: Path) -> None:
    """What --json says passes as threshold; 0.7 that comes out as 0.6999999999999998 is not below
    0.7.
    """
    score = run(ROOT, "--json").json["overall_score"]
    assert run(ROOT, "--fail-under", repr(score)).code == 0
    done = run(ROOT, "--fail-under", "0.296098696")
    assert_gate(done, "250915-random (0.296098695854)")  # 0.2961 is not below 0.2961
    assert 0.7 - 2e-16 < 0.7
    assert find_breach({"name": "x", "overall_score": 0.7 - 2e-16}, 0.7) == []


@pytest.mark.parametrize("score", [None, float("nan")])
def test_no_score_fails_any_threshold(score: float | None) -> None:
    assert find_breach({"name": "x", "overall_score": score}, 0.0) == ["x (no score)"]


def test_nothing_answered_with_missing_skip(tmp_path: Path) -> None:
    write(tmp_path, {"prediction/a.json": [q(answer=None)]})
    assert_gate(run(tmp_path, "-f", "a", "--missing", "skip", "--fail-under", "0"), "a (no score)")


def test_overall_relative_score_of_rxnopt() -> None:
    done = run(ROOT, "-f", "multiple_choice_all_varying-random", "--fail-under", "0.74")
    assert_gate(done, "multiple_choice_all_varying-random (0.7317)")
    assert run(ROOT, "-f", "multiple_choice_all_varying-random", "--fail-under", "0.73").code == 0


def test_one_forecaster_of_prophet_arena(tmp_path: Path) -> None:
    problems = [{**GOOD_PROBLEM, "problem_id": number} for number in range(3)]
    forecasts = [{**GOOD[0], "problem_id": number, "prediction": [0.8, 0.2]} for number in range(3)]
    write(tmp_path, {"dataset/p.json": problems, "prediction/p-a.json": forecasts})
    brier = run(tmp_path, "-f", "p-a", "--json").json["provisional"]["ada"][
        "brier"
    ]  # three events are too few for a rank
    assert 0 < brier < 1
    assert run(tmp_path, "-f", "p-a", "--fail-under", str(1 - brier - 0.001)).code == 0
    assert_gate(
        run(tmp_path, "-f", "p-a", "--fail-under", str(1 - brier + 0.001)), f"p-a ({1 - brier:.4f})"
    )
    done = run(ROOT, "-f", "prophet-sample", "--fail-under", "0.5")
    assert_refused(done, "--fail-under", "one forecaster", "12 in prophet-sample")


def test_no_score() -> None:
    for value in ("nan", "inf", "x", "", "0,5"):
        assert_refused(
            run(ROOT, f"--fail-under={value}"), "--fail-under", "expected a number", value or "''"
        )
    for value in ("-0.1", "1.1"):
        assert_refused(run(ROOT, f"--fail-under={value}"), "--fail-under", "[0, 1]", value)


# --- compare ---


def compare(root: Path, *names: str, options: tuple[str, ...] = ()) -> Done:
    return run(root, "compare", *names, "--fail-if-worse", *options)


def systems(root: Path) -> Path:
    """good is right in 30 of 40 questions; fair, worse and bad lose 3, 8 and 20 of those."""
    write(root, {"dataset/d.json": [q(f"q{n}", answer=...) for n in range(40)]})
    for name, right in (("good", 30), ("fair", 27), ("worse", 22), ("bad", 10)):
        answers = {f"q{n}": "A" if n < right else "B" for n in range(40)}
        write(root, {f"prediction/d-{name}.json": answers})
    return root


def test_the_first_is_the_baseline(tmp_path: Path) -> None:
    systems(tmp_path)
    plain, done = run(tmp_path, "compare", "d-good", "d-bad"), compare(tmp_path, "d-good", "d-bad")
    assert_gate(done, "worse than d-good (--fail-if-worse): d-bad (-0.5000, p <0.0001")
    assert "; a single run cannot show its own luck: d-good, d-bad" in done.err
    assert done.out == plain.out
    assert compare(tmp_path, "d-bad", "d-good")._replace(out="") == Done(
        0, "", ""
    )  # better, however significant
    assert compare(tmp_path, "d-good", "d-fair").code == 0  # lower, but not significantly
    assert compare(tmp_path, "d-good", "d-good").code == 0


def test_a_gate_that_cannot_fail_says_so(tmp_path: Path) -> None:
    """Five losses and no win have p = 2/2⁵ among all patterns of signs, which is above 0.05."""
    write(tmp_path, {"dataset/d.json": [q(f"q{n}", answer=...) for n in range(5)]})
    write(
        tmp_path, {f"prediction/d-{name}.json": {f"q{n}": name for n in range(5)} for name in "AB"}
    )
    done = compare(tmp_path, "d-A", "d-B")
    assert (done.code, done.err) == (
        0, "eval.py: --fail-if-worse shows nothing of d-B: it differs on 5 questions only\n"
    )  # fmt: skip


def test_several_candidates_are_adjusted_for_their_number(tmp_path: Path) -> None:
    """By the p of the table, which Holm's adjustment makes of all pairs that are shown."""
    systems(tmp_path)
    (bad, *_) = run(tmp_path, "compare", "d-good", "d-bad", "d-worse", "--json").json["pairs"]
    assert bad["p_holm"] == pytest.approx(3 * bad["p"])
    done = compare(tmp_path, "d-good", "d-bad", "d-worse")
    assert_gate(done, "worse than d-good (--fail-if-worse): d-bad (-0.5000, p <0.0001")
    done = compare(tmp_path, "d-good", "d-fair", "d-bad")  # p of d-fair is 0.25
    assert_gate(done, "d-bad")
    assert "d-fair" not in done.err


def test_equally_good_systems_seldom_fail(tmp_path: Path) -> None:
    """One direction of a two-sided test: about 2.5 % at the level 0.05."""
    write(tmp_path, {"dataset/d.json": [q(f"q{n}", answer=...) for n in range(30)]})
    rng = random.Random(5)
    for name in range(25):
        write(
            tmp_path, {f"prediction/d-{name}.json": {f"q{n}": rng.choice("AB") for n in range(30)}}
        )
    codes = [compare(tmp_path, f"d-{a}", f"d-{b}").code for a, b in pairwise(range(25))]
    assert codes.count(6) <= 4
    assert set(codes) <= {0, 6}
