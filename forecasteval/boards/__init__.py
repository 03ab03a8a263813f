"""Results as tables: rankings, paired comparisons, stored results and the nightly run over a
folder.

This wing knows results (their items, signature or ranking), and no benchmark: the nightly run is
handed the function that scores a file. `rank` and `compare` are what Python users need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forecasteval.ranking.comparison import compare
    from forecasteval.ranking.datasets import rank

__all__ = ["compare", "rank"]


def __getattr__(
    name: str,
) -> Any:  # scoring a file needs neither, and they take a tenth of its start
    if name not in __all__:
        raise AttributeError(name)
    from forecasteval.ranking import comparison, datasets

    return {"compare": comparison.compare, "rank": datasets.rank}[name]
