"""A run: one set of answers of a system, and everything that was left out of it."""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, grouped_warning
from forecasteval.common.records import WRAPPERS, as_text, dump_json, number_text

AMBIGUOUS: Final = "ids with several answers, all kept; a score counts them as missing"
_NO_IDS: Final = frozenset({"id", *WRAPPERS})  # an object with such a key may be read as something else


class Row(NamedTuple):
    """One answer as it was written; the prompt if it is known."""

    name: str
    answer: Any
    prompt: str | None


class Run:
    """The answers of one run; `left_out` has the names of those without, by reason.

    `by_prompt`: ids repeat in the dataset, and only with its prompt does an answer belong to one question.
    """

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.left_out: dict[str, list[str]] = {}
        self.by_prompt = False

    def add(self, name: object, answer: Any, prompt: object = None, place: str = "") -> None:
        """Take one answer; `place` names it where it has no id."""
        text = _id_text(name)
        if not text.strip():
            self.leave_out("without an id", place)
        elif is_empty(answer):
            self.leave_out("without an answer", text)
        else:
            self.rows.append(Row(text, answer, prompt if isinstance(prompt, str) else None))

    def leave_out(self, reason: str, name: object) -> None:
        self.left_out.setdefault(reason, []).append(str(name))

    def notes(self) -> list[str]:
        """What was left out, a line per reason."""
        return [grouped_warning(f"left out, {reason}", names) for reason, names in self.left_out.items()]


class Source(NamedTuple):
    """What a file holds: its format, its runs by their numbers, and what else is to be said."""

    format: str
    runs: dict[int, Run]
    notes: list[str]


def _id_text(name: object) -> str:
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


def prediction_text(run: Run, where: str) -> tuple[str, int, list[str]]:
    """The prediction file of a run, how many answers it has, and what is to be said of ids that repeat.

    It is `{id: answer}`, which every benchmark reads. Where an id has several answers it is rows with prompts, by which
    FutureX tells questions of one id apart; what stays ambiguous counts as missing there.
    """
    rows_of: dict[str, list[Row]] = {}
    repeated = []
    for row in run.rows:
        found = rows_of.setdefault(row.name, [])
        if any(row.prompt == other.prompt and as_text(row.answer) == as_text(other.answer) for other in found):
            repeated.append(row.name)
        else:
            found.append(row)
    several = {name: found for name, found in rows_of.items() if len(found) > 1}
    rows = [row for found in rows_of.values() for row in found]
    value: Any = {row.name: row.answer for row in rows}
    if several or run.by_prompt or not _NO_IDS.isdisjoint(rows_of):
        value = [
            {"id": name, "answer": answer, **({"prompt": prompt} if prompt is not None else {})}
            for name, answer, prompt in rows
        ]
    told = {"given twice, taken once": repeated}
    for name, found in several.items():
        apart = None not in (prompts := {row.prompt for row in found}) and len(prompts) == len(found)
        reason = "ids of several questions, kept with their prompts" if apart else AMBIGUOUS
        told.setdefault(reason, []).append(name)
    notes = [grouped_warning(reason, names) for reason, names in told.items() if names]
    try:
        return dump_json(value, indent=1) + "\n", len(rows), notes
    except RecursionError:
        raise InputError(where, "expected answers", "JSON nested too deeply") from None
