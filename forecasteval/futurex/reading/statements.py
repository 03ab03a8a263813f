"""Where a text without a box says what its answer is.

A statement is the value of a mapping (`{"answer": "B"}`), a tag (`<answer>B</answer>`),
what stands behind a lead-in that begins a line or a clause (`Final answer: B`,
`答案是B`, a heading), in front of a predicate (`B is the right answer`), or behind a
correction of another statement (`Actually, C`). What the prompt says itself, and what
others say, states nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence, Set
from operator import itemgetter
from typing import Final, NamedTuple

from forecasteval.common.markup import find_objects, is_quoted
from forecasteval.common.patterns import BLANKS, WordTable, end_of, lazy
from forecasteval.common.records import number_text
from forecasteval.questions.states import Unparsed

from .language import alternatives, pattern_of, table_of, words
from .negation import denies

CONTRADICTION: Final = Unparsed("two answers that differ", "contradiction")
WITHDRAWN: Final = Unparsed("an answer that is withdrawn", "contradiction")

# --- Lead-ins ---

# The words of lead-ins in one table, which names the kinds of each
_KINDS: Final = (
    *("openers", "claims", "articles", "owners", "nouns", "choices", "options"),
    *("verbs", "picks", "places", "leanings"),
)
_KINDS_OF: Final[dict[str, set[str]]] = {}
for _kind in _KINDS:
    for _word in words(_kind):
        _KINDS_OF.setdefault(_word.lower(), set()).add(_kind)
_WORDS: Final = WordTable(*_KINDS_OF)
_NO_KINDS: Final[Set[str]] = frozenset()
_OPENERS: Final = table_of("openers")
_OWNERS: Final = table_of("owners")
_IT_IS: Final = table_of("it is")
_COPULAS: Final = table_of("copulas")
_OUTCOME: Final = "the outcome be "  # options begin so
_COMMA: Final = lazy(r"[,，]?\s*")
_HYPHENS: Final = lazy(r"(?:[\s-]|and\s)*")  # the most likely and accurate
_ASIDE: Final = lazy(  # (of today); for the closing price
    r"(?:\s*[(（][^()（）\n]{0,60}[)）]|\s*for\s[^\n.:;,]{1,60}?(?=\s(?:is|are|will\sbe)\s|:))?\s*"
)
_IS: Final = lazy(r"(?:[:：=→][:： ]*|[-=–]>|[-–—]\s|\s?(?=\$|\\\())\s*")
_STOPS: Final = ".!?。！？\n:："
_COLON: Final = lazy(r"\s?[:：]?\s*")
_SHORT: Final = lazy(r"[^\n]{1,12}(?:\n|\Z)")  # 因此，B
# 所以选B
_PICKS: Final = lazy(rf"(?:{alternatives('picks')})[:：]?\s?(?=[A-Za-z](?![A-Za-z]))")
_OF_WHAT: Final = lazy(r"[\u4e00-\u9fff]{0,10}(?=[:：])")  # 最终预测成交额：
_PLACES: Final = lazy(  # ranks 7-9
    rf"(?i)(?:{alternatives('places')})\s[0-9]{{1,3}}\s?(?:[-–—]|to|through)\s?[0-9]{{1,3}}\s*"
)


def find_lead_in(text: str, position: int = 0, is_line: bool = True) -> int:
    """Find where a lead-in ends that begins at a position: `So my final answer is`; the
    position without one.

    `My pick is` is one everywhere, `Pick: ` only where it begins a line, `Hence: `
    where it begins a sentence.
    """
    word, kinds = _look_up(text, position)
    if not word:  # most
        return position
    return _end_lead_in(text, position, is_line, word, kinds)


def _end_lead_in(
    text: str, position: int, is_line: bool, word: str, kinds: Set[str]
) -> int:
    """Find where a lead-in ends that begins with a word; its position if
    there is none.
    """
    at = position
    is_opened = "openers" in kinds and "verbs" not in kinds
    if is_opened:
        at = end_of(_COMMA, text, at + len(word))
        word, kinds = _look_up(text, at)
    claimed = at
    while "claims" in kinds:
        at = end_of(BLANKS, text, at + len(word))
        word, kinds = _look_up(text, at)
    if at > claimed and (it_is := _IT_IS.find(text, at)):  # I think it is B
        return end_of(BLANKS, text, at + len(it_is))
    while "articles" in kinds:
        at = end_of(BLANKS, text, at + len(word))
        word, kinds = _look_up(text, at)
    if "verbs" in kinds:
        return end_of(_COLON, text, at + len(word))
    if "picks" in kinds and (picks := _PICKS.match(text, at)):
        return picks.end()
    begin = at
    while "owners" in kinds:
        at = end_of(_HYPHENS, text, at + len(word))
        word, kinds = _look_up(text, at)
    if "places" in kinds and (places := _PLACES.match(text, at)):
        if copula := _COPULAS.find(text, places.end()):
            return end_of(_COLON, text, places.end() + len(copula))
        return position
    is_choice = "choices" in kinds and (is_line or at > begin)
    is_option = "options" in kinds and at > begin  # the best option is
    if "nouns" in kinds or is_choice or is_option:
        return _find_end(text, at + len(word), is_line, word) or position
    if is_opened:
        return _end_opener(text, position, at)
    return position


def _look_up(text: str, at: int) -> tuple[str, Set[str]]:
    """Find the word of lead-ins at a position, and its kinds."""
    word = _WORDS.find(text, at)
    return word, _KINDS_OF.get(word, _NO_KINDS)


def _end_opener(text: str, position: int, at: int) -> int:
    """Find where a lead-in ends that is an opener alone: `Hence: C`; its position
    if it is none.
    """
    if not _begins_sentence(text, position):
        return position
    end = end_of(_IS, text, at)
    is_ended = end > at or _SHORT.match(text, at)
    return end if is_ended else position


def _begins_sentence(text: str, position: int) -> bool:
    front = text[max(0, position - 3) : position].rstrip(" ")
    return not front or front[-1] in _STOPS


def _find_end(text: str, behind: int, is_line: bool, noun: str) -> int:
    """Find where a lead-in ends that has a noun: behind `is`, a colon, or as a heading;
    0 if nothing of these is there.
    """
    at = _OWNERS.skip(text, end_of(BLANKS, text, behind))  # respuesta final
    at = end_of(_ASIDE, text, at)
    if copula := _COPULAS.find(text, at):
        return end_of(_COLON, text, at + len(copula))
    if not noun.isascii():
        at = end_of(_OF_WHAT, text, at)
    end = end_of(_IS, text, at)
    is_heading = is_line and "\n" in text[behind:at]
    return end if end > at or is_heading else 0


def drop_lead_in(text: str) -> str:
    """Return the text without `The answer is`, `My prediction:` or `the
    outcome be` in front.
    """
    if text[: len(_OUTCOME)].lower() == _OUTCOME:
        return text[len(_OUTCOME) :].lstrip()
    return text[find_lead_in(text) :]


# --- Statements ---


class Stated(NamedTuple):
    """What a text states as its answer.

    `is_whole`: it is one only if all of it is a value. `withdraws`: what stands
        before counts no
    more, whether this can be read or not; `corrects`: it stands in place of what
    stands before. A
    `problem`: nothing is stated any more.
    """

    text: str
    is_whole: bool = False
    withdraws: bool = False
    corrects: bool = False
    problem: Unparsed | None = None


# They are looked for in a text whose marks are blanks, so that
# `**Final_answer:**` has none.
_MARKS: Final = tuple(zip("*_`【】", "    :", strict=True))
# Where a line begins, or a clause: behind a mark, behind a word or at one. Its groups
# are where its first word begins, and the first letters of this word, or of the one
# behind `the`.
_BULLET: Final = r"[^\w>\"'“”‘’「『«《(\[{<\n]{0,12}(?:[0-9]{1,2}[.)]\s+)?"
_HEAD: Final = r"()(?:[Tt][Hh][Ee]\s+)?([Ii][ '].|[A-Za-z]{1,4}|.|)"
_FIRST_CUT: Final = lazy(rf"(?s){_BULLET}{_HEAD}")
_HEADS: Final = frozenset(_FIRST_CUT.findall(word)[0][1] for word in _KINDS_OF)
# These are two patterns, for a search is fast that begins with a set of signs, or
# with one sign.
_CUTS: Final = (
    lazy(
        r"(?s)[\n.!?,;:–—$})\]\"”’。！？，；：]"
        r"(?:(?<=[\n。！？，；：])|(?=\s|(?<=[$}])[A-Z]))"
        rf"(?=(?:(?<=\n){_BULLET}|(?<!\n)(?: \s*)?){_HEAD})"
    ),
    lazy(
        r"(?s) (?:and (?<![.!?,;:–—] and )|that (?<![.!?,;:–—] that )"
        r"|(?=(?:The|so|thus|therefore|hence) )(?<![.!?,;:–—] ))"
        rf"(?=(?: \s*)?{_HEAD})"
    ),
)
SENTENCE_STOP: Final = lazy(r"[.!?][\"”’)\]}$]*\s+|[。！？]")
_SENTENCE: Final = lazy(r"(?:(?![.!?][\"”’)\]}$]*\s|[。！？\n]).)+")
_SENTENCES: Final = lazy(r"(?s)(?:(?![.!?]\s|[。！？\n]).)*(?:.|\Z)")
_REASON: Final = lazy(r"\w\s+\w+\s+\w|[^\x00-\x7f]{4}")  # three words
_COMMAS: Final = lazy(r"[,，;；]\s*")
_LINE_END: Final = lazy(r"\n")
_RULE: Final = lazy(r"(?:[-=_*]{3,}[ \t]*\n\s*)?")  # below a heading
_PARAGRAPH: Final = lazy(r"\n[ \t]*\n")
_MAX_LINES: Final = 15  # that are not empty
_MAX_TAIL: Final = 3000  # characters
_MAX_SENTENCE: Final = 300  # characters of it in front of a lead-in
_TAG: Final = lazy(
    r"(?is)<(answer|final_answer|final|prediction)>((?:(?!</?\1>).){0,3000})</\1>"
)
# Who else says it (According to others, the answer is B), and on what it depends
THEIRS: Final = lazy(rf"(?i){pattern_of('theirs')}")
CONDITIONS: Final = lazy(rf"(?i){pattern_of('conditions')}")
DECLINING: Final = (  # I cannot say; the figure is not available
    lazy(rf"(?i){pattern_of('declining')}"),
    lazy(
        r"(?i)\bnot\s(?:\w+\s){0,2}(?:provided?|available|enough|contain|includ|mention|possible"
        r"|disclose)"
    ),
)
# B is the right answer, 选项B是正确的
_PREDICATES: Final[tuple[re.Pattern[str], ...]] = (
    lazy(
        r"(?:is|are) (?:(?:the|my|our) "
        rf"(?:(?:{alternatives('owners')}) ){{0,2}}"
        r"(?:answer|choice|option|pick|prediction|forecast)s?|most "
        r"likely|correct|right)"
        r"(?=\s*(?:[.!;,]|\n|\Z))"
    ),
    lazy(
        r"(?=[选是为最正对])(?:选项)?(?:是|为)?(?<!不)(?:最?正确的?|对的|最佳的?|最合适的?)(?:答案|选项|选择)?"
        r"(?=\s*(?:[。！；，,.\n]|\Z))"
    ),
)
_LEANINGS: Final = table_of("leanings")
_ONLY: Final = table_of("only")
_CORRECTIONS: Final = table_of("corrections", "second thoughts")
_NOTES: Final = frozenset(words("notes"))
_MAX_OPENERS: Final = 5  # words in front of a correction: sorry, oops, actually
_REPLACEMENTS: Final = table_of("replacements", "claims", "it is")
_PUNCTUATION: Final = lazy(r"[\s,，.。:：;；!！(（\[\]—–-]*")
_IS_CJK: Final = lazy(r"[为是](?=[^\s的。，,])|")
_REASON_GIVEN: Final = lazy(
    r"[\s,，—–-]+(?:because|since|given|due\sto)\b|\sinstead\b|[,，]?\s?(?:因为|由于)"
)
_SELVES: Final = table_of("selves")
_WITHDRAWS: Final = table_of("withdraws")
_ABOVE_CJK: Final = table_of("answer above")
_GONE: Final = table_of("gone")
_CHANGED_TO: Final = table_of("changed to")
_REVISED: Final = lazy(rf"(?i){alternatives('revised')}")
_NOUN: Final = r"(?:answer|box|prediction|forecast|pick|choice|estimate)\b"
_ANSWER_ABOVE: Final = lazy(  # behind `I withdraw`
    r"(?i)(?:my|the|this|that)\s(?:(?!earlier|draft|first|initial)\w+\s){0,2}"
    rf"{_NOUN}(?:\sabove)?|(?:everything\s)?(?:the\s)?above\b"
    r"|(?:that|this|it|myself)\b(?=\s*(?:[.,;:!()—–-]|\Z|(?:to|with|and|back|from)\b))"
)
_WRONG: Final = lazy(
    rf"(?i)(?:my|the)\s(?:above|{_NOUN}(?:\sabove)?|box\sabove)\s(?:is|was)\s"
    r"(?:wrong|incorrect|an?\s(?:mistake|error|typo))\b"
)
_TO: Final = lazy(r"(?:\sfrom\s[^.!?,\n]{1,40}?)?,?\s(?:and\s)?(?:to|with)\b[\s:]*")
_BACK: Final = lazy(r"\sback\b")
_STOP: Final = lazy(r"[\s。，,.！]|\Z")


def find_statements(text: str, prompt: str, corrects: bool = False) -> list[Stated]:
    r"""Find the statements at the end of a text, in their order.

    `corrects`: they follow an answer, which a correction may replace.

    >>> [stated.text for stated in find_statements("Both are even.\n\n**Final answer:** B", "")]
    ['B']
    """  # noqa: E501
    placed: list[tuple[int, Stated]] = []
    begin = _find_tail(text)
    if "</" in text and (tags := [*_TAG.finditer(text)]):
        placed.append((0, Stated(tags[-1][2].strip())))
        begin = max(begin, tags[-1].end())
    text = text[begin:]
    masked = _mask(text)
    for cut in _find_cuts(masked):
        follows = corrects or bool(placed)
        if not follows and cut[2].lower() not in _HEADS:  # most
            continue
        begin = cut.start(1)
        clause = _read_clause(text, masked, begin, follows)
        if (
            clause
            and not _is_of_others(text, begin)
            and not is_quoted(clause.words, prompt)
        ):
            placed.append((begin, clause.stated))
    patterns = _PREDICATES
    if masked.isascii():  # most
        patterns = _PREDICATES[:1]
    for pattern in patterns:
        for predicate in pattern.finditer(masked):
            placed += _read_predicate(text, predicate.start())
    placed.sort(key=itemgetter(0))
    return [stated for _, stated in placed]


def _mask(text: str) -> str:
    """Return a text with blanks for its marks."""
    for mark, blank in _MARKS:
        text = text.replace(mark, blank)
    return text


def find_correction(text: str) -> str:
    """Find what corrects an answer in the text behind it, without what depends on a
    condition; "" if nothing does.
    """
    sentences = _SENTENCES.findall(text)
    text = "".join(
        sentence for sentence in sentences if not CONDITIONS.search(sentence)
    )
    masked = _mask(text)
    for cut in _find_cuts(masked):
        begin = cut.start(1)
        if _begins_correction(masked, begin):
            return text[begin:]
    return ""


def _begins_correction(masked: str, begin: int) -> bool:
    """Return whether a clause begins with a correction."""
    at = _skip_words(_OPENERS, masked, begin)
    return bool(_CORRECTIONS.find(masked, at)) or _read_withdrawal(masked, at)[0] > at


def _skip_words(table: WordTable, masked: str, at: int) -> int:
    """Return the position behind some words and marks; not behind thousands of them."""
    at = end_of(_PUNCTUATION, masked, at)
    for _ in range(_MAX_OPENERS):
        word = table.find(masked, at)
        if not word:  # most
            break
        at = end_of(_PUNCTUATION, masked, at + len(word))
    return at


def _read_withdrawal(masked: str, begin: int) -> tuple[int, bool]:
    """Read words that take the answer above back: where they end, their beginning
    without any; and whether another answer follows (`I change it to`).
    """
    revised = find_lead_in(masked, begin)
    if _REVISED.search(masked, begin, revised):  # My revised answer is
        return revised, True
    if wrong := _WRONG.match(masked, begin):
        return wrong.end(), False
    at = _skip_words(_SELVES, masked, begin)
    verb = _WITHDRAWS.find(masked, at)
    behind = end_of(BLANKS, masked, at + len(verb))
    if verb and (above := _ANSWER_ABOVE.match(masked, behind)):
        end = end_of(_BACK, masked, above.end())
        if verb == "take" and end == above.end():  # I take that as given
            return begin, False
        to = end_of(_TO, masked, end)
        return to, to > end
    end = _ABOVE_CJK.skip(masked, behind)
    if changed := _CHANGED_TO.find(masked, end):  # 我把答案改为
        return end_of(_COLON, masked, end + len(changed)), True
    gone = _GONE.find(masked, end) if end > behind else ""  # 以上答案作废
    is_object = (
        verb and not verb.isascii() and (end > behind or _STOP.match(masked, end))
    )
    return (end + len(gone), False) if gone or is_object else (begin, False)


class _Clause(NamedTuple):
    """What a clause states, and its words."""

    stated: Stated
    words: str


def _find_tail(text: str) -> int:
    """Find where the last lines of a text begin that are not empty."""
    first = max(0, len(text) - _MAX_TAIL)
    line_end = -1
    if first:
        line_end = text.find("\n", first - 1)
    if text[line_end:].strip():  # else one line of megabytes
        first = max(first, line_end + 1)
    begin = len(text)
    for _ in range(_MAX_LINES):
        tail = text[first:begin].rstrip()
        if not tail:
            break
        begin = first + tail.rfind("\n") + 1
    return begin


def _find_cuts(masked: str) -> list[re.Match[str]]:
    """Find where the first words of lines and clauses begin."""
    cuts = [cut for pattern in _CUTS for cut in pattern.finditer(masked)]
    cuts.sort(key=re.Match.start)
    if first := _FIRST_CUT.match(masked):
        cuts.insert(0, first)
    return cuts


def _read_clause(text: str, masked: str, begin: int, follows: bool) -> _Clause | None:
    """Read what a clause states that begins with a lead-in, or with a correction if it
    follows a statement.
    """
    if follows and (correction := _read_correction(text, masked, begin)):
        return correction
    word, kinds = _look_up(masked, begin)
    if word and _end_lead_in(masked, begin, True, word, kinds) > begin:
        return _read_lead_in(text, masked, begin)
    if "openers" in kinds or "leanings" in kinds:
        at = _OPENERS.skip(masked, begin)
        if leaning := _LEANINGS.find(masked, at):  # so I'd go with B
            return _read_whole(text, begin, end_of(BLANKS, masked, at + len(leaning)))
    return None


def _read_correction(text: str, masked: str, begin: int) -> _Clause | None:
    """Read a clause that replaces what stands before it: `I change my answer to
    B`, `Sorry, C`.
    """
    at = start = _skip_words(_OPENERS, masked, begin)
    withdraws = corrects = False
    for _ in range(_MAX_OPENERS):
        end, is_followed = _read_withdrawal(masked, at)
        if is_followed:
            value = text[end : end_of(_SENTENCE, text, end)]
            value = _REASON_GIVEN.split(value)[0]
            stated = Stated(value, withdraws=True, corrects=True)
            return _Clause(stated, text[begin:end] + value)
        withdraws = withdraws or end > at
        word = "" if end > at else _CORRECTIONS.find(masked, at)
        if end + len(word) == at:
            break
        corrects = corrects or word not in _NOTES
        at = end_of(_PUNCTUATION, masked, end + len(word))
    if at == start:
        return None
    at = _REPLACEMENTS.skip(masked, end_of(_IS_CJK, masked, at))
    at = find_lead_in(masked, at)
    clause = _read_whole(text, begin, at)
    if not clause:
        return (
            _Clause(Stated("", problem=WITHDRAWN), text[begin:at])
            if withdraws
            else None
        )
    reasoned = _REASON_GIVEN.split(clause.stated.text)
    stated = Stated(
        reasoned[0].strip("()（） "),
        is_whole=True,
        withdraws=withdraws,
        corrects=corrects,
    )
    return clause._replace(stated=stated)


def _read_lead_in(text: str, masked: str, begin: int) -> _Clause | None:
    """Read the rest of the line behind a lead-in, or the paragraph below a heading."""
    front = masked[masked.rfind("\n", 0, begin) + 1 : begin]
    end = find_lead_in(masked, begin, not any(map(str.isalpha, front)))
    if end == begin:
        return None
    is_heading = "\n" in text[begin:end]
    end = end_of(_RULE, text, end)
    stop = _LINE_END
    if is_heading:
        stop = _PARAGRAPH
    value = stop.split(text[end:], 1)[0]
    if not value.strip():
        return None
    return _Clause(Stated(value.strip(" *_`\t\n")), text[begin:end] + value)


def _read_whole(text: str, begin: int, at: int) -> _Clause | None:
    """Read the rest of a sentence, which states something only if all of
    it is a value.
    """
    value = _SENTENCE.match(text, at)
    if not value:
        return None
    return _Clause(Stated(value[0], is_whole=True), text[begin:at] + value[0])


def _is_of_others(text: str, begin: int) -> bool:
    """Return whether the words in front of a clause quote somebody, or say that
    others say it.
    """
    front = text[text.rfind("\n", 0, begin) + 1 : begin]
    is_quoting = front.count('"') % 2 or front.count("“") > front.count("”")
    if is_quoting or front.startswith(">"):
        return True
    sentence = SENTENCE_STOP.split(front)[-1][-_MAX_SENTENCE:]
    # It is unlikely that the answer is B
    if sentence.endswith("that ") and denies(_COMMAS.split(sentence)[-1]):
        return True
    return bool(THEIRS.search(sentence))


def _read_predicate(text: str, end: int) -> Iterator[tuple[int, Stated]]:
    """Read what stands in front of a predicate: its sentence, else the clause
    behind a comma.
    """
    line = text[text.rfind("\n", 0, end) + 1 : end]
    sentence = SENTENCE_STOP.split(line)[-1].strip(" *_`#>-")
    if THEIRS.search(sentence):
        return
    *reasons, clause = _COMMAS.split(sentence)
    # Not the B of `among them, A, B are right`
    if reasons and _REASON.search(reasons[-1]):
        yield end, Stated(_drop_openers(clause), is_whole=True)
    yield end, Stated(_drop_openers(sentence), is_whole=True)


def _drop_openers(clause: str) -> str:
    """Return a clause without `So, ` and 只有 in front."""
    at = 0
    while word := _OPENERS.find(clause, at) or _ONLY.find(clause, at):
        at = end_of(_COMMA, clause, at + len(word))
    return clause[at:]


# --- Mappings ---

_ANSWER_KEY: Final = lazy(
    rf"(?i)(?:(?:my|final|{alternatives('mine')}|最终|我的)[\s_-]?)?"
    rf"(?:{alternatives('nouns')}|pick|choice)"
)
_RANK_KEY: Final = lazy(
    r"(?i)(?:rank[ _]?|no\.?\s?|#|第)?([0-9]{1,2})(?:st|nd|rd|th)?(?:\splace|[名位])?"
)
_NO_ANSWER_KEYS: Final = ("options", "candidates", "sources", "warnings")
_ERROR_KEYS: Final = ("error", "errors", "exception", "traceback")
_NO_OBJECT: Final = Unparsed("JSON without an answer", "error of a program")
_ERROR: Final = Unparsed("error of a program", "error of a program")
# Objects as pairs: an answer may be given twice.
_DECODER: Final = json.JSONDecoder(strict=False, object_pairs_hook=tuple)
_PYTHON: Final = lazy(r"'|\b(?:True|False|None)\b")
_JSON: Final = {"'": '"', "True": "true", "False": "false", "None": "null"}


def find_mapping(text: str) -> Stated | None:
    """Find the answer of the mappings at the end of a text: the value of the key
    `answer`, the same wherever it stands.
    """
    python = _PYTHON.sub(lambda word: _JSON[word[0]], text) if "'" in text else ""
    objects = [*find_objects(text, _DECODER)] or [*find_objects(python, _DECODER)]
    pairs = [pair for _, _, record in objects for pair in record]
    values = [value for key, value in pairs if _ANSWER_KEY.fullmatch(key)]
    if any(key.lower() in _ERROR_KEYS and value for key, value in pairs):
        return Stated("", problem=_ERROR)
    if any(value != values[0] for value in values):
        return Stated("", problem=CONTRADICTION)
    if values:
        return _state_value(values[0])
    if not objects or text[: objects[0][0]].strip("` \njson"):
        return None  # there is more than an object
    if ranked := _list_ranked(pairs):
        return _state_value(ranked)
    if len(pairs) != 1:
        return Stated("", problem=_NO_OBJECT)
    # {"ranking": ["Hart", "Solberg"]}, not {"excluded": […]}
    ((key, value),) = pairs
    if (
        isinstance(value, list)
        and key.lower() not in _NO_ANSWER_KEYS
        and not denies(key)
    ):
        return _state_value(value)
    return Stated("", problem=_NO_OBJECT)


def _list_ranked(pairs: Sequence[tuple[str, object]]) -> list[object]:
    """List the values of `{"4": "Hart", "5": "Solberg"}` in the order of their ranks;
    nothing unless these count on.
    """
    ranks = [_RANK_KEY.fullmatch(key) for key, _ in pairs]
    by_rank = {
        int(rank[1]): value
        for rank, (_, value) in zip(ranks, pairs, strict=True)
        if rank
    }
    if not by_rank:
        return []
    first = min(by_rank)
    count_on = range(first, first + len(pairs))
    return [by_rank[rank] for rank in count_on] if by_rank.keys() == {*count_on} else []


def _state_value(value: object) -> Stated:
    if text := _write_value(value):
        return Stated(text)
    return Stated("", problem=_NO_OBJECT)


def _write_value(value: object) -> str:
    """Write a text, a number, a list of them, or Yes and No for truth values; "" for
    anything else.
    """
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, str):
        return value.strip()
    if not isinstance(value, list):
        return number_text(value)
    texts = [*map(_write_value, value)]
    if not texts or not all(texts):
        return ""
    return json.dumps(texts, ensure_ascii=False)
