"""The page of a Prophet Arena run: the ranking, calibration, returns and agreement, of whatever the result has."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest

from cli import ROOT
from forecasteval.boards.page import render
from forecasteval.common.pages import Records
from forecasteval.common.report import Interval
from forecasteval.prophet import ProphetArenaEvaluator
from forecasteval.prophet.page import make_page
from html_page import check_page


@pytest.fixture(scope="module")
def sample() -> Any:
    data = [ROOT / folder / "prophet-sample.json" for folder in ("prediction", "dataset")]
    return ProphetArenaEvaluator(bootstrap=20).evaluate_file(Path(data[0]), [data[1]])


def test_charts_have_the_numbers_of_the_result(sample: Any) -> None:
    charts = make_page(sample).charts()
    assert list(charts) == ["ranking", "reliability", "returns", "agreement"]
    best = sample["ranking"][0]
    first = charts["ranking"].table.rows[0]
    assert (first[1], first[0], first[4]) == (best["name"], "1", f"{best['score']:.4f}")
    assert isinstance(first[5], Interval)
    assert [row[1] for row in charts["ranking"].table.rows if row[5].group] == ["(market)", "(crowd)"]
    assert len(charts["reliability"].panels) == 12
    bins = sample["reliability"][best["name"]]
    assert [row[2] for row in charts["reliability"].table.rows[:10]] == [str(row["n"]) for row in bins]
    assert [panel.title for panel in charts["returns"].panels] == ["γ = 0", "γ = 0.5", "γ = 1"]
    last = sample["return_curve"][best["name"]]["return_0"][-1]
    assert charts["returns"].table.rows[0][2] == f"{last:.4f}"
    assert all(row[place + 1].value == 1 for place, row in enumerate(charts["agreement"].table.rows))
    parsed = check_page(render(make_page(sample)))
    assert "墨子-72b" in parsed.texts


def test_rank_intervals_are_drawn_where_the_result_has_them(sample: Any) -> None:
    known = copy.deepcopy(dict(sample))
    by = known.get("ranked_by", {}).get("metric", "brier")
    for row in known["forecasters"].values():
        row[f"{by}_rank_interval"], row[f"{by}_best"] = [1, 12], 0.25
    chart = make_page(known).charts()["ranking"]
    assert "rank" in chart.table.header
    assert chart.table.rows[0][8:10] == ["1–12", "0.25"]
    for row in known["forecasters"].values():
        del row[f"{by}_rank_interval"]
    assert "rank" not in make_page(known).charts()["ranking"].table.header


def test_what_was_left_out_is_told(sample: Any) -> None:
    [remarks] = [section for section in make_page(sample).sections if section.title.startswith("Fits")]
    lines = [str(line).partition(":")[0] for line in remarks.blocks]
    assert lines.count("excluded") == len(sample["excluded"])
    assert lines.count("warning") == len(sample["warnings"])
    assert [line for line in lines if line.startswith("fit of")] == [f"fit of {name}" for name in sample["fits"]]
    assert all(line in sample.report(full=True) for line in remarks.blocks)


def test_one_forecaster_without_prices() -> None:
    problems = [
        {"problem_id": n, "title": "Who?", "options": ["<b>", "b"], "correct_answer": "b"} for n in range(3)
    ]  # fmt: skip
    forecasts = [
        {"problem_id": n, "username": "<script>", "timestamp": None, "prediction": [0.4, 0.6]} for n in range(3)
    ]  # fmt: skip
    results = ProphetArenaEvaluator(bootstrap=0).evaluate_all(forecasts, problems)
    page = results.page()
    assert "returns" not in page.charts()
    check_page(render(page))


def test_each_forecaster_has_its_costliest_events(sample: Any) -> None:
    page = sample.page()
    [records] = page.blocks(Records)
    [section] = [section for section in page.sections if section.title == "Events"]
    rows = dict(section.blocks[0].rows)
    assert list(rows) == [row["name"] for row in sample["ranking"]]
    briers: dict[str, dict[str, float]] = {name: {} for name in rows}
    for record in records.rows:
        for name, brier, *_ in dict(record.details)["Forecasts"].rows[2:]:
            briers[name][record.key] = float(brier)
    for name, cell in rows.items():
        assert [briers[name][link.to] for link in cell.links] == sorted(briers[name].values(), reverse=True)[:5]
        assert cell.links[0].text.endswith(f"({briers[name][cell.links[0].to]:.2f})")


def test_events_open_to_every_forecast_with_market_and_crowd(sample: Any) -> None:
    [records] = sample.page().blocks(Records)
    assert len(records.rows) == sample["n_events"]
    briers = [float(row.cells[1]) for row in records.rows]
    assert briers == sorted(briers, reverse=True)
    row = next(row for row in records.rows if row.key == "q-pa-0000")
    inside = dict(row.details)
    assert row.cells[6:] == ["the favourite came true", "Jasper Falls"]
    assert (inside["Event"], inside["Outcome"]) == (
        "Port Lorne v. Jasper Falls on 2025-08-13: who wins?",
        "Jasper Falls",
    )
    table = inside["Forecasts"]
    assert table.header == ["Forecaster", "Brier", "Return 0", "Port Lorne", "Jasper Falls ✓", "Draw"]
    shown = {line[0]: line[1:] for line in table.rows}
    assert list(shown)[:2] == ["(market)", "(crowd)"]
    p = [0.189, 0.369, 0.442]
    assert shown["harbor-9b"][2:] == [f"{value:.3g}" for value in p]
    assert float(shown["harbor-9b"][0]) == pytest.approx((p[0] ** 2 + (1 - p[1]) ** 2 + p[2] ** 2) / 3, abs=1e-4)
    assert (shown["(market)"][0], shown["(crowd)"][0]) == (row.cells[2], row.cells[3])
    check_page(render(sample.page()))


def test_very_many_options_show_the_likeliest_and_what_came_true() -> None:
    names = [f"o{n}" for n in range(30)]
    problems = [{"problem_id": "e", "title": "Who?", "options": names, "correct_answer": "o29"}]
    forecasts = [{"problem_id": "e", "username": "f", "timestamp": None, "prediction": [0.5, *[0.5 / 29] * 29]}]
    results = ProphetArenaEvaluator(bootstrap=0).evaluate_all(forecasts, problems)
    [records] = results.page().blocks(Records)
    header = dict(records.rows[0].details)["Forecasts"].header
    assert len(header) == 2 + 8
    assert {"o0", "o29 ✓"} <= set(header)


def test_forecasters_whose_names_begin_alike_have_a_diagram_each() -> None:
    problems = [{"problem_id": n, "title": "Who?", "options": ["a", "b"], "correct_answer": "a"} for n in range(40)]
    names = [f"{'x' * 30}{n}" for n in range(3)]
    forecasts = [
        {"problem_id": n, "username": name, "timestamp": None, "prediction": [0.5, 0.5]}
        for n in range(40)
        for name in names
    ]
    results = ProphetArenaEvaluator(bootstrap=0).evaluate_all(forecasts, problems)
    assert len(results.page().charts()["reliability"].panels) == 3


def test_names_in_charts_are_printable_and_cut() -> None:
    name = "\u202eevil\x07" + "x" * 1000
    prices = {"prediction": [0.4, 0.6], "odds": [0.5, 0.5], "timestamp": "2026-01-01T00:00:00Z"}
    forecasts = [{**prices, "problem_id": f"p{n}", "username": name} for n in range(5)]
    problem = {"options": ["a", "b"], "correct_option_idx": 0, "end_date": "2026-02-01T00:00:00Z"}
    problems = [{**problem, "problem_id": f"p{n}"} for n in range(5)]
    text = render(ProphetArenaEvaluator().evaluate_all(forecasts, problems).page())
    assert "\\u202eevil\\x07x" in text
    assert not re.search("[\u202e\x07]|x{60}", text)
