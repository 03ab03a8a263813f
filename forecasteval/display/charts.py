"""Charts as data: marks in the cells of a table, lines and dots on axes; and `plot`,
which draws one with matplotlib.

Pages draw the same values as SVG (`display.marks`).
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from forecasteval.common.errors import InputError, extra_package, printable

from .tables import IntervalCell, Table, show_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Six colours that colour-blind readers can tell apart (after Okabe and Ito), dark
# enough for text on white.
COLOURS: Final = ("#0072b2", "#b84a00", "#00785a", "#9a3d7c", "#7a5c00", "#56649a")
GREY: Final = "#757575"
# By kind of mark
_MARKS: Final = {"": GREY, "a": COLOURS[0], "b": COLOURS[1], "ref": "black"}
LABEL: Final = 40  # characters of a name in a chart
_DOTTED: Final = 24  # points of a line that are drawn as dots, too
_STEPS: Final = 5  # at most, between the ticks of an axis
_TICKS: Final = 36  # characters of the ticks of an axis that have all room
_FONTS: Final = (
    "DejaVu Sans",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "WenQuanYi Zen Hei",
    "Microsoft YaHei",
    "PingFang SC",
)


# --- Axes, lines, charts ---


class Axis(NamedTuple):
    """A linear axis from `low` to `high`; `ticks` are (value, text)."""

    title: str = ""
    ticks: Sequence[tuple[float, str]] = ()
    low: float = 0.0
    high: float = 1.0

    def at(self, value: float) -> float:
        """Return the place of a value: 0 at the lower end, 1 at the upper one."""
        if self.high <= self.low:
            return 0.5
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


def fenced_axis(values: Iterable[float], named: Iterable[float]) -> Axis:
    """Make an axis that holds the `named` values, and of the others those within
    Tukey's fences: 1.5 quartile distances beyond the quartiles.

    >>> fenced_axis([1, 1.1, 1.2, 1.3, 9], [0.9]).ticks[-1]
    (1.3, '1.3')
    """
    known = sorted(values)
    quarter = len(known) // 4
    low = known[quarter]
    high = known[-1 - quarter]
    fence = 1.5 * (high - low)
    within = [value for value in known if low - fence <= value <= high + fence]
    return number_axis([*named, *within])


def number_axis(values: Iterable[float | None]) -> Axis:
    """Make an axis that holds the values. Its ticks are multiples of 1, 2 or 5 times
    a power of ten.

    >>> number_axis([0.12, 0.48]).ticks
    [(0.1, '0.1'), (0.2, '0.2'), (0.3, '0.3'), (0.4, '0.4'), (0.5, '0.5')]
    """
    known = [
        value for value in values if value is not None and math.isfinite(value)
    ] or [0.0, 1.0]
    low = min(known)
    high = max(known)
    if high - low < 1e-9 * max(abs(low), abs(high), 0.1):  # ticks have 12 decimals
        low -= 0.5
        high += 0.5
    power = math.floor(math.log10(high - low)) - 1
    steps = [part * 10.0**ten for ten in range(power, power + 3) for part in (1, 2, 5)]

    def count_steps(step: float) -> int:
        return math.ceil(high / step) - math.floor(low / step)

    step = next(step for step in steps if count_steps(step) <= _STEPS)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    known = [round(multiple * step, 12) for multiple in range(first, last + 1)]
    ticks = [(value, show_number(value, digits).replace("-", "−")) for value in known]
    return Axis("", ticks, known[0], known[-1])


def interval_axis(marks: Iterable[IntervalCell], *more: float | None) -> Axis:
    """Make the axis that the intervals of a column share; `more` are
    further values on it.
    """
    values = [
        value
        for mark in marks
        for value in (mark.value, mark.mark, *(mark.bounds or ()))
    ]
    return number_axis([*values, *more])


class ChartLine(NamedTuple):
    """A named line through points (x, y). `dots` are areas of the points
    from 0 to 1.

    A `faint` line is grey and has no name until the pointer is on it.
    """

    name: str
    points: Sequence[tuple[float, float]]
    dots: Sequence[float] = ()
    faint: bool = False

    @property
    def end(self) -> tuple[float, float] | None:
        """Return the last point."""
        if not self.points:
            return None
        return self.points[-1]

    def marks(self) -> list[tuple[float, float, float]]:
        """List the dots: (x, y, area). They are the points of a short line that is not
        faint, and of a line that has areas.
        """
        if not self.dots and (len(self.points) > _DOTTED or self.faint):
            return []
        areas = self.dots or [0.0] * len(self.points)
        return [(x, y, area) for (x, y), area in zip(self.points, areas, strict=True)]


class Panel(NamedTuple):
    """One pair of axes; `reference` are the ends of a dashed line; with `named` the
    lines have labels.
    """

    title: str
    lines: Sequence[ChartLine]
    x: Axis
    y: Axis
    reference: tuple[tuple[float, float], tuple[float, float]] | None = None
    named: bool = True
    height: int = 240  # CSS pixels

    def path(self, line: ChartLine) -> str:
        """Give a line as the path of an SVG element that is 1000 wide."""
        points = []
        width = self.y.high - self.y.low
        for x, y in line.points:
            share = (y - self.y.low) / (width or 1)  # beyond the axis, too
            points.append(f"{1000 * self.x.at(x):.0f} {self.height * (1 - share):.1f}")
        return f"M{'L'.join(points)}"

    def beyond(self, line: ChartLine) -> list[tuple[float, float]]:
        """List the highest and the lowest point of a line that leaves
        the axis there.
        """
        ends = [
            end(line.points, key=itemgetter(1)) for end in (max, min) if line.points
        ]
        return [(x, y) for x, y in ends if not self.y.low <= y <= self.y.high]

    def labels(self, gap: float = 15.0) -> list[tuple[float, float, int]]:
        """Place the names near the ends of the lines, `gap` apart. A name has its share
        of the width, its place in pixels from the top, and the number of its line.
        """
        if not self.named:
            return []
        ends = {}
        heights = []
        for number, line in enumerate(self.lines):
            if line.end and not line.faint:
                x, y = line.end
                ends[number] = self.x.at(x)
                heights.append((self.height * (1 - self.y.at(y)), number))
        return [
            (ends[number], at, number) for at, number in spread(sorted(heights), gap)
        ]


def spread(ends: Sequence[tuple[float, int]], gap: float) -> list[tuple[float, int]]:
    """Choose heights near the ends, in their order, `gap` apart at least."""
    heights: list[float] = []
    lowest = -math.inf
    for height, _ in ends:
        lowest = max(height, lowest + gap)
        heights.append(lowest)
    shifts = [at - height for at, (height, _) in zip(heights, ends, strict=True)]
    shift = sum(shifts) / max(1, len(ends))
    return [(at - shift, number) for at, (_, number) in zip(heights, ends, strict=True)]


class Chart(NamedTuple):
    """A chart: `panels` of lines or, without any, the marks in the cells of `table`,
    which always has the numbers.

    `name` is that of `plot(name)`; `description` says what is drawn and how to read it.
    """

    name: str
    title: str
    description: str
    table: Table = Table((), ())
    panels: Sequence[Panel] = ()


# --- With matplotlib ---


def plot(charts: Mapping[str, Chart], name: str | None = None, ax: Any = None) -> Any:
    """Draw a chart (the first, or `name`) with matplotlib. Returns its Axes, or an
    array of them if it has several panels.

    On `ax` if given: one Axes, or as many as the chart has panels. Raises InputError
    for a name that no chart has, and without matplotlib.
    """
    if name is None:
        name = next(iter(charts), "")
    chart = charts.get(name)
    if chart is None:
        known = ", ".join(charts) or "no charts"
        raise InputError("plot", f"expected one of {known}", printable(repr(name), 60))
    with extra_package("matplotlib", "plot"):
        import matplotlib  # noqa: F401
    import numpy as np

    count = max(1, len(chart.panels))
    axes = np.ravel(ax)
    parents: Any = axes
    if ax is None:
        axes = np.ravel(_make_axes(chart, count))
        parents = [axes[0].figure]
    if len(axes) != count:
        raise InputError(
            "plot", f"{chart.name} has {count} panels", f"{len(axes)} Axes"
        )
    for panel_axes, panel in zip(axes, chart.panels, strict=False):
        _draw_panel(panel_axes, panel)
    if not chart.panels:
        _draw_marks(axes[0], chart.table)
    _choose_fonts(parents)
    if count == 1:
        return axes[0]
    return axes


def _make_axes(chart: Chart, count: int) -> Any:
    """Make the axes of a figure, four beside each other, above the description."""
    from matplotlib import pyplot

    columns = min(count, 4)
    lines = -(-count // 4)
    height = 3.2 * lines
    if not chart.panels:
        height = 0.3 * len(chart.table.rows)
    width = max(6.4, 3.2 * columns)
    figure, grid = pyplot.subplots(
        lines,
        columns,
        squeeze=False,
        figsize=(width, 1 + max(3.2, height)),
        layout="constrained",
    )
    figure.suptitle(chart.title, parse_math=False)
    about = textwrap.fill(chart.description, int(13 * width))
    figure.supxlabel(about, parse_math=False, fontsize="small", color=GREY)
    for spare in grid.flat[count:]:
        spare.set_visible(False)
    return grid.flat[:count]


def _choose_fonts(parents: Iterable[Any]) -> None:
    """Choose fonts for texts in other scripts.

    `rc_context` around `subplots` would undo what a notebook sets with its first
    figure, and it would show no further one.
    """
    from matplotlib import font_manager
    from matplotlib.text import Text

    fonts = set(font_manager.get_font_names())
    known = [name for name in _FONTS if name in fonts]
    for text in (text for parent in parents for text in parent.findobj(Text)):
        if not text.get_text().isascii():
            text.set_fontfamily(known)


def _draw_panel(ax: Axes, panel: Panel) -> None:
    for number, line in enumerate(panel.lines):
        colour = COLOURS[number % len(COLOURS)]
        if line.faint:
            colour = GREY
        ax.plot(*zip(*line.points, strict=True), color=colour)
        for x, y, area in line.marks():
            ax.scatter(x, y, 8 + 110 * area, color=colour, clip_on=False)
        for x, y in panel.beyond(line):
            end = panel.y.low
            arrow = "v"
            if y > panel.y.high:
                end = panel.y.high
                arrow = "^"
            ax.plot(x, end, arrow, color=colour, clip_on=False)
    style: Any = {
        "xycoords": "axes fraction",
        "textcoords": "offset points",
        "va": "center",
    }
    for x, y, number in panel.labels(20.0):
        name = printable(panel.lines[number].name, LABEL)
        label: Any = ax.annotate(name, (x, 1 - y / panel.height), (4, 0), **style)
        label.set(
            color=COLOURS[number % len(COLOURS)], fontsize="small", parse_math=False
        )
    if panel.reference:
        ax.plot(
            *zip(*panel.reference, strict=True), color=GREY, linestyle="--", zorder=0
        )
    _set_axis(ax.xaxis, panel.x)
    _set_axis(ax.yaxis, panel.y)
    ax.set_title(printable(panel.title, LABEL), parse_math=False)
    _label_axes(ax, panel.x.title, panel.y.title)


def _draw_marks(ax: Axes, table: Table) -> None:
    """Draw the first column of marks, a row each, the first on top."""
    at = next(
        index for index, column in enumerate(table.columns) if column.kind == "mark"
    )
    names = next(
        index for index, column in enumerate(table.columns) if column.kind == "text"
    )
    marks: list[Any] = [row[at] for row in table.rows]
    for y, (value, bounds, mark, kind) in enumerate(marks):
        colour = _MARKS[kind]
        if value is not None and math.isfinite(value):
            ax.plot(bounds or [value] * 2, [y, y], color=colour, clip_on=False)
            shape = "o"
            if kind == "ref":
                shape = "D"
            fill = "white"
            if kind:
                fill = colour
            ax.plot(value, y, shape, color=colour, markerfacecolor=fill, clip_on=False)
        if mark is not None:
            ax.plot(mark, y, "|", color=GREY, markersize=14)
    titles = [printable(str(row[names]), LABEL) for row in table.rows]
    _set_axis(ax.xaxis, interval_axis(marks))
    ax.set_yticks(range(len(titles)), titles, parse_math=False)
    ax.set_ylim(len(titles) - 0.4, -0.6)
    _label_axes(ax, table.header[at])


def _set_axis(drawn: Any, axis: Axis) -> None:
    """Set the ends and ticks of an axis; of long texts, such as dates, only
    those at its ends.
    """
    ticks = axis.ticks
    if sum(len(text) for _, text in ticks) > _TICKS:
        ticks = [ticks[0], ticks[-1]]
    texts = [printable(text, LABEL) for _, text in ticks]
    drawn.set_ticks([value for value, _ in ticks], texts, parse_math=False)
    drawn.axes.set(**{f"{drawn.axis_name}lim": (axis.low, axis.high)})


def _label_axes(ax: Axes, x: str, y: str = "") -> None:
    ax.set_xlabel(x, parse_math=False)
    ax.set_ylabel(y, parse_math=False)
    ax.set_axisbelow(True)
    ax.grid(alpha=0.3)
