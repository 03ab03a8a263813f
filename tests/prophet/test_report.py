"""The report: sorting, hostile names; the golden one is a test of the command line."""

from __future__ import annotations

import re

import pytest

from forecasteval.common.errors import InputError
from forecasteval.display.tables import format_text
from forecasteval.prophet.report import board_rows, report_blocks
from prophet_data import GOOD, GOOD_PROBLEM, evaluate, sample_results


def test_report_sorts() -> None:
    rows = sample_results()["forecasters"]
    metrics = list(sample_results()["rank_correlation"]["overall"]["spearman"])
    assert len(metrics) == 14
    for metric in metrics:
        lines = format_text(report_blocks(sample_results(), metric)).splitlines()
        at = next(n for n, line in enumerate(lines) if line.startswith("Rank "))
        names = [line[6:].split("  ")[0] for line in lines[at + 1 : at + 16]]
        names = [name for name in names if name in rows]
        assert names == sorted(rows, key=lambda name: (rows[name][f"{metric}_rank"], name))
    with pytest.raises(InputError) as caught:
        report_blocks(sample_results(), "elo")
    assert str(caught.value) == f"--sort: expected one of {', '.join(metrics)}, got elo"


def test_report_of_little_and_hostile_data() -> None:
    """No price, no category, one forecaster; names that would move the cursor stay on their
    line.
    """
    rows = [{**GOOD[0], "username": "\x1b[2Jada\n\u202e"}]
    report = format_text(report_blocks(evaluate(rows, [GOOD_PROBLEM], min_events=2)))
    assert "\\x1b[2Jada\\n\\u202e" in report
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e]", report)
    assert "nan" not in report.lower()


def test_a_board_of_one_series_says_why_it_has_no_intervals() -> None:
    problems = [{**GOOD_PROBLEM, "problem_id": name, "series": "S"} for name in ("a", "b")]
    rows = [{**GOOD[0], "problem_id": problem["problem_id"]} for problem in problems]
    results = evaluate(rows, problems, min_events=2)
    [row] = results["forecasters"].values()
    assert row["brier_interval"] is None
    assert " in 1 cluster (series), too few for intervals, 1 forecaster," in str(results)


def test_a_frame_has_a_row_per_forecaster() -> None:
    """Best first; the baselines are last, and intervals are two numbers."""
    frame = sample_results().to_frame()
    best = sample_results()["ranking"][0]
    first = frame.iloc[0]
    assert (first["forecaster"], first["kind"]) == (best["name"], "ranked")
    ends = first["adjusted_brier_interval_low"], first["adjusted_brier_interval_high"]
    assert ends == tuple(best["interval"])
    assert list(frame["kind"]) == ["ranked"] * 12 + ["baseline"] * 3
    assert not any(isinstance(value, (list, dict)) for value in frame.to_numpy().ravel())
    problem, rows = [GOOD_PROBLEM], GOOD
    assert len(evaluate(rows, problem, items=True).to_frame()) == len(rows)  # of items a row each


def test_two_forecasters_have_no_rank_agreement() -> None:
    """Between two ranks every agreement is 1 or -1."""
    few = evaluate(GOOD, [GOOD_PROBLEM])
    assert "Rank agreement" not in format_text(report_blocks(few, full=True))
    assert "Rank agreement" in format_text(report_blocks(sample_results(), full=True))


def test_who_has_no_rank_is_in_the_table_where_nobody_has_one() -> None:
    """Else a sentence names them, and `full` lists them."""
    some, line = evaluate(GOOD, [GOOD_PROBLEM], min_events=2), "Without a rank, fewer than 2 events"
    text = format_text(report_blocks(some))
    assert text.count("ada") == 2
    assert f"{line}: 2 (ada (1), bob (1)). See --min-events and --full." in text
    problems = [{**GOOD_PROBLEM, "problem_id": n} for n in (1, 2)]
    rows = [*GOOD, {**GOOD[0], "problem_id": 2}]
    mixed = evaluate(rows, problems, min_events=2)
    assert format_text(report_blocks(mixed)).count("bob") == 1
    assert format_text(report_blocks(mixed, full=True)).count("bob") > 1


def test_a_market_of_some_events_is_placed_by_these() -> None:
    """ada beats the market on the easy events that it has. Its mean alone would put it first."""
    problems = [{"problem_id": n, "options": ["a", "b"], "correct_option_idx": 0} for n in range(8)]
    for problem in problems[:4]:
        problem["odds"] = [0.9, 0.1]
    rows = [
        {"problem_id": n, "username": name, "prediction": [p, 1 - p]}
        for name, easy, hard in (("ada", 0.95, 0.5), ("bob", 0.7, 0.4))
        for n, p in enumerate([easy] * 4 + [hard] * 4)
    ]
    results = evaluate(rows, problems)
    market = results["baselines"]["market"]
    assert market["brier"] < results["forecasters"]["ada"]["brier"]
    names = [row.shown for row in board_rows(results, "brier", None)]
    assert names.index("ada") < names.index("(market)") < names.index("bob")
