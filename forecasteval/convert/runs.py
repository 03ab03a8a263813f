"""A run: one set of answers of a system, and everything that was left out of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import RecordNotes
from forecasteval.common.records import WRAPPERS, BadRecord, as_text, dump_json, number_text

_NO_IDS: Final = frozenset({"id", *WRAPPERS})  # an object with such a key may be read as something else


class Answer(NamedTuple):
    """One answer as its file has it; `problem` says why it is none.

    `alias` is what its file calls it where its id repeats in the dataset: only with its prompt does it belong to one
    question.
    """

    id: Any
    value: Any
    prompt: Any = None
    run: int = 1
    problem: str = ""
    alias: str = ""


class Run:
    """The answers of one run; `left_out` has the names of those that are none, by reason."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.ids: set[str] = set()
        self.left_out = RecordNotes()

    def notes(self) -> list[str]:
        """What was left out, a line per reason."""
        return [f"left out, {line}" for line in self.left_out.lines()]


class Source(NamedTuple):
    """What a file holds: its format, its runs by their numbers, and what else there is to say."""

    format: str
    runs: dict[int, Run]
    notes: Sequence[str]


def collect(
    form: str,
    rows: Iterable[Any],
    read: Callable[[Mapping[str, Any]], Iterable[Answer]],
    notes: Sequence[str] = (),
    ids: Iterable[Any] = (),
) -> Source:
    """The runs of all answers that `read` finds in rows; `ids` are those of questions that every run should answer."""
    runs: dict[int, Run] = {}
    for number, row in enumerate(rows, 1):
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
    known = dict.fromkeys([*map(str, ids), *(name for run in runs.values() for name in sorted(run.ids))])
    for run in runs.values():
        missing = [name for name in known if name.strip() and name not in run.ids]
        if missing:
            run.left_out["not in this run"] = missing
    return Source(form, dict(sorted(runs.items())), notes)


def name_bad_row(row: object, number: int) -> str:
    """The place of a row that is no object, and why it cannot be read."""
    return f"record {number} ({row.problem})" if isinstance(row, BadRecord) else f"record {number}"


def id_text(name: object) -> str:
    """An id as text, "" if it is none; 7.0 is 7: a column of numbers has such ones if an id is missing in it."""
    if isinstance(name, str):
        return name
    return str(int(name)) if isinstance(name, float) and name.is_integer() else number_text(name)


def is_empty(answer: Any) -> bool:
    """Whether this is no answer at all."""
    if isinstance(answer, str):
        return not answer.strip()
    if isinstance(answer, float):
        return not math.isfinite(answer)  # JSON has neither
    return answer is None or answer == [] or answer == {}


def _find_problem(answer: Any) -> tuple[str, str] | None:
    """Why this is no answer, which is text, a number or a list of such, and what it looks like."""
    if is_empty(answer):
        return "without an answer", ""
    for value in answer if isinstance(answer, list) else [answer]:
        if isinstance(value, Mapping):
            return "an object, neither text nor a number", f" with {', '.join(map(str, value))}"
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            return "neither text nor a number", f": {as_text(value) or 'null'}"
    return None


def prediction_text(run: Run) -> tuple[str, int, list[str]]:
    """The prediction file of a run, how many answers it has, and what there is to say of ids that repeat.

    It is `{id: answer}`, which every benchmark reads. Where an id has several answers it is rows with prompts, by which
    FutureX tells questions of one id apart; what stays ambiguous counts as missing there.
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
        if len(same) > 1:
            prompts = {answer.prompt for answer in same if isinstance(answer.prompt, str)}
            reason = "ids with several answers, all kept; a score counts them as missing"
            if len(prompts) == len(same):
                reason = "ids of several questions, kept with their prompts"
            reasons[reason].append(name)
    answers = [answer for same in by_id.values() for answer in same]
    value: Any = {answer.id: answer.value for answer in answers}
    if len(value) < len(answers) or any(answer.alias for answer in answers) or not _NO_IDS.isdisjoint(by_id):
        value = [
            {"id": name, "answer": text, **({"prompt": prompt} if isinstance(prompt, str) else {})}
            for name, text, prompt, *_ in answers
        ]
    return dump_json(value, indent=1) + "\n", len(answers), reasons.lines()
