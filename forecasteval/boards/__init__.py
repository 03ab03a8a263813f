"""How rankings and comparisons are shown: tables, text, pages, charts.

`rank` and `compare` are what Python users need; the numbers come from
`forecasteval.ranking`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .api import compare, rank

__all__ = ["compare", "rank"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(name)
    # Here: scoring a file needs it not, and it takes a tenth of its start
    from . import api

    return getattr(api, name)
