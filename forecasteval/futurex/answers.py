"""The part of a raw answer (text, number or list) that counts: the box in it, or all of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from forecasteval.common.markup import clean, drop_invisible, last_boxed, parse_literal
from forecasteval.common.records import number_text

from .rules import Scored, unparsed
from .statements import ERROR, find_mapping, find_statement, is_error

Read = TypeVar("Read")

# What may be left of a box, see `last_boxed`.
_OPENING: Final = re.compile(r"ox(?:ed)?\s{0,9}[{(]?\s{0,9}")
_HEADING: Final = re.compile(  # alone on the first line
    r"[#\s]{0,4}(?:(?:my|the|final|predicted)\s){0,3}(?:answers?|predictions?|答案|预测|最终答案)\s?:\s?\n",
    re.I,
)
_REFUSAL: Final = re.compile(
    r"""(?=[NTIUCDntiucd无不未暂])  # a glance that fails fast
       (?:n\s?/\s?a|n\.\s?a|nan?|none|null|nil|tbd|idk|unknown|unsure|undetermined|unpredictable
       |(?:i\s)?(?:can(?:not|\snot|'t)|could\snot|unable\sto|do\snot|don't)\s(?:predict|determine|know|answer|say)(?:\s[a-z]{1,12}){0,4}
       |(?:insufficient|not\senough)\s(?:data|information)|not\s(?:available|applicable|sure|known)
       |无法(?:预测|确定|判断|回答)|不知道|不确定|不适用|未知|暂?无(?:数据|答案)?)
       (?=\s?(?:\Z|[-–—(:;,.!?\n]))""",
    re.X | re.I,
)


def parse_refusal(text: str) -> tuple[str, str] | None:
    """A cleaned text that declines to answer, as the words that do and the reason behind them; None
    for any other.

    >>> parse_refusal("N/A; no data"), parse_refusal("Unknown Mortal Orchestra")
    (('N/A', '; no data'), None)
    """
    refusal = _REFUSAL.match(text)
    return (refusal[0], text[refusal.end() :]) if refusal else None


@dataclass(slots=True, eq=False)
class Answer:
    """The part of an answer that counts: `text`, its `elements` if it is a list.

    `boxed` is False without a box; then the text is `stated` to be the answer, or all of it. A
    `problem` says why there is no text.
    """

    text: str
    elements: tuple[str, ...]
    boxed: bool
    stated: bool = False
    problem: str = ""
    _cleaned: str | None = None

    @property
    def cleaned(self) -> str:
        """The text without markup."""
        if self._cleaned is None:  # cached_property takes a lock in Python 3.11
            text = clean(self.text)
            heading = _HEADING.match(text) if "\n" in text else None
            self._cleaned = text[heading.end() :] if heading else text
        return self._cleaned

    def find_in(self, raw: str) -> tuple[int, int] | None:
        """Where in the raw answer the text stands: in its last box, or its last boxes, or else its
        last place.
        """
        if whole := _find_box(raw, self.text):
            return whole
        lines = self.text.split("\n")
        first, last = _find_box(raw, lines[0]), _find_box(raw, lines[-1])
        if first and last and first < last:
            return first[0], last[1]
        at = raw.rfind(self.text) if self.text else -1
        return (at, at + len(self.text)) if at >= 0 else None


def _find_box(raw: str, text: str) -> tuple[int, int] | None:
    """The last place of a text at the beginning of a box, as a whole word."""
    found = None
    for opening in _OPENING.finditer(raw):
        begin, end = opening.end(), opening.end() + len(text)
        if raw.startswith(text, begin) and not raw[end : end + 1].isalnum():
            found = begin, end
    return found


_UNREADABLE: Final = Answer("", (), False, problem="no text")
_TWO_BOXES: Final = Answer("", (), True, problem="boxes that name two answers, or take one back")
_CONFIDENCE: Final = re.compile(
    r"(?<=[^\s,;(])[,;.(\s]{1,4}(?:with\s)?(?:confidence|certainty|置信度|信心)(?:\slevel)?[\s:：=~≈]{0,3}"
    r"(?:of\s|约|为)?(?!0+(?:\.0+)?(?![.0-9]))[0-9]{1,3}(?:\.[0-9]{1,6})?\s?\\?%?\)?\.?\Z"
    r"|(?<=[^\s,;(])(?:[,;]?\s(?:with\s)?(?:a\s)?|\s?\()(?!0+(?:\.0+)?(?![.0-9]))"
    r"[0-9]{1,3}(?:\.[0-9]{1,6})?\s?\\?%\s"
    r"(?:confidence|certainty)\)?\.?\Z",  # with 70% confidence
    re.I,
)
_LAST_SHARE: Final = re.compile(r"\n[~≈]?[0-9]{1,3}(?:\.[0-9]{1,6})?\s?%\Z")


def parse_answer(raw: object, boxed: bool = False) -> Answer | None:
    """The span that counts of a raw answer (text, number or list); None if the answer is missing.

    With `boxed` it counts as boxed whatever it looks like.
    """
    if isinstance(raw, str):
        if not raw.isascii():
            raw = drop_invisible(raw)
        begin = raw.find("\\boxed{") + 7
        if begin == 6 and "ox" not in raw and raw.isprintable():  # most truths
            text, in_box = raw.strip(), False
        # the common case, one box; without a tab: that may be what is left of "\\text"
        elif (
            begin > 6
            and raw.count("{") == 1
            and raw.find("}") == raw.rfind("}") > begin
            and not raw[raw.rfind("}") + 1 :].strip("$* .\n")
            and "\t" not in raw
        ):
            text, in_box = raw[begin : raw.rfind("}")].strip(), True
        else:
            text, in_box = last_boxed(raw)
        if not text:
            return None if in_box or not raw.strip() else _TWO_BOXES
        return _make_answer(text, in_box, boxed)
    if raw is None:
        return None
    if isinstance(raw, list):
        if any(isinstance(part, (list, dict)) for part in raw):
            return Answer("", (), True)
        parts = [part.text for part in map(parse_answer, raw) if part]
        return hold_answer(parts) if parts else None
    text = number_text(raw)
    return Answer(text, (), True) if text else _UNREADABLE


def _make_answer(text: str, in_box: bool, boxed: bool) -> Answer:
    """The answer that a box holds, or a text without a box states or is."""
    if boxed:
        return _hold(text, True)
    if is_error(text):
        return Answer("", (), in_box, problem=ERROR)
    if in_box and text[0] != "{":  # most answers
        return _hold(_drop_confidence(text), True)
    said = find_mapping(text) if in_box else find_statement(text)
    if said and not said.text:
        return Answer("", (), in_box, problem=said.problem or "no text")
    return _hold(_drop_confidence(said.text if said else text), in_box, bool(said) and not in_box)


def _hold(text: str, boxed: bool, stated: bool = False) -> Answer:
    if text[:1] != "[":
        return Answer(text, (), boxed, stated)
    elements = parse_literal(text)
    return Answer(elements[0] if len(elements) == 1 else text, elements, boxed, stated)


def hold_answer(passages: Sequence[str]) -> Answer:
    """An answer of one text or several, as if it stood in a box."""
    if len(passages) == 1:
        return _hold(_drop_confidence(passages[0].strip()), True)
    return Answer("\n".join(passages), tuple(passages), True)


def _drop_confidence(text: str) -> str:
    """The text without `, confidence 0.8` at its end."""
    end = text[-40:]
    said = "onfidence" in end or "ertainty" in end or "置信度" in end or "信心" in end
    return _CONFIDENCE.sub("", text) if said else text


def drop_last_share(text: str) -> str:
    """A cleaned text without a share on a last line of its own, as a second box leaves it."""
    return _LAST_SHARE.sub("", text) if "%" in text and "\n" in text else text


def question_words(prompt: str) -> str:
    """The prompt up to the paragraph with instructions for the answer."""
    return prompt.partition("IMPORTANT:")[0]


class TruthOf(Generic[Read]):
    """A ground truth: it reads answers as its kind has them (picks, names, a number) and scores
    what it read.
    """

    __slots__ = ()

    def read(self, answer: Answer) -> Read | str:
        """The value of an answer, or the reason why it cannot be read."""
        raise NotImplementedError

    def compare(self, read: Read) -> Scored:
        """The score of what an answer says."""
        raise NotImplementedError

    def score(self, answer: Answer) -> Scored:
        """The score of an answer."""
        read = self.read(answer)
        return unparsed(read) if isinstance(read, str) else self.compare(read)
