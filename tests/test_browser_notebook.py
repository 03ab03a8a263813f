"""A notebook's tables in Chromium: whoever reads a notebook in another scheme than that of the
computer, or in a classic template, reads every cell.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from browser import start_chromium
from cli import import_extra
from eval import FutureXEvaluator
from forecasteval.boards import compare, rank
from test_notebook import data

nbconvert = import_extra("nbconvert")
nbformat = import_extra("nbformat")

pytestmark = pytest.mark.extra("chromium", "playwright", "nbconvert", "nbformat")

MIN_CONTRAST: Final = 4.5  # WCAG 2.2, 1.4.3

# Each text is drawn as the browser composes it: backgrounds of all ancestors from the root on, then
# the colour of the text, which may be half transparent.
CONTRASTS: Final = """() => {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const context = canvas.getContext("2d", {willReadFrequently: true});
  const paint = color => { context.fillStyle = color; context.fillRect(0, 0, 1, 1); };
  const luminance = () => {
    const [r, g, b] = [...context.getImageData(0, 0, 1, 1).data].slice(0, 3).map(value => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (element, property) => {
    const ancestors = [];
    for (let node = element; node; node = node.parentElement) ancestors.unshift(node);
    paint("#fff");
    for (const node of ancestors) paint(getComputedStyle(node).backgroundColor);
    const below = luminance();
    paint(getComputedStyle(element)[property]);
    const above = luminance();
    return (Math.max(above, below) + 0.05) / (Math.min(above, below) + 0.05);
  };
  const found = [];
  for (const box of document.querySelectorAll(".fe")) {
    const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const element = walker.currentNode.parentElement;
      if (!walker.currentNode.data.trim() || element.closest("style, title")) continue;
      const property = element.closest("svg") ? "fill" : "color";
      found.push([walker.currentNode.data.trim(), contrast(element, property)]);
    }
  }
  return found;
}"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with start_chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def notebook() -> Any:
    """A notebook that shows a run, a comparison and a board."""
    first = {"name": "first", **FutureXEvaluator().evaluate_all(data("A"))}
    second = FutureXEvaluator().evaluate_all(data("C"))
    results = [second, compare([first, {"name": "second", **second}]), rank([first, second])]
    cells = []
    for result in results:
        shown = nbformat.v4.new_output(
            "execute_result", {"text/html": result._repr_html_()}, execution_count=1
        )
        cells.append(nbformat.v4.new_code_cell("results", outputs=[shown], execution_count=1))
    return nbformat.v4.new_notebook(cells=cells)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("template", "theme"), [("lab", "light"), ("lab", "dark"), ("classic", "light")]
)
def test_every_cell_of_a_notebook_can_be_read(
    chromium: Any, notebook: Any, tmp_path: Path, template: str, theme: str, scheme: str
) -> None:
    exporter = nbconvert.HTMLExporter(template_name=template, theme=theme)
    page_path = tmp_path / "notebook.html"
    page_path.write_text(exporter.from_notebook_node(notebook)[0], encoding="utf-8")
    context = chromium.new_context(color_scheme=scheme, offline=True)
    page = context.new_page()
    page.goto(page_path.as_uri(), wait_until="domcontentloaded")
    contrasts = page.evaluate(CONTRASTS)
    context.close()
    assert len(contrasts) > 60
    too_faint = [(text, round(value, 2)) for text, value in contrasts if value < MIN_CONTRAST]
    assert not too_faint, json.dumps(too_faint)
