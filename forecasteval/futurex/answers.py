"""What counts of a raw answer (text, number or list): the box in it, or all of it."""

from __future__ import annotations

from typing import Final

from forecasteval.common.markup import clean, drop_invisible, last_boxed, parse_literal
from forecasteval.common.records import number_text


class Answer:
    """What counts of a raw answer: `text`, its `elements` if it is a list; `boxed` is False for bare text."""

    __slots__ = ("_cleaned", "boxed", "elements", "text")

    def __init__(self, text: str, elements: tuple[str, ...], boxed: bool) -> None:
        self.text, self.elements, self.boxed = text, elements, boxed
        self._cleaned: str | None = None

    @property
    def cleaned(self) -> str:
        """The text without markup."""
        if self._cleaned is None:  # cached_property takes a lock in Python 3.11
            self._cleaned = clean(self.text)
        return self._cleaned

    def find_in(self, raw: str) -> int:
        """Where in the raw answer the text stands: in its last box, or else its last place; −1 if nowhere."""
        if not self.text:
            return -1
        boxed = raw.rfind("{" + self.text)
        return boxed + 1 if boxed >= 0 else raw.rfind(self.text)


_UNREADABLE: Final = Answer("", (), False)


def read_answer(raw: object, boxed: bool = False) -> Answer | None:
    """The span that counts of a raw answer (text, number or list); None if the answer is missing.

    With `boxed` it counts as boxed whatever it looks like.
    """
    if isinstance(raw, str):
        raw = drop_invisible(raw)
        begin = raw.find("\\boxed{") + 7
        # the common case, one box; without a tab: that may be what is left of "\\text"
        if begin > 6 and raw.count("{") == 1 and raw.find("}") == raw.rfind("}") > begin and "\t" not in raw:
            text, in_box = raw[begin : raw.rfind("}")].strip(), True
        else:
            text, in_box = last_boxed(raw)
        if not text:
            return None
        elements = parse_literal(text) if text[0] == "[" else ()
        return Answer(elements[0] if len(elements) == 1 else text, elements, boxed or in_box)
    if raw is None:
        return None
    if isinstance(raw, list):
        parts = [part for part in map(read_answer, raw) if part] if _is_flat(raw) else [_UNREADABLE]
        if len(parts) == 1:
            return Answer(parts[0].text, parts[0].elements, True)
        return Answer("\n".join(p.text for p in parts), tuple(p.text for p in parts), True) if parts else None
    text = number_text(raw)
    return Answer(text, (), True) if text else _UNREADABLE


def _is_flat(raw: list[object]) -> bool:
    return not any(isinstance(part, (list, dict)) for part in raw)


def question_words(prompt: str) -> str:
    """The prompt up to the paragraph that tells how to answer."""
    return prompt.partition("IMPORTANT:")[0]
