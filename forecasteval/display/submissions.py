"""What becomes of each answer of a prediction file, before any truth is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import Final, NamedTuple

from forecasteval.common.errors import grouped_names, printable

from .results import Results, list_findings
from .tables import Column, Report

# A doubtful answer is read, but not as it is written; an unknown one is for no
# question; what a forecaster leaves out costs nothing.
STATES: Final = (
    "read",
    "left out",
    "doubtful",
    "not read",
    "given twice",
    "missing",
    "unknown",
)
FINE: Final = STATES[:2]
# A field of the question that the file repeats with another value is no state
# of the answer.
NOTED: Final = "noted"
# Nor is what is said of the whole file, which stands in `detail`.
_OF_FILE: Final = "of the file"


class Checked(NamedTuple):
    """What becomes of an answer, or of a question without one: `state` is
    one of `STATES`.

    `kind`: that of the question, or the forecaster; "" if it is not known. `id`:
        of the question.
    """

    kind: str
    id: str
    state: str
    detail: str = ""


def note_file(notes: Iterable[str]) -> Iterator[Checked]:
    """Give the notes on a prediction file, as what was taken of it."""
    return (Checked("", "", _OF_FILE, note) for note in notes)


def submission_results(
    benchmark: str, prediction: str, dataset: str, answers: Iterable[Checked]
) -> Results:
    """Count the answers by kind and state, and list those whose state is not fine."""
    kinds: dict[str, Counter[str]] = {}
    findings = []
    notes = []
    repeated: dict[str, list[str]] = {}
    for answer in answers:
        if answer.state == _OF_FILE:
            notes.append(answer.detail)
            continue
        if answer.state == NOTED:
            repeated.setdefault(answer.detail, []).append(answer.id)
            continue
        kinds.setdefault(answer.kind, Counter())[answer.state] += 1
        if answer.state not in FINE:
            findings.append(answer._asdict())
    if repeated:
        other = "; ".join(
            f"{key} {grouped_names(ids)}" for key, ids in repeated.items()
        )
        notes.append(f"other values than the dataset's, which count: {other}")
    values = {
        "benchmark": benchmark,
        "prediction": prediction,
        "dataset": dataset,
        "kinds": dict(sorted(kinds.items())),
        "findings": sorted(findings, key=itemgetter("state")),
        "notes": notes,
    }
    return Results(values, _report)


def _report(results: Results) -> Report:
    """Show the counts, and the findings by state."""
    counts = []
    for kind, states in results["kinds"].items():
        named = [f"{states[state]} {state}" for state in STATES if states[state]]
        counts.append(f"{printable(kind, 40) or '–'}: {', '.join(named)}")
    title = (
        f"Submission check  {results['prediction']}, "
        f"{results['dataset'] or 'no dataset'}"
    )
    kind = Column("Kind", lambda finding: printable(finding["kind"], 40))
    findings = list_findings(results["findings"], "state", kind) or [
        "",
        "nothing found",
    ]
    return [
        printable(title, 200),
        *counts,
        *map(printable, results["notes"]),
        *findings,
    ]
