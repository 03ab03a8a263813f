"""Which format a file has: its first bytes tell, or the keys of its records."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from forecasteval.common.errors import InputError
from forecasteval.common.records import first_keys

from .inspect_logs import is_log, read_eval_log, read_json_log
from .rows import Columns, Truths, read_batch, read_miroflow, read_rows
from .runs import Source
from .tables import Table, is_json, read_beginning, read_table

ZIP: Final = b"PK\x03\x04"


class Format(NamedTuple):
    """A format whose records, or whose one object, have all of `keys`.

    Where nothing reads it, `needs` says what stands for the id and the answer.
    """

    name: str
    keys: set[str]
    read: Callable[[Table], Source] | None = None
    needs: str = ""


# The first whose keys are all there counts.
FORMATS: Final = (
    Format("OpenAI batch output", {"custom_id", "response"}, read_batch),
    Format("MiroFlow results", {"task_id", "attempts"}, read_miroflow),
    Format("MiroFlow results", {"task_id", "model_boxed_answer"}, read_miroflow),
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


def read_source(path: Path, columns: Columns, truths: Truths) -> Source:
    """The runs of a file of any of the formats; InputError if it is of none. `truths` are those of the dataset."""
    begin = read_beginning(path)
    is_zip = begin.startswith(ZIP)
    keys = first_keys(path, is_json=True) if is_json(begin) else set[str]()
    if is_zip or is_log(keys):
        if columns != Columns():
            raise InputError("--id, --answer", "expected a table or rows of JSON", f"{path}, a log of inspect_ai")
        return read_eval_log(path) if is_zip else read_json_log(path)
    table = read_table(path)
    keys |= set(table.names)
    form = next((form for form in FORMATS if form.keys <= keys), None)
    if form is None or columns != Columns():
        return read_rows(path, table, columns, truths)
    if form.read is None:
        raise InputError(str(path), f"{form.name} cannot be read: write {form.needs} as columns, for --id and --answer")
    return form.read(table)
