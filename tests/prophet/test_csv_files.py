"""Prophet Arena's CSV."""

from __future__ import annotations

from pathlib import Path

import pytest

from prophet_data import csv_row, evaluate_csv, write_csv


def test_csv(tmp_path: Path) -> None:
    """Python literals and JSON, cents as text, options in the order of market_info; every mismatch
    is counted.
    """
    good = {"A": 1, "B": 0}
    rows = [
        csv_row("E1", "ada", {"B": 0.25, "A": 0.75}, good),
        csv_row("E1", "bob", {"A": 0.5, "B": 0.5}, good),
        *(csv_row("E1", name, {"A": 0.5, "B": 0.5}, good) for name in ("gus", "hal", "ida")),
        csv_row("E1", "cid", {"A": 0.5}, good),
        csv_row("E1", "dee", {"A": 0.5, "B": 0.5, "C": 0}, good),
        csv_row("E1", "eve", {}, good, prediction="not a literal ((("),
        csv_row("E1", "fay", {}, good, prediction="{'probabilities': 5}"),
        csv_row(
            "E2",
            "ada",
            {"A": 0.5, "B": 0.5},
            {"A": 0, "C": 1},
            {"A": {"yes_ask": 60}, "B": {"yes_ask": 40}},
        ),
        csv_row(
            "E3",
            "ada",
            {"A": 1, "B": 1},
            {"A": 1, "B": 1},
            {"A": {"yes_ask": None}, "B": {"yes_ask": 40}},
        ),
        csv_row(
            "E4",
            "ada",
            {"A": 0.5, "B": 0.5},
            {"A": 1},
            {"A": {"yes_ask": 60}, "B": {"yes_ask": 40}},
        ),
        csv_row("E5", "ada", {"A": 0.5, "B": 0.5}, {"A": 2, "B": 0}),
        csv_row("E6", "ada", {"A": 0.5, "B": 0.5}, good),
        csv_row("E6", "bob", {"A": 0.5, "B": 0.5}, {"A": 0, "B": 1}),
        csv_row("E9", "ada", {"A": 0.5, "B": 0.5}, good, market_outcome=r"{'\d': 1}"),
        csv_row("E7", "ada", {"A": 0.5, "B": 0.5}, good, market_info="[1]"),
        csv_row(
            "E8",
            "ada",
            {"A": 0.5, "B": 0.5},
            good,
            market_info='{"A": {"yes_ask": 1}, "A": {"yes_ask": 2}}',
        ),
    ]
    results = evaluate_csv(write_csv(tmp_path / "x.csv", rows))
    ada = results["forecasters"]["ada"]
    assert (ada["n_events"], ada["n_exclusive"], ada["n_priced"]) == (2, 1, 1)
    assert ada["brier"] == pytest.approx(0.0625 / 2)
    assert ada["return_1"] == pytest.approx(0.75 / 0.6)
    assert results["baselines"]["market"]["brier"] == pytest.approx(
        0.25
    )  # 0.55 and 0.55 give 0.5 each
    assert {
        entry["reason"]: entry["names"] for entry in results["excluded"] if entry["what"] == "event"
    } == {
        "a winner is not among the options": ["E2", "E9"],
        "an option without an outcome": ["E4"],
        "an outcome is neither 0 nor 1": ["E5"],
        "its rows differ in options or outcome": ["E6"],
        "'market_info' must be an object with a value per option, none twice": [
            "E7",
            "E8",
        ],
    }
    assert {
        entry["reason"]: entry["names"]
        for entry in results["excluded"]
        if entry["what"] == "forecast"
    }["expected a probability for every option"] == [
        f"{name} on E1" for name in ("cid", "dee", "eve", "fay")
    ]
    assert results["by_category"]["Sports"]["n_events"] == 2
    assert results["dataset"] is None
    turned = evaluate_csv(write_csv(tmp_path / "x.csv", rows[::-1]))
    del turned["signature"]["prediction_sha256"], results["signature"]["prediction_sha256"]
    assert turned == results


def test_a_closing_time_that_is_none_gives_way_to_a_time(tmp_path: Path) -> None:
    """Which of both counted depended on the hash seed."""
    closing = ("2025-07-04T00:00:00Z", "", "soon", *(f"later {n}" for n in range(20)))
    p, won = {"A": 0.5, "B": 0.5}, {"A": 1, "B": 0}
    rows = [csv_row("E1", f"f{n}", p, won, close_time=text) for n, text in enumerate(closing)]
    results = evaluate_csv(write_csv(tmp_path / "x.csv", rows))
    assert results["warnings"][0].startswith(
        "closing time that differs between the rows of an event"
    )
    late = csv_row("E1", "ada", p, won, timestamp="2025-07-05T00:00:00Z")
    early = [{**row, "timestamp": "2025-07-01T00:00:00Z"} for row in rows]
    [entry] = evaluate_csv(write_csv(tmp_path / "x.csv", [*early, late]))["excluded"]
    assert (entry["reason"], entry["names"]) == ("after the event closed", ["ada on E1"])


def test_literal_with_a_key_twice_is_no_literal(tmp_path: Path) -> None:
    """The original files are Python literals, where the last of two keys would win without a
    word.
    """
    market = "{'A': {'yes_ask': 60}, 'B': {'yes_ask': 50}}"
    twice = csv_row(
        "E1",
        "ada",
        {"A": 0.5, "B": 0.5},
        {"A": 1, "B": 0},
        market_outcome="{'A': 1, 'A': 0, 'B': 1}",
    )
    good = csv_row("E1", "bob", {"A": 0.5, "B": 0.5}, {"A": 1, "B": 0}, market_info=market)
    said = (
        "{'probabilities': [{'market': 'A', 'probability': 0.9, 'probability': 0.1}, {'market':"
        " 'B'}]}"
    )
    unsaid = csv_row(
        "E1", "cid", {"A": 0.5, "B": 0.5}, {"A": 1, "B": 0}, market_info=market, prediction=said
    )
    results = evaluate_csv(write_csv(tmp_path / "x.csv", [twice, good, unsaid]))
    assert list(results["forecasters"]) == ["bob"]  # and a row that cannot be read costs no other
    assert [(entry["what"], entry["names"]) for entry in results["excluded"]] == [
        ("forecast", ["ada on E1"]), ("forecast", ["cid on E1"]),
    ]  # fmt: skip


def test_rows_of_an_event_that_differ_in_closing_time(tmp_path: Path) -> None:
    rows = [
        csv_row("E1", who, {"A": 0.5, "B": 0.5}, {"A": 1, "B": 0}, close_time=closed)
        for who, closed in (("ada", "2025-07-01T00:00:00-10:00"), ("bob", "2025-07-01T05:00:00Z"))
    ]
    results = evaluate_csv(write_csv(tmp_path / "x.csv", rows))
    assert any(
        warning.startswith("closing time that differs between the rows")
        for warning in results["warnings"]
    )
    assert results["score_curve"]["ada"]["closed"] == ["2025-07-01T10:00:00+00:00"]


def test_rows_of_an_event_that_differ_in_options(tmp_path: Path) -> None:
    """Half of the rows are enough for an option with an outcome, as in a row per option."""
    won = {"A": 1, "B": 0}
    rows = [
        csv_row("E1", "ada", {"A": 0.5, "B": 0.5}, won),
        csv_row("E2", "ada", {"A": 0.5, "B": 0.5}, won),
        csv_row("E2", "bob", {"A": 0.5, "B": 0.5, "C": 0}, {**won, "C": 0}),
    ]
    results = evaluate_csv(write_csv(tmp_path / "x.csv", rows))
    [entry] = results["excluded"]
    reason = "expected a probability for every option"
    assert (entry["reason"], entry["names"]) == (reason, ["ada on E2"])
    assert results["forecasters"]["bob"]["n_events"] == 1


def test_events_of_one_stem_are_a_series(tmp_path: Path) -> None:
    tickers = ["KXMLBGAME-25JUL02SEANYY", "KXMLBGAME-25JUL03SEANYY", "INX-25JUL03", "INX", "INX-2"]
    rows = [csv_row(name, "ada", {"A": 0.5, "B": 0.5}, {"A": 1, "B": 0}) for name in tickers]
    results = evaluate_csv(write_csv(tmp_path / "x.csv", rows))
    assert (results["n_events"], results["n_clusters"]) == (5, 4)


@pytest.mark.parametrize("outcome", ["", "{}", '{"A": null, "B": ""}'])
def test_blank_outcomes_are_pending(tmp_path: Path, outcome: str) -> None:
    rows = [
        csv_row("E1", "ada", {"A": 0.5, "B": 0.5}, {"A": 1, "B": 0}),
        csv_row(
            "E2", "ada", {"A": 0.5, "B": 0.5}, {"A": 1, "B": 0}, market_outcome=outcome
        ),
    ]  # fmt: skip
    results = evaluate_csv(write_csv(tmp_path / "x.csv", rows))
    assert (results["n_events"], results["n_pending"], results["n_pending_forecasts"]) == (1, 1, 1)
    assert results["excluded"] == []
