"""What a model is asked about a question: its own prompt, and nothing else
of its record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from forecasteval.benchmark import Prompt
from forecasteval.common.errors import InputError

from .deadlines import find_deadlines
from .join import is_void
from .truths import load_questions, question_id


def list_prompts(path: Path, system: str, market: bool) -> Iterator[Prompt]:
    """List the prompts of a dataset, without those of void questions; InputError for a
    question without id or prompt.
    """
    records = load_questions(path).records
    ids = Counter(map(question_id, records))
    closing = find_deadlines(records)
    for number, record in enumerate(records, 1):
        name = question_id(record)
        prompt = record.get("prompt") if isinstance(record, Mapping) else None
        if not name or not isinstance(prompt, str) or not prompt.strip():
            expected = "expected a question with 'id' and 'prompt'"
            raise InputError(f"{path}: record {number}", expected)
        if is_void(record):
            continue
        names = {"id": name}
        # Questions that share an id are told apart by their prompts.
        if ids[name] > 1:
            names["prompt"] = prompt
        yield Prompt(prompt, names, closing[name].closes)
