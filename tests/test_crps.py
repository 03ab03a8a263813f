"""A fourth benchmark, `crps_wing`, with scores in [−1, 0]: everything around a benchmark takes it
as it is.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import crps_wing
from boards_folders import make_page
from cli import Done, assert_refused, run, strict, write
from crps_wing import CrpsEvaluator, score_samples
from forecasteval import cli as program
from forecasteval.custom import JsonObject, Score, Unread
from forecasteval.display.html import render
from forecasteval.display.tables import IntervalCell
from forecasteval.ranking.weeks import fit_scores
from html_page import check_page

SKILLS = {"sharp": 1.0, "fair": 3.0, "vague": 9.0}
WEEKS = tuple(f"w{n}" for n in range(1, 7))
BENCHMARKS = program.BENCHMARKS
Folder = Callable[..., Path]


class Costs(CrpsEvaluator):
    """The same with a score of which lower is better, between 0 and 1."""

    version = "1.0 of costs"  # else stored results of the other would hold
    bounds, higher_is_better = (0.0, 1.0), False

    def score_answer(self, question: JsonObject, answer: object) -> Score | Unread:
        scored = super().score_answer(question, answer)
        return scored._replace(score=-scored.score) if isinstance(scored, Score) else scored


class Endless(CrpsEvaluator):
    """The same without a bound below."""

    version = "1.0 without a bound"
    bounds = (-float("inf"), 0.0)
    worst = -1.0


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """A season of forecasts in a folder; `vague` missed the last week, `fair` one answer in the
    first.
    """

    def make(evaluator: type[CrpsEvaluator] = CrpsEvaluator) -> Path:
        wing = crps_wing.BENCHMARK._replace(evaluator=lambda output: evaluator())
        monkeypatch.setattr(program, "BENCHMARKS", (wing, *BENCHMARKS))
        rng = random.Random(3)
        for week in WEEKS:
            questions = [
                {"id": f"{week}-{n}", "value": rng.gauss(0, 5), "scale": 20} for n in range(12)
            ]
            write(tmp_path, {f"dataset/{week}.json": questions})
            for name, spread in SKILLS.items():
                answers = {
                    str(question["id"]): [
                        float(question["value"]) + rng.gauss(0, spread) for _ in range(5)
                    ]
                    for question in questions
                }
                if (name, week) == ("fair", "w1"):
                    del answers["w1-0"]
                if (name, week) != ("vague", WEEKS[-1]):
                    write(tmp_path, {f"prediction/{week}-{name}.json": answers})
        return tmp_path

    return make


def board(root: Path) -> Any:
    done = run(root, "nightly", "--json")
    assert (done.code, done.err) == (0, "")
    return done.json


def scores_of(root: Path, week: str, name: str) -> list[float]:
    return [item["score"] for item in run(root, "-f", f"{week}-{name}", "--json").json["items"]]


def test_crps_of_samples() -> None:
    rng = np.random.default_rng(1)
    samples = rng.normal(0, 1, 400)
    exact = (
        0.6 * (2 * stats.norm.cdf(0.6) - 1) + 2 * stats.norm.pdf(0.6) - 1 / np.sqrt(np.pi)
    )  # of N(0, 1) at 0.6
    assert score_samples(samples.tolist(), 0.6, 2.0) == pytest.approx(-exact / 2, abs=0.02)
    assert score_samples([3.0], 5.0, 4.0) == -0.5
    assert score_samples([3.0], 500.0, 4.0) == -1.0


def test_a_file(folder: Folder) -> None:
    root = folder()
    done = run(root, "-f", "w1-fair")
    expected = np.mean(scores_of(root, "w1", "fair"))
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("CRPS  w1-fair\n12 questions, dataset w1.json\n")
    assert f"\nScore {expected:.4f}, 95% interval [" in done.out
    assert -1 < expected < 0
    assert run(root, "-f", "w1-fair", "--fail-under", str(expected - 0.001)).code == 0
    assert run(root, "-f", "w1-fair", "--fail-under", str(expected + 0.001)).code == 6
    assert_refused(run(root, "-f", "w1-fair", "--fail-under", "0.5"), "--fail-under", "[-1, 0]")


def test_a_week_is_ranked_and_bounded(folder: Folder) -> None:
    root = folder()
    table = board(root)["tables"][-1]  # the newest week is the first
    assert (table["score_bounds"], table["higher_is_better"]) == ([-1.0, 0.0], True)
    assert [row["name"] for row in table["rows"]] == ["w1-sharp", "w1-fair", "w1-vague"]
    for row in table["rows"]:
        values = scores_of(root, "w1", row["name"].removeprefix("w1-"))
        assert row["overall_score"] == pytest.approx(np.mean(values), abs=1e-12)
        low, high = stats.t.interval(0.95, 11, np.mean(values), stats.sem(values))
        assert row["overall_interval"] == pytest.approx([max(-1, low), min(0, high)], abs=1e-9)


def test_weeks_are_pooled_by_scores_that_are_scaled(folder: Folder) -> None:
    """Against `fit_scores` of the scores plus 1, which are in [0, 1]; what was answered in full is
    the plain mean.
    """
    root = folder()
    (table,) = board(root)["pooled"]
    rows = {row["name"]: row for row in table["rows"]}
    units = np.full((3, 72), np.nan)
    for place, name in enumerate(SKILLS):
        for week in range(6 if name != "vague" else 5):
            units[place, 12 * week : 12 * week + 12] = 1 + np.array(
                scores_of(root, WEEKS[week], name)
            )
    fit = fit_scores(units, np.zeros(72, int), np.repeat(np.arange(6), 12), np.ones(1))
    for place, name in enumerate(SKILLS):
        assert rows[name]["overall_score"] == pytest.approx(fit.scores[place] - 1, abs=1e-9)
        assert rows[name]["own_score"] == pytest.approx(np.nanmean(units[place]) - 1, abs=1e-12)
        low, high = rows[name]["overall_interval"]
        assert -1 <= low < rows[name]["overall_score"] < high <= 0
    assert rows["sharp"]["overall_score"] == pytest.approx(units[0].mean() - 1, abs=1e-9)
    assert [row["rank"] for row in table["rows"]] == [1, 2, 3]


def compare(root: Path, *names: str) -> Done:
    """With an α of 0.1: three weeks of two systems say little about good and bad weeks."""
    return run(root, "compare", *names, "--fail-if-worse", "--json")


@pytest.mark.parametrize("names", [("w1-sharp", "w1-vague"), ("sharp", "vague")])
def test_a_gate(folder: Folder, names: tuple[str, str]) -> None:
    root = folder()
    done = compare(root, *names)
    (pair,) = strict(done.out)["pairs"]
    counts = pair["levels"][""]
    assert (done.code, pair["difference"] > 0, counts["wins"] > counts["losses"]) == (6, True, True)
    assert compare(root, *reversed(names)).code == 0


@pytest.mark.parametrize("names", [("w1-sharp", "w1-vague"), ("sharp", "vague")])
def test_lower_is_better_is_the_same_with_the_other_sign(
    folder: Folder, names: tuple[str, str]
) -> None:
    (pair,) = strict(compare(folder(), *names).out)["pairs"]
    root = folder(Costs)
    done = compare(root, *names)
    assert (done.code, strict(done.out)["higher_is_better"]) == (6, False)
    assert compare(root, *reversed(names)).code == 0
    (mirrored,) = strict(done.out)["pairs"]
    assert mirrored["difference"] == pytest.approx(-pair["difference"], abs=1e-9)
    assert mirrored["interval"] == pytest.approx(
        [-bound for bound in reversed(pair["interval"])], abs=1e-9
    )
    assert (mirrored["p"], mirrored["levels"]) == (
        pytest.approx(pair["p"], abs=1e-9),
        pair["levels"],
    )
    assert "lower is better" in run(root, "compare", *names).out.splitlines()[2]
    if names[0].startswith("w1"):
        assert run(root, "compare", *names, "--html").code == 0
        page = (root / "evaluation/compare.html").read_text("utf-8")
        ends = re.sub(r"</?span[^>]*>", "", page[page.index("←") : page.index("→") + 1])
        assert ends.split() == ["←", "sharp", "bettervague", "better", "→"]
    assert_refused(
        run(root, "-f", "w1-fair", "--fail-under", "0.5"),
        "--fail-under",
        "of which higher are better",
    )


def test_lower_is_better_on_boards(folder: Folder) -> None:
    plain = board(folder())
    root = folder(Costs)
    mirrored = board(root)
    for first, second in zip(
        plain["pooled"] + plain["tables"], mirrored["pooled"] + mirrored["tables"], strict=True
    ):
        for a, b in zip(first["rows"], second["rows"], strict=True):
            assert [a[key] for key in ("name", "rank", "rank_interval")] == [
                b[key] for key in ("name", "rank", "rank_interval")
            ]
            assert a["overall_score"] == pytest.approx(-b["overall_score"], abs=1e-9)
            low, high = b["overall_interval"]
            assert a["overall_interval"] == pytest.approx([-high, -low], abs=1e-9)
    done = run(root, "nightly")
    assert "Leaderboard  CRPS, all 6 datasets, 72 questions, lower is better" in done.out
    assert "overall (lower is better)" in (root / "evaluation/leaderboard.csv").read_text("utf-8")


def test_scores_without_a_bound_have_no_table_over_weeks(folder: Folder) -> None:
    root = folder(Endless)
    values = board(root)
    assert (values["pooled"], values["tables"][0]["score_bounds"]) == ([], [None, 0.0])
    assert values["remarks"] == ["CRPS: no table over all datasets, which needs scores with bounds"]
    assert compare(root, "w1-sharp", "w1-vague").code == 6
    assert_refused(compare(root, "sharp", "vague"), "CRPS", "scores with bounds")


def test_a_score_out_of_bounds_is_not_ranked(folder: Folder) -> None:
    class Broken(CrpsEvaluator):
        bounds = (-0.001, 0.0)

    done = run(folder(Broken), "nightly")
    assert done.code == 2
    assert "question w1-1: score_answer: expected Unread, or a Score from -0.001 to 0" in done.err


def test_a_page_where_a_lower_score_is_better(folder: Folder) -> None:
    root = folder(Costs)
    page = make_page(board(root))
    rows = page.charts()["ranking1"].table.rows
    scores = [cell.value for row in rows for cell in row if isinstance(cell, IntervalCell)]
    assert len(rows) == len(scores)
    assert scores == sorted(scores)
    check_page(render(page))
