"""`evaluation/history.jsonl`: a line for each night, benchmark, dataset and system whose score,
rank or inputs changed, with the reason.

Lines are appended and never changed, damaged ones neither. They are read under the names that
systems have today, and whatever keys an earlier version wrote. The date (UTC) of a line is the only
time in all that this tool writes.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import math
import os
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

from forecasteval.boards.changes import (
    ANSWERS,
    CORRECTED,
    GONE,
    MODEL,
    MORE,
    NEW,
    OTHERS,
    OVERALL,
    QUESTIONS,
    REASONS,
    RULES,
    UNRANKED,
    History,
    HistoryLine,
    Key,
    dataset_of,
)
from forecasteval.common import forms
from forecasteval.common.errors import InputError, grouped_names, printable
from forecasteval.common.files import join_checksums, read_file, write_atomic
from forecasteval.common.forms import FormError
from forecasteval.common.records import JsonObject, as_text, dump_json
from forecasteval.nightly.store import read_stored
from forecasteval.ranking.board import (
    Board,
    PooledRow,
    PooledTable,
    RankedRow,
    Ranking,
    SystemRow,
)
from forecasteval.ranking.files import ForecasterRow, ForecasterTable

HISTORY: Final = "history.jsonl"
_DEEP: Final = 100  # objects and lists in a line, of which settings have a few
_HUGE: Final = 1e9  # no score is, nor nan, nor the number of a night
_CLOCK: Final = "SOURCE_DATE_EPOCH"  # https://reproducible-builds.org/specs/source-date-epoch/
_NAMED: Final = 10  # corrected truths in a line
_CUT: Final = 60  # characters of an id or a truth
_LARGEST: Final = 10_000_000  # bytes of a result whose truths are compared
_OF_RULES: Final = ("evaluator", "code_sha256", "rules", "metric", "settings")
_METRICS: Final = {"pooled": "pooled", "systems": "overall"}

# Of each pair of checksums of questions, before and now: which truths were corrected, in words.
Corrections = Mapping[tuple[object, object], str]


def now() -> datetime.datetime:
    """Give the time in UTC, or that of SOURCE_DATE_EPOCH; InputError if this is no time."""
    given = os.environ.get(_CLOCK)
    try:
        seconds = int(given) if given else time.time()
        return datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    except (ValueError, OverflowError, OSError):
        raise InputError(_CLOCK, "expected seconds since 1970", str(given)) from None


def today() -> str:
    """Give the date of `now`."""
    return now().date().isoformat()


# --- Reading ---


def read_history(folder: Path, aliases: Mapping[str, str]) -> History:
    """Read the history of a folder of results; a warning names the lines that are none.

    A system whose name is one of the `aliases` has its name of today. Raises InputError if the file
    cannot be read.
    """
    path = folder / HISTORY
    raw = read_file(path) if os.path.lexists(path) else b""
    lines: list[HistoryLine] = []
    damaged: list[str] = []
    for number, text in enumerate(raw.split(b"\n"), 1):
        if line := _read_line(text):
            name = aliases.get(line.system)
            lines.append(replace(line, system=name) if name else line)
        elif text.strip():
            damaged.append(f"line {number}")
    warnings = [f"{path}: damaged, left as they are: {grouped_names(damaged)}"] if damaged else []
    return History(raw, lines, warnings)


_KEYS: Final = {field.name for field in fields(HistoryLine)}


def _read_line(text: bytes) -> HistoryLine | None:
    """Read the known keys of a line; None if one has a value of another type."""
    with contextlib.suppress(ValueError, RecursionError, AttributeError, FormError):
        known = {key: value for key, value in json.loads(text).items() if key in _KEYS}
        line = forms.from_record(HistoryLine, known)
        usable = 0 < line.night < _HUGE and abs(line.score or 0.0) < _HUGE
        # Not nested deeper than can be compared.
        return line if usable and text.count(b"{") + text.count(b"[") < _DEEP else None
    return None


# --- A night ---


def append_night(
    folder: Path,
    history: History,
    board: Board,
    present: Collection[str],
    corrections: Corrections,
    date: str,
) -> History:
    """Append what changed to the file, as a whole or not at all; nothing if nothing did.

    `present` are the names of the files in the folder of predictions. Raises EvaluationError if the
    file cannot be written.
    """
    last = {line.key: line for line in history.lines}
    states = _read_board(board)
    for line in _find_lost(board, last.values(), present):
        states.setdefault(line.key, line)
    new: list[HistoryLine] = []
    reasons: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for state in sorted(states.values(), key=lambda state: (_is_overall(state), state.key)):
        before = last.get(state.key)
        if before and _state_of(before) == _state_of(state):
            continue
        corrected = corrections.get(
            (before.questions_sha256 if before else None, state.questions_sha256)
        )
        reason = state.reason or _find_reason(before, state, corrected)
        of_system = reasons[state.benchmark, state.system]
        # Over all datasets: what moved it on its datasets, if they did.
        if _is_overall(state) and reason == OTHERS:
            reason = min(of_system, key=REASONS.index, default=reason)
        of_system.add(QUESTIONS if reason == NEW else reason)  # one dataset more
        new.append(
            replace(
                state,
                night=history.night + 1,
                date=date,
                reason=reason,
                corrections=corrected or None,
            )
        )
    if not new:
        return history
    end = b"\n" if history.raw and not history.raw.endswith(b"\n") else b""
    text = "".join(f"{dump_json(forms.to_record(line))}\n" for line in new)
    raw = history.raw + end + text.encode()
    write_atomic(folder / HISTORY, raw)
    return History(raw, [*history.lines, *new], history.warnings)


def _state_of(line: HistoryLine) -> HistoryLine:
    """Strip a line of what it says of its night."""
    return replace(
        line, night=0, date="", reason=None, corrections=None, resolved=None, questions=None
    )


def _is_overall(line: HistoryLine) -> bool:
    return line.dataset.startswith(OVERALL)


def _find_reason(before: HistoryLine | None, line: HistoryLine, corrected: str | None) -> str:
    """Say why a line differs from the one before. `corrected` is "" if every truth stays, None if
    that is not known.
    """
    if before is None or before.gone:
        return NEW
    differing = {key for key, value in vars(before).items() if value != getattr(line, key)}
    if not differing.isdisjoint(_OF_RULES):
        return RULES
    if not differing.isdisjoint({"prediction", "prediction_sha256"}):
        return ANSWERS
    if "questions_sha256" in differing:
        if corrected:
            return CORRECTED
        more = (line.resolved or 0) > (before.resolved or 0)
        return MORE if corrected == "" and more else QUESTIONS
    return MODEL if "degraded" in differing else OTHERS


def _find_lost(
    board: Board, last: Collection[HistoryLine], present: Collection[str]
) -> Iterator[HistoryLine]:
    """List the states of systems as they are if the board does not have them, by their last lines.

    One has gone if none of its files is there. If one is there that could not be read, nothing is
    known: the system stays as it was.
    """
    ranked = {name for file in board.files for name in (file.prediction or "").split(", ")}
    ranked |= {name for names in board.waiting.values() for name in names}
    files: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for line in last:
        files[line.benchmark, line.system] |= {*line.prediction.split(", ")} & {*present}
    for line in last:
        there = files[line.benchmark, line.system]
        if not _is_overall(line):
            there = there & {*line.prediction.split(", ")}
        if not line.gone and there <= ranked:
            yield replace(
                line,
                score=None,
                rank=None,
                questions_sha256=None,
                degraded=False,
                gone=not there,
                reason=UNRANKED if there else GONE,
            )


# --- The board ---


def _read_board(board: Board) -> dict[Key, HistoryLine]:
    """Read the present state of each system on each dataset."""
    rows = [
        (row.name, _read_row(table, row, dataset_of(board, table), board.leaderboard))
        for table in board.rankings
        for row in table.rows
    ]
    often = Counter(line.key for _, line in rows)
    # Of two names of a file, or of runs that were asked other questions.
    lines = [
        replace(line, system=f"{line.system} ({name})") if often[line.key] > 1 else line
        for name, line in rows
    ]
    return {line.key: line for line in lines}


def _read_row(
    table: Ranking, row: RankedRow, dataset: str, asked: Mapping[str, object]
) -> HistoryLine:
    """Read the state of a system in a row of a board, which was `asked` for by these settings."""
    # Forecasters share all but their scores; over all datasets there is no file.
    file: Any = table if isinstance(table, ForecasterTable) else row
    of_file = {} if isinstance(row, PooledRow) else file.signature
    signature: dict[str, Any] = {**of_file, **table.signature}
    if "min_datasets" in signature:  # by default half of them: more with each dataset
        signature["min_datasets"] = asked["min_datasets"]
    runs = row.runs if isinstance(row, SystemRow) else []
    return HistoryLine(
        benchmark=table.benchmark,
        dataset=dataset,
        system=row.system_name,
        # nan, where no level counts, would differ from itself every night
        score=None if math.isnan(row.score) else row.score,
        rank=row.rank,
        resolved=table.resolved,
        questions=table.resolved + table.pending,
        prediction=getattr(file, "prediction", None) or "",
        prediction_sha256=join_checksums([str(run.signature["prediction_sha256"]) for run in runs])
        if runs
        else signature.get("prediction_sha256"),
        # over all datasets, those of its datasets are
        questions_sha256=None
        if isinstance(table, PooledTable)
        else signature.get("questions_sha256"),
        evaluator=signature["evaluator"],
        code_sha256=signature.get("code_sha256"),
        rules=signature.get("rules"),
        metric=row.metric if isinstance(row, ForecasterRow) else _METRICS[table.kind],
        settings={
            key: value
            for key, value in signature.items()
            if value is not None
            and key not in ("evaluator", "rules")
            and not key.endswith("sha256")
        },
        degraded=file.degraded,
    )


# --- Corrected truths ---


def find_corrections(path: Path, written: Path) -> dict[tuple[object, object], str]:
    """Compare the truths of a stored result with those of the one that takes its place. Questions
    are the same by their checksums.

    Nothing is found in what is too large, has no results per question, or cannot be read.
    """
    with contextlib.suppress(OSError, LookupError, TypeError, AttributeError):
        if path.stat().st_size <= _LARGEST:
            old, new = (read_stored(each)[0] for each in (path, written))
            before, now = (each["signature"].get("questions_sha256") for each in (old, new))
            return {(before, now): compare_truths(old["items"], new["items"])}
    return {}


def compare_truths(before: Iterable[JsonObject], now: Iterable[JsonObject]) -> str:
    """Say which truths of the items of a result were corrected or went; "" if none was.

    >>> compare_truths([{"id": "q1", "truth": "A"}], [{"id": "q1", "truth": "B"}])
    '1 truth corrected: q1 (A → B)'
    """
    new = _read_truths(now)
    corrected: list[str] = []
    for name, truths in _read_truths(before).items():
        came = (new[name] - truths).elements()  # several, where questions have one id
        for truth in (truths - new[name]).elements():
            texts = (printable(text, _CUT) for text in (name, truth, next(came, "–")))
            corrected.append("{} ({} → {})".format(*texts))
    if not corrected:
        return ""
    more = f" and {len(corrected) - _NAMED} more" if len(corrected) > _NAMED else ""
    named = ", ".join(corrected[:_NAMED])
    return f"{len(corrected)} truth{'s' * (len(corrected) > 1)} corrected: {named}{more}"


def _read_truths(items: Iterable[JsonObject]) -> dict[str, Counter[str]]:
    """Read the truths of resolved questions, by id."""
    truths: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for item in items:
        if item.get("truth") and item.get("outcome") != "pending":
            truths[as_text(item.get("id"))][str(item["truth"])] += 1
    return truths
