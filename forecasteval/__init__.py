"""Scores forecasts of three benchmarks; `eval.py` beside this package is its command line.

`futurex`, `prophet` and `rxnopt` score files, `convert` makes prediction files, `boards` ranks and
compares results. CONTRIBUTING.md lists the modules.
"""

from .common.version import __version__
from .futurex.evaluator import FutureXEvaluator

__all__ = ["FutureXEvaluator", "__version__"]
