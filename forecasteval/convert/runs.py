"""Runs: the answers of a file run by run, what was left out of them and why, and a run as a prediction file."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import RecordNotes
from forecasteval.common.records import WRAPPERS, BadRecord, as_text, dump_json, number_text

from .tables import Table

_NO_IDS: Final = frozenset({"id", *WRAPPERS})  # an object with such a key may be read as something else


class Answer(NamedTuple):
    """An answer as its file has it; `problem` says why it is left out.

    `alias` is what its file calls the question where several questions of the dataset have its id: only with its
    prompt does the answer then belong to one of them.
    """

    id: Any
    value: Any
    prompt: Any = None
    run: int = 1
    problem: str = ""
    alias: str = ""


class Run:
    """The answers of a run, the ids of all its records, and the names of the records left out, by reason."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.ids: set[str] = set()
        self.left_out = RecordNotes()

    def notes(self) -> list[str]:
        """A line for each reason to leave records out."""
        return [f"left out, {line}" for line in self.left_out.lines()]


class Source(NamedTuple):
    """A file: its format, its runs by their numbers, notes for the user."""

    format: str
    runs: dict[int, Run]
    notes: list[str]


def collect(form: str, table: Table, read: Callable[[Mapping[str, Any]], Iterable[Answer]]) -> Source:
    """The runs of a table, of whose rows `read` makes answers."""
    runs: dict[int, Run] = {}
    for number, row in enumerate(table.rows, 1):
        if not isinstance(row, Mapping):
            runs.setdefault(1, Run()).left_out["no object"].append(name_bad_row(row, number))
            continue
        for answer in read(row):
            run, name = runs.setdefault(answer.run, Run()), id_text(answer.id)
            run.ids.add(answer.alias or name)
            if not name.strip():
                run.left_out["without an id"].append(f"record {number}")
            elif answer.problem:
                run.left_out[answer.problem].append(name)
            elif problem := _find_problem(answer.value):
                run.left_out[problem[0]].append(name + problem[1])
            else:
                run.answers.append(answer._replace(id=name))
    known = dict.fromkeys([*map(str, table.ids), *(name for run in runs.values() for name in sorted(run.ids))])
    for run in runs.values():
        if missing := [name for name in known if name.strip() and name not in run.ids]:
            run.left_out["not in this run"] = missing
    return Source(form, dict(sorted(runs.items())), list(table.notes))


def name_bad_row(row: object, number: int) -> str:
    """The place of a row that is no object, and why it cannot be read."""
    return f"record {number} ({row.problem})" if isinstance(row, BadRecord) else f"record {number}"


def id_text(name: object) -> str:
    """An id as text, "" if it is none; 7.0 is 7, as a column of numbers with a gap holds floats."""
    if isinstance(name, str):
        return name
    return str(int(name)) if isinstance(name, float) and name.is_integer() else number_text(name)


def is_empty(answer: Any) -> bool:
    """Whether a value is no answer at all: blank, NaN, null, an empty list."""
    if isinstance(answer, str):
        return not answer.strip()
    if isinstance(answer, float):
        return not math.isfinite(answer)  # JSON has neither
    return answer is None or answer == [] or answer == {}


def _find_problem(answer: Any) -> tuple[str, str] | None:
    """(why a value is no answer, what it looks like); an answer is text, a number or a list of such."""
    if is_empty(answer):
        return "without an answer", ""
    for value in answer if isinstance(answer, list) else [answer]:
        if isinstance(value, Mapping):
            return "an object, neither text nor a number", f" with {', '.join(map(str, value))}"
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            return "neither text nor a number", f": {as_text(value) or 'null'}"
    return None


def prediction_text(run: Run) -> tuple[str, int, list[str]]:
    """The prediction file of a run, its number of answers, and notes on ids that repeat.

    The file is `{id: answer}`, which every benchmark reads. Where an id has several answers it is rows with prompts, by
    which FutureX tells questions of one id apart; what stays ambiguous counts as missing there.
    """
    by_id: dict[str, list[Answer]] = {}
    reasons = RecordNotes()
    for answer in run.answers:
        same = by_id.setdefault(answer.id, [])
        if any(answer.prompt == other.prompt and as_text(answer.value) == as_text(other.value) for other in same):
            reasons["given twice, taken once"].append(answer.id)
        else:
            same.append(answer)
    for name, same in by_id.items():
        prompts = {answer.prompt for answer in same if isinstance(answer.prompt, str)}
        if len(same) > 1 and len(prompts) == len(same):
            reasons["ids of several questions, kept with their prompts"].append(name)
        elif len(same) > 1:
            reasons["ids with several answers, all kept; a score counts them as missing"].append(name)
    answers = [answer for same in by_id.values() for answer in same]
    value: Any = {answer.id: answer.value for answer in answers}
    if len(value) < len(answers) or any(answer.alias for answer in answers) or not _NO_IDS.isdisjoint(by_id):
        value = [
            {"id": name, "answer": text, **({"prompt": prompt} if isinstance(prompt, str) else {})}
            for name, text, prompt, *_ in answers
        ]
    return dump_json(value, indent=1) + "\n", len(answers), reasons.lines()
