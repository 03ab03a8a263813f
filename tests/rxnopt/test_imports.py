"""Import: files of one's own into tables, whatever program wrote them."""

from __future__ import annotations

import csv
import datetime
import itertools
import json
import random
from pathlib import Path
from typing import Any, Final

import pandas as pd
import pytest

from cli import import_extra
from forecasteval.common.errors import InputError
from forecasteval.rxnopt.build.builder import build_questions
from forecasteval.rxnopt.build.cells import read_yield
from forecasteval.rxnopt.build.imports import Layout, import_file, read_cell
from rxnopt_tables import CASES, Record, by_id, score_row, write

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


def test_import_makes_a_table_of_each_reaction(tmp_path: Path) -> None:
    path = write(
        tmp_path / "my runs.csv",
        "\ufeffEntry,halide,product,base,ligand SMILES,yield,ee,note\n"
        "1a,Brc1ccccc1,Oc1ccccc1,K2CO3,c1ccccc1P,0.5,90,x\n"
        "1b,Brc1ccccc1,Oc1ccccc1,Cs2CO3,C1CCCCC1P,0.75,,x\n"
        "\n2,CCBr,CCO,K2CO3,—,0.1,95,y\n",
    )
    layout = Layout(
        {"yield_ratio": "yield", "ee": "ee"},
        ["base", "ligand SMILES"],
        ["halide"],
        ["product"],
        entry="Entry",
        fraction=True,
    )
    tables, notes = import_file(path, layout)
    assert list(tables) == ["my_runs_1.json", "my_runs_2.json"]
    assert notes == [
        "columns that are not used: note",
        "rows: 3, used 3, left out 0",  # a blank line is none
    ]
    first = tables["my_runs_1.json"]
    assert first["reactants"] == [{"content": "Brc1ccccc1", "SMILES": "Brc1ccccc1"}]
    assert tables["my_runs_2.json"]["products"] == [
        {"content": "CCO", "SMILES": ""}
    ]  # a name, for all we know
    assert first["entries"][1] == {
        "entry_idx": "1b", "rxn_id": "0", "results": {"yield_ratio": "0.75"},
        "conditions": {
            "base": [{"content": "Cs2CO3", "SMILES": ""}],
            "ligand SMILES": [{"content": "C1CCCCC1P", "SMILES": "C1CCCCC1P"}],
        },
    }  # fmt: skip
    question = by_id(build_questions(tables))["my_runs_1_q3"]
    assert sorted(question["meta"]["effective_scores"]) == [47.5, 75.0]


def test_a_column_that_build_would_not_show_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "scale,base,yield\n1 g,a,1\n2 g,b,2\n")
    with pytest.raises(
        InputError, match="the column scale must have another name: build leaves it out of prompts"
    ):
        read(path, conditions=["scale", "base"])


YIELD: Final = {"yield_ratio": "b"}
BAD: Final = [
    (
        "a,b\n1,2\n",
        Layout({"yield_ratio": "c"}, ["a"]),
        ": no column c in the first row, which is the header, got a, b",
    ),
    (
        "a,b\n1,2\n",
        Layout(YIELD, ["x"]),
        ": no column x in the first row, which is the header, got a, b",
    ),
    ("a,b\n1,2\n", Layout({**YIELD, "ee": "b"}, ["a"]), ": the column b is named twice"),
    ("a,b\n1,2\n", Layout(YIELD, ["a"], ["a"]), ": the column a is named twice"),
    (
        "Table 1,\na,b\n1,2\n",
        Layout(YIELD, ["a"]),
        ": no column b in the first row, which is the header, got Table 1, (column 2)",
    ),
    (
        'a,b\nK,1\n"""",2\n',
        Layout(YIELD, ["a"]),
        ": expected the value itself in place of a ditto mark: write it into every row, "
        'got 1 (line 3, a: ")',
    ),
    (
        "a,b\nK,1\nc,b\nNa,2\n",
        Layout(YIELD, ["a"]),
        ": expected one row of names, the first: join two, or make a file of each table, "
        "got 1 (line 3: b)",
    ),
    (
        "a,b\nK,80 (90% ee)\nNa,88% (3.7:1)\nLi,5\n",
        Layout(YIELD, ["a"]),
        ": expected one quantity in a column: split it into two columns, "
        "got 2 (line 2, b: 80 (90% ee), line 3, b: 88% (3.7:1))",
    ),
    (
        "a,b (ee)\nK,80\n",
        Layout({"yield_ratio": "b (ee)"}, ["a"]),
        ": expected one quantity in a column: split it into two columns, or rename it if it holds "
        "one, got ee in the name b (ee)",
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
    assert "columns that are not used: Conv." in read(path, conditions=names)[1]
    assert "columns that are not used: MS, Enzyme, Conv." in read(path, conditions=["pH"])[1]


def test_names_of_columns_are_on_one_line(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", 'base,"Yield\n(%)"\nK,5\n')
    assert only(path, "Yield (%)")["entries"][0]["results"] == {"yield_ratio": "5"}


@pytest.mark.parametrize(
    ("cell", "effective"),
    [("85^[c]", 85.0), ("95[d] (90)", 90.0), ("85 (82)^[c]", 82.0), ("85 (82 isol.)", 82.0),
     ("n/d", 0.0), ("40–50", 45.0)],
)  # fmt: skip
def test_cells_go_whole_into_the_table(tmp_path: Path, cell: str, effective: float) -> None:
    (entry, _) = only(write(tmp_path / "x.csv", f'base,yield\nK,"{cell}"\nNa,7\n'))["entries"]
    assert entry["results"] == {"yield_ratio": cell}
    assert score_row(entry["results"])[1] == effective


def test_columns_that_give_the_answer_away_are_warned_about(tmp_path: Path) -> None:
    """Who names all columns as conditions names the number of the row and a second result, too."""
    rows = [
        "1,K,20,95,4,90 (8)",
        "2,Na,40,80,2 h,70",
        "3a,K,60,50,2,x",
        "4,Cs,80,,1,20",
        "5,K,9,7,3,",
    ]
    path = write(tmp_path / "x.csv", "\n".join(["No,base,temp,Conv. (%),rank,y", *rows]) + "\n")
    (warning,) = [
        note
        for note in read(path, "y", conditions=["No", "base", "temp", "Conv. (%)", "rank"])[1]
        if note.startswith("warning: conditions")
    ]
    assert warning.endswith(" a result, or the number or the rank of each row: No, Conv. (%), rank")
    assert "warning: conditions" not in str(read(path, "y", conditions=["base", "temp"])[1])


def test_standard_conditions_are_warned_about_in_any_column(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "Conditions,y\nstandard conditions,90\nno light,5\n")
    assert any(
        note.startswith("warning: Conditions: 'standard conditions' says which")
        for note in read(path, "y", conditions=["Conditions"])[1]
    )


@pytest.mark.parametrize(
    "standard", ["None", "none", "—", "no change", "Standard conditions", "无"]
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
    assert " says which option is the standard, mostly the best one: write there" in warning
    assert warning.endswith(" what was used instead: 1 (line 2)")


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
        "Average of both,88,",
        "g,104,90",
        "h,n.d.,",
        "",
    ]
    path = write(tmp_path / "x.csv", "\n".join(rows) + "\n")
    tables, notes = import_file(path, Layout({"yield_ratio": "yield", "ee": "ee"}, ["base"]))
    assert [e["results"]["yield_ratio"] for e in tables["x.json"]["entries"]] == ["104", "n.d."]
    assert notes == [
        "warning: yield: a yield above 100 % is read as 100: 1 (line 10: 104)",
        "left out: ee: the two parts of an ee add up to 100: 1 (line 2: 98/94)",
        "left out: yield: cannot be read as one yield: 2 (line 3: complex, line 8: complex)",
        "left out: no yield: 2 (line 4, line 7)",
        "left out: no condition: 1 (line 5)",
        "left out: an average or a total: 1 (line 9)",
        "rows: 9, used 2, left out 7",  # a row without a cell is none
    ]
    path.write_text("base,yield\na,complex\n", encoding="utf-8")
    with pytest.raises(
        InputError,
        match=r"expected rows with a yield, got left out: yield: .*: 1 \(line 2: complex\)",
    ):
        read(path)


def test_a_wrong_column_for_the_yield_gives_one_line(tmp_path: Path) -> None:
    rows = [f"b{n},word {'x' * n}" for n in range(1, 50)]
    path = write(tmp_path / "x.csv", "\n".join(["base,yield", "b0,5", *rows]) + "\n")
    (left_out,) = [note for note in read(path)[1] if note.startswith("left out: ")]
    assert left_out.endswith(
        ": 49 (line 3: word x, line 4: word xx, line 5: word xxx, line 6: word xxxx, "
        "line 7: word xxxxx, …)"
    )


@pytest.mark.parametrize("cell", ["1,5", "62,5 %", ">99,5"])
@pytest.mark.parametrize("column", ["yield", "ee"])
def test_decimal_commas_are_left_out_by_name(cell: str, column: str, tmp_path: Path) -> None:
    """German and French sheets have them; 1,5 could as well be two numbers."""
    row = {"yield": "50", "ee": "", column: cell}
    path = write(tmp_path / "x.csv", f"base;yield;ee\nK;{row['yield']};{row['ee']}\nNa;7;8\n")
    tables, notes = import_file(path, Layout({"yield_ratio": "yield", "ee": "ee"}, ["base"]))
    assert [e["results"]["yield_ratio"] for e in tables["x.json"]["entries"]] == ["7"]
    assert notes[0] == (f"left out: {column}: a decimal comma (1,5: write 1.5): 1 (line 2: {cell})")


NOTATION: Final = json.loads((CASES / "rxnopt_notation.json").read_text(encoding="utf-8"))


def test_every_notation_scores_in_a_sheet_as_in_a_table(tmp_path: Path) -> None:
    """Cells were cut at their first bracket, comma, slash, `;` or `|`."""
    fields = [case["field"].replace("yield", "yield_ratio") for case in NOTATION]
    cells = ["" if case["raw"] is None else str(case["raw"]) for case in NOTATION]
    filler = {"yield_ratio": "50"}
    results = [
        {**filler, field: cell}
        for field, cell in zip(fields, cells, strict=True)
        if not (field == "yield_ratio" and read_yield(cell).selectivity)  # refused with its file
    ]
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
        expected = score_row(raw)
        if f"b{number}" not in imported:
            results = {key: cell for key, cell in raw.items() if cell or key == "yield_ratio"}
            assert None in (read_cell(key, cell, False)[0] for key, cell in results.items()), raw
        else:
            assert expected[0] is not None
            scores, effective = score_row(imported[f"b{number}"])
            assert scores is not None
            assert (scores["yield"], effective) == (expected[0]["yield"], expected[1]), raw


def test_yields_within_0_and_1_are_asked_about(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "base,yield\na,0.88\nb,n.d.\nc,1\n")
    for text in ("base,yield\na,0.88\nb,1.02\n", path.read_text(encoding="utf-8")):
        with pytest.raises(
            InputError,
            match=r"the numbers of yield are within 0 and 1\.1: say --no-fraction if they",
        ):
            read(write(path, text))
    for fraction, scale in ((True, "fraction"), (False, "percent")):
        tables, _ = read(path, fraction=fraction)
        assert tables["x.json"]["yield_scale"] == scale
    for text in ("base,yield\na,0.88%\n", "base,yield\na,0\n", "base,yield\na,1.5\nb,0.5\n"):
        assert read(write(path, text))[0]["x.json"]["yield_scale"] == "percent"


@pytest.mark.parametrize(
    ("cells", "is_asked"),
    [
        (["0.12", "0.56", "≥90%", "0.94", "0.03"], True),
        (["0.12", "0.56", "1.37", "0.94", "0.03"], True),  # an assay may measure so much
        (["0.4", "0.8", "<5%", "trace"], True),
        (["0.4", "0.8", "90", "trace"], True),  # a slip
        (["0.4"] * 18 + ["90", "95"], True),
        (["0.4"] * 8 + ["90", "95"], False),
        (["0.5", "12", "80", "95"], False),
        (["12%", "0.5%", "80%"], False),
        (["trace", "n.d.", "<5"], False),
    ],
)
def test_one_cell_does_not_decide_the_scale(
    tmp_path: Path, cells: list[str], is_asked: bool
) -> None:
    rows = [f"b{number},{cell}" for number, cell in enumerate(cells)]
    path = write(tmp_path / "x.csv", "\n".join(["base,yield", *rows, ""]))
    if is_asked:
        with pytest.raises(InputError, match="say --no-fraction if they are percent, else say"):
            read(path)
    else:
        assert only(path)["yield_scale"] == "percent"
    assert only(path, fraction=False)["yield_scale"] == "percent"


def test_percents_are_no_shares(tmp_path: Path) -> None:
    """`--fraction` left out 856 of 960 rows, and built from the others."""
    path = write(tmp_path / "x.csv", "base,yield\na,12\nb,80\nc,1\nd,0.5\ne,7\n")
    with pytest.raises(InputError, match=r"most numbers of yield are above 1\.5, and no shares"):
        read(path, fraction=True)


def test_shares_under_ee_are_asked_about(tmp_path: Path) -> None:
    """0.91 would be read as 0.91 %."""
    path, columns = tmp_path / "x.csv", {"yield_ratio": "yield", "ee": "ee"}
    for yields, fraction in ((("50", "60"), None), (("0.5", "0.6"), True)):
        rows = [f"b{ee},{amount},{ee}" for amount, ee in zip(yields, ("0.91", "0.95"), strict=True)]
        write(path, "\n".join(["base,yield,ee", *rows, ""]))
        with pytest.raises(InputError, match=r"the numbers of ee are within 0 and 1\.1"):
            import_file(path, Layout(columns, ["base"], fraction=fraction))
    assert import_file(path, Layout(columns, ["base"], fraction=False))
    write(path, "base,yield,ee\na,50,0.91\nb,60,95\n")
    assert import_file(path, Layout(columns, ["base"]))


def test_escapes_and_marks_of_nothing_in_conditions(tmp_path: Path) -> None:
    path = write(
        tmp_path / "x.csv", "base\u200b,T,yield\xa0\n–,25 \\u00b0C,5\xa0\nK&lt;2,—,6\u200b\n"
    )
    entries = only(path, conditions=["base", "T"])["entries"]
    keys = ("base", "T")
    assert [[[i["content"] for i in e["conditions"][key]] for key in keys] for e in entries] == [
        [[], ["25 °C"]], [["K<2"], []],
    ]  # fmt: skip
    assert [entry["results"]["yield_ratio"] for entry in entries] == ["5", "6"]


def test_a_blank_condition_is_not_guessed(tmp_path: Path) -> None:
    """It may be none, or the value above: so other programs write merged cells."""
    path = write(tmp_path / "x.csv", "base,T,yield\nK,25,5\n,40,6\nNaN,60,7\n")
    tables, notes = read(path, conditions=["base", "T"])
    assert len(tables["x.json"]["entries"]) == 1
    advice = "blank (write – for none, else fill the value above down)"
    assert f"left out: base: {advice}: 2 (line 3, line 4)" in notes
    write(path, "base,T,yield\nK,25,5\n–,40,6\nK,60,7\n")
    assert len(only(path, conditions=["base", "T"])["entries"]) == 3


def test_a_number_alone_is_no_ratio(tmp_path: Path) -> None:
    """A share of 0.97 was read as 0.97:1."""
    path = write(tmp_path / "x.csv", "base,yield,er\nK,70,0.97\nNa,70,97:3\nLi,70,97\n")
    tables, notes = import_file(path, Layout({"yield_ratio": "yield", "er": "er"}, ["base"]))
    assert [entry["entry_idx"] for entry in tables["x.json"]["entries"]] == ["2"]
    words = "er: one number is no ratio (97: write 97:3)"
    assert f"left out: {words}: 2 (line 2: 0.97, line 4: 97)" in notes


def test_a_second_header_of_unknown_words_is_refused(tmp_path: Path) -> None:
    """The rows below it had yield and ee exchanged."""
    rows = ["base,yield,ee", "K,50,90", "B,Optical purity,Product", "Na,91,40"]
    path = write(tmp_path / "x.csv", "\n".join(rows) + "\n")
    with pytest.raises(InputError, match=r"expected one row of names, .*got 1 \(line 3: Product"):
        import_file(path, Layout({"yield_ratio": "yield", "ee": "ee"}, ["base"]))


def test_the_scale_is_that_of_the_values_that_are_read(tmp_path: Path) -> None:
    """`95 (92)` and `trace` beside a yield of 1 were taken for shares."""
    path = write(tmp_path / "x.csv", "base,yield\na,95 (92)\nb,88 (81)\nc,1\nd,trace\n")
    assert only(path)["yield_scale"] == "percent"
    assert len(only(path)["entries"]) == 4
    for cells in ("0.88 (0.81)", "0.95 c", "~0.9"):
        write(path, f"base,yield\na,{cells}\nb,trace\nc,quant.\n")
        with pytest.raises(InputError, match="else say --fraction"):
            read(path)
        best = only(path, fraction=True)["entries"][0]["results"]
        assert score_row(best, fraction=True)[1] > 80


def test_a_de_alone_is_written_as_the_ratio_that_is_advised(tmp_path: Path) -> None:
    columns = {"yield_ratio": "yield", "dr": "dr"}
    path = write(tmp_path / "x.csv", "base,yield,dr\na,50,90\nb,60,95:5\n")
    tables, notes = import_file(path, Layout(columns, ["base"]))
    (advice,) = [note for note in notes if "a de of 90: write 95:5" in note]
    assert advice.endswith("(line 2: 90)")
    for cell in ("95:5", "90% de"):
        scores, _ = score_row({"yield_ratio": "50", "dr": cell})
        assert scores is not None
        assert scores["dr_major_fraction"] == pytest.approx(0.95)
    assert len(tables["x.json"]["entries"]) == 1


def test_numbers_below_the_name_of_de_are_de(tmp_path: Path) -> None:
    """20 was 20:1, and 90 left out."""
    cells = {"90": 0.95, "20": 0.6, "90%": 0.95, "40[b]": 0.7, ">98": 0.99, "0": 0.5, "7:3": 0.7}
    cells |= {"90% de": 0.95, "nd": 1.0, "–": 1.0}
    rows = "".join(f"b{number},50,{cell}\n" for number, cell in enumerate(cells))
    for name in ("de (%)", "d.e.", "DE"):
        path = write(tmp_path / "x.csv", f"base,yield,{name}\n{rows}")
        table = import_file(path, Layout({"yield_ratio": "yield", "dr": name}, ["base"]))[0]
        entries = table["x.json"]["entries"]
        effective = [score_row(each["results"])[1] for each in entries]
        assert effective == pytest.approx([50 * share for share in cells.values()])


@pytest.mark.parametrize(
    "mark",
    [
        "//",
        "↓",
        "same",
        "Same as above",
        '""""',
        "as entry 1",
        "like entry 12b",
        "″  ″",
        "''",
        "- 〃 -",
    ],
)
def test_ditto_marks_are_refused_and_the_value_is_read(tmp_path: Path, mark: str) -> None:
    path = write(tmp_path / "x.csv", f"base,yield\nK,5\n{mark},6\n")
    with pytest.raises(InputError, match=r"write it into every row, got 1 \(line 3, base"):
        read(path)
    assert len(only(write(path, "base,yield\nK,5\nK,6\n"))["entries"]) == 2


@pytest.mark.parametrize(
    "name",
    ["Std. dev.", "SD", "S.D.", "Standard deviation", "Avg", "StdDev", "SEM", "RSD (%)", "标准差"],
)
def test_rows_of_statistics_are_left_out(tmp_path: Path, name: str) -> None:
    notes = read(write(tmp_path / "x.csv", f"base,yield\nK,5\nNa,7\n{name},1.4\n"))[1]
    assert "left out: an average or a total: 1 (line 4)" in notes


@pytest.mark.parametrize(
    "cell", ["1:02", "02:30", "2-Jan", "Mar-01", "01.Mrz", "2026-01-02", "1:02:00 AM", "1/2/2026"]
)
def test_dates_that_excel_made_of_a_condition_are_refused_by_cell(
    tmp_path: Path, cell: str
) -> None:
    path = write(tmp_path / "x.csv", f"base,yield\n1:10,5\n{cell},6\n")
    with pytest.raises(InputError, match=r"Excel made a date .* as text, got 1 \(line 3, base: "):
        read(path)
    assert len(only(write(path, "base,yield\n1:10,5\n1:2,6\n1-2,7\n"))["entries"]) == 3


@pytest.mark.extra("openpyxl")
def test_dates_and_times_of_a_workbook_are_refused_in_conditions_alone(tmp_path: Path) -> None:
    """3:1 under dr is a time, too, whose minutes say what was typed."""
    path, book = tmp_path / "x.xlsx", openpyxl.Workbook()
    book.active.append(["ratio", "yield", "dr"])
    book.active.append([datetime.time(1, 10), 80, datetime.time(3, 1)])
    book.active.append([datetime.datetime(2026, 1, 2), 70, "3:1"])
    book.save(path)
    columns = {"yield_ratio": "yield", "dr": "dr"}
    with pytest.raises(InputError, match=r"got 2 \(row 2, ratio: 1:10, row 3, ratio: 2026-01-02"):
        import_file(path, Layout(columns, ["ratio"]))
    book.active["A2"], book.active["A3"] = "1:10", "1-2"
    book.save(path)
    entries = import_file(path, Layout(columns, ["ratio"]))[0]["x.json"]["entries"]
    scores = [score_row(entry["results"])[0] for entry in entries]
    assert [score and score["dr_major_fraction"] for score in scores] == [0.75, 0.75]


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
    frame.to_csv(tmp_path / "german.csv", sep=";", encoding="cp1252")
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
        assert len(build_questions({"x": table}, reactant_product_require="none").questions) > 4


def test_no_row_of_a_screen_is_lost(tmp_path: Path) -> None:
    """Yields like 4.35920116829955 were dropped, and with them the best row."""
    frame = screen()
    frame.to_csv(tmp_path / "x.csv", index=False)
    table = only(tmp_path / "x.csv", conditions=SCREENED)
    made = build_questions({"x": table}, reactant_product_require="none", max_options=1000)
    assert made.warnings == []
    (question,) = [q for q in made.questions if q["question_type"] == "all_varying"]
    assert len(question["options"]) == len(frame)
    assert question["meta"]["best_yield"] == frame["yield"].max()


def test_constants(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "base,yield\na,1\nb,2\n")
    table = only(
        path, doi="10.1/x", year=2019, reactants_smiles=["CCBr", "O"], products_smiles=["CCO"]
    )
    assert (table["doi"], table["year"], table["duplicates"]) == ("10.1/x", 2019, "median")
    assert (
        build_questions({"x": table}, year_filter=2019).used == 1
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
