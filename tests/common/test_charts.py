"""Charts in notebooks: `plot` and what it gives back; names that would be formulas, and places that are apart."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import matplotlib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boards_folders import score
from cli import q
from eval import FutureXEvaluator
from forecasteval.boards import compare, rank
from forecasteval.common.charts import _apart, label, label_margin
from forecasteval.common.errors import InputError
from forecasteval.common.results import Results
from hostile import TEXTS, hostile_results


@pytest.fixture(autouse=True)
def _no_window() -> Iterator[None]:
    from matplotlib import pyplot

    before = matplotlib.get_backend()
    matplotlib.use("agg")
    yield
    pyplot.close("all")
    matplotlib.use(before)


def test_plot_gives_axes_with_the_numbers_of_the_result() -> None:
    results = FutureXEvaluator().evaluate_all([q("q1"), q("q2", answer="B"), q("q3")])
    axes = results.plot()
    assert isinstance(axes, matplotlib.axes.Axes)
    assert [text.get_text() for text in axes.get_yticklabels()] == [*(f"Level {n}" for n in (1, 2, 3, 4)), "Overall"]
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([2 / 3, 2 / 3])  # level 1 and overall


def test_plots_have_names_and_take_axes() -> None:
    from matplotlib import pyplot

    comparison = compare([score([q("q1"), q("q2", answer="B")], "a"), score([q("q1"), q("q2")], "b")])
    assert comparison.plot("levels").shape == (1, 2)
    _, ax = pyplot.subplots()
    assert comparison.plot(ax=ax) is ax
    with pytest.raises(InputError, match="expected one of differences, levels, got 'nothing'"):
        comparison.plot("nothing")
    with pytest.raises(InputError, match="levels draws 2 panels"):
        comparison.plot("levels", ax)


def test_a_board_and_results_without_a_page() -> None:
    board = rank([score([q("q1")], "a"), score([q("q1", answer="B")], "b")])
    assert [text.get_text() for text in board.plot().get_yticklabels()] == ["a", "b"]
    with pytest.raises(InputError, match="expected results that have charts"):
        Results({}, lambda results: []).plot()


def test_the_readers_settings_are_left_alone() -> None:
    before = dict(matplotlib.rcParams)
    FutureXEvaluator().evaluate_all([q("q1")]).plot()
    assert dict(matplotlib.rcParams) == before


def test_hostile_names_are_drawn() -> None:
    board = rank([hostile_results(text) for text in TEXTS[:4]])
    board.plot().figure.canvas.draw()


def test_labels_are_short_and_have_room() -> None:
    assert label("a" * 99) == "a" * 39 + "…"
    assert label("\x1b\ufffe") == "\\x1b?"
    assert label_margin(["ab"]) == label_margin([]) == 0.6
    assert label_margin(["万" * 20]) == label_margin(["a" * 40]) > 3


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), st.floats(0.01, 0.3))
def test_names_beside_lines_are_apart_and_in_order(ends: list[float], gap: float) -> None:
    places = [at for at, _ in _apart(sorted((y, n) for n, y in enumerate(ends)), gap)]
    assert all(after - before >= gap - 1e-9 for before, after in pairwise(places))
    assert sum(places) == pytest.approx(sum(ends), abs=1e-6)
