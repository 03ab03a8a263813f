"""`prediction/systems.json`: what is told of systems besides their scores; columns of a board, and filters by them.

An object: the name of a system, as its files have it, and an object of `name` (to be shown), `organisation`,
`framework`, `model`, `cost` (per question) and `notes`, none of which is needed. Other keys are kept and shown, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, grouped_names, printable, told_apart
from forecasteval.common.files import decode_utf8, read_file
from forecasteval.common.records import number_text, parse_json, repeated_keys

from .names import system_of_row

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
    """What the file tells, by system, and the mistakes in it, of which the rest is free."""

    told: dict[str, About]
    mistakes: str = ""


# --- The file ---


def read_systems(folder: Path) -> Systems:
    """What is told of the systems whose predictions are in `folder`; nothing if there is no such file."""
    path = folder / SYSTEMS_FILE
    if not os.path.lexists(path):
        return Systems({})
    try:
        value = parse_json(decode_utf8(read_file(path), SYSTEMS_FILE), SYSTEMS_FILE)
    except InputError as error:
        return Systems({}, str(error).removeprefix(f"{printable(path)}: ").removeprefix(f"{SYSTEMS_FILE}: "))
    if not isinstance(value, dict):
        return Systems({}, f"expected an object of systems, got {_kind(value)}")
    mistakes = [f"system {name}: given twice" for name in repeated_keys(value)]
    about = {name: _read_entry(name, entry, mistakes) for name, entry in value.items()}
    told = "; ".join(mistakes[:_MISTAKES])
    more = f"; and {len(mistakes) - _MISTAKES} more" if len(mistakes) > _MISTAKES else ""
    return Systems({name: entry for name, entry in about.items() if entry}, printable(told + more))


def require_predictions(path: Path, folder: Path) -> None:
    """InputError for the file in `folder` that tells of systems."""
    if path.name == SYSTEMS_FILE and path.resolve().parent == folder.resolve():
        raise InputError(str(path), "expected predictions", "what is told of systems; name another file")


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
    """Tell of the rows of a board what is known, under `about`; the names of the systems that have no row."""
    found: set[str] = set()
    for table in [*board["pooled"], *board["tables"]]:
        names = [system_of_row(table, row) for row in table["rows"]]
        table["rows"] = [
            {**row, "about": systems.told[name]} if name in systems.told else row
            for name, row in zip(names, table["rows"], strict=True)
        ]
        found.update(names)
    return sorted(systems.told.keys() - found)


def shown_names(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What each row is called: its shown name, with that of its file where another row is called the same."""
    names = [str(row.get("about", {}).get("name", row["name"])) for row in rows]
    twice = {name for name in names if names.count(name) > 1}
    return told_apart(
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


# --- Filters ---


def read_filters(given: Iterable[str], folder: Path) -> dict[str, list[str]]:
    """`KEY=VALUE` as the values of each key; InputError for anything else, and for a key that no system has."""
    filters: dict[str, list[str]] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not (key and equals):
            raise InputError("--where", "expected KEY=VALUE", printable(text) or "''")
        filters.setdefault(key, []).append(value)
    told = read_systems(folder).told.values() if filters else []
    known = sorted({key for about in told for key in about})
    for key, values in filters.items():
        if key not in known:
            there = f"a key of {SYSTEMS_FILE}: {', '.join(known)}" if known else f"systems told of in {SYSTEMS_FILE}"
            raise InputError("--where", f"expected {there}", printable(key))
        values_there = sorted(set().union(*(_values(about, key) for about in told)))
        for value in values:
            if value not in values_there:
                import difflib  # here: it costs more than all the rest of the start-up

                near = difflib.get_close_matches(value, values_there) or values_there[:5]
                named = ", ".join(printable(one, 40) for one in near)
                raise InputError("--where", f"expected a value of {printable(key)}, like {named}", printable(value))
    return filters


def select(board: Mapping[str, Any], filters: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The board with the rows that have one of the values of every key, and what that left out, under `where`."""

    def fits(row: Mapping[str, Any]) -> bool:
        return all(_values(row.get("about", {}), key) & {*values} for key, values in filters.items())

    def shown(tables: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        parts = [{**table, "rows": [row for row in table["rows"] if fits(row)]} for table in tables]
        return [part for part in parts if part["rows"]]

    found = {part: shown(board[part]) for part in ("pooled", "tables")}
    counts = {"shown": _count(found["tables"]), "of": _count(board["tables"])}
    return {**board, **found, "where": {"filters": filters, **counts}}


def _values(about: Mapping[str, Any], key: str) -> set[str]:
    value = about.get(key)
    return {cell_text(one) for one in (value if isinstance(value, list) else [value])} if value is not None else set()


def _count(tables: Iterable[Mapping[str, Any]]) -> int:
    return sum(len(table["rows"]) for table in tables)


def told_of(board: Mapping[str, Any]) -> list[str]:
    """What a nightly run says of filters, and of systems that are told of and have no result."""
    lines = []
    if "where" in board:
        where = board["where"]
        named = " and ".join(f"{key}={' or '.join(values)}" for key, values in where["filters"].items())
        lines.append(printable(f"{where['shown']} of {where['of']} rows, {named}; ranks and tests are those of all"))
    if board["without_result"]:
        lines.append(f"{SYSTEMS_FILE}: without a result: {grouped_names(board['without_result'])}")
    return lines
