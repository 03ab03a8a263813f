"""Hostile names on the screen, in HTML, CSV and Markdown; both kinds of tables."""

from __future__ import annotations

import csv
import io
import re
from typing import Final

import pytest

from boards_folders import (
    board_report,
    comparison_report,
    format_csv,
    format_markdown,
    rows,
    score,
    system,
)
from cli import EVIL, RAW_CONTROL, Record, q
from forecasteval.boards import compare, rank
from forecasteval.display.results import Results
from forecasteval.display.tables import format_text
from prophet_data import GOOD_PROBLEM, evaluate

HOSTILE: Final = [
    "=cmd|'/c calc'!A1", "+1+1", "-2+3", "@SUM(A1)", "\t=1", " =1", "＝1", '"a",b', "|a|",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))", "![x](http://h)", "`a`", "**a**", "_a_", "# a", "https:x",
    "www.a.com", "a@b.c", "&lt;",
    "a\\|b", EVIL, "甲\u200b", "$x$", "~~a~~", "$(id)", "%s{0}",
]  # fmt: skip


@pytest.fixture
def hostile_board() -> Record:
    board = dict(rank([{**system(name, True, False), "name": name} for name in HOSTILE]))
    board["failed"] = [
        {"file": name, "reason": f"expected {name}", "fault": False} for name in HOSTILE
    ]
    return board


def test_no_cell_of_the_csv_is_a_formula(hostile_board: Record) -> None:
    text = format_csv(hostile_board)
    assert not RAW_CONTROL.search(text)
    table = list(csv.DictReader(io.StringIO(text)))
    assert len(table) == len(HOSTILE)
    for row in table:
        assert None not in row
        for cell in row.values():
            assert not re.match(r"\s*[-=+@＝＋－＠|%\t\r]", cell), cell
    names = {row["name"] for row in table}
    assert {"'=cmd|'/c calc'!A1", "'-2+3", '"a",b', "a@b.c"} <= names  # nothing else changes


def test_csv_says_what_the_board_says(hostile_board: Record) -> None:
    first = next(csv.DictReader(io.StringIO(format_csv(hostile_board))))
    row = rows(hostile_board)[0]
    assert (first["rank"], first["score"], first["n"], first["level_2"]) == ("1", "0.5", "2", "")
    assert float(first["low"]) == row["overall_interval"][0]


def test_markdown_of_hostile_names(hostile_board: Record) -> None:
    text = format_markdown(hostile_board)
    assert not RAW_CONTROL.search(text)
    lines = [line for line in text.splitlines() if line.startswith("|")]
    plain = re.sub(r"\\[!-/:-@\[-`{-~]", "", "\n".join(lines))  # without what is escaped
    bars = [len(re.findall(r"\|", line)) for line in plain.splitlines()]
    header = bars[0]
    assert bars == [header] * (len(HOSTILE) + 2)  # one row each, no cell more
    plain = re.sub(r"\\[!-/:-@\[-`{-~]", "", text)
    for forbidden in ("<", "](", "`", "**", "_", "&", "www.", "http:", "https:", "@", "$", "~"):
        assert forbidden not in plain


def test_html_and_screen_of_hostile_names(hostile_board: Record) -> None:
    html = Results(hostile_board, board_report)._repr_html_()
    assert "<img" not in html
    assert "&lt;img src=x onerror=alert(1)&gt;" in html
    assert not RAW_CONTROL.search(html + format_text(board_report(hostile_board)))


def test_report_of_hostile_names_has_nothing_raw() -> None:
    evil = "\x1b[2J\u202e<b>|"
    report = format_text(
        comparison_report(
            compare([score([q(evil)], evil), score([q(evil, answer="B")], "b" + evil)])
        )
    )
    assert "\x1b" not in report
    assert "\u202e" not in report
    assert "\\x1b[2J" in report


def test_pairs_on_a_narrow_terminal_keep_difference_and_p() -> None:
    answers = {"x": "AAAAAAAA", "y": "AAABBAAB", "z": "BBBAABBA"}
    systems = [
        score([q(f"q{n}", answer=answer, level=1 + n % 2) for n, answer in enumerate(text)], name)
        for name, text in answers.items()
    ]
    report = format_text(comparison_report(compare(systems)), 50)
    header = next(line for line in report.splitlines() if line.startswith("A  B"))
    assert header.split() == ["A", "B", "A", "−", "B", "95%", "interval", "p", "p", "(Holm)"]
    assert "Columns hidden on this terminal: Level 2, Level 1" in report


# --- A table of the forecasters in one file ---


@pytest.fixture
def arena_board() -> Record:
    """Three events: one forecaster answered all of them, the other one of them."""
    problems = [{**GOOD_PROBLEM, "problem_id": number} for number in range(3)]
    forecasts = [
        {"problem_id": number, "username": name, "prediction": [p, 1 - p]}
        for name, p, count in (("=a|", 0.75, 3), ("b", 0.5, 1))
        for number in range(count)
    ]
    arena = {**evaluate(forecasts, problems), "name": "week", "prediction": "week.csv"}
    return dict(rank([arena, system("s", True, False)]))


def test_forecasters_on_the_screen(arena_board: Record) -> None:
    lines = format_text(board_report(arena_board)).splitlines()
    assert "Leaderboard  Prophet Arena, week, 3 events" in lines
    assert [line.split() for line in lines if line.startswith("   2")] == [
        ["2", "b", "0.2500", "–", "–", "1"]
    ]


def test_forecasters_in_csv_beside_systems(arena_board: Record) -> None:
    last, first, second = csv.DictReader(io.StringIO(format_csv(arena_board)))
    shown = ("benchmark", "dataset", "prediction", "rank", "name", "metric", "level_1", "n")
    assert [first[key] for key in shown] == [
        "Prophet Arena", "", "week.csv", "1", "'=a|", "adjusted_brier (lower is better)", "", "3",
    ]  # fmt: skip
    assert first["signature"].startswith("signature: Prophet Arena ")
    assert float(first["low"]) <= float(first["score"]) <= float(first["high"])
    assert float(first["score"]) == pytest.approx(1 / 16)
    assert (second["name"], second["low"], second["high"]) == ("b", "", "")
    assert (last["name"], last["metric"], last["level_1"], last["missing"]) == (
        "s",
        "overall",
        "0.5",
        "0",
    )


def test_forecasters_in_markdown(arena_board: Record) -> None:
    text = format_markdown(arena_board)
    assert "| 1 | =a\\| | 0.0625 | [0.0000, 0.6132] | – | 3 |" in text
    assert "Ranks: 95" not in text  # what no row has needs no words
    board = {**rank([system("a", True, False), system("b", True, False)]), "failed": []}
    assert format_markdown(board).count("Ranks\\: 95 % confidence range") == 1
