"""Nobody rises on a board by anything but better forecasts: every game of research/games.py, and
`compare`.
"""

from __future__ import annotations

import pytest

import games
from forecasteval.boards import compare
from forecasteval.prophet.evaluator import ProphetArenaEvaluator


@pytest.mark.parametrize("name", games.GAMES)
def test_game_gains_nothing(name: str) -> None:
    before, after = games.play(games.GAMES[name], seed=1)
    assert games.risen(before, after) == {}


def test_games_about_records_change_no_number() -> None:
    """Weights, odds, bids and second forecasts leave every metric as it is."""
    same = ("weight", "odds", "bids", "a second, later")
    names = [name for name in games.GAMES if any(word in name for word in same)]
    names = [name for name in names if "accounts" not in name]
    assert len(games.GAMES) == 20
    assert len(names) == 8
    for name in names:
        before, after = games.play(games.GAMES[name], seed=2)
        assert after
        assert after["forecasters"] == before["forecasters"], name


def test_another_spelling_is_refused() -> None:
    assert games.play(games.GAMES["another spelling of its name where wrong"], seed=1)[1] is None


def test_compare_weighs_as_the_board_does() -> None:
    """Weights of problems count in both, those of forecasts in neither."""
    problems, forecasts = games.draw(3, events=20)
    weighted = [{**problem, "weight": 1 + problem["problem_id"] % 3} for problem in problems]
    stolen = [{**row, "weight": 9 if row["username"] == games.PLAYER else 1} for row in forecasts]
    for data in (forecasts, stolen):
        results = ProphetArenaEvaluator(items=True, bootstrap=0).evaluate_all(data, weighted)
        scores = {
            system["name"]: system["overall_score"] for system in compare([results])["systems"]
        }
        for name, row in results["forecasters"].items():
            assert scores[name] == pytest.approx(1 - row["brier"])
