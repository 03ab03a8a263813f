"""What repeats and the table over all weeks are worth: `simulate_boards.py [seasons]`.

Systems of known skill answer drawn questions (tests/drawn_seasons.py); what the boards report is
compared with what is known. The table in docs/methods.md is its output with 200 seasons a line (two
minutes), those of repeats in docs/nightly.md with 2,000.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from drawn_seasons import SETTINGS, cover_repeats, judge_seasons  # noqa: E402
from forecasteval.ranking.significance import paired_test  # noqa: E402
from forecasteval.ranking.systems import ALPHA  # noqa: E402

# --- The gate ---


def gate_fails(count: int, questions: int, lost: float | None, seed: int = 1) -> float:
    """How often `--fail-if-worse` fails, in a share of `count` comparisons of so many questions.

    With `lost` the candidate's score is lower by that, three in five questions being ties. Without,
    both are equally good, but the baseline is better by 0.05 on 95 % of the questions and much
    worse on the others.
    """
    rng = np.random.default_rng(seed)
    if lost is None:
        rows = np.where(rng.random((count, questions)) < 0.05, -0.95, 0.05)
    else:
        rows = rng.choice(
            [1.0, 0.0, -1.0], (count, questions), p=[0.2 + lost / 2, 0.6, 0.2 - lost / 2]
        )
    tests = paired_test([[(1.0, row)] for row in rows.tolist()], rows / questions)
    return float(np.mean((np.array(tests) < ALPHA) & (rows.sum(axis=1) > 0)))


if __name__ == "__main__":
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    print("runs  coverage  as if independent")
    for runs in (1, 2, 3, 5):
        print("{:4}  {:8.3f}  {:17.3f}".format(runs, *cover_repeats(10 * repeats, runs)))
    print("\nquestions  gate fails: equally good, rare losses, 0.05 lost, 0.1, 0.2")
    for questions in (10, 20, 50, 100, 200, 500):
        shares = [gate_fails(10 * repeats, questions, lost) for lost in (0.0, None, 0.05, 0.1, 0.2)]
        print(f"{questions:9}  " + "  ".join(f"{share:.3f}" for share in shares), flush=True)
    for name, setting in SETTINGS.items():
        print(f"\n{name}")
        figures = judge_seasons(repeats, **setting).items()
        print("  ".join(f"{key}: {value:.3f}" for key, value in figures), flush=True)
