"""Import: a file of experiments, CSV, Excel or Open Reaction Database, into table files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from forecasteval.common.errors import InputError, RecordNotes, printable
from forecasteval.common.files import decode_utf8, read_file
from forecasteval.common.records import parse_json

from .cells import read_yield
from .columns import choose_conditions, header_roles, is_entry, split_cell, warn_of_conditions
from .experiments import YIELDS, Constants, Experiment, Tables, make_tables
from .items import Item, is_smiles, read_items
from .ord_files import is_ord, read_reactions
from .settings import Settings
from .sheets import UNNAMED, Row, Sheet, read_sheet

_REACTION: Final = re.compile(r"[^>\s]*>[^>\s]*>[^>\s]*(?:\s+\|.*\|)?")
_SENTENCE: Final = re.compile(r"[^\s]+\s.*[^\W\d_]{2}", re.S)  # of more than one word: a footnote, not an entry
_SUMMARY: Final = re.compile(  # what stands in front of a row of averages below the experiments
    r"(?:average|mean|median|total|sum|max(?:imum)?|min(?:imum)?|平均值?|合计|总计|最大值?|最小值?)\W*", re.I
)
_BLACKLIST: Final = Settings().condition_keys_blacklist
_NO_CONSTANTS: Final = Constants()


class Layout(NamedTuple):
    """Which columns of a sheet hold what."""

    results: Mapping[str, str]  # result field (isolated_yield, yield_ratio, ee, er, dr, rr) -> column
    reactants: Sequence[str] = ()
    products: Sequence[str] = ()
    group: Sequence[str] = ()
    drop: Sequence[str] = ()
    entry: str | None = None
    conditions: Sequence[str] = ()  # none: all that are left and are no results
    reaction: str | None = None  # reaction SMILES
    sheet: str | None = None


def import_file(path: Path, layout: Layout, constants: Constants = _NO_CONSTANTS) -> tuple[Tables, list[str]]:
    """(tables by file name, notes) of a file of experiments.

    A table holds the rows that agree in reactants, products and group. Every row of the file is in a table, or left
    out under a reason that the notes name. Raises InputError (line, column).
    """
    if path.suffix.lower() == ".json":
        value = parse_json(decode_utf8(read_file(path), str(path)), str(path))
        if not is_ord(value):
            raise InputError(str(path), "expected a dataset of the Open Reaction Database", "other JSON")
        return make_tables(path, read_reactions(value, str(path)), constants, {})
    if not set(layout.results) & set(YIELDS):
        raise InputError("--yield", "expected the column of the yield")
    named = _named_columns(layout, str(path))
    sheet = read_sheet(path, layout.sheet, named)
    rows, left_out = _usable_rows(sheet, layout)
    if not rows:
        return make_tables(path, [], constants, left_out)  # raises, with the reasons
    layout, notes = _complete(layout, sheet.header, rows, named, str(path))
    experiments = [_read_row(row, number, layout) for number, row in enumerate(rows, 1)]
    tables, more = make_tables(path, experiments, constants, left_out)
    return tables, [*sheet.notes, *notes, *more]


def _named_columns(layout: Layout, where: str) -> list[str]:
    """The columns that somebody named; InputError for one that is named for two things, or that build leaves out."""
    once = [*layout.results.values(), *layout.reactants, *layout.products, *layout.drop, *layout.conditions]
    for name in once:
        if once.count(name) > 1:
            raise InputError(where, f"the column {printable(name, 60)} is named twice")
    for name in _BLACKLIST:
        if name in layout.group:
            raise InputError(where, f"the column {name} must have another name: build leaves it out of prompts")
    return [*once, *layout.group, *([layout.entry] if layout.entry else [])]


def _usable_rows(sheet: Sheet, layout: Layout) -> tuple[list[Row], dict[str, list[str]]]:
    """(rows that may hold an experiment, the places of the others by reason)."""
    rows, left_out, cells, formulas = [], RecordNotes(), list[str](), list[str]()
    for row in sheet.rows:
        unsaved = [cell for name, cell in row.unsaved.items() if name not in layout.drop]
        if reason := _why_no_experiment(row, layout):
            left_out[reason].append(row.place)
        elif unsaved:
            formulas.append(row.place)
            cells += unsaved
        else:
            rows.append(row)
    if formulas:
        shown = f"{', '.join(cells[:5])}{', …' if len(cells) > 5 else ''}"
        verb = "hold formulas" if len(cells) > 1 else "holds a formula"
        left_out[f"{shown} {verb} whose value was not saved"] = formulas
    return rows, left_out


def _why_no_experiment(row: Row, layout: Layout) -> str:
    """The reason why a row is none, by its cells alone; "" if it may be one."""
    filled = [name for name, cell in row.cells.items() if cell or name in row.unsaved]
    if not filled:
        return "empty"
    first = row.cells[filled[0]]
    if len(filled) == 1 and filled[0] not in layout.results.values() and _SENTENCE.match(first):
        return "a footnote"
    return "an average or a total" if _SUMMARY.fullmatch(first) else ""


def _complete(
    layout: Layout, header: Sequence[str], rows: Sequence[Row], named: Sequence[str], where: str
) -> tuple[Layout, list[str]]:
    """The layout with entry number, reaction and conditions, and what was decided."""
    roles = {name: header_roles(name) for name in layout.results.values()}
    notes = [f"column {name!r} holds {' and '.join(both)}" for name, both in roles.items() if both]
    columns = {name: [row.cells[name] for row in rows] for name in header}
    left = {name: cells for name, cells in columns.items() if name not in named}
    reactions = [name for name, cells in left.items() if all(map(_REACTION.fullmatch, cells))]
    if layout.entry is None:
        entries = sorted((n for n in left if n not in reactions and is_entry(n)), key=UNNAMED.__eq__)
        layout = layout._replace(entry=next(iter(entries), None))
        notes += [f"column {layout.entry!r} is read as the entry number"] if layout.entry else []
    if reactions:
        use = not layout.reactants and not layout.products
        layout = layout._replace(reaction=reactions[0] if use else None)
        notes.append(f"reaction SMILES{'' if use else ', not used'}: {', '.join(reactions)}")
    yields = [_read_yield(row, layout) for row in rows]
    conditions, more = list(layout.conditions), list[str]()
    if not conditions:
        left = {name: cells for name, cells in left.items() if name not in (layout.entry, *reactions)}
        conditions, more = choose_conditions(left, yields)
    if not conditions:
        raise InputError(where, "expected a column of conditions", "; ".join(more) or "none beside those named")
    more += warn_of_conditions({name: columns[name] for name in conditions}, yields)
    blacklisted = [name for name in _BLACKLIST if name in conditions]
    more += [f"warning: build leaves the condition {name} out; give it another name" for name in blacklisted]
    return layout._replace(conditions=conditions), [*notes, f"conditions: {', '.join(conditions)}", *more]


def _read_yield(row: Row, layout: Layout) -> float | None:
    results = _results(row, layout)
    values = [read_yield(results.get(field)).value for field in reversed(YIELDS)]
    return next((value for value in values if value is not None), None)


def _read_row(row: Row, number: int, layout: Layout) -> Experiment:
    cells = row.cells
    sides = [[_item(name, cells[name], True) for name in names if cells[name]] for names in layout[1:3]]
    if layout.reaction:
        left, _, right = cells[layout.reaction].split()[0].split(">")
        sides = [[{"content": part, "SMILES": part} for part in side.split(".") if part] for side in (left, right)]
    shown = [name for name in layout.group if name not in (*layout.reactants, *layout.products)]
    return Experiment(
        place=row.place,
        entry=cells[layout.entry] if layout.entry else str(number),
        reactants=sides[0],
        products=sides[1],
        conditions={
            name: read_items(_item(name, cells[name], False)) for name in dict.fromkeys((*layout.conditions, *shown))
        },
        results=_results(row, layout),
        group=tuple(cells[name] for name in layout.group),
    )


def _results(row: Row, layout: Layout) -> dict[str, str | None]:
    """The result cells, whole; a column whose name announces two numbers gives both, and a column of its own wins."""
    named: dict[str, str | None] = {}
    beside: dict[str, str | None] = {}
    for field, name in layout.results.items():
        named[field] = row.cells[name] or None
        if roles := header_roles(name):
            role = "yield" if field in YIELDS else field
            parts = split_cell(row.cells[name], roles)
            named[field] = parts.pop(role, "") or None
            beside.update({("yield_ratio" if other == "yield" else other): text for other, text in parts.items()})
    beside.pop("conv", None)
    return {**beside, **{field: text for field, text in named.items() if text or field not in beside}}


def _item(column: str, cell: str, molecule: bool) -> Item:
    """An item; its text is its SMILES, too, if the column's name says so, or if a molecule is written like one.

    CO alone is carbon monoxide or methanol: then only the name of the column tells.
    """
    text = cell.strip()
    smiles = "smiles" in column.lower() or (molecule and is_smiles(text))
    return {"content": text, "SMILES": text if smiles else ""}
