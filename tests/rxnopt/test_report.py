"""The report of a result."""

from __future__ import annotations

from typing import Any

import pytest

from cli import ROOT
from forecasteval.display.tables import IntervalCell, format_text
from forecasteval.rxnopt.report import make_charts, report_blocks
from forecasteval.rxnopt.scoring import RxnOptEvaluator
from rxnopt_tables import DATA, question


def test_a_report_of_a_hostile_file_is_safe() -> None:
    evil = "\x1b[2J\x07\u202e|\n"
    found = RxnOptEvaluator([question(evil, [1.0, 2.0])]).evaluate_all({evil: evil, evil * 2: 1})
    text = format_text(report_blocks({"name": evil, "dataset": evil, **found}, items=True))
    assert not set(text) & set("\x1b\x07\u202e")


def test_a_report_says_what_was_read_from_text() -> None:
    found = RxnOptEvaluator(DATA).evaluate_all({"a": "1", "b": 2.0})
    assert "Read from text or fractions: 2." in format_text(found.report())
    assert "Read from" not in format_text(
        RxnOptEvaluator(DATA).evaluate_all({"a": 1, "b": 2}).report()
    )


# --- Charts, whose tables are those of the report ---


KINDS = ("single_varying_reference", "single_varying_reference_control")


@pytest.fixture
def results() -> Any:
    evaluator = RxnOptEvaluator([ROOT / f"dataset/multiple_choice_{kind}.json" for kind in KINDS])
    return evaluator.evaluate_all({item["id"]: 0 for item in evaluator.evaluate_all({})["items"]})


def test_scores_stand_beside_the_uniform_guess(results: Any) -> None:
    rows = make_charts(results)["scores"].table.rows
    assert [row[0] for row in rows] == [*KINDS, "Overall"]
    for row, kind in zip(rows, KINDS, strict=False):
        found = results["by_question_type"][kind]
        assert str(row[1]) == f"{found['avg_relative_score']:.4f}"
        assert row[2].mark == found["uniform_guess"]["avg_relative_score"]


def test_references_are_drawn_against_controls_where_there_are_pairs(results: Any) -> None:
    chart = make_charts(results)["pairs"]
    assert chart.table.rows[0][3] == f"{results['pairs']['overall']['mean_difference']:.4f}"
    alone = RxnOptEvaluator(ROOT / f"dataset/multiple_choice_{KINDS[0]}.json").evaluate_all({})
    assert "pairs" not in make_charts(alone)


def test_groups_are_drawn_where_the_result_has_them(results: Any) -> None:
    group = {"avg_relative_score": 0.5, "n": 3, "uniform_guess": 0.25}
    results["by_target_key"] = {"<base>": group, "solvent": group}
    charts = make_charts(results)
    mark = IntervalCell(0.5, None, 0.25)
    assert charts["keys"].table.rows[0] == ["<base>", mark, "0.5000", "0.2500", "3"]
    results["by_target_key"] = {"solvent": group}  # nothing to compare
    assert "keys" not in make_charts(results)
