"""The tables of boards and comparisons, declared by their columns: for the screen, notebooks,
Markdown and pages.

A board has three kinds of tables: systems on all datasets, systems that answered the same
questions, and the forecasters within one set. `view_table` has the columns of each, with where they
stand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import Final, NamedTuple

from forecasteval.common.errors import grouped_names, printable
from forecasteval.common.records import JsonObject, group_by
from forecasteval.display.tables import (
    Column,
    Table,
    format_signature,
    make_table,
    show_p,
)
from forecasteval.ranking.systems import ALPHA, Level

from .metadata import about_columns, cell_text, shown_names

Row = JsonObject
TIE: Final = "≈ best"
TIED: Final = (
    f"{TIE}: not significantly below the best (p >= {ALPHA}, Holm's adjustment over the "
    "comparisons with it)."
)


# --- Records: rows as flat as the CSV has them, and their columns ---

_TITLES: Final = {
    "rank": "Rank",
    "shown": "System",
    "score": "Overall",
    "interval": "95% interval",
    "ranks": "Ranks",
    "behind": "Behind by",
    "behind_interval": "95% interval",
    "p_leader": "p (Holm)",
    "datasets": "Datasets",
    "runs": "Runs",
    "run_deviation": "Run SD",
    "n": "n",
    "own_score": "Own",
    "pending": "Pending",
    "missing": "Missing",
    "unparsed": "Unparsed",
    "padded": "Padded",
    "notes": "Notes",
}
_SPARE: Final = {"n": 900, "missing": 1, "unparsed": 800, "padded": 800}
_SCORE: Final = ("rank", "shown", "score", "interval")
UNREAD: Final = ("missing", "unparsed", "padded")
_RUNS: Final = ("runs", "run_deviation")
_OVER_WEEKS: Final = ("datasets", "runs", "n", "own_score")


def make_record(table: Row, row: Row, shown: str) -> dict[str, object]:
    """A row of a table with everything that columns show; `shown` is its name."""
    is_pooled = table["kind"] == "pooled"
    score, interval = mark_of(row)
    low, high = interval or (None, None)
    ranks = row.get("rank_interval") if is_pooled else None
    metric = "pooled" if is_pooled else "overall"
    if table["kind"] == "forecasters":
        metric = row.get("metric", "brier")
    about = {f"about_{key}": cell_text(value) for key, value in row.get("about", {}).items()}
    parts = table["datasets"] if is_pooled else [table]
    return {
        "prediction": table.get("prediction"),
        "pending": sum(part.get("pending", 0) for part in parts),
        "void": sum(part.get("void", 0) for part in parts),
        **row,
        **{f"level_{level}": value for level, value in row.get("level_scores", {}).items()},
        **about,
        "benchmark": table["benchmark"],
        "dataset": f"{len(table['datasets'])} datasets" if is_pooled else table["dataset"],
        "metric": f"{metric} (lower is better)" if _is_lower(table) else metric,
        "shown": shown,
        "score": score,
        "interval": interval,
        "low": low,
        "high": high,
        "ranks": "–".join(map(str, ranks or ())) or None,
        "rank_low": ranks and ranks[0],
        "rank_high": ranks and ranks[1],
        "runs": row.get("n_runs") or len(row.get("runs", [row])),
        "notes": ", ".join(filter(None, (_mark_tie(row), show_notes(row)))),
        "signature": format_signature(table["signature"]),
    }


def list_columns(keys: Iterable[str], table: Row, records: Sequence[Row]) -> list[Column]:
    """The columns of these keys; one that is rare only if some record has it."""
    titles, columns = dict(_TITLES), []
    if table.get("kind") == "forecasters":
        titles |= {"shown": "Forecaster", "score": show_metric(table)}
    for place, key in enumerate(keys):
        level = key.removeprefix("level_")
        column = Column(
            titles.get(key, f"Level {level}"),
            partial(_show, key),
            "text" if key in ("shown", "notes") else "number",
            spare=_SPARE.get(key, 0),
        )
        if key == "score" or level != key:
            best = "low" if _is_lower(table) else "high"
            spare = 0 if key == "score" else 700 - place
            column = replace(column, best=best, spare=spare)
        if key not in ("padded", "pending") or any(record.get(key) for record in records):
            columns.append(column)
    return columns


def _show(key: str, record: Row) -> object:
    return show_p(record.get(key)) if key == "p_leader" else record.get(key)


def show_notes(row: Row) -> str:
    """What is to be known of a system besides its score."""
    count = row.get("warnings", 0)
    notes = {
        "provisional": row.get("provisional"),
        "its runs differ as wholes": row.get("runs_differ"),
        _show_blank(row): True,
        "degraded: the language model failed": row.get("degraded"),
        _count_warnings(row): count,
    }
    return ", ".join(note for note, holds in notes.items() if note and holds)


def _mark_tie(row: Row) -> str:
    return TIE if is_tied(row) and row.get("p_leader") is not None else ""


def _show_blank(row: Row) -> str:
    """That no answer could be read, of a row over all datasets in which of them."""
    if "datasets" in row:
        blank = row.get("blank")
        return f"no readable answer: {grouped_names(blank)}" if blank else ""
    unread = row.get("missing", 0) + row.get("unparsed", 0)
    return (
        "no readable answer" if 0 < row.get("n", 0) * len(row.get("runs", [row])) <= unread else ""
    )


def _count_warnings(row: Row) -> str:
    count = row.get("warnings", 0)
    return "1 warning" if count == 1 else f"{count} warnings"


# --- The tables of a board ---


class View(NamedTuple):
    """A table of a board as it is shown, with remarks below it."""

    title: str
    table: Table
    remarks: list[str]


def view_table(table: Row) -> View:
    """A table of a board, in which systems have their display names."""
    rows = table["rows"]
    records = [make_record(table, *pair) for pair in zip(rows, shown_names(rows), strict=True)]
    make = {"pooled": _pooled, "systems": _systems, "forecasters": _forecasters}[table["kind"]]
    title, keys, remarks = make(table)
    columns = list_columns([*_SCORE, *keys], table, records)
    return View(
        f"{table['benchmark']}, {title}{lower_is_better(table)}",
        make_table([*columns, *about_columns(rows)], records),
        [*[TIED] * any(map(_mark_tie, rows)), *remarks],
    )


Parts = tuple[str, Sequence[str], list[str]]  # the end of a title, keys of columns, remarks


def _pooled(table: Row) -> Parts:
    """Systems on all datasets of one rule set."""
    total = sum(table["level_counts"][level] for level in table["weights"])
    behind = ("ranks", "behind", "behind_interval", "p_leader")
    remarks = []
    if any(row["rank"] is None for row in table["rows"]):
        least = table["signature"]["min_datasets"]
        rule = f"in fewer than {least} datasets, and therefore without rank (--min-datasets)."
        remarks.append(f"provisional: {rule}")
    remarks += season_remarks(table)
    title = f"all {len(table['datasets'])} datasets, {total} questions"
    return title, (*behind, *_OVER_WEEKS, *UNREAD, "notes"), remarks


def _systems(table: Row) -> Parts:
    """Systems by their overall score, with the scores by level."""
    count = sum(table["level_counts"].values())
    used = sum(table["level_counts"][level] for level in table["weights"])
    size = show_size(count, table, "questions")
    if used != count:
        size = f"{used} of {size} (small levels left out)"
    runs = _RUNS if any(row.get("runs") for row in table["rows"]) else ()
    levels = [f"level_{level}" for level in table["level_counts"] if level]
    title = f"{printable(table['dataset'] or 'without a dataset')}, {size}"
    return title, (*runs, *levels, "n", "p_leader", *UNREAD, "notes"), []


def _forecasters(table: Row) -> Parts:
    """The forecasters of one file, or of the files of one dataset."""
    remark = "–: provisional, in too few events for a rank (--min-events)."
    title = f"{printable(table['name'])}, {show_size(table['n_events'], table, 'events')}"
    warnings = f", {_count_warnings(table)}" if table["warnings"] else ""
    remarks = [remark] * any(row.get("provisional") for row in table["rows"])
    return title + warnings, ("n",), remarks


def show_size(count: int, table: Row, unit: str) -> str:
    """How many questions or events there are, or how many of them are resolved, and how many are
    void.
    """
    pending, void = table.get("pending", 0), table.get("void", 0)
    size = f"{count} of {count + pending} resolved" if pending else f"{count} {unit}"
    return f"{size}, {void} void left out" if void else size


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


def _is_lower(table: Row) -> bool:
    return table.get("kind") == "forecasters" or not table.get("higher_is_better", True)


def lower_is_better(values: Row) -> str:
    """The end of a title where a lower score is better."""
    return "" if values.get("higher_is_better", True) else ", lower is better"


def season_remarks(table: Row) -> list[str]:
    """Which datasets have not all truths yet; how good and bad weeks of single systems stand in the
    intervals; which systems are apart.
    """
    partial_weeks = [
        f"{printable(week['dataset'], 60)} ({week['n']} of {week['n'] + week['pending']} resolved)"
        for week in table["datasets"]
        if week.get("pending")
    ]
    remarks = []
    if partial_weeks:
        counted = f"counted by their resolved questions: {', '.join(partial_weeks)}"
        remarks.append(f"Partial, and {counted}")
    if table["design_effect"] is None:
        unknown = "Good and bad weeks of a system cannot be measured: no interval includes them."
        remarks.append(unknown)
    else:
        effect = f"design effect {table['design_effect']:.2f}."
        remarks.append(f"Good and bad weeks of a system are in all intervals: {effect}")
    if table.get("apart"):
        apart = ", ".join(map(printable, table["apart"]))
        remarks.append(f"Apart, as they share no dataset with these: {apart}")
    return remarks


def list_failed(board: Row) -> list[tuple[str, str]]:
    """List why files could not be scored, each reason once with its files: `("2 (a, b)", …)`."""
    groups = group_by(board.get("failed", ()), itemgetter("reason"))
    files = {reason: [entry["file"] for entry in same] for reason, same in groups.items()}
    return [
        (grouped_names(names) if len(names) > 1 else printable(names[0]), printable(reason))
        for reason, names in files.items()
    ]


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
    table = {"kind": "", "benchmark": "", "dataset": "", **comparison}
    rows = comparison["systems"]
    records = [make_record(table, row, printable(row["name"])) for row in rows]
    runs = _RUNS if any(row.get("runs") for row in rows) else ()
    keys = _OVER_WEEKS if "datasets" in comparison else runs
    columns = list_columns([*_SCORE[1:], *keys, *UNREAD], comparison, records)
    return make_table(columns, records)


def compared_pairs(comparison: Row) -> Table:
    """The pairs: differences, p, and by level the questions that A wins, ties and loses."""
    levels = comparison["weights"] if "datasets" in comparison else comparison["level_counts"]
    columns = [
        Column("A", lambda pair: printable(pair["a"])),
        Column("B", lambda pair: printable(pair["b"])),
        Column("A − B", lambda pair: f"{pair['difference']:+.4f}", "number"),
        Column("95% interval", itemgetter("interval"), "number"),
        Column("p", lambda pair: show_p(pair["p"]), "number"),
        Column("p (Holm)", lambda pair: show_p(pair["p_holm"]), "number"),
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
    Column("A", itemgetter("a"), "number"),
    Column("B", itemgetter("b"), "number"),
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
