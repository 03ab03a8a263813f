"""FutureX-Past as a dataset of FutureX: its questions with their truths, in both editions.

The first edition has `question_id, question, answer, options, end-time, prompt, level`, the second `id, prompt,
end_time, level, title, ground_truth`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from forecasteval.common.errors import InputError, RecordNotes, printable

from .rows import Columns
from .runs import id_text, name_bad_row
from .tables import Table

# What our field is called in a table, the first name that is there.
_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "id": ("id", "question_id"),
    "prompt": ("prompt", "question"),
    "level": ("level",),
    "ground_truth": ("ground_truth", "answer"),
    "Std": ("Std", "std", "sigma"),
    "end_time": ("end_time", "end-time"),
}
_NEEDED: Final = ("id", "prompt", "level", "ground_truth")


def read_questions(path: Path, table: Table, columns: Columns) -> tuple[list[dict[str, Any]], list[str]]:
    """The questions of a table, and notes on what was left out; InputError if a column that all need is not there.

    `columns` may name those of ids and truths.
    """
    wanted = {"id": columns.id, "ground_truth": columns.answer}
    source: dict[str, str] = {}
    for field, known in _NAMES.items():
        names = (given,) if (given := wanted.get(field)) else known
        match = next((name for name in names if name in table.names), None)
        if match:
            source[field] = match
        elif field in _NEEDED:
            there = ", ".join(printable(name, 40) for name in table.names[:8]) or "none"
            raise InputError(str(path), f"expected a column {' or '.join(names)}", there)
    questions, left_out = [], RecordNotes()
    for number, row in enumerate(table.rows, 1):
        if isinstance(row, Mapping):
            questions.append(_read_question(row, source))
        else:
            left_out["left out, no object"].append(name_bad_row(row, number))
    if not questions:
        raise InputError(str(path), "expected questions", "none")
    notes = [*table.notes, f"column of truths: {printable(source['ground_truth'], 40)}"]
    return questions, [*notes, *left_out.lines()]


def _read_question(row: Mapping[str, Any], source: Mapping[str, str]) -> dict[str, Any]:
    """One question; the level of a CSV is text and becomes a number."""
    question = {field: row.get(name) for field, name in source.items()}
    level = question["level"]
    question["id"] = id_text(question["id"]) or None
    question["level"] = int(level) if isinstance(level, str) and level.strip() in {"1", "2", "3", "4"} else level
    return {"Std": None, **question}
