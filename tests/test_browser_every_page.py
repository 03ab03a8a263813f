"""What holds of every page in Chromium: nothing leaves it or is cut, and axe finds nothing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import pytest

from browser import NAMES, Watched

pytestmark = pytest.mark.extra("chromium", "playwright", "axe_playwright_python")


# What a question costs, beside its bar: five digits need the width of a column of their own.
_ON_TWO_LINES: Final = """(costs) => costs.filter((cost) =>
  cost.scrollHeight > cost.clientHeight + 4).map((cost) => cost.textContent)"""


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_said_asked_for_or_too_wide(
    pages: dict[str, Path], browser: Any, name: str
) -> None:
    for width, scheme in ((390, "dark"), (1280, "light")):
        watched = Watched(
            browser, pages[name], viewport={"width": width, "height": 900}, color_scheme=scheme
        )
        watched.page.evaluate("location.hash = '%E0'")
        watched.page.wait_for_function("location.hash === '#%E0'")
        assert watched.asked == [pages[name].as_uri()]
        assert watched.page.title() != "owned"
        assert watched.page.evaluate("document.documentElement.scrollWidth") == width
        assert watched.page.locator(".co").evaluate_all(_ON_TWO_LINES) == []
        assert watched.said == []
        watched.context.close()


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_cut_on_paper(pages: dict[str, Path], browser: Any, name: str) -> None:
    paper = {"width": 1047, "height": 700}  # A4 across, with margins of a centimetre
    watched = Watched(browser, pages[name], viewport=paper)
    watched.page.emulate_media(media="print")
    assert watched.page.evaluate("document.documentElement.scrollWidth") == paper["width"]
    shown = "[...document.querySelectorAll('.wide')].filter((box) => !box.closest('details'))"
    cut = f"{shown}.filter((box) => box.scrollWidth > box.clientWidth + 1).length"
    assert watched.page.evaluate(cut) == 0
    watched.context.close()


_TOUCHING: Final = """(axes) => axes.flatMap((axis) => {
  const boxes = [...axis.querySelectorAll("text")].map((one) => one.getBoundingClientRect());
  const shown = boxes.filter((box) => box.width).sort((a, b) => a.left - b.left);
  return shown.slice(1).filter((box, at) => box.left < shown[at].right + 3).map((box) => box.left);
})"""


@pytest.mark.parametrize("name", NAMES)
def test_labels_of_an_axis_are_apart(pages: dict[str, Path], browser: Any, name: str) -> None:
    for width, media in ((718, "print"), (390, "screen"), (1280, "screen")):
        watched = Watched(browser, pages[name], viewport={"width": width, "height": 900})
        watched.page.emulate_media(media=media)
        assert watched.page.locator(".ax").evaluate_all(_TOUCHING) == []
        watched.context.close()


@pytest.mark.parametrize(
    ("name", "most"),
    [("prophet-sample", 6), ("250915-careful", 3), ("leaderboard", 3), ("season", 2)],
)
def test_paper_is_not_wasted(pages: dict[str, Path], browser: Any, name: str, most: int) -> None:
    page = Watched(browser, pages[name]).page
    sheets = re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))
    assert 1 <= len(sheets) <= most


_COLOURS: Final = (
    "color-contrast",
    "link-in-text-block",
)  # what axe finds by colours, which depend on the scheme
# Colours depend on tags, classes and fills. A row without new ones goes: among thousands of
# elements that are drawn alike, axe would look for a minute at what may lie behind each of them.
_ONE_ROW_OF_A_KIND: Final = """() => {
  const seen = new Set();
  for (const row of document.querySelectorAll(".rows > details")) {
    const before = seen.size;
    for (const part of [row, ...row.querySelectorAll("*")]) {
      const names = ["class", "fill", "fill-opacity", "opacity"];
      const fills = names.map((name) => part.getAttribute(name));
      part.kind = `${part.parentElement.kind} > ${part.tagName} ${fills}`;
      seen.add(part.kind);
    }
    if (seen.size === before) row.remove();
  }
}"""


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing(pages: dict[str, Path], browser: Any, name: str, width: int) -> None:
    from axe_playwright_python.sync_playwright import Axe

    size = {"width": width, "height": 900}
    watched = Watched(browser, pages[name], viewport=size, bypass_csp=True)

    def find(**rules: Any) -> list[tuple[str, str]]:
        options = {"resultTypes": ["violations"], **rules}
        found = Axe().run(watched.page, options=options).response["violations"]
        return [(one["id"], one["nodes"][0]["html"][:200]) for one in found]

    watched.page.evaluate(
        "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
    )
    assert find(rules={rule: {"enabled": False} for rule in _COLOURS}) == []
    watched.page.evaluate(_ONE_ROW_OF_A_KIND)
    for scheme in ("light", "dark"):
        watched.page.emulate_media(color_scheme=scheme)
        assert find(runOnly={"type": "rule", "values": _COLOURS}) == [], scheme
    watched.context.close()


_UNSTYLED: Final = {"fix", "t"}  # for the script, and a chip without a colour of its own


@pytest.mark.parametrize("name", NAMES)
def test_every_class_of_a_page_has_a_style(pages: dict[str, Path], name: str) -> None:
    """A legend once spoke of a colour that its class had no longer."""
    html = pages[name].read_text(encoding="utf-8")
    style, body = html.split("<style>")[1].split("</style>")
    known = set(re.findall(r"\.([a-zA-Z][\w-]*)", style))
    used = {each for names in re.findall(r'class="([^"]*)"', body) for each in names.split()}
    assert used - known <= _UNSTYLED
