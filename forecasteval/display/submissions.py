"""What becomes of each answer of a prediction file, before any truth is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import partial
from operator import itemgetter
from typing import Final, NamedTuple

from forecasteval.common.errors import printable
from forecasteval.common.records import group_by

from .results import Results
from .tables import Column, Report, make_table

# A doubtful answer is read, but not as it is written; an unknown one is for no question; what a
# forecaster leaves out costs nothing.
STATES: Final = ("read", "left out", "doubtful", "not read", "given twice", "missing", "unknown")
FINE: Final = STATES[:2]


class Checked(NamedTuple):
    """What becomes of an answer, or of a question without one: `state` is one of `STATES`.

    `kind`: that of the question, or the forecaster; "" if it is not known. `id`: of the question.
    """

    kind: str
    id: str
    state: str
    detail: str = ""


def submission_results(
    benchmark: str, prediction: str, dataset: str, answers: Iterable[Checked]
) -> Results:
    """Count the answers by kind and state, and list those whose state is not fine."""
    by_kind = group_by(answers, itemgetter(0))
    values = {
        "benchmark": benchmark,
        "prediction": prediction,
        "dataset": dataset,
        "kinds": {
            kind: Counter(answer.state for answer in by_kind[kind]) for kind in sorted(by_kind)
        },
        "findings": [
            answer._asdict()
            for same in by_kind.values()
            for answer in same
            if answer.state not in FINE
        ],
    }
    return Results(values, _report)


_FINDINGS: Final = (
    Column("  Id", lambda finding: f"  {printable(finding['id'], 40)}"),
    Column("Kind", lambda finding: printable(finding["kind"], 40)),
    Column("Detail", lambda finding: printable(finding["detail"], 120)),
)


def _report(results: Results) -> Report:
    """Show the counts, and the findings by state."""
    kinds: dict[str, Counter[str]] = results["kinds"]
    titles = [state for state in STATES if any(state in counts for counts in kinds.values())]
    columns = [Column(results["benchmark"], lambda row: printable(row[0], 40) or "–")]
    columns += [
        Column(state.capitalize(), partial(_show_count, state), "number") for state in titles
    ]
    names = printable(f"{results['prediction']}, {results['dataset'] or 'no dataset'}", 200)
    report: Report = [f"Submission check  {names}", "", make_table(columns, [*kinds.items()])]
    for state, same in sorted(group_by(results["findings"], itemgetter("state")).items()):
        report += ["", f"{state}: {len(same)}", make_table(_FINDINGS, same)]
    return report if results["findings"] else [*report, "", "nothing found"]


def _show_count(state: str, row: tuple[str, Counter[str]]) -> str:
    return str(row[1][state])
