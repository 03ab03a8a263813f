"""The builder: invariants on random tables, anything at all as a table, and tables that give
nothing.
"""

from __future__ import annotations

import copy
import json
import os
import random
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from forecasteval.common.errors import InputError
from forecasteval.common.records import dump_json
from forecasteval.rxnopt.build.builder import build_files, build_questions, list_tables
from forecasteval.rxnopt.build.chemicals import read_items
from forecasteval.rxnopt.build.prompts import make_template, render_question
from forecasteval.rxnopt.datasets import template_of
from forecasteval.rxnopt.scoring import RxnOptEvaluator
from make_rxnopt_samples import SEED, make_files, make_tables
from rxnopt_tables import (
    NAMES,
    RAW_CONTROL,
    ROOT,
    VALUES,
    Record,
    Row,
    build,
    by_id,
    check_build,
    named,
    simple,
    table,
    write,
)


@st.composite
def random_tables(draw: st.DrawFn) -> list[Record]:
    cells = st.sampled_from(
        [
            "0",
            "5",
            "12",
            "40",
            "40",
            "77",
            "93",
            "99",
            "trace",
            "<5",
            "40–50",
            "n.d.",
            "complex",
            "",
            "80(77)",
        ]
    )
    tables = []
    for number in range(draw(st.integers(1, 4))):
        keys = draw(
            st.lists(
                st.sampled_from(["base", "solvents", "ligand", "Δt", "A"]),
                min_size=1,
                max_size=4,
                unique=True,
            )
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


@settings(max_examples=150)
@given(random_tables(), st.integers(0, 3), st.booleans(), st.randoms(use_true_random=False))
def test_invariants(tables: list[Record], seed: int, balanced: bool, rng: random.Random) -> None:
    try:
        made = build_questions(named(tables), seed, balance_all_varying_options=balanced)
    except InputError as error:
        assert "no question can be built" in str(error)  # noqa: PT017 - the other outcome is the rest of the test
        return
    check_build(made, tables)
    assert made.used + len(made.unused_tables) == made.tables == len(tables)
    assert len({q["meta"]["parent_table_id"] for q in made.questions}) == made.used
    found = by_id(made)
    assert len(found) == len(made.questions)
    sources = {source["root_img_name"]: source for source in tables}
    for question in made.questions:
        check_against_source(question, sources[question["meta"]["parent_table_id"]])
        check_pair(question, found)
    evaluator = RxnOptEvaluator(made.questions)
    assert (
        evaluator.evaluate_all({q["id"]: q["answer"][-1] for q in made.questions})[
            "avg_relative_score"
        ]
        == 1.0
    )
    mixed = rng.sample(tables, len(tables))
    assert build_files(
        build_questions(named(mixed), seed, balance_all_varying_options=balanced)
    ) == build_files(made)


def plain(conditions: Mapping[str, Any]) -> dict[str, str]:
    """Conditions as compared, by means of the test's own: one item of text each."""
    return {key: items[0]["content"].strip().lower() for key, items in conditions.items() if items}


def check_against_source(question: Record, source: Record) -> None:
    given, meta = question["input"], question["meta"]
    real = [
        plain({k: read_items(v) for k, v in entry["conditions"].items()})
        for entry in source["entries"]
    ]
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
        assert question["target_key"] in question["options"][0]
        assert len({tuple(option) for option in question["options"]}) == 1
        others = [plain({**context, **option}) for option in question["options"]]
        for key in question["options"][0]:  # more than one: they change together in all rows
            pairs = {(row.get(question["target_key"]), row.get(key)) for row in real}
            asked = {(row.get(question["target_key"]), row.get(key)) for row in others}
            assert asked <= pairs
            assert len(asked) == len(others)
    else:
        assert "fixed_conditions" not in given
        assert len(options) >= (5 if references else 2)


def check_pair(question: Record, found: Mapping[str, Record]) -> None:
    if question["id"].endswith("_ref"):
        control = found[question["id"] + "_control"]
        texts = [sorted(dump_json(option) for option in q["options"]) for q in (question, control)]
        assert texts[0] == texts[1]
        assert {
            **control["input"],
            "reference_conditions": question["input"]["reference_conditions"],
        } == question["input"]
    altered = copy.deepcopy(question)
    altered["meta"], altered["answer"] = {"yields": ["LEAK"]}, [99]
    template = make_template(template_of(question["question_type"]))
    assert render_question(altered, template) == render_question(question, template)


ENTRIES: Final = st.fixed_dictionaries({
    "entry_idx": VALUES,
    "conditions": st.dictionaries(NAMES, VALUES, max_size=3) | VALUES,
    "results": st.fixed_dictionaries(
        {"yield_ratio": st.sampled_from(["5", "50%", 20]) | VALUES, "ee": VALUES, "dr": VALUES}
    ),
})  # fmt: skip


FIELDS: Final = (
    "root_img_name",
    "source_file",
    "doi",
    "year",
    "reactants",
    "products",
    "main_product_smiles",
)


# its id is made of its place, by the builder and in the same way by who checks the build
NAMELESS: Final = {
    **dict.fromkeys(FIELDS),
    "entries": [
        {"conditions": {}, "results": {"yield_ratio": "5"}},
        {"conditions": {"content": True}, "results": {"yield_ratio": "50%"}},
    ],
}


@settings(max_examples=200)
@example(NAMELESS)
@given(
    st.fixed_dictionaries(
        {**dict.fromkeys(FIELDS, VALUES), "entries": st.lists(ENTRIES | VALUES, max_size=8)}
    )
)
def test_no_table_breaks_the_builder(hostile: Record) -> None:
    made = build(simple("good", [1, 2]), hostile, reactant_product_require="none")
    assert made.tables == 2 == made.used + len(made.unused_tables)
    assert "good_q1" in by_id(made)
    for text in build_files(made).values():
        assert not RAW_CONTROL.search(text)
    for question in made.questions:
        assert not RAW_CONTROL.search(
            render_question(question, make_template(template_of(question["question_type"])))
        )


def test_tables_without_any_question() -> None:
    with pytest.raises(InputError) as caught:
        build(simple("a", [1, 2], products=[]), simple("b", [1, 1]))
    reasons = "(filter_reactant_product_require 1, no_question 1) (see --reactant-product-require)"
    assert str(caught.value) == f"tables: no question can be built {reasons}"
    with pytest.raises(InputError) as caught:
        build()
    assert str(caught.value) == "tables: no question can be built: there is no table"


def test_an_unusable_table_does_not_evict_one_of_its_id() -> None:
    built = build(
        {**simple("d", [5, 5]), "source_file": "a"}, {**simple("d", [5, 50]), "source_file": "b"}
    )
    assert (built.used, built.counts["unused"]) == (1, {"no_question": 1})


def test_unreadable_files_are_counted(tmp_path: Path) -> None:
    write(tmp_path / "a.JSON", json.dumps(simple("a", [1, 2])))
    (tmp_path / "b.json").symlink_to(tmp_path / "gone.json")
    built = build_questions(list_tables(tmp_path))
    assert (built.tables, built.used, built.counts["unused"]) == (2, 1, {"unreadable": 1})


def test_the_samples_have_every_kind_of_question_and_cell() -> None:
    made = build(*make_tables(), seed=SEED)
    assert min(made.kinds.values()) >= 10
    cells = {
        str(v) for t in make_tables() for e in t["entries"] for v in e["results"].values() if v
    }
    assert {
        "trace",
        "n.d.",
        "<5",
        "quant.",
        "55 c",
        "92(88)",
        "40–50",
        "nd",
        ">20:1",
        "l/b = 73:27",
    } <= cells


def test_the_committed_samples_are_what_the_script_writes() -> None:
    files = make_files()
    assert len(files) == 13 + 6 + 6
    for name, text in files.items():
        assert (ROOT / name).read_text(encoding="utf-8") == text, name
    committed = {
        f"dataset/rxnopt-tables/{path.name}"
        for path in (ROOT / "dataset" / "rxnopt-tables").iterdir()
    }
    assert committed == {name for name in files if "rxnopt-tables" in name}


def test_what_is_not_asked_is_counted_over_all_tables() -> None:
    lonely: list[Row] = [
        ({"base": f"b{n}", "ligand": f"l{n}"}, {"yield_ratio": n}) for n in range(3)
    ]
    equal: list[Row] = [({"base": f"b{n}"}, {"yield_ratio": 5}) for n in range(3)]
    made = build(table("a", equal), table("b", lonely), table("c", lonely))
    # of a: base and all_varying tie; of b and c: base and ligand are all that vary, together
    assert made.counts["not_asked"] == {"all_options_tie": 2, "all_change_together": 4}


def test_conditions_that_change_together_are_one() -> None:
    """A ligand's name and its SMILES removed each other's question: the other one stayed fixed."""
    cells = [("XPhos", "CC1", "DMF"), ("SPhos", "CC2", "DMF"), ("XPhos", "CC1", "toluene"),
             ("SPhos", "CC2", "toluene")]  # fmt: skip
    rows: list[Row] = [
        (dict(zip(("ligand", "ligand_smiles", "solvent"), row, strict=True)), {"yield_ratio": n})
        for n, row in enumerate(cells, 5)
    ]
    made = build(table("t", rows))
    assert made.warnings == ["t.json: ligand, ligand_smiles: always change together, asked as one"]
    assert made.counts["not_asked"] == {"asked_with_another": 1}
    found = by_id(made)
    assert sorted(found) == ["t_q1", "t_q3", "t_q4"]  # numbers of the conditions
    assert found["t_q1"]["target_key"] == "ligand"
    assert [list(option) for option in found["t_q1"]["options"]] == [
        ["ligand", "ligand_smiles"]
    ] * 2
    assert list(found["t_q1"]["input"]["fixed_conditions"]) == ["solvent"]
    assert [list(option) for option in found["t_q3"]["options"]] == [["solvent"]] * 2
    assert len(found["t_q4"]["options"]) == 4


def test_rows_that_differ_in_a_footnote_mark_are_no_repeats() -> None:
    """66 and 84 became 75, although the footnote says that something else was changed."""
    rows: list[Row] = [
        ({"base": base}, {"yield_ratio": amount})
        for base, amount in (("K2CO3", 50), ("Cs2CO3", 66), ("Cs2CO3[b]", 84), ("Et3N", 20))
    ]
    raw = table("t", [*rows, ({"base": "Et3N"}, {"yield_ratio": 38})], duplicates="median")
    raw["entries"][4]["entry_idx"] = "5[c]"
    made = build(raw)
    words = "equal but for a mark; a footnote says what was changed: write it"
    assert made.warnings == [f"t.json: entries 2, 3: {words}", f"t.json: entries 4, 5[c]: {words}"]
    assert made.counts["left_out"] == {"equal_but_for_a_mark": 2}
    (question,) = (each for each in made.questions if each["question_type"] == "all_varying")
    assert sorted(question["meta"]["yields"]) == [20.0, 50.0, 66.0]
    assert build({**raw, "duplicates": "best"}).counts["left_out"] == {"equal_conditions": 2}


# --- The folder of a build: whole, the same whatever the order, or not there at all ---


IMPORTS: Final = (
    "from pathlib import Path; from forecasteval.rxnopt.build.builder import build_questions; "
    "from forecasteval.rxnopt.build.builder import list_tables, write_build"
)


def test_bytes_do_not_depend_on_the_hash_seed_or_on_file_names_order(tmp_path: Path) -> None:
    tables = sorted((ROOT / "dataset" / "rxnopt-tables").iterdir())
    for name, order in (("one", tables), ("two", tables[::-1])):
        (tmp_path / name).mkdir()
        for path in order:
            (tmp_path / name / path.name).write_bytes(path.read_bytes())
    outputs = []
    for name, hash_seed in (("one", "1"), ("two", "2")):
        source, output = str(tmp_path / name), str(tmp_path / f"out-{name}")
        made = f"write_build(build_questions(list_tables(Path({source!r}))), Path({output!r}))"
        code = f"{IMPORTS}; {made}"
        variables = {**os.environ, "PYTHONHASHSEED": hash_seed}
        subprocess.run(
            [sys.executable, "-W", "error", "-c", code], cwd=ROOT, env=variables, check=True
        )
        outputs.append(
            {path.name: path.read_bytes() for path in (tmp_path / f"out-{name}").iterdir()}
        )
    assert outputs[0] == outputs[1]


def test_the_report_counts_and_names_what_is_there() -> None:
    made = build(*make_tables(), seed=SEED)
    report = build_files(made)["report.md"]
    found, skipped = (
        sum(q["id"].endswith("_ref") for q in made.questions),
        made.counts["skipped"].total(),
    )
    assert min(found, skipped) > 0
    assert (
        f"\n- references looked for: {found + skipped}, found {found}, skipped {skipped} ("
        in report
    )
    for kind, template in (
        ("all_varying", "all_varying"),
        ("all_varying_reference", "all_varying_reference"),
        ("all_varying_reference_control", "all_varying"),
    ):
        name = f"multiple_choice_{kind}.json"
        files = f"`prompt_{template}.txt` | `example_prediction_{name}`"
        assert f"\n| `{name}` | `{kind}` | {made.kinds[kind]} | {files} |\n" in report
