"""Levels, weights and what can become of an answer: the numbers of the benchmark in one place."""

from __future__ import annotations

from typing import Final, NamedTuple

LEVELS: Final = (1, 2, 3, 4)
WEIGHTS: Final = {1: 0.1, 2: 0.2, 3: 0.3, 4: 0.4}  # seed README, 评分权重
MISSING_POLICIES: Final = ("zero", "skip")
LLM_POLICIES: Final = ("unsure", "always")  # which numbers a language model reads
PARTIAL_RANKING: Final = 0.8  # seed README, 评分机制
EQUAL: Final = 1e-9  # relative difference of numbers that count as equal where there is no sigma


class Scored(NamedTuple):
    """What became of one answer. `outcome`: scored, missing or unparsed; the latter two score 0."""

    score: float
    outcome: str
    read: str
    note: str


MISSING: Final = Scored(0.0, "missing", "", "")


def unparsed(note: str) -> Scored:
    return Scored(0.0, "unparsed", "", note)
