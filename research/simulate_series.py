"""What `series` is worth: `simulate_series.py [boards]`.

Equally good systems answer events of three questions each: what a system knows of an
event moves its answers to all three. The share of boards with a false difference of the
first two systems at p < 0.05, and of boards with a rank wrongly left out, without and
with series; the table in research/README.md is its output with 1,000 boards a line.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from forecasteval.common.statistics import cluster_values, rank_ranges  # noqa: E402
from forecasteval.ranking.pairs import paired_test  # noqa: E402
from forecasteval.ranking.systems import ALPHA  # noqa: E402

PER_EVENT: Final = 3
# Systems, questions, standard deviation in log-odds of what a system knows of an event.
BOARDS: Final = ((2, 60, 1.0), (2, 60, 2.0), (8, 60, 1.0), (8, 60, 2.0), (8, 150, 2.0))


def judge_boards(
    boards: int, systems: int, questions: int, spread: float, seed: int = 1
) -> tuple[list[float], list[float]]:
    """Draw boards of equal systems. Return the shares with a false difference, and with
    a wrong range, without and with series.
    """
    rng = np.random.default_rng(seed)
    events = np.repeat(np.arange(questions // PER_EVENT), PER_EVENT)
    false = np.zeros(2)
    wrong = np.zeros(2)
    for _ in range(boards):
        difficulty = rng.normal(0, 1, questions)
        insight = (
            spread * rng.normal(0, 1, (systems, questions // PER_EVENT))[:, events]
        )
        chances = 1 / (1 + np.exp(difficulty - insight))
        scores = (rng.random((systems, questions)) < chances).astype(float)
        for place, p in enumerate((test_alone(scores), test_series(scores, events))):
            overall = scores.mean(axis=1)
            ranges = rank_ranges(np.subtract.outer(overall, overall), p, ALPHA)
            false[place] += p[0, 1] < ALPHA
            wrong[place] += any(each != (1, systems) for each in ranges)
    return (false / boards).tolist(), (wrong / boards).tolist()


def test_alone(scores: Any) -> Any:
    """Test the systems as if all questions were independent."""
    return paired_test([(1.0, scores)], scores / scores.shape[1])


def test_series(scores: Any, events: Any) -> Any:
    """Test the systems by event, as boards do where `series` names it."""
    clustered = np.array([cluster_values(row, events) for row in scores.tolist()])
    contributions = (
        np.array([np.bincount(events, row) for row in scores]) / scores.shape[1]
    )
    return paired_test([(1.0, clustered)], contributions)


if __name__ == "__main__":
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print(
        "systems  questions  spread  false differences, with series  wrong ranges, "
        "with series"
    )
    for systems, questions, spread in BOARDS:
        false, wrong = judge_boards(repeats, systems, questions, spread)
        print(
            f"{systems:7}  {questions:9}  {spread:6}  {false[0]:17.3f}  "
            f"{false[1]:11.3f}"
            f"  {wrong[0]:12.3f}  {wrong[1]:11.3f}",
            flush=True,
        )
