"""Import: a file of experiments, CSV, Excel or Open Reaction Database, into table files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, printable
from forecasteval.common.files import decode_utf8, read_file
from forecasteval.common.records import parse_json

from .columns import choose_conditions, header_roles, is_entry, split_cell
from .experiments import YIELDS, Constants, Experiment, make_tables
from .items import Item, is_smiles
from .ord_files import is_ord, read_reactions
from .settings import Settings
from .sheets import UNNAMED, Sheet, read_sheet

_REACTION: Final = re.compile(r"[^>\s]*>[^>\s]*>[^>\s]*(?:\s+\|.*\|)?")
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


Tables = tuple[dict[str, dict[str, Any]], list[str]]


def import_file(path: Path, layout: Layout, constants: Constants = _NO_CONSTANTS) -> Tables:
    """(tables by file name, notes) of a file of experiments.

    A table holds the rows that agree in reactants, products and group. Raises InputError (line, column).
    """
    if path.suffix.lower() == ".json":
        value = parse_json(decode_utf8(read_file(path), str(path)), str(path))
        if not is_ord(value):
            raise InputError(str(path), "expected a dataset of the Open Reaction Database", "other JSON")
        return make_tables(path, read_reactions(value, str(path)), constants)
    if not set(layout.results) & set(YIELDS):
        raise InputError("--yield", "expected the column of the yield")
    sheet = read_sheet(path, layout.sheet)
    layout, notes = _complete(layout, sheet, str(path))
    experiments = [_read_row(row, number, layout) for number, row in enumerate(sheet.rows, 1)]
    tables, more = make_tables(path, experiments, constants)
    return tables, [*sheet.notes, *notes, *more]


def _complete(layout: Layout, sheet: Sheet, where: str) -> tuple[Layout, list[str]]:
    """The layout with entry number, reaction and conditions found, and what was decided."""
    named = _named_columns(layout, sheet, where)
    roles = {name: header_roles(name) for name in layout.results.values()}
    notes = [f"column {name!r} holds {' and '.join(found)}" for name, found in roles.items() if found]
    left = {name: _column(sheet, name) for name in sheet.header if name not in named}
    reactions = [name for name, cells in left.items() if all(map(_REACTION.fullmatch, cells))]
    if layout.entry is None:
        found = sorted((n for n in left if n not in reactions and is_entry(n)), key=UNNAMED.__eq__)
        layout = layout._replace(entry=next(iter(found), None))
        notes += [f"column {layout.entry!r} is read as the entry number"] if layout.entry else []
    if reactions:
        use = not layout.reactants and not layout.products
        layout = layout._replace(reaction=reactions[0] if use else None)
        notes.append(f"reaction SMILES{'' if use else ', not used'}: {', '.join(reactions)}")
    chosen, more = list(layout.conditions), list[str]()
    if not chosen:
        left = {name: cells for name, cells in left.items() if name not in (layout.entry, *reactions)}
        amounts = _column(sheet, layout.results.get("yield_ratio") or layout.results["isolated_yield"])
        chosen, more = choose_conditions(left, amounts)
    if not chosen:
        raise InputError(where, "expected a column of conditions", "none beside those named")
    for name in _BLACKLIST:
        if name in layout.group:
            raise InputError(where, f"the column {name} must have another name: build leaves it out of prompts")
        if name in chosen:
            more.append(f"warning: build leaves the condition {name} out; give it another name")
    return layout._replace(conditions=chosen), [*notes, f"conditions: {', '.join(chosen)}", *more]


def _named_columns(layout: Layout, sheet: Sheet, where: str) -> list[str]:
    """The columns that somebody named; InputError for one that is not there, or named for two things."""
    once = [*layout.results.values(), *layout.reactants, *layout.products, *layout.drop, *layout.conditions]
    named = [*once, *layout.group, *([layout.entry] if layout.entry else [])]
    for name in named:
        if name not in sheet.header:
            raise InputError(where, f"no column {printable(name, 60)}", ", ".join(map(printable, sheet.header)))
        if once.count(name) > 1:
            raise InputError(where, f"the column {printable(name, 60)} is named twice")
    return named


def _column(sheet: Sheet, name: str) -> list[str]:
    return [row[name].strip() for row in sheet.rows]


def _read_row(row: Mapping[str, str], number: int, layout: Layout) -> Experiment:
    sides = [[_item(name, row[name], True) for name in names if row[name].strip()] for names in layout[1:3]]
    if layout.reaction:
        left, _, right = row[layout.reaction].split()[0].split(">")
        sides = [[{"content": part, "SMILES": part} for part in side.split(".") if part] for side in (left, right)]
    shown = [name for name in layout.group if name not in (*layout.reactants, *layout.products)]
    return Experiment(
        entry=row[layout.entry].strip() if layout.entry else str(number),
        reactants=sides[0],
        products=sides[1],
        conditions={
            name: [_item(name, row[name], False)] if row[name].strip() else []
            for name in dict.fromkeys((*layout.conditions, *shown))
        },
        results=_results(row, layout),
        group=tuple(row[name].strip() for name in layout.group),
    )


def _results(row: Mapping[str, str], layout: Layout) -> dict[str, str | None]:
    """The result cells; a column whose name announces two numbers gives both, and a column of its own wins."""
    own: dict[str, str | None] = {}
    beside: dict[str, str | None] = {}
    for field, name in layout.results.items():
        parts = split_cell(row[name], header_roles(name) or ("yield" if field in YIELDS else field,))
        own[field] = parts.pop("yield" if field in YIELDS else field, "") or None
        beside.update({("yield_ratio" if role == "yield" else role): text for role, text in parts.items()})
    beside.pop("conv", None)
    return {**beside, **{field: text for field, text in own.items() if text or field not in beside}}


def _item(column: str, cell: str, molecule: bool) -> Item:
    """An item; its text is its SMILES, too, if the column's name says so, or if a molecule is written like one.

    CO alone is carbon monoxide or methanol: then only the name of the column tells.
    """
    text = cell.strip()
    smiles = "smiles" in column.lower() or (molecule and is_smiles(text))
    return {"content": text, "SMILES": text if smiles else ""}
