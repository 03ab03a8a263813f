"""Experiments: what a file of one's own holds, row by row, as table files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.records import dump_json

from .cells import read_yield
from .items import Item

YIELDS: Final = ("isolated_yield", "yield_ratio")
_FILE_NAME: Final = re.compile(r"[^\w.+-]+")


class Experiment(NamedTuple):
    """One experiment; the reaction is what a table of them has in common."""

    entry: str
    reactants: list[Item]
    products: list[Item]
    conditions: dict[str, list[Item]]
    results: dict[str, Any]
    group: tuple[str, ...] = ()
    doi: str = ""


class Constants(NamedTuple):
    """What `import` is told of all experiments of a file."""

    fraction: bool = False
    duplicates: str = "median"
    doi: str = ""
    year: int | None = None
    reactants: Sequence[str] = ()  # SMILES
    products: Sequence[str] = ()


def make_tables(
    path: Path, experiments: Sequence[Experiment], constants: Constants
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """(tables by file name, notes): a table for each reaction and group, named after the file."""
    sides = [[{"content": text, "SMILES": text} for text in side] for side in (constants.reactants, constants.products)]
    experiments = [e._replace(reactants=sides[0] or e.reactants, products=sides[1] or e.products) for e in experiments]
    groups: dict[str, list[Experiment]] = {}
    for experiment in experiments:
        groups.setdefault(dump_json([experiment.reactants, experiment.products, experiment.group]), []).append(
            experiment
        )
    stem = _FILE_NAME.sub("_", path.stem).strip(".") or "table"
    width = len(str(len(groups)))
    tables = {}
    for number, found in enumerate(groups.values(), 1):
        name = stem if len(groups) == 1 else f"{stem}_{number:0{width}d}"
        tables[f"{name}.json"] = _make_table(name, found, constants)
    notes = []
    unread = sum(all(read_yield(e.results.get(field)).value is None for field in YIELDS) for e in experiments)
    if unread:
        notes.append(f"warning: {unread} of {len(experiments)} rows have no yield that can be read")
    molecules = [item for e in experiments for item in (*e.reactants, *e.products)]
    if not all(e.reactants and e.products for e in experiments) or not all(item["SMILES"] for item in molecules):
        notes.append("reactants and products are not all SMILES: build with --reactant-product-require content or none")
    return tables, notes


def _make_table(name: str, experiments: Sequence[Experiment], constants: Constants) -> dict[str, Any]:
    first = experiments[0]
    return {
        "root_img_name": name,
        "source_file": f"{name}.json",
        "doi": constants.doi or first.doi,
        "year": constants.year,
        "is_table": True,
        "yield_scale": "fraction" if constants.fraction else "percent",
        "duplicates": constants.duplicates,
        "reactants": first.reactants,
        "products": first.products,
        "entries": [
            {"entry_idx": e.entry, "rxn_id": "0", "conditions": e.conditions, "results": e.results} for e in experiments
        ],
    }
