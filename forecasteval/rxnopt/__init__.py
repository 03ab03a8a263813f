"""RxnOptBench: which reaction conditions are best? Build the questions from tables, render them,
score the answers.

A paper's optimisation table (conditions and results, row by row) becomes multiple choice questions
whose options are graded: an option's effective score is

    effective = yield * enantio * dr * rr

each factor the major fraction, 1 where the table gives none,

and a picked option earns effective / best effective of the options. A `single_varying` question
changes one condition, an `all_varying` question all that vary; the `_reference` forms also show up
to five results of the same table, and every one of them has a `_reference_control` twin without.

    python eval.py -f multiple_choice_single_varying-NAME

`python eval.py rxnopt --help` names the steps from a spreadsheet to such a prediction.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from forecasteval.benchmark import ITEMS, Benchmark
from forecasteval.common.files import find_file
from forecasteval.common.records import first_keys

from .datasets import NAME, QUESTION_TYPES, dataset_name

if TYPE_CHECKING:
    from .scoring import RxnOptEvaluator

__all__ = ["BENCHMARK", "RxnOptEvaluator", "find_datasets"]


def claims_file(path: Path, dataset: Path | None) -> bool:
    """Whether a prediction file is one of RxnOptBench: its dataset has the keys of its questions.
    No CSV is.
    """
    return (
        path.suffix != ".csv"
        and dataset is not None
        and {"question_type", "options", "meta"} <= first_keys(dataset)
    )


def find_datasets(name: str, folder: Path) -> list[Path]:
    """The dataset that a name means, as `find_file`; of a folder that `build` wrote, its files that
    have questions.
    """
    for place in (folder / name, Path(name)):
        if os.path.isdir(place):
            paths = [place / dataset_name(kind) for kind in QUESTION_TYPES]
            if filled := [path for path in paths if first_keys(path)]:
                return filled
    return [find_file(name, folder)]


def make_evaluator(output: Path) -> RxnOptEvaluator:
    """An evaluator that takes its datasets with each file."""
    from .scoring import RxnOptEvaluator

    return RxnOptEvaluator()


BENCHMARK: Final = Benchmark(NAME, claims_file, make_evaluator, (ITEMS,))


def __getattr__(name: str) -> object:
    """`RxnOptEvaluator`, imported on first use: a command that scores another benchmark pays
    nothing.
    """
    if name == "RxnOptEvaluator":
        from .scoring import RxnOptEvaluator

        return RxnOptEvaluator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
