"""Formats: how a file is recognised, and which answers a row of it holds.

A row of a log of inspect_ai is a sample: its answer is the model's last output, whole, unless a scorer of
`forecasteval.inspect_tasks` read an index in it. A sample that failed is left out, unless it was scored all the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

from forecasteval.common.errors import InputError, printable
from forecasteval.common.markup import is_failed, reply_texts
from forecasteval.common.records import WRAPPERS, as_text, repeated_keys

from .runs import Answer, Source, collect, id_text, is_empty
from .tables import LOG_KEYS, QUESTION_ID, Table, at_path, epoch_of, read_table

Row = Mapping[str, Any]
PREDICTION: Final = "forecasteval_prediction"  # in a score's metadata: the index that counts in place of the output
_ATTACHMENT: Final = "attachment://"
_NO_BOX: Final = r"No \boxed{} content found in the final answer."  # MiroFlow's words where a model gave no box


# --- Rows of the formats ---


def _read_sample(row: Row) -> Iterator[Answer]:
    question_id, scores = at_path(row, "metadata", QUESTION_ID), row.get("scores")
    metadata = [at_path(score, "metadata") for score in scores.values()] if isinstance(scores, Mapping) else []
    stated = [values[PREDICTION] for values in metadata if isinstance(values, Mapping) and PREDICTION in values]
    answer, problem = stated[0] if stated else at_path(row, "output", "completion"), ""
    if not stated and isinstance(answer, str) and answer.startswith(_ATTACHMENT):  # long texts may stand apart
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
    problem = "failed" if row.get("error") or is_failed(reply) else ""
    for run, text in enumerate([None] if problem else reply_texts(reply), 1):
        yield Answer(row.get("custom_id"), text, run=run, problem=problem)


def _read_task(row: Row) -> Iterator[Answer]:
    """The attempts of a row of MiroFlow's `benchmark_results.jsonl`, each of which belongs to a run.

    The answer of the row is that of one of its attempts, and which one can depend on the truth (pass@k), so it counts
    only where no attempts are listed. A retry (`retry_id`) tries an attempt again, and the last one counts.
    """
    listed = row.get("attempts")
    attempts = [attempt for attempt in listed if isinstance(attempt, Mapping)] if isinstance(listed, list) else []
    retried = all(type(attempt.get("retry_id")) is int for attempt in attempts)
    if retried:
        attempts.sort(key=lambda attempt: int(attempt["retry_id"]))
    numbers: list[Any] = [attempt.get("attempt_number", attempt.get("attempt_id")) for attempt in attempts]
    repeated = len(set(map(repr, numbers))) < len(numbers) and not retried
    if repeated or not all(type(number) is int and 0 < number < 10**6 for number in numbers):
        numbers = list(range(1, len(attempts) + 1))
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
    Format("Anthropic batch results", {"custom_id", "result"}, needs="custom_id and result.message.content[].text"),
    Format("Gemini batch results", {"key", "response"}, needs="key and response.candidates[0].content.parts[].text"),
    Format("Gemini batch results", {"request", "response"}, needs="request and response.candidates[0].content"),
    Format("promptfoo results", {"evalId", "results"}, needs="results.results[].vars and .response.output"),
    Format("promptfoo results", {"promptIdx", "testIdx"}, needs="vars and response.output"),
    Format("lm-eval samples", {"doc_id", "resps"}, needs="an id in doc and filtered_resps[0]"),
    Format("simple-evals results", {"htmls", "convos"}, needs="convos, without ids"),
    Format("a deepeval test run", {"testCases"}, needs="testCases[].name and testCases[].actualOutput"),
    Format("a deepeval test run", {"testRunData"}, needs="testRunData.testCases[].name and .actualOutput"),
    Format('a pandas table, orient="split"', {"columns", "data"}, needs='its cells (by orient="records")'),
)


class Columns(NamedTuple):
    """The columns of ids and answers that a user names; None: the columns whose names are known."""

    id: str | None = None
    answer: str | None = None


Truths = Mapping[str, set[str]]  # the truths of an id without their decoration


def read_source(path: Path, columns: Columns, truths: Truths) -> Source:
    """The runs of a file of any format; InputError if it cannot be read. `truths` are those of the dataset."""
    table = read_table(path, columns != Columns())
    form = next((form for form in FORMATS if form.keys <= table.keys | set(table.names)), None)
    if form is None or columns != Columns():
        return _read_columns(path, table, columns, truths)
    if form.read is None:
        raise InputError(str(path), f"{form.name} cannot be read: write {form.needs} as columns, for --id and --answer")
    source = collect(form.name, table, form.read)
    if form.read is _read_task and len({len(run.ids) for run in source.runs.values()}) > 1:
        # With early stopping, later attempts are of questions whose answers were wrong before, and of no others.
        note = "rows have different numbers of attempts: if they stop at the first right one, later runs are incomplete"
        source.notes.append(note)
    return source


# --- Tables with a column of ids and one of answers, which must not be the truths ---

IDS: Final = ("id", "question_id", "task_id", "sample_id")
ANSWERS: Final = (
    *("answer", "prediction", "model_answer", "model_boxed_answer", "model_response", "response", "raw_response"),
    *("reply", "output", "completion", "generation"),
)
PROMPTS: Final = ("prompt", "question", "task_question", "input")
TRUTH: Final = "ground_truth"
# Beside one of these and without a ground_truth, `answer` is a truth: so FutureX-Past and RxnOptBench call it.
_OF_DATASETS: Final = frozenset({"level", "options", "end-time", "end_time", "question_type", "meta"})
_SAME: Final = 0.9  # of the rows: a column that equals so many truths holds the truth, or answers of a rare system
_FEWEST: Final = 3  # rows that can tell
_REPLY: Final = re.compile(  # model_output, llm_prediction: beside such a column `answer` may be a truth
    r"(?!.*(?:time|token|date|cost|len|count|format|config|lang|conf|prob|type|_id$))"
    r"(?:.*(?:output|respon|predict|generat|repl[yi]|completion).*|pred)",
    re.I,
)
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
    """The run of a table's rows; InputError if a column is not clear, or if the answers are the truth."""
    name = _choose(path, table.names, columns.id, IDS, "ids", "--id")
    answer = _choose(path, table.names, columns.answer, ANSWERS, "answers", "--answer")
    prompt = next((key for key in PROMPTS if key in table.names), "")
    is_map = table.names == ["id", "prediction"] and table.keys and table.keys.isdisjoint({"prediction", *WRAPPERS})
    first = next((row for row in table.rows if isinstance(row, Mapping)), {})
    texts = [key for key in table.names if isinstance(first.get(key), str) and key != answer]

    def refuse_truth(why: str) -> NoReturn:
        expected = f"column {printable(answer, 40)} {why}; name the column of the model's answers with --answer"
        raise InputError(str(path), f"{expected} (other text columns: {shown_names(texts)})")

    def read_row(row: Row) -> Iterator[Answer]:
        problem = ""
        if {name, answer} & set(repeated_keys(row)):
            problem = "with a key that is given twice"
        elif is_map and isinstance(row[answer], list):
            problem = "a list where text or a number belongs"
        yield Answer(row.get(name), row.get(answer), row.get(prompt), problem=problem)

    names = {key.casefold() for key in table.names}
    if columns.answer is None and answer.casefold() == "answer" and TRUTH not in names:
        if beside := sorted(_OF_DATASETS & names):
            refuse_truth(f"is the truth in a dataset with {', '.join(beside)}")
        if replies := list(filter(_REPLY.fullmatch, texts)):
            refuse_truth(f"may be the truth beside {', '.join(replies[:5])}")
    source = collect(table.form, table, read_row)
    source.notes.append(f"column of answers: {printable(answer, 60)}")
    rows = [row for row in table.rows if isinstance(row, Mapping) and row.get(TRUTH) is not None]
    known = {**{id_text(row.get(name)): {_undecorated(row[TRUTH])} for row in rows}, **truths}
    given = [a for run in source.runs.values() for a in run.answers if a.id in known]
    same = sum(_undecorated(a.value) in known[a.id] for a in given)
    if len(given) >= _FEWEST and same >= _SAME * len(given):
        text = f"equals the truth in {same} of {len(given)} rows"
        if columns.answer is None:
            refuse_truth(text)
        source.notes.append(text)
    return source


def _choose(path: Path, keys: Sequence[str], wanted: str | None, known: Sequence[str], what: str, option: str) -> str:
    """The column that is meant; InputError if there is none, or several: one of them may hold the truth."""
    matches = [key for key in keys if (key.casefold() in known if wanted is None else key == wanted)]
    if len(matches) == 1:
        return matches[0]
    expected = f"one column of {what} ({', '.join(known)}), or its name with {option}"
    if wanted is not None:
        expected = f"a column {printable(wanted, 40)}"
    raise InputError(str(path), f"expected {expected}", shown_names(matches or keys))


def shown_names(names: Sequence[str]) -> str:
    """The first eight names of columns, for a message."""
    return ", ".join(printable(name, 40) for name in names[:8]) or "none"
