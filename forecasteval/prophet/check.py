"""What becomes of forecasts before any outcome is looked at, and the mistakes in problems."""

from __future__ import annotations

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
        raise InputError(str(files.path), "expected a dataset of problems for it", "none")
    records = load_problems(files.dataset, given)
    problems = [
        {**row, "correct_answer": None, "correct_option_idx": 0}
        for row in records
        if isinstance(row, Mapping)
    ]
    notes = DataNotes()
    usable, places = choose_problems(Loaded("problems", problems, unit="problem"), notes)
    events = make_events(usable, notes)
    data = read_forecasts([load_forecasts(files.path, records, given)], events, places, notes, {})
    chosen = choose_forecasts(data, events, "drop", notes)
    states: dict[Named, tuple[str, str]] = {}  # and details
    if data:
        states |= dict.fromkeys(data.labels(data.sizes > 0, events.ids, None), ("not read", "late"))
    for (what, reason), labels in notes.names.items():
        if what == "forecast":
            kind = "unknown" if reason == UNKNOWN else "not read"
            states |= dict.fromkeys(labels, (kind, reason))
    if chosen:
        normalised, _, empty = odd_sums(events, chosen)
        states |= dict.fromkeys(chosen.labels(chosen.sizes > 0, events.ids, None), ("read", ""))
        odd = chosen.labels(normalised | empty, events.ids, None)
        states |= dict.fromkeys(odd, ("doubtful", "probabilities do not sum to 1"))
    for name in data.names if data else ():
        for event in events.ids:
            states.setdefault(Label(name, event), ("left out", ""))
    for label, (state, detail) in states.items():
        name, event = label if isinstance(label, Label) else ("", label)
        yield Checked(name, event, state, detail)


# --- Mistakes in problems ---

_SEVERAL: Final = 'several winners, not declared "exclusive": false'


def check_file(path: Path, given: Given) -> Results:
    """Find the mistakes in the problems of a file, or in the events of a CSV; how many are pending.

    Ids, option lists and winners that cannot be used; events without a winner, with several though
    not declared `"exclusive": false`, or with one option; closing times that are none; of a CSV
    also rows that will be left out, and prices that will.
    """
    table = load_tables([path], given, any_form=True) if holds_events(path) else None
    loaded = table.problems if table else load_problems(path, given)
    problems = [*read_problems(loaded)]
    findings: list[Finding] = []
    first: dict[str, int] = {}  # by id its record; in a CSV its line
    for problem in problems:
        number = loaded.lines[problem.number - 1] if loaded.lines else problem.number
        if problem.id and first.setdefault(problem.id, number) != number:
            seen = f"first in record {first[problem.id]}"
            findings.append(Finding("id used more than once", problem.id, number, seen))
        findings += _check_problem(problem, number)
    if table:
        findings = [*_check_rows(table, first), *findings]
    pending = sum(problem.fault == NO_OUTCOME for problem in problems)
    told = [f"{len(problems) - pending} resolved, {pending} pending"] if pending else []
    count = table.rows if table else len(problems)
    return check_results(path, loaded.sha256, count, findings, told)


def _check_rows(table: Board, first: Mapping[str, int]) -> Iterator[Finding]:
    """Find what is odd about the rows of a CSV and which will be left out, once per event."""
    notes = DataNotes()
    usable, places = choose_problems(table.problems, DataNotes())
    read_forecasts(table.forecasts, make_events(usable, DataNotes()), places, notes, {})
    for (_, text), names in table.notes.names.items():
        yield from (Finding(text, str(name), first.get(str(name), 0), "") for name in names)
    for (_, text), labels in notes.names.items():
        counts = Counter(label.event for label in labels if isinstance(label, Label))
        for name, count in counts.items() if text != EXCLUDED else ():
            yield Finding(text, name, first.get(name, 0), f"in {show_count(count, 'forecast')}")


def _check_problem(problem: Problem, number: int) -> Iterator[Finding]:
    """Find what is wrong with one problem."""
    winners, size = sum(problem.won), len(problem.won)
    kinds = {
        "one option": size == 1,
        "no winner": size > 1 and not winners,
        _SEVERAL: winners > 1 and not problem.is_declared,
        "no closing time": math.isnan(problem.closed) and not problem.odd,
    }
    found = [kind for kind, is_found in kinds.items() if is_found and not problem.fault]
    for kind in [*{problem.fault} - {"", NO_OUTCOME}, *problem.odd, *found]:
        detail = f"{winners} of {size} options" if kind == _SEVERAL else problem.cell
        yield Finding(kind, problem.id, number, detail or printable(problem.title, 60))
