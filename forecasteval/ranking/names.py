"""The parts of a prediction file's name, `DATASET-SYSTEM[@RUN]`, and the files that a command
names.

A system's name stands for the files of all its runs where a command expects systems.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import UNSAFE, printable
from forecasteval.common.files import SUFFIXES, belongs_to

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


BOARD: Final = "leaderboard"  # the stem that no result may have
