"""Open Reaction Database: a dataset in the JSON form of its protocol buffers, as experiments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from forecasteval.common.errors import InputError
from forecasteval.common.records import number_text

from .chemicals import SELECTIVITIES, Conditions, Experiment, Item, item_text

# reaction.proto: Reaction.inputs, conditions, setup, outcomes; names in camelCase, or as in the
# .proto file
_ROLES: Final = {"CATALYST": "catalysts", "REAGENT": "reagents", "SOLVENT": "solvents"}
_BASES: Final = (
    {
        "MOLE": "mol",
        "LITER": "L",
        "GRAM": "g",
        "CELSIUS": "°C",
        "KELVIN": "K",
        "FAHRENHEIT": "°F",
        "HOUR": "h",
    }
    | {
        "MINUTE": "min",
        "SECOND": "s",
        "DAY": "d",
        "ATMOSPHERE": "atm",
        "TORR": "Torr",
        "PASCAL": "Pa",
    }
    | {"METER": "m", "AMPERE": "A", "VOLT": "V"}
)
_PREFIXES: Final = {"": "", "KILO": "k", "MILLI": "m", "MICRO": "µ", "NANO": "n"}
_UNITS: Final = {
    prefix + base: p + b for prefix, p in _PREFIXES.items() for base, b in _BASES.items()
}
_UNNAMED: Final = frozenset(
    {"setpoint", "type", "value", "amount"}
)  # steps that say nothing: temperature.setpoint
_NO_CONDITIONS: Final = frozenset({"components", "automationCode", "automation_code"})


def read_reactions(value: object, where: str) -> list[Experiment]:
    """The experiments of a dataset, or of one reaction, one for each outcome; InputError if it has
    none.
    """
    if not isinstance(value, Mapping) or not (
        "reactions" in value or {"inputs", "outcomes"} <= value.keys()
    ):
        raise InputError(where, "expected a dataset of the Open Reaction Database", "other JSON")
    reactions = value.get("reactions", [value])
    if not isinstance(reactions, list) or not reactions:
        raise InputError(where, "expected reactions", "none")
    return [
        e for number, reaction in enumerate(reactions, 1) for e in _read_reaction(reaction, number)
    ]


def _read_reaction(reaction: Any, number: int) -> Iterator[Experiment]:
    reactants: list[Item] = []
    conditions: Conditions = {name: [] for name in _ROLES.values()}
    for name, given in _object(_get(reaction, "inputs")).items():
        for component in _objects(given, "components"):
            _add_component(component, reactants, conditions)
        _add_conditions(_object(given), name, conditions)
    for part in ("conditions", "setup"):
        _add_conditions(_object(_get(reaction, part)), "", conditions)
    for outcome in _objects(reaction, "outcomes") or [{}]:
        products = [
            part
            for part in _objects(outcome, "products")
            if _get(part, "isDesiredProduct") is not False
        ]
        desired = [part for part in products if _get(part, "isDesiredProduct")] or products
        time = _quantity(_get(outcome, "reactionTime"))
        yield Experiment(
            place=f"reaction {number}",
            entry=item_text(_get(reaction, "reactionId")) or str(number),
            reactants=reactants,
            products=[_item(product) for product in desired[:1]],
            conditions={**conditions, "time": [{"content": time, "SMILES": ""}] if time else []},
            results=_results(desired[0]) if desired else {},
            doi=item_text(_get(reaction, "provenance", "doi")),
        )


def _add_component(
    component: Mapping[str, Any], reactants: list[Item], conditions: Conditions
) -> None:
    """A component among the reactants or under its role, with what may vary: its amount, and what
    was done to it.
    """
    item, role = _item(component), item_text(_get(component, "reactionRole"))
    amounts = [
        _quantity(part) or _words(_get(part, "type"))
        for part in _object(_get(component, "amount")).values()
    ]
    amount = next(filter(None, amounts), "")
    with_amount: Item = {**item, "content": f"{item['content']} ({amount})"} if amount else item
    if role == "REACTANT":
        reactants.append(item)
        if amount:
            conditions.setdefault("amounts of reactants", []).append(with_amount)
    else:
        conditions.setdefault(_ROLES.get(role) or _words(role) or "components", []).append(
            with_amount
        )
    for key in ("preparations", "texture"):
        _add_conditions(_get(component, key), f"{item['content']} {key}", conditions)


def _add_conditions(value: object, name: str, conditions: Conditions) -> None:
    """All that a message states, by the path to it: pressure atmosphere, stirring rate rpm, vessel
    material.
    """
    if isinstance(value, list):
        for part in value:
            _add_conditions(part, name, conditions)
    elif text := _quantity(value) or _words(value):
        conditions.setdefault(name, []).append({"content": text, "SMILES": ""})
    else:
        for key, part in _object(value).items():
            if key not in _NO_CONDITIONS:
                word = (
                    ""
                    if key in _UNNAMED
                    else re.sub("([A-Z])", r" \1", key).replace("_", " ").lower()
                )
                _add_conditions(part, f"{name} {word}".strip(), conditions)


def _results(product: Mapping[str, Any]) -> dict[str, Any]:
    """The yield and the selectivities of a product; the first measurement of a kind counts."""
    results: dict[str, Any] = {}
    for measurement in _objects(product, "measurements"):
        kind = item_text(_get(measurement, "type"))
        if kind == "SELECTIVITY":
            kind = item_text(_get(measurement, "selectivity", "type"))
        field = "yield_ratio" if kind == "YIELD" else kind.lower()
        paths = ("percentage", "value"), ("floatValue", "value"), ("stringValue",)
        value = next((v for path in paths if (v := _get(measurement, *path)) is not None), None)
        if field in ("yield_ratio", *SELECTIVITIES) and value is not None:
            results.setdefault(field, value)
    return results


def _item(component: Mapping[str, Any]) -> Item:
    """A component by its name, or by its SMILES where it has none."""
    named = {
        item_text(_get(i, "type")): item_text(_get(i, "value"))
        for i in _objects(component, "identifiers")
    }
    smiles = named.get("SMILES", "")
    content = (
        named.get("NAME") or named.get("IUPAC_NAME") or smiles or next(iter(named.values()), "")
    )
    return {"content": content, "SMILES": smiles}


def _quantity(amount: object) -> str:
    """A value with its unit, or "": one of 0 without a unit is what protocol buffers write for
    nothing.
    """
    value, unit = _get(amount, "value"), item_text(_get(amount, "units"))
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not (value or unit):
        return ""
    return f"{value:.6g} {_UNITS.get(unit) or _words(unit)}".strip()


def _words(value: object) -> str:
    """A number, a switch or a text; DRY_ICE is dry ice, LED stays, UNSPECIFIED is nothing."""
    if isinstance(value, bool):
        return str(value).lower()
    text = value.strip() if isinstance(value, str) else number_text(value)
    if not re.fullmatch(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*", text) or len(text) < 4:
        return text
    return "" if text == "UNSPECIFIED" else text.replace("_", " ").lower()


def _get(value: object, *names: str) -> Any:
    """The value at a path of fields, in either spelling; None if there is none."""
    for name in names:
        fields = _object(value)
        value = fields.get(
            name, fields.get(re.sub("([A-Z])", lambda match: "_" + match[1].lower(), name))
        )
    return value


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _objects(value: object, name: str) -> list[Mapping[str, Any]]:
    """The objects in the list of a field."""
    parts = _get(value, name)
    return [part for part in parts if isinstance(part, Mapping)] if isinstance(parts, list) else []
