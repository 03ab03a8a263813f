"""What a reader of answers knows of the questions: their ids and prompts, and no truth."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Final

from forecasteval.common.errors import InputError
from forecasteval.common.records import number_text

ANSWER_KEYS: Final = ("answer", "prediction")
_MIN_PROMPT: Final = 10  # characters of a prompt that tells questions apart


class UnknownFormError(InputError):
    """A file in which no answers to the questions were found."""


class Questions:
    """The ids of questions, and their prompts where each has its own; `path` is their file."""

    def __init__(self, records: Iterable[object], path: Path | None = None) -> None:
        self.path = path
        self._records = records
        self.ids = Counter(
            id_text(record["id"]).strip()
            for record in records
            if isinstance(record, Mapping) and "id" in record
        )

    @cached_property
    def prompts(self) -> dict[str, str]:
        """Return the id of each prompt that a single question has."""
        names: dict[str, set[str]] = defaultdict(set)
        for record in self._records:
            if not isinstance(record, Mapping):
                continue
            prompt = record.get("prompt")
            if isinstance(prompt, str) and len(prompt.strip()) >= _MIN_PROMPT:
                names[prompt.strip()].add(id_text(record.get("id")).strip())
        return {text: min(ids) for text, ids in names.items() if len(ids) == 1}


def id_text(name: object) -> str:
    """Write an id as text, "" if it is none. 7.0 is 7, as a column of numbers with a gap holds
    floats.
    """
    if isinstance(name, str):
        return name
    if isinstance(name, float) and name.is_integer():
        return number_text(int(name))
    return number_text(name)


def is_value(value: object) -> bool:
    """Return whether a value may be an answer: text, a number, or a list of these."""
    values = value if isinstance(value, list) else [value]
    return bool(values) and all(
        isinstance(item, (str, int, float)) and not isinstance(item, bool) for item in values
    )
