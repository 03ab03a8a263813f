"""Scores forecasts of three benchmarks; `eval.py` beside this package is its front door.

The wings `futurex`, `prophet` and `rxnopt` score files, `boards` ranks and compares what they return, and all of
them stand on `common`. CONTRIBUTING.md tells which room holds what.
"""

from typing import Final

__version__: Final = "1.2.0"
