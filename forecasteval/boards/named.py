"""The files that a command names: each scored with its dataset, those that are one set of predictions together.

A system's name stands for the files of all its runs where a command asks for systems.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from forecasteval.common.errors import EvaluationError, InputError
from forecasteval.common.files import SUFFIXES, find_dataset, find_file, require_folder, score_together, set_of
from forecasteval.common.results import Results
from forecasteval.common.wing import Scorer

from .about import SYSTEMS_FILE
from .names import without_run


def score_names(
    scorer: Scorer, root: Path, names: Sequence[str], datasets: Sequence[Path], fail: Callable[[EvaluationError], None]
) -> Iterator[Results]:
    """A result per name, or per dataset whose files are scored together; `fail` gets the errors of the others.

    With the option of a vote, a name stands for all its runs, which have one result.
    """
    vote = "vote" in scorer.given
    jobs: dict[object, tuple[list[Path], list[Path | None]]] = {}
    for number, name in enumerate(names):
        try:
            paths = _find_files(name, root / "prediction", vote)
            inputs: list[Path | None] = [*datasets] or [find_dataset(paths[0], root / "dataset")]
            if vote:
                scorer.report_options(scorer.recognise(paths[0], inputs[0]).name)  # refuses it for other benchmarks
            if vote and len(paths) < 2:
                raise InputError(name, "expected several runs to vote, NAME@1, NAME@2, …", "one file")
        except EvaluationError as error:
            fail(error)
            continue
        one_set = set_of(paths[0], inputs[0], scorer.one_set) if len(inputs) == 1 else None
        together, _ = jobs.setdefault(one_set or number, ([], inputs))
        together += [path for path in paths if path not in together]  # a file that is named twice counts once
    for paths, (dataset, *more) in jobs.values():
        results, errors = score_together(partial(scorer.score, more=more), paths, dataset)
        for _, problem in errors:
            fail(problem)
        if vote and results is not None and len(paths) - len(errors) < 2:
            fail(InputError(paths[0].stem, "expected two runs or more that can be scored, to vote", "one"))
        elif results is not None:
            yield results


def _find_files(name: str, folder: Path, vote: bool) -> list[Path]:
    if os.sep not in name and "/" not in name:
        require_folder(folder)
    paths = [find_file(run, folder) for run in (find_runs(name, folder) if vote else [name])]
    for path in paths:
        if path.name == SYSTEMS_FILE and path.resolve().parent == folder.resolve():
            raise InputError(str(path), "expected predictions", "metadata about systems; name another file")
    return paths


def find_runs(name: str, folder: Path) -> list[str]:
    """The names of the files that `name`, or a path, stands for: `NAME` and all of `NAME@RUN`, in order.

    With an extension, or as `NAME@RUN`, it is that file alone; without such files it is itself, whatever is wrong.
    """
    base = Path(name) if os.sep in name or "/" in name else folder / name
    if base.suffix in SUFFIXES or without_run(base.name) != base.name:
        return [name]
    names: list[str] = []
    with contextlib.suppress(OSError, ValueError):  # reading the file will say so
        names = os.listdir(base.parent)
    stems = {Path(other).stem for other in names if other.endswith(SUFFIXES) and other[0] != "."}
    runs = {stem for stem in stems if stem != base.name and without_run(stem) == base.name}
    return [os.path.join(base.parent, stem) for stem in sorted(runs | (stems & {base.name}))] if runs else [name]


def group_runs(results: Sequence[Results], runs: Sequence[Sequence[str]]) -> list[Results | list[Results]]:
    """Results of files, those of one system's runs as a list.

    Where files were scored together there are fewer results, of which each holds its systems itself.
    """
    if len(results) != sum(map(len, runs)):
        return [*results]
    left = iter(results)
    groups = [[next(left) for _ in names] for names in runs]
    return [group[0] if len(group) == 1 else group for group in groups]
