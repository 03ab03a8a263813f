"""What a model is asked about an event, and the probabilities of its reply.

Of a record only these fields are shown: title, options, rules, sources and closing
time; prices of the market only where they are asked for. The outcome never is, nor what
follows from it: whether the options exclude one another is said only where the
record declares it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from forecasteval.benchmark import Prompt
from forecasteval.common.errors import printable
from forecasteval.common.markup import find_objects
from forecasteval.common.records import JsonObject, as_text

from .cells import NO_OUTCOME, as_list, parse_number
from .columns import Given
from .events import read_problems
from .tables import load_problems
from .times import to_datetime

_SHOWN: Final = {  # fields by their heading
    "Rules": ("rules", "resolution_criteria", "description", "background"),
    "Sources": ("sources",),
}
# Fields of a source that are shown
_SOURCE: Final = ("title", "url", "summary", "text")
_TOLERANCE: Final = 0.01  # of a sum of probabilities
_SUMS: Final = {  # by what a record declares
    True: "Exactly one of them comes true: the probabilities add up to 1.",
    False: "Each of them is a question of its own: several of them may come true, or "
    "none.",
    None: "If exactly one of them can come true, the probabilities add up to 1.",
}
_TASK: Final = """\
Forecast an event: give the probability of each option.

Event: {title}
{fields}
Options:
{options}
{sums}

Reply with one JSON object whose keys are the options, exactly as they are written \
above, and whose values are probabilities from 0 to 1. You may think first; the object \
stands last:
{example}"""


def list_prompts(
    path: Path, system: str, market: bool, given: Given
) -> Iterator[Prompt]:
    """List the prompts of a file of problems, without those of damaged ones.

    The forecasts of all runs are those of one forecaster, `system`.
    """
    records = [*load_problems(path, given)]
    today = f"Today is {datetime.now(UTC):%Y-%m-%d}.\n\n"
    for problem, record in zip(read_problems(records), records, strict=True):
        if problem.fault not in ("", NO_OUTCOME):
            continue
        names = problem.options
        declared = record.get("exclusive")
        if not isinstance(declared, bool):
            declared = None
        sums = _SUMS[declared]
        if len(names) == 1:
            sums = _SUMS[False]
        example = json.dumps(dict.fromkeys(names, 0.0), ensure_ascii=False)
        example = example.replace("0.0", "…")
        title = problem.title or problem.id
        fields = "".join(_list_fields(record, names, market))
        options = "\n".join(f"- {name}" for name in names)
        text = _TASK.format(
            title=title, fields=fields, options=options, sums=sums, example=example
        )
        yield Prompt(
            text,
            {"problem_id": problem.id, "username": system},
            to_datetime(problem.closed),
            today,
            partial(read_forecast, names, declared is True),
        )


def _list_fields(
    record: JsonObject, names: Sequence[str], market: bool
) -> Iterator[str]:
    """Write the fields that may be shown, each with its heading."""
    if record.get("end_date") is not None:
        yield f"Closes: {as_text(record['end_date'])}\n"
    for heading, keys in _SHOWN.items():
        for key in keys:
            value = record.get(key)
            shown = "\n".join(filter(None, map(_show, as_list(value))))
            if shown:
                yield f"{heading}:\n{shown}\n"
    prices = record.get("odds")
    if market and isinstance(prices, list) and len(prices) == len(names):
        pairs = [
            f"{name} {as_text(price)}"
            for name, price in zip(names, prices, strict=True)
        ]
        yield f"Market prices: {', '.join(pairs)}\n"


def _show(value: Any) -> str:
    """Write a source: its text, or title, address and summary."""
    if not isinstance(value, Mapping):
        return as_text(value).strip()
    parts = [as_text(value[key]).strip() for key in _SOURCE if value.get(key)]
    return f"- {'. '.join(parts)}"


def read_forecast(
    options: Sequence[str], is_exclusive: bool, reply: str
) -> tuple[dict[str, object], str]:
    """Read (the probabilities, what is wrong) of a reply: the last JSON object in it
    that names options, perhaps as its only value or under "probabilities".
    """
    named: dict[str, Any] = {}
    for _, _, value in find_objects(reply):
        inner = value.get("probabilities", value)
        if isinstance(inner, Mapping) and not inner.keys().isdisjoint(options):
            named = dict(inner)
    if not named:
        return {}, "no JSON object with the options"
    for name in options:
        if name not in named:
            return {}, f"an option without a probability: {printable(name, 40)}"
    values = [parse_number(named[name]) for name in options]
    for name, value in zip(options, values, strict=True):
        # 70 may be a percentage or a slip: it is not divided.
        if not 0 <= value <= 1:
            given = printable(as_text(named[name]), 40)
            return {}, f"a probability that is no number in [0, 1]: {given}"
    total = sum(values)
    if is_exclusive and abs(total - 1) > _TOLERANCE:
        return {}, f"probabilities that do not add up to 1: {total:.2f}"
    return {"prediction": values}, ""
