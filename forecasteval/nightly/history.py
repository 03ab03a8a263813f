"""`evaluation/history.jsonl`: what every system had on every dataset, a line whenever that changed;
and why it did.

A night that changes something appends a line for each system of a dataset whose score, interval, n,
version, rule set, settings or checksums are not those of its last line, and one for each that has
gone. The first line of a dataset whose questions or truths changed names them. Lines stay as they
are, damaged ones too. The date (UTC) of a line is the only time in all that this tool writes.
"""

from __future__ import annotations

import datetime
import json
import os
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from forecasteval.common.errors import InputError, grouped_names
from forecasteval.common.files import join_checksums, read_file, write_atomic
from forecasteval.common.records import dump_json
from forecasteval.nightly.corrections import find_corrections
from forecasteval.ranking.changes import NOTHING, History, Key, Line, are_corrections
from forecasteval.ranking.names import system_of_row

HISTORY: Final = "history.jsonl"
_CHECKSUMS: Final = ("questions_sha256", "dataset_sha256", "prediction_sha256", "code_sha256")
_OF_THE_NIGHT: Final = (
    "night",
    "date",
    "corrected",
)  # what a line holds besides its system's state
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
            latest[key] = last.get(key), line
        last[key] = line
    return History(raw, night, last, latest, lines, warnings)


def _read_line(text: bytes) -> Line | None:
    """A line of this tool's making; None for anything else."""
    try:
        line = json.loads(text)
        usable = (
            all(
                isinstance(line[key], str)
                for key in ("benchmark", "dataset", "system", "prediction", "evaluator")
            )
            and type(line["night"]) is int
            and 0 < line["night"] < _HUGE
            and (line["score"] is None or -_HUGE < line["score"] < _HUGE)
            and isinstance(line["settings"], dict)
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
    rows = [
        (row["name"], _read_row(table, row)) for table in board["tables"] for row in table["rows"]
    ]
    often = Counter(_key(line) for _, line in rows)
    states: dict[Key, Line] = {}
    for name, line in rows:
        if (
            often[_key(line)] > 1
        ):  # of two names of a file, or of runs that were asked other questions
            line["system"] += f" ({name})"
        states[_key(line)] = line
    before = {
        key: {name: value for name, value in line.items() if name not in _OF_THE_NIGHT}
        for key, line in history.last.items()
    }
    unread = {name for entry in board["failed"] for name in entry["file"].split(", ")}
    for key, state in before.items():
        if key not in states and unread.isdisjoint(state["prediction"].split(", ")):
            states[key] = {**state, "gone": True}
    night = history.night + 1
    new = {
        key: {"night": night, "date": date, **state}
        for key, state in sorted(states.items())
        if before.get(key) != state
    }
    if not new:
        return history
    _name_corrections(folder, history, new)
    end = b"\n" if history.raw and not history.raw.endswith(b"\n") else b""
    raw = history.raw + end + "".join(f"{dump_json(line)}\n" for line in new.values()).encode()
    write_atomic(folder / HISTORY, raw)
    return _make_history(raw, [*history.lines, *new.values()], history.warnings)


def _name_corrections(folder: Path, history: History, new: Mapping[Key, Line]) -> None:
    """Give the first line of each dataset whose questions changed the corrections, where results
    hold them.
    """
    named = set()
    for key, line in new.items():
        before = history.last.get(key, line)
        dataset = (*key[: 2 if key[1] else 3], before.get("questions_sha256"))
        if dataset in named or dataset[-1] == line.get("questions_sha256"):
            continue
        if corrections := find_corrections(folder, before, line):
            line["corrected"] = corrections
            named.add(dataset)


def _key(line: Line) -> Key:
    return line["benchmark"], line["dataset"], line["system"]


def _read_row(table: Mapping[str, Any], row: Mapping[str, Any]) -> Line:
    """The values of a system in a row of a board (in its JSON form)."""
    is_forecaster = (
        table["kind"] == "forecasters"
    )  # of one set, whose forecasters share all but their scores
    file = table if is_forecaster else row
    signature = {**file["signature"], **table["signature"]}
    runs = [run["signature"]["prediction_sha256"] for run in row.get("runs", ())]
    interval = row["interval"] if is_forecaster else row["overall_interval"]
    return {
        "benchmark": table["benchmark"],
        "dataset": table["dataset"] or (table["name"] if is_forecaster else ""),
        "system": system_of_row(table, row),
        "prediction": file["prediction"],
        "metric": row.get("metric", "brier") if is_forecaster else "overall",
        "score": row["score"] if is_forecaster else row["overall_score"],
        "interval": interval and [*interval],  # as it is read back
        "n": row["n"],
        "degraded": file["degraded"],
        "evaluator": signature["evaluator"],
        "rules": signature.get("rules"),
        "settings": {  # settings without a separate key, except those that are not set
            key: value
            for key, value in signature.items()
            if value is not None
            and key not in ("evaluator", "rules")
            and not key.endswith("sha256")
        },
        **{key: signature[key] for key in _CHECKSUMS if key in signature},
        **({"runs": len(runs), "prediction_sha256": join_checksums(runs)} if runs else {}),
    }


# --- What the latest night changed ---
