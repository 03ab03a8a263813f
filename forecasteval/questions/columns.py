"""The other columns of a dataset that an item of a result keeps, for breakdowns
and data frames.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, TypeVar

from forecasteval.common.records import is_null
from forecasteval.display.tables import COLUMN_PREFIX

from .series import read_series

MAX_TEXT: Final = 80  # characters of a text
Item = TypeVar("Item")
_OURS: Final = frozenset(
    {"id", "prompt", "answer", "prediction", "ground_truth", "level", "Std"}
)


def add_columns(
    item: Item, question: Mapping[str, object], left_out: Collection[str] = _OURS
) -> Item:
    """Add the columns of a question that hold one value to its item, as "question." +
    name, and its series as "cluster".

    Lists, objects and blanks are left out, and a long text is cut to
    `MAX_TEXT` characters.
    """
    columns: Any = item  # a TypedDict, to which no type can say that it has more keys
    if series := read_series(question):
        columns["cluster"] = series
    for name, value in question.items():
        if value is None or name in left_out:  # most
            continue
        if isinstance(value, str):
            columns[COLUMN_PREFIX + name] = value[:MAX_TEXT]
        elif isinstance(value, (int, float)) and not is_null(value):
            columns[COLUMN_PREFIX + name] = value
    return item
