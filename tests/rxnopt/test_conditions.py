"""Conditions: a column, or the columns of one thing, as `--conditions` names them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forecasteval.common.errors import InputError
from forecasteval.rxnopt.build.builder import build_questions
from forecasteval.rxnopt.build.imports import Layout, import_file
from rxnopt_tables import Record, write

LIGANDS = """\
name,smiles,eq,solvent,yield
XPhos,CC(C)c1ccccc1P,0.1,DMF,50
SPhos,COc1ccccc1P,0.2,DMF,60
XPhos,CC(C)c1ccccc1P,10 mol%,THF,70
–,,,THF,5
"""


def read(path: Path, *conditions: str) -> tuple[list[Record], list[str]]:
    """The conditions of each experiment, and the notes."""
    tables, notes = import_file(path, Layout({"yield_ratio": "yield"}, conditions))
    (table,) = tables.values()
    return [entry["conditions"] for entry in table["entries"]], notes


def items(*contents: str, smiles: str = "") -> list[Record]:
    return [{"content": content, "SMILES": smiles} for content in contents]


def test_a_thing_has_a_text_a_smiles_and_an_amount(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", LIGANDS)
    rows, notes = read(path, "ligand=name+smiles+eq", "solvent")
    assert rows == [
        {"ligand": items("XPhos (0.1 equiv)", smiles="CC(C)c1ccccc1P"), "solvent": items("DMF")},
        {"ligand": items("SPhos (0.2 equiv)", smiles="COc1ccccc1P"), "solvent": items("DMF")},
        {"ligand": items("XPhos (10 mol%)", smiles="CC(C)c1ccccc1P"), "solvent": items("THF")},
        {"ligand": [], "solvent": items("THF")},
    ]
    assert notes == ["rows: 4, used 4, left out 0"]
    assert read(path, "ligand = smiles + name")[0][0] == {
        "ligand": items("XPhos", smiles="CC(C)c1ccccc1P")
    }
    assert read(path, "medium=solvent")[0][0] == {"medium": items("DMF")}
    assert read(path, "smiles")[0][0] == {
        "smiles": items("CC(C)c1ccccc1P", smiles="CC(C)c1ccccc1P")
    }


def test_a_thing_is_one_condition_of_the_questions(tmp_path: Path) -> None:
    """As two columns, name and SMILES removed each other's question."""
    rows = ["a,CC1CCC1,x,50", "b,CCC1CCC1,x,60", "a,CC1CCC1,y,70", "b,CCC1CCC1,y,20"]
    path = write(tmp_path / "x.csv", "\n".join(["l_name,l_smiles,base,yield", *rows, ""]))
    tables, _ = import_file(path, Layout({"yield_ratio": "yield"}, ["l=l_name+l_smiles", "base"]))
    made = build_questions(tables, reactant_product_require="none")
    singles = [q for q in made.questions if q["question_type"] == "single_varying"]
    assert [question["target_key"] for question in singles] == ["base", "l"]
    assert made.warnings == []


@pytest.mark.parametrize(
    ("header", "word", "message"),
    [
        ("name,smiles,eq", "l=name+cas", "no column cas in the first row, which is the header"),
        ("name,smiles,eq", "l=", "no column  in the first row, which is the header"),
        (
            "name,smiles,eq",
            "name+smiles",
            r"expected a name for the condition name.smiles: NAME=name",
        ),
        (
            "name,smiles,eq",
            "=name+smiles",
            r"expected a name for the condition name.smiles: NAME=name",
        ),
        ("name,other,eq", "l=name+other", "expected one column of text in l, got name, other"),
        (
            "name,smiles,dose",
            "l=name+dose",
            r"unit in the name of the amounts dose: dose \(equiv\)",
        ),
        ("name,smiles,name+smiles", "l=name+smiles", "l=name.smiles can be read in two ways"),
    ],
)
def test_words_that_name_no_thing(tmp_path: Path, header: str, word: str, message: str) -> None:
    cells = {"smiles": "CC1CCC1", "eq": "2", "dose": "2"}
    row = ",".join(cells.get(name, f"cell {name}") for name in header.split(","))
    path = write(tmp_path / "x.csv", f"{header},yield\n{row},5\n{row},6\n")
    with pytest.raises(InputError, match=message):
        read(path, word)


def test_a_word_that_is_a_header_is_that_column(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "a,b,a+b,c=a,yield\n1 M,x,y,z,5\n2 M,x,w,v,6\n")
    assert read(path, "a+b", "c=a")[0][0] == {"a+b": items("y"), "c=a": items("z")}
    with pytest.raises(InputError, match="the column a is named twice"):
        read(path, "a", "l=b+a")
    with pytest.raises(InputError, match="the condition l is named twice"):
        read(path, "l=a", "l=b")
    with pytest.raises(InputError, match="scale must have another name"):
        read(path, "scale=a")


@pytest.mark.parametrize(
    ("header", "name", "shown"),
    [
        ("load (mol%)", "l", "x (2 mol%)"),
        ("load_mol_pct", "l", "x (2 mol%)"),
        ("conc M", "l", "x (2 M)"),
        ("conc_mM", "l", "x (2 mM)"),
        ("amount", "l (equiv)", "x (2 equiv)"),
        ("ligand equivalents", "l", "x (2 equiv)"),
    ],
)
def test_units_of_amounts(tmp_path: Path, header: str, name: str, shown: str) -> None:
    path = write(tmp_path / "x.csv", f"name,{header},yield\nx,2,5\ny,3,6\n")
    assert read(path, f"{name}=name+{header}")[0][0] == {name: items(shown)}


@pytest.mark.parametrize(
    "mark",
    [
        "NA",
        "N/A",
        "n/a",
        "#REF!",
        "#DIV/0!",
        "Unknown",
        "?",
        "NULL",
        "N.A.",
        "not reported",
        "未知",
    ],
)
def test_an_unknown_condition_leaves_its_row_out(tmp_path: Path, mark: str) -> None:
    """R's blank became the option `equiv: NA`."""
    path = write(tmp_path / "x.csv", f"base,eq,yield\nK,1,50\n{mark},2,60\nNa,{mark},70\n")
    rows, notes = read(path, "base", "eq")
    assert rows == [{"base": items("K"), "eq": items("1")}]
    for line, name in ((3, "base"), (4, "eq")):
        words = f"left out: {name}: {mark} (write – for none, or what was used): 1 (line {line})"
        assert words in notes
    path = write(tmp_path / "x.csv", "metal,yield\nNa,50\nnone,60\n")
    assert len(read(path, "metal")[0]) == 2


def test_a_blank_amount_is_not_guessed(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "l,eq,yield\nx,1,50\ny,,60\nz,–,70\n")
    rows, notes = read(path, "ligand=l+eq")
    assert rows == [{"ligand": items("x (1 equiv)")}, {"ligand": items("z")}]
    assert notes[0] == "left out: eq: blank (write – for none, or what was used): 1 (line 3)"


def test_columns_of_the_open_reaction_database_have_short_names(tmp_path: Path) -> None:
    amine = 'inputs["amine"].components[0].identifiers[0].value'
    dose = 'inputs["amine"].components[0].amount.moles.value'
    heat = "conditions.temperature.setpoint.value"
    header = ",".join('"' + name.replace('"', '""') + '"' for name in (amine, dose, heat))
    path = write(tmp_path / "x.csv", f"{header},yield\nN,1,25,50\nO,2,50,60\n")
    assert list(read(path, amine, dose, heat)[0][0]) == ["amine", "amine moles", "temperature"]
    other = amine.replace("identifiers[0]", "identifiers[1]")
    header = ",".join('"' + name.replace('"', '""') + '"' for name in (amine, other))
    path = write(tmp_path / "x.csv", f"{header},yield\nN,1,50\nO,2,60\n")
    assert list(read(path, amine, other)[0][0]) == [amine, other]  # one name for both is none


@pytest.mark.parametrize(
    ("header", "unused"),
    [("time_h,plate", "time_h, plate"), ("time_h,no", "time_h"), ("Conv. (%),time_h", "time_h")],
)
def test_equal_conditions_that_differ_elsewhere_name_the_column(
    tmp_path: Path, header: str, unused: str
) -> None:
    """2 h and 18 h were asked about as their median."""
    values: dict[str, list[Any]] = {
        "time_h": [2, 2, 18, 18], "plate": [1, 1, 2, 2], "no": [1, 2, 3, 4],
        "Conv. (%)": [20, 20, 80, 81],
    }  # fmt: skip
    columns = [values[name] for name in header.split(",")]
    rows = [
        ",".join(map(str, [ligand, amount, *more]))
        for ligand, amount, *more in zip("XSXS", (20, 30, 80, 90), *columns, strict=True)
    ]
    path = write(tmp_path / "x.csv", "\n".join([f"ligand,yield,{header}", *rows, ""]))
    warnings = [note for note in read(path, "ligand")[1] if note.startswith("warning: ")]
    assert warnings == [f"warning: equal conditions differ in: {unused} (not used)"]
    rest = [name for name in header.split(",") if name in ("time_h", "plate")]
    assert not [n for n in read(path, "ligand", *rest)[1] if n.startswith("warning: equal")]
