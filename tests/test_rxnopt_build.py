"""RxnOptBench: tables into questions, prompts, spreadsheets into tables, and `python rxnopt.py …` as a process."""

from __future__ import annotations

import copy
import json
import os
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rxnopt
from common import InputError, dump_json
from make_rxnopt_samples import SEED, make_files, make_tables
from rxnopt import (
    QUESTION_TYPES,
    SETTING_HELP,
    Build,
    RxnOptEvaluator,
    Settings,
    build_files,
    build_questions,
    compare_key,
    import_csv,
    make_settings,
    make_template,
    read_items,
    render_question,
    template_of,
)

ROOT: Final = Path(__file__).resolve().parent.parent
RAW_CONTROL: Final = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
Record = dict[str, Any]
Row = tuple[dict[str, str], dict[str, object]]


def table(name: str, rows: list[Row], **more: Any) -> Record:
    """A table of rows (conditions as text, results)."""
    return {
        "root_img_name": name,
        "source_file": f"{name}.json",
        "reactants": [{"content": "benzene", "SMILES": "c1ccccc1"}],
        "products": [{"content": "phenol", "SMILES": "Oc1ccccc1"}],
        "entries": [
            {"entry_idx": str(n), "rxn_id": "0", "results": out,
             "conditions": {k: read_items(v) for k, v in given.items()}}
            for n, (given, out) in enumerate(rows, 1)
        ],
        **more,
    }  # fmt: skip


def simple(name: str, yields: list[object], **more: Any) -> Record:
    """A table in which one condition, `base`, varies."""
    return table(name, [({"base": f"base {n}"}, {"yield_ratio": y}) for n, y in enumerate(yields)], **more)


def build(*tables: Mapping[str, Any], seed: int = 0, **chosen: Any) -> Build:
    return build_questions(tables, seed, **chosen)


def by_id(made: Build) -> dict[str, Record]:
    return {question["id"]: question for question in made.questions}


# --- The seed's worked example ---

ELECTROLYTES: Final = {
    "n-Bu4NClO4": ("CCCC[N+](CCCC)(CCCC)CCCC.[O-][Cl+3]([O-])([O-])[O-]", "3 wt % aq. PS-750-M", 27),
    "NaI": ("[I-].[Na+]", "PS-750-M", 32),
    "n-Bu4NBr": ("CCCC[N+](CCCC)(CCCC)CCCC.[Br-]", "3 wt % aq. PS-750-M", 42),
    "NaBF4": ("F[B-](F)(F)F.[Na+]", "PS-750-M", 47),
    "n-Bu4NPF6": ("CCCC[N+](CCCC)(CCCC)CCCC.F[P-](F)(F)(F)(F)F", "PS-750-M", 28),
    "n-Bu4NI": ("CCCC[N+](CCCC)(CCCC)CCCC.[I-]", "3 wt % aq. PS-750-M", 59),
    "NaBr": ("[Br-].[Na+]", "aq. PS-750-M", 40),
    "NaClO4": ("[Na+].[O-][Cl+3]([O-])([O-])[O-]", "PS-750-M", 45),
}


def worked_example() -> Record:
    constant = {
        "Anode(+)": "Zn", "Cathode(-)": "C", "Constant_Current": "30 mA", "Main_Mode": "Constant",
        "Reaction_Type": "Integrated Cell Reaction", "reaction_temperature": "rt", "reaction_time": "4 h",
        "speed": "800 rpm",
    }  # fmt: skip
    rows: list[Row] = [
        ({**constant, "Electrolyte": f"{name} (0.1 M)", "solvents": solvent}, {"yield_ratio": str(percent)})
        for name, (_, solvent, percent) in ELECTROLYTES.items()
    ]
    made = table("10_1002_anie_202416132_si_4_table_1", rows)
    made["reactants"] = [{"content": "2,2-difluoro-3-phenyl-2H-indole", "SMILES": "FC1(F)C(c2ccccc2)=Nc2ccccc21"}]
    made["products"] = [{"content": "2-fluoro-3-phenyl-1H-indole", "SMILES": "Fc1c(-c2ccccc2)[nH]c2ccccc12"}]
    for entry, (name, (smiles, _, _)) in zip(made["entries"], ELECTROLYTES.items(), strict=True):
        entry["conditions"]["reagents"] = [{"content": name, "SMILES": smiles}]
    return made


def test_the_worked_example_of_the_seed() -> None:
    made = by_id(build(worked_example()))
    question = made["10_1002_anie_202416132_si_4_table_1_q4_ref"]
    assert question["question_type"] == "all_varying_reference"
    assert question["target_key"] is None
    assert question["varying_keys"] == ["Electrolyte", "reagents", "solvents"]
    assert [reference["yield"] for reference in question["input"]["reference_conditions"]] == [27, 32, 42]
    assert sorted(question["meta"]["option_relative_scores"]) == [0.474576, 0.677966, 0.762712, 0.79661, 1.0]
    relative = dict(zip(question["meta"]["yields"], question["meta"]["option_relative_scores"], strict=True))
    assert relative == {47: 0.79661, 28: 0.474576, 59: 1.0, 40: 0.677966, 45: 0.762712}
    assert question["meta"]["best_entry_indices"] == question["meta"]["global_best_entry_indices"] == [5]
    control = made["10_1002_anie_202416132_si_4_table_1_q4_ref_control"]
    assert "reference_conditions" not in control["input"]
    assert sorted(control["meta"]["yields"]) == [28, 40, 45, 47, 59]
    assert control["input"]["constant_conditions"] == question["input"]["constant_conditions"]


def test_its_prompt() -> None:
    question = by_id(build(worked_example()))["10_1002_anie_202416132_si_4_table_1_q4_ref"]
    prompt = render_question(question, make_template("all_varying_reference"))
    assert "- 2-fluoro-3-phenyl-1H-indole (Fc1c(-c2ccccc2)[nH]c2ccccc12)\n" in prompt
    assert "- reaction_time: 4 h\n- speed: 800 rpm\n" in prompt
    assert (
        "Reference 2 (yield=32.0%):\n- Anode(+): Zn\n- Cathode(-): C\n- Constant_Current: 30 mA\n"
        "- Electrolyte: NaI (0.1 M)\n- Main_Mode: Constant\n- Reaction_Type: Integrated Cell Reaction\n"
        "- reaction_temperature: rt\n- reaction_time: 4 h\n- 试剂 (reagents): NaI ([I-].[Na+])\n"
        "- 溶剂 (solvents): PS-750-M\n- speed: 800 rpm\n"
    ) in prompt
    first = question["options"][0]
    assert f"Option 0:\n- Electrolyte: {first['Electrolyte'][0]['content']}\n- 试剂 (reagents): " in prompt
    assert "Option 5" not in prompt
    assert "0-based number" in prompt.splitlines()[-1]


# --- Rules, one by one ---


def test_a_single_question_uses_the_fullest_real_group() -> None:
    cells = [
        ("K", "DMF", 10),
        ("K", "THF", 20),
        ("Na", "THF", 30),
        ("Cs", "THF", 40),
        ("Li", "DMF", 50),
        ("Cs", "EtOH", 5),
    ]
    rows: list[Row] = [({"base": b, "solvents": s}, {"yield_ratio": y}) for b, s, y in cells]
    question = by_id(build(table("t", rows)))["t_q1"]
    assert question["target_key"] == "base"
    assert question["input"]["fixed_conditions"] == {"solvents": [{"content": "THF", "SMILES": ""}]}
    assert sorted(option["base"][0]["content"] for option in question["options"]) == ["Cs", "K", "Na"]
    assert (question["meta"]["best_yield"], question["meta"]["global_best_yield"]) == (40, 50)
    assert question["meta"]["global_best_entry_indices"] == [4]


def test_of_equal_groups_the_lowest_row_counts() -> None:
    rows: list[Row] = [
        ({"base": b, "solvents": s}, {"yield_ratio": y})
        for b, s, y in [("Cs", "EtOH", 1), ("K", "DMF", 10), ("K", "THF", 20), ("Na", "THF", 30), ("Na", "DMF", 40)]
    ]
    assert by_id(build(table("t", rows)))["t_q1"]["input"]["fixed_conditions"]["solvents"][0]["content"] == "DMF"


def test_single_references_are_rows_outside_that_are_no_better() -> None:
    rows: list[Row] = [({"base": f"b{n}", "solvents": "THF"}, {"yield_ratio": 40 + n}) for n in range(4)]
    rows += [({"base": "x", "solvents": f"s{n}"}, {"yield_ratio": y}) for n, y in enumerate([5, 43, 90, 10, 42, 20, 7])]
    question = by_id(build(table("t", rows)))["t_q1_ref"]
    # 90 is above the best option; of 5, 7, 10, 20, 42, 43 the lowest floor(2/3 * 6) stay
    assert [reference["yield"] for reference in question["input"]["reference_conditions"]] == [5, 7, 10, 20]


def test_skip_reasons_of_references() -> None:
    def reasons(*tables: Record, **chosen: Any) -> dict[str, int]:
        made = build(*tables, **chosen)
        generated = sum(question["id"].endswith("_ref") for question in made.questions)
        assert made.attempts == generated + sum(made.skipped.values())
        return made.skipped

    assert reasons(simple("t", [1, 2, 3, 4, 5, 6])) == {"no_reference_candidate": 1, "not_enough_effective_options": 1}
    assert reasons(simple("t", [1, 2, 3, 4, 5, 6, 7])) == {"no_reference_candidate": 1}
    # nothing but the top score in the lower two thirds
    assert reasons(simple("t", [0, 9, 9, 9, 9, 9, 9, 9]), reference_low_mid_fraction=0.1) == {
        "no_reference_candidate": 1, "not_enough_reference_candidates": 1,
    }  # fmt: skip
    top: list[Row] = [({"base": b, "solvents": "THF"}, {"yield_ratio": y}) for b, y in [("K", 9), ("Na", 1)]]
    top += [({"base": "Cs", "solvents": f"s{n}"}, {"yield_ratio": 9}) for n in range(4)]
    assert reasons(table("t", top))["no_non_top_score_group"] == 1
    # the two lowest go as references, and what is left ties
    assert reasons(simple("t", [1, 2, 9, 9, 9, 9, 9]))["all_options_tie"] == 1


def test_references_of_all_varying_are_evenly_spaced_and_leave_five() -> None:
    def chosen(count: int, **settings_: Any) -> list[float]:
        question = by_id(build(simple("t", list(range(count)), **{}), **settings_))["t_q2_ref"]
        assert len(question["options"]) == count - len(question["input"]["reference_conditions"])
        return [reference["yield"] for reference in question["input"]["reference_conditions"]]

    assert chosen(7) == [0, 3]  # of 0 to 3
    assert chosen(8) == [0, 2, 4]
    assert chosen(9) == [0, 2, 3, 5]  # of 0 to 5, steps of 5/3
    assert chosen(12) == [0, 2, 4, 5, 7]  # of 0 to 7, steps of 7/4
    assert chosen(30) == [0, 5, 10, 14, 19]
    assert chosen(30, max_reference_options=2) == [0, 19]
    assert chosen(12, min_reference_remaining_effective_options=10) == [0, 7]
    assert chosen(12, reference_low_mid_fraction=0.25) == [0, 1, 2]
    # 0.29 * 100 is 28.999999999999996
    assert chosen(100, reference_low_mid_fraction=0.29, max_reference_options=50) == list(range(29))


def test_equal_conditions_keep_the_best_row_then_the_first() -> None:
    rows: list[Row] = [
        ({"base": "K"}, {"yield_ratio": 10}), ({"base": "ｋ "}, {"yield_ratio": 30}),
        ({"base": "K"}, {"yield_ratio": 30}), ({"base": "Na"}, {"yield_ratio": 20}),
    ]  # fmt: skip
    question = by_id(build(table("t", rows)))["t_q1"]
    assert sorted(entry["row_index"] for entry in question["meta"]["option_source_entries"]) == [1, 3]
    assert question["meta"]["total_entries_in_source_table"] == 4
    exact = by_id(build(table("t", rows), normalize_conditions="false"))["t_q1"]
    assert sorted(entry["row_index"] for entry in exact["meta"]["option_source_entries"]) == [1, 2, 3]


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


def test_comparison_of_conditions() -> None:
    def same(one: object, other: object) -> bool:
        return compare_key(read_items(one), True) == compare_key(read_items(other), True)

    assert same("80 °C", "80°C")
    assert same("ＤＭＦ", "dmf ")
    assert same(["MeCN", "H2O"], [{"content": "H2O", "SMILES": "O"}, "MeCN"])
    assert not same("DMF", "DMSO")
    # Case is chemistry in a SMILES: phenyl against cyclohexyl
    assert not same("c1ccccc1P(c1ccccc1)c1ccccc1", "C1CCCCC1P(C1CCCCC1)C1CCCCC1")
    assert not same("P(c1ccccc1)", "P(C1CCCCC1)")
    assert same("PPh3", "pph3")
    assert not same({"content": "", "SMILES": "CCO"}, {"content": "", "SMILES": "CO"})


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


def test_condition_keys_and_require() -> None:
    rows: list[Row] = [({"base": f"b{n}", "solvents": f"s{n % 2}"}, {"yield_ratio": n}) for n in range(4)]
    assert by_id(build(table("t", rows), condition_keys="solvents"))["t_q1"]["target_key"] == "solvents"
    made = table("t", rows)
    for entry in made["entries"][:3]:
        entry["conditions"]["base"][0]["SMILES"] = "O"
    found = build(made, condition_require="smiles")
    assert found.warnings == ["t.json: entries[3] (entry 4): base: an item without smiles; row not used"]
    assert len(by_id(found)["t_q3"]["options"]) == 3


def test_balancing() -> None:
    yields = {"K": [1, 2, 3, 4, 90], "Na": [50, 60]}
    rows: list[Row] = [
        ({"base": b, "run": str(y)}, {"yield_ratio": y}) for b, values in yields.items() for y in values
    ]  # fmt: skip
    plain = by_id(build(table("t", rows)))["t_q3"]
    assert len(plain["options"]) == 7
    even = by_id(build(table("t", rows), balance_all_varying_options="true"))["t_q3"]
    assert sorted(even["meta"]["yields"]) == [3, 4, 50, 60, 90]  # 3 of one to 2 of the other is 1.5: left alone
    tight = by_id(build(table("t", rows), balance_all_varying_options="true", balance_max_imbalance_ratio="1"))["t_q3"]
    assert sorted(tight["meta"]["yields"]) == [4, 50, 60, 90]
    rows = [
        ({"base": b, "run": str(n)}, {"yield_ratio": y})
        for n, (b, y) in enumerate(zip("KKKKNN", [1, 1, 1, 9, 5, 5], strict=True))
    ]
    last = by_id(build(table("t", rows), balance_all_varying_options="true"))["t_q3"]  # of equal rows the last goes
    assert sorted(entry["row_index"] for entry in last["meta"]["option_source_entries"]) == [0, 1, 3, 4, 5]


def test_table_filters_and_reasons() -> None:
    good = simple("good", [1, 2, 3], year=2015)
    bad = [
        simple("a", [1, 2], is_table=False),
        simple("b", [1, 2], products=[]),
        simple("c", [1, 2], reactants=[{"content": "x", "SMILES": ""}]),
        simple("d", [5, 5]),
        simple("e", [5, "complex"]),
        table("f", [({"base": "K"}, {"yield_ratio": n}) for n in range(3)]),
        {"root_img_name": "g", "rows": []},
        simple("h", [1, 2], yield_scale="permille"),
        simple("good", [7, 8]),
    ]
    bad[8]["source_file"] = "z.json"
    other = simple("i", [1, 2])
    other["entries"][0]["products"] = [{"content": "", "SMILES": "C"}]
    other["entries"][1]["products"] = [{"content": "", "SMILES": "CC"}]
    made = build(good, *bad, other)
    assert made.unused == {
        "duplicate_table_id": 1, "fewer_than_two_readable_rows": 1, "filter_is_table": 1,
        "filter_reactant_product_require": 2, "filter_same_reactants_products": 1, "no_question": 1,
        "no_varying_condition": 1, "not_a_table": 2,
    }  # fmt: skip
    assert made.used + sum(made.unused.values()) == made.tables == 11
    assert "z.json: duplicate_table_id: good is in good.json" in made.unused_tables
    assert "h.json: not_a_table: 'yield_scale' must be percent or fraction, got 'permille'" in made.unused_tables
    assert made.warnings == [
        "e.json: entries[1] (entry 2): yield_ratio: cannot be read as one yield: 'complex'"
    ]  # fmt: skip
    assert build(good, *bad[1:3], reactant_product_require="none").used == 3


@pytest.mark.parametrize(
    ("wanted", "used"), [("none", 4), ("2015", 2), (2016, 1), ("2015,2020", 2), ("[2015]", 1), ([2020], 1)]
)
def test_year_filter(wanted: object, used: int) -> None:
    years = {"a": 2015, "b": "2020", "c": None, "d": "in press"}
    tables = [simple(name, [1, 2], year=year) for name, year in years.items()]
    assert build(*tables, year_filter=wanted).used == used


def test_the_main_product_and_all_products() -> None:
    products = [{"content": "minor", "SMILES": "CC"}, {"content": "major", "SMILES": "CO"}]
    made = simple("t", [1, 2], products=products, main_product_smiles="CO")
    question = by_id(build(made))["t_q1"]
    assert question["input"]["products"] == [products[1]]
    assert question["meta"]["main_product_smiles"] == "CO"
    assert by_id(build(made, input_products_mode="all"))["t_q1"]["input"]["products"] == products[::-1]


def test_a_fraction_scale_only_where_the_table_declares_it() -> None:
    percent, fraction = (
        by_id(build(simple("t", [0.5, 1], **more)))["t_q1"] for more in ({}, {"yield_scale": "fraction"})
    )
    assert (percent["meta"]["best_yield"], fraction["meta"]["best_yield"]) == (1, 100)


BAD_SETTINGS: Final = [
    ("year_filter", "soon"), ("condition_require", "name"), ("normalize_conditions", "yes"),
    ("balance_max_imbalance_ratio", "0.5"), ("min_reference_options", "2.5"), ("min_reference_options", "0"),
    ("reference_low_mid_fraction", "nan"), ("yield_field_priority", ""), ("year_filter", "[2019, true]"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), BAD_SETTINGS)
def test_bad_settings(name: str, value: str) -> None:
    with pytest.raises(InputError) as caught:
        make_settings({name: value})
    assert str(caught.value) == f"--{name.replace('_', '-')}: expected {SETTING_HELP[name]}, got {value!r}"


def test_settings_that_contradict_each_other_or_do_not_exist() -> None:
    for chosen, message in [
        ({"min_reference_options": 6}, "--max-reference-options: must not be below --min-reference-options"),
        ({"colour": "red"}, "settings: no setting colour"),
    ]:
        with pytest.raises(InputError) as caught:
            make_settings(chosen)
        assert str(caught.value) == message


def test_the_settings_are_the_seeds() -> None:
    assert make_settings({}) == Settings() == (
        None, None, "content", ("solvents",), "smiles", "main_only", ("isolated_yield", "yield_ratio"), True,
        ("indeterminate_mol_idt", "description", "indeterminate_descriptions", "other_info", "selected_conditions",
         "scale"), True, False, 1.5, 4, 2, 5, 5, 0.6666666666666666,
    )  # fmt: skip
    assert set(SETTING_HELP) == set(Settings._fields)
    as_text = {
        name: dump_json(value) if isinstance(value, tuple) else str(value)
        for name, value in Settings()._asdict().items()
    }
    assert make_settings(as_text) == Settings()


def test_tables_without_any_question() -> None:
    with pytest.raises(InputError) as caught:
        build(simple("a", [1, 2], products=[]), simple("b", [1, 1]))
    reasons = "filter_reactant_product_require 1, no_question 1 (see --reactant-product-require)"
    assert str(caught.value) == f"tables: no question can be built: {reasons}"
    with pytest.raises(InputError) as caught:
        build()
    assert str(caught.value) == "tables: no question can be built: there is no table"


# --- Invariants on random tables ---


@st.composite
def random_tables(draw: st.DrawFn) -> list[Record]:
    cells = st.sampled_from(
        ["0", "5", "12", "40", "40", "77", "93", "99", "trace", "<5", "40–50", "n.d.", "complex", "", "80(77)"]
    )
    tables = []
    for number in range(draw(st.integers(1, 4))):
        keys = draw(
            st.lists(st.sampled_from(["base", "solvents", "ligand", "Δt", "A"]), min_size=1, max_size=4, unique=True)
        )
        value = st.sampled_from(["a", "B", "b ", "c", "—", "{options}"])
        rows: list[Row] = [
            (
                {key: draw(value) for key in keys},
                {"yield_ratio": draw(cells), "ee": draw(st.sampled_from(["", "nd", "0", "95"]))},
            )
            for _ in range(draw(st.integers(0, 14)))
        ]
        tables.append(table(f"t{number}", rows))
    return tables


@settings(deadline=None, max_examples=150)
@given(random_tables(), st.integers(0, 3), st.booleans(), st.randoms(use_true_random=False))
def test_invariants(tables: list[Record], seed: int, balanced: bool, rng: random.Random) -> None:
    try:
        made = build_questions(tables, seed, balance_all_varying_options=balanced)
    except InputError as error:
        assert "no question can be built" in str(error)  # noqa: PT017 - the other outcome is the rest of the test
        return
    counts = made.counts
    assert sum(counts.values()) == len(made.questions)
    assert made.attempts == sum(q["id"].endswith("_ref") for q in made.questions) + sum(made.skipped.values())
    assert made.used + len(made.unused_tables) == made.tables == len(tables)
    assert len({q["meta"]["parent_table_id"] for q in made.questions}) == made.used
    found = by_id(made)
    assert len(found) == len(made.questions)
    sources = {source["root_img_name"]: source for source in tables}
    for question in made.questions:
        check_against_source(question, sources[question["meta"]["parent_table_id"]])
        check_pair(question, found)
    evaluator = RxnOptEvaluator(made.questions)
    assert evaluator.evaluate_all({q["id"]: q["answer"][-1] for q in made.questions})["avg_relative_score"] == 1.0
    mixed = rng.sample(tables, len(tables))
    assert build_files(build_questions(mixed, seed, balance_all_varying_options=balanced)) == build_files(made)


def plain(conditions: Mapping[str, Any]) -> dict[str, str]:
    """Conditions as compared, by means of the test's own: one item of text each."""
    return {key: items[0]["content"].strip().lower() for key, items in conditions.items() if items}


def check_against_source(question: Record, source: Record) -> None:
    given, meta = question["input"], question["meta"]
    real = [plain({k: read_items(v) for k, v in entry["conditions"].items()}) for entry in source["entries"]]
    context = {**given["constant_conditions"], **given.get("fixed_conditions", {})}
    options = [plain({**context, **option}) for option in question["options"]]
    assert len(options) >= 2
    assert len({json.dumps(option, sort_keys=True) for option in options}) == len(options)
    for option, entry in zip(options, meta["option_source_entries"], strict=True):
        assert option == real[entry["row_index"]]
    assert max(meta["option_relative_scores"]) == 1.0 > min(meta["option_relative_scores"])
    references = given.get("reference_conditions", [])
    assert question["question_type"].endswith("_reference") == bool(references)
    assert len(references) in ((2, 3, 4, 5) if references else (0,))
    for reference, entry in zip(references, meta.get("reference_source_entries", []), strict=True):
        assert plain(reference["conditions"]) == real[entry["row_index"]]
        assert plain(reference["conditions"]) not in options
        assert entry["row_index"] not in meta["global_best_entry_indices"]
    if question["target_key"]:
        assert all(set(option) == {question["target_key"]} for option in question["options"])
    else:
        assert "fixed_conditions" not in given
        assert len(options) >= (5 if references else 2)


def check_pair(question: Record, found: Mapping[str, Record]) -> None:
    if question["id"].endswith("_ref"):
        control = found[question["id"] + "_control"]
        texts = [sorted(dump_json(option) for option in q["options"]) for q in (question, control)]
        assert texts[0] == texts[1]
        assert {**control["input"], "reference_conditions": question["input"]["reference_conditions"]} == question[
            "input"
        ]
    altered = copy.deepcopy(question)
    altered["meta"], altered["answer"] = {"yields": ["LEAK"]}, [99]
    template = make_template(template_of(question["question_type"]))
    assert render_question(altered, template) == render_question(question, template)


# --- Anything at all as a table ---

LEAVES: Final = st.sampled_from(
    [None, True, 0, -1, 1e308, float("nan"), 10**30, "", "—", "x", "y", "\ud800", "80(77)", "50%", "\x1b[2J"]
)  # fmt: skip
NAMES: Final = st.sampled_from(["content", "SMILES", "current_conditions", "yield_ratio", "ee", "base", "x", ""])
VALUES: Final = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=5
)
ENTRIES: Final = st.fixed_dictionaries({
    "entry_idx": VALUES,
    "conditions": st.dictionaries(NAMES, VALUES, max_size=3) | VALUES,
    "results": st.fixed_dictionaries(
        {"yield_ratio": st.sampled_from(["5", "50%", 20]) | VALUES, "ee": VALUES, "dr": VALUES}
    ),
})  # fmt: skip
FIELDS: Final = ("root_img_name", "source_file", "doi", "year", "reactants", "products", "main_product_smiles")


@settings(deadline=None, max_examples=200)
@given(st.fixed_dictionaries({**dict.fromkeys(FIELDS, VALUES), "entries": st.lists(ENTRIES | VALUES, max_size=8)}))
def test_no_table_breaks_the_builder(hostile: Record) -> None:
    made = build(simple("good", [1, 2]), hostile, reactant_product_require="none")
    assert made.tables == 2 == made.used + len(made.unused_tables)
    assert "good_q1" in by_id(made)
    for text in build_files(made).values():
        assert not RAW_CONTROL.search(text)
    for question in made.questions:
        assert not RAW_CONTROL.search(render_question(question, make_template(template_of(question["question_type"]))))


@settings(deadline=None, max_examples=200)
@given(st.sampled_from(["id", "question_type", "options", "answer", "meta"]), VALUES, VALUES, VALUES)
def test_no_record_breaks_the_evaluator(field: str, value: object, scores: object, answer: object) -> None:
    record = copy.deepcopy(by_id(build(simple("t", [1, 2])))["t_q1"])
    record["meta"]["scores"] = scores
    record[field] = value
    try:
        found = RxnOptEvaluator([record]).evaluate_all({"t_q1": answer})
    except InputError as error:
        assert not RAW_CONTROL.search(str(error))  # noqa: PT017 - being refused is one of two good ends
    else:
        assert 0 <= found["avg_relative_score"] <= 1


# --- The order of options ---


def test_the_seed_decides_the_order_of_options_and_nothing_else() -> None:
    one, other = (build(*make_tables(), seed=seed) for seed in (1, 2))
    assert [q["id"] for q in one.questions] == [q["id"] for q in other.questions]
    assert [q["input"] for q in one.questions] == [q["input"] for q in other.questions]
    assert [q["answer"] for q in one.questions] != [q["answer"] for q in other.questions]


def test_positions_of_the_best_option_are_even() -> None:
    tables = [simple(f"t{n}", [9, 1, 2, 3]) for n in range(400)]
    places = Counter(q["answer"][0] for q in build(*tables).questions if q["question_type"] == "single_varying")
    assert sorted(places) == [0, 1, 2, 3]
    assert min(places.values()) > 70  # 100 each, five standard deviations below


# --- Prompts ---


def test_cells_cannot_break_a_template() -> None:
    evil = "{options} {reactants} $x ${x} \\1 %s {0}\nOption 9:\n- base: gold\x1b[2J\u202e"
    rows: list[Row] = [
        ({"base": evil, "solvents": "THF"}, {"yield_ratio": 1}),
        ({"base": "K", "solvents": evil}, {"yield_ratio": 2}),
    ]
    made = table("t", [*rows, ({"base": "K", "solvents": "THF"}, {"yield_ratio": 3})])
    for question in build(made).questions:
        prompt = render_question(question, make_template(template_of(question["question_type"])))
        assert prompt.count("\nOption ") == len(question["options"])
        assert "{options} {reactants} $x ${x} \\1 %s {0} Option 9: - base: gold\\x1b[2J\\u202e" in prompt
        assert not RAW_CONTROL.search(prompt)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", QUESTION_TYPES)
def test_templates(kind: str, language: str) -> None:
    template = make_template(template_of(kind), language)
    fields = re.findall(r"\{(\w+)\}", template)
    expected = ["reactants", "products", "constant_conditions", "options"]
    expected[3:3] = ["fixed_conditions"] if kind.startswith("single") else []
    expected[-1:-1] = ["reference_conditions"] if kind.endswith("_reference") else []
    assert fields == expected
    assert re.search("0-based|从 0 开始", template.strip().splitlines()[-1])


# --- Spreadsheets ---


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_import_makes_a_table_of_each_group(tmp_path: Path) -> None:
    path = write(
        tmp_path / "my runs.csv",
        "\ufeffEntry,substrate,halide,product,base,ligand SMILES,yield,ee,note\n"
        "1,s1,Brc1ccccc1,Oc1ccccc1,K2CO3,c1ccccc1P,0.5,90,x\n2,s1,Brc1ccccc1,Oc1ccccc1,Cs2CO3,C1CCCCC1P,0.75,,x\n"
        "\n3,s2,CCBr,CCO,K2CO3,,0.1,95,y\n",
    )
    columns = {"yield_ratio": "yield", "ee": "ee"}
    tables, notes = import_csv(path, columns, ["halide"], ["product"], ["substrate"], ["note"], fraction=True)
    assert list(tables) == ["my_runs_1.json", "my_runs_2.json"]
    assert notes == [
        "column 'Entry' is read as the entry number", "conditions: base, ligand SMILES",
        "reactants and products are not all SMILES: build with --reactant-product-require content or none",
    ]  # fmt: skip
    first = tables["my_runs_1.json"]
    assert first["reactants"] == [{"content": "Brc1ccccc1", "SMILES": "Brc1ccccc1"}]
    assert tables["my_runs_2.json"]["products"] == [{"content": "CCO", "SMILES": ""}]  # a name, for all we know
    assert first["entries"][1] == {
        "entry_idx": "2", "rxn_id": "0", "results": {"yield_ratio": "0.75", "ee": None},
        "conditions": {
            "base": [{"content": "Cs2CO3", "SMILES": ""}],
            "ligand SMILES": [{"content": "C1CCCCC1P", "SMILES": "C1CCCCC1P"}],
        },
    }  # fmt: skip
    question = by_id(build_questions(tables.values()))["my_runs_1_q3"]
    assert sorted(question["meta"]["effective_scores"]) == [47.5, 75.0]


BAD_CSV: Final = [
    ("a,b\n1,2\n", {"yield_ratio": "c"}, ": no column c, got a, b"),
    ("a,a\n1,2\n", {"yield_ratio": "a"}, ": line 1: the column a is there twice"),
    ("a,b\n1,2,3\n", {"yield_ratio": "b"}, ": line 2: expected 2 cells, got 3"),
    ("a,b\n", {"yield_ratio": "b"}, ": expected a header and rows, got none"),
    ("", {"yield_ratio": "b"}, ": expected a header and rows, got none"),
    ("y\n1\n", {"yield_ratio": "y"}, ": expected a column of conditions, got none beside those named"),
    ('a,b\n"1"x,2\n', {"yield_ratio": "b"}, ": line 2: not CSV: ',' expected after '\"'"),
    ("a,b\n1,2\n", {"yield_ratio": "b", "ee": "b"}, ": the column b is named twice"),
]


@pytest.mark.parametrize(("text", "columns", "message"), BAD_CSV)
def test_bad_spreadsheets(tmp_path: Path, text: str, columns: dict[str, str], message: str) -> None:
    path = write(tmp_path / "t.csv", text)
    with pytest.raises(InputError) as caught:
        import_csv(path, columns)
    assert str(caught.value) == f"{path}{message}"


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_delimiters(tmp_path: Path, delimiter: str) -> None:
    path = write(tmp_path / "t.csv", delimiter.join(["base", "y"]) + "\n" + delimiter.join(["K", "5"]) + "\n")
    tables, _ = import_csv(path, {"yield_ratio": "y"})
    assert tables["t.json"]["entries"][0]["results"] == {"yield_ratio": "5"}


# --- Samples ---


def test_the_committed_samples_are_what_the_script_writes() -> None:
    files = make_files()
    assert len(files) == 13 + 6 + 6
    for name, text in files.items():
        assert (ROOT / name).read_text(encoding="utf-8") == text, name
    committed = {f"dataset/rxnopt-tables/{path.name}" for path in (ROOT / "dataset" / "rxnopt-tables").iterdir()}
    assert committed == {name for name in files if "rxnopt-tables" in name}


def test_the_samples_have_every_kind_of_question_and_cell() -> None:
    made = build(*make_tables(), seed=SEED)
    assert min(made.counts.values()) >= 10
    cells = {str(v) for t in make_tables() for e in t["entries"] for v in e["results"].values() if v}
    assert {"trace", "n.d.", "<5", "quant.", "55 c", "92(88)", "40–50", "nd", ">20:1", "l/b = 73:27"} <= cells


# --- The command line ---


def run(*args: object, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, str(ROOT / "rxnopt.py"), *map(str, args)],
        capture_output=True, cwd=cwd, env={**os.environ, **environment}, timeout=60, check=False, encoding="utf-8",
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    assert not RAW_CONTROL.search(done.stdout + done.stderr)
    return done


def test_from_a_spreadsheet_to_a_score(tmp_path: Path) -> None:
    rows = [f"{base},{solvent},{17 * n % 101}" for n, (base, solvent) in enumerate(
        (b, s) for b in ("K2CO3", "Cs2CO3", "Et3N", "DBU") for s in ("DMF", "THF", "EtOH")
    )]  # fmt: skip
    sheet = write(tmp_path / "x.csv", "\n".join(["base,solvent,y", *rows]) + "\n")
    done = run("import", sheet, "-o", tmp_path / "tables", "--yield", "y")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[::2] == ["conditions: base, solvent", f"12 rows in 1 tables in {tmp_path}/tables"]
    assert "build with --reactant-product-require content or none" in done.stdout
    done = run("build", tmp_path / "tables", "-o", tmp_path / "q", "--reactant-product-require", "none")
    assert done.returncode == 0, done.stderr
    dataset = tmp_path / "q" / "multiple_choice_all_varying_reference.json"
    done = run("render", dataset, "-o", tmp_path / "prompts.jsonl")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    prompts = [json.loads(line) for line in (tmp_path / "prompts.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [sorted(row) for row in prompts] == [["id", "prompt"]]
    replies = write(
        tmp_path / "r.jsonl", "".join(json.dumps({"id": p["id"], "reply": "Answer: 1"}) + "\n" for p in prompts)
    )
    done = run("parse", replies, "-o", tmp_path / "p.json")
    assert (done.returncode, done.stdout) == (0, f"1 indices in {tmp_path}/p.json\n")
    assert rxnopt.evaluate_file(tmp_path / "p.json", [dataset])["answered_only"]["n"] == 1


def test_the_output_folder_is_whole(tmp_path: Path) -> None:
    done = run("build", ROOT / "dataset" / "rxnopt-tables", "-o", tmp_path / "q", "--seed", SEED)
    assert done.returncode == 0, done.stderr
    names = sorted(path.name for path in (tmp_path / "q").iterdir())
    assert len(names) == 6 + 4 + 6 + 1
    assert [path.name for path in tmp_path.iterdir()] == ["q"]
    report = (tmp_path / "q" / "report.md").read_text(encoding="utf-8")
    for number, title in enumerate(
        ["Where to begin", "Which file for what", "Shortest workflow", "Question types", "Scoring", "Files", "Fields",
         "Predictions", "References", "Settings", "Statistics", "Samples"], 1,
    ):  # fmt: skip
        assert f"\n## {number}. {title}\n" in report
    assert not [name for name in names if name != "report.md" and f"`{name}`" not in report]
    for kind in QUESTION_TYPES:
        questions = json.loads((tmp_path / "q" / f"multiple_choice_{kind}.json").read_text(encoding="utf-8"))
        assert f"| `multiple_choice_{kind}.json` | `{kind}` | {len(questions)} |" in report
        example = tmp_path / "q" / f"example_prediction_multiple_choice_{kind}.json"
        found = rxnopt.evaluate_file(example, [tmp_path / "q" / f"multiple_choice_{kind}.json"])
        assert (found["n"], found["missing"], found["illegal"]) == (len(questions), 0, 0)
        assert f"### {kind}" in report
    assert "filter_is_table: 1" in report
    assert "giese_photoredox.json: entries[9] (entry 10): yield_ratio: cannot be read as one yield: 'complex'" in report
    again = run("build", ROOT / "dataset" / "rxnopt-tables", "-o", tmp_path / "q")
    assert (again.returncode, again.stdout) == (2, "")
    assert again.stderr == f"rxnopt.py: {tmp_path}/q: the output folder must not exist yet\n"


def test_bytes_do_not_depend_on_the_hash_seed_or_on_file_names_order(tmp_path: Path) -> None:
    tables = sorted((ROOT / "dataset" / "rxnopt-tables").iterdir())
    for name, order in (("one", tables), ("two", tables[::-1])):
        (tmp_path / name).mkdir()
        for path in order:
            (tmp_path / name / path.name).write_bytes(path.read_bytes())
    outputs = []
    for name, hash_seed in (("one", "1"), ("two", "2")):
        done = run("build", tmp_path / name, "-o", tmp_path / f"out-{name}", PYTHONHASHSEED=hash_seed)
        assert done.returncode == 0, done.stderr
        outputs.append({path.name: path.read_bytes() for path in (tmp_path / f"out-{name}").iterdir()})
    assert outputs[0] == outputs[1]


def test_a_failure_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []

    def fail(path: Path, text: str) -> None:
        if len(written) == 3:
            raise KeyboardInterrupt
        path.parent.mkdir(parents=True, exist_ok=True)
        written.append(path.name)
        path.write_text(text, encoding="utf-8")

    monkeypatch.setattr(rxnopt, "write_atomic", fail)
    assert rxnopt.main(["build", str(ROOT / "dataset" / "rxnopt-tables"), "-o", str(tmp_path / "q")]) == 130
    assert len(written) == 3
    assert list(tmp_path.iterdir()) == []


def test_bad_files_in_the_folder_do_not_cost_the_others(tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    (folder / "deep" / "er").mkdir(parents=True)
    write(folder / "deep" / "er" / "good.json", json.dumps(simple("good", [1, 2, 3])))
    write(folder / "a.json", "{")
    write(folder / "b.json", "")
    (folder / "c.json").write_bytes(b"\xff\xfe{}")
    write(folder / "d.json", '{"SOURCES": 1}')
    write(folder / "e.json", "[" * 100_000)
    write(folder / "f.json", json.dumps(simple("good", [1, 2])))
    write(folder / "g.json", '{"entries": [], "entries": [1]}')
    write(folder / "h.json", json.dumps({**simple("h", [1, 2]), "entries": [1, {"conditions": 3}, {"results": []}]}))
    write(folder / "notes.txt", "no table")
    done = run("build", folder, "-o", tmp_path / "q")
    assert done.returncode == 0
    assert "- tables: 9, used 1, not used 8\n" in done.stdout
    for line in (
        "not used: a.json: unreadable: not JSON: line 1 column 2: Expecting property name enclosed in double quotes",
        "not used: b.json: unreadable: expected JSON, got an empty file",
        "not used: c.json: unreadable: not UTF-8: byte 0xff at position 0, got UTF-16 or UTF-32 text",
        "not used: d.json: not_a_table: expected an object with a list 'entries'",
        "not used: e.json: unreadable: expected records, got JSON nested too deeply",
        "not used: f.json: duplicate_table_id: good is in deep/er/good.json",
        "not used: g.json: not_a_table: 'entries' is given twice with different values",
        "not used: h.json: fewer_than_two_readable_rows: 0 of 3",
        "warning: h.json: entries[0]: expected an object, got int; row not used",
        "warning: h.json: entries[1]: 'conditions' must be an object; row not used",
        "warning: h.json: entries[2]: 'results' must be an object; row not used",
    ):
        assert f"rxnopt.py: {line}\n" in done.stderr


def test_hostile_tables_are_safe_on_the_screen_and_in_the_report(tmp_path: Path) -> None:
    evil = "../../etc/\x1b[2J\u202e`| <script>\n```\n# heading"
    made = simple(evil, [1, 2, "\x1b]0;x\x07"])
    made["source_file"], made["doi"] = evil, evil
    for entry in made["entries"]:
        entry["conditions"][evil] = [{"content": f"{evil} {entry['entry_idx']}", "SMILES": evil}]
    (tmp_path / "tables").mkdir()
    write(tmp_path / "tables" / "x.json", json.dumps(made))
    done = run("build", tmp_path / "tables", "-o", tmp_path / "q", "--condition-keys-blacklist", "`|,x")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"tables", "q"}
    for path in (tmp_path / "q").iterdir():
        assert not RAW_CONTROL.search(path.read_text(encoding="utf-8"))
    report = (tmp_path / "q" / "report.md").read_text(encoding="utf-8")
    assert "\n# heading" not in report
    done = run("render", tmp_path / "q" / "multiple_choice_all_varying.json")
    assert (done.returncode, done.stdout.count("\n")) == (0, 1)


BAD_COMMANDS: Final[list[tuple[list[str], str]]] = [
    (["build", "nowhere", "-o", "out"], "nowhere: expected a folder of table files"),
    (["build", "empty", "-o", "out"], "empty: no question can be built: there is no table"),
    (["build", "empty", "-o", "empty"], "empty: the output folder must not exist yet"),
    (["build", "empty", "-o", "out", "--min-reference-options", "0"],
     "--min-reference-options: expected fewest references of a question, got '0'"),
    (["render", "nowhere.json"], "nowhere.json: cannot be read: No such file or directory"),
    (["render", "q.json", "--id", "\x1b[2J"], "q.json: no question \\x1b[2J"),
    (["render", "futurex.json"], "futurex.json: record 1: expected a question with 'id' and 'options'"),
    (["render", "t/q.json"], "t/prompt_all_varying.txt: expected a template with {options}"),
    (["parse", "none.jsonl", "-o", "p.json"], "none.jsonl: expected replies with an index, got none"),
    (["import", "t.csv", "-o", "tables"], "--yield: expected the column of the yield"),
    (["import", "t.csv", "-o", "tables", "--yield", "nope"], "t.csv: no column nope, got base, y"),
    (["import", "t.csv", "-o", "taken", "--yield", "y"], "taken/t.json: the file must not exist yet"),
    (["import", "no.csv", "-o", "tables", "--yield", "y"], "no.csv: cannot be read: No such file or directory"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "message"), BAD_COMMANDS, ids=lambda value: " ".join(value)[:40])
def test_bad_commands(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("empty", "t", "taken"):
        Path(folder).mkdir()
    question = by_id(build(simple("s", [1, 2])))["s_q2"]
    for name in ("q.json", "t/q.json"):
        write(Path(name), json.dumps([question]))
    write(Path("t/prompt_all_varying.txt"), "Which?")
    write(Path("futurex.json"), json.dumps([{"id": "1", "prompt": "?", "level": 1}]))
    write(Path("none.jsonl"), '{"id": "a", "reply": "no idea"}\n')
    write(Path("t.csv"), "base,y\nK,1\n")
    write(Path("taken/t.json"), "{}")
    before = sorted(path for path in tmp_path.rglob("*"))
    assert rxnopt.main(command) == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"rxnopt.py: {message}"
    assert sorted(path for path in tmp_path.rglob("*")) == before


def test_usage(tmp_path: Path) -> None:
    assert run("--version").stdout == f"rxnopt.py {rxnopt.__version__}\n"
    assert run().returncode == 2
    assert run("build").returncode == 2
    shown = run("build", "--help", COLUMNS="200").stdout
    for name in Settings._fields:
        assert f"--{name.replace('_', '-')} VALUE" in shown


def test_render_uses_the_template_beside_the_dataset_and_one_id(tmp_path: Path) -> None:
    made = build(simple("s", [1, 2]), simple("u", [3, 4]))
    path = write(tmp_path / "d.json", json.dumps(made.questions))
    write(tmp_path / "prompt_all_varying.txt", "Mine: {options}{unknown}")
    done = run("render", path, "--id", "u_q2")
    (row,) = map(json.loads, done.stdout.splitlines())
    assert row["id"] == "u_q2"
    assert re.fullmatch(r"Mine: Option 0:\n- base: base \d\n\nOption 1:\n- base: base \d\{unknown\}", row["prompt"])
    chinese = run("render", path, "--id", "u_q1", "--language", "zh")
    assert "只输出一个数字" in json.loads(chinese.stdout)["prompt"]


@pytest.mark.parametrize(
    "break_it",
    [
        lambda q: q["meta"]["option_source_entries"].reverse(),
        lambda q: q["input"]["reference_conditions"].clear() or q["meta"]["reference_source_entries"].clear(),
        lambda q: q["meta"]["reference_source_entries"].__setitem__(0, q["meta"]["option_source_entries"][0]),
        lambda q: q.update(id="x_ref"),
    ],
)
def test_the_builder_notices_its_own_faults(break_it: Callable[[Record], object]) -> None:
    warnings: list[str] = []
    read = rxnopt.read_table(worked_example(), "t.json", Settings(), warnings)
    questions, _ = rxnopt._table_questions(read, Settings(), 0, Counter(), Counter())
    rxnopt.check_questions(read, questions, Settings())
    break_it(next(q for q in questions if q["id"].endswith("_q4_ref")))
    with pytest.raises(RuntimeError, match="invariant broken"):
        rxnopt.check_questions(read, questions, Settings())


# --- Found by review ---


def test_repeated_keys_anywhere_in_a_row_cost_that_row(tmp_path: Path) -> None:
    """The last of two results would count without a word, and the mark of repeated keys become a condition."""
    text = json.dumps(simple("t", [10, 20, 30]))
    first = text.index('"yield_ratio": 10')
    write(tmp_path / "t.json", text[:first] + '"yield_ratio": 90, ' + text[first:])
    built = build_questions(tmp_path)
    assert built.warnings == ["t.json: entries[0] (entry 1): a key is given twice with different values; row not used"]
    assert sorted(by_id(built)["t_q1"]["meta"]["yields"]) == [20, 30]
    raw = simple("t", [10, 20, 30])
    raw["entries"][0]["conditions"]["current_conditions"] = {"\0duplicate keys": ["base"]}
    assert all("duplicate" not in key for q in build(raw).questions for key in q["varying_keys"])


def test_an_empty_field_does_not_hide_a_lifted_one() -> None:
    rows = table("t", [({}, {"yield_ratio": n}) for n in (10, 20)])
    for n, entry in enumerate(rows["entries"]):
        entry["conditions"] = {"ligand": [], "current_conditions": {"ligand": [{"content": f"L{n}", "SMILES": ""}]}}
    (question,) = [q for q in build(rows).questions if q["id"] == "t_q1"]
    assert sorted(option["ligand"][0]["content"] for option in question["options"]) == ["L0", "L1"]


@pytest.mark.parametrize(("one", "other"), [("[bmim][PF6]", "[Bmim][PF6]"), ("O2/N2", "o2/n2"), ("11", "１１")])
def test_case_counts_in_molecules_only(one: str, other: str) -> None:
    assert compare_key(read_items(one), True) == compare_key(read_items(other), True)


def test_an_unusable_table_does_not_evict_one_of_its_id() -> None:
    built = build({**simple("d", [5, 5]), "source_file": "a"}, {**simple("d", [5, 50]), "source_file": "b"})
    assert (built.used, built.unused) == (1, {"no_question": 1})


def test_rows_without_what_is_required_have_a_reason_of_their_own() -> None:
    with pytest.raises(InputError, match="filter_condition_require 1"):
        build(simple("t", [1, 2, 3]), condition_require="smiles")


def test_results_among_the_conditions_are_pointed_out(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "base,conversion_a,ee_%c,dry,yield\na,1,2,3,4\nb,1,3,3,5\n")
    _, notes = import_csv(path, {"yield_ratio": "yield"})
    assert notes[1] == "warning: results among the conditions? name them with --ee, … or --drop: conversion_a, ee_%c"


def test_rendering_needs_neither_meta_nor_answer(tmp_path: Path) -> None:
    questions = build(simple("t", [10, 20, 30])).questions
    blind = [{key: q[key] for key in ("id", "question_type", "input", "options")} for q in questions]
    for name, rows in (("full", questions), ("blind", blind)):
        write(tmp_path / f"{name}.json", json.dumps(rows))
        assert run("render", tmp_path / f"{name}.json", "-o", tmp_path / f"{name}.jsonl").returncode == 0
    assert (tmp_path / "full.jsonl").read_bytes() == (tmp_path / "blind.jsonl").read_bytes()


def test_unreadable_files_are_counted(tmp_path: Path) -> None:
    write(tmp_path / "a.JSON", json.dumps(simple("a", [1, 2])))
    (tmp_path / "b.json").symlink_to(tmp_path / "gone.json")
    built = build_questions(tmp_path)
    assert (built.tables, built.used, built.unused) == (2, 1, {"unreadable": 1})
