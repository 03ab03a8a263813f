"""The part of a raw answer (text, number or list) that counts: its last box, or else
the last statement that says which answer is given, or all of it.

A statement is the value of a mapping at the end (`{"answer": "B"}`), a tag
(`<answer>B</answer>`), or what stands behind a lead-in that begins a line or a sentence
near the end (`Final answer: B`, `答案是B`, a heading). Its value stands at its
beginning; what stands behind takes nothing back. What the prompt says itself is no
answer. Rules have the numbers of docs/scoring.md, *How an answer is read*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from forecasteval.common.markup import (
    PLACEHOLDERS,
    clean,
    drop_invisible,
    is_placeholder,
    is_quoted,
    last_boxed,
    parse_literal,
)
from forecasteval.common.patterns import WordTable, end_of, lazy
from forecasteval.common.records import number_text
from forecasteval.questions.states import AnswerScore, Unparsed, unparsed

from .language import table_of, words
from .statements import (
    CONTRADICTION,
    Stated,
    drop_lead_in,
    find_correction,
    find_lead_in,
    find_mapping,
    find_statements,
)

Read = TypeVar("Read")

# Of most answers, with nothing behind it, nor `For example:` in front
_ONE_BOX: Final = lazy(
    r"(?s)(?:[^{}\t]*\n(?<![:：]\n)(?<![:：]\n\n))?"
    r"[*$ ]*\\boxed\{([^{}]*|\\text\{[^{}]*\})\}[$*.\s]*"
)
SENTENCE_END: Final = lazy(
    r"(?:(?<=[a-z]{3})|(?<=[)\]\"]))[.!?]\s+(?=[A-Z\"])|。(?=\s?[^\s,、;])"
)
# Behind a list, not behind `St.`
LIST_END: Final = lazy(
    r"(?:(?<=[a-z]{2})(?<!\b[A-Z][a-z])|(?<=[)\]\"]))\.\s+(?=[A-Z][a-z]*(?::|\s[a-z]))"
)

_NOTHING: Final = Unparsed("")
_NO_BRACKETS: Final = str.maketrans("()", ",,")
_BOX_BEGINS: Final = ("oxed", "fbox", "\\box")
_ENDS_OF_ANSWERS: Final = lazy("<eo[ae]>")  # of Chinese models
_THINKING: Final = r"(?:think|thinking|thoughts?|reasoning|scratchpad)"
# Up to where they end, and from where they never end, but for a tag with the answer
_THOUGHTS: Final = lazy(
    rf"(?is)\A.*</{_THINKING}>|<{_THINKING}>(?:.*(?=<answer>[^<]*</answer>)|.*)"
)
_FENCE: Final = lazy(r"\s*```(?:python|json|text|[a-z]{0,8})?[ \t]*\n([^`]*)\n?```\s*")
_MAX_STATEMENTS: Final = 20  # the last of a text, of which one may be the answer
_MIN_AROUND: Final = 12  # characters around the content of a box that may say something
_MIN_BEHIND: Final = 4  # those behind it: `}更正否`
_FILLED: Final = lazy(r"\w")
_LISTED: Final = lazy(r"\W{0,4}[A-Za-z0-9]{1,2}[.):]\s")
_ANNOUNCES: Final = table_of("announces")
_SENTENCE: Final = lazy(
    r".*[.!。！*][\s\"”’)*_`]*|\s*(?:[-•*+]\s|[0-9]+[.)]|[-*_=]{3,}).*"
)
_CLAUSE: Final = lazy(r"[.!?;。！？；]\s")
_MAX_CLAUSE: Final = 80
_MAX_QUOTED: Final = 40


@dataclass(slots=True, eq=False)
class Answer:
    """The part of an answer that counts: `text`, its `elements` if it is a list.

    `boxed` is False without a box; then the text is `stated` to be the answer, or all
    of it. A `problem` says why there is no text. `before` is the statement in front of
    this one, which it `corrects` or not; `outside` the whole text around it,
    and its prompt.
    """

    text: str
    elements: tuple[str, ...] = ()
    boxed: bool = True
    stated: bool = False
    problem: Unparsed = _NOTHING
    before: Answer | None = None
    corrects: bool = False
    outside: tuple[str, str] = ("", "")
    _cleaned: str | None = None

    @property
    def cleaned(self) -> str:
        """Return the text without markup."""
        if self._cleaned is None:  # cached_property takes a lock in Python 3.11
            text = clean(self.text)
            if "\n" in text:
                head = text.lstrip("# ")
                begin = find_lead_in(head)
                if "\n" in head[:begin]:
                    text = head[begin:]
            self._cleaned = text
        return self._cleaned

    @property
    def is_bare(self) -> bool:
        """Return whether nothing says that it is an answer."""
        return not (self.boxed or self.stated)

    @property
    def sentence(self) -> str:
        """Return the cleaned text up to a remark, of a statement only its
        first sentence.
        """
        text = self.cleaned
        if self.is_bare or "\n" in text:
            return text
        stops = LIST_END
        if self.stated:
            stops = SENTENCE_END
        for end in stops.finditer(text):
            if text.count("(", 0, end.start()) == text.count(")", 0, end.start()):
                return text[: end.start()]
        return text

    def find_in(self, raw: str) -> tuple[int, int] | None:
        """Find where in the raw answer the text stands: from its first to its last
        line, in a box if there is one. None if nothing says that it is an answer.
        """
        if self.is_bare or not self.text:
            return None
        lines = self.text.split("\n")
        first, last = lines[0], lines[-1]
        at = raw.rfind(f"{{{last}}}") + 1 or raw.rfind(last)
        begin = raw.rfind(first, 0, at + len(first))
        return (begin, at + len(last)) if begin >= 0 else None


def parse_answer(raw: object, prompt: str = "", boxed: bool = False) -> Answer | None:
    """Parse the span that counts of a raw answer (text, number or list); None if the
    answer is missing.

    What stands in the `prompt` itself is none. With `boxed` it counts as boxed whatever
    it looks like.
    """
    if raw is None:
        return None
    if isinstance(raw, list):
        return _parse_list(raw)
    if not isinstance(raw, str):
        text = number_text(raw)
        return Answer(text) if text else _hold_problem(NO_TEXT)
    is_marked = "<" in raw
    raw = _drop_frame(raw)
    if is_marked and not raw.strip():
        return _hold_problem(THOUGHTS_ALONE)
    has_box, one = "ox" in raw, None
    if not has_box and raw.isprintable():  # most truths
        text, in_box = raw, False
    elif has_box and (one := _ONE_BOX.fullmatch(raw)):  # most answers
        text, in_box = one[1], True
    else:
        text, in_box = last_boxed(raw, prompt)
    text = text.strip()
    if boxed and text:
        return hold_text(text)
    if not in_box:
        return _parse_prose(raw, text, prompt)
    answer = _parse_box(raw, text, prompt)
    if one or not answer:
        return answer
    return _correct(answer, raw, prompt)


def _parse_list(raw: Sequence[object]) -> Answer | None:
    """Parse an answer that is a list, however deep it goes."""
    if any(isinstance(part, (list, dict)) for part in raw):
        return Answer("")
    parts = [part.text for part in map(parse_answer, raw) if part]
    return hold_answer(parts) if parts else None


def _hold_problem(problem: Unparsed) -> Answer:
    """Return an answer of which nothing is read."""
    return Answer("", boxed=False, problem=problem)


def _drop_frame(raw: str) -> str:
    """Return a raw text without what programs of models put around it: thoughts, ends
    of answers, a code fence.
    """
    raw = drop_invisible(raw)
    if "<" in raw:
        raw = _ENDS_OF_ANSWERS.sub("", _THOUGHTS.sub("", raw))
    if "```" in raw and (fence := _FENCE.fullmatch(raw)):
        return fence[1]
    return raw


def _parse_box(raw: str, text: str, prompt: str) -> Answer | None:
    """Parse an answer with a box: what stands around it counts where the
    box says nothing.
    """
    if not text:
        return find_statement(raw, prompt)
    if is_placeholder(text):
        return find_statement(raw, prompt) or hold_text(text)
    if is_echo(raw, prompt):
        return _hold_problem(ECHO)
    answer = hold_text(text)
    if len(raw) >= len(text) + _MIN_AROUND:
        answer.outside = raw, prompt
    return answer


def _correct(answer: Answer, raw: str, prompt: str) -> Answer | None:
    """Return what corrects an answer in the text behind its box, or else the answer."""
    if not (answer.boxed and answer.outside[0]):  # most
        return answer
    box = max(map(raw.rfind, _BOX_BEGINS))
    last_line = answer.text.rpartition("\n")[2]
    at = raw.find(last_line, box)
    behind = raw[at + len(last_line) :]
    if (
        at < 0
        or len(behind) < _MIN_BEHIND
        or not (correction := find_correction(behind))
    ):
        return answer
    return find_statement(correction, prompt, answer)


def _parse_prose(raw: str, text: str, prompt: str) -> Answer | None:
    """Parse an answer without a box: its statement, or all of it."""
    if not text:
        return _hold_problem(TWO_BOXES) if "ox" in raw else None
    if "ox" in raw and is_echo(raw, prompt):
        return _hold_problem(ECHO)
    answer = find_statement(text, prompt)
    prose = hold_text(text, boxed=False)
    prose.outside = text, prompt
    if not answer:
        return prose
    first = answer
    while first.before:
        first = first.before
    answer.outside = text, prompt
    if first.is_bare and not first.problem.note:  # This is the most likely option
        first.before = prose
    return answer


def find_statement(
    text: str, prompt: str = "", before: Answer | None = None
) -> Answer | None:
    """Find the last statement of a text without a box, with those `before` it (rule 2).

    >>> find_statement("Both are even.\\n\\n**Final answer:** B").text
    'B'
    """
    mapped = None
    if "}" in text:
        mapped = find_mapping(text[: text.rfind("}") + 1])
    if mapped and text.rstrip("` \n").endswith("}"):
        return _hold_stated(mapped)
    answer = before
    statements = find_statements(text, prompt, corrects=before is not None)
    for stated in statements[-_MAX_STATEMENTS:]:
        following = _hold_stated(stated)
        if not (stated.problem or stated.withdraws):  # what is withdrawn leaves nothing
            following.before = answer
        answer = following
    if mapped and mapped.text and answer and answer.text != mapped.text:
        return _hold_problem(CONTRADICTION)
    return answer


def hold_text(text: str, boxed: bool = True, stated: bool = False) -> Answer:
    """Return an answer that is a text; a list literal is its elements."""
    if text[:1] != "[":  # most
        return Answer(text, (), boxed, stated)
    elements = parse_literal(text)
    if len(elements) == 1:
        (text,) = elements
    return Answer(text, elements, boxed, stated)


def _hold_stated(stated: Stated) -> Answer:
    if stated.problem:
        return _hold_problem(stated.problem)
    answer = hold_text(stated.text, boxed=False, stated=not stated.is_whole)
    answer.corrects = stated.corrects
    return answer


def hold_answer(passages: Sequence[str]) -> Answer:
    """Return an answer of one text or several, as if it stood in a box."""
    if len(passages) == 1:
        return hold_text(passages[0].strip())
    return Answer("\n".join(passages), tuple(passages))


# --- What is no answer to any question ---

NO_TEXT: Final = Unparsed("no text")
TWO_BOXES: Final = Unparsed("boxes that name two answers", "contradiction")
THOUGHTS_ALONE: Final = Unparsed("thoughts without an answer", "prose")
ECHO: Final = Unparsed("no box, and words of the prompt", "prose", is_silent=True)
_KINDS: Final = {
    word: kind for kind in ("errors", "lacks", "refusals") for word in words(kind)
}
_STATUSES: Final = WordTable(*_KINDS)
# In this case: `I Can't Help It` is a song.
_DECLINES: Final = tuple(words("declines"))
_CANNOT: Final = lazy(
    r"(?i)(?:i\s)?(?:can(?:not|\snot|['’]t)|could\snot|unable\sto|do\snot|don['’]t)\s"
    r"(?:predict|determine|know|answer|say)(?:\s[a-z]{1,12}){0,4}"
)
_ENDS: Final = lazy(r"\s?(?:\Z|[-–—(:;,.!?\n])")
# The first two letters of all of these, and of what `_CANNOT` finds
_HEADS: Final = frozenset(
    head[:2].lower()
    for head in (
        *_KINDS,
        *_DECLINES,
        *PLACEHOLDERS,
        "can",
        "could",
        "unable",
        "do",
        "I",
    )
)


def may_be_status(text: str) -> bool:
    """Return whether a text begins like a status, by its first two
    letters: this is fast.
    """
    head = text[:2].lower()
    if head.isalnum():
        return head in _HEADS
    return not head[:1].isdigit()


def find_status(text: str) -> tuple[str, str]:
    """Find what kind of status a cleaned text is, if it answers no question (rule 3).
    The kind is "refusal", "error of a program", "placeholder" or ""; the words of a
    refusal that may be a name come second.

    >>> find_status("I'm sorry, but I can't tell"), find_status("N/A; no data"), find_status("B")
    (('refusal', ''), ('refusal', 'N/A'), ('', ''))
    """  # noqa: E501
    if not may_be_status(text):  # most
        return "", ""
    head = text[:200].replace(" / ", "/")
    word = _STATUSES.find(head)
    kind = _KINDS.get(word)
    said = len(word)
    if kind != "refusals":
        said = end_of(_CANNOT, head)
    if said and _ENDS.match(head, said):
        return "refusal", head[:said]
    if kind == "lacks" or head.replace(",", "").startswith(_DECLINES):
        return "refusal", head[: len(word)]
    if kind == "errors":
        return "error of a program", ""
    if is_placeholder(text):
        return "placeholder", ""
    return "", ""


def is_echo(raw: str, prompt: str) -> bool:
    """Return whether a text of more than 60 characters stands whole in the prompt,
    escaped or not.
    """
    if not 60 < len(raw) < 2 * len(prompt):
        return False
    text = raw.strip(" \n\"'")
    return text[:12] in prompt and is_quoted(text, prompt)


def _is_last(above: str, line: str) -> bool:
    """Return whether a last line stands below a sentence, a bullet or a rule, not below
    a heading (`Last close`, `They say:`, `Let me see.`) or in a list of options,
    which breaks off.
    """
    if _LISTED.match(line) and _LISTED.match(above):
        return False
    is_announced = _ANNOUNCES.find(above.strip(" #*_`"))
    return not is_announced and bool(_SENTENCE.fullmatch(above))


# --- Truths ---


class TruthOf(Generic[Read]):
    """A ground truth: it reads answers as its kind has them (picks, names, a number)
    and scores what it read. `kind`: what a question of level 3 or 4 asks for.
    `is_plain`: what it reads is told from prose, as names are not.
    """

    __slots__ = ()
    kind: str = "ranking"
    is_plain = False

    def read(self, answer: Answer) -> Read | Unparsed:
        """Read the value of an answer, or the reason why it cannot be read."""
        raise NotImplementedError

    def means(self, text: str, words: str) -> bool:
        """Return whether a text is an option's or a true name. It may be although it,
        or its first `words`, look like a refusal or a status.
        """
        return False

    def accepts(self, answer: Answer) -> bool:
        """Return whether a clause may be read that nothing states to be an answer."""
        return self.is_plain

    def find_status(self, answer: Answer) -> Unparsed | None:
        """Find the kind of status that an answer is; what this truth means is none, and
        no list of several.
        """
        if len(answer.elements) > 1:
            return None
        text = drop_lead_in(answer.cleaned)
        status, words = find_status(text)
        if not status or self.means(text, words):
            return None
        # `Sorry, I can't say more` below an answer
        return Unparsed(
            status, status, is_silent=answer.is_bare and answer.before is not None
        )

    def compare(self, read: Read) -> AnswerScore:
        """Compute the score of what an answer says."""
        raise NotImplementedError

    def score(self, answer: Answer) -> AnswerScore:
        """Compute the score of an answer: of its last statement that can be read."""
        while answer.before and answer.is_bare and not self.accepts(answer):
            answer = answer.before
        read = self.read(answer)
        if not isinstance(read, Unparsed):
            return self.compare(read)
        if not read.is_silent:
            return unparsed(read)
        before = answer.before
        if before and not before.text:
            return unparsed(before.problem)
        if before:
            return self.score(before)
        if answer.boxed and (stated := find_statement(*answer.outside)):
            scored = self.score(stated)
            if scored.outcome == "scored":
                return scored
        if answer.is_bare and self.is_plain and "\n" in answer.text:
            alone = self._read_line_alone(*answer.outside)
            if alone is not None:
                return self.compare(alone)
        return unparsed(read)

    def _read_line_alone(self, text: str, prompt: str) -> Read | None:
        """Read the first or the last line of a text, if it is a value and no other line
        is one: two of them are a list, perhaps of options. None if nothing is said so.
        """
        lines = [line for line in text.split("\n") if _FILLED.search(line)]
        if len(lines) < 2:
            return None
        first, *others, last = lines
        at_first, at_last = self._read_bare(first), self._read_bare(last)
        if (at_first is None) == (at_last is None):
            return None
        if any(self._read_bare(line) is not None for line in others):
            return None
        read = at_first or at_last
        if read is None or isinstance(read, Unparsed):
            return None
        if at_last is None:
            beside, is_alone = lines[1], self._is_first(first, lines[1], read)
        else:
            beside, is_alone = lines[-2], _is_last(lines[-2], last)
        # An option of a prompt that is cut off stands below the prompt's words.
        is_alone = is_alone and not is_quoted(beside[-_MAX_QUOTED:], prompt)
        return read if is_alone else None

    def _is_first(self, line: str, below: str, read: object) -> bool:
        """Return whether the line below does not take a value back, or give
        another: `Or C`.
        """
        clause = _CLAUSE.split(below.strip(" *_`>-"))[0][:_MAX_CLAUSE].translate(
            _NO_BRACKETS
        )
        return self.read(hold_text(f"{line} ({clause})")) == read

    def _read_bare(self, line: str) -> Read | Unparsed | None:
        """Read a line that is a value or a status as a whole; None of any other."""
        if find_lead_in(line):
            return None
        read = self.read(Answer(line.lstrip("> "), boxed=False))
        is_silent = isinstance(read, Unparsed) and read.is_silent
        return None if is_silent else read
