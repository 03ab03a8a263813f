"""The report of a result."""

from __future__ import annotations

from forecasteval.common.report import format_text
from forecasteval.rxnopt import RxnOptEvaluator
from forecasteval.rxnopt.report import report_blocks
from rxnopt_tables import DATA, question


def test_a_report_of_a_hostile_file_is_safe() -> None:
    evil = "\x1b[2J\x07\u202e|\n"
    found = RxnOptEvaluator([question(evil, [1.0, 2.0])]).evaluate_all({evil: evil, evil * 2: 1})
    text = format_text(report_blocks({"name": evil, "dataset": evil, **found}, items=True))
    assert not set(text) & set("\x1b\x07\u202e")


def test_a_report_says_what_was_read_from_text() -> None:
    found = RxnOptEvaluator(DATA).evaluate_all({"a": "1", "b": 2.0})
    assert "Read from text or fractions: 2." in format_text(found.report())
    assert "Read from" not in format_text(RxnOptEvaluator(DATA).evaluate_all({"a": 1, "b": 2}).report())
