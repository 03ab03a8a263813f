"""Tables: which of them are used, and which of their rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forecasteval.common.errors import InputError
from forecasteval.common.records import Record as RepeatedKeys
from forecasteval.rxnopt.build.builder import (
    build_files,
    build_questions,
    list_tables,
    make_statistics,
)
from forecasteval.rxnopt.build.prompts import make_template, render_question
from forecasteval.rxnopt.build.settings import Settings
from forecasteval.rxnopt.build.tables import Unused, read_results
from rxnopt_tables import Record, Row, build, by_id, score_row, simple, table, write


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
    assert (
        "h.json: not_a_table: 'yield_scale' must be percent, fraction, got 'permille'"
        in made.unused_tables
    )
    assert made.warnings == [
        "e.json: yield_ratio: cannot be read as one yield: 1 (entry 2: complex)"
    ]  # fmt: skip
    assert build(good, *bad[1:3], reactant_product_require="none").used == 3


@pytest.mark.parametrize(
    ("wanted", "used"),
    [("none", 4), ("2015", 2), (2016, 1), ("2015,2020", 2), ("[2015]", 1), ([2020], 1)],
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
    assert (
        by_id(build(made, input_products_mode="all"))["t_q1"]["input"]["products"] == products[::-1]
    )


def test_a_fraction_scale_only_where_the_table_declares_it() -> None:
    percent, fraction = (
        by_id(build(simple("t", [0.5, 1], **more)))["t_q1"]
        for more in ({}, {"yield_scale": "fraction"})
    )
    assert (percent["meta"]["best_yield"], fraction["meta"]["best_yield"]) == (1, 100)


def test_rows_without_what_is_required_have_a_reason_of_their_own() -> None:
    with pytest.raises(InputError, match="filter_condition_require 1"):
        build(simple("t", [1, 2, 3]), condition_require="smiles")


def conflicting(**more: Any) -> Record:
    cells = [
        ("K", 10, 90),
        ("K", 60, 50),
        ("K", 32, None),
        ("Na", 20, None),
        ("Na", 20, None),
        ("Cs", 50, 0),
    ]
    return table("t", [({"base": b}, {"yield_ratio": y, "ee": ee}) for b, y, ee in cells], **more)


def test_duplicates_are_merged_as_asked_and_conflicts_are_named() -> None:
    def scores(**chosen: Any) -> dict[str, float]:
        question = by_id(made := build(conflicting(), **chosen))["t_q1"]
        assert made.counts["rows"]["used"] == len(question["options"])
        assert made.counts["left_out"]["equal_conditions"] == len(conflicting()["entries"]) - len(
            question["options"]
        )
        assert len(made.conflicts) == 1
        names = [option["base"][0]["content"] for option in question["options"]]
        return dict(zip(names, question["meta"]["effective_scores"], strict=True))

    assert scores() == scores(duplicates="best") == {"K": 45.0, "Na": 20.0, "Cs": 25.0}
    # yields 10, 32, 60; major fractions 0.95 and 0.75
    assert scores(duplicates="median") == {"K": 27.2, "Na": 20.0, "Cs": 25.0}
    assert scores(duplicates="drop") == {"Na": 20.0, "Cs": 25.0}
    made = build(conflicting(duplicates="median"))
    assert made.conflicts == [
        "t.json: entries[0, 1, 2]: equal conditions, effective 9.5 to 45 (median)"
    ]
    assert (
        "t.json: entries[0, 1, 2]: equal conditions, effective 9.5 to 45 (median)"
        in build_files(made)["report.md"]
    )
    statistics = make_statistics(made)
    assert "left out 3 (equal_conditions 3)\n" in statistics
    assert "equal conditions more than 20 points apart: 1;" in statistics


def test_a_median_is_shown_as_it_is_scored() -> None:
    cells = [(10, "90"), (30, "95[b]")]
    rows: list[Row] = [
        ({"base": "K", "solvents": "THF"}, {"yield_ratio": y, "ee": ee}) for y, ee in cells
    ]
    rows += [
        ({"base": "Na", "solvents": s}, {"yield_ratio": y})
        for s, y in [("THF", 90), ("DMF", 95), ("EtOH", 80)]
    ]
    rows += [({"base": "Cs", "solvents": "DMF"}, {"yield_ratio": 25})]
    made = by_id(build(table("t", rows), duplicates="median", reference_low_mid_fraction=1))[
        "t_q2_ref"
    ]
    shown = [
        {k: r[k] for k in r.keys() - {"conditions"}} for r in made["input"]["reference_conditions"]
    ]
    assert shown == [{"yield": 20.0, "ee": "92.5%"}, {"yield": 25.0}]


def test_duplicates_of_a_table_are_a_known_word() -> None:
    made = build(simple("good", [1, 2]), simple("bad", [1, 2], duplicates="mean"))
    assert made.unused_tables == [
        "bad.json: not_a_table: 'duplicates' must be best, median, drop, got 'mean'"
    ]


def test_equal_conditions_keep_the_best_row_then_the_first() -> None:
    rows: list[Row] = [
        ({"base": "K"}, {"yield_ratio": 10}), ({"base": "ｋ "}, {"yield_ratio": 30}),
        ({"base": "K"}, {"yield_ratio": 30}), ({"base": "Na"}, {"yield_ratio": 20}),
    ]  # fmt: skip
    question = by_id(build(table("t", rows)))["t_q1"]
    assert sorted(entry["row_index"] for entry in question["meta"]["option_source_entries"]) == [
        1,
        3,
    ]
    assert question["meta"]["total_entries_in_source_table"] == 4
    exact = by_id(build(table("t", rows), normalize_conditions="false"))["t_q1"]
    assert sorted(entry["row_index"] for entry in exact["meta"]["option_source_entries"]) == [
        1,
        2,
        3,
    ]


# --- Rows: effective scores, conditions that count, rows that cannot be used ---


def effective(**cells: object) -> float:
    return score_row(cells)[1]


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
    assert score_row({"isolated_yield": "40", "yield_ratio": "46"})[1] == 40.0
    assert score_row({"isolated_yield": "40", "yield_ratio": "46"}, first)[1] == 46.0
    assert score_row({"yield_ratio": "80(77)"}, first)[1] == 80.0
    assert score_row({"isolated_yield": "80(77)"})[1] == 77.0
    assert score_row({"isolated_yield": "0", "yield_ratio": "46"})[1] == 0.0
    assert score_row({"isolated_yield": "complex", "yield_ratio": "46"})[1] == 46.0
    notes: list[tuple[str, str]] = []
    with pytest.raises(Unused, match="no_yield"):
        read_results({"isolated_yield": "complex", "ee": "120"}, Settings(), False, notes)
    assert [note.partition(":")[0] for note, _ in notes] == ["isolated_yield", "ee"]


def best_bases(results: list[Record], **settings: Any) -> tuple[list[str], list[str]]:
    """The bases of the best options of a table with these results, and the warnings."""
    rows: list[Row] = [({"base": f"b{number}"}, cells) for number, cells in enumerate(results, 1)]
    build = build_questions({"t.json": table("t", rows)}, **settings)
    question = by_id(build)["t_q2"]
    best = [question["options"][index]["base"][0]["content"] for index in question["answer"]]
    return best, build.warnings


@pytest.mark.parametrize(
    ("results", "best", "warning"),
    [
        (  # papers isolate the product of their best conditions only
            [{"yield_ratio": cell} for cell in ("90", "96 (85)", "45", "60")],
            "b2",
            "t.json: isolated_yield in 1, yield_ratio in 4 of 4 rows: yield_ratio is compared",
        ),
        (
            [
                {"yield_ratio": "90", "isolated_yield": "78"},
                {"yield_ratio": "99", "isolated_yield": "74"},
                {"yield_ratio": "82", "isolated_yield": "–"},
            ],
            "b2",
            "t.json: isolated_yield in 2, yield_ratio in 3 of 3 rows: yield_ratio is compared",
        ),
        (  # all rows have it: nothing formed in the third
            [
                {"yield_ratio": "90", "isolated_yield": "78"},
                {"yield_ratio": "99", "isolated_yield": "74"},
                {"yield_ratio": "trace"},
            ],
            "b1",
            "",
        ),
        (  # an isolated yield was not determined where the product was detected
            [
                {"yield_ratio": "90", "isolated_yield": "85"},
                {"yield_ratio": "95", "isolated_yield": "n.d."},
                {"yield_ratio": "n.d.", "isolated_yield": "nd"},
            ],
            "b2",
            "t.json: isolated_yield in 2, yield_ratio in 3 of 3 rows: yield_ratio is compared",
        ),
        (  # isolated is at least so much by NMR
            [{"isolated_yield": "73"}, *({"yield_ratio": cell} for cell in ("9", "29", "58"))],
            "b1",
            "t.json: isolated_yield in 1, yield_ratio in 3 of 4 rows: yield_ratio is compared",
        ),
        (  # but nobody knows how much of 82 by NMR can be isolated
            [{"isolated_yield": "78"}, {"isolated_yield": "74"}, {"yield_ratio": "82"}],
            "b1",
            "t.json: isolated_yield in 2, yield_ratio in 1 of 3 rows: isolated_yield is compared"
            "; 1 not used, best by another yield",
        ),
        ([{"isolated_yield": "78"}, {"isolated_yield": "80"}], "b2", ""),
    ],
)
def test_the_yields_of_a_table_are_of_one_kind(
    results: list[Record], best: str, warning: str
) -> None:
    assert best_bases(results) == ([best], [warning] * bool(warning))


def test_ee_and_er_are_one_quantity() -> None:
    """A table may print both in some rows: 90 % ee is 95:5, and rounded 94.6:5.4."""
    results: list[Record] = [
        {"yield_ratio": "50", "ee": "90", "er": "95.2:4.8"},
        {"yield_ratio": "50", "er": "95.1:4.9"},
        {"yield_ratio": "50", "er": "60:40"},
    ]
    assert best_bases(results) == (["b1"], [])
    results[2] = {"yield_ratio": "50", "ee": "99"}
    assert best_bases(results) == (["b3"], [])


def test_absent_is_empty_is_a_dash() -> None:
    rows: list[Row] = [({"base": "K"}, {"yield_ratio": 10}), ({"base": "Na"}, {"yield_ratio": 20})]
    made = table("t", [*rows, *rows])
    for entry, value in zip(
        made["entries"], [[], [{"content": "—", "SMILES": ""}], None, ""], strict=True
    ):
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
        entry["conditions"] = {
            "current_conditions": {"Current": f"{n} mA", "scale": "1 g"},
            "other_info": "x",
        }
    assert by_id(build(made))["t_q1"]["target_key"] == "Current"
    for entry in made["entries"]:  # a key that stands beside the lifted one is the row's own word
        entry["conditions"]["Current"] = "5 mA"
    made["entries"][0]["conditions"]["base"] = "K"
    question = by_id(build(made))["t_q1"]
    assert question["input"]["constant_conditions"] == {
        "Current": [{"content": "5 mA", "SMILES": ""}]
    }
    for entry in made["entries"]:
        del entry["conditions"]["Current"]
    del made["entries"][0]["conditions"]["base"]
    with pytest.raises(InputError):  # text of the whole is compared then, and it does differ
        build(
            made,
            expand_current_conditions="false",
            condition_keys_blacklist="current_conditions,other_info",
        )


def test_an_empty_field_does_not_hide_a_lifted_one() -> None:
    rows = table("t", [({}, {"yield_ratio": n}) for n in (10, 20)])
    for n, entry in enumerate(rows["entries"]):
        entry["conditions"] = {
            "ligand": [],
            "current_conditions": {"ligand": [{"content": f"L{n}", "SMILES": ""}]},
        }
    (question,) = [q for q in build(rows).questions if q["id"] == "t_q1"]
    assert sorted(option["ligand"][0]["content"] for option in question["options"]) == ["L0", "L1"]


def test_condition_keys_and_require() -> None:
    rows: list[Row] = [
        ({"base": f"b{n}", "solvents": f"s{n % 2}"}, {"yield_ratio": n}) for n in range(4)
    ]
    assert (
        by_id(build(table("t", rows), condition_keys="solvents"))["t_q1"]["target_key"]
        == "solvents"
    )
    made = table("t", rows)
    for entry in made["entries"][:3]:
        entry["conditions"]["base"][0]["SMILES"] = "O"
    found = build(made, condition_require="smiles")
    assert found.warnings == ["t.json: base: an item without smiles; row not used: 1 (entry 4)"]
    assert len(by_id(found)["t_q3"]["options"]) == 3


def test_repeated_keys_anywhere_in_a_row_cost_that_row(tmp_path: Path) -> None:
    """The last of two results would count without a word, also of two that stand deep inside."""
    text = json.dumps(simple("t", [10, 20, 30]))
    first = text.index('"yield_ratio": 10')
    write(tmp_path / "t.json", text[:first] + '"yield_ratio": 90, ' + text[first:])
    built = build_questions(list_tables(tmp_path))
    assert built.warnings == [
        "t.json: a key is given twice with different values; row not used: 1 (entry 1)"
    ]
    assert sorted(by_id(built)["t_q1"]["meta"]["yields"]) == [20, 30]
    raw = simple("t", [10, 20, 30])
    raw["entries"][0]["conditions"]["current_conditions"] = RepeatedKeys(
        {"ligand": "PPh3"}, ["ligand"]
    )
    built = build(raw)
    assert built.warnings == [
        "t.json: a key is given twice with different values; row not used: 1 (entry 1)"
    ]
    assert all(q["varying_keys"] == ["base"] for q in built.questions)


def test_scores_as_numbers_of_a_release() -> None:
    rows: list[Row] = [
        ({"base": "K"}, {"yield_ratio": "80%", "ee": "90[d]", "dr": "3 : 1"}),
        ({"base": "Na"}, {"yield_ratio": 70, "er": "95:5", "rr": "single isomer"}),
    ]
    printed, numbers = (
        by_id(build(table("t", rows), numeric_scores=is_number))["t_q2"]["meta"]
        for is_number in (False, True)
    )
    (first, second) = sorted(numbers["scores"], key=lambda scores: -scores["yield"])
    fields = ("yield", "ee", "er", "dr", "rr")
    assert [first[field] for field in fields] == [80.0, 90.0, None, 3.0, None]
    assert [second[field] for field in fields] == [70.0, None, 19.0, None, None]
    assert {**numbers, "scores": printed["scores"]} == printed
