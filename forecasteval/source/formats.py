"""Formats: how a file is recognised, and which answers a row of it holds.

Logs and batches are known by their keys. In a table the user names the column of the answers, as
another one may hold the truth; only rows of `id` and `prediction` alone need no name.

A row of a log of inspect_ai is a sample: its answer is the model's last output, whole, unless a
scorer of `forecasteval.inspect_tasks` read an index in it. A sample that failed is left out, unless
it was scored all the same.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, RecordNotes, printable
from forecasteval.common.records import (
    BadRecord,
    JsonObject,
    Loaded,
    as_text,
    number_text,
    repeated_keys,
)
from forecasteval.common.replies import is_failed, reply_texts

from .paths import value_at
from .tables import CSV, INSPECT_LOG, read_table

Row = JsonObject
PREDICTION: Final = (
    "forecasteval_prediction"  # in a score's metadata: the index that counts in place of the output
)
# in a sample's metadata: the id of its question, where several have the same id
QUESTION_ID: Final = "forecasteval_id"
_ATTACHMENT: Final = "attachment://"
_EMPTY: Final = ("", "[]", "{}", "NaN", "Infinity", "-Infinity")
_NO_BOX: Final = (
    r"No \boxed{} content found in the final answer."  # MiroFlow's words where a model gave no box
)


# --- Answers, run by run ---


class SourceAnswer(NamedTuple):
    """An answer as its file has it; `problem` says why it is left out.

    `alias` is what its file calls the question where several questions of the dataset have its id:
    only with its prompt does the answer then belong to one of them.
    """

    id: Any
    value: object
    prompt: object = None
    run: int = 1
    problem: str = ""
    alias: str = ""


class SourceRun:
    """The answers of a run, and the names of the records left out, by reason."""

    def __init__(self) -> None:
        self.answers: list[SourceAnswer] = []
        self.left_out = RecordNotes()


class SourceFile(NamedTuple):
    """A file: its format, its runs by their numbers, notes for the user."""

    format: str
    runs: dict[int, SourceRun]
    notes: list[str]


def collect(form: str, table: Loaded, read: Callable[[Row], Iterable[SourceAnswer]]) -> SourceFile:
    """Collect the runs of a table, of whose rows `read` makes answers."""
    runs: dict[int, SourceRun] = defaultdict(SourceRun)
    for number, row in enumerate(table.records, 1):
        if not isinstance(row, Mapping):
            runs[1].left_out["no object"].append(name_bad_row(row, number))
            continue
        for answer in read(row):
            run, name = runs[answer.run], id_text(answer.id)
            if not name.strip():
                run.left_out["without an id"].append(f"record {number}")
            elif answer.problem:
                run.left_out[answer.problem].append(name)
            elif problem := _find_problem(answer.value):
                run.left_out[problem[0]].append(name + problem[1])
            else:
                run.answers.append(answer._replace(id=name))
    return SourceFile(form, dict(sorted(runs.items())), list(table.warnings))


def name_bad_row(row: object, number: int) -> str:
    """Name the place of a row that is no object, and why it cannot be read."""
    if isinstance(row, BadRecord):
        return f"record {number} ({row.problem})"
    return f"record {number}"


MAX_EPOCHS: Final = 1000


def epoch_of(sample: object) -> int:
    """Read the number of a sample's epoch, which is its run; 1 where it has none."""
    epoch = value_at(sample, ["epoch"])
    if type(epoch) is int and 0 < epoch < MAX_EPOCHS:
        return epoch
    return 1


def clear_ids(table: Loaded, column: str) -> None:
    """Make 7.0 of a CSV's ids 7, as it is in JSON. A column of numbers with a gap holds floats."""
    if table.form != CSV:
        return
    for row in table:
        if isinstance(row, dict) and row.get(column):
            row[column] = re.sub(r"\A([0-9]+)\.0+\Z", r"\1", row[column])


def id_text(name: object) -> str:
    """Write an id as text, "" if it is none. 7.0 is 7, as a column of numbers with a gap holds
    floats.
    """
    if isinstance(name, str):
        return name
    if isinstance(name, float) and name.is_integer():
        return number_text(int(name))
    return number_text(name)


def _find_problem(answer: object) -> tuple[str, str] | None:
    """Say (why a value is no answer, what it looks like). An answer is text, a number or a list of
    such.
    """
    if as_text(answer).strip() in _EMPTY:
        return "without an answer", ""
    for value in answer if isinstance(answer, list) else [answer]:
        if isinstance(value, Mapping):
            return "an object, neither text nor a number", f" with {', '.join(map(str, value))}"
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            return "neither text nor a number", f": {as_text(value) or 'null'}"
    return None


# --- Rows of the formats ---


def _read_sample(row: Row) -> Iterator[SourceAnswer]:
    """Read a sample of a log of inspect_ai."""
    scores = row.get("scores")
    stated = _list_predictions(scores)
    problem = ""
    if row.get("invalidation"):
        problem = "invalidated"
    elif row.get("error") and not scores:
        problem = "failed"
    elif stated and stated[0] is None:
        problem = "no index in the reply"
    answer = stated[0] if stated else _read_output(row)
    name, alias = row.get("id"), ""
    question_id = value_at(row, ["metadata", QUESTION_ID])
    if question_id is not None:
        name, alias = question_id, str(name)
    yield SourceAnswer(name, answer, row.get("input"), epoch_of(row), problem, alias)


def _list_predictions(scores: object) -> list[object]:
    """List the indices that scorers read in the output of a sample."""
    if not isinstance(scores, Mapping):
        return []
    metadata = [value_at(score, ["metadata"]) for score in scores.values()]
    return [
        each[PREDICTION] for each in metadata if isinstance(each, Mapping) and PREDICTION in each
    ]


def _read_output(row: Row) -> object:
    """Read what a model wrote; long texts may stand apart."""
    output = value_at(row, ["output", "completion"])
    if not isinstance(output, str) or not output.startswith(_ATTACHMENT):
        return output
    return value_at(row, ["attachments", output.removeprefix(_ATTACHMENT)])


def _read_reply(row: Row) -> Iterator[SourceAnswer]:
    """Read the choices of a reply of OpenAI's batches, each of which belongs to a run."""
    reply = row.get("response")
    problem = "failed" * bool(row.get("error") or is_failed(reply))
    for run, text in enumerate(reply_texts(reply), 1):
        yield SourceAnswer(row.get("custom_id"), text, run=run, problem=problem)


def _read_task(row: Row) -> Iterator[SourceAnswer]:
    """Read the attempts of a row of MiroFlow's `benchmark_results.jsonl`, each of which belongs to
    a run.

    The answer of the row is that of one of its attempts, and which one can depend on the truth
    (pass@k), so it counts only where no attempts are listed. A retry (`retry_id`) tries an attempt
    again, and the last one counts.
    """
    attempts = row.get("attempts")
    if not isinstance(attempts, list):
        attempts = []
    attempts = [attempt for attempt in attempts if isinstance(attempt, Mapping)]
    if all(type(attempt.get("retry_id")) is int for attempt in attempts):
        attempts.sort(key=itemgetter("retry_id"))
    numbers = [attempt.get("attempt_number", attempt.get("attempt_id")) for attempt in attempts]
    if not all(type(number) is int and 0 <= number < 10**6 for number in numbers):
        numbers = [*range(1, len(attempts) + 1)]
    runs = dict(zip(numbers, attempts, strict=True)) or {1: row}
    for number, attempt in runs.items():
        answer, problem = attempt.get("model_boxed_answer"), ""
        if answer == _NO_BOX:
            problem = "no box in the reply"
        elif not answer and attempt.get("status") in ("failed", "run_failed"):
            problem = "failed"
        yield SourceAnswer(row.get("task_id"), answer, row.get("task_question"), number, problem)


class Format(NamedTuple):
    """A format whose records, or whose one object, have all of `keys`."""

    name: str
    keys: Set[str]
    read: Callable[[Row], Iterable[SourceAnswer]]


# The first whose keys are all there counts.
FORMATS: Final = (
    Format("OpenAI batch output", {"custom_id", "response"}, _read_reply),
    Format("MiroFlow results", {"task_id", "attempts"}, _read_task),
    Format("MiroFlow results", {"task_id", "model_boxed_answer"}, _read_task),
)
SUBMISSION: Final = {"id", "prediction"}  # the keys of FutureX's submissions
_EXPECTED: Final = (
    "expected --answer COLUMN, the model's answers, and --id COLUMN if it is not id"
    " ({id: answer} is a prediction already; of {id: {…}} name a key)"
)
PROMPTS: Final = ("prompt", "question", "task_question", "input")


def read_source(path: Path, id_column: str | None = None, answer: str | None = None) -> SourceFile:
    """Read the runs of a file of any format, or a table whose columns the user names.

    Raises InputError if the file cannot be read, and if the columns are neither named nor known.
    """
    is_named = bool(id_column or answer)
    table = read_table(path)
    if table.form == INSPECT_LOG:
        if is_named:
            got = f"{path}, a log of inspect_ai"
            raise InputError("--id, --answer", "expected a table or rows of JSON", got)
        return collect(table.form, table, _read_sample)
    for form in FORMATS:
        if not is_named and form.keys <= set(table.names):
            return collect(form.name, table, form.read)
    return _read_columns(path, table, id_column or "id", answer)


def _read_columns(path: Path, table: Loaded, name: str, answer: str | None) -> SourceFile:
    """Read the run of a table's rows; InputError if a column is not named, or not once there.

    `{id: {"answer": …}}` has the rows `{"id", "prediction": {"answer": …}}`.
    """
    names, rows = table.names, [*table]
    if set(names) == SUBMISSION and not table.is_map:
        answer = answer or "prediction"
    column = answer or ""
    place = [column] if column in names else column.split(".")
    place = place if place[0] in names else ["prediction", *place]
    for each, keys in ((column, place), (name, [name])):
        if names.count(keys[0]) != 1 or all(value_at(row, keys) is None for row in rows):
            unknown = f"no single column {printable(each, 60)} with values: " if each else ""
            raise InputError(str(path), unknown + _EXPECTED, show_names(names))
    prompt = next((key for key in PROMPTS if key in names), "")
    clear_ids(table, name)

    def read_row(row: Row) -> Iterator[SourceAnswer]:
        twice = {name, place[0]} & set(repeated_keys(row))
        problem = "with a key that is given twice" * bool(twice)
        value = value_at(row, place)
        yield SourceAnswer(row.get(name), value, row.get(prompt), problem=problem)

    source = collect(table.form, table, read_row)
    source.notes.append(f"column of answers: {printable(column, 60)}")
    return source


def show_names(names: Sequence[str]) -> str:
    """List the first eight names of columns, for a message."""
    return ", ".join(printable(name, 40) for name in names[:8]) or "none"
