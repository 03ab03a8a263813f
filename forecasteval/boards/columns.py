"""The columns of rankings, declared once: text, Markdown, LaTeX, CSV, frames and pages show these.

A column stands in text if it has a title, in CSV and frames if it has a key, and in the rows of a
page if it has a head. To add one, add a `Column` to the list of its ranking; CSV has it at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import grouped_names, printable
from forecasteval.common.records import number_text
from forecasteval.display.tables import Column, format_signature
from forecasteval.ranking.board import (
    Board,
    PooledRow,
    PooledTable,
    RankedRow,
    Ranking,
    ScoredRow,
    SeasonRow,
    SystemRow,
    SystemTable,
)
from forecasteval.ranking.files import ForecasterTable
from forecasteval.ranking.scale import Level

from .metadata import shown_names

TIE: Final = "≈ best"


class Entry(NamedTuple):
    """A row of a table, with the name that is shown of it."""

    table: Any  # a Ranking, or what else has the row
    row: Any  # a RankedRow, or one of a comparison
    shown: str


def list_entries(table: Ranking) -> list[Entry]:
    """Name the rows of a ranking."""
    names = shown_names(table.rows)
    return [Entry(table, row, shown) for row, shown in zip(table.rows, names, strict=True)]


def list_columns(table: Ranking) -> list[Column]:
    """List the columns of a ranking in the order of text and pages."""
    if isinstance(table, PooledTable):
        return _list_of_season(table)
    if isinstance(table, ForecasterTable):
        return _list_of_forecasters(table)
    return _list_of_dataset(table)


# --- The three rankings ---


def _list_of_dataset(table: SystemTable) -> list[Column]:
    """Systems that answered the same questions."""
    is_lower = table.scale.sign < 0
    return [
        *_first_columns(table, "System", "Overall", "Score"),
        *run_columns(table.rows),
        *level_columns(table.level_counts, is_lower, in_text=True),
        Column("n", _row("n"), "number", spare=900, key="n"),
        Column("p (Holm)", _row("p_leader"), "p", key="p_leader"),
        *unread_columns(table.rows),
        NOTES,
        *_about_columns(table),
        Column("", attrgetter("table.dataset"), key="dataset"),
        Column("", _row("prediction"), key="prediction"),
        Column("", lambda entry: _name_metric("overall", is_lower), key="metric"),
    ]


def _list_of_season(table: PooledTable) -> list[Column]:
    """Systems over all datasets; the scores by level are not in text."""
    is_lower = table.scale.sign < 0
    return [
        *_first_columns(table, "System", "Overall", "Score"),
        *level_columns(table.level_counts, is_lower, in_text=False),
        Column("Ranks", _row("rank_interval"), "ranks", key="ranks"),
        Column("Behind by", _row("behind"), "number", spare=500, key="behind"),
        Column("95% interval", _row("behind_interval"), "number", spare=600),
        Column("p (Holm)", _row("p_leader"), "p", key="p_leader"),
        *WEEK_COLUMNS,
        *unread_columns(table.rows),
        NOTES,
        *_about_columns(table),
        Column("", lambda entry: f"{len(entry.table.datasets)} datasets", key="dataset"),
        Column("", lambda entry: _name_metric("pooled", is_lower), key="metric"),
        Column("", _row("provisional"), key="provisional"),
    ]


def _list_of_forecasters(table: ForecasterTable) -> list[Column]:
    """The forecasters within one set."""
    metric = name_metric(table)
    return [
        *_first_columns(table, "Forecaster", metric, metric),
        Column("n", _row("n"), "number", spare=900, page="n k", key="n", head="Events"),
        *_about_columns(table),
        Column("", lambda entry: 1, key="runs"),
        Column("", attrgetter("table.dataset"), key="dataset"),
        Column("", attrgetter("table.prediction"), key="prediction"),
        Column("", lambda entry: _name_metric(entry.row.metric, True), key="metric"),
        Column("", lambda entry: entry.row.provisional or None, key="provisional"),
    ]


# --- Columns that several have ---


def _row(name: str) -> Callable[[Entry], Any]:
    """Make the cell that shows a field of the row."""
    return attrgetter(f"row.{name}")


def _first_columns(table: Ranking, name: str, score: str, head: str) -> list[Column]:
    """Rank, name, score and interval; a page draws the interval."""
    return [
        Column("Rank", _row("rank"), "number", page="rk", key="rank", head="Rank"),
        Column(name, attrgetter("shown"), key="name", head="System"),
        *score_columns(score, table.scale.sign < 0, head),
    ]


def score_columns(title: str, is_lower: bool, head: str = "") -> list[Column]:
    """A score and its interval."""
    best = "low" if is_lower else "high"
    return [
        Column(title, _row("score"), "number", best, page="n sc", key="score", head=head),
        Column("95% interval", _row("interval"), "number", key="interval", head=" " * bool(head)),
    ]


def level_columns(levels: Iterable[Level], is_lower: bool, in_text: bool) -> list[Column]:
    """The scores by level; of a narrow terminal the last levels go last."""
    best = "low" if is_lower else "high"
    return [
        Column(
            f"Level {level}" * in_text,
            partial(_find_level, level),
            "number",
            best,
            spare,
            page="c",
            key=f"level_{level}",
            head=f"L{level}",
        )
        for spare, level in zip(range(700, 0, -1), levels, strict=False)
        if level
    ]


def _find_level(level: Level, entry: Entry) -> float | None:
    score: float | None = entry.row.level_scores.get(level)
    return score


def run_columns(rows: Sequence[ScoredRow]) -> list[Column]:
    """How many runs there are and how they scatter; text has neither if nobody has several."""
    title = "Runs" if any(row.runs for row in rows) else ""
    runs = Column(title, lambda entry: len(entry.row.files), "number", key="runs")
    return [
        runs,
        *([Column("Run SD", _row("run_deviation"), "number", key="run_deviation")] * bool(title)),
    ]


WEEK_COLUMNS: Final = (
    Column(
        "Datasets", _row("datasets"), "number", spare=830, page="n k", key="datasets", head="Weeks"
    ),
    Column("Runs", _row("n_runs"), "number", spare=840, key="runs"),
    Column("n", _row("n"), "number", spare=900, key="n"),
    Column("Own", _row("own_score"), "number", spare=850, key="own_score"),
)


def unread_columns(rows: Sequence[ScoredRow | SeasonRow]) -> list[Column]:
    """Answers without a score; and lists that are padded, if there are some.

    A page has the first two as one, `1 + 14`.
    """
    padded = "Padded" * any(row.padded for row in rows)
    unread = any(row.missing or row.unparsed for row in rows)
    return [
        Column("", _join_unread, "number", page="n k", head="No answer" * unread),
        Column("Missing", _row("missing"), "number", spare=1, key="missing"),
        Column("Unparsed", _row("unparsed"), "number", spare=800, key="unparsed"),
        Column(padded, _row("padded"), "number", spare=800, page="n k", key="padded", head=padded),
    ]


def _join_unread(entry: Entry) -> str:
    missing, unparsed = entry.row.missing, entry.row.unparsed
    return f"{missing} + {unparsed}" if unparsed else str(missing or "")


def _about_columns(table: Ranking) -> list[Column]:
    """What `systems.json` says, if it does, and what CSV has of each table."""
    columns = []
    if any(row.about.name for row in table.rows):
        columns.append(Column("", _row("about.name"), key="about_name"))
    if any(row.about.organisation for row in table.rows):
        show = partial(_show_organisation, 60)
        columns.append(Column("Organisation", show, spare=1000))
        columns.append(Column("", _row("about.organisation"), key="about_organisation"))
    if any(row.about.cost is not None for row in table.rows):
        columns.append(_COST)
    return [
        *columns,
        Column("", attrgetter("table.benchmark"), key="benchmark"),
        Column("", _row("name"), key="name"),
        Column("", attrgetter("table.pending"), key="pending"),
        Column("", attrgetter("table.void"), key="void"),
        Column("", lambda entry: format_signature(entry.table.signature), key="signature"),
    ]


def _show_organisation(limit: int, entry: Entry) -> str:
    return printable(entry.row.about.organisation, limit)


def _show_cost(entry: Entry) -> str:
    return number_text(entry.row.about.cost)


_COST: Final = Column(
    *("Cost per question", _show_cost, "number"),
    spare=1001,
    page="n vs",
    key="about_cost",
    head="Cost",
)


def _name_metric(name: str, is_lower: bool) -> str:
    return f"{name} (lower is better)" if is_lower else name


def name_metric(table: ForecasterTable) -> str:
    """The metric by which the forecasters of a table are ranked."""
    metric = table.rows[0].metric if table.rows else "score"
    return metric.replace("_", " ").title()


# --- Notes ---


def say_notes(row: SystemRow | PooledRow) -> str:
    """Say what is to be known of a system besides its score."""
    if isinstance(row, SystemRow):
        first = "its runs differ as wholes" * bool(row.runs_differ)
        blank = "no readable answer" * row.is_blank
    else:
        first = "provisional" * row.provisional
        blank = f"no readable answer: {grouped_names(row.blank)}" if row.blank else ""
    degraded = "degraded: the language model failed" * row.degraded
    return ", ".join(filter(None, (first, blank, degraded, count_warnings(row.warnings))))


def _mark_notes(entry: Entry) -> str:
    """The notes of a row; first, if it is tied with the best."""
    return ", ".join(filter(None, (TIE * is_marked(entry.row), say_notes(entry.row))))


def is_marked(row: RankedRow) -> bool:
    """Whether text marks a row as tied with the best: it was tested against it."""
    return bool(row.is_tied) and row.p_leader is not None


def count_warnings(count: int) -> str:
    """`1 warning`; nothing where there are none."""
    return f"{count} warning{'s' * (count > 1)}" * bool(count)


NOTES: Final = Column("Notes", _mark_notes, key="notes")


# --- CSV and frames ---

# The keys that stand first, those of the levels between; others follow as they are declared.
_FIRST: Final = (
    *("benchmark", "dataset", "prediction", "rank", "name", "metric", "score", "low", "high"),
)
_SECOND: Final = ("n", "missing", "unparsed", "padded", "p_leader")
_THEN: Final = (
    *("pending", "void", "runs", "run_deviation", "rank_low", "rank_high", "behind", "own_score"),
    *("datasets", "provisional", "signature", "about_name", "about_organisation", "about_cost"),
)
_ENDS: Final = {"interval": ("low", "high"), "ranks": ("rank_low", "rank_high")}
_IF_ANY: Final = ("pending", "void")  # of which some row must have one
_ONLY_WITH: Final = {"runs": "run_deviation", "provisional": "behind"}
_NOT_CSV: Final = ("notes",)


def flatten_board(board: Board) -> tuple[list[str], list[dict[str, object]]]:
    """List the keys of a board's CSV, and its rows by them; None is what a row does not have."""
    records = [
        flatten_entry(entry, list_columns(table))
        for table in board.rankings
        for entry in list_entries(table)
    ]
    known = dict.fromkeys(key for record in records for key in record)
    levels = [key for key in known if key.startswith("level_")]
    others = [
        key
        for key in dict.fromkeys([*_THEN, *known])
        if key in known
        and key not in _NOT_CSV
        and _ONLY_WITH.get(key, key) in known
        and (key not in _IF_ANY or any(record[key] for record in records))
    ]
    keys = [*dict.fromkeys([*_FIRST, *levels, *_SECOND, *others])]
    return keys, [{key: record.get(key) for key in keys} for record in records]


def flatten_entry(entry: Entry, columns: Sequence[Column]) -> dict[str, object]:
    """The values of a row by the keys of columns; an interval is its two ends."""
    record: dict[str, object] = {}
    for column in columns:
        if ends := _ENDS.get(column.key):
            record.update(zip(ends, column.cell(entry) or (None, None), strict=True))
        elif column.key:
            record[column.key] = column.cell(entry)
    return record
