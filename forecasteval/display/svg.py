"""Elements of HTML that escape what they contain; marks and charts as SVG.

Drawings have attributes in the place of styles, for a strict policy, and every mark has its number
as a title. Widths are in per cent, so that a chart fits any screen while its text keeps its size;
lines are stretched without their strokes.
"""

from __future__ import annotations

import math
from typing import Any, Final

from forecasteval.common.errors import printable

from .charts import COLOURS, Axis, Chart, Line, Panel
from .html import Html, tag
from .tables import Bar, Interval, Mark

# --- Drawings ---

_TEXT: Final[dict[str, Any]] = {
    "font_family": "sans-serif",
    "font_size": 12,
    "fill": "currentColor",
}


def _colour(number: int) -> str:
    return f"var(--c{number % 6 + 1},{COLOURS[number % 6]})"


def _x(axis: Axis, value: float) -> str:
    return f"{axis.at(value) * 100:.1f}%"


# --- Marks in cells ---


def draw_mark(cell: Mark, axis: Axis | None) -> Html:
    """The mark of a cell, on the axis of its column."""
    if isinstance(cell, Interval):
        return _draw_interval(cell, axis or Axis())
    if isinstance(cell, Bar):
        return _draw_bar(cell, axis or Axis())
    text, value = str(cell), cell.value or 0.0
    ground = tag(
        "rect",
        width="100%",
        height=22,
        fill=_colour(int(value < 0)),
        fill_opacity=f"{abs(value) * 0.45:.2f}",
    )
    number = tag(
        "text", text, x="50%", y=16, text_anchor="middle", fill="currentColor", font_size=13
    )
    return tag(
        "svg",
        tag("title", text),
        ground,
        number,
        width="100%",
        height=22,
        role="img",
        aria_label=text,
    )


def _draw_interval(cell: Interval, axis: Axis) -> Html:
    marks = []
    if cell.mark is not None:
        at = _x(axis, cell.mark)
        marks.append(_rule(at, at, 0, 18))
    if cell.value is not None and not math.isnan(cell.value):
        if cell.bounds:
            marks.append(
                tag("line", x1=_x(axis, cell.bounds[0]), x2=_x(axis, cell.bounds[1]), y1=9, y2=9)
            )
        inside = "var(--back,#fff)" if cell.group else None
        marks.append(tag("circle", cx=_x(axis, cell.value), cy=9, r=4, fill=inside))
    colour = _colour(cell.group)
    return _draw_cell(cell, marks, stroke=colour, stroke_width=2, fill=colour)


def _draw_bar(cell: Bar, axis: Axis) -> Html:
    value = cell.value or 0.0
    width = f"{abs(axis.at(value) - axis.at(0)) * 100:.1f}%"
    bar = tag("rect", x=_x(axis, min(0, value)), y=3, width=width, height=12, fill=_colour(0))
    return _draw_cell(cell, [bar] if value else [])


def _draw_cell(cell: Mark, marks: list[Html], **attributes: object) -> Html:
    return tag(
        "svg",
        tag("title", str(cell)),
        *marks,
        width="100%",
        height=18,
        aria_hidden="true",
        **attributes,
    )


def _rule(
    x1: object, x2: object, y1: object, y2: object, opacity: float = 0.5, dashes: str | None = None
) -> Html:
    stroke = {"stroke": "currentColor", "stroke_opacity": opacity, "stroke_dasharray": dashes}
    return tag("line", x1=x1, x2=x2, y1=y1, y2=y2, **stroke)


def show_ends(axis: Axis) -> Html:
    """The ends of the axis of a column, below its title."""
    low, high = axis.ticks[0][1], axis.ticks[-1][1]
    ends = tag("text", low, y=11), tag("text", high, x="100%", y=11, text_anchor="end")
    return tag(
        "svg", *ends, width="100%", height=14, aria_hidden="true", font_size=10, fill="currentColor"
    )


# --- Panels of lines and dots ---


def draw_panel(chart: Chart, panel: Panel) -> Html:
    """A panel of a chart; faint lines lie below the others."""
    lines = sorted(enumerate(panel.lines), key=lambda pair: not pair[1].faint)
    content = [*_draw_axes(panel), *(_draw_line(panel, line, number) for number, line in lines)]
    content += [_draw_name(panel, at, number) for at, number in panel.labels()]
    title = f"{chart.title}: {panel.title}" if panel.title else chart.title
    size = {"width": "80%", "height": panel.height + 44, "overflow": "visible"}
    kind = "plot named" if panel.named else "plot"
    return tag("svg", *content, class_=kind, role="img", aria_label=title, **size, **_TEXT)


def _draw_axes(panel: Panel) -> list[Html]:
    """Ticks and titles, and the dashed line."""
    height, parts = panel.height, []
    for value, text in panel.y.ticks:
        y = _y(panel, value)
        parts += [
            _rule(0, "100%", y, y, 0.15),
            tag("text", text, x=-6, y=y, dy=4, text_anchor="end"),
        ]
    for place, (value, text) in enumerate(panel.x.ticks):
        x = _x(panel.x, value)
        kind = "mid" if 0 < place < len(panel.x.ticks) - 1 else None  # no room for it on a phone
        label = tag(
            "text", printable(text, 14), x=x, y=height + 18, text_anchor="middle", class_=kind
        )
        parts += [_rule(x, x, height, height + 5), label]
    if panel.reference:
        (x1, y1), (x2, y2) = panel.reference
        parts.append(
            _rule(_x(panel.x, x1), _x(panel.x, x2), _y(panel, y1), _y(panel, y2), dashes="4 4")
        )
    below = tag("text", panel.x.title, x="50%", y=height + 36, text_anchor="middle")
    return [*parts, below, tag("text", panel.y.title, x=0, y=-10, dx=-24)]


def _y(panel: Panel, value: float) -> str:
    return f"{panel.height * (1 - panel.y.at(value)):.1f}"


def _draw_line(panel: Panel, line: Line, number: int) -> Html:
    """A line with its dots; a faint one has its name at its end, to be seen when it is chosen."""
    ink, parts = "var(--grey,#757575)" if line.faint else _colour(number), [tag("title", line.name)]
    if line.joined:
        dashes = "6 3" if number > 5 and not line.faint else None
        stroke = {"fill": "none", "stroke": ink, "stroke_width": 2, "stroke_dasharray": dashes}
        path = tag("path", d=panel.path(line), vector_effect="non-scaling-stroke", **stroke)
        box = {
            "viewBox": f"0 0 1000 {panel.height}",
            "preserveAspectRatio": "none",
            "overflow": "visible",
        }
        parts.append(tag("svg", path, width="100%", height=panel.height, **box))
    if line.faint and panel.named and line.end:
        at = {
            "x": _x(panel.x, line.end[0]),
            "y": _y(panel, line.end[1]),
            "dx": -8,
            "dy": -8,
            "text_anchor": "end",
        }
        parts.append(tag("text", printable(line.name, 24), visibility="hidden", **at))
    for x, y, area in line.marks():
        radius = f"{((6 if line.joined else 16) + 60 * area) ** 0.5:.1f}"
        title = tag("title", f"{line.name}: {y:.4g}")
        parts.append(tag("circle", title, cx=_x(panel.x, x), cy=_y(panel, y), r=radius, fill=ink))
    return tag(
        "g", *parts, class_="faint" if line.faint else None, opacity=0.5 if line.faint else None
    )


def _draw_name(panel: Panel, at: float, number: int) -> Html:
    """The name of a line right of the panel, or that of a dot beside it."""
    line, where = panel.lines[number], {"x": "100%", "dx": 8, "dy": 4}
    if line.end and not line.joined:
        left = {"dx": -8, "text_anchor": "end"} if panel.x.at(line.end[0]) > 0.7 else {}
        where |= {"x": _x(panel.x, line.end[0]), "dy": -5, **left}
    return tag("text", printable(line.name, 16), y=f"{at:.1f}", **where, fill=_colour(number))
