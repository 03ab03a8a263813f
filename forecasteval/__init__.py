"""Scores forecasts of three benchmarks; `eval.py` beside this package is
its command line.

`futurex`, `prophet` and `rxnopt` score files, `convert` makes prediction files,
`boards` ranks and compares results. CONTRIBUTING.md lists the modules.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .common.version import __version__

__all__ = ["FutureXEvaluator", "__version__", "compare", "evaluate", "rank"]

if TYPE_CHECKING:
    from .boards import compare, rank
    from .display.results import Results
    from .futurex.evaluator import FutureXEvaluator
else:  # so that a type checker still knows every other name as a mistake

    def __getattr__(name: str) -> object:
        """Import a name when it is asked for: half of a command's start are an
        evaluator's patterns.
        """
        if name == "FutureXEvaluator":
            from .futurex.evaluator import FutureXEvaluator

            return FutureXEvaluator
        if name in ("compare", "rank"):
            from . import boards

            return getattr(boards, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def evaluate(
    path: str | Path, dataset: str | Path | None = None, **options: Any
) -> "Results":
    """Score a prediction file of any benchmark, as `-f PATH` does in the current
    folder, but without the options of its `forecasteval.toml`.

    dataset: its questions; without it the file in `dataset/` that the name of
        `path` begins with.
    options: those of the benchmark's command line, such as `missing="skip"`.
    Raises InputError if the file cannot be scored.
    """
    from .cli import evaluate_path

    return evaluate_path(path, dataset, options)
