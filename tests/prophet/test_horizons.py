"""Forecasts at a common time before closing: which count, what is shown, what nights know."""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any, Final

import pytest

from boards_folders import night, stored
from cli import assert_refused, run, write
from forecasteval.common.errors import InputError
from forecasteval.display.html import render
from forecasteval.display.tables import format_text
from forecasteval.prophet.report import report_blocks
from forecasteval.prophet.times import parse_horizons
from html_page import check_page
from prophet_data import evaluate

Row = dict[str, Any]
PROBLEMS: Final = [
    {
        "problem_id": n,
        "options": ["Yes", "No"],
        "correct_option_idx": 0,
        "end_date": f"2025-07-{10 + n}T00:00:00Z",
    }
    for n in range(6)
]


def forecast(name: str, n: int, p: float, before: float, **more: Any) -> Row:
    """A forecast so many hours before its event closes."""
    hours = (9 + n) * 24 - before
    time = f"2025-07-{1 + int(hours // 24):02}T{int(hours % 24):02}:00:00Z"
    return {"problem_id": n, "username": name, "timestamp": time, "prediction": [p, 1 - p], **more}


def early_and_late() -> list[Row]:
    """ada is better at any time; bob says most in the last hours, and nothing of event 5 before."""
    rows = []
    for n in range(6):
        rows += [forecast("ada", n, 0.7, 100), forecast("ada", n, 0.8, 30)]
        rows += [forecast("bob", n, 0.5, 60)] if n < 5 else []
        rows += [forecast("bob", n, 0.95, 2)]
    return rows


def test_the_last_forecast_so_long_before_closing_counts() -> None:
    boards = {
        horizon: evaluate(early_and_late(), PROBLEMS, horizon=horizon)
        for horizon in ("", "1h", "24h", "2d", "96h")
    }
    found = {
        horizon: {
            name: (row["n_events"], row["brier"]) for name, row in board["forecasters"].items()
        }
        for horizon, board in boards.items()
    }
    last = {"ada": (6, pytest.approx(0.04)), "bob": (6, pytest.approx(0.0025))}
    assert found[""] == found["1h"] == last
    assert found["24h"] == {"ada": (6, pytest.approx(0.04)), "bob": (5, pytest.approx(0.25))}
    assert found["2d"] == {"ada": (6, pytest.approx(0.09)), "bob": (5, pytest.approx(0.25))}
    assert found["96h"] == {"ada": (6, pytest.approx(0.09))}
    assert "horizons" not in boards[""]
    excluded = {entry["reason"]: entry["count"] for entry in boards["2d"]["excluded"]}
    assert excluded == {"later than 2d before closing": 12}
    assert "forecasters without a forecast 96h before closing: 1 (bob)" in boards["96h"]["warnings"]
    text = "horizons go by the times in the files, which nobody verifies"
    assert [text in board["warnings"] for board in boards.values()] == [False, *[True] * 4]


def test_a_forecast_at_the_horizon_itself_counts() -> None:
    rows = [forecast(name, n, 0.8, 24) for name in ("ada", "bob") for n in range(6)]
    assert evaluate(rows, PROBLEMS, horizon="24h")["n_forecasts"] == 12
    with pytest.raises(InputError, match="no forecast can be scored: later than 24"):
        evaluate(rows, PROBLEMS, horizon="24.5h")


def test_several_horizons_are_scored_beside_the_board_of_the_first() -> None:
    board = evaluate(early_and_late(), PROBLEMS, horizon="2d,24h,1h")
    alone = evaluate(early_and_late(), PROBLEMS, horizon="2d")
    assert board["forecasters"] == alone["forecasters"]
    rows = {row["horizon"]: row for row in board["horizons"]}
    assert [(name, row["hours"], row["n_forecasts"]) for name, row in rows.items()] == [
        ("2d", 48, 11),
        ("24h", 24, 11),
        ("1h", 1, 12),
    ]
    for name, row in rows.items():
        single = evaluate(early_and_late(), PROBLEMS, horizon=name)
        for who, record in row["forecasters"].items():
            expected = single["forecasters"][who]
            for metric in ("n_events", "brier", "adjusted_brier", "log", "spherical"):
                assert record[metric] == pytest.approx(expected[metric], abs=1e-12)
        assert row["baselines"]["crowd"]["brier"] == single["baselines"]["crowd"]["brier"]
    text = format_text(report_blocks(board))
    table = text[text.index("By horizon") :].splitlines()[1:5]
    assert [" ".join(line.split()) for line in table] == [
        "Horizon Events Forecasters Forecasts Brier (crowd) Leads Adjusted Brier",
        "2d 6 2 11 0.1483 ada 0.0900",
        "24h 6 2 11 0.1087 ada 0.0400",
        "1h 6 2 12 0.0156 bob 0.0025",
    ]
    assert "Adjusted Brier by horizon (events)" in format_text(report_blocks(board, full=True))


def test_the_page_has_a_curve_by_time_before_closing() -> None:
    board = evaluate(early_and_late(), PROBLEMS, horizon="1h,2d,24h", min_events=1)
    page = board.page()
    html = render(page)
    check_page(html)
    assert "<h2>Score by time before closing</h2>" in html
    (panel,) = page.charts()["horizons"].panels
    assert [text for _, text in panel.x.ticks] == ["2d", "24h", "1h"]
    by_name = {line.name: [y for _, y in line.points] for line in panel.lines}
    assert by_name["ada"] == pytest.approx([0.09, 0.04, 0.04])
    single = evaluate(early_and_late(), PROBLEMS, horizon="24h").page()
    assert "horizons" not in single.charts()


def test_events_without_a_closing_time_have_no_horizon() -> None:
    problems = [{**row, "end_date": None} if row["problem_id"] == 0 else row for row in PROBLEMS]
    board = evaluate(early_and_late(), problems, horizon="1h")
    reasons = {entry["reason"]: entry["count"] for entry in board["excluded"]}
    assert reasons["of an event without a closing time, which a horizon needs"] == 4
    assert board["n_events"] == 5


def test_a_forecast_of_unknown_time_is_at_no_horizon() -> None:
    rows = [forecast(name, n, 0.8, 24) for name in ("ada", "bob") for n in range(6)]
    rows += [{"problem_id": n, "username": "eve", "prediction": [1, 0]} for n in range(6)]
    board = evaluate(rows, PROBLEMS, horizon="1h", late="keep")
    assert {*board["forecasters"]} == {"ada", "bob"}


# --- The command line ---


def folder(root: Path, **files: list[Row]) -> Path:
    content = {f"prediction/p-{name}.json": rows for name, rows in files.items()}
    return write(root, {"dataset/p.json": PROBLEMS, **content})


def test_only_the_file_without_any_time_is_refused(tmp_path: Path) -> None:
    untimed = [{"problem_id": n, "username": "cid", "prediction": [0.9, 0.1]} for n in range(6)]
    root = folder(tmp_path, timed=early_and_late(), untimed=untimed)
    done = run(root, "-f", "p-untimed", "--horizon", "24h")
    assert_refused(done, "expected forecasts with times, which a horizon needs")
    night = run(root, "nightly", "--horizon", "24h", "--min-events", "1")
    assert night.code == 3
    assert "p-untimed.json: expected forecasts with times" in night.out + night.err
    (table,) = stored(root)["tables"]
    assert {row["name"] for row in table["rows"]} >= {"ada", "bob"}
    assert "cid" not in {row["name"] for row in table["rows"]}


@pytest.mark.parametrize("text", ["90m", "24", "", "h", "-1d", "1e3h", "7d,,1h", "9" * 400 + "h"])
def test_other_units_are_refused_with_an_example(text: str, tmp_path: Path) -> None:
    with pytest.raises(ArgumentTypeError, match="expected hours or days, as 24h or 7d,24h,1h, got"):
        parse_horizons(text)
    if text == "90m":
        root = folder(tmp_path, timed=early_and_late())
        done = run(root, "-f", "p-timed", "--horizon", text)
        assert_refused(done, "expected hours or days, as 24h or 7d,24h,1h, got 90m")
        with pytest.raises(InputError, match="horizon: expected hours or days"):
            evaluate([], PROBLEMS, horizon=text)


def test_the_signature_has_the_horizon() -> None:
    board = evaluate(early_and_late(), PROBLEMS, horizon="2D, 48h,1h")
    assert board["signature"]["horizon"] == "2d,1h"


# --- Nights ---


FIRST_DAY: Final = 20_270  # 2025-07-01
AT_ONE_DAY: Final = ("--horizon", "24h", "--min-events", "1")


@pytest.mark.parametrize("policy", ["keep", "mark", "drop"])
def test_a_night_knows_when_it_first_saw_a_forecast(tmp_path: Path, policy: str) -> None:
    """bob dates his forecasts back. They come when the first three events have closed, and at least
    a day before the last three do. Events have their outcomes later.
    """
    pending = [{**row, "correct_option_idx": None} for row in PROBLEMS]
    honest = [forecast("ada", n, 0.7, 100) for n in range(6)]
    backdated = [forecast("bob", n, 0.9, 100) for n in range(6)]
    root = folder(tmp_path, a=honest)
    write(root, {"dataset/p.json": pending})
    night(root, FIRST_DAY + 1, policy, *AT_ONE_DAY)
    folder(root, a=honest, b=backdated)
    write(root, {"dataset/p.json": pending})
    night(root, FIRST_DAY + 11, policy, *AT_ONE_DAY)
    folder(root)
    night(root, FIRST_DAY + 20, policy, *AT_ONE_DAY)
    (table,) = stored(root)["tables"]
    counts = {row["name"]: row["n"] for row in table["rows"]}
    assert counts == {"ada": 6, "bob": 6 if policy == "keep" else 3}
