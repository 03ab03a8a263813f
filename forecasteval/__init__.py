"""Scores forecasts of three benchmarks; `eval.py` beside this package is its command line.

`futurex`, `prophet` and `rxnopt` score files, `convert` makes prediction files, `boards` ranks and
compares results. CONTRIBUTING.md lists the modules.
"""

from typing import TYPE_CHECKING

from .common.version import __version__

__all__ = ["FutureXEvaluator", "__version__"]

if TYPE_CHECKING:
    from .futurex.evaluator import FutureXEvaluator
else:  # so that a type checker still knows every other name as a mistake

    def __getattr__(name: str) -> object:
        """Import the evaluator when it is asked for: half of a command's start are its patterns."""
        if name != "FutureXEvaluator":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from .futurex.evaluator import FutureXEvaluator

        return FutureXEvaluator
