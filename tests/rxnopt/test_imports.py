"""Import: files of one's own into tables, whatever program wrote them."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any, Final

import pandas as pd
import pytest

from forecasteval.common.errors import InputError
from forecasteval.rxnopt.builder import build_questions
from forecasteval.rxnopt.experiments import Constants
from forecasteval.rxnopt.imports import Layout, import_file
from forecasteval.rxnopt.prompts import make_template, render_question
from rxnopt_tables import Record, by_id, write


def read(path: Path, column: str = "yield", **layout: Any) -> tuple[dict[str, Record], list[str]]:
    return import_file(path, Layout({"yield_ratio": column}, **layout))


def only(path: Path, column: str = "yield", **layout: Any) -> Record:
    """The one table of a file."""
    ((_, table),) = read(path, column, **layout)[0].items()
    return table


def conditions(table: Record) -> list[str]:
    return list(table["entries"][0]["conditions"])


def test_import_makes_a_table_of_each_group(tmp_path: Path) -> None:
    path = write(
        tmp_path / "my runs.csv",
        "\ufeffEntry,substrate,halide,product,base,ligand SMILES,yield,ee,note\n"
        "1,s1,Brc1ccccc1,Oc1ccccc1,K2CO3,c1ccccc1P,0.5,90,x\n2,s1,Brc1ccccc1,Oc1ccccc1,Cs2CO3,C1CCCCC1P,0.75,,x\n"
        "\n3,s2,CCBr,CCO,K2CO3,,0.1,95,y\n",
    )
    layout = Layout({"yield_ratio": "yield", "ee": "ee"}, ["halide"], ["product"], ["substrate"], ["note"])
    tables, notes = import_file(path, layout, Constants(fraction=True))
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
            "substrate": [{"content": "s1", "SMILES": ""}],
        },
    }  # fmt: skip
    question = by_id(build_questions(tables.values()))["my_runs_1_q3"]
    assert sorted(question["meta"]["effective_scores"]) == [47.5, 75.0]


def test_groups_are_shown_in_prompts(tmp_path: Path) -> None:
    """Two groups with opposite answers must not ask the same question."""
    rows = ["substrate,base,yield", "s1,K2CO3,90", "s1,DBU,10", "s2,K2CO3,10", "s2,DBU,90"]
    path = write(tmp_path / "x.csv", "\n".join(rows) + "\n")
    tables, _ = read(path, group=["substrate"])
    made = by_id(build_questions(tables.values(), reactant_product_require="none"))
    prompts = [render_question(made[name], make_template("single_varying")) for name in ("x_1_q1", "x_2_q1")]
    assert ["- substrate: s1\n" in prompt for prompt in prompts] == [True, False]
    assert "- substrate: s2\n" in prompts[1]
    tables, _ = read(path, group=["substrate"], reactants=["substrate"])
    assert tables["x_2.json"]["reactants"] == [{"content": "s2", "SMILES": ""}]
    assert conditions(tables["x_2.json"]) == ["base"]


def test_a_group_that_build_would_not_show_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "scale,base,yield\n1 g,a,1\n2 g,b,2\n")
    with pytest.raises(InputError, match="the column scale must have another name: build leaves it out of prompts"):
        read(path, group=["scale"])
    assert "warning: build leaves the condition scale out; give it another name" in read(path)[1]


BAD: Final = [
    ("a,b\n1,2\n", Layout({"yield_ratio": "c"}), ": no column c, got a, b"),
    ("a,b\n1,2\n", Layout({"yield_ratio": "b"}, conditions=["x"]), ": no column x, got a, b"),
    ("y\n1\n", Layout({"yield_ratio": "y"}), ": expected a column of conditions, got none beside those named"),
    ("a,b\n1,2\n", Layout({"yield_ratio": "b", "ee": "b"}), ": the column b is named twice"),
    ("a,b\n1,2\n", Layout({"yield_ratio": "b"}, drop=["a"], conditions=["a"]), ": the column a is named twice"),
]


@pytest.mark.parametrize(("text", "layout", "message"), BAD)
def test_bad_layouts(tmp_path: Path, text: str, layout: Layout, message: str) -> None:
    path = write(tmp_path / "t.csv", text)
    with pytest.raises(InputError) as caught:
        import_file(path, layout)
    assert str(caught.value) == f"{path}{message}"


# --- What tells the answer is no condition ---


def test_results_row_numbers_and_what_follows_the_yield_are_no_conditions(tmp_path: Path) -> None:
    rows = [f"{n},{base},{n},{y},{y - 1},{y * 3 + n % 2}" for n, (base, y) in enumerate(
        zip("abcdefghij", [50, 20, 90, 30, 10, 70, 60, 80, 40, 5], strict=True))]  # fmt: skip
    path = write(tmp_path / "x.csv", "Entry,base,plate,yield,Conv. (%),signal\n" + "\n".join(rows) + "\n")
    table, (_, found, *notes) = only(path), read(path)[1]
    assert conditions(table) == ["base"]
    assert found == "conditions: base"
    assert notes[:3] == [
        "no conditions, unless --conditions says so: results (--ee, --er, --dr and --rr score them): Conv. (%)",
        "no conditions, unless --conditions says so: row numbers: plate",
        "no conditions, unless --conditions says so: columns that go with the yield (correlation above 0.95): signal",
    ]
    assert conditions(only(path, conditions=["base", "signal", "plate"])) == ["base", "signal", "plate"]


def test_the_only_thing_that_varies_stays_a_condition(tmp_path: Path) -> None:
    rows = ["temperature,base,yield", "25,K,10", "40,K,31", "60,K,50", "80,K,69", "100,K,91"]
    table, notes = only(path := write(tmp_path / "x.csv", "\n".join(rows) + "\n")), read(path)[1]
    assert conditions(table) == ["temperature", "base"]
    assert "warning: goes with the yield, kept since nothing else varies: temperature" in notes


def test_a_column_that_announces_two_numbers_gives_both(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "base,yield (ee),conv. [yield]\na,88 (92),95 [60]\nb,n.d.,40\n")
    table = only(path, "yield (ee)")
    assert [e["results"] for e in table["entries"]] == [{"ee": "92", "yield_ratio": "88"}, {"yield_ratio": "n.d."}]
    assert [e["results"] for e in only(path, "conv. [yield]")["entries"]] == [
        {"yield_ratio": "60"}, {"yield_ratio": None},
    ]  # fmt: skip
    assert "column 'yield (ee)' holds yield and ee" in read(path, "yield (ee)")[1]


def test_an_entry_with_a_name_comes_before_an_index_without(tmp_path: Path) -> None:
    table = only(write(tmp_path / "x.csv", ",Entry,base,yield\n0,1a,K,5\n1,1b,Na,6\n"))
    assert [entry["entry_idx"] for entry in table["entries"]] == ["1a", "1b"]
    assert conditions(table) == ["base"]


def test_rows_without_a_yield_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "base,yield\na,88\nb,complex\nc,\n")
    assert "warning: 2 of 3 rows have no yield that can be read" in read(path)[1]


# --- The field's own files ---


def screen() -> pd.DataFrame:
    """A sheet like those of published screens: every combination, yields with all their decimals."""
    drawn = random.Random(1)
    rows = itertools.product(["PPh3", "XPhos", "PCy3"], ["K3PO4", "NaOH", "Et3N"], ["DMF", "THF"], [90, 105])
    header = ["Ligand_SMILES", "Base", "Solvent", "Temp_C"]
    frame = pd.DataFrame(list(rows), columns=header)
    frame["yield"] = [100 * drawn.random() for _ in range(len(frame))]
    return frame


def test_every_program_that_writes_a_sheet_gives_the_same_table(tmp_path: Path) -> None:
    frame = screen()
    assert max(len(str(value)) for value in frame["yield"]) > 16
    frame.to_csv(tmp_path / "index.csv")  # pandas' default: a first column without a name
    frame.to_csv(tmp_path / "tabs.tsv", sep="\t", index=False)
    frame.to_csv(tmp_path / "german.csv", sep=";", decimal=",", encoding="cp1252")
    frame.to_csv(tmp_path / "excel.txt", sep="\t", encoding="utf-16", index=False)
    frame.to_excel(tmp_path / "book.xlsx", index=False)
    expected = [[*map(str, row[:4])] for row in frame.itertuples(index=False)]
    for path in sorted(tmp_path.iterdir()):
        entries = only(path)["entries"]
        cells = [[items[0]["content"] for items in entry["conditions"].values()] for entry in entries]
        assert cells == expected, path.name
        yields = [float(entry["results"]["yield_ratio"]) for entry in entries]
        assert yields == pytest.approx(list(frame["yield"]), rel=1e-14), path.name
        assert len(build_questions([only(path)], reactant_product_require="none").questions) > 4


def test_no_row_of_a_screen_is_lost(tmp_path: Path) -> None:
    """Yields like 4.35920116829955 were dropped, and with them the best row."""
    frame = screen()
    frame.to_csv(tmp_path / "x.csv", index=False)
    made = build_questions([only(tmp_path / "x.csv")], reactant_product_require="none", max_options=1000)
    assert made.warnings == []
    (question,) = [q for q in made.questions if q["question_type"] == "all_varying"]
    assert len(question["options"]) == len(frame)
    assert question["meta"]["best_yield"] == frame["yield"].max()


def test_reaction_smiles_give_reactants_and_products(tmp_path: Path) -> None:
    rows = ["rxn,base,yield", "CCBr.[OH-]>[Na+]>CCO,a,5", "CCBr.[OH-]>[Na+]>CCO |f:0.1|,b,6", "CBr.O>>CO,a,7"]
    tables, notes = read(write(tmp_path / "x.csv", "\n".join(rows) + "\n"))
    assert [[item["SMILES"] for item in table["reactants"]] for table in tables.values()] == [
        ["CCBr", "[OH-]"], ["CBr", "O"],
    ]  # fmt: skip
    assert tables["x_1.json"]["products"] == [{"content": "CCO", "SMILES": "CCO"}]
    assert conditions(tables["x_1.json"]) == ["base"]
    assert "reaction SMILES: rxn" in notes
    assert not any("not all SMILES" in note for note in notes)


def test_constants(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "base,yield\na,1\nb,2\n")
    constants = Constants(doi="10.1/x", year=2019, reactants=["CCBr", "O"], products=["CCO"])
    ((_, table),) = import_file(path, Layout({"yield_ratio": "yield"}), constants)[0].items()
    assert (table["doi"], table["year"], table["duplicates"]) == ("10.1/x", 2019, "median")
    assert build_questions([table], year_filter=2019).used == 1  # as SMILES are required of both sides by default


def test_a_condition_is_a_smiles_only_where_its_column_says_so(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("ligand,ligand smiles,y\nC1CCCCC1P,C1CCCCC1P,5\n", encoding="utf-8")
    tables, _ = import_file(tmp_path / "t.csv", Layout({"yield_ratio": "y"}))
    conditions = tables["t.json"]["entries"][0]["conditions"]
    assert [conditions[name][0]["SMILES"] for name in ("ligand", "ligand smiles")] == ["", "C1CCCCC1P"]
