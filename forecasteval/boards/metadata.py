"""What a board shows of `systems.json`: display names, organisations and costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from forecasteval.common import forms
from forecasteval.common.errors import look_of, printable
from forecasteval.common.records import JsonObject, number_text
from forecasteval.display.tables import Column
from forecasteval.ranking.board import list_tables
from forecasteval.ranking.names import (
    UNKNOWN,
    Systems,
    describe_value,
    show_distinct,
    system_of_row,
)

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
        shown = about.name or system
        look = look_of(shown).casefold()
        if any(look == other and holder != system for other, holder in holders):
            problem = f"'name' must not be that of another system, got {describe_value(shown)}"
            mistakes.append(f"system {printable(system, 40)}: {problem}")
            about = replace(about, name="")
        for row in (row for name, row in rows if name == system and about != UNKNOWN):
            row["about"] = forms.to_record(about)
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


ABOUT: Final = ("name", "organisation", "cost")  # in the order of CSV


def about_keys(rows: Iterable[JsonObject]) -> list[str]:
    """The keys that some row has."""
    known = {key for row in rows for key in row.get("about", {})}
    return [key for key in ABOUT if key in known]


def about_columns(rows: Sequence[Mapping[str, object]]) -> list[Column]:
    """Organisation and cost, if some row has them."""

    def show(key: str, row: JsonObject) -> str:
        return cell_text(row.get("about", {}).get(key, ""))

    columns = {
        "organisation": Column("Organisation", partial(show, "organisation"), spare=1000),
        "cost": Column("Cost per question", partial(show, "cost"), "number", spare=1001),
    }
    return [columns[key] for key in about_keys(rows) if key != "name"]


def cell_text(value: object) -> str:
    """A value as a cell shows it."""
    return printable(value, _WIDTH) if isinstance(value, str) else number_text(value)
