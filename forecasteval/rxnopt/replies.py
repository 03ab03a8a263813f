"""Replies: the option index that a model's text states, or why it states none."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from forecasteval.common.errors import RecordNotes
from forecasteval.common.markup import clean, find_object, last_boxed
from forecasteval.common.records import as_text, number_text
from forecasteval.common.replies import reply_texts

NO_INDEX: Final = "no index"
CONFLICT: Final = "two different indices"
ORDINAL: Final = "an ordinal, read as the index before it (the second option is index 1)"

# --- What is no text: tokens of a model, markup, invisible characters ---

_TOKEN: Final = re.compile(r"</?s>|<\|[^<>|]{1,40}\|>|<(?:eos|eot|end_of_turn)>")
_INVISIBLE: Final = re.compile(r"[\u200b-\u200f\u2060\ufeff]")
_MARKUP: Final = str.maketrans("*`$", "   ")
_GLUED: Final = re.compile(r"\b(option|choice|index)(?=[0-9])", re.I)  # option2

# --- Numbers ---

# A free-standing integer: no part of a range, a decimal, a word, a formula like Pd(OAc)2 or a
# negative number.
_INDEX: Final = re.compile(
    r"(?<![\w.,+/−–—)\]}-])(?<![0-9]:)[0-9]{1,6}(?![\w%°/−–—-]|[.,:][0-9])", re.ASCII
)
_UNIT: Final = re.compile(  # 30 mA is no index, unless an option is named
    r"[ ]?(?:[°%μµ度Å]|(?:m?A|V|W|K|C|N|[kM]?Pa|degrees?|h|hrs?|hours?|min|minutes?|s|sec|seconds?|days?|weeks?"
    r"|m?L|m?mol|m?M|k?g|mg|eq|equiv[a-z]*|ppm|bar|atm|psi|rpm|nm|wt|vol)(?![a-z]))",
    re.I,
)
_OPTION: Final = re.compile(r"(?:option|choice|index|number|no\.|选项|选择)s?[\s#(:]{0,3}\Z", re.I)
_LABEL: Final = re.compile(  # Reference 2, entries 3 and 4: numbers of something else
    r"\b(?:reference|entr(?:y|ie)|ligand|catalyst|base|solvent|reagent|additive|compound|product|substrate|example|table"
    r"|figure|scheme|step|row|run|experiment|condition|question)s?\s?#?\s?[0-9]{1,6}(?:\s?(?:,|&|and|or)\s?[0-9]{1,6})*"
    r"|\bpH\s?=?\s?[0-9]{1,2}"
    r"|(?:参考|条目|配体|催化剂|溶剂|表|图|步骤|实验)\s?[0-9]{1,6}|第\s?[0-9]{1,6}\s?(?:步|行|组)",
    re.I,
)
_ORDINALS: Final = {
    word: number
    for words in (
        "first second third fourth fifth sixth seventh eighth ninth tenth",
        "一 二 三 四 五 六 七 八 九 十",
    )
    for number, word in enumerate(words.split(), 1)
}
_ORDINAL: Final = re.compile(
    r"第\s?([1-9][0-9]{0,3}|[一二三四五六七八九十])\s?(?:个|项|种|选项)(?:\s?选项)?"
    r"|\b(?:([1-9][0-9]{0,3})(?:st|nd|rd|th)|(first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth))"
    r"\s(?:option|choice)\b",
    re.I,
)

# --- Words ---

_SENTENCE_END: Final = re.compile(r"(?<=[。！？；])|(?<=[.;!?])\s+|\n")
_KEYWORD: Final = re.compile(r"\b(?:option|choice|pick|choose|select)(?!s\b)|选", re.I)
_MARKER: Final = re.compile(
    r"\b(?:answer|ans)\b|答案|(?:\b(?:result|index)\b|结果|答)\s?(?=[:=])", re.I
)
_STATED: Final = re.compile(
    r"^(?:[ :=是为]|is\b|would be\b){1,6}", re.I
)  # between "answer" and what it is
_REASON: Final = re.compile(r"\b(?:because|since|(?<!well )as(?! well)|due to)\b|因为|由于", re.I)
_DENIED: Final = re.compile(
    r"\b(?:not|neither|nor|never|no(?!\.)|but|if|whether|avoid\w*|except\w*|exclud\w*|reject\w*|worst|worse|wrong"
    r"|inferior|lowest|weakest|poor(?:est)?|bad|(?<!at )least|less|(?:second|next)[ -]best|hardly|far from|unlikely"
    r"|(?<!without )(?<!no )doubt\w*|against|(?:other|else|rather) than|instead|suboptimal|disfavou?r\w*|incorrect"
    r"|mistake|rul\w+ out|eliminat\w+|discard\w*|skip\w*)\b|n['’]t\b|[不勿]|非(?!常)|(?<![特分区])别|排除"
    r"|避免|剔除|淘汰|放弃|反对|除[了外选]|最差|最低|较差|次[之优佳]|如果|候选",
    re.I,
)
# In a sentence of several words, what makes an option the one that is chosen: "Option 2 fails"
# names one, and no more.
_CHOSEN: Final = re.compile(
    r"\b(?:best|better|optim\w+|highest|greatest|maxim\w+|ideal|superior|go(?:ing)? (?:with|for)|choos\w+|chose"
    r"|pick\w*|select\w*|recommend\w*|prefer\w*|favou?r\w*|suggest\w*|conclu\w+|therefore|thus|hence|so|answer|like"
    r"|predict\w*|expect\w*|believe|think|guess|(?:my|final|right|correct|good) choice|is (?:correct|right)"
    r"|most (?:likely|effective|active|productive|promising))\b"
    r"|选(?!项)|非常|最[佳优好高大]|推荐|答案|因此|所以|更[好优高]",
    re.I,
)
_REFUSAL: Final = re.compile(
    r"\b(?:cannot|can['’]t|can not|unable to|won['’]t|not able to|refuse|decline|sorry|as an ai)\b|抱歉|无法|不能|拒绝",
    re.I,
)
# A line that is an option's number and nothing else: `3.` · `"3"` · `(3)` · `Option 0`
_BARE: Final = re.compile(
    r"[\s(\[#\"']*(?:(?:option|choice|选项)\s*[:#]?\s*)?[0-9]{1,6}[\s)\].。!,;:\"']*", re.I
)
# … and with words behind it: `3: water` · `3) K3PO4` · `3 - because` · `Option 0 (water)`
_LED: Final = re.compile(
    r"[\s(\[#\"']*(?:(?:option|choice|选项)\s*#?)?[0-9]{1,6}(?:\s?[:(（]|\)\s|\s[-–—]\s).*", re.I
)
# … or that ends so, behind other clauses: `After heating, option 1.`
_NAMED: Final = re.compile(
    r"(?:^|[,:;。.]\s?)(?:the )?(?:option|choice|选项|第)\s?#?\s?[0-9]{1,6}\s?(?:个?选项|个|项)?\W*\Z",
    re.I,
)
_BOX: Final = re.compile(r"\\(?:boxed|fbox)\s*\{([^{}]{1,200})\}")
_KEY: Final = re.compile(
    r"(?:\w{1,20}[_ ])?(?:answer|option|index|choice|prediction|result)(?:[_ ](?:index|number|id))?",
    re.I,
)
_REPLY_FIELDS: Final = (
    "reply",
    "response",
    "output",
    "completion",
    "text",
    "content",
    "answer",
    "prediction",
)


def parse_reply(reply: object) -> tuple[int | None, str]:
    r"""(index, "" or that it was an ordinal) of a reply, or (None, "no index", "two different
    indices" or "refusal").

    What is stated as the answer counts: a box, a JSON object, what follows "Answer", a first or
    last line that is a number; else the one line that begins with a number, or the one option that
    a text names and chooses. What stands there must be one integer, up to the reason, and nothing
    may be denied. In doubt there is no index: a wrong one would become a score.

    >>> parse_reply("Option 1 lacks a base.\nAnswer: 3"), parse_reply("Option 2 or Option 3")
    ((3, ''), (None, 'two different indices'))
    """
    text = _ORDINAL.sub(_index_of_ordinal, plain := _plain_text(reply))
    stated = [_indices(statement) for statement in _statements(text)]
    indices = set[int]().union(*stated)
    if all(stated) and len(indices) == 1:
        index = indices.pop()
        ordinals = {_index_of_ordinal(match) for match in _ORDINAL.finditer(plain)}
        return index, ORDINAL if f" option {index} " in ordinals else ""
    if _REFUSAL.search(text):
        return None, "refusal"
    return None, CONFLICT if all(stated) and indices else NO_INDEX


def _plain_text(reply: object) -> str:
    """The text after any thoughts, without markup and the tokens that end a turn."""
    if not isinstance(reply, str):
        reply = as_text(reply) if isinstance(reply, dict) else number_text(reply).removesuffix(".0")
    text = reply.rpartition("</think>")[2].partition("<think>")[0]
    text = _TOKEN.sub(" ", unicodedata.normalize("NFKC", text))
    return _GLUED.sub(r"\1 ", _INVISIBLE.sub("", text.translate(_MARKUP)))


def _index_of_ordinal(match: re.Match[str]) -> str:
    word = next(filter(None, match.groups())).lower()
    return f" option {(_ORDINALS.get(word) or int(word)) - 1} "


def _statements(text: str) -> list[str]:
    """The stated answer; without one, the only line that begins with a number, or the whole
    text.
    """
    lines = [" ".join(line.split()) for line in text.split("\n") if line.strip()]
    (box, any_box), record = last_boxed(text), find_object(text)
    stated = [clean(content) for content in (box, *_BOX.findall(text))] if any_box else []
    if not isinstance(record, dict):
        stated += _marked(lines)
    elif not stated:  # with their keys: "worst option: 3" is denied
        keyed = {key: as_text(value) for key, value in record.items() if _KEY.fullmatch(key)}
        stated = [f"{key.replace('_', ' ')}: {value}" for key, value in keyed.items()]
    heads = [
        _head(line) if _KEYWORD.match(line) else _REASON.split(line, maxsplit=1)[0]
        for line in lines
    ]
    ends = list(dict.fromkeys(heads[:1] + heads[-1:]))
    stated += filter(_BARE.fullmatch, ends)
    led = list(filter(_LED.fullmatch, heads))
    if stated or not (len(led) == 1 or _KEYWORD.search(text)):
        return stated
    if len(led) == 1 and led[0] in ends:
        return led
    chosen = _CHOSEN.search(text) or any(map(_NAMED.search, ends)) or len(_indices(text)) > 1
    return [text] if chosen else []


def _marked(lines: list[str]) -> Iterator[str]:
    """The text after "Answer", on its line or the next, unless its clause denies it: "the worst
    answer is 3".
    """
    for number, line in enumerate(lines):
        if marker := _MARKER.search(line):
            clause = re.split(r"[.,:;。]", line[: marker.start()])[-1]
            rest = _head(_STATED.sub("", line[marker.end() :]))
            below = [
                row
                for row in lines[number + 1 : number + 2]
                if _BARE.fullmatch(row) or _KEYWORD.match(row)
            ]
            yield "" if _DENIED.search(clause) else rest or "".join(below)


def _head(text: str) -> str:
    """A statement without its reasons: `Option 0` of "Option 0. Option 1 lacks a base" and of
    "Option 0, because …".
    """
    text = _REASON.split(text, maxsplit=1)[0]
    sentence = re.split(r"[.。;]\s", text, maxsplit=1)[0]
    return sentence if _BARE.fullmatch(sentence) else text


def _indices(statement: str) -> set[int]:
    """The options that a statement names up to its reason, without those that a sentence denies.

    A sentence that denies and names no option denies all of them: "Option 2 looks good. It is not."
    """
    picked, denied = set[int](), set[int]()
    for sentence in _SENTENCE_END.split(_REASON.split(statement, maxsplit=1)[0]):
        numbers = _free_integers(_LABEL.sub(" ; ", sentence))
        if not _DENIED.search(sentence):
            picked |= numbers
        elif numbers:
            denied |= numbers
        else:
            return set()
    return picked - denied


def _free_integers(text: str) -> set[int]:
    """The integers that stand alone, without a unit unless an option is named: not the 30 of "30
    mA".
    """
    return {
        int(match[0])
        for match in _INDEX.finditer(text)
        if not _UNIT.match(text, match.end())
        or _OPTION.search(text, max(0, match.start() - 12), match.start())
    }


def parse_replies(records: Iterable[Any]) -> tuple[dict[str, int], list[str]]:
    """(`{id: index}`, warnings) of records with an id and a reply; what cannot be read is left out
    and named.
    """
    indices: dict[str, int] = {}
    notes = RecordNotes()
    conflicting: set[str] = set()
    for number, record in enumerate(records, 1):
        name = record.get("custom_id", record.get("id")) if isinstance(record, Mapping) else None
        if name is None:
            notes["reply without id, not used"].append(f"record {number}")
            continue
        reply = next(
            (record[field] for field in _REPLY_FIELDS if record.get(field) is not None), None
        )
        for text in reply_texts(reply):  # all choices in a line of a batch's output
            index, note = parse_reply(text)
            if index is not None and indices.setdefault(str(name), index) != index:
                index, note = None, CONFLICT
                conflicting.add(str(name))
            if note:
                notes[f"{note}, left out" if index is None else note].append(str(name))
    for name in conflicting:
        indices.pop(name, None)
    return indices, notes.lines()
