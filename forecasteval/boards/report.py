"""Boards and comparisons for the screen and notebooks, and a board as CSV and Markdown.

A board has three kinds of tables: systems on all datasets, systems that answered the same questions, and the
forecasters within one file. What is told of each is made by `view_table`, and nothing else here asks which kind it is.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import printable
from forecasteval.common.report import Column, Report, Table, format_signature, plain_table, show_interval, show_number

from .about import about_columns, about_keys, cell_text, shown_names
from .changes import changes_report
from .names import show_distinct
from .systems import ALPHA

_RUNS: Final = ["Runs", "Run SD"]
_OF_POOLED: Final = ["rank_low", "rank_high", "p_best", "behind", "p_leader", "own_score", "datasets", "provisional"]
PAIRS: Final = 10  # whose questions a comparison shows
_UNSURE: Final = "≈"
TIED: Final = (
    f"{_UNSURE} best: not told apart from the best (p >= {ALPHA}, Holm's adjustment over the comparisons with it)."
)
EXPLAINED: Final = f"{_UNSURE} the paired difference to the system above is not significant (p >= {ALPHA})."


class View(NamedTuple):
    """A table as it is shown: `cells` as text, and the same rows as `lines` of the CSV, by its columns."""

    title: str
    cells: Table
    lines: list[dict[str, Any]]
    paired: bool  # each row is tested against the one above
    remarks: tuple[str, ...] = ()  # below the table
    told: int = 0  # columns on the right that `systems.json` tells


def view_table(table: Mapping[str, Any]) -> View:
    make = _pooled if "datasets" in table else _forecasters if "n_events" in table else _systems
    return _add_about(make(table), table["rows"])


def _add_about(view: View, rows: Sequence[Mapping[str, Any]]) -> View:
    """The view with the shown names, and a column for whatever else is told of the systems."""
    if not any("about" in row for row in rows):
        return view
    about = about_columns(rows)
    columns = [
        Column(title, str, "number" if side == ">" else "text", spare=100 + place)
        for place, (title, _, side) in enumerate(about)
    ]
    cells = [
        [row[0], name, *row[2:], *(values[place] for _, values, _ in about)]
        for place, (row, name) in enumerate(zip(view.cells.rows, shown_names(rows), strict=True))
    ]
    lines = [
        {**line, **{f"about_{key}": cell_text(value) for key, value in row.get("about", {}).items()}}
        for line, row in zip(view.lines, rows, strict=True)
    ]
    return view._replace(cells=Table([*view.cells.columns, *columns], cells), lines=lines, told=len(columns))


def _tables(board: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """All tables in their order; a board that an older version stored has none over all datasets."""
    return [*board.get("pooled", ()), *board["tables"]]


def _pooled(table: Mapping[str, Any]) -> View:
    """Systems on all datasets of one rule set."""
    total = sum(table["level_counts"][level] for level in table["weights"])
    title = f"{table['benchmark']}, all {len(table['datasets'])} datasets, {total} questions{lower_is_better(table)}"
    header = ["Rank", "System", *(title for title, _, _ in _OVER_ALL)]
    rows = [
        [str(row["rank"] or "–"), name, *(cell(row) for _, _, cell in _OVER_ALL)]
        for name, row in zip(show_distinct([row["name"] for row in table["rows"]]), table["rows"], strict=True)
    ]
    lines = []
    for row in table["rows"]:
        low, high = row["rank_interval"] or (None, None)
        line = {**row, "rank_low": low, "rank_high": high}
        of_all = {**table, "dataset": f"{len(table['datasets'])} datasets"}
        lines.append(_line(of_all, line, _metric("pooled", table), row["overall_score"], row["overall_interval"]))
    remarks = [TIED] if any(row["tied_with_best"] and row["p_leader"] is not None for row in table["rows"]) else []
    if any(row["rank"] is None for row in table["rows"]):
        least = table["signature"]["min_datasets"]
        remarks.append(f"provisional: in fewer than {least} datasets, and therefore without rank (--min-datasets).")
    remarks.append(week_remark(table["week_deviation"]))
    if table["apart"]:
        remarks.append(f"Apart, as they share no dataset with these: {', '.join(map(printable, table['apart']))}")
    sides = "><" + "".join(side for _, side, _ in _OVER_ALL)
    return View(title, plain_table(header, rows, sides), lines, False, tuple(remarks))


def lower_is_better(values: Mapping[str, Any]) -> str:
    """What a title adds where a lower score is better."""
    return "" if values.get("higher_is_better", True) else ", lower is better"


def _metric(name: str, table: Mapping[str, Any]) -> str:
    return name if table.get("higher_is_better", True) else f"{name} (lower is better)"


def week_remark(deviation: float | None) -> str:
    """What a table over all datasets says of weeks that are good or bad for single systems."""
    if deviation is None:
        return "Good and bad weeks of a system cannot be measured here: they are in no interval."
    return f"Good and bad weeks of a system are in all intervals: SD {deviation:.2f} in log-odds."


def _count_warnings(row: Mapping[str, Any]) -> str:
    return "1 warning" if row["warnings"] == 1 else f"{row['warnings']} warnings"


def _forecasters(table: Mapping[str, Any]) -> View:
    """The forecasters of one file, or of the files of one dataset."""
    notes = f", {_count_warnings(table)}" if table["warnings"] else ""
    title = f"{table['benchmark']}, {printable(table['name'])}, {table['n_events']} events{notes}"
    names = show_distinct([row["name"] for row in table["rows"]], 60)
    rows = [
        [str(row["rank"] or "–"), name, show_number(row["score"]), show_interval(row["interval"]), str(row["n"])]
        for name, row in zip(names, table["rows"], strict=True)
    ]
    lines = [
        _line(table, {**row, "prediction": table["prediction"]}, f"{row.get('metric', 'brier')} (lower is better)",
              row["score"], row["interval"])
        for row in table["rows"]
    ]  # fmt: skip
    metric = next((row.get("metric", "brier") for row in table["rows"]), "score").replace("_", " ").title()
    provisional = any(row.get("provisional") for row in table["rows"])
    remarks = ("–: provisional, in too few events for a rank (--min-events).",) * provisional
    return View(
        title, plain_table(["Rank", "Forecaster", metric, "95% interval", "n"], rows, "><>>>"), lines, False, remarks
    )


def _systems(table: Mapping[str, Any]) -> View:
    """Systems by their overall score, with the scores by level."""
    count = sum(table["level_counts"].values())
    used = sum(table["level_counts"][level] for level in table["weights"])
    shown = f"{count} questions" if used == count else f"{used} of {count} questions (small levels left out)"
    title = (
        f"{table['benchmark']}, {printable(table['dataset'] or 'its own questions')}, {shown}{lower_is_better(table)}"
    )
    levels = [level for level in table["level_counts"] if level]
    repeated = any("runs" in row for row in table["rows"])
    header = ["Rank", "System", "Overall", "95% interval", *(_RUNS if repeated else [])]
    header += [*(f"Level {level}" for level in levels), "n", "Missing", "Unparsed", "p above", "Notes"]
    names = show_distinct([row["name"] for row in table["rows"]])
    rows = [
        [
            "–" if row["rank"] is None else str(row["rank"]), name,
            show_number(row["overall_score"]), show_interval(row["overall_interval"]),
            *(_show_runs(row) if repeated else []),
            *(show_number(row["level_scores"][level]) for level in levels),
            str(row["n"]), str(row["missing"]), str(row["unparsed"]),
            show_number(row["p_above"]), show_notes(row),
        ]
        for name, row in zip(names, table["rows"], strict=True)
    ]  # fmt: skip
    lines = [
        _line(table, row, _metric("overall", table), row["overall_score"], row["overall_interval"])
        for row in table["rows"]
    ]
    least = ["n", "Unparsed", *(f"Level {level}" for level in levels), "Missing"]
    return View(title, plain_table(header, rows, "><" + ">" * (len(header) - 3) + "<", least), lines, True)


def _show_runs(row: Mapping[str, Any]) -> list[str]:
    """How many runs a row is the mean of, and how far these differ."""
    return [str(len(row["runs"])), show_number(row["run_deviation"])] if "runs" in row else ["1", "–"]


def show_notes(row: Mapping[str, Any]) -> str:
    notes = [_UNSURE] if row.get("significant") is False else []
    if row.get("tied_with_best") and row["p_leader"] is not None:
        notes.append(f"{_UNSURE} best")
    if row.get("provisional"):
        notes.append("provisional")
    if row.get("runs_differ"):
        notes.append("its runs differ as wholes")
    if row["degraded"]:
        notes.append("degraded: the language model failed")
    if row["warnings"]:
        notes.append(_count_warnings(row))
    return ", ".join(notes)


def _line(
    table: Mapping[str, Any], row: Mapping[str, Any], metric: str, score: float | None, interval: Any
) -> dict[str, Any]:
    """One row of the CSV; what a row does not have stays empty there."""
    low, high = interval or (None, None)
    levels = {f"level_{level}": value for level, value in row.get("level_scores", {}).items()}
    told = {"benchmark": table["benchmark"], "dataset": table["dataset"], "metric": metric, "score": score}
    told["runs"] = len(row["runs"]) if "runs" in row else row.get("n_runs", 1)
    return {**row, **levels, **told, "low": low, "high": high, "signature": format_signature(table["signature"])}


_OVER_ALL: Final[Sequence[tuple[str, str, Callable[[Mapping[str, Any]], str]]]] = [  # title, side, cell
    ("Overall", ">", lambda row: show_number(row["overall_score"])),
    ("95% interval", ">", lambda row: show_interval(row["overall_interval"])),
    ("Ranks", ">", lambda row: "–".join(map(str, row["rank_interval"] or ["–"]))),
    ("P(best)", ">", lambda row: show_number(row["p_best"])),
    ("Behind by", ">", lambda row: show_number(row["behind"])),
    ("95% interval", ">", lambda row: show_interval(row["behind_interval"])),
    ("p (Holm)", ">", lambda row: show_number(row["p_leader"])),
    ("Datasets", ">", lambda row: str(row["datasets"])),
    ("Runs", ">", lambda row: str(row["n_runs"])),
    ("n", ">", lambda row: str(row["n"])),
    ("Own", ">", lambda row: show_number(row["own_score"])),
    ("Notes", "<", show_notes),
]


# --- Screen and notebooks ---


def board_report(board: Mapping[str, Any]) -> Report:
    """The tables of `rank`, and the files that could not be scored."""
    report: Report = []
    for table in _tables(board):
        view = view_table(table)
        report += [f"Leaderboard  {view.title}", "", view.cells, ""]
        if any(row.get("significant") is False for row in table["rows"]):
            report += [EXPLAINED]
        report += view.remarks
        report += [format_signature(table["signature"]), ""]
    report += board.get("remarks", [])
    report += changes_report(board.get("changes", ()))
    report += [f"failed: {printable(entry['file'])}: {printable(entry['reason'])}" for entry in board.get("failed", [])]
    return report


def comparison_report(comparison: Mapping[str, Any]) -> Report:
    """The systems, the pairs, and for each pair the questions that move it."""
    against = printable(comparison["dataset"] or "their own questions")
    report: Report = [f"Comparison on {comparison['n']} questions, {against}{lower_is_better(comparison)}"]
    if comparison["left_out"]:
        report += [f"{comparison['left_out']} more are left out: not all of these forecasters answered them"]
    report += [""]
    repeated = any("runs" in s for s in comparison["systems"])
    header = ["System", "Overall", "95% interval", *(_RUNS if repeated else []), "Missing", "Unparsed"]
    systems = [
        [printable(s["name"]), show_number(s["overall_score"]), show_interval(s["overall_interval"]),
         *(_show_runs(s) if repeated else []), str(s["missing"]), str(s["unparsed"])]
        for s in comparison["systems"]
    ]  # fmt: skip
    report += [plain_table(header, systems, "<" + ">" * (len(header) - 1)), ""]
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
    report += [plain_table(header, pairs, "<<" + ">" * (len(header) - 2)), ""]
    report += ["By level: questions that A wins/ties/loses. 80% power at: the difference found four times out of five."]
    shown = comparison["pairs"][:PAIRS]
    for pair in shown:
        rows = [
            [printable(q["id"], 40), q["level"] or "", show_number(q["a"]), show_number(q["b"]), f"{q['adds']:+.4f}"]
            for q in pair["questions"]
        ]
        title = f"What moves {pair['a']} − {pair['b']} most:"
        report += ["", printable(title), plain_table(["Question", "Level", "A", "B", "Adds"], rows, "<>>>>")]
    if len(comparison["pairs"]) > PAIRS:
        report += ["", f"What moves the other {len(comparison['pairs']) - PAIRS} pairs: --json"]
    return [*report, "", format_signature(comparison["signature"])]


# --- CSV ---


def format_csv(board: Mapping[str, Any]) -> str:
    """The tables as one CSV; a text that a spreadsheet would run as a formula gets an apostrophe in front."""
    import csv

    tables = _tables(board)
    levels = dict.fromkeys(level for table in tables for level in table.get("level_counts", ()) if level)
    columns = [
        "benchmark", "dataset", "prediction", "rank", "name", "metric", "score", "low", "high",
        *(f"level_{level}" for level in levels), "n", "missing", "unparsed", "p_above", "significant",
        *(["runs", "run_deviation"] if any("runs" in row for table in tables for row in table["rows"]) else []),
        *(_OF_POOLED if board.get("pooled") else []),
        "signature",
    ]  # fmt: skip
    all_rows = [row for table in tables for row in table["rows"]]
    columns += [f"about_{key}" for key in about_keys(all_rows)]
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writerow({column: _csv_cell(column) for column in columns})
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


def format_markdown(board: Mapping[str, Any], changes: Sequence[Mapping[str, Any]] = ()) -> str:
    """The tables as Markdown, and what changed last; names of files are text there, whatever they hold."""
    lines = ["# Leaderboard", ""]
    for table in _tables(board):
        title, cells, _, paired, remarks, told = view_table(table)
        header = [*cells.header[: len(cells.header) - told], *map(_markdown, cells.header[len(cells.header) - told :])]
        lines += [f"## {_markdown(f'Leaderboard  {title}')}", "", "| " + " | ".join(header) + " |"]
        lines.append("|" + "|".join("---:" if column.side == ">" else "---" for column in cells.columns) + "|")
        for row in cells.texts()[1]:
            own, about = row[2 : len(row) - told], row[len(row) - told :]
            lines.append("| " + " | ".join([row[0], _markdown(row[1]), *own, *map(_markdown, about)]) + " |")
        if paired:
            lines += ["", EXPLAINED]
        for remark in remarks:
            lines += ["", _markdown(remark)]
        lines += ["", f"`{format_signature(table['signature'])}`", ""]
    if board.get("remarks"):
        lines += ["## Runs apart", "", *(f"- {_markdown(remark)}" for remark in board["remarks"]), ""]
    lines += ["## What changed last", ""] if changes else []
    for block in changes_report(changes)[1:]:
        lines += _markdown_table(block) if isinstance(block, Table) else [f"{_markdown(block)}  " if block else ""]
    if board["failed"]:
        lines += ["## Not scored", "", "| File | Reason |", "|---|---|"]
        lines += [f"| {_markdown(entry['file'])} | {_markdown(entry['reason'])} |" for entry in board["failed"]]
    return "\n".join(lines).rstrip() + "\n"


def _markdown_table(table: Table) -> list[str]:
    columns, cells = table.texts()
    sides = "|".join("---:" if column.side == ">" else "---" for column in columns)
    rows = ["| " + " | ".join(map(_markdown, row)) + " |" for row in (table.header, *cells)]
    return [rows[0], f"|{sides}|", *rows[1:]]


def _markdown(text: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", printable(text))
