"""Reports as Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

import pytest

from cli import EVIL, ROOT, assert_refused, q, question, run, write
from forecasteval.display.formats import csv_table, format_report, latex_text
from forecasteval.display.tables import Column, Table, make_table
from hostile import TEXTS

COLUMNS: Final = [
    Column("Rank", itemgetter(0), "number"),
    Column("System", itemgetter(1)),
    Column("Score_%", itemgetter(2), "number", "high"),
    Column("Cost", itemgetter(3), "number", "low"),
    Column("95% interval", itemgetter(4), "number"),
]
ROWS: Final[list[tuple[Any, ...]]] = [
    ("1", "a_b", 0.5, -2.0, (-0.25, 0.75)),
    ("2", "[c]", 0.5, None, None),
    ("–", "provisional", 0.75, -4.0, (0.5, 1.0)),
]


def table(*rows: tuple[Any, ...]) -> Table:
    return make_table(COLUMNS, rows or ROWS)


def test_latex_rows() -> None:
    r"""The best of a column is bold, also where two share it, but not a row without a rank; a
    missing value is --; a row that begins with a bracket is no argument of the `\\` above.
    """
    lines = format_report(["50% & more", table(), ""], "latex").splitlines()
    assert lines[1:] == [
        r"50\% \& more",
        "",
        r"\begin{tabular}{rlrrr}",
        r"\toprule",
        r"Rank & System & Score\_\% & Cost & 95\% interval \\",
        r"\midrule",
        r"1 & a\_b & \textbf{0.5000} & $-$2.0000 & [$-$0.2500, 0.7500] \\",
        r"2 & [c] & \textbf{0.5000} & -- & -- \\",
        r"-- & provisional & 0.7500 & $-$4.0000 & [0.5000, 1.0000] \\",
        r"\bottomrule",
        r"\end{tabular}",
        "",
    ]
    bracket = make_table(COLUMNS[1:2], [("", "[c]")])
    assert r"{}[c] \\" in format_report([bracket], "latex").splitlines()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
        ("a--b---c", "a-{}-b-{}-{}-c"),
        ("1–4 ± 2 − 3 ≈ σ", r"1\textendash{}4 $\pm$ 2 $-$ 3 $\approx$ $\sigma$"),
        ("x^2~y|<z>", r"x\textasciicircum{}2\textasciitilde{}y$|$$<$z$>$"),
        ("a\nb\x1b[0m", r"a\textbackslash{}nb\textbackslash{}x1b[0m"),
    ],
)
def test_latex_prints_a_text_as_it_is(text: str, shown: str) -> None:
    assert latex_text(text) == shown


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="there is no pdflatex")
def test_latex_compiles(tmp_path: Path) -> None:
    """Of hostile texts what pdflatex has letters for."""
    texts = [
        "".join(char for char in text if ord(char) < 0x250)[:2000] for text in (*TEXTS, EVIL, "[*")
    ]
    rows = [("1", text, 0.5, None, (0.1, 0.2)) for text in texts]
    body = format_report([*texts, table(*rows), table()], "latex")
    head = r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{booktabs}\begin{document}"
    (tmp_path / "x.tex").write_text(f"{head}\n{body}\n\\end{{document}}\n", encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "x.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]


def test_markdown_shows_texts_as_they_are() -> None:
    lines = format_report(["a | b", table(("1", "*x*|y", 0.5, None, None)), ""], "markdown")
    assert lines.splitlines() == [
        r"a \| b  ",
        "",
        r"| Rank | System | Score_% | Cost | 95% interval |",
        "|---:|---|---:|---:|---:|",
        r"| 1 | \*x\*\|y | 0.5000 | – | – |",
        "",
    ]


def test_csv_has_two_columns_of_an_interval_and_no_formulas() -> None:
    """A name that looks like an interval is none."""
    rows = [*ROWS, ("", '=cmd("x"),y', 0.0, -0.0, None), ("4", "[a, b]", None, None, None)]
    assert list(csv.reader(io.StringIO(csv_table(table(*rows))))) == [
        ["Rank", "System", "Score_%", "Cost", "95% interval low", "95% interval high"],
        ["1", "a_b", "0.5000", "-2.0000", "-0.2500", "0.7500"],
        ["2", "[c]", "0.5000", "", "", ""],
        ["", "provisional", "0.7500", "-4.0000", "0.5000", "1.0000"],
        ["", '\'=cmd("x"),y', "0.0000", "0.0000", "", ""],
        ["4", "[a, b]", "", "", "", ""],
    ]


# --- The commands ---

SUMMARY: Final = """\
   1  250915-careful   0.7181  [0.6239, 0.8123]    1–1   0.7273   0.7574   0.7577   0.6664  52        3         1
   2  250915-random    0.2961  [0.1956, 0.3966]    2–2   0.1818   0.3913   0.2121   0.3401  52        0         0
"""  # noqa: E501
NAMES: Final = ("-f", "250915-random", "-f", "250915-careful")


def test_several_files_end_with_one_table() -> None:
    done = run(ROOT, *NAMES)
    assert done.out.count("signature: ") == 3
    assert SUMMARY in done.out
    assert "Leaderboard" not in run(ROOT, *NAMES[:2]).out
    assert "Leaderboard" not in run(ROOT, *NAMES, "--missing", "skip").out  # over other questions
    assert run(ROOT, *NAMES, "--json").out.count("\n") == 2


def test_tables_of_several_datasets_and_benchmarks(tmp_path: Path) -> None:
    rxnopt = "multiple_choice_single_varying-random"
    out = run(ROOT, *NAMES, "-f", rxnopt, "-f", "prophet-sample").out
    assert out.count("Leaderboard  FutureX") == 1
    done = run(ROOT, *NAMES, "-f", rxnopt, "--format", "csv")
    assert_refused(
        done, "--format csv", "expected files of one dataset, and one horizon", "2 tables"
    )


@pytest.mark.parametrize(
    ("words", "header", "rows"),
    [
        (
            NAMES,
            "Rank,System,Overall,95% interval low,95% interval high,Ranks,Level 1,",
            2,
        ),
        (NAMES[:2], "Rank,System,Overall,", 1),
        (("-f", "prophet-sample"), "Rank,Forecaster,Events,", 15),
        (("compare", *NAMES[1::2]), "A,B,A − B,95% interval low,95% interval high,p", 1),
    ],
)  # fmt: skip
def test_csv_of_a_command_is_one_table(words: tuple[str, ...], header: str, rows: int) -> None:
    done = run(ROOT, *words, "--format", "csv")
    head, *body = done.out.splitlines()
    assert (done.code, done.err, len(body)) == (0, "", rows)
    assert head.startswith(header)
    assert {len(row) for row in csv.reader(done.out.splitlines())} == {head.count(",") + 1}


def test_csv_of_nightly_is_its_file(tmp_path: Path) -> None:
    write(tmp_path, {"dataset/d.json": [question()], "prediction/d-a.json": [q()]})
    done = run(tmp_path, "nightly", "--format", "csv")
    assert done.out == (tmp_path / "evaluation" / "leaderboard.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize("form", ["markdown", "latex"])
@pytest.mark.parametrize(
    "command", ["-f 250915-random -f 250915-careful", "compare 250915-random 250915-careful"]
)
def test_forms_hold_every_table_of_the_report(form: str, command: str) -> None:
    text = run(ROOT, *command.split()).out
    done = run(ROOT, *command.split(), "--format", form)
    mark = {"markdown": "\n|--", "latex": "\\toprule"}[form]
    tables = text.count("95% interval") + text.count("Adds")
    assert (done.code, done.err, done.out.count(mark)) == (0, "", tables)
    assert_refused(run(ROOT, *command.split(), "--format", form, "--json"), "not allowed with")
