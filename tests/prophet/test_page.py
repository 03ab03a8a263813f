"""The page of a Prophet Arena run: the ranking with market and crowd in place, calibration, scores
over time, categories, events, every metric; of whatever the result has.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from cli import ROOT
from forecasteval.display.html import render
from forecasteval.display.tables import IntervalCell
from forecasteval.prophet.evaluator import ProphetArenaEvaluator
from forecasteval.prophet.page import make_page
from html_page import Parsed, check_page
from prophet_data import GOOD_PROBLEM, evaluate


@pytest.fixture(scope="module")
def sample() -> Any:
    data = [ROOT / folder / "prophet-sample.json" for folder in ("prediction", "dataset")]
    return ProphetArenaEvaluator().evaluate_file(Path(data[0]), [data[1]])


@pytest.fixture(scope="module")
def page(sample: Any) -> Parsed:
    return check_page(render(sample.page()))


def section(html: str, title: str) -> str:
    """The part of a page from a heading to the next."""
    return html.partition(f"<h2>{title}</h2>")[2].partition("<h2>")[0]


def records(count: int = 5, **fields: Any) -> tuple[list[Any], list[Any]]:
    problems = [
        {"problem_id": n, "title": "Who?", "options": ["<b>", "b"], "correct_answer": "b"}
        for n in range(count)
    ]
    forecasts = [
        {"problem_id": n, "username": "<script>", "prediction": [0.4, 0.6], **fields}
        for n in range(count)
    ]
    return forecasts, problems


def test_charts_have_the_numbers_of_the_result(sample: Any) -> None:
    charts = make_page(sample).charts()
    assert list(charts) == ["ranking", "reliability", "scores"]
    best = sample["ranking"][0]
    columns, rows = charts["ranking"].table.texts()
    titles = [column.title for column in columns]
    assert titles[:5] == ["Rank", "Forecaster", "Events", "Coverage", "Adjusted Brier"]
    first = next(row for row in rows if row[1] == best["name"])
    assert (first[0], first[4]) == ("1", f"{best['score']:.4f}")
    assert sum(isinstance(cell, IntervalCell) for cell in charts["ranking"].table.rows[0]) == 1
    assert len(charts["reliability"].panels) == 12
    for place, panel in zip(sample["ranking"], charts["reliability"].panels, strict=True):
        bins = [row for row in sample["reliability"][place["name"]] if row["n"]]
        [line] = panel.lines
        assert line.points == [(row["mean_probability"], row["frequency"]) for row in bins]
        assert line.dots == [row["n"] / max(row["n"] for row in bins) for row in bins]
    titles = ["Brier", "Log", "Spherical", "Baseline score", "Peer score"]
    titles += ["Return 0", "Return 0.5", "Return 1"]
    assert [panel.title for panel in charts["scores"].panels] == titles
    last = sample["score_curve"][best["name"]]["return_0"][-1]
    line = charts["scores"].panels[5].lines[0]
    assert (line.name, line.points[-1][1]) == (best["name"], last)


def test_what_never_came_true_stands_at_0() -> None:
    problems = [{**GOOD_PROBLEM, "problem_id": number} for number in range(3)]
    given = [
        {"problem_id": number, "username": "ada", "prediction": [0.9, 0.1]} for number in range(3)
    ]
    [panel] = make_page(evaluate(given, problems)).charts()["reliability"].panels
    assert panel.lines[0].points == [pytest.approx((0.1, 0.0)), pytest.approx((0.9, 1.0))]


def test_market_and_crowd_stand_in_their_place_without_a_rank(sample: Any, page: Parsed) -> None:
    rows = page.rows[1:16]
    scores = [float(row[3]) for row in rows]
    assert scores == sorted(scores)
    unranked = [row[1] for row in rows if not row[0]]
    assert unranked == ["(crowd)", "(market)", "(uniform)"]
    html = str(sample.page().summary())
    lines = re.findall(r'<line class="led" x1="([^"]+)"', html)
    assert (len(lines), len(set(lines))) == (15, 1)  # the market's line goes through all rows
    assert html.count('<tr class="ref"') == 3


def test_difference_to_the_market(sample: Any, page: Parsed) -> None:
    """Signed, with half of its interval, and coloured where that excludes 0."""
    [row] = [row for row in page.rows if row[1:2] == ["coin-and-dice"]]
    found = sample["forecasters"]["coin-and-dice"]["against"]["market"]["brier"]
    low, high = found["interval"]
    assert row[7] == f"{found['difference']:+.3f} ±{(high - low) / 2:.3f}"
    cells = re.findall(r'<td class="n vs">(.*?)</td>', str(sample.page().summary()))
    assert 'class="lb"' in cells[-1]
    assert 'class="' not in cells[0].replace('class="s"', "")


def test_every_metric_and_categories_are_tables_of_the_report(sample: Any) -> None:
    html, best = render(sample.page()), sample["forecasters"]["harbor-9b"]
    row = section(html, "Every metric").partition("harbor-9b")[2]
    assert f">{best['irt_ability']:.4f} (1)<" in row
    sports = sample["by_category"]["Sports"]["forecasters"]["harbor-9b"]
    row = section(html, "Brier score by category").partition("harbor-9b")[2]
    assert f">{sports['brier']:.4f} ({sports['n_events']})<" in row


def test_verdict(sample: Any) -> None:
    intervals = [row["rank_interval"] for row in sample["ranking"]]
    could = sum(low == 1 for low, _ in intervals[1:])
    assert str(sample.page().lead) == (
        f"<b>harbor-9b</b> leads with 0.119; {could} more could be first. Nobody beats the market "
        "significantly (Brier)."
    )
    forecasts, problems = records()
    results = ProphetArenaEvaluator().evaluate_all(forecasts, problems)
    assert str(results.page().lead) == "<b>&lt;script&gt;</b> leads with 0.160."
    few = ProphetArenaEvaluator().evaluate_all(*records(2))
    assert str(few.page().lead) == "Nobody has the 5 events that a rank needs."


def test_who_beats_the_market() -> None:
    forecasts, problems = records(40, odds=[0.5, 0.5])
    others = [{**row, "username": "low", "prediction": [1, 0]} for row in forecasts]
    results = ProphetArenaEvaluator().evaluate_all([*forecasts, *others], problems)
    assert str(results.page().lead).endswith(" 1 of 2 beats the market significantly (Brier).")


def test_what_was_left_out_is_told(sample: Any) -> None:
    lines = re.findall(
        "<li>(.*?)</li>", section(render(sample.page()), "Left out, and how it is made")
    )
    kinds = [line.partition(":")[0] for line in lines]
    [replaced] = [line for line in lines if " replaced by a later one (" in line]
    assert replaced.startswith("6 forecasts replaced")
    assert kinds.count("excluded") == len(sample["excluded"]) - 1
    assert kinds.count("warning") == len(sample["warnings"])
    fits = [kind for kind in kinds if kind.startswith("fit of")]
    assert fits == ["fit of irt", "fit of bradley_terry, prior 1"]


def test_one_forecaster_without_prices_and_times() -> None:
    """No column, chart and link of what there is not."""
    results = ProphetArenaEvaluator().evaluate_all(*records(timestamp=None))
    page = results.page()
    assert "scores" not in page.charts()
    parsed = check_page(render(page))
    heads = [text for text in parsed.rows[0] if text and not re.search("[0-9]", text)]
    assert heads == ["Rank", "Forecaster", "Events", "Brier", "ECE"]
    links = [link.text for link in page.parts]
    assert links == ["Calibration", "Events", "Every metric"]


def test_provisional_forecasters_are_few_and_counted() -> None:
    forecasts, problems = records(40)
    few = [{**row, "username": f"few{n}"} for n in range(30) for row in forecasts[:4]]
    results = ProphetArenaEvaluator().evaluate_all([*forecasts, *few], problems)
    page = results.page()
    assert page.facts == "Prophet Arena · 40 events (40 exclusive), 31 forecasters, 160 forecasts"
    html = str(page.summary())
    assert '<p class="cap">Without a rank, fewer than 8 events: 30 (few0 (4), few1 (4)' in html
    assert "few12 (4), …).</p>" in html
    assert html.count("<tr") == 4  # the head, the forecaster, crowd and uniform


def test_says_nothing_of_what_is_not_shown() -> None:
    """Without prices, times and rivals there is no word about them."""
    page = ProphetArenaEvaluator().evaluate_all(*records(timestamp=None)).page()
    html = render(page)
    for text in ("Dotted", "±", "Shaded", "the market", "over time", "earned money"):
        assert text not in html.partition("<h2>Left out")[0], text


def test_events_are_rows_the_hardest_first(sample: Any, page: Parsed) -> None:
    html = render(sample.page())
    briers = [float(value) for value in re.findall(r'data-brier="([^"]+)"', html)]
    assert len(briers) == sample["n_events"]
    assert briers == sorted(briers, reverse=True)
    row = html.partition('id="q-pa-0000"')[2].partition("</details>")[0]
    assert "Port Lorne v. Jasper Falls on 2025-08-13: who wins?" in row
    assert '<span class="why">Jasper Falls</span>' in row
    assert re.search(r"<title>harbor-9b: 0.369</title>", row)
    options = re.findall(r'<th scope="row">(.*?)</th>', row)
    assert options == ["Port Lorne", "<b>Jasper Falls ✓</b>", "Draw"]
    p = [0.189, 0.369, 0.442]
    brier = (p[0] ** 2 + (1 - p[1]) ** 2 + p[2] ** 2) / 3
    assert f"harbor-9b {brier:.3f}" in row


def test_very_many_options_show_the_likeliest_and_what_came_true() -> None:
    names = [f"o{n}" for n in range(30)]
    problems = [{"problem_id": "e", "title": "Who?", "options": names, "correct_answer": "o29"}]
    row = {"problem_id": "e", "username": "f", "prediction": [0.5, *[0.5 / 29] * 29]}
    results = ProphetArenaEvaluator().evaluate_all([row], problems)
    inside = render(results.page()).partition('id="q-e"')[2]
    options = re.findall(r'<th scope="row">(.*?)</th>', inside)[:9]
    assert len([name for name in options if "o" in name]) >= 8
    assert {"o0", "<b>o29 ✓</b>"} <= set(options)


def test_an_event_in_which_nothing_came_true() -> None:
    problem = {"problem_id": "e", "options": ["a", "b"], "correct_answer": []}
    row = {"problem_id": "e", "username": "f", "prediction": [0.5, 0.5]}
    text = render(ProphetArenaEvaluator().evaluate_all([row], [problem]).page())
    assert '<span class="why">none</span>' in text
    check_page(text)


def test_names_in_charts_are_printable_and_cut() -> None:
    name = "\u202eevil\x07" + "x" * 1000
    prices = {"odds": [0.5, 0.5], "timestamp": "2026-01-01T00:00:00Z", "username": name}
    forecasts, problems = records(**prices)
    problems = [{**problem, "end_date": "2026-02-01T00:00:00Z"} for problem in problems]
    text = render(ProphetArenaEvaluator().evaluate_all(forecasts, problems).page())
    assert "\\u202eevil\\x07x" in text
    assert not re.search("[\u202e\x07]|x{60}", text)
