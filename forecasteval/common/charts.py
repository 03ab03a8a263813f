"""Charts of pages and notebooks: their forms, drawn on axes of matplotlib, and `plot`, which draws one of them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from .errors import InputError, printable
from .pages import Chart, Panel
from .report import Table, display_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito: told apart by colour-blind readers. INK and GREY follow the scheme of a page.
BLUE, ORANGE, GREEN, RED, PURPLE, SKY = "#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9"
LINES: Final = (BLUE, RED, GREEN, PURPLE, ORANGE, SKY)
INK, GREY = "#000000", "#757575"
LABEL: Final = 40  # characters of a name in a chart
_CHAR: Final = 0.088  # inches of a character at most
_NO_XML: Final = re.compile("[\ufffe\uffff]")
_FONTS: Final = ("DejaVu Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "WenQuanYi Zen Hei", "Microsoft YaHei",
                 "PingFang SC", "Arial Unicode MS")  # fmt: skip
_STYLE: Final[dict[Any, Any]] = {
    "axes.edgecolor": GREY, "axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": 10,
    "axes.titleweight": "bold", "axes.axisbelow": True, "axes.labelsize": 10,
    "xtick.labelsize": 10, "ytick.labelsize": 10,
    "font.size": 10, "legend.fontsize": 10, "legend.frameon": False, "grid.color": GREY, "grid.alpha": 0.3,
    "grid.linewidth": 0.6, "text.parse_math": False, "axes.formatter.use_mathtext": False, "axes.unicode_minus": True,
}  # fmt: skip


def label(name: object) -> str:
    """A stranger's name as a chart may show it."""
    return _NO_XML.sub("?", printable(name, LABEL))


def label_margin(names: Sequence[object], least: float = 0.6) -> float:
    """Inches that such labels need at the left of a chart."""
    return max([least, *(display_width(label(name)) * _CHAR + 0.15 for name in names)])


@contextmanager
def style() -> Iterator[None]:
    """What charts look like, whatever the reader's own settings; only fonts that this system has."""
    import matplotlib
    from matplotlib import font_manager

    known = set(font_manager.get_font_names())
    fonts = [name for name in _FONTS if name in known]
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({**_STYLE, "font.family": fonts})
        yield


def plot(charts: Mapping[str, Chart], name: str | None = None, ax: Axes | None = None) -> Any:
    """Draw a chart (the first, or `name`): its Axes, or an array of them if it has several panels.

    On `ax` if one is given and one is needed, else on a figure of its own, as pyplot makes it. Raises InputError for
    a name that is none of the charts.
    """
    chosen = charts.get(name if name is not None else next(iter(charts), ""))
    if chosen is None:
        raise InputError("plot", f"expected one of {', '.join(charts) or 'no charts'}", printable(repr(name), 60))
    if ax is not None:
        if len(chosen.panels) != 1:
            raise InputError("plot", f"{chosen.name} draws {len(chosen.panels)} panels, and cannot be given one ax")
        chosen.panels[0].draw(ax)
        ax.set_title(chosen.title, parse_math=False)
        return ax
    from matplotlib import pyplot

    with style():
        top = 0.8 if any(panel.title for panel in chosen.panels) else 0.4
        figure, axes = draw_chart(chosen, pyplot.figure(), top)
    figure.suptitle(chosen.title, parse_math=False)
    return axes.flat[0] if len(chosen.panels) == 1 else axes


def draw_chart(chart: Chart, figure: Figure, top: float = 0.35) -> tuple[Figure, Any]:
    """The chart on a figure that gets its size, `top` inches above it; all axes, those without a panel hidden."""
    columns = min(chart.columns, len(chart.panels)) or 1
    rows = -(-len(chart.panels) // columns) or 1
    bottom, gap = chart.bottom, 0.3
    width = columns * (chart.margin + chart.width + chart.right)
    height = top + rows * (chart.height + bottom) + (rows - 1) * gap
    figure.set_size_inches(width, height)
    axes = figure.subplots(rows, columns, squeeze=False)
    for place, one in enumerate(axes.flat):
        row, column = divmod(place, columns)
        left = chart.margin + column * (chart.margin + chart.width + chart.right)
        base = height - top - row * (chart.height + bottom + gap) - chart.height
        one.set_position([left / width, base / height, chart.width / width, chart.height / height])
        if place < len(chart.panels):
            panel = chart.panels[place]
            panel.draw(one)
            if panel.title:
                one.set_title(label(panel.title), loc="left", parse_math=False)
        else:
            one.set_visible(False)
    return figure, axes


# --- Forms ---


class Span(NamedTuple):
    """A value with its interval, on a line of its own; `group` chooses the colour."""

    name: str
    value: float | None
    interval: Sequence[float] | None
    group: int = 0


def name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Names at the left of horizontal rows, the first on top."""
    ax.set_yticks(range(len(names)), [label(name) for name in names], parse_math=False)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)


def draw_spans(
    ax: Axes, spans: Sequence[Span], axis: str, reference: float | None = None, marks: Sequence[float | None] = ()
) -> Axes:
    """A forest plot: a dot and its interval per row; a line at `reference`, an upright mark per row."""
    if reference is not None:
        ax.axvline(reference, color=GREY, linewidth=1, linestyle=(0, (4, 3)))
    for row, value in enumerate(marks):
        if value is not None:
            ax.plot([value], [row], "|", color=INK, markersize=13, markeredgewidth=1.6)
    for row, span in enumerate(spans):
        if span.value is None or not math.isfinite(span.value):
            continue
        colour, filled = LINES[span.group % len(LINES)], span.group == 0
        if span.interval:
            ax.plot(list(span.interval), [row, row], color=colour, linewidth=1.8, solid_capstyle="butt")
        ax.plot([span.value], [row], "o" if filled else "D", color=colour, markersize=6 if filled else 5)
    name_rows(ax, [span.name for span in spans])
    ax.grid(axis="x", clip_on=False)
    ax.set_xlabel(axis, parse_math=False)
    return ax


def forest_chart(
    name: str, title: str, description: str, spans: Sequence[Span], axis: str, table: Table,
    reference: float | None = None, marks: Sequence[float | None] = (),
) -> Chart:  # fmt: skip
    """A chart that is one forest plot (`draw_spans`), as high as it has rows and with room for their names."""
    return Chart(
        name, title, description, [Panel("", lambda ax: draw_spans(ax, spans, axis, reference, marks))], table,
        height=0.4 + 0.28 * len(spans), margin=label_margin([span.name for span in spans]),
    )  # fmt: skip


def draw_ranks(ax: Axes, spans: Sequence[Span]) -> Axes:
    """`draw_spans` of ranks, beside rows that have their names already."""
    draw_spans(ax, [span._replace(name="") for span in spans], "rank")
    ax.locator_params(axis="x", integer=True)
    return ax


def draw_bars(ax: Axes, spans: Sequence[Span], points: Sequence[Sequence[float]], axis: str) -> Axes:
    """Bars from 0 with intervals, and the points behind each: equal ones make one dot, the larger the more."""
    for row, span in enumerate(spans):
        if span.value is None or not math.isfinite(span.value):
            continue
        ax.barh([row - 0.13], [span.value], height=0.34, color=LINES[span.group % len(LINES)])
        if span.interval:
            ax.plot(list(span.interval), [row - 0.13] * 2, color=INK, linewidth=1.4, marker="|", markersize=7)
    most = max([1, *(len(values) for values in points)])
    for row, values in enumerate(points):
        counts: dict[float, int] = {}
        for value in values:
            place = round(value * 40) / 40
            counts[place] = counts.get(place, 0) + 1
        sizes = [14 + 110 * count / most for count in counts.values()]
        ax.scatter(list(counts), [row + 0.24] * len(counts), s=sizes, color=ORANGE, edgecolors=INK, linewidths=0.5)
    name_rows(ax, [span.name for span in spans])
    ax.set_xlim(-0.02, 1.02)
    ax.grid(axis="x", clip_on=False)
    ax.set_xlabel(axis, parse_math=False)
    return ax


def draw_lines(
    ax: Axes, lines: Sequence[tuple[str, Sequence[Any], Sequence[float]]], axes: tuple[str, str], marker: str = ""
) -> Axes:
    """Lines, their names at their right, in the order of their ends; after six colours the lines are dashed."""
    for number, (_, xs, ys) in enumerate(lines):
        dashes = ("-", (0, (5, 2)), (0, (1, 1.5)))[number // len(LINES) % 3]
        ax.plot(xs, ys, color=LINES[number % len(LINES)], linewidth=1.5, linestyle=dashes, marker=marker, markersize=4)
    ax.grid(clip_on=False)
    ax.set_xlabel(axes[0], parse_math=False)
    ax.set_ylabel(axes[1], parse_math=False)
    low, high = ax.get_ylim()
    ends = [(next((y for y in reversed(ys) if math.isfinite(y)), low), n) for n, (_, _, ys) in enumerate(lines)]
    gap = 0.18 * ax.figure.dpi / ax.bbox.height * (high - low)  # a line of text
    beside = ax.get_yaxis_transform()
    for at, number in _apart(sorted(ends), gap):
        ax.plot([1.02], [at], "s", color=LINES[number % len(LINES)], markersize=5, transform=beside, clip_on=False)
        ax.text(1.04, at, label(lines[number][0]), va="center", transform=beside, parse_math=False)
    ax.set_ylim(low, high)
    return ax


def _apart(ends: Sequence[tuple[float, int]], gap: float) -> list[tuple[float, int]]:
    """Places near the ends, in their order, `gap` apart at least."""
    places: list[float] = []
    for y, _ in ends:
        places.append(max(y, places[-1] + gap) if places else y)
    shift = sum(at - y for at, (y, _) in zip(places, ends, strict=True)) / max(1, len(ends))
    return [(at - shift, number) for at, (_, number) in zip(places, ends, strict=True)]


def draw_matrix(ax: Axes, names: Sequence[str], matrix: Sequence[Sequence[float | None]]) -> Axes:
    """A heat map of values from −1 (orange) over 0 (white) to 1 (blue), each written in its square."""
    for row, values in enumerate(matrix):
        for column, value in enumerate(values):
            if value is None or not math.isfinite(value):
                continue
            colour = BLUE if value >= 0 else ORANGE
            ax.barh([row], [0.98], height=0.98, left=column - 0.49, color=colour, alpha=round(abs(value), 2) * 0.75)
            ax.text(column, row, f"{value:.2f}".replace("0.", ".").replace("-", "−"), ha="center", va="center")
    name_rows(ax, names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlim(-0.5, len(names) - 0.5)
    ax.set_xticks(range(len(names)), [label(name) for name in names], rotation=35, ha="right", parse_math=False,
                  rotation_mode="anchor")  # fmt: skip
    return ax


def draw_counts(
    ax: Axes, bars: Sequence[tuple[float, int]], width: float, within: tuple[float, float], axes: tuple[str, str]
) -> Axes:
    """A histogram: (left edge, count) of each bar; dashed lines at `within`."""
    ax.bar([left + width / 2 for left, _ in bars], [count for _, count in bars], width=width * 0.9, color=BLUE)
    for edge in within:
        ax.axvline(edge, color=GREY, linewidth=1, linestyle=(0, (4, 3)))
    ax.set_xlim(bars[0][0], bars[-1][0] + width)
    ax.set_ylim(0, max(1, *(count for _, count in bars)) * 1.08)
    ax.locator_params(axis="y", integer=True)
    ax.grid(axis="y", clip_on=False)
    ax.set_xlabel(axes[0], parse_math=False)
    ax.set_ylabel(axes[1], parse_math=False)
    return ax


def draw_tally(ax: Axes, tallies: Sequence[tuple[str, int, int, int]]) -> Axes:
    """Wins, ties and losses of each row as parts of one bar, each with its number."""
    for row, (_, *counts) in enumerate(tallies):
        left, total = 0.0, sum(counts) or 1
        for count, colour in zip(counts, (BLUE, GREY, RED), strict=True):
            ax.barh([row], [count / total], left=left, height=0.62, color=colour, alpha=0.55)
            if count / total > 0.06:
                ax.text(left + count / total / 2, row, str(count), ha="center", va="center")
            left += count / total
    name_rows(ax, [name for name, *_ in tallies])
    ax.set_xlim(0, 1)
    ax.set_xlabel("share of the questions")
    return ax


def draw_reliability(ax: Axes, points: Sequence[tuple[float, float, int]]) -> Axes:
    """(mean probability, frequency, count) of each bin, a dot by count, against the diagonal."""
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle=(0, (4, 3)))
    most = max([1, *(count for _, _, count in points)])
    xs, ys = [x for x, _, _ in points], [y for _, y, _ in points]
    ax.plot(xs, ys, color=BLUE, linewidth=1)
    ax.scatter(xs, ys, s=[10 + 110 * count / most for _, _, count in points], color=BLUE)
    ax.set_xlim(-0.04, 1.04)
    ax.set_ylim(-0.04, 1.04)
    ax.set_xticks([0, 0.5, 1])
    ax.set_yticks([0, 0.5, 1])
    ax.grid(clip_on=False)
    return ax
