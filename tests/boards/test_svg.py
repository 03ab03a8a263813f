"""Charts as SVG: plain attributes, texts as text, nothing but what is drawn."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cli import q, run_process, write
from forecasteval.boards.svg import draw_svg
from forecasteval.common.charts import Span, draw_lines, draw_matrix, draw_spans
from forecasteval.common.pages import Chart, Panel
from forecasteval.common.report import Table
from hostile import TEXTS

SPANS = [Span(text, 0.1 * place, (0.05 * place, 0.2 * place), place % 2) for place, text in enumerate(TEXTS)]


def chart(draw: object = None, name: str = "one", panels: int = 1) -> Chart:
    drawn = draw or (lambda ax: draw_spans(ax, SPANS, "score", 0.5))
    return Chart(name, "Title <b>", "Description & more", [Panel(TEXTS[0], drawn)] * panels, Table([], [], ""))  # type: ignore[list-item]


@pytest.mark.parametrize("panels", [1, 3])
def test_svg_is_plain_described_and_repeatable(panels: int) -> None:
    text = draw_svg(chart(panels=panels))
    root = ElementTree.fromstring(text)
    assert [root[0].tag, root[0].text, root[1].tag, root[1].text] == [
        "title",
        "Title <b>",
        "desc",
        "Description & more",
    ]
    for element in root.iter():
        assert not {"style", "onload", "{http://www.w3.org/1999/xlink}href"} & element.attrib.keys()
        assert element.get("id", "one-").startswith("one-")
    assert {element.tag for element in root.iter()} <= {
        "svg", "title", "desc", "defs", "g", "path", "use", "text", "rect", "clipPath"
    }  # fmt: skip
    assert draw_svg(chart(panels=panels)) == text


def test_names_are_texts_not_formulas_nor_boxes() -> None:
    root = ElementTree.fromstring(draw_svg(chart()))
    texts = [element.text for element in root.iter("text")]
    assert "$\\frac{1}{$ and $x^2$" in texts
    assert "墨子 名前 인공 🙂👩\\u200d👩\\u200d👧" in texts
    assert "?? non-characters" in texts
    assert any(text and text.endswith("…") for text in texts)  # cut


def test_ids_of_two_charts_on_a_page_differ() -> None:
    found = [set(re.findall(r' id="([^"]+)"', draw_svg(chart(name=name)))) for name in ("one", "two")]
    assert found[0]
    assert not found[0] & found[1]


def test_every_reference_has_its_target() -> None:
    text = draw_svg(chart(lambda ax: draw_lines(ax, [("a", [1, 2], [3, 4]), ("b", [1, 2], [3, 4])], ("x", "y"), "o")))
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', text))
    assert used
    assert used <= set(re.findall(r' id="([^"]+)"', text))


def test_colours_follow_the_scheme_of_the_page() -> None:
    text = draw_svg(chart(lambda ax: draw_matrix(ax, ["a", "b"], [[1, -0.5], [None, 0.25]])))
    assert "#000000" not in text
    assert {"1.00", "−.50", ".25"} <= set(re.findall(">([^<]+)</text>", text))


def test_settings_that_matplotlib_cannot_read_are_one_line(tmp_path: Path) -> None:
    write(tmp_path, {"prediction/a.json": [q("q1")], "matplotlibrc": b"axes.titlesize: \xff"})
    for given in ({"MPLBACKEND": "nosuch"}, {"MATPLOTLIBRC": str(tmp_path / "matplotlibrc")}):
        done = run_process(tmp_path, "-f", "a", "--html", **given)
        assert done.code == 2
        assert done.err.startswith("eval.py: matplotlib cannot start: ")
        assert done.err.count("\n") == 1
