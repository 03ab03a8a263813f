"""Experiments: the rows of a file, as table files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, RecordNotes, grouped_names, printable
from forecasteval.common.records import as_text, dump_json

from .items import Item
from .rows import read_scores
from .settings import Settings

YIELDS: Final = ("isolated_yield", "yield_ratio")
Tables = dict[str, dict[str, Any]]
MOST_REASONS: Final = 20
_NAMES: Final = {"isolated_yield": "isolated yield", "yield_ratio": "yield"}
_FILE_NAME: Final = re.compile(r"[^\w.+-]+")
_SETTINGS: Final = Settings()


class Experiment(NamedTuple):
    """One experiment; the reaction is what a table of them has in common."""

    place: str  # in its file: "line 7", "row 7", "reaction 7"
    entry: str
    reactants: list[Item]
    products: list[Item]
    conditions: dict[str, list[Item]]
    results: dict[str, Any]
    group: tuple[str, ...] = ()
    doi: str = ""


class Constants(NamedTuple):
    """What all experiments of a file share; `fraction` is None where nobody said whether yields are percent."""

    fraction: bool | None = None
    duplicates: str = "median"
    doi: str = ""
    year: int | None = None
    reactants: Sequence[str] = ()  # SMILES
    products: Sequence[str] = ()


def make_tables(
    path: Path, experiments: Sequence[Experiment], constants: Constants, left_out: Mapping[str, Sequence[str]]
) -> tuple[Tables, list[str]]:
    """(tables by file name, notes): a table for each reaction and group, named after the file.

    Experiments without a yield are left out; with `left_out` (reason -> places) every row is in one count.
    """
    reasons = RecordNotes()
    reasons |= {reason: list(places) for reason, places in left_out.items()}
    used, notes = _with_yield(path, experiments, constants, reasons)
    total = len(experiments) + sum(map(len, left_out.values()))
    notes += _group("left out: ", reasons)
    if not used:
        raise InputError(str(path), "expected rows with a yield", "; ".join(notes) or "none")
    sides = [[{"content": text, "SMILES": text} for text in side] for side in (constants.reactants, constants.products)]
    used = [e._replace(reactants=sides[0] or e.reactants, products=sides[1] or e.products) for e in used]
    groups: dict[str, list[Experiment]] = {}
    for experiment in used:
        groups.setdefault(dump_json([experiment.reactants, experiment.products, experiment.group]), []).append(
            experiment
        )
    stem = _FILE_NAME.sub("_", path.stem).strip(".") or "table"
    width = len(str(len(groups)))
    tables = {}
    for number, members in enumerate(groups.values(), 1):
        name = stem if len(groups) == 1 else f"{stem}_{number:0{width}d}"
        tables[f"{name}.json"] = _make_table(name, members, constants)
    molecules = [item for e in used for item in (*e.reactants, *e.products)]
    if not all(e.reactants and e.products for e in used) or not all(item["SMILES"] for item in molecules):
        notes.append("reactants and products are not all SMILES: build with --reactant-product-require content or none")
    return tables, [*notes, f"rows: {total}, used {len(used)}, left out {total - len(used)}"]


def _with_yield(
    path: Path, experiments: Sequence[Experiment], constants: Constants, left_out: RecordNotes
) -> tuple[list[Experiment], list[str]]:
    """(experiments whose yield can be read, warnings about cells); adds the others to `left_out`."""
    used, yields, warnings = [], [], RecordNotes()
    for experiment in experiments:
        scores, _, notes = read_scores(experiment.results, _SETTINGS, bool(constants.fraction))
        texts = [
            f"{_NAMES.get(field, field)}: {note}: {_shown(experiment.results.get(field))}" for field, note in notes
        ]
        if scores is None:
            left_out["; ".join(texts) or "no yield"].append(experiment.place)
            continue
        used.append(experiment)
        yields.append(scores["yield"])
        for text in texts:
            warnings[text].append(experiment.place)
    for field in ("ee", "er"):
        shares = [cell for e in used if (cell := as_text(e.results.get(field)).strip())]
        if len(shares) > 1 and all(re.fullmatch(r"0?\.[0-9]+|1(?:\.0*)?|0", share) for share in shares):
            warnings[f"all {field} are within 0 and 1, and are read as percent"] = [e.place for e in used]
    percent = any("%" in as_text(e.results.get(field)) for e in used for field in YIELDS)
    if constants.fraction is None and yields and 0 < max(yields) <= 1 and not percent:
        expected = "all yields are within 0 and 1: say --fraction if they are shares of 1, --no-fraction if percent"
        raise InputError(str(path), expected)
    return used, _group("warning: ", warnings)


def _group(prefix: str, places: Mapping[str, Sequence[str]]) -> list[str]:
    """A line for each reason; from MOST_REASONS on one for all others, as where a wrong column is named."""
    rest = [place for reason in list(places)[MOST_REASONS:] for place in places[reason]]
    named = [*list(places.items())[:MOST_REASONS], *([("other cells", rest)] if rest else [])]
    return [f"{prefix}{reason}: {grouped_names(group)}" for reason, group in named]


def _shown(cell: object) -> str:
    return repr(printable(as_text(cell), 40))


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
