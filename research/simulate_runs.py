"""What the luck of runs as wholes does to the test of two systems:
`simulate_runs.py [pairs]`.

All answers of a run are moved by a good or a bad day. The share of pairs with a
difference at p < 0.05, by the paired test alone and with what runs show; the table in
README.md is its output with 1,000 pairs a line.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from drawn_seasons import LEVEL_WEIGHTS, LEVELS, SPREAD, answer  # noqa: E402
from forecasteval.ranking.pairs import paired_test, run_test  # noqa: E402
from forecasteval.ranking.repeats import RunVariation  # noqa: E402
from forecasteval.ranking.systems import ALPHA  # noqa: E402

# Runs of each system, luck of a run and advantage of the first system in log-odds.
PAIRS: Final = (
    *((3, 0.0, 0.0), (3, 0.2, 0.0), (2, 0.4, 0.0), (3, 0.4, 0.0), (5, 0.4, 0.0)),
    (3, 0.0, 0.5),
)
NUMBERS: Final = np.arange(len(LEVELS)) % 2 == 0
SHARES: Final = np.array(LEVEL_WEIGHTS)[LEVELS] / np.bincount(LEVELS)[LEVELS]


def count_differences(
    pairs: int, runs: int, luck: float, advantage: float, seed: int = 1
) -> tuple[float, float]:
    """Return the shares of pairs with p < 0.05 by the paired test alone, and
    with the luck.
    """
    rng = np.random.default_rng(seed)
    counts = np.zeros(2)
    for _ in range(pairs):
        difficulty = rng.normal(0, SPREAD, len(LEVELS))
        means, spreads = [], []
        for skill in (advantage, 0.0):
            knowledge = skill + rng.normal(0, 1, len(LEVELS)) - difficulty
            logits = knowledge + luck * rng.normal(0, 1, (runs, 1))
            scores = answer(rng, logits, LEVELS, NUMBERS).astype(float)
            means.append(scores.mean(axis=0))
            spreads.append(spread_of(scores))
        rows = np.array(means)
        strata = [
            (weight, rows[:, level == LEVELS])
            for level, weight in enumerate(LEVEL_WEIGHTS)
        ]
        alone = paired_test(strata, SHARES * rows)[0, 1]
        counts += [alone < ALPHA, max(alone, run_test(strata, spreads)[0, 1]) < ALPHA]
    return float(counts[0] / pairs), float(counts[1] / pairs)


def spread_of(scores: Any) -> RunVariation:
    """Return how the runs spread, as `ranking.repeats.measure_runs`."""
    deviations = SHARES * (scores - scores.mean(axis=0))
    whole = (deviations.sum(axis=1) ** 2).sum()
    return RunVariation(len(scores), float(whole), float((deviations**2).sum()))


if __name__ == "__main__":
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print("runs  luck  advantage  alone  with the luck of runs")
    for runs, luck, advantage in PAIRS:
        alone, both = count_differences(repeats, runs, luck, advantage)
        print(
            f"{runs:4}  {luck:4}  {advantage:9}  {alone:.3f}  {both:21.3f}", flush=True
        )
