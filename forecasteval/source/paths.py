"""Paths to values within a record: `doc.id`, `messages.-1.content`,
`choices.0.message.content`.

A path is of keys, and of places of lists, which are counted from 0, or backwards from
-1. The text of a column that has dots in its name is that column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, Final, TypeGuard

from forecasteval.common.records import Loaded, repeated_keys

Path = tuple[str, ...]
MODEL_ROLES: Final = (
    "assistant",
    "model",
    "ai",
    "bot",
    "gpt",
    "BOT",
    "ASSISTANT",
    "AI",
)
_PARTS: Final = frozenset({"content", "parts"})
_MAX_DEPTH: Final = 10  # of what is looked through
_MAX_PLACES: Final = 20  # of a list
_MAX_TABLE_DEPTH: Final = 4  # of the lists of objects within one object
VALUE_KEY: Final = "prediction"  # of the records that are made of {id: value}
SYSTEM_KEY: Final = "system"  # of the rows that are made of {system: rows}


def parse_path(text: str, names: Sequence[str] = ()) -> Path:
    """Split a path, unless it is the name of a column."""
    if text in names:
        return (text,)
    return tuple(text.split("."))


def format_path(path: Path) -> str:
    """Write a path as `parse_path` reads it."""
    return ".".join(path)


def value_at(value: object, path: Sequence[str]) -> Any:
    """Find the value at a path, its parts joined; None if nothing or two
    values stand there.
    """
    for key in path:
        if isinstance(value, list):
            value = _item_at(value, key)
        elif isinstance(value, Mapping) and key not in repeated_keys(value):
            value = value.get(key)
        else:
            return None
    return join_parts(value, path[-1:])


def _item_at(values: list[Any], place: str) -> Any:
    try:
        return values[int(place)]
    except (ValueError, IndexError):
        return None


def join_parts(value: object, within: Sequence[str] = ()) -> object:
    """Return the joined text of a message in parts, `[{"type": "text", "text": …}, …]`,
    without its thoughts; any other value as it is.

    within: the key of the value. Of two objects with a text that are called
        something else than the
    parts of a message, each may be an answer.
    """
    if not _is_list_of_objects(value):
        return value
    are_parts = {*within} <= _PARTS or all("type" in part for part in value)
    if len(value) > 1 and not are_parts:
        return value
    spoken = [part for part in value if not part.get("thought")]
    texts = [part["text"] for part in spoken if "text" in part]
    if not texts or not all(isinstance(text, str) for text in texts):
        return value
    return "".join(texts)


def _is_list_of_objects(value: object) -> TypeGuard[list[Mapping[str, Any]]]:
    return isinstance(value, list) and all(isinstance(item, Mapping) for item in value)


def list_leaves(value: object, path: Path = ()) -> Iterator[tuple[Path, object]]:
    """List the texts, numbers and lists of such that stand in a record,
    with their paths.

    Of a chat these are its first message, and its last if a model wrote it.
    """
    value = join_parts(value, path[-1:])
    if len(path) > _MAX_DEPTH:
        return
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from list_leaves(inner, (*path, str(key)))
    elif _is_chat(value):
        yield from _list_messages(value, path)
    elif isinstance(value, list) and any(
        isinstance(item, (Mapping, list)) for item in value
    ):
        for place, item in enumerate(value[:_MAX_PLACES]):
            yield from list_leaves(item, (*path, str(place)))
    else:
        yield path, value


def _is_chat(value: object) -> bool:
    if not value or not _is_list_of_objects(value):
        return False
    return all(map(_read_role, value))


def _read_role(message: Mapping[str, Any]) -> object:
    return message.get("role", message.get("from"))


def _list_messages(messages: Any, path: Path) -> Iterator[tuple[Path, object]]:
    """List the first message, the first one that a model did not write, and the
    last of a model.
    """
    is_reply = [_read_role(message) in MODEL_ROLES for message in messages]
    places = {0}
    if False in is_reply:
        places.add(is_reply.index(False))
    for place in sorted(places):
        is_last_reply = is_reply[place] and place == len(messages) - 1
        if not is_last_reply:
            yield from list_leaves(messages[place], (*path, str(place)))
    if is_reply[-1]:
        yield from list_leaves(messages[-1], (*path, "-1"))


def list_tables(table: Loaded) -> list[list[Any]]:
    """List the rows that a file may have beside its records: lists of objects within
    its one object, the rows of its columns, and {id: value} within it.

    So pandas and Hugging Face write columns: `{"id": ["q1", …], "answer": […]}`,
    `{"id": {"0": "q1", …}, …}` and `{"columns": ["id", …], "data": [["q1", …], …]}`.
    """
    if not table.is_map:
        return []
    value = {row["id"]: row[VALUE_KEY] for row in table}
    tables = [*_list_inner(value), _turn_columns(value)]
    # An object of many keys is {id: {…}}, and what is within them are no tables.
    if len(value) <= _MAX_PLACES:
        tables += [_list_pairs(inner) for inner in value.values()]
    return [rows for rows in tables if rows]


def _list_pairs(value: object) -> list[dict[str, Any]]:
    """Make records of {id: text}; [] of anything else."""
    if not isinstance(value, Mapping) or len(value) < 2:
        return []
    if any(isinstance(answer, Mapping) for answer in value.values()):
        return []
    return [{"id": name, VALUE_KEY: answer} for name, answer in value.items()]


def join_systems(table: Loaded, ids: Set[str] | None) -> list[list[Any]]:
    """List the rows of what one object, or one within it, holds by name, each
    with its name.

    So scripts write several systems: `{"gpt": {"q1": "Yes", …}, "claude": {…}}`. Of
    {id: answer} the ids may be known: then an object without any of them is none.
    """
    if not table.is_map:
        return []
    value = {row["id"]: row[VALUE_KEY] for row in table}
    inner = [held for held in value.values() if isinstance(held, Mapping)]
    holders = [holder for holder in (value, *inner) if len(holder) <= _MAX_PLACES]
    joined = [_name_rows(holder, ids) for holder in holders]
    return [rows for rows in joined if rows]


def _name_rows(holder: Mapping[str, Any], ids: Set[str] | None) -> list[dict[str, Any]]:
    """Make rows of {name: rows} and {name: {id: value}}."""
    named = []
    for name, held in holder.items():
        rows: list[Any] = []
        if isinstance(held, Mapping) and (ids is None or not ids.isdisjoint(held)):
            rows = [{"id": key, VALUE_KEY: value} for key, value in held.items()]
        elif _is_list_of_objects(held):
            rows = held
        named += [{SYSTEM_KEY: name, **row} for row in rows]
    return named


def _list_inner(value: object, depth: int = 0) -> Iterator[list[Any]]:
    """List the outermost lists of objects within a value."""
    if value and _is_list_of_objects(value):
        yield value
    elif isinstance(value, Mapping) and depth < _MAX_TABLE_DEPTH:
        for inner in value.values():
            yield from _list_inner(inner, depth + 1)


def _turn_columns(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Make rows of columns; [] if a value holds none."""
    names = value.get("columns")
    rows = value.get("data")
    if isinstance(names, list) and isinstance(rows, list):
        return _name_cells(names, rows)
    columns = [*value.values()]
    if columns and all(isinstance(column, Mapping) for column in columns):
        return _turn_mappings(value)
    if len(columns) > 1 and all(isinstance(column, list) for column in columns):
        lengths = {len(column) for column in columns}
        if len(lengths) == 1:
            return _name_cells([*value], zip(*columns, strict=True))
    return []


def _name_cells(names: Sequence[object], rows: Iterable[Any]) -> list[dict[str, Any]]:
    """Make rows of lists of cells; [] if one of them has not a cell for each name."""
    named = []
    for cells in rows:
        if not isinstance(cells, Sequence) or len(cells) != len(names):
            return []
        named.append(dict(zip(map(str, names), cells, strict=True)))
    return named


def _turn_mappings(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Make rows of columns that are {key of a row: cell}; [] if their keys differ."""
    first, *other_columns = columns.values()
    keys = [*first]
    if any([*column] != keys for column in other_columns):
        return []
    rows = []
    for key in keys:
        rows.append({name: column[key] for name, column in columns.items()})
    return rows
