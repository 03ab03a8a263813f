"""What a page shows, without a word of HTML: sections of lines, tables, charts, and records that open."""

from __future__ import annotations

import hashlib
import heapq
import html
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from .charts import Chart
from .errors import printable
from .report import Cell, Column, Link, Mark, Marked, Table

MOST: Final = 3000  # records that a page shows
BYTES: Final = 3_400_000  # of the texts of all its records: a page has less than 6 MB
TEXT: Final = 20_000  # characters of a stranger's text in an opened record
CELLS: Final = 25_000  # of a table
CHARTED: Final = 40  # rows of a chart
CUT: Final = 320  # characters of a stranger's text in one cell
_BLANK_LINES: Final = re.compile(r"\n(?: *\n)+")
_ANCHOR: Final = re.compile(r"[0-9A-Za-z_-]{1,60}")
_HEX: Final = re.compile(r"[0-9a-f]{12,}")


# --- Blocks ---


class Beside(NamedTuple):
    """Two texts side by side inside a record, each with a title."""

    titles: tuple[str, str]
    texts: tuple[str | Marked, str | Marked]


Detail = Cell | Table | Beside  # what stands inside a record


class Record(NamedTuple):
    """A row of records that opens: its cells, and (label, text or table) of what is inside; `key` is its address."""

    key: str
    cells: Sequence[Cell]
    details: Sequence[tuple[str, Detail]] = ()
    failed: bool = False


class Records(NamedTuple):
    """Rows to look through: opened, searched, filtered by their choices, sorted, downloaded as CSV.

    `name` tells the records of one page apart in its address. `note` says which rows there are.
    """

    name: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Record]
    note: str

    def chart(self) -> Chart | None:
        """The marks of a column as a chart; None if there is none."""
        if not self.rows or not any(isinstance(cell, Mark) for cell in self.rows[0].cells):
            return None
        return Chart(self.name, self.title, self.note, Table(self.columns, [row.cells for row in self.rows]))


Block = str | Table | Chart | Records


class Section(NamedTuple):
    """A heading with its blocks; `folded` ones open when their heading is clicked."""

    title: str
    blocks: Sequence[Block]
    folded: bool = False


class Page(NamedTuple):
    """A page: what it is about, its figures at the top (name, value, remark), its sections, the signature below.

    `key` identifies what is shown; it is in the head of the page, if there is one. `links` lead to other pages.
    """

    title: str
    lead: str
    figures: Sequence[tuple[str, str, str]]
    sections: Sequence[Section]
    signature: str
    key: str = ""
    links: Sequence[Link] = ()

    def blocks(self, kind: type[Any]) -> list[Any]:
        """The blocks of a kind, in their order."""
        return [block for section in self.sections for block in section.blocks if isinstance(block, kind)]

    def charts(self) -> dict[str, Chart]:
        """The charts by name, in their order: also those that are a column of marks of records."""
        blocks = [block for section in self.sections for block in section.blocks]
        charts = [block.chart() if isinstance(block, Records) else block for block in blocks]
        return {chart.name: chart for chart in charts if isinstance(chart, Chart)}


# --- How much a page shows ---


def cut_table(table: Table) -> list[Block]:
    """The table, or its first rows and how many there are."""
    most = min(MOST, CELLS // len(table.columns))
    if len(table.rows) <= most:
        return [table]
    return [table._replace(rows=table.rows[:most]), f"The first {most} of {len(table.rows)} rows."]


def choose_places(items: Iterable[Any], order: Callable[[Any], Any], most: int = MOST) -> list[int]:
    """The places of the items that a page shows, the least `order` first; equal ones stay in their order."""
    return [place for _, place in heapq.nsmallest(most, ((key, place) for place, key in enumerate(map(order, items))))]


def text_limit(texts: Iterable[str], most: int = BYTES) -> int:
    """How many characters of each text fit a page: 20,000, or fewer so that all of them take `most` bytes."""
    sizes = [len(html.escape(text).encode("utf-8", "replace")) for text in texts]
    limit = TEXT
    while limit > CUT and sum(min(size, limit) for size in sizes) > most:
        limit = limit * 4 // 5
    return limit


def make_keys(ids: Iterable[object], prefix: str = "q") -> list[str]:
    """A short address for each id, different for equal ids: `q-6873e6a7` for a checksum, else the id if it is plain."""
    keys: dict[str, None] = {}
    for name in map(str, ids):
        short = name[:8] if _HEX.fullmatch(name) else name
        if not _ANCHOR.fullmatch(short) or f"{prefix}-{short}" in keys:
            short = name if _ANCHOR.fullmatch(name) else _checksum(name)
        key, number = f"{prefix}-{short}", 1
        while key in keys:
            number += 1
            key = f"{prefix}-{short}-{number}"
        keys[key] = None
    return list(keys)


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def count_rows(items: Sequence[Mapping[str, Any]], shown: int, first: str) -> str:
    """Which records a page shows: `first` says which come first."""
    if shown == len(items):
        return f"All {shown} questions, {first} first."
    return f"{shown} of {len(items)} questions, {first} first. All of them are in the JSON that --save writes."


# --- Texts of strangers ---


def show_text(text: object, limit: int = CUT) -> str:
    """A stranger's text for a cell: its lines, nothing in them that is not shown, cut to `limit` characters."""
    shown = str(text)
    cut = f"{shown[: limit - 1]}…" if len(shown) > limit else shown
    return _BLANK_LINES.sub("\n\n", "\n".join(printable(line.replace("\t", " ")) for line in cut.split("\n")))


def mark(text: str, span: tuple[int, int] | None, limit: int = CUT) -> Cell:
    """The text around a part of it, which is marked; the beginning of the text if there is none."""
    if span is None:
        return show_text(text, limit)
    at, behind = span
    begin = 0 if behind < limit else max(0, at - limit // 2)
    before = ("…" if begin else "") + show_text(text[begin:at], at - begin + 1)
    end = max(begin + limit, behind)
    after = show_text(text[behind:end], limit + 1) + ("…" if end < len(text) else "")
    return Marked(before, show_text(text[at:behind], limit), after)
