"""The readers of an evaluator that ask a language model, and how they are made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from forecasteval.common.llm import ModelClient

from . import llm_names, llm_units
from .items import Answered


class Reader(Protocol):
    """Decides items by a language model."""

    client: ModelClient

    def settings(self) -> dict[str, Any]:
        """The part of a signature that the model's replies depend on."""

    def decide(self, answered: Iterable[Answered], items: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Change the items that the model decides; what it was asked, and what became of it."""

    def warnings(self, asked: Mapping[str, Any]) -> list[str]:
        """What a reader must know of a model that did not do all it was asked for."""


def make_readers(
    api_key: str, server: str, model: str, policy: str, names: bool, workers: int, cache: str | Path | None,
    deadline: float,
) -> dict[str, Reader]:  # fmt: skip
    """The readers by the key that their counts have in a result; see `FutureXEvaluator` for the parameters."""

    numbers = ModelClient(
        api_key, server, model, llm_units.INSTRUCTIONS, llm_units.REPLY_SCHEMA, f"numbers {llm_units.PROMPT_VERSION}",
        workers=workers, cache=Path(cache) if cache else None, deadline=deadline,
    )  # fmt: skip
    readers: dict[str, Reader] = {"llm": llm_units.UnitReader(numbers, policy)}
    if names:
        version = f"names {llm_names.PROMPT_VERSION}"
        client = numbers.sibling(llm_names.INSTRUCTIONS, llm_names.REPLY_SCHEMA, version)
        readers["llm_names"] = llm_names.NameReader(client)
    return readers
