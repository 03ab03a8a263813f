"""`prediction/systems.json`, metadata about systems: display name, organisation, cost; columns of a
board.

An object: the name of a system, as its files have it, and an object of `name` (to be shown),
`organisation`, `framework`, `model`, `cost` (per question) and `notes`, none of which is needed.
Other keys are kept and shown, too.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, printable
from forecasteval.common.files import decode_utf8, read_file
from forecasteval.common.records import number_text, parse_json, repeated_keys
from forecasteval.display.tables import Column
from forecasteval.ranking.names import SYSTEMS_FILE, look_of, show_distinct, system_of_row

_TITLES: Final = {
    "name": "Name",
    "organisation": "Organisation",
    "framework": "Framework",
    "model": "Model",
    "cost": "Cost per question",
    "notes": "Remarks",
}
_MISTAKES: Final = 5  # that one line names
_WIDTH: Final = 60  # of a cell

About = dict[str, Any]


class Systems(NamedTuple):
    """The metadata by system, and the mistakes in the file; entries without a mistake are kept."""

    entries: dict[str, About]
    mistakes: list[str]


# --- The file ---


def read_systems(folder: Path) -> Systems:
    """The metadata of the systems whose predictions are in `folder`; nothing if there is no such
    file.
    """
    path = folder / SYSTEMS_FILE
    if not os.path.lexists(path):
        return Systems({}, [])
    try:
        value = parse_json(decode_utf8(read_file(path), SYSTEMS_FILE), SYSTEMS_FILE)
    except InputError as error:
        return Systems(
            {}, [str(error).removeprefix(f"{printable(path)}: ").removeprefix(f"{SYSTEMS_FILE}: ")]
        )
    if not isinstance(value, dict):
        return Systems({}, [f"expected an object of systems, got {_describe(value)}"])
    mistakes = [f"system {name}: given twice" for name in repeated_keys(value)]
    entries = {name: _read_entry(name, entry, mistakes) for name, entry in value.items()}
    return Systems({name: entry for name, entry in entries.items() if entry}, mistakes)


def _read_entry(name: str, entry: object, mistakes: list[str]) -> About:
    where = f"system {printable(name, 40) or repr(name)}"
    if not isinstance(entry, dict):
        mistakes.append(f"{where}: expected an object, got {_describe(entry)}")
        return {}
    mistakes += [f"{where}: '{printable(key, 40)}' is given twice" for key in repeated_keys(entry)]
    about: About = {}
    for key, value in entry.items():
        if not key.strip():  # the title of a column
            mistakes.append(f"{where}: a key must be text, got {_describe(key)}")
        elif expected := _find_problem(key, value):
            mistakes.append(
                f"{where}: '{printable(key, 40)}' must be {expected}, got {_describe(value)}"
            )
        else:
            about[key] = value
    return about


def _find_problem(key: str, value: object) -> str:
    """The requirement that the value of a key does not meet; "" for a valid value."""
    if key == "cost":
        return "" if number_text(value) and float(number_text(value)) >= 0 else "a number >= 0"
    if key in _TITLES:
        return "" if isinstance(value, str) and value.strip() else "text"
    values = value if isinstance(value, list) else [value]
    plain = all(
        each is None or isinstance(each, (str, bool)) or number_text(each) for each in values
    )
    return "" if plain else "text, a number, true, false, null or a list of these"


def _describe(value: object) -> str:
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    return printable(repr(value), 40)


def show_mistakes(mistakes: Sequence[str]) -> str:
    """The first mistakes as one line."""
    more = [f"and {len(mistakes) - _MISTAKES} more"] if len(mistakes) > _MISTAKES else []
    return printable("; ".join([*mistakes[:_MISTAKES], *more]))


# --- Boards ---


def add_about(board: dict[str, Any], systems: Systems) -> list[str]:
    """Give the rows of a board their metadata, as `about`, and the board the names of systems
    `without_result`.

    A display name that is the name or a file name of another system is left out, as a row would
    pass for that system's. Returns these mistakes.
    """
    rows = [
        (system_of_row(table, row), row) for table in list_tables(board) for row in table["rows"]
    ]
    holders: dict[str, set[str]] = {}
    for system, row in rows:
        for text in (system, row["name"]):
            holders.setdefault(look_of(text).casefold(), set()).add(system)
    mistakes, entries = list[str](), dict[str, About]()
    for system, about in systems.entries.items():
        shown = about.get("name", system)
        taken = holders.get(look_of(shown).casefold(), {system}) - {system}
        if taken:
            where = f"system {printable(system, 40)}"
            mistakes.append(
                f"{where}: 'name' must not be that of another system, got {_describe(shown)}"
            )
        entries[system] = {
            key: value for key, value in about.items() if not (taken and key == "name")
        }
    for system, row in rows:
        if entries.get(system):
            row["about"] = entries[system]
    board["without_result"] = sorted(entries.keys() - {system for system, _ in rows})
    return mistakes


def list_tables(board: Mapping[str, Any]) -> list[Any]:
    """All tables in their order; a board that an older version stored has none over all
    datasets.
    """
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


def name_systems(board: Mapping[str, Any]) -> dict[str, str]:
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
    return [*(key for key in _TITLES if key in keys), *sorted(keys.difference(_TITLES))]


def about_columns(rows: Sequence[Mapping[str, Any]]) -> list[Column]:
    """A column for each key besides the name that some row has; a page has all but cost and the
    first as filters.
    """
    keys = [key for key in about_keys(rows) if key != "name"]
    return [_make_column(key, place) for place, key in enumerate(keys)]


def _make_column(key: str, place: int) -> Column:
    kind, best = ("number", "low") if key == "cost" else ("filter" if place else "choice", "")
    title = _TITLES.get(key, printable(key, 40))
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
