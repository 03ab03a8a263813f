"""Formats: how a file is recognised, and which answers a row of it holds.

A row of a log of inspect_ai is a sample: its answer is the model's last output, whole, unless a
scorer of `forecasteval.inspect_tasks` read an index in it. A sample that failed is left out, unless
it was scored all the same.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, RecordNotes, printable
from forecasteval.common.records import (
    WRAPPERS,
    BadRecord,
    JsonObject,
    as_text,
    number_text,
    repeated_keys,
)
from forecasteval.common.replies import is_failed, reply_texts

from .tables import LOG_KEYS, QUESTION_ID, Table, at_path, clear_ids, epoch_of, read_table

Row = JsonObject
PREDICTION: Final = (
    "forecasteval_prediction"  # in a score's metadata: the index that counts in place of the output
)
_ATTACHMENT: Final = "attachment://"
_NO_BOX: Final = (
    r"No \boxed{} content found in the final answer."  # MiroFlow's words where a model gave no box
)


# --- Answers, run by run ---


class Answer(NamedTuple):
    """An answer as its file has it; `problem` says why it is left out.

    `alias` is what its file calls the question where several questions of the dataset have its id:
    only with its prompt does the answer then belong to one of them.
    """

    id: Any
    value: Any
    prompt: Any = None
    run: int = 1
    problem: str = ""
    alias: str = ""


class Run:
    """The answers of a run, the ids of all its records, and the names of the records left out, by
    reason.
    """

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.ids: set[str] = set()
        self.left_out = RecordNotes()


class Source(NamedTuple):
    """A file: its format, its runs by their numbers, notes for the user."""

    format: str
    runs: dict[int, Run]
    notes: list[str]


def collect(form: str, table: Table, read: Callable[[Row], Iterable[Answer]]) -> Source:
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
    known = dict.fromkeys(
        [*map(str, table.ids), *(name for run in runs.values() for name in sorted(run.ids))]
    )
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


def is_empty(answer: object) -> bool:
    """Whether a value is no answer at all: blank, NaN, null, an empty list."""
    if isinstance(answer, float):
        return not math.isfinite(answer)  # JSON has neither
    return answer in (None, [], {}) or (isinstance(answer, str) and not answer.strip())


def _find_problem(answer: object) -> tuple[str, str] | None:
    """(why a value is no answer, what it looks like); an answer is text, a number or a list of
    such.
    """
    if is_empty(answer):
        return "without an answer", ""
    for value in answer if isinstance(answer, list) else [answer]:
        if isinstance(value, Mapping):
            return "an object, neither text nor a number", f" with {', '.join(map(str, value))}"
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            return "neither text nor a number", f": {as_text(value) or 'null'}"
    return None


# --- Rows of the formats ---


def _read_sample(row: Row) -> Iterator[Answer]:
    question_id, scores = at_path(row, "metadata", QUESTION_ID), row.get("scores")
    stated = [
        metadata[PREDICTION]
        for score in (scores.values() if isinstance(scores, Mapping) else ())
        if isinstance(metadata := at_path(score, "metadata"), Mapping) and PREDICTION in metadata
    ]
    answer, problem = stated[0] if stated else at_path(row, "output", "completion"), ""
    if not stated and isinstance(answer, str) and answer.startswith(_ATTACHMENT):
        # long texts may stand apart
        answer = at_path(row, "attachments", answer.removeprefix(_ATTACHMENT))
    if row.get("invalidation"):
        problem = "invalidated"
    elif row.get("error") and not scores:
        problem = "failed"
    elif stated and answer is None:
        problem = "no index in the reply"
    name, alias = (row.get("id"), "") if question_id is None else (question_id, str(row.get("id")))
    yield Answer(name, answer, row.get("input"), epoch_of(row), problem, alias)


def _read_reply(row: Row) -> Iterator[Answer]:
    """The choices of a reply of OpenAI's batches, each of which belongs to a run."""
    reply = row.get("response")
    failed = row.get("error") or is_failed(reply)
    for run, text in enumerate(reply_texts(None if failed else reply), 1):
        yield Answer(row.get("custom_id"), text, run=run, problem="failed" if failed else "")


def _read_task(row: Row) -> Iterator[Answer]:
    """The attempts of a row of MiroFlow's `benchmark_results.jsonl`, each of which belongs to a
    run.

    The answer of the row is that of one of its attempts, and which one can depend on the truth
    (pass@k), so it counts only where no attempts are listed. A retry (`retry_id`) tries an attempt
    again, and the last one counts.
    """
    listed = row.get("attempts")
    listed = listed if isinstance(listed, list) else []
    attempts = [attempt for attempt in listed if isinstance(attempt, Mapping)]
    retried = all(type(attempt.get("retry_id")) is int for attempt in attempts)
    if retried:
        attempts.sort(key=itemgetter("retry_id"))
    numbers = [attempt.get("attempt_number", attempt.get("attempt_id")) for attempt in attempts]
    repeated = len(set(map(repr, numbers))) < len(numbers) and not retried
    if repeated or not all(type(number) is int and 0 < number < 10**6 for number in numbers):
        numbers = [*range(1, len(attempts) + 1)]
    for number, attempt in (dict(zip(numbers, attempts, strict=True)) or {1: row}).items():
        answer, problem = attempt.get("model_boxed_answer"), ""
        if answer == _NO_BOX:
            problem = "no box in the reply"
        elif is_empty(answer) and attempt.get("status") in ("failed", "run_failed"):
            problem = "failed"
        yield Answer(row.get("task_id"), answer, row.get("task_question"), number, problem)


class Format(NamedTuple):
    """A format whose records, or whose one object, have all of `keys`.

    Where nothing reads it, `needs` says what stands for the id and the answer.
    """

    name: str
    keys: Set[str]
    read: Callable[[Row], Iterable[Answer]] | None = None
    needs: str = ""


# The first whose keys are all there counts.
FORMATS: Final = (
    Format("inspect_ai log", LOG_KEYS, _read_sample),
    Format("OpenAI batch output", {"custom_id", "response"}, _read_reply),
    Format("MiroFlow results", {"task_id", "attempts"}, _read_task),
    Format("MiroFlow results", {"task_id", "model_boxed_answer"}, _read_task),
    Format(
        "Anthropic batch results",
        {"custom_id", "result"},
        needs="custom_id and result.message.content[].text",
    ),
    Format(
        "Gemini batch results",
        {"key", "response"},
        needs="key and response.candidates[0].content.parts[].text",
    ),
    Format(
        "Gemini batch results",
        {"request", "response"},
        needs="request and response.candidates[0].content",
    ),
    Format(
        "promptfoo results",
        {"evalId", "results"},
        needs="results.results[].vars and .response.output",
    ),
    Format("promptfoo results", {"promptIdx", "testIdx"}, needs="vars and response.output"),
    Format("lm-eval samples", {"doc_id", "resps"}, needs="an id in doc and filtered_resps[0]"),
    Format("simple-evals results", {"htmls", "convos"}, needs="convos, without ids"),
    Format(
        "a deepeval test run", {"testCases"}, needs="testCases[].name and testCases[].actualOutput"
    ),
    Format(
        "a deepeval test run",
        {"testRunData"},
        needs="testRunData.testCases[].name and .actualOutput",
    ),
    Format(
        'a pandas table, orient="split"',
        {"columns", "data"},
        needs='its cells (by orient="records")',
    ),
)


class Columns(NamedTuple):
    """The columns of ids and answers that a user names; None: the columns whose names are known."""

    id: str | None = None
    answer: str | None = None


# With early stopping, later attempts are of questions whose answers were wrong before, and of no
# others.
_STOPPED: Final = (
    "rows have different numbers of attempts: "
    "if they stop at the first right one, later runs are incomplete"
)
Truths = Mapping[str, set[str]]  # the truths of an id without their decoration


def read_source(path: Path, columns: Columns, truths: Truths) -> Source:
    """The runs of a file of any format; InputError if it cannot be read. `truths` are those of the
    dataset.
    """
    table = read_table(path, columns != Columns())
    form = next((form for form in FORMATS if form.keys <= table.keys | set(table.names)), None)
    if form is None or columns != Columns():
        return _read_columns(path, table, columns, truths)
    if form.read is None:
        raise InputError(
            str(path),
            f"{form.name} cannot be read: write {form.needs} as columns, for --id and --answer",
        )
    source = collect(form.name, table, form.read)
    if form.read is _read_task and len({len(run.ids) for run in source.runs.values()}) > 1:
        source.notes.append(_STOPPED)
    return source


# --- Tables with a column of ids and one of answers, which must not be the truths ---

IDS: Final = ("id", "question_id", "task_id", "sample_id")
ANSWERS: Final = (
    *("answer", "prediction", "model_answer", "model_boxed_answer", "model_response", "response"),
    *("raw_response", "reply", "output", "completion", "generation"),
)
PROMPTS: Final = ("prompt", "question", "task_question", "input")
TRUTH: Final = "ground_truth"
# Beside one of these and without a ground_truth, `answer` is a truth: so FutureX-Past and
# RxnOptBench call it.
_OF_DATASETS: Final = frozenset(
    {"level", "options", "end-time", "end_time", "question_type", "meta"}
)
# of the rows: a column that equals so many truths holds the truth, or answers of a rare system
_SAME: Final = 0.9
_FEWEST: Final = 3  # rows that can tell
# Texts that are none of a model's, although they differ from row to row.
_NO_REPLY: Final = re.compile(
    r"(?:.*[ _-])?ids?|(?:model|system|provider|category|topic|source|url|level)(?:[ _-]name)?"
    r"|.*(?:date|time|created|updated|tokens|cost|latency|duration|seconds|score|confidence).*",
    re.I,
)
_NUMBER: Final = re.compile(r"[-+0-9.,eE%\s]*")
_NO_TEXT: Final = re.compile(rf"{_NUMBER.pattern}|true|false", re.I)
_NO_TEXT_OR_NUMBER: Final = re.compile("|true|false", re.I)
_DECORATION: Final = re.compile(r"\\boxed|[^\w.%+-]")


def read_truths(records: Iterable[Any]) -> Truths:
    """The truths of a dataset's records by their ids."""
    truths: dict[str, set[str]] = {}
    for record in records:
        if isinstance(record, Mapping):
            truth = record.get(TRUTH, record.get("answer"))
            truths.setdefault(id_text(record.get("id")), set()).add(_undecorated(truth))
    return truths


def _undecorated(answer: object) -> str:
    r"""The common form of `['A', 'B']`, `\boxed{A, B}` and `A,B`."""
    return _DECORATION.sub("", as_text(answer)).casefold()


def _read_columns(path: Path, table: Table, columns: Columns, truths: Truths) -> Source:
    """The run of a table's rows; InputError if a column is not clear, or if the answers are the
    truth.
    """
    name = _choose(path, table.names, columns.id, IDS, "ids", "--id")
    answer = _choose(path, table.names, columns.answer, ANSWERS, "answers", "--answer")
    prompt = next((key for key in PROMPTS if key in table.names), "")
    is_map = (
        table.names == ["id", "prediction"]
        and table.keys
        and table.keys.isdisjoint({"prediction", *WRAPPERS})
    )
    clear_ids(table, name)

    def read_row(row: Row) -> Iterator[Answer]:
        problem = ""
        if {name, answer} & set(repeated_keys(row)):
            problem = "with a key that is given twice"
        elif is_map and isinstance(row[answer], list):
            problem = "a list where text or a number belongs"
        yield Answer(row.get(name), row.get(answer), row.get(prompt), problem=problem)

    source = collect(table.form, table, read_row)
    rows = [row for row in table.rows if isinstance(row, Mapping)]
    stated = {
        id_text(row.get(name)): {_undecorated(row[TRUTH])}
        for row in rows
        if row.get(TRUTH) is not None
    }
    same = _compare_with_truth(source, {**stated, **truths})
    others = [key for key in table.names if key not in (name, answer, TRUTH, *PROMPTS)]
    # 13 is no text, but the reply to a question whose truth is 12
    are_numbers = prompt and all(_NUMBER.fullmatch(as_text(row.get(answer))) for row in rows)
    texts = _find_texts(rows, others, _NO_TEXT_OR_NUMBER if are_numbers else _NO_TEXT)
    if columns.answer is None and (why := _name_suspicion(answer, table.names, texts) or same):
        expected = f"column {printable(answer, 40)} {why}; name the column of the model's answers"
        others = [key for key in table.names if key != answer]
        raise InputError(str(path), f"{expected} with --answer (others: {shown_names(others)})")
    source.notes.extend([f"column of answers: {printable(answer, 60)}", *filter(None, [same])])
    return source


def _find_texts(rows: Sequence[Row], names: Iterable[str], empty: re.Pattern[str]) -> list[str]:
    """The columns whose texts (cells that are not `empty`) differ from row to row, and which may be
    replies by their names.
    """
    found = []
    for name in names:
        cells = {as_text(row.get(name)) for row in rows if not isinstance(row.get(name), Mapping)}
        texts = {cell for cell in cells if not empty.fullmatch(cell)}
        if len(texts) > min(1, len(rows) - 1) and not _NO_REPLY.fullmatch(name):
            found.append(name)
    return found


def _name_suspicion(answer: str, columns: Iterable[str], texts: Sequence[str]) -> str:
    """Why a column of this name may hold the truth, by the names of all columns and of those with
    texts that differ; or "".
    """
    names = {key.casefold() for key in columns}
    if answer.casefold() != "answer" or TRUTH in names:
        return ""
    if beside := sorted(_OF_DATASETS & names):
        return f"is the truth in a dataset with {', '.join(beside)}"
    return f"may be the truth beside {shown_names(texts)}" if texts else ""


def _compare_with_truth(source: Source, truths: Truths) -> str:
    """How many answers are the truth, if they are too many to be a model's; or ""."""
    known = [
        answer for run in source.runs.values() for answer in run.answers if answer.id in truths
    ]
    same = sum(_undecorated(answer.value) in truths[answer.id] for answer in known)
    is_truth = len(known) >= _FEWEST and same >= _SAME * len(known)
    return f"equals the truth in {same} of {len(known)} rows" if is_truth else ""


def _choose(
    path: Path,
    keys: Sequence[str],
    wanted: str | None,
    known: Sequence[str],
    what: str,
    option: str,
) -> str:
    """The column that is meant; InputError if there is none, or several: one of them may hold the
    truth.
    """
    chosen = [wanted] if wanted is not None else known
    matches = [key for key in keys if (key if wanted is not None else key.casefold()) in chosen]
    if len(matches) == 1:
        return matches[0]
    expected = f"one column of {what} ({', '.join(known)}), or its name with {option}"
    if wanted is not None:
        expected = f"a column {printable(wanted, 40)}"
    raise InputError(str(path), f"expected {expected}", shown_names(matches or keys))


def shown_names(names: Sequence[str]) -> str:
    """The first eight names of columns, for a message."""
    return ", ".join(printable(name, 40) for name in names[:8]) or "none"
