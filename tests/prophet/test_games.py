"""Nobody rises on a board by anything but better forecasts: every game of prophet_games.py."""

from __future__ import annotations

import pytest

import prophet_games as games


@pytest.mark.parametrize("name", games.GAMES)
def test_game_gains_nothing(name: str) -> None:
    before, after = games.play(games.GAMES[name], seed=1)
    assert games.risen(before, after) == {}


def test_better_forecasts_rise() -> None:
    """The rule sees who gains: the truth, in time."""
    before, after = games.play(
        lambda problem, row: [{**row, "prediction": games.truth_of(problem)}], seed=1
    )
    assert games.risen(before, after).keys() == set(games.METRICS)


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


def test_another_spelling_is_lost() -> None:
    _, after = games.play(games.GAMES["another spelling of its name where wrong"], seed=1)
    assert after
    assert not any(games.PLAYER in name for name in after["forecasters"])
    assert len(after["forecasters"]) == games.FORECASTERS - 1
