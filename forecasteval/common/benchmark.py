"""What the command line and the boards need to know of a benchmark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from .report import Results


class Evaluator(Protocol):
    """Scores files of one benchmark; what a file's scores depend on besides its bytes is in `settings`."""

    def evaluate_file(self, path: Path, datasets: Sequence[Path] = ()) -> Results:
        """The results of one prediction file against its datasets; InputError if it cannot be scored."""

    def settings(self) -> dict[str, Any]:
        """The part of a signature that does not depend on the files."""


class Benchmark(NamedTuple):
    """One kind of prediction files.

    `recognises` tells a file by itself and its dataset, `evaluator` makes an evaluator of the options named in
    `options`, and `views` names the options of its reports.
    """

    name: str
    recognises: Callable[[Path, Path | None], bool]
    evaluator: Callable[..., Evaluator]
    options: frozenset[str] = frozenset()
    views: frozenset[str] = frozenset()
