"""Tables: which of them give questions, which of their rows can be options, and the
    effective score
of a row.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from statistics import median
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import RecordNotes, printable
from forecasteval.common.records import (
    JsonObject,
    as_text,
    group_by,
    has_repeated_keys,
    repeated_keys,
)

from .cells import (
    ROUND,
    YieldCell,
    is_empty,
    may_be_undetermined,
    read_fraction,
    read_yield,
    show_fraction,
)
from .chemicals import (
    SELECTIVITIES,
    Conditions,
    Substance,
    compare_key,
    find_marks,
    fold,
    item_text,
    read_items,
)
from .settings import DUPLICATES, Settings

CONFLICT: Final = 20.0  # points of the effective score
FACTORS: Final = {
    "ee": "enantio_major_fraction",
    "dr": "dr_major_fraction",
    "rr": "rr_major_fraction",
}
ENANTIOMERS: Final = ("ee", "er")  # fields of one quantity
Note = tuple[str, str]  # what is odd, and the cell
# "yield" in percent, the cells of SELECTIVITIES, the FACTORS read from them
Scores = dict[str, Any]


class Unused(Exception):  # noqa: N818 - not an error: how a table, row or question is left out
    """A table that gives no question, a row that is no option, a question not asked;
    `reason` is counted.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason, self.detail = reason, detail


class UsableRow(NamedTuple):
    """A row that can be an option: its place in the table, conditions as printed and as
    compared, results.
    """

    number: int  # in entries, from 0
    entry: JsonObject
    conditions: Conditions  # only keys that have a value
    values: dict[str, tuple[str, ...]]  # key -> what is compared
    # Yields in percent by field, and the major fractions of ee and er
    measured: dict[str, float]
    scores: Scores
    effective: float = 0.0

    def shown(self, keys: Iterable[str]) -> Conditions:
        """Return the row's values of some conditions, as printed."""
        return {key: self.conditions.get(key, []) for key in keys}


class ReactionTable(NamedTuple):
    """A table that passed the filters; its rows have different conditions, in the
    table's order.
    """

    id: str
    source_file: str
    doi: str
    entries: int
    reactants: list[Substance]
    products: list[Substance]  # the main product first
    rows: list[UsableRow]
    varying: list[str]
    constant: list[str]
    # The varying keys, those that always change together in one list
    twins: list[list[str]]
    best: float  # effective score
    left_out: Counter[str]  # rows that are no options, by reason
    # Equal conditions whose scores are more than CONFLICT points apart
    conflicts: list[str]


def read_table(
    raw: object, name: str, settings: Settings, warnings: list[str]
) -> ReactionTable:
    """Read the table of a file, or raise Unused; appends a warning for
    each bad cell.
    """
    if not isinstance(raw, Mapping) or not isinstance(raw.get("entries"), list):
        raise Unused("not_a_table", "expected an object with a list 'entries'")
    scale, duplicates = _require_usable(raw, settings)
    reactants, products = _read_reaction(
        raw, name, settings.reactant_product_require, warnings
    )
    entries = raw["entries"]
    left_out: Counter[str] = Counter()
    is_fraction = scale == "fraction"
    read = _read_rows(entries, name, settings, is_fraction, left_out, warnings)
    scored = score_rows(read, name, settings.yield_field_priority, warnings)
    left_out["other_yield"] = len(read) - len(scored)
    if len(scored) < 2:
        raise _too_few_rows(scored, entries, left_out)
    unmarked = _leave_marked(scored, duplicates, name, warnings)
    left_out["equal_but_for_a_mark"] = len(scored) - len(unmarked)
    rows, conflicts = _merge_repeats(unmarked, duplicates, name)
    left_out["equal_conditions"] = len(unmarked) - len(rows)
    keys = sorted({key for row in rows for key in row.values})
    varying = [key for key in keys if _varies(key, rows)]
    constant = [key for key in keys if key not in varying]
    if not varying:
        raise Unused("no_varying_condition")
    twins = _find_twins(rows, varying, name, warnings)
    best = max(row.effective for row in rows)
    file_name = name.rpartition("/")[2]
    source_file = item_text(raw.get("source_file")) or file_name
    title = item_text(raw.get("root_img_name")).strip() or file_name.removesuffix(
        ".json"
    )
    table_id = printable(title)
    doi = item_text(raw.get("doi"))
    return ReactionTable(
        id=table_id,
        source_file=source_file,
        doi=doi,
        entries=len(entries),
        reactants=reactants,
        products=products,
        rows=rows,
        varying=varying,
        constant=constant,
        twins=twins,
        best=best,
        left_out=+left_out,
        conflicts=conflicts,
    )


def _too_few_rows(
    rows: Sequence[UsableRow], entries: Sequence[object], left_out: Mapping[str, int]
) -> Unused:
    """Make the reason of a table that has no two rows to choose from."""
    detail = f"{len(rows)} of {len(entries)}"
    if left_out["condition_require"]:
        return Unused("filter_condition_require", detail)
    return Unused("fewer_than_two_readable_rows", detail)


def _varies(key: str, rows: Iterable[UsableRow]) -> bool:
    values = {row.values.get(key) for row in rows}
    return len(values) > 1


def _find_twins(
    rows: Sequence[UsableRow], varying: Sequence[str], name: str, warnings: list[str]
) -> list[list[str]]:
    """Group the varying keys: those that determine each other in all
    rows are together.
    """
    groups: dict[tuple[int, ...], list[str]] = {}
    for key in varying:
        # Of its values, in the order in which they occur
        numbers: dict[object, int] = {}
        values = (row.values.get(key) for row in rows)
        pattern = tuple(numbers.setdefault(value, len(numbers)) for value in values)
        groups.setdefault(pattern, []).append(key)
    for twins in groups.values():
        if len(twins) > 1:
            shown = ", ".join(printable(key, 60) for key in twins)
            warnings.append(
                printable(f"{name}: {shown}: always change together, asked as one")
            )
    return [*groups.values()]


# --- Filters ---


def _require_usable(raw: JsonObject, settings: Settings) -> tuple[str, str]:
    """Read (scale of the yield, what to do with equal conditions); Unused unless the
    table passes the filters.
    """
    if twice := repeated_keys(raw):
        raise Unused(
            "not_a_table", f"'{twice[0]}' is given twice with different values"
        )
    if raw.get("is_table", True) is not True:
        raise Unused("filter_is_table")
    if not _passes_year(raw.get("year"), settings.year_filter):
        raise Unused("filter_year", f"year {raw.get('year')!r}")
    scale = _choose(raw, "yield_scale", ("percent", "fraction"))
    return scale, settings.duplicates or _choose(raw, "duplicates", DUPLICATES)


def _choose(raw: JsonObject, key: str, allowed: Sequence[str]) -> str:
    """Read a choice of a table, by default the first one."""
    value = raw.get(key) or allowed[0]
    if value not in allowed:
        raise Unused(
            "not_a_table", f"'{key}' must be {', '.join(allowed)}, got {value!r}"
        )
    return str(value)


def _passes_year(year: object, wanted: int | tuple[int, ...] | None) -> bool:
    if wanted is None:
        return True
    text = item_text(year).strip()
    if not re.fullmatch(r"[0-9]{1,4}(?:\.0)?", text):
        return False
    number = int(float(text))
    if isinstance(wanted, tuple):
        return number in wanted
    return number >= wanted


def _read_reaction(
    raw: JsonObject, name: str, required: str, warnings: list[str]
) -> tuple[list[Substance], list[Substance]]:
    """Read (reactants, products), the main product first.

    Raises Unused if rows differ in them, and if a molecule lacks what is required.
    """
    reactants = _read_side(raw, "reactants")
    products = _read_side(raw, "products")
    if main := item_text(raw.get("main_product_smiles")).strip():
        named: Substance = {"content": "", "SMILES": main}
        first = next(
            (item for item in products if item["SMILES"].strip() == main), named
        )
        if first is named:
            warnings.append(
                printable(f"{name}: main_product_smiles is not one of the products")
            )
        products = [first, *(item for item in products if item is not first)]
    for what, items in (("reactant", reactants), ("product", products)):
        if not items and required != "none":
            raise Unused("filter_reactant_product_require", f"no {what}")
        if _lacks(items, required):
            lacking = f"a {what} without {required.replace('smiles', 'SMILES')}"
            raise Unused("filter_reactant_product_require", lacking)
    return reactants, products


def _read_side(raw: JsonObject, side: str) -> list[Substance]:
    """Read the reactants or the products of the table or (where it has
    none) of its rows.
    """
    of_table = read_items(raw.get(side))
    entries = [entry for entry in raw["entries"] if isinstance(entry, Mapping)]
    of_rows = [read_items(entry.get(side)) or of_table for entry in entries]
    if len(set(map(_compare_molecules, of_rows))) > 1:
        raise Unused("filter_same_reactants_products", f"{side} differ between rows")
    return of_table or next(iter(of_rows), [])


def _compare_molecules(items: Sequence[Substance]) -> tuple[str, ...]:
    """Make the comparable form of reactants or products."""
    return tuple(
        sorted(item["SMILES"].strip() or fold(item["content"]) for item in items)
    )


def _lacks(items: Iterable[Substance], required: str) -> bool:
    """Return whether an item lacks its content or its SMILES, as `required` says."""
    if required == "none":
        return False
    if required == "smiles":
        return not all(item["SMILES"].strip() for item in items)
    return not all(item["content"].strip() for item in items)


# --- Rows ---


def _read_rows(
    entries: Iterable[Any],
    name: str,
    settings: Settings,
    fraction: bool,
    left_out: Counter[str],
    warnings: list[str],
) -> list[UsableRow]:
    """Read the entries that can be options; counts the others by reason, appends a
    warning for each kind of bad cells.
    """
    rows = []
    kinds = RecordNotes()
    for index, entry in enumerate(entries):
        notes: list[Note] = []
        try:
            rows.append(_read_row(entry, index, settings, fraction, notes))
        except Unused as left:
            left_out[left.reason] += 1
            if left.detail:
                notes.append((f"{left.detail}; row not used", ""))
        place = _name_entry(entry, index)
        for note, cell in notes:
            kinds[note].append(": ".join(filter(None, (place, cell))))
    warnings += [printable(f"{name}: {line}") for line in kinds.lines()]
    return rows


def _name_entry(entry: object, index: int) -> str:
    """Name an entry by its number in the paper, else by its index."""
    if not isinstance(entry, Mapping) or entry.get("entry_idx") is None:
        return f"entries[{index}]"
    return f"entry {printable(item_text(entry['entry_idx']), 20)}"


def _read_row(
    entry: object, index: int, settings: Settings, fraction: bool, notes: list[Note]
) -> UsableRow:
    """Read the row of an entry; Unused if it is no option. Appends a note for
    each bad cell.
    """
    if not isinstance(entry, Mapping):
        raise Unused("unreadable", f"expected an object, got {type(entry).__name__}")
    if has_repeated_keys(entry):
        raise Unused("unreadable", "a key is given twice with different values")
    conditions = entry.get("conditions") or {}
    results = entry.get("results") or {}
    if not isinstance(conditions, Mapping) or not isinstance(results, Mapping):
        raise Unused("unreadable", "'conditions' and 'results' must be objects")
    measured, scores = read_results(results, settings, fraction, notes)
    used = _read_conditions(conditions, settings)
    required = settings.condition_require
    for key, items in used.items():
        is_exempt = required == "smiles" and key in settings.smiles_exempt_keys
        if _lacks(items, required) and not is_exempt:
            raise Unused("condition_require", f"{key}: an item without {required}")
    normalize = settings.normalize_conditions
    values = {key: compare_key(items, normalize) for key, items in used.items()}
    return UsableRow(index, entry, used, values, measured, scores)


def _read_conditions(raw: JsonObject, settings: Settings) -> Conditions:
    """Read the conditions of a row that count, by key, without those that
    have no value.
    """
    values = dict(raw)
    if settings.expand_current_conditions:
        values = _lift_current(values)
    wanted = settings.condition_keys
    if wanted is None:
        wanted = tuple(values)
    hidden = settings.condition_keys_blacklist
    items = {key: read_items(value) for key, value in values.items()}
    return {
        key: items[key]
        for key in items
        if items[key] and key in wanted and key not in hidden
    }


def _lift_current(conditions: dict[str, Any]) -> dict[str, Any]:
    """Put the keys inside `current_conditions` beside it; it keeps what has no
    keys of its own.
    """
    parts = conditions.pop("current_conditions", [])
    if not isinstance(parts, list):
        parts = [parts]
    unnamed = []
    for part in parts:
        is_group = isinstance(part, Mapping) and {"content", "SMILES"}.isdisjoint(part)
        if not is_group:
            unnamed.append(part)
            continue
        for key, value in part.items():
            # What stands beside it is of this row alone, and counts.
            if not read_items(conditions.get(key)):
                conditions[key] = value
    if unnamed:
        conditions["current_conditions"] = unnamed
    return conditions


def _leave_marked(
    rows: Sequence[UsableRow], duplicates: str, name: str, warnings: list[str]
) -> list[UsableRow]:
    """Leave out rows that differ from others in a footnote mark only, where their
    median would count; warn of all.

    `Cs2CO3[b]` is not a repeat of `Cs2CO3`: its footnote says what else was changed.
    """
    merged: set[int] = set()
    for group in group_by(rows, lambda row: frozenset(row.values.items())).values():
        marks = [_find_marks(row) for row in group]
        if len(set(marks)) == 1:
            continue
        numbers = [item_text(row.entry.get("entry_idx")) for row in group]
        shown = ", ".join(printable(number, 20) for number in numbers)
        todo = "a footnote says what was changed: write it"
        warnings.append(
            printable(f"{name}: entries {shown}: equal but for a mark; {todo}")
        )
        plain = min(marks, key=len)
        if duplicates == "median":
            pairs = zip(group, marks, strict=True)
            merged.update(row.number for row, mark in pairs if mark != plain)
    return [row for row in rows if row.number not in merged]


def _find_marks(row: UsableRow) -> tuple[str, ...]:
    """Find the footnote marks of a row's entry number and conditions, without
    those of others.
    """
    number = item_text(row.entry.get("entry_idx"))
    texts = [
        item["content"]
        for key in sorted(row.conditions)
        for item in row.conditions[key]
    ]
    marks = map(find_marks, [number, *texts])
    return tuple(filter(None, marks))


def _merge_repeats(
    rows: Iterable[UsableRow], duplicates: str, name: str
) -> tuple[list[UsableRow], list[str]]:
    """Merge rows with equal conditions into the best one, their median, or none:
    (rows, conflicts).

    Repeats that agree are one row whatever `duplicates` says.
    """
    merged, conflicts = [], []
    for group in group_by(rows, lambda row: frozenset(row.values.items())).values():
        best = max(group, key=attrgetter("effective"))
        lowest = min(row.effective for row in group)
        if best.effective - lowest > CONFLICT:
            span = f"effective {lowest:g} to {best.effective:g}"
            places = ", ".join(str(row.number) for row in group)
            conflict = (
                f"{name}: entries[{places}]: equal conditions, {span} ({duplicates})"
            )
            conflicts.append(printable(conflict))
        if best.effective == lowest or duplicates == "best":
            merged.append(best)
        elif duplicates == "median":
            merged.append(_median_row(group))
    return sorted(merged, key=attrgetter("number")), conflicts


def _median_row(rows: Sequence[UsableRow]) -> UsableRow:
    """Make a row of the medians of rows with equal conditions."""
    first = rows[0]
    amount = median(row.scores["yield"] for row in rows)
    scores = {**first.scores, "er": None, "yield": round(amount, ROUND)}
    for field, key in FACTORS.items():
        scores[field] = scores[key] = None
        fractions = [row.scores[key] for row in rows if row.scores[key] is not None]
        if fractions:
            scores[key] = median(fractions)
            scores[field] = show_fraction(scores[key], field)
    return first._replace(scores=scores, effective=find_effective(scores))


# --- Scores of a row ---


def read_results(
    results: JsonObject, settings: Settings, fraction: bool, notes: list[Note]
) -> tuple[dict[str, float], Scores]:
    """Read what was measured in a row, by field, and its scores without the yield and
    the major fraction of enantiomers, whose fields the table decides.

    Raises Unused if there is no yield. Appends a note for each bad cell.
    """
    fields = settings.yield_field_priority
    yields = {field: read_yield(results.get(field), fraction) for field in fields}
    selectivities = {field: results.get(field) for field in SELECTIVITIES}
    for cell in yields.values():
        for name, text in cell.selectivity:
            if is_empty(selectivities[name]):
                selectivities[name] = text
    readings = {
        field: read_fraction(cell, field) for field, cell in selectivities.items()
    }
    problems = [(field, cell.note) for field, cell in yields.items()]
    problems += [(field, note) for field, (_, note) in readings.items()]
    for field, note in problems:
        if note:
            shown = printable(as_text(results.get(field)), 40)
            notes.append((f"{field}: {note}", shown))
    measured = _find_yields(yields)
    # Beside another yield n.d. is "not determined", alone it is "not detected".
    if any(measured.values()):
        for field in fields:
            if may_be_undetermined(results.get(field)):
                measured.pop(field, None)
    if not measured:
        raise Unused("no_yield")
    fractions = {field: fraction for field, (fraction, _) in readings.items()}
    for field in ENANTIOMERS:
        fraction_of_major = fractions[field]
        if fraction_of_major is not None:
            measured[field] = fraction_of_major
    factors = {key: fractions[field] for field, key in FACTORS.items()}
    return measured, {**selectivities, **factors}


def _find_yields(cells: Mapping[str, YieldCell]) -> dict[str, float]:
    """Find the yields of a row by field. Of `80 (77)`, 77 is the isolated one."""
    yields = {
        field: cell.value for field, cell in cells.items() if cell.value is not None
    }
    isolated = [cell.isolated for cell in cells.values() if cell.isolated is not None]
    cell = cells.get("isolated_yield")
    if cell is None or not isolated:
        return yields
    if cell.isolated is not None:
        yields["isolated_yield"] = cell.isolated
    elif cell.value is None:
        yields["isolated_yield"] = isolated[0]
    return yields


def score_rows(
    rows: Sequence[UsableRow], name: str, fields: Sequence[str], warnings: list[str]
) -> list[UsableRow]:
    """Score all rows by the yield field that most of them have, the first
    of equal ones.

    Papers isolate the product of their best conditions only: 96 by NMR, 85 isolated,
    beside 90 by NMR. Where one is compared with the other, the best conditions lose. A
    row without that field has its other yield: an isolated one is at least so much by
    NMR, but of a row that would be the best by NMR alone nobody knows how much can be
    isolated. It is left out.
    """
    measure = _find_measure(rows, fields)
    enantiomers = _find_measure(rows, ENANTIOMERS)
    amounts = [row.measured[measure] for row in rows if measure in row.measured]
    best = max(amounts, default=0.0)
    scored = []
    for row in rows:
        amount = _first_of(row.measured, (measure, *fields))
        if measure == "isolated_yield" and amount > best:
            continue
        scores = {"yield": amount, **row.scores}
        scores[FACTORS["ee"]] = _first_of(row.measured, (enantiomers, *ENANTIOMERS))
        scored.append(row._replace(scores=scores, effective=find_effective(scores)))
    left_out = len(rows) - len(scored)
    if note := _describe_measure(rows, measure, fields, left_out):
        warnings.append(printable(f"{name}: {note}"))
    return scored


def _first_of(measured: Mapping[str, float], fields: Iterable[str]) -> Any:
    """Return what was measured of the first field that a row has; None without any."""
    return next((measured[field] for field in fields if field in measured), None)


def _find_measure(rows: Sequence[UsableRow], fields: Sequence[str]) -> str:
    """Find the field that most rows have."""
    counts = Counter(field for row in rows for field in _fields_of(row, fields))
    return max(fields, key=lambda field: counts[field])


def _fields_of(row: UsableRow, fields: Sequence[str]) -> Iterable[str]:
    """List the fields of a row: all if nothing formed, since nothing can be
    isolated then.
    """
    if 0.0 in row.measured.values():
        return fields
    return row.measured


def _describe_measure(
    rows: Sequence[UsableRow], measure: str, fields: Sequence[str], left_out: int
) -> str:
    """Describe which yield is compared; "" where it comes first and
    all rows have it.
    """
    counts = Counter(field for row in rows for field in row.measured)
    present = [field for field in fields if counts[field]]
    is_lacking = any(measure not in _fields_of(row, fields) for row in rows)
    if len(present) < 2 or (measure == present[0] and not is_lacking):
        return ""
    shares = ", ".join(f"{field} in {counts[field]}" for field in present)
    text = f"{shares} of {len(rows)} rows: {measure} is compared"
    if left_out:
        text += f"; {left_out} not used, best by another yield"
    return text


def find_effective(scores: Scores) -> float:
    """yield * enantio * dr * rr; a missing factor is 1."""
    factors = [scores[key] for key in FACTORS.values() if scores[key] is not None]
    product = math.prod([scores["yield"], *factors])
    return round(float(product), ROUND)


def number_scores(scores: Scores) -> Scores:
    """Write selectivities as numbers: ee in percent, ratios as r of r:1;
    null without one.

    A single isomer has no r, and null scores as it does.

    >>> cells = {"ee": "90[d]", "er": None, "dr": "75:25", "rr": "single isomer"}
    >>> list(number_scores({"yield": 80.0, **cells}).values())
    [80.0, 90.0, None, 3.0, None]
    """
    numbers = {**scores, **dict.fromkeys(SELECTIVITIES)}
    for field in SELECTIVITIES:
        fraction, _ = read_fraction(scores[field], field)
        if fraction is None:
            continue
        if field == "ee":
            numbers[field] = round(200 * fraction - 100, ROUND)
        elif fraction < 1:
            numbers[field] = round(fraction / (1 - fraction), ROUND)
    return numbers


def shown_scores(scores: Scores) -> Scores:
    """Collect the values of a reference: the yield, and every selectivity
    that is scored.

    >>> factors = dict(zip(FACTORS.values(), (0.95, 0.75, None)))
    >>> shown_scores({"yield": 80.0, "ee": "90[d]", "er": None, "dr": "3:1", "rr": "", **factors})
    {'yield': 80.0, 'ee': '90%', 'dr': '3:1'}
    """  # noqa: E501
    shown = {"yield": scores["yield"]}
    for field, key in FACTORS.items():
        if scores[key] is None:
            continue
        # The fraction of enantiomers may be that of the er.
        if field == "ee" and read_fraction(scores["ee"], "ee")[0] is None:
            field = "er"
        shown[field] = show_fraction(scores[key], field, scores[field])
    return shown
