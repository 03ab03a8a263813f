"""FutureX (arXiv 2508.11987): questions of four levels, answers in boxes. The class is in `eval.py`."""

from pathlib import Path

from forecasteval.common.report import Results


def recognises(path: Path, dataset: Path | None) -> bool:
    """Whether a prediction file and its dataset are FutureX's: whatever no other benchmark knows."""
    return True


def find_mistakes(path: Path) -> Results:
    """The mistakes in a dataset."""
    from .check import check_file

    return check_file(path)
