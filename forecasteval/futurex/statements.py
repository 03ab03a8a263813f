"""The answer of a text without a box: the one statement that says which answer is given.

A statement is, in this order, the value of a mapping at the end (`{"answer": "B"}`), a tag
(`<answer>B</answer>`), or what stands behind a lead-in that begins a line or a sentence near the
end (`Final answer: B`, `答案是B`, a heading). It does not count if it holds a condition, or if
anything follows but notes: confidence, reasons, sources.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from forecasteval.common.doubts import find_doubt
from forecasteval.common.markup import find_objects
from forecasteval.common.records import number_text

ERROR: Final = "error of a program"
NO_KEY: Final = "JSON without an answer"
CONDITION: Final = "no box, and the statement has a condition"
FOLLOWED: Final = "no box, and more than notes behind the statement"


class Statement(NamedTuple):
    """What a text says that its answer is, a list as JSON, or the `problem` why it is none."""

    text: str
    problem: str = ""


# --- What a program wrote ---

_ERROR: Final = re.compile(
    r"""\s{0,9}(?=[\w<\[])(?:
        [\w.]{5,69}+(?:(?<=error)|(?<=exception))(?:\s(?:code|message|type)\b|\s\([^()\n]{0,40}\))?\s?:
       |\[?error\]|traceback\s\(most\srecent|<html|<!doctype
       |(?:HTTP(?:/[0-9.]{1,3})?\s)?[45][0-9]{2}\s(?:too\smany|bad\s(?:gateway|request)|unauthor|forbidden
         |not\sfound|request\stime|internal\sserver|service\sunav|gateway\stime))""",
    re.X | re.I,
)


def is_error(text: str) -> bool:
    """Whether a text begins like what a program writes that failed."""
    return bool(_ERROR.match(text))


# --- A mapping at the end ---

_ANSWER_KEY: Final = re.compile(r"(?:(?:my|final)[\s_-]?)?(?:answer|prediction)", re.I)
_ERROR_KEY: Final = re.compile(r"errors?|exception|traceback", re.I)
_FENCE: Final = re.compile(r"\s*```\s*\Z")
_ONLY_FENCE: Final = re.compile(r"\s*(?:```\w{0,12}\s*)?")
_PYTHON: Final = re.compile(r"'|\b(?:True|False|None)\b")
_JSON: Final = {"'": '"', "True": "true", "False": "false", "None": "null"}
# Objects as pairs: an answer may be given twice.
_DECODER: Final = json.JSONDecoder(strict=False, object_pairs_hook=tuple)


def find_mapping(text: str) -> Statement | None:
    """The answer of the only mapping with such a key, where the text ends with a mapping."""
    body = _FENCE.sub("", text).rstrip()
    if not body.endswith("}"):
        return None
    python = _PYTHON.sub(lambda word: _JSON[word[0]], body) if "'" in body else ""
    objects = [*find_objects(body, _DECODER)] or [*find_objects(python, _DECODER)]
    statements = []
    for _, _, pairs in objects:
        if any(_ERROR_KEY.fullmatch(key) and said for key, said in pairs):
            return Statement("", ERROR)
        if values := [value for key, value in pairs if _ANSWER_KEY.fullmatch(key)]:
            statements.append(_state_values(values))
    if len(statements) == 1:
        return statements[0]
    alone = len(objects) == 1 and objects[0][1] == len(body)
    if alone and not statements and _ONLY_FENCE.fullmatch(body, 0, objects[0][0]):
        return Statement("", NO_KEY)
    return None


def _state_values(values: Sequence[object]) -> Statement:
    """The statement that equal values are, or the problem of others."""
    value = values[0]
    if any(other != value for other in values[1:]):
        return Statement("", "two answers that differ")
    texts = [*map(_write_value, value)] if isinstance(value, list) else []
    if texts and all(texts):
        return Statement(json.dumps(texts, ensure_ascii=False))
    text = _write_value(value)
    return _state(text) if text else Statement("", NO_KEY)


def _write_value(value: object) -> str:
    """A text, a number, or Yes and No for truth values; "" for anything else."""
    if isinstance(value, bool):
        return "Yes" if value else "No"
    return value.strip() if isinstance(value, str) else number_text(value)


# --- Lead-ins ---

_MARKS: Final = r"[*_`\s]"
_LEAD_IN: Final = re.compile(
    r"""(?:^|(?<=[.!?]\s)|(?<=[。！？]))(?P<begin>
      [ \t]{0,4}(?:[-=]>|[^\w\s>"'“”‘’「『«»:：《(\[{<]|_){0,6}
      [ \t]{0,2}(?:[0-9]{1,2}[.)]\s)?[*_]{0,3})
    (?:(?:(?:so|thus|therefore|hence|overall|in\sconclusion),?\s{1,3})?
       (?P<own>(?:(?:the|my|our)[\s_]{1,3})?
         (?:(?:final|best|overall|predicted|most\slikely|single|correct)[\s_-]{1,3}){0,3})
       (?:answers?|predictions?|forecasts?
         |(?P<further>picks?|choices?|selections?|call|guess|verdict|decision|conclusion))\b
       [*_`]{0,3}(?:\s?\([^()\n]{0,60}\))?[*_`]{0,3}\s?
       (?P<says>[:：=]|[-–—]\s|\b(?:is|are|will\sbe)\b\s?:?|(?=[ \t]*$))
     |I\s(?-i:predict|choose|pick|select)\b(?!\sthat\b)\s?:?
     |(?:(?:所以|因此|故|综上(?:所述)?|总之)[,，]?\s?)?(?P<own_zh>(?:我的|最终|最后|正确)(?:的)?){0,2}
       (?:(?:答案|预测)(?:结果|值)?|(?P<further_zh>结论|选择|判断))[*_`]{0,3}(?:[(（][^()（）\n]{0,60}[)）])?
       [*_`]{0,3}\s?(?P<says_zh>[:：]|[是为]\s?[:：]?|(?=[ \t]*$)))""",
    re.X | re.I | re.M,
)
_OWN: Final = re.compile("final|my|best|predicted|likely|我|最|正确", re.I)
_GLANCE: Final = (  # without one of these a text makes no statement
    *("answer", "predict", "forecast", "pick", "choice", "choose", "select", "call", "guess"),
    *("verdict", "decision", "conclusion", "答案", "预测", "结论", "选择", "判断", "<", "{"),
)
_MAX_LINES: Final = 15  # that are not empty
_MAX_TAIL: Final = 3000  # characters
_SAID_END: Final = re.compile(
    r"(?<=[\w)\]\"”%*][\w)\]\"”%*])"
    r"(?i:(?<!\bmr|\bms|\bdr|\bst|\bvs|\bjr|\bsr|\bft|\bmt|\bno|\bco|\bpt|\b[0-9][0-9])"
    r"(?<!\bvol|\bmrs|\binc|\bltd)(?<!\bbros|\bprof|\bfeat))"
    r"[.!?][*_]{0,3}\s+(?=[\"“(]?[A-Z])|。(?=\s*\S)|(?=\n)"
)
_HEADING: Final = re.compile(r"[ \t*_`]*(?:\n[*_` \t\n]*|\Z)")  # nothing behind it on its line
_BLANK_LINE: Final = re.compile(r"\n\s*(?=\n)")
_FULL_LINE: Final = re.compile(r"^[^\S\n]*\S", re.M)
_TAG: Final = re.compile(
    r"<(answer|final_answer|final|prediction)>((?:(?!</?\1>).){0,3000})</\1>", re.I | re.S
)


def _find_tail(text: str) -> int:
    """Where the last lines begin."""
    begin = max(0, len(text) - _MAX_TAIL)
    full = [line.start() for line in _FULL_LINE.finditer(text, begin)]
    return full[-_MAX_LINES] if len(full) > _MAX_LINES else begin


def _find_lead_in(text: str) -> int:
    """Where the last lead-in ends; 0 if there is none."""
    end = 0
    for match in _LEAD_IN.finditer(text, _find_tail(text)):
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        quoted = line.lstrip().startswith(">") or line.count('"') % 2 or "“" in line
        own = _OWN.search(match["own"] or match["own_zh"] or "") or not line.strip()
        if not quoted and (own or not (match["further"] or match["further_zh"])):
            end = match.end()
    return end


def _parse_lead_in(behind: str) -> Statement:
    """What a text states behind a lead-in: its line or sentence, or the lines below a heading."""
    heading = _HEADING.match(behind)
    behind = behind[heading.end() :] if heading else behind.lstrip("*_` \t")
    end = (_BLANK_LINE if heading else _SAID_END).search(behind)
    cut = end.end() if end else len(behind)
    return _state(behind[:cut].strip(), behind[cut:].split("\n"))


# --- What does not count ---

_CONDITION: Final = re.compile(
    r"\b(?:if|unless|but|however|although|though|either|whether|depends|assuming|otherwise|except"
    r"|maybe|perhaps|possibly|alternatively|(?:they|others)\ssay|say\s(?:they|others))\b"
    r"|如果|若|除非|取决于|但|不过|然而|否则",
    re.I,
)
_TITLE: Final = re.compile("《[^《》]*》")  # holds no condition: 《明若晓溪》
_NOTE: Final = re.compile(
    r"""[\s*#_•>(\[–—-]{0,8}(?:(?:my|our|overall|estimated|key|main)\s)?(?:
        (?:(?P<reasons>reason(?:ing|s)?|rationale|explanation|sources?|理由|原因|依据|来源|说明)
          |confidence|probability|certainty|likelihood|because|based\son|置信度|信心|概率)
       |[~≈]?[0-9]{1,3}(?:\.[0-9]{1,4})?\s?%|[-*_=`]{3,}\s*\Z|</\w{1,20}>)""",
    re.X | re.I,
)
_POINT: Final = re.compile(r"\s*(?:[-*•]|[0-9]{1,2}[.)])\s")
_TAKEN_BACK: Final = re.compile(
    r"\b(?:actually|wait|correction|second\sthought|instead|i\smean|scratch|revised?|rather|wrong"
    r"|false|equally\slikely|better\s(?:answer|pick|choice|guess))\b"
    r"|其实|更正|改为|不对|错",
    re.I,
)


def _state(said: str, rest: Sequence[str] = ()) -> Statement:
    """The statement that a text is, unless it has a condition or more than notes behind it."""
    if _CONDITION.search(_TITLE.sub("", said)):
        return Statement("", CONDITION)
    in_reasons = False
    for line in filter(str.strip, rest):
        note = _NOTE.match(line)
        about = note or (in_reasons and _POINT.match(line))
        if not about or _TAKEN_BACK.search(line) or find_doubt(line):
            return Statement("", FOLLOWED)
        in_reasons = bool(note and note["reasons"]) or in_reasons
    return Statement(said)


def find_statement(text: str) -> Statement | None:
    """The statement of a text without a box; None if it makes none.

    >>> find_statement("Both are even.\\n\\n**Final answer:** B").text
    'B'
    >>> find_statement("The answer is B, if they rest players.").problem
    'no box, and the statement has a condition'
    """
    if not any(map(text.lower().__contains__, _GLANCE)):
        return None
    if mapping := find_mapping(text):
        return mapping
    tags = list(_TAG.finditer(text)) if "</" in text else []
    if tags:
        return _state(tags[-1][2].strip(), text[tags[-1].end() :].split("\n"))
    begin = _find_lead_in(text)
    return _parse_lead_in(text[begin:]) if begin else None
