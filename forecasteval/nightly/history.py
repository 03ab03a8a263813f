"""`evaluation/history.jsonl`: what every system had on every dataset and over all of them, a line
whenever that changed; and why it did.

A night that changes something appends a line for each system of a dataset whose score, interval, n,
version, rule set, settings or checksums are not those of its last line, one for each system whose
score or rank over all datasets changed, and one for each that has gone. The first line of a dataset
whose questions or truths changed names them. Lines stay as they are, damaged ones too. The date
(UTC) of a line is the only time in all that this tool writes.
"""

from __future__ import annotations

import datetime
import json
import os
import time
from collections import Counter
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any, Final

from forecasteval.common.errors import InputError, grouped_names
from forecasteval.common.files import join_checksums, read_file, write_atomic
from forecasteval.common.records import dump_json
from forecasteval.nightly.corrections import Differences, find_differences
from forecasteval.ranking.changes import NOTHING, OVERALL, History, Key, Line, are_corrections
from forecasteval.ranking.names import system_of_row

HISTORY: Final = "history.jsonl"
_CHECKSUMS: Final = (
    "questions_sha256",
    "dataset_sha256",
    "truths_sha256",
    "prediction_sha256",
    "code_sha256",
)
# What a line holds besides its system's state: of the night, and of a system that is not there.
_OF_THE_NIGHT: Final = {"night", "date", "corrected", "asked", "renamed"}
_ABSENT: Final = {"gone", "waits"}
_TEXTS: Final = ("benchmark", "dataset", "system", "prediction", "evaluator")
_COUNTS: Final = ("resolved", "questions")
_HUGE: Final = 1e9  # no score is, nor nan, nor the number of a night
_CLOCK: Final = "SOURCE_DATE_EPOCH"  # https://reproducible-builds.org/specs/source-date-epoch/


def today() -> str:
    """The date in UTC, or that of SOURCE_DATE_EPOCH; InputError if this is no time."""
    given = os.environ.get(_CLOCK)
    try:
        seconds = int(given) if given else time.time()
        return datetime.datetime.fromtimestamp(seconds, datetime.UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        raise InputError(_CLOCK, "expected seconds since 1970", str(given)) from None


def read_history(folder: Path) -> History:
    """The history of a folder of results; a line that is none is passed with a warning.

    Raises InputError if the file cannot be read.
    """
    path = folder / HISTORY
    raw = read_file(path) if os.path.lexists(path) else b""
    texts = [(number, text) for number, text in enumerate(raw.split(b"\n"), 1) if text.strip()]
    lines = [(number, _read_line(text)) for number, text in texts]
    damaged = [f"line {number}" for number, line in lines if line is None]
    warnings = [f"{path}: damaged, left as they are: {grouped_names(damaged)}"] if damaged else []
    return _make_history(raw, [line for _, line in lines if line is not None], warnings)


def _make_history(raw: bytes, lines: list[Line], warnings: list[str]) -> History:
    night, last, latest = 0, dict[Key, Line](), dict[Key, tuple[Line | None, Line]]()
    for line in lines:
        key = _key(line)
        if line["night"] > night:
            night, latest = line["night"], {}
        if line["night"] == night:
            old = key if line.get("gone") else (*key[:2], line.get("renamed", key[2]))
            before = latest[old][0] if old in latest else last.get(old)
            latest[key] = before, line
        last[key] = line
    return History(raw, night, last, latest, lines, warnings)


def _read_line(text: bytes) -> Line | None:
    """A line of this tool's making; None for anything else."""
    try:
        line = json.loads(text)
        usable = (
            all(isinstance(line[key], str) for key in _TEXTS)
            and type(line["night"]) is int
            and 0 < line["night"] < _HUGE
            and (line["score"] is None or -_HUGE < line["score"] < _HUGE)
            and isinstance(line["settings"], dict)
            and {type(line[key]) for key in _COUNTS if key in line} <= {int}
            and type(line.get("rank")) in (int, type(None))
            and isinstance(line.get("renamed", ""), str)
            and all(isinstance(name, str) for name in line.get("asked", ()))
            and are_corrections(line.get("corrected", NOTHING))
            and bool(dump_json(line))  # not nested deeper than can be written again
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return line if usable else None


def append_night(folder: Path, history: History, board: Mapping[str, Any], date: str) -> History:
    """Append what changed to the file, as a whole or not at all; nothing if nothing did.

    A system whose file failed tonight has not gone. Raises EvaluationError if the file cannot be
    written.
    """
    before = {
        key: {name: value for name, value in line.items() if name not in _OF_THE_NIGHT}
        for key, line in history.last.items()
    }
    states = _read_board(board)
    renamed = _find_renamed(before, states)
    unread = {name for entry in board["failed"] for name in entry["file"].split(", ")}
    waiting = {name for names in board.get("waiting", {}).values() for name in names}
    for key, state in before.items():
        files = state["prediction"].split(", ")
        if key not in states and unread.isdisjoint(files):
            kept = {name: value for name, value in state.items() if name not in _ABSENT}
            waits = {} if waiting.isdisjoint(files) else {"waits": True}
            states[key] = {**kept, "gone": True, **waits}
    night = {"night": history.night + 1, "date": date}
    new = {
        key: {**night, **state, **({"renamed": renamed[key]} if key in renamed else {})}
        for key, state in sorted(states.items())
        if before.get(key) != state
    }
    if not new:
        return history
    _name_differences(folder, history, new)
    end = b"\n" if history.raw and not history.raw.endswith(b"\n") else b""
    raw = history.raw + end + "".join(f"{dump_json(line)}\n" for line in new.values()).encode()
    write_atomic(folder / HISTORY, raw)
    return _make_history(raw, [*history.lines, *new.values()], history.warnings)


def _find_renamed(before: Mapping[Key, Line], states: Mapping[Key, Line]) -> dict[Key, str]:
    """The other name of each system that has one since tonight: by its new key the old name, and by
    its old key the new one.

    That is a system whose file another one had, which has gone, or whose file has the same bytes.
    """
    gone = [key for key, line in before.items() if key not in states and not line.get("gone")]
    new = [key for key in states if before.get(key, {"gone": True}).get("gone")]
    pairs = set[tuple[Key, Key]]()
    for kind in ("prediction", "prediction_sha256"):
        old_by_file = _group_keys(gone, before, kind)
        for file, keys in _group_keys(new, states, kind).items():
            if len(keys) == len(old_by_file.get(file, ())) == 1:
                pairs.add((old_by_file[file][0], keys[0]))
    names = {old[2]: new_key[2] for old, new_key in pairs}
    overall = {key[:2]: None for key in states if "rank" in states[key]}
    pairs |= {
        ((*table, old), (*table, name))
        for table in overall
        for old, name in names.items()
        if (*table, old) in gone and (*table, name) in new
    }
    return {key: other[2] for pair in pairs for key, other in (pair, pair[::-1])}


def _group_keys(keys: list[Key], lines: Mapping[Key, Line], kind: str) -> dict[Hashable, list[Key]]:
    """The systems of datasets by dataset and file; forecasters have one file together."""
    groups: dict[Hashable, list[Key]] = {}
    for key in keys:
        if kind in lines[key] and lines[key]["metric"] == "overall":
            groups.setdefault((*key[:2], lines[key][kind]), []).append(key)
    return groups


def _name_differences(folder: Path, history: History, new: Mapping[Key, Line]) -> None:
    """Say of each line whose questions changed what was `asked` otherwise, where results hold it,
    and give the first of a dataset the corrections.
    """
    found: dict[Hashable, Differences | None] = {}
    for key, line in new.items():
        before = history.last.get((*key[:2], line.get("renamed", key[2])), line)
        checksums = before.get("questions_sha256"), line.get("questions_sha256")
        if checksums[0] == checksums[1] or "prediction_sha256" not in line:
            continue
        # The files of one dataset have the same questions; of one without a dataset, its own.
        asked = (*key[: 2 if key[1] else 3], *checksums)
        if not found.get(asked):
            found[asked] = find_differences(folder, before, line)
            if (differences := found[asked]) and differences.corrections["count"]:
                line["corrected"] = differences.corrections
        if differences := found[asked]:
            line["asked"] = differences.asked


def _key(line: Line) -> Key:
    return line["benchmark"], line["dataset"], line["system"]


def _read_board(board: Mapping[str, Any]) -> dict[Key, Line]:
    """The present state of each system, by its key."""
    rows = [
        (row["name"], _read_row(table, row)) for table in board["tables"] for row in table["rows"]
    ]
    often = Counter(_key(line) for _, line in rows)
    states: dict[Key, Line] = {}
    for name, line in rows:
        if often[_key(line)] > 1:
            # of two names of a file, or of runs that were asked other questions
            line["system"] += f" ({name})"
        states[_key(line)] = line
    tables = Counter[str]()
    for table in board.get("pooled", ()):
        tables[table["benchmark"]] += 1  # a benchmark has several where its rules differ
        place = tables[table["benchmark"]]
        lines = [_read_overall(table, row) for row in table["rows"]]
        for line in lines:
            line["dataset"] = OVERALL if place == 1 else f"{OVERALL} ({place})"
        states |= {_key(line): line for line in lines}
    return states


def _read_overall(table: Mapping[str, Any], row: Mapping[str, Any]) -> Line:
    """The values of a system over all datasets."""
    signature = table["signature"]
    return {
        "benchmark": table["benchmark"],
        "system": row["name"],
        "prediction": "",
        "metric": "pooled",
        "score": row["overall_score"],
        "interval": row["overall_interval"] and [*row["overall_interval"]],
        "rank": row["rank"],
        "datasets": row["datasets"],
        "n": row["n"],
        "evaluator": signature["evaluator"],
        "rules": signature.get("rules"),
        "settings": _read_settings(signature),
    }


def _read_row(table: Mapping[str, Any], row: Mapping[str, Any]) -> Line:
    """The values of a system in a row of a board (in its JSON form)."""
    # of one set, whose forecasters share all but their scores
    is_forecaster = table["kind"] == "forecasters"
    file = table if is_forecaster else row
    signature = {**file["signature"], **table["signature"]}
    runs = [run["signature"]["prediction_sha256"] for run in row.get("runs", ())]
    interval = row["interval"] if is_forecaster else row["overall_interval"]
    resolved = table["n_events"] if is_forecaster else sum(table["level_counts"].values())
    return {
        "benchmark": table["benchmark"],
        "dataset": table["dataset"] or (table["name"] if is_forecaster else ""),
        "system": system_of_row(table, row),
        "prediction": file["prediction"],
        "metric": row.get("metric", "brier") if is_forecaster else "overall",
        "score": row["score"] if is_forecaster else row["overall_score"],
        "interval": interval and [*interval],  # as it is read back
        "n": row["n"],
        "resolved": resolved,
        "questions": resolved + table.get("pending", 0),
        "degraded": file["degraded"],
        "evaluator": signature["evaluator"],
        "rules": signature.get("rules"),
        "settings": _read_settings(signature),
        **{key: signature[key] for key in _CHECKSUMS if key in signature},
        **({"runs": len(runs), "prediction_sha256": join_checksums(runs)} if runs else {}),
    }


def _read_settings(signature: Mapping[str, Any]) -> dict[str, Any]:
    """The settings without a separate key, except those that are not set."""
    return {
        key: value
        for key, value in signature.items()
        if value is not None and key not in ("evaluator", "rules") and not key.endswith("sha256")
    }
