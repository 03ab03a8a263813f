"""Prediction files in other forms than the plain one, and of several runs or systems.

A command that a message prints has been tried on the file before: with the same
options, on the rows that were read.
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

from forecasteval.common.errors import InputError, printable
from forecasteval.common.files import is_spooled
from forecasteval.common.records import CSV, Loaded
from forecasteval.common.text import inner_name

from .formats import Named, SourceFile, read_source
from .paths import format_path
from .questions import Questions, UnknownFormError
from .shapes import Shape, UnclearError, find_split, require_distinct
from .tables import as_table, read_table

_PLAIN: Final = "expected 'id' and 'answer' or 'prediction' in the records"
_MAX_TRIED: Final = 3  # parts that may be the answer
_MAX_TRIED_ROWS: Final = 10_000
_ONE: Final = "expected one answer to a question"


def load_form(
    path: Path, questions: Questions, any_form: bool, loaded: Loaded | None = None
) -> Loaded:
    """Load the answers of a file in another form than the plain one as plain records;
    `loaded` are its records, if it has any.

    Raises UnknownFormError if there are none, and InputError with a command for several
    runs, for what two parts may be, and, unless `any_form`, for all that is not plain.
    """
    try:
        # Of a CSV that is none the content says what it is.
        is_json = loaded is not None and loaded.form != CSV
        table = as_table(loaded) if loaded is not None and is_json else read_table(path)
        source = read_source(table, questions=questions)
        if source.shape.answer and len(source.runs) == 1:
            require_distinct(table, source.shape, questions)
    except UnclearError as unclear:
        raise UnknownFormError(
            str(path), _PLAIN, _explain(table, unclear, questions)
        ) from None
    except InputError as error:
        raise UnknownFormError(error.where, error.expected, error.got) from None
    if not _fits(source, questions):
        raise UnknownFormError(
            str(path), "expected predictions for this dataset", "other ids"
        )
    if len(source.runs) > 1 or source.shape.is_guess or not any_form:
        what = _ONE if len(source.runs) > 1 else _PLAIN
        raise InputError(str(path), what, describe_source(table, source, questions))

    (run,) = source.runs.values()
    rows = []
    for answer in run.answers:
        row = {"id": answer.id, "answer": answer.value}
        # Questions that share an id are told apart by their prompts.
        if questions.ids[answer.id.strip()] > 1:
            row["prompt"] = answer.prompt
        rows.append(row)
    taken = "; ".join([source.format, *source.notes])
    notes = [f"{printable(path.name)}: read as {taken}"]
    notes += [f"left out, {line}" for line in run.left_out.lines()]
    return Loaded(path, rows, table.sha256, warnings=notes, damaged=table.damaged)


def require_one(loaded: Loaded, key: str, questions: Questions) -> None:
    """Raise InputError if plain records, with their answers under `key`, are of several
    systems or runs.
    """
    path = Path(loaded.path)
    plain = Shape(("id",), (key,))
    try:
        shape = find_split(loaded, plain, questions)
        if shape == plain:
            require_distinct(loaded, plain, questions)
    except UnclearError as unclear:
        table = as_table(loaded)
        raise InputError(str(path), _ONE, _explain(table, unclear, questions)) from None
    if shape != plain:
        table = as_table(loaded)
        source = read_source(table, _name_parts(shape), questions)
        raise InputError(str(path), _ONE, describe_source(table, source, questions))


def describe_source(table: Loaded, source: SourceFile, questions: Questions) -> str:
    """Describe what a file has, and the command that makes plain files of it."""
    shown = "; ".join(source.notes) or source.format
    if source.labels:
        values = ", ".join(" ".join(label) for label in source.labels.values())
        shown += f" ({printable(values, 60)})"
    command = _find_command(table, source.shape, questions)
    if command:
        return f"{shown}; make predictions of it: {command}"
    return shown


def _explain(table: Loaded, unclear: UnclearError, questions: Questions) -> str:
    """Explain what is not clear, with a command that names one of the parts."""
    shapes = unclear.shapes[:_MAX_TRIED]
    commands = (_find_command(table, shape, questions) for shape in shapes)
    command = next(filter(None, commands), "")
    if command:
        return f"{unclear}; name one: {command}"
    return str(unclear)


def _find_command(table: Loaded, shape: Shape, questions: Questions) -> str:
    """Find the command that makes predictions of a file of this shape;
    "" if none does.
    """
    path = Path(table.path)
    if is_spooled(path):
        return ""
    named = _name_parts(shape)
    words = ["convert", str(path), *named.options()]
    output = path.with_name(f"{inner_name(path).stem}-answers.json")
    end = ["-o", str(output)]
    if printable(" ".join(words)) != " ".join(words):
        return ""  # nobody can type it
    if not shape.ids and _makes_answers(table, named, None, questions):
        return shlex.join([*words, *end])
    if questions.path is None:
        return ""
    if _makes_answers(table, named, questions, questions):
        return shlex.join([*words, "--questions", str(questions.path), *end])
    return ""


def _makes_answers(
    table: Loaded, named: Named, known: Questions | None, questions: Questions
) -> bool:
    """Return whether a command with these options and this knowledge reads
    answers to questions.
    """
    some = replace(table, records=[*islice(table, _MAX_TRIED_ROWS)])
    try:
        source = read_source(some, named, known)
    except (InputError, UnclearError):
        return False
    return not source.shape.is_guess and _fits(source, questions)


def _name_parts(shape: Shape) -> Named:
    """Name the parts of a shape as a user would; prompts are found by the dataset."""
    is_found = shape.ids or shape.id == ("id",)
    id_path = "" if is_found else format_path(shape.id)
    paths = (shape.answer, shape.run, shape.system)
    return Named(id_path, *map(format_path, paths))


def _fits(source: SourceFile, questions: Questions) -> bool:
    """Return whether a file has an answer to one of the questions."""
    answers = (answer for run in source.runs.values() for answer in run.answers)
    return any(answer.id.strip() in questions.ids for answer in answers)
