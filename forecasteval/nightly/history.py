"""`evaluation/history.jsonl`: a line for each night, benchmark, dataset and system
whose score, rank or inputs changed, with the reasons.

Lines are appended and never changed; damaged ones are set aside. They are read under
the names that systems have today, and whatever keys an earlier version wrote. The date
(UTC) of a line is the only time in all that this tool writes.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, Final

from forecasteval.boards.changes import (
    History,
    HistoryLine,
    Key,
    history_dataset,
)
from forecasteval.boards.reasons import (
    OTHERS,
    ChangedQuestion,
    QuestionChange,
    Reason,
    describe_reasons,
)
from forecasteval.common.errors import InputError, printable
from forecasteval.common.files import join_checksums, write_atomic
from forecasteval.common.forms import from_record, to_record
from forecasteval.common.records import JsonObject, as_text, dump_json, group_by
from forecasteval.nightly.store import read_journal, read_stored, set_lines_aside
from forecasteval.ranking.board import (
    Board,
    PooledRow,
    RankedRow,
    Ranking,
    SystemRow,
)
from forecasteval.ranking.files import ForecasterTable, label_dataset

HISTORY: Final = "history.jsonl"
_MAX_DEPTH: Final = 100  # objects and lists in a line, of which settings have a few
_MAX_NUMBER: Final = 1e9  # no score is, nor nan, nor the number of a night
_MAX_NAMED: Final = 10  # questions of a kind of change in a line
_MAX_TEXT: Final = 60  # characters of an id or a truth
_MAX_BYTES: Final = 10_000_000  # bytes of a result whose questions are compared
_SYSTEM_METRICS: Final = ("pooled", "overall")  # those of forecasters have other names


# Of each pair of checksums of questions, before and now.
Corrections = Mapping[tuple[object, object], Sequence[QuestionChange]]


# --- Reading ---


def open_history(folder: Path, aliases: Mapping[str, str]) -> tuple[History, list[str]]:
    """Read the history of a folder of results, and set aside its lines that are
    none, with a note.

    A system whose name is one of the `aliases` has its name of today. Raises InputError
    if the file cannot be read.
    """
    path = folder / HISTORY
    lines: list[HistoryLine] = []

    def read_line(text: bytes) -> bool:
        line = _read_line(text)
        if line is not None:
            system = aliases.get(line.system, line.system)
            lines.append(replace(line, system=system))
        return line is not None

    raw, damaged = read_journal(path, read_line)
    return History(raw, lines), set_lines_aside(path, raw, damaged)


def _read_line(text: bytes) -> HistoryLine | None:
    """Read the known keys of a line; None if one has a value of another type."""
    depth = text.count(b"{") + text.count(b"[")
    if depth >= _MAX_DEPTH:  # it could not be compared
        return None
    with contextlib.suppress(ValueError, RecursionError, InputError):
        line = from_record(HistoryLine, json.loads(text))
        score = line.score or 0.0
        if 0 < line.night < _MAX_NUMBER and abs(score) < _MAX_NUMBER:
            return line
    return None


# --- A night ---


def append_night(
    folder: Path,
    history: History,
    board: Board,
    present: Collection[str],
    forecasters: Mapping[tuple[str, str], bool],
    corrections: Corrections,
    date: str,
) -> History:
    """Append what changed to the file, as a whole or not at all; nothing
    if nothing did.

    present: the names of the files in the folder of predictions.
    forecasters: those whose forecasts are there, by dataset and name, and whether all
        are left out as late.
    Raises EvaluationError if the file cannot be written.
    """
    last = {line.key: line for line in history.lines}
    lost = _find_lost(board, last.values(), present, forecasters)
    states = {line.key: line for line in lost} | _read_board(board)
    new: list[HistoryLine] = []
    # What happened to a system on its datasets.
    events: defaultdict[tuple[str, str], list[tuple[list[Reason], str]]] = defaultdict(
        list
    )
    in_order = sorted(states.values(), key=lambda state: (state.is_overall, state.key))
    for state in in_order:
        before = last.get(state.key)
        if before and _state_of(before) == _state_of(state):
            continue
        if before is not None and before.gone:
            before = None
        questions = None if before is None else before.questions_sha256
        changes = corrections.get((questions, state.questions_sha256), ())
        system_events = events[state.benchmark, state.system]
        if state.is_overall:
            reasons = _explain_overall(before, state, system_events)
        else:
            reasons = state.reasons or _explain(before, state, changes)
            if reasons != [Reason(OTHERS)]:
                system_events.append((reasons, state.dataset))
        line = replace(state, night=history.night + 1, date=date, reasons=reasons)
        # How many truths came is a reason; nobody wants their names.
        named = [change for change in changes if change.code != "truths"]
        new.append(replace(line, question_changes=named or None))
    if not new:
        return history
    text = "".join(f"{dump_json(to_record(line))}\n" for line in new)
    raw = history.raw + text.encode()
    write_atomic(folder / HISTORY, raw)
    return History(raw, [*history.lines, *new])


def _state_of(line: HistoryLine) -> HistoryLine:
    """Strip a line of what it says of its night."""
    return replace(
        line,
        night=0,
        date="",
        reasons=None,
        reason=None,
        corrections=None,
        question_changes=None,
        resolved=None,
        questions=None,
    )


def _explain(
    before: HistoryLine | None, line: HistoryLine, changes: Sequence[QuestionChange]
) -> list[Reason]:
    """List all that made a line on a dataset differ from the one before.

    changes: what happened to its questions, if that is known.
    """
    if before is None:
        return [Reason("new")]
    reasons = [*_explain_files(before, line)]
    had_row = before.score is not None or before.questions_sha256 is not None
    if not had_row and before.resolved:
        reasons.append(Reason("returned"))
    elif not had_row:
        reasons.append(Reason("to_score", line.resolved or 0))
    elif before.questions_sha256 != line.questions_sha256:
        known = [Reason(change.code, change.count) for change in changes]
        reasons += known or [Reason("questions")]
        has_unresolved = (
            before.resolved != before.questions or line.resolved != line.questions
        )
        if has_unresolved and before.resolved not in (None, line.resolved):
            reasons.append(Reason("resolved", line.resolved, line.questions))
    if before.degraded != line.degraded:
        reasons.append(_choose(line.degraded, "degraded", "not_degraded"))
    if before.unscored != line.unscored and (line.unscored or not reasons):
        reasons.append(_choose(line.unscored, "unscored", "scored"))
    lost_rank = line.rank is None
    if not reasons and (before.rank is None) != lost_rank:
        reasons.append(_choose(lost_rank, "baseline", "no_baseline"))
    return reasons or [Reason(OTHERS)]


def _choose(
    condition: bool, code: str, other_code: str, count: int | None = None
) -> Reason:
    """Return the reason with the first code if the condition holds, else
    with the other.
    """
    return Reason(code if condition else other_code, count)


def _explain_files(before: HistoryLine, line: HistoryLine) -> Iterator[Reason]:
    """List what happened to rules and files between two lines."""
    if _rules_of(before) != _rules_of(line):
        yield Reason("rules")
    has_forecasters = line.metric not in _SYSTEM_METRICS
    is_set = has_forecasters and ", " in line.prediction
    removed = line.removed - before.removed
    if removed > 0:
        yield _choose(has_forecasters, "forecasts_gone", "answers_gone", removed)
    elif before.prediction_sha256 != line.prediction_sha256:
        yield _choose(is_set, "answers_of_set", "answers")
    elif before.prediction != line.prediction:
        yield _choose(is_set, "renamed_in_set", "renamed")
    if before.late_sha256 != line.late_sha256 and removed <= 0:
        yield Reason("late")


def _rules_of(line: HistoryLine) -> tuple[object, ...]:
    return line.evaluator, line.code_sha256, line.rules, line.metric, line.settings


def _explain_overall(
    before: HistoryLine | None,
    line: HistoryLine,
    events: Sequence[tuple[list[Reason], str]],
) -> list[Reason]:
    """List what made a line over all datasets differ: what happened to the system on
    its datasets, and that it has no rank any more, or one again. A line has no
    reason of its own.
    """
    reasons = []
    for equal_events in group_by(
        events, lambda event: describe_reasons(event[0])
    ).values():
        datasets = [dataset for _, dataset in equal_events]
        reasons += [replace(reason, datasets=datasets) for reason in equal_events[0][0]]

    code = "new"
    has_moved = line.rank is None
    if before is not None:
        had_none = before.rank is None, before.score is None
        has_none = line.rank is None, line.score is None
        # Version 1.5 wrote no ranks.
        has_moved = had_none != has_none and before.evaluator == line.evaluator
        code = OTHERS
        if _rules_of(before) != _rules_of(line):
            code = "rules"
    line_reasons = line.reasons if has_moved else None
    if not reasons and (code == "rules" or not line_reasons):
        reasons = [_choose(line.gone, "removed", code)]
    return reasons + (line_reasons or [])


def _find_lost(
    board: Board,
    last: Collection[HistoryLine],
    present: Collection[str],
    forecasters: Mapping[tuple[str, str], bool],
) -> Iterator[HistoryLine]:
    """List the states of systems as they are if the board does not have them, by
    their last lines.

    One has gone if none of its files is there. If one is there that could not be read,
    nothing is known: the system stays as it was.
    """
    waiting = {*chain.from_iterable(board.waiting.values())}
    withdrawn = {(entry.system, entry.name) for entry in board.withdrawn}
    ranked = {name for file in board.files for name in file.predictions} | waiting
    present = {*present}
    files: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for line in last:
        names = {*line.prediction.split(", ")}
        files[line.benchmark, line.system] |= names & present
    for line in last:
        present_files = files[line.benchmark, line.system]
        if not line.is_overall:
            present_files = present_files & {*line.prediction.split(", ")}
        if line.gone or not present_files <= ranked:
            continue
        lost = replace(
            line, score=None, rank=None, questions_sha256=None, degraded=False
        )
        if not present_files:
            lost = replace(lost, gone=True)
        if not present_files and line.is_overall:
            yield replace(lost, reasons=None)
            continue

        if line.is_overall:
            code = "no_table"
        elif not present_files.isdisjoint(waiting):
            code = "all_pending"
            lost = replace(lost, resolved=0)
            if line.dataset in board.void:
                code = "all_void"
        elif (line.system, label_dataset(line.dataset)) in withdrawn:
            code = "withdrawn"
        elif present_files:
            code = _explain_left_out(forecasters.get((line.dataset, line.system)))
        else:
            code = "removed"
        yield replace(lost, reasons=[Reason(code)])


def _explain_left_out(are_all_late: bool | None) -> str:
    """Explain why a forecaster has no row although the file is there.

    are_all_late: None if the file has no forecast of this forecaster any more.
    """
    if are_all_late is None:
        return "left"
    if are_all_late:
        return "all_late"
    return "not_counted"


# --- The board ---


def _read_board(board: Board) -> dict[Key, HistoryLine]:
    """Read the present state of each system on each dataset."""
    rows = []
    for table in board.rankings:
        dataset = history_dataset(board, table)
        for row in table.rows:
            line = _read_row(table, row, dataset, board.leaderboard)
            rows.append((row.name, line))
    counts = Counter(line.key for _, line in rows)
    lines = {}
    for name, line in rows:
        # Of two names of a file, or of runs that were asked other questions.
        if counts[line.key] > 1:
            line = replace(line, system=f"{line.system} ({name})")
        lines[line.key] = line
    return lines


def _read_row(
    table: Ranking, row: RankedRow, dataset: str, board_settings: Mapping[str, object]
) -> HistoryLine:
    """Read the state of a system in a row of a board with these settings."""
    line = HistoryLine(
        benchmark=table.benchmark,
        dataset=dataset,
        system=row.system_name,
        metric=row.metric,
        # nan, where no level counts, would differ from itself every night
        score=None if math.isnan(row.score) else row.score,
        rank=row.rank,
        removed=row.removed,
        resolved=table.resolved,
        questions=table.resolved + table.pending,
    )
    is_baseline = bool(row.about.baseline)
    if isinstance(row, PooledRow):
        # Over all datasets there is no file. By default half of the datasets are asked
        # for: more with each of them.
        signature: dict[str, Any] = {
            **table.signature,
            "min_datasets": board_settings["min_datasets"],
        }
        line = replace(line, degraded=row.degraded)
        if not is_baseline:
            share = _choose(row.rank is None, "unranked", "ranked", row.datasets)
            # Said if its rank comes or goes.
            line = replace(line, reasons=[replace(share, total=len(table.datasets))])
    else:
        # Forecasters share all but their scores.
        file: Any = table if isinstance(table, ForecasterTable) else row
        signature = {**file.signature, **table.signature}
        line = replace(
            line,
            unscored=file.kept and row.rank is None and not is_baseline,
            degraded=file.degraded,
            prediction=file.prediction or "",
            questions_sha256=signature.get("questions_sha256"),
        )
    return _add_rules(line, signature, _join_runs(row))


def _add_rules(
    line: HistoryLine, signature: Mapping[str, Any], runs_sha256: str
) -> HistoryLine:
    """Add to a line what its score depends on."""
    settings = {}
    for key, value in signature.items():
        is_field = key in ("evaluator", "rules") or key.endswith("sha256")
        if value is not None and not is_field:
            settings[key] = value
    return replace(
        line,
        prediction_sha256=runs_sha256 or signature.get("prediction_sha256"),
        evaluator=signature["evaluator"],
        late_sha256=signature.get("late_sha256"),
        code_sha256=signature.get("code_sha256"),
        rules=signature.get("rules"),
        settings=settings,
    )


def _join_runs(row: RankedRow) -> str:
    """Join the checksums of the files of several runs; "" for a single file."""
    runs = row.runs if isinstance(row, SystemRow) else []
    checksums = [str(run.signature["prediction_sha256"]) for run in runs]
    if not checksums:
        return ""
    return join_checksums(checksums)


# --- Questions ---


def find_corrections(
    path: Path, written: Path
) -> dict[tuple[object, object], list[QuestionChange]]:
    """Compare the questions of a stored result with those of the one that
    takes its place.

    Nothing is found in what is too large, has no results per question, or
    cannot be read.
    """
    with contextlib.suppress(OSError, LookupError, TypeError, AttributeError):
        if path.stat().st_size <= _MAX_BYTES:
            old, new = (read_stored(file)[0] for file in (path, written))
            checksums = [
                result["signature"].get("questions_sha256") for result in (old, new)
            ]
            return {(checksums[0], checksums[1]): compare_questions(old, new)}
    return {}


def compare_questions(before: JsonObject, now: JsonObject) -> list[QuestionChange]:
    """Find what happened to the questions that count between two results.

    >>> old, new = ({"items": [{"id": "q1", "question": t, "truth": t}]} for t in "AB")
    >>> compare_questions(old, new)[0].questions
    [ChangedQuestion(id='q1', before='A', now='B')]
    """
    old = _list_items(before)
    new = _list_items(now)
    # Where questions have no id, they share "".
    removed = group_by([old[key] for key in old if key not in new], _id_of)
    added = group_by([new[key] for key in new if key not in old], _id_of)
    was_void = {*map(as_text, before.get("void_ids", ()))}
    is_void = {*map(as_text, now.get("void_ids", ()))}
    changes: defaultdict[str, list[ChangedQuestion]] = defaultdict(list)
    for name in {**removed, **added}:
        label = printable(name, _MAX_TEXT) or "(no id)"
        pairs = zip_longest(removed.get(name, ()), added.get(name, ()))
        for old_item, new_item in pairs:
            code, step = _compare_items(old_item, new_item)
            if code == "questions_new" and name in was_void:
                code = "valid"
            elif code == "questions_removed" and name in is_void:
                code = "void"
            if code:
                changes[code].append(ChangedQuestion(label, *step))
    return [
        QuestionChange(code, len(questions), questions[:_MAX_NAMED])
        for code, questions in changes.items()
    ]


def _list_items(result: JsonObject) -> dict[tuple[str, object], JsonObject]:
    """List the items of a result by id and question."""
    return {(_id_of(item), item["question"]): item for item in result["items"]}


def _compare_items(
    old: JsonObject | None, new: JsonObject | None
) -> tuple[str, list[str | None]]:
    """Find the kind of change of a question, "" if it does not count; then what
    it was and is.
    """
    truth, std = _find_truth(old)
    new_truth, new_std = _find_truth(new)
    if truth is None and new_truth is None:
        return "", []
    if old is None:
        return "questions_new", []
    if new is None:
        return "questions_removed", []
    if truth is None:
        return "truths", []
    if new_truth is None:
        return "no_truth", _shorten(truth, None)
    if truth != new_truth:
        return "corrected", _shorten(truth, new_truth)
    if std != new_std:
        return "std", _shorten(std, new_std)
    return "questions_changed", []


def _id_of(item: JsonObject) -> str:
    return as_text(item.get("id"))


def _find_truth(item: JsonObject | None) -> tuple[str | None, object]:
    """Find the truth and the Std of an item; none while it is pending."""
    if item is None or item.get("outcome") == "pending":
        return None, None
    return str(item.get("truth")), item.get("std")


def _shorten(*values: object) -> list[str | None]:
    return [None if value is None else printable(value, _MAX_TEXT) for value in values]
