"""A grid of cases as one test: `each` is written as `pytest.mark.parametrize` is."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import pytest

_PARAM: Final = type(pytest.param())


def each(
    names: str | Sequence[str], rows: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test for every row, in a temporary folder of its own, and report all rows that fail.

    Other fixtures are shared by the rows: a test that changes one (monkeypatch, a server) takes
    `parametrize`.
    """
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = [
        row.values if isinstance(row, _PARAM) else (row,) if len(keys) == 1 else row for row in rows
    ]
    assert table, "no rows"

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run_rows(**fixtures: Any) -> None:
            failures = []
            for number, row in enumerate(table):
                if "tmp_path" in fixtures:
                    (folder := fixtures["tmp_path"] / str(number)).mkdir()
                    own = {**fixtures, "tmp_path": folder}
                else:
                    own = fixtures
                try:
                    test(**own, **dict(zip(keys, row, strict=True)))
                except Exception as error:
                    error.add_note(f"in row {number}: {row!r}"[:500])
                    failures.append(error)
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(table)} rows", failures)

        signature = inspect.signature(test)
        rest = [parameter for name, parameter in signature.parameters.items() if name not in keys]
        run_rows.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]
        return run_rows

    return decorate
