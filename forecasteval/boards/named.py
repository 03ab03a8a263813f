"""The files that a command names: each scored with its dataset, those that are one set of predictions together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from forecasteval.common.benchmark import Scorer
from forecasteval.common.errors import EvaluationError
from forecasteval.common.files import find_dataset, find_file, score_together
from forecasteval.common.results import Results


def score_names(
    scorer: Scorer, root: Path, names: Sequence[str], datasets: Sequence[Path], fail: Callable[[EvaluationError], None]
) -> Iterator[Results]:
    """A result per name, or per dataset whose files are scored together; `fail` is told of what cannot be scored."""
    jobs: dict[object, tuple[list[Path], list[Path | None]]] = {}
    for number, name in enumerate(names):
        try:
            path = find_file(name, root / "prediction")
            given: list[Path | None] = [*datasets]
            asked = given or [find_dataset(path, root / "dataset")]
        except EvaluationError as error:
            fail(error)
            continue
        first = asked[0]
        key = first if len(asked) == 1 and first and path.suffix != ".csv" and scorer.together(first) else number
        paths, _ = jobs.setdefault(key, ([], asked))
        if path not in paths:  # named twice, it is still one
            paths.append(path)
    for paths, (dataset, *more) in jobs.values():
        results, errors = score_together(partial(scorer.score, more=more), paths, dataset)
        for _, problem in errors:
            fail(problem)
        if results is not None:
            yield results
