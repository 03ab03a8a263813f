"""`evaluation/history.jsonl`: what every system had on every dataset and over all of them, a line
whenever that changed; and why it did.

A night that changes something appends a line for each system of a dataset whose score, interval, n,
version, rule set, settings or checksums are not those of its last line, one for each system whose
score or rank over all datasets changed, and one for each that has gone. The first line of a dataset
whose questions or truths changed names them. Lines stay as they are, damaged ones too. The date
(UTC) of a line is the only time in all that this tool writes.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import math
import os
import time
from collections import Counter, defaultdict
from collections.abc import Container, Hashable, Mapping
from pathlib import Path
from typing import Any, Final

from forecasteval.boards.tables import mark_of
from forecasteval.common.errors import InputError, grouped_names
from forecasteval.common.files import join_checksums, read_file, write_atomic
from forecasteval.common.forms import FormError, read_as
from forecasteval.common.records import JsonObject, dump_json
from forecasteval.nightly.corrections import Differences, find_differences
from forecasteval.ranking.board import list_tables
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
_FORM: Final[dict[str, Any]] = {
    **dict.fromkeys(("benchmark", "dataset", "system", "prediction", "evaluator"), str),
    "night": int,
    "score": float | None,
    "settings": dict[str, Any],
    "rules": str | None,
    "resolved": int,
    "questions": int,
    "rank": int | None,
    "renamed": str,
    "asked": list[str],
}
_OPTIONAL: Final = {"rules", "resolved", "questions", "rank", "renamed", "asked"}
# What a line holds besides its system's state: of the night, and of a system that is not there.
_OF_THE_NIGHT: Final = {"night", "date", "corrected", "asked", "renamed"}
_ABSENT: Final = {"gone", "waits"}
_GONE: Final[Line] = {"gone": True}
_METRICS: Final = {"pooled": "pooled", "systems": "overall"}
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
    with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError, FormError):
        line: Line = json.loads(text)
        for key, kind in _FORM.items():
            if key in line or key not in _OPTIONAL:
                read_as(kind, line[key], key)
        usable = 0 < line["night"] < _HUGE and abs(line["score"] or 0.0) < _HUGE
        # Not nested deeper than can be written again.
        if usable and are_corrections(line.get("corrected", NOTHING)) and dump_json(line):
            return line
    return None


def append_night(folder: Path, history: History, board: JsonObject, date: str) -> History:
    """Append what changed to the file, as a whole or not at all; nothing if nothing did.

    A system whose file failed tonight has not gone. Raises EvaluationError if the file cannot be
    written.
    """
    before = {key: _without(line, _OF_THE_NIGHT) for key, line in history.last.items()}
    states = _read_board(board)
    renamed = _find_renamed(before, states)
    unread = {name for entry in board["failed"] for name in entry["file"].split(", ")}
    waiting = {name for names in board.get("waiting", {}).values() for name in names}
    for key, state in before.items():
        files = state["prediction"].split(", ")
        if key not in states and unread.isdisjoint(files):
            waits = {} if waiting.isdisjoint(files) else {"waits": True}
            states[key] = {**_without(state, _ABSENT), "gone": True, **waits}
    night = {"night": history.night + 1, "date": date}
    new = {
        key: {**night, **state, **renamed.get(key, {})}
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


def _without(line: Line, names: Container[str]) -> Line:
    return {name: value for name, value in line.items() if name not in names}


def _find_renamed(
    before: Mapping[Key, Line], states: Mapping[Key, Line]
) -> dict[Key, dict[str, str]]:
    """What is added to the lines of a system that has another name since tonight: the old name to
    that of the new one, and the other way round.

    Its file has the same bytes as one of a system that has gone from the dataset.
    """
    files: dict[Hashable, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    keys = set[Key]()
    for side, lines, others in ((0, before, states), (1, states, before)):
        for key, line in lines.items():
            if not line.get("gone") and others.get(key, _GONE).get("gone"):
                keys.add(key)
                if line["metric"] == "overall":
                    files[*key[:2], line.get("prediction_sha256")][side].append(key[2])
    pairs = {(old[0], new[0]) for old, new in files.values() if len(old) == len(new) == 1}
    return {
        (*table, name): {"renamed": other}
        for table in {key[:2] for key in keys}
        for pair in sorted(pairs)
        for name, other in (pair, pair[::-1])
        if (*table, name) in keys and (*table, other) in keys
    }


def _name_differences(folder: Path, history: History, new: Mapping[Key, Line]) -> None:
    """Say of each line whose questions changed what was `asked` otherwise, where results hold it,
    and give the first of a dataset the corrections.
    """
    found: dict[Hashable, Differences | None] = {}
    for key, line in new.items():
        before = history.last.get((*key[:2], line.get("renamed", key[2])), line)
        checksums = before.get("questions_sha256"), line.get("questions_sha256")
        if checksums[0] == checksums[1]:
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


def _read_board(board: JsonObject) -> dict[Key, Line]:
    """The present state of each system, by its key."""
    rows, seasons = list[tuple[str, Line]](), Counter[str]()
    for table in list_tables(board):
        seasons[table["benchmark"]] += table["kind"] == "pooled"
        place = seasons[table["benchmark"]]
        lines = [_read_row(table, row) for row in table["rows"]]
        for row, line in zip(table["rows"], lines, strict=True):
            if "rank" in line and place > 1:  # a benchmark has several where its rules differ
                line["dataset"] += f" ({place})"
            rows.append((row["name"], line))
    often = Counter(_key(line) for _, line in rows)
    states: dict[Key, Line] = {}
    for name, line in rows:
        if often[_key(line)] > 1:
            # of two names of a file, or of runs that were asked other questions
            line["system"] += f" ({name})"
        states[_key(line)] = line
    return states


def _read_row(table: JsonObject, row: JsonObject) -> Line:
    """The values of a system in a row of a board (in its JSON form)."""
    kind = table["kind"]
    # Forecasters are those of one set, and share all but their scores.
    file = table if kind == "forecasters" else row
    signature = {**file.get("signature", {}), **table["signature"]}
    score, interval = mark_of(row)
    line = {
        "benchmark": table["benchmark"],
        "system": system_of_row(table, row),
        "prediction": file.get("prediction", ""),
        "metric": row.get("metric", _METRICS.get(kind)),
        # nan, where no level counts, would differ from itself every night
        "score": None if score is None or math.isnan(score) else score,
        "interval": interval and [*interval],  # as it is read back
        "n": row["n"],
        "evaluator": signature["evaluator"],
        "rules": signature.get("rules"),
        # without those that are not set
        "settings": {
            key: value
            for key, value in signature.items()
            if value is not None
            and key not in ("evaluator", "rules")
            and not key.endswith("sha256")
        },
    }
    if kind == "pooled":
        return {**line, "dataset": OVERALL, "rank": row["rank"], "datasets": row["datasets"]}
    resolved = table["n_events"] if file is table else sum(table["level_counts"].values())
    runs = [run["signature"]["prediction_sha256"] for run in row.get("runs", ())]
    return {
        **line,
        "dataset": table["dataset"] or (table["name"] if file is table else ""),
        "resolved": resolved,
        "questions": resolved + table.get("pending", 0),
        "degraded": file["degraded"],
        **{key: signature[key] for key in _CHECKSUMS if key in signature},
        **({"runs": len(runs), "prediction_sha256": join_checksums(runs)} if runs else {}),
    }
