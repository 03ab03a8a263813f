"""Import: a sheet of experiments, CSV or Excel, into table files.

The user says which columns hold the yield and the conditions; `list_columns` shows what there is.
"""

from __future__ import annotations

import re
from argparse import BooleanOptionalAction
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, RecordNotes, printable
from forecasteval.common.records import as_text, dump_json, group_by

from .cells import read_yield
from .chemicals import SELECTIVITIES, YIELDS, Conditions, Item, any_case, is_smiles, read_items
from .columns import (
    fold_name,
    guess_use,
    interpret_header,
    is_entry,
    is_mass,
    split_cell,
    warn_of_conditions,
)
from .settings import DUPLICATES, Settings
from .sheets import UNNAMED, UNSAVED, Row, Sheet, read_sheet, show_names
from .tables import read_scores

Tables = dict[str, dict[str, Any]]
MOST_REASONS: Final = 20
SHOWN_VALUES: Final = 3  # of a column in the list of columns
_REACTION: Final = re.compile(r"[^>\s]*>[^>\s]*>[^>\s]*(?:\s+\|.*\|)?")
_SENTENCE: Final = re.compile(r"[^\s]+\s.*[^\W\d_]{2}", re.S)  # several words: a footnote
_SUMMARY: Final = any_case(  # what stands in front of a row of averages below the experiments
    r"(?:(?:average|mean|median|total|sum|max(?:imum)?|min(?:imum)?|sd|stdev)\b\W*"
    r"(?:(?:yield|of|sd|std|n)\b.*)?|(?:平均值?|合计|总计|最大值?|最小值?)\W*)",
)
MOST_SHARE: Final = 1.1  # an assay may measure 1.02
_SHARE: Final = re.compile(r"0?\.[0-9]+|1(?:\.0*)?|0")
_NAMES: Final = {"isolated_yield": "isolated yield", "yield_ratio": "yield"}
_FIELDS: Final = {"yield": "yield_ratio", **{field: field for field in SELECTIVITIES}}
_SCORED: Final = (*_FIELDS, "conv")
_FILE_NAME: Final = re.compile(r"[^\w.+-]+")
_NO_SMILES: Final = (
    "reactants and products are not all SMILES: "
    "build with --reactant-product-require content or none"
)
_SETTINGS: Final = Settings()


def _option(text: str, metavar: str | None = "COL", default: object = None, **words: object) -> Any:
    """A field of `Layout` that is an option of the command line, with the words of argparse."""
    names = {"metavar": metavar} if metavar else {}
    return field(default=default, metadata={"help": text, **names, **words})


def _columns(text: str, metavar: str = "COL") -> Any:
    return _option(text, metavar, (), nargs="+")


@dataclass(frozen=True)
class Layout:
    """The columns of a sheet and what they hold, and what all experiments of a file share."""

    # result field (isolated_yield, yield_ratio, ee, er, dr, rr) -> column
    results: Mapping[str, str]
    conditions: Sequence[str] = _columns("columns of conditions")
    reactants: Sequence[str] = _columns("columns of reactants")
    products: Sequence[str] = _columns("columns of products")
    group: Sequence[str] = _columns("columns whose values separate tables and are shown in prompts")
    reaction: str | None = _option("column of reaction SMILES, for reactants and products")
    reactants_smiles: Sequence[str] = _columns("reactants of every experiment", "SMILES")
    products_smiles: Sequence[str] = _columns("products of every experiment", "SMILES")
    entry: str | None = _option("column of the entry number (default: one named entry, no, run …)")
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

    def __post_init__(self) -> None:
        """Fold the names of columns, as those of a sheet are."""
        results = {result: fold_name(name) for result, name in self.results.items()}
        object.__setattr__(self, "results", results)
        for name in ("conditions", "reactants", "products", "group"):
            object.__setattr__(self, name, tuple(map(fold_name, getattr(self, name))))

    @property
    def is_complete(self) -> bool:
        """Whether it says where yields and conditions are."""
        return bool(self.conditions) and not set(YIELDS).isdisjoint(self.results)

    @property
    def columns(self) -> list[str]:
        """The columns that have one use; those of groups may have another, too."""
        single = filter(None, (self.reaction, self.entry))
        return [
            *self.results.values(), *single, *self.conditions, *self.reactants, *self.products,
        ]  # fmt: skip


OPTIONS: Final = tuple(option for option in fields(Layout) if option.metadata)


class Experiment(NamedTuple):
    """A row of a sheet that has a yield: the entry of a table file, and its reaction and group,
    which all entries of a table have in common.
    """

    row: Row
    entry: dict[str, Any]
    amount: float  # its yield
    sides: tuple[list[Item], list[Item]]  # reactants, products
    group: list[str]


class Places(RecordNotes):
    """Places of rows by reason; a wrong column gives hundreds of reasons."""

    def add(self, reason: str, place: str) -> None:
        is_shown = reason in self or len(self) < MOST_REASONS
        self[reason if is_shown else "other cells"].append(place)


def import_file(path: Path, layout: Layout) -> tuple[Tables, list[str]]:
    """(tables by file name, notes) of a sheet of experiments.

    A table holds the experiments that agree in reactants, products and group. Every row of the file
    is in a table, or left out under a reason that the notes name. Raises InputError (line, column).
    """
    if not layout.is_complete:
        raise InputError(str(path), "expected the columns of the yield and of the conditions")
    _check_columns(layout, str(path))
    named = [*layout.columns, *layout.group]
    sheet = read_sheet(path, layout.sheet, named)
    entry = layout.entry or _find_entry(sheet.header, named)
    unused = [name for name in sheet.header if name not in (*named, entry)]
    if unused:  # else the user says what each column is
        _refuse_plate(path, sheet)
    left_out, warnings = Places(), Places()
    used = _find_experiments(sheet.rows, layout, entry, left_out, warnings)
    reasons = [f"left out: {line}" for line in left_out.lines()]
    if not used:
        raise InputError(str(path), "expected rows with a yield", "; ".join(reasons) or "none")
    _check_scales(str(path), used, layout.fraction, warnings)
    cells = {name: [each.row.cells[name] for each in used] for name in layout.conditions}
    notes = [*sheet.notes, *_describe_results(layout.results.values())]
    if entry and not layout.entry:
        notes.insert(len(sheet.notes), f"column {entry!r} is read as the entry number")
    if unused:
        notes.append(f"columns that are not used: {show_names(unused)}")
    told = [*warn_of_conditions(cells, [each.amount for each in used]), *warnings.lines()]
    notes += [f"warning: {text}" for text in told] + reasons
    sides = [side for each in used for side in each.sides]
    if not all(side and all(item["SMILES"] for item in side) for side in sides):
        notes.append(_NO_SMILES)
    total = len(sheet.rows)
    notes.append(f"rows: {total}, used {len(used)}, left out {total - len(used)}")
    return _make_tables(path, used, layout), notes


def list_columns(
    path: Path, sheet_name: str | None = None, results: Collection[str] = ()
) -> list[tuple[str, str, str]]:
    """(name, first values, what it looks like) of the columns of a sheet; InputError for a plate,
    unless the user named columns of `results`.
    """
    sheet = read_sheet(path, sheet_name)
    if not results:
        _refuse_plate(path, sheet)
    return [
        (name, ", ".join(list(dict.fromkeys(filter(None, cells)))[:SHOWN_VALUES]), guess_use(name))
        for name, cells in sheet.columns().items()
    ]


def _refuse_plate(path: Path, sheet: Sheet) -> None:
    """InputError if every cell is a yield, with the values of one condition across and of another
    down (behind entry numbers, if there are any).
    """
    columns = sheet.columns()
    left = [name for name in columns if name == UNNAMED or not is_entry(name)]
    is_yields = [any(columns[name]) and all(map(_is_amount, columns[name])) for name in left]
    looks = set(map(guess_use, left[1:]))
    if is_yields[:1] == [False] and all(is_yields[1:]) and len(left) > 2 and looks == {"condition"}:
        expected = "expected one row per experiment, with columns such as base, acid, yield"
        got = "a plate: results below every column but the first (if not, call the yields 'yield')"
        raise InputError(str(path), expected, got)


def _is_amount(cell: str) -> bool:
    return not cell or read_yield(cell).value is not None


# --- Columns ---


def _check_columns(layout: Layout, where: str) -> None:
    """InputError for a column with two uses, or one that build would leave out."""
    named = layout.columns
    if masses := [name for key, name in layout.results.items() if key in YIELDS and is_mass(name)]:
        expected = "expected yields in percent, or as shares of 1"
        raise InputError(where, expected, f"the column {printable(masses[0], 60)}")
    for name in named:
        if named.count(name) > 1:
            raise InputError(where, f"the column {printable(name, 60)} is named twice")
    shown = {*layout.conditions, *layout.group}
    if hidden := shown.intersection(_SETTINGS.condition_keys_blacklist):
        expected = "must have another name: build leaves it out of prompts"
        raise InputError(where, f"the column {min(hidden)} {expected}")


def _find_entry(header: Sequence[str], named: Sequence[str]) -> str | None:
    """The first column of entry numbers by its name, one with a name before pandas' index."""
    entries = [name for name in header if name not in named and is_entry(name)]
    return min(entries, key=UNNAMED.__eq__, default=None)


def _describe_results(names: Iterable[str]) -> Iterator[str]:
    """What a column holds whose name announces more than one quantity."""
    for name in names:
        first, *others = interpret_header(name) or ("",)
        if others and others[0] in _SCORED:
            yield f"column {name!r} holds {' and '.join((first, *others))}"
        elif others:
            yield f"column {name!r}: what stands in brackets is {', '.join(others)}, and not used"


# --- Rows ---


def _find_experiments(
    rows: Sequence[Row], layout: Layout, entry: str | None, left_out: Places, warnings: Places
) -> list[Experiment]:
    """The experiments whose yield can be read; adds the places of all other rows, and of cells
    that cannot be read.
    """
    used: list[Experiment] = []
    number = 0
    for row in rows:
        if reason := _why_no_experiment(row, layout):
            left_out.add(reason, row.place)
            continue
        number += 1
        results = _read_results(row, layout)
        scores, _, problems = read_scores(results, _SETTINGS, layout.fraction is True)
        texts = [f"{_NAMES.get(name, name)}: {problem}" for name, problem in problems]
        if scores is None:
            left_out.add("; ".join(texts) or "no yield", row.place)
            continue
        name = row.cells[entry] if entry else str(number)
        record = {"entry_idx": name, "rxn_id": "0", "conditions": _read_conditions(row, layout)}
        sides = _read_reaction(row, layout)
        group = [row.cells[name] for name in layout.group]
        used.append(Experiment(row, {**record, "results": results}, scores["yield"], sides, group))
        for text in texts:
            warnings.add(text, row.place)
    return used


def _why_no_experiment(row: Row, layout: Layout) -> str:
    """Why a row holds no experiment, by its cells alone; "" if it may hold one."""
    filled = [name for name, cell in row.cells.items() if cell]
    if not filled:
        return "empty"
    first = row.cells[filled[0]]
    if len(filled) == 1 and filled[0] not in layout.results.values() and _SENTENCE.match(first):
        return "a footnote"
    if _SUMMARY.fullmatch(first):
        return "an average or a total"
    for name in (*layout.columns, *layout.group):
        if row.cells[name].startswith(UNSAVED):
            return f"{name}: {UNSAVED.rstrip(' :')}"
    is_lost = layout.reaction and not _REACTION.fullmatch(row.cells[layout.reaction])
    return "no reaction SMILES" if is_lost else ""


def _read_reaction(row: Row, layout: Layout) -> tuple[list[Item], list[Item]]:
    """(reactants, products): the user's SMILES, else those of the reaction, else by columns."""
    reaction = row.cells[layout.reaction].split()[0] if layout.reaction else ">>"
    before, _, after = reaction.split(">")

    def read(smiles: Sequence[str], columns: Sequence[str]) -> list[Item]:
        return [_item("smiles", text, True) for text in smiles if text] or [
            _item(name, cell, True) for name in columns if (cell := row.cells[name])
        ]

    return (
        read(layout.reactants_smiles or before.split("."), layout.reactants),
        read(layout.products_smiles or after.split("."), layout.products),
    )


def _read_conditions(row: Row, layout: Layout) -> Conditions:
    """The conditions, and the columns of groups that are shown in no other place."""
    shown = set(layout.group).difference(layout.reactants, layout.products)
    names = [*layout.conditions, *filter(shown.__contains__, layout.group)]
    return {name: read_items(_item(name, row.cells[name], False)) for name in names}


def _read_results(row: Row, layout: Layout) -> dict[str, str | None]:
    """The result cells, whole; a column whose name announces two quantities gives both, unless the
    other has a column.
    """
    named: dict[str, str | None] = {}
    beside: dict[str, str | None] = {}
    for result, name in layout.results.items():
        own = "yield" if result in YIELDS else result
        parts = {own: row.cells[name]}
        if len(roles := interpret_header(name)) > 1:
            if own not in roles[:2] and roles[0] not in _SCORED:
                roles = (own, *roles[1:])  # Area% (3a): the user says that it is the yield
            parts = split_cell(row.cells[name], roles)
        named[result] = parts.pop(own, None) or None
        beside |= {_FIELDS[role]: text for role, text in parts.items() if role in _FIELDS}
    return {**beside, **{key: text for key, text in named.items() if text or key not in beside}}


def _item(column: str, cell: str, molecule: bool) -> Item:
    """An item; its text is its SMILES, too, if the column's name says so, or if a molecule is
    written like one.

    CO alone is carbon monoxide or methanol: then only the name of the column decides.
    """
    text = cell.strip()
    smiles = "smiles" in column.lower() or (molecule and is_smiles(text))
    return {"content": text, "SMILES": text if smiles else ""}


# --- Results ---


def _check_scales(
    where: str, used: Sequence[Experiment], fraction: bool | None, warnings: Places
) -> None:
    """InputError if the yields may be shares of 1 or percent, and nobody says which; adds a warning
    about ee that look like shares.
    """
    results = [each.entry["results"] for each in used]
    percent = any("%" in as_text(row.get(name)) for row in results for name in YIELDS)
    best = max(each.amount for each in used)
    if fraction is None and 0 < best <= MOST_SHARE and not percent:
        choice = "say --fraction if they are shares of 1, --no-fraction if percent"
        raise InputError(where, f"all yields are within 0 and {MOST_SHARE}: {choice}")
    shares = [cell for row in results if (cell := row.get("ee"))]
    if len(shares) > 1 and all(map(_SHARE.fullmatch, shares)):
        for each in used:
            warnings.add("all ee are within 0 and 1, and are read as percent", each.row.place)


def _make_tables(path: Path, experiments: Sequence[Experiment], layout: Layout) -> Tables:
    groups = group_by(experiments, lambda each: dump_json([*each.sides, each.group]))
    stem, width = _FILE_NAME.sub("_", path.stem).strip(".") or "table", len(str(len(groups)))
    tables: Tables = {}
    for number, members in enumerate(groups.values(), 1):
        name = stem if len(groups) == 1 else f"{stem}_{number:0{width}d}"
        reactants, products = members[0].sides
        tables[f"{name}.json"] = {
            "root_img_name": name,
            "source_file": f"{name}.json",
            "doi": layout.doi,
            "year": layout.year,
            "is_table": True,
            "yield_scale": "fraction" if layout.fraction else "percent",
            "duplicates": layout.duplicates,
            "reactants": reactants,
            "products": products,
            "entries": [member.entry for member in members],
        }
    return tables
