"""Mistakes in the events of a dataset, found before anyone forecasts them or is ranked by them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from forecasteval.common.errors import printable
from forecasteval.common.records import BadRecord, RecordFile
from forecasteval.common.results import Finding, Results, check_results

from .csv_files import CsvFile
from .events import read_problem
from .fields import Notes, Refusal, read_id


def check_file(path: Path) -> Results:
    """What should be mended in the problems of a file, or in the events of a CSV.

    Ids, option lists and winners that cannot be used; events without a winner, with several though not declared
    `"exclusive": false`, or with one option; closing times that are none; of a CSV also prices that are none, and bids
    above asks.
    """
    if path.suffix == ".csv":
        return _check_csv(path)
    dataset = RecordFile(path)
    findings: list[Finding] = []
    seen: dict[str, int] = {}
    number = 0
    for number, record in enumerate(dataset, 1):
        if not isinstance(record, Mapping):
            problem = record.problem if isinstance(record, BadRecord) else type(record).__name__
            findings.append(Finding("no object", "", number, problem))
            continue
        name = read_id(record.get("problem_id"))
        if not name:
            findings.append(Finding("no 'problem_id'", "", number, ""))
        elif seen.setdefault(name, number) != number:
            findings.append(Finding("id used more than once", name, number, f"first in record {seen[name]}"))
        findings += [Finding(kind, name, number, detail) for kind, detail in _check_problem(record)]
    return check_results(path, dataset.sha256, number, findings)


def _check_problem(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Kind and detail of what is wrong with one problem."""
    notes = Notes()
    problem = read_problem(record, "", notes)
    shown = printable(record.get("title") or "", 60)
    if isinstance(problem, str):
        yield problem, shown
        return
    yield from ((text, shown) for text in notes.odd())
    if problem.size == 1:
        yield "one option", shown
    elif not problem.winners:
        yield "no winner", shown
    elif len(problem.winners) > 1 and record.get("exclusive") is not False:
        yield 'several winners, not declared "exclusive": false', f"{len(problem.winners)} of {problem.size} options"
    if problem.closed != problem.closed and not notes.odd():
        yield "no closing time", shown


def _check_csv(path: Path) -> Results:
    """Its events, each at the line where it is first named."""
    file, notes = CsvFile(path), Notes()
    lines: dict[str, int] = {}
    prices: Counter[tuple[str, str]] = Counter()
    findings: list[Finding] = []
    for record in file:
        name = record.problem_id if isinstance(record, Refusal) else record["problem_id"]
        lines.setdefault(name, file.line)
        if not name:
            findings.append(Finding("no event_ticker", "", file.line, ""))
        if not isinstance(record, Refusal):
            prices.update((kind, name) for kind in _check_prices(record["odds"], record["bids"]))
    for problem in file.problems(notes):
        if isinstance(problem, Refusal):
            findings.append(Finding(problem.reason, problem.problem_id, lines[problem.problem_id], ""))
        else:
            name = problem["problem_id"]
            findings += [Finding(kind, name, lines[name], detail) for kind, detail in _check_problem(problem)]
    findings += [Finding(text, name, lines[name], "") for text, names in notes.odd().items() for name in names]
    findings += [Finding(kind, name, lines[name], f"in {count} rows") for (kind, name), count in prices.items()]
    return check_results(path, file.sha256, file.rows, findings)


def _check_prices(odds: list[float], bids: list[float]) -> Iterator[str]:
    if not all(0 < ask <= 1 for ask in odds):
        yield "an asking price that is not above 0 and at most 100 cents"
    if not all(0 <= bid <= 1 for bid in bids):
        yield "a bid that is not between 0 and 100 cents"
    elif any(bid > ask for bid, ask in zip(bids, odds, strict=True)):
        yield "a bid above the asking price"
