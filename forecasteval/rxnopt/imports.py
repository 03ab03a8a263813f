"""Import: a sheet of experiments, CSV or Excel, into table files."""

from __future__ import annotations

import re
from argparse import BooleanOptionalAction
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from forecasteval.common.errors import InputError, RecordNotes, grouped_names, printable
from forecasteval.common.records import as_text, dump_json, group_by

from .cells import read_yield
from .chemicals import YIELDS, Experiment, Item, is_smiles, read_items
from .columns import choose_conditions, header_roles, is_entry, split_cell, warn_of_conditions
from .settings import DUPLICATES, Settings
from .sheets import UNNAMED, Row, Sheet, read_sheet
from .tables import read_scores

Tables = dict[str, dict[str, Any]]
MOST_REASONS: Final = 20
_REACTION: Final = re.compile(r"[^>\s]*>[^>\s]*>[^>\s]*(?:\s+\|.*\|)?")
_SENTENCE: Final = re.compile(
    r"[^\s]+\s.*[^\W\d_]{2}", re.S
)  # of more than one word: a footnote, not an entry
_SUMMARY: Final = re.compile(  # what stands in front of a row of averages below the experiments
    r"(?:average|mean|median|total|sum|max(?:imum)?|min(?:imum)?|平均值?|合计|总计|最大值?|最小值?)\W*",
    re.I,
)
_NAMES: Final = {"isolated_yield": "isolated yield", "yield_ratio": "yield"}
_FILE_NAME: Final = re.compile(r"[^\w.+-]+")
_SETTINGS: Final = Settings()


def _option(text: str, metavar: str | None = "COL", default: Any = None, **words: Any) -> Any:
    """A field of `Layout` that is an option of the command line, with the words of argparse."""
    return field(
        default=default,
        metadata={"help": text, **({"metavar": metavar} if metavar else {}), **words},
    )


def _columns(text: str, metavar: str = "COL") -> Any:
    return _option(text, metavar, (), nargs="+")


@dataclass(frozen=True)
class Layout:
    """The columns of a sheet and what they hold, and what all experiments of a file share."""

    results: Mapping[
        str, str
    ]  # result field (isolated_yield, yield_ratio, ee, er, dr, rr) -> column
    reactants: Sequence[str] = _columns("columns of reactants")
    products: Sequence[str] = _columns("columns of products")
    group: Sequence[str] = _columns("columns whose values separate tables and are shown in prompts")
    drop: Sequence[str] = _columns("columns that are not conditions")
    conditions: Sequence[str] = _columns(
        "columns that are conditions (default: all others but results and row numbers)"
    )
    reactants_smiles: Sequence[str] = _columns("reactants of every experiment", "SMILES")
    products_smiles: Sequence[str] = _columns("products of every experiment", "SMILES")
    entry: str | None = _option(
        "column of the entry number (default: a column named entry, no, run, …)"
    )
    sheet: str | None = _option("sheet of the workbook (default: the first)", "NAME")
    doi: str = _option("DOI of the publication", "DOI", "")
    year: int | None = _option("year of the publication", "N", type=int)
    duplicates: str = _option(
        "rows with equal conditions (median)", None, "median", choices=DUPLICATES
    )
    fraction: bool | None = _option(
        "yields are shares of 1, or percent although all are between 0 and 1",
        None,
        action=BooleanOptionalAction,
    )
    reaction: str | None = None  # the column of reaction SMILES


def import_file(path: Path, layout: Layout) -> tuple[Tables, list[str]]:
    """(tables by file name, notes) of a file of experiments.

    A table holds the experiments that agree in reactants, products and group. Every row of the file
    is in a table, or left out under a reason that the notes name. Raises InputError (line, column).
    """
    left_out = RecordNotes()
    experiments, notes = _read_experiments(path, layout, left_out)
    total = len(experiments) + sum(map(len, left_out.values()))
    used, accounts = _with_yield(path, experiments, layout, left_out)
    if not used:
        raise InputError(str(path), "expected rows with a yield", "; ".join(accounts) or "none")
    sides = [
        [_smiles_item(text) for text in side]
        for side in (layout.reactants_smiles, layout.products_smiles)
    ]
    used = [
        e._replace(reactants=sides[0] or e.reactants, products=sides[1] or e.products) for e in used
    ]
    groups = group_by(used, lambda e: dump_json([e.reactants, e.products, e.group]))
    stem, width = _FILE_NAME.sub("_", path.stem).strip(".") or "table", len(str(len(groups)))
    names = (
        [stem]
        if len(groups) == 1
        else [f"{stem}_{number:0{width}d}" for number in range(1, len(groups) + 1)]
    )
    tables = {
        f"{n}.json": _make_table(n, members, layout)
        for n, members in zip(names, groups.values(), strict=True)
    }
    if not all(
        side and all(item["SMILES"] for item in side)
        for e in used
        for side in (e.reactants, e.products)
    ):
        hint = "build with --reactant-product-require content or none"
        accounts.append(f"reactants and products are not all SMILES: {hint}")
    return tables, [
        *notes,
        *accounts,
        f"rows: {total}, used {len(used)}, left out {total - len(used)}",
    ]


# --- Rows of a sheet as experiments ---


def _read_experiments(
    path: Path, layout: Layout, left_out: RecordNotes
) -> tuple[list[Experiment], list[str]]:
    """(the experiments of a sheet, notes); adds the places of all other rows to `left_out`."""
    if not set(layout.results) & set(YIELDS):
        raise InputError("--yield", "expected the column of the yield")
    named = _named_columns(layout, str(path))
    sheet = read_sheet(path, layout.sheet, named)
    rows = _usable_rows(sheet, layout, left_out)
    if not rows:
        return [], []
    layout, notes = _complete(layout, sheet.header, rows, named, str(path))
    return [_read_row(row, number, layout) for number, row in enumerate(rows, 1)], [
        *sheet.notes,
        *notes,
    ]


def _named_columns(layout: Layout, where: str) -> list[str]:
    """The columns that the user named; InputError for one with two meanings, or a group that build
    would leave out.
    """
    once = [
        *layout.results.values(),
        *layout.reactants,
        *layout.products,
        *layout.drop,
        *layout.conditions,
    ]
    for name in once:
        if once.count(name) > 1:
            raise InputError(where, f"the column {printable(name, 60)} is named twice")
    for name in _SETTINGS.condition_keys_blacklist:
        if name in layout.group:
            raise InputError(
                where, f"the column {name} must have another name: build leaves it out of prompts"
            )
    return [*once, *layout.group, *([layout.entry] if layout.entry else [])]


def _usable_rows(sheet: Sheet, layout: Layout, left_out: RecordNotes) -> list[Row]:
    """The rows that may hold an experiment."""
    rows, formulas, cells = [], list[str](), list[str]()
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
    return rows


def _why_no_experiment(row: Row, layout: Layout) -> str:
    """Why a row holds no experiment, by its cells alone; "" if it may hold one."""
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
    """The layout with entry number, reaction and conditions, and notes on what was decided."""
    roles = {name: header_roles(name) for name in layout.results.values()}
    notes = [f"column {name!r} holds {' and '.join(both)}" for name, both in roles.items() if both]
    columns = {name: [row.cells[name] for row in rows] for name in header}
    left = {name: cells for name, cells in columns.items() if name not in named}
    reactions = [name for name, cells in left.items() if all(map(_REACTION.fullmatch, cells))]
    left = {name: cells for name, cells in left.items() if name not in reactions}
    if layout.entry is None and (entries := sorted(filter(is_entry, left), key=UNNAMED.__eq__)):
        layout = replace(layout, entry=entries[0])
        del left[entries[0]]
        notes.append(f"column {layout.entry!r} is read as the entry number")
    if reactions:
        use = not layout.reactants and not layout.products
        layout = replace(layout, reaction=reactions[0] if use else None)
        notes.append(f"reaction SMILES{'' if use else ', not used'}: {', '.join(reactions)}")
    results = [_results(row, layout) for row in rows]
    cells_of_yield = (
        [read_yield(cells.get(name)).value for name in reversed(YIELDS)] for cells in results
    )
    yields = [
        next((value for value in values if value is not None), None) for values in cells_of_yield
    ]
    conditions, more = (
        (list(layout.conditions), []) if layout.conditions else choose_conditions(left, yields)
    )
    if not conditions:
        got = "; ".join(more) or "no others than the named columns"
        raise InputError(where, "expected a column of conditions", got)
    more += warn_of_conditions({name: columns[name] for name in conditions}, yields)
    blacklisted = [name for name in _SETTINGS.condition_keys_blacklist if name in conditions]
    more += [
        f"warning: build leaves the condition {name} out; give it another name"
        for name in blacklisted
    ]
    return replace(layout, conditions=conditions), [
        *notes,
        f"conditions: {', '.join(conditions)}",
        *more,
    ]


def _read_row(row: Row, number: int, layout: Layout) -> Experiment:
    cells = row.cells
    named = layout.reactants, layout.products
    sides = [[_item(name, cells[name], True) for name in names if cells[name]] for names in named]
    if layout.reaction:
        left, _, right = cells[layout.reaction].split()[0].split(">")
        sides = [[_smiles_item(part) for part in side.split(".") if part] for side in (left, right)]
    shown = [name for name in layout.group if name not in (*layout.reactants, *layout.products)]
    names = dict.fromkeys((*layout.conditions, *shown))
    return Experiment(
        place=row.place,
        entry=cells[layout.entry] if layout.entry else str(number),
        reactants=sides[0],
        products=sides[1],
        conditions={name: read_items(_item(name, cells[name], False)) for name in names},
        results=_results(row, layout),
        group=tuple(cells[name] for name in layout.group),
    )


def _results(row: Row, layout: Layout) -> dict[str, str | None]:
    """The result cells, whole; a column whose name announces two numbers gives both, unless the
    other has a column.
    """
    named: dict[str, str | None] = {}
    beside: dict[str, str | None] = {}
    for result, name in layout.results.items():
        named[result] = row.cells[name] or None
        if roles := header_roles(name):
            parts = split_cell(row.cells[name], roles)
            named[result] = parts.pop("yield" if result in YIELDS else result, "") or None
            beside |= {
                "yield_ratio" if role == "yield" else role: text for role, text in parts.items()
            }
    beside.pop("conv", None)
    return {
        **beside,
        **{result: text for result, text in named.items() if text or result not in beside},
    }


def _item(column: str, cell: str, molecule: bool) -> Item:
    """An item; its text is its SMILES, too, if the column's name says so, or if a molecule is
    written like one.

    CO alone is carbon monoxide or methanol: then only the name of the column decides.
    """
    text = cell.strip()
    smiles = "smiles" in column.lower() or (molecule and is_smiles(text))
    return {"content": text, "SMILES": text if smiles else ""}


def _smiles_item(text: str) -> Item:
    return {"content": text, "SMILES": text}


# --- Experiments as tables ---


def _with_yield(
    path: Path, experiments: Sequence[Experiment], layout: Layout, left_out: RecordNotes
) -> tuple[list[Experiment], list[str]]:
    """(experiments whose yield can be read, lines about cells and about all that is left out)."""
    used, yields, warnings = [], [], RecordNotes()
    for experiment in experiments:
        scores, _, notes = read_scores(experiment.results, _SETTINGS, bool(layout.fraction))
        texts = [f"{_NAMES.get(name, name)}: {note}" for name, note in notes]
        if scores is None:
            left_out["; ".join(texts) or "no yield"].append(experiment.place)
            continue
        used.append(experiment)
        yields.append(scores["yield"])
        for text in texts:
            warnings[text].append(experiment.place)
    for name in ("ee", "er"):
        shares = [cell for e in used if (cell := as_text(e.results.get(name)).strip())]
        if len(shares) > 1 and all(
            re.fullmatch(r"0?\.[0-9]+|1(?:\.0*)?|0", share) for share in shares
        ):
            warnings[f"all {name} are within 0 and 1, and are read as percent"] = [
                e.place for e in used
            ]
    percent = any("%" in as_text(e.results.get(name)) for e in used for name in YIELDS)
    if layout.fraction is None and yields and 0 < max(yields) <= 1 and not percent:
        expected = "all yields are within 0 and 1: say --fraction if they are shares of 1, --no-fraction if percent"
        raise InputError(str(path), expected)
    return used, _group("warning: ", warnings) + _group("left out: ", left_out)


def _group(prefix: str, places: Mapping[str, Sequence[str]]) -> list[str]:
    """A line for each of the first reasons and one for all others: a wrong column gives hundreds of
    reasons.
    """
    rest = [place for reason in list(places)[MOST_REASONS:] for place in places[reason]]
    named = [*list(places.items())[:MOST_REASONS], *([("other cells", rest)] if rest else [])]
    return [f"{prefix}{reason}: {grouped_names(group)}" for reason, group in named]


def _make_table(name: str, experiments: Sequence[Experiment], layout: Layout) -> dict[str, Any]:
    first = experiments[0]
    return {
        "root_img_name": name,
        "source_file": f"{name}.json",
        "doi": layout.doi,
        "year": layout.year,
        "is_table": True,
        "yield_scale": "fraction" if layout.fraction else "percent",
        "duplicates": layout.duplicates,
        "reactants": first.reactants,
        "products": first.products,
        "entries": [
            {"entry_idx": e.entry, "rxn_id": "0", "conditions": e.conditions, "results": e.results}
            for e in experiments
        ],
    }
