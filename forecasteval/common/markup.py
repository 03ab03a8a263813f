"""Text of models: boxes, LaTeX and Markdown, list literals, a JSON object in prose."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple

from .doubts import NO, find_doubt
from .records import DECODER

# What opens a box, and the brackets that must balance in it; the second to fourth form only where
# the first is absent.
_BOXES: Final = tuple(
    (re.compile(rf"{head}\s*{opened}|[{opened}{closed}]"), closed[-1])
    for head, opened, closed in (
        (r"\\(?:boxed|fbox)", r"\{", r"\}"),
        (r"(?<![\\A-Za-z])(?:b?oxed|fbox)", r"\{", r"\}"),  # a lost backslash, or `\b`
        (r"\\(?:boxed|fbox)", r"\(", r"\)"),
        (r"\\(?:boxed|fbox)", r"\[", r"\]"),
    )
)
_BARE_BOX: Final = re.compile(r"\\(?:boxed|fbox)\s+([^\s{}()\[\]]+)")
_JOINT: Final = re.compile(
    r"(?:[\s$*]|\\n)*(?:(?:[,，、;；/|&+]|and\b|or\b|和|或|与|以及)(?:[\s$*]|\\n)*){0,2}"
)
# `\b`, `\f` and `\t` that a bad JSON escape turned into control characters
_LOST_BACKSLASH: Final = re.compile(
    r"[\x08\x0c\t](?=(?:(?<=\x08)oxed|(?<=\x0c)box|(?<=\t)(?:ext|imes))\b)"
)
_LOST: Final = {"\x08": "\\b", "\x0c": "\\f", "\t": "\\t"}
_LIST_MARK: Final = re.compile(r"[,，、;；/|&\n]|\sand\s|和")
# A box that its sentence denies: `not \boxed{B}`; what may stand behind: see `find_doubt`
_DENIED: Final = re.compile(
    r"(?:\b(?:not|rather\s+than|instead\s+of)\b|而不是|不是|而非|并非)[\s:$*]*\Z", re.I
)
_OR: Final = re.compile(r"[\s$*,]*(?:or|或者?)[\s$*]*", re.I)  # between two boxes: no answer
# Boxes of something else than the answer, where another box is left
_CONFIDENCE: Final = re.compile(r"confidence|certainty|置信度|信心", re.I)
_PROBABILITY: Final = re.compile(r"probability|likelihood|概率|可能性", re.I)
_DIGIT: Final = re.compile("[0-9]")
# A box in a list of its own: `12th: \boxed{Red}`
_RANK: Final = re.compile(
    r"[\s*_-]*(?:([0-9]{1,4})(?:st|nd|rd|th)|(?:rank\s?#?|no\.\s?|#)([0-9]{1,4})|第([0-9]{1,4})[名位])"
    r"(?:\splace)?[\s:：.)*$-]*",
    re.I,
)
MAX_SPAN: Final = 10_000  # characters; nothing longer is an answer
_MAX_BRACES: Final = 2_000_000  # examined in a text


def drop_invisible(text: str) -> str:
    """The text without zero-width characters and byte order marks."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def last_boxed(text: str) -> tuple[str, bool]:
    r"""The content of the last non-empty `\boxed{…}` or `\fbox{…}`, and True; without a box the
    text and False.

    Braces are balanced; a box that never closes takes the rest. Boxes joined only by separators are
    one list, each on a line, and so are boxes with ranks in front. One that is denied, withdrawn or
    labelled as a confidence counts only if there is no other. The content is "" if all boxes are
    empty, and "" with False if none of them is an answer: `\boxed{A} or \boxed{B}`. Linear in the
    text.

    >>> last_boxed(r"First \boxed{A}. On reflection \boxed{\text{B}}")
    ('\\text{B}', True)
    >>> last_boxed(r"\boxed{A}, \boxed{C}")
    ('A\nC', True)
    """
    text = _restore_backslashes(drop_invisible(text))
    if "oxed" not in text and "box" not in text:
        return text.strip(), False
    for token, closing in _BOXES:
        boxes, any_box = _find_boxes(text, token, closing)
        if any_box:
            break
    else:
        bare = _BARE_BOX.findall(text)
        return (bare[-1].rstrip(",.;"), True) if bare else (text.strip(), False)
    if not boxes:
        return "", True
    boxes.sort()
    if len(boxes) > 1:
        if ranked := _join_ranked(text, boxes):
            return ranked, True
        boxes = _drop_others(text, boxes)
    content = "" if _find_doubt(text, boxes[-1]) else _join_last(text, boxes)
    return content, bool(content)


def _restore_backslashes(text: str) -> str:
    if "\t" in text or "\x08" in text or "\x0c" in text:  # few have one
        text = _LOST_BACKSLASH.sub(lambda match: _LOST[match[0]], text)
    return text


class _Box(NamedTuple):
    begin: int  # of the command
    start: int  # of the content
    end: int


def _find_doubt(text: str, box: _Box) -> str:
    """How a text takes back a box: what is said to be unlikely behind a No is the No itself."""
    doubt = find_doubt(text, box.end + 1)
    agrees = doubt == "unlikely" and clean(text[box.start : box.end]).lower() in NO
    return "" if agrees else doubt


def _join_last(text: str, boxes: Sequence[_Box]) -> str:
    """The last box and those before it that are one list with it, each on a line; "" if one is an
    alternative to the next.
    """
    last = boxes[-1]
    contents = [text[last.start : last.end].strip()]
    begin, size = last.begin, last.end - last.start
    for before, start, end in reversed(boxes[:-1]):
        gap = text[end + 1 : begin] if end < begin and begin - end < 40 else "…"
        if _OR.fullmatch(gap):
            return ""
        if not _JOINT.fullmatch(gap) or size > MAX_SPAN:  # too long already: will be unparsed
            break
        if gap.isspace() and _LIST_MARK.search(text[start:end] + contents[-1]):
            break  # two whole lists below each other: the last one counts
        contents.append(text[start:end].strip())
        begin, size = before, size + end - start
    return "\n".join(dict.fromkeys(reversed(contents)))


def _find_labels(text: str, boxes: Sequence[_Box]) -> list[str]:
    """What stands in front of each box on its line, behind the box before it; 80 characters at
    most.
    """
    labels, end = [], 0
    for box in boxes:
        labels.append(text[max(end, box.begin - 80) : box.begin].rpartition("\n")[2])
        end = box.end + 1
    return labels


def _join_ranked(text: str, boxes: Sequence[_Box]) -> str:
    """The contents of boxes in the order of their ranks, if each has one and nothing else stands
    between them; else "".
    """
    ranked = []
    for number, (box, label) in enumerate(zip(boxes, _find_labels(text, boxes), strict=True)):
        before = text[boxes[number - 1].end + 1 : box.begin - len(label)] if number else "\n"
        rank = _RANK.fullmatch(label) if before.strip(" .,;*$") == "\n" else None
        if not rank:
            return ""
        ranked.append((int(rank[1] or rank[2] or rank[3]), text[box.start : box.end].strip()))
    return "\n".join(content for _, content in sorted(ranked, key=itemgetter(0)))


def _drop_others(text: str, boxes: list[_Box]) -> list[_Box]:
    """The boxes without those that are denied, withdrawn or hold a confidence, if any is left."""
    boxes = [
        box
        for box in boxes
        if not _DENIED.search(text, max(0, box.begin - 20), box.begin)
        and _find_doubt(text, box) not in ("denied", "unlikely")
    ] or boxes
    boxes = _without_label(text, boxes, _CONFIDENCE) or boxes
    others = _without_label(text, boxes, _PROBABILITY)
    # The question may ask for a probability.
    worded = any(
        not _DIGIT.search(text, box.start, min(box.end, box.start + 200)) for box in others
    )
    return others if worded else boxes


def _without_label(text: str, boxes: list[_Box], label: re.Pattern[str]) -> list[_Box]:
    labels = _find_labels(text, boxes)
    return [box for box, before in zip(boxes, labels, strict=True) if not label.search(before)]


def _find_boxes(text: str, opening: re.Pattern[str], closing: str) -> tuple[list[_Box], bool]:
    """Every box with content, and whether there is any box."""
    boxes: list[_Box] = []
    opened: list[tuple[int, int]] = []  # where the command of a box begins, or -1, and its content
    position, last_text, any_box = 0, -1, False
    for count, token in enumerate(opening.finditer(text)):
        if count > _MAX_BRACES:
            return [], False
        if token.start() > position and not text[position : token.start()].isspace():
            last_text = token.start() - 1
        position = token.end()
        if token[0] == closing:
            begin, start = opened.pop() if opened else (-1, -1)
            if begin >= 0 and last_text >= start:
                boxes.append(_Box(begin, start, token.start()))
        else:
            is_box = len(token[0]) > 1
            opened.append(token.span() if is_box else (-1, -1))
            any_box |= is_box
    if text[position:].strip():
        last_text = len(text)
    unclosed = (span for span in opened if span[0] >= 0 and last_text >= span[1])
    return [*boxes, *(_Box(*span, len(text)) for span in unclosed)], any_box


_MARKUP: Final = re.compile(r"[\\$*`{}~&<\[\x00-\x1f\x7f]")
_ENTITY: Final = re.compile(r"&(?:#[0-9]{1,6}|#[xX][0-9a-fA-F]{1,5}|[A-Za-z]{2,8}[0-9]{0,2});")
_BREAK_TAG: Final = re.compile(r"<[bB][rR]\s?/?>")
_URL: Final = r"\((?:https?:|www\.)(?:[^()]|\([^()]*\))*\)"
_LINK: Final = re.compile(rf"\(\[[^\[\]]*\]{_URL}\)|\[([^\[\]]*)\]{_URL}")
_REFERENCE: Final = re.compile(r"(?<=[\w)\]}”\"'》*.%])\s?\[\^?[0-9]{1,3}\]")
_CITATION: Final = re.compile(r"【[^【】]*†[^【】]*】|(?<=\S)\s?【[0-9]{1,3}】")
# Emoji, flags, check marks; neither crosses, which deny, nor circled digits, nor letters in
# squares.
_EMOJI: Final = (
    "\u2600-\u26d3\u26d5-\u2714\u2719-\u274b\u274d\u274f-\u2775\u2794-\u27bf\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55"
    "\ufe0f\U0001f000-\U0001f0ff\U0001f1e6-\U0001f6aa\U0001f6ac-\U0001faff\U000e0020-\U000e007f"
)
_PICTURES: Final = re.compile(f"[{_EMOJI}🔟]")
_PICTURE_RUN: Final = re.compile(f" ?[{_EMOJI}]+")
_KEYCAP: Final = re.compile("([0-9])\ufe0f?\u20e3")
_RAISED: Final = re.compile(r"[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+|[①-⑳❶-❿➀-➉]")
_MATH: Final = re.compile(r"(?<!\\)\$([^$\n]*)(?<!\\)\$")
_COMMAND: Final = re.compile(r"\\(?:\\?([A-Za-z]+)[ \t]*|(.?))", re.S)
_SYMBOLS: Final = {
    **dict.fromkeys(("times", "cdot"), "×"),
    **dict.fromkeys(("approx", "simeq"), "≈"),
    **dict.fromkeys(("to", "rightarrow", "Rightarrow"), "→"),
    **dict.fromkeys(("neg", "lnot", "not"), "¬"),
    **dict.fromkeys(("ge", "geq"), "≥"),
    **dict.fromkeys(("le", "leq"), "≤"),
    **dict.fromkeys(("quad", "qquad"), " "),
    **dict.fromkeys(("newline", "n", "item"), "\n"),
    **{"gt": ">", "lt": "<", "sim": "~", "pm": "±", "pounds": "£"},
}
_REMOVED: Final = re.compile(
    r"(?:text|math).*|left|right|displaystyle|boxed|[fm]box|emph|operatorname|underline|bf|rm|it"
)
# Between names.
_QUAD: Final = re.compile(
    r"(?:(?<=[^\W\d])|(?<=[^\W\d][0-9]))([)}\]”\"'》]{0,3})\s?\\q?quad\b(?=\s?(?:\\text[a-z]{0,4}\{)?[^\W\d])"
)
# A scale in another font stays attached to its number: 42.1\,\mathrm{M}
_SCALE_LETTER: Final = re.compile(
    r"(?<=[0-9])(?:\\[,;: !]|[ ~]){0,3}\\(?:mathrm|text)\s?\{\s?([KkMBT])\s?\}"
)
_ESCAPES: Final = {**dict.fromkeys(", ;:", " "), **dict.fromkeys("!()[]", ""), "\\": "\n"}
_STRUCK: Final = re.compile(r"(?<![\w~])~~(?=[^\s~])[^~\n]{1,200}~~(?!~)")  # Markdown
_CANCELLED: Final = re.compile(r"\\(?:[bx]?cancel|sout)\s?\{[^{}\n]{0,200}\}")
_DELETED: Final = re.compile(r"<(s|del|strike)>[^<\n]{0,200}</\1>", re.I)
_TILDE: Final = re.compile(r"(?P<range>(?<=[0-9%万亿元])\s?~\s?(?=[0-9$¥€£+-]))|~")
_STARS: Final = re.compile(r"\*{2,}|(?<![0-9\s])\*|\*(?!\s*[0-9])")
_RUNS: Final = re.compile(r"\s\s+")
_CONTROLS: Final = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]+")
_INVISIBLE: Final = re.compile("[\u200b-\u200d\u2060\ufeff]")
_HYPHENS: Final = re.compile("[\u2010\u2011\u2212]")  # NFKC leaves two of them
_ODD: Final = re.compile(
    f"[\u200b-\u200d\u2060\ufeff\u2010\u2011\u2212²³¹⁰⁴-⁹⁺⁻①-⑳❶-❿➀-➉{_EMOJI}🔟]"
)
_BRACKETS: Final = dict(zip("([{【", ")]}】", strict=True))
_QUOTES: Final = dict(zip("\"'“‘「『", "\"'”’」』", strict=True))  # 《》 are part of a title


def clean(text: str) -> str:
    r"""The text without LaTeX, Markdown, invisible and full-width forms and one pair of brackets or
    quotes around it.

    >>> clean(r"$\text{3{,}400\,万元}$"), clean("10⁶"), clean("［Ｒｅｄ］")
    ('3,400 万元', '10^6', 'Red')
    >>> clean(r"1. Red\\ 2. Blue")
    '1. Red\n2. Blue'
    """
    if "&" in text:
        text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    if not text.isascii():
        text = _clean_wide(text)
    if _MARKUP.search(text):
        text = _clean_markup(text)
    if "  " in text or "\n" in text:  # no pattern below may meet a long run of white space
        text = _RUNS.sub(lambda run: "\n" if "\n" in run[0] else " ", text)
    text = text.strip()
    if text and _BRACKETS.get(text[0]) == text[-1] and _encloses(text):
        text = text[1:-1].strip()
    if len(text) > 1 and _QUOTES.get(text[0]) == text[-1]:
        inside = text[1:-1]
        if text[0] not in inside and text[-1] not in inside:
            text = inside.strip()
    return text


def _clean_wide(text: str) -> str:
    """Full-width forms, raised digits, invisible characters, emoji and citation marks."""
    if _ODD.search(text):
        plain = _HYPHENS.sub("-", _INVISIBLE.sub("", text))
        text = drop_pictures(_RAISED.sub(_lower_raised, plain))
    if "【" in text:
        text = _CITATION.sub("", text)
    return unicodedata.normalize("NFKC", text)


def drop_pictures(text: str) -> str:
    """The text without emoji, and keycaps as labels; a text of nothing else stays."""
    if not _PICTURES.search(text):
        return text
    rest = _PICTURE_RUN.sub("", _KEYCAP.sub(r"\1. ", text.replace("🔟", "10. ")))
    return rest if any(map(str.isalnum, rest)) else text


def _lower_raised(match: re.Match[str]) -> str:
    plain = "".join(
        str(unicodedata.digit(char, "")) or {"⁺": "", "⁻": "-"}.get(char, "") for char in match[0]
    )
    if match[0][0] in "⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹":
        return "^" + plain
    return f"{unicodedata.numeric(match[0]):.0f}."


_FRACTION: Final = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_ENVIRONMENT: Final = re.compile(
    r"\\(?:begin|end)\s*\{[^{}]*\}(?:\{[lcr|]*\})?|\\(?:textcolor|color|colorbox)\s*\{[^{}]*\}"
)


def _replace_command(match: re.Match[str]) -> str:
    name = match[1]
    if name is None:
        return _ESCAPES.get(match[2], match[2])
    if name in _SYMBOLS:
        return _SYMBOLS[name]
    if _REMOVED.fullmatch(name):
        return ""
    if match[0].startswith("\\\\"):
        return "\n" + match[0][2:]  # a line break, and a word
    # A literal "\n" before a word; \large and the like go.
    return "\n" + name[1:] if name[0] == "n" else " "


# What is replaced in a text with a mark, in this order.
_STEPS: Final[tuple[tuple[str, re.Pattern[str], Any], ...]] = (
    ("$", _MATH, r"\1"),
    ("{,}", re.compile(r"\{,\}"), ","),
    ("cancel", _CANCELLED, ""),
    ("sout", _CANCELLED, ""),
    ("</", _DELETED, ""),
    ("[", _LINK, lambda link: link[1] or ""),
    ("[", _REFERENCE, ""),
    ("<", _BREAK_TAG, "\n"),
    ("quad", _QUAD, r"\1\n"),
    ("{", _SCALE_LETTER, r"\1"),
    ("{", _ENVIRONMENT, " "),
    ("{", _FRACTION, r"\1/\2"),
    ("\\", _COMMAND, _replace_command),
    ("~~", _STRUCK, ""),
    ("~", _TILDE, lambda match: match["range"] or " "),
    ("*", _STARS, ""),
)


def _clean_markup(text: str) -> str:
    """LaTeX commands, escapes and spaces, `$…$`, Markdown stars and backticks: replaced or
    dropped.
    """
    text = _restore_backslashes(text)
    for mark, pattern, new in _STEPS:
        if mark in text:
            text = pattern.sub(new, text)
    text = text.replace("`", "").replace("{", "").replace("}", "")
    return text if text.isprintable() else _CONTROLS.sub(" ", text)


def _encloses(text: str) -> bool:
    """Whether the first bracket's partner is the last character: "(B)" but not "(A), (B)"."""
    depth = 0
    for index, char in enumerate(text):
        depth += (char == text[0]) - (char == text[-1])
        if depth == 0:
            return index == len(text) - 1
    return False


# --- Literals and objects ---

_ELEMENT: Final = re.compile(
    r"""\s*(?:'([^'\\]*(?:\\.[^'\\]*)*)'|"([^"\\]*(?:\\.[^"\\]*)*)"|([+-]?[0-9.]+(?:e[+-]?[0-9]+)?))\s*(,|\Z)""",
    re.S | re.I,
)
_LITERAL_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.S)


def parse_literal(text: str) -> tuple[str, ...]:
    r"""The elements of a list literal of Python or JSON, as text; () for any other text. Nothing is
    executed.

    >>> parse_literal("['A', 'It\\'s']"), parse_literal("[4946.0]"), parse_literal("[Red, Green]")
    (('A', "It's"), ('4946.0',), ())
    """
    text = text.strip()
    if text[:1] != "[" or text[-1] != "]":
        return ()
    body, position = text[1:-1], 0
    elements: list[str] = []
    while position < len(body):
        match = _ELEMENT.match(body, position)
        if not match:
            return () if body[position:].strip() else tuple(elements)
        single, double, number, _ = match.groups()
        quoted = single if single is not None else double
        elements.append(number if quoted is None else _LITERAL_ESCAPE.sub(_unescape, quoted))
        position = match.end()
    return tuple(elements)


def _unescape(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16)) if code else {"n": "\n", "t": "\t", "r": "\r"}.get(match[3], match[3])


def find_objects(text: str, decoder: json.JSONDecoder = DECODER) -> Iterator[tuple[int, int, Any]]:
    """The JSON objects in `text`, which may be prose or have a fence, each with its begin and end;
    the first 20 opening braces are tried, more than an honest reply needs.
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
    """The only JSON object in `text`; None if there is none or more than one."""
    values = [value for _, _, value in find_objects(text)]
    return values[0] if len(values) == 1 else None
