"""The parts of a prediction file's name, `DATASET-SYSTEM[@RUN]`, and the files that a command
names.

A system's name stands for the files of all its runs where a command expects systems.
"""

from __future__ import annotations

import contextlib
import os
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import UNSAFE, EvaluationError, InputError, printable
from forecasteval.common.files import (
    SUFFIXES,
    belongs_to,
    find_dataset,
    find_file,
    require_folder,
    score_together,
    set_of,
)
from forecasteval.common.results import Results
from forecasteval.common.wing import Scorer

SYSTEMS_FILE: Final = "systems.json"


class Name(NamedTuple):
    """`dataset` is "" for a file that was scored without one, `run` for one that names none."""

    dataset: str
    system: str
    run: str


def split_name(stem: str, dataset: str | None = None) -> Name:
    """The parts of a prediction file's stem; `dataset` is the file (or its stem) that it was scored
    with.

    The system is what follows the dataset's stem and one of `-_.@`, and all of the stem where that
    does not begin with the dataset's; the run is what follows the last `@`. Neither is ever empty
    by such a cut: a name that is nothing else is that of its system.

    >>> split_name("250915-deep-x@2", "250915.json")
    Name(dataset='250915', system='deep-x', run='2')
    >>> split_name("deep-x@a@b")
    Name(dataset='', system='deep-x@a', run='b')
    >>> split_name("250915@2", "250915.json"), split_name("250915-x@", "250915")
    (Name(dataset='250915', system='250915', run='2'), Name(dataset='250915', system='x@', run=''))
    """
    name = Path(dataset or "").name
    known = next((name[: -len(end)] for end in SUFFIXES if name.endswith(end)), name)
    system = stem
    if known and belongs_to(stem, known):
        rest = stem[len(known) :]
        # `250915@2` is a run of the system that has no other name than its dataset's, `250915`
        system = known + rest if rest[:1] in ("", "@") else rest.removeprefix(rest[0]) or stem
    before, _, after = system.rpartition("@")
    return Name(known, before, after) if before and after else Name(known, system, "")


def without_run(stem: str, dataset: str | None = None) -> str:
    """The stem that all runs of a system on a dataset share: `250915-x` of `250915-x@2`."""
    run = split_name(stem, dataset).run
    return stem.removesuffix(f"@{run}") if run else stem


def system_of_row(table: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    """The name that the system of a board's row has on every dataset; a forecaster has one name."""
    return (
        split_name(row["name"], row["dataset"]).system
        if table["kind"] == "systems"
        else str(row["name"])
    )


# White space, and what is drawn as nothing.
_INVISIBLE: Final = re.compile(
    r"[\s\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)


def look_of(name: str) -> str:
    """What a reader sees of a name: without its Unicode form, blanks and invisible characters."""
    return _INVISIBLE.sub("", UNSAFE.sub("", unicodedata.normalize("NFKC", name)))


def show_distinct(names: Sequence[str], limit: int | None = None) -> list[str]:
    r"""`printable` names; names that differ only in Unicode form or invisible characters are shown
    with escapes.

    >>> show_distinct(["caf\u00e9", "cafe\u0301", "b"])
    ['caf\\xe9', 'cafe\\u0301', 'b']
    """
    if all(map(str.isascii, names)):
        return [printable(name, limit) for name in names]
    looks = list(map(look_of, names))
    same: dict[str, set[str]] = {}
    for name, look in zip(names, looks, strict=True):
        same.setdefault(look, set()).add(name)
    return [
        printable(name if len(same[look]) == 1 else ascii(name)[1:-1], limit)
        for name, look in zip(names, looks, strict=True)
    ]


# --- The files that a command names ---


def score_names(
    scorer: Scorer,
    root: Path,
    names: Sequence[str],
    datasets: Sequence[Path],
    fail: Callable[[EvaluationError], None],
) -> Iterator[Results]:
    """A result per name, or per dataset whose files are scored together; `fail` gets the errors of
    the others.

    With the option of a vote, a name stands for all its runs, which have one result.
    """
    vote = "vote" in scorer.given
    jobs: dict[object, tuple[list[Path], list[Path | None]]] = {}
    for number, name in enumerate(names):
        try:
            paths = _find_files(name, root / "prediction", vote)
            inputs: list[Path | None] = [*datasets] or [find_dataset(paths[0], root / "dataset")]
            if vote:
                scorer.report_options(
                    scorer.recognise(paths[0], inputs[0]).name
                )  # refuses it for other benchmarks
            if vote and len(paths) < 2:
                raise InputError(
                    name, "expected several runs to vote, NAME@1, NAME@2, …", "one file"
                )
        except EvaluationError as error:
            fail(error)
            continue
        one_set = set_of(paths[0], inputs[0], scorer.one_set) if len(inputs) == 1 else None
        together, _ = jobs.setdefault(one_set or number, ([], inputs))
        together += [
            path for path in paths if path not in together
        ]  # a file that is named twice counts once
    for paths, (dataset, *more) in jobs.values():
        results, errors = score_together(partial(scorer.score, more=more), paths, dataset)
        for _, problem in errors:
            fail(problem)
        if vote and results is not None and len(paths) - len(errors) < 2:
            fail(
                InputError(
                    paths[0].stem, "expected two runs or more that can be scored, to vote", "one"
                )
            )
        elif results is not None:
            yield results


def _find_files(name: str, folder: Path, vote: bool) -> list[Path]:
    if os.sep not in name and "/" not in name:
        require_folder(folder)
    paths = [find_file(run, folder) for run in (find_runs(name, folder) if vote else [name])]
    for path in paths:
        if path.name == SYSTEMS_FILE and path.resolve().parent == folder.resolve():
            raise InputError(
                str(path), "expected predictions", "metadata about systems; name another file"
            )
    return paths


def find_runs(name: str, folder: Path) -> list[str]:
    """The names of the files that `name`, or a path, stands for: `NAME` and all of `NAME@RUN`, in
    order.

    With an extension, or as `NAME@RUN`, it is that file alone; without such files it is itself,
    whatever is wrong.
    """
    base = Path(name) if os.sep in name or "/" in name else folder / name
    if base.suffix in SUFFIXES or without_run(base.name) != base.name:
        return [name]
    names: list[str] = []
    with contextlib.suppress(OSError, ValueError):  # reading the file will say so
        names = os.listdir(base.parent)
    stems = {Path(other).stem for other in names if other.endswith(SUFFIXES) and other[0] != "."}
    runs = {stem for stem in stems if stem != base.name and without_run(stem) == base.name}
    return (
        [os.path.join(base.parent, stem) for stem in sorted(runs | (stems & {base.name}))]
        if runs
        else [name]
    )


def group_runs(
    results: Sequence[Results], runs: Sequence[Sequence[str]]
) -> list[Results | list[Results]]:
    """Results of files, those of one system's runs as a list.

    Where files were scored together there are fewer results, of which each holds its systems
    itself.
    """
    if len(results) != sum(map(len, runs)):
        return [*results]
    left = iter(results)
    groups = [[next(left) for _ in names] for names in runs]
    return [group[0] if len(group) == 1 else group for group in groups]
