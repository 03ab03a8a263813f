"""Open Reaction Database datasets, in both spellings of their keys."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forecasteval.common.errors import InputError
from forecasteval.rxnopt.builder import build_questions
from forecasteval.rxnopt.imports import Layout, import_file
from forecasteval.rxnopt.ord_files import read_reactions
from rxnopt_tables import VALUES, Record, by_id, write


def component(role: str, name: str, smiles: str, **amount: Any) -> Record:
    identifiers = [{"type": "SMILES", "value": smiles}, {"type": "NAME", "value": name}]
    return {"identifiers": identifiers, "reactionRole": role, "amount": amount}


def reaction(base: str, percent: float, **measured: Any) -> Record:
    """A reaction as the Open Reaction Database writes it (protobuf JSON of reaction.proto)."""
    halide = component(
        "REACTANT", "bromobenzene", "Brc1ccccc1", moles={"value": 0.1, "units": "MILLIMOLE"}
    )
    ee = {"type": "SELECTIVITY", "selectivity": {"type": "EE"}, "percentage": {"value": 90}}
    return {
        "reactionId": f"ord-{base}",
        "inputs": {
            "m1": {"components": [halide, component("SOLVENT", "DMF", "CN(C)C=O")]},
            "m2": {"components": [component("REAGENT", base, "O", moles={"value": 0.2, "units": "MILLIMOLE"})]},
        },
        "conditions": {"temperature": {"setpoint": {"value": 80, "units": "CELSIUS"}}},
        "outcomes": [{
            "reactionTime": {"value": 12, "units": "HOUR"},
            "products": [
                {"identifiers": [{"type": "SMILES", "value": "C"}], "measurements": []},
                {
                    "identifiers": [{"type": "SMILES", "value": "Oc1ccccc1"}], "isDesiredProduct": True,
                    "measurements": [{"type": "IDENTITY"}, {"type": "YIELD", "percentage": {"value": percent}}, ee],
                },
            ],
        }],
        "provenance": {"doi": "10.1/x"},
    }  # fmt: skip


DATASET = {"name": "screen", "reactions": [reaction("K2CO3", 43.5), reaction("Cs2CO3", 90.25)]}


def snake(value: Any) -> Any:
    """The same with the names of the .proto file."""
    if isinstance(value, dict):
        return {
            re.sub("([A-Z])", lambda m: "_" + m[1].lower(), key): snake(v)
            for key, v in value.items()
        }
    return [snake(v) for v in value] if isinstance(value, list) else value


@pytest.mark.parametrize("spelled", [DATASET, snake(DATASET)])
def test_a_dataset_becomes_a_table(tmp_path: Path, spelled: Record) -> None:
    tables, notes = import_file(write(tmp_path / "ord.json", json.dumps(spelled)), Layout({}))
    ((_, table),) = tables.items()
    assert notes == ["rows: 2, used 2, left out 0"]
    assert (table["doi"], table["reactants"]) == (
        "10.1/x",
        [{"content": "bromobenzene", "SMILES": "Brc1ccccc1"}],
    )
    assert table["products"] == [{"content": "Oc1ccccc1", "SMILES": "Oc1ccccc1"}]
    first = table["entries"][0]
    assert (first["entry_idx"], first["results"]) == ("ord-K2CO3", {"yield_ratio": 43.5, "ee": 90})
    shown = {key: items[0]["content"] for key, items in first["conditions"].items() if items}
    assert shown == {
        "reagents": "K2CO3 (0.2 mmol)", "solvents": "DMF", "temperature": "80 °C", "time": "12 h",
        "amounts of reactants": "bromobenzene (0.1 mmol)",
    }  # fmt: skip
    question = by_id(build_questions([table]))["ord_q1"]
    assert question["target_key"] == "reagents"
    assert sorted(question["meta"]["effective_scores"]) == [41.325, 85.7375]


def test_every_condition_that_a_reaction_states_is_one(tmp_path: Path) -> None:
    """Three reactions at 1, 10 and 50 atm were one row."""
    reactions = []
    for atm in (1, 10, 50):
        made = reaction("K2CO3", atm)
        made["inputs"]["m2"]["additionOrder"] = 2
        made["inputs"]["m2"]["components"] += [
            component(
                "INTERNAL_STANDARD",
                "biphenyl",
                "c1ccc(cc1)-c1ccccc1",
                mass={"value": 5, "units": "MILLIGRAM"},
            )
        ]
        made["conditions"] |= {
            "pressure": {"setpoint": {"value": atm, "units": "ATMOSPHERE"}, "atmosphere": {"type": "HYDROGEN"}},
            "stirring": {"type": "STIR_BAR", "rate": {"rpm": 600, "type": "UNSPECIFIED"}},
            "illumination": {"type": "LED", "peakWavelength": {"value": 450, "units": "NANOMETER"}, "color": "blue"},
            "electrochemistry": {"current": {"value": 5, "units": "MILLIAMPERE"}, "anodeMaterial": "RVC"},
            "flow": {"type": "PLUG_FLOW_REACTOR", "tubing": {"type": "PFA"}},
            "reflux": True, "ph": 7, "details": "open to air",
        }  # fmt: skip
        made["setup"] = {
            "vessel": {"type": "VIAL", "material": {"type": "GLASS"}, "volume": {"value": 4}}
        }
        reactions.append(snake(made) if atm == 10 else made)
    path = write(tmp_path / "ord.json", json.dumps({"reactions": reactions}))
    ((_, table),) = import_file(path, Layout({}))[0].items()
    shown = [
        {key: [i["content"] for i in items] for key, items in e["conditions"].items()}
        for e in table["entries"]
    ]
    assert [entry.pop("pressure") for entry in shown] == [["1 atm"], ["10 atm"], ["50 atm"]]
    assert shown[0] == shown[1] == shown[2]
    assert {key: values for key, values in shown[0].items() if values} == {
        "solvents": ["DMF"], "reagents": ["K2CO3 (0.2 mmol)"], "internal standard": ["biphenyl (5 mg)"],
        "amounts of reactants": ["bromobenzene (0.1 mmol)"], "m2 addition order": ["2"], "temperature": ["80 °C"],
        "pressure atmosphere": ["hydrogen"], "stirring": ["stir bar"], "stirring rate rpm": ["600"],
        "illumination": ["LED"], "illumination peak wavelength": ["450 nm"], "illumination color": ["blue"],
        "electrochemistry current": ["5 mA"], "electrochemistry anode material": ["RVC"],
        "flow": ["plug flow reactor"], "flow tubing": ["PFA"], "reflux": ["true"], "ph": ["7"],
        "details": ["open to air"], "vessel": ["vial"], "vessel material": ["glass"], "vessel volume": ["4"],
        "time": ["12 h"],
    }  # fmt: skip


def test_every_outcome_of_a_reaction_is_an_experiment(tmp_path: Path) -> None:
    made = reaction("K2CO3", 10)
    made["outcomes"] += copy.deepcopy(made["outcomes"])
    made["outcomes"][1]["reactionTime"]["value"] = 24
    made["outcomes"][1]["products"][1]["measurements"][1]["percentage"]["value"] = 60
    tables, _ = import_file(write(tmp_path / "ord.json", json.dumps(made)), Layout({}))
    rows = [
        (e["conditions"]["time"][0]["content"], e["results"]["yield_ratio"])
        for e in tables["ord.json"]["entries"]
    ]
    assert rows == [("12 h", 10), ("24 h", 60)]


def test_other_json_is_refused(tmp_path: Path) -> None:
    for value, message in [([1], "expected a dataset of the Open Reaction Database, got other JSON"),
                           ({"entries": []}, "expected a dataset of the Open Reaction Database, got other JSON"),
                           ({"reactions": []}, "expected reactions, got none")]:  # fmt: skip
        path = write(tmp_path / "x.json", json.dumps(value))
        with pytest.raises(InputError) as caught:
            import_file(path, Layout({}))
        assert str(caught.value) == f"{path}: {message}"


@settings(max_examples=100)
@given(st.data())
def test_no_json_breaks_the_reader(data: st.DataObject) -> None:
    """Any part of a dataset may be anything."""
    value: Any = copy.deepcopy(DATASET)
    at: Any = value
    for _ in range(data.draw(st.integers(1, 9))):
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(at[key], (dict, list)) or not at[key]:
            break
        parent, at = at, at[key]
    else:
        key, at = key, parent
    at[key] = data.draw(VALUES)
    try:
        read_reactions(value, "x")
    except InputError as error:
        assert str(error) == "x: expected reactions, got none"  # noqa: PT017 - one of two good ends


def test_a_side_product_has_no_yield_and_what_is_no_reaction_is_counted(tmp_path: Path) -> None:
    """The yield of what nobody wanted was the reaction's."""
    side = reaction("Na2CO3", 99)
    for product in side["outcomes"][0]["products"]:
        product["isDesiredProduct"] = False
    path = write(
        tmp_path / "x.json", json.dumps({"reactions": [*DATASET["reactions"], side, "torn"]})
    )
    notes = import_file(path, Layout({}))[1]
    assert "left out: no yield: 2 (reaction 3, reaction 4)" in notes
    assert "rows: 4, used 2, left out 2" in notes
