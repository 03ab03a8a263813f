"""The part of a raw answer (text, number or list) that counts: its last box, or else the last
statement that says which answer is given, or all of it.

A statement is the value of a mapping at the end (`{"answer": "B"}`), a tag (`<answer>B</answer>`),
or what stands behind a lead-in that begins a line or a sentence near the end (`Final answer: B`,
`答案是B`, a heading). Its value stands at its beginning; what stands behind takes nothing back.
What the prompt says itself is no answer. Rules have the numbers of docs/scoring.md, *How an answer
is read*.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from forecasteval.common.markup import (
    clean,
    drop_invisible,
    find_objects,
    is_placeholder,
    is_quoted,
    last_boxed,
    parse_literal,
)
from forecasteval.common.patterns import BLANKS, WordTable, end_of, lazy
from forecasteval.common.records import number_text
from forecasteval.questions.states import AnswerScore, Unparsed, unparsed

from .language import table_of, words
from .negation import denies, find_doubt, takes_back

Read = TypeVar("Read")

_ONE_BOX: Final = lazy(r"(?s)(?:[^{}\t]*\n)?[*$ ]*\\boxed\{([^{}]*|\\text\{[^{}]*\})\}[$*.\s]*")
_CONFIDENCE: Final = lazy(
    r"(?i)(?<=\S)\s?[,;.(（\n–—-]?\s?(?:with\s)?(?:(?:an?|high|low|medium|moderate|very"
    r"|[0-9.]{1,6}\s?%)\s){0,2}"
    r"(?:confidence|certainty|confident|置信度|信心)[^\n,;]{0,20}\Z"
)
SENTENCE_END: Final = lazy(r"(?:(?<=[a-z]{3})|(?<=[)\]\"]))[.!?]\s+(?=[A-Z\"])|。(?=\s?[^\s,、;])")


_NOTHING: Final = Unparsed("")
_QUOTE: Final = 40  # characters of a line by which it repeats the prompt


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
    problem: Unparsed = _NOTHING
    before: Answer | None = None
    lines: Sequence[str] = ()
    _cleaned: str | None = None

    @property
    def cleaned(self) -> str:
        """Return the text without markup."""
        if self._cleaned is None:  # cached_property takes a lock in Python 3.11
            text = clean(self.text)
            if "\n" in text:
                head = text.lstrip("# ")
                begin = find_lead_in(head)
                text = head[begin:] if "\n" in head[:begin] else text
            self._cleaned = text
        return self._cleaned

    @property
    def sentence(self) -> str:
        """Return the cleaned text, of a statement only its first sentence."""
        text = self.cleaned
        for end in SENTENCE_END.finditer(text) if self.stated and "\n" not in text else ():
            if text.count("(", 0, end.start()) == text.count(")", 0, end.start()):
                return text[: end.start()]
        return text

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
        return Answer(text, boxed=bool(text), problem=Unparsed("" if text else "no text"))
    raw = drop_invisible(raw)
    reply = raw.rpartition("</think>")[2]
    raw = reply if reply.strip() else raw
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
        return find_statement(text, prompt) or _hold_prose(text, prompt)
    return _hold(_drop_confidence(text))


def _hold(text: str, boxed: bool = True, stated: bool = False) -> Answer:
    if text[:1] != "[":  # most
        return Answer(text, (), boxed, stated)
    elements = parse_literal(text)
    return Answer(elements[0] if len(elements) == 1 else text, elements, boxed, stated)


def _hold_prose(text: str, prompt: str) -> Answer:
    """Return a text that states nothing, with its lines if it does not repeat the prompt."""
    answer = _hold(_drop_confidence(text), boxed=False)
    lines = [line for line in text.split("\n") if line.strip()]
    long = [line[-_QUOTE:] for line in lines[:2] + lines[-2:] if len(line) >= _QUOTE]
    if len(lines) > 1 and not any(is_quoted(end, prompt) for end in long):
        answer.lines = lines
    return answer


def hold_answer(passages: Sequence[str]) -> Answer:
    """Return an answer of one text or several, as if it stood in a box."""
    if len(passages) == 1:
        return _hold(passages[0].strip())
    return Answer("\n".join(passages), tuple(passages))


def _drop_confidence(text: str) -> str:
    """Return the text without `, confidence 0.8` at its end."""
    tail = text[-40:]
    low = tail.lower()
    if "ce" in low or "nt" in low or "信" in low:  # a glance: all of these words hold one
        return text[:-40] + _CONFIDENCE.sub("", tail)
    return text


# --- What is no answer to any question ---

TWO_BOXES: Final = Unparsed("boxes that name two answers", "contradiction")
ECHO: Final = Unparsed("no box, and words of the prompt", "prose", is_silent=True)
_TWO_ANSWERS: Final = Unparsed("two answers that differ", "contradiction")
_KINDS: Final = {word: kind for kind in ("errors", "lacks", "refusals") for word in words(kind)}
_STATUSES: Final = WordTable(*_KINDS)
# In this case: `I Can't Help It` is a song.
_DECLINES: Final = tuple(words("declines"))
_CANNOT: Final = lazy(
    r"(?i)(?:i\s)?(?:can(?:not|\snot|['’]t)|could\snot|unable\sto|do\snot|don['’]t)\s"
    r"(?:predict|determine|know|answer|say)(?:\s[a-z]{1,12}){0,4}"
)
_ENDS: Final = lazy(r"\s?(?:\Z|[-–—(:;,.!?\n])")
_EXCEPTION: Final = lazy(
    r"\s{0,9}[\w.]{0,69}(?i:error|exception)(?:\s\w{1,9}|\s?\([^()\n]{0,40}\))?\s?:"
)
_HTTP_ERROR: Final = lazy(
    r"(?i)\s{0,9}(?:HTTP\S{0,4}\s)?[45][0-9]{2}\s(?:too\smany|bad|unauthor|forbidden|not\sfound"
    r"|request|internal|service|gateway)"
)


def find_status(text: str) -> tuple[str, str]:
    """Find what kind of status a cleaned text is, if it answers no question (rule 3). The kind is
    "refusal", "error of a program", "placeholder" or ""; the words of a refusal that may be a name
    come second.

    >>> find_status("I'm sorry, but I can't tell"), find_status("N/A; no data"), find_status("B")
    (('refusal', ''), ('refusal', 'N/A'), ('', ''))
    """
    head = text[:200].replace(" / ", "/")
    word = _STATUSES.find(head)
    kind = _KINDS.get(word)
    said = len(word) if kind == "refusals" else end_of(_CANNOT, head)
    if said and _ENDS.match(head, said):
        return "refusal", head[:said]
    if kind == "lacks" or head.replace(",", "").startswith(_DECLINES):
        return "refusal", head[: len(word)]
    if kind == "errors" or _EXCEPTION.match(head) or _HTTP_ERROR.match(head):
        return "error of a program", ""
    return ("placeholder" if is_placeholder(text) else ""), ""


def _is_echo(raw: str, prompt: str) -> bool:
    """Return whether a text of more than 60 characters stands whole in the prompt,
    escaped or not.
    """
    if not 60 < len(raw) < 2 * len(prompt):
        return False
    text = raw.strip(" \n\"'")
    return text[:12] in prompt and is_quoted(text, prompt)


# --- Statements ---

# They are looked for in a text whose marks are blanks, so that `**Final_answer:**` has none.
_MARKS: Final = str.maketrans("*_`", "   ")
_BEGIN: Final = lazy(  # of a line, or of a clause
    r"(?m)^[^\w>\"'“”‘’「『«《(\[{<\n]{0,12}(?:[0-9]{1,2}[.)]\s+)?"
    r"|(?<=[.!?,;–—]\s)\s*|(?<=[。！？，；])\s*"
)
_OPENERS: Final = table_of("openers")
_CLAIMS: Final = table_of("claims")
_ARTICLES: Final = table_of("articles")
_OWNERS: Final = table_of("owners")
_NOUNS: Final = table_of("nouns")
_CHOICES: Final = table_of("choices")
_OPTIONS: Final = table_of("options")
_COPULAS: Final = table_of("copulas")
_VERBS: Final = table_of("verbs")
_OWN: Final = table_of("openers", "claims", "verbs", "mine")  # begins a lead-in within a sentence
_FIRST: Final = table_of(
    "openers", "claims", "articles", "owners", "nouns", "choices", "verbs"
)  # of a lead-in
_NO: Final = frozenset(words("no"))
_CORRECTIONS: Final = table_of("corrections")
_ABOVE: Final = table_of("above")
_ANNOUNCES: Final = table_of("announces")
_GOES_ON: Final = tuple(":：?？,，;；")  # in front of what is said below
_HEADING_WORDS: Final = 4
_OUTCOME: Final = "the outcome be "  # options begin so
_COMMA: Final = lazy(r"[,，]?\s*")
_HYPHENS: Final = lazy(r"[\s-]*")
_ASIDE: Final = lazy(r"(?:\s*[(（][^()（）\n]{0,60}[)）])?\s*")
_IS: Final = lazy(r"(?:[:：=→]|[-=–]>|[-–—]\s)\s*")
_COLON: Final = lazy(r"\s?[:：]?\s*")
_LINE_END: Final = lazy(r"\n")
_PARAGRAPH: Final = lazy(r"\n[ \t]*\n")
_FULL_LINE: Final = lazy(r"(?m)^[^\S\n]*\S")
_MAX_LINES: Final = 15  # that are not empty
_MAX_TAIL: Final = 3000  # characters
_TAG: Final = lazy(r"(?is)<(answer|final_answer|final|prediction)>((?:(?!</?\1>).){0,3000})</\1>")


def find_lead_in(text: str, position: int = 0, line: bool = True) -> int:
    """Find where a lead-in ends that begins at a position: `So my final answer is`; the position
    without one.

    `My pick is` is one everywhere, `Pick: ` only where it begins a `line`.
    """
    at = position
    if not _FIRST.find(text, at):  # most
        return position
    if opener := _OPENERS.find(text, at):
        at = end_of(_COMMA, text, at + len(opener))
    at = _CLAIMS.skip(text, at)
    if verb := _VERBS.find(text, at):
        return end_of(_COLON, text, at + len(verb))
    begin = _ARTICLES.skip(text, at)
    at = begin
    while owner := _OWNERS.find(text, at):
        at = end_of(_HYPHENS, text, at + len(owner))
    noun = _NOUNS.find(text, at) or ((line or at > begin) and _CHOICES.find(text, at))
    noun = noun or (at > begin and _OPTIONS.find(text, at)) or ""  # the best option is
    if not noun and not opener:  # Hence: C
        return position
    behind = at + len(noun)
    at = _OWNERS.skip(text, end_of(BLANKS, text, behind))  # respuesta final
    at = end_of(_ASIDE, text, at)
    if noun and (copula := _COPULAS.find(text, at)):
        return end_of(_COLON, text, at + len(copula))
    end = end_of(_IS, text, at)
    heading = line and "\n" in text[behind:at]
    return end if end > at or heading else position


def drop_lead_in(text: str) -> str:
    """Return the text without `The answer is`, `My prediction:` or `the outcome be` in front."""
    if text[: len(_OUTCOME)].lower() == _OUTCOME:
        return text[len(_OUTCOME) :].lstrip()
    return text[find_lead_in(text) :]


def find_statement(text: str, prompt: str = "") -> Answer | None:
    """Find the last statement of a text without a box, with those before it (rule 2).

    >>> find_statement("Both are even.\\n\\n**Final answer:** B").text
    'B'
    """
    if text.rstrip("` \n").endswith("}") and (mapping := _find_mapping(text)):
        return mapping
    mapped = _find_mapping(text[: text.rfind("}") + 1])
    tag = next(iter([*_TAG.finditer(text)][-1:]), None)
    said = _hold(tag[2].strip(), boxed=False, stated=True) if tag else None
    text = text[max(_find_tail(text), tag.end() if tag else 0) :]
    masked = text.translate(_MARKS)
    for begin in _BEGIN.finditer(masked):
        if find_lead_in(masked, begin.end()) == begin.end():  # most
            continue
        front = text[text.rfind("\n", 0, begin.end()) + 1 : begin.end()]
        line = not any(map(str.isalpha, front))
        end = find_lead_in(masked, begin.end(), line)
        quoted = front.startswith(">") or front.count('"') % 2 or "“" in front
        if not line and front.rstrip()[-1] in ",;–—，；":  # According to others, the answer is B
            quoted = quoted or not _OWN.find(masked, begin.end())
        if end == begin.end() or quoted:
            continue
        heading = "\n" in text[begin.end() : end]
        value = (_PARAGRAPH if heading else _LINE_END).split(text[end:], 1)[0]
        if value.strip() and not is_quoted(text[begin.end() : end] + value, prompt):
            stated = _hold(_drop_confidence(value.strip(" *_`\t\n")), boxed=False, stated=True)
            stated.before, said = said, stated
    if mapped and mapped.text and said and said.text != mapped.text:
        return Answer("", boxed=False, problem=_TWO_ANSWERS)
    return said


def _find_tail(text: str) -> int:
    """Find where the last lines of a text begin that are not empty."""
    begin = max(0, len(text) - _MAX_TAIL)
    full = [line.start() for line in _FULL_LINE.finditer(text, begin)]
    return full[-_MAX_LINES:][0] if full else begin  # one line of megabytes


_ANSWER_KEY: Final = lazy(r"(?i)(?:(?:my|final)[\s_-]?)?(?:answer|prediction)")
_NO_ANSWER_KEYS: Final = ("options", "candidates", "sources", "warnings")
_ERROR_KEYS: Final = ("error", "errors", "exception", "traceback")
# Objects as pairs: an answer may be given twice.
_DECODER: Final = json.JSONDecoder(strict=False, object_pairs_hook=tuple)
_PYTHON: Final = lazy(r"'|\b(?:True|False|None)\b")
_JSON: Final = {"'": '"', "True": "true", "False": "false", "None": "null"}


def _find_mapping(text: str) -> Answer | None:
    """Find the answer of the mappings at the end of a text: the value of the key `answer`, the same
    wherever it stands.
    """
    python = _PYTHON.sub(lambda word: _JSON[word[0]], text) if "'" in text else ""
    objects = [*find_objects(text, _DECODER)] or [*find_objects(python, _DECODER)]
    pairs = [pair for _, _, record in objects for pair in record]
    values = [value for key, value in pairs if _ANSWER_KEY.fullmatch(key)]
    problem = Unparsed("JSON without an answer", "error of a program")
    if any(key.lower() in _ERROR_KEYS and said for key, said in pairs):
        problem = Unparsed("error of a program", "error of a program")
    elif any(value != values[0] for value in values):
        problem = _TWO_ANSWERS
    elif values and (said := _write_value(values[0])):
        return _hold(said, boxed=False, stated=True)
    elif not values and (not objects or text[: objects[0][0]].strip("` \njson")):
        return None  # there is more than an object
    elif len(pairs) == 1 and isinstance(pairs[0][1], list) and (said := _write_value(pairs[0][1])):
        if denies(pairs[0][0]) or pairs[0][0].lower() in _NO_ANSWER_KEYS:  # {"excluded": […]}
            return Answer("", boxed=False, problem=problem)
        return _hold(said, boxed=False, stated=True)  # {"ranking": ["Hart", "Solberg"]}
    return Answer("", boxed=False, problem=problem)


def _write_value(value: object) -> str:
    """Write a text, a number, a list of them, or Yes and No for truth values; "" for anything
    else.
    """
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, list):
        texts = [*map(_write_value, value)]
        return json.dumps(texts, ensure_ascii=False) if texts and all(texts) else ""
    return value.strip() if isinstance(value, str) else number_text(value)


# --- Truths ---


class TruthOf(Generic[Read]):
    """A ground truth: it reads answers as its kind has them (picks, names, a number) and scores
    what it read. `kind`: what a question of level 3 or 4 asks for. `is_plain`: what it reads is
    told from prose, as names are not.
    """

    __slots__ = ()
    kind: str = "ranking"
    is_plain = False

    def read(self, answer: Answer) -> Read | Unparsed:
        """Read the value of an answer, or the reason why it cannot be read."""
        raise NotImplementedError

    def means(self, text: str, words: str) -> bool:
        """Return whether a text is an option's or a true name. It may be although it, or its first
        `words`, look like a refusal or a status.
        """
        return False

    def find_status(self, answer: Answer) -> Unparsed | None:
        """Find the kind of status that an answer is; what this truth means is none, and no list of
        several.
        """
        if len(answer.elements) > 1:
            return None
        text = drop_lead_in(answer.cleaned)
        status, words = find_status(text)
        return Unparsed(status, status) if status and not self.means(text, words) else None

    def compare(self, read: Read) -> AnswerScore:
        """Compute the score of what an answer says."""
        raise NotImplementedError

    def score(self, answer: Answer) -> AnswerScore:
        """Compute the score of an answer: of its last statement that can be read."""
        read = self.read(answer)
        if isinstance(read, Unparsed) and read.is_silent and not answer.boxed:
            if before := answer.before:
                return self.score(before) if before.text else unparsed(before.problem)
            alone = self.read_alone(answer.lines)
            read = read if alone is None else alone
        return unparsed(read) if isinstance(read, Unparsed) else self.compare(read)

    def read_alone(self, lines: Sequence[str]) -> Read | None:
        """Read the value that stands alone on the first or the last of some lines; None if there is
        no such line. Two of them are no answer but a list, perhaps of options; a status beside one
        is none either.
        """
        if not self.is_plain or not lines:
            return None
        said = []
        for number, line in enumerate(lines):
            read = self.read(Answer(line, boxed=False))
            if not (isinstance(read, Unparsed) and read.is_silent) and not find_lead_in(line):
                said.append((number, read))
        if len(said) != 1:
            return None
        ((number, read),) = said
        if number == len(lines) - 1:
            alone = not _is_heading(lines[-2])
        else:
            alone = number == 0 and not _goes_on(lines[1]) and not self._is_doubted(*lines[:2])
        return read if alone and not isinstance(read, Unparsed) else None

    def _is_doubted(self, line: str, below: str) -> bool:
        """Return whether the line below takes a value back, or offers another: `Or C`."""
        below = below.strip(" *_`")
        doubt, is_short = find_doubt(below), len(below.split()) <= _HEADING_WORDS
        if doubt == "" or (_ABOVE.find(below) and takes_back(below)):
            return line.strip(" *_`.!").lower() not in _NO  # with which it agrees
        if not doubt and not is_short:  # a reason, in which there may be a Yes and a No
            return False
        return isinstance(self.read(Answer(f"{line} ({below})")), Unparsed)


def _goes_on(line: str) -> bool:
    """Return whether a line goes on with the one above, or corrects it: `is what they say`."""
    line = line.strip(" *_`")
    return line[:1].islower() or bool(_CORRECTIONS.find(line))


def _is_heading(line: str) -> bool:
    """Return whether a line says what stands below: `Last close`, `They say:`, `Let me see.`"""
    line = line.strip(" #*_`")
    if _ANNOUNCES.find(line):
        return True
    short = line.isascii() and line[:1].isalnum() and len(line.split()) <= _HEADING_WORDS
    return line[-1:] in _GOES_ON or (short and line[-1:].isalnum())
