"""The options that a prompt lists, and the forms in which a text names one."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from functools import cached_property, lru_cache
from typing import Final

from forecasteval.common.markup import clean

from .names import fold, key_of

MAX_OPTIONS: Final = 62  # A to ~ in ASCII order
YES_NO: Final = {
    "yes": "Yes", "true": "Yes", "是": "Yes", "是的": "Yes", "会": "Yes",
    "no": "No", "false": "No", "否": "No", "不": "No", "不是": "No", "不会": "No",
}  # fmt: skip
# As answers write them, in other languages too; a truth "Ja" may be a name.
SAID_YES_NO: Final = {
    **YES_NO, **dict.fromkeys(("sí", "si", "oui", "ja", "sim", "はい", "예", "네", "да", "نعم"), "Yes"),
    **dict.fromkeys(("non", "nein", "não", "nao", "いいえ", "아니요", "아니오", "нет", "لا"), "No"),
}  # fmt: skip

_STARTS: Final = tuple(f"\n{chr(65 + number)}." for number in range(MAX_OPTIONS + 1))
_MARK: Final = r"(?:[-•*]\s+)?[*(]*([!-~])[*]*[.)、:：．][*]*"  # A. text, (A) text, **A.** text
_LINES: Final = re.compile(rf"^[^\S\n]*{_MARK}[^\S\n]*([^\n]*)", re.M)
_INLINE: Final = re.compile(rf"\|\s*{_MARK}\s*([^|]*)")  # question | A. text | B. text
_SECOND: Final = re.compile(r"B[*]*[.)、:：．]")
SEPARATOR: Final = re.compile(r"[,，、;；/|&\n](?:\s*and\s)?|\s(?:and|\+)\s|\+(?=\w\b)(?<=\b\w\+)|和|与|以及", re.I)
_DASHES: Final = re.compile(r"\s*[-–—]\s*")
_COMPARISON: Final = re.compile(r"\s*([<>≤≥])\s*")
ROUND: Final = re.compile(r"\((?:[^()]|\([^()]*\))*\)")
# Bounded: a share of at most three digits behind at most four marks.
_SHARE: Final = re.compile(r"[\s:=(~≈-]{1,4}([0-9]{1,3}(?:\.[0-9]{1,6})?|\.[0-9]{1,6})\s?%?\s?\)?\Z")
LEAD_IN: Final = re.compile(
    r"(?=[tmofpcbar最我正答预选结])(?:(?:the\s+outcome\s+be\s+)|(?:(?:the|my|our)\s+)?(?:(?:final|predicted|correct|best|most\s+likely)\s+)*"
    r"(?:answer|prediction|choice|outcome|result)s?(?:\s+(?:is|are|will\s+be|would\s+be)\s*:?|\s*[:=])\s*"
    r"|(?:both|options?|choices?|选项)\s*:?\s*(?=\S(?:\W|\Z))"
    r"|(?:最终|我的|正确)*(?:答案|预测|选择|结果)(?:是|为|选|:)+\s*)",
    re.I,
)


class Options:
    """What may be picked: `labels`, and where in the `prompt` their texts stand (nowhere: the labels stand alone)."""

    def __init__(self, labels: frozenset[str], prompt: str = "", spans: Sequence[tuple[int, int]] = ()) -> None:
        self.labels, self._prompt, self.spans = labels, prompt, spans

    @cached_property
    def index(self) -> dict[str, str]:
        """Label by option text, yes and no under every name; a text that two options share stands for neither."""
        if not self.spans:
            return {} if self.labels else SAID_YES_NO
        index: dict[str, str] = {}
        shared = set()
        for number, text in enumerate(self._texts):
            key, label = choice_key(text), chr(ord("A") + number)
            if index.setdefault(key, label) != label:
                shared.add(key)
            if key in YES_NO:
                index.update((name, label) for name, meaning in SAID_YES_NO.items() if meaning == YES_NO[key])
        return {key: label for key, label in index.items() if key not in shared}

    @cached_property
    def width(self) -> int:
        """How many separators one option's text holds at most."""
        return max((len(SEPARATOR.findall(text)) for text in self._texts), default=0)

    def find_verbatim(self, text: str) -> str:
        """The label of the only option that stands in the prompt just as `text`; "" if there is none."""
        matches = [n for n, (begin, end) in enumerate(self.spans) if self._prompt[begin:end].strip() == text]
        return chr(ord("A") + matches[0]) if len(matches) == 1 else ""

    @cached_property
    def _texts(self) -> list[str]:
        return [clean(self._prompt[begin:end]) for begin, end in self.spans]


def find_options(prompt: str) -> list[tuple[int, int]]:
    r"""Where the options' texts stand in a prompt, labelled A, B, … on lines of their own (or inline after ` | `).

    Past Z the labels go on in ASCII order: `[ \ ] ^ _`, the backtick, a, b, … Empty if there are none.
    """
    spans: list[tuple[int, int]] = []
    begin = prompt.find("\nA.")  # the usual form, without a pattern
    while begin >= 0 and len(spans) < MAX_OPTIONS:
        end = prompt.find("\n", begin + 3)
        spans.append((begin + 3, len(prompt) if end < 0 else end))
        begin = prompt.find(_STARTS[len(spans)], begin + 3)
    if len(spans) < 2 and _SECOND.search(prompt):
        for lines in (_LINES, _INLINE):
            spans = []
            for match in lines.finditer(prompt):
                if match[1] == chr(65 + len(spans)):
                    spans.append(match.span(2))
            if len(spans) > 1:
                break
    return spans[:MAX_OPTIONS] if len(spans) > 1 else []


def choice_key(text: str) -> str:
    """The form in which an option's text and a token compare: `the outcome be $10 – $20` is `10-20`."""
    lead = LEAD_IN.match(text)
    key = key_of(fold(text[lead.end() :] if lead and lead.end() < len(text) else text)).replace("$", "")
    if "-" in key or "–" in key or "—" in key:
        key = _DASHES.sub("-", key)
    if "<" in key or ">" in key or "≤" in key or "≥" in key:
        key = _COMPARISON.sub(r"\1", key)
    return key


def read_distribution(tokens: Sequence[str], texts: Container[str] = ()) -> list[str] | None:
    """The tokens with the largest share, if all of several have one and the shares add up to 90–110 %, else None.

    A token that is one of the options' `texts` has no share: its percentage is its own.

    >>> read_distribution(["Yes: 4%", "No: 96%"]), read_distribution(["A (70%)", "B (71%)"])
    (['No'], None)
    """
    if len(tokens) < 2:
        return None
    shares = [None if choice_key(token) in texts else _SHARE.search(token) for token in tokens]
    values = [float(share[1]) for share in shares if share]
    if len(values) < len(tokens) or not (0.9 <= sum(values) <= 1.1 or 90 <= sum(values) <= 110):
        return None
    heads = [token[: share.start()] for token, share in zip(tokens, shares, strict=True) if share]
    return [head for head, value in zip(heads, values, strict=True) if value == max(values)]


@lru_cache(maxsize=128)
def label_set(count: int) -> frozenset[str]:
    """The labels of so many options."""
    return frozenset(chr(ord("A") + number) for number in range(min(count, MAX_OPTIONS)))


_BOXED_SIDES: Final = re.compile(r"\\boxed\{([^{}\n]{1,80})\}\s{0,3}or\s{1,3}\\boxed\{([^{}\n]{1,80})\}")
_VERSUS: Final = re.compile(r"([^\n:\"?]{1,60}?)\s(?:vs?\.?|对)\s([^\n:\"?(]{1,60})")
_SCORE: Final = re.compile(r"\b[0-9]{1,3}\s?[-–:]\s?[0-9]{1,3}\b")
_WINS: Final = re.compile(
    r"\s*(?:(?:will|to)\s+)?(?:over|beats?|defeats?|def\.?|edges?|wins?\s*(?:over|against)|击败|战胜)\s*(?:the\s+)?",
    re.I,
)


def find_sides(prompt: str) -> tuple[str, ...]:
    r"""The two sides that a question without options names, folded: `\boxed{X} or \boxed{Y}`, or `X vs. Y`; or ()."""
    sides = _BOXED_SIDES.search(prompt) if "or \\boxed{" in prompt else None
    if not sides and (" v" in prompt or " 对 " in prompt):
        sides = _VERSUS.search(prompt)
    names = tuple(fold(clean(side)) for side in sides.groups()) if sides else ()
    return names if names and names[0] not in names[1] and names[1] not in names[0] else ()


def read_winner(text: str, sides: Sequence[str]) -> str | None:
    """The side that wins in a text that names both, "" if it says neither; None if it does not name both.

    >>> sides = "falcons", "otters"
    >>> read_winner("Otters def. Falcons 3-1", sides), read_winner("Falcons 4-2 Otters", sides)
    ('otters', '')
    """
    text = fold(ROUND.sub(" ", text))
    first, second = sorted(sides, key=text.find)
    begin, other = text.find(first), text.find(second)
    if begin < 0:
        return None
    before, between, after = text[:begin], text[begin + len(first) : other], text[other + len(second) :]
    if any(map(str.isalnum, before.removeprefix("the "))):
        return ""
    if after.lstrip().startswith(":") and after.strip(" :.") in sides:
        return after.strip(" :.")
    alone = not any(map(str.isalpha, after))
    return first if alone and _WINS.fullmatch(_SCORE.sub("", between)) else ""
