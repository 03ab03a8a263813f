"""Reports as lines and tables, for the screen and for notebooks."""

from __future__ import annotations

import html
import math
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

_CUT: Final = 30  # columns of a terminal that a text at the end of a row is cut to, at least


def display_width(text: str) -> int:
    """Terminal columns of `text`: wide East Asian characters take two, combining marks none.

    >>> display_width("abc"), display_width("万亿")
    (3, 4)
    """
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) > 0 for char in text)


def text_table(header: Sequence[str], rows: Iterable[Sequence[str]], align: str) -> str:
    """Columns two spaces apart under `header`; `align` holds `<` or `>` for each column."""
    table = [tuple(header), *(tuple(row) for row in rows)]
    widths = [max(map(display_width, column)) for column in zip(*table, strict=True)]
    lines = []
    for row in table:
        cells = []
        for cell, width, side in zip(row, widths, align, strict=True):
            pad = " " * (width - display_width(cell))
            cells.append(pad + cell if side == ">" else cell + pad)
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


class Table(NamedTuple):
    """A table of a report; `align` holds `<` or `>` for each column.

    `least` are the titles of columns that a narrow terminal goes without first, the least important in front. A text in
    the last column is cut before that.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    align: str
    least: Sequence[str] = ()


Report = list["str | Table"]  # lines and tables, top to bottom


def format_text(report: Report, width: int | None = None) -> str:
    """A report as a screen of `width` columns shows it; without a width tables are as wide as they are."""
    return "\n".join(block if isinstance(block, str) else _fit_table(block, width) for block in report)


def print_report(report: Report) -> None:
    """Print a report; tables fit the width of a terminal, and stay whole in a file or a pipe."""
    print(format_text(report, shutil.get_terminal_size().columns if sys.stdout.isatty() else None))


def _fit_table(table: Table, width: int | None) -> str:
    """The table without the columns for which there is no room; they are named.

    Columns without any value go first, then `least`, then from the right. Where the last column is text, it is cut to
    the room that is left, 30 columns or more, and no further column goes.
    """
    kept, dropped = list(range(len(table.header))), list[str]()
    empty = [place for place in kept if all(row[place] in ("", "–") for row in table.rows)]
    least = [list(table.header).index(title) for title in table.least]
    order = iter(dict.fromkeys([*empty, *least, *reversed(kept)]))
    while not _fits(text := _show_columns(table, kept), width):
        place, rest = next(order), _show_columns(table, kept[:-1])
        if place not in empty and table.align[kept[-1]] == "<" and _fits(rest, (width or 0) - _CUT - 2):
            text = "\n".join(_cut_line(line, width or 0) for line in text.split("\n"))
            break
        if len(kept) < 3:
            break
        kept.remove(place)
        dropped.append(table.header[place])
    return f"{text}\n(no room for: {', '.join(dropped)})" if dropped else text


def _show_columns(table: Table, places: Sequence[int]) -> str:
    rows = [[row[place] for place in places] for row in table.rows]
    return text_table([table.header[place] for place in places], rows, "".join(table.align[place] for place in places))


def _fits(text: str, width: int | None) -> bool:
    return width is None or max(map(display_width, text.split("\n"))) <= width


def _cut_line(line: str, width: int) -> str:
    """The line, or its beginning and an ellipsis on `width` columns of a terminal."""
    if display_width(line) <= width:
        return line
    end = width
    while display_width(line[:end]) >= width:
        end -= 1
    return line[:end] + "…"


def format_html(report: Report) -> str:
    """A report as a notebook shows it; every text is escaped."""
    parts = []
    for block in report:
        if isinstance(block, str):
            parts.append(f"<div>{html.escape(block)}</div>" if block else "")
            continue
        sides = ["left" if side == "<" else "right" for side in block.align]
        rows = "".join(_html_row("td", row, sides) for row in block.rows)
        parts.append(f"<table><thead>{_html_row('th', block.header, sides)}</thead><tbody>{rows}</tbody></table>")
    return "\n".join(filter(None, parts))


def _html_row(tag: str, cells: Sequence[str], sides: Sequence[str]) -> str:
    shown = "".join(
        f'<{tag} style="text-align: {side}">{html.escape(cell)}</{tag}>'
        for cell, side in zip(cells, sides, strict=True)
    )
    return f"<tr>{shown}</tr>"


def show_number(value: float | None, digits: int = 4) -> str:
    """`digits` decimals; – if there is no number."""
    return "–" if value is None or math.isnan(value) else f"{value:.{digits}f}"


def show_interval(bounds: Sequence[float] | None) -> str:
    return f"[{bounds[0]:.4f}, {bounds[1]:.4f}]" if bounds else "–"


def format_signature(signature: Mapping[str, Any]) -> str:
    """The signature on one line, checksums cut to 12 digits."""
    parts = [str(signature["evaluator"])]
    for key, value in signature.items():
        if key == "code_sha256":  # in JSON only: it changes with every edit of ours
            continue
        if key.endswith("sha256"):
            parts.append(f"{key.removesuffix('_sha256')}:{value[:12]}")
        elif isinstance(value, (Mapping, list)):
            values = value.values() if isinstance(value, Mapping) else value
            parts.append(f"{key}:" + "/".join(f"{number:g}" for number in values))
        elif key != "evaluator" and value is not None:
            parts.append(f"{key}:{value}")
    return "signature: " + " ".join(parts)
