"""The page of a Prophet Arena run: the ranking, calibration, returns and agreement, of whatever the
result has.
"""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest

from cli import ROOT
from forecasteval.display.html import render
from forecasteval.display.pages import Records
from forecasteval.display.tables import Interval
from forecasteval.prophet.evaluator import ProphetArenaEvaluator
from forecasteval.prophet.page import make_page
from html_page import check_page


@pytest.fixture(scope="module")
def sample() -> Any:
    data = [ROOT / folder / "prophet-sample.json" for folder in ("prediction", "dataset")]
    return ProphetArenaEvaluator(bootstrap=20).evaluate_file(Path(data[0]), [data[1]])


def records_of(page: Any, name: str) -> Records:
    return next(block for block in page.blocks(Records) if block.name == name)


def test_charts_have_the_numbers_of_the_result(sample: Any) -> None:
    charts = make_page(sample).charts()
    assert list(charts) == ["ranking", "reliability", "scores", "agreement"]
    best = sample["ranking"][0]
    names = [row[1] for row in charts["ranking"].table.rows]
    first = charts["ranking"].table.rows[names.index(best["name"])]
    assert (first[1], first[0], first[3]) == (best["name"], "1", f"{best['score']:.4f}")
    assert isinstance(first[4], Interval)
    baselines = [row[1] for row in charts["ranking"].table.rows if row[4].group]
    assert baselines == ["(crowd)", "(market)"]
    assert [names.index(name) for name in baselines] == [0, 3]  # in their place
    assert len(charts["reliability"].panels) == 12
    bins = sample["reliability"][best["name"]]
    assert [row[2] for row in charts["reliability"].table.rows[:10]] == [
        str(row["n"]) for row in bins
    ]
    titles = ["Brier", "Log", "Spherical", "Return 0", "Return 0.5", "Return 1"]
    assert [panel.title for panel in charts["scores"].panels] == titles
    last = sample["score_curve"][best["name"]]["return_0"][-1]
    assert charts["scores"].table.rows[0][5] == f"{last:.4f}"
    assert all(
        row[place + 1].value == 1 for place, row in enumerate(charts["agreement"].table.rows)
    )
    parsed = check_page(render(make_page(sample)))
    assert "墨子-72b" in parsed.texts


def test_rank_intervals_are_drawn_where_the_result_has_them(sample: Any) -> None:
    known = copy.deepcopy(dict(sample))
    by = known.get("ranked_by", {}).get("metric", "brier")
    for row in known["forecasters"].values():
        row[f"{by}_rank_interval"], row[f"{by}_best"] = [1, 12], 0.25
    ranking = records_of(make_page(known), "ranking")
    assert ranking.table.header[5:7] == ["rank", "P(best)"]
    assert ranking.rows[1].cells[6] == "0.25"
    assert "Rank 95%: 1–12 ·" in dict(ranking.rows[1].details)["More"]
    for row in known["forecasters"].values():
        del row[f"{by}_rank_interval"]
    assert "rank" not in make_page(known).charts()["ranking"].table.header


def test_a_row_of_the_ranking_opens_to_the_columns_without_room(sample: Any) -> None:
    """At 1280 px there is room for twelve; the terminal has all columns."""
    page = sample.page()
    ranking = records_of(page, "ranking")
    titles = [column.title for column in ranking.columns]
    assert titles == [
        *("Rank", "Forecaster", "Events", "Adjusted Brier", "Adjusted Brier", "rank", "P(best)"),
        *("Brier", "Log", "Return 0", "Return 0.5", "Return 1"),
    ]
    best = sample["forecasters"][sample["ranking"][0]["name"]]
    more = dict(ranking.rows[1].details)["More"].split(" · ")
    inside = [text.partition(":")[0] for text in more]
    names = "Coverage, 95% interval, Rank 95%, Beats next, ECE, IRT ability, Bradley-Terry, Priced"
    assert ", ".join(inside) == names
    assert f"ECE: {best['ece']:.4f}" in more
    assert {*titles, *inside} == {column.title for column in sample.report()[4].columns}


def test_causes_lead_to_the_events(sample: Any) -> None:
    """The ranking is the first of the records of the page, whose filters need no name in front."""
    table = sample.page().charts()["costs"].table
    assert table.rows[0][0].to.startswith("events.outcome=")


def test_what_was_left_out_is_told(sample: Any) -> None:
    [remarks] = [
        section for section in make_page(sample).sections if section.title.startswith("Fits")
    ]
    lines = [str(line).partition(":")[0] for line in remarks.blocks]
    assert lines.count("excluded") == len(sample["excluded"])
    assert lines.count("warning") == len(sample["warnings"])
    assert [line for line in lines if line.startswith("fit of")] == [
        "fit of irt",
        "fit of bradley_terry, prior 1",
    ]
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
    assert "scores" not in page.charts()
    check_page(render(page))


def test_each_forecaster_has_its_costliest_events(sample: Any) -> None:
    page = sample.page()
    records = records_of(page, "events")
    [section] = [section for section in page.sections if section.title == "Events"]
    rows = dict(section.blocks[0].rows)
    assert list(rows) == [row["name"] for row in sample["ranking"]]
    briers: dict[str, dict[str, float]] = {name: {} for name in rows}
    for record in records.rows:
        for name, brier, *_ in dict(record.details)["Forecasts"].rows[2:]:
            briers[name][record.key] = float(brier)
    for name, cell in rows.items():
        assert [briers[name][link.to] for link in cell.links] == sorted(
            briers[name].values(), reverse=True
        )[:5]
        assert cell.links[0].text.endswith(f"({briers[name][cell.links[0].to]:.2f})")


def test_events_open_to_every_forecast_with_market_and_crowd(sample: Any) -> None:
    records = records_of(sample.page(), "events")
    assert len(records.rows) == sample["n_events"]
    briers = [float(row.cells[1]) for row in records.rows]
    assert briers == sorted(briers, reverse=True)
    row = next(row for row in records.rows if row.key == "q-pa-0000")
    inside = dict(row.details)
    assert row.cells[6:] == ["the favourite came true", "Jasper Falls"]
    assert (inside["Event"], inside["Came true"]) == (
        "Port Lorne v. Jasper Falls on 2025-08-13: who wins?",
        "Jasper Falls",
    )
    table = inside["Forecasts"]
    assert table.header == [
        "Forecaster",
        "Brier",
        "Return 0",
        "Port Lorne",
        "Jasper Falls ✓",
        "Draw",
    ]
    shown = {line[0]: line[1:] for line in table.rows}
    assert list(shown)[:2] == ["(market)", "(crowd)"]
    p = [0.189, 0.369, 0.442]
    assert shown["harbor-9b"][2:] == [f"{value:.3g}" for value in p]
    assert float(shown["harbor-9b"][0]) == pytest.approx(
        (p[0] ** 2 + (1 - p[1]) ** 2 + p[2] ** 2) / 3, abs=1e-4
    )
    assert (shown["(market)"][0], shown["(crowd)"][0]) == (row.cells[2], row.cells[3])
    check_page(render(sample.page()))


def test_very_many_options_show_the_likeliest_and_what_came_true() -> None:
    names = [f"o{n}" for n in range(30)]
    problems = [{"problem_id": "e", "title": "Who?", "options": names, "correct_answer": "o29"}]
    forecasts = [
        {
            "problem_id": "e",
            "username": "f",
            "timestamp": None,
            "prediction": [0.5, *[0.5 / 29] * 29],
        }
    ]
    results = ProphetArenaEvaluator(bootstrap=0).evaluate_all(forecasts, problems)
    records = records_of(results.page(), "events")
    header = dict(records.rows[0].details)["Forecasts"].header
    assert len(header) == 2 + 8
    assert {"o0", "o29 ✓"} <= set(header)


def test_forecasters_whose_names_begin_alike_have_a_diagram_each() -> None:
    problems = [
        {"problem_id": n, "title": "Who?", "options": ["a", "b"], "correct_answer": "a"}
        for n in range(40)
    ]
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
