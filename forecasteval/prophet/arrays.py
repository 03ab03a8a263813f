"""Arrays as callers give them, checked: flat columns of forecasts, tables of answers;
and sums over them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from forecasteval.common.errors import InputError, printable

# Of sums and products of decimals: 0.25 * 3 + 0.249, 0.29 * 100
ROUNDING: Final = 1e-12

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Names = NDArray[np.object_]


def flat_columns(
    where: str, values: Mapping[str, ArrayLike], offsets: ArrayLike | None
) -> tuple[list[Floats], Ints, Ints]:
    """Make float arrays of one length, with the forecasts' starts and sizes; InputError
    if they do not fit.
    """
    try:
        arrays = [
            np.asarray(value, dtype=float).reshape(-1) for value in values.values()
        ]
    except (TypeError, ValueError):
        raise InputError(
            where, f"{' and '.join(values)} must be arrays of numbers"
        ) from None
    size = len(arrays[0])
    if offsets is None:
        offsets = [0, size]
    ends = np.asarray(offsets, dtype=np.int64)
    sizes = np.diff(ends)
    is_whole = len(ends) > 0 and ends[0] == 0 and ends[-1] == size
    if not is_whole or (sizes < 1).any():
        raise InputError(
            where, f"offsets must rise from 0 to {size}", printable(ends.tolist(), 60)
        )
    for name, array in zip(values, arrays, strict=True):
        if len(array) != size:
            raise InputError(
                where,
                f"'{name}' must have {size} values like the first array",
                str(len(array)),
            )
        bad = ~((array >= 0) & (array <= 1))
        if bad.any():
            raise InputError(where, f"'{name}' must lie in [0, 1]", str(array[bad][0]))
    return arrays, ends[:-1], sizes


def answer_table(
    where: str, forecaster: ArrayLike, event: ArrayLike, name: str, values: ArrayLike
) -> tuple[Floats, Floats]:
    """Make a table of the values, events × forecasters, and one of which are
    there: 1 or 0.

    InputError unless both are numbered from 0 without gaps, and each pair
    has one value.
    """
    numbers = [np.asarray(forecaster), np.asarray(event)]
    offsets = range(np.size(values) + 1)
    (y,), _, _ = flat_columns(where, {name: values}, offsets)
    if any(column.shape != y.shape for column in numbers):
        sizes = f"{numbers[0].size}, {numbers[1].size} and {y.size}"
        raise InputError(where, "expected arrays of one length", sizes)
    if not len(y):
        raise InputError(where, "expected observations", "none")
    try:
        is_numbered = all(np.bincount(column).all() for column in numbers)
    except (TypeError, ValueError):  # no integers, or below 0
        is_numbered = False
    if not is_numbered:
        expected = "forecasters and problems must be integers from 0 without gaps"
        raise InputError(where, expected)
    columns, rows = (column.astype(np.int64) for column in numbers)
    table, present = np.zeros((2, rows.max() + 1, columns.max() + 1))
    table[rows, columns], present[rows, columns] = y, 1
    if present.sum() < len(y):
        raise InputError(
            where, "expected one value of each forecaster and problem", "several"
        )
    return table, present


def positions(starts: Ints, sizes: Ints) -> Ints:
    """List where the elements of segments stand, one segment after the other."""
    ends = np.cumsum(sizes)
    return np.repeat(starts - ends + sizes, sizes) + np.arange(sizes.sum())


def all_of_each(good: Bools, starts: Ints) -> Bools:
    """Return whether all values of each segment are true."""
    return np.logical_and.reduceat(good, starts)


def ends_of_runs(*columns: NDArray[Any]) -> tuple[Ints, Ints]:
    """Find where the runs of equal rows of a table end, and how long they are."""
    is_last = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    if len(columns[0]):
        is_last = np.append(is_last, True)
    ends = np.flatnonzero(is_last) + 1
    return ends, np.diff(ends, prepend=0)


def weighted_means(values: Floats, weight: Floats, row: Ints, rows: int) -> Floats:
    """Compute Σ w x / Σ w of every row, over the values that are not nan;
    nan without any.
    """
    has = ~np.isnan(values)
    sums = np.bincount(row[has], (weight * values)[has], rows)
    with np.errstate(invalid="ignore"):
        return sums / np.bincount(row[has], weight[has], rows)


def plain_values(column: NDArray[Any]) -> list[Any]:
    """List what results hold of a column: None for nan."""
    return [None if value != value else value for value in column.tolist()]


Columns = dict[str, NDArray[Any] | list[Any]]


def make_rows(columns: Mapping[str, NDArray[Any] | list[Any]]) -> list[Any]:
    """Make the rows of a table as results hold them: a dict each, None for nan."""
    lists = []
    for column in columns.values():
        if not isinstance(column, list):
            column = plain_values(column)
        lists.append(column)
    return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]
