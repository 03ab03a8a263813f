"""Charts as data, and `plot`, which draws one with matplotlib: axes, labels, names that are no
formulas.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from operator import itemgetter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boards_folders import score
from cli import ROOT, q
from eval import FutureXEvaluator
from forecasteval.boards import compare, rank
from forecasteval.common.errors import InputError
from forecasteval.display.charts import (
    COLOURS,
    Axis,
    Chart,
    ChartLine,
    Panel,
    fenced_axis,
    number_axis,
    plot,
    spread,
)
from forecasteval.display.marks import draw_panel
from forecasteval.display.results import Results
from forecasteval.display.tables import Column, IntervalCell, make_table
from forecasteval.rxnopt import RxnOptEvaluator
from hostile import TEXTS, hostile_results
from prophet_data import sample_results

FLOATS = st.floats(-1e12, 1e12)


@given(st.lists(FLOATS, min_size=1, max_size=9))
def test_an_axis_holds_its_values_between_few_ticks(values: list[float]) -> None:
    axis = number_axis(values)
    assert 2 <= len(axis.ticks) <= 7
    slack = 1e-9 * max(1.0, *map(abs, values))
    assert axis.low <= min(values) + slack
    assert axis.high >= max(values) - slack
    assert [axis.at(axis.low), axis.at(axis.high)] == [0, 1]
    assert len({text for _, text in axis.ticks}) == len(axis.ticks)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), st.floats(0.01, 0.3))
def test_names_beside_lines_are_apart_and_in_order(ends: list[float], gap: float) -> None:
    places = [at for at, _ in spread(sorted((y, n) for n, y in enumerate(ends)), gap)]
    assert all(after - before >= gap - 1e-9 for before, after in pairwise(places))
    assert sum(places) == pytest.approx(sum(ends), abs=1e-6)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_an_axis_of_scores_ends_at_1(scores: list[float]) -> None:
    axis = number_axis(scores)
    if max(scores) - min(scores) > 1e-6:
        assert 0 <= axis.low <= min(scores)
        assert max(scores) <= axis.high <= 1


def test_one_line_far_away_does_not_squeeze_the_others() -> None:
    """It is cut at the edge, and an arrow says where and how far it went."""
    near = [ChartLine(f"n{n}", [(x, 1 + n / 100 + x / 50) for x in range(4)]) for n in range(6)]
    far = ChartLine("far", [(0, 1.0), (1, 9.0), (2, 1.1), (3, 1.0)], faint=True)
    values = [y for line in (*near, far) for _, y in line.points]
    axis = fenced_axis(values, [y for line in near for _, y in line.points])
    assert axis.high < 1.5
    panel = Panel("", [*near, far], Axis("", (), 0, 3), axis)
    assert [panel.beyond(line) for line in panel.lines] == [[]] * 6 + [[(1, 9.0)]]
    drawn = draw_panel(panel, "about")
    assert drawn.count('class="cut"') == 1
    assert drawn.count("<title>far: 9</title>") == 1


def test_a_line_that_ended_has_its_name_at_its_end() -> None:
    lines = [ChartLine("whole", [(0, 0.5), (4, 0.6)]), ChartLine("ended", [(0, 0.4), (1, 0.2)])]
    panel = Panel("", lines, Axis("", (), 0, 4), number_axis([0, 1]))
    assert sorted((number, x) for x, _, number in panel.labels()) == [(0, 1.0), (1, 0.25)]
    assert '<text x="25.0%"' in draw_panel(panel, "about")


# --- With matplotlib ---


@pytest.fixture
def _no_window() -> Iterator[None]:
    import matplotlib
    from matplotlib import pyplot

    before = matplotlib.get_backend()
    matplotlib.use("agg")
    yield
    pyplot.close("all")
    matplotlib.use(before)


@pytest.mark.extra("matplotlib")
@pytest.mark.usefixtures("_no_window")
def test_plot_gives_axes_with_the_numbers_of_the_result() -> None:
    results = FutureXEvaluator().evaluate_all([q("q1"), q("q2", answer="B"), q("q3")])
    axes = results.plot()
    assert [text.get_text() for text in axes.get_yticklabels()] == [
        *(f"Level {n}" for n in (1, 2, 3, 4)),
        "Overall",
    ]
    dots = [line.get_xdata()[0] for line in axes.lines if line.get_marker() in "oD"]
    assert dots == pytest.approx([2 / 3, 2 / 3])  # level 1 and overall


@pytest.mark.extra("matplotlib")
@pytest.mark.usefixtures("_no_window")
def test_plots_have_names_and_take_axes() -> None:
    from matplotlib import pyplot

    comparison = compare(
        [score([q("q1"), q("q2", answer="B")], "a"), score([q("q1"), q("q2")], "b")]
    )
    _, ax = pyplot.subplots()
    assert comparison.plot(ax=ax) is ax
    with pytest.raises(InputError, match="expected one of differences, got 'nothing'"):
        comparison.plot("nothing")
    _, two = pyplot.subplots(1, 2)
    with pytest.raises(InputError, match="differences has 1 panels, got 2 Axes"):
        comparison.plot("differences", two)


@pytest.mark.extra("matplotlib")
@pytest.mark.usefixtures("_no_window")
def test_figures_show_names_and_words() -> None:
    """Rows of Prophet's figure began with `<b>1</b> <span class="s">1–6</span>`."""
    from matplotlib.text import Text

    drawn = {}
    for about, results in _every_kind().items():
        for name in results.page().charts():
            axes = results.plot(name)
            figure = (axes if hasattr(axes, "figure") else axes[0]).figure
            texts = {text.get_text() for text in figure.findobj(Text)} - {""}
            assert not [text for text in texts if re.search(r"</?\w|&\w+;", text)]
            drawn[f"{about} {name}"] = texts
    assert drawn["futurex scores"] >= {"Level 1", "Overall"}
    assert drawn["futurex costs"] >= {"wrong option"}
    assert drawn["rxnopt scores"] >= {"single_varying", "Overall"}
    assert drawn["prophet ranking"] >= {"harbor-9b", "coin-and-dice"}
    assert drawn["prophet reliability"] >= {"harbor-9b"}
    assert drawn["compare differences"] >= {"a − b"}
    assert drawn["board ranking1"] >= {"a", "b"}


def _every_kind() -> dict[str, Results]:
    """Results of the three benchmarks, a comparison and a board."""
    a = FutureXEvaluator().evaluate_all([q("q1"), q("q2", answer="B")])
    a["name"] = "a"
    b = score([q("q1", answer="B"), q("q2", answer="B")], "b")
    kind = "multiple_choice_single_varying"
    questions = json.loads((ROOT / f"dataset/{kind}.json").read_text(encoding="utf-8"))
    answers = json.loads((ROOT / f"prediction/{kind}-random.json").read_text(encoding="utf-8"))
    return {
        "futurex": a,
        "rxnopt": RxnOptEvaluator(questions).evaluate_all(answers),
        "prophet": sample_results(),
        "compare": compare([a, b]),
        "board": rank([a, b]),
    }


@pytest.mark.extra("matplotlib")
@pytest.mark.usefixtures("_no_window")
def test_who_could_be_first_is_filled() -> None:
    rows = [q(f"q{n}") for n in range(12)]
    close, far = (
        score([q(f"q{n}", answer="A" if n < right else "B") for n in range(12)], str(right))
        for right in (11, 1)
    )
    axes = rank([score(rows, "12"), close, far]).plot()
    fills = [line.get_markerfacecolor() for line in axes.lines if line.get_marker() == "o"]
    assert fills == [COLOURS[0], COLOURS[0], "white"]
    assert "Filled: could be first." in axes.figure.get_supxlabel()


@pytest.mark.extra("matplotlib")
@pytest.mark.usefixtures("_no_window")
def test_every_form_is_drawn() -> None:
    axis, ends = Axis("x", [(0.0, "0"), (1.0, "$1$")]), ((0.0, 0.0), (1.0, 1.0))
    lines = [
        ChartLine("a", [(0.0, 0.5), (1.0, 0.25)], [0.1, 0.2]),
        ChartLine("b", [(0.0, 0.1)], faint=True),
    ]
    columns = [Column("", itemgetter(0)), Column("n", itemgetter(1), "mark")]
    marks = (
        IntervalCell(3.0, (2.0, 5.0), 1.0),
        IntervalCell(4.0, None, None, "ref"),
        IntervalCell(None),
    )
    table = make_table(columns, zip("abc", marks, strict=True))
    panels = [Panel("p", lines, axis, axis, mark) for mark in (ends, None)]
    charts: dict[str, Any] = {
        "two": Chart("two", "T", "D", table, panels),
        "marks": Chart("marks", "T", "D", table),
    }  # fmt: skip
    assert plot(charts, "two").shape == (2,)
    axes = plot(charts, "marks")
    drawn = [(line.get_marker(), *line.get_xdata()) for line in axes.lines]
    assert drawn == [
        ("None", 2.0, 5.0),
        ("o", 3.0),
        ("|", 1.0),
        ("None", 4.0, 4.0),
        ("D", 4.0),
    ]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", "b", "c"]


@pytest.mark.extra("matplotlib")
@pytest.mark.usefixtures("_no_window")
def test_a_board_and_results_without_a_page() -> None:
    board = rank([score([q("q1")], "a"), score([q("q1", answer="B")], "b")])
    assert [text.get_text() for text in board.plot().get_yticklabels()] == ["a", "b"]
    with pytest.raises(InputError, match="expected results that have charts"):
        Results({}, lambda results: []).plot()


def test_without_matplotlib_a_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"needs matplotlib: pip install matplotlib"):
        FutureXEvaluator().evaluate_all([q("q1")]).plot()


@pytest.mark.extra("matplotlib")
@pytest.mark.usefixtures("_no_window")
@pytest.mark.filterwarnings("ignore:.*Glyph .* missing from font")
def test_hostile_names_are_drawn() -> None:
    board = rank([hostile_results(text) for text in TEXTS[:4]])
    board.plot().figure.canvas.draw()
