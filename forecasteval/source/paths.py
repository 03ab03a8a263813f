"""Paths to values within a record: `doc.id`, `messages.-1.content`, `choices.0.message.content`.

A path is of keys, and of places of lists, which are counted from 0, or backwards from -1. The text
of a column that has dots in its name is that column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from forecasteval.common.records import repeated_keys

Path = tuple[str, ...]
MODEL_ROLES: Final = ("assistant", "model", "ai", "bot", "gpt")
_MAX_DEPTH: Final = 10  # of what is looked through
_MAX_PLACES: Final = 20  # of a list


def parse_path(text: str, names: Sequence[str] = ()) -> Path:
    """Split a path, unless it is the name of a column."""
    return (text,) if text in names else tuple(text.split("."))


def format_path(path: Path) -> str:
    """Write a path as `parse_path` reads it."""
    return ".".join(path)


def value_at(value: object, path: Sequence[str]) -> Any:
    """Find the value at a path, its parts joined; None if nothing or two values stand there."""
    for key in path:
        if isinstance(value, list):
            value = _item_at(value, key)
        elif isinstance(value, Mapping) and key not in repeated_keys(value):
            value = value.get(key)
        else:
            return None
    return join_parts(value)


def _item_at(values: list[Any], place: str) -> Any:
    try:
        return values[int(place)]
    except (ValueError, IndexError):
        return None


def join_parts(value: object) -> object:
    """Return the joined text of a message in parts, `[{"type": "text", "text": …}, …]`, without its
    thoughts; any other value as it is.
    """
    if not isinstance(value, list) or not all(isinstance(part, Mapping) for part in value):
        return value
    texts = [part["text"] for part in value if "text" in part and not part.get("thought")]
    if not texts or not all(isinstance(text, str) for text in texts):
        return value
    return "".join(texts)


def list_leaves(value: object, path: Path = ()) -> Iterator[tuple[Path, object]]:
    """List the texts, numbers and lists of such that stand in a record, with their paths.

    Of a chat these are its first message, and its last if a model wrote it.
    """
    value = join_parts(value)
    if len(path) > _MAX_DEPTH:
        return
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from list_leaves(inner, (*path, str(key)))
    elif _is_chat(value):
        yield from _list_messages(value, path)
    elif isinstance(value, list) and any(isinstance(item, (Mapping, list)) for item in value):
        for place, item in enumerate(value[:_MAX_PLACES]):
            yield from list_leaves(item, (*path, str(place)))
    else:
        yield path, value


def _is_chat(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(message, Mapping) and "role" in message for message in value)
    )


def _list_messages(messages: Any, path: Path) -> Iterator[tuple[Path, object]]:
    if len(messages) > 1:
        yield from list_leaves(messages[0], (*path, "0"))
    if messages[-1]["role"] in MODEL_ROLES:
        yield from list_leaves(messages[-1], (*path, "-1"))
