"""What a reader of answers knows of the questions: their ids and
prompts, and no truth.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Final

from forecasteval.common.errors import InputError
from forecasteval.common.records import number_text

ANSWER_KEYS: Final = ("answer", "prediction")
_FIRST: Final = 100  # questions
_MIN_PROMPT: Final = 10  # characters of a prompt that tells questions apart


class UnknownFormError(InputError):
    """A file in which no answers to the questions were found."""


class Questions:
    """The ids of questions, and their prompts where each has its own; `path`
    is their file.
    """

    def __init__(self, records: Iterable[object], path: Path | None = None) -> None:
        self.path = path
        self._records = records

    def has(self, name: str) -> bool:
        """Return whether a question has an id. The first prediction is mostly for one
        of the first questions, and to count the ids of all takes a twentieth of
        reading a large file.
        """
        are_counted = "ids" in vars(self)
        if not are_counted and name in map(_read_id, islice(self._records, _FIRST)):
            return True
        return name in self.ids

    @cached_property
    def ids(self) -> Counter[str]:
        """Count the questions of each id."""
        names = map(_read_id, self._records)
        return Counter(name for name in names if name is not None)

    @cached_property
    def prompts(self) -> dict[str, str]:
        """Return the id of each prompt that a single question has."""
        names: dict[str, set[str]] = defaultdict(set)
        for record in self._records:
            if not isinstance(record, Mapping):
                continue
            prompt = record.get("prompt")
            text = prompt.strip() if isinstance(prompt, str) else ""
            if len(text) >= _MIN_PROMPT:
                name = id_text(record.get("id"))
                names[text].add(name.strip())
        prompts = {}
        for text, ids in names.items():
            if len(ids) == 1:
                (prompts[text],) = ids
        return prompts


def _read_id(record: object) -> str | None:
    """Read the id of a question; None if it has none."""
    if isinstance(record, Mapping) and "id" in record:
        return id_text(record["id"]).strip()
    return None


def id_text(name: object) -> str:
    """Write an id as text, "" if it is none. 7.0 is 7, as a column of numbers with a
    gap holds floats.
    """
    if isinstance(name, str):
        return name
    if isinstance(name, float) and name.is_integer():
        return number_text(int(name))
    return number_text(name)


def is_value(value: object) -> bool:
    """Return whether a value may be an answer: text, a number, or a list of these."""
    values = value if isinstance(value, list) else [value]
    if any(isinstance(item, bool) for item in values):
        return False
    return bool(values) and all(isinstance(item, (str, int, float)) for item in values)
