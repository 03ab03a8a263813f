"""The questions of a dataset that differ between two nights: which truths came, and which are
corrected.

Results hold the truths, so a stored one that has to go is kept until the history has named what is
corrected.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, printable
from forecasteval.common.files import read_file, write_atomic
from forecasteval.common.forms import FormError, read_as
from forecasteval.common.records import JsonObject, as_text
from forecasteval.nightly.store import read_stored
from forecasteval.ranking.changes import (
    CORRECTED,
    CUT,
    MORE,
    OTHERS,
    Correction,
    Corrections,
    WeekLine,
)
from forecasteval.ranking.systems import ForecasterTable, System

# The folder of results that are kept until the history has been written.
_REPLACED: Final = ".replaced"
_LARGEST: Final = 10_000_000  # bytes of a result whose truths are read
_LISTED: Final = 20  # questions that a line names
_WHAT: Final = ("truth", "question", "new", "gone")


def keep_replaced(path: Path, row: JsonObject | None, system: System | ForecasterTable) -> None:
    """Keep a stored result that a system's new one replaces, if its row of the last board has other
    questions, or if it has none there: its file failed, or waited.

    It holds the truths until then; a result that an interrupted night has kept stays.
    """
    kept = path.parent / _REPLACED / path.name
    if not isinstance(system, System):
        return
    if row and row["signature"].get("questions_sha256") == system.group[2]:
        return
    with contextlib.suppress(OSError, InputError):
        if path.stat().st_size <= _LARGEST and not kept.exists():
            write_atomic(kept, read_file(path))


def forget_replaced(folder: Path) -> None:
    """Remove what `keep_replaced` has kept."""
    shutil.rmtree(folder / _REPLACED, ignore_errors=True)


class Differences(NamedTuple):
    """What differs between the questions of two results: which of MORE, CORRECTED and OTHERS, and
    the questions that changed. A truth that came is no correction; one that went is.
    """

    asked: list[str]
    corrections: Corrections


def find_differences(folder: Path, before: WeekLine, line: WeekLine) -> Differences | None:
    """The differences between the kept and the new result of a system, by its lines of the history.

    None if a result is unknown, too large, or without a result per question.
    """
    name = f"{Path(line.prediction.split(', ')[0]).stem}.json"
    old = _read_truths(folder / _REPLACED / name, before.questions_sha256)
    new = _read_truths(folder / name, line.questions_sha256) if old else None
    if not old or not new:
        return None
    kinds, listed = set[str](), list[Correction]()
    for question, what, *truths in _pair_truths(old, new):
        kinds.add(CORRECTED if what == "truth" else MORE if what == MORE else OTHERS)
        if what != MORE:
            shown = [printable(text or "", CUT) for text in (question, *truths)]
            listed.append(Correction(id=shown[0], what=what, before=shown[1], after=shown[2]))
    listed.sort(key=lambda each: (_WHAT.index(each.what), each.id))
    asked = [kind for kind in (MORE, CORRECTED, OTHERS) if kind in kinds]
    return Differences(asked, Corrections(count=len(listed), questions=listed[:_LISTED]))


# Of a result: by id, and by checksum of the question, as ids may repeat; None of pending ones.
_Truths = dict[str, dict[str, str | None]]


def _pair_truths(old: _Truths, new: _Truths) -> Iterator[tuple[str, str, str | None, str | None]]:
    """The questions that are not resolved alike on both sides: id, what changed, the truths."""
    before: str | None
    after: str | None
    for name in {**old, **new}:
        here, there = old.get(name, {}), new.get(name, {})
        gone = [here[key] for key in here if key not in there and here[key] is not None]
        came = [there[key] for key in there if key not in here and there[key] is not None]
        for before, after in zip_longest(gone, came):
            if before is None:
                what = MORE if None in here.values() else "new"
            elif after is None:
                what = "truth" if None in there.values() else "gone"
            else:
                what = "question" if before == after else "truth"
            yield name, what, before, after


def _read_truths(path: Path, checksum: str) -> _Truths | None:
    """The truths of a stored result on the questions of this checksum."""
    with contextlib.suppress(OSError, FormError):  # not for those that another version wrote
        stored = read_stored(path)[0] if path.stat().st_size <= _LARGEST else {}
        signature = read_as(dict[str, Any], stored.get("signature"), path.name)
        if signature.get("questions_sha256") != checksum:
            return None
        truths: _Truths = {}
        for item in read_as(list[dict[str, Any]], stored.get("items"), path.name):
            truth = None if item.get("outcome") == "pending" else str(item.get("truth", ""))
            truths.setdefault(as_text(item.get("id")), {})[str(item.get("question"))] = truth
        return truths
    return None
