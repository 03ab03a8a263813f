"""Dataclasses as plain values and back, where results are stored, ranked or read.

What is read is checked here: the import of a library that does so takes a
tenth of a night.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from functools import cache, partial
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from .errors import InputError, printable

Form = TypeVar("Form")
_PLAIN: Final = frozenset({str, int, float, bool, type(None)})
_NO_DEFAULT: Final = object()


# --- Writing ---


def to_record(value: object) -> Any:
    """Return a dict in the place of each dataclass, without fields that have
    their defaults.
    """
    kind: Any = type(value)
    if kind in _PLAIN:
        return value
    if hasattr(kind, "__dataclass_fields__"):
        values = vars(value)
        defaults = _list_defaults(kind)
        given = ((name, values[name], default) for name, default in defaults)
        return {
            name: to_record(item) for name, item, default in given if item != default
        }
    if isinstance(value, dict):
        return {key: to_record(item) for key, item in value.items()}
    if kind is list or kind is tuple:
        items: Any = value
        return kind([to_record(item) for item in items])
    return value


@cache
def _list_defaults(kind: Any) -> list[tuple[str, object]]:
    """List the fields of a dataclass with their defaults."""
    defaults: list[tuple[str, object]] = []
    for field in fields(kind):
        if field.default_factory is not MISSING:
            defaults.append((field.name, field.default_factory()))
        elif field.default is not MISSING:
            defaults.append((field.name, field.default))
        else:
            defaults.append((field.name, _NO_DEFAULT))
    return defaults


# --- Reading ---

_Read = Callable[[Any], Any]  # of a value as JSON has it


class _MisfitError(Exception):
    """A value of another type; `place` leads to it, the innermost key first."""

    def __init__(self, expected: str, value: object) -> None:
        self.expected = expected
        self.value = value
        self.place: list[object] = []


class _Nothing:
    """Stands for the value of a key that is missing."""

    def __repr__(self) -> str:
        return "nothing"


def from_record(kind: type[Form], value: object, where: str = "") -> Form:
    """Read a value of any type, of dataclasses what `to_record` makes of them and
    JSON has kept.

    Keys that a dataclass does not have are ignored. Raises InputError for a value of
    another type, and for a key that is missing.
    """
    key: Any = kind  # types are hashable
    try:
        form: Form = _find_reader(key)(value)
    except _MisfitError as error:
        place = ".".join(map(str, (where or kind.__name__, *reversed(error.place))))
        got = printable(repr(error.value), 40)
        raise InputError(place, f"expected {error.expected}", got) from None
    return form


@cache
def _find_reader(kind: Any) -> _Read:
    """Find what reads the values of a type."""
    if kind in _NAMES:
        return partial(_read_plain, kind)
    if hasattr(kind, "__dataclass_fields__"):
        hints = get_type_hints(kind, include_extras=True)
        readers = {
            field.name: _find_reader(hints[field.name]) for field in fields(kind)
        }
        required = {
            name for name, default in _list_defaults(kind) if default is _NO_DEFAULT
        }
        return partial(_read_dataclass, kind, readers, required)

    origin = get_origin(kind)
    parts = get_args(kind)
    if origin is Annotated:
        read: _Read = parts[1]
        return read
    if origin is Literal:
        return partial(_read_literal, parts)
    readers_of_parts = [_find_reader(part) for part in parts if part is not Ellipsis]
    if origin in (Union, types.UnionType):
        return partial(_read_union, readers_of_parts)
    if origin is list:
        return partial(_read_list, *readers_of_parts)
    if origin is tuple:
        return partial(_read_tuple, readers_of_parts)
    if origin is dict:
        return partial(_read_dict, *readers_of_parts)
    return _read_anything


_NAMES: Final[dict[Any, str]] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}


def _read_anything(value: object) -> object:
    return value


def _read_plain(kind: type, value: object) -> object:
    """Read a scalar; a whole number is a number, too."""
    if type(value) is kind:
        return value
    if kind is float and type(value) is int and abs(value) < _TOO_LARGE:
        return float(value)
    raise _MisfitError(_NAMES[kind], value)


_TOO_LARGE: Final = 10**300  # for a float


def _read_dataclass(
    kind: Any, readers: Mapping[str, _Read], required: set[str], value: object
) -> object:
    if type(value) is not dict:
        raise _MisfitError("an object", value)
    values = {}
    for name, read in readers.items():
        if name in value:
            values[name] = _read_at(name, read, value[name])
        elif name in required:
            _read_at(name, _refuse, _Nothing())
    return kind(**values)


def _refuse(value: object) -> object:
    raise _MisfitError("this key", value)


def _read_at(key: object, read: _Read, value: object) -> object:
    """Read what stands under a key, which an error names."""
    try:
        return read(value)
    except _MisfitError as error:
        error.place.append(key)
        raise


def _read_union(readers: Sequence[_Read], value: object) -> object:
    """Read a value by the first type that it has; what is told is the misfit
    of the last one.
    """
    for read in readers[:-1]:
        try:
            return read(value)
        except _MisfitError:
            continue
    return readers[-1](value)


def _read_literal(choices: Sequence[object], value: object) -> object:
    if value in choices and type(value) in map(type, choices):
        return value
    raise _MisfitError(" or ".join(map(repr, choices)), value)


def _read_list(read: _Read, value: object) -> object:
    if type(value) is not list:
        raise _MisfitError("a list", value)
    return [_read_at(place, read, item) for place, item in enumerate(value)]


def _read_tuple(readers: Sequence[_Read], value: object) -> object:
    if not isinstance(value, (list, tuple)) or len(value) != len(readers):
        raise _MisfitError(f"a list of {len(readers)}", value)
    pairs = enumerate(zip(readers, value, strict=True))
    return tuple(_read_at(place, read, item) for place, (read, item) in pairs)


def _read_dict(read_key: _Read, read: _Read, value: object) -> object:
    if type(value) is not dict:
        raise _MisfitError("an object", value)
    return {read_key(key): _read_at(key, read, item) for key, item in value.items()}


def _read_score(value: object) -> object:
    """Read a number, for which JSON has null where it is nan."""
    if value is None:
        return math.nan
    return _read_plain(float, value)


def _read_key(value: object) -> object:
    """Read a number or a text that is a key: JSON has a text for every
    key of an object.
    """
    if isinstance(value, str) and value.removeprefix("-").isdecimal():
        return int(value)
    if type(value) is int:
        return value
    return _read_plain(str, value)


Score = Annotated[float, _read_score]
Key = Annotated[int | str, _read_key]
