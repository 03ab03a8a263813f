"""Seasons of systems of known skill, and how far boards find it; research/simulate_boards.py prints
the figures of research/README.md.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from scipy import special

from forecasteval.common.statistics import holm, rank_ranges, stratified_interval
from forecasteval.futurex.rules import WEIGHTS
from forecasteval.ranking.systems import ALPHA
from forecasteval.ranking.weeks import (
    compare_pairs,
    estimate_differences,
    estimate_scores,
    fit_scores,
    half_widths,
)

Array = np.ndarray[Any, np.dtype[Any]]
SIZES: Final = (11, 10, 9, 20)  # questions by level and week
LEVELS: Final = np.repeat(np.arange(4), SIZES)
LEVEL_WEIGHTS: Final = np.array([*WEIGHTS.values()])
SPREAD: Final = 1.5  # of the difficulties within a week, in log-odds
NODES, CHANCES = np.polynomial.hermite_e.hermegauss(40)
SETTINGS: Final[dict[str, dict[str, Any]]] = {
    "any weeks missed": {},
    "hard weeks missed": {"hard": True},
    "the same + 10 blank systems": {"hard": True, "blank": 10},
    "the same + 10 weak systems": {"hard": True, "weak": 10},
    "shocks of 0.2": {"shock": 0.2},
    "shocks of 0.3": {"shock": 0.3},
    "shocks of 0.3, hard weeks missed": {"shock": 0.3, "hard": True},
    "8 of 20 blank in 4 weeks": {"outages": 8},
    "each file blank with 5 %, shocks of 0.3": {"lost": 0.05, "shock": 0.3},
    "three weeks, 6 systems": {"weeks": 3, "systems": 6},
    "limit: 5 of 20 guess, hard weeks missed": {"guessing": 5, "hard": True},
    "limit: two weeks, shocks of 0.3": {"weeks": 2, "shock": 0.3},
}


# --- Answers ---


def number_score(logits: Array, z: Array) -> Array:
    """1 - (how many sigmas the number is off)², at least 0; the better the system, the closer."""
    return np.maximum(0, 1 - (z * np.exp(-logits / SPREAD)) ** 2)  # type: ignore[no-any-return]


def answer(rng: np.random.Generator, logits: Array, levels: Array, numbers: Array) -> Array:
    """Right or wrong at level 1, three picks at level 2, lists of five at levels 3 and 4 and
    `numbers` at level 4.
    """
    p = special.expit(logits)
    right = rng.random(p.shape) < p
    picks, listed = rng.binomial(3, p) / 3, rng.binomial(5, p)
    lists = np.where(listed == 5, 1.0, 0.16 * listed)
    number = number_score(logits, rng.standard_normal(p.shape))
    return np.select(
        [levels == 0, levels == 1, (levels == 3) & numbers], [right, picks, number], lists
    )


def expected(logits: Array, level: int) -> Array:
    """The mean of `answer`; half of the questions of level 4 ask for numbers."""
    p = special.expit(logits)
    if level < 2:
        return p  # type: ignore[no-any-return]
    lists = 0.8 * p + 0.2 * p**5
    if level == 2:
        return lists  # type: ignore[no-any-return]
    ends = np.exp(
        np.minimum(logits / SPREAD, 30)
    )  # where the score becomes 0, in standard deviations
    inside = special.erf(ends / np.sqrt(2))
    beyond = np.sqrt(2 / np.pi) * ends * np.exp(-(ends**2) / 2)
    return (lists + inside - (inside - beyond) / ends**2) / 2  # type: ignore[no-any-return]


class Season(NamedTuple):
    """Scores of systems × questions, nan in the weeks that a system misses, 0 in those of which
    its answers are `blank`, and the scores to be expected: of all questions but the blank ones.
    """

    scores: Array
    blank: Array
    levels: Array
    weeks: Array
    truth: Array


def draw_season(
    rng: np.random.Generator, systems: int = 20, weeks: int = 12, hard: bool = False,
    shock: float = 0.0,
    weak: int = 0, blank: int = 0, guessing: int = 0, outages: int = 0, lost: float = 0.0,
) -> Season:  # fmt: skip
    """A season of `systems`, the first `guessing` of which are as bad in easy weeks as in hard
    ones.

    Every second system misses half of the weeks: the hardest, or any. Behind them stand `weak`
    systems, and `blank` ones that have no point. A system's week is better or worse than its skill
    by `shock` log-odds. A file is blank with the chance `lost`; the first `outages` systems have
    blank files in four weeks.
    """
    skills = np.concatenate([rng.normal(0, 1, systems), np.full(weak, -3.0)])
    difficulty = rng.normal(0, 0.7, weeks)
    effects = np.repeat(-difficulty[None], len(skills), axis=0)
    effects[:guessing] = 0
    levels, week = np.tile(LEVELS, weeks), np.repeat(np.arange(weeks), len(LEVELS))
    shocks = rng.normal(0, 1, effects.shape) * shock
    logits = skills[:, None] + (effects + shocks)[:, week] - rng.normal(0, SPREAD, len(week))
    scores = answer(rng, logits, levels, np.arange(len(week)) % 2 == 0).astype(float)
    nodes = skills[:, None, None] + effects[:, :, None] + np.hypot(SPREAD, shock) * NODES
    curves = [expected(nodes, level) @ (CHANCES / CHANCES.sum()) for level in range(4)]
    truth = np.tensordot(LEVEL_WEIGHTS, np.array(curves), 1)
    for system in range(1, systems, 2):
        order = np.argsort(-difficulty) if hard else rng.permutation(weeks)
        scores[system, np.isin(week, order[: weeks // 2])] = np.nan
    away = rng.random(effects.shape) < lost
    for system in range(outages):
        away[system, rng.permutation(weeks)[:4]] = True
    blanks = away[:, week] & ~np.isnan(scores)
    for system in range(len(truth)):  # a file that was never handed in is not blank
        truth[system, np.unique(week[blanks[system]])] = 0
    scores = np.vstack([np.where(blanks, 0.0, scores), np.zeros((blank, len(week)))])
    return Season(
        scores=scores,
        blank=np.vstack([blanks, np.zeros((blank, len(week)), bool)]),
        levels=levels,
        weeks=week,
        truth=np.concatenate([truth.mean(axis=1), np.zeros(blank)]),
    )


# --- What the boards say of them ---


def own_scores(season: Season) -> Array:
    """Weighted scores over what each system answered, as if all weeks were alike."""
    means = np.stack(
        [np.nanmean(season.scores[:, season.levels == level], axis=1) for level in range(4)]
    )
    return LEVEL_WEIGHTS @ means  # type: ignore[no-any-return]


def judge_season(season: Season, systems: int) -> dict[str, float]:
    """Of the first `systems`: pairs in the right order, the best found, what intervals and ranks
    cover.
    """
    fit = fit_scores(season.scores, season.levels, season.weeks, LEVEL_WEIGHTS, blank=season.blank)
    truth, differences = season.truth, estimate_differences(fit)
    p = compare_pairs(fit, differences)
    gaps = truth[:, None] - truth
    upper = np.triu_indices(systems, 1)
    same = np.sign(differences.value) == np.sign(gaps)
    everyone = np.triu_indices(len(p), 1)
    is_sure = np.zeros(p.shape, bool)
    is_sure[everyone] = holm(p[everyone]) < ALPHA
    own = own_scores(season)
    ranks = np.argsort(np.argsort(-truth, kind="stable")) + 1
    bounds = np.array(rank_ranges(differences.value, p, ALPHA))[:systems]
    held = np.abs(differences.value - gaps) <= half_widths(differences)
    return {
        "pairs in the right order": float(same[upper].mean()),
        "the same by the plain score": float(
            (np.sign(own[:, None] - own) == np.sign(gaps))[upper].mean()
        ),
        "the best one is first": float(fit.scores.argmax() == truth.argmax()),
        "intervals of scores hold": float(
            (np.abs(fit.scores - truth) <= half_widths(estimate_scores(fit)))[:systems].mean()
        ),
        "intervals of differences hold": float(held[upper].mean()),
        "all ranks within Ranks": float(
            ((bounds[:, 0] <= ranks[:systems]) & (ranks[:systems] <= bounds[:, 1])).all()
        ),
        "a significant pair is wrong": float((is_sure & ~same)[upper].any()),
    }


def judge_seasons(count: int, seed: int = 1, systems: int = 20, **setting: Any) -> dict[str, float]:
    """Means of `judge_season`."""
    rng = np.random.default_rng(seed)
    found = [judge_season(draw_season(rng, systems, **setting), systems) for _ in range(count)]
    return {key: float(np.mean([one[key] for one in found])) for key in found[0]}


def cover_repeats(count: int, runs: int, seed: int = 1) -> tuple[float, float]:
    """How often 95 % intervals hold the truth: of the questions' means, and of all answers taken as
    independent.
    """
    rng = np.random.default_rng(seed)
    numbers = np.arange(len(LEVELS)) % 2 == 0
    truth = float(
        LEVEL_WEIGHTS
        @ [expected(SPREAD * NODES, level) @ (CHANCES / CHANCES.sum()) for level in range(4)]
    )
    held = np.zeros(2)
    for _ in range(count):
        logits = np.repeat(rng.normal(0, SPREAD, (1, len(LEVELS))), runs, axis=0)
        scores = answer(rng, logits, LEVELS, numbers)
        by_level = [scores[:, level == LEVELS] for level in range(4)]
        for place, values in enumerate(
            ([part.mean(axis=0) for part in by_level], [part.ravel() for part in by_level])
        ):
            strata = [
                (weight, part.tolist()) for weight, part in zip(LEVEL_WEIGHTS, values, strict=True)
            ]
            low, high = stratified_interval(strata) or (0.0, 1.0)
            held[place] += low <= truth <= high
    return float(held[0] / count), float(held[1] / count)
