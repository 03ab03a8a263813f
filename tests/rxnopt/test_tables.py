"""Tables: which of them are used, and which of their rows."""

from __future__ import annotations

from typing import Any

import pytest

from each import each
from forecasteval.common.errors import InputError
from forecasteval.rxnopt.builder import build_files, make_statistics
from rxnopt_tables import Record, Row, build, by_id, simple, table


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
    assert made.counts["unused"] == {
        "duplicate_table_id": 1, "fewer_than_two_readable_rows": 1, "filter_is_table": 1,
        "filter_reactant_product_require": 2, "filter_same_reactants_products": 1, "no_question": 1,
        "no_varying_condition": 1, "not_a_table": 2,
    }  # fmt: skip
    assert made.used + made.counts["unused"].total() == made.tables == 11
    assert "z.json: duplicate_table_id: good is in good.json" in made.unused_tables
    assert "h.json: not_a_table: 'yield_scale' must be percent or fraction, got 'permille'" in made.unused_tables
    assert made.warnings == [
        "e.json: entries[1] (entry 2): yield_ratio: cannot be read as one yield: 'complex'"
    ]  # fmt: skip
    assert build(good, *bad[1:3], reactant_product_require="none").used == 3


@each(("wanted", "used"), [("none", 4), ("2015", 2), (2016, 1), ("2015,2020", 2), ("[2015]", 1), ([2020], 1)])
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


def test_rows_without_what_is_required_have_a_reason_of_their_own() -> None:
    with pytest.raises(InputError, match="filter_condition_require 1"):
        build(simple("t", [1, 2, 3]), condition_require="smiles")


def conflicting(**more: Any) -> Record:
    cells = [("K", 10, 90), ("K", 60, 50), ("K", 32, None), ("Na", 20, None), ("Na", 20, None), ("Cs", 50, 0)]
    return table("t", [({"base": b}, {"yield_ratio": y, "ee": ee}) for b, y, ee in cells], **more)


def test_duplicates_are_merged_as_asked_and_conflicts_are_named() -> None:
    def scores(**chosen: Any) -> dict[str, float]:
        question = by_id(made := build(conflicting(), **chosen))["t_q1"]
        assert made.counts["rows"]["used"] == len(question["options"])
        assert made.counts["left_out"]["equal_conditions"] == len(conflicting()["entries"]) - len(question["options"])
        assert len(made.conflicts) == 1
        names = [option["base"][0]["content"] for option in question["options"]]
        return dict(zip(names, question["meta"]["effective_scores"], strict=True))

    assert scores() == scores(duplicates="best") == {"K": 45.0, "Na": 20.0, "Cs": 25.0}
    # yields 10, 32, 60; major fractions 0.95 and 0.75
    assert scores(duplicates="median") == {"K": 27.2, "Na": 20.0, "Cs": 25.0}
    assert scores(duplicates="drop") == {"Na": 20.0, "Cs": 25.0}
    made = build(conflicting(duplicates="median"))
    assert made.conflicts == ["t.json: entries[0, 1, 2]: equal conditions, effective 9.5 to 45 (median)"]
    assert "t.json: entries[0, 1, 2]: equal conditions, effective 9.5 to 45 (median)" in build_files(made)["report.md"]
    statistics = make_statistics(made)
    assert "equal_conditions: 3\n" in statistics
    assert "conditions whose results are more than 20 points apart: 1\n" in statistics


def test_a_median_is_shown_as_it_is_scored() -> None:
    cells = [(10, "90"), (30, "95[b]")]
    rows: list[Row] = [({"base": "K", "solvents": "THF"}, {"yield_ratio": y, "ee": ee}) for y, ee in cells]
    rows += [({"base": "Na", "solvents": s}, {"yield_ratio": y}) for s, y in [("THF", 90), ("DMF", 95), ("EtOH", 80)]]
    rows += [({"base": "Cs", "solvents": "DMF"}, {"yield_ratio": 25})]
    made = by_id(build(table("t", rows), duplicates="median", reference_low_mid_fraction=1))["t_q2_ref"]
    shown = [{k: r[k] for k in r.keys() - {"conditions"}} for r in made["input"]["reference_conditions"]]
    assert shown == [{"yield": 20.0, "ee": "92.5%"}, {"yield": 25.0}]


def test_duplicates_of_a_table_are_a_known_word() -> None:
    made = build(simple("good", [1, 2]), simple("bad", [1, 2], duplicates="mean"))
    assert made.unused_tables == ["bad.json: not_a_table: 'duplicates' must be best, median, drop, got 'mean'"]


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
