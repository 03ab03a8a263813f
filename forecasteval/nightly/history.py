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
from collections.abc import Hashable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Final

from forecasteval.boards.tables import mark_of
from forecasteval.common import forms
from forecasteval.common.errors import InputError, grouped_names
from forecasteval.common.files import join_checksums, read_file, write_atomic
from forecasteval.common.forms import FormError
from forecasteval.common.records import JsonObject, dump_json
from forecasteval.nightly.corrections import Differences, find_differences
from forecasteval.ranking.board import list_tables
from forecasteval.ranking.changes import NOTHING, OVERALL, History, Key, Line, SeasonLine, WeekLine
from forecasteval.ranking.names import system_of_row

HISTORY: Final = "history.jsonl"
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
    lines, damaged = list[Line](), list[str]()
    for number, text in enumerate(raw.split(b"\n"), 1):
        if line := _read_line(text):
            lines.append(line)
        elif text.strip():
            damaged.append(f"line {number}")
    warnings = [f"{path}: damaged, left as they are: {grouped_names(damaged)}"] if damaged else []
    return _make_history(raw, lines, warnings)


def _make_history(raw: bytes, lines: list[Line], warnings: list[str]) -> History:
    night, last, latest = 0, dict[Key, Line](), dict[Key, tuple[Line | None, Line]]()
    for line in lines:
        if line.night > night:
            night, latest = line.night, {}
        if line.night == night:
            old = line.key if line.gone else _old_key(line)
            before = latest[old][0] if old in latest else last.get(old)
            latest[line.key] = before, line
        last[line.key] = line
    return History(raw, night, last, latest, lines, warnings)


def _old_key(line: Line) -> Key:
    """The key of the line that a system has had before."""
    return line.benchmark, line.dataset, line.renamed or line.system


def _read_line(text: bytes) -> Line | None:
    """A line of this tool's making; None for anything else."""
    with contextlib.suppress(ValueError, RecursionError, FormError):
        line: Line = forms.read_as(WeekLine | SeasonLine, json.loads(text), HISTORY)
        usable = 0 < line.night < _HUGE and abs(line.score or 0.0) < _HUGE
        # Not nested deeper than can be written again.
        return line if usable and _write_line(line) else None
    return None


def _write_line(line: Line) -> str:
    return f"{dump_json(forms.to_record(line))}\n"


def append_night(folder: Path, history: History, board: JsonObject, date: str) -> History:
    """Append what changed to the file, as a whole or not at all; nothing if nothing did.

    A system whose file failed tonight has not gone. Raises EvaluationError if the file cannot be
    written.
    """
    before = {key: _state_of(line) for key, line in history.last.items()}
    states = _read_board(board)
    renamed = _find_renamed(before, states)
    unread = {name for entry in board["failed"] for name in entry["file"].split(", ")}
    waiting = {name for names in board.get("waiting", {}).values() for name in names}
    for key, state in before.items():
        files = state.prediction.split(", ")
        if key not in states and unread.isdisjoint(files):
            states[key] = replace(state, gone=True, waits=not waiting.isdisjoint(files))
    night, found = history.night + 1, dict[Hashable, Differences | None]()
    new: list[Line] = []
    for key, state in sorted(states.items()):
        if before.get(key) != state:
            line = replace(state, night=night, date=date, renamed=renamed.get(key, ""))
            old = before.get(_old_key(line))
            if isinstance(line, WeekLine) and isinstance(old, WeekLine):
                line = _name_differences(folder, old, line, found)
            new.append(line)
    if not new:
        return history
    end = b"\n" if history.raw and not history.raw.endswith(b"\n") else b""
    raw = history.raw + end + "".join(map(_write_line, new)).encode()
    write_atomic(folder / HISTORY, raw)
    return _make_history(raw, [*history.lines, *new], history.warnings)


def _state_of(line: Line) -> Line:
    """The line without what it says of its night."""
    line = replace(line, night=0, date="", renamed="")
    return replace(line, asked=None, corrected=NOTHING) if isinstance(line, WeekLine) else line


def _find_renamed(before: Mapping[Key, Line], states: Mapping[Key, Line]) -> dict[Key, str]:
    """The other name of each system that has another one since tonight: of the new one the old, and
    the other way round.

    Its file has the same bytes as one of a system that has gone from the dataset.
    """
    gone, new = _only_in(before, states), _only_in(states, before)
    files: dict[Hashable, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for side, lines in enumerate((gone, new)):
        for line in lines.values():
            if isinstance(line, WeekLine) and line.metric == "overall":
                file = line.benchmark, line.dataset, line.prediction_sha256
                files[file][side].append(line.system)
    renamed = dict[Key, str]()
    for old, name in sorted((*a, *b) for a, b in files.values() if len(a) == len(b) == 1):
        for line in new.values():
            old_key = line.benchmark, line.dataset, old
            if line.system == name and old_key in gone:
                renamed |= {line.key: old, old_key: name}
    return renamed


def _only_in(lines: Mapping[Key, Line], others: Mapping[Key, Line]) -> dict[Key, Line]:
    """The lines of systems that the others do not have, or that are gone there."""
    present = {key for key, line in others.items() if not line.gone}
    return {key: line for key, line in lines.items() if not line.gone and key not in present}


def _name_differences(
    folder: Path, before: WeekLine, line: WeekLine, found: dict[Hashable, Differences | None]
) -> WeekLine:
    """The line with what was `asked` otherwise, where results hold it, and the first of a dataset
    with the corrections.
    """
    checksums = before.questions_sha256, line.questions_sha256
    if checksums[0] == checksums[1]:
        return line
    # The files of one dataset have the same questions; of one without a dataset, its own.
    asked = (*line.key[: 2 if line.dataset else 3], *checksums)
    is_first = not found.get(asked)
    if is_first:
        found[asked] = find_differences(folder, before, line)
    differences = found[asked]
    if differences is None:
        return line
    corrected = differences.corrections if is_first else NOTHING
    return replace(line, asked=differences.asked, corrected=corrected)


def _read_board(board: JsonObject) -> dict[Key, Line]:
    """The present state of each system, by its key."""
    rows, seasons = list[tuple[str, Line]](), Counter[str]()
    for table in list_tables(board):
        seasons[table["benchmark"]] += table["kind"] == "pooled"
        for row in table["rows"]:
            line = _read_row(table, row)
            place = seasons[line.benchmark] if isinstance(line, SeasonLine) else 1
            if place > 1:  # a benchmark has several where its rules differ
                line = replace(line, dataset=f"{OVERALL} ({place})")
            rows.append((row["name"], line))
    often = Counter(line.key for _, line in rows)
    # Of two names of a file, or of runs that were asked other questions.
    lines = [
        replace(line, system=f"{line.system} ({name})") if often[line.key] > 1 else line
        for name, line in rows
    ]
    return {line.key: line for line in lines}


def _read_row(table: JsonObject, row: JsonObject) -> Line:
    """The values of a system in a row of a board (in its JSON form)."""
    # Forecasters are those of one set, and share all but their scores.
    of_set = table["kind"] == "forecasters"
    file = table if of_set else row
    signature = {**file.get("signature", {}), **table["signature"]}
    score, interval = mark_of(row)
    values = {
        "prediction": "",  # over all datasets
        "metric": _METRICS.get(table["kind"]),
        **file,
        **signature,
        **row,
        "benchmark": table["benchmark"],
        "system": system_of_row(table, row),
        # nan, where no level counts, would differ from itself every night
        "score": None if score is None or math.isnan(score) else score,
        "interval": interval,
        "settings": {key: value for key, value in signature.items() if _is_setting(key, value)},
    }
    if table["kind"] == "pooled":
        return _make_line(SeasonLine, {**values, "dataset": OVERALL})
    resolved = table["n_events"] if of_set else sum(table["level_counts"].values())
    runs = [run["signature"]["prediction_sha256"] for run in row.get("runs", ())]
    if runs:
        values["prediction_sha256"] = join_checksums(runs)
    values |= {
        "dataset": table["dataset"] or (table["name"] if of_set else ""),
        "resolved": resolved,
        "questions": resolved + table.get("pending", 0),
        "runs": len(runs),
    }
    return _make_line(WeekLine, values)


def _make_line(kind: type[Line], values: JsonObject) -> Line:
    """The line of those of the values that it has a field for."""
    names = {field.name for field in fields(kind)} & values.keys()
    return forms.from_record(kind, {name: values[name] for name in names})


def _is_setting(key: str, value: object) -> bool:
    named = key in ("evaluator", "rules") or key.endswith("sha256")
    return value is not None and not named
