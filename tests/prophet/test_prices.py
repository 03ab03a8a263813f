"""Prices as they are given: none is clipped, and each forecast may have its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forecasteval.common.errors import InputError
from forecasteval.prophet.evaluator import ProphetArenaEvaluator
from forecasteval.prophet.scores import average_return
from prophet_data import evaluate

Row = dict[str, Any]


def long_shots(count: int, wins: int, price: float) -> tuple[list[Row], list[Row]]:
    problems = [
        {
            "problem_id": n,
            "options": ["Yes", "No"],
            "correct_option_idx": int(n >= wins),
            "odds": [price, 1 - price],
        }
        for n in range(count)
    ]
    forecasts = [
        {"problem_id": n, "username": "ada", "prediction": [0.5, 0.5]} for n in range(count)
    ]
    return problems, forecasts


def test_a_dollar_at_a_thousandth_pays_a_thousand() -> None:
    problems, forecasts = long_shots(10, 1, 0.001)
    board = evaluate(forecasts, problems)
    assert board["forecasters"]["ada"]["return_0"] == pytest.approx(1000 / 10)
    market = board["baselines"]["market"]
    assert market["brier"] == pytest.approx((0.999**2 + 9 * 0.001**2) / 10)
    assert market["return_0"] == pytest.approx(1)


def test_an_ask_of_one_is_a_price_as_any() -> None:
    """Who copies the market stakes in proportion to the prices, also where nobody offers one."""
    ask = np.array([0.3, 0.1, 1.0])
    copied = ask / ask.sum()
    for gamma in (0, 0.5, 1):
        assert average_return(copied, ask, [1, 0, 0], gamma) == pytest.approx(1 / 1.4)


def test_a_price_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="every price must be above 0"):
        average_return([0.5, 0.5], [0.0, 1.0], [1, 0], 0.5)


TABLE = """question,model,probability,resolution,price
rain,early,0.8,Yes,0.5
rain,late,0.8,Yes,0.9
snow,early,0.8,Yes,0.6
snow,late,0.8,Yes,0.6
"""


def test_each_forecast_at_its_own_price(tmp_path: Path) -> None:
    """By default both are paid at the median, .7: the later one at .9 does not beat its market."""
    path = tmp_path / "bets.csv"
    path.write_text(TABLE, encoding="utf-8")
    found = {
        prices: ProphetArenaEvaluator(min_events=1, prices=prices).evaluate_file(path)
        for prices in ("event", "each")
    }
    returns = {
        prices: {name: row["return_1"] for name, row in board["forecasters"].items()}
        for prices, board in found.items()
    }
    snow = 0.8 / 0.6
    assert returns["event"] == pytest.approx(
        dict.fromkeys(("early", "late"), (0.8 / 0.7 + snow) / 2)
    )
    assert returns["each"] == pytest.approx(
        {"early": (0.8 / 0.5 + snow) / 2, "late": (0.8 / 0.9 + snow) / 2}
    )
    warnings = {prices: board["warnings"] for prices, board in found.items()}
    assert "prices differ within 1 event: a forecast is paid at its own price" in warnings["each"]
    text = "prices differ within 1 event: a forecast is paid at that of the event"
    assert f"{text} (--prices each: at its own)" in warnings["event"]
    assert found["event"]["signature"] != found["each"]["signature"]
    for board in found.values():
        assert board["baselines"]["market"]["return_1"] == pytest.approx(1)


def test_own_prices_pay_where_the_problem_has_others() -> None:
    problems, forecasts = long_shots(2, 2, 0.5)
    forecasts = [{**row, "odds": [0.25, 0.8]} for row in forecasts]
    paid = [
        evaluate(forecasts, problems, prices=prices)["forecasters"]["ada"]["return_1"]
        for prices in ("event", "each")
    ]
    assert paid == pytest.approx([1, 2])
