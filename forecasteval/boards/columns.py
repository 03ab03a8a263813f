"""The columns of rankings, declared once: text, Markdown, LaTeX, CSV, frames and
pages show these.

A column stands in text if it has a title, in CSV and frames if it has a key, and in the
rows of a page if it has a head. To add one, add a `Column` to `list_columns`. What it
shows is a field of a row (`ranking/board.py`, whose `schema` is then raised), made by
`describe_system` in `ranking/datasets.py`, over all weeks by `PooledFit.rows`. Tables
of several `-f`, of one system each, and of `compare` have columns of their own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import grouped_names, printable, show_count
from forecasteval.common.forms import to_record
from forecasteval.common.records import number_text
from forecasteval.display.breakdown import value_key
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
from forecasteval.ranking.files import FileRow, ForecasterRow, ForecasterTable
from forecasteval.ranking.scale import Level, Scale

from .metadata import choose_names


class Entry(NamedTuple):
    """A row of a table, with the name that is shown of it, and on pages its address."""

    table: Any  # a Ranking, or what else has the row
    row: Any  # a RankedRow, or one of a comparison
    shown: str
    key: str = ""


def list_entries(table: Ranking) -> list[Entry]:
    """Name the rows of a ranking."""
    names = choose_names(table.rows)
    return [
        Entry(table, row, shown) for row, shown in zip(table.rows, names, strict=True)
    ]


def list_columns(table: Ranking) -> list[Column]:
    """List the columns of a ranking in the order of text and pages."""
    list_of_kind: Callable[[Any], list[Column]] = _COLUMNS[table.kind]
    return [*list_of_kind(table), *_about_columns(table.rows)]


def _list_forecaster_columns(table: ForecasterTable) -> list[Column]:
    metric = name_metric(table)
    return [
        *_first_columns(table, "Forecaster", metric, metric),
        _number("n", spare=900, page="n k", head="Events"),
        *_removed_columns(table.rows),
    ]


def _list_system_columns(table: SystemTable) -> list[Column]:
    return [
        *_first_columns(table, "System", "Overall", "Score"),
        *_gain_columns(table.rows),
        *run_columns(table.rows),
        *_level_columns(table),
        _number("n", spare=900),
        *unread_columns(table.rows),
        NOTES,
    ]


def _list_pooled_columns(table: PooledTable) -> list[Column]:
    return [
        *_first_columns(table, "System", "Overall", "Score"),
        *(replace(column, title="") for column in _level_columns(table)),
        *WEEK_COLUMNS,
        *unread_columns(table.rows),
        NOTES,
    ]


_COLUMNS: Final[Mapping[str, Any]] = {
    "forecasters": _list_forecaster_columns,
    "systems": _list_system_columns,
    "pooled": _list_pooled_columns,
}


# --- Columns ---


def _number(title: str, key: str = "", **more: Any) -> Column:
    """Return a column of a field of the row, by default of that which the title is."""
    key = key or title.lower()
    return Column(title, attrgetter(f"row.{key}"), "number", key=key, **more)


def _first_columns(table: Ranking, name: str, score: str, head: str) -> list[Column]:
    """Rank, name, score and interval, and the ranks that no test contradicts; a page
    draws the interval.
    """
    return [
        _number("Rank", page="rk", head="Rank"),
        Column(name, attrgetter("shown"), key="name", head="System"),
        *score_columns(score, table.scale, head),
        Column("Ranks", attrgetter("row.rank_interval"), "ranks", key="ranks"),
    ]


def score_columns(title: str, scale: Scale, head: str = "") -> list[Column]:
    """Return the columns of a score and its interval."""
    return [
        _number(title, "score", best=scale.best, page="n sc", head=head),
        _number("95% interval", "interval", page="n k", head=head),
    ]


def _level_columns(table: SystemTable | PooledTable) -> list[Column]:
    """Return the scores by level; from a narrow terminal the last levels go last."""
    best = table.scale.best
    columns = []
    for spare, level in zip(range(700, 0, -1), table.level_counts, strict=False):
        if level:
            title = f"Level {level}"
            key = f"level_{level}"
            score = partial(_find_level, level)
            column = Column(title, score, "number", best, spare, page="c", key=key)
            columns.append(replace(column, head=f"L{level}"))
    return columns


def _find_level(level: Level, entry: Entry) -> Any:
    return entry.row.level_scores.get(level)


def run_columns(rows: Sequence[ScoredRow | SeasonRow]) -> list[Column]:
    """Return how many runs there are and how they scatter, if somebody has several."""
    if not any(row.runs for row in rows):
        return []
    return [
        Column(
            "Runs", lambda entry: len(entry.row.files), "number", spare=750, key="runs"
        ),
        _number("Run SD", "run_deviation", spare=751),
    ]


def _gain_columns(rows: Sequence[FileRow]) -> list[Column]:
    """Return what results of the same table add to the score, if somebody was
    asked with them.
    """
    if all(row.gain is None for row in rows):
        return []
    return [
        _number("Gain", page="n", head="Gain"),
        _number("Gain 95%", "gain_interval", page="n k", head="Gain 95%", spare=760),
    ]


WEEK_COLUMNS: Final = (
    _number("Datasets", spare=830, page="n k", head="Weeks"),
    Column("Runs", attrgetter("row.n_runs"), "number", spare=840, key="runs"),
    _number("n", spare=900),
    _number("Observed", "own_score", spare=850),
)


def unread_columns(rows: Sequence[ScoredRow | SeasonRow]) -> list[Column]:
    """Return how many answers have no score, came late or were taken back, and
    lists are padded.

    Text always has the first two, pages only what there is some of.
    """
    keys = ("missing", "unparsed", "padded", "late", "removed", "withdrawn")
    counts = {key: sum(getattr(row, key, 0) for row in rows) for key in keys}
    columns = []
    for key, count in counts.items():
        head = ""
        if count:
            head = key.capitalize()
        column = _number(head, key, spare=800, page="n k", head=head)
        if key in ("missing", "unparsed"):
            column = replace(column, title=key.capitalize())
        if key == "missing":
            column = replace(column, spare=1)
        columns.append(column)
    return columns


def _removed_columns(rows: Sequence[ForecasterRow]) -> list[Column]:
    """Return how many closed forecasts were changed or removed, if there are some."""
    if not any(row.removed for row in rows):
        return []
    return [_number("Removed", spare=800, page="n k", head="Removed")]


def _about_columns(rows: Sequence[RankedRow]) -> list[Column]:
    """Return what `systems.json` says of some."""
    columns: list[Column] = []
    if any(row.about.organisation for row in rows):
        columns.append(Column("Organisation", _format_organisation, spare=1000))
    if any(row.about.cost is not None for row in rows):
        title = "Cost per question"
        columns.append(
            Column(title, _format_cost, "number", spare=1001, page="n vs", head="Cost")
        )
    return columns


def _format_organisation(entry: Entry) -> str:
    return printable(entry.row.about.organisation, 60)


def _format_cost(entry: Entry) -> str:
    cost = entry.row.about.cost
    if cost is None:
        return ""
    if round(cost, 2) == cost:
        return f"${cost:.2f}"
    return f"${number_text(cost)}"


def name_metric(table: Ranking) -> str:
    """Name the metric by which the rows of a table are ranked."""
    metric = next((row.metric for row in table.rows), "score")
    return metric.replace("_", " ").title()


# --- Notes ---


KEPT: Final = "not scored, kept as before"


def describe_notes(row: SystemRow | PooledRow) -> str:
    """Describe what is to be known of a system besides its score."""
    kept = _add_names(KEPT, row.kept_datasets)
    if row.rank is None and not row.kept_datasets:
        kept = f"{KEPT}, without rank"
    notes = {
        "baseline": row.about.baseline,
        "its runs differ as wholes": row.runs_differ,
        "provisional": row.provisional,
        kept: row.kept,
        _add_names("no readable answer", row.blank): row.is_blank,
        "degraded: the language model failed": row.degraded,
        count_warnings(row.warnings): row.warnings,
    }
    return ", ".join(note for note, is_true in notes.items() if is_true)


def _add_names(text: str, names: Sequence[str]) -> str:
    if not names:
        return text
    return f"{text}: {grouped_names(names)}"


def count_warnings(count: int) -> str:
    """Format `1 warning`; nothing if there are none."""
    if not count:
        return ""
    return show_count(count, "warning")


NOTES: Final = Column("Notes", lambda entry: describe_notes(entry.row), key="notes")


# --- The values of a column of the datasets ---


def list_part_columns(table: Ranking, column: str) -> list[Column]:
    """List the columns of the values of a column; text and pages have
    the scores alone.
    """
    best = table.scale.best
    columns = []
    for spare, value in enumerate(
        sorted(count_questions(table.rows), key=value_key), 1
    ):
        title = printable(value, 24)
        key = f"{column}={value}"
        low = partial(_find_end, value, 0)
        high = partial(_find_end, value, 1)
        score = Column(
            title, partial(_find_part, value, "score"), "number", best, spare, page="c"
        )
        columns.append(replace(score, key=key, head=title))
        columns.append(Column("", low, "number", key=f"{key} low"))
        columns.append(Column("", high, "number", key=f"{key} high"))
        columns.append(
            Column("", partial(_find_part, value, "n"), "number", key=f"{key} n")
        )
    return columns


def _find_part(value: str, key: str, entry: Entry) -> Any:
    return entry.row.by.get(value, {}).get(key)


def _find_end(value: str, end: int, entry: Entry) -> float | None:
    interval: Sequence[float] | None = _find_part(value, "interval", entry)
    if interval is None:
        return None
    return interval[end]


def count_questions(rows: Sequence[RankedRow]) -> Counter[str]:
    """Count the questions of each value, of the system that was asked most of them."""
    counts: Counter[str] = Counter()
    for row in rows:
        for value, part in row.by.items():
            counts[value] = max(counts[value], part["n"])
    return counts


# --- CSV and frames ---

_ENDS: Final = {
    "interval": ("low", "high"),
    "ranks": ("rank_low", "rank_high"),
    "gain_interval": ("gain_low", "gain_high"),
}
_ABOUT_KEYS: Final = {
    "Organisation": "about_organisation",
    "Cost per question": "about_cost",
}


def flatten_board(board: Board) -> tuple[list[str], list[dict[str, object]]]:
    """List the keys of a board's CSV as they are declared, and its rows by them; None
    is what a row does not have.
    """
    records = []
    for table in board.rankings:
        columns = [*list_columns(table), *list_part_columns(table, board.by)]
        records += [_flatten_entry(entry, columns) for entry in list_entries(table)]
    keys = [*dict.fromkeys(key for record in records for key in record)]
    return keys, [{key: record.get(key) for key in keys} for record in records]


def name_keys(board: Board) -> dict[str, list[str]]:
    """List the keys of a board's CSV by the names of the columns that tables
    show for them.
    """
    keys_by_name: defaultdict[str, list[str]] = defaultdict(list)
    for table in board.rankings:
        for column in [*list_columns(table), *list_part_columns(table, board.by)]:
            key = column.key or _ABOUT_KEYS.get(column.title)
            if key is None:
                continue
            for name in column.names:
                keys_by_name[name] += _ENDS.get(key, [key])
    keys_by_name.pop("", None)  # the title of what no text shows
    return keys_by_name


def _flatten_entry(entry: Entry, columns: Sequence[Column]) -> dict[str, object]:
    """Make the values of a row by the keys of columns, an interval as its two ends,
    between what tables say of all their rows.
    """
    table, row, *_ = entry
    dataset = table.dataset
    if table.datasets:
        dataset = f"{len(table.datasets)} datasets"
    metric = row.metric
    if table.scale.sign < 0:
        metric = f"{metric} (lower is better)"
    record: dict[str, object] = {
        "benchmark": table.benchmark,
        "dataset": dataset,
        "prediction": row.prediction or table.prediction,
        "metric": metric,
    }
    for column in columns:
        value = column.cell(entry)
        if ends := _ENDS.get(column.key):
            record.update(zip(ends, value or (None, None), strict=True))
        elif column.key:
            record[column.key] = value
    about = {f"about_{key}": value for key, value in to_record(row.about).items()}
    return {
        **record,
        "name": row.name,
        "pending": table.pending,
        "void": table.void,
        "provisional": row.provisional,
        "signature": format_signature(table.signature),
        **about,
    }
