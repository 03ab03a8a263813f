"""Rows: effective scores, conditions that count, and rows that cannot be used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forecasteval.common.errors import InputError
from forecasteval.common.records import Record as RepeatedKeys
from forecasteval.rxnopt.builder import build_questions
from forecasteval.rxnopt.prompts import make_template, render_question
from forecasteval.rxnopt.settings import Settings
from forecasteval.rxnopt.tables import read_scores
from rxnopt_tables import Row, build, by_id, simple, table, write


def effective(**cells: object) -> float:
    return read_scores(cells, Settings(), False)[1]


def test_effective_score_goldens() -> None:
    assert effective(yield_ratio="87 %", ee=87, dr="3:1", rr="6:1") == 52.293214
    assert effective(yield_ratio="77 %", ee=96) == 75.46
    assert effective(isolated_yield=None, yield_ratio="80(77)", ee="96") == 75.46
    assert effective(yield_ratio="88% (3.7:1)") == round(88 * 3.7 / 4.7, 6)
    assert effective(yield_ratio="88% (3.7:1)", dr="1:1") == 44.0  # the cell of its own comes first
    assert effective(yield_ratio=50, ee="", er="95:5") == 47.5
    assert effective(yield_ratio=50, ee="0", er="95:5") == 25.0  # ee 0 is not missing
    assert effective(yield_ratio=50, ee="nd", er="nd", dr="-", rr="—") == 50.0


def test_yield_priority_and_missing_rows() -> None:
    first = Settings(yield_field_priority=("yield_ratio", "isolated_yield"))
    assert read_scores({"isolated_yield": "40", "yield_ratio": "46"}, Settings(), False)[1] == 40.0
    assert read_scores({"isolated_yield": "40", "yield_ratio": "46"}, first, False)[1] == 46.0
    assert read_scores({"yield_ratio": "80(77)"}, first, False)[1] == 80.0
    assert read_scores({"isolated_yield": "0", "yield_ratio": "46"}, Settings(), False)[1] == 0.0
    assert read_scores({"isolated_yield": "complex", "yield_ratio": "46"}, Settings(), False)[1] == 46.0
    scores, _, notes = read_scores({"isolated_yield": "complex", "ee": "120"}, Settings(), False)
    assert scores is None
    assert [field for field, _ in notes] == ["isolated_yield", "ee"]


def test_absent_is_empty_is_a_dash() -> None:
    rows: list[Row] = [({"base": "K"}, {"yield_ratio": 10}), ({"base": "Na"}, {"yield_ratio": 20})]
    made = table("t", [*rows, *rows])
    for entry, value in zip(made["entries"], [[], [{"content": "—", "SMILES": ""}], None, ""], strict=True):
        entry["conditions"]["additive"] = value
    del made["entries"][1]["conditions"]["additive"]
    question = by_id(build(made))["t_q1"]
    assert question["varying_keys"] == ["base"]
    assert "additive" not in question["input"]["constant_conditions"]
    rows = [({"base": "K"}, {"yield_ratio": 10}), ({"base": "—"}, {"yield_ratio": 20})]
    question = by_id(build(table("t", rows)))["t_q1"]
    assert sorted(len(option["base"]) for option in question["options"]) == [0, 1]
    assert "- base: —" in render_question(question, make_template("single_varying"))


def test_current_conditions_are_lifted() -> None:
    made = simple("t", [1, 2])
    for n, entry in enumerate(made["entries"]):
        entry["conditions"] = {"current_conditions": {"Current": f"{n} mA", "scale": "1 g"}, "other_info": "x"}
    assert by_id(build(made))["t_q1"]["target_key"] == "Current"
    for entry in made["entries"]:  # a key that stands beside the lifted one is the row's own word
        entry["conditions"]["Current"] = "5 mA"
    made["entries"][0]["conditions"]["base"] = "K"
    question = by_id(build(made))["t_q1"]
    assert question["input"]["constant_conditions"] == {"Current": [{"content": "5 mA", "SMILES": ""}]}
    for entry in made["entries"]:
        del entry["conditions"]["Current"]
    del made["entries"][0]["conditions"]["base"]
    with pytest.raises(InputError):  # text of the whole is compared then, and it does differ
        build(made, expand_current_conditions="false", condition_keys_blacklist="current_conditions,other_info")


def test_an_empty_field_does_not_hide_a_lifted_one() -> None:
    rows = table("t", [({}, {"yield_ratio": n}) for n in (10, 20)])
    for n, entry in enumerate(rows["entries"]):
        entry["conditions"] = {"ligand": [], "current_conditions": {"ligand": [{"content": f"L{n}", "SMILES": ""}]}}
    (question,) = [q for q in build(rows).questions if q["id"] == "t_q1"]
    assert sorted(option["ligand"][0]["content"] for option in question["options"]) == ["L0", "L1"]


def test_condition_keys_and_require() -> None:
    rows: list[Row] = [({"base": f"b{n}", "solvents": f"s{n % 2}"}, {"yield_ratio": n}) for n in range(4)]
    assert by_id(build(table("t", rows), condition_keys="solvents"))["t_q1"]["target_key"] == "solvents"
    made = table("t", rows)
    for entry in made["entries"][:3]:
        entry["conditions"]["base"][0]["SMILES"] = "O"
    found = build(made, condition_require="smiles")
    assert found.warnings == ["t.json: entries[3] (entry 4): base: an item without smiles; row not used"]
    assert len(by_id(found)["t_q3"]["options"]) == 3


def test_repeated_keys_anywhere_in_a_row_cost_that_row(tmp_path: Path) -> None:
    """The last of two results would count without a word, also of two that stand deep inside."""
    text = json.dumps(simple("t", [10, 20, 30]))
    first = text.index('"yield_ratio": 10')
    write(tmp_path / "t.json", text[:first] + '"yield_ratio": 90, ' + text[first:])
    built = build_questions(tmp_path)
    assert built.warnings == ["t.json: entries[0] (entry 1): a key is given twice with different values; row not used"]
    assert sorted(by_id(built)["t_q1"]["meta"]["yields"]) == [20, 30]
    raw = simple("t", [10, 20, 30])
    raw["entries"][0]["conditions"]["current_conditions"] = RepeatedKeys({"ligand": "PPh3"}, ["ligand"])
    built = build(raw)
    assert built.warnings == ["t.json: entries[0] (entry 1): a key is given twice with different values; row not used"]
    assert all(q["varying_keys"] == ["base"] for q in built.questions)
