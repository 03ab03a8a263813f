"""What repeats and the table over all weeks are worth: `python tests/simulate_boards.py [seasons]`.

Systems of known skill answer drawn questions; what the boards report is compared with what is known. The tables in
docs/nightly.md are its output with 2,000 seasons (some minutes).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from forecasteval.boards.systems import ALPHA
from forecasteval.boards.two_way import (
    compare_pairs,
    difference_spread,
    fit_scores,
    half_widths,
    rank_bounds,
    score_spread,
)
from forecasteval.common.statistics import stratified_interval
from forecasteval.futurex.rules import WEIGHTS

SIZES: Final = (11, 10, 9, 20)  # questions by level and week
LEVELS: Final = np.repeat(np.arange(4), SIZES)
LEVEL_WEIGHTS: Final = np.array([*WEIGHTS.values()])
SPREAD: Final = 1.2  # of the difficulties within a week, in log-odds
NODES, CHANCES = np.polynomial.hermite_e.hermegauss(40)
Array = np.ndarray[Any, np.dtype[Any]]


def chance(logits: Array) -> Array:
    return 1 / (1 + np.exp(-logits))


def expected(skills: Array, weeks: Array) -> Array:
    """Each system's expected score over questions drawn in these weeks."""
    drawn = chance(skills[:, None, None] - weeks[None, :, None] - SPREAD * NODES)
    return (drawn @ (CHANCES / CHANCES.sum())).mean(axis=1)  # type: ignore[no-any-return]


def answer(rng: np.random.Generator, logits: Array, levels: Array, runs: int) -> Array:
    """Scores of runs × systems × questions: right or wrong at levels 1 and 2, five items of a list at 3 and 4."""
    p = chance(logits)
    one = rng.random((runs, *p.shape)) < p
    return np.where(levels < 2, one, rng.binomial(5, p, (runs, *p.shape)) / 5)


def draw_season(
    rng: np.random.Generator, skills: Array, weeks: int, runs: int, hard: bool
) -> tuple[Array, Array, Array]:
    """Questions' means of each system, nan in the weeks that it misses; levels of questions; difficulties of weeks.

    Every second system misses half of the weeks: the hardest, or any.
    """
    difficulty = rng.normal(0, 0.8, weeks)
    levels, week = np.tile(LEVELS, weeks), np.repeat(np.arange(weeks), len(LEVELS))
    logits = skills[:, None] - difficulty[week] - rng.normal(0, SPREAD, len(week))
    scores = answer(rng, logits, levels, runs).mean(axis=0)
    for system in range(1, len(skills), 2):
        order = np.argsort(-difficulty) if hard else rng.permutation(weeks)
        scores[system, np.isin(week, order[: weeks // 2])] = np.nan
    return scores, levels, difficulty


def own_scores(scores: Array, levels: Array) -> Array:
    """Weighted scores over what each system answered, as if all weeks were alike."""
    means = np.stack([np.nanmean(scores[:, levels == level], axis=1) for level in range(4)])
    return LEVEL_WEIGHTS @ means  # type: ignore[no-any-return]


def right_order(scores: Array, truth: Array) -> float:
    """Share of pairs that are ordered as they are in truth."""
    upper = np.triu_indices(len(truth), 1)
    agree = np.sign(scores[:, None] - scores) == np.sign(truth[:, None] - truth)
    return float(agree[upper].mean())


def judge_season(rng: np.random.Generator, systems: int, weeks: int, runs: int, hard: bool) -> dict[str, float]:
    """Of one season: pairs in the right order, the best found, and what intervals and ranks cover."""
    skills = rng.permutation(np.linspace(-1, 1, systems))
    scores, levels, difficulty = draw_season(rng, skills, weeks, runs, hard)
    truth = expected(skills, difficulty)
    fit = fit_scores(scores, levels, LEVEL_WEIGHTS)
    differences = difference_spread(fit)
    p = compare_pairs(fit, differences)
    upper = np.triu_indices(systems, 1)
    missed = np.abs(differences.value - (truth[:, None] - truth)) > half_widths(differences)
    ranks = np.argsort(np.argsort(-truth)) + 1
    bounds = np.array(rank_bounds(differences, p, ALPHA))
    own = own_scores(scores, levels)
    best = int(truth.argmax())
    return {
        "pooled_order": right_order(fit.scores, truth),
        "own_order": right_order(own, truth),
        "pooled_best": float(fit.scores.argmax() == best),
        "own_best": float(own.argmax() == best),
        "score_coverage": float((np.abs(fit.scores - truth) <= half_widths(score_spread(fit))).mean()),
        "difference_coverage": float(1 - missed[upper].mean()),
        "all_ranks_covered": float(((bounds[:, 0] <= ranks) & (ranks <= bounds[:, 1])).all()),
        "best_in_class": float(p[fit.scores.argmax(), best] >= ALPHA),
    }


def judge_seasons(
    count: int, hard: bool, seed: int = 1, systems: int = 20, weeks: int = 12, runs: int = 3
) -> dict[str, float]:
    """Means of `judge_season`."""
    rng = np.random.default_rng(seed)
    found = [judge_season(rng, systems, weeks, runs, hard) for _ in range(count)]
    return {key: float(np.mean([one[key] for one in found])) for key in found[0]}


def cover_repeats(count: int, runs: int, seed: int = 1) -> tuple[float, float]:
    """How often 95 % intervals hold the truth: of the questions' means, and of all answers taken as independent."""
    rng = np.random.default_rng(seed)
    truth = float(expected(np.zeros(1), np.zeros(1))[0])
    held = np.zeros(2)
    for _ in range(count):
        scores = answer(rng, rng.normal(0, SPREAD, (1, len(LEVELS))), LEVELS, runs)[:, 0]
        by_level = [scores[:, level == LEVELS] for level in range(4)]
        for place, values in enumerate(([part.mean(axis=0) for part in by_level], [part.ravel() for part in by_level])):
            strata = [(weight, part.tolist()) for weight, part in zip(LEVEL_WEIGHTS, values, strict=True)]
            low, high = stratified_interval(strata) or (0.0, 1.0)
            held[place] += low <= truth <= high
    return float(held[0] / count), float(held[1] / count)


if __name__ == "__main__":
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print("runs  coverage  as if independent")
    for runs in (1, 2, 3, 5):
        print("{:4}  {:8.3f}  {:17.3f}".format(runs, *cover_repeats(repeats, runs)))
    for hard in (False, True):
        print("\nevery second system misses half of the weeks,", "the harder ones" if hard else "any")
        for key, value in judge_seasons(repeats, hard).items():
            print(f"  {key:20} {value:.3f}")
