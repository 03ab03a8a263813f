"""Dataclasses as plain values and back, where results are stored, ranked or read.

What is read is checked by pydantic, whose import takes longer than the start of a command. So it is
imported for what is not plainly right: boards, lines of histories, and any damaged value.
"""

from __future__ import annotations

import math
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, Final, TypeVar, get_args, get_origin, get_type_hints

from .errors import InputError, printable

Form = TypeVar("Form")


class _NullIsNan:
    """Marks a number for which JSON has null where it is nan."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        def replace_null(value: object) -> object:
            return math.nan if value is None else value

        return core_schema.no_info_before_validator_function(replace_null, handler(source))


class _FirstThatFits:
    """Marks a union whose first type wins: JSON has a text for every key of an object."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return {**handler(source), "mode": "left_to_right"}


class _Exactly:
    """Marks a type whose values are not made of others."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return {**handler(source), "strict": True}


Score = Annotated[float, _NullIsNan()]
Key = Annotated[int | str, _FirstThatFits()]
StrictInt = Annotated[int, _Exactly()]
StrictFloat = Annotated[float, _Exactly()]

_PLAIN: Final = frozenset({str, int, float, bool, type(None)})
_NO_DEFAULT: Final = object()


@cache
def _adapter(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


# --- Writing ---


def to_record(value: object) -> Any:
    """Return a dict in the place of each dataclass, without fields that have their defaults."""
    kind: Any = type(value)
    if kind in _PLAIN:
        return value
    if hasattr(kind, "__dataclass_fields__"):
        values = vars(value)
        defaults = _list_defaults(kind)
        given = ((name, values[name], default) for name, default in defaults)
        return {name: to_record(item) for name, item, default in given if item != default}
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


def from_record(kind: type[Form], value: object, where: str = "") -> Form:
    """Read a value of any type, of dataclasses what `to_record` makes of them and JSON has kept.

    Keys that a dataclass does not have are ignored. Raises InputError for a value of another type,
    and for a key that is missing.
    """
    if _is_exact(value, kind):
        exact: Any = value
        return exact  # type: ignore[no-any-return]
    key: Any = kind  # types are hashable
    if is_dataclass(kind) and isinstance(value, dict):
        types = _find_types(key)
        given = {name: value[name] for name in types if name in value}
        required = (name for name, default in _list_defaults(key) if default is _NO_DEFAULT)
        if given.keys() >= {*required} and all(
            _is_exact(item, types[name]) for name, item in given.items()
        ):
            return key(**given)  # type: ignore[no-any-return]
    from pydantic import ValidationError

    try:
        form: Form = _adapter(key).validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, (where or kind.__name__, *first["loc"])))
        got = printable(repr(first["input"]), 40)
        raise InputError(place, first["msg"].replace("Input should be", "expected"), got) from None
    return form


@cache
def _find_types(kind: Any) -> dict[str, Any]:
    """Find the types of the fields of a dataclass."""
    types = get_type_hints(kind, include_extras=True)
    return {field.name: types[field.name] for field in fields(kind)}


def _is_exact(value: object, kind: Any) -> bool:
    """Return whether a value is plainly of a type: a scalar, or an object of such.

    False says nothing: pydantic decides what else is of the type, and what can be made of it.
    """
    if kind is Any or kind is object:
        return True
    if kind in _PLAIN:
        return type(value) is kind
    origin = get_origin(kind)
    parts = get_args(kind)
    if origin is dict:
        key_kind, item_kind = parts
        return type(value) is dict and all(
            _is_exact(key, key_kind) and _is_exact(item, item_kind) for key, item in value.items()
        )
    if origin is UnionType:
        return any(_is_exact(value, part) for part in parts)
    if origin is Annotated and not isinstance(parts[1], _FirstThatFits):
        return _is_exact(value, parts[0])
    return origin is Annotated and (type(value) is int or value == "")
