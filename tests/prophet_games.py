"""Twenty ways to rise on a board without forecasting better.

A player of known skill changes its records, and knows the outcomes unless the game is about
probabilities. `play` gives the results before and after; tests/prophet/test_games.py asserts that
no game gains a rank, and `python research/games.py` plays more of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from forecasteval.common.errors import InputError
from forecasteval.prophet.evaluator import ProphetArenaEvaluator

PLAYER: Final = "f4"
FORECASTERS: Final = 7
CLOSING: Final = "2025-06-30T00:00:00Z"
Record = dict[str, Any]
Game = Callable[
    [Record, Record], list[Record]
]  # of a problem and the player's forecast: what it hands in


def draw(seed: int, events: int = 60) -> tuple[list[Record], list[Record]]:
    """Events of 2 to 4 options with prices, and forecasters whose noise grows with their number."""
    rng = np.random.default_rng(seed)
    problems, forecasts = [], []
    for event in range(events):
        truth = rng.dirichlet(np.ones(int(rng.integers(2, 5))))
        price = np.clip(truth * np.exp(rng.normal(0, 0.2, len(truth))), 0.02, None)
        odds = (price / price.sum()).round(3).tolist()
        problem = {
            "problem_id": event, "options": [str(at) for at in range(len(truth))],
            "correct_option_idx": int(rng.choice(len(truth), p=truth)), "end_date": CLOSING,
            "odds": odds,
        }  # fmt: skip
        problems.append(problem)
        for who in range(FORECASTERS):
            p = np.maximum(truth, 0.01) * np.exp(rng.normal(0, 0.2 + 0.25 * who, len(truth)))
            forecasts.append(
                {
                    "problem_id": event, "username": f"f{who}",
                    "timestamp": f"2025-06-29T0{who}:30:00Z",
                    "prediction": (p / p.sum()).round(3).tolist(), "odds": odds,
                    "weight": 1 + event % 3,
                }
            )  # fmt: skip
    return problems, forecasts


def is_right(problem: Record, row: Record) -> bool:
    """Whether the forecast's largest probability is on the winner."""
    return int(np.argmax(row["prediction"])) == problem["correct_option_idx"]


def truth_of(problem: Record) -> list[float]:
    return [float(at == problem["correct_option_idx"]) for at in range(len(problem["options"]))]


def cheap(problem: Record, row: Record) -> list[float]:
    """The player's odds, with the winner for a cent."""
    return [0.01 if won else q for q, won in zip(row["odds"], truth_of(problem), strict=True)]


def without(row: Record, *fields: str) -> Record:
    return {key: value for key, value in row.items() if key not in fields}


GAMES: Final[Mapping[str, Game]] = {
    "own weight where right": lambda problem, row: [
        {**row, "weight": 1000 if is_right(problem, row) else 1}
    ],
    "own odds of 0.01": lambda _, row: [{**row, "odds": [0.01] * len(row["odds"])}],
    "own odds of 0.01 for the winner": lambda problem, row: [{**row, "odds": cheap(problem, row)}],
    "no odds where wrong": lambda problem, row: [
        row if is_right(problem, row) else without(row, "odds")
    ],
    "the truth, late": lambda problem, row: [
        {**row, "timestamp": "2025-07-01T00:00:00Z", "prediction": truth_of(problem)}
    ],
    "the truth, without a time": lambda problem, row: [
        {**without(row, "timestamp"), "prediction": truth_of(problem)}
    ],
    "four events only": lambda problem, row: [row] if problem["problem_id"] < 4 else [],
    "a tenth, the ones it was best at": lambda problem, row: (
        [row]
        if row["prediction"][problem["correct_option_idx"]] > 0.85
        and problem["problem_id"] % 3 == 0
        else []
    ),
    "no weight where wrong": lambda problem, row: [
        row if is_right(problem, row) else without(row, "weight")
    ],
    "two accounts, false odds in an hour of their own": lambda problem, row: [
        {**row, "username": name, "timestamp": "2025-06-01T00:00:00Z", "odds": cheap(problem, row)}
        for name in (PLAYER, f"{PLAYER} again")
    ],
    "own bids of 0": lambda _, row: [{**row, "bids": [0.0] * len(row["odds"])}],
    "three more accounts that repeat false odds": lambda problem, row: [
        {**row, "username": name, "odds": cheap(problem, row)}
        for name in (PLAYER, *(f"{PLAYER}-{n}" for n in range(3)))
    ],
    "seven more accounts without a time, and the truth without one": lambda problem, row: [
        {**without(row, "timestamp"), "username": name, "prediction": truth_of(problem)}
        for name in (PLAYER, *(f"{PLAYER}-{n}" for n in range(7)))
        if name == PLAYER or problem["problem_id"] == 0
    ],
    "another spelling of its name where wrong": lambda problem, row: [
        row if is_right(problem, row) else {**row, "username": f"{PLAYER}\u200b"}
    ],
    "all zero where unsure": lambda _, row: [
        (
            row
            if max(row["prediction"]) > 0.6
            else {**row, "prediction": [0.0] * len(row["prediction"])}
        )
    ],
    "no number where unsure": lambda _, row: [
        (
            row
            if max(row["prediction"]) > 0.6
            else {**row, "prediction": ["nan"] * len(row["prediction"])}
        )
    ],
    "twice as large": lambda _, row: [
        {**row, "prediction": [min(1.0, 2 * p) for p in row["prediction"]]}
    ],
    "a second, later forecast of the truth": lambda problem, row: [
        row,
        {**row, "timestamp": "2025-07-01T00:00:00Z", "prediction": truth_of(problem)},
    ],
    "another field for the probabilities": lambda problem, row: [
        {**row, "probs": truth_of(problem)}
    ],
    "odds and weight that are no numbers": lambda _, row: [
        {**row, "odds": "free", "weight": "all"}
    ],
}


def play(game: Game, seed: int) -> tuple[Record, Record | None]:
    """The results before and after the game; None if the board refuses the file."""
    problems, forecasts = draw(seed)
    by_id = {problem["problem_id"]: problem for problem in problems}
    changed: list[Record] = []
    for row in forecasts:
        changed += game(by_id[row["problem_id"]], row) if row["username"] == PLAYER else [row]
    evaluator = ProphetArenaEvaluator()
    before = evaluator.evaluate_all(forecasts, problems)
    try:
        return before, evaluator.evaluate_all(changed, problems)
    except InputError:
        return before, None


def risen(before: Record, after: Record | None) -> dict[str, tuple[int, int]]:
    """List the metrics by which the player rose by more than one rank, with both ranks.

    One is the noise of a game that makes forecasts worse. If it hands in other events than the
    others, only the metric that ranks the board then: the
    others do not compare.
    """
    old, new = before["forecasters"][PLAYER], after and after["forecasters"].get(PLAYER)
    if not after or not new:
        return {}
    by = after["ranked_by"]["metric"]
    found = {}
    for metric in [by] if by == "adjusted_brier" else METRICS:
        before_rank, rank = old[f"{metric}_rank"], new[f"{metric}_rank"]
        if rank is not None and rank < before_rank - 1:
            found[metric] = (before_rank, rank)
    return found


# Bradley–Terry is no score of single forecasters: whoever adds what the pool lacks rises, an even
# forecast too.
METRICS: Final = (
    *("brier", "adjusted_brier", "log", "spherical", "return_0", "return_0.5", "return_1"),
    *("irt_ability", "weighted_brier"),
)
