"""Import: files of one's own into tables, whatever program wrote them."""

from __future__ import annotations

import csv
import itertools
import json
import random
from pathlib import Path
from typing import Any, Final

import pandas as pd
import pytest

from cli import import_extra
from forecasteval.common.errors import InputError
from forecasteval.rxnopt.builder import build_questions
from forecasteval.rxnopt.imports import Layout, import_file, list_columns
from forecasteval.rxnopt.prompts import make_template, render_question
from forecasteval.rxnopt.settings import Settings
from forecasteval.rxnopt.tables import read_scores
from rxnopt_tables import CASES, Record, by_id, write

openpyxl = import_extra("openpyxl")


def read(path: Path, column: str = "yield", **layout: Any) -> tuple[dict[str, Record], list[str]]:
    """The tables of a file, with the condition `base` unless others are named."""
    return import_file(path, Layout({"yield_ratio": column}, **{"conditions": ["base"], **layout}))


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
    layout = Layout(
        {"yield_ratio": "yield", "ee": "ee"},
        ["base", "ligand SMILES"],
        ["halide"],
        ["product"],
        ["substrate"],
        fraction=True,
    )
    tables, notes = import_file(path, layout)
    assert list(tables) == ["my_runs_1.json", "my_runs_2.json"]
    assert notes == [
        "column 'Entry' is read as the entry number", "columns that are not used: note",
        "warning: the condition ligand SMILES is different in every row",
        "left out: empty: 1 (line 4)",
        "reactants and products are not all SMILES: build with --reactant-product-require "
        "content or none",
        "rows: 4, used 3, left out 1",
    ]  # fmt: skip
    first = tables["my_runs_1.json"]
    assert first["reactants"] == [{"content": "Brc1ccccc1", "SMILES": "Brc1ccccc1"}]
    assert tables["my_runs_2.json"]["products"] == [
        {"content": "CCO", "SMILES": ""}
    ]  # a name, for all we know
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
    prompts = [
        render_question(made[name], make_template("single_varying"))
        for name in ("x_1_q1", "x_2_q1")
    ]
    assert ["- substrate: s1\n" in prompt for prompt in prompts] == [True, False]
    assert "- substrate: s2\n" in prompts[1]
    tables, _ = read(path, group=["substrate"], reactants=["substrate"])
    assert tables["x_2.json"]["reactants"] == [{"content": "s2", "SMILES": ""}]
    assert conditions(tables["x_2.json"]) == ["base"]


@pytest.mark.parametrize("layout", [{"group": ["scale"]}, {"conditions": ["scale", "base"]}])
def test_a_column_that_build_would_not_show_is_refused(
    tmp_path: Path, layout: dict[str, Any]
) -> None:
    path = write(tmp_path / "x.csv", "scale,base,yield\n1 g,a,1\n2 g,b,2\n")
    with pytest.raises(
        InputError, match="the column scale must have another name: build leaves it out of prompts"
    ):
        read(path, **layout)


YIELD: Final = {"yield_ratio": "b"}
ASKED: Final = ": expected the columns of the yield and of the conditions"
BAD: Final = [
    ("a,b\n1,2\n", Layout({"yield_ratio": "c"}, ["a"]), ": no column c, got a, b"),
    ("a,b\n1,2\n", Layout(YIELD, ["x"]), ": no column x, got a, b"),
    ("a,b\n1,2\n", Layout(YIELD), ASKED),
    ("a,b\n1,2\n", Layout({}, ["a"]), ASKED),
    ("a,b\n1,2\n", Layout({"ee": "b"}, ["a"]), ASKED),
    ("a,b\n1,2\n", Layout({**YIELD, "ee": "b"}, ["a"]), ": the column b is named twice"),
    ("a,b\n1,2\n", Layout(YIELD, ["a"], ["a"]), ": the column a is named twice"),
    (
        "a,b\nCCO,2\n",
        Layout(YIELD, ["b"], reaction="a"),
        ": the column b is named twice",
    ),
    (
        "a,b,r\n1,2,CCO\n",
        Layout(YIELD, ["a"], reaction="r"),
        ": expected rows with a yield, got left out: no reaction SMILES: 1 (line 2)",
    ),
]


@pytest.mark.parametrize(("text", "layout", "message"), BAD)
def test_bad_layouts(tmp_path: Path, text: str, layout: Layout, message: str) -> None:
    path = write(tmp_path / "t.csv", text)
    with pytest.raises(InputError) as caught:
        import_file(path, layout)
    assert str(caught.value) == f"{path}{message}"


# --- Columns ---


def test_nothing_is_dropped_by_a_guess(tmp_path: Path) -> None:
    """`MS`, molecular sieves, went as mass spectrometry; `Enzyme` beside `pH` as a name of rows."""
    rows = ["MS,Enzyme,pH,Conv.,yield", "4A,E1,7,90,80", "3A,E2,7,50,40", "none,E3,8,40,30"]
    path = write(tmp_path / "x.csv", "\n".join(rows) + "\n")
    names = ["MS", "Enzyme", "pH"]
    assert conditions(only(path, conditions=names)) == names
    assert read(path, conditions=names)[1][0] == "columns that are not used: Conv."
    assert "columns that are not used: MS, Enzyme, Conv." in read(path, conditions=["pH"])[1]


def test_a_condition_that_tells_the_result_is_warned_about(tmp_path: Path) -> None:
    rows = ["x,base,yield", "25,K,10", "40,Na,31", "60,K,50", "80,Na,69", "100,K,91"]
    path = write(tmp_path / "x.csv", "\n".join(rows) + "\n")
    notes = read(path, conditions=["x", "base"])[1]
    assert notes[:2] == [
        "warning: the condition x is in order with the yield",
        "warning: the condition x is different in every row",
    ]


def test_the_list_of_columns(tmp_path: Path) -> None:
    text = "Table 1\nEntry,base,Yield (%),ee,MS\n1,K,50,90,4A\n2,K,60,,3A\n3,Na,7,,4A\n4,Cs,8,,5A\n"
    assert list_columns(write(tmp_path / "x.csv", text)) == [
        ("Entry", "1, 2, 3", "entry number"), ("base", "K, Na, Cs", "condition"),
        ("Yield (%)", "50, 60, 7", "yield"),
        ("ee", "90", "ee"), ("MS", "4A, 3A, 5A", "condition"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        ",K2CO3,DBU\nAcOH,12,45\nTFA,50,trace\n",
        "acid \\ base,K2CO3,DBU\nAcOH,12,45\nTFA,50,\n",
        "Entry,acid,K2CO3,DBU\n1,AcOH,12,45\n2,TFA,50,\n",
    ],
)
def test_a_plate_is_refused(tmp_path: Path, text: str) -> None:
    path = write(tmp_path / "x.csv", text)
    with pytest.raises(
        InputError, match=r"one row per experiment, .* base, acid, yield, got a plate"
    ):
        list_columns(path)


def test_a_plate_is_refused_although_columns_are_named(tmp_path: Path) -> None:
    """Its other columns of results were not used."""
    text = "acid,K2CO3,DBU,Et3N\nAcOH,12,45,3\nTFA,50,trace,4\n"
    path = write(tmp_path / "x.csv", text)
    with pytest.raises(InputError, match=r"got a plate: .* \(if not, call the yields 'yield'\)"):
        read(path, "DBU", conditions=["acid"])
    assert only(write(path, text.replace("DBU", "yield")), "yield", conditions=["acid"])


def test_a_sheet_whose_columns_are_all_named_is_no_plate(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "Entry,ligand,T,y\n1,L1,80,5\n2,L2,90,50\n")
    names = ["ligand", "T"]
    assert conditions(only(path, "y", conditions=names, entry="Entry")) == names
    assert conditions(only(path, "y", conditions=names)) == names


@pytest.mark.parametrize(
    "text",
    [
        "ligand,T,yield\nL1,80,5\n",
        "ligand,base,x\nL1,K,5\n",
        "T,x,y\n80,5,6\n",
        "L,x\na,5\n",
        "solvent,T (°C),time (h),result\nTHF,25,3,80\n",
    ],
)
def test_a_list_of_experiments_is_no_plate(tmp_path: Path, text: str) -> None:
    assert list_columns(write(tmp_path / "x.csv", text))


def test_a_mass_is_no_yield(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "base,Yield (mg),yield\nK,120,60\nNa,90,45\n")
    assert [use for *_, use in list_columns(path)] == ["condition", "result", "yield"]
    with pytest.raises(InputError, match=r"yields in percent, .* got the column Yield \(mg\)"):
        import_file(path, Layout({"yield_ratio": "Yield (mg)"}, ["base"]))


@pytest.mark.parametrize("name", ["Yield (%)", "Yield\n(%)", " Yield  (%)"])
def test_names_of_columns_match_after_blanks_are_folded(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "x.csv", 'base,"Yield\n(%)"\nK,5\n')
    assert only(path, name)["entries"][0]["results"] == {"yield_ratio": "5"}


@pytest.mark.parametrize(
    ("header", "cell", "effective"),
    [("yield (ee)", "85 (80)[c]", 76.5), ("yield (ee)", ">99 (75)[b]", 86.625),
     ("yield (ee) (dr)", "80 (90) (3:1)c", 57.0), ("yield (ee, dr)", "80 (90)", 76.0),
     ("yield", "85^[c]", 85.0),
     ("yield", "95[d] (90)", 90.0), ("yield", "85 (82)^[c]", 82.0),
     ("yield", "85 (82 isol.)", 82.0),
     ("Yield of 3a (4a) (%)", "60 (35)", 60.0), ("Yield (%) (recovered SM)", "60 (35)", 60.0),
     ("Yield (3a:4a)", "60 (1:9)", 60.0), ("Isolated yield (NMR)", "82 (85)", 82.0),
     ("Area% (3a)", "60 (35)", 60.0), ("3a (4a) yield", "60 (35)", 60.0),
     ("NMR yield (isolated)", "85 (82)", 82.0), ("Yield of 3a (4a)", "85 (82 isol.)", 82.0)],
)  # fmt: skip
def test_the_header_says_what_the_bracket_is(
    tmp_path: Path, header: str, cell: str, effective: float
) -> None:
    path = write(tmp_path / "x.csv", f'base,"{header}"\nK,"{cell}"\n')
    (entry,) = only(path, header)["entries"]
    assert read_scores(entry["results"], Settings(), False)[1] == effective


def test_what_a_bracket_holds_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "base,Yield of 3a (4a)\nK,60 (35)\n")
    note = "column 'Yield of 3a (4a)': what stands in brackets is 4a, and not used"
    assert read(path, "Yield of 3a (4a)")[1][0] == note


def test_standard_conditions_are_warned_about_in_any_column(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "Conditions,y\nstandard conditions,90\nno light,5\n")
    assert any(
        note.startswith("warning: Conditions: 'standard conditions' says which")
        for note in read(path, "y", conditions=["Conditions"])[1]
    )


@pytest.mark.parametrize(
    "standard", ["None", "none", "—", "", "no change", "Standard conditions", "无"]
)
def test_the_standard_under_deviations_is_warned_about(tmp_path: Path, standard: str) -> None:
    path = write(
        tmp_path / "x.csv",
        f"deviation from standard,y\n{standard},90\nno light,5\nDMF for THF,60\n",
    )
    (warning,) = [
        note
        for note in read(path, "y", conditions=["deviation from standard"])[1]
        if note.startswith("warning: deviation from standard: ")
    ]
    assert warning.endswith(
        " says which option is the standard, mostly the best one: write there what was used instead"
    )


def test_a_column_that_announces_two_numbers_gives_both(tmp_path: Path) -> None:
    path = write(
        tmp_path / "x.csv", "base,yield (ee),conv. [yield]\na,88 (92),95 [60]\nb,n.d.,40\n"
    )
    table = only(path, "yield (ee)")
    assert [e["results"] for e in table["entries"]] == [
        {"ee": "92", "yield_ratio": "88"},
        {"yield_ratio": "n.d."},
    ]
    assert [e["results"] for e in only(path, "conv. [yield]")["entries"]] == [
        {"yield_ratio": "60"},
    ]  # fmt: skip
    assert "left out: no yield: 1 (line 3)" in read(path, "conv. [yield]")[1]
    assert "column 'yield (ee)' holds yield and ee" in read(path, "yield (ee)")[1]


def test_an_entry_with_a_name_comes_before_an_index_without(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", ",Entry,base,yield\n0,1a,K,5\n1,1b,Na,6\n")
    table = only(path)
    assert [entry["entry_idx"] for entry in table["entries"]] == ["1a", "1b"]
    other = only(path, entry="(unnamed)")
    assert [entry["entry_idx"] for entry in other["entries"]] == ["0", "1"]


def test_every_row_is_used_or_left_out_by_a_named_reason(tmp_path: Path) -> None:
    rows = [
        "base,yield,ee",
        "a,88,98/94",
        "b,complex,",
        "c,,",
        ",trace,",
        ",,",
        "e,NaN,",
        "f,complex,",
        "Yields by NMR.",
        "Average of both,88,",
        "",
    ]
    path = write(tmp_path / "x.csv", "\n".join(rows) + "\n")
    tables, notes = import_file(path, Layout({"yield_ratio": "yield", "ee": "ee"}, ["base"]))
    assert [e["results"]["yield_ratio"] for e in tables["x.json"]["entries"]] == ["88", "trace"]
    assert notes[:-2] + notes[-1:] == [
        "warning: ee: the two parts of an ee add up to 100: '98/94': 1 (line 2)",
        "left out: yield: cannot be read as one yield: 'complex': 2 (line 3, line 8)",
        "left out: no yield: 2 (line 4, line 7)",
        "left out: empty: 1 (line 6)",
        "left out: a footnote: 1 (line 9)",
        "left out: an average or a total: 1 (line 10)",
        "rows: 9, used 2, left out 7",
    ]
    path.write_text("base,yield\na,complex\n", encoding="utf-8")
    with pytest.raises(
        InputError,
        match=r"expected rows with a yield, got left out: yield: .*'complex': 1 \(line 2\)",
    ):
        read(path)


def test_a_wrong_column_for_the_yield_gives_a_screen_of_lines(tmp_path: Path) -> None:
    rows = [f"b{n},word {'x' * n}" for n in range(1, 50)]
    path = write(tmp_path / "x.csv", "\n".join(["base,yield", "b0,5", *rows]) + "\n")
    left_out = [note for note in read(path)[1] if note.startswith("left out: ")]
    assert len(left_out) == 21
    assert (
        left_out[-1] == "left out: other cells: 29 (line 23, line 24, line 25, line 26, line 27, …)"
    )


NOTATION: Final = json.loads((CASES / "rxnopt_notation.json").read_text(encoding="utf-8"))


def test_every_notation_scores_in_a_sheet_as_in_a_table(tmp_path: Path) -> None:
    """Cells were cut at their first bracket, comma, slash, `;` or `|`."""
    fields = [case["field"].replace("yield", "yield_ratio") for case in NOTATION]
    cells = ["" if case["raw"] is None else str(case["raw"]) for case in NOTATION]
    filler = {"yield_ratio": "50"}
    results = [{**filler, field: cell} for field, cell in zip(fields, cells, strict=True)]
    header = ["yield_ratio", "ee", "er", "dr", "rr"]
    with (tmp_path / "x.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["base", *header], restval="")
        writer.writeheader()
        writer.writerows({"base": f"b{n}", **row} for n, row in enumerate(results))
    tables, _ = import_file(
        tmp_path / "x.csv", Layout({field: field for field in header}, ["base"])
    )
    imported = {
        e["conditions"]["base"][0]["content"]: e["results"] for e in tables["x.json"]["entries"]
    }
    for number, raw in enumerate(results):
        expected = read_scores(raw, Settings(), False)[:2]
        if expected[0] is None:
            assert f"b{number}" not in imported
        else:
            scores, effective, _ = read_scores(imported[f"b{number}"], Settings(), False)
            assert scores is not None
            assert (scores["yield"], effective) == (expected[0]["yield"], expected[1]), raw


def test_yields_within_0_and_1_are_asked_about(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "base,yield\na,0.88\nb,n.d.\nc,1\n")
    for text in ("base,yield\na,0.88\nb,1.02\n", path.read_text(encoding="utf-8")):
        with pytest.raises(
            InputError, match=r"all yields are within 0 and 1\.1: say --fraction if they are shares"
        ):
            read(write(path, text))
    for fraction, scale in ((True, "fraction"), (False, "percent")):
        tables, _ = read(path, fraction=fraction)
        assert tables["x.json"]["yield_scale"] == scale
    for text in ("base,yield\na,0.88%\n", "base,yield\na,0\n", "base,yield\na,1.5\nb,0.5\n"):
        assert read(write(path, text))[0]["x.json"]["yield_scale"] == "percent"


def test_shares_under_ee_are_warned_about(tmp_path: Path) -> None:
    """0.91 is read as 0.91 %."""
    layout = Layout({"yield_ratio": "yield", "ee": "ee"}, ["base"])
    for ees, is_told in ((("0.91", "0.95"), True), (("0.91", "95"), False), (("0", ""), False)):
        path = write(
            tmp_path / "x.csv", "base,yield,ee\n" + "".join(f"b{ee},50,{ee}\n" for ee in ees)
        )
        notes = import_file(path, layout)[1]
        assert (
            "warning: all ee are within 0 and 1, and are read as percent: 2 (line 2, line 3)"
            in notes
        ) == is_told


@pytest.mark.extra("openpyxl")
def test_formulas_without_a_value_are_no_absent_yields(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["base", "yield"], ["K", 5], ["Na", "=4+4"]):
        book.active.append(row)
    book.save(tmp_path / "x.xlsx")
    assert (
        "left out: yield: formula whose value was not saved: 1 (row 3)"
        in read(tmp_path / "x.xlsx")[1]
    )
    book.active["B2"] = "=5"
    book.save(tmp_path / "x.xlsx")
    with pytest.raises(
        InputError,
        match=r"yield, got left out: yield: formula whose value was not saved: 2 \(row 2, row 3\)",
    ):
        read(tmp_path / "x.xlsx")


def test_escapes_and_marks_of_nothing_in_conditions(tmp_path: Path) -> None:
    path = write(
        tmp_path / "x.csv", "base\u200b,T,yield\xa0\nNaN,25 \\u00b0C,5\xa0\nK&lt;2,nan,6\u200b\n"
    )
    entries = only(path, conditions=["base", "T"])["entries"]
    keys = ("base", "T")
    assert [[[i["content"] for i in e["conditions"][key]] for key in keys] for e in entries] == [
        [[], ["25 °C"]], [["K<2"], []],
    ]  # fmt: skip
    assert [entry["results"]["yield_ratio"] for entry in entries] == ["5", "6"]


# --- The field's own files ---


SCREENED: Final = ["Ligand_SMILES", "Base", "Solvent", "Temp_C"]


def screen() -> pd.DataFrame:
    """A sheet like those of published screens: every combination, yields with all their
    decimals.
    """
    drawn = random.Random(1)
    rows = itertools.product(
        ["PPh3", "XPhos", "PCy3"], ["K3PO4", "NaOH", "Et3N"], ["DMF", "THF"], [90, 105]
    )
    frame = pd.DataFrame(list(rows), columns=SCREENED)
    frame["yield"] = [100 * drawn.random() for _ in range(len(frame))]
    return frame


def test_every_program_that_writes_a_sheet_gives_the_same_table(tmp_path: Path) -> None:
    frame = screen()
    assert max(len(str(value)) for value in frame["yield"]) > 16
    frame.to_csv(tmp_path / "index.csv")  # pandas' default: a first column without a name
    frame.to_csv(tmp_path / "tabs.tsv", sep="\t", index=False)
    frame.to_csv(tmp_path / "german.csv", sep=";", decimal=",", encoding="cp1252")
    frame.to_csv(tmp_path / "excel.txt", sep="\t", encoding="utf-16", index=False)
    if openpyxl:
        frame.to_excel(tmp_path / "book.xlsx", index=False)
    expected = [[*map(str, row[:4])] for row in frame.itertuples(index=False)]
    for path in sorted(tmp_path.iterdir()):
        entries = only(path, conditions=SCREENED)["entries"]
        cells = [
            [items[0]["content"] for items in entry["conditions"].values()] for entry in entries
        ]
        assert cells == expected, path.name
        yields = [float(entry["results"]["yield_ratio"]) for entry in entries]
        assert yields == pytest.approx(list(frame["yield"]), rel=1e-14), path.name
        table = only(path, conditions=SCREENED)
        assert len(build_questions([table], reactant_product_require="none").questions) > 4


def test_no_row_of_a_screen_is_lost(tmp_path: Path) -> None:
    """Yields like 4.35920116829955 were dropped, and with them the best row."""
    frame = screen()
    frame.to_csv(tmp_path / "x.csv", index=False)
    table = only(tmp_path / "x.csv", conditions=SCREENED)
    made = build_questions([table], reactant_product_require="none", max_options=1000)
    assert made.warnings == []
    (question,) = [q for q in made.questions if q["question_type"] == "all_varying"]
    assert len(question["options"]) == len(frame)
    assert question["meta"]["best_yield"] == frame["yield"].max()


def test_reaction_smiles_give_reactants_and_products(tmp_path: Path) -> None:
    rows = [
        "rxn,base,yield",
        "CCBr.[OH-]>[Na+]>CCO,a,5",
        "CCBr.[OH-]>[Na+]>CCO |f:0.1|,b,6",
        "CBr.O>>CO,a,7",
    ]
    tables, notes = read(write(tmp_path / "x.csv", "\n".join(rows) + "\n"), reaction="rxn")
    assert [[item["SMILES"] for item in table["reactants"]] for table in tables.values()] == [
        ["CCBr", "[OH-]"], ["CBr", "O"],
    ]  # fmt: skip
    assert tables["x_1.json"]["products"] == [{"content": "CCO", "SMILES": "CCO"}]
    assert conditions(tables["x_1.json"]) == ["base"]
    assert not any("not all SMILES" in note for note in notes)


def test_constants(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "base,yield\na,1\nb,2\n")
    table = only(
        path, doi="10.1/x", year=2019, reactants_smiles=["CCBr", "O"], products_smiles=["CCO"]
    )
    assert (table["doi"], table["year"], table["duplicates"]) == ("10.1/x", 2019, "median")
    assert (
        build_questions([table], year_filter=2019).used == 1
    )  # as SMILES are required of both sides by default


def test_a_condition_is_a_smiles_only_where_its_column_says_so(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "ligand,ligand smiles,y\nC1CCCCC1P,C1CCCCC1P,5\n", encoding="utf-8"
    )
    tables, _ = read(tmp_path / "t.csv", "y", conditions=["ligand", "ligand smiles"])
    conditions = tables["t.json"]["entries"][0]["conditions"]
    assert [conditions[name][0]["SMILES"] for name in ("ligand", "ligand smiles")] == [
        "",
        "C1CCCCC1P",
    ]
