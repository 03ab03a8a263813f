"""Rows of a table: conditions that count, results as an effective score, and why a row is no option."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import printable
from forecasteval.common.records import as_text, has_repeated_keys

from .cells import ROUND, is_empty, read_fraction, read_yield, show_fraction
from .items import Item, compare_key, item_text, read_items
from .kinds import SELECTIVITIES
from .settings import Settings

FACTORS: Final = {"ee": "enantio_major_fraction", "dr": "dr_major_fraction", "rr": "rr_major_fraction"}


class Row(NamedTuple):
    """A row that can be an option: its place in the table, conditions as printed and as compared, results."""

    number: int  # in entries, from 0
    entry: Mapping[str, Any]
    conditions: dict[str, list[Item]]  # only keys that have a value
    values: dict[str, Any]  # key -> what is compared
    scores: dict[str, Any]
    effective: float


def read_conditions(raw: Mapping[str, Any], settings: Settings) -> dict[str, list[Item]]:
    """The conditions of a row that count, by key; keys without a value are left out."""
    merged = dict(raw)
    if settings.expand_current_conditions and "current_conditions" in merged:
        parts, plain = merged.pop("current_conditions"), []
        for part in parts if isinstance(parts, list) else [parts]:
            if isinstance(part, Mapping) and {"content", "SMILES"}.isdisjoint(part):
                stated = {key: beside for key, beside in merged.items() if read_items(beside)}
                merged = {**part, **stated}  # what stands beside it is stated for the row itself
            else:
                plain.append(part)
        if plain:
            merged["current_conditions"] = plain
    wanted = settings.condition_keys
    return {
        key: items
        for key, value in merged.items()
        if key not in settings.condition_keys_blacklist and (wanted is None or key in wanted)
        if (items := read_items(value))
    }


def read_scores(
    results: Mapping[str, Any], settings: Settings, fraction: bool
) -> tuple[dict[str, Any] | None, float, list[tuple[str, str]]]:
    """(scores or None where there is no yield, effective score, notes as (field, text)) of a row's results."""
    notes: list[tuple[str, str]] = []
    direct: dict[str, float] = {}
    split: dict[str, float] = {}
    selectivity = {field: results.get(field) for field in SELECTIVITIES}
    for field in settings.yield_field_priority:
        cell = read_yield(results.get(field), fraction)
        if cell.note:
            notes.append((field, cell.note))
        if cell.value is None:
            continue
        if cell.isolated is None:
            direct[field] = cell.value
        else:
            split.setdefault("yield_ratio" if field == "isolated_yield" else field, cell.value)
            split.setdefault("isolated_yield", cell.isolated)
        for name, text in cell.selectivity:
            if is_empty(selectivity[name]):
                selectivity[name] = text
    yields = {**split, **direct}
    readable = [yields[field] for field in settings.yield_field_priority if field in yields]
    factors: dict[str, float | None] = {}
    for field, cell_value in selectivity.items():
        factors[field], note = read_fraction(cell_value, field)
        if note:
            notes.append((field, note))
    if not readable:
        return None, 0.0, notes
    enantio = factors["ee"] if factors["ee"] is not None else factors["er"]
    fractions = zip(FACTORS.values(), (enantio, factors["dr"], factors["rr"]), strict=True)
    scores = {"yield": readable[0], **selectivity, **dict(fractions)}
    return scores, _effective(scores), notes


def _effective(scores: Mapping[str, Any]) -> float:
    """yield * enantio * dr * rr; a missing factor is 1."""
    known = [scores[key] for key in FACTORS.values() if scores[key] is not None]
    return round(float(math.prod([scores["yield"], *known])), ROUND)


def shown_scores(scores: Mapping[str, Any]) -> dict[str, Any]:
    """What a reference shows: the yield, and every selectivity that is scored.

    >>> known = {"enantio_major_fraction": 0.95, "dr_major_fraction": 0.75, "rr_major_fraction": None}
    >>> shown_scores({"yield": 80.0, "ee": "90[d]", "er": None, "dr": "3:1", "rr": "", **known})
    {'yield': 80.0, 'ee': '90%', 'dr': '3:1'}
    """
    shown = {"yield": scores["yield"]}
    for name, key in FACTORS.items():
        if scores[key] is not None:
            field = "er" if name == "ee" and read_fraction(scores["ee"], "ee")[0] is None else name
            shown[field] = show_fraction(scores[key], field, scores[field])
    return shown


def median_row(rows: Sequence[Row]) -> Row:
    """The first of rows with equal conditions, with the median of each quantity; effective is made of those."""
    scores = {**rows[0].scores, "yield": round(median(row.scores["yield"] for row in rows), ROUND)}
    for field, key in FACTORS.items():
        known = [row.scores[key] for row in rows if row.scores[key] is not None]
        scores[key] = median(known) if known else None
        scores[field] = show_fraction(scores[key], field) if known else None
    return rows[0]._replace(scores={**scores, "er": None}, effective=_effective(scores))


def read_row(
    entry: object, index: int, name: str, settings: Settings, fraction: bool, warnings: list[str]
) -> Row | str:
    """The row, or why it is none: "no_yield", "unreadable" or "condition_require"."""
    where = f"{name}: entries[{index}]"
    if not isinstance(entry, Mapping):
        warnings.append(printable(f"{where}: expected an object, got {type(entry).__name__}; row not used"))
        return "unreadable"
    if entry.get("entry_idx") is not None:
        where += f" (entry {printable(item_text(entry['entry_idx']), 20)})"
    conditions, results = entry.get("conditions"), entry.get("results")
    if has_repeated_keys(entry):
        warnings.append(printable(f"{where}: a key is given twice with different values; row not used"))
        return "unreadable"
    for field, value in (("conditions", conditions), ("results", results)):
        if value is not None and not isinstance(value, Mapping):
            warnings.append(printable(f"{where}: '{field}' must be an object; row not used"))
            return "unreadable"
    results = results or {}
    scores, effective, notes = read_scores(results, settings, fraction)
    for field, note in notes:
        cell = printable(as_text(results.get(field)), 40)
        warnings.append(printable(f"{where}: {field}: {note}: {cell!r}"))
    if scores is None:
        return "no_yield"
    kept = read_conditions(conditions or {}, settings)
    lacking = _lacks_required(kept, settings)
    if lacking:
        warnings.append(printable(f"{where}: {lacking}: an item without {settings.condition_require}; row not used"))
        return "condition_require"
    values = {key: compare_key(items, settings.normalize_conditions) for key, items in kept.items()}
    return Row(index, entry, kept, values, scores, effective)


def _lacks_required(conditions: Mapping[str, Sequence[Item]], settings: Settings) -> str:
    """The first key with an item that lacks the required field, or ""."""
    if settings.condition_require == "none":
        return ""
    smiles = settings.condition_require == "smiles"
    for key, items in conditions.items():
        exempt = smiles and key in settings.smiles_exempt_keys
        if not exempt and not all(item["SMILES" if smiles else "content"].strip() for item in items):
            return key
    return ""
