"""The part of a raw answer (text, number or list) that counts: its last box, or else the last
statement that says which answer is given, or all of it.

A statement is the value of a mapping at the end (`{"answer": "B"}`), a tag (`<answer>B</answer>`),
or what stands behind a lead-in that begins a line or a sentence near the end (`Final answer: B`,
`答案是B`, a heading). It has no condition, and nothing but caveats on its own line; what stands on
later lines takes nothing back. What the prompt says itself is no answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from forecasteval.common.markup import (
    PLACEHOLDER,
    clean,
    drop_invisible,
    find_objects,
    is_quoted,
    last_boxed,
    parse_literal,
)
from forecasteval.common.patterns import lazy
from forecasteval.common.records import number_text

from .rules import AnswerScore, unparsed

Read = TypeVar("Read")

_ONE_BOX: Final = lazy(r"(?s)(?:[^{}\t]*\n)?[*$ ]*\\boxed\{([^{}]*|\\text\{[^{}]*\})\}[$*.\s]*")
_HEADING_LINE: Final = lazy(
    r"(?i)\A[#\s]{0,4}(?:(?:my|the|final|predicted)\s){0,3}"
    r"(?:answers?|predictions?|答案|预测|最终答案)\s?:\s?\n"
)
_SOME: Final = r"(?!0+(?:\.0+)?(?![.0-9]))[0-9]{1,3}(?:\.[0-9]{1,6})?"
_CONFIDENT: Final = "confidence|certainty|置信度|信心"
_CONFIDENCE: Final = lazy(
    rf"""(?<=[^\s,;(–—-])(?:
       [,;.(\s–—-]{{1,4}}(?:with\s)?(?:{_CONFIDENT})(?:\slevel)?[\s:：=~≈]{{0,3}}
       (?:of\s|约|为)?{_SOME}\s?\\?%?
      |(?:[,;]?\s(?:with\s)?(?:a\s)?|\s?\(){_SOME}\s?\\?%\s
       (?:confidence|certainty|confident|certain))\)?\.?\Z""",
    re.X | re.I,
)


@dataclass(slots=True, eq=False)
class Answer:
    """The part of an answer that counts: `text`, its `elements` if it is a list.

    `boxed` is False without a box; then the text is `stated` to be the answer, or all of it. A
    `problem` says why there is no text. `before` is the statement in front of this one.
    """

    text: str
    elements: tuple[str, ...] = ()
    boxed: bool = True
    stated: bool = False
    problem: str = ""
    before: Answer | None = None
    _cleaned: str | None = None

    @property
    def cleaned(self) -> str:
        """Return the text without markup."""
        if self._cleaned is None:  # cached_property takes a lock in Python 3.11
            text = clean(self.text)
            self._cleaned = _HEADING_LINE.sub("", text) if "\n" in text else text
        return self._cleaned

    def find_in(self, raw: str) -> tuple[int, int] | None:
        """Find where in the raw answer the text stands. It is from its first to its last line, in a
        box if there is one.
        """
        lines = self.text.split("\n")
        first, last = lines[0], lines[-1]
        at = raw.rfind(f"{{{last}}}") + 1 or raw.rfind(last)
        begin = raw.rfind(first, 0, at + len(first))
        return (begin, at + len(last)) if self.text and begin >= 0 else None


def parse_answer(raw: object, prompt: str = "", boxed: bool = False) -> Answer | None:
    """Parse the span that counts of a raw answer (text, number or list); None if the answer is
    missing.

    What stands in the `prompt` itself is none. With `boxed` it counts as boxed whatever it looks
    like.
    """
    if raw is None:
        return None
    if isinstance(raw, list):
        if any(isinstance(part, (list, dict)) for part in raw):  # however deep it goes
            return Answer("")
        parts = [part.text for part in map(parse_answer, raw) if part]
        return hold_answer(parts) if parts else None
    if not isinstance(raw, str):
        text = number_text(raw)
        return Answer(text, boxed=bool(text), problem="" if text else "no text")
    raw = drop_invisible(raw)
    if "ox" not in raw and raw.isprintable():  # most truths
        text, in_box = raw, False
    elif one := _ONE_BOX.fullmatch(raw):  # most answers
        text, in_box = one[1], True
    else:
        text, in_box = last_boxed(raw, prompt)
    text = text.strip()
    if not text:
        return None if in_box or "ox" not in raw else Answer("", boxed=False, problem=TWO_BOXES)
    if boxed:
        return _hold(text)
    if "ox" in raw and _is_echo(raw, prompt):
        return Answer("", boxed=False, problem=ECHO)
    if not in_box:
        return find_statement(text, prompt) or _hold(_drop_confidence(text), boxed=False)
    return _hold(_drop_confidence(text))


def _hold(text: str, boxed: bool = True, stated: bool = False) -> Answer:
    if text[:1] != "[":  # most
        return Answer(text, (), boxed, stated)
    elements = parse_literal(text)
    return Answer(elements[0] if len(elements) == 1 else text, elements, boxed, stated)


def hold_answer(passages: Sequence[str]) -> Answer:
    """Return an answer of one text or several, as if it stood in a box."""
    if len(passages) == 1:
        return _hold(_drop_confidence(passages[0].strip()))
    return Answer("\n".join(passages), tuple(passages))


def _drop_confidence(text: str) -> str:
    """Return the text without `, confidence 0.8` at its end."""
    tail = text[-40:]
    low = tail.lower()
    if "ce" in low or "nt" in low or "信" in low:  # a glance: all of these words hold one
        return text[:-40] + _CONFIDENCE.sub("", tail)
    return text


def question_words(prompt: str) -> str:
    """Return the prompt up to the paragraph with instructions for the answer."""
    return prompt.partition("IMPORTANT:")[0]


# --- What is no answer to any question ---

TWO_BOXES: Final = "boxes that name two answers"
ECHO: Final = "no box, and words of the prompt"
_LEAD_IN: Final = lazy(
    r"""(?=[tmofpcbar最我正答预选结])(?:(?:the\s+outcome\s+be\s+)
   |(?:(?:the|my|our)\s+)?(?:(?:final|predicted|correct|best|most\s+likely)\s+)*
      (?:answer|prediction|choice|outcome|result)s?
      (?:\s+(?:is|are|will\s+be|would\s+be)\s*:?|\s*[:=])\s*
   |(?:both|options?|choices?|选项)\s*:?\s*(?=\S(?:\W|\Z))
   |(?:最终|我的|正确)*(?:答案|预测|选择|结果)(?:[是为]?\s?:|[是为选])\s*
      (?:[是为选](?=\s?[(\[A-Za-z]))?\s*)""",
    re.X | re.I,
)
# By how a text begins; `I'm Sorry`, `I Can't Help It` are songs. The first letters are a glance.
_STATUS: Final = lazy(
    rf"""(?=[nticudalmrsypfx无不未暂很抱对作….<\[{{(])(?:
        (?P<refusal>(?:n\s?/\s?a|n\.\s?a|nan?|none|null|nil|tbd|idk|unknown|unsure|undetermined
          |unpredictable
          |(?:i\s)?(?:can(?:not|\snot|['’]t)|could\snot|unable\sto|do\snot|don['’]t)\s
            (?:predict|determine|know|answer|say)(?:\s[a-z]{{1,12}}){{0,4}}
          |(?:insufficient|not\senough)\s(?:data|information)
          |not\s(?:available|applicable|sure|known)
          |无法(?:预测|确定|判断|回答)|不知道|不确定|不适用|未知|暂?无(?:数据|答案)?)
          (?=\s?(?:\Z|[-–—(:;,.!?\n])))
       |(?P<declines>i(?:['’]m|\sam)\s(?:very\s|so\s)?(?-i:sorry)\b|sorry,\s(?:but\s)?I\b|as\san\sAI\b
          |i\s?(?:can(?:['’]t|not|\snot)|am\sunable\sto|am\snot\sable\sto)\s(?-i:[a-z])
          |unable\sto\s(?-i:[a-z])
          |i\s(?:do\snot|don['’]t)\shave\s(?:access|enough)|很?抱歉|对不起|无法|作为)
       |(?P<error>connection\serror|tim(?:eout|ed\sout)\b|rate\slimit|agent\sfailed
          |max(?:imum)?\s(?:number\sof\s)?(?:steps|iterations|turns)|let\sme\ssearch
          |\[?error\]|traceback\s\(most\srecent|<html|<!doctype)
       |(?P<placeholder>x\Z|{PLACEHOLDER}))""",
    re.X | re.I,
)
_ERROR: Final = lazy(
    r"""\s{0,9}(?:[\w.]{5,69}+(?:(?<=error)|(?<=exception))
        (?:\s(?:code|message|type)\b|\s\([^()\n]{0,40}\))?\s?:
       |(?:HTTP(?:/[0-9.]{1,3})?\s)?[45][0-9]{2}\s(?:too\smany|bad\s(?:gateway|request)|unauthor
         |forbidden|not\sfound|request\stime|internal\sserver|service\sunav|gateway\stime))""",
    re.X | re.I,
)
_KINDS: Final = {"declines": "refusal", "error": "error of a program"}


def drop_lead_in(text: str) -> str:
    """Return the text without `The answer is`, `My prediction:` or `the outcome be` in front."""
    lead = _LEAD_IN.match(text)
    return text[lead.end() :] if lead else text


def find_status(text: str) -> tuple[str, str]:
    """Find what kind of status a cleaned text is, if it answers no question. The kind is "refusal",
    "error of a program", "placeholder" or ""; the words of a refusal that may be a name come
    second.

    >>> find_status("I'm sorry, but I can't tell"), find_status("N/A; no data"), find_status("B")
    (('refusal', ''), ('refusal', 'N/A'), ('', ''))
    """
    status = _STATUS.match(text)
    if not status:
        return (_KINDS["error"] if _ERROR.match(text) else ""), ""
    kind = status.lastgroup or ""
    return _KINDS.get(kind, kind), status["refusal"] or ""


def _is_echo(raw: str, prompt: str) -> bool:
    """Return whether a text of more than 60 characters stands whole in the prompt,
    escaped or not.
    """
    if not 60 < len(raw) < 2 * len(prompt):
        return False
    text = raw.strip(" \n\"'")
    return text[:12] in prompt and is_quoted(text, prompt)


# --- Statements ---

_CONDITION: Final = lazy(
    r"(?i)\b(?:if|unless|but|however|although|though|either|whether|depends|assuming|otherwise|except"
    r"|maybe|perhaps|possibly|alternatively|(?:they|others)\ssay|say\s(?:they|others))\b"
    r"|如果|若|除非|取决于|但|不过|然而|否则"
)
_TITLE: Final = lazy("《[^《》]*》")  # holds no condition: 《明若晓溪》
_PROBABLY: Final = lazy(r"(?i)(?:probably|most\slikely|likely)[\s:,]+(?=\S)|大概率?是|很可能是")
# A sentence or aside that takes nothing back; what it may name is looked at apart.
_CAVEAT: Final = lazy(
    r"""[\s,;:(（–—-]*(?:I|It|This|That|There|My|We|But|However|Though|Although|While|Still|Not[ei]?|No
      |Please|As|Given|Based|Because|Since|Of\scourse|Confidence|Certainty|Uncertain|Probability|Likelihood|High|Low|Medium
      |Moderate|Take|Treat|Don|Do|Caveat|Disclaimer|These|Those|They|The|An?|Things|Anything|Nothing|Reason\w*|Source\w*
      |Rationale|Subject|Could|May|Might|Hard|Only|~?[0-9]{1,3}\s?%|[但不然虽尽仅理原因依来说置信概这该我此以])
      (?![A-Z])""",
    re.X | re.I,
)
_NAMES: Final = lazy(  # a number, a label, an answer or a name
    r"[0-9]|(?<![A-Za-z0-9'’])(?:[B-HJ-Z](?![A-Za-z0-9'’])"
    r"|A(?=[.,;!)]|\Z|\s(?:is|could|may|might|wo?n|will|has|seems|and|or)))"
    r"|\bYes\b|\bNo\b(?!\s[a-z])|(?<=[a-z,;]\s)(?!I\b)[A-Z]|[是选]\s?[A-Z]\b"
)
_SURE: Final = lazy("(?i)confiden|sure|certain|likel|chance|probab|置信|信心|概率|可能性|把握")
_PERCENT: Final = lazy(r"[0-9]{1,3}(?:\.[0-9]{1,4})?\s?%")
_LONE_LABEL: Final = lazy(r"[A-Z](?=[.。]\s{1,3}[A-Z])")

_ANSWER_KEY: Final = lazy(r"(?i)(?:(?:my|final)[\s_-]?)?(?:answer|prediction)")
_ERROR_KEY: Final = lazy(r"(?i)errors?|exception|traceback")
_ONLY_FENCE: Final = lazy(r"\s*(?:```\w{0,12}\s*)?")
# Objects as pairs: an answer may be given twice.
_DECODER: Final = json.JSONDecoder(strict=False, object_pairs_hook=tuple)
_PYTHON: Final = lazy(r"'|\b(?:True|False|None)\b")
_JSON: Final = {"'": '"', "True": "true", "False": "false", "None": "null"}

_STATED: Final = lazy(
    r"""(?:^|(?<=[.!?]\s)|(?<=[。！？]))
      [ \t]{0,4}(?:[-=]>|[^\w\s>"'“”‘’「『«»:：《(\[{<]|_){0,6}[ \t]{0,2}
      (?:[0-9]{1,2}[.)]\s)?[*_]{0,3}
    (?:(?:(?:so|thus|therefore|hence|overall|in\sconclusion),?\s{1,3})?
       (?:(?-i:I)\s(?:believe|think|expect)\s(?:that\s)?)?
       (?P<own>(?:(?:the|my|our)[\s_]{1,3})?
         (?:(?:final|best|overall|predicted|most\slikely|single|correct)[\s_-]{1,3}){0,3})
       (?:answers?|predictions?|forecasts?|(?<=most\slikely\s)outcome
         |(?P<further>picks?|choices?|selections?|call|guess|verdict|decision|conclusion))\b
       [*_`]{0,3}(?:\s?\([^()\n]{0,60}\))?[*_`]{0,3}\s?
       (?:[:：=→]|[-–—=]>|[-–—]\s|\b(?:is|are|will\sbe)\b\s?:?|(?=[ \t]*$))
     |final[*_]{0,3}\s?[:：]|I\s(?-i:predict|choose|pick|select)\b(?!\sthat\b)\s?:?
     |(?:(?:所以|因此|故|综上(?:所述)?|总之)[,，]?\s?)?我?(?P<own_zh>(?:我的|最终|最后|正确)(?:的)?){0,2}
       (?:(?:答案|预测)(?:结果|值)?|(?P<further_zh>结论|选择|判断))[*_`]{0,3}(?:[(（][^()（）\n]{0,60}[)）])?
       [*_`]{0,3}\s?(?:[:：]|[是为]\s?[:：]?|(?=[ \t]*$)))""",
    re.X | re.I | re.M,
)
_OWN: Final = lazy("(?i)final|my|best|predicted|likely|我|最|正确")
_QUOTING: Final = lazy(r'\s*>|[^"]*(?:"[^"]*"[^"]*)*"[^"]*\Z|.*“')
_SAID_END: Final = lazy(
    r"(?<=[\w)\]\"”%*][\w)\]\"”%*])"
    r"(?i:(?<!\bmr|\bms|\bdr|\bst|\bvs|\bjr|\bsr|\bft|\bmt|\bno|\bco|\bpt|\b[0-9][0-9])"
    r"(?<!\bvol|\bmrs|\binc|\bltd)(?<!\bbros|\bprof|\bfeat))"
    r"[.!?][*_]{0,3}\s+(?=[\"“(]?[A-Z])|。(?=\s*\S)|(?=\n)"
)
_HEADING: Final = lazy(r"[ \t*_`]*(?:\n[*_` \t\n]*|\Z)")  # nothing behind it on its line
_BLANK_LINE: Final = lazy(r"\n\s*(?=\n)")
_FULL_LINE: Final = lazy(r"(?m)^[^\S\n]*\S")
_MAX_LINES: Final = 15  # that are not empty
_MAX_TAIL: Final = 3000  # characters
_TAG: Final = lazy(r"(?is)<(answer|final_answer|final|prediction)>((?:(?!</?\1>).){0,3000})</\1>")


def find_statement(text: str, prompt: str = "") -> Answer | None:
    """Find the last statement of a text without a box, with those before it; None if it makes none.

    >>> find_statement("Both are even.\\n\\n**Final answer:** B").text
    'B'
    >>> find_statement("The answer is B, if they rest players.").problem
    'no box, and the statement has a condition'
    """
    if text.rstrip("` \n").endswith("}") and (mapping := _find_mapping(text)):
        return mapping
    tags = list(_TAG.finditer(text))
    said = _state(tags[-1][2].strip()) if tags else None
    mapped = _find_mapping(text[: text.rfind("}") + 1])
    full = [line.start() for line in _FULL_LINE.finditer(text, max(0, len(text) - _MAX_TAIL))]
    begin = max(full[-_MAX_LINES:][0] if full else 0, tags[-1].end() if tags else 0)
    for match in _STATED.finditer(text, begin):
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        own = _OWN.search(match["own"] or match["own_zh"] or "") or not line.strip()
        further = match["further"] or match["further_zh"]
        if (own or not further) and not _QUOTING.match(line):
            behind = text[match.end() :]
            whole = text[match.start() : len(text) - len(behind.lstrip().partition("\n")[2])]
            if not is_quoted(whole, prompt):
                stated = _parse_stated(behind, prompt)
                stated.before, said = said, stated
    if mapped and mapped.text and said and said.text != mapped.text:
        return Answer("", boxed=False, problem="two answers that differ")
    return said


def _parse_stated(behind: str, prompt: str) -> Answer:
    """Parse what a text states behind a lead-in: its line or sentence, or the lines below a
    heading.
    """
    heading = _HEADING.match(behind)
    behind = behind[heading.end() :] if heading else behind.lstrip("*_` \t")
    lone = _LONE_LABEL.match(behind)
    if lone and not is_quoted(behind[:12], prompt):
        end = lone.end()
    else:
        found = (_BLANK_LINE if heading else _SAID_END).search(behind)
        end = found.end() if found else len(behind)
    rest = "" if heading else behind[end:].partition("\n")[0]
    return _state(behind[:end].strip(), rest.strip(" .*_`"))


def _state(said: str, rest: str = "") -> Answer:
    """Return the statement that a text is, unless it has a condition, or more than a caveat behind
    it.
    """
    aside = _ASIDE.search(said)
    if aside and _is_caveat(aside[0]):
        said = said[: aside.start()].strip()
    problem = "no box, and more than a caveat behind the statement"
    if _CONDITION.search(_TITLE.sub("", said)):
        problem = "no box, and the statement has a condition"
    elif not rest or _is_caveat(rest):
        hedge = _PROBABLY.match(said)
        said = said[hedge.end() :] if hedge else said
        return _hold(_drop_confidence(said), boxed=False, stated=True)
    return Answer("", boxed=False, problem=problem)


_ASIDE: Final = lazy(
    r"(?i)(?:\s?[,;(–—-]\s?(?:but|though|although|however)|[,，（(]?(?:但|不过|然而))[^\n]*"
)


def _is_caveat(text: str) -> bool:
    """Return whether a text behind a statement is a caveat, and names no number, label or name. A
    share may say how sure it is.
    """
    plain = _PERCENT.sub("", text) if _SURE.search(text) else text
    return bool(_CAVEAT.match(text)) and not _NAMES.search(plain)


def _find_mapping(text: str) -> Answer | None:
    """Find the answer of the only mapping with such a key, where the text ends with a mapping."""
    if "}" not in text:  # most
        return None
    body = text.rstrip().removesuffix("```").rstrip()
    python = _PYTHON.sub(lambda word: _JSON[word[0]], body) if "'" in body else ""
    objects = [*find_objects(body, _DECODER)] or [*find_objects(python, _DECODER)]
    pairs = [pair for _, _, record in objects for pair in record]
    problem = "JSON without an answer"
    values = [value for key, value in pairs if _ANSWER_KEY.fullmatch(key)]
    if any(_ERROR_KEY.fullmatch(key) and said for key, said in pairs):
        problem = _KINDS["error"]
    elif any(value != values[0] for value in values):
        problem = "two answers that differ"
    elif values:
        texts = [*map(_write_value, values[0])] if isinstance(values[0], list) else []
        if texts and all(texts):
            return _hold(json.dumps(texts, ensure_ascii=False), boxed=False, stated=True)
        if said := _write_value(values[0]):
            return _state(said)
    elif len(objects) != 1 or not _ONLY_FENCE.fullmatch(body, 0, objects[0][0]):
        return None
    return Answer("", boxed=False, problem=problem)


def _write_value(value: object) -> str:
    """Write a text, a number, or Yes and No for truth values; "" for anything else."""
    if isinstance(value, bool):
        return "Yes" if value else "No"
    return value.strip() if isinstance(value, str) else number_text(value)


# --- Truths ---


class TruthOf(Generic[Read]):
    """A ground truth: it reads answers as its kind has them (picks, names, a number) and scores
    what it read. `kind`: what a question of level 3 or 4 asks for.
    """

    __slots__ = ()
    kind: str = "ranking"

    def read(self, answer: Answer) -> Read | str:
        """Read the value of an answer, or the reason why it cannot be read."""
        raise NotImplementedError

    def means(self, text: str, words: str) -> bool:
        """Return whether a text is an option's or a true name. It may be although it, or its first
        `words`, look like a refusal or a status.
        """
        return False

    def find_status(self, answer: Answer) -> str:
        """Find the kind of status that an answer is, or ""; what this truth means is none, and no
        list of several.
        """
        if len(answer.elements) > 1:
            return ""
        text = drop_lead_in(answer.cleaned)
        status, words = find_status(text)
        return status if status and not self.means(text, words) else ""

    def compare(self, read: Read) -> AnswerScore:
        """Compute the score of what an answer says."""
        raise NotImplementedError

    def score(self, answer: Answer) -> AnswerScore:
        """Compute the score of an answer: of its last statement that can be read."""
        read = self.read(answer)
        if isinstance(read, str) and read.startswith("no ") and (before := answer.before):
            return self.score(before) if before.text else unparsed(before.problem)
        return unparsed(read) if isinstance(read, str) else self.compare(read)
