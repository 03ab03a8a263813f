"""A chart as SVG inside a page: its text is text, its colours are attributes, and equal charts give equal bytes.

matplotlib writes `style="…"` on every element, which a strict content policy refuses: all shapes would be black.
Attributes such as `fill` are not refused, and a page's own style can still replace them for a dark scheme.
"""

from __future__ import annotations

import io
import logging
import re
import warnings
from collections.abc import Iterator
from typing import Final
from xml.etree import ElementTree

from forecasteval.common.charts import INK, draw_chart, style
from forecasteval.common.pages import Chart

_PER_POINT: Final = 4 / 3  # CSS pixels
_FITTING: Final = 540  # CSS pixels of a chart that still fits a phone when it is made smaller
_NUMBER: Final = re.compile(r"-?[0-9]+\.[0-9]+(?:e-?[0-9]+)?")
_USED: Final = re.compile(r"(?:url\()?#([A-Za-z0-9_-]+)\)?")
_FONT_SIZE: Final = re.compile(r"([0-9.]+)px")
_KEPT: Final = frozenset({
    "fill", "fill-opacity", "opacity", "stroke", "stroke-dasharray", "stroke-dashoffset", "stroke-linecap",
    "stroke-linejoin", "stroke-opacity", "stroke-width", "text-anchor",
})  # fmt: skip


def draw_svg(chart: Chart) -> str:
    """The chart as an `<svg>` element with title and description, to be written into a page as it is."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it tells of its caches, and cron would send that as mail
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    text = io.StringIO()
    with style(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"(?s).*Glyph .* missing from font")  # the browser has its own fonts
        import matplotlib

        matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": chart.name})
        figure = Figure()
        FigureCanvasSVG(figure)
        draw_chart(chart, figure)
        figure.patch.set_visible(False)
        for axes in figure.axes:
            axes.patch.set_visible(False)
        figure.savefig(text, format="svg", dpi=72, metadata={"Date": None, "Creator": None})
    root = _without_namespaces(ElementTree.fromstring(text.getvalue()))
    return _serialise(root, chart)


def _without_namespaces(root: ElementTree.Element) -> ElementTree.Element:
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        for key in [key for key in element.attrib if "}" in key]:
            element.set(key.rpartition("}")[2], element.attrib.pop(key))
    return root


def _serialise(root: ElementTree.Element, chart: Chart) -> str:
    _remove(root, ("metadata", "style", "title"))
    used = {name for element in root.iter() for value in element.attrib.values() for name in _references(value)}
    for element in root.iter():
        _plain_attributes(element, used, chart.name)
    _flatten(root)
    width, height = (float(size) * _PER_POINT for size in root.attrib["viewBox"].split()[2:])
    box = root.attrib["viewBox"]
    root.attrib.clear()
    root.attrib.update({
        "viewBox": box, "width": f"{width:.0f}", "height": f"{height:.0f}", "role": "img",
        "aria-labelledby": f"{chart.name}-title {chart.name}-description", "font-family": "sans-serif",
        "fill": "currentColor",
    })  # fmt: skip
    if width > _FITTING:
        root.set("class", "w")  # would be too small on a phone: it is scrolled there
    for place, (tag, words) in enumerate((("title", chart.title), ("desc", chart.description))):
        element = ElementTree.Element(tag, {"id": f"{chart.name}-{'title' if tag == 'title' else 'description'}"})
        element.text = words
        root.insert(place, element)
    root[-1].tail = None
    return ElementTree.tostring(root, encoding="unicode").replace(" />", "/>")


def _references(value: str) -> Iterator[str]:
    if "#" in value:
        yield from _USED.findall(value)


def _remove(element: ElementTree.Element, tags: tuple[str, ...]) -> None:
    for child in list(element):
        if child.tag in tags:
            element.remove(child)
        else:
            _remove(child, tags)


def _plain_attributes(element: ElementTree.Element, used: set[str], name: str) -> None:
    """Styles as attributes, ids of nobody's use dropped, those of this chart told from other charts', short numbers."""
    for part in element.attrib.pop("style", "").split(";"):
        key, _, value = (word.strip() for word in part.partition(":"))
        if key in ("font", "font-size"):  # "700 9px 'DejaVu Sans'", or each by itself: versions of matplotlib differ
            element.set("font-size", _FONT_SIZE.findall(value)[0])
        if key in ("font", "font-weight") and ("bold" in value or "700" in value):
            element.set("font-weight", "bold")
        elif key in _KEPT:
            element.set(key, "currentColor" if value == INK else value)
    if element.attrib.get("id") not in used:
        element.attrib.pop("id", None)
    for key, value in element.attrib.items():
        if key == "id":
            element.set(key, f"{name}-{value}")
        elif "#" in value and key in ("href", "clip-path"):
            element.set(key, value.replace("#", f"#{name}-"))
        elif key in ("d", "transform", "x", "y", "width", "height"):
            element.set(key, " ".join(_NUMBER.sub(_short, value).split()))
    if element.get("transform", "").startswith("rotate(-0 "):
        del element.attrib["transform"]
    if element.tag in ("g", "defs", "path", "use", "text") and element.text and not element.text.strip():
        element.text = None
    element.tail = None


def _short(match: re.Match[str]) -> str:
    return f"{float(match[0]):.1f}".removesuffix(".0")


def _flatten(element: ElementTree.Element) -> None:
    """Groups that say nothing are replaced by what they hold."""
    for child in list(element):
        _flatten(child)
        if child.tag in ("g", "defs") and (not len(child) or (child.tag == "g" and not child.attrib)):
            place = list(element).index(child)
            element.remove(child)
            for offset, inner in enumerate(list(child)):
                element.insert(place + offset, inner)
