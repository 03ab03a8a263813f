"""Pages of blocks as HTML: those that are not yet made of `display.html`'s elements.

Every text gets into the HTML by `tag`, which escapes it. The policy of a page allows only its style
and its script, by their checksums; neither contains anything that is not ours.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Final
from urllib.parse import quote

from . import html
from .charts import Axis, Chart, cell_axis
from .html import Html, tag
from .pages import CELLS, MOST, Beside, Block, Detail, Page, Record, Records, Section
from .svg import draw_mark, draw_panel, show_ends
from .tables import Bar, Cell, Column, Interval, Link, Links, Mark, Marked, Shade, Table

_ONE_LINE: Final = 48  # characters of a cell that is not broken
_FOLDED: Final = 100  # rows from which on the style shows the first 50 only
_SCROLLED: Final = 500  # characters from which on a text may be higher than its box
_PAPER: Final = (
    "On paper a table has all rows, unless a search or filters stand above it. "
    "Closed rows stay closed."
)


# --- Files ---


# --- The page ---


AnyPage = html.Page | Page  # until no page is made of blocks


def render(page: AnyPage) -> str:
    """The page as HTML; the same page gives the same bytes."""
    if isinstance(page, html.Page):
        return html.render(page)
    style, script, policy = _frame()
    sections = list(
        zip(page.sections, _anchors(section.title for section in page.sections), strict=True)
    )
    contents = [
        tag("a", section.title, href=f"#{name}") for section, name in sections if not section.folded
    ]
    head = [
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        *([tag("meta", name="key", content=page.key)] if page.key else []),
        tag("title", page.title),
        tag("style", style),
    ]
    main = [
        *([tag("p", Html(" ".join(map(_show, page.links))))] if page.links else []),
        tag("h1", page.title),
        *(tag("p", line, class_="lead") for line in page.lead.split("\n")),
        *([tag("dl", *map(_figure, page.figures), class_="figures")] if page.figures else []),
        *([tag("nav", *contents, aria_label="Contents")] if len(sections) > 2 else []),
        tag("p", _PAPER, class_="paper"),
        *(_section(section, name) for section, name in sections),
        *([tag("footer", tag("p", tag("code", page.signature)))] if page.signature else []),
    ]
    parts = [
        '<!DOCTYPE html>\n<html lang="en">',
        tag("head", *head),
        "<body><main>",
        *main,
        "</main>",
    ]
    return "".join([*parts, tag("script", script), "</body></html>\n"])


@lru_cache(maxsize=1)
def _frame() -> tuple[Html, Html, str]:
    """Style and script of all pages, and the policy that allows them."""
    folder = Path(__file__).with_name("templates")
    style, script = (
        (folder / f"blocks.{end}").read_text(encoding="utf-8").strip() for end in ("css", "js")
    )
    allowed = f"style-src {_hash(style)}; script-src {_hash(script)}"
    return (
        Html(style),
        Html(script),
        f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'",
    )


def _hash(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def _anchors(titles: Iterable[str]) -> list[str]:
    """The addresses of headings, none of them twice."""
    anchors: list[str] = []
    for title in titles:
        name = "s-" + (re.sub("[^a-z0-9]+", "-", title.lower()).strip("-")[:40] or "section")
        anchors.append(name if name not in anchors else f"{name}-{len(anchors)}")
    return anchors


def _figure(figure: tuple[str, str, str]) -> Html:
    name, value, remark = figure
    return tag(
        "div",
        tag("dt", name),
        tag("dd", tag("b", value), *([" ", tag("span", remark)] if remark else [])),
    )


def _section(section: Section, name: str) -> Html:
    blocks = [
        _block(block, section.title, place)
        for place, block in enumerate(section.blocks, 1)
        if block
    ]
    content = [tag("h2", section.title), *blocks]
    if section.folded:
        content = [tag("details", tag("summary", content[0]), *content[1:], class_="fold")]
    return tag("section", *content, id=name)


def _block(block: Block, title: str, place: int) -> Html:
    if isinstance(block, str):
        return tag("p", block)
    if isinstance(block, Table):
        return _table(block, f"{title}, table {place}")
    return _records(block) if isinstance(block, Records) else _chart(block, title)


def _chart(chart: Chart, title: str) -> Html:
    """A chart: its panels, below which its table opens, or else the table, whose cells are the
    marks.
    """
    heading = [tag("h3", chart.title)] if chart.title != title else []
    content = [_table(chart.table, f"{title}: {chart.title}")]
    if chart.panels:
        panels = [
            tag(
                "div",
                *([tag("p", panel.title, class_="panel")] if panel.title else []),
                draw_panel(chart, panel),
            )
            for panel in chart.panels
        ]
        small = "panels small" if len(panels) > 3 else "panels"
        content = [
            tag("div", *panels, class_=small),
            tag("details", tag("summary", "The same numbers"), *content),
        ]
    return tag("figure", tag("figcaption", *heading, tag("p", chart.description)), *content)


# --- Tables ---


def _table(table: Table, caption: str) -> Html:
    """A table in a box that scrolls."""
    columns, rows = table.columns, table.rows[: min(MOST, CELLS // len(table.columns))]
    axes = _axes(columns, rows)
    matrix = "matrix" if any(isinstance(cell, Shade) for row in rows for cell in row) else None
    heads = [
        tag("th", *_head(column, axis), scope="col", class_="n" if column.side == ">" else None)
        for column, axis in zip(columns, axes, strict=True)
    ]
    body = [tag("tr", *map(_cell, row, columns, axes)) for row in rows]
    content = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *body), class_=matrix)
    box = tag("div", content, class_="wide", tabindex=0, role="region", aria_label=caption)
    left_out = f"The first {len(rows)} of {len(table.rows)} rows."
    return Html(box + _more(len(rows)) + tag("p", left_out) * (len(rows) < len(table.rows)))


def _cell(cell: Cell, column: Column, axis: Axis | None) -> Html:
    """A cell of a table, whose class says that it is a number, a mark, a text of one line, or a
    longer one.
    """
    kind = "m" if isinstance(cell, Mark) else "n" if column.side == ">" else "t"
    if kind == "t" and len(cell if isinstance(cell, str) else str(cell[0])) <= _ONE_LINE:
        kind = "k"
    return Html(f"<td class={kind}>{_show(cell, axis)}</td>")


def _axes(columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> list[Axis | None]:
    """The axis of every column of intervals or bars."""
    by_column = zip(*rows, strict=True) if rows else ((),) * len(columns)
    return [
        cell_axis(cells) if any(type(cell) in (Interval, Bar) for cell in cells) else None
        for cells in by_column
    ]


def _head(column: Column, axis: Axis | None) -> list[str]:
    return [column.title, show_ends(axis)] if axis else [column.title]


def _more(count: int) -> Html:
    """What unfolds a long table; it needs no script."""
    box = tag("label", tag("input", type="checkbox"), f" Unfold all {count} rows")
    return tag("p", box, class_="more") if count > _FOLDED else Html()


# --- Rows that open ---


def _records(block: Records) -> Html:
    """The rows below their titles; what stands in each of them thousands of times is put together
    without `tag`.
    """
    axes = _axes(block.columns, [row.cells for row in block.rows])
    heads, begins = [], []
    for column, axis in zip(block.columns, axes, strict=True):
        kind, title = column.kind[0], escape(column.title)
        heads.append(
            tag(
                "span",
                *_head(column, axis),
                class_=kind,
                data_kind=column.kind,
                data_best=column.best,
            )
        )
        begins.append(
            f"<span class={kind}" + f' data-l="{title}"' * (column.kind not in ("long", "filter"))
        )
    return tag(
        "div",
        tag("p", block.note),
        tag("div", *heads, class_="head"),
        tag("div", *(_record(row, begins, axes) for row in block.rows), class_="rows"),
        _more(len(block.rows)),
        class_="records",
        id=block.name,
        data_name=block.title,
    )


def _record(row: Record, begins: Sequence[str], axes: Sequence[Axis | None]) -> Html:
    cells = zip(begins, row.cells, axes, strict=True)
    summary = "".join(
        [f"{begin}{_sort_value(cell)}>{_show(cell, axis)}</span>" for begin, cell, axis in cells]
    )
    details = "".join(
        [
            f"<dt>{escape(label)}</dt>{_detail('dd', part, label, row.key)}"
            for label, part in row.details
        ]
    )
    begin = f'<details id="{escape(row.key)}"' + ' class="failed"' * row.failed
    return Html(f"{begin}><summary>{summary}</summary><dl>{details}</dl></details>\n")


def _sort_value(cell: Cell) -> str:
    """The number of a mark as an attribute."""
    return f' data-v="{"" if cell.value is None else cell.value}"' if isinstance(cell, Mark) else ""


def _detail(name: str, content: Detail, *caption: str) -> Html:
    """An element with what is inside a row; the keyboard reaches a text that may be higher than its
    box.
    """
    if isinstance(content, Table):
        return tag(name, _table(content, " ".join(caption)))
    if isinstance(content, Beside):
        pairs = zip(content.titles, content.parts, strict=True)
        parts = (
            tag("div", tag("b", title), _detail("div", part, *caption, title))
            for title, part in pairs
        )
        return tag(name, tag("div", *parts, class_="beside"))
    shown = _show(content)
    scrolls = ' tabindex="0"' * (len(shown) + 30 * shown.count("\n") > _SCROLLED)
    return Html(f"<{name} class=said{scrolls}>{shown}</{name}>")


def _show(cell: Cell, axis: Axis | None = None) -> Html:
    """The content of a cell."""
    if isinstance(cell, str):
        return Html(escape(cell))
    if isinstance(cell, Marked):
        return Html(escape(cell.before) + tag("mark", cell.marked) + escape(cell.after))
    if isinstance(cell, Link):
        return (
            tag("a", cell.text, href=_target(cell))
            if cell.file or cell.to
            else Html(escape(cell.text))
        )
    return (
        Html(", ".join(map(_show, cell.links)))
        if isinstance(cell, Links)
        else draw_mark(cell, axis)
    )


def _target(link: Link) -> str:
    """An anchor, or a file beside the page; `./` before it, or else `javascript:…` would be no name
    of a file.
    """
    file = f"./{quote(link.file.encode('utf-8', 'surrogateescape'))}" if link.file else ""
    return f"{file}#{link.to}" if link.to else file
