"""What counts of a raw answer (text, number or list): the box in it, or all of it."""

from __future__ import annotations

from typing import Final, NamedTuple

from forecasteval.common.markup import last_boxed
from forecasteval.common.records import number_text


class Answer(NamedTuple):
    """What counts of a raw answer: `text`, or `elements` if it was a list; `boxed` is False for bare text."""

    text: str
    elements: tuple[str, ...]
    boxed: bool


_UNREADABLE: Final = Answer("", (), False)


def read_answer(raw: object) -> Answer | None:
    """The span that counts of a raw answer (text, number or list); None if the answer is missing."""
    if isinstance(raw, str):
        # the common case, without a tab: that may be what is left of "\\text"
        if raw[:7] == "\\boxed{" and raw[-1] == "}" and raw.count("{") == raw.count("}") == 1 and "\t" not in raw:
            text, boxed = raw[7:-1].strip(), True
        else:
            text, boxed = last_boxed(raw)
        return Answer(text, (), boxed) if text else None
    if raw is None:
        return None
    if isinstance(raw, list):
        parts = [part for part in map(read_answer, raw) if part] if _is_flat(raw) else [_UNREADABLE]
        if len(parts) == 1:
            return parts[0]._replace(boxed=True)
        return Answer("\n".join(p.text for p in parts), tuple(p.text for p in parts), True) if parts else None
    text = number_text(raw)
    return Answer(text, (), True) if text else _UNREADABLE


def _is_flat(raw: list[object]) -> bool:
    return not any(isinstance(part, (list, dict)) for part in raw)


def question_words(prompt: str) -> str:
    """The prompt up to the paragraph that tells how to answer."""
    return prompt.partition("IMPORTANT:")[0]
