"""Logs of inspect_ai, `.eval` (read by inspect_ai itself) and `.json`: every epoch is a run.

An answer is the model's last output, whole. Two keys that the tasks of `forecasteval.inspect_tasks` write say more: the
index that a reply states, in a score's metadata, and the id of a question where several have it, in a sample's. A
sample that failed is no answer, unless it was scored all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from forecasteval.common.errors import InputError, extra_package, printable
from forecasteval.common.files import decode_utf8, read_file
from forecasteval.common.records import parse_json

from .runs import Answer, Source, collect

MAX_EPOCHS: Final = 1000
PREDICTION: Final = "forecasteval_prediction"  # in a score's metadata: what counts, in place of the output
QUESTION_ID: Final = "forecasteval_id"  # in a sample's metadata: the id of its question, where others have it, too
_ATTACHMENT: Final = "attachment://"
_UNUSED: Final = {"messages", "events", "events_data", "store", "timelines"}  # nine tenths of a log


def is_log(keys: set[str]) -> bool:
    """Whether a JSON object with these keys is a log."""
    return {"version", "eval", "status"} <= keys


def read_json_log(path: Path) -> Source:
    """The runs of a log that is one JSON object."""
    return _read_samples(path, parse_json(decode_utf8(read_file(path), str(path)), str(path)))


def read_eval_log(path: Path) -> Source:
    """The runs of an `.eval`; InputError without inspect_ai, and for whatever it does not read."""
    with extra_package("inspect-ai", str(path), "write it as JSON (inspect log convert --to json)"):
        from inspect_ai import log
    try:
        # What stands in a file is a stranger's, and what inspect_ai raises for it is of any type.
        whole = log.read_eval_log(path, format="eval", exclude_fields=_UNUSED)
        value = whole.model_dump(mode="json", exclude={"samples": {"__all__": _UNUSED}}, warnings=False)
    except Exception as error:
        raise InputError(str(path), f"inspect_ai cannot read it: {printable(error, 120)}") from None
    return _read_samples(path, value)


def _read_samples(path: Path, log: Any) -> Source:
    samples, names = _at(log, "samples"), _at(log, "eval", "dataset", "sample_ids")
    if not isinstance(samples, list) or not samples:
        raise InputError(str(path), "expected a log with samples", "none")
    ids = (
        [] if any(_at(sample, "metadata", QUESTION_ID) for sample in samples) or not isinstance(names, list) else names
    )
    source = collect("inspect_ai log", samples, _read_sample, ids=ids)
    notes = [" of ".join(printable(_at(log, "eval", key), 60) for key in ("task", "model"))]
    status, epochs = log.get("status", "started"), _at(log, "eval", "config", "epochs")
    if status != "success":
        notes.append(f"the evaluation did not finish: status {printable(status, 40)}")
    if type(epochs) is int and epochs > len(source.runs):
        notes.append(f"epochs in the log: {len(source.runs)} of {epochs}")
    return source._replace(notes=notes)


def _at(value: Any, *keys: str) -> Any:
    """What stands at a path of keys; None if nothing does."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _read_sample(sample: Mapping[str, Any]) -> list[Answer]:
    question_id, epoch, scores = _at(sample, "metadata", QUESTION_ID), sample.get("epoch"), sample.get("scores")
    metadata = [_at(score, "metadata") for score in scores.values()] if isinstance(scores, Mapping) else []
    stated = [values[PREDICTION] for values in metadata if isinstance(values, Mapping) and PREDICTION in values]
    problem = ""
    if sample.get("invalidation"):
        problem = "invalidated"
    elif sample.get("error") and not scores:
        problem = "failed"
    elif stated and stated[0] is None:
        problem = "no index in the reply"
    name, alias = (sample.get("id"), "") if question_id is None else (question_id, str(sample.get("id")))
    epoch = epoch if type(epoch) is int and 0 < epoch < MAX_EPOCHS else 1
    answer = stated[0] if stated else _completion(sample)
    return [Answer(name, answer, sample.get("input"), epoch, problem, alias)]


def _completion(sample: Mapping[str, Any]) -> Any:
    text = _at(sample, "output", "completion")
    if isinstance(text, str) and text.startswith(_ATTACHMENT):  # long texts may stand apart
        return _at(sample, "attachments", text.removeprefix(_ATTACHMENT))
    return text
