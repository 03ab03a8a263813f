"""Stored results scored once more: what does not come out as it stands there was damaged, forged or is out of date."""

from __future__ import annotations

import contextlib
import itertools
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
from .folder import list_predictions, list_tasks, summary_path
from .history import read_history
from .processes import Failure, LeftOut, Scored, score_files
from .ranking import rank_results
from .report import format_csv, format_markdown
from .store import BOARD, lock_folder, read_stored
from .systems import NO_RESULT, Forecasters, System, file_row, to_record

_MAY_DIFFER: Final = ("warnings", "calls", "tokens", "reasons", "file_sha256", "degraded")  # from run to run
_SHOWN: Final = 6  # differences of a file


class Verification(NamedTuple):
    """How many results came out as they are stored; what differs, by file; what is not stored; what failed."""

    same: int
    differences: dict[str, list[str]]
    unstored: list[str]
    failed: list[Failure]


def verify_folder(root: Path, scorer: Scorer, processes: int = 0, cluster: str | None = None) -> Verification:
    """Score every file of `root/prediction` and compare with `scorer.output`, the leaderboard too; writes nothing.

    Raises LockedError if another run is at work, and EvaluationError if nothing can be read.
    """
    folder = scorer.output
    files, failed, _ = list_predictions(root / "prediction")
    if not folder.is_dir():
        raise InputError(str(folder), "expected stored results", "none")
    with lock_folder(folder):
        tasks = list(list_tasks(root, files, scorer.one_set, failed))
        unstored: list[str] = []
        differences: dict[str, list[str]] = {}
        systems: list[System | Forecasters] = []
        with contextlib.closing(score_files(scorer.score, tasks, root, folder, processes, cluster)) as outcomes:
            for part in itertools.chain.from_iterable(outcomes):
                if isinstance(part, LeftOut):
                    continue
                if isinstance(part, Failure):
                    failed.append(part)
                elif not os.path.lexists(folder / f"{part.name}.json"):
                    unstored.append(str(file_row(part.system)["prediction"]))
                else:
                    systems.append(part.system)
                    differences.update(_compare_result(folder, part))
        same = len(systems) - len(differences)
        board, _ = read_stored(folder / f"{BOARD}.json")
        if all(failure._asdict() in board.get("failed", ()) for failure in failed):  # the leaderboard is without them
            try:
                differences.update(_compare_board(folder, board, systems, read_systems(root / "prediction")))
            except NO_RESULT:
                differences[f"{BOARD}.json"] = ["it is damaged: no leaderboard"]
    return Verification(same, differences, sorted(unstored), sorted(failed))


def _compare_result(folder: Path, scored: Scored) -> dict[str, list[str]]:
    """What differs in the stored result, or else in what is kept of it for ranking."""
    name = f"{scored.name}.json"
    if messages := _compare_stored(folder / name, scored.path):
        return {name: messages}
    path = summary_path(folder, scored.name)
    summary, _ = read_stored(path)
    if not summary or summary.get("file_sha256") != hash_file(folder / name):
        return {}  # it is not used
    messages = list(_differences(summary.get("system"), json.loads(dump_json(to_record(scored.system)))))
    return {f"{path.parent.name}/{name}": _shorten(messages)} if messages else {}


def _compare_stored(path: Path, new: Path) -> list[str]:
    if path.is_file() and hash_file(path) == hash_file(new):
        return []
    stored, _ = read_stored(path)
    if not stored:
        return ["it is damaged: no JSON, or not what its result_sha256 says"]
    return _shorten(list(_differences(stored, read_stored(new)[0])))


def _compare_board(
    folder: Path, board: Mapping[str, Any], systems: list[System | Forecasters], about: Systems
) -> dict[str, list[str]]:
    """What is wrong with the three files of the leaderboard."""
    if not board:
        return {f"{BOARD}.json": ["it is damaged: no JSON, or not what its result_sha256 says"]}
    settings = board.get("leaderboard", {})
    ranked = rank_results(systems, settings.get("min_questions", 0), settings.get("min_datasets"))
    add_about(ranked, about)
    new = json.loads(dump_json(ranked))
    told = _shorten([line for part in ("pooled", "tables") for line in _differences(board.get(part), new[part], part)])
    found = {f"{BOARD}.json": told} if told else {}
    for suffix, text in (("csv", format_csv(board)), ("md", format_markdown(board, _latest_changes(folder)))):
        path = folder / f"{BOARD}.{suffix}"
        if not (path.is_file() and path.read_bytes() == text.encode()):
            found[path.name] = [f"it is not what {BOARD}.json says"]
    return found


def _latest_changes(folder: Path) -> list[dict[str, Any]]:
    try:
        return read_changes(read_history(folder))
    except InputError:  # without which the leaderboard was made
        return []


def _shorten(told: list[str]) -> list[str]:
    return told if len(told) <= _SHOWN else [*told[: _SHOWN - 1], f"and {len(told) - _SHOWN + 1} more"]


def _differences(stored: Any, new: Any, where: str = "") -> Iterator[str]:
    """Where two JSON values differ, from outside to inside."""
    if isinstance(stored, dict) and isinstance(new, dict):
        for key in sorted({*stored, *new} - {*_MAY_DIFFER}, key=lambda key: (key != "signature", key)):
            yield from _differences(stored.get(key), new.get(key), f"{where}.{key}".lstrip("."))
    elif isinstance(stored, list) and isinstance(new, list) and len(stored) == len(new):
        for place, (a, b) in enumerate(zip(stored, new, strict=True)):
            yield from _differences(a, b, f"{where}[{_name(a) or place}]")
    elif stored != new:
        yield f"{where}: {_show(stored)} is stored, {_show(new)} comes out"


def _name(value: Any) -> str:
    """By what a reader finds an item of a list again."""
    found = (value.get("id") or value.get("name")) if isinstance(value, Mapping) else None
    return found if isinstance(found, str) else ""


def _show(value: Any) -> str:
    return f"{len(value)} entries" if isinstance(value, (list, dict)) else json.dumps(value, ensure_ascii=False)[:60]
