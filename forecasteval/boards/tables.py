"""The tables of boards and comparisons as text, notebooks and Markdown show them, and
what comparisons say in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import attrgetter
from typing import Final

from forecasteval.common.errors import grouped_names, printable, show_count
from forecasteval.common.records import group_by
from forecasteval.display.tables import (
    Column,
    Heading,
    IntervalCell,
    Remark,
    Report,
    Table,
    format_signature,
    make_table,
    show_number,
    show_p,
)
from forecasteval.ranking.board import (
    Board,
    BothRead,
    Comparison,
    OpenDataset,
    Pair,
    RankedRow,
    Ranking,
    RemovedEntry,
    ScoredRow,
    SeasonComparison,
    SeasonRow,
    WithdrawnEntry,
)
from forecasteval.ranking.files import label_dataset
from forecasteval.ranking.scale import Level, Scale
from forecasteval.ranking.systems import ALPHA

from .columns import (
    KEPT,
    NOTES,
    WEEK_COLUMNS,
    Entry,
    count_warnings,
    list_columns,
    list_entries,
    run_columns,
    score_columns,
    unread_columns,
)

RANKS: Final = Remark.on(
    "Ranks",
    "Ranks: 95 % confidence range of the true rank (Holm's adjustment over all pairs).",
)
GAIN: Final = Remark.on(
    "Gain",
    "Gain: score with results of the same table shown, minus that of the "
    "control without.",
)
GUESS: Final = "A uniform guess"
AnyComparison = Comparison | SeasonComparison


# --- The tables of a board ---


def report_table(table: Ranking) -> Report:
    """Report a ranking, in which systems have their display names, with
    remarks below it.
    """
    columns = [column for column in list_columns(table) if column.title]
    remarks = season_remarks(table)
    if table.guess is not None:
        remarks.insert(0, f"{GUESS}: {show_number(table.guess)}")
    if any(column.title == "Gain" for column in columns):
        remarks.insert(0, GAIN)
    if any(row.provisional for row in table.rows):
        remarks.insert(0, describe_unranked(table))
    is_tested = any(row.rank_interval for row in table.rows[1:])
    if is_tested and table.is_adjusted_as_one:
        remarks.insert(0, RANKS)
    return [
        Heading(
            f"Leaderboard  {table.benchmark}, "
            f"{_describe_size(table)}{lower_is_better(table)}"
        ),
        "",
        make_table(columns, list_entries(table)),
        "",
        *remarks,
        format_signature(table.signature, table.dataset),
        "",
    ]


def _describe_size(table: Ranking) -> str:
    """Name the dataset of a ranking, and count its questions or events."""
    name = printable(table.name or "without a dataset")
    kept = KEPT if table.kept else ""
    parts = name, _format_used(table), count_warnings(table.warnings), kept
    return ", ".join(filter(None, parts))


def describe_unranked(table: Ranking) -> str:
    """Describe why systems have no rank; "" where no rule says so."""
    if table.datasets:
        return (
            f"provisional: in fewer than {table.signature['min_datasets']} datasets, "
            "and therefore without rank (--min-datasets)."
        )
    if table.kept:
        return ""
    barred = [row.name for row in table.rows if row.is_barred]
    reasons = []
    if any(row.provisional and not row.is_barred for row in table.rows):
        reasons.append("provisional, in too few events for a rank (--min-events)")
    if barred:
        who = grouped_names(barred)
        reasons.append(
            f"closed forecasts changed or removed, and therefore no rank: {who}"
        )
    if not reasons:
        return ""
    return f"–: {'; '.join(reasons)}."


def _format_used(table: Ranking) -> str:
    """Count how many questions a table has, and how many of these count."""
    if table.datasets:
        return show_count(table.used, "question") + in_series(table.n_series)
    size = format_size(table)
    if table.used == table.resolved:
        return size
    return f"{table.used} of {size} (small levels left out)"


_ALONE: Final = (
    Column("Dataset", attrgetter("table.label")),
    Column("System", lambda entry: _name_alone(entry.row), key="name"),
    *score_columns("Overall", Scale()),
    Column("On", lambda entry: _format_used(entry.table)),
)


def _name_alone(row: RankedRow) -> str:
    return printable(row.about.name or row.system_name, 60)


def tabulate_alone(tables: Sequence[Ranking]) -> Table:
    """Show the tables of one system each as one: a line is all that they say."""
    entries = [entry for table in tables for entry in list_entries(table)]
    columns = [*_ALONE, *unread_columns([entry.row for entry in entries]), NOTES]
    return make_table([column for column in columns if column.title], entries)


def format_size(table: Ranking) -> str:
    """Count how many questions or events there are, or how many are resolved, and
    how many void.
    """
    size = show_count(table.resolved, table.unit)
    if table.pending:
        size = f"{table.resolved} of {table.resolved + table.pending} resolved"
    size += in_series(table.n_series)
    if table.void:
        size += f", {table.void} void left out"
    return size


def in_series(count: int) -> str:
    """Count the series of questions; nothing if each of them stands alone."""
    if not count:
        return ""
    return f" in {count} series"


def lower_is_better(table: Ranking | AnyComparison) -> str:
    """Return the end of a title where a lower score is better."""
    if table.higher_is_better is False:
        return ", lower is better"
    return ""


def season_remarks(table: Ranking | AnyComparison) -> list[str]:
    """Describe which datasets lack truths, how weeks stand in the intervals, and which
    systems are apart; nothing of a single dataset.
    """
    if not table.datasets:
        return []
    partial_weeks = [
        f"{printable(week.dataset, 60)} ({week.n} of {week.n + week.pending} resolved)"
        for week in table.datasets
        if week.pending
    ]
    remarks = []
    if partial_weeks:
        weeks = ", ".join(partial_weeks)
        remarks.append(f"Partial, and counted by their resolved questions: {weeks}")
    good_and_bad = "Good and bad weeks of a system"
    if table.design_effect is None:
        remarks.append(f"{good_and_bad} cannot be measured: no interval includes them.")
    else:
        effect = f"design effect {table.design_effect:.2f}"
        remarks.append(f"{good_and_bad} are in all intervals: {effect}.")
    if table.apart:
        names = ", ".join(map(printable, table.apart))
        remarks.append(f"Apart, as they share no dataset with these: {names}")
    return remarks


def list_failed(board: Board) -> list[tuple[str, str]]:
    """List why files could not be scored, each reason once with its files:
    `("2 (a, b)", …)`.
    """
    groups = group_by(board.failed, lambda entry: str(entry["reason"]))
    failed = []
    for reason, entries in groups.items():
        names = [str(entry["file"]) for entry in entries]
        files = printable(names[0])
        if len(names) > 1:
            files = grouped_names(names)
        failed.append((files, printable(reason)))
    return failed


def list_withdrawn(board: Board) -> list[str]:
    """Describe what the owner of the board has withdrawn, and whether that was
    before the truth.
    """
    return [
        printable(f"{system}: {', '.join(map(_describe_withdrawn, entries))}")
        for system, entries in group_by(board.withdrawn, attrgetter("system")).items()
    ]


def _describe_withdrawn(entry: WithdrawnEntry) -> str:
    when = "after" if entry.is_after_truth else "before"
    return f"{entry.name} ({when} its first truth)"


def list_removed(board: Board) -> list[str]:
    """List whose files are gone although their answers counted when the
    questions closed.
    """
    return [
        printable(f"{system}: {', '.join(_count_removed(entry) for entry in entries)}")
        for system, entries in group_by(board.removed, attrgetter("system")).items()
    ]


def _count_removed(entry: RemovedEntry) -> str:
    return f"{label_dataset(entry.dataset)} ({show_count(entry.answers, 'answer')})"


def describe_waiting(board: Board) -> list[str]:
    """Return a line for each dataset that has no truth yet."""
    lines = []
    for dataset, files in board.waiting.items():
        reason = "no truth yet"
        if dataset in board.void:
            reason = "no question to score"
        count = show_count(len(files), "file")
        verb = "waits" if len(files) == 1 else "wait"
        lines.append(f"{printable(dataset, 60)}: {reason}, {count} {verb}")
    return lines


def tabulate_open(board: Board) -> Table:
    """Show the datasets of which questions can be answered."""
    return make_table(_OPEN, board.open)


def _format_closing(dataset: OpenDataset) -> str:
    times = " to ".join(dataset.closes).replace("T", " ").replace("Z", " UTC")
    return times or "a truth is known"


_OPEN: Final = (
    Column("Dataset", lambda dataset: printable(dataset.dataset, 60)),
    Column("Questions", attrgetter("questions"), "number"),
    Column("Until", _format_closing),
)


ENTER: Final = "To enter, add prediction/DATASET-SYSTEM.json with your answers."


# --- The tables of a comparison ---


def compared_systems(comparison: AnyComparison) -> Table:
    """Return the compared systems: name, score, interval, runs or datasets, answers
    without a score.
    """
    runs: Sequence[Column] = WEEK_COLUMNS
    if not comparison.datasets:
        runs = run_columns(comparison.systems)
    columns = [
        Column("System", attrgetter("shown")),
        *score_columns("Overall", comparison.scale),
        *runs,
        *unread_columns(comparison.systems),
    ]
    entries = [
        Entry(comparison, row, printable(row.name)) for row in comparison.systems
    ]
    return make_table([column for column in columns if column.title], entries)


def compared_pairs(comparison: AnyComparison) -> Table:
    """Return the pairs: differences, p, and by level the questions that A wins,
    ties and loses.
    """
    tallies = []
    for spare, level in enumerate(comparison.pairs[0].levels, 100):
        title = "Wins"
        if level:
            title = f"Level {level}"
        tallies.append(
            Column(title, partial(_format_tally, level), "number", spare=spare)
        )
    return make_table([*_PAIRS, *tallies], comparison.pairs)


_PAIRS: Final = (
    Column("A", lambda pair: printable(pair.a)),
    Column("B", lambda pair: printable(pair.b)),
    Column("A − B", lambda pair: f"{pair.difference:+.4f}", "number"),
    Column("95% interval", attrgetter("interval"), "number"),
    Column("p", attrgetter("p"), "p"),
    Column("p (Holm)", attrgetter("p_holm"), "p"),
)


def compared_datasets(comparison: AnyComparison) -> Table:
    """Return the differences of the first system from each other one,
    dataset by dataset.
    """
    return make_table(_DATASETS, comparison.by_dataset)


_DATASETS: Final = (
    Column("Dataset", lambda row: label_dataset(printable(row.dataset, 60))),
    Column("A", lambda row: printable(row.a, 60), spare=3, page="o"),
    Column("B", lambda row: printable(row.b, 60)),
    Column("n", attrgetter("n"), "number", spare=2, page="n o"),
    Column("Score A", lambda row: row.scores[0], "number", spare=2, page="n o"),
    Column("Score B", lambda row: row.scores[1], "number", spare=2, page="n o"),
    Column("A − B", lambda row: f"{row.difference:+.4f}", "number"),
    Column(
        "A − B", lambda row: IntervalCell(row.difference, row.interval, 0.0), "mark"
    ),
    Column("95% interval", attrgetter("interval"), "number", page="no"),
)


def _format_tally(level: Level, pair: Pair) -> str:
    tally = pair.levels[level]
    return f"{tally.wins}/{tally.ties}/{tally.losses}"


def moved_questions(comparison: AnyComparison, pair: Pair) -> Table:
    """Return the questions that move a difference most."""
    columns = list(_MOVERS)
    if any(comparison.level_counts):
        columns.insert(1, _MOVER_LEVEL)
    return make_table(columns, pair.questions or ())


_MOVER_LEVEL: Final = Column("Level", lambda question: str(question.level), "number")
_MOVERS: Final = (
    Column("Question", lambda question: printable(question.id, 40)),
    Column("A", attrgetter("a"), "number"),
    Column("B", attrgetter("b"), "number"),
    Column("Adds", lambda question: f"{question.adds:+.4f}", "number"),
)


# --- What a comparison says in words ---


def list_verdicts(comparison: AnyComparison) -> list[str]:
    """Describe whether the first system differs from each other one, with the p of the
    table. Where missing or unparsed answers differ between the two, also over the
    questions of which both answers were read.
    """
    systems: Sequence[ScoredRow | SeasonRow] = comparison.systems
    first, *others = systems
    adjusted = ""
    if len(comparison.pairs) > 1:
        adjusted = " (Holm)"
    lines = []
    # The pairs of the first system stand first.
    for other, pair in zip(others, comparison.pairs, strict=False):
        p = f"p = {show_p(pair.p_holm)}".replace("= <", "< ")
        questions = f"{_name_questions(comparison, pair)}{lower_is_better(comparison)}"
        lines.append(_describe_pair(pair, f"{p}{adjusted}, on {questions}"))
        has_other_unread = (first.missing, first.unparsed) != (
            other.missing,
            other.unparsed,
        )
        if pair.both_read and has_other_unread:
            names = f"{printable(pair.a)} − {printable(pair.b)}"
            lines.append(_describe_both_read(names, pair.both_read))
    return lines


def _describe_both_read(names: str, both: BothRead) -> str:
    value, bounds = _format_difference(both, 1)
    questions = f"the {show_count(both.n, 'question')} that both answered readably"
    ignored = "This ignores missing and unparsed answers."
    return f"{names} is {value}{bounds} on {questions}. {ignored}"


def _name_questions(comparison: AnyComparison, pair: Pair) -> str:
    """Count the questions of a difference; over all weeks also those that
    both systems had.
    """
    count = comparison.resolved
    questions = show_count(count, "question") + in_series(comparison.n_series)
    if not comparison.datasets:
        return questions
    shared = ""
    if pair.n_shared != count:
        shared = f" (both took part in {pair.n_shared})"
    return f"{questions} of {show_count(len(comparison.datasets), 'dataset')}{shared}"


def _describe_pair(pair: Pair, evidence: str) -> str:
    """Describe which system of a pair is higher, or that nothing shows it."""
    a = printable(pair.a)
    b = printable(pair.b)
    if pair.p_holm < ALPHA:
        sign = 1
        side = "higher"
        if pair.difference < 0:
            sign = -1
            side = "lower"
        value, bounds = _format_difference(pair, sign)
        return f"{a} is {side} than {b} by {value[1:]}{bounds}, {evidence}."
    value, bounds = _format_difference(pair, 1)
    detectable = pair.detectable or 0.0
    power = ""
    # A larger difference was not found because few questions differ, or pairs are many.
    if abs(pair.difference) < detectable:
        power = (
            f"; a difference of {detectable:.2f} would be found four times out of five"
        )
    return f"{a} and {b} cannot be told apart: {value}{bounds}, {evidence}{power}."


def _format_difference(pair: Pair | BothRead, sign: int) -> tuple[str, str]:
    """Show a difference, or its opposite, and its interval."""
    digits = 4
    if abs(pair.difference) >= 0.02:
        digits = 2
    value = f"{sign * pair.difference:+.{digits}f}"
    if not pair.interval:
        return value, ""
    low, high = sorted(sign * end for end in pair.interval)
    return value, f" [{low:z.{digits}f}, {high:z.{digits}f}]"
