"""Tables of cells, declared by their columns, and reports of lines and tables for
terminals and notebooks.

The same tables stand on pages (`display.pages`), are drawn by `plot`
(`display.charts`), and make CSV, Markdown and LaTeX (`display.formats`).
"""

from __future__ import annotations

import math
import os
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, printable

FORMS: Final = ("text", "markdown", "latex", "csv")  # of reports; see `formats`
_NOT_RULES: Final = (
    "evaluator",
    "leaderboard",
    "llm_server",
    "llm_policy",
    "llm_prompt",
)
# Of the keys of an item that are columns of its dataset
COLUMN_PREFIX: Final = "question."
_NUMBERS: Final = ("number", "p", "ranks")  # kinds of columns that stand right
_TEXT: Final = (*_NUMBERS, "text")  # kinds of columns that text shows
# Columns of a terminal that a text at the end of a row is cut to, at least
_CUT: Final = 30
_NAME: Final = 24  # columns that a name is cut to, at least


# --- Cells: texts, and what pages draw; `str` of a cell that text shows is its text ---


class IntervalCell(NamedTuple):
    """A dot and its interval, on one axis with the other cells of its column.

    `mark` is an upright line, for example the score of a blind guess. A dot is hollow,
    with `kind` "a" or "b" filled in that colour, with "ref" a diamond.
    """

    value: float | None
    bounds: Sequence[float] | None = None
    mark: float | None = None
    kind: str = ""


class Ends(NamedTuple):
    """The two ends of an interval."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"[{self.low:.4f}, {self.high:.4f}]"


class Heat(NamedTuple):
    """A score, which pages show on the colour of its share of the best one, by
    default itself.
    """

    value: float | None
    share: float | None = None

    def __str__(self) -> str:
        return show_number(self.value)


class Marked(NamedTuple):
    """A text of which a part is marked."""

    before: str
    marked: str
    after: str

    def __str__(self) -> str:
        return "".join(self)


Cell = str | Marked | Heat | IntervalCell | Ends


class Link(NamedTuple):
    """A text that leads to a file beside the page. `to` is an anchor of it; `file` is
    "" for this page.
    """

    text: str
    file: str
    to: str = ""


# --- Tables ---


@dataclass(frozen=True)
class Column:
    """A column of a table: its title, and the cell of a row.

    kind: "number", "p" (a p-value), "ranks" (the ends of a range), "text", or
        what text leaves
    out: "mark" (drawn by `plot`) and "html".
    best: the best number of a column, which LaTeX sets in bold: its "high" or
        its "low" end.
    spare: on a narrow terminal the columns with the highest number go first,
        columns with 0 last.
    """

    title: str
    # A Cell, a number, None, or the two ends of an interval.
    cell: Callable[[Any], Any] = field(compare=False)
    kind: str = "text"
    best: str = ""
    spare: int = 0
    digits: int = 4  # decimals of a float
    # "soft": pages have it behind the cell before it; "no": they do not have it; or the
    #     classes of
    # its head there.
    page: str = ""
    key: str = ""  # of boards: its name in CSV and frames
    head: str = ""  # of boards: its title in the rows of the page, if it stands there

    @property
    def names(self) -> set[str]:
        """Return the names by which it can be chosen."""
        return {self.key or self.title, self.title}

    @property
    def side(self) -> str:
        """Return where cells stand in text: ">" for numbers, else "<"."""
        return ">" if self.kind in _NUMBERS else "<"

    def show(self, row: object) -> Any:
        """Show the cell of a row; numbers are text there."""
        value = self.cell(row)
        if self.kind == "p":
            return show_p(value)
        if self.kind == "ranks":
            return "–".join(map(str, value or ("–",)))
        return show_value(value, self.digits)


class Table(NamedTuple):
    """Rows of cells under their columns; made by `make_table`.

    chosen: the names of the only columns that text has.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    chosen: Collection[str] = ()

    @property
    def header(self) -> list[str]:
        return [column.title for column in self.columns]

    def text_cells(self) -> tuple[list[Column], list[list[Cell]]]:
        """Return the columns that are text, of which some may be chosen, and
        the rows of them.
        """
        indexes = [at for at, column in enumerate(self.columns) if column.kind in _TEXT]
        chosen = [
            at for at in indexes if not self.columns[at].names.isdisjoint(self.chosen)
        ]
        indexes = chosen or indexes
        rows = [[row[at] for at in indexes] for row in self.rows]
        return [self.columns[at] for at in indexes], rows

    def texts(self) -> tuple[list[Column], list[list[str]]]:
        """Return the same as text."""
        columns, rows = self.text_cells()
        return columns, [list(map(str, row)) for row in rows]


def make_table(columns: Sequence[Column], rows: Iterable[Any]) -> Table:
    """Make a table with a row of cells for each of `rows`."""
    return Table(columns, [[column.show(row) for column in columns] for row in rows])


def choose_columns(report: Report, names: Collection[str]) -> Report:
    """Show only these columns of each table, by key or title; a table without
    any stays whole.

    Raises InputError for a name that no table has.
    """
    tables = [block for block in report if isinstance(block, Table)]
    known = {
        name for table in tables for column in table.columns for name in column.names
    }
    for name in names:
        if name not in known:
            expected = (
                f"expected columns of the tables: {', '.join(sorted(known - {''}))}"
            )
            raise InputError("--columns", expected, repr(name))
    return [_choose_block(block, names) for block in report]


def _choose_block(block: str | Table, names: Collection[str]) -> str | Table:
    if isinstance(block, Table):
        return block._replace(chosen=names)
    return block


# --- As text ---


def display_width(text: str) -> int:
    """Count the terminal columns of a text: wide East Asian characters take
    two, marks none.

    >>> display_width("abc"), display_width("万亿")
    (3, 4)
    """
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) > 0 for char in text)


def cut_middle(text: str, width: int) -> str:
    """Cut a text in its middle to so many terminal columns, with an ellipsis.

    >>> cut_middle("abcdefghij", 7), cut_middle("abc", 7)
    ('abc…hij', 'abc')
    """
    if display_width(text) <= width:
        return text
    end = _begin(text[::-1], (width - 1) // 2)
    return f"{_begin(text, width // 2)}…{end[::-1]}"


def _begin(text: str, width: int) -> str:
    """Return the beginning of a text that takes so many columns of a
    terminal at most.
    """
    end = width
    while display_width(text[:end]) > width:
        end -= 1
    return text[:end]


class Heading(str):
    """A line that is a heading where a form of text has such."""


class Remark(str):
    """A line that explains a column of the table above it, and goes with it."""

    column = ""

    @classmethod
    def on(cls, column: str, text: str) -> Remark:
        remark = cls(text)
        remark.column = column
        return remark


Report = list["str | Table"]  # lines and tables, top to bottom


def format_text(report: Report, width: float = math.inf) -> str:
    """Format a report as a screen of `width` columns shows it. Without a width lines
    and tables are as wide as they are.
    """
    parts = []
    shown: Collection[str] = ()
    for block in report:
        if isinstance(block, Table):
            text, shown = _fit_table(block, width)
            parts.append(text)
        elif not isinstance(block, Remark) or block.column in shown:
            parts.append(_wrap(block, width))
    return "\n".join(parts)


def print_report(report: Report) -> None:
    """Print a report; it fits the width of a terminal or `COLUMNS`, else
    it stays whole.
    """
    width = math.inf
    if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdecimal():
        width = shutil.get_terminal_size().columns
    print(format_text(report, width))


def _fit_table(table: Table, width: float) -> tuple[str, list[str]]:
    """Fit the table as text, and list the titles of its columns. Columns for which
    there is no room are left out, and named below it.

    Columns without any value go first. Then texts are cut in their middle: to 24
    columns or more, at the end of the rows to 30 or more. If that does not do, columns
    to spare go, then those on the right.
    """
    columns, rows = table.texts()
    texts = [
        [column.title, *cells] for column, *cells in zip(columns, *rows, strict=True)
    ]
    widths = [max(map(display_width, column)) for column in texts]
    is_empty = [{"", "–"}.issuperset(column[1:]) for column in texts]
    kept = list(range(len(columns)))
    min_widths = [*widths]
    for index, column in enumerate(columns):
        limit = _NAME
        if index == kept[-1]:
            limit = _CUT
        if column.side == "<":
            min_widths[index] = min(widths[index], limit)
    dropped: list[str] = []

    def is_wide(needed: Sequence[int]) -> bool:
        return sum(needed[index] + 2 for index in kept) - 2 > width

    def drop_key(index: int) -> tuple[bool, int, int]:
        return not is_empty[index], -columns[index].spare, -index

    for index in sorted(kept, key=drop_key):
        needed = min_widths
        if is_empty[index]:
            needed = widths
        if len(kept) < 3 or not is_wide(needed):
            break
        kept.remove(index)
        dropped.append(columns[index].title)
    while is_wide(widths):
        widest = max(kept, key=lambda index: widths[index] - min_widths[index])
        if widths[widest] == min_widths[widest]:
            break
        widths[widest] -= 1
    padded = []
    for index in kept:
        width_of_column = widths[index]
        side = columns[index].side
        padded.append([_pad(cell, width_of_column, side) for cell in texts[index]])
    lines = ["  ".join(cells).rstrip() for cells in zip(*padded, strict=True)]
    if dropped:
        lines.append(
            _wrap(f"Columns hidden on this terminal: {', '.join(dropped)}", width)
        )
    return "\n".join(lines), [columns[index].title for index in kept]


def _wrap(text: str, width: float) -> str:
    """Break a line between words where it is wider than the screen."""
    if display_width(text) <= width:
        return text
    size = max(int(width), _CUT)
    return textwrap.fill(text, size, break_long_words=False, break_on_hyphens=False)


def _pad(text: str, width: int, side: str) -> str:
    """Return the text on `width` columns of a terminal, cut if it is longer."""
    shown = cut_middle(text, width)
    space = " " * (width - display_width(shown))
    if side == ">":
        return space + shown
    return shown + space


def show_value(value: Any, digits: int = 4) -> Any:
    """Show numbers and None as text, the ends of an interval as a cell; a cell
    stays what it is.
    """
    if value is None or isinstance(value, float):
        return show_number(value, digits)
    if type(value) in (list, tuple):
        return Ends(*value)
    if isinstance(value, int):
        return str(value)
    return value


def show_number(value: float | None, digits: int = 4) -> str:
    """Format a number with so many decimals, zero without a minus sign; – if
    there is none.

    >>> show_number(-0.25), show_number(-0.00001), show_number(None)
    ('-0.2500', '0.0000', '–')
    """
    if value is None or math.isnan(value):
        return "–"
    return f"{value:z.{digits}f}"


def show_p(value: float | None) -> str:
    """Show a p-value; below half of the last digit its bound, as no test shows that a
    difference is impossible.

    >>> show_p(0.00004), show_p(0.25)
    ('<0.0001', '0.2500')
    """
    shown = show_number(value)
    if shown == "0.0000":
        return "<0.0001"
    return shown


def show_interval(bounds: Sequence[float] | None) -> str:
    if not bounds:
        return "–"
    return str(Ends(*bounds))


def format_signature(
    signature: Mapping[str, object], dataset: str | None = None
) -> str:
    """Format the evaluator, its rules and policies, and the dataset, on one short line.

    Checksums, weights, seeds and numbers of resamples are in JSON only.
    """
    parts = ["signature:", str(signature["evaluator"])]
    for key in sorted(signature, key=lambda key: (key != "rules", key)):
        value = signature[key]
        is_shown = isinstance(value, (str, float)) or (value and key == "min_events")
        if is_shown and not key.endswith("sha256") and key not in _NOT_RULES:
            parts.append(f"{key}:{value}")
    if dataset:
        parts.append(f"dataset:{printable(dataset, 60)}")
    return " ".join(parts)
