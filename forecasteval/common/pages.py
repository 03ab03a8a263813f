"""What a page shows of a result, without a word of HTML: sections of lines, tables, charts and records."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from .errors import printable
from .records import dump_json
from .report import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST: Final = 2000  # records that a page shows
CUT: Final = 320  # characters of a stranger's text in one cell
_BLANK_LINES: Final = re.compile(r"\n(?: *\n)+")
_AROUND: Final = 120  # characters before a part that is marked


class Panel(NamedTuple):
    """One pair of axes of a chart."""

    title: str
    draw: Callable[[Axes], object]


class Chart(NamedTuple):
    """A picture: the same numbers are in `table`, and `description` says what is drawn and how to read it.

    `name` is that of `plot(name)`. A panel is `width` × `height` inches inside, with `margin`, `right` and `bottom`
    inches around it for labels; several stand in `columns`.
    """

    name: str
    title: str
    description: str
    panels: Sequence[Panel]
    table: Table
    width: float = 4.4
    height: float = 2.4
    margin: float = 1.2
    bottom: float = 0.5
    right: float = 0.25
    columns: int = 1


class Marked(NamedTuple):
    """A text of which a part is marked."""

    before: str
    marked: str
    after: str


class Link(NamedTuple):
    """A text that leads to a file beside the page."""

    text: str
    file: str


Cell = str | Marked | Link


class Column(NamedTuple):
    """A column of records: numbers (sorted as such), kinds (to be chosen from a list), or text."""

    title: str
    kind: str = "text"  # text, long, number or choice


class Records(NamedTuple):
    """Many rows to look through: searched, filtered by the columns of kinds, sorted. `told` says which are shown."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    told: str


class Linked(NamedTuple):
    """A table with links in it."""

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    align: str


Block = str | Table | Linked | Chart | Records


class Section(NamedTuple):
    title: str
    blocks: Sequence[Block]


class Page(NamedTuple):
    """A page: what it is about, its figures at the top (name, value, remark), its sections, the signature below.

    `key` tells whether a page that was written shows the same; it is in its head.
    """

    title: str
    lead: str
    figures: Sequence[tuple[str, str, str]]
    sections: Sequence[Section]
    signature: str
    key: str

    def charts(self) -> dict[str, Chart]:
        """The charts by name, in their order."""
        blocks = [block for section in self.sections for block in section.blocks]
        return {block.name: block for block in blocks if isinstance(block, Chart)}


def signature_key(signature: Mapping[str, Any]) -> str:
    """The key of a run's page."""
    return hashlib.sha256(dump_json(signature).encode()).hexdigest()


def cut_table(table: Table) -> list[Block]:
    """The table, or its first rows and how many there are."""
    if len(table.rows) <= MOST:
        return [table]
    return [table._replace(rows=table.rows[:MOST]), f"The first {MOST} of {len(table.rows)} rows."]


def show_text(text: object, limit: int = CUT) -> str:
    """A stranger's text for a cell: its lines, nothing in them that is not shown, cut to `limit` characters."""
    shown = str(text)
    cut = f"{shown[: limit - 1]}…" if len(shown) > limit else shown
    return _BLANK_LINES.sub("\n", "\n".join(printable(line.replace("\t", " ")) for line in cut.split("\n")))


def mark(text: str, part: str, at: int, limit: int = CUT) -> Cell:
    """The text around `part`, which stands at `at` in it and is marked; the beginning of the text if `at` is −1."""
    if at < 0:
        return show_text(text, limit)
    begin = 0 if at + len(part) < limit else max(0, at - _AROUND)
    before = ("…" if begin else "") + show_text(text[begin:at], at - begin + 1)
    end = begin + limit
    marked, after = text[at : at + len(part)], text[at + len(part) : max(end, at + len(part))]
    more = "…" if max(end, at + len(part)) < len(text) else ""
    return Marked(before, show_text(marked), show_text(after, limit + 1) + more)
