"""Open Reaction Database: a dataset in the JSON form of its protocol buffers, as experiments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from forecasteval.common.errors import InputError

from .experiments import Experiment
from .items import Item, item_text

# reaction.proto: Reaction.inputs, conditions, outcomes; names in camelCase, or as in the .proto file
_ROLES: Final = {"CATALYST": "catalysts", "REAGENT": "reagents", "SOLVENT": "solvents"}
_UNITS: Final = {
    "MOLE": "mol", "MILLIMOLE": "mmol", "MICROMOLE": "µmol", "NANOMOLE": "nmol", "LITER": "L", "MILLILITER": "mL",
    "MICROLITER": "µL", "GRAM": "g", "MILLIGRAM": "mg", "MICROGRAM": "µg", "CELSIUS": "°C", "KELVIN": "K",
    "FAHRENHEIT": "°F", "HOUR": "h", "MINUTE": "min", "SECOND": "s", "DAY": "d",
}  # fmt: skip


def is_ord(value: object) -> bool:
    """Whether a JSON value is a dataset, or one reaction, of the Open Reaction Database."""
    return isinstance(value, Mapping) and ("reactions" in value or {"inputs", "outcomes"} <= value.keys())


def read_reactions(value: Mapping[str, Any], where: str) -> list[Experiment]:
    """The experiments of a dataset; InputError if it has none."""
    reactions = _objects(value.get("reactions", [value]))
    found = [_read_reaction(reaction, number) for number, reaction in enumerate(reactions, 1)]
    if not found:
        raise InputError(where, "expected reactions", "none")
    return found


def _read_reaction(reaction: Mapping[str, Any], number: int) -> Experiment:
    sides: dict[str, list[Item]] = {"REACTANT": [], **{role: [] for role in _ROLES}}
    for given in _object(_get(reaction, "inputs")).values():
        for component in _objects(_get(_object(given), "components")):
            role = item_text(_get(component, "reactionRole"))
            if role in sides:
                sides[role].append(_item(component, with_amount=role != "REACTANT"))
    outcome = next(_objects(_get(reaction, "outcomes")), {})
    products = list(_objects(_get(outcome, "products")))
    desired = [product for product in products if _get(product, "isDesiredProduct") is True] or products
    conditions = {name: sides[role] for role, name in _ROLES.items()}
    settings = _object(_get(reaction, "conditions"))
    for name, amount in (
        ("temperature", _get(_object(_get(settings, "temperature")), "setpoint")),
        ("time", _get(outcome, "reactionTime")),
    ):
        text = _quantity(_object(amount))
        conditions[name] = [{"content": text, "SMILES": ""}] if text else []
    return Experiment(
        entry=item_text(_get(reaction, "reactionId")) or str(number),
        reactants=sides["REACTANT"],
        products=[_item(product, with_amount=False) for product in desired[:1]],
        conditions=conditions,
        results=dict(_results(desired[0])) if desired else {},
        doi=item_text(_get(_object(_get(reaction, "provenance")), "doi")),
    )


def _results(product: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The yield and the selectivities of a product; the first measurement of a kind counts."""
    seen = set()
    for measurement in _objects(_get(product, "measurements")):
        kind = item_text(_get(measurement, "type"))
        if kind == "SELECTIVITY":
            kind = item_text(_get(_object(_get(measurement, "selectivity")), "type"))
        field = "yield_ratio" if kind == "YIELD" else kind.lower()
        found = [_get(_object(_get(measurement, key)), "value") for key in ("percentage", "floatValue")]
        value = next((v for v in (*found, _get(measurement, "stringValue")) if v is not None), None)
        if field in ("yield_ratio", "ee", "er", "dr", "rr") and value is not None and field not in seen:
            seen.add(field)
            yield field, value


def _item(component: Mapping[str, Any], with_amount: bool) -> Item:
    """A component by its name, or by its SMILES where it has none; with its amount, which may be what varies."""
    named = {item_text(_get(i, "type")): item_text(_get(i, "value")) for i in _objects(_get(component, "identifiers"))}
    smiles = named.get("SMILES", "")
    content = named.get("NAME") or named.get("IUPAC_NAME") or smiles or next(iter(named.values()), "")
    amounts = [v for v in _object(_get(component, "amount")).values() if isinstance(v, Mapping)] if with_amount else []
    amount = next(filter(None, map(_quantity, amounts)), "")
    return {"content": f"{content} ({amount})" if amount else content, "SMILES": smiles}


def _quantity(amount: Mapping[str, Any]) -> str:
    value, unit = _get(amount, "value"), item_text(_get(amount, "units"))
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return ""
    return f"{value:.4g} {_UNITS.get(unit, unit.lower())}".strip()


def _get(value: Mapping[str, Any], name: str) -> Any:
    return value.get(name, value.get(re.sub("([A-Z])", lambda match: "_" + match[1].lower(), name)))


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _objects(value: object) -> Iterator[Mapping[str, Any]]:
    return (part for part in value if isinstance(part, Mapping)) if isinstance(value, list) else iter(())
