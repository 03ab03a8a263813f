"""What a board shows of `systems.json`: display names, and a column for each key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from forecasteval.common.errors import look_of, printable
from forecasteval.common.records import JsonObject, number_text
from forecasteval.display.tables import Column
from forecasteval.ranking.board import list_tables
from forecasteval.ranking.names import TITLES, Systems, describe_value, show_distinct, system_of_row

_WIDTH: Final = 60  # of a cell


def add_about(board: dict[str, Any], systems: Systems) -> list[str]:
    """Give the rows of a board their `about`, and the board the systems `without_result`.

    A display name that is the name or a file name of another system is left out, as a row would
    pass for that system's. Returns these mistakes.
    """
    tables = list_tables(board)
    rows = [(system_of_row(table, row), row) for table in tables for row in table["rows"]]
    named = [(text, system) for system, row in rows for text in (system, row["name"])]
    holders = {(look_of(text).casefold(), system) for text, system in named}
    mistakes = []
    for system, about in systems.entries.items():
        shown = about.get("name", system)
        look = look_of(shown).casefold()
        if any(look == other and holder != system for other, holder in holders):
            problem = f"'name' must not be that of another system, got {describe_value(shown)}"
            mistakes.append(f"system {printable(system, 40)}: {problem}")
            about = {key: value for key, value in about.items() if key != "name"}
        for row in (row for name, row in rows if name == system and about):
            row["about"] = about
    board["without_result"] = sorted(systems.entries.keys() - {system for system, _ in rows})
    return mistakes


def shown_names(rows: Sequence[JsonObject]) -> list[str]:
    """The display name of each row, or that of its file, and both where several have the same."""
    names = [str(row.get("about", {}).get("name", row["name"])) for row in rows]
    often = {name for name, count in Counter(names).items() if count > 1}
    both = zip(names, (row["name"] for row in rows), strict=True)
    same = [f"{name} ({of})" if name in often and name != of else name for name, of in both]
    return show_distinct(same, _WIDTH)


def name_systems(board: JsonObject) -> dict[str, str]:
    """The name that every system has on all of a board: its display name, or that of its files."""
    tables = reversed(list_tables(board))
    systems = {system_of_row(table, row): row for table in tables for row in table["rows"]}
    rows = [{**row, "name": system} for system, row in systems.items()]
    return dict(zip(systems, shown_names(rows), strict=True))


def about_keys(rows: Iterable[JsonObject]) -> list[str]:
    """The keys that some row has: the known ones first, then the others by name."""
    keys = {key for row in rows for key in row.get("about", {})}
    return [*(key for key in TITLES if key in keys), *sorted(keys.difference(TITLES))]


def about_columns(rows: Sequence[Mapping[str, object]]) -> list[Column]:
    """A column for each key besides the name that some row has."""

    def show(key: str, row: JsonObject) -> str:
        return printable(cell_text(row.get("about", {}).get(key, "")), _WIDTH)

    keys = [key for key in about_keys(rows) if key != "name"]
    return [
        Column(
            TITLES.get(key, printable(key, 40)),
            partial(show, key),
            "number" if key == "cost" else "text",
            spare=place,
        )
        for place, key in enumerate(keys, 1000)
    ]


def cell_text(value: object) -> str:
    """A value as a cell shows it."""
    if isinstance(value, list):
        return ", ".join(map(cell_text, value))
    if value is None or isinstance(value, bool):
        return {None: "", True: "yes", False: "no"}[value]
    return value if isinstance(value, str) else number_text(value)
