"""What a board shows of `systems.json`: display names, and a column for each key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from forecasteval.common.errors import look_of, printable
from forecasteval.common.records import number_text
from forecasteval.display.tables import Column
from forecasteval.ranking.names import (
    TITLES,
    Systems,
    describe_value,
    show_distinct,
    system_of_row,
)

_WIDTH: Final = 60  # of a cell


def add_about(board: dict[str, Any], systems: Systems) -> list[str]:
    """Give the rows of a board their metadata, as `about`, and the board the names of systems
    `without_result`.

    A display name that is the name or a file name of another system is left out, as a row would
    pass for that system's. Returns these mistakes.
    """
    tables = list_tables(board)
    rows = [(system_of_row(table, row), row) for table in tables for row in table["rows"]]
    holders = {(_look(text), system) for system, row in rows for text in (system, row["name"])}
    mistakes = []
    for system, about in systems.entries.items():
        shown = about.get("name", system)
        if any(look == _look(shown) and holder != system for look, holder in holders):
            problem = f"'name' must not be that of another system, got {describe_value(shown)}"
            mistakes.append(f"system {printable(system, 40)}: {problem}")
            about = {key: value for key, value in about.items() if key != "name"}
        for row in (row for name, row in rows if name == system and about):
            row["about"] = about
    board["without_result"] = sorted(systems.entries.keys() - {system for system, _ in rows})
    return mistakes


def _look(text: str) -> str:
    return look_of(text).casefold()


def list_tables(board: Mapping[str, Any]) -> list[Any]:
    """All tables, those over all datasets first."""
    return [*board.get("pooled", ()), *board["tables"]]


def shown_names(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The display name of each row, or that of its file, and both where several rows have the
    same.
    """
    names = [str(row.get("about", {}).get("name", row["name"])) for row in rows]
    counts = Counter(names)
    both = [
        f"{name} ({row['name']})" if counts[name] > 1 and name != row["name"] else name
        for name, row in zip(names, rows, strict=True)
    ]
    return show_distinct(both, _WIDTH)


def name_systems(board: Mapping[str, object]) -> dict[str, str]:
    """The name that every system has on all of a board: its display name, or that of its files."""
    rows = {
        system_of_row(table, row): row
        for table in list_tables(board)[::-1]
        for row in table["rows"]
    }
    systems = [{**row, "name": system} for system, row in rows.items()]
    return dict(zip(rows, shown_names(systems), strict=True))


def about_keys(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The keys that some row has: the known ones first, then the others by name."""
    keys = {key for row in rows for key in row.get("about", {})}
    return [*(key for key in TITLES if key in keys), *sorted(keys.difference(TITLES))]


def about_columns(rows: Sequence[Mapping[str, object]]) -> list[Column]:
    """A column for each key besides the name that some row has; a page has all but cost and the
    first as filters.
    """
    keys = [key for key in about_keys(rows) if key != "name"]
    return [_make_column(key, place) for place, key in enumerate(keys)]


def _make_column(key: str, place: int) -> Column:
    kind, best = ("number", "low") if key == "cost" else ("filter" if place else "choice", "")
    title = TITLES.get(key, printable(key, 40))
    return Column(
        title,
        lambda row: printable(cell_text(row.get("about", {}).get(key, "")), _WIDTH),
        kind,
        best,
        1000 + place,
    )


def cell_text(value: object) -> str:
    """A value as a cell shows it."""
    if isinstance(value, list):
        return ", ".join(map(cell_text, value))
    if value is None or isinstance(value, bool):
        return {None: "", True: "yes", False: "no"}[value]
    return value if isinstance(value, str) else number_text(value)
