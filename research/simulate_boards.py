"""What ranks, repeats and the table over all weeks are worth:
`simulate_boards.py [seasons]`.

Systems of known skill answer drawn questions (tests/drawn_seasons.py); what the boards
report is compared with what is known. The table in research/README.md is its output
with 200 seasons a line (two minutes), those of ranks with 400 boards a line, those of
repeats with 2,000.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from drawn_seasons import (  # noqa: E402
    LEVEL_WEIGHTS,
    LEVELS,
    SETTINGS,
    SPREAD,
    answer,
    cover_repeats,
    judge_seasons,
)
from forecasteval.common.statistics import rank_ranges  # noqa: E402
from forecasteval.ranking.pairs import paired_test  # noqa: E402
from forecasteval.ranking.systems import ALPHA  # noqa: E402

# --- Ranks ---

# Systems, questions, spread of skills in log-odds (0: equal systems).
BOARDS: Final = (
    *((4, 60, 0.0), (8, 60, 0.0), (20, 60, 0.0), (20, 300, 0.0)),
    *((8, 60, 1.0), (20, 60, 1.0), (20, 300, 1.0), (40, 500, 1.0)),
)


def judge_ranks(
    boards: int, systems: int, questions: int, spread: float, seed: int = 1
) -> tuple[float, float, float]:
    """Draw boards. Return the share of them on which some true rank is outside its
    range; of all systems the share whose true rank is in it; and the mean
    width of ranges.

    Equal systems have all ranks, so that each that is left out is wrong.
    """
    rng = np.random.default_rng(seed)
    levels = np.resize(LEVELS, questions)
    numbers = np.arange(len(levels)) % 2 == 0
    failed, held, widths = 0, 0.0, 0.0
    for _ in range(boards):
        skills = spread * rng.normal(0, 1, systems)
        logits = skills[:, None] - rng.normal(0, SPREAD, len(levels))
        scores = answer(rng, logits, levels, numbers).astype(float)
        strata = [
            (weight, scores[:, levels == level])
            for level, weight in enumerate(LEVEL_WEIGHTS)
        ]
        parts = np.hstack([weight / rows.shape[1] * rows for weight, rows in strata])
        p = paired_test(strata, parts)
        overall = parts.sum(axis=1)
        low, high = np.transpose(
            rank_ranges(np.subtract.outer(overall, overall), p, ALPHA)
        )
        best = 1 + (skills[:, None] < skills).sum(axis=1)
        worst = systems - (skills[:, None] > skills).sum(axis=1)
        is_held = (low <= best) & (worst <= high)
        failed += not is_held.all()
        held += is_held.mean()
        widths += (high - low + 1).mean()
    return failed / boards, float(held) / boards, float(widths) / boards


# --- The gate ---


def gate_fails(count: int, questions: int, lost: float | None, seed: int = 1) -> float:
    """How often `--fail-if-worse` fails, in a share of `count` comparisons of so
    many questions.

    With `lost` the candidate's score is lower by that, three in five questions being
    ties. Without, both are equally good, but the baseline is better by 0.05 on 95 % of
    the questions and much worse on the others.
    """
    rng = np.random.default_rng(seed)
    if lost is None:
        rows = np.where(rng.random((count, questions)) < 0.05, -0.95, 0.05)
    else:
        rows = rng.choice(
            [1.0, 0.0, -1.0],
            (count, questions),
            p=[0.2 + lost / 2, 0.6, 0.2 - lost / 2],
        )
    # Each against a system without points
    pairs = np.stack([rows, np.zeros_like(rows)], axis=1)
    tests = [paired_test([(1.0, both)], both / questions)[0, 1] for both in pairs]
    return float(np.mean((np.array(tests) < ALPHA) & (rows.sum(axis=1) > 0)))


if __name__ == "__main__":
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    print("runs  coverage  as if independent")
    for runs in (1, 2, 3, 5):
        print(
            "{:4}  {:8.3f}  {:17.3f}".format(runs, *cover_repeats(10 * repeats, runs))
        )
    print(
        "\nsystems  questions  spread of skills  boards with a wrong range  held  width"
    )
    for systems, questions, spread in BOARDS:
        figures = judge_ranks(2 * repeats, systems, questions, spread)
        print(
            "{:7}  {:9}  {:16}  {:25.3f}  {:4.3f}  {:5.1f}".format(
                systems, questions, spread, *figures
            ),
            flush=True,
        )
    print("\nquestions  gate fails: equally good, rare losses, 0.05 lost, 0.1, 0.2")
    for questions in (10, 20, 50, 100, 200, 500):
        shares = [
            gate_fails(10 * repeats, questions, lost)
            for lost in (0.0, None, 0.05, 0.1, 0.2)
        ]
        print(
            f"{questions:9}  " + "  ".join(f"{share:.3f}" for share in shares),
            flush=True,
        )
    for name, setting in SETTINGS.items():
        print(f"\n{name}")
        figures = judge_seasons(repeats, **setting).items()
        print("  ".join(f"{key}: {value:.3f}" for key, value in figures), flush=True)
