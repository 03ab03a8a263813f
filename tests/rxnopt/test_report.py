"""The report of a result."""

from __future__ import annotations

from typing import Any

import pytest

from cli import ROOT
from forecasteval.display.html import render
from forecasteval.display.pages import Records
from forecasteval.display.tables import Interval, format_text
from forecasteval.rxnopt.report import make_page, report_blocks
from forecasteval.rxnopt.scoring import RxnOptEvaluator
from html_page import check_page
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


# --- The page ---


KINDS = ("single_varying_reference", "single_varying_reference_control")


@pytest.fixture
def results() -> Any:
    evaluator = RxnOptEvaluator([ROOT / f"dataset/multiple_choice_{kind}.json" for kind in KINDS])
    names = [item["id"] for item in evaluator.evaluate_all({})["items"]]
    return evaluator.evaluate_all(
        {**dict.fromkeys(names, 0), names[0]: "</script><b>", names[1]: 99}
    )


def test_scores_stand_beside_the_uniform_guess(results: Any) -> None:
    rows = make_page(results).charts()["scores"].table.rows
    assert [row[0] for row in rows] == [*KINDS, "Overall"]
    for row, kind in zip(rows, KINDS, strict=False):
        found = results["by_question_type"][kind]
        assert row[1] == f"{found['avg_relative_score']:.4f}"
        assert row[2].mark == found["uniform_guess"]["avg_relative_score"]


def test_references_are_drawn_against_controls_where_there_are_pairs(results: Any) -> None:
    chart = make_page(results).charts()["pairs"]
    assert chart.table.rows[0][3] == f"{results['pairs']['overall']['mean_difference']:.4f}"
    alone = RxnOptEvaluator(ROOT / f"dataset/multiple_choice_{KINDS[0]}.json").evaluate_all({})
    assert "pairs" not in make_page(alone).charts()


def test_groups_are_drawn_where_the_result_has_them(results: Any) -> None:
    group = {"avg_relative_score": 0.5, "n": 3, "uniform_guess": 0.25}
    results["by_target_key"], results["by_option_count"] = (
        {"<base>": group, "solvent": group},
        {" 2": group, "10+": group},
    )
    charts = make_page(results).charts()
    assert charts["keys"].table.rows[0] == [
        "<base>",
        Interval(0.5, None, 0.25),
        "0.5000",
        "0.2500",
        "3",
    ]
    assert [row[0] for row in charts["options"].table.rows] == ["2", "10+"]
    results["by_target_key"] = {"solvent": group}  # nothing to compare
    assert "keys" not in make_page(results).charts()
    check_page(render(make_page(results)))


def test_every_question_is_there(results: Any) -> None:
    [records] = make_page(results).blocks(Records)
    assert len(records.rows) == results["n"] == len(results["items"])
    assert [row.cells[1] for row in records.rows].count("illegal") == 2
    parsed = check_page(render(make_page(results)))
    assert "</script><b>" in parsed.texts


def test_a_question_opens_to_its_options_its_pick_and_its_twin(results: Any) -> None:
    [records] = results.page().blocks(Records)
    item = next(
        item for item in results["items"] if item["id"].endswith("_ref") and 0 < item["score"] < 1
    )
    record = next(row for row in records.rows if row.key == f"q-{item['id']}")
    inside = dict(record.details)
    assert " → " in str(inside["Reaction"])
    options, best = inside["Options"], [row for row in inside["Options"].rows if "best" in row[1]]
    assert options.rows[item["read"]][1] == "picked"
    assert options.rows[item["read"]][4] == f"{item['score']:.3f}"
    assert inside["Score"] == (
        f"{item['score']:.4f}: option {item['read']} has {options.rows[item['read']][6]}, "
        f"the best {best[0][0]} has {best[0][6]}"
    )
    assert inside["Twin"].to == f"q-{item['id']}_control"
    assert record.failed
    check_page(render(results.page()))


def test_a_result_without_its_datasets_has_rows_all_the_same(results: Any) -> None:
    [records] = make_page(results).blocks(Records)
    assert "Options" not in dict(records.rows[0].details)
