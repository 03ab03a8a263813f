"""The report: sorting, hostile names; the golden one is a test of the command line."""

from __future__ import annotations

import re

import pytest

from forecasteval.common.errors import InputError
from forecasteval.display.tables import format_text
from forecasteval.prophet.report import report_blocks
from prophet_data import GOOD, GOOD_PROBLEM, evaluate, sample_results


def test_report_sorts() -> None:
    rows = sample_results()["forecasters"]
    metrics = list(sample_results()["rank_correlation"]["overall"]["spearman"])
    assert len(metrics) == 11
    for metric in metrics:
        lines = format_text(report_blocks(sample_results(), metric)).splitlines()
        at = next(n for n, line in enumerate(lines) if line.startswith("Rank "))
        names = [line[6:].split("  ")[0] for line in lines[at + 1 : at + 15]]
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


def test_a_frame_needs_items() -> None:
    with pytest.raises(InputError) as caught:
        sample_results().to_frame()
    how = "items=True of the evaluator, --items of the command"
    assert str(caught.value) == f"to_frame: expected results with items ({how}), got Prophet Arena"
