"""Tables: which of them give questions, and the rows that can be options."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import printable
from forecasteval.common.records import number_text, repeated_keys

from .items import Item, fold, item_text, read_items
from .rows import Row, median_row, read_row
from .settings import DUPLICATES, Settings

CONFLICT: Final = 20.0  # points of the effective score
ROW_REASONS: Final = ("no_yield", "unreadable", "condition_require", "equal_conditions")
UNUSED_REASONS: Final = (
    "unreadable", "not_a_table", "filter_is_table", "filter_year", "filter_reactant_product_require",
    "filter_same_reactants_products", "filter_condition_require", "fewer_than_two_readable_rows",
    "no_varying_condition", "duplicate_table_id", "no_question",
)  # fmt: skip


class Table(NamedTuple):
    """A table that passed the filters; its rows have different conditions, in the table's order."""

    id: str
    source_file: str
    doi: str
    entries: int
    reactants: list[Item]
    products: list[Item]  # the main product first
    rows: list[Row]
    varying: list[str]
    constant: list[str]
    best: float  # effective score
    left_out: dict[str, int]  # rows that are no options, by reason
    conflicts: list[str]  # equal conditions whose scores are more than CONFLICT points apart


class Unused(Exception):  # noqa: N818 - no error: how a table leaves the builder, counted under `reason`
    """A table that gives no question; `reason` is counted, `detail` says where."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason, self.detail = reason, detail


def read_table(raw: object, name: str, settings: Settings, warnings: list[str]) -> Table:
    """The table of a file; raises Unused where it gives no question, and appends a warning for each bad cell."""
    if not isinstance(raw, Mapping) or not isinstance(raw.get("entries"), list):
        raise Unused("not_a_table", "expected an object with a list 'entries'")
    if twice := repeated_keys(raw):
        raise Unused("not_a_table", f"'{twice[0]}' is given twice with different values")
    if raw.get("is_table", True) is not True:
        raise Unused("filter_is_table")
    if not _passes_year(raw.get("year"), settings.year_filter):
        raise Unused("filter_year", f"year {raw.get('year')!r}")
    scale = raw.get("yield_scale", "percent")
    if scale not in ("percent", "fraction"):
        raise Unused("not_a_table", f"'yield_scale' must be percent or fraction, got {scale!r}")
    duplicates = settings.duplicates or raw.get("duplicates") or "best"
    if duplicates not in DUPLICATES:
        raise Unused("not_a_table", f"'duplicates' must be {', '.join(DUPLICATES)}, got {duplicates!r}")
    entries = raw["entries"]
    reactants, products = _one_reaction(raw, entries)
    products = _main_first(products, raw.get("main_product_smiles"))
    if products and not products[0]["content"]:
        warnings.append(printable(f"{name}: main_product_smiles is none of the products"))
    _require_molecules(reactants, products, settings.reactant_product_require)
    read = [read_row(entry, at, name, settings, scale == "fraction", warnings) for at, entry in enumerate(entries)]
    readable = [row for row in read if isinstance(row, Row)]
    rows, conflicts = _distinct(readable, duplicates, name)
    if len(rows if duplicates == "drop" else readable) < 2:
        reason = "filter_condition_require" if "condition_require" in read else "fewer_than_two_readable_rows"
        raise Unused(reason, f"{len(rows)} of {len(entries)}")
    keys = sorted({key for row in rows for key in row.values})
    varying = [key for key in keys if len({row.values.get(key) for row in rows}) > 1]
    if not varying:
        raise Unused("no_varying_condition")
    return Table(
        id=_table_id(raw, name),
        source_file=item_text(raw.get("source_file")) or name.rpartition("/")[2],
        doi=item_text(raw.get("doi")),
        entries=len(entries),
        reactants=reactants,
        products=products,
        rows=rows,
        varying=varying,
        constant=[key for key in keys if key not in varying],
        best=max(row.effective for row in rows),
        left_out={**{r: read.count(r) for r in ROW_REASONS}, "equal_conditions": len(readable) - len(rows)},
        conflicts=conflicts,
    )


def _table_id(raw: Mapping[str, Any], name: str) -> str:
    return printable(item_text(raw.get("root_img_name")).strip() or name.rpartition("/")[2].removesuffix(".json"))


def _passes_year(year: object, wanted: int | tuple[int, ...] | None) -> bool:
    if wanted is None:
        return True
    text = year.strip() if isinstance(year, str) else number_text(year)
    if not re.fullmatch(r"[0-9]{1,4}(?:\.0)?", text):
        return False
    return int(float(text)) in wanted if isinstance(wanted, tuple) else int(float(text)) >= wanted


def _one_reaction(raw: Mapping[str, Any], entries: Sequence[Any]) -> tuple[list[Item], list[Item]]:
    """Reactants and products, of the table or (where it has none) of its rows; Unused if the rows differ in them."""
    sides = []
    for side in ("reactants", "products"):
        table = read_items(raw.get(side))
        of_rows = [read_items(entry.get(side)) or table for entry in entries if isinstance(entry, Mapping)]
        keys = {tuple(sorted(item["SMILES"].strip() or fold(item["content"]) for item in items)) for items in of_rows}
        if len(keys) > 1:
            raise Unused("filter_same_reactants_products", f"{side} differ between rows")
        sides.append(table or (of_rows[0] if of_rows else []))
    return sides[0], sides[1]


def _main_first(products: list[Item], main: object) -> list[Item]:
    smiles = item_text(main).strip()
    if not smiles:
        return products
    chosen = [item for item in products if item["SMILES"].strip() == smiles] or [{"content": "", "SMILES": smiles}]
    return [chosen[0], *(item for item in products if item is not chosen[0])]


def _require_molecules(reactants: Sequence[Item], products: Sequence[Item], required: str) -> None:
    if required == "none":
        return
    field = "SMILES" if required == "smiles" else "content"
    for side, items in (("reactant", reactants), ("product", products)):
        if not items or not all(item[field].strip() for item in items):
            raise Unused("filter_reactant_product_require", f"a {side} without {field}" if items else f"no {side}")


def _distinct(rows: Iterable[Row], duplicates: str, name: str) -> tuple[list[Row], list[str]]:
    """(rows whose conditions differ, conflicts): of equal conditions the best row, their median, or none.

    Repeats that agree are one row whatever `duplicates` says.
    """
    groups: dict[frozenset[Any], list[Row]] = {}
    for row in rows:
        groups.setdefault(frozenset(row.values.items()), []).append(row)
    kept, conflicts = [], []
    for group in groups.values():
        group.sort(key=lambda row: (-row.effective, row.number))
        best, low = group[0], group[-1].effective
        if best.effective - low > CONFLICT:
            places = ", ".join(str(number) for number in sorted(row.number for row in group))
            span = f"effective {low:g} to {best.effective:g}"
            conflicts.append(printable(f"{name}: entries[{places}]: equal conditions, {span} ({duplicates})"))
        if best.effective == low or duplicates == "best":
            kept.append(best)
        elif duplicates == "median":
            kept.append(median_row(sorted(group, key=lambda row: row.number)))
    return sorted(kept, key=lambda row: row.number), conflicts
