"""Rows with an id and an answer: FutureX's submissions, tables of any kind, OpenAI's batches, MiroFlow's results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

from forecasteval.common.batches import is_failed, reply_texts
from forecasteval.common.errors import InputError, printable
from forecasteval.common.records import as_text, repeated_keys

from .runs import Answer, Source, collect, id_text, is_empty
from .tables import Table

IDS: Final = ("id", "question_id", "task_id", "sample_id")
ANSWERS: Final = (
    "answer", "prediction", "model_answer", "model_boxed_answer", "model_response", "response", "raw_response",
    "reply", "output", "completion", "generation",
)  # fmt: skip
PROMPTS: Final = ("prompt", "question", "task_question", "input")
TRUTH: Final = "ground_truth"
# Beside one of these and without a ground_truth, `answer` is a truth: so FutureX-Past and RxnOptBench call it.
_OF_DATASETS: Final = frozenset({"level", "options", "end-time", "end_time", "question_type", "meta"})
_SAME: Final = 0.9  # of the rows: a column that equals so many truths holds the truth, or answers of a rare system
_FEWEST: Final = 3  # rows that can tell
_REPLY: Final = re.compile(  # model_output, llm_prediction, generated_text: beside those, `answer` may be the truth
    r"(?!.*(?:time|token|date|cost|len|count|format|config|lang|conf|prob|type|_id$))"
    r"(?:.*(?:output|respon|predict|generat|repl[yi]|completion).*|pred)",
    re.I,
)
_DECORATION: Final = re.compile(r"\\boxed|[^\w.%+-]")


class Columns(NamedTuple):
    """The columns of ids and answers that a user names; None: the ones whose names are known."""

    id: str | None = None
    answer: str | None = None


Truths = dict[str, set[str]]  # what the truths of an id look like without their decoration


def read_truths(records: Iterable[Any]) -> Truths:
    """The truths of a dataset's records by their ids."""
    truths: Truths = {}
    for record in records:
        if isinstance(record, Mapping):
            truth = record.get(TRUTH, record.get("answer"))
            truths.setdefault(id_text(record.get("id")), set()).add(_undecorated(truth))
    return truths


def _undecorated(answer: object) -> str:
    r"""What `['A', 'B']`, `\boxed{A, B}` and `A,B` have in common."""
    return _DECORATION.sub("", as_text(answer)).casefold()


def read_rows(path: Path, table: Table, columns: Columns, truths: Truths) -> Source:
    """The one run of a table's rows; InputError if a column is not clear, or if the answers are the truth."""
    name = _choose(path, table.names, columns.id, IDS, "ids", "--id")
    answer = _choose(path, table.names, columns.answer, ANSWERS, "answers", "--answer")
    prompt = next((key for key in PROMPTS if key in table.names), "")
    names = {key.casefold() for key in table.names}
    if columns.answer is None and answer.casefold() == "answer" and TRUTH not in names:
        if beside := sorted(_OF_DATASETS & names):
            _refuse_truth(path, table, answer, f"is the truth in a dataset with {', '.join(beside)}")
        if replies := [key for key in _text_columns(table) if _REPLY.fullmatch(key)]:
            _refuse_truth(path, table, answer, f"may be the truth beside {', '.join(replies[:5])}")

    def read_row(row: Mapping[str, Any]) -> list[Answer]:
        problem = ""
        if {name, answer} & set(repeated_keys(row)):
            problem = "with a key that is given twice"
        elif table.is_map and isinstance(row[answer], list):
            problem = "a list where text or a number belongs"
        return [Answer(row.get(name), row.get(answer), row.get(prompt), problem=problem)]

    notes = [*table.notes, f"column of answers: {printable(answer, 60)}"]
    source = collect(table.form, table.rows, read_row, notes)
    inside = {id_text(row.get(name)): {_undecorated(row[TRUTH])} for row in table.rows if _has(row, TRUTH)}
    known = [given for run in source.runs.values() for given in run.answers if given.id in truths or given.id in inside]
    same = sum(_undecorated(given.value) in truths.get(given.id, inside.get(given.id, ())) for given in known)
    if len(known) >= _FEWEST and same >= _SAME * len(known):
        text = f"equals the truth in {same} of {len(known)} rows"
        if columns.answer is None:
            _refuse_truth(path, table, answer, text)
        notes.append(text)
    return source


def _has(row: object, key: str) -> bool:
    return isinstance(row, Mapping) and row.get(key) is not None


def _choose(path: Path, keys: Sequence[str], wanted: str | None, known: Sequence[str], what: str, option: str) -> str:
    """The one column that is meant; InputError if there is none, or several: one may hold the truth."""
    matches = [key for key in keys if (key.casefold() in known if wanted is None else key == wanted)]
    if len(matches) == 1:
        return matches[0]
    expected = f"one column of {what} ({', '.join(known)}), or its name with {option}"
    if wanted is not None:
        expected = f"a column {printable(wanted, 40)}"
    raise InputError(str(path), f"expected {expected}", _shown(matches or keys))


def _shown(names: Sequence[str]) -> str:
    return ", ".join(printable(name, 40) for name in names[:8]) or "none"


def _text_columns(table: Table) -> list[str]:
    """The columns that hold text in the first row."""
    first = next((row for row in table.rows if isinstance(row, Mapping)), {})
    return [name for name in table.names if isinstance(first.get(name), str)]


def _refuse_truth(path: Path, table: Table, answer: str, why: str) -> NoReturn:
    text_columns = [name for name in _text_columns(table) if name != answer]
    expected = f"column {printable(answer, 40)} {why}; name the column of the model's answers with --answer"
    raise InputError(str(path), f"{expected} (other text columns: {_shown(text_columns)})")


# --- Batches ---


def read_batch(table: Table) -> Source:
    """The runs of an OpenAI batch's output, one for each choice of a reply, by the ids of its requests."""
    return collect("OpenAI batch output", table.rows, _read_reply, table.notes)


def _read_reply(row: Mapping[str, Any]) -> list[Answer]:
    reply = row.get("response")
    problem = "failed" if row.get("error") or is_failed(reply) else ""
    texts = enumerate([None] if problem else reply_texts(reply), 1)
    return [Answer(row.get("custom_id"), text, run=run, problem=problem) for run, text in texts]


# --- MiroFlow ---

_NO_BOX: Final = r"No \boxed{} content found in the final answer."  # MiroFlow's own words where a model gave no box
_FAILED: Final = ("failed", "run_failed")


def read_miroflow(table: Table) -> Source:
    """The runs of the rows of a `benchmark_results.jsonl`, by the numbers of their attempts.

    A row's answer is that of one of its attempts, and which one can depend on the truth (pass@k), so it counts only
    where no attempts are listed. Without early stopping all rows have the same number of attempts; with it, later
    attempts are of those questions only that were wrong before. A retry (`retry_id`) tries an attempt again, and the
    last one counts.
    """
    source = collect("MiroFlow results", table.rows, _read_task, table.notes)
    if len({len(run.ids) for run in source.runs.values()}) == 1:
        return source
    note = "rows have different numbers of attempts: if they stop at the first right one, a later run is none"
    return source._replace(notes=[*source.notes, note])


def _read_task(row: Mapping[str, Any]) -> Iterator[Answer]:
    for number, attempt in _attempts(row).items():
        answer, problem = attempt.get("model_boxed_answer"), ""
        if answer == _NO_BOX:
            problem = "no box in the reply"
        elif is_empty(answer) and attempt.get("status") in _FAILED:
            problem = "failed"
        yield Answer(row.get("task_id"), answer, row.get("task_question"), number, problem)


def _attempts(row: Mapping[str, Any]) -> dict[int, Mapping[str, Any]]:
    """The attempts of a row by their numbers, from 1; the row itself where it lists none."""
    listed = row.get("attempts")
    attempts = [attempt for attempt in listed if isinstance(attempt, Mapping)] if isinstance(listed, list) else []
    retried = all(type(attempt.get("retry_id")) is int for attempt in attempts)
    if retried:
        attempts.sort(key=lambda attempt: int(attempt["retry_id"]))
    numbers: list[Any] = [attempt.get("attempt_number", attempt.get("attempt_id")) for attempt in attempts]
    repeated = len(set(map(repr, numbers))) < len(numbers) and not retried
    if repeated or not all(type(number) is int and 0 < number < 10**6 for number in numbers):
        numbers = list(range(1, len(attempts) + 1))
    return dict(zip(numbers, attempts, strict=True)) or {1: row}
