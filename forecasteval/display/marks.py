"""Marks as SVG: the intervals of a chart column, bars, lines and dots on axes.

Places are in per cent and there is no `viewBox`, so that a chart fits any screen while
texts, dots and strokes keep their size; only paths are stretched. Drawings have classes
in the place of styles, for a strict policy, and every mark has its number as a title.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from forecasteval.common.errors import printable

from .charts import Axis, Panel
from .charts import ChartLine as ChartLine
from .html import Head, Html, join, show_score, span, tag
from .tables import IntervalCell

_COLOURS: Final = 3  # of lines
_AXIS: Final = "value and 95% interval"


def _x(axis: Axis, value: float) -> str:
    return f"{axis.at(value) * 100:.1f}%"


# --- The column of a chart ---


def axis_head(axis: Axis, left: str = "", right: str = "") -> Head:
    """Draw the head of a chart column: its axis, and above it what its ends mean."""
    last = len(axis.ticks) - 1
    texts = []
    for index, (value, text) in enumerate(axis.ticks):
        place = {"x": _x(axis, value), "y": 12}
        if index not in (0, last / 2, last):  # of which a phone shows no others
            place["class_"] = "o"
        texts.append(tag("text", text, **place))
    drawn = tag("svg", *texts, class_="ax", height=18, aria_hidden="true")
    parts = [span("vh", _AXIS), drawn]
    if left or right:
        parts.insert(0, span("ends", tag("span", left), tag("span", right)))
    return Head(join(*parts), f"x g{last}", _AXIS)


def draw_interval(
    axis: Axis, mark: IntervalCell, name: str, line: float | None = None
) -> Html:
    """Draw a dot with its interval.

    `line` is the value of a dotted line through all rows, `mark.mark` that of
    an upright one.
    """
    parts = []
    for value, style in ((line, "led"), (mark.mark, "zero")):
        # A row may be higher than its mark: the style cuts it at its edges
        if value is not None:
            x = _x(axis, value)
            parts.append(tag("line", class_=style, x1=x, x2=x, y1="-50%", y2="150%"))
    title = f"{name}: {show_score(mark.value)}"
    if mark.value is not None and not math.isnan(mark.value):
        if mark.bounds:
            low, high = mark.bounds
            title += f", 95% interval {show_score(low)} to {show_score(high)}"
            x1 = _x(axis, low)
            x2 = _x(axis, high)
            parts.append(tag("line", class_="w", x1=x1, x2=x2, y1="50%", y2="50%"))
            if high > axis.high:  # arrowheads where it leaves the axis
                parts.append(_draw_shape("M-6-5 0 0-6 5", "100%", "w"))
            if low < axis.low:
                parts.append(_draw_shape("M6-5 0 0 6 5", "0", "w"))
        parts.append(_draw_dot(axis, mark.value, mark.kind == "ref"))
    # Viewers of notebooks may drop styles: the height stays
    style = f"iv {mark.kind}".rstrip()
    return tag("svg", tag("title", title), *parts, class_=style, height=32, role="img")


def _draw_dot(axis: Axis, value: float, reference: bool) -> Html:
    if not reference:
        return tag("circle", class_="d", cx=_x(axis, value), cy="50%", r=5)
    return _draw_shape("M0-6 6 0 0 6-6 0Z", _x(axis, value), "d")


def _draw_shape(
    path: str, x: str, kind: str | None, y: str = "50%", *more: Html
) -> Html:
    """Draw a path around a place, by default in the middle of a row."""
    shape = tag("path", d=path, class_=kind)
    return tag("svg", *more, shape, x=x, y=y, overflow="visible", aria_hidden="true")


# --- Bars ---


class Share(NamedTuple):
    """A part of a bar: its share of 1, its class and title."""

    share: float
    kind: str
    title: str


def draw_shares(shares: Iterable[Share], kind: str = "lost") -> Html:
    """Draw shares of 1 beside each other in one bar."""
    at = 0.0
    parts = []
    for share in shares:
        width = max(0.0, share.share * 100 - 0.2)  # a gap between the parts
        place = {"x": f"{at * 100:.2f}%", "width": f"{width:.2f}%", "height": "100%"}
        parts.append(tag("rect", tag("title", share.title), class_=share.kind, **place))
        at += share.share
    return tag("svg", *parts, class_=kind, aria_hidden="true")


def draw_bar_of(share: float, kind: str = "") -> Html:
    """Draw a bar as long as its share of the longest, from 0 to 1."""
    rect = tag("rect", "", width=f"{share * 100:.0f}%", height="100%", rx=1)
    return tag("svg", rect, class_=f"bl {kind}", aria_hidden="true")


def draw_dots(
    axis: Axis, values: Iterable[tuple[str, float]], mark: float | None = None
) -> Html:
    """Draw dots on a line, one for each (name, value), and a diamond."""
    parts = [
        tag(
            "circle",
            tag("title", f"{name}: {value:.3g}"),
            cx=_x(axis, value),
            cy="50%",
            r=4,
        )
        for name, value in values
    ]
    if mark is not None and not math.isnan(mark):
        parts.append(_draw_dot(axis, mark, reference=True))
    return tag("svg", *parts, class_="dots", aria_hidden="true")


# --- Panels of lines and dots ---


def draw_panel(panel: Panel, about: str, small: bool = False) -> Html:
    """Draw lines and dots on their axes.

    Faint lines lie below the others, and have their names when they are pointed
    at or focused.
    """
    numbered = sorted(enumerate(panel.lines), key=lambda pair: not pair[1].faint)
    height = panel.height
    parts = []
    if small:
        parts.append(tag("rect", class_="fr", width="100%", height=height))
        panel = panel._replace(
            x=panel.x._replace(ticks=()), y=panel.y._replace(ticks=())
        )
    parts += _draw_axes(panel, small)
    parts += [_draw_line(panel, line, number) for number, line in numbered]
    for x, y, number in panel.labels():
        name = printable(panel.lines[number].name, 16)
        place = {"x": f"{x * 100:.1f}%", "dx": 8, "dy": 4, "y": f"{y:.1f}"}
        parts.append(tag("text", name, **place, class_=_colour(number)))
    kind = "pl"
    below = 44
    if small:
        kind = "pl small"
        below = 20
    elif panel.named and any(not line.faint for line in panel.lines):
        kind = "pl named"
    role = "img"
    # Where lines can be focused, it is no image as a whole.
    if any(line.faint for line in panel.lines):
        role = "group"
    return tag(
        "svg",
        tag("title", about),
        *parts,
        class_=kind,
        role=role,
        height=height + below,
    )


def _draw_axes(panel: Panel, small: bool) -> list[Html]:
    """Draw grid lines with their numbers, the titles of the axes, and
    the dotted line.
    """
    height = panel.height
    parts = []
    for value, text in panel.y.ticks:
        y = _y(panel, value)
        parts.append(tag("line", class_="gl", x1=0, x2="100%", y1=y, y2=y))
        parts.append(tag("text", text, x=-8, y=y, dy=4, class_="e"))
    last = len(panel.x.ticks) - 1
    for index, (value, text) in enumerate(panel.x.ticks):
        kind = "m"
        if 0 < index < last:
            kind = "o m"
        x = _x(panel.x, value)
        parts.append(tag("text", printable(text, 14), x=x, y=height + 18, class_=kind))
    if panel.reference:
        (x1, y1), (x2, y2) = panel.reference
        ends = {"x1": _x(panel.x, x1), "x2": _x(panel.x, x2)}
        parts.append(
            tag("line", class_="dg", **ends, y1=_y(panel, y1), y2=_y(panel, y2))
        )
    below = 36
    corner = {"y": -10, "dx": -24}
    if small:
        below = 15
        corner = {"y": 16, "dx": 6}
    if panel.x.title:
        parts.append(tag("text", panel.x.title, x="50%", y=height + below, class_="m"))
    if panel.y.title:
        parts.append(tag("text", panel.y.title, x=0, **corner))
    return parts


def _y(panel: Panel, value: float) -> str:
    return f"{panel.height * (1 - panel.y.at(value)):.1f}"


def _draw_line(panel: Panel, line: ChartLine, number: int) -> Html:
    """Draw a line with its dots."""
    path = panel.path(line)
    paths = [tag("path", d=path)]
    attributes: dict[str, object] = {"class_": _colour(number)}
    if line.faint:  # a wide path, which is not seen, for the pointer
        paths.append(tag("path", d=path, class_="hit"))
        attributes = {"class_": "l faint", "tabindex": 0, "role": "img"}
    box = {"viewBox": f"0 0 1000 {panel.height}", "preserveAspectRatio": "none"}
    beyond = panel.beyond(line)
    kind = None
    if beyond:
        kind = "cut"
    size = {"width": "100%", "height": panel.height, "class_": kind}
    parts = [
        tag("title", line.name),
        tag("svg", *paths, **box, **size, aria_hidden="true"),
    ]
    for x, y in beyond:
        arrow = "M-5-7 0 0 5-7"
        if y > panel.y.high:
            arrow = "M-5 7 0 0 5 7"
        title = tag("title", f"{line.name}: {y:.4g}")
        parts.append(_draw_shape(arrow, _x(panel.x, x), None, _y(panel, y), title))
    for x, y, area in line.marks():
        radius = f"{(6 + 40 * area) ** 0.5:.1f}"
        title = tag("title", f"{line.name}: {y:.4g}")
        parts.append(tag("circle", title, cx=_x(panel.x, x), cy=_y(panel, y), r=radius))
    if line.end and panel.named and line.faint:
        x, y = line.end
        name = printable(line.name, 16)
        parts.append(tag("text", name, x=_x(panel.x, x), y=_y(panel, y), dx=8, dy=4))
    return tag("g", *parts, **attributes)


def _colour(number: int) -> str:
    return f"l l{number % _COLOURS}"


def small_panels(panels: Sequence[tuple[str, Html]]) -> Html:
    """Draw small panels beside each other, each under its title."""
    drawn_panels = [tag("div", tag("p", title), drawn) for title, drawn in panels]
    return tag("div", *drawn_panels, class_="cal")
