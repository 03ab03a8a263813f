"""Scores forecasts of three benchmarks; `eval.py` beside this package is its command line.

The wings `futurex`, `prophet` and `rxnopt` score files, `boards` ranks and compares what they return, and all of
them stand on `common`. CONTRIBUTING.md tells which room holds what.
"""

from .common.version import __version__
from .futurex.evaluator import FutureXEvaluator

__all__ = ["FutureXEvaluator", "__version__"]
