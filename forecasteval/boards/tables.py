"""The tables of boards and comparisons, declared by their columns: for the screen, notebooks,
Markdown and pages.

A board has three kinds of tables: systems on all datasets, systems that answered the same
questions, and the forecasters within one set. `view_table` has the columns of each, with where they
stand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import grouped_names, printable
from forecasteval.display.tables import (
    Column,
    Table,
    make_table,
    show_interval,
    show_number,
    show_p,
)
from forecasteval.ranking.systems import ALPHA, Level, read_scale

from .metadata import about_columns, shown_names

Row = Mapping[str, Any]
_UNSURE: Final = "≈"
TIED: Final = (
    f"{_UNSURE} best: not significantly below the best (p >= {ALPHA}, Holm's adjustment over the "
    "comparisons with it)."
)


# --- Columns ---


def _number(title: str, key: str, spare: int = 0) -> Column:
    return Column(title, lambda row: show_number(row.get(key)), "number", spare=spare)


def _score(title: str, key: str, table: Row) -> Column:
    """A score, of which the best is bold in LaTeX."""
    best = "high" if read_scale(table).higher_is_better else "low"
    return replace(_number(title, key), best=best, bold=True)


def _p(title: str, key: str) -> Column:
    return Column(title, lambda row: show_p(row.get(key)), "number")


def _count(title: str, key: str, spare: int = 0) -> Column:
    return Column(
        title, lambda row: "–" if row.get(key) is None else str(row[key]), "number", spare=spare
    )


def _interval(key: str) -> Column:
    return Column("95% interval", lambda row: show_interval(row.get(key)), "number")


def _levels(table: Row) -> list[Column]:
    levels = filter(None, table["level_counts"])
    best = "high" if read_scale(table).higher_is_better else "low"
    return [
        Column(
            f"Level {level}", partial(_show_level, level), "number", best, 700 - place, bold=True
        )
        for place, level in enumerate(levels)
    ]


def _show_level(level: Level, row: Row) -> str:
    return show_number(row["level_scores"].get(level))


def show_notes(row: Row) -> str:
    """What is to be known of a system besides its score."""
    notes = {
        "provisional": row.get("provisional"),
        "its runs differ as wholes": row.get("runs_differ"),
        _show_blank(row): True,
        "degraded: the language model failed": row.get("degraded"),
        _count_warnings(row): row.get("warnings"),
    }
    return ", ".join(note for note, holds in notes.items() if note and holds)


def _mark_tie(row: Row) -> str:
    return f"{_UNSURE} best" if is_tied(row) and row.get("p_leader") is not None else ""


def _show_blank(row: Row) -> str:
    """That no answer could be read, of a row over all datasets in which of them."""
    if "datasets" in row:
        blank = row.get("blank")
        return f"no readable answer: {grouped_names(blank)}" if blank else ""
    unread = row.get("missing", 0) + row.get("unparsed", 0)
    return "no readable answer" if 0 < row["n"] * len(row.get("runs", [row])) <= unread else ""


def _count_warnings(row: Row) -> str:
    count = row.get("warnings", 0)
    return "1 warning" if count == 1 else f"{count} warnings"


_RANK: Final = _count("Rank", "rank")
_NOTES: Final = Column(
    "Notes", lambda row: ", ".join(filter(None, (_mark_tie(row), show_notes(row))))
)
_UNREAD: Final = [_count("Missing", "missing", 1), _count("Unparsed", "unparsed", 800)]
_PADDED: Final = _count("Padded", "padded", 800)
_RUNS: Final = [
    Column("Runs", lambda row: str(len(row.get("runs", [row]))), "number"),
    _number("Run SD", "run_deviation"),
]
_SEASON: Final = [  # of a system on all datasets
    _count("Datasets", "datasets"),
    _count("Runs", "n_runs"),
    _count("n", "n"),
    _number("Own", "own_score"),
]


def unread_columns(rows: Sequence[Row]) -> list[Column]:
    """Answers that are missing or could not be read; and lists that are padded, if some are."""
    return [*_UNREAD, *[_PADDED] * any(row.get("padded") for row in rows)]


# --- The tables of a board ---


class View(NamedTuple):
    """A table of a board as it is shown, with remarks below it."""

    title: str
    table: Table
    remarks: list[str]


def view_table(table: Row) -> View:
    """A table of a board, in which systems have their display names."""
    names = shown_names(table["rows"])
    rows = [{**row, "shown": name} for row, name in zip(table["rows"], names, strict=True)]
    make = {"pooled": _pooled, "systems": _systems, "forecasters": _forecasters}[table["kind"]]
    title, columns, remarks = make(table, rows)
    shown = make_table([_RANK, *columns, *about_columns(rows)], rows)
    return View(
        f"{table['benchmark']}, {title}{lower_is_better(table)}",
        shown,
        [*[TIED] * any(map(_mark_tie, rows)), *remarks],
    )


Parts = tuple[str, list[Column], list[str]]  # the end of a title, columns, remarks


def _pooled(table: Row, rows: Sequence[Row]) -> Parts:
    """Systems on all datasets of one rule set."""
    total = sum(table["level_counts"][level] for level in table["weights"])
    is_unread = any(row["missing"] or row["unparsed"] for row in rows)
    columns = [
        _name("System"),
        _score("Overall", "overall_score", table),
        _interval("overall_interval"),
        Column("Ranks", lambda row: "–".join(map(str, row["rank_interval"] or ["–"])), "number"),
        _number("P(best)", "p_best"),
        _number("Behind by", "behind"),
        _interval("behind_interval"),
        _p("p (Holm)", "p_leader"),
        *_SEASON,
        *(unread_columns(rows) if is_unread else []),
        _NOTES,
    ]
    remarks = []
    if any(row["rank"] is None for row in rows):
        least = table["signature"]["min_datasets"]
        rule = f"in fewer than {least} datasets, and therefore without rank (--min-datasets)."
        remarks.append(f"provisional: {rule}")
    remarks += [*partial_remark(table), week_remark(table["design_effect"])]
    if table["apart"]:
        apart = ", ".join(map(printable, table["apart"]))
        remarks.append(f"Apart, as they share no dataset with these: {apart}")
    return f"all {len(table['datasets'])} datasets, {total} questions", columns, remarks


def _systems(table: Row, rows: Sequence[Row]) -> Parts:
    """Systems by their overall score, with the scores by level."""
    count = sum(table["level_counts"].values())
    used = sum(table["level_counts"][level] for level in table["weights"])
    shown = show_size(count, table, "questions")
    if used != count:
        shown = f"{used} of {shown} (small levels left out)"
    columns = [
        _name("System"),
        _score("Overall", "overall_score", table),
        _interval("overall_interval"),
        *(column for column in _RUNS if any(row.get("runs") for row in rows)),
        *_levels(table),
        _count("n", "n", 900),
        _p("p (Holm)", "p_leader"),
        *unread_columns(rows),
        _NOTES,
    ]
    return f"{printable(table['dataset'] or 'without a dataset')}, {shown}", columns, []


def _forecasters(table: Row, rows: Sequence[Row]) -> Parts:
    """The forecasters of one file, or of the files of one dataset."""
    columns = [
        _name("Forecaster"),
        replace(_number(show_metric(table), "score"), best="low", bold=True),
        _interval("interval"),
        _count("n", "n"),
    ]
    remarks = ["–: provisional, in too few events for a rank (--min-events)."]
    title = f"{printable(table['name'])}, {show_size(table['n_events'], table, 'events')}"
    warnings = f", {_count_warnings(table)}" if table["warnings"] else ""
    return title + warnings, columns, remarks * any(row.get("provisional") for row in rows)


def show_size(count: int, table: Row, unit: str) -> str:
    """How many questions or events there are, or how many of them are resolved, and how many are
    void.
    """
    pending, void = table.get("pending", 0), table.get("void", 0)
    size = f"{count} of {count + pending} resolved" if pending else f"{count} {unit}"
    return f"{size}, {void} void left out" if void else size


def _name(title: str) -> Column:
    return Column(title, lambda row: row["shown"])


def mark_of(row: Row) -> tuple[float | None, Sequence[float] | None]:
    """The score that a row is ranked by, and its interval."""
    key = "overall_" if "overall_score" in row else ""
    return row[f"{key}score"], row[f"{key}interval"]


def is_tied(row: Row) -> bool | None:
    """Whether a row does not differ significantly from the leader; None if unknown."""
    if "tied_with_best" in row:
        return bool(row["tied_with_best"])
    if row.get("rank_interval"):
        return bool(row["rank_interval"][0] <= 1)
    if "p_leader" not in row:
        return None
    return row["rank"] == 1 or (row["p_leader"] is not None and row["p_leader"] >= ALPHA)


def show_metric(table: Row) -> str:
    """The metric by which the forecasters of a table are ranked."""
    return (
        str(next((row.get("metric", "brier") for row in table["rows"]), "score"))
        .replace("_", " ")
        .title()
    )


def lower_is_better(values: Row) -> str:
    """The end of a title where a lower score is better."""
    return "" if values.get("higher_is_better", True) else ", lower is better"


def week_remark(effect: float | None) -> str:
    """How good and bad weeks of single systems stand in the intervals of a table over all
    datasets.
    """
    if effect is None:
        return "Good and bad weeks of a system cannot be measured: no interval includes them."
    return f"Good and bad weeks of a system are in all intervals: design effect {effect:.2f}."


def partial_remark(table: Row) -> list[str]:
    """A line if there are datasets, of those of a table, that have not all truths yet."""
    partial_weeks = [
        f"{printable(week['dataset'], 60)} ({week['n']} of {week['n'] + week['pending']} resolved)"
        for week in table["datasets"]
        if week.get("pending")
    ]
    if not partial_weeks:
        return []
    return [f"Partial, and counted by their resolved questions: {', '.join(partial_weeks)}"]


def failed_table(board: Row) -> Table:
    """The files that could not be scored, and why."""
    columns = [
        Column("File", lambda entry: printable(entry["file"], 120)),
        Column("Reason", lambda entry: printable(entry["reason"], 300)),
    ]
    return make_table(columns, board["failed"])


def describe_waiting(board: Row) -> list[str]:
    """A line for each dataset that has no truth yet."""
    return [
        f"{printable(dataset, 60)}: {say_waiting(board, dataset)}, {len(files)} "
        + ("file waits" if len(files) == 1 else "files wait")
        for dataset, files in board.get("waiting", {}).items()
    ]


def say_waiting(board: Row, dataset: str) -> str:
    """Why nothing of a dataset can be scored."""
    return "no question to score" if dataset in board.get("void", ()) else "no truth yet"


# --- The tables of a comparison ---


def compared_systems(comparison: Row) -> Table:
    """The compared systems: name, score, interval, runs or datasets, answers without a score."""
    rows = comparison["systems"]
    runs = _RUNS if any(row.get("runs") for row in rows) else []
    columns = [
        Column("System", lambda row: printable(row["name"])),
        _score("Overall", "overall_score", comparison),
        _interval("overall_interval"),
        *(_SEASON if "datasets" in comparison else runs),
        *unread_columns(rows),
    ]
    return make_table(columns, rows)


def compared_pairs(comparison: Row) -> Table:
    """The pairs: differences, p, and by level the questions that A wins, ties and loses."""
    levels = comparison["weights"] if "datasets" in comparison else comparison["level_counts"]
    columns = [
        Column("A", lambda pair: printable(pair["a"])),
        Column("B", lambda pair: printable(pair["b"])),
        Column("A − B", lambda pair: f"{pair['difference']:+.4f}", "number"),
        _interval("interval"),
        _p("p", "p"),
        _p("p (Holm)", "p_holm"),
    ]
    for place, level in enumerate(levels, 100):
        title = f"Level {level}" if level else "Wins"
        columns.append(Column(title, partial(_show_tally, level), "number", spare=place))
    return make_table(columns, comparison["pairs"])


def _show_tally(level: Level, pair: Row) -> str:
    return "{wins}/{ties}/{losses}".format(**pair["levels"][level])


MOVES: Final = [
    Column("Question", lambda question: printable(question["id"], 40)),
    Column("Level", lambda question: str(question["level"] or ""), "number"),
    _number("A", "a"),
    _number("B", "b"),
    Column("Adds", lambda question: f"{question['adds']:+.4f}", "number"),
]


# --- What a comparison says in words ---


def list_verdicts(comparison: Row) -> list[str]:
    """A sentence for each system against the first one; where missing or unparsed answers differ
    between the two, another over the questions of which both answers were read.
    """
    first, *others = comparison["systems"]
    pairs = [pair for pair in comparison["pairs"] if "p_first" in pair]
    lines = []
    for other, pair in zip(others, pairs, strict=True):
        p = f"{_show_equal_p(pair['p_first'])}{' (Holm)' if len(others) > 1 else ''}"
        on = f"{_name_questions(comparison, pair)}{lower_is_better(comparison)}"
        lines.append(_say(pair, pair, pair["p_first"] < ALPHA, f"{p}, on {on}"))
        both = pair.get("both_read")
        if both and any(first[key] != other[key] for key in ("missing", "unparsed")):
            among = f"{_show_equal_p(both['p'])}, on the {both['n']} questions"
            sentence = _say(pair, both, both["p"] < ALPHA, f"{among} that both answered readably")
            lines.append(f"{sentence} This is not the score.")
    return lines


def count_shared(pair: Row) -> int:
    """How many questions both systems of a pair had."""
    return sum(sum(tally.values()) for tally in pair["levels"].values())


def _name_questions(comparison: Row, pair: Row) -> str:
    """How many questions a difference is of; over all weeks also how many both systems had."""
    if "datasets" not in comparison:
        return f"{comparison['n']} questions"
    weeks = comparison["datasets"]
    count = sum(week["n"] for week in weeks)
    both = count_shared(pair)
    shared = f" (both took part in {both})" if both != count else ""
    return f"{count} questions of {len(weeks)} dataset{'s' * (len(weeks) > 1)}{shared}"


def _say(pair: Row, difference: Row, is_significant: bool, evidence: str) -> str:
    """A sentence about a difference of a pair: which is higher, or that nothing shows it."""
    a, b = printable(pair["a"]), printable(pair["b"])
    value, bounds = difference["difference"], difference["interval"] or ()
    digits = 2 if abs(value) >= 0.02 else 4
    sign = -1 if is_significant and value < 0 else 1
    ends = [
        f"{round(end, digits) + 0.0:.{digits}f}" for end in sorted(sign * end for end in bounds)
    ]
    shown = f" [{', '.join(ends)}]" if ends else ""
    if is_significant:
        side = "higher" if value > 0 else "lower"
        return f"{a} is {side} than {b} by {abs(value):.{digits}f}{shown}, {evidence}."
    sentence = f"{a} and {b} cannot be told apart: {value:+.{digits}f}{shown}, {evidence}"
    least = difference.get("detectable")
    power = f"; a difference of {least:.2f} would be found four times out of five" if least else ""
    return f"{sentence}{power}."


def _show_equal_p(p: float) -> str:
    shown = show_p(p)
    return f"p {shown.replace('<', '< ')}" if shown.startswith("<") else f"p = {shown}"
