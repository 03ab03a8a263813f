"""Reports in the forms that documents need: Markdown, LaTeX, CSV; `tables`
has them as text.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from forecasteval.common.errors import InputError, printable

from .tables import Column, Ends, Heading, Report, Table

_MISSING: Final = "–"


def format_report(report: Report, form: str) -> str:
    """Format a report in one of `tables.FORMS` but text; as CSV its first table, else
    InputError.
    """
    if form == "csv":
        tables = [block for block in report if isinstance(block, Table)]
        if not tables:
            raise InputError("--format csv", "expected a report with a table")
        return csv_table(tables[0])
    if form == "markdown":
        return "\n".join(markdown_lines(report)) + "\n"
    return "\n".join(latex_lines(report)) + "\n"


def _titles(columns: Iterable[Column]) -> list[str]:
    return [column.title for column in columns]


# --- Markdown ---

_MARKUP: Final = re.compile(r"[\\`*_{}\[\]()<>#+!|~&:@$^]|(?<=www)\.", re.I)


def markdown_lines(report: Report) -> list[str]:
    """Format lines of text as they are, each on its own, and tables."""
    lines: list[str] = []
    for block in report:
        if isinstance(block, Heading):
            lines.append(f"## {markdown_text(block)}")
        elif isinstance(block, str):
            # Two blanks break the line.
            lines.append(f"{markdown_text(block)}  ".removeprefix("  "))
        else:
            lines += [*_end_paragraph(lines), *markdown_table(block)]
    return lines


def _end_paragraph(lines: Sequence[str]) -> list[str]:
    """Return a blank line behind a text, of which a table would be a part."""
    if lines and lines[-1]:
        return [""]
    return []


def markdown_table(table: Table) -> list[str]:
    """Return the lines of a table; numbers need no escapes."""
    columns, rows = table.texts()
    formats = [_MARKDOWN_CELLS[column.side] for column in columns]
    shown = []
    for row in (_titles(columns), *rows):
        cells = [
            format_cell(cell) for format_cell, cell in zip(formats, row, strict=True)
        ]
        shown.append(f"| {' | '.join(cells)} |")
    head, *body = shown
    sides = [_MARKDOWN_SIDES[column.side] for column in columns]
    return [head, f"|{'|'.join(sides)}|", *body]


def markdown_text(text: str) -> str:
    """Return a text that Markdown shows as it is, whatever it holds."""
    return _MARKUP.sub(r"\\\g<0>", printable(text))


_MARKDOWN_SIDES: Final = {">": "---:", "<": "---"}
_MARKDOWN_CELLS: Final[Mapping[str, Callable[[str], str]]] = {
    ">": str,
    "<": markdown_text,
}


# --- LaTeX ---

_LATEX: Final = str.maketrans(
    {character: rf"\{character}" for character in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": "$<$", ">": "$>$", "|": "$|$", '"': "''", "`": "{`}", "–": r"\textendash{}"}
    | {"−": "$-$", "±": r"$\pm$", "≈": r"$\approx$", "≥": r"$\geq$", "×": r"$\times$"}
    | {"·": r"$\cdot$", "σ": r"$\sigma$", "→": r"$\to$", "…": r"\ldots{}"}
)


def latex_lines(report: Report) -> list[str]:
    """Format lines of text as they are, and each table as a `tabular` with
    booktabs' rules.
    """
    lines = [
        r"% needs \usepackage{booktabs}, and for letters beyond Latin xelatex or "
        r"lualatex"
    ]
    for block in report:
        if isinstance(block, str):
            lines.append(latex_text(block))
        else:
            lines += [*_end_paragraph(lines), *latex_table(block)]
    return lines


def latex_table(table: Table) -> list[str]:
    """Return the lines of a table; a missing value is --, the best of a
    column is bold.
    """
    columns, rows = table.texts()
    formatted = []
    for index, column in enumerate(columns):
        best = _find_best(column, index, rows, columns)
        cells = [row[index] for row in rows]
        formatted.append(
            [_format_latex_cell(cell, column, cell == best) for cell in cells]
        )
    sides = "".join(_LATEX_SIDES[column.side] for column in columns)
    return [
        rf"\begin{{tabular}}{{{sides}}}",
        r"\toprule",
        _latex_row(map(latex_text, _titles(columns))),
        r"\midrule",
        *map(_latex_row, zip(*formatted, strict=True)),
        r"\bottomrule",
        r"\end{tabular}",
    ]


_LATEX_SIDES: Final = {">": "r", "<": "l"}


def _find_best(
    column: Column, at: int, rows: Sequence[Sequence[str]], columns: Sequence[Column]
) -> str | None:
    """Find the cell of a column that is best of two or more; rows without their rank
    are no candidates.

    None for a column without a best one.
    """
    ranked = [
        row
        for row in rows
        if columns[0].title != "Rank" or row[0] not in ("", _MISSING)
    ]
    cells = [row[at] for row in ranked if row[at] != _MISSING]
    if not column.best or len(cells) < 2:
        return None
    if column.best == "low":
        return min(cells, key=float)
    return max(cells, key=float)


def _latex_row(cells: Iterable[str]) -> str:
    r"""Return a row; behind the `\\` of the row above, a `[` or `*` would
    be its argument.
    """
    row = " & ".join(cells)
    if row.startswith(("[", "*")):
        row = f"{{}}{row}"
    return row + r" \\"


def _format_latex_cell(cell: str, column: Column, is_best: bool) -> str:
    """Format a cell; the best of its column is bold."""
    if is_best:
        return rf"\textbf{{{latex_number(cell)}}}"
    if column.side == ">":
        return latex_number(cell)
    return latex_text(cell)


def latex_number(cell: str) -> str:
    """Return a number, with a minus for a hyphen; -- where there is none."""
    if cell == _MISSING:
        return "--"
    return re.sub(r"-(?=[0-9])", "$-$", latex_text(cell))


def latex_text(text: str) -> str:
    """Return a text that LaTeX prints as it is, whatever it holds; its letters are
    left to the fonts.
    """
    # Of -- it makes a dash
    return re.sub("-(?=-)", "-{}", printable(text).translate(_LATEX))


# --- CSV ---

# What a spreadsheet takes for the start of a formula, at the start of a cell: also
# where it splits at a semicolon.
_FORMULA: Final = re.compile(
    r"(^|[;\t])([\s\"'\u00ad\u180e]*)(?=[-=+@|%＝＋－＠−﹢﹣﹦])"
)


def csv_table(table: Table) -> str:
    """Return a table as CSV; an interval is two columns, a missing value is empty."""
    columns, rows = table.text_cells()
    fields: list[list[str]] = []
    for column, *cells in zip(columns, *rows, strict=True):
        title = column.title.strip()
        if any(isinstance(cell, Ends) for cell in cells):
            fields.append([f"{title} low", *(_format_end(cell, 0) for cell in cells)])
            fields.append([f"{title} high", *(_format_end(cell, 1) for cell in cells)])
            continue
        shown = [str(cell) for cell in cells]
        shown = ["" if cell == _MISSING else cell for cell in shown]
        if column.side == "<":
            shown = list(map(csv_text, shown))
        fields.append([title, *shown])
    return write_csv(zip(*fields, strict=True))


def _format_end(cell: object, index: int) -> str:
    if not isinstance(cell, Ends):
        return ""
    return f"{cell[index]:.4f}"


def write_csv(rows: Iterable[Iterable[object]]) -> str:
    """Write rows of cells as the text of a CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def csv_cell(cell: object) -> object:
    """Return a cell of a CSV: nothing for None and nan, a number as it is, a text
    by `csv_text`.
    """
    if isinstance(cell, str):
        return csv_text(cell)
    is_nan = isinstance(cell, float) and math.isnan(cell)
    if cell is None or is_nan:
        return ""
    return cell


def csv_text(text: str) -> str:
    """Return a text; one that a spreadsheet would run as a formula gets an
    apostrophe in front.
    """
    return _FORMULA.sub(r"\1'\2", printable(text))
