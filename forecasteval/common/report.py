"""Reports as lines and tables, for the screen and for notebooks."""

from __future__ import annotations

import html
import math
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple


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

    `least` are the titles of columns that a narrow terminal goes without first, the least important in front.
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
    """The table without the columns for which there is no room, `least` first, then from the right; they are named."""
    kept, dropped = list(range(len(table.header))), list[str]()
    order = [list(table.header).index(title) for title in table.least]
    order += [place for place in reversed(kept) if place not in order]
    while True:
        text = text_table(
            [table.header[place] for place in kept], [[row[place] for place in kept] for row in table.rows],
            "".join(table.align[place] for place in kept),
        )  # fmt: skip
        if width is None or len(kept) < 3 or max(map(display_width, text.split("\n"))) <= width:
            break
        place = order.pop(0)
        kept.remove(place)
        dropped.append(table.header[place])
    return f"{text}\n(no room for: {', '.join(dropped)})" if dropped else text


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
