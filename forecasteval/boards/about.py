"""`prediction/systems.json`, metadata about systems: columns of a board.

An object: the name of a system, as its files have it, and an object of `name` (to be shown), `organisation`,
`framework`, `model`, `cost` (per question) and `notes`, none of which is needed. Other keys are kept and shown, too.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import UNSAFE, InputError, printable
from forecasteval.common.files import decode_utf8, read_file
from forecasteval.common.records import number_text, parse_json, repeated_keys

from .names import show_distinct, system_of_row

SYSTEMS_FILE: Final = "systems.json"
_TEXTS: Final = ("name", "organisation", "framework", "model", "notes")
_TITLES: Final = {
    "organisation": "Organisation", "framework": "Framework", "model": "Model", "cost": "Cost per question",
    "notes": "Remarks",
}  # fmt: skip
_MISTAKES: Final = 5  # that are told
_WIDTH: Final = 60  # of a cell

About = dict[str, Any]


class Systems(NamedTuple):
    """The metadata by system, and the mistakes in the file; entries without a mistake are kept."""

    told: dict[str, About]
    mistakes: list[str]


# --- The file ---


def read_systems(folder: Path) -> Systems:
    """What is told of the systems whose predictions are in `folder`; nothing if there is no such file."""
    path = folder / SYSTEMS_FILE
    if not os.path.lexists(path):
        return Systems({}, [])
    try:
        value = parse_json(decode_utf8(read_file(path), SYSTEMS_FILE), SYSTEMS_FILE)
    except InputError as error:
        return Systems({}, [str(error).removeprefix(f"{printable(path)}: ").removeprefix(f"{SYSTEMS_FILE}: ")])
    if not isinstance(value, dict):
        return Systems({}, [f"expected an object of systems, got {_kind(value)}"])
    mistakes = [f"system {name}: given twice" for name in repeated_keys(value)]
    about = {name: _read_entry(name, entry, mistakes) for name, entry in value.items()}
    return Systems({name: entry for name, entry in about.items() if entry}, mistakes)


def show_mistakes(mistakes: Sequence[str]) -> str:
    """The first mistakes as one line."""
    more = [f"and {len(mistakes) - _MISTAKES} more"] if len(mistakes) > _MISTAKES else []
    return printable("; ".join([*mistakes[:_MISTAKES], *more]))


def _read_entry(name: str, entry: object, mistakes: list[str]) -> About:
    where = f"system {printable(name, 40) or repr(name)}"
    if not isinstance(entry, dict):
        mistakes.append(f"{where}: expected an object, got {_kind(entry)}")
        return {}
    mistakes += [f"{where}: '{printable(key, 40)}' is given twice" for key in repeated_keys(entry)]
    problems = {key: _problem(key, value) for key, value in entry.items()}
    mistakes += [
        f"{where}: '{printable(key, 40)}' must be {expected}, got {_kind(entry[key])}"
        for key, expected in problems.items()
        if expected
    ]
    return {key: value for key, value in entry.items() if not problems[key]}


def _problem(key: str, value: object) -> str:
    """What is expected of the value of a key, if it is not that."""
    if key in _TEXTS:
        return "" if isinstance(value, str) and value.strip() else "text"
    if key == "cost":
        return "" if number_text(value) and float(number_text(value)) >= 0 else "a number >= 0"
    values = value if isinstance(value, list) else [value]
    plain = all(one is None or isinstance(one, (str, bool)) or number_text(one) for one in values)
    return "" if plain else "text, a number, true, false, null or a list of these"


def _kind(value: object) -> str:
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    return printable(repr(value), 40)


# --- Boards ---


def add_about(board: dict[str, Any], systems: Systems) -> list[str]:
    """Give the rows of a board their metadata, as `about`, and the board the names of systems `without_result`.

    A shown name that is the name or a file name of another system is left out, as a row would pass for that system's.
    Returns these mistakes.
    """
    tables = [*board["pooled"], *board["tables"]]
    names = [[system_of_row(table, row) for row in table["rows"]] for table in tables]
    holders: dict[str, set[str]] = {}
    for table, systems_of_table in zip(tables, names, strict=True):
        for row, name in zip(table["rows"], systems_of_table, strict=True):
            for text in (name, row["name"]):
                holders.setdefault(_fold(text), set()).add(name)
    mistakes, told = list[str](), dict[str, About]()
    for name, about in systems.told.items():
        shown = about.get("name", name)
        if holders.get(_fold(shown), {name}) - {name}:
            mistakes.append(
                f"system {printable(name, 40)}: 'name' must not be that of another system, got {_kind(shown)}"
            )
            about = {key: value for key, value in about.items() if key != "name"}
        told[name] = about
    for table, systems_of_table in zip(tables, names, strict=True):
        table["rows"] = [
            {**row, "about": told[name]} if told.get(name) else row
            for row, name in zip(table["rows"], systems_of_table, strict=True)
        ]
    board["without_result"] = sorted(told.keys() - {name for part in names for name in part})
    return mistakes


def _fold(name: str) -> str:
    """A name without what a reader does not see: case, width, blanks and invisible characters."""
    return "".join(UNSAFE.sub("", unicodedata.normalize("NFKC", name)).casefold().split())


def shown_names(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What each row is called: its shown name, with that of its file where another row is called the same."""
    names = [str(row.get("about", {}).get("name", row["name"])) for row in rows]
    twice = {name for name in names if names.count(name) > 1}
    return show_distinct(
        [f"{name} ({row['name']})" if name in twice and name != row["name"] else name
         for name, row in zip(names, rows, strict=True)], _WIDTH,
    )  # fmt: skip


def about_keys(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The keys that some row has: the known ones first, then the others by name."""
    given = {key for row in rows for key in row.get("about", {})}
    known = ["name", *_TITLES]
    return [*(key for key in known if key in given), *sorted(given.difference(known))]


def about_columns(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[str], str]]:
    """A column for each key besides the name: its title, its cells, its side; none that is empty."""
    return [
        (
            _TITLES.get(key, printable(key, 40)),
            [printable(cell_text(row.get("about", {}).get(key, "")), _WIDTH) for row in rows],
            ">" if key == "cost" else "<",
        )
        for key in about_keys(rows)
        if key != "name"
    ]


def cell_text(value: object) -> str:
    """A value as a cell shows it."""
    if isinstance(value, list):
        return ", ".join(map(cell_text, value))
    if value is None or isinstance(value, bool):
        return {None: "", True: "yes", False: "no"}[value]
    return value if isinstance(value, str) else number_text(value)
