"""What becomes of forecasts before any outcome is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from forecasteval.benchmark import Files
from forecasteval.common.errors import InputError
from forecasteval.common.records import Loaded
from forecasteval.display.submissions import Checked

from .events import collect_events
from .fields import DataNotes
from .forecast_sets import load_forecasts, load_problems
from .forecasts import UNKNOWN, choose_forecasts, read_forecasts
from .score_table import odd_sums


def check_answers(files: Files) -> Iterator[Checked]:
    """Say what becomes of each forecast, and which events each forecaster leaves out.

    Every event gets its first option as the winner, so that outcomes decide nothing.
    """
    if not files.dataset:
        raise InputError(str(files.path), "expected a dataset of problems for it", "none")
    given = load_problems(files.dataset)
    problems = [
        {**row, "correct_answer": None, "correct_option_idx": 0}
        for row in given
        if isinstance(row, Mapping)
    ]
    notes = DataNotes()
    events, places = collect_events(Loaded("problems", problems, unit="problem"), notes)
    data = read_forecasts([load_forecasts(files.path, given)], events, places, notes, {})
    chosen = choose_forecasts(data, events, "drop", notes)
    states: dict[str, tuple[str, str]] = {}  # and details, by `NAME on EVENT`
    if data:
        states |= dict.fromkeys(data.labels(data.sizes > 0, events.ids, None), ("not read", "late"))
    for (what, reason), labels in notes.names.items():
        if what == "forecast":
            state = "unknown" if reason == UNKNOWN else "not read"
            states |= dict.fromkeys(labels, (state, reason))
    if chosen:
        normalised, _, empty = odd_sums(events, chosen)
        states |= dict.fromkeys(chosen.labels(chosen.sizes > 0, events.ids, None), ("read", ""))
        odd = chosen.labels(normalised | empty, events.ids, None)
        states |= dict.fromkeys(odd, ("doubtful", "probabilities do not sum to 1"))
    for name in data.names if data else ():
        for event in events.ids:
            states.setdefault(f"{name} on {event}", ("left out", ""))
    for label, (state, detail) in states.items():
        name, _, event = label.rpartition(" on ")
        yield Checked(name, event, state, detail)
