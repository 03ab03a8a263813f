"""Text of models: boxes, LaTeX and Markdown, list literals, a JSON object in prose."""

from __future__ import annotations

import ast
import html
import json
import re
import unicodedata
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final, NamedTuple

from .patterns import lazy, split_words
from .records import DECODER

MAX_SPAN: Final = 10_000  # characters; nothing longer is an answer
_MAX_BOXES: Final = 1000  # at its end, of which one may be the answer

# --- Boxes ---

# What opens a box, and the bracket that closes it; the last three only
# without the first
_FORMS: Final = (
    (lazy(r"\\(?:boxed|fbox)\s*\{|[{}]"), "}"),
    # A lost backslash, or `\b`
    (lazy(r"(?<![\\A-Za-z])(?:b?oxed|fbox)\s*\{|[{}]"), "}"),
    (lazy(r"\\(?:boxed|fbox)\s*\(|[()]"), ")"),
    (lazy(r"\\(?:boxed|fbox)\s*\[|[\[\]]"), "]"),
)
_BARE_BOX: Final = lazy(r"\\(?:boxed|fbox)\s+([^\s{}()\[\]]+)")
_FILLED: Final = lazy(r"[^\s{}]")
_BETWEEN_BOXES: Final = lazy(
    r"(?:[\s$*]|\\n)*(?:(?:[,，、;；/|&+]|(?<=\n)[-•]|and\b|和|与|以及)(?:[\s$*]|\\n)*){0,2}"
)
_LIST_MARK: Final = lazy(r"[,，、;；/|&\n]|\sand\s|和")
# A box in a list of its own: `12th: \boxed{Red}`, `1. \boxed{Red}` (rule 1)
_RANK: Final = lazy(
    r"(?i)(?:\A|\n)[\s*_-]*(?:([0-9]{1,4})(?:st|nd|rd|th|[.)])|(?:rank\s?#?|no\.\s?|#)([0-9]{1,4})"
    r"|第([0-9]{1,4})[名位])(?:\splace)?[\s:：.)*$-]*\Z"
)
# What stands in front of a box that its sentence denies, and that holds a confidence
_DENIED: Final = lazy(
    r"(?i)(?:(?:\b(?<!why\s)not|n['’]t)"
    r"(?:\s(?:say|think|believe|pick|choose|answer|expect|predict))?"
    r"(?:\s(?:it|that)(?:\sis|['’]s|\swill\sbe)|\sthe\sanswer\sis)?"
    r"|\brather\sthan|\binstead\sof|而不是|不是|而非|并非)[\s:$*]*\Z"
)
# What stands in front of a box that shows what the format is like, and behind one
_EXAMPLES: Final = (
    lazy(
        r"(?i)\b(?:format|output|template|style|user|task|question|prompt|instructions?)\b"
        r"[^.!?\n]{0,30}\b(?:looks?\slike|(?:should|must)\s(?:be|look\slike)|ask(?:s|ed)\sfor"
        r"|wants|requires?|such\sas)[\s:*$]*\Z"
    ),
    lazy(
        r"(?i)\b(?:(?:(?:for|an?)\s(?:example|instance)|e\.\s?g\.|such\sas|like\sthis|answers?"
        r"\slike)(?:\sof\s[^.!?\n]{0,20}\sis)?[,:]?"
        r"|(?:example|sample)(?:\s(?:output|answer|format))?"
        r"(?:\sof\s[^.:!?\n]{1,25})?:)[\s*$`\"“(]*\Z"
    ),
    lazy(
        r"(?i)\b(?:(?:one|you)\s(?:would|could)\s(?:write|give|answer|put)"
        r"|(?:possible|valid)\sanswer\swould\sbe|show\sthe\sformat[,:]?)[\s*$`\"“(]*\Z"
    ),
    lazy(r"(?:例如|比如|譬如|示例|样例|格式如下?)[，：:,\s*$`“(（]*\Z"),
)
_MAX_FRONT: Final = 60  # characters in front of a box
_IS_EXAMPLE: Final = lazy(
    r"(?i)\}[\s*$`\"”]{0,4}(?:[(（](?:this\sis\s)?(?:just\s|only\s)?(?:an?\s)?(?:example|示例|例)"
    r"|(?:is|was|as)\s(?:just\s|only\s|merely\s)?an?\sexample|(?:只|仅)?(?:是|为)?示例)"
)
_SURE: Final = lazy("confidence|certainty|置信度|信心")
_LEVELS: Final = ("high", "medium", "moderate", "low", "高", "中", "低")
_LIKELY: Final = lazy("probability|likelihood|chance|概率|可能性")
_LABEL_WORDS: Final = 6  # of a label in front of a box
_ASIDE: Final = lazy(r"\([^()]*\)")
_ANSWER_WORD: Final = lazy("answer|prediction|答案|预测")
_LINE_END: Final = lazy(r"[\n。！？]")
_SENTENCE_END: Final = lazy(r"[.!?]\s|[;；\n。！？]")
_SHARE: Final = lazy(
    r"\s*[~≈]?(?:[0-9]{1,3}(?:\.[0-9]{1,4})?\s?\\?%|0?\.[0-9]{1,4})\s*"
)
# Between two boxes on a line: two answers
_OTHER: Final = lazy(
    r"(?i)\b(?:alternative|alternatively|backup|hedge|second\schoice)\b|备选|(?:\bor\b"
    r"|或)(?!.*[.!?。！？]\s)"
)
_ALONE: Final = " \t*$.-•>_`"  # what may stand beside a box that is alone on its line
# Characters on each side of a box that are looked for in the prompt
_BESIDE: Final = 40
# Characters of a line in front of a box that nobody repeats by chance
_LONG: Final = 25
# In a prompt's box, and of who copied it
PLACEHOLDERS: Final = frozenset(
    split_words(
        "your answer, your final answer, your prediction, your final prediction, your "
        "forecast,"
        " your choice, final answer, answer, prediction, insert answer, …, ..., x"
    )
)


def is_placeholder(text: str) -> bool:
    """Return whether a text is what a prompt shows in place of an answer:
    `YOUR_PREDICTION`.
    """
    if len(text) > 40:  # most lists
        return False
    words = text.strip(" []<>{}()\n").lower().replace("_", " ").removesuffix(" here")
    return words in PLACEHOLDERS


class _Box(NamedTuple):
    begin: int  # of the command
    start: int  # of the content
    end: int


def drop_invisible(text: str) -> str:
    """Return the text without zero-width characters and byte order marks."""
    if text.isascii():
        return text
    return _INVISIBLE.sub("", text)


def last_boxed(text: str, prompt: str = "") -> tuple[str, bool]:
    r"""Return the content of the last non-empty `\boxed{…}` or `\fbox{…}`, and True;
    without a box the text and False (rule 1).

    Braces are balanced; a box that never closes takes the rest. Boxes joined only by
    separators are one list, each on a line, and so are boxes with ranks in front. One
    of the prompt's is none, nor is one that is denied; one labelled as nothing but a
    confidence is none where another is left. The content is "" if all boxes are empty,
    and "" with False for `\boxed{A} or \boxed{B}`. Linear in the text.

    >>> last_boxed(r"First \boxed{A}. On reflection \boxed{\text{B}}")
    ('\\text{B}', True)
    >>> last_boxed(r"\boxed{A}, \boxed{C}")
    ('A\nC', True)
    """
    text = _restore_backslashes(drop_invisible(text))
    if "oxed" not in text and "box" not in text:
        return text.strip(), False
    found = next(filter(None, (_find_boxes(text, *form) for form in _FORMS)), None)
    if found is None:
        bare = _BARE_BOX.findall(text)
        if bare:
            return bare[-1].rstrip(",.;"), True
        return text.strip(), False
    boxes = [box for box in found if _FILLED.search(text, box.start, box.end)][
        -_MAX_BOXES:
    ]
    if not boxes:
        return "", True
    own = [box for box in _drop_examples(text, boxes) if not _is_denied(text, box)]
    if "ox" in prompt:
        own = [box for box in own if not _stands_in(prompt, text, box)]
    if not own:
        return (text[: boxes[0].begin] + text[boxes[-1].end + 1 :]).strip(), False
    content = _choose(text, own)
    return content, bool(content)


def _restore_backslashes(text: str) -> str:
    """Return the text with the backslashes that a bad JSON escape turned into control
    characters.
    """
    if text.isprintable() or not any(map(text.__contains__, _LOST)):
        return text
    return _LOST_BACKSLASH.sub(lambda lost: _LOST[lost[0]], text)


def _find_boxes(text: str, opening: re.Pattern[str], closing: str) -> list[_Box]:
    """Find every box, in the order of their beginnings."""
    boxes: list[_Box] = []
    # The span of the command of a box, None of a brace
    opened: list[tuple[int, int] | None] = []
    for token in opening.finditer(text):
        if token[0] != closing:
            opened.append(token.span() if len(token[0]) > 1 else None)
        elif opened and (span := opened.pop()):
            boxes.append(_Box(*span, token.start()))
    return sorted([*boxes, *(_Box(*span, len(text)) for span in opened if span)])


# --- Which box counts ---


def _fold(text: str) -> str:
    lines = text.replace("\\n", "\n").replace("\\", "").split("\n")
    return "\n".join(filter(None, ("".join(line.split()) for line in lines)))


@lru_cache(maxsize=1024)
def fold_prompt(prompt: str) -> str:
    """Fold a prompt without blanks and backslashes; line breaks stay, also those
    that are escaped.
    """
    return f"\n{_fold(prompt)}\n"


def is_quoted(text: str, prompt: str) -> bool:
    """Return whether a text stands in a prompt, escaped or not (rule 3)."""
    return _fold(text) in fold_prompt(prompt)


def _find_front(text: str, box: _Box) -> str:
    """Return the characters in front of a box that may say that it is none."""
    return text[max(0, box.begin - _MAX_FRONT) : box.begin]


def _drop_examples(text: str, boxes: Sequence[_Box]) -> list[_Box]:
    r"""Return the boxes that do not show what an answer looks like. `e.g. \boxed{A} for
    one option or \\boxed{B, C} for several` shows two.
    """
    own = []
    end_of_example = -1
    for box in boxes:
        front = _find_front(text, box)
        in_front = any(pattern.search(front) for pattern in _EXAMPLES)
        goes_on = end_of_example >= 0 and not _SENTENCE_END.search(
            text, end_of_example, box.begin
        )
        if in_front or goes_on or _IS_EXAMPLE.match(text, box.end):
            end_of_example = box.end
        else:
            own.append(box)
    return own


def _is_denied(text: str, box: _Box) -> bool:
    """Return whether a box is struck out, or stands behind `not`."""
    front = _find_front(text, box)
    is_struck = front.endswith("~~") and text.startswith("~~", box.end + 1)
    return is_struck or bool(_DENIED.search(front))


def _stands_in(prompt: str, text: str, box: _Box) -> bool:
    """Return whether a box and the rest of its line, up to some characters, stand just
    so in the prompt.

    A box alone on its line is the answer's. Where a line ends behind it the prompt's
    must, too, but for an echo that was cut off: much stands in front of the box, or
    it never closes.
    """
    before = text[max(0, box.begin - _BESIDE) : box.begin].rpartition("\n")[2]
    after = text[box.end + 1 : box.end + 1 + _BESIDE].partition("\n")[0]
    if len(before) == _BESIDE:
        before = before.partition(" ")[2]  # it was cut, perhaps within an escape
    if len(after) == _BESIDE:
        after = after.rpartition(" ")[0]
    after, held = map(_drop_cut, (after, text[box.begin : box.end + 1]))
    if not (before + after).strip(_ALONE) or box.end - box.start > 200:
        return False
    line = _fold(before.lstrip(_ALONE) + held + after)
    if (
        after.strip(_ALONE)
        or box.end == len(text)
        or len(before.replace(" ", "")) > _LONG
    ):
        return line.replace("\n", "") in fold_prompt(prompt).replace("\n", "")
    return f"{line}\n" in fold_prompt(prompt)


def _drop_cut(text: str) -> str:
    """Return a text without what shows that it was cut off, or a quote of `repr`."""
    return text.removesuffix("...").removesuffix("…").rstrip("'\"")


def _choose(text: str, boxes: Sequence[_Box]) -> str:
    """Choose the content of the last box and of those that are one list with it,
    whatever stands around it. "" for two answers on one line.
    """
    ends = [0, *(box.end + 1 for box in boxes)]
    fronts = [
        text[max(end, box.begin - 80) : box.begin]
        for end, box in zip(ends, boxes, strict=False)
    ]
    ranks = [_RANK.search(front) for front in fronts]
    places = [int(rank[rank.lastindex or 0]) for rank in ranks if rank]
    if len({*places}) == len(boxes):
        ranked = sorted(zip(places, boxes, strict=True), key=itemgetter(0))
        return "\n".join(text[start:end].strip() for _, (_, start, end) in ranked)
    heads = [text[start : min(end, start + 200)] for _, start, end in boxes]
    worded = not any(map(str.isdigit, heads[0]))
    kept = [
        number
        for number, (front, head) in enumerate(zip(fronts, heads, strict=True))
        if not _is_other(front, head, worded)
    ] or [len(boxes) - 1]
    front = fronts[kept[-1]]
    if len(kept) > 1 and "\n" not in front and _OTHER.search(front):
        return ""
    return _join_last(text, [boxes[number] for number in kept])


def _is_other(front: str, head: str, worded: bool) -> bool:
    """Return whether a box is a placeholder, or holds a confidence. A probability only
    where the first box is a word, for a question may ask for one.
    """
    line = (
        _LINE_END.split(front)[-1]
        .rpartition(". ")[2]
        .lower()
        .strip(" :：=*_$≈是为约(-•")
    )
    line = _ANSWER_WORD.split(_ASIDE.sub("", line))[0]  # Confidence in this answer
    label = len(line.split()) <= _LABEL_WORDS
    share = _SHARE.fullmatch(head)
    sure = any(map(str.isdigit, head)) or head.strip().lower() in _LEVELS
    return bool(
        is_placeholder(head)
        or (label and sure and _SURE.search(line))
        or (label and worded and share and (not line or _LIKELY.search(line)))
    )


def _join_last(text: str, boxes: Sequence[_Box]) -> str:
    """Join the last box and those before it that are one list with it,
    each on a line.
    """
    begin, start, end = boxes[-1]
    contents = [text[start:end].strip()]
    for before, start, end in reversed(boxes[:-1]):
        gap = "…"
        if end < begin < end + 40:
            gap = text[end + 1 : begin]
        content = text[start:end].strip()
        # Two whole lists below each other: the last one counts.
        below = gap.isspace() and _LIST_MARK.search(content + contents[-1])
        if below or not _BETWEEN_BOXES.fullmatch(gap):
            break
        contents.append(content)
        begin = before
    return "\n".join(dict.fromkeys(reversed(contents)))


# --- Markup ---

# `\b`, `\f` and `\t` that a bad JSON escape turned into control characters
_LOST_BACKSLASH: Final = lazy(
    r"[\x08\x0c\t](?=(?:(?<=\x08)oxed|(?<=\x0c)box|(?<=\t)(?:ext|imes))\b)"
)
_LOST: Final = {"\x08": "\\b", "\x0c": "\\f", "\t": "\\t"}
_MARKUP: Final = lazy(r"[\\$*`{}~&<\[\x00-\x1f\x7f]")
# Emoji, flags, check marks; neither crosses, which deny, nor circled digits, nor
# letters in squares.
_EMOJI: Final = (
    "\u2600-\u26d3\u26d5-\u2714\u2719-\u274b\u274d\u274f-\u2775\u2794-\u27bf\u2b05-\u2b07"
    "\u2b1b\u2b1c\u2b50\u2b55"
    "\ufe0f\U0001f000-\U0001f0ff\U0001f1e6-\U0001f6aa\U0001f6ac-\U0001faff\U000e0020-\U000e007f"
)
_ODD: Final = lazy(
    f"[º\u200b-\u200d\u2060\ufeff\u2010\u2011\u2212²³¹⁰⁴-⁹⁺⁻①-⑳\u20e3【{_EMOJI}]"
)
_INVISIBLE: Final = lazy("[\u200b-\u200d\u2060\ufeff]")
_WIDE: Final = (
    (_INVISIBLE, ""),
    (lazy("⁺?(⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)"), r"^\1"),
    (lazy("[\u2010\u2011\u2212⁻]"), "-"),  # NFKC leaves two of them
    (lazy("[①-⑳]"), r"\g<0>."),
    (lazy("([0-9])\ufe0f?\u20e3"), r"\1. "),
    (lazy(f" ?[{_EMOJI}]+"), ""),
    (lazy("º"), "°"),
    (lazy(r"【[^【】]*†[^【】]*】|(?<=\S)\s?【[0-9]{1,3}】"), ""),
)
_FRACTION: Final = lazy("([0-9]*) ?([¼-¾⅐-⅞])")  # 2½
_URL: Final = r"\((?:https?:|www\.)(?:[^()]|\([^()]*\))*\)"
_COMMAND: Final = lazy(r"(?s)\\(?:\\?([A-Za-z]+)[ \t]*|(.?))")
_SYMBOLS: Final = {
    "times": "×",
    "cdot": "×",
    "approx": "≈",
    "simeq": "≈",
    "sim": "~",
    "pm": "±",
    "pounds": "£",
    "to": "→",
    "rightarrow": "→",
    "Rightarrow": "→",
    "neg": "¬",
    "lnot": "¬",
    "not": "¬",
    "ge": "≥",
    "geq": "≥",
    "le": "≤",
    "leq": "≤",
    "gt": ">",
    "lt": "<",
    "quad": "\n",
    "qquad": "\n",
    "newline": "\n",
    "n": "\n",
    "item": "\n",
}
_REMOVED: Final = lazy(
    r"(?:text|math).*|left|right|displaystyle|boxed|[fm]box|emph|operatorname|underline|bf|rm|it"
)
_ESCAPES: Final = {
    **dict.fromkeys(", ;:", " "),
    **dict.fromkeys("!()[]", ""),
    "\\": "\n",
}
# A pair of brackets or quotes around a text, `(B)`, not `(A), (B)`; 《》 are
# part of a title
_WRAPPED: Final = lazy(
    r"""(?s)\(([^()]*(?:\([^()]*\)[^()]*)*)\)|\[([^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*)\]|\{([^{}]*)\}
       |【([^【】]*)】|"([^"]*)"|'([^']*)'|“([^“”]*)”|‘([^‘’]*)’|「([^「」]*)」|『([^『』]*)』""",
    re.X,
)
_CLOSING: Final = ")]}】\"'”’」』"


def _replace_command(match: re.Match[str]) -> str:
    name = match[1]
    if name is None:
        return _ESCAPES.get(match[2], match[2])
    if name in _SYMBOLS or _REMOVED.fullmatch(name):
        return _SYMBOLS.get(name, "")
    if match[0].startswith("\\\\"):
        return "\n" + match[0][2:]  # a line break, and a word
    # A literal "\n" before a word; \large and the like go.
    if name[0] == "n":
        return "\n" + name[1:]
    return " "


# What is replaced in a text with a mark, in this order
_STEPS: Final[tuple[tuple[str, re.Pattern[str], Any], ...]] = (
    (
        "&",
        lazy(r"&(?:#[0-9]{1,6}|#[xX][0-9a-fA-F]{1,5}|[A-Za-z]{2,8}[0-9]{0,2});"),
        lambda entity: html.unescape(entity[0]),
    ),
    ("$", lazy(r"(?<!\\)\$([^$\n]*)(?<!\\)\$"), r"\1"),
    ("{,}", lazy(r"\{,\}"), ","),
    ("circ", lazy(r"\^\s?\{?\s?\\circ\b\s?\}?"), "°"),
    ("\\", lazy(r"\\(?:[bx]?cancel|sout)\s?\{[^{}\n]{0,200}\}"), ""),  # struck out
    ("</", lazy(r"(?i)<(s|del|strike)>[^<\n]{0,200}</\1>"), ""),
    ("[", lazy(rf"\(\[[^\[\]]*\]{_URL}\)|\[([^\[\]]*)\]{_URL}"), r"\1"),
    ("<", lazy(r"<[bB][rR]\s?/?>"), "\n"),
    (  # a scale in another font stays attached to its number: 42.1\,\mathrm{M}
        "{",
        lazy(
            r"(?<=[0-9])(?:\\[,;: !]|[ "
            r"~]){0,3}\\(?:mathrm|text)\s?\{\s?([KkMBT])\s?\}"
        ),
        r"\1",
    ),
    (
        "{",
        lazy(
            r"\\(?:begin|end)\s*\{[^{}]*\}(?:\{[lcr|]*\})?|\\(?:textcolor|color"
            r"|colorbox)\s*\{[^{}]*\}"
        ),
        " ",
    ),
    (
        "frac",
        lazy(r"\\[dt]?frac\s?(?:\{([^{}]*)\}\s*\{([^{}]*)\}|([0-9])([0-9]))"),
        r" \1\3/\2\4",
    ),
    ("\\", _COMMAND, _replace_command),
    ("~~", lazy(r"(?<![\w~])~~(?=[^\s~])[^~\n]{1,200}~~(?!~)"), ""),
    # No range
    ("~", lazy(r"(?<![0-9%万亿元])(?<![0-9%万亿元]\s)~|~(?!\s?[0-9$¥€£+-])"), " "),
    ("*", lazy(r"\*{2,}|(?<![0-9\s])\*|\*(?!\s*[0-9])"), ""),
    ("", lazy(r"[`{}]"), ""),
    ("", lazy(r"[\x00-\x09\x0b-\x1f\x7f]+"), " "),
)


def _write_fraction(found: re.Match[str]) -> str:
    return f"{int(found[1] or 0) + unicodedata.numeric(found[2]):g}"


def clean(text: str) -> str:
    r"""Clean the text without LaTeX, Markdown, invisible and full-width forms and one
    pair of brackets or quotes around it (rule 4).

    >>> clean(r"$\text{3{,}400\,万元}$"), clean("10⁶"), clean("［Ｒｅｄ］")
    ('3,400 万元', '10^6', 'Red')
    >>> clean(r"1. Red\\ 2. Blue")
    '1. Red\n2. Blue'
    """
    if not text.isascii():
        if _ODD.search(text):
            plain = text
            for pattern, new in _WIDE:
                plain = pattern.sub(new, plain)
            # An emoji alone stays
            text = plain if any(map(str.isalnum, plain)) else text
        text = unicodedata.normalize("NFKC", _FRACTION.sub(_write_fraction, text))
    if _MARKUP.search(text):
        text = _restore_backslashes(text)
        for mark, pattern, new in _STEPS:
            if mark in text:
                text = pattern.sub(new, text)
    if "\n" in text or "  " in text:  # no pattern may meet a long run of white space
        text = "\n".join(
            filter(None, (" ".join(line.split()) for line in text.split("\n")))
        )
    text = text.strip()
    for _ in range(2):  # brackets, and quotes in them
        if text[-1:] in _CLOSING and (wrapped := _WRAPPED.fullmatch(text)):
            text = wrapped[wrapped.lastindex or 0].strip()
    return text


# --- Literals and objects ---

# Most, fast
_TEXTS: Final = lazy(r"""\[(?:\s*(?:'[^'\\]*'|"[^"\\]*")\s*(?:,|(?=\])))*\s*\]""")
_TEXT: Final = lazy(r"""'([^']*)'|"([^"]*)\"""")
_BOX: Final = r"\boxed{"
_NO_ESCAPE: Final = lazy(r"\\(?![\\'\"ntrux])")
_NO_COMMA: Final = lazy("['\"]\\s+['\"]")  # Python would make one text of two


def parse_literal(text: str) -> tuple[str, ...]:
    r"""Parse the elements of a list literal of Python or JSON, as text; () for any
    other text. Nothing is executed.

    >>> parse_literal("['A', 'It\\'s']"), parse_literal("[4946.0]"), parse_literal("[Red, Green]")
    (('A', "It's"), ('4946.0',), ())
    """  # noqa: E501
    text = text.strip()
    if text[:1] != "[" or len(text) > MAX_SPAN or _NO_COMMA.search(text):
        return ()
    if _TEXTS.fullmatch(text):
        return tuple([single or double for single, double in _TEXT.findall(text)])
    try:
        parts = ast.literal_eval(parse_expression(_NO_ESCAPE.sub(r"\\\\", text)))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ()
    if {*map(type, parts)} <= {str, int, float}:
        return tuple(map(str, parts))
    return ()


def parse_expression(text: str) -> ast.Expression:
    """Parse a stranger's text as an expression of Python; nothing is executed.

    Raises what `ast.parse` raises. Python's warnings about the text are for its author:
    `[1or 2]` would print "invalid decimal literal".
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text.strip(), mode="eval")


def show_truth(truth: object) -> str:
    r"""Show a truth as answers are shown: what is in its box, the elements of its list.

    >>> show_truth("['No']"), show_truth(r"\boxed{A, C}"), show_truth("['Red', 'Teal']")
    ('No', 'A, C', 'Red | Teal')
    """
    plain = str(truth)
    if plain.startswith(_BOX):
        plain = plain.removeprefix(_BOX).removesuffix("}")
    parts = parse_literal(plain)
    return (", " if max(map(len, parts), default=2) < 2 else " | ").join(parts) or plain


def find_objects(
    text: str, decoder: json.JSONDecoder = DECODER
) -> Iterator[tuple[int, int, Any]]:
    """Find the JSON objects in `text`, which may be prose or have a fence, each with
    its begin and end. The first 20 opening braces are tried, more than an
    honest reply needs.
    """
    position = text.find("{")
    for _ in range(20):
        if position < 0:
            return
        begin = position
        try:
            value, position = decoder.raw_decode(text, begin)
        except (ValueError, RecursionError):
            position += 1
        else:
            yield begin, position, value
        position = text.find("{", position)


def find_object(text: str) -> object:
    """Find the only JSON object in `text`; None if there is none or more than one."""
    values = [value for _, _, value in find_objects(text)]
    if len(values) == 1:
        return values[0]
    return None
