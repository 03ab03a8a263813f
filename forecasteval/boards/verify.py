"""Stored results scored once more: what does not come out as it stands there was damaged, forged or is out of date."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError
from forecasteval.common.files import hash_file
from forecasteval.common.records import dump_json
from forecasteval.common.wing import Scorer

from .about import Systems, add_about, read_systems
from .changes import read_changes
from .folder import list_predictions, list_tasks
from .history import read_history
from .processes import Failure, Options, Scored, score_files
from .ranking import rank_results
from .report import format_csv, format_markdown
from .store import BOARD, lock_folder, read_stored, summary_path
from .systems import NO_RESULT, Forecasters, System, file_row, to_record

_MAY_DIFFER: Final = ("warnings", "calls", "tokens", "reasons", "file_sha256", "degraded")  # from run to run
_SHOWN: Final = 6  # differences of a file
_DAMAGED: Final = "it is damaged: no JSON, or not what its result_sha256 says"


class Verification(NamedTuple):
    """How many results came out as they are stored; what differs, by file; what is not stored; what failed."""

    same: int
    differences: dict[str, list[str]]
    unstored: list[str]
    failed: list[Failure]


def verify_folder(root: Path, scorer: Scorer, options: Options) -> Verification:
    """Score every file of `root/prediction` and compare with `scorer.output`, the leaderboard too; writes nothing.

    Raises LockedError if another run is at work, and EvaluationError if nothing can be read.
    """
    folder = scorer.output
    files, failed, _ = list_predictions(root / "prediction")
    if not folder.is_dir():
        raise InputError(str(folder), "expected stored results", "none")
    unstored: list[str] = []
    differences: dict[str, list[str]] = {}
    systems: list[System | Forecasters] = []
    with lock_folder(folder):
        tasks = list(list_tasks(root, files, scorer.one_set, failed))
        with contextlib.closing(score_files(scorer.score, tasks, root, folder, options)) as outcomes:
            for scored, failures, _ in outcomes:
                failed += failures
                if scored and not os.path.lexists(folder / f"{scored.name}.json"):
                    unstored.append(str(file_row(scored.system)["prediction"]))
                elif scored:
                    systems.append(scored.system)
                    differences |= _compare_result(folder, scored)
        same = len(systems) - len(differences)
        board, _ = read_stored(folder / f"{BOARD}.json")
        if all(failure._asdict() in board.get("failed", ()) for failure in failed):  # the leaderboard is without them
            try:
                differences |= _compare_board(folder, board, systems, read_systems(root / "prediction"))
            except NO_RESULT:
                differences[f"{BOARD}.json"] = ["it is damaged: no leaderboard"]
    return Verification(same, differences, sorted(unstored), sorted(failed))


def _compare_result(folder: Path, scored: Scored) -> dict[str, list[str]]:
    """What differs in the stored result, or else in what is kept of it for ranking."""
    path, name = folder / f"{scored.name}.json", f"{scored.name}.json"
    checksum = hash_file(path) if path.is_file() else ""
    if checksum != hash_file(scored.path):
        stored, _ = read_stored(path)
        messages = _differences(stored, read_stored(scored.path)[0]) if stored else [_DAMAGED]
        return {name: messages} if messages else {}
    path = summary_path(folder, scored.name)
    summary, _ = read_stored(path)
    if not summary or summary.get("file_sha256") != checksum:
        return {}  # it is not used
    messages = _differences(summary.get("system"), json.loads(dump_json(to_record(scored.system))))
    return {f"{path.parent.name}/{name}": messages} if messages else {}


def _compare_board(
    folder: Path, board: Mapping[str, Any], systems: list[System | Forecasters], about: Systems
) -> dict[str, list[str]]:
    """What is wrong with the three files of the leaderboard."""
    if not board:
        return {f"{BOARD}.json": [_DAMAGED]}
    settings = board.get("leaderboard", {})
    ranked = rank_results(systems, settings.get("min_questions", 0), settings.get("min_datasets"))
    add_about(ranked, about)
    new = json.loads(dump_json(ranked))
    parts = "pooled", "tables"
    messages = _differences({part: board.get(part) for part in parts}, {part: new[part] for part in parts})
    differences = {f"{BOARD}.json": messages} if messages else {}
    changes = []
    with contextlib.suppress(InputError):  # without a history the leaderboard says nothing of changes
        changes = read_changes(read_history(folder))
    for suffix, text in (("csv", format_csv(board)), ("md", format_markdown(board, changes))):
        path = folder / f"{BOARD}.{suffix}"
        if not (path.is_file() and path.read_bytes() == text.encode()):
            differences[path.name] = [f"it is not what {BOARD}.json says"]
    return differences


def _differences(stored: Any, new: Any) -> list[str]:
    """Where two JSON values differ, the first of many places."""
    messages = list(_walk(stored, new, ""))
    return messages if len(messages) <= _SHOWN else [*messages[: _SHOWN - 1], f"and {len(messages) - _SHOWN + 1} more"]


def _walk(stored: Any, new: Any, where: str) -> Iterator[str]:
    """A line for each place where two JSON values differ, from outside to inside."""
    if isinstance(stored, dict) and isinstance(new, dict):
        for key in sorted({*stored, *new} - {*_MAY_DIFFER}, key=lambda key: (key != "signature", key)):
            yield from _walk(stored.get(key), new.get(key), f"{where}.{key}".lstrip("."))
    elif isinstance(stored, list) and isinstance(new, list) and len(stored) == len(new):
        for place, (a, b) in enumerate(zip(stored, new, strict=True)):
            name = (a.get("id") or a.get("name")) if isinstance(a, dict) else None  # by which a reader finds it again
            yield from _walk(a, b, f"{where}[{name if name and isinstance(name, str) else place}]")
    elif stored != new:
        yield f"{where}: {_show(stored)} is stored, {_show(new)} comes out"


def _show(value: Any) -> str:
    return f"{len(value)} entries" if isinstance(value, (list, dict)) else json.dumps(value, ensure_ascii=False)[:60]
