"""Boards and comparisons for the screen and notebooks, and a board as CSV and Markdown.

A board has two kinds of tables: systems that answered the same questions, and the forecasters within one file. What
is told of either is made by `view_table`, and nothing else here asks which kind a table is.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import printable, told_apart
from forecasteval.common.report import Report, Table, format_signature, show_interval, show_number

from .systems import ALPHA

PAIRS: Final = 10  # whose questions a comparison shows
_UNSURE: Final = "≈"
EXPLAINED: Final = f"{_UNSURE} the paired difference to the system above is not significant (p >= {ALPHA})."


class View(NamedTuple):
    """A table as it is shown: `cells` as text, and the same rows as `lines` of the CSV, by its columns."""

    title: str
    cells: Table
    lines: list[dict[str, Any]]
    paired: bool  # each row is tested against the one above


def view_table(table: Mapping[str, Any]) -> View:
    return _forecasters(table) if "n_events" in table else _systems(table)


def _forecasters(table: Mapping[str, Any]) -> View:
    """The forecasters of one file, or of the files of one dataset."""
    notes = f", {table['warnings']} warnings" if table["warnings"] else ""
    title = f"{table['benchmark']}, {printable(table['name'])}, {table['n_events']} events{notes}"
    names = told_apart([row["name"] for row in table["rows"]], 60)
    rows = [
        [str(row["rank"]), name, show_number(row["score"]), show_interval(row["interval"]), str(row["n"])]
        for name, row in zip(names, table["rows"], strict=True)
    ]  # fmt: skip
    lines = [
        _line(table, {**row, "prediction": table["prediction"]}, f"{row.get('metric', 'brier')} (lower is better)",
              row["score"], row["interval"])
        for row in table["rows"]
    ]  # fmt: skip
    metric = next((row.get("metric", "brier") for row in table["rows"]), "score").replace("_", " ").title()
    return View(title, Table(["Rank", "Forecaster", metric, "95% interval", "n"], rows, "><>>>"), lines, False)


def _systems(table: Mapping[str, Any]) -> View:
    """Systems by their overall score, with the scores by level."""
    count = sum(table["level_counts"].values())
    used = sum(table["level_counts"][level] for level in table["weights"])
    shown = f"{count} questions" if used == count else f"{used} of {count} questions (small levels left out)"
    title = f"{table['benchmark']}, {printable(table['dataset'] or 'its own questions')}, {shown}"
    levels = [level for level in table["level_counts"] if level]
    header = ["Rank", "System", "Overall", "95% interval", *(f"Level {level}" for level in levels)]
    header += ["n", "Missing", "Unparsed", "p above", "Notes"]
    names = told_apart([row["name"] for row in table["rows"]])
    rows = [
        [
            "–" if row["rank"] is None else str(row["rank"]), name,
            show_number(row["overall_score"]), show_interval(row["overall_interval"]),
            *(show_number(row["level_scores"][level]) for level in levels),
            str(row["n"]), str(row["missing"]), str(row["unparsed"]),
            show_number(row["p_above"]), _notes(row),
        ]
        for name, row in zip(names, table["rows"], strict=True)
    ]  # fmt: skip
    lines = [_line(table, row, "overall", row["overall_score"], row["overall_interval"]) for row in table["rows"]]
    return View(title, Table(header, rows, "><>>" + ">" * len(levels) + ">>>><"), lines, True)


def _notes(row: Mapping[str, Any]) -> str:
    notes = [_UNSURE] if row["significant"] is False else []
    if row["degraded"]:
        notes.append("degraded: the language model failed")
    if row["warnings"]:
        notes.append(f"{row['warnings']} warnings")
    return ", ".join(notes)


def _line(
    table: Mapping[str, Any], row: Mapping[str, Any], metric: str, score: float | None, interval: Any
) -> dict[str, Any]:
    """One row of the CSV; what a row does not have stays empty there."""
    low, high = interval or (None, None)
    levels = {f"level_{level}": value for level, value in row.get("level_scores", {}).items()}
    told = {"benchmark": table["benchmark"], "dataset": table["dataset"], "metric": metric, "score": score}
    return {**row, **levels, **told, "low": low, "high": high, "signature": format_signature(table["signature"])}


# --- Screen and notebooks ---


def board_report(board: Mapping[str, Any]) -> Report:
    """The tables of `rank`, and the files that could not be scored."""
    report: Report = []
    for table in board["tables"]:
        view = view_table(table)
        report += [f"Leaderboard  {view.title}", "", view.cells, ""]
        if any(row.get("significant") is False for row in table["rows"]):
            report += [EXPLAINED]
        report += [format_signature(table["signature"]), ""]
    report += [f"failed: {printable(entry['file'])}: {printable(entry['reason'])}" for entry in board.get("failed", [])]
    return report


def comparison_report(comparison: Mapping[str, Any]) -> Report:
    """The systems, the pairs, and for each pair the questions that move it."""
    against = printable(comparison["dataset"] or "their own questions")
    report: Report = [f"Comparison on {comparison['n']} questions, {against}"]
    if comparison["left_out"]:
        report += [f"{comparison['left_out']} more are left out: not all of these forecasters answered them"]
    report += [""]
    systems = [
        [printable(s["name"]), show_number(s["overall_score"]), show_interval(s["overall_interval"]),
         str(s["missing"]), str(s["unparsed"])]
        for s in comparison["systems"]
    ]  # fmt: skip
    report += [Table(["System", "Overall", "95% interval", "Missing", "Unparsed"], systems, "<>>>>"), ""]
    levels = [level for level in comparison["level_counts"] if level]
    header = ["A", "B", "A − B", "95% interval", "p", "p (Holm)", "80% power at"]
    header += [f"Level {level}" for level in levels] or ["Wins"]
    pairs = []
    for pair in comparison["pairs"]:
        tallies = [f"{t['wins']}/{t['ties']}/{t['losses']}" for t in pair["levels"].values()]
        pairs.append([
            printable(pair["a"]), printable(pair["b"]), f"{pair['difference']:+.4f}", show_interval(pair["interval"]),
            show_number(pair["p"]), show_number(pair["p_holm"]), show_number(pair["detectable"]), *tallies,
        ])  # fmt: skip
    report += [Table(header, pairs, "<<" + ">" * (len(header) - 2)), ""]
    report += ["By level: questions that A wins/ties/loses. 80% power at: the difference found four times out of five."]
    shown = comparison["pairs"][:PAIRS]
    for pair in shown:
        rows = [
            [printable(q["id"], 40), q["level"] or "", show_number(q["a"]), show_number(q["b"]), f"{q['adds']:+.4f}"]
            for q in pair["questions"]
        ]
        title = f"What moves {pair['a']} − {pair['b']} most:"
        report += ["", printable(title), Table(["Question", "Level", "A", "B", "Adds"], rows, "<>>>>")]
    if len(comparison["pairs"]) > PAIRS:
        report += ["", f"What moves the other {len(comparison['pairs']) - PAIRS} pairs: --json"]
    return [*report, "", format_signature(comparison["signature"])]


# --- CSV ---


def format_csv(board: Mapping[str, Any]) -> str:
    """The tables as one CSV; a text that a spreadsheet would run as a formula gets an apostrophe in front."""
    import csv

    tables = board["tables"]
    levels = dict.fromkeys(level for table in tables for level in table.get("level_counts", ()) if level)
    columns = [
        "benchmark", "dataset", "prediction", "rank", "name", "metric", "score", "low", "high",
        *(f"level_{level}" for level in levels), "n", "missing", "unparsed", "p_above", "significant", "signature",
    ]  # fmt: skip
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for table in tables:
        writer.writerows({key: _csv_cell(cell) for key, cell in line.items()} for line in view_table(table).lines)
    return text.getvalue()


# What a spreadsheet takes for the start of a formula, at the start of a cell: also where it splits at a semicolon.
_FORMULA: Final = re.compile(r"(^|[;\t])([\s\"'\u00ad\u180e]*)(?=[-=+@|%＝＋－＠−﹢﹣﹦])")


def _csv_cell(cell: object) -> object:
    if isinstance(cell, str):
        return _FORMULA.sub(r"\1'\2", printable(cell))
    return "" if cell is None or (isinstance(cell, float) and math.isnan(cell)) else cell


# --- Markdown ---

_MARKUP: Final = re.compile(r"[\\`*_{}\[\]()<>#+!|~&:@$^]|(?<=www)\.", re.I)


def format_markdown(board: Mapping[str, Any]) -> str:
    """The tables as Markdown; names of files are text there, whatever they hold."""
    lines = ["# Leaderboard", ""]
    for table in board["tables"]:
        title, cells, _, paired = view_table(table)
        lines += [f"## {_markdown(f'Leaderboard  {title}')}", "", "| " + " | ".join(cells.header) + " |"]
        lines.append("|" + "|".join("---:" if side == ">" else "---" for side in cells.align) + "|")
        lines += ["| " + " | ".join([row[0], _markdown(row[1]), *row[2:]]) + " |" for row in cells.rows]
        if paired:
            lines += ["", EXPLAINED]
        lines += ["", f"`{format_signature(table['signature'])}`", ""]
    if board["failed"]:
        lines += ["## Not scored", "", "| File | Reason |", "|---|---|"]
        lines += [f"| {_markdown(entry['file'])} | {_markdown(entry['reason'])} |" for entry in board["failed"]]
    return "\n".join(lines).rstrip() + "\n"


def _markdown(text: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", printable(text))
