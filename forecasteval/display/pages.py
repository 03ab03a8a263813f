"""The views of a result: sections of lines, tables, charts, and records that open.

A page shows all of it (`display.html` makes the HTML), terminals and notebooks show it as lines and
tables.
"""

from __future__ import annotations

import hashlib
import html
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, count
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import printable

from .charts import Chart
from .tables import (
    Bar,
    Cell,
    Column,
    Link,
    Mark,
    Marked,
    Report,
    Table,
    format_signature,
    make_cells,
    make_table,
    show_value,
)

MOST: Final = 3000  # records that a page shows
BYTES: Final = 3_400_000  # of the texts of all its records: a page has less than 6 MB
TEXT: Final = 20_000  # characters of an untrusted text in an opened row
CELLS: Final = 25_000  # of a table
CHARTED: Final = 40  # rows of a chart
CUT: Final = 320  # characters of an untrusted text in a cell
_BLANK_LINES: Final = re.compile(r"\n(?: *\n)+")
_ANCHOR: Final = re.compile(r"[0-9A-Za-z_-]{1,60}")
_HEX: Final = re.compile(r"[0-9a-f]{12,}")


# --- Blocks ---


class Beside(NamedTuple):
    """Two texts or tables side by side inside a record, each with a title."""

    titles: tuple[str, str]
    parts: tuple[Any, Any]  # cells or tables


Detail = Cell | Table | Beside  # what stands inside a record


class Record(NamedTuple):
    """A row that opens: its cells, and (label, text or table) of what is inside; `key` is its
    address on the page.
    """

    key: str
    cells: Sequence[Cell]
    details: Sequence[tuple[str, Detail]] = ()
    failed: bool = False


class Records(NamedTuple):
    """Rows to look through: opened, searched, filtered by their choices, sorted, downloaded as CSV.

    `name` identifies the records in the address of their page. `note` says which rows there are.
    """

    name: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Record]
    note: str

    @property
    def table(self) -> Table:
        """The rows without what is inside them."""
        return Table(self.columns, [row.cells for row in self.rows])


def make_records(
    name: str,
    title: str,
    columns: Iterable[Column],
    rows: Sequence[object],
    ids: Iterable[object],
    note: str,
    failed: Callable[[Any], bool] = lambda row: False,
    prefix: str = "q",
) -> Records:
    """Rows that open: a cell for each column, and inside whatever columns of kind "inside" are not
    empty.
    """
    inside = [column for column in columns if column.kind == "inside"]
    shown = [column for column in columns if column.kind != "inside"]
    records = []
    for row, key in zip(rows, make_keys(ids, prefix), strict=True):
        details = [(column.title, content) for column in inside if (content := column.cell(row))]
        records.append(Record(key, make_cells(shown, row), details, failed(row)))
    return Records(name, title, shown, records, note)


def show_facts(columns: Iterable[Column], row: object) -> str:
    """The cells of a row that are not empty, each with the title of its column."""
    cells = [(column.title, str(column.show(row))) for column in columns]
    return " · ".join(f"{title}: {text}" for title, text in cells if text not in ("", "–"))


Block = str | Table | Chart | Records


class Section(NamedTuple):
    """A heading with its blocks, of which text "" is a blank line; `folded` ones open when the
    heading is clicked.
    """

    title: str
    blocks: Sequence[Block]
    folded: bool = False


class Page(NamedTuple):
    """What there is to see: title, lead, figures (name, value, remark), sections, and the signature
    below them.

    `key` identifies what the page shows, and stands in its head unless it is "". `links` lead to
    other pages.
    """

    title: str
    lead: str
    figures: Sequence[tuple[str, str, str]]
    sections: Sequence[Section]
    signature: str
    key: str = ""
    links: Sequence[Link] = ()

    def blocks(self, kind: type[object]) -> list[Any]:
        """The blocks of a kind, in their order."""
        return [
            block
            for section in self.sections
            for block in section.blocks
            if isinstance(block, kind)
        ]

    def charts(self) -> dict[str, Chart]:
        """The charts by name, in their order; records with a column of marks are charts, too."""
        charts = {}
        for block in (block for section in self.sections for block in section.blocks):
            if isinstance(block, Chart):
                charts[block.name] = block
            elif isinstance(block, Records) and any(
                isinstance(cell, Mark) for row in block.rows for cell in row.cells
            ):
                charts[block.name] = Chart(block.name, block.title, block.note, block.table)
        return charts

    def with_sections(self, *sections: Section) -> Page:
        return self._replace(sections=[*self.sections, *sections])

    def report(self) -> Report:
        """The title, the lead, the blocks of all sections and the signature; of charts and records
        their tables.
        """
        report: Report = [self.title, *self.lead.split("\n")]
        for section in self.sections:
            report += [
                "",
                *(
                    block if isinstance(block, (str, Table)) else block.table
                    for block in section.blocks
                ),
            ]
        return [*report, "", self.signature]


def make_overview(
    results: Mapping[str, Any],
    size: str,
    figures: Mapping[str, object],
    sections: Sequence[Section],
) -> Page:
    """What there is to see of a result: its benchmark and name, how many questions of which
    dataset, figures, sections.

    A figure is a value, or a value and a remark.
    """
    title = f"{results['benchmark']}  {printable(results.get('name', ''), 120)}".rstrip()
    lead = size + (
        f", dataset {printable(results['dataset'], 120)}" if results.get("dataset") else ""
    )
    shown = [
        (name, *value) if isinstance(value, tuple) else (name, value, "")
        for name, value in figures.items()
    ]
    texts = [(name, show_value(value), show_value(remark)) for name, value, remark in shown]
    signature = format_signature(results["signature"], results.get("dataset"))
    return Page(title, lead, texts, sections, signature)


# --- What is not right ---


_LACKING: Final = "What is missing from an overall score of 1, by the kind of mistake."


def list_causes(
    costs: Iterable[tuple[str, float]],
    description: str = _LACKING,
    prefix: str = "",
    what: str = "Questions",
) -> list[Section]:
    """Questions, or `what`, by the cause of what they cost, the costliest first; each leads to
    those of this "Outcome".

    `costs` are (cause, cost) of each question; without any costs there is no section. `prefix` is
    the name of the records with a point, unless they are the first of the page.
    """
    causes: dict[str, list[float]] = {}
    for cause, cost in costs:
        if cost:
            causes.setdefault(cause, []).append(cost)
    columns = [
        Column(
            "Outcome", lambda row: Link(row[0], "", f"{prefix}outcome={row[0].replace(' ', '+')}")
        ),
        Column("", lambda row: Bar(row[1]), "mark"),
        Column("Costs", lambda row: row[1], "number"),
        Column(what, lambda row: row[2], "number"),
    ]
    totals = [(cause, math.fsum(each), len(each)) for cause, each in causes.items()]
    table = make_table(columns, sorted(totals, key=lambda row: (-row[1], row[0])))
    chart = Chart("costs", "What costs most", description, table)
    return [Section(chart.title, [chart])] if causes else []


# --- How much a page shows ---


def text_limit(texts: Iterable[str]) -> int:
    """How many characters of each text fit a page: 20,000, or fewer so that all of them take
    `BYTES`.
    """
    sizes = [
        (len(html.escape(text).encode("utf-8", "replace")), len(text)) for text in texts if text
    ]
    limit = TEXT
    while limit > CUT and sum(size * min(1.0, limit / length) for size, length in sizes) > BYTES:
        limit = max(CUT, limit * 4 // 5)
    return limit


def make_keys(ids: Iterable[object], prefix: str = "q") -> list[str]:
    """A short address for each id, different for equal ids: `q-6873e6a7` for a checksum, else the
    id if it is plain.
    """
    keys: dict[str, None] = {}
    for name in map(str, ids):
        full = name
        if not _ANCHOR.fullmatch(name):
            full = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        plain = [f"{prefix}-{text}" for text in (name[:8] if _HEX.fullmatch(name) else full, full)]
        numbered = (f"{plain[-1]}-{number}" for number in count(2))
        keys[next(key for key in chain(plain, numbered) if key not in keys)] = None
    return list(keys)


def count_rows(shown: int, total: int, first: str, what: str = "questions") -> str:
    """Which of `total` questions a page shows: `first` says which come first."""
    if shown == total:
        return f"All {total} {what}, {first} first."
    return (
        f"{shown} of {total} {what}, {first} first. All of them are in the JSON that --save writes."
    )


# --- Untrusted texts ---


def show_text(text: object, limit: int = CUT) -> str:
    """An untrusted text for a cell: control characters as escapes, blank lines merged, cut to
    `limit` characters.
    """
    shown = str(text)
    if len(shown) <= limit and shown.isprintable():
        return shown
    cut = f"{shown[: limit - 1]}…" if len(shown) > limit else shown
    if not cut.replace("\n", "").isprintable():
        cut = "\n".join([printable(line.replace("\t", " ")) for line in cut.split("\n")])
    return _BLANK_LINES.sub("\n\n", cut) if "\n" in cut else cut


def show_read(item: Mapping[str, object]) -> str:
    """What was read of an answer, or in brackets why nothing was."""
    return (
        show_text(item.get("read", item["score"]), 120)
        if item["outcome"] == "scored"
        else f"({item['outcome']})"
    )


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
