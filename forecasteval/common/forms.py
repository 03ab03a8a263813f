"""Dataclasses as plain JSON values and back, with one error for what has another form."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from typing import (
    Any,
    Final,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from .errors import EvaluationError, printable

Form = TypeVar("Form")
# Metadata of a field that is written also where it has its default.
ALWAYS: Final = {"always": True}
_LEAVES: Final = frozenset((str, int, float, bool, type(None)))
_PLAIN: Final[dict[object, set[type]]] = {bool: {bool}, int: {int}, float: {float, int}, str: {str}}


class FormError(EvaluationError):
    """Stored JSON that has another form than this version writes; what it holds is made again."""


def to_record(value: Any) -> Any:
    """Return the value with a dict in the place of each dataclass. Fields that have their defaults
    are left out, unless they are `ALWAYS` there.
    """
    kind: Any = type(value)
    if kind in _LEAVES:
        return value
    if is_dataclass(value):
        parts = [(name, default, getattr(value, name)) for name, default in _written(kind)]
        return {name: to_record(part) for name, default, part in parts if part != default}
    if isinstance(value, dict):
        return {key: to_record(part) for key, part in value.items()}
    return kind(map(to_record, value)) if kind in (list, tuple) else value


def from_record(kind: type[Form], value: object) -> Form:
    """Return the dataclass that `to_record` was given, from what JSON has kept of it.

    Null stands for a score that is nan. Raises FormError for a value of another type, for a key
    that is missing, and for one that the dataclass does not have.
    """
    form: Form = read_as(kind, value, kind.__name__)
    return form


def _default(field: Field[object]) -> object:
    """Return the value that a field has where none is given; `MISSING` if there must be one."""
    return field.default if field.default_factory is MISSING else field.default_factory()


@cache
def _written(kind: Any) -> list[tuple[str, object]]:
    """List the fields of a dataclass, each with the value that is left out."""
    return [
        (field.name, MISSING if field.metadata == ALWAYS else _default(field))
        for field in fields(kind)
    ]


@cache
def _expected(kind: Any) -> tuple[dict[str, object], set[str]]:
    """Find the types of a dataclass's fields by name, and the fields that must be given."""
    hints = get_type_hints(kind)
    types = {field.name: hints[field.name] for field in fields(kind)}
    return types, {field.name for field in fields(kind) if _default(field) is MISSING}


def read_as(kind: Any, value: Any, where: str) -> Any:
    """Read a value of any type: of dataclasses, plain values, lists, tuples and dicts of them."""
    if kind in (Any, object) or type(value) in _PLAIN.get(kind, ()):
        return value
    if kind is float and value is None:
        return float("nan")
    if is_dataclass(kind) and isinstance(value, Mapping):
        return _read_fields(kind, value, where)
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        if value is None and types.NoneType in parts:
            return None
        for part in parts:
            with contextlib.suppress(FormError):
                return read_as(part, value, where)
    elif origin is list and isinstance(value, list):
        if {*map(type, value)} <= _PLAIN.get(parts[0], set()):  # scores of many questions
            return list(value)
        return [read_as(parts[0], part, f"{where}[{at}]") for at, part in enumerate(value)]
    elif origin is tuple and isinstance(value, (list, tuple)) and len(value) == len(parts):
        return tuple(read_as(part, each, where) for part, each in zip(parts, value, strict=True))
    elif origin is dict and isinstance(value, dict):
        return {
            _read_key(parts[0], key, where): read_as(parts[1], part, f"{where}.{key}")
            for key, part in value.items()
        }
    elif origin is Literal and value in parts:
        return value
    raise FormError(f"{where}: expected another type of value, got {printable(repr(value), 40)}")


def _read_key(kind: object, key: object, where: str) -> object:
    """Read a key of an object, of which JSON makes a text."""
    if int in (kind, *get_args(kind)) and isinstance(key, str) and key.isdecimal():
        return read_as(kind, int(key), where)
    return read_as(kind, key, where)


def _read_fields(kind: Any, value: Mapping[str, object], where: str) -> object:
    hints, needed = _expected(kind)
    if wrong := (needed - value.keys()) | (value.keys() - hints.keys()):
        raise FormError(f"{where}: expected the keys of this version, not so: {min(wrong)}")
    return kind(**{key: read_as(hints[key], part, f"{where}.{key}") for key, part in value.items()})
