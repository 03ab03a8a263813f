"""The options that a prompt lists, and the forms in which a text names one."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from forecasteval.common.markup import clean

from .names import fold, key_of

MAX_OPTIONS: Final = 62  # A to ~ in ASCII order


SEPARATOR: Final = re.compile(r"\s*[,，、;；/|&\n]\s*(?:and\s+)?|\s+and\s+|\s*和\s*", re.I)
_OPTION: Final = re.compile(r"(?:[-•*]\s+)?[*(]*([!-~])[*]*[.)、:：．][*]*\s*(.*)")  # A. text, (A) text, **A.** text
_SECOND_OPTION: Final = re.compile(r"B[.)、:：．]")
LEAD_IN: Final = re.compile(
    r"(?:the\s+outcome\s+be\s+)|(?:(?:the|my|our)\s+)?(?:(?:final|predicted|correct|best|most\s+likely)\s+)*"
    r"(?:answer|prediction|choice|outcome|result)s?(?:\s+(?:is|are|will\s+be|would\s+be)\s*:?|\s*:)\s*"
    r"|(?:both|options?|choices?|选项)\s*:?\s*(?=\S(?:\W|\Z))"
    r"|(?:最终|我的|正确)*(?:答案|预测|选择|结果)(?:是|为|选|:)+\s*",
    re.I,
)
YES_NO: Final = {
    "yes": "Yes", "是": "Yes", "是的": "Yes", "会": "Yes",
    "no": "No", "否": "No", "不": "No", "不是": "No", "不会": "No",
}  # fmt: skip


class Options(NamedTuple):
    """What may be picked: the labels, and the prompt that holds the options ("" if there are none in it)."""

    labels: frozenset[str]
    prompt: str


def count_options(prompt: str) -> int:
    """How many options a prompt lists; see `read_options`."""
    count, position = 0, prompt.find("\nA.")
    while position >= 0 and count < MAX_OPTIONS:
        count += 1
        position = prompt.find(f"\n{chr(65 + count)}.", position + 3)
    if count > 1:
        return count
    return len(read_options(prompt)) if _SECOND_OPTION.search(prompt) else 0


def read_options(prompt: str) -> tuple[str, ...]:
    r"""The options' texts in a prompt, labelled A, B, … on lines of their own (or inline after ` | `).

    Past Z the labels go on in ASCII order: `[ \ ] ^ _`, the backtick, a, b, … Empty if there are none.
    """
    for break_ in ("\n", "|"):
        texts: list[str] = []
        for line in map(str.strip, prompt.split(break_)):
            option = _OPTION.match(line)
            if option and option[1] == chr(65 + len(texts)):
                texts.append(option[2])
        if len(texts) > 1:
            return tuple(texts[:MAX_OPTIONS])
    return ()


def choice_key(text: str) -> str:
    """The form in which an option's text and a token compare: `the outcome be Lower` is `lower`."""
    lead = LEAD_IN.match(text)
    return key_of(fold(text[lead.end() :] if lead and lead.end() < len(text) else text).replace("$", ""))


@lru_cache(maxsize=1 << 14)
def option_index(options: Options) -> tuple[dict[str, str], int]:
    """Label by option text (yes and no under every name), and how many separators one text holds at most.

    A text that two options share stands for neither.
    """
    if not options.prompt:
        return ({} if options.labels else YES_NO), 0
    index: dict[str, str] = {}
    shared = set()
    width = 0
    for number, text in enumerate(map(clean, read_options(options.prompt))):
        key, label = choice_key(text), chr(ord("A") + number)
        width = max(width, len(SEPARATOR.findall(text)))
        if index.setdefault(key, label) != label:
            shared.add(key)
        if key in YES_NO:
            index.update((name, label) for name, meaning in YES_NO.items() if meaning == YES_NO[key])
    return {key: label for key, label in index.items() if key not in shared}, width


@lru_cache(maxsize=128)
def label_set(count: int) -> frozenset[str]:
    return frozenset(chr(ord("A") + number) for number in range(min(count, MAX_OPTIONS)))
