"""What a board rests on: withheld numbers, rankings of unequal participation, differences,
decomposition, groups.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cli import run
from forecasteval.display.tables import format_text
from forecasteval.prophet.models import fit_effects
from forecasteval.prophet.report import report_blocks
from prophet_data import (
    DATASET,
    PREDICTION,
    Row,
    csv_row,
    evaluate,
    evaluate_csv,
    sample_results,
    write_csv,
)

PROBLEMS = [
    {
        "problem_id": n,
        "options": ["A", "B"],
        "correct_answer": "A",
        "end_date": "2025-07-31T00:00:00Z",
    }
    for n in range(10)
]


def forecast(name: str, n: int, p: float, **more: object) -> Row:
    return {"problem_id": n, "username": name, "prediction": [p, 1 - p], **more}


def test_nothing_is_sure_below_two_common_events() -> None:
    """Neighbours who share one event, or whose only events are others, have no probability to beat
    each other.
    """
    rows = [
        forecast("ada", 0, 0.9),
        forecast("bob", 0, 0.8),
        forecast("cid", 1, 0.7),
        forecast("cid", 2, 0.6),
    ]
    found = evaluate(rows, PROBLEMS)["forecasters"]
    assert found["ada"]["brier_interval"] is found["ada"]["brier_rank_interval"] is None
    assert found["ada"]["irt_ability_interval"] is None
    assert found["cid"]["brier_interval"] is not None
    met = evaluate([*rows, *(forecast("dee", n, 0.4) for n in range(3))], PROBLEMS)["forecasters"]
    assert met["ada"]["adjusted_brier_se"] is None  # not infinite
    assert met["dee"]["adjusted_brier_se"] > 0


def test_min_events_and_coverage_on_the_command_line() -> None:
    everybody = run(PREDICTION.parent.parent, "-f", "prophet-sample", "--json").json["forecasters"]
    few = run(
        PREDICTION.parent.parent, "-f", "prophet-sample", "--min-events", "150", "--json"
    ).json
    assert (
        few["provisional"].keys()
        == {name for name, row in everybody.items() if row["n_events"] < 150}
        != set()
    )
    assert everybody["desk-analyst"]["coverage"] == 109 / 200
    assert " 109       55% " in run(PREDICTION.parent.parent, "-f", "prophet-sample").out


def test_all_zero_forecast_does_not_win() -> None:
    """Uniform where probabilities must sum to 1: log, spherical, return, Bradley–Terry; it keeps
    its Brier score.
    """
    odds = {"odds": [0.5, 0.6]}
    rows = [forecast("ada", n, 0.7 if n % 3 else 0.2, **odds) for n in range(9)]
    zero = [
        {**forecast("bob", n, 0.7, **odds), "prediction": [0.7, 0.3] if n % 3 else [0, 0]}
        for n in range(9)
    ]
    even = [
        {**row, "prediction": [0.7, 0.3] if row["prediction"][0] else [0.5, 0.5]} for row in zero
    ]
    one, other = (evaluate(rows + more, PROBLEMS) for more in (zero, even))
    for metric in ("log", "spherical", "return_0", "return_0.5", "return_1", "bradley_terry"):
        assert one["forecasters"]["bob"][metric] == pytest.approx(
            other["forecasters"]["bob"][metric], rel=1e-6
        )
    assert one["forecasters"]["bob"]["n_exclusive"] == 9
    assert one["forecasters"]["bob"]["brier"] == pytest.approx((6 * 0.09 + 3 * 0.5) / 9)
    assert one["warnings"][-1].startswith(
        "probabilities that sum to 0, counted as uniform for log"
    ) or any(
        text.startswith("probabilities that sum to 0, counted as uniform for log")
        for text in one["warnings"]
    )


def test_unequal_participation_ranks_by_the_adjusted_score() -> None:
    """bob takes the easy events: plain Brier puts him first, events that both answered do not."""
    rows = [forecast("ada", n, 0.95 if n < 5 else 0.4) for n in range(10)]
    rows += [forecast("bob", n, 0.9) for n in range(5)] + [
        forecast("cid", n, 0.85 if n < 5 else 0.3) for n in range(10)
    ]
    results = evaluate(rows, PROBLEMS)
    assert results["ranked_by"]["metric"] == "adjusted_brier"
    assert "forecasters answered different events (5 to 10 of 10)" in results["ranked_by"]["why"]
    assert [row["name"] for row in results["ranking"]] == ["ada", "bob", "cid"]
    assert results["forecasters"]["bob"]["brier_rank"] == 1
    report = format_text(report_blocks(results))
    assert "Ranked by Adjusted Brier: forecasters answered different events" in report
    assert "  Brier  " in report  # stays beside it
    whole = evaluate([row for row in rows if row["username"] != "bob"], PROBLEMS)
    assert whole["ranked_by"]["metric"] == "brier"


def test_same_count_of_other_events_is_unequal_participation() -> None:
    rows = [
        forecast(name, n, 0.6)
        for name, first in (("ada", 0), ("bob", 2))
        for n in range(first, first + 8)
    ]
    assert evaluate(rows, PROBLEMS)["ranked_by"]["metric"] == "adjusted_brier"


def test_adjusted_ranks_are_those_of_the_means() -> None:
    """With full participation the adjusted Brier is the plain one, cluster by cluster."""
    rng = np.random.default_rng(3)
    rows = [forecast(name, n, p) for name in "abc" for n, p in enumerate(rng.random(10).tolist())]
    found = evaluate(rows, PROBLEMS)["forecasters"]
    weighted = [{**problem, "weight": 1 + n % 3} for n, problem in enumerate(PROBLEMS)]
    for board in (found, evaluate(rows, weighted)["forecasters"]):
        for row in board.values():
            for what in ("_rank_interval", "_rank", "_interval", ""):
                of_brier = row[f"brier{what}"]
                assert row[f"adjusted_brier{what}"] == pytest.approx(of_brier, abs=1e-12)


def test_difference_to_market_and_crowd_is_on_ones_own_events() -> None:
    rows = [forecast("ada", n, 0.6 + n / 30, odds=[0.1, 0.1]) for n in range(6)]
    rows += [forecast("bob", n, 0.3 + n / 30) for n in range(4, 10)]
    results = evaluate(
        rows,
        [
            {**problem, "odds": [0.5, 0.5]} if n not in (6, 7) else problem
            for n, problem in enumerate(PROBLEMS)
        ],
    )
    ada = results["forecasters"]["ada"]
    crowd = [
        (1 - p) ** 2
        for p in (0.6, 0.6 + 1 / 30, 0.6 + 2 / 30, 0.7, *(0.45 + n / 30 for n in (4, 5)))
    ]
    own = [(1 - (0.6 + n / 30)) ** 2 for n in range(6)]
    assert ada["against"]["market"]["brier"]["difference"] == pytest.approx(np.mean(own) - 0.25)
    assert results["forecasters"]["bob"]["against"]["market"]["log"]["n"] == 4  # not 6 and 7
    assert ada["brier_skill"] == pytest.approx(1 - np.mean(own) / np.mean(crowd))
    assert ada["one_minus_brier"] == 1 - ada["brier"]
    assert "market" not in results["baselines"]["market"]["against"]


def test_decomposition_adds_up_and_is_that_of_the_bins() -> None:
    for name, row in sample_results()["forecasters"].items():
        parts, bins = (
            row["decomposition"],
            [b for b in sample_results()["reliability"][name] if b["n"]],
        )
        total = (
            parts["reliability"] - parts["resolution"] + parts["uncertainty"] + parts["within_bins"]
        )
        assert total == pytest.approx(parts["mean_square"], abs=1e-12)
        n = sum(b["n"] for b in bins)
        rate = sum(b["n"] * b["frequency"] for b in bins) / n
        reliability = sum(b["n"] * (b["mean_probability"] - b["frequency"]) ** 2 for b in bins) / n
        resolution = sum(b["n"] * (b["frequency"] - rate) ** 2 for b in bins) / n
        assert (parts["reliability"], parts["resolution"]) == pytest.approx(
            (reliability, resolution), abs=1e-12
        )
        assert parts["uncertainty"] == pytest.approx(rate * (1 - rate))
    flat = evaluate([forecast("ada", n, 0.7) for n in range(10)], PROBLEMS)["forecasters"]["ada"]
    assert flat["decomposition"]["within_bins"] == pytest.approx(0, abs=1e-15)
    assert flat["decomposition"]["mean_square"] == pytest.approx(
        flat["brier"]
    )  # as every event has two options


def test_screen_shows_what_people_read() -> None:
    """A board; every table with `full`; of many forecasters the first thirty."""
    short, full = (
        format_text(report_blocks(sample_results())),
        format_text(report_blocks(sample_results(), full=True)),
    )
    assert len(short.splitlines()) <= 30
    assert "Rank agreement" not in short
    for title in (
        "Rank agreement (Spearman)",
        "Difference to the market",
        "Brier by category",
        "Reliability",
    ):
        assert title in full
        assert title not in short
    many = evaluate(
        [forecast(f"m{n:02d}", e, 0.5 + n / 100) for n in range(40) for e in range(2)],
        PROBLEMS,
    )
    assert "… the first 30 of 40: --full" in format_text(report_blocks(many))
    assert "m00" not in format_text(report_blocks(many))
    assert "m00" in format_text(report_blocks(many, full=True))


def test_rows_without_a_ticker_are_refused(tmp_path: Path) -> None:
    """They became events of their own; the line of the file is named, cells of several lines
    counted.
    """
    good, p = {"A": 1, "B": 0}, {"A": 0.5, "B": 0.5}
    rows = [
        csv_row("E1", "ada", p, good, category="of\ntwo lines"),
        csv_row("", "ada", p, good),
        csv_row("E1", "bob", p, good),
    ]
    results = evaluate_csv(write_csv(tmp_path / "x.csv", rows))
    assert results["n_events"] == 1
    (entry,) = results["excluded"]
    assert (entry["what"], entry["count"], entry["names"]) == ("forecast", 1, ["line 4"])


def test_forecasts_are_named_by_their_line(tmp_path: Path) -> None:
    from forecasteval.prophet.evaluator import ProphetArenaEvaluator

    problems = json.loads(DATASET.read_text(encoding="utf-8"))
    good = {
        "problem_id": problems[0]["problem_id"],
        "username": "ada",
        "prediction": [1.0] + [0.0] * (len(problems[0]["options"]) - 1),
    }
    (tmp_path / "x.jsonl").write_text("\n\n" + json.dumps(good) + "\n\n5\n", encoding="utf-8")
    (tmp_path / "x.json").write_text(json.dumps([good, 5]), encoding="utf-8")
    for name, place in (("x.jsonl", "line 5"), ("x.json", "record 2")):
        results = ProphetArenaEvaluator().evaluate_file(tmp_path / name, [DATASET])
        assert [entry["names"] for entry in results["excluded"] if entry["what"] == "forecast"] == [
            [place]
        ]


def test_adjusted_scores_are_those_of_the_model() -> None:
    rows = sample_results()["forecasters"]
    assert all(row["adjusted_brier_se"] > 0 for row in rows.values())
    assert fit_effects([0, 1], [0, 0], [0.2, 0.4]).score == pytest.approx([0.2, 0.4])
