"""RxnOptBench: which reaction conditions are best? Build the questions from
    tables, render them,
score the answers.

A paper's optimisation table (conditions and results, row by row) becomes multiple
choice questions whose options are graded: an option's effective score is

    effective = yield * enantio * dr * rr

each factor the major fraction, 1 where the table gives none,

and a picked option earns effective / best effective of the options. A `single_varying`
question changes one condition, an `all_varying` question all that vary; the
`_reference` forms also show up to five results of the same table, and every one of them
has a `_reference_control` twin without.

    python eval.py -f multiple_choice_single_varying-NAME

`python eval.py rxnopt --help` names the steps from a spreadsheet to such a prediction.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from forecasteval.benchmark import ITEMS, UNREAD, Benchmark, Files, Prompt
from forecasteval.common.files import find_file
from forecasteval.common.records import first_keys

from .datasets import NAME, QUESTION_TYPES, dataset_name

if TYPE_CHECKING:
    from forecasteval.display.results import Results
    from forecasteval.display.submissions import Checked

    from .scoring import RxnOptEvaluator

__all__ = ["BENCHMARK", "RxnOptEvaluator", "find_datasets"]


def claims_file(path: Path, dataset: Path | None) -> bool:
    """Return whether a prediction belongs to RxnOptBench: its dataset has the keys of
    its questions. No CSV does.
    """
    if dataset is None or path.suffix == ".csv":
        return False
    return {"question_type", "options", "meta"} <= first_keys(dataset)


def find_datasets(name: str, folder: Path) -> list[Path]:
    """Find the dataset that a name means, as `find_file` does. Of a folder that `build`
    wrote, or of a release, these are its files that have questions.
    """
    for place in (folder / name, Path(name)):
        if os.path.isdir(place) and (paths := _find_filled(place)):
            return paths
    return [find_file(name, folder)]


def _find_filled(folder: Path) -> list[Path]:
    """Find the file of each type of questions in a folder; a release has them
    in data/jsonl/.
    """
    filled = []
    for kind in QUESTION_TYPES:
        for place in ("", "data/jsonl", "jsonl", "data"):
            path = folder / place / dataset_name(kind)
            paths = [
                file for file in (path, path.with_suffix(".jsonl")) if first_keys(file)
            ]
            if paths:
                filled.append(paths[0])
                break
    return filled


def make_evaluator(output: Path) -> RxnOptEvaluator:
    """Make an evaluator that takes its datasets with each file."""
    from .scoring import RxnOptEvaluator

    return RxnOptEvaluator()


def find_mistakes(path: Path) -> Results:
    """Find the mistakes in a dataset."""
    from .check import find_mistakes

    return find_mistakes(path)


def check_answers(files: Files) -> Iterator[Checked]:
    """Say what becomes of each pick of a file."""
    from .check import check_answers

    return check_answers(files)


def list_prompts(dataset: Path, system: str, market: bool) -> Iterator[Prompt]:
    """List what a model is asked."""
    from .build.prompts import list_prompts

    return list_prompts(dataset)


BENCHMARK: Final = Benchmark(
    NAME,
    claims_file,
    make_evaluator,
    (ITEMS, UNREAD),
    find_mistakes,
    check_answers=check_answers,
    list_prompts=list_prompts,
)


def __getattr__(name: str) -> object:
    """Import `RxnOptEvaluator` on first use: scoring another benchmark pays nothing."""
    if name == "RxnOptEvaluator":
        from .scoring import RxnOptEvaluator

        return RxnOptEvaluator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
