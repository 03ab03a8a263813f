"""Dataclasses as plain values and back, by pydantic, where results are stored, ranked or read.

Its import takes longer than the start of a command: what only scores a file must not import it.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError

from .errors import InputError, printable

Form = TypeVar("Form")
# JSON has null for a score that is nan, and a text for every key of an object.
Score = Annotated[float, BeforeValidator(lambda value: math.nan if value is None else value)]
Key = Annotated[int | str, Field(union_mode="left_to_right")]


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def to_record(value: object) -> Any:
    """Return a dict in the place of each dataclass, without fields that have their defaults."""
    kind: Any = type(value)
    return _adapter(kind).dump_python(value, exclude_defaults=True)


def from_record(kind: type[Form], value: object, where: str = "") -> Form:
    """Read a value of any type, of dataclasses what `to_record` makes of them and JSON has kept.

    Keys that a dataclass does not have are ignored. Raises InputError for a value of another type,
    and for a key that is missing.
    """
    key: Any = kind  # types are hashable
    try:
        form: Form = _adapter(key).validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, (where or kind.__name__, *first["loc"])))
        got = printable(repr(first["input"]), 40)
        raise InputError(place, first["msg"].replace("Input should be", "expected"), got) from None
    return form
