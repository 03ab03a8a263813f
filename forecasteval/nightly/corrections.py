"""The questions of a dataset that a night found corrected.

Results hold the truths, so a stored one that has to go is kept until the history has named what is
corrected.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from forecasteval.common.errors import InputError, printable
from forecasteval.common.files import read_file, write_atomic
from forecasteval.common.forms import FormError, read_as
from forecasteval.common.records import as_text
from forecasteval.nightly.store import read_stored
from forecasteval.ranking.changes import CUT, Correction, Corrections
from forecasteval.ranking.systems import ForecasterTable, System

_REPLACED: Final = (
    ".replaced"  # the folder of results that are kept until the history has been written
)


_LARGEST: Final = 10_000_000  # bytes of a result whose truths are read


_LISTED: Final = 20  # questions that a line names


_WHAT: Final = ("truth", "question", "new", "gone")


def keep_replaced(
    path: Path, row: Mapping[str, Any] | None, system: System | ForecasterTable
) -> None:
    """Keep a stored result that a system's new one replaces, if its row of the last board has other
    questions.

    It holds the truths until then; a result that an interrupted night has kept stays.
    """
    kept = path.parent / _REPLACED / path.name
    if not row or not isinstance(system, System):
        return
    if row["signature"].get("questions_sha256") == system.group[2]:
        return
    with contextlib.suppress(OSError, InputError):
        if path.stat().st_size <= _LARGEST and not kept.exists():
            write_atomic(kept, read_file(path))


def forget_replaced(folder: Path) -> None:
    """Remove what `keep_replaced` has kept."""
    shutil.rmtree(folder / _REPLACED, ignore_errors=True)


def find_corrections(
    folder: Path, before: Mapping[str, Any], line: Mapping[str, Any]
) -> Corrections | None:
    """The questions that differ between the kept and the new result of a system, by its lines of
    the history.

    None if a result is unknown, too large, or without a result per question.
    """
    name = f"{Path(line['prediction'].split(', ')[0]).stem}.json"
    old = _read_truths(folder / _REPLACED / name, before.get("questions_sha256"))
    new = _read_truths(folder / name, line.get("questions_sha256")) if old else {}
    if not new:
        return None
    changed: dict[str, tuple[list[str], list[str]]] = {}
    for side, questions, others in ((0, old, new), (1, new, old)):
        for (question, checksum), truth in questions.items():
            if (question, checksum) not in others:
                changed.setdefault(question, ([], []))[side].append(truth)
    corrections: list[Correction] = []
    for question, truths in changed.items():
        for pair in zip_longest(*truths):
            what = (
                "new"
                if pair[0] is None
                else "gone"
                if pair[1] is None
                else _WHAT[pair[0] == pair[1]]
            )
            shown = [printable(text or "", CUT) for text in (question, *pair)]
            corrections.append(
                {"id": shown[0], "what": what, "before": shown[1], "after": shown[2]}
            )
    corrections.sort(key=lambda each: (_WHAT.index(each["what"]), each["id"]))
    return {"count": len(corrections), "questions": corrections[:_LISTED]} if corrections else None


def _read_truths(path: Path, checksum: str | None) -> dict[tuple[str, str], str]:
    """The truths of a stored result on the questions of this checksum, by id and checksum of the
    question.
    """
    with contextlib.suppress(OSError, FormError):  # not for those that another version wrote
        stored = read_stored(path)[0] if path.stat().st_size <= _LARGEST else {}
        signature = read_as(dict[str, Any], stored.get("signature"), path.name)
        if signature.get("questions_sha256") == checksum:
            return {
                (as_text(item.get("id")), str(item.get("question"))): str(item.get("truth", ""))
                for item in read_as(list[dict[str, Any]], stored.get("items"), path.name)
            }
    return {}
