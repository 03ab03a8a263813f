"""Formats: which answers the rows of a file hold, run by run.

Logs and batches are known by their keys. In other rows the user names what counts, or
it is found (`shapes`).

A row of a log of inspect_ai is a sample: its answer is the model's last output, whole,
unless a scorer of `forecasteval.inspect_tasks` read an index in it. A sample that
failed is left out, unless it was scored all the same.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, RecordNotes, printable
from forecasteval.common.records import CSV, BadRecord, JsonObject, Loaded, as_text
from forecasteval.common.replies import is_failed, reply_texts

from . import paths
from .paths import SYSTEM_KEY, join_systems, list_tables, parse_path, value_at
from .questions import Questions, id_text
from .shapes import (
    Shape,
    UnclearError,
    find_columns,
    find_id,
    find_shape,
    find_split,
    has_two_values,
)
from .tables import INSPECT_LOG

Row = JsonObject
PREDICTION: Final = (
    # In a score's metadata: the index that counts in place of the output
    "forecasteval_prediction"
)
# in a sample's metadata: the id of its question, where several have the same id
QUESTION_ID: Final = "forecasteval_id"
_ATTACHMENT: Final = "attachment://"
_MAX_ATTEMPTS: Final = 10**6
_EMPTY: Final = ("", "[]", "{}", "NaN", "Infinity", "-Infinity")
_NO_BOX: Final = (
    # MiroFlow's words where a model gave no box
    r"No \boxed{} content found in the final answer."
)


# --- Answers, run by run ---


class SourceAnswer(NamedTuple):
    """An answer as its file has it; `problem` says why it is left out.

    `alias` is what its file calls the question where several questions of the dataset
    have its id: only with its prompt does the answer then belong to one of them.
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


_NO_SHAPE: Final = Shape((), ())


@dataclass
class SourceFile:
    """A file: its format, its runs by their numbers, and notes for the user.

    shape: where the parts of its answers stand; without paths where the format says it.
    labels: of rows that were told apart by columns, the values of these by run.
    """

    format: str
    runs: dict[int, SourceRun]
    notes: list[str]
    shape: Shape = _NO_SHAPE
    labels: Mapping[int, tuple[str, ...]] = field(default_factory=dict)


def _collect(
    form: str,
    table: Loaded,
    read: Callable[[Row], Iterable[SourceAnswer]],
    rows: Iterable[Any] | None = None,
) -> SourceFile:
    """Collect the runs of a table, of whose rows `read` makes answers."""
    runs: dict[int, SourceRun] = defaultdict(SourceRun)
    for number, row in enumerate(table if rows is None else rows, 1):
        if not isinstance(row, Mapping):
            runs[1].left_out["no object"].append(name_bad_row(row, number))
            continue
        for answer in read(row):
            run = runs[answer.run]
            name = clean_id(answer.id, table)
            problem, looks = _find_problem(answer.value)
            if not name.strip():
                run.left_out["without an id"].append(f"record {number}")
            elif answer.problem:
                run.left_out[answer.problem].append(name)
            elif problem:
                run.left_out[problem].append(name + looks)
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


def clean_id(name: object, table: Loaded) -> str:
    """Write an id as text. 7.0 of a CSV is 7, as a column of numbers with a
    gap holds floats.
    """
    text = id_text(name)
    if table.form == CSV:
        return re.sub(r"\A([0-9]+)\.0+\Z", r"\1", text)
    return text


def _find_problem(answer: object) -> tuple[str, str]:
    """Say (why a value is no answer, what it looks like). An answer is text, a number
    or a list of such.
    """
    if as_text(answer).strip() in _EMPTY:
        return "without an answer", ""
    values = answer if isinstance(answer, list) else [answer]
    for value in values:
        if isinstance(value, Mapping):
            return (
                "an object, neither text nor a number",
                f" with {', '.join(map(str, value))}",
            )
        is_scalar = isinstance(value, (str, int, float)) and not isinstance(value, bool)
        if not is_scalar:
            return "neither text nor a number", f": {as_text(value) or 'null'}"
    return "", ""


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
    name = row.get("id")
    alias = ""
    question_id = value_at(row, ["metadata", QUESTION_ID])
    if question_id is not None:
        name, alias = question_id, str(name)
    prompt = row.get("input")
    yield SourceAnswer(name, answer, prompt, epoch_of(row), problem, alias)


def _list_predictions(scores: object) -> list[object]:
    """List the indices that scorers read in the output of a sample."""
    if not isinstance(scores, Mapping):
        return []
    predictions = []
    for score in scores.values():
        metadata = value_at(score, ["metadata"])
        if isinstance(metadata, Mapping) and PREDICTION in metadata:
            predictions.append(metadata[PREDICTION])
    return predictions


def _read_output(row: Row) -> object:
    """Read what a model wrote; long texts may stand apart."""
    output = value_at(row, ["output", "completion"])
    if not isinstance(output, str) or not output.startswith(_ATTACHMENT):
        return output
    return value_at(row, ["attachments", output.removeprefix(_ATTACHMENT)])


def _read_reply(row: Row) -> Iterator[SourceAnswer]:
    """Read the choices of a reply of OpenAI's batches, each of which
    belongs to a run.
    """
    reply = row.get("response")
    problem = "failed" * bool(row.get("error") or is_failed(reply))
    for run, text in enumerate(reply_texts(reply), 1):
        yield SourceAnswer(row.get("custom_id"), text, run=run, problem=problem)


def _read_task(row: Row) -> Iterator[SourceAnswer]:
    """Read the attempts of a row of MiroFlow's `benchmark_results.jsonl`, each of which
    belongs to a run.

    The answer of the row is that of one of its attempts, and which one can depend on
    the truth (pass@k), so it counts only where no attempts are listed. A retry
    (`retry_id`) tries an attempt again, and the last one counts.
    """
    attempts = row.get("attempts")
    if not isinstance(attempts, list):
        attempts = []
    attempts = [attempt for attempt in attempts if isinstance(attempt, Mapping)]
    if all(type(attempt.get("retry_id")) is int for attempt in attempts):
        attempts.sort(key=itemgetter("retry_id"))
    numbers = [
        attempt.get("attempt_number", attempt.get("attempt_id")) for attempt in attempts
    ]
    are_numbers = all(
        type(number) is int and 0 <= number < _MAX_ATTEMPTS for number in numbers
    )
    if not are_numbers:
        numbers = [*range(1, len(attempts) + 1)]
    runs = dict(zip(numbers, attempts, strict=True)) or {1: row}
    for number, attempt in runs.items():
        answer = attempt.get("model_boxed_answer")
        problem = ""
        if answer == _NO_BOX:
            problem = "no box in the reply"
        elif not answer and attempt.get("status") in ("failed", "run_failed"):
            problem = "failed"
        yield SourceAnswer(
            row.get("task_id"), answer, row.get("task_question"), number, problem
        )


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
EXPECTED: Final = (
    "expected --answer COLUMN, the model's answers, and --id COLUMN if it is not id"
    " ({id: answer} is a prediction already; of {id: {…}} name a key)"
)
_PROMPTS: Final = ("prompt", "question", "task_question", "input")


class Named(NamedTuple):
    """The paths that the user has named, "" for those to be found."""

    id: str = ""
    answer: str = ""
    run: str = ""
    system: str = ""

    def options(self) -> list[str]:
        """Write them as options of `convert`."""
        words = []
        for name, text in self._asdict().items():
            # A column of a stranger may be called --force.
            if text.startswith("-"):
                words.append(f"--{name}={text}")
            elif text:
                words += [f"--{name}", text]
        return words


# --- Any file ---


def read_source(
    table: Loaded, named: Named | None = None, questions: Questions | None = None
) -> SourceFile:
    """Read the runs of a table of any format, or of rows in which the user names what
    counts, or which the ids of the questions show.

    Raises UnclearError if it is not clear what counts, InputError for a name
    that no row has.
    """
    named = named or Named()
    if table.form == INSPECT_LOG and not named.answer:
        return _read_format(table, table.form, _read_sample, named, questions)
    for form in FORMATS:
        if form.keys <= set(table.names) and not named.answer:
            return _read_format(table, form.name, form.read, named, questions)

    tables = [[*table], *list_tables(table)]
    if table.is_map and questions is None:
        # Without a dataset the keys of one object may be ids, or be of any
        # other program.
        tables = [rows for rows in tables if named.answer or not _is_map(rows)]
    shapes, problems = _find_shapes(table, tables, named, questions)
    if len(shapes) != 1 and (named.answer or questions):
        ids = {*questions.ids, *questions.prompts} if questions else None
        joined, _ = _find_shapes(table, join_systems(table, ids), named, questions)
        # Of {id: {…}} the names are ids.
        of_systems = [match for match in joined if match[1].id != (SYSTEM_KEY,)]
        shapes = [_split_systems(*match, questions) for match in of_systems] or shapes
    if len(shapes) > 1:
        raise UnclearError("several lists of objects hold answers")
    if not shapes:
        keys = show_names(
            [as_text(row.get("id")) for row in table if isinstance(row, Mapping)]
        )
        problems.append(UnclearError(f"one object of {keys}"))
        # A list within an object may hold answers, where the object itself
        # is no record.
        raise max(problems, key=_names_answers)
    return _read_rows(table, *shapes[0])


def _find_shapes(
    table: Loaded,
    tables: Iterable[Sequence[Any]],
    named: Named,
    questions: Questions | None,
) -> tuple[list[tuple[Sequence[Any], Shape]], list[Exception]]:
    """Find the shapes of those tables that have one, and the problems of the others."""
    shapes = []
    problems: list[Exception] = []
    for rows in tables:
        try:
            shapes.append((rows, _find_shape(table, rows, named, questions)))
        except (InputError, UnclearError) as problem:
            problems.append(problem)
    return shapes, problems


def _split_systems(
    rows: Sequence[Any], shape: Shape, questions: Questions | None
) -> tuple[Sequence[Any], Shape]:
    """Tell the systems of joined rows apart; what answers no question is none."""
    if questions is not None:
        known = set()
        for row in rows:
            if shape.read_id(row).strip() in questions.ids:
                known.add(row[SYSTEM_KEY])
        rows = [row for row in rows if row[SYSTEM_KEY] in known]
    is_split = shape.run or shape.system
    if not is_split:
        shape = shape._replace(system=(SYSTEM_KEY,))
    return rows, shape


def _is_map(rows: Sequence[Any]) -> bool:
    keys = ["id", paths.VALUE_KEY]
    return all(isinstance(row, Mapping) and [*row] == keys for row in rows)


def _names_answers(problem: Exception) -> bool:
    """Return whether a problem names parts that may be the answer."""
    if not isinstance(problem, UnclearError):
        return False
    return any(shape.answer for shape in problem.shapes)


def _find_shape(
    table: Loaded, rows: Sequence[Any], named: Named, questions: Questions | None
) -> Shape:
    """Find what counts in rows; InputError for a path that the user names
    and no row has.
    """
    objects = [row for row in rows if isinstance(row, Mapping)]
    names = [*dict.fromkeys(key for row in objects for key in row)]
    id_path, answer, run, system = (_parse(text, names) for text in named)
    # Of {id: {"answer": …}}, whose rows are {"id", "prediction": {"answer": …}}.
    is_within = table.is_map and answer and answer[0] not in names
    if is_within:
        answer = ("prediction", *answer)
    named_paths = (id_path, answer, run, system)
    for text, place in zip(named, named_paths, strict=True):
        if text and not _is_once(table, place, rows):
            unknown = f"no single column {printable(text, 60)} with values: {EXPECTED}"
            raise InputError(str(table.path), unknown, show_names(names))
    shape = find_shape(rows, questions, id_path, answer)
    if run or system:
        return shape._replace(run=run, system=system)
    return find_split(rows, shape, questions)


def _parse(text: str, names: Sequence[str]) -> paths.Path:
    if text:
        return parse_path(text, names)
    return ()


def _is_once(table: Loaded, place: paths.Path, rows: Sequence[Any]) -> bool:
    """Return whether a path has values, and the header of a CSV names
    its column once.
    """
    if table.names.count(place[0]) > 1:
        return False
    return any(value_at(row, place) is not None for row in rows)


def _read_rows(table: Loaded, rows: Sequence[Any], shape: Shape) -> SourceFile:
    """Read the runs of rows whose shape is known."""
    prompt = next((key for key in _PROMPTS if key in table.names), "")
    labels = [shape.read_labels(row) for row in rows]
    distinct_labels = dict.fromkeys(labels)
    numbers = {label: number for number, label in enumerate(distinct_labels, 1)}

    def read_row(row: Row) -> Iterator[SourceAnswer]:
        name = shape.read_id(row)
        value = value_at(row, shape.answer)
        run = numbers[shape.read_labels(row)]
        problem = ""
        if has_two_values(row, shape.id, shape.answer):
            problem = "with a key that is given twice"
        yield SourceAnswer(name, value, row.get(prompt), run, problem)

    source = _collect(table.form, table, read_row, rows)
    source.notes.append(shape.describe())
    source.shape = shape
    if shape.run or shape.system:
        source.labels = {number: label for label, number in numbers.items()}
    return source


def _read_format(
    table: Loaded,
    name: str,
    read: Callable[[Row], Iterable[SourceAnswer]],
    named: Named,
    questions: Questions | None,
) -> SourceFile:
    """Read the rows of a known format. Ids that no question has are those that its rows
    have elsewhere, which the user may name.
    """
    source = _collect(name, table, read)
    answers = [answer for run in source.runs.values() for answer in run.answers]
    ids = {answer.id.strip() for answer in answers}
    are_known = questions is None or not ids.isdisjoint(questions.ids)
    if are_known and not named.id:
        return source
    shape = Shape(parse_path(named.id), ())
    if not named.id:
        try:
            place, known = find_id(find_columns([*table]), questions)
            shape = Shape(place, (), ids=known)
        except UnclearError:
            return source
    elif all(value_at(row, shape.id) is None for row in table):
        unknown = f"no single column {printable(named.id, 60)} with values"
        raise InputError(str(table.path), unknown, name)

    def read_elsewhere(row: Row) -> Iterator[SourceAnswer]:
        for answer in read(row):
            yield answer._replace(id=shape.read_id(row))

    source = _collect(name, table, read_elsewhere)
    source.notes.append(shape.describe())
    source.shape = shape
    return source


def show_names(names: Sequence[str]) -> str:
    """List the first eight names of columns, for a message."""
    return ", ".join(printable(name, 40) for name in names[:8]) or "none"
