"""Spreadsheets: a CSV file of experiments into table files."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, printable
from forecasteval.common.files import decode_utf8, read_file

from .items import Item, is_smiles

_ENTRY_NAMES: Final = frozenset({"entry", "no", "no.", "nr", "nr.", "#", "s_no", "s.no", "s.no.", "run", "index"})
_OUTCOME: Final = re.compile(r"(?<![a-z])(?:yields?|conv(?:ersion)?|selectivity|[ed][er]|rr)(?![a-z])", re.I)
_FILE_NAME: Final = re.compile(r"[^\w.+-]+")


class Layout(NamedTuple):
    """Which columns of a spreadsheet hold what."""

    results: Mapping[str, str]  # result field -> column
    reactants: Sequence[str] = ()
    products: Sequence[str] = ()
    group: Sequence[str] = ()
    drop: Sequence[str] = ()
    entry: str | None = None
    conditions: Sequence[str] = ()  # all that are left

    @property
    def named(self) -> list[str]:
        """The columns that somebody named: all but those of conditions."""
        plain = (*self.results.values(), *self.reactants, *self.products, *self.group, *self.drop)
        return [*plain, *([self.entry] if self.entry else [])]


def import_csv(
    path: Path,
    columns: Mapping[str, str],
    reactants: Sequence[str] = (),
    products: Sequence[str] = (),
    group: Sequence[str] = (),
    drop: Sequence[str] = (),
    entry: str | None = None,
    fraction: bool = False,
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """(tables by file name, notes) of a CSV file of experiments.

    `columns`: result field (isolated_yield, yield_ratio, ee, er, dr, rr) -> column. A table holds the rows that agree
    in the `reactants`, `products` and `group` columns; of the rest, all but `entry` and `drop` are conditions. The
    delimiter is the most frequent of comma, semicolon and tab in the header. Raises InputError (line, column).
    """
    header, rows = _read_rows(decode_utf8(read_file(path), str(path)), str(path))
    notes = []
    if entry is None:
        entry = next((name for name in header if name.strip().lower() in _ENTRY_NAMES), None)
        notes += [f"column {entry!r} is read as the entry number"] if entry else []
    layout = _find_conditions(Layout(columns, reactants, products, group, drop, entry), header, str(path))
    notes.append(f"conditions: {', '.join(layout.conditions)}")
    outcomes = [name for name in layout.conditions if _OUTCOME.search(name)]
    if outcomes:
        notes.append(f"warning: results among the conditions? name them with --ee, … or --drop: {', '.join(outcomes)}")
    groups: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name].strip() for name in (*reactants, *products, *group)), []).append(row)
    stem = _FILE_NAME.sub("_", path.stem).strip(".") or "table"
    width = len(str(len(groups)))
    tables = {}
    for number, found in enumerate(groups.values(), 1):
        name = stem if len(groups) == 1 else f"{stem}_{number:0{width}d}"
        tables[f"{name}.json"] = _make_table(name, found, layout, fraction)
    molecules = [item for table in tables.values() for item in (*table["reactants"], *table["products"])]
    if not (reactants and products) or not all(item["SMILES"] for item in molecules):
        notes.append("reactants and products are not all SMILES: build with --reactant-product-require content or none")
    return tables, notes


def _find_conditions(layout: Layout, header: Sequence[str], where: str) -> Layout:
    """The layout with the conditions: the columns that nobody named; InputError if there is none."""
    for name in layout.named:
        if name not in header:
            raise InputError(where, f"no column {printable(name, 60)}", ", ".join(map(printable, header)))
    used_once = [*layout.results.values(), *layout.reactants, *layout.products, *layout.drop]
    for name, count in Counter(used_once).items():
        if count > 1:
            raise InputError(where, f"the column {printable(name, 60)} is named twice")
    conditions = [name for name in header if name not in layout.named]
    if not conditions:
        raise InputError(where, "expected a column of conditions", "none beside those named")
    return layout._replace(conditions=conditions)


def _make_table(name: str, rows: Sequence[Mapping[str, str]], layout: Layout, fraction: bool) -> dict[str, Any]:
    first = rows[0]
    return {
        "root_img_name": name,
        "source_file": f"{name}.json",
        "doi": "",
        "year": None,
        "is_table": True,
        "yield_scale": "fraction" if fraction else "percent",
        "group": {column: first[column] for column in layout.group},
        "reactants": [_make_item(column, first[column], True) for column in layout.reactants if first[column].strip()],
        "products": [_make_item(column, first[column], True) for column in layout.products if first[column].strip()],
        "entries": [_make_entry(number, row, layout) for number, row in enumerate(rows, 1)],
    }


def _make_entry(number: int, row: Mapping[str, str], layout: Layout) -> dict[str, Any]:
    return {
        "entry_idx": row[layout.entry] if layout.entry else str(number),
        "rxn_id": "0",
        "conditions": {c: [_make_item(c, row[c], False)] if row[c].strip() else [] for c in layout.conditions},
        "results": {field: row[column] or None for field, column in layout.results.items()},
    }


def _make_item(column: str, cell: str, molecule: bool) -> Item:
    """An item; its text is its SMILES, too, if the column's name says so, or if a molecule is written like one.

    CO alone is carbon monoxide or methanol: then only the name of the column tells.
    """
    text = cell.strip()
    smiles = "smiles" in column.lower() or (molecule and is_smiles(text))
    return {"content": text, "SMILES": text if smiles else ""}


def _read_rows(text: str, where: str) -> tuple[list[str], list[dict[str, str]]]:
    """(names of columns, rows without blank ones); cells below a column without a name must be empty."""
    delimiter = max(",;\t", key=text.split("\n", 1)[0].count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows = []
    try:
        # A spreadsheet may end in several columns without a name: blanks, as many as its place, keep them apart.
        header = [name.strip() or " " * place for place, name in enumerate(reader.fieldnames or (), 1)]
        reader.fieldnames = header
        for name, count in Counter(header).items():
            if count > 1:
                raise InputError(f"{where}: line 1", f"the column {printable(name, 60)} is there twice")
        for row in reader:
            line = f"{where}: line {reader.reader.line_num}"
            beyond = row.pop(None, [])  # where DictReader puts what is too much
            cells = [cell for cell in (*row.values(), *beyond) if cell is not None]
            if not any(map(str.strip, cells)):
                continue
            if len(cells) != len(header):
                raise InputError(line, f"expected {len(header)} cells", str(len(cells)))
            if any(cell.strip() for name, cell in row.items() if not name.strip()):
                raise InputError(line, "expected a name above every cell", "none")
            rows.append(row)
    except csv.Error as error:
        raise InputError(f"{where}: line {reader.reader.line_num}", f"not CSV: {error}") from None
    if not rows:
        raise InputError(where, "expected a header and rows", "none")
    return [name for name in header if name.strip()], rows
