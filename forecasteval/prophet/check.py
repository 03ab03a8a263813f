"""What becomes of forecasts before any outcome is looked at, and the
mistakes in problems.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from forecasteval.benchmark import Files
from forecasteval.common.errors import InputError, printable, show_count
from forecasteval.common.records import Loaded
from forecasteval.display.results import Finding, Results, check_results
from forecasteval.display.submissions import Checked

from .cells import NO_OUTCOME
from .columns import Given, holds_events
from .events import Problem, choose_problems, make_events, read_problems
from .fields import DataNotes, Label, Named
from .forecasts import choose_forecasts, read_forecasts
from .losses import EXCLUDED, UNKNOWN
from .score_table import odd_sums
from .tables import Board, load_forecasts, load_problems, load_tables


def check_answers(files: Files, given: Given) -> Iterator[Checked]:
    """Say what becomes of each forecast, and which events each forecaster leaves out.

    Every event gets its first option as the winner, so that outcomes decide nothing.
    """
    if not files.dataset:
        raise InputError(
            str(files.path), "expected a dataset of problems for it", "none"
        )
    records = load_problems(files.dataset, given)
    problems = [
        {**row, "correct_answer": None, "correct_option_idx": 0}
        for row in records
        if isinstance(row, Mapping)
    ]
    notes = DataNotes()
    usable, places = choose_problems(
        Loaded("problems", problems, unit="problem"), notes
    )
    events = make_events(usable, notes)
    data = read_forecasts(
        [load_forecasts(files.path, records, given)], events, places, notes, {}
    )
    chosen = choose_forecasts(data, events, "drop", notes)
    states: dict[Named, tuple[str, str]] = {}  # and details
    if data:
        labels = data.labels(data.sizes > 0, events.ids, None)
        states |= dict.fromkeys(labels, ("not read", "late"))
    for (what, reason), named in notes.names.items():
        if reason == UNKNOWN:
            states |= dict.fromkeys(named, ("unknown", reason))
        elif what == "forecast":
            states |= dict.fromkeys(named, ("not read", reason))
    if chosen:
        normalised, _, empty = odd_sums(events, chosen)
        labels = chosen.labels(chosen.sizes > 0, events.ids, None)
        states |= dict.fromkeys(labels, ("read", ""))
        labels = chosen.labels(normalised | empty, events.ids, None)
        states |= dict.fromkeys(labels, ("doubtful", "probabilities do not sum to 1"))
    if data:
        for forecaster, event in itertools.product(data.names, events.ids):
            states.setdefault(Label(forecaster, event), ("left out", ""))
    for label, (state, detail) in states.items():
        if isinstance(label, Label):
            yield Checked(label.forecaster, label.event, state, detail)
        else:
            yield Checked("", label, state, detail)


# --- Mistakes in problems ---

_SEVERAL: Final = 'several winners, not declared "exclusive": false'


def check_file(path: Path, given: Given) -> Results:
    """Find the mistakes in the problems of a file, or in the events of a CSV; how
    many are pending.

    Ids, option lists and winners that cannot be used; events without a winner, with
    several though not declared `"exclusive": false`, or with one option; closing times
    that are none; of a CSV also rows that will be left out, and prices that will.
    """
    board = None
    if holds_events(path):
        board = load_tables([path], given, any_form=True)
        loaded, count = board.problems, board.rows
    else:
        loaded = load_problems(path, given)
    problems = [*read_problems(loaded)]
    lines = loaded.lines or range(1, len(problems) + 1)
    findings: list[Finding] = []
    first: dict[str, int] = {}  # by id its record; in a CSV its line
    for problem, line in zip(problems, lines, strict=True):
        if problem.id and first.setdefault(problem.id, line) != line:
            seen = f"first in record {first[problem.id]}"
            findings.append(Finding("id used more than once", problem.id, line, seen))
        findings += _check_problem(problem, line)
    if board is None:
        count = len(problems)
    else:
        findings = [*_check_rows(board, first), *findings]
    pending = sum(problem.fault == NO_OUTCOME for problem in problems)
    messages = []
    if pending:
        messages.append(f"{len(problems) - pending} resolved, {pending} pending")
    return check_results(path, loaded.sha256, count, findings, messages)


def _check_rows(board: Board, first: Mapping[str, int]) -> Iterator[Finding]:
    """Find what is odd about the rows of a CSV and which will be left out,
    once per event.
    """
    notes = DataNotes()
    usable, places = choose_problems(board.problems, DataNotes())
    read_forecasts(board.forecasts, make_events(usable, DataNotes()), places, notes, {})
    for (_, text), names in board.notes.names.items():
        for name in map(str, names):
            yield Finding(text, name, first.get(name, 0), "")
    for (_, text), labels in notes.names.items():
        if text == EXCLUDED:
            continue
        counts = Counter(label.event for label in labels if isinstance(label, Label))
        for event, count in counts.items():
            yield Finding(
                text, event, first.get(event, 0), f"in {show_count(count, 'forecast')}"
            )


def _check_problem(problem: Problem, line: int) -> Iterator[Finding]:
    """Find what is wrong with one problem."""
    winners, size = sum(problem.won), len(problem.won)
    kinds = [*problem.odd]
    if problem.fault:
        kinds = [*{problem.fault} - {NO_OUTCOME}, *kinds]
    else:
        if size == 1:
            kinds.append("one option")
        elif not winners:
            kinds.append("no winner")
        elif winners > 1 and not problem.is_declared:
            kinds.append(_SEVERAL)
        if math.isnan(problem.closed) and not problem.odd:
            kinds.append("no closing time")
    for kind in kinds:
        detail = problem.cell
        if kind == _SEVERAL:
            detail = f"{winners} of {size} options"
        yield Finding(kind, problem.id, line, detail or printable(problem.title, 60))
