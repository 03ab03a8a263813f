"""Import: a tidy table of experiments, CSV or Excel, into table files.

The user says which columns hold the yield and the conditions; result cells go into the
table file as they are printed, where `build` reads them. What is no tidy
table is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, RecordNotes, grouped_names, printable
from forecasteval.common.records import dump_json, group_by

from .cells import read_fraction, read_yield
from .chemicals import YIELDS, Substance, any_case, compare_key, is_smiles, read_items
from .columns import find_header, find_second_quantity, may_give_away, names_standard
from .conditions import Condition, find_conditions, missing_column
from .settings import Settings
from .sheets import DateText, Sheet, SheetRow, read_sheet, show_names
from .tables import Unused

Tables = dict[str, dict[str, Any]]
SPLIT: Final = "expected one quantity in a column: split it into two columns"
_ONE_HEADER: Final = (
    "expected one row of names, the first: join two, or make a file of each table"
)
_NO_DITTO: Final = (
    "expected the value itself in place of a ditto mark: write it into every row"
)
_NO_DATE: Final = (
    "Excel made a date or a time of what was typed (1:2): format the column as text"
)
_MONTH: Final = (
    "(?:jan|feb|mar|mrz|apr|may|mai|jun|jul|aug|sep|o[ck]t|nov|de[cz])[a-z]*"
)
_DATE: Final = any_case(  # in a CSV that Excel wrote
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}\b.*|[0-9]{1,2}:0[0-9](?::.*)?|0[0-9]:[0-9]{2}\b.*"
    rf"|[0-9]{{1,2}}[-.]{_MONTH}|{_MONTH}-[0-9]{{1,2}}|[0-9]{{1,2}}([./])[0-9]{{1,2}}\1[0-9]{{4}}"
)
_DITTO: Final = any_case(
    r"[-–—\s]*(?:(?:[\"″“”〃〞]|'')[-–—\s]*)+|//|[↓↑]|do[.]|ditto|idem|同上|same(?: as "
    r".*)?"
    r"|(?:as|see|like)(?: in)? (?:above|entry [0-9]+[a-z]?)"
)
# What stands in front of a row of averages below the experiments
_SUMMARY: Final = any_case(
    r"(?:(?:average|mean|median|total|sum|max(?:imum)?|min(?:imum)?|sd|s[.]d|std?[. "
    r"]*dev"
    r"(?:iation)?|standard (?:deviation|error)|sem|r\.?s\.?d|avg|variance|mittelwert"
    r"|standardabweichung)\b\W*"
    r"(?:(?:yield|of|sd|std|n)\b.*)?|(?:平均值?|合计|总计|最大值?|最小值?|标准偏?差)\W*)",
)
_DE: Final = any_case(r"(?<![^\W_])d\.?e(?![^\W_])")
_NUMBER: Final = re.compile(r"(?!.*(?::|de)).*[0-9]")
_FIRST_NUMBER: Final = re.compile(r"[^0-9:]*?([0-9]*\.?[0-9]+)[^:]*")
_COMMA: Final = re.compile(r"[<>≤≥~]?\s?[0-9]+,[0-9]+\s?%?")
_STANDARD: Final = (
    "says which option is the standard, mostly the best one: write there what was used "
    "instead"
)
_LEAK: Final = "conditions that may be a result, or the number or the rank of each row"
MAX_SHARE: Final = 1.1  # an assay may measure 1.02
SURE_PERCENT: Final = 1.5  # no assay measures so much
_SAYS_SCALE: Final = re.compile("[%<>≤≥⩽⩾]")
_IF_SHARES: Final = {
    **dict.fromkeys(YIELDS, "say --fraction"),
    "ee": "write them in percent",
}
_RATIO: Final = {"dr": "a de of 90: write 95:5; a share of 97: write 97:3"}
_SHARE: Final = "97: write 97:3"
_NAMES: Final = {"isolated_yield": "isolated yield", "yield_ratio": "yield"}
_FILE_NAME: Final = re.compile(r"[^\w.+-]+")


@dataclass(frozen=True)
class Layout:
    """The columns of a sheet and what they hold, and what all experiments
    of a file share.
    """

    # isolated_yield, yield_ratio, ee, er, dr, rr -> column
    results: Mapping[str, str]
    conditions: Sequence[str] = ()
    reactants: Sequence[str] = ()
    products: Sequence[str] = ()
    reactants_smiles: Sequence[str] = ()
    products_smiles: Sequence[str] = ()
    entry: str | None = None
    sheet: str | None = None
    doi: str = ""
    year: int | None = None
    fraction: bool | None = None


class Experiment(NamedTuple):
    """A row whose results can be read: the entry of a table file, and its reaction. All
    entries of a table have the reaction in common.
    """

    entry: dict[str, Any]
    sides: tuple[list[Substance], list[Substance]]  # reactants, products


class Columns(NamedTuple):
    """The conditions of a sheet, and the names of all columns that are used."""

    conditions: Sequence[Condition]
    used: Sequence[str]

    @property
    def of_conditions(self) -> list[str]:
        """Return the names of the columns of conditions."""
        return [
            column
            for condition in self.conditions
            for column in condition.columns.values()
        ]


def import_file(path: Path, layout: Layout) -> tuple[Tables, list[str]]:
    """Make tables by file name, and notes, of a sheet of experiments.

    A table holds the experiments that agree in reactants and products. Every row of the
    file is in a table, or left out under a reason that the notes name. Raises
    InputError (line, column).
    """
    where = str(path)
    sheet = read_sheet(path, layout.sheet)
    columns = _find_columns(where, layout, sheet)
    _require_tidy(where, sheet, layout, columns)
    _require_scale(where, sheet, layout)
    used: list[tuple[SheetRow, Experiment]] = []
    left_out, doubts = RecordNotes(), RecordNotes()
    for number, row in enumerate(sheet.rows, 1):
        try:
            experiment = _read_experiment(
                row, number, layout, columns.conditions, doubts
            )
            used.append((row, experiment))
        except Unused as left:
            left_out[left.reason].append(row.place + left.detail)
    reasons = [f"left out: {line}" for line in left_out.lines()]
    if not used:
        raise InputError(where, "expected rows with a yield", "; ".join(reasons))
    warnings = [f"warning: {line}" for line in doubts.lines()]
    notes = [
        *sheet.notes,
        *warnings,
        *reasons,
        *_describe_columns(sheet, columns, used),
    ]
    total = len(sheet.rows)
    notes.append(f"rows: {total}, used {len(used)}, left out {total - len(used)}")
    experiments = [experiment for _, experiment in used]
    return _make_tables(path, experiments, layout), notes


def _describe_columns(
    sheet: Sheet, columns: Columns, used: Sequence[tuple[SheetRow, Experiment]]
) -> list[str]:
    """Describe conditions that give the result away, and columns that are not used."""
    cells = {name: [row.cells[name] for row in sheet.rows] for name in sheet.header}
    telling = {name for name in sheet.header if may_give_away(name, cells[name])}
    notes = []
    if leaks := [name for name in columns.of_conditions if name in telling]:
        notes.append(f"warning: {_LEAK}: {show_names(leaks)}")
    unused = [name for name in sheet.header if name not in columns.used]
    repeats = group_by(used, lambda pair: _compare_key(pair[1])).values()
    differing = []
    for name in unused:
        is_row_number = len(set(cells[name])) == len(cells[name])
        in_groups = ({row.cells[name] for row, _ in group} for group in repeats)
        differs = any(len(values) > 1 for values in in_groups)
        if differs and not is_row_number and name not in telling:
            differing.append(name)
    if differing:
        notes.append(
            f"warning: equal conditions differ in: {show_names(differing)} (not used)"
        )
    if unused:
        notes.append(f"columns that are not used: {show_names(unused)}")
    return notes


def _compare_key(experiment: Experiment) -> str:
    """Make a text that is equal for experiments that build takes for repeats."""
    conditions = experiment.entry["conditions"]
    values = {name: compare_key(items, True) for name, items in conditions.items()}
    return dump_json([values, experiment.sides])


# --- What is no tidy table ---


def _find_columns(where: str, layout: Layout, sheet: Sheet) -> Columns:
    """Find the columns of a layout; refuse one with two uses or two quantities, or one
    that build leaves out.
    """
    for field in (*YIELDS, "ee"):
        name = layout.results.get(field, "")
        if other := find_second_quantity(name):
            got = f"{printable(other, 40)} in the name {printable(name, 60)}"
            raise InputError(where, f"{SPLIT}, or rename it if it holds one", got)
    others = [*layout.results.values(), *layout.reactants, *layout.products]
    if layout.entry:
        others.append(layout.entry)
    for name in others:
        if name not in sheet.header:
            raise missing_column(where, name, sheet.header)
    conditions = find_conditions(where, layout.conditions, sheet)
    columns = Columns(conditions, others)
    used = [*columns.of_conditions, *others]
    for name in used:
        if used.count(name) > 1:
            raise InputError(where, f"the column {printable(name, 60)} is named twice")
    names = {condition.name for condition in conditions}
    if hidden := names.intersection(Settings().condition_keys_blacklist):
        expected = "must have another name: build leaves it out of prompts"
        raise InputError(where, f"the column {min(hidden)} {expected}")
    return columns._replace(used=used)


def _require_tidy(where: str, sheet: Sheet, layout: Layout, columns: Columns) -> None:
    """Refuse second headers, ditto marks, and yields beside another quantity."""
    problems = RecordNotes()
    conditions = set(columns.of_conditions)
    yields = {layout.results.get(field) for field in YIELDS}
    for row in sheet.rows:
        if header := find_header(row.cells, [*layout.results.values()]) or _find_words(
            row, layout
        ):
            problems[_ONE_HEADER].append(f"{row.place}: {header}")
        for name in columns.used:
            cell = row.cells[name]
            place = f"{row.place}, {name}: {cell}"
            is_date = isinstance(cell, DateText) or _DATE.fullmatch(cell)
            if _DITTO.fullmatch(cell):
                problems[_NO_DITTO].append(place)
            elif is_date and name in conditions:
                problems[_NO_DATE].append(place)
            elif name in yields and read_yield(cell).selectivity:
                problems[SPLIT].append(place)
    for expected, places in problems.items():
        raise InputError(where, expected, grouped_names(places))


def _find_words(row: SheetRow, layout: Layout) -> str:
    """Find the words of a row in place of results but the first, which may be a remark;
    "" if there are none.
    """
    unread = []
    for field, name in layout.results.items():
        cell = row.cells[name]
        has_digits = re.search("[0-9]", cell)
        if not has_digits and read_cell(field, cell, False)[1]:
            unread.append(cell)
    return ", ".join(unread[1:])


def _require_scale(where: str, sheet: Sheet, layout: Layout) -> None:
    """Refuse yields or ee that may be shares of 1 or percent, where nobody says which,
    and yields that cannot be the shares that they are said to be.
    """
    for field in (*YIELDS, "ee"):
        if not (column := layout.results.get(field)):
            continue
        name = _NAMES.get(field, field)
        numbers = _bare_numbers(row.cells[column] for row in sheet.rows)
        is_open = layout.fraction is None or (layout.fraction and field == "ee")
        if is_open and _are_shares(numbers):
            which = f"the numbers of {name} are within 0 and {MAX_SHARE}"
            todo = _IF_SHARES[field]
            raise InputError(
                where, f"{which}: say --no-fraction if they are percent, else {todo}"
            )
        above = [number for number in numbers if number > SURE_PERCENT]
        if layout.fraction and field != "ee" and len(above) > len(numbers) / 2:
            which = f"most numbers of {name} are above {SURE_PERCENT}"
            raise InputError(where, f"{which}, and no shares: leave out --fraction")


def _bare_numbers(cells: Iterable[str]) -> list[float]:
    """Read the positive numbers of cells that do not say what they are: `≥90%`
    and `<5` say it.
    """
    bare = (cell for cell in cells if not _SAYS_SCALE.search(cell))
    matches = filter(None, map(_FIRST_NUMBER.fullmatch, bare))
    numbers = [float(match[1]) for match in matches]
    return [number for number in numbers if number > 0]


def _are_shares(numbers: Sequence[float]) -> bool:
    """Return whether numbers may be shares of 1: nine of ten are, or all
    but one of three.
    """
    shares = sum(number <= MAX_SHARE for number in numbers)
    others = len(numbers) - shares
    if shares <= 1 and others:
        return False
    return bool(shares) and others <= max(1, len(numbers) / 10)


# --- Rows ---


def _read_experiment(
    row: SheetRow,
    number: int,
    layout: Layout,
    conditions: Sequence[Condition],
    doubts: RecordNotes,
) -> Experiment:
    """Read the experiment of a row, or raise Unused; notes what is doubtful in it."""
    if _SUMMARY.fullmatch(next(filter(None, row.cells.values()), "")):
        raise Unused("an average or a total")
    columns = chain.from_iterable(
        condition.columns.values() for condition in conditions
    )
    if not any(row.cells[column] for column in columns):
        raise Unused("no condition")
    items = {condition.name: condition.read(row.cells) for condition in conditions}
    cells = {field: row.cells[name] for field, name in layout.results.items()}
    results = {field: cell for field, cell in cells.items() if cell}
    if _DE.search(layout.results.get("dr", "")) and _NUMBER.match(
        results.get("dr", "")
    ):
        results["dr"] += " de"  # below `de (%)` 20 is a share of 60, and not 20:1
    with_value = set()
    for field, cell in results.items():
        value, note = read_cell(field, cell, bool(layout.fraction))
        reason = f"{_NAMES.get(field, field)}: {note}"
        if value is not None:
            with_value.add(field)
        elif note:
            raise Unused(reason, f": {cell}")
        if note:
            doubts[reason].append(f"{row.place}: {cell}")
    if with_value.isdisjoint(YIELDS):
        raise Unused("no yield")
    for name, item in items.items():
        if names_standard(name, item["content"]):
            doubts[f"{name}: {item['content']!r} {_STANDARD}"].append(row.place)
    number_in_paper = str(number)
    if layout.entry:
        number_in_paper = row.cells[layout.entry]
    entry = {
        "entry_idx": number_in_paper,
        "rxn_id": "0",
        "conditions": {name: read_items(item) for name, item in items.items()},
        "results": results,
    }
    reactants = _read_side(row, layout.reactants_smiles, layout.reactants)
    products = _read_side(row, layout.products_smiles, layout.products)
    return Experiment(entry, (reactants, products))


def read_cell(field: str, cell: str, fraction: bool) -> tuple[float | None, str]:
    """Read (yield or major fraction, note) of a cell; None with a note if it
    cannot be read.
    """
    if _COMMA.fullmatch(cell):
        return None, "a decimal comma (1,5: write 1.5)"
    if field in YIELDS:
        reading = read_yield(cell, fraction)
        return reading.value, reading.note
    value, note = read_fraction(cell, field)
    if value and note:
        return None, f"one number is no ratio ({_RATIO.get(field, _SHARE)})"
    return value, note


def _read_side(
    row: SheetRow, smiles: Sequence[str], columns: Sequence[str]
) -> list[Substance]:
    """Read reactants or products: the user's SMILES, else those of the columns."""
    given = [_make_molecule("smiles", text) for text in smiles if text]
    return given or [
        _make_molecule(name, row.cells[name]) for name in columns if row.cells[name]
    ]


def _make_molecule(column: str, cell: str) -> Substance:
    """Make the item of a molecule. Its text is its SMILES, too, if the column's name
    says so, or if it is written like one.

    CO alone is carbon monoxide or methanol: then only the name of the column decides.
    """
    molecule: Substance = {"content": cell, "SMILES": ""}
    if "smiles" in column.lower() or is_smiles(cell):
        molecule["SMILES"] = cell
    return molecule


def _make_tables(
    path: Path, experiments: Sequence[Experiment], layout: Layout
) -> Tables:
    """Make a table file of the experiments of each reaction."""
    groups = group_by(experiments, lambda experiment: dump_json(experiment.sides))
    stem = _FILE_NAME.sub("_", path.stem).strip(".") or "table"
    scale = "fraction" if layout.fraction else "percent"
    tables: Tables = {}
    for number, members in enumerate(groups.values(), 1):
        name = stem
        if len(groups) > 1:
            name = f"{stem}_{number}"
        file_name = f"{name}.json"
        reactants, products = members[0].sides
        tables[file_name] = {
            "root_img_name": name,
            "source_file": file_name,
            "doi": layout.doi,
            "year": layout.year,
            "is_table": True,
            "yield_scale": scale,
            "duplicates": "median",  # the best of many repeats is luck
            "reactants": reactants,
            "products": products,
            "entries": [member.entry for member in members],
        }
    return tables
