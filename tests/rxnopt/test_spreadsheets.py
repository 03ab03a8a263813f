"""Spreadsheets into tables."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from forecasteval.common.errors import InputError
from forecasteval.rxnopt.builder import build_questions
from forecasteval.rxnopt.spreadsheets import import_csv
from rxnopt_tables import by_id, write


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


def test_results_among_the_conditions_are_pointed_out(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "base,conversion_a,ee_%c,dry,yield\na,1,2,3,4\nb,1,3,3,5\n")
    _, notes = import_csv(path, {"yield_ratio": "yield"})
    assert notes[1] == "warning: results among the conditions? name them with --ee, … or --drop: conversion_a, ee_%c"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,y,,\n1,2,,\n", None),
        (",a,y\n,1,2\n", None),
        ("a,y\n1,2\n\n , \n,,,\n", None),
        ("a,y,,\n1,2,x,\n", "line 2: expected a name above every cell, got none"),
        ("a,y,,\n1,2,,x\n", "line 2: expected a name above every cell, got none"),
        ("a,y\n\n1\n", "line 3: expected 2 cells, got 1"),
        ("a,y\n\n1,2,3\n", "line 3: expected 2 cells, got 3"),
        ('a,y\n\n"1"x,2\n', "line 3: not CSV: ',' expected after '\"'"),
    ],
)
def test_blank_rows_and_columns_without_a_name(tmp_path: Path, text: str, message: str | None) -> None:
    path = write(tmp_path / "t.csv", text)
    if message:
        with pytest.raises(InputError) as caught:
            import_csv(path, {"yield_ratio": "y"})
        assert str(caught.value) == f"{path}: {message}"
        return
    tables, _ = import_csv(path, {"yield_ratio": "y"})
    (entry,) = tables["t.json"]["entries"]
    assert (list(entry["conditions"]), entry["results"]) == (["a"], {"yield_ratio": "2"})


def test_a_condition_is_a_smiles_only_where_its_column_says_so(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "ligand,ligand smiles,y\nC1CCCCC1P,C1CCCCC1P,5\n")
    tables, _ = import_csv(path, {"yield_ratio": "y"})
    conditions = tables["t.json"]["entries"][0]["conditions"]
    assert [conditions[name][0]["SMILES"] for name in ("ligand", "ligand smiles")] == ["", "C1CCCCC1P"]
