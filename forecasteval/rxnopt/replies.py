"""Replies: the one option index that a model's text states, or why there is none."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from forecasteval.common.batches import reply_text
from forecasteval.common.errors import grouped_warning
from forecasteval.common.markup import clean, find_object, last_boxed
from forecasteval.common.records import as_text, number_text

# A free-standing integer: no part of a range, a decimal, a word or a negative number.
_INDEX: Final = re.compile(r"(?<![\w.,+/−–—-])(?<![0-9]:)[0-9]{1,6}(?![\w%°/−–—-]|[.,:][0-9])", re.ASCII)
_UNIT: Final = re.compile(  # 30 mA is no index, unless an option is named
    r"[ ]?(?:[°%μµ度]|(?:m?A|V|W|K|C|h|hrs?|hours?|min|minutes?|s|sec|seconds?|days?|m?L|m?mol|m?M|k?g|mg|eq"
    r"|equiv[a-z]*|ppm|bar|atm|psi|rpm|nm|wt|vol)(?![a-z]))",
    re.I,
)
_OPTION: Final = re.compile(r"(?:option|choice|index|number|no\.|选项|选择)s?[\s#(:]{0,3}\Z", re.I)
_INVISIBLE: Final = re.compile(r"[\u200b-\u200f\u2060\ufeff]")
_MARKUP: Final = str.maketrans("*`$", "   ")
_KEYWORD: Final = re.compile(r"\b(?:option|choice|pick|choose|select)(?!s\b)|选", re.I)
_MARKER: Final = re.compile(r"\b(?:answer|ans)\b|答案", re.I)
_STATED: Final = re.compile(r"^(?:[ :=是为]|is\b|would be\b){1,6}", re.I)  # between "answer" and what it is
_REASON: Final = re.compile(r"\b(?:because|since|(?<!well )as(?! well)|due to)\b|因为|由于", re.I)
_NOT: Final = re.compile(
    r"\b(?:not|neither|nor|never|no|worst|wrong|least|if|whether)\b(?!\.)|n['’]t\b|[不非别]|最差|如果|候选", re.I
)
# A line that is an option's number and nothing else: `3.` · `"3"` · `(3)` · `Option 0`
_BARE: Final = re.compile(r"[\s(\[#\"']*(?:(?:option|choice|选项)\s*[:#]?\s*)?[0-9]{1,6}[\s)\].。!,;:\"']*", re.I)
# … and with words behind it: `3: water` · `3) K3PO4` · `3 - because` · `Option 0 (water)`
_LED: Final = re.compile(r"[\s(\[#\"']*(?:(?:option|choice|选项)\s*#?)?[0-9]{1,6}(?:\s?[:(（]|\)\s|\s[-–—]\s).*", re.I)
_REFUSAL: Final = re.compile(
    r"\b(?:cannot|can['’]t|can not|unable to|won['’]t|not able to|refuse|decline|sorry|as an ai)\b|抱歉|无法|不能|拒绝",
    re.I,
)
_BOX: Final = re.compile(r"\\(?:boxed|fbox)\s*\{([^{}]{1,200})\}")
_REPLY_KEYS: Final = ("answer", "option", "index", "choice", "prediction")
_REPLY_FIELDS: Final = ("reply", "response", "output", "completion", "text", "content", "answer", "prediction")


def parse_reply(reply: object) -> tuple[int | None, str]:
    r"""(index, "") of a raw reply, or (None, "no index", "two different indices" or "refusal").

    What is stated as the answer counts: a box, a JSON object, what follows "Answer", a first or last line that is a
    number; else the one line that begins with a number, or the one option that is named anywhere. What stands there
    must be one integer, up to the reason, and nothing may be denied. In doubt there is no index: a wrong one would
    become a score.

    >>> parse_reply("Option 1 lacks a base.\nAnswer: 3"), parse_reply("Option 2 or Option 3")
    ((3, ''), (None, 'two different indices'))
    """
    if not isinstance(reply, str):
        reply = as_text(reply) if isinstance(reply, dict) else number_text(reply).removesuffix(".0")
    text = reply.rpartition("</think>")[2].partition("<think>")[0]
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text).translate(_MARKUP))
    boxed, any_box = last_boxed(text)
    record = find_object(text)
    stated = [clean(box) for box in (boxed, *_BOX.findall(text))] if any_box else []
    if not any_box and isinstance(record, dict):
        stated = [as_text(record[key]) for key in _REPLY_KEYS if key in record]
    lines = [" ".join(line.split()) for line in text.split("\n") if line.strip()]
    for number, line in enumerate(lines):
        marker = _MARKER.search(line)
        if marker and not isinstance(record, dict):
            rest, below = _STATED.sub("", line[marker.end() :]), lines[number + 1 : number + 2]
            stated.append(_head(rest) or "".join(row for row in below if _BARE.fullmatch(row) or _KEYWORD.match(row)))
    heads = [_head(line) if _KEYWORD.match(line) else _REASON.split(line, maxsplit=1)[0] for line in lines]
    stated += [head for head in dict.fromkeys(heads[:1] + heads[-1:]) if _BARE.fullmatch(head)]
    led = [head for head in heads if _LED.fullmatch(head)]
    if not stated and (len(led) == 1 or _KEYWORD.search(text)):
        stated = led if len(led) == 1 and led[0] in (heads[0], heads[-1]) else [text]
    index, note = _one_index(stated)
    return index, "refusal" if index is None and _REFUSAL.search(text) else note


def _head(text: str) -> str:
    """A statement without its reasons: `Option 0` of "Option 0. Option 1 lacks a base" and of "Option 0, because …"."""
    text = _REASON.split(text, maxsplit=1)[0]
    sentence = re.split(r"[.。;]\s", text, maxsplit=1)[0]
    return sentence if _BARE.fullmatch(sentence) else text


def _one_index(texts: Sequence[str]) -> tuple[int | None, str]:
    """The only free-standing integer of statements of which each has one."""
    found: set[int] = set()
    for text in texts:
        text = _REASON.split(text, maxsplit=1)[0]
        numbers = {
            int(match[0])
            for match in _INDEX.finditer(text)
            if not _UNIT.match(text, match.end()) or _OPTION.search(text, max(0, match.start() - 12), match.start())
        }
        if not numbers or _NOT.search(text):
            return None, "no index"
        found |= numbers
    return (found.pop(), "") if len(found) == 1 else (None, "two different indices" if found else "no index")


def parse_replies(records: Iterable[Any]) -> tuple[dict[str, int], list[str]]:
    """(`{id: index}`, warnings) of records with an id and a reply; what cannot be read is left out and named."""
    found: dict[str, int] = {}
    notes: dict[str, list[str]] = {}
    conflicting: set[str] = set()
    for number, record in enumerate(records, 1):
        name = record.get("custom_id", record.get("id")) if isinstance(record, Mapping) else None
        if name is None:
            notes.setdefault("reply without id, not used", []).append(f"record {number}")
            continue
        index, note = parse_reply(_reply_text(record))
        if index is not None and found.get(str(name), index) != index:
            index, note = None, "two different indices"
            conflicting.add(str(name))
        if index is None:
            notes.setdefault(f"{note}, left out", []).append(str(name))
        else:
            found[str(name)] = index
    for name in conflicting:
        found.pop(name, None)
    return found, [grouped_warning(text, names) for text, names in notes.items()]


def _reply_text(record: Mapping[str, Any]) -> object:
    """The reply of a record, also of a line of a batch's output."""
    return reply_text(next((record[field] for field in _REPLY_FIELDS if record.get(field) is not None), None))
